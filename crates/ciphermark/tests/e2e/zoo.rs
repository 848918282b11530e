//! The zoo: every stand-in library of `tests/fakes/zoo/zoo.toml` is found, named rightly, and costs nothing
//! but its own cases. `make zoo` writes the table in `tests/fakes/zoo/README.md` from what was found; without
//! it the table must be what it would write.

use crate::support::{fakes, repository, *};
use serde::Deserialize;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fmt;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::Mutex;

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
    build_all(shaped.collect())
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
    hold_table(&caught, std::env::var_os(WRITE).is_some());
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

// Making the zoo's files.

pub fn build_all(wanted: Vec<(StandIn, String)>) -> Vec<Animal> {
    let directory = Path::new(env!("CARGO_TARGET_TMPDIR")).join("zoo");
    std::fs::create_dir_all(&directory).unwrap();
    let numbered: Vec<(usize, (StandIn, String))> = wanted.into_iter().enumerate().collect();
    let (queue, built) = (Mutex::new(numbered.into_iter()), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..4 {
            scope.spawn(|| {
                loop {
                    let Some((i, (of, shape))) = queue.lock().unwrap().next() else { return };
                    let animal = one(&directory, of, shape);
                    built.lock().unwrap().push((i, animal));
                }
            });
        }
    });
    let mut built = built.into_inner().unwrap();
    built.sort_by_key(|(i, _)| *i);
    built.into_iter().map(|(_, animal)| animal).collect()
}

fn one(directory: &Path, of: StandIn, shape: String) -> Animal {
    let variant = of
        .also
        .as_ref()
        .map_or(String::new(), |also| format!("-{}", also.to_lowercase().replace(['=', '_'], "-")));
    let id = format!("{}{variant}-{shape}", of.name);
    let path = match &of.make {
        None => compiled(directory, &id, &shape, &of),
        Some(how) => file(directory, &id, how),
    };
    Animal { id, shape, path, of }
}

/// Compiles beside and renames, because another test process may have the object open.
fn compiled(directory: &Path, id: &str, shape: &str, of: &StandIn) -> PathBuf {
    let mut macros = vec![of.name.to_uppercase().replace('-', "_")];
    macros.extend(of.also.clone());
    let object = directory.join(format!("{id}.so"));
    compile(&macros, &["-shared"], shape, &object);
    object
}

fn compile(macros: &[String], options: &[&str], shape: &str, object: &Path) {
    let fresh = tempfile::NamedTempFile::new_in(object.parent().unwrap()).unwrap().into_temp_path();
    let mut cc = Command::new("cc");
    cc.args(["-fPIC", "-O1", "-pthread", "-I"]).arg(repository("include")).args(options);
    cc.args(macros.iter().map(|m| format!("-D{m}")));
    cc.arg("-o").arg(&fresh).arg(repository("tests/fakes/zoo").join(shape).with_extension("c"));
    fakes::succeed(&mut cc);
    fresh.persist(object).unwrap();
}

fn file(directory: &Path, id: &str, how: &str) -> PathBuf {
    let path = directory.join(format!("{id}.so"));
    let _ = std::fs::remove_file(&path);
    let right = || {
        let object = directory.join(format!("{id}-right.so"));
        compile(&[], &["-shared"], "evp", &object);
        std::fs::read(object).unwrap()
    };
    let write = |bytes: &[u8]| std::fs::write(&path, bytes).unwrap();
    match how {
        "text" => write(b"This is not the library that you are looking for.\n"),
        "empty" => write(b""),
        "truncated" => write(&right()[..3000]),
        "garbled" => write(&garbled(right())),
        "other-machine" => write(&with(right(), 18, 183)),
        "other-word" => write(&with(right(), 4, 1)),
        "relocatable" => compile(&[], &["-c"], "evp", &path),
        "no-library" => no_library(&path),
        "directory" => {
            let _ = std::fs::remove_dir(&path);
            std::fs::create_dir(&path).unwrap();
        }
        "pipe" => assert!(Command::new("mkfifo").arg(&path).status().unwrap().success()),
        "missing" => {}
        other => panic!("zoo.toml: nobody knows how to make '{other}'"),
    }
    path
}

/// With one byte of the header another: of the ELF class (4) or the machine (18), where 183 is AArch64.
fn with(mut bytes: Vec<u8>, at: usize, value: u8) -> Vec<u8> {
    bytes[at] = value;
    bytes
}

/// The headers stay, and the tables that they lead to are noise.
fn garbled(mut bytes: Vec<u8>) -> Vec<u8> {
    let mut noise = 1_u32;
    for byte in &mut bytes[1000..] {
        noise = noise.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        *byte = (noise >> 24) as u8;
    }
    bytes
}

fn no_library(path: &Path) {
    let source = path.with_extension("c");
    std::fs::write(&source, "int answer(void) { return 42; }\n").unwrap();
    fakes::succeed(fakes::compiler(path).arg(&source));
}

// Whether a stand-in was found where its fault is, and only there.

pub struct Caught {
    pub animal: Animal,
    pub reason: String,
    /// What is not as the table says.
    pub wrong: Option<String>,
}

impl Caught {
    pub fn new(animal: &Animal, reason: String, wrong: Option<String>) -> Self {
        Self { animal: animal.clone(), reason, wrong }
    }
}

impl fmt::Display for Caught {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let mark = if self.wrong.is_some() { "MISSED" } else { "caught" };
        let Animal { id, of, .. } = &self.animal;
        write!(f, "{mark} {id}: {} [{}] {}", of.state, of.check, self.reason)
    }
}

impl fmt::Debug for Caught {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}\n    {}", self.wrong.as_deref().unwrap_or_default())
    }
}

pub fn judge(animal: &Animal, rows: &[Value], table: &str) -> Caught {
    let of = &animal.of;
    let own = where_(rows, &[("library.name", &animal.id)]);
    let (bad, good): (Vec<&Value>, Vec<&Value>) = own.into_iter().partition(|row| {
        let algorithms = of.algorithms.as_ref();
        algorithms.is_none_or(|a| a.iter().any(|a| a == text(row, "algorithm")))
            && of.size.is_none_or(|size| row["size"] == size)
            && of.direction.as_ref().is_none_or(|d| d == text(row, "direction"))
    });
    let mut wrong = Vec::new();
    if bad.is_empty() {
        wrong.push("no row has the fault".to_owned());
    }
    let mut reason = String::new();
    for row in bad {
        let found = found(row, of);
        reason = found.as_ref().map_or_else(|_| String::new(), Clone::clone);
        wrong.extend(found.err());
    }
    if of.state != "remarked" && !table.contains(&of.state.to_uppercase()) {
        wrong.push("the table does not say so".to_owned());
    }
    for row in good {
        // What finds it in one case may find it in others too: it costs no case that is right.
        let why = row["reason"].as_str().unwrap_or_default();
        let found_too = why.starts_with(&format!("{}: ", of.check));
        if text(row, "state") != "measured" && !found_too {
            wrong.push(format!("costs more than its own cases: {}", brief(row)));
        }
    }
    let wrong = (!wrong.is_empty()).then(|| wrong.join("\n    "));
    Caught::new(animal, reason, wrong)
}

/// The reason or remark that has these words, where the row is in this state.
fn found(row: &Value, of: &StandIn) -> Result<String, String> {
    let state = of.state.as_str();
    let is_number = !row["ns_per_op"].is_null();
    let (is_right, said) = if state == "remarked" {
        let remarks = row["remarks"].as_array().cloned().unwrap_or_default();
        let remarks = remarks.iter().filter_map(Value::as_str);
        (text(row, "state") == "measured" && is_number, remarks.map(str::to_owned).collect())
    } else {
        (text(row, "state") == state && !is_number, vec![text(row, "reason").to_owned()])
    };
    let said: Vec<String> = said;
    let nothing = of.reason.is_empty().then(String::new);
    let told = said.iter().find(|line| of.tells(line)).cloned().or(nothing);
    told.filter(|_| is_right).ok_or_else(|| brief(row))
}

fn brief(row: &Value) -> String {
    format!(
        "{} {} of {}: {} '{}' {}",
        text(row, "algorithm"),
        text(row, "direction"),
        row["size"],
        text(row, "state"),
        text(row, "reason"),
        row["remarks"]
    )
}

const PAGE: &str = "tests/fakes/zoo/README.md";
const BEGIN: &str = "<!-- zoo: written by `make zoo` -->\n";
const END: &str = "<!-- zoo: end -->\n";

/// The table must be what was caught; or becomes it.
pub fn hold_table(caught: &[Caught], write: bool) {
    let path = repository(PAGE);
    let page = std::fs::read_to_string(&path).unwrap();
    let (before, rest) = page.split_once(BEGIN).expect("a place for the table");
    let (old, after) = rest.split_once(END).expect("the table's place has an end");
    let new = table(caught);
    if write {
        std::fs::write(&path, format!("{before}{BEGIN}{new}{END}{after}")).unwrap();
    } else {
        assert_eq!(old, new, "{PAGE} is not what `make zoo` would write");
    }
}

/// In the order of the file; what stands behind two interfaces is one row.
fn table(caught: &[Caught]) -> String {
    let mut rows: Vec<(String, Vec<&Caught>)> = Vec::new();
    let mut at: BTreeMap<String, usize> = BTreeMap::new();
    for c in caught {
        let key = format!("{} {:?}", c.animal.of.name, c.animal.of.also);
        let place = *at.entry(key).or_insert_with(|| {
            rows.push((c.animal.of.fault.clone(), Vec::new()));
            rows.len() - 1
        });
        rows[place].1.push(c);
    }
    let faults = rows.len();
    let mut out = format!(
        "\n{} planted ({faults} faults), {} caught.\n\n\
         | planted: a library that … | behind | becomes | caught by | in whose words |\n\
         | --- | --- | --- | --- | --- |\n",
        caught.len(),
        caught.iter().filter(|c| c.wrong.is_none()).count()
    );
    for (fault, shapes) in rows {
        let of = &shapes[0].animal.of;
        let behind: Vec<&str> = shapes.iter().map(|c| c.animal.shape.as_str()).collect();
        let cells =
            [&fault, &behind.join(", "), &of.state, &of.check, &of.reason].map(|c| escaped(c));
        out += &format!("| {} |\n", cells.join(" | "));
    }
    out.push('\n');
    out
}

fn escaped(text: &str) -> String {
    text.replace('|', "\\|").replace('<', "&lt;")
}
