//! `ciphermark tls why`: what explains a rise of CPU use.

use super::load::{Documents, read_spec};
use crate::args_tls_load::{WhenArg, WhyArgs};
use crate::error::{Exit, Failure};
use judge::load::{Question, Why};

pub(super) fn why(args: &WhyArgs) -> Result<Exit, Failure> {
    if let Some(mbit) = args.mbit.filter(|mbit| !(mbit.is_finite() && *mbit >= 0.0)) {
        return Err(Failure::usage(format!(
            "--mbit {mbit} is not a rate: write a number of 0 or more"
        )));
    }
    let question = Question {
        from_percent: args.from,
        to_percent: args.to,
        slower: args.slower,
        spec: args.spec.as_deref().map(read_spec).transpose()?,
        spec_is_before: args.spec_is == WhenArg::Before,
        most_mbit_per_s: args.mbit,
    };
    args.out.check::<Why>()?;
    let documents = Documents::read(&args.documents, || {
        Err(Failure::not_done(
            "there is nothing to calculate from: give --calibration FILE, written by `tls calibrate -o FILE`",
        ))
    })?;
    let found = judge::load::why(&question, &documents.inputs()).map_err(Failure::usage)?;
    args.out.deliver(&found, judge::load::render_why)?;
    Ok(Exit::Done)
}
