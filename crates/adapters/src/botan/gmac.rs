//! GMAC for versions whose MAC interface takes no nonce (Botan 2): GCM with associated data alone,
//! which is how NIST SP 800-38D defines it.

use super::api::{Api, FINAL, Object};
use super::{Request, SET_KEY, names, outcome};
use crate::family::{calls, operations};
use contract::{OpenError, Table, raw};
use std::ptr;

struct State {
    api: Api,
    cipher: Object,
    key_len: usize,
    nonce_len: usize,
    tag_len: usize,
}

/// Opens GCM to authenticate with. There is no stream: the associated data is given at once.
pub(super) fn open(request: &Request<'_>) -> Result<raw::Session, OpenError> {
    let name = names::gcm_for_gmac(request.algorithm).expect("GMAC has a block cipher");
    let cipher = request.cipher(&name)?;
    let (nonce_len, tag_len) = (request.algorithm.nonce_len, request.algorithm.tag_len);
    let key_len = request.key.len();
    let state = State { api: *request.api(), cipher, key_len, nonce_len, tag_len };
    // Associated data is read where it lies.
    let flags = raw::IN_PLACE | (request.forced() & raw::ALLOCATES);
    let call = c"botan_cipher_set_associated_data, botan_cipher_start, botan_cipher_update";
    Ok(Table::new(state, flags, call).rekeys(SET_KEY).raw())
}

operations! { impl for State;
    fn message(&mut self, m) {
        let (mut written, mut consumed) = (0, 0);
        let cipher = self.cipher.handle;
        calls!(
            (self.api.botan_cipher_set_associated_data)(cipher, m.input, m.len),
            (self.api.botan_cipher_start)(cipher, m.nonce, self.nonce_len),
            (self.api.botan_cipher_update)(
                cipher,
                FINAL,
                m.tag,
                self.tag_len,
                &raw mut written,
                ptr::null(),
                0,
                &raw mut consumed,
            ),
        );
        if written == self.tag_len { raw::OK } else { raw::FAILED }
    }

    fn rekey(&mut self, key) {
        calls!((self.api.botan_cipher_set_key)(self.cipher.handle, key, self.key_len))
    }
}
