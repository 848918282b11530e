// What opens the tabs of TLS and of pages: the program's own answer, and a picture of it.

function answerOf(text) {
  return text ? el("pre", { class: "screen", tabindex: "0", role: "region", "aria-label": "The answer" }, text) : null;
}

// A long name in a picture; the table has it whole.
const shortName = (text, most = 34) => (text.length > most ? `${text.slice(0, most - 1)}…` : text);

// Bars by group: [title, [[name, value, whether it takes at most so long], …]], of each group the first ones.
function barChart(title, unit, groups, mostBars = MOST_BARS) {
  const several = (group, list) => (list.length > mostBars ? `${group} (${mostBars} of ${list.length})` : group);
  const lines = groups.flatMap(([group, list]) => [{ group: several(group, list) }, ...list.slice(0, mostBars).map(([name, value, bound]) => ({ name, value, bound }))]);
  const most = Math.max(0, ...lines.map((l) => l.value ?? 0));
  if (!(most > 0)) return null;
  const [width, step, left, right] = [900, 22, 260, 110];
  const long = (value) => Math.max(1, (value / most) * (width - left - right));
  const line = ({ group, name, value, bound }, n) => {
    const y = n * step + 16;
    if (name === undefined) return svg("text", { class: "point-label", x: 0, y }, shortName(group, 90));
    return [
      svg("text", { x: left - 8, y, "text-anchor": "end" }, shortName(name)),
      svg("rect", { class: bound ? "point s0 hollow" : "point s0", x: left, y: y - 11, width: long(value), height: 14 }),
      svg("text", { x: left + long(value) + 6, y }, `${bound ? "≤ " : ""}${figure(value)} ${unit}`),
    ];
  };
  return el("figure", { class: "chart svg-chart" }, el("figcaption", null, title),
    svg("svg", { viewBox: `0 0 ${width} ${lines.length * step + 6}`, role: "img", "aria-label": `${title}: bars. The tables below have the numbers.` }, lines.map(line)));
}

// A line for each name: [name, [[x, y, whether y is at most so much], …]], logarithmic both ways. It ends where there is
// no y.
function lineChart(title, [xTitle, yTitle], all) {
  const drawable = all.filter(([, points]) => points.some(isPoint));
  const series = drawable.slice(0, SERIES_COLORS);
  if (series.length === 0) return null;
  if (drawable.length > series.length) title += ` (${series.length} of ${drawable.length})`;
  const [width, height] = [900, 380];
  const points = series.flatMap(([, list]) => list.filter(isPoint));
  const x = logScale(points.map((p) => p[0]), 70, width - 20);
  const y = logScale(points.map((p) => p[1]), height - 50, 24);
  const drawn = ([name, list], n) => [
    unbroken(list).map((part) => svg("polyline", { class: `series s${n}`, points: part.map((p) => `${x(p[0])},${y(p[1])}`).join(" ") })),
    list.filter(isPoint).map((p) => svg("circle", { class: `point s${n}${p[2] ? " hollow" : ""}`, cx: x(p[0]), cy: y(p[1]), r: 4 }, svg("title", null, `${name}: ${p[2] ? "≤ " : ""}${figure(p[1])} at ${figure(p[0])}`))),
  ];
  return el("figure", { class: "chart svg-chart" }, el("figcaption", null, title),
    svg("svg", { viewBox: `0 0 ${width} ${height}`, role: "img", "aria-label": `${title}: a line for each stack. The tables below have the numbers.` },
      xAxis(x, height - 50, 24, xTitle, width - 20), yAxis(y, 70, width - 20, yTitle), series.map(drawn)),
    el("p", { class: "legend" }, series.map(([name], n) => el("span", null, swatch(n), named(name)))));
}

const isPoint = ([x, y]) => x > 0 && y > 0;

function unbroken(points) {
  const parts = [[]];
  for (const p of points) {
    if (isPoint(p)) parts.at(-1).push(p);
    else parts.push([]);
  }
  return parts.filter((part) => part.length > 0);
}

const byValue = (a, b) => a[1] - b[1];
// Bars of a group, and groups, of which a picture has no more.
const MOST_BARS = 8;
const MOST_GROUPS = 4;

// The server's CPU by certificate, key exchange and stack: full handshakes that people ask about first.
const ASKED_FIRST = ["x25519 p256", "x25519 rsa-2048", "x25519mlkem768 p256", "p256 p256"];

function handshakePicture(run) {
  const groups = new Map();
  const suites = run.rows.map((r) => r.case.suite);
  const suite = suites.find((s) => s.includes("aes-128-gcm")) ?? suites[0];
  for (const { case: c, server, stack, temperature, contended } of run.rows) {
    if (!server || c.version !== "1.3" || c.kind !== "full" || c.client_auth || c.suite !== suite || temperature !== "hot") continue;
    const key = `${c.exchange} ${c.certificate}`;
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push([stack, server.median_ns / MICROSECOND, contended]);
  }
  const place = (key) => (ASKED_FIRST.includes(key) ? ASKED_FIRST.indexOf(key) : ASKED_FIRST.length);
  const shown = [...groups].sort((a, b) => place(a[0]) - place(b[0])).slice(0, MOST_GROUPS);
  const title = `Server's CPU for a full TLS 1.3 handshake, ${suite}: the least first`;
  return barChart(title, "µs", shown.map(([key, list]) => [`${key.replace(" ", ", certificate ")}`, list.sort(byValue)]));
}

// What a record costs by its size, in the suite that most stacks have.
function recordPicture(run) {
  const sections = new Map();
  for (const r of run.rows) {
    const key = `TLS ${r.protection.version} ${r.protection.suite}`;
    if (!sections.has(key)) sections.set(key, new Map());
    const stacks = sections.get(key);
    if (!stacks.has(r.stack)) stacks.set(r.stack, []);
    stacks.get(r.stack).push([r.size, r.send?.median_ns, r.contended]);
  }
  const drawn = ([, stacks]) => [...stacks.values()].filter((points) => points.some(isPoint)).length;
  const most = [...sections].sort((a, b) => drawn(b) - drawn(a))[0];
  if (!most) return null;
  const lines = [...most[1]].map(([stack, points]) => [stack, points.sort((a, b) => a[0] - b[0])]);
  return lineChart(`Sending one record, ${most[0]}`, ["bytes", "ns"], lines);
}

function primitivePicture(run) {
  const groups = new Map();
  for (const { primitive, whole, stack, contended } of run.rows) {
    if (!whole || primitive.size !== null) continue;
    const key = primitiveName(primitive).join(" ");
    if (!groups.has(key)) groups.set(key, []);
    groups.get(key).push([stack, whole.median_ns / MICROSECOND, contended]);
  }
  const most = [...groups].sort((a, b) => b[1].length - a[1].length).slice(0, MOST_GROUPS);
  return barChart("Whole operation: the least first", "µs", most.map(([key, list]) => [key, list.sort(byValue)]));
}

// What encrypting a page costs by scheme, in the library that is best at it.
function storePicture(r) {
  const best = new Map();
  const [, , medium, keying, direction] = STORE_COLUMNS[0];
  for (const c of r.cells) {
    if (c.medium !== medium || c.keying !== keying || c.direction !== direction || !c.crypto_ns) continue;
    const [ns, held] = [c.crypto_ns.median, best.get(c.scheme)];
    // What a busy core took says at most so long, and is shown where nothing else is.
    const isBetter = !held || (c.contended === held[2] ? ns < held[1] : held[2]);
    if (isBetter) best.set(c.scheme, [`${c.scheme}, ${libraryOf(r, c.library)}`, ns, c.contended]);
  }
  return barChart("Encrypting a page, each scheme in the library with the least time", "ns", [["the least first", [...best.values()].sort(byValue)]], 2 * MOST_BARS);
}
