//! What `openssl speed` printed, as rows.

use super::Row;
use super::openssl_speed::{NotSpeed, read};
use base::model::{Direction, Model, Tier};

/// What the output of `openssl speed` does not say.
#[derive(Clone, Debug, PartialEq, Eq)]
pub struct SpeedSource {
    /// Name of the library: `openssl` unless it was another's `openssl speed`.
    pub library: String,
    /// Its version; `None` takes the one that the output names.
    pub version: Option<String>,
    /// Whether it was called with `-decrypt`.
    pub decrypt: bool,
    /// Which CPU instructions it could see (`OPENSSL_ia32cap`).
    pub tier: Tier,
}

/// The figures of one run of `openssl speed`: the model is `stream`, which is what it measures.
///
/// # Errors
/// [`NotSpeed`], one line.
pub fn rows_of_speed(text: &str, source: &SpeedSource) -> Result<Vec<Row>, NotSpeed> {
    let output = read(text)?;
    let version = source.version.clone().or(output.version).unwrap_or_default();
    let infinite = &output.infinite;
    let row = |figure: super::openssl_speed::Figure| {
        let usual = Row::usual_direction(&figure.name);
        let turned = source.decrypt && usual == Direction::Encrypt;
        Row {
            label: String::new(),
            library: source.library.clone(),
            version: version.clone(),
            remarks: without_time(infinite, &figure.name).into_iter().collect(),
            algorithm: figure.name,
            direction: if turned { Direction::Decrypt } else { usual },
            model: Model::Stream,
            tier: source.tier,
            size: Some(figure.size),
            threads: figure.processes,
            mb_per_s: figure.bytes_per_second / 1e6,
            cycles_per_byte: None,
            instructions_per_byte: None,
            doubt: figure.doubt,
        }
    };
    Ok(output.figures.into_iter().map(row).collect())
}

/// At which sizes the program printed an infinite speed.
fn without_time(infinite: &[(String, usize)], algorithm: &str) -> Option<String> {
    let own = infinite.iter().filter(|(name, _)| name == algorithm);
    let sizes: Vec<String> = own.map(|(_, size)| size.to_string()).collect();
    (!sizes.is_empty()).then(|| {
        format!("figures left out: openssl speed counted no CPU time at {} bytes", sizes.join(", "))
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ciphers_get_the_direction_that_is_said_and_digests_their_own() {
        let text = "+H:64\n+F:25:AES-128-GCM:878209190.00\n+F:2:sha256:146854270.00\n";
        let source = SpeedSource {
            library: "openssl".to_owned(),
            version: Some("1.0.1".to_owned()),
            decrypt: true,
            tier: Tier::Noaes,
        };
        let rows = rows_of_speed(text, &source).unwrap();
        assert_eq!(rows[0].direction, Direction::Decrypt);
        assert_eq!(rows[1].direction, Direction::Digest);
        assert_eq!((rows[0].tier, rows[0].model), (Tier::Noaes, Model::Stream));
        assert!((rows[0].mb_per_s - 878.20919).abs() < 1e-9);
        assert_eq!(rows[0].version, "1.0.1");
    }

    #[test]
    fn figures_that_the_program_could_not_compute_are_named_beside_the_others_of_the_algorithm() {
        let text = "type     16 bytes     64 bytes    256 bytes\nmd5     10.00k     infk    infk\n\
            sha1     10.00k     20.00k    30.00k\n";
        let source = SpeedSource {
            library: "openssl".to_owned(),
            version: None,
            decrypt: false,
            tier: Tier::Native,
        };
        let rows = rows_of_speed(text, &source).unwrap();
        let said = "figures left out: openssl speed counted no CPU time at 64, 256 bytes";
        assert_eq!((rows.len(), &rows[0].remarks[..]), (4, &[said.to_owned()][..]));
        assert!(rows[1..].iter().all(|row| row.remarks.is_empty()));
    }
}
