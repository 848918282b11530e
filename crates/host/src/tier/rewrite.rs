//! Rewriting: a copy of the library in memory, in which every instruction that asks the CPU what it has is
//! one that faults, of the same length; the copy is loaded instead of the file, so that also the first
//! initialiser and every resolver of indirect functions gets the tier's answer. Nothing else in it differs.
//! And what is read of an ELF file for it: its code, where functions begin and end, what it depends on.

use crate::tier::copy::{is_runtime, of_bytes, sorted};
use crate::tier::{Applied, Copies, Mechanism, Object, Plan, arch};
use base::model::Tier;
use gimli::{BaseAddresses, CieOrFde, EhFrame, LittleEndian, UnwindSection as _};
use object::elf::FileHeader64;
use object::read::elf::{Dyn as _, ElfFile64, FileHeader as _, ProgramHeader as _};
use object::{Object as _, ObjectSection as _, ObjectSymbol as _, SymbolKind, elf};
use std::collections::{BTreeMap, HashMap};
use std::ffi::{CStr, CString, c_int, c_void};
use std::fs::File;
use std::io::Read as _;
use std::mem::MaybeUninit;
use std::ops::Range;
use std::os::fd::AsRawFd as _;
use std::os::unix::ffi::OsStrExt as _;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicU8, AtomicU64, Ordering};

/// How a file asks the CPU what it has.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Questions {
    /// Places that ask.
    pub places: u64,
    /// Those of them that a copy has something else at.
    pub patches: Vec<Patch>,
}

/// Bytes of a file and what stands in their place in the copy, as many.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Patch {
    pub offset: u64,
    pub was: Vec<u8>,
    pub becomes: Vec<u8>,
}

/// Finds how a library, and what it loads, asks what the CPU has, and makes the copies.
pub fn prepare(library: &Path) -> Result<Copies, String> {
    let library = library.canonicalize().map_err(|e| format!("'{}': {e}", library.display()))?;
    let library_name = library.to_string_lossy().into_owned();
    // Read, not asked of the loader: this process is not confined.
    crate::check_elf(&library).map_err(|why| format!("'{}' {why}", library.display()))?;
    let mut paths = crate::dependencies(&library, is_runtime)?;
    paths.insert(library_name.clone(), library.clone());
    let files = read_all(&paths)?;
    let mut images = BTreeMap::new();
    for (name, bytes) in &files {
        let image = Image::parse(bytes).map_err(|e| format!("'{}' {e}", paths[name].display()))?;
        images.insert(name.as_str(), image);
    }
    let needs: HashMap<&str, Vec<&str>> = images
        .iter()
        .map(|(name, image)| (*name, image.needed.iter().map(String::as_str).collect()))
        .collect();
    let (mut plan, mut copies) = (Plan::default(), Vec::new());
    for name in sorted(&needs, &library_name) {
        let (path, image) = (&paths[name], &images[name]);
        let wrong = |why: String| format!("'{}' {why}", path.display());
        let mapped = &files[name][..image.mapped];
        let found = arch::questions(image, &files[name]).map_err(wrong)?;
        let mut load = path.clone();
        if !found.patches.is_empty() {
            if name != library_name && image.soname.as_deref() != Some(name) {
                return Err(format!(
                    "'{}' asks what the CPU has and has no name (SONAME) by which the copy would be known",
                    path.display()
                ));
            }
            let copy = copy(path, mapped, &found.patches)?;
            load = PathBuf::from(format!("/proc/{}/fd/{}", std::process::id(), copy.as_raw_fd()));
            copies.push(copy);
        }
        let cpuid_instructions = found.places;
        plan.objects.push(Object { original: path.clone(), load, cpuid_instructions });
    }
    if plan.cpuid_instructions() == 0 {
        for (name, image) in &images {
            let wrong = |why: String| format!("'{}' {why}", paths[*name].display());
            for (feature, count) in arch::features(image).map_err(wrong)? {
                *plan.features.entry(feature).or_insert(0) += count;
            }
        }
    }
    Ok(Copies { plan, _files: copies })
}

/// Most bytes of a library and all that it needs: a file of holes costs whoever made it nothing.
const MOST_BYTES: u64 = 512 << 20;

fn read_all(paths: &BTreeMap<String, PathBuf>) -> Result<BTreeMap<String, Vec<u8>>, String> {
    let (mut all, mut left) = (BTreeMap::new(), MOST_BYTES);
    for (name, path) in paths.iter().filter(|(_, path)| !is_runtime(path)) {
        let wrong = |why: std::io::Error| format!("'{}': {why}", path.display());
        let file = record::open_regular(path).map_err(wrong)?;
        let mut bytes = Vec::new();
        if file.metadata().map_err(wrong)?.len() <= left {
            file.take(left).read_to_end(&mut bytes).map_err(wrong)?;
        } else {
            let why = "it and what is read with it have more than 512 MiB";
            return Err(wrong(std::io::Error::other(why)));
        }
        left -= bytes.len() as u64;
        all.insert(name.clone(), bytes);
    }
    Ok(all)
}

fn copy(path: &Path, bytes: &[u8], patches: &[Patch]) -> Result<File, String> {
    let mut bytes = bytes.to_vec();
    for patch in patches {
        let place = &mut bytes[patch.offset as usize..][..patch.was.len()];
        assert_eq!(place, patch.was, "the places that were found hold what was found");
        place.copy_from_slice(&patch.becomes);
    }
    of_bytes(path, &bytes)
}

impl Applied {
    /// By copies, which `proof` says to be answered: what the library depends on is loaded.
    pub(crate) fn of_copies(
        tier: Tier,
        mechanism: Mechanism,
        plan: &Plan,
        proof: String,
    ) -> Result<Self, String> {
        let (own, dependencies) = plan.objects.split_last().ok_or("nothing to load")?;
        dependencies.iter().try_for_each(preload)?;
        let rewritten = |o: &&Object| o.load != o.original;
        Ok(Self {
            tier,
            mechanism,
            load: own.load.clone(),
            originals: plan.objects.iter().filter(rewritten).map(|o| o.original.clone()).collect(),
            cpuid_instructions: Some(plan.cpuid_instructions()),
            answered_before: 0,
            proof,
            note: None,
        })
    }
}

/// Loads what the library depends on before it: the dynamic loader then knows each by its name.
fn preload(object: &Object) -> Result<(), String> {
    let path = CString::new(object.load.as_os_str().as_bytes()).map_err(|e| e.to_string())?;
    // SAFETY: loads what the library would load itself; it stays loaded.
    let handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
    if !handle.is_null() {
        return Ok(());
    }
    // SAFETY: after a failure the loader has a message, valid until its next call.
    let words = unsafe {
        let message = libc::dlerror();
        if message.is_null() { "" } else { CStr::from_ptr(message).to_str().unwrap_or("") }
    };
    Err(format!("a copy of '{}' cannot be loaded: {words}", object.original.display()))
}

type Endian = object::LittleEndian;
const ENDIAN: Endian = object::LittleEndian;

/// Code that is mapped: where in memory, and its bytes.
#[derive(Clone, Copy, Debug)]
pub struct Code<'a> {
    /// Address relative to the load address.
    pub address: u64,
    pub offset: u64,
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

// The signal handler that answers what was written in the place of an instruction. It is strict about async-signal
// safety: no allocation, no lock, no errno, nothing but loads and stores on its own statics.

pub(crate) struct Handler {
    signal: c_int,
    /// Index of the tier in `Tier::ALL`.
    pub(crate) tier: AtomicU8,
    answered: AtomicU64,
    /// What handled the signal before.
    before: OnceLock<libc::sigaction>,
}

impl Handler {
    pub(crate) const fn of(signal: c_int) -> Self {
        let (tier, answered) = (AtomicU8::new(0), AtomicU64::new(0));
        Self { signal, tier, answered, before: OnceLock::new() }
    }

    /// How many questions have been answered in this process.
    pub(crate) fn answered(&self) -> u64 {
        self.answered.load(Ordering::Relaxed)
    }

    pub(crate) fn count(&self) {
        self.answered.fetch_add(1, Ordering::Relaxed);
    }

    pub(crate) fn tier(&self) -> Tier {
        Tier::ALL[usize::from(self.tier.load(Ordering::Relaxed))]
    }

    /// From now on it answers as the tier does.
    pub(crate) fn install(
        &self,
        tier: Tier,
        handler: extern "C" fn(c_int, *mut libc::siginfo_t, *mut c_void),
    ) -> Result<(), String> {
        let index = Tier::ALL.iter().position(|t| *t == tier).expect("every tier is in the list");
        self.tier.store(index as u8, Ordering::Relaxed);
        if self.before.get().is_some() {
            return Ok(());
        }
        // SAFETY: a `sigaction` of zeroes is a valid one, and one that sets a handler of the type that
        // SA_SIGINFO asks for is too.
        let error = unsafe {
            let mut before = MaybeUninit::<libc::sigaction>::zeroed();
            let mut action: libc::sigaction = MaybeUninit::zeroed().assume_init();
            action.sa_sigaction = handler as usize;
            action.sa_flags = libc::SA_SIGINFO | libc::SA_ONSTACK;
            if libc::sigaction(self.signal, std::ptr::null(), before.as_mut_ptr()) != 0 {
                true
            } else {
                // Kept before ours is in force: it may be needed at once.
                self.before.get_or_init(|| before.assume_init());
                libc::sigaction(self.signal, &raw const action, std::ptr::null_mut()) != 0
            }
        };
        if error { Err("no signal handler can be set".to_owned()) } else { Ok(()) }
    }

    /// Leaves the signal to whoever handled it before: the instruction runs again and faults again.
    pub(crate) fn step_back(&self, code: c_int) {
        let Some(before) = self.before.get() else { return };
        // SAFETY: what `sigaction` gave is valid to set; `sigaction` and `raise` are async-signal-safe.
        unsafe {
            libc::sigaction(self.signal, before, std::ptr::null_mut());
            if code <= 0 {
                // Sent by a process: nothing will fault again.
                libc::raise(self.signal);
            }
        }
    }
}

#[cfg(all(test, target_arch = "x86_64"))]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
    use super::*;
    use crate::tier::copied_name;
    use crate::tier::mask::answer;
    use crate::tier::x86_64::fixtures::{CONFUSING, compiled, compiled_in};
    use crate::tier::x86_64::trap;
    use crate::tier::x86_64::trap::{CPUID, MARKER, tests};
    use std::ffi::{CString, c_int, c_uint, c_void};
    use std::io::Write as _;
    use std::sync::Mutex;

    #[test]
    fn files_of_holes_that_a_library_needs_are_not_all_read() {
        let directory = tempfile::tempdir().unwrap();
        let file = |name: &str, bytes| {
            let path = directory.path().join(name);
            File::create(&path).unwrap().set_len(bytes).unwrap();
            (name.to_owned(), path)
        };
        let small = BTreeMap::from([file("a", 10), file("b", 0)]);
        assert_eq!(read_all(&small).unwrap()["a"], [0; 10]);
        let large = BTreeMap::from([file("a", 10), file("b", MOST_BYTES - 9)]);
        let why = read_all(&large).unwrap_err();
        assert!(why.ends_with("b': it and what is read with it have more than 512 MiB"), "{why}");
    }

    /// Prepared, and never given back: the loader would take the next copy for one that had its name.
    fn kept(library: &Path) -> &'static Copies {
        // Where a sanitizer finds them: nothing is lost.
        static KEPT: Mutex<Vec<&'static Copies>> = Mutex::new(Vec::new());
        let copies = Box::leak(Box::new(prepare(library).unwrap()));
        KEPT.lock().unwrap().push(copies);
        copies
    }

    /// Loads a plan in order; the last handle.
    fn load(plan: &Plan) -> *mut c_void {
        let mut handle = std::ptr::null_mut();
        for object in &plan.objects {
            let path = CString::new(object.load.as_os_str().as_bytes()).unwrap();
            // SAFETY: loads stand-ins of these tests.
            handle = unsafe { libc::dlopen(path.as_ptr(), libc::RTLD_NOW | libc::RTLD_LOCAL) };
            assert!(!handle.is_null(), "{object:?}");
        }
        handle
    }

    fn call(handle: *mut c_void, name: &str, argument: c_int) -> c_uint {
        let name = CString::new(name).unwrap();
        // SAFETY: the stand-ins' functions all have this type.
        let function = unsafe {
            std::mem::transmute::<*mut c_void, extern "C" fn(c_int) -> c_uint>(libc::dlsym(
                handle,
                name.as_ptr(),
            ))
        };
        function(argument)
    }

    /// ECX of leaf 1 as the baseline shows it. The bits of the CPU's own state differ from moment to
    /// moment in none of it.
    fn masked() -> c_uint {
        answer(Tier::Baseline, 1, 0, trap::cpuid(1, 0)).ecx
    }

    #[test]
    fn a_copy_asks_the_handler_and_its_tables_are_whole() {
        let _turn = tests::alone();
        let object = compiled("confusing-loaded.so", CONFUSING, &[]);
        let copies = kept(&object);
        assert_eq!(copies.plan.cpuid_instructions(), 4);
        trap::install(Tier::Baseline, false).unwrap();
        let handle = load(&copies.plan);
        for way in 0..4 {
            assert_eq!(call(handle, "seen", way), masked(), "way {way}");
        }
        assert_eq!(call(handle, "seen", 4), 1, "the table has changed");
    }

    /// What an initialiser and a resolver of an indirect function saw, before anything was called.
    const EARLY: &str = r#"
#include <cpuid.h>
static unsigned constructed, resolved;
static unsigned ask(void) {
  unsigned a, b, c, d;
  __cpuid_count(1, 0, a, b, c, d);
  return c;
}
__attribute__((constructor)) static void first(void) { constructed = ask(); }
static unsigned one(int way) { return way ? constructed : resolved; }
static unsigned (*resolve(void))(int) { resolved = ask(); return one; }
unsigned seen(int way) __attribute__((ifunc("resolve")));
"#;

    #[test]
    fn initialisers_and_resolvers_already_see_the_tier() {
        let _turn = tests::alone();
        let copies = kept(&compiled("early.so", EARLY, &[]));
        trap::install(Tier::Baseline, false).unwrap();
        let handle = load(&copies.plan);
        assert_eq!(call(handle, "seen", 0), masked(), "resolver");
        assert_eq!(call(handle, "seen", 1), masked(), "initialiser");
    }

    #[test]
    fn dependencies_are_copied_too_found_beside_the_library_and_known_by_their_names() {
        let _turn = tests::alone();
        let place = tempfile::tempdir().unwrap();
        let inner = EARLY.replace("seen", "inner_seen");
        compiled_in(place.path(), "libinner.so.1", &inner, &["-Wl,-soname,libinner.so.1"]);
        let outer = "unsigned inner_seen(int);\nunsigned seen(int way) { return inner_seen(way); }";
        let directory = place.path().display().to_string();
        let inner_path = format!("{directory}/libinner.so.1");
        let object =
            compiled_in(place.path(), "outer.so", outer, &[&inner_path, "-Wl,-rpath,$ORIGIN"]);
        let copies = kept(&object);
        let plan = &copies.plan;
        assert_eq!(plan.objects.len(), 2);
        assert!(plan.objects[0].original.ends_with("libinner.so.1"));
        assert_ne!(plan.objects[0].load, plan.objects[0].original);
        // Nothing to replace in it: the file itself is loaded.
        assert_eq!(plan.objects[1].load, plan.objects[1].original);
        trap::install(Tier::Baseline, false).unwrap();
        let handle = load(plan);
        assert_eq!(call(handle, "seen", 1), masked());
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let mapped = maps.lines().filter_map(|l| l.find('/').map(|at| Path::new(&l[at..])));
        assert!(mapped.filter_map(copied_name).any(|name| name == "libinner.so.1"), "{maps}");
        assert!(!maps.contains(&inner_path), "the original was loaded too");
    }

    #[test]
    fn a_dependency_without_a_name_of_its_own_is_told() {
        let place = tempfile::tempdir().unwrap();
        let inner = EARLY.replace("seen", "nameless_seen");
        let inner = compiled_in(place.path(), "libnameless.so", &inner, &[]);
        let outer =
            "unsigned nameless_seen(int);\nunsigned seen(int way) { return nameless_seen(way); }";
        let link = ["-L", &place.path().display().to_string(), "-lnameless", "-Wl,-rpath,$ORIGIN"];
        let object = compiled_in(place.path(), "outer.so", outer, &link);
        let why = prepare(&object).unwrap_err();
        assert!(why.contains("SONAME") && why.contains(&*inner.to_string_lossy()), "{why}");
    }

    #[test]
    fn nothing_but_the_instructions_differs_and_nobody_can_change_the_copy() {
        let object = compiled("confusing-bytes.so", CONFUSING, &[]);
        let copies = kept(&object);
        let (before, after) =
            (std::fs::read(&object).unwrap(), std::fs::read(&copies.plan.objects[0].load).unwrap());
        let changed: Vec<usize> = (0..after.len()).filter(|i| before[*i] != after[*i]).collect();
        assert_eq!(changed.len(), 4);
        for at in changed {
            assert_eq!((&before[at..at + 2], &after[at..at + 2]), (&CPUID[..], &MARKER[..]));
        }
        let file = std::fs::OpenOptions::new().write(true).open(&copies.plan.objects[0].load);
        assert!(file.and_then(|mut f| f.write_all(b"x")).is_err());
    }

    #[test]
    fn a_library_without_cpuid_is_loaded_as_it_is_and_its_features_are_known() {
        let source = "__attribute__((target(\"aes\"))) void f(void) { __asm__ volatile(\"aesenc %xmm0, %xmm0\"); }";
        let object = compiled("no-cpuid.so", source, &[]);
        let copies = kept(&object);
        assert_eq!(copies.plan.objects[0].load, copies.plan.objects[0].original);
        assert_eq!(copies.plan.features.get("AES"), Some(&1));
        assert!(prepare(Path::new("/no/such.so")).is_err());
    }
}
