//! Files that users write: suites (what to measure, as data, each with its reason), and what machines cost (a
//! price by type, region and day, from FLEET.toml or a CSV file; none is built in).

use crate::model::{Direction, Footprint, Model, Tier};
use serde::Deserialize;
use serde::de::DeserializeOwned;
use std::collections::BTreeSet;

/// A suite file.
#[derive(Clone, Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Suite {
    /// Its name.
    pub name: String,
    /// Why these cases: what question they answer.
    pub reason: String,
    /// Globs over algorithm names.
    pub algorithms: Vec<String>,
    /// Globs over libraries, of those that are there; empty: all that are found.
    #[serde(default)]
    pub libraries: Vec<String>,
    /// Sizes, in the grammar of `--size`.
    pub sizes: String,
    /// Models.
    pub models: Vec<Model>,
    /// Directions of ciphers.
    pub directions: Vec<Direction>,
    /// CPU instructions that libraries may see.
    #[serde(default = "native")]
    pub tiers: Vec<Tier>,
    /// Working sets.
    #[serde(default = "hot")]
    pub footprints: Vec<Footprint>,
    /// Numbers of threads measuring at once.
    #[serde(default = "one")]
    pub threads: Vec<u32>,
    /// Whether the output is written over the input.
    #[serde(default = "apart")]
    pub in_place: Vec<bool>,
    /// Whether single operations are timed as well.
    #[serde(default)]
    pub latency: bool,
    /// As `--precision`.
    pub precision: String,
    /// As `--budget`.
    pub budget: String,
}

/// Why a text is no suite, or no other TOML that was expected.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct BadSuite {
    /// The line, from 1.
    pub line: usize,
    /// What is wrong there.
    pub why: String,
}

fn native() -> Vec<Tier> {
    vec![Tier::Native]
}

fn hot() -> Vec<Footprint> {
    vec![Footprint::Hot]
}

fn one() -> Vec<u32> {
    vec![1]
}

fn apart() -> Vec<bool> {
    vec![false]
}

/// The suites that come with the program.
const BUILT_IN: &[&str] = &[
    include_str!("../../../../suites/quick.toml"),
    include_str!("../../../../suites/published.toml"),
    include_str!("../../../../suites/pages.toml"),
    include_str!("../../../../suites/stream.toml"),
    include_str!("../../../../suites/full.toml"),
    include_str!("../../../../suites/everything.toml"),
    include_str!("../../../../suites/costs.toml"),
    include_str!("../../../../suites/at-rest.toml"),
    include_str!("../../../../suites/runtimes.toml"),
    include_str!("../../../../suites/disk.toml"),
    include_str!("../../../../suites/hashes.toml"),
    include_str!("../../../../suites/legacy.toml"),
    include_str!("../../../../suites/openssl-speed.toml"),
    include_str!("../../../../suites/passphrase.toml"),
];

impl Suite {
    /// Every built-in suite.
    pub fn built_in() -> Vec<Self> {
        BUILT_IN.iter().map(|text| Self::parse(text).expect("built-in suites are tested")).collect()
    }

    /// Reads a suite from TOML.
    pub fn parse(text: &str) -> Result<Self, BadSuite> {
        from_toml(text)
    }
}

/// Reads TOML.
pub fn from_toml<T: DeserializeOwned>(text: &str) -> Result<T, BadSuite> {
    toml::from_str(text).map_err(|e| {
        let before = e.span().and_then(|span| text.get(..span.start)).unwrap_or_default();
        BadSuite { line: 1 + before.matches('\n').count(), why: e.message().replace('\n', " ") }
    })
}

/// What an hour of a machine costs.
#[derive(Clone, Debug, PartialEq)]
pub struct Price {
    /// The type's name, as in FLEET.toml and in the store.
    pub machine_type: String,
    /// Where it is rented; `None` where that does not matter.
    pub region: Option<String>,
    /// From this day on: `YYYY-MM-DD`.
    pub date: String,
    /// `USD`, `EUR`, …
    pub currency: String,
    /// For one machine of the type, in units of the currency.
    pub per_hour: f64,
}

/// Every price that the user gave.
#[derive(Clone, Debug, Default, PartialEq)]
pub struct Prices(Vec<Price>);

/// Why a text holds no prices.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
#[error("line {line}: {why}")]
pub struct BadPrices {
    /// The line, from 1.
    pub line: u64,
    /// What is wrong there.
    pub why: String,
}

/// Of FLEET.toml, what prices are made of; the rest is the fleet's.
#[derive(Deserialize)]
struct File {
    #[serde(default)]
    machine: Vec<toml::Spanned<Machine>>,
}

#[derive(Deserialize)]
struct Machine {
    #[serde(rename = "type")]
    name: String,
    region: Option<String>,
    price_per_hour: Option<f64>,
    currency: Option<String>,
    date: Option<Day>,
}

/// With quotes or without.
#[derive(Deserialize)]
#[serde(untagged)]
enum Day {
    Text(String),
    Date(toml::value::Datetime),
}

impl Day {
    fn text(self) -> String {
        match self {
            Self::Text(text) => text,
            Self::Date(date) => date.to_string(),
        }
    }
}

#[derive(Deserialize)]
#[serde(deny_unknown_fields)]
struct Line {
    #[serde(rename = "type")]
    name: String,
    #[serde(default)]
    region: String,
    price_per_hour: f64,
    currency: String,
    date: String,
}

impl Prices {
    /// Reads the prices of FLEET.toml: those of its machines that have one.
    pub fn from_toml(text: &str) -> Result<Self, BadPrices> {
        let file: File =
            from_toml(text).map_err(|e| BadPrices { line: e.line as u64, why: e.why })?;
        let mut all = Vec::new();
        for machine in file.machine {
            let before = text.get(..machine.span().start).unwrap_or_default();
            let line = 1 + before.matches('\n').count() as u64;
            let Machine { name, region, price_per_hour, currency, date } = machine.into_inner();
            let Some(per_hour) = price_per_hour else { continue };
            let lacks =
                |what| BadPrices { line, why: format!("the price of '{name}' has no {what}") };
            let price = Price {
                currency: currency.ok_or_else(|| lacks("currency"))?,
                date: date.map(Day::text).ok_or_else(|| lacks("date"))?,
                machine_type: name.clone(),
                region,
                per_hour,
            };
            all.push((line, price));
        }
        Self::of(all)
    }

    /// Reads a CSV file with the columns `type`, `price_per_hour`, `currency`, `date` and, if it matters, `region`.
    pub fn from_csv(text: &str) -> Result<Self, BadPrices> {
        let mut reader = csv::ReaderBuilder::new()
            .trim(csv::Trim::All)
            .comment(Some(b'#'))
            .from_reader(text.as_bytes());
        let mut all = Vec::new();
        for row in reader.deserialize() {
            let row: Line = row.map_err(|e| broken(&e))?;
            let price = Price {
                machine_type: row.name,
                region: Some(row.region).filter(|region| !region.is_empty()),
                date: row.date,
                currency: row.currency,
                per_hour: row.price_per_hour,
            };
            // One line a row, after the header.
            all.push((2 + all.len() as u64, price));
        }
        Self::of(all)
    }

    fn of(all: Vec<(u64, Price)>) -> Result<Self, BadPrices> {
        let mut seen = BTreeSet::new();
        for (line, price) in &all {
            let bad = |why: String| Err(BadPrices { line: *line, why });
            let Price { machine_type, region, date, currency, per_hour } = price;
            if !(per_hour.is_finite() && *per_hour > 0.0) {
                return bad(format!("{per_hour} is no price for '{machine_type}'"));
            }
            if !is_day(date) {
                return bad(format!("'{date}' is no date: write YYYY-MM-DD"));
            }
            if currency.is_empty() || !currency.chars().all(char::is_alphanumeric) {
                return bad(format!("'{currency}' is no currency: write USD, EUR, …"));
            }
            if !seen.insert((machine_type, region, date)) {
                return bad(format!("'{machine_type}' has two prices from {date} on"));
            }
        }
        Ok(Self(all.into_iter().map(|(_, price)| price).collect()))
    }

    /// These and others: FLEET.toml's and those of its CSV file.
    pub fn with(mut self, others: Self) -> Self {
        self.0.extend(others.0);
        self
    }

    /// Every price, in the order of the file.
    pub fn iter(&self) -> impl Iterator<Item = &Price> {
        self.0.iter()
    }

    /// Whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    /// What a type costs on a day: the newest price of this day or before, else the first after it. Without a region,
    /// a price that names none, or that of the only region there is; `None` where regions differ.
    pub fn of_day(&self, machine_type: &str, region: Option<&str>, day: &str) -> Option<&Price> {
        let mut own: Vec<&Price> =
            self.0.iter().filter(|p| p.machine_type == machine_type).collect();
        let is_there = |region: Option<&str>| own.iter().any(|p| p.region.as_deref() == region);
        let regions: BTreeSet<Option<&str>> = own.iter().map(|p| p.region.as_deref()).collect();
        let region = match region {
            Some(region) if is_there(Some(region)) => Some(region),
            _ if is_there(None) => None,
            None if regions.len() == 1 => regions.into_iter().next().flatten(),
            _ => return None,
        };
        own.retain(|p| p.region.as_deref() == region);
        own.sort_by(|a, b| a.date.cmp(&b.date));
        // Days sort as text; a time of day may follow.
        let day = day.get(..10).unwrap_or(day);
        own.iter().rev().find(|p| p.date.as_str() <= day).or(own.first()).copied()
    }
}

fn broken(error: &csv::Error) -> BadPrices {
    let line = error.position().map_or(1, csv::Position::line);
    let why = match error.kind() {
        csv::ErrorKind::Deserialize { err, .. } => match err.kind() {
            csv::DeserializeErrorKind::Message(why) => why.clone(),
            other => other.to_string(),
        },
        csv::ErrorKind::UnequalLengths { len, expected_len, .. } => {
            format!("{len} fields, and the header has {expected_len}")
        }
        other => format!("{other:?}"),
    };
    BadPrices { line, why: why.replace('\n', " ") }
}

/// `YYYY-MM-DD`
fn is_day(text: &str) -> bool {
    let fields: Vec<&str> = text.split('-').collect();
    let number = |at: usize, width: usize| -> Option<u32> {
        let field = fields.get(at).filter(|f| f.len() == width)?;
        field.bytes().all(|b| b.is_ascii_digit()).then(|| field.parse().ok())?
    };
    let month = number(1, 2).is_some_and(|m| (1..=12).contains(&m));
    let day = number(2, 2).is_some_and(|d| (1..=31).contains(&d));
    fields.len() == 3 && number(0, 4).is_some() && month && day
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::model::{Algorithm, Kind, NameGlob};
    use crate::text::flags;

    #[test]
    fn every_built_in_suite_means_something() {
        for suite in Suite::built_in() {
            for glob in &suite.algorithms {
                let glob = NameGlob::parse(glob).unwrap();
                assert!(Algorithm::all().iter().any(|a| glob.matches(a.name)), "{}", glob.text());
            }
            assert!(!crate::model::parse_sizes(&suite.sizes).unwrap().is_empty());
            flags::parse_fraction(&suite.precision).unwrap();
            flags::parse_duration(&suite.budget).unwrap();
            assert!(!suite.models.is_empty() && !suite.directions.is_empty());
            assert!(suite.reason.len() > 20, "{}", suite.name);
        }
    }

    #[test]
    fn suites_have_all_that_their_reasons_say() {
        let has = |suite: &str, name: &str| {
            let all = Suite::built_in();
            let suite = all.iter().find(|s| s.name == suite).unwrap();
            suite.algorithms.iter().any(|g| NameGlob::parse(g).unwrap().matches(name))
        };
        let all = Algorithm::all().iter().filter(|a| !a.is_brought());
        for a in all.filter(|a| matches!(a.kind, Kind::Digest | Kind::Mac)) {
            assert!(has("hashes", a.name), "{a}");
        }
        // `names` of apps/speed.c, OpenSSL 3.5 and 4.0; hmac(md5) is that of 3.0.
        let rows = "md4 md5 sha1 rmd160 sha256 sha512 whirlpool hmac-sha256 hmac-md5 des-cbc des-ede3-cbc rc4 idea-cbc \
            seed-cbc rc2-cbc bf-cbc cast5-cbc aes-128-cbc aes-192-cbc aes-256-cbc camellia-128-cbc camellia-192-cbc \
            camellia-256-cbc ghash random kmac128 kmac256";
        for row in rows.split_whitespace() {
            assert!(has("openssl-speed", row), "{row}");
        }
    }

    #[test]
    fn what_is_no_suite_is_one_line_with_its_place() {
        let why = |text: &str| Suite::parse(text).unwrap_err().to_string();
        assert!(why("name = ").starts_with("line 1: "), "{}", why("name = "));
        assert!(why("name = 'x'\nreason = 3\n").starts_with("line 2: invalid type"));
        assert!(why("name = 'x'\nname = 'y'\n").starts_with("line 2: duplicate key"));
        for bad in ["a = 1", "\u{feff}", "[[[", "name = \"\\u0000\u{1b}\"", "\r\n\0"] {
            assert_eq!(why(bad).lines().count(), 1, "{bad:?}: {}", why(bad));
        }
        assert!(why(&"[".repeat(1 << 20)).len() < 300);
        assert!(why(&format!("a = {}", "[".repeat(1 << 20))).len() < 300);
    }

    const FLEET: &str = "survey = 'a'\n[[machine]]\ntype = 'c7i'\nregion = 'eu'\nprice_per_hour = 0.1071\n\
        currency = 'USD'\ndate = 2026-11-20\n\n[[machine]]\ntype = 'm8g'\n";

    #[test]
    fn machines_with_a_price_have_one_and_dates_need_no_quotes() {
        let prices = Prices::from_toml(FLEET).unwrap();
        let price = prices.of_day("c7i", Some("eu"), "2026-11-25T10:00:00Z").unwrap();
        assert_eq!(
            (price.per_hour, price.date.as_str(), &*price.currency),
            (0.1071, "2026-11-20", "USD")
        );
        assert_eq!(prices.iter().count(), 1);
        let quoted = FLEET.replace("2026-11-20", "'2026-11-20'");
        assert_eq!(Prices::from_toml(&quoted).unwrap(), prices);
        assert!(prices.of_day("m8g", None, "2026-11-25").is_none());
    }

    #[test]
    fn the_price_of_a_day_is_the_newest_until_then_else_the_first_after() {
        let csv = "type,region,date,price_per_hour,currency\nc7i,eu,2026-01-01,3,USD\nc7i,eu,2026-06-01,2,USD\n\
            c7i,us,2026-01-01,1,USD\nm8g,,2026-01-01,9,EUR\n";
        let prices = Prices::from_csv(csv).unwrap();
        let of = |kind, region, day| prices.of_day(kind, region, day).map(|p| p.per_hour);
        assert_eq!(of("c7i", Some("eu"), "2026-05-31"), Some(3.0));
        assert_eq!(of("c7i", Some("eu"), "2026-06-01"), Some(2.0));
        assert_eq!(of("c7i", Some("eu"), "2025-01-01"), Some(3.0));
        assert_eq!(of("c7i", None, "2026-05-31"), None, "which region?");
        assert_eq!(of("c7i", Some("asia"), "2026-05-31"), None);
        assert_eq!(of("m8g", None, "2026-05-31"), Some(9.0));
        assert_eq!(of("m8g", Some("asia"), "2026-05-31"), Some(9.0), "it is the same everywhere");
        assert_eq!(of("r9x", None, "2026-05-31"), None);
    }

    #[test]
    fn what_is_no_price_is_one_line_with_its_place() {
        let toml = |text: &str| Prices::from_toml(text).unwrap_err().to_string();
        assert_eq!(toml(&FLEET.replace("0.1071", "-1")), "line 2: -1 is no price for 'c7i'");
        assert_eq!(
            toml(&FLEET.replace("currency = 'USD'\n", "")),
            "line 2: the price of 'c7i' has no currency"
        );
        assert_eq!(
            toml(&FLEET.replace("2026-11-20", "'soon'")),
            "line 2: 'soon' is no date: write YYYY-MM-DD"
        );
        let csv = |text: &str| Prices::from_csv(text).unwrap_err().to_string();
        let header = "type,date,price_per_hour,currency\n";
        let twice = format!("{header}a,2026-01-01,1,USD\na,2026-01-01,2,USD\n");
        assert_eq!(csv(&twice), "line 3: 'a' has two prices from 2026-01-01 on");
        for bad in [
            "a,2026-13-01,1,USD",
            "a,2026-01-01,x,USD",
            "a,2026-01-01,NaN,USD",
            "a,2026-01-01,1",
            "a,2026-01-01,1,$",
        ] {
            let why = csv(&format!("{header}{bad}\n"));
            assert!(why.starts_with("line 2: ") && why.lines().count() == 1, "{bad}: {why}");
        }
        assert!(csv("type,price\na,1\n").contains("line"), "{}", csv("type,price\na,1\n"));
    }

    proptest::proptest! {
        #[test]
        fn any_text_is_prices_or_one_line(text in "(?s)(type|machine|date|[\\[\\]=,0-9'\n.-]|.){0,40}") {
            for why in [Prices::from_toml(&text).err(), Prices::from_csv(&text).err()].into_iter().flatten() {
                proptest::prop_assert_eq!(why.to_string().lines().count(), 1);
            }
        }
    }
}
