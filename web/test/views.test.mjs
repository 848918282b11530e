// Every view shows what the records say.

import { test } from "node:test";
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { VIEWS, pageOf, rows, visit, whole } from "./support.mjs";
import { repository } from "../lib/report.mjs";

const PUBLISHED = repository("records/published-2026-11-23-gnr.json.gz");

// A record of one tier without limits, fitted lines and instruction counts.
function bare() {
  const record = { ...whole({ tiers: ["native"] }), fits: [], executed: [], leaks: [] };
  record.measurements.forEach((m) => Object.assign(m, { limit_fraction: null, limit_cycles_per_op: null, limited_by: null }));
  return record;
}

const text = (page, selector = "main") => page.$eval(selector, (e) => e.textContent);

for (const view of VIEWS) {
  test(`the view ${view} has a heading and content, and does nothing that it should not`, async () => {
    await visit(pageOf("whole", whole()), `#view=${view}`, async (page) => {
      assert.ok((await text(page, "main h2")).length > 3);
      assert.ok((await text(page)).length > 100);
      assert.equal(await page.getAttribute("nav a[aria-current]", "href"), view === "speed" ? "#" : `#view=${view}`);
    });
  });

  test(`the view ${view} of a published record is drawn`, async () => {
    await visit(pageOf("published", PUBLISHED), `#view=${view}`, async (page) => {
      assert.ok((await text(page)).length > 60);
    });
  });
}

test("the page opens with the answer in short, and a second record's is folded", async () => {
  await visit(pageOf("published", PUBLISHED), "", async (page) => {
    const answer = await page.innerText(".answer");
    for (const part of ["aes-256-gcm", "system's openssl@3.0.19", "% of best", "Do not use", "libtomcrypt@1.18.2"]) assert.ok(answer.includes(part), part);
    assert.ok((await page.locator(".answer").boundingBox()).y < 200);
  });
  await visit(pageOf("two", whole(), whole()), "", async (page) => {
    assert.deepEqual(await page.$$eval(".answer", (all) => all.map((one) => one.open)), [false, false]);
  });
});

test("a speed in the table is the record's, to the digits that its interval supports", async () => {
  const record = JSON.parse(gunzipSync(readFileSync(PUBLISHED)));
  const wanted = record.measurements.find((m) => m.library.name === "openssl" && m.library.version === "4.0.3" && m.algorithm === "aes-256-gcm" && m.direction === "decrypt" && m.size === 8192);
  await visit(pageOf("published", PUBLISHED), "#algorithm=aes-256-gcm&direction=decrypt&library=openssl@4.0.3", async (page) => {
    const [row] = await rows(page);
    assert.equal(row[0], "openssl@4.0.3");
    const shown = Number(row[3]);
    assert.ok(Math.abs(shown / wanted.mb_per_s - 1) < 0.005, `${shown} for ${wanted.mb_per_s}`);
    assert.match(await page.getAttribute("main tbody td:nth-child(4)", "title"), /to \d+ MB\/s, ±[\d.]+ %$/);
  });
});

test("units are those of the record's fields", async () => {
  const record = whole();
  const m = record.measurements.find((x) => x.library.version === "4.0.1" && x.algorithm === "aes-256-gcm" && x.size === 8192 && x.tier === "native" && x.model === "message" && x.direction === "encrypt");
  for (const [unit, value] of [["mb", m.mb_per_s], ["cpb", m.cycles_per_byte], ["ns", m.ns_per_op.median]]) {
    await visit(pageOf("whole", record), `#unit=${unit}&library=openssl@4.0.1&algorithm=aes-256-gcm`, async (page) => {
      const [row] = await rows(page);
      assert.ok(Math.abs(Number(row[4]) / value - 1) < 0.01, `${unit}: ${row[4]} for ${value}`);
    });
  }
});

test("a refused case stands in its place with its reason, and never as a number", async () => {
  await visit(pageOf("whole", whole()), "#algorithm=chacha20-poly1305", async (page) => {
    const botan = (await rows(page)).find((r) => r[0].startsWith("botan"));
    assert.deepEqual(botan.slice(1, 5), Array(4).fill("refused"));
    assert.equal(await page.getAttribute("main td.refused", "title"), "round-trip: 12 bytes differ");
  });
  await visit(pageOf("whole", whole()), "#view=problems", async (page) => {
    const content = await text(page);
    for (const words of ["round-trip: 12 bytes differ", "worker ended by signal 11", "wolfSSL has no"]) assert.ok(content.includes(words), words);
  });
  await visit(pageOf("whole", whole()), "#view=heat", async (page) => {
    assert.equal(await page.$$eval("td.state.refused", (all) => all.length), 1);
  });
});

test("an imported figure stands last, uncoloured, with its source and without an interval", async () => {
  await visit(pageOf("whole", whole()), "", async (page) => {
    const all = await rows(page);
    assert.equal(all.at(-1)[0], "blog (imported)");
    assert.match(await page.getAttribute("main tbody tr:last-child td[title]", "title"), /unverified: a blog of 2019, on i5/);
    assert.equal(await page.$$eval("main tbody tr:last-child .swatch", (s) => s[0].className), "swatch");
    assert.match(await page.innerText("main tbody tr:last-child"), /†81[0-9]+/);
    assert.match(await page.innerText(".records"), /1 imported, unverified/);
  });
  await visit(pageOf("whole", whole()), "#view=problems", async (page) => assert.ok(!(await text(page)).includes("blog (imported)")));
});

test("a figure that nobody should believe has its sign and its reason, and a rough one its sign, and neither is drawn as the best", async () => {
  const record = whole();
  Object.assign(record.measurements.find((m) => m.state === "imported"), { reason: "no core can reach it" });
  const rough = (m) => m.library.name === "botan" && m.state === "measured";
  record.measurements.filter(rough).forEach((m) => { m.stopped = "budget"; });
  await visit(pageOf("doubted", record), "", async (page) => {
    assert.match(await page.innerText("main tbody tr:last-child"), /†\?81[0-9]+/);
    assert.match(await page.getAttribute("main tbody tr:last-child td[title]", "title"), /not to be believed: no core can reach it/);
    assert.equal(await page.$$eval("main tbody tr:last-child .bar", (all) => all.length), 0);
    assert.match(await text(page, "main tbody"), /~[0-9]/);
    assert.match(await text(page, ".answer"), /~: [0-9]+ of [0-9]+ are within ±1 %, but by 6 processes only/);
  });
});

test("the heat map is of the limit where there is one, and says so where there is none", async () => {
  await visit(pageOf("whole", whole()), "#view=heat&size=8192", async (page) => {
    assert.match(await text(page, "main h2"), /of the limit/);
    // Only what was imported is of the best.
    assert.equal(await page.$$eval("td.guess", (all) => all.length), 1);
  });
  await visit(pageOf("bare", bare()), "#view=heat", async (page) => {
    assert.match(await text(page, "main h2"), /of the best/);
    assert.match(await text(page), /These records have no limits/);
  });
});

test("samples of a case come back: as many as the record has, with those that do not count marked", async () => {
  const record = whole();
  const m = record.measurements.find((x) => x.library.name === "wolfssl" && x.algorithm === "aes-256-gcm" && x.size === 256 && x.direction === "decrypt" && x.tier === "aesni" && x.model === "rekey");
  const words = ["whole", m.algorithm, "wolfssl@5.9", m.direction, m.model, m.tier, m.size, "1", "hot", "apart"].join("|");
  await visit(pageOf("whole", record), `#view=samples&case=${encodeURIComponent(words)}`, async (page) => {
    const circles = (kind) => page.$$eval(`svg circle.${kind}`, (all) => all.length);
    assert.equal(await circles("count"), m.samples);
    assert.equal(await circles("marked"), m.samples_disturbed);
    assert.ok((await text(page)).includes("round-trip 26, known-answers 2"));
  });
});

test("the value of a sample is what its readings say", async () => {
  const record = whole();
  const m = record.measurements.find((x) => x.library.version === "3.0.22" && x.algorithm === "aes-128-gcm" && x.size === 1024 && x.tier === "native");
  const values = m.raw.ticks.map((t, n) => (t / m.raw.ops[n]) * (m.raw.clock_before[n] + m.raw.clock_after[n]) / 2).filter((_, n) => m.raw.clean[n] && m.raw.process[n] === 0);
  const words = ["whole", m.algorithm, "openssl@3.0.22", m.direction, m.model, m.tier, m.size, "1", "hot", "apart"].join("|");
  await visit(pageOf("whole", record), `#view=samples&case=${encodeURIComponent(words)}`, async (page) => {
    await page.click("main details summary");
    const [first] = await rows(page);
    assert.ok(Math.abs(Number(first[1]) / Math.min(...values) - 1) < 0.005, `${first[1]} for ${Math.min(...values)}`);
  });
});

test("two records stand side by side, under the names of their files", async () => {
  const slower = whole({ seed: 9 });
  slower.host.cpu.name = "Another CPU";
  const file = pageOf("old", whole(), slower);
  await visit(file, "#algorithm=aes-256-gcm&library=openssl@4.0.1", async (page) => {
    assert.deepEqual((await rows(page)).map((r) => r[0]).sort(), ["openssl@4.0.1 · old", "openssl@4.0.1 · old1"]);
  });
  await visit(file, "#view=machine", async (page) => {
    const content = await page.$$eval("tr.differs", (all) => all.map((tr) => tr.textContent));
    assert.ok(content.some((row) => row.includes("Synthetic CPU") && row.includes("Another CPU")), content.join("\n"));
  });
  await visit(file, "#view=heat", async (page) => {
    assert.deepEqual(await page.$$eval("th.group", (all) => all.map((th) => th.textContent)), ["old", "old1"]);
  });
});

test("views without data say why and what helps", async () => {
  await visit(pageOf("bare", bare()), "#view=tiers", async (page) => assert.match(await text(page), /one tier only.*ciphermark run -t/));
  await visit(pageOf("bare", bare()), "#view=costs", async (page) => assert.match(await text(page), /no fitted lines/));
  await visit(pageOf("bare", bare()), "#view=instructions", async (page) => assert.match(await text(page), /no instruction counts/));
  await visit(pageOf("whole", whole()), "#algorithm=", async (page) => assert.match(await text(page), /Nothing to show/));
});

test("a verdict on secrets is a sign in its cell, with its words for the mouse and whoever listens, and its places at a click", async () => {
  await visit(pageOf("whole", whole()), "#view=secrets", async (page) => {
    assert.match(await text(page, "main h2"), /4 depend, 4 same trace, tier native/);
    const signs = await page.$$eval("main td button.verdict", (all) => all.map((b) => [b.textContent, b.getAttribute("aria-label"), b.title]));
    assert.equal(signs.filter(([sign]) => sign === "‡").length, 4);
    assert.equal(signs.filter(([sign]) => sign === "=").length, 4);
    signs.forEach(([, label, title]) => assert.equal(label, title));
    const [, label] = signs.find(([, name]) => name.startsWith("wolfssl@5.9 aes-128-gcm"));
    assert.match(label, /depends on the secret: secret-dependent lookups in wc_AesEncrypt \(256 bytes, 4 lines\)$/);
    await page.click("main td.v-depends button");
    assert.match(await text(page, "#secret-places"), /wolfssl@5.9 .*mov eax,\[rcx\+rdx\*4\] at 0x1234 of libwolfssl.so and 3 more, in encrypt/);
    assert.match(await text(page, "#said"), /wolfssl@5.9 .*depends on the secret/);
  });
});

test("what taint alone says has a weaker sign, at the tier that it was found at", async () => {
  await visit(pageOf("whole", whole()), "#view=secrets&tier=noaes", async (page) => {
    const signs = await page.$$eval("main td button.verdict", (all) => all.map((b) => b.textContent));
    assert.deepEqual(signs, Array(4).fill("‡?"));
    assert.equal(await page.$$eval("main td.v-may-depend", (all) => all.length), 4);
  });
  await visit(pageOf("bare", bare()), "#view=secrets", async (page) => assert.match(await text(page), /no verdicts on what depends on secrets/));
});
