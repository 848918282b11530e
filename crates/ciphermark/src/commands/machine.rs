//! What this machine has and how quiet it is: `ciphermark list` (libraries, algorithms, tiers), `ciphermark
//! doctor` (clock, noise, what is wrong) and `ciphermark quietly` (another benchmark, only while its core is
//! otherwise idle).

use crate::commands::choose;
use crate::commands::run::watch_signals;

use crate::{Exit, Failure, files, screen};
use base::model::{Algorithm, Model, Tier};
use base::text::Suite;
use base::text::flags::parse_duration;
use clap::{Args, ValueEnum};
use engine::Attached;
use engine::doctor::quietly::{Patience, Quietly};
use engine::doctor::{Finding, Verdict};
use serde::Serialize;
use serde_json::json;
use std::ffi::OsString;
use std::path::{Path, PathBuf};
use std::time::Duration;

/// `ciphermark list`
#[derive(Debug, Args)]
#[command(
    after_help = "Examples:\n  ciphermark list libraries\n  ciphermark list algorithms -a 'aes-256-*' -l openssl\n  ciphermark list algorithms --json\n  ciphermark list limits -a 'aes-256-*'"
)]
pub struct ListArgs {
    /// What to list.
    pub what: What,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// Of algorithms and limits only these, separated by commas; may be repeated. Other usual names are understood.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Only these libraries, as for `run`; NAME=PATH adds a file.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
}

/// What to list.
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum What {
    /// Algorithms, and which library offers each.
    Algorithms,
    /// Libraries found, with version, path and id.
    Libraries,
    /// CPU instruction tiers.
    Tiers,
    /// What one timed operation can be.
    Models,
    /// Suites.
    Suites,
    /// What this core can do at best: instructions, bandwidths, and a lower bound for each algorithm.
    Limits,
}

/// `ciphermark doctor`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ciphermark doctor\n  ciphermark doctor --json\n\n\
    Takes about two seconds, mostly to measure the noise of the CPU that `run` would use. Each line\n\
    is ok, a note, or a problem together with its remedy. Exit code 1 if something would make\n\
    figures wrong.")]
pub struct DoctorArgs {
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
}

pub fn list(args: &ListArgs) -> Result<Exit, Failure> {
    match args.what {
        What::Libraries => libraries(args),
        What::Algorithms => algorithms(args),
        What::Tiers => tiers(args),
        What::Models => pairs(
            args,
            Model::ALL.iter().map(|m| {
                (m.name().to_owned(), format!("{} (version {})", m.summary(), m.version()))
            }),
        ),
        What::Limits => limits(args),
        What::Suites => pairs(args, Suite::built_in().into_iter().map(|s| (s.name, s.reason))),
    }
}

/// Every library found, even unusable ones; with `--library`, the chosen ones.
fn found(args: &ListArgs, discover: fn() -> Vec<Attached>) -> Result<Vec<Attached>, Failure> {
    if args.library.is_empty() { Ok(discover()) } else { choose::attached(&args.library) }
}

fn libraries(args: &ListArgs) -> Result<Exit, Failure> {
    let facts: Vec<record::Library> =
        found(args, choose::discover_all)?.into_iter().map(|l| l.facts).collect();
    if args.json {
        return json(&facts);
    }
    if facts.is_empty() {
        return Err(Failure::not_done(engine::SelectError::None));
    }
    screen::print(|options| report::libraries(&facts, options))?;
    Ok(Exit::Done)
}

fn algorithms(args: &ListArgs) -> Result<Exit, Failure> {
    let libraries = found(args, || choose::discover(&[]))?;
    let usable: Vec<&Attached> = libraries.iter().filter(|l| l.facts.error.is_none()).collect();
    let offers = |l: &Attached, a: &Algorithm| {
        l.offers.iter().any(|o| o.algorithm == a.name && !o.models.is_empty())
    };
    let chosen = choose::algorithms_or_all(&args.algorithm)?;
    if args.json {
        let rows = chosen.iter().map(|a| {
            let labels: Vec<String> =
                usable.iter().filter(|l| offers(l, a)).map(|l| l.label()).collect();
            json!({
                "name": a.name, "family": a.family(), "key_bytes": a.key_len, "nonce_bytes": a.nonce_len,
                "tag_bytes": a.tag_len, "sizes": a.size_reason(), "warning": a.warning(), "libraries": labels,
            })
        });
        return json(&rows.collect::<Vec<_>>());
    }
    let row = |a: &&Algorithm| report::MatrixRow {
        algorithm: a.name.to_owned(),
        offered: usable.iter().map(|l| offers(l, a)).collect(),
    };
    let matrix = report::Matrix {
        libraries: usable.iter().map(|l| l.label()).collect(),
        rows: chosen.iter().map(row).collect(),
    };
    screen::print(|options| report::matrix(&matrix, options))?;
    Ok(Exit::Done)
}

/// The tiers, with how this machine applies each.
fn tiers(args: &ListArgs) -> Result<Exit, Failure> {
    let here = Tier::HERE.iter().map(|tier| (tier, engine::tier_here(*tier)));
    if args.json {
        let rows = here.map(|(tier, here)| {
            json!({
                "name": tier.name(), "summary": tier.summary(), "available": here.available,
                "mechanism": here.mechanism, "reason": here.reason,
            })
        });
        return json(&rows.collect::<Vec<_>>());
    }
    let rows = here.map(|(tier, here)| {
        let mut words = tier.summary().to_owned();
        if let Some(mechanism) = here.mechanism {
            words += &format!(" (by {mechanism})");
        }
        if let Some(reason) = here.reason {
            words += &format!("; {reason}");
        }
        (tier.name().to_owned(), words)
    });
    pairs(args, rows)
}

/// Measured here and now, which takes a second or two.
fn limits(args: &ListArgs) -> Result<Exit, Failure> {
    let algorithms = choose::algorithms_or_all(&args.algorithm)?;
    let limits = engine::limits_here(&algorithms);
    if args.json {
        return json(&limits);
    }
    screen::print(|options| report::limits(&limits, options))?;
    Ok(Exit::Done)
}

fn pairs(args: &ListArgs, rows: impl Iterator<Item = (String, String)>) -> Result<Exit, Failure> {
    let rows: Vec<(String, String)> = rows.collect();
    if args.json {
        let named = rows.iter().map(|(n, s)| json!({"name": n, "summary": s}));
        return json(&named.collect::<Vec<_>>());
    }
    screen::print(|options| report::pairs(&rows, options))?;
    Ok(Exit::Done)
}

fn json(value: &impl Serialize) -> Result<Exit, Failure> {
    screen::print_json(value)?;
    Ok(Exit::Done)
}

/// Examines everything and prints the findings.
pub fn doctor(args: &DoctorArgs) -> Result<Exit, Failure> {
    let cpu = engine::measuring_cpu();
    // Before the noise is measured: loading libraries is noise.
    let libraries = engine::discover(&[]).into_iter().map(|l| l.facts).collect();
    let machine = engine::doctor::Machine {
        libraries,
        tiers: tier_switches(),
        ..engine::doctor::machine(cpu)
    };
    let findings = engine::doctor::examine(&machine, &engine::doctor::watch(cpu));
    if args.json {
        screen::print_json(&findings)?;
    } else {
        let rows: Vec<report::Advice> = findings.iter().map(advice).collect();
        screen::print(|options| report::advice(&rows, options))?;
    }
    let problem = findings.iter().any(|f| f.verdict == Verdict::Problem);
    Ok(if problem { Exit::Found } else { Exit::Done })
}

/// Every switch but `native`, and how it is applied to libraries.
fn tier_switches() -> Vec<(String, Result<String, String>)> {
    let others = Tier::HERE.iter().copied().filter(|t| *t != Tier::Native && !t.is_machine());
    let how = |tier: Tier| {
        let here = engine::tier_here(tier);
        let unknown = || "this machine has no way to apply it".to_owned();
        match here.mechanism {
            Some(mechanism) if here.available => Ok(format!("by {mechanism}")),
            _ => Err(here.reason.unwrap_or_else(unknown)),
        }
    };
    others.map(|tier| (tier.name().to_owned(), how(tier))).collect()
}

fn advice(finding: &Finding) -> report::Advice {
    report::Advice {
        topic: finding.topic.to_owned(),
        name: finding.name.clone(),
        grade: match finding.verdict {
            Verdict::Ok => report::Grade::Ok,
            Verdict::Note => report::Grade::Note,
            Verdict::Problem => report::Grade::Problem,
        },
        found: finding.found.clone(),
        mend: finding.mend.clone(),
    }
}

/// `ciphermark quietly`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark quietly openssl speed -seconds 5 -evp aes-128-gcm\n  \
    ciphermark quietly -o seen.json -- botan speed --msec=500 AES-128/CTR\n  \
    taskset -c 0 ciphermark quietly ./my-benchmark          on another CPU\n\n\
    Stops the program (SIGSTOP) while the core's sibling thread is busy, and lets it run for a slice at\n\
    a time while it is idle. This suits programs that divide by their own CPU time, as `openssl speed`\n\
    does without -elapsed; a program that reads the time of day counts the pauses as well. The program's\n\
    output is passed through; a summary goes to standard error.\n\n\
    The exit code is the program's own (128 plus the number of a signal; 127 if it cannot be executed),\n\
    or 4 if no moment was quiet.")]
pub struct QuietlyArgs {
    /// How long to let the program run between two looks at the core.
    #[arg(long, value_name = "TIME", default_value = "8ms", value_parser = parse_duration, allow_hyphen_values = true)]
    pub slice: Duration,
    /// End the program after waiting this long for a quiet moment.
    #[arg(long, value_name = "TIME", default_value = "60s", value_parser = parse_duration, allow_hyphen_values = true)]
    pub wait: Duration,
    /// Do not end the program then: run a slice, which the summary does not count as quiet, and wait again.
    #[arg(long)]
    pub anyway: bool,
    /// Write the summary to this file (JSON).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Nothing on standard error.
    #[arg(short, long)]
    pub quiet: bool,
    /// The program and its arguments.
    #[arg(
        value_name = "PROGRAM",
        required = true,
        trailing_var_arg = true,
        allow_hyphen_values = true
    )]
    pub program: Vec<OsString>,
}

/// What shells add to the number of a signal that ended a program.
const BY_SIGNAL: i32 = 128;

/// Runs the program and prints a summary.
pub fn quietly(args: &QuietlyArgs) -> Result<Exit, Failure> {
    let [program, arguments @ ..] = &args.program[..] else {
        return Err(Failure::usage("name a program"));
    };
    if let Some(path) = &args.output {
        if files::holds_something(path) && !is_summary(path) {
            let shown = path.display();
            return Err(Failure::usage(format!(
                "'{shown}' exists and is not a summary of `quietly`: not overwritten"
            )));
        }
        record::check_writable(path).map_err(Failure::usage)?;
    }
    let stop = watch_signals()?;
    let own = std::env::current_exe().map_err(Failure::not_done)?;
    let patience = Patience { slice: args.slice, wait: args.wait, anyway: args.anyway };
    let cpu = engine::measuring_cpu();
    let seen = engine::doctor::quietly::run(&own, cpu, program, arguments, patience, stop.flag())
        .map_err(Failure::not_done)?;
    if let Some(path) = &args.output {
        screen::write_file(path, record::pretty(&seen).as_bytes())?;
    }
    if !args.quiet {
        anstream::eprintln!("{}", summary(&seen));
    }
    let code = seen.exit_code.or(seen.signal.map(|n| BY_SIGNAL + n));
    Ok(Exit::Program(code.and_then(|n| u8::try_from(n).ok()).unwrap_or(u8::MAX)))
}

fn is_summary(path: &Path) -> bool {
    const MOST_BYTES: u64 = 1 << 16;
    let bytes = record::read_most(path, MOST_BYTES).ok().flatten().unwrap_or_default();
    let read: Option<serde_json::Value> = serde_json::from_slice(&bytes).ok();
    read.is_some_and(|value| value.get("quiet_cpu_seconds").is_some())
}

fn summary(seen: &Quietly) -> String {
    let share = 100.0 * seen.quiet_cpu_seconds / seen.cpu_seconds.max(1e-9);
    let clock = match (seen.core_ghz, seen.core_ghz_range) {
        (Some(mean), Some([low, high])) => {
            format!("; core clock {mean:.2} GHz ({low:.2} to {high:.2})")
        }
        _ => String::new(),
    };
    format!(
        "quietly: {:.3} s of CPU time on CPU {}, {share:.0} % of it in slices that were quiet at both ends; {:.1} s in all, {:.1} s \
         of them stopped{clock}",
        seen.cpu_seconds, seen.cpu, seen.seconds, seen.stopped_seconds
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_was_seen_is_one_line() {
        let seen = Quietly {
            cpu: 3,
            seconds: 9.0,
            stopped_seconds: 5.5,
            cpu_seconds: 3.5,
            quiet_cpu_seconds: 3.15,
            slices: 400,
            quiet_slices: 360,
            core_ghz: Some(2.0),
            core_ghz_range: Some([1.9, 2.1]),
            exit_code: Some(0),
            signal: None,
        };
        assert_eq!(
            summary(&seen),
            "quietly: 3.500 s of CPU time on CPU 3, 90 % of it in slices that were quiet at both ends; 9.0 s in all, \
             5.5 s of them stopped; core clock 2.00 GHz (1.90 to 2.10)"
        );
        let unknown = Quietly { core_ghz: None, core_ghz_range: None, ..seen };
        assert!(summary(&unknown).ends_with("stopped"));
    }
}
