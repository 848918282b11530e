//! What a program's CPU time goes into, by samples: each is attributed to a file, a function and what that computes;
//! beside them stands what calls have told, and three parts that add up.

use base::analysis::SampledShare;
use probe::sampling::kinds::{Code, Kind, kind_of_name};
use probe::sampling::objects::{Function, Object};
use probe::sampling::{FileIndex, KERNEL, MADE, Place, Sampler, Samples, UNKNOWN};
use record::{Parts, Sampled, SampledFile, SampledFunction, SampledKind, SampledProgram};
use std::collections::BTreeMap;
use std::path::{Path, PathBuf};
use std::time::Instant;

const MOST_LISTED: usize = 100;

pub struct Sampling {
    sampler: Sampler,
    begin: Instant,
}

/// What calls into a file took, timed one by one.
#[derive(Clone, Debug, PartialEq)]
pub struct SeenByCalls {
    pub path: PathBuf,
    pub seconds: f64,
}

impl Sampling {
    /// Samples what the calling thread starts from now on, and what those start; each from its `exec` on.
    pub fn of_what_this_thread_starts() -> Result<Self, String> {
        Ok(Self::new(Sampler::of_what_this_thread_starts()?))
    }

    /// Samples a process with all that it has started and will start.
    pub fn of_process(pid: u32) -> Result<Self, String> {
        Ok(Self::new(Sampler::of_process(pid)?))
    }

    fn new(sampler: Sampler) -> Self {
        Self { sampler, begin: Instant::now() }
    }

    /// Ends it and says what was seen. `calls` are the files that calls were seen into, and what those took.
    pub fn finish(self, calls: &[SeenByCalls]) -> Result<Sampled, String> {
        let seconds = self.begin.elapsed().as_secs_f64();
        Ok(summary(&self.sampler.finish()?, seconds, calls))
    }
}

/// What a library's file says that it is, and its linker's id of it.
pub fn build(path: &Path) -> (Option<String>, Option<String>) {
    let object = host::object_at(path).and_then(Object::read);
    object.map(|object| (object.version, object.build_id)).unwrap_or_default()
}

fn summary(samples: &Samples, seconds: f64, calls: &[SeenByCalls]) -> Sampled {
    let found = Attributed::of(samples);
    let total = samples.total();
    let cpu = total as f64 * samples.interval_ns as f64 / 1e9;
    let files = found.files(samples, calls);
    let parts = parts(&files, total, cpu, calls);
    Sampled {
        seconds,
        interval_ns: samples.interval_ns,
        samples: total,
        lost: samples.lost,
        throttled: samples.throttled,
        with_kernel: samples.with_kernel,
        parts,
        kinds: found.kinds(),
        functions: found.functions(samples),
        programs: found.programs(samples),
        unseen: unseen(samples, &files, total),
        files,
    }
}

#[derive(Default)]
struct Attributed {
    by_file: BTreeMap<FileIndex, Counted>,
    by_kind: BTreeMap<Kind, u64>,
    by_function: BTreeMap<(FileIndex, String, Kind), u64>,
    by_program: BTreeMap<u32, (u64, u64)>,
}

/// Samples of one file.
#[derive(Default)]
struct Counted {
    samples: u64,
    crypto: u64,
    object: Option<About>,
}

/// What is known of a file's content.
struct About {
    build_id: Option<String>,
    version: Option<String>,
    is_library: bool,
}

impl Attributed {
    fn of(samples: &Samples) -> Self {
        let mut by_file = BTreeMap::<FileIndex, Vec<(Place, u64)>>::new();
        for (place, count) in &samples.places {
            by_file.entry(place.file).or_default().push((*place, *count));
        }
        let mut all = Self::default();
        for (file, mut places) in by_file {
            places.sort_unstable();
            match file {
                KERNEL => all.kernel(&places),
                MADE | UNKNOWN => places.iter().for_each(|(place, n)| all.add(*place, *n, None)),
                _ => all.file(samples, file, &places),
            }
        }
        all
    }

    /// One file's samples, in the order of their addresses: each function is decoded once.
    fn file(&mut self, samples: &Samples, index: FileIndex, places: &[(Place, u64)]) {
        let file = samples.files[index as usize].file.as_ref();
        let object = file.and_then(|file| Object::read(file.try_clone().ok()?));
        let mut last: Option<(Option<Function>, u64, Code)> = None;
        for (place, count) in places {
            let address = object.as_ref().and_then(|object| object.address(place.offset));
            let (Some(object), Some(address)) = (&object, address) else {
                self.add(*place, *count, None);
                continue;
            };
            let function = object.function(address);
            let is_same = last.as_ref().is_some_and(|(before, at, _)| {
                let is_near = address.abs_diff(*at) < 1 << 14;
                function.is_some() && *before == function && is_near || *at == address
            });
            if !is_same {
                let code = Code::around(object, function.as_ref(), address);
                last = Some((function.clone(), address, code));
            }
            let Some((.., code)) = &mut last else { continue };
            let kind = code.kind(address);
            self.add(*place, *count, kind);
            if let Some(kind) = kind {
                let begin = function.map_or(address & !0xfff, |f| f.range.start);
                let name = code.name().map_or_else(|| format!("+{begin:#x}"), ToOwned::to_owned);
                *self.by_function.entry((index, name, kind)).or_default() += count;
            }
        }
        self.by_file.entry(index).or_default().object = object.map(|object| About {
            build_id: object.build_id,
            version: object.version,
            is_library: object.is_library,
        });
    }

    fn kernel(&mut self, places: &[(Place, u64)]) {
        let names = KernelNames::read();
        for (place, count) in places {
            let name = names.at(place.offset);
            let kind = name.and_then(kind_of_name);
            self.add(*place, *count, kind);
            if let (Some(name), Some(kind)) = (name, kind) {
                *self.by_function.entry((KERNEL, name.to_owned(), kind)).or_default() += count;
            }
        }
    }

    fn add(&mut self, place: Place, count: u64, kind: Option<Kind>) {
        let crypto = if kind.is_some_and(Kind::is_crypto) { count } else { 0 };
        let file = self.by_file.entry(place.file).or_default();
        file.samples += count;
        file.crypto += crypto;
        let program = self.by_program.entry(place.program).or_default();
        program.0 += count;
        program.1 += crypto;
        if let Some(kind) = kind {
            *self.by_kind.entry(kind).or_default() += count;
        }
    }

    fn files(&self, samples: &Samples, calls: &[SeenByCalls]) -> Vec<SampledFile> {
        let file = |(index, counted): (&FileIndex, &Counted)| {
            let path = samples.files[*index as usize].path.clone();
            let about = counted.object.as_ref();
            let of_file = calls.iter().filter(|seen| same_file(&seen.path, &path));
            let seconds: Vec<f64> = of_file.map(|seen| seen.seconds).collect();
            SampledFile {
                build_id: about.and_then(|about| about.build_id.clone()),
                version: about.and_then(|about| about.version.clone()),
                is_library: about.is_some_and(|about| about.is_library),
                is_readable: about.is_some(),
                seconds_in_calls: (!seconds.is_empty()).then(|| seconds.iter().sum()),
                samples: counted.samples,
                crypto_samples: counted.crypto,
                path,
            }
        };
        let mut files: Vec<SampledFile> = self.by_file.iter().map(file).collect();
        files.sort_by_key(|file| std::cmp::Reverse(file.samples));
        files
    }

    fn kinds(&self) -> Vec<SampledKind> {
        let kind = |(kind, samples): (&Kind, &u64)| SampledKind {
            kind: kind.label().to_owned(),
            is_crypto: kind.is_crypto(),
            samples: *samples,
        };
        let mut kinds: Vec<SampledKind> = self.by_kind.iter().map(kind).collect();
        kinds.sort_by_key(|kind| std::cmp::Reverse(kind.samples));
        kinds
    }

    fn functions(&self, samples: &Samples) -> Vec<SampledFunction> {
        let function =
            |((file, name, kind), count): (&(FileIndex, String, Kind), &u64)| SampledFunction {
                path: samples.files[*file as usize].path.clone(),
                function: name.clone(),
                kind: kind.label().to_owned(),
                samples: *count,
            };
        let mut functions: Vec<SampledFunction> = self.by_function.iter().map(function).collect();
        functions.sort_by_key(|function| std::cmp::Reverse(function.samples));
        functions.truncate(MOST_LISTED);
        functions
    }

    fn programs(&self, samples: &Samples) -> Vec<SampledProgram> {
        let program = |(index, (all, crypto)): (&u32, &(u64, u64))| {
            let program = &samples.programs[*index as usize];
            SampledProgram {
                pid: program.pid,
                name: program.name.clone(),
                samples: *all,
                crypto_samples: *crypto,
            }
        };
        let mut programs: Vec<SampledProgram> = self.by_program.iter().map(program).collect();
        programs.sort_by_key(|program| std::cmp::Reverse(program.samples));
        programs.truncate(MOST_LISTED);
        programs
    }
}

fn same_file(a: &Path, b: &Path) -> bool {
    a == b || a.canonicalize().is_ok_and(|a| b.canonicalize().is_ok_and(|b| a == b))
}

/// The three parts. Of a file that calls were seen into, only what those do not explain counts as seen by samples, where
/// it is more than chance.
fn parts(files: &[SampledFile], total: u64, cpu: f64, calls: &[SeenByCalls]) -> Parts {
    let fraction = |seconds: f64| if cpu > 0.0 { seconds / cpu } else { 0.0 };
    let unexplained = |file: &SampledFile| -> u64 {
        let samples = if file.is_library { file.samples } else { file.crypto_samples };
        let Some(seconds) = file.seconds_in_calls else { return samples };
        let explained = fraction(seconds);
        let more = SampledShare::of(samples, total).low > explained;
        if more { samples.saturating_sub((explained * total as f64) as u64) } else { 0 }
    };
    let only: u64 = files.iter().map(unexplained).sum();
    let by_calls = fraction(calls.iter().map(|seen| seen.seconds).sum()).min(1.0);
    let by_samples_only = SampledShare::of(only, total);
    let other = (1.0 - by_calls - by_samples_only.fraction).max(0.0);
    Parts { by_calls, by_samples_only, other }
}

/// What samples were in and could not be looked at, and what no sample can be in.
fn unseen(samples: &Samples, files: &[SampledFile], total: u64) -> Vec<String> {
    let percent = |n: u64| 100.0 * n as f64 / total.max(1) as f64;
    let mut all = Vec::new();
    for file in files.iter().filter(|f| !f.is_readable && 100 * f.samples >= total) {
        let share = percent(file.samples);
        let path = file.path.display();
        all.push(match file.path.to_str() {
            Some("[kernel]") => continue,
            Some("[made while running]") => format!(
                "{share:.1} % in code that a program made while it ran (JavaScript, Java): not recognised"
            ),
            Some("[unknown]") => format!("{share:.1} % at addresses of no known file"),
            _ => format!("{share:.1} % in {path}, which could not be read"),
        });
    }
    if samples.merged > 0 {
        let share = percent(samples.merged);
        all.push(format!("{share:.1} % of samples are in too many places to be told apart"));
    }
    if !samples.with_kernel {
        all.push(
            "the kernel's part is not sampled (perf_event_paranoid): shares are of the time in programs; root samples both"
                .to_owned(),
        );
    } else if !KernelNames::are_told() && files.iter().any(|f| f.path == Path::new("[kernel]")) {
        all.push("the kernel's functions have no names here (kptr_restrict): its ciphers are not recognised".to_owned());
    }
    all.extend(in_kernel());
    all
}

/// Encryption by the kernel that no library's call shows.
fn in_kernel() -> Vec<String> {
    let mut all = Vec::new();
    let tls = std::fs::read_to_string("/proc/net/tls_stat").unwrap_or_default();
    let sockets = tls.lines().filter(|line| line.starts_with("TlsCurr"));
    let sockets: u64 =
        sockets.filter_map(|l| l.split_ascii_whitespace().nth(1)?.parse::<u64>().ok()).sum();
    if sockets > 0 {
        all.push(format!("{sockets} directions of sockets here are encrypted by the kernel (kTLS): not seen by calls"));
    }
    let volumes = std::fs::read_dir("/sys/block").into_iter().flatten().flatten().filter(|entry| {
        let id = std::fs::read_to_string(entry.path().join("dm/uuid"));
        id.is_ok_and(|id| id.starts_with("CRYPT-"))
    });
    let volumes = volumes.count();
    if volumes > 0 {
        all.push(format!(
            "{volumes} volumes here are encrypted by dm-crypt, in threads of the kernel's own: in no program's CPU time"
        ));
    }
    all
}

/// The kernel's functions by address, where it tells them (proc_kallsyms(5)).
struct KernelNames(Vec<(u64, String)>);

impl KernelNames {
    fn read() -> Self {
        let text = std::fs::read_to_string("/proc/kallsyms").unwrap_or_default();
        let symbol = |line: &str| {
            let mut words = line.split_ascii_whitespace();
            let address = u64::from_str_radix(words.next()?, 16).ok()?;
            let is_code = matches!(words.next()?, "t" | "T" | "w" | "W");
            (is_code && address != 0).then_some((address, words.next()?.to_owned()))
        };
        let mut all: Vec<(u64, String)> = text.lines().filter_map(symbol).collect();
        all.sort_unstable();
        Self(all)
    }

    fn are_told() -> bool {
        use std::io::{BufRead as _, BufReader};
        let file = std::fs::File::open("/proc/kallsyms");
        let lines = file.map(BufReader::new).map(|file| file.lines());
        let some =
            |line: std::io::Result<String>| line.is_ok_and(|l| !l.starts_with("0000000000000000"));
        lines.is_ok_and(|lines| lines.take(100).any(some))
    }

    fn at(&self, address: u64) -> Option<&str> {
        let after = self.0.partition_point(|(begin, _)| *begin <= address);
        self.0[..after].last().map(|(_, name)| name.as_str())
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn file(
        samples: u64,
        crypto_samples: u64,
        is_library: bool,
        calls: Option<f64>,
    ) -> SampledFile {
        SampledFile {
            path: PathBuf::from("/a"),
            build_id: None,
            version: None,
            is_library,
            is_readable: true,
            seconds_in_calls: calls,
            samples,
            crypto_samples,
        }
    }

    fn parts_of(files: &[SampledFile], seconds: f64) -> Parts {
        let calls = [SeenByCalls { path: PathBuf::from("/a"), seconds }];
        // 1,000 samples of a millisecond each.
        parts(files, 1000, 1.0, if seconds > 0.0 { &calls } else { &[] })
    }

    #[test]
    fn three_parts_add_up_and_what_calls_explain_counts_once() {
        // A library whose calls took all of what samples see in it, and a program with a cipher of its own.
        let seen = parts_of(&[file(300, 200, true, Some(0.31)), file(700, 100, false, None)], 0.31);
        assert_eq!((seen.by_calls, seen.by_samples_only.fraction), (0.31, 0.1));
        // Nobody saw the calls: all of a library counts, of a program what is recognised.
        let unseen = parts_of(&[file(300, 200, true, None), file(700, 100, false, None)], 0.0);
        assert_eq!((unseen.by_calls, unseen.by_samples_only.fraction), (0.0, 0.4));
        // Calls explain a part of it: the rest was reached in another way.
        let partly = parts_of(&[file(300, 300, true, Some(0.1))], 0.1);
        assert!((partly.by_samples_only.fraction - 0.2).abs() < 1e-9, "{partly:?}");
        // A few samples more than the calls took are chance.
        let chance = parts_of(&[file(300, 300, true, Some(0.29))], 0.29);
        assert_eq!(chance.by_samples_only.fraction, 0.0);
        for one in [seen, unseen, partly, chance] {
            let sum = one.by_calls + one.by_samples_only.fraction + one.other;
            assert!((sum - 1.0).abs() < 1e-9, "{one:?}");
        }
    }

    #[test]
    fn names_of_the_kernel_are_those_of_the_function_that_begins_before() {
        let names =
            KernelNames(vec![(0x100, "aes_encrypt".to_owned()), (0x200, "schedule".to_owned())]);
        assert_eq!(names.at(0x1ff), Some("aes_encrypt"));
        assert_eq!(names.at(0x200), Some("schedule"));
        assert_eq!(names.at(0xff), None);
        assert_eq!(names.at(0x100).and_then(kind_of_name), Some(Kind::Aes));
    }

    #[test]
    fn samples_in_nothing_that_can_be_read_are_said_and_counted() {
        let mut places = std::collections::HashMap::new();
        places.insert(Place { file: MADE, offset: 0, program: 0 }, 60);
        places.insert(Place { file: 3, offset: 16, program: 0 }, 40);
        let named = |path: &str| probe::sampling::CodeFile { path: path.into(), file: None };
        let samples = Samples {
            interval_ns: 1_000_000,
            with_kernel: true,
            places,
            files: ["[kernel]", "[made while running]", "[unknown]", "/gone"].map(named).into(),
            programs: vec![probe::sampling::Program { pid: 1, name: "it".to_owned() }],
            lost: 0,
            throttled: 0,
            merged: 0,
        };
        let summary = summary(&samples, 1.0, &[]);
        assert_eq!(summary.samples, 100);
        assert_eq!(summary.crypto_samples(), 0);
        assert_eq!(summary.programs[0].samples, 100);
        let says = |words: &str| summary.unseen.iter().any(|text| text.starts_with(words));
        assert!(says("60.0 % in code that a program made"));
        assert!(says("40.0 % in /gone, which could not be read"));
    }
}
