"""Holds `ciphermark once` against Python's `cryptography` package, byte for byte.

    agree.py CIPHERMARK NAME=PATH...

Every algorithm that both have; in one of the libraries in turn every defined size up to two blocks, and those around each
further block up to sixteen; some of them in all libraries, there also decrypted again. Prints the number of comparisons;
exits with 1 and a line for each difference when there are any.
"""

import concurrent.futures
import hashlib
import os
import subprocess
import sys

from cryptography.hazmat.decrepit.ciphers.modes import CFB, OFB
from cryptography.hazmat.primitives.ciphers import Cipher, algorithms, modes
from cryptography.hazmat.primitives.ciphers.aead import (
    AESCCM,
    AESGCM,
    AESOCB3,
    ChaCha20Poly1305,
)

SIZES = [size for size in range(258) if size <= 33 or size % 16 in (15, 0, 1)]
IN_EVERY_LIBRARY = {0, 1, 16, 17, 64, 255, 256, 257}

# Mode: what makes its cipher, bytes of nonce, which sizes are defined.
BLOCK_MODES = {
    "ecb": (lambda nonce: modes.ECB(), 0, lambda size: size % 16 == 0),
    "cbc": (modes.CBC, 16, lambda size: size % 16 == 0),
    "cfb": (CFB, 16, lambda size: True),
    "ofb": (OFB, 16, lambda size: True),
    "ctr": (modes.CTR, 16, lambda size: True),
    "xts": (modes.XTS, 16, lambda size: size >= 16),
}
AEADS = {"gcm": AESGCM, "ccm": AESCCM, "ocb": AESOCB3}


class Algorithm:
    """Name as in ciphermark, and how the package encrypts with it."""

    def __init__(self, name, key_bytes, nonce_bytes, defined, encrypt, aead):
        self.name, self.key_bytes, self.nonce_bytes = name, key_bytes, nonce_bytes
        self.defined, self.encrypt, self.aead = defined, encrypt, aead


def with_block_mode(make):
    def encrypt(key, nonce, aad, plain):
        encryptor = Cipher(algorithms.AES(key), make(nonce)).encryptor()
        return encryptor.update(plain) + encryptor.finalize()

    return encrypt


def with_aead(make):
    return lambda key, nonce, aad, plain: make(key).encrypt(nonce, plain, aad)


def both_have():
    for mode, (make, nonce_bytes, defined) in BLOCK_MODES.items():
        for bits in (128, 256) if mode == "xts" else (128, 192, 256):
            key_bytes = bits // 8 * (2 if mode == "xts" else 1)
            name = f"aes-{bits}-{mode}"
            yield Algorithm(name, key_bytes, nonce_bytes, defined, with_block_mode(make), False)
    for mode, make in AEADS.items():
        for bits in (128, 192, 256):
            yield Algorithm(
                f"aes-{bits}-{mode}", bits // 8, 12, lambda size: True, with_aead(make), True
            )
    yield Algorithm(
        "chacha20-poly1305", 32, 12, lambda size: True, with_aead(ChaCha20Poly1305), True
    )


def seeded(what, length):
    return hashlib.shake_128(what.encode()).digest(length)


def once(ciphermark, library, algorithm, key, nonce, aad, data, decrypt=False):
    command = [ciphermark, "once", "-a", algorithm.name, "-l", library]
    command += ["--key", key.hex(), "--nonce", nonce.hex(), "--aad", aad.hex()]
    done = subprocess.run(
        command + ["--decrypt"] * decrypt, input=data, capture_output=True, timeout=120
    )
    if done.returncode != 0:
        return f"exit code {done.returncode}: {done.stderr.decode(errors='replace').strip()}"
    return done.stdout


def compare(ciphermark, library, algorithm, size, decrypt):
    """Differences, in words."""
    seed = f"{algorithm.name} {size} "
    key, nonce = seeded(seed + "key", algorithm.key_bytes), seeded(seed + "nonce", algorithm.nonce_bytes)
    plain = seeded(seed + "plain", size)
    aad = seeded(seed + "aad", size % 37) if algorithm.aead else b""
    expected = algorithm.encrypt(key, nonce, aad, plain)
    pairs = [("encrypt", once(ciphermark, library, algorithm, key, nonce, aad, plain), expected)]
    if decrypt:
        back = once(ciphermark, library, algorithm, key, nonce, aad, expected, decrypt=True)
        pairs.append(("decrypt", back, plain))
    name = library.split("=")[0]
    differences = []
    for direction, found, wanted in pairs:
        if found != wanted:
            shown = found.hex() if isinstance(found, bytes) else found
            place = f"{name} {algorithm.name} {direction} {size} bytes"
            differences.append(f"{place}: {shown}, cryptography has {wanted.hex()}")
    return len(pairs), differences


def jobs(libraries):
    for index, algorithm in enumerate(both_have()):
        for size in filter(algorithm.defined, SIZES):
            everywhere = size in IN_EVERY_LIBRARY
            turn = (index + size) % len(libraries)
            for library in libraries if everywhere else [libraries[turn]]:
                yield library, algorithm, size, everywhere


def main(ciphermark, *libraries):
    with concurrent.futures.ThreadPoolExecutor(os.cpu_count()) as pool:
        results = list(pool.map(lambda job: compare(ciphermark, *job), jobs(libraries)))
    differences = [line for _, lines in results for line in lines]
    print("\n".join(differences[:100] or [f"{sum(n for n, _ in results)} comparisons agree"]))
    return 1 if differences else 0


if __name__ == "__main__":
    sys.exit(main(*sys.argv[1:]))
