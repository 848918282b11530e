//! What encryption of a store's pages costs, in one screen: for each of a few wishes the scheme that would be
//! chosen, in the three cheapest libraries and in the one that the store itself uses.

use crate::advise::cost::{Costs, Price};
use crate::advise::data::Data;
use crate::advise::evaluate::{beside, stored_bytes, usable};
use crate::advise::question::{
    Evidence, Fips, IntegrityLevel, NonceSource, Only, Question, Surroundings, pages_proven,
};
use crate::advise::{OpenWhy, Outcome, advise, sentences};
use base::analysis::Estimate;
use base::model::{Direction, Tier};
use base::text::{Options, capital, clean, wrap};
use jiff::Timestamp;
use jiff::civil::Date;
use record::LeakVerdict;
use record::at_rest::{Cell, Medium, PagesRecord};
use std::collections::BTreeMap;
use std::fmt::Write as _;

#[derive(Clone, Debug)]
pub struct StoreWish<'a> {
    pub title: &'static str,
    pub question: Question<'a>,
}

/// The wishes that a store of this kind (`postgres`, `sqlite`, `image`, `synthetic`) gives rise to: by what must be
/// noticed, by the room in its pages, by what its own program does.
pub fn wishes_of_store<'a>(
    data: &'a Data,
    kind: &str,
    page_size: usize,
    tier: Tier,
    today: Date,
) -> Vec<StoreWish<'a>> {
    let used = data.find_use(use_of_store(kind)).expect("the data has these uses");
    let asked = |title: &'static str, change: &dyn Fn(&mut Question<'a>)| {
        let mut question =
            Question { size: page_size, tier, key_born: today, ..Question::of(used, today) };
        question.wishes.integrity = IntegrityLevel::Adversary;
        question.wishes.nonce = NonceSource::Random;
        change(&mut question);
        StoreWish { title, question }
    };
    let beside_it = |q: &mut Question<'a>| {
        // Where a sector has no room, a layer below keeps nonces and tags.
        if used.expansion == Some(0) {
            q.wishes.expansion = None;
        }
    };
    let without_room = |q: &mut Question<'a>| {
        q.wishes.integrity = IntegrityLevel::None;
        q.wishes.expansion = Some(0);
        q.wishes.nonce = NonceSource::Position;
    };
    let mut wishes = vec![
        asked("tampering noticed", &beside_it),
        asked("the same, approved by NIST", &|q| {
            beside_it(q);
            q.wishes.fips = Fips::Algorithm;
        }),
        asked("the same, should nonces repeat", &|q| {
            beside_it(q);
            q.wishes.nonce = NonceSource::Counter;
            q.wishes.snapshots = true;
        }),
        asked("no room in the page: nothing is noticed", &without_room),
    ];
    if kind == "sqlite" {
        let own = Only::named(data, SQLCIPHER).expect("the data has SQLCipher's scheme");
        let of_program =
            asked("SQLCipher 4's scheme, with keys kept, which it sets for each page", &|q| {
                q.wishes.only = Some(own.clone())
            });
        wishes.insert(wishes.len() - 1, of_program);
    }
    if kind == "image" {
        wishes.rotate_right(1);
    }
    wishes
}

/// What a store of a kind is asked about as.
pub fn use_of_store(kind: &str) -> &'static str {
    match kind {
        "sqlite" => "sqlite",
        "image" => "disk",
        _ => "postgres",
    }
}

/// SQLCipher 4's own scheme.
const SQLCIPHER: &str = "aes-256-cbc+hmac-sha512";
/// Libraries of a scheme, beside the reader's own.
const BEST: usize = 3;

#[derive(Clone, Debug)]
pub struct Priced {
    pub title: String,
    /// None where no scheme fits, or none was measured.
    pub scheme: Option<String>,
    /// Whether there is a scheme, or nothing here could be one.
    pub is_answered: bool,
    /// Bytes that are kept with each page.
    pub stored: u32,
    /// The cheapest libraries, and the reader's own.
    pub rows: Vec<PricedRow>,
    pub remarks: Vec<String>,
}

#[derive(Clone, Debug)]
pub struct PricedRow {
    pub library: String,
    pub write: Estimate,
    pub read: Estimate,
    /// Both directions' mean.
    pub cost: Estimate,
    /// Whether it is the store's own library.
    pub is_own: bool,
    /// Whether it is shown to cost the same as the first, within 5 %.
    pub is_tied: bool,
    pub leaks: Option<LeakVerdict>,
}

/// What is known of the machine that the record does not say.
#[derive(Clone, Copy)]
pub struct Here<'a> {
    /// Whether a library's file is the store's own.
    pub own: &'a dyn Fn(&str) -> bool,
    /// Why a scheme cannot have a price; reads before its name.
    pub why_not: &'a dyn Fn(&str) -> Option<&'static str>,
}

/// Whether the record's prices leave it open which scheme and library answer a wish.
pub fn is_undecided(
    data: &Data,
    wish: &StoreWish<'_>,
    record: &PagesRecord,
    around: &Surroundings,
) -> bool {
    let advice = advise(data, &wish.question, Evidence::Pages(record), around);
    advice.open.iter().any(|open| open.kind == OpenWhy::Undecided)
}

/// What answers one wish, from the prices of a record.
pub fn priced(
    data: &Data,
    wish: &StoreWish<'_>,
    record: &PagesRecord,
    around: &Surroundings,
    here: &Here<'_>,
) -> Priced {
    let question = &wish.question;
    let none = Priced {
        title: wish.title.to_owned(),
        scheme: None,
        is_answered: false,
        stored: 0,
        rows: Vec::new(),
        remarks: Vec::new(),
    };
    if record.withdrawn().is_some() {
        return Priced { remarks: vec!["no price".to_owned()], ..none };
    }
    let mut advice = advise(data, question, Evidence::Pages(record), around);
    // A look at everything chose what the record asked for: it ruled the rest out.
    advice.open.retain(|open| open.kind != OpenWhy::Missing || !open.builds.is_empty());
    let choice = match &advice.outcome {
        Outcome::Choice(choice) => choice,
        Outcome::None(conflict) => {
            let fitting = &conflict.not_asked;
            let lacks = |scheme: &String| (here.why_not)(scheme).is_some();
            let is_answered = !fitting.is_empty() && fitting.iter().all(lacks);
            let remarks = unmeasured(fitting, here.why_not).or_else(|| sentences::none(&advice));
            return Priced { is_answered, remarks: remarks.into_iter().collect(), ..none };
        }
    };
    let costs = Costs::of(data, question, Evidence::Pages(record), &around.judged);
    let Some(scheme) = data.schemes.iter().find(|s| s.id == choice.scheme) else { return none };
    let is_own = |p: &Price| p.libraries.iter().any(|l| (here.own)(&l.path));
    let usable = usable(scheme, question, &costs).unwrap_or_default();
    let mut shown: Vec<&Price> = usable.into_iter().take(BEST).collect();
    let all = costs.prices(scheme, question).unwrap_or_default();
    if !shown.iter().any(|p| is_own(p)) {
        shown.extend(all.iter().find(|p| is_own(p)));
    }
    let best = shown.first().map(|p| p.cost(question.reads));
    let row = |(place, p): (usize, &&Price)| {
        let cost = p.cost(question.reads);
        PricedRow {
            library: p.label(),
            write: p.write_ns,
            read: p.read_ns,
            cost,
            is_own: is_own(p),
            is_tied: place == 0 || best.is_some_and(|best| beside(cost, best).is_same()),
            leaks: p.leaks,
        }
    };
    Priced {
        scheme: Some(scheme.id.clone()),
        is_answered: true,
        stored: stored_bytes(scheme, question),
        rows: shown.iter().enumerate().map(row).collect(),
        // What could give another answer.
        remarks: sentences::open(&advice).into_iter().take(1).collect(),
        ..none
    }
}

/// Why schemes that would fit have no price; none where nothing would fit.
fn unmeasured(
    fitting: &[String],
    why_not: &dyn Fn(&str) -> Option<&'static str>,
) -> Option<String> {
    let mut lacking: BTreeMap<&str, Vec<&str>> = BTreeMap::new();
    let mut unmeasured = Vec::new();
    for scheme in fitting {
        match why_not(scheme) {
            Some(why) => lacking.entry(why).or_default().push(scheme),
            None => unmeasured.push(scheme.clone()),
        }
    }
    let measurable = (!unmeasured.is_empty()).then(|| sentences::not_measured(&unmeasured));
    let lacking = lacking.iter().map(|(why, schemes)| format!("{why} {}", schemes.join(", ")));
    let all: Vec<String> = measurable.into_iter().chain(lacking).collect();
    (!all.is_empty()).then(|| match unmeasured.is_empty() {
        true => format!("nothing that would fit: {}", all.join("; ")),
        false => all.join("; "),
    })
}

#[derive(Clone, Debug, Default)]
pub struct Around {
    pub store: String,
    /// Whose library is the store's own: `PostgreSQL 15's libcrypto`; empty where none is known.
    pub own: String,
    pub looked_at: String,
    pub next: Vec<String>,
}

/// The screen: at most 40 lines of 100 columns.
pub fn screen(
    record: &PagesRecord,
    groups: &[Priced],
    around: &Around,
    options: Options,
) -> String {
    let columns = options.width.clamp(60, COLUMNS);
    let say = |out: &mut String, text: &str| {
        for (i, line) in wrap(&clean(text), columns.saturating_sub(2)).iter().enumerate() {
            let lead = if i == 0 { "" } else { "  " };
            _ = writeln!(out, "{lead}{line}");
        }
    };
    let mut out = String::new();
    say(&mut out, &around.store);
    say(&mut out, &proven(record));
    if let Some(why) = record.withdrawn() {
        say(&mut out, &format!("No price is shown: {why}."));
    }
    let heads = ["encrypt", "decrypt", "of best"];
    _ = writeln!(
        out,
        "\n{:<40} {:>14} {:>14} {:>8}",
        "nanoseconds a page", heads[0], heads[1], heads[2]
    );
    groups.iter().for_each(|group| out += &rows(group, &around.own));
    let list = record.timing.as_ref().and_then(|t| t.from_list.as_deref());
    let list = list.map(|taken| listed(taken, &record.started));
    let below = [touch(record), sentence(groups), Some(around.looked_at.clone()), list];
    let next = around.next.iter().cloned();
    for text in below.into_iter().flatten().chain(next) {
        say(&mut out, &text);
    }
    out
}

/// Where nothing is known but the record.
const NOWHERE: Here<'static> = Here { own: &|_| false, why_not: &|_| None };

/// How old prices of the list were, and how to have others.
fn listed(taken: &str, now: &str) -> String {
    let age =
        taken.parse().ok().zip(now.parse().ok()).map(|(taken, now): (Timestamp, Timestamp)| {
            let minutes = now.duration_since(taken).as_secs().max(0) / 60;
            match minutes {
                0..60 => format!("{minutes} minutes"),
                60..2880 => format!("{} hours", minutes / 60),
                _ => format!("{} days", minutes / 1440),
            }
        });
    let when = taken.get(..16).unwrap_or(taken).replace('T', " ");
    format!(
        "Prices from this machine's list, up to {} old ({when} UTC): same builds, CPU, kernel, tier, circumstances \
         and program. --fresh measures them again.",
        age.unwrap_or_else(|| "?".to_owned())
    )
}

/// The screen of a record by itself, as of its day; none where that is not known.
pub fn of_record(record: &PagesRecord, options: Options) -> Option<String> {
    let today = record.started.get(..10)?.parse().ok()?;
    let (data, store) = (Data::built_in(), &record.store);
    let around = Surroundings::on(today);
    let wishes = wishes_of_store(&data, &store.kind, store.page_size, record.tier, today);
    let groups: Vec<_> =
        wishes.iter().map(|wish| priced(&data, wish, record, &around, &NOWHERE)).collect();
    let store = format!(
        "{} {}: {} pages of {} bytes",
        store.kind, store.name, store.pages, store.page_size
    );
    Some(screen(record, &groups, &Around { store, ..Around::default() }, options))
}

const COLUMNS: usize = 100;

fn rows(group: &Priced, own: &str) -> String {
    let mut out = String::new();
    let say = |out: &mut String, text: &str, indent: &str| {
        for line in wrap(&clean(text), COLUMNS - indent.len()) {
            _ = writeln!(out, "{indent}{line}");
        }
    };
    let Some(scheme) = &group.scheme else {
        say(&mut out, &format!("{}: {}", group.title, group.remarks.join(" ")), "");
        return out;
    };
    say(&mut out, &format!("{}: {scheme}, {} bytes more", group.title, group.stored), "");
    let best = group.rows.first().map(|r| r.cost.median);
    for row in &group.rows {
        let mut name = clean(&row.library);
        if row.is_own && !own.is_empty() {
            name = format!("{name} = {own}");
        }
        let beside = match (row.is_tied, best.map_or(1.0, |best| row.cost.median / best)) {
            (true, _) => "=".to_owned(),
            (false, times) => format!("{times:.2}×"),
        };
        let warning = match row.leaks {
            Some(LeakVerdict::Depends) => "  shows the secret",
            None | Some(LeakVerdict::NotJudged) => "  not judged",
            _ => "",
        };
        let (write, read) = (figure(row.write), figure(row.read));
        let line = format!("  {name:<38} {write:>14} {read:>14} {beside:>8}{warning}");
        _ = writeln!(out, "{}", line.trim_end());
    }
    group.remarks.iter().for_each(|remark| say(&mut out, remark, "  "));
    out
}

/// `258 ±1.2 %`; of a busy core `≤ 262`.
fn figure(ns: Estimate) -> String {
    if ns.low <= 0.0 {
        return format!("≤ {:.0}      ", ns.high);
    }
    if ns.half() <= 0.0 {
        return format!("{:.0} ±?   ", ns.median);
    }
    format!("{:.0} ±{:.1} %", ns.median, 100.0 * ns.half_width())
}

/// How much of the store went through each row and back.
fn proven(record: &PagesRecord) -> String {
    let odd = record.probes.iter().filter(|p| !p.as_expected).count();
    let pages = capital(&pages_proven(record));
    let mut rows = record.probes.iter().flat_map(|p| &p.rows);
    let probes = match (rows.any(|row| row.counts.tried > 0), odd) {
        (_, n) if n > 0 => {
            format!("tampering came out OTHERWISE than expected in {n} of {}", record.probes.len())
        }
        (true, _) => "tampering came out as expected".to_owned(),
        _ if record.probes.is_empty() => "tampering was not tried".to_owned(),
        _ => "tampering could not be tried on pages that are all or half zeros".to_owned(),
    };
    format!("{pages} went through each row and came back equal; {probes}.")
}

/// What a page costs without any scheme, in both directions: ciphertexts were written a moment ago, pages were not.
fn touch(record: &PagesRecord) -> Option<String> {
    let of = |direction: Direction| {
        let is_it = |c: &&Cell| {
            (c.scheme.as_str(), c.medium, c.direction) == ("none", Medium::Sequential, direction)
        };
        let cell = record.cells.iter().find(is_it)?;
        let most = if cell.contended { "≤ " } else { "" };
        Some(format!("{most}{:.0}", cell.crypto_ns?.median))
    };
    Some(format!(
        "none: a page costs {} ns to touch where it is encrypted, {} where it is decrypted (a copy in memory), which is \
         in every row.",
        of(Direction::Encrypt)?,
        of(Direction::Decrypt)?
    ))
}

/// The sentence of advice: what the first wish's scheme saves against the store's own library, or what approval costs.
fn sentence(groups: &[Priced]) -> Option<String> {
    let first = groups.iter().find(|g| g.scheme.is_some())?;
    let best = first.rows.first()?;
    let scheme = first.scheme.as_deref().unwrap_or_default();
    let mut text = format!("Cheapest for '{}': {scheme} in {}.", first.title, best.library);
    for group in groups.iter().filter(|g| g.scheme.is_some() && !std::ptr::eq(*g, first)) {
        let Some(row) = group.rows.first() else { continue };
        let times = row.cost.median / best.cost.median;
        text += &format!(" {}: {times:.1}×.", capital(&group.title));
    }
    for group in groups {
        let Some(best) = group.rows.first() else { continue };
        // Whose cost is shown to be higher: cheaper ones that are not judged come behind the best, too.
        let is_dearer =
            |r: &&PricedRow| r.is_own && !r.is_tied && beside(r.cost, best.cost).is_higher();
        let Some(own) = group.rows.iter().skip(1).find(is_dearer) else { continue };
        let less = 100.0 * (1.0 - best.cost.median / own.cost.median);
        text += &format!(
            " With {}, {} instead of your {} saves {less:.0} %.",
            group.scheme.as_deref().unwrap_or_default(),
            best.library,
            own.library
        );
        break;
    }
    Some(text)
}

#[cfg(test)]
mod tests {
    use super::*;
    use jiff::civil::date;
    use record::at_rest::NsRange;

    const TODAY: Date = date(2026, 11, 28);

    fn record() -> PagesRecord {
        let text = include_str!("../../../record/tests/at-rest.json");
        record::read_run(text, "sample", record::at_rest::of).unwrap()
    }

    fn groups(kind: &str, record: &PagesRecord, own: &dyn Fn(&str) -> bool) -> Vec<Priced> {
        let data = Data::built_in();
        let around = Surroundings::on(TODAY);
        wishes_of_store(&data, kind, record.store.page_size, record.tier, TODAY)
            .iter()
            .map(|wish| priced(&data, wish, record, &around, &Here { own, ..NOWHERE }))
            .collect()
    }

    #[test]
    fn every_kind_of_store_has_three_to_five_wishes_and_its_own_scheme() {
        let data = Data::built_in();
        for kind in ["postgres", "sqlite", "image", "synthetic"] {
            let wishes = wishes_of_store(&data, kind, 4096, Tier::Native, TODAY);
            assert!((3..=5).contains(&wishes.len()), "{kind}");
            let has_own = wishes.iter().any(|w| w.title.contains("SQLCipher"));
            assert_eq!(has_own, kind == "sqlite");
        }
        let disk = wishes_of_store(&data, "image", 4096, Tier::Native, TODAY);
        assert_eq!(disk[0].question.wishes.expansion, Some(0), "a sector has no room");
    }

    /// The same in the format's own words: 16 bytes of IV and 64 of MAC (`reserve` of the profile).
    #[test]
    fn what_sqlcipher_stores_with_a_page_is_what_its_format_sets_aside() {
        let data = Data::built_in();
        let wishes = wishes_of_store(&data, "sqlite", 4096, Tier::Native, TODAY);
        let wish = wishes.iter().find(|w| w.title.contains("SQLCipher")).unwrap();
        let scheme = data.schemes.iter().find(|s| s.id == SQLCIPHER).unwrap();
        let profile = record::at_rest::scheme::profile("sqlcipher4").unwrap();
        assert_eq!(stored_bytes(scheme, &wish.question) as usize, profile.recipes[0].extra_bytes());
    }

    #[test]
    fn a_row_has_both_directions_or_is_not_there_and_the_stores_own_library_is_marked() {
        let whole = record();
        let own = |path: &str| path == whole.libraries[1].path;
        let of = |record: &PagesRecord| groups("postgres", record, &own);
        let gcm = &of(&whole)[1];
        assert_eq!(gcm.scheme.as_deref(), Some("aes-256-gcm"));
        assert!(gcm.rows.iter().any(|r| r.is_own), "{gcm:?}");
        let label =
            |l: usize| format!("{}@{}", whole.libraries[l].name, whole.libraries[l].version);
        let mut less = whole.clone();
        less.cells.retain(|c| c.library != 0 || c.direction == Direction::Encrypt);
        let rows = &of(&less)[1].rows;
        assert!(!rows.is_empty() && rows.iter().all(|r| r.library != label(0)), "{rows:?}");
    }

    #[test]
    fn medians_that_have_no_interval_tie_with_nothing() {
        let mut record = record();
        for ns in record.cells.iter_mut().filter_map(|c| c.crypto_ns.as_mut()) {
            *ns = NsRange { median: 100.0, low: None, high: None };
        }
        let gcm = &groups("postgres", &record, &|_| false)[1];
        assert!(gcm.rows.len() > 1 && gcm.rows[1..].iter().all(|r| !r.is_tied), "{gcm:?}");
    }

    #[test]
    fn what_a_busy_core_showed_is_a_most_and_leaves_the_answer_undecided() {
        let (data, mut record) = (Data::built_in(), record());
        let wishes = wishes_of_store(&data, "postgres", 8192, record.tier, TODAY);
        let around = Surroundings::on(TODAY);
        assert!(!is_undecided(&data, &wishes[1], &record, &around));
        record.cells.iter_mut().filter(|c| c.library == 0).for_each(|c| c.contended = true);
        assert!(is_undecided(&data, &wishes[1], &record, &around));
        let gcm = &groups("postgres", &record, &|_| false)[1];
        assert!(!gcm.rows[1].is_tied && rows(gcm, "").contains("≤ 2020"), "{}", rows(gcm, ""));
    }

    #[test]
    fn only_what_is_shown_to_cost_more_is_said_to_save() {
        let record = record();
        let own = |path: &str| path == record.libraries[1].path;
        let mut groups = groups("postgres", &record, &own);
        let said = |groups: &[Priced]| sentence(groups).unwrap().contains("saves");
        assert!(said(&groups));
        let cost = |median: f64| Estimate { median, low: 0.8 * median, high: 1.2 * median };
        for group in &mut groups {
            group.rows.iter_mut().filter(|r| r.is_own).for_each(|r| r.cost = cost(2100.0));
        }
        assert!(!said(&groups), "undecided");
        for group in &mut groups {
            group.rows.iter_mut().filter(|r| r.is_own).for_each(|r| r.cost = cost(1000.0));
        }
        assert!(!said(&groups), "cheaper, and not judged");
    }

    #[test]
    fn what_no_library_has_is_not_called_unmeasured() {
        let (data, mut record) = (Data::built_in(), record());
        record.cells.retain(|c| c.scheme == "none");
        record.verified.clear();
        let around = Surroundings::on(TODAY);
        let wishes = wishes_of_store(&data, "postgres", 8192, record.tier, TODAY);
        let group = |why_not: &dyn Fn(&str) -> Option<&'static str>| {
            priced(&data, &wishes[1], &record, &around, &Here { why_not, ..NOWHERE })
        };
        let unknown = group(&|_| None);
        assert!(!unknown.is_answered && unknown.remarks[0].starts_with("not measured: "));
        let lacking = group(&|_| Some("no library here has"));
        assert!(lacking.is_answered, "{lacking:?}");
        let lacking = lacking.remarks.join(" ");
        assert!(lacking.starts_with("nothing that would fit: no library here has "), "{lacking}");
        assert!(!lacking.contains("not measured"), "{lacking}");
    }

    #[test]
    fn what_a_page_costs_to_touch_is_said_of_both_directions() {
        let mut record = record();
        let none = record.cells.iter_mut().filter(|c| c.scheme == "none");
        for cell in none.filter(|c| c.medium == Medium::Sequential) {
            let median = if cell.direction == Direction::Encrypt { 642.0 } else { 271.0 };
            cell.crypto_ns = Some(NsRange { median, low: None, high: None });
            cell.contended = cell.direction == Direction::Decrypt;
        }
        let text = touch(&record).unwrap();
        assert!(text.contains("642 ns to touch where it is encrypted, ≤ 271 where"), "{text}");
    }

    #[test]
    fn how_old_prices_of_the_list_are_is_said() {
        let age = |taken: &str| listed(taken, "2026-11-29T12:00:00Z");
        for (taken, words) in [
            ("2026-11-29T11:48:30Z", "up to 11 minutes old"),
            ("2026-11-29T00:00:00Z", "up to 12 hours old (2026-11-29 00:00 UTC)"),
            ("2026-11-25T12:00:00Z", "up to 4 days old"),
            ("once", "up to ? old"),
        ] {
            assert!(age(taken).contains(words) && age(taken).contains("--fresh"), "{}", age(taken));
        }
    }

    #[test]
    fn pages_of_zeros_on_which_nothing_was_tried_did_not_come_out_as_expected() {
        let mut record = record();
        assert!(proven(&record).contains("came out as expected"), "{}", proven(&record));
        let rows = record.probes.iter_mut().flat_map(|p| &mut p.rows);
        rows.for_each(|r| (r.counts.tried, r.counts.noticed) = (0, 0));
        assert!(proven(&record).contains("could not be tried"), "{}", proven(&record));
        record.probes.clear();
        assert!(proven(&record).contains("was not tried"), "{}", proven(&record));
    }

    #[test]
    fn the_screen_fits_and_says_what_was_proven_and_what_a_page_costs_untouched() {
        let record = record();
        let all = groups("postgres", &record, &|_| true);
        let around = Around {
            store: "PostgreSQL data".to_owned(),
            own: "PostgreSQL 15's libcrypto".to_owned(),
            looked_at: "2 of 90 pairs were measured.".to_owned(),
            next: vec!["ciphermark pages data --thorough".to_owned()],
        };
        let text = screen(&record, &all, &around, Options { width: 100, color: false });
        assert!(text.lines().count() <= 40, "{text}");
        assert!(text.lines().all(|l| base::text::width(l) <= 100), "{text}");
        for words in
            ["aes-256-gcm", "encrypt", "decrypt", "went through each row", "= PostgreSQL 15's"]
        {
            assert!(text.contains(words), "{words}: {text}");
        }
        // What does not fit has its reason.
        assert!(text.contains("should nonces repeat: not measured: "), "{text}");
    }
}
