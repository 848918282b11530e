//! The command line itself: version, help, completions, manual pages; bad input, which ends with exit code 2
//! and one clear line; what a terminal gets and what a pipe gets.

use crate::support::*;
use std::io::Write as _;
use std::process::{Command, Stdio};

/// Every command, as the help lists them.
fn every_command() -> Vec<String> {
    commands(&[""])
}

fn printed(arguments: &[&str]) -> String {
    let done = ciphermark(arguments, b"").with_code(0);
    assert_eq!(done.stderr, "");
    done.stdout
}

#[test]
fn the_version_is_the_packages() {
    assert_eq!(printed(&["--version"]), format!("ciphermark {}\n", env!("CARGO_PKG_VERSION")));
}

#[test]
fn help_lists_commands_and_names_the_exit_codes() {
    let help = printed(&["--help"]);
    assert!(every_command().len() >= 24, "{help}");
    says(&help, ["Exit codes", "\n  CIPHERMARK_CACHE           where "]);
}

#[test]
fn the_help_of_every_command_has_an_example() {
    for command in every_command() {
        let help = printed(&[&command, "--help"]);
        let (_, examples) = help.split_once("Example").unwrap_or_else(|| panic!("{help}"));
        says(examples, [&*format!("ciphermark {command}")]);
    }
}

#[test]
fn the_workers_command_is_nobodys_business() {
    for arguments in [&["--help"][..], &["help"], &["man"]] {
        assert!(!printed(arguments).contains("worker"), "{arguments:?}");
    }
    for shell in ["bash", "zsh", "fish"] {
        let script = printed(&["completions", shell]);
        let offers = |line: &&str| line.contains("worker") && !line.trim().ends_with(")");
        let offered: Vec<&str> = script.lines().filter(offers).collect();
        assert!(offered.is_empty(), "{shell}: {offered:#?}");
    }
}

#[test]
fn completions_are_scripts_that_their_shells_can_read() {
    for (shell, mark) in [
        ("bash", "complete -F _ciphermark"),
        ("zsh", "#compdef ciphermark"),
        ("fish", "complete -c ciphermark"),
    ] {
        let script = printed(&["completions", shell]);
        assert!(script.contains(mark), "{shell}");
        for command in every_command() {
            assert!(script.contains(&command), "{shell}: {command}");
        }
        // Only the first of these shells is on every machine.
        if shell == "bash" || runs(shell) {
            parses(shell, &script);
        }
    }
}

fn runs(shell: &str) -> bool {
    Command::new(shell).arg("--version").output().is_ok()
}

/// Has a shell read a script without running it.
fn parses(shell: &str, script: &str) {
    let mut child =
        Command::new(shell).arg("-n").stdin(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    child.stdin.take().unwrap().write_all(script.as_bytes()).unwrap();
    let output = child.wait_with_output().unwrap();
    let errors = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success() && errors.is_empty(), "{shell}: {errors}");
}

#[test]
fn bash_completes_the_commands() {
    let script = printed(&["completions", "bash"]);
    let ask = "COMP_WORDS=(ciphermark ru); COMP_CWORD=1; _ciphermark ciphermark ru ciphermark; \
               echo \"${COMPREPLY[@]}\"";
    // An argument may have 128 KiB at most, and the script has more.
    let directory = scratch();
    let path = written(&directory, "completions", format!("{script}\n{ask}\n"));
    let output = Command::new("bash").arg(&path).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "run", "{output:?}");
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    says(printed(&["man"]), [".TH ciphermark 1"]);
    let directory = scratch();
    assert_eq!(printed(&["man", arg(directory.path())]), "");
    for command in every_command() {
        let file = directory.path().join(format!("ciphermark-{command}.1"));
        says(std::fs::read_to_string(&file).unwrap(), [&*format!(".TH ciphermark-{command} 1")]);
    }
    says(std::fs::read_to_string(directory.path().join("ciphermark.1")).unwrap(), ["Exit codes"]);
}

// Bad input: exit code 2, one clear line that names the input and what helps, nothing lost.

/// A file of the machine whose name depends on the architecture's directory.
fn system_object(name: &str) -> String {
    let places = [system_libraries(), "/lib".into(), "/usr/lib64".into(), "/lib64".into()];
    let found = places.iter().map(|place| place.join(name)).find(|path| path.is_file());
    arg(&found.unwrap_or_else(|| panic!("this machine has no {name}"))).to_owned()
}

#[test]
#[ignore = "long: seconds"]
fn unknown_names_get_the_nearest_spelling_and_what_lists_all() {
    for command in ["run", "verify"] {
        let words = ["'aes-128-gmc'", "did you mean 'aes-128-gcm'?", "ciphermark list algorithms"];
        refuses(&format!("{command} -a aes-128-gmc"), &words);
        refuses(&format!("{command} -a zzz*"), &["'zzz*'", "ciphermark list algorithms"]);
    }
    // Each loads every library.
    let words = ["'opensl'", "did you mean 'openssl'?", "libgcrypt@"];
    refuses("run -l opensl", &words);
    refuses("list libraries -l zz*", &["'zz*'", "openssl@"]);
    for (line, words) in [
        ("run -a aes-[1", &["'aes-[1'", "glob"][..]),
        ("run -a aes-{128,256}-gcm,aes-128-gmc", &["did you mean 'aes-128-gcm'?"]),
        ("run -a aes-128-gcm,", &["''"]),
        ("run -a mldsa44", &["ciphermark tls primitives"]),
        ("rank -a sha1,ml-kem-768", &["ciphermark tls primitives"]),
        ("run -l openssl:nosuch", &["'openssl:nosuch'", "cannot be loaded"]),
        ("run -l open[1", &["'open[1'", "glob"]),
        ("rum", &["'rum'", "run"]),
        ("run --algoritm x", &["--algoritm", "--algorithm"]),
        ("list libs", &["'libs'", "libraries"]),
        ("once", &["--algorithm", "--library"]),
        ("once -a aes-128-ctr -l openssl --key xyz", &["--key", "'xyz'"]),
    ] {
        refuses(line, words);
    }
}

/// libssl is linked with libcrypto, whose functions a look-up through it would find.
#[test]
fn an_object_of_the_system_that_is_no_library_is_named_with_what_it_lacks() {
    for object in ["libm.so.6", "libssl.so.3"] {
        let line = format!("run -l mine={}", system_object(object));
        refuses(&line, &["mine", object, "ciphermark_adapter"]);
    }
}

#[test]
fn bad_values_of_flags_are_one_line_that_names_flag_and_value() {
    for bad in ["0", "x", "", "16..", "64..16", "1G", "257M", "-4", "16,0,32"] {
        let flag = format!("-s{bad}");
        let line =
            if bad.is_empty() { refusal(&["run", "-s", ""]) } else { refusal(&["run", &flag]) };
        says(&line, ["is not a size", "16..64K"]);
    }
    for (flag, value, help) in [
        ("--precision", "0", "1%"),
        ("--precision", "often", "1%"),
        ("--precision", "200%", "1%"),
        ("--precision", "1", "1%"),
        ("--precision", "0.5", "0.5%"),
        ("--budget", "0s", "60s"),
        ("--budget", "soon", "60s"),
        ("--budget", "-5s", "60s"),
        ("--precision", "-1%", "1%"),
        ("--seed", "seven", ""),
        ("--direction", "sideways", "decrypt"),
        ("--model", "steam", "stream"),
        ("--tier", "turbo", "native"),
        ("--format", "xml", "csv"),
    ] {
        refuses(&format!("run {flag} {value}"), &[flag, &format!("'{value}'"), help]);
    }
}

#[test]
fn an_unknown_or_malformed_suite_is_named_with_the_place() {
    let directory = scratch();
    let good = "name = 'mine'\nreason = 'r'\nalgorithms = ['aes-128-ctr']\nsizes = '16'\n\
                models = ['message']\ndirections = ['encrypt']\nprecision = '1%'\nbudget = '1s'\n";
    refuses("run --suite quik", &["'quik'", "did you mean 'quick'?"]);
    refuses("run --suite no/such.toml", &["no/such.toml"]);
    for (text, words) in [
        ("name = ".to_owned(), &["suite.toml", "line 1"][..]),
        ("name = 'x'\n".to_owned(), &["suite.toml", "reason"]),
        (good.replace("'message'", "'massage'"), &["line 5", "massage"]),
        (good.replace("budget = '1s'", "budget = 'x'"), &["mine", "60s"]),
        (good.replace("'16'", "'0'"), &["'0' is not a size"]),
        (good.replace("aes-128-ctr", "aes-128-crt"), &["'aes-128-ctr'?"]),
        (good.replace("reason", "raisin"), &["line 2", "raisin"]),
    ] {
        let suite = written(&directory, "suite.toml", &text);
        refuses(&format!("run --suite {suite}"), words);
    }
}

#[test]
fn what_is_typed_turns_no_reading_direction_breaks_no_line_and_its_quotation_has_an_end() {
    // A refusal is one line without control characters.
    assert!(refusal(&["run", "-a", "aes\n\u{1b}[31m"]).contains("aes"));
    assert!(refusal(&["run", "-l", "mine=/no\n/such"]).contains("mine"));
    assert!(refusal(&["show", "no\nsuch"]).contains("such"));
    let line = refusal(&["run", "-a", "aes\u{202e}mcg"]);
    assert!(!line.contains('\u{202e}'), "{line}");
    let long = "9".repeat(100_000);
    assert!(refusal(&["run", "-s", &long]).chars().count() < 1100);
}

fn sample_record() -> String {
    std::fs::read_to_string(SAMPLE).unwrap()
}

#[test]
fn files_that_are_no_text_or_have_no_end_are_one_line_in_every_reader() {
    let directory = scratch();
    let wide = written(&directory, "wide.txt", b"\xff\xfen\0a\0m\0e\0");
    let readers = "show, report -o -, rank, claims, explain, run --suite, verify --vectors, import";
    for reader in readers.split(", ").chain([&*format!("compare {wide}")]) {
        refuses(&format!("{reader} {wide}"), &["wide.txt", "is not text (byte 0 is not UTF-8)"]);
    }
    for reader in ["verify --vectors", "import"] {
        refuses(&format!("{reader} /dev/zero"), &["/dev/zero", "more than 64 MiB"]);
    }
    refuses("show /dev/zero", &["it has more than 1 GiB"]);
}

#[test]
fn filters_that_leave_nothing_say_so() {
    let directory = scratch();
    let path = written(&directory, "r.json", sample_record());
    for (filter, words) in [
        ("-a aes-128-gmc", "did you mean 'aes-128-gcm'?"),
        ("-l opensl", "did you mean 'openssl'?"),
        ("-s 77", "no row"),
    ] {
        refuses(&format!("show {path} {filter}"), &[words]);
    }
}

#[test]
fn a_place_that_takes_no_record_is_refused_before_measuring_and_left_as_it_was() {
    let directory = scratch();
    let place = arg(directory.path());
    refuses("run -o /no/such/directory/r.json", &["/no/such/directory"]);
    refuses(&format!("run -o {place}"), &[place]);
    let of_later_version = sample_record().replacen("\"1.6\"", "\"99.0\"", 1);
    for text in ["years of work\n", &of_later_version] {
        let path = written(&directory, "thesis.txt", text);
        refuses(&format!("run -o {path}"), &["thesis.txt", "not overwritten"]);
        assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
        assert_eq!(std::fs::read_dir(place).unwrap().count(), 1);
    }
    // As `mktemp` makes it: nothing is lost with it.
    let empty = written(&directory, "empty.json", "");
    call(&format!("run -a null -l openssl -s 16 -o {empty}")).ends(4, ["nothing to measure"]);
}

#[test]
fn nothing_to_resume_and_a_damaged_journal_are_named_and_left_as_they_are() {
    let directory = scratch();
    let whole = written(&directory, "whole.json", sample_record());
    refuses(&format!("run --resume {whole}"), &["whole.json", "nothing to resume"]);
    refuses("run --resume no/such.json", &["no/such.json"]);
    refuses(&format!("run --resume {whole} -o other.json"), &["--resume", "--output"]);
    refuses(&format!("run --resume {whole} --suite full"), &["--resume", "--suite"]);
    assert_eq!(std::fs::read_to_string(&whole).unwrap(), sample_record());
    let damaged = "{\"format_version\": 1}\n";
    let journal = written(&directory, "r.json.partial", damaged);
    let record = file(&directory, "r.json");
    refuses(&format!("run --resume {record}"), &["r.json.partial", "line 1"]);
    refuses(&format!("run --resume {journal}"), &["is a run's journal", "r.json`"]);
    assert_eq!(std::fs::read_to_string(journal).unwrap(), damaged);
}

#[test]
fn a_run_without_any_case_is_exit_code_4() {
    call("run -a null -l openssl -s 16").ends(4, ["nothing to measure"]);
}

// What a terminal gets and what a pipe gets: colours, the progress bar, a reader that goes away.

const ESCAPE: char = '\u{1b}';

/// A case that takes a moment, so that there is progress to show.
const A_MOMENT: &str =
    "run -a aes-128-ctr -l openssl -d encrypt -s 16 --precision 0.0001% --budget 2s";

#[test]
fn colours_follow_the_flag_then_no_color_then_the_terminal() {
    let colored =
        |flags: &str| call(&format!("show {SAMPLE} {flags}")).with_code(0).stdout.contains(ESCAPE);
    assert!(!colored(""), "a pipe");
    assert!(colored("--color always"));
    assert!(!colored("--color never"));
    let show = format!("ciphermark show {SAMPLE}");
    let terminal = |command: &str| in_terminal(command).with_code(0).stdout.contains(ESCAPE);
    assert!(terminal(&show));
    assert!(!terminal(&format!("NO_COLOR=1 {show}")));
    assert!(!terminal(&format!("{show} --color never")));
    assert!(terminal(&format!("NO_COLOR=1 {show} --color always")));
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn the_progress_bar_is_on_standard_error_and_only_on_a_terminal() {
    let bar = in_terminal(&format!("ciphermark {A_MOMENT} > /dev/null")).with_code(0).stdout;
    says(&bar, ["measuring", "left"]);
    let quiet = in_terminal(&format!("ciphermark {A_MOMENT} --quiet > /dev/null")).with_code(0);
    assert_eq!(quiet.stdout, "");
    let piped: Vec<&str> = A_MOMENT.split(' ').skip(1).collect();
    assert_eq!(measure(&piped).with_code(0).stderr, "");
}

#[test]
fn a_reader_that_has_seen_enough_is_no_error() {
    let mut child = Command::new(program())
        .args(by_path(&["list", "algorithms", "-l", "baselines"]))
        .env_remove("LD_LIBRARY_PATH")
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()
        .unwrap();
    drop(child.stdout.take());
    let output = child.wait_with_output().unwrap();
    assert_eq!((output.status.code(), &*output.stderr), (Some(0), &b""[..]));
}

#[test]
#[ignore = "long: takes ten seconds or more"]
fn every_line_fits_the_terminal_or_what_columns_says() {
    let record = published();
    let fits = |text: &str, width: usize| {
        let wide = text.lines().filter(|l| l.trim_end_matches('\r').chars().count() > width);
        let wide: Vec<&str> = wide.collect();
        assert!(wide.is_empty(), "{width}: {wide:?}");
    };
    for (columns, width) in [("60", 60), ("80", 80), ("", 100), ("200", 200)] {
        let columns = [("COLUMNS", columns)];
        for command in [
            format!("show {record} -s 16,8K"),
            format!("rank {record}"),
            format!("compare {record} --libraries openssl@3.0*,openssl@4* --fail-if never"),
        ] {
            let piped = call_with(&command, &columns).with_code(0);
            assert!(!piped.stdout.contains(ESCAPE));
            fits(&piped.stdout, width);
        }
        let command = format!(
            "stty rows 40 cols {width}; ciphermark show {record} -a 'aes-128-*' --color never"
        );
        fits(&in_terminal(&command).with_code(0).stdout, width);
    }
}
