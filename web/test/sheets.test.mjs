// Pages of what is no survey: records of page stores, and advice.

import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { SHEETS, STORE, pageOf, rows, storePage, visit, whole } from "./support.mjs";

const text = (page, selector = "main") => page.$eval(selector, (e) => e.textContent);
const links = (page) => page.$$eval("nav a", (all) => all.map((a) => a.textContent));

test("a record of pages alone has the view of page stores and no other", async () => {
  await visit(storePage("alone", (store) => [store]), "", async (page) => {
    assert.deepEqual(await links(page), ["Page stores"]);
    assert.equal(await text(page, "main h2"), "postgres data");
    assert.match(await text(page, "main dl"), /1000 of 8 KiB \(7\.8 MiB\) in 30 files/);
    assert.equal(await page.isVisible("#filters"), false);
    assert.match(await text(page, ".records"), /alone.*pages of a store/);
  });
});

test("the view of stores opens with the answer and a picture of the schemes", async () => {
  await visit(storePage("store"), "#view=stores", async (page) => {
    const first = await page.$$eval("main h2 ~ *", (all) => all.slice(0, 2).map((e) => e.className));
    assert.deepEqual(first, ["screen", "chart svg-chart"]);
    assert.match(await text(page, ".screen"), /nanoseconds a page/);
    assert.match(await text(page, "main figure"), /aes-256-gcm/);
    assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth));
  });
});

test("times are the record's, with the share of reading beside them", async () => {
  const cell = STORE.cells.find((c) => c.scheme === "aes-256-gcm" && c.library === 0 && c.direction === "decrypt" && c.medium === "sequential");
  await visit(storePage("store"), "#view=stores", async (page) => {
    const found = (await rows(page)).find((r) => r[0] === "aes-256-gcm" && r[1] === "openssl@3.0.19");
    assert.equal(Number(found[5]), cell.crypto_ns.median);
    assert.equal(found[7], "54 %");
    const title = await page.$$eval("main tbody tr td[title]", (all) => all.map((td) => td.title));
    assert.ok(title.some((t) => t.includes("p99 3000")), title.join("\n"));
  });
});

test("a bound, a part of the pages and what there was no time for are what they are, and withdrawn prices are no picture", async () => {
  const changed = (store) => {
    for (const c of store.cells.filter((x) => x.scheme === "aes-256-gcm" && x.library === 0)) c.contended = true;
    const late = { state: "failed", stopped: "budget", reason: "the budget was over" };
    Object.assign(store.cells.find((x) => x.scheme === "aes-256-gcm" && x.library === 1 && x.direction === "decrypt" && x.medium === "sequential") ?? {}, late, { crypto_ns: null, crypto_tails: null });
    store.verified.find((v) => v.state === "measured").pages = 12;
    Object.assign(store.verified.findLast((v) => v.state === "measured"), late);
    return [store];
  };
  await visit(storePage("store-bounds", changed), "", async (page) => {
    const found = (await rows(page)).find((r) => r[0] === "aes-256-gcm" && r[1] === "openssl@3.0.19");
    assert.match(found[4], /^≤ /);
    assert.match(await text(page, "main dl"), /12 of 1000 pages, drawn at random, encrypted/);
    assert.ok(!/\bfailed\b/.test(await page.innerText("main table")));
    assert.match(await text(page), /1 pair of scheme and library: there was no time/);
    assert.ok(!(await rows(page)).some((r) => r.includes("the budget was over")));
  });
  const withdrawn = new URL("../../records/pages-2026-11-21-zen4.json.gz", import.meta.url).pathname;
  await visit(pageOf("withdrawn", withdrawn), "", async (page) => {
    assert.match(await text(page, "main p.failed"), /Do not use: its prices are withdrawn/);
    assert.equal(await page.$$eval("main figure", (all) => all.length), 0);
  });
});

test("advice says what is open beside it, and who is none is not for want of a scheme", async () => {
  const open = [{ scheme: "aegis-256", library: "any library", kind: "missing", times_at_least: null, times_at_most: null, why: "" }];
  const changed = (store, advice) => {
    advice.open = open;
    Object.assign(advice.basis, { candidates: { all: 9, measured: 8, ruled_out_by_bound: 0, missing: 1 } });
    advice.fitting.forEach((f) => { f.undecided = true; f.tied = false; f.ns.low = 0; });
    return [advice, { ...structuredClone(advice), outcome: { none: { flags: [] } }, fitting: [] }];
  };
  await visit(storePage("open", changed), "", async (page) => {
    const shown = await text(page);
    assert.match(shown, /1 candidate not measured, could cost less: aegis-256 in any library/);
    assert.match(shown, /9 \(schemes in libraries that fit, costs aside\): 8 measured, 1 missing/);
    assert.match(shown, /not enough measured: nothing that would do has a price/);
    const fitting = (await rows(page)).find((r) => r[0] === "aes-256-gcm");
    assert.match(fitting[2], /or less \(on a busy core\)/);
    assert.match(fitting[3], / \?$/);
  });
});

test("what was noticed of tampering stands for each scheme and each kind", async () => {
  await visit(storePage("store"), "#view=stores", async (page) => {
    const table = (await rows(page)).filter((r) => r.length === 14);
    const of = (scheme) => table.find((r) => r[0] === scheme);
    assert.deepEqual(of("aes-256-gcm").slice(1, 5), ["yes", "yes", "noticed", "noticed"]);
    assert.equal(of("aes-256-gcm")[12], "the old page");
    assert.deepEqual(of("aes-256-xts").slice(1, 4), ["no", "no", "16 bytes"]);
    assert.match(await text(page), /page 3: it comes back as another/);
  });
});

test("what was not tried has no verdict", async () => {
  const changed = (store) => {
    store.probes.flatMap((p) => p.rows).forEach((row) => Object.assign(row, { tried: 0, noticed: 0, effects: [] }));
    return [store];
  };
  await visit(storePage("untried", changed), "", async (page) => {
    const table = (await rows(page)).filter((r) => r.length === 14);
    assert.deepEqual(table.find((r) => r[0] === "aes-256-gcm").slice(1, 3), ["untried", "untried"]);
  });
});

test("a probe that came out otherwise and a store that changed are shown as wrong", async () => {
  const changed = (store) => {
    store.store.sha256_after = "cd";
    const row = store.probes.find((p) => p.scheme === "aes-256-gcm").rows[0];
    Object.assign(row, { noticed: 199, as_expected: false, effects: [["one-bit", 1]] });
    store.probes.find((p) => p.scheme === "aes-256-gcm").as_expected = false;
    return [store];
  };
  await visit(storePage("wrong", changed), "", async (page) => {
    const wrong = await page.$$eval(".state.failed", (all) => all.map((e) => e.textContent));
    assert.ok(wrong.some((t) => t.includes("something wrote to the store")), wrong.join("\n"));
    assert.ok(wrong.some((t) => t.includes("Not as expected: aes-256-gcm in openssl@3.0.19")), wrong.join("\n"));
    assert.ok(wrong.includes("differs"), wrong.join("\n"));
  });
});

test("nonces that came twice are named", async () => {
  await visit(storePage("store"), "#view=stores", async (page) => {
    const row = (await rows(page)).find((r) => r[0] === "block-lsn");
    assert.equal(row[4], "3");
    assert.match(row[5], /base\/5\/16384 block 7, state 0 and/);
  });
});

test("advice has its choice, its limits, and each other scheme with its rule", async () => {
  await visit(storePage("store"), "#view=advice", async (page) => {
    assert.equal(await text(page, ".verdict"), "aes-256-gcm in openssl@3.0.19");
    const shown = await text(page);
    for (const said of ["rotate by", "cache: 2000 ns beside 1700 ns of reading", "measured on the pages of the store", "--integrity adversary"]) assert.ok(shown.includes(said), said);
    const rejected = (await rows(page)).find((r) => r[0] === "aes-256-ecb");
    assert.equal(rejected[1], "wrong: ecb-leaks");
  });
});

test("surveys, stores and advice stand beside each other", async () => {
  const all = storePage("mixed", (store, advice) => [whole(), store, advice]);
  await visit(all, "", async (page) => {
    const views = await links(page);
    assert.deepEqual([views[0], ...views.slice(-2)], ["Speed", "Page stores", "Advice"]);
    await page.click("nav a:last-of-type >> text=Advice");
    await page.waitForSelector(".verdict");
  });
  await visit(pageOf("whole", whole()), "#view=stores", async (page) => {
    assert.equal(await page.getAttribute("nav a[aria-current]", "href"), "#");
  });
});

const EVIL = `</script><script>window.hit=1</script><img src=x onerror="window.hit=2">\u202Ereversed`;

function hostile(store, advice) {
  const bad = (o, ...names) => names.forEach((name) => { o[name] = EVIL; });
  bad(store, "started");
  bad(store.tool, "name", "version");
  bad(store.host.cpu, "name");
  bad(store.store, "kind", "name");
  store.store.facts = [EVIL];
  store.libraries.forEach((l, n) => { l.name = `${n}${EVIL}`; });
  store.verified.forEach((v) => { if (v.reason) v.reason = EVIL; });
  store.nonces.rules.forEach((r) => { r.rule = EVIL; r.named = [{ page: EVIL, other: EVIL }]; });
  store.nonces.schemes.forEach((s) => bad(s, "scheme", "verdict", "from_lsn"));
  store.timing.random_source = EVIL;
  store.profile = { name: EVIL, title: EVIL, differs: EVIL, source: EVIL, read: EVIL };
  bad(advice, "record", "title", "unit");
  advice.terms.forEach((t) => bad(t, "flag", "value"));
  Object.assign(advice.basis, { started: EVIL, cpu: EVIL, stale: [EVIL], store: [EVIL] });
  bad(advice.outcome.choice, "scheme", "nonce");
  bad(advice.outcome.choice.key, "limit", "source");
  advice.outcome.choice.remarks.forEach((r) => bad(r, "says", "source"));
  advice.fitting.forEach((f) => bad(f, "scheme", "library"));
  advice.rejected.forEach((r) => bad(r, "scheme", "detail"));
  Object.values(advice.rules).forEach((r) => bad(r, "says", "source", "url"));
  return [store, advice];
}

for (const view of SHEETS) {
  test(`hostile text stays text in the view ${view}`, async () => {
    await visit(storePage("hostile-sheets", hostile), `#view=${view}`, async (page) => {
      const found = await page.evaluate(() => ({
        hit: window.hit, images: document.images.length,
        scripts: [...document.scripts].filter((s) => !s.type).length,
        links: [...document.querySelectorAll("a")].map((a) => a.getAttribute("href")).filter((href) => !href.startsWith("#")),
        text: document.body.innerText,
      }));
      assert.deepEqual({ ...found, text: undefined }, { hit: undefined, images: 0, scripts: 2, links: [], text: undefined });
      assert.ok(found.text.includes("<img src=x onerror="), "shown as it is");
      assert.ok(!/[\u202A-\u202E]/.test(found.text), "nothing that rearranges text");
    });
  });
}

test("the file of a store is small and names no other", () => {
  const html = readFileSync(storePage("store"), "utf8");
  assert.ok(html.length < 400_000, `${html.length}`);
  for (const word of ["src=", "@import", "url("]) assert.ok(!html.includes(word), word);
});
