//! Checksums, which find accidents and not attackers; both are written big-endian.
use contract::export::{Digest, Done, StreamingDigest};
use crc_fast::CrcAlgorithm::Crc32Iscsi;
use std::ffi::CStr;

/// XXH3 with 64 bits of output and no seed, in its canonical form: big-endian.
pub(crate) struct Xxh3;

impl Digest for Xxh3 {
    type Nonce = [u8; 0];
    type Tag = [u8; 8];
    const CALL: &'static CStr = c"xxhash_rust::xxh3::xxh3_64";

    fn digest(&mut self, _: &[u8; 0], input: &[u8]) -> Done<[u8; 8]> {
        Ok(xxhash_rust::xxh3::xxh3_64(input).to_be_bytes())
    }
}

impl StreamingDigest for Xxh3 {
    type Started = xxhash_rust::xxh3::Xxh3;

    fn start(&self) -> Self::Started {
        Self::Started::new()
    }

    fn update(started: &mut Self::Started, input: &[u8]) {
        started.update(input);
    }

    fn finish(started: Self::Started) -> [u8; 8] {
        started.digest().to_be_bytes()
    }
}

/// CRC-32C (Castagnoli), RFC 3720 appendix B.4; catalogues call it CRC-32/ISCSI.
pub(crate) struct Crc32c;

impl Digest for Crc32c {
    type Nonce = [u8; 0];
    type Tag = [u8; 4];
    const CALL: &'static CStr = c"crc_fast::crc32_iscsi";

    fn digest(&mut self, _: &[u8; 0], input: &[u8]) -> Done<[u8; 4]> {
        Ok(crc_fast::crc32_iscsi(input).to_be_bytes())
    }
}

impl StreamingDigest for Crc32c {
    type Started = crc_fast::Digest;

    fn start(&self) -> crc_fast::Digest {
        crc_fast::Digest::new(Crc32Iscsi)
    }

    fn update(started: &mut crc_fast::Digest, input: &[u8]) {
        started.update(input);
    }

    fn finish(started: crc_fast::Digest) -> [u8; 4] {
        // The crate gives every width in 64 bits.
        (started.finalize() as u32).to_be_bytes()
    }
}
