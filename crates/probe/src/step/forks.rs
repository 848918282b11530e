//! Forks that a library does not notice. One that draws random numbers may have a page cleared in forks (madvise(2),
//! `MADV_WIPEONFORK`), finds it empty there and seeds itself anew: each process would go its own way.

/// Has the kernel keep what it would clear in forks of this process from now on.
pub fn hide_forks() {
    let smaps = std::fs::read_to_string("/proc/self/smaps").unwrap_or_default();
    for (from, bytes) in cleared(&smaps) {
        // SAFETY: the advice changes nothing in this process, whatever is mapped there.
        unsafe { libc::madvise(from as *mut _, bytes, libc::MADV_KEEPONFORK) };
    }
}

/// Where the mappings lie that forks find cleared, and their bytes.
fn cleared(smaps: &str) -> Vec<(usize, usize)> {
    let mut cleared = Vec::new();
    let mut last = None;
    for line in smaps.lines() {
        let mut words = line.split_ascii_whitespace();
        let first = words.next().unwrap_or_default();
        if first == "VmFlags:" {
            cleared.extend(last.filter(|_| words.any(|flag| flag == "wf")));
        } else if let Some((from, to)) = first.split_once('-') {
            let number = |text: &str| usize::from_str_radix(text, 16).ok();
            last = number(from).zip(number(to)).map(|(from, to)| (from, to - from));
        }
    }
    cleared
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_page_that_forks_would_find_empty_is_kept() {
        const BYTES: usize = 4096;
        let (access, kind) = (libc::PROT_READ, libc::MAP_PRIVATE | libc::MAP_ANONYMOUS);
        // SAFETY: a new mapping, which nothing uses.
        let page = unsafe { libc::mmap(std::ptr::null_mut(), BYTES, access, kind, -1, 0) };
        // SAFETY: as above.
        let advised = unsafe { libc::madvise(page, BYTES, libc::MADV_WIPEONFORK) };
        assert_eq!(advised, 0);
        let is_cleared = || {
            let all = cleared(&std::fs::read_to_string("/proc/self/smaps").unwrap());
            all.contains(&(page as usize, BYTES))
        };
        assert!(is_cleared());
        hide_forks();
        assert!(!is_cleared());
        // SAFETY: mapped above.
        unsafe { libc::munmap(page, BYTES) };
    }
}
