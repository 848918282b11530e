//! The order in which a library and what it depends on must be loaded.

use std::collections::HashMap;
use std::path::Path;

/// What every program loads: nothing of a library's own. Its memory functions follow
/// `GLIBC_TUNABLES` ([`crate::tier::environment`]).
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
}
