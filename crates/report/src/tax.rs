//! What a language's runtime adds to the same work in C: by the line through the sizes of both.

use crate::digits;
use record::{Fit, Library, Measurement, Record, State};

/// One line for each library that the runtime is compared with: the very libcrypto that is under it, where the record has
/// it, and the fastest of those that are called from C.
pub(crate) fn over(record: &Record, fit: &Fit, runtime: &Library) -> Vec<String> {
    let of_series = |other: &&Fit| {
        let series = |f: &Fit| {
            (f.algorithm.clone(), f.direction, f.model, f.tier, f.threads, f.footprint, f.in_place)
        };
        series(other) == series(fit)
    };
    let library = |f: &Fit| record.libraries.iter().find(|l| l.identity() == f.library);
    let in_c = |other: &&Fit| {
        library(other).is_some_and(|l| !base::model::runs_elsewhere(std::path::Path::new(&l.path)))
    };
    let others: Vec<&Fit> = record.fits.iter().filter(of_series).filter(in_c).collect();
    let same = others.iter().find(|other| library(other).is_some_and(|l| is_under(runtime, l)));
    let fastest = others.iter().min_by(|a, b| largest(record, a).total_cmp(&largest(record, b)));
    let mut lines: Vec<String> = same
        .map(|other| words(record, fit, other, "the same release of libcrypto"))
        .into_iter()
        .collect();
    if let Some(other) = fastest.filter(|f| same.is_none_or(|s| s.library != f.library)) {
        lines.push(words(record, fit, other, "the fastest from C at its largest size"));
    }
    lines
}

/// Whether the runtime says that this library's version is under it.
fn is_under(runtime: &Library, library: &Library) -> bool {
    let openssl = format!("OpenSSL {}", library.version);
    let ends = |text: &str| {
        text.strip_prefix(&openssl)
            .is_some_and(|rest| !rest.starts_with(|c: char| c.is_ascii_alphanumeric() || c == '.'))
    };
    let said = |fact: &String| fact.match_indices("OpenSSL ").any(|(at, _)| ends(&fact[at..]));
    library.name.starts_with("openssl") && runtime.build.iter().any(said)
}

/// Nanoseconds of the series' largest size.
fn largest(record: &Record, fit: &Fit) -> f64 {
    let size = fit.sizes.last().copied().unwrap_or_default();
    ns(record, fit, size).unwrap_or(f64::MAX)
}

fn ns(record: &Record, fit: &Fit, size: usize) -> Option<f64> {
    let own = |m: &&Measurement| {
        m.size == size && m.state == State::Measured && crate::costs::is_of(fit, m)
    };
    record.measurements.iter().find(own)?.ns_per_op.map(|e| e.median)
}

/// `over openssl@3.0.19 (the same release of libcrypto): +1210 ns a message, +0.010 ns a byte; 16 B 9.1, 16384 B 1.2 times`
fn words(record: &Record, fit: &Fit, other: &Fit, why: &str) -> String {
    let signed = |value: f64| {
        let sign = if value < 0.0 { '-' } else { '+' };
        format!("{sign}{}", digits::supported(value.abs(), None))
    };
    let message = signed(fit.ns_per_message - other.ns_per_message);
    let byte = signed(fit.ns_per_byte - other.ns_per_byte);
    let times = fit.sizes.iter().filter_map(|size| {
        let ratio = ns(record, fit, *size)? / ns(record, other, *size)?;
        Some(format!("{} {ratio:.2}", crate::labels::size(*size)))
    });
    let times: Vec<String> = times.collect();
    let (name, version) =
        (base::text::clean(&other.library.name), base::text::clean(&other.library.version));
    format!(
        "over {name}@{version} ({why}): {message} ns a message, {byte} ns a byte; times as long: {}",
        times.join(", ")
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    fn library(name: &str, version: &str, build: &[&str]) -> Library {
        Library {
            name: name.into(),
            version: version.into(),
            build: build.iter().map(|fact| (*fact).to_owned()).collect(),
            ..Library::default()
        }
    }

    #[test]
    fn a_runtime_names_the_release_under_it_and_no_other_that_begins_alike() {
        let runtime = library("python", "1", &["libcrypto: OpenSSL 3.5.1 1 Jul 2025, in /usr"]);
        assert!(is_under(&runtime, &library("openssl", "3.5.1", &[])));
        for (name, version) in [("openssl", "3.5"), ("openssl", "3.5.11"), ("aws-lc", "3.5.1")] {
            assert!(!is_under(&runtime, &library(name, version, &[])), "{name} {version}");
        }
    }
}
