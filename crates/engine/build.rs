//! Embeds on which kinds of CPU the accuracy was measured: the names of the files in docs/accuracy.

use std::path::Path;

fn main() {
    let data = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../docs/accuracy");
    println!("cargo::rerun-if-changed={}", data.display());
    let files = std::fs::read_dir(&data).expect("docs/accuracy is part of the source");
    let mut kinds: Vec<String> = files
        .filter_map(|file| file.ok()?.file_name().into_string().ok())
        .filter_map(|name| name.strip_suffix(".json").map(str::to_owned))
        .collect();
    kinds.sort();
    println!("cargo::rustc-env=KINDS={}", kinds.join("/"));
}
