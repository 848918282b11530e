// Raw samples, packed by crates/report/src/page/data.rs, which has the layout.

const STEP = 1e-4;

const MARKS = ["counts", "marked", "migrated", "switched out", "page from disk", "stolen by the hypervisor", "clock moved", "contended", "not yet settled", "interrupted"];

const chunks = new Map();

async function samplesOf(i) {
  const number = Math.floor(i / data.samples_in_chunk);
  if (!chunks.has(number)) chunks.set(number, unpack(`samples-${number}`).then(cut));
  const cases = await chunks.get(number);
  return cases[i % data.samples_in_chunk];
}

// A chunk's cases. Each is decoded to plain arrays: one chunk is some thousands of samples.
function cut(bytes) {
  const view = new DataView(bytes.buffer, bytes.byteOffset, bytes.byteLength);
  const cases = [];
  let at = 0;
  const number = () => {
    let value = 0;
    for (let shift = 1; ; shift *= 128) {
      const byte = bytes[at++];
      value += (byte & 127) * shift;
      if (byte < 128) return value;
    }
  };
  const several = (count, read) => Array.from({ length: count }, read);
  while (at < bytes.length) {
    const count = number();
    if (count === 0) {
      cases.push(null);
      continue;
    }
    const unit = bytes[at++] ? "cycles/op" : "ns/op";
    const least = view.getFloat32(at, true);
    at += 4;
    const process = several(count, number);
    const mark = several(count, () => bytes[at++]);
    const value = several(count, () => least * (1 + number() * STEP));
    cases.push({ unit, process, mark, value });
  }
  return cases;
}
