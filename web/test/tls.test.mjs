// Pages of runs of TLS: handshakes, records, and what lies under them.

import { test } from "node:test";
import assert from "node:assert/strict";
import { pageOf, rows, visit, whole } from "./support.mjs";
import { handshakes, primitives, records } from "../lib/tls.mjs";

const text = (page, selector = "main") => page.$eval(selector, (e) => e.textContent);

test("a run of TLS alone has its view and no other", async () => {
  await visit(pageOf("handshakes", handshakes()), "", async (page) => {
    assert.deepEqual(await page.$$eval("nav a", (all) => all.map((a) => a.textContent)), ["TLS"]);
    assert.equal(await text(page, "main h2"), "TLS handshakes");
    assert.match(await text(page, "main dl"), /making the connection/);
    assert.match(await text(page, ".records"), /handshakes.*TLS handshakes/);
  });
});

test("handshakes stand stack beside stack, server and client apart", async () => {
  await visit(pageOf("handshakes", handshakes()), "", async (page) => {
    const all = await rows(page);
    const found = all.find((r) => r[0] === "x25519" && r[1] === "p256");
    assert.deepEqual(found.slice(2, 6), ["71.20", "90.00", "142.4", "180.0"]);
    // Bytes are each stack's own: no column has one stack's for all.
    assert.equal(found.length, 6);
    const missing = all.find((r) => r[0] === "x25519mlkem768");
    assert.equal(missing[4], "cannot be asked");
    const captions = await page.$$eval("main caption", (c) => c.map((e) => e.textContent));
    assert.ok(captions.some((c) => c.startsWith("TLS 1.3 full, aes-128-gcm, hot")), captions.join("\n"));
    assert.match(await text(page), /SSL_CTX_set1_groups_list/);
  });
});

test("a stack that lost the race is left out, and did not fail", async () => {
  const lost = (row) => (row.stack === "slow@2.0" ? { ...row, state: "failed", stopped: "screened", reason: "9 samples showed that others are faster", server: null, client: null } : row);
  await visit(pageOf("screened", handshakes(lost)), "", async (page) => {
    const found = (await rows(page)).find((r) => r[0] === "x25519" && r[1] === "p256");
    assert.equal(found[4], "left out");
    assert.equal(await page.$$eval("main td.failed", (all) => all.length), 0);
    assert.match(await text(page), /others are faster/);
  });
});

test("what only a busy core showed is at most a time", async () => {
  const busy = (row) => (row.stack === "slow@2.0" && row.server ? { ...row, contended: true, reason: "too few quiet samples" } : row);
  await visit(pageOf("busy", handshakes(busy)), "", async (page) => {
    const found = (await rows(page)).find((r) => r[0] === "x25519" && r[1] === "p256");
    assert.deepEqual(found.slice(2, 6), ["71.20", "90.00", "<142.4*", "<180.0*"]);
    assert.equal(await page.$$eval("main figure rect.hollow", (all) => all.length), 1);
    assert.match(await text(page, "main figure"), /≤ 142 µs/);
  });
});

test("a stack that signs as it likes is named below its table", async () => {
  const negotiated = { version: "1.3", suite: "TLS_AES_128_GCM_SHA256", group: "x25519", signature: "ecdsa_sha512", resumed: false, hello_retry: false, client_auth: false };
  const own = (row) => (row.stack === "slow@2.0" && row.server ? { ...row, negotiated } : row);
  await visit(pageOf("own-signatures", handshakes(own)), "", async (page) => {
    assert.match(await text(page), /slow@2\.0 signs as it likes: p256 ecdsa_sha512, not ecdsa_secp256r1_sha256/);
  });
});

test("records stand beside the bare cipher, with the line through their sizes", async () => {
  await visit(pageOf("records", records()), "", async (page) => {
    const found = (await rows(page)).find((r) => r[0] === "1400");
    assert.deepEqual(found.slice(1), ["750.0", "375.0", "937.5", "375.0"]);
    assert.match(await text(page), /sending takes 400 ns \+ 0\.250 ns a byte/);
  });
});

test("a line through the sizes of records ends at one without a number", async () => {
  const refused = (row) => (row.stack === "fast@1.0" && row.size === 1400 ? { ...row, state: "refused", reason: "wrong", send: null, receive: null } : row);
  await visit(pageOf("records-gap", records(refused)), "", async (page) => {
    const lines = await page.$$eval("main figure polyline.s0", (all) => all.map((line) => line.getAttribute("points").split(" ").length));
    assert.deepEqual(lines, [1, 1]);
  });
});

test("bare ciphers that were not measured have no cells, and where none was no columns", async () => {
  const none = { algorithm: "aes-128-gcm", encrypt: null, decrypt: null, reason: "it was not measured" };
  const without = (isIt) => (row) => (isIt(row) ? { ...row, bare: none } : row);
  await visit(pageOf("records-bare-not", records(without(() => true))), "", async (page) => {
    assert.deepEqual((await rows(page)).find((r) => r[0] === "1400"), ["1400", "750.0", "937.5"]);
  });
  await visit(pageOf("records-bare-some", records(without((row) => row.size === 1400))), "", async (page) => {
    assert.deepEqual((await rows(page)).find((r) => r[0] === "1400"), ["1400", "750.0", "", "937.5", ""]);
  });
});

test("primitives have both spans, and what they were held to", async () => {
  await visit(pageOf("primitives", primitives()), "", async (page) => {
    const found = (await rows(page)).find((r) => r[0] === "ecdsa-p256" && r[1] === "sign");
    assert.deepEqual(found.slice(2, 4), ["24.00", "20.00"]);
    assert.match(found[4], /every signature verifies with ring/);
    assert.ok((await rows(page)).some((r) => r[0] === "sha256" && r[1] === "1400 B"));
  });
});

test("all three stand in one page, beside a survey", async () => {
  await visit(pageOf("tls-mixed", whole(), handshakes(), records(), primitives()), "#view=tls", async (page) => {
    const titles = await page.$$eval("main h2", (all) => all.map((e) => e.textContent));
    assert.deepEqual(titles, ["TLS handshakes: tls-mixed1", "TLS records: tls-mixed2", "Under a handshake: tls-mixed3"]);
  });
});

test("the view opens with the answer and a picture, and nothing is wider than the window", async () => {
  const published = new URL("../../records/tls-handshake-2026-11-22-spr.json.gz", import.meta.url).pathname;
  await visit(pageOf("tls-published", published), "#view=tls", async (page) => {
    const first = await page.$$eval("main h2 ~ *", (all) => all.slice(0, 2).map((e) => e.className));
    assert.deepEqual(first, ["screen", "chart svg-chart"]);
    const answer = await text(page, ".screen");
    assert.match(answer, /server CPU/);
    assert.ok(answer.trimEnd().split("\n").length <= 40, answer);
    assert.ok(await page.$$eval("main svg rect", (all) => all.length) > 3);
    for (const width of [1280, 480]) {
      await page.setViewportSize({ width, height: 800 });
      assert.ok(await page.evaluate(() => document.documentElement.scrollWidth <= window.innerWidth), String(width));
    }
  });
  await visit(pageOf("records", records()), "", async (page) => {
    assert.equal(await page.$$eval("main figure polyline", (all) => all.length), 1);
  });
});

const EVIL = `</script><script>window.hit=1</script><img src=x onerror="window.hit=2">\u202Ereversed`;

test("hostile text stays text in the view tls", async () => {
  const bad = (run) => {
    Object.assign(run, { started: EVIL, span: EVIL, command: [EVIL] });
    run.host.cpu.name = EVIL;
    const labels = new Map(run.stacks.map((s) => [s.label, `${s.label}${EVIL}`]));
    run.stacks.forEach((s) => Object.assign(s, { label: labels.get(s.label), name: EVIL, path: EVIL, id: EVIL }));
    for (const row of run.handshakes ?? run.records ?? run.primitives) {
      row.stack = labels.get(row.stack);
      if (row.reason) row.reason = EVIL;
      if (row.checks?.length) row.checks = [EVIL];
    }
    run.lines?.forEach((l) => { l.stack = labels.get(l.stack); });
    return run;
  };
  await visit(pageOf("tls-hostile", bad(handshakes()), bad(records()), bad(primitives())), "", async (page) => {
    const found = await page.evaluate(() => ({
      hit: window.hit, images: document.images.length,
      scripts: [...document.scripts].filter((s) => !s.type).length,
      text: document.body.innerText,
    }));
    assert.deepEqual({ ...found, text: undefined }, { hit: undefined, images: 0, scripts: 2, text: undefined });
    assert.ok(found.text.includes("<img src=x onerror="), "shown as it is");
    assert.ok(!/[\u202A-\u202E]/.test(found.text), "nothing that rearranges text");
  });
});
