//! What the core can do at best, as tables for a terminal.

use base::analysis::bound::{Bandwidth, Basis, Core, Floor, Instruction};
use base::model::Tier;
use base::text::{ASIDE, Align, Cell, Column, HEADING, Options, PLAIN, Table, clean, paint};
use record::Limits;
use std::collections::BTreeMap;

/// The tables of `list limits`: instructions, pairs of them, bandwidths, floors.
#[must_use]
pub fn limits(limits: &Limits, options: Options) -> String {
    let Some(core) = &limits.core else {
        let why = limits.reason.as_deref().unwrap_or("this record was written without limits");
        return format!("no limits: {}\n", clean(why));
    };
    let parts = [
        instructions(core, options),
        pairs(core, options),
        bandwidths(core, options),
        floors(&limits.floors, options),
    ];
    parts.into_iter().filter(|p| !p.is_empty()).collect::<Vec<_>>().join("\n")
}

const BOUND_BY: &str = "bound by";
const BINDS: &str = "binds";

/// Rows under a heading.
fn table(
    title: &str,
    heads: &[&'static str],
    left: usize,
    rows: &[Vec<String>],
    options: Options,
) -> String {
    if rows.is_empty() {
        return String::new();
    }
    // Words after the numbers are aligned like words.
    let words = |i: usize| i < left || [BOUND_BY, BINDS].contains(&heads[i]);
    let align = |i| if words(i) { Align::Left } else { Align::Point };
    let columns = heads.iter().enumerate().map(|(i, head)| Column::new(head, align(i)));
    let cell = |(i, text): (usize, &String)| {
        if words(i) { Cell::plain(text) } else { Cell::number(text, PLAIN) }
    };
    let rows = rows.iter().map(|row| row.iter().enumerate().map(cell).collect()).collect();
    let table = Table::new(columns.collect::<Vec<_>>(), rows).narrow();
    format!("{}\n{}", paint(title, HEADING, options.color), table.lines(options.color).concat())
}

fn instructions(core: &Core, options: Options) -> String {
    let row = |i: &Instruction| {
        vec![
            clean(&i.name),
            i.width_bits.to_string(),
            format!("{:.3}", i.per_cycle),
            i.latency_cycles.map_or("–".to_owned(), |l| format!("{l:.2}")),
            format!("{:.1}", i.spread * 100.0),
        ]
    };
    let rows: Vec<_> = core.instructions.iter().map(row).collect();
    let heads = ["instruction", "bits", "per cycle", "latency", "±%"];
    let mut out = table("instructions, in core cycles", &heads, 2, &rows, options);
    if let Some(window) = core.window {
        out += &format!("chains of two messages overlap by {window:.0} waiting instructions\n");
    }
    out
}

fn pairs(core: &Core, options: Options) -> String {
    let row = |p: &base::analysis::bound::Pair| {
        vec![
            format!("{} {}", clean(&p.first), p.width_bits),
            format!("{} {}", clean(&p.second), p.second_width_bits),
            format!("{:.3}", p.per_cycle),
            format!("{:.1}", p.spread * 100.0),
        ]
    };
    let rows: Vec<_> = core.pairs.iter().map(row).collect();
    let heads = ["one", "and the other in turn", "pairs per cycle", "±%"];
    table("pairs, which may wait for the same units", &heads, 2, &rows, options)
}

fn bandwidths(core: &Core, options: Options) -> String {
    let word = |value: serde_json::Value| value.as_str().unwrap_or_default().to_owned();
    let row = |b: &Bandwidth| {
        vec![
            word(serde_json::json!(b.level)),
            word(serde_json::json!(b.access)),
            clean(&b.by),
            format!("{:.2}", b.bytes_per_cycle),
            format!("{:.1}", b.gb_per_s),
            format!("{:.1}", b.spread * 100.0),
        ]
    };
    let rows: Vec<_> = core.bandwidths.iter().map(row).collect();
    let heads = ["level", "access", "fastest by", "B/cycle", "GB/s", "±%"];
    table("bandwidth of one core", &heads, 3, &rows, options)
}

/// Whom a limit binds.
fn whom(basis: Basis) -> &'static str {
    match basis {
        Basis::Proven => "all",
        Basis::IfExecuted => "whoever executes it",
        Basis::KnownMethods => "known methods",
    }
}

/// One row for an algorithm and direction, one column for each tier.
fn floors(floors: &[Floor], options: Options) -> String {
    let mut tiers: Vec<Tier> = floors.iter().map(|f| f.tier).collect();
    tiers.sort_unstable();
    tiers.dedup();
    let mut rows: Vec<Vec<String>> = Vec::new();
    let mut reasons: BTreeMap<String, Vec<String>> = BTreeMap::new();
    let key = |f: &Floor| (f.algorithm.clone(), f.direction, f.model);
    let mut seen = Vec::new();
    for floor in floors {
        if seen.contains(&key(floor)) {
            continue;
        }
        seen.push(key(floor));
        let same: Vec<&Floor> = floors.iter().filter(|f| key(f) == key(floor)).collect();
        if same.iter().all(|f| f.cycles_per_byte.is_none()) {
            let reason = clean(floor.reason.as_deref().unwrap_or_default());
            let names = reasons.entry(reason).or_default();
            if !names.contains(&floor.algorithm) {
                names.push(clean(&floor.algorithm));
            }
            continue;
        }
        let mut row = vec![clean(&floor.algorithm), floor.direction.to_string()];
        row.extend(tiers.iter().map(|tier| {
            let found = same.iter().find(|f| f.tier == *tier).and_then(|f| f.cycles_per_byte);
            found.map_or("–".to_owned(), |c| format!("{c:.4}"))
        }));
        let by = same.iter().find_map(|f| f.limited_by);
        row.push(by.map(|b| b.to_string()).unwrap_or_default());
        row.push(same.iter().find_map(|f| f.basis).map(whom).unwrap_or_default().to_owned());
        rows.push(row);
    }
    let mut heads = vec!["algorithm", "direction"];
    heads.extend(tiers.iter().map(|t| t.name()));
    heads.extend([BOUND_BY, BINDS]);
    let title = "floors: cycles per byte that a long message takes at least";
    let mut out = table(title, &heads, 2, &rows, options);
    for (reason, names) in reasons {
        out += &options.hang(&format!("{}: {reason}", names.join(", ")), 0, ASIDE);
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;
    use base::analysis::bound::{Access, Bound, Level, Pair};
    use base::model::{Direction, Model};

    fn sample() -> Limits {
        let core = Core {
            instructions: vec![Instruction {
                name: "aesenc".into(),
                width_bits: 512,
                per_cycle: 1.0,
                latency_cycles: Some(4.0),
                spread: 0.002,
                samples: 15,
            }],
            pairs: vec![Pair {
                first: "aesenc".into(),
                second: "pclmulqdq".into(),
                width_bits: 512,
                second_width_bits: 512,
                per_cycle: 0.5,
                spread: 0.001,
                samples: 15,
            }],
            bandwidths: vec![Bandwidth {
                level: Level::L1,
                access: Access::Copy,
                by: "load+store-512".into(),
                buffer_bytes: 768,
                bytes_per_cycle: 32.0,
                gb_per_s: 118.4,
                spread: 0.001,
                samples: 15,
            }],
            window: Some(62.0),
            unread: Vec::new(),
        };
        let floor = |name: &str, tier, cycles: Option<f64>| Floor {
            algorithm: name.into(),
            direction: Direction::Encrypt,
            model: Model::Message,
            tier,
            cycles_per_byte: cycles,
            limited_by: cycles.map(|_| Bound::AesUnits),
            basis: cycles.map(|_| Basis::IfExecuted),
            reason: cycles.is_none().then(|| "no bound is known".to_owned()),
        };
        let floors = vec![
            floor("aes-128-ctr", Tier::Native, Some(0.15625)),
            floor("aes-128-ctr", Tier::Aesni, Some(0.3125)),
            floor("aes-128-ctr", Tier::Noaes, None),
            floor("sm4-ctr", Tier::Native, None),
            floor("sm4-ctr", Tier::Aesni, None),
        ];
        Limits { core: Some(core), floors, reason: None }
    }

    #[test]
    fn each_part_is_a_table() {
        insta::assert_snapshot!(limits(&sample(), Options { width: 100, color: false }));
    }

    #[test]
    fn without_limits_it_says_why() {
        let none = Limits { reason: Some("no probes here".into()), ..Limits::default() };
        assert_eq!(limits(&none, Options::default()), "no limits: no probes here\n");
        assert!(limits(&Limits::default(), Options::default()).contains("without limits"));
    }
}
