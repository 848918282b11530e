//! `ciphermark advise` for a server: `--for postgres --from` says what encryption would take of a running
//! PostgreSQL, `--for tls-server` what a TLS server should be set to.

use crate::commands::advise::{
    AdviseArgs, UseArg, YesNo, answered, evidence, exit_of, prices, question,
};
use crate::commands::run::{claim_output, watch_signals};
use crate::commands::{choose, no_password, one_of, one_size};
use crate::files::TakenOn;
use crate::{Exit, Failure, files, screen};
use clap::Args;
use engine::{LeakSubject, Secrets, Stop, TlsRace};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use judge::advise::Data;
use judge::advise::postgres::{LEAST_SECONDS, QUERY, QUERY_IO, Snapshot, Work};
use judge::advise::tls_server::{
    Choice, Evidence, PROGRAMS, Question, Secret, StackLeaks, can_use,
};
use record::tls::{Certificate, Filter, Run, RunKind, Temperature};
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// What encryption would cost a running server.
#[derive(Debug, Args)]
#[command(next_help_heading = "For postgres")]
pub struct PostgresArgs {
    /// Predict what encryption would take of this server's CPU: a connection string for psql
    /// ('host=/run/postgresql dbname=postgres'), or two snapshots FIRST,SECOND (docs/AT-REST.md has the
    /// query that takes one). Or, with --for program, which this then means: the file of `ciphermark watch -o`.
    #[arg(long, value_name = "CONNECTION|FIRST,SECOND|CALLS")]
    pub from: Option<String>,
    /// Seconds between the two snapshots that --from takes of a connection [default: 60s].
    #[arg(long, value_name = "TIME", value_parser = base::text::flags::parse_duration, requires = "from")]
    pub interval: Option<std::time::Duration>,
}

/// For TLS servers only.
#[derive(Debug, Args)]
#[command(next_help_heading = "For tls-server")]
pub struct TlsServerArgs {
    /// Clients that must be able to connect, optionally with their share of the connections:
    /// browser,java-8=5%.
    #[arg(long, value_name = "LIST", value_delimiter = ',')]
    pub clients: Vec<String>,
    /// Available kinds of certificates: rsa-2048, rsa-3072, rsa-4096, p256, p384, ed25519 [default: all
    /// but ed25519, which browsers reject].
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = Filter::certificate)]
    pub certificates: Vec<Certificate>,
    /// Share of connections that resume.
    #[arg(long, value_name = "PERCENT", value_parser = base::text::flags::parse_share, allow_hyphen_values = true)]
    pub resumed: Option<f64>,
    /// Whether to prefer X25519MLKEM768 where the client supports it [default: yes].
    #[arg(long, value_name = "YES|NO")]
    pub post_quantum: Option<crate::commands::advise::YesNo>,
    /// Bytes of responses over a connection; needs --bulk or --calibration for their price.
    #[arg(long, value_name = "BYTES", value_parser = one_size)]
    pub bytes: Option<usize>,
    /// Which handshakes to count [default: hot].
    #[arg(long, value_name = "WHICH", value_parser = one_of(Temperature::ALL, Temperature::name))]
    pub temperature: Option<Temperature>,
    /// A run of `tls records`, for the price of bytes.
    #[arg(long, value_name = "FILE")]
    pub bulk: Option<PathBuf>,
    /// A calibration (`tls calibrate -o FILE`): price connections by its formula, including web server
    /// and kernel.
    #[arg(long, value_name = "FILE")]
    pub calibration: Option<PathBuf>,
}

impl TlsServerArgs {
    /// The first of these flags that was given.
    pub fn typed(&self) -> Option<&'static str> {
        let typed = [
            ("--clients", !self.clients.is_empty()),
            ("--certificates", !self.certificates.is_empty()),
            ("--resumed", self.resumed.is_some()),
            ("--post-quantum", self.post_quantum.is_some()),
            ("--bytes", self.bytes.is_some()),
            ("--temperature", self.temperature.is_some()),
            ("--bulk", self.bulk.is_some()),
            ("--calibration", self.calibration.is_some()),
        ];
        typed.into_iter().find(|(_, typed)| *typed).map(|(flag, _)| flag)
    }
}

/// Time between two snapshots that nobody chose.
const INTERVAL: Duration = Duration::from_secs(60);

/// The first version with `pg_stat_io`.
const WITH_IO: u32 = 160_000;

/// Most bytes of a snapshot: a server may be anybody's.
const MOST_BYTES: u64 = 64 << 20;

/// How long a server may take for a query.
const PATIENCE: Duration = Duration::from_secs(60);

pub fn predict(args: &AdviseArgs, from: &str) -> Result<Exit, Failure> {
    no_password(from, "--from")?;
    if !matches!(args.used, UseArg::Postgres) {
        return Err(Failure::usage("--from is for --for postgres only"));
    }
    if args.size.is_some() {
        return Err(Failure::usage("--size: with --from pages have the server's own size"));
    }
    let (first, last) = match files(from)? {
        Some(files) => files,
        None => watched(from, args)?,
    };
    let work = Work::between(&first, &last)
        .map_err(|why| Failure::usage(format!("--from '{from}': {why}")))?;
    let data = Data::built_in();
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let mut question = question(&data, args, today)?;
    question.size = work.block_size;
    let encrypted = work.rate(work.encrypted()).median;
    if args.writes_per_second.is_none() && encrypted > 0.0 {
        question.wishes.writes_per_second = encrypted;
    }
    let (kept, origin) = prices(&data, &mut question, args)?;
    if question.size != work.block_size {
        return Err(Failure::usage(format!(
            "{origin} has pages of {} bytes, those of the server have {}",
            question.size, work.block_size
        )));
    }
    let (evidence, mut around) = evidence(&kept, today);
    let advice = answered(args, &data, &question, evidence, &mut around)?;
    let exit = exit_of(&advice);
    let prediction =
        judge::advise::postgres::predict(&data, &question, evidence, &around, advice, work);
    if prediction.rows.is_empty() {
        return Err(Failure::usage(format!("{origin} prices no scheme in these libraries")));
    }
    screen::print(|options| {
        judge::advise::postgres::render(&prediction, &origin, args.format, options)
    })?;
    Ok(exit)
}

/// Two snapshots, if that is what was typed; else it is a connection string.
fn files(from: &str) -> Result<Option<(Snapshot, Snapshot)>, Failure> {
    let is_address = from.starts_with("postgres://") || from.starts_with("postgresql://");
    let two = from.split_once(',').filter(|(a, b)| {
        !is_address && (!from.contains('=') || (Path::new(a).exists() && Path::new(b).exists()))
    });
    if let Some((first, last)) = two {
        return Ok(Some((read(first)?, read(last)?)));
    }
    if is_address || from.contains('=') {
        return Ok(None);
    }
    let from = base::text::masked(from);
    Err(Failure::usage(format!(
        "--from '{from}': a connection string ('host=… dbname=…' or postgresql://…), or two snapshots FIRST,SECOND"
    )))
}

fn read(path: &str) -> Result<Snapshot, Failure> {
    let text = record::load_text(Path::new(path)).map_err(Failure::usage)?;
    Snapshot::parse(&text, path).map_err(Failure::usage)
}

/// Two snapshots of a server, taken now.
fn watched(connection: &str, args: &AdviseArgs) -> Result<(Snapshot, Snapshot), Failure> {
    let interval = args.postgres.interval.unwrap_or(INTERVAL);
    if interval.as_secs_f64() < LEAST_SECONDS {
        return Err(Failure::usage(format!(
            "--interval {:.1}s: sessions report once a second, so {LEAST_SECONDS:.0}s at least",
            interval.as_secs_f64()
        )));
    }
    let version = psql(connection, "SHOW server_version_num")?;
    let version: u32 = version.trim().parse().map_err(|_| {
        Failure::not_done(format!("--from '{connection}': psql printed no version: {version}"))
    })?;
    let query = if version >= WITH_IO { QUERY_IO } else { QUERY };
    let take = || Snapshot::parse(&psql(connection, query)?, connection).map_err(Failure::not_done);
    let first = take()?;
    if !args.quiet {
        anstream::eprintln!("ciphermark: watching the server for {:.0} s", interval.as_secs_f64());
    }
    // A little longer than asked: the server's clock decides.
    std::thread::sleep(interval + Duration::from_millis(50));
    Ok((first, take()?))
}

/// What psql prints of one query. It never asks for a password: ~/.pgpass and PGPASSWORD serve.
pub(crate) fn psql(connection: &str, query: &str) -> Result<String, Failure> {
    no_password(connection, "--from")?;
    let mut command = Command::new("psql");
    command
        .args(["--no-psqlrc", "--quiet", "--no-align", "--tuples-only", "--no-password"])
        .args(["--dbname", connection, "--command", query])
        .env("PGCONNECT_TIMEOUT", "10");
    let done = host::output(&mut command, &[], PATIENCE, MOST_BYTES);
    let done = done.map_err(|e| {
        Failure::not_done(match e.kind() {
            std::io::ErrorKind::NotFound => {
                "there is no psql here: install postgresql-client, or take two snapshots on the server (docs/AT-REST.md)".to_owned()
            }
            _ => format!("--from '{connection}': psql: {e}"),
        })
    })?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let said = String::from_utf8_lossy(&done.stderr);
    let first = said.lines().next().unwrap_or("psql failed and said nothing");
    Err(Failure::not_done(format!("--from '{connection}': {first}")))
}

/// Answers from a run of handshakes, or from what it measures for the question.
pub fn advise_tls(args: &AdviseArgs) -> Result<Exit, Failure> {
    let is_program = |only: &&String| PROGRAMS.iter().any(|(name, _)| name == only);
    if let Some(only) = args.only.as_ref().filter(|only| !is_program(only)) {
        let all = PROGRAMS.map(|(name, _)| name).join(", ");
        return Err(Failure::usage(format!("--only {only}: for a TLS server one of {all}")));
    }
    if let Some(flag) = of_stored_data(args) {
        return Err(Failure::usage(format!("{flag} is for stored data, not for a TLS server")));
    }
    let question = tls_question(args)?;
    let of_records = |path| files::tls(path, RunKind::Records);
    let records = args.tls.bulk.as_deref().map(of_records).transpose()?;
    let calibration = args.tls.calibration.as_deref().map(files::calibration).transpose()?;
    let handshakes = match args.path() {
        Some(path) => files::tls(path, RunKind::Handshakes)?,
        None => measure_handshakes(args, &question)?,
    };
    let handshakes = chosen(args, handshakes)?;
    let own = TakenOn::run(&handshakes);
    if let Some(records) = &records {
        own.holds("--bulk", &TakenOn::run(records))?;
    }
    if let Some(calibration) = &calibration {
        own.holds("--calibration", &TakenOn::calibration(calibration))?;
    }
    let stop = watch_signals()?.within(JUDGING);
    let (mut secrets, mut tried) = (Vec::new(), BTreeSet::new());
    let mut advice = loop {
        let evidence = Evidence {
            handshakes: &handshakes,
            records: records.as_ref(),
            calibration: calibration.as_ref(),
            secrets: &secrets,
        };
        let advice =
            judge::advise::tls_server::advise(&question, &evidence).map_err(Failure::usage)?;
        let asked = |choice: &Choice| {
            let primitives = choice.secrets.iter().map(|secret| secret.primitive.clone());
            (choice.candidate.stack.clone(), primitives.collect::<Vec<_>>())
        };
        let new = match &advice.choice {
            Some(choice) if tried.insert(asked(choice)) => judged(choice, &handshakes, &stop)?,
            _ => Vec::new(),
        };
        if new.is_empty() {
            break advice;
        }
        secrets.extend(new);
    };
    advice.basis.stale = stale(&handshakes.host.cpu.kind());
    screen::print(|options| judge::advise::tls_server::render(&advice, args.format, options))?;
    Ok(match advice.choice {
        _ if !advice.missing.is_empty() => Exit::SomeRefused,
        Some(_) => Exit::Done,
        None => Exit::Found,
    })
}

/// Time for verdicts on ciphers that no earlier run left.
const JUDGING: Duration = Duration::from_secs(20);
/// Keys that private keys were compared under, where somebody asked `leaks` before.
const COUNTS: [u32; 5] = [64, 16, 10, 4, 2];

/// Verdicts on what a choice has secrets in, in the library behind its stack, where that build is here: ciphers are judged, of
/// private keys, which take minutes, those are taken that were judged before.
fn judged(choice: &Choice, run: &Run, stop: &Stop) -> Result<Vec<StackLeaks>, Failure> {
    let label = &choice.candidate.stack;
    let Some(stack) = run.stacks.iter().find(|stack| stack.label == *label) else {
        return Ok(Vec::new());
    };
    let path = record::expanded(&stack.crypto_path);
    if host::facts(0).cpu.kind() != run.host.cpu.kind() || !path.is_file() {
        return Ok(Vec::new());
    }
    let named = choose::libraries(&[format!("{}={}", stack.name, path.display())])?;
    let mut libraries = engine::at_tiers(&choose::discover(&named), &[run.plan.tier]);
    libraries.retain(|library| library.facts.id == stack.crypto_id);
    if libraries.is_empty() {
        return Ok(Vec::new());
    }
    let subject = |secret: &Secret| LeakSubject {
        library: 0,
        tier: run.plan.tier,
        algorithm: secret.primitive.clone(),
    };
    let subjects = choice.secrets.iter().map(subject);
    let is_private = |s: &LeakSubject| engine::private_schemes().contains(&&*s.algorithm);
    let (private, ciphers): (Vec<_>, Vec<_>) = subjects.partition(is_private);
    let offered = |s: &LeakSubject| base::model::Algorithm::find(&s.algorithm).is_ok();
    let ciphers: Vec<LeakSubject> = ciphers.into_iter().filter(offered).collect();
    let mut leaks =
        engine::judge_leaks(&libraries, &ciphers, &Secrets::quick(), stop, &|_, _| ()).leaks;
    leaks.extend(engine::known_leaks(&libraries, &private, &COUNTS));
    Ok(leaks.into_iter().map(|leaks| StackLeaks { stack: label.clone(), leaks }).collect())
}

/// Why prices may be others here: they are of another CPU.
fn stale(measured_on: &str) -> Option<String> {
    let here = host::facts(0).cpu.kind();
    (here != measured_on).then(|| {
        format!("the prices are of {measured_on}, this machine is {here}: without a record, they are measured here")
    })
}

/// A flag that was given and has no meaning here.
pub(crate) fn of_stored_data(args: &AdviseArgs) -> Option<&'static str> {
    let typed = [
        ("--size", args.size.is_some()),
        ("--integrity", args.integrity.is_some()),
        ("--fips", args.fips.is_some()),
        ("--certificate", args.certificate.is_some()),
        ("--expansion", args.expansion.is_some()),
        ("--key-bits", args.key_bits.is_some()),
        ("--nonce", args.nonce.is_some()),
        ("--snapshots", args.snapshots.is_some()),
        ("--key-per", args.key_per.is_some()),
        ("--writes-per-second", args.writes_per_second.is_some()),
        ("--writers", args.writers.is_some()),
        ("--keys", args.keys.is_some()),
        ("--key-life", args.key_life.is_some()),
        ("--key-born", args.key_born.is_some()),
        ("--reads", args.reads.is_some()),
        ("--max-p99", args.max_p99.is_some()),
        ("--library-version", args.library_version.is_some()),
        ("--alone", args.alone.is_some()),
    ];
    typed.into_iter().find(|(_, typed)| *typed).map(|(flag, _)| flag)
}

fn tls_question(args: &AdviseArgs) -> Result<Question, Failure> {
    let typed = &args.tls;
    let browser = [String::from("browser")];
    let clients = if typed.clients.is_empty() { &browser[..] } else { &typed.clients };
    let mut certificates = typed.certificates.clone();
    if certificates.is_empty() {
        let usual = |c: &Certificate| *c != Certificate::Ed25519;
        certificates = Certificate::classic().filter(usual).collect();
    }
    if typed.bytes.is_some() && typed.bulk.is_none() && typed.calibration.is_none() {
        return Err(Failure::usage(
            "--bytes needs a price: give --bulk (a run of `tls records`) or --calibration",
        ));
    }
    Ok(Question {
        clients: Question::clients(clients).map_err(Failure::usage)?,
        certificates,
        resumed_share: typed.resumed.unwrap_or(0.0),
        post_quantum: typed.post_quantum != Some(YesNo::No),
        bytes_per_connection: typed.bytes.unwrap_or(0) as u64,
        temperature: typed.temperature.unwrap_or(Temperature::Hot),
        only: args.only.clone(),
    })
}

fn chosen(args: &AdviseArgs, mut run: Run) -> Result<Run, Failure> {
    let globs: Vec<String> =
        args.library.iter().filter(|text| !text.contains('=')).cloned().collect();
    let globs = choose::globs(&globs)?;
    if !globs.is_empty() {
        let named = |s: &record::tls::Stack| {
            args.library.iter().any(|t| t.split('=').next() == Some(&s.name))
        };
        let matches = |s: &record::tls::Stack| {
            globs.iter().any(|g| g.matches(&s.name) || g.matches(&s.label))
        };
        run.stacks.retain(|stack| matches(stack) || named(stack));
        if run.stacks.is_empty() {
            let all = args.library.join("', '");
            return Err(Failure::usage(format!("the run has no stack that matches '{all}'")));
        }
    }
    Ok(run)
}

/// Time of sampling of a thorough answer, at least.
const THOROUGH: Duration = Duration::from_secs(20);

fn measure_handshakes(args: &AdviseArgs, question: &Question) -> Result<Run, Failure> {
    let cases = judge::advise::tls_server::cases(question).map_err(Failure::usage)?;
    let _claim = args.output.as_deref().map(claim_output).transpose()?;
    let stop = args.time.limit(&watch_signals()?);
    let (stacks, _) = crate::commands::tls::stacks(&args.library, false)?;
    let mut stacks = crate::commands::tls::at_tier(stacks, args.tier, args.quiet)?;
    if let Some(only) = &question.only {
        stacks.retain(|stack| can_use(only, &stack.facts.label));
        if stacks.is_empty() {
            let why = format!("no TLS stack here that {only} can be built with");
            return Err(Failure::not_done(why));
        }
    }
    // A price is a sum over cases: a stack that is slower in each is out. Stacks that nginx cannot use rule out none.
    let is_ruler = |at: &usize| can_use("nginx", &stacks[*at].facts.label);
    let race = TlsRace {
        groups: vec![(0..cases.len()).collect()],
        turns: vec![0],
        wanted: BTreeSet::new(),
        rulers: Some((0..stacks.len()).filter(is_ruler).collect()),
    };
    let race = (!args.time.thorough).then_some(race);
    let time = args.time.sampling(THOROUGH);
    let outcome = crate::commands::tls::handshakes(
        args.quiet,
        cases,
        question.temperature,
        &stacks,
        time,
        race,
        &stop,
    )?;
    if let Some(path) = &args.output {
        record::save(&outcome.record(), path).map_err(Failure::not_done)?;
    }
    Ok(outcome.run)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn connections_are_told_from_pairs_of_files() {
        let is_connection = |from| files(from).map(|f| f.is_none()).unwrap_or(false);
        for from in ["host=a,b dbname=x", "dbname=x", "postgresql:///x", "postgres://a,b/x"] {
            assert!(is_connection(from), "{from}");
        }
        for (from, said) in
            [("x", "two snapshots"), ("/no/a,/no/b", "/no/a"), ("", "two snapshots")]
        {
            let failure = files(from).unwrap_err();
            assert!(failure.message.contains(said), "{from}: {}", failure.message);
        }
    }
}
