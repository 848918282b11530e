"""The packages: each algorithm as its documentation shows it, with what can be kept for a key kept."""

import hashlib
import hmac
import ssl
import sys

PACKAGE = sys.argv[1]
ENCRYPT, DECRYPT, DIGEST = range(3)
PYTHON = "Python " + sys.version.split()[0] + ", " + sys.implementation.name


def of_cryptography(session, key):
    aead = {"gcm": aeads.AESGCM, "poly1305": aeads.ChaCha20Poly1305}.get(session.name.rsplit("-", 1)[-1])
    mode = {"ctr": modes.CTR, "cbc": modes.CBC}.get(session.name.rsplit("-", 1)[-1])
    if session.name == "sha256":
        algorithm = hashes.SHA256()

        def run(_nonce, text, _tag):
            digest = hashes.Hash(algorithm)
            digest.update(text)
            return digest.finalize()

        return run, False, "hashes.Hash, update, finalize"
    if session.name == "hmac-sha256":
        algorithm = hashes.SHA256()

        def run(_nonce, text, _tag):
            code = hmacs.HMAC(key, algorithm)
            code.update(text)
            return code.finalize()

        return run, False, "hmac.HMAC, update, finalize"
    if session.name == "chacha20-poly1305" or session.name.startswith("aes-") and aead is aeads.AESGCM:
        kept = aead(key)
        call = kept.encrypt if session.direction == ENCRYPT else kept.decrypt
        return call, True, f"{aead.__name__}.{call.__name__}, the object kept"
    if session.name.startswith("aes-") and mode:
        aes, encrypts = ciphers.algorithms.AES(key), session.direction == ENCRYPT

        def run(nonce, text, _tag):
            cipher = ciphers.Cipher(aes, mode(nonce))
            context = cipher.encryptor() if encrypts else cipher.decryptor()
            return context.update(text) + context.finalize()

        return run, False, f"Cipher(AES kept, {mode.__name__}), encryptor or decryptor, update, finalize"
    return f"not asked of cryptography: {session.name}"


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


def of_hashlib(session, key):
    if session.name == "sha256":
        return lambda _nonce, text, _tag: hashlib.sha256(text).digest(), False, "hashlib.sha256, digest"
    if session.name == "hmac-sha256":
        return lambda _nonce, text, _tag: hmac.digest(key, text, "sha256"), False, "hmac.digest"
    return f"Python's standard library has no {session.name}"


if PACKAGE == "cryptography":
    import cryptography
    from cryptography.exceptions import InvalidTag as WRONG_TAG
    from cryptography.hazmat.backends.openssl import backend
    from cryptography.hazmat.primitives import ciphers, hashes
    from cryptography.hazmat.primitives import hmac as hmacs
    from cryptography.hazmat.primitives.ciphers import aead as aeads
    from cryptography.hazmat.primitives.ciphers import modes

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
