//! The modes of NIST SP 800-38A over the RustCrypto crates, for blocks of any size.

use super::any::AnyCipher;
use super::{Implementation, Update};
use base::model::Direction;
use cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt,
    BlockSizeUser, InnerIvInit, KeyInit, StreamCipher, StreamCipherCoreWrapper,
};
use ctr::CtrCore;
use ctr::flavors::{Ctr64BE, Ctr128BE};
use des::TdesEde3;
use ofb::OfbCore;

/// A block cipher in both directions.
pub(super) trait BlockCipher:
    BlockCipherEncrypt + BlockCipherDecrypt + KeyInit + Clone + Send + Sync + 'static
{
    /// The key stream of a counter as wide as the block.
    fn ctr(&self, iv: Array<u8, Self::BlockSize>) -> impl StreamCipher;

    /// The key stream of output feedback.
    fn ofb(&self, iv: Array<u8, Self::BlockSize>) -> impl StreamCipher;
}

macro_rules! block_ciphers {
    ($($counter:ident: $cipher:ident;)+) => {
        $(impl BlockCipher for $cipher {
            fn ctr(&self, iv: Array<u8, Self::BlockSize>) -> impl StreamCipher {
                StreamCipherCoreWrapper::from_core(CtrCore::<&Self, $counter>::inner_iv_init(self, &iv))
            }

            fn ofb(&self, iv: Array<u8, Self::BlockSize>) -> impl StreamCipher {
                StreamCipherCoreWrapper::from_core(OfbCore::inner_iv_init(self, &iv))
            }
        })+
    };
}

block_ciphers! {
    Ctr128BE: AnyCipher;
    Ctr64BE: TdesEde3;
}

/// The initialization vector: one block.
pub(super) fn iv<C: BlockCipher>(nonce: &[u8]) -> &Array<u8, C::BlockSize> {
    nonce.try_into().expect("an initialization vector is a block")
}

/// A buffer as blocks.
///
/// # Panics
/// When it does not end with a whole block.
pub(super) fn whole_blocks<C: BlockSizeUser>(buffer: &mut [u8]) -> &mut [Array<u8, C::BlockSize>] {
    let (blocks, tail) = Array::slice_as_chunks_mut(buffer);
    assert!(tail.is_empty(), "the mode works in whole blocks, {} bytes are left", tail.len());
    blocks
}

/// Electronic codebook.
pub(super) struct Ecb<C>(pub(super) C);

impl<C: BlockCipher> Implementation for Ecb<C> {
    fn stream(&self, direction: Direction, _nonce: &[u8], _next_unit: bool) -> Option<Update<'_>> {
        Some(match direction {
            Direction::Decrypt => Box::new(|b| self.0.decrypt_blocks(whole_blocks::<C>(b))),
            _ => Box::new(|b| self.0.encrypt_blocks(whole_blocks::<C>(b))),
        })
    }
}

/// Cipher block chaining.
pub(super) struct Cbc<C>(pub(super) C);

impl<C: BlockCipher> Implementation for Cbc<C> {
    fn stream(&self, direction: Direction, nonce: &[u8], _next_unit: bool) -> Option<Update<'_>> {
        Some(if direction == Direction::Decrypt {
            let mut mode = cbc::Decryptor::inner_iv_init(&self.0, iv::<C>(nonce));
            Box::new(move |buffer| mode.decrypt_blocks(whole_blocks::<C>(buffer)))
        } else {
            let mut mode = cbc::Encryptor::inner_iv_init(&self.0, iv::<C>(nonce));
            Box::new(move |buffer| mode.encrypt_blocks(whole_blocks::<C>(buffer)))
        })
    }
}

/// Cipher feedback with full-block segments; the last segment may be partial, as in OpenSSL.
pub(super) struct Cfb<C>(pub(super) C);

impl<C: BlockCipher> Implementation for Cfb<C> {
    fn stream(&self, direction: Direction, nonce: &[u8], _next_unit: bool) -> Option<Update<'_>> {
        Some(if direction == Direction::Decrypt {
            cfb_decrypt_stream(&self.0, iv::<C>(nonce))
        } else {
            cfb_encrypt_stream(&self.0, iv::<C>(nonce))
        })
    }
}

/// Whole blocks go through the mode object that takes many at a time; from the first partial
/// block on, the stream is in the middle of a segment and goes through the buffering one.
fn cfb_encrypt_stream<'a, C: BlockCipher>(
    cipher: &'a C,
    iv: &Array<u8, C::BlockSize>,
) -> Update<'a> {
    let mut last = iv.clone();
    let mut buffered: Option<cfb_mode::BufEncryptor<&C>> = None;
    Box::new(move |buffer| {
        let whole = if buffered.is_none() { buffer.len() / last.len() * last.len() } else { 0 };
        let (whole, rest) = buffer.split_at_mut(whole);
        let blocks = whole_blocks::<C>(whole);
        cfb_mode::Encryptor::inner_iv_init(cipher, &last).encrypt_blocks(blocks);
        last = blocks.last().unwrap_or(&last).clone();
        if !rest.is_empty() {
            let begin = || cfb_mode::BufEncryptor::inner_iv_init(cipher, &last);
            buffered.get_or_insert_with(begin).encrypt(rest);
        }
    })
}

fn cfb_decrypt_stream<'a, C: BlockCipher>(
    cipher: &'a C,
    iv: &Array<u8, C::BlockSize>,
) -> Update<'a> {
    let mut last = iv.clone();
    let mut buffered: Option<cfb_mode::BufDecryptor<&C>> = None;
    Box::new(move |buffer| {
        let whole = if buffered.is_none() { buffer.len() / last.len() * last.len() } else { 0 };
        let (whole, rest) = buffer.split_at_mut(whole);
        let blocks = whole_blocks::<C>(whole);
        let next = blocks.last().unwrap_or(&last).clone();
        cfb_mode::Decryptor::inner_iv_init(cipher, &last).decrypt_blocks(blocks);
        last = next;
        if !rest.is_empty() {
            let begin = || cfb_mode::BufDecryptor::inner_iv_init(cipher, &last);
            buffered.get_or_insert_with(begin).decrypt(rest);
        }
    })
}

/// Output feedback.
pub(super) struct Ofb<C>(pub(super) C);

impl<C: BlockCipher> Implementation for Ofb<C> {
    fn stream(&self, _direction: Direction, nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        let mut keystream = self.0.ofb(iv::<C>(nonce).clone());
        Some(Box::new(move |buffer| keystream.apply_keystream(buffer)))
    }
}

/// Counter mode; the nonce is the initial counter block, all of whose bits count.
pub(super) struct Ctr<C>(pub(super) C);

impl<C: BlockCipher> Implementation for Ctr<C> {
    fn stream(&self, _direction: Direction, nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        let mut keystream = self.0.ctr(iv::<C>(nonce).clone());
        Some(Box::new(move |buffer| keystream.apply_keystream(buffer)))
    }
}
