// TLS: what handshakes, records and what lies under a handshake took, stack beside stack.

async function tlsView() {
  const all = await sheets("tls");
  say(`${plural(all.length, "run")} of TLS`);
  return all.map(({ label, what, run, answer }) => [
    el("h2", null, TLS_TITLES[what], all.length > 1 ? [": ", named(label)] : null),
    answerOf(answer),
    TLS_PICTURES[what](run),
    TLS_TABLES[what](run),
    run.own_signatures.length ? el("ul", { class: "plain" }, run.own_signatures.map((line) => el("li", null, named(line)))) : null,
    tlsWithout(run, TLS_ROWS[what](run)),
    tlsFacts(run),
  ]);
}

const TLS_TITLES = { handshakes: "TLS handshakes", records: "TLS records", primitives: "Under a handshake" };
const TLS_TABLES = { handshakes: handshakeTables, records: recordTables, primitives: primitiveTable };
const TLS_PICTURES = { handshakes: handshakePicture, records: recordPicture, primitives: primitivePicture };
// What each row is called among those without a number.
const TLS_ROWS = {
  handshakes: (run) => run.rows.map((r) => ({ ...r, name: `${caseName(r.case)}, ${r.temperature}` })),
  records: (run) => run.rows.map((r) => ({ ...r, name: `TLS ${r.protection.version} ${r.protection.suite}, ${r.size} B` })),
  primitives: (run) => run.rows.map((r) => ({ ...r, name: primitiveName(r.primitive).join(" ") })),
};

const caseName = (c) => `${c.version} ${c.exchange} ${c.certificate} ${c.kind}${c.client_auth ? " client-auth" : ""} ${c.suite}`;
const primitiveName = (p) => [p.scheme, p.size === null ? p.operation : `${p.size} B`];

function tlsFacts(run) {
  const n = run.noise;
  return facts([
    ["Inside the clock", named(run.span)],
    ["Stacks", run.stacks.map((s) => el("div", null, named(`${s.label} `), el("code", null, named(s.id)), " ", el("span", { class: "quiet" }, named(s.path))))],
    ["Asked for", `±${percent(run.plan.precision)} % within ${figure(run.plan.budget_seconds)} s, seed ${run.plan.seed}, CPU ${run.plan.cpu}`],
    ["Samples", `${n.clean} of ${n.samples} clean, in ${figure(run.seconds)} s${n.stolen_seconds ? `; ${figure(n.stolen_seconds)} s stolen` : ""}`],
    ["Machine", named(run.host.cpu.name)],
    ["Begun", named(run.started)],
    ["Command", el("code", null, named(run.tool.command.join(" ")))],
  ]);
}

// Rows that differ in nothing but the stack, as one: `key` tells them apart.
function byStack(rows, key) {
  const lines = new Map();
  for (const row of rows) {
    if (!lines.has(key(row))) lines.set(key(row), { row, order: lines.size, of: new Map() });
    lines.get(key(row)).of.set(row.stack, row);
  }
  return [...lines.values()];
}

// A stack's columns: `parts` are [title, hint, cost of a row, unit's nanoseconds].
function stackColumns(stacks, parts) {
  return stacks.flatMap(({ label }) => parts.map(([title, hint, cost, unit]) => ({
    title: [named(label), el("br"), title], hint, number: true, start: 1,
    cell: (line) => costCell(line.of.get(label), cost, unit),
    sort: (line) => { const row = line.of.get(label); return row ? cost(row)?.median_ns : undefined; },
  })));
}

function costCell(row, cost, unit) {
  if (!row) return "";
  const c = cost(row);
  // Only the bare cipher is missing.
  if (!c && row.state === "measured") return "";
  if (!c) return el("td", { class: `num state ${row.state}`, title: row.reason }, TLS_STATES[row.state] ?? row.state);
  const ofTime = (c.high_ns - c.low_ns) / 2 / c.median_ns;
  const relative = c.cycles ? (c.cycles.high - c.cycles.low) / 2 / c.cycles.median : ofTime;
  const shown = (ns) => supported(ns / unit, ofTime);
  const mean = c.mean_ns === undefined ? "" : `; mean ${figure(c.mean_ns / unit)}, largest ${figure(c.max_ns / unit)}`;
  const note = row.reason && row.state === "measured" ? `; ${row.reason}` : "";
  // Only a busy core was seen: at most so long. The bare cipher, which has no mean, was seen by itself.
  const bound = (c.mean_ns === undefined ? c.contended : row.contended) ? "<" : null;
  return el("td", { class: "num", title: `${shown(c.low_ns)} to ${shown(c.high_ns)}, ±${percent(relative)} %${c.cycles ? " of cycles" : ""}${mean}${note}` }, bound, shown(c.median_ns), note ? "*" : null);
}

// A stack may have what there is no function to ask it for.
const TLS_STATES = { ...STATE_WORDS, unsupported: "cannot be asked" };

const MICROSECOND = 1000;

function handshakeTables(run) {
  const section = (r) => `TLS ${r.case.version} ${r.case.kind}${r.case.client_auth ? ", client proves itself too" : ""}, ${r.case.suite}, ${r.temperature}`;
  const titles = [...new Set(run.rows.map(section))];
  const parts = [
    ["server", "µs of the server's CPU, median", (r) => r.server, MICROSECOND],
    ["client", "µs of the client's CPU, median", (r) => r.client, MICROSECOND],
  ];
  return titles.map((title) => table({
    caption: `${title}: µs a handshake`, className: "numbers",
    rows: byStack(run.rows.filter((r) => section(r) === title), (r) => caseName(r.case)),
    columns: [
      { title: "Key exchange", cell: (line) => named(line.row.case.exchange), sort: (line) => line.order },
      { title: "Certificate", cell: (line) => named(line.row.case.certificate), sort: (line) => line.row.case.certificate },
      ...stackColumns(run.stacks, parts),
    ],
  }));
}

function recordTables(run) {
  const section = (r) => `TLS ${r.protection.version} ${r.protection.suite}`;
  const titles = [...new Set(run.rows.map(section))];
  const parts = [
    ["send", "ns to send one record", (r) => r.send, 1],
    ["cipher", "ns of the bare cipher in the library under the stack", (r) => r.bare.encrypt, 1],
    ["receive", "ns to receive one record", (r) => r.receive, 1],
    ["cipher", "ns of the bare cipher in the library under the stack", (r) => r.bare.decrypt, 1],
  ].filter(([title, , cost]) => title !== "cipher" || run.rows.some(cost));
  return titles.map((title) => [
    table({
      caption: `${title}: ns a record`, className: "numbers",
      rows: byStack(run.rows.filter((r) => section(r) === title), (r) => String(r.size)),
      columns: [
        { title: "Bytes", number: true, cell: (line) => String(line.row.size), sort: (line) => line.row.size },
        ...stackColumns(run.stacks, parts),
      ],
    }),
    el("ul", { class: "plain" }, run.lines.filter((l) => section(l) === title && l.send).map((l) => el("li", null, named(l.stack), `: sending takes ${lineWords(l.send)}${l.bare_encrypt ? `, the cipher ${lineWords(l.bare_encrypt)} of it` : ""}`))),
  ]);
}

const bends = (l) => (l.residual > 0.1 ? ` (bends: off by up to ${percent(l.residual)} %)` : "");
const lineWords = (l) => `${figure(l.fixed_ns)} ns + ${figure(l.ns_per_byte)} ns a byte${bends(l)}`;

function primitiveTable(run) {
  const parts = [
    ["whole", "µs as a handshake has it, median", (r) => r.whole, MICROSECOND],
    ["call", "µs of the library's call alone, median", (r) => r.call, MICROSECOND],
  ];
  return table({
    caption: "µs an operation", className: "numbers",
    rows: byStack(run.rows, (r) => primitiveName(r.primitive).join(" ")),
    columns: [
      { title: "Primitive", cell: (line) => named(line.row.primitive.scheme), sort: (line) => line.order },
      { title: "Operation", cell: (line) => named(primitiveName(line.row.primitive)[1]), sort: (line) => line.row.primitive.operation },
      ...stackColumns(run.stacks, parts),
      { title: "Held to", hint: "what was looked at of every batch's results", cell: (line) => checksOf(line) },
    ],
  });
}

function checksOf(line) {
  const checks = [...line.of.values()].find((r) => r.checks.length > 0)?.checks ?? [];
  return checks.length ? el("ul", { class: "plain" }, checks.map((c) => el("li", null, named(c)))) : "";
}

// Rows without a number: what was refused or failed one by one, what cannot be asked by its reason.
function tlsWithout(run, rows) {
  const without = rows.filter((r) => r.state !== "measured");
  if (without.length === 0) return null;
  const groups = new Map();
  for (const r of without) {
    const key = [r.stack, r.state, r.reason ?? ""].join("\n");
    if (!groups.has(key)) groups.set(key, { ...r, names: [] });
    groups.get(key).names.push(r.name);
  }
  return table({
    caption: "Without a number", rows: [...groups.values()],
    columns: [
      { title: "Stack", cell: (g) => named(g.stack), sort: (g) => g.stack },
      { title: "State", cell: (g) => el("td", { class: `state ${g.state}` }, TLS_STATES[g.state] ?? g.state), sort: (g) => g.state },
      { title: "Rows", cell: (g) => el("span", { title: g.names.join("\n") }, g.names.length === 1 ? named(g.names[0]) : plural(g.names.length, "row")) },
      { title: "Why", cell: (g) => named(g.reason ?? "") },
    ],
  });
}
