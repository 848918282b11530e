//! What a change would save a watched program: another build, another algorithm, the repair of a fault. From the file of
//! `watch` and a record of the same messages (`run --workload`).
//!
//! A loop's cost times the number of calls is no prediction: a program pays two to four times as much for small messages. So
//! the time that was measured in the program is scaled by a ratio of two builds, and the ratio is that of messages as
//! cold as the program's: each kind lies somewhere on the line from `message` (in a loop) through `between` (after other
//! work), and where, the build that the program used shows, which was measured in all three ways.

use super::{Fault, FaultKind, is_work, programs};
use base::analysis::Estimate;
use base::model::{Algorithm, Direction, Footprint, Kind, MAX_SIZE, Model, Tier};
use record::{CallCount, CallDirection, CallOperation, CalledLibrary, Calls, LibraryId};
use record::{LeakVerdict, Measurement, PlannedCase, Record, State};
use serde::Serialize;
use std::collections::{BTreeMap, BTreeSet};

/// Kinds of messages that are measured: beyond so many, none is worth its time.
const MOST_ROWS: usize = 24;
/// Bytes of a piece from which on a message in pieces is taken for as many messages.
const LEAST_PIECE: u64 = 1024;
/// Keys for so many of the messages are one for each.
const EACH: f64 = 0.5;
/// Ns that a byte of the input takes longer than from the first-level cache, from which on it lies in memory: no
/// second-level cache takes so long, and no memory half as long. So many messages must have been looked at.
const FAR_NS: f64 = 40.0;
const LOOKS: u64 = 8;
/// How much colder or warmer than in the build that the program used a kind may be in another, as a part.
const COLDER: f64 = 0.25;
/// The coldest that a kind is taken for: a program that has slept finds less in the caches than one that has worked, and what it
/// misses costs every build in proportion; beyond that, other things than caches take time.
const COLDEST: f64 = 4.0;
/// What ratios were off where a swap was made after it was predicted, as a part: the middle of those in docs/WATCH.md.
const MISSED: f64 = 0.1;
/// What one algorithm with integrity may be replaced by.
const AUTHENTICATED: [&str; 6] =
    ["aes-128-gcm", "aes-256-gcm", "chacha20-poly1305", "aegis-128l", "aegis-256", "aes-256-ocb"];

/// Messages of a kind, as a case that can be measured.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Messages {
    /// Place in the libraries of the program.
    #[serde(skip)]
    pub called: usize,
    pub algorithm: &'static str,
    pub direction: Direction,
    /// Bytes of each; of messages in pieces, of a piece.
    pub size: usize,
    /// Whether each has a key of its own.
    pub rekeys: bool,
    /// Whether they lie in memory before, as a store's pages do, or in a cache.
    pub footprint: Footprint,
    /// How many; of messages in pieces, of pieces.
    pub count: u64,
    pub seconds: f64,
    /// Mean of one in the program, without the slowest.
    pub in_situ_ns: f64,
}

/// Kinds of messages that cannot be measured again.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct LeftOut {
    pub why: &'static str,
    pub kinds: usize,
    pub seconds: f64,
}

/// A program's messages, those with most time first.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Workload {
    pub messages: Vec<Messages>,
    pub left_out: Vec<LeftOut>,
}

/// What of a watched program can be measured again.
pub fn workload(calls: &Calls) -> Workload {
    let mut messages = BTreeMap::<_, Messages>::new();
    let mut left_out = BTreeMap::<&'static str, LeftOut>::new();
    let rows = CallCount::joined(calls.rows().cloned().collect());
    for row in rows.iter().filter(|row| is_work(row) && row.seconds > 0.0) {
        match as_messages(row) {
            Ok(one) => {
                let key = (one.called, one.algorithm, one.direction, one.size);
                let key = (key, one.rekeys, one.footprint);
                messages.entry(key).and_modify(|sum| sum.add(&one)).or_insert(one);
            }
            Err(why) => note(&mut left_out, why, row.seconds),
        }
    }
    let mut messages: Vec<Messages> = messages.into_values().collect();
    messages.sort_by(|a, b| b.seconds.total_cmp(&a.seconds));
    for rest in messages.drain(MOST_ROWS.min(messages.len())..) {
        note(&mut left_out, "are beyond the 24 with most time", rest.seconds);
    }
    Workload { messages, left_out: left_out.into_values().collect() }
}

fn note(left_out: &mut BTreeMap<&'static str, LeftOut>, why: &'static str, seconds: f64) {
    let one = left_out.entry(why).or_insert(LeftOut { why, kinds: 0, seconds: 0.0 });
    one.kinds += 1;
    one.seconds += seconds;
}

fn as_messages(row: &CallCount) -> Result<Messages, &'static str> {
    if !matches!(row.operation, CallOperation::Cipher | CallOperation::Digest | CallOperation::Mac)
    {
        return Err("are signatures, keys, random bytes and the like, which no model has");
    }
    let algorithm = Algorithm::find(&row.algorithm)
        .map_err(|_| "are of algorithms that are measured in no library")?;
    let direction = match row.direction {
        Some(CallDirection::Encrypt) => Direction::Encrypt,
        Some(CallDirection::Decrypt) => Direction::Decrypt,
        // Where a program sets a context up before `watch` sees it, as OpenSSL's TLS 1.2 does, it sends more often.
        None if row.operation == CallOperation::Cipher => Direction::Encrypt,
        None => Direction::Digest,
    };
    if !Direction::of(algorithm.kind).contains(&direction) || algorithm.kind == Kind::Derivation {
        return Err("are of algorithms that are measured in no library");
    }
    let is_in_pieces = row.pieces >= row.count.saturating_mul(2);
    if is_in_pieces && row.bytes < row.pieces.saturating_mul(LEAST_PIECE) {
        return Err("come in pieces of less than 1 KiB, and the models have whole messages");
    }
    let count = if is_in_pieces { row.pieces } else { row.count };
    let mean = (row.bytes / count.max(1)) as usize;
    // Padding is the program's or the library's: the message has whole blocks.
    let size =
        (mean..mean.saturating_add(16)).find(|size| *size > 0 && algorithm.sizes.allows(*size));
    let size = size.filter(|size| *size <= MAX_SIZE).ok_or("have a size that no model has")?;
    Ok(Messages {
        called: row.library,
        algorithm: algorithm.name,
        direction,
        size,
        rekeys: algorithm.key_len > 0 && row.keys as f64 >= EACH * row.count as f64,
        footprint: if row.looks >= LOOKS && row.far_ns >= FAR_NS {
            Footprint::Memory
        } else {
            Footprint::Hot
        },
        count,
        seconds: row.seconds,
        in_situ_ns: row.trimmed_ns * row.count as f64 / count.max(1) as f64,
    })
}

impl Messages {
    fn add(&mut self, more: &Self) {
        let sum = self.in_situ_ns * self.count as f64 + more.in_situ_ns * more.count as f64;
        self.count += more.count;
        self.seconds += more.seconds;
        self.in_situ_ns = sum / self.count.max(1) as f64;
    }

    /// What it is measured as: in a loop, and between other work.
    fn models(&self) -> [Model; 2] {
        if self.rekeys {
            [Model::Rekey, Model::BetweenRekey]
        } else {
            [Model::Message, Model::Between]
        }
    }

    /// What of a program's memory a model's messages have: in a loop none.
    fn footprint(&self, model: Model) -> Footprint {
        if model.is_between() { self.footprint } else { Footprint::Hot }
    }

    /// What else would do the same.
    fn alternatives(&self) -> impl Iterator<Item = &'static Algorithm> + '_ {
        let is_authenticated = AUTHENTICATED.contains(&self.algorithm);
        let others =
            AUTHENTICATED.iter().filter(move |name| is_authenticated && **name != self.algorithm);
        others.filter_map(|name| Algorithm::find(name).ok())
    }
}

impl Workload {
    /// The cases that answer, those of other algorithms too.
    pub fn cases(&self) -> Vec<PlannedCase> {
        let of = |one: &Messages| {
            let own = Algorithm::find(one.algorithm).ok();
            let (direction, size, models, one) =
                (one.direction, one.size, one.models(), one.clone());
            let algorithms: Vec<_> = own.into_iter().chain(one.alternatives()).collect();
            algorithms.into_iter().flat_map(move |algorithm| {
                let algorithm = algorithm.name.to_owned();
                models.map(|model| PlannedCase {
                    algorithm: algorithm.clone(),
                    direction,
                    model,
                    size,
                    tier: None,
                    libraries: None,
                    footprint: one.footprint(model),
                })
            })
        };
        let cases: BTreeSet<PlannedCase> = self.messages.iter().flat_map(of).collect();
        cases.into_iter().collect()
    }
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Prediction {
    pub programs: Vec<String>,
    pub cpu_seconds: f64,
    pub call_seconds: f64,
    /// Messages, signatures and the like.
    pub operations: u64,
    /// Kinds of messages that were measured in the build that the program used.
    pub rows: Vec<Measured>,
    pub left_out: Vec<LeftOut>,
    /// Most saved first.
    pub changes: Vec<Change>,
    /// Faults whose repair nothing here can price.
    pub unpriced: Vec<Fault>,
}

/// Messages of a kind in the build that the program used.
#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Measured {
    #[serde(flatten)]
    pub messages: Messages,
    pub library: LibraryId,
    pub hot_ns: Option<Estimate>,
    /// After other work.
    pub between_ns: Estimate,
    /// 0 as in a loop, 1 as after other work, more after sleep.
    pub coldness: f64,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
pub struct Change {
    #[serde(flatten)]
    pub what: What,
    pub saved_seconds: Estimate,
    /// Of the messages that it is about, the time in the program.
    pub seconds: f64,
    /// What it makes of each kind: place in `rows`, and new time over old.
    pub ratios: Vec<Ratio>,
    pub calls: u64,
    /// Kinds that it should be about and were not measured in it; they count as unchanged.
    pub unmeasured: usize,
    /// The gravest verdict on the secrets of what it puts in place: never that something depends on them.
    pub secrets: LeakVerdict,
}

#[derive(Clone, Debug, PartialEq, Serialize)]
#[serde(tag = "change", rename_all = "kebab-case")]
pub enum What {
    /// Another build in the place of the one that was used.
    Library {
        from: LibraryId,
        to: LibraryId,
        /// Whether the file has the same name, so that the loader takes one for the other.
        drops_in: bool,
    },
    Algorithm {
        from: &'static str,
        to: &'static str,
    },
    /// Calls that need not be; `at_most` where some have to stay.
    Repair {
        #[serde(flatten)]
        fault: Fault,
        at_most: bool,
    },
}

#[derive(Clone, Copy, Debug, PartialEq, Serialize)]
pub struct Ratio {
    pub row: usize,
    pub ratio: Estimate,
}

/// What changes would save a watched program, by a record of its messages.
pub fn predict(calls: &Calls, record: &Record) -> Result<Prediction, String> {
    let measured_on = record.host.cpu.kind();
    if !calls.cpu.contains(" family ") {
        return Err("the file of `watch` is of an earlier version, which kept the CPU's name alone: watch the \
                    program again"
            .to_owned());
    }
    if calls.cpu != measured_on {
        return Err(format!(
            "the program ran on {}, and the record is of {measured_on}, where builds may differ otherwise; \
             `ciphermark run --workload CALLS -o FILE` measures on the CPU on which it runs",
            calls.cpu
        ));
    }
    let all = programs(calls);
    let Workload { messages, left_out } = workload(calls);
    let mut left_out: BTreeMap<&'static str, LeftOut> =
        left_out.into_iter().map(|one| (one.why, one)).collect();
    let figures = Figures::of(record);
    let mut rows = Vec::new();
    for one in messages {
        let own = |called| record.libraries.iter().find(|library| is_build(called, library));
        let Some(library) = calls.libraries.get(one.called).and_then(own) else {
            note(&mut left_out, "are of a library's build that was not measured", one.seconds);
            continue;
        };
        match figures.measured(one, library) {
            Ok(measured) => rows.push(measured),
            Err(one) => {
                note(&mut left_out, "have no figure in the program's own build", one.seconds)
            }
        }
    }
    if rows.is_empty() && all.iter().all(|program| program.faults.is_empty()) {
        return Err(no_answer(&left_out));
    }
    let (mut changes, mut unpriced) = (swaps(&rows, record, &figures), Vec::new());
    changes.extend(algorithms(&rows, record, &figures));
    for fault in all.iter().flat_map(|program| program.faults.iter()) {
        match repair(fault) {
            Some(change) => changes.push(change),
            None => unpriced.push(fault.clone()),
        }
    }
    changes.sort_by(|a, b| b.saved_seconds.median.total_cmp(&a.saved_seconds.median));
    Ok(Prediction {
        programs: all.iter().map(|program| program.name.clone()).collect(),
        cpu_seconds: all.iter().map(|program| program.cpu_seconds).sum(),
        call_seconds: all.iter().map(|program| program.call_seconds).sum(),
        operations: all.iter().map(|program| program.operations).sum(),
        rows,
        left_out: left_out.into_values().collect(),
        changes,
        unpriced,
    })
}

fn no_answer(left_out: &BTreeMap<&'static str, LeftOut>) -> String {
    let most = left_out.values().max_by(|a, b| a.seconds.total_cmp(&b.seconds));
    let why = most.map_or_else(
        || "the program called nothing".to_owned(),
        |one| format!("its messages {}", one.why),
    );
    format!(
        "nothing to predict: {why}; `ciphermark run --workload CALLS -o FILE` measures what there is"
    )
}

/// Whether it is the build that was called into, by what its linker or its path says.
pub fn is_build(called: &CalledLibrary, library: &record::Library) -> bool {
    match &called.build_id {
        Some(id) => library.identity().own_file() == format!("build-id:{id}"),
        None => record::expanded(&library.path) == record::expanded(&called.path.to_string_lossy()),
    }
}

struct Figures<'r>(BTreeMap<(Direction, Model, Footprint, usize), Vec<Figure<'r>>>);

struct Figure<'r> {
    library: &'r LibraryId,
    algorithm: &'r str,
    /// From 0 where the core was busy all the time: it is a bound then.
    ns: Estimate,
}

impl<'r> Figures<'r> {
    fn of(record: &'r Record) -> Self {
        let is_plain = |m: &&Measurement| {
            m.state == State::Measured && m.tier == Tier::Native && m.threads == 1 && !m.in_place
        };
        let mut all = BTreeMap::<_, Vec<Figure<'_>>>::new();
        for m in record.measurements.iter().filter(is_plain) {
            let Some(ns) = m.ns_per_op else { continue };
            let ns = if m.contended { Estimate { low: 0.0, ..ns } } else { ns };
            let figure = Figure { library: &m.library, algorithm: &m.algorithm, ns };
            all.entry((m.direction, m.model, m.footprint, m.size)).or_default().push(figure);
        }
        Self(all)
    }

    fn get(
        &self,
        library: &LibraryId,
        algorithm: &str,
        messages: &Messages,
        model: Model,
    ) -> Option<Estimate> {
        let footprint = messages.footprint(model);
        let all = self.0.get(&(messages.direction, model, footprint, messages.size))?;
        let is_it = |f: &&Figure<'_>| f.library == library && f.algorithm == algorithm;
        all.iter().find(is_it).map(|figure| figure.ns)
    }

    fn measured(
        &self,
        messages: Messages,
        library: &record::Library,
    ) -> Result<Measured, Messages> {
        let library = library.identity();
        let [loops, between] = messages.models();
        let Some(between_ns) = self.get(&library, messages.algorithm, &messages, between) else {
            return Err(messages);
        };
        let hot_ns = self.get(&library, messages.algorithm, &messages, loops);
        let coldness = coldness(messages.in_situ_ns, hot_ns, between_ns);
        Ok(Measured { messages, library, hot_ns, between_ns, coldness })
    }

    /// New time over old, where another build or algorithm has a figure.
    fn ratio(&self, row: &Measured, library: &LibraryId, algorithm: &str) -> Option<Estimate> {
        let [loops, between] = row.messages.models();
        let new = Way {
            hot: self.get(library, algorithm, &row.messages, loops),
            between: self.get(library, algorithm, &row.messages, between)?,
        };
        let old = Way { hot: row.hot_ns, between: row.between_ns };
        Some(ratio(&old, &new, row.coldness))
    }
}

fn coldness(in_situ_ns: f64, hot: Option<Estimate>, between: Estimate) -> f64 {
    match hot {
        Some(hot) if between.median > hot.median => {
            ((in_situ_ns - hot.median) / (between.median - hot.median)).clamp(0.0, COLDEST)
        }
        _ => 1.0,
    }
}

/// What a message takes, from a loop to after other work.
struct Way {
    hot: Option<Estimate>,
    between: Estimate,
}

impl Way {
    /// At a coldness: the time, and half its interval as a part of it.
    fn at(&self, coldness: f64) -> (f64, f64) {
        let hot = self.hot.unwrap_or(self.between);
        let blend = |hot: f64, between: f64| hot * (1.0 - coldness) + between * coldness;
        let time = blend(hot.median, self.between.median);
        (time, blend(hot.half(), self.between.half()) / time)
    }
}

/// The interval spans what a new build can be that is a little colder or warmer than the old one was, and what both figures
/// and such a ratio may be off.
fn ratio(old: &Way, new: &Way, coldness: f64) -> Estimate {
    let at = |coldness: f64| {
        let ((old, old_part), (new, new_part)) = (old.at(coldness), new.at(coldness));
        (new / old, old_part.hypot(new_part).hypot(MISSED))
    };
    let (median, part) = at(coldness);
    let by = COLDER * coldness.max(1.0);
    let ends = [coldness - by, coldness + by].map(|c| at(c.max(0.0)).0);
    let low = ends.iter().fold(median, |low, end| low.min(*end)) * (1.0 - part);
    let high = ends.iter().fold(median, |high, end| high.max(*end)) * (1.0 + part);
    Estimate { median, low, high }
}

fn swaps(rows: &[Measured], record: &Record, figures: &Figures<'_>) -> Vec<Change> {
    let used: BTreeSet<&LibraryId> = rows.iter().map(|row| &row.library).collect();
    let builds: Vec<LibraryId> = record.libraries.iter().map(record::Library::identity).collect();
    let mut changes = Vec::new();
    for from in used {
        for to in builds.iter().filter(|to| to.id != from.id) {
            let drops_in = file_name(&from.path) == file_name(&to.path);
            let what = What::Library { from: from.clone(), to: to.clone(), drops_in };
            changes.extend(change(what, rows, record, figures, |row| {
                (row.library == *from).then_some((to, row.messages.algorithm))
            }));
        }
    }
    changes
}

fn file_name(path: &str) -> &str {
    path.rsplit('/').next().unwrap_or(path)
}

fn algorithms(rows: &[Measured], record: &Record, figures: &Figures<'_>) -> Vec<Change> {
    let used: BTreeSet<&'static str> = rows.iter().map(|row| row.messages.algorithm).collect();
    let mut changes = Vec::new();
    for from in used {
        let own = rows.iter().find(|row| row.messages.algorithm == from);
        for to in own.into_iter().flat_map(|row| row.messages.alternatives()) {
            let what = What::Algorithm { from, to: to.name };
            changes.extend(change(what, rows, record, figures, |row| {
                (row.messages.algorithm == from).then_some((&row.library, to.name))
            }));
        }
    }
    changes
}

/// A change of all rows that it makes something else of: another build or algorithm. None where that is measured in none of
/// them, or was wrong or depends on the secret in one.
fn change<'a>(
    what: What,
    rows: &'a [Measured],
    record: &Record,
    figures: &Figures<'_>,
    onto: impl Fn(&'a Measured) -> Option<(&'a LibraryId, &'static str)>,
) -> Option<Change> {
    let mut change = Change {
        what,
        saved_seconds: Estimate::exactly(0.0),
        seconds: 0.0,
        ratios: Vec::new(),
        calls: 0,
        unmeasured: 0,
        secrets: LeakVerdict::SameTrace,
    };
    for (place, row) in rows.iter().enumerate() {
        let Some((build, algorithm)) = onto(row) else { continue };
        change.secrets = change.secrets.max(secrets(record, build, algorithm)?);
        let seconds = row.messages.seconds;
        let Some(ratio) = figures.ratio(row, build, algorithm) else {
            change.unmeasured += 1;
            continue;
        };
        change.seconds += seconds;
        change.calls += row.messages.count;
        let saved = &mut change.saved_seconds;
        saved.median += seconds * (1.0 - ratio.median);
        // What is off in one kind is likely off the same way in the next.
        saved.low += seconds * (1.0 - ratio.high);
        saved.high += seconds * (1.0 - ratio.low);
        change.ratios.push(Ratio { row: place, ratio });
    }
    (!change.ratios.is_empty()).then_some(change)
}

/// Whether a build's algorithm depends on the secret; none where it does, or was wrong at any size and in any direction.
fn secrets(record: &Record, build: &LibraryId, algorithm: &str) -> Option<LeakVerdict> {
    let is_own =
        |m: &&Measurement| (&m.library, &*m.algorithm, m.tier) == (build, algorithm, Tier::Native);
    let has_secret = Algorithm::find(algorithm).is_ok_and(Algorithm::has_secret);
    let mut gravest = LeakVerdict::SameTrace;
    for m in record.measurements.iter().filter(is_own) {
        let is_wrong = matches!(m.state, State::Refused | State::Failed) && !m.is_left_out();
        let verdict = match record.leaks_of(m) {
            Some(leaks) => leaks.verdict,
            None if has_secret => LeakVerdict::NotJudged,
            None => LeakVerdict::SameTrace,
        };
        if is_wrong || verdict == LeakVerdict::Depends {
            return None;
        }
        gravest = gravest.max(verdict);
    }
    Some(gravest)
}

/// What calls that need not be took; none where it takes more than leaving them out.
fn repair(fault: &Fault) -> Option<Change> {
    let at_most = match fault.kind {
        FaultKind::Fetch | FaultKind::Context | FaultKind::Padding => false,
        // A new key has to be set, and a nonce for each message.
        FaultKind::Random | FaultKind::Key => true,
        FaultKind::Pieces | FaultKind::Software | FaultKind::Derivation => return None,
    };
    let seconds = fault.seconds;
    let low = if at_most { 0.0 } else { seconds };
    Some(Change {
        what: What::Repair { fault: fault.clone(), at_most },
        saved_seconds: Estimate { median: seconds, low, high: seconds },
        seconds,
        ratios: Vec::new(),
        calls: fault.count,
        unmeasured: 0,
        secrets: LeakVerdict::SameTrace,
    })
}

impl Change {
    /// New time over old, of all that it is about.
    pub fn ratio(&self) -> Estimate {
        let of = |saved: f64| 1.0 - saved / self.seconds.max(f64::MIN_POSITIVE);
        let Estimate { median, low, high } = self.saved_seconds;
        Estimate { median: of(median), low: of(high), high: of(low) }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use record::WatchedProcess;

    fn row(algorithm: &str, size: u64, count: u64, seconds: f64) -> CallCount {
        CallCount {
            operation: CallOperation::Cipher,
            algorithm: algorithm.to_owned(),
            direction: Some(CallDirection::Encrypt),
            size: [size, size],
            count,
            bytes: size * count,
            pieces: count,
            seconds,
            trimmed_ns: seconds / count as f64 * 1e9,
            ..CallCount::default()
        }
    }

    fn watched(rows: Vec<CallCount>) -> Calls {
        Calls {
            cpu: record::Cpu::default().kind(),
            libraries: vec![CalledLibrary {
                path: "/lib/libcrypto.so.3".into(),
                build_id: Some("aa".to_owned()),
                ..CalledLibrary::default()
            }],
            processes: vec![WatchedProcess {
                program: "/usr/sbin/nginx".into(),
                cpu_seconds: 1.0,
                rows,
                ..WatchedProcess::default()
            }],
            ..Calls::default()
        }
    }

    /// Two builds, the second of which takes half as long, each in a loop and after other work.
    fn record(messages: &Workload) -> Record {
        let mut record = Record::default();
        for (name, id, factor) in [("old", "build-id:aa", 1.0), ("new", "build-id:bb", 0.5)] {
            let library = record::Library {
                name: name.to_owned(),
                id: id.to_owned(),
                path: "/lib/libcrypto.so.3".to_owned(),
                ..record::Library::default()
            };
            for case in messages.cases() {
                let ns = factor * if case.model.is_between() { 2000.0 } else { 1000.0 };
                let blank =
                    Measurement::blank(library.identity(), &case.algorithm, State::Measured);
                record.measurements.push(Measurement {
                    direction: case.direction,
                    model: case.model,
                    size: case.size,
                    footprint: case.footprint,
                    ns_per_op: Some(Estimate { median: ns, low: 0.99 * ns, high: 1.01 * ns }),
                    ..blank
                });
            }
            record.libraries.push(library);
        }
        record
    }

    fn change(all: &Prediction, is: impl Fn(&What) -> bool) -> &Change {
        all.changes.iter().find(|change| is(&change.what)).unwrap()
    }

    #[test]
    fn time_in_the_program_is_scaled_and_no_loop_is_multiplied() {
        // Four times as slow as in a loop: the program's own time counts.
        let calls = watched(vec![row("aes-256-gcm", 1024, 50_000, 0.2)]);
        let all = predict(&calls, &record(&workload(&calls))).unwrap();
        assert_eq!(all.rows[0].coldness, 3.0);
        let swap = change(&all, |what| matches!(what, What::Library { drops_in: true, .. }));
        let Estimate { median, low, high } = swap.saved_seconds;
        assert!((median - 0.1).abs() < 1e-9 && low < median && median < high, "{swap:?}");
        assert_eq!(swap.unmeasured, 0);
        let same = change(&all, |what| matches!(what, What::Algorithm { to: "aes-128-gcm", .. }));
        assert!(same.saved_seconds.median.abs() < 1e-9, "it takes as long here");
    }

    #[test]
    fn a_change_that_is_measured_for_some_kinds_leaves_the_others_as_they_are() {
        let rows = vec![row("aes-256-gcm", 1024, 1000, 0.1), row("aes-256-gcm", 64, 1000, 0.3)];
        let calls = watched(rows);
        let mut record = record(&workload(&calls));
        record.measurements.retain(|m| m.library.name == "old" || m.size == 1024);
        let all = predict(&calls, &record).unwrap();
        let swap = change(&all, |what| matches!(what, What::Library { .. }));
        assert_eq!((swap.unmeasured, swap.ratios.len(), swap.calls), (1, 1, 1000));
        assert!((swap.saved_seconds.median - 0.05).abs() < 1e-9, "{swap:?}");
    }

    #[test]
    fn what_no_model_has_is_counted_with_its_time_and_its_reason() {
        let mut pieces = row("sha256", 1 << 20, 10, 0.5);
        (pieces.operation, pieces.direction, pieces.pieces) =
            (CallOperation::Digest, None, 1 << 20);
        let mut signature = row("rsa-2048", 32, 10, 0.25);
        signature.operation = CallOperation::Sign;
        let of = workload(&watched(vec![
            pieces,
            signature,
            row("gost89", 64, 10, 0.125),
            row("aes-128-cbc", 100, 10, 0.1),
        ]));
        let left: Vec<(usize, f64)> =
            of.left_out.iter().map(|one| (one.kinds, one.seconds)).collect();
        assert_eq!(left.iter().map(|(_, seconds)| seconds).sum::<f64>(), 0.875);
        assert_eq!(left.len(), 3, "{:?}", of.left_out);
        assert_eq!(of.messages[0].size, 112, "whole blocks");
    }

    #[test]
    fn a_long_message_in_large_pieces_is_as_many_messages() {
        let mut long = row("aes-128-ctr", 1 << 20, 4, 0.4);
        long.pieces = 4 * 32;
        let of = workload(&watched(vec![long]));
        let one = &of.messages[0];
        assert_eq!((one.size, one.count), (32 << 10, 128));
        assert!((one.in_situ_ns - 0.4 / 128.0 * 1e9).abs() < 1.0, "{one:?}");
    }

    #[test]
    fn messages_that_were_found_in_memory_are_measured_there() {
        use Footprint::{Hot, Memory};
        for (looks, far_ns, footprint) in [(100, 90.0, Memory), (100, 9.0, Hot), (3, 90.0, Hot)] {
            let far = CallCount { looks, far_ns, ..row("aes-128-ctr", 16_384, 1000, 0.1) };
            let calls = watched(vec![far]);
            let messages = workload(&calls);
            let cases = messages.cases().into_iter().map(|case| (case.model, case.footprint));
            let expected = [(Model::Message, Hot), (Model::Between, footprint)];
            assert_eq!(cases.collect::<Vec<_>>(), expected);
            let all = predict(&calls, &record(&messages)).unwrap();
            assert_eq!(all.rows[0].between_ns.median, 2000.0);
        }
    }

    #[test]
    fn a_build_that_was_not_measured_gets_no_price() {
        let calls = watched(vec![row("aes-256-gcm", 1024, 1000, 0.1)]);
        let mut record = record(&workload(&calls));
        record.libraries.remove(0);
        let why = predict(&calls, &record).unwrap_err();
        assert!(why.contains("run --workload"), "{why}");
    }

    #[test]
    fn a_record_of_another_cpu_predicts_nothing() {
        let calls = watched(vec![row("aes-256-gcm", 1024, 1000, 0.1)]);
        let mut record = record(&workload(&calls));
        // Virtual machines give one name to CPUs of many years.
        record.host.cpu.model = 207;
        let why = predict(&calls, &record).unwrap_err();
        assert!(why.contains(" model 207 "), "{why}");
    }

    #[test]
    fn a_swap_says_what_is_known_of_its_secrets_and_none_is_made_into_what_depends_on_them_or_was_wrong()
     {
        let calls = watched(vec![row("aes-256-gcm", 1024, 1000, 0.1)]);
        let mut record = record(&workload(&calls));
        let to = record.libraries[1].identity();
        let swap = |record: &Record| {
            let all = predict(&calls, record).unwrap();
            let is_swap = |one: &&Change| matches!(one.what, What::Library { .. });
            all.changes.iter().find(is_swap).map(|one| one.secrets)
        };
        assert_eq!(swap(&record), Some(LeakVerdict::NotJudged));
        for (verdict, expected) in [
            (LeakVerdict::SameTrace, Some(LeakVerdict::SameTrace)),
            (LeakVerdict::MayDepend, Some(LeakVerdict::MayDepend)),
            (LeakVerdict::Depends, None),
        ] {
            let judged = record::Leaks {
                library: to.clone(),
                algorithm: "aes-256-gcm".to_owned(),
                verdict,
                secrets: 8,
                ..record::Leaks::default()
            };
            record.leaks.push(judged);
            assert_eq!(swap(&record), expected, "{verdict:?}");
        }
        record.leaks.clear();
        let mut wrong = record.measurements.last().unwrap().clone();
        (wrong.size, wrong.state, wrong.ns_per_op) = (4096, State::Refused, None);
        wrong.algorithm = "aes-256-gcm".to_owned();
        record.measurements.push(wrong);
        assert_eq!(swap(&record), None);
    }

    #[test]
    fn what_a_repair_saves_was_measured_in_the_calls() {
        let fetch = CallCount {
            operation: CallOperation::Fetch,
            direction: None,
            ..row("aes-256-gcm", 0, 1000, 0.02)
        };
        let calls = watched(vec![row("aes-256-gcm", 1024, 1000, 0.1), fetch]);
        let all = predict(&calls, &record(&workload(&calls))).unwrap();
        let repair = change(&all, |what| matches!(what, What::Repair { at_most: false, .. }));
        assert_eq!(repair.saved_seconds.median, 0.02);
    }
}
