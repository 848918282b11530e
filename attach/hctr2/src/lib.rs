//! The crate hctr2-rs as a library that ciphermark loads: `libciphermark_hctr2.so`.
//!
//! Which calls are made and what is inside the clock: README.md.
use contract::export::{Buffer, Done, Mode, OpenError, Opened, Refusal, Wanted, apart};
use hctr2_rs::{AesCipher, Hctr2, Hctr2_128, Hctr2_256};
use std::ffi::CStr;

contract::adapter! { c"hctr2-rs", open }

fn open(wanted: &Wanted<'_>) -> Opened {
    match wanted.algorithm {
        "aes-128-hctr2" => wanted.cipher(Wide(Hctr2_128::new(&wanted.key_of::<16>()?))),
        "aes-256-hctr2" => wanted.cipher(Wide(Hctr2_256::new(&wanted.key_of::<32>()?))),
        name => Err(OpenError::Unsupported(format!("the crate hctr2-rs has no {name}"))),
    }
}

/// HCTR2 under an expanded key. The crate reads one buffer and writes another.
struct Wide<A: AesCipher>(Hctr2<A>);

impl<A: AesCipher + 'static> Mode for Wide<A> {
    type Nonce = [u8; 32];
    type Tag = [u8; 0];
    const FLAGS: u32 = 0;
    const CALLS: [&'static CStr; 2] = [c"Hctr2::encrypt", c"Hctr2::decrypt"];
    const REKEY: Option<&'static CStr> = Some(c"Hctr2::new");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        (key.len() == A::KEY_LEN).then(|| Self(Hctr2::new(key)))
    }

    fn encrypt(&mut self, tweak: &[u8; 32], _: &[u8], buffer: Buffer<'_>) -> Done<[u8; 0]> {
        let (plain, output) = apart(buffer).ok_or(Refusal::Failed)?;
        self.0.encrypt(plain, tweak, output).map(|()| []).map_err(|_| Refusal::Failed)
    }

    fn decrypt(&mut self, tweak: &[u8; 32], _: &[u8], buffer: Buffer<'_>, _: &[u8; 0]) -> Done {
        let (ciphertext, output) = apart(buffer).ok_or(Refusal::Failed)?;
        self.0.decrypt(ciphertext, tweak, output).map_err(|_| Refusal::Failed)
    }
}
