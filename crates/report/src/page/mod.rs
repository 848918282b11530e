//! Self-contained HTML pages. One page from records: records in, text out; and a static site from an archive:
//! machines by libraries and their releases, one page, and a file of figures for each algorithm, which the
//! page loads when it is looked at. Pure: no I/O, no clock, no statistics; what a page shows is what the
//! records say, in other units at most. `docs/REPORT.md` is the long form.

mod data;

use askama::Template;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use data::{Data, Head};
use flate2::Compression;
use flate2::write::GzEncoder;
use judge::advise::Advised;
use record::Record;
use record::at_rest::PagesRecord;
use record::tls::Run;
use serde::Serialize;
use serde_json::Value;
use sha2::{Digest as _, Sha256};
use std::collections::BTreeMap;
use std::io::{self, Write as _};

/// The beginning of every page that this crate makes, by which a program knows one again.
pub const MARK: &str = "<!doctype html>\n<!-- ciphermark report -->\n";

/// A file, and what it is called on the page.
#[derive(Clone, Copy, Debug)]
pub struct Source<'a> {
    /// Name of the file that it was read from, without directories.
    pub file: &'a str,
    pub content: Content<'a>,
}

#[derive(Clone, Copy, Debug)]
pub enum Content<'a> {
    Survey(&'a Record),
    Pages(&'a PagesRecord),
    Advice(&'a Advised),
    /// A run of TLS: handshakes, records or primitives.
    Tls(&'a Run),
}

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
    #[error("the page's frame cannot be filled: {0}")]
    Frame(#[from] askama::Error),
}

/// The page of these files, side by side where there are several.
pub fn page(sources: &[Source<'_>]) -> Result<String, PageError> {
    let assets = embedded().ok_or(PageError::NoChartLibrary)?;
    let data = data::Data::of(sources);
    fill(&data, &assets)
}

/// As [`page`], with what changes would save a watched program.
pub fn page_of_program(sources: &[Source<'_>], program: String) -> Result<String, PageError> {
    let assets = embedded().ok_or(PageError::NoChartLibrary)?;
    fill(&data::Data { program, ..data::Data::of(sources) }, &assets)
}

/// As [`page`], without the chart library and our own styles and scripts: what records put into a page,
/// for tests of it.
#[doc(hidden)]
pub fn page_without_scripts(sources: &[Source<'_>]) -> Result<String, PageError> {
    let none = String::new;
    let assets = Assets { licence: "", style: none(), library: none(), script: none() };
    fill(&data::Data::of(sources), &assets)
}

// The HTML around it all.

/// What the template shows; it escapes every text but those marked `safe`, which are made here.
#[derive(Template)]
#[template(path = "page.html")]
struct Frame<'a> {
    head: &'a Head,
    answers: &'a [(String, crate::Summary)],
    program: &'a str,
    assets: &'a Assets,
    policy: String,
    head_json: String,
    cases: String,
    executed: String,
    leaks: String,
    samples: Vec<String>,
    sheets: String,
}

pub(crate) fn fill(data: &Data, assets: &Assets) -> Result<String, PageError> {
    let samples: Result<Vec<String>, _> = data.samples.iter().map(|s| packed(s)).collect();
    let frame = Frame {
        head: &data.head,
        answers: &data.answers,
        program: &data.program,
        assets,
        policy: policy(assets),
        head_json: script_json(&data.head)?,
        cases: packed_json(&data.cases)?,
        executed: packed_json(&data.executed)?,
        leaks: packed_json(&data.leaks)?,
        samples: samples?,
        sheets: packed_json(&data.sheets)?,
    };
    Ok(format!("{MARK}{}", frame.render()?))
}

/// The page may run its own scripts and styles, known by their hashes, and load nothing.
fn policy(assets: &Assets) -> String {
    format!(
        "default-src 'none'; script-src {} {}; style-src {}; img-src data:; base-uri 'none'; form-action 'none'",
        csp_hash(&assets.library),
        csp_hash(&assets.script),
        csp_hash(&assets.style),
    )
}

// What every page has in common: styles, scripts, the chart library.
include!(concat!(env!("OUT_DIR"), "/uplot.rs"));

/// Our own styles, in the order in which they apply.
const STYLES: [&str; 4] = [
    include_str!("../../assets/css/base.css"),
    include_str!("../../assets/css/controls.css"),
    include_str!("../../assets/css/views.css"),
    include_str!("../../assets/css/print.css"),
];

/// Our own scripts, one idea each, in the order in which they build on each other.
const SCRIPTS: [&str; 27] = [
    include_str!("../../assets/js/dom.js"),
    include_str!("../../assets/js/numbers.js"),
    include_str!("../../assets/js/unpack.js"),
    include_str!("../../assets/js/data.js"),
    include_str!("../../assets/js/samples.js"),
    include_str!("../../assets/js/state.js"),
    include_str!("../../assets/js/select.js"),
    include_str!("../../assets/js/theme.js"),
    include_str!("../../assets/js/controls.js"),
    include_str!("../../assets/js/table.js"),
    include_str!("../../assets/js/svg.js"),
    include_str!("../../assets/js/speed.js"),
    include_str!("../../assets/js/ladder.js"),
    include_str!("../../assets/js/heat.js"),
    include_str!("../../assets/js/costs.js"),
    include_str!("../../assets/js/instructions.js"),
    include_str!("../../assets/js/secrets.js"),
    include_str!("../../assets/js/distribution.js"),
    include_str!("../../assets/js/problems.js"),
    include_str!("../../assets/js/machine.js"),
    include_str!("../../assets/js/stores.js"),
    include_str!("../../assets/js/answers.js"),
    include_str!("../../assets/js/tampering.js"),
    include_str!("../../assets/js/nonces.js"),
    include_str!("../../assets/js/tls.js"),
    include_str!("../../assets/js/advice.js"),
    include_str!("../../assets/js/main.js"),
];

/// Styles and scripts as they stand in the page.
pub(crate) struct Assets {
    /// Licence of the chart library, which asks to go with it.
    pub(crate) licence: &'static str,
    pub(crate) style: String,
    pub(crate) library: String,
    pub(crate) script: String,
}

/// What was embedded when the program was built; `None` without the chart library.
pub(crate) fn embedded() -> Option<Assets> {
    let (library, style, licence) = (UPLOT_JS?, UPLOT_CSS?, UPLOT_LICENCE?);
    Some(Assets {
        licence,
        style: format!("{style}\n{}", STYLES.join("\n")),
        library: library.trim().to_owned(),
        // One scope for all of them and none for anybody else.
        script: format!("(() => {{\n\"use strict\";\n{}\n}})();", SCRIPTS.join("\n")),
    })
}

// Bytes as they stand in the page: packed by gzip, in base64, which browsers unpack.

/// Bytes by gzip, in base64.
pub(crate) fn packed(bytes: &[u8]) -> io::Result<String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(STANDARD.encode(encoder.finish()?))
}

pub(crate) fn packed_json(value: &impl Serialize) -> io::Result<String> {
    packed(&serde_json::to_vec(value)?)
}

/// JSON that can stand in a script element: nothing in it ends the element or begins a comment
/// (HTML Standard §4.12.1.3).
pub(crate) fn script_json(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(value)?.replace('<', "\\u003c"))
}

/// The source expression that lets one inline script or style run and no other
/// (Content Security Policy Level 3 §2.3.1).
pub(crate) fn csp_hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

// Text from records, which may hold anything.

/// What a reader cannot see, or what rearranges the text around it, made visible. Escaping for HTML
/// is not done here: the frame's template and the page's scripts do it.
pub(crate) fn clean(text: &str) -> String {
    text.chars().map(|c| if is_deceiving(c) { char::REPLACEMENT_CHARACTER } else { c }).collect()
}

/// Control characters, and the marks of Unicode's bidirectional algorithm (UAX #9 §2), which
/// change the order of what follows.
fn is_deceiving(c: char) -> bool {
    c.is_control()
        || matches!(c, '\u{61c}' | '\u{200b}'..='\u{200f}' | '\u{202a}'..='\u{202e}' | '\u{2060}'..='\u{206f}' | '\u{feff}')
}

/// Every text of a value cleaned, and every number with the digits that a page needs.
pub(crate) fn tidy(value: Value) -> Value {
    match value {
        Value::String(text) => Value::String(clean(&text)),
        Value::Array(all) => all.into_iter().map(tidy).collect(),
        Value::Object(fields) => fields.into_iter().map(|(k, v)| (clean(&k), tidy(v))).collect(),
        Value::Number(n) if n.is_f64() => n.as_f64().map_or(Value::Null, |n| rounded(n).into()),
        other => other,
    }
}

/// Significant digits of numbers: intervals are some 0.1 % wide at best.
const DIGITS: usize = 6;

/// The nearest number of six significant digits.
pub(crate) fn rounded(value: f64) -> f64 {
    if !value.is_finite() {
        return value;
    }
    format!("{value:.*e}", DIGITS - 1).parse().expect("a number that was just written")
}

/// The beginning of the page, by which a program knows a site of its own again.
pub const SITE_MARK: &str = "<!doctype html>\n<!-- ciphermark site -->\n";

const SITE_STYLES: [&str; 3] = [
    include_str!("../../assets/css/base.css"),
    include_str!("../../assets/css/controls.css"),
    include_str!("../../assets/css/site.css"),
];

const SITE_SCRIPTS: [&str; 4] = [
    include_str!("../../assets/js/dom.js"),
    include_str!("../../assets/js/numbers.js"),
    include_str!("../../assets/js/unpack.js"),
    include_str!("../../assets/js/site.js"),
];

#[derive(Clone, Debug, Default, Serialize)]
pub struct Site {
    pub machines: Vec<SiteMachine>,
    /// Names and versions of the libraries.
    pub libraries: Vec<(String, String)>,
    pub records: Vec<SiteRecord>,
    /// What was measured, but for the library.
    #[serde(skip)]
    pub workloads: Vec<SiteWorkload>,
    #[serde(skip)]
    pub cells: Vec<SiteCell>,
    /// What cells name that changed beside the library.
    pub beside: Vec<String>,
}

impl Site {
    /// One more than the place of what changed beside a library, in words; 0 if nothing did.
    pub fn beside(&mut self, words: String) -> usize {
        if words.is_empty() {
            return 0;
        }
        let known = self.beside.iter().position(|known| *known == words);
        known.unwrap_or_else(|| {
            self.beside.push(words);
            self.beside.len() - 1
        }) + 1
    }
}

#[derive(Clone, Debug, Serialize)]
pub struct SiteMachine {
    pub name: String,
    pub region: Option<String>,
    pub cpu: String,
    pub cpus: u32,
    /// What it costs an hour, in which currency, since when.
    pub price: Option<(f64, String, String)>,
}

#[derive(Clone, Debug, Serialize)]
pub struct SiteRecord {
    /// Place of its machine in [`Site::machines`].
    pub machine: usize,
    pub day: String,
    pub link: String,
}

/// A case without its library.
#[derive(Clone, Debug, PartialEq)]
pub struct SiteWorkload {
    pub algorithm: String,
    /// Everything else but the size, in words.
    pub words: String,
    /// Bytes of plaintext in one operation; 0 if it has none.
    pub size: usize,
}

#[derive(Clone, Copy, Debug)]
pub struct SiteCell {
    /// Place in [`Site::records`].
    pub record: usize,
    /// Place in [`Site::libraries`].
    pub library: usize,
    /// Place in [`Site::workloads`].
    pub workload: usize,
    pub ns: f64,
    /// Half the interval's width over the median.
    pub half: f64,
    /// Whether only a busy core was seen: it takes at most so long.
    pub is_bound: bool,
    /// What changed beside the library since the release before: [`Site::beside`].
    pub beside: usize,
    /// Against the release before on the same machine: 0 no verdict or undecided, 1 same, 2 faster, 3 slower.
    pub verdict: u8,
    /// The cost over that of the release before, less 1; shown where that is faster or slower.
    pub change: f64,
}

/// What stands before the columns of an algorithm's file.
#[derive(Serialize)]
struct Cases<'a> {
    workloads: Vec<(&'a str, usize)>,
    /// How many figures follow.
    cells: usize,
}

#[derive(Template)]
#[template(path = "site.html")]
struct SiteFrame {
    policy: String,
    style: String,
    script: String,
    head_json: String,
    machines: usize,
    libraries: usize,
    records: usize,
}

#[derive(Serialize)]
struct SiteHead<'a> {
    #[serde(flatten)]
    site: &'a Site,
    shards: Vec<(&'a str, String)>,
}

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
    let (style, script) = (
        SITE_STYLES.join("\n"),
        format!("(() => {{\n\"use strict\";\n{}\n}})();", SITE_SCRIPTS.join("\n")),
    );
    let frame = SiteFrame {
        policy: format!(
            "default-src 'none'; script-src {} 'self' file:; style-src {}; img-src data:; base-uri 'none'; \
             form-action 'none'",
            csp_hash(&script),
            csp_hash(&style)
        ),
        style,
        script,
        head_json: script_json(&SiteHead { site, shards })?,
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
    column(&mut out, cells.iter().map(|c| c.is_bound.into()).collect());
    column(&mut out, cells.iter().map(|c| c.beside as u32).collect());
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
    use super::{Content, Source, *};
    use base::model::Tier;
    use serde_json::json;
    use std::io::Read as _;

    const ASSETS: fn() -> Assets = || Assets {
        licence: "a licence",
        style: "b{}".to_owned(),
        library: "l()".to_owned(),
        script: "s()".to_owned(),
    };

    fn page(file: &str) -> String {
        let record = record::fixtures::sample();
        let content = Content::Survey(&record);
        fill(&Data::of(&[Source { file, content }]), &ASSETS()).unwrap()
    }

    #[test]
    fn names_of_files_are_escaped_where_the_frame_shows_them() {
        let page = page("<img src=x>\"'.json");
        assert!(!page.contains("<img"), "{page}");
        assert!(page.contains("&#60;img src=x&#62;&#34;&#39;"), "{page}");
    }

    #[test]
    fn only_the_pages_own_scripts_and_styles_may_run() {
        let page = page("r.json");
        let policy = page.split("content=\"").nth(1).unwrap().split('"').next().unwrap();
        let policy = policy.replace("&#39;", "'").replace("&#43;", "+");
        let own: Vec<String> = ["l()", "s()", "b{}"].map(csp_hash).to_vec();
        assert!(policy.starts_with("default-src 'none'; "), "{policy}");
        assert_eq!(policy.matches("sha256-").count(), 3);
        assert!(own.iter().all(|hash| policy.contains(hash.as_str())), "{policy}");
        assert!(!policy.contains("unsafe"), "{policy}");
    }

    #[test]
    fn a_page_is_known_by_its_beginning() {
        assert!(page("r.json").starts_with(MARK));
    }

    #[test]
    fn the_page_knows_every_tier_and_which_are_machines() {
        let script = include_str!("../../assets/js/data.js");
        let list = |machines: bool| {
            let tiers = Tier::ALL.iter().filter(|t| t.is_machine() == machines);
            tiers.map(|t| format!("\"{t}\"")).collect::<Vec<_>>().join(", ")
        };
        assert!(script.contains(&format!("const MACHINES = [{}];", list(true))));
        assert!(script.contains(&format!("tiers: [{}, ...MACHINES],", list(false))));
    }

    #[test]
    fn what_is_packed_comes_back() {
        let bytes = STANDARD.decode(packed(b"many bytes, many bytes").unwrap()).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
        assert_eq!(text, "many bytes, many bytes");
    }

    #[test]
    fn json_cannot_end_its_script_element() {
        let json = script_json(&["</script><!--"]).unwrap();
        assert!(!json.contains('<'), "{json}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), ["</script><!--"]);
    }

    #[test]
    fn a_hash_is_that_of_the_standards_example() {
        // `echo -n "alert('Hello, world.');" | openssl dgst -sha256 -binary | openssl base64`
        let hash = csp_hash("alert('Hello, world.');");
        assert_eq!(hash, "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='");
    }

    #[test]
    fn text_cannot_rearrange_what_stands_around_it() {
        assert_eq!(clean("a\u{202e}b\u{2066}c\u{7}\nd"), "a\u{fffd}b\u{fffd}c\u{fffd}\u{fffd}d");
        assert_eq!(clean("Å <b> & \"q\" العربية"), "Å <b> & \"q\" العربية");
    }

    #[test]
    fn every_text_and_number_of_a_value_is_tidied() {
        let value = json!({"a\u{202e}": ["\u{0}", {"b": 1.234_567_89, "c": 12_345_678}]});
        assert_eq!(
            tidy(value),
            json!({"a\u{fffd}": ["\u{fffd}", {"b": 1.23457, "c": 12_345_678}]})
        );
    }

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
            is_bound: false,
            beside: 0,
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
            beside: Vec::new(),
        }
    }

    #[test]
    fn what_changed_beside_the_libraries_is_named_once_for_all_cells() {
        let mut site = made("a");
        let places =
            ["", "the kernel", "the processor", "the kernel"].map(|w| site.beside(w.to_owned()));
        assert_eq!(places, [0, 1, 2, 1]);
        let files = super::site(&site).unwrap();
        let page = String::from_utf8(files[2].1.clone()).unwrap();
        assert!(page.contains(r#""beside":["the kernel","the processor"]"#), "{page}");
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
