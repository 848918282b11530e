// What was noticed of stored pages that were changed, and what an unnoticed change made of them.

const PROBES = [
  ["flip-ciphertext", "bit of ciphertext"], ["flip-nonce", "bit of nonce"], ["flip-tag", "bit of tag"], ["flip-sum", "bit of sum"],
  ["swap", "pages swapped"], ["other-file", "page of another file"], ["torn", "torn"], ["truncated", "half lost"], ["zeroed", "zeros"],
  ["replay", "old page"], ["rewrite", "rewritten"],
];

const EFFECTS = {
  none: "nothing", "one-bit": "one bit", "one-block": "16 bytes", "block-and-bit": "16 bytes and a bit", "other-page": "the other page",
  "old-page": "the old page", mixed: "a mix of both", "half-zero": "zeros in half", zeros: "zeros", "as-meant": "as meant", garbage: "garbage",
};

function tampering(r) {
  if (r.probes.length === 0) return null;
  const rows = r.schemes.map((facts, order) => ({
    order, scheme: facts.recipe.scheme, probed: r.probes.filter((p) => p.scheme === facts.recipe.scheme),
  })).filter((row) => row.probed.length > 0);
  const word = (p, of) => (p.rows.every((row) => row.tried === 0) ? "untried" : of(p) ? "yes" : "no");
  const verdict = (title, of) => ({ title, cell: (row) => agreed(row.probed.map((p) => word(p, of))) });
  const odd = r.probes.filter((p) => !p.as_expected);
  return [
    el("h2", null, "Tampering"),
    el("p", { class: "note" }, "“noticed”: every such page was refused. Anything else was taken for good, and says what the page then read as."),
    odd.length > 0 ? el("p", { class: "state failed" }, `Not as expected: ${odd.map((p) => `${p.scheme} in ${libraryOf(r, p.library)}`).join(", ")}`) : null,
    table({
      caption: "Pages that were changed", rows,
      columns: [
        { title: "Scheme", cell: (row) => named(row.scheme), sort: (row) => row.order },
        verdict("accidents", (p) => p.against_accidents),
        verdict("adversaries", (p) => p.against_adversaries),
        ...PROBES.map(([probe, title]) => ({ title, cell: (row) => probeCell(r, row, probe) })),
      ],
    }),
  ];
}

// What all libraries say; where they differ, that they do.
function agreed(words) {
  const different = [...new Set(words)];
  return different.length === 1 ? different[0] : el("b", { class: "state failed" }, "differs");
}

function probeCell(r, row, probe) {
  const found = row.probed.map((p) => ({ p, row: p.rows.find((x) => x.probe === probe) })).filter((x) => x.row);
  const told = found.map((x) => outcome(x.row));
  const wrong = found.some((x) => x.row.as_expected === false);
  const title = found.map((x) => `${libraryOf(r, x.p.library)}: ${x.row.noticed} of ${x.row.tried} noticed${x.row.as_expected === false ? ", not as expected" : ""}`).join("\n");
  return el("td", { class: wrong ? "state failed" : null, title }, agreed(told));
}

function outcome(row) {
  if (row.tried === 0) return "–";
  if (row.noticed === row.tried) return "noticed";
  const effects = row.effects.map(([effect]) => EFFECTS[effect] ?? effect).join(", ");
  return row.noticed === 0 ? effects : `${row.noticed} of ${row.tried}; ${effects}`;
}
