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
pub(crate) fn pack(path: &Path, text: String) -> io::Result<Vec<u8>> {
    if path.extension().is_none_or(|extension| extension != "gz") {
        return Ok(text.into_bytes());
    }
    let mut packed = GzEncoder::new(Vec::new(), Compression::best());
    packed.write_all(text.as_bytes())?;
    packed.finish()
}

/// A file's text, unpacked where it is packed, whatever its name.
pub(crate) fn unpack(bytes: Vec<u8>) -> io::Result<Vec<u8>> {
    if !bytes.starts_with(&MAGIC) {
        return Ok(bytes);
    }
    let mut text = Vec::new();
    MultiGzDecoder::new(bytes.as_slice()).take(MOST_BYTES + 1).read_to_end(&mut text)?;
    if text.len() as u64 > MOST_BYTES {
        return Err(io::Error::other("it unpacks to more than 1 GiB"));
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
    fn a_torn_pack_is_an_error() {
        let mut packed = pack(Path::new("r.gz"), "text ".repeat(100)).unwrap();
        packed.truncate(packed.len() - 9);
        assert!(unpack(packed).is_err());
    }
}
