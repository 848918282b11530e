//! The programs: which runtimes there are, what each needs on the machine, and how its program is made ready.
//! Java's has classes, and the jars of providers that the JDK does not bring.

use std::ffi::OsString;
use std::hash::{DefaultHasher, Hash as _, Hasher as _};
use std::os::unix::fs::DirBuilderExt as _;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::{Mutex, PoisonError};

/// Where programs are made ready, and where the user's own libraries are.
#[derive(Clone, Debug, Default)]
pub struct Places {
    /// A directory for what is compiled; none when nothing may be kept.
    pub cache: Option<PathBuf>,
    /// Directories that jars of Java's providers may lie in.
    pub libraries: Vec<PathBuf>,
    /// The environment of compilers. What it says of how to compile is part of a program's name in the cache.
    pub environment: Vec<(OsString, OsString)>,
}

/// Variables that change what compilers make of the same sources.
pub(crate) const COMPILING: [&str; 10] = [
    "GOAMD64",
    "GOARM64",
    "GOFLAGS",
    "GOEXPERIMENT",
    "GOFIPS140",
    "GOROOT",
    "CGO_ENABLED",
    "JAVA_HOME",
    "JAVA_TOOL_OPTIONS",
    "_JAVA_OPTIONS",
];

impl Places {
    /// A compiler that gets this environment and no other.
    pub(crate) fn compiler(&self, tool: &Path) -> Command {
        let mut command = Command::new(tool);
        command.env_clear().envs(self.environment.iter().cloned());
        // `go env -w` writes a file that would decide, too.
        command.env("GOENV", "off");
        command
    }

    /// What the environment says of how to compile.
    fn compiling(&self) -> String {
        let of = |name: &&str| self.environment.iter().find(|(own, _)| own == *name);
        let set = COMPILING.iter().filter_map(of);
        set.map(|(name, value)| format!("{}={}\n", name.display(), value.display())).collect()
    }
}

/// What counts allocations in the worker, by the beginning of its file's name.
const METER: &str = "libciphermarkmeter";

/// A program that is ready to start.
#[derive(Clone, Debug, Default)]
pub struct Program {
    /// The file that is started.
    pub tool: PathBuf,
    /// What tells one build of it from another, beside what it says of itself: the file's own content.
    pub sources: String,
    pub(crate) arguments: Vec<OsString>,
    pub(crate) environment: Vec<(&'static str, OsString)>,
    /// Facts that the program does not tell.
    pub(crate) facts: Vec<String>,
    /// Whether each message's result is new memory.
    pub(crate) allocates: bool,
    /// The one directory that the process may write to, if any.
    pub writes: Option<PathBuf>,
}

impl Program {
    pub(crate) fn command(&self) -> Command {
        let mut command = Command::new(&self.tool);
        command.args(&self.arguments).envs(self.environment.iter().cloned());
        // The meter counts what C allocates in the worker, and is none of the runtime's.
        if let Some(list) = std::env::var_os("LD_PRELOAD") {
            let list = list.to_string_lossy();
            let rest: Vec<&str> = list.split([':', ' ']).filter(|o| !o.contains(METER)).collect();
            command.env("LD_PRELOAD", rest.join(":"));
        }
        command
    }
}

#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Language {
    Go,
    Node,
    Python,
    Java,
}

/// A runtime with one provider of cryptography: its name, its language, and the word for the program.
const KNOWN: [(&str, Language, &str); 10] = [
    ("go", Language::Go, ""),
    ("java-sunjce", Language::Java, "sunjce"),
    ("java-bc", Language::Java, "bc"),
    ("java-accp", Language::Java, "accp"),
    ("java-conscrypt", Language::Java, "conscrypt"),
    ("node", Language::Node, "crypto"),
    ("node-webcrypto", Language::Node, "webcrypto"),
    ("python-cryptography", Language::Python, "cryptography"),
    ("python-hashlib", Language::Python, "hashlib"),
    ("python-pycryptodome", Language::Python, "pycryptodome"),
];

/// Names of the runtimes that are known.
pub fn names() -> impl Iterator<Item = &'static str> {
    KNOWN.iter().map(|(name, ..)| *name)
}

type Source = (&'static str, &'static str);

macro_rules! sources {
    ($($file:literal),+) => {
        &[$(($file, include_str!(concat!("../../../../runtimes/", $file)))),+]
    };
}

const GO: &[Source] = sources!["go/main.go", "go/algorithms.go"];
const NODE: &[Source] = sources!["node/main.js", "node/algorithms.js"];
const PYTHON: &[Source] = sources!["python/main.py", "python/algorithms.py"];
const JAVA: &[Source] = sources!["java/Main.java", "java/Algorithms.java"];

/// Makes a runtime's program ready: finds what runs it, and compiles it unless that was done before. The name is a known
/// one, or the path of a program that speaks the same protocol.
///
/// # Errors
/// One line: what is missing and how to install it, or the compiler's last words.
pub fn prepare(name: &str, places: &Places) -> Result<Program, String> {
    // One at a time: providers of one language share what is compiled.
    static PREPARING: Mutex<()> = Mutex::new(());
    let _alone = PREPARING.lock().unwrap_or_else(PoisonError::into_inner);
    let Some((_, language, provider)) = KNOWN.iter().find(|(known, ..)| *known == name) else {
        return own_program(Path::new(name));
    };
    match language {
        Language::Go => go(places),
        Language::Node => script("node", "nodejs", NODE, provider, places),
        Language::Python => script("python3", "python3", PYTHON, provider, places),
        Language::Java => prepare_java(provider, JAVA, places),
    }
}

/// A program of the user's.
fn own_program(path: &Path) -> Result<Program, String> {
    let known = || names().collect::<Vec<_>>().join(", ");
    if !path.is_file() {
        return Err(format!("no runtime and no program; the runtimes are {}", known()));
    }
    let sources = std::fs::read(path).map_err(|e| e.to_string())?;
    let sources = format!("{:016x}", hash(&[&sources]));
    Ok(Program { tool: path.to_owned(), sources, allocates: true, ..Program::default() })
}

/// Interpreted: the program is the sources.
fn script(
    tool: &str,
    package: &str,
    sources: &[Source],
    provider: &str,
    places: &Places,
) -> Result<Program, String> {
    let tool = find(tool, package)?;
    let (directory, key) = unpacked(&tool, sources, places)?;
    let main = directory.join(Path::new(sources[0].0).file_name().unwrap_or_default());
    Ok(Program {
        arguments: vec![main.into(), provider.into()],
        environment: vec![("PYTHONDONTWRITEBYTECODE", "1".into())],
        facts: vec![format!("program: {}", tool.display())],
        sources: key,
        allocates: true,
        tool,
        ..Program::default()
    })
}

/// Compiled with the modules that Go itself brings along for its TLS, because ChaCha20-Poly1305 has no other place.
fn go(places: &Places) -> Result<Program, String> {
    let tool = find("go", "golang")?;
    let (directory, key) = unpacked(&tool, GO, places)?;
    let program = directory.join("program");
    if !program.is_file() {
        let root = said(places.compiler(&tool).args(["env", "GOROOT"]))?;
        let own = Path::new(root.trim()).join("src");
        let module = std::fs::read_to_string(own.join("go.mod"))
            .map_err(|e| format!("Go's own go.mod: {e}"))?;
        let written = module.replacen("module std", "module ciphermark", 1);
        std::fs::write(directory.join("go.mod"), written).map_err(|e| e.to_string())?;
        let _ = std::os::unix::fs::symlink(own.join("vendor"), directory.join("vendor"));
        let mut build = places.compiler(&tool);
        let fresh = directory.join(format!("program.{}", std::process::id()));
        build.args(["build", "-mod=vendor", "-trimpath", "-o"]).arg(&fresh).arg(".");
        build
            .current_dir(&directory)
            .env("GOPROXY", "off")
            .env("GOTOOLCHAIN", "local")
            .env("GOWORK", "off");
        said(&mut build)?;
        std::fs::rename(&fresh, &program).map_err(|e| e.to_string())?;
    }
    let facts = vec![format!("built by {}", tool.display())];
    Ok(Program { tool: program, sources: key, facts, ..Program::default() })
}

/// Runs a compiler: what it prints, or its last line as the reason.
pub(crate) fn said(command: &mut Command) -> Result<String, String> {
    let program = command.get_program().to_string_lossy().into_owned();
    let done = command.output().map_err(|e| format!("'{program}' does not start: {e}"))?;
    if done.status.success() {
        return Ok(String::from_utf8_lossy(&done.stdout).into_owned());
    }
    let words = String::from_utf8_lossy(&done.stderr).into_owned();
    let last = words.lines().rfind(|line| !line.trim().is_empty()).unwrap_or("no reason given");
    Err(format!("'{program}' fails: {}", last.trim()))
}

/// The sources in a directory of the cache that is theirs and the tool's, and what it is called by.
pub(crate) fn unpacked(
    tool: &Path,
    sources: &[Source],
    places: &Places,
) -> Result<(PathBuf, String), String> {
    let cache = places.cache.as_ref().ok_or(
        "its program needs a directory, and the cache is switched off: set CIPHERMARK_CACHE to one",
    )?;
    let real = tool.canonicalize().unwrap_or_else(|_| tool.to_owned());
    let meta = real.metadata().map_err(|e| format!("'{}': {e}", real.display()))?;
    let build = format!("{} {} {:?}", real.display(), meta.len(), meta.modified().ok());
    let compiling = places.compiling();
    let mut parts: Vec<&[u8]> = vec![build.as_bytes(), compiling.as_bytes()];
    parts.extend(sources.iter().map(|(_, text)| text.as_bytes()));
    let key = format!("{:016x}", hash(&parts));
    let directory = cache.join(&key);
    let failed = |e: std::io::Error| format!("'{}': {e}", directory.display());
    std::fs::DirBuilder::new().recursive(true).mode(0o700).create(&directory).map_err(failed)?;
    for (name, text) in sources {
        let file = directory.join(Path::new(name).file_name().unwrap_or_default());
        // Also where it is there: a run that was killed may have left half of it.
        if std::fs::read_to_string(&file).ok().as_deref() != Some(*text) {
            let fresh = directory.join(format!(".{}", std::process::id()));
            std::fs::write(&fresh, text)
                .and_then(|()| std::fs::rename(&fresh, &file))
                .map_err(failed)?;
        }
    }
    Ok((directory, key))
}

/// Not for secrets: it only tells builds apart.
fn hash(parts: &[&[u8]]) -> u64 {
    let mut hasher = DefaultHasher::new();
    parts.hash(&mut hasher);
    hasher.finish()
}

/// A program of the search path.
pub(crate) fn find(tool: &str, package: &str) -> Result<PathBuf, String> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let usual = ["/usr/local/go/bin", "/usr/bin", "/usr/local/bin"].map(PathBuf::from);
    let mut places =
        std::env::split_paths(&path).chain(usual).map(|directory| directory.join(tool));
    places.find(|file| file.is_file()).ok_or_else(|| {
        format!("{tool} is not installed: apt-get install {package}, or put it on PATH")
    })
}

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

pub(crate) fn prepare_java(
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
    found.sort_by_key(|path| java_version(path));
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
fn java_version(path: &Path) -> Vec<u64> {
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
