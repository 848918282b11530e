use super::*;
use contract::{Placed, Turn};

fn places(directory: &std::path::Path) -> Places {
    let environment = std::env::vars_os().collect();
    Places { cache: Some(directory.to_owned()), libraries: Vec::new(), environment }
}

#[test]
fn a_runtime_that_nobody_knows_is_answered_with_those_that_are_known() {
    let error = prepare("cobol", &Places::default()).unwrap_err();
    assert!(error.contains("go, java-sunjce") && !error.contains('\n'), "{error}");
}

#[test]
fn without_a_cache_the_reason_says_what_to_set() {
    for name in ["go", "node", "java-sunjce", "python-hashlib"] {
        let error = prepare(name, &Places::default()).unwrap_err();
        assert!(
            error.contains("CIPHERMARK_CACHE") || error.contains("is not installed"),
            "{error}"
        );
    }
}

#[test]
fn what_changes_how_compilers_compile_names_another_program() {
    let directory = tempfile::tempdir().unwrap();
    let tool = directory.path().join("tool");
    std::fs::write(&tool, "a compiler").unwrap();
    let key = |name: &str, value: &str| {
        let environment = vec![("PATH".into(), "/bin".into()), (name.into(), value.into())];
        let places = Places { environment, ..places(directory.path()) };
        programs::unpacked(&tool, &[("main.go", "source")], &places).unwrap().1
    };
    for name in programs::COMPILING {
        assert!(key(name, "1") != key(name, "2") && key(name, "1") != key("OTHER", "1"), "{name}");
    }
    assert_eq!(key("OTHER", "1"), key("OTHER", "2"));
}

#[test]
fn a_program_that_ends_at_once_is_no_library() {
    let directory = tempfile::tempdir().unwrap();
    let program = prepare("/bin/true", &places(directory.path())).unwrap();
    let error = attach(&program, "mine", &mut |_| Ok(())).err().unwrap().to_string();
    assert!(error.contains("mine's process ended"), "{error}");
}

#[test]
#[ignore = "long: makes some hundred megabytes of garbage in each of two languages"]
fn messages_are_charged_for_the_garbage_that_they_make() {
    const SIZE: usize = 16_384;
    let directory = tempfile::tempdir().unwrap();
    let inputs = vec![1; SIZE];
    let nonces: Vec<u8> = (0..16).flat_map(|slot| [slot; 12]).collect();
    let placed =
        Placed { size: SIZE, inputs: &inputs, places: 1, aad: &[], fresh: true, expected: 0 };
    for name in ["java-sunjce", "node"] {
        let program = prepare(name, &places(directory.path())).unwrap();
        let library = attach(&program, name, &mut |_| Ok(())).unwrap();
        let algorithm = Algorithm::find("aes-256-gcm").unwrap();
        let mut session = library.open(algorithm, Direction::Encrypt, &[1; 32]).unwrap();
        let remote = session.remote().unwrap();
        remote.place(&placed);
        let turn = Turn { at: 0, ops: 500, poison: None, nonces: &nonces, tags: &[0; 16 * 16] };
        let most = if name == "node" { 40 } else { 4_000 };
        let charged = (0..most).any(|_| {
            let ran = remote.run(&turn);
            ran.allocated.is_some_and(|bytes| bytes > 0.0) && ran.collecting_ns > 0.0
        });
        assert!(charged, "{name}");
    }
}
