//! What the tests share: running the program to its end, which tests may do so at the same time (by locks:
//! each test is a process of its own), what is made once for all, and reading records as any program would:
//! as JSON.

mod background;
pub mod fakes;

use assert_cmd::Command;
pub use background::{
    Background, Cluster, KubernetesCluster, SlurmCluster, descendants, journal, journal_line,
    processes_below, samples_in_journal, stat,
};
pub use base::text::fixtures::{flat, says};
pub use fakes::python_with;
use serde_json::Value;
use std::fmt;
use std::fs::File;
use std::os::unix::fs::PermissionsExt as _;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::{Duration, Instant};

pub fn repository(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").join(path)
}

/// A record of a whole survey that stands in for runs, as far as tests ask for it: reading all of it takes a second.
pub fn published() -> String {
    let is_asked_for = |algorithm: &str| {
        algorithm.starts_with("aegis-")
            || ["aes-128-cfb1", "aes-128-gcm", "aes-256-gcm", "chacha20-poly1305"]
                .contains(&algorithm)
    };
    part_of("published-2026-11-23-gnr", |record| {
        record.measurements.retain(|m| is_asked_for(&m.algorithm));
        record.executed.retain(|e| is_asked_for(&e.algorithm));
        record.fits.retain(|f| is_asked_for(&f.algorithm));
    })
}

/// The published record of three tiers that advice is given from, without samples and checks: two thirds of it.
pub fn published_at_rest() -> String {
    part_of("at-rest-2026-11-23-gnr", |record| {
        for m in &mut record.measurements {
            (m.raw, m.checks) = Default::default();
        }
    })
}

/// A whole survey that takes a quarter of a second to read.
pub fn ladder() -> String {
    arg(&repository("records/ladder-2026-11-23-gnr.json.gz")).to_owned()
}

/// What is left of a published record, written once in a run of all tests.
fn part_of(name: &str, cut: impl FnOnce(&mut ::record::Record)) -> String {
    let made = shared(name, || {
        let mut record = ::record::load(&repository(&format!("records/{name}.json.gz"))).unwrap();
        cut(&mut record);
        let kept = Path::new(env!("CARGO_TARGET_TMPDIR")).join("parts");
        std::fs::create_dir_all(&kept).unwrap();
        let path = kept.join(name).with_extension("json");
        ::record::save(&record, &path).unwrap();
        Value::from(arg(&path))
    });
    made.as_str().unwrap().to_owned()
}

/// A directory for one test, removed with the value.
pub fn scratch() -> tempfile::TempDir {
    tempfile::tempdir().unwrap()
}

pub fn file(directory: &tempfile::TempDir, name: &str) -> String {
    arg(&directory.path().join(name)).to_owned()
}

/// A file of a test's own with this content.
pub fn written(directory: &tempfile::TempDir, name: &str, content: impl AsRef<[u8]>) -> String {
    let path = file(directory, name);
    std::fs::write(&path, content).unwrap();
    path
}

/// The same as a program.
pub fn script(directory: &tempfile::TempDir, name: &str, text: &str) -> String {
    let path = written(directory, name, text);
    std::fs::set_permissions(&path, std::fs::Permissions::from_mode(0o755)).unwrap();
    path
}

/// A record with a row in every state, which the record crate's own tests keep.
pub const SAMPLE: &str = concat!(env!("CARGO_MANIFEST_DIR"), "/../record/tests/sample.json");

/// Makes a key of OpenSSH here, and gives the text of a file of allowed signers that names it.
pub fn signing_key(key: &str) -> String {
    let mut keygen = std::process::Command::new("ssh-keygen");
    keygen.args(["-q", "-t", "ed25519", "-N", "", "-f", key]);
    assert!(keygen.status().unwrap().success());
    format!("bench@example.com {}", std::fs::read_to_string(format!("{key}.pub")).unwrap())
}

/// Makes a pipe with a name.
pub fn pipe(at: impl AsRef<Path>) {
    let made = std::process::Command::new("mkfifo").arg(at.as_ref()).status();
    assert!(made.unwrap().success());
}

/// Waits until something is so, which must come within these seconds.
#[track_caller]
pub fn wait_until(what: &str, seconds: u64, mut is_so: impl FnMut() -> bool) {
    let end = Instant::now() + Duration::from_secs(seconds);
    while !is_so() {
        assert!(Instant::now() < end, "never happened: {what}");
        std::thread::sleep(Duration::from_millis(20));
    }
}

/// Where the system keeps its libraries.
pub fn system_libraries() -> PathBuf {
    Path::new("/usr/lib").join(format!("{}-linux-gnu", std::env::consts::ARCH))
}

pub fn arg(path: &Path) -> &str {
    path.to_str().expect("the tests' own paths are text")
}

/// Ends a run as soon as every case has the samples that it needs at least; the time is there for
/// busy machines.
pub const QUICK: [&str; 4] = ["--precision", "50%", "--budget", "200s"];

/// The longest that any single call may take: past it the program has hung.
const DEADLINE: Duration = Duration::from_secs(400);

/// Variables of whoever runs the tests that would change what the program does.
const VARIABLES: [&str; 6] =
    ["NO_COLOR", "CLICOLOR", "CLICOLOR_FORCE", "CIPHERMARK_LIBS", "LD_LIBRARY_PATH", "COLUMNS"];

/// How a call ended and what it printed.
pub struct Done {
    pub code: i32,
    pub bytes: Vec<u8>,
    pub stdout: String,
    pub stderr: String,
}

/// The program's path, with the attached objects beside it.
pub fn program() -> &'static Path {
    let program = Path::new(env!("CARGO_BIN_EXE_ciphermark"));
    fakes::ensure_attached(program);
    program
}

/// An object that comes with the program and that only some tests need, by its package.
pub fn attached_object(package: &str) -> PathBuf {
    fakes::object_of_package(program(), package)
}

/// A whole store of 32-bit numbers.
pub fn numbers(bytes: u32) -> Vec<u8> {
    (0..bytes / 4).flat_map(u32::to_le_bytes).collect()
}

/// Runs the program with arguments and standard input. Bundled libraries are not looked for: with
/// several builds of OpenSSL, no test could say which one it means.
pub fn ciphermark(arguments: &[&str], input: &[u8]) -> Done {
    let mut command = Command::new(program());
    // Whoever runs the tests keeps their cache.
    command.env("CIPHERMARK_BUNDLED", "").env("CIPHERMARK_CACHE", "");
    command.args(by_path(arguments)).write_stdin(input).timeout(DEADLINE);
    done(&mut command)
}

/// Libraries that are chosen by name are chosen by path instead: by their names, every library of the system is loaded
/// first to see which they are, and that takes ten times as long as most of what tests ask.
pub fn by_path(arguments: &[&str]) -> Vec<String> {
    let chooses = ["run", "verify", "once", "leaks", "pages", "list", "explain"]
        .contains(arguments.first().unwrap_or(&""));
    let mut before = "";
    let named = arguments.iter().map(|argument| {
        let is_name = chooses && std::mem::replace(&mut before, argument) == "-l";
        let path = is_name.then(|| path_of(argument)).flatten().filter(|path| path.is_file());
        path.map_or_else(|| (*argument).to_owned(), |path| format!("{argument}={}", arg(&path)))
    });
    named.collect()
}

fn path_of(name: &str) -> Option<PathBuf> {
    let attached = |file: &str| program().parent().expect("it lies in a directory").join(file);
    match name {
        "openssl" => Some(system_libraries().join("libcrypto.so.3")),
        "libgcrypt" => Some(system_libraries().join("libgcrypt.so.20")),
        "baselines" => Some(attached("libciphermark_baselines.so")),
        "rustcrypto" => Some(attached("libciphermark_rustcrypto.so")),
        _ => None,
    }
}

/// As [`ciphermark`], without input. The words of the line are separated by spaces.
pub fn call(line: &str) -> Done {
    ciphermark(&words(line), b"")
}

/// The same with these variables set.
pub fn call_with(line: &str, variables: &[(&str, &str)]) -> Done {
    ciphermark_with(&words(line), variables)
}

fn words(line: &str) -> Vec<&str> {
    line.split_whitespace().collect()
}

/// The commands below these, as their help lists them.
pub fn commands(above: &[&str]) -> Vec<String> {
    let below = |of: &&str| -> Vec<String> {
        let help = call(&format!("{of} --help")).stdout;
        let listed = help.lines().skip_while(|l| *l != "Commands:").skip(1);
        let listed = listed.take_while(|l| !l.is_empty());
        let named = listed.filter_map(|l| l.strip_prefix("  ").filter(|l| !l.starts_with(' ')));
        let names = named.filter_map(|l| l.split(' ').next()).filter(|name| *name != "help");
        names.map(|name| format!("{of} {name}").trim().to_owned()).collect()
    };
    above.iter().flat_map(below).collect()
}

/// Measures within 20 s; once more with more time where a busy machine needs it.
pub fn with_more_time(measured: impl Fn(&str) -> Done) -> Done {
    let first = measured("20s");
    if first.code == 0 { first } else { measured("120s").with_code(0) }
}

/// As [`record`], while no other test runs the program: for several threads that measure at once.
pub fn record_alone(line: &str, code: i32) -> Value {
    let _alone = alone();
    record(line, code)
}

/// Measures as quickly as it can, and gives the record.
pub fn record(line: &str, code: i32) -> Value {
    let directory = scratch();
    let path = file(&directory, "r.json");
    measure(&[&words(line)[..], &["-q", "-o", &path], &QUICK].concat()).with_code(code);
    read(&path)
}

/// As [`ciphermark`], without input and with these variables set.
pub fn ciphermark_with(arguments: &[&str], variables: &[(&str, &str)]) -> Done {
    with(arguments, variables, DEADLINE)
}

/// As [`ciphermark_with`], for many libraries at once.
pub fn ciphermark_with_many(arguments: &[&str], variables: &[(&str, &str)]) -> Done {
    with(arguments, variables, 4 * DEADLINE)
}

fn with(arguments: &[&str], variables: &[(&str, &str)], deadline: Duration) -> Done {
    let mut command = Command::new(program());
    // `done` takes away what whoever runs the tests has set, not what the test sets.
    forget(&mut command);
    command.env("CIPHERMARK_BUNDLED", "").envs(variables.iter().copied());
    command.args(by_path(arguments)).timeout(deadline);
    ended(&mut command)
}

/// As [`ciphermark`], with the bundled libraries.
pub fn ciphermark_bundled(arguments: &[&str]) -> Done {
    let mut command = Command::new(program());
    // Some thirty libraries, in an unoptimised build.
    command.env("CIPHERMARK_CACHE", "");
    command.args(arguments).timeout(3 * DEADLINE);
    done(&mut command)
}

/// `ciphermark run` with these arguments. One at a time: two measuring runs disturb each other.
pub fn measure(arguments: &[&str]) -> Done {
    let _alone = lock("measuring");
    let run: Vec<&str> = [&["run"], arguments].concat();
    ciphermark(&run, b"")
}

/// The one line with which the program refuses these arguments: on standard error, exit code 2,
/// nothing on standard output.
pub fn refusal(arguments: &[&str]) -> String {
    let done = ciphermark(arguments, b"");
    assert_eq!(done.code, 2, "{arguments:?}: {done:?}");
    assert_eq!(done.stdout, "", "{arguments:?}");
    done.only_line_on_stderr().to_owned()
}

/// Demands that the program refuses a command line, in a line with each of these words.
#[track_caller]
pub fn refuses(line: &str, words: &[&str]) {
    says(refusal(&self::words(line)), words);
}

/// Runs a shell command with standard streams on a terminal; `ciphermark` stands for the program.
/// What the terminal got comes as `stdout`.
pub fn in_terminal(shell_command: &str) -> Done {
    let program = arg(program());
    let define = format!("ciphermark() {{ '{program}' \"$@\"; }}; {shell_command}");
    let mut command = Command::new("script");
    // The shell that `script` starts is the user's: of that only `sh -c` is certain.
    command.args(["-qec", &define, "/dev/null"]).env("SHELL", "/bin/sh").env("TERM", "xterm");
    done(command.timeout(DEADLINE))
}

fn forget(command: &mut Command) {
    VARIABLES.iter().for_each(|variable| {
        command.env_remove(variable);
    });
    // Sentences that tests look for are on one line.
    command.env("COLUMNS", "120");
}

fn done(command: &mut Command) -> Done {
    forget(command);
    ended(command)
}

fn ended(command: &mut Command) -> Done {
    let _running = running();
    let done = Done::from(command.output().unwrap());
    assert_ne!(done.code, BY_SIGNAL, "ended by a signal or past the deadline: {done:?}");
    done
}

/// The exit code of an interrupted command.
pub const INTERRUPTED: i32 = 130;

/// What stands for the exit code of a program that was ended by a signal.
pub const BY_SIGNAL: i32 = -1;

impl From<Output> for Done {
    fn from(Output { status, stdout, stderr }: Output) -> Self {
        let text = |bytes: &[u8]| String::from_utf8_lossy(bytes).into_owned();
        let done = Self {
            code: status.code().unwrap_or(BY_SIGNAL),
            stdout: text(&stdout),
            stderr: text(&stderr),
            bytes: stdout,
        };
        assert!(!done.stderr.contains("panicked"), "{done:?}");
        assert!(!done.stdout.contains("panicked"), "{done:?}");
        done
    }
}

/// As it would stand on a terminal.
impl fmt::Debug for Done {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self { code, stdout, stderr, .. } = self;
        write!(f, "exit code {code}\nstandard output:\n{stdout}\nstandard error:\n{stderr}")
    }
}

impl Done {
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    #[track_caller]
    pub fn rows(&self) -> Vec<Value> {
        serde_json::from_value(self.json()).unwrap()
    }

    #[track_caller]
    pub fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
    }

    /// Demands that these words are on standard output.
    #[track_caller]
    pub fn says<'a>(self, words: impl AsRef<[&'a str]>) -> Self {
        says(&self.stdout, words);
        self
    }

    /// Demands that it ended with this code and one line, which has these words.
    #[track_caller]
    pub fn ends<'a>(self, code: i32, words: impl AsRef<[&'a str]>) -> Self {
        let done = self.with_code(code);
        says(done.only_line_on_stderr(), words);
        done
    }

    /// What standard error has, which must be one line.
    #[track_caller]
    pub fn only_line_on_stderr(&self) -> &str {
        let lines: Vec<&str> = self.stderr.lines().collect();
        let [line] = lines[..] else { panic!("not one line on standard error: {self:?}") };
        assert!(line.starts_with("ciphermark: "), "{line}");
        assert!(!line.chars().any(char::is_control), "{line:?}");
        line
    }
}

thread_local! {
    static ALONE: std::cell::Cell<bool> = const { std::cell::Cell::new(false) };
}

/// Held until it is dropped, or its process ends.
pub struct Lock(#[allow(dead_code, reason = "held, not read")] File);

/// Waits until nobody holds the lock of this name, and holds it.
pub fn lock(name: &str) -> Lock {
    let file = opened(name);
    file.lock().unwrap();
    Lock(file)
}

fn opened(name: &str) -> File {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("locks");
    std::fs::create_dir_all(&directory).unwrap();
    let mut options = File::options();
    options.write(true).create(true).truncate(false).open(directory.join(name)).unwrap()
}

/// The lock that everybody shares who runs the program.
const COMPANY: &str = "company";

pub struct Running(#[allow(dead_code, reason = "held, not read")] Option<Lock>);

/// Waits while another test is alone.
pub fn running() -> Running {
    Running((!ALONE.get()).then(|| {
        let file = opened(COMPANY);
        file.lock_shared().unwrap();
        Lock(file)
    }))
}

/// No program but this test's: for what needs every CPU.
pub struct Alone(#[allow(dead_code, reason = "held, not read")] Lock);

/// Waits until no program runs; none starts meanwhile but this test's.
pub fn alone() -> Alone {
    let none = lock(COMPANY);
    ALONE.set(true);
    Alone(none)
}

impl Drop for Alone {
    fn drop(&mut self) {
        ALONE.set(false);
    }
}

// What several tests look at is made once in a run of all tests, although the runner starts each in a process of its own.

/// Older ones are of runs that have ended.
const DAY: Duration = Duration::from_secs(24 * 3600);

/// What `make` gives to the first test of this run that asks for it by this name.
pub fn shared(name: &str, make: impl FnOnce() -> Value) -> Value {
    // Without that runner all tests are in one process, and whoever calls this keeps it.
    let Some(run) = std::env::var_os("NEXTEST_RUN_ID") else { return make() };
    let _turn = lock(name);
    let all = Path::new(env!("CARGO_TARGET_TMPDIR")).join("shared");
    let file = all.join(run).join(name).with_extension("json");
    if let Ok(text) = std::fs::read_to_string(&file) {
        return serde_json::from_str(&text).unwrap();
    }
    let made = make();
    let directory = file.parent().unwrap();
    std::fs::create_dir_all(directory).unwrap();
    forget_older(&all);
    let mut whole = tempfile::NamedTempFile::new_in(directory).unwrap();
    serde_json::to_writer(&mut whole, &made).unwrap();
    whole.persist(&file).unwrap();
    made
}

fn forget_older(all: &Path) {
    let age = |run: &PathBuf| run.metadata().ok()?.modified().ok()?.elapsed().ok();
    let runs = std::fs::read_dir(all).unwrap().flatten().map(|run| run.path());
    for old in runs.filter(|run| age(run).is_some_and(|age| age > DAY)) {
        // Another test may be at it, too.
        let _ = std::fs::remove_dir_all(old);
    }
}

pub fn read(path: impl AsRef<Path>) -> Value {
    serde_json::from_str(&std::fs::read_to_string(path).unwrap()).unwrap()
}

/// The run of TLS or of pages that a record is of, as its own commands see it.
pub fn run_of(record: &Value) -> Value {
    keeps_to(record, "docs/record.schema.json");
    let text = record.to_string();
    if record["details"]["kind"] == "pages" {
        let run = record::read_run(&text, "record", record::at_rest::of).unwrap();
        return serde_json::to_value(run).unwrap();
    }
    let run = record::read_run(&text, "record", record::tls::from_record).unwrap();
    serde_json::to_value(run).unwrap()
}

pub fn measurements(record: &str) -> Vec<Value> {
    rows(&serde_json::from_str(record).unwrap(), "measurements").clone()
}

pub fn rows<'a>(of: &'a Value, field: &str) -> &'a Vec<Value> {
    of[field].as_array().unwrap_or_else(|| panic!("{field} of {of:#}"))
}

fn field<'a>(row: &'a Value, name: &str) -> &'a Value {
    name.split('.').fold(row, |value, key| &value[key])
}

/// A field that holds text, `""` where it is null.
pub fn text<'a>(row: &'a Value, name: &str) -> &'a str {
    match field(row, name) {
        Value::Null => "",
        value => value.as_str().unwrap_or_else(|| panic!("{name} is {value}")),
    }
}

pub fn number(row: &Value, name: &str) -> f64 {
    field(row, name).as_f64().unwrap_or_else(|| panic!("{name} of {row:#}"))
}

/// The rows whose fields have these values; there must be some.
pub fn where_<'a>(rows: &'a [Value], wanted: &[(&str, &str)]) -> Vec<&'a Value> {
    let has = |row: &Value| wanted.iter().all(|(field, value)| text(row, field) == *value);
    let found: Vec<&Value> = rows.iter().filter(|row| has(row)).collect();
    assert!(!found.is_empty(), "no row with {wanted:?}");
    found
}

#[track_caller]
pub fn all_are<'a>(rows: impl IntoIterator<Item = &'a Value>, state: &str) {
    for row in rows {
        assert_eq!(text(row, "state"), state, "{row}");
    }
}

/// Demands that a document follows its schema in the documentation.
pub fn keeps_to(document: &Value, schema: &str) {
    let validator = jsonschema::validator_for(&read(repository(schema))).unwrap();
    let errors: Vec<String> = validator.iter_errors(document).map(|e| e.to_string()).collect();
    assert!(errors.is_empty(), "{errors:#?}");
}

// Quiet rates that earlier runs left.

/// More than any core gives, so that it does not matter how busy this one is while the test runs.
pub const QUIETER: f64 = 12.0;

/// The file of rates that a run leaves. One on a core that was never quiet leaves none: it has more time then.
pub fn kept_rates(cache: &Path, run: impl Fn(&str)) -> PathBuf {
    let directory = cache.join("quiet");
    for budget in ["10s", "40s", "120s"] {
        run(budget);
        if directory.exists() {
            break;
        }
    }
    let files: Vec<_> = std::fs::read_dir(directory).unwrap().flatten().collect();
    assert_eq!(files.len(), 1, "{files:?}");
    files[0].path()
}

/// As if two earlier runs had seen so much on every CPU.
pub fn remember_rate(kept: &Path, rate: f64) {
    let mut file: toml::Table = std::fs::read_to_string(kept).unwrap().parse().unwrap();
    for (_, rates) in file["cpus"].as_table_mut().unwrap() {
        *rates = toml::Value::Array(vec![toml::Value::Float(rate); 2]);
    }
    std::fs::write(kept, file.to_string()).unwrap();
}
