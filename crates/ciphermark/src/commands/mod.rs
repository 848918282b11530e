//! One module for each command, or for two or three on one subject: arguments, work, output. Here is what belongs to no single
//! one: the command line as a whole, as clap reads it; what several commands take as arguments (which cases,
//! tiers, sizes, how long it may take), of which `choose` decides what filters mean; hidden commands,
//! completions and manual pages, and what is said of a wrong command line.

mod advise;
mod advise_passphrase;
mod advise_server;
mod archive;
mod cache;
mod choose;
mod claims;
mod compare;
mod convert;
mod explain;
mod fleet;
mod leaks;
mod machine;
mod pages;
mod pair;
mod rank;
mod report;
pub mod run;
mod tls;
mod verify;
mod watch;
mod workload;

use self::machine::ListArgs;
use self::report::ReportArgs;
use self::verify::{OnceArgs, VerifyArgs};
use crate::{Exit, Failure, screen};
use advise::AdviseArgs;
use archive::{ArchiveArgs, TrendArgs};
use base::model::{Footprint, MAX_REPEATED_SIZE, Model, Tier};
use base::text::flags::parse_duration;
use cache::CacheArgs;
use claims::ClaimsArgs;
use clap::builder::{PossibleValue, PossibleValuesParser, StringValueParser, TypedValueParser};
use clap::error::{ContextKind, ContextValue, ErrorKind};
use clap::{Args, CommandFactory as _, Parser, Subcommand, ValueEnum};
use compare::CompareArgs;
use convert::ImportArgs;
use convert::ShowArgs;
use engine::Stop;
use explain::ExplainArgs;
use fleet::FleetArgs;
use leaks::LeaksArgs;
use machine::{DoctorArgs, QuietlyArgs};
use pages::PagesArgs;
use pair::PairArgs;
use rank::RankArgs;
use run::RunArgs;
use serde_json::{Value, json};
use std::ffi::OsStr;
use std::path::{Path, PathBuf};
use std::str::FromStr;
use std::time::Duration;
use tls::TlsArgs;
use watch::WatchArgs;

/// Which cases.
#[derive(Debug, Default, Args)]
pub struct Filter {
    /// Algorithms by name or glob, separated by commas, e.g. 'aes-*-gcm'; may be repeated.
    #[arg(short, long, value_name = "GLOB")]
    pub algorithm: Vec<String>,
    /// Libraries found on this machine, by name or name@version glob, separated by commas, or NAME=PATH
    /// to add a file; may be repeated. `openssl:fips` is OpenSSL with its provider `fips` alone.
    #[arg(short, long, value_name = "GLOB|NAME=PATH")]
    pub library: Vec<String>,
    /// Message sizes in bytes, to 256M: 16,64,1K or 16..64K (doubling) or 16..256+16 (in steps). To measure takes
    /// eight times a message's memory in each thread: 256M 2 GiB.
    #[arg(short, long, value_name = "LIST")]
    pub size: Option<Sizes>,
    /// Encrypt, decrypt or both.
    #[arg(short, long, value_name = "DIRECTION")]
    pub direction: Option<DirectionArg>,
    /// What one timed operation is; may be repeated, or a list: message,rekey.
    #[arg(short, long, value_name = "MODEL", value_delimiter = ',')]
    pub model: Vec<Model>,
    /// Which CPU instructions the library may use, by name or glob, separated by commas; may be
    /// repeated. `ciphermark list tiers` lists them.
    #[arg(short, long, value_name = "TIER", value_parser = TierGlobs, hide_possible_values = true)]
    pub tier: Vec<String>,
    /// How much memory the operations cycle through; may be repeated, or a list: hot,l2,memory.
    #[arg(long, value_name = "FOOTPRINT", value_delimiter = ',')]
    pub footprint: Vec<Footprint>,
    /// Threads that measure at once, each on its own CPU with its own session and buffers: a number
    /// or a list: 1,2,4.
    #[arg(long, value_name = "LIST", value_delimiter = ',', value_parser = clap::value_parser!(u32).range(1..=4096))]
    pub threads: Vec<u32>,
    /// Whether to write the output over the input: yes, no or both.
    #[arg(long, value_name = "WHERE")]
    pub in_place: Option<InPlaceArg>,
}

impl Filter {
    /// Whether it takes some cases only, whatever the library.
    pub fn chooses_cases(&self) -> bool {
        let Self {
            algorithm,
            library: _,
            size,
            direction,
            model,
            tier,
            footprint,
            threads,
            in_place,
        } = self;
        let any_list = !(algorithm.is_empty() && model.is_empty() && tier.is_empty());
        let any_circumstance = !(footprint.is_empty() && threads.is_empty());
        any_list || any_circumstance || size.is_some() || direction.is_some() || in_place.is_some()
    }
}

/// Reads globs over tiers, which `choose` takes apart; completions list the names.
#[derive(Clone)]
pub struct TierGlobs;

impl TypedValueParser for TierGlobs {
    type Value = String;

    fn parse_ref(
        &self,
        command: &clap::Command,
        arg: Option<&clap::Arg>,
        value: &OsStr,
    ) -> Result<String, clap::Error> {
        StringValueParser::new().parse_ref(command, arg, value)
    }

    fn possible_values(&self) -> Option<Box<dyn Iterator<Item = PossibleValue> + '_>> {
        let named = |tier: &Tier| PossibleValue::new(tier.name()).help(tier.summary());
        Some(Box::new(Tier::HERE.iter().map(named)))
    }
}

/// `--direction`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum DirectionArg {
    Encrypt,
    Decrypt,
    Both,
}

/// `--in-place`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum InPlaceArg {
    Yes,
    No,
    Both,
}

/// `--size` as a list.
#[derive(Clone, Debug)]
pub struct Sizes(pub Vec<usize>);

impl FromStr for Sizes {
    type Err = base::model::BadSizes;

    fn from_str(text: &str) -> Result<Self, Self::Err> {
        base::model::parse_sizes(text).map(Self)
    }
}

/// Sizes whose operations are stepped or counted.
pub fn counted_sizes(sizes: Vec<usize>) -> Result<Vec<usize>, Failure> {
    match sizes.iter().find(|size| **size > MAX_REPEATED_SIZE) {
        Some(size) => Err(Failure::usage(format!(
            "--size {size}: operations on at most {MAX_REPEATED_SIZE} bytes are stepped or counted"
        ))),
        None => Ok(sizes),
    }
}

/// `--size` where only one makes sense.
pub fn one_size(text: &str) -> Result<usize, String> {
    match base::model::parse_sizes(text).map_err(|e| e.to_string())?[..] {
        [size] => Ok(size),
        _ => Err("give one size".to_owned()),
    }
}

/// Reads the name of one of `all`. Help, completions and errors list the names.
pub fn one_of<T: Copy + Send + Sync + 'static>(
    all: &'static [T],
    name: fn(T) -> &'static str,
) -> impl TypedValueParser<Value = T> {
    let names = PossibleValuesParser::new(all.iter().map(|one| name(*one)));
    names.map(move |text| {
        let found = all.iter().find(|one| name(**one) == text);
        *found.expect("clap has checked that it is one of the names")
    })
}

/// Time for a whole command where none was typed.
const BUDGET: Duration = Duration::from_secs(30);

/// The part of it after which nothing new is begun: what is there is summed up, written and shown in the rest.
const WORKING: f64 = 0.95;

/// How long a command that measures may take as a whole.
#[derive(Clone, Copy, Debug, Args)]
pub struct TimeArgs {
    /// Time for the whole command: what most people ask for comes first, and what does not fit is left out,
    /// which is said [default: 30s].
    #[arg(long, value_name = "TIME", value_parser = parse_duration, allow_hyphen_values = true)]
    pub budget: Option<Duration>,
    /// Leave nothing out, however long it takes.
    #[arg(long, conflicts_with = "budget")]
    pub thorough: bool,
}

impl TimeArgs {
    /// Ends when the time is over that the whole may take, from now on.
    pub fn limit(&self, stop: &Stop) -> Stop {
        match self.thorough {
            true => stop.clone(),
            false => stop.within(self.whole().mul_f64(WORKING)),
        }
    }

    /// Most time of sampling, where a thorough command takes so long at least.
    pub fn sampling(&self, thorough: Duration) -> Duration {
        if self.thorough { thorough } else { self.whole() }
    }

    /// With what was typed now in the place of what was typed before.
    pub fn or(self, before: Self) -> Self {
        if self.thorough || self.budget.is_some() { self } else { before }
    }

    fn whole(&self) -> Duration {
        self.budget.unwrap_or(BUDGET)
    }
}

/// Measure how fast every cipher is in every crypto library on this machine, with a proof beside
/// each number.
#[derive(Debug, Parser)]
#[command(
    name = "ciphermark",
    version,
    max_term_width = 100,
    after_help = "Without a command: `ciphermark run --suite quick`, about a minute, then a ranked table.\n\n\
    Examples:\n  \
    ciphermark\n  \
    ciphermark run -a 'aes-*-gcm' -s 16..64K\n  \
    ciphermark run -l openssl -l mine=/opt/openssl/lib/libcrypto.so -o compare.json\n  \
    ciphermark verify -l libgcrypt\n\n\
    Exit codes: 0 success; 1 a check or comparison found something; 2 wrong usage; 3 some cases were\n\
    refused or failed; 4 the command could not be carried out; 130 interrupted: what was measured until\n\
    then is shown and kept.\n\n\
    Environment (separate directories in a list with colons):\n  \
    CIPHERMARK_LIBS            more directories to search for libraries and Java's jars\n  \
    CIPHERMARK_BUNDLED         directories of libraries built by libs/build; empty: none\n  \
    CIPHERMARK_CACHE           where to cache counts, quiet rates and runtimes' programs; empty: nowhere\n  \
    CIPHERMARK_MEMORY          GiB that reading files may take (1.5)\n  \
    CIPHERMARK_CONFINEMENT     kinds of confinement to switch off; off: all of them\n  \
    CIPHERMARK_TIER_MECHANISM  how to apply tiers: fault, rewrite or switch\n  \
    CIPHERMARK_PASS            names of other variables that libraries get, with commas between them\n  \
    NO_COLOR, CLICOLOR         whether to use colours, as in other programs"
)]
pub struct Cli {
    #[command(flatten)]
    pub color: ColorArgs,
    #[command(subcommand)]
    pub command: Option<Command>,
}

/// Colours.
#[derive(Debug, Args)]
pub struct ColorArgs {
    /// When to use colours; auto follows the terminal and NO_COLOR.
    #[arg(long, global = true, value_name = "WHEN", default_value = "auto")]
    color: When,
}

/// When to colour.
#[derive(Clone, Copy, Debug, ValueEnum)]
enum When {
    Auto,
    Always,
    Never,
}

impl ColorArgs {
    /// Applies the choice to everything printed from now on.
    pub fn write_global(&self) {
        match self.color {
            When::Auto => anstream::ColorChoice::Auto,
            When::Always => anstream::ColorChoice::Always,
            When::Never => anstream::ColorChoice::Never,
        }
        .write_global();
    }
}

/// The subcommands.
#[derive(Debug, Subcommand)]
pub enum Command {
    /// Measure and verify, then print a ranked table.
    Run(Box<RunArgs>),
    /// List libraries, algorithms, tiers, models, suites or limits.
    List(ListArgs),
    /// Run every check on the libraries without timing anything.
    Verify(VerifyArgs),
    /// Show what of each algorithm's execution depends on its key.
    Leaks(LeaksArgs),
    /// Run one operation in one library: reads standard input, writes standard output, tag appended.
    Once(OnceArgs),
    /// Print a record again: filtered, in any format, to the screen or a file.
    #[command(visible_alias = "export")]
    Show(ShowArgs),
    /// Import published figures into a record, marked as imported and unverified.
    Import(ImportArgs),
    /// Recommend how to encrypt stored data, and say why each other scheme lost.
    Advise(Box<AdviseArgs>),
    /// Judge published claims by measurements on this machine.
    Claims(ClaimsArgs),
    /// Show what runs inside the clock: functions, instructions, allocations, copies.
    Explain(ExplainArgs),
    /// Write one self-contained HTML page from one or more records.
    Report(ReportArgs),
    /// Keep records of many machines and runs in one store.
    Archive(ArchiveArgs),
    /// Show what a case cost from run to run, machine by machine, and where it became slower or faster.
    Trend(TrendArgs),
    /// Rank the cases of a record, or of what is measured now.
    Rank(Box<RankArgs>),
    /// Compare two records, or two libraries, tiers, algorithms, sizes or directions within one.
    Compare(Box<CompareArgs>),
    /// Encrypt a real page store page by page: verify it, tamper with it, time it.
    Pages(Box<PagesArgs>),
    /// Compare two libraries on one case until there is a verdict.
    Pair(PairArgs),
    /// Measure TLS handshakes, records and primitives, and calculate a server's load.
    Tls(TlsArgs),
    /// Show what a running program encrypts and what that costs it.
    Watch(WatchArgs),
    /// Run another benchmark only while its core is otherwise idle.
    Quietly(QuietlyArgs),
    /// Measure on many machines through Slurm or Kubernetes, one job for each machine type.
    Fleet(FleetArgs),
    /// Check machine, clock, noise and libraries, and say how to fix what is wrong.
    Doctor(DoctorArgs),
    /// Show what earlier runs found and later ones need not find again, or remove it.
    Cache(CacheArgs),
    /// Print a completion script for a shell.
    #[command(after_help = "Examples:\n  \
        ciphermark completions bash > ~/.local/share/bash-completion/completions/ciphermark\n  \
        ciphermark completions fish > ~/.config/fish/completions/ciphermark.fish")]
    Completions {
        /// The shell.
        shell: clap_complete::Shell,
    },
    /// Print the manual page, or write a page for each command into a directory.
    #[command(after_help = "Examples:\n  ciphermark man | man -l -\n  \
        ciphermark man ~/.local/share/man/man1")]
    Man {
        /// The directory for the pages.
        directory: Option<PathBuf>,
    },
}

impl Command {
    /// Whether it reads files that may be a stranger's, beside which what it keeps itself is small.
    pub fn reads(&self) -> bool {
        match self {
            Self::Show(_)
            | Self::Import(_)
            | Self::Report(_)
            | Self::Archive(_)
            | Self::Fleet(_)
            | Self::Trend(_) => true,
            Self::Advise(_) | Self::Claims(_) | Self::Rank(_) | Self::Compare(_) => true,
            Self::Tls(args) => args.reads(),
            Self::Watch(args) => args.reads(),
            Self::Explain(args) => args.record.is_some(),
            _ => false,
        }
    }

    pub fn carry_out(self) -> Result<Exit, Failure> {
        match self {
            Self::Run(args) => run::run(&args),
            Self::List(args) => machine::list(&args),
            Self::Verify(args) => verify::verify(&args),
            Self::Leaks(args) => leaks::leaks(&args),
            Self::Once(args) => verify::once(&args),
            Self::Show(args) => convert::show(&args),
            Self::Import(args) => convert::import(&args),
            Self::Advise(args) => advise::advise(&args),
            Self::Claims(args) => claims::claims(&args),
            Self::Explain(args) => explain::explain(&args),
            Self::Report(args) => report::report(&args),
            Self::Archive(args) => archive::archive(&args),
            Self::Trend(args) => archive::trend(&args),
            Self::Rank(args) => rank::rank(&args),
            Self::Compare(args) => compare::compare(&args),
            Self::Pages(args) => pages::pages(&args),
            Self::Pair(args) => pair::pair(&args),
            Self::Tls(mut args) => tls::tls(&mut args),
            Self::Watch(args) => watch::watch(&args),
            Self::Quietly(args) => machine::quietly(&args),
            Self::Fleet(args) => fleet::fleet(&args),
            Self::Doctor(args) => machine::doctor(&args),
            Self::Cache(args) => cache::cache(&args),
            Self::Completions { shell } => completions(shell),
            Self::Man { directory } => man(directory.as_deref()),
        }
    }

    /// What `ciphermark` without arguments does.
    pub fn bare() -> Self {
        let cli = Cli::parse_from(["ciphermark", "run"]);
        cli.command.expect("`run` was just parsed")
    }
}

/// Which build of a library a row of JSON is about.
fn identity(library: &engine::Attached) -> Value {
    let facts = &library.facts;
    let path = record::shown(&facts.path);
    json!({"name": facts.name, "version": facts.version, "path": path, "id": facts.id})
}

/// What was typed, for records: whatever its bytes, without passwords and without the servers that it names.
pub fn typed() -> Vec<String> {
    let is_server = |value: &str| value.contains("://") || value.contains('=');
    let (mut typed, mut is_value) = (Vec::new(), false);
    for argument in std::env::args_os() {
        let shown = base::text::masked(&argument.to_string_lossy());
        typed.push(match shown.strip_prefix("--from=") {
            Some(value) if is_server(value) => "--from=***".to_owned(),
            None if is_value && is_server(&shown) => "***".to_owned(),
            None if base::text::is_connection(&shown) => "***".to_owned(),
            _ => shown,
        });
        is_value = argument == "--from";
    }
    typed
}

/// Refuses a connection string with a password: every user of the machine sees what was typed.
pub fn no_password(typed: &str, option: &str) -> Result<(), Failure> {
    if !base::text::has_password(typed) {
        return Ok(());
    }
    Err(Failure::usage(format!(
        "{option} '{}' holds a password, which the process list shows to everybody: \
         put it into ~/.pgpass, or into the environment as PGPASSWORD",
        base::text::masked(typed)
    )))
}

/// Hidden: serves one library over pipes.
pub fn worker() -> Result<Exit, Failure> {
    engine::worker::serve()
        .map(|()| Exit::Done)
        .map_err(|e| Failure::not_done(format!("worker: {e}")))
}

/// Hidden: a client or a server on the loopback.
pub fn loopback() -> Result<Exit, Failure> {
    crate::server::serve()
        .map(|()| Exit::Done)
        .map_err(|e| Failure::not_done(format!("loopback: {e}")))
}

/// What shells return for a program that is missing or cannot be executed.
const NOT_EXECUTED: u8 = 127;

/// Hidden: becomes a program that runs on one CPU and ends with its parent.
pub fn kept() -> Result<Exit, Failure> {
    engine::doctor::quietly::serve()
        .map(|()| Exit::Done)
        .map_err(|e| Failure { exit: Exit::Program(NOT_EXECUTED), ..Failure::not_done(e) })
}

/// Help and version are printed; anything else becomes one line that says what is wrong, what is
/// possible, and what helps.
pub fn explain_usage(error: &clap::Error) -> Result<Exit, Failure> {
    match error.kind() {
        ErrorKind::DisplayHelp | ErrorKind::DisplayVersion => {
            error.print().map_err(|e| Failure::output(&e))?;
            Ok(Exit::Done)
        }
        _ => {
            let line = usage_line(&error.render().to_string());
            let meant = algorithm_meant(error)
                .map(|meant| format!("{line}, or name the algorithm by {meant}"));
            Err(Failure::usage(meant.unwrap_or(line)))
        }
    }
}

/// What was to be typed for an algorithm without `-a`, as `openssl speed` takes it.
fn algorithm_meant(error: &clap::Error) -> Option<String> {
    let (at, before) = match error.kind() {
        ErrorKind::UnknownArgument => (ContextKind::InvalidArg, ""),
        ErrorKind::InvalidSubcommand => (ContextKind::InvalidSubcommand, "`ciphermark run` with "),
        _ => return None,
    };
    let Some(ContextValue::String(typed)) = error.get(at) else { return None };
    choose::algorithms(std::slice::from_ref(typed)).ok()?;
    Some(format!("{before}-a '{typed}'"))
}

/// The paragraphs of clap's message joined, without its usage and closing remark.
fn usage_line(text: &str) -> String {
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

// Completions and manual pages, generated from the command line's own definition.

fn completions(shell: clap_complete::Shell) -> Result<Exit, Failure> {
    let mut script = Vec::new();
    clap_complete::generate(shell, &mut Cli::command(), "ciphermark", &mut script);
    print(&script)
}

/// Prints the manual page, or writes all pages into a directory.
fn man(directory: Option<&Path>) -> Result<Exit, Failure> {
    let Some(directory) = directory else {
        let mut page = Vec::new();
        clap_mangen::Man::new(Cli::command()).render(&mut page).map_err(|e| Failure::output(&e))?;
        return print(&page);
    };
    if !directory.is_dir() {
        return Err(Failure::usage(format!("there is no directory '{}'", directory.display())));
    }
    clap_mangen::generate_to(Cli::command(), directory).map_err(|e| {
        Failure::not_done(format!("cannot write to '{}': {e}", directory.display()))
    })?;
    Ok(Exit::Done)
}

fn print(bytes: &[u8]) -> Result<Exit, Failure> {
    screen::print_bytes(bytes)?;
    Ok(Exit::Done)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The words of a shell's line, without its variables, its comment and other programs.
    fn words(line: &str) -> Vec<String> {
        let (mut words, mut word, mut quote) = (Vec::new(), String::new(), None);
        for c in line.split(" #").next().unwrap_or_default().chars().chain([' ']) {
            match (c, quote) {
                ('\'' | '"', None) => quote = Some(c),
                (c, Some(open)) if c == open => quote = None,
                (' ', None) if word.is_empty() => {}
                (' ', None) => words.push(std::mem::take(&mut word)),
                (c, _) => word.push(c),
            }
        }
        let is_before = |word: &String| word != "ciphermark";
        let is_own = |word: &String| !["|", ">", ">>"].contains(&&**word);
        words.into_iter().skip_while(is_before).take_while(is_own).collect()
    }

    /// The examples of every command's help; what stands behind two spaces says what they are for.
    fn examples(command: &clap::Command) -> Vec<Vec<String>> {
        let help = command.get_after_help().map(ToString::to_string).unwrap_or_default();
        let help = help.replace("\\\n", "");
        let lines = help.lines().filter_map(|line| line.strip_prefix("  ")).map(|line| {
            let start = line.len() - line.trim_start().len();
            let end = line[start..].find("  ").map_or(line.len(), |at| start + at);
            words(&line[..end])
        });
        // No shell runs the program whose output is an argument.
        let is_whole = |words: &Vec<String>| !words.iter().any(|word| word.starts_with("$("));
        let own = lines.filter(|words| !words.is_empty() && is_whole(words));
        own.chain(command.get_subcommands().flat_map(examples)).collect()
    }

    #[test]
    fn every_example_of_the_help_and_of_the_documents_is_understood() {
        let mut typed = examples(&Cli::command());
        assert!(typed.len() > 80, "{}", typed.len());
        let documents = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs");
        for entry in std::fs::read_dir(documents).unwrap() {
            let path = entry.unwrap().path();
            if path.extension().is_none_or(|end| end != "md") {
                continue;
            }
            let text = std::fs::read_to_string(path).unwrap().replace("\\\n", "");
            let blocks = text.split("```sh\n").skip(1).filter_map(|rest| rest.split("```").next());
            let lines = blocks.flat_map(str::lines).filter(|line| !line.contains('…'));
            typed.extend(lines.map(words).filter(|words| !words.is_empty()));
        }
        assert!(typed.len() > 150, "{}", typed.len());
        for words in typed {
            if let Err(why) = Cli::try_parse_from(&words) {
                panic!("{words:?}: {why}");
            }
        }
    }

    #[test]
    fn what_the_guide_and_the_readme_say_to_type_is_understood_and_every_question_has_an_answer() {
        let guide = include_str!("../../../../docs/GUIDE.md");
        let (_, questions) = guide.split_once("| question | command |").unwrap();
        let mut typed: Vec<Vec<String>> = Vec::new();
        for row in questions.lines().skip(2).take_while(|line| line.starts_with('|')) {
            let cells: Vec<&str> = row.trim_matches('|').split(" | ").collect();
            let [_, commands, answer] = cells[..] else { panic!("{row}") };
            assert!(!answer.trim().is_empty(), "{row}");
            typed.extend(commands.split('`').skip(1).step_by(2).map(words));
        }
        assert!(typed.len() > 25, "{typed:?}");
        for command in ["claims", "compare", "pages", "tls", "watch", "rank", "explain", "leaks"] {
            assert!(
                typed.iter().any(|words| words.get(1).is_some_and(|w| w == command)),
                "{command}"
            );
        }
        let readme = include_str!("../../../../README.md");
        let is_command = |line: &&str| line.starts_with("ciphermark ") && line.contains(" # ");
        let to_type: Vec<Vec<String>> = readme.lines().filter(is_command).map(words).collect();
        assert!(to_type.len() > 9, "{to_type:?}");
        typed.extend(to_type);
        for words in typed {
            if let Err(why) = Cli::try_parse_from(&words) {
                panic!("{words:?}: {why}");
            }
        }
    }

    #[test]
    fn an_algorithm_without_its_flag_is_answered_with_the_flag() {
        let said = |words: &[&str]| {
            let error = Cli::try_parse_from(words).unwrap_err();
            explain_usage(&error).unwrap_err().message
        };
        let run = said(&["ciphermark", "run", "aes-256-gcm"]);
        assert!(run.ends_with("see --help, or name the algorithm by -a 'aes-256-gcm'"), "{run}");
        let bare = said(&["ciphermark", "sha256"]);
        assert!(bare.ends_with("by `ciphermark run` with -a 'sha256'"), "{bare}");
        let other = said(&["ciphermark", "run", "--algoritm"]);
        assert!(other.ends_with("see --help"), "{other}");
    }

    #[test]
    fn a_message_of_several_paragraphs_becomes_one_line() {
        let text = "error: invalid value 'x' for '--tier <TIER>'\n  [possible values: native, noaes]\n\n  \
            tip: a similar value exists\n\nUsage: ciphermark run\n\nFor more information, try '--help'.\n";
        assert_eq!(
            usage_line(text),
            "invalid value 'x' for '--tier <TIER>' [possible values: native, noaes]; \
             tip: a similar value exists; see --help"
        );
    }
}
