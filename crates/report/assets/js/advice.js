// Advice: the choice, its limits, and why each other scheme lost.

async function adviceView() {
  const all = await sheets("advice");
  say(`${plural(all.length, "answer")}`);
  return all.map(({ label, record, advice: a }) => [
    el("h2", null, named(`${a.title} of ${a.size} bytes, tier ${a.tier}${MACHINES.includes(a.tier) ? ", an emulated feature set and not an old core's speed" : ""}`), all.length > 1 ? [": ", named(label)] : null),
    verdictOf(a),
    facts([
      ["From", named(`${record} of ${a.basis.started.slice(0, 10)}, ${a.basis.cpu}`)],
      ["Store", a.basis.store?.length ? a.basis.store.map((line) => el("div", null, named(line))) : null],
      ["Stale", a.basis.stale.length ? a.basis.stale.map((line) => el("div", { class: "state failed" }, named(line))) : null],
      ["Asked", terms(a, true)],
      ["Assumed", terms(a, false)],
      ...(a.outcome.choice ? choiceFacts(a.outcome.choice, a) : []),
    ]),
    a.outcome.choice ? remarks(a.outcome.choice) : null,
    changesOf(a),
    fittingTable(a),
    rejectedTable(a),
  ]);
}

function verdictOf(a) {
  const { choice, none } = a.outcome;
  if (choice) return el("p", { class: "verdict" }, el("b", null, named(choice.scheme)), " in ", named(priceLabel(choice.price)));
  const flags = none.flags.length ? `no scheme fulfils ${none.flags.join(" and ")} together; without any one of them there is an answer` : "the record has no scheme measured for this";
  return el("p", { class: "verdict state failed" }, `None: ${flags}.`);
}

const priceLabel = (price) => price.libraries.map((l) => `${l.name}@${l.version}`).join(" + ");

function terms(a, typed) {
  const shown = a.terms.filter((t) => t.typed === typed).map((t) => `--${t.flag} ${t.value}`);
  return shown.length ? el("code", null, shown.join(" ")) : null;
}

const HOW = { measured: "measured in one operation", composed: "the sum of its parts, measured apart", store: "measured on the pages of the store, nonce and sum included", rekeyed: "with a new key for each unit; what derives it is not in it" };

function intervalText({ median, low, high }) {
  if (!(high > low)) return `${Math.round(median)} ns (interval unknown)`;
  const relative = (high - low) / 2 / median;
  return `${supported(median, relative)} ns ±${percent(relative)} %`;
}

function choiceFacts(c, a) {
  const p = c.price;
  return [
    ["Write", `${intervalText(p.write_ns)}, ${figure(c.write_mb_per_s)} MB/s, ${figure(c.write_core_seconds_per_gib)} core-seconds a GiB`],
    ["Read", `${intervalText(p.read_ns)}, ${figure(c.read_mb_per_s)} MB/s, ${figure(c.read_core_seconds_per_gib)} core-seconds a GiB`],
    ["Figures", HOW[p.how] ?? p.how],
    ["In the store", p.in_store?.length ? p.in_store.map((s) => el("div", null, `${s.medium}: ${figure(s.scheme_ns)} ns beside ${figure(s.io_ns)} ns of ${s.direction === "decrypt" ? "reading" : "writing"}, ${percent(s.share)} % of both`)) : null],
    ["99th percentile", p.p99_us === null ? null : `${figure(p.p99_us)} µs`],
    ["Costs the same", c.ties_with.join(", ")],
    ["Stored", `${c.stored_bytes} bytes with each ${a.unit}`],
    ["Nonce", c.nonce_bits > 0 ? `${c.nonce_bits} bits, ${c.nonce}` : null],
    ["Limit", named(`${c.key.limit} [${c.key.source}]`)],
    ["Writers", c.key.writers > 1 ? `${c.key.writers} count` : null],
    ["Forgeries", c.key.forgeries ? named(`${c.key.forgeries}: raise an alarm at the first`) : null],
    ["Or later", c.key.longer?.length ? c.key.longer.map((l) => el("div", null, el("code", null, l.flags.join(" ")), ` → ${l.rotate_by}`)) : null],
    ["Key", c.key.rotate_by ? `to be changed by ${c.key.rotate_by}` : "not worn out at this rate"],
    ["Holds for", p.libraries.map((l) => el("div", null, named(`${l.name}@${l.version} `), el("code", null, named(l.id))))],
    ["Until", a.basis.stale_from],
  ];
}

function remarks(choice) {
  if (choice.remarks.length === 0) return null;
  return [el("h2", null, "To respect"), el("ul", { class: "plain" }, choice.remarks.map((r) => el("li", null, named(r.says), " ", el("span", { class: "quiet" }, named(r.source)))))];
}

function changesOf(a) {
  const of = (c) => el("li", null, el("code", null, c.flags.join(" ")), " → ", named(`${c.scheme} in ${c.library}`), c.times === null ? null : `, ${figure(c.times)} times the cost`);
  return [el("h2", null, "What would change the answer"), a.changes.length ? el("ul", { class: "plain" }, a.changes.map(of)) : el("p", { class: "note" }, "No change of one wish or two.")];
}

function fittingTable(a) {
  if (a.fitting.length === 0) return null;
  const most = Math.max(...a.fitting.map((f) => f.ns.median));
  return [el("h2", null, "What fits"), table({
    caption: "Cheapest library of each, by the share of reads", rows: a.fitting, className: "numbers",
    columns: [
      { title: "Scheme", cell: (f) => named(f.scheme), sort: (f) => f.scheme },
      { title: el("span", { class: "hidden" }, "drawn"), cell: (f) => bar(f.ns.median / most) },
      { title: "ns", number: true, start: 1, cell: (f) => supported(f.ns.median, (f.ns.high - f.ns.low) / 2 / f.ns.median), sort: (f) => f.ns.median },
      { title: "times", number: true, start: 1, cell: (f) => `${f.times.toFixed(2)}${f.tied ? " =" : ""}`, sort: (f) => f.times },
      { title: "bytes", hint: "stored with each unit", number: true, start: 1, cell: (f) => String(f.stored_bytes), sort: (f) => f.stored_bytes },
      { title: "Library", cell: (f) => named(f.library), sort: (f) => f.library },
    ],
  })];
}

function rejectedTable(a) {
  const rule = (r) => a.rules[r.rule] ?? { says: "", source: "" };
  return [el("h2", null, "What does not, and the rule that decided"), table({
    caption: "Rejected", rows: a.rejected,
    columns: [
      { title: "Scheme", cell: (r) => named(r.scheme), sort: (r) => r.scheme },
      { title: "Rule", cell: (r) => el("td", { class: r.verdict === "wrong" ? "state failed" : null }, r.verdict === "wrong" ? "wrong: " : null, named(r.rule)), sort: (r) => r.rule },
      { title: "Here", cell: (r) => named(r.detail) },
      { title: "Why", cell: (r) => named(rule(r).says) },
      { title: "Source", cell: (r) => named(rule(r).source) },
    ],
  })];
}
