//! scale STORE MACHINES RUNS: fills an archive with made-up records of 15,000 cases, in the order in which they would
//! arrive, and times the questions over it. `scripts/archive-scale` runs it.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a benchmark that fails has no figures")]
use base::model::{Direction, Tier};
use ciphermark_record::archive::{Archive, Entry, Listed, Selection, Trust};
use ciphermark_record::{
    Estimate, Executed, ExecutedSize, LibraryId, Measurement, ProcessCosts, Record, State,
    UncountedSize,
};
use judge::compare::trust::{Known, KnownCase};
use judge::compare::{Class, Matching, Question, Settings, Side, compare, rank};
use std::time::{Duration, Instant};

const LIBRARIES: usize = 30;
const PROCESSES: usize = 12;
const SIZES: [usize; 5] = [16, 256, 1024, 8192, 16384];
const MONTH: i64 = 2_592_000;

/// Twenty-five that the program knows, so that questions of a class take them.
fn algorithms() -> Vec<&'static str> {
    let all = base::model::Algorithm::all().iter().filter(|a| a.encrypts());
    all.map(|a| a.name).take(25).collect()
}

/// xorshift64: the same numbers at every run.
struct Random(u64);

impl Random {
    fn part(&mut self) -> f64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        (self.0 >> 11) as f64 / (1u64 << 53) as f64
    }
}

/// A third of the libraries has a release after three runs, each after seven.
fn library(l: usize, run: usize) -> LibraryId {
    let version = if run < 3 + l % 3 {
        1
    } else if run < 7 {
        2
    } else {
        3
    };
    LibraryId {
        name: format!("lib{l:02}"),
        version: format!("{version}.0"),
        path: format!("/usr/lib/lib{l:02}.so.{version}"),
        id: format!("build-id:{l:04x}{version:04x}"),
    }
}

fn made(machine: usize, run: usize, random: &mut Random) -> Record {
    let text = include_str!("../tests/sample.json");
    let mut record = ciphermark_record::from_json(text, "sample.json").unwrap();
    record.host.cpu.name = format!("CPU {}", machine % 12);
    record.host.cpu.cpus_online = 8;
    record.host.clock.ticks_per_second = 2e9;
    record.started =
        jiff::Timestamp::from_second(1_735_689_600 + run as i64 * MONTH + machine as i64 * 60)
            .unwrap()
            .to_string();
    record.plan.seed = (run * 1000 + machine) as u64;
    let counted = record.executed[0].clone();
    (record.executed, record.leaks) = (Vec::new(), Vec::new());
    record.measurements.clear();
    // What makes a machine another one: the same at every run.
    let mut own = Random(0x9e37_79b9 * (machine as u64 + 1));
    for (a, algorithm) in algorithms().into_iter().enumerate() {
        executed(&mut record.executed, algorithm, run, &counted);
        for size in SIZES {
            for direction in [Direction::Encrypt, Direction::Decrypt] {
                for tier in [Tier::Native, Tier::Aesni] {
                    for l in 0..LIBRARIES {
                        let library = library(l, run);
                        // A few become slower by 2 % with a release.
                        let release =
                            library.version.trim_end_matches(".0").parse::<f64>().unwrap() - 1.0;
                        let slower = if (a * 7 + l * 13) % 11 == 0 { 0.02 * release } else { 0.0 };
                        let cycles = (300.0 + size as f64 * (1.0 + a as f64 / 5.0))
                            * (1.0 + l as f64 / 10.0)
                            * (0.6 + 0.8 * own.part())
                            * (1.0 + slower);
                        let case = Measurement {
                            size,
                            direction,
                            tier,
                            ..Measurement::blank(library, algorithm, State::Measured)
                        };
                        record.measurements.push(with_costs(case, cycles, random));
                    }
                }
            }
        }
    }
    record
}

/// What every library executes of an algorithm: two sizes are counted, the others are too long to be.
fn executed(all: &mut Vec<Executed>, algorithm: &str, run: usize, sample: &Executed) {
    for l in 0..LIBRARIES {
        for direction in [Direction::Encrypt, Direction::Decrypt] {
            for tier in [Tier::Native, Tier::Aesni] {
                let sizes = [(16, 341 + l as u64), (256, 701 + l as u64)];
                let uncounted = [1024, 8192, 16384].map(|size| UncountedSize {
                    size,
                    reason: format!("about {} instructions: too many", 341 + size * 3 / 2),
                });
                all.push(Executed {
                    library: library(l, run),
                    algorithm: algorithm.to_owned(),
                    direction,
                    tier,
                    per_byte: Some(1.5),
                    per_message: Some(341.0),
                    sizes: sizes
                        .map(|(size, instructions)| ExecutedSize { size, instructions })
                        .to_vec(),
                    uncounted: uncounted.to_vec(),
                    ..sample.clone()
                });
            }
        }
    }
}

/// What later records would be judged by, as large as a measured record's.
fn known(record: &Record, random: &mut Random) -> String {
    let mut hash = || (random.part() * (1u64 << 53) as f64) as u64;
    let mut known = Known { started: record.started.clone(), ..Known::default() };
    for m in &record.measurements {
        let cycles = m.cycles_per_op.map(|c| c.median.round());
        known.cases.insert(hash(), KnownCase { samples: Some(hash()), cycles });
    }
    let counts = record.executed.iter().flat_map(|e| &e.sizes).map(|s| s.instructions);
    known.instructions.extend(counts.map(|count| (hash(), count)));
    serde_json::to_string(&known).unwrap()
}

fn with_costs(case: Measurement, cycles: f64, random: &mut Random) -> Measurement {
    let costs: Vec<f64> =
        (0..PROCESSES).map(|_| cycles * (1.0 + (random.part() - 0.5) * 0.004)).collect();
    let estimate = |of: f64| Some(Estimate { median: of, low: of * 0.998, high: of * 1.002 });
    let ns = costs.iter().map(|c| c / 3.7).collect();
    Measurement {
        ns_per_op: estimate(cycles / 3.7),
        cycles_per_op: estimate(cycles),
        mb_per_s: Some(case.size as f64 / (cycles / 3.7) * 1e3),
        instructions_per_byte: Some(1.5),
        instructions_per_message: Some(341.0),
        limit_fraction: Some(0.8),
        costs: Some(ProcessCosts { cycles: costs, ns }),
        ..case
    }
}

fn fill(archive: &mut Archive, machines: usize, runs: usize) {
    let mut random = Random(1);
    let (mut rows, mut spent, mut busy) = (0, Duration::ZERO, Duration::ZERO);
    for run in 0..runs {
        for machine in 0..machines {
            let record = made(machine, run, &mut random);
            let known = known(&record, &mut random);
            let sha256 = format!("{:064x}", run * machines + machine + 1);
            let entry = Entry {
                record: &record,
                packed: sha256.as_bytes(),
                sha256: &sha256,
                samples: Some(&sha256),
                machine: &format!("type-{machine:04}"),
                region: None,
                trust: Trust::Own,
                signer: None,
                doubts: &[],
                known: Some(&known),
                added: 0,
            };
            let (begun, cpu) = (Instant::now(), cpu_time());
            archive.add(&entry).unwrap();
            (spent, busy) = (spent + begun.elapsed(), busy + cpu_time() - cpu);
            rows += record.measurements.len();
        }
        let rate = |time: Duration| rows as f64 / time.as_secs_f64();
        let (wall, cpu) = (rate(spent), rate(busy));
        println!(
            "add      {rows:>11} rows {wall:>8.0} rows/s, {cpu:.0} for each second of this program's CPU time"
        );
    }
}

/// What this program, without a server, took of the CPUs: on a machine that others use it says more than the clock.
fn cpu_time() -> Duration {
    let of = rustix::time::clock_gettime(rustix::time::ClockId::ProcessCPUTime);
    Duration::new(of.tv_sec as u64, of.tv_nsec as u32)
}

/// The median of some calls; the first, which fills caches, is told as well.
fn timed(what: &str, mut call: impl FnMut() -> String) {
    let mut times = Vec::new();
    let mut said = String::new();
    for _ in 0..6 {
        let (begun, cpu) = (Instant::now(), cpu_time());
        said = call();
        let ms = |time: Duration| time.as_secs_f64() * 1e3;
        times.push((ms(begun.elapsed()), ms(cpu_time() - cpu)));
    }
    let first = times.remove(0).0;
    times.sort_by(|a, b| a.0.total_cmp(&b.0));
    let (wall, cpu) = times[2];
    println!(
        "{what:<8} {wall:>8.1} ms, {cpu:.1} of CPU time, the first time {first:.1} ms: {said}"
    );
}

fn trend(archive: &mut Archive, machine: &str) -> String {
    let of = Selection {
        machine: Some(base::model::NameGlob::parse(machine).unwrap()),
        ..Selection::default()
    };
    let runs = archive.list(&of, false).unwrap();
    let case = |m: &Measurement| {
        (m.algorithm.as_str(), m.size, m.direction, m.tier)
            == (algorithms()[7], 16384, Direction::Encrypt, Tier::Native)
    };
    let chosen = archive.choose(Some(&case), Some(&|l| l.name == "lib03")).unwrap();
    let records: Vec<Record> = runs.iter().map(|r| archive.load(r, &chosen).unwrap()).collect();
    let changes = records.windows(2).filter(|pair| {
        let found = compared(&pair[0], &pair[1], |_| true, |_| true, Matching::ByName);
        found.tally.slower + found.tally.faster > 0
    });
    format!("{} runs, {} changes", records.len(), changes.count())
}

fn compared(
    base: &Record,
    new: &Record,
    of_base: impl Fn(&Measurement) -> bool,
    of_new: impl Fn(&Measurement) -> bool,
    matching: Matching,
) -> judge::compare::Comparison {
    let base = Side {
        record: base,
        name: String::new(),
        rows: base.measurements.iter().filter(|m| of_base(m)).collect(),
    };
    let new = Side {
        record: new,
        name: String::new(),
        rows: new.measurements.iter().filter(|m| of_new(m)).collect(),
    };
    compare(
        &base,
        &new,
        &Settings { tolerance: 0.005, matching, apart: judge::compare::Apart::Nothing },
    )
}

fn newest(archive: &mut Archive, of: &Selection) -> Vec<Listed> {
    let all = archive.list(of, false).unwrap();
    all.chunk_by(|a, b| a.machine == b.machine).filter_map(|runs| runs.last().cloned()).collect()
}

fn best(archive: &mut Archive) -> String {
    let question = Question {
        class: Some(Class::Authenticated),
        size: Some(16384),
        direction: Some(Direction::Encrypt),
        tier: Some(Tier::Native),
        ..Question::default()
    };
    let chosen = archive.choose(Some(&|m: &Measurement| question.may_take(m)), None).unwrap();
    let runs = newest(archive, &Selection::default());
    let mut contenders = 0;
    for run in &runs {
        let record = archive.load(run, &chosen).unwrap();
        contenders += rank(&record, &question, 1).unwrap().standings[0].contenders;
    }
    format!("{} machines, {contenders} contenders", runs.len())
}

/// The newest run of each machine that has the one release against the newest that has the other.
fn releases(archive: &mut Archive) -> String {
    let (mut machines, mut cases, mut slower) = (0, 0, 0);
    let of = |version: &str| -> Selection { format!("library=lib03@{version}").parse().unwrap() };
    let (old, new) = (of("2.0"), of("3.0"));
    let chosen_old = archive.choose(None, Some(&|l| old.takes_library(l))).unwrap();
    let chosen_new = archive.choose(None, Some(&|l| new.takes_library(l))).unwrap();
    let pairs = newest(archive, &old).into_iter().zip(newest(archive, &new));
    for (old, new) in pairs.collect::<Vec<_>>() {
        let (old, new) =
            (archive.load(&old, &chosen_old).unwrap(), archive.load(&new, &chosen_new).unwrap());
        let found = compared(&old, &new, |_| true, |_| true, Matching::Every);
        machines += 1;
        cases += found.cases.len();
        slower += found.tally.slower;
    }
    format!("{machines} machines, {cases} cases, {slower} slower")
}

fn main() {
    let arguments: Vec<String> = std::env::args().collect();
    let [_, store, machines, runs] = &arguments[..] else {
        panic!("usage: scale STORE MACHINES RUNS")
    };
    let mut archive = Archive::open(store, true).unwrap();
    if archive.list(&Selection::default(), true).unwrap().is_empty() {
        fill(&mut archive, machines.parse().unwrap(), runs.parse().unwrap());
    }
    archive.hold().unwrap();
    timed("trend", || trend(&mut archive, "type-0017"));
    timed("best", || best(&mut archive));
    timed("compare", || releases(&mut archive));
}
