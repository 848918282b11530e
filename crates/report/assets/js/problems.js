// Every case without a number, and why.

function problemsView() {
  const list = select(data.series, { free: Object.keys(SINGLE) });
  const bad = grouped(list, (state) => state === "refused" || state === "failed");
  const late = grouped(list, (state) => state === "left-out");
  const absent = grouped(list, (state) => state === "unsupported");
  const remarks = contended(list);
  const broken = head.records.flatMap((r) => r.facts.libraries.filter((l) => l.error).map((l) => ({ record: r.label, l })));
  const count = (groups) => groups.reduce((n, g) => n + g.cases.length, 0);
  say(`${count(bad)} cases refused or failed, ${count(late)} not measured`);
  return [
    el("h2", null, `Refused and failed: ${plural(count(bad), "case")}`),
    bad.length ? table({ caption: "Cases that failed a check, crashed or hung", columns: problemColumns(true), rows: bad }) : empty("No case was refused, none failed.", "Every case that was measured here passed every check."),
    broken.length ? [el("h2", null, "Libraries that could not be loaded"), el("ul", { class: "plain" }, broken.map(({ record, l }) => el("li", null, data.severalRecords ? [named(record), ": "] : null, el("b", null, named(l.name)), " ", el("code", null, named(l.path)), `: ${l.error}`)))] : null,
    remarks.length ? [el("h2", null, `Measured with a remark: ${plural(count(remarks), "case")}`), table({ caption: "The interval is wider than asked, or contended samples count", columns: problemColumns(false), rows: remarks })] : null,
    late.length ? [el("h2", null, `Not measured: ${plural(count(late), "case")}`), table({ caption: "There was no time for these, or a look showed that others are faster", columns: problemColumns(false), rows: late })] : null,
    el("h2", null, `Not offered: ${plural(count(absent), "case")}`),
    absent.length ? table({ caption: "What a library does not have, or an algorithm does not define", columns: problemColumns(false), rows: absent }) : null,
  ];
}

function problemColumns(withState) {
  return [
    data.severalRecords ? { title: "Record", cell: (g) => named(g.s.record), sort: (g) => g.s.record } : null,
    { title: "Library", cell: (g) => named(g.s.library), sort: (g) => g.s.library },
    withState ? { title: "State", cell: (g) => el("span", { class: `state ${g.state}` }, g.state), sort: (g) => g.state } : null,
    { title: "Algorithms", cell: (g) => named([...g.algorithms].join(", ")), sort: (g) => [...g.algorithms][0] },
    { title: "Of", cell: (g) => [...g.details].join(", ") },
    { title: "Cases", number: true, start: -1, cell: (g) => String(g.cases.length), sort: (g) => g.cases.length },
    { title: "Why", cell: (g) => g.reason || "no reason given", sort: (g) => g.reason },
  ].filter(Boolean);
}

// Cases of one library with one reason, together: the same words but for the algorithm's name and for
// numbers, of which the range is told.
function grouped(list, wanted) {
  const groups = new Map();
  for (const s of list) {
    for (const i of s.cases) {
      const state = data.columns.state[i];
      if (!wanted(state, i)) continue;
      const words = reasonOf(i).replaceAll(s.algorithm, "…");
      const key = [s.record, s.library, state, state === "measured" ? words.replaceAll(NUMBER, "#") : words].join("\n");
      const g = groups.get(key) ?? { s, state, reasons: [], cases: [], algorithms: new Set(), details: new Set() };
      groups.set(key, g);
      g.reasons.push(words);
      g.cases.push(i);
      g.algorithms.add(s.algorithm);
      for (const word of [s.direction, s.model, s.tier]) g.details.add(word);
    }
  }
  const all = [...groups.values()];
  all.forEach((g) => { g.reason = merged(g.reasons, g); });
  return all;
}

const NUMBER = /\d+(?:\.\d+)?/g;

function merged(reasons, g) {
  if (g.algorithms.size === 1) reasons = reasons.map((r) => r.replaceAll("…", [...g.algorithms][0]));
  if (new Set(reasons).size === 1) return reasons[0];
  const numbers = reasons.map((r) => r.match(NUMBER) ?? []);
  let place = 0;
  return reasons[0].replaceAll(NUMBER, () => {
    const values = numbers.map((n) => Number(n[place]));
    place += 1;
    const [low, high] = [Math.min(...values), Math.max(...values)];
    return low === high ? String(low) : `${low} to ${high}`;
  });
}

const contended = (list) => grouped(list, (state, i) => state === "measured" && data.columns.reason[i] !== null);
