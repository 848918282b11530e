//! What a case's footprint and threads come to on this machine: bytes to walk through, CPUs.

use base::model::Footprint;
use record::{Cache, Host};

/// Single operations that are timed alone in each visit: thirty visits give several thousand, enough
/// for one in a thousand to be seen several times.
const LATENCY_OPS: u32 = 200;

/// The part of a cache that is walked through, at most: the rest is for the library's tables, keys
/// and stack, for descriptors, and for lines that fall on the same place.
const PART_OF_CACHE: f64 = 0.75;

/// How many times the last cache level the memory is that is walked through: of memory four times as
/// large, a quarter at most is found in the cache by chance.
const TIMES_LAST_LEVEL: u64 = 4;

/// The part of the machine's memory that may be walked through, all threads together. Besides it half
/// as much again is read between samples.
const PART_OF_MEMORY: f64 = 0.25;

/// What of a case is not its own but the machine's.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub(crate) struct Setting {
    /// Bytes that each thread's operations walk through, at most; at least, where no cache is to hold
    /// them.
    pub(crate) walk_bytes: Option<usize>,
    /// CPUs of the threads; none where there is one thread.
    pub(crate) cpus: Vec<u32>,
    /// Single operations to time in each visit.
    pub(crate) latency_ops: u32,
}

/// The machine, as far as settings hang on it.
#[derive(Clone, Debug)]
pub struct Machine {
    caches: Vec<Cache>,
    memory_bytes: u64,
    /// CPUs that may be used, in the order in which threads are placed: the measuring CPU first, then
    /// CPUs of other cores, then hardware threads of cores that measure already.
    cpus: Vec<u32>,
}

impl Machine {
    /// The machine around the measuring CPU. `cpus` in the order of placement.
    #[must_use]
    pub fn new(host: &Host, cpus: Vec<u32>) -> Self {
        let (caches, memory_bytes) = (host.cpu.caches.clone(), host.memory.total_bytes);
        Self { caches, memory_bytes, cpus }
    }

    /// The CPU that measures alone.
    #[must_use]
    pub fn measuring_cpu(&self) -> u32 {
        self.cpus.first().copied().unwrap_or(0)
    }

    /// Bytes of a core's second-level cache, where no other core shares it.
    pub(crate) fn second_level_bytes(&self) -> Option<u64> {
        let cache = self.caches.iter().find(|c| c.level == 2 && c.size_bytes > 0)?;
        let sharing = self.cpus.iter().filter(|cpu| lists(&cache.shared_by, **cpu)).count();
        (sharing <= 1).then_some(cache.size_bytes)
    }

    /// The setting of a case.
    ///
    /// # Errors
    /// Why the case cannot be.
    pub(crate) fn setting(
        &self,
        footprint: Footprint,
        in_place: bool,
        threads: u32,
        latency: bool,
    ) -> Result<Setting, String> {
        let n = threads as usize;
        if n > self.cpus.len() {
            let have = self.cpus.len();
            return Err(format!("{n} threads need as many CPUs, this process may use {have}"));
        }
        let cpus = &self.cpus[..n];
        let walk_bytes = match footprint {
            Footprint::Hot if !in_place => None,
            Footprint::Hot | Footprint::L1 => Some(self.part_of_cache(1, cpus)?),
            Footprint::L2 => Some(self.part_of_cache(2, cpus)?),
            Footprint::L3 => Some(self.part_of_cache(3, cpus)?),
            Footprint::Memory => Some(self.beyond_caches(threads)?),
        };
        let cpus = if n > 1 { cpus.to_vec() } else { Vec::new() };
        Ok(Setting { walk_bytes, cpus, latency_ops: if latency { LATENCY_OPS } else { 0 } })
    }

    /// One thread's part of a cache level, which the other threads on CPUs that share it walk through
    /// as well.
    fn part_of_cache(&self, level: u32, cpus: &[u32]) -> Result<usize, String> {
        let cache = self
            .caches
            .iter()
            .find(|c| c.level == level && c.kind != "Instruction" && c.size_bytes > 0)
            .ok_or_else(|| format!("the system knows of no level {level} cache"))?;
        let sharing = cpus.iter().filter(|cpu| lists(&cache.shared_by, **cpu)).count().max(1);
        Ok((cache.size_bytes as f64 * PART_OF_CACHE) as usize / sharing)
    }

    fn beyond_caches(&self, threads: u32) -> Result<usize, String> {
        let last = self.caches.iter().map(|c| c.size_bytes).max().filter(|bytes| *bytes > 0);
        let last = last.ok_or("the system does not say how large its caches are")?;
        let bytes = last * TIMES_LAST_LEVEL;
        let room = (self.memory_bytes as f64 * PART_OF_MEMORY) as u64;
        if bytes * u64::from(threads) > room {
            return Err(format!(
                "{threads} times {} MiB, {TIMES_LAST_LEVEL} times the largest cache, are more than a quarter of this machine's memory ({} MiB)",
                bytes >> 20,
                self.memory_bytes >> 20
            ));
        }
        usize::try_from(bytes).map_err(|e| e.to_string())
    }
}

/// Whether a list of CPUs as the kernel writes it (`0-3,8`) has this one.
pub(crate) fn lists(list: &str, cpu: u32) -> bool {
    list.split(',').any(|part| {
        let (from, to) = part.split_once('-').unwrap_or((part, part));
        let bounds = from.trim().parse::<u32>().ok().zip(to.trim().parse::<u32>().ok());
        bounds.is_some_and(|(from, to)| (from..=to).contains(&cpu))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn cache(level: u32, kind: &str, size_bytes: u64, shared_by: &str) -> Cache {
        let (kind, shared_by) = (kind.to_owned(), shared_by.to_owned());
        Cache { level, kind, size_bytes, line_bytes: 64, shared_by }
    }

    fn machine(memory_mib: u64) -> Machine {
        let caches = vec![
            cache(1, "Instruction", 64 << 10, "1"),
            cache(1, "Data", 32 << 10, "1"),
            cache(2, "Unified", 1 << 20, "1"),
            cache(3, "Unified", 32 << 20, "0-3,8"),
        ];
        Machine { caches, memory_bytes: memory_mib << 20, cpus: vec![1, 0, 9] }
    }

    fn bytes(footprint: Footprint, threads: u32) -> Result<Option<usize>, String> {
        machine(8192).setting(footprint, false, threads, false).map(|s| s.walk_bytes)
    }

    #[test]
    fn footprints_are_parts_of_the_data_caches_and_memory_is_beyond_all() {
        assert_eq!(bytes(Footprint::Hot, 1), Ok(None));
        assert_eq!(bytes(Footprint::L1, 1), Ok(Some(24 << 10)));
        assert_eq!(bytes(Footprint::L2, 1), Ok(Some(768 << 10)));
        assert_eq!(bytes(Footprint::L3, 1), Ok(Some(24 << 20)));
        assert_eq!(bytes(Footprint::Memory, 1), Ok(Some(128 << 20)));
    }

    #[test]
    fn threads_share_the_caches_that_their_cpus_share() {
        assert_eq!(bytes(Footprint::L1, 2), Ok(Some(24 << 10)));
        assert_eq!(bytes(Footprint::L3, 2), Ok(Some(12 << 20)));
        // CPU 9 has another third level.
        assert_eq!(bytes(Footprint::L3, 3), Ok(Some(12 << 20)));
    }

    #[test]
    fn in_place_is_fresh_data_within_the_first_level() {
        let hot = machine(8192).setting(Footprint::Hot, true, 1, false).unwrap();
        assert_eq!(hot.walk_bytes, Some(24 << 10));
    }

    #[test]
    fn what_this_machine_cannot_do_is_said() {
        let small = machine(256).setting(Footprint::Memory, false, 1, false).unwrap_err();
        assert!(small.contains("128 MiB") && small.contains("256 MiB"), "{small}");
        let mut unknown = machine(8192);
        unknown.caches.retain(|c| c.level < 3);
        let why = unknown.setting(Footprint::L3, false, 1, false).unwrap_err();
        assert!(why.contains("no level 3 cache"), "{why}");
        let why = machine(8192).setting(Footprint::Hot, false, 4, false).unwrap_err();
        assert!(why.contains("4 threads") && why.contains("may use 3"), "{why}");
    }
}
