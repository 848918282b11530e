//! Where calls cannot be stepped from inside their process.

use crate::step::{End, Tape, Trace, Unavailable};

/// Nothing has to be set aside.
pub fn prepare() {}

/// Never to be had here.
#[derive(Debug)]
pub struct Stepper(std::convert::Infallible);

impl Stepper {
    /// Nobody has written it.
    ///
    /// # Errors
    /// Always.
    pub fn new() -> Result<Self, Unavailable> {
        let architecture = std::env::consts::ARCH;
        Err(Unavailable(format!("a process cannot step itself on {architecture}")))
    }

    /// Never called: there is no value of this type.
    ///
    /// # Errors
    /// Never.
    ///
    /// # Safety
    /// None is needed.
    pub unsafe fn call(
        &mut self,
        _function: *const (),
        _arguments: [usize; 4],
        _most_steps: u64,
    ) -> Result<(i32, Trace), Unavailable> {
        match self.0 {}
    }
}

/// Never to be had here.
#[derive(Debug)]
pub struct Recorder(std::convert::Infallible);

impl Recorder {
    /// As [`Stepper::new`].
    ///
    /// # Errors
    /// Always.
    pub fn new() -> Result<Self, Unavailable> {
        Stepper::new().map(|never| match never.0 {})
    }

    /// Never called: there is no value of this type.
    ///
    /// # Errors
    /// Never.
    pub fn record(
        &mut self,
        _tape: &mut Tape,
        _most_steps: usize,
        _function: impl FnMut() -> i32,
    ) -> Result<(i32, End), Unavailable> {
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
