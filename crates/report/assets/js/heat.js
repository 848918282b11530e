// Libraries by algorithms, as a fraction of the limit.

const HEAT_STEPS = 10;

function heatView() {
  const list = select(data.series).filter((s) => s.measured + s.bad > 0);
  if (list.length === 0) return [nothingChosen()];
  const size = comparedSize(list);
  const { algorithms, libraries, at } = crossing(list, size);
  const useLimit = get("of") === "limit";
  const anyLimit = useLimit && [...at.values()].some((i) => !Number.isNaN(data.columns.limit[i]));
  const heads = libraries.map((l) => el("th", { scope: "col", class: "steep", title: l.library }, el("a", { href: linkTo({ view: "speed", library: [l.library], ...(data.severalRecords ? { record: [l.record] } : {}), algorithm: null }) }, named(l.library))));
  const rows = algorithms.map((algorithm) => {
    const cases = libraries.map((l) => at.get(`${algorithm}\n${l.key}`));
    const fastest = fastestByRecord(cases);
    return el("tr", null,
      el("th", { scope: "row" }, el("a", { href: linkTo({ view: "speed", algorithm: [algorithm] }) }, named(algorithm))),
      cases.map((i, n) => heatCell(i, fastest.get(libraries[n].record), anyLimit)));
  });
  say(`Heat map of ${plural(algorithms.length, "algorithm")} by ${plural(libraries.length, "library", "libraries")}`);
  const groups = head.records.map((r) => [r.label, libraries.filter((l) => l.record === r.label).length]).filter(([, n]) => n > 0);
  return [
    el("h2", null, anyLimit ? "Fraction of the limit: " : "Fraction of the best: ", heatTitle(), `, ${bytesName(size)}`),
    heatLegend(useLimit, anyLimit),
    el("div", { class: "scroll heat-box", tabindex: "0", role: "region", "aria-label": "Heat map" },
      el("table", { class: "heat" },
        el("caption", { class: "hidden" }, "Percent, libraries by algorithms"),
        el("thead", null,
          groups.length > 1 ? el("tr", null, el("td"), groups.map(([name, n]) => el("th", { scope: "colgroup", colspan: n, class: "group" }, named(name)))) : null,
          el("tr", null, el("td"), heads)),
        el("tbody", null, rows))),
  ];
}

const heatTitle = () => ["direction", "model", "tier"].map(single).filter(Boolean).join(", ");

// Which libraries and algorithms there are, the best covered first, and the case of each pair.
function crossing(list, size) {
  const libraries = new Map();
  const algorithms = new Map();
  const at = new Map();
  for (const s of list) {
    const i = caseAt(s, size);
    if (i === undefined || data.columns.state[i] === "unsupported") continue;
    const key = `${s.record}\n${s.library}`;
    const l = libraries.get(key) ?? { key, record: s.record, library: s.library };
    libraries.set(key, l);
    algorithms.set(s.algorithm, (algorithms.get(s.algorithm) ?? 0) + 1);
    at.set(`${s.algorithm}\n${key}`, i);
  }
  const records = head.records.map((r) => r.label);
  return {
    at,
    algorithms: [...algorithms.keys()].sort((a, b) => byName(family(a), family(b)) || byName(a, b)),
    libraries: [...libraries.values()].sort((a, b) => records.indexOf(a.record) - records.indexOf(b.record) || byName(a.library, b.library)),
  };
}

// `aes-gcm` of `aes-256-gcm`: key lengths of one mode stand together.
const family = (algorithm) => algorithm.replace(/-\d+/, "");

// The least time in each record: another machine's is no measure. Nor is a bound, and an imported figure only where
// nothing else is there.
function fastestByRecord(cases) {
  const fastest = new Map();
  const found = cases.filter((i) => i !== undefined && measured(i) && !isBound(i) && !isDoubted(i));
  const own = found.filter((i) => !isImported(i));
  for (const i of own.length ? own : found) {
    const record = head.records[data.libraries[data.columns.library[i]].record].label;
    fastest.set(record, Math.min(fastest.get(record) ?? Infinity, data.columns.ns[i]));
  }
  return fastest;
}

function heatCell(i, fastest, useLimit) {
  if (i === undefined) return el("td", { class: "none" }, "·");
  if (data.columns.state[i] === "left-out") return el("td", { class: "none", title: `left out: ${reasonOf(i)}` }, "…");
  if (!measured(i)) return el("td", { class: `state ${data.columns.state[i]}`, title: `${STATE_WORDS[data.columns.state[i]]}: ${reasonOf(i)}` }, "✕");
  const limit = data.columns.limit[i];
  const known = useLimit && !Number.isNaN(limit);
  const fraction = known ? limit : fastest / data.columns.ns[i];
  if (!Number.isFinite(fraction) || isDoubted(i)) return el("td", { class: "guess", title: interval(unitOfCase(i), i) }, "?");
  const step = Math.min(HEAT_STEPS - 1, Math.floor(fraction * HEAT_STEPS));
  const sign = isBound(i) ? ">" : "";
  const of = known ? `of the limit${limitedBy(i)}` : "of the best here";
  return el("td", { class: `h${step}${(useLimit && !known) || isImported(i) ? " guess" : ""}`, title: `${sign}${percent(fraction)} % ${of}; ${interval(unitOfCase(i), i)}` }, sign + percent(fraction));
}

const unitOfCase = (i) => (data.columns.has_bytes[i] ? UNITS.mb : UNITS.ns);

function limitedBy(i) {
  const by = data.columns.limited_by[i];
  return by === null ? "" : ` (${data.texts[by]})`;
}

function heatLegend(useLimit, anyLimit) {
  const scale = el("span", { class: "heat-scale", "aria-hidden": "true" }, Array.from({ length: HEAT_STEPS }, (_, n) => el("span", { class: `h${n}` })));
  const words = !useLimit ? "Percent of the fastest library's speed with that algorithm."
    : anyLimit ? "Percent of the best that this core can do (its own instruction throughputs, measured in the same run). Where no limit is known the figure is of the fastest library of the record, in italics; so are imported figures."
      : "These records have no limits: the figures are of the fastest library with that algorithm.";
  return el("p", { class: "legend" }, "0 ", scale, " 100 % ", el("span", null, words), el("span", null, "✕ refused or failed; … not measured; > only a busy core was seen, at least so much; · not offered"));
}
