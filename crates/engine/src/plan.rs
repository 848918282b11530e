//! What was asked for, laid out as cases.

use crate::attached::Attached;
use crate::protocol::{Finding, NO_FORGERY, Offer};
use crate::setting::{Machine, Setting};
use base::model::{Algorithm, Case, Direction, Footprint, Model, Tier};
use probe::Place;
use std::collections::{BTreeMap, BTreeSet};
use std::time::Duration;

/// When sampling of a case, and of the run, ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Half-width of the interval, as a fraction of the median, at which a case is done.
    pub precision: f64,
    /// Most time of measuring.
    pub time: Duration,
}

/// What a look has shown that operations take at the least, and what is measured of it.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Screened {
    /// Bytes of plaintext of the operations that were looked at: larger ones take as long and longer.
    pub size: usize,
    /// Nanoseconds, by library (its place among those that are attached), algorithm and direction.
    pub least_ns: BTreeMap<(usize, &'static str, Direction), u64>,
    /// What is measured all the same; everything where there is nothing.
    pub only: Option<BTreeSet<(usize, &'static str)>>,
}

impl Screened {
    /// The same where only these algorithms in libraries are to be measured.
    #[must_use]
    pub fn but(&self, only: BTreeSet<(usize, &'static str)>) -> Self {
        Self { only: Some(only), ..self.clone() }
    }

    /// Why a case is not measured; none where it is to be.
    pub(crate) fn finding(&self, case: &Case) -> Option<Finding> {
        let algorithm = Algorithm::find(&case.algorithm).ok()?.name;
        let only = self.only.as_ref()?;
        (!only.contains(&(case.library, algorithm))).then(|| self.bound(case, algorithm))
    }

    /// A case that is not measured, with what is known of it.
    pub(crate) fn bound(&self, case: &Case, algorithm: &'static str) -> Finding {
        let least = self.least_ns.get(&(case.library, algorithm, case.direction)).copied();
        Finding::screened(least.filter(|_| case.size >= self.size))
    }
}

/// What was asked for.
#[derive(Clone, Debug)]
pub struct Request {
    /// Suite that filled in the rest, if any.
    pub suite: Option<String>,
    /// Algorithms.
    pub algorithms: Vec<&'static Algorithm>,
    /// Directions of ciphers; digests and copies have their own.
    pub directions: Vec<Direction>,
    /// Models.
    pub models: Vec<Model>,
    /// Bytes of plaintext.
    pub sizes: Vec<usize>,
    /// Tiers.
    pub tiers: Vec<Tier>,
    /// Working sets.
    pub footprints: Vec<Footprint>,
    /// Numbers of threads measuring at once.
    pub threads: Vec<u32>,
    /// Whether the output is written over the input.
    pub in_place: Vec<bool>,
    /// Whether single operations are timed as well.
    pub latency: bool,
    /// When to stop.
    pub budget: Budget,
    /// Whether operations are stepped, to say what they execute.
    pub evidence: bool,
    /// Cases that need not be measured, with what they take at the least.
    pub screened: Screened,
    /// Seed of every random choice but the placement of buffers.
    pub seed: u64,
    /// The command line, for the record.
    pub command: Vec<String>,
}

/// A case and, where that is known without measuring, what becomes of it.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct Planned {
    /// The row.
    pub case: Case,
    /// Why it will not be measured.
    pub verdict: Option<Finding>,
    /// What of it is the machine's.
    pub(crate) setting: Setting,
}

/// Every case of a request over the libraries, in the order in which the record lists them.
/// Baselines (`memcpy`, `xxh3-64`, `null`) are rows of the libraries that offer them only: no
/// cipher library is the poorer for not having them.
#[must_use]
pub fn cases(request: &Request, libraries: &[Attached], machine: &Machine) -> Vec<Planned> {
    let mut planned = Vec::new();
    for (library, attached) in libraries.iter().enumerate() {
        for algorithm in &request.algorithms {
            for direction in directions(request, algorithm) {
                for model in &request.models {
                    for kind in kinds(request, *model) {
                        // Of a tier that cannot be applied the offers at `native` are rows.
                        let offers = attached.offers_at(kind.tier).unwrap_or(&attached.offers);
                        if is_baseline(algorithm)
                            && offered(attached, offers, algorithm, direction, *model).is_err()
                        {
                            continue;
                        }
                        let setting = machine.setting(
                            kind.footprint,
                            kind.in_place,
                            kind.threads,
                            request.latency && *model != Model::Stream,
                        );
                        for size in &request.sizes {
                            let case = Case {
                                library,
                                algorithm: algorithm.name.to_owned(),
                                direction,
                                model: *model,
                                size: *size,
                                ..kind.clone()
                            };
                            let mut plan = plan(attached, algorithm, case, setting.clone());
                            let screened = request.screened.finding(&plan.case);
                            plan.verdict = plan.verdict.or(screened);
                            planned.push(plan);
                        }
                    }
                }
            }
        }
    }
    planned
}

fn plan(
    attached: &Attached,
    algorithm: &Algorithm,
    case: Case,
    setting: Result<Setting, String>,
) -> Planned {
    let offered = verdict(attached, algorithm, &case);
    let (setting, impossible) = match setting {
        Ok(setting) => {
            let why = does_not_fit(algorithm, &case, &setting);
            (setting, why)
        }
        Err(why) => (Setting::default(), Some(why)),
    };
    Planned { case, verdict: offered.or(impossible.map(Finding::unsupported)), setting }
}

/// Why an operation does not fit the case's footprint.
fn does_not_fit(algorithm: &Algorithm, case: &Case, setting: &Setting) -> Option<String> {
    if case.model == Model::Stream {
        return (!case.footprint.is_hot()).then(|| {
            "a stream goes over one buffer again and again, so it has the footprint hot only"
                .to_owned()
        });
    }
    if matches!(case.footprint, Footprint::Hot | Footprint::Memory) {
        return None;
    }
    let (bytes, fits) = (
        Place::of(algorithm, case.direction, case.size, case.in_place).bytes(),
        setting.walk_bytes.unwrap_or(0),
    );
    (bytes > fits).then(|| {
        format!(
            "the {bytes} bytes that an operation touches are more than the {fits} of the footprint {}",
            case.footprint
        )
    })
}

/// Every combination of tier, threads, footprint and place; the rest of each is to be filled in. A
/// stream is in place in any case, and so it comes once.
fn kinds(request: &Request, model: Model) -> Vec<Case> {
    let places = if model == Model::Stream { &[false][..] } else { &request.in_place[..] };
    let mut kinds = Vec::new();
    for tier in &request.tiers {
        for threads in &request.threads {
            for footprint in &request.footprints {
                for in_place in places {
                    kinds.push(Case {
                        library: 0,
                        algorithm: String::new(),
                        direction: Direction::Encrypt,
                        model: Model::Message,
                        size: 0,
                        tier: *tier,
                        threads: *threads,
                        footprint: *footprint,
                        in_place: *in_place,
                    });
                }
            }
        }
    }
    kinds
}

fn directions(request: &Request, algorithm: &Algorithm) -> Vec<Direction> {
    Direction::of(algorithm.kind)
        .iter()
        .copied()
        .filter(|d| is_baseline(algorithm) || request.directions.contains(d))
        .collect()
}

fn is_baseline(algorithm: &Algorithm) -> bool {
    !algorithm.encrypts()
}

fn verdict(attached: &Attached, algorithm: &Algorithm, case: &Case) -> Option<Finding> {
    let offers = match attached.offers_at(case.tier) {
        Ok(offers) => offers,
        Err(finding) => return Some(finding),
    };
    if let Err(finding) = offered(attached, offers, algorithm, case.direction, case.model) {
        return Some(finding);
    }
    if case.in_place && !offer(offers, algorithm, case.direction).is_some_and(|o| o.in_place) {
        return Some(Finding::unsupported("the library's interface does not work in place"));
    }
    if case.threads > 1
        && let Some(why) = attached.ready.as_ref().and_then(|r| r.one_thread_only.clone())
    {
        return Some(Finding::unsupported(why));
    }
    (!algorithm.sizes.allows(case.size)).then(|| Finding::unsupported(algorithm.size_reason()))
}

fn offered(
    attached: &Attached,
    offers: &[Offer],
    algorithm: &Algorithm,
    direction: Direction,
    model: Model,
) -> Result<(), Finding> {
    let offer = offer(offers, algorithm, direction)
        .ok_or_else(|| Finding::unsupported(format!("{} does not offer it", attached.label())))?;
    if offer.models.contains(&model) {
        return Ok(());
    }
    if !offer.models.is_empty() {
        match model {
            Model::Rekey if algorithm.key_len == 0 => {
                return Err(Finding::unsupported(format!("{algorithm} has no key")));
            }
            Model::Rekey if offer.in_flight.is_some() => {
                return Err(Finding::unsupported(contract::ONE_KEY));
            }
            Model::Forgery if !(algorithm.rejects() && direction == Direction::Decrypt) => {
                return Err(Finding::unsupported(NO_FORGERY));
            }
            _ => {}
        }
    }
    let why = offer.reason.clone().unwrap_or_else(|| {
        format!("{} does not offer {algorithm} in the model {model}", attached.label())
    });
    Err(if offer.failed { Finding::failed(why) } else { Finding::unsupported(why) })
}

fn offer<'a>(
    offers: &'a [Offer],
    algorithm: &Algorithm,
    direction: Direction,
) -> Option<&'a Offer> {
    offers.iter().find(|o| o.algorithm == algorithm.name && o.direction == direction)
}

#[cfg(test)]
mod properties;

#[cfg(test)]
mod tests;
