//! The modes of NIST SP 800-38A over the RustCrypto crates.

use super::xex::{Block, whole_blocks};
use super::{Implementation, Update};
use aes::{Aes128, Aes192, Aes256};
use cipher::consts::U16;
use cipher::{
    BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt, BlockSizeUser,
    InnerIvInit, KeyInit, StreamCipher, StreamCipherCoreWrapper,
};
use ctr::{Ctr128BE, CtrCore};
use model::Direction;
use ofb::OfbCore;

/// A cipher with 128-bit blocks in both directions.
pub(super) trait BlockCipher:
    BlockCipherEncrypt
    + BlockCipherDecrypt
    + BlockSizeUser<BlockSize = U16>
    + KeyInit
    + Clone
    + Send
    + Sync
    + 'static
{
}

impl BlockCipher for Aes128 {}
impl BlockCipher for Aes192 {}
impl BlockCipher for Aes256 {}

fn iv(nonce: &[u8]) -> &Block {
    nonce.try_into().expect("an IV has 16 bytes")
}

/// Electronic codebook.
pub(super) struct Ecb<C>(pub(super) C);

impl<C: BlockCipher> Implementation for Ecb<C> {
    fn encrypt(&self, _nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &mut [u8]) {
        self.0.encrypt_blocks(whole_blocks(buffer));
    }

    fn decrypt(&self, _nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &[u8]) -> bool {
        self.0.decrypt_blocks(whole_blocks(buffer));
        true
    }

    fn stream(&self, direction: Direction, _nonce: &[u8], _next_unit: bool) -> Option<Update<'_>> {
        Some(match direction {
            Direction::Decrypt => Box::new(|b| self.0.decrypt_blocks(whole_blocks(b))),
            _ => Box::new(|b| self.0.encrypt_blocks(whole_blocks(b))),
        })
    }
}

/// Cipher block chaining.
pub(super) struct Cbc<C>(pub(super) C);

impl<C: BlockCipher> Implementation for Cbc<C> {
    fn encrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &mut [u8]) {
        cbc::Encryptor::inner_iv_init(&self.0, iv(nonce)).encrypt_blocks(whole_blocks(buffer));
    }

    fn decrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &[u8]) -> bool {
        cbc::Decryptor::inner_iv_init(&self.0, iv(nonce)).decrypt_blocks(whole_blocks(buffer));
        true
    }

    fn stream(&self, direction: Direction, nonce: &[u8], _next_unit: bool) -> Option<Update<'_>> {
        Some(if direction == Direction::Decrypt {
            let mut mode = cbc::Decryptor::inner_iv_init(&self.0, iv(nonce));
            Box::new(move |buffer| mode.decrypt_blocks(whole_blocks(buffer)))
        } else {
            let mut mode = cbc::Encryptor::inner_iv_init(&self.0, iv(nonce));
            Box::new(move |buffer| mode.encrypt_blocks(whole_blocks(buffer)))
        })
    }
}

/// Cipher feedback with full-block segments; the last segment may be partial, as in OpenSSL.
pub(super) struct Cfb<C>(pub(super) C);

impl<C: BlockCipher> Implementation for Cfb<C> {
    fn encrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &mut [u8]) {
        cfb_mode::Encryptor::inner_iv_init(&self.0, iv(nonce)).encrypt(buffer);
    }

    fn decrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &[u8]) -> bool {
        cfb_mode::Decryptor::inner_iv_init(&self.0, iv(nonce)).decrypt(buffer);
        true
    }

    fn stream(&self, direction: Direction, nonce: &[u8], _next_unit: bool) -> Option<Update<'_>> {
        Some(if direction == Direction::Decrypt {
            cfb_decrypt_stream(&self.0, iv(nonce))
        } else {
            cfb_encrypt_stream(&self.0, iv(nonce))
        })
    }
}

/// Whole blocks go through the mode object that takes many at a time; from the first partial
/// block on, the stream is in the middle of a segment and goes through the buffering one.
fn cfb_encrypt_stream<'a, C: BlockCipher>(cipher: &'a C, iv: &Block) -> Update<'a> {
    let mut last = *iv;
    let mut buffered: Option<cfb_mode::BufEncryptor<&C>> = None;
    Box::new(move |buffer| {
        if buffered.is_none() && buffer.len().is_multiple_of(last.len()) {
            let blocks = whole_blocks(buffer);
            cfb_mode::Encryptor::inner_iv_init(cipher, &last).encrypt_blocks(blocks);
            last = blocks.last().copied().unwrap_or(last);
        } else {
            buffered
                .get_or_insert_with(|| cfb_mode::BufEncryptor::inner_iv_init(cipher, &last))
                .encrypt(buffer);
        }
    })
}

fn cfb_decrypt_stream<'a, C: BlockCipher>(cipher: &'a C, iv: &Block) -> Update<'a> {
    let mut last = *iv;
    let mut buffered: Option<cfb_mode::BufDecryptor<&C>> = None;
    Box::new(move |buffer| {
        if buffered.is_none() && buffer.len().is_multiple_of(last.len()) {
            let blocks = whole_blocks(buffer);
            let next = blocks.last().copied().unwrap_or(last);
            cfb_mode::Decryptor::inner_iv_init(cipher, &last).decrypt_blocks(blocks);
            last = next;
        } else {
            buffered
                .get_or_insert_with(|| cfb_mode::BufDecryptor::inner_iv_init(cipher, &last))
                .decrypt(buffer);
        }
    })
}

/// Output feedback.
pub(super) struct Ofb<C>(pub(super) C);

impl<C: BlockCipher> Ofb<C> {
    fn keystream(&self, nonce: &[u8]) -> impl StreamCipher + use<'_, C> {
        StreamCipherCoreWrapper::from_core(OfbCore::inner_iv_init(&self.0, iv(nonce)))
    }
}

impl<C: BlockCipher> Implementation for Ofb<C> {
    fn encrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &mut [u8]) {
        self.keystream(nonce).apply_keystream(buffer);
    }

    fn decrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &[u8]) -> bool {
        self.keystream(nonce).apply_keystream(buffer);
        true
    }

    fn stream(&self, _direction: Direction, nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        let mut keystream = self.keystream(nonce);
        Some(Box::new(move |buffer| keystream.apply_keystream(buffer)))
    }
}

/// Counter mode; the nonce is the initial counter block, all of whose 128 bits count.
pub(super) struct Ctr<C>(pub(super) C);

impl<C: BlockCipher> Ctr<C> {
    fn keystream(&self, nonce: &[u8]) -> impl StreamCipher + use<'_, C> {
        Ctr128BE::from_core(CtrCore::inner_iv_init(&self.0, iv(nonce)))
    }
}

impl<C: BlockCipher> Implementation for Ctr<C> {
    fn encrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &mut [u8]) {
        self.keystream(nonce).apply_keystream(buffer);
    }

    fn decrypt(&self, nonce: &[u8], _aad: &[u8], buffer: &mut [u8], _tag: &[u8]) -> bool {
        self.keystream(nonce).apply_keystream(buffer);
        true
    }

    fn stream(&self, _direction: Direction, nonce: &[u8], _next: bool) -> Option<Update<'_>> {
        let mut keystream = self.keystream(nonce);
        Some(Box::new(move |buffer| keystream.apply_keystream(buffer)))
    }
}
