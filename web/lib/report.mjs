// The program under test: records in, a page out.

import { execFileSync } from "node:child_process";
import { fileURLToPath } from "node:url";

const ROOT = fileURLToPath(new URL("../..", import.meta.url));

export const repository = (path) => `${ROOT}${path}`;

export function report(records, page) {
  const program = process.env.CIPHERMARK ?? repository("target/debug/ciphermark");
  execFileSync(program, ["report", ...records, "-o", page], { stdio: ["ignore", "ignore", "pipe"] });
  return page;
}
