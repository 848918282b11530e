// What a message costs whatever its size, against what each byte costs.

function costsView() {
  const fits = select(data.fits.map((f) => ({ ...f, ...entryWords(f) })));
  if (data.fits.length === 0) {
    return [el("h2", null, "Fixed cost and cost per byte"), empty("These records have no fitted lines.", [
      "A line time = a + b·size needs three sizes or more of one case in a record of format 1.2: ", el("code", null, "ciphermark run -s 16..64K -o sizes.json")])];
  }
  if (fits.length === 0) return [nothingChosen()];
  const unlike = differing(fits);
  const shown = fits.map((f) => ({ f, name: label(f, unlike) }));
  colourBy(shown);
  say(`Costs of ${plural(shown.length, "line")}`);
  return [
    el("h2", null, "Fixed cost and cost per byte: ", common(fits, unlike)),
    el("p", { class: "note" }, "Lower left is better: down the message gets cheaper, left the byte. A hollow point is a line that the measured times do not lie on within 10 %."),
    costLegend(shown),
    costChart(shown),
    costTable(shown),
  ];
}

// Colours by algorithm or by library, whichever has few enough values.
function colourBy(shown) {
  for (const property of ["library", "algorithm", "tier", "record"]) {
    const values = valuesOf(property, shown.map((r) => r.f));
    if (values.length < 2 || values.length > SERIES_COLORS) continue;
    shown.forEach((r) => { r.number = values.indexOf(r.f[property]); r.group = r.f[property]; });
    return;
  }
  shown.forEach((r) => { r.number = 0; r.group = null; });
}

function costLegend(shown) {
  const groups = new Map(shown.map((r) => [r.group, r.number]));
  if (groups.has(null)) return null;
  return el("p", { class: "legend" }, [...groups].sort((a, b) => a[1] - b[1]).map(([name, number]) => el("span", null, swatch(number), named(name))));
}

function costChart(shown) {
  const drawable = shown.filter((r) => r.f.ns_per_message > 0 && r.f.ns_per_byte > 0);
  if (drawable.length === 0) return null;
  const [width, height] = [900, 380];
  const x = logScale(drawable.map((r) => r.f.ns_per_byte), 70, width - 20);
  const y = logScale(drawable.map((r) => r.f.ns_per_message), height - 50, 24);
  const front = pareto(drawable);
  const tip = svg("title");
  return el("figure", { class: "chart svg-chart" },
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `Scatter chart of ${drawable.length} lines: nanoseconds a message by nanoseconds a byte. The table below has the numbers.` }, tip,
      xAxis(x, height - 50, 24, "ns per byte", width - 20), yAxis(y, 70, width - 20, "ns per message"),
      drawable.map((r) => svg("circle", { class: `point s${r.number}${r.f.linear ? "" : " hollow"}`, cx: x(r.f.ns_per_byte), cy: y(r.f.ns_per_message), r: 5 },
        svg("title", null, `${r.name}: ${figure(r.f.ns_per_message)} ns + ${figure(r.f.ns_per_byte)} ns a byte`))),
      placed(front, x, y, width).map((l) => svg("text", { class: "point-label", x: l.x, y: l.y, "text-anchor": l.anchor }, l.name))));
}

// Those that no other beats in both: they are named in the chart.
function pareto(rows) {
  const sorted = [...rows].sort((a, b) => a.f.ns_per_byte - b.f.ns_per_byte);
  let best = Infinity;
  return sorted.filter((r) => {
    if (r.f.ns_per_message >= best) return false;
    best = r.f.ns_per_message;
    return true;
  });
}

// Labels beside their points, left out where they would lie over each other.
function placed(rows, x, y, width) {
  const taken = [];
  const labels = [];
  for (const r of rows) {
    const [px, py] = [x(r.f.ns_per_byte), y(r.f.ns_per_message)];
    const length = r.name.length * 6.6;
    const right = px + 10 + length < width;
    const box = { x0: right ? px : px - length - 10, x1: right ? px + length + 10 : px, y: py };
    if (taken.some((t) => t.x0 < box.x1 && box.x0 < t.x1 && Math.abs(t.y - box.y) < 14)) continue;
    taken.push(box);
    labels.push({ name: r.name, x: right ? px + 9 : px - 9, y: py + 4, anchor: right ? "start" : "end" });
  }
  return labels;
}

function costTable(shown) {
  const number = (title, hint, of, text = figure) => ({
    title, hint, number: true, start: 1, sort: (r) => of(r.f) ?? NaN,
    cell: (r) => { const v = of(r.f); return v === null || v === undefined ? "" : text(v); },
  });
  const byByte = number("ns/byte", "b, of each byte", (f) => f.ns_per_byte);
  const columns = [
    { title: "Line", cell: (r) => [swatch(r.number), named(r.name)], sort: (r) => r.name },
    number("ns/message", "a, whatever the size", (f) => f.ns_per_message),
    number("cycles/message", "a in core cycles", (f) => f.cycles_per_message),
    byByte,
    number("cycles/byte", "b in core cycles", (f) => f.cycles_per_byte),
    number("half speed at", "bytes in a message at which half of the peak speed is reached", (f) => f.half_speed_bytes, (v) => `${figure(v)} B`),
    number("residual", "largest distance of a measured time from the line", (f) => f.residual, (v) => `${percent(v)} %`),
    { title: "line holds", cell: (r) => (r.f.linear ? "yes" : "no"), sort: (r) => Number(r.f.linear) },
  ];
  return table({ caption: "time = a + b·size", columns, rows: shown, sorted: { column: byByte, way: 1 }, className: "numbers" });
}
