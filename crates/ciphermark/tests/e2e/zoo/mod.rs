//! The zoo: every stand-in library of `tests/fakes/zoo/zoo.toml` is found, named rightly, and costs nothing but
//! its own cases. `make zoo` writes the table in `tests/fakes/zoo/README.md` from what was found; without it the table
//! must be what it would write.

mod build;
mod judge;
mod table;

use crate::support::*;
use judge::{Caught, judge};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::path::PathBuf;

/// Set by `make zoo`: the table is written and not only compared.
const WRITE: &str = "CIPHERMARK_WRITE_ZOO";

/// Share of every deadline: what hangs here hangs for ever.
const PATIENCE: &str = "0.15";

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Zoo {
    stand_in: Vec<StandIn>,
}

/// One entry of the table, for all of its shapes.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct StandIn {
    name: String,
    also: Option<String>,
    make: Option<String>,
    shapes: Option<Vec<String>>,
    fault: String,
    state: String,
    check: String,
    reason: String,
    or: Option<String>,
    algorithms: Option<Vec<String>>,
    size: Option<u64>,
    direction: Option<String>,
    model: Option<String>,
}

impl StandIn {
    /// Whether a reason has the words.
    fn tells(&self, line: &str) -> bool {
        line.contains(&self.reason) || self.or.as_ref().is_some_and(|words| line.contains(words))
    }
}

/// One stand-in in one shape.
#[derive(Clone, Debug)]
pub struct Animal {
    /// Its name to `--library`.
    id: String,
    shape: String,
    path: PathBuf,
    of: StandIn,
}

impl Animal {
    fn argument(&self) -> String {
        format!("{}={}", self.id, arg(&self.path))
    }

    /// Model, sizes and algorithms of its run.
    fn asked(&self) -> [String; 3] {
        let (of, every) = (&self.of, ["aes-128-ctr", "aes-128-gcm"].map(str::to_owned));
        let model = of.model.clone().unwrap_or_else(|| "message".to_owned());
        let sizes = match of.size {
            Some(size) if size != 16 && size != 700 => format!("16,{size}"),
            _ => "16,700".to_owned(),
        };
        // Not every algorithm has every model.
        let algorithms = of.algorithms.as_deref().filter(|_| model != "message");
        [model, sizes, algorithms.unwrap_or(&every).join(",")]
    }

    /// Whether its run single-steps. That is most of a run's time, and behind which interface a fault stands
    /// is nothing to it: of each fault that gets as far, one is stepped.
    fn is_stepped(&self) -> bool {
        let of = &self.of;
        let gets_as_far = of.state == "remarked" || of.size.is_some() || of.direction.is_some();
        let shapes = of.shapes.as_ref();
        gets_as_far && shapes.map_or("evp", |shapes| &shapes[0]) == self.shape
    }
}

fn animals() -> Vec<Animal> {
    let text = std::fs::read_to_string(repository("tests/fakes/zoo/zoo.toml")).unwrap();
    let zoo: Zoo = toml::from_str(&text).unwrap_or_else(|e| panic!("zoo.toml: {e}"));
    let everywhere = || ["evp", "gcrypt", "adapter"].map(str::to_owned).to_vec();
    let shaped = zoo.stand_in.into_iter().flat_map(|of| {
        let shapes = of.shapes.clone().unwrap_or_else(everywhere);
        shapes.into_iter().map(move |shape| (of.clone(), shape))
    });
    build::all(shaped.collect())
}

#[test]
#[ignore = "long: more than a hundred faulty libraries"]
fn every_stand_in_is_found_named_rightly_and_costs_nothing_but_its_own_cases() {
    let (at_load, measured): (Vec<Animal>, Vec<Animal>) =
        animals().into_iter().partition(|a| a.of.state == "unusable");
    let (stepped, only_timed): (Vec<Animal>, Vec<Animal>) =
        measured.iter().cloned().partition(Animal::is_stepped);
    let mut timed = in_runs(&stepped, &[]);
    timed.extend(in_runs(&only_timed, &["--no-evidence"]));
    timed.sort_by_key(|c| measured.iter().position(|animal| animal.id == c.animal.id));
    let mut caught: Vec<Caught> = at_load.iter().map(not_loaded).collect();
    caught.extend(timed);
    let missed: Vec<&Caught> = caught.iter().filter(|c| c.wrong.is_some()).collect();
    println!("zoo: {} planted, {} caught", caught.len(), caught.len() - missed.len());
    // What was missed first: of a failed test's words, a log's end shows the first lines.
    missed.iter().for_each(|c| println!("  {c:?}"));
    caught.iter().for_each(|c| println!("  {c}"));
    assert!(missed.is_empty(), "{} of {} were missed: {missed:#?}", missed.len(), caught.len());
    assert!(caught.len() >= 40, "a zoo of {}", caught.len());
    table::hold(&caught, std::env::var_os(WRITE).is_some());
}

/// What cannot be loaded ends the run before it begins, in one line.
fn not_loaded(animal: &Animal) -> Caught {
    let library = animal.argument();
    let run = ["run", "-l", &library, "-a", "aes-128-ctr", "-s", "16"];
    let done = ciphermark_with(&run, &[("CIPHERMARK_PATIENCE", PATIENCE)]);
    let line = done.stderr.trim_end().to_owned();
    let right = done.code == 2 && done.stdout.is_empty() && line.lines().count() == 1;
    let told = animal.of.tells(&line) && !line.chars().any(char::is_control);
    let wrong = (!right || !told).then(|| format!("{done:?}"));
    let reason =
        line.rsplit_once(": ").map_or(line.clone(), |_| line.replace(arg(&animal.path), "FILE"));
    Caught::new(animal, reason, wrong)
}

/// What loads, in one run for all that ask for the same.
fn in_runs(animals: &[Animal], options: &[&str]) -> Vec<Caught> {
    let mut runs: BTreeMap<[String; 3], Vec<Animal>> = BTreeMap::new();
    for animal in animals {
        runs.entry(animal.asked()).or_default().push(animal.clone());
    }
    runs.iter().flat_map(|(asked, animals)| beside_openssl(asked, animals, options)).collect()
}

/// A run with OpenSSL.
fn beside_openssl(
    [model, sizes, algorithms]: &[String; 3],
    animals: &[Animal],
    options: &[&str],
) -> Vec<Caught> {
    let directory = scratch();
    let record = directory.path().join("r.json");
    let libraries: Vec<String> = animals.iter().map(Animal::argument).collect();
    let mut run = vec!["run", "-a", algorithms, "-l", "openssl"];
    run.extend(libraries.iter().flat_map(|library| ["-l", library]));
    run.extend(["-s", sizes, "-m", model, "-o", arg(&record)]);
    run.extend(["--precision", "50%", "--budget", "200s", "--all"]);
    if model == "forgery" {
        // Nothing else can meet one.
        run.extend(["--direction", "decrypt"]);
    }
    run.extend(options);
    let done = ciphermark_with_many(&run, &[("CIPHERMARK_PATIENCE", PATIENCE)]).with_code(3);
    assert_eq!(done.stderr, "", "reasons stand in the rows");
    let control = |c: char| c.is_control() && c != '\n';
    assert!(!done.stdout.contains(control), "what a library says went to the terminal");
    let rows = measurements(&std::fs::read_to_string(&record).unwrap());
    for row in where_(&rows, &[("library.name", "openssl")]) {
        assert_eq!(text(row, "state"), "measured", "{row}");
    }
    animals.iter().map(|animal| judge(animal, &rows, &done.stdout)).collect()
}
