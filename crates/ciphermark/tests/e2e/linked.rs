//! A library that is linked to another one: it is found by every command alike, and is another build when that one is.

use crate::support::*;
use std::path::{Path, PathBuf};

/// Times that the slow core does nothing: as much as all else that a message of 64 bytes takes, and few enough instructions to be counted.
const SLOW: u32 = 3_000;

/// A directory with the adapter and its core, which was told to work so often.
struct Linked(tempfile::TempDir);

impl Linked {
    /// Linked by where the adapter itself lies.
    fn by_origin(work: u32) -> Self {
        let linked = Self(scratch());
        linked.put_core(".", work);
        linked.link(".", &["-Wl,-rpath,$ORIGIN"]);
        linked
    }

    fn put_core(&self, directory: &str, work: u32) {
        let core = self.path(directory).join("libcore.so");
        std::fs::create_dir_all(core.parent().unwrap()).unwrap();
        let mut cc = fakes::compiler(&core);
        cc.arg(format!("-DWORK={work}")).arg(repository("tests/fakes/core.c"));
        fakes::succeed(&mut cc);
    }

    fn link(&self, directory: &str, flags: &[&str]) {
        let mut cc = fakes::compiler(&self.library());
        cc.args(["-O2", "-I"]).arg(repository("include")).arg(repository("tests/fakes/linked.c"));
        cc.arg("-L").arg(self.path(directory)).arg("-lcore").args(flags);
        fakes::succeed(&mut cc);
    }

    fn path(&self, name: &str) -> PathBuf {
        self.0.path().join(name)
    }

    fn library(&self) -> PathBuf {
        self.path("liblinked.so")
    }

    fn named(&self, name: &str) -> String {
        format!("{name}={}", arg(&self.library()))
    }

    /// Measures into a file of the directory.
    fn run(&self, name: &str, cache: &Path) -> String {
        let to = arg(&self.path(name)).to_owned();
        let library = self.named("mine");
        let line = ["run", "-l", &library, "-a", "aes-128-ctr", "-s", "64", "-q", "-o", &to];
        let cache = [("CIPHERMARK_CACHE", arg(cache))];
        ciphermark_with(&[&line[..], &QUICK].concat(), &cache).with_code(0);
        to
    }
}

#[test]
fn a_library_finds_what_it_is_linked_to_in_every_command_however_it_names_it() {
    let by_origin = Linked::by_origin(1);
    let below = Linked(scratch());
    below.put_core("deps/inner", 1);
    below.link("deps/inner", &["-Wl,--disable-new-dtags", "-Wl,-rpath,$ORIGIN/deps/inner"]);
    // What the loader takes for `$LIB` depends on the system.
    let of_system = Linked(scratch());
    let triplet = format!("lib/{}-linux-gnu", std::env::consts::ARCH);
    for directory in ["lib", "lib64", &triplet] {
        of_system.put_core(&format!("deps/{directory}"), 1);
    }
    of_system.link("deps/lib", &["-Wl,-rpath,${ORIGIN}/deps/$LIB"]);
    let searched = Linked(scratch());
    searched.put_core("deps", 1);
    searched.link("deps", &[]);
    let deps = searched.path("deps");
    let of_none = [("CIPHERMARK_CACHE", ""), ("LD_LIBRARY_PATH", "")];
    let of_path = [("CIPHERMARK_CACHE", ""), ("LD_LIBRARY_PATH", arg(&deps))];
    let all =
        [(&by_origin, of_none), (&below, of_none), (&of_system, of_none), (&searched, of_path)];
    for (linked, variables) in all {
        let library = linked.named("mine");
        let case = "-a aes-128-ctr";
        let quick = format!("--no-evidence {}", QUICK.join(" "));
        for line in [
            format!("verify -l {library} {case}"),
            format!("explain -l {library} {case}"),
            format!("run -l {library} {case} -s 64 -t native -t noaes -q {quick}"),
            format!("pair {library} {library} {case} -s 64 --margin 50%"),
        ] {
            let words: Vec<&str> = line.split_whitespace().collect();
            ciphermark_with(&words, &variables).with_code(0);
        }
        // Its tables are looked up by the key: a verdict, which takes loading it.
        let leaks = format!("leaks -l {library} {case} -t native -t noaes -s 16 --secrets 2");
        let words: Vec<&str> = leaks.split_whitespace().collect();
        ciphermark_with(&words, &variables).with_code(1);
    }
}

#[test]
fn a_core_that_was_swapped_is_another_build_whose_slowness_is_found_and_stays_found() {
    let (linked, cache) = (Linked::by_origin(1), scratch());
    let before = linked.run("before.json", cache.path());
    let again = linked.run("again.json", cache.path());
    linked.put_core(".", SLOW);
    let after = linked.run("after.json", cache.path());

    let library = |path: &str| rows(&read(path), "libraries")[0].clone();
    let (old, new) = (library(&before), library(&after));
    assert_eq!(old["id"], library(&again)["id"]);
    let own =
        |library: &serde_json::Value| text(library, "id").split('+').next().map(str::to_owned);
    assert_eq!(own(&old), own(&new), "the adapter is the same file");
    assert_ne!(old["id"], new["id"]);
    assert!(text(&rows(&new, "objects")[0], "path").ends_with("/libcore.so"), "{new}");

    let compare = |flags: &str, code| {
        let line = format!("compare {before} {after} --fail-if slower {flags}");
        let words: Vec<&str> = line.split_whitespace().collect();
        ciphermark(&words, b"").with_code(code).stdout
    };
    let said = compare("", 1);
    assert!(said.contains("by what it loads: libcore.so"), "{said}");
    assert!(said.contains("0 same, 0 faster, 2 slower, 0 undecided"), "{said}");
    // The earlier build is gone, so no pair can take the verdict back.
    let confirmed = compare("--confirm --budget 20s", 1);
    assert!(confirmed.contains("is another build now"), "{confirmed}");
    assert!(confirmed.contains("0 same, 0 faster, 2 slower, 0 undecided"), "{confirmed}");
    let json: serde_json::Value = serde_json::from_str(&compare("--format json", 1)).unwrap();
    // Counts of the old core would be found in the cache by the adapter's file.
    let counts = &rows(&json, "instructions")[0];
    assert!(
        number(counts, "new.per_message") > 10.0 * number(counts, "base.per_message"),
        "{counts}"
    );
    let same = ciphermark(&["compare", &before, &again, "--fail-if", "never"], b"").stdout;
    assert!(same.contains("the same build on both sides"), "{same}");
}

#[test]
fn pairs_confirm_what_a_core_that_both_sides_still_have_costs() {
    let (fast, slow, cache) = (Linked::by_origin(1), Linked::by_origin(SLOW), scratch());
    let (base, new) = (fast.run("r.json", cache.path()), slow.run("r.json", cache.path()));
    let line = format!("compare {base} {new} --fail-if slower --confirm --budget 60s");
    let words: Vec<&str> = line.split_whitespace().collect();
    let said = ciphermark(&words, b"").with_code(1).stdout;
    assert!(said.contains("2 of 2 candidates settled"), "{said}");
    assert!(said.contains("confirmed by ") && said.contains(" %)"), "{said}");
    let pair = format!("pair {} {} -a aes-128-ctr -s 64", fast.named("fast"), slow.named("slow"));
    let said = call(&pair).with_code(1).stdout;
    assert!(said.contains("slower") && said.contains(" at 99.9"), "{said}");
}
