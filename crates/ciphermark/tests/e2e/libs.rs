//! `libs/build`, the driver behind `make libs`, with entries of the tests' own, its cache, and the program
//! that finds what it built; a library that is linked to another one, and is another build when that one is.

use crate::support::{fakes, *};
use rustix::process::{Pid, Signal, kill_process_group};
use std::os::unix::fs::MetadataExt as _;
use std::os::unix::process::CommandExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// A directory of entries and where they are built.
pub struct Driver(tempfile::TempDir);

/// What it printed, and its exit status.
pub struct Outcome {
    pub text: String,
    pub code: Option<i32>,
}

/// Compiles an object, so that its entry is one that can be built.
pub const COMPILE: &str = "cc -shared -o \"$OUT/$object\" -x c - <<< 'int answer = 42;'";

impl Driver {
    /// With one entry for each pair of a name and the commands that build it.
    pub fn new(entries: &[(&str, &str)]) -> Self {
        let driver = Self(scratch());
        for (name, commands) in entries {
            driver.write(name, commands, "");
        }
        driver
    }

    pub fn write(&self, name: &str, commands: &str, more: &str) {
        let recipe = format!(
            "name={name}-library\nobject=lib{name}.so\nseconds=1\nsource='a test'\n\
             version() {{ echo 1.2.3; }}\n{more}\nbuild() {{\n  note 'built by a test'\n  {commands}\n}}\n"
        );
        std::fs::create_dir_all(self.path("entries").join(name)).unwrap();
        std::fs::write(self.path("entries").join(name).join("build.sh"), recipe).unwrap();
    }

    pub fn path(&self, below: &str) -> PathBuf {
        self.0.path().join(below)
    }

    /// One of the files that a built library consists of.
    pub fn built(&self, file: &str) -> PathBuf {
        self.path("target/libs").join(file)
    }

    pub fn command(&self, arguments: &[&str]) -> Command {
        let mut command = Command::new(repository("libs/build"));
        command.args(arguments).env("LIBS_ENTRIES", self.path("entries"));
        command.env("CARGO_TARGET_DIR", self.path("target")).env("MARKS", self.0.path());
        command.env("LIBS_CACHE", self.path("cache"));
        command
    }

    pub fn run(&self, arguments: &[&str]) -> Outcome {
        let output = self.command(arguments).output().unwrap();
        let text = [output.stdout, output.stderr].concat();
        Outcome { text: String::from_utf8(text).unwrap(), code: output.status.code() }
    }

    /// Builds all, expecting success; gives what was printed.
    pub fn builds(&self) -> String {
        let outcome = self.run(&[]);
        assert_eq!(outcome.code, Some(0), "{}", outcome.text);
        outcome.text
    }

    /// Builds all; the manifest of an entry.
    fn manifest_of(&self, entry: &str) -> (String, toml::Table) {
        self.builds();
        let text = std::fs::read_to_string(self.built(entry).join("library.toml")).unwrap();
        let manifest = text.parse().unwrap();
        (text, manifest)
    }

    /// Starts building, in a process group of its own, and waits for the mark of a recipe.
    fn start_until(&self, mark: &str) -> Background {
        let mut command = self.command(&[]);
        command.process_group(0);
        let mut running = Background::of(command);
        running.wait_until(mark, || self.path(mark).exists());
        running
    }
}

#[test]
fn a_library_that_fails_is_named_with_its_log_and_does_not_end_the_others() {
    let driver = Driver::new(&[
        ("bad", "echo the compiler is out of order; false; touch \"$OUT/$object\""),
        ("empty", "true"),
        ("good", COMPILE),
    ]);
    let Outcome { text, code } = driver.run(&["-j1"]);
    assert_eq!(code, Some(3), "{text}");
    let log = driver.built(".logs/bad.log");
    assert!(text.contains(arg(&log)) && text.contains("the compiler is out of order"), "{text}");
    assert!(std::fs::read_to_string(log).unwrap().contains("out of order"));
    says(&text, ["left no shared object 'libempty.so'", "2 of 3 failed"]);
    assert!(driver.built("good/libgood.so").is_file() && !driver.built("bad").exists());
}

#[test]
fn the_manifest_says_what_was_built_without_this_machines_paths() {
    let commands = format!("noted test -d \"$WORK/../good\"; compiler cc; {COMPILE}");
    let driver = Driver::new(&[("good", &commands)]);
    let (text, manifest) = driver.manifest_of("good");
    let field = |key: &str| manifest[key].as_str().unwrap();
    assert_eq!(
        ["name", "object", "version", "source"].map(field),
        ["good-library", "libgood.so", "1.2.3", "a test"]
    );
    let build = manifest["build"].as_array().unwrap();
    assert_eq!(build[0].as_str(), Some("built by a test"));
    assert_eq!(build[1].as_str(), Some("test -d ../good"));
    assert!(build[2].as_str().unwrap().contains("cc"), "{text}");
    assert!(!text.contains(arg(driver.0.path())), "{text}");
}

#[test]
fn a_second_library_of_a_build_stands_in_the_manifest_and_must_be_there() {
    let second = "also_name=second also_object=libsecond.so";
    let driver = Driver::new(&[]);
    driver.write("two", &format!("{COMPILE}; cp \"$OUT/$object\" \"$OUT/libsecond.so\""), second);
    let (_, manifest) = driver.manifest_of("two");
    let also = manifest["also"].as_array().unwrap();
    assert_eq!(also[0]["name"].as_str(), Some("second"));
    assert_eq!(also[0]["object"].as_str(), Some("libsecond.so"));

    driver.write("two", COMPILE, &format!("{second} # without it"));
    let Outcome { text, code } = driver.run(&[]);
    assert_eq!(code, Some(3), "{text}");
    says(&text, ["left no shared object"]);
}

#[test]
fn what_is_there_is_not_built_again_until_its_recipe_changes() {
    let driver = Driver::new(&[("one", COMPILE), ("two", COMPILE)]);
    driver.builds();
    let inodes = || ["one", "two"].map(|e| driver.built(e).metadata().unwrap().ino());
    let before = inodes();
    says(driver.builds(), ["one is there", "two is there"]);
    assert_eq!(inodes(), before);

    driver.write("two", COMPILE, "# changed");
    // Words about it change nothing of what is built.
    std::fs::write(driver.path("entries/one/README.md"), "new words").unwrap();
    let listed = driver.run(&["--list"]).text;
    let state_of = |entry: &str| {
        let line = listed.lines().find(|l| l.starts_with(entry)).unwrap();
        line.split_whitespace().last().unwrap().to_owned()
    };
    assert_eq!((state_of("one").as_str(), state_of("two").as_str()), ("present", "changed"));
    driver.builds();
    assert_eq!(inodes()[0], before[0]);
    assert_ne!(inodes()[1], before[1]);
}

#[test]
fn an_interrupted_build_goes_on_where_it_was() {
    let wait = format!(
        "touch \"$MARKS/started\"; until [ -e \"$MARKS/go\" ]; do sleep 0.05; done; {COMPILE}"
    );
    let driver = Driver::new(&[("early", COMPILE), ("late", &wait)]);
    driver.run(&["early"]);
    let early = driver.built("early").metadata().unwrap().ino();

    let killed = driver.start_until("started");
    let group = Pid::from_raw(i32::try_from(killed.id()).unwrap()).unwrap();
    kill_process_group(group, Signal::KILL).unwrap();
    killed.ends_within(Duration::from_secs(60));
    assert!(!driver.built("late").exists());
    std::fs::remove_file(driver.path("started")).unwrap();

    let stopped = driver.start_until("started");
    let below = processes_below(stopped.id());
    assert!(!below.is_empty());
    stopped.send(Signal::TERM);
    let said = stopped.ends_within(Duration::from_secs(60)).with_code(130).stderr;
    says(&said, ["the next run goes on"]);
    assert!(!driver.built("late").exists());

    std::fs::write(driver.path("go"), "").unwrap();
    says(driver.builds(), ["early is there", "late built"]);
    assert_eq!(driver.built("early").metadata().unwrap().ino(), early);
    let works = std::fs::read_dir(driver.built(".work")).unwrap().count();
    assert_eq!(works, 0, "work directories are left");
}

#[test]
fn what_a_machine_lacks_is_skipped_with_the_reason() {
    let driver = Driver::new(&[("good", COMPILE)]);
    driver.write("rare", COMPILE, "missing() { echo 'the header rare.h is missing'; }");
    says(driver.builds(), ["rare skipped: the header rare.h is missing"]);
    assert!(driver.built("good").exists() && !driver.built("rare").exists());
}

#[test]
fn only_named_entries_are_built_and_a_wrong_name_is_a_usage_error() {
    let driver = Driver::new(&[("one", COMPILE), ("two", COMPILE)]);
    assert_eq!(driver.run(&["two"]).code, Some(0));
    assert!(driver.built("two").exists() && !driver.built("one").exists());
    for (arguments, words) in [
        (&["three"][..], "no such entry: three; there are: one two"),
        (&["--fast"], "no such option: --fast"),
        (&["-j", "many"], "-j needs a number"),
    ] {
        let Outcome { text, code } = driver.run(arguments);
        assert_eq!(code, Some(2), "{text}");
        assert!(text.contains(words) && text.lines().count() == 1, "{text}");
    }
}

#[test]
#[ignore = "long: libraries that `make libs` builds"]
fn what_was_built_is_found_under_its_own_name_with_its_build() {
    let places = std::fs::read_dir(program().parent().unwrap().join("../libs"));
    let manifest =
        |place: std::io::Result<std::fs::DirEntry>| place.unwrap().path().join("library.toml");
    let manifests = places.into_iter().flatten().map(manifest);
    let manifests: Vec<PathBuf> = manifests.filter(|manifest| manifest.is_file()).collect();
    if manifests.is_empty() {
        eprintln!("skipped: no bundled library was built (make libs)");
        return;
    }
    let listed = ciphermark_bundled(&["list", "libraries", "--json"]).with_code(0).rows();
    for path in manifests {
        let manifest: toml::Table = std::fs::read_to_string(&path).unwrap().parse().unwrap();
        let object = path.with_file_name(manifest["object"].as_str().unwrap());
        let object = object.canonicalize().unwrap();
        // A stack of TLS has no ciphers to be listed: `tls` finds it.
        if object.file_name().unwrap().to_string_lossy().starts_with("libciphermarktls_") {
            continue;
        }
        let library = where_(&listed, &[("path", arg(&object))])[0];
        assert_eq!(text(library, "name"), manifest["name"].as_str().unwrap());
        assert!(library["error"].is_null(), "{library}");
        let source = format!("source: {}", manifest["source"].as_str().unwrap());
        let build = library["build"].as_array().unwrap();
        assert!(build.iter().any(|line| line == &source), "{library}");
    }
}

#[test]
#[ignore = "long: seconds"]
fn a_program_without_its_libraries_says_how_to_get_them_and_a_wrong_manifest_is_listed() {
    let installed = tempfile::tempdir_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let copy = installed.path().join("bin/ciphermark");
    std::fs::create_dir_all(copy.parent().unwrap()).unwrap();
    std::fs::hard_link(program(), &copy).unwrap();
    let listed = || {
        let output = Command::new(&copy).args(["list", "libraries", "--json"]).output().unwrap();
        assert_eq!(output.status.code(), Some(0));
        Done::from(output)
    };
    let alone = listed().stderr;
    assert_eq!(alone.matches("'make install' in a clone, or a package, brings them").count(), 1);
    assert_eq!(alone.lines().count(), 1, "{alone}");
    let own = installed.path().join("lib/ciphermark");
    std::fs::create_dir_all(own.join("libs/broken")).unwrap();
    std::fs::write(own.join("libciphermark_baselines.so"), "").unwrap();
    std::fs::write(own.join("libs/broken/library.toml"), "name = \n").unwrap();
    let done = listed();
    assert_eq!(done.stderr, "");
    let all = done.rows();
    let broken = all.iter().find(|l| text(l, "path").ends_with("library.toml")).unwrap();
    assert!(text(broken, "error").contains("malformed in line 1"), "{broken}");
}

/// [`COMPILE`], leaving a line for each time.
const COUNTED: &str =
    "echo once >>\"$MARKS/followed\"; cc -shared -o \"$OUT/$object\" -x c - <<< 'int answer = 42;'";

impl Driver {
    /// As `builds`, in a checkout where nothing was built yet.
    fn builds_in_another_checkout(&self) -> String {
        std::fs::remove_dir_all(self.path("target")).unwrap();
        self.builds()
    }

    /// How often a recipe that is [`COUNTED`] was followed.
    fn followed(&self) -> usize {
        std::fs::read_to_string(self.path("followed")).unwrap().lines().count()
    }

    /// One of the files of the only entry and recipe in the cache.
    fn cached(&self, file: &str) -> PathBuf {
        let mut recipes = std::fs::read_dir(self.path("cache/one")).unwrap();
        let only = recipes.next().unwrap().unwrap().path();
        assert!(recipes.next().is_none());
        only.join(file)
    }
}

#[test]
fn a_checkout_takes_what_another_one_has_built_from_the_cache() {
    let driver = Driver::new(&[("one", COUNTED)]);
    driver.builds();
    let read = |file: &str| std::fs::read(driver.built(file)).unwrap();
    let files = ["one/libone.so", "one/library.toml", "one/.stamp"];
    let before = files.map(read);
    says(driver.builds_in_another_checkout(), ["one taken from the cache"]);
    assert_eq!((driver.followed(), files.map(read)), (1, before));
    assert!(!driver.built("one/.sums").exists());
    says(driver.builds(), ["one is there"]);
}

#[test]
fn a_changed_recipe_is_followed_whatever_the_cache_has_and_both_results_are_kept() {
    let driver = Driver::new(&[("one", COUNTED)]);
    driver.builds();
    driver.write("one", COUNTED, "# changed");
    driver.builds();
    driver.write("one", COUNTED, "depends() { echo another machine; }");
    driver.builds_in_another_checkout();
    assert_eq!(driver.followed(), 3);
    driver.write("one", COUNTED, "");
    says(driver.builds(), ["one taken from the cache"]);
    assert_eq!(driver.followed(), 3);
}

#[test]
#[ignore = "long: seconds"]
fn a_copy_in_the_cache_that_is_damaged_is_found_and_built_again() {
    let driver = Driver::new(&[("one", COUNTED)]);
    driver.builds();
    let damages: [(&str, &dyn Fn(PathBuf)); 4] = [
        ("libone.so", &|file| std::fs::write(file, "half of it").unwrap()),
        ("libone.so", &|file| std::fs::remove_file(file).unwrap()),
        (".sums", &|file| std::fs::write(file, "").unwrap()),
        ("more.so", &|file| std::fs::write(file, "of a stranger").unwrap()),
    ];
    for (n, (file, damage)) in damages.into_iter().enumerate() {
        damage(driver.cached(file));
        let text = driver.builds_in_another_checkout();
        assert!(text.contains("one is damaged in the cache"), "{file}: {text}");
        assert_eq!(driver.followed(), n + 2);
        assert!(driver.built("one/libone.so").is_file() && !driver.built("one/more.so").exists());
    }
    says(driver.builds_in_another_checkout(), ["one taken from the cache"]);
}

#[test]
fn what_the_cache_has_is_listed_with_size_and_age_and_removed_on_demand() {
    let driver = Driver::new(&[("one", COUNTED), ("two", COMPILE)]);
    driver.run(&["one"]);
    let listed = driver.run(&["--list"]).text;
    let line = |entry: &str| listed.lines().find(|l| l.starts_with(entry)).unwrap();
    assert!(line("one").contains(" MB, 0 days "), "{listed}");
    assert!(line("two").contains(" - ") && line("two").ends_with(" missing"), "{listed}");
    assert!(line("cache: ").contains(arg(&driver.path("cache"))), "{listed}");
    assert_eq!(driver.run(&["--clean"]).code, Some(0));
    assert!(!driver.path("cache").exists() && !driver.path("target/libs").exists());
}

#[test]
fn without_a_cache_nothing_is_kept_or_taken() {
    let driver = Driver::new(&[("one", COUNTED)]);
    for _ in 0..2 {
        let status = driver.command(&["one"]).env("LIBS_CACHE", "").output().unwrap().status;
        assert!(status.success());
        std::fs::remove_dir_all(driver.path("target")).unwrap();
    }
    assert!(driver.followed() == 2 && !driver.path("cache").exists());
}

// A library that is linked to another one: it is found by every command alike, and is another build when that one is.

/// Times that the slow core does nothing: as much as all else that a message of 64 bytes takes, and few enough instructions to be counted.
const SLOW: u32 = 6_000;

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
        let line = format!("run -l {library} -a aes-128-ctr -s 64 -q -o {to} {}", QUICK.join(" "));
        call_with(&line, &[("CIPHERMARK_CACHE", arg(cache))]).with_code(0);
        to
    }
}

#[test]
#[ignore = "long: seconds"]
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
    for (linked, variables) in
        [(&by_origin, of_none), (&below, of_none), (&of_system, of_none), (&searched, of_path)]
    {
        let (library, case) = (linked.named("mine"), "-a aes-128-ctr");
        let demand = |line: String, code| drop(call_with(&line, &variables).with_code(code));
        // The second tier is of a copy. What measures is tested below, in pairs, too.
        demand(format!("verify -l {library} {case} -t native -t noaes"), 0);
        if std::ptr::eq(linked, &by_origin) {
            demand(format!("explain -l {library} {case}"), 0);
            // Its tables are looked up by the key: a verdict, which takes loading it.
            demand(format!("leaks -l {library} {case} -t noaes -s 16 --secrets 2"), 1);
        }
    }
}

#[test]
#[ignore = "long: measures for seconds"]
fn a_core_that_was_swapped_is_another_build_whose_slowness_is_found_and_stays_found() {
    let (linked, cache) = (Linked::by_origin(1), scratch());
    let before = linked.run("before.json", cache.path());
    let again = linked.run("again.json", cache.path());
    linked.put_core(".", SLOW);
    let after = linked.run("after.json", cache.path());

    let library = |path: &str| rows(&read(path), "libraries")[0].clone();
    let (old, new) = (library(&before), library(&after));
    assert_eq!(old["id"], library(&again)["id"]);
    assert_eq!(note(&old), note(&new), "the adapter is the same file");
    assert_ne!(old["id"], new["id"]);
    assert!(text(&rows(&new, "objects")[0], "path").ends_with("/libcore.so"), "{new}");

    let compare = |flags: &str, code| {
        call(&format!("compare {before} {after} --fail-if slower {flags}")).with_code(code)
    };
    let slower = "0 same, 0 faster, 2 slower, 0 undecided";
    let said = compare("", 1).says([slower]).stdout;
    says(flat(said), ["by the content of libcore.so"]);
    // The earlier build is gone, so no pair can take the verdict back.
    compare("--confirm --budget 20s", 1).says(["is another build now", slower]);
    let json = compare("--format json", 1).json();
    // Counts of the old core would be found in the cache by the adapter's file.
    let counts = &rows(&json, "instructions")[0];
    let [old, new] = ["base", "new"].map(|side| number(counts, &format!("{side}.per_message")));
    assert!(new > 10.0 * old, "{counts}");
    call(&format!("compare {before} {again} --fail-if never"))
        .says(["the same build on both sides"]);
}

/// What an id says of the library's own file.
fn note(library: &serde_json::Value) -> String {
    text(library, "id").split('+').next().unwrap().to_owned()
}

#[test]
#[ignore = "long: measures for seconds"]
fn code_that_was_rewritten_after_linking_is_another_build_though_its_note_says_the_same() {
    let (linked, cache) = (Linked::by_origin(1), scratch());
    let run = |name: &str, optimised: &str| {
        linked.link(".", &["-Wl,-rpath,$ORIGIN", "-Wl,--build-id=0x0102030405060708", optimised]);
        rows(&read(linked.run(name, cache.path())), "libraries")[0].clone()
    };
    let (old, same, new) = (run("1.json", "-O2"), run("2.json", "-O2"), run("3.json", "-O0"));
    assert_eq!(note(&old), "build-id:0102030405060708");
    assert_eq!(note(&old), note(&new));
    assert_eq!(old["id"], same["id"]);
    assert_ne!(old["id"], new["id"]);
}

#[test]
#[ignore = "long: measures for seconds"]
fn pairs_confirm_what_a_core_that_both_sides_still_have_costs() {
    let (fast, slow, cache) = (Linked::by_origin(1), Linked::by_origin(SLOW), scratch());
    let (base, new) = (fast.run("r.json", cache.path()), slow.run("r.json", cache.path()));
    let compare = call(&format!("compare {base} {new} --fail-if slower --confirm --budget 60s"));
    compare.with_code(1).says(["2 of 2 candidates settled", "confirmed by ", " %)"]);
    let pair = format!("pair {} {} -a aes-128-ctr -s 64", fast.named("fast"), slow.named("slow"));
    call(&pair).with_code(1).says(["slower", " at 99.9"]);
}
