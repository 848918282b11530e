//! The instructions that a record counted in a library, as bytes: of each algorithm the workloads that it is of, what each
//! byte and each message costs, and whole operations. What kinds of instructions they are stays in the record.

use crate::archive::figures::Reader;
use crate::archive::load::Words;
use crate::{Executed, ExecutedSize, UncountedSize};

/// Which of both counts follow.
const PER_BYTE: u8 = 1;
const PER_MESSAGE: u8 = 2;

/// The bytes of an algorithm's counts; `workloads` are the cases of the record that they are of.
pub(crate) fn encode(out: &mut Vec<u8>, executed: &Executed, workloads: &[i64]) {
    let Executed { per_byte, per_message, sizes, uncounted, .. } = executed;
    let flags =
        u8::from(per_byte.is_some()) * PER_BYTE + u8::from(per_message.is_some()) * PER_MESSAGE;
    out.push(flags);
    [per_byte, per_message].into_iter().flatten().for_each(|n| out.extend(n.to_le_bytes()));
    put(out, workloads.len());
    workloads.iter().for_each(|n| put(out, *n as usize));
    put(out, sizes.len());
    for counted in sizes {
        put(out, counted.size);
        out.extend(counted.instructions.to_le_bytes());
    }
    put(out, uncounted.len());
    for without in uncounted {
        put(out, without.size);
        put(out, without.reason.len());
        out.extend(without.reason.as_bytes());
    }
}

/// Sizes and lengths are below 2^32.
fn put(out: &mut Vec<u8>, number: usize) {
    out.extend((number as u32).to_le_bytes());
}

/// What [`encode`] kept of a library, of the workloads that are wanted; `None` if the bytes cannot be its.
pub(crate) fn decode(
    bytes: &[u8],
    (words, library): (&Words, i64),
    is_wanted: impl Fn(i64) -> bool,
) -> Option<Vec<Executed>> {
    let mut from = Reader(bytes);
    let mut found = Vec::new();
    while !from.0.is_empty() {
        let [flags] = from.take()?;
        let mut real = |flag| if flags & flag != 0 { from.real().map(Some) } else { Some(None) };
        let (per_byte, per_message) = (real(PER_BYTE)?, real(PER_MESSAGE)?);
        let workloads = list(&mut from, number)?;
        let sizes = list(&mut from, size)?;
        let uncounted = list(&mut from, uncounted)?;
        if !workloads.iter().any(|n| is_wanted(*n as i64)) {
            continue;
        }
        let m = words.case(*workloads.first()? as i64, library).ok()?;
        found.push(Executed {
            library: m.library,
            algorithm: m.algorithm,
            direction: m.direction,
            model: m.model,
            tier: m.tier,
            source: None,
            reason: None,
            per_byte,
            per_message,
            sizes,
            slope_sizes: Vec::new(),
            uncounted,
            classes: Vec::new(),
            memory_reads: None,
            memory_writes: None,
            instruction_sets: Vec::new(),
            functions: Vec::new(),
            excepted: None,
            pmu: None,
        });
    }
    Some(found)
}

fn number(from: &mut Reader<'_>) -> Option<usize> {
    from.take().map(|bytes| u32::from_le_bytes(bytes) as usize)
}

fn list<T>(from: &mut Reader<'_>, one: fn(&mut Reader<'_>) -> Option<T>) -> Option<Vec<T>> {
    (0..number(from)?).map(|_| one(from)).collect()
}

fn size(from: &mut Reader<'_>) -> Option<ExecutedSize> {
    Some(ExecutedSize { size: number(from)?, instructions: u64::from_le_bytes(from.take()?) })
}

fn uncounted(from: &mut Reader<'_>) -> Option<UncountedSize> {
    let (size, length) = (number(from)?, number(from)?);
    let reason = String::from_utf8(from.bytes(length)?.to_vec()).ok()?;
    Some(UncountedSize { size, reason })
}
