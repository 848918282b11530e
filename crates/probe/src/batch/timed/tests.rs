use super::{Batch as _, *};
use crate::{Arena, Clock, MessageBatch, MessageSet, WalkSize, messages_for};
use contract::{Session, raw};
use std::convert::Infallible;
use std::ffi::c_void;

#[test]
fn waiting_and_touching_fresh_memory_are_counted_as_what_they_are() {
    let before = Usage::now();
    std::thread::sleep(std::time::Duration::from_millis(2));
    let slept = Usage::now().since(before);
    assert!(slept.voluntary >= 1, "{slept:?}");
    let before = Usage::now();
    // Beyond the largest that the C library takes from its heap (32 MiB): a mapping of its own, filled page by page.
    std::hint::black_box(vec![1_u8; 64 << 20]);
    let touched = Usage::now().since(before);
    assert!(touched.minor_faults >= 1, "{touched:?}");
}

#[test]
fn batches_hold_whole_rounds_unless_operations_are_long() {
    assert_eq!(balanced(1000, 40.0), 1008);
    assert_eq!(balanced(11, 4e3), 12);
    assert_eq!(balanced(1, 35e3), 4);
    assert_eq!(balanced(1, 45e3), 1);
    assert_eq!(balanced(1, 3e6), 1);
    assert_eq!(balanced(0, 3e6), 1);
}

#[test]
fn every_operation_runs_once_whatever_their_number() {
    let mut stacks = Stacks::new();
    for ops in [1, 2, 3, 4, 5, 17, 1000] {
        let mut ran = 0;
        stacks.spread(7, ops, |n| {
            ran += n;
            0
        });
        assert_eq!(ran, ops);
    }
}

#[test]
fn the_parts_lie_on_the_four_alignments() {
    let mut stacks = Stacks::new();
    let mut seen = std::collections::BTreeSet::new();
    stacks.spread(3 << 48, 4, |_| {
        let local = 0_u8;
        // The frames of all parts are laid out alike: what differs is the stack's beginning.
        seen.insert(std::hint::black_box(&raw const local) as usize % LINE / STACK_ALIGN);
        0
    });
    assert_eq!(seen.len(), 4);
}

/// A library that does nothing before it is drained.
#[derive(Default)]
struct Late {
    waiting: Vec<raw::Message>,
    most: usize,
    drains: usize,
    /// What draining returns.
    code: i32,
}

unsafe extern "C" fn wait(state: *mut c_void, m: *const raw::Message) -> i32 {
    // SAFETY: the tests' state, and a message.
    let (late, m) = unsafe { (&mut *state.cast::<Late>(), *m) };
    late.waiting.push(m);
    late.most = late.most.max(late.waiting.len());
    raw::OK
}

/// Writes the lowest byte of each nonce over output and tag; nothing of that may overlap.
unsafe extern "C" fn drain(state: *mut c_void) -> i32 {
    // SAFETY: the tests' state.
    let late = unsafe { &mut *state.cast::<Late>() };
    late.drains += 1;
    for m in late.waiting.drain(..) {
        // SAFETY: a message of an algorithm with 16-byte tags, which stays valid until now.
        unsafe {
            m.output.write_bytes(*m.nonce, m.len);
            m.tag.write_bytes(*m.nonce, 16);
        }
    }
    late.code
}

fn session(late: &mut Late) -> Session {
    let (state, in_flight) = ((&raw mut *late).cast(), raw::MOST_IN_FLIGHT);
    let (message, drain) = (Some(wait as raw::MessageFn), Some(drain as raw::DrainFn));
    let table = raw::Session { state, message, drain, in_flight, ..raw::Session::empty() };
    let gcm = base::model::Algorithm::find("aes-256-gcm").unwrap();
    // SAFETY: the functions keep the interface's rules; the state outlives the session.
    unsafe { Session::new(table, gcm, base::model::Direction::Encrypt) }
}

/// Runs `run` on a batch of messages of `size` bytes.
fn with_batch(late: &mut Late, size: usize, run: impl FnOnce(&mut MessageBatch<'_>)) {
    on_a_walk(late, size, None, run);
}

fn on_a_walk(
    late: &mut Late,
    size: usize,
    walk: Option<WalkSize>,
    run: impl FnOnce(&mut MessageBatch<'_>),
) {
    let (mut session, mut arena) = (session(late), Arena::new());
    let (inputs, nonces) = (vec![0; size * messages_for(size)], [vec![0; 12]]);
    let (tags, keys, aad) = ([].as_slice(), [].as_slice(), [].as_slice());
    let (inputs, nonces, in_place, expected) = (&inputs[..], &nonces[..], false, raw::OK);
    let set =
        MessageSet { size, cost: None, inputs, nonces, tags, keys, aad, expected, in_place, walk };
    run(&mut MessageBatch::place(&mut session, &mut arena, &set, 12345));
}

/// Every operation that is kept wrote all of its output, under its own nonce.
fn all_done(batch: &MessageBatch<'_>, size: usize, ran: u32) {
    for back in 0..batch.kept(ran) {
        let done = batch.done(back);
        assert_eq!(usize::from(done.nonce[0]), ran as usize - 1 - back);
        assert_eq!(done.output.len(), size);
        assert!(done.output.iter().chain(done.tag).all(|b| *b == done.nonce[0]), "{back}");
    }
}

#[test]
fn what_is_in_flight_is_done_when_a_batch_ends_each_under_its_own_nonce() {
    for size in [1, 16, 700, 4096, 16_384, 100_000] {
        let mut late = Late::default();
        with_batch(&mut late, size, |batch| {
            assert_eq!((batch.together(), batch.kept(37)), (16, 16));
            batch.poison(0xee);
            assert_eq!(batch.run(37), raw::OK);
            all_done(batch, size, 37);
        });
        // Two rounds, and what was left.
        assert_eq!((late.most, late.drains), (16, 3), "{size}");
    }
}

#[test]
fn no_more_is_in_flight_than_there_are_places_for_its_output() {
    for (bytes, places) in [(24 << 10, 16), (1 << 10, 4)] {
        let mut late = Late::default();
        on_a_walk(&mut late, 64, Some(WalkSize::Within(bytes)), |batch| {
            batch.prepare(37);
            assert_eq!(batch.run(37), raw::OK);
            all_done(batch, 64, 37);
        });
        assert_eq!(late.most, places, "{bytes}");
    }
}

#[test]
fn a_single_operation_is_timed_with_its_end() {
    let mut late = Late::default();
    with_batch(&mut late, 64, |batch| {
        let mut ticks = Vec::new();
        assert_eq!(batch.run_alone(&Clock::calibrate(), 20, &mut ticks), raw::OK);
        assert_eq!(ticks.len(), 20);
        all_done(batch, 64, 20);
    });
    assert_eq!((late.most, late.drains), (1, 20));
}

#[test]
fn an_error_of_draining_is_one_of_the_batch() {
    for ops in [1, 16, 100] {
        let mut late = Late { code: raw::FAILED, ..Late::default() };
        with_batch(&mut late, 16, |batch| assert_eq!(batch.run(ops), raw::FAILED));
    }
}

#[test]
fn samples_hold_whole_rounds_however_long_an_operation_takes() {
    let mut late = Late::default();
    with_batch(&mut late, 1 << 20, |batch| {
        let pace = super::Pace::default();
        let ops = batch.calibrate(&Clock::calibrate(), 1.0, pace);
        assert!(ops >= 16 && ops.is_multiple_of(16), "{ops}");
    });
}

#[test]
#[cfg(target_arch = "x86_64")]
fn a_whole_round_is_stepped_with_its_end() {
    let mut late = Late::default();
    let mut stepped = None;
    with_batch(&mut late, 64, |batch| {
        batch.run(5);
        let Ok(mut stepper) = crate::step::Stepper::new() else { return };
        stepped = batch.step(&mut stepper, 10_000_000).ok();
        all_done(batch, 64, if stepped.is_some() { 21 } else { 5 });
    });
    let Some((code, trace)) = stepped else { return };
    assert_eq!((code, late.most, late.drains), (raw::OK, 16, 2));
    assert!(
        trace.end == crate::step::End::Returned && trace.steps > 16 * 64 / 8,
        "{}",
        trace.steps
    );
}

/// Calls since the nonce was set.
unsafe extern "C" fn start(state: *mut c_void, _: *const u8) -> i32 {
    // SAFETY: the test's own counter.
    unsafe { *state.cast::<u8>() = 0 };
    raw::OK
}

/// Writes which call since the nonce it is.
unsafe extern "C" fn update(state: *mut c_void, _: *const u8, output: *mut u8, len: usize) -> i32 {
    // SAFETY: the test's own counter, and a buffer of `len` bytes.
    unsafe {
        let count = &mut *state.cast::<u8>();
        *count += 1;
        std::ptr::write_bytes(output, *count, len);
    }
    raw::OK
}

#[test]
fn the_first_updates_after_a_nonce_are_made_before_those_that_are_timed() {
    let mut count = 0_u8;
    let table = raw::Session {
        state: (&raw mut count).cast(),
        flags: raw::IN_PLACE,
        start: Some(start),
        update: Some(update),
        ..raw::Session::empty()
    };
    let ctr = base::model::Algorithm::find("aes-128-ctr").unwrap();
    // SAFETY: both functions keep the interface's rules, and `count` outlives the session.
    let mut session = unsafe { Session::new(table, ctr, base::model::Direction::Encrypt) };
    let mut arena = Arena::new();
    let mut batch = StreamBatch::place(&mut session, &mut arena, &[0; 64], &[0; 16], 0);
    batch.warm_up(9);
    assert_eq!((batch.updates(), batch.buffer()[0]), (FIRST_UPDATES, FIRST_UPDATES as u8));
    batch.run(3);
    assert_eq!((batch.updates(), batch.buffer()[0]), (FIRST_UPDATES + 3, FIRST_UPDATES as u8 + 3));
    // It began twice, each time under a nonce of its own.
    assert_eq!((batch.nonce()[0], &batch.nonce()[1..]), (2, &[0; 15][..]));
    (0..254).for_each(|_| assert_eq!(batch.restart(), Outcome::Done));
    assert_eq!(batch.nonce()[..3], [0, 1, 0]);
}

/// Operations of a microsecond, or of two up to the time that they need.
fn settled(least_us: u64, needs_us: u64) -> Settling {
    let begun = Instant::now();
    settle(
        Duration::from_micros(least_us),
        || true,
        |ops| {
            let slow = begun.elapsed() < Duration::from_micros(needs_us);
            let ns = f64::from(ops) * if slow { 2000.0 } else { 1000.0 };
            let until = Instant::now() + Duration::from_nanos(ns as u64);
            while Instant::now() < until {}
            Ok::<_, Infallible>(ns)
        },
    )
    .expect("it cannot fail")
}

#[test]
fn a_case_that_is_fast_from_the_first_on_settles_for_as_long_as_asked() {
    let settling = settled(800, 0);
    assert!(settling.us >= 800, "{settling:?}");
    assert_eq!(settling.first_ns, 1000.0);
    assert_eq!(settling.needed_us(), Some((2 * Settling::FIRST_WINDOW_US, true)));
}

#[test]
fn a_long_look_finds_when_a_case_got_faster() {
    let look = || settled(12_800, 5_000);
    assert_eq!(look().first_ns, 2000.0);
    // A machine that stops this program for milliseconds has it miss a window, or all that are fast.
    let found = (0..50).map(|_| look()).any(|s| s.needed_us().is_some_and(|(us, _)| us >= 6_400));
    assert!(found);
}

#[test]
fn a_case_that_has_just_got_faster_goes_on_and_one_that_never_ends_to_do_so_is_ended() {
    let settling = settled(1_600, 1_550);
    assert!(settling.us > 1_600, "{settling:?}");
    let begun = Instant::now();
    let endless = settle(
        Duration::from_micros(100),
        || true,
        |ops| Ok::<_, Infallible>(f64::from(ops) / begun.elapsed().as_secs_f64()),
    )
    .expect("it cannot fail");
    assert!(endless.us >= Settling::LONGEST_US, "{endless:?}");
}

#[test]
fn what_a_busy_core_made_slow_is_no_part_of_how_a_case_settles() {
    let begun = Instant::now();
    let is_busy = || begun.elapsed() < Duration::from_micros(3_000);
    let settling = settle(
        Duration::from_micros(12_800),
        || !is_busy(),
        |ops| {
            let ns = f64::from(ops) * if is_busy() { 1400.0 } else { 1000.0 };
            let until = Instant::now() + Duration::from_nanos(ns as u64);
            while Instant::now() < until {}
            Ok::<_, Infallible>(ns)
        },
    );
    let settling = settling.expect("it cannot fail");
    assert!(settling.ns_per_op.iter().all(|ns| [0.0, 1000.0].contains(ns)), "{settling:?}");
}

#[test]
fn samples_are_shorter_where_the_core_is_taken_more_often_than_every_hundred_and_fifty_microseconds()
 {
    let usual = super::Pace::default();
    assert_eq!(super::Pace::between(151e3).sample_ns, usual.sample_ns);
    let short = super::Pace::between(50e3);
    assert!(short.sample_ns < 0.5 * usual.sample_ns && short.warm_up_ns == usual.warm_up_ns);
    let ops = [960, 48, 32, 16, 8, 4, 1];
    assert_eq!(ops.map(|ops| usual.ops_of(ops)), ops);
    assert_eq!(ops.map(|ops| short.ops_of(ops)), [320, 16, 12, 4, 2, 1, 1]);
}
