// A site: one table of machines by releases of libraries, for one case at a time.

const head = JSON.parse($("head-data").textContent);
const shards = new Map();
const waiting = new Map();

// Names for what has a size, and for handshakes.
const WAYS = [
  { names: ["MB/s", "operations/s"], up: true, of: (w, m, ns) => (w.size > 0 ? (w.size * 1e3) / ns : 1e9 / ns) },
  { names: ["ns per operation", "ns per operation"], up: false, of: (w, m, ns) => ns },
  {
    names: ["price of a petabyte", "price of a million operations"], up: false,
    of: (w, m, ns) => (m.price ? (m.price[0] / m.cpus) * ((ns * 1e-9) / 3600) * (w.size > 0 ? 1e15 / w.size : 1e6) : NaN),
  },
];
const MARKS = ["", "", " ▼", " ▲"];
const WORDS = ["", "as fast as the release before", "faster than the release before", "slower than the release before"];

const wanted = { algorithm: 0, workload: 0, way: 0 };

// Parts of a logarithm in which times are kept.
const OF_TIME = 32768;

// Whole numbers as four planes of bytes, the lowest first.
function column(bytes, from, count) {
  const numbers = new Uint32Array(count);
  for (let i = 0; i < count; i++) numbers[i] = bytes[from + i] | (bytes[from + count + i] << 8) | (bytes[from + 2 * count + i] << 16) | (bytes[from + 3 * count + i] << 24);
  return numbers;
}

const signed = (number) => (number >>> 1) ^ -(number & 1);

function summed(steps) {
  const numbers = new Int32Array(steps.length);
  for (let i = 0, sum = 0; i < steps.length; i++) numbers[i] = sum = (sum + signed(steps[i])) | 0;
  return numbers;
}

// What crates/report/src/page/mod.rs wrote.
function read(bytes) {
  const length = new DataView(bytes.buffer).getUint32(0, true);
  const { workloads, cells } = JSON.parse(new TextDecoder().decode(bytes.subarray(4, 4 + length)));
  let place = 4 + length;
  const next = () => { const numbers = column(bytes, place, cells); place += 4 * cells; return numbers; };
  const shard = { workloads: workloads.map(([words, size]) => ({ words, size })), workload: summed(next()), library: summed(next()), record: summed(next()) };
  shard.ns = Float64Array.from(summed(next()), (part) => Math.exp(part / OF_TIME));
  return { ...shard, half: next(), verdict: next(), change: Int32Array.from(next(), signed), bound: next(), beside: next() };
}

// Files of figures call this.
globalThis.ciphermarkShard = async (place, packed) => {
  const stream = new Blob([fromBase64(packed)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const shard = read(new Uint8Array(await new Response(stream).arrayBuffer()));
  shards.set(place, shard);
  waiting.get(place)?.(shard);
};

function load(place) {
  if (shards.has(place)) return Promise.resolve(shards.get(place));
  return new Promise((done, failed) => {
    waiting.set(place, done);
    document.head.append(el("script", { src: head.shards[place][1], onerror: () => failed(new Error(`${head.shards[place][1]} is missing`)) }));
  });
}

const wayName = (way, { size }) => way.names[size > 0 ? 0 : 1];
const caseName = ({ words, size }) => (size > 0 ? `${words}, ${sizeName(size)}` : words);

function workloadsOf(shard) {
  return shard.workloads.map((w, i) => [w, i]).sort(([a], [b]) => a.words.localeCompare(b.words) || a.size - b.size);
}

function select(label, options, value, change) {
  const box = el("select", { onchange: (event) => change(Number(event.target.value)) },
    options.map(([text, key]) => el("option", { value: String(key), selected: key === value }, text)));
  return el("label", null, `${label} `, box);
}

function controls(shard) {
  const ways = WAYS.filter((w, i) => i < 2 || head.machines.some((m) => m.price));
  $("filters").replaceChildren(
    select("Algorithm", head.shards.map(([name], i) => [name, i]), wanted.algorithm, (i) => go({ algorithm: i, workload: null })),
    select("Case", workloadsOf(shard).map(([w, i]) => [caseName(w), i]), wanted.workload, (i) => go({ workload: i })),
    select("In", ways.map((w) => [wayName(w, shard.workloads[wanted.workload]), WAYS.indexOf(w)]), wanted.way, (i) => go({ way: i })));
}

// Encryption of 8 KiB, else of the largest; digests and what else there is likewise.
function usual(shard) {
  const all = workloadsOf(shard);
  const some = ["encrypt, message, native", "message, native", ""].map((words) => all.filter(([w]) => w.words.includes(words))).find((s) => s.length > 0);
  return (some.find(([w]) => w.size === 8192) ?? some[some.length - 1])[1];
}

// Cells of the wanted case: by machine, then by library.
function cells(shard) {
  const machines = new Map();
  shard.workload.forEach((workload, i) => {
    if (workload !== wanted.workload) return;
    const machine = head.records[shard.record[i]].machine;
    if (!machines.has(machine)) machines.set(machine, new Map());
    machines.get(machine).set(shard.library[i], i);
  });
  return machines;
}

function cell(shard, i, machine, best) {
  if (i === undefined) return el("td", null, "");
  const value = valueOf(shard, i, machine);
  const verdict = shard.verdict[i];
  const by = verdict > 1 ? ` (${(shard.change[i] / 10).toFixed(1)} % of time)` : "";
  const record = head.records[shard.record[i]];
  const beside = shard.beside[i] ? head.beside[shard.beside[i] - 1] : "";
  const besides = beside && `not the same in the two runs: ${beside}`;
  const exact = shard.bound[i] ? "only a busy core was seen" : `±${(shard.half[i] / 100).toFixed(2)} %`;
  const title = [`${record.day}, ${exact}`, WORDS[verdict] && WORDS[verdict] + by, besides].filter(Boolean).join("; ");
  return el("td", { class: best.has(i) ? "best" : null },
    el("a", { href: record.link, title }, bound(shard, i) + supported(value, shard.half[i] / 1e4)),
    verdict > 1 && el("span", { class: verdict === 3 ? "slower" : "faster", title: [WORDS[verdict], besides].filter(Boolean).join("; ") }, MARKS[verdict] + (beside && "*")));
}

// At least so fast, at most so long.
function bound(shard, i) {
  if (!shard.bound[i]) return "";
  return WAYS[wanted.way].up ? ">" : "<";
}

function valueOf(shard, i, machine) {
  return WAYS[wanted.way].of(shard.workloads[wanted.workload], machine, shard.ns[i]);
}

// The least time that is no bound, and those that its interval does not tell from it.
function fastest(shard, all) {
  const known = all.filter((i) => !shard.bound[i]);
  const half = (i) => (shard.ns[i] * shard.half[i]) / 1e4;
  const first = known.reduce((a, b) => (shard.ns[b] < shard.ns[a] ? b : a), known[0]);
  return new Set(known.filter((i) => shard.ns[i] - half(i) <= shard.ns[first] + half(first)));
}

// The row's best first; machines without a figure last.
function rows(shard) {
  const sign = WAYS[wanted.way].up ? -1 : 1;
  return [...cells(shard)].map(([place, of]) => {
    const machine = head.machines[place];
    const key = (i) => { const v = valueOf(shard, i, machine); return Number.isFinite(v) ? sign * v : Infinity; };
    const first = [...of.values()].reduce((a, b) => (key(b) < key(a) ? b : a));
    return { machine, of, best: fastest(shard, [...of.values()]), key: key(first) };
  }).sort((a, b) => a.key - b.key);
}

// One row for each machine; of a few machines, one for each release, the fastest on the first of them first.
const FEW = 3;

function grid(shard) {
  const all = rows(shard);
  const used = new Set(all.flatMap((r) => [...r.of.keys()]));
  const order = (a, b) => head.libraries[a][0].localeCompare(head.libraries[b][0]) || head.libraries[a][1].localeCompare(head.libraries[b][1], "en", { numeric: true });
  const libraries = [...used].sort(order);
  const release = (place, between) => [named(head.libraries[place][0]), between, named(head.libraries[place][1])];
  const machine = (m) => [named(m.name), el("span", { class: "cpu" }, named([m.cpu, m.region, m.price && `${m.price[0]} ${m.price[1]}/h`].filter(Boolean).join(", ")))];
  const one = (r, l) => cell(shard, r.of.get(l), r.machine, r.best);
  if (all.length > FEW) {
    return table("machine", libraries.map((l) => release(l, el("br"))), all.map((r) => [machine(r.machine), libraries.map((l) => one(r, l))]));
  }
  const key = (l) => { const r = all[0]; const i = r.of.get(l); return i === undefined ? Infinity : (WAYS[wanted.way].up ? -1 : 1) * valueOf(shard, i, r.machine); };
  libraries.sort((a, b) => key(a) - key(b) || order(a, b));
  return table("release", all.map((r) => machine(r.machine)), libraries.map((l) => [release(l, " "), all.map((r) => one(r, l))]));
}

function table(corner, heads, rows) {
  return el("div", { class: "grid", tabindex: "0", role: "region", "aria-label": "Figures" }, el("table", null,
    el("thead", null, el("tr", null, el("th", { scope: "col" }, corner), heads.map((h) => el("th", { scope: "col" }, h)))),
    el("tbody", null, rows.map(([name, cells]) => el("tr", null, el("th", { scope: "row" }, name), cells)))));
}

async function draw() {
  const { algorithm } = wanted;
  const shard = await load(algorithm);
  // Another was chosen meanwhile.
  if (wanted.algorithm !== algorithm) return;
  wanted.workload ??= usual(shard);
  controls(shard);
  const workload = shard.workloads[wanted.workload];
  const notes = ["Each figure links to its record. ▲ slower and ▼ faster: what ciphermark compare says against the release before on the same machine."];
  notes.push("Bold: the fastest on its machine, and what the intervals do not tell from it.");
  const some = (of) => shard.workload.some((w, i) => w === wanted.workload && of(i));
  if (some((i) => shard.verdict[i] > 1 && shard.beside[i])) notes.push("*: more than the release changed between the two runs; the mark's title names it.");
  if (some((i) => shard.bound[i])) notes.push("> and <: only a busy core was seen, so it is at least so fast.");
  if (wanted.way === 2) notes.push("The machine's price by the hour is shared out evenly over all its CPUs, as if all did the same at this speed.");
  $("main").replaceChildren(grid(shard), ...notes.map((n) => el("p", { class: "note" }, n)));
  say(`${head.shards[algorithm][0]}: ${plural(head.machines.length, "machine")}`);
  history.replaceState(null, "", `#${new URLSearchParams({ algorithm: head.shards[algorithm][0], case: caseName(workload), in: wayName(WAYS[wanted.way], workload) })}`);
  if (performance.getEntriesByName("first-view").length === 0) performance.mark("first-view");
  performance.mark("view");
}

function go(change) {
  Object.assign(wanted, change);
  draw().catch((e) => $("main").replaceChildren(empty("The figures cannot be read", String(e))));
}

// What the address says, as far as the archive has it.
async function start() {
  const asked = new URLSearchParams(location.hash.slice(1));
  const place = (name) => head.shards.findIndex(([algorithm]) => algorithm === name);
  const algorithm = [place(asked.get("algorithm")), place("aes-256-gcm"), 0].find((i) => i >= 0);
  const way = WAYS.findIndex((w) => w.names.includes(asked.get("in")));
  const shard = await load(algorithm);
  const workload = shard.workloads.findIndex((w) => caseName(w) === asked.get("case"));
  go({ algorithm, workload: workload < 0 ? null : workload, way: Math.max(0, way) });
}

if (head.shards.length === 0) $("main").replaceChildren(empty("The archive has no measured case"));
else start().catch((e) => $("main").replaceChildren(empty("The figures cannot be read", String(e))));
