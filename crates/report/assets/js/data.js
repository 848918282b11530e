// What the page knows: columns of cases, and the series that they form.

const head = JSON.parse($("head-data").textContent);

let data = null;

const NUMBERS = [
  "ns", "ns_low", "ns_high", "cycles", "cycles_low", "cycles_high", "mb_per_s", "limit", "limit_cycles",
];

// Tiers that are machines and not switches, the newest first.
const MACHINES = ["icelake", "zen1", "skylake", "haswell", "sandybridge", "westmere", "nehalem", "core2", "qemu64", "pi4"];

// Words in the order in which people look for them, whatever order the records have.
const ORDER = {
  tiers: ["native", "vaes256", "aesni", "nopclmul", "noavx2", "nosve", "aes", "noaes", "baseline", ...MACHINES],
  models: ["message", "rekey", "forgery", "between", "between-rekey", "stream"],
  footprints: ["hot", "l1", "l2", "l3", "memory"],
  directions: ["encrypt", "decrypt", "digest", "generate", "copy"],
};

async function load() {
  const raw = await unpackJson("cases-data");
  for (const name of NUMBERS) {
    // null becomes NaN: no number compares with it, none is drawn.
    raw.columns[name] = Float64Array.from(raw.columns[name], (v) => (v === null ? NaN : v));
  }
  data = { ...raw, ...raw.names };
  data.count = data.columns.size.length;
  data.libraries.forEach((l) => { l.algorithmCount = 0; });
  data.series = series();
  data.sizes = [...new Set(data.columns.size)].sort((a, b) => a - b);
  data.callsOf = new Map(data.calls.map((c) => [`${c[0]} ${c[1]} ${c[2]}`, c]));
  data.severalRecords = head.records.length > 1;
}

// Cases that differ in nothing but their size, ascending.
function series() {
  const c = data.columns;
  const found = new Map();
  for (let i = 0; i < data.count; i++) {
    const key = `${c.library[i]} ${c.algorithm[i]} ${c.direction[i]} ${c.model[i]} ${c.tier[i]} ${c.threads[i]} ${c.footprint[i]} ${c.in_place[i]}`;
    let s = found.get(key);
    if (!s) {
      s = describe(i, key);
      found.set(key, s);
    }
    s.cases.push(i);
    if (measured(i)) s.measured += 1;
    else if (c.state[i] !== "unsupported") s.bad += 1;
  }
  const all = [...found.values()];
  all.forEach((s) => s.cases.sort((a, b) => c.size[a] - c.size[b]));
  return all;
}

function describe(i, key) {
  const c = data.columns;
  const library = data.libraries[c.library[i]];
  return {
    key, cases: [], measured: 0, bad: 0,
    record: head.records[library.record].label,
    imported: c.state[i] === "imported",
    library: c.state[i] === "imported" ? `${library.label} (imported)` : library.label,
    libraryNumber: c.library[i],
    algorithm: data.algorithms[c.algorithm[i]],
    direction: data.directions[c.direction[i]],
    model: data.models[c.model[i]],
    tier: data.tiers[c.tier[i]],
    footprint: data.footprints[c.footprint[i]],
    threads: String(c.threads[i]),
    place: c.in_place[i] ? "in place" : "apart",
    secret: data.secrets[i],
    cost: data.cost_units[c.algorithm[i]],
    warning: c.warning[i] === null ? null : data.texts[c.warning[i]],
  };
}

// Whether there is a number: of a case that was measured and verified, or of one that was imported,
// which stands beside the others and is never ranked with them.
const measured = (i) => data.columns.state[i] === "measured" || isImported(i);
const isImported = (i) => data.columns.imported[i] !== null;
// Only a busy core was seen: it is at least so fast.
const isBound = (i) => data.columns.contended[i] === 1 && measured(i);
// A figure from elsewhere that cannot be right, or says little.
const isDoubted = (i) => isImported(i) && data.columns.reason[i] !== null;
const caseAt = (s, size) => s.cases.find((i) => data.columns.size[i] === size);
const reasonOf = (i) => (data.columns.reason[i] === null ? "" : data.texts[data.columns.reason[i]]);

// The values that a property of series takes, in the order of `ORDER` or of the alphabet.
function valuesOf(property, list = data.series) {
  if (list === data.series) return [...(known[property] ??= sortedValues(property, list))];
  return sortedValues(property, list);
}

// What all series have does not change, and is asked for at every turn.
const known = {};

const collator = new Intl.Collator("en", { numeric: true });
const byName = (a, b) => collator.compare(a, b);

function sortedValues(property, list) {
  const order = ORDER[`${property}s`];
  const values = [...new Set(list.map((s) => s[property]))];
  if (order) return values.sort((a, b) => order.indexOf(a) - order.indexOf(b));
  if (property === "record") return values;
  return values.sort(byName);
}

// Records of page stores, and advice.
let sheetList = null;
async function sheets(kind) {
  sheetList ??= await unpackJson("sheets-data");
  return sheetList.filter((s) => s.kind === kind);
}

let executedList = null;
async function executed() {
  executedList ??= unpackJson("executed-data");
  return executedList;
}

let leakList = null;
async function leaks() {
  leakList ??= unpackJson("leaks-data");
  return leakList;
}

// The series that an entry of `fits` or `executed` belongs to, as far as both have the properties.
function entryWords(e) {
  const library = data.libraries[e.library];
  return {
    record: head.records[library.record].label,
    library: library.label,
    algorithm: data.algorithms[e.algorithm],
    direction: data.directions[e.direction],
    model: data.models[e.model],
    tier: data.tiers[e.tier],
    footprint: e.footprint === undefined ? undefined : data.footprints[e.footprint],
    threads: e.threads === undefined ? undefined : String(e.threads),
    place: e.in_place === undefined ? undefined : e.in_place ? "in place" : "apart",
  };
}
