#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

use super::*;
use crate::tier::copied_name;
use crate::tier::mask::answer;
use crate::tier::x86_64::fixtures::{CONFUSING, compiled, compiled_in};
use crate::tier::x86_64::marker::{CPUID, MARKER};
use crate::tier::x86_64::trap;
use base::model::Tier;
use std::ffi::{CString, c_int, c_uint, c_void};
use std::io::Write as _;
use std::sync::Mutex;

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
    let _turn = trap::tests::alone();
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
    let _turn = trap::tests::alone();
    let copies = kept(&compiled("early.so", EARLY, &[]));
    trap::install(Tier::Baseline, false).unwrap();
    let handle = load(&copies.plan);
    assert_eq!(call(handle, "seen", 0), masked(), "resolver");
    assert_eq!(call(handle, "seen", 1), masked(), "initialiser");
}

#[test]
fn dependencies_are_copied_too_found_beside_the_library_and_known_by_their_names() {
    let _turn = trap::tests::alone();
    let place = tempfile::tempdir().unwrap();
    let inner = EARLY.replace("seen", "inner_seen");
    compiled_in(place.path(), "libinner.so.1", &inner, &["-Wl,-soname,libinner.so.1"]);
    let outer = "unsigned inner_seen(int);\nunsigned seen(int way) { return inner_seen(way); }";
    let directory = place.path().display().to_string();
    let inner_path = format!("{directory}/libinner.so.1");
    let object = compiled_in(place.path(), "outer.so", outer, &[&inner_path, "-Wl,-rpath,$ORIGIN"]);
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
