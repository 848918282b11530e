//! The wire, as rustls reads and writes it.

use crate::tls::Pipe;
use std::io::{self, ErrorKind, IoSlice, Read, Write};

/// One end's side of the wire, which outlives the session.
pub(crate) struct Wire(pub(crate) Pipe);

impl Read for Wire {
    fn read(&mut self, into: &mut [u8]) -> io::Result<usize> {
        // SAFETY: the pipe is live, and the buffer as long as is told.
        match unsafe { (self.0.read)(self.0.context, into.as_mut_ptr(), into.len()) } {
            // To rustls 0 would be the connection's end.
            0 => Err(ErrorKind::WouldBlock.into()),
            taken => Ok(taken),
        }
    }
}

impl Write for Wire {
    fn write(&mut self, from: &[u8]) -> io::Result<usize> {
        // SAFETY: the pipe is live, and the bytes are as many as is told.
        unsafe { (self.0.write)(self.0.context, from.as_ptr(), from.len()) };
        Ok(from.len())
    }

    fn write_vectored(&mut self, all: &[IoSlice<'_>]) -> io::Result<usize> {
        all.iter().map(|one| self.write(one)).sum()
    }

    fn flush(&mut self) -> io::Result<()> {
        Ok(())
    }
}
