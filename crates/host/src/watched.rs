//! The file that watched processes count their calls in (`attach/watch`): made for them, and read. Nothing in it is
//! trusted: a watched process may write anything.

#[path = "../../../attach/watch/src/layout.rs"]
mod layout;

use base::model::Algorithm;
use layout::*;
use record::{CallCount, CallDirection, CallOperation, CalledLibrary, Calls, WatchedProcess};
use rustix::fs::{FallocateFlags, fallocate};
use std::collections::BTreeMap;
use std::fs::File;
use std::io;
use std::os::unix::fs::{FileExt as _, MetadataExt as _, OpenOptionsExt as _};
use std::path::{Path, PathBuf};
use std::str::FromStr;

/// The variable by which a process finds the file.
pub const WATCH_VARIABLE: &str = "CIPHERMARK_WATCH";

const WORD: usize = 8;
const _: () = assert!(CallOperation::Key as u64 == KEY && CallOperation::Kdf as u64 == KDF);
/// Part of the slowest that a trimmed mean leaves out.
const TRIMMED: f64 = 0.05;

/// The file, in a directory that nobody else can enter; both go with the value.
pub struct WatchFile {
    directory: tempfile::TempDir,
    file: File,
    /// The namespace that this process's number is of; 0 where nobody knows.
    namespace: u64,
    /// What was read of processes whose place went to others.
    gone: Calls,
    clock: Clock,
}

/// The first and the last moment that processes have written down, in ticks and ns: the longer between them, the
/// better it tells how long a tick is.
#[derive(Clone, Copy, Default)]
struct Clock {
    first: Option<[u64; 2]>,
    last: [u64; 2],
}

impl Clock {
    fn see(&mut self, began: [u64; 2], stamped: [u64; 2]) {
        self.first =
            Some(self.first.map_or(began, |first| if began[1] < first[1] { began } else { first }));
        if stamped[1] > self.last[1] {
            self.last = stamped;
        }
    }

    /// 1 where no two moments are known.
    fn ns_per_tick(self) -> f64 {
        let [ticks, ns] = self.first.unwrap_or_default();
        let ticks = self.last[0].saturating_sub(ticks);
        if ticks == 0 { 1.0 } else { self.last[1].saturating_sub(ns) as f64 / ticks as f64 }
    }
}

impl WatchFile {
    /// In memory where the system has a file system for that, else where temporary files are.
    pub fn create() -> io::Result<Self> {
        use std::os::unix::fs::PermissionsExt as _;
        let mut private = tempfile::Builder::new();
        private.prefix("ciphermark-watch-").permissions(std::fs::Permissions::from_mode(0o700));
        let directory = private.tempdir_in("/dev/shm").or_else(|_| private.tempdir())?;
        let mut options = File::options();
        let options = options.read(true).write(true).create_new(true).mode(0o600);
        let file = options.open(directory.path().join("calls"))?;
        file.set_len((WORDS * WORD) as u64)?;
        file.write_all_at(&MAGIC.to_le_bytes(), 0)?;
        let namespace = Path::new("/proc/self/ns/pid").metadata().map_or(0, |facts| facts.ino());
        Ok(Self { directory, file, namespace, gone: Calls::default(), clock: Clock::default() })
    }

    pub fn path(&self) -> PathBuf {
        self.directory.path().join("calls")
    }

    fn words(&self, at: usize, count: usize) -> io::Result<Vec<u64>> {
        let mut bytes = vec![0; count * WORD];
        self.file.read_exact_at(&mut bytes, (at * WORD) as u64)?;
        let words = bytes
            .chunks_exact(WORD)
            .map(|word| u64::from_le_bytes(word.try_into().unwrap_or_default()));
        Ok(words.collect())
    }

    /// Makes room: when few places are left, those of processes that have ended are read and given to others.
    pub fn tidy(&mut self) -> io::Result<()> {
        let mut taken = Vec::new();
        for index in 0..REGIONS {
            let at = FILE_WORDS + index * REGION_WORDS;
            let head = self.words(at, NAMESPACE + 1)?;
            if head[STATE] != 0 {
                // One that has said that it ends may still run destructors.
                let is_over =
                    self.number(&head).map_or(head[STATE] == ENDED, |pid| !is_running(pid));
                taken.push((index, is_over));
            }
        }
        if taken.len() < REGIONS / 2 {
            return Ok(());
        }
        let mut gone = std::mem::take(&mut self.gone);
        let ns_per_tick = self.see_clock()?;
        for (index, _) in taken.into_iter().filter(|(_, is_over)| *is_over) {
            let at = FILE_WORDS + index * REGION_WORDS;
            self.read_region(at, ns_per_tick, &mut gone)?;
            let (from, length) = ((at * WORD) as u64, (REGION_WORDS * WORD) as u64);
            fallocate(
                &self.file,
                FallocateFlags::PUNCH_HOLE | FallocateFlags::KEEP_SIZE,
                from,
                length,
            )?;
            self.file.write_all_at(&[0; WORD], ((FILE_CLAIMED + index) * WORD) as u64)?;
        }
        self.gone = merged(gone);
        Ok(())
    }

    /// A process's number, where it is one of ours: in another namespace it is somebody else's here. One that takes its
    /// place right now has not written it yet.
    fn number(&self, head: &[u64]) -> Option<u64> {
        let is_ours = self.namespace != 0 && head[NAMESPACE] == self.namespace;
        (is_ours && head[PID] != 0).then_some(head[PID])
    }

    /// Libraries, processes and what was missed, up to now.
    pub fn read(&mut self) -> io::Result<Calls> {
        let ns_per_tick = self.see_clock()?;
        let mut calls = self.gone.clone();
        for index in 0..REGIONS {
            self.read_region(FILE_WORDS + index * REGION_WORDS, ns_per_tick, &mut calls)?;
        }
        calls.missed.processes = self.words(FILE_REFUSED, 1)?[0];
        Ok(calls)
    }

    fn see_clock(&mut self) -> io::Result<f64> {
        for index in 0..REGIONS {
            let head = self.words(FILE_WORDS + index * REGION_WORDS, STAMPED + 2)?;
            if head[STATE] != 0 && head[STAMPED] != 0 {
                self.clock.see([head[BEGAN], head[BEGAN + 1]], [head[STAMPED], head[STAMPED + 1]]);
            }
        }
        Ok(self.clock.ns_per_tick())
    }

    fn read_region(&self, at: usize, ns_per_tick: f64, calls: &mut Calls) -> io::Result<()> {
        let head = self.words(at, LIBRARY_AT)?;
        if head[STATE] == 0 || head[PID] == 0 {
            return Ok(());
        }
        let names = Names::read(self, at, &head)?;
        let (mut rows, mut called) = (BTreeMap::new(), 0);
        let areas = usize::try_from(head[AREA_COUNT]).unwrap_or(AREAS).min(AREAS - 1);
        for area in 0..=areas {
            let words = self.words(at + AREA_AT + area * AREA_WORDS, AREA_WORDS)?;
            called = words[AREA_CALLS].saturating_add(called);
            for row in words[AREA_ROWS..]
                .chunks_exact(ROW_WORDS)
                .take(ROWS)
                .filter(|row| row[R_WHAT] & USED != 0)
            {
                let is_alone = row[R_WHAT] & CLASS != 0 && ![0, MIXED].contains(&row[R_ONLY]);
                let key = match is_alone {
                    true => (row[R_WHAT] & WHAT_MASK, row[R_ONLY]),
                    false => (row[R_WHAT] & (WHAT_MASK | CLASS), row[R_SIZE]),
                };
                rows.entry(key).or_insert_with(Row::default).add(row);
            }
        }
        for context in
            self.words(at + CONTEXT_AT, CONTEXTS * CONTEXT_WORDS)?.chunks_exact(CONTEXT_WORDS)
        {
            if let Some((key, row)) = Row::of_context(context) {
                rows.entry(key).or_insert_with(Row::default).add(&row);
            }
        }
        let libraries: Vec<usize> =
            names.libraries.iter().map(|path| place_of(path, calls)).collect();
        let count = |((what, size), row): ((u64, u64), Row)| {
            row.count(what, size, &names, &libraries, ns_per_tick)
        };
        let [before, now] = [head[CPU_BEFORE], head[CPU_NOW]].map(|ns| ns as f64 / 1e9);
        let runs = head[STATE] != ENDED;
        let alive = self.number(&head).and_then(cpu_of).filter(|_| runs);
        let now = now.max(alive.unwrap_or(0.0));
        calls.processes.push(WatchedProcess {
            program: PathBuf::from(text(&head[PROGRAM..PROGRAM + PROGRAM_WORDS])),
            pid: head[PID],
            parent: head[PARENT],
            cpu_seconds: (now - before).max(0.0),
            ended: !runs,
            cpu_is_least: runs && alive.is_none(),
            threads: head[AREA_COUNT],
            rows: in_classes(rows.into_iter().filter_map(count).collect()),
        });
        let each = head[OWN_TICKS] as f64 / head[OWN_COUNT].max(1) as f64;
        calls.missed.calls += called;
        calls.missed.overhead_seconds += called as f64 * each * ns_per_tick / 1e9;
        calls.missed.contexts += head[EVICTED];
        calls.missed.kinds += head[OVERFLOWN];
        calls.missed.functions += head[UNBOUND];
        Ok(())
    }
}

/// Names that rows refer to by number.
struct Names {
    libraries: Vec<PathBuf>,
    algorithms: Vec<String>,
}

impl Names {
    fn read(file: &WatchFile, at: usize, head: &[u64]) -> io::Result<Self> {
        let list = |at, count: u64, most: usize, words| -> io::Result<Vec<String>> {
            let count = usize::try_from(count).unwrap_or(most).min(most);
            Ok(file.words(at, count * words)?.chunks_exact(words).map(text).collect())
        };
        let libraries = list(at + LIBRARY_AT, head[LIBRARY_COUNT], LIBRARIES, LIBRARY_WORDS)?;
        let algorithms =
            list(at + ALGORITHM_AT, head[ALGORITHM_COUNT], ALGORITHMS, ALGORITHM_WORDS)?;
        let of_program = |path: String| match path.as_str() {
            "/proc/self/exe" => PathBuf::from(text(&head[PROGRAM..PROGRAM + PROGRAM_WORDS])),
            _ => PathBuf::from(path),
        };
        let algorithms = algorithms.iter().map(|name| canonical(name)).collect();
        Ok(Self { libraries: libraries.into_iter().map(of_program).collect(), algorithms })
    }
}

fn text(words: &[u64]) -> String {
    let bytes: Vec<u8> =
        words.iter().flat_map(|word| word.to_le_bytes()).take_while(|byte| *byte != 0).collect();
    base::text::clean(&String::from_utf8_lossy(&bytes))
}

/// This project's name for what libraries name differently.
fn canonical(name: &str) -> String {
    // OpenSSL's own word for what has a standard's name of its own.
    let name = name.strip_prefix("id-").unwrap_or(name);
    const SAME: [(&str, &str); 6] = [
        ("sha2-", "sha"),
        ("aes128-", "aes-128-"),
        ("aes192-", "aes-192-"),
        ("aes256-", "aes-256-"),
        ("aes-128-128-", "aes-128-"),
        ("chacha20poly1305", "chacha20-poly1305"),
    ];
    let aes = name.strip_prefix("aes-cbc-").or(name.strip_prefix("aes-gcm-"));
    if let (Some(bits), Some(mode)) = (aes, name.get(4..7)) {
        return format!("aes-{bits}-{mode}");
    }
    let name = SAME.iter().fold(name.to_owned(), |name, (from, to)| name.replace(from, to));
    // Others put other signs between the words.
    let is_same = |algorithm: &&Algorithm| letters(algorithm.name).eq(letters(&name));
    match Algorithm::all().iter().find(is_same) {
        Some(algorithm) => algorithm.name.to_owned(),
        None => name,
    }
}

fn letters(name: &str) -> impl Iterator<Item = char> {
    name.chars().filter(char::is_ascii_alphanumeric)
}

/// NSS has one kind of context for ciphers and MACs.
fn operation(what: u64, name: &str) -> Option<CallOperation> {
    match CallOperation::from_repr(usize::try_from(operation_of(what)).ok()?)? {
        CallOperation::Cipher if name.starts_with("hmac-") => Some(CallOperation::Mac),
        own => Some(own),
    }
}

/// Libraries name an HMAC by its digest alone where they are asked for a MAC.
fn of_mac(operation: CallOperation, name: &str) -> String {
    let is_digest = ["md5", "sha", "rmd160", "ripemd"].iter().any(|of| name.starts_with(of));
    let is_hmac = operation == CallOperation::Mac && is_digest;
    if is_hmac { format!("hmac-{name}") } else { name.to_owned() }
}

/// Sums of one kind of messages.
#[derive(Clone)]
struct Row([u64; ROW_WORDS]);

impl Default for Row {
    fn default() -> Self {
        Self([0; ROW_WORDS])
    }
}

impl Row {
    fn add(&mut self, other: &[u64]) {
        for (sum, more) in self.0.iter_mut().zip(other).skip(R_SIZE + 1) {
            *sum = sum.saturating_add(*more);
        }
    }

    /// The message that a context is in the middle of.
    fn of_context(context: &[u64]) -> Option<((u64, u64), [u64; ROW_WORDS])> {
        let message =
            (context[C_ADDRESS] != 0).then(|| Message::of_context(|at| context[at]))??;
        let mut row = [0; ROW_WORDS];
        row[R_BYTES] = message.size;
        row[R_PIECES] = message.pieces;
        row[R_KEYS] = message.keys;
        row[R_KEY_TICKS] = message.key_ticks;
        row[R_IN_PLACE] = message.in_place.into();
        (row[R_LOOKS], row[R_FAR_TICKS]) = (message.far >> 40, message.far & (far(0) - 1));
        let at = R_BUCKETS + 2 * bucket(message.ticks);
        row[at] = 1;
        row[at + 1] = message.ticks;
        Some(((message.what, sizes(message.size, message.aad, message.tag)), row))
    }

    fn buckets(&self) -> impl Iterator<Item = (u64, u64)> {
        let buckets = self.0[R_BUCKETS..].chunks_exact(2).take(BUCKETS);
        buckets.map(|bucket| (bucket[0], bucket[1]))
    }

    /// Mean ticks of all but the slowest twentieth.
    fn trimmed(&self) -> f64 {
        let all: u64 = self.buckets().map(|(n, _)| n).sum();
        let mut left = all as f64 * (1.0 - TRIMMED);
        let kept = left;
        let mut sum = 0.0;
        for (n, ticks) in self.buckets().filter(|(n, _)| *n > 0) {
            let part = (left / n as f64).clamp(0.0, 1.0);
            sum += ticks as f64 * part;
            left -= n as f64 * part;
        }
        if kept > 0.0 { sum / kept } else { 0.0 }
    }

    fn count(
        &self,
        what: u64,
        size: u64,
        names: &Names,
        libraries: &[usize],
        ns_per_tick: f64,
    ) -> Option<CallCount> {
        let number = |of: u64| usize::try_from(of).unwrap_or(usize::MAX);
        let (bytes, aad, tag) = (size >> 24, size >> 8 & 0xffff, size & 0xff);
        let range = |n| if what & CLASS != 0 { [n, class_end(n)] } else { [n, n] };
        let algorithm = names.algorithms.get(number(algorithm_of(what)));
        let operation = operation(what, algorithm.map_or("", |name| name))?;
        Some(CallCount {
            library: *libraries.get(number(library_of(what)))?,
            operation,
            algorithm: algorithm.map_or_else(|| "?".to_owned(), |name| of_mac(operation, name)),
            direction: match direction_of(what) {
                ENCRYPT => Some(CallDirection::Encrypt),
                DECRYPT => Some(CallDirection::Decrypt),
                _ => None,
            },
            size: range(bytes),
            aad: range(aad),
            tag,
            count: self.buckets().map(|(n, _)| n).sum(),
            bytes: self.0[R_BYTES],
            pieces: self.0[R_PIECES],
            keys: self.0[R_KEYS],
            in_place: self.0[R_IN_PLACE],
            seconds: self.buckets().map(|(_, ticks)| ticks as f64).sum::<f64>() * ns_per_tick / 1e9,
            key_seconds: self.0[R_KEY_TICKS] as f64 * ns_per_tick / 1e9,
            trimmed_ns: self.trimmed() * ns_per_tick,
            looks: self.0[R_LOOKS],
            far_ns: self.0[R_FAR_TICKS] as f64 / self.0[R_LOOKS].max(1) as f64 * ns_per_tick,
        })
    }
}

/// Index of a library, which is added where it is new.
fn place_of(path: &Path, calls: &mut Calls) -> usize {
    let path = path.canonicalize().unwrap_or_else(|_| path.to_owned());
    calls.libraries.iter().position(|library| library.path == path).unwrap_or_else(|| {
        calls.libraries.push(CalledLibrary { path, ..CalledLibrary::default() });
        calls.libraries.len() - 1
    })
}

/// What rows have in common whose sizes are kept apart.
fn kind(row: &CallCount) -> (usize, CallOperation, &str, Option<CallDirection>) {
    (row.library, row.operation, &row.algorithm, row.direction)
}

/// Threads keep their own sizes: where that makes more than eight of a kind, those that took the longest stay exact, and
/// the others become classes.
fn in_classes(rows: Vec<CallCount>) -> Vec<CallCount> {
    let mut rows = CallCount::joined(rows);
    rows.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    let mut kinds = BTreeMap::<_, Vec<usize>>::new();
    for (index, row) in rows.iter().enumerate() {
        kinds.entry(kind(row)).or_default().push(index);
    }
    let is_exact = |index: &usize| rows[*index].size[0] == rows[*index].size[1];
    let many = kinds.into_values().filter(|of| of.len() > EXACT).flat_map(|of| {
        let (exact, mut others): (Vec<usize>, Vec<usize>) = of.into_iter().partition(is_exact);
        others.extend(exact.into_iter().skip(EXACT));
        others
    });
    for index in many.collect::<Vec<_>>() {
        classify(&mut rows[index]);
    }
    CallCount::joined(rows)
}

/// Replaces sizes by their classes.
fn classify(row: &mut CallCount) {
    for range in [&mut row.size, &mut row.aad] {
        let first = class(range[0]);
        *range = [first, class_end(first).max(range[1])];
    }
}

/// Processes of the same program as one: of thousands that have ended, nobody asks for each.
fn merged(mut calls: Calls) -> Calls {
    let mut all = BTreeMap::<PathBuf, WatchedProcess>::new();
    for process in calls.processes.drain(..) {
        match all.get_mut(&process.program) {
            Some(sum) => {
                sum.cpu_seconds += process.cpu_seconds;
                sum.cpu_is_least |= process.cpu_is_least;
                sum.threads += process.threads;
                let rows = sum.rows.drain(..).chain(process.rows).collect();
                sum.rows = in_classes(rows);
            }
            None => _ = all.insert(process.program.clone(), process),
        }
    }
    calls.processes = all.into_values().collect();
    calls
}

/// Makes of what was seen something that may be given to others: sizes in classes, files without their directories.
pub fn share(calls: &mut Calls) {
    let name = |path: &mut PathBuf| *path = path.file_name().map(PathBuf::from).unwrap_or_default();
    calls.shared = true;
    calls.libraries.iter_mut().for_each(|library| name(&mut library.path));
    for process in &mut calls.processes {
        name(&mut process.program);
        process.rows.iter_mut().for_each(blur);
        process.rows = CallCount::joined(std::mem::take(&mut process.rows));
    }
    // Its files and functions name the machine's directories.
    calls.sampled = None;
}

/// Leaves of sizes no more than their classes: sums of bytes and the pieces that they came in tell them, too.
fn blur(row: &mut CallCount) {
    classify(row);
    let piece = row.bytes.checked_div(row.pieces).map_or(0, class);
    row.bytes = row.bytes.checked_div(row.count).map_or(0, class).saturating_mul(row.count);
    if let Some(pieces) = row.bytes.checked_div(piece) {
        row.pieces = pieces;
    }
}

/// Whether a process is there and not only waited for.
pub fn is_running(pid: u64) -> bool {
    stat_field(&pid.to_string(), 0).is_some_and(|state: char| !matches!(state, 'Z' | 'X'))
}

fn cpu_of(pid: u64) -> Option<f64> {
    seconds(&pid.to_string(), [11, 12])
}

/// CPU time of this process's children that have ended, and of theirs.
pub fn cpu_of_children() -> Option<f64> {
    seconds("self", [13, 14])
}

fn seconds(process: &str, [user, system]: [usize; 2]) -> Option<f64> {
    let ticks = stat_field::<u64>(process, user)? + stat_field::<u64>(process, system)?;
    Some(ticks as f64 / crate::ticks_per_second() as f64)
}

/// One of the words behind the name in a process's `stat` (proc_pid_stat(5)). The name may hold anything.
pub fn stat_field<T: FromStr>(process: &str, at: usize) -> Option<T> {
    let stat = std::fs::read(format!("/proc/{process}/stat")).ok()?;
    let stat = String::from_utf8_lossy(&stat);
    stat.rsplit_once(')')?.1.split_ascii_whitespace().nth(at)?.parse().ok()
}

#[cfg(test)]
mod tests {
    use super::*;

    fn row(size: u64, count: u64) -> CallCount {
        CallCount {
            operation: CallOperation::Cipher,
            algorithm: "aes-256-gcm".to_owned(),
            size: [size, size],
            count,
            bytes: size * count,
            ..CallCount::default()
        }
    }

    #[test]
    fn the_eight_sizes_that_took_the_longest_stay_exact_and_others_become_classes_that_hold_them() {
        let few: Vec<CallCount> = (1..=8).map(|n| row(n * 1000 + 1, n)).collect();
        assert_eq!(in_classes(few.clone()), few);
        let seconds = |n: u64| if n > 892 { 9.0 } else { 0.1 };
        let many = (1..=900).map(|n| CallCount { seconds: seconds(n), ..row(n, 2) }).collect();
        let all = in_classes(many);
        assert!(all.len() < 48, "{}", all.len());
        assert_eq!(all.iter().map(|row| row.bytes).sum::<u64>(), 2 * (1..=900).sum::<u64>());
        let (exact, classes): (Vec<_>, Vec<_>) = all.iter().partition(|row| row.seconds == 9.0);
        let sizes: Vec<[u64; 2]> = exact.iter().map(|row| row.size).collect();
        assert_eq!(sizes, (893..=900).map(|n| [n, n]).collect::<Vec<_>>());
        for pair in classes.windows(2) {
            assert!(pair[0].size[1] < pair[1].size[0], "{pair:?}");
        }
    }

    #[test]
    fn what_is_shared_tells_of_sizes_no_more_than_their_classes() {
        let shared = |size: u64, count: u64, piece: u64| {
            let pieces = (size * count).div_ceil(piece);
            let process = WatchedProcess {
                rows: vec![CallCount { pieces, ..row(size, count) }],
                ..WatchedProcess::default()
            };
            let mut calls = Calls { processes: vec![process], ..Calls::default() };
            share(&mut calls);
            calls.processes.remove(0).rows.remove(0)
        };
        // A password of 13 bytes behind a salt of 8, 65,536 times, and one of 14.
        assert_eq!(shared(21 << 16, 1, 21), shared(22 << 16, 1, 22));
        for (size, piece) in [(12_345, 12_345), (12_300, 12_300), (0, 1)] {
            let [row, other] =
                [size, class(size)].map(|size| shared(size, 3, piece.min(size.max(1))));
            assert_eq!((row.size, row.bytes, row.pieces), (other.size, other.bytes, other.pieces));
        }
        assert_eq!(shared(12_345, 3, 12_345).pieces, 3, "one for each message");
    }

    #[test]
    fn a_mac_by_a_digests_name_is_an_hmac() {
        assert_eq!(of_mac(CallOperation::Mac, "sha384"), "hmac-sha384");
        assert_eq!(of_mac(CallOperation::Mac, "hmac-sha384"), "hmac-sha384");
        assert_eq!(of_mac(CallOperation::Digest, "sha384"), "sha384");
    }

    #[test]
    fn a_cipher_by_an_hmacs_name_is_a_mac() {
        let of = |name| operation(what(CIPHER, NEITHER, 0, 1), name);
        assert_eq!(of("hmac-sha256"), Some(CallOperation::Mac));
        assert_eq!(of("aes-128-cbc-hmac-sha1"), Some(CallOperation::Cipher));
    }

    #[test]
    fn the_slowest_twentieth_does_not_count_in_a_trimmed_mean() {
        let mut words = Row::default();
        for (ticks, n) in [(1000, 95), (1_000_000, 5)] {
            let at = R_BUCKETS + 2 * bucket(ticks);
            words.0[at] += n;
            words.0[at + 1] += n * ticks;
        }
        assert!((words.trimmed() - 1000.0).abs() < 1e-6, "{}", words.trimmed());
    }

    #[test]
    fn a_bucket_holds_half_an_octave_and_classes_a_quarter() {
        assert!((1..100_000_000_u64).step_by(977).all(|n| bucket(n) <= bucket(n + 977)));
        assert_ne!(bucket(1024), bucket(1536));
        for size in (0..5000).chain([1 << 20, (1 << 30) + 12345]) {
            let first = class(size);
            assert!((first..=class_end(first)).contains(&size), "{size}");
            assert!(class_end(first) - first <= first / 4, "{size}");
        }
    }

    #[test]
    fn names_of_several_libraries_become_one() {
        for (name, same) in [
            ("sha2-256", "sha256"),
            ("aes256-gcm", "aes-256-gcm"),
            ("id-aes256-gcm", "aes-256-gcm"),
            ("aes128-cfb", "aes-128-cfb"),
            ("aes-256/gcm", "aes-256-gcm"),
            ("sha-256", "sha256"),
            ("hmac(sha-256)", "hmac-sha256"),
            // Whatever the key's length is.
            ("aes-gcm", "aes-gcm"),
            ("cmac", "cmac"),
            ("random", "random"),
            ("cipher context", "cipher context"),
            ("aes-128-cfb", "aes-128-cfb"),
            ("aes-256-gcm", "aes-256-gcm"),
            ("aes-cbc-256", "aes-256-cbc"),
        ] {
            assert_eq!(canonical(name), same);
        }
    }

    /// Makes regions of processes with that number.
    fn take(file: &WatchFile, count: usize, pid: u64, namespace: u64) {
        for index in 0..count {
            let at = FILE_WORDS + index * REGION_WORDS;
            for (word, value) in [
                (FILE_CLAIMED + index, 1),
                (at + STATE, TAKEN),
                (at + PID, pid),
                (at + NAMESPACE, namespace),
            ] {
                file.file.write_all_at(&u64::to_le_bytes(value), (word * WORD) as u64).unwrap();
            }
        }
    }

    #[test]
    fn a_number_of_another_namespace_is_nobody_here() {
        let mut file = WatchFile::create().unwrap();
        let own = file.namespace;
        for (namespace, is_ours) in [(own, true), (own + 1, false)] {
            take(&file, 1, std::process::id().into(), namespace);
            let process = file.read().unwrap().processes.remove(0);
            assert_eq!(process.cpu_is_least, !is_ours);
        }
    }

    #[test]
    fn only_the_places_of_processes_that_are_known_to_have_ended_go_to_others() {
        let mut file = WatchFile::create().unwrap();
        // Beyond the most that the kernel gives.
        let gone = 1 << 23;
        let (own, all) = (file.namespace, REGIONS / 2);
        for (pid, namespace, is_free) in
            [(gone, own + 1, false), (std::process::id().into(), own, false), (gone, own, true)]
        {
            take(&file, all, pid, namespace);
            file.tidy().unwrap();
            let claims = file.words(FILE_CLAIMED, all).unwrap();
            assert!(claims.iter().all(|claim| (*claim == 0) == is_free), "{pid} {namespace}");
            let state = file.words(FILE_WORDS + STATE, 1).unwrap();
            assert_eq!(state[0] == 0, is_free, "{pid} {namespace}");
        }
        assert_eq!(file.read().unwrap().processes.len(), 1, "what they did is kept");
    }

    #[test]
    fn a_new_file_is_private_and_holds_no_process() {
        use std::os::unix::fs::PermissionsExt as _;
        let mut file = WatchFile::create().unwrap();
        let mode = |path: &Path| path.metadata().unwrap().permissions().mode() & 0o777;
        assert_eq!(mode(&file.path()), 0o600);
        assert_eq!(mode(file.path().parent().unwrap()), 0o700);
        assert_eq!(file.read().unwrap(), Calls::default());
    }
}
