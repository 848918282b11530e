//! What the loader knows of an object: its symbols by name, and the places where it keeps addresses of functions.

use crate::libraries;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

/// The loader's `struct link_map`, as far as it is public.
#[repr(C)]
pub struct LinkMap {
    pub base: usize,
    pub name: *const libc::c_char,
    pub dynamic: *const [usize; 2],
    pub next: *const LinkMap,
}

#[repr(C)]
pub struct Symbol {
    pub name: u32,
    pub info: u8,
    pub other: u8,
    pub section: u16,
    pub value: usize,
    pub size: usize,
}

#[repr(C)]
struct Relocation {
    offset: usize,
    info: u64,
    addend: i64,
}

const TYPE_FUNCTION: u8 = 2;
const TYPE_INDIRECT: u8 = 10;

#[cfg(target_arch = "x86_64")]
mod kind {
    pub const WORD: u64 = 1;
    pub const GOT: u64 = 6;
    pub const JUMP: u64 = 7;
}
#[cfg(target_arch = "aarch64")]
mod kind {
    pub const WORD: u64 = 257;
    pub const GOT: u64 = 1025;
    pub const JUMP: u64 = 1026;
}

pub struct Object {
    pub base: usize,
    symbols: *const Symbol,
    strings: *const u8,
    gnu_hash: *const u32,
    hash: *const u32,
    relocations: (usize, usize),
}

impl Object {
    /// # Safety
    /// `map` is an object that the loader has mapped.
    pub unsafe fn of(map: &LinkMap) -> Option<Self> {
        let mut object = Self {
            base: map.base,
            symbols: std::ptr::null(),
            strings: std::ptr::null(),
            gnu_hash: std::ptr::null(),
            hash: std::ptr::null(),
            relocations: (0, 0),
        };
        let mut entry = map.dynamic;
        if entry.is_null() {
            return None;
        }
        // SAFETY: the table ends with a zero.
        loop {
            // SAFETY: the table ends with a zero.
            let [tag, value] = unsafe { *entry };
            if tag == 0 {
                break;
            }
            // The loader makes addresses of offsets, but not in every object.
            let address = if value < map.base { value + map.base } else { value };
            match tag {
                4 => object.hash = address as *const _,
                5 => object.strings = address as *const _,
                6 => object.symbols = address as *const _,
                7 => object.relocations.0 = address,
                8 => object.relocations.1 = value / size_of::<Relocation>(),
                0x6fff_fef5 => object.gnu_hash = address as *const _,
                _ => {}
            }
            // SAFETY: not the last.
            entry = unsafe { entry.add(1) };
        }
        (!object.symbols.is_null() && !object.strings.is_null()).then_some(object)
    }

    fn name(&self, symbol: &Symbol) -> &[u8] {
        // SAFETY: the object's own strings, which end with a zero.
        unsafe { std::ffi::CStr::from_ptr(self.strings.add(symbol.name as usize).cast()) }
            .to_bytes()
    }

    /// Where a function of that name is that this object defines.
    pub fn find(&self, name: &[u8]) -> Option<usize> {
        let is = |symbol: &Symbol| {
            symbol.section != 0 && symbol.info & 15 == TYPE_FUNCTION && self.name(symbol) == name
        };
        // SAFETY: the hash tables say which symbols there are.
        let symbol = unsafe {
            match (self.gnu_hash.is_null(), self.hash.is_null()) {
                (false, _) => self.find_gnu(name, is),
                (true, false) => {
                    let count = *self.hash.add(1) as usize;
                    (0..count).map(|index| &*self.symbols.add(index)).find(|symbol| is(symbol))
                }
                _ => None,
            }
        };
        symbol.map(|symbol| self.base + symbol.value)
    }

    /// # Safety
    /// There is such a table.
    unsafe fn find_gnu(&self, name: &[u8], is: impl Fn(&Symbol) -> bool) -> Option<&Symbol> {
        let hash = name.iter().fold(5381_u32, |h, b| h.wrapping_mul(33).wrapping_add((*b).into()));
        // SAFETY: the format of the table.
        unsafe {
            let [buckets, first, bloom, _] = *self.gnu_hash.cast::<[u32; 4]>();
            if buckets == 0 {
                return None;
            }
            let bucket = self.gnu_hash.add(4 + bloom as usize * 2);
            let chain = bucket.add(buckets as usize);
            let mut index = *bucket.add((hash % buckets) as usize);
            if index < first {
                return None;
            }
            loop {
                let of = *chain.add((index - first) as usize);
                let symbol = &*self.symbols.add(index as usize);
                if of | 1 == hash | 1 && is(symbol) {
                    return Some(symbol);
                }
                if of & 1 == 1 {
                    return None;
                }
                index += 1;
            }
        }
    }

    /// Replaces functions whose addresses the object keeps in data: those it calls without a PLT, and its tables. The
    /// loader asks only about the PLT's. Of an object that is not relocated yet, the entries are changed to the PLT's kind:
    /// then it asks.
    ///
    /// # Safety
    /// No other thread runs code of the object, or the loader is about to relocate it.
    pub unsafe fn replace(&self, defined: impl Fn(usize, &[u8]) -> Option<(u64, u64)>) {
        let (first, count) = self.relocations;
        for index in 0..if first == 0 { 0 } else { count } {
            let entry = (first + index * size_of::<Relocation>()) as *mut Relocation;
            // SAFETY: one of the object's entries.
            let Relocation { offset, info, addend } = unsafe { entry.read() };
            let kind = info & 0xffff_ffff;
            if !(kind == kind::GOT || kind == kind::WORD) || addend != 0 || info >> 32 == 0 {
                continue;
            }
            // SAFETY: the symbol that the entry names.
            let symbol = unsafe { &*self.symbols.add((info >> 32) as usize) };
            let name = self.name(symbol);
            if libraries::function(name, u64::MAX).is_none() {
                continue;
            }
            let place = (self.base + offset) as *const AtomicU64;
            // SAFETY: the loader writes an address there.
            let address = usize::try_from(unsafe { &*place }.load(Relaxed)).unwrap_or(0);
            let asked = kind::JUMP | info & !0xffff_ffff;
            if address == 0 {
                // SAFETY: a word of the object.
                unsafe { overwrite(self.base, &raw mut (*entry).info, asked, false) };
            } else if let Some((families, library)) = defined(address, name)
                && let Some(function) = libraries::function(name, families)
            {
                let new = libraries::bind(function, address, library);
                // SAFETY: a word of the object.
                unsafe { overwrite(self.base, place.cast_mut().cast(), new as u64, true) };
            }
        }
    }
}

pub fn is_function(symbol: &Symbol) -> bool {
    matches!(symbol.info & 15, TYPE_FUNCTION | TYPE_INDIRECT)
}

#[repr(C)]
struct Segment {
    kind: u32,
    flags: u32,
    offset: usize,
    address: usize,
    physical: usize,
    file_size: usize,
    size: usize,
    align: usize,
}

const LOADED: u32 = 1;
const RELRO: u32 = 0x6474_e552;

/// The program headers of an object: in front of it, or where the kernel has put the program's.
///
/// # Safety
/// An object is loaded at that base.
unsafe fn segments(base: usize) -> &'static [Segment] {
    // SAFETY: the first page of an object is its header; of a program at a fixed address the kernel says where they are.
    unsafe {
        if base == 0 {
            let first = libc::getauxval(libc::AT_PHDR) as *const Segment;
            let count = usize::try_from(libc::getauxval(libc::AT_PHNUM)).unwrap_or(0);
            return if first.is_null() { &[] } else { std::slice::from_raw_parts(first, count) };
        }
        let header = base as *const u8;
        if header.cast::<[u8; 4]>().read() != *b"\x7fELF" {
            return &[];
        }
        let offset = header.add(32).cast::<usize>().read();
        let count = header.add(56).cast::<u16>().read();
        std::slice::from_raw_parts(header.add(offset).cast(), count.into())
    }
}

/// Whether an object has so many bytes there, to be read.
///
/// # Safety
/// An object is loaded at that base, or it is 0.
pub unsafe fn holds(base: usize, address: usize, bytes: usize) -> bool {
    let Some(at) = address.checked_sub(base).filter(|_| base != 0) else { return false };
    // SAFETY: the caller's.
    let segments = unsafe { segments(base) };
    segments.iter().filter(|s| s.kind == LOADED && s.flags & 4 != 0).any(|s| {
        s.address <= at && at.checked_add(bytes).is_some_and(|end| end <= s.address + s.size)
    })
}

/// Writes a word of an object, whose page may be read-only, and leaves the page as it was.
///
/// # Safety
/// The word belongs to the object at that base.
unsafe fn overwrite(base: usize, word: *mut u64, value: u64, is_relocated: bool) {
    let at = word as usize - base;
    let has = |segment: &&Segment| (segment.address..segment.address + segment.size).contains(&at);
    // SAFETY: the caller's.
    let segments = unsafe { segments(base) };
    let Some(segment) = segments.iter().filter(|s| s.kind == LOADED).find(has) else { return };
    let is_relro = is_relocated && segments.iter().filter(|s| s.kind == RELRO).any(|s| has(&s));
    let (execute, write, read) = (segment.flags & 1 != 0, segment.flags & 2 != 0, libc::PROT_READ);
    let execute = if execute { libc::PROT_EXEC } else { 0 };
    let page = (word as usize & !4095) as *mut libc::c_void;
    // SAFETY: a page of the object; nothing is taken from it that its header gives it.
    unsafe {
        if (!write || is_relro)
            && libc::mprotect(page, 4096, read | libc::PROT_WRITE | execute) != 0
        {
            return;
        }
        (*word.cast::<AtomicU64>()).store(value, Relaxed);
        if !write || is_relro {
            libc::mprotect(page, 4096, read | execute);
        }
    }
}
