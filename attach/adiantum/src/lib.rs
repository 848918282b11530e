//! The crate adiantum as a library that ciphermark loads: `libciphermark_adiantum.so`.
//!
//! Which calls are made and what is inside the clock: README.md.
use adiantum::Cipher;
use adiantum::cipher::consts::U24;
use adiantum::cipher::{KeyInit, KeyIvInit, KeySizeUser, StreamCipher};
use aes::Aes256;
use chacha20::{XChaCha12, XChaCha20};
use contract::export::{Buffer, Done, Mode, OpenError, Opened, Refusal, Wanted, raw};
use std::ffi::CStr;

contract::adapter! { c"adiantum", open }

fn open(wanted: &Wanted<'_>) -> Opened {
    match wanted.algorithm {
        "adiantum" => opened::<XChaCha12>(wanted),
        "adiantum-xchacha20" => opened::<XChaCha20>(wanted),
        name => Err(OpenError::Unsupported(format!("the crate adiantum has no {name}"))),
    }
}

fn opened<S: Stream>(wanted: &Wanted<'_>) -> Opened {
    wanted.cipher(Wide::<S>::keyed(wanted.key).ok_or_else(|| wanted.no_such_key())?)
}

/// A stream cipher that Adiantum can be made with.
trait Stream: KeyIvInit<IvSize = U24> + StreamCipher + 'static {}

impl<S: KeyIvInit<IvSize = U24> + StreamCipher + 'static> Stream for S {}

/// Adiantum under an expanded key. The crate works in place only.
struct Wide<S: KeySizeUser>(Cipher<S, Aes256>);

impl<S: Stream> Wide<S> {
    fn keyed(key: &[u8]) -> Option<Self> {
        Cipher::new_from_slice(key).ok().map(Self)
    }
}

impl<S: Stream> Mode for Wide<S> {
    type Nonce = [u8; 32];
    type Tag = [u8; 0];
    const FLAGS: u32 = raw::IN_PLACE | raw::COPIES;
    const CALLS: [&'static CStr; 2] = [c"Cipher::encrypt", c"Cipher::decrypt"];
    const REKEY: Option<&'static CStr> = Some(c"KeyInit::new_from_slice");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        Self::keyed(key)
    }

    fn encrypt(&mut self, tweak: &[u8; 32], _: &[u8], buffer: Buffer<'_>) -> Done<[u8; 0]> {
        self.0.encrypt(page(buffer)?, tweak);
        Ok([])
    }

    fn decrypt(&mut self, tweak: &[u8; 32], _: &[u8], buffer: Buffer<'_>, _: &[u8; 0]) -> Done {
        self.0.decrypt(page(buffer)?, tweak);
        Ok(())
    }
}

/// As far as the crate goes: below a block and past four pieces of NH and a block it panics.
const MOST: usize = 4 * 1024 + 16;

fn page<'o>(buffer: Buffer<'o>) -> Done<&'o mut [u8]> {
    if (16..=MOST).contains(&buffer.len()) {
        Ok(buffer.into_out_with_copied_in())
    } else {
        Err(Refusal::Failed)
    }
}
