// Made-up records, for tests and for the benchmark of the page: plausible numbers, measured by
// nobody. They say so in the names of tool and processor.

import { gzipSync } from "node:zlib";
import { writeFileSync } from "node:fs";

// Mulberry32: the same numbers at every run.
function random(seed) {
  let state = seed >>> 0;
  return () => {
    state = (state + 0x6d2b79f5) >>> 0;
    let t = state;
    t = Math.imul(t ^ (t >>> 15), t | 1);
    t ^= t + Math.imul(t ^ (t >>> 7), t | 61);
    return ((t ^ (t >>> 14)) >>> 0) / 4294967296;
  };
}

const GHZ = 3.7;
const TICKS_GHZ = 2.6;

// Nanoseconds a message and a byte of an algorithm's kind, before a library's own factor.
const KINDS = { gcm: [90, 0.1], ctr: [40, 0.08], cbc: [40, 0.6], xts: [60, 0.09], ccm: [150, 0.9], ocb: [80, 0.1], poly1305: [160, 0.35], other: [50, 0.2] };
const SLOWER = { native: 1, vaes256: 1.2, aesni: 2, noaes: 30, baseline: 40 };

export function made({ libraries, algorithms, sizes, directions = ["encrypt", "decrypt"], tiers = ["native"], models = ["message"], samples = 36, seed = 1, evidence = true, footprint = "hot" }) {
  const next = random(seed);
  const ids = libraries.map(([name, version], n) => ({ name, version, path: `/usr/lib/lib${name}.so.${n}`, id: `build-id:${(n + 1).toString(16).padStart(8, "0")}` }));
  const record = frame(ids, { algorithms, sizes, directions, tiers, models });
  for (const library of ids) {
    const factor = 1 + 4 * next() ** 2;
    for (const algorithm of algorithms) for (const direction of directions) for (const model of models) for (const tier of tiers) {
      const kind = KINDS[Object.keys(KINDS).find((k) => algorithm.includes(k)) ?? "other"];
      const a = kind[0] * factor * (0.7 + next());
      const b = kind[1] * factor * SLOWER[tier] * (0.9 + 0.2 * next());
      const what = { library, algorithm, direction, model, tier };
      for (const size of sizes) record.measurements.push(measured({ ...what, size, footprint }, a + b * size, samples, next));
      if (sizes.length >= 3) record.fits.push(fit(what, sizes, a, b, footprint));
      if (evidence) record.executed.push(executed(what, b));
    }
  }
  return record;
}

function frame(ids, plan) {
  return {
    format_version: "1.2",
    tool: { name: "synthetic", version: "0", command: ["made", "up"] },
    started: "2026-11-21T00:00:00Z",
    measuring_seconds: 60,
    host: {
      cpu: { name: "Synthetic CPU", vendor: "nobody", family: 1, model: 2, stepping: 3, microcode: null, features: ["aes", "vaes"], caches: [{ level: 1, kind: "Data", size_bytes: 32768, line_bytes: 64, shared_by: "0" }], cpus_online: 2, cpus_allowed: 2, cpu_measuring: 1, thread_siblings: "1", smt: null, frequency_driver: null, governor: null, boost: null, frequency_range_khz: null, isolated: null },
      clock: { source: "tsc", reason: null, ticks_per_second: TICKS_GHZ * 1e9, step_ticks: 26, overhead_ticks: 75, core_ghz_median: GHZ, core_ghz_range: [GHZ, GHZ], quiet_probe: 6, kernel_source: "tsc" },
      kernel: { release: "6.0", version: "#1", mitigations: [], command_line: null },
      memory: { total_bytes: 2 ** 34, page_bytes: 4096, transparent_hugepages: "madvise", numa_nodes: 1 },
      os: "made up", machine: null, hypervisor: null, pmu: false, load_average: 0,
    },
    libraries: ids.map((id) => ({ ...id, build: ["made up"], error: null, instructions: ["aes"] })),
    plan: { suite: null, ...plan, footprints: ["hot"], threads: [1], in_place: [false], latency: false, precision: 0.01, budget_seconds: 60, seed: 1 },
    limits: {},
    executed: [],
    measurements: [],
    fits: [],
  };
}

function measured(what, ns, samples, next) {
  const spread = 0.002 + 0.006 * next();
  const estimate = (v) => ({ median: v, low: v * (1 - spread), high: v * (1 + spread) });
  const raw = rawSamples(ns, samples, next);
  const clean = raw.clean.filter(Boolean).length;
  return {
    ...what, model_version: 1, threads: 1, in_place: false, state: "measured", reason: null,
    warning: /-(ctr|cbc|xts)/.test(what.algorithm) ? "no integrity: tampering is not noticed" : null,
    ns_per_op: estimate(ns), cycles_per_op: estimate(ns * GHZ), ns_per_byte: ns / what.size, mb_per_s: (what.size * 1e3) / ns, cycles_per_byte: (ns * GHZ) / what.size,
    instructions_per_byte: 2.5, instructions_per_message: 300, limit_fraction: Math.min(0.99, 0.05 * (what.size / ns)), limit_cycles_per_op: what.size * 0.1, limited_by: "aes-units",
    precision: spread, stopped: "precision", samples: clean, samples_disturbed: samples - clean, processes: 6,
    checks: [{ name: "round-trip", count: 26 }, { name: "known-answers", count: 2 }],
    evidence: { clock: "tsc", cycles: "imul-chain", outputs_checked: samples, calls_succeeded: samples * 100, instructions: "single-step" },
    raw,
  };
}

function rawSamples(ns, count, next) {
  const raw = { process: [], ops: [], ticks: [], clock_before: [], clock_after: [], probe_before: [], probe_after: [], switches: [], migrated: [], clean: [] };
  const ops = Math.max(1, Math.round(30_000 / ns));
  for (let n = 0; n < count; n++) {
    const disturbed = next() < 0.04;
    const factor = 1 + 0.004 * (n % 6) * 0.2 + 0.01 * (next() + next() + next() - 1.5) + (disturbed ? 0.3 * next() : 0);
    raw.process.push(n % 6);
    raw.ops.push(ops);
    raw.ticks.push(Math.round(ns * factor * ops * TICKS_GHZ));
    raw.clock_before.push(+(GHZ / TICKS_GHZ).toPrecision(5));
    raw.clock_after.push(+(GHZ / TICKS_GHZ).toPrecision(5));
    raw.probe_before.push(disturbed ? 4.1 : 6.01);
    raw.probe_after.push(6.01);
    raw.switches.push(0);
    raw.migrated.push(false);
    raw.clean.push(!disturbed);
  }
  return raw;
}

function fit(what, sizes, a, b, footprint) {
  return { ...what, threads: 1, footprint, in_place: false, sizes, ns_per_message: a, ns_per_byte: b, cycles_per_message: a * GHZ, cycles_per_byte: b * GHZ, residual: 0.02, half_speed_bytes: a / b, linear: true };
}

function executed(what, b) {
  const classes = [["aes-round", 256, 0.44], ["carry-less", 256, 0.13], ["vector-logic", 256, 0.31], ["shuffle", 256, 0.12], ["load", 256, 0.1], ["scalar", null, 0.08], ["branch", null, 0.02]];
  const per_byte = b * 12;
  return {
    ...what, source: "single-step", reason: null, per_byte, per_message: 300,
    sizes: [{ size: 1024, instructions: 1500 }, { size: 4096, instructions: 5000 }],
    classes: classes.map(([name, width, share]) => ({ class: name, width, per_byte: per_byte * share * 0.83, per_message: 300 * share * 0.83 })),
    memory_reads: { per_byte: 0.2, per_message: 90 }, memory_writes: { per_byte: 0.1, per_message: 40 },
    instruction_sets: ["aes", "avx2"],
    functions: [{ function: `${what.algorithm.replaceAll("-", "_")}_kernel`, object: `lib${what.library.name}.so`, per_byte: per_byte * 0.98, per_message: 60 }, { function: null, object: "libc.so.6", per_byte: per_byte * 0.02, per_message: 240 }],
  };
}

// A verdict on what depends on secrets; `places`: names of functions with lookups.
export function verdict(library, algorithm, tier, places = [], compared = true) {
  const word = places.length === 0 ? "same-trace" : compared ? "depends" : "may-depend";
  const finding = (name) => ({ kind: "lookup", function: name, object: `lib${library.name}.so`, address: 4660, instruction: "mov eax,[rcx+rdx*4]", places: 4, bytes: 256, lines: 4, operations: ["encrypt"], sizes: [16], compared, tainted: true });
  return { library, algorithm, tier, verdict: word, secrets: 16, operations: [], findings: places.map(finding) };
}

// Turns a measured case into one without numbers.
export function without(m, state, reason) {
  Object.assign(m, { state, reason, ns_per_op: null, cycles_per_op: null, ns_per_byte: null, mb_per_s: null, cycles_per_byte: null, instructions_per_byte: null, limit_fraction: null, limit_cycles_per_op: null, limited_by: null, precision: null, stopped: null, samples: 0, samples_disturbed: 0, processes: 0, checks: [] });
  for (const column of Object.values(m.raw)) column.length = 0;
  return m;
}

export function write(record, path) {
  const text = JSON.stringify(record);
  writeFileSync(path, path.endsWith(".gz") ? gzipSync(text) : text);
  return path;
}
