//! Exit codes, and failures that are one line.

use std::process::ExitCode;

/// How the program ends.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Exit {
    /// Done.
    Done,
    /// A comparison or check found something.
    Found,
    /// The command line or an input file is wrong.
    Usage,
    /// Some cases were refused or failed; the record is whole.
    SomeRefused,
    /// The run could not be done.
    NotDone,
    /// The user interrupted it: what was measured until then was shown and kept.
    Interrupted,
    /// The exit code of a program that ran for the user.
    Program(u8),
}

impl From<Exit> for ExitCode {
    fn from(exit: Exit) -> Self {
        Self::from(match exit {
            Exit::Done => 0,
            Exit::Found => 1,
            Exit::Usage => 2,
            Exit::SomeRefused => 3,
            Exit::NotDone => 4,
            // As a shell has it of a program that SIGINT ended.
            Exit::Interrupted => 130,
            Exit::Program(code) => code,
        })
    }
}

/// One line for the user, and the exit code.
#[derive(Debug)]
pub struct Failure {
    /// Names the input, what is wrong with it, and what helps.
    pub message: String,
    /// Exit code.
    pub exit: Exit,
    /// The reader of standard output closed it.
    pub broken_pipe: bool,
}

impl Failure {
    /// The command line or a file that it names is wrong.
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
