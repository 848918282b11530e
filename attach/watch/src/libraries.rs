//! Libraries that are watched: by the symbols that they export, whatever their files are called. And which of a
//! library's functions is which: a table by the hash of a name, made once.

use crate::elf;
use crate::enter::{IN_REGISTERS, SLOTS, Slot, TABLE, place};
use crate::layout::{LIBRARIES, UNBOUND};
use crate::region::{self, Words};
use crate::table::{Does, Function, GETTERS, Getter};
use crate::tables::FAMILIES;
use std::sync::atomic::Ordering::{Acquire, Relaxed, Release};
use std::sync::atomic::{AtomicU16, AtomicUsize};

/// A library, under the index that its path has in the region.
pub struct Library {
    getters: [AtomicUsize; GETTERS.len()],
    base: AtomicUsize,
}

static ALL: [Library; LIBRARIES] = [const {
    Library { getters: [const { AtomicUsize::new(0) }; GETTERS.len()], base: AtomicUsize::new(0) }
}; LIBRARIES];

pub fn library(index: u64) -> &'static Library {
    &ALL[usize::try_from(index).unwrap_or(0) % LIBRARIES]
}

impl Library {
    /// What one of the library's own functions says of a thing; 0 where it has no such function.
    pub fn ask(&self, getter: Getter, of: u64) -> u64 {
        let address = self.getters[getter as usize].load(Relaxed);
        if address == 0 {
            return 0;
        }
        // SAFETY: each of them takes a pointer or a number, or nothing, and returns one.
        unsafe {
            let getter: extern "C" fn(u64) -> u64 = std::mem::transmute(address);
            getter(of)
        }
    }

    /// Whether so many bytes are the library's own, aligned to words where they are one. It is loaded: one of its
    /// functions has just returned.
    pub fn holds(&self, address: u64, bytes: usize) -> bool {
        let at = usize::try_from(address).unwrap_or(0);
        // SAFETY: as above.
        (bytes != 8 || at & 7 == 0) && unsafe { elf::holds(self.base.load(Relaxed), at, bytes) }
    }
}

pub fn families(object: &elf::Object) -> u64 {
    let has = |marks: &[&str]| marks.iter().any(|mark| object.find(mark.as_bytes()).is_some());
    let bits = FAMILIES.iter().enumerate().map(|(i, family)| u64::from(has(family.marks)) << i);
    bits.sum()
}

pub fn add(region: Words, object: &elf::Object, path: &[u8]) -> Option<u64> {
    let index = region::library(region, path)?;
    for (place, symbols) in library(index).getters.iter().zip(GETTERS) {
        let address = symbols.iter().find_map(|symbol| object.find(symbol.as_bytes()));
        place.store(address.unwrap_or(0), Relaxed);
    }
    library(index).base.store(object.base, Relaxed);
    Some(index)
}

/// Functions by the hash of their names: family and place in its table, plus one.
static NAMES: [AtomicU16; 2048] = [const { AtomicU16::new(0) }; 2048];
const MASK: usize = NAMES.len() - 1;

fn hash(name: &[u8]) -> usize {
    let step = |h: u64, byte: &u8| (h ^ u64::from(*byte)).wrapping_mul(0x100_0000_01b3);
    let hash = name.iter().fold(0xcbf2_9ce4_8422_2325, step);
    usize::try_from(hash >> 40).unwrap_or(0) & MASK
}

pub fn prepare() {
    for (family, of) in FAMILIES.iter().enumerate() {
        for (index, function) in of.functions.iter().enumerate() {
            let mut at = hash(function.name.as_bytes());
            while NAMES[at].load(Relaxed) != 0 {
                at = (at + 1) & MASK;
            }
            let packed = u16::try_from(family << 9 | index).map_or(0, |packed| packed + 1);
            NAMES[at].store(packed, Relaxed);
        }
    }
}

pub fn function(name: &[u8], families: u64) -> Option<&'static Function> {
    let mut at = hash(name);
    loop {
        let packed = usize::from(NAMES[at].load(Relaxed).checked_sub(1)?);
        let (family, index) = (packed >> 9, packed & 0x1ff);
        let found = FAMILIES.get(family)?.functions.get(index)?;
        if families >> family & 1 != 0 && found.name.as_bytes() == name {
            return Some(found);
        }
        at = (at + 1) & MASK;
    }
}

static BOUND: AtomicUsize = AtomicUsize::new(0);

/// What callers of a function shall call instead; the function itself where all places are taken. There is no lock, which
/// a forked child could get from a thread that it does not have; two threads at once may give one function two places.
pub fn bind(function: &'static Function, real: usize, library: u64) -> usize {
    let pointer = std::ptr::from_ref(function).cast_mut();
    let is =
        |slot: &Slot| slot.real.load(Acquire) == real && slot.function.load(Relaxed) == pointer;
    if let Some(index) = TABLE.iter().take(BOUND.load(Relaxed)).position(is) {
        // It may be another file at the place of one that was closed.
        TABLE[index].library.store(library, Relaxed);
        return place(index);
    }
    let next = BOUND.fetch_add(1, Relaxed);
    let Some(slot) = TABLE.get(next) else {
        BOUND.store(SLOTS, Relaxed);
        if let Some(region) = region::current() {
            region[UNBOUND].fetch_add(1, Relaxed);
        }
        return real;
    };
    slot.function.store(pointer, Relaxed);
    slot.library.store(library, Relaxed);
    slot.on_stack.store(function.arguments.saturating_sub(IN_REGISTERS).into(), Relaxed);
    slot.early.store((function.does == Does::Free || function.reads_data()).into(), Relaxed);
    slot.real.store(real, Release);
    place(next)
}
