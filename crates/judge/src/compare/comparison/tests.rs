use super::{Condition, Settings, Side, compare, *};
use crate::compare::Change;
use crate::sample::{case, executed, library, record, without_number};
use base::model::{Direction, RawSample};
use record::Record;

const STEADY: [f64; 6] = [1000.0, 1001.0, 1002.0, 999.0, 998.0, 1000.0];
const SETTINGS: Settings = Settings::of(Matching::ByName);

fn scaled(factor: f64) -> Vec<f64> {
    STEADY.iter().map(|c| c * factor).collect()
}

fn side(record: &Record) -> Side<'_> {
    Side { record, name: record.started.clone(), rows: record.measurements.iter().collect() }
}

fn part(record: &Record, has: impl Fn(&Measurement) -> bool) -> Side<'_> {
    Side { rows: record.measurements.iter().filter(|m| has(m)).collect(), ..side(record) }
}

fn gcm(factor: f64) -> Measurement {
    case("aes-128-gcm", 16, &scaled(factor))
}

fn compared(base: Vec<Measurement>, new: Vec<Measurement>) -> Comparison {
    let (base, mut new) = (record("a", base), record("b", new));
    // Another build.
    new.measurements.iter_mut().for_each(|m| m.library.id += "1");
    compare(&side(&base), &side(&new), &SETTINGS)
}

fn finds(comparison: &Comparison, condition: &str) -> Option<String> {
    condition.parse::<Condition>().unwrap().find(comparison).map(|found| found.what)
}

#[test]
fn a_record_against_itself_is_the_same_however_wide_its_intervals_and_says_why() {
    let wide = [500.0, 2000.0, 800.0, 1700.0, 400.0, 2500.0];
    let one = record("a", vec![case("aes-128-gcm", 16, &wide), case("aes-128-ctr", 16, &STEADY)]);
    let c = compare(&side(&one), &side(&one), &SETTINGS);
    assert_eq!((c.tally.same, c.tally.identical, c.tally.cases()), (2, 2, 2));
    assert!(c.warnings[0].contains("the very same samples"), "{:?}", c.warnings);
    assert_eq!(c.overall[0].ratio.unwrap(), Ratio::exact(1.0));
    for condition in ["slower", "mean", "refused", "missing", "undecided"] {
        assert_eq!(finds(&c, condition), None, "{condition}");
    }
}

#[test]
fn verdicts_are_about_the_new_side() {
    let names = ["aes-128-cbc", "aes-128-ccm", "aes-128-ctr"];
    let base = names.map(|a| case(a, 16, &STEADY)).to_vec();
    let new = [1.0001, 1.1, 0.9].iter().zip(names).map(|(f, a)| case(a, 16, &scaled(*f)));
    let c = compared(base, new.collect());
    let verdicts: Vec<&str> = c.cases.iter().map(|case| case.verdict.name()).collect();
    assert_eq!(verdicts, ["same", "slower", "faster"]);
    assert!(!c.cases[0].identical);
    assert_eq!(finds(&c, "slower").unwrap(), "slower: 1 case");
    assert_eq!(finds(&c, "slower:5%").unwrap(), "slower: 1 case");
    assert_eq!(finds(&c, "slower:12%"), None);
    assert_eq!(finds(&c, "mean"), None, "0.1 % faster on average");
    assert_eq!(c.families.len(), 3);
}

#[test]
fn what_leaves_a_case_undecided_says_why() {
    let wide = [500.0, 2000.0, 800.0, 1700.0, 400.0, 2500.0];
    let wider = wide.map(|cost| cost * 1.1);
    let (base, faster) = (gcm(1.0), gcm(0.5));
    let busy = Measurement { contended: true, ..faster.clone() };
    let without = |m: &Measurement| Measurement { raw: record::Samples::default(), ..m.clone() };
    for (base, new, reason) in [
        (case("aes-128-gcm", 16, &wide), case("aes-128-gcm", 16, &wider), ""),
        (base.clone(), busy, "only a busy core"),
        (without(&base), without(&faster), "has no raw samples"),
    ] {
        let c = compared(vec![base], vec![new]);
        let (verdict, why) = (c.cases[0].verdict, c.cases[0].reason.clone().unwrap_or_default());
        assert_eq!(verdict, Verdict::Undecided, "{reason}");
        assert!(why.contains(reason), "{reason}: {why}");
        assert_eq!(finds(&c, "undecided").unwrap(), "undecided: 1 case", "{reason}");
    }
}

#[test]
fn what_there_was_no_time_for_on_one_side_is_missing_there_and_not_broken() {
    let good = gcm(1.0);
    let mut late = without_number(good.clone(), State::Failed, "2 samples in the time budget");
    late.stopped = Some(record::Stopped::Budget);
    let c = compared(vec![good.clone()], vec![late.clone()]);
    assert!(c.states.is_empty() && finds(&c, "refused").is_none());
    assert_eq!(c.only[0].reason, "not measured in the time of the other side");
    assert!(compared(vec![late.clone()], vec![late.clone()]).states.is_empty());
    let bad = without_number(good, State::Refused, "tamper: accepted a changed tag");
    for (base, new) in [(&bad, &late), (&late, &bad)] {
        let c = compared(vec![base.clone()], vec![new.clone()]);
        assert_eq!(c.states[0].reason, bad.reason, "what was found is told");
        assert!(c.states[0].change.words().contains("not measured"), "{:?}", c.states[0].change);
    }
}

#[test]
fn two_equal_figures_from_elsewhere_are_not_the_very_same_samples() {
    let mut figure = gcm(1.0);
    (figure.state, figure.costs, figure.raw) = (State::Imported, None, Default::default());
    let c = compared(vec![figure.clone()], vec![figure]);
    assert_eq!((c.tally.identical, c.tally.undecided, c.overall[0].ratios), (0, 1, 0));
}

#[test]
fn what_was_measured_and_is_refused_now_is_a_failure_with_its_reason() {
    let good = gcm(1.0);
    let bad = without_number(good.clone(), State::Refused, "tamper: accepted a changed tag");
    let c = compared(vec![good.clone()], vec![bad.clone()]);
    assert_eq!(c.states[0].change, Change::Broken);
    assert_eq!(c.states[0].reason.as_deref(), Some("tamper: accepted a changed tag"));
    assert_eq!(finds(&c, "refused").unwrap(), "measured before and refused or failed now: 1 case");
    assert!(c.cases.is_empty() && c.overall.is_empty());
    let mended = compared(vec![bad], vec![good]);
    assert_eq!(mended.states[0].change, Change::Mended);
    assert_eq!(finds(&mended, "refused"), None);
}

#[test]
fn what_is_on_one_side_only_is_listed_with_the_reason() {
    let row = |a: &str| case(a, 16, &STEADY);
    let mut stranger = row("aes-128-gcm");
    stranger.library = library("other", "2", "x");
    let unsupported = without_number(row("aes-128-ccm"), State::Unsupported, "not offered");
    let base = vec![row("aes-128-gcm"), row("aes-128-ctr"), row("aes-128-ccm")];
    let c = compared(base, vec![row("aes-128-gcm"), unsupported, stranger]);
    let only: Vec<(Which, &str, &str)> =
        c.only.iter().map(|o| (o.only_in, o.case.algorithm.as_str(), o.reason)).collect();
    assert_eq!(
        only,
        [
            (Which::Base, "aes-128-ccm", "not offered on the other side"),
            (Which::Base, "aes-128-ctr", "not asked for on the other side"),
            (Which::New, "aes-128-gcm", "no such library on the other side"),
        ]
    );
    assert_eq!(finds(&c, "missing").unwrap(), "measured before and not there now: 2 cases");
}

#[test]
fn another_definition_of_the_model_is_another_case() {
    let mut new = gcm(2.0);
    new.model_version = 2;
    let c = compared(vec![gcm(1.0)], vec![new]);
    assert!(c.cases.is_empty());
    assert_eq!(c.only.len(), 2);
    assert!(c.only[0].reason.contains("defined otherwise"));
}

#[test]
fn the_same_core_is_compared_in_cycles_and_another_one_in_time() {
    let (mut base, mut new) = (record("a", vec![gcm(1.0)]), record("b", Vec::new()));
    // Twice the cycles on a clock of twice the rate.
    new.measurements = vec![gcm(2.0)];
    new.host.clock.ticks_per_second = 2e9;
    let c = compare(&side(&base), &side(&new), &SETTINGS);
    assert_eq!((c.unit, c.cases[0].verdict), (Unit::Cycles, Verdict::Slower));
    new.host.cpu.name = "Another CPU".to_owned();
    let c = compare(&side(&base), &side(&new), &SETTINGS);
    assert_eq!((c.unit, c.cases[0].verdict), (Unit::Nanoseconds, Verdict::Same));
    assert!(c.warnings[0].ends_with("so it is the processor that is compared"), "{:?}", c.warnings);
    assert!(c.warnings[1].starts_with("the processors differ"), "{:?}", c.warnings);
    let circumstance = record::Circumstance {
        name: "OPENSSL_ia32cap".into(),
        value: Some("~0x2".into()),
        ..record::Circumstance::default()
    };
    base.host.circumstances.push(circumstance);
    base.tool.version = "0.0.9".to_owned();
    base.format_version = "1.0".to_owned();
    let warnings = compare(&side(&base), &side(&new), &SETTINGS).warnings.join("\n");
    assert!(warnings.contains("ciphermark's version differs: 0.0.9 and 0.1.0"), "{warnings}");
    assert!(warnings.contains("the record's format differs: 1.0 and 1."), "{warnings}");
    let decides = "OPENSSL_ia32cap decides which code runs, and differs: ~0x2 and not set";
    assert!(warnings.contains(decides), "{warnings}");
}

#[test]
fn what_one_build_differs_by_between_two_runs_fails_no_gate_unless_the_machine_is_another() {
    let (base, mut new) = (record("a", vec![gcm(1.0)]), record("b", vec![gcm(1.1)]));
    let of = |new: &Record| compare(&side(&base), &side(new), &SETTINGS);
    let c = of(&new);
    assert_eq!((c.tally.slower, c.is_runs_own(&c.cases[0])), (1, true));
    assert!(c.warnings[0].ends_with("so differences are the runs' own"), "{:?}", c.warnings);
    assert_eq!((finds(&c, "slower"), finds(&c, "mean")), (None, None));
    new.host.kernel.release = "6.99".to_owned();
    let c = of(&new);
    assert!(c.warnings[0].ends_with("so it is the kernel that is compared"), "{:?}", c.warnings);
    assert!(finds(&c, "slower").is_some() && finds(&c, "mean").is_some());
}

#[test]
fn fewer_cycles_in_more_time_are_neither_faster_nor_slower_unless_the_whole_run_had_another_clock()
{
    let at = |name: &str, cycles: f64, clock: f64| {
        let mut m = case(name, 16, &scaled(cycles));
        m.ns_per_op = m.ns_per_op.map(|ns| {
            let [median, low, high] = [ns.median, ns.low, ns.high].map(|ns| ns / clock);
            Estimate { median, low, high }
        });
        m
    };
    let names = ["aes-128-cbc", "aes-128-ccm", "aes-128-ctr"];
    let base = || names.map(|name| at(name, 1.0, 1.0)).to_vec();
    let new = vec![at(names[0], 0.9, 0.7), at(names[1], 0.9, 1.0), at(names[2], 0.9, 1.0)];
    let c = compared(base(), new);
    let found: Vec<_> = c.cases.iter().map(|c| (c.verdict, c.clock_decides)).collect();
    let faster = (Verdict::Faster, false);
    assert_eq!(found, [(Verdict::Undecided, true), faster, faster]);
    assert_eq!(c.cases[0].reason.as_deref(), Some(FEWER_AND_LONGER));
    assert!(!c.candidates().contains(&0), "pairs count cycles, too");
    assert!(c.warnings[0].starts_with("1 case undecided: fewer cycles"), "{:?}", c.warnings);
    let c = compared(base(), names.map(|name| at(name, 0.9, 0.7)).to_vec());
    assert_eq!(c.tally.faster, 3);
}

/// Two runs of AES-128-GCM at these sizes, with what each of them counted.
fn counted(sizes: &[usize], [base, new]: [&record::Executed; 2]) -> Comparison {
    let cases = || sizes.iter().map(|size| case("aes-128-gcm", *size, &STEADY)).collect();
    let of = |name: &str, executed: &record::Executed| Record {
        executed: vec![executed.clone()],
        ..record(name, cases())
    };
    let (base, new) = (of("a", base), of("b", new));
    compare(&side(&base), &side(&new), &SETTINGS)
}

#[test]
fn instructions_are_compared_exactly() {
    let base = executed(&gcm(1.0), 2.0, 400.0);
    let c = counted(&[16], [&base; 2]);
    assert!(c.instructions[0].is_equal());
    assert_eq!(finds(&c, "instructions"), None);
    let c = counted(&[16], [&base, &executed(&gcm(1.0), 2.008, 404.0)]);
    assert_eq!(finds(&c, "instructions").unwrap(), "instructions grew in 1 case, by up to 1.00 %");
    assert_eq!(finds(&c, "instructions-per-byte:0.5%"), None);
    assert!(finds(&c, "instructions-per-message:0.5%").is_some());
}

#[test]
fn what_was_counted_in_the_base_and_is_not_now_fails_a_gate_of_instructions() {
    let base = executed(&gcm(1.0), 2.0, 400.0);
    let none = Vec::new();
    let (per_byte, per_message, source) = (None, None, None);
    let lost = record::Executed { per_byte, per_message, source, sizes: none, ..base.clone() };
    let c = counted(&[16], [&base, &lost]);
    assert!(!c.instructions[0].is_equal() && !c.instructions[0].uncounted.is_empty());
    let found = finds(&c, "instructions:0.5%").unwrap();
    assert_eq!(found, "counted in the base and not now: 1 case");
    let neither = counted(&[16], [&lost; 2]);
    assert!(neither.instructions.is_empty() && finds(&neither, "instructions").is_none());
}

/// Counts of whole operations beside equal counts per byte and per message.
fn counts(sizes: &[(usize, u64)]) -> record::Executed {
    let of = |&(size, instructions): &(usize, u64)| record::ExecutedSize { size, instructions };
    let sizes = sizes.iter().map(of).collect();
    record::Executed { sizes, ..executed(&gcm(1.0), 4.0, 50.0) }
}

#[test]
fn instructions_of_a_measured_size_are_compared_where_the_slope_of_small_ones_shows_nothing() {
    let base = counts(&[(64, 306), (4096, 16_434), (8192, 32_818)]);
    // 4096 was counted and grew, but nobody measured it.
    let new = counts(&[(64, 306), (4096, 20_000), (8192, 33_803)]);
    let c = counted(&[64, 8192], [&base, &new]);
    let row = &c.instructions[0];
    assert_eq!(row.sizes.iter().map(|s| s.size).collect::<Vec<_>>(), [64, 8192]);
    assert_eq!(row.worst_size().unwrap().size, 8192);
    assert!(!row.is_equal() && row.per_byte_growth == Some(0.0));
    let grew = "instructions grew in 1 case, by up to 3.00 %";
    assert_eq!(finds(&c, "instructions:2.9%").unwrap(), grew);
    assert_eq!(finds(&c, "instructions:3.1%"), None);
    assert!(finds(&c, "instructions-per-operation:2.9%").is_some());
    assert_eq!(finds(&c, "instructions-per-byte"), None);
    let equal = counted(&[64, 8192], [&base; 2]);
    assert!(equal.instructions[0].is_equal());
    assert_eq!(finds(&equal, "instructions"), None);
}

#[test]
fn a_measured_size_that_a_side_did_not_count_is_named_and_not_extrapolated() {
    let mut base = counts(&[(64, 306)]);
    let unknown = counted(&[64, 8192], [&base; 2]).instructions[0].uncounted.clone();
    assert_eq!((unknown[0].size, &*unknown[0].reason), (8192, "not counted"));
    base.uncounted = vec![record::UncountedSize { size: 8192, reason: "too long".to_owned() }];
    let c = counted(&[64, 8192], [&base, &counts(&[(64, 306), (8192, 90_000)])]);
    assert_eq!(c.instructions[0].sizes.len(), 1);
    assert_eq!(c.instructions[0].uncounted[0].reason, "base: too long");
    assert_eq!(finds(&c, "instructions"), None);
}

#[test]
fn tiers_of_one_record_are_sides_too() {
    let mut slow = gcm(10.0);
    slow.tier = Tier::Noaes;
    let one = record("a", vec![gcm(1.0), slow]);
    let of = |tier| part(&one, move |m| m.tier == tier);
    let settings = Settings { apart: Apart::Tier, ..SETTINGS };
    let c = compare(&of(Tier::Noaes), &of(Tier::Native), &settings);
    assert_eq!(c.cases[0].verdict, Verdict::Faster);
    assert_eq!((c.cases[0].base.tier, c.cases[0].case.tier), (Some(Tier::Noaes), Tier::Native));
    let mut old = gcm(9.0);
    old.tier = Tier::Core2;
    let c = compared(vec![old.clone()], vec![old]);
    let said = |w: &String| w.starts_with("tier core2, an emulated feature set");
    assert!(c.warnings.iter().any(said), "{:?}", c.warnings);
}

#[test]
fn algorithms_belong_together_by_what_the_star_stands_for() {
    let rows = [("128-gcm", 1.0), ("256-gcm", 1.16), ("128-ctr", 1.0), ("256-ctr", 1.4)];
    let rows = rows.iter().chain(&[("128-ccm", 1.0)]);
    let of = |(name, factor): &(&str, f64)| case(&format!("aes-{name}"), 4096, &scaled(*factor));
    let one = record("a", rows.map(of).collect());
    let side = |prefix: &'static str| part(&one, move |m| m.algorithm.starts_with(prefix));
    let glob = |text| crate::compare::Part::of(text).unwrap();
    let apart = Apart::Algorithm { base: glob("aes-128-*"), new: glob("aes-256-*") };
    let c = compare(&side("aes-128"), &side("aes-256"), &Settings { apart, ..SETTINGS });
    let told: Vec<_> = c
        .cases
        .iter()
        .map(|c| (c.base.algorithm.as_deref(), &*c.case.algorithm, c.verdict))
        .collect();
    assert_eq!(
        told,
        [
            (Some("aes-128-ctr"), "aes-256-ctr", Verdict::Slower),
            (Some("aes-128-gcm"), "aes-256-gcm", Verdict::Slower)
        ]
    );
    let ratio = c.cases[1].ratio.unwrap();
    assert!((ratio.estimate - 1.16).abs() < 0.001 && ratio.low < 1.16 && ratio.high > 1.16);
    assert_eq!((c.only.len(), &*c.only[0].case.algorithm), (1, "aes-128-ccm"));
}

#[test]
fn sizes_are_compared_by_what_a_byte_costs() {
    // Twice the bytes in 1.8 times the time.
    let [whole, twice] =
        [(4096, 1.0), (8192, 1.8)].map(|(size, by)| case("aes-128-gcm", size, &scaled(by)));
    let one = record("a", vec![whole, twice]);
    let of = |size| part(&one, move |m| m.size == size);
    let c = compare(&of(4096), &of(8192), &Settings { apart: Apart::Size, ..SETTINGS });
    let case = &c.cases[0];
    assert_eq!((case.base.size, case.case.size, case.verdict), (Some(4096), 8192, Verdict::Faster));
    assert!((case.ratio.unwrap().estimate - 0.9).abs() < 0.001, "{:?}", case.ratio);
    assert!(c.instructions.is_empty() && c.leaks.is_empty());
}

#[test]
fn one_library_is_held_against_each_of_the_others() {
    let row = |name: &str, factor: f64| {
        let mut m = gcm(factor);
        m.library = library(name, "1", name);
        m
    };
    let one = record("a", vec![row("a", 1.0), row("b", 2.0), row("c", 0.5)]);
    let of = |names: &'static [&str]| part(&one, |m| names.contains(&&*m.library.name));
    let settings = Settings { matching: Matching::Every, ..SETTINGS };
    let c = compare(&of(&["a"]), &of(&["a", "b", "c"]), &settings);
    let verdicts: Vec<(&str, &str)> =
        c.cases.iter().map(|c| (c.new_library.name.as_str(), c.verdict.name())).collect();
    assert_eq!(verdicts, [("b", "slower"), ("c", "faster")]);
    assert_eq!(c.overall.len(), 2, "each has its own mean");
    assert_eq!(c.only, [], "the one lacks nothing in its own run");
    // Of another run it is held against itself, too.
    let later = Record { started: "b".to_owned(), ..one.clone() };
    let new = Side { record: &later, rows: later.measurements.iter().collect(), ..side(&later) };
    let c = compare(&of(&["a"]), &new, &settings);
    assert_eq!(c.cases.len(), 3);
    assert_eq!(c.cases[0].case.direction, Direction::Encrypt);
}

#[test]
fn cycles_that_follow_the_clock_while_the_time_stays_are_no_ground_for_a_verdict() {
    // Processes at one of two clocks, each operation in the same time.
    let at = |fast: usize, slower: f64| {
        let mut m = case("aes-128-gcm", 16, &[1000.0 * slower; 12]);
        let mut raw = record::Samples::default();
        for (sample, counts) in m.raw.iter() {
            let clock = if (sample.process as usize) < fast { 2.6 } else { 2.0 };
            raw.push(&RawSample { clock_before: clock, clock_after: clock, ..sample }, counts);
        }
        m.raw = raw;
        m
    };
    let verdict = |base, new| {
        let c = compared(vec![base], vec![new]);
        (c.cases[0].verdict, c.cases[0].reason.clone().unwrap_or_default())
    };
    let (said, why) = verdict(at(10, 1.0), at(2, 1.0));
    assert!(
        said == Verdict::Undecided && why.contains("follow the core's clock"),
        "{said:?} {why}"
    );
    assert_eq!(verdict(at(0, 1.0), at(0, 1.1)), (Verdict::Slower, String::new()));
}

#[test]
fn a_sure_difference_that_equal_builds_may_have_from_run_to_run_is_undecided() {
    let of = |by: f64| compared(vec![gcm(1.0)], vec![gcm(by)]).cases[0].verdict;
    assert_eq!((of(1.01), of(1.03)), (Verdict::Undecided, Verdict::Slower));
    assert_eq!((of(0.99), of(0.97)), (Verdict::Undecided, Verdict::Faster));
}

/// A record of one library, whose other files have these contents; none for a record from before that was kept.
fn of_build(started: &str, id: &str, objects: Option<&[&str]>) -> Record {
    let mut one = gcm(1.0);
    one.library = library("mine", "1", id);
    one.library.path = "/lib/mine.so".to_owned();
    let file = |content: &&str| record::LoadedFile {
        path: "/lib/libcore.so".to_owned(),
        id: format!("sha256:{content}"),
    };
    let facts = record::Library {
        name: "mine".to_owned(),
        version: "1".to_owned(),
        path: one.library.path.clone(),
        id: id.to_owned(),
        objects: objects.map(|all| all.iter().map(file).collect()),
        ..record::Library::default()
    };
    Record { libraries: vec![facts], ..record(started, vec![one]) }
}

#[test]
fn what_a_library_loads_is_part_of_its_build_and_older_records_know_its_own_file_only() {
    let one = of_build("a", "build-id:00+1", Some(&["1"]));
    let swapped = of_build("b", "build-id:00+2", Some(&["2"]));
    let without = of_build("c", "build-id:00", Some(&[]));
    let older = of_build("d", "build-id:00", None);
    let other = of_build("e", "build-id:11", None);
    let same = |a: &Record, b: &Record| {
        a.has_same_build(&a.measurements[0].library, b, &b.measurements[0].library)
    };
    assert!(same(&one, &one) && !same(&one, &swapped) && !same(&one, &without));
    for known in [&one, &swapped, &without, &older] {
        assert!(same(known, &older) && same(&older, known) && !same(known, &other));
    }
    let warnings = |base, new| compare(&side(base), &side(new), &SETTINGS).warnings.join("\n");
    assert!(warnings(&one, &older).contains("the same build on both sides"));
    let said = warnings(&one, &swapped);
    assert!(
        said.contains("by the content of libcore.so") && !said.contains("the same build"),
        "{said}"
    );
}

#[test]
fn features_that_one_of_two_processors_of_a_kind_hides_are_no_librarys_doing() {
    let with = |started, features: &[&str]| {
        let mut of = record(started, vec![gcm(if started == "a" { 1.0 } else { 1.5 })]);
        of.host.cpu.features = features.iter().map(|f| (*f).to_owned()).collect();
        of
    };
    let whole = with("a", &["aes", "vaes", "tsc_known_freq"]);
    let hiding = with("b", &["aes", "gfni"]);
    let c = compare(&side(&whole), &side(&hiding), &SETTINGS);
    assert_eq!(c.differing, ["the CPU's features"]);
    let said = c.warnings.join("\n");
    assert!(said.contains("only in the base vaes; only in the new run gfni"), "{said}");
    assert!(c.cases[0].same_build && !c.is_runs_own(&c.cases[0]));
    // A clock's names, and records that say nothing of features.
    for like in [with("b", &["vaes", "aes"]), with("b", &[])] {
        let c = compare(&side(&whole), &side(&like), &SETTINGS);
        assert!(c.differing.is_empty() && c.is_runs_own(&c.cases[0]), "{:?}", c.differing);
    }
}

#[test]
fn what_whole_runs_add_holds_for_parts_of_them() {
    let twenty = |factor: f64, id: &str| -> Vec<Measurement> {
        (1..=24)
            .map(|n| {
                let mut m = case(
                    "aes-128-ctr",
                    n * 16,
                    &scaled(if n % 2 == 0 { factor } else { 1.0 / factor }),
                );
                m.library = library("same", "1", id);
                m
            })
            .collect()
    };
    let whole = |started, factor, own: f64| {
        let mut rows = twenty(factor, "same");
        rows.push(gcm(own));
        record(started, rows)
    };
    let (mut base, mut new) = (whole("a", 1.0, 1.0), whole("b", 1.08, 1.05));
    // Another build of the one that is judged.
    let id =
        |r: &mut Record, id: &str| r.measurements.last_mut().unwrap().library.id = id.to_owned();
    id(&mut base, "build-id:01");
    id(&mut new, "build-id:02");
    let part = |r: &Record| record(&r.started, r.measurements[24..].to_vec());
    let (of_base, of_new) = (part(&base), part(&new));
    let settings = Settings::of(Matching::Every);
    let verdict = |effect| {
        let c = compare_with(&side(&of_base), &side(&of_new), &settings, effect);
        c.cases[0].verdict
    };
    assert_eq!(verdict(None), Verdict::Slower, "a part does not show what the run adds");
    assert_eq!(verdict(Some(RunEffect::of(&base, &new))), Verdict::Undecided);
}

#[test]
fn figures_of_several_machines_are_not_compared_without_a_word() {
    let from = |machine: Option<&str>| {
        let mut figure = gcm(1.0);
        (figure.state, figure.costs, figure.raw) = (State::Imported, None, Default::default());
        figure.imported = Some(record::Imported {
            source: "a page".to_owned(),
            machine: machine.map(str::to_owned),
        });
        figure
    };
    let said = |base, new| compared(vec![base], vec![new]).warnings.join("\n");
    let several = said(from(Some("x")), from(Some("y")));
    assert!(several.contains("figures of several machines are compared: x; y"), "{several}");
    assert!(said(gcm(1.0), from(Some("y"))).contains("several machines"));
    for one in [said(gcm(1.0), from(None)), said(from(Some("x")), from(Some("x")))] {
        assert!(!one.contains("several machines"), "{one}");
    }
}

/// As many processes as it takes to be sure of one case among several.
type Costs = [f64; 14];
const STEADY_COSTS: Costs = [
    1000.0, 1001.0, 1002.0, 999.0, 998.0, 1000.5, 1001.5, 999.5, 998.5, 1000.2, 1001.2, 999.2,
    1000.7, 999.7,
];
const WIDE: Costs = [
    500.0, 2000.0, 800.0, 1700.0, 400.0, 2500.0, 600.0, 1900.0, 900.0, 1600.0, 450.0, 2400.0,
    1000.0, 1100.0,
];

/// Each algorithm with the factor by which it changed, and how its processes scatter.
fn compared_at(cases: &[(&str, f64, Costs)]) -> Comparison {
    let of = |costs: &Costs, factor: f64| costs.map(|c| c * factor).to_vec();
    let base = cases.iter().map(|(a, _, costs)| case(a, 16, &of(costs, 1.0))).collect();
    let new = cases.iter().map(|(a, factor, costs)| case(a, 16, &of(costs, *factor))).collect();
    let (base, new) = (record("a", base), record("b", new));
    compare(&side(&base), &side(&new), &SETTINGS)
}

fn names(c: &Comparison) -> Vec<&str> {
    c.candidates().into_iter().map(|i| &*c.cases[i].case.algorithm).collect()
}

#[test]
fn candidates_are_what_could_be_wrong_with_what_would_fail_a_gate_first() {
    let c = compared_at(&[
        ("aes-128-cbc", 1.1, STEADY_COSTS),
        ("aes-128-ccm", 0.7, STEADY_COSTS),
        ("aes-128-cfb", 1.3, STEADY_COSTS),
        ("aes-128-ctr", 1.0001, STEADY_COSTS),
        ("aes-128-gcm", 1.2, WIDE),
        ("aes-128-ofb", 1.001, WIDE),
        ("aes-128-xts", 0.8, WIDE),
    ]);
    let order = ["aes-128-cfb", "aes-128-cbc", "aes-128-gcm", "aes-128-ccm", "aes-128-xts"];
    assert_eq!(names(&c), order);
    let same = compared_at(&[("aes-128-cbc", 1.0, STEADY_COSTS)]);
    assert!(same.cases[0].identical && same.candidates().is_empty());
}

#[test]
fn a_settled_case_has_the_verdict_of_pairs_and_an_undecided_one_keeps_its_own() {
    let mut c =
        compared_at(&[("aes-128-cbc", 1.1, STEADY_COSTS), ("aes-128-gcm", 1.2, STEADY_COSTS)]);
    // Of two builds.
    c.cases.iter_mut().for_each(|case| case.same_build = false);
    let before = c.cases[0].ratio;
    let by_pairs = Ratio { estimate: 1.0, low: 0.999, high: 1.001, level: 0.9995 };
    let told = Told { ratio: Some(by_pairs), pairs: 12, seconds: 1.0 };
    c.settle(0, Verdict::Same, told);
    c.settle(1, Verdict::Undecided, told);
    c.settle(7, Verdict::Faster, told);
    c.sum_up(Matching::ByName, Confirmation::default());
    let settled = &c.cases[0];
    let is_settled = |case: &Compared| case.by_pairs.as_ref().is_some_and(|p| p.is_settled());
    assert!(is_settled(settled) && !is_settled(&c.cases[1]));
    assert_eq!((settled.verdict, settled.ratio), (Verdict::Same, Some(by_pairs)));
    let kept = settled.by_pairs.as_ref().unwrap();
    assert_eq!((kept.verdict_before, kept.ratio_before), (Verdict::Slower, before));
    assert_eq!(c.cases[1].verdict, Verdict::Slower);
    assert!((c.cases[1].ratio.unwrap().estimate - 1.2).abs() < 1e-9);
    assert_eq!((c.tally.same, c.tally.slower), (1, 1));
    assert_eq!((c.overall[0].tally.same, c.overall[0].tally.slower), (1, 1));
    let slower = "slower".parse::<super::Condition>().unwrap().find(&c).unwrap();
    assert_eq!(slower.what, "slower: 1 case");
}

#[test]
fn reasons_for_cases_that_are_left_are_counted_each_once() {
    let mut confirmation = Confirmation::default();
    ["gone", "late", "gone"].iter().for_each(|reason| confirmation.leave(reason));
    assert_eq!(confirmation.left, 3);
    assert_eq!(confirmation.reasons, [("gone".to_owned(), 2), ("late".to_owned(), 1)]);
}

#[test]
fn conditions_are_read_as_they_are_written() {
    for text in ["slower", "slower:2%", "instructions:0.5%", "mean:1%", "refused", "never"] {
        assert_eq!(text.parse::<Condition>().unwrap().to_string(), text);
    }
    assert_eq!("slower:0.02".parse::<Condition>(), "slower:2%".parse());
    assert_eq!("instructions:0%".parse::<Condition>(), "instructions".parse());
}

#[test]
fn what_is_no_condition_is_told_what_there_is() {
    let error = |text: &str| text.parse::<Condition>().unwrap_err();
    assert!(error("slow").contains("'slow' is none of: slower[:PERCENT], mean"));
    assert!(error("slower:x").contains("'slower:x': write the percentage as in slower:2%"));
    assert!(error("slower:-1%").contains("slower:-1%"));
    assert_eq!(error("refused:2%"), "'refused' takes no percentage");
}
