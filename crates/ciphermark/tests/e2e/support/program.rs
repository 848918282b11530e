//! Running the program to its end.

use super::{attached, company};
use assert_cmd::Command;
use serde_json::Value;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Output;
use std::time::Duration;

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
    attached::ensure(program);
    program
}

/// An object that comes with the program and that only some tests need, by its package.
pub fn attached_object(package: &str) -> PathBuf {
    attached::object(program(), package)
}

/// Runs the program with arguments and standard input. Bundled libraries are not looked for: with
/// several builds of OpenSSL, no test could say which one it means.
pub fn ciphermark(arguments: &[&str], input: &[u8]) -> Done {
    let mut command = Command::new(program());
    // Whoever runs the tests keeps their cache.
    command.env("CIPHERMARK_BUNDLED", "").env("CIPHERMARK_CACHE", "");
    command.args(arguments).write_stdin(input).timeout(DEADLINE);
    done(&mut command)
}

/// As [`ciphermark`], without input. The words of the line are separated by spaces.
pub fn call(line: &str) -> Done {
    ciphermark(&line.split_whitespace().collect::<Vec<_>>(), b"")
}

/// Measures within 20 s; once more with more time where a busy machine needs it.
pub fn with_more_time(measured: impl Fn(&str) -> Done) -> Done {
    let first = measured("20s");
    if first.code == 0 { first } else { measured("120s").with_code(0) }
}

/// As [`record`], while no other test runs the program: for several threads that measure at once.
pub fn record_alone(line: &str, code: i32) -> Value {
    let _alone = company::alone();
    record(line, code)
}

/// Measures as quickly as it can, and gives the record.
pub fn record(line: &str, code: i32) -> Value {
    let directory = super::scratch();
    let path = super::file(&directory, "r.json");
    let words: Vec<&str> = line.split_whitespace().collect();
    measure(&[&words[..], &["-q", "-o", &path], &QUICK].concat()).with_code(code);
    super::read(&path)
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
    command.args(arguments).timeout(deadline);
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
    let _alone = company::lock("measuring");
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
    let said = refusal(&line.split_whitespace().collect::<Vec<_>>());
    for word in words {
        assert!(said.contains(word), "{line}: no '{word}' in: {said}");
    }
}

/// Runs a shell command with standard streams on a terminal; `ciphermark` stands for the program.
/// What the terminal got comes as `stdout`.
pub fn in_terminal(shell_command: &str) -> Done {
    let program = super::arg(program());
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
}

fn done(command: &mut Command) -> Done {
    forget(command);
    ended(command)
}

fn ended(command: &mut Command) -> Done {
    let _running = company::running();
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
    /// What it printed, as JSON.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout).unwrap_or_else(|e| panic!("{e}: {self:?}"))
    }

    /// The rows it printed, as JSON.
    #[track_caller]
    pub fn rows(&self) -> Vec<Value> {
        serde_json::from_value(self.json()).unwrap()
    }

    /// Demands an exit code.
    #[track_caller]
    pub fn with_code(self, code: i32) -> Self {
        assert_eq!(self.code, code, "{self:?}");
        self
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
