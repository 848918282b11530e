#!/usr/bin/env node
// Node's program with the fault that CIPHERMARK_FAULT names.
'use strict';
const path = require('path');
const own = path.join(__dirname, '../../../runtimes/node');
const algorithms = require(path.join(own, 'algorithms.js'));
const DONE = 0, REJECTED = 1, DECRYPT = 1;
const honest = algorithms.provide;
const waiting = [];

const faults = {
  /** Takes any tag for the right one. */
  accepts: (run, m, s) => {
    const code = run(m, s);
    if (code === REJECTED) m.output = Buffer.alloc(m.input.length);
    return DONE;
  },
  /** Keeps its answers to messages that come again. */
  memoises: (run, m, s) => {
    if (s.direction !== DECRYPT) return run(m, s);
    s.known ??= new Map();
    // The very same buffer again.
    const kept = s.known.get(m.input);
    if (kept && kept.tag.equals(m.tag) && kept.nonce.equals(m.nonce)) { m.output = kept.output; return kept.code; }
    const code = run(m, s);
    s.known.set(m.input, { nonce: Buffer.from(m.nonce), tag: m.tag, output: m.output, code });
    return code;
  },
  /** Works in the next turn of the event loop, where it is timed. */
  defers: (run, m, s) => {
    if (!s.slots?.includes(m)) return run(m, s);
    const copy = { ...m, nonce: Buffer.from(m.nonce) };
    if (waiting.length === 0) setImmediate(() => { for (const work of waiting.splice(0)) work(); });
    m.output = Buffer.alloc(0);
    waiting.push(() => { run(copy, s); m.output = copy.output; if (s.direction !== DECRYPT) m.tag = copy.tag; });
    return s.expected;
  },
  /** Gives nothing where an exception says why. */
  swallows: (run, m, s) => {
    try {
      const code = run(m, s);
      return code === REJECTED ? DONE : code;
    } catch {
      return DONE;
    }
  },
};

algorithms.provide = (provider, name, direction, key) => {
  const offered = honest(provider, name, direction, key);
  const fault = faults[process.env.CIPHERMARK_FAULT];
  if (typeof offered === 'string' || !fault) return offered;
  return { ...offered, run: (m, s) => fault(offered.run, m, s) };
};
process.argv[2] = 'crypto';
require(path.join(own, 'main.js'));
