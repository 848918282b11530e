use super::*;

fn places(directory: &std::path::Path) -> Places {
    Places { cache: Some(directory.to_owned()), libraries: Vec::new() }
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
fn a_program_that_ends_at_once_is_no_library() {
    let directory = tempfile::tempdir().unwrap();
    let program = prepare("/bin/true", &places(directory.path())).unwrap();
    let error = attach(&program, "mine", &mut |_| Ok(())).err().unwrap().to_string();
    assert!(error.contains("mine's process ended"), "{error}");
}
