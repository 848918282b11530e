//! The tables, in SQL that both databases read, and how an older archive becomes a newer one.

use crate::archive::database::Database;

/// Each is what one version adds to the one before; the first creates everything. A published one is never changed.
pub(crate) const MIGRATIONS: &[&str] = &[include_str!("schema.sql")];

/// The last version of builds before the first release, whose rows have another layout.
const UNRELEASED: i64 = 2;

/// The version that all migrations come to.
pub(crate) fn newest(migrations: &[&str]) -> i64 {
    UNRELEASED + migrations.len() as i64
}

/// Brings the archive to the newest version, in one transaction.
pub(crate) fn migrate(db: &mut dyn Database, migrations: &[&str]) -> Result<Version, String> {
    let newest = newest(migrations);
    if version(db)? == newest {
        return Ok(Version::Known);
    }
    db.begin_writing()?;
    // Another program may have been faster.
    let found = version(db)?;
    let is_unreleased = (1..=UNRELEASED).contains(&found);
    if is_unreleased || found > newest {
        db.roll_back()?;
        return Ok(if is_unreleased { Version::Unreleased } else { Version::Newer(found) });
    }
    for migration in &migrations[(found - UNRELEASED).max(0) as usize..] {
        let sql = db.dialect(migration);
        db.batch(&sql)?;
    }
    db.run("DELETE FROM meta", &[])?;
    db.run("INSERT INTO meta (version) VALUES ($1)", &[newest.into()])?;
    db.commit()?;
    Ok(Version::Known)
}

/// What came of a migration.
#[derive(Debug, PartialEq, Eq)]
pub(crate) enum Version {
    /// The archive is of the newest version now.
    Known,
    /// It is of a version that this program does not know.
    Newer(i64),
    /// It is of a build before the first release.
    Unreleased,
}

/// 0 where there is nothing yet.
fn version(db: &mut dyn Database) -> Result<i64, String> {
    if !db.has_table("meta")? {
        return Ok(0);
    }
    db.rows("SELECT version FROM meta", &[])?.first().map_or(Ok(0), |row| row.int(0))
}
