//! XTS: the crate `xts-mode`.
use crate::block_cipher::{Block, Cipher128, NoTag};
use contract::export::{Buffer, Done, Mode, Refusal, Streaming, Update, raw};
use std::ffi::CStr;
use std::rc::Rc;
use xts_mode::Xts128;

/// XTS over one data unit. The crate works in place only, so that out of place the copy is what
/// its users pay, and part of the call.
pub(crate) struct Xts<C>(Rc<Xts128<C>>);

impl<C: Cipher128> Xts<C> {
    /// The key is the data key, then the tweak key.
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        let (data, tweak) = key.split_at(key.len() / 2);
        let (data, tweak) = (C::new_from_slice(data).ok()?, C::new_from_slice(tweak).ok()?);
        Some(Self(Rc::new(Xts128::new(data, tweak))))
    }
}

impl<C: Cipher128> Mode for Xts<C> {
    type Nonce = Block<C>;
    type Tag = NoTag;
    const FLAGS: u32 = raw::IN_PLACE | raw::COPIES;
    const CALLS: [&'static CStr; 2] = [c"Xts128::encrypt_sector", c"Xts128::decrypt_sector"];
    const REKEY: Option<&'static CStr> = Some(c"KeyInit::new_from_slice, Xts128::new");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        Self::new(key)
    }

    fn encrypt(&mut self, tweak: &Block<C>, _: &[u8], buffer: Buffer<'_>) -> Done<NoTag> {
        self.0.encrypt_sector(unit(buffer)?, *tweak);
        Ok(NoTag::default())
    }

    fn decrypt(&mut self, tweak: &Block<C>, _: &[u8], buffer: Buffer<'_>, _: &NoTag) -> Done {
        self.0.decrypt_sector(unit(buffer)?, *tweak);
        Ok(())
    }
}

/// The crate panics below one block.
fn unit<'o>(buffer: Buffer<'o>) -> Done<&'o mut [u8]> {
    if buffer.len() < 16 {
        return Err(Refusal::Failed);
    }
    Ok(buffer.into_out_with_copied_in())
}

impl<C: Cipher128> Streaming for Xts<C> {
    type Encryptor = Encrypting<C>;
    type Decryptor = Decrypting<C>;

    fn start_encrypting(&self, tweak: &Block<C>) -> Self::Encryptor {
        Encrypting(Rc::clone(&self.0), *tweak)
    }

    fn start_decrypting(&self, tweak: &Block<C>) -> Self::Decryptor {
        Decrypting(Rc::clone(&self.0), *tweak)
    }
}

/// Data units one after the other, all under one tweak.
pub(crate) struct Encrypting<C: Cipher128>(Rc<Xts128<C>>, Block<C>);

impl<C: Cipher128> Update for Encrypting<C> {
    fn update(&mut self, buffer: Buffer<'_>) -> Done {
        self.0.encrypt_sector(unit(buffer)?, self.1);
        Ok(())
    }
}

/// Data units one after the other, all under one tweak.
pub(crate) struct Decrypting<C: Cipher128>(Rc<Xts128<C>>, Block<C>);

impl<C: Cipher128> Update for Decrypting<C> {
    fn update(&mut self, buffer: Buffer<'_>) -> Done {
        self.0.decrypt_sector(unit(buffer)?, self.1);
        Ok(())
    }
}
