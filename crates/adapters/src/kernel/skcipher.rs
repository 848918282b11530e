//! Ciphers without authentication: `sendmsg` with operation and IV, `recv` of the output.

use super::control::Control;
use super::names::{Chain, Target};
use super::socket::{self, Transform, part, whole};
use crate::family::operations;
use base::model::Direction;
use contract::{OpenError, Table, raw};
use std::os::fd::{AsRawFd as _, OwnedFd};

/// A chained message that is longer than a socket holds goes through it in pieces of so many bytes.
const PIECE: usize = 256 << 10;

pub(super) struct State {
    transform: Transform,
    operations: OwnedFd,
    stream: Option<OwnedFd>,
    progress: Progress,
    control: Control,
    chain: Chain,
    /// Bytes that a socket takes in one operation.
    capacity: usize,
}

/// Where a stream is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The next update carries operation and IV.
    Begun,
    /// The kernel goes on from the last block.
    UnderWay,
    /// A part of a block ended it.
    Ended,
}

/// The operation's number in `linux/if_alg.h`.
pub(super) fn operation(direction: Direction) -> u32 {
    let number =
        if direction == Direction::Encrypt { libc::ALG_OP_ENCRYPT } else { libc::ALG_OP_DECRYPT };
    number.cast_unsigned()
}

/// Opens a cipher whose key is set.
pub(super) fn open(
    transform: Transform,
    target: &Target,
    direction: Direction,
) -> Result<raw::Session, OpenError> {
    let operations = transform.operations()?;
    Ok(State::new(transform, operations, target, direction).into_session())
}

impl State {
    pub(super) fn new(
        transform: Transform,
        operations: OwnedFd,
        target: &Target,
        direction: Direction,
    ) -> Self {
        let Target { iv, nonce_at, nonce_len, chain, .. } = target;
        Self {
            capacity: socket::capacity(&operations),
            control: Control::new(operation(direction), iv, *nonce_at, *nonce_len, false),
            chain: *chain,
            stream: None,
            progress: Progress::Ended,
            operations,
            transform,
        }
    }

    pub(super) fn into_session(self) -> raw::Session {
        Table::new(self, raw::IN_PLACE | raw::COPIES | raw::ALLOCATES, c"sendmsg, recv")
            .streams()
            .raw()
    }

    /// # Safety
    /// The message keeps the interface's rules.
    #[inline(always)]
    unsafe fn crypt(&mut self, m: &raw::Message) -> Result<(), i32> {
        // The kernel has no operation over nothing: it would wait for the first byte.
        if m.len == 0 {
            return Ok(());
        }
        let fd = self.operations.as_raw_fd();
        // SAFETY: the caller's promise.
        unsafe {
            self.control.set_nonce(m.nonce);
            if m.len <= self.capacity {
                return transfer(fd, Some(&mut self.control), (m.input, m.output, m.len), false);
            }
            if self.chain == Chain::Starts {
                return Err(libc::EMSGSIZE);
            }
            let (mut done, piece) = (0, PIECE.min(self.capacity));
            while done < m.len {
                let len = piece.min(m.len - done);
                let control = (done == 0).then_some(&mut self.control);
                let data = (m.input.add(done), m.output.add(done), len);
                transfer(fd, control, data, done + len < m.len)?;
                done += len;
            }
        }
        Ok(())
    }

    /// # Safety
    /// The buffers keep the interface's rules.
    unsafe fn continues(
        &mut self,
        (input, output, len): (*const u8, *mut u8, usize),
    ) -> Result<(), i32> {
        let Some(stream) = &self.stream else { return Err(raw::FAILED) };
        let fd = stream.as_raw_fd();
        if len == 0 {
            return Ok(());
        }
        if len > self.capacity {
            return Err(libc::EMSGSIZE);
        }
        // SAFETY: the caller's promise.
        unsafe {
            if self.chain == Chain::Starts {
                return transfer(fd, Some(&mut self.control), (input, output, len), false);
            }
            let control = match self.progress {
                Progress::Begun => Some(&mut self.control),
                Progress::UnderWay => None,
                Progress::Ended => return Err(raw::FAILED),
            };
            // The kernel gives whole blocks while more is to come, and keeps the rest back: a part
            // of a block has to be the last.
            let more = len.is_multiple_of(16);
            self.progress = if more { Progress::UnderWay } else { Progress::Ended };
            transfer(fd, control, (input, output, len), more)
        }
    }
}

/// Sends the input, with operation and IV where a message begins, and takes the output. Never waits:
/// what is not there at once never comes.
///
/// # Safety
/// `input` and `output` cover `len` bytes.
#[inline]
unsafe fn transfer(
    fd: i32,
    control: Option<&mut Control>,
    (input, output, len): (*const u8, *mut u8, usize),
    more: bool,
) -> Result<(), i32> {
    let mut parts = [part(input, len)];
    let mut header = socket::header(&mut parts);
    if let Some(control) = control {
        control.attach(&mut header);
    }
    let flags = libc::MSG_DONTWAIT | if more { libc::MSG_MORE } else { 0 };
    // SAFETY: header, parts and control buffer live until the call returns; the caller's promise.
    unsafe {
        whole(libc::sendmsg(fd, &raw const header, flags), len)?;
        whole(libc::recv(fd, output.cast(), len, libc::MSG_DONTWAIT), len)
    }
}

operations! { impl for State;
    fn message(&mut self, m) {
        match self.crypt(m) {
            Ok(()) => raw::OK,
            Err(code) => {
                self.transform.renew(&mut self.operations);
                code
            }
        }
    }

    fn start(&mut self, nonce) {
        // A socket of its own: the kernel has no way to drop a chain that was begun.
        let Ok(stream) = self.transform.accept() else { return raw::FAILED };
        socket::capacity(&stream);
        self.stream = Some(stream);
        self.control.set_nonce(nonce);
        self.progress = Progress::Begun;
        raw::OK
    }

    fn update(&mut self, input, output, len) {
        self.continues((input, output, len)).err().unwrap_or(raw::OK)
    }
}
