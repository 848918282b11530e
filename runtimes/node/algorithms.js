'use strict';
const crypto = require('crypto');
const zlib = require('zlib');

const DONE = 0, REJECTED = 1;
const ENCRYPT = 0;
exports.REJECTED = REJECTED;

/**
 * Opens an algorithm as the documentation shows it: what can be kept for a key is made here, and the rest in
 * each message. A text says why it is not offered.
 */
exports.provide = (provider, name, direction, key) =>
  provider === 'webcrypto' ? web(name, direction, key) : own(name, direction, key);

/** Digests that have the same name in Node, as far as its libcrypto has them. */
const HASHES = ['md4', 'md5', 'sha1', 'sha224', 'sha256', 'sha384', 'sha512', 'sha512-224', 'sha512-256', 'sha3-224',
  'sha3-256', 'sha3-384', 'sha3-512', 'blake2b512', 'blake2s256', 'sm3', 'rmd160', 'whirlpool']
  .filter((name) => crypto.getHashes().includes(name));
/** Node's own default is half of it. */
const SHAKES = { shake128: 32, shake256: 64 };

function own(name, direction, raw) {
  if (HASHES.includes(name)) return digest(name);
  if (name in SHAKES) return digest(name, { outputLength: SHAKES[name] });
  if (name === 'crc32' && zlib.crc32) {
    const run = (m) => { m.tag = Buffer.allocUnsafe(4); m.tag.writeUInt32BE(zlib.crc32(m.input)); return DONE; };
    return { run, calls: 'zlib.crc32' };
  }
  const key = crypto.createSecretKey(raw);
  const hash = name.startsWith('hmac-') && HASHES.find((hash) => name === `hmac-${hash}`);
  if (hash) {
    const run = (m) => { m.tag = crypto.createHmac(hash, key).update(m.input).digest(); return DONE; };
    return { run, calls: 'createHmac (KeyObject kept), update, digest' };
  }
  const tagged = /^aes-\d+-gcm$/.test(name) || name === 'chacha20-poly1305';
  const block = /-(ctr|cbc)$/.test(name) && crypto.getCiphers().includes(name);
  if (!tagged && !block) return `Node's crypto is not asked for ${name}`;
  const options = { authTagLength: 16 };
  if (tagged) return direction === ENCRYPT ? seal(name, key, options) : unseal(name, key, options);
  const create = direction === ENCRYPT ? crypto.createCipheriv : crypto.createDecipheriv;
  const run = (m) => {
    const c = create(name, key, m.nonce).setAutoPadding(false);
    m.output = c.update(m.input);
    c.final();
    return DONE;
  };
  return { run, calls: `${create.name} (KeyObject kept), setAutoPadding, update, final` };
}

function digest(name, options) {
  if (crypto.hash && !options) {
    const run = (m) => { m.tag = crypto.hash(name, m.input, 'buffer'); return DONE; };
    return { run, calls: 'crypto.hash' };
  }
  const run = (m) => { m.tag = crypto.createHash(name, options).update(m.input).digest(); return DONE; };
  return { run, calls: 'createHash, update, digest' };
}

function seal(name, key, options) {
  const run = (m, s) => {
    const c = crypto.createCipheriv(name, key, m.nonce, options);
    c.setAAD(s.aad);
    m.output = c.update(m.input);
    c.final();
    m.tag = c.getAuthTag();
    return DONE;
  };
  return { run, calls: 'createCipheriv (KeyObject kept), setAAD, update, final, getAuthTag' };
}

function unseal(name, key, options) {
  const run = (m, s) => {
    const d = crypto.createDecipheriv(name, key, m.nonce, options);
    d.setAAD(s.aad);
    d.setAuthTag(m.tag);
    const output = d.update(m.input);
    try {
      d.final();
    } catch {
      return REJECTED;
    }
    m.output = output;
    return DONE;
  };
  return { run, calls: 'createDecipheriv (KeyObject kept), setAAD, setAuthTag, update, final' };
}

function web(name, direction, raw) {
  const { subtle } = crypto.webcrypto;
  const waits = true;
  const hashes = { sha1: 'SHA-1', sha256: 'SHA-256', sha384: 'SHA-384', sha512: 'SHA-512' };
  if (name in hashes) {
    const hash = hashes[name];
    const run = async (m) => { m.tag = await subtle.digest(hash, m.input); return DONE; };
    return { run, waits, calls: 'subtle.digest, awaited' };
  }
  const [, mode] = /^aes-(?:128|192|256)-(gcm|ctr)$/.exec(name) ?? [];
  const hash = name.startsWith('hmac-') && hashes[name.slice(5)];
  if (!hash && !mode) {
    const why = name.endsWith('-cbc') ? ' without padding' : '';
    return `not asked of WebCrypto: ${name}${why}`;
  }
  if (hash) {
    const key = subtle.importKey('raw', raw, { name: 'HMAC', hash }, false, ['sign']);
    const run = async (m, s) => {
      s.key ??= await key;
      m.tag = await subtle.sign('HMAC', s.key, m.input);
      return DONE;
    };
    return { run, waits, calls: 'subtle.sign (CryptoKey kept), awaited' };
  }
  const key = subtle.importKey('raw', raw, `AES-${mode.toUpperCase()}`, false, ['encrypt', 'decrypt']);
  const parameters = mode === 'gcm'
    ? (m, s) => ({ name: 'AES-GCM', iv: m.nonce, additionalData: s.aad, tagLength: 128 })
    : (m) => ({ name: 'AES-CTR', counter: m.nonce, length: 128 });
  const verb = direction === ENCRYPT ? 'encrypt' : 'decrypt';
  const run = async (m, s) => {
    s.key ??= await key;
    try {
      m.output = await subtle[verb](parameters(m, s), s.key, m.joined);
    } catch (e) {
      if (mode === 'gcm' && direction !== ENCRYPT && e.name === 'OperationError') return REJECTED;
      throw e;
    }
    return DONE;
  };
  const splits = mode === 'gcm' && direction === ENCRYPT ? split : undefined;
  return { run, waits, splits, calls: `subtle.${verb} (CryptoKey kept), awaited` };
}

/** A ciphertext with its tag behind it, taken apart. */
function split(m, s) {
  const whole = m.output instanceof ArrayBuffer ? new Uint8Array(m.output) : m.output;
  return { output: whole.slice(0, whole.length - s.tagLen), tag: whole.slice(whole.length - s.tagLen) };
}
