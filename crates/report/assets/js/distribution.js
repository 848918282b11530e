// The raw samples of one case: how they spread, over which processes, which do not count and why.

const CASE_PROPERTIES = ["record", "algorithm", "library", "direction", "model", "tier", "size", "threads", "footprint", "place"];

const wordsOf = (s, i) => CASE_PROPERTIES.map((p) => (p === "size" ? String(data.columns.size[i]) : s[p]));

// Bars divide the words of a case.
const joined = (words) => words.map((w) => w.replaceAll("%", "%25").replaceAll("|", "%7C")).join("|");

function sampleLink(s, size) {
  const i = s.cases.find((c) => data.columns.size[c] === size) ?? s.cases[0];
  return linkTo({ view: "samples", case: joined(wordsOf(s, i)) });
}

async function samplesView() {
  if (data.count === 0) return [nothingChosen()];
  const { s, i } = pickedCase();
  const raw = await samplesOf(i);
  const unit = data.columns.cycles[i] > 0 ? "cycles/op" : "ns/op";
  say(`Samples of ${s.algorithm} in ${s.library}`);
  return [
    el("h2", null, "Samples of one case"),
    casePicker(s, i),
    measured(i) ? caseNumbers(i) : el("p", { class: `verdict state ${data.columns.state[i]}` }, `${STATE_WORDS[data.columns.state[i]]}: ${reasonOf(i)}`),
    raw ? samplesCharts(raw, i, raw.unit === unit) : empty("No samples of this case were taken or kept."),
    caseProof(s, i),
  ];
}

// The case that the fragment names; where it is not here, the nearest that was measured.
function pickedCase() {
  const wanted = (get("case") ?? "").split("|").map(decode);
  const free = select(data.series, { algorithms: oneAlgorithm() }).find((s) => s.measured > 0);
  const start = wanted.length === CASE_PROPERTIES.length ? wanted : free ? wordsOf(free, free.cases.find((i) => measured(i) && data.columns.size[i] === comparedSize([free])) ?? free.cases.find(measured)) : wordsOf(data.series[0], data.series[0].cases[0]);
  let list = data.series.flatMap((s) => s.cases.map((i) => ({ s, i, words: wordsOf(s, i) })));
  CASE_PROPERTIES.forEach((_, n) => {
    const kept = list.filter((c) => c.words[n] === start[n]);
    if (kept.length) list = kept;
  });
  return list[0];
}

// One choice a property; each offers what the records have with the choices before it.
function casePicker(s, i) {
  const words = wordsOf(s, i);
  let list = data.series.flatMap((t) => t.cases.map((c) => ({ i: c, words: wordsOf(t, c) })));
  const fields = CASE_PROPERTIES.map((property, n) => {
    const values = [...new Set(list.map((c) => c.words[n]))];
    const field = values.length < 2 ? null : caseField(s, property, values, words, n);
    list = list.filter((c) => c.words[n] === words[n]);
    return field;
  });
  return el("div", { class: "case-picker", role: "group", "aria-label": "Case" }, fields);
}

const CASE_TITLES = { record: "Record", algorithm: "Algorithm", library: "Library", direction: "Direction", model: "Model", tier: "Tier", size: "Size", threads: "Threads", footprint: "Footprint", place: "Buffers" };

function caseField(s, property, values, words, n) {
  const id = `case-${property}`;
  const sorted = property === "size" ? values.sort((a, b) => a - b) : property === "record" ? values : values.sort(byName);
  const input = el("select", { id, onchange: () => choose({ case: joined(words.map((w, k) => (k === n ? input.value : w))) }) },
    sorted.map((v) => el("option", { value: v }, property === "size" ? sizeWords([s], Number(v)) : v)));
  input.value = words[n];
  return el("label", { class: "field", for: id }, el("span", null, CASE_TITLES[property]), input);
}

function caseNumbers(i) {
  const c = data.columns;
  const facts = [
    c.has_bytes[i] ? ["MB/s", inUnit(UNITS.mb, i), interval(UNITS.mb, i)] : null,
    ["ns per operation", inUnit(UNITS.ns, i), interval(UNITS.ns, i)],
    c.cycles[i] > 0 && c.has_bytes[i] ? ["cycles per byte", inUnit(UNITS.cpb, i), interval(UNITS.cpb, i)] : null,
    c.limit[i] > 0 ? ["of the limit", `${isBound(i) ? ">" : ""}${percent(c.limit[i])} %`, `${figure(c.limit_cycles[i])} cycles at least${limitedBy(i)}`] : null,
    ...data.facts.filter((f) => f.values[i] !== null && (c.has_bytes[i] || !f.words.endsWith("per byte"))).map((f) => [f.words, typeof f.values[i] === "number" ? figure(f.values[i]) : f.values[i], ""]),
  ];
  return el("dl", { class: "tiles" }, facts.filter(Boolean).map(([name, value, more]) =>
    el("div", null, el("dt", null, name), el("dd", null, el("b", null, value), el("span", null, more)))));
}

function samplesCharts(raw, i, sameUnit) {
  const counted = raw.value.filter((_, n) => raw.mark[n] === 0);
  const centre = quantile(counted.length ? counted : raw.value, 0.5);
  // Around what counts; what lies beyond is counted at the edge.
  const spread = Math.max(0.01, 1.5 * Math.max(...(counted.length ? counted : raw.value).map((v) => Math.abs(v / centre - 1)).sort((a, b) => a - b).slice(0, Math.ceil(raw.value.length * 0.98))));
  const [low, high] = [centre * (1 - Math.min(spread, 0.95)), centre * (1 + spread)];
  const x = linearScale(low, high, 70, 880);
  const c = data.columns;
  const estimate = measured(i) && sameUnit ? (c.cycles[i] > 0 ? [c.cycles_low[i], c.cycles[i], c.cycles_high[i]] : [c.ns_low[i], c.ns[i], c.ns_high[i]]) : null;
  const beyond = raw.value.filter((v) => v > high || v < low).length;
  return [
    el("figure", { class: "chart svg-chart" }, histogram(raw, x, low, high, estimate),
      el("figcaption", { class: "legend" }, el("span", null, el("span", { class: "chip count", "aria-hidden": "true" }), `${counted.length} samples count`),
        el("span", null, el("span", { class: "chip marked", "aria-hidden": "true" }), `${raw.value.length - counted.length} marked, which do not`),
        estimate ? el("span", null, el("span", { class: "chip estimate", "aria-hidden": "true" }), isBound(i) ? "what the busy core took: at most so long" : "estimate and its 95 % interval") : null,
        beyond ? el("span", null, `${beyond} beyond the edge`) : null)),
    el("figure", { class: "chart svg-chart" }, strips(raw, x, low, high)),
    markTable(raw),
  ];
}

function quantile(values, part) {
  const sorted = [...values].sort((a, b) => a - b);
  return sorted[Math.floor((sorted.length - 1) * part)];
}

const BINS = 60;

function histogram(raw, x, low, high, estimate) {
  const bins = Array.from({ length: BINS }, () => [0, 0]);
  raw.value.forEach((v, n) => {
    const at = Math.floor(((v - low) / (high - low)) * BINS);
    if (at >= 0 && at < BINS) bins[at][raw.mark[n] === 0 ? 0 : 1] += 1;
  });
  const most = Math.max(1, ...bins.map(([a, b]) => a + b));
  const [top, bottom] = [20, 190];
  const y = linearScale(0, most, bottom, top);
  const width = (x(high) - x(low)) / BINS;
  return svg("svg", { viewBox: "0 0 900 232", role: "img", "aria-label": `Histogram of ${raw.value.length} samples in ${raw.unit}; the table below counts them by process` },
    estimate ? svg("rect", { class: "estimate-band", x: x(Math.max(low, estimate[0])), width: Math.max(1, x(Math.min(high, estimate[2])) - x(Math.max(low, estimate[0]))), y: top, height: bottom - top }) : null,
    xAxis(x, bottom, top, raw.unit, 880),
    bins.map(([clean, marked], n) => [
      clean ? svg("rect", { class: "count", x: x(low) + n * width + 0.5, width: width - 1, y: y(clean), height: bottom - y(clean) }) : null,
      marked ? svg("rect", { class: "marked", x: x(low) + n * width + 0.5, width: width - 1, y: y(clean + marked), height: y(clean) - y(clean + marked) }) : null,
    ]),
    estimate ? svg("line", { class: "estimate-line", x1: x(estimate[1]), x2: x(estimate[1]), y1: top - 6, y2: bottom }) : null,
    svg("text", { class: "axis-title", x: 8, y: 14 }, "samples"));
}

// One row a worker process, in the order in which samples were taken.
function strips(raw, x, low, high) {
  const processes = [...new Set(raw.process)].sort((a, b) => a - b);
  const height = 18;
  const bottom = 10 + processes.length * height;
  const clamp = (v) => Math.max(low, Math.min(high, v));
  return svg("svg", { viewBox: `0 0 900 ${bottom + 42}`, role: "img", "aria-label": `Samples by worker process, ${processes.length} processes` },
    xAxis(x, bottom, 6, raw.unit, 880),
    processes.map((p, row) => {
      const mine = raw.value.map((v, n) => [v, n]).filter(([, n]) => raw.process[n] === p);
      const clean = mine.filter(([, n]) => raw.mark[n] === 0).map(([v]) => v);
      const middle = 10 + row * height + height / 2;
      return svg("g", null,
        svg("text", { class: "strip-name", x: 60, y: middle + 4, "text-anchor": "end" }, `proc. ${p}`),
        mine.map(([v, n]) => svg("circle", { class: raw.mark[n] === 0 ? "count" : "marked", cx: x(clamp(v)), cy: middle, r: 3 }, svg("title", null, `sample ${n + 1}: ${figure(v)} ${raw.unit}, ${MARKS[raw.mark[n]]}`))),
        clean.length ? svg("line", { class: "median", x1: x(clamp(quantile(clean, 0.5))), x2: x(clamp(quantile(clean, 0.5))), y1: middle - 8, y2: middle + 8 }) : null);
    }));
}

// The charts' numbers, for those who do not see them.
function markTable(raw) {
  const processes = [...new Set(raw.process)].sort((a, b) => a - b);
  const marks = MARKS.map((name, n) => [name, n]).filter(([, n]) => n === 0 || raw.mark.includes(n));
  const of = (p, keep) => raw.value.filter((_, n) => raw.process[n] === p && keep(raw.mark[n]));
  const rows = processes.map((p) => ({ p, clean: of(p, (m) => m === 0) }));
  const number = (title, value) => ({ title, number: true, cell: value, sort: (r) => Number(value(r)) });
  return el("details", { class: "more-facts" }, el("summary", null, "As a table"),
    table({
      caption: `Samples by worker process, ${raw.unit}`, rows, className: "numbers",
      columns: [
        { title: "process", cell: (r) => String(r.p), sort: (r) => r.p },
        number("lowest", (r) => (r.clean.length ? figure(Math.min(...r.clean)) : "")),
        number("median", (r) => (r.clean.length ? supported(quantile(r.clean, 0.5), 0.001) : "")),
        number("highest", (r) => (r.clean.length ? figure(Math.max(...r.clean)) : "")),
        ...marks.map(([name, n]) => number(name, (r) => String(of(r.p, (m) => m === n).length))),
      ],
    }));
}

function caseProof(s, i) {
  const c = data.columns;
  const call = data.callsOf.get(`${c.library[i]} ${c.algorithm[i]} ${c.direction[i]}`);
  const library = data.libraries[c.library[i]];
  const facts = [
    ["Library", `${library.name} ${library.version}`], ["File", library.path], ["Build", library.id],
    ["Calls", call && call[3] !== null && s.model === "message" ? data.texts[call[3]] : null],
    ["Interface", call && s.model === "message" ? [call[4] ? "copies every message" : null, call[5] ? "allocates memory for every message" : null].filter(Boolean).join(", ") || null : null],
    ["Clock", `${data.texts[c.clock[i]]}; core cycles by ${data.texts[c.cycles_from[i]] || "nothing"}`],
    ["Sampling ended because", c.stopped[i] === null ? null : data.texts[c.stopped[i]]],
    ["Samples", `${c.samples[i]} count, from ${plural(c.processes[i], "process", "processes")}; ${c.disturbed[i]?.[0] ?? 0} do not`],
    ["Outputs checked", measured(i) && !isImported(i) ? `${c.outputs_checked[i]} timed batches against the independent implementation; ${c.calls_succeeded[i]} calls succeeded` : null],
    ["Checks passed", c.checks[i] === null ? null : data.checks[c.checks[i]]],
    ["Imported from", isImported(i) ? `${data.texts[c.imported[i]]}: neither measured nor checked here` : null],
    ["Remark", measured(i) && reasonOf(i) ? reasonOf(i) : null],
    ["Warning", s.warning],
  ];
  return el("dl", { class: "facts" }, facts.filter(([, v]) => v).map(([name, value]) => [el("dt", null, name), el("dd", null, named(value))]));
}
