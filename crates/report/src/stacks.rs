//! What `tls handshake`, `tls records` and `tls primitives` answer, on one screen: what people ask of TLS stacks, the
//! best of them and yours, a sentence with what was measured, what was left out, what to type next.

use crate::labels::{percent, size_with_unit, supported};
use crate::screen::{Screen, headline};
use base::analysis::MIN_PROCESSES;
use base::model::Tier;
use base::text::{ASIDE, Align, BEST, CAUTION, Cell, Column, Options, PLAIN, clean, clip};
use judge::advise::tls_server::can_use;
use judge::tls::{self, Figure, Line, Part, Standings, best_of, saves};
use record::Estimate;
use record::tls::{
    Certificate, Cost, Exchange, Filter, Kind, Operation, Primitive, Protection, Row, Run, RunKind,
    Scheme, Stack, Suite, matrix, rows,
};
use std::collections::{BTreeMap, BTreeSet};

/// Of a stack, by no function that is known here: which does not say that it lacks it.
const CANNOT_BE_ASKED: &str = "cannot be asked";
const NAME: usize = 26;
/// The same beside a number, where three stand in one line.
const SHORT: usize = 14;
/// Stacks without a number that are named.
const MISSING: usize = 4;
/// Processes of a row that is measured to the end.
const PROCESSES: f64 = 12.0;
/// Bytes that a server may send before it has heard of the client: ten segments (RFC 6928), each in an Ethernet frame with
/// timestamps.
const FIRST_FLIGHT: u64 = 10 * 1448;

fn all_rows(kind: RunKind) -> usize {
    match kind {
        RunKind::Handshakes => rows(&matrix(&Filter::default()), &[]).len(),
        RunKind::Records => Protection::all(&[], &[]).len() * tls::ALL_RECORD_SIZES.len(),
        RunKind::Primitives => Primitive::all(&[], &[], &tls::DIGEST_SIZES).len(),
    }
}

fn beside(kind: RunKind) -> &'static str {
    match kind {
        RunKind::Handshakes => {
            "TLS 1.2, other groups and certificates, client certificates, cold handshakes"
        }
        RunKind::Records => "other sizes, TLS 1.2 with CBC, CCM, and the bare ciphers",
        RunKind::Primitives => "other key lengths, curves and fields, digests, the calls alone",
    }
}

/// What to type next.
fn more(kind: RunKind) -> [(&'static str, &'static str); 2] {
    match kind {
        RunKind::Handshakes => [
            ("Your own settings", "ciphermark tls handshake -x p384 -c rsa-3072 -k full"),
            ("What to set", "ciphermark advise --for tls-server --clients browser"),
        ],
        RunKind::Records => [
            ("Sizes, bare ciphers", "ciphermark tls records --cipher aes-128-gcm -s 64..16K"),
            ("TLS 1.2", "ciphermark tls records -V 1.2"),
        ],
        RunKind::Primitives => [
            ("Of your choice", "ciphermark tls primitives -p rsa-3072-pss,p521"),
            ("Do they leak keys?", "ciphermark leaks -l openssl -a ecdsa-p256,x25519"),
        ],
    }
}

/// The rows that people ask about.
fn asked(run: &Run) -> impl Iterator<Item = &Row> {
    let asked = tls::groups(run.kind).concat();
    run.rows.iter().filter(move |row| asked.contains(&(row.subject, row.temperature)))
}

/// The tables and the sentences.
#[derive(Debug, Default)]
struct Answered {
    tables: String,
    sentences: Vec<String>,
    /// What each table leaves out, in words.
    left_out: Vec<String>,
    /// Stacks without a number, each with the reason.
    missing: BTreeSet<String>,
    /// Labels of the stacks that are shown, or left out by name.
    named: BTreeSet<String>,
}

/// The screen, at most 40 lines of 100 columns; none where the run has no row that people ask about. `path` is the
/// record's file, where it has one.
pub fn stacks_screen(run: &Run, path: Option<&str>, options: Options) -> Option<String> {
    let screen = Screen::of(options);
    asked(run).next()?;
    let mut out = screen.line(&machine(run), PLAIN);
    let circumstances = circumstances(run);
    out += &circumstances.iter().map(|line| screen.line(line, CAUTION)).collect::<String>();
    let answered = match run.kind {
        RunKind::Handshakes => of_handshakes(run, &screen),
        RunKind::Records => of_records(run, &screen),
        RunKind::Primitives => of_primitives(run, &screen),
    };
    let Some(answered) = answered else {
        let none = "Not enough measured: no stack has a number for each case; raise --budget.";
        return Some(out + "\n" + &screen.line(none, CAUTION) + &next(run, path, &screen));
    };
    out += "\n";
    out += &answered.tables;
    out += "\n";
    out += &answered.sentences.iter().map(|s| screen.sentence(s)).collect::<String>();
    out += &marks(run, &answered.tables).map(|line| screen.sentence(&line)).unwrap_or_default();
    out += &screen.sentence(&left_out(run, &answered));
    out += &next(run, path, &screen);
    Some(out)
}

fn machine(run: &Run) -> String {
    let quiet = run.noise.clean as f64 / run.noise.samples.max(1) as f64;
    let mut measured = Vec::new();
    if run.plan.tier != Tier::Native {
        measured.push(format!("tier {}", run.plan.tier));
    }
    measured.push(format!("{} stacks in {:.0} s", run.stacks.len(), run.seconds));
    measured.push(format!("{} % of samples quiet", percent(quiet)));
    headline(&run.host, measured)
}

/// Circumstances that bear on the stacks: two lines at most.
fn circumstances(run: &Run) -> Vec<String> {
    let stacks: Vec<&str> = run.stacks.iter().map(|stack| &*stack.path).collect();
    let set = run.host.circumstances.iter().filter(|c| c.bears_on(&stacks));
    set.map(|c| clean(&c.sentence())).take(2).collect()
}

/// What the signs at the tables' numbers mean.
fn marks(run: &Run, tables: &str) -> Option<String> {
    let asked = percent(run.plan.precision);
    let asked = asked.trim_end_matches(".0");
    let rough = format!(
        "wider than ±{asked} %, or of fewer than {MIN_PROCESSES} processes; a longer --budget helps."
    );
    let meanings = [
        (ROUGH, rough.as_str()),
        (AT_MOST, "only a busy core was seen, so it takes at most so long."),
        (AT_LEAST, "only a busy core was seen, so it is at least so fast."),
    ];
    let said = meanings.iter().filter(|(sign, _)| tables.contains(sign));
    said.map(|(sign, meaning)| format!("{sign}: {meaning}"))
        .reduce(|one, other| format!("{one} {other}"))
}

fn left_out(run: &Run, answered: &Answered) -> String {
    let others: Vec<&Stack> =
        run.stacks.iter().filter(|stack| !answered.named.contains(&stack.label)).collect();
    // Primitives name whom they show only.
    let what = if run.kind == RunKind::Primitives { "in no row" } else { "slower" };
    let mut parts: Vec<String> = listed(what, &others).into_iter().collect();
    parts.extend(answered.left_out.iter().cloned());
    parts.extend(answered.missing.iter().map(|text| clip(text, 80)).take(MISSING));
    let more = answered.missing.len().saturating_sub(MISSING);
    parts.extend((more > 0).then(|| format!("{more} more without a number")));
    let all = all_rows(run.kind) * run.stacks.len();
    if all > run.rows.len() {
        parts.push(beside(run.kind).to_owned());
    }
    if parts.is_empty() {
        return "Left out: nothing that is asked about.".to_owned();
    }
    format!("Left out: {}.", parts.join("; "))
}

/// How long a run of everything takes, by what this one took for each row and process.
fn thorough(run: &Run) -> Option<String> {
    let taken: u64 = run.rows.iter().filter_map(|row| row.costs.map(|_| row.processes)).sum();
    let rows = (all_rows(run.kind) * run.stacks.len()) as f64;
    let seconds = run.seconds / taken as f64 * rows * PROCESSES;
    (taken > 0 && seconds.is_finite()).then(|| format!("{:.0} min", (seconds / 60.0).ceil()))
}

fn next(run: &Run, path: Option<&str>, screen: &Screen) -> String {
    let command = run.kind.command();
    let mut commands: Vec<(String, String)> = Vec::new();
    if all_rows(run.kind) * run.stacks.len() > run.rows.len() {
        let time = thorough(run).map(|time| format!(", about {time}")).unwrap_or_default();
        commands
            .push((format!("Everything{time}"), format!("ciphermark tls {command} --thorough")));
    }
    commands.extend(more(run.kind).map(|(what, how)| (what.to_owned(), how.to_owned())));
    match path.map(clean) {
        Some(path) => {
            commands.push(("Whole table".to_owned(), format!("ciphermark show {path}")));
        }
        None => commands.push((
            "Whole table".to_owned(),
            format!("ciphermark tls {command} --all; to keep it: -o FILE"),
        )),
    }
    screen.next(&commands)
}

impl Answered {
    /// Notes which stacks a table shows, and which it does not; of several tables, `of` which suite.
    fn note(&mut self, found: &Standings<'_>, of: Option<Suite>) {
        let [at, wanted] = ["in", "for"]
            .map(|word| of.map(|suite| format!(" {word} {suite}")).unwrap_or_default());
        self.show(found, &at);
        let others = found.undecided.iter().chain(&found.without);
        self.named.extend(others.map(|stack| stack.label.clone()));
        let last = format!("not told apart from the last{at}");
        self.left_out.extend(listed(&last, &found.undecided));
        self.left_out.extend(listed(&format!("{CANNOT_BE_ASKED}{wanted}"), &found.without));
    }

    /// Notes which stacks are shown, and which have no number, and why.
    fn show(&mut self, found: &Standings<'_>, at: &str) {
        self.named.extend(found.lines.iter().map(|line| line.stack.label.clone()));
        for (stack, why) in &found.missing {
            self.named.insert(stack.label.clone());
            self.missing.insert(format!("{}{at}: {}", clean(&stack.label), clean(why)));
        }
    }
}

/// `slower: boringssl@44, wolfssl@5.9.4`; nothing of none.
fn listed(what: &str, stacks: &[&Stack]) -> Option<String> {
    let names: Vec<String> = stacks.iter().map(|s| clip(&clean(&s.label), NAME)).collect();
    (!names.is_empty()).then(|| format!("{what}: {}", names.join(", ")))
}

/// `system's openssl@3.0.19`: of the machine that was measured, which need not be the reader's.
fn named(line: &Line<'_>) -> String {
    let label = clean(&line.stack.label);
    if line.is_yours { format!("system's {label}") } else { label }
}

/// The same in a sentence.
fn spoken(line: &Line<'_>) -> String {
    format!("{}{}", if line.is_yours { "the " } else { "" }, named(line))
}

fn estimate(cost: &Cost, unit: f64) -> Estimate {
    let (median, low, high) = (cost.median_ns, cost.low_ns, cost.high_ns);
    Estimate { median, low, high }.map(|ns| ns / unit)
}

/// A cost in a unit of so many nanoseconds, with the digits that its interval supports.
fn number(cost: &Cost, unit: f64) -> String {
    let estimate = estimate(cost, unit);
    supported(estimate.median, Some(&estimate))
}

fn us(cost: &Cost) -> String {
    number(cost, 1000.0)
}

/// The sign before a figure that is not as precise as was asked for.
const ROUGH: &str = "~";
/// Signs before a time and before a speed where only a busy core was seen.
const AT_MOST: &str = "<";
const AT_LEAST: &str = ">";

/// A row's figure behind its sign; `bound` is the one of a busy core.
fn marked(row: &Row, text: &str, bound: &str) -> String {
    let sign = match (row.contended, row.reason.is_some()) {
        (true, _) => bound,
        (false, true) => ROUGH,
        (false, false) => "",
    };
    format!("{sign}{text}")
}

/// A time in µs behind its sign.
fn marked_us(part: &Part<'_>) -> String {
    marked(part.row, &us(&part.cost), AT_MOST)
}

fn cell(
    figure: &Figure<'_>,
    end: usize,
    style: anstyle::Style,
    bound: &str,
    text: impl Fn(&Cost) -> String,
) -> Cell {
    match figure {
        Figure::Known(row, costs) => Cell::number(marked(row, &text(&costs[end]), bound), style),
        Figure::CannotBeAsked => Cell::new(CANNOT_BE_ASKED, ASIDE),
        Figure::Missing(_) => Cell::new("no number", ASIDE),
    }
}

/// `68 %`.
fn share(part: f64) -> String {
    format!("{:.0} %", part * 100.0)
}

// Handshakes.

/// Where a group of handshakes has what.
const P256: usize = 0;
const RSA: usize = 1;
const HYBRID: usize = 2;
const RESUMED: usize = 3;

fn of_handshakes(run: &Run, screen: &Screen) -> Option<Answered> {
    let groups = tls::groups(run.kind);
    let found = Standings::of(run, groups.first()?);
    let mut answered = Answered::default();
    answered.note(&found, None);
    if found.lines.is_empty() {
        return None;
    }
    answered.tables = servers(&found, screen);
    let with_mldsa = Standings::of(run, &tls::post_quantum());
    let hybrid = found.lines.iter().find(|line| line.first(HYBRID).is_some());
    let shown = with_mldsa.lines.first().or(hybrid).map(|line| line.stack);
    answered.sentences = vec![handshake_advice(&found)];
    if let Some(stack) = shown {
        let (table, may_wait) = wire(run, stack, screen);
        answered.tables += "\n";
        answered.tables += &table;
        answered.sentences.extend(may_wait.then(|| {
            format!(
                "Beyond {FIRST_FLIGHT} bytes, tickets aside, a server waits for the client once more (RFC 6928)."
            )
        }));
    }
    Some(answered)
}

/// What a server's CPU does for a connection.
fn servers(found: &Standings<'_>, screen: &Screen) -> String {
    let headings = ["p256", "rsa-2048", "p256 + mlkem768", "resumed", "resumed + mlkem768"];
    let mut columns = vec![Column::left("server CPU, µs a connection, TLS 1.3")];
    columns.extend(headings.map(Column::right));
    let best: Vec<Option<usize>> =
        (0..headings.len()).map(|column| best_of(&found.lines, column)).collect();
    let row = |(at, line): (usize, &Line<'_>)| {
        let mut cells = vec![Cell::plain(format!("  {}", clip(&named(line), NAME)))];
        cells.extend(line.figures.iter().enumerate().map(|(column, figure)| {
            let style = if best[column] == Some(at) { BEST } else { PLAIN };
            cell(figure, 0, style, AT_MOST, us)
        }));
        cells
    };
    let rows = found.lines.iter().enumerate().map(row).collect();
    screen.table(columns, vec![(String::new(), rows)])
}

/// What connections cost both ends and the network, in one stack, with and without post-quantum cryptography; and
/// whether a server may have more to say than it can send at once.
fn wire(run: &Run, stack: &Stack, screen: &Screen) -> (String, bool) {
    use {Certificate as C, Exchange as X};
    let yours = tls::system(run).filter(|s| s.label != stack.label);
    let mut columns =
        vec![Column::named(format!("full, {}", clip(&clean(&stack.label), NAME)), Align::Left)];
    columns.extend(["server µs", "client µs", "server bytes", "client bytes"].map(Column::right));
    columns.extend(yours.map(|_| Column::right("system's µs")));
    let mut may_wait = false;
    let mut row = |(exchange, certificate): (X, C)| {
        let wanted = tls::handshake(exchange, certificate, Kind::Full);
        let figure = tls::figure(run, stack, wanted);
        let Figure::Known(Row { bytes: Some(bytes), .. }, _) = figure else { return None };
        may_wait |= bytes.server > FIRST_FLIGHT;
        let mut cells = vec![
            Cell::plain(format!("  {exchange}, {certificate}")),
            cell(&figure, 0, PLAIN, AT_MOST, us),
            cell(&figure, 1, PLAIN, AT_MOST, us),
            Cell::plain(bytes.server.to_string()),
            Cell::plain(bytes.client.to_string()),
        ];
        cells.extend(yours.map(|yours| match tls::figure(run, yours, wanted) {
            Figure::Known(row, costs) => {
                let [server, client] = costs.map(|cost| marked_us(&Part { row, cost }));
                Cell::number(format!("{server} + {client}"), PLAIN)
            }
            none => cell(&none, 0, PLAIN, AT_MOST, us),
        }));
        Some(cells)
    };
    let order = [
        (X::X25519, C::P256),
        (X::X25519, C::Rsa2048),
        (X::X25519Mlkem768, C::P256),
        (X::X25519Mlkem768, C::Mldsa44),
        (X::X25519Mlkem768, C::Mldsa65),
        (X::X25519Mlkem768, C::Mldsa87),
    ];
    let rows = order.into_iter().filter_map(&mut row).collect();
    (screen.table(columns, vec![(String::new(), rows)]), may_wait)
}

fn handshake_advice(found: &Standings<'_>) -> String {
    let mut said = Vec::new();
    let Some(own) = found.own() else { return String::new() };
    if let Some((rsa, p256)) = own.first(RSA).zip(own.first(P256)) {
        said.extend(saves(&rsa, &p256).map(|saved| {
            format!(
                "In {}, a certificate of P-256 in place of RSA-2048 saves {} of the server's CPU for a full \
                 handshake ({} µs instead of {}).",
                spoken(own), share(saved), marked_us(&p256), marked_us(&rsa)
            )
        }));
    }
    said.extend(faster_stack(found, own));
    if let Some((full, resumed)) = own.first(P256).zip(own.first(RESUMED)) {
        said.extend(
            saves(&full, &resumed)
                .map(|saved| format!("In {}, resuming saves {}.", spoken(own), share(saved))),
        );
    }
    let mut lines = std::iter::once(own).chain(&found.lines);
    let both = lines.find_map(|line| Some((line, line.first(P256)?, line.first(HYBRID)?)));
    if let Some((line, without, with)) = both {
        let adds = with.cost.median_ns - without.cost.median_ns;
        said.push(if saves(&with, &without).is_some() {
            format!(
                "X25519MLKEM768 in place of X25519 costs {:.0} µs more in {}.",
                adds / 1000.0,
                spoken(line)
            )
        } else {
            format!("X25519MLKEM768 is not shown to cost more in {}.", spoken(line))
        });
    }
    // One paragraph: a screen has no room for more.
    said.join(" ")
}

/// Which other stack would need less.
fn faster_stack(found: &Standings<'_>, own: &Line<'_>) -> Option<String> {
    let now = own.first(P256)?;
    let saved = |line: &Line<'_>| saves(&now, &line.first(P256)?);
    let is_other = |line: &&Line<'_>| line.stack.label != own.stack.label;
    if !is_other(&found.lines.first()?) {
        return None;
    }
    // The one with the lowest median need not be shown to cost less.
    let shown = found.lines.iter().filter(is_other).find_map(|l| Some((l, saved(l)?)));
    let Some((best, most)) = shown else {
        return Some("No other stack here is shown to need less.".to_owned());
    };
    let less = |line: &Line<'_>, part: f64| {
        let cost = line.first(P256).map(|part| marked_us(&part)).unwrap_or_default();
        format!("{} needs {} less for it ({cost} µs)", clean(&line.stack.label), share(part))
    };
    if can_use("nginx", &best.stack.label) {
        return Some(format!("{}.", less(best, most)));
    }
    let others = found.lines.iter().filter(is_other);
    let usable =
        others.filter(|l| can_use("nginx", &l.stack.label)).find_map(|l| Some((l, saved(l)?)));
    let unusable = format!("{}, but nginx cannot use it", less(best, most));
    Some(match usable {
        Some((line, part)) => format!("{}; {unusable}.", less(line, part)),
        None => format!("{unusable}."),
    })
}

// Records.

fn of_records(run: &Run, screen: &Screen) -> Option<Answered> {
    let mut answered = Answered::default();
    let mut tables = Vec::new();
    let mut sentences = Vec::new();
    for (suite, group) in tls::RECORD_SUITES.iter().zip(tls::groups(run.kind)) {
        let found = Standings::of(run, &group);
        answered.note(&found, Some(*suite));
        if found.lines.is_empty() {
            continue;
        }
        tables.push((suite.name().to_owned(), record_rows(&found)));
        sentences.extend(record_advice(*suite, &found));
    }
    if tables.is_empty() {
        return None;
    }
    answered.tables = screen.table(record_columns(), tables);
    answered.sentences = vec![sentences.join(" ")];
    Some(answered)
}

fn record_columns() -> Vec<Column> {
    let [full, small] = tls::RECORD_SIZES.map(|size| size_with_unit(size as usize));
    let right = |heading: String| Column::named(heading, Align::Right);
    vec![
        Column::named(format!("TLS 1.3, records of {full}"), Align::Left),
        right("send MB/s".to_owned()),
        right("c/B".to_owned()),
        right("receive MB/s".to_owned()),
        right("c/B".to_owned()),
        right(format!("{small}: send ns")),
        right("receive ns".to_owned()),
    ]
}

fn record_rows(found: &Standings<'_>) -> Vec<Vec<Cell>> {
    let [full, _] = tls::RECORD_SIZES.map(f64::from);
    let speed = |cost: &Cost| {
        let time = estimate(cost, 1.0);
        supported(full / time.median * 1000.0, Some(&time))
    };
    let per_byte = |cost: &Cost| {
        let cycles = cost.cycles.map(|cycles| supported(cycles.median / full, Some(&cycles)));
        cycles.unwrap_or_else(|| "?".to_owned())
    };
    let ns = |cost: &Cost| number(cost, 1.0);
    let best = [best_of(&found.lines, 0), best_of(&found.lines, 1)];
    let row = |(at, line): (usize, &Line<'_>)| {
        let [large, small] = best.map(|best| if best == Some(at) { BEST } else { PLAIN });
        let [of_full, of_small] = [&line.figures[0], &line.figures[1]];
        vec![
            Cell::plain(format!("  {}", clip(&named(line), NAME))),
            cell(of_full, 0, large, AT_LEAST, speed),
            cell(of_full, 0, PLAIN, AT_MOST, per_byte),
            cell(of_full, 1, large, AT_LEAST, speed),
            cell(of_full, 1, PLAIN, AT_MOST, per_byte),
            cell(of_small, 0, small, AT_MOST, ns),
            cell(of_small, 1, small, AT_MOST, ns),
        ]
    };
    found.lines.iter().enumerate().map(row).collect()
}

/// What sending costs in a suite, and what another stack would save.
fn record_advice(suite: Suite, found: &Standings<'_>) -> Option<String> {
    let own = found.own()?;
    let full = own.first(0)?;
    let said = format!("{suite}: {} sends a full record in {} µs", spoken(own), marked_us(&full));
    // Lines are in the order of sending and receiving together.
    let shown = found.lines.iter().filter_map(|line| Some((line, saves(&full, &line.first(0)?)?)));
    let rest = match shown.max_by(|(_, a), (_, b)| a.total_cmp(b)) {
        Some((line, saved)) => {
            format!(", {} takes {} less", clean(&line.stack.label), share(saved))
        }
        None if found.lines.len() > 1 => ", none of these is shown to take less".to_owned(),
        None => String::new(),
    };
    Some(format!("{said}{rest}."))
}

// Primitives.

fn of_primitives(run: &Run, screen: &Screen) -> Option<Answered> {
    let mut answered = Answered::default();
    let mut tables = Vec::new();
    let mut absent: BTreeMap<&str, Vec<String>> = BTreeMap::new();
    let yours = tls::system(run);
    for (title, rows) in tls::PRIMITIVES {
        let row = |primitive: &Primitive| {
            let found = Standings::of(run, &[tls::of_primitive(*primitive)]);
            // A hole is not a no: whoever lacks a number may be among the best three.
            let is_open = found.lines.len() < tls::BEST && !found.missing.is_empty();
            if found.lines.is_empty() || is_open {
                let why = if found.missing.is_empty() { CANNOT_BE_ASKED } else { "no number" };
                absent.entry(why).or_default().push(primitive.to_string());
                return None;
            }
            answered.show(&found, "");
            if !found.undecided.is_empty() || !found.missing.is_empty() {
                absent.entry("others may be third").or_default().push(primitive.to_string());
            }
            Some(primitive_row(*primitive, &found, yours.is_some()))
        };
        let lines: Vec<Vec<Cell>> = rows.iter().filter_map(row).collect();
        if !lines.is_empty() {
            tables.push((title.to_owned(), lines));
        }
    }
    if tables.is_empty() {
        return None;
    }
    let absent = absent.into_iter().map(|(why, rows)| format!("{why}: {}", rows.join(", ")));
    answered.left_out = absent.collect();
    let mut columns = vec![Column::left("µs, whole")];
    columns.extend(["first", "", "second", "", "third", ""].iter().enumerate().map(
        |(at, heading)| Column::new(heading, if at % 2 == 0 { Align::Left } else { Align::Right }),
    ));
    columns.extend(yours.map(|_| Column::right("system's")));
    answered.tables = screen.table(columns, tables);
    let yours = yours.map(|stack| format!("The system's: {}. ", clean(&stack.label)));
    answered.sentences = vec![yours.unwrap_or_default() + &primitive_advice(run)];
    Some(answered)
}

fn primitive_row(primitive: Primitive, found: &Standings<'_>, has_yours: bool) -> Vec<Cell> {
    let whole = |cost: &Cost| match cost.median_ns {
        100_000.0.. => format!("{:.0}", cost.median_ns / 1000.0),
        _ => us(cost),
    };
    let figure = |line: &Line<'_>, style| cell(&line.figures[0], 0, style, AT_MOST, whole);
    let operation = match primitive.operation {
        Operation::Encapsulate => "encaps",
        Operation::Decapsulate => "decaps",
        other => other.name(),
    };
    let mut cells = vec![Cell::plain(format!("  {} {operation}", primitive.scheme))];
    for place in 0..tls::BEST {
        let style = if place == 0 { BEST } else { PLAIN };
        match found.lines.get(place) {
            Some(line) => cells
                .extend([Cell::plain(clip(&clean(&line.stack.label), SHORT)), figure(line, style)]),
            None => cells.extend([Cell::new("no other", ASIDE), Cell::plain("")]),
        }
    }
    if has_yours {
        cells.push(match found.yours() {
            Some(yours) => figure(yours, PLAIN),
            None => Cell::new("no number", ASIDE),
        });
    }
    cells
}

/// What the server's work comes to in one stack: yours where it has it, else the fastest that has it.
fn primitive_advice(run: &Run) -> String {
    let whole = |stack: &Stack, primitive: Primitive| {
        tls::figure(run, stack, tls::of_primitive(primitive)).part(0)
    };
    let compare = |[one, other]: [Primitive; 2]| {
        let found = Standings::of(run, &[tls::of_primitive(one)]);
        let mut stacks = tls::system(run).into_iter().chain(found.lines.iter().map(|l| l.stack));
        let (stack, first, second) =
            stacks.find_map(|stack| Some((stack, whole(stack, one)?, whole(stack, other)?)))?;
        let (dear, high, cheap, low) = if first.cost.median_ns > second.cost.median_ns {
            (one, first, other, second)
        } else {
            (other, second, one, first)
        };
        saves(&high, &low)?;
        let times = high.cost.median_ns / low.cost.median_ns;
        let label = clean(&stack.label);
        Some(format!("In {label}, {dear} takes {} µs, {times:.1} times {cheap}.", marked_us(&high)))
    };
    let pairs = [
        [(Scheme::Rsa2048Pss, Operation::Sign), (Scheme::EcdsaP256, Operation::Sign)],
        [(Scheme::Mldsa65, Operation::Sign), (Scheme::EcdsaP256, Operation::Sign)],
        [(Scheme::Mlkem768, Operation::Encapsulate), (Scheme::X25519, Operation::Agree)],
    ];
    let pairs = pairs.map(|pair| pair.map(|(scheme, operation)| tls::primitive(scheme, operation)));
    pairs.into_iter().filter_map(compare).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::screen::{LINES, WIDTH};
    use base::text::fixtures::says;
    use base::text::width;
    use record::State;
    use record::tls::{Bytes, Subject, Temperature, fixtures};

    const PLAIN_100: Options = Options { width: 100, color: false };

    /// Stacks as they are on a machine with everything built, each with how slow it is; the first is the system's.
    const STACKS: [(&str, f64); 10] = [
        ("openssl@3.0.19", 2.9),
        ("aws-lc@5.12.0", 1.0),
        ("boringssl@44", 1.1),
        ("openssl@3.5.5", 1.5),
        ("openssl@4.0.3", 1.45),
        ("libressl@4.2.1", 3.4),
        ("rustls-aws-lc@0.23.46", 0.9),
        ("rustls-graviola@0.23.46", 0.95),
        ("wolfssl@5.9.4", 1.3),
        ("a-very-long-name-of-a-stack@1.1.1-compatible-with-everything", 1.2),
    ];

    /// What people ask about, in every stack.
    fn run(kind: RunKind, row: impl Fn(&str, f64, Subject) -> Row) -> Run {
        let labels = STACKS.map(|(label, _)| label);
        let mut asked: Vec<Subject> =
            tls::groups(kind).concat().into_iter().map(|(subject, _)| subject).collect();
        asked.dedup();
        let row = &row;
        let of_one = |subject| STACKS.map(|(label, slow)| row(label, slow, subject));
        let rows = asked.into_iter().flat_map(of_one).collect();
        let mut run = fixtures::run(kind, &labels, rows);
        run.stacks[0].crypto_path = "/usr/lib/x86_64-linux-gnu/libcrypto.so.3".to_owned();
        run.host.cpu.name = "AMD EPYC-Milan Processor".to_owned();
        run.host.clock.core_ghz_median = Some(3.7);
        run
    }

    /// What a handshake costs in µs, times `slow`; none where the stack would not have it.
    fn handshakes() -> Run {
        let row = |label: &str, slow: f64, subject| {
            let Subject::Handshake(case) = subject else { panic!("it is none") };
            let signs = match case.certificate {
                _ if case.kind.is_resumed() => 0.0,
                Certificate::Rsa2048 => 600.0,
                c if c.is_post_quantum() => 180.0,
                _ => 20.0,
            };
            let agrees = if case.exchange == Exchange::X25519 { 40.0 } else { 75.0 };
            let is_new = label.starts_with("openssl@3.5") || label.starts_with("openssl@4");
            let is_offered = match (case.exchange, case.certificate.is_post_quantum()) {
                (_, true) => is_new,
                (Exchange::X25519, _) => true,
                _ => label != "openssl@3.0.19" && label != "libressl@4.2.1",
            };
            let us = is_offered.then_some((60.0 + signs + agrees) * slow);
            let mut row = fixtures::handshake(label, case, us);
            let chain = if case.certificate.is_post_quantum() { 17_000 } else { 1900 };
            row.bytes = us.map(|_| Bytes { client: 1550, server: chain });
            row
        };
        run(RunKind::Handshakes, row)
    }

    fn records() -> Run {
        run(RunKind::Records, |label, slow, subject| {
            let Subject::Records { size, .. } = subject else { panic!("it is none") };
            let cost = fixtures::cost((250.0 + f64::from(size) * 0.08) * slow);
            Row { processes: 12, ..fixtures::row(label, subject, Some([cost; 2])) }
        })
    }

    fn primitives() -> Run {
        run(RunKind::Primitives, |label, slow, subject| {
            let Subject::Primitive(primitive) = subject else { panic!("it is none") };
            let is_new = label.starts_with("openssl@3.5") || label.starts_with("openssl@4");
            let is_offered = !primitive.scheme.name().starts_with("ml") || is_new;
            let costs = is_offered.then(|| [fixtures::cost(20_000.0 * slow); 2]);
            Row { processes: 12, ..fixtures::row(label, subject, costs) }
        })
    }

    fn screen(run: &Run) -> String {
        let screen = stacks_screen(run, Some("tls.json"), PLAIN_100).unwrap();
        assert!(screen.lines().count() <= LINES, "{screen}");
        assert!(screen.lines().all(|line| width(line) <= WIDTH), "{screen}");
        screen
    }

    /// The screen's words, wherever its lines end.
    fn words(screen: &str) -> String {
        screen.split_whitespace().collect::<Vec<_>>().join(" ")
    }

    fn published() -> Run {
        let path = concat!(
            env!("CARGO_MANIFEST_DIR"),
            "/../../records/tls-handshake-2026-11-22-spr.json.gz"
        );
        let text = record::load_text(std::path::Path::new(path)).unwrap();
        record::read_run(&text, path, record::tls::from_record).unwrap()
    }

    #[test]
    fn the_published_handshakes_answer_on_a_screen() {
        insta::assert_snapshot!(screen(&published()));
    }

    #[test]
    fn handshakes_of_many_stacks_answer_on_a_screen() {
        insta::assert_snapshot!(screen(&handshakes()));
    }

    #[test]
    fn records_of_many_stacks_answer_on_a_screen() {
        insta::assert_snapshot!(screen(&records()));
    }

    #[test]
    fn primitives_of_many_libraries_answer_on_a_screen() {
        insta::assert_snapshot!(screen(&primitives()));
    }

    #[test]
    fn what_is_not_whole_is_not_shown_and_is_named_with_its_reason() {
        let mut run = handshakes();
        let cut = run.rows.iter_mut().find(|r| r.stack == "aws-lc@5.12.0").unwrap();
        (cut.state, cut.costs) = (State::Failed, None);
        cut.stopped = Some(record::Stopped::Budget);
        let text = screen(&run);
        assert!(!text.lines().any(|line| line.starts_with("  aws-lc@5.12.0 ")), "{text}");
        says(&text, ["aws-lc@5.12.0: too few samples"]);
    }

    #[test]
    fn a_library_without_a_number_is_not_one_that_lacks_it() {
        let mut run = primitives();
        let mldsa44 = Subject::Primitive(tls::primitive(Scheme::Mldsa44, Operation::Sign));
        let cut = |r: &&mut Row| r.subject == mldsa44 && r.stack.starts_with("openssl@4");
        let cut = run.rows.iter_mut().find(cut).unwrap();
        (cut.state, cut.costs) = (State::Failed, None);
        cut.stopped = Some(record::Stopped::Budget);
        let text = screen(&run);
        assert!(!text.lines().any(|line| line.starts_with("  mldsa44 sign ")), "{text}");
        assert!(words(&text).contains("no number: mldsa44 sign"), "{text}");
    }

    #[test]
    fn a_stack_that_cannot_be_asked_is_not_said_to_lack_it() {
        let mut run = records();
        let other = "suite: 0x1302 was asked for, and 0x1301 negotiated";
        for row in run.rows.iter_mut().filter(|r| r.stack == "boringssl@44") {
            let Subject::Records { protection, .. } = row.subject else { panic!("it is none") };
            if protection.suite == Suite::Aes256Gcm {
                (row.state, row.costs) = (State::Unsupported, None);
                row.reason = Some(other.to_owned());
            }
        }
        let said = words(&screen(&run));
        assert!(said.contains("cannot be asked for aes-256-gcm: boringssl@44"), "{said}");
        let said = words(&screen(&primitives()));
        assert!(!said.contains("offered") && !said.contains("lacks"), "{said}");
    }

    #[test]
    fn a_stack_that_may_be_third_is_named_in_each_table_that_does_not_show_it() {
        let mut run = records();
        let suite = |row: &Row| row.records().map(|(protection, _)| protection.suite);
        for row in run.rows.iter_mut().filter(|r| r.stack == "boringssl@44") {
            // The fastest in one suite; in another as fast as the third.
            let slow = if suite(row) == Some(Suite::Aes128Gcm) { 0.5 } else { 0.92 };
            row.costs = row.costs.map(|costs| costs.map(|c| fixtures::cost(c.median_ns * slow)));
        }
        let said = words(&screen(&run));
        assert!(!said.contains("the last in aes-128-gcm"), "{said}");
        assert!(
            said.contains("not told apart from the last in aes-256-gcm: boringssl@44;"),
            "{said}"
        );
        assert!(said.contains("the last in chacha20-poly1305: boringssl@44;"), "{said}");
        let mut run = primitives();
        for row in run.rows.iter_mut().filter(|r| r.stack == "boringssl@44") {
            row.costs = row.costs.map(|costs| costs.map(|c| fixtures::cost(c.median_ns * 0.92)));
        }
        let said = words(&screen(&run));
        assert!(
            said.contains("others may be third: ecdsa-p256 sign, ecdsa-p256 verify,"),
            "{said}"
        );
    }

    #[test]
    fn a_screen_has_room_for_stacks_of_which_none_is_told_apart() {
        for mut run in [handshakes(), records(), primitives()] {
            for row in run.rows.iter_mut().filter(|row| row.costs.is_some()) {
                row.processes = 2;
                row.reason = Some("precision not reached".to_owned());
            }
            let said = words(&screen(&run));
            assert!(!said.contains("slower") && !said.contains("saves"), "{said}");
        }
    }

    #[test]
    fn packets_are_not_counted_of_bytes_that_are_sent_at_different_times() {
        let said = words(&screen(&handshakes()));
        assert!(!said.contains("packets"), "{said}");
        assert!(said.contains("Beyond 14480 bytes, tickets aside, a server waits"), "{said}");
        let mut run = handshakes();
        for bytes in run.rows.iter_mut().filter_map(|row| row.bytes.as_mut()) {
            bytes.server = FIRST_FLIGHT;
        }
        assert!(!screen(&run).contains("tickets aside"));
    }

    #[test]
    fn where_nothing_is_whole_the_screen_says_so_and_where_nothing_was_asked_there_is_none() {
        let mut run = handshakes();
        for row in &mut run.rows {
            (row.state, row.costs) = (State::Failed, None);
            row.stopped = Some(record::Stopped::Budget);
        }
        says(screen(&run), ["Not enough measured", "--budget"]);
        run.rows.retain(|row| row.temperature != Temperature::Hot);
        assert_eq!(stacks_screen(&run, None, PLAIN_100), None);
    }

    #[test]
    fn a_stack_that_nginx_cannot_use_is_not_advised_without_a_word() {
        let text = screen(&handshakes());
        let said = words(&text);
        assert!(
            said.contains("rustls-aws-lc@0.23.46 needs 69 % less")
                && said.contains("nginx cannot use it"),
            "{text}"
        );
        assert!(said.contains(" aws-lc@5.12.0 needs 66 % less"), "{text}");
    }

    #[test]
    fn a_saving_is_claimed_only_where_the_intervals_are_apart() {
        let mut run = handshakes();
        for row in &mut run.rows {
            for cost in row.costs.iter_mut().flatten() {
                (cost.low_ns, cost.high_ns) = (cost.median_ns * 0.1, cost.median_ns * 10.0);
            }
        }
        let text = screen(&run);
        assert!(!text.contains("saves") && !text.contains("needs"), "{text}");
        assert!(text.contains("is not shown to cost more"), "{text}");
    }

    #[test]
    fn a_row_that_is_not_as_precise_as_was_asked_for_is_marked_whatever_its_interval() {
        let mut run = handshakes();
        assert!(!screen(&run).contains('~'));
        for row in run.rows.iter_mut().filter(|r| r.stack == "aws-lc@5.12.0") {
            row.processes = 2;
            row.reason = Some("precision not reached: 0.6 % over 2 processes".to_owned());
        }
        let text = screen(&run);
        let line = text.lines().find(|l| l.starts_with("  aws-lc@5.12.0 ")).unwrap();
        assert_eq!(line.matches('~').count(), 5, "{text}");
        let said = words(&text);
        assert!(said.contains("~: wider than ±2 %, or of fewer than 6 processes"), "{text}");
        // The others keep their verdicts.
        assert!(said.contains("saves") && !said.contains(" aws-lc@5.12.0 needs"), "{text}");
    }

    #[test]
    fn what_only_a_busy_core_showed_is_at_most_a_time_and_at_least_a_speed_and_saves_nothing() {
        let busy = |mut run: Run| {
            for row in run.rows.iter_mut().filter(|r| r.stack == "openssl@3.0.19") {
                row.contended = true;
                row.reason = Some("too few quiet samples, so contended ones count too".to_owned());
            }
            words(&screen(&run))
        };
        let text = busy(handshakes());
        assert!(text.contains(" <348") && text.contains("it takes at most so long"), "{text}");
        assert!(!text.contains('>') && !text.contains("saves"), "{text}");
        assert!(text.contains("No other stack here is shown to need less."), "{text}");
        let text = busy(records());
        assert!(text.contains(" >3620") && text.contains(" <740"), "{text}");
        assert!(text.contains("sends a full record in <4.53 µs, none of these"), "{text}");
    }

    #[test]
    fn the_first_that_is_shown_to_need_less_is_named_where_the_lowest_median_is_not() {
        let mut run = handshakes();
        for row in run.rows.iter_mut().filter(|r| r.stack == "rustls-aws-lc@0.23.46") {
            for cost in row.costs.iter_mut().flatten() {
                cost.high_ns = cost.median_ns * 10.0;
            }
        }
        let text = screen(&run);
        let said = words(&text);
        assert!(said.contains("rustls-graviola@0.23.46 needs"), "{text}");
        assert!(!said.contains("rustls-aws-lc@0.23.46 needs"), "{text}");
    }

    #[test]
    fn a_sentence_about_sending_compares_what_sending_costs_by_intervals() {
        let mut run = records();
        for row in run.rows.iter_mut().filter(|r| r.stack == "openssl@3.0.19") {
            row.costs = Some([fixtures::cost(2000.0), fixtures::cost(100.0)]);
        }
        let said = |run: &Run| words(&screen(run));
        let text = said(&run);
        assert!(text.contains("rustls-aws-lc@0.23.46 takes 30 % less"), "{text}");
        for cost in run.rows.iter_mut().filter_map(|row| row.costs.as_mut()).flatten() {
            (cost.low_ns, cost.high_ns) = (cost.median_ns * 0.1, cost.median_ns * 10.0);
        }
        let text = said(&run);
        says(&text, ["none of these is shown to take less"]);
        assert!(!text.contains(" takes "), "{text}");
    }

    #[test]
    fn what_a_stack_says_cannot_steer_the_terminal_or_widen_the_screen() {
        let mut run = handshakes();
        let hostile = format!("\u{1b}[2J{}", "x".repeat(500));
        for row in run.rows.iter_mut().filter(|r| r.stack == "rustls-aws-lc@0.23.46") {
            row.stack.clone_from(&hostile);
        }
        run.stacks[6].label.clone_from(&hostile);
        run.host.cpu.name = hostile;
        let text = screen(&run);
        assert!(!text.contains('\u{1b}'), "{text}");
    }
}
