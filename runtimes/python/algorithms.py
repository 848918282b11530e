"""The packages: each algorithm as its documentation shows it, with what can be kept for a key kept."""

import hashlib
import hmac
import ssl
import sys
import zlib

PACKAGE = sys.argv[1]
ENCRYPT, DECRYPT, DIGEST = range(3)
PYTHON = "Python " + sys.version.split()[0] + ", " + sys.implementation.name


def of_cryptography(session, key):
    first, _, last = session.name.rpartition("-")
    if session.name in ("aes-128-gcm", "aes-192-gcm", "aes-256-gcm", "chacha20-poly1305"):
        aead = aeads.AESGCM if last == "gcm" else aeads.ChaCha20Poly1305
        kept = aead(key)
        call = kept.encrypt if session.direction == ENCRYPT else kept.decrypt
        return call, True, f"{aead.__name__}.{call.__name__}, the object kept"
    try:
        if session.name in HASHES:
            algorithm = HASHES[session.name]()
            return whole(lambda: hashes.Hash(algorithm)), False, "hashes.Hash, update, finalize"
        if first.startswith("hmac") and session.name[5:] in HASHES:
            algorithm = HASHES[session.name[5:]]()
            return whole(lambda: hmacs.HMAC(key, algorithm)), False, "hmac.HMAC, update, finalize"
        if first in CIPHERS and last == "cmac":
            cipher = CIPHERS[first](key)
            return whole(lambda: cmac.CMAC(cipher)), False, "cmac.CMAC (cipher kept), update, finalize"
        if first in CIPHERS and last in ("ctr", "cbc"):
            return of_cipher(session, CIPHERS[first](key), modes.CTR if last == "ctr" else modes.CBC)
    except (AttributeError, UnsupportedAlgorithm) as lacking:
        return f"cryptography has no {session.name}: {lacking}"
    return f"not asked of cryptography: {session.name}"


def whole(make):
    """An object that takes a message, tried once: libcrypto may lack what the package has a class of."""
    make().finalize()

    def run(_nonce, text, _tag):
        digest = make()
        digest.update(text)
        return digest.finalize()

    return run


def of_cipher(session, kept, mode):
    ciphers.Cipher(kept, mode(bytes(session.nonce_len))).encryptor()
    encrypts = session.direction == ENCRYPT

    def run(nonce, text, _tag):
        cipher = ciphers.Cipher(kept, mode(nonce))
        context = cipher.encryptor() if encrypts else cipher.decryptor()
        return context.update(text) + context.finalize()

    calls = f"Cipher({type(kept).__name__} kept, {mode.__name__}), encryptor or decryptor, update, finalize"
    return run, False, calls


def of_pycryptodome(session, key):
    if session.name == "sha256":
        return lambda _nonce, text, _tag: SHA256.new(text).digest(), False, "SHA256.new, digest"
    if session.name == "hmac-sha256":
        return (
            lambda _nonce, text, _tag: HMAC.new(key, text, SHA256).digest(),
            False,
            "HMAC.new(digestmod=SHA256), digest",
        )
    if session.name == "chacha20-poly1305":
        return tagged(session, lambda nonce: ChaCha20_Poly1305.new(key=key, nonce=nonce), "ChaCha20_Poly1305.new")
    mode = session.name.rsplit("-", 1)[-1]
    if not session.name.startswith("aes-") or mode not in ("gcm", "ctr", "cbc"):
        return f"not asked of pycryptodome: {session.name}"
    if mode == "gcm":
        return tagged(session, lambda nonce: AES.new(key, AES.MODE_GCM, nonce=nonce), "AES.new(MODE_GCM)")
    if mode == "ctr":
        make = lambda nonce: AES.new(key, AES.MODE_CTR, nonce=b"", initial_value=nonce)
    else:
        make = lambda nonce: AES.new(key, AES.MODE_CBC, iv=nonce)
    if session.direction == ENCRYPT:
        return lambda nonce, text, _tag: make(nonce).encrypt(text), False, f"AES.new(MODE_{mode.upper()}), encrypt"
    return lambda nonce, text, _tag: make(nonce).decrypt(text), False, f"AES.new(MODE_{mode.upper()}), decrypt"


def tagged(session, make, calls):
    def seal(nonce, text, _tag):
        cipher = make(nonce)
        cipher.update(session.aad)
        return cipher.encrypt_and_digest(text)

    def unseal(nonce, text, tag):
        cipher = make(nonce)
        cipher.update(session.aad)
        return cipher.decrypt_and_verify(text, tag)

    run = seal if session.direction == ENCRYPT else unseal
    return run, False, calls + ", update, " + ("encrypt_and_digest" if run is seal else "decrypt_and_verify")


# How hashlib calls what has another name there.
NAMES = {"rmd160": "ripemd160", "blake2b512": "blake2b", "blake2s256": "blake2s"}

# What takes more than the message, or is no hash function.
OTHERS = {
    "shake128": (lambda text: hashlib.shake_128(text).digest(32), "hashlib.shake_128, digest"),
    "shake256": (lambda text: hashlib.shake_256(text).digest(64), "hashlib.shake_256, digest"),
    "blake2b256": (lambda text: hashlib.blake2b(text, digest_size=32).digest(), "hashlib.blake2b(digest_size=32), digest"),
    "crc32": (lambda text: zlib.crc32(text).to_bytes(4, "big"), "zlib.crc32"),
    "adler32": (lambda text: zlib.adler32(text).to_bytes(4, "big"), "zlib.adler32"),
}


def of_hashlib(session, key):
    name = session.name
    if name in OTHERS:
        run, calls = OTHERS[name]
        return lambda _nonce, text, _tag: run(text), False, calls
    if name in ("blake2b512-mac", "blake2s256-mac"):
        make = hashlib.blake2b if name[6] == "b" else hashlib.blake2s
        return lambda _nonce, text, _tag: make(text, key=key).digest(), False, f"hashlib.{make.__name__}(key=), digest"
    name = name[5:] if name.startswith("hmac-") else name
    word = NAMES.get(name, name.replace("-", "_"))
    if word not in hashlib.algorithms_available:
        return f"Python's standard library has no {session.name}"
    if session.name.startswith("hmac-"):
        return lambda _nonce, text, _tag: hmac.digest(key, text, word), False, "hmac.digest"
    if word in hashlib.algorithms_guaranteed:
        make = getattr(hashlib, word)
        return lambda _nonce, text, _tag: make(text).digest(), False, f"hashlib.{word}, digest"
    return lambda _nonce, text, _tag: hashlib.new(word, text).digest(), False, f"hashlib.new('{word}'), digest"


if PACKAGE == "cryptography":
    import cryptography
    from cryptography.exceptions import InvalidTag as WRONG_TAG
    from cryptography.exceptions import UnsupportedAlgorithm
    from cryptography.hazmat.backends.openssl import backend
    from cryptography.hazmat.primitives import ciphers, cmac, hashes
    from cryptography.hazmat.primitives import hmac as hmacs
    from cryptography.hazmat.primitives.ciphers import aead as aeads
    from cryptography.hazmat.primitives.ciphers import modes

    try:
        from cryptography.hazmat.decrepit.ciphers import algorithms as decrepit
    except ImportError:
        # Before 43 it was in one place with the others.
        decrepit = ciphers.algorithms

    HASHES = {
        "md5": lambda: hashes.MD5(),
        "sha1": lambda: hashes.SHA1(),
        "sha224": lambda: hashes.SHA224(),
        "sha256": lambda: hashes.SHA256(),
        "sha384": lambda: hashes.SHA384(),
        "sha512": lambda: hashes.SHA512(),
        "sha512-224": lambda: hashes.SHA512_224(),
        "sha512-256": lambda: hashes.SHA512_256(),
        "sha3-224": lambda: hashes.SHA3_224(),
        "sha3-256": lambda: hashes.SHA3_256(),
        "sha3-384": lambda: hashes.SHA3_384(),
        "sha3-512": lambda: hashes.SHA3_512(),
        "shake128": lambda: hashes.SHAKE128(32),
        "shake256": lambda: hashes.SHAKE256(64),
        "blake2b512": lambda: hashes.BLAKE2b(64),
        "blake2s256": lambda: hashes.BLAKE2s(32),
        "sm3": lambda: hashes.SM3(),
    }
    CIPHERS = {
        "aes-128": lambda key: ciphers.algorithms.AES(key),
        "aes-192": lambda key: ciphers.algorithms.AES(key),
        "aes-256": lambda key: ciphers.algorithms.AES(key),
        "camellia-128": lambda key: decrepit.Camellia(key),
        "camellia-192": lambda key: decrepit.Camellia(key),
        "camellia-256": lambda key: decrepit.Camellia(key),
        "sm4": lambda key: ciphers.algorithms.SM4(key),
        "seed": lambda key: decrepit.SEED(key),
        "bf": lambda key: decrepit.Blowfish(key),
        "cast5": lambda key: decrepit.CAST5(key),
        "idea": lambda key: decrepit.IDEA(key),
        "rc2": lambda key: decrepit.RC2(key),
        "des-ede3": lambda key: decrepit.TripleDES(key),
    }
    VERSION, provide = cryptography.__version__, of_cryptography
    BUILD = [PYTHON, "libcrypto: " + backend.openssl_version_text() + ", in " + cryptography.__path__[0]]
elif PACKAGE == "pycryptodome":
    try:
        import Crypto as package
        from Crypto.Cipher import AES, ChaCha20_Poly1305
        from Crypto.Hash import HMAC, SHA256
    except ImportError:
        # Debian's name for it.
        import Cryptodome as package
        from Cryptodome.Cipher import AES, ChaCha20_Poly1305
        from Cryptodome.Hash import HMAC, SHA256

    VERSION, provide, WRONG_TAG = package.__version__, of_pycryptodome, ValueError
    BUILD = [PYTHON, "its own C, no libcrypto, in " + package.__path__[0]]
else:
    VERSION, provide, WRONG_TAG = sys.version.split()[0], of_hashlib, ()
    BUILD = [PYTHON, "libcrypto of Python's own modules: " + ssl.OPENSSL_VERSION]
