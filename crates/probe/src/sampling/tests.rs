use super::*;

fn mapping(end: u64, offset: u64, file: FileIndex) -> Mapping {
    Mapping { end, offset, file }
}

#[test]
fn a_mapping_takes_the_place_of_what_was_there() {
    let mut process = Process::default();
    process.map(0x1000, mapping(0x5000, 0, 3));
    process.map(0x2000, mapping(0x3000, 0x70, 4));
    let at = |ip: u64| process.at(ip);
    assert_eq!(at(0xfff), None);
    assert_eq!(at(0x1fff), Some((3, 0xfff)));
    assert_eq!(at(0x2001), Some((4, 0x71)));
    assert_eq!(at(0x3000), Some((3, 0x2000)));
    assert_eq!(at(0x4fff), Some((3, 0x3fff)));
    assert_eq!(at(0x5000), None);
    process.map(0, mapping(u64::MAX, 0, 5));
    assert_eq!(process.maps.len(), 1);
}

fn mapped_file(book: &mut Book, path: &str) -> FileIndex {
    book.file(FileKey { path: path.into(), inode: 7 })
}

fn counts(book: Book) -> Vec<(String, String, u64, u64)> {
    let samples = book.found;
    let mut all: Vec<_> = samples
        .places
        .iter()
        .map(|(place, count)| {
            let file = samples.files[place.file as usize].path.display().to_string();
            let program = samples.programs[place.program as usize].name.clone();
            (program, file, place.offset, *count)
        })
        .collect();
    all.sort();
    all
}

/// What CPUs told is put in order by time, however late it was read.
#[test]
fn children_have_their_parents_mappings_until_they_execute_something() {
    let mut book = Book::new();
    let (old, new) = (mapped_file(&mut book, "/none/old"), mapped_file(&mut book, "/none/new"));
    let at = |pid, ip| What::At { pid, ip, in_kernel: false };
    book.waiting = vec![
        (9, at(2, 0x1010)),
        (8, What::Mapped { pid: 2, start: 0x1000, mapping: mapping(0x2000, 0x500, new) }),
        (7, What::Named { pid: 2, name: "new".to_owned(), by_exec: true }),
        (6, at(2, 0x1010)),
        (5, What::Forked { pid: 2, parent: 1 }),
        (4, at(1, 0x1010)),
        (2, What::Mapped { pid: 1, start: 0x1000, mapping: mapping(0x2000, 0, old) }),
        (1, What::Named { pid: 1, name: "old".to_owned(), by_exec: true }),
        (99, at(2, 0x1010)),
    ];
    book.settle(50);
    assert_eq!(book.waiting.len(), 1, "what is too new waits");
    book.settle(u64::MAX);
    let of = |program: &str, file: &str, offset, count| {
        (program.to_owned(), file.to_owned(), offset, count)
    };
    let mut expected = vec![
        of("new", "/none/new", 0x510, 2),
        of("old", "/none/old", 0x10, 1),
        of("old", "/none/old", 0x10, 1),
    ];
    expected.sort();
    assert_eq!(counts(book), expected);
}

#[test]
fn the_kernel_code_made_at_run_time_and_strange_addresses_are_told_apart() {
    let mut book = Book::new();
    let made = book.file(FileKey { path: "//anon".into(), inode: 0 });
    book.apply(What::Mapped { pid: 1, start: 0x1000, mapping: mapping(0x2000, 0, made) });
    book.count(1, 0x1800, false);
    book.count(1, 0x1900, false);
    book.count(1, 0x9000, false);
    book.count(1, u64::MAX, true);
    let found: Vec<_> = counts(book).into_iter().map(|(_, file, at, n)| (file, at, n)).collect();
    let of = |file: &str, at, n| (file.to_owned(), at, n);
    let expected =
        [of("[kernel]", u64::MAX, 1), of("[made while running]", 0, 2), of("[unknown]", 0, 1)];
    assert_eq!(found, expected);
}

#[test]
fn a_process_is_sampled_while_it_computes_and_one_that_is_not_there_is_said() {
    let why = Sampler::of_process(u32::MAX >> 1).err().unwrap();
    assert!(why.starts_with("there is no process"), "{why}");
    let mut child =
        std::process::Command::new("sh").args(["-c", "while :; do :; done"]).spawn().unwrap();
    let sampler = match Sampler::of_process(child.id()) {
        Ok(sampler) => sampler,
        Err(why) => {
            eprintln!("not tested: {why}");
            child.kill().unwrap();
            child.wait().unwrap();
            return;
        }
    };
    // Until the process itself has had so much.
    let spent = |pid: u32| {
        let stat = std::fs::read_to_string(format!("/proc/{pid}/stat")).unwrap();
        let behind = stat.rsplit_once(')').unwrap().1.to_owned();
        behind.split_ascii_whitespace().nth(11).unwrap().parse::<u64>().unwrap()
    };
    let before = spent(child.id());
    while spent(child.id()) < before + 30 {
        std::thread::sleep(Duration::from_millis(10));
    }
    let samples = sampler.finish().unwrap();
    child.kill().unwrap();
    child.wait().unwrap();
    // 30 ticks of the kernel are 0.3 s.
    assert!(samples.total() >= 200, "{}", samples.total());
    assert_eq!(samples.lost, 0);
    assert!(samples.programs.iter().all(|program| program.pid == child.id()));
    let in_shell = |(place, _): &(&Place, &u64)| {
        let file = &samples.files[place.file as usize];
        place.file > UNKNOWN && file.file.is_some() && file.path.starts_with("/usr/bin")
    };
    assert!(samples.places.iter().any(|one| in_shell(&one)), "{:?}", samples.files);
}
