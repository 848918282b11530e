//! Whether nonces that are made of places and versions come twice with different pages, over a
//! sequence of states of a store.

use crate::at_rest::scheme::{Field, KeyScope, NonceRule, OnReuse, Position, Recipe, write_fields};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::collections::HashMap;

/// Most pages that are named for each rule.
const NAMED: usize = 20;

/// A page as it was seen in a state of the store.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct Seen {
    /// Number of the state.
    pub snapshot: usize,
    /// Number of the page within it, for its name.
    pub page: usize,
    /// Where it lies.
    pub position: Position,
    /// Hash of its content.
    pub content: u128,
}

/// What was found of all rules and schemes.
#[derive(Clone, Debug, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Nonces {
    /// States of the store that were read.
    pub states: usize,
    /// Pages in all of them.
    pub pages: u64,
    /// Ways to make a nonce of a page's place and version.
    pub rules: Vec<NonceRow>,
    /// What that means for each scheme.
    pub schemes: Vec<NonceVerdict>,
}

/// A way to make a nonce.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NonceRow {
    /// A name for it.
    pub rule: String,
    /// What it is made of.
    pub fields: Vec<Field>,
    /// Whether each file has a key, or a mask, of its own.
    pub key_per_file: bool,
    /// Different nonces.
    pub distinct: u64,
    /// Nonces under which one content was seen at several places: no harm, but their equality shows.
    pub repeated_same: u64,
    /// Nonces under which several contents were seen.
    pub repeated_different: u64,
    /// Some of those.
    pub named: Vec<RepeatedNonce>,
}

/// Two different contents under one nonce.
#[derive(Clone, Debug, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RepeatedNonce {
    /// The page, and which state of the store it is in, counted from 0.
    pub page: String,
    /// The other one.
    pub other: String,
}

/// What a scheme's nonces come to.
#[derive(Clone, Debug, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct NonceVerdict {
    /// The scheme's name.
    pub scheme: String,
    /// `random`, `none`, or the rule's name.
    pub rule: String,
    /// `unique`: no nonce came twice with different pages; `by-design`: it did, and the scheme only
    /// shows which blocks are equal; `broken`: it did, and plaintexts leak; `random`: unique but for
    /// chance; `none`: there is no nonce.
    pub verdict: String,
    /// Chance that any two of the pages of all states, each written once, share a random nonce.
    pub collision: Option<f64>,
    /// `unique` or `repeats`: what nonces of block and LSN alone, and of place and LSN, would have come to
    /// in this store.
    pub from_lsn: String,
}

/// A rule to be tried.
struct Rule {
    name: &'static str,
    fields: Vec<Field>,
    key_per_file: bool,
}

/// Bytes of the longest nonce with the file before it.
const KEY: usize = 48;

/// Tries the usual rules, and those of the schemes, on every page that was seen. `name` names a page.
#[must_use]
pub fn nonces(
    recipes: &[Recipe],
    seen: &[Seen],
    has_versions: bool,
    name: &dyn Fn(&Seen) -> String,
) -> Nonces {
    let rows: Vec<NonceRow> =
        rules(recipes, has_versions).into_iter().map(|rule| row(rule, seen, name)).collect();
    let states = seen.iter().map(|s| s.snapshot + 1).max().unwrap_or(0);
    let verdict = |recipe: &Recipe| verdict(recipe, &rows, seen.len() as u64);
    Nonces {
        states,
        pages: seen.len() as u64,
        schemes: recipes.iter().map(verdict).collect(),
        rules: rows,
    }
}

const PLACE: [Field; 5] =
    [Field::Space24, Field::Database32, Field::Relation32, Field::Fork8, Field::Block32];

fn rules(recipes: &[Recipe], has_versions: bool) -> Vec<Rule> {
    let rule = |name, fields, key_per_file| Rule { name, fields, key_per_file };
    let mut rules = vec![rule("place", PLACE.to_vec(), false)];
    if has_versions {
        rules.push(rule("block-lsn", vec![Field::Block32, Field::Version64], false));
        rules.push(rule("place-lsn", [&PLACE[..], &[Field::Version64]].concat(), false));
    }
    for recipe in recipes {
        if let Some((fields, key_per_file)) = own_fields(recipe)
            && !rules.iter().any(|r| same(&r.fields, &fields) && r.key_per_file == key_per_file)
        {
            rules.push(rule("own", fields, key_per_file));
        }
    }
    rules
}

/// What a scheme makes its nonces of, and whether a file's pages have a key or a mask of their own.
fn own_fields(recipe: &Recipe) -> Option<(Vec<Field>, bool)> {
    let per_file = recipe.key == KeyScope::File;
    match &recipe.nonce {
        NonceRule::Place(f) | NonceRule::Lsn(f) => Some((f.clone(), per_file)),
        NonceRule::MaskedPlace(f) => Some((f.clone(), true)),
        NonceRule::None | NonceRule::Random => None,
    }
}

/// Whether two lists have the same fields, in whatever order.
fn same(a: &[Field], b: &[Field]) -> bool {
    let useful = |list: &[Field]| {
        let mut names: Vec<String> =
            list.iter().filter(|f| **f != Field::Zero).map(|f| format!("{f:?}")).collect();
        names.sort();
        names
    };
    useful(a) == useful(b)
}

fn row(rule: Rule, seen: &[Seen], name: &dyn Fn(&Seen) -> String) -> NonceRow {
    let mut first: HashMap<[u8; KEY], usize> = HashMap::with_capacity(seen.len());
    let mut repeats: HashMap<[u8; KEY], Option<usize>> = HashMap::new();
    for (i, page) in seen.iter().enumerate() {
        let key = key(&rule, &page.position);
        let Some(&before) = first.get(&key) else {
            first.insert(key, i);
            continue;
        };
        let earlier = &seen[before];
        if earlier.content != page.content {
            repeats.entry(key).or_default().get_or_insert(i);
        } else if earlier.position != page.position {
            repeats.entry(key).or_default();
        }
    }
    let mut different: Vec<(usize, usize)> =
        repeats.iter().filter_map(|(key, i)| i.map(|i| (first[key], i))).collect();
    different.sort_unstable();
    let named = different
        .iter()
        .take(NAMED)
        .map(|(a, b)| RepeatedNonce { page: name(&seen[*a]), other: name(&seen[*b]) });
    NonceRow {
        rule: rule.name.to_owned(),
        key_per_file: rule.key_per_file,
        distinct: first.len() as u64,
        repeated_same: (repeats.len() - different.len()) as u64,
        repeated_different: different.len() as u64,
        named: named.collect(),
        fields: rule.fields,
    }
}

fn key(rule: &Rule, at: &Position) -> [u8; KEY] {
    let mut key = [0; KEY];
    if rule.key_per_file {
        let file = [Field::Space24, Field::Database32, Field::Relation32];
        write_fields(&file, at, 4096, &mut key[..11]);
    }
    write_fields(&rule.fields, at, 4096, &mut key[11..]);
    key
}

fn verdict(recipe: &Recipe, rows: &[NonceRow], pages: u64) -> NonceVerdict {
    let repeats =
        |name: &str| rows.iter().find(|r| r.rule == name).map(|r| r.repeated_different > 0);
    let from_lsn = match (repeats("block-lsn"), repeats("place-lsn")) {
        (Some(a), Some(b)) => {
            let word = |r: bool| if r { "repeats" } else { "unique" };
            format!("block and LSN: {}; place and LSN: {}", word(a), word(b))
        }
        _ => "the store has no versions".to_owned(),
    };
    let made = |rule: &str, verdict: &str, collision| NonceVerdict {
        scheme: recipe.scheme.clone(),
        rule: rule.to_owned(),
        verdict: verdict.to_owned(),
        collision,
        from_lsn: from_lsn.clone(),
    };
    match own_fields(recipe) {
        Some((fields, per_file)) => {
            let own = rows.iter().find(|r| same(&r.fields, &fields) && r.key_per_file == per_file);
            let repeated = own.is_some_and(|r| r.repeated_different > 0);
            let verdict = match (repeated, recipe.on_reuse()) {
                (false, _) => "unique",
                (true, OnReuse::EqualitySeen | OnReuse::Nothing) => "by-design",
                (true, _) => "broken",
            };
            made(own.map_or("own", |r| &r.rule), verdict, None)
        }
        None if recipe.nonce == NonceRule::None => made("none", "none", None),
        None => made("random", "random", Some(collision(random_bits(recipe), pages))),
    }
}

/// Random bits of a nonce: of a counter block all but the 16 that count a page's blocks.
fn random_bits(recipe: &Recipe) -> u32 {
    let counter = recipe.algorithm().is_some_and(|a| a.mode == base::model::Mode::Ctr);
    recipe.nonce_bytes() as u32 * 8 - if counter { 16 } else { 0 }
}

/// The birthday bound, q²/2^(bits+1).
fn collision(bits: u32, pages: u64) -> f64 {
    let pages = pages as f64;
    (pages * pages / 2_f64.powi(bits as i32 + 1)).min(1.0)
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at_rest::scheme::{good_practice, profile};

    fn seen(snapshot: usize, relation: u32, block: u32, version: u64, content: u128) -> Seen {
        let position = Position { database: 5, relation, block, version, ..Position::default() };
        Seen { snapshot, page: block as usize, position, content }
    }

    fn found(seen: &[Seen], rule: &str) -> NonceRow {
        let all = nonces(&good_practice(), seen, true, &|s| format!("{}@{}", s.page, s.snapshot));
        all.rules.into_iter().find(|r| r.rule == rule).unwrap()
    }

    #[test]
    fn a_page_that_did_not_change_between_states_repeats_nothing() {
        let row = found(&[seen(0, 1, 0, 9, 7), seen(1, 1, 0, 9, 7)], "place");
        assert_eq!((row.distinct, row.repeated_same, row.repeated_different), (1, 0, 0));
    }

    #[test]
    fn hint_bits_change_a_page_under_its_lsn() {
        let row = found(&[seen(0, 1, 0, 9, 7), seen(1, 1, 0, 9, 8)], "place-lsn");
        assert_eq!(row.repeated_different, 1);
        assert_eq!((&*row.named[0].page, &*row.named[0].other), ("0@0", "0@1"));
    }

    #[test]
    fn block_and_lsn_repeat_across_relations_within_one_state() {
        let pages = [seen(0, 1, 3, 9, 7), seen(0, 2, 3, 9, 8), seen(0, 3, 3, 9, 7)];
        assert_eq!(found(&pages, "block-lsn").repeated_different, 1);
        assert_eq!(found(&pages, "place-lsn").repeated_different, 0);
        let copies = [seen(0, 1, 3, 9, 7), seen(0, 2, 3, 9, 7)];
        let row = found(&copies, "block-lsn");
        assert_eq!((row.repeated_same, row.repeated_different), (1, 0));
    }

    #[test]
    fn xts_repeats_its_tweaks_by_design_and_random_nonces_have_a_chance() {
        let pages = [seen(0, 1, 0, 9, 7), seen(1, 1, 0, 10, 8)];
        let all = nonces(&good_practice(), &pages, true, &|_| String::new());
        let of = |name: &str| all.schemes.iter().find(|s| s.scheme == name).unwrap();
        assert_eq!(of("aes-256-xts").verdict, "by-design");
        assert_eq!(of("none").verdict, "none");
        assert_eq!(of("aes-256-gcm").verdict, "random");
        let chance = of("aes-256-gcm").collision.unwrap();
        assert!((chance - 4.0 / 2_f64.powi(97)).abs() < 1e-40, "{chance}");
    }

    #[test]
    fn nonces_of_the_lsn_are_broken_where_hint_bits_change_a_page() {
        let recipes = crate::at_rest::scheme::with_lsn_nonces();
        let verdict = |pages: &[Seen], name: &str| {
            let all = nonces(&recipes, pages, true, &|_| String::new());
            let of = all.schemes.into_iter().find(|s| s.scheme == name).unwrap();
            (of.rule, of.verdict)
        };
        let word = |a: &str, b: &str| (a.to_owned(), b.to_owned());
        let logged = [seen(0, 1, 0, 9, 7), seen(1, 1, 0, 10, 8)];
        assert_eq!(verdict(&logged, "aes-256-gcm"), word("block-lsn", "unique"));
        let hints = [seen(0, 1, 0, 9, 7), seen(1, 1, 0, 9, 8)];
        assert_eq!(verdict(&hints, "aes-256-gcm"), word("block-lsn", "broken"));
        assert_eq!(verdict(&hints, "aes-256-gcm-siv"), word("block-lsn", "by-design"));
        assert_eq!(verdict(&hints, "aes-256-cbc+hmac-sha256").0, "random");
    }

    #[test]
    fn a_tweak_without_the_fork_meets_itself_in_another_fork() {
        let main = seen(0, 1, 0, 9, 7);
        let map = Seen { position: Position { fork: 1, ..main.position }, content: 8, ..main };
        let edb = profile("edb").unwrap().recipes;
        let all = nonces(&edb, &[main, map], true, &|_| "x".to_owned());
        let own = all.rules.iter().find(|r| r.rule == "own").unwrap();
        assert_eq!(own.repeated_different, 1);
        assert_eq!(all.schemes[0].verdict, "by-design");
    }
}
