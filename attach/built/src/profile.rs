//! The profile, as far as a build script can know it.

use crate::{variable, workspace_file};
use std::env;
use std::path::{Path, PathBuf};

/// The profile's name and what the workspace or the environment changes of cargo's defaults;
/// cargo tells build scripts no more than `debug` or `release`.
pub(crate) fn settings() -> String {
    let name = name();
    let mut settings = vec![name.clone()];
    settings.extend(manifest_settings(&workspace_file("Cargo.toml"), &name));
    for setting in ["CODEGEN_UNITS", "LTO", "OPT_LEVEL", "PANIC"] {
        let variable = environment_name(&name, setting);
        println!("cargo::rerun-if-env-changed={variable}");
        if let Ok(value) = env::var(&variable) {
            settings.push(format!("{variable}={value}"));
        }
    }
    settings.join(", ")
}

fn name() -> String {
    // OUT_DIR is <target>/<profile>/build/<package>/out.
    let out = PathBuf::from(variable("OUT_DIR"));
    let directory = out.ancestors().nth(3).and_then(Path::file_name);
    let directory = directory.expect("OUT_DIR lies in the profile's directory").to_string_lossy();
    if directory == "debug" { "dev".to_owned() } else { directory.into_owned() }
}

/// The manifest's lines on the profile, for every package and for ours.
fn manifest_settings(manifest: &str, name: &str) -> Vec<String> {
    let ours = format!("[profile.{name}.package.{}]", variable("CARGO_PKG_NAME"));
    let mut settings = Vec::new();
    for section in [format!("[profile.{name}]"), ours] {
        let lines = manifest.lines().skip_while(|l| l.trim() != section).skip(1);
        let lines = lines.map(str::trim).take_while(|l| !l.starts_with('['));
        settings
            .extend(lines.filter(|l| l.contains('=') && !l.starts_with('#')).map(str::to_owned));
    }
    settings
}

fn environment_name(profile: &str, setting: &str) -> String {
    format!("CARGO_PROFILE_{}_{setting}", profile.to_uppercase().replace('-', "_"))
}

/// How many codegen units the object is made of; `default` are the compiler's. A flag of the
/// compiler wins over the profile, because cargo gives the profile's first.
pub(crate) fn codegen_units(flags: &[&str]) -> String {
    if let Some(units) = codegen_option(flags, "codegen-units") {
        return units.to_owned();
    }
    let name = name();
    if let Ok(units) = env::var(environment_name(&name, "CODEGEN_UNITS")) {
        return units;
    }
    let manifest = manifest_settings(&workspace_file("Cargo.toml"), &name);
    let set = manifest.iter().rev().find_map(|line| {
        let (key, value) = line.split_once('=')?;
        (key.trim() == "codegen-units").then(|| value.trim().to_owned())
    });
    set.unwrap_or_else(|| "default".to_owned())
}

/// The value of `-C NAME=VALUE`, in one word or in two; the last one counts.
pub(crate) fn codegen_option<'a>(flags: &[&'a str], name: &str) -> Option<&'a str> {
    flags.iter().rev().find_map(|flag| {
        let (key, value) = flag.split_once('=')?;
        (key.strip_prefix("-C").unwrap_or(key) == name).then_some(value)
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_codegen_option_is_found_in_one_word_and_in_two_and_the_last_one_counts() {
        let flags = ["-C", "target-cpu=native", "-Ccodegen-units=4", "-C", "codegen-units=1"];
        assert_eq!(codegen_option(&flags, "target-cpu"), Some("native"));
        assert_eq!(codegen_option(&flags, "codegen-units"), Some("1"));
        assert_eq!(codegen_option(&flags[..3], "codegen-units"), Some("4"));
        assert_eq!(codegen_option(&flags, "lto"), None);
    }
}
