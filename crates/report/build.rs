//! Finds the chart library that `make web` installs, so that it can be embedded. Without it the
//! crate builds all the same, and making a page says what is missing.

use std::fmt::Write as _;
use std::path::Path;

/// What of the package is embedded, and the name of the constant.
const FILES: [(&str, &str); 3] = [
    ("UPLOT_JS", "dist/uPlot.iife.min.js"),
    ("UPLOT_CSS", "dist/uPlot.min.css"),
    ("UPLOT_LICENCE", "LICENSE"),
];

fn main() {
    let package = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../web/node_modules/uplot");
    let mut code = String::new();
    for (name, file) in FILES {
        let path = package.join(file);
        // A path that does not exist would have this run at every build; one that comes to exist
        // is noticed by its nearest directory.
        let watched = path.ancestors().find(|p| p.exists()).unwrap_or(Path::new("."));
        println!("cargo::rerun-if-changed={}", watched.display());
        let value = match path.canonicalize() {
            Ok(path) => format!("Some(include_str!({:?}))", path.display().to_string()),
            Err(_) => "None".to_owned(),
        };
        writeln!(code, "const {name}: Option<&str> = {value};").expect("a string takes all");
    }
    let out = std::env::var_os("OUT_DIR").expect("cargo sets it for build scripts");
    std::fs::write(Path::new(&out).join("uplot.rs"), code).expect("cargo's own directory");
}
