use super::*;
use std::process::Command;

/// Compiles an object with one function, or without any code of its own.
fn object(directory: &Path, name: &str, flags: &[&str]) -> PathBuf {
    let path = directory.join(name);
    std::fs::create_dir_all(path.parent().unwrap()).unwrap();
    let source = directory.join("source.c");
    std::fs::write(&source, "int number(void) { return 7; }\n").unwrap();
    let file_name = path.file_name().unwrap().to_str().unwrap();
    let mut compiler = Command::new(std::env::var_os("CC").unwrap_or_else(|| "cc".into()));
    compiler.args(["-shared", "-fPIC", "-Wl,--no-as-needed"]).arg("-o").arg(&path).arg(&source);
    compiler.arg(format!("-Wl,-soname,{file_name}")).args(flags);
    let done = compiler.output().unwrap();
    assert!(done.status.success(), "{}", String::from_utf8_lossy(&done.stderr));
    path
}

fn is_c_library(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    ["libc.so", "libm.so", "ld-linux"].iter().any(|known| name.starts_with(known))
}

/// What the dynamic loader itself finds: of objects that these tests made, or that the system trusts.
fn listed_by_the_loader(library: &Path) -> BTreeMap<String, PathBuf> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
    let mut files = maps.lines().filter_map(|l| l.find('/').map(|at| &l[at..]));
    let loader = files.find(|f| f.contains("/ld-linux") || f.contains("/ld-2")).unwrap();
    let done = Command::new(loader).arg("--list").arg(library).output().unwrap();
    let lines = String::from_utf8(done.stdout).unwrap();
    let named = lines.lines().filter_map(|line| line.trim().split_once(" => "));
    let paths = named.filter_map(|(name, rest)| Some((name, rest.split_once(" (0x")?.0)));
    let paths = paths.filter(|(_, path)| !is_c_library(Path::new(path)));
    paths.map(|(name, path)| (name.to_owned(), PathBuf::from(path))).collect()
}

fn canonical(found: BTreeMap<String, PathBuf>) -> BTreeMap<String, PathBuf> {
    found.into_iter().map(|(name, path)| (name, path.canonicalize().unwrap())).collect()
}

#[test]
fn an_objects_dependencies_are_those_that_the_loader_finds() {
    let scratch = tempfile::tempdir().unwrap();
    let at = scratch.path().canonicalize().unwrap();
    let deep = object(&at, "deep/libdeep.so.1", &[]);
    // Found by RPATH of the one before it, which is handed on.
    let middle = object(&at, "middle/libmiddle.so.1", &[deep.to_str().unwrap()]);
    let own = object(
        &at,
        "liboldway.so",
        &[
            middle.to_str().unwrap(),
            "-Wl,--disable-new-dtags",
            "-Wl,-rpath,$ORIGIN/middle:${ORIGIN}/deep:relative",
        ],
    );
    let found = dependencies(&own, is_c_library).unwrap();
    assert_eq!(found.len(), 2, "{found:?}");
    assert_eq!(canonical(found), canonical(listed_by_the_loader(&own)));
    // RUNPATH is not: what the middle one needs is nowhere.
    let newer = object(
        &at,
        "libnewway.so",
        &[
            middle.to_str().unwrap(),
            "-Wl,--enable-new-dtags",
            "-Wl,-rpath,$ORIGIN/middle:$ORIGIN/deep",
        ],
    );
    let found = dependencies(&newer, is_c_library).unwrap();
    assert_eq!(found.keys().collect::<Vec<_>>(), ["libmiddle.so.1"]);
    // Then the loader lists nothing.
    assert!(listed_by_the_loader(&newer).is_empty());
}

#[test]
fn directories_and_names_with_tokens_are_those_that_the_loader_takes_them_for() {
    let scratch = tempfile::tempdir().unwrap();
    let at = scratch.path().canonicalize().unwrap();
    let value = |token: &str| expanded(token, &at).unwrap();
    let (lib, platform) = (value("$LIB"), value("${PLATFORM}"));
    assert!(lib.starts_with("lib") && !platform.is_empty(), "{lib} {platform}");
    let of_lib = object(&at, &format!("{lib}/libone.so.1"), &[]);
    let of_platform = object(&at, &format!("on-{platform}/libtwo.so.1"), &[]);
    // Its name is a path with a token.
    let named = object(&at, "three/libthree.so.1", &["-Wl,-soname,$ORIGIN/three/libthree.so.1"]);
    let needed = [&of_lib, &of_platform, &named].map(|path| path.to_str().unwrap());
    let paths = "-Wl,-rpath,$ORIGIN/$LIB:$ORIGIN/on-${PLATFORM}:$ORIGIN/$LIBS";
    for kind in ["--enable-new-dtags", "--disable-new-dtags"] {
        let kind = format!("-Wl,{kind}");
        let own = object(&at, "libown.so", &[&needed[..], &[paths, &kind]].concat());
        let found = dependencies(&own, is_c_library).unwrap();
        let names: Vec<&String> = found.keys().collect();
        assert_eq!(names, ["$ORIGIN/three/libthree.so.1", "libone.so.1", "libtwo.so.1"]);
        let mut paths: Vec<PathBuf> = found.into_values().collect();
        let mut listed: Vec<PathBuf> = listed_by_the_loader(&own).into_values().collect();
        let alone = at.join("three/libthree.so.1");
        // The loader lists a path without an arrow.
        listed.push(alone);
        paths.sort();
        listed.sort();
        assert_eq!(paths, listed, "{kind}");
    }
}

#[test]
fn libraries_of_the_system_are_found_as_the_loader_finds_them() {
    let directories = System::here().defaults;
    let names = ["libcrypto.so.3", "libssl.so.3", "libgcrypt.so.20", "libstdc++.so.6", "libz.so.1"];
    let mut compared = 0;
    for path in directories.iter().flat_map(|d| names.map(|n| d.join(n))).filter(|p| is_object(p)) {
        let found = canonical(dependencies(&path, is_c_library).unwrap());
        assert_eq!(found, canonical(listed_by_the_loader(&path)), "{}", path.display());
        compared += 1;
    }
    assert!(compared > 0, "none of {names:?} is in {directories:?}");
}

#[test]
fn an_object_that_names_an_audit_module_is_refused_and_the_module_does_not_run() {
    let scratch = tempfile::tempdir().unwrap();
    let at = scratch.path().canonicalize().unwrap();
    let ran = at.join("ran");
    std::fs::write(at.join("audit.c"), format!(
        "#include <stdio.h>\nunsigned la_version(unsigned v) {{ fclose(fopen(\"{}\", \"w\")); return v; }}\n",
        ran.display()
    ))
    .unwrap();
    let module = at.join("audit.so");
    let mut compiler = Command::new("cc");
    compiler.args(["-shared", "-fPIC", "-o"]).arg(&module).arg(at.join("audit.c"));
    assert!(compiler.status().unwrap().success());
    for flag in ["--audit", "--depaudit"] {
        let flag = format!("-Wl,{flag}={}", module.display());
        // Linked to a plain one: a linker would tell the user of the module, too.
        let own = object(&at, "libaudited.so", &[]);
        let user = object(&at, "libuser.so", &[own.to_str().unwrap(), "-Wl,-rpath,$ORIGIN"]);
        let own = object(&at, "libaudited.so", &[&flag]);
        assert!(check_elf(&own).unwrap_err().contains("DT_AUDIT"), "{flag}");
        // One that needs it is no better.
        check_elf(&user).unwrap();
        let why = dependencies(&user, is_c_library).unwrap_err();
        assert!(why.contains("libaudited.so' names an audit module"), "{why}");
    }
    assert!(!ran.exists());
    // The trap is one: the loader itself runs the module of an object that it is given.
    listed_by_the_loader(&object(
        &at,
        "libaudited.so",
        &[&format!("-Wl,--audit={}", module.display())],
    ));
    assert!(ran.exists());
}

#[test]
fn what_is_no_object_has_no_dependencies_and_bytes_without_sense_need_nothing() {
    let scratch = tempfile::tempdir().unwrap();
    let secret = scratch.path().join("libsecret.so");
    std::fs::write(&secret, "secret").unwrap();
    assert!(!is_object(&secret) && !is_object(scratch.path()));
    assert!(is_object(&std::env::current_exe().unwrap()));
    assert_eq!(Dynamic::read(b"\x7fELF and nothing".as_slice()), None);
    assert!(dependencies(&secret, is_c_library).unwrap().is_empty());
    let pipe = scratch.path().join("libpipe.so");
    let made = rustix::fs::mknodat(
        rustix::fs::CWD,
        &pipe,
        rustix::fs::FileType::Fifo,
        rustix::fs::Mode::RUSR,
        0,
    );
    made.unwrap();
    assert!(!is_object(&pipe), "and nobody waits for a writer");
}

#[test]
fn directories_that_an_object_names_are_expanded_and_relative_ones_are_not_followed() {
    let runpath = vec!["$ORIGIN/../deps:relative".to_owned(), "${ORIGIN}:/opt/x".to_owned()];
    let dynamic = Dynamic { runpath, ..Dynamic::default() };
    let found = dynamic.directories(Path::new("/a/lib"));
    assert_eq!(found, ["/a/lib/../deps", "/a/lib", "/opt/x"].map(PathBuf::from));
}

#[test]
fn a_cache_of_any_bytes_is_read_to_its_end_and_no_further() {
    let mut cache = b"ld.so-1.7.0 and older entries: glibc-ld.so.cache1.1".to_vec();
    let begins = cache.len() - 20;
    cache.extend(2_u32.to_le_bytes());
    cache.resize(begins + 48, 0);
    let texts = b"libx.so.1\0/opt/libx.so.1\0";
    let name = 48 + 2 * 24;
    for [key, value] in [[name, name + 10], [u32::MAX, u32::MAX]] {
        cache.extend([3, key, value, 0, 0, 0].map(u32::to_le_bytes).concat());
    }
    cache.extend(texts);
    let found = cached(&cache);
    assert_eq!(found["libx.so.1"], [PathBuf::from("/opt/libx.so.1")]);
    for end in 0..cache.len() {
        cached(&cache[..end]);
    }
    assert!(cached(b"glibc-ld.so.cache1.1\xff\xff\xff\xff").is_empty());
}
