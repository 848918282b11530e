//! Bytes as they stand in the page: packed by gzip, in base64, which browsers unpack.

use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use flate2::Compression;
use flate2::write::GzEncoder;
use serde::Serialize;
use sha2::{Digest as _, Sha256};
use std::io::{self, Write as _};

/// Bytes by gzip, in base64.
///
/// # Errors
/// None in practice: the encoder writes to memory.
pub(crate) fn packed(bytes: &[u8]) -> io::Result<String> {
    let mut encoder = GzEncoder::new(Vec::new(), Compression::best());
    encoder.write_all(bytes)?;
    Ok(STANDARD.encode(encoder.finish()?))
}

/// As [`packed`], of the value as JSON.
pub(crate) fn packed_json(value: &impl Serialize) -> io::Result<String> {
    packed(&serde_json::to_vec(value)?)
}

/// JSON that can stand in a script element: nothing in it ends the element or begins a comment
/// (HTML Standard §4.12.1.3).
pub(crate) fn script_json(value: &impl Serialize) -> io::Result<String> {
    Ok(serde_json::to_string(value)?.replace('<', "\\u003c"))
}

/// The source expression that lets one inline script or style run and no other
/// (Content Security Policy Level 3 §2.3.1).
pub(crate) fn csp_hash(text: &str) -> String {
    format!("'sha256-{}'", STANDARD.encode(Sha256::digest(text.as_bytes())))
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::Read as _;

    #[test]
    fn what_is_packed_comes_back() {
        let bytes = STANDARD.decode(packed(b"many bytes, many bytes").unwrap()).unwrap();
        let mut text = String::new();
        flate2::read::GzDecoder::new(bytes.as_slice()).read_to_string(&mut text).unwrap();
        assert_eq!(text, "many bytes, many bytes");
    }

    #[test]
    fn json_cannot_end_its_script_element() {
        let json = script_json(&["</script><!--"]).unwrap();
        assert!(!json.contains('<'), "{json}");
        assert_eq!(serde_json::from_str::<Vec<String>>(&json).unwrap(), ["</script><!--"]);
    }

    #[test]
    fn a_hash_is_that_of_the_standards_example() {
        // `echo -n "alert('Hello, world.');" | openssl dgst -sha256 -binary | openssl base64`
        let hash = csp_hash("alert('Hello, world.');");
        assert_eq!(hash, "'sha256-qznLcsROx4GACP2dm0UCKCzCG+HiZ1guq6ZZDob/Tng='");
    }
}
