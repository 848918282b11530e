//! Functions of libraries as data: a line says a function's name, how many arguments it has and what they mean.
//! One file a library, in `tables`.

use crate::layout::{self, CIPHER, DIGEST, MAC, NEITHER};

/// What a call does to the message that its context is in the middle of.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Does {
    /// Begins a message, and ends the one before it.
    Begin,
    /// Adds bytes to it.
    Update,
    /// Adds associated data.
    Aad,
    /// Is a message, or its associated data where there is no output, or its end where there is no input.
    Each,
    /// Ends it. What comes before the next message belongs to it.
    End,
    /// Changes a setting: its time is a part of the message.
    Set,
    /// The same, for OpenSSL's `ctrl`: what is set, and with which number, are the next two arguments.
    Control,
    /// A whole message without a context.
    Whole,
    /// Adds bytes to it and ends it.
    Last,
    New,
    Free,
    /// Copies one: the context gets what the one in `input` has.
    Copy,
    /// Ends the message and gives back the context's algorithm.
    Reset,
}

#[derive(Clone, Copy)]
pub enum Name {
    /// Nowhere: the context's stays.
    Kept,
    Fixed(&'static str),
    Text(u8),
    /// A number of the library's own, and the function that knows its name.
    Number(u8, Getter),
    /// One of libgcrypt's ciphers and modes.
    GcryCipher(u8, u8),
    /// A number that this table knows.
    Listed(u8, &'static [(u32, &'static str)]),
    /// OpenSSL's objects: the argument, or what the context in the second has where that is null.
    Cipher(u8, u8),
    Digest(u8, u8),
    /// A digest's name behind `hmac-`.
    Hmac(u8, u8),
    /// A digest's name behind a word of the function.
    Over(&'static str, u8),
    Mac(u8),
    Kdf(u8),
    /// A key, and a context that has one.
    Key(u8),
    KeyOf(u8),
    Aead(u8),
    /// BoringSSL's: the AEAD itself.
    AeadKind(u8),
    /// A context of GnuTLS, which may have been made inside.
    GnutlsAead(u8),
}

impl Name {
    /// The argument without which a context keeps what it has.
    pub fn given(self) -> Option<u8> {
        match self {
            Self::Cipher(at, _) | Self::Digest(at, _) | Self::Hmac(at, _) => Some(at),
            _ => None,
        }
    }
}

/// Functions of a library that tell names; the first that there is.
macro_rules! getters {
    ($($name:ident: $($symbol:literal)|+;)+) => {
        #[derive(Clone, Copy, PartialEq, Eq)]
        #[repr(usize)]
        pub enum Getter { $($name),+ }
        pub const GETTERS: &[&[&str]] = &[$(&[$($symbol),+]),+];
    };
}
getters! {
    CipherOf: "EVP_CIPHER_CTX_get0_cipher" | "EVP_CIPHER_CTX_cipher";
    CipherName: "EVP_CIPHER_get0_name";
    CipherNumber: "EVP_CIPHER_get_nid" | "EVP_CIPHER_nid";
    DigestOf: "EVP_MD_CTX_get0_md" | "EVP_MD_CTX_md";
    DigestName: "EVP_MD_get0_name";
    DigestNumber: "EVP_MD_get_type" | "EVP_MD_type";
    NumberName: "OBJ_nid2ln";
    NumberShort: "OBJ_nid2sn";
    HmacDigest: "HMAC_CTX_get_md";
    MacOf: "EVP_MAC_CTX_get0_mac";
    MacName: "EVP_MAC_get0_name";
    KdfOf: "EVP_KDF_CTX_kdf";
    KdfName: "EVP_KDF_get0_name";
    KeyOf: "EVP_PKEY_CTX_get0_pkey";
    KeyType: "EVP_PKEY_get0_type_name";
    KeyNumber: "EVP_PKEY_get_id" | "EVP_PKEY_id";
    KeyBits: "EVP_PKEY_get_bits" | "EVP_PKEY_bits";
    AeadOf: "EVP_AEAD_CTX_aead";
    AeadAes128: "EVP_aead_aes_128_gcm";
    AeadAes256: "EVP_aead_aes_256_gcm";
    AeadAes128Tls13: "EVP_aead_aes_128_gcm_tls13";
    AeadAes256Tls13: "EVP_aead_aes_256_gcm_tls13";
    AeadAes128Tls12: "EVP_aead_aes_128_gcm_tls12";
    AeadAes256Tls12: "EVP_aead_aes_256_gcm_tls12";
    AeadChaCha: "EVP_aead_chacha20_poly1305";
    GcryCipherName: "gcry_cipher_algo_name";
    GcryMdName: "gcry_md_algo_name";
    GnutlsCipherName: "gnutls_cipher_get_name";
    GnutlsDigestName: "gnutls_digest_get_name";
    GnutlsMacName: "gnutls_mac_get_name";
    GnutlsSignName: "gnutls_sign_get_name";
}

/// A call's arguments; what a function does not have is anything.
pub type Arguments = [u64; crate::enter::MOST_ARGUMENTS];

pub const NONE: u8 = u8::MAX;
/// In the place of an argument: what the function returned.
pub const RESULT: u8 = 0x20;
/// Marks a length that is an `int`: the upper half of its word is anything.
const INT: u8 = 0x40;
/// Marks buffers (`struct iovec`; with `INT` those of libgcrypt) instead of a length; how many is the next argument.
pub const VECTORS: u8 = 0x80;
/// Marks a direction that is the other way round.
pub const AWAY: u8 = 0x40;

#[derive(Clone, Copy)]
pub struct Function {
    pub name: &'static str,
    pub arguments: u8,
    pub does: Does,
    pub operation: u64,
    pub direction: u64,
    /// The argument that says the direction: 1 encrypts, 0 decrypts, anything else leaves it; with `AWAY` the other way
    /// round.
    pub direction_at: u8,
    pub algorithm: Name,
    pub context: u8,
    /// The context is what the pointer in this argument points to after the call.
    pub context_behind: bool,
    pub length: u8,
    /// The length where there is no input, because it works in place.
    pub otherwise: u8,
    /// Bytes of the length that are a tag.
    pub less: u64,
    /// Bytes that it always works on.
    pub constant: u64,
    pub aad: u8,
    pub tag: u8,
    pub key: u8,
    pub input: u8,
    pub output: u8,
}

/// A function's name, number of arguments, and what it does.
pub const fn function(name: &'static str, arguments: u8, does: Does) -> Function {
    assert!(arguments as usize <= crate::enter::MOST_ARGUMENTS, "more than `enter` keeps");
    let context = match does {
        Does::Whole | Does::New => NONE,
        _ => 0,
    };
    Function {
        name,
        arguments,
        does,
        operation: layout::OTHER,
        direction: NEITHER,
        direction_at: NONE,
        algorithm: Name::Kept,
        context,
        context_behind: false,
        length: NONE,
        otherwise: NONE,
        less: 0,
        constant: 0,
        aad: NONE,
        tag: NONE,
        key: NONE,
        input: match does {
            Does::Copy => 1,
            _ => NONE,
        },
        output: NONE,
    }
}

/// A whole operation, of an algorithm that the function's name says.
pub const fn whole(
    name: &'static str,
    arguments: u8,
    operation: u64,
    what: &'static str,
) -> Function {
    function(name, arguments, Does::Whole).of(operation).named(Name::Fixed(what))
}

/// Gives back a context.
pub const fn free(name: &'static str, arguments: u8, what: &'static str) -> Function {
    function(name, arguments, Does::Free).of(layout::FREE).named(Name::Fixed(what))
}

impl Function {
    pub const fn of(mut self, operation: u64) -> Self {
        self.operation = operation;
        self
    }
    pub const fn cipher(self, direction: u64) -> Self {
        self.of(CIPHER).toward(direction)
    }
    pub const fn toward(mut self, direction: u64) -> Self {
        self.direction = direction;
        self
    }
    pub const fn toward_at(mut self, argument: u8) -> Self {
        self.direction_at = argument;
        self
    }
    /// The same the other way round: 0 encrypts, 1 decrypts.
    pub const fn away_at(self, argument: u8) -> Self {
        self.toward_at(argument | AWAY)
    }
    pub const fn digest(self) -> Self {
        self.of(DIGEST)
    }
    pub const fn mac(self) -> Self {
        self.of(MAC)
    }
    pub const fn named(mut self, name: Name) -> Self {
        self.algorithm = name;
        self
    }
    pub const fn context(mut self, argument: u8) -> Self {
        self.context = argument;
        self
    }
    pub const fn behind(mut self, argument: u8) -> Self {
        self.context = argument;
        self.context_behind = true;
        self
    }
    /// Bytes, in an argument of 64 bits.
    pub const fn bytes(mut self, argument: u8) -> Self {
        self.length = argument;
        self
    }
    /// Bytes, in an `int`.
    pub const fn int(self, argument: u8) -> Self {
        self.bytes(argument | INT)
    }
    /// Bytes, in buffers.
    pub const fn vectors(self, argument: u8) -> Self {
        self.bytes(argument | VECTORS)
    }
    /// Bytes, in libgcrypt's buffers: size, offset, length, address.
    pub const fn buffers(self, argument: u8) -> Self {
        self.vectors(argument | INT)
    }
    pub const fn aad_vectors(self, argument: u8) -> Self {
        self.aad(argument | VECTORS)
    }
    pub const fn otherwise(mut self, argument: u8) -> Self {
        self.otherwise = argument;
        self
    }
    pub const fn constant(mut self, bytes: u64) -> Self {
        self.constant = bytes;
        self
    }
    pub const fn less(mut self, tag: u64) -> Self {
        self.less = tag;
        self
    }
    pub const fn aad(mut self, argument: u8) -> Self {
        self.aad = argument;
        self
    }
    pub const fn aad_int(self, argument: u8) -> Self {
        self.aad(argument | INT)
    }
    pub const fn tag(mut self, argument: u8) -> Self {
        self.tag = argument;
        self
    }
    pub const fn tag_int(self, argument: u8) -> Self {
        self.tag(argument | INT)
    }
    pub const fn key(mut self, argument: u8) -> Self {
        self.key = argument;
        self
    }
    /// Input and output: where they are the same, it works in place.
    pub const fn moves(mut self, input: u8, output: u8) -> Self {
        self.input = input;
        self.output = output;
        self
    }
}

/// The number in an argument that may be an `int`, or the bytes in buffers.
pub fn number(arguments: &Arguments, argument: u8) -> u64 {
    if argument != NONE && argument & VECTORS != 0 {
        let at = usize::from(argument & !(VECTORS | INT));
        let (words, length) = if argument & INT == 0 { (2, 1) } else { (4, 2) };
        return in_vectors(arguments, at, words, length);
    }
    let Some(word) = arguments.get(usize::from(argument & !INT)) else { return 0 };
    match argument & INT == 0 {
        true => *word,
        #[expect(clippy::cast_possible_truncation, clippy::cast_sign_loss, reason = "an `int`")]
        false => (*word as i32).max(0) as u64,
    }
}

/// Bytes in buffers of so many words, of which one is the length.
fn in_vectors(arguments: &Arguments, at: usize, words: usize, length: usize) -> u64 {
    let [Some(first), Some(count)] = [at, at + 1].map(|at| arguments.get(at).copied()) else {
        return 0;
    };
    // The system's own limit (IOV_MAX).
    let count = usize::try_from(count & 0x7fff_ffff).unwrap_or(0).min(1024);
    let buffers: &[u64] = match first {
        0 => &[],
        // SAFETY: the function has read them.
        first => unsafe { std::slice::from_raw_parts(first as *const u64, count * words) },
    };
    buffers.chunks_exact(words).map(|buffer| buffer[length]).fold(0, u64::saturating_add)
}

/// A library's table, and the symbol by which it is known.
pub struct Family {
    pub marks: &'static [&'static str],
    pub functions: &'static [Function],
}
