//! Measurements sorted into what a ranked table shows: sections, rows, cells. And what they cost beyond the
//! bytes: fitted lines, key set-up, latencies, threads, a language's runtime.

use crate::labels::{self, Libraries, part};
use base::model::{Algorithm, Direction, Footprint, Kind, Model, Tier};
use base::text::{ALARM, CAUTION, Cell, Column, HEADING, Options, PLAIN, Table, clean, paint};
use judge::compare::REFERENCE_SIZE;
use record::{Call, Fit, Library, LibraryId, Measurement, Record, Rekeying, State, Stopped};
use std::cmp::Ordering;
use std::collections::{BTreeMap, BTreeSet};

/// Everything that a ranked table shows of a selection.
pub(crate) struct Survey<'a> {
    pub(crate) sizes: Vec<usize>,
    /// The size at which rows are ranked.
    pub(crate) reference: usize,
    /// In the order in which they are shown.
    pub(crate) sections: Vec<Section<'a>>,
    /// What the harness itself costs, by model.
    pub(crate) null: BTreeMap<Model, &'a Measurement>,
    pub(crate) libraries: Libraries<'a>,
}

/// What the rows of a section have in common, in the order in which sections are shown.
#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct Common {
    tier: Tier,
    threads: u32,
    footprint: Footprint,
    in_place: bool,
    // What an application does comes first.
    order: u8,
    pub(crate) model: Model,
    group: Group,
}

#[derive(Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Group {
    Encrypt,
    Decrypt,
    Digests,
    Random,
    Baselines,
}

/// Rows that can be compared with each other, the fastest first.
pub(crate) struct Section<'a> {
    pub(crate) common: Common,
    pub(crate) rows: Vec<Row<'a>>,
}

pub(crate) struct Row<'a> {
    /// The line through its times, where there is one.
    pub(crate) fit: Option<&'a Fit>,
    pub(crate) algorithm: String,
    pub(crate) library: String,
    /// The sign of what depends on secrets, behind the library's name.
    pub(crate) secret: &'static str,
    /// What must stand beside the algorithm.
    pub(crate) warning: Option<String>,
    pub(crate) cells: BTreeMap<usize, &'a Measurement>,
    pub(crate) record: &'a Record,
}

/// What stands where the time was over before there was a number.
pub(crate) const LEFT_OUT: &str = "…";

pub(crate) struct Problem {
    pub(crate) state: State,
    /// Sizes; empty when it is all of the row.
    pub(crate) sizes: Vec<usize>,
    pub(crate) reason: String,
}

impl<'a> Survey<'a> {
    pub(crate) fn of(record: &'a Record, selection: &[&'a Measurement]) -> Self {
        let libraries = Libraries::of(selection);
        let has_bytes = |m: &&Measurement| !is_null(m) && !is_operation(m);
        let shown: Vec<&Measurement> = selection.iter().copied().filter(has_bytes).collect();
        let mut sizes: Vec<usize> = shown.iter().map(|m| m.size).collect();
        sizes.sort_unstable();
        sizes.dedup();
        let largest = sizes.last().copied().unwrap_or_default();
        let reference = if sizes.contains(&REFERENCE_SIZE) { REFERENCE_SIZE } else { largest };
        let sections = sections(&shown, reference, &libraries, record);
        Self { sizes, reference, sections, null: null_costs(selection), libraries }
    }
}

/// A measured null operation is no row: it moves no bytes, so it has no speed.
fn is_null(m: &Measurement) -> bool {
    let null = Algorithm::find(&m.algorithm).is_ok_and(|a| a.kind == Kind::Null);
    null && matches!(m.state, State::Measured | State::Unsupported)
}

/// Whether it is of signatures, key exchanges or key derivations, which have a table of their own.
pub(crate) fn is_operation(m: &Measurement) -> bool {
    !m.model.has_bytes() && m.state == State::Imported || cost(m).is_some()
}

fn cost(m: &Measurement) -> Option<String> {
    let algorithm = Algorithm::find(&m.algorithm).ok()?;
    let unit = algorithm.cost_unit()?;
    Some(match unit {
        "bytes of memory" => labels::size(m.size),
        _ => format!("{} {unit}", m.size),
    })
}

/// Operations that have no bytes: of each the fastest first.
pub(crate) fn operations(selection: &[&Measurement]) -> Option<Table> {
    let libraries = Libraries::of(selection);
    let is_shown = |m: &&Measurement| is_operation(m) && (m.ns_per_op.is_some() || is_bad(m));
    let mut rows: Vec<&Measurement> = selection.iter().copied().filter(is_shown).collect();
    let ns = |m: &Measurement| m.ns_per_op.map_or(f64::INFINITY, |e| e.median);
    let name = |m: &Measurement| (m.algorithm.clone(), m.size);
    rows.sort_by(|a, b| name(a).cmp(&name(b)).then(ns(a).total_cmp(&ns(b))));
    let row = |m: &&Measurement| {
        let reason = m.reason.as_deref().filter(|_| is_doubted(m) || is_bad(m)).map(clean);
        let several = (m.threads > 1).then(|| format!("{} processes", m.threads));
        let per_second = 1e9 * f64::from(m.threads) / ns(m);
        // Nobody knows how uncertain a figure from elsewhere is.
        let interval = m.ns_per_op.filter(|_| m.state == State::Measured);
        let supported = |value| labels::supported(value, interval.as_ref());
        let [time, per_second] = match is_bad(m) {
            true => [Cell::new(shout(m.state), ALARM), Cell::plain("")],
            false => [
                Cell::number(format!("{}{}", mark_of_time(m), supported(ns(m) / 1e3)), CAUTION),
                Cell::number(format!("{}{}", mark(m), supported(per_second)), PLAIN),
            ],
        };
        vec![
            Cell::plain(match cost(m) {
                Some(cost) => format!("{} {cost}", clean(&m.algorithm)),
                None => clean(&m.algorithm),
            }),
            Cell::plain(libraries.label(&m.library).to_owned()),
            time,
            per_second,
            Cell::plain(several.into_iter().chain(reason).collect::<Vec<_>>().join("; ")),
        ]
    };
    let columns = vec![
        Column::left("operation"),
        Column::left("library"),
        Column::point("µs each"),
        Column::point("a second").goes(1),
        Column::left("").goes(2),
    ];
    (!rows.is_empty()).then(|| Table::new(columns, rows.iter().map(row).collect()))
}

/// The smallest size's: the cost does not depend on it.
fn null_costs<'a>(selection: &[&'a Measurement]) -> BTreeMap<Model, &'a Measurement> {
    let mut costs: BTreeMap<Model, &Measurement> = BTreeMap::new();
    for m in selection.iter().filter(|m| is_null(m) && m.state == State::Measured) {
        let kept = costs.entry(m.model).or_insert(m);
        if (m.tier, m.size) < (kept.tier, kept.size) {
            *kept = m;
        }
    }
    costs
}

fn sections<'a>(
    shown: &[&'a Measurement],
    reference: usize,
    libraries: &Libraries<'a>,
    record: &'a Record,
) -> Vec<Section<'a>> {
    type Rows<'a> = BTreeMap<(&'a LibraryId, &'a str, Direction), BTreeMap<usize, &'a Measurement>>;
    let mut found: BTreeMap<Common, Rows<'_>> = BTreeMap::new();
    for m in shown.iter().copied() {
        let row = (&m.library, m.algorithm.as_str(), m.direction);
        let rows = found.entry(Common::of(m)).or_default();
        rows.entry(row).or_default().insert(m.size, m);
    }
    let sections = found.into_iter().map(|(common, rows)| {
        let rows = rows.into_values().filter(|cells| !all_unsupported(cells));
        // Above the tables it is said how many there was no time for.
        let rows = rows.filter(|cells| !cells.values().all(|m| m.is_left_out()));
        let mut rows: Vec<Row<'_>> =
            rows.filter_map(|cells| Row::of(cells, libraries, record)).collect();
        rows.sort_by(|a, b| a.rank(b, reference));
        Section { common, rows }
    });
    sections.filter(|s| !s.rows.is_empty()).collect()
}

/// Such rows are summed up below the tables.
pub(crate) fn all_unsupported(cells: &BTreeMap<usize, &Measurement>) -> bool {
    cells.values().all(|m| m.state == State::Unsupported)
}

impl Common {
    pub(crate) fn of(m: &Measurement) -> Self {
        Self {
            tier: m.tier,
            threads: m.threads,
            footprint: m.footprint,
            in_place: m.in_place,
            order: match m.model {
                Model::Message => 0,
                Model::Rekey => 1,
                Model::Forgery => 2,
                Model::Between => 3,
                Model::BetweenRekey => 4,
                Model::Stream => 5,
                Model::Handshake | Model::Records | Model::Primitive | Model::Page => 6,
            },
            model: m.model,
            group: match m.direction {
                Direction::Encrypt => Group::Encrypt,
                Direction::Decrypt => Group::Decrypt,
                Direction::Digest => Group::Digests,
                Direction::Generate => Group::Random,
                Direction::Copy => Group::Baselines,
                // Tables of their own show these: `tls::render`.
                Direction::Server | Direction::Send | Direction::Whole => Group::Encrypt,
                Direction::Client | Direction::Receive | Direction::Call => Group::Decrypt,
            },
        }
    }
}

impl Section<'_> {
    /// `encrypt, model message, tier native`.
    pub(crate) fn title(&self) -> String {
        let common = &self.common;
        let what = match common.group {
            Group::Encrypt => "encrypt",
            Group::Decrypt => "decrypt",
            Group::Digests => "digests, checksums and MACs",
            Group::Random => "random bytes",
            Group::Baselines => "baselines",
        };
        format!("{what}, {}", common.words())
    }
}

impl Common {
    /// `model message, tier native`, and what is not as usual.
    pub(crate) fn words(&self) -> String {
        let mut words = format!("model {}, tier {}", self.model, self.tier);
        if !self.footprint.is_hot() {
            words += &format!(", footprint {}", self.footprint);
        }
        if self.in_place {
            words += ", in place";
        }
        if self.threads > 1 {
            words += &format!(", {} threads", self.threads);
        }
        words
    }
}

impl<'a> Row<'a> {
    fn of(
        cells: BTreeMap<usize, &'a Measurement>,
        libraries: &Libraries<'a>,
        record: &'a Record,
    ) -> Option<Self> {
        let any = *cells.values().next()?;
        Some(Self {
            fit: line_of(record, cells.values().copied()),
            algorithm: clean(&any.algorithm),
            library: libraries.label(&any.library).to_owned(),
            secret: crate::leaks::mark(record.leaks_of(any).map(|l| l.verdict)),
            warning: labels::warning(any),
            cells,
            record,
        })
    }

    /// The library's name in so many columns, with the sign of what depends on secrets.
    pub(crate) fn library(&self, columns: usize) -> String {
        base::text::clip(&self.library, columns.saturating_sub(base::text::width(self.secret)))
            + self.secret
    }

    pub(crate) fn measured(&self, size: usize) -> Option<&'a Measurement> {
        self.cells.get(&size).copied().filter(|m| m.state == State::Measured)
    }

    pub(crate) fn has_number(&self) -> bool {
        self.cells.values().any(|m| m.state.has_number())
    }

    /// Faster first. Rows without the reference size follow, by their largest size; then those
    /// with imported figures only, which nothing vouches for; then those without a number.
    fn rank(&self, other: &Self, reference: usize) -> Ordering {
        let speed = |row: &Self| {
            let at_reference = row.measured(reference);
            let largest = || row.cells.keys().rev().find_map(|size| row.measured(*size));
            let speed = at_reference.or_else(largest).and_then(|m| m.mb_per_s);
            (at_reference.is_some(), speed.unwrap_or(f64::NEG_INFINITY))
        };
        let ((at, speed), (other_at, other_speed)) = (speed(self), speed(other));
        let names = (&self.algorithm, &self.library).cmp(&(&other.algorithm, &other.library));
        let without_number = self.has_number().cmp(&other.has_number()).reverse();
        other_at.cmp(&at).then(other_speed.total_cmp(&speed)).then(without_number).then(names)
    }

    /// Why cells have no number, each reason once.
    pub(crate) fn problems(&self) -> Vec<Problem> {
        let bad = |m: &&Measurement| is_bad(m) || is_doubted(m);
        let mut sizes: BTreeMap<(State, String), Vec<usize>> = BTreeMap::new();
        for m in self.cells.values().copied().filter(bad) {
            let reason = clean(m.reason.as_deref().unwrap_or("no reason given"));
            sizes.entry((m.state, reason)).or_default().push(m.size);
        }
        let whole = sizes.len() == 1 && !self.has_number();
        let problem = |((state, reason), sizes)| Problem {
            state,
            reason,
            sizes: if whole { Vec::new() } else { sizes },
        };
        sizes.into_iter().map(problem).collect()
    }
}

impl Problem {
    /// `REFUSED at 16, 8K: round trip: byte 3 differs`.
    pub(crate) fn text(&self) -> String {
        let sizes: BTreeSet<usize> = self.sizes.iter().copied().collect();
        let sizes: Vec<String> = sizes.into_iter().map(labels::size).collect();
        let at = if sizes.is_empty() { String::new() } else { format!(" at {}", sizes.join(", ")) };
        let what = match self.state {
            State::Imported => "NOT TO BE BELIEVED".to_owned(),
            state => shout(state),
        };
        format!("{what}{at}: {}", self.reason)
    }
}

/// Whether a check, or the library, failed: what there was no time for is no fault of anything.
pub(crate) fn is_bad(m: &Measurement) -> bool {
    matches!(m.state, State::Refused | State::Failed) && !m.is_left_out()
}

/// The state so that nobody overlooks it.
pub(crate) fn shout(state: State) -> String {
    state.name().to_uppercase()
}

/// Whether the case is short of the asked precision.
pub(crate) fn is_rough(m: &Measurement) -> bool {
    m.state == State::Measured && (m.stopped != Some(Stopped::Precision) || m.reason.is_some())
}

/// Whether a figure from elsewhere is not to be believed.
pub(crate) fn is_doubted(m: &Measurement) -> bool {
    m.state == State::Imported && m.reason.is_some()
}

/// The sign before a figure from elsewhere that is not to be believed.
pub(crate) const DOUBTED: &str = "†?";

/// The sign before a speed: `†` where it comes from elsewhere and nothing was checked, `†?` where it is not to be
/// believed either; `>` where only a busy core was seen, so that the library is at least so fast, else `~` where the
/// asked precision was not reached.
pub fn mark(m: &Measurement) -> &'static str {
    match (m.state, m.contended, is_rough(m)) {
        (State::Imported, _, _) if is_doubted(m) => DOUBTED,
        (State::Imported, _, _) => "†",
        (_, true, _) => ">",
        (_, false, true) => "~",
        (_, false, false) => "",
    }
}

/// As [`mark`], before a time: what is at least so fast takes at most so long.
pub(crate) fn mark_of_time(m: &Measurement) -> &'static str {
    if m.contended { "<" } else { mark(m) }
}

/// Cases that differ in their size only.
type Series<'a> = (Common, &'a LibraryId, &'a str, Direction);

/// The line through the times of a series; through bounds there is none.
fn line_of<'a>(
    record: &'a Record,
    mut cells: impl Iterator<Item = &'a Measurement> + Clone,
) -> Option<&'a Fit> {
    let any = cells.clone().next()?;
    let fit = record.fits.iter().find(|fit| is_of(fit, any))?;
    (!cells.any(|m| m.contended)).then_some(fit)
}

/// A paragraph for each series of measured cases of a selection.
pub fn costs(record: &Record, selection: &[&Measurement], options: Options) -> String {
    let libraries = Libraries::of(selection);
    let mut found: BTreeMap<Series<'_>, BTreeMap<usize, &Measurement>> = BTreeMap::new();
    for m in selection.iter().filter(|m| m.state == State::Measured) {
        let series = (Common::of(m), &m.library, m.algorithm.as_str(), m.direction);
        found.entry(series).or_default().insert(m.size, m);
    }
    let mut out = String::new();
    for ((common, library, algorithm, direction), cells) in found {
        let name = libraries.label(library);
        let head = format!("{name} {} {direction}, {}", clean(algorithm), common.words());
        out += &format!("{}\n", paint(&head, HEADING, options.color));
        let any = cells.values().next().copied();
        let fit = line_of(record, cells.values().copied());
        let no_line = || match cells.values().any(|m| m.contended) {
            true => "not fitted: of some sizes only a busy core was seen".to_owned(),
            false => format!("not fitted: {} sizes, and a line takes three", cells.len()),
        };
        out += &part("line", &fit.map_or_else(no_line, line), PLAIN, options);
        if let Some(runtime) = any.and_then(|m| runtime(record, m)) {
            let tax = match fit {
                Some(fit) => runtime_tax(record, fit, runtime),
                None => cells.values().filter_map(|m| tax_at_a_size(record, m, runtime)).collect(),
            };
            let remarks: BTreeSet<&String> = cells.values().flat_map(|m| &m.remarks).collect();
            for text in tax.iter().chain(remarks) {
                out += &part("tax", &clean(text), PLAIN, options);
            }
        }
        if fit.is_some_and(|fit| !fit.linear) {
            let text = "the times do not lie on a line: neither number describes any size well";
            out += &part("", text, CAUTION, options);
        }
        if let Some(call) = any.and_then(|m| call(record, m)).filter(|_| common.model.rekeys()) {
            out += &part("new key", &rekeying(call), PLAIN, options);
        }
        for m in cells.values() {
            for (what, text) in [
                ("settling", settling(m)),
                (
                    "kinds",
                    m.kinds_in_words().map(|kinds| format!("{}: {kinds}", labels::size(m.size))),
                ),
                ("key set-up", key(m)),
                ("latency", latency(m)),
                ("threads", threads(m)),
            ] {
                out += &text.map_or_else(String::new, |text| part(what, &text, PLAIN, options));
            }
        }
        out.push('\n');
    }
    out
}

fn runtime<'a>(record: &'a Record, m: &Measurement) -> Option<&'a record::Library> {
    let own = record.libraries.iter().find(|l| l.identity() == m.library)?;
    base::model::runtime_name(std::path::Path::new(&own.path)).map(|_| own)
}

/// Whether the line goes through the measurement.
pub fn is_of(fit: &Fit, m: &Measurement) -> bool {
    let of_fit = (&fit.library, &fit.algorithm, fit.direction, fit.model, fit.tier);
    of_fit == (&m.library, &m.algorithm, m.direction, m.model, m.tier)
        && (fit.threads, fit.footprint, fit.in_place) == (m.threads, m.footprint, m.in_place)
}

fn call<'a>(record: &'a Record, m: &Measurement) -> Option<&'a Call> {
    let own = record.libraries.iter().find(|l| l.identity() == m.library)?;
    own.calls.iter().find(|c| (&c.algorithm, c.direction) == (&m.algorithm, m.direction))
}

/// When a new process has come to its speed, and what its first operation costs.
fn settling(m: &Measurement) -> Option<String> {
    let (settled, ns) = (m.settled?, m.ns_per_op?);
    let raised =
        if settled.raised { ", as processes that ran it for longer have shown" } else { "" };
    Some(format!(
        "{}: settles after {}{raised}; the first operation costs {}, the settled one {}",
        labels::size(m.size),
        time(f64::from(settled.us) * 1e3),
        time(settled.first_ns),
        time(ns.median),
    ))
}

/// Nanoseconds with three digits, in the unit that fits.
fn time(ns: f64) -> String {
    let (value, unit) = match ns {
        ..1e3 => (ns, "ns"),
        ..1e6 => (ns / 1e3, "µs"),
        _ => (ns / 1e6, "ms"),
    };
    format!("{} {unit}", labels::supported(value, None))
}

/// `96.1 ns + 0.125 ns/B (355 + 0.462 cycles), residual 3.1 %, half speed at 769 B, 16 B to 64 KiB`
fn line(fit: &Fit) -> String {
    let number = |value| labels::supported(value, None);
    let sign = |value: f64| if value < 0.0 { "-" } else { "" };
    let signed = |value: f64| format!("{}{}", sign(value), number(value.abs()));
    let mut text = format!("{} ns + {} ns/B", signed(fit.ns_per_message), signed(fit.ns_per_byte));
    if let Some((message, byte)) = fit.cycles_per_message.zip(fit.cycles_per_byte) {
        text += &format!(" ({} + {} cycles)", signed(message), signed(byte));
    }
    text += &format!(", largest residual {:.1} %", fit.residual * 100.0);
    if let Some(bytes) = fit.half_speed_bytes {
        text += &format!(", half speed at {bytes:.0} B");
    }
    if let (Some(first), Some(last)) = (fit.sizes.first(), fit.sizes.last()) {
        text += &format!(", sizes {} to {}", labels::size(*first), labels::size(*last));
    }
    text
}

fn rekeying(call: &Call) -> String {
    let functions = call.rekey_functions.as_deref();
    match call.rekeying {
        Some(Rekeying::Reused) => {
            let what = functions.unwrap_or("the adapter does not tell its functions");
            format!("the library's context is used again: {what}")
        }
        _ => "opened anew for each message and closed after it".to_owned(),
    }
}

fn key(m: &Measurement) -> Option<String> {
    let setup = m.key_setup?;
    let cycles = setup.cycles.map(|c| format!(" ({c:.0} cycles)")).unwrap_or_default();
    Some(format!("{}: {:.1} ns{cycles}, model rekey less message", labels::size(m.size), setup.ns))
}

fn latency(m: &Measurement) -> Option<String> {
    let l = m.latency_ns.as_ref()?;
    let tail = |name, value: Option<f64>| {
        value.map(|ns| format!(", {name} {ns:.0} ns")).unwrap_or_default()
    };
    Some(format!(
        "{}: p50 {:.0} ns{}{}, {} operations in steps of {:.0} ns",
        labels::size(m.size),
        l.p50,
        tail("p99", l.p99),
        tail("p99.9", l.p99_9),
        l.operations,
        l.resolution_ns
    ))
}

fn threads(m: &Measurement) -> Option<String> {
    let all = m.mb_per_s.filter(|_| !m.per_thread.is_empty())?;
    let each = m.per_thread.iter().map(|t| {
        let speed = t.mb_per_s.map(|s| labels::supported(s, None)).unwrap_or_default();
        format!("CPU {} {speed}", t.cpu)
    });
    let each: Vec<String> = each.collect();
    let total = labels::supported(all, m.ns_per_op.as_ref());
    Some(format!("{}: {total} MB/s together; {}", labels::size(m.size), each.join(", ")))
}

// What a language's runtime adds to the same work in C: by the line through the sizes of both.

/// One line for each library that the runtime is compared with: the very libcrypto that is under it, where the record has
/// it, and the fastest of those that are called from C.
pub(crate) fn runtime_tax(record: &Record, fit: &Fit, runtime: &Library) -> Vec<String> {
    let of_series = |other: &&Fit| {
        let series = |f: &Fit| {
            (f.algorithm.clone(), f.direction, f.model, f.tier, f.threads, f.footprint, f.in_place)
        };
        series(other) == series(fit)
    };
    let library = |f: &Fit| record.libraries.iter().find(|l| l.identity() == f.library);
    let in_c = |other: &&Fit| {
        library(other).is_some_and(|l| !base::model::runs_elsewhere(std::path::Path::new(&l.path)))
    };
    let others: Vec<&Fit> = record.fits.iter().filter(of_series).filter(in_c).collect();
    let same = others.iter().find(|other| library(other).is_some_and(|l| is_under(runtime, l)));
    let fastest = others.iter().min_by(|a, b| largest(record, a).total_cmp(&largest(record, b)));
    let mut lines: Vec<String> = same
        .and_then(|other| words(record, fit, other, "the same release of libcrypto"))
        .into_iter()
        .collect();
    if let Some(other) = fastest.filter(|f| same.is_none_or(|s| s.library != f.library)) {
        lines.extend(words(record, fit, other, "the fastest from C at its largest size"));
    }
    lines
}

/// The same of one size, where no line goes through several: over the libcrypto that is under it, else over the fastest.
fn tax_at_a_size(record: &Record, m: &Measurement, runtime: &Library) -> Option<String> {
    let of = |id: &LibraryId| record.libraries.iter().find(|l| l.identity() == *id);
    let case = |m: &Measurement| {
        let of_case = (m.algorithm.clone(), m.direction, m.model, m.size, m.tier);
        (of_case, m.threads, m.footprint, m.in_place)
    };
    // Of a busy core a time is a bound.
    if m.contended {
        return None;
    }
    let in_c = |other: &&Measurement| {
        case(other) == case(m)
            && other.ns_per_op.is_some()
            && !other.contended
            && of(&other.library)
                .is_some_and(|l| !base::model::runs_elsewhere(std::path::Path::new(&l.path)))
    };
    let others: Vec<&Measurement> = record.measurements.iter().filter(in_c).collect();
    let time = |m: &Measurement| m.ns_per_op.map_or(f64::MAX, |e| e.median);
    let same = others.iter().find(|o| of(&o.library).is_some_and(|l| is_under(runtime, l)));
    let fastest = others.iter().min_by(|a, b| time(a).total_cmp(&time(b)));
    let (other, why) = match same {
        Some(same) => (same, "the same release of libcrypto"),
        None => (fastest?, "the fastest from C"),
    };
    let (own, beside) = (time(m), time(other));
    let sign = if own < beside { '-' } else { '+' };
    Some(format!(
        "{}: over {}@{} ({why}): {sign}{} ns, {:.2} times as long",
        labels::size_with_unit(m.size),
        clean(&other.library.name),
        clean(&other.library.version),
        labels::supported((own - beside).abs(), None),
        own / beside
    ))
}

/// Whether the runtime says that this library's version is under it.
fn is_under(runtime: &Library, library: &Library) -> bool {
    let openssl = format!("OpenSSL {}", library.version);
    let ends = |text: &str| {
        text.strip_prefix(&openssl)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.'))
    };
    let said = |fact: &String| fact.match_indices("OpenSSL ").any(|(at, _)| ends(&fact[at..]));
    library.name.starts_with("openssl") && runtime.build.iter().any(said)
}

/// Nanoseconds of the series' largest size.
fn largest(record: &Record, fit: &Fit) -> f64 {
    let size = fit.sizes.last().copied().unwrap_or_default();
    ns(record, fit, size).unwrap_or(f64::MAX)
}

/// None of a busy core, whose time is a bound.
fn ns(record: &Record, fit: &Fit, size: usize) -> Option<f64> {
    let own = |m: &&Measurement| m.size == size && m.state == State::Measured && is_of(fit, m);
    let found = record.measurements.iter().find(own).filter(|m| !m.contended)?;
    found.ns_per_op.map(|e| e.median)
}

/// `over openssl@3.0.19 (the same release of libcrypto): +1210 ns a message, +0.010 ns a byte; times as long: 16 9.10, 16K
/// 1.20`. Where one of the two has no line, or one through bounds, its numbers describe no size, and only the times are
/// said; nothing where there are none.
fn words(record: &Record, fit: &Fit, other: &Fit, why: &str) -> Option<String> {
    let signed = |value: f64| {
        let sign = if value < 0.0 { '-' } else { '+' };
        format!("{sign}{}", labels::supported(value.abs(), None))
    };
    let is_line = |f: &Fit| f.linear && f.sizes.iter().all(|size| ns(record, f, *size).is_some());
    let lines = (is_line(fit) && is_line(other)).then(|| {
        let message = signed(fit.ns_per_message - other.ns_per_message);
        let byte = signed(fit.ns_per_byte - other.ns_per_byte);
        format!("{message} ns a message, {byte} ns a byte; ")
    });
    let times = fit.sizes.iter().filter_map(|size| {
        let ratio = ns(record, fit, *size)? / ns(record, other, *size)?;
        Some(format!("{} {ratio:.2}", crate::labels::size(*size)))
    });
    let times: Vec<String> = times.collect();
    let (name, version) =
        (base::text::clean(&other.library.name), base::text::clean(&other.library.version));
    (!times.is_empty()).then(|| {
        format!(
            "over {name}@{version} ({why}): {}times as long: {}",
            lines.unwrap_or_default(),
            times.join(", ")
        )
    })
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;
    use record::{KeySetup, Latency, ThreadShare};

    fn order(edit: impl Fn(&mut Vec<Measurement>)) -> Vec<String> {
        let record = sample::record();
        let mut measurements = record.measurements.clone();
        edit(&mut measurements);
        let selection: Vec<&Measurement> = measurements.iter().collect();
        let survey = Survey::of(&record, &selection);
        let rows = survey.sections[0].rows.iter();
        rows.map(|row| format!("{} {}", row.algorithm, row.library)).collect()
    }

    #[test]
    fn imported_figures_stand_behind_everything_that_was_measured_however_fast_they_claim_to_be() {
        let order = order(|all| {
            for m in all.iter_mut().filter(|m| m.algorithm == "aes-128-ctr") {
                m.state = State::Imported;
                m.mb_per_s = m.mb_per_s.map(|speed| speed * 1e6);
            }
        });
        let place = |name: &str| order.iter().position(|row| row == name).unwrap();
        assert!(place("aes-128-ccm openssl@3.0.22") < place("aes-128-ctr libgcrypt@1.10.1"));
        let without = place("aes-256-xts libgcrypt@1.10.1");
        assert!(place("aes-128-ctr openssl@3.0.22") < without, "{order:?}");
    }

    #[test]
    fn what_a_runtime_adds_is_not_told_by_times_of_a_busy_core() {
        let path =
            concat!(env!("CARGO_MANIFEST_DIR"), "/../../records/runtimes-2026-11-25-zen4.json.gz");
        let mut record = record::load(std::path::Path::new(path)).unwrap();
        let of_node = |m: &Measurement| m.library.name == "node" && m.algorithm == "aes-256-gcm";
        let taxes = |record: &Record| -> Vec<String> {
            let node = record.libraries.iter().find(|l| l.name == "node").unwrap();
            let rows = record.measurements.iter().filter(|m| of_node(m) && !m.contended);
            let fits = record.fits.iter().filter(|f| rows.clone().any(|m| is_of(f, m)));
            let lines = fits.flat_map(|fit| runtime_tax(record, fit, node));
            let sizes = rows.clone().filter_map(|m| tax_at_a_size(record, m, node));
            lines.chain(sizes).collect()
        };
        assert!(taxes(&record).iter().any(|line| line.contains(" ns a message")));
        let smallest = record.measurements.iter().filter(|m| of_node(m)).map(|m| m.size).min();
        let busy = record.measurements.iter_mut().filter(|m| of_node(m));
        busy.for_each(|m| m.contended = Some(m.size) == smallest);
        let partly = taxes(&record);
        assert!(!partly.is_empty() && partly.iter().all(|line| !line.contains(" ns a message")));
        let in_c = record.measurements.iter_mut().filter(|m| !of_node(m));
        in_c.for_each(|m| m.contended = true);
        assert_eq!(taxes(&record), Vec::<String>::new());
    }

    #[test]
    fn a_row_without_the_reference_size_ranks_behind_those_that_have_it() {
        let order = order(|all| {
            all.retain(|m| !(m.algorithm == "aes-128-gcm" && m.size == REFERENCE_SIZE));
        });
        let place = |name: &str| order.iter().position(|row| row == name).unwrap();
        let without = place("aes-128-gcm openssl@3.0.22");
        assert!(place("aes-128-ccm openssl@3.0.22") < without, "{order:?}");
        assert!(without < place("aes-256-xts libgcrypt@1.10.1"), "{order:?}");
    }

    #[test]
    fn without_the_reference_size_the_largest_takes_its_place() {
        let record = sample::record();
        let mut measurements = record.measurements.clone();
        measurements.retain(|m| m.size < REFERENCE_SIZE);
        let selection: Vec<&Measurement> = measurements.iter().collect();
        let survey = Survey::of(&record, &selection);
        assert_eq!(Some(&survey.reference), survey.sizes.last());
    }

    fn with_costs() -> Record {
        let mut record = sample::record();
        let m = record.measurements.iter_mut().find(|m| m.state == State::Measured).unwrap();
        m.key_setup = Some(KeySetup { ns: 2010.25, cycles: Some(7400.4) });
        m.latency_ns = Some(Latency {
            p50: 101.3,
            p99: Some(171.4),
            p99_9: None,
            operations: 600,
            disturbed: 1,
            resolution_ns: 10.0,
            ticks: Vec::new(),
        });
        m.per_thread = vec![ThreadShare {
            cpu: 1,
            ns_per_op: 100.0,
            cycles_per_op: None,
            mb_per_s: Some(81.25),
        }];
        let fit = Fit {
            library: m.library.clone(),
            algorithm: m.algorithm.clone(),
            direction: m.direction,
            model: m.model,
            tier: m.tier,
            threads: m.threads,
            footprint: m.footprint,
            in_place: m.in_place,
            sizes: vec![16, 256, 8192],
            ns_per_message: 96.125,
            ns_per_byte: 0.125,
            cycles_per_message: Some(355.0),
            cycles_per_byte: Some(0.4625),
            residual: 0.031,
            half_speed_bytes: Some(769.0),
            linear: true,
        };
        record.fits = vec![fit];
        record
    }

    fn shown(record: &Record) -> String {
        let rows: Vec<&Measurement> = record.measurements.iter().collect();
        costs(record, &rows, Options { width: 200, color: false })
    }

    #[test]
    fn each_cost_stands_in_its_series() {
        let text = shown(&with_costs());
        for expected in [
            "96.1 ns + 0.125 ns/B (355 + 0.463 cycles), largest residual 3.1 %, half speed at 769 B, sizes 16 to 8K",
            "2010.2 ns (7400 cycles), model rekey less message",
            "p50 101 ns, p99 171 ns, 600 operations in steps of 10 ns",
            "CPU 1 81.2",
            "not fitted",
        ] {
            assert!(text.contains(expected), "{expected}\n{text}");
        }
        assert!(!text.contains("do not lie on a line"));
    }

    #[test]
    fn a_line_that_does_not_fit_says_so() {
        let mut record = with_costs();
        record.fits[0].linear = false;
        record.fits[0].ns_per_message = -3.0;
        let text = shown(&record);
        assert!(text.contains("do not lie on a line") && text.contains("-3.00 ns + "), "{text}");
    }

    #[test]
    fn a_runtime_is_compared_by_lines_only_where_both_have_one() {
        let record = with_costs();
        let own = &record.fits[0];
        let other = Fit { ns_per_message: 46.125, ns_per_byte: 0.025, ..own.clone() };
        let said =
            |own: &Fit, other: &Fit| words(&record, own, other, "the fastest from C").unwrap();
        let text = said(own, &other);
        assert!(text.contains(": +50.0 ns a message, +0.100 ns a byte; times as long: "), "{text}");
        let bent = Fit { linear: false, ..other.clone() };
        for text in [said(own, &bent), said(&bent, own)] {
            assert!(text.contains("(the fastest from C): times as long: "), "{text}");
        }
    }

    fn library(name: &str, version: &str, build: &[&str]) -> Library {
        Library {
            name: name.into(),
            version: version.into(),
            build: build.iter().map(|fact| (*fact).to_owned()).collect(),
            ..Library::default()
        }
    }

    #[test]
    fn a_runtime_names_the_release_under_it_and_no_other_that_begins_alike() {
        let runtime = library("python", "1", &["libcrypto: OpenSSL 3.5.1 1 Jul 2025, in /usr"]);
        assert!(is_under(&runtime, &library("openssl", "3.5.1", &[])));
        for (name, version) in [("openssl", "3.5"), ("openssl", "3.5.11"), ("aws-lc", "3.5.1")] {
            assert!(!is_under(&runtime, &library(name, version, &[])), "{name} {version}");
        }
    }
}
