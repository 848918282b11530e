//! XTS: the crate `xts-mode`.

use crate::mode::{Block, BlockCipher, Buffer, Mode, Refusal, Streaming, Update};
use cipher::Array;
use cipher::consts::{U0, U16};
use std::rc::Rc;
use xts_mode::Xts128;

/// XTS over one data unit. The crate works in place only, so that out of place the copy is what
/// its users pay, and part of the call.
pub(crate) struct Xts<C>(Rc<Xts128<C>>);

impl<C: BlockCipher> Xts<C> {
    /// The key is the data key, then the tweak key.
    pub(crate) fn new(key: &[u8]) -> Option<Self> {
        let (data, tweak) = key.split_at(key.len() / 2);
        let (data, tweak) = (C::new_from_slice(data).ok()?, C::new_from_slice(tweak).ok()?);
        Some(Self(Rc::new(Xts128::new(data, tweak))))
    }
}

impl<C: BlockCipher> Mode for Xts<C> {
    type NonceSize = U16;
    type TagSize = U0;

    fn encrypt(
        &self,
        tweak: &Block,
        _: &[u8],
        buffer: Buffer<'_, '_>,
    ) -> Result<Array<u8, U0>, Refusal> {
        self.0.encrypt_sector(unit(buffer)?, *tweak);
        Ok(Array::default())
    }

    fn decrypt(
        &self,
        tweak: &Block,
        _: &[u8],
        buffer: Buffer<'_, '_>,
        _: &Array<u8, U0>,
    ) -> Result<(), Refusal> {
        self.0.decrypt_sector(unit(buffer)?, *tweak);
        Ok(())
    }
}

/// The crate panics below one block.
fn unit<'o>(buffer: Buffer<'_, 'o>) -> Result<&'o mut [u8], Refusal> {
    if buffer.len() < size_of::<Block>() {
        return Err(Refusal::Length);
    }
    Ok(buffer.into_out_with_copied_in())
}

impl<C: BlockCipher> Streaming for Xts<C> {
    type Encryptor = Encrypting<C>;
    type Decryptor = Decrypting<C>;

    fn start_encrypting(&self, tweak: &Block) -> Self::Encryptor {
        Encrypting(Rc::clone(&self.0), *tweak)
    }

    fn start_decrypting(&self, tweak: &Block) -> Self::Decryptor {
        Decrypting(Rc::clone(&self.0), *tweak)
    }
}

/// Data units one after the other, all under one tweak.
pub(crate) struct Encrypting<C>(Rc<Xts128<C>>, Block);

impl<C: BlockCipher> Update for Encrypting<C> {
    fn update(&mut self, buffer: Buffer<'_, '_>) -> Result<(), Refusal> {
        self.0.encrypt_sector(unit(buffer)?, self.1);
        Ok(())
    }
}

/// Data units one after the other, all under one tweak.
pub(crate) struct Decrypting<C>(Rc<Xts128<C>>, Block);

impl<C: BlockCipher> Update for Decrypting<C> {
    fn update(&mut self, buffer: Buffer<'_, '_>) -> Result<(), Refusal> {
        self.0.decrypt_sector(unit(buffer)?, self.1);
        Ok(())
    }
}
