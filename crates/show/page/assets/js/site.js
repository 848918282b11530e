// A site: one table of machines by releases of libraries, for one case at a time.

const head = JSON.parse($("head-data").textContent);
const shards = new Map();
const waiting = new Map();

const WAYS = [
  { name: "MB/s", up: true, of: (w, m, ns) => (w.size > 0 ? (w.size * 1e3) / ns : 1e9 / ns) },
  { name: "ns per operation", up: false, of: (w, m, ns) => ns },
  {
    name: "price of a petabyte, or of a million operations", up: false,
    of: (w, m, ns) => (m.price ? (m.price[0] / m.cpus) * ((ns * 1e-9) / 3600) * (w.size > 0 ? 1e15 / w.size : 1e6) : NaN),
  },
];
const MARKS = ["", "", " ▼", " ▲"];
const WORDS = ["", "as fast as the release before", "faster than the release before", "slower than the release before"];

const wanted = { algorithm: 0, workload: 0, way: 0 };

// Files of figures call this.
globalThis.ciphermarkShard = async (place, packed) => {
  const stream = new Blob([fromBase64(packed)]).stream().pipeThrough(new DecompressionStream("gzip"));
  const shard = JSON.parse(await new Response(stream).text());
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

function workloadsOf(place) {
  return head.workloads.map((w, i) => [w, i]).filter(([w]) => w.algorithm === head.shards[place][0])
    .sort(([a], [b]) => a.words.localeCompare(b.words) || a.size - b.size);
}

function select(label, options, value, change) {
  const box = el("select", { onchange: (event) => change(Number(event.target.value)) },
    options.map(([text, key]) => el("option", { value: String(key), selected: key === value }, text)));
  return el("label", null, `${label} `, box);
}

function controls() {
  const ways = WAYS.filter((w, i) => i < 2 || head.machines.some((m) => m.price));
  $("filters").replaceChildren(
    select("Algorithm", head.shards.map(([name], i) => [name, i]), wanted.algorithm, (i) => go({ algorithm: i, workload: usual(i) })),
    select("Case", workloadsOf(wanted.algorithm).map(([w, i]) => [w.size > 0 ? `${w.words}, ${sizeName(w.size)}` : w.words, i]), wanted.workload, (i) => go({ workload: i })),
    select("In", ways.map((w) => [w.name, WAYS.indexOf(w)]), wanted.way, (i) => go({ way: i })));
}

// Encryption of 8 KiB, else of the largest.
function usual(place) {
  const all = workloadsOf(place);
  const plain = all.filter(([w]) => w.words.startsWith("encrypt, message, native"));
  const found = plain.find(([w]) => w.size === 8192) ?? plain[plain.length - 1] ?? all[0];
  return found[1];
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
  const change = (shard.change[i] / 10).toFixed(1);
  const record = head.records[shard.record[i]];
  const title = [`${record.day}, ±${(shard.half[i] / 100).toFixed(2)} %`, WORDS[verdict] && `${WORDS[verdict]} (${change} % of time)`].filter(Boolean).join("; ");
  return el("td", { class: i === best ? "best" : null },
    el("a", { href: record.link, title }, supported(value, shard.half[i] / 1e4)),
    verdict > 1 && el("span", { class: verdict === 3 ? "slower" : "faster", title: WORDS[verdict] }, MARKS[verdict]));
}

function valueOf(shard, i, machine) {
  return WAYS[wanted.way].of(head.workloads[wanted.workload], machine, shard.ns[i]);
}

// The row's best first; machines without a figure last.
function rows(shard) {
  const sign = WAYS[wanted.way].up ? -1 : 1;
  return [...cells(shard)].map(([place, of]) => {
    const machine = head.machines[place];
    const key = (i) => { const v = valueOf(shard, i, machine); return Number.isFinite(v) ? sign * v : Infinity; };
    const best = [...of.values()].reduce((a, b) => (key(b) < key(a) ? b : a));
    return { machine, of, best, key: key(best) };
  }).sort((a, b) => a.key - b.key);
}

function grid(shard) {
  const all = rows(shard);
  const used = new Set(all.flatMap((r) => [...r.of.keys()]));
  const order = (a, b) => head.libraries[a][0].localeCompare(head.libraries[b][0]) || head.libraries[a][1].localeCompare(head.libraries[b][1], "en", { numeric: true });
  const libraries = [...used].sort(order);
  const label = (place) => [named(head.libraries[place][0]), el("br"), named(head.libraries[place][1])];
  const name = (m) => el("th", { scope: "row" }, named(m.name), el("span", { class: "cpu" }, named([m.cpu, m.region, m.price && `${m.price[0]} ${m.price[1]}/h`].filter(Boolean).join(", "))));
  return el("div", { class: "grid", tabindex: "0", role: "region", "aria-label": "Figures" }, el("table", null,
    el("thead", null, el("tr", null, el("th", { scope: "col" }, "machine"), libraries.map((l) => el("th", { scope: "col" }, label(l))))),
    el("tbody", null, all.map((r) => el("tr", null, name(r.machine), libraries.map((l) => cell(shard, r.of.get(l), r.machine, r.best)))))));
}

async function draw() {
  controls();
  const shard = await load(wanted.algorithm);
  const notes = ["Each figure links to its record. ▲ slower and ▼ faster: what ciphermark compare says against the release before on the same machine."];
  if (wanted.way === 2) notes.push("The machine's price by the hour is shared out evenly over all its CPUs, as if all did the same at this speed.");
  $("main").replaceChildren(grid(shard), ...notes.map((n) => el("p", { class: "note" }, n)));
  say(`${head.shards[wanted.algorithm][0]}: ${plural(head.machines.length, "machine")}`);
  if (performance.getEntriesByName("first-view").length === 0) performance.mark("first-view");
  performance.mark("view");
}

function go(change) {
  Object.assign(wanted, change);
  const { algorithm, workload, way } = wanted;
  history.replaceState(null, "", `#${algorithm},${workload},${way}`);
  draw().catch((e) => $("main").replaceChildren(empty("The figures cannot be read", String(e))));
}

const first = Math.max(0, head.shards.findIndex(([name]) => name === "aes-256-gcm"));
const [algorithm, workload, way] = location.hash.slice(1).split(",").map(Number);
const fits = head.shards[algorithm] && head.workloads[workload]?.algorithm === head.shards[algorithm][0] && WAYS[way];
if (head.shards.length === 0) $("main").replaceChildren(empty("The archive has no measured case"));
else go(fits ? { algorithm, workload, way } : { algorithm: first, workload: usual(first), way: 0 });
