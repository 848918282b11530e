// Filters, the fragment that holds them, and the keyboard.

import { test } from "node:test";
import assert from "node:assert/strict";
import { change } from "../lib/browser.mjs";
import { pageOf, rows, visit, whole } from "./support.mjs";

const file = () => pageOf("whole", whole());
const fragment = (page) => page.evaluate(() => location.hash);
const names = async (page) => (await rows(page)).map((r) => r[0]);

test("what is chosen stands in the fragment, and the fragment alone brings it back", async () => {
  let link;
  let shown;
  await visit(file(), "", async (page) => {
    await change(page, () => page.selectOption("#f-direction", "decrypt"));
    await change(page, () => page.selectOption("#f-tier", "aesni"));
    await change(page, () => page.check("input[name=unit][value=cpb]", { force: true }));
    await page.click("#f-library");
    await change(page, () => page.uncheck("label:has-text('botan@3.8') input"));
    link = await fragment(page);
    shown = await page.innerText("main");
  });
  for (const part of ["direction=decrypt", "tier=aesni", "unit=cpb", "library=blog%20(imported),openssl@3.0.22,openssl@4.0.1,wolfssl@5.9"]) assert.ok(link.includes(part), link);
  await visit(file(), link, async (page) => {
    assert.equal(await page.innerText("main"), shown);
    assert.equal(await page.inputValue("#f-direction"), "decrypt");
    assert.ok(!(await names(page)).includes("botan@3.8"));
  });
});

test("a change of the fragment by hand or by the back button changes the view", async () => {
  await visit(file(), "", async (page) => {
    await change(page, () => page.click("nav >> text=Heat map"));
    assert.match(await fragment(page), /view=heat/);
    await change(page, () => page.goBack());
    assert.match(await page.innerText("main h2"), /^Speed/);
    await change(page, () => page.evaluate(() => { location.hash = "#view=machine"; }));
    assert.match(await page.innerText("main h2"), /^Machine/);
  });
});

test("filters stay when another view is chosen", async () => {
  await visit(file(), "#library=wolfssl@5.9&direction=decrypt", async (page) => {
    await change(page, () => page.click("nav >> text=Heat map"));
    assert.deepEqual(await page.$$eval("th.steep", (all) => all.map((th) => th.textContent)), ["wolfssl@5.9"]);
    assert.match(await page.innerText("main h2"), /decrypt/);
  });
});

test("names of another page in a fragment are passed over", async () => {
  await visit(file(), "#library=nobody@1&tier=baseline&size=77&unit=furlongs&view=nothing&case=a|b&%zz=1", async (page) => {
    assert.equal((await names(page)).length, 5);
  });
});

test("a list is searched, and what is found is chosen, without a mouse", async () => {
  await visit(file(), "", async (page) => {
    await page.focus("#f-algorithm");
    await page.keyboard.press("Enter");
    await page.keyboard.press("Tab");
    await page.keyboard.type("gcm");
    await change(page, () => page.keyboard.press("Enter"));
    assert.match(await fragment(page), /algorithm=aes-128-gcm,aes-256-gcm/);
    await page.keyboard.press("Escape");
    assert.equal(await page.$eval("details.pick[open]", () => true).catch(() => false), false);
    assert.equal(await page.evaluate(() => document.activeElement.id), "f-algorithm");
  });
});

test("every control and link is reached by Tab, in the order in which they stand", async () => {
  await visit(file(), "", async (page) => {
    const reached = [];
    for (let n = 0; n < 60; n++) {
      await page.keyboard.press("Tab");
      reached.push(await page.evaluate(() => { const a = document.activeElement; return a.id || a.textContent.trim() || a.getAttribute("aria-label") || a.className; }));
      if (reached.at(-1).startsWith("wolfssl@5.9")) break;
    }
    const order = ["skip", "f-theme", "Print", "Speed", "Machine", "f-algorithm", "f-library", "f-direction", "f-tier", "f-size", "Reset", "wolfssl@5.9"].map((name) => reached.findIndex((r) => r.startsWith(name)));
    assert.ok(order.every((place, n) => place >= 0 && (n === 0 || place > order[n - 1])), `${order}: ${reached.join(" / ")}`);
  });
});

test("the chart's cursor goes by arrow keys, and what it shows is said", async () => {
  await visit(file(), "", async (page) => {
    await page.focus(".chart");
    await page.keyboard.press("ArrowRight");
    await page.waitForFunction(() => document.querySelector("#said").textContent.startsWith("16 bytes"));
    assert.match(await page.innerText(".tip"), /^16 B, MB\/s/);
    await page.keyboard.press("End");
    assert.match(await page.innerText(".tip"), /^8 KiB/);
    assert.match(await page.innerText(".tip"), /±[\d.]+ %/);
    await page.keyboard.press("Escape");
    assert.equal(await page.isVisible(".tip"), false);
  });
});

test("the mouse over the chart shows numbers with their intervals", async () => {
  await visit(file(), "", async (page) => {
    const box = await page.locator(".u-over").boundingBox();
    await page.mouse.move(box.x + box.width / 2, box.y + box.height / 2);
    await page.waitForSelector(".tip:not([hidden])");
    assert.match(await page.innerText(".tip"), /openssl@4\.0\.1/);
    assert.match(await page.innerText(".tip"), /±[\d.]+ %/);
  });
});

test("tables sort by a column, both ways, and say so", async () => {
  await visit(file(), "", async (page) => {
    const column = async () => (await rows(page)).filter((r) => r[1] !== "").map((r) => Number(r[1]));
    await page.click("#main thead >> text=16");
    const down = await column();
    assert.deepEqual(down, [...down].sort((a, b) => b - a));
    assert.equal(await page.getAttribute("#main th:has-text('16')", "aria-sort"), "descending");
    await page.click("#main thead >> text=16");
    assert.deepEqual(await column(), [...down].reverse());
  });
});

test("colours follow the system, and the switch overrules it", async () => {
  const paper = (page) => page.evaluate(() => getComputedStyle(document.body).backgroundColor);
  await visit(file(), "", async (page) => {
    await page.emulateMedia({ colorScheme: "light" });
    const light = await paper(page);
    await page.emulateMedia({ colorScheme: "dark" });
    const dark = await paper(page);
    assert.notEqual(light, dark);
    await change(page, () => page.selectOption("#f-theme", "light"));
    assert.equal(await paper(page), light);
    await page.emulateMedia({ colorScheme: "light" });
    await change(page, () => page.selectOption("#f-theme", "dark"));
    assert.equal(await paper(page), dark);
    assert.match(await fragment(page), /theme=dark/);
  });
});

test("all tiers are of the view that tells them apart, and no other mixes them", async () => {
  await visit(file(), "#tier=all&view=heat", async (page) => {
    assert.equal(await page.inputValue("#f-tier"), "native");
    assert.match(await page.innerText("main h2"), /native/);
  });
  await visit(file(), "#tier=all", async (page) => assert.ok((await names(page)).some((name) => name.includes("noaes"))));
});

test("the samples of a library whose name has a bar in it are its own", async () => {
  const record = whole();
  record.libraries.concat(record.measurements.map((m) => m.library), record.fits.map((f) => f.library), record.executed.map((e) => e.library)).filter((l) => l.name === "botan").forEach((l) => { l.name = "bo|t%41n"; });
  await visit(pageOf("bar", record), "", async (page) => {
    await change(page, () => page.click("main tbody a:has-text('bo|t%41n')"));
    assert.match(await page.innerText("main dl.facts"), /bo\|t%41n 3\.8/);
  });
});
