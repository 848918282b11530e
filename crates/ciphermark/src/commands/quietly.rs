//! `ciphermark quietly`: runs another benchmark only while its core is otherwise idle.

use crate::args_quietly::QuietlyArgs;
use crate::commands::run::watch_signals;
use crate::error::{Exit, Failure};
use crate::screen;
use engine::doctor::quietly::{Patience, Quietly};

/// What shells add to the number of a signal that ended a program.
const BY_SIGNAL: i32 = 128;

/// Runs the program and prints a summary.
pub fn quietly(args: &QuietlyArgs) -> Result<Exit, Failure> {
    let [program, arguments @ ..] = &args.program[..] else {
        return Err(Failure::usage("name a program"));
    };
    if let Some(path) = &args.output {
        record::check_writable(path).map_err(Failure::usage)?;
    }
    let stop = watch_signals()?;
    let own = std::env::current_exe().map_err(Failure::not_done)?;
    let patience = Patience { slice: args.slice, wait: args.wait, anyway: args.anyway };
    let cpu = engine::measuring_cpu();
    let seen = engine::doctor::quietly::run(&own, cpu, (program, arguments), patience, stop.flag())
        .map_err(Failure::not_done)?;
    if let Some(path) = &args.output {
        let text = serde_json::to_string_pretty(&seen).map_err(Failure::not_done)?;
        screen::write_file(path, (text + "\n").as_bytes())?;
    }
    if !args.quiet {
        anstream::eprintln!("{}", summary(&seen));
    }
    let code = seen.exit_code.or(seen.signal.map(|n| BY_SIGNAL + n));
    Ok(Exit::Program(code.and_then(|n| u8::try_from(n).ok()).unwrap_or(u8::MAX)))
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
