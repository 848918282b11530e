//! What is wrong with a command line, in one line.

use crate::error::{Exit, Failure};
use clap::error::ErrorKind;

/// Help and version are printed; anything else becomes one line that says what is wrong, what is
/// possible, and what helps.
pub fn explain(error: &clap::Error) -> Result<Exit, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            error.print().map_err(|e| Failure::output(&e))?;
            Ok(Exit::Done)
        }
        _ => Err(Failure::usage(line(&error.render().to_string()))),
    }
}

/// The paragraphs of clap's message joined, without its usage and closing remark.
fn line(text: &str) -> String {
    let words = |paragraph: &str| paragraph.split_whitespace().collect::<Vec<_>>().join(" ");
    let paragraphs = text
        .split("\n\n")
        .filter(|p| !p.starts_with("Usage:") && !p.trim_start().starts_with("For more information"))
        .map(words)
        .filter(|p| !p.is_empty());
    let joined = paragraphs.collect::<Vec<_>>().join("; ");
    let joined = joined.strip_prefix("error: ").unwrap_or(&joined);
    format!("{joined}; see --help")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_message_of_several_paragraphs_becomes_one_line() {
        let text = "error: invalid value 'x' for '--tier <TIER>'\n  [possible values: native, noaes]\n\n  \
            tip: a similar value exists\n\nUsage: ciphermark run\n\nFor more information, try '--help'.\n";
        assert_eq!(
            line(text),
            "invalid value 'x' for '--tier <TIER>' [possible values: native, noaes]; \
             tip: a similar value exists; see --help"
        );
    }
}
