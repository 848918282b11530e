//! Reads text files named on the command line.

use crate::error::Failure;
use std::io::{self, Read};
use std::path::Path;

/// The most bytes of a text file: a hundred times the longest known, and an end for endless devices.
const MOST_BYTES: u64 = 64 << 20;

/// The text of a file, or of standard input for `-`. `shown` names it in errors.
pub fn text(path: &Path, shown: &str) -> Result<String, Failure> {
    let bytes = if path.as_os_str() == "-" {
        read(std::io::stdin().lock())
    } else {
        std::fs::File::open(path).and_then(read)
    };
    let bytes = bytes.map_err(|e| Failure::usage(format!("cannot read {shown}: {e}")))?;
    if bytes.len() as u64 > MOST_BYTES {
        return Err(Failure::usage(format!("{shown} has more than 64 MiB")));
    }
    let text = String::from_utf8(bytes).map_err(|e| {
        let byte = e.utf8_error().valid_up_to();
        Failure::usage(format!("{shown} is not text (byte {byte} is not UTF-8)"))
    })?;
    // Editors on some systems put a mark at the beginning of what they save.
    Ok(text.strip_prefix('\u{feff}').map(ToOwned::to_owned).unwrap_or(text))
}

fn read(from: impl Read) -> io::Result<Vec<u8>> {
    let mut bytes = Vec::new();
    from.take(MOST_BYTES + 1).read_to_end(&mut bytes)?;
    Ok(bytes)
}
