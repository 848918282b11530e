// What the tests share: one browser, and pages made of records for them.

import { after, before } from "node:test";
import assert from "node:assert/strict";
import { mkdtempSync, readFileSync, rmSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, open } from "../lib/browser.mjs";
import { made, verdict, without, write } from "../lib/made.mjs";
import { advise, report, repository } from "../lib/report.mjs";

let browser;
let directory;

before(async () => {
  directory = mkdtempSync(join(tmpdir(), "ciphermark-page-"));
  browser = await launch();
});

after(async () => {
  await browser?.close();
  rmSync(directory, { recursive: true, force: true });
});

export const LIBRARIES = [["openssl", "3.0.22"], ["openssl", "4.0.1"], ["botan", "3.8"], ["wolfssl", "5.9"]];
export const ALGORITHMS = ["aes-128-gcm", "aes-256-gcm", "aes-256-ctr", "chacha20-poly1305"];

// A record with every state, several tiers and models, fitted lines and instruction counts.
export function whole(changes = {}) {
  const record = made({ libraries: LIBRARIES, algorithms: ALGORITHMS, sizes: [16, 256, 1024, 8192], tiers: ["native", "aesni", "noaes"], models: ["message", "rekey"], samples: 24, ...changes });
  const of = (library, algorithm) => record.measurements.filter((m) => m.library.name === library && m.algorithm === algorithm);
  of("botan", "chacha20-poly1305").forEach((m) => without(m, "refused", "round-trip: 12 bytes differ"));
  of("wolfssl", "aes-256-ctr").forEach((m) => without(m, "unsupported", "wolfSSL has no aes-256-ctr"));
  of("wolfssl", "aes-128-gcm").filter((m) => m.size === 16).forEach((m) => without(m, "failed", "worker ended by signal 11"));
  // A figure from elsewhere, faster than anything that was measured.
  const foreign = structuredClone(of("openssl", "aes-256-gcm").find((m) => m.size === 8192 && m.tier === "native" && m.model === "message"));
  without(foreign, "imported", null);
  const exactly = { median: 100, low: 100, high: 100 };
  Object.assign(foreign, { library: { name: "blog", version: "", path: "", id: "" }, imported: { source: "a blog of 2019", machine: "i5" }, ns_per_op: exactly, ns_per_byte: 100 / 8192, mb_per_s: 81920 });
  record.measurements.push(foreign);
  const judged = (name, algorithm, tier, ...found) => verdict(of(name, algorithm).at(-1).library, algorithm, tier, ...found);
  record.leaks = ALGORITHMS.flatMap((algorithm) => [
    judged("openssl", algorithm, "native"),
    judged("wolfssl", algorithm, "native", ["wc_AesEncrypt"]),
    judged("botan", algorithm, "noaes", ["Botan::ghash"], false),
  ]);
  return record;
}

const pages = new Map();

// The page of these records, made once for each name.
export function pageOf(name, ...records) {
  if (!pages.has(name)) {
    const files = records.map((r, n) => (typeof r === "string" ? r : write(r, join(directory, `${name}${n || ""}.json`))));
    pages.set(name, report(files, join(directory, `${name}.html`)));
  }
  return pages.get(name);
}

// Opens a page for `look`, and holds that it did nothing that it should not.
export async function visit(file, fragment, look) {
  const { page, faults, url } = await open(browser.context, file, fragment);
  try {
    await look(page, url);
    assert.deepEqual(faults, []);
  } finally {
    await page.close();
  }
}

// A record of pages as the format's sample has it, and what is advised from it; `changed` may change both.
export const STORE = JSON.parse(readFileSync(repository("crates/record/tests/at-rest.json")));

export function storePage(name, changed = (store, advice) => [store, advice]) {
  if (!pages.has(name)) {
    const advice = advise([write(STORE, join(directory, `${name}-asked.json`)), "--for", "postgres"]);
    const files = changed(structuredClone(STORE), advice).map((r, n) => write(r, join(directory, `${name}${n || ""}.json`)));
    pages.set(name, report(files, join(directory, `${name}.html`)));
  }
  return pages.get(name);
}

export const SHEETS = ["stores", "advice"];

export const VIEWS = ["speed", "heat", "tiers", "costs", "instructions", "secrets", "samples", "problems", "machine"];

export const rows = (page, selector = "main table") => page.$$eval(`${selector} tbody tr`, (all) => all.map((tr) => [...tr.cells].map((c) => c.textContent)));
