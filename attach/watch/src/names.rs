//! What an algorithm is called: asked of its library, after the call and outside of its time.

use crate::layout::FETCH;
use crate::libraries::Library;
use crate::region::{Words, algorithm};
use crate::table::{Arguments, Function, Getter, NONE, Name};
use std::sync::atomic::AtomicU64;
use std::sync::atomic::Ordering::Relaxed;

const LONGEST: usize = 47;

/// Names of OpenSSL's objects that were asked for before: the address, and the index of the name behind it.
static CACHE: [AtomicU64; 256] = [const { AtomicU64::new(0) }; 256];

fn cached(object: u64) -> &'static AtomicU64 {
    let hash = object.wrapping_mul(0x9e37_79b9_7f4a_7c15) >> 56;
    &CACHE[usize::try_from(hash).unwrap_or(0) & 255]
}

/// A text that is put together without memory of the heap.
struct Text {
    bytes: [u8; LONGEST],
    length: usize,
}

impl Text {
    const fn new() -> Self {
        Self { bytes: [0; LONGEST], length: 0 }
    }

    fn push(&mut self, text: &[u8]) {
        for byte in text {
            let Some(place) = self.bytes.get_mut(self.length) else { return };
            *place = match byte {
                b' '..=b'~' => byte.to_ascii_lowercase(),
                _ => b'?',
            };
            self.length += 1;
        }
    }

    /// Adds a C string.
    fn push_c(&mut self, text: u64) -> bool {
        if text == 0 {
            return false;
        }
        // SAFETY: a library's C string, or one that the program gave to a function that reads one.
        let text = unsafe { std::ffi::CStr::from_ptr(text as *const _) };
        self.push(text.to_bytes());
        !text.is_empty()
    }

    fn push_number(&mut self, number: u64) {
        let mut digits = [0; 20];
        let (mut at, mut rest) = (digits.len(), number);
        loop {
            at -= 1;
            digits[at] = b'0' + u8::try_from(rest % 10).unwrap_or(0);
            rest /= 10;
            if rest == 0 {
                break;
            }
        }
        self.push(&digits[at..]);
    }

    fn index(&self, region: Words) -> u64 {
        algorithm(region, &self.bytes[..self.length])
    }
}

/// Index of the name of what a call is about; none where it does not say.
pub fn of(
    region: Words,
    library: &Library,
    function: &Function,
    arguments: &Arguments,
    result: u64,
) -> Option<u64> {
    let argument = |at: u8| arguments.get(usize::from(at)).copied().unwrap_or(0);
    let ask = |getter: Getter, object: u64| library.ask(getter, object);
    let mut text = Text::new();
    let named = match function.algorithm {
        Name::Kept => false,
        Name::Fixed(name) => {
            text.push(name.as_bytes());
            true
        }
        Name::Text(at) => text.push_c(argument(at)),
        Name::Number(at, getter) => text.push_c(ask(getter, argument(at) & 0xffff_ffff)),
        Name::Listed(at, names) => {
            let number = argument(at) & 0xffff_ffff;
            let known = names.iter().find(|(of, _)| u64::from(*of) == number);
            text.push(known.map_or("number-", |(_, name)| name).as_bytes());
            if known.is_none() {
                text.push_number(number);
            }
            true
        }
        Name::GcryCipher(cipher, mode) => {
            let known = text.push_c(ask(Getter::GcryCipherName, argument(cipher) & 0xffff_ffff));
            // Its name for AES with 128 bits alone.
            if text.bytes[..text.length] == *b"aes" {
                text.push(b"128");
            }
            text.push(b"-");
            let mode = usize::try_from(argument(mode) & 0xffff_ffff).unwrap_or(usize::MAX);
            text.push(GCRY_MODES.get(mode).copied().unwrap_or("?").as_bytes());
            known
        }
        Name::Cipher(at, context) => {
            return object(
                region,
                library,
                argument(at),
                || ask(Getter::CipherOf, argument(context)),
                false,
            );
        }
        Name::Digest(at, context) => {
            return object(
                region,
                library,
                argument(at),
                || digest_of(library, argument, context),
                true,
            );
        }
        Name::Hmac(at, context) => {
            text.push(b"hmac-");
            let digest = match (argument(at), context) {
                (0, NONE) => 0,
                (0, context) => ask(Getter::HmacDigest, argument(context)),
                (digest, _) => digest,
            };
            push_object(library, &mut text, digest, true)
        }
        Name::Over(word, at) => {
            text.push(word.as_bytes());
            push_object(library, &mut text, argument(at), true)
        }
        Name::Mac(context) => {
            text.push_c(ask(Getter::MacName, ask(Getter::MacOf, argument(context))))
        }
        Name::Kdf(context) => {
            text.push_c(ask(Getter::KdfName, ask(Getter::KdfOf, argument(context))))
        }
        Name::Key(at) => push_key(library, &mut text, argument(at)),
        Name::KeyOf(at) => push_key(library, &mut text, ask(Getter::KeyOf, argument(at))),
        Name::Aead(at) => push_aead(library, &mut text, ask(Getter::AeadOf, argument(at))),
        Name::AeadKind(at) => push_aead(library, &mut text, argument(at)),
        Name::GnutlsAead(at) => push_gnutls_aead(library, &mut text, argument(at)),
    };
    if !named {
        return None;
    }
    let index = text.index(region);
    if function.operation == FETCH && result != 0 {
        cached(result).store(result << 16 | index, Relaxed);
    }
    Some(index)
}

const GCRY_MODES: [&str; 17] = [
    "none", "ecb", "cfb", "cbc", "stream", "ofb", "ctr", "wrap", "ccm", "gcm", "poly1305", "ocb",
    "cfb8", "xts", "eax", "siv", "gcm-siv",
];

fn digest_of(library: &Library, argument: impl Fn(u8) -> u64, context: u8) -> u64 {
    if context == NONE { 0 } else { library.ask(Getter::DigestOf, argument(context)) }
}

/// The name of one of OpenSSL's ciphers or digests. One that was an argument is remembered by its address; what a
/// context made for itself may be gone when another is at that address.
fn object(
    region: Words,
    library: &Library,
    given: u64,
    of_context: impl Fn() -> u64,
    is_digest: bool,
) -> Option<u64> {
    let place = cached(given);
    let known = place.load(Relaxed);
    if given != 0 && known >> 16 == given & 0xffff_ffff_ffff {
        return Some(known & 0xffff);
    }
    let asked = if given == 0 { of_context() } else { given };
    let mut text = Text::new();
    push_object(library, &mut text, asked, is_digest).then(|| {
        let index = text.index(region);
        if given != 0 {
            place.store(given << 16 | index, Relaxed);
        }
        index
    })
}

fn push_object(library: &Library, text: &mut Text, object: u64, is_digest: bool) -> bool {
    let (name, number) = match is_digest {
        true => (Getter::DigestName, Getter::DigestNumber),
        false => (Getter::CipherName, Getter::CipherNumber),
    };
    object != 0
        && (text.push_c(library.ask(name, object))
            || text
                .push_c(library.ask(Getter::NumberName, library.ask(number, object) & 0xffff_ffff)))
}

fn push_key(library: &Library, text: &mut Text, key: u64) -> bool {
    if key == 0 {
        return false;
    }
    let number = || library.ask(Getter::KeyNumber, key) & 0xffff_ffff;
    let named = text.push_c(library.ask(Getter::KeyType, key))
        || text.push_c(library.ask(Getter::NumberShort, number()));
    let bits = library.ask(Getter::KeyBits, key) & 0xffff_ffff;
    if named && bits != 0 {
        text.push(b"-");
        text.push_number(bits);
    }
    named
}

fn push_aead(library: &Library, text: &mut Text, aead: u64) -> bool {
    const KNOWN: [(Getter, &str); 7] = [
        (Getter::AeadAes128, "aes-128-gcm"),
        (Getter::AeadAes256, "aes-256-gcm"),
        (Getter::AeadAes128Tls13, "aes-128-gcm"),
        (Getter::AeadAes256Tls13, "aes-256-gcm"),
        (Getter::AeadAes128Tls12, "aes-128-gcm"),
        (Getter::AeadAes256Tls12, "aes-256-gcm"),
        (Getter::AeadChaCha, "chacha20-poly1305"),
    ];
    let known = KNOWN.iter().find(|(getter, _)| aead != 0 && library.ask(*getter, 0) == aead);
    text.push(known.map_or("aead", |(_, name)| name).as_bytes());
    true
}

/// GnuTLS tells nobody what a context made inside is for. The context's second word points to a constant of the library
/// whose first word is the name (`cipher_hd_st`, `cipher_entry_st`; 3.0 to 3.8): nothing outside of the library's file is
/// read, whatever the words are.
fn push_gnutls_aead(library: &Library, text: &mut Text, context: u64) -> bool {
    const LONGEST: usize = 32;
    // SAFETY: a context has many more words.
    let entry = unsafe { *(context as *const u64).add(1) };
    let named = library.holds(entry, 8).then(|| {
        // SAFETY: a word of the library's file.
        unsafe { *(entry as *const u64) }
    });
    let name = named.filter(|name| library.holds(*name, LONGEST)).and_then(|name| {
        // SAFETY: so many bytes of the library's file.
        let bytes = unsafe { std::slice::from_raw_parts(name as *const u8, LONGEST) };
        let end = bytes.iter().position(|byte| *byte == 0)?;
        let is_name = |byte: &u8| byte.is_ascii_alphanumeric() || *byte == b'-';
        (end > 2 && bytes[..end].iter().all(is_name)).then_some(&bytes[..end])
    });
    text.push(name.unwrap_or(&b"aead"[..]));
    true
}
