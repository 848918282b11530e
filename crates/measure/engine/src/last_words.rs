//! How a process ended, in words, and what it said last.

/// Most of a dead process's last words that is looked at: a page of them says what is to be said.
pub(crate) const LAST_WORDS: u64 = 4096;

/// The signal that nothing but another process or the kernel sends.
pub(crate) const SIGKILL: i32 = 9;

/// How a process ended, with what it said last.
pub(crate) fn ending(signal: Option<i32>, code: Option<i32>, words: Option<String>) -> String {
    let end = match (signal, code) {
        (Some(signal), _) => format!("crashed: {}", signal_name(signal)),
        (None, Some(code)) => format!("exited with code {code}"),
        (None, None) => "ended".into(),
    };
    joined(&end, words)
}

pub(crate) fn joined(end: &str, words: Option<String>) -> String {
    match words {
        Some(words) => format!("{end}; last words: {words}"),
        None => end.to_owned(),
    }
}

/// The line of these last words that tells most, without control characters.
pub(crate) fn of(bytes: &[u8]) -> Option<String> {
    let text = String::from_utf8_lossy(bytes);
    let line = telling(&text)?;
    Some(line.chars().filter(|c| !c.is_control()).take(200).collect())
}

/// The line that tells most of how a process ended: of a Rust panic its message, which has advice and
/// perhaps other panics behind it; else the last that is not advice, which Rust gives where it found no memory too.
fn telling(text: &str) -> Option<&str> {
    let is_said = |l: &&str| !l.trim().is_empty() && !l.starts_with("note: ");
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
}
