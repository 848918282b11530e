// A headless Chromium that opens one page from a file and reports whatever it should not do.

import { mkdtemp, rm } from "node:fs/promises";
import { existsSync, readFileSync } from "node:fs";
import { tmpdir } from "node:os";
import { dirname, join } from "node:path";
import { pathToFileURL } from "node:url";
import { chromium } from "playwright-core";

const FLAGS = [
  "--no-sandbox", "--disable-gpu", "--disable-quic", "--no-first-run", "--disable-background-networking",
  "--disable-component-update", "--disable-sync", "--disable-default-apps", "--disable-extensions",
];

// Debian calls it chromium, Ubuntu's package of it is a snap's front end of the same name.
const PLACES = [process.env.CHROMIUM, "/usr/bin/chromium", "/usr/bin/chromium-browser", "/usr/bin/google-chrome"];

export async function launch(options = {}) {
  const executablePath = PLACES.find((place) => place && existsSync(place));
  if (!executablePath) throw new Error(`no Chromium in ${PLACES.filter(Boolean).join(", ")}: scripts/setup installs it, CHROMIUM names another`);
  const profile = await mkdtemp(join(tmpdir(), "ciphermark-chromium-"));
  const context = await chromium.launchPersistentContext(profile, {
    executablePath, headless: true, args: FLAGS, viewport: { width: 1360, height: 900 }, ...options,
  });
  return {
    context,
    async close() {
      await context.close();
      await rm(profile, { recursive: true, force: true, maxRetries: 5 });
    },
  };
}

// Opens `file` at `fragment`. `faults` fills with console messages, exceptions and requests: all of
// them are faults, but for the request of the file itself and, of an archive's site, of the figures below it.
export async function open(context, file, fragment = "") {
  const own = readFileSync(file, "utf8").includes("<!-- ciphermark site -->") ? pathToFileURL(join(dirname(file), "data/")).href : null;
  const page = await context.newPage();
  const url = pathToFileURL(file).href;
  const faults = [];
  page.on("console", (message) => faults.push(`console ${message.type()}: ${message.text()}`));
  page.on("pageerror", (error) => faults.push(`exception: ${error}`));
  page.on("dialog", (dialog) => { faults.push(`dialog: ${dialog.message()}`); dialog.dismiss(); });
  await page.route("**/*", (route) => {
    const wanted = route.request().url();
    if (wanted.split("#")[0] === url || wanted === "data:," || (own && wanted.startsWith(own))) return route.continue();
    faults.push(`request: ${wanted}`);
    return route.abort();
  });
  await page.goto(url + fragment);
  await drawn(page);
  return { page, faults, url };
}

// The first view has been drawn.
export async function drawn(page) {
  await page.waitForFunction(() => performance.getEntriesByName("first-view").length > 0, null, { timeout: 30_000 });
}

// Does something that changes the view, and waits until it is drawn.
export async function change(page, act) {
  const before = await page.evaluate(() => performance.getEntriesByName("view").length);
  await act();
  await page.waitForFunction((n) => performance.getEntriesByName("view").length > n, before, { timeout: 10_000 });
}
