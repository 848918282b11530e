//! Java: the program's classes, and the jars of providers that the JDK does not bring.

use super::programs::{Places, Program, find, said, unpacked};
use std::ffi::OsString;
use std::path::{Path, PathBuf};

/// A provider in a jar: its word, how the file's name begins, where Maven keeps it, and what to fetch.
const JARS: [(&str, &str, &str, &str); 3] = [
    ("bc", "bcprov", "org/bouncycastle", "org.bouncycastle:bcprov-jdk18on:1.82"),
    (
        "accp",
        "AmazonCorrettoCryptoProvider",
        "software/amazon/cryptools",
        "software.amazon.cryptools:AmazonCorrettoCryptoProvider:2.5.0:jar:linux-x86_64",
    ),
    (
        "conscrypt",
        "conscrypt-openjdk",
        "org/conscrypt",
        "org.conscrypt:conscrypt-openjdk-uber:2.5.2",
    ),
];

/// Directories beneath Maven's that are gone into: artifact and version.
const DEPTH: usize = 2;

pub(super) fn prepare(
    provider: &str,
    sources: &[(&'static str, &'static str)],
    places: &Places,
) -> Result<Program, String> {
    let package = "default-jdk-headless";
    let (tool, compiler) = (find("java", package)?, find("javac", package)?);
    let jar = jar(provider, places)?;
    let (directory, key) = unpacked(&tool, sources, places)?;
    let classes = directory.join("classes");
    if !classes.join("Main.class").is_file() {
        let fresh = directory.join(format!("classes.{}", std::process::id()));
        let mut compile = places.compiler(&compiler);
        compile
            .current_dir(&directory)
            .arg("-d")
            .arg(&fresh)
            .args(["Main.java", "Algorithms.java"]);
        said(&mut compile)?;
        // Another process may have been faster.
        if std::fs::rename(&fresh, &classes).is_err() {
            let _ = std::fs::remove_dir_all(&fresh);
        }
    }
    // Providers with C in their jar unpack it.
    let writes = directory.join("tmp");
    std::fs::create_dir_all(&writes).map_err(|e| format!("'{}': {e}", writes.display()))?;
    let path = std::env::join_paths(std::iter::once(classes).chain(jar.clone()))
        .map_err(|e| e.to_string())?;
    let mut temporary = OsString::from("-Djava.io.tmpdir=");
    temporary.push(&writes);
    // Compiled while the caller waits, and after a tenth of the usual calls, so that a warm-up ends; by the same compiler.
    // The heap is touched at the start: in its first second a process would wait for the kernel's pages with every few
    // messages, and Cipher.init allocates a kilobyte for each.
    let flags =
        ["-Xbatch", "-XX:CompileThresholdScaling=0.1", "-XX:+AlwaysPreTouch", "-XX:-UsePerfData"];
    let mut arguments: Vec<OsString> = flags.map(OsString::from).to_vec();
    arguments.push(temporary);
    arguments.extend(["-cp".into(), path, "Main".into(), provider.into()]);
    let program = format!("program: {}", tool.display());
    let facts = std::iter::once(program).chain(jar.map(|jar| format!("jar: {}", jar.display())));
    let facts = facts.collect();
    Ok(Program { tool, arguments, facts, sources: key, writes: Some(writes), ..Program::default() })
}

/// The newest jar that there is, by its name.
fn jar(provider: &str, places: &Places) -> Result<Option<PathBuf>, String> {
    let Some((_, begins, group, fetch)) = JARS.iter().find(|(word, ..)| *word == provider) else {
        return Ok(None);
    };
    let mut found = Vec::new();
    for directory in &places.libraries {
        collect(directory, begins, 0, &mut found);
    }
    if found.is_empty() {
        if let Some(home) = std::env::var_os("HOME") {
            collect(
                &Path::new(&home).join(".m2/repository").join(group),
                begins,
                DEPTH,
                &mut found,
            );
        }
        collect(Path::new("/usr/share/java"), begins, 0, &mut found);
    }
    found.sort_by_key(|path| version(path));
    found.pop().map(Some).ok_or_else(|| {
        format!(
            "no {begins}*.jar in CIPHERMARK_LIBS, ~/.m2 or /usr/share/java: mvn dependency:get -Dartifact={fetch}"
        )
    })
}

fn collect(directory: &Path, begins: &str, depth: usize, found: &mut Vec<PathBuf>) {
    let Ok(entries) = std::fs::read_dir(directory) else { return };
    for path in entries.flatten().map(|e| e.path()) {
        let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
        if path.is_dir() && depth > 0 {
            collect(&path, begins, depth - 1, found);
        } else if name.starts_with(begins) && name.ends_with(".jar") && !name.contains("sources") {
            found.push(path);
        }
    }
}

/// The numbers in a file's name, so that 1.9 comes before 1.80.
fn version(path: &Path) -> Vec<u64> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    name.split(|c: char| !c.is_ascii_digit()).filter_map(|word| word.parse().ok()).collect()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_newest_of_several_jars_is_taken() {
        let directory = tempfile::tempdir().unwrap();
        for name in
            ["bcprov-jdk18on-1.9.jar", "bcprov-jdk18on-1.80.jar", "bcprov-jdk18on-1.80-sources.jar"]
        {
            std::fs::write(directory.path().join(name), "").unwrap();
        }
        let places = Places { libraries: vec![directory.path().to_owned()], ..Places::default() };
        let found = jar("bc", &places).unwrap().unwrap();
        assert!(found.ends_with("bcprov-jdk18on-1.80.jar"), "{found:?}");
    }
}
