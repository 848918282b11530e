// Made-up runs of TLS, for tests of the page: numbers measured by nobody.

import { made } from "./made.mjs";

const LABELS = ["fast@1.0", "slow@2.0"];

const host = () => made({ libraries: [["a", "1"]], algorithms: ["aes-128-gcm"], sizes: [16] }).host;

const stacks = () => LABELS.map((label) => {
  const [name, version] = label.split("@");
  return { label, name, version, path: `/opt/${name}/libssl.so`, id: "build-id:00", crypto_path: `/opt/${name}/libcrypto.so`, crypto_id: "build-id:01", build: [] };
});

const disturbed = () => ({ migrated: 0, switched: 0, paged_in: 0, stolen: 0, clock_moved: 0, contended: 0 });

const frame = (kind, span) => ({
  format_version: "1.0", kind, started: "2026-11-21T00:00:00Z", seconds: 9, command: ["ciphermark", "tls"], host: host(), span,
  plan: { precision: 0.02, budget_seconds: 120, seed: 1, cpu: 0 }, stacks: stacks(),
  noise: { samples: 70, clean: 60, disturbed: disturbed(), stolen_seconds: null, core_alone: true },
});

const cost = (ns) => ({ median_ns: ns, low_ns: ns * 0.999, high_ns: ns * 1.001, mean_ns: ns, max_ns: ns * 1.1, setup_ns: 0, cycles: null });
const sampled = { samples: 30, processes: 6, contended: false, stopped: null };

// `edit` changes a row.
export function handshakes(edit = (row) => row) {
  const of = (exchange, us) => LABELS.map((stack, n) => {
    const there = us !== null && !(exchange === "x25519mlkem768" && n === 1);
    return {
      stack, case: { version: "1.3", exchange, certificate: "p256", kind: "full", client_auth: false, suite: "aes-128-gcm" }, temperature: "hot",
      state: there ? "measured" : "unsupported", reason: there ? null : "SSL_CTX_set1_groups_list failed", negotiated: null,
      server: there ? cost(us * (n + 1) * 1000) : null, client: there ? cost(90 * (n + 1) * 1000) : null,
      first: null, bytes: there ? { client: 517, server: 2200 } : null, memory: null, handshakes: 30, disturbed: disturbed(), ...sampled,
    };
  });
  return { ...frame("tls-handshakes", "making the connection, and so on"), handshakes: [...of("x25519", 71.2), ...of("x25519mlkem768", 85)].map(edit) };
}

// `edit` changes a row.
export function records(edit = (row) => row) {
  const protection = { version: "1.3", suite: "aes-128-gcm" };
  const bare = (ns) => ({ median_ns: ns, low_ns: ns, high_ns: ns });
  const row = (size) => {
    const ns = 400 + 0.25 * size;
    return {
      stack: LABELS[0], protection, size, state: "measured", reason: null, negotiated: null, overhead_bytes: 22, send: cost(ns), receive: cost(ns * 1.25),
      bare: { algorithm: "aes-128-gcm", encrypt: bare(ns / 2), decrypt: bare(ns / 2), reason: null }, records: 300, disturbed: disturbed(), ...sampled,
    };
  };
  const line = (fixed_ns, ns_per_byte) => ({ fixed_ns, ns_per_byte, residual: 0 });
  const lines = [{ stack: LABELS[0], protection, send: line(400, 0.25), receive: line(500, 0.3125), bare_encrypt: line(200, 0.125), bare_decrypt: line(200, 0.125) }];
  const run = { ...frame("tls-records", "sending and receiving"), records: [64, 1400, 16384].map(row).map(edit), lines };
  run.stacks = run.stacks.slice(0, 1);
  return run;
}

export function primitives() {
  const row = (scheme, operation, size, us) => ({
    stack: LABELS[0], primitive: { scheme, operation, size }, state: us ? "measured" : "unsupported", reason: us ? null : "no such function",
    checks: us ? ["every signature verifies with ring"] : [], whole: us ? cost(us * 1200) : null, call: us ? cost(us * 1000) : null,
    operations: 300, disturbed: disturbed(), ...sampled,
  });
  const run = { ...frame("tls-primitives", "whole and call"), primitives: [row("ecdsa-p256", "sign", null, 20), row("mlkem768", "encapsulate", null, 0), row("sha256", "digest", 1400, 0.7)] };
  run.stacks = run.stacks.slice(0, 1);
  return run;
}
