//! `watch -p`: programs that know how much of their own CPU time a cipher took are sampled; what the samples say lies
//! within the error that they state, and three times that.

use crate::support::*;
use serde_json::Value;
use std::io::{BufRead as _, BufReader, Read as _, Write as _};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};

/// Waits for a line, then alternates between AES and other work until both took their part of its CPU time, and prints
/// the seconds of AES and of all.
const IN_C: &str = r#"
#include <immintrin.h>
#include <stdint.h>
#include <stdio.h>
#include <time.h>
#include <unistd.h>
static double now(void) { struct timespec t; clock_gettime(CLOCK_THREAD_CPUTIME_ID, &t); return t.tv_sec + t.tv_nsec / 1e9; }
static WHERE __m128i cipher(__m128i x, const __m128i *keys, long n) {
    for (long i = 0; i < n; i++) {
        for (int r = 0; r < 9; r++) x = _mm_aesenc_si128(x, keys[r]);
        x = _mm_aesenclast_si128(x, keys[9]);
    }
    return x;
}
static WHERE uint64_t other(uint64_t x, long n) {
    for (long i = 0; i < n; i++) { x = x * 6364136223846793005u + 1442695040888963407u; if (x & 4) x += 3; }
    return x;
}
int main(int argc, char **argv) {
    (void)argv;
    char line[9];
    if (read(0, line, 1) != 1) return 1;
    __m128i keys[10], x = _mm_set1_epi32(argc);
    for (int i = 0; i < 10; i++) keys[i] = _mm_set1_epi32(i * 77 + argc);
    uint64_t y = argc, draw = 7;
    double aes = 0, rest = 0, begin = now();
    while (aes + rest < 1.5) {
        // Lengths are drawn: equal ones would keep step with the samples.
        long n = (draw = draw * 6364136223846793005u + 1442695040888963407u) >> 50;
        double t = now();
        if (aes * 7 <= rest * 3) { x = cipher(x, keys, 1 + n); aes += now() - t; } else { y = other(y, 1 + 20 * n); rest += now() - t; }
    }
    volatile uint64_t kept = y + _mm_cvtsi128_si32(x); (void)kept;
    printf("%f %f\n", aes, now() - begin);
    return 0;
}
"#;

const IN_GO: &str = r#"
package main
import ("crypto/aes"; "crypto/cipher"; "fmt"; "os"; "runtime"; "runtime/debug"; "syscall"; "unsafe")
func now() float64 {
	var t syscall.Timespec
	syscall.Syscall(syscall.SYS_CLOCK_GETTIME, 3, uintptr(unsafe.Pointer(&t)), 0)
	return float64(t.Sec) + float64(t.Nsec)/1e9
}
func main() {
	runtime.GOMAXPROCS(1); debug.SetGCPercent(-1); runtime.LockOSThread()
	os.Stdin.Read(make([]byte, 1))
	block, _ := aes.NewCipher(make([]byte, 16))
	gcm, _ := cipher.NewGCM(block)
	data, nonce := make([]byte, 65536), make([]byte, 12)
	out := make([]byte, 0, 65536+16)
	var x, draw uint64 = 1, 7
	var aes, rest float64
	begin := now()
	for aes+rest < 1.5 {
		draw = draw*6364136223846793005 + 1442695040888963407
		n := int(draw >> 60)
		t := now()
		if aes <= rest { for i := 0; i <= n; i++ { out = gcm.Seal(out[:0], nonce, data, nil) }; aes += now() - t } else {
			for i := 0; i < 10000*(n+1); i++ { x = x*6364136223846793005 + 1442695040888963407; if x&4 != 0 { x += 3 } }
			rest += now() - t
		}
	}
	if x == 0 { fmt.Println(out[0]) }
	fmt.Println(aes, now()-begin)
}
"#;

const IN_NODE: &str = r#"
const c = require('crypto'), fs = require('fs');
fs.readSync(0, Buffer.alloc(1));
const now = () => { const u = process.cpuUsage(); return (u.user + u.system) / 1e6; };
const data = Buffer.alloc(1 << 20), e = c.createCipheriv('aes-128-ctr', Buffer.alloc(16), Buffer.alloc(16));
let aes = 0, rest = 0, x = 1; const begin = now();
while (aes + rest < 1.5) {
  const t = now();
  if (aes <= rest) { for (let i = 0; i < 20; i++) e.update(data); aes += now() - t; }
  else { for (let i = 0; i < 3e6; i++) x = (x * 1103515245 + 12345) & 0x7fffffff; rest += now() - t; }
}
if (x === -1) console.log(x);
console.log(aes, now() - begin);
"#;

/// A program, what it says of itself, and what `watch` said of it.
struct Watched {
    /// The cipher's part of its CPU time.
    own: f64,
    said: Value,
}

impl Watched {
    fn share(&self) -> (f64, f64) {
        let samples = number(&self.said, "samples");
        let crypto: f64 =
            rows(&self.said, "files").iter().map(|f| number(f, "crypto_samples")).sum();
        let share = base::analysis::SampledShare::of(crypto as u64, samples as u64);
        (share.fraction, share.half_width())
    }
}

/// The error that is allowed: three times the stated one, because one in twenty may be beyond it.
const TIMES: f64 = 3.0;

/// Starts a program, watches it, lets it run. `None` where the machine allows no sampling.
fn watched(mut command: Command) -> Option<Watched> {
    let mut child = command.stdin(Stdio::piped()).stdout(Stdio::piped()).spawn().unwrap();
    let said = watch(&mut child, &["--json"]);
    let mut own = String::new();
    child.stdout.take().unwrap().read_to_string(&mut own).unwrap();
    assert!(child.wait().unwrap().success());
    let (cipher, all) = own.trim().split_once(' ').unwrap();
    let own = cipher.parse::<f64>().unwrap() / all.parse::<f64>().unwrap();
    Some(Watched { own, said: said? })
}

/// Runs `watch` beside a child, which waits for a line until it is watched, to the child's end.
fn watch(child: &mut Child, flags: &[&str]) -> Option<Value> {
    let pid = child.id().to_string();
    let mut command = Command::new(program());
    command.args(["watch", "-p", &pid]).args(flags);
    let mut watch = command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn().unwrap();
    let mut said = String::new();
    let mut stderr = BufReader::new(watch.stderr.take().unwrap());
    stderr.read_line(&mut said).unwrap();
    child.stdin.take().unwrap().write_all(b"\n").unwrap();
    if said.contains("perf_event") || said.contains("root only") {
        eprintln!("skipped: {said}");
        watch.wait().unwrap();
        return None;
    }
    assert_eq!(said, format!("watching process {pid} until it ends; Ctrl-C ends it before\n"));
    let mut text = String::new();
    watch.stdout.take().unwrap().read_to_string(&mut text).unwrap();
    assert!(watch.wait().unwrap().success());
    Some(serde_json::from_str(&text).unwrap())
}

fn compiled(at: &Path, flags: &[&str]) -> PathBuf {
    let (source, object) = (at.join("it.c"), at.join("it"));
    std::fs::write(&source, IN_C).unwrap();
    let mut compiler = Command::new("cc");
    compiler.args(["-O2", "-maes"]).args(flags).arg("-o").arg(&object).arg(&source);
    assert!(compiler.status().unwrap().success());
    object
}

/// With symbols; stripped and static; and all in one function, where only loops tell the cipher from the rest.
#[test]
#[ignore = "long: samples programs for seconds"]
#[cfg(target_arch = "x86_64")]
fn the_share_of_a_cipher_is_what_the_program_itself_counted_with_and_without_symbols() {
    let scratch = scratch();
    const APART: &str = "-DWHERE=__attribute__((noinline))";
    const WITHIN: &str = "-DWHERE=inline __attribute__((always_inline))";
    for flags in [&[APART][..], &[APART, "-static", "-s"], &[WITHIN, "-s"]] {
        let Some(seen) = watched(Command::new(compiled(scratch.path(), flags))) else { return };
        let (share, half) = seen.share();
        assert!(
            (share - seen.own).abs() < TIMES * half + 0.01,
            "{flags:?}: {share} ±{half}, {}",
            seen.own
        );
        let parts = &seen.said["parts"];
        let sum = number(parts, "by_calls")
            + number(&parts["by_samples_only"], "fraction")
            + number(parts, "other");
        assert!((sum - 1.0).abs() < 1e-9, "{parts}");
        let kinds = rows(&seen.said, "kinds");
        assert_eq!(text(&kinds[0], "kind"), "AES");
        assert_eq!(number(&seen.said, "lost"), 0.0);
    }
}

fn is_here(program: &str) -> bool {
    let found =
        Command::new(program).arg("--version").stdout(Stdio::null()).stderr(Stdio::null()).status();
    let found = found.is_ok();
    if !found {
        eprintln!("skipped: {program} is not here");
    }
    found
}

/// Its cipher is called by nobody's library. Beside AES and GHASH there is little else in a long message.
#[test]
#[ignore = "long: samples programs for seconds"]
fn a_go_program_is_seen_with_and_without_its_symbols() {
    if !is_here("go") {
        return;
    }
    let scratch = scratch();
    std::fs::write(scratch.path().join("it.go"), IN_GO).unwrap();
    for flags in ["", "-s -w"] {
        let mut build = Command::new("go");
        build
            .current_dir(scratch.path())
            .env("GOFLAGS", "-mod=mod")
            .env("GOCACHE", scratch.path().join("cache"));
        let built = build.args(["build", "-ldflags", flags, "-o", "it", "it.go"]).status().unwrap();
        assert!(built.success());
        let Some(seen) = watched(Command::new(scratch.path().join("it"))) else { return };
        let (share, half) = seen.share();
        assert!(share < seen.own + TIMES * half + 0.01, "{share} ±{half}, {}", seen.own);
        assert!(share > 0.85 * seen.own - TIMES * half, "{share} ±{half}, {}", seen.own);
        let file = &rows(&seen.said, "files")[0];
        assert!(text(file, "version").starts_with("Go 1."), "{file}");
        let functions = rows(&seen.said, "functions");
        let named = functions.iter().any(|f| text(f, "function").contains("gcmAes"));
        assert!(named, "Go's own table has names without symbols, too: {functions:?}");
    }
}

/// OpenSSL is within the program, and JavaScript in no file. Glue around the cipher is not recognised.
#[test]
#[ignore = "long: samples programs for seconds"]
fn a_node_program_is_seen_and_what_it_made_while_it_ran_is_named() {
    if !is_here("node") {
        return;
    }
    let mut node = Command::new("node");
    node.args(["-e", IN_NODE]);
    let Some(seen) = watched(node) else { return };
    let (share, half) = seen.share();
    assert!(share < seen.own + TIMES * half + 0.01, "{share} ±{half}, {}", seen.own);
    // Of what the calls cost, most is memory that the kernel hands out for each answer.
    assert!(share > 0.02, "{share} ±{half}, {}", seen.own);
    let unseen = rows(&seen.said, "unseen");
    let says = |why: &Value| why.as_str().unwrap().contains("made while it ran");
    assert!(unseen.iter().any(says), "{unseen:?}");
}

#[test]
fn what_cannot_be_watched_is_said_in_a_line() {
    refuses("watch -p 0", &["-p"]);
    let done = call("watch -p 2147483647");
    assert_eq!(done.code, 4);
    assert_eq!(done.only_line_on_stderr(), "ciphermark: there is no process 2147483647");
}
