//! Flags of `ciphermark advise --for postgres --from`.

use clap::Args;

/// What encryption would cost a running server.
#[derive(Debug, Args)]
#[command(next_help_heading = "For postgres")]
pub struct PostgresArgs {
    /// Predict what encryption would take of this server's CPU: a connection string for psql
    /// ('host=/run/postgresql dbname=postgres'), or two snapshots FIRST,SECOND (docs/AT-REST.md has the
    /// query that takes one).
    #[arg(long, value_name = "CONNECTION|FIRST,SECOND")]
    pub from: Option<String>,
    /// Seconds between the two snapshots that --from takes of a connection [default: 60s].
    #[arg(long, value_name = "TIME", value_parser = base::text::units::parse_duration, requires = "from")]
    pub interval: Option<std::time::Duration>,
}
