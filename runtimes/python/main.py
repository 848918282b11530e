"""Serves a Python package to a ciphermark worker over standard input and output: docs/RUNTIMES.md."""

import gc
import itertools
import os
import struct
import sys
import time

# What a package prints, from its import on, stays out of the protocol.
replies = os.fdopen(os.dup(1), "wb", 0)
os.dup2(2, 1)

import algorithms

DONE, REJECTED, UNSUPPORTED, FAILED = range(4)
RING = 16
DECRYPT, DIGEST = 1, 2
UNKNOWN = 0xFFFFFFFFFFFFFFFF

sessions = {}
ran = {}
collecting = {"since": 0, "ns": 0}


def collection(phase, _info):
    if phase == "start":
        collecting["since"] = time.perf_counter_ns()
    else:
        collecting["ns"] += time.perf_counter_ns() - collecting["since"]


class Reader:
    """Takes a request apart."""

    def __init__(self, left):
        self.left, self.at = left, 0

    def bytes(self, count):
        self.at += count
        return self.left[self.at - count : self.at]

    def u8(self):
        return self.bytes(1)[0]

    def u32(self):
        return struct.unpack("<I", self.bytes(4))[0]

    def rest(self):
        return self.left[self.at :]


class Session:
    """An opened algorithm in one direction, and the ring of messages placed for it."""

    def __init__(self, name, direction, nonce_len, tag_len):
        self.name, self.direction = name, direction
        self.nonce_len, self.tag_len = nonce_len, tag_len
        self.aad = b""
        self.run = None

    def key(self):
        return (self.name, self.direction)

    def written(self, output):
        """What an operation gave, as output and tag. It must be bytes by now, and nothing still to be worked out."""
        parts = output if type(output) is tuple else (output,)
        for part in parts:
            if type(part) is not bytes:
                raise TypeError(f"an operation gave {type(part).__name__}, not bytes")
        return b"".join(parts)

    def operand(self, text, tag):
        """What decryption takes: some interfaces want the tag behind the ciphertext."""
        return text + tag if self.direction == DECRYPT and self.joined else text

    def beside(self, tag):
        """What an operation takes beside nonce and text: such interfaces the associated data, others the tag."""
        return self.aad if self.joined else tag


def hello():
    lines = [f"version {algorithms.VERSION}", *(f"build {fact}" for fact in algorithms.BUILD)]
    return "\n".join([*lines, ""]).encode()


def open_session(r):
    ident, direction, tag_len, nonce_len = r.u32(), r.u8(), r.u8(), r.u8()
    session = Session(r.bytes(r.u8()).decode(), direction, nonce_len, tag_len)
    offered = algorithms.provide(session, r.rest())
    if isinstance(offered, str):
        return UNSUPPORTED, offered.encode()
    session.run, session.joined, calls = offered
    sessions[ident] = session
    return DONE, calls.encode()


def once(r):
    """Runs one message: what every check goes through."""
    s, aad_len, size = sessions[r.u32()], r.u32(), r.u32()
    nonce, s.aad, text = r.bytes(s.nonce_len), r.bytes(aad_len), r.bytes(size)
    tag = r.bytes(s.tag_len)
    try:
        return DONE, s.written(s.run(nonce, s.operand(text, tag), s.beside(tag)))
    except algorithms.WRONG_TAG:
        return REJECTED, b""
    except Exception as e:  # whatever a package raises is its answer
        return FAILED, f"{type(e).__name__}: {e}".encode()


def place(r):
    s = sessions[r.u32()]
    s.size, s.count, s.keep, s.fresh, s.expected = r.u32(), r.u32(), r.u32(), r.u8() == 1, r.u8()
    s.aad = r.bytes(r.u32())
    s.inputs = [r.bytes(s.size) for _ in range(s.count)]
    s.operands = [None] * s.count
    s.outputs = [b""] * s.keep
    return DONE, struct.pack("<Q", ran.get(s.key(), 0))


def ready(s, r):
    """The nonces, tags and operands of the ring."""
    poison = r.u32()
    nonces = [r.bytes(s.nonce_len) for _ in range(RING)]
    tags = [r.bytes(s.tag_len) for _ in range(RING)]
    operands = []
    for i, tag in enumerate(tags):
        message = i % s.count
        whole = s.operand(s.inputs[message], tag)
        if i < s.count and s.operands[message] != whole:
            s.operands[message] = whole
        # Messages whose tags are the same share the memory.
        operands.append(s.operands[message] if s.operands[message] == whole else whole)
    if poison < 256:
        filled = (0 if s.direction == DIGEST else s.size) + (0 if s.direction == DECRYPT else s.tag_len)
        s.outputs = [bytes([poison]) * filled] * s.keep
    return nonces, operands, tags


def work(s, ring, at, ops):
    """What each operation takes, worked out before the clock starts: nonces that count up are new bytes objects."""
    nonces, operands, tags = ring
    order = [(at + i) % RING for i in range(RING)]
    nonces = [nonces[k] for k in order]

    def again(values):
        return itertools.islice(itertools.cycle(values), ops)

    uses = again(nonces)
    if s.fresh:
        parts, mask = [(int.from_bytes(n[:8], "little"), n[8:]) for n in nonces], (1 << 64) - 1
        uses = [(head + done & mask).to_bytes(8, "little") + tail for done in range(0, ops, RING) for head, tail in parts]
    operands, tags = [operands[k] for k in order], [s.beside(tags[k]) for k in order]
    return list(zip(uses, again(operands), again(tags), again([k % s.keep for k in order])))


def batch(run, todo, outputs, expected):
    """What is timed: operations on the ring in turn."""
    clock, wrong, codes = time.perf_counter_ns, algorithms.WRONG_TAG, 0
    done, rejected = DONE ^ expected, REJECTED ^ expected
    begin = clock()
    for nonce, operand, beside, place in todo:
        try:
            outputs[place] = run(nonce, operand, beside)
            codes |= done
        except wrong:
            codes |= rejected
    return clock() - begin, codes


def timed(r):
    s, at, ops = sessions[r.u32()], r.u32(), r.u32()
    todo = work(s, ready(s, r), at, ops)
    took, codes = batch(s.run, todo, s.outputs, s.expected)
    ran[s.key()] = ran.get(s.key(), 0) + ops
    return DONE, struct.pack("<QiQQQ", took, codes, UNKNOWN, collecting["ns"], 0)


def left(r):
    s = sessions[r.u32()]
    each = (0 if s.direction == DIGEST else s.size) + (0 if s.direction == DECRYPT else s.tag_len)
    return DONE, b"".join(s.written(o or bytes(each)) for o in s.outputs)


ANSWERS = {
    ord("H"): lambda r: (DONE, hello()),
    ord("O"): open_session,
    ord("M"): once,
    ord("P"): place,
    ord("R"): timed,
    ord("G"): left,
}


def main():
    requests = os.fdopen(0, "rb", 1 << 16)
    gc.callbacks.append(collection)
    while len(head := requests.read(4)) == 4:
        request = requests.read(struct.unpack("<I", head)[0])
        status, body = ANSWERS[request[0]](Reader(request[1:]))
        reply = memoryview(struct.pack("<IB", len(body) + 1, status) + body)
        while reply:
            reply = reply[replies.write(reply) :]


main()
