//! What a watched program's calls mean: who spends how much in them, and what is done there that need not be. A fault's
//! cost is the time that was measured in the very calls; nothing is estimated from elsewhere.

use record::{CallCount, CallDirection, CallOperation, Calls, WatchedProcess};
use serde::Serialize;
use std::collections::BTreeMap;
use std::path::Path;

pub mod predict;

#[derive(Clone, Debug, PartialEq)]
pub struct ProgramCalls {
    pub name: String,
    pub processes: usize,
    /// Their CPU time.
    pub cpu_seconds: f64,
    /// Whether it is what they had at the most: one was killed before it could say.
    pub cpu_is_most: bool,
    pub call_seconds: f64,
    /// Messages, signatures and the like.
    pub operations: u64,
    /// What they did, most time first.
    pub rows: Vec<CallCount>,
    /// What need not be, the dearest first.
    pub faults: Vec<Fault>,
}

/// Something that costs more than it must.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Fault {
    #[serde(rename = "fault")]
    pub kind: FaultKind,
    /// What it is about: an algorithm, a kind of context.
    pub subject: String,
    pub count: u64,
    pub of: u64,
    pub seconds: f64,
}

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize)]
#[serde(rename_all = "kebab-case")]
pub enum FaultKind {
    /// An algorithm is looked up by name for each message.
    Fetch,
    /// A context is made for each message.
    Context,
    Key,
    /// Messages come in pieces of a few bytes.
    Pieces,
    /// Padding is switched off again and again.
    Padding,
    /// A few random bytes at a time.
    Random,
    /// AES without the CPU's instructions for it.
    Software,
    /// Deriving keys takes more time than all else.
    Derivation,
}

const HABIT: u64 = 100;
/// Once for at least so many of the messages is "for each".
const EACH: f64 = 0.5;
/// Bytes of a piece that are few: one block of any hash function.
const FEW_BYTES: u64 = 64;
const MANY_PIECES: u64 = 4;
/// Bytes of a nonce that are at most asked for.
const NONCE: u64 = 32;
/// Bytes from which on a message's time is its bytes'.
const LONG: u64 = 4096;
/// ns a byte that no AES instruction takes, on any CPU that has them: in modes that work on blocks side by side, and in
/// those that cannot.
const SOFTWARE_NS: (f64, f64) = (2.0, 4.0);
/// Part of the time in calls that is most of it.
const DWARFS: f64 = 0.5;

/// Every program, the one with most time in calls first.
pub fn programs(calls: &Calls) -> Vec<ProgramCalls> {
    let mut by_name = BTreeMap::<&Path, Vec<&WatchedProcess>>::new();
    for process in calls.processes.iter().filter(|process| !process.rows.is_empty()) {
        by_name.entry(&process.program).or_default().push(process);
    }
    let mut all: Vec<ProgramCalls> =
        by_name.into_iter().map(|(path, processes)| program(calls, path, &processes)).collect();
    all.sort_by(|a, b| b.call_seconds.total_cmp(&a.call_seconds));
    all
}

fn program(calls: &Calls, path: &Path, processes: &[&WatchedProcess]) -> ProgramCalls {
    let name =
        path.file_name().map_or_else(|| "?".to_owned(), |name| name.to_string_lossy().into_owned());
    let rows = processes.iter().flat_map(|process| process.rows.iter().cloned()).collect();
    let mut rows = CallCount::joined(rows);
    rows.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let own: f64 = processes.iter().copied().map(cpu_seconds).sum();
    let of_all: f64 = calls.processes.iter().map(cpu_seconds).sum();
    // What no process says that it had, one that was killed may have had.
    let untold = (calls.cpu_seconds - of_all).max(0.0);
    let cpu_is_most = processes.iter().any(|process| process.cpu_is_least);
    let mut faults = faults(calls, &rows);
    faults.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    ProgramCalls {
        name,
        processes: processes.len(),
        cpu_seconds: if cpu_is_most { own + untold } else { own },
        cpu_is_most,
        call_seconds: rows.iter().map(|row| row.seconds).sum(),
        operations: rows.iter().filter(|row| is_work(row)).map(|row| row.count).sum(),
        rows,
        faults,
    }
}

/// What a process had. Calls may take longer, where they wait for a CPU; only of one that could not say are they the least.
fn cpu_seconds(process: &WatchedProcess) -> f64 {
    let in_calls = process.rows.iter().map(|row| row.seconds).sum();
    if process.cpu_is_least { process.cpu_seconds.max(in_calls) } else { process.cpu_seconds }
}

/// Whether it is what the program wants, and not what it does for that.
pub fn is_work(row: &CallCount) -> bool {
    use CallOperation::{Fetch, Free, Key, New, Setting};
    !matches!(row.operation, Fetch | Free | Key | New | Setting)
}

fn faults(calls: &Calls, rows: &[CallCount]) -> Vec<Fault> {
    let mut found = Vec::new();
    fetches(rows, &mut found);
    contexts(rows, &mut found);
    of_rows(calls, rows, &mut found);
    settings(rows, &mut found);
    derivation(rows, &mut found);
    found
}

/// Messages of an operation, of one algorithm or of all.
fn messages(rows: &[CallCount], library: usize, is: impl Fn(&CallCount) -> bool) -> u64 {
    rows.iter().filter(|row| row.library == library && is(row)).map(|row| row.count).sum()
}

/// A fault, where it is a habit.
fn habit(kind: FaultKind, subject: &str, (count, of): (u64, u64), seconds: f64) -> Option<Fault> {
    let is_habit = count >= HABIT && of > 0 && count as f64 >= EACH * of as f64;
    is_habit.then(|| Fault { kind, subject: subject.to_owned(), count, of, seconds })
}

fn fetches(rows: &[CallCount], found: &mut Vec<Fault>) {
    for row in rows.iter().filter(|row| row.operation == CallOperation::Fetch) {
        let uses = |other: &CallCount| is_work(other) && other.algorithm.contains(&row.algorithm);
        let counts = (row.count, messages(rows, row.library, uses));
        found.extend(habit(FaultKind::Fetch, &row.algorithm, counts, row.seconds));
    }
}

fn contexts(rows: &[CallCount], found: &mut Vec<Fault>) {
    for row in rows.iter().filter(|row| row.operation == CallOperation::New) {
        let operation = match row.algorithm.as_str() {
            "cipher context" => CallOperation::Cipher,
            "digest context" => CallOperation::Digest,
            "mac context" => CallOperation::Mac,
            _ => continue,
        };
        let of = messages(rows, row.library, |other| other.operation == operation);
        let is_free = |other: &&CallCount| {
            other.operation == CallOperation::Free
                && (other.library, &other.algorithm) == (row.library, &row.algorithm)
        };
        let freed: f64 = rows.iter().filter(is_free).map(|row| row.seconds).sum();
        let seconds = row.seconds + freed;
        found.extend(habit(FaultKind::Context, &row.algorithm, (row.count, of), seconds));
    }
}

/// Faults that one kind of messages shows by itself; sizes of the same algorithm together.
fn of_rows<'a>(calls: &Calls, rows: &'a [CallCount], found: &mut Vec<Fault>) {
    let mut sums = BTreeMap::<(FaultKind, &str), Fault>::new();
    let mut note = |kind, row: &'a CallCount, count, seconds| {
        let fault = sums.entry((kind, &row.algorithm)).or_insert_with(|| Fault {
            kind,
            subject: row.algorithm.clone(),
            count: 0,
            of: 0,
            seconds: 0.0,
        });
        fault.count += count;
        fault.of += row.count;
        fault.seconds += seconds;
    };
    for row in rows.iter().filter(|row| is_work(row)) {
        if matches!(row.operation, CallOperation::Cipher | CallOperation::Mac) {
            note(FaultKind::Key, row, row.keys, row.key_seconds);
        }
        if row.pieces >= MANY_PIECES * row.count && row.bytes < FEW_BYTES * row.pieces {
            note(FaultKind::Pieces, row, row.pieces, row.seconds);
        }
        if calls.cpu_has_aes && is_software(row) {
            note(FaultKind::Software, row, row.count, row.seconds);
        }
    }
    let is_often = |fault: &Fault| match fault.kind {
        FaultKind::Software => true,
        // Of messages of all sizes: the first under a key often has one of its own.
        FaultKind::Key => {
            let is_each = fault.count as f64 >= EACH * fault.of as f64;
            fault.count >= HABIT && is_each && fault.seconds > 0.0
        }
        _ => fault.count >= HABIT,
    };
    found.extend(sums.into_values().filter(is_often));
}

/// Whether AES takes longer than any CPU's instructions for it.
fn is_software(row: &CallCount) -> bool {
    let modes = ["gcm", "ctr", "ecb", "xts", "ocb"];
    let mode = row.algorithm.rsplit('-').next().unwrap_or_default();
    let is_parallel =
        modes.contains(&mode) || mode == "cbc" && row.direction == Some(CallDirection::Decrypt);
    let limit = if is_parallel { SOFTWARE_NS.0 } else { SOFTWARE_NS.1 };
    let is_aes = row.operation == CallOperation::Cipher && row.algorithm.starts_with("aes-");
    let bytes = row.bytes as f64 / row.count.max(1) as f64;
    is_aes
        && !row.algorithm.contains("hmac")
        && row.size[0] >= LONG
        && row.trimmed_ns > limit * bytes
}

fn settings(rows: &[CallCount], found: &mut Vec<Fault>) {
    use CallOperation::{Cipher, Random, Setting};
    let mut random = BTreeMap::<usize, (u64, f64)>::new();
    for row in rows {
        if row.operation == Setting && row.algorithm == "padding" {
            let of = messages(rows, row.library, |other| other.operation == Cipher);
            found.extend(habit(FaultKind::Padding, "padding", (row.count, of), row.seconds));
        }
        if row.operation == Random && row.size[1] <= NONCE {
            let sum = random.entry(row.library).or_default();
            *sum = (sum.0 + row.count, sum.1 + row.seconds);
        }
    }
    for (library, (count, seconds)) in random {
        let of = messages(rows, library, |other| {
            other.operation == Cipher && other.direction != Some(CallDirection::Decrypt)
        });
        found.extend(habit(FaultKind::Random, "random", (count, of), seconds));
    }
}

fn derivation(rows: &[CallCount], found: &mut Vec<Fault>) {
    let all: f64 = rows.iter().map(|row| row.seconds).sum();
    let derives = || rows.iter().filter(|row| row.operation == CallOperation::Kdf);
    let seconds: f64 = derives().map(|row| row.seconds).sum();
    if let Some(most) = derives().next().filter(|_| seconds > DWARFS * all) {
        found.push(Fault {
            kind: FaultKind::Derivation,
            subject: most.algorithm.clone(),
            count: derives().map(|row| row.count).sum(),
            of: rows.iter().filter(|row| is_work(row)).map(|row| row.count).sum(),
            seconds,
        });
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(operation: CallOperation, algorithm: &str, count: u64, seconds: f64) -> CallCount {
        CallCount {
            operation,
            algorithm: algorithm.to_owned(),
            count,
            seconds,
            ..CallCount::default()
        }
    }

    fn faults_of(rows: Vec<CallCount>) -> Vec<(FaultKind, f64)> {
        let process = WatchedProcess {
            program: "/bin/it".into(),
            cpu_seconds: 10.0,
            rows,
            ..WatchedProcess::default()
        };
        let calls = Calls { cpu_has_aes: true, processes: vec![process], ..Calls::default() };
        let programs = programs(&calls);
        programs[0].faults.iter().map(|fault| (fault.kind, fault.seconds)).collect()
    }

    #[test]
    fn each_fault_costs_what_its_own_calls_took() {
        use CallOperation::{Cipher, Digest, Fetch, Free, Kdf, New, Random, Setting};
        let gcm = |count| CallCount {
            direction: Some(CallDirection::Encrypt),
            keys: count,
            key_seconds: 0.25,
            ..row(Cipher, "aes-256-gcm", count, 1.0)
        };
        assert_eq!(faults_of(vec![gcm(1000)]), [(FaultKind::Key, 0.25)]);
        let more_of_other_sizes = CallCount { keys: 0, key_seconds: 0.0, ..gcm(9000) };
        assert_eq!(faults_of(vec![gcm(1000), more_of_other_sizes]), []);
        let keyless = || CallCount { keys: 0, key_seconds: 0.0, ..gcm(1000) };
        for (more, kind) in [
            (row(Fetch, "aes-256-gcm", 1000, 0.5), FaultKind::Fetch),
            (row(New, "cipher context", 1000, 0.5), FaultKind::Context),
            (row(Setting, "padding", 1000, 0.5), FaultKind::Padding),
            (CallCount { size: [12, 12], ..row(Random, "random", 1000, 0.5) }, FaultKind::Random),
        ] {
            let few = CallCount { count: 10, ..more.clone() };
            assert_eq!(faults_of(vec![keyless(), few]), [], "{kind:?}");
            assert_eq!(faults_of(vec![keyless(), more]), [(kind, 0.5)]);
        }
        let freed = vec![
            keyless(),
            row(New, "cipher context", 500, 0.5),
            row(Free, "cipher context", 500, 0.25),
        ];
        assert_eq!(faults_of(freed), [(FaultKind::Context, 0.75)]);
        let pieces =
            CallCount { pieces: 9_000_000, bytes: 45_000_000, ..row(Digest, "sha1", 100, 7.0) };
        assert_eq!(faults_of(vec![pieces.clone()]), [(FaultKind::Pieces, 7.0)]);
        assert_eq!(faults_of(vec![CallCount { bytes: 1 << 40, ..pieces }]), []);
        assert_eq!(
            faults_of(vec![keyless(), row(Kdf, "pbkdf2-sha256", 1, 3.0)]),
            [(FaultKind::Derivation, 3.0)]
        );
    }

    #[test]
    fn aes_in_software_shows_in_long_messages_by_their_time_a_byte() {
        let of = |ns_per_byte: f64, size: u64| CallCount {
            size: [size, size],
            bytes: size * 10,
            trimmed_ns: ns_per_byte * size as f64,
            direction: Some(CallDirection::Encrypt),
            ..row(CallOperation::Cipher, "aes-128-gcm", 10, 1.0)
        };
        assert_eq!(faults_of(vec![of(5.0, 16384)]), [(FaultKind::Software, 1.0)]);
        assert_eq!(faults_of(vec![of(0.3, 16384)]), []);
        assert_eq!(faults_of(vec![of(50.0, 64)]), [], "a short one is all overhead");
        let chained = |direction| CallCount {
            algorithm: "aes-128-cbc".to_owned(),
            direction,
            ..of(3.0, 16384)
        };
        assert_eq!(
            faults_of(vec![chained(Some(CallDirection::Encrypt))]),
            [],
            "one block after the other"
        );
        assert_eq!(faults_of(vec![chained(Some(CallDirection::Decrypt))]).len(), 1);
    }

    #[test]
    fn processes_of_a_program_are_one_and_a_killed_one_ran_at_least_as_long_as_its_calls() {
        let process = |pid, cpu_seconds| WatchedProcess {
            program: "/usr/sbin/nginx".into(),
            pid,
            cpu_seconds,
            cpu_is_least: cpu_seconds == 0.0,
            rows: vec![row(CallOperation::Cipher, "aes-256-gcm", 5, 0.5)],
            ..WatchedProcess::default()
        };
        let calls = Calls { processes: vec![process(1, 4.0), process(2, 0.0)], ..Calls::default() };
        let programs = programs(&calls);
        assert_eq!(programs.len(), 1);
        let nginx = &programs[0];
        assert_eq!(
            (nginx.name.as_str(), nginx.processes, nginx.operations, nginx.rows.len()),
            ("nginx", 2, 10, 1)
        );
        assert_eq!((nginx.cpu_seconds, nginx.call_seconds), (4.5, 1.0));
    }

    #[test]
    fn calls_that_waited_for_a_cpu_are_no_cpu_time() {
        let process = WatchedProcess {
            program: "/bin/it".into(),
            cpu_seconds: 0.25,
            rows: vec![row(CallOperation::Digest, "sha256", 320, 3.75)],
            ..WatchedProcess::default()
        };
        let calls = Calls { processes: vec![process], ..Calls::default() };
        let programs = programs(&calls);
        assert_eq!((programs[0].cpu_seconds, programs[0].call_seconds), (0.25, 3.75));
    }
}
