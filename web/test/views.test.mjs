// Every view shows what the records say.

import { test } from "node:test";
import assert from "node:assert/strict";
import { gunzipSync } from "node:zlib";
import { readFileSync } from "node:fs";
import { made, without } from "../lib/made.mjs";
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

const reads = (page) => page.innerText("main");

test("a bound is at least a speed and at most a time, in every view", async () => {
  const record = whole();
  record.measurements.filter((m) => m.library.name === "botan" && m.state === "measured").forEach((m) => { m.contended = true; });
  const file = pageOf("bound", record);
  const cells = async (page) => (await rows(page)).find((r) => r[0].startsWith("botan")).slice(1, 5);
  for (const [unit, sign] of [["mb", ">"], ["cpb", "<"], ["ns", "<"]]) {
    await visit(file, `#unit=${unit}&algorithm=aes-256-gcm`, async (page) => {
      assert.ok((await cells(page)).every((text) => text.startsWith(sign)), `${unit}: ${await cells(page)}`);
      assert.match(await page.innerText(".warnings"), new RegExp(`^${sign}: only a busy core was seen`, "m"));
      const box = await page.locator(".u-over").boundingBox();
      await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
      await page.waitForSelector(".tip:not([hidden])");
      assert.match(await page.innerText(".tip"), new RegExp(`botan@3\\.8\\s+${sign}.*\\s+busy core`));
    });
  }
  await visit(file, "#view=tiers&algorithm=aes-256-gcm", async (page) => {
    const row = (await rows(page)).find((r) => r[0].startsWith("botan"));
    assert.ok(row.slice(2, 5).every((text) => text.startsWith(">")) && row[5] === "", row.join(" "));
    assert.ok(await page.$$eval("main circle.hollow", (all) => all.length) > 0);
  });
  await visit(file, "#view=heat", async (page) => {
    const heads = await page.$$eval("th.steep", (all) => all.map((th) => th.textContent));
    assert.ok((await rows(page)).every((r) => /^[>✕·]/.test(r[1 + heads.indexOf("botan@3.8")])));
  });
  await visit(file, "#view=heat&of=best", async (page) => {
    // A bound is no best: what is not one has 100 %.
    assert.ok((await rows(page)).every((r) => r.includes("100")));
  });
  const words = ["bound", "aes-256-gcm", "botan@3.8", "encrypt", "message", "native", "8192", "1", "hot", "apart"].join("|");
  await visit(file, `#view=samples&case=${encodeURIComponent(words)}`, async (page) => {
    assert.match(await page.innerText(".tiles"), /MB\/s\s+>.*\s+at least [\d.]+ MB\/s: only a busy core was seen/);
    assert.match(await page.innerText(".tiles"), /ns per operation\s+<.*\s+at most/);
  });
});

test("a number has the digits that its interval supports, one at the least, as in the program's tables", async () => {
  const record = whole();
  const m = record.measurements.find((x) => x.library.name === "botan" && x.algorithm === "aes-256-gcm" && x.size === 8192 && x.tier === "native" && x.model === "message" && x.direction === "encrypt");
  Object.assign(m, { ns_per_op: { median: 4567, low: 3000, high: 6000 }, mb_per_s: 8192e3 / 4567 });
  await visit(pageOf("rough", record), "#unit=ns&algorithm=aes-256-gcm&library=botan@3.8", async (page) => assert.equal((await rows(page))[0][4], "5000"));
});

test("a sample of any kind that does not count is counted with its reason", async () => {
  const record = whole();
  const m = record.measurements.find((x) => x.library.name === "botan" && x.algorithm === "aes-256-gcm" && x.size === 8192 && x.tier === "native" && x.model === "message" && x.direction === "encrypt");
  m.raw.probe_before.fill(6.01);
  for (const [name, at] of [["unsettled", 0], ["interrupted", 1]]) {
    m.raw[name] = m.raw.clean.map((_, n) => n === at);
    m.raw.clean[at] = false;
  }
  record.noise = { samples: 10, clean: 5, disturbed: { migrated: 0, switched: 0, paged_in: 0, stolen: 0, clock_moved: 0, contended: 0, unsettled: 2, interrupted: 3 }, quiet: [], stolen_seconds: null, shield: "none" };
  const file = pageOf("marks", record);
  const words = ["marks", "aes-256-gcm", "botan@3.8", "encrypt", "message", "native", "8192", "1", "hot", "apart"].join("|");
  await visit(file, `#view=samples&case=${encodeURIComponent(words)}`, async (page) => {
    await page.click("main details summary");
    const heads = await page.$$eval("main details thead th", (all) => all.map((th) => th.textContent));
    const sum = async (name) => (await rows(page, "main details table")).reduce((n, r) => n + Number(r[heads.indexOf(name)]), 0);
    assert.deepEqual([await sum("not yet settled"), await sum("interrupted")], [1, 1]);
    assert.ok(!(await page.$$eval("main circle title", (all) => all.map((t) => t.textContent))).some((t) => t.includes("undefined")));
  });
  await visit(file, "#view=machine", async (page) => assert.match(await reads(page), /Not yet settled\s+2\s+Interrupted\s+3/));
});

test("what has no bytes has its time, its own word for a size, and no speed by bytes", async () => {
  const record = made({ libraries: [["openssl", "4.0.3"], ["libgcrypt", "1.12"]], algorithms: ["pbkdf2-sha256"], directions: ["digest"], sizes: [1000, 2000, 600000], evidence: false });
  record.measurements.forEach((m) => Object.assign(m, { mb_per_s: null, ns_per_byte: null, cycles_per_byte: null, warning: null }));
  const file = pageOf("derivation", record);
  await visit(file, "", async (page) => {
    assert.match(await reads(page), /ns\/op: nanoseconds per operation, by iterations of a derivation/);
    assert.match(await page.innerText("main thead"), /at 600000 iterations/);
    assert.ok(!(await reads(page)).includes("MB/s"));
  });
  await visit(file, "#view=samples", async (page) => assert.ok(!/MB\/s|per byte/.test(await page.innerText(".tiles"))));
  await visit(file, "#view=costs", async (page) => assert.ok(!(await reads(page)).includes("ns per byte")));
});

test("operations that were imported are shown beside ciphers, whatever direction is chosen", async () => {
  const record = whole();
  const sign = structuredClone(record.measurements.find((m) => m.state === "imported"));
  Object.assign(sign, { algorithm: "rsa-2048-sign", model: "primitive", direction: "call", size: 0, mb_per_s: null, ns_per_byte: null });
  record.measurements.push(sign);
  await visit(pageOf("operations", record), "#model=primitive&algorithm=rsa-2048-sign", async (page) => {
    const [row] = await rows(page);
    assert.deepEqual(row.slice(0, 2), ["blog (imported)", "†100"]);
  });
});

test("what there was no time for is counted, and stands among what was not measured", async () => {
  const record = whole();
  record.measurements.filter((m) => m.library.version === "4.0.1" && m.size === 256).forEach((m) => Object.assign(without(m, "failed", "the budget was over before it was measured"), { stopped: "budget" }));
  const file = pageOf("late", record);
  await visit(file, "", async (page) => assert.match(await page.innerText(".records"), /48 NOT MEASURED/));
  await visit(file, "#view=problems", async (page) => {
    assert.match(await reads(page), /Not measured: 48 cases[\s\S]*the budget was over before it was measured/);
    assert.ok(!/failed.*the budget/.test(await reads(page)));
  });
  await visit(file, "#view=heat&size=256", async (page) => assert.ok((await rows(page)).every((r) => r.includes("…"))));
});

test("a record without a case opens, and each view says that there is nothing", async () => {
  const none = { ...whole(), measurements: [], fits: [], executed: [], leaks: [] };
  for (const view of VIEWS) await visit(pageOf("none", none), `#view=${view}`, async (page) => assert.ok((await reads(page)).length > 5));
});

test("what depends on the secret has its sign beside its speed, as in the program's tables", async () => {
  await visit(pageOf("whole", whole()), "#algorithm=aes-256-gcm", async (page) => {
    assert.ok((await rows(page)).some((r) => r[0] === "wolfssl@5.9‡"));
    assert.match(await page.innerText(".warnings"), /‡: depends on the secret/);
  });
});
