//! Judging: both judges' findings, joined and grouped by function: the functions that they lie in, and two
//! traces side by side around one, for people who look it up. The judge that compares two traces of one stage
//! side by side (after a branch goes two ways, the comparison goes on where both meet) is here too, with
//! findings as both judges make them: places within stages.

use crate::leaks::taint::{Decodes, NAMES, text};
use crate::leaks::{Judgement, Operation, Recordings, Stage, taint};
use crate::step::code::{Code, Mapping, Symbols};
use crate::step::{End, Recorded, Step, Tape};
use record::{Leak, LeakKind, SteppedOperation};
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::path::PathBuf;
use std::sync::Arc;

pub fn judge(recordings: &Recordings<'_>) -> Judgement {
    let Some(first) = recordings.secrets.first() else { return Judgement::default() };
    let mut judging = Judging {
        recordings,
        calls: first.calls(),
        first,
        decodes: Decodes::new(recordings.code, recordings.thread),
        places: Places::new(recordings.code),
        of_tags: BTreeSet::new(),
        reasons: Vec::new(),
    };
    judging.limits();
    let mut compared = judging.compared();
    judging.hold_to_twin(&mut compared);
    let tainted = judging.tainted();
    let findings = judging.findings(&compared, &tainted);
    let shown = recordings.show.map(|function| {
        let (places, decodes) = (&mut judging.places, &mut judging.decodes);
        excerpt(recordings, &judging.calls, function, places, decodes)
    });
    let all = judging.calls.last().map_or(0, |call| call.steps.end);
    let operations = recordings.stages.iter().zip(&judging.calls);
    let reasons = joined(&judging.reasons, recordings.stages).into_iter();
    let reasons: Vec<String> = reasons.chain(taint::UNFOLLOWED.map(str::to_owned)).collect();
    Judgement {
        findings,
        reason: (!reasons.is_empty()).then(|| reasons.join("; ")),
        operations: operations.map(|(stage, call)| stepped(stage, call)).collect(),
        objects: judging.places.objects(first.steps(0..all)),
        shown: shown.unwrap_or_default(),
    }
}

fn stepped(stage: &Stage, call: &Recorded) -> SteppedOperation {
    SteppedOperation {
        operation: stage.operation.name().to_owned(),
        size: stage.size,
        steps: call.steps.len() as u64,
    }
}

struct Judging<'a> {
    recordings: &'a Recordings<'a>,
    /// Of the first secret.
    calls: Vec<Recorded>,
    first: &'a Tape,
    decodes: Decodes<'a>,
    places: Places<'a>,
    /// What depends on where a tag is wrong, whatever the secret.
    of_tags: BTreeSet<Key>,
    /// Why not all is judged, and of which stage.
    reasons: Vec<(String, usize)>,
}

/// A group of places: the object, where the function begins, and what is found.
type Group = (String, u64, LeakKind);

impl<'a> Judging<'a> {
    /// Notes stages that were not seen to their ends.
    fn limits(&mut self) {
        let unseen =
            |stage: &usize| self.calls.get(*stage).is_none_or(|call| call.end != End::Returned);
        let stages = (0..self.recordings.stages.len()).filter(unseen);
        self.reasons = stages.map(|stage| ("step limit".to_owned(), stage)).collect();
    }

    fn steps(&self, stage: usize) -> &'a [Step] {
        self.calls.get(stage).map_or(&[], |call| self.first.steps(call.steps.clone()))
    }

    /// What differs between traces of tags that are wrong at different places, and between those of secrets.
    fn compared(&mut self) -> Found {
        let mut found = Found::new();
        let is_rejection = |s: &Stage| s.operation == Operation::Reject;
        let stages = self.recordings.stages;
        let rejections = stages.iter().position(is_rejection).unwrap_or(stages.len());
        if let Some((base, others)) = self.recordings.forgeries.split_first() {
            for tape in others {
                self.compare(base, tape, rejections, &mut found);
            }
        }
        self.of_tags = found.keys().copied().collect();
        for secret in 1..self.recordings.secrets.len() {
            self.compare_secret(secret, &mut found);
        }
        if self.recordings.secret.is_empty() {
            self.unreached();
        }
        found
    }

    /// Compares a secret's stages, each with an earlier secret of which the same is public.
    fn compare_secret(&mut self, secret: usize, found: &mut Found) {
        let secrets = self.recordings.secrets;
        let tape = &secrets[secret];
        for (stage, other) in tape.calls().iter().enumerate() {
            let Some(base) = self.recordings.base_of(secret, stage) else { continue };
            let Some(one) = secrets[base].calls().get(stage).cloned() else { continue };
            self.compare_calls(stage, &secrets[base], &one, tape, other, found);
        }
    }

    /// Compares the calls of two tapes, the first of which is of stage `from`.
    fn compare(&mut self, base: &Tape, tape: &Tape, from: usize, found: &mut Found) {
        for (number, (one, other)) in base.calls().iter().zip(tape.calls()).enumerate() {
            self.compare_calls(from + number, base, one, tape, &other, found);
        }
    }

    fn compare_calls(
        &mut self,
        stage: usize,
        base: &Tape,
        one: &Recorded,
        tape: &Tape,
        other: &Recorded,
        found: &mut Found,
    ) {
        let (ours, theirs) = (base.steps(one.steps.clone()), tape.steps(other.steps.clone()));
        let cut = one.end != End::Returned || other.end != End::Returned;
        // What was not seen to its end is as long as the shorter.
        let len = ours.len().min(theirs.len());
        let (ours, theirs) = if cut { (&ours[..len], &theirs[..len]) } else { (ours, theirs) };
        if !compare(stage, ours, theirs, &mut self.decodes, found) {
            let why = ("traces part for good".to_owned(), stage);
            if !self.reasons.contains(&why) {
                self.reasons.push(why);
            }
        }
    }

    /// Notes stages of which no two traces were compared, or that no secret reached.
    fn unreached(&mut self) {
        let secrets = self.recordings.secrets;
        for stage in 0..self.recordings.stages.len() {
            let pairs = (1..secrets.len())
                .filter_map(|secret| Some((self.recordings.base_of(secret, stage)?, secret)));
            let steps = |of: usize| {
                let call = secrets[of].calls().get(stage).map(|call| call.steps.clone());
                secrets[of].steps(call.unwrap_or_default())
            };
            let differ = |(base, secret): (usize, usize)| {
                let (ours, theirs) = (steps(base), steps(secret));
                ours != theirs
            };
            let differences: Vec<bool> = pairs.map(differ).collect();
            let why = match differences[..] {
                [] => "no two keys gave results of one form",
                _ if !differences.contains(&true) => "the key makes no difference to any register",
                _ => continue,
            };
            self.reasons.push((why.to_owned(), stage));
        }
    }

    /// Drops what differs with the same secret, too.
    fn hold_to_twin(&mut self, compared: &mut Found) {
        let mut by_itself = Found::new();
        self.compare(self.first, self.recordings.twin, 0, &mut by_itself);
        let earliest = by_itself.iter().min_by_key(|((stage, ..), place)| (*stage, place.first));
        if let Some(((stage, _, address), place)) = earliest {
            let (stage, steps) = (*stage, self.steps(*stage));
            let function = self.places.function(steps, place.first, &mut self.decodes);
            let at = function.unwrap_or_else(|| self.places.at(*address).object);
            self.reasons
                .push((format!("the same secret gives another trace, from {at} on"), stage));
        }
        compared.retain(|key, _| !by_itself.contains_key(key));
    }

    /// What the secret reaches, by taint.
    fn tainted(&mut self) -> Found {
        if self.recordings.secret.is_empty() {
            return Found::new();
        }
        let tainted = taint::run(self.recordings, &self.calls, self.first, &mut self.decodes);
        self.reasons.extend(tainted.lost);
        tainted.found
    }

    fn findings(&mut self, compared: &Found, tainted: &Found) -> Vec<Leak> {
        let keys: BTreeSet<Key> = compared.keys().chain(tainted.keys()).copied().collect();
        let mut groups: BTreeMap<Group, Vec<Key>> = BTreeMap::new();
        for key in keys {
            // What lies behind a branch that went two ways may only follow from it.
            let follows = compared.get(&key).is_none_or(|place| place.after);
            if !follows || tainted.contains_key(&key) {
                let at = self.places.at(key.2);
                let kind = self.kind(key, compared);
                groups.entry((at.object, at.begin, kind)).or_default().push(key);
            }
        }
        let tag_comparisons: BTreeSet<(String, u64)> = groups
            .keys()
            .filter(|(.., kind)| *kind == LeakKind::TagComparison)
            .map(|(object, begin, _)| (object.clone(), *begin))
            .collect();
        let mut leaks = Vec::new();
        for (group, keys) in &groups {
            let is_tag = tag_comparisons.contains(&(group.0.clone(), group.1));
            let only_tainted = keys.iter().all(|key| !compared.contains_key(key));
            // The branches of a comparison of tags are tainted by the tag that was computed.
            let folded = is_tag && only_tainted && keys.iter().all(|key| self.meets_tag(*key));
            if !folded {
                leaks.push(self.leak(group, keys, compared, tainted));
            }
        }
        leaks.retain(|leak| leak.compared || !is_false_alarm(leak));
        leaks.sort_by_key(|leak| (!leak.compared, leak.kind, leak.function.clone()));
        leaks
    }

    fn leak(&mut self, group: &Group, keys: &[Key], compared: &Found, tainted: &Found) -> Leak {
        let places = |key: &Key| compared.get(key).into_iter().chain(tainted.get(key));
        let begin = |key: &Key| places(key).map(|place| place.first).min().unwrap_or(0);
        let earliest = keys.iter().min_by_key(|key| (key.0, begin(key))).copied();
        let (stage, _, address) = earliest.expect("a group has places");
        let first = earliest.map_or(0, |key| begin(&key));
        let function = self.places.function(self.steps(stage), first, &mut self.decodes);
        let touched: BTreeSet<(u64, u64)> =
            keys.iter().flat_map(places).flat_map(|p: &Place| &p.touched).copied().collect();
        let extent = (!touched.is_empty()).then(|| extent(touched.iter()));
        let stages: BTreeSet<usize> = keys.iter().map(|key| key.0).collect();
        let stages = || stages.iter().map(|stage| &self.recordings.stages[*stage]);
        let operations: BTreeSet<Operation> = stages().map(|stage| stage.operation).collect();
        let sizes: BTreeSet<usize> = stages().filter_map(|stage| stage.size).collect();
        let is_lookup = group.2 == LeakKind::Lookup;
        Leak {
            kind: group.2,
            function,
            object: group.0.clone(),
            address: self.places.at(address).address,
            instruction: text(address, &mut self.decodes),
            places: keys.iter().map(|key| key.2).collect::<BTreeSet<_>>().len() as u32,
            bytes: extent.filter(|_| is_lookup).map(|(bytes, _)| bytes),
            lines: extent.filter(|_| is_lookup).map(|(_, lines)| lines),
            operations: operations.iter().map(|o| o.name().to_owned()).collect(),
            sizes: sizes.into_iter().collect(),
            compared: keys.iter().any(|key| compared.contains_key(key)),
            tainted: keys.iter().any(|key| tainted.contains_key(key)),
        }
    }

    fn operation(&self, key: Key) -> Operation {
        self.recordings.stages[key.0].operation
    }

    fn meets_tag(&self, key: Key) -> bool {
        matches!(self.operation(key), Operation::Decrypt | Operation::Reject)
    }

    /// What depends on where a tag is wrong is how it is compared.
    fn kind(&self, key: Key, compared: &Found) -> LeakKind {
        let forged = self.of_tags.contains(&key) && compared.contains_key(&key);
        if forged { LeakKind::TagComparison } else { key.1 }
    }
}

/// Places that taint reaches and that do not depend on a secret, by what the object's name begins with and the
/// function's name: what the taint of whole operands cannot see.
const FALSE_ALARMS: [(LeakKind, &str, &str); 2] = [
    // glibc looks into freed memory for its own mark, which is random: a key is equal to it once in 2^64.
    (LeakKind::Branch, "libc.so", "free"),
    // A sum of limbs is compared with what no sum reaches.
    (LeakKind::Branch, "libcrypto", "poly1305_blocks_vpmadd52"),
];

fn is_false_alarm(leak: &Leak) -> bool {
    let name = leak.function.as_deref().unwrap_or_default();
    let name = name.strip_suffix(" and what it calls").unwrap_or(name);
    FALSE_ALARMS.iter().any(|(kind, object, function)| {
        *kind == leak.kind && leak.object.starts_with(object) && *function == name
    })
}

fn joined(reasons: &[(String, usize)], stages: &[Stage]) -> Option<String> {
    let mut of: BTreeMap<(&str, Operation), BTreeSet<usize>> = BTreeMap::new();
    for (why, stage) in reasons {
        let stage = &stages[*stage];
        of.entry((why, stage.operation)).or_default().extend(stage.size);
    }
    let one = |((why, operation), sizes): (&(&str, Operation), &BTreeSet<usize>)| {
        let sizes: Vec<String> = sizes.iter().map(ToString::to_string).collect();
        let at = if sizes.is_empty() {
            String::new()
        } else {
            format!(" at {} bytes", sizes.join(", "))
        };
        format!("{why}: {}{at}", operation.name())
    };
    (!of.is_empty()).then(|| of.iter().map(one).collect::<Vec<_>>().join("; "))
}

/// `encrypt at 16 bytes`
pub(crate) fn words(stage: &Stage) -> String {
    let name = stage.operation.name();
    stage.size.map_or_else(|| name.to_owned(), |size| format!("{name} at {size} bytes"))
}

// From addresses to functions: what a reader looks a finding up by.

#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) struct At {
    pub(crate) object: String,
    pub(crate) function: Option<String>,
    /// Where the function begins within the object, as far as that is known.
    pub(crate) begin: u64,
    pub(crate) address: u64,
}

/// What this program is called, whatever its file.
const PROGRAM: &str = "ciphermark";

/// The symbols of the objects that were asked for so far.
pub(crate) struct Places<'a> {
    code: &'a Code,
    symbols: BTreeMap<String, Arc<Symbols>>,
}

impl<'a> Places<'a> {
    pub(crate) fn new(code: &'a Code) -> Self {
        Self { code, symbols: BTreeMap::new() }
    }

    fn mapping(&self, address: u64) -> Option<&'a Mapping> {
        self.code.mapping(address).map(|m| &self.code.mappings[m])
    }

    pub(crate) fn at(&mut self, address: u64) -> At {
        let Some(mapping) = self.mapping(address) else {
            return At { object: "?".into(), function: None, begin: address, address };
        };
        let symbols =
            self.symbols.entry(mapping.name.clone()).or_insert_with(|| Symbols::of(mapping));
        let own = self.code.is_program(mapping);
        let within = symbols.within(mapping, address).unwrap_or(address - mapping.start);
        At {
            object: if own { PROGRAM } else { mapping.object() }.to_owned(),
            function: symbols.function(mapping, address),
            begin: symbols.begin(mapping, address).unwrap_or(within),
            address: within,
        }
    }

    /// The function that a step of a stage is in; where it has no symbol the nearest caller that has one: the
    /// calls that have not returned are read from the trace, backwards.
    pub(crate) fn function(
        &mut self,
        steps: &[Step],
        at: usize,
        decodes: &mut Decodes<'_>,
    ) -> Option<String> {
        let step = steps.get(at)?;
        if let Some(name) = self.at(step.address()).function {
            return Some(name);
        }
        let mut named = None;
        decodes.callers(&steps[..=at], &mut |address| {
            let caller = self.at(address);
            // In the adapter nobody would look for it.
            let is_adapter = caller.object == PROGRAM;
            named = caller.function.filter(|_| !is_adapter);
            is_adapter || named.is_some()
        });
        named.map(|name| format!("{name} and what it calls"))
    }

    pub(crate) fn objects(&self, steps: &[Step]) -> Vec<PathBuf> {
        let pages: BTreeSet<u64> = steps.iter().map(|s| s.address() >> 12 << 12).collect();
        let mappings = pages.iter().filter_map(|page| self.mapping(*page));
        let files = mappings.map(|m| &m.name).filter(|name| name.starts_with('/'));
        files.map(PathBuf::from).collect::<BTreeSet<_>>().into_iter().collect()
    }
}

/// Instructions before and after the place.
const BEFORE: usize = 12;
const AFTER: usize = 6;

/// The instructions of two traces around the first difference of a function, with the registers that differ.
pub(crate) fn excerpt(
    recordings: &Recordings<'_>,
    calls: &[Recorded],
    function: &str,
    places: &mut Places<'_>,
    decodes: &mut Decodes<'_>,
) -> Vec<String> {
    for (which, stage, ours, theirs) in of_keys(recordings).chain(of_tags(recordings, calls.len()))
    {
        let Some(at) = first_in(function, ours, theirs, places, decodes) else { continue };
        let head = format!("{}, {which}, step {at}:", words(&recordings.stages[stage]));
        let lines = (at.saturating_sub(BEFORE)..=at + AFTER)
            .filter_map(|i| Some(line(ours.get(i)?, theirs.get(i)?, i == at, places, decodes)));
        return std::iter::once(head).chain(lines).collect();
    }
    vec![format!("no two traces differ in {function} first")]
}

/// Which two are compared, at which stage, and their steps.
type Pair<'a> = (String, usize, &'a [Step], &'a [Step]);

fn of_keys<'a>(recordings: &'a Recordings<'_>) -> impl Iterator<Item = Pair<'a>> {
    let secrets = recordings.secrets;
    (1..secrets.len()).flat_map(move |number| {
        let stages = secrets[number].calls().into_iter().enumerate();
        stages.filter_map(move |(stage, other)| {
            let base = recordings.base_of(number, stage)?;
            let one = secrets[base].calls().get(stage)?.clone();
            let which = format!("keys {} and {}", base + 1, number + 1);
            let theirs = secrets[number].steps(other.steps);
            Some((which, stage, secrets[base].steps(one.steps), theirs))
        })
    })
}

fn of_tags<'a>(recordings: &'a Recordings<'_>, seen: usize) -> impl Iterator<Item = Pair<'a>> {
    let (base, others) = match recordings.forgeries {
        [] => (None, &[][..]),
        [base, others @ ..] => (Some(base), others),
    };
    let pairs = base.into_iter().flat_map(move |base| others.iter().map(move |tape| (base, tape)));
    pairs.flat_map(move |(base, tape)| {
        let from = seen.saturating_sub(base.calls().len());
        let both = base.calls().into_iter().zip(tape.calls()).enumerate();
        both.map(move |(number, (one, other))| {
            let which = "two wrong tags".to_owned();
            (which, from + number, base.steps(one.steps), tape.steps(other.steps))
        })
    })
}

/// The first step of the function at which two traces differ that have not parted before.
fn first_in(
    function: &str,
    ours: &[Step],
    theirs: &[Step],
    places: &mut Places<'_>,
    decodes: &mut Decodes<'_>,
) -> Option<usize> {
    let mut found = Found::new();
    compare(0, ours, theirs, decodes, &mut found);
    let mut firsts: Vec<usize> =
        found.values().filter(|place| !place.after).map(|place| place.first).collect();
    firsts.sort_unstable();
    firsts.into_iter().find(|at| {
        let name = places.function(ours, *at, decodes);
        name.is_some_and(|name| name.split(" and what it calls").next() == Some(function))
    })
}

fn line(
    ours: &Step,
    theirs: &Step,
    marked: bool,
    places: &mut Places<'_>,
    decodes: &mut Decodes<'_>,
) -> String {
    let mark = if marked { '>' } else { ' ' };
    let shown = |step: &Step, places: &mut Places<'_>, decodes: &mut Decodes<'_>| {
        let at = places.at(step.address());
        format!("{}+{:#x}  {}", at.object, at.address, text(step.address(), decodes))
    };
    let mut line = format!("{mark} {:<60}", shown(ours, places, decodes));
    if ours.address() != theirs.address() {
        return format!("{line} | {}", shown(theirs, places, decodes));
    }
    for (number, name) in NAMES.iter().enumerate() {
        let (x, y) = (ours.register(number), theirs.register(number));
        if x != y {
            line += &format!(" {name} {x:#x} | {y:#x}");
        }
    }
    line.trim_end().to_owned()
}

/// How far ahead it is looked for where two ways meet: most meet within a function, and code that does not meet
/// within the last is given up.
const WINDOWS: [usize; 3] = [256, 4096, 65_536];

/// Notes where two traces differ. Returns whether all of both was compared.
pub(crate) fn compare(
    stage: usize,
    a: &[Step],
    b: &[Step],
    decodes: &mut Decodes<'_>,
    found: &mut Found,
) -> bool {
    let (mut i, mut j, mut branched) = (0, 0, false);
    while i < a.len() && j < b.len() {
        let (x, y) = (&a[i], &b[j]);
        if x.address() != y.address() {
            note(found, (stage, LeakKind::Branch, before(a, i)), i.saturating_sub(1), branched);
            branched = true;
            let Some((further, other)) = meet(&a[i..], &b[j..]) else { return false };
            (i, j) = (i + further, j + other);
            continue;
        }
        if x != y {
            lookups(stage, i, x, y, branched, decodes, found);
            divisions(stage, (a, i, b, j), branched, decodes, found);
        }
        (i, j) = (i + 1, j + 1);
    }
    if i < a.len() || j < b.len() {
        note(found, (stage, LeakKind::Branch, before(a, i)), i.saturating_sub(1), branched);
    }
    true
}

/// The instruction that went two ways.
fn before(a: &[Step], i: usize) -> u64 {
    a.get(i.saturating_sub(1)).map_or(0, Step::address)
}

fn lookups(
    stage: usize,
    at: usize,
    x: &Step,
    y: &Step,
    branched: bool,
    decodes: &mut Decodes<'_>,
    found: &mut Found,
) {
    for (p, q, bytes) in decodes.touched(x, y).into_iter().filter(|(p, q, _)| p != q) {
        let place = note(found, (stage, LeakKind::Lookup, x.address()), at, branched);
        place.touch(p, bytes);
        place.touch(q, bytes);
    }
}

/// Divisions with different operands. A divisor in memory shows in quotient or remainder, one step later.
fn divisions(
    stage: usize,
    (a, i, b, j): (&[Step], usize, &[Step], usize),
    branched: bool,
    decodes: &mut Decodes<'_>,
    found: &mut Found,
) {
    let (x, y) = (&a[i], &b[j]);
    if decodes.divides_otherwise(x, y) {
        note(found, (stage, LeakKind::Division, x.address()), i, branched);
    }
    let previous = i.checked_sub(1).zip(j.checked_sub(1)).map(|(i, j)| (&a[i], &b[j]));
    if let Some((u, v)) = previous
        && u.address() == v.address()
        && decodes.divided_otherwise((u, v), (x, y))
    {
        note(found, (stage, LeakKind::Division, u.address()), i - 1, branched);
    }
}

/// How many steps each must go on until both are at the same instruction with the same stack: the nearest such.
fn meet(a: &[Step], b: &[Step]) -> Option<(usize, usize)> {
    WINDOWS.iter().find_map(|window| {
        let mut ahead = HashMap::new();
        for (k, step) in b.iter().take(*window).enumerate() {
            ahead.entry((step.address(), step.stack())).or_insert(k);
        }
        let steps = a.iter().take(*window).enumerate();
        let meeting = steps.filter_map(|(k, step)| {
            let other = *ahead.get(&(step.address(), step.stack()))?;
            Some((k.max(other), k, other))
        });
        meeting.min().map(|(_, further, other)| (further, other))
    })
}

pub(crate) const LINE: u64 = 64;

/// A place within a stage, and what is found there. Tag comparisons are branches and lookups here.
pub(crate) type Key = (usize, LeakKind, u64);

#[derive(Clone, Debug, Default)]
pub(crate) struct Place {
    /// The step of the stage, in the first trace, at which it was found first.
    pub(crate) first: usize,
    /// Of lookups: bytes that were touched, as stretches from and to.
    pub(crate) touched: BTreeSet<(u64, u64)>,
    /// Whether traces had gone different ways before it, each time it was found.
    pub(crate) after: bool,
}

pub(crate) type Found = BTreeMap<Key, Place>;

/// Touched stretches that are kept of one place: a table of 4 KiB by single bytes.
const MOST_TOUCHED: usize = 4096;

pub(crate) fn note(found: &mut Found, key: Key, first: usize, after: bool) -> &mut Place {
    let new = || Place { first, touched: BTreeSet::new(), after };
    let place = found.entry(key).or_insert_with(new);
    place.first = place.first.min(first);
    place.after &= after;
    place
}

impl Place {
    pub(crate) fn touch(&mut self, from: u64, bytes: usize) {
        if self.touched.len() < MOST_TOUCHED {
            self.touched.insert((from, from.saturating_add(bytes.max(1) as u64)));
        }
    }
}

/// Bytes from the lowest to the highest address of each table that was touched, and cache lines seen. Stretches
/// that lie closer than `NEAR` are of one table.
pub(crate) fn extent<'a>(touched: impl Iterator<Item = &'a (u64, u64)>) -> (u64, u64) {
    /// The largest of the usual tables: 256 entries of 8 bytes.
    const NEAR: u64 = 2048;
    let mut all: Vec<(u64, u64)> = touched.copied().collect();
    all.sort_unstable();
    let line_numbers = all.iter().flat_map(|(from, to)| from / LINE..=(to - 1) / LINE);
    let lines = line_numbers.collect::<BTreeSet<_>>().len() as u64;
    let mut tables: Vec<(u64, u64)> = Vec::new();
    for (from, to) in all {
        match tables.last_mut() {
            Some(table) if from <= table.1.saturating_add(NEAR) => table.1 = table.1.max(to),
            _ => tables.push((from, to)),
        }
    }
    (tables.iter().map(|(from, to)| to - from).sum(), lines)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_extent_is_that_of_each_table_and_lines_are_those_that_were_seen() {
        assert_eq!(extent([(0x1000, 0x1004), (0x10fc, 0x1100)].iter()), (256, 2));
        assert_eq!(extent([(0x1000, 0x1004), (0x9000, 0x9001)].iter()), (5, 2));
        assert_eq!(extent([(0x103e, 0x1042)].iter()), (4, 2), "over the end of a line");
    }
}
