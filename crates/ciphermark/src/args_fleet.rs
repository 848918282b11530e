//! `ciphermark fleet`.

use base::text::units::parse_duration;
use clap::{Args, Subcommand};
use std::path::PathBuf;
use std::time::Duration;

/// `ciphermark fleet`
#[derive(Debug, Args)]
#[command(after_help = "Examples:\n  \
    ciphermark fleet plan fleet.toml             print what would be submitted, one job for each machine type\n  \
    ciphermark fleet run fleet.toml              submit it with sbatch or kubectl\n  \
    ciphermark fleet status fleet.toml           one line for each type\n  \
    ciphermark fleet gather fleet.toml --wait 2h     bring the records here, checked\n  \
    ciphermark fleet cancel fleet.toml\n\n\
    A file (docs/FLEET.md has every field):\n  \
    survey = \"2026-12\"\n  \
    engine = \"slurm\"                 # or \"kubernetes\"\n  \
    arguments = [\"--suite\", \"quick\"]  # of `ciphermark run`\n  \
    [slurm]\n  \
    program = \"/usr/bin/ciphermark\"\n  \
    [[machine]]\n  \
    type = \"c7i.large\"\n\n\
    The state (seeds, job ids, hashes) is in FLEET.state.json beside the file, or where --state says.\n\n\
    Exit codes: 0 success; 1 a job failed, was refused, or brought a record that is doubtful; 2 wrong\n\
    usage; 4 the scheduler could not be asked.")]
pub struct FleetArgs {
    #[command(subcommand)]
    pub command: FleetCommand,
}

/// `ciphermark fleet …`
#[derive(Debug, Subcommand)]
pub enum FleetCommand {
    /// Print or write the scripts or manifests of every machine type; nothing is submitted.
    Plan(PlanArgs),
    /// Submit a job for every machine type that has none, or whose last one failed.
    Run(FileArgs),
    /// Say how far each machine type's job is.
    Status(FileArgs),
    /// Bring finished records here, whole, and check them.
    Gather(GatherArgs),
    /// Cancel every job that is not gathered.
    Cancel(FileArgs),
}

/// Which survey.
#[derive(Debug, Args)]
pub struct FileArgs {
    /// The survey.
    #[arg(value_name = "FLEET.toml")]
    pub file: PathBuf,
    /// Keep the state in this file.
    #[arg(short = 'o', long, value_name = "FILE")]
    pub state: Option<PathBuf>,
}

/// `ciphermark fleet plan`
#[derive(Debug, Args)]
pub struct PlanArgs {
    /// The survey.
    #[arg(value_name = "FLEET.toml")]
    pub file: PathBuf,
    /// Write a file for each machine type into this directory.
    #[arg(short, long, value_name = "DIR")]
    pub output: Option<PathBuf>,
    /// The seed in what is printed; `run` draws one for each job.
    #[arg(long, value_name = "N", default_value_t = 0)]
    pub seed: u64,
}

/// `ciphermark fleet gather`
#[derive(Debug, Args)]
pub struct GatherArgs {
    /// Which survey.
    #[command(flatten)]
    pub file: FileArgs,
    /// Wait for jobs that are not done, at most this long.
    #[arg(long, value_name = "TIME", value_parser = parse_duration)]
    pub wait: Option<Duration>,
    /// Sign each record's manifest with this SSH key [default: `key` of the file, if any].
    #[arg(long, value_name = "FILE")]
    pub key: Option<PathBuf>,
}
