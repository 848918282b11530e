//! The data that come with the program: sources, schemes, uses and rules, read and held against each other;
//! the conditions of rules are in the language of `crate::claims::expression`.

use crate::advise::evaluate;
use crate::advise::question::{IntegrityLevel, NonceSource, Question};
use crate::claims::expression::{Expression, Missing, Term, Unit, Value};
use base::analysis::Estimate;
use base::model::{Algorithm, Footprint, Model, SizeRule};
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};
use std::collections::BTreeMap;
use std::sync::Arc;

const SOURCES: &str = include_str!("../../../../advice/sources.toml");
const SCHEMES: &str = include_str!("../../../../advice/schemes.toml");
const USES: &str = include_str!("../../../../advice/uses.toml");
const RULES: &str = include_str!("../../../../advice/rules.toml");
const PROGRAMS: &str = include_str!("../../../../advice/programs.toml");

/// Words that stand in a source's place: the scheme's own publication, the source of the limit.
const INDIRECT: [&str; 2] = ["scheme", "limit"];

/// Everything that advice is made of but the record.
#[derive(Clone, Debug)]
pub struct Data {
    pub sources: Vec<Source>,
    pub schemes: Vec<Scheme>,
    /// What `--for` takes.
    pub uses: Vec<Use>,
    pub(crate) rules: Vec<Rule>,
    /// What `--only` takes by name.
    pub programs: Vec<Program>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Program {
    pub id: String,
    /// What it has, in words that follow the name.
    pub says: String,
    pub schemes: Vec<String>,
    /// Globs over libraries; any where there is none.
    pub libraries: Vec<String>,
    /// Whether only the system's own packages count.
    #[serde(default)]
    pub of_system: bool,
    pub source: String,
}

/// A publication, and when it was looked up.
#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Source {
    /// As facts and rules name it.
    pub id: String,
    pub title: String,
    pub url: String,
    /// Day on which the passage was looked up.
    pub read: String,
    /// Through what, where it was not the publication itself.
    pub how: Option<String>,
}

impl Data {
    pub fn built_in() -> Self {
        Self::parse([SOURCES, SCHEMES, USES, RULES, PROGRAMS])
            .expect("the built-in advice is tested")
    }

    fn parse([sources, schemes, uses, rules, programs]: [&str; 5]) -> Result<Self, String> {
        let data = Self {
            sources: read("sources.toml", sources)?,
            schemes: expand(read("schemes.toml", schemes)?)?,
            uses: read("uses.toml", uses)?,
            rules: read("rules.toml", rules)?,
            programs: read("programs.toml", programs)?,
        };
        data.sources_exist()?;
        Ok(data)
    }

    pub fn find_use(&self, id: &str) -> Option<&Use> {
        self.uses.iter().find(|u| u.id == id)
    }

    /// How many units a key may encrypt under a question, as a logarithm to the base 2; none where there is
    /// no such scheme, or no bound within reach.
    pub fn units_log2(&self, scheme: &str, question: &Question<'_>) -> Option<f64> {
        let scheme = self.schemes.iter().find(|s| s.id == scheme)?;
        evaluate::units_per_key(scheme, question).log2
    }

    pub fn source(&self, id: &str) -> Option<&Source> {
        self.sources.iter().find(|s| s.id == id)
    }

    /// Its title, or what stands in its place.
    pub(crate) fn title(&self, id: &str) -> &str {
        self.source(id).map_or("the scheme's own", |s| &s.title)
    }

    fn sources_exist(&self) -> Result<(), String> {
        let of_rules = self.rules.iter().map(|r| (&r.id, &r.source));
        let of_uses = self.uses.iter().flat_map(|u| u.notes.iter().map(|n| (&u.id, &n.source)));
        let of_schemes =
            self.schemes.iter().flat_map(|s| s.sources().into_iter().map(|source| (&s.id, source)));
        let of_programs = self.programs.iter().map(|p| (&p.id, &p.source));
        for (id, source) in of_rules.chain(of_uses).chain(of_schemes).chain(of_programs) {
            if self.source(source).is_none() && !INDIRECT.contains(&source.as_str()) {
                return Err(format!("'{id}' names the source '{source}', which is none"));
            }
        }
        Ok(())
    }
}

/// The entries of a file: all are of one kind.
#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Entries<T> {
    #[serde(alias = "source", alias = "family", alias = "use", alias = "rule", alias = "program")]
    entries: Vec<T>,
}

fn read<T: DeserializeOwned>(file: &str, text: &str) -> Result<Vec<T>, String> {
    let entries: Result<Entries<T>, _> = base::text::from_toml(text);
    entries.map(|e| e.entries).map_err(|e| format!("{file} {e}"))
}

// The schemes: what is known of each, whatever machine it runs on.

/// What a scheme asks of its nonces.
#[derive(Clone, Copy, Debug, PartialEq, Eq, Deserialize, Serialize, strum::Display)]
#[serde(rename_all = "lowercase")]
#[strum(serialize_all = "lowercase")]
pub enum NonceRule {
    None,
    /// It is made for the unit's place: a repeat is expected.
    Position,
    /// It must be unique under a key.
    Unique,
    /// It must not be foreseen.
    Unpredictable,
    /// A repeat shows equal units and nothing else.
    Resistant,
}

/// Units under one key by their size, where a publication gives a table.
#[derive(Clone, Copy, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct BySize {
    pub max_bytes: u64,
    pub random_log2: f64,
    pub repeated_log2: f64,
}

#[derive(Clone, Debug)]
pub struct Scheme {
    /// Name: algorithms joined by a plus.
    pub id: String,
    /// Strength of the cipher's key in bits (XTS and SIV: of one of the two).
    pub key_bits: u32,
    /// Algorithms of the record that are this scheme in one operation.
    pub measured: Vec<&'static Algorithm>,
    /// Algorithms of the record whose costs add up to it.
    pub composed: Vec<&'static Algorithm>,
    /// The algorithm that with a new key for each unit costs what it does.
    pub rekeyed: Option<&'static Algorithm>,
    /// What it takes at the least.
    pub(crate) holds: Option<&'static Algorithm>,
    pub(crate) family: Arc<Family>,
}

/// What schemes have in common that differ in their ciphers. Lengths are in bytes unless they say
/// otherwise; logarithms are to the base 2. What is not set is not known to have a bound or a source.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Family {
    /// Mode, with what is beside it: `gcm`, `ctr+hmac`.
    pub mode: String,
    pub integrity: IntegrityLevel,
    /// Whether NIST publications approve all of it.
    pub approved: bool,
    approved_source: String,
    pub nonce: NonceRule,
    #[serde(default)]
    pub nonce_source: String,
    /// Bits of the nonce; 0 where there is none.
    #[serde(default)]
    pub nonce_bits: u32,
    /// Bytes of tag or sum that are kept with each unit.
    pub tag_bytes: u32,
    /// Bytes of tag that the record's algorithms make, where some are cut off.
    made_tag_bytes: Option<u32>,
    #[serde(default)]
    cut_source: String,
    #[serde(default = "one")]
    pub block_multiple: u32,
    #[serde(default = "one")]
    pub least_bytes: u32,
    pub max_bytes_log2: Option<f64>,
    #[serde(default)]
    max_source: String,
    pub blocks_log2: Option<f64>,
    #[serde(default)]
    pub blocks_source: String,
    pub random_log2: Option<f64>,
    #[serde(default)]
    pub random_source: String,
    #[serde(default)]
    pub by_size: Vec<BySize>,
    pub forgery_log2: Option<f64>,
    #[serde(default)]
    pub forgery_by_size: bool,
    pub forgery_most_log2: Option<f64>,
    #[serde(default)]
    pub forgery_source: String,
    pub reuse: String,
    /// What an unnoticed flipped bit does.
    #[serde(default)]
    pub flip: String,
    /// Who has it, where no library that is measured does.
    #[serde(default)]
    pub elsewhere: String,
    /// Who has it, where hardly anybody does.
    #[serde(default)]
    pub libraries: Vec<String>,
    members: Vec<Member>,
}

fn one() -> u32 {
    1
}

#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Member {
    id: String,
    key_bits: u32,
    #[serde(default)]
    measured: Vec<String>,
    #[serde(default)]
    composed: Vec<String>,
    rekeyed: Option<String>,
    holds: Option<String>,
}

pub(crate) fn expand(families: Vec<Family>) -> Result<Vec<Scheme>, String> {
    let families: Vec<Arc<Family>> = families.into_iter().map(Arc::new).collect();
    let members = families.iter().flat_map(|f| f.members.iter().map(move |m| (f, m)));
    members.map(|(family, member)| Scheme::of(family, member)).collect()
}

impl Scheme {
    fn of(family: &Arc<Family>, member: &Member) -> Result<Self, String> {
        let find = |names: &[String]| -> Result<Vec<&'static Algorithm>, String> {
            let one =
                |name: &String| Algorithm::find(name).map_err(|e| format!("'{}': {e}", member.id));
            names.iter().map(one).collect()
        };
        Ok(Self {
            id: member.id.clone(),
            key_bits: member.key_bits,
            measured: find(&member.measured)?,
            composed: find(&member.composed)?,
            rekeyed: find(member.rekeyed.as_slice())?.first().copied(),
            holds: find(member.holds.as_slice())?.first().copied(),
            family: Arc::clone(family),
        })
    }

    /// A change anywhere in a unit changes all of it.
    pub(crate) fn is_wide(&self) -> bool {
        self.family.mode == "wide"
    }

    /// Bits of the tag that is stored, where the algorithms make a longer one; else none.
    pub(crate) fn cut_to_bits(&self) -> Option<u32> {
        let bytes = self.family.tag_bytes;
        self.family.made_tag_bytes.filter(|made| *made > bytes).map(|_| 8 * bytes)
    }

    /// Every algorithm that must be measured to price it.
    pub fn algorithms(&self) -> Vec<&'static Algorithm> {
        self.measured.iter().chain(&self.composed).copied().collect()
    }

    /// Those that run for a unit: of it whole where that is measured, else of its parts.
    pub(crate) fn running(&self) -> &[&'static Algorithm] {
        match (&self.rekeyed, self.measured.as_slice()) {
            (Some(of), _) => std::slice::from_ref(of),
            (None, []) => &self.composed,
            (None, measured) => measured,
        }
    }

    pub(crate) fn sources(&self) -> Vec<&String> {
        let Family { approved_source, nonce_source, max_source, .. } = &*self.family;
        let Family { blocks_source, random_source, cut_source, forgery_source, .. } = &*self.family;
        let all = [approved_source, nonce_source, max_source, blocks_source, random_source];
        let all = all.into_iter().chain([cut_source, forgery_source]);
        all.filter(|s| !s.is_empty()).collect()
    }
}

pub(crate) fn takes(algorithm: &Algorithm, size: usize) -> bool {
    algorithm.sizes == SizeRule::Any || algorithm.sizes.allows(size)
}

// Uses: what `--for` takes.

/// A kind of store: its unit, what it can do, and what is assumed where a question is silent.
#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Use {
    pub id: String,
    pub title: String,
    pub unit: String,
    /// Bytes of the unit.
    pub size: usize,
    /// Whether a unit is written again at its place under the same key.
    pub rewrites: bool,
    /// Whether it is stored, rather than sent.
    pub storage: bool,
    /// Bytes that a durable counter takes in each unit.
    pub counter_bytes: u32,
    /// Bytes that there is room for; none where any number can be had.
    pub expansion: Option<u32>,
    pub integrity: IntegrityLevel,
    pub nonce: NonceSource,
    /// Whether copies of the store go on under the same key.
    pub snapshots: bool,
    pub key_bits: u32,
    /// Units written a second, by each writer.
    pub writes_per_second: f64,
    /// Instances that write under the same keys where copies go on.
    pub writers: u32,
    /// Share of decryption in the cost that ranks, 0 to 1.
    pub reads: f64,
    /// The program whose schemes are chosen from, unless `--only` names others.
    pub program: Option<String>,
    /// How a unit is timed, where the question does not say it.
    pub model: Option<Model>,
    /// Where units lie that are encrypted; those that are decrypted were just read.
    #[serde(default)]
    pub footprint: Footprint,
    pub(crate) notes: Vec<Note>,
}

#[derive(Clone, Debug, PartialEq, Eq, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Note {
    pub says: String,
    #[serde(default = "last")]
    pub rank: u8,
    pub source: String,
}

// The rules: what rejects a scheme, what must be respected with it.

#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "lowercase")]
pub enum Verdict {
    /// A mistake whoever asks.
    Wrong,
    /// It does not meet what is asked.
    Unfit,
    /// Rejects nothing: to be respected.
    Note,
}

/// Behind everything that has a rank.
pub(crate) fn last() -> u8 {
    u8::MAX
}

#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub(crate) struct Rule {
    pub id: String,
    pub verdict: Verdict,
    pub when: Condition,
    pub says: String,
    #[serde(default)]
    pub detail: String,
    /// Place among what must be respected; the first three are on the first screen.
    #[serde(default = "last")]
    pub rank: u8,
    pub source: String,
    pub date: String,
}

impl Rule {
    pub fn rejects(&self, values: &Values) -> bool {
        self.verdict != Verdict::Note && self.when.holds(values)
    }

    pub fn notes(&self, values: &Values) -> bool {
        self.verdict == Verdict::Note && self.when.holds(values)
    }

    /// Whether it looks at what is known of costs.
    pub fn is_of_cost(&self) -> bool {
        self.when.names().any(|name| name.starts_with("cost."))
    }

    /// What it says of one scheme; empty where it says the same of all.
    pub fn about(&self, values: &Values) -> String {
        fill(&self.detail, values)
    }
}

// Conditions of rules, in the language of `crate::claims::expression`: over named values and words.

/// Values by name; none of what is not known, or not asked: no clause about it holds.
pub(crate) type Values = BTreeMap<&'static str, Option<Value>>;

pub(crate) fn number(number: impl Into<f64>) -> Value {
    Value::Number(Estimate::exactly(number.into()), Unit::One)
}

pub(crate) fn word(text: &str) -> Value {
    Value::Word(text.to_owned())
}

pub(crate) fn truth(truth: bool) -> Value {
    Value::Truth(Some(truth))
}

#[derive(Clone, Debug, PartialEq, Deserialize)]
#[serde(try_from = "String")]
pub(crate) struct Condition(Expression<String>);

impl TryFrom<String> for Condition {
    type Error = String;

    fn try_from(text: String) -> Result<Self, String> {
        let name = |term: Term| match term.arguments {
            None => Ok(term.name),
            Some(_) => Err(format!("'{}' is no function", term.name)),
        };
        Expression::parse(&text, &name).map(Self)
    }
}

impl Condition {
    pub fn holds(&self, values: &Values) -> bool {
        let value = |name: &String| match values.get(name.as_str()) {
            Some(known) => known.clone().ok_or_else(|| Missing::Impossible(format!("no {name}"))),
            // What is no name is a word, such as `adversary`.
            None if is_name(name) => Err(Missing::Impossible(format!("no {name}"))),
            None => Ok(word(name)),
        };
        self.0.evaluate(&value) == Ok(truth(true))
    }

    pub fn names(&self) -> impl Iterator<Item = &String> {
        self.0.facts().into_iter().filter(|text| is_name(text))
    }
}

/// `scheme.mode`
fn is_name(text: &str) -> bool {
    text.contains('.')
}

fn shown(value: Option<&Value>) -> String {
    match value {
        Some(Value::Number(n, _)) if n.median.fract() == 0.0 => n.median.to_string(),
        Some(Value::Number(n, _)) => format!("{:.1}", n.median),
        Some(value) => value.to_string(),
        None => "–".to_owned(),
    }
}

/// The text with `{names}` filled in; a name that is none stays as it is.
pub(crate) fn fill(text: &str, values: &Values) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        out += before;
        let Some((name, behind)) = after.split_once('}') else {
            rest = after;
            continue;
        };
        match values.get(name) {
            Some(value) => out += &shown(value.as_ref()),
            None => out += &format!("{{{name}}}"),
        }
        rest = behind;
    }
    out + rest
}

#[cfg(test)]
mod tests {
    use super::{Data, *};
    use base::model::Integrity;
    use std::collections::BTreeSet;

    #[test]
    fn every_name_is_unique_and_every_source_has_a_day_and_is_used() {
        let data = Data::built_in();
        let unique = |ids: Vec<&String>| {
            let set: BTreeSet<&String> = ids.iter().copied().collect();
            assert_eq!(set.len(), ids.len(), "{ids:?}");
        };
        unique(data.sources.iter().map(|s| &s.id).collect());
        unique(data.schemes.iter().map(|s| &s.id).collect());
        unique(data.uses.iter().map(|u| &u.id).collect());
        unique(data.rules.iter().map(|r| &r.id).collect());
        unique(data.programs.iter().map(|p| &p.id).collect());
        for glob in data.programs.iter().flat_map(|p| &p.schemes) {
            let glob = base::model::NameGlob::parse(glob).unwrap();
            assert!(data.schemes.iter().any(|s| glob.matches(&s.id)), "{}", glob.text());
        }
        for source in &data.sources {
            source.read.parse::<jiff::civil::Date>().unwrap();
            let text = [SCHEMES, USES, RULES, PROGRAMS].concat();
            assert!(text.contains(&format!("\"{}\"", source.id)), "{} is not used", source.id);
        }
        for rule in &data.rules {
            rule.date.parse::<jiff::civil::Date>().unwrap();
        }
    }

    #[test]
    fn a_broken_file_is_named_with_its_line() {
        let why =
            |schemes: &str| Data::parse([SOURCES, schemes, USES, RULES, PROGRAMS]).unwrap_err();
        assert!(why("[[family]]\nmode = 3\n").starts_with("schemes.toml line 2: "), "{}", why(""));
        let unknown = SCHEMES.replace("approved_source = \"sp800-38e\"", "approved_source = \"x\"");
        assert_eq!(why(&unknown), "'aes-128-xts' names the source 'x', which is none");
        let algorithm =
            SCHEMES.replace("measured = [\"aes-128-ocb\"]", "measured = [\"aes-128-obc\"]");
        assert!(why(&algorithm).contains("did you mean '"), "{}", why(&algorithm));
    }

    /// Facts that two tables have are the same in both.
    #[test]
    fn the_facts_agree_with_the_table_of_algorithms() {
        for scheme in &Data::built_in().schemes {
            let family = &scheme.family;
            let told = family.elsewhere.is_empty();
            assert_eq!(!scheme.algorithms().is_empty(), told, "{}", scheme.id);
            let made = family.made_tag_bytes.unwrap_or(family.tag_bytes) as usize;
            for algorithm in &scheme.measured {
                let integrity = match algorithm.integrity() {
                    Integrity::None => IntegrityLevel::None,
                    Integrity::Accident => IntegrityLevel::Accident,
                    Integrity::Tamper => IntegrityLevel::Adversary,
                };
                assert_eq!(family.integrity, integrity, "{}", scheme.id);
                assert_eq!(family.nonce_bits as usize, 8 * algorithm.nonce_len, "{}", scheme.id);
                assert_eq!(made, algorithm.tag_len, "{}", scheme.id);
                assert!(
                    algorithm.name.contains(&scheme.key_bits.to_string())
                        || family.mode.contains("chacha")
                        || scheme.id.starts_with("adiantum")
                );
                for size in [15, 16, 100] {
                    let fits = size % family.block_multiple as usize == 0
                        && size >= family.least_bytes as usize;
                    assert_eq!(takes(algorithm, size), fits, "{} {size}", scheme.id);
                }
            }
            let check = scheme.composed.get(1);
            assert!(check.is_none_or(|c| c.tag_len == made), "{}", scheme.id);
            assert!(family.nonce_bits == 0 || !family.nonce_source.is_empty(), "{}", scheme.id);
            let bound = family.blocks_log2.is_none() || !family.blocks_source.is_empty();
            assert!(bound, "{}: a bound without a source", scheme.id);
            let random = family.random_log2.is_none() || !family.random_source.is_empty();
            assert!(random, "{}: a bound without a source", scheme.id);
            let forged = family.forgery_log2.is_none() || !family.forgery_source.is_empty();
            assert!(forged, "{}: a bound without a source", scheme.id);
            // What has a tag that takes a key can be guessed at, and nothing else.
            let authentic = family.integrity == IntegrityLevel::Adversary;
            assert_eq!(family.forgery_log2.is_some(), authentic, "{}", scheme.id);
        }
    }

    #[test]
    fn luks_is_given_nothing_that_the_kernel_lacks() {
        let data = Data::built_in();
        let luks = data.programs.iter().find(|p| p.id == "luks").unwrap();
        let has = |scheme: &str| {
            luks.schemes.iter().any(|g| base::model::NameGlob::parse(g).unwrap().matches(scheme))
        };
        assert!(has("aes-256-xts") && has("adiantum") && has("aes-256-hctr2"));
        // Linux took AEGIS-128L and AEGIS-256 out in 5.4; AEGIS-128, which it kept, is another cipher.
        for scheme in ["aegis-128l", "aegis-256", "aes-256-siv", "aes-256-gcm-siv", "aes-256-eme2"]
        {
            assert!(!has(scheme), "{scheme}");
        }
    }

    #[test]
    fn every_use_is_there_with_sane_numbers_and_a_note() {
        let data = Data::built_in();
        let ids: Vec<&str> = data.uses.iter().map(|u| u.id.as_str()).collect();
        let all =
            ["postgres", "wal", "disk", "sqlite", "mariadb", "object-store", "backup", "messages"];
        assert_eq!(ids, all);
        let mut of_uses = data.uses.iter().filter_map(|u| u.program.as_ref());
        assert!(of_uses.all(|name| data.programs.iter().any(|p| p.id == *name)));
        for one in &data.uses {
            assert!(one.size.is_multiple_of(16) && !one.notes.is_empty(), "{}", one.id);
            assert!((0.0..=1.0).contains(&one.reads) && one.writes_per_second > 0.0, "{}", one.id);
            // Copies that go on are more than one writer.
            assert_eq!(one.writers > 1, one.snapshots, "{}", one.id);
        }
    }

    fn values() -> Values {
        Values::from([
            ("a.number", Some(number(4.0))),
            ("a.level", Some(Value::Level(1, &["low", "middle", "high"]))),
            ("a.word", Some(word("red"))),
            ("a.truth", Some(truth(true))),
            ("a.missing", None),
        ])
    }

    #[test]
    fn conditions_are_of_names_and_words() {
        for (text, expected) in [
            ("a.number < 5 and a.word is red", true),
            ("a.level >= middle and a.truth is yes", true),
            // What is not known, or of another kind, makes a clause false either way.
            ("a.missing is 3", false),
            ("a.missing is not 3", false),
            ("a.number < a.missing", false),
            ("a.number < a.word", false),
            ("a.word < 3", false),
            ("b > 1", false),
            ("b.c is not 1", false),
        ] {
            let condition = Condition::try_from(text.to_owned()).unwrap();
            assert_eq!(condition.holds(&values()), expected, "{text}");
        }
        for text in ["a.number around 3", "speed(a)"] {
            assert!(Condition::try_from(text.to_owned()).is_err(), "{text}");
        }
    }

    #[test]
    fn names_in_words_are_filled_in() {
        let text = "{a.number} and {a.level}, {nothing}, {a.truth} {";
        assert_eq!(fill(text, &values()), "4 and middle, {nothing}, yes ");
    }
}
