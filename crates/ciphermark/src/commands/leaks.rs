//! `ciphermark leaks`: what of each algorithm's execution depends on its key.

use crate::commands::run::{claim_output, watch_signals};
use crate::commands::{Sizes, TierGlobs, choose, counted_sizes};
use crate::screen::Bar;
use crate::{Exit, Failure, screen};
use base::model::{Algorithm, Tier};
use base::text::flags::parse_duration;
use clap::Args;
use engine::{AllJudged, Attached, LeakSubject, Secrets};
use record::{LeakVerdict, Leaks};
use report::Format;
use std::path::PathBuf;
use std::time::{Duration, Instant};

/// `ciphermark leaks`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ciphermark leaks -a aes-256-gcm\n  \
    ciphermark leaks -l mine=./libmine.so                        a library of your own, all its algorithms\n  \
    ciphermark leaks -l wolfssl -a 'aes-*-gcm' -t native -t noaes\n  \
    ciphermark leaks -l openssl --thorough -o leaks.json\n  \
    ciphermark leaks -l openssl -a x25519,ecdsa-p256,'rsa-2048-*'  private keys under TLS\n  \
    ciphermark leaks -l nettle -a aes-128-gcm --trace _nettle_aes_set_key\n\n\
    Single-steps key set-up, encryption, decryption and rejection under several keys and compares the\n\
    traces: branches, addresses, operands of divisions, and how far a comparison of tags runs. Then\n\
    follows the key through one trace (taint). The same trace is no proof: caches, speculation and\n\
    instructions whose time depends on values are not seen.\n\n\
    Private keys, where they are named: x25519, p256 (agree); ecdsa-p256, ed25519, rsa-2048-pss,\n\
    rsa-2048-pkcs1 (sign); mlkem768 (decapsulate). Taint cannot follow p256, ecdsa-p256 and RSA: without a\n\
    finding their verdict is not-judged and says over how many keys the trace was the same.\n\n\
    Exit codes: 0 no trace differs with a key (what may depend on one, by taint alone, is printed);\n\
    1 something depends on a key; 3 something could not be judged; 4 nothing to judge.")]
pub struct LeaksArgs {
    /// Algorithms and primitives of TLS by name or glob, separated by commas; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Libraries, as for `run`; may be repeated.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Which CPU instructions the library may use, by name or glob, separated by commas; may be
    /// repeated.
    #[arg(short, long, value_name = "TIER", value_parser = TierGlobs, hide_possible_values = true, default_value = "native")]
    pub tier: Vec<String>,
    /// Message sizes in bytes, as for `run` [default: a part of a block, a block, and one that meets
    /// the widest loops].
    #[arg(short, long, value_name = "LIST")]
    pub size: Option<Sizes>,
    /// Keys whose traces are compared.
    #[arg(long, value_name = "N", default_value = "16", value_parser = clap::value_parser!(u32).range(2..=256))]
    pub secrets: u32,
    /// 64 keys.
    #[arg(long, conflicts_with = "secrets")]
    pub thorough: bool,
    /// Judge for at most this long; what there was no time for is counted.
    #[arg(long, value_parser = parse_duration, value_name = "TIME")]
    pub budget: Option<Duration>,
    /// Print the instructions of two traces around this function's first difference.
    #[arg(long, value_name = "FUNCTION")]
    pub trace: Option<String>,
    /// Write a record.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Print each function and place, not a screen.
    #[arg(long, conflicts_with = "json")]
    pub all: bool,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// No progress bar.
    #[arg(short, long)]
    pub quiet: bool,
}

/// Keys with `--thorough`.
const THOROUGH: u32 = 64;

/// How the words begin where nothing is judged.
const NOTHING: &str = "nothing to judge: none of the selected libraries";

/// Judges the chosen algorithms of the chosen libraries and prints the verdicts.
pub fn leaks(args: &LeaksArgs) -> Result<Exit, Failure> {
    choose::learn(&args.library, &args.algorithm)?;
    let chosen = Chosen::of(&args.algorithm)?;
    let tiers = choose::tiers(&args.tier)?;
    let sizes =
        args.size.as_ref().map_or(Ok(Vec::new()), |typed| counted_sizes(typed.0.clone()))?;
    let journal = args.output.as_deref().map(claim_output).transpose()?.flatten();
    let stop = watch_signals()?;
    let libraries = engine::at_tiers(&choose::attached(&args.library)?, &tiers);
    let subjects = chosen.subjects(&libraries, &tiers);
    let without_tier = chosen.without_tier(&libraries, &tiers);
    if subjects.is_empty() && without_tier.is_empty() {
        return Err(Failure::not_done(format!(
            "{NOTHING} offers any of the algorithms with a key"
        )));
    }
    let stop = args.budget.map_or_else(|| stop.clone(), |time| stop.within(time));
    let mut judged = judge(args, sizes, &libraries, &subjects, &stop);
    judged.leaks.extend(without_tier);
    let not_offered: Vec<&LeakSubject> = judged.not_offered.iter().map(|(of, _)| of).collect();
    if let Some((_, why)) =
        judged.not_offered.first().filter(|_| not_offered.len() == subjects.len())
    {
        let what = "offers private keys of these schemes";
        return Err(Failure::not_done(format!("{NOTHING} {what}: {why}")));
    }
    let left_out: Vec<&LeakSubject> = judged.left_out.iter().collect();
    for (what, of) in [("left out", left_out), ("not offered", not_offered)] {
        screen::say(args.quiet, !of.is_empty(), &named(what, &libraries, &of, subjects.len()));
    }
    let exit = exit(&judged);
    if let Some(path) = &args.output {
        let command = crate::commands::typed();
        let record = engine::record_of_leaks(&libraries, judged.leaks.clone(), command);
        record::save(&record, path).map_err(Failure::not_done)?;
    }
    if let Some(journal) = journal {
        journal.remove().map_err(Failure::not_done)?;
    }
    if args.json {
        screen::print_json(&judged.leaks)?;
    } else {
        screen::print(|options| {
            let traces = judged.traces.iter().map(|line| format!("{line}\n"));
            let verdicts = if args.all {
                report::leaks(&judged.leaks, Format::Table, options)
            } else {
                report::leaks_screen(&judged.leaks, options)
            };
            traces.fold(verdicts, |all, line| all + &line)
        })?;
    }
    Ok(exit)
}

fn judge(
    args: &LeaksArgs,
    sizes: Vec<usize>,
    libraries: &[Attached],
    subjects: &[LeakSubject],
    stop: &engine::Stop,
) -> AllJudged {
    let secrets = Secrets {
        count: if args.thorough { THOROUGH } else { args.secrets },
        sizes,
        trace: args.trace.clone(),
        until_one: false,
        skips_long: false,
    };
    let begun = Instant::now();
    Bar::during(args.quiet, |bar| {
        engine::judge_leaks(libraries, subjects, &secrets, stop, &|done, of| {
            let each = begun.elapsed() / u32::try_from(done.max(1)).unwrap_or(u32::MAX);
            bar.judging(done, of, each * u32::try_from(of - done).unwrap_or(u32::MAX));
        })
    })
}

struct Chosen {
    algorithms: Vec<&'static Algorithm>,
    /// Of TLS, with private keys.
    schemes: Vec<&'static str>,
}

impl Chosen {
    /// What globs match; without any all algorithms. Private keys take minutes, so they are named.
    fn of(globs: &[String]) -> Result<Self, Failure> {
        let (mut of_algorithms, mut schemes) = (Vec::new(), Vec::new());
        for glob in choose::globs(globs)? {
            let matched = engine::private_schemes().into_iter().filter(|name| glob.matches(name));
            let before = schemes.len();
            schemes.extend(matched);
            let is_algorithm = Algorithm::all().iter().any(|a| glob.matches(a.name));
            if is_algorithm || schemes.len() == before {
                of_algorithms.push(glob.text().to_owned());
            }
        }
        let algorithms = match of_algorithms.as_slice() {
            [] if schemes.is_empty() => Algorithm::all().iter().collect(),
            [] => Vec::new(),
            globs => choose::algorithms(globs)?,
        };
        Ok(Self { algorithms, schemes })
    }

    /// What has a key and is offered as whole messages; of private keys everything, because what a library offers shows
    /// only when it is judged.
    fn subjects(&self, libraries: &[Attached], tiers: &[Tier]) -> Vec<LeakSubject> {
        let keyed = || self.algorithms.iter().filter(|a| a.has_secret());
        let of = |(library, tier): (usize, Tier)| {
            let library_there = &libraries[library];
            let has_tier = library_there.offers_at(tier).is_ok();
            let schemes = if has_tier { &*self.schemes } else { &[] };
            let own = keyed().filter(move |a| library_there.takes_messages(tier, a.name));
            let own = own.map(|a| a.name);
            let all = own.chain(schemes.iter().copied());
            all.map(move |name| LeakSubject { library, tier, algorithm: name.to_owned() })
        };
        let all = (0..libraries.len()).flat_map(|l| tiers.iter().map(move |tier| (l, *tier)));
        all.flat_map(of).collect()
    }

    /// What a library offers and could not be judged at a tier, because that cannot be applied to it.
    fn without_tier(&self, libraries: &[Attached], tiers: &[Tier]) -> Vec<Leaks> {
        let mut all = Vec::new();
        for library in libraries {
            for tier in tiers {
                let Err(finding) = library.offers_at(*tier) else { continue };
                let keyed = self.algorithms.iter().filter(|a| a.has_secret());
                all.extend(keyed.filter(|a| library.takes_messages(Tier::Native, a.name)).map(
                    |a| Leaks {
                        library: library.facts.identity(),
                        algorithm: a.name.to_owned(),
                        tier: *tier,
                        verdict: LeakVerdict::NotJudged,
                        reason: Some(finding.why.clone()),
                        ..Leaks::default()
                    },
                ));
            }
        }
        all
    }
}

/// What was not judged: how many of all, and the first of them.
fn named(what: &str, libraries: &[Attached], subjects: &[&LeakSubject], of: usize) -> String {
    const NAMED: usize = 4;
    let name =
        |s: &&LeakSubject| format!("{} {} {}", libraries[s.library].label(), s.algorithm, s.tier);
    let names: Vec<String> = subjects.iter().take(NAMED).map(name).collect();
    let more = if subjects.len() > NAMED { ", …" } else { "" };
    format!("{what}: {} of {of} ({}{more})", subjects.len(), names.join(", "))
}

fn exit(judged: &AllJudged) -> Exit {
    let all = &judged.leaks;
    if all.iter().any(|l| l.verdict == LeakVerdict::Depends) {
        Exit::Found
    } else if !judged.left_out.is_empty() || all.iter().any(|l| l.reason.is_some()) {
        Exit::SomeRefused
    } else {
        Exit::Done
    }
}
