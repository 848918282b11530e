//! Memory.

use crate::tree::{Tree, count_of_list};
use record::Memory;

pub(crate) fn memory(tree: &Tree) -> Memory {
    let huge_pages = tree.text("/sys/kernel/mm/transparent_hugepage/enabled");
    let nodes = tree.text("/sys/devices/system/node/online");
    Memory {
        total_bytes: total_bytes(tree).unwrap_or(0),
        page_bytes: rustix::param::page_size() as u64,
        transparent_hugepages: huge_pages.and_then(|text| chosen(&text)),
        numa_nodes: nodes.and_then(|list| count_of_list(&list)),
    }
}

/// `MemTotal:  16384 kB`, where the kernel's kB is 1024 bytes.
fn total_bytes(tree: &Tree) -> Option<u64> {
    field(tree, "MemTotal:")
}

pub(crate) fn available_bytes(tree: &Tree) -> Option<u64> {
    field(tree, "MemAvailable:")
}

fn field(tree: &Tree, name: &str) -> Option<u64> {
    let text = tree.text("/proc/meminfo")?;
    let value = text.lines().find_map(|line| line.strip_prefix(name))?;
    value.trim().strip_suffix("kB")?.trim().parse::<u64>().ok()?.checked_mul(1024)
}

/// The word in brackets of `always [madvise] never`.
fn chosen(text: &str) -> Option<String> {
    let (_, rest) = text.split_once('[')?;
    rest.split_once(']').map(|(word, _)| word.to_owned())
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::fixtures;

    #[test]
    fn memory_is_given_in_bytes() {
        let (_kept, tree) = fixtures::tree(&[
            ("/proc/meminfo", "MemTotal:       16384 kB\nMemAvailable: 1 kB\n"),
            ("/sys/kernel/mm/transparent_hugepage/enabled", "always [madvise] never\n"),
            ("/sys/devices/system/node/online", "0-1\n"),
        ]);
        let memory = memory(&tree);
        assert_eq!(memory.total_bytes, 16 << 20);
        assert_eq!(available_bytes(&tree), Some(1024));
        assert_eq!(memory.transparent_hugepages.as_deref(), Some("madvise"));
        assert_eq!(memory.numa_nodes, Some(2));
    }
}
