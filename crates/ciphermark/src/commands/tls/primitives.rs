//! `ciphermark tls primitives`

use super::super::run::{random_seed, watch_signals};
use super::{check_output, exit, keep, read, stacks};
use crate::args_tls_primitives::PrimitivesArgs;
use crate::error::{Exit, Failure};
use crate::progress::Bar;
use crate::screen;
use engine::PrimitivesRequest;
use tls::{Filter, LARGEST_RECORD, Primitive, PrimitivesDocument};

pub(super) fn primitives(args: &PrimitivesArgs) -> Result<Exit, Failure> {
    let request = request(args)?;
    if let Some(path) = &args.common.output {
        check_output::<PrimitivesDocument>(path)?;
    }
    let (stacks, _) = stacks(&args.common.library, false)?;
    let stop = watch_signals()?;
    let bar = Bar::new(args.common.quiet);
    let document =
        engine::primitives(&request, &stacks, &stop, &mut |progress| bar.sampling(&progress));
    bar.finish();
    keep(&args.common, &document)?;
    let format = args.common.format.into();
    screen::print(|options| tls::render_primitives(&document, format, options))?;
    Ok(exit(document.primitives.iter().map(|row| row.state)))
}

fn request(args: &PrimitivesArgs) -> Result<PrimitivesRequest, Failure> {
    let schemes = read(&args.primitives, Filter::scheme)?;
    let operations = read(&args.operations, Filter::operation)?;
    let sizes = model::parse_sizes(&args.size).map_err(Failure::usage)?;
    if let Some(size) = sizes.iter().find(|size| !(1..=LARGEST_RECORD).contains(*size)) {
        return Err(Failure::usage(format!(
            "TLS digests 1 to {LARGEST_RECORD} bytes at a time, not {size}"
        )));
    }
    let sizes: Vec<u32> = sizes.into_iter().map(|size| size as u32).collect();
    let primitives = Primitive::all(&schemes, &operations, &sizes);
    if primitives.is_empty() {
        return Err(Failure::usage("these primitives have no such operations"));
    }
    Ok(PrimitivesRequest {
        primitives,
        precision: args.common.precision,
        time: args.common.budget,
        seed: args.common.seed.unwrap_or_else(random_seed),
        command: std::env::args().collect(),
    })
}
