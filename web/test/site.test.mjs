// The site of an archive: its size with a hundred machines, how soon it is painted from disk, and what it shows.

import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { change, launch, open } from "../lib/browser.mjs";
import { made, write } from "../lib/made.mjs";
import { program } from "../lib/report.mjs";

const MACHINES = 100;
const MOST_BYTES = 10e6;
const MOST_MS = 300;
const LIBRARIES = ["openssl", "botan", "wolfssl", "aws-lc", "libgcrypt", "nettle", "mbedtls"].flatMap((name) => [[name, "3.9"], [name, "3.10"]]);
const SIZES = [16, 1024, 8192, 16384];
const ALGORITHMS = ["aes-128-gcm", "aes-256-gcm", "aes-256-ctr", "chacha20-poly1305", "aes-128-xts", "aes-256-xts", "aes-256-cbc"];

let browser;
let directory;
let site;

const call = (...words) => execFileSync(program(), words, { stdio: ["ignore", "pipe", "ignore"] });

// Adds a record; made-up ones are doubtful, and the exit code says so.
function add(store, record, machine) {
  const file = write(record, join(directory, "record.json"));
  try { call("archive", "add", "-q", store, file, "--machine", machine); } catch (e) { assert.equal(e.status, 1, String(e)); }
}

function archive() {
  const store = join(directory, "fleet.db");
  const name = (n) => `type-${String(n).padStart(3, "0")}`;
  for (let n = 0; n < MACHINES; n++) {
    const record = made({ libraries: LIBRARIES, algorithms: ALGORITHMS, sizes: SIZES, samples: 12, evidence: false, seed: n + 1 });
    record.started = new Date(Date.UTC(2026, 0, 1) + n * 3600e3).toISOString().replace(".000", "");
    add(store, record, name(n));
  }
  const prices = join(directory, "prices.csv");
  writeFileSync(prices, `type,region,date,price_per_hour,currency\n${Array.from({ length: MACHINES }, (_, n) => `${name(n)},,2026-01-01,${(0.05 + n / 100).toFixed(2)},USD`).join("\n")}\n`);
  site = join(directory, "site");
  call("report", "--from", store, "--doubtful", "-o", site, "--records-at", "https://example.com/records", "--prices", prices);
}

before(async () => {
  directory = mkdtempSync(join(tmpdir(), "ciphermark-site-"));
  archive();
  browser = await launch();
});

after(async () => {
  await browser?.close();
  rmSync(directory, { recursive: true, force: true });
});

// Opens the site's page; it may load its own files and nothing else.
async function visit(fragment, look, of = site) {
  const { page, faults } = await open(browser.context, join(of, "index.html"), fragment);
  await look(page);
  assert.deepEqual(faults, []);
  await page.close();
}

test("the site of a hundred machines is small", () => {
  const files = readdirSync(site, { recursive: true }).map((name) => statSync(join(site, name))).filter((s) => s.isFile());
  const bytes = files.reduce((sum, s) => sum + s.size, 0);
  const cases = LIBRARIES.length * ALGORITHMS.length * SIZES.length * 2;
  console.log(`${MACHINES} machines, ${cases} cases each: ${bytes} bytes, ${(bytes / MACHINES / cases).toFixed(2)} a figure`);
  // As many as a survey of all algorithms has.
  assert.ok((bytes / cases) * 15_000 <= MOST_BYTES, `${bytes}`);
});

test("the page is painted soon after it is opened from disk", async () => {
  const paints = [];
  for (let n = 0; n < 7; n++) {
    await visit("", async (page) => {
      paints.push(await page.evaluate(() => new Promise((done) => {
        new PerformanceObserver((list) => {
          const paint = list.getEntriesByName("first-contentful-paint")[0];
          if (paint) done(paint.startTime);
        }).observe({ type: "paint", buffered: true });
      })));
    });
  }
  paints.sort((a, b) => a - b);
  console.log(`first paint: ${paints.map((p) => p.toFixed(0)).join(", ")} ms`);
  assert.ok(paints[3] <= MOST_MS, `${paints}`);
});

test("machines are rows, releases are columns in their order, and each figure links to its record", async () => {
  await visit("", async (page) => {
    assert.equal(await page.$$eval("main tbody tr", (all) => all.length), MACHINES);
    const heads = await page.$$eval("main thead th", (all) => all.map((th) => th.innerText.replace(/\s+/g, " ")));
    assert.equal(heads.length, 1 + LIBRARIES.length);
    assert.ok(heads.indexOf("botan 3.9") < heads.indexOf("botan 3.10"), String(heads));
    const links = await page.$$eval("main tbody a", (all) => all.map((a) => a.href));
    assert.equal(links.length, MACHINES * LIBRARIES.length);
    assert.ok(links.every((link) => /^https:\/\/example\.com\/records\/[0-9a-f]{64}\.json\.gz$/.test(link)));
  });
});

test("prices put the cheapest machine first", async () => {
  await visit("", async (page) => {
    await change(page, () => page.selectOption("label:has-text('In') select", { index: 2 }));
    const first = await page.$eval("main tbody tr th", (th) => th.innerText);
    assert.ok(first.startsWith("type-000") && first.includes("0.05 USD/h"), first);
  });
});

test("an address leads to what was looked at", async () => {
  let fragment;
  await visit("", async (page) => {
    await change(page, () => page.selectOption("label:has-text('Algorithm') select", { label: "chacha20-poly1305" }));
    await change(page, () => page.selectOption("label:has-text('Case') select", { label: "decrypt, message, native, 16K" }));
    fragment = await page.evaluate(() => location.hash);
  });
  await visit(fragment, async (page) => {
    const chosen = (label) => page.$eval(`label:has-text('${label}') select`, (s) => s.selectedOptions[0].textContent);
    assert.deepEqual([await chosen("Algorithm"), await chosen("Case")], ["chacha20-poly1305", "decrypt, message, native, 16K"]);
  });
});

test("figures are those that the program prints, and a few machines have a row for each release", async () => {
  const [store, small] = [join(directory, "small.db"), join(directory, "small")];
  const record = made({ libraries: LIBRARIES, algorithms: ["aes-256-gcm"], sizes: SIZES, samples: 12, evidence: false, seed: 7 });
  add(store, record, "one");
  call("report", "--from", store, "--doubtful", "-o", small);
  const shown = JSON.parse(call("rank", "--from", store, "--doubtful", "-a", "aes-256-gcm", "-s", "8K", "--rows", "all", "--format", "json"));
  const speeds = shown.machines[0].ranking.standings[0].rows.map((row) => [`${row.library.name} ${row.library.version}`, row.mb_per_s]);
  assert.equal(speeds.length, LIBRARIES.length);
  await visit("", async (page) => {
    const rows = await page.$$eval("main tbody tr", (all) => all.map((tr) => [...tr.cells].map((c) => c.innerText)));
    assert.equal(await page.$eval("main thead", (head) => head.innerText.includes("one")), true);
    assert.equal(rows[0][0], speeds.reduce((a, b) => (b[1] > a[1] ? b : a))[0]);
    for (const [release, speed] of speeds) {
      const figure = Number(rows.find(([name]) => name === release)[1].replace(/[^0-9.]/g, ""));
      assert.ok(Math.abs(figure / speed - 1) < 0.006, `${release}: ${figure} ${speed}`);
    }
  }, small);
});

test("handshakes are told in operations a second, and a server's first", async () => {
  const [store, tls] = [join(directory, "tls.db"), join(directory, "tls")];
  call("archive", "add", "-q", store, new URL("../../records/tls-handshake-2026-11-22-spr.json.gz", import.meta.url).pathname, "--machine", "one");
  call("report", "--from", store, "-o", tls);
  await visit("#algorithm=1.3+x25519+p256+full&in=operations%2Fs", async (page) => {
    const chosen = (label) => page.$eval(`label:has-text('${label}') select`, (s) => s.selectedOptions[0].textContent);
    assert.deepEqual([await chosen("Case"), await chosen("In")], ["server, handshake, native, hot", "operations/s"]);
    assert.ok((await page.evaluate(() => location.hash)).endsWith("in=operations%2Fs"));
  }, tls);
});

test("axe finds nothing in the site", async () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  await visit("", async (page) => {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "best-practice"] }));
    assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 160)}`), []);
  });
});
