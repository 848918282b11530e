//! Making the zoo's files.

use super::{Animal, StandIn};
use crate::support::*;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

/// Builds all, several at a time.
pub fn all(wanted: Vec<(StandIn, String)>) -> Vec<Animal> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("zoo");
    std::fs::create_dir_all(&directory).unwrap();
    let numbered: Vec<(usize, (StandIn, String))> = wanted.into_iter().enumerate().collect();
    let (queue, built) = (Mutex::new(numbered.into_iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some((i, (of, shape))) = queue.lock().unwrap().next() else { return };
                    let animal = one(&directory, of, shape);
                    built.lock().unwrap().push((i, animal));
                }
            });
        }
    });
    let mut built = built.into_inner().unwrap();
    built.sort_by_key(|(i, _)| *i);
    built.into_iter().map(|(_, animal)| animal).collect()
}

fn one(directory: &Path, of: StandIn, shape: String) -> Animal {
    let variant = of
        .also
        .as_ref()
        .map_or(String::new(), |also| format!("-{}", also.to_lowercase().replace(['=', '_'], "-")));
    let id = format!("{}{variant}-{shape}", of.name);
    let path = match &of.make {
        None => compiled(directory, &id, &shape, &of),
        Some(how) => file(directory, &id, how),
    };
    Animal { id, shape, path, of }
}

/// Compiles beside and renames, because another test process may have the object open.
fn compiled(directory: &Path, id: &str, shape: &str, of: &StandIn) -> PathBuf {
    let mut macros = vec![of.name.to_uppercase().replace('-', "_")];
    macros.extend(of.also.clone());
    let object = directory.join(format!("{id}.so"));
    compile(&macros, &["-shared"], shape, &object);
    object
}

fn compile(macros: &[String], options: &[&str], shape: &str, object: &Path) {
    let fresh = tempfile::NamedTempFile::new_in(object.parent().unwrap()).unwrap().into_temp_path();
    let mut cc = Command::new("cc");
    cc.args(["-fPIC", "-O1", "-pthread", "-I"]).arg(repository("include")).args(options);
    cc.args(macros.iter().map(|m| format!("-D{m}")));
    cc.arg("-o").arg(&fresh).arg(repository("tests/fakes/zoo").join(shape).with_extension("c"));
    fakes::succeed(&mut cc);
    fresh.persist(object).unwrap();
}

/// What is no library.
fn file(directory: &Path, id: &str, how: &str) -> PathBuf {
    let path = directory.join(format!("{id}.so"));
    let _ = std::fs::remove_file(&path);
    let right = || {
        let object = directory.join(format!("{id}-right.so"));
        compile(&[], &["-shared"], "evp", &object);
        std::fs::read(object).unwrap()
    };
    let write = |bytes: &[u8]| std::fs::write(&path, bytes).unwrap();
    match how {
        "text" => write(b"This is not the library that you are looking for.\n"),
        "empty" => write(b""),
        "truncated" => write(&right()[..3000]),
        "garbled" => write(&garbled(right())),
        "other-machine" => write(&with(right(), 18, 183)),
        "other-word" => write(&with(right(), 4, 1)),
        "relocatable" => compile(&[], &["-c"], "evp", &path),
        "no-library" => no_library(&path),
        "directory" => {
            let _ = std::fs::remove_dir(&path);
            std::fs::create_dir(&path).unwrap();
        }
        "pipe" => assert!(Command::new("mkfifo").arg(&path).status().unwrap().success()),
        "missing" => {}
        other => panic!("zoo.toml: nobody knows how to make '{other}'"),
    }
    path
}

/// With one byte of the header another: of the ELF class (4) or the machine (18), where 183 is AArch64.
fn with(mut bytes: Vec<u8>, at: usize, value: u8) -> Vec<u8> {
    bytes[at] = value;
    bytes
}

/// The headers stay, and the tables that they lead to are noise.
fn garbled(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut noise = 1_u32;
    for byte in &mut bytes[1000..] {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = (noise >> 24) as u8;
    }
    bytes
}

fn no_library(path: &Path) {
    let source = path.with_extension("c");
    std::fs::write(&source, "int answer(void) { return 42; }\n").unwrap();
    fakes::succeed(fakes::compiler(path).arg(&source));
}
