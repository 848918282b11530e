// The site of an archive: its size with a hundred machines, how soon it is painted from disk, and what it shows.

import { after, before, test } from "node:test";
import assert from "node:assert/strict";
import { execFileSync } from "node:child_process";
import { mkdtempSync, readFileSync, readdirSync, rmSync, statSync, writeFileSync } from "node:fs";
import { createRequire } from "node:module";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { pathToFileURL } from "node:url";
import { drawn, launch } from "../lib/browser.mjs";
import { made, write } from "../lib/made.mjs";
import { program } from "../lib/report.mjs";

const MACHINES = 100;
const MOST_BYTES = 10e6;
const MOST_MS = 300;
const LIBRARIES = ["openssl", "botan", "wolfssl", "aws-lc", "libgcrypt", "nettle", "mbedtls"].flatMap((name) => [[name, "3.9"], [name, "3.10"]]);
const ALGORITHMS = ["aes-128-gcm", "aes-256-gcm", "aes-256-ctr", "chacha20-poly1305", "aes-128-xts", "aes-256-xts", "aes-256-cbc"];

let browser;
let directory;
let site;

const call = (...words) => execFileSync(program(), words, { stdio: ["ignore", "pipe", "ignore"] });

function archive() {
  const store = join(directory, "fleet.db");
  for (let n = 0; n < MACHINES; n++) {
    const record = made({ libraries: LIBRARIES, algorithms: ALGORITHMS, sizes: [16, 1024, 8192, 16384], samples: 12, evidence: false, seed: n + 1 });
    record.started = new Date(Date.UTC(2026, 0, 1) + n * 3600e3).toISOString().replace(".000", "");
    const file = write(record, join(directory, "record.json"));
    // Made-up records are doubtful, and the exit code says so.
    try { call("archive", "add", "-q", store, file, "--machine", `type-${String(n).padStart(3, "0")}`); } catch (e) { assert.equal(e.status, 1, String(e)); }
  }
  const prices = join(directory, "prices.csv");
  writeFileSync(prices, `type,region,date,price_per_hour,currency\n${Array.from({ length: MACHINES }, (_, n) => `type-${String(n).padStart(3, "0")},,2026-01-01,${(0.05 + n / 100).toFixed(2)},USD`).join("\n")}\n`);
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
async function visit(fragment, look) {
  const page = await browser.context.newPage();
  const home = pathToFileURL(site).href;
  const faults = [];
  page.on("console", (message) => faults.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`exception: ${error}`));
  await page.route("**/*", (route) => {
    const wanted = route.request().url();
    if (wanted.startsWith(`${home}/`) || wanted === "data:,") return route.continue();
    faults.push(`request: ${wanted}`);
    return route.abort();
  });
  await page.goto(`${home}/index.html${fragment}`);
  await drawn(page);
  await look(page);
  assert.deepEqual(faults, []);
  await page.close();
}

test("the site of a hundred machines is small", () => {
  const files = readdirSync(site, { recursive: true }).map((name) => statSync(join(site, name))).filter((s) => s.isFile());
  const bytes = files.reduce((sum, s) => sum + s.size, 0);
  console.log(`${MACHINES} machines, ${LIBRARIES.length * ALGORITHMS.length * 8} cases each: ${bytes} bytes`);
  assert.ok(bytes <= MOST_BYTES, `${bytes}`);
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
    await page.selectOption("label:has-text('In') select", { index: 2 });
    await page.waitForFunction(() => performance.getEntriesByName("view").length > 1);
    const first = await page.$eval("main tbody tr th", (th) => th.innerText);
    assert.ok(first.startsWith("type-000") && first.includes("0.05 USD/h"), first);
  });
});

test("an address leads to what was looked at", async () => {
  let fragment;
  await visit("", async (page) => {
    await page.selectOption("label:has-text('Algorithm') select", { label: "chacha20-poly1305" });
    await page.waitForFunction(() => performance.getEntriesByName("view").length > 1);
    fragment = await page.evaluate(() => location.hash);
  });
  await visit(fragment, async (page) => {
    assert.equal(await page.$eval("label:has-text('Algorithm') select", (s) => s.selectedOptions[0].textContent), "chacha20-poly1305");
  });
});

test("axe finds nothing in the site", async () => {
  const axe = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
  await visit("", async (page) => {
    await page.evaluate(axe);
    const { violations } = await page.evaluate(() => window.axe.run(document, { runOnly: ["wcag2a", "wcag2aa", "best-practice"] }));
    assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes[0].html.slice(0, 160)}`), []);
  });
});
