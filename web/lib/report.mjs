// The program under test: records in, a page out.

import { execFileSync, spawnSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export const repository = (path) => `${ROOT}${path}`;

export const program = () => process.env.CIPHERMARK ?? repository("target/debug/ciphermark");

// What `ciphermark advise` answers, as JSON; no answer is one too (1), and one beside which something is open (3).
export function advise(words) {
  const { stdout, status } = spawnSync(program(), ["advise", ...words, "--format", "json"], { encoding: "utf8" });
  if (![0, 1, 3].includes(status)) throw new Error(`advise: exit code ${status}`);
  return JSON.parse(stdout);
}

export function report(records, page) {
  execFileSync(program(), ["report", ...records, "-o", page], { stdio: ["ignore", "ignore", "pipe"] });
  return page;
}
