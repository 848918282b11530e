//! `ciphermark claims`: the published claims, judged by measurements of this machine.

use super::run::{claim_output, random_seed, say, survey, watch_signals};
use crate::args_claims::ClaimsArgs;
use crate::error::{Exit, Failure};
use crate::{choose, screen};
use claims::{Claim, Evidence, Need, Source};
use engine::{Attached, Budget, Request};
use model::{Footprint, NameGlob, nearest};
use record::Record;
use std::time::Duration;

/// Judges claims by records, or by what it measures for them.
pub fn claims(args: &ClaimsArgs) -> Result<Exit, Failure> {
    match &args.table {
        Some(name) => table(args, name),
        None => verdicts(args),
    }
}

fn verdicts(args: &ClaimsArgs) -> Result<Exit, Failure> {
    let sources = claims::built_in();
    let chosen = chosen(&sources, args)?;
    let claims: Vec<&Claim> = chosen.iter().map(|(_, claim)| *claim).collect();
    let records = records(args, || claims::needs_of_claims(&claims))?;
    let evidence = Evidence::of(&records);
    let judged: Vec<_> = chosen.iter().map(|(s, c)| claims::judge(s, c, &evidence)).collect();
    screen::print(|options| claims::render_claims(&judged, args.format.into(), options))?;
    Ok(Exit::Done)
}

fn table(args: &ClaimsArgs, name: &str) -> Result<Exit, Failure> {
    let table = claims::published(name).ok_or_else(|| unknown_source(&claims::built_in(), name))?;
    let records = records(args, || claims::needs_of_table(&table))?;
    let printed = claims::printed_table(&table, &Evidence::of(&records));
    screen::print(|options| claims::render_table(&printed, args.format.into(), options))?;
    Ok(Exit::Done)
}

/// The claims that the flags let through, with their sources.
fn chosen<'a>(
    sources: &'a [Source],
    args: &ClaimsArgs,
) -> Result<Vec<(&'a Source, &'a Claim)>, Failure> {
    if let Some(unknown) = args.source.iter().find(|name| !sources.iter().any(|s| s.id == **name)) {
        return Err(unknown_source(sources, unknown));
    }
    let globs: Vec<NameGlob> = args
        .only
        .iter()
        .map(|text| NameGlob::parse(text).map_err(Failure::usage))
        .collect::<Result<_, _>>()?;
    let ids = || sources.iter().flat_map(|s| &s.claims).map(|c| c.id.as_str());
    if let Some(glob) = globs.iter().find(|g| !ids().any(|id| g.matches(id))) {
        let near = nearest(glob.text(), ids());
        let hint = near.map(|n| format!(", did you mean '{n}'?")).unwrap_or_default();
        return Err(Failure::usage(format!("no claim matches '{}'{hint}", glob.text())));
    }
    let kept: Vec<(&Source, &Claim)> = sources
        .iter()
        .filter(|s| args.source.is_empty() || args.source.contains(&s.id))
        .flat_map(|s| s.claims.iter().map(move |c| (s, c)))
        .filter(|(_, c)| globs.is_empty() || globs.iter().any(|g| g.matches(&c.id)))
        .collect();
    if kept.is_empty() {
        return Err(Failure::usage("no claim of these sources has such a name"));
    }
    Ok(kept)
}

fn unknown_source(sources: &[Source], name: &str) -> Failure {
    let near = nearest(name, sources.iter().map(|s| s.id.as_str()));
    let hint = near.map(|n| format!(", did you mean '{n}'?")).unwrap_or_default();
    let all: Vec<&str> = sources.iter().map(|s| s.id.as_str()).collect();
    Failure::usage(format!("unknown source '{name}'{hint}; there are {}", all.join(", ")))
}

/// Those that were named, else what was measured now.
fn records(args: &ClaimsArgs, needs: impl FnOnce() -> Vec<Need>) -> Result<Vec<Record>, Failure> {
    if !args.records.is_empty() {
        let load = |path: &std::path::PathBuf| record::load(path).map_err(Failure::usage);
        return args.records.iter().map(load).collect();
    }
    // Given back, with nothing in it, when the record is written.
    let _claim = args.output.as_deref().map(claim_output).transpose()?;
    let measured = measure(args, &needs())?;
    let Some(record) = claims::merged(measured) else { return Ok(Vec::new()) };
    if let Some(path) = &args.output {
        record::save(&record, path).map_err(Failure::not_done)?;
    }
    Ok(vec![record])
}

/// One survey after the other; each has its share of the time, by the number of its cases.
fn measure(args: &ClaimsArgs, needs: &[Need]) -> Result<Vec<Record>, Failure> {
    let stop = watch_signals()?;
    let libraries = choose::attached(&args.library)?;
    let weigh = |need: &Need| {
        let of_it = wanted(&libraries, need).len() * need.algorithms.len() * need.sizes.len();
        (of_it * need.directions.len()) as f64
    };
    let all: f64 = needs.iter().map(weigh).sum();
    let mut records = Vec::new();
    for need in needs {
        let libraries = wanted(&libraries, need);
        if libraries.is_empty() || stop.load(std::sync::atomic::Ordering::Relaxed) {
            continue;
        }
        // Never so little that nothing can be measured.
        let time = args.budget.mul_f64(weigh(need) / all).max(Duration::from_secs(3));
        let request = request(need, time)?;
        if engine::cases(&request, &libraries, &engine::machine()).is_empty() {
            continue;
        }
        records.push(survey(args.quiet, &request, &libraries, &stop)?);
    }
    let interrupted = stop.load(std::sync::atomic::Ordering::Relaxed);
    say(args.quiet, interrupted, "interrupted; judged by what there is");
    Ok(records)
}

fn wanted(libraries: &[Attached], need: &Need) -> Vec<Attached> {
    let globs: Vec<NameGlob> =
        need.libraries.iter().filter_map(|g| NameGlob::parse(g).ok()).collect();
    let wanted = |l: &&Attached| {
        let names = [l.facts.name.clone(), l.label()];
        globs.iter().any(|g| names.iter().any(|n| g.matches(n)))
    };
    libraries.iter().filter(wanted).cloned().collect()
}

fn request(need: &Need, time: Duration) -> Result<Request, Failure> {
    let names: Vec<String> = need.algorithms.iter().map(|name| (*name).to_owned()).collect();
    Ok(Request {
        suite: None,
        algorithms: choose::algorithms(&names)?,
        directions: need.directions.clone(),
        models: vec![need.model],
        sizes: need.sizes.clone(),
        tiers: vec![need.tier],
        footprints: vec![Footprint::Hot],
        threads: vec![1],
        in_place: vec![false],
        latency: false,
        // Conditions are of differences of a per cent and more.
        budget: Budget { precision: 0.005, time },
        evidence: need.instructions,
        seed: random_seed(),
        command: std::env::args().collect(),
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_claim_can_be_asked_of_the_engine() {
        let sources = claims::built_in();
        let all: Vec<&Claim> = sources.iter().flat_map(|s| &s.claims).collect();
        let needs = claims::needs_of_claims(&all);
        for need in &needs {
            let request = request(need, Duration::from_secs(1)).unwrap();
            assert_eq!(request.algorithms.len(), need.algorithms.len());
        }
        // OpenSSL as `openssl speed` measures it in three tiers, all libraries' messages, and a few
        // that are asked for at other sizes.
        assert!(needs.len() <= 15, "{needs:#?}");
    }

    #[test]
    fn unknown_names_get_the_nearest_right_one() {
        let sources = claims::built_in();
        let failure = unknown_source(&sources, "higho");
        assert!(failure.message.contains("did you mean 'highgo'?"), "{}", failure.message);
    }
}
