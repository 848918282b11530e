// usage: node screenshots.mjs PAGE.html DIRECTORY [NAME=FRAGMENT …]
// Pictures of views, each in light and dark: DIRECTORY/NAME-light.png and -dark.png.

import { mkdir } from "node:fs/promises";
import { resolve, join } from "node:path";
import { launch, open } from "./lib/browser.mjs";

const [file, directory, ...views] = process.argv.slice(2);
if (!file || !directory) {
  console.error("usage: scripts/screenshots PAGE.html DIRECTORY [NAME=FRAGMENT …]\n\n  scripts/screenshots run.html docs/images 'speed=#' 'heat=#view=heat&size=8192'");
  process.exit(2);
}
const ALL = ["speed", "heat", "tiers", "costs", "instructions", "samples", "problems", "machine"].map((v) => `${v}=#view=${v}`);
const height = Number(process.env.HEIGHT ?? 900);
const width = Number(process.env.WIDTH ?? 1360);

await mkdir(directory, { recursive: true });
const browser = await launch({ viewport: { width, height }, deviceScaleFactor: Number(process.env.SCALE ?? 1) });
for (const view of views.length ? views : ALL) {
  const cut = view.indexOf("=");
  for (const colorScheme of ["light", "dark"]) {
    const { page, faults } = await open(browser.context, resolve(file), view.slice(cut + 1));
    await page.emulateMedia({ colorScheme });
    await page.waitForTimeout(250);
    await page.screenshot({ path: join(directory, `${view.slice(0, cut)}-${colorScheme}.png`), fullPage: process.env.FULL === "1" });
    if (faults.length) console.error(view, faults);
    await page.close();
  }
}
await browser.close();
