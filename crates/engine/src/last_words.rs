//! How a process ended, in words, and what it said last.

/// Most of a dead process's last words that is looked at: a page of them says what is to be said.
pub(crate) const LAST_WORDS: u64 = 4096;

/// The signal that nothing but another process or the kernel sends.
pub(crate) const SIGKILL: i32 = 9;

/// How a process ended, with what it said last.
pub(crate) fn ending(signal: Option<i32>, code: Option<i32>, words: Option<LastWords>) -> String {
    let end = match (signal, code) {
        (Some(signal), _) => format!("crashed: {}", signal_name(signal)),
        (None, Some(code)) => format!("exited with code {code}"),
        (None, None) => "ended".into(),
    };
    joined(&end, words)
}

pub(crate) fn joined(end: &str, words: Option<LastWords>) -> String {
    let LastWords { place, said } = words.unwrap_or_default();
    let place = place.map(|place| format!(": {place}")).unwrap_or_default();
    let said = said.map(|said| format!("; last words: {said}")).unwrap_or_default();
    format!("{end}{place}{said}")
}

/// What is known of a process's end beside the signal or exit code.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct LastWords {
    /// Where it crashed, as [`probe::fault`] has it.
    place: Option<String>,
    /// The line that tells most of what it said last.
    pub(crate) said: Option<String>,
}

/// What Rust says where an exception comes through a function of C, and what that means.
const FOREIGN: &str = "Rust cannot catch foreign exceptions";
const THROWN: &str = "a C++ exception left the library: catch it in the adapter and print its text on standard error";

/// The lines of these last words that tell most, without control characters.
pub(crate) fn of(bytes: &[u8]) -> Option<LastWords> {
    let text = String::from_utf8_lossy(bytes);
    let of_line = |line: &str| line.chars().filter(|c| !c.is_control()).take(200).collect();
    let place = text.lines().filter_map(|line| line.strip_prefix(probe::fault::MARK)).next_back();
    // Of an abort outside of all calls nothing more is known.
    let place = place.filter(|place| !place.is_empty());
    let said = telling(&text).map(|line| if line.contains(FOREIGN) { THROWN } else { line });
    let words = LastWords { place: place.map(of_line), said: said.map(of_line) };
    (words != LastWords::default()).then_some(words)
}

/// The line that tells most of how a process ended: of a Rust panic its message, which has advice and
/// perhaps other panics behind it; else the last that is not advice, which Rust gives where it found no memory too.
fn telling(text: &str) -> Option<&str> {
    let is_said = |l: &&str| {
        let is_ours = l.starts_with("note: ") || l.starts_with(probe::fault::MARK);
        !l.trim().is_empty() && !is_ours
    };
    let mut lines = text.lines().filter(is_said);
    let panicked = |l: &&str| l.starts_with("thread '") && l.contains(" panicked at ");
    lines.clone().skip_while(|l| !panicked(l)).nth(1).or_else(|| lines.next_back())
}

fn signal_name(signal: i32) -> String {
    // The signals that a library's fault raises; any other is told by its number.
    let name = match signal {
        4 => "SIGILL, illegal instruction",
        5 => "SIGTRAP",
        6 => "SIGABRT, aborted itself",
        7 => "SIGBUS, bad memory access",
        8 => "SIGFPE, arithmetic fault",
        SIGKILL => "SIGKILL, killed from outside",
        11 => "SIGSEGV, bad memory access",
        15 => "SIGTERM",
        25 => "SIGXFSZ, wrote more than 64 MiB",
        31 => "SIGSYS, forbidden system call",
        other => return format!("signal {other}"),
    };
    name.to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn of_a_panic_the_message_is_told_and_else_the_last_line() {
        let panic =
            "\nthread 'main' (7) panicked at src/lib.rs:1:2:\nno such thing\nnote: run with it\n";
        assert_eq!(telling(panic), Some("no such thing"));
        assert_eq!(telling("loading\nout of luck\n\n"), Some("out of luck"));
        let no_memory = "memory allocation of 64 bytes failed\nnote: run with `RUST_BACKTRACE=1`\n";
        assert_eq!(telling(no_memory), Some("memory allocation of 64 bytes failed"));
        assert_eq!(telling("\n"), None);
    }

    #[test]
    fn where_a_process_crashed_stands_before_what_it_said() {
        let words = of(b"moon\n\nfault: read of byte 1\n");
        let told = ending(Some(6), None, words);
        assert_eq!(told, "crashed: SIGABRT, aborted itself: read of byte 1; last words: moon");
        assert_eq!(ending(None, Some(1), of(b"\n")), "exited with code 1");
        let thrown = b"fatal runtime error: Rust cannot catch foreign exceptions, aborting\n";
        let told = ending(Some(6), None, of(thrown));
        assert!(told.contains("last words: a C++ exception left the library"), "{told}");
    }
}
