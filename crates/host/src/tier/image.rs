//! What is read of an ELF file: its code, where functions begin and end, what it depends on.

use gimli::{BaseAddresses, CieOrFde, EhFrame, LittleEndian, UnwindSection as _};
use object::elf::{self, FileHeader64};
use object::read::elf::{Dyn as _, ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind};
use std::ops::Range;

type Endian = object::LittleEndian;
const ENDIAN: Endian = object::LittleEndian;

/// Code that is mapped: where in memory, and its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Code<'a> {
    /// Address relative to the load address.
    pub address: u64,
    /// Offset in the file.
    pub offset: u64,
    /// The bytes.
    pub bytes: &'a [u8],
}

impl Code<'_> {
    /// Addresses that it covers.
    pub fn range(&self) -> Range<u64> {
        self.address..self.address.saturating_add(self.bytes.len() as u64)
    }
}

/// Executable segments of a file at most: linkers make one or two. What is read of a file grows with
/// them, and a file may announce 65,535.
const MOST_SEGMENTS: usize = 64;

/// Bytes of a name, and names of what a file depends on, at most.
const MOST_NAME: usize = 4096;

/// A shared object's file, which may come from anybody: whatever stands in it is read to an end.
pub struct Image<'a> {
    /// Executable segments.
    pub code: Vec<Code<'a>>,
    /// Where functions begin and end, sorted, without repetition: from unwinding tables and
    /// symbols.
    pub functions: Vec<Range<u64>>,
    /// Other places where code begins: symbols of functions without size, initialisers.
    pub entries: Vec<u64>,
    /// Its own name for the dynamic loader.
    pub soname: Option<String>,
    /// Names of what it depends on.
    pub needed: Vec<String>,
    /// Bytes of the file that are ever mapped: everything up to the end of the last segment.
    pub mapped: usize,
}

impl<'a> Image<'a> {
    /// Reads the bytes of a file.
    pub fn parse(bytes: &'a [u8]) -> Result<Self, String> {
        let wrong = |e: object::Error| format!("is no ELF file that can be read: {e}");
        let file = ElfFile64::<Endian>::parse(bytes).map_err(wrong)?;
        let segments = file.elf_program_headers();
        let loaded = || segments.iter().filter(|s| s.p_type(ENDIAN) == elf::PT_LOAD);
        let mut code: Vec<Code<'a>> = loaded()
            .filter(|s| s.p_flags(ENDIAN).0 & elf::PF_X.0 != 0)
            .filter_map(|s| {
                let bytes = s.data(ENDIAN, bytes).ok()?;
                Some(Code { address: s.p_vaddr(ENDIAN), offset: s.p_offset(ENDIAN), bytes })
            })
            .collect();
        check_code(&mut code)?;
        let end = |s: &elf::ProgramHeader64<Endian>| {
            s.p_offset(ENDIAN).saturating_add(s.p_filesz(ENDIAN))
        };
        let mapped = loaded().map(end).max().unwrap_or(0);
        let mut image = Self {
            code,
            functions: unwound(&file),
            entries: Vec::new(),
            soname: None,
            needed: Vec::new(),
            mapped: usize::try_from(mapped).unwrap_or(usize::MAX).min(bytes.len()),
        };
        image.read_symbols(&file);
        image.read_dynamic(file.elf_header(), bytes);
        image.functions.sort_unstable_by_key(|r| (r.start, r.end));
        image.functions.dedup();
        image.entries.sort_unstable();
        image.entries.dedup();
        Ok(image)
    }

    /// The code at an address.
    pub fn code_at(&self, address: u64) -> Option<&Code<'a>> {
        self.code.iter().find(|c| c.range().contains(&address))
    }

    fn read_symbols(&mut self, file: &ElfFile64<'_, Endian>) {
        for symbol in file.symbols().chain(file.dynamic_symbols()) {
            let (start, size) = (symbol.address(), symbol.size());
            if symbol.is_undefined() || self.code_at(start).is_none() {
                continue;
            }
            match (symbol.kind(), size) {
                (SymbolKind::Text, 1..) => {
                    self.functions.push(start..start.saturating_add(size));
                }
                // Hand-written assembly often says neither.
                (SymbolKind::Text, 0) => self.entries.push(start),
                _ => {}
            }
        }
    }

    fn read_dynamic(&mut self, header: &FileHeader64<Endian>, bytes: &[u8]) {
        let Ok(segments) = header.program_headers(ENDIAN, bytes) else { return };
        let entries: Vec<(u64, u64)> = segments
            .iter()
            .find_map(|s| s.dynamic(ENDIAN, bytes).ok().flatten())
            .into_iter()
            .flatten()
            .map(|d| (d.d_tag(ENDIAN).0 as u64, d.d_val(ENDIAN)))
            .collect();
        let value = |tag: i64| entries.iter().find(|(t, _)| *t == tag as u64).map(|(_, v)| *v);
        let strings = value(elf::DT_STRTAB.0).and_then(|address| {
            let holds = |s: &&elf::ProgramHeader64<Endian>| {
                let within = address.checked_sub(s.p_vaddr(ENDIAN));
                s.p_type(ENDIAN) == elf::PT_LOAD && within.is_some_and(|w| w < s.p_filesz(ENDIAN))
            };
            let segment = segments.iter().find(holds)?;
            let within = address - segment.p_vaddr(ENDIAN);
            let offset = segment.p_offset(ENDIAN).checked_add(within)?;
            bytes.get(usize::try_from(offset).ok()?..)
        });
        let text = |at: u64| -> Option<String> {
            let rest = strings?.get(usize::try_from(at).ok()?..)?;
            let end = rest.iter().take(MOST_NAME).position(|b| *b == 0)?;
            Some(String::from_utf8_lossy(&rest[..end]).into_owned())
        };
        self.soname = value(elf::DT_SONAME.0).and_then(text);
        let needed = entries.iter().filter(|(t, _)| *t == elf::DT_NEEDED.0 as u64);
        self.needed = needed.take(MOST_NAME).filter_map(|(_, v)| text(*v)).collect();
        for tag in [elf::DT_INIT, elf::DT_FINI] {
            let entry = value(tag.0).filter(|a| self.code_at(*a).is_some());
            self.entries.extend(entry);
        }
    }
}

/// Sorts segments; refuses what no linker makes.
fn check_code(code: &mut [Code<'_>]) -> Result<(), String> {
    if code.len() > MOST_SEGMENTS {
        return Err(format!("has {} executable segments", code.len()));
    }
    code.sort_unstable_by_key(|c| c.address);
    if code.windows(2).any(|pair| pair[0].range().end > pair[1].address) {
        return Err("has executable segments that overlap".to_owned());
    }
    Ok(())
}

/// Functions by the tables that unwind the stack.
fn unwound(file: &ElfFile64<'_, Endian>) -> Vec<Range<u64>> {
    let Some(section) = file.section_by_name(".eh_frame") else { return Vec::new() };
    let Ok(data) = section.data() else { return Vec::new() };
    let text = file.section_by_name(".text").map_or(0, |s| s.address());
    let bases = BaseAddresses::default().set_eh_frame(section.address()).set_text(text);
    let frames = EhFrame::new(data, LittleEndian);
    let (mut functions, mut entries) = (Vec::new(), frames.entries(&bases));
    while let Ok(Some(entry)) = entries.next() {
        let CieOrFde::Fde(partial) = entry else { continue };
        if let Ok(fde) = partial.parse(EhFrame::cie_from_offset) {
            let start = fde.initial_address();
            functions.push(start..start.saturating_add(fde.len()));
        }
    }
    functions
}
