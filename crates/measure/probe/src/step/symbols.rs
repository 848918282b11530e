//! Which function an address is in, as far as the object's symbols tell.

use crate::step::code::Mapping;
use object::{Object as _, ObjectSegment as _, ObjectSymbol as _, SymbolKind};

/// The functions of one object, by address within it.
#[derive(Debug, Default)]
pub(crate) struct Symbols {
    functions: Vec<Function>,
    /// Offset in the file, length there, and address within the object of each loaded segment.
    segments: Vec<(u64, u64, u64)>,
}

#[derive(Debug)]
struct Function {
    address: u64,
    size: u64,
    name: String,
}

impl Symbols {
    /// Those of the object that is mapped; none where its file cannot be read.
    pub(crate) fn of(mapping: &Mapping) -> Self {
        file(mapping).and_then(|bytes| Self::read(&bytes)).unwrap_or_default()
    }

    fn read(bytes: &[u8]) -> Option<Self> {
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
                Some(Function { address: s.address(), size: s.size(), name: readable(name) })
            })
            .collect();
        // Of several at one address the largest, and of those the shortest name: the others are
        // aliases and labels.
        functions.sort_by(|a, b| {
            (a.address, b.size, a.name.len(), &a.name).cmp(&(
                b.address,
                a.size,
                b.name.len(),
                &b.name,
            ))
        });
        functions.dedup_by_key(|f| f.address);
        Some(Self { functions, segments: segments.collect() })
    }

    /// The function at an address of the mapping.
    pub(crate) fn function(&self, mapping: &Mapping, address: u64) -> Option<&str> {
        let at = self.within(mapping, address)?;
        let after = self.functions.partition_point(|f| f.address <= at);
        let last = self.functions[..after].last()?;
        // Hand-written assembly often tells no size, and labels stand within functions.
        if last.size == 0 || at - last.address < last.size {
            return Some(&last.name);
        }
        let around = self.functions[..after].iter().rev().take(NESTED);
        let mut around = around.filter(|f| at - f.address < f.size);
        around.next().map(|f| f.name.as_str())
    }

    /// The address within the object, as its symbols have it.
    pub(crate) fn within(&self, mapping: &Mapping, address: u64) -> Option<u64> {
        let offset = address.checked_sub(mapping.start)?.checked_add(mapping.offset)?;
        let holds = |(from, len, _): &&(u64, u64, u64)| {
            offset.checked_sub(*from).is_some_and(|within| within < *len)
        };
        let (from, _, at) = self.segments.iter().find(holds)?;
        at.checked_add(offset - from)
    }
}

/// Rust's names as they are written in the source; others as they are.
fn readable(name: &str) -> String {
    format!("{:#}", rustc_demangle::demangle(name))
}

/// How many symbols back a function may begin whose middle has symbols of its own.
const NESTED: usize = 32;

/// The mapped object's file: the one that is named, or the one that a descriptor of this process
/// still holds where it has no name any more.
fn file(mapping: &Mapping) -> Option<Vec<u8>> {
    let named = std::fs::read(&mapping.name).ok();
    named.or_else(|| {
        let entries = std::fs::read_dir("/proc/self/fd").ok()?;
        let is_it = |path: &std::path::PathBuf| {
            std::fs::read_link(path).is_ok_and(|to| to.as_os_str() == mapping.name.as_str())
        };
        std::fs::read(entries.flatten().map(|e| e.path()).find(is_it)?).ok()
    })
}

/// The function at an offset of a file that were mapped whole, as far as its symbols tell: for tests
/// of what any file does to the reader.
#[doc(hidden)]
#[must_use]
pub fn function_in(file: &[u8], offset: u64) -> Option<String> {
    let mapping = Mapping { start: 0, end: file.len() as u64, offset: 0, name: String::new() };
    Symbols::read(file)?.function(&mapping, offset).map(ToOwned::to_owned)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::step::Code;

    fn function_at(address: u64) -> Option<String> {
        let code = Code::of_this_process(&|_| None);
        let mapping = &code.mappings[code.mapping(address)?];
        Symbols::of(mapping).function(mapping, address).map(ToOwned::to_owned)
    }

    #[test]
    fn addresses_are_found_in_the_function_that_they_are_in() {
        let begin = Symbols::read as *const () as u64;
        for address in [begin, begin + 1, begin + 20] {
            let name = function_at(address).unwrap();
            assert!(name.contains("Symbols") && name.contains("read"), "{name}");
        }
    }

    #[test]
    fn a_c_library_function_is_found_by_its_exported_name() {
        let name = function_at(libc::getrandom as *const () as u64 + 1).unwrap();
        assert!(name.contains("getrandom"), "{name}");
    }
}
