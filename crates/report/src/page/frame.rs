//! The HTML around it all.

use crate::page::assets::Assets;
use crate::page::data::{Data, Head};
use crate::page::pack::{csp_hash, packed, packed_json, script_json};
use crate::page::{MARK, PageError};
use askama::Template;

/// What the template shows; it escapes every text but those marked `safe`, which are made here.
#[derive(Template)]
#[template(path = "page.html")]
struct Frame<'a> {
    head: &'a Head,
    answers: &'a [(String, crate::Summary)],
    assets: &'a Assets,
    policy: String,
    head_json: String,
    cases: String,
    executed: String,
    leaks: String,
    samples: Vec<String>,
    sheets: String,
}

/// The whole page.
pub(crate) fn fill(data: &Data, assets: &Assets) -> Result<String, PageError> {
    let samples: Result<Vec<String>, _> = data.samples.iter().map(|s| packed(s)).collect();
    let frame = Frame {
        head: &data.head,
        answers: &data.answers,
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

#[cfg(test)]
mod tests {
    use super::*;
    use crate::page::{Content, Source};

    const ASSETS: fn() -> Assets = || Assets {
        licence: "a licence",
        style: "b{}".to_owned(),
        library: "l()".to_owned(),
        script: "s()".to_owned(),
    };

    fn page(file: &str) -> String {
        let text = include_str!("../../../record/tests/sample.json");
        let record = record::from_json(text, "sample").unwrap();
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
}
