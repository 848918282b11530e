//! The worker's power: given up around loading, and what becomes of a library that reaches for more.
//!
//! What is denied fails in the library as it does on a system that does not allow it, and is noted. While a
//! library is loaded and its algorithms are opened, some try what they can do without (a device, a service of
//! the system's): that is told in the record. Starting programs or reaching into other processes is not among
//! it, and while a library computes nothing is: such a number is not to be trusted.

use super::tier::Prepared;
use crate::protocol::{Finding, Hello, Offer, Reply, VisitResult};
use host::confine::{Confined, Needs, Sockets};
use record::Confinement;
use std::path::PathBuf;
use verify::vector_file::Judged;

/// What a worker has given up so far.
pub(super) enum Power {
    /// No code of a library comes into the process: the kernel's stays there, and a runtime is confined by itself.
    Needless,
    /// What loading does not need.
    Confined(Confined),
}

impl Power {
    /// Gives up what loading does not need.
    pub(super) fn give_up(hello: &Hello, prepared: &Prepared) -> Result<Self, String> {
        if base::model::runs_elsewhere(&hello.path) {
            return Ok(Self::Needless);
        }
        let library = hello.path.canonicalize().unwrap_or_else(|_| hello.path.clone());
        let files = [prepared.files.clone(), host::configuration_files()].concat();
        let (copies, sockets) = (prepared.copies, Sockets::None);
        let needs = Needs { library: &library, files: &files, copies, sockets };
        host::confine::before_loading(&needs).map(Self::Confined)
    }

    /// The same before a TLS stack is loaded.
    pub(super) fn give_up_for_stack(hello: &record::tls::StackHello) -> Result<Self, String> {
        let whole = |path: &PathBuf| path.canonicalize().unwrap_or_else(|_| path.clone());
        let mut files: Vec<PathBuf> = hello.crypto.iter().map(whole).collect();
        files.extend(host::configuration_files());
        let (library, sockets) = (&whole(&hello.path), Sockets::None);
        let needs = Needs { library, files: &files, copies: &[], sockets };
        host::confine::before_loading(&needs).map(Self::Confined)
    }

    /// Gives up what only loading needed.
    pub(super) fn give_up_more(self, objects: &[PathBuf]) -> Result<Option<Confinement>, String> {
        let Self::Confined(mut confined) = self else { return Ok(None) };
        // OpenSSL reads its configuration, and loads what that names, when it is first asked for something.
        let readable = [objects, &host::configuration_files()].concat();
        confined.after_loading(&readable).map_err(|why| format!("cannot be confined: {why}"))?;
        let denied = host::confine::take_denied();
        if let Some(why) = denied.hostile() {
            return Err(format!("{why}, while it was loaded"));
        }
        let facts = confined.facts().clone();
        Ok(Some(Confinement { denied: denied.names().to_vec(), ..facts }))
    }
}

/// Why a library was not loaded, with what it was denied.
pub(super) fn why(loading: String) -> String {
    match host::confine::take_denied().reason() {
        Some(denied) => format!("{loading}; {denied}, while it was loaded"),
        None => loading,
    }
}

/// What was denied since this was last asked.
pub(super) fn denied() -> Vec<String> {
    host::confine::take_denied().names().to_vec()
}

/// From the algorithm on whose opening starts programs or the like, nothing is offered. What libraries may
/// try is left for [`denied`] to tell.
pub(super) fn hold_offer(offer: &mut Offer) {
    if let Some(why) = host::confine::hostile_so_far() {
        (offer.models, offer.failed, offer.reason) = (Vec::new(), true, Some(why));
    }
}

/// A reply that gives a result, unless something was denied meanwhile.
pub(super) fn held_reply(reply: Reply) -> Reply {
    match (host::confine::take_denied().reason(), reply) {
        (None, reply) => reply,
        (Some(why), Reply::Finding(finding)) => Reply::Finding(joined(finding, &why)),
        (Some(why), _) => Reply::Finding(Finding::refused(why)),
    }
}

/// The same for a visit.
pub(super) fn held(result: VisitResult) -> VisitResult {
    match (host::confine::take_denied().reason(), result) {
        (None, result) => result,
        (Some(why), VisitResult::Finding(finding)) => VisitResult::Finding(joined(finding, &why)),
        (Some(why), _) => VisitResult::Finding(Finding::refused(why)),
    }
}

/// The same for a published vector.
pub(super) fn held_judgement(judged: Result<Judged, String>) -> Result<Judged, String> {
    host::confine::take_denied().reason().map_or(judged, Err)
}

fn joined(finding: Finding, denied: &str) -> Finding {
    Finding::refused(format!("{}; {denied}", finding.why))
}
