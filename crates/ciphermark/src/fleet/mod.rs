//! A survey on many machines through the user's own scheduler, one exclusive job for each machine type. Here is what is
//! pure: FLEET.toml into scripts and manifests, the state of a survey, and the scheduler's answers into words.
//! `commands/fleet` runs the programs.

pub mod kubernetes;
pub mod slurm;
pub mod spec;
pub mod state;
#[cfg(test)]
mod tests;

pub use spec::{Fleet, Machine};
pub use state::{Job, State};

/// How far a job is.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Phase {
    /// It waits for a machine.
    Waiting,
    /// It measures.
    Running,
    /// Its record can be gathered.
    Done,
    /// It ended without a record, or was never taken.
    Failed,
    /// The engine does not know it any more.
    Gone,
}

/// What an engine says of a job.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Seen {
    /// How far it is.
    pub phase: Phase,
    /// One line in plain words.
    pub words: String,
    /// Where it runs or ran.
    pub node: Option<String>,
}

impl Seen {
    fn new(phase: Phase, words: impl Into<String>) -> Self {
        Self { phase, words: words.into(), node: None }
    }

    fn on(self, node: Option<&str>) -> Self {
        Self { node: node.map(ToOwned::to_owned), ..self }
    }
}

/// What the node says when its own part fails, by the exit code of the script, beside ciphermark's own.
const NO_DIRECTORY: i32 = 73;
const NO_PROGRAM: i32 = 72;

/// What an exit code of a job means.
fn code(code: i32) -> String {
    match code {
        2 => "exit code 2: ciphermark refused the arguments".to_owned(),
        4 => "exit code 4: ciphermark could not measure".to_owned(),
        130 | 143 => "it was interrupted".to_owned(),
        137 => "it was killed (SIGKILL): out of memory, or by hand".to_owned(),
        NO_PROGRAM => "there is no ciphermark on the node: check `program`".to_owned(),
        NO_DIRECTORY => {
            "the node's directory takes no files: no space, or no rights; check `directory`"
                .to_owned()
        }
        code if code > 128 => format!("it was killed by signal {}", code - 128),
        code => format!("exit code {code}"),
    }
}

/// Text as one word of a POSIX shell.
fn quoted(text: &str) -> String {
    format!("'{}'", text.replace('\'', r"'\''"))
}

/// What a job does, in both engines: resumes where an earlier part stopped, and leaves the record with its hash. `run` is
/// the program as the shell is to call it, `directory` where journal and record are kept.
///
/// `record.json.sha256` comes last: whoever finds it finds the whole record. Exit code 3, some cases were refused, is a
/// record like any other.
fn measure(fleet: &Fleet, seed: u64, run: &str, directory: &str) -> String {
    let arguments: Vec<String> = fleet.arguments.iter().map(|a| quoted(a)).collect();
    let arguments = arguments.join(" ");
    format!(
        r#"directory={directory}
mkdir -p "$directory" && [ -O "$directory" ] && [ ! -L "$directory" ] && : >"$directory/.try" || exit {NO_DIRECTORY}
rm -f "$directory/.try"
cd "$directory" || exit {NO_DIRECTORY}
if [ ! -e record.json.sha256 ]; then
  code=0
  if [ -e record.json.partial ]; then
    {run} run --quiet --resume record.json >answer.txt || code=$?
  elif [ ! -e record.json ]; then
    {run} run --quiet {arguments} --seed {seed} -o record.json >answer.txt || code=$?
  fi
  [ $code = 0 ] || [ $code = 3 ] || exit $code
  sha256sum record.json | cut -d ' ' -f 1 >.sha256 && mv .sha256 record.json.sha256 || exit {NO_DIRECTORY}
fi
"#,
        directory = quoted(directory)
    )
}
