//! A library's file with those that it depends on, in the order in which they must be loaded.

use std::collections::{BTreeMap, HashMap};
use std::path::{Path, PathBuf};
use std::process::Command;

/// What every program loads: nothing of a library's own. Its memory functions follow
/// `GLIBC_TUNABLES` ([`crate::environment`]).
#[rustfmt::skip]
const RUNTIME: [&str; 8] = [
    "ld-linux", "libc.so", "libm.so", "libdl.so", "librt.so", "libpthread.so", "libstdc++.so",
    "libgcc_s.so",
];

/// Whether a file is of the C or C++ run-time library.
pub fn is_runtime(path: &Path) -> bool {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    RUNTIME.iter().any(|r| name.starts_with(r))
}

/// The library's dependencies by the names that ask for them, as the dynamic loader itself finds
/// them, without the run-time libraries. Nothing of them runs.
pub fn dependencies(library: &Path) -> Result<BTreeMap<String, PathBuf>, String> {
    let loader = loader()?;
    let output = Command::new(&loader)
        .arg("--list")
        .arg(library)
        .output()
        .map_err(|e| format!("'{}' cannot be run: {e}", loader.display()))?;
    if !output.status.success() {
        let words = String::from_utf8_lossy(&output.stderr).trim().replace('\n', " ");
        return Err(format!("its dependencies cannot be listed: {words}"));
    }
    Ok(String::from_utf8_lossy(&output.stdout).lines().filter_map(listed).collect())
}

/// `libx.so.1 => /usr/lib/libx.so.1 (0x00007f…)`; what is not found is the loader's to report.
fn listed(line: &str) -> Option<(String, PathBuf)> {
    let (name, rest) = line.trim().split_once(" => ")?;
    let path = rest.rsplit_once(" (0x").map_or(rest, |(path, _)| path);
    let path = PathBuf::from(path);
    (path.is_absolute() && !is_runtime(&path)).then(|| (name.to_owned(), path))
}

/// The dynamic loader that loaded this program: it is mapped.
fn loader() -> Result<PathBuf, String> {
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let files = maps.lines().filter_map(|line| line.find('/').map(|at| Path::new(&line[at..])));
    let is_loader = |p: &&Path| {
        let name = p.file_name().unwrap_or_default().to_string_lossy();
        name.starts_with("ld-linux") || name.starts_with("ld-") && name.ends_with(".so")
    };
    files
        .into_iter()
        .find(is_loader)
        .map(Path::to_owned)
        .ok_or_else(|| "the dynamic loader is not known".to_owned())
}

/// Keys so that each comes after all that it needs; a circle is cut anywhere.
pub fn sorted<'a>(needs: &HashMap<&'a str, Vec<&'a str>>, first: &'a str) -> Vec<&'a str> {
    let (mut order, mut met) = (Vec::new(), Vec::new());
    visit(needs, first, &mut met, &mut order);
    order
}

fn visit<'a>(
    needs: &HashMap<&'a str, Vec<&'a str>>,
    at: &'a str,
    met: &mut Vec<&'a str>,
    order: &mut Vec<&'a str>,
) {
    if met.contains(&at) {
        return;
    }
    met.push(at);
    for needed in needs.get(at).into_iter().flatten().filter(|n| needs.contains_key(**n)) {
        visit(needs, needed, met, order);
    }
    order.push(at);
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_needed_comes_first_also_by_two_ways_and_in_circles() {
        let needs = HashMap::from([
            ("a", vec!["c", "b", "libc.so.6"]),
            ("b", vec!["c"]),
            ("c", vec!["d"]),
            ("d", vec!["c"]),
            ("stranger", vec![]),
        ]);
        assert_eq!(sorted(&needs, "a"), ["d", "c", "b", "a"]);
    }

    #[test]
    fn lines_of_the_loader_are_read_and_the_run_time_is_left_out() {
        let found = listed("\tlibx.so.1 => /opt/a b/libx.so.1 (0x00007f0000000000)");
        assert_eq!(found, Some(("libx.so.1".to_owned(), PathBuf::from("/opt/a b/libx.so.1"))));
        assert_eq!(listed("\tlibc.so.6 => /lib/libc.so.6 (0x00007f0000000000)"), None);
        assert_eq!(listed("\tlibgone.so => not found"), None);
        assert_eq!(listed("\tlinux-vdso.so.1 (0x00007f0000000000)"), None);
        assert_eq!(listed("\t/lib64/ld-linux-x86-64.so.2 (0x00007f0000000000)"), None);
    }

    #[test]
    fn the_loader_lists_the_dependencies_of_a_real_library() {
        // libstdc++ is the one library with dependencies that every machine with a compiler has; all
        // of them are run-time libraries.
        let maps = std::fs::read_to_string("/proc/self/maps").unwrap();
        let libgcc = maps.lines().find_map(|l| {
            l.find('/').filter(|at| l[*at..].contains("libgcc_s")).map(|at| l[at..].to_owned())
        });
        let Some(libgcc) = libgcc else { return };
        assert_eq!(dependencies(Path::new(&libgcc)), Ok(BTreeMap::new()));
        assert!(dependencies(Path::new("/no/such.so")).unwrap_err().contains("listed"));
    }
}
