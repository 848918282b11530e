//! A whole TLS stack that is an object of its own.

use adapters::stacks::{Identity, Line, Stack, Trouble, connect};
use probe::Clock;
use record::tls::{Case, Filter, Kind, Negotiated, Protection, matrix};
use std::path::Path;

/// What a stack does.
#[derive(Debug)]
pub struct StackOffer {
    /// Who it says it is.
    pub identity: Identity,
    /// Handshakes of the matrix that were what was asked for, twice in a row.
    pub handshakes: Vec<Case>,
    /// Those that it does not offer, with its words.
    pub not_offered: Vec<(Case, String)>,
    /// Suites whose records came out as they went in.
    pub records: Vec<Protection>,
}

/// Loads an object, makes every handshake of the matrix, and sends records of every suite.
///
/// # Errors
/// Why it is no stack.
///
/// # Panics
/// When a handshake is another than was asked for, or contradicts what an end says.
pub fn whole_stack(object: &Path) -> Result<StackOffer, String> {
    let stack = adapters::stacks::load(object, None)?;
    let identity = stack.identity().unwrap_or_default();
    let (mut handshakes, mut not_offered) = (Vec::new(), Vec::new());
    // Hundreds of connections: to calibrate for each would be most of what this takes.
    let clock = Clock::calibrate();
    for case in matrix(&Filter::default()) {
        match connected(&*stack, &case, &clock) {
            Ok(negotiated) => {
                assert_eq!(negotiated.resumed, case.kind.is_resumed(), "{case}");
                handshakes.push(case);
            }
            Err(why) => not_offered.push((case, why.to_string())),
        }
    }
    let records =
        Protection::all(&[], &[]).into_iter().filter(|p| carries(&*stack, *p, &clock)).collect();
    Ok(StackOffer { identity, handshakes, not_offered, records })
}

fn connected(stack: &dyn Stack, case: &Case, clock: &Clock) -> Result<Negotiated, Trouble> {
    let mut bench = stack.open(case)?;
    let mut make = |case: &Case| connect(&mut *bench, case, clock, false, &mut || {});
    if case.kind.is_resumed() {
        make(&Case { kind: Kind::Full, ..*case })?;
    }
    let (first, again) = (make(case)?, make(case)?);
    assert_eq!(first.negotiated, again.negotiated, "{case}");
    Ok(again.negotiated.unwrap_or_else(|e| panic!("{case}: {e}")))
}

fn carries(stack: &dyn Stack, protection: Protection, clock: &Clock) -> bool {
    [1, 1400, record::tls::LARGEST_RECORD].into_iter().all(|size| {
        let line = Line::open(stack, protection, size, clock);
        line.is_ok_and(|mut line| {
            line.batch(clock).unwrap_or_else(|e| panic!("{protection}, {size} bytes: {e}"));
            true
        })
    })
}
