//! What one operation executes, single-stepped in the very call that the timed loop makes; and what one
//! message makes a library allocate and copy.

use crate::protocol::{Costs, Finding, Metering, Stepping, Steps, Visit, known};
use crate::worker::material::{Answers, Expected, Feed, Plaintext, Subject};
use base::model::{Direction, Model};
use contract::{Library, Outcome};
use probe::step::{Code, End, Stepper, Unavailable};
use probe::{
    Arena, Batch as _, InstructionCounter, MAX_MESSAGES, MessageBatch, Meter, Stepped, StreamBatch,
    messages_for,
};
use std::path::PathBuf;
use std::time::{Duration, Instant};
use verify::may_be_refused;

/// Operations before the one that is stepped: twice round the ring of descriptors, so that it works
/// on memory that was used before, and whatever a library sets up once or twice is set up. A whole
/// number of rounds, so that every worker steps the same descriptor.
const WARM_UP_OPS: u32 = 2 * MAX_MESSAGES as u32;

/// Where buffers are placed: always at the same place. Which way code goes may hang on it.
const PLACE: u64 = 0;

/// What output is filled with, so that only the stepped operation can have made it.
const POISON: u8 = 0xa5;

/// Steps one operation and holds what it left against the reference; `objects` are the files that the
/// library's code comes from.
pub(crate) fn count_steps(
    library: &'static dyn Library,
    objects: &[PathBuf],
    asked: &Stepping,
    counter: &mut Counter,
) -> Result<Steps, Finding> {
    let algorithm = known(&asked.algorithm)?;
    let visit = Visit::untimed(algorithm, asked.direction, asked.model, asked.size);
    if !algorithm.sizes.allows(asked.size) {
        return Err(Finding::unsupported(algorithm.size_reason()));
    }
    let mut stepper = Stepper::new().map_err(unavailable)?;
    let open = || Subject::open(library, algorithm, asked.direction, 0, false);
    // What a library keeps from its first use of an algorithm must not lie among what the count hangs on.
    drop(open()?);
    probe::lay_heap_out();
    let mut subject = open()?;
    let Taken { stepped: (codes, trace), ops, pmu } = match asked.model {
        Model::Message => message(&mut subject, &visit, asked, &mut stepper, counter)?,
        Model::Stream => stream(&mut subject, &visit, asked, &mut stepper, counter)?,
        other => {
            let why = format!("operations of the model {other} are not stepped");
            return Err(Finding::unsupported(why));
        }
    };
    let aad_len = subject.material.aad.len();
    if codes != 0 && asked.model == Model::Message && may_be_refused(algorithm, asked.size, aad_len)
    {
        return Err(Finding::unsupported(format!(
            "the library's interface reports an error for messages of {} bytes",
            asked.size
        )));
    }
    if codes != 0 {
        return Err(Finding::refused(format!(
            "return-codes: the stepped call returned an error ({codes:#x})"
        )));
    }
    let complete = trace.end == End::Returned;
    let code = Code::of_this_process(&|mapped| crate::worker::original(mapped, objects));
    let steps = told(asked.size, complete, ops, probe::step::profile(&trace, &code));
    let (pmu, pmu_reason) = match pmu {
        Ok(count) => (Some(count), None),
        Err(why) => (None, Some(why)),
    };
    Ok(Steps { pmu, pmu_reason, ..steps })
}

pub(crate) type Counter = Result<InstructionCounter, String>;

/// What was stepped, and the performance counter's count of one such operation.
struct Taken {
    stepped: Stepped,
    /// How many operations it was: one, or those that are in flight together.
    ops: u32,
    pmu: Result<f64, String>,
}

/// Instructions of one operation by the performance counter: what a batch takes more than a shorter
/// one, so that what surrounds the loop does not count.
fn per_operation(counter: &mut Counter, mut run: impl FnMut(u32) -> i32) -> Result<f64, String> {
    const MORE: u32 = 2 * MAX_MESSAGES as u32;
    let counter = counter.as_mut().map_err(|why| why.clone())?;
    let short = counter.count(|| run(MORE))?;
    let long = counter.count(|| run(2 * MORE))?;
    Ok((long as f64 - short as f64) / f64::from(MORE))
}

fn unavailable(why: Unavailable) -> Finding {
    Finding::unsupported(why.0)
}

fn message(
    subject: &mut Subject,
    visit: &Visit,
    asked: &Stepping,
    stepper: &mut Stepper,
    counter: &mut Counter,
) -> Result<Taken, Finding> {
    if !subject.session.has_message() {
        return Err(Finding::unsupported("the library does not offer whole messages"));
    }
    let size = visit.input_len();
    let (mut plaintext, mut arena) = (Plaintext::new(0), Arena::new());
    let plain = plaintext.first(size * messages_for(size));
    let Subject { session, reference, material, .. } = subject;
    let made = (asked.direction == Direction::Decrypt)
        .then(|| material.encrypted(reference, size, plain, false));
    let feed = Feed::new(material, visit, plain, made.as_ref(), 0);
    let mut batch = MessageBatch::place(session, &mut arena, &feed.set(), PLACE);
    batch.run(WARM_UP_OPS);
    let pmu = per_operation(counter, |ops| batch.run(ops));
    batch.poison(POISON);
    let ops = batch.together();
    let stepped = batch.step(stepper, asked.most_steps).map_err(unavailable)?;
    if stepped.0 == 0 {
        let (aad, mut answers, took) = (&material.aad, Answers::new(), Duration::ZERO);
        Expected::new(reference, visit, aad, plain, POISON, &mut answers, took)
            .check_last(&batch)?;
    }
    Ok(Taken { stepped, ops, pmu })
}

fn stream(
    subject: &mut Subject,
    visit: &Visit,
    asked: &Stepping,
    stepper: &mut Stepper,
    counter: &mut Counter,
) -> Result<Taken, Finding> {
    subject.offers(visit)?;
    let (mut plaintext, mut arena) = (Plaintext::new(0), Arena::new());
    let initial = plaintext.first(asked.size);
    let nonce = &subject.material.nonce;
    let mut batch = StreamBatch::place(&mut subject.session, &mut arena, initial, nonce, PLACE);
    let begun = batch.restart();
    if begun != Outcome::Done {
        return Err(Finding::failed(format!("setting the nonce of a stream returned {begun:?}")));
    }
    let mut codes = batch.run(WARM_UP_OPS);
    let mut ops = WARM_UP_OPS;
    let pmu = per_operation(counter, |more| {
        ops += more;
        codes |= batch.run(more);
        codes
    });
    let (code, trace) = batch.step(stepper, asked.most_steps).map_err(unavailable)?;
    let (left, nonce) = (batch.buffer().to_vec(), batch.nonce().to_vec());
    if codes | code == 0 {
        subject.check_stream(visit.direction, &nonce, ops + 1, initial, &left)?;
    }
    Ok(Taken { stepped: (codes | code, trace), ops: 1, pmu })
}

/// A profile of `ops` operations as the protocol has it: of one, rounded up, so that nothing that was
/// executed is told as nothing.
fn told(size: usize, complete: bool, ops: u32, mut profile: probe::step::Profile) -> Steps {
    let of_one = |count: u64| count.div_ceil(u64::from(ops));
    let classes = profile.classes.iter_mut().map(|c| &mut c.count);
    let functions = profile.functions.iter_mut().map(|f| &mut f.count);
    let sets = profile.sets.iter_mut().chain(&mut profile.sets_elsewhere).map(|s| &mut s.count);
    classes.chain(functions).chain(sets).for_each(|count| *count = of_one(*count));
    Steps {
        size,
        complete,
        instructions: of_one(profile.instructions),
        classes: profile.classes,
        memory_reads: of_one(profile.memory_reads),
        memory_writes: of_one(profile.memory_writes),
        sets: profile.sets,
        sets_elsewhere: profile.sets_elsewhere,
        functions: profile.functions,
        objects: profile.objects,
        pmu: None,
        pmu_reason: None,
    }
}

// What one message makes a library allocate and copy, counted by the preloaded meter.

pub(crate) fn count_costs(
    library: &'static dyn Library,
    asked: &Metering,
) -> Result<Vec<Costs>, Finding> {
    let algorithm = known(&asked.algorithm)?;
    let mut subject = Subject::open(library, algorithm, asked.direction, 0, false)?;
    if !subject.session.has_message() {
        return Err(Finding::unsupported("the library does not offer whole messages"));
    }
    let sizes = asked.sizes.iter().filter(|s| algorithm.sizes.allows(**s));
    sizes.map(|size| one_size(&mut subject, asked.direction, *size)).collect()
}

fn one_size(subject: &mut Subject, direction: Direction, size: usize) -> Result<Costs, Finding> {
    let mut arena = Arena::new();
    let algorithm = subject.session.algorithm();
    let visit = Visit::untimed(algorithm, direction, Model::Message, size);
    let input_len = visit.input_len();
    let plain = Plaintext::new(0).first(input_len * messages_for(input_len)).to_vec();
    let made = (direction == Direction::Decrypt)
        .then(|| subject.material.encrypted(&subject.reference, size, &plain, false));
    let Subject { session, material, .. } = subject;
    let remote = session.is_remote();
    let feed = Feed::new(material, &visit, &plain, made.as_ref(), 0);
    let batch = MessageBatch::place(session, &mut arena, &feed.set(), 0);
    if remote { in_a_runtime(batch, size) } else { in_this_process(batch, size) }
}

/// Messages of a runtime that are counted together: it counts in steps of its allocator's.
const OF_A_RUNTIME: u32 = 256;
/// How long a runtime works before: garbage is collected a few times.
const BEFORE: Duration = Duration::from_millis(100);

/// What a runtime says that it allocates. Pieces and copies are not among it.
fn in_a_runtime(mut batch: MessageBatch<'_>, size: usize) -> Result<Costs, Finding> {
    let begun = Instant::now();
    while begun.elapsed() < BEFORE {
        batch.warm(OF_A_RUNTIME);
    }
    let Some((bytes, collecting)) = batch.allocated(OF_A_RUNTIME) else {
        return Err(Finding::unsupported("the runtime does not tell what it allocates"));
    };
    let allocated_bytes = bytes / f64::from(OF_A_RUNTIME);
    Ok(Costs { size, allocated_bytes, collecting, ..Costs::default() })
}

/// Messages that are counted together: enough that a library's own pools show their average.
const MESSAGES: u32 = 16;

/// What the library allocates and copies beside the program, in the loop that is timed: that one copies nothing of its
/// own, however this crate is compiled.
fn in_this_process(mut batch: MessageBatch<'_>, size: usize) -> Result<Costs, Finding> {
    let meter = Meter::find().ok_or_else(|| Finding::failed("the meter was not preloaded"))?;
    // What a library sets up once, on its first messages, is no message's cost.
    let mut codes = batch.run(MESSAGES);
    let before = meter.read();
    codes |= batch.run(MESSAGES);
    let counts = meter.read().since(before);
    if codes != 0 {
        let refused = format!("messages of {size} bytes returned an error (bits {codes:#x})");
        return Err(Finding::refused(refused));
    }
    let each = |count: u64| count as f64 / f64::from(MESSAGES);
    Ok(Costs {
        size,
        allocations: each(counts.allocations),
        allocated_bytes: each(counts.allocated_bytes),
        copied_bytes: each(counts.copied_bytes),
        lost: each(counts.held.max(0) as u64),
        lost_bytes: each(counts.held_bytes.max(0) as u64),
        collecting: 0.0,
    })
}
