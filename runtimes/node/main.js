// Serves Node's crypto or its WebCrypto to a ciphermark worker over standard input and output: docs/RUNTIMES.md.
'use strict';
const fs = require('fs');
const v8 = require('v8');
const { PerformanceObserver, performance } = require('perf_hooks');

const provider = process.argv[2];
const { provide, REJECTED } = require('./algorithms.js');
const DONE = 0, UNSUPPORTED = 2, FAILED = 3, RING = 16;
const ENCRYPT = 0, DECRYPT = 1, DIGEST = 2;

const requests = 0, replies = 1;
// What a module prints stays out of the protocol.
// (Looking at `process.stdout` would make the pipe non-blocking.)
Object.defineProperty(process, 'stdout', { get: () => process.stderr });

const sessions = new Map();
const ran = new Map();
// Collections since the last batch began.
let collected = [];
new PerformanceObserver((list) => collected.push(...list.getEntries())).observe({ entryTypes: ['gc'] });

/** Takes a request apart. */
class Reader {
  constructor(left) { this.left = left; }
  bytes(n) { const b = this.left.subarray(0, n); this.left = this.left.subarray(n); return b; }
  u8() { return this.bytes(1)[0]; }
  u32() { return this.bytes(4).readUInt32LE(); }
}

function hello() {
  const v = process.versions;
  return [
    `version ${v.node}`, `build node ${v.node}, V8 ${v.v8}, OpenSSL ${v.openssl}`,
    `build ${process.config.variables.node_shared_openssl ? "the system's libcrypto" : 'libcrypto bundled in ' + process.execPath}`,
    'jit', '',
  ].join('\n');
}

function open(r) {
  const id = r.u32(), direction = r.u8(), tagLen = r.u8(), nonceLen = r.u8();
  const name = r.bytes(r.u8()).toString();
  const offered = provide(provider, name, direction, Buffer.from(r.left));
  if (typeof offered === 'string') return [UNSUPPORTED, offered];
  sessions.set(id, { name, direction, tagLen, nonceLen, aad: Buffer.alloc(0), ...offered });
  return [DONE, offered.calls];
}

/** What one operation works on. `joined` is a ciphertext with its tag behind it. */
function slotOf(s, nonce, input, tag) {
  const joined = s.direction === DECRYPT && s.tagLen > 0 ? Buffer.concat([input, tag]) : input;
  return { nonce, input, tag, joined, output: null };
}

/** Runs one message: what every check goes through. */
async function once(r) {
  const s = sessions.get(r.u32()), aadLen = r.u32(), size = r.u32();
  const nonce = Buffer.from(r.bytes(s.nonceLen));
  s.aad = Buffer.from(r.bytes(aadLen));
  const m = slotOf(s, nonce, Buffer.from(r.bytes(size)), Buffer.from(r.bytes(s.tagLen)));
  try {
    const code = s.waits ? await s.run(m, s) : s.run(m, s);
    if (code !== DONE) return [code, ''];
  } catch (e) {
    return [FAILED, String(e)];
  }
  return [DONE, left([m], s)];
}

/** What operations wrote, each its output and its tag. */
function left(slots, s) {
  const parts = [];
  for (const m of slots) {
    const { output, tag } = s.splits && m.output ? s.splits(m, s) : m;
    if (s.direction !== DIGEST) parts.push(bytes(output ?? Buffer.alloc(s.size)));
    if (s.direction !== DECRYPT) parts.push(bytes(tag));
  }
  return Buffer.concat(parts);
}

/** What an operation gave must be bytes by now, and nothing that is still to be worked out. */
function bytes(b) {
  if (b instanceof ArrayBuffer) return Buffer.from(b);
  const own = Object.getPrototypeOf(b);
  if (own === Buffer.prototype || own === Uint8Array.prototype) return b;
  throw new Error('an operation gave no bytes');
}

function place(r) {
  const s = sessions.get(r.u32());
  [s.size, s.count, s.keep] = [r.u32(), r.u32(), r.u32()];
  [s.fresh, s.expected] = [r.u8() === 1, r.u8()];
  s.aad = Buffer.from(r.bytes(r.u32()));
  s.inputs = Array.from({ length: s.count }, () => Buffer.from(r.bytes(s.size)));
  s.joined = s.inputs.map(() => null);
  s.slots = Array.from({ length: RING }, (_, i) => ({
    nonce: Buffer.alloc(s.nonceLen), input: s.inputs[i % s.count], joined: s.inputs[i % s.count],
    tag: Buffer.alloc(s.tagLen), output: null,
  }));
  const reply = Buffer.alloc(8);
  reply.writeBigUInt64LE(BigInt(ran.get(key(s)) ?? 0));
  return [DONE, reply];
}

const key = (s) => `${s.name} ${s.direction}`;

/** Gives every slot its nonce and tag. */
function ready(s, at, r) {
  const poison = r.u32();
  for (const m of s.slots) m.nonce = Buffer.from(r.bytes(s.nonceLen));
  s.slots.forEach((m, i) => {
    const tag = Buffer.from(r.bytes(s.tagLen));
    if (s.direction !== DECRYPT) return;
    m.tag = tag;
    if (s.tagLen > 0) join(s, m, i % s.count, i < s.count);
  });
  if (poison > 255) return;
  // The places that the operations before the next one wrote to.
  s.slots.forEach((m, i) => {
    const kept = ((at - 1 - i) & 15) < s.keep;
    m.output = kept && s.direction !== DIGEST ? Buffer.alloc(s.size + (s.splits ? s.tagLen : 0), poison) : null;
    if (s.direction !== DECRYPT) m.tag = Buffer.alloc(s.tagLen, poison);
  });
}

/** Puts a slot's tag behind its message; messages whose tags are the same share the memory. */
function join(s, m, message, first) {
  const whole = Buffer.concat([s.inputs[message], m.tag]);
  if (first && !(s.joined[message] && s.joined[message].equals(whole))) s.joined[message] = whole;
  m.joined = s.joined[message].equals(whole) ? s.joined[message] : whole;
}

/** Raises a nonce's first eight bytes, little-endian, by the ring's length. */
function raise(nonce) {
  // Without a branch that is taken for the first time after thousands of operations: it would throw compiled code away.
  for (let i = 0, carry = RING; i < 8; i++) { carry += nonce[i]; nonce[i] = carry; carry >>= 8; }
}

/** What is timed: operations on the slots in turn, nonces raised after their use. */
function batch(s, at, ops) {
  const { run, slots, fresh, expected, keep } = s;
  let codes = 0;
  const begin = process.hrtime.bigint();
  for (; ops > 0; ops--) {
    const m = slots[at];
    codes |= run(m, s) ^ expected;
    if (fresh) raise(m.nonce);
    // As many outputs stay alive as fit a cache.
    if (keep < RING) slots[(at - keep) & 15].output = null;
    at = (at + 1) & 15;
  }
  return [process.hrtime.bigint() - begin, codes];
}

/** The same where each operation is a promise that is waited for. */
async function batchOfPromises(s, at, ops) {
  const { run, slots, fresh, expected, keep } = s;
  let codes = 0;
  const begin = process.hrtime.bigint();
  for (; ops > 0; ops--) {
    const m = slots[at];
    codes |= (await run(m, s)) ^ expected;
    if (fresh) raise(m.nonce);
    if (keep < RING) slots[(at - keep) & 15].output = null;
    at = (at + 1) & 15;
  }
  return [process.hrtime.bigint() - begin, codes];
}

/** Bytes on and beside the heap. */
function heap() {
  const { used_heap_size: own, external_memory: beside } = v8.getHeapStatistics();
  return own + beside;
}

// What each case has allocated, and the time of collections for it: a byte beside the heap costs less than one on it.
const garbage = new Map();
let shortestTurnsNs = Infinity;

async function timed(r) {
  const s = sessions.get(r.u32()), at = r.u32();
  const ops = r.u32();
  ready(s, at, r);
  s.next = (at + ops) & 15;
  collected = [];
  const [used, begun] = [heap(), performance.now()];
  const [gross, codes] = await (s.waits ? batchOfPromises(s, at, ops) : batch(s, at, ops));
  const [ended, more] = [performance.now(), heap() - used];
  // Collections are told in the second turn of the event loop from here. Most are made in the first, which also frees what
  // lies beside the heap: what turns take beyond the shortest is for the garbage of batches, too.
  await new Promise(setImmediate);
  await new Promise(setImmediate);
  const turnsNs = (performance.now() - ended) * 1e6;
  shortestTurnsNs = Math.min(shortestTurnsNs, turnsNs);
  const within = collected.filter((entry) => entry.startTime >= begun && entry.startTime < ended);
  const inside = within.reduce((sum, entry) => sum + entry.duration, 0) * 1e6;
  // The collections that fell into this batch are other batches' garbage too: each pays for its own.
  const took = Math.max(Number(gross) - inside, 0);
  if (within.length === 0 && more >= 0 && ops > 0) s.each = more / ops;
  const allocated = Math.round((s.each ?? 0) * ops);
  const own = garbage.get(`${key(s)} ${s.size}`) ?? { ns: 0, bytes: 0 };
  own.ns += inside + turnsNs - shortestTurnsNs;
  own.bytes += allocated;
  garbage.set(`${key(s)} ${s.size}`, own);
  ran.set(key(s), (ran.get(key(s)) ?? 0) + ops);
  const reply = Buffer.alloc(36);
  reply.writeBigUInt64LE(BigInt(Math.round(took)), 0);
  reply.writeInt32LE(codes, 8);
  reply.writeBigUInt64LE(s.each === undefined ? 0xffffffffffffffffn : BigInt(allocated), 12);
  reply.writeBigUInt64LE(BigInt(Math.round(own.ns)), 20);
  reply.writeBigUInt64LE(BigInt(own.bytes), 28);
  return [DONE, reply];
}

/** What was written last to each place that slots share. */
function latest(s) {
  const places = [];
  for (let back = 1; back <= s.keep; back++) {
    const i = (s.next - back) & 15;
    places[i % s.keep] = s.slots[i];
  }
  return [DONE, left(places, s)];
}

async function answer(request) {
  const r = new Reader(request.subarray(1));
  switch (String.fromCharCode(request[0])) {
    case 'H': return [DONE, hello()];
    case 'O': return open(r);
    case 'M': return once(r);
    case 'P': return place(r);
    case 'R': return timed(r);
    case 'G': return latest(sessions.get(r.u32()));
    default: throw new Error(`no request ${request[0]}`);
  }
}

/** Reads so many bytes; null at the end. */
function read(len) {
  const bytes = Buffer.alloc(len);
  for (let have = 0; have < len;) {
    const more = fs.readSync(requests, bytes, have, len - have);
    if (more === 0) return null;
    have += more;
  }
  return bytes;
}

function write(bytes) {
  for (let sent = 0; sent < bytes.length;) sent += fs.writeSync(replies, bytes, sent);
}

(async () => {
  for (;;) {
    const head = read(4), request = head && read(head.readUInt32LE());
    if (!request) process.exit(0);
    const [status, body] = await answer(request);
    const bytes = Buffer.from(body);
    const reply = Buffer.alloc(5);
    reply.writeUInt32LE(bytes.length + 1);
    reply[4] = status;
    write(Buffer.concat([reply, bytes]));
  }
})().catch((e) => { process.stderr.write(`${e.stack}\n`); process.exit(1); });
