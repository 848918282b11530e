//! Ciphers: blocks, streams, feedback modes, XTS, and those with authentication.
//!
//! What the modes ask of a block cipher.
use ::aead::{AeadInOut, Nonce, Tag};
use aes_gcm::AesGcm;
use aes_gcm_siv::AesGcmSiv;
use aes_siv::siv::CmacSiv;
use ascon_aead::AsconAead128;
use ccm::Ccm;
use chacha20poly1305::{ChaCha20Poly1305, XChaCha20Poly1305};
use cipher::array::ArraySize;
use cipher::common::InnerInit;
use cipher::consts::{U0, U8, U12, U16, U32};
use cipher::{
    Array, BlockCipherDecrypt, BlockCipherEncrypt, BlockModeDecrypt, BlockModeEncrypt,
    BlockSizeUser, InOutBuf, InnerIvInit, Iv, IvState, KeyInit, KeyIvInit, StreamCipher,
};
use contract::export::{Buffer, Bytes, Done, Mode, Refusal, Streaming, Update, raw};
use ctr::{Ctr64BE, Ctr128BE, CtrCore};
use eax::Eax;
use hmac::digest::block_buffer::BlockSizes;
use ocb3::Ocb3;
use ofb::{Ofb as OfbStream, OfbCore};
use std::ffi::CStr;
use std::marker::PhantomData;
use std::rc::Rc;
use xts_mode::Xts128;

/// A cipher in both directions.
pub(crate) trait BlockCipher:
    BlockCipherEncrypt + BlockCipherDecrypt + BlockSizeUser<BlockSize: BlockSizes> + KeyInit + 'static
{
}

impl<C> BlockCipher for C where
    C: BlockCipherEncrypt
        + BlockCipherDecrypt
        + BlockSizeUser<BlockSize: BlockSizes>
        + KeyInit
        + 'static
{
}

/// One with blocks of 128 bits.
pub(crate) trait Cipher128: BlockCipher + BlockSizeUser<BlockSize = U16> + Clone {}

impl<C: BlockCipher + BlockSizeUser<BlockSize = U16> + Clone> Cipher128 for C {}

/// One with blocks of 64 bits.
pub(crate) trait Cipher64: BlockCipher + BlockSizeUser<BlockSize = U8> + Clone {}

impl<C: BlockCipher + BlockSizeUser<BlockSize = U8> + Clone> Cipher64 for C {}

/// One block, which is also what the modes take as their IV.
pub(crate) type Block<C> = Array<u8, <C as BlockSizeUser>::BlockSize>;

/// What a mode without authentication has for a tag.
pub(crate) type NoTag = Array<u8, U0>;

/// A buffer as blocks, unless a part of one is left.
pub(crate) fn whole_blocks<'a, N: ArraySize>(
    buffer: Buffer<'a>,
) -> Result<InOutBuf<'a, 'a, Array<u8, N>>, Refusal> {
    let (blocks, tail) = buffer.into_chunks();
    if tail.is_empty() { Ok(blocks) } else { Err(Refusal::Failed) }
}

// ECB and CBC: the crates `ecb` and `cbc`.

pub(crate) struct Ecb<C>(pub(crate) C);

impl<C: BlockCipher> Mode for Ecb<C> {
    type Nonce = NoTag;
    type Tag = NoTag;
    const CALLS: [&'static CStr; 2] = [
        c"ecb::Encryptor::inner_init, encrypt_blocks_inout",
        c"ecb::Decryptor::inner_init, decrypt_blocks_inout",
    ];
    const REKEY: Option<&'static CStr> = Some(c"KeyInit::new_from_slice");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        C::new_from_slice(key).ok().map(Self)
    }

    fn encrypt(&mut self, _: &NoTag, _: &[u8], buffer: Buffer<'_>) -> Done<NoTag> {
        ecb::Encryptor::inner_init(&self.0).encrypt_blocks_inout(whole_blocks(buffer)?);
        Ok(NoTag::default())
    }

    fn decrypt(&mut self, _: &NoTag, _: &[u8], buffer: Buffer<'_>, _: &NoTag) -> Done {
        ecb::Decryptor::inner_init(&self.0).decrypt_blocks_inout(whole_blocks(buffer)?);
        Ok(())
    }
}

// A stream owns a copy of the expanded key; Magma's type has none.
impl<C: BlockCipher + Clone> Streaming for Ecb<C> {
    type Encryptor = Encrypting<ecb::Encryptor<C>>;
    type Decryptor = Decrypting<ecb::Decryptor<C>>;

    fn start_encrypting(&self, _: &NoTag) -> Self::Encryptor {
        Encrypting(ecb::Encryptor::inner_init(self.0.clone()))
    }

    fn start_decrypting(&self, _: &NoTag) -> Self::Decryptor {
        Decrypting(ecb::Decryptor::inner_init(self.0.clone()))
    }
}

/// A mode with an IV of one of the crates, all of which have the same two mode objects: what encrypts and
/// decrypts a message, and what is made of its buffer.
macro_rules! mode_with_iv {
    (
        $(#[$doc:meta])* $name:ident, $krate:ident,
        $encrypt:ident, $decrypt:ident, |$buffer:ident| $made:expr, $calls:expr $(,)?
    ) => {
        $(#[$doc])*
        pub(crate) struct $name<C>(pub(crate) C);

        impl<C: BlockCipher> Mode for $name<C> {
            type Nonce = Block<C>;
            type Tag = NoTag;
            const CALLS: [&'static CStr; 2] = $calls;
            const REKEY: Option<&'static CStr> = Some(c"KeyInit::new_from_slice");

            fn rekeyed(&self, key: &[u8]) -> Option<Self> {
                C::new_from_slice(key).ok().map(Self)
            }

            fn encrypt(
                &mut self,
                iv: &Block<C>,
                _: &[u8],
                $buffer: Buffer<'_>,
            ) -> Done<NoTag> {
                $krate::Encryptor::inner_iv_init(&self.0, iv).$encrypt($made);
                Ok(NoTag::default())
            }

            fn decrypt(
                &mut self,
                iv: &Block<C>,
                _: &[u8],
                $buffer: Buffer<'_>,
                _: &NoTag,
            ) -> Done {
                $krate::Decryptor::inner_iv_init(&self.0, iv).$decrypt($made);
                Ok(())
            }
        }
    };
}

/// Streams of such a mode in whole blocks.
macro_rules! stream_of_blocks {
    ($name:ident, $krate:ident) => {
        impl<C: BlockCipher + Clone> Streaming for $name<C> {
            type Encryptor = $crate::ciphers::Encrypting<$krate::Encryptor<C>>;
            type Decryptor = $crate::ciphers::Decrypting<$krate::Decryptor<C>>;

            fn start_encrypting(&self, iv: &Block<C>) -> Self::Encryptor {
                $crate::ciphers::Encrypting($krate::Encryptor::inner_iv_init(self.0.clone(), iv))
            }

            fn start_decrypting(&self, iv: &Block<C>) -> Self::Decryptor {
                $crate::ciphers::Decrypting($krate::Decryptor::inner_iv_init(self.0.clone(), iv))
            }
        }
    };
}

mode_with_iv!(
    Cbc,
    cbc,
    encrypt_blocks_inout,
    decrypt_blocks_inout,
    |buffer| whole_blocks(buffer)?,
    [
        c"cbc::Encryptor::inner_iv_init, encrypt_blocks_inout",
        c"cbc::Decryptor::inner_iv_init, decrypt_blocks_inout",
    ]
);
stream_of_blocks!(Cbc, cbc);

/// A mode object that takes whole blocks.
pub(crate) struct Encrypting<M>(pub(crate) M);

impl<M: BlockModeEncrypt + 'static> Update for Encrypting<M> {
    fn update(&mut self, buffer: Buffer<'_>) -> Done {
        self.0.encrypt_blocks_inout(whole_blocks(buffer)?);
        Ok(())
    }
}

/// A mode object that takes whole blocks.
pub(crate) struct Decrypting<M>(pub(crate) M);

impl<M: BlockModeDecrypt + 'static> Update for Decrypting<M> {
    fn update(&mut self, buffer: Buffer<'_>) -> Done {
        self.0.decrypt_blocks_inout(whole_blocks(buffer)?);
        Ok(())
    }
}

// CTR, OFB, ChaCha and Salsa20, which make a key stream: the crates `ctr`, `ofb`, `chacha20` and `salsa20`.

/// A mode whose directions both add the same key stream. `$stream` wraps `$core` so that it takes
/// pieces of any length; both are generic over the cipher, which a message borrows.
macro_rules! keystream_mode {
    ($(#[$doc:meta])* $name:ident, $cipher:ident, $stream:ident, $core:ident, $call:literal) => {
        $(#[$doc])*
        pub(crate) struct $name<C>(pub(crate) C);

        impl<C: $cipher> Mode for $name<C> {
            type Nonce = Block<C>;
            type Tag = NoTag;
            const CALLS: [&'static CStr; 2] = [$call; 2];
            const REKEY: Option<&'static CStr> = Some(c"KeyInit::new_from_slice");

            fn rekeyed(&self, key: &[u8]) -> Option<Self> {
                C::new_from_slice(key).ok().map(Self)
            }

            fn encrypt(
                &mut self,
                iv: &Block<C>,
                _: &[u8],
                buffer: Buffer<'_>,
            ) -> Done<NoTag> {
                apply(&mut $stream::from_core($core::inner_iv_init(&self.0, iv)), buffer)?;
                Ok(NoTag::default())
            }

            fn decrypt(
                &mut self,
                iv: &Block<C>,
                aad: &[u8],
                buffer: Buffer<'_>,
                _: &NoTag,
            ) -> Done {
                self.encrypt(iv, aad, buffer).map(|_| ())
            }
        }

        impl<C: $cipher + Clone> Streaming for $name<C> {
            type Encryptor = Started<$stream<C>>;
            type Decryptor = Started<$stream<C>>;

            fn start_encrypting(&self, iv: &Block<C>) -> Self::Encryptor {
                Started($stream::from_core($core::inner_iv_init(self.0.clone(), iv)))
            }

            fn start_decrypting(&self, iv: &Block<C>) -> Self::Decryptor {
                self.start_encrypting(iv)
            }
        }
    };
}

keystream_mode!(
    /// Counter mode with a 128-bit big-endian counter.
    Ctr,
    Cipher128,
    Ctr128BE,
    CtrCore,
    c"ctr::CtrCore::inner_iv_init, Ctr128BE::try_apply_keystream_inout"
);
keystream_mode!(
    /// Counter mode with a 64-bit big-endian counter.
    Ctr64,
    Cipher64,
    Ctr64BE,
    CtrCore,
    c"ctr::CtrCore::inner_iv_init, Ctr64BE::try_apply_keystream_inout"
);
keystream_mode!(
    Ofb,
    BlockCipher,
    OfbStream,
    OfbCore,
    c"ofb::OfbCore::inner_iv_init, Ofb::try_apply_keystream_inout"
);

/// A stream cipher from block 0; none has a key schedule.
pub(crate) struct KeyStream<S>(Array<u8, U32>, PhantomData<S>);

impl<S> KeyStream<S> {
    pub(crate) fn new(key: [u8; 32]) -> Self {
        Self(Array(key), PhantomData)
    }
}

impl<S: StreamCipher + KeyIvInit<KeySize = U32> + 'static> Mode for KeyStream<S>
where
    Iv<S>: Bytes,
{
    type Nonce = Iv<S>;
    type Tag = NoTag;
    const CALLS: [&'static CStr; 2] =
        [c"KeyIvInit::new, StreamCipher::try_apply_keystream_inout"; 2];
    const REKEY: Option<&'static CStr> = Some(c"none: the key is an argument of each message");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        key.try_into().ok().map(Self::new)
    }

    fn encrypt(&mut self, nonce: &Self::Nonce, _: &[u8], buffer: Buffer<'_>) -> Done<NoTag> {
        apply(&mut S::new(&self.0, nonce), buffer)?;
        Ok(NoTag::default())
    }

    fn decrypt(&mut self, nonce: &Self::Nonce, aad: &[u8], buffer: Buffer<'_>, _: &NoTag) -> Done {
        self.encrypt(nonce, aad, buffer).map(|_| ())
    }
}

impl<S: StreamCipher + KeyIvInit<KeySize = U32> + 'static> Streaming for KeyStream<S>
where
    Iv<S>: Bytes,
{
    type Encryptor = Started<S>;
    type Decryptor = Started<S>;

    fn start_encrypting(&self, nonce: &Self::Nonce) -> Self::Encryptor {
        Started(S::new(&self.0, nonce))
    }

    fn start_decrypting(&self, nonce: &Self::Nonce) -> Self::Decryptor {
        self.start_encrypting(nonce)
    }
}

/// A key stream that goes on.
pub(crate) struct Started<S>(S);

impl<S: StreamCipher + 'static> Update for Started<S> {
    fn update(&mut self, buffer: Buffer<'_>) -> Done {
        apply(&mut self.0, buffer)
    }
}

fn apply(keystream: &mut impl StreamCipher, buffer: Buffer<'_>) -> Done {
    keystream.try_apply_keystream_inout(buffer).map_err(|_| Refusal::Failed)
}

// CFB with segments of a block and of a byte: the crates `cfb-mode` and `cfb8`.

mode_with_iv!(
    /// Cipher feedback with full-block segments.
    Cfb,
    cfb_mode,
    encrypt_inout,
    decrypt_inout,
    |buffer| buffer,
    [
        c"cfb_mode::Encryptor::inner_iv_init, encrypt_inout",
        c"cfb_mode::Decryptor::inner_iv_init, decrypt_inout",
    ]
);
mode_with_iv!(
    /// Cipher feedback with segments of a byte.
    Cfb8,
    cfb8,
    encrypt_inout,
    decrypt_inout,
    |buffer| buffer,
    [
        c"cfb8::Encryptor::inner_iv_init, encrypt_inout",
        c"cfb8::Decryptor::inner_iv_init, decrypt_inout",
    ]
);
// To the crate a segment is a block of one byte, so that pieces of any length are whole blocks.
stream_of_blocks!(Cfb8, cfb8);

impl<C: BlockCipher + Clone> Streaming for Cfb<C> {
    type Encryptor = CfbEncrypting<C>;
    type Decryptor = CfbDecrypting<C>;

    fn start_encrypting(&self, iv: &Block<C>) -> Self::Encryptor {
        let cipher = self.0.clone();
        CfbEncrypting::Whole(self.0.clone(), cfb_mode::Encryptor::inner_iv_init(cipher, iv))
    }

    fn start_decrypting(&self, iv: &Block<C>) -> Self::Decryptor {
        let cipher = self.0.clone();
        CfbDecrypting::Whole(self.0.clone(), cfb_mode::Decryptor::inner_iv_init(cipher, iv))
    }
}

/// The crate has one mode object for whole blocks, which goes through the cipher many blocks at a
/// time where the mode allows, and one for pieces of any length, which never does. A stream keeps
/// to the first until a piece leaves a block unfinished.
macro_rules! cfb_stream {
    ($name:ident, $whole:ident, $pieces:ident, $blocks:ident, $any:ident) => {
        pub(crate) enum $name<C: BlockCipher + Clone> {
            Whole(C, cfb_mode::$whole<C>),
            Pieces(cfb_mode::$pieces<C>),
        }

        impl<C: BlockCipher + Clone> Update for $name<C> {
            fn update(&mut self, buffer: Buffer<'_>) -> Done {
                match self {
                    Self::Whole(_, mode) if is_whole::<C>(&buffer) => {
                        mode.$blocks(whole_blocks(buffer)?);
                    }
                    Self::Whole(cipher, mode) => {
                        let iv = mode.iv_state();
                        let mut pieces = cfb_mode::$pieces::inner_iv_init(cipher.clone(), &iv);
                        pieces.$any(buffer.into_out_with_copied_in());
                        *self = Self::Pieces(pieces);
                    }
                    Self::Pieces(mode) => mode.$any(buffer.into_out_with_copied_in()),
                }
                Ok(())
            }
        }
    };
}

cfb_stream!(CfbEncrypting, Encryptor, BufEncryptor, encrypt_blocks_inout, encrypt);
cfb_stream!(CfbDecrypting, Decryptor, BufDecryptor, decrypt_blocks_inout, decrypt);

fn is_whole<C: BlockSizeUser>(buffer: &Buffer<'_>) -> bool {
    buffer.len().is_multiple_of(C::block_size())
}

// XTS: the crate `xts-mode`.

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
    type Encryptor = XtsEncrypting<C>;
    type Decryptor = XtsDecrypting<C>;

    fn start_encrypting(&self, tweak: &Block<C>) -> Self::Encryptor {
        XtsEncrypting(Rc::clone(&self.0), *tweak)
    }

    fn start_decrypting(&self, tweak: &Block<C>) -> Self::Decryptor {
        XtsDecrypting(Rc::clone(&self.0), *tweak)
    }
}

/// Data units one after the other, all under one tweak.
pub(crate) struct XtsEncrypting<C: Cipher128>(Rc<Xts128<C>>, Block<C>);

impl<C: Cipher128> Update for XtsEncrypting<C> {
    fn update(&mut self, buffer: Buffer<'_>) -> Done {
        self.0.encrypt_sector(unit(buffer)?, self.1);
        Ok(())
    }
}

/// Data units one after the other, all under one tweak.
pub(crate) struct XtsDecrypting<C: Cipher128>(Rc<Xts128<C>>, Block<C>);

impl<C: Cipher128> Update for XtsDecrypting<C> {
    fn update(&mut self, buffer: Buffer<'_>) -> Done {
        self.0.decrypt_sector(unit(buffer)?, self.1);
        Ok(())
    }
}

// The authenticated modes: the crates `aes-gcm`, `aes-gcm-siv`, `ccm`, `eax`, `ocb3`, `aes-siv`
// `chacha20poly1305` and `ascon-aead`, all but a part of `aes-siv` behind the trait `aead::AeadInOut`. It
// knows whole messages only, so there are no streams.

/// An authenticated mode that takes messages of up to `MAX_LEN` bytes. Decrypting longer ones, the
/// crates report the same error as for a wrong tag, or (CCM, past 64 GiB) panic.
pub(crate) struct Aead<A, const MAX_LEN: u64>(pub(crate) A);

/// NIST SP 800-38D §5.2.1.1.
pub(crate) type Gcm<C> = Aead<AesGcm<C, U12>, { aes_gcm::P_MAX }>;
/// RFC 8452 §6.
pub(crate) type GcmSiv<C> = Aead<AesGcmSiv<C>, { aes_gcm_siv::P_MAX }>;
/// 12 bytes of nonce leave three for the length, NIST SP 800-38C A.1.
pub(crate) type CcmMode<C, TagLen = U16> = Aead<Ccm<C, TagLen, U12>, { (1 << 24) - 1 }>;
/// The crate's own limit.
pub(crate) type EaxMode<C> = Aead<Eax<C>, { eax::P_MAX }>;
/// What the crate's default table of L values reaches.
pub(crate) type Ocb<C> = Aead<Ocb3<C, U12>, { (1 << 30) - 1 }>;
/// RFC 5297 names no limit that a length could reach.
pub(crate) type SivAead<A> = Aead<A, { u64::MAX }>;
/// All of the 32-bit block counter but block 0, RFC 8439 §2.8.
const CHACHA_MAX: u64 = 64 * ((1 << 32) - 1) - 1;
pub(crate) type AeadChaCha = Aead<ChaCha20Poly1305, CHACHA_MAX>;
pub(crate) type XChaCha = Aead<XChaCha20Poly1305, CHACHA_MAX>;
/// NIST SP 800-232's, which has no limit that a length could reach.
pub(crate) type Ascon = Aead<AsconAead128, { u64::MAX }>;

/// The name under which the crate's users know the type, and how they make one of a key.
pub(crate) trait Named: Sized {
    const CALLS: [&'static CStr; 2];
    const REKEY: &'static CStr;

    fn keyed(key: &[u8]) -> Option<Self>;
}

/// Of its key, or of a cipher under it, whose type may take keys of several lengths where the mode's takes one.
macro_rules! named {
    ($($type:ty, $name:literal $(, over $cipher:ident)? $(, of $inner:ident)?);+ $(;)?) => {
        $(
            named! { @ $type, $name, [$($cipher: Cipher128)? $($inner: Cipher128)?], $($inner)? }
        )+
    };
    (@ $type:ty, $name:literal, [$($generics:tt)*], $($inner:ident)?) => {
        impl<$($generics)*> Named for $type {
            const CALLS: [&'static CStr; 2] = [
                match CStr::from_bytes_with_nul(
                    concat!($name, "::encrypt_inout_detached\0").as_bytes(),
                ) {
                    Ok(call) => call,
                    Err(_) => panic!("the name has no NUL"),
                },
                match CStr::from_bytes_with_nul(
                    concat!($name, "::decrypt_inout_detached\0").as_bytes(),
                ) {
                    Ok(call) => call,
                    Err(_) => panic!("the name has no NUL"),
                },
            ];
            named! { @keyed $($inner)? }
        }
    };
    (@keyed) => {
        const REKEY: &'static CStr = c"KeyInit::new_from_slice";

        fn keyed(key: &[u8]) -> Option<Self> {
            Self::new_from_slice(key).ok()
        }
    };
    (@keyed $inner:ident) => {
        const REKEY: &'static CStr = c"KeyInit::new_from_slice of the cipher, From::from";

        fn keyed(key: &[u8]) -> Option<Self> {
            $inner::new_from_slice(key).ok().map(Self::from)
        }
    };
}

named! {
    AesGcm<C, U12>, "AesGcm", of C;
    AesGcmSiv<C>, "AesGcmSiv", of C;
    Ccm<C, U16, U12>, "Ccm", of C;
    Ccm<C, U8, U12>, "Ccm", of C;
    Eax<C>, "Eax", over C;
    Ocb3<C, U12>, "Ocb3", of C;
    aes_siv::Aes128SivAead, "Aes128SivAead";
    aes_siv::Aes256SivAead, "Aes256SivAead";
    ChaCha20Poly1305, "ChaCha20Poly1305";
    XChaCha20Poly1305, "XChaCha20Poly1305";
    AsconAead128, "AsconAead128";
}

impl<A: Named, const MAX_LEN: u64> Aead<A, MAX_LEN> {
    pub(crate) fn keyed(key: &[u8]) -> Option<Self> {
        A::keyed(key).map(Self)
    }
}

impl<A: AeadInOut + Named + 'static, const MAX_LEN: u64> Mode for Aead<A, MAX_LEN> {
    type Nonce = Nonce<A>;
    type Tag = Tag<A>;
    const CALLS: [&'static CStr; 2] = A::CALLS;
    const REKEY: Option<&'static CStr> = Some(A::REKEY);

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        Self::keyed(key)
    }

    fn encrypt(&mut self, nonce: &Nonce<A>, aad: &[u8], buffer: Buffer<'_>) -> Done<Tag<A>> {
        self.0.encrypt_inout_detached(nonce, aad, buffer).map_err(|_| Refusal::Failed)
    }

    fn decrypt(&mut self, nonce: &Nonce<A>, aad: &[u8], buffer: Buffer<'_>, tag: &Tag<A>) -> Done {
        if buffer.len() as u64 > MAX_LEN {
            return Err(Refusal::Failed);
        }
        self.0.decrypt_inout_detached(nonce, aad, buffer, tag).map_err(|_| Refusal::Tag)
    }
}

/// SIV over a cipher for which the crate has no authenticated type of its own. The components are
/// those of its types: the associated data, then the nonce.
pub(crate) struct Siv<C: Cipher128>(pub(crate) CmacSiv<C>);

impl<C: Cipher128> Mode for Siv<C>
where
    CmacSiv<C>: KeyInit,
{
    type Nonce = Array<u8, U16>;
    type Tag = Array<u8, U16>;
    const CALLS: [&'static CStr; 2] =
        [c"CmacSiv::encrypt_inout_detached", c"CmacSiv::decrypt_inout_detached"];
    const REKEY: Option<&'static CStr> = Some(c"KeyInit::new_from_slice");

    fn rekeyed(&self, key: &[u8]) -> Option<Self> {
        <CmacSiv<C> as KeyInit>::new_from_slice(key).ok().map(Self)
    }

    fn encrypt(&mut self, nonce: &Self::Nonce, aad: &[u8], buffer: Buffer<'_>) -> Done<Self::Tag> {
        let components = [aad, nonce.as_slice()];
        self.0.encrypt_inout_detached(components, buffer).map_err(|_| Refusal::Failed)
    }

    fn decrypt(
        &mut self,
        nonce: &Self::Nonce,
        aad: &[u8],
        buffer: Buffer<'_>,
        tag: &Self::Tag,
    ) -> Done {
        let components = [aad, nonce.as_slice()];
        self.0.decrypt_inout_detached(components, buffer, tag).map_err(|_| Refusal::Tag)
    }
}
