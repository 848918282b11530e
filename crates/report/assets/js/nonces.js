// Whether nonces made of places and versions came twice with different pages.

function storeNonces(r) {
  const n = r.nonces;
  if (n.rules.length === 0 && n.schemes.length === 0) return null;
  return [
    el("h2", null, "Nonces"),
    el("p", { class: "note" }, `Over ${n.pages} pages in ${plural(n.states, "state")} of the store.`),
    table({
      caption: "What nonces could be made of", rows: n.rules, className: "numbers",
      columns: [
        { title: "Made of", cell: (x) => named(x.rule), sort: (x) => x.rule },
        { title: "Parts", cell: (x) => named(x.fields.filter((f) => f !== "zero").join(" ") + (x.key_per_file ? ", a key or mask per file" : "")) },
        { title: "different ones", number: true, cell: (x) => String(x.distinct), sort: (x) => x.distinct },
        { title: "twice, same page", number: true, cell: (x) => String(x.repeated_same), sort: (x) => x.repeated_same },
        { title: "twice, different pages", number: true, cell: (x) => el("td", { class: x.repeated_different > 0 ? "num state failed" : "num" }, String(x.repeated_different)), sort: (x) => x.repeated_different },
        { title: "Named", cell: (x) => (x.repeated_different === 0 || x.named.length === 0 ? "" : el("details", { class: "more-facts" }, el("summary", null, plural(x.named.length, "pair")), el("ul", null, x.named.map((p) => el("li", null, named(`${p.page} and ${p.other}`)))))) },
      ],
    }),
    table({
      caption: "What that means for each scheme", rows: n.schemes,
      columns: [
        { title: "Scheme", cell: (x) => named(x.scheme) },
        { title: "Its nonces", cell: (x) => named(x.rule) },
        { title: "Verdict", cell: (x) => el("td", { class: x.verdict === "broken" ? "state failed" : null }, x.verdict) },
        { title: "Chance of a repeat", number: true, cell: (x) => (x.collision === null ? "" : x.collision.toExponential(1)) },
        { title: "Made of block and LSN", cell: (x) => x.from_lsn },
      ],
    }),
  ];
}
