//! From addresses to functions: what a reader looks a finding up by.

use super::decoded::Decodes;
use crate::step::Step;
use crate::step::code::{Code, Mapping};
use crate::step::symbols::Symbols;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::sync::Arc;

/// Where an address is.
#[derive(Clone, Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct At {
    /// File name of the object.
    pub(super) object: String,
    /// The function's symbol.
    pub(super) function: Option<String>,
    /// Where the function begins within the object, as far as that is known.
    pub(super) begin: u64,
    /// The address within the object.
    pub(super) address: u64,
}

/// What this program is called, whatever its file.
const PROGRAM: &str = "ciphermark";

/// The symbols of the objects that were asked for so far.
pub(super) struct Places<'a> {
    code: &'a Code,
    symbols: BTreeMap<String, Arc<Symbols>>,
}

impl<'a> Places<'a> {
    pub(super) fn new(code: &'a Code) -> Self {
        Self { code, symbols: BTreeMap::new() }
    }

    fn mapping(&self, address: u64) -> Option<&'a Mapping> {
        self.code.mapping(address).map(|m| &self.code.mappings[m])
    }

    /// Where an address is.
    pub(super) fn at(&mut self, address: u64) -> At {
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
    pub(super) fn function(
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

    /// The files that steps are in.
    pub(super) fn objects(&self, steps: &[Step]) -> Vec<PathBuf> {
        let pages: BTreeSet<u64> = steps.iter().map(|s| s.address() >> 12 << 12).collect();
        let mappings = pages.iter().filter_map(|page| self.mapping(*page));
        let files = mappings.map(|m| &m.name).filter(|name| name.starts_with('/'));
        files.map(PathBuf::from).collect::<BTreeSet<_>>().into_iter().collect()
    }
}
