// A record may come from a stranger: nothing in it becomes markup or script, and the page asks
// nobody for anything.

import { test } from "node:test";
import assert from "node:assert/strict";
import { readFileSync } from "node:fs";
import { VIEWS, pageOf, visit, whole } from "./support.mjs";

const EVIL = `</script><script>window.hit=1</script><img src=x onerror="window.hit=2">'"\`\${window.hit=3}&lt;\u202Ereversed\u2066\u0000`;

// Every text of a record that its reader does not check, made hostile.
function hostile() {
  const record = whole();
  const bad = (name) => `${name}${EVIL}`;
  record.tool.name = record.tool.version = record.started = EVIL;
  record.tool.command = [EVIL];
  for (const key of ["name", "vendor", "microcode", "smt", "governor", "thread_siblings", "frequency_driver"]) record.host.cpu[key] = EVIL;
  record.host.cpu.features = [EVIL];
  record.host.cpu.caches.forEach((c) => { c.kind = EVIL; });
  record.host.os = record.host.machine = record.host.hypervisor = record.host.kernel.release = record.host.clock.source = EVIL;
  record.host.kernel.mitigations = [{ name: EVIL, state: EVIL }];
  const rename = (l) => Object.assign(l, { name: bad(l.name), version: bad(l.version), path: bad(l.path), id: bad(l.id) });
  const libraries = new Set([...record.libraries, ...record.measurements.map((m) => m.library)]);
  libraries.forEach(rename);
  record.libraries.forEach((l) => { l.build = [EVIL]; l.instructions = [EVIL]; });
  record.libraries.at(-1).error = EVIL;
  record.measurements.forEach((m) => {
    m.algorithm = bad(m.algorithm);
    m.warning = EVIL;
    if (m.state !== "measured") m.reason = EVIL;
    m.checks.forEach((c) => { c.name = EVIL; });
    m.evidence.clock = m.evidence.cycles = EVIL;
  });
  for (const entry of [...record.fits, ...record.executed]) entry.algorithm = bad(entry.algorithm);
  record.executed.forEach((e) => {
    e.reason = e.excepted = EVIL;
    e.instruction_sets = [EVIL];
    e.functions.forEach((f) => { f.function = f.object = EVIL; });
    e.classes.forEach((c) => { c.class = EVIL; });
  });
  return record;
}

for (const view of VIEWS) {
  test(`hostile text stays text in the view ${view}`, async () => {
    await visit(pageOf("hostile", hostile()), `#view=${view}`, async (page) => {
      for (const details of await page.$$("main details")) await details.evaluate((d) => { d.open = true; });
      const found = await page.evaluate(() => ({
        hit: window.hit, images: document.images.length,
        scripts: [...document.scripts].filter((s) => !s.type).length,
        handlers: [...document.querySelectorAll("*")].filter((e) => [...e.attributes].some((a) => a.name.startsWith("on"))).length,
        links: [...document.querySelectorAll("a")].map((a) => a.getAttribute("href")).filter((href) => !href.startsWith("#")),
        text: document.body.innerText,
      }));
      assert.deepEqual({ ...found, text: undefined }, { hit: undefined, images: 0, scripts: 2, handlers: 0, links: [], text: undefined });
      assert.ok(found.text.includes("<img src=x onerror="), "shown as it is");
      assert.ok(!/[\u202A-\u202E\u2066-\u2069\u0000]/.test(found.text), "nothing that rearranges text");
    });
  });
}

test("the names of files are hostile too", async () => {
  const name = `<img src=x onerror=alert(1)>"'&`;
  await visit(pageOf(name, whole()), "", async (page) => {
    assert.ok((await page.innerText(".records")).includes("<img src=x onerror=alert(1)>"));
    assert.ok((await page.title()).includes("<img src=x"));
  });
});

test("a fragment cannot bring in markup either", async () => {
  await visit(pageOf("whole", whole()), `#view=samples&case=${encodeURIComponent(EVIL)}&library=${encodeURIComponent(EVIL)}&theme=${encodeURIComponent(EVIL)}`, async (page) => {
    assert.equal(await page.evaluate(() => window.hit), undefined);
    assert.equal(await page.evaluate(() => document.images.length), 0);
  });
});

test("the page's policy lets nothing be loaded and no other script run", async () => {
  const file = pageOf("whole", whole());
  assert.match(readFileSync(file, "utf8"), /http-equiv="Content-Security-Policy" content="default-src &#39;none&#39;; script-src &#39;sha256-/);
  const { launch } = await import("../lib/browser.mjs");
  const browser = await launch();
  const page = await browser.context.newPage();
  const refused = [];
  page.on("console", (m) => refused.push(m.text()));
  await page.goto(`file://${file}`);
  await page.evaluate(() => {
    const script = document.createElement("script");
    script.textContent = "window.hit = 1";
    document.body.append(script);
    const image = document.createElement("img");
    image.src = "file:///etc/hostname";
    document.body.append(image);
  });
  await page.waitForTimeout(200);
  assert.equal(await page.evaluate(() => window.hit), undefined);
  assert.equal(refused.filter((m) => m.includes("Content Security Policy")).length, 2, refused.join("\n"));
  await browser.close();
});
