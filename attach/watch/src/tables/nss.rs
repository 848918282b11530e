//! NSS: PK11 functions of libnss3.

use crate::layout::{DECRYPT, DERIVE, ENCRYPT, NEITHER, RANDOM, SIGN, VERIFY};
use crate::table::{
    Does::{Begin, End, Last, Update, Whole},
    Family, Function,
    Name::Listed,
    RESULT, free, function as f, whole,
};

pub const FAMILY: Family = Family { marks: &["PK11_CipherOp"], functions: FUNCTIONS };

/// Numbers of PKCS #11's mechanisms.
const MECHANISMS: &[(u32, &str)] = &[
    (0x210, "md5"),
    (0x220, "sha1"),
    (0x250, "sha256"),
    (0x260, "sha384"),
    (0x270, "sha512"),
    (0x221, "hmac-sha1"),
    (0x251, "hmac-sha256"),
    (0x261, "hmac-sha384"),
    (0x271, "hmac-sha512"),
    (0x133, "des-ede3-cbc"),
    (0x1081, "aes-ecb"),
    (0x1082, "aes-cbc"),
    (0x1085, "aes-cbc"),
    (0x1086, "aes-ctr"),
    (0x1087, "aes-gcm"),
    (0x4021, "chacha20-poly1305"),
    (0x1226, "chacha20"),
];
/// Numbers of NSS's own for digests.
const DIGESTS: &[(u32, &str)] =
    &[(3, "md5"), (4, "sha1"), (191, "sha256"), (192, "sha384"), (193, "sha512")];

const FUNCTIONS: &[Function] = &[
    f("PK11_CreateContextBySymKey", 4, Begin)
        .cipher(NEITHER)
        .context(RESULT)
        .named(Listed(0, MECHANISMS))
        .key(2),
    f("PK11_CipherOp", 6, Update).cipher(NEITHER).int(5).moves(4, 1),
    f("PK11_AEADOp", 14, Last).cipher(NEITHER).int(13).aad_int(6).tag_int(11).moves(12, 7),
    f("PK11_Finalize", 1, End).cipher(NEITHER),
    f("PK11_CreateDigestContext", 1, Begin).digest().context(RESULT).named(Listed(0, DIGESTS)),
    f("PK11_DigestBegin", 1, Begin),
    f("PK11_DigestOp", 3, Update).digest().int(2),
    f("PK11_DigestFinal", 4, End).digest(),
    free("PK11_DestroyContext", 2, "context"),
    f("PK11_HashBuf", 4, Whole).digest().named(Listed(0, DIGESTS)).int(3),
    f("PK11_Encrypt", 8, Whole).cipher(ENCRYPT).named(Listed(1, MECHANISMS)).key(0).int(7),
    f("PK11_Decrypt", 8, Whole).cipher(DECRYPT).named(Listed(1, MECHANISMS)).key(0).int(7),
    whole("PK11_GenerateRandom", 2, RANDOM, "random").int(1),
    whole("PK11_Sign", 3, SIGN, "public key"),
    whole("PK11_SignWithMechanism", 5, SIGN, "public key"),
    whole("PK11_Verify", 4, VERIFY, "public key"),
    whole("PK11_VerifyWithMechanism", 6, VERIFY, "public key"),
    whole("PK11_PubDeriveWithKDF", 12, DERIVE, "public key"),
    whole("PK11_Derive", 6, DERIVE, "symmetric key"),
];
