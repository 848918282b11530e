//! What was typed, turned into what it means.

use crate::args::{DirectionArg, Filter, FootprintArg, InPlaceArg, ModelArg, TierArg};
use crate::error::Failure;
use engine::{Attached, LibraryChoice};
use model::{Algorithm, Direction, Footprint, KERNEL_PATH, Model, NameGlob, Tier, nearest};
use std::path::PathBuf;
use typed::LibraryText;

/// The algorithms that the globs match, in the order of the list of all.
pub fn algorithms(globs: &[String]) -> Result<Vec<&'static Algorithm>, Failure> {
    let mut chosen: Vec<&'static Algorithm> = Vec::new();
    for text in globs.iter().flat_map(|list| NameGlob::of_list(list)) {
        let glob = NameGlob::parse(text).map_err(Failure::usage)?;
        let matched: Vec<_> = Algorithm::all().iter().filter(|a| glob.matches(a.name)).collect();
        if matched.is_empty() {
            return Err(no_algorithm(text));
        }
        chosen.extend(matched);
    }
    let wanted = |a: &&'static Algorithm| chosen.iter().any(|c| c.name == a.name);
    Ok(Algorithm::all().iter().filter(wanted).collect())
}

fn no_algorithm(text: &str) -> Failure {
    match Algorithm::find(text) {
        Err(unknown) if !text.contains(['*', '?', '[', '{']) => Failure::usage(unknown),
        _ => Failure::usage(format!(
            "no algorithm matches '{text}'; `ciphermark list algorithms` shows all"
        )),
    }
}

/// What `--library` asks for: a glob, or NAME=PATH.
pub fn libraries(texts: &[String]) -> Result<Vec<LibraryChoice>, Failure> {
    texts.iter().map(|text| library(text)).collect()
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
    if !path.is_file() && path.as_os_str() != KERNEL_PATH {
        let what = if path.exists() { "is no regular file" } else { "does not exist" };
        return Err(Failure::usage(format!("library '{name}': '{}' {what}", path.display())));
    }
    Ok(LibraryChoice::Path { name: name.to_owned(), path })
}

/// Finds, loads and selects libraries.
pub fn attached(texts: &[String]) -> Result<Vec<Attached>, Failure> {
    let choices = libraries(texts)?;
    engine::select(engine::discover(&choices), &choices).map_err(|e| match e {
        engine::SelectError::None => Failure::not_done(e),
        _ => Failure::usage(e),
    })
}

/// The directions of ciphers.
pub fn directions(typed: DirectionArg) -> Vec<Direction> {
    match typed {
        DirectionArg::Encrypt => vec![Direction::Encrypt],
        DirectionArg::Decrypt => vec![Direction::Decrypt],
        DirectionArg::Both => vec![Direction::Encrypt, Direction::Decrypt],
    }
}

impl From<ModelArg> for Model {
    fn from(typed: ModelArg) -> Self {
        match typed {
            ModelArg::Stream => Self::Stream,
            ModelArg::Message => Self::Message,
            ModelArg::Rekey => Self::Rekey,
            ModelArg::Forgery => Self::Forgery,
        }
    }
}

impl From<FootprintArg> for Footprint {
    fn from(typed: FootprintArg) -> Self {
        match typed {
            FootprintArg::Hot => Self::Hot,
            FootprintArg::L1 => Self::L1,
            FootprintArg::L2 => Self::L2,
            FootprintArg::L3 => Self::L3,
            FootprintArg::Memory => Self::Memory,
        }
    }
}

/// Whether the output is written over the input.
pub fn in_place(typed: InPlaceArg) -> Vec<bool> {
    match typed {
        InPlaceArg::No => vec![false],
        InPlaceArg::Yes => vec![true],
        InPlaceArg::Both => vec![false, true],
    }
}

/// Numbers of threads, ascending, each once; no more than there are CPUs for.
pub fn threads(typed: &[u32]) -> Result<Vec<u32>, Failure> {
    let mut threads = if typed.is_empty() { vec![1] } else { typed.to_vec() };
    threads.sort_unstable();
    threads.dedup();
    let (most, cpus) = (threads.last().copied().unwrap_or(1), engine::usable_cpus());
    if most as usize > cpus {
        return Err(Failure::usage(format!(
            "--threads {most}: each thread has a CPU of its own, and this process may use {cpus}"
        )));
    }
    Ok(threads)
}

impl From<TierArg> for Tier {
    fn from(typed: TierArg) -> Self {
        match typed {
            TierArg::Native => Self::Native,
            TierArg::Vaes256 => Self::Vaes256,
            TierArg::Aesni => Self::Aesni,
            TierArg::Noaes => Self::Noaes,
            TierArg::Baseline => Self::Baseline,
        }
    }
}

/// The rows of a record that a filter keeps.
pub fn rows<'a>(
    record: &'a record::Record,
    filter: &Filter,
) -> Result<Vec<&'a record::Measurement>, Failure> {
    let keep = Keep::new(record, filter)?;
    Ok(record.measurements.iter().filter(|m| keep.keeps(m)).collect())
}

struct Keep {
    algorithms: Vec<NameGlob>,
    libraries: Vec<NameGlob>,
    sizes: Option<Vec<usize>>,
    directions: Option<Vec<Direction>>,
    models: Vec<Model>,
    tiers: Vec<Tier>,
    footprints: Vec<Footprint>,
    threads: Vec<u32>,
    in_place: Option<Vec<bool>>,
}

impl Keep {
    fn new(record: &record::Record, filter: &Filter) -> Result<Self, Failure> {
        let algorithms = globs(&filter.algorithm)?;
        let names = || record.measurements.iter().map(|m| m.algorithm.as_str());
        known(&algorithms, "algorithm", names)?;
        let libraries = globs(&filter.library)?;
        for glob in &libraries {
            let loaded = record.libraries.iter().any(|l| is_library(glob, &l.name, &l.version));
            // Imported figures are of libraries that were never loaded.
            let shown =
                |m: &record::Measurement| is_library(glob, &m.library.name, &m.library.version);
            if !loaded && !record.measurements.iter().any(shown) {
                let near = nearest(glob.text(), record.libraries.iter().map(|l| l.name.as_str()));
                return Err(missing("library", glob.text(), near));
            }
        }
        Ok(Self {
            algorithms,
            libraries,
            sizes: filter
                .size
                .as_deref()
                .map(model::parse_sizes)
                .transpose()
                .map_err(Failure::usage)?,
            directions: filter.direction.map(directions),
            models: filter.model.iter().copied().map(Model::from).collect(),
            tiers: filter.tier.iter().copied().map(Tier::from).collect(),
            footprints: filter.footprint.iter().copied().map(Footprint::from).collect(),
            threads: filter.threads.clone(),
            in_place: filter.in_place.map(in_place),
        })
    }

    fn keeps(&self, m: &record::Measurement) -> bool {
        let any = |globs: &[NameGlob], test: &dyn Fn(&NameGlob) -> bool| {
            globs.is_empty() || globs.iter().any(test)
        };
        any(&self.algorithms, &|g| g.matches(&m.algorithm))
            && any(&self.libraries, &|g| is_library(g, &m.library.name, &m.library.version))
            && self.sizes.as_ref().is_none_or(|s| s.contains(&m.size))
            && self.directions.as_ref().is_none_or(|d| d.contains(&m.direction))
            && (self.models.is_empty() || self.models.contains(&m.model))
            && (self.tiers.is_empty() || self.tiers.contains(&m.tier))
            && (self.footprints.is_empty() || self.footprints.contains(&m.footprint))
            && (self.threads.is_empty() || self.threads.contains(&m.threads))
            && self.in_place.as_ref().is_none_or(|places| places.contains(&m.in_place))
    }
}

/// Globs, also several in one text.
pub fn globs(texts: &[String]) -> Result<Vec<NameGlob>, Failure> {
    texts
        .iter()
        .flat_map(|list| NameGlob::of_list(list))
        .map(|t| NameGlob::parse(t).map_err(Failure::usage))
        .collect()
}

/// Whether a glob over names or `name@version` means the library.
pub fn is_library(glob: &NameGlob, name: &str, version: &str) -> bool {
    glob.matches(name) || glob.matches(&format!("{name}@{version}"))
}

fn known<'a, I: Iterator<Item = &'a str>>(
    globs: &[NameGlob],
    what: &str,
    names: impl Fn() -> I,
) -> Result<(), Failure> {
    match globs.iter().find(|g| !names().any(|n| g.matches(n))) {
        Some(glob) => Err(missing(what, glob.text(), nearest(glob.text(), names()))),
        None => Ok(()),
    }
}

fn missing(what: &str, text: &str, near: Option<String>) -> Failure {
    let hint = near.map(|n| format!(", did you mean '{n}'?")).unwrap_or_default();
    Failure::usage(format!("the record has no {what} that matches '{text}'{hint}"))
}
