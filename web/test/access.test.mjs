// Rules of accessibility that a program can check (WCAG 2.2 A and AA, by axe-core), in every view,
// light and dark; and printing.

import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { createRequire } from "node:module";
import { SHEETS, VIEWS, pageOf, storePage, visit, whole } from "./support.mjs";

const AXE = readFileSync(createRequire(import.meta.url).resolve("axe-core/axe.min.js"), "utf8");
const TAGS = ["wcag2a", "wcag2aa", "wcag21a", "wcag21aa", "wcag22aa", "best-practice"];

for (const theme of ["light", "dark"]) {
  for (const view of [...VIEWS, ...SHEETS]) {
    test(`axe finds nothing in the view ${view}, ${theme}`, async () => {
      await visit(SHEETS.includes(view) ? storePage("store") : pageOf("whole", whole()), `#view=${view}&theme=${theme}`, async (page) => {
        // Not as a script element: the page's own policy would refuse that, as it should.
        await page.evaluate(AXE);
        const { violations } = await page.evaluate((tags) => window.axe.run(document, { runOnly: tags }), TAGS);
        assert.deepEqual(violations.map((v) => `${v.id}: ${v.nodes.length} times, as in ${v.nodes[0].html.slice(0, 160)} ${v.nodes[0].any[0]?.message ?? ""}`), []);
      });
    });
  }
}

test("every chart has a name and its numbers in a table", async () => {
  for (const view of ["speed", "tiers", "costs", "samples"]) {
    await visit(pageOf("whole", whole()), `#view=${view}`, async (page) => {
      const unnamed = await page.$$eval("main figure svg, main .chart[role=img]", (all) => all.filter((e) => e.getAttribute("role") !== "img" || !e.getAttribute("aria-label")).length);
      assert.equal(unnamed, 0, view);
      assert.ok((await page.$$eval("main table tbody tr", (all) => all.length)) > 1, view);
    });
  }
});

test("print leaves out what only a screen can use", async () => {
  await visit(pageOf("whole", whole()), "", async (page) => {
    await page.emulateMedia({ media: "print" });
    for (const selector of ["nav", "#filters", "#tools"]) assert.equal(await page.isVisible(selector), false, selector);
    assert.ok(await page.isVisible("main table"));
    const pdf = await page.pdf({ format: "A4" });
    assert.ok(pdf.length > 10_000);
  });
});
