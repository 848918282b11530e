//! Suites by name, and from files.

use crate::error::Failure;
use crate::files;
use base::text::Suite;
use std::path::Path;

/// A built-in suite by name, else a file.
pub fn find(name: &str) -> Result<Suite, Failure> {
    let suites = Suite::built_in();
    if let Some(suite) = suites.iter().find(|s| s.name == name) {
        return Ok(suite.clone());
    }
    let path = Path::new(name);
    if path.extension().is_some_and(|e| e == "toml") || path.is_file() {
        let shown = format!("suite '{name}'");
        let text = files::text(path, &shown)?;
        return Suite::parse(&text).map_err(|e| Failure::usage(format!("{shown}, {e}")));
    }
    let hint = base::model::nearest(name, suites.iter().map(|s| s.name.as_str()))
        .map(|n| format!(", did you mean '{n}'?"))
        .unwrap_or_default();
    Err(Failure::usage(format!(
        "unknown suite '{name}'{hint}; `ciphermark list suites` shows all, a file ends in .toml"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_unknown_suite_gets_the_nearest_name() {
        let failure = find("quik").unwrap_err();
        assert!(failure.message.contains("did you mean 'quick'?"), "{}", failure.message);
    }
}
