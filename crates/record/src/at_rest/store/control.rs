//! `global/pg_control`: whether a cluster was shut down, how large its pages are, whether they carry
//! checksums.
//!
//! The file's layout changes between major versions, so what is wanted is found by what does not: the
//! beginning, and the number that is there to be recognised (`ControlFileData.floatFormat`, 1234567.0,
//! src/include/catalog/pg_control.h of the `PostgreSQL` sources), with the file's CRC-32C as proof.

/// What the control file says.
#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) struct Control {
    pub(crate) system_identifier: u64,
    /// `PG_CONTROL_VERSION`
    pub(crate) version: u32,
    pub(crate) catalog: u32,
    pub(crate) state: u32,
    pub(crate) block_size: u32,
    /// Blocks in a segment file.
    pub(crate) segment_blocks: u32,
    /// `data_checksum_version`: 0 without checksums.
    pub(crate) checksums: u32,
}

/// `FLOATFORMAT_VALUE`
const FLOAT: f64 = 1_234_567.0;

/// From the end of `data_checksum_version` to the CRC: 32 bytes of `mock_authentication_nonce`, with a
/// byte and its padding before them from version 18 on, and the authentication nonce's absence never.
const TO_CRC: [usize; 2] = [32, 36];

/// `DB_SHUTDOWNED`
const SHUT_DOWN: u32 = 1;
/// `DB_SHUTDOWNED_IN_RECOVERY`: a standby that was shut down.
const SHUT_DOWN_IN_RECOVERY: u32 = 2;

impl Control {
    /// Reads it; else what is wrong, in a few words.
    pub(crate) fn parse(bytes: &[u8]) -> Result<Self, String> {
        let word =
            |at: usize| bytes.get(at..at + 4).map(|b| u32::from_le_bytes([b[0], b[1], b[2], b[3]]));
        let float = FLOAT.to_le_bytes();
        let at = (32..bytes.len().saturating_sub(8))
            .step_by(8)
            .find(|at| bytes[*at..*at + 8] == float)
            .ok_or("no control file of a known layout (of a machine of another byte order?)")?;
        let after = |offset: usize| word(at + offset).ok_or("the control file is too short");
        let end = at + 48;
        let crc_fits = TO_CRC.iter().any(|gap| {
            let crc_at = end + gap;
            word(crc_at).is_some_and(|crc| crc32c::crc32c(&bytes[..crc_at]) == crc)
        });
        if !crc_fits {
            return Err("its CRC does not fit: the control file is damaged".into());
        }
        let low = u64::from(word(0).ok_or("the control file is empty")?);
        let high = u64::from(word(4).ok_or("the control file is empty")?);
        Ok(Self {
            system_identifier: high << 32 | low,
            version: word(8).unwrap_or(0),
            catalog: word(12).unwrap_or(0),
            state: word(16).unwrap_or(0),
            block_size: after(8)?,
            segment_blocks: after(12)?,
            checksums: after(44)?,
        })
    }

    /// Whether the server was stopped in order.
    pub(crate) fn shut_down(&self) -> bool {
        matches!(self.state, SHUT_DOWN | SHUT_DOWN_IN_RECOVERY)
    }

    /// The state in `pg_controldata`'s words.
    pub(crate) fn state_name(&self) -> &'static str {
        match self.state {
            0 => "starting up",
            1 => "shut down",
            2 => "shut down in recovery",
            3 => "shutting down",
            4 => "in crash recovery",
            5 => "in archive recovery",
            6 => "in production",
            _ => "in an unknown state",
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::at_rest::store::testing::control_file;

    #[test]
    fn the_control_file_says_what_it_was_given() {
        let control = Control::parse(&control_file(1, 8192, 1)).unwrap();
        assert!(control.shut_down());
        assert_eq!((control.block_size, control.segment_blocks), (8192, 131_072));
        assert_eq!((control.checksums, control.version), (1, 1300));
        assert_eq!(control.system_identifier, 0x0102_0304_0506_0708);
        let running = Control::parse(&control_file(6, 8192, 0)).unwrap();
        assert!(!running.shut_down() && running.state_name() == "in production");
    }

    #[test]
    fn damage_is_seen_by_the_crc() {
        let mut bytes = control_file(1, 8192, 0);
        bytes[17] ^= 1;
        assert!(Control::parse(&bytes).unwrap_err().contains("CRC"));
        assert!(Control::parse(&[0; 8192]).unwrap_err().contains("layout"));
        assert!(Control::parse(&[]).is_err());
    }
}
