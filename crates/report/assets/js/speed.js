// Speed by size: a chart with logarithmic axes, and the table of the same numbers.

const CHART_LINES = 60;
let chart = null;

function speedView() {
  const list = select(data.series, { algorithms: viewAlgorithms() }).filter((s) => s.measured + s.bad > 0);
  if (list.length === 0) return [nothingChosen()];
  const unit = unitOf(list);
  const reference = comparedSize(list.filter((s) => s.measured > 0));
  const unlike = differing(list);
  const at = (s) => {
    const i = caseAt(s, reference);
    return i !== undefined && measured(i) && !isDoubted(i) ? unit.of(i) : NaN;
  };
  const rows = list.map((s) => ({ s, at: at(s), name: label(s, unlike) + s.secret }));
  rows.sort((a, b) => order(a.at, b.at, unit.up ? -1 : 1) * (unit.up ? -1 : 1));
  // Figures from elsewhere come last and have no colour: they are not ranked.
  rows.sort((a, b) => a.s.imported - b.s.imported);
  rows.forEach((row, n) => { row.number = n < SERIES_COLORS && row.s.measured > 0 && !row.s.imported ? n : null; });
  const drawn = rows.filter((r) => r.s.measured > 0).slice(0, CHART_LINES);
  say(`${plural(rows.length, "line")} of speed by size`);
  const place = el("div", { class: "chart" });
  const heading = el("h2", null, "Speed by size: ", common(list, unlike));
  const note = rows.length > drawn.length && drawn.length === CHART_LINES
    ? el("p", { class: "note" }, `The chart has the fastest ${CHART_LINES} of ${rows.length}; the table has all.`) : null;
  afterPaint.push(() => drawChart(place, drawn, unit));
  return [heading, place, note, speedTable(rows, unit, reference), warnings(list, unit)];
}

function speedTable(rows, unit, reference) {
  const sizes = [...new Set(rows.flatMap((r) => r.s.cases.map((i) => data.columns.size[i])))].sort((a, b) => a - b);
  const values = rows.filter((r) => !r.s.imported || rows.every((x) => x.s.imported)).map((r) => r.at).filter((v) => !Number.isNaN(v));
  const best = unit.up ? Math.max(...values) : Math.min(...values);
  const columns = [
    { title: "Library", cell: (r) => [r.number === null ? el("span", { class: "swatch" }) : swatch(r.number), el("a", { href: sampleLink(r.s, reference) }, named(r.name))], sort: (r) => r.name },
    ...sizes.map((size) => sizeColumn(size, unit)),
    {
      title: `at ${sizeWords(rows.map((r) => r.s), reference)}`, hint: "as a fraction of the best in this table",
      cell: (r) => el("td", { class: "bar-cell" }, Number.isNaN(r.at) ? "" : bar(unit.up ? r.at / best : best / r.at, r.number === null ? "" : `s${r.number}`)),
      sort: (r) => r.at, start: unit.up ? -1 : 1,
    },
  ];
  rows.forEach((r) => { r.className = `line${r.number === null ? "" : " coloured"}`; });
  return table({ caption: `${unit.name}: ${unit.title}, by ${sizeTitle(rows)}`, columns, rows, className: "numbers" });
}

// What a size is of.
const sizeTitle = (rows) => (rows.every((r) => r.s.cost) ? `${rows[0].s.cost} of a derivation` : "bytes in a message");

function sizeColumn(size, unit) {
  return {
    title: sizeName(size), number: true, start: unit.up ? -1 : 1,
    cell: (r) => {
      const i = caseAt(r.s, size);
      if (i === undefined) return "";
      if (!measured(i)) return stateCell(i);
      return el("td", { class: data.columns.contended[i] || isImported(i) ? "num contended" : "num", title: interval(unit, i) }, inUnit(unit, i));
    },
    sort: (r) => {
      const i = caseAt(r.s, size);
      return i !== undefined && measured(i) ? unit.of(i) : NaN;
    },
  };
}

// What the signs before figures mean, and what is to be known of algorithms and tiers.
function warnings(list, unit) {
  const found = new Map();
  const cases = list.flatMap((s) => s.cases).filter(measured);
  for (const [sign, words] of Object.entries(SIGNS)) {
    const i = cases.find((c) => data.columns.mark[c] === sign);
    if (i !== undefined) found.set(signOf(unit, i), words);
  }
  for (const s of list) if (s.warning) found.set(s.algorithm, s.warning);
  for (const sign of ["‡", "‡?"]) {
    if (cases.some((c) => data.secrets[c] === sign)) found.set(sign, Object.values(VERDICTS).find(([s]) => s === sign)[1]);
  }
  const machines = MACHINES.filter((m) => list.some((s) => s.tier === m));
  if (machines.length) found.set(machines.join(", "), "an emulated feature set on this CPU is not an old core's speed");
  if (found.size === 0) return null;
  return el("ul", { class: "warnings" }, [...found].map(([a, w]) => el("li", null, el("b", null, named(a)), `: ${w}`)));
}

const SIGNS = {
  ">": "only a busy core was seen, so it is at least so fast, and nothing is surely faster",
  "~": "short of the precision asked for",
  "†": "imported, neither measured nor checked here",
  "†?": "imported, and not to be believed",
};

function nothingChosen() {
  return empty("Nothing to show here with these filters.", "Choose other algorithms, libraries, a direction or a tier above, or Reset.");
}

// ---- the chart

function drawChart(place, rows, unit) {
  chart?.destroy();
  chart = null;
  if (rows.length === 0) return;
  // An operation without bytes has no place on a logarithmic axis.
  const sizes = [...new Set(rows.flatMap((r) => r.s.cases.filter(measured).map((i) => data.columns.size[i])))].filter((size) => size > 0).sort((a, b) => a - b);
  if (sizes.length === 0) return;
  const cases = rows.map((r) => sizes.map((size) => {
    const i = caseAt(r.s, size);
    return i !== undefined && measured(i) && !isDoubted(i) && Number.isFinite(unit.of(i)) ? i : null;
  }));
  // A line goes on across a size that nobody asked for, and ends at one without a number.
  const values = rows.map((r, n) => sizes.map((size, at) => {
    const i = cases[n][at];
    return i !== null ? unit.of(i) : caseAt(r.s, size) === undefined ? undefined : null;
  }));
  const tip = el("div", { class: "tip", hidden: true });
  // Grey lines first: the coloured ones are drawn over them.
  const back = rows.map((_, n) => n).reverse();
  const options = {
    width: place.clientWidth, height: Math.max(300, Math.min(460, innerHeight * 0.5)),
    legend: { show: false },
    focus: { alpha: 0.25 },
    cursor: { focus: { prox: 24 }, points: { size: 7 }, drag: { x: false, y: false } },
    padding: [12, labelRoom(rows) + 12, 0, 4],
    scales: { x: { time: false, distr: 3, log: 2, range: widened(1.2) }, y: { distr: 3, log: 10, range: widened(1.4) } },
    axes: [sizeAxis(sizes, sizeTitle(rows)), speedAxis(unit)],
    series: [{}, ...back.map((n) => lineStyle(rows[n], values[n]))],
    hooks: { draw: [(u) => intervals(u, rows, cases, unit), (u) => endLabels(u, rows, values, sizes)], setCursor: [(u) => showTip(u, tip, rows, cases, unit)] },
  };
  place.append(tip);
  chart = new uPlot(options, [sizes, ...back.map((n) => values[n])], place);
  chart.lines = back;
  describeChart(place, rows, unit);
  walkable(place, rows);
}

// A little room beyond the outermost points: above and below, for the arrows of bounds.
const widened = (by) => (_, low, high) => (low === high ? [low / 2, high * 2] : [low / by, high * by]);

// Pixels for the names at the lines' ends.
const labelRoom = (rows) => Math.min(240, 20 + 6.4 * Math.max(...rows.filter((r) => r.number !== null).map((r) => r.name.length), 8));

const axisStyle = () => ({ stroke: color("quiet"), grid: { stroke: color("line"), width: 1 }, ticks: { stroke: color("line"), width: 1 }, font: "12px system-ui, sans-serif", labelFont: "12px system-ui, sans-serif" });

function sizeAxis(sizes, label) {
  return { ...axisStyle(), splits: () => sizes, values: (_, splits) => splits.map(sizeName), label, labelSize: 22, size: 34, filter: (u, splits) => apart(u, splits) };
}

// As many sizes as have room.
function apart(u, splits) {
  let last = -Infinity;
  return splits.map((v) => {
    const x = u.valToPos(v, "x");
    if (x - last < 34) return null;
    last = x;
    return v;
  });
}

function speedAxis(unit) {
  return { ...axisStyle(), splits: (_, __, low, high) => logTicks(Math.log10(low), Math.log10(high)), filter: (_, splits) => splits, values: (_, splits) => splits.map((v) => (v === null ? null : tickName(v))), label: unit.name, labelSize: 20, size: 56 };
}

function lineStyle(row, values) {
  const front = row.number !== null;
  // What no line leads to is seen by its point alone.
  const isAlone = (v, n) => Number.isFinite(v) && !Number.isFinite(values[n - 1]) && !Number.isFinite(values[n + 1]);
  const alone = values.flatMap((v, n) => (isAlone(v, n) ? [n] : []));
  return {
    label: row.name,
    stroke: () => color(front ? `s${row.number}` : "faint"),
    width: front ? 2 : 1,
    dash: front ? DASHES[row.number] : row.s.imported ? [4, 4] : undefined,
    points: { show: front || alone.length > 0, size: 5, fill: () => color("paper"), filter: () => (front ? null : alone) },
  };
}

// Intervals of the coloured lines that are wide enough to be seen; of a bound an arrow to where the value lies.
function intervals(u, rows, cases, unit) {
  const ratio = devicePixelRatio;
  const g = u.ctx;
  const { left, top, width, height } = u.bbox;
  g.save();
  g.beginPath();
  g.rect(left, top, width, height);
  g.clip();
  g.lineWidth = 1.5 * ratio;
  const y = (v) => u.valToPos(v, "y", true);
  const faster = (unit.up ? -1 : 1) * ratio;
  rows.forEach((r, n) => {
    if (r.number === null) return;
    g.strokeStyle = color(`s${r.number}`);
    for (const i of cases[n].filter((i) => i !== null)) {
      const x = u.valToPos(data.columns.size[i], "x", true);
      const from = isBound(i) ? y(unit.of(i)) : y(unit.low(i));
      const to = isBound(i) ? from + 16 * faster : y(unit.high(i));
      if (!(Math.abs(to - from) > 7 * ratio)) continue;
      g.beginPath();
      g.moveTo(x, from);
      g.lineTo(x, to);
      if (isBound(i)) {
        g.moveTo(x - 4 * ratio, to - 5 * faster);
        g.lineTo(x, to);
        g.lineTo(x + 4 * ratio, to - 5 * faster);
      }
      g.stroke();
    }
  });
  g.restore();
}

// Names at the ends of the coloured lines, moved apart where they would overlap.
function endLabels(u, rows, values, sizes) {
  const ratio = devicePixelRatio;
  const g = u.ctx;
  g.save();
  g.font = `${12 * ratio}px system-ui, sans-serif`;
  g.textBaseline = "middle";
  g.textAlign = "left";
  const ends = rows.filter((r) => r.number !== null).map((r) => {
    const line = values[rows.indexOf(r)];
    const last = line.findLastIndex((v) => Number.isFinite(v));
    return last < 0 ? null : { r, x: u.valToPos(sizes[last], "x", true), y: u.valToPos(line[last], "y", true) };
  }).filter(Boolean).sort((a, b) => a.y - b.y);
  const gap = 14 * ratio;
  ends.forEach((e, n) => { e.at = n === 0 ? e.y : Math.max(e.y, ends[n - 1].at + gap); });
  const bottom = u.bbox.top + u.bbox.height;
  for (let n = ends.length - 1, limit = bottom; n >= 0; n--, limit -= gap) ends[n].at = Math.min(ends[n].at, limit);
  const left = u.bbox.left + u.bbox.width + 8 * ratio;
  for (const e of ends) {
    g.fillStyle = g.strokeStyle = color(`s${e.r.number}`);
    g.lineWidth = ratio * 0.7;
    g.beginPath();
    g.moveTo(e.x + 4 * ratio, e.y);
    g.lineTo(left - 3 * ratio, e.at);
    g.stroke();
    g.fillText(shortened(g, e.r.name, labelRoom(rows) * ratio), left, e.at);
  }
  g.restore();
}

function shortened(g, text, width) {
  if (g.measureText(text).width <= width) return text;
  let kept = text;
  while (kept.length > 1 && g.measureText(`${kept}…`).width > width) kept = kept.slice(0, -1);
  return `${kept}…`;
}

const TIP_ROWS = 9;

// The numbers under the cursor, the best first, the nearest line marked.
function showTip(u, tip, rows, cases, unit) {
  const place = u.cursor.idx;
  if (place === null || place === undefined || u.cursor.left < 0) {
    tip.hidden = true;
    return;
  }
  const focused = u.series.findIndex((s, n) => n > 0 && s._focus);
  const near = focused > 0 ? u.lines?.[focused - 1] : undefined;
  const lines = rows.map((r, n) => ({ r, n, i: cases[n][place] })).filter((l) => l.i !== null);
  const shown = lines.filter((l) => l.n === near || l.r.number !== null).slice(0, TIP_ROWS);
  if (shown.length === 0) {
    tip.hidden = true;
    return;
  }
  shown.sort((a, b) => (unit.of(a.i) - unit.of(b.i)) * (unit.up ? -1 : 1));
  tip.replaceChildren(
    el("b", null, `${bytesName(u.data[0][place])}, ${unit.name}`),
    el("table", null, el("tbody", null, shown.map((l) => el("tr", { class: l.n === near ? "near" : null },
      el("td", null, l.r.number === null ? el("span", { class: "swatch" }) : swatch(l.r.number), named(l.r.name)),
      el("td", { class: "num" }, inUnit(unit, l.i)),
      el("td", { class: "num quiet" }, isImported(l.i) ? "imported" : isBound(l.i) ? "busy core" : `±${percent(relativeWidth(unit, l.i))} %`))))),
    lines.length > shown.length ? el("span", { class: "quiet" }, `and ${lines.length - shown.length} more`) : "",
  );
  tip.hidden = false;
  const left = u.cursor.left > u.over.clientWidth / 2 ? u.cursor.left - tip.offsetWidth - 14 : u.cursor.left + 18;
  tip.style.left = `${Math.max(0, left + u.over.offsetLeft)}px`;
  tip.style.top = `${Math.max(0, Math.min(u.cursor.top, u.over.clientHeight - tip.offsetHeight) + u.over.offsetTop)}px`;
}

function describeChart(place, rows, unit) {
  const first = rows[0];
  const words = `Chart of ${unit.name} by message size for ${plural(rows.length, "line")}; the first is ${first.name}. The table below has the same numbers. Left and right arrow keys move through the sizes.`;
  for (const [name, value] of Object.entries({ tabindex: "0", role: "img", "aria-label": words })) place.setAttribute(name, value);
}

// The cursor goes from size to size by keys as well, and says what it finds.
function walkable(place, rows) {
  let at = -1;
  place.onkeydown = (e) => {
    const step = { ArrowRight: 1, ArrowLeft: -1, Home: -Infinity, End: Infinity }[e.key];
    if (e.key === "Escape") chart.setCursor({ left: -10, top: -10 });
    if (step === undefined) return;
    e.preventDefault();
    at = Math.max(0, Math.min(chart.data[0].length - 1, at + step));
    const left = chart.valToPos(chart.data[0][at], "x");
    const line = chart.data[chart.lines.indexOf(0) + 1];
    chart.setCursor({ left, top: Number.isFinite(line[at]) ? chart.valToPos(line[at], "y") : 10 });
    say(`${sizeName(chart.data[0][at])} bytes: ${place.querySelector(".tip").textContent}`);
  };
  place.onblur = () => chart?.setCursor({ left: -10, top: -10 });
}

new ResizeObserver(() => {
  const place = chart?.root.parentElement;
  if (place?.clientWidth && place.clientWidth !== chart.width) chart.setSize({ width: place.clientWidth, height: chart.height });
}).observe($("main"));
