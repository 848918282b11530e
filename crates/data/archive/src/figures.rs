//! What is kept of a case beside its medians, as bytes: the ends of intervals, instruction counts, and the costs of
//! the processes, which verdicts are made of.

use record::{Estimate, Measurement, ProcessCosts};

/// Which fields follow.
const NS: u16 = 1;
const CYCLES: u16 = 1 << 1;
const PER_BYTE: u16 = 1 << 2;
const PER_MESSAGE: u16 = 1 << 3;
const LIMIT: u16 = 1 << 4;
const SPEED: u16 = 1 << 5;
const CONTENDED: u16 = 1 << 6;
const COSTS: u16 = 1 << 7;

/// How costs are written: all zero; as parts of the largest, 32 bits each; as they are.
const ZEROS: u8 = 0;
const PARTS: u8 = 1;
const WHOLE: u8 = 2;
/// The least cost over the largest from which parts are exact to 2^-24 at least.
const LEAST_PART: f64 = 1.0 / 256.0;

/// The bytes of a case.
pub(crate) fn encode(m: &Measurement, costs: Option<&ProcessCosts>) -> Vec<u8> {
    let mut out = Vec::with_capacity(128);
    let fields = [
        (NS, m.ns_per_op.is_some()),
        (CYCLES, m.cycles_per_op.is_some()),
        (PER_BYTE, m.instructions_per_byte.is_some()),
        (PER_MESSAGE, m.instructions_per_message.is_some()),
        (LIMIT, m.limit_fraction.is_some()),
        (SPEED, m.mb_per_s.is_some()),
        (CONTENDED, m.contended),
        (COSTS, costs.is_some()),
    ];
    let flags = fields.iter().filter(|(_, is)| *is).fold(0, |all, (flag, _)| all | flag);
    out.extend(u16::to_le_bytes(flags));
    for estimate in [m.ns_per_op, m.cycles_per_op].into_iter().flatten() {
        for end in [estimate.low, estimate.high] {
            out.extend(((end / estimate.median - 1.0) as f32).to_le_bytes());
        }
    }
    let exact = [m.instructions_per_byte, m.instructions_per_message, m.limit_fraction, m.mb_per_s];
    exact.into_iter().flatten().for_each(|value| out.extend(value.to_le_bytes()));
    if let Some(costs) = costs {
        encode_costs(&mut out, &costs.ns);
        encode_costs(&mut out, &costs.cycles);
    }
    out
}

fn encode_costs(out: &mut Vec<u8>, costs: &[f64]) {
    out.extend((costs.len() as u16).to_le_bytes());
    let most = costs.iter().copied().fold(0.0, f64::max);
    if costs.iter().all(|c| *c == 0.0) {
        out.push(ZEROS);
    } else if costs.iter().all(|c| *c >= most * LEAST_PART && c.is_finite()) {
        let unit = most / f64::from(u32::MAX);
        out.push(PARTS);
        out.extend(unit.to_le_bytes());
        costs.iter().for_each(|c| out.extend(((c / unit).round() as u32).to_le_bytes()));
    } else {
        out.push(WHOLE);
        costs.iter().for_each(|c| out.extend(c.to_le_bytes()));
    }
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
        m.ns_per_op = Some(from.estimate(ns?)?);
    }
    if has(CYCLES) {
        m.cycles_per_op = Some(from.estimate(cycles?)?);
    }
    let mut exact = |flag| if has(flag) { from.real().map(Some) } else { Some(None) };
    m.instructions_per_byte = exact(PER_BYTE)?;
    m.instructions_per_message = exact(PER_MESSAGE)?;
    m.limit_fraction = exact(LIMIT)?;
    m.mb_per_s = exact(SPEED)?;
    m.contended = has(CONTENDED);
    m.costs = match has(COSTS) {
        true => {
            let ns = from.costs()?;
            Some(ProcessCosts { ns, cycles: from.costs()? })
        }
        false => None,
    };
    let per_byte = |e: Option<Estimate>| e.map(|e| e.median / m.size as f64).filter(|_| m.size > 0);
    (m.ns_per_byte, m.cycles_per_byte) = (per_byte(m.ns_per_op), per_byte(m.cycles_per_op));
    from.0.is_empty().then_some(())
}

struct Reader<'a>(&'a [u8]);

impl Reader<'_> {
    fn take<const N: usize>(&mut self) -> Option<[u8; N]> {
        let (first, rest) = self.0.split_first_chunk::<N>()?;
        self.0 = rest;
        Some(*first)
    }

    fn real(&mut self) -> Option<f64> {
        self.take().map(f64::from_le_bytes)
    }

    fn estimate(&mut self, median: f64) -> Option<Estimate> {
        let mut end = || Some(median * (1.0 + f64::from(f32::from_le_bytes(self.take()?))));
        Some(Estimate { median, low: end()?, high: end()? })
    }

    fn costs(&mut self) -> Option<Vec<f64>> {
        let count = usize::from(u16::from_le_bytes(self.take()?));
        match self.take::<1>()?[0] {
            ZEROS => Some(vec![0.0; count]),
            PARTS => {
                let unit = self.real()?;
                (0..count)
                    .map(|_| Some(f64::from(u32::from_le_bytes(self.take()?)) * unit))
                    .collect()
            }
            WHOLE => (0..count).map(|_| self.real()).collect(),
            _ => None,
        }
    }
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
        let record = sample::record();
        for m in &record.measurements {
            let costs = ProcessCosts::of(&record, m);
            let read = back(m, costs.as_ref());
            assert_eq!(read.ns_per_op.map(|e| e.median), m.ns_per_op.map(|e| e.median));
            for (a, b) in [(read.ns_per_op, m.ns_per_op), (read.cycles_per_op, m.cycles_per_op)] {
                let near = |a: f64, b: f64| (a / b - 1.0).abs() < 1e-7;
                assert!(a.zip(b).is_none_or(|(a, b)| near(a.low, b.low) && near(a.high, b.high)));
                assert_eq!(a.is_some(), b.is_some());
            }
            assert_eq!((read.mb_per_s, read.contended), (m.mb_per_s, m.contended));
            assert_eq!(read.costs.is_some(), costs.is_some());
        }
    }

    #[test]
    fn costs_keep_their_order_and_their_ties_to_a_part_in_four_thousand_millions() {
        let m = &sample::record().measurements[0];
        let ns = vec![1000.0, 1_000.000_01, 1000.0, 999.5, 4000.0];
        let wide = vec![1.0, 1e-9, 5.0, 1.0, 2.0];
        let zeros = vec![0.0; 5];
        for cycles in [wide, zeros, Vec::new()] {
            let costs = ProcessCosts { ns: ns.clone(), cycles: cycles.clone() };
            let read = back(m, Some(&costs)).costs.unwrap();
            assert_eq!(read.cycles, cycles, "exact where parts would not be");
            assert!(read.ns.iter().zip(&ns).all(|(a, b)| (a - b).abs() <= 4000.0 / 4e9));
            assert!(read.ns[0] == read.ns[2] && read.ns[1] > read.ns[0] && read.ns[3] < read.ns[0]);
        }
    }
}
