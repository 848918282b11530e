// The ladder of tiers: what each CPU feature is worth to each library.

function ladderView() {
  const tiers = valuesOf("tier");
  if (tiers.length < 2) {
    return [el("h2", null, "Ladder of tiers"), empty("These records have one tier only.", [
      "A tier is the set of CPU instructions that a library may see. ", el("code", null, "ciphermark run -t native -t aesni -t noaes -o tiers.json"), " measures several, and this view then shows what each is worth."])];
  }
  const list = select(data.series, { free: ["tier"], algorithms: viewAlgorithms() }).filter((s) => s.measured + s.bad > 0);
  if (list.length === 0) return [nothingChosen()];
  const unit = unitOf(list);
  const size = comparedSize(list);
  const rows = ladders(list, size, unit);
  const unlike = differing(list).filter((p) => p !== "tier");
  rows.forEach((r) => { r.name = label(r.any, unlike.length ? unlike : ["library"]); });
  const all = rows.flatMap((r) => Object.values(r.at).filter(isDrawn).map((i) => unit.of(i))).filter((v) => v > 0);
  if (all.length === 0) return [nothingChosen()];
  const scale = logScale(all, 16, LADDER_WIDTH - 16);
  const shown = tiers.filter((t) => rows.some((r) => r.at[t] !== undefined));
  const columns = [
    { title: "Library", cell: (r) => el("a", { href: sampleLink(r.any, size) }, named(r.name)), sort: (r) => r.name },
    { title: ladderHead(scale, unit), cell: (r) => el("td", { class: "ladder-cell" }, ladderLine(r, shown, scale, unit)) },
    ...shown.map((tier) => tierColumn(tier, unit)),
    { title: "steps", hint: "the best tier's speed divided by the slowest's, bounds aside", number: true, start: -1, cell: (r) => (r.ratio > 1 ? `${figure(r.ratio)}×` : ""), sort: (r) => r.ratio },
  ];
  say(`Ladder of ${plural(rows.length, "row")} over ${plural(shown.length, "tier")}`);
  return [
    el("h2", null, "Ladder of tiers: ", common(list, [...unlike, "tier"]), `, ${sizeWords(list, size)}`),
    el("p", { class: "legend" }, shown.map((t) => el("span", null, el("span", { class: `dot t${ORDER.tiers.indexOf(t)}`, "aria-hidden": "true" }), t))),
    table({ caption: `${unit.name} by tier, ${sizeWords(list, size)}`, columns, rows, className: "numbers ladder" }),
    warnings(list, unit),
  ];
}

const LADDER_WIDTH = 320;

const isDrawn = (i) => measured(i) && !isDoubted(i);

// Series that differ in their tier only, together; the fastest first.
function ladders(list, size, unit) {
  const found = new Map();
  for (const s of list) {
    const key = [s.record, s.library, s.algorithm, s.direction].join("\n");
    const i = caseAt(s, size);
    if (i === undefined) continue;
    if (!found.has(key)) found.set(key, { any: s, at: {} });
    found.get(key).at[s.tier] = i;
  }
  const rows = [...found.values()];
  for (const r of rows) {
    const speeds = Object.values(r.at).filter((i) => isDrawn(i) && !isBound(i)).map((i) => 1 / data.columns.ns[i]);
    r.ratio = speeds.length > 1 ? Math.max(...speeds) / Math.min(...speeds) : NaN;
    r.best = Math.max(0, ...speeds);
  }
  return rows.sort((a, b) => b.best - a.best);
}

function tierColumn(tier, unit) {
  const of = (r) => (r.at[tier] !== undefined && measured(r.at[tier]) ? unit.of(r.at[tier]) : NaN);
  return {
    title: tier, number: true, start: unit.up ? -1 : 1, sort: of,
    cell: (r) => {
      const i = r.at[tier];
      if (i === undefined) return "";
      return measured(i) ? el("td", { class: "num", title: interval(unit, i) }, inUnit(unit, i) + data.secrets[i]) : stateCell(i);
    },
  };
}

function ladderHead(scale, unit) {
  // As many ticks as have room.
  let last = -Infinity;
  const ticks = scale.ticks.filter((v) => scale(v) - last > 42 && (last = scale(v)));
  return el("span", { class: "ladder-head" }, el("span", null, unit.name),
    svg("svg", { class: "ladder-line", width: LADDER_WIDTH, height: 16, viewBox: `0 0 ${LADDER_WIDTH} 16`, "aria-hidden": "true" },
      ticks.map((v) => svg("text", { x: scale(v), y: 12, "text-anchor": "middle" }, tickName(+v.toPrecision(3))))));
}

function ladderLine(r, tiers, scale, unit) {
  const points = tiers.filter((t) => r.at[t] !== undefined && isDrawn(r.at[t])).map((t) => ({ t, x: scale(unit.of(r.at[t])), bound: isBound(r.at[t]) }));
  const xs = points.map((p) => p.x);
  return svg("svg", { class: "ladder-line", width: LADDER_WIDTH, height: 20, viewBox: `0 0 ${LADDER_WIDTH} 20`, "aria-hidden": "true" },
    scale.ticks.map((v) => svg("line", { class: "grid", x1: scale(v), x2: scale(v), y1: 0, y2: 20 })),
    points.length > 1 ? svg("line", { class: "rung", x1: Math.min(...xs), x2: Math.max(...xs), y1: 10, y2: 10 }) : null,
    // The best tier on top where dots coincide.
    [...points].reverse().map((p) => svg("circle", { class: `t${ORDER.tiers.indexOf(p.t)}${p.bound ? " hollow" : ""}`, cx: p.x, cy: 10, r: 5 })));
}
