//! ECB: Botan has no mode of that name; its raw block cipher takes any number of blocks.

use super::Request;
use super::api::{BlocksFn, BytesFn, Object};
use super::outcome;
use crate::family::{calls, operations};
use contract::{OpenError, Table, raw};

struct State {
    cipher: Object,
    blocks: BlocksFn,
    block_len: usize,
    set_key: BytesFn,
    key_len: usize,
}

/// Opens a block cipher.
pub(super) fn open(request: &Request<'_>, name: &str) -> Result<raw::Session, OpenError> {
    let api = request.api();
    let cipher = request.object(name, api.botan_block_cipher_destroy, |handle, name| {
        // SAFETY: the handle is writable, the name NUL-terminated.
        unsafe { (api.botan_block_cipher_init)(handle, name) }
    })?;
    // SAFETY: the key covers its length.
    let code = unsafe {
        (api.botan_block_cipher_set_key)(cipher.handle, request.key.as_ptr(), request.key.len())
    };
    request.done("botan_block_cipher_set_key", code)?;
    // SAFETY: a handle; the result is the size, or a negative error.
    let size = unsafe { (api.botan_block_cipher_block_size)(cipher.handle) };
    let block_len = usize::try_from(size)
        .ok()
        .filter(|n| *n > 0)
        .ok_or_else(|| request.failed("botan_block_cipher_block_size", size))?;
    let (blocks, call) = if request.decrypts() {
        (api.botan_block_cipher_decrypt_blocks, c"botan_block_cipher_decrypt_blocks")
    } else {
        (api.botan_block_cipher_encrypt_blocks, c"botan_block_cipher_encrypt_blocks")
    };
    let state = State {
        cipher,
        blocks,
        block_len,
        set_key: api.botan_block_cipher_set_key,
        key_len: request.key.len(),
    };
    Ok(Table::new(state, raw::IN_PLACE, call).streams().rekeys(c"botan_block_cipher_set_key").raw())
}

impl State {
    /// # Safety
    /// Input and output cover `len` bytes.
    #[inline(always)]
    unsafe fn crypt(&self, input: *const u8, output: *mut u8, len: usize) -> i32 {
        let blocks = len / self.block_len;
        if blocks * self.block_len != len {
            return raw::FAILED;
        }
        // SAFETY: input and output cover so many blocks.
        unsafe { calls!((self.blocks)(self.cipher.handle, input, output, blocks)) }
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        self.crypt(m.input, m.output, m.len)
    }

    fn update(&mut self, input, output, len) {
        self.crypt(input, output, len)
    }

    fn rekey(&mut self, key) {
        calls!((self.set_key)(self.cipher.handle, key, self.key_len))
    }
}
