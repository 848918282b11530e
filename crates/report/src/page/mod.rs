//! One self-contained HTML page from records: records in, text out. Pure: no I/O, no clock, no
//! statistics; what the page shows is what the records say, in other units at most. `docs/REPORT.md`
//! is the long form.

mod assets;
mod data;
mod frame;
mod pack;
mod site;
mod text;

pub use site::{SITE_MARK, Site, SiteCell, SiteMachine, SiteRecord, SiteWorkload, site};

use judge::advise::Advised;
use record::Record;
use record::at_rest::PagesRecord;
use record::tls::TlsFile;

/// The beginning of every page that this crate makes, by which a program knows one again.
pub const MARK: &str = "<!doctype html>\n<!-- ciphermark report -->\n";

/// A file, and what it is called on the page.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Name of the file that it was read from, without directories.
    pub file: &'a str,
    /// What is in it.
    pub content: Content<'a>,
}

/// What a page can show.
#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    /// A survey's record.
    Survey(&'a Record),
    /// The record of a page store.
    Pages(&'a PagesRecord),
    /// Advice.
    Advice(&'a Advised),
    /// A run of TLS: handshakes, records or primitives.
    Tls(&'a TlsFile),
}

/// Why there is no page.
#[derive(Debug, thiserror::Error)]
pub enum PageError {
    /// The program was built without the chart library.
    #[error(
        "this build of ciphermark has no chart library to embed: `make web` fetches it, then `make build` again"
    )]
    NoChartLibrary,
    /// More of something than the page's numbers can count.
    #[error("the records cannot be packed: {0}")]
    Unpackable(#[from] std::io::Error),
    /// The frame could not be filled.
    #[error("the page's frame cannot be filled: {0}")]
    Frame(#[from] askama::Error),
}

/// The page of these files, side by side where there are several.
///
/// # Errors
/// [`PageError`], one line.
pub fn page(sources: &[Source<'_>]) -> Result<String, PageError> {
    let assets = assets::embedded().ok_or(PageError::NoChartLibrary)?;
    let data = data::Data::of(sources);
    frame::fill(&data, &assets)
}

/// As [`page`], without the chart library and our own styles and scripts: what records put into a page,
/// for tests of it.
///
/// # Errors
/// [`PageError`], one line.
#[doc(hidden)]
pub fn page_without_scripts(sources: &[Source<'_>]) -> Result<String, PageError> {
    let none = String::new;
    let assets = assets::Assets { licence: "", style: none(), library: none(), script: none() };
    frame::fill(&data::Data::of(sources), &assets)
}
