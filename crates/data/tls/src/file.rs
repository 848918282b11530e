//! Files that `tls handshake`, `tls records` and `tls primitives` wrote, read again.

use crate::document::{Cost, Document, FORMAT_VERSION};
use crate::primitives::PrimitivesDocument;
use crate::records::RecordsDocument;
use record::printable;
use serde::Deserialize;
use serde::de::DeserializeOwned;

/// What such a file holds.
#[derive(Clone, Debug, PartialEq)]
pub enum TlsFile {
    /// `tls handshake`
    Handshakes(Document),
    /// `tls records`
    Records(RecordsDocument),
    /// `tls primitives`
    Primitives(PrimitivesDocument),
}

/// Why a text is no such file: one line.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("'{origin}' is no run of ciphermark tls: {why}")]
pub struct TlsFileError {
    origin: String,
    why: String,
}

/// Most rows: a hundred times what there are in a matrix of ten stacks.
const MOST_ROWS: usize = 1_000_000;
/// Beyond any time, in nanoseconds.
const MOST_NS: f64 = 1e18;

#[derive(Deserialize)]
struct Head {
    kind: Option<String>,
    format_version: Option<String>,
}

/// Whether a text looks like such a file.
#[must_use]
pub fn is_tls(text: &str) -> bool {
    const KINDS: [&str; 3] = ["tls-handshakes", "tls-records", "tls-primitives"];
    let head: Result<Head, _> = serde_json::from_str(unmarked(text));
    head.is_ok_and(|h| h.kind.is_some_and(|kind| KINDS.contains(&kind.as_str())))
}

/// Editors on some systems put a mark at the beginning of what they save.
fn unmarked(text: &str) -> &str {
    text.strip_prefix('\u{feff}').unwrap_or(text)
}

/// Reads what one of these commands wrote; `origin` names it in errors.
///
/// # Errors
/// [`TlsFileError`], one line.
pub fn from_json(text: &str, origin: &str) -> Result<TlsFile, TlsFileError> {
    let wrong = |why: String| TlsFileError { origin: origin.to_owned(), why: printable(&why) };
    let text = unmarked(text);
    let head: Head = serde_json::from_str(text).map_err(|e| wrong(e.to_string()))?;
    let version = head.format_version.unwrap_or_default();
    if version.split('.').next() != FORMAT_VERSION.split('.').next() {
        return Err(wrong(format!("its format is {version}, this program reads {FORMAT_VERSION}")));
    }
    let file = match head.kind.unwrap_or_default().as_str() {
        "tls-handshakes" => read(text).map(TlsFile::Handshakes),
        "tls-records" => read(text).map(TlsFile::Records),
        "tls-primitives" => read(text).map(TlsFile::Primitives),
        kind => Err(format!("it is of the kind '{kind}'")),
    };
    let file = file.map_err(wrong)?;
    file.impossible().map_or(Ok(()), |why| Err(wrong(why)))?;
    Ok(file)
}

fn read<D: DeserializeOwned>(text: &str) -> Result<D, String> {
    serde_json::from_str(text).map_err(|e| e.to_string())
}

impl TlsFile {
    /// The run's machine.
    #[must_use]
    pub fn host(&self) -> &record::Host {
        match self {
            Self::Handshakes(d) => &d.host,
            Self::Records(d) => &d.host,
            Self::Primitives(d) => &d.host,
        }
    }

    /// When it began (RFC 3339).
    #[must_use]
    pub fn started(&self) -> &str {
        match self {
            Self::Handshakes(d) => &d.started,
            Self::Records(d) => &d.started,
            Self::Primitives(d) => &d.started,
        }
    }

    /// What the types cannot rule out.
    fn impossible(&self) -> Option<String> {
        let (rows, costs): (usize, Vec<Option<Cost>>) = match self {
            Self::Handshakes(d) => {
                let costs = d.handshakes.iter().flat_map(|r| [r.server, r.client]);
                (d.handshakes.len(), costs.collect())
            }
            Self::Records(d) => {
                (d.records.len(), d.records.iter().flat_map(|r| [r.send, r.receive]).collect())
            }
            Self::Primitives(d) => {
                let costs = d.primitives.iter().flat_map(|r| [r.whole, r.call]);
                (d.primitives.len(), costs.collect())
            }
        };
        if rows > MOST_ROWS {
            return Some(format!("it has {rows} rows"));
        }
        let times = costs
            .into_iter()
            .flatten()
            .flat_map(|c| [c.median_ns, c.low_ns, c.high_ns, c.mean_ns, c.max_ns, c.setup_ns]);
        let odd = times.into_iter().find(|ns| !(-MOST_NS..=MOST_NS).contains(ns));
        odd.map(|ns| format!("a time of {ns:e} ns, which no run has"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::primitive::{Operation, Scheme};
    use crate::primitives::tests::row;

    fn document() -> PrimitivesDocument {
        PrimitivesDocument {
            format_version: FORMAT_VERSION.to_owned(),
            kind: "tls-primitives".to_owned(),
            started: String::new(),
            seconds: 1.0,
            command: Vec::new(),
            host: record::Host::default(),
            span: String::new(),
            plan: crate::Plan { precision: 0.02, budget_seconds: 1.0, seed: 1, cpu: 0 },
            stacks: Vec::new(),
            noise: crate::Noise::default(),
            primitives: vec![row("some", Scheme::X25519, Operation::Agree, Some(20.0))],
        }
    }

    #[test]
    fn what_was_written_is_read_again_and_nothing_else_is() {
        let text = serde_json::to_string(&document()).unwrap();
        assert!(is_tls(&text) && is_tls(&format!("\u{feff}{text}")));
        assert_eq!(from_json(&text, "x").unwrap(), TlsFile::Primitives(document()));
        assert!(!is_tls("{}") && !is_tls("[") && !is_tls(r#"{"kind":"pages"}"#));
        let why = |text: &str| from_json(text, "x.json").unwrap_err().to_string();
        let newer = text.replace("\"format_version\":\"1.0\"", "\"format_version\":\"2.0\"");
        assert!(why(&newer).contains("its format is 2.0"), "{}", why(&newer));
        let slow = text.replace("20000.0", "1e300");
        assert!(why(&slow).contains("which no run has"), "{}", why(&slow));
        assert!(why("{}").starts_with("'x.json' is no run of ciphermark tls"), "{}", why("{}"));
    }
}
