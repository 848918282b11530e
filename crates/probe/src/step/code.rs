//! The code that ran: counts by class, instruction set and function; objects and bytes; functions by their
//! symbols.
//!
//! From addresses to what they mean.

use crate::step::{Class, Decoded, Trace, Visit, arch};
use base::model::Mapped;
use object::{
    Object as _, ObjectSection as _, ObjectSegment as _, ObjectSymbol as _, ObjectSymbolTable as _,
    ReadRef, RelocationTarget, SymbolKind,
};
use serde::{Deserialize, Serialize};
use std::collections::{BTreeMap, BTreeSet};
use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};

/// What a call executed, by kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Instructions. One with a repeat prefix is one each time it is come to, however often it
    /// repeats.
    pub instructions: u64,
    pub classes: Vec<ClassCount>,
    /// Instructions that read memory, the stack included.
    pub memory_reads: u64,
    pub memory_writes: u64,
    /// By instruction set: the library's code and what it brought along.
    pub sets: Vec<SetCount>,
    /// By instruction set: the C library's, the program's own and the kernel's code.
    pub sets_elsewhere: Vec<SetCount>,
    /// By function, most frequent first.
    pub functions: Vec<FunctionCount>,
    pub objects: Vec<PathBuf>,
    /// Addresses at which no instruction could be read; their visits are counted in `instructions`.
    pub unknown: u64,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct ClassCount {
    /// A [`Class`].
    pub class: String,
    /// Bits of the widest vector register that the instruction names.
    pub width: Option<u16>,
    pub count: u64,
}

/// Instructions of one set. An instruction may need several.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct SetCount {
    /// Its name in lower case, as the decoder has it: `aes`, `vaes`, `avx512vl`.
    pub set: String,
    pub count: u64,
    /// One of them and where it is: `vaesenc at libcrypto.so.3+0x1c3a40 (aes_gcm_enc)`.
    pub example: String,
}

#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize)]
pub struct FunctionCount {
    /// Its symbol; where the object has none what is next to it, as far as the object tells.
    pub function: Option<String>,
    pub object: String,
    /// Instructions, without those of functions that it calls.
    pub count: u64,
}

pub fn profile(trace: &Trace, code: &Code) -> Profile {
    let mut gathering = Gathering::new(code);
    for visit in &trace.visits {
        gathering.add(visit);
    }
    gathering.finish()
}

type Sets = BTreeMap<String, (u64, String)>;

struct Gathering<'a> {
    code: &'a Code,
    symbols: BTreeMap<String, Arc<Symbols>>,
    profile: Profile,
    classes: BTreeMap<(Class, Option<u16>), u64>,
    sets: Sets,
    sets_elsewhere: Sets,
    functions: BTreeMap<(String, Option<String>), u64>,
    objects: BTreeSet<PathBuf>,
}

impl<'a> Gathering<'a> {
    fn new(code: &'a Code) -> Self {
        Self {
            code,
            symbols: BTreeMap::new(),
            profile: Profile::default(),
            classes: BTreeMap::new(),
            sets: Sets::new(),
            sets_elsewhere: Sets::new(),
            functions: BTreeMap::new(),
            objects: BTreeSet::new(),
        }
    }

    fn add(&mut self, visit: &Visit) {
        let mut buffer = [0; arch::decode::LONGEST];
        let bytes = self.code.bytes(visit.address, &mut buffer);
        let decoded = arch::decode::decode(bytes, visit.address);
        let repeats = decoded.as_ref().is_some_and(|d| d.repeats);
        let count = if repeats { visit.count } else { visit.count + visit.repeats };
        self.profile.instructions += count;
        let (place, elsewhere) = self.place(visit.address, count);
        match decoded {
            Some(decoded) => self.add_decoded(&decoded, count, &place, elsewhere),
            None => self.profile.unknown += count,
        }
    }

    /// Counts the function, and says where the address is and whether that is elsewhere than in the
    /// library.
    fn place(&mut self, address: u64, count: u64) -> (String, bool) {
        let Some(mapping) = self.code.mapping(address).map(|m| &self.code.mappings[m]) else {
            return (format!("{address:#x}"), false);
        };
        let symbols =
            self.symbols.entry(mapping.name.clone()).or_insert_with(|| Symbols::of(mapping));
        let symbols = Arc::clone(symbols);
        let function = symbols.function(mapping, address);
        let at = symbols.within(mapping, address).unwrap_or(address - mapping.start);
        let object = self.object(mapping);
        let named = function.as_ref().map(|f| format!(" ({f})")).unwrap_or_default();
        let text = format!("{object}+{at:#x}{named}");
        let function = function.or_else(|| symbols.beside(mapping, address));
        *self.functions.entry((object, function)).or_default() += count;
        if mapping.name.starts_with('/') {
            self.objects.insert(PathBuf::from(&mapping.name));
        }
        (text, self.code.is_elsewhere(mapping))
    }

    fn object(&self, mapping: &Mapping) -> String {
        if self.code.is_program(mapping) { "ciphermark" } else { mapping.object() }.to_owned()
    }

    fn add_decoded(&mut self, decoded: &Decoded, count: u64, place: &str, elsewhere: bool) {
        *self.classes.entry((decoded.class, decoded.width)).or_default() += count;
        self.profile.memory_reads += if decoded.reads_memory { count } else { 0 };
        self.profile.memory_writes += if decoded.writes_memory { count } else { 0 };
        let sets = if elsewhere { &mut self.sets_elsewhere } else { &mut self.sets };
        for set in &decoded.sets {
            let example = || (0, format!("{} at {place}", decoded.mnemonic));
            sets.entry(set.clone()).or_insert_with(example).0 += count;
        }
    }

    fn finish(self) -> Profile {
        let mut classes: Vec<ClassCount> = self
            .classes
            .into_iter()
            .map(|((class, width), count)| ClassCount { class: class.name().into(), width, count })
            .collect();
        classes.sort_by_key(|c| std::cmp::Reverse(c.count));
        let mut functions: Vec<FunctionCount> = self
            .functions
            .into_iter()
            .map(|((object, function), count)| FunctionCount { function, object, count })
            .collect();
        functions.sort_by_key(|f| std::cmp::Reverse(f.count));
        let listed = |sets: Sets| {
            let sets = sets.into_iter();
            sets.map(|(set, (count, example))| SetCount { set, count, example }).collect()
        };
        Profile {
            classes,
            sets: listed(self.sets),
            sets_elsewhere: listed(self.sets_elsewhere),
            functions,
            objects: self.objects.into_iter().collect(),
            ..self.profile
        }
    }
}

// The process's own code: which object an address is in, and what bytes are there.

/// What every program loads: not the library's, and not told of a tier, because the C library
/// chooses its copying functions when the process starts.
const RUNTIME: [&str; 6] =
    ["libc.so", "libm.so", "libstdc++.so", "libgcc_s.so", "ld-linux", "libpthread.so"];

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Mapping {
    pub(crate) start: u64,
    pub(crate) end: u64,
    pub(crate) offset: u64,
    /// The file as `/proc/self/maps` names it; `[vdso]` and its kin for what is none.
    pub(crate) name: String,
}

impl Mapping {
    /// From a line of `/proc/self/maps`; `None` when it cannot be executed.
    fn parse(line: &str) -> Option<Self> {
        let mapped = Mapped::parse(line).filter(Mapped::is_code)?;
        let (Range { start, end }, offset) = (mapped.range, mapped.offset);
        Some(Self { start, end, offset, name: mapped.name.to_owned() })
    }

    /// The name that people know the object by: the file's last part, without what the kernel adds
    /// to files that are no longer there.
    pub(crate) fn object(&self) -> &str {
        let name = self.name.strip_suffix(" (deleted)").unwrap_or(&self.name);
        let name = name.rsplit('/').next().unwrap_or(name);
        name.strip_prefix("memfd:").unwrap_or(name)
    }
}

/// The process's code.
#[derive(Debug)]
pub struct Code {
    pub(crate) mappings: Vec<Mapping>,
    memory: Option<File>,
    program: PathBuf,
}

impl Code {
    /// As it is mapped now. `original` tells the file, laid out alike, that a mapped one is a copy of.
    pub fn of_this_process<'a>(original: &dyn Fn(&Path) -> Option<&'a Path>) -> Self {
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
        let called_by_original = |mut mapping: Mapping| {
            if let Some(path) = original(Path::new(&mapping.name)) {
                mapping.name = path.to_string_lossy().into_owned();
            }
            mapping
        };
        Self {
            mappings: maps.lines().filter_map(Mapping::parse).map(called_by_original).collect(),
            memory: File::open("/proc/self/mem").ok(),
            program: std::env::current_exe().unwrap_or_default(),
        }
    }

    pub(crate) fn mapping(&self, address: u64) -> Option<usize> {
        self.mappings.iter().position(|m| (m.start..m.end).contains(&address))
    }

    /// Up to so many bytes from an address on, within its mapping.
    pub(crate) fn bytes<'a>(&self, address: u64, buffer: &'a mut [u8]) -> &'a [u8] {
        let end = self.mapping(address).map_or(address, |m| self.mappings[m].end);
        let len = buffer.len().min(end.saturating_sub(address) as usize);
        let read = self.memory.as_ref().and_then(|m| m.read_at(&mut buffer[..len], address).ok());
        &buffer[..read.unwrap_or(0)]
    }

    /// Whether code of this mapping is the program's own, the C library's or the kernel's: what no
    /// tier hides anything from.
    pub(crate) fn is_elsewhere(&self, mapping: &Mapping) -> bool {
        mapping.name.starts_with('[')
            || self.is_program(mapping)
            || RUNTIME.iter().any(|r| mapping.object().starts_with(r))
    }

    pub(crate) fn is_program(&self, mapping: &Mapping) -> bool {
        Path::new(&mapping.name) == self.program
    }
}

// Which function an address is in, as far as the object's symbols tell.

/// The functions of one object, by address within it.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    functions: Vec<Function>,
    /// Offset in the file, length there, and address within the object of each loaded segment.
    pub(crate) segments: Vec<(u64, u64, u64)>,
    /// Beginning, end and name of each section, by its beginning.
    sections: Vec<(u64, u64, String)>,
    /// The stubs through which functions of other objects are called, by their beginnings: end and name.
    stubs: BTreeMap<u64, (u64, String)>,
    /// Begin and length of what the tables for unwinding describe, in order; a length of 0 is not known.
    frames: Vec<(u64, u64)>,
}

#[derive(Debug)]
struct Function {
    address: u64,
    size: u64,
    /// As the object has it. None where only the tables for unwinding tell that a function begins here.
    name: Option<String>,
}

impl Function {
    fn rank(&self) -> (bool, usize, Option<&str>) {
        let name = self.name.as_deref();
        (name.is_none(), name.map_or(0, str::len), name)
    }
}

impl Symbols {
    /// Those of the object that is mapped; none where its file cannot be read. A process reads them once: sorting a
    /// library's takes longer than most calls that are stepped.
    pub(crate) fn of(mapping: &Mapping) -> Arc<Self> {
        static READ: Mutex<BTreeMap<String, Arc<Symbols>>> = Mutex::new(BTreeMap::new());
        let mut read = READ.lock().unwrap_or_else(PoisonError::into_inner);
        let new = || Arc::new(Self::of_file(mapping));
        Arc::clone(read.entry(mapping.name.clone()).or_insert_with(new))
    }

    fn of_file(mapping: &Mapping) -> Self {
        let Some(file) = file(mapping) else { return Self::default() };
        // Mapped, because programs with all their symbols are large, and little of them is looked at.
        // SAFETY: this process runs code from the file: who changes it in its place breaks the process anyway.
        let bytes = unsafe { memmap2::Mmap::map(&file) };
        bytes.ok().and_then(|bytes| Self::read(&bytes[..])).unwrap_or_default()
    }

    pub(crate) fn read<'data, R: ReadRef<'data>>(bytes: R) -> Option<Self> {
        let file = object::File::parse(bytes).ok()?;
        let segments = file.segments().map(|s| {
            let (offset, len) = s.file_range();
            (offset, len, s.address())
        });
        let symbols = file.symbols().chain(file.dynamic_symbols());
        let mut functions: Vec<Function> = symbols
            .filter(|s| s.kind() == SymbolKind::Text && s.is_definition())
            .filter_map(|s| {
                let name = s.name().ok().filter(|n| !n.is_empty())?;
                Some(Function { address: s.address(), size: s.size(), name: Some(name.to_owned()) })
            })
            .collect();
        let unnamed = |address| Function { address, size: 0, name: None };
        let frames = frames(&file).unwrap_or_default();
        functions.extend(frames.iter().map(|(begin, _)| unnamed(*begin)));
        let section = |s: object::Section<'data, '_, R>| {
            let name = s.name().unwrap_or_default().to_owned();
            (s.address(), s.address().saturating_add(s.size()), name)
        };
        let mut sections: Vec<(u64, u64, String)> = file.sections().map(section).collect();
        sections.sort_unstable();
        let (segments, stubs) = (segments.collect(), stubs(&file));
        let mut symbols = Self { functions, segments, sections, stubs, frames };
        symbols.sort();
        Some(symbols)
    }

    fn sort(&mut self) {
        // Of several at one address the largest, and of those the shortest name: the others are
        // aliases and labels.
        self.functions.sort_by(|a, b| {
            let by_size = (a.address, b.size).cmp(&(b.address, a.size));
            by_size.then_with(|| a.rank().cmp(&b.rank()))
        });
        self.functions.dedup_by_key(|f| f.address);
    }

    /// Adds the functions that another file, with the same addresses, or another table names.
    pub(crate) fn add(&mut self, named: impl IntoIterator<Item = (Range<u64>, String)>) {
        let function = |(range, name): (Range<u64>, String)| Function {
            address: range.start,
            size: range.end.saturating_sub(range.start),
            name: Some(name),
        };
        self.functions.extend(named.into_iter().map(function));
        self.sort();
    }

    /// The functions that have names: their addresses, empty where no size is told.
    pub(crate) fn into_named(self) -> impl Iterator<Item = (Range<u64>, String)> {
        let named = |f: Function| Some((f.address..f.address.saturating_add(f.size), f.name?));
        self.functions.into_iter().filter_map(named)
    }

    /// The addresses of the function that one within the object is in, and its name, as far as anything tells them.
    pub(crate) fn bounds(&self, at: u64) -> Option<(Range<u64>, Option<String>)> {
        if let Some((start, (end, name))) = self.stubs.range(..=at).next_back()
            && at < *end
        {
            return Some((*start..*end, Some(name.clone())));
        }
        let after = self.functions.partition_point(|f| f.address <= at);
        let before = &self.functions[..after];
        let mut sized = before.iter().rev().take(NESTED).filter(|f| f.name.is_some());
        if let Some(f) = sized.find(|f| at - f.address < f.size) {
            return Some((
                f.address..f.address.saturating_add(f.size),
                f.name.as_deref().map(readable),
            ));
        }
        let frame = self.frames[..self.frames.partition_point(|(begin, _)| *begin <= at)].last();
        if let Some((begin, len)) = frame.filter(|(begin, len)| at - begin < *len) {
            let label = before.iter().rev().find(|f| f.name.is_some());
            let label = label.filter(|f| f.address >= *begin);
            return Some((
                *begin..begin.saturating_add(*len),
                label.and_then(|f| f.name.as_deref()).map(readable),
            ));
        }
        let (section, end, _) =
            self.sections.iter().find(|(start, end, _)| (start..end).contains(&&at))?;
        let label = before.last().filter(|f| f.address >= *section && f.size == 0)?;
        let next = self.functions.get(after).map_or(*end, |f| f.address.min(*end));
        label.name.as_deref().map(|name| (label.address..next, Some(readable(name))))
    }

    pub(crate) fn function(&self, mapping: &Mapping, address: u64) -> Option<String> {
        let at = self.within(mapping, address)?;
        if let Some((_, (end, name))) = self.stubs.range(..=at).next_back()
            && at < *end
        {
            return Some(name.clone());
        }
        // Of many thousand names few are asked for.
        self.named(at).map(readable)
    }

    fn named(&self, at: u64) -> Option<&str> {
        let after = self.functions.partition_point(|f| f.address <= at);
        let last = self.functions[..after].last()?;
        // Hand-written assembly often tells no size, and labels stand within functions; none reaches into another
        // section, as `_init` would into the stubs behind it.
        let is_beyond = |(start, end, _): &(u64, u64, String)| {
            last.address < *start && (*start..*end).contains(&at)
        };
        let is_unsized =
            last.size == 0 && last.name.is_some() && !self.sections.iter().any(is_beyond);
        if is_unsized || last.size > 0 && at - last.address < last.size {
            return last.name.as_deref();
        }
        let around = self.functions[..after].iter().rev().take(NESTED);
        let mut around = around.filter(|f| at - f.address < f.size);
        around.next().and_then(|f| f.name.as_deref())
    }

    /// Where the code of an address is that has no symbol: where its function begins, as far as the tables for unwinding
    /// tell it, and the nearest symbol before.
    fn beside(&self, mapping: &Mapping, address: u64) -> Option<String> {
        let at = self.within(mapping, address)?;
        let is_in = |(start, end, _): &&(u64, u64, String)| (*start..*end).contains(&at);
        let (section, _, name) = self.sections.iter().find(is_in)?;
        let begin = self.bounds(at).map_or(*section, |(range, _)| range.start);
        let before =
            self.functions[..self.functions.partition_point(|f| f.address <= begin)].iter();
        let mut named = before.rev().filter(|f| f.address >= *section);
        let after = named.find_map(|f| Some((f.name.as_deref()?, begin - f.address)));
        let place = if begin == *section { String::new() } else { format!(" at {begin:#x}") };
        let after = after.map(|(name, by)| format!(", {by:#x} after {}", readable(name)));
        Some(format!("(no symbol){place} in {name}{}", after.unwrap_or_default()))
    }

    /// Where the function begins that an address of the mapping is in, named or not: its address within the object.
    pub(crate) fn begin(&self, mapping: &Mapping, address: u64) -> Option<u64> {
        let at = self.within(mapping, address)?;
        let after = self.functions.partition_point(|f| f.address <= at);
        self.functions[..after].last().map(|f| f.address)
    }

    pub(crate) fn within(&self, mapping: &Mapping, address: u64) -> Option<u64> {
        self.address(address.checked_sub(mapping.start)?.checked_add(mapping.offset)?)
    }

    /// The address within the object of a byte of its file.
    pub(crate) fn address(&self, offset: u64) -> Option<u64> {
        let holds = |(from, len, _): &&(u64, u64, u64)| {
            offset.checked_sub(*from).is_some_and(|within| within < *len)
        };
        let (from, _, at) = self.segments.iter().find(holds)?;
        at.checked_add(offset - from)
    }
}

/// What can stand before a stub's jump: `bnd`, `endbr64`.
const BEFORE_JUMP: [&[u8]; 2] = [&[0xf2], &[0xf3, 0x0f, 0x1e, 0xfa]];

/// The stubs of the procedure linkage table: each jumps to where a slot points, `jmp *slot(%rip)` (System V ABI for
/// x86-64, figure 5.2), and a relocation names the slot's function.
fn stubs<'data, R: ReadRef<'data>>(file: &object::File<'data, R>) -> BTreeMap<u64, (u64, String)> {
    let symbols = file.dynamic_symbol_table();
    let name = |target| match target {
        RelocationTarget::Symbol(index) => {
            Some(symbols.as_ref()?.symbol_by_index(index).ok()?.name().ok()?.to_owned())
        }
        _ => None,
    };
    let relocations = file.dynamic_relocations().into_iter().flatten();
    let slots: BTreeMap<u64, String> =
        relocations.filter_map(|(at, r)| Some((at, name(r.target())?))).collect();
    let tables = file.sections().filter(|s| s.name().is_ok_and(|name| name.starts_with(".plt")));
    let mut stubs = BTreeMap::new();
    for table in tables {
        let code = table.data().unwrap_or_default();
        for (at, bytes) in code.windows(6).enumerate() {
            let [0xff, 0x25, displacement @ ..] = bytes else { continue };
            let displacement = displacement.try_into().map_or(0, i32::from_le_bytes);
            let end = table.address().wrapping_add(at as u64 + 6);
            let Some(name) = slots.get(&end.wrapping_add_signed(displacement.into())) else {
                continue;
            };
            let before = BEFORE_JUMP.into_iter().fold(at, |at, bytes| {
                if code[..at].ends_with(bytes) { at - bytes.len() } else { at }
            });
            let start = table.address().wrapping_add(before as u64);
            stubs.insert(start, (end, format!("{}@plt", readable(name))));
        }
    }
    stubs
}

/// Where functions begin by the search table of `.eh_frame_hdr`, which stripped objects have too (Linux Standard
/// Base, section 10.6.2): pairs of offsets from the section's own address, 32 bits each, of a function and of its
/// description. The description says how long it is; one that reaches beyond the next is in another encoding.
fn frames<'data, R: ReadRef<'data>>(file: &object::File<'data, R>) -> Option<Vec<(u64, u64)>> {
    /// Version 1, a pointer to the frames in any encoding, a count of 4 bytes, entries relative to the section.
    const COUNT_AND_TABLE: [u8; 2] = [0x03, 0x3b];
    const HEADER: usize = 12;
    /// Behind the length, the common part's place and the beginning, 4 bytes each.
    const LENGTH_AT: u64 = 12;
    let section = file.section_by_name(".eh_frame_hdr")?;
    let data = section.data().ok()?;
    if data.get(2..4)? != COUNT_AND_TABLE {
        return None;
    }
    let frames = file.section_by_name(".eh_frame");
    let (first, frames) =
        frames.map_or((0, &[][..]), |f| (f.address(), f.data().unwrap_or_default()));
    let length = |description: u64| {
        let at = description.checked_sub(first)?.checked_add(LENGTH_AT)?;
        let bytes = frames.get(usize::try_from(at).ok()?..)?.first_chunk::<4>()?;
        Some(u64::from(u32::from_le_bytes(*bytes)))
    };
    let count = u32::from_le_bytes(data.get(8..HEADER)?.try_into().ok()?) as usize;
    let entries = data.get(HEADER..)?.as_chunks::<8>().0.iter().take(count);
    let place = |bytes: &[u8; 4]| {
        section.address().wrapping_add_signed(i64::from(i32::from_le_bytes(*bytes)))
    };
    let mut all: Vec<(u64, u64)> = entries
        .map(|entry| {
            let [begin, description] =
                [&entry[..4], &entry[4..]].map(|half| half.first_chunk::<4>().map_or(0, place));
            (begin, length(description).unwrap_or(0))
        })
        .collect();
    all.sort_unstable();
    for i in 1..all.len() {
        if all[i - 1].0.saturating_add(all[i - 1].1) > all[i].0 {
            all[i - 1].1 = 0;
        }
    }
    Some(all)
}

/// Rust's names as they are written in the source; others as they are.
fn readable(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}

/// How many symbols back a function may begin whose middle has symbols of its own.
const NESTED: usize = 32;

/// The mapped object's file: the one that is named, or the one that a descriptor of this process
/// still holds where it has no name any more.
fn file(mapping: &Mapping) -> Option<File> {
    File::open(&mapping.name).ok().or_else(|| {
        let entries = std::fs::read_dir("/proc/self/fd").ok()?;
        let is_it = |path: &std::path::PathBuf| {
            std::fs::read_link(path).is_ok_and(|to| to.as_os_str() == mapping.name.as_str())
        };
        File::open(entries.flatten().map(|e| e.path()).find(is_it)?).ok()
    })
}

/// The function at an offset of a file that were mapped whole, as far as its symbols tell: for tests
/// of what any file does to the reader.
#[doc(hidden)]
pub fn function_in(file: &[u8], offset: u64) -> Option<String> {
    let mapping = Mapping { start: 0, end: file.len() as u64, offset: 0, name: String::new() };
    Symbols::read(file)?.function(&mapping, offset)
}

#[cfg(test)]
mod tests {
    use super::{Code, *};

    fn parsed(line: &str) -> Option<(u64, u64, String)> {
        Mapping::parse(line).map(|m| (m.start, m.offset, m.object().to_owned()))
    }

    #[test]
    fn only_code_is_taken_and_called_by_the_files_name() {
        let line = |rest: &str| format!("7f00a000-7f00b000 {rest}");
        let code = |rest: &str| parsed(&line(rest));
        assert_eq!(
            code("r-xp 00001000 fe:00 12345    /opt/a b/libx.so.3"),
            Some((0x7f00_a000, 0x1000, "libx.so.3".to_owned()))
        );
        assert_eq!(
            code("r-xp 00002000 00:01 2048     /memfd:libx.so.3 (deleted)"),
            Some((0x7f00_a000, 0x2000, "libx.so.3".to_owned()))
        );
        assert_eq!(
            code("r-xp 00000000 00:00 0   [vdso]"),
            Some((0x7f00_a000, 0, "[vdso]".to_owned()))
        );
        assert_eq!(code("rw-p 00001000 fe:00 12345    /opt/libx.so"), None);
        assert_eq!(parsed("no mapping"), None);
    }

    #[test]
    fn the_bytes_of_a_function_are_those_that_the_process_executes() {
        let code = Code::of_this_process(&|_| None);
        let address = Code::mapping as *const () as u64;
        let mapping = &code.mappings[code.mapping(address).unwrap()];
        assert!(code.is_program(mapping) && code.is_elsewhere(mapping));
        let mut buffer = [0; 15];
        assert_eq!(code.bytes(address, &mut buffer).len(), 15);
        assert!(code.bytes(8, &mut buffer).is_empty());
    }

    #[test]
    fn a_copy_goes_by_the_file_that_it_is_of() {
        let libc = |mapped: &Path| mapped.to_string_lossy().contains("/libc.so");
        let original = Path::new("/opt/libother.so");
        let code = Code::of_this_process(&|mapped| libc(mapped).then_some(original));
        let address = libc::getrandom as *const () as u64;
        assert_eq!(code.mappings[code.mapping(address).unwrap()].object(), "libother.so");
    }

    fn function_at(address: u64) -> Option<String> {
        let code = Code::of_this_process(&|_| None);
        let mapping = &code.mappings[code.mapping(address)?];
        Symbols::of(mapping).function(mapping, address)
    }

    #[test]
    fn addresses_are_found_in_the_function_that_they_are_in() {
        let begin = Symbols::bounds as *const () as u64;
        for address in [begin, begin + 1, begin + 20] {
            let name = function_at(address).unwrap();
            assert!(name.contains("Symbols") && name.contains("bounds"), "{name}");
        }
    }

    /// A compiler's shared object has its stubs behind `_init`, whose size nothing tells.
    #[test]
    #[cfg(target_arch = "x86_64")]
    fn a_stub_goes_by_the_function_that_it_jumps_to() {
        let directory = tempfile::tempdir().unwrap();
        let object = directory.path().join("a.so");
        let source =
            "#include <string.h>\nvoid f(char *a, char *b, long n) { memcpy(a, b, n); a[0] = 1; }";
        let input = directory.path().join("a.c");
        std::fs::write(&input, source).unwrap();
        let mut compile = std::process::Command::new("cc");
        compile.args(["-shared", "-fPIC", "-O0", "-fno-builtin", "-o"]).arg(&object).arg(&input);
        assert!(compile.status().unwrap().success());
        let bytes = std::fs::read(&object).unwrap();
        let symbols = Symbols::read(&bytes[..]).unwrap();
        let found = symbols.stubs.iter().find(|(_, (_, name))| name == "memcpy@plt");
        let (start, (end, _)) = found.unwrap();
        let at = |address: u64| {
            let holds = |(_, len, at): &&(u64, u64, u64)| (*at..at + len).contains(&address);
            let (from, _, start) = symbols.segments.iter().find(holds).unwrap();
            function_in(&bytes, from + address - start)
        };
        for within in [*start, end - 6, end - 1] {
            assert_eq!(at(within).as_deref(), Some("memcpy@plt"));
        }
        let table = symbols.sections.iter().find(|(from, to, _)| (*from..*to).contains(start));
        // What pushes the number of the slot for the linker is nobody's; above all not `_init`'s.
        assert_ne!(at(table.unwrap().0).as_deref(), Some("_init"));
    }

    #[test]
    fn a_c_library_function_is_found_by_its_exported_name() {
        let name = function_at(libc::getrandom as *const () as u64 + 1).unwrap();
        assert!(name.contains("getrandom"), "{name}");
    }

    #[test]
    fn functions_without_a_symbol_begin_where_the_tables_for_unwinding_say() {
        let code = Code::of_this_process(&|_| None);
        let address = libc::getrandom as *const () as u64;
        let mapping = &code.mappings[code.mapping(address).unwrap()];
        let symbols = Symbols::of(mapping);
        let unnamed = symbols.functions.iter().filter(|f| f.name.is_none()).count();
        assert!(unnamed > 100, "the C library has functions that it does not export: {unnamed}");
        let begin = symbols.within(mapping, address);
        assert_eq!(symbols.begin(mapping, address + 4), begin);
        let stripped = symbols.functions.iter().find(|f| f.name.is_none()).unwrap().address;
        let at = address - begin.unwrap() + stripped;
        assert_eq!(symbols.function(mapping, at + 1), None);
        // What is next to them is told.
        let text = symbols.sections.iter().find(|(.., name)| name == ".text").unwrap();
        let is_in = |f: &&Function| f.name.is_none() && (text.0 + 1..text.1).contains(&f.address);
        let stripped = symbols.functions.iter().find(is_in).unwrap().address;
        let beside = symbols.beside(mapping, address - begin.unwrap() + stripped).unwrap();
        assert!(beside.starts_with(&format!("(no symbol) at {stripped:#x} in .text")), "{beside}");
    }
}
