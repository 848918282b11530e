// Which series a view shows: what is chosen, completed by what suits.

// Properties of which one value is shown at a time, with the value that is shown unless another is
// chosen: the first of these that the records have.
const SINGLE = {
  direction: ["encrypt"],
  model: ORDER.models,
  tier: ORDER.tiers,
  footprint: ORDER.footprints,
  threads: ["1"],
  place: ["apart"],
};

const ALL = "all";

function options(property) {
  const values = valuesOf(property);
  // Digests, copies and operations have one direction, and are shown with either of a cipher's.
  if (property === "direction") return values.filter((v) => v === "encrypt" || v === "decrypt");
  return values;
}

function single(property) {
  const values = options(property);
  const chosen = get(property);
  if (chosen === ALL && property === "tier" && viewName() === "speed") return ALL;
  if (values.includes(chosen)) return chosen;
  return SINGLE[property].find((v) => values.includes(v)) ?? values[0];
}

function matches(s, property, chosen) {
  if (chosen === ALL || chosen === undefined || s[property] === undefined) return true;
  if (property === "direction" && s.direction !== "encrypt" && s.direction !== "decrypt") return true;
  return s[property] === chosen;
}

// What a list chooses of the values that there are; null where it chooses nothing.
function chosenOf(property) {
  const list = state[property];
  if (!list) return null;
  const known = new Set(valuesOf(property));
  const kept = list.filter((v) => known.has(v));
  // A link from another page whose names are not here: better everything than nothing.
  return list.length > 0 && kept.length === 0 ? null : new Set(kept);
}

// `list` (of series, or of anything with their properties) as far as it is chosen. `free` names
// properties that do not filter here; `algorithms` is what is shown where none was chosen.
function select(list, { free = [], algorithms = null } = {}) {
  const lists = LISTS.filter((p) => !free.includes(p)).map((p) => [p, chosenOf(p)]);
  const singles = Object.keys(SINGLE).filter((p) => !free.includes(p)).map((p) => [p, single(p)]);
  return list.filter((s) => {
    for (const [property, chosen] of lists) {
      const wanted = chosen ?? (property === "algorithm" ? algorithms : null);
      if (wanted && !wanted.has(s[property])) return false;
    }
    return singles.every(([p, chosen]) => matches(s, p, chosen));
  });
}

// The algorithm that most libraries were measured with; of several, the one that people ask for.
const ASKED_FOR = ["aes-256-gcm", "aes-128-gcm", "chacha20-poly1305", "aes-256-ctr", "aes-128-ctr"];
function oneAlgorithm(free = []) {
  const measuredIn = new Map();
  for (const s of select(data.series, { free: [...free, "algorithm"] })) {
    if (s.measured > 0) measuredIn.set(s.algorithm, (measuredIn.get(s.algorithm) ?? 0) + 1);
  }
  const most = Math.max(0, ...measuredIn.values());
  const asked = ASKED_FOR.find((a) => measuredIn.get(a) >= most * 0.7);
  const best = asked ?? [...measuredIn].find(([, n]) => n === most)?.[0];
  return best === undefined ? null : new Set([best]);
}

// The size at which rows are compared: the chosen one, else a database page, else the largest.
const PAGE_BYTES = 8192;
function comparedSize(list) {
  const sizes = new Set(list.flatMap((s) => s.cases.map((i) => data.columns.size[i])));
  const chosen = Number(get("size"));
  if (sizes.has(chosen)) return chosen;
  return sizes.has(PAGE_BYTES) ? PAGE_BYTES : Math.max(0, ...sizes);
}

// What tells the members of a list apart: the properties in which they differ.
function differing(list) {
  const properties = ["record", "algorithm", "library", "direction", "model", "tier", "threads", "footprint", "place"];
  const differ = properties.filter((p) => list.some((s) => s[p] !== list[0][p]));
  const only = differ.filter((p) => p !== "direction" || list.some((s) => s.direction === "decrypt"));
  if (only.length === 0 || only.every((p) => p === "record")) only.push("library");
  return only;
}

function label(s, properties) {
  return ["algorithm", "library", "direction", "model", "tier", "threads", "footprint", "place", "record"]
    .filter((p) => properties.includes(p))
    .map((p) => (p === "threads" ? plural(Number(s[p]), "thread") : s[p]))
    .join(" · ");
}

// What all of a list have in common, in words, for headings.
function common(list, unlike) {
  const any = list[0];
  const words = [];
  if (!unlike.includes("algorithm")) words.push(any.algorithm);
  if (!unlike.includes("library")) words.push(any.library);
  if (!unlike.includes("direction")) words.push(any.direction);
  words.push(`model ${single("model")}`);
  if (!unlike.includes("tier")) words.push(`tier ${any.tier}`);
  if (any.footprint !== undefined && any.footprint !== "hot") words.push(`footprint ${any.footprint}`);
  if (any.threads !== undefined && any.threads !== "1") words.push(`${any.threads} threads`);
  if (any.place === "in place") words.push("in place");
  return words.join(", ");
}
