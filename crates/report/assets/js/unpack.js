// Bytes that stand in the page as base64 of gzip.

// What stands behind this script is not there before the whole page was read.
const wholePage = new Promise((done) => {
  if (document.readyState !== "loading") done();
  else document.addEventListener("DOMContentLoaded", done);
});

function fromBase64(text) {
  if (Uint8Array.fromBase64) return Uint8Array.fromBase64(text);
  const raw = atob(text);
  const bytes = new Uint8Array(raw.length);
  for (let i = 0; i < raw.length; i++) bytes[i] = raw.charCodeAt(i);
  return bytes;
}

async function unpack(id) {
  if (!$(id)) await wholePage;
  const packed = new Blob([fromBase64($(id).textContent)]);
  const stream = packed.stream().pipeThrough(new DecompressionStream("gzip"));
  return new Uint8Array(await new Response(stream).arrayBuffer());
}

async function unpackJson(id) {
  return JSON.parse(new TextDecoder().decode(await unpack(id)));
}
