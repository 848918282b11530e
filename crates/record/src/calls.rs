//! What a program called in crypto libraries, how often, and what that took: the file of `ciphermark watch`
//! (docs/WATCH.md). Names, sizes and times; nothing that comes from a key, a nonce, a message or a command line.

use crate::{Sampled, shown};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::path::{Path, PathBuf};

/// What `schema` says.
pub const CALLS_SCHEMA: &str = "ciphermark-calls";
pub const CALLS_VERSION: u32 = 1;

/// A watched program.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Calls {
    /// `ciphermark-calls`.
    pub schema: String,
    /// Of the format.
    pub version: u32,
    /// ciphermark's own version.
    pub tool: String,
    /// The CPU's name, family, model and stepping.
    pub cpu: String,
    /// Whether the CPU has instructions for AES.
    pub cpu_has_aes: bool,
    /// How long it was watched.
    pub seconds: f64,
    /// CPU time of the program and all that it started, as far as it was waited for.
    pub cpu_seconds: f64,
    /// Whether sizes and associated data are classes, a quarter of an octave each, and paths are names: to be shared. Bytes
    /// and pieces are what they would be if all sizes were the least of their class.
    pub shared: bool,
    /// Files that were called into.
    pub libraries: Vec<CalledLibrary>,
    /// Processes that loaded one of them.
    pub processes: Vec<WatchedProcess>,
    /// What is not in the rows.
    pub missed: Missed,
    /// The same time by samples; none where the kernel did not allow it.
    pub sampled: Option<Sampled>,
    /// Why not.
    pub not_sampled: Option<String>,
}

/// A library's file.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CalledLibrary {
    /// As the loader opened it.
    pub path: PathBuf,
    /// What it says that it is.
    pub version: Option<String>,
    /// Of its linker.
    pub build_id: Option<String>,
}

/// A process.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct WatchedProcess {
    /// Its executable.
    pub program: PathBuf,
    /// Its number.
    pub pid: u64,
    /// Of the process that started it.
    pub parent: u64,
    /// CPU time while it was watched.
    pub cpu_seconds: f64,
    /// Whether it ended by itself; one that was killed, or still runs, did not.
    pub ended: bool,
    /// Whether it may have had more CPU time: it was killed before it could say.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cpu_is_least: bool,
    /// Threads that called.
    pub threads: u64,
    /// What they called.
    pub rows: Vec<CallCount>,
}

/// Messages of one kind.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CallCount {
    /// Place in `libraries`.
    pub library: usize,
    /// What was done.
    pub operation: CallOperation,
    /// The library's name for it, in lower case; this project's where it has one.
    pub algorithm: String,
    /// `encrypt`, `decrypt`, or none.
    pub direction: Option<CallDirection>,
    /// Bytes of a message: the least and the most of the class, the same where it is exact.
    pub size: [u64; 2],
    /// Bytes of associated data, the same way.
    pub aad: [u64; 2],
    /// Bytes of the tag, where the program names them.
    pub tag: u64,
    /// Messages.
    pub count: u64,
    /// Bytes of all messages.
    pub bytes: u64,
    /// Calls that brought bytes.
    pub pieces: u64,
    /// Keys that were set.
    pub keys: u64,
    /// Messages whose output took the place of their input.
    pub in_place: u64,
    /// Time of all calls for these messages.
    pub seconds: f64,
    /// Of that, in calls that set a key.
    pub key_seconds: f64,
    /// Mean time of a message without the slowest twentieth, in ns.
    pub trimmed_ns: f64,
    /// Long inputs of which a byte was read ahead of the call.
    #[serde(default, skip_serializing_if = "base::model::is_default")]
    pub looks: u64,
    /// How much longer that took than once the byte was in the first-level cache, in ns; mean.
    #[serde(default)]
    pub far_ns: f64,
}

/// What a call does; a watched process writes the number.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, JsonSchema, strum::Display, strum::FromRepr)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum CallOperation {
    /// What no row had room for.
    #[default]
    Other,
    /// Encrypts or decrypts.
    Cipher,
    /// Hashes.
    Digest,
    /// Authenticates a message.
    Mac,
    /// Signs.
    Sign,
    /// Verifies a signature.
    Verify,
    /// Agrees on a key.
    Derive,
    /// Derives a key from a password or another key.
    Kdf,
    /// Random bytes.
    Random,
    /// Makes a key.
    Keygen,
    /// Encrypts with a public key, or encapsulates.
    Seal,
    /// The reverse.
    Open,
    /// Looks an algorithm up by name.
    Fetch,
    /// Makes a context.
    New,
    /// Gives one back.
    Free,
    /// Changes a setting.
    Setting,
    /// Sets up a key or a context that no message followed.
    Key,
}

/// Which way.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[derive(Serialize, Deserialize, JsonSchema, strum::Display)]
#[serde(rename_all = "kebab-case")]
#[strum(serialize_all = "kebab-case")]
pub enum CallDirection {
    /// Plaintext in.
    Encrypt,
    /// Ciphertext in.
    Decrypt,
}

/// What is not in the rows.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Missed {
    /// Processes that no memory or no place was left for.
    pub processes: u64,
    /// Functions that were not watched, because there were too many.
    pub functions: u64,
    /// Contexts that were forgotten in the middle, because too many were in use: their messages may be counted twice.
    pub contexts: u64,
    /// Kinds of messages that share the row `other`, because there were too many.
    pub kinds: u64,
    /// What watching itself took: the calls, by what the timed ones cost that measured it (docs/WATCH.md).
    pub overhead_seconds: f64,
    /// Calls that were timed.
    pub calls: u64,
}

impl Calls {
    pub fn rows(&self) -> impl Iterator<Item = &CallCount> {
        self.processes.iter().flat_map(|process| &process.rows)
    }

    /// With `~` for the home directory, as records have it.
    #[must_use]
    pub fn without_home(mut self) -> Self {
        let files = self.libraries.iter_mut().map(|library| &mut library.path);
        let programs = self.processes.iter_mut().map(|process| &mut process.program);
        files.chain(programs).for_each(|path| *path = without_home(path));
        self.sampled = self.sampled.map(Sampled::without_home);
        self
    }
}

/// `~/lib/libx.so`
pub(crate) fn without_home(path: &Path) -> PathBuf {
    path.to_str().map_or_else(|| path.to_owned(), |text| PathBuf::from(shown(text)))
}

impl CallCount {
    /// What rows have in common that are of one kind of messages.
    fn key(&self) -> impl Ord {
        let sizes = (self.size, self.aad, self.tag);
        (self.library, self.operation, &self.algorithm, self.direction, sizes)
    }

    /// Rows of the same kind as one. The trimmed mean of several is the mean of theirs.
    pub fn joined(mut rows: Vec<Self>) -> Vec<Self> {
        rows.sort_by(|a, b| a.key().cmp(&b.key()));
        rows.dedup_by(|more, sum| {
            let is_same = more.key() == sum.key();
            if is_same {
                sum.add(more);
            }
            is_same
        });
        rows
    }

    fn add(&mut self, more: &Self) {
        let [own, others] = [&*self, more].map(|row| row.trimmed_ns * row.count as f64);
        let far = self.far_ns * self.looks as f64 + more.far_ns * more.looks as f64;
        self.looks += more.looks;
        self.far_ns = far / self.looks.max(1) as f64;
        self.count += more.count;
        self.trimmed_ns = (own + others) / self.count.max(1) as f64;
        self.bytes += more.bytes;
        self.pieces += more.pieces;
        self.keys += more.keys;
        self.in_place += more.in_place;
        self.seconds += more.seconds;
        self.key_seconds += more.key_seconds;
    }
}
