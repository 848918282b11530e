//! Figures as bytes: what is kept of a case beside its medians (ends of intervals, instruction counts, the
//! costs of the processes, which verdicts are made of), and the instructions that were counted in a library.

use crate::archive::load::Words;
use crate::{Estimate, Executed, ExecutedSize, Measurement, ProcessCosts, UncountedSize};

/// Which fields follow.
const NS: u16 = 1;
const CYCLES: u16 = 1 << 1;
const PER_BYTE: u16 = 1 << 2;
const PER_MESSAGE: u16 = 1 << 3;
const LIMIT: u16 = 1 << 4;
const SPEED: u16 = 1 << 5;
const CONTENDED: u16 = 1 << 6;
const COSTS: u16 = 1 << 7;
/// The ends of intervals have two bytes each, in parts of [`END`] of the median; else four.
const SHORT_ENDS: u16 = 1 << 8;
/// Instruction counts have four bytes each, which is all that they need; else eight.
const SHORT_COUNTS: u16 = 1 << 9;
/// The speed is what follows from the time, and has no bytes.
const SPEED_FOLLOWS: u16 = 1 << 10;

/// A hundredth of the narrowest interval, and less.
const END: f64 = 1.0 / 65536.0;

/// How costs are written (the upper two bits of their number): all zero; as parts of what they span, of two or three
/// bytes; as they are.
const ZEROS: u16 = 0;
const PARTS_OF_2: u16 = 1;
const PARTS_OF_3: u16 = 2;
const WHOLE: u16 = 3;
const KIND: u32 = 14;
const MOST_COSTS: usize = (1 << KIND) - 1;
/// The least cost and the widest spans, over the typical cost, of which a part is exact to a millionth.
const LEAST: f64 = -0.4;
const SPAN_OF_2: f64 = 1.0 / 16.0;
const SPAN_OF_3: f64 = 16.0;

/// The bytes of a case.
pub(crate) fn encode(m: &Measurement, costs: Option<&ProcessCosts>) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    let estimates = || [m.ns_per_op, m.cycles_per_op].into_iter().flatten();
    let ends: Vec<f64> =
        estimates().flat_map(|e| [e.low / e.median - 1.0, e.high / e.median - 1.0]).collect();
    let short_ends = ends.iter().all(|end| (end / END).round().abs() <= f64::from(i16::MAX));
    let counts = [m.instructions_per_byte, m.instructions_per_message];
    let short_counts = counts.iter().flatten().all(|count| f64::from(*count as f32) == *count);
    let fields = [
        (NS, m.ns_per_op.is_some()),
        (CYCLES, m.cycles_per_op.is_some()),
        (PER_BYTE, m.instructions_per_byte.is_some()),
        (PER_MESSAGE, m.instructions_per_message.is_some()),
        (LIMIT, m.limit_fraction.is_some()),
        (SPEED, m.mb_per_s.is_some()),
        (CONTENDED, m.contended),
        (COSTS, costs.is_some()),
        (SHORT_ENDS, short_ends),
        (SHORT_COUNTS, short_counts),
        (SPEED_FOLLOWS, m.mb_per_s.is_some() && m.mb_per_s == speed(m, m.ns_per_op)),
    ];
    let flags = fields.iter().filter(|(_, is)| *is).fold(0, |all, (flag, _)| all | flag);
    out.extend(u16::to_le_bytes(flags));
    for end in ends {
        match short_ends {
            true => out.extend(((end / END).round() as i16).to_le_bytes()),
            false => out.extend((end as f32).to_le_bytes()),
        }
    }
    for count in counts.into_iter().flatten() {
        match short_counts {
            true => out.extend((count as f32).to_le_bytes()),
            false => out.extend(count.to_le_bytes()),
        }
    }
    m.limit_fraction.iter().for_each(|limit| out.extend((*limit as f32).to_le_bytes()));
    let told = m.mb_per_s.filter(|_| flags & SPEED_FOLLOWS == 0);
    told.iter().for_each(|speed| out.extend(speed.to_le_bytes()));
    if let Some(costs) = costs {
        encode_costs(&mut out, &costs.ns, m.ns_per_op);
        encode_costs(&mut out, &costs.cycles, m.cycles_per_op);
    }
    out
}

/// Megabytes a second of all threads together, by the time of one operation.
fn speed(m: &Measurement, ns: Option<Estimate>) -> Option<f64> {
    ns.map(|ns| m.size as f64 / ns.median * 1e3 * f64::from(m.threads.max(1)))
}

/// Costs as parts of what they span: equal ones stay equal, and no verdict hangs on a millionth of one.
fn encode_costs(out: &mut Vec<u8>, costs: &[f64], typical: Option<Estimate>) {
    let costs = &costs[..costs.len().min(MOST_COSTS)];
    let (low, high) = costs.iter().fold((f64::INFINITY, 0.0), |(l, h), c| (c.min(l), c.max(h)));
    let typical = typical.map_or(f64::NAN, |e| e.median);
    // As they are read back.
    let least = (low / typical - 1.0) as f32;
    let span = (high / typical - 1.0 - f64::from(least)).max(0.0) as f32;
    let kind = match f64::from(span) {
        _ if high == 0.0 => ZEROS,
        _ if !(LEAST..).contains(&f64::from(least)) || costs.iter().any(|c| c.is_nan()) => WHOLE,
        span if span <= SPAN_OF_2 => PARTS_OF_2,
        span if span <= SPAN_OF_3 => PARTS_OF_3,
        _ => WHOLE,
    };
    out.extend((kind << KIND | costs.len() as u16).to_le_bytes());
    if kind == WHOLE {
        costs.iter().for_each(|c| out.extend(c.to_le_bytes()));
    } else if kind != ZEROS {
        out.extend([least, span].map(f32::to_le_bytes).concat());
        let (bytes, most) = parts(kind);
        let above = |c: f64| ((c / typical - 1.0 - f64::from(least)) / f64::from(span)).max(0.0);
        for c in costs {
            // A span of nothing has one part.
            let part = if span > 0.0 { (above(*c) * most).round().min(most) } else { 0.0 };
            out.extend(&(part as u32).to_le_bytes()[..bytes]);
        }
    }
}

/// Bytes of a part, and the largest one.
fn parts(kind: u16) -> (usize, f64) {
    if kind == PARTS_OF_2 { (2, 65_535.0) } else { (3, 16_777_215.0) }
}

/// Fills in what [`encode`] kept; `ns` and `cycles` are the medians. `None` if the bytes cannot be its.
pub(crate) fn decode(
    bytes: &[u8],
    (ns, cycles): (Option<f64>, Option<f64>),
    m: &mut Measurement,
) -> Option<()> {
    let mut from = Reader(bytes);
    let flags = u16::from_le_bytes(from.take()?);
    let has = |flag| flags & flag != 0;
    if has(NS) {
        m.ns_per_op = Some(from.estimate(ns?, has(SHORT_ENDS))?);
    }
    if has(CYCLES) {
        m.cycles_per_op = Some(from.estimate(cycles?, has(SHORT_ENDS))?);
    }
    for (flag, count) in
        [(PER_BYTE, &mut m.instructions_per_byte), (PER_MESSAGE, &mut m.instructions_per_message)]
    {
        *count = match (has(flag), has(SHORT_COUNTS)) {
            (false, _) => None,
            (true, true) => Some(from.short()?),
            (true, false) => Some(from.real()?),
        };
    }
    m.limit_fraction = if has(LIMIT) { Some(from.short()?) } else { None };
    m.mb_per_s = match (has(SPEED), has(SPEED_FOLLOWS)) {
        (false, _) => None,
        (true, true) => speed(m, m.ns_per_op),
        (true, false) => Some(from.real()?),
    };
    m.contended = has(CONTENDED);
    m.costs = match has(COSTS) {
        true => {
            let ns = from.costs(ns)?;
            Some(ProcessCosts { ns, cycles: from.costs(cycles)? })
        }
        false => None,
    };
    let per_byte = |e: Option<Estimate>| e.map(|e| e.median / m.size as f64).filter(|_| m.size > 0);
    (m.ns_per_byte, m.cycles_per_byte) = (per_byte(m.ns_per_op), per_byte(m.cycles_per_op));
    from.0.is_empty().then_some(())
}

/// Takes numbers from the beginning of bytes.
pub(crate) struct Reader<'a>(pub(crate) &'a [u8]);

impl<'a> Reader<'a> {
    pub(crate) fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    pub(crate) fn bytes(&mut self, count: usize) -> Option<&'a [u8]> {
        let (first, rest) = self.0.split_at_checked(count)?;
        self.0 = rest;
        Some(first)
    }

    pub(crate) fn real(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes)
    }

    fn short(&mut self) -> Option<f64> {
        self.take().map(|bytes| f64::from(f32::from_le_bytes(bytes)))
    }

    fn estimate(&mut self, median: f64, short: bool) -> Option<Estimate> {
        let mut end = || {
            let end = match short {
                true => f64::from(i16::from_le_bytes(self.take()?)) * END,
                false => self.short()?,
            };
            Some(median * (1.0 + end))
        };
        Some(Estimate { median, low: end()?, high: end()? })
    }

    fn costs(&mut self, typical: Option<f64>) -> Option<Vec<f64>> {
        let head = u16::from_le_bytes(self.take()?);
        let (kind, count) = (head >> KIND, usize::from(head) & MOST_COSTS);
        if kind == ZEROS {
            return Some(vec![0.0; count]);
        }
        if kind == WHOLE {
            return (0..count).map(|_| self.real()).collect();
        }
        let (typical, least, span) = (typical?, self.short()?, self.short()?);
        let (bytes, most) = parts(kind);
        let mut costs = Vec::with_capacity(count);
        for part in self.bytes(count * bytes)?.chunks_exact(bytes) {
            let part = part.iter().rev().fold(0, |all, byte| all << 8 | u32::from(*byte));
            costs.push(typical * (1.0 + least + span * (f64::from(part) / most)));
        }
        Some(costs)
    }
}

// The instructions that a record counted in a library, as bytes: of each algorithm the workloads that it is of, what each
// byte and each message costs, and whole operations. What kinds of instructions they are stays in the record.

/// Which of both counts follow.
const COUNTED_PER_BYTE: u8 = 1;
const COUNTED_PER_MESSAGE: u8 = 2;

/// The bytes of an algorithm's counts; `workloads` are the cases of the record that they are of.
pub(crate) fn encode_counts(out: &mut Vec<u8>, executed: &Executed, workloads: &[i64]) {
    let Executed { per_byte, per_message, sizes, uncounted, .. } = executed;
    let flags = u8::from(per_byte.is_some()) * COUNTED_PER_BYTE
        + u8::from(per_message.is_some()) * COUNTED_PER_MESSAGE;
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
pub(crate) fn decode_counts(
    bytes: &[u8],
    (words, library): (&Words, i64),
    is_wanted: impl Fn(i64) -> bool,
) -> Option<Vec<Executed>> {
    let mut from = Reader(bytes);
    let mut found = Vec::new();
    while !from.0.is_empty() {
        let [flags] = from.take()?;
        let mut real = |flag| if flags & flag != 0 { from.real().map(Some) } else { Some(None) };
        let (per_byte, per_message) = (real(COUNTED_PER_BYTE)?, real(COUNTED_PER_MESSAGE)?);
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::sample;

    fn back(m: &Measurement, costs: Option<&ProcessCosts>) -> Measurement {
        let bytes = encode(m, costs);
        let blank = Measurement {
            ns_per_op: None,
            cycles_per_op: None,
            instructions_per_byte: None,
            mb_per_s: None,
            limit_fraction: None,
            ..m.clone()
        };
        let mut read = blank.clone();
        let medians = (m.ns_per_op.map(|e| e.median), m.cycles_per_op.map(|e| e.median));
        decode(&bytes, medians, &mut read).unwrap();
        for cut in 0..bytes.len() {
            assert_eq!(decode(&bytes[..cut], medians, &mut blank.clone()), None, "cut to {cut}");
        }
        assert_eq!(decode(&[bytes, vec![0]].concat(), medians, &mut blank.clone()), None);
        read
    }

    #[test]
    fn a_case_comes_back_with_its_figures_and_a_torn_one_does_not() {
        let record = sample::archived();
        for m in &record.measurements {
            let costs = ProcessCosts::of(&record, m);
            let read = back(m, costs.as_ref());
            assert_eq!(read.ns_per_op.map(|e| e.median), m.ns_per_op.map(|e| e.median));
            for (a, b) in [(read.ns_per_op, m.ns_per_op), (read.cycles_per_op, m.cycles_per_op)] {
                let near = |a: f64, b: f64| (a / b - 1.0).abs() <= END;
                assert!(a.zip(b).is_none_or(|(a, b)| near(a.low, b.low) && near(a.high, b.high)));
                assert_eq!(a.is_some(), b.is_some());
            }
            assert_eq!((read.mb_per_s, read.contended), (m.mb_per_s, m.contended));
            assert_eq!(read.costs.is_some(), costs.is_some());
        }
    }

    #[test]
    fn costs_keep_their_order_and_their_ties_to_a_millionth() {
        let m = &sample::archived().measurements[0];
        let typical = m.ns_per_op.unwrap().median;
        let ns = [1.0, 1.000_01, 1.0, 0.999_5, 1.02].map(|part| part * typical).to_vec();
        let apart = ns.iter().map(|c| c * c).collect::<Vec<_>>();
        let zeros = vec![0.0; 5];
        let same = vec![m.cycles_per_op.unwrap().median * 1.003; 5];
        for cycles in [vec![1.0, 1e-9, 5.0, 1.0, 2.0], apart, zeros, same, Vec::new()] {
            let costs = ProcessCosts { ns: ns.clone(), cycles: cycles.clone() };
            let read = back(m, Some(&costs)).costs.unwrap();
            let near = |(a, b): (&f64, &f64)| (a - b).abs() <= 1e-6 * b.abs();
            assert!(read.cycles.iter().zip(&cycles).all(near), "{cycles:?} {:?}", read.cycles);
            assert_eq!(read.cycles.len(), cycles.len());
            assert!(read.ns.iter().zip(&ns).all(near), "{:?}", read.ns);
            assert!(read.ns[0] == read.ns[2] && read.ns[1] > read.ns[0] && read.ns[3] < read.ns[0]);
        }
    }

    #[test]
    fn a_measured_case_of_twelve_processes_takes_ninety_bytes() {
        let m = Measurement {
            instructions_per_byte: Some(2.529_296_875),
            instructions_per_message: Some(1623.0),
            limit_fraction: Some(0.8),
            ..sample::archived().measurements[0].clone()
        };
        let of = |typical: f64| (0..12).map(|i| typical * (1.0 + f64::from(i) / 1000.0)).collect();
        let typical = |e: Option<Estimate>| of(e.unwrap().median);
        let costs = ProcessCosts { ns: typical(m.ns_per_op), cycles: typical(m.cycles_per_op) };
        let bytes = encode(&Measurement { mb_per_s: speed(&m, m.ns_per_op), ..m }, Some(&costs));
        assert_eq!(bytes.len(), 2 + 8 + 8 + 4 + 2 * (2 + 8 + 24));
    }
}
