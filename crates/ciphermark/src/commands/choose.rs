//! Turns the shared arguments into algorithms, libraries, rows and suites, and says what a wrong name may
//! have meant.

use crate::commands::{DirectionArg, Filter, InPlaceArg};
use crate::{Failure, files, screen};
use base::model::{Algorithm, Direction, Footprint, Model, NameGlob, Tier, suggestion};
use base::text::{LibraryText, Suite};
use engine::{Attached, Budget, Counting, LibraryChoice, Request, Screened};
use record::LibraryId;
use std::path::{Path, PathBuf};
use std::sync::Once;

/// The algorithms that the globs match, in the order of the list of all.
pub fn algorithms(globs: &[String]) -> Result<Vec<&'static Algorithm>, Failure> {
    let mut chosen: Vec<&'static Algorithm> = Vec::new();
    for text in globs.iter().flat_map(|list| parts(list)) {
        let glob = NameGlob::parse(text).map_err(Failure::usage)?;
        let mut matched: Vec<_> =
            Algorithm::all().iter().filter(|a| glob.matches(a.name)).collect();
        if matched.is_empty() {
            matched.push(meant_by(text).ok_or_else(|| no_algorithm(text))?);
        }
        chosen.extend(matched);
    }
    let wanted = |a: &&'static Algorithm| chosen.iter().any(|c| c.name == a.name);
    Ok(Algorithm::all().iter().filter(wanted).collect())
}

fn meant_by(text: &str) -> Option<&'static Algorithm> {
    Algorithm::meant_by(text).or_else(|| Algorithm::meant_by_alias(text))
}

/// What stands between the commas of a list, unless it is one name that has some, of which a part means nothing:
/// dm-crypt's `xchacha12,aes-adiantum`.
fn parts(list: &str) -> Vec<&str> {
    let is_name = |text: &str| Algorithm::meant_by(text).is_some();
    let parts: Vec<&str> = NameGlob::of_list(list).collect();
    let has_other = parts.iter().any(|part| !part.is_empty() && !is_name(part));
    if is_name(list) && has_other { vec![list] } else { parts }
}

/// Makes the algorithms known that libraries bring, so that they can be named. Returned are those of libraries that
/// are named as files. The others are looked through only where a name or glob is nobody's yet, or all are asked for.
pub fn learn(texts: &[String], names: &[String]) -> Result<Vec<&'static Algorithm>, Failure> {
    let is_known = |glob: &NameGlob| Algorithm::all().iter().any(|a| glob.matches(a.name));
    let all_known = !names.is_empty() && globs(names)?.iter().all(is_known);
    engine::learn_algorithms(&libraries(texts)?, !all_known).map_err(Failure::usage)
}

/// Globs over algorithms; what is a name elsewhere becomes the one here.
pub fn algorithm_globs(texts: &[String]) -> Result<Vec<NameGlob>, Failure> {
    let meant = |glob: NameGlob| {
        let is_known = Algorithm::all().iter().any(|a| glob.matches(a.name));
        match meant_by(glob.text()).filter(|_| !is_known) {
            Some(algorithm) => NameGlob::parse(algorithm.name).map_err(Failure::usage),
            None => Ok(glob),
        }
    };
    globs(texts)?.into_iter().map(meant).collect()
}

/// What the commands for TLS measure, by what its names begin with, without dashes.
const OF_TLS: [&str; 14] = [
    "mlkem", "mldsa", "slhdsa", "kyber", "x25519", "x448", "ecd", "ed25519", "ed448", "rsa",
    "p256", "p384", "p521", "ffdhe",
];

fn no_algorithm(text: &str) -> Failure {
    let lower = text.to_ascii_lowercase();
    if OF_TLS.iter().any(|begin| lower.replace('-', "").starts_with(begin)) {
        return Failure::usage(format!(
            "'{text}' agrees on keys or signs: `ciphermark tls primitives` measures that, `ciphermark tls handshake` \
             in connections"
        ));
    }
    if let Some(begin) = Algorithm::beginning_meant_by(text) {
        return Failure::usage(format!(
            "'{text}' is not one algorithm; -a '{begin}-*' takes all of that name"
        ));
    }
    match Algorithm::find(text) {
        Err(unknown) if !text.contains(['*', '?', '[', '{']) => Failure::usage(unknown),
        _ => Failure::usage(format!(
            "no algorithm matches '{text}'; `ciphermark list algorithms` lists them"
        )),
    }
}

/// Reads `--library`: globs with commas between, or NAME=PATH.
pub fn libraries(texts: &[String]) -> Result<Vec<LibraryChoice>, Failure> {
    each_library(texts).map(library).collect()
}

/// What stands between the commas. A path may have some of its own.
pub fn each_library(texts: &[String]) -> impl Iterator<Item = &str> {
    texts.iter().flat_map(|text| match text.contains('=') {
        true => vec![text.as_str()],
        false => NameGlob::of_list(text).collect(),
    })
}

fn library(text: &str) -> Result<LibraryChoice, Failure> {
    if !text.contains('=') && (text.contains('/') || std::path::Path::new(text).is_file()) {
        return Err(Failure::usage(format!(
            "'{text}' looks like a file: give it a name, as in --library mine={text}"
        )));
    }
    let (name, path) = match LibraryText::parse(text).map_err(Failure::usage)? {
        LibraryText::Glob(glob) => return Ok(LibraryChoice::Glob(glob)),
        LibraryText::File { name, path } => (name, path),
    };
    let path = PathBuf::from(path);
    if !path.is_file() && !base::model::runs_elsewhere(&path) {
        let what = if path.exists() { "is no regular file" } else { "does not exist" };
        return Err(Failure::usage(format!("library '{name}': '{}' {what}", path.display())));
    }
    Ok(LibraryChoice::Path { name: name.to_owned(), path })
}

/// Finds and loads libraries; all that are found, without choices.
pub fn discover(choices: &[LibraryChoice]) -> Vec<Attached> {
    if !choices.iter().any(|c| matches!(c, LibraryChoice::Path { .. })) {
        tell_what_is_not_beside();
    }
    engine::discover(choices)
}

/// Says once what is set that decides which code these libraries run.
pub fn tell_circumstances<'a>(paths: impl Iterator<Item = &'a str>) {
    static ONCE: Once = Once::new();
    let paths: Vec<&str> = paths.collect();
    ONCE.call_once(|| {
        for circumstance in host::circumstances().iter().filter(|c| c.bears_on(&paths)) {
            anstream::eprintln!("ciphermark: {}", base::text::clean(&circumstance.sentence()));
        }
    });
}

/// Finds and loads everything that there is, languages' runtimes too.
pub fn discover_all() -> Vec<Attached> {
    tell_what_is_not_beside();
    engine::discover_all()
}

fn tell_what_is_not_beside() {
    // `cargo install` brings the program alone. Every build that brings libraries has this one.
    const OWN: &str = "libciphermark_baselines.so";
    if host::companion(OWN).is_none() {
        anstream::eprintln!(
            "ciphermark: the libraries that come with it are not beside this program: 'make install' in a clone, \
             or a package, brings them"
        );
    }
}

/// The libraries of a suite that are there. Those that are not are named, and why.
pub fn attached_of_those(texts: &[String], quiet: bool) -> Result<Vec<Attached>, Failure> {
    let (choices, wanted) = (libraries(texts)?, globs(texts)?);
    let is_wanted = |l: &Attached| {
        wanted.iter().any(|glob| glob.matches_library(&l.facts.name, &l.facts.version))
    };
    let found: Vec<Attached> = discover(&choices).into_iter().filter(is_wanted).collect();
    let is_there = |glob: &NameGlob| {
        found.iter().any(|l| glob.matches_library(&l.facts.name, &l.facts.version))
    };
    for glob in wanted.iter().filter(|glob| !is_there(glob)) {
        let text = format!("without '{}': no library that is found has this name", glob.text());
        screen::say(quiet, true, &text);
    }
    let (broken, usable): (Vec<_>, Vec<_>) =
        found.into_iter().partition(|l| l.facts.error.is_some());
    for library in broken.iter().filter(|_| !quiet) {
        let why = library.facts.error.as_deref().unwrap_or_default();
        anstream::eprintln!(
            "ciphermark: without {}: {}",
            library.facts.name,
            base::text::clean(why)
        );
    }
    if usable.is_empty() {
        return Err(Failure::not_done(engine::SelectError::None));
    }
    tell_circumstances(usable.iter().map(|library| &*library.facts.path));
    Ok(usable)
}

/// Finds, loads and selects libraries.
pub fn attached(texts: &[String]) -> Result<Vec<Attached>, Failure> {
    let choices = libraries(texts)?;
    let selected = engine::select(discover(&choices), &choices).map_err(|e| match e {
        engine::SelectError::None => Failure::not_done(e),
        _ => Failure::usage(e),
    })?;
    tell_circumstances(selected.iter().map(|library| &*library.facts.path));
    Ok(selected)
}

pub fn only(text: &str) -> Result<Attached, Failure> {
    let found = attached(&[text.to_owned()])?;
    let [library] = &found[..] else {
        let labels: Vec<String> = found.iter().map(Attached::label).collect();
        return Err(Failure::usage(format!(
            "'{text}' matches {} libraries ({}); name one, as in openssl@3.0.22 or a=PATH",
            found.len(),
            labels.join(", ")
        )));
    };
    Ok(library.clone())
}

pub fn directions(given: DirectionArg) -> Vec<Direction> {
    match given {
        DirectionArg::Encrypt => vec![Direction::Encrypt],
        DirectionArg::Decrypt => vec![Direction::Decrypt],
        DirectionArg::Both => vec![Direction::Encrypt, Direction::Decrypt],
    }
}

/// Whether the output is written over the input.
pub fn in_place(given: InPlaceArg) -> Vec<bool> {
    match given {
        InPlaceArg::No => vec![false],
        InPlaceArg::Yes => vec![true],
        InPlaceArg::Both => vec![false, true],
    }
}

/// What globs match; without any everything.
pub fn algorithms_or_all(globs: &[String]) -> Result<Vec<&'static Algorithm>, Failure> {
    match globs {
        [] => Ok(Algorithm::all().iter().collect()),
        globs => algorithms(globs),
    }
}

/// Globs over tiers, each of which matches one.
pub fn tier_globs(texts: &[String]) -> Result<Vec<NameGlob>, Failure> {
    let globs = globs(texts)?;
    let names = || Tier::ALL.iter().map(|t| t.name());
    match globs.iter().find(|g| !names().any(|n| g.matches(n))) {
        Some(glob) => {
            let hint = suggestion(glob.text(), names());
            let all: Vec<&str> = Tier::HERE.iter().map(|t| t.name()).collect();
            Err(Failure::usage(format!(
                "--tier: unknown tier '{}'{hint}; there are {}",
                glob.text(),
                all.join(", ")
            )))
        }
        None => Ok(globs),
    }
}

/// The tiers to measure at: those that are named, and of those that globs match the ones that this CPU has.
pub fn tiers(texts: &[String]) -> Result<Vec<Tier>, Failure> {
    let mut found = Vec::new();
    for glob in tier_globs(texts)? {
        if let Some(tier) = Tier::ALL.iter().find(|t| t.name() == glob.text()) {
            found.push(*tier);
            continue;
        }
        let matched = Tier::HERE.iter().copied().filter(|t| glob.matches(t.name()));
        let here: Vec<Tier> = matched.filter(|t| engine::tier_here(*t).available).collect();
        if here.is_empty() {
            let text = glob.text();
            return Err(Failure::usage(format!("this CPU has no tier that matches '{text}'")));
        }
        found.extend(here);
    }
    Ok(distinct(&found))
}

/// Numbers of threads, ascending, each once; at most one thread per CPU.
pub fn threads(given: &[u32]) -> Result<Vec<u32>, Failure> {
    let mut threads = if given.is_empty() { vec![1] } else { given.to_vec() };
    threads.sort_unstable();
    threads.dedup();
    let (most, cpus) = (threads.last().copied().unwrap_or(1), engine::usable_cpus());
    if most as usize > cpus {
        return Err(Failure::usage(format!(
            "--threads {most}: each thread needs a CPU of its own, and this process may use only {cpus}"
        )));
    }
    Ok(threads)
}

pub fn distinct<T: Copy + PartialEq>(given: &[T]) -> Vec<T> {
    let mut distinct = Vec::new();
    for value in given {
        if !distinct.contains(value) {
            distinct.push(*value);
        }
    }
    distinct
}

/// The rows of a record that a filter keeps.
pub fn rows<'a>(
    record: &'a record::Record,
    filter: &Filter,
) -> Result<Vec<&'a record::Measurement>, Failure> {
    let keep = Keep::new(record, filter)?;
    Ok(record.measurements.iter().filter(|m| keep.keeps(m)).collect())
}

/// Whether a filter takes a case, whatever its library.
pub fn cases(filter: &Filter) -> Result<impl Fn(&record::Measurement) -> bool, Failure> {
    let keep = Keep { libraries: Vec::new(), ..Keep::of(filter)? };
    Ok(move |m: &record::Measurement| keep.keeps(m))
}

/// The rows of a record that a filter keeps, which may be none.
pub fn rows_if_any<'a>(
    record: &'a record::Record,
    filter: &Filter,
) -> Result<Vec<&'a record::Measurement>, Failure> {
    let keep = Keep::of(filter)?;
    Ok(record.measurements.iter().filter(|m| keep.keeps(m)).collect())
}

struct Keep<'a> {
    algorithms: Vec<NameGlob>,
    tiers: Vec<NameGlob>,
    libraries: Vec<NameGlob>,
    directions: Vec<Direction>,
    in_place: Vec<bool>,
    filter: &'a Filter,
}

impl<'a> Keep<'a> {
    fn new(record: &record::Record, filter: &'a Filter) -> Result<Self, Failure> {
        let keep = Self::of(filter)?;
        let names = || record.measurements.iter().map(|m| m.algorithm.as_str());
        known(&keep.algorithms, "algorithm", names)?;
        for glob in &keep.libraries {
            let loaded = record.libraries.iter().any(|l| glob.matches_library(&l.name, &l.version));
            // Imported figures are of libraries that were never loaded.
            let shown =
                |m: &record::Measurement| glob.matches_library(&m.library.name, &m.library.version);
            if !loaded && !record.measurements.iter().any(shown) {
                let names = record.libraries.iter().map(|l| l.name.as_str());
                return Err(missing("library", glob.text(), names));
            }
        }
        Ok(keep)
    }

    fn of(filter: &'a Filter) -> Result<Self, Failure> {
        Ok(Self {
            algorithms: globs(&filter.algorithm)?,
            tiers: tier_globs(&filter.tier)?,
            libraries: globs(&filter.library)?,
            directions: filter.direction.map_or_else(Vec::new, directions),
            in_place: filter.in_place.map_or_else(Vec::new, in_place),
            filter,
        })
    }

    fn keeps(&self, m: &record::Measurement) -> bool {
        let filter = self.filter;
        any(&self.algorithms, |g| g.matches(&m.algorithm))
            && takes(&self.libraries, &m.library)
            && filter.size.as_ref().is_none_or(|sizes| sizes.0.contains(&m.size))
            && all_or(&self.directions, &m.direction)
            && all_or(&filter.model, &m.model)
            && any(&self.tiers, |g| g.matches(m.tier.name()))
            && all_or(&filter.footprint, &m.footprint)
            && all_or(&filter.threads, &m.threads)
            && all_or(&self.in_place, &m.in_place)
    }
}

/// An empty list selects everything.
fn all_or<T: PartialEq>(wanted: &[T], value: &T) -> bool {
    wanted.is_empty() || wanted.contains(value)
}

/// A request for messages in hot buffers, in one thread; instructions are counted at tiers alone.
pub fn plain_request(algorithms: Vec<&'static Algorithm>, budget: Budget) -> Request {
    Request {
        suite: None,
        algorithms,
        directions: vec![Direction::Encrypt, Direction::Decrypt],
        models: vec![Model::Message],
        sizes: Vec::new(),
        tiers: vec![Tier::Native],
        footprints: vec![Footprint::Hot],
        threads: vec![1],
        in_place: vec![false],
        cases: Vec::new(),
        latency: false,
        budget,
        counting: Counting::Tiers,
        screened: Screened::default(),
        seed: random_seed(),
        command: crate::commands::typed(),
    }
}

pub fn random_seed() -> u64 {
    use std::hash::{BuildHasher as _, Hasher as _};
    std::collections::hash_map::RandomState::new().build_hasher().finish()
}

/// The globs over libraries in a question. NAME=PATH is for measuring; afterwards the name is what it goes by.
pub fn library_globs(texts: &[String]) -> Result<Vec<NameGlob>, Failure> {
    let name = |text: &str| text.split('=').next().unwrap_or_default().to_owned();
    globs(&each_library(texts).map(name).collect::<Vec<_>>())
}

/// The globs of comma-separated lists.
pub fn globs(texts: &[String]) -> Result<Vec<NameGlob>, Failure> {
    texts
        .iter()
        .flat_map(|list| parts(list))
        .map(|t| NameGlob::parse(t).map_err(Failure::usage))
        .collect()
}

/// Whether one of the globs is of it, or there are none.
pub fn any(globs: &[NameGlob], is_of: impl Fn(&NameGlob) -> bool) -> bool {
    globs.is_empty() || globs.iter().any(is_of)
}

/// Whether one of the globs is of the library, or there are none.
pub fn takes(globs: &[NameGlob], library: &LibraryId) -> bool {
    any(globs, |glob| glob.matches_library(&library.name, &library.version))
}

fn known<'a, I: Iterator<Item = &'a str>>(
    globs: &[NameGlob],
    what: &str,
    names: impl Fn() -> I,
) -> Result<(), Failure> {
    match globs.iter().find(|g| !names().any(|n| g.matches(n))) {
        Some(glob) => Err(missing(what, glob.text(), names())),
        None => Ok(()),
    }
}

fn missing<'a>(what: &str, text: &str, names: impl Iterator<Item = &'a str>) -> Failure {
    let hint = suggestion(text, names);
    Failure::usage(format!("the record has no {what} that matches '{text}'{hint}"))
}

// Suites by name, and from files.

/// A built-in suite by name, else a file.
pub fn named_suite(name: &str) -> Result<Suite, Failure> {
    let suites = Suite::built_in();
    if let Some(suite) = suites.iter().find(|s| s.name == name) {
        return Ok(suite.clone());
    }
    let path = Path::new(name);
    if path.extension().is_some_and(|e| e == "toml") || path.is_file() {
        let shown = format!("suite '{name}'");
        return files::within_bounds(|| {
            let text = files::text(path, &shown)?;
            Suite::parse(&text).map_err(|e| Failure::usage(format!("{shown}, {e}")))
        })?;
    }
    let hint = suggestion(name, suites.iter().map(|s| s.name.as_str()));
    Err(Failure::usage(format!(
        "unknown suite '{name}'{hint}; `ciphermark list suites` shows all, a file ends in .toml"
    )))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn lists_of_libraries_are_parted_at_commas_and_paths_are_not() {
        let texts = ["openssl@{3,4}*,nettle", "mine=/a,b/lib.so"].map(str::to_owned);
        let each: Vec<&str> = each_library(&texts).collect();
        assert_eq!(each, ["openssl@{3,4}*", "nettle", "mine=/a,b/lib.so"]);
    }

    #[test]
    fn a_name_of_dm_crypts_is_one_name_with_its_comma() {
        let of = |text: &str| algorithms(&[text.to_owned()]).map_err(|e| e.message);
        let [adiantum] = of("xchacha12,aes-adiantum-plain64").unwrap()[..] else { panic!("one") };
        assert_eq!(adiantum.name, "adiantum");
        assert_eq!(of("adiantum(xchacha12,aes)").unwrap(), [adiantum]);
        assert_eq!(of("chacha20,poly1305").unwrap().len(), 2);
        assert_eq!(of("chacha20,aes-hctr2").unwrap().len(), 2);
    }

    #[test]
    fn tiers_are_named_or_matched_and_an_unknown_one_is_refused_with_the_nearest() {
        let of = |text: &str| tiers(&[text.to_owned()]).map_err(|e| e.message);
        assert_eq!(of("icelake,native,icelake"), Ok(vec![Tier::Icelake, Tier::Native]));
        assert_eq!(of("nat*,{base,vase}line"), Ok(vec![Tier::Native, Tier::Baseline]));
        assert!(of("nativ").unwrap_err().contains("did you mean 'native'?"));
    }
}
