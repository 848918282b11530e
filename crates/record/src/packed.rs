//! Records in gzip files: a survey's raw samples take a tenth of the room.

use flate2::Compression;
use flate2::read::MultiGzDecoder;
use flate2::write::GzEncoder;
use std::io::{self, Read as _, Write as _};
use std::path::Path;

/// What every gzip file begins with (RFC 1952 §2.3.1).
const MAGIC: [u8; 2] = [0x1f, 0x8b];

/// Most bytes that are unpacked: some fifty times the largest survey, so that a few kilobytes of
/// zeroes, packed, do not fill the memory.
const MOST_BYTES: u64 = 1 << 30;

/// The text as it goes into a file of this name: packed where the name ends in `.gz`.
///
/// # Errors
/// None in practice: the encoder writes to memory.
pub fn pack(path: &Path, text: String) -> io::Result<Vec<u8>> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return Ok(text.into_bytes());
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(text.as_bytes())?;
    packed.finish()
}

/// A file's text, unpacked where it is packed, whatever its name.
pub(crate) fn unpack(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    unpack_at_most(bytes, MOST_BYTES)
}

fn unpack_at_most(bytes: Vec<u8>, most: u64) -> io::Result<Vec<u8>> {
    if !bytes.starts_with(&MAGIC) {
        return Ok(bytes);
    }
    let mut text = Vec::new();
    MultiGzDecoder::new(bytes.as_slice()).take(most + 1).read_to_end(&mut text)?;
    if text.len() as u64 > most {
        return Err(io::Error::other(format!("it is more than {} MiB unpacked", most >> 20)));
    }
    Ok(text)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_is_packed_is_unpacked_and_plain_text_stays() {
        let text = "{\"a\": 1}".repeat(1000);
        let packed = pack(Path::new("r.json.gz"), text.clone()).unwrap();
        assert!(packed.starts_with(&MAGIC) && packed.len() < 200, "{} bytes", packed.len());
        assert_eq!(unpack(packed).unwrap(), text.as_bytes());
        let plain = pack(Path::new("r.json"), text.clone()).unwrap();
        assert_eq!(plain, text.as_bytes());
        assert_eq!(unpack(plain).unwrap(), text.as_bytes());
    }

    #[test]
    fn what_unpacks_to_more_than_any_record_has_is_not_unpacked_to_its_end() {
        let zeroes = "0".repeat(5 << 20);
        let packed = pack(Path::new("r.gz"), zeroes.clone()).unwrap();
        assert!(packed.len() < 1 << 14);
        let why = unpack_at_most(packed.clone(), 1 << 20).unwrap_err().to_string();
        assert_eq!(why, "it is more than 1 MiB unpacked");
        // Several members one after the other count together.
        let twice = [packed.clone(), packed].concat();
        assert!(unpack_at_most(twice.clone(), 9 << 20).is_err());
        assert_eq!(unpack_at_most(twice, 10 << 20).unwrap().len(), 10 << 20);
    }

    #[test]
    fn a_torn_pack_is_an_error() {
        let mut packed = pack(Path::new("r.gz"), "text ".repeat(100)).unwrap();
        packed.truncate(packed.len() - 9);
        assert!(unpack(packed).is_err());
    }
}
