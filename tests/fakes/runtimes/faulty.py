#!/usr/bin/env python3
"""The program of Python's packages with the fault that CIPHERMARK_FAULT names."""

import importlib.util
import os
import sys

OWN = os.path.join(os.path.dirname(os.path.realpath(__file__)), "../../../runtimes/python")
FAULT = os.environ["CIPHERMARK_FAULT"]
ENCRYPT, DECRYPT = 0, 1

sys.path.insert(0, OWN)
sys.argv = [sys.argv[0], "cryptography"]
import algorithms  # noqa: E402

honest = algorithms.provide


def accepts(run, nonce, text, tag, session):
    """Takes any tag for the right one."""
    if session.direction != DECRYPT or not session.joined:
        return run(nonce, text, tag)
    try:
        return run(nonce, text, tag)
    except algorithms.WRONG_TAG:
        return bytes(len(text) - len(tag))


def memoises(run, nonce, text, tag, session, known={}):
    """Keeps its answers to messages that come again."""
    if session.direction != DECRYPT:
        return run(nonce, text, tag)
    key = (id(session), nonce, text, tag, session.aad)
    if key not in known:
        known[key] = run(nonce, text, tag)
    return known[key]


def swallows(run, nonce, text, tag, session):
    """Gives nothing where an exception says why."""
    try:
        return run(nonce, text, tag)
    except Exception:
        return b""


def provide(session, key):
    offered = honest(session, key)
    wrong = {"accepts": accepts, "memoises": memoises, "swallows": swallows}.get(FAULT)
    if isinstance(offered, str) or wrong is None:
        return offered
    run, joined, calls = offered
    return (lambda nonce, text, tag: wrong(run, nonce, text, tag, session)), joined, calls


algorithms.provide = provide
spec = importlib.util.spec_from_file_location("program", os.path.join(OWN, "main.py"))
source = spec.loader.get_source("program").rsplit("main()", 1)[0]
program = {"__name__": "program"}
exec(compile(source, "main.py", "exec"), program)

if FAULT == "defers":
    # Works when it is asked for what it wrote, and says that it was done in a tenth of the time.
    batch, left, waiting = program["batch"], program["left"], []

    def later(run, todo, outputs, expected):
        waiting[:] = [(run, todo, outputs, expected)]
        return 100 * len(todo), 0

    def work(reader):
        while waiting:
            batch(*waiting.pop())
        return left(reader)

    program["batch"] = later
    program["ANSWERS"][ord("G")] = work

if FAULT == "ends":
    # In what is timed of one size: what is only checked has few messages.
    honestly = program["batch"]

    def ending(run, todo, outputs, expected):
        if len(todo) > 64 and len(todo[0][1]) == 700:
            print("no more of these", file=sys.stderr)
            os._exit(7)
        return honestly(run, todo, outputs, expected)

    program["batch"] = ending

if FAULT == "leaves":
    # A process outside of its worker's group would outlive it.
    child = os.fork()
    if child == 0:
        try:
            os.setsid()
        except PermissionError:
            os._exit(0)
        os._exit(1)
    if os.waitpid(child, 0)[1] != 0:
        sys.exit("left its worker's group")

program["main"]()
