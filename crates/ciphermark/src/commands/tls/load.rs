//! What TLS costs a server: `ciphermark tls load` calculates it, `tls why` explains a rise of CPU use, `tls
//! calibrate` measures what the model needs, and `tls load --validate` holds the model to nginx.

use crate::commands::run::watch_signals;
use crate::commands::tls::{TlsOutput, stacks};
use crate::commands::{choose, one_of};
use crate::files::TakenOn;
use crate::screen::Bar;
use crate::server::{Calibrating, Course, Libraries, PARTS, Setting};
use crate::{Exit, Failure, files, screen};
use base::text::flags::{parse_bytes, parse_duration, parse_share};
use clap::Args;
use clap::builder::PossibleValuesParser;
use judge::load::{
    Calibration, ClientShare, HandshakeParts, Http, Inputs, Load, Profile, Question, Regime,
    Response, Spec, Summary, TOLERANCE, VALIDATION_VERSION, ValidatedPart, Validation, Why,
};
use record::State;
use record::tls::{Certificate, Exchange, Filter, Run, RunKind};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// `ciphermark tls load`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls load --connections 50 --requests 4 --response 20K --calibration cal.json\n  \
    ciphermark tls load site.toml --calibration cal.json --explain        which change saves most\n  \
    ciphermark tls load site.toml --calibration cal.json --profile old --client ie-11-win7\n  \
    ciphermark tls load site.toml --calibration cal.json --records rec.json --primitives prim.json\n\n\
    SPEC is a small TOML file (see docs/examples/tls-site.toml); options override it. The load follows\n\
    from what the clients negotiate; cipher strings mean what they mean to OpenSSL. Classes of clients:\n\
    browser, firefox-100, safari-15, openssl-3.5, openssl-3.0, java-17, go-1.17, chrome-49, firefox-45,\n\
    safari-9, ie-11-win7, android-4.4, java-8, openssl-1.0.1, tls-1.0.\n\n\
    Each term is shown with its value, its range over rounds, its source and its share. docs/TLS-LOAD.md\n\
    has the formula, how it was validated, and what it leaves out.\n\n\
    Exit codes: 0 done; 2 wrong usage or specification; 4 nothing to calculate from.")]
pub struct LoadArgs {
    /// The specification: traffic, clients and settings of the server (TOML).
    #[arg(value_name = "SPEC")]
    pub spec: Option<PathBuf>,
    #[command(flatten)]
    pub documents: DocumentArgs,
    #[command(flatten)]
    pub site: SiteArgs,
    /// Show what other configurations would save, best first.
    #[arg(long)]
    pub explain: bool,
    #[command(flatten)]
    pub validate: ValidateArgs,
    #[command(flatten)]
    pub out: TlsOutput,
}

/// The documents that costs come from.
#[derive(Debug, Args)]
pub struct DocumentArgs {
    /// A calibration of a server on this machine (`tls calibrate -o FILE`). Without one, `tls load`
    /// measures it first, which takes some minutes.
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
    /// A run of `tls records`: separates the cipher of records from the rest.
    #[arg(long, value_name = "FILE")]
    pub records: Option<PathBuf>,
    /// A run of `tls primitives`: separates key exchange and signature from the rest of a handshake.
    #[arg(long, value_name = "FILE")]
    pub primitives: Option<PathBuf>,
    /// A run of `tls handshake`: says how much memory an open connection takes.
    #[arg(long, value_name = "FILE")]
    pub handshakes: Option<PathBuf>,
}

/// The most common values of a specification.
#[derive(Debug, Args)]
pub struct SiteArgs {
    /// New connections per second.
    #[arg(long, value_name = "N")]
    pub connections: Option<f64>,
    /// Requests over each connection.
    #[arg(long, value_name = "N")]
    pub requests: Option<f64>,
    /// Bytes of each response: 20K.
    #[arg(long, value_name = "BYTES", value_parser = parse_bytes)]
    pub response: Option<usize>,
    /// Share of connections that resume: 60%.
    #[arg(long, value_name = "PERCENT", value_parser = parse_share, allow_hyphen_values = true)]
    pub resumed: Option<f64>,
    /// Certificates, separated by commas: rsa-2048, rsa-3072, rsa-4096, p256, p384, ed25519.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = Filter::certificate)]
    pub certificate: Vec<Certificate>,
    /// A profile of Mozilla's.
    #[arg(long, value_name = "NAME", value_parser = one_of(Profile::ALL, Profile::name))]
    pub profile: Option<Profile>,
    /// Cipher string for TLS 1.2.
    #[arg(long, value_name = "STRING")]
    pub ciphers: Option<String>,
    /// Groups, separated by colons, tuples of OpenSSL 3.5 by slashes.
    #[arg(long, value_name = "LIST")]
    pub groups: Option<String>,
    /// Finite field for DHE: ffdhe2048, ffdhe4096, own-dh-2048.
    #[arg(long, value_name = "FIELD", value_parser = Filter::exchange)]
    pub dh: Option<Exchange>,
    /// Version of HTTP.
    #[arg(long, value_name = "VERSION", value_parser = one_of(Http::ALL, Http::name))]
    pub http: Option<Http>,
    /// How closely connections follow one another; with --validate, a list.
    #[arg(long, value_name = "REGIME", value_delimiter = ',', value_parser = one_of(Regime::ALL, Regime::name))]
    pub regime: Vec<Regime>,
    /// Classes of clients, in equal shares.
    #[arg(long, value_name = "CLASS", value_delimiter = ',')]
    pub client: Vec<String>,
}

/// `ciphermark tls why`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls why --from 0.5% --to 2..3% --calibration cal.json\n  \
    ciphermark tls why --from 0.5% --to 2.5% --spec site.toml --calibration cal.json    which change it was\n  \
    ciphermark tls why --from 0.5% --to 2.5% --spec old.toml --spec-is before --calibration cal.json\n  \
    ciphermark tls why --from 0.5% --to 2..3% --slower 1.3..2.5 --mbit 20 --calibration cal.json\n\n\
    Percentages are of one core; write a range as 2..3%. A specification adds two things: its rates\n\
    exclude explanations that need more connections, requests or bytes than there are, and each change\n\
    of its settings gets a price. claims/tls-2016.md works through an example.\n\n\
    Exit codes: 0 answered, even if CPU use alone cannot decide; 2 wrong usage or specification;\n\
    4 nothing to calculate from.")]
pub struct WhyArgs {
    /// CPU use before, in percent of one core.
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub from: (f64, f64),
    /// CPU use after.
    #[arg(long, value_name = "PERCENT", value_parser = parse_percent)]
    pub to: (f64, f64),
    /// The specification of the server (TOML).
    #[arg(long, value_name = "FILE")]
    pub spec: Option<PathBuf>,
    /// Whether the specification describes the server before the rise or after it.
    #[arg(long, value_name = "WHEN", default_value = "after")]
    pub spec_is: WhenArg,
    /// How many times slower the observed core is than the calibrated one: 1.9 or 1.3..2.5.
    #[arg(long, value_name = "FACTOR", default_value = "1", value_parser = parse_range)]
    pub slower: (f64, f64),
    /// The most that the server's clients receive, in Mbit per second.
    #[arg(long, value_name = "N")]
    pub mbit: Option<f64>,
    #[command(flatten)]
    pub documents: DocumentArgs,
    #[command(flatten)]
    pub out: TlsOutput,
}

/// `--spec-is`
#[derive(Clone, Copy, Debug, PartialEq, Eq, clap::ValueEnum)]
pub enum WhenArg {
    /// Before the rise.
    Before,
    /// After it.
    After,
}

/// `2.5%`, `2.5` or `2..3%`: percent of a core.
fn parse_percent(text: &str) -> Result<(f64, f64), String> {
    let plain: String = text.chars().filter(|c| *c != '%' && !c.is_whitespace()).collect();
    range(&plain).ok_or_else(|| "write a percentage of a core, as 2.5% or 2..3%".to_owned())
}

/// `1.9` or `1.3..2.5`, above zero.
fn parse_range(text: &str) -> Result<(f64, f64), String> {
    let above_zero = range(text).filter(|(low, _)| *low > 0.0);
    above_zero.ok_or_else(|| "write a factor above 0, as 1.9 or 1.3..2.5".to_owned())
}

fn range(text: &str) -> Option<(f64, f64)> {
    let (low, high) = text.split_once("..").unwrap_or((text, text));
    let (low, high) = (low.trim().parse::<f64>().ok()?, high.trim().parse::<f64>().ok()?);
    (low.is_finite() && high.is_finite() && 0.0 <= low && low <= high).then_some((low, high))
}

// `ciphermark tls calibrate` and `ciphermark tls load --validate`, which load servers of this machine.

/// `ciphermark tls calibrate`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark tls calibrate -o cal.json                          all three regimes, about five minutes\n  \
    ciphermark tls calibrate --regime low -o cal.json             for a server that mostly sleeps\n  \
    ciphermark tls calibrate --no-nginx -l 'openssl@3.5*' -o cal.json\n\n\
    Puts load on servers of this machine over the loopback (127.0.0.1 only): one connection every 5 ms\n\
    (low), one after the other (steady), twenty at once (saturated). The servers are nginx without TLS,\n\
    and ciphermark's own minimal server with and without TLS, using the library that nginx has loaded.\n\
    `tls load` and `tls why` calculate from the result. Servers run on one CPU, the client on another.\n\
    nginx gets its own configuration in its own directory, and ends with the command.\n\n\
    Exit codes: 0 done; 2 wrong usage; 3 some points failed; 4 there is no nginx, or it cannot be done.")]
pub struct CalibrateArgs {
    #[command(flatten)]
    pub course: CourseArgs,
    /// How closely connections follow one another.
    #[arg(long, value_name = "LIST", value_delimiter = ',', default_value = "low,steady,saturated", value_parser = one_of(Regime::ALL, Regime::name))]
    pub regime: Vec<Regime>,
    /// Measure the minimal server in place of nginx.
    #[arg(long, conflicts_with = "nginx", requires = "library")]
    pub no_nginx: bool,
    /// The stack of the minimal server, by the name of its library or NAME=PATH [default: nginx's]. It is confined to its
    /// servers' ports, for which the kernel must know them (Linux 6.7).
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Option<String>,
    #[command(flatten)]
    pub out: TlsOutput,
}

/// `--validate` and its flags.
#[derive(Debug, Args)]
pub struct ValidateArgs {
    /// Validate the model with nginx: predict about fifty points, measure them, and show the errors.
    /// With -o FILE, skip parts that the file already has, so that a run can be resumed.
    #[arg(long, conflicts_with_all = ["spec", "calibration", "records", "primitives", "handshakes", "explain"])]
    pub validate: bool,
    /// Which points [default: all parts that fit into the budget].
    #[arg(long, value_name = "LIST", value_delimiter = ',', requires = "validate", value_parser = PossibleValuesParser::new(PARTS))]
    pub part: Vec<String>,
    #[command(flatten)]
    pub course: CourseArgs,
}

/// How servers are put under load.
#[derive(Debug, Args)]
pub struct CourseArgs {
    /// The executable of nginx, if it is not where its packages install it.
    #[arg(long, value_name = "FILE")]
    pub nginx: Option<PathBuf>,
    /// Rounds; each visits every point once, in random order.
    #[arg(long, value_name = "N", default_value = "5", value_parser = clap::value_parser!(u32).range(1..=50))]
    pub rounds: u32,
    /// How long a visit puts load on its server.
    #[arg(long, value_name = "TIME", default_value = "250ms", value_parser = parse_duration, allow_hyphen_values = true)]
    pub visit: Duration,
    /// Measure for at most this long; what does not fit is left for another run.
    #[arg(long, value_name = "TIME", default_value = "290s", value_parser = parse_duration, allow_hyphen_values = true)]
    pub budget: Duration,
    /// Seed for the order of visits [default: random].
    #[arg(long, value_name = "NUMBER")]
    pub seed: Option<u64>,
    /// No progress bar and no remarks on standard error.
    #[arg(short, long)]
    pub quiet: bool,
}

// `ciphermark tls load`: what a server's CPU does, calculated from what was measured.

pub(crate) fn load(args: &LoadArgs) -> Result<Exit, Failure> {
    if args.validate.validate {
        return validate(&args.validate, &args.site.regime, &args.out);
    }
    let mut spec = args.spec.as_deref().map_or_else(|| Ok(Spec::default()), read_spec)?;
    override_spec(&mut spec, &args.site)?;
    spec.check().map_err(Failure::usage)?;
    args.out.check::<Load>()?;
    let own = || {
        let regimes = spec.server.regime.map_or_else(|| Regime::ALL.to_vec(), |r| vec![r]);
        let course = &args.validate.course;
        measured(course, &regimes, Some(course.nginx()?), None)
    };
    let documents = Documents::read(&args.documents, own)?;
    let load =
        judge::load::load(&spec, &documents.inputs(), args.explain).map_err(Failure::usage)?;
    args.out.deliver(&load, judge::load::render_load)?;
    Ok(Exit::Done)
}

pub(crate) struct Documents {
    calibration: Calibration,
    records: Option<Run>,
    parts: HandshakeParts,
}

impl Documents {
    /// Reads them; `own` measures a missing calibration or says that it is needed.
    pub(crate) fn read(
        args: &DocumentArgs,
        own: impl FnOnce() -> Result<Calibration, Failure>,
    ) -> Result<Self, Failure> {
        let calibration = args.calibration.as_deref().map_or_else(own, files::calibration)?;
        let own = TakenOn::calibration(&calibration);
        let read = |flag, path: &Option<PathBuf>, kind| {
            let Some(path) = path else { return Ok(None) };
            let run = files::tls(path, kind)?;
            own.holds(flag, &TakenOn::run(&run))?;
            Ok(Some(run))
        };
        let records = read("--records", &args.records, RunKind::Records)?;
        let mut parts = HandshakeParts::default();
        if let Some(run) = read("--primitives", &args.primitives, RunKind::Primitives)? {
            parts.add_primitives(&run, &calibration.stack);
        }
        if let Some(run) = read("--handshakes", &args.handshakes, RunKind::Handshakes)? {
            parts.add_memory(&run, &calibration.stack);
        }
        Ok(Self { calibration, records, parts })
    }

    pub(crate) fn inputs(&self) -> Inputs<'_> {
        Inputs {
            calibration: &self.calibration,
            records: self.records.as_ref(),
            parts: Some(&self.parts),
        }
    }
}

pub(crate) fn read_spec(path: &Path) -> Result<Spec, Failure> {
    let shown = format!("'{}'", path.display());
    let text = files::text(path, &shown)?;
    Spec::parse(&text).map_err(|e| Failure::usage(format!("{shown}: {e}")))
}

fn override_spec(spec: &mut Spec, site: &SiteArgs) -> Result<(), Failure> {
    let (traffic, server) = (&mut spec.traffic, &mut spec.server);
    let set = |to: &mut f64, given: Option<f64>| *to = given.unwrap_or(*to);
    set(&mut traffic.connections_per_s, site.connections);
    set(&mut traffic.requests_per_connection, site.requests);
    if let Some(bytes) = site.response {
        traffic.responses = vec![Response { bytes: bytes as u64, share: 1.0 }];
    }
    traffic.http = site.http.unwrap_or(traffic.http);
    if let Some(share) = site.resumed {
        spec.resumption.share = share;
        spec.clients.iter_mut().for_each(|c| c.resumed_share = None);
    }
    if !site.certificate.is_empty() {
        server.certificates.clone_from(&site.certificate);
    }
    server.profile = site.profile.or(server.profile);
    server.regime = match site.regime[..] {
        [] => server.regime,
        [regime] => Some(regime),
        _ => return Err(Failure::usage("--regime: give one, except with --validate")),
    };
    server.dh = site.dh.or(server.dh);
    server.ciphers = site.ciphers.clone().or(server.ciphers.take());
    server.groups = site.groups.clone().or(server.groups.take());
    if !site.client.is_empty() {
        let share = 1.0 / site.client.len() as f64;
        spec.clients = site.client.iter().map(|class| ClientShare::of(class, share)).collect();
    }
    Ok(())
}

pub(crate) fn why(args: &WhyArgs) -> Result<Exit, Failure> {
    if let Some(mbit) = args.mbit.filter(|mbit| !(mbit.is_finite() && *mbit >= 0.0)) {
        return Err(Failure::usage(format!(
            "--mbit {mbit} is not a rate: write a number of 0 or more"
        )));
    }
    let question = Question {
        from_percent: args.from,
        to_percent: args.to,
        slower: args.slower,
        spec: args.spec.as_deref().map(read_spec).transpose()?,
        spec_is_before: args.spec_is == WhenArg::Before,
        most_mbit_per_s: args.mbit,
    };
    args.out.check::<Why>()?;
    let documents = Documents::read(&args.documents, || {
        Err(Failure::not_done(
            "there is nothing to calculate from: give --calibration FILE, written by `tls calibrate -o FILE`",
        ))
    })?;
    let found = judge::load::why(&question, &documents.inputs()).map_err(Failure::usage)?;
    args.out.deliver(&found, judge::load::render_why)?;
    Ok(Exit::Done)
}

// `ciphermark tls calibrate`: what connections and requests cost servers of this machine.

pub(crate) fn calibrate(args: &CalibrateArgs) -> Result<Exit, Failure> {
    args.out.check::<Calibration>()?;
    let nginx = if args.no_nginx { None } else { Some(args.course.nginx()?) };
    let libraries = args.library.as_deref().map(library).transpose()?;
    let regimes = choose::distinct(&args.regime);
    let document = measured(&args.course, &regimes, nginx, libraries)?;
    args.out.deliver(&document, judge::load::render_calibration)?;
    let failed = document.points.iter().any(|p| p.state == State::Failed);
    Ok(if failed { Exit::SomeRefused } else { Exit::Done })
}

pub(crate) fn measured(
    course: &CourseArgs,
    regimes: &[Regime],
    nginx: Option<crate::server::NginxFacts>,
    libraries: Option<Libraries>,
) -> Result<Calibration, Failure> {
    let cells = crate::server::calibration_cells(regimes, nginx.is_some());
    let wanted = course.calibrating(nginx, libraries)?;
    let stop = watch_signals()?;
    let document = Bar::during(course.quiet, |bar| {
        let mut show = |done, of| bar.visits(done, of);
        crate::server::calibrate(&cells, &wanted, stop.flag(), &mut show)
    });
    document.map_err(Failure::not_done)
}

impl CourseArgs {
    pub(crate) fn nginx(&self) -> Result<crate::server::NginxFacts, Failure> {
        crate::server::find_nginx(self.nginx.as_deref()).map_err(Failure::not_done)
    }

    pub(crate) fn calibrating(
        &self,
        nginx: Option<crate::server::NginxFacts>,
        libraries: Option<Libraries>,
    ) -> Result<Calibrating, Failure> {
        let server_cpu = engine::measuring_cpu();
        let client_cpu = crate::server::client_cpu(server_cpu).ok_or_else(|| {
            Failure::not_done("servers and client need a CPU each, and there is only one")
        })?;
        let course = Course {
            rounds: self.rounds,
            visit_seconds: self.visit.as_secs_f64(),
            budget: self.budget,
            seed: self.seed.unwrap_or_else(choose::random_seed),
        };
        let setting = Setting { nginx, libraries, server_cpu, client_cpu };
        Ok(Calibrating { setting, course, command: crate::commands::typed() })
    }
}

fn library(text: &str) -> Result<Libraries, Failure> {
    let (stacks, _) = stacks(&[text.to_owned()], false)?;
    match stacks.as_slice() {
        [one] => Ok(Libraries {
            ssl: one.path.clone(),
            crypto: one.crypto.clone().unwrap_or_else(|| one.path.clone()),
        }),
        several => {
            let labels: Vec<&str> = several.iter().map(|s| s.facts.label.as_str()).collect();
            let labels = labels.join(", ");
            Err(Failure::usage(format!("'{text}' names several stacks: {labels}; one is needed")))
        }
    }
}

/// Measures the parts that were asked for and are not in the file yet.
pub(crate) fn validate(
    args: &ValidateArgs,
    regimes: &[Regime],
    out: &TlsOutput,
) -> Result<Exit, Failure> {
    let regimes = if regimes.is_empty() { Regime::ALL.to_vec() } else { choose::distinct(regimes) };
    let all = || PARTS.map(str::to_owned).to_vec();
    let names = if args.part.is_empty() { all() } else { args.part.clone() };
    let mut document = earlier(out)?;
    let is_there = |name: &str| document.parts.iter().any(|part| covers(part, name, &regimes));
    let missing: Vec<&str> =
        names.iter().map(String::as_str).filter(|name| !is_there(name)).collect();
    let begun = Instant::now();
    let mut left = Vec::new();
    if !missing.is_empty() {
        let nginx = args.course.nginx()?;
        let wanted = args.course.calibrating(Some(nginx), None)?;
        let (stop, bar) = (watch_signals()?, Bar::new(args.course.quiet));
        for (at, name) in missing.iter().copied().enumerate() {
            let Some(budget) = enough(&wanted, name, &regimes, begun, at) else {
                left.push(name);
                continue;
            };
            let course = Course { budget, ..wanted.course };
            let one = Calibrating { course, ..wanted.clone() };
            let points = crate::server::part(name).expect("clap has checked the names");
            let part = crate::server::validate(
                name,
                &points,
                &regimes,
                &one,
                stop.flag(),
                &mut |done, of| {
                    bar.visits(done, of);
                },
            );
            if stop.is_interrupted() {
                // Drop the interrupted part, keep those before it.
                left.extend(&missing[at..]);
                break;
            }
            let is_old = |old: &ValidatedPart| {
                old.name == name && old.rows.iter().any(|row| regimes.contains(&row.regime))
            };
            document.parts.retain(|old| !is_old(old));
            document.parts.push(part.map_err(Failure::not_done)?);
            document.summary = Summary::of(document.parts.iter().flat_map(|part| &part.rows));
            out.keep(&document)?;
        }
        bar.finish();
    }
    screen::print(|options| judge::load::render_validation(&document, out.format, options))?;
    tell_left(&left, args.course.quiet);
    Ok(exit(&document, &left))
}

/// What an earlier run left in the file.
fn earlier(out: &TlsOutput) -> Result<Validation, Failure> {
    let none = Validation {
        format_version: VALIDATION_VERSION.to_owned(),
        kind: "tls-validation".to_owned(),
        tolerance: TOLERANCE,
        parts: Vec::new(),
        summary: Summary::default(),
    };
    out.check::<Validation>()?;
    let Some(path) = out.output.as_deref().filter(|path| path.exists()) else { return Ok(none) };
    let text = record::load_text(path).map_err(Failure::usage)?;
    serde_json::from_str(&text).map(Validation::judged_anew).map_err(Failure::usage)
}

/// Whether the file has all of a part. A part with points that failed, or that there was no time for, is measured
/// again.
fn covers(part: &ValidatedPart, name: &str, regimes: &[Regime]) -> bool {
    part.name == name
        && part.rows.iter().all(|row| row.state != State::Failed)
        && regimes.iter().all(|r| part.rows.iter().any(|row| row.regime == *r))
}

/// The time left for a part, `None` if it is too little. The first part gets whatever there is.
fn enough(
    wanted: &Calibrating,
    name: &str,
    regimes: &[Regime],
    begun: Instant,
    at: usize,
) -> Option<Duration> {
    let left = wanted.course.budget.saturating_sub(begun.elapsed());
    let points = crate::server::part(name).map_or(0, |points| points.len());
    // A point has about two other figures that it is calculated from; a visit takes as long again to prepare.
    let visits = 3.0 * points as f64 * regimes.len() as f64 * f64::from(wanted.course.rounds);
    let needed = Duration::from_secs_f64(visits * 2.0 * wanted.course.visit_seconds);
    (at == 0 || needed <= left).then_some(left)
}

fn tell_left(left: &[&str], quiet: bool) {
    if !left.is_empty() && !quiet {
        anstream::eprintln!(
            "ciphermark: not measured yet: {}; run the same command with the same -o FILE to measure them",
            left.join(", ")
        );
    }
}

fn exit(document: &Validation, left: &[&str]) -> Exit {
    let summary = &document.summary;
    match summary.holds() {
        Some(false) => Exit::Found,
        _ if summary.none > 0 || !left.is_empty() => Exit::SomeRefused,
        None => Exit::NotDone,
        Some(true) => Exit::Done,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranges_are_read_with_and_without_their_sign() {
        assert_eq!(parse_percent("0.5%"), Ok((0.5, 0.5)));
        assert_eq!(parse_percent("2..3 %"), Ok((2.0, 3.0)));
        assert_eq!(parse_percent("2%..3%"), Ok((2.0, 3.0)));
        for wrong in ["3..2%", "-1", "", "x", "nan", "1..", "inf"] {
            assert!(parse_percent(wrong).is_err(), "{wrong}");
        }
        assert_eq!(parse_range("1.3..2.5"), Ok((1.3, 2.5)));
        assert!(parse_range("0").is_err());
    }
}
