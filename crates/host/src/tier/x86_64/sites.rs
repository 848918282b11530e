//! Where the CPUID instructions of a library are: those that are instructions, and not the same two bytes in
//! a table or within another instruction (docs/METHOD.md, How it is applied). What cannot be shown to be an
//! instruction is left as it is. And which CPU features a tier hides, by the names that iced-x86 gives them:
//! for code that asks no CPU what it has.

use crate::tier::rewrite::{Code, Image};
use crate::tier::x86_64::trap::CPUID;
use base::model::{Feature, Tier};
use iced_x86::{CpuidFeature, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};
use std::ops::Range;

/// What was found in one file.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Sites {
    /// Offsets in the file of the CPUID instructions' opcodes.
    pub instructions: Vec<u64>,
    /// Offsets of the same two bytes where they are data, or part of another instruction.
    pub others: Vec<u64>,
}

/// Finds the CPUID instructions of a file.
pub fn find(image: &Image<'_>) -> Result<Sites, String> {
    let candidates = candidates(image)?;
    let mut effort = Effort::of(image);
    let mut proven = within_functions(image, &candidates, &mut effort)?;
    let covered = covered(&image.functions);
    let outside = candidates.keys().filter(|c| {
        let before = covered.partition_point(|range| range.start <= **c);
        before == 0 || covered[before - 1].end <= **c
    });
    let outside: Vec<u64> = outside.copied().collect();
    if !outside.is_empty() {
        let targets = targets(image, &mut effort)?;
        let mut walk = Walk::new(image, None, &mut effort);
        walk.from(image.entries.iter().copied().chain(targets))?;
        proven.extend(outside.iter().filter(|c| walk.cpuids.contains(c)));
    }
    let (instructions, others): (Vec<_>, Vec<_>) =
        candidates.iter().partition(|(address, _)| proven.contains(address));
    let offsets = |found: Vec<(&u64, &u64)>| -> BTreeSet<u64> {
        found.into_iter().map(|(_, offset)| *offset).collect()
    };
    let (instructions, mut others) = (offsets(instructions), offsets(others));
    // One place of the file may be mapped twice.
    others.retain(|offset| !instructions.contains(offset));
    Ok(Sites {
        instructions: instructions.into_iter().collect(),
        others: others.into_iter().collect(),
    })
}

/// Addresses that some function covers, as ranges apart from each other. The functions are sorted by
/// where they begin.
fn covered(functions: &[Range<u64>]) -> Vec<Range<u64>> {
    let mut covered: Vec<Range<u64>> = Vec::new();
    for function in functions {
        match covered.last_mut() {
            Some(last) if function.start <= last.end => last.end = last.end.max(function.end),
            _ => covered.push(function.clone()),
        }
    }
    covered
}

/// The candidates that are instructions of the functions around them.
fn within_functions(
    image: &Image<'_>,
    candidates: &BTreeMap<u64, u64>,
    effort: &mut Effort,
) -> Result<HashSet<u64>, String> {
    let mut proven = HashSet::new();
    for function in &image.functions {
        effort.spend(1)?;
        if function.is_empty() || candidates.range(function.clone()).next().is_none() {
            continue;
        }
        let mut walk = Walk::new(image, Some(function.clone()), effort);
        walk.from([function.start])?;
        proven.extend(walk.cpuids);
        straight(image, function, &mut proven, effort)?;
    }
    Ok(proven)
}

/// How many instructions may still be decoded. Functions of real files overlap a little, where labels
/// stand in them; a file may be made so that each of a million covers all of its code.
struct Effort(u64);

impl Effort {
    /// A real file takes a quarter of its bytes, four times.
    fn of(image: &Image<'_>) -> Self {
        let bytes: usize = image.code.iter().map(|code| code.bytes.len()).sum();
        let known = image.functions.len() + image.entries.len();
        Self(8 * bytes as u64 + 8 * known as u64 + (1 << 16))
    }

    fn spend(&mut self, instructions: u64) -> Result<(), String> {
        let left = self.0.checked_sub(instructions);
        self.0 = left.ok_or("has functions that overlap without end")?;
        Ok(())
    }
}

/// Places of the two bytes that may be CPUID at most: a gigabyte of anything has 16,000 by chance.
const MOST_CANDIDATES: usize = 1 << 20;

/// Addresses of the two bytes, each with its offset in the file.
fn candidates(image: &Image<'_>) -> Result<BTreeMap<u64, u64>, String> {
    let mut found = BTreeMap::new();
    for code in &image.code {
        let pairs = memchr::memmem::find_iter(code.bytes, &CPUID);
        found.extend(
            pairs
                .map(|at| at as u64)
                .take(MOST_CANDIDATES)
                .map(|at| (code.address.saturating_add(at), code.offset.saturating_add(at))),
        );
    }
    if found.len() >= MOST_CANDIDATES {
        return Err(format!("has {MOST_CANDIDATES} places or more that look like CPUID"));
    }
    Ok(found)
}

fn decoder<'a>(code: &Code<'a>, address: u64, end: u64) -> Decoder<'a> {
    let within = |address: u64| {
        let offset = usize::try_from(address.saturating_sub(code.address)).unwrap_or(usize::MAX);
        offset.min(code.bytes.len())
    };
    let (start, end) = (within(address), within(end));
    Decoder::with_ip(64, &code.bytes[start..end.max(start)], address, DecoderOptions::NONE)
}

/// Adds what decoding a function from one end to the other meets as CPUID, up to where there is no
/// instruction.
fn straight(
    image: &Image<'_>,
    function: &Range<u64>,
    proven: &mut HashSet<u64>,
    effort: &mut Effort,
) -> Result<(), String> {
    let Some(code) = image.code_at(function.start) else { return Ok(()) };
    for instruction in decoder(code, function.start, function.end).iter() {
        effort.spend(1)?;
        if instruction.is_invalid() {
            break;
        }
        if instruction.mnemonic() == Mnemonic::Cpuid {
            proven.insert(opcode(&instruction));
        }
    }
    Ok(())
}

fn opcode(cpuid: &Instruction) -> u64 {
    cpuid.next_ip().wrapping_sub(CPUID.len() as u64)
}

/// Follows code along its branches.
struct Walk<'i, 'a> {
    image: &'i Image<'a>,
    /// Not to be left.
    within: Option<Range<u64>>,
    /// By the address of its segment, a bit for each byte: an instruction that begins there was decoded.
    seen: BTreeMap<u64, Vec<u64>>,
    /// Opcodes of the CPUID instructions that were met.
    cpuids: HashSet<u64>,
    effort: &'i mut Effort,
}

impl<'i, 'a> Walk<'i, 'a> {
    fn new(image: &'i Image<'a>, within: Option<Range<u64>>, effort: &'i mut Effort) -> Self {
        Self { image, within, seen: BTreeMap::new(), cpuids: HashSet::new(), effort }
    }

    fn from(&mut self, entries: impl IntoIterator<Item = u64>) -> Result<(), String> {
        let mut queue: Vec<u64> = entries.into_iter().collect();
        while let Some(address) = queue.pop() {
            self.run(address, &mut queue)?;
        }
        Ok(())
    }

    /// One piece of code up to where it cannot go straight on.
    fn run(&mut self, address: u64, queue: &mut Vec<u64>) -> Result<(), String> {
        let Some(code) = self.image.code_at(address) else { return Ok(()) };
        let end = self.within.as_ref().map_or(code.range().end, |w| w.end);
        if self.within.as_ref().is_some_and(|w| !w.contains(&address)) {
            return Ok(());
        }
        let first = self.within.as_ref().map_or(code.address, |w| w.start.max(code.address));
        let bytes = end.min(code.range().end) - first;
        let seen = match self.seen.entry(code.address) {
            Entry::Occupied(known) => known.into_mut(),
            Entry::Vacant(new) => {
                self.effort.spend(bytes / 512)?;
                new.insert(vec![0; bytes.div_ceil(64) as usize])
            }
        };
        for instruction in decoder(code, address, end).iter() {
            self.effort.spend(1)?;
            let at = instruction.ip() - first;
            let (word, bit) = (&mut seen[(at / 64) as usize], 1 << (at % 64));
            if instruction.is_invalid() || *word & bit != 0 {
                return Ok(());
            }
            *word |= bit;
            if instruction.mnemonic() == Mnemonic::Cpuid {
                self.cpuids.insert(opcode(&instruction));
            }
            match instruction.flow_control() {
                FlowControl::Next | FlowControl::IndirectCall => {}
                // What is called outside of functions was never decoded otherwise.
                FlowControl::ConditionalBranch
                | FlowControl::Call
                | FlowControl::XbeginXabortXend => {
                    queue.extend(target(&instruction));
                }
                FlowControl::UnconditionalBranch => {
                    queue.extend(target(&instruction));
                    return Ok(());
                }
                FlowControl::Interrupt => {}
                FlowControl::IndirectBranch | FlowControl::Return | FlowControl::Exception => {
                    return Ok(());
                }
            }
        }
        Ok(())
    }
}

fn target(instruction: &Instruction) -> Option<u64> {
    let near = matches!(instruction.op0_kind(), OpKind::NearBranch64);
    near.then(|| instruction.near_branch_target())
}

/// Where calls and jumps of all functions lead. Not the addresses that they take: those are of
/// tables as often as of code.
fn targets(image: &Image<'_>, effort: &mut Effort) -> Result<BTreeSet<u64>, String> {
    let mut targets = BTreeSet::new();
    every_instruction(image, effort, |instruction| targets.extend(target(instruction)))?;
    Ok(targets)
}

/// Every instruction of every function, functions one after the other.
fn every_instruction(
    image: &Image<'_>,
    effort: &mut Effort,
    mut each: impl FnMut(&Instruction),
) -> Result<(), String> {
    for function in &image.functions {
        let Some(code) = image.code_at(function.start) else { continue };
        for instruction in decoder(code, function.start, function.end).iter() {
            effort.spend(1)?;
            each(&instruction);
        }
    }
    Ok(())
}

/// The CPU features that the code needs, as iced-x86 spells them (`AES`, `AVX512F`), each with how
/// many instructions do.
pub fn features(image: &Image<'_>) -> Result<BTreeMap<String, usize>, String> {
    let mut counts: HashMap<CpuidFeature, usize> = HashMap::new();
    every_instruction(image, &mut Effort::of(image), |instruction| {
        for feature in instruction.cpuid_features() {
            *counts.entry(*feature).or_insert(0) += 1;
        }
    })?;
    Ok(counts.into_iter().map(|(feature, n)| (format!("{feature:?}"), n)).collect())
}

/// So many instructions must need a feature before code is said to: a decoder that is led astray by
/// data in code shows strange ones now and then.
const FEWEST: usize = 4;

/// Those of the features that a tier takes away and that more than a few instructions need.
pub fn missing_features<'a>(
    tier: Tier,
    features: impl IntoIterator<Item = (&'a String, &'a usize)>,
) -> Vec<&'a str> {
    let needed = features.into_iter().filter(|(_, count)| **count >= FEWEST);
    let names = needed.map(|(name, _)| name.as_str());
    let hidden = |name: &&str| match Feature::of_x86_64(&name.to_lowercase()) {
        // Data among code looks like rare instructions.
        None | Some(Feature::Other) => false,
        Some(feature) => !tier.shows(feature),
    };
    names.filter(hidden).collect()
}

#[cfg(test)]
mod tests {
    #![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]
    use super::*;
    use crate::tier::x86_64::fixtures::{CONFUSING, compiled};
    use std::collections::BTreeMap;
    use std::path::Path;

    fn found(path: &Path) -> (Sites, Vec<u8>) {
        let bytes = std::fs::read(path).unwrap();
        let image = Image::parse(&bytes).unwrap();
        (find(&image).unwrap(), bytes)
    }

    #[test]
    fn instructions_are_found_and_tables_and_immediates_are_left_alone() {
        let object = compiled("confusing.so", CONFUSING, &[]);
        let (sites, bytes) = found(&object);
        // A function in C, one in assembly without unwinding table, one behind a table in the code, and
        // one with a prefix.
        assert_eq!(sites.instructions.len(), 4, "{sites:?}");
        // The table twice, the immediate, the displacement.
        assert_eq!(sites.others.len(), 4, "{sites:?}");
        for offset in sites.instructions.iter().chain(&sites.others) {
            assert_eq!(bytes[*offset as usize..][..2], CPUID);
        }
    }

    #[test]
    fn nothing_is_found_in_the_same_object_without_its_symbols_but_what_can_be_proven() {
        // Stripped, the assembly is known only by the call that leads to it.
        let object = compiled("confusing-stripped.so", CONFUSING, &["-s"]);
        let (sites, _) = found(&object);
        assert_eq!((sites.instructions.len(), sites.others.len()), (4, 4), "{sites:?}");
    }

    #[test]
    fn the_features_that_code_needs_are_those_of_its_instructions() {
        let object = compiled("confusing.so", CONFUSING, &[]);
        let bytes = std::fs::read(object).unwrap();
        let features = features(&Image::parse(&bytes).unwrap()).unwrap();
        assert_eq!(features.get("AES"), Some(&5), "{features:?}");
        assert!(!features.contains_key("AVX512F"));
    }

    /// Code of nothing but a pattern, with these functions over it.
    fn image(code: &[u8], functions: Vec<Range<u64>>) -> Image<'_> {
        let code = vec![Code { address: 0x1000, offset: 0x100, bytes: code }];
        let (entries, needed) = (Vec::new(), Vec::new());
        Image { code, functions, entries, soname: None, needed, mapped: 0 }
    }

    #[test]
    fn functions_that_all_cover_all_of_the_code_come_to_an_end() {
        let code = [0x0f, 0xa2, 0x90, 0x90].repeat(1 << 14);
        let end = 0x1000 + code.len() as u64;
        let many = (0x1000..0x9000).map(|start| start..end).collect();
        assert_eq!(
            find(&image(&code, many)).unwrap_err(),
            "has functions that overlap without end"
        );
        let one = find(&image(&code, vec![Range { start: 0x1000, end }])).unwrap();
        assert_eq!((one.instructions.len(), one.others.len()), (1 << 14, 0));
        assert_eq!(one.instructions[1], 0x104);
    }

    #[test]
    fn a_function_beyond_the_end_of_everything_is_read_as_far_as_there_is_code() {
        let code = [0x0f, 0xa2, 0xc3];
        let most = u64::MAX;
        for (start, end) in [(0x1000, most), (0, most), (most, most), (0x1003, 0x1001)] {
            let function = Range { start, end };
            let found = find(&image(&code, vec![function.clone()])).unwrap();
            let expected = usize::from(function.start == 0x1000);
            assert_eq!(found.instructions.len(), expected, "{function:?}");
        }
        assert_eq!(covered(&[1..3, 2..9, 9..10, 12..13]), [1..10, 12..13]);
    }

    #[test]
    fn code_of_nothing_but_places_that_look_like_cpuid_is_refused() {
        let code = CPUID.repeat(MOST_CANDIDATES);
        let why = find(&image(&code, Vec::new())).unwrap_err();
        assert!(why.ends_with("look like CPUID"), "{why}");
    }

    #[test]
    fn what_a_tier_takes_away_is_missing_where_code_needs_it_often() {
        let names = ["SSE2", "AVX2", "AES", "VAES", "AVX512F", "GFNI"];
        let mut features: BTreeMap<String, usize> =
            names.iter().map(|n| ((*n).to_owned(), 100)).collect();
        features.insert("SSE4_1".to_owned(), 1);
        let lacks = |tier| missing_features(tier, &features).join(" ");
        assert_eq!(lacks(Tier::Native), "");
        assert_eq!(lacks(Tier::Vaes256), "AVX512F");
        assert_eq!(lacks(Tier::Aesni), "AVX512F GFNI VAES");
        assert_eq!(lacks(Tier::Noaes), "AES AVX512F GFNI VAES");
        assert_eq!(lacks(Tier::Baseline), "AES AVX2 AVX512F GFNI VAES");
        assert_eq!(lacks(Tier::Haswell), "AVX512F GFNI VAES");
        assert_eq!(lacks(Tier::Westmere), "AVX2 AVX512F GFNI VAES");
    }
}
