// Page stores: what each scheme took on the pages of a real store, and what proves it.

// Which cell each column of times shows, as in the table that the program prints.
const STORE_COLUMNS = [
  ["encrypt", "memory, page after page, out of the near caches", "sequential", "reused", "encrypt"],
  ["decrypt", "the same", "sequential", "reused", "decrypt"],
  ["new key", "encrypt under a key of the page's own, set before it", "sequential", "per-page", "encrypt"],
  ["random", "decrypt, pages of memory at random", "random", "reused", "decrypt"],
  ["cache", "decrypt after a read from the page cache, the read not counted", "cache", "reused", "decrypt"],
  ["direct", "decrypt after a read past the page cache, the read not counted", "direct", "reused", "decrypt"],
  ["log", "encrypt before a write that is forced to the disk, the write not counted", "log", "reused", "encrypt"],
];
// Of these the part of reading or writing is shown as well.
const BESIDE_IO = ["cache", "direct", "log"];

async function storesView() {
  const all = await sheets("pages");
  say(`Pages of ${plural(all.length, "store")}`);
  return all.map(({ label, record, answer }) => [
    el("h2", null, named(`${record.store.kind} ${record.store.name}`), all.length > 1 ? [": ", named(label)] : null),
    answerOf(answer),
    record.withdrawn ? el("p", { class: "state failed" }, `Do not use: ${record.withdrawn}`) : storePicture(record),
    storeTimes(record),
    tampering(record),
    storeNonces(record),
    unverified(record),
    storeFacts(record),
  ]);
}

const libraryOf = (r, n) => `${r.libraries[n].name}@${r.libraries[n].version}`;

function facts(list) {
  return el("dl", { class: "facts" }, list.filter(([, value]) => value).map(([name, value]) => [el("dt", null, name), el("dd", null, value)]));
}

function storeFacts(r) {
  const s = r.store;
  const good = r.verified.filter((v) => v.state === "measured");
  const least = Math.min(...good.map((v) => v.pages));
  const count = (property) => new Set(good.map((v) => v[property])).size;
  const before = el("code", null, s.sha256_before);
  const sum = !s.sha256_after ? [before, " before the run; not read again"]
    : s.sha256_before === s.sha256_after ? [before, " before and after the run"]
    : el("b", { class: "state failed" }, `${s.sha256_before} before, ${s.sha256_after} after: something wrote to the store`);
  return facts([
    ["Pages", `${s.pages} of ${bytesName(s.page_size)} (${bytesName(s.pages * s.page_size)}) in ${plural(s.files, "file")}; ${s.zero_pages} of zeros${s.without_lsn > 0 ? `, ${s.without_lsn} without an LSN` : ""}${s.read ? `; of the first ${s.read} pages, all that there was time to read` : ""}`],
    ["Store", s.facts.join("; ")],
    ["Verified", `${plural(count("scheme"), "scheme")} in ${plural(count("library"), "library", "libraries")}, ${plural(good.length, "pair")}${good.length === 0 ? "" : `: ${least < s.pages ? `${least} of ${s.pages} pages, drawn at random,` : "every page"} encrypted, decrypted and equal`}`],
    ["SHA-256", sum],
    ["As", r.profile && [named(`${r.profile.name}: ${r.profile.title}; ${r.profile.differs}`), " (", named(r.profile.source), `, read ${r.profile.read})`]],
    ["Times", r.timing && `${plural(r.timing.rounds, "round")} in ${figure(r.timing.seconds)} s; nonces from ${r.timing.random_source}, included`],
    ["Tier, seed", `${r.tier}, ${r.seed}`],
    ["Machine", named(r.host.cpu.name)],
    ["Begun", r.started],
    ["Written by", `${r.tool.name} ${r.tool.version}, format of pages ${r.format_version}`],
  ]);
}

function storeTimes(r) {
  const cells = new Map(r.cells.map((c) => [cellKey(c.library, c.scheme, c.medium, c.keying, c.direction, c.threads), c]));
  const threads = [...new Set(r.cells.map((c) => c.threads))].sort((a, b) => a - b);
  if (threads.length === 0) return el("p", { class: "note" }, "No time was taken.");
  return threads.map((n) => storeTable(r, cells, n));
}

const cellKey = (...parts) => parts.join("\n");

function storeTable(r, cells, threads) {
  const rows = r.schemes.flatMap((facts, order) => r.libraries.map((_, library) => {
    const of = ([, , medium, keying, direction]) => cells.get(cellKey(library, facts.recipe.scheme, medium, keying, direction, threads));
    return { facts, order, library, cells: STORE_COLUMNS.map(of) };
  })).filter((row) => row.cells.some((c) => c?.state === "measured"));
  const slowest = Math.max(...rows.map((row) => row.cells[1]?.crypto_ns?.median ?? 0));
  const columns = [
    { title: "Scheme", cell: (row) => named(row.facts.recipe.scheme), sort: (row) => row.order },
    { title: "Library", cell: (row) => named(libraryOf(r, row.library)), sort: (row) => libraryOf(r, row.library) },
    { title: "extra B", hint: "bytes that are stored with each page", number: true, cell: (row) => String(row.facts.extra_bytes), sort: (row) => row.facts.extra_bytes },
    { title: el("span", { class: "hidden" }, "drawn"), cell: (row) => bar((row.cells[1]?.crypto_ns?.median ?? 0) / slowest) },
    ...STORE_COLUMNS.flatMap(([title, hint, medium], n) => [
      { title, hint, number: true, start: 1, cell: (row) => timeCell(row.cells[n]), sort: (row) => row.cells[n]?.crypto_ns?.median },
      BESIDE_IO.includes(medium) ? { title: "of it", hint: "the scheme's share of that time together with reading or writing the page", number: true, start: -1, cell: (row) => shareText(row.cells[n]), sort: (row) => shareOf(row.cells[n]) } : null,
    ]).filter((column, n, list) => column && rows.some((row) => column.sort(row) !== undefined)),
  ];
  return table({ caption: `Nanoseconds of the scheme's own work on a page, ${plural(threads, "thread")}`, columns, rows, className: "numbers" });
}

function timeCell(c) {
  if (!c) return "";
  if (!c.crypto_ns) return el("td", { class: `state ${c.state}`, title: c.reason }, STATE_WORDS[c.state] ?? c.state);
  const { median, low, high } = c.crypto_ns;
  const relative = low === null || high === null ? NaN : (high - low) / 2 / median;
  const tails = c.crypto_tails ? `; p99 ${figure(c.crypto_tails.p99)}, p99.9 ${figure(c.crypto_tails.p999)} ns` : "";
  const over = c.over_none_ns ? `; ${figure(c.over_none_ns.median)} ns over none` : "";
  const interval = low === null || high === null ? "no interval" : `${supported(low, relative)} to ${supported(high, relative)} ns`;
  const ends = c.contended ? "only a busy core was seen: it takes at most so long" : interval;
  return el("td", { class: "num", title: `${ends}${tails}${over}; ${plural(c.rounds, "round")}, ${c.pages} pages` }, (c.contended ? "≤ " : "") + supported(median, relative));
}

const shareOf = (c) => (c?.crypto_ns && c.io_ns ? c.crypto_ns.median / (c.crypto_ns.median + c.io_ns.median) : undefined);
const shareText = (c) => (shareOf(c) === undefined ? "" : `${percent(shareOf(c))} %`);

function unverified(r) {
  const bad = r.verified.filter((v) => v.state === "refused" || v.state === "failed");
  const late = r.verified.filter((v) => v.state === "left-out").length;
  const missing = r.verified.filter((v) => v.state === "unsupported").length;
  return [
    el("h2", null, "Not verified"),
    bad.length === 0 ? el("p", { class: "note" }, "Nothing was refused and nothing failed.") : table({
      caption: "Without a number", rows: bad,
      columns: [
        { title: "Scheme", cell: (v) => named(v.scheme), sort: (v) => v.scheme },
        { title: "Library", cell: (v) => named(libraryOf(r, v.library)), sort: (v) => libraryOf(r, v.library) },
        { title: "State", cell: (v) => el("td", { class: `state ${v.state}` }, v.state) },
        { title: "Why", cell: (v) => named(v.reason ?? "") },
      ],
    }),
    late > 0 ? el("p", { class: "note" }, `${plural(late, "pair")} of scheme and library: there was no time.`) : null,
    missing > 0 ? el("p", { class: "note" }, `${plural(missing, "pair")} of scheme and library ${missing === 1 ? "is" : "are"} not offered.`) : null,
  ];
}
