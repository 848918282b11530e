//! The program about itself: version, help, completions, manual pages.

use crate::support::*;
use std::io::Write as _;
use std::process::{Command, Stdio};

#[rustfmt::skip]
const COMMANDS: [&str; 23] = [
    "run", "list", "verify", "leaks", "once", "show", "import", "advise", "claims", "explain", "report", "rank", "compare",
    "archive", "trend",
    "pages", "pair", "tls", "quietly", "fleet", "doctor", "completions", "man",
];

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
fn help_names_every_command_and_the_exit_codes() {
    let help = printed(&["--help"]);
    COMMANDS.iter().for_each(|command| assert!(help.contains(command), "{command}: {help}"));
    assert!(help.contains("Exit codes"), "{help}");
    assert!(help.contains("\n  CIPHERMARK_CACHE           where "), "{help}");
}

#[test]
fn the_help_of_every_command_has_an_example() {
    for command in COMMANDS {
        let help = printed(&[command, "--help"]);
        assert!(help.contains("Example"), "{help}");
        let example = format!("ciphermark {command}");
        let (_, examples) = help.split_once("Example").unwrap();
        assert!(examples.contains(&example), "{help}");
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
        COMMANDS.iter().for_each(|command| assert!(script.contains(command), "{shell}: {command}"));
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
    let path = directory.path().join("completions");
    std::fs::write(&path, format!("{script}\n{ask}\n")).unwrap();
    let output = Command::new("bash").arg(&path).output().unwrap();
    assert_eq!(String::from_utf8_lossy(&output.stdout).trim(), "run", "{output:?}");
}

#[test]
fn there_is_a_manual_page_for_every_command() {
    let page = printed(&["man"]);
    assert!(page.contains(".TH ciphermark 1"), "{page}");
    let directory = scratch();
    assert_eq!(printed(&["man", arg(directory.path())]), "");
    for command in COMMANDS {
        let file = directory.path().join(format!("ciphermark-{command}.1"));
        let page = std::fs::read_to_string(&file).unwrap();
        assert!(page.contains(&format!(".TH ciphermark-{command} 1")), "{page}");
    }
    let whole = std::fs::read_to_string(directory.path().join("ciphermark.1")).unwrap();
    assert!(whole.contains("Exit codes"), "{whole}");
}
