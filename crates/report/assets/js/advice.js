// Advice: the choice, its limits, and why each other scheme lost.

async function adviceView() {
  const all = await sheets("advice");
  say(`${plural(all.length, "answer")}`);
  return all.map(({ label, record, advice: a, told }) => [
    el("h2", null, named(told.title), all.length > 1 ? [": ", named(label)] : null),
    verdictOf(a, told),
    facts([
      ["From", named(`${record} of ${a.basis.started.slice(0, 10)}, ${a.basis.cpu}`)],
      ["Store", a.basis.store?.length ? a.basis.store.map((line) => el("div", null, named(line))) : null],
      ["Stale", alarms(a.basis.stale)],
      ["Asked", terms(a, true)],
      ["Assumed", terms(a, false)],
      ["Candidates", named(told.candidates)],
      ["Open", alarms(told.open)],
      ...topics(told.choice),
      ...(a.outcome.choice ? holdsFor(a) : []),
    ]),
    a.outcome.choice ? remarks(a.outcome.choice) : null,
    changesOf(told),
    fittingTable(a, told),
    rejectedTable(a),
  ]);
}

const alarms = (lines) => (lines.length ? lines.map((line) => el("div", { class: "state failed" }, named(line))) : null);

// A line without a topic goes on with the one above.
function topics(lines) {
  const all = [];
  for (const [topic, text] of lines) {
    if (topic) all.push([topic, []]);
    all.at(-1)[1].push(el("div", null, named(text)));
  }
  return all;
}

function verdictOf(a, told) {
  const { choice } = a.outcome;
  if (!choice) return el("p", { class: "verdict state failed" }, named(told.none));
  return el("p", { class: "verdict" }, el("b", null, named(choice.scheme)), " in ", named(priceLabel(choice.price)));
}

const priceLabel = (price) => price.libraries.map((l) => `${l.name}@${l.version}`).join(" + ");

function terms(a, typed) {
  const shown = a.terms.filter((t) => t.typed === typed).map((t) => `--${t.flag} ${t.value}`);
  return shown.length ? el("code", null, shown.join(" ")) : null;
}

const holdsFor = (a) => [
  ["Holds for", a.outcome.choice.price.libraries.map((l) => el("div", null, named(`${l.name}@${l.version} `), el("code", null, named(l.id))))],
  ["Until", a.basis.stale_from],
];

function remarks(choice) {
  if (choice.remarks.length === 0) return null;
  return [el("h2", null, "To respect"), el("ul", { class: "plain" }, choice.remarks.map((r) => el("li", null, named(r.says), " ", el("span", { class: "quiet" }, named(r.source)))))];
}

function changesOf(told) {
  return [el("h2", null, "What would change the answer"), told.changes.length ? el("ul", { class: "plain" }, told.changes.map((line) => el("li", null, named(line)))) : el("p", { class: "note" }, "No change of one wish or two.")];
}

function fittingTable(a, told) {
  if (a.fitting.length === 0) return null;
  const most = Math.max(...a.fitting.map((f) => f.ns.median));
  const rows = a.fitting.map((f, n) => ({ ...f, cost: told.fitting[n][0], sign: told.fitting[n][1] }));
  return [el("h2", null, "What fits"), table({
    caption: "Cheapest library of each, by the share of reads; = shown to cost the same within 5 %, ? may cost less", rows, className: "numbers",
    columns: [
      { title: "Scheme", cell: (f) => named(f.scheme), sort: (f) => f.scheme },
      { title: el("span", { class: "hidden" }, "drawn"), cell: (f) => bar(f.ns.median / most) },
      { title: "cost", number: true, start: 1, cell: (f) => f.cost, sort: (f) => f.ns.median },
      { title: "times", number: true, start: 1, cell: (f) => `${f.times.toFixed(2)}${f.sign}`, sort: (f) => f.times },
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
