//! What was asked for, laid out as cases.

use crate::attached::Attached;
use crate::protocol::{Finding, NO_FORGERY, Offer};
use crate::setting::{Machine, Setting};
use model::{Algorithm, Case, Direction, Footprint, Model, Tier};
use probe::Place;
use std::time::Duration;

/// When sampling of a case, and of the run, ends.
#[derive(Clone, Copy, Debug, PartialEq)]
pub struct Budget {
    /// Half-width of the interval, as a fraction of the median, at which a case is done.
    pub precision: f64,
    /// Most time of measuring.
    pub time: Duration,
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
                            planned.push(plan(attached, algorithm, case, setting.clone()));
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
mod tests {
    use super::*;
    use crate::attached::AtTier;

    pub(super) fn attached(offers: Vec<Offer>) -> Attached {
        let facts = record::Library {
            name: "lib".into(),
            version: "1".into(),
            path: "lib.so".into(),
            id: "sha256:0".into(),
            ..record::Library::default()
        };
        Attached {
            facts,
            given_name: None,
            bundled_name: None,
            offers,
            ready: None,
            tiers: Vec::new(),
            copies: None,
        }
    }

    pub(super) fn offer(algorithm: &str, direction: Direction, reason: Option<&str>) -> Offer {
        Offer {
            algorithm: algorithm.into(),
            direction,
            models: if reason.is_none() { vec![Model::Message] } else { Vec::new() },
            reason: reason.map(ToOwned::to_owned),
            failed: false,
            functions: None,
            copies: false,
            allocates: false,
            rekeying: None,
            rekey_functions: None,
            in_place: false,
            in_flight: None,
        }
    }

    pub(super) fn request(algorithms: &[&str]) -> Request {
        Request {
            suite: None,
            algorithms: algorithms.iter().map(|a| Algorithm::find(a).unwrap()).collect(),
            directions: vec![Direction::Encrypt],
            models: vec![Model::Message],
            sizes: vec![16, 100],
            tiers: vec![Tier::Native],
            footprints: vec![Footprint::Hot],
            threads: vec![1],
            in_place: vec![false],
            latency: false,
            budget: Budget { precision: 0.01, time: Duration::from_secs(1) },
            evidence: true,
            seed: 1,
            command: Vec::new(),
        }
    }

    pub(super) fn machine() -> Machine {
        let cache = |level, size_bytes| record::Cache {
            level,
            kind: "Data".into(),
            size_bytes,
            line_bytes: 64,
            shared_by: "0".into(),
        };
        let mut host = record::Host::default();
        host.cpu.caches = vec![cache(1, 32 << 10), cache(2, 1 << 20)];
        host.memory.total_bytes = 1 << 30;
        Machine::new(&host, vec![0])
    }

    fn of(library: Attached, change: impl FnOnce(&mut Request)) -> Vec<Planned> {
        let mut request = request(&["aes-128-gcm"]);
        request.sizes = vec![1024];
        change(&mut request);
        cases(&request, &[library], &machine())
    }

    fn gcm() -> Attached {
        let both = [Direction::Encrypt, Direction::Decrypt].map(|direction| Offer {
            models: vec![Model::Message, Model::Rekey, Model::Forgery],
            ..offer("aes-128-gcm", direction, None)
        });
        let mut library = attached(both.to_vec());
        library.offers[0].models.pop();
        library
    }

    #[test]
    fn a_footprint_that_cannot_hold_an_operation_is_unsupported() {
        let planned = of(gcm(), |r| {
            r.footprints = vec![Footprint::L1, Footprint::L2, Footprint::L3];
            r.sizes = vec![1024, 16 << 10];
        });
        let reason = |i: usize| planned[i].verdict.as_ref().map(|v| v.why.clone());
        assert_eq!((reason(0), reason(2), reason(3)), (None, None, None));
        assert!(reason(1).unwrap().contains("are more than the 24576 of the footprint l1"));
        assert!(reason(4).unwrap().contains("no level 3 cache"));
    }

    #[test]
    fn in_place_and_forgeries_are_there_where_they_can_be() {
        let planned = of(gcm(), |r| r.in_place = vec![false, true]);
        assert_eq!(planned[0].verdict, None);
        assert!(planned[1].verdict.as_ref().unwrap().why.contains("does not work in place"));
        let planned = of(gcm(), |r| {
            r.models = vec![Model::Forgery];
            r.directions = vec![Direction::Encrypt, Direction::Decrypt];
        });
        assert!(planned[0].verdict.as_ref().unwrap().why.contains("only decryption"));
        assert_eq!(planned[1].verdict, None);
    }

    #[test]
    fn a_library_of_one_thread_is_not_measured_with_two() {
        let mut library = gcm();
        library.ready = Some(crate::protocol::Ready {
            one_thread_only: Some("one thread".into()),
            ..Default::default()
        });
        let planned = of(library, |r| r.threads = vec![1, 2]);
        assert_eq!(planned[0].verdict, None);
        assert_eq!(planned[1].verdict, Some(Finding::unsupported("one thread")));
    }

    #[test]
    fn what_is_not_offered_is_a_row_with_its_reason() {
        let library = attached(vec![offer("aes-128-ocb", Direction::Encrypt, Some("no OCB here"))]);
        let planned = cases(&request(&["aes-128-ocb"]), &[library], &machine());
        assert_eq!(planned.len(), 2);
        assert_eq!(planned[0].verdict, Some(Finding::unsupported("no OCB here")));
    }

    #[test]
    fn a_size_that_the_mode_does_not_define_is_unsupported() {
        let library = attached(vec![offer("aes-128-ecb", Direction::Encrypt, None)]);
        let planned = cases(&request(&["aes-128-ecb"]), &[library], &machine());
        assert_eq!(planned[0].verdict, None);
        let why = &planned[1].verdict.as_ref().unwrap().why;
        assert!(why.contains("whole blocks of 16 bytes"), "{why}");
    }

    #[test]
    fn each_tier_has_its_own_offers_and_one_that_cannot_be_applied_its_reason() {
        let mut library = attached(vec![offer("aes-128-ocb", Direction::Encrypt, None)]);
        let without = vec![offer("aes-128-ocb", Direction::Encrypt, Some("needs AES-NI"))];
        library.tiers = vec![
            AtTier { tier: Tier::Noaes, offers: Ok(without) },
            AtTier { tier: Tier::Baseline, offers: Err(Finding::unsupported("no way")) },
        ];
        let tiers = vec![Tier::Native, Tier::Noaes, Tier::Baseline];
        let request = Request { tiers, sizes: vec![16], ..request(&["aes-128-ocb"]) };
        let planned = cases(&request, &[library], &machine());
        let verdicts: Vec<_> =
            planned.iter().map(|p| p.verdict.as_ref().map(|f| f.why.as_str())).collect();
        assert_eq!(verdicts, [None, Some("needs AES-NI"), Some("no way")]);
    }

    #[test]
    fn baselines_are_rows_only_where_they_are_offered() {
        let with = attached(vec![offer("memcpy", Direction::Copy, None)]);
        let without = attached(vec![offer("memcpy", Direction::Copy, Some("no"))]);
        let planned = cases(&request(&["memcpy"]), &[with, without], &machine());
        assert_eq!(planned.len(), 2);
        assert!(planned.iter().all(|p| p.case.library == 0 && p.verdict.is_none()));
    }
}
