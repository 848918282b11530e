//! What one message makes a library allocate and copy, counted by the preloaded meter.

use super::material::{Feed, Plaintext};
use super::subject::Subject;
use crate::protocol::{Costs, Finding, Metering};
use contract::{Library, Message, Outcome};
use model::{Algorithm, Direction};
use probe::{Arena, Batch as _, MessageBatch, Meter, messages_for};
use std::time::{Duration, Instant};

/// Messages that are counted together: enough that a library's own pools show their average.
const MESSAGES: u64 = 16;

/// Counts for each size.
pub(super) fn run(library: &'static dyn Library, asked: &Metering) -> Result<Vec<Costs>, Finding> {
    let algorithm =
        Algorithm::find(&asked.algorithm).map_err(|e| Finding::failed(e.to_string()))?;
    let mut subject = Subject::open(library, algorithm, asked.direction, 0, false)?;
    if !subject.session.has_message() {
        return Err(Finding::unsupported("the library does not offer whole messages"));
    }
    let sizes = asked.sizes.iter().filter(|s| algorithm.sizes.allows(**s));
    if subject.session.is_remote() {
        return sizes.map(|size| in_a_runtime(&mut subject, asked.direction, *size)).collect();
    }
    let meter = Meter::find().ok_or_else(|| Finding::failed("the meter was not preloaded"))?;
    sizes.map(|size| one_size(meter, &mut subject, asked.direction, *size)).collect()
}

/// Messages of a runtime that are counted together: it counts in steps of its allocator's.
const OF_A_RUNTIME: u32 = 256;
/// How long a runtime works before: garbage is collected a few times.
const BEFORE: Duration = Duration::from_millis(100);

/// What a runtime says that it allocates. Pieces and copies are not among it.
fn in_a_runtime(
    subject: &mut Subject,
    direction: Direction,
    size: usize,
) -> Result<Costs, Finding> {
    let mut arena = Arena::new();
    let plain = Plaintext::new(0).first(size * messages_for(size)).to_vec();
    let made = (direction == Direction::Decrypt)
        .then(|| subject.material.encrypted(&subject.reference, size, &plain, false));
    let Subject { session, material, .. } = subject;
    let feed = Feed::of_messages(material, size, (&plain, made.as_ref()), 0);
    let mut batch = MessageBatch::place(session, &mut arena, &feed.set(), 0);
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

fn one_size(
    meter: Meter,
    subject: &mut Subject,
    direction: Direction,
    size: usize,
) -> Result<Costs, Finding> {
    let algorithm = subject.session.algorithm();
    let mut plaintext = Plaintext::new(0);
    let plain = plaintext.first(size).to_vec();
    let material = &subject.material;
    let (nonce, aad) = (material.nonce.clone(), material.aad.clone());
    let (input, mut tag) = if direction == Direction::Decrypt {
        let made = material.encrypted(&subject.reference, size, &plain, false);
        (made.inputs, made.tags.first().cloned().unwrap_or_default())
    } else {
        (plain, vec![0; algorithm.tag_len])
    };
    let mut output = vec![0; if algorithm.writes_output() { size } else { 0 }];
    let mut call = || {
        let m =
            Message { nonce: &nonce, aad: &aad, input: &input, output: &mut output, tag: &mut tag };
        match subject.session.message(m) {
            Outcome::Done => Ok(()),
            other => Err(Finding::refused(format!("a message of {size} bytes returned {other:?}"))),
        }
    };
    // What a library sets up once, on its first message, is no message's cost.
    call()?;
    let before = meter.read();
    for _ in 0..MESSAGES {
        call()?;
    }
    let counts = meter.read().since(before);
    let each = |count: u64| count as f64 / MESSAGES as f64;
    Ok(Costs {
        size,
        allocations: each(counts.allocations),
        allocated_bytes: each(counts.allocated_bytes),
        copied_bytes: each(counts.copied_bytes),
        lost: counts.held.max(0) as f64 / MESSAGES as f64,
        lost_bytes: counts.held_bytes.max(0) as f64 / MESSAGES as f64,
        collecting: 0.0,
    })
}
