//! Correctness without timing: `ciphermark verify` runs every check, or a file of published vectors with
//! `--vectors`, and says what it tried; `ciphermark once` runs one operation, to settle a disagreement by
//! hand.

use crate::commands::{Sizes, TierGlobs, choose};
use crate::screen::Bar;
use crate::{Exit, Failure, files, screen};
use base::model::{Algorithm, Direction, MAX_REPEATED_SIZE, Tier};
use base::text::flags::{Hex, parse_hex};
use clap::Args;
use engine::protocol::{Finding, Once, Reply, Request};
use engine::{Attached, Extra, Outcomes, Subject, Verdict, Worker};
use record::State;
use serde_json::json;
use std::cell::Cell;
use std::collections::{BTreeMap, BTreeSet};
use std::io::Read as _;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::time::Duration;
use verify::vectors::VectorFile;
use verify::{Repeated, vectors};

/// `ciphermark verify`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ciphermark verify\n  \
    ciphermark verify -a 'aes-*-gcm' -l mine=./libcrypto.so\n  \
    ciphermark verify -t noaes -t aesni -l openssl\n  \
    ciphermark verify -l mine=./libcrypto.so -s 777,3000,12345     check these sizes as well\n  \
    ciphermark verify -l mine=./libcrypto.so --seed 4711           repeat an earlier random choice\n  \
    ciphermark verify --vectors aes_gcm_test.json\n\n\
    Checks every size from 0 to 257 bytes, sizes around powers of two up to 64 KiB, those of --size\n\
    (to 256 MiB; eight times as much memory), and for each algorithm six random ones up to 1 MiB. The\n\
    output ends with what was tried. Exit code 1 if a check found something, 4 if none could run.")]
pub struct VerifyArgs {
    /// Algorithms by name or glob, separated by commas; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Libraries, as for `run`; may be repeated.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Which CPU instructions the library may use, by name or glob, separated by commas; may be
    /// repeated.
    #[arg(
        short,
        long,
        value_name = "TIER",
        value_parser = TierGlobs,
        hide_possible_values = true,
        default_value = "native",
        conflicts_with = "vectors"
    )]
    pub tier: Vec<String>,
    /// Message sizes to check besides the fixed and random ones, as for `run`: 777,3000 or 16..64K.
    #[arg(short, long, value_name = "LIST", conflicts_with = "vectors")]
    pub size: Option<Sizes>,
    /// Seed for the random sizes, messages and order of calls [default: random, and printed].
    #[arg(long, value_name = "N", conflicts_with = "vectors")]
    pub seed: Option<u64>,
    /// Run the test vectors of this file instead (Project Wycheproof's JSON format).
    #[arg(long, value_name = "FILE", conflicts_with = "algorithm")]
    pub vectors: Option<PathBuf>,
    /// Print each algorithm and everything that was tried, not a screen.
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// No progress bar.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `ciphermark once`
#[derive(Debug, Args)]
#[command(
    after_help = "Example:\n  printf hello | ciphermark once -a aes-128-gcm -l openssl \\\n    \
    --key 000102030405060708090a0b0c0d0e0f --nonce 000000000000000000000000 | xxd\n\n\
    Standard input is the message, of at most 16 MiB. `ciphermark list algorithms --json` shows the\n\
    lengths of key and nonce."
)]
pub struct OnceArgs {
    /// The algorithm.
    #[arg(short, long)]
    pub algorithm: String,
    /// The library, as for `run`; exactly one must match.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: String,
    /// Which CPU instructions the library may use.
    #[arg(short, long, default_value = "native", hide_possible_values = true)]
    pub tier: Tier,
    /// The key (XTS: data key, then tweak key). What is typed stands in the process list: one that is a secret comes from
    /// a file.
    #[arg(long, value_parser = key, value_name = "HEX|@FILE", default_value = "")]
    pub key: Hex,
    /// The nonce, IV, initial counter block or tweak.
    #[arg(long, value_parser = parse_hex, value_name = "HEX", default_value = "")]
    pub nonce: Hex,
    /// The associated data.
    #[arg(long, value_parser = parse_hex, value_name = "HEX", default_value = "")]
    pub aad: Hex,
    /// Decrypt; the input ends with the tag.
    #[arg(long)]
    pub decrypt: bool,
}

/// Hexadecimal, or a file of it.
fn key(text: &str) -> Result<Hex, String> {
    let Some(path) = text.strip_prefix('@') else { return parse_hex(text) };
    let bytes = record::read_most(Path::new(path), 4096).map_err(|e| format!("'{path}': {e}"))?;
    parse_hex(&String::from_utf8_lossy(&bytes.ok_or("more than 4096 bytes are no key")?))
}

/// Runs the checks on everything the libraries offer and prints the findings.
pub fn verify(args: &VerifyArgs) -> Result<Exit, Failure> {
    if let Some(path) = &args.vectors {
        return vectors(args, path);
    }
    choose::learn(&args.library, &args.algorithm)?;
    let algorithms = choose::algorithms_or_all(&args.algorithm)?;
    let mut tiers = choose::tiers(&args.tier)?;
    tiers.sort_unstable();
    let libraries = engine::at_tiers(&choose::attached(&args.library)?, &tiers);
    let (subjects, missing) = subjects(&libraries, &tiers, &algorithms);
    if subjects.is_empty() && missing.is_empty() {
        return Err(Failure::not_done(
            "none of the selected libraries offers any of the algorithms",
        ));
    }
    let seed = args.seed.unwrap_or_else(choose::random_seed);
    let sizes: &[usize] = args.size.as_ref().map_or(&[], |sizes| &sizes.0);
    let extra = Extra { seed, sizes, cases: &[], before_a_run: false };
    let room_bytes = host::room_bytes();
    let each = subjects.iter().flat_map(|(.., a)| sizes.iter().map(move |size| (*a, *size)));
    let mut lacking = each.filter(|(a, size)| a.sizes.allows(*size));
    let lacking = lacking.find_map(|(a, size)| engine::lacks_memory(a, size, 1, room_bytes));
    if let Some(why) = lacking {
        return Err(Failure::not_done(why));
    }
    let bar = Bar::new(args.quiet);
    let count = AtomicUsize::new(0);
    let verdicts =
        engine::verify_all(&libraries, &subjects, extra, &engine::Stop::default(), &|| {
            bar.verifying(count.fetch_add(1, Ordering::Relaxed) + 1, subjects.len());
        });
    bar.finish();
    if args.json {
        print_json(&libraries, &verdicts, &missing, seed)?
    } else {
        print_text(&libraries, &verdicts, &missing, seed, args.all)?
    }
    let findings = verdicts.iter().filter_map(|v| v.outcome.as_ref().err());
    let mut findings = findings.chain(missing.iter().map(|m| &m.why));
    let bad = findings.any(|f| f.state != State::Unsupported);
    let passed = verdicts.iter().any(|v| v.outcome.is_ok());
    Ok(match (bad, passed) {
        (true, _) => Exit::Found,
        (false, true) => Exit::Done,
        (false, false) => Exit::NotDone,
    })
}

/// A library that a tier cannot be applied to.
struct Missing {
    library: usize,
    tier: Tier,
    why: Finding,
}

/// What is offered in at least one direction and model, or failed to open; and the tiers that cannot
/// be applied.
fn subjects(
    libraries: &[Attached],
    tiers: &[Tier],
    algorithms: &[&'static Algorithm],
) -> (Vec<Subject>, Vec<Missing>) {
    let (mut subjects, mut missing) = (Vec::new(), Vec::new());
    for (i, library) in libraries.iter().enumerate() {
        for tier in tiers {
            let offers = match library.offers_at(*tier) {
                Ok(offers) => offers,
                Err(why) => {
                    missing.push(Missing { library: i, tier: *tier, why });
                    continue;
                }
            };
            for algorithm in algorithms {
                let mut own = offers.iter().filter(|o| o.algorithm == algorithm.name);
                if own.any(|o| !o.models.is_empty() || o.failed) {
                    subjects.push((i, *tier, *algorithm));
                }
            }
        }
    }
    (subjects, missing)
}

fn print_text(
    libraries: &[Attached],
    verdicts: &[Verdict],
    missing: &[Missing],
    seed: u64,
    all: bool,
) -> Result<(), Failure> {
    let found = |f: &Finding| Err((f.state, f.why.clone()));
    let checked = verdicts.iter().map(|v| report::CheckRow {
        library: libraries[v.library].label(),
        tier: v.tier,
        algorithm: v.algorithm.to_owned(),
        outcome: v.outcome.clone().or_else(|f| found(&f)),
    });
    let missing = missing.iter().map(|m| report::CheckRow {
        library: libraries[m.library].label(),
        tier: m.tier,
        algorithm: "all".to_owned(),
        outcome: found(&m.why),
    });
    let rows: Vec<report::CheckRow> = checked.chain(missing).collect();
    let tried = tried_in_words(libraries, verdicts, seed);
    screen::print(|options| match all {
        true => report::checks(&rows, options) + &report::pairs(&tried, options),
        false => report::checks_screen(&rows, &tried, options),
    })
}

fn print_json(
    libraries: &[Attached],
    verdicts: &[Verdict],
    missing: &[Missing],
    seed: u64,
) -> Result<(), Failure> {
    let row = |library: usize,
               tier: Tier,
               algorithm: Option<&str>,
               outcome: Result<&[record::Check], &Finding>,
               remarks: &[String],
               tried: Option<&verify::Tried>| {
        let (state, reason, checks): (_, _, &[record::Check]) = match outcome {
            Ok(checks) => ("passed", None, checks),
            Err(f) => (f.state.name(), Some(&f.why), &[]),
        };
        json!({
            "library": crate::commands::identity(&libraries[library]),
            "tier": tier, "algorithm": algorithm, "state": state, "reason": reason, "checks": checks,
            "remarks": remarks, "seed": seed, "tried": tried,
            "warning": algorithm.and_then(|name| Algorithm::find(name).ok()?.warning()),
        })
    };
    let checked = verdicts.iter().map(|v| {
        let (outcome, tried) = (v.outcome.as_deref(), v.tried.as_ref());
        row(v.library, v.tier, Some(v.algorithm), outcome, &v.remarks, tried)
    });
    let missing = missing.iter().map(|m| row(m.library, m.tier, None, Err(&m.why), &[], None));
    let rows: Vec<_> = checked.chain(missing).collect();
    screen::print_json(&rows)
}

/// Up to so many algorithms, all drawn sizes are named; for more, JSON has them.
const MOST_NAMED: usize = 8;
/// How many to name of those that ran out of time.
const MOST_SHORT: usize = 3;

pub fn tried_in_words(
    libraries: &[Attached],
    verdicts: &[Verdict],
    seed: u64,
) -> Vec<(String, String)> {
    let mut lines = vec![
        ("fixed sizes".to_owned(), verify::FIXED_SIZES.to_owned()),
        ("asked sizes".to_owned(), asked(verdicts)),
        ("drawn sizes".to_owned(), drawn(verdicts)),
        ("not taken".to_owned(), not_taken(libraries, verdicts)),
        ("repeated calls".to_owned(), repeated(libraries, verdicts)),
        ("remarks".to_owned(), remarks(libraries, verdicts)),
    ];
    lines.retain(|(_, words)| !words.is_empty());
    lines.push(("seed".to_owned(), format!("{seed}; --seed {seed} draws the same again")));
    lines
}

fn remarks(libraries: &[Attached], verdicts: &[Verdict]) -> String {
    let all = verdicts.iter().flat_map(|v| v.remarks.iter().map(move |remark| (v, remark)));
    let mut words: Vec<String> = all
        .map(|(v, remark)| format!("{} {}: {remark}", libraries[v.library].label(), v.algorithm))
        .collect();
    if words.len() > MOST_SHORT {
        let more = words.split_off(MOST_SHORT).len();
        words.push(format!("{more} more, which --json lists"));
    }
    words.join("; ")
}

fn asked(verdicts: &[Verdict]) -> String {
    listed(verdicts.iter().filter_map(|v| v.tried.as_ref()).flat_map(|t| &t.asked))
}

fn listed<'a>(sizes: impl Iterator<Item = &'a usize>) -> String {
    let sizes: BTreeSet<usize> = sizes.copied().collect();
    let words: Vec<String> = sizes.iter().map(usize::to_string).collect();
    words.join(", ")
}

fn drawn(verdicts: &[Verdict]) -> String {
    let mut by_algorithm: BTreeMap<&str, BTreeSet<usize>> = BTreeMap::new();
    for verdict in verdicts {
        let Some(tried) = &verdict.tried else { continue };
        by_algorithm.entry(verdict.algorithm).or_default().extend(&tried.drawn);
    }
    by_algorithm.retain(|_, sizes| !sizes.is_empty());
    if by_algorithm.len() > MOST_NAMED {
        let all: BTreeSet<usize> = by_algorithm.values().flatten().copied().collect();
        let (least, most) = (all.first().unwrap_or(&0), all.last().unwrap_or(&0));
        return format!(
            "{} from {least} to {most} bytes, up to six for each of {} algorithms; --json lists them",
            all.len(),
            by_algorithm.len()
        );
    }
    let words =
        by_algorithm.iter().map(|(name, sizes)| format!("{name}: {}", listed(sizes.iter())));
    words.collect::<Vec<_>>().join("; ")
}

fn not_taken(libraries: &[Attached], verdicts: &[Verdict]) -> String {
    let mut by_library: BTreeMap<String, BTreeSet<usize>> = BTreeMap::new();
    for verdict in verdicts {
        let sizes = verdict.tried.iter().flat_map(|t| t.not_taken.iter().copied());
        by_library.entry(libraries[verdict.library].label()).or_default().extend(sizes);
    }
    by_library.retain(|_, sizes| !sizes.is_empty());
    let words =
        by_library.iter().map(|(label, sizes)| format!("{label}: {}", listed(sizes.iter())));
    words.collect::<Vec<_>>().join("; ")
}

fn repeated(libraries: &[Attached], verdicts: &[Verdict]) -> String {
    let runs: Vec<(&Verdict, &Repeated)> = verdicts
        .iter()
        .flat_map(|v| v.tried.iter().flat_map(move |t| t.repeated.iter().map(move |r| (v, r))))
        .collect();
    let calls: u64 = runs.iter().map(|(_, r)| r.calls).sum();
    if calls == 0 {
        return String::new();
    }
    let forgeries: u64 = runs.iter().map(|(_, r)| r.forgeries).sum();
    let mut out = format!("{calls} in {} sessions, {forgeries} of them forgeries", runs.len());
    let mut short: Vec<_> = runs.into_iter().filter(|(_, r)| r.cut_short).collect();
    if short.is_empty() {
        return out;
    }
    short.sort_by_key(|(v, r)| (r.calls, v.library, v.algorithm));
    let named = short.iter().take(MOST_SHORT).map(|(v, r)| {
        let label = libraries[v.library].label();
        format!("{label} {} {} {}", v.algorithm, r.direction, r.calls)
    });
    let more = short.len().saturating_sub(MOST_SHORT);
    out += &format!(
        "; fewer than 20000 right messages in {}, which are slow: {}",
        short.len(),
        named.collect::<Vec<_>>().join(", ")
    );
    if more > 0 {
        out += &format!(" and {more} more");
    }
    out
}

/// Runs the file through every chosen library that has its algorithms.
pub fn vectors(args: &VerifyArgs, path: &Path) -> Result<Exit, Failure> {
    let named = |why: String| Failure::usage(format!("vectors '{}': {why}", path.display()));
    let file = files::within_bounds(|| {
        let text = files::text(path, &format!("vectors '{}'", path.display()))?;
        vectors::read(&text).map_err(|e| named(e.to_string()))
    })??;
    if file.vectors.is_empty() {
        let why = file.skipped.first().map_or("it has no test", |(_, why)| why);
        return Err(named(format!("none of its tests fits an algorithm: {why}")));
    }
    let libraries = choose::attached(&args.library)?;
    let total = libraries.len() * file.vectors.len();
    let (bar, count) = (Bar::new(args.quiet), Cell::new(0));
    let done = || {
        count.set(count.get() + 1);
        bar.count("vectors", count.get(), total, "vectors in libraries");
    };
    let outcomes: Vec<Outcomes> = libraries
        .iter()
        .map(|library| engine::hold_to_vectors(library, &file.vectors, &done))
        .collect();
    bar.finish();
    if args.json {
        print_vectors_json(&file, &libraries, &outcomes)?;
    } else {
        screen::print(|_| text_of(&file, &libraries, &outcomes))?;
    }
    if outcomes.iter().all(|o| o.not_offered == file.vectors.len()) {
        let why = format!("none of the selected libraries offers {}", file.algorithm);
        return Err(Failure::not_done(why));
    }
    let wrong = outcomes.iter().any(|o| !o.wrong.is_empty());
    Ok(if wrong { Exit::Found } else { Exit::Done })
}

fn text_of(file: &VectorFile, libraries: &[Attached], outcomes: &[Outcomes]) -> String {
    let mut out = format!(
        "{}: {} vectors fit, {} do not\n",
        file.algorithm,
        file.vectors.len(),
        file.skipped.len()
    );
    for (why, tests) in reasons(file) {
        out += &format!("  {tests} skipped: {why}\n");
    }
    for (library, o) in libraries.iter().zip(outcomes) {
        if o.not_offered == file.vectors.len() {
            continue;
        }
        out += &format!(
            "{}: {} passed, {} correctly rejected, {} wrong, {} not offered\n",
            library.label(),
            o.passed,
            o.rejected,
            o.wrong.len(),
            o.not_offered
        );
        for (id, algorithm, why) in &o.wrong {
            out += &format!("  tcId {id}, {algorithm}: {why}\n");
        }
    }
    out
}

/// Each reason for leaving tests out, with how many.
fn reasons(file: &VectorFile) -> std::collections::BTreeMap<&str, usize> {
    let mut reasons = std::collections::BTreeMap::new();
    for (_, why) in &file.skipped {
        *reasons.entry(why.as_str()).or_insert(0) += 1;
    }
    reasons
}

fn print_vectors_json(
    file: &VectorFile,
    libraries: &[Attached],
    outcomes: &[Outcomes],
) -> Result<(), Failure> {
    let rows: Vec<_> = libraries
        .iter()
        .zip(outcomes)
        .map(|(library, o)| {
            let wrong: Vec<_> = o
                .wrong
                .iter()
                .map(|(id, algorithm, why)| json!({"tcId": id, "algorithm": algorithm, "reason": why}))
                .collect();
            json!({
                "library": crate::commands::identity(library),
                "passed": o.passed, "rejected": o.rejected, "not_offered": o.not_offered, "wrong": wrong,
            })
        })
        .collect();
    let skipped: Vec<_> =
        file.skipped.iter().map(|(id, why)| json!({"tcId": id, "reason": why})).collect();
    let whole = json!({"algorithm": file.algorithm, "vectors": file.vectors.len(), "skipped": skipped, "libraries": rows});
    screen::print_json(&whole)
}

// `ciphermark once`: one operation through one library, for settling disagreements by hand.

/// One operation on at most 16 MiB, which passes the worker's pipes as text: a minute is enough for the slowest software known.
const DEADLINE: Duration = Duration::from_secs(60);

/// Reads standard input, runs the operation in a worker, writes the result to standard output.
pub fn once(args: &OnceArgs) -> Result<Exit, Failure> {
    choose::learn(std::slice::from_ref(&args.library), std::slice::from_ref(&args.algorithm))?;
    let algorithm = Algorithm::find(&args.algorithm).map_err(Failure::usage)?;
    check_length("key", args.key.0.len(), algorithm.key_len, algorithm)?;
    check_length("nonce", args.nonce.0.len(), algorithm.nonce_len, algorithm)?;
    if !algorithm.takes_aad() && !args.aad.0.is_empty() {
        return Err(Failure::usage(format!("{algorithm} takes no associated data")));
    }
    let direction = direction(algorithm, args.decrypt)?;
    let (input, tag) = message(algorithm, direction)?;
    let reply = ask(args, algorithm, direction, &input, &tag)?;
    let (output, tag) = match reply {
        Reply::Result { output, tag } => (output, tag),
        Reply::Finding(finding) if finding.state == State::Unsupported => {
            return Err(Failure::usage(finding.why));
        }
        Reply::Finding(finding) if finding.state == State::Refused => {
            return Err(Failure { exit: Exit::Found, ..Failure::not_done(finding.why) });
        }
        Reply::Finding(finding) => return Err(Failure::not_done(finding.why)),
        other => return Err(Failure::not_done(format!("the worker answered {other:?}"))),
    };
    let mut bytes = hex::decode(output).map_err(Failure::not_done)?;
    if direction != Direction::Decrypt {
        bytes.extend(hex::decode(tag).map_err(Failure::not_done)?);
    }
    screen::print_bytes(&bytes)?;
    Ok(Exit::Done)
}

fn check_length(
    what: &str,
    given: usize,
    needed: usize,
    algorithm: &Algorithm,
) -> Result<(), Failure> {
    if given == needed {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "--{what} has {given} bytes, {algorithm} takes {needed} ({} hexadecimal digits)",
        2 * needed
    )))
}

fn direction(algorithm: &Algorithm, decrypt: bool) -> Result<Direction, Failure> {
    match (Direction::of(algorithm.kind), decrypt) {
        ([only], false) => Ok(*only),
        ([_], true) => Err(Failure::usage(format!("{algorithm} has nothing to decrypt"))),
        (_, true) => Ok(Direction::Decrypt),
        (_, false) => Ok(Direction::Encrypt),
    }
}

/// Standard input as message and, for decryption, the tag at its end.
fn message(algorithm: &Algorithm, direction: Direction) -> Result<(Vec<u8>, Vec<u8>), Failure> {
    let mut input = Vec::new();
    let most = MAX_REPEATED_SIZE + algorithm.tag_len;
    std::io::stdin()
        .take(most as u64 + 1)
        .read_to_end(&mut input)
        .map_err(|e| Failure::usage(format!("cannot read standard input: {e}")))?;
    if input.len() > most {
        return Err(Failure::usage("standard input has more than 16 MiB"));
    }
    let mut tag = Vec::new();
    if direction == Direction::Decrypt {
        let Some(at) = input.len().checked_sub(algorithm.tag_len) else {
            return Err(Failure::usage(format!(
                "standard input has {} bytes, the tag of {algorithm} alone has {}",
                input.len(),
                algorithm.tag_len
            )));
        };
        tag = input.split_off(at);
    }
    if !algorithm.sizes.allows(input.len()) {
        return Err(Failure::usage(format!(
            "{algorithm} does not take a message of {} bytes: {}",
            input.len(),
            algorithm.size_reason()
        )));
    }
    Ok((input, tag))
}

fn ask(
    args: &OnceArgs,
    algorithm: &Algorithm,
    direction: Direction,
    input: &[u8],
    tag: &[u8],
) -> Result<Reply, Failure> {
    let library = choose::only(&args.library)?;
    let mut worker =
        Worker::start(library.hello(args.tier, None, 0, 0)).map_err(Failure::not_done)?;
    worker.send(&Request::Once(Once {
        algorithm: algorithm.name.to_owned(),
        direction,
        key: hex::encode(&args.key.0),
        nonce: hex::encode(&args.nonce.0),
        aad: hex::encode(&args.aad.0),
        input: hex::encode(input),
        tag: hex::encode(tag),
    }));
    worker.reply(DEADLINE).map_err(Failure::not_done)
}
