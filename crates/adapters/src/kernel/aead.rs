//! Authenticated encryption: associated data, message and tag go in and out as one stream, which
//! the parts of `sendmsg` and `recvmsg` gather and scatter.

use super::control::Control;
use super::names::Target;
use super::skcipher::operation;
use super::socket::{self, Transform, part, whole};
use crate::family::operations;
use base::model::Direction;
use contract::{OpenError, Table, raw};
use std::ffi::CStr;
use std::os::fd::{AsRawFd as _, OwnedFd};

/// Longest associated data. The kernel gives them back in front of the output (since 4.9), so there
/// must be room for what nobody asked for.
const LONGEST_AAD: usize = 64 << 10;

const CALL: &CStr = c"sendmsg, recvmsg";

pub(super) struct State {
    transform: Transform,
    operations: OwnedFd,
    control: Control,
    tag_len: usize,
    /// Bytes that a socket takes and gives in one operation.
    capacity: usize,
    returned_aad: Vec<u8>,
}

/// Opens a cipher whose key and tag length are set.
pub(super) fn open(
    transform: Transform,
    target: &Target,
    tag_len: usize,
    direction: Direction,
) -> Result<raw::Session, OpenError> {
    let operations = transform.operations()?;
    Ok(State::new(transform, operations, target, tag_len, direction).into_session(direction))
}

impl State {
    pub(super) fn new(
        transform: Transform,
        operations: OwnedFd,
        target: &Target,
        tag_len: usize,
        direction: Direction,
    ) -> Self {
        let Target { iv, nonce_at, nonce_len, .. } = target;
        Self {
            capacity: socket::capacity(&operations),
            control: Control::new(operation(direction), iv, *nonce_at, *nonce_len, true),
            returned_aad: vec![0; LONGEST_AAD],
            operations,
            transform,
            tag_len,
        }
    }

    pub(super) fn into_session(self, direction: Direction) -> raw::Session {
        let encrypts = direction == Direction::Encrypt;
        Table::new(self, raw::IN_PLACE | raw::COPIES | raw::ALLOCATES, CALL)
            .decrypts(!encrypts)
            .raw()
    }

    /// Sends the parts with nonce and length of the associated data.
    ///
    /// # Safety
    /// The message keeps the interface's rules; the parts lie in it.
    unsafe fn send(&mut self, m: &raw::Message, parts: &mut [libc::iovec]) -> Result<(), i32> {
        let len = parts.iter().map(|p| p.iov_len).sum();
        // The message that goes in or comes out, with all that belongs to it.
        if m.aad_len > LONGEST_AAD || m.aad_len + m.len + self.tag_len > self.capacity {
            return Err(libc::EMSGSIZE);
        }
        let mut header = socket::header(parts);
        // SAFETY: the caller's promise; header, parts and control buffer live until the call
        // returns.
        unsafe {
            self.control.set_nonce(m.nonce);
            self.control.set_aad_len(m.aad_len as u32);
            self.control.attach(&mut header);
            let fd = self.operations.as_raw_fd();
            whole(libc::sendmsg(fd, &raw const header, libc::MSG_DONTWAIT), len)
        }
    }

    /// Has the kernel work, and takes the parts.
    ///
    /// # Safety
    /// The parts are writable.
    unsafe fn receive(&self, parts: &mut [libc::iovec], expected: usize) -> Result<(), i32> {
        let mut header = socket::header(parts);
        let fd = self.operations.as_raw_fd();
        // SAFETY: the caller's promise; header and parts live until the call returns.
        whole(unsafe { libc::recvmsg(fd, &raw mut header, libc::MSG_DONTWAIT) }, expected)
    }

    /// In: associated data, plaintext. Out: associated data, ciphertext, tag.
    ///
    /// # Safety
    /// The message keeps the interface's rules.
    #[inline(always)]
    unsafe fn seal(&mut self, m: &raw::Message) -> Result<(), i32> {
        let mut sent = [part(m.aad, m.aad_len), part(m.input, m.len)];
        let mut received = [
            part(self.returned_aad.as_mut_ptr(), m.aad_len),
            part(m.output, m.len),
            part(m.tag, self.tag_len),
        ];
        // SAFETY: the caller's promise.
        unsafe {
            self.send(m, &mut sent)?;
            self.receive(&mut received, m.aad_len + m.len + self.tag_len)
        }
    }

    /// In: associated data, ciphertext, tag. Out: associated data, plaintext.
    ///
    /// # Safety
    /// The message keeps the interface's rules.
    #[inline(always)]
    unsafe fn unseal(&mut self, m: &raw::Message) -> Result<(), i32> {
        let mut sent = [part(m.aad, m.aad_len), part(m.input, m.len), part(m.tag, self.tag_len)];
        let expected = m.aad_len + m.len;
        // Without room for a byte the kernel does not begin: a message of nothing but its tag
        // gets a byte that stays unused.
        let room = m.aad_len + usize::from(expected == 0);
        let mut received = [part(self.returned_aad.as_mut_ptr(), room), part(m.output, m.len)];
        // SAFETY: the caller's promise.
        unsafe {
            self.send(m, &mut sent)?;
            self.receive(&mut received, expected)
        }
    }

    /// A rejected message is used up; any other error leaves it in the socket.
    fn outcome(&mut self, result: Result<(), i32>) -> i32 {
        match result {
            Ok(()) => raw::OK,
            Err(raw::REJECTED) => raw::REJECTED,
            Err(code) => {
                self.transform.renew(&mut self.operations);
                code
            }
        }
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        let result = self.seal(m);
        self.outcome(result)
    }

    fn decrypt(&mut self, m) {
        let result = self.unseal(m);
        self.outcome(result)
    }
}
