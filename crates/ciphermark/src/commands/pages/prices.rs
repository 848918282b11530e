//! `ciphermark pages` as it answers by default: the three to five schemes that `advise` would choose for this store,
//! each in the cheapest libraries and in the store's own, both directions, in one screen. Prices come from this
//! machine's price list as far as it has them.

use crate::commands::advise::{
    FOR_ONE, build_of, is_build, judge_in, judged_first, look, surroundings,
};
use crate::commands::pages::PagesArgs;
use crate::commands::run::watch_signals;
use crate::commands::tls::claim_output;
use crate::commands::{advise_server, choose};
use crate::screen::Bar;
use crate::{Exit, Failure, screen};
use base::model::Algorithm;
use engine::pages::{PagesError, PagesPlan, Pairs, Priced};
use engine::{Attached, Budget, Keeping, Look, Looks, Request, Screened, Stop};
use jiff::Timestamp;
use jiff::tz::TimeZone;
use judge::advise::prices::{
    Around, Here, StoreWish, is_undecided, priced, screen as drawn, use_of_store, wishes_of_store,
};
use judge::advise::{Data, Evidence, Surroundings, Wished};
use record::at_rest::scheme::{Recipe, good_practice};
use record::at_rest::store::Store;
use record::at_rest::{Keying, Medium, PagesRecord, Verified};
use record::{LeakVerdict, Leaks, LibraryId, State};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::time::{Duration, Instant};

/// Pairs of each wish that are measured, of those that looked the fastest.
const PAIRS: usize = 6;
/// The share of the time that a look at everything may take.
const LOOK: f64 = 0.35;
/// Kept for verdicts on secrets, twice: before anything is measured, and of what is printed.
const JUDGING: Duration = Duration::from_secs(4);
/// The share that is kept for prices, however long the verdicts before took.
const PRICING: f64 = 0.33;
/// Bytes of the pages that are made up for a server that runs.
const MADE_UP: u64 = 8 << 20;

/// Whether nothing was typed that asks for more than the answer.
pub(super) fn is_asked(args: &PagesArgs) -> bool {
    let more = args.time.thorough
        || args.profile.is_some()
        || args.resume.is_some()
        || args.decrypt_to.is_some()
        || args.scratch.is_some()
        || args.media.is_some();
    let lists = args.snapshot.is_empty() && args.scheme.is_empty() && args.threads.is_empty();
    let plain = args.nonce == super::NonceFrom::Random && args.probes.is_none();
    !more && lists && plain && args.pages.is_none() && args.precision.is_none()
}

/// What the record does not say of the store.
struct About {
    /// A server that runs: its pages are not read.
    server: Option<Server>,
    own: Own,
}

struct Server {
    version: String,
    bytes: u64,
    connection: String,
}

/// The library that the store's program encrypts with, or would.
#[derive(Default)]
struct Own {
    files: Vec<PathBuf>,
    /// Whose: `PostgreSQL 15's`.
    whose: String,
}

pub(super) fn prices(args: &PagesArgs) -> Result<Exit, Failure> {
    // Given back, with nothing in it, when the record is written.
    let _claim = claim_output(args.output.as_deref(), record::at_rest::KIND, None)?;
    let mut stop = args.time.limit(&watch_signals()?);
    let (store, about) = asked(args)?;
    let data = Data::built_in();
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let wishes = wishes_of_store(&data, store.kind().name(), store.page_size(), args.tier, today);
    let libraries = engine::at_tiers(&choose::attached(&args.library)?, &[args.tier]);
    let pricing = Pricing { data: &data, args, wishes: &wishes, libraries: &libraries };
    let (shortlist, record) = pricing.answered(&store, &about.own, &mut stop)?;
    if let Some(output) = &args.output {
        record::save(&record::at_rest::into_record(&record), output).map_err(Failure::not_done)?;
    }
    screen::say(args.quiet, stop.is_interrupted(), "interrupted; prices of what there is");
    let is_answered = pricing.print(&about, &record, Some(&shortlist), &stop)?;
    let is_short = shortlist.is_cut || has_left_out(&record);
    Ok(match super::exit(&record) {
        Exit::Done if is_short && !is_answered => Exit::SomeRefused,
        exit => exit,
    })
}

/// Whether the time was over before all of it was measured.
fn has_left_out(record: &PagesRecord) -> bool {
    let (verified, cells) = (&record.verified, &record.cells);
    verified.iter().any(|v| v.is_left_out()) || cells.iter().any(|c| c.is_left_out())
}

/// Whether all that a record has are prices, so that it is shown as the screen that they were for.
fn is_of_prices(record: &PagesRecord) -> bool {
    let is_price = |c: &record::at_rest::Cell| {
        (c.medium, c.keying, c.threads) == (Medium::Sequential, Keying::Reused, 1)
    };
    let is_plain = record.profile.is_none() && record.store.snapshots.is_empty();
    is_plain && !record.cells.is_empty() && record.cells.iter().all(is_price)
}

/// Shows a record of prices again; false where it is of more.
pub(super) fn shown_again(args: &PagesArgs, record: &PagesRecord) -> Result<bool, Failure> {
    if !is_of_prices(record) {
        return Ok(false);
    }
    let data = Data::built_in();
    let today = Timestamp::now().to_zoned(TimeZone::UTC).date();
    let store = &record.store;
    let wishes = wishes_of_store(&data, &store.kind, store.page_size, record.tier, today);
    let pricing = Pricing { data: &data, args, wishes: &wishes, libraries: &[] };
    let stop = watch_signals()?.within(JUDGING);
    let is_here = host::facts(0).cpu.kind() == record.host.cpu.kind();
    let own = if is_here { of_kind(&store.kind, &store.facts) } else { Own::default() };
    let about = About { server: None, own };
    pricing.print(&about, record, None, &stop)?;
    Ok(true)
}

struct Pricing<'a> {
    data: &'a Data,
    args: &'a PagesArgs,
    wishes: &'a [StoreWish<'a>],
    libraries: &'a [Attached],
}

/// What the checks or the pages found wrong.
fn refused_in(record: &PagesRecord) -> impl Iterator<Item = (usize, String)> + '_ {
    let bad = |v: &&Verified| matches!(v.state, State::Refused | State::Failed) && !v.is_left_out();
    record.verified.iter().filter(bad).map(|v| (v.library, v.scheme.clone()))
}

struct Shortlist {
    /// Schemes in libraries that could be among the best of a wish, and those of the store's own library.
    pairs: Pairs,
    /// Verdicts on their secrets.
    leaks: Vec<Leaks>,
    /// Whether there was no time to look at everything, or to judge it.
    is_cut: bool,
}

impl Pricing<'_> {
    /// Prices of what is worth one. What is refused when it is proven gives its place to the next.
    fn answered(
        &self,
        store: &Store,
        own: &Own,
        stop: &mut Stop,
    ) -> Result<(Shortlist, PagesRecord), Failure> {
        let mut refused = BTreeSet::new();
        let mut pricing = stop.left().unwrap_or_default().mul_f64(PRICING);
        loop {
            let shortlist = self.shortlist(store.page_size(), own, &refused, stop);
            let left = stop.left().unwrap_or_default();
            *stop = stop.longer(std::mem::take(&mut pricing).saturating_sub(left));
            let record = self.measured(store, &shortlist, stop)?;
            let known = refused.len();
            refused.extend(refused_in(&record));
            if refused.len() == known || stop.is_over() {
                return Ok((shortlist, record));
            }
        }
    }

    fn shortlist(
        &self,
        size: usize,
        own: &Own,
        refused: &BTreeSet<(usize, String)>,
        stop: &Stop,
    ) -> Shortlist {
        let begun = Instant::now();
        let mut look = self.look(size, stop);
        for (library, scheme) in refused {
            self.strike(&mut look.record, *library, scheme);
        }
        // Of what was looked at before, most is judged as well.
        let soon = stop.within(JUDGING.max(3 * begun.elapsed()));
        let mut pairs = BTreeSet::new();
        for wish in self.wishes {
            let best = self.cheapest_judged(wish, &mut look, &soon);
            let schemes: BTreeSet<String> = best.iter().map(|(_, scheme)| scheme.clone()).collect();
            pairs.extend(best);
            let of_own = self.libraries.iter().enumerate().filter(|(_, l)| own.is(&l.facts.path));
            pairs.extend(of_own.flat_map(|(l, _)| schemes.iter().map(move |s| (l, s.clone()))));
        }
        // They are proven once more, and shown as what they are.
        pairs.extend(refused.iter().cloned());
        let is_cut = look.is_cut || soon.is_over();
        Shortlist { pairs: pairs.into_iter().collect(), leaks: look.record.leaks, is_cut }
    }

    fn strike(&self, look: &mut record::Record, library: usize, scheme: &str) {
        let cipher = recipe(scheme).and_then(|r| r.algorithm()).map(|a| a.name);
        let build = build_of(&self.libraries[library]);
        let rows = look.measurements.iter_mut();
        for row in rows.filter(|m| Some(&*m.algorithm) == cipher && m.library == build) {
            (row.state, row.stopped) = (State::Refused, None);
        }
    }

    /// The cheapest of a wish, judged where that does not take until after `soon`, but one of them for longer. What of them
    /// depends on the secret gives its place to the next.
    fn cheapest_judged(
        &self,
        wish: &StoreWish<'_>,
        look: &mut Look,
        soon: &Stop,
    ) -> Vec<(usize, String)> {
        let (mut tried, late) = (BTreeSet::new(), soon.longer(FOR_ONE));
        loop {
            let evidence = Evidence::Survey(&look.record);
            let found = judge::advise::contenders(
                self.data,
                &wish.question,
                evidence,
                Wished::Asked,
                judge::advise::WORTH,
            );
            let best = self.cheapest(&found, &look.screened);
            let build = |l: usize| build_of(&self.libraries[l]);
            let of_pair = |(l, scheme): &(usize, String)| -> BTreeSet<(LibraryId, String)> {
                let parts = recipe(scheme).map(|recipe| parts(&recipe)).unwrap_or_default();
                parts.into_iter().map(|a| (build(*l), a.name.to_owned())).collect()
            };
            let (quiet, tier) = (self.args.quiet, self.args.tier);
            let leaks = &mut look.record.leaks;
            let is_known = |(id, algorithm): &(LibraryId, String)| {
                let own = leaks.iter().find(|v| v.is_of(id, algorithm, tier));
                own.is_some_and(|v| v.verdict != LeakVerdict::NotJudged)
            };
            let is_late = soon.is_over();
            if is_late && best.iter().any(|pair| of_pair(pair).iter().all(is_known)) {
                return best;
            }
            let open = |pair: &(usize, String)| -> BTreeSet<(LibraryId, String)> {
                of_pair(pair).into_iter().filter(|one| !tried.contains(one)).collect()
            };
            let open: Vec<_> = best.iter().map(open).filter(|open| !open.is_empty()).collect();
            let most = if is_late { 1 } else { open.len() };
            let new: BTreeSet<_> = open.into_iter().take(most).flatten().collect();
            let until = if is_late { &late } else { soon };
            if new.is_empty() || until.is_over() {
                return best;
            }
            leaks.extend(judge_in(self.libraries, quiet, &new, tier, until));
            // What was broken off for the time is judged again, alone.
            if is_late || !soon.is_over() {
                tried.extend(new);
            }
        }
    }

    fn look(&self, size: usize, stop: &Stop) -> Look {
        let needed = self.wishes.iter().flat_map(|wish| {
            judge::advise::needed_schemes(self.data, &wish.question, Wished::Asked)
        });
        let names: BTreeSet<&str> = needed
            .filter(|s| recipe(&s.id).is_some())
            .flat_map(|s| s.algorithms())
            .map(|a| a.name)
            .collect();
        let algorithms = Algorithm::all().iter().filter(|a| names.contains(a.name)).collect();
        let time = self.args.time.sampling(super::THOROUGH);
        let budget = Budget { precision: super::PRECISION, time };
        let request = Request {
            sizes: vec![size],
            tiers: vec![self.args.tier],
            ..choose::plain_request(algorithms, budget)
        };
        let looks = if self.args.fresh { Looks::Renewed } else { Looks::Known };
        look(self.args.quiet, &request, self.libraries, looks, stop, LOOK)
    }

    /// Of what contends, the pairs that looked the fastest in both directions, those first.
    fn cheapest(
        &self,
        found: &BTreeSet<(LibraryId, &'static str)>,
        look: &Screened,
    ) -> Vec<(usize, String)> {
        let place = |id: &LibraryId| self.libraries.iter().position(|l| is_build(l, id));
        let mut of_library: BTreeMap<usize, BTreeSet<&str>> = BTreeMap::new();
        for (id, algorithm) in found {
            if let Some(library) = place(id) {
                of_library.entry(library).or_default().insert(algorithm);
            }
        }
        let mut bounds: Vec<(u64, usize, String)> = Vec::new();
        for (library, algorithms) in of_library {
            for recipe in good_practice() {
                let parts = parts(&recipe);
                if parts.is_empty() || !parts.iter().all(|p| algorithms.contains(p.name)) {
                    continue;
                }
                let least: Option<u64> = parts.iter().map(|a| look.both(library, a.name)).sum();
                bounds.extend(least.map(|ns| (ns, library, recipe.scheme)));
            }
        }
        bounds.sort();
        bounds.into_iter().take(PAIRS).map(|(_, library, scheme)| (library, scheme)).collect()
    }

    fn measured(
        &self,
        store: &Store,
        shortlist: &Shortlist,
        stop: &Stop,
    ) -> Result<PagesRecord, Failure> {
        let args = self.args;
        let left = stop.left().map(|left| left.saturating_sub(JUDGING));
        let until = left.map_or_else(|| stop.clone(), |left| stop.within(left));
        let plan = PagesPlan {
            recipes: good_practice(),
            profile: None,
            media: vec![Medium::Sequential],
            threads: vec![1],
            tier: args.tier,
            seed: args.seed.unwrap_or(1),
            budget: args.time.sampling(super::THOROUGH),
            precision: super::PRECISION,
            command: crate::commands::typed(),
            pages_per_visit: super::PAGES_OF_A_VISIT as usize,
            probes: super::PROBES,
            scratch: std::env::temp_dir(),
            copy_to: None,
            stop: until,
            priced: Some(Priced { pairs: shortlist.pairs.clone(), is_fresh: args.fresh }),
        };
        let keeping = Keeping::default();
        let today = self.wishes[0].question.key_born;
        let is_open = |record: &PagesRecord| {
            let judged = shortlist.leaks.clone();
            let around = Surroundings { judged, ..Surroundings::on(today) };
            let is_open = |wish: &StoreWish<'_>| is_undecided(self.data, wish, record, &around);
            self.wishes.iter().any(is_open)
        };
        let libraries = self.libraries;
        let ended = Bar::during(args.quiet, |bar| {
            let events = |event: engine::pages::PagesEvent<'_>| bar.pages(event);
            engine::pages::run(&plan, store, &[], libraries, keeping, &is_open, &events)
        });
        ended.map(|ended| ended.document).map_err(|e| match e {
            PagesError::Store(_) => Failure::usage(e),
            _ => Failure::not_done(e),
        })
    }

    /// Verdicts on secrets first: what depends on one is not among the best. Whether each wish has an answer. Of a record that
    /// is shown again there is no shortlist.
    fn print(
        &self,
        about: &About,
        record: &PagesRecord,
        shortlist: Option<&Shortlist>,
        stop: &Stop,
    ) -> Result<bool, Failure> {
        let today = self.wishes[0].question.key_born;
        let evidence = Evidence::Pages(record);
        let mut around = surroundings(evidence, today);
        around.judged = shortlist.map(|list| list.leaks.clone()).unwrap_or_default();
        let until = stop.within(JUDGING);
        for wish in self.wishes {
            judged_first(
                self.args.quiet,
                self.data,
                &wish.question,
                evidence,
                &mut around,
                &until,
                FOR_ONE,
            )?;
        }
        let own = |path: &str| about.own.is(path);
        let why_not = |scheme: &str| self.lacks(scheme);
        let here = Here { own: &own, why_not: &why_not };
        let price = |wish| priced(self.data, wish, record, &around, &here);
        let groups: Vec<_> = self.wishes.iter().map(price).collect();
        let told = Around {
            store: title(about, record),
            own: about.own.whose.clone(),
            looked_at: looked_at(record, shortlist),
            next: next(self.args, about, &record.store.kind, shortlist.is_none()),
        };
        let as_record = record::at_rest::into_record(record);
        let table = |width| {
            let options = base::text::Options { width, color: false };
            drawn(record, &groups, &told, options)
        };
        let markdown = || record::at_rest::markdown(record);
        screen::print_own(&as_record, self.args.format, table, markdown)?;
        Ok(groups.iter().all(|group| group.is_answered))
    }

    /// Why a scheme cannot have a price here; none where it can, or the libraries are not known.
    fn lacks(&self, scheme: &str) -> Option<&'static str> {
        let Some(recipe) = recipe(scheme) else {
            return Some("`pages` does not encrypt with");
        };
        let has = |library: &Attached| {
            let offers = library.offers_at(self.args.tier).unwrap_or_default();
            let is_offered =
                |name: &str| offers.iter().any(|o| o.algorithm == name && !o.models.is_empty());
            // Sums that a library lacks are this program's own.
            recipe.algorithm().is_some_and(|a| is_offered(a.name))
        };
        (!self.libraries.is_empty() && !self.libraries.iter().any(has))
            .then_some("no library here has")
    }
}

/// The cipher, and the MAC beside it.
fn parts(recipe: &Recipe) -> Vec<&'static Algorithm> {
    let sum = recipe.sum.and_then(|sum| Algorithm::find(sum.name()).ok());
    match (recipe.algorithm(), recipe.sum) {
        (Some(cipher), None) => vec![cipher],
        (Some(cipher), Some(_)) => [Some(cipher), sum].into_iter().flatten().collect(),
        (None, _) => Vec::new(),
    }
}

fn recipe(scheme: &str) -> Option<Recipe> {
    good_practice().into_iter().find(|r| r.scheme == scheme)
}

fn title(about: &About, record: &PagesRecord) -> String {
    let s = &record.store;
    let mib = |bytes: u64| bytes >> 20;
    if let Some(server) = &about.server {
        return format!(
            "PostgreSQL {} that runs ('{}'): {} pages of {} bytes ({} MiB), of which none was read; encryption \
             of a page would cost:",
            server.version,
            server.connection,
            server.bytes / s.page_size as u64,
            s.page_size,
            mib(server.bytes)
        );
    }
    let facts = s.facts.first().map(|fact| format!("; {fact}")).unwrap_or_default();
    format!(
        "{} {}: {} pages of {} bytes ({} MiB){facts}. Encryption of a page costs:",
        s.kind,
        s.name,
        s.pages,
        s.page_size,
        mib(s.pages * s.page_size as u64)
    )
}

fn looked_at(record: &PagesRecord, shortlist: Option<&Shortlist>) -> String {
    let pairs: BTreeSet<(usize, &str)> = record
        .cells
        .iter()
        .filter(|c| c.scheme != "none" && c.crypto_ns.is_some())
        .map(|c| (c.library, c.scheme.as_str()))
        .collect();
    let (all, pairs) = (record.libraries.len(), pairs.len());
    let looked = match shortlist.map(|list| list.is_cut) {
        Some(true) => format!(
            "The time was over before all {all} libraries were looked at and judged (--budget gives more); "
        ),
        Some(false) => format!("Looked at in all {all} libraries, then "),
        None => String::new(),
    };
    format!(
        "{looked}{pairs} pairs proven and measured: those that looked fastest, and yours. Pages in memory, out of the \
         near caches; nonces included; ± at 95 %."
    )
}

/// What else can be asked; of a record that is shown again of the store itself, wherever that is.
fn next(args: &PagesArgs, about: &About, kind: &str, is_again: bool) -> Vec<String> {
    let path = args.path.as_ref().filter(|_| !is_again);
    let what = match kind {
        "synthetic" => "--synthetic".to_owned(),
        _ => path.map_or("STORE".to_owned(), |p| p.display().to_string()),
    };
    let mut lines = Vec::new();
    if let Some(server) = &about.server {
        lines.push(format!(
            "Of its CPU: ciphermark advise --for postgres --from '{}'. Shut down, its directory is read and proven.",
            server.connection
        ));
    } else {
        lines.push(format!(
            "All schemes, libraries, media, nonces: ciphermark pages {what} --thorough -o pages.json"
        ));
    }
    lines.push(format!("Keys, limits, dates: ciphermark advise --for {}", use_of_store(kind)));
    lines
}

// The store, and whose library it is.

fn asked(args: &PagesArgs) -> Result<(Store, About), Failure> {
    let connection = args
        .path
        .as_ref()
        .and_then(|p| p.to_str())
        .filter(|text| base::text::is_connection(text) && !Path::new(text).exists());
    if let Some(connection) = connection {
        return of_server(connection);
    }
    let store = super::open(args, None)?;
    let own = of_kind(store.kind().name(), store.facts());
    Ok((store, About { server: None, own }))
}

/// The library of the program that a store of this kind belongs to, else the system's.
fn of_kind(kind: &str, facts: &[String]) -> Own {
    let own = match kind {
        "postgres" => of_postgres(&major(facts)),
        "sqlite" => of_sqlite(),
        _ => Own::default(),
    };
    if own.files.is_empty() { of_system() } else { own }
}

const QUERY: &str = "SELECT json_build_object('version', current_setting('server_version'), \
    'block_size', current_setting('block_size')::int, \
    'bytes', (SELECT sum(pg_database_size(oid)) FROM pg_database WHERE datallowconn), \
    'is_here', inet_server_addr() IS NULL OR inet_server_addr() <<= '127.0.0.0/8' OR inet_server_addr() = '::1', \
    'pid', (SELECT min(pid) FROM pg_stat_activity WHERE backend_type = 'checkpointer'))";

fn of_server(connection: &str) -> Result<(Store, About), Failure> {
    let said = advise_server::psql(connection, QUERY)
        .map_err(|f| Failure { message: f.message.replace("--from ", ""), ..f })?;
    let said: serde_json::Value = serde_json::from_str(said.trim())
        .map_err(|e| Failure::not_done(format!("'{connection}': psql printed no answer: {e}")))?;
    let number = |name: &str| said[name].as_u64();
    let version = base::text::clean(said["version"].as_str().unwrap_or_default());
    let (Some(block), Some(bytes)) = (number("block_size"), number("bytes")) else {
        return Err(Failure::not_done(format!(
            "'{connection}': the server does not say its block size"
        )));
    };
    let store = Store::synthetic(1, MADE_UP, block as usize);
    let mut own = Own::default();
    if said["is_here"] == true {
        let loaded = number("pid").map(|pid| host::loaded_objects_of(pid as u32));
        let loaded = loaded.and_then(Result::ok).unwrap_or_default();
        let major = major(&[format!("PostgreSQL {version}")]);
        own = Own { whose: whose_postgres(&major), files: crypto_of(loaded) };
        if own.files.is_empty() {
            own = of_postgres(&major);
        }
    }
    let connection = base::text::flags::masked(connection);
    let server = Some(Server { version, bytes, connection });
    let own = if own.files.is_empty() { of_system() } else { own };
    Ok((store, About { server, own }))
}

impl Own {
    fn is(&self, path: &str) -> bool {
        let real = record::expanded(path).canonicalize().unwrap_or_else(|_| PathBuf::from(path));
        self.files.contains(&real)
    }
}

fn crypto_of(files: impl IntoIterator<Item = PathBuf>) -> Vec<PathBuf> {
    let is_crypto = |path: &PathBuf| {
        let name = path.file_name().unwrap_or_default().to_string_lossy();
        ["libcrypto.so", "libgcrypt.so", "libnettle.so", "libtomcrypt.so"]
            .iter()
            .any(|known| name.starts_with(known))
    };
    let real = |path: PathBuf| path.canonicalize().unwrap_or(path);
    files.into_iter().filter(is_crypto).map(real).collect()
}

/// `15` of `PostgreSQL 15`; versions are digits, and part of a path.
fn major(facts: &[String]) -> String {
    let version =
        facts.first().and_then(|fact| fact.strip_prefix("PostgreSQL ")).unwrap_or_default();
    version.chars().take_while(char::is_ascii_digit).collect()
}

fn whose_postgres(major: &str) -> String {
    format!("PostgreSQL {major}'s")
}

/// What the server's program loads, where packages put it.
fn of_postgres(major: &str) -> Own {
    let places = [
        format!("/usr/lib/postgresql/{major}/bin/postgres"),
        format!("/usr/pgsql-{major}/bin/postgres"),
        "/usr/local/pgsql/bin/postgres".to_owned(),
        "/usr/bin/postgres".to_owned(),
    ];
    let program = places.iter().map(Path::new).find(|p| p.is_file());
    Own { whose: whose_postgres(major), files: program.map(needed).unwrap_or_default() }
}

/// What SQLCipher loads, where it is installed.
fn of_sqlite() -> Own {
    let directories = [
        "/usr/lib/x86_64-linux-gnu",
        "/usr/lib/aarch64-linux-gnu",
        "/usr/lib64",
        "/usr/lib",
        "/usr/local/lib",
    ];
    let names = ["libsqlcipher.so.1", "libsqlcipher.so.0", "libsqlcipher.so"];
    let places = directories.iter().flat_map(|d| names.iter().map(move |n| Path::new(d).join(n)));
    let library = places.into_iter().find(|p| p.is_file());
    Own { whose: "SQLCipher's".to_owned(), files: library.map(|l| needed(&l)).unwrap_or_default() }
}

fn needed(object: &Path) -> Vec<PathBuf> {
    let found = host::dependencies(object, |_| false).unwrap_or_default();
    crypto_of(found.into_values())
}

/// The system's own libcrypto, by what its `openssl` loads.
fn of_system() -> Own {
    let files = needed(Path::new("/usr/bin/openssl"));
    Own { whose: "your system's".to_owned(), files }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::commands::{Cli, Command};
    use clap::Parser as _;

    #[test]
    fn crypto_libraries_are_told_from_others_that_a_program_loads() {
        let files = ["/usr/lib/libcrypto.so.3", "/usr/lib/libz.so.1", "/lib/libgcrypt.so.20"];
        let found = crypto_of(files.map(PathBuf::from));
        assert_eq!(found.len(), 2, "{found:?}");
    }

    #[test]
    fn a_record_that_is_shown_again_names_no_look_and_no_command_that_is_refused() {
        let text = include_str!("../../../../record/tests/at-rest.json");
        let record = record::read_run(text, "sample", record::at_rest::of).unwrap();
        let whole = Shortlist { pairs: Vec::new(), leaks: Vec::new(), is_cut: false };
        assert!(looked_at(&record, Some(&whole)).contains("Looked at in all 2 libraries"));
        assert!(
            looked_at(&record, None).starts_with("3 pairs proven"),
            "{}",
            looked_at(&record, None)
        );
        let typed = Cli::try_parse_from(["ciphermark", "pages", "p2.json"]).unwrap();
        let Some(Command::Pages(args)) = typed.command else { panic!("another command") };
        let about = About { server: None, own: Own::default() };
        let lines = next(&args, &about, "postgres", true).join(" ");
        assert!(lines.contains("ciphermark pages STORE --thorough -o"), "{lines}");
        let lines = next(&args, &about, "postgres", false).join(" ");
        assert!(lines.contains("ciphermark pages p2.json --thorough"), "{lines}");
    }

    #[test]
    fn a_recipe_has_the_parts_that_a_look_sees() {
        let names = |scheme: &str| -> Vec<&str> {
            parts(&recipe(scheme).unwrap()).iter().map(|a| a.name).collect()
        };
        assert_eq!(names("aes-256-gcm"), ["aes-256-gcm"]);
        assert_eq!(names("aes-256-cbc+hmac-sha512"), ["aes-256-cbc", "hmac-sha512"]);
        assert!(names("none").is_empty());
    }
}
