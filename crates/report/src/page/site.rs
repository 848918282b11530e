//! A static site from an archive: machines by libraries and their releases. One page, and a file of figures for each
//! algorithm, which the page loads when it is looked at.

use crate::page::{PageError, csp_hash, packed, script_json};
use askama::Template;
use serde::Serialize;
use std::collections::BTreeMap;
use std::io;

/// The beginning of the page, by which a program knows a site of its own again.
pub const SITE_MARK: &str = "<!doctype html>\n<!-- ciphermark site -->\n";

const STYLES: [&str; 3] = [
    include_str!("../../assets/css/base.css"),
    include_str!("../../assets/css/controls.css"),
    include_str!("../../assets/css/site.css"),
];

const SCRIPTS: [&str; 4] = [
    include_str!("../../assets/js/dom.js"),
    include_str!("../../assets/js/numbers.js"),
    include_str!("../../assets/js/unpack.js"),
    include_str!("../../assets/js/site.js"),
];

/// What the site shows.
#[derive(Clone, Debug, Default, Serialize)]
pub struct Site {
    /// The machines.
    pub machines: Vec<SiteMachine>,
    /// Names and versions of the libraries.
    pub libraries: Vec<(String, String)>,
    /// The runs.
    pub records: Vec<SiteRecord>,
    /// What was measured, but for the library.
    #[serde(skip)]
    pub workloads: Vec<SiteWorkload>,
    /// The figures.
    #[serde(skip)]
    pub cells: Vec<SiteCell>,
}

/// A machine type.
#[derive(Clone, Debug, Serialize)]
pub struct SiteMachine {
    /// Its name.
    pub name: String,
    /// Where it is rented.
    pub region: Option<String>,
    /// Its processor.
    pub cpu: String,
    /// Its CPUs: hardware threads.
    pub cpus: u32,
    /// What it costs an hour, in which currency, since when.
    pub price: Option<(f64, String, String)>,
}

/// A run.
#[derive(Clone, Debug, Serialize)]
pub struct SiteRecord {
    /// Place of its machine in [`Site::machines`].
    pub machine: usize,
    /// Its day.
    pub day: String,
    /// Where the record is.
    pub link: String,
}

/// A case without its library.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteWorkload {
    /// Algorithm.
    pub algorithm: String,
    /// Everything else but the size, in words.
    pub words: String,
    /// Bytes of plaintext in one operation; 0 if it has none.
    pub size: usize,
}

/// A figure.
#[derive(Clone, Copy, Debug)]
pub struct SiteCell {
    /// Place in [`Site::records`].
    pub record: usize,
    /// Place in [`Site::libraries`].
    pub library: usize,
    /// Place in [`Site::workloads`].
    pub workload: usize,
    /// Nanoseconds of one operation.
    pub ns: f64,
    /// Half the interval's width over the median.
    pub half: f64,
    /// Against the release before on the same machine: 0 no verdict or undecided, 1 same, 2 faster, 3 slower.
    pub verdict: u8,
    /// The cost over that of the release before, less 1; shown where that is faster or slower.
    pub change: f64,
}

/// What stands before the columns of an algorithm's file.
#[derive(Serialize)]
struct Cases<'a> {
    /// Words and size of each case.
    workloads: Vec<(&'a str, usize)>,
    /// How many figures follow.
    cells: usize,
}

#[derive(Template)]
#[template(path = "site.html")]
struct Frame {
    policy: String,
    style: String,
    script: String,
    head_json: String,
    machines: usize,
    libraries: usize,
    records: usize,
}

#[derive(Serialize)]
struct Head<'a> {
    #[serde(flatten)]
    site: &'a Site,
    /// Each algorithm and its file.
    shards: Vec<(&'a str, String)>,
}

/// The files of the site, by their paths within it.
///
/// # Errors
/// [`PageError`], one line.
pub fn site(site: &Site) -> Result<Vec<(String, Vec<u8>)>, PageError> {
    let mut of: BTreeMap<&str, Vec<&SiteCell>> = BTreeMap::new();
    for cell in &site.cells {
        of.entry(&site.workloads[cell.workload].algorithm).or_default().push(cell);
    }
    let mut files = Vec::new();
    let mut shards = Vec::new();
    for (place, (algorithm, mut cells)) in of.into_iter().enumerate() {
        cells.sort_by_key(|c| (c.workload, c.library, c.record));
        let path = format!("data/{place}.js");
        let bytes = shard(&site.workloads, &cells)?;
        let text = format!("ciphermarkShard({place}, \"{}\");\n", packed(&bytes)?);
        files.push((path.clone(), text.into_bytes()));
        shards.push((algorithm, path));
    }
    let (style, script) =
        (STYLES.join("\n"), format!("(() => {{\n\"use strict\";\n{}\n}})();", SCRIPTS.join("\n")));
    let frame = Frame {
        policy: format!(
            "default-src 'none'; script-src {} 'self' file:; style-src {}; img-src data:; base-uri 'none'; \
             form-action 'none'",
            csp_hash(&script),
            csp_hash(&style)
        ),
        style,
        script,
        head_json: script_json(&Head { site, shards })?,
        machines: site.machines.len(),
        libraries: site.libraries.len(),
        records: site.records.len(),
    };
    files.push(("index.html".to_owned(), format!("{SITE_MARK}{}", frame.render()?).into_bytes()));
    Ok(files)
}

/// Times are kept as their logarithm in these parts: to 0.0015 %, a hundredth of the narrowest interval.
const OF_TIME: f64 = 32_768.0;

/// The figures of an algorithm: the length of what [`Cases`] are as JSON, that, and columns of whole numbers. Neighbours
/// are the same case on the next machine, so that differences say less than the numbers and pack better.
fn shard(workloads: &[SiteWorkload], cells: &[&SiteCell]) -> io::Result<Vec<u8>> {
    let mut own: Vec<usize> = cells.iter().map(|c| c.workload).collect();
    own.dedup();
    let named = own.iter().map(|w| (workloads[*w].words.as_str(), workloads[*w].size));
    let cases = serde_json::to_vec(&Cases { workloads: named.collect(), cells: cells.len() })?;
    let mut out = (cases.len() as u32).to_le_bytes().to_vec();
    out.extend(cases);
    let of = |c: &SiteCell| own.binary_search(&c.workload).unwrap_or_default();
    column(&mut out, steps(cells.iter().map(|c| of(c) as u32)));
    column(&mut out, steps(cells.iter().map(|c| c.library as u32)));
    column(&mut out, steps(cells.iter().map(|c| c.record as u32)));
    column(
        &mut out,
        steps(cells.iter().map(|c| (c.ns.max(1e-9).ln() * OF_TIME).round() as i32 as u32)),
    );
    // In tenths of a thousandth, and thousandths.
    column(&mut out, cells.iter().map(|c| (c.half * 1e4).round() as u32).collect());
    column(&mut out, cells.iter().map(|c| c.verdict.into()).collect());
    let change = |c: &SiteCell| if c.verdict > 1 { (c.change * 1e3).round() as i32 } else { 0 };
    column(&mut out, cells.iter().map(|c| zigzag(change(c))).collect());
    Ok(out)
}

/// Each number less the one before it.
fn steps(numbers: impl Iterator<Item = u32>) -> Vec<u32> {
    let mut before = 0u32;
    let step = |number: u32| {
        let step = number.wrapping_sub(before) as i32;
        before = number;
        zigzag(step)
    };
    numbers.map(step).collect()
}

/// Small numbers on either side of zero as small ones above it.
fn zigzag(number: i32) -> u32 {
    ((number << 1) ^ (number >> 31)) as u32
}

/// The lowest bytes of all numbers, then the next ones: the upper ones are mostly zeros, which pack to nothing.
fn column(out: &mut Vec<u8>, numbers: Vec<u32>) {
    (0..4).for_each(|byte| out.extend(numbers.iter().map(|n| n.to_le_bytes()[byte])));
}

#[cfg(test)]
mod tests {
    use super::*;

    fn made(name: &str) -> Site {
        let workload = |algorithm: &str| SiteWorkload {
            algorithm: algorithm.to_owned(),
            words: "encrypt".to_owned(),
            size: 8192,
        };
        let cell = |workload| SiteCell {
            record: 0,
            library: 0,
            workload,
            ns: 1_234.567_89,
            half: 0.01,
            verdict: 3,
            change: 0.05,
        };
        Site {
            machines: vec![SiteMachine {
                name: name.to_owned(),
                region: None,
                cpu: "a CPU".to_owned(),
                cpus: 2,
                price: None,
            }],
            libraries: vec![("openssl".to_owned(), "4.0".to_owned())],
            records: vec![SiteRecord {
                machine: 0,
                day: "2026-11-25".to_owned(),
                link: "records/x".to_owned(),
            }],
            workloads: vec![workload("aes-128-gcm"), workload("aes-256-gcm")],
            cells: vec![cell(0), cell(1)],
        }
    }

    #[test]
    fn a_site_has_a_page_and_a_file_for_each_algorithm() {
        let files = site(&made("a")).unwrap();
        let names: Vec<&str> = files.iter().map(|(name, _)| name.as_str()).collect();
        assert_eq!(names, ["data/0.js", "data/1.js", "index.html"]);
        let page = String::from_utf8(files[2].1.clone()).unwrap();
        assert!(page.starts_with(SITE_MARK));
        assert!(page.contains(r#"["aes-256-gcm","data/1.js"]"#));
    }

    #[test]
    fn steps_of_numbers_are_small_and_in_planes() {
        let mut out = Vec::new();
        column(&mut out, steps([700, 700, 699, 701].into_iter()));
        assert_eq!(out, [[120, 0, 1, 4], [5, 0, 0, 0], [0; 4], [0; 4]].concat());
    }

    #[test]
    fn names_of_machines_cannot_become_parts_of_the_page() {
        let files = site(&made("</script><img src=x>")).unwrap();
        let page = String::from_utf8(files[2].1.clone()).unwrap();
        assert!(!page.contains("<img") && page.matches("</script>").count() == 2, "{page}");
    }
}
