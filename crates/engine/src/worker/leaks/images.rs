//! Where a secret lies in this process's memory.

use std::fs::File;
use std::ops::Range;
use std::os::unix::fs::FileExt as _;

/// Memory that is looked through at once.
const PIECE: usize = 1 << 20;

/// The places on the heap and among libraries' variables where these bytes lie; none where memory cannot be read.
pub(super) fn find(images: &[Vec<u8>]) -> Vec<Range<u64>> {
    let longest = images.iter().map(Vec::len).max().unwrap_or(0);
    let maps = std::fs::read_to_string("/proc/self/maps").unwrap_or_default();
    let mappings: Vec<Range<u64>> = maps.lines().filter_map(data).collect();
    let Ok(memory) = File::open("/proc/self/mem") else { return Vec::new() };
    // Only now is there a copy of memory, in a mapping that is not among those.
    let mut piece = vec![0; PIECE + longest];
    let mut found = Vec::new();
    for mapping in mappings {
        for from in mapping.clone().step_by(PIECE) {
            let len = piece.len().min((mapping.end - from) as usize);
            if memory.read_exact_at(&mut piece[..len], from).is_ok() {
                let within = |image: &Vec<u8>| places(&piece[..len], image);
                let all = images.iter().flat_map(within);
                found.extend(all.map(|at| from + at.start as u64..from + at.end as u64));
            }
        }
    }
    found
}

fn places(memory: &[u8], image: &[u8]) -> Vec<Range<usize>> {
    let Some(first) = image.first() else { return Vec::new() };
    let last = (memory.len() + 1).saturating_sub(image.len());
    let begins = memory[..last].iter().enumerate().filter(|(_, byte)| *byte == first);
    let begins = begins.map(|(at, _)| at).filter(|at| memory[*at..].starts_with(image));
    begins.map(|at| at..at + image.len()).collect()
}

/// A mapping that is written to, and no stack.
fn data(line: &str) -> Option<Range<u64>> {
    let mut words = line.split_ascii_whitespace();
    let (from, to) = words.next()?.split_once('-')?;
    let hex = |text: &str| u64::from_str_radix(text, 16).ok();
    let is_data = words.next()? == "rw-p" && !words.nth(3).is_some_and(|n| n.starts_with("[stack"));
    is_data.then_some(())?;
    Some(hex(from)?..hex(to)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn bytes_on_the_heap_are_found_where_they_are() {
        let image: Vec<u8> = (0..40_u8).map(|i| i.wrapping_mul(101) ^ 0x5a).collect();
        let own = image.clone();
        let at = own.as_ptr() as u64;
        let found = find(std::slice::from_ref(&image));
        assert!(found.contains(&(at..at + 40)), "{at:#x} {found:x?}");
        assert!(find(&[]).is_empty());
    }

    #[test]
    fn only_data_is_looked_through() {
        let line = "7f00-17f00 rw-p 00000000 00:00 0";
        assert_eq!(data(line), Some(0x7f00..0x1_7f00));
        assert_eq!(data(&format!("{line}   [heap]")), Some(0x7f00..0x1_7f00));
        assert_eq!(data(&format!("{line}   /opt/libx.so")), Some(0x7f00..0x1_7f00));
        assert_eq!(data(&format!("{line}   [stack]")), None);
        assert_eq!(data("7f00-17f00 r-xp 00000000 00:00 0"), None);
        assert_eq!(data("7f00-17f00 rw-s 00000000 00:01 9   /dev/zero (deleted)"), None);
    }
}
