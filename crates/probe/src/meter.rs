//! The counts of the meter that is preloaded into some processes: what the code under test
//! allocates and copies.

/// What was counted since the process began; `struct Counts` of the meter.
#[repr(C)]
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Counts {
    /// Calls that gave memory.
    pub allocations: u64,
    /// Bytes that they were asked for.
    pub allocated_bytes: u64,
    /// Bytes that were copied.
    pub copied_bytes: u64,
    /// Pieces of memory that were given and not given back.
    pub held: i64,
    /// Bytes that can be used in them.
    pub held_bytes: i64,
}

impl Counts {
    /// What came since `earlier`.
    #[must_use]
    pub fn since(self, earlier: Self) -> Self {
        Self {
            allocations: self.allocations - earlier.allocations,
            allocated_bytes: self.allocated_bytes - earlier.allocated_bytes,
            copied_bytes: self.copied_bytes - earlier.copied_bytes,
            held: self.held - earlier.held,
            held_bytes: self.held_bytes - earlier.held_bytes,
        }
    }
}

/// The meter of this process.
#[derive(Clone, Copy, Debug)]
pub struct Meter(unsafe extern "C" fn(*mut Counts));

impl Meter {
    /// `None` where it was not preloaded.
    #[must_use]
    pub fn find() -> Option<Self> {
        // SAFETY: a lookup by name among the loaded objects.
        let symbol = unsafe { libc::dlsym(libc::RTLD_DEFAULT, c"ciphermark_meter".as_ptr()) };
        if symbol.is_null() {
            return None;
        }
        // SAFETY: the meter's own name, which has this type.
        Some(Self(unsafe {
            std::mem::transmute::<*mut libc::c_void, unsafe extern "C" fn(*mut Counts)>(symbol)
        }))
    }

    /// The counts.
    #[must_use]
    pub fn read(&self) -> Counts {
        let mut counts = Counts::default();
        // SAFETY: `counts` is writable and has the meter's layout.
        unsafe { (self.0)(&raw mut counts) };
        counts
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_process_without_the_meter_has_none() {
        assert!(Meter::find().is_none());
    }
}
