//! `ciphermark pair`: two libraries compared on one case until there is a verdict, or advice where there is
//! none.

use crate::commands::run::watch_signals;
use crate::commands::{choose, one_of, one_size};
use crate::screen::Bar;
use crate::{Exit, Failure, screen};
use base::analysis::{LOOKS, Verdict};
use base::model::{Algorithm, Direction, Model, Tier};
use base::text::flags::{parse_duration, parse_fraction};
use base::text::{Options, PLAIN};
use clap::{Args, ValueEnum};
use engine::{Attached, Budget, PairBench, PairError, PairOutcome, Request};
use record::State;
use serde_json::{Value, json};
use std::time::Duration;

/// `ciphermark pair`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark pair openssl@3.0.22 openssl@4.0.1 -a aes-256-gcm -s 16K\n  \
    ciphermark pair old=base/libcrypto.so new=patched/libcrypto.so -a aes-128-ctr\n  \
    ciphermark pair old=base/libcrypto.so new=patched/libcrypto.so -a aes-128-ctr --margin 3% \\\n    \
    --budget 2m --fail-if slower --fail-if undecided\n\n\
    Verifies both libraries, then samples pairs of worker processes, one of each library, in turn. It\n\
    looks for a verdict after 12, 16, 24, 36, 56, 84, 128 and 192 pairs and when the budget is spent.\n\
    If both are the same, 'slower' or 'faster' comes out at most once in a thousand comparisons. It\n\
    usually finds a planted difference of 1 % within a second.\n\n\
    Exit codes: 0 compared; 1 a condition of --fail-if holds (never with several --trials); 2 wrong\n\
    usage; 3 a check refused one of the two; 4 one of the two does not offer the case, or was lost.")]
pub struct PairArgs {
    /// The library to compare with: a name or name@version that matches one, or NAME=PATH.
    #[arg(value_name = "BASE")]
    pub base: String,
    /// The library to judge.
    #[arg(value_name = "NEW")]
    pub new: String,
    /// The algorithm.
    #[arg(short, long)]
    pub algorithm: String,
    /// Bytes of plaintext in one operation.
    #[arg(short, long, value_name = "BYTES", default_value = "8192", value_parser = one_size)]
    pub size: usize,
    /// Encrypt or decrypt.
    #[arg(short, long, value_name = "DIRECTION", default_value = "encrypt", value_parser = one_of(&[Direction::Encrypt, Direction::Decrypt], Direction::name))]
    pub direction: Direction,
    /// What one timed operation is.
    #[arg(short, long, value_name = "MODEL", default_value = "message")]
    pub model: Model,
    /// Which CPU instructions the libraries may use.
    #[arg(short, long, value_name = "TIER", default_value = "native", hide_possible_values = true)]
    pub tier: Tier,
    /// Call the two the same if they differ by at most this.
    #[arg(long, value_parser = parse_fraction, allow_hyphen_values = true, value_name = "PERCENT", default_value = "0.2%")]
    pub margin: f64,
    /// How often to compare, each time with new processes.
    #[arg(long, value_name = "N", default_value = "1", value_parser = clap::value_parser!(u32).range(1..))]
    pub trials: u32,
    /// Spend at most this long on one comparison.
    #[arg(long, value_parser = parse_duration, allow_hyphen_values = true, value_name = "TIME", default_value = "20s")]
    pub budget: Duration,
    /// Verdicts that make the exit code 1; may be repeated.
    #[arg(long, value_name = "VERDICT", default_values = ["slower"])]
    pub fail_if: Vec<PairFailArg>,
    /// Seed for keys, messages and the order of processes [default: random].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Print JSON.
    #[arg(long)]
    pub json: bool,
    /// No progress bar.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `--fail-if` of `pair`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, ValueEnum)]
pub enum PairFailArg {
    /// The second library is slower.
    Slower,
    /// The second library is faster.
    Faster,
    /// No verdict within the budget.
    Undecided,
    /// Nothing: the exit code is 0 whatever the verdict.
    Never,
}

/// Compares the two as often as asked and prints the verdicts.
pub fn pair(args: &PairArgs) -> Result<Exit, Failure> {
    let request = request(args)?;
    let libraries = vec![choose::only(&args.base)?, choose::only(&args.new)?];
    let stop = watch_signals()?;
    let bar = Bar::new(args.quiet);
    let mut bench = PairBench::new(&request, &libraries, args.margin).map_err(failure)?;
    let mut outcomes = Vec::new();
    for done in 0..args.trials {
        bar.count("comparing", done as usize, args.trials as usize, "comparisons");
        outcomes.push(bench.trial(&stop).map_err(failure)?);
        if stop.is_interrupted() {
            break;
        }
    }
    bar.finish();
    if args.json {
        screen::print_json(&document(args, &request, &libraries, &outcomes))?;
    } else {
        screen::print(|options| text_of(args, &request, &libraries, &outcomes, options))?;
    }
    // Several trials test the verdicts, not the libraries.
    let fails = matches!(&outcomes[..], [only] if fails(&args.fail_if, only.verdict));
    Ok(if fails { Exit::Found } else { Exit::Done })
}

fn fails(conditions: &[PairFailArg], verdict: Verdict) -> bool {
    conditions.iter().any(|condition| match condition {
        PairFailArg::Slower => verdict == Verdict::Slower,
        PairFailArg::Faster => verdict == Verdict::Faster,
        PairFailArg::Undecided => verdict == Verdict::Undecided,
        PairFailArg::Never => false,
    })
}

/// A finding of a check refuses the case; what a library does not offer cannot be compared.
fn failure(error: PairError) -> Failure {
    match &error {
        PairError::Found { finding, .. } if finding.state != State::Unsupported => {
            Failure { exit: Exit::SomeRefused, ..Failure::not_done(error) }
        }
        _ => Failure::not_done(error),
    }
}

fn request(args: &PairArgs) -> Result<Request, Failure> {
    choose::learn(&[args.base.clone(), args.new.clone()], std::slice::from_ref(&args.algorithm))?;
    let algorithm = Algorithm::find(&args.algorithm).map_err(Failure::usage)?;
    // A pair ends with a verdict or with its budget, whatever its precision.
    let budget = Budget { precision: 0.0, time: args.budget };
    Ok(Request {
        directions: vec![args.direction],
        models: vec![args.model],
        sizes: vec![args.size],
        tiers: vec![args.tier],
        seed: args.seed.unwrap_or_else(choose::random_seed),
        ..choose::plain_request(vec![algorithm], budget)
    })
}

fn text_of(
    args: &PairArgs,
    request: &Request,
    libraries: &[Attached],
    outcomes: &[PairOutcome],
    options: Options,
) -> String {
    let [base, new] = libraries else { return String::new() };
    let algorithm = request.algorithms[0];
    let mut out = format!(
        "{algorithm} of {} bytes{}: {} against {}\n",
        request.sizes[0],
        unusual(request),
        new.label(),
        base.label()
    );
    for outcome in outcomes {
        out += &line(outcome, args.margin, options);
    }
    if let [only] = outcomes
        && only.verdict == Verdict::Undecided
    {
        let advice = advice(only, args.margin, args.budget);
        out += &options.behind("  undecided: ", 13, &advice, PLAIN);
    }
    if outcomes.len() > 1 {
        let count = |v: Verdict| outcomes.iter().filter(|o| o.verdict == v).count();
        let all = [Verdict::Same, Verdict::Faster, Verdict::Slower, Verdict::Undecided];
        let counted: Vec<String> =
            all.iter().map(|v| format!("{} {}", count(*v), v.name())).collect();
        out += &format!("{} trials: {}\n", outcomes.len(), counted.join(", "));
    }
    out
}

/// What of the case is not as where nobody says anything: `, decrypt, rekey, noaes`.
fn unusual(request: &Request) -> String {
    let (direction, model, tier) = (request.directions[0], request.models[0], request.tiers[0]);
    let words = [
        (direction != Direction::Encrypt).then(|| direction.to_string()),
        (model != Model::Message).then(|| model.to_string()),
        (tier != Tier::Native).then(|| tier.to_string()),
    ];
    words.into_iter().flatten().map(|word| format!(", {word}")).collect()
}

fn line(o: &PairOutcome, margin: f64, options: Options) -> String {
    let spent = format!("{} pairs of processes, {:.2} s", o.pairs.len(), o.seconds);
    let clean = o.samples as u64 - o.disturbed.total();
    let found = o.ratio.map_or_else(
        || "too few pairs within the budget".to_owned(),
        |r| format!("{} {} per operation", report::change_of_pairs(r, margin), o.unit),
    );
    let all = format!("{found}; {spent}, {clean} of {} samples clean", o.samples);
    options.behind(&format!("  {:<9} ", o.verdict.name()), 12, &all, PLAIN)
}

fn document(
    args: &PairArgs,
    request: &Request,
    libraries: &[Attached],
    outcomes: &[PairOutcome],
) -> Value {
    let trials: Vec<Value> = outcomes
        .iter()
        .map(|o| {
            let advice =
                (o.verdict == Verdict::Undecided).then(|| advice(o, args.margin, args.budget));
            let ratio = o.ratio.map(
                |r| json!({"median": r.estimate, "low": r.low, "high": r.high, "level": r.level}),
            );
            json!({
                "verdict": o.verdict.name(), "ratio": ratio, "unit": o.unit, "pairs": o.pairs,
                "clock_decides": o.clock_decides,
                "seconds": o.seconds, "sampling_seconds": o.sampling_seconds,
                "samples": o.samples, "disturbed": o.disturbed, "advice": advice,
            })
        })
        .collect();
    json!({
        "base": libraries.first().map(crate::commands::identity), "new": libraries.last().map(crate::commands::identity),
        "algorithm": request.algorithms[0].name, "direction": request.directions[0],
        "model": request.models[0], "size": request.sizes[0], "tier": request.tiers[0],
        "margin": args.margin, "false_verdicts": base::analysis::FALSE_VERDICTS, "trials": trials,
    })
}

// Advice if pairs of processes give no verdict.

/// One line about what would give a verdict.
pub fn advice(o: &PairOutcome, margin: f64, budget: Duration) -> String {
    let most = LOOKS[LOOKS.len() - 1].pairs;
    let Some(ratio) = o.ratio else {
        return format!(
            "the budget was spent after {} of the {} pairs that a verdict needs: --budget {}",
            o.pairs.len(),
            LOOKS[0].pairs,
            longer(budget, 3.0)
        );
    };
    if o.clock_decides {
        return "fewer cycles at a lower clock, and more time: which is faster depends on the core's clock"
            .to_owned();
    }
    let half = (ratio.high / ratio.low).ln() / 2.0;
    let distance = ratio.estimate.ln().abs();
    // The interval has to lie within the margin, or clear of no difference.
    let room = if distance <= margin { margin - distance } else { distance };
    let wider =
        format!("--margin {:.1}% if differences so small do not matter", widest(ratio) * 100.0);
    let mut text = if o.pairs.len() >= most {
        format!("{most} pairs are the maximum: {wider}")
    } else if half > 6.0 * room {
        format!("more time would hardly help: {wider}")
    } else {
        let times = (half / room.max(1e-9)).powi(2).clamp(2.0, 30.0);
        format!("--budget {} may help; {wider}", longer(budget, times))
    };
    if o.disturbed.total() * 2 > o.samples as u64 {
        text += "; most samples were disturbed: a quieter machine helps (`ciphermark doctor`)";
    }
    text
}

/// The margin within which the two would have been the same, as far as is known, rounded up.
fn widest(ratio: base::analysis::Ratio) -> f64 {
    let most = (ratio.high - 1.0).max(1.0 / ratio.low - 1.0);
    // A hair less: 0.004 is a little more in binary.
    (most * 1000.0 - 1e-9).ceil() / 1000.0
}

fn longer(budget: Duration, times: f64) -> String {
    format!("{:.0}s", (budget.as_secs_f64() * times).max(1.0).ceil())
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::analysis::{Ratio, Verdict};
    use record::Disturbances;

    fn outcome(pairs: usize, ratio: Option<(f64, f64, f64)>) -> PairOutcome {
        PairOutcome {
            verdict: Verdict::Undecided,
            ratio: ratio.map(|(low, estimate, high)| Ratio { estimate, low, high, level: 0.999 }),
            pairs: vec![(1.0, 1.0); pairs],
            unit: "cycles",
            clock_decides: false,
            seconds: 1.0,
            sampling_seconds: 1.0,
            samples: 100,
            disturbed: Disturbances::default(),
        }
    }

    fn said(outcome: &PairOutcome) -> String {
        advice(outcome, 0.002, Duration::from_secs(20))
    }

    #[test]
    fn the_advice_is_what_the_interval_lacks() {
        let few = said(&outcome(7, None));
        assert!(few.contains("after 7 of the 12 pairs") && few.ends_with("--budget 60s"), "{few}");
        let near = said(&outcome(40, Some((0.999, 1.003, 1.007))));
        assert!(near.starts_with("--budget 40s may help; --margin 0.7%"), "{near}");
        let hopeless = said(&outcome(40, Some((0.96, 1.0019, 1.05))));
        assert!(hopeless.starts_with("more time would hardly help"), "{hopeless}");
        let all = said(&outcome(192, Some((0.998, 1.001, 1.004))));
        assert!(
            all.starts_with("192 pairs are the maximum") && all.contains("--margin 0.4%"),
            "{all}"
        );
    }

    #[test]
    fn a_verdict_is_no_wider_than_the_screen() {
        let found = outcome(12, Some((0.36150, 0.36351, 0.38432)));
        let text = line(&found, 0.002, Options { width: 100, color: false });
        assert!(text.lines().count() == 2 && text.lines().all(|l| l.len() <= 100), "{text}");
        let words: Vec<&str> = text.split_whitespace().collect();
        assert!(words.join(" ").ends_with("100 of 100 samples clean"), "{text}");
    }

    #[test]
    fn what_is_not_usual_of_the_case_is_said() {
        let budget = Budget { precision: 0.0, time: Duration::ZERO };
        let mut request = choose::plain_request(Vec::new(), budget);
        (request.directions, request.models) = (vec![Direction::Encrypt], vec![Model::Message]);
        request.tiers = vec![Tier::Native];
        assert_eq!(unusual(&request), "");
        (request.directions, request.models) = (vec![Direction::Decrypt], vec![Model::Rekey]);
        request.tiers = vec![Tier::Noaes];
        assert_eq!(unusual(&request), ", decrypt, rekey, noaes");
    }

    #[test]
    fn no_time_helps_where_the_cores_clock_decides() {
        let mut wide = outcome(12, Some((0.9, 0.91, 0.92)));
        wide.clock_decides = true;
        let said = said(&wide);
        assert!(
            said.contains("fewer cycles at a lower clock") && !said.contains("--budget"),
            "{said}"
        );
    }

    #[test]
    fn a_busy_machine_is_named_where_most_samples_were_disturbed() {
        let mut busy = outcome(40, Some((0.999, 1.003, 1.007)));
        assert!(!said(&busy).contains("disturbed"));
        busy.disturbed.contended = 51;
        assert!(said(&busy).contains("most samples were disturbed"));
    }
}
