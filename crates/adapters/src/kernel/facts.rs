//! Which kernel runs, and which of its implementations a name means.

use std::collections::BTreeMap;
use std::fs::read_to_string;

/// The release, and what else there is to tell: how it was built, and for each name that
/// `/proc/crypto` lists the implementation with the highest priority, which is the one that
/// `bind` takes. Names that are made of parts appear there once somebody has used them.
pub(super) fn of_this_kernel() -> (String, Vec<String>) {
    let line = |path: &str| read_to_string(path).map(|text| text.trim().to_owned());
    let release = line("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version = line("/proc/sys/kernel/version").unwrap_or_default();
    let listed = read_to_string("/proc/crypto").unwrap_or_default();
    let drivers = drivers(&listed).into_iter().map(|(name, driver)| format!("{name}: {driver}"));
    (release, std::iter::once(version).chain(drivers).collect())
}

/// For each name the driver of the highest priority.
pub(super) fn drivers(listed: &str) -> BTreeMap<&str, &str> {
    let mut best: BTreeMap<&str, (i64, &str)> = BTreeMap::new();
    for entry in listed.split("\n\n") {
        let field = |wanted: &str| {
            let fields = entry.lines().filter_map(|line| line.split_once(':'));
            fields.map(|(k, v)| (k.trim(), v.trim())).find(|(k, _)| *k == wanted).map(|(_, v)| v)
        };
        let (Some(name), Some(driver)) = (field("name"), field("driver")) else { continue };
        // Parts that only other parts of the kernel may use.
        if field("internal") == Some("yes") {
            continue;
        }
        let priority = field("priority").and_then(|p| p.parse().ok()).unwrap_or(0);
        let known = best.entry(name).or_insert((priority, driver));
        if priority > known.0 {
            *known = (priority, driver);
        }
    }
    best.into_iter().map(|(name, (_, driver))| (name, driver)).collect()
}
