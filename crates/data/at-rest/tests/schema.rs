//! The schema in `docs/` is the one that the types give.
#![allow(clippy::unwrap_used, reason = "helpers of tests are outside `#[test]` functions")]

use std::path::PathBuf;

fn committed() -> PathBuf {
    PathBuf::from(env!("CARGO_MANIFEST_DIR")).join("../../../docs/pages.schema.json")
}

#[test]
fn the_committed_schema_is_the_one_that_the_types_give() {
    let mut generated = serde_json::to_string_pretty(&ciphermark_at_rest::schema()).unwrap();
    generated.push('\n');
    if std::env::var_os("BLESS").is_some() {
        std::fs::write(committed(), &generated).unwrap();
    }
    let found = std::fs::read_to_string(committed()).unwrap_or_default();
    assert!(
        found == generated,
        "docs/pages.schema.json is out of date; `BLESS=1 cargo test -p ciphermark-at-rest --test schema` writes it anew"
    );
}
