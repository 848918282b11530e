//! From addresses to what they mean.

use crate::step::class::{Class, Decoded};
use crate::step::code::{Code, Mapping};
use crate::step::symbols::Symbols;
use crate::step::{Trace, Visit, arch};
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// What a call executed, by kinds.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Profile {
    /// Instructions. One with a repeat prefix is one each time it is come to, however often it
    /// repeats.
    pub instructions: u64,
    /// By class and width, most frequent first.
    pub classes: Vec<ClassCount>,
    /// Instructions that read memory, the stack included.
    pub memory_reads: u64,
    /// Instructions that write memory, the stack included.
    pub memory_writes: u64,
    /// By instruction set: the library's code and what it brought along.
    pub sets: Vec<SetCount>,
    /// By instruction set: the C library's, the program's own and the kernel's code.
    pub sets_elsewhere: Vec<SetCount>,
    /// By function, most frequent first.
    pub functions: Vec<FunctionCount>,
    /// The files that the instructions are in.
    pub objects: Vec<PathBuf>,
    /// Addresses at which no instruction could be read; their visits are counted in `instructions`.
    pub unknown: u64,
}

/// Instructions of one class at one width.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct ClassCount {
    /// The class.
    pub class: Class,
    /// Bits of the widest vector register that the instruction names.
    pub width: Option<u16>,
    /// Instructions.
    pub count: u64,
}

/// Instructions of one set. An instruction may need several.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SetCount {
    /// Its name in lower case, as the decoder has it: `aes`, `vaes`, `avx512vl`.
    pub set: String,
    /// Instructions.
    pub count: u64,
    /// One of them and where it is: `vaesenc at libcrypto.so.3+0x1c3a40 (aes_gcm_enc)`.
    pub example: String,
}

/// Instructions of one function.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct FunctionCount {
    /// Its symbol, where the object has one.
    pub function: Option<String>,
    /// File name of the object.
    pub object: String,
    /// Instructions, without those of functions that it calls.
    pub count: u64,
}

/// Decodes a trace.
#[must_use]
pub fn profile(trace: &Trace, code: &Code) -> Profile {
    let mut gathering = Gathering::new(code);
    for visit in &trace.visits {
        gathering.add(visit);
    }
    gathering.finish()
}

/// Counts and an example.
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
        let place = self.place(visit.address, count);
        match decoded {
            Some(decoded) => self.add_decoded(&decoded, count, place),
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
        let function = symbols.function(mapping, address);
        let at = symbols.within(mapping, address).unwrap_or(address - mapping.start);
        let object = self.object(mapping);
        let named = function.as_ref().map(|f| format!(" ({f})")).unwrap_or_default();
        let text = format!("{object}+{at:#x}{named}");
        *self.functions.entry((object, function)).or_default() += count;
        if mapping.name.starts_with('/') {
            self.objects.insert(PathBuf::from(&mapping.name));
        }
        (text, self.code.is_elsewhere(mapping))
    }

    fn object(&self, mapping: &Mapping) -> String {
        if self.code.is_program(mapping) { "ciphermark" } else { mapping.object() }.to_owned()
    }

    fn add_decoded(&mut self, decoded: &Decoded, count: u64, (place, elsewhere): (String, bool)) {
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
            .map(|((class, width), count)| ClassCount { class, width, count })
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
