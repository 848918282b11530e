//! Measurements held against the core's limits. What is faster than is proven to be possible is refused:
//! something other than the algorithm was timed. What is faster than the best method known to us gets a
//! remark.

use base::analysis::bound::{Basis, Core, Limit, Operation, Seen};
use base::model::{Algorithm, Model};
use record::{Executed, Library, Measurement, State};

/// How much faster than the limit a result may be, beside its own interval and the limit's
/// spread: the limit's instructions and the operation are timed by the same chain, whose readings
/// scatter by less than half a per cent.
const TOLERANCE: f64 = 0.02;

/// Fills in the limits of measured cases, and refuses what is faster than is proven of what it was seen to
/// execute. The libraries say how many messages are in flight.
pub(crate) fn hold(
    measurements: &mut [Measurement],
    core: &Core,
    executed: &[Executed],
    libraries: &[Library],
) {
    for m in measurements.iter_mut().filter(|m| m.state == State::Measured) {
        let counts = executed.iter().find(|e| e.is_of(m));
        let several = in_flight(m, libraries) > 1;
        match counts.and_then(|counts| never_executed(m, counts)) {
            Some(why) => withdraw(m, why),
            None => hold_one(m, core, counts.and_then(|e| e.seen(m.size)), several),
        }
    }
}

/// More instructions than any core executes in a cycle: the widest take ten.
const NO_CORE_DOES: f64 = 16.0;

/// Why what was timed cannot be what was stepped, where it would take more instructions a cycle than there are.
fn never_executed(m: &Measurement, counts: &Executed) -> Option<String> {
    let stepped = counts.sizes.iter().find(|s| s.size == m.size)?.instructions;
    let cycles = m.cycles_per_op?.high;
    (m.threads == 1 && stepped as f64 > NO_CORE_DOES * cycles).then(|| {
        format!(
            "an operation executed {stepped} instructions when it was stepped, and took {cycles:.1} cycles when it was timed: \
             something else was timed"
        )
    })
}

/// How many messages are in work at once where `m` was measured.
fn in_flight(m: &Measurement, libraries: &[Library]) -> u32 {
    let same = |l: &&Library| (&l.path, &l.id) == (&m.library.path, &m.library.id);
    let calls = libraries.iter().filter(same).flat_map(|l| &l.calls);
    let mut own = calls.filter(|c| c.algorithm == m.algorithm && c.direction == m.direction);
    own.find_map(|c| c.in_flight).unwrap_or(1)
}

fn hold_one(m: &mut Measurement, core: &Core, seen: Option<Seen>, several: bool) {
    // Threads share the outer caches, memory and, as siblings, a core.
    if m.threads != 1 {
        return;
    }
    let (Ok(algorithm), Some(cycles)) = (Algorithm::find(&m.algorithm), m.cycles_per_op) else {
        return;
    };
    let Measurement { direction, model, tier, size, footprint, .. } = *m;
    let in_place = m.in_place || model == Model::Stream;
    let operation =
        Operation { algorithm, direction, model, tier, size, footprint, in_place, several };
    let (cycles, interval) = (cycles.median, m.precision.unwrap_or(0.0));
    let beats = |limit: &Limit| {
        limit.cycles / cycles > (1.0 + TOLERANCE) * (1.0 + interval) * (1.0 + limit.spread)
    };
    let proven = base::analysis::bound::proven(core, &operation, seen);
    if let Some(limit) = proven.filter(beats) {
        let why = format!(
            "faster than this core can be: {cycles:.2} cycles an operation, and its limit is {:.2} ({}; {:.0} % of the limit)",
            limit.cycles,
            limit.by,
            limit.cycles / cycles * 100.0
        );
        return withdraw(m, why);
    }
    let Ok(limit) = base::analysis::bound::limit(core, &operation) else { return };
    let is_proven = proven.is_some_and(|p| p.cycles >= limit.cycles * WHOLE);
    let basis = if is_proven { Basis::Proven } else { Basis::KnownMethods };
    if basis == Basis::KnownMethods && beats(&limit) {
        m.remarks.push(format!(
            "{FASTER}: {size} B at {:.2} of the limit ({})",
            limit.cycles / cycles,
            limit.by
        ));
    }
    m.limit_fraction = Some(limit.cycles / cycles);
    m.limit_cycles_per_op = Some(limit.cycles);
    m.limited_by = Some(limit.by);
    m.limit_basis = Some(basis);
}

/// What a remark begins with.
const FASTER: &str = "faster than the best method known to us";

/// The part of a limit from which on what is proven of an implementation is as good as all of it: its counts
/// per byte come from two sizes, and leave out less than this.
const WHOLE: f64 = 0.98;

/// Takes the numbers out; the samples stay, for whoever wants to see.
fn withdraw(m: &mut Measurement, why: String) {
    m.state = State::Refused;
    m.reason = Some(why);
    m.ns_per_op = None;
    m.cycles_per_op = None;
    m.ns_per_byte = None;
    m.mb_per_s = None;
    m.cycles_per_byte = None;
    m.instructions_per_byte = None;
    m.instructions_per_message = None;
    m.per_thread.clear();
    m.key_setup = None;
    m.latency_ns = None;
    m.limit_fraction = None;
    m.limit_cycles_per_op = None;
    m.limited_by = None;
    m.limit_basis = None;
    m.precision = None;
    m.stopped = None;
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::analysis::bound::{Access, Bandwidth, Bound, Instruction, Level};
    use base::model::Direction;
    use record::{ClassCount, Estimate, ExecutedSize, LibraryId};

    /// A core that does two rounds a cycle at 128 bits and moves 32 bytes a cycle.
    fn core(spread: f64) -> Core {
        let aesenc = Instruction {
            name: "aesenc".into(),
            width_bits: 128,
            per_cycle: 2.0,
            latency_cycles: Some(4.0),
            spread,
            samples: 15,
        };
        let copy = Bandwidth {
            level: Level::L1,
            access: Access::Copy,
            by: "load+store-256".into(),
            buffer_bytes: 768,
            bytes_per_cycle: 32.0,
            gb_per_s: 100.0,
            spread: 0.0,
            samples: 15,
        };
        Core { instructions: vec![aesenc], bandwidths: vec![copy], ..Core::default() }
    }

    #[test]
    fn what_would_take_more_instructions_a_cycle_than_a_core_has_room_for_was_not_executed() {
        let mut m = measured("aes-128-ctr", 100.0);
        let at = |size, instructions| ExecutedSize { size, instructions };
        let sizes = vec![at(64, 90_000), at(m.size, 1600)];
        let mut counts = Executed { sizes, ..counts(&m, 0.0, 0.0) };
        assert_eq!(never_executed(&m, &counts), None, "one by one a message is possible");
        counts.sizes[1].instructions += 1;
        let why = never_executed(&m, &counts).unwrap();
        assert!(why.contains("1601 instructions") && why.contains("100.0 cycles"), "{why}");
        m.threads = 2;
        assert_eq!(never_executed(&m, &counts), None, "threads have a core each");
    }

    fn measured(algorithm: &str, cycles: f64) -> Measurement {
        let text = String::new;
        let library = LibraryId { name: text(), version: text(), path: text(), id: text() };
        Measurement {
            direction: Direction::of(Algorithm::find(algorithm).unwrap().kind)[0],
            size: 1024,
            ns_per_op: Some(Estimate { median: cycles / 3.0, low: 0.0, high: 0.0 }),
            cycles_per_op: Some(Estimate { median: cycles, low: cycles, high: cycles }),
            ns_per_byte: Some(1.0),
            mb_per_s: Some(1.0),
            cycles_per_byte: Some(cycles / 1024.0),
            precision: Some(0.0),
            stopped: Some(record::Stopped::Precision),
            samples: 30,
            processes: 6,
            ..Measurement::blank(library, algorithm, State::Measured)
        }
    }

    /// What single-stepping showed: so many rounds of AES and products at 128 bits a block.
    fn counts(m: &Measurement, aes: f64, products: f64) -> Executed {
        let class = |class: &str, per_block: f64| ClassCount {
            class: class.into(),
            width: Some(256),
            per_byte: per_block / 16.0 / 2.0,
            per_message: 0.0,
        };
        Executed {
            library: m.library.clone(),
            algorithm: m.algorithm.clone(),
            direction: m.direction,
            model: m.model,
            tier: m.tier,
            source: Some("single-step".into()),
            per_byte: Some(1.0),
            per_message: Some(0.0),
            classes: vec![class("aes-round", aes), class("carry-less", products)],
            ..Executed::default()
        }
    }

    fn library(of: &LibraryId) -> Library {
        Library {
            name: of.name.clone(),
            version: of.version.clone(),
            path: of.path.clone(),
            id: of.id.clone(),
            ..record::Library::default()
        }
    }

    /// By an implementation that does its rounds by AES instructions.
    fn held(mut m: Measurement, core: &Core) -> Measurement {
        let rounds = if m.algorithm.starts_with("aes-128") { 10.0 } else { 0.0 };
        let executed = counts(&m, rounds, 0.0);
        hold(std::slice::from_mut(&mut m), core, &[executed], &[]);
        m
    }

    fn held_unseen(mut m: Measurement, core: &Core) -> Measurement {
        hold(std::slice::from_mut(&mut m), core, &[], &[]);
        m
    }

    #[test]
    fn a_measured_case_gets_its_fraction_of_the_limit() {
        // 64 blocks of ten rounds at two a cycle: 320 cycles at least.
        let m = held(measured("aes-128-ctr", 400.0), &core(0.0));
        assert_eq!(m.state, State::Measured);
        assert_eq!((m.limit_fraction, m.limit_cycles_per_op), (Some(0.8), Some(320.0)));
        assert_eq!(m.limited_by, Some(Bound::AesUnits));
        assert_eq!(m.limit_basis, Some(Basis::Proven));
        let copy = held(measured("memcpy", 32.0), &core(0.0));
        assert_eq!((copy.limit_fraction, copy.limited_by), (Some(1.0), Some(Bound::LoadStore)));
    }

    #[test]
    fn what_is_faster_than_the_core_can_be_is_refused_with_both_numbers_and_keeps_none() {
        let m = held(measured("aes-128-ctr", 300.0), &core(0.0));
        assert_eq!(m.state, State::Refused);
        let why = m.reason.as_deref().unwrap();
        for part in ["faster than this core can be", "300.00", "320.00", "AES units", "107 %"] {
            assert!(why.contains(part), "{why}");
        }
        assert!(m.ns_per_op.is_none() && m.cycles_per_op.is_none() && m.mb_per_s.is_none());
        assert!(m.cycles_per_byte.is_none() && m.limit_fraction.is_none());
        assert_eq!(m.samples, 30);
    }

    #[test]
    fn what_beats_the_best_known_method_keeps_its_number_and_says_so() {
        let published = |m: &Measurement, fraction: &str| {
            assert_eq!((m.state, m.limit_basis), (State::Measured, Some(Basis::KnownMethods)));
            assert!(m.ns_per_op.is_some() && m.limit_fraction.unwrap() > 1.0, "{m:?}");
            let remark = "faster than the best method known to us: 1024 B at ";
            assert_eq!(m.remarks, [format!("{remark}{fraction} of the limit (AES units)")]);
        };
        // Nobody saw AES instructions.
        published(&held_unseen(measured("aes-128-ctr", 300.0), &core(0.0)), "1.07");
        // Two rounds of ten by tables.
        let mut face = measured("aes-128-ctr", 270.0);
        let executed = counts(&face, 8.0, 0.0);
        hold(std::slice::from_mut(&mut face), &core(0.0), &[executed], &[]);
        published(&face, "1.19");
        // And faster than the eight rounds that it does execute.
        let mut faster = measured("aes-128-ctr", 250.0);
        let executed = counts(&faster, 8.0, 0.0);
        hold(std::slice::from_mut(&mut faster), &core(0.0), &[executed], &[]);
        assert_eq!(faster.state, State::Refused);
        let slower = held_unseen(measured("aes-128-ctr", 400.0), &core(0.0));
        assert_eq!((slower.limit_basis, slower.remarks.len()), (Some(Basis::KnownMethods), 0));
    }

    #[test]
    fn bytes_that_no_load_can_bring_are_refused_of_any_algorithm() {
        let mut core = core(0.0);
        let read = Bandwidth { access: Access::Read, ..core.bandwidths[0].clone() };
        core.bandwidths.push(Bandwidth { bytes_per_cycle: 64.0, ..read });
        for name in ["camellia-128-cbc", "aes-128-ctr", "memcpy"] {
            let m = held_unseen(measured(name, 15.0), &core);
            assert_eq!(m.state, State::Refused, "{name}");
            assert!(m.reason.unwrap().contains("limit is 16.00 (load/store"), "{name}");
        }
    }

    #[test]
    fn several_messages_in_flight_are_held_to_throughput_and_not_to_a_chain() {
        // CBC: 640 rounds of four cycles one after the other, or two a cycle side by side.
        let mut core = core(0.0);
        core.window = Some(0.0);
        let hold_one = |cycles, in_flight, rounds| {
            let mut m = measured("aes-128-cbc", cycles);
            let call = record::Call {
                algorithm: m.algorithm.clone(),
                direction: m.direction,
                functions: None,
                copies: false,
                allocates: false,
                rekeying: None,
                rekey_functions: None,
                in_flight,
            };
            let library = Library { calls: vec![call], ..library(&m.library) };
            let executed = counts(&m, rounds, 0.0);
            hold(std::slice::from_mut(&mut m), &core, &[executed], &[library]);
            m
        };
        let alone = hold_one(400.0, None, 10.0);
        assert!(alone.state == State::Refused && alone.reason.unwrap().contains("2560.00"));
        let jobs = hold_one(400.0, Some(16), 10.0);
        assert_eq!((jobs.state, jobs.limit_cycles_per_op), (State::Measured, Some(320.0)));
        assert_eq!(
            (jobs.limited_by, jobs.limit_basis),
            (Some(Bound::AesUnits), Some(Basis::Proven))
        );
        let faster = hold_one(300.0, Some(16), 10.0);
        assert!(faster.state == State::Refused && faster.reason.unwrap().contains("320.00"));
        // Where nobody saw the rounds, they prove nothing.
        assert_eq!(hold_one(300.0, Some(16), 0.0).state, State::Measured);
    }

    #[test]
    fn two_per_cent_the_interval_and_the_spread_are_granted() {
        let state = |cycles, precision, spread| {
            let m = Measurement { precision: Some(precision), ..measured("aes-128-ctr", cycles) };
            held(m, &core(spread)).state
        };
        assert_eq!(state(320.0 / 1.019, 0.0, 0.0), State::Measured);
        assert_eq!(state(320.0 / 1.021, 0.0, 0.0), State::Refused);
        assert_eq!(state(320.0 / 1.03, 0.011, 0.0), State::Measured);
        assert_eq!(state(320.0 / 1.03, 0.0, 0.011), State::Measured);
        assert_eq!(state(320.0 / 1.05, 0.011, 0.011), State::Refused);
    }

    #[test]
    fn what_has_no_known_limit_or_no_cycles_is_left_as_it_is() {
        let camellia = held(measured("camellia-128-cbc", 10.0), &core(0.0));
        assert_eq!((camellia.state, camellia.limit_fraction), (State::Measured, None));
        let unknown = Measurement { cycles_per_op: None, ..measured("aes-128-ctr", 1.0) };
        assert_eq!(held(unknown, &core(0.0)).state, State::Measured);
        let threads = Measurement { threads: 2, ..measured("aes-128-ctr", 200.0) };
        assert_eq!(held(threads, &core(0.0)).limit_fraction, None);
        let failed = Measurement { state: State::Failed, ..measured("aes-128-ctr", 1.0) };
        assert_eq!(held(failed, &core(0.0)).state, State::Failed);
    }
}
