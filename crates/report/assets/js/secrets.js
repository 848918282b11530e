// What depends on secrets: libraries by algorithms, a verdict each.

// The sign in a cell, and the verdict in words; the gravest first.
const VERDICTS = {
  depends: ["‡", "depends on the secret"],
  "may-depend": ["‡?", "may depend on the secret, by taint only"],
  "not-judged": ["–", "not all could be judged"],
  "same-trace": ["=", "same trace for every secret that was compared"],
};

async function secretsView() {
  const all = await leaks();
  if (all.length === 0) {
    return [el("h2", null, "Secrets"), empty("These records hold no verdicts on what depends on secrets.", [
      "Records of format 1.5 have them, unless the run was told ", el("code", null, "--no-evidence"), "; ", el("code", null, "ciphermark leaks"), " judges a library now."])];
  }
  const list = select(all.map((e) => ({ ...e, ...leakWords(e) })));
  if (list.length === 0) return [nothingChosen()];
  const { algorithms, libraries, at } = verdictsBy(list);
  const told = el("div", { class: "secret-places", id: "secret-places" }, el("p", null, "Choose a sign to see the places."));
  const rows = algorithms.map((algorithm) => el("tr", null,
    el("th", { scope: "row" }, named(algorithm)),
    libraries.map((l) => verdictCell(at.get(`${algorithm}\n${l.key}`), told))));
  const heads = libraries.map((l) => el("th", { scope: "col", class: "steep", title: `${l.library} · ${l.record}` }, named(data.severalRecords ? `${l.library} · ${l.record}` : l.library)));
  say(`Verdicts on ${plural(list.length, "algorithm")}`);
  return [
    el("h2", null, `What depends on the secret: ${verdictCounts(list)}, tier ${single("tier")}`),
    el("p", { class: "legend" }, Object.entries(VERDICTS).map(([verdict, [sign, words]]) => el("span", null, el("span", { class: `verdict v-${verdict}`, "aria-hidden": "true" }, sign), ` ${words}`)), el("span", null, "· no verdict. What was not seen may still leak.")),
    el("div", { class: "scroll heat-box", tabindex: "0", role: "region", "aria-label": "Verdicts" },
      el("table", { class: "heat secrets" },
        el("caption", { class: "hidden" }, "What depends on the secret, libraries by algorithms"),
        el("thead", null, el("tr", null, el("td"), heads)),
        el("tbody", null, rows))),
    told,
  ];
}

function leakWords(e) {
  const library = data.libraries[e.library];
  return { record: head.records[library.record].label, library: library.label, algorithm: data.algorithms[e.algorithm], tier: data.tiers[e.tier] };
}

function verdictsBy(list) {
  const libraries = new Map();
  const at = new Map();
  for (const e of list) {
    const key = `${e.record}\n${e.library}`;
    libraries.set(key, { key, record: e.record, library: e.library });
    // Of several tiers the gravest.
    const known = at.get(`${e.algorithm}\n${key}`);
    if (!known || gravity(e) < gravity(known)) at.set(`${e.algorithm}\n${key}`, e);
  }
  const records = head.records.map((r) => r.label);
  return {
    at,
    algorithms: [...new Set(list.map((e) => e.algorithm))].sort((a, b) => byName(family(a), family(b)) || byName(a, b)),
    libraries: [...libraries.values()].sort((a, b) => records.indexOf(a.record) - records.indexOf(b.record) || byName(a.library, b.library)),
  };
}

const gravity = (e) => Object.keys(VERDICTS).indexOf(e.verdict);

function verdictCounts(list) {
  const short = { depends: "depend", "may-depend": "may depend", "not-judged": "not judged", "same-trace": "same trace" };
  return Object.keys(VERDICTS).map((v) => [list.filter((e) => e.verdict === v).length, short[v]]).filter(([n]) => n > 0).map(([n, words]) => `${n} ${words}`).join(", ");
}

// A verdict is a button: its words at the mouse, for whoever listens, and with its places below the table.
function verdictCell(e, told) {
  if (e === undefined) return el("td", { class: "none" }, "·");
  const [sign, words] = VERDICTS[e.verdict] ?? ["?", e.verdict];
  const name = `${e.library} ${e.algorithm}: ${e.verdict === "same-trace" ? e.words : `${words}: ${e.words}`}`;
  const show = () => {
    told.replaceChildren(
      el("h3", null, named(`${e.library} ${e.algorithm}`), `: ${words}`),
      e.places.length ? el("ul", null, e.places.map(([what, where]) => el("li", null, named(what), ": ", el("code", null, named(where))))) : el("p", null, named(e.words)));
    say(name);
  };
  return el("td", { class: `v-${e.verdict}` }, el("button", { type: "button", class: "verdict", title: name, "aria-label": name, onclick: show }, sign));
}
