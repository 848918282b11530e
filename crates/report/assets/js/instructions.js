// Which kinds of instructions an operation executes.

// Kinds with a colour each; the rest are one grey.
const CLASS_GROUPS = [
  ["aes-round", "AES rounds", ["aes-round", "aes-mix", "aes-key"]],
  ["carry-less", "carry-less", ["carry-less", "gfni"]],
  ["hash-round", "hash rounds", ["hash-round"]],
  ["vector", "vector", ["vector-logic", "vector-arithmetic"]],
  ["shuffle", "shuffles", ["shuffle", "vector-move"]],
  ["memory", "load/store", ["load", "store", "string"]],
  ["scalar", "scalar", ["scalar"]],
  ["branch", "branches", ["branch"]],
];

async function instructionsView() {
  const all = await executed();
  if (all.length === 0) {
    return [el("h2", null, "Instructions"), empty("These records hold no instruction counts.", [
      "Records of format 1.2 have them, unless the run was told ", el("code", null, "--no-evidence"), "."])];
  }
  const list = select(all.map((e) => ({ ...e, ...entryWords(e) })), { algorithms: viewAlgorithms(), free: ["threads", "footprint", "place"] });
  if (list.length === 0) return [nothingChosen()];
  const share = get("share") === "message" ? "per_message" : "per_byte";
  const unlike = differing(list);
  const rows = list.filter((e) => e[share] !== null).map((e) => ({ e, name: label(e, unlike), total: e[share], parts: parts(e, share) }));
  rows.sort((a, b) => a.total - b.total);
  // A library without AES instructions needs a hundred times as many: its bar is cut, so that the others are seen.
  const most = Math.min(Math.max(...rows.map((r) => r.total)), CUT * rows[0]?.total);
  const not = list.filter((e) => e[share] === null);
  say(`Instructions of ${plural(rows.length, "row")}`);
  return [
    el("h2", null, `Instructions ${share === "per_byte" ? "of each byte" : "of a message, whatever its size"}: `, common(list, unlike)),
    el("p", { class: "legend" }, CLASS_GROUPS.map(([id, name]) => el("span", null, el("span", { class: `chip c-${id}`, "aria-hidden": "true" }), name)), el("span", null, el("span", { class: "chip c-other", "aria-hidden": "true" }), "other")),
    rows.length ? table({ caption: "Instructions by kind, counted by single-stepping; bars that fade out are cut", columns: instructionColumns(rows, most), rows, className: "numbers instructions" }) : empty("None of these was counted."),
    not.length ? el("details", { class: "more-facts" }, el("summary", null, `${plural(not.length, "row")} not counted`), el("ul", null, not.map((e) => el("li", null, named(label(e, unlike)), `: ${e.reason ?? "no reason given"}`)))) : null,
  ];
}

function parts(e, share) {
  const groups = CLASS_GROUPS.map(([id, name, classes]) => ({ id, name, n: total(e.classes, share, (c) => classes.includes(c.class)) }));
  const known = CLASS_GROUPS.flatMap(([, , classes]) => classes);
  groups.push({ id: "other", name: "other", n: total(e.classes, share, (c) => !known.includes(c.class)) });
  return groups;
}

function total(classes, share, wanted) {
  return (classes ?? []).filter(wanted).reduce((sum, c) => sum + Math.max(0, c[share]), 0);
}

function instructionColumns(rows, most) {
  const present = CLASS_GROUPS.filter(([id]) => rows.some((r) => r.parts.find((p) => p.id === id).n >= 0.0005));
  const part = (r, id) => r.parts.find((p) => p.id === id).n;
  return [
    { title: "Library", cell: (r) => named(r.name), sort: (r) => r.name },
    { title: "all", number: true, start: 1, cell: (r) => amount(r.total), sort: (r) => r.total },
    { title: "by kind", cell: (r) => el("td", { class: "stack-cell" }, stack(r, most)) },
    ...present.map(([id, name]) => ({ title: name, number: true, start: -1, cell: (r) => amount(part(r, id)), sort: (r) => part(r, id) })),
    { title: "widest", hint: "bits of the widest vectors", number: true, start: -1, cell: (r) => widest(r.e) || "", sort: (r) => widest(r.e) },
    { title: "more", cell: (r) => details(r.e) },
  ];
}

const CUT = 12;

const amount = (n) => (n < 0.0005 ? (n > 0 ? "<0.001" : "0") : n < 10 ? n.toFixed(3) : figure(n));

const widest = (e) => Math.max(0, ...(e.classes ?? []).map((c) => c.width ?? 0));

function stack(r, most) {
  return el("span", { class: r.total > most * 1.001 ? "stack cut" : "stack", "aria-hidden": "true", vars: { "--part": Math.min(1, r.total / most) } },
    r.parts.filter((p) => p.n > 0).map((p) => el("span", { class: `c-${p.id}`, title: `${p.name}: ${amount(p.n)}`, vars: { "--grow": p.n } })));
}

function details(e) {
  const functions = [...(e.functions ?? [])].sort((a, b) => b.per_byte - a.per_byte).slice(0, 8);
  const classes = [...(e.classes ?? [])].sort((a, b) => b.per_byte - a.per_byte);
  return el("details", { class: "more-facts" }, el("summary", null, "functions"),
    e.instruction_sets?.length ? el("p", null, el("b", null, "Needs "), e.instruction_sets.join(", ")) : null,
    functions.length ? el("ul", null, functions.map((f) => el("li", null, `${amount(f.per_byte)} a byte + ${figure(f.per_message)} in `, el("code", null, named(f.function ?? "code without a symbol")), " of ", named(f.object)))) : null,
    el("p", null, el("b", null, "Kinds "), classes.map((c) => `${amount(c.per_byte)} ${c.class}${c.width ? ` ${c.width}` : ""}`).join(", ")),
    e.excepted ? el("p", null, el("b", null, "Beside the tier "), e.excepted) : null,
    e.reason ? el("p", null, e.reason) : null);
}
