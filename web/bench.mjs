// usage: node bench.mjs [CASES]
// What the page costs with many cases: size of the file, first paint, first chart, a change of a
// filter. Made-up records (lib/made.mjs): 20,000 measured cases with 36 samples each unless told
// otherwise. Prints figures; passes no judgement.

import { mkdtempSync, rmSync, statSync } from "node:fs";
import { tmpdir } from "node:os";
import { join } from "node:path";
import { launch, open } from "./lib/browser.mjs";
import { made, write } from "./lib/made.mjs";
import { report } from "./lib/report.mjs";

const OPENINGS = 15;
const CHANGES = 60;
const wanted = Number(process.argv[2] ?? 20_000);

// 28 libraries, 30 algorithms, 6 sizes, 2 directions and 2 tiers are 20,160 cases.
const SIZES = [16, 64, 256, 1024, 8192, 65536];
const MODES = ["gcm", "ctr", "cbc", "xts", "ccm", "ocb", "eax", "siv", "gcm-siv", "ofb"];
const algorithms = ["aes-128", "aes-192", "aes-256"].flatMap((c) => MODES.map((m) => `${c}-${m}`));
const each = algorithms.length * SIZES.length * 4;
const libraries = Array.from({ length: Math.ceil(wanted / each) }, (_, n) => [`library${n % 14}`, `${1 + Math.floor(n / 14)}.${n}.0`]);

const directory = mkdtempSync(join(tmpdir(), "ciphermark-bench-"));
const record = made({ libraries, algorithms, sizes: SIZES, tiers: ["native", "aesni"] });
record.measurements.length = Math.min(wanted, record.measurements.length);
const raw = record.measurements.reduce((n, m) => n + m.raw.ticks.length, 0);
const file = report([write(record, join(directory, "synthetic.json.gz"))], join(directory, "synthetic.html"));

const browser = await launch();
const paints = [];
for (let n = 0; n < OPENINGS; n++) {
  const { page, faults } = await open(browser.context, file);
  if (faults.length) throw new Error(faults.join("\n"));
  paints.push(await page.evaluate(() => new Promise((done) => {
    const first = performance.getEntriesByName("first-view")[0].startTime;
    new PerformanceObserver((list) => {
      const paint = list.getEntriesByName("first-contentful-paint")[0];
      if (paint) done({ paint: paint.startTime, view: first });
    }).observe({ type: "paint", buffered: true });
  })));
  await page.close();
}

// From the input's event to the end of the frame in which the new view was painted.
async function changes(fragment, act) {
  const { page } = await open(browser.context, file, fragment);
  await page.bringToFront();
  const times = [];
  for (let n = 0; n < CHANGES; n++) {
    // As text: the page's policy forbids it to make code, and the driver evaluates from outside.
    times.push(await page.evaluate(`new Promise((done) => {
      const n = ${n};
      const from = performance.now();
      ${act}
      // Views are drawn in a microtask; a task that a frame's callback asks for comes after its paint.
      requestAnimationFrame(() => setTimeout(() => done(performance.now() - from)));
    })`));
  }
  await page.close();
  return times;
}

const pick = (id, values) => `const s = document.getElementById("f-${id}"); s.value = ${JSON.stringify(values)}[n % ${values.length}]; s.dispatchEvent(new Event("change"));`;
const tick = 'const t = document.querySelectorAll(".ticks")[KIND].querySelectorAll("input"); t[n % t.length].click();';
const found = {
  "speed: direction": await changes("", pick("direction", ["decrypt", "encrypt"])),
  "speed: one algorithm more or less": await changes("", tick.replace("KIND", "1")),
  "speed: one library more or less": await changes("", tick.replace("KIND", "2")),
  "speed: size at which rows are ranked": await changes("", pick("size", SIZES.map(String))),
  "heat map: size, all algorithms and libraries": await changes("#view=heat", pick("size", SIZES.map(String))),
  "heat map: tier": await changes("#view=heat", pick("tier", ["aesni", "native"])),
  "tiers: direction": await changes("#view=tiers", pick("direction", ["decrypt", "encrypt"])),
  "costs: direction, all algorithms": await changes("#view=costs", pick("direction", ["decrypt", "encrypt"])),
  "another view: speed, heat map": await changes("", 'location.hash = n % 2 ? "#" : "#view=heat";'),
};
await browser.close();

const quantile = (values, part) => [...values].sort((a, b) => a - b)[Math.ceil(part * values.length) - 1];
const line = (name, values) => console.log(`${name.padEnd(48)} ${quantile(values, 0.5).toFixed(0).padStart(6)} ms  ${quantile(values, 0.95).toFixed(0).padStart(6)} ms  ${Math.max(...values).toFixed(0).padStart(6)} ms`);
console.log(`${record.measurements.length} synthetic cases, ${raw} raw samples: ${(statSync(file).size / 1e6).toFixed(2)} MB`);
console.log(`\n${"".padEnd(48)} ${"median".padStart(9)}  ${"p95".padStart(9)}  ${"most".padStart(9)}`);
line(`first contentful paint (${OPENINGS} openings)`, paints.map((p) => p.paint));
line("first chart and table drawn", paints.map((p) => p.view));
console.log(`\nfrom a filter's change to the painted frame (${CHANGES} times each)`);
for (const [name, values] of Object.entries(found)) line(name, values);
line("all of them", Object.values(found).flat());
rmSync(directory, { recursive: true });
