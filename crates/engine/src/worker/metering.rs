//! What one message makes a library allocate and copy, counted by the preloaded meter.

use super::material::{Feed, Plaintext};
use super::subject::Subject;
use crate::protocol::{Costs, Finding, Metering};
use base::model::{Algorithm, Direction};
use contract::Library;
use probe::{Arena, Batch as _, MessageBatch, Meter, messages_for};
use std::time::{Duration, Instant};

/// Counts for each size.
pub(super) fn run(library: &'static dyn Library, asked: &Metering) -> Result<Vec<Costs>, Finding> {
    let algorithm =
        Algorithm::find(&asked.algorithm).map_err(|e| Finding::failed(e.to_string()))?;
    let mut subject = Subject::open(library, algorithm, asked.direction, 0, false)?;
    if !subject.session.has_message() {
        return Err(Finding::unsupported("the library does not offer whole messages"));
    }
    let sizes = asked.sizes.iter().filter(|s| algorithm.sizes.allows(**s));
    sizes.map(|size| one_size(&mut subject, asked.direction, *size)).collect()
}

fn one_size(subject: &mut Subject, direction: Direction, size: usize) -> Result<Costs, Finding> {
    let mut arena = Arena::new();
    let plain = Plaintext::new(0).first(size * messages_for(size)).to_vec();
    let made = (direction == Direction::Decrypt)
        .then(|| subject.material.encrypted(&subject.reference, size, &plain, false));
    let Subject { session, material, .. } = subject;
    let remote = session.is_remote();
    let feed = Feed::of_messages(material, size, (&plain, made.as_ref()), 0);
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
