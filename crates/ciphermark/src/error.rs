//! Exit codes, and failures that are one line.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done = 0,
    /// A comparison or check found something.
    Found = 1,
    /// The command line or an input file is wrong.
    Usage = 2,
    /// Some cases were refused or failed; the record is whole.
    SomeRefused = 3,
    /// The run could not be done.
    NotDone = 4,
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(exit as u8)
    }
}

/// One line for the user, and the exit code.
#[derive(Debug)]
pub struct Failure {
    /// Names the input, what is wrong with it, and what helps.
    pub message: String,
    /// Exit code.
    pub exit: Exit,
    /// The reader of standard output went away.
    pub broken_pipe: bool,
}

impl Failure {
    /// Something is wrong with what was typed or with a file that was named.
    pub fn usage(message: impl ToString) -> Self {
        Self { message: message.to_string(), exit: Exit::Usage, broken_pipe: false }
    }

    /// The run could not be done.
    pub fn not_done(message: impl ToString) -> Self {
        Self { message: message.to_string(), exit: Exit::NotDone, broken_pipe: false }
    }

    /// Standard output could not be written.
    pub fn output(error: &std::io::Error) -> Self {
        Self {
            message: format!("cannot write to standard output: {error}"),
            exit: Exit::NotDone,
            broken_pipe: error.kind() == std::io::ErrorKind::BrokenPipe,
        }
    }
}
