//! Where the CPUID instructions of a library are: those that are instructions, and not the same
//! two bytes in a table or within another instruction.
//!
//! The bytes `0F A2` are looked for in all code, which is cheap and misses none. Each place is then
//! tried: the function around it, as unwinding tables and symbols give it, is decoded from its
//! beginning along its branches; where a branch goes through a table, straight through as well. A
//! place outside any function is code only if something that is known to be code leads there: a call
//! or jump from any function, a symbol of a function, an initialiser. What cannot be shown to be an
//! instruction is left as it is.

use crate::marker::CPUID;
use crate::object::{Code, Image};
use iced_x86::{CpuidFeature, Decoder, DecoderOptions, FlowControl, Instruction, Mnemonic, OpKind};
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
pub fn find(image: &Image<'_>) -> Sites {
    let candidates: Vec<u64> = image.code.iter().flat_map(candidates).collect();
    let mut proven: HashSet<u64> = HashSet::new();
    for candidate in &candidates {
        let around = image.functions.iter().filter(|f| f.contains(candidate));
        for function in around {
            let mut walk = Walk::new(image, Some(function.clone()));
            walk.from([function.start]);
            if walk.cpuids.contains(candidate) || straight(image, function, *candidate) {
                proven.insert(*candidate);
            }
        }
    }
    let outside = |c: &u64| !image.functions.iter().any(|f| f.contains(c));
    if candidates.iter().any(outside) {
        let mut walk = Walk::new(image, None);
        walk.from(image.entries.iter().copied().chain(targets(image)));
        proven.extend(candidates.iter().filter(|c| outside(c) && walk.cpuids.contains(c)));
    }
    let mut sites = Sites::default();
    for candidate in candidates {
        let code = image.code_at(candidate).expect("candidates lie in code");
        let offset = candidate - code.address + code.offset;
        let list =
            if proven.contains(&candidate) { &mut sites.instructions } else { &mut sites.others };
        list.push(offset);
    }
    sites
}

/// Addresses of the two bytes.
fn candidates(code: &Code<'_>) -> Vec<u64> {
    let pairs = code.bytes.windows(2).enumerate().filter(|(_, pair)| *pair == CPUID);
    pairs.map(|(at, _)| code.address + at as u64).collect()
}

/// Decodes from an address on.
fn decoder<'a>(code: &Code<'a>, address: u64, end: u64) -> Decoder<'a> {
    let start = (address - code.address) as usize;
    let end = ((end - code.address) as usize).min(code.bytes.len());
    Decoder::with_ip(64, &code.bytes[start..end.max(start)], address, DecoderOptions::NONE)
}

/// Whether decoding a function from one end to the other meets the opcode as CPUID, and nothing
/// before it that is no instruction.
fn straight(image: &Image<'_>, function: &Range<u64>, candidate: u64) -> bool {
    let Some(code) = image.code_at(function.start) else { return false };
    for instruction in decoder(code, function.start, function.end).iter() {
        if instruction.is_invalid() || instruction.ip() > candidate {
            return false;
        }
        if is_cpuid_at(&instruction, candidate) {
            return true;
        }
    }
    false
}

fn is_cpuid_at(instruction: &Instruction, opcode: u64) -> bool {
    instruction.mnemonic() == Mnemonic::Cpuid && instruction.next_ip() - 2 == opcode
}

/// Follows code along its branches.
struct Walk<'i, 'a> {
    image: &'i Image<'a>,
    /// Not to be left.
    within: Option<Range<u64>>,
    seen: HashSet<u64>,
    /// Opcodes of the CPUID instructions that were met.
    cpuids: HashSet<u64>,
}

impl<'i, 'a> Walk<'i, 'a> {
    fn new(image: &'i Image<'a>, within: Option<Range<u64>>) -> Self {
        Self { image, within, seen: HashSet::new(), cpuids: HashSet::new() }
    }

    fn from(&mut self, entries: impl IntoIterator<Item = u64>) {
        let mut queue: Vec<u64> = entries.into_iter().collect();
        while let Some(address) = queue.pop() {
            self.run(address, &mut queue);
        }
    }

    /// One piece of code up to where it cannot go straight on.
    fn run(&mut self, address: u64, queue: &mut Vec<u64>) {
        let Some(code) = self.image.code_at(address) else { return };
        let end = self.within.as_ref().map_or(code.range().end, |w| w.end);
        if self.within.as_ref().is_some_and(|w| !w.contains(&address)) {
            return;
        }
        for instruction in decoder(code, address, end).iter() {
            if instruction.is_invalid() || !self.seen.insert(instruction.ip()) {
                return;
            }
            if instruction.mnemonic() == Mnemonic::Cpuid {
                self.cpuids.insert(instruction.next_ip() - 2);
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
                    return;
                }
                FlowControl::Interrupt => {}
                FlowControl::IndirectBranch | FlowControl::Return | FlowControl::Exception => {
                    return;
                }
            }
        }
    }
}

fn target(instruction: &Instruction) -> Option<u64> {
    let near = matches!(instruction.op0_kind(), OpKind::NearBranch64);
    near.then(|| instruction.near_branch_target())
}

/// Where calls and jumps of all functions lead. Not the addresses that they take: those are of
/// tables as often as of code.
fn targets(image: &Image<'_>) -> BTreeSet<u64> {
    let mut targets = BTreeSet::new();
    every_instruction(image, |instruction| targets.extend(target(instruction)));
    targets
}

/// Every instruction of every function, functions one after the other.
fn every_instruction(image: &Image<'_>, mut each: impl FnMut(&Instruction)) {
    for function in &image.functions {
        let Some(code) = image.code_at(function.start) else { continue };
        for instruction in decoder(code, function.start, function.end).iter() {
            each(&instruction);
        }
    }
}

/// The CPU features that the code needs, as iced-x86 spells them (`AES`, `AVX512F`), each with how
/// many instructions do.
pub fn features(image: &Image<'_>) -> BTreeMap<String, usize> {
    let mut counts: HashMap<CpuidFeature, usize> = HashMap::new();
    every_instruction(image, |instruction| {
        for feature in instruction.cpuid_features() {
            *counts.entry(*feature).or_insert(0) += 1;
        }
    });
    counts.into_iter().map(|(feature, n)| (format!("{feature:?}"), n)).collect()
}

#[cfg(test)]
mod tests;
