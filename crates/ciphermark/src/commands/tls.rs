//! `ciphermark tls`: what handshakes, records and primitives of TLS cost in the stacks of this machine.

mod load;

use crate::commands::advise::YesNo;
use crate::commands::run::{sampled, survey, watch_signals};
use crate::commands::{Cli, Command, TimeArgs, choose, one_of, run};
use crate::{Exit, Failure, files, screen};
use base::model::{Algorithm, Tier};
use base::text::Options;
use base::text::flags::parse_fraction;
use clap::{Args, Parser as _, Subcommand};
use engine::{
    Attached, Budget, Keeping, Request, SelectedStacks, StackFile, Stop, TlsOutcome, TlsRace,
    TlsRequest,
};
use judge::tls::{ALL_RECORD_SIZES, DIGEST_SIZES};
use load::{CalibrateArgs, LoadArgs, WhyArgs};
use record::tls::{
    Case, Certificate, Exchange, Filter, Format, Kind, LARGEST_RECORD, Operation, Primitive,
    Protection, RunKind, Scheme, Subject, Suite, Temperature, Version,
};
use record::{Journal, Kept, Measurement, State};
use serde::Serialize;
use serde::de::DeserializeOwned;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;

/// `ciphermark tls`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls handshake                                what a connection costs, in every stack\n  \
    ciphermark tls handshake -x x25519 -c p256 -k full      one case in every stack\n  \
    ciphermark tls records -l 'openssl@3.0*'                what a record costs, next to the bare cipher\n  \
    ciphermark tls calibrate -o cal.json                    what connections cost nginx here\n  \
    ciphermark tls primitives -p x25519,ecdsa-p256          what a handshake is made of\n  \
    ciphermark tls load site.toml --calibration cal.json    a server's CPU by part\n  \
    ciphermark tls why --from 0.5% --to 2..3% --calibration cal.json")]
pub struct TlsArgs {
    #[command(subcommand)]
    pub command: TlsCommand,
}

impl TlsArgs {
    pub fn reads(&self) -> bool {
        matches!(self.command, TlsCommand::Load(_) | TlsCommand::Why(_))
    }
}

/// `ciphermark tls …`
#[derive(Debug, Subcommand)]
pub enum TlsCommand {
    /// Measure handshakes in memory: server and client separately, in every stack.
    Handshake(HandshakeArgs),
    /// Measure records: sending and receiving separately, by suite and size, next to the bare cipher.
    Records(RecordsArgs),
    /// Measure what connections and requests cost servers on this machine, including nginx.
    Calibrate(CalibrateArgs),
    /// Measure what a handshake is made of: key generation and agreement, signatures, digests.
    Primitives(PrimitivesArgs),
    /// Calculate what a server spends CPU on, from a specification and a calibration.
    Load(Box<LoadArgs>),
    /// Find what explains a rise in CPU use, and what cannot.
    Why(WhyArgs),
}

/// Where the result of a command goes.
#[derive(Debug, Args)]
pub struct TlsOutput {
    /// How to print it.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: Format,
    /// Also write it to this file (JSON).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// Flags of everything that is measured in stacks.
#[derive(Debug, Args)]
pub struct TlsCommon {
    /// Stacks by the name of their library (for rustls: rustls-ring, rustls-graviola,
    /// rustls-aws-lc), name@version or glob, or NAME=PATH of a libssl, a libcrypto, a libwolfssl or a
    /// stack's own object; may be repeated [default: all that are found].
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Stop sampling a case once its interval's half-width is at most this; 5% for handshakes that
    /// are not hot [default: 3% for the answer on a screen, 2% for cases that are selected].
    #[arg(long, value_name = "PERCENT", value_parser = parse_fraction, allow_hyphen_values = true)]
    pub precision: Option<f64>,
    /// Which CPU instructions the stacks may see: `ciphermark list tiers`.
    #[arg(short, long, value_name = "TIER", default_value = "native")]
    pub tier: String,
    #[command(flatten)]
    pub time: TimeArgs,
    /// Resume the run that was to write FILE and was killed or interrupted. Its flags count again; only
    /// --budget, --thorough, --format, --all and --quiet may be new.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["library", "precision", "seed", "output", "tier"])]
    pub resume: Option<PathBuf>,
    /// Seed for the order of visits [default: random].
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    #[command(flatten)]
    pub out: TlsOutput,
    /// Print the whole table, however long, instead of the answer in a screen.
    #[arg(long)]
    pub all: bool,
    /// No progress bar and no remarks on standard error.
    #[arg(short, long)]
    pub quiet: bool,
}

impl TlsCommand {
    /// The flags of what is measured in stacks.
    pub fn common(&mut self) -> Option<&mut TlsCommon> {
        match self {
            Self::Handshake(args) => Some(&mut args.common),
            Self::Records(args) => Some(&mut args.common),
            Self::Primitives(args) => Some(&mut args.common),
            Self::Calibrate(_) | Self::Load(_) | Self::Why(_) => None,
        }
    }
}

/// What handshakes and records both negotiate.
#[derive(Debug, Args)]
pub struct TlsNegotiated {
    /// Versions of TLS: 1.2, 1.3.
    #[arg(short = 'V', long = "tls", value_name = "LIST", value_delimiter = ',', value_parser = Filter::version)]
    pub versions: Vec<Version>,
    /// Suites.
    #[arg(long = "cipher", value_name = "LIST", value_delimiter = ',', value_parser = Filter::suite)]
    pub suites: Vec<Suite>,
}

/// `ciphermark tls handshake`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls handshake                                    what most people ask, on one screen\n  \
    ciphermark tls handshake -l 'openssl@3.0*' -l aws-lc --thorough    every case of two stacks\n  \
    ciphermark tls handshake -x x25519 -c p256 -k full          one case in every stack\n  \
    ciphermark tls handshake -V 1.2 -x own-dh-2048,ffdhe2048    what a DH file costs\n  \
    ciphermark tls handshake -k resumed-psk --temperature hot,cold    how much the caches help\n  \
    ciphermark tls handshake -t sandybridge                     on a machine of that year\n  \
    ciphermark tls handshake -l mine=/opt/openssl/lib/libssl.so.4 -o tls.json\n\n\
    Key exchanges: rsa, ffdhe2048, ffdhe4096, own-dh-2048, p256, p384, x25519, x25519mlkem768.\n\
    Certificates: rsa-2048, rsa-3072, rsa-4096, p256, p384, ed25519, mldsa44, mldsa65, mldsa87.\n\
    Kinds: full, hello-retry, resumed-id, resumed-ticket, resumed-psk.\n\
    Suites: aes-128-gcm, aes-256-gcm, chacha20-poly1305, aes-128-ccm, aes-128-cbc+sha1,\n\
    aes-256-cbc+sha1, aes-128-cbc+sha256, aes-256-cbc+sha384.\n\n\
    Every handshake that counts is checked against its row, from the bytes on the wire and at both\n\
    ends: version, suite, group, signature, resumed or not. Tables show medians. JSON and CSV also have\n\
    the means (a server's load is a sum of means), the first handshake of a process, bytes on the wire\n\
    and memory. docs/TLS.md says what is inside the clock.\n\n\
    Exit codes: 0 done; 2 wrong usage; 3 some cases were refused or failed; 4 nothing to measure.")]
pub struct HandshakeArgs {
    #[command(flatten)]
    pub common: TlsCommon,
    #[command(flatten)]
    pub negotiated: TlsNegotiated,
    /// Key exchanges.
    #[arg(short = 'x', long = "exchange", value_name = "LIST", value_delimiter = ',', value_parser = Filter::exchange)]
    pub exchanges: Vec<Exchange>,
    /// Certificates.
    #[arg(short, long = "certificate", value_name = "LIST", value_delimiter = ',', value_parser = Filter::certificate)]
    pub certificates: Vec<Certificate>,
    /// How connections begin.
    #[arg(short, long = "kind", value_name = "LIST", value_delimiter = ',', value_parser = Filter::kind)]
    pub kinds: Vec<Kind>,
    /// Whether the client authenticates itself too.
    #[arg(long, value_name = "WHICH")]
    pub client_auth: Option<YesNo>,
    /// The pause between two steps of a handshake. hot: none; idle: 100 µs; cold: a pause, and other
    /// data in the core's caches [default: hot, and cold too for X25519, P-256 and X25519MLKEM768 with
    /// RSA-2048 and P-256].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = one_of(Temperature::ALL, Temperature::name))]
    pub temperature: Vec<Temperature>,
}

/// `ciphermark tls records`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls records                                           what most people ask, on one screen\n  \
    ciphermark tls records -l 'openssl@3.0*' -l aws-lc --thorough    every suite of two stacks\n  \
    ciphermark tls records --cipher aes-128-gcm,chacha20-poly1305    two suites in every stack\n  \
    ciphermark tls records -V 1.2 --cipher aes-256-cbc+sha384 -s 1K,16K\n  \
    ciphermark tls records -s 64..16K --format csv                   for a plot\n\n\
    Suites: aes-128-gcm, aes-256-gcm, chacha20-poly1305, aes-128-ccm, and in TLS 1.2 aes-128-cbc+sha1,\n\
    aes-256-cbc+sha1, aes-128-cbc+sha256, aes-256-cbc+sha384.\n\n\
    Each batch is checked outside the clock: there are as many records on the wire as were written,\n\
    long enough and not in the clear; what arrives is what was sent; and a record changed on the way is\n\
    rejected. The bare cipher is that of the stack's own library, called directly, with all its checks.\n\
    docs/TLS.md says what is inside the clock.\n\n\
    Exit codes: 0 done; 2 wrong usage; 3 some cases were refused or failed; 4 nothing to measure.")]
pub struct RecordsArgs {
    #[command(flatten)]
    pub common: TlsCommon,
    #[command(flatten)]
    pub negotiated: TlsNegotiated,
    /// Bytes of data in a record, 1 to 16K [default: 64,256,1400,4K,16K].
    #[arg(short, long, value_name = "LIST")]
    pub size: Option<RecordSizes>,
}

/// `ciphermark tls primitives`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls primitives                                           what servers use, on one screen\n  \
    ciphermark tls primitives -l 'openssl@3.0*' -l aws-lc --thorough    everything in two libraries\n  \
    ciphermark tls primitives -p rsa-2048-pss,ecdsa-p256 -O sign        what a certificate costs a server\n  \
    ciphermark tls primitives -p x25519,p256,p384,mlkem768              what a key exchange costs\n  \
    ciphermark tls primitives -p sha256,sha384 -s 64,16K --format csv   digests, for a plot\n  \
    ciphermark tls primitives -l mine=/opt/openssl/lib/libssl.so.4 -o primitives.json\n\n\
    Primitives: x25519, x448, p256, p384, p521, ffdhe2048, ffdhe3072, ffdhe4096, own-dh-2048 (generate,\n\
    agree); mlkem512, mlkem768, mlkem1024, x25519mlkem768, secp256r1mlkem768, secp384r1mlkem1024\n\
    (generate, encapsulate, decapsulate); rsa-2048-pss, rsa-2048-pkcs1 and the same of 3072 and 4096\n\
    bits, ecdsa-p256, ecdsa-p384, ecdsa-p521, ed25519, ed448, mldsa44, mldsa65, mldsa87 (sign, verify);\n\
    sha256, sha384, hmac-sha256, hmac-sha384 (digest).\n\n\
    Each row has two figures, measured in turn: whole, as in a handshake (context, the other side's key\n\
    from its bytes, the operation), and the library's call alone, as in openssl speed. After each timed\n\
    batch another implementation checks its results, and a changed bit must be noticed. A handshake\n\
    costs more than their sum. docs/TLS.md says what is inside the clock.\n\n\
    Exit codes: 0 done; 2 wrong usage; 3 some cases were refused or failed; 4 nothing to measure.")]
pub struct PrimitivesArgs {
    #[command(flatten)]
    pub common: TlsCommon,
    /// Primitives.
    #[arg(short, long = "primitive", value_name = "LIST", value_delimiter = ',', value_parser = Filter::scheme)]
    pub primitives: Vec<Scheme>,
    /// Operations: generate, agree, sign, verify, encapsulate, decapsulate, digest.
    #[arg(short = 'O', long = "operation", value_name = "LIST", value_delimiter = ',', value_parser = Filter::operation)]
    pub operations: Vec<Operation>,
    /// Bytes to digest, 1 to 16K [default: 64,256,1400,16K].
    #[arg(short, long, value_name = "LIST")]
    pub size: Option<RecordSizes>,
}

#[derive(Clone, Debug)]
pub struct RecordSizes(pub Vec<u32>);

impl FromStr for RecordSizes {
    type Err = String;

    fn from_str(text: &str) -> Result<Self, String> {
        let sizes = base::model::parse_sizes(text).map_err(|e| e.to_string())?;
        match sizes.iter().find(|size| !(1..=LARGEST_RECORD).contains(*size)) {
            Some(size) => Err(format!(
                "a TLS record holds 1 to {LARGEST_RECORD} bytes of data (RFC 8446 5.1), not {size}"
            )),
            None => Ok(Self(sizes.into_iter().map(|size| size as u32).collect())),
        }
    }
}

/// Time of sampling of a thorough run, at least.
const THOROUGH: Duration = Duration::from_secs(120);

pub fn tls(args: &mut TlsArgs) -> Result<Exit, Failure> {
    let resumed = args.command.common().and_then(|common| {
        let path = common.resume.clone()?;
        Some((path, common.time, common.quiet, common.out.format, common.all))
    });
    let Some((path, time, quiet, format, all)) = resumed else {
        return measure(&args.command, None);
    };
    let (journal, kept) = gone_on_with(&path, quiet)?;
    let mut command = command_again(&kept.head.command)?;
    let of_another = || {
        let kind = &kept.head.kind;
        Failure::usage(format!(
            "'{}' is a run of kind '{kind}', not of this command",
            path.display()
        ))
    };
    if std::mem::discriminant(&command) != std::mem::discriminant(&args.command) {
        return Err(of_another());
    }
    let common = command.common().ok_or_else(of_another)?;
    common.time = time.or(common.time);
    common.seed = Some(kept.head.plan.seed);
    common.quiet = quiet;
    common.out.format = format;
    common.all = all;
    common.out.output = Some(path);
    measure(&command, Some((journal, kept)))
}

/// The journal of a run that can be resumed, and what it has.
pub(crate) fn gone_on_with(path: &Path, quiet: bool) -> Result<(Journal, Kept), Failure> {
    let journal = Journal::path_for(path);
    if !journal.exists() {
        let why = format!("there is nothing to resume: no file '{}'", journal.display());
        return Err(Failure::usage(why));
    }
    run::reopen(path, quiet)
}

/// What was typed when the run began.
fn command_again(typed: &[String]) -> Result<TlsCommand, Failure> {
    match Cli::try_parse_from(typed).map_err(Failure::usage)?.command {
        Some(Command::Tls(args)) => Ok(args.command),
        _ => Err(Failure::usage("it is a run of another command: resume it with that one")),
    }
}

/// The journal of an earlier part of a run, and what it has.
pub(crate) type Begun = Option<(Journal, Kept)>;

fn measure(command: &TlsCommand, begun: Begun) -> Result<Exit, Failure> {
    match command {
        TlsCommand::Handshake(args) => handshake(args, begun),
        TlsCommand::Records(args) => records(args, begun),
        TlsCommand::Calibrate(args) => load::calibrate(args),
        TlsCommand::Load(args) => load::load(args),
        TlsCommand::Why(args) => load::why(args),
        TlsCommand::Primitives(args) => primitives(args, begun),
    }
}

/// What was typed, when the run began.
pub(crate) fn command(keeping: &Keeping) -> Vec<String> {
    let earlier = keeping.earlier.as_ref().map(|kept| kept.head.command.clone());
    earlier.unwrap_or_else(crate::commands::typed)
}

fn handshake(args: &HandshakeArgs, begun: Begun) -> Result<Exit, Failure> {
    let filter = Filter {
        versions: args.negotiated.versions.clone(),
        exchanges: args.exchanges.clone(),
        certificates: args.certificates.clone(),
        kinds: args.kinds.clone(),
        client_auth: args.client_auth.map(|given| given == YesNo::Yes),
        suites: args.negotiated.suites.clone(),
    };
    let is_selected = filter != Filter::default() || !args.temperature.is_empty();
    let wanted = Wanted::of(RunKind::Handshakes, &args.common, is_selected, || {
        let cases = record::tls::matrix(&filter);
        let rows = record::tls::rows(&cases, &choose::distinct(&args.temperature));
        rows.into_iter().map(|(case, t)| (Subject::Handshake(case), t)).collect()
    });
    if wanted.rows.is_empty() {
        return Err(Failure::usage(
            "TLS has no such handshake: these versions, key exchanges, certificates, kinds and suites do not go together",
        ));
    }
    run(RunKind::Handshakes, &args.common, wanted, begun)
}

fn primitives(args: &PrimitivesArgs, begun: Begun) -> Result<Exit, Failure> {
    let is_selected =
        !args.primitives.is_empty() || !args.operations.is_empty() || args.size.is_some();
    let sizes = args.size.as_ref().map_or(&DIGEST_SIZES[..], |sizes| &sizes.0);
    let wanted = Wanted::of(RunKind::Primitives, &args.common, is_selected, || {
        let all = Primitive::all(&args.primitives, &args.operations, sizes);
        all.into_iter().map(|p| (Subject::Primitive(p), Temperature::Hot)).collect()
    });
    if wanted.rows.is_empty() {
        return Err(Failure::usage("these primitives have no such operations"));
    }
    run(RunKind::Primitives, &args.common, wanted, begun)
}

type Rows = Vec<(Subject, Temperature)>;

struct Wanted {
    rows: Rows,
    /// Rows that one table compares, as places among the rows; none where all is measured to the end.
    groups: Option<Vec<Vec<usize>>>,
    turns: Vec<u32>,
    /// Whether rows were selected, which are shown in a table.
    is_selected: bool,
}

impl Wanted {
    /// What was selected, everything, or what people ask about.
    fn of(
        kind: RunKind,
        common: &TlsCommon,
        is_selected: bool,
        all: impl FnOnce() -> Rows,
    ) -> Self {
        if is_selected || common.time.thorough {
            return Self { rows: all(), groups: None, turns: Vec::new(), is_selected };
        }
        let (mut rows, mut groups) = (Rows::new(), Vec::new());
        for group in judge::tls::groups(kind) {
            let place = |wanted| {
                rows.iter().position(|row| *row == wanted).unwrap_or_else(|| {
                    rows.push(wanted);
                    rows.len() - 1
                })
            };
            groups.push(group.into_iter().map(place).collect());
        }
        Self { rows, groups: Some(groups), turns: judge::tls::turns(kind), is_selected }
    }

    fn race(&self, stacks: &[StackFile]) -> Option<TlsRace> {
        let is_yours = |at: &usize| judge::tls::is_system(&stacks[*at].facts);
        Some(TlsRace {
            groups: self.groups.clone()?,
            turns: self.turns.clone(),
            wanted: (0..stacks.len()).filter(is_yours).collect(),
            rulers: None,
        })
    }

    fn precision(&self, typed: Option<f64>) -> f64 {
        typed.unwrap_or(if self.groups.is_some() { ANSWER_PRECISION } else { PRECISION })
    }
}

/// Half-widths of intervals at which sampling ends: of an answer, and of what was selected.
const ANSWER_PRECISION: f64 = 0.03;
const PRECISION: f64 = 0.02;

/// Seconds that a thorough run takes for each row of a stack, on a quiet machine.
const THOROUGH_ROW: f64 = 0.9;

/// Measures rows in every stack, and shows them.
fn run(kind: RunKind, common: &TlsCommon, wanted: Wanted, begun: Begun) -> Result<Exit, Failure> {
    let keeping = common.out.claim(kind, begun)?;
    let stop = common.time.limit(&watch_signals()?);
    let (stacks, _) = stacks(&common.library, false)?;
    let stacks = common.at_tier(stacks)?;
    let request = common.request(&wanted, &stacks, &keeping);
    let outcome = sampled(common.quiet, |events| {
        engine::measure_tls(kind, &request, &stacks, keeping, &stop, events)
    })?;
    common.deliver(outcome, wanted.is_selected)
}

/// Handshakes whose differences count from a few per cent on.
pub(crate) fn handshakes(
    quiet: bool,
    cases: impl IntoIterator<Item = Case>,
    temperature: Temperature,
    stacks: &[StackFile],
    time: Duration,
    race: Option<TlsRace>,
    stop: &Stop,
) -> Result<TlsOutcome, Failure> {
    let row = |case| (Subject::Handshake(case), temperature);
    let request = TlsRequest {
        rows: cases.into_iter().map(row).collect(),
        precision: 0.02,
        time,
        seed: choose::random_seed(),
        cpu: engine::measuring_cpu(),
        command: crate::commands::typed(),
        race,
    };
    let (kind, keeping) = (RunKind::Handshakes, Keeping::default());
    sampled(quiet, |events| engine::measure_tls(kind, &request, stacks, keeping, stop, events))
}

/// The stacks at a tier; which of them cannot be had there is said.
pub(crate) fn at_tier(
    stacks: Vec<StackFile>,
    tier: Tier,
    quiet: bool,
) -> Result<Vec<StackFile>, Failure> {
    let (mut there, mut last) = (Vec::new(), String::new());
    for stack in stacks {
        match stack.at_tier(tier) {
            Ok(stack) => there.push(stack),
            Err(why) => {
                last = format!("{} at tier {tier}: {why}", stack.facts.label);
                screen::say(quiet, true, &format!("left out: {last}"));
            }
        }
    }
    if there.is_empty() { Err(Failure::not_done(last)) } else { Ok(there) }
}

/// The stacks that were asked for; with `bare`, also the libraries whose ciphers can be compared with
/// theirs.
pub(crate) fn stacks(
    texts: &[String],
    bare: bool,
) -> Result<(Vec<StackFile>, Vec<Attached>), Failure> {
    let texts: Vec<String> = choose::each_library(texts).map(of_library).collect();
    let choices = choose::libraries(&texts)?;
    let selected = engine::select_stacks(&choices, bare).map_err(|e| match e {
        engine::SelectError::None => Failure::not_done(e),
        _ => Failure::usage(e),
    });
    let SelectedStacks { stacks, chosen, libraries } = selected?;
    choose::tell_circumstances(stacks.iter().map(|stack| &*stack.facts.path));
    if stacks.is_empty() {
        return Err(Failure::not_done(format!(
            "no TLS stack: none of {} is wolfSSL or has a libssl beside its libcrypto",
            chosen.join(", ")
        )));
    }
    Ok((stacks, libraries))
}

/// `NAME=…/libssl.so.3` means the libcrypto beside it.
fn of_library(text: &str) -> String {
    let Some((name, path)) = text.split_once('=') else { return text.to_owned() };
    let path = Path::new(path);
    let ending = path.file_name().and_then(|n| n.to_str()).and_then(|n| n.strip_prefix("libssl"));
    let crypto = ending.map(|ending| path.with_file_name(format!("libcrypto{ending}")));
    match crypto.filter(|_| path.is_file()) {
        Some(crypto) => format!("{name}={}", crypto.display()),
        None => text.to_owned(),
    }
}

/// Refuses, before measuring, to overwrite what is no such run. A device or pipe is written to as it is.
fn check_output(path: &Path, is_run: impl FnOnce() -> bool) -> Result<(), Failure> {
    if files::holds_something(path) && !is_run() {
        return Err(Failure::usage(format!(
            "'{}' exists and is not a run of this command: not overwritten",
            path.display()
        )));
    }
    record::check_writable(path).map_err(Failure::usage)
}

/// The same of a record of this kind; keeps other runs from writing there. A device or pipe has no place for a
/// journal.
pub(crate) fn claim_output(
    output: Option<&Path>,
    kind: &str,
    begun: Begun,
) -> Result<Keeping, Failure> {
    if let Some(path) = output {
        let is_same = || files::record(path).is_ok_and(|record| record.kind() == Some(kind));
        files::within_bounds(|| check_output(path, is_same))??;
    }
    if let Some((journal, kept)) = begun {
        let (journal, earlier) = (Some(journal), Some(kept));
        return Ok(Keeping { journal, earlier, snapshots: None });
    }
    let is_file = |path: &&Path| path.metadata().is_ok_and(|m| m.is_file()) || !path.exists();
    let path = output.filter(is_file);
    let journal = path.map(Journal::claim).transpose().map_err(Failure::usage)?;
    Ok(Keeping { journal, ..Keeping::default() })
}

/// Removes the journal of a run whose record is safe; an interrupted one's stays. Returns what to say last: that
/// the run was interrupted, and how to resume it.
pub(crate) fn release(
    journal: Option<Journal>,
    is_interrupted: bool,
    output: Option<&Path>,
) -> Result<Option<String>, Failure> {
    match (journal, output) {
        (Some(_), Some(path)) if is_interrupted => {
            Ok(Some(format!("interrupted; resume with --resume {}", path.display())))
        }
        (journal, _) => {
            journal.map_or(Ok(()), Journal::remove).map_err(Failure::not_done)?;
            Ok(is_interrupted.then(|| "interrupted; these are the results so far".to_owned()))
        }
    }
}

impl TlsOutput {
    fn check<D: DeserializeOwned>(&self) -> Result<(), Failure> {
        let is_run = |text: String| serde_json::from_str::<D>(&text).is_ok();
        let check = |path| check_output(path, || record::load_text(path).is_ok_and(is_run));
        self.output.as_deref().map_or(Ok(()), check)
    }

    /// Checks, and keeps other runs from writing there.
    fn claim(&self, kind: RunKind, begun: Begun) -> Result<Keeping, Failure> {
        claim_output(self.output.as_deref(), kind.name(), begun)
    }

    /// Writes the document to its file, if there is one, and prints it.
    fn deliver<D: Serialize>(
        &self,
        document: &D,
        render: fn(&D, Format, Options) -> String,
    ) -> Result<(), Failure> {
        self.keep(document)?;
        screen::print(|options| render(document, self.format, options))
    }

    fn keep<D: Serialize>(&self, document: &D) -> Result<(), Failure> {
        self.output.as_deref().map_or(Ok(()), |path| screen::write_document(path, document))
    }
}

impl TlsCommon {
    fn tier(&self) -> Result<Tier, Failure> {
        match choose::tiers(std::slice::from_ref(&self.tier))?[..] {
            [tier] => Ok(tier),
            _ => Err(Failure::usage(format!(
                "--tier '{}': one tier a run; `ciphermark compare` holds two runs against each other",
                self.tier
            ))),
        }
    }

    /// The stacks at the run's tier; which of them cannot be had there is said.
    fn at_tier(&self, stacks: Vec<StackFile>) -> Result<Vec<StackFile>, Failure> {
        at_tier(stacks, self.tier()?, self.quiet)
    }

    /// What is to be measured, as it was typed when the run began.
    fn request(&self, wanted: &Wanted, stacks: &[StackFile], keeping: &Keeping) -> TlsRequest {
        if self.time.thorough {
            let all = wanted.rows.len() * stacks.len();
            let minutes = (all as f64 * THOROUGH_ROW / 60.0).ceil();
            let text = format!("{all} cases take about {minutes} min on a quiet machine");
            screen::say(self.quiet, true, &text);
        }
        TlsRequest {
            rows: wanted.rows.clone(),
            precision: wanted.precision(self.precision),
            time: self.time.sampling(THOROUGH),
            seed: self.seed.unwrap_or_else(choose::random_seed),
            cpu: engine::measuring_cpu(),
            race: wanted.race(stacks),
            command: command(keeping),
        }
    }

    /// Writes the record to its file, if there is one, and prints it. An interrupted run's journal stays.
    fn deliver(&self, outcome: TlsOutcome, is_selected: bool) -> Result<Exit, Failure> {
        let record = outcome.record();
        let output = self.out.output.as_deref();
        if let Some(path) = output {
            record::save(&record, path).map_err(Failure::not_done)?;
        }
        let remark = release(outcome.journal, outcome.interrupted, output)?;
        let run = &outcome.run;
        let is_answer = !self.all && !is_selected && self.out.format == Format::Table;
        let shown = output.map(|path| path.display().to_string());
        let table = |width| record::tls::table(run, width);
        if is_answer {
            screen::print(|options| {
                let answer = report::stacks_screen(run, shown.as_deref(), options);
                answer.unwrap_or_else(|| table(options.width))
            })?;
        } else {
            let markdown = || record::tls::markdown(run);
            screen::print_own(&record, self.out.format, table, markdown)?;
        }
        screen::say(self.quiet, remark.is_some(), &remark.unwrap_or_default());
        let bad =
            |m: &Measurement| matches!(m.state, State::Refused | State::Failed) && !m.is_left_out();
        Ok(if record.measurements.iter().any(bad) { Exit::SomeRefused } else { Exit::Done })
    }
}

fn records(args: &RecordsArgs, begun: Begun) -> Result<Exit, Failure> {
    let protections = Protection::all(&args.negotiated.versions, &args.negotiated.suites);
    if protections.is_empty() {
        return Err(Failure::usage(
            "TLS has no such records: these versions and suites do not go together",
        ));
    }
    let TlsNegotiated { versions, suites } = &args.negotiated;
    let is_selected = !versions.is_empty() || !suites.is_empty() || args.size.is_some();
    let sizes = args.size.as_ref().map_or(&ALL_RECORD_SIZES[..], |sizes| &sizes.0);
    let wanted = Wanted::of(RunKind::Records, &args.common, is_selected, || {
        let of_one = |protection: &Protection| {
            let protection = *protection;
            let of_size = move |size: &u32| Subject::Records { protection, size: *size };
            sizes.iter().map(move |size| (of_size(size), Temperature::Hot))
        };
        protections.iter().flat_map(of_one).collect()
    });
    if wanted.groups.is_some() {
        // The answer needs no bare ciphers beside.
        return run(RunKind::Records, &args.common, wanted, begun);
    }
    let keeping = args.common.out.claim(RunKind::Records, begun)?;
    let stop = args.common.time.limit(&watch_signals()?);
    let (stacks, libraries) = stacks(&args.common.library, true)?;
    let stacks = args.common.at_tier(stacks)?;
    let request = args.common.request(&wanted, &stacks, &keeping);
    let third = stop.left().map_or_else(|| stop.clone(), |left| stop.within(left / 3));
    // First, because it is shorter: an interrupt of the other still leaves something to compare.
    let bare = bare(&args.common, &request, &stacks, &libraries, &third);
    let mut outcome = sampled(args.common.quiet, |events| {
        engine::measure_tls(RunKind::Records, &request, &stacks, keeping, &stop, events)
    })?;
    let bare = bare.map_err(|failure| failure.message);
    record::tls::beside(&mut outcome.run, bare.as_ref());
    args.common.deliver(outcome, wanted.is_selected)
}

/// The ciphers of the suites, called directly in the libraries under the stacks.
fn bare(
    common: &TlsCommon,
    request: &TlsRequest,
    stacks: &[StackFile],
    libraries: &[Attached],
    stop: &Stop,
) -> Result<record::Record, Failure> {
    let rows = || {
        request.rows.iter().filter_map(|(subject, _)| match subject {
            Subject::Records { protection, size } => Some((protection.suite, *size as usize)),
            _ => None,
        })
    };
    let is_wanted = |a: &&Algorithm| rows().any(|(suite, _)| suite.cipher() == a.name);
    let sizes: Vec<usize> = rows().map(|(_, size)| size).collect();
    let has_stack = |l: &&Attached| stacks.iter().any(|s| s.facts.bare_path == l.facts.path);
    let libraries: Vec<Attached> = libraries.iter().filter(has_stack).cloned().collect();
    let budget = Budget { precision: request.precision, time: request.time / 3 };
    let request = Request {
        sizes: choose::distinct(&sizes),
        seed: request.seed,
        tiers: vec![common.tier()?],
        ..choose::plain_request(Algorithm::all().iter().filter(is_wanted).collect(), budget)
    };
    survey(common.quiet, &request, &libraries, stop)
}
