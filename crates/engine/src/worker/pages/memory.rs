//! Memory of a thread that times pages: room for what goes in and out, laid out once.

/// Bytes to which direct I/O wants its buffers aligned, on every file system.
const ALIGNMENT: usize = 4096;

/// Bytes read to push the pages of the last visit out of the near caches: twice the second level of
/// any core to date.
const EVICT: usize = 8 << 20;

/// Room for pages.
pub(super) struct Room {
    bytes: Vec<u8>,
    from: usize,
    len: usize,
}

impl Room {
    /// So many bytes, aligned.
    pub(super) fn new(len: usize) -> Self {
        let bytes = vec![0; len + ALIGNMENT];
        let from = bytes.as_ptr().align_offset(ALIGNMENT).min(ALIGNMENT);
        Self { bytes, from, len }
    }

    /// All of it.
    pub(super) fn all(&mut self) -> &mut [u8] {
        &mut self.bytes[self.from..self.from + self.len]
    }

    /// Page number `i`.
    pub(super) fn page(&mut self, i: usize, page_size: usize) -> &mut [u8] {
        &mut self.all()[i * page_size..][..page_size]
    }

    /// Page number `i`, to read.
    pub(super) fn read(&self, i: usize, page_size: usize) -> &[u8] {
        &self.bytes[self.from..self.from + self.len][i * page_size..][..page_size]
    }
}

/// What is read between visits.
pub(super) struct Eviction(Vec<u8>);

impl Eviction {
    pub(super) fn new() -> Self {
        Self(vec![1; EVICT])
    }

    /// Pushes what was used last out of the near caches.
    pub(super) fn run(&self) {
        let sum = self.0.iter().step_by(64).fold(0_u8, |sum, b| sum.wrapping_add(*b));
        std::hint::black_box(sum);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn room_is_aligned_and_as_long_as_asked() {
        let mut room = Room::new(3 * 8192);
        assert_eq!(room.all().len(), 3 * 8192);
        assert_eq!(room.all().as_ptr() as usize % ALIGNMENT, 0);
        room.page(2, 8192).fill(7);
        assert_eq!(room.read(2, 8192)[8191], 7);
        assert_eq!(room.read(1, 8192)[8191], 0);
    }
}
