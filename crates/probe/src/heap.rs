//! Memory that is allocated: the process's own heap, laid out alike in every process; and what the code under
//! test allocates and copies, by the meter that is preloaded into some processes.

/// Has the C library give large blocks back to the system when they are freed. By itself it learns from
/// the first that is freed to keep them, in each thread's part of the heap, and what was read of
/// libraries' files, hundreds of megabytes, would lie there for as long as a survey samples. For the
/// process that schedules: in one that measures it would change what libraries' allocations cost.
pub fn give_large_blocks_back() {
    /// Where the C library begins by itself: malloc(3), `M_MMAP_THRESHOLD`.
    #[cfg(target_env = "gnu")]
    const LARGE_BYTES: libc::c_int = 128 << 10;
    #[cfg(target_env = "gnu")]
    // SAFETY: it sets numbers of the allocator, under the allocator's own lock.
    unsafe {
        libc::mallopt(libc::M_MMAP_THRESHOLD, LARGE_BYTES);
        libc::mallopt(libc::M_TRIM_THRESHOLD, LARGE_BYTES);
        libc::mallopt(libc::M_ARENA_MAX, 2);
    }
}

/// Has the next allocations lie one behind the other from an address that is always the same modulo 64 KiB. Where they
/// lie decides which way some code goes (AES-GCM of OpenSSL moves its stack where that shares cache sets with the key),
/// and what was freed before leaves holes that differ by the length of a library's name. What fills the holes stays
/// allocated.
pub fn lay_heap_out() {
    #[cfg(target_env = "gnu")]
    {
        fill_holes();
        let at = allocate(SMALLEST) + CHUNK;
        let pad = (FIRST.wrapping_sub(at)) % PLACES;
        allocate(if pad < CHUNK { pad + PLACES } else { pad } - HEADER);
    }
}

/// Where allocations begin, modulo so much: behind a page's begin and a header.
#[cfg(target_env = "gnu")]
const PLACES: usize = 64 << 10;
#[cfg(target_env = "gnu")]
const FIRST: usize = 16;
/// What the C library adds to an allocation, the smallest that it makes, and what that takes.
#[cfg(target_env = "gnu")]
const HEADER: usize = 8;
#[cfg(target_env = "gnu")]
const SMALLEST: usize = 24;
#[cfg(target_env = "gnu")]
const CHUNK: usize = 32;

/// Filling ends here. A heap may go on below what it had (a thread's, or the process's where another mapping stopped it):
/// then everything looks like a hole.
#[cfg(target_env = "gnu")]
const MOST_FILLED_BYTES: usize = 16 << 20;

/// Allocates of each size until none is left but at the heap's end. Returns what that took.
#[cfg(target_env = "gnu")]
fn fill_holes() -> usize {
    /// Below the C library's limit for mappings of their own.
    const LARGEST: usize = 96 << 10;
    /// Up to here it keeps what is freed by size, and joins it with nothing.
    const BY_SIZE: usize = 1032;
    let mut end = 0;
    let mut filled_bytes = 0;
    // What the first turn takes for the heap's end may be a hole.
    for _ in 0..2 {
        let mut size = LARGEST;
        while size >= SMALLEST {
            let mut at = allocate(size);
            while at != 0 && at < end && filled_bytes < MOST_FILLED_BYTES {
                filled_bytes += size;
                at = allocate(size);
            }
            end = end.max(at);
            if size > BY_SIZE {
                // SAFETY: allocated just now, and nobody has it.
                unsafe { libc::free(at as *mut libc::c_void) };
                size = (size / 2).max(BY_SIZE);
            } else {
                size -= 16;
            }
        }
    }
    filled_bytes
}

#[cfg(target_env = "gnu")]
fn allocate(size: usize) -> usize {
    // SAFETY: any size may be asked for. What nobody uses the compiler would not allocate.
    std::hint::black_box(unsafe { libc::malloc(size) }) as usize
}
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

#[cfg(all(test, target_env = "gnu"))]
mod tests {
    use super::*;

    /// In a process of its own with one heap for all threads, as a worker has it.
    #[test]
    fn allocations_lie_alike_whatever_was_freed_before() {
        const ALONE: &str = "CIPHERMARK_TEST_HEAP";
        let Some(case) = std::env::var_os(ALONE) else {
            let places = ["plain", "small", "mixed", "large"].map(|case| {
                let output = std::process::Command::new(std::env::current_exe().unwrap())
                    .args([
                        "--exact",
                        "heap::tests::allocations_lie_alike_whatever_was_freed_before",
                    ])
                    .args(["--nocapture", "--test-threads=1"])
                    .env("MALLOC_ARENA_MAX", "1")
                    .env(ALONE, case)
                    .output()
                    .unwrap();
                let text = String::from_utf8(output.stdout).unwrap();
                let places = text.lines().find_map(|line| line.strip_prefix("places: "));
                places.unwrap_or_else(|| panic!("{case}: {text}")).to_owned()
            });
            assert!(places[0].starts_with(&format!("[{FIRST}, ")), "{places:?}");
            assert!(places.iter().all(|other| *other == places[0]), "{places:?}");
            return;
        };
        let sizes: &[usize] = match case.to_str().unwrap() {
            "plain" => &[],
            "small" => &[24, 24, 24, 24, 24],
            "mixed" => &[300, 40, 5000, 24, 700, 60],
            _ => &[20_000, 24, 700],
        };
        let mut before: Vec<Vec<u8>> = sizes.iter().map(|n| vec![0; *n]).collect();
        before.iter_mut().step_by(2).for_each(|hole| *hole = Vec::new());
        lay_heap_out();
        let places = [24, 700, 40, 5000, 24].map(|n| allocate(n) % PLACES);
        drop(before);
        println!("\nplaces: {places:?}");
    }

    /// A thread's heap begins anew wherever there is room, also below.
    #[test]
    fn filling_holes_ends_where_a_heap_goes_on_below_itself() {
        std::thread::scope(|scope| {
            for _ in 0..4 {
                scope.spawn(|| {
                    let kept: Vec<Vec<u8>> = (0..1200).map(|_| vec![1; 60 << 10]).collect();
                    let filled_bytes = fill_holes();
                    drop(kept);
                    assert!(filled_bytes <= MOST_FILLED_BYTES + (96 << 10), "{filled_bytes}");
                });
            }
        });
    }
}

#[cfg(test)]
mod meter_tests {
    use crate::heap::*;

    #[test]
    fn a_process_without_the_meter_has_none() {
        assert!(Meter::find().is_none());
    }
}
