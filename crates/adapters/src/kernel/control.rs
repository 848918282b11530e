//! The control messages that go with the data: operation, IV, length of the associated data.

use crate::aligned::Aligned;
use std::mem::size_of;
use std::ptr;

/// A message's control buffer, laid out once; IV and length are written over for each message.
pub(super) struct Control {
    bytes: Aligned,
    len: usize,
    nonce_at: Option<usize>,
    nonce_len: usize,
    aad_len_at: Option<usize>,
}

impl Control {
    /// `operation` is `ALG_OP_ENCRYPT` or `ALG_OP_DECRYPT`; the nonce lies in `iv` from `nonce_at`.
    pub(super) fn new(
        operation: u32,
        iv: &[u8],
        nonce_at: usize,
        nonce_len: usize,
        has_aad: bool,
    ) -> Self {
        let mut bytes = Vec::new();
        message(&mut bytes, libc::ALG_SET_OP, &operation.to_ne_bytes());
        let iv_at = (!iv.is_empty()).then(|| {
            // struct af_alg_iv: the length, then the bytes.
            let len = u32::try_from(iv.len()).expect("IVs are a few bytes");
            let value = [&len.to_ne_bytes()[..], iv].concat();
            message(&mut bytes, libc::ALG_SET_IV, &value) + size_of::<u32>()
        });
        let aad_len_at = has_aad.then(|| message(&mut bytes, libc::ALG_SET_AEAD_ASSOCLEN, &[0; 4]));
        Self {
            len: bytes.len(),
            bytes: Aligned::copied(&bytes),
            nonce_at: iv_at.map(|at| at + nonce_at),
            nonce_len,
            aad_len_at,
        }
    }

    /// # Safety
    /// `nonce` has the algorithm's length.
    #[inline]
    pub(super) unsafe fn set_nonce(&mut self, nonce: *const u8) {
        if let Some(at) = self.nonce_at {
            // SAFETY: the buffer has the nonce's bytes from there on; the caller's promise.
            unsafe {
                let to = self.bytes.as_mut_ptr::<u8>().add(at);
                ptr::copy_nonoverlapping(nonce, to, self.nonce_len);
            }
        }
    }

    #[inline]
    pub(super) fn set_aad_len(&mut self, len: u32) {
        if let Some(at) = self.aad_len_at {
            // SAFETY: the buffer has four bytes from there on.
            unsafe { self.bytes.as_mut_ptr::<u8>().add(at).cast::<u32>().write_unaligned(len) }
        }
    }

    /// Puts the buffer into a message.
    #[inline]
    pub(super) fn attach(&mut self, header: &mut libc::msghdr) {
        header.msg_control = self.bytes.as_mut_ptr();
        header.msg_controllen = self.len as _;
    }
}

/// Appends one control message as cmsg(3) lays them out, and says where its value begins.
fn message(bytes: &mut Vec<u8>, kind: i32, value: &[u8]) -> usize {
    let start = bytes.len();
    let len = u32::try_from(value.len()).expect("values are a few bytes");
    // SAFETY: both compute with numbers only.
    let (space, len) = unsafe { (libc::CMSG_SPACE(len) as usize, libc::CMSG_LEN(len) as usize) };
    bytes.extend_from_slice(&len.to_ne_bytes());
    bytes.extend_from_slice(&libc::SOL_ALG.to_ne_bytes());
    bytes.extend_from_slice(&kind.to_ne_bytes());
    let at = start + len - value.len();
    bytes.resize(at, 0);
    bytes.extend_from_slice(value);
    bytes.resize(start + space, 0);
    at
}
