//! `ciphermark report`.

use crate::args_archive::{PriceArgs, WhichArgs};
use clap::Args;
use std::path::PathBuf;

/// `ciphermark report`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark report run.json                       writes run.html; to a pipe, prints it\n  \
    ciphermark report old.json new.json -o both.html  two runs, or two machines, side by side\n  \
    ciphermark report pages.json advice.json -o at-rest.html  a page store (`pages -o`) and advice (`advise --format json`)\n  \
    ciphermark report tls.json records.json primitives.json -o tls.html  runs of `ciphermark tls`, each with -o\n  \
    ciphermark report run.json.gz | gzip > run.html.gz\n  \
    ciphermark report --from fleet.db -o site --prices prices.csv   machines, libraries and releases of an archive\n\n\
    The page is one file that loads nothing else and contains every raw sample. Its address (after '#')\n\
    follows your selection, so you can send a view as a link.")]
pub struct ReportArgs {
    /// Records from `run -o` or `pages -o`, runs from `tls … -o`, and advice from `advise --format
    /// json`.
    #[arg(required_unless_present = "from", conflicts_with = "from", value_name = "RECORD")]
    pub records: Vec<PathBuf>,
    /// Write the page to this file, '-' is standard output; with --from, a site into this directory.
    #[arg(short, long, value_name = "FILE.html|DIRECTORY", required_unless_present = "records")]
    pub output: Option<PathBuf>,
    /// A static site from an archive.
    #[arg(long, value_name = "STORE")]
    pub from: Option<String>,
    /// Link cells to records below this address instead of copying the records into the site.
    #[arg(long, value_name = "URL", requires = "from")]
    pub records_at: Option<String>,
    /// Which runs of the archive.
    #[command(flatten)]
    pub which: WhichArgs,
    #[command(flatten)]
    pub prices: PriceArgs,
}
