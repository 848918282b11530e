//! Bytes a cycle from and to each level of memory, by whatever moves them fastest.

use super::Conditions;
use super::instructions::Read;
use super::readings::{Figure, Readings};
use base::analysis::bound::{Access, Bandwidth, Core, Level};
use probe::{Move, Prober, Stretch};
use record::Cache;
use std::time::Instant;

/// Readings of each way: few, because there are many ways and a reading of memory is long.
const WANTED: usize = 7;
/// Readings that are taken at most for them.
const MOST: usize = 28;

/// Most bytes that are set aside to get past the last cache. A machine whose last cache is larger
/// than half of it has no figure for memory.
const MOST_BYTES: u64 = 256 << 20;

/// One level's buffer.
struct Place {
    level: Level,
    /// Bytes of both halves.
    bytes: usize,
    /// Bytes walked through at once.
    piece: usize,
    /// Bytes of one reading: tens of microseconds at the least.
    reading: usize,
}

/// Every level that the machine tells the size of, for reading, writing and copying.
pub(super) fn all(
    prober: &mut Prober<'_>,
    read: &Read,
    caches: &[Cache],
    conditions: &Conditions,
    until: Instant,
) -> Vec<Bandwidth> {
    let conditions = Conditions { quiet_probe: read.quiet_probe, ..*conditions };
    let mut found = first_level(&read.core, read.cycles_per_tick * conditions.ticks_per_ns);
    for place in places(caches) {
        // Without the memory for it there is no figure.
        let Ok(mut stretch) = Stretch::new(place.bytes, place.piece) else { continue };
        for how in [Move::Read, Move::Write, Move::Copy] {
            found.extend(best(prober, &place, &mut stretch, how, &conditions, until));
        }
    }
    found
}

/// The first level, from the probes of single loads and stores, which no loop is around.
fn first_level(core: &Core, cycles_per_ns: f64) -> Vec<Bandwidth> {
    let kinds = [(Access::Read, "load"), (Access::Write, "store"), (Access::Copy, "load+store")];
    let best = |(access, name): (Access, &str)| {
        // `-sve` are registers as long as the core has them.
        let is_one =
            |i: &&base::analysis::bound::Instruction| i.name.trim_end_matches("-sve") == name;
        let all = core.instructions.iter().filter(is_one);
        let bytes =
            |i: &base::analysis::bound::Instruction| i.per_cycle * f64::from(i.width_bits / 8);
        let best = all.max_by(|a, b| bytes(a).total_cmp(&bytes(b)))?;
        Some(Bandwidth {
            level: Level::L1,
            access,
            by: format!("{name}-{}", best.width_bits),
            // Twelve lines, and twelve more where they are copied.
            buffer_bytes: u64::from(best.width_bits / 8) * 12,
            bytes_per_cycle: bytes(best),
            gb_per_s: bytes(best) * cycles_per_ns,
            spread: best.spread,
            samples: best.samples,
        })
    };
    kinds.into_iter().filter_map(best).collect()
}

/// Buffers for the levels beyond the first: half a cache, so that the other half is left to
/// whatever else is in it; and twice the last cache for memory.
fn places(caches: &[Cache]) -> Vec<Place> {
    let size = |level| {
        let data = caches.iter().filter(|c| c.level == level && c.kind != "Instruction");
        data.map(|c| c.size_bytes).max()
    };
    let place = |level, bytes: u64, reading| Place {
        level,
        bytes: bytes as usize,
        piece: (bytes as usize / 2).min(1 << 20),
        reading,
    };
    let mut places = Vec::new();
    let (second, third) = (size(2), size(3));
    if let Some(second) = second {
        places.push(place(Level::L2, second / 2, 2 << 20));
    }
    if let Some(third) = third {
        // Several times the second level, not all of a cache that others use as well.
        let least = second.unwrap_or(0) * 4;
        let bytes = (third / 4).max(least).min(third / 2).min(MOST_BYTES / 8);
        if bytes >= least {
            places.push(place(Level::L3, bytes, 4 << 20));
        }
    }
    if let Some(last) = third.or(second)
        && last * 2 <= MOST_BYTES
    {
        places.push(place(Level::Memory, last * 2, 4 << 20));
    }
    places
}

/// The fastest way at one level; none where one of them could not be read, which may be the fastest.
fn best(
    prober: &mut Prober<'_>,
    place: &Place,
    stretch: &mut Stretch,
    how: Move,
    conditions: &Conditions,
    until: Instant,
) -> Option<Bandwidth> {
    let mut best: Option<(&'static str, Figure)> = None;
    for way in prober.ways(how) {
        let mut readings = Readings::default();
        for _ in 0..MOST {
            if readings.enough(conditions.quiet_probe, WANTED) || Instant::now() >= until {
                break;
            }
            readings.add(prober.walk(stretch, how, way, place.reading));
        }
        let figure = readings.figure(conditions.quiet_probe)?;
        if best.is_none_or(|(_, b)| figure.cycles < b.cycles) {
            best = Some((way, figure));
        }
    }
    let (way, figure) = best?;
    Some(Bandwidth {
        level: place.level,
        access: match how {
            Move::Read => Access::Read,
            Move::Write => Access::Write,
            Move::Copy => Access::Copy,
        },
        by: way.to_owned(),
        buffer_bytes: stretch.bytes(),
        bytes_per_cycle: 1.0 / figure.cycles,
        gb_per_s: conditions.ticks_per_ns / figure.ticks,
        spread: figure.spread,
        samples: figure.samples,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(level: u32, kind: &str, size_bytes: u64) -> Cache {
        Cache { level, kind: kind.into(), size_bytes, line_bytes: 64, shared_by: String::new() }
    }

    fn sizes(caches: &[Cache]) -> Vec<(Level, usize)> {
        places(caches).iter().map(|p| (p.level, p.bytes)).collect()
    }

    #[test]
    fn buffers_follow_the_caches_of_the_machine() {
        let zen4 = [
            cache(1, "Data", 32 << 10),
            cache(1, "Instruction", 32 << 10),
            cache(2, "Unified", 1 << 20),
            cache(3, "Unified", 32 << 20),
        ];
        let expected = [(Level::L2, 512 << 10), (Level::L3, 8 << 20), (Level::Memory, 64 << 20)];
        assert_eq!(sizes(&zen4), expected);
        assert!(sizes(&[]).is_empty());
    }

    #[test]
    fn a_last_cache_that_is_too_large_to_get_past_leaves_memory_out() {
        let huge = [cache(2, "Unified", 2 << 20), cache(3, "Unified", 480 << 20)];
        assert_eq!(sizes(&huge), [(Level::L2, 1 << 20), (Level::L3, 32 << 20)]);
    }
}
