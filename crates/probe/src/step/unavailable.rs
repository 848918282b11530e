//! Where calls cannot be stepped from inside their process.

use crate::step::{End, Step, Trace, Unavailable};

/// Nothing has to be set aside.
pub fn prepare() {}

/// Never to be had here: nobody has written it.
#[derive(Debug)]
pub(crate) struct Stepping(std::convert::Infallible);

impl Stepping {
    pub(crate) fn counting() -> Result<Self, Unavailable> {
        let architecture = std::env::consts::ARCH;
        Err(Unavailable(format!("a process cannot step itself on {architecture}")))
    }

    pub(crate) fn recording() -> Result<Self, Unavailable> {
        Self::counting()
    }

    pub(crate) unsafe fn count(
        &mut self,
        _function: *const (),
        _arguments: [usize; 4],
        _most_steps: u64,
    ) -> Result<(i32, Trace), Unavailable> {
        match self.0 {}
    }

    pub(crate) unsafe fn record(
        &mut self,
        _function: *const (),
        _arguments: [usize; 4],
        _most_steps: u64,
        _to: *mut Step,
    ) -> Result<(i32, u64, End), Unavailable> {
        match self.0 {}
    }
}

/// No instruction is ever decoded here.
pub(crate) mod decode {
    use crate::step::Decoded;

    pub(crate) const LONGEST: usize = 0;

    pub(crate) fn decode(_bytes: &[u8], _address: u64) -> Option<Decoded> {
        None
    }
}
