//! Zeroed memory on a 64-byte boundary, for the states that a library has its caller allocate.

/// The widest alignment that any library asks of its caller: a cache line, a 512-bit vector.
const ALIGN: usize = 64;

#[derive(Clone, Copy)]
#[repr(C, align(64))]
struct Line([u8; ALIGN]);

/// Memory for a state whose size is known at run time only.
pub(crate) struct Aligned(Vec<Line>);

impl Aligned {
    /// At least `len` bytes, all zero.
    pub(crate) fn zeroed(len: usize) -> Self {
        Self(vec![Line([0; ALIGN]); len.div_ceil(ALIGN).max(1)])
    }

    /// These bytes, then zeroes up to the next boundary.
    pub(crate) fn copied(bytes: &[u8]) -> Self {
        let mut copy = Self::zeroed(bytes.len());
        let lines = copy.0.iter_mut().zip(bytes.chunks(ALIGN));
        lines.for_each(|(line, part)| line.0[..part.len()].copy_from_slice(part));
        copy
    }

    /// For the library to write.
    pub(crate) fn as_mut_ptr<T>(&mut self) -> *mut T {
        self.0.as_mut_ptr().cast()
    }

    /// For the library to read.
    pub(crate) fn as_ptr<T>(&self) -> *const T {
        self.0.as_ptr().cast()
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn memory_lies_on_a_boundary_and_holds_what_was_copied() {
        let bytes: Vec<u8> = (0..100).collect();
        let copy = Aligned::copied(&bytes);
        assert_eq!(copy.as_ptr::<u8>() as usize % ALIGN, 0);
        // SAFETY: two lines hold 100 bytes and 28 zeroes.
        let held = unsafe { std::slice::from_raw_parts(copy.as_ptr::<u8>(), 128) };
        assert_eq!((&held[..100], &held[100..]), (&bytes[..], &[0; 28][..]));
    }
}
