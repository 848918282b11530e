//! `ciphermark run` and `ciphermark show`.

use super::Filter;
use base::text::units::{parse_duration, parse_fraction};
use clap::{Args, ValueEnum};
use std::path::PathBuf;
use std::time::Duration;

/// `ciphermark run`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark run                                   the quick suite, about a minute\n  \
    ciphermark run -a 'aes-256-*' -s 4K,8K,16K       database pages\n  \
    ciphermark run -l openssl -m stream -s 8192      what `openssl speed -evp` measures\n  \
    ciphermark run -l openssl -t native,noaes        with and without AES instructions\n  \
    ciphermark run -l openssl -t 'sandybridge,zen*'  with what other machines have\n  \
    ciphermark run -l a=old/libcrypto.so -l b=new/libcrypto.so -o ab.json\n  \
    ciphermark run -m message,rekey -s 16..64K       what a new key for each message costs\n  \
    ciphermark run -a 'aes-256-gcm' -m forgery       what rejecting a forgery costs\n  \
    ciphermark run --footprint hot,l2,l3,memory      warm and cold buffers\n  \
    ciphermark run --threads 1,2,4 --footprint memory -s 16K     up to the memory wall\n  \
    ciphermark run --latency -s 16,1K                p50, p99 and p99.9 of single operations\n  \
    ciphermark run --precision 0.5% --budget 5m --format csv > out.csv\n  \
    ciphermark run --resume long.json                resume an interrupted run")]
pub struct RunArgs {
    /// Which cases; the suite supplies what is not given.
    #[command(flatten)]
    pub filter: Filter,
    /// A suite by name (see `ciphermark list suites`) or a TOML file.
    #[arg(long, value_name = "NAME|FILE", default_value = "quick")]
    pub suite: String,
    /// Stop measuring a case once its interval's half-width is at most this.
    #[arg(long, value_parser = parse_fraction, allow_hyphen_values = true, value_name = "PERCENT")]
    pub precision: Option<f64>,
    /// Measure for at most this long.
    #[arg(long, value_parser = parse_duration, allow_hyphen_values = true, value_name = "TIME")]
    pub budget: Option<Duration>,
    /// Do not count instructions; tiers are then not checked.
    #[arg(long)]
    pub no_evidence: bool,
    /// Also time single operations and show percentiles of their latency.
    #[arg(long)]
    pub latency: bool,
    /// Seed for keys, messages and the order of cases [default: random, and recorded].
    #[arg(long, value_name = "N")]
    pub seed: Option<u64>,
    /// Write the record to this file (JSON).
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
    /// Resume an interrupted or killed run and write its record to the same file.
    #[arg(long, value_name = "FILE", conflicts_with_all = ["output", "algorithm", "library", "size", "direction", "model", "tier", "footprint", "threads", "in_place", "latency", "seed", "precision"])]
    pub resume: Option<PathBuf>,
    /// What to print on standard output.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: FormatArg,
    /// Print the whole table, however long, instead of the answer in a screen.
    #[arg(long)]
    pub all: bool,
    /// No progress bar and no remarks on standard error.
    #[arg(short, long)]
    pub quiet: bool,
}

/// `ciphermark show`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  ciphermark show run.json -a '*gcm' -s 8192\n  \
    ciphermark show run.json --format csv > run.csv\n  \
    ciphermark show run.json --leaks -l 'wolfssl*'\n  \
    ciphermark export run.json --format parquet -o run.parquet\n  \
    ciphermark export run.json -l openssl -m stream -d encrypt --format openssl-mr\n  \
    ciphermark export run.json --format bencher -o bencher.json    for `bencher run --adapter json`")]
pub struct ShowArgs {
    /// A record: what `run`, `tls …` or `pages` wrote with -o.
    pub record: PathBuf,
    /// Which rows.
    #[command(flatten)]
    pub filter: Filter,
    /// Show what depends on secrets instead: each place, by library and tier.
    #[arg(long)]
    pub leaks: bool,
    /// What to print.
    #[arg(long, value_name = "FORMAT", default_value = "table")]
    pub format: FormatArg,
    /// Write it to this file instead of standard output.
    #[arg(short, long, value_name = "FILE")]
    pub output: Option<PathBuf>,
}

/// `--format`
#[derive(Clone, Copy, Debug, ValueEnum)]
pub enum FormatArg {
    /// Ranked table.
    Table,
    /// The whole record.
    Json,
    /// One measurement a line.
    Jsonl,
    /// One measurement a row, without raw samples.
    Csv,
    /// Ranked table in Markdown.
    Markdown,
    /// The format of `openssl speed`.
    Openssl,
    /// The format of `openssl speed -mr`, for programs that parse it.
    OpensslMr,
    /// Bencher Metric Format.
    Bencher,
    /// What github-action-benchmark reads as customSmallerIsBetter.
    Gha,
    /// LNT's report, format version 2.
    Lnt,
    /// The columns of the CSV with types and units, for pandas, DuckDB and others.
    Parquet,
}
