//! Reading keys and parameters, and the small questions around them.

use super::Library;
use super::api::number;
use super::keys::{Context, Key};
use crate::stacks::bench::Trouble;
use crate::stacks::openssl::api::Ptr;
use std::ffi::{CString, c_int, c_long};
use std::ptr::null_mut;

impl Library {
    /// The number of a name; families number differently.
    #[inline]
    pub(super) fn numbered(&self, name: &str) -> Result<c_int, Trouble> {
        let c_name = CString::new(name).expect("our own words have no zeros");
        // SAFETY: the name is a C string.
        let number = unsafe { (self.f.OBJ_sn2nid)(c_name.as_ptr()) };
        if number == 0 {
            return Err(Trouble::NotOffered(format!("OBJ_sn2nid knows no {name}")));
        }
        Ok(number)
    }

    #[inline]
    pub(super) fn context_of(&'static self, name: &str) -> Result<Context, Trouble> {
        let number = self.numbered(name)?;
        // SAFETY: takes a number.
        let raw = unsafe { (self.f.EVP_PKEY_CTX_new_id)(number, null_mut()) };
        Context::of(self, raw, "EVP_PKEY_CTX_new_id")
    }

    #[inline]
    pub(super) fn set_curve(&self, context: &Context, curve: c_int) -> Result<(), Trouble> {
        let set = (self.f.EVP_PKEY_CTX_set_ec_paramgen_curve_nid, self.f.EVP_PKEY_CTX_ctrl);
        // SAFETY: the context is live; both take numbers.
        let done = unsafe {
            match set {
                (Some(set), _) => set(context.raw, curve),
                (None, Some(control)) => {
                    let (operation, command) = (number::OP_GENERATE, number::CTRL_CURVE);
                    control(context.raw, number::EC, operation, command, curve, null_mut())
                }
                (None, None) => 0,
            }
        };
        self.done(done > 0, "EVP_PKEY_CTX_set_ec_paramgen_curve_nid")
    }

    /// A private key from PEM.
    pub(super) fn read_private(&'static self, pem: &str) -> Result<Key, Trouble> {
        let raw = self.crypto.read_pem(pem, self.crypto.PEM_read_bio_PrivateKey);
        Key::of(self, raw, "PEM_read_bio_PrivateKey")
    }

    /// A key's public part alone, as a client has it.
    pub(super) fn public_part(&'static self, key: &Key) -> Result<Key, Trouble> {
        let info = self.public_key_info(key.raw)?;
        Key::of(self, self.read_public_key_info(&info), "d2i_PUBKEY")
    }

    /// Parameters of DH, as a key without a key.
    pub(super) fn read_field(&'static self, pem: &str) -> Result<Key, Trouble> {
        let crypto = &self.crypto;
        if let Some(read) = crypto.PEM_read_bio_Parameters {
            // SAFETY: the BIO is live.
            let raw = crypto.with_pem(pem, |bio| unsafe { read(bio, null_mut()) });
            return Key::of(self, raw, "PEM_read_bio_Parameters");
        }
        let read = crypto
            .PEM_read_bio_DHparams
            .ok_or_else(|| Trouble::missing("PEM_read_bio_DHparams"))?;
        let dh = crypto.read_pem(pem, read);
        // SAFETY: takes nothing.
        let key = Key::of(self, unsafe { (self.f.EVP_PKEY_new)() }, "EVP_PKEY_new")?;
        // SAFETY: both are live; the parameters become the key's.
        let done =
            !dh.is_null() && unsafe { (self.f.EVP_PKEY_assign)(key.raw, number::DH, dh) } == 1;
        self.done(done, "EVP_PKEY_assign of DH")?;
        Ok(key)
    }

    /// `SubjectPublicKeyInfo` of a key.
    pub(super) fn public_key_info(&self, key: Ptr) -> Result<Vec<u8>, Trouble> {
        // SAFETY: the key is live; without a place the length comes back.
        let length = unsafe { (self.f.i2d_PUBKEY)(key, null_mut()) };
        let length = usize::try_from(length).ok().filter(|n| *n > 0);
        let mut info = vec![0; length.ok_or_else(|| self.failed("i2d_PUBKEY"))?];
        let mut at = info.as_mut_ptr();
        // SAFETY: the place is as long as was said.
        let written = unsafe { (self.f.i2d_PUBKEY)(key, &raw mut at) };
        self.done(usize::try_from(written) == Ok(info.len()), "i2d_PUBKEY")?;
        Ok(info)
    }

    pub(super) fn read_public_key_info(&self, info: &[u8]) -> Ptr {
        let mut at = info.as_ptr();
        // SAFETY: the bytes are as many as is said and only read.
        unsafe { (self.f.d2i_PUBKEY)(null_mut(), &raw mut at, info.len() as c_long) }
    }
}
