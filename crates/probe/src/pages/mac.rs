//! Sums beside the ciphertext: MACs by the library itself where it takes a message in parts, else by
//! code that is built in; checksums always by that. The record says which.

use base::model::{Algorithm, Direction};
use contract::{Library, Outcome, Session};
use hmac::{Hmac, KeyInit as _, Mac as _};
use record::at_rest::scheme::Sum;

/// What makes a MAC.
pub(super) enum Maker {
    /// The library.
    Library(Session),
    /// `hmac` with `sha1`.
    Sha1(Hmac<sha1::Sha1>),
    /// `hmac` with `sha2`.
    Sha256(Hmac<sha2::Sha256>),
    /// `hmac` with `sha2`.
    Sha512(Hmac<sha2::Sha512>),
}

/// Bytes of a MAC's key: as long as its output (RFC 2104 §3).
pub(super) fn key_bytes(sum: Sum) -> usize {
    if sum.is_mac() { sum.bytes() } else { 0 }
}

impl Maker {
    /// For a MAC; `None` for a checksum.
    pub(super) fn open(library: &'static dyn Library, sum: Sum, key: &[u8]) -> Option<Self> {
        if !sum.is_mac() {
            return None;
        }
        let own = Algorithm::find(sum.name()).ok().and_then(|algorithm| {
            let session = library.open(algorithm, Direction::Digest, key).ok()?;
            session.has_parts().then_some(Self::Library(session))
        });
        own.or_else(|| Self::built_in(sum, key))
    }

    fn built_in(sum: Sum, key: &[u8]) -> Option<Self> {
        match sum {
            Sum::HmacSha1 => Hmac::new_from_slice(key).ok().map(Self::Sha1),
            Sum::HmacSha256 => Hmac::new_from_slice(key).ok().map(Self::Sha256),
            Sum::HmacSha512 => Hmac::new_from_slice(key).ok().map(Self::Sha512),
            Sum::Xxh3 | Sum::Crc32c => None,
        }
    }

    /// The same maker under another key.
    pub(super) fn rekeyed(
        self,
        library: &'static dyn Library,
        sum: Sum,
        key: &[u8],
    ) -> Option<Self> {
        match self {
            Self::Library(mut session) if session.has_rekey() => {
                (session.rekey(key) == Outcome::Done).then_some(Self::Library(session))
            }
            Self::Library(session) => {
                // Closed first: an application has one context at a time.
                drop(session);
                Self::open(library, sum, key)
            }
            _ => Self::built_in(sum, key),
        }
    }

    /// The MAC of the parts, one after the other.
    pub(super) fn tag(&mut self, parts: &[&[u8]], tag: &mut [u8]) -> Result<(), i32> {
        match self {
            Self::Library(session) => {
                done(session.start(&[]))?;
                for part in parts {
                    done(session.update_digest(part))?;
                }
                return done(session.finish(tag));
            }
            Self::Sha1(mac) => {
                tag.copy_from_slice(&fed(mac.clone(), parts).finalize().into_bytes())
            }
            Self::Sha256(mac) => {
                tag.copy_from_slice(&fed(mac.clone(), parts).finalize().into_bytes());
            }
            Self::Sha512(mac) => {
                tag.copy_from_slice(&fed(mac.clone(), parts).finalize().into_bytes());
            }
        }
        Ok(())
    }

    /// Whose code it is.
    pub(super) fn by(&self) -> &'static str {
        match self {
            Self::Library(_) => "the library",
            Self::Sha1(_) => "built in: hmac, sha1 (RustCrypto)",
            Self::Sha256(_) | Self::Sha512(_) => "built in: hmac, sha2 (RustCrypto)",
        }
    }
}

/// Whose code makes a checksum.
pub(super) fn checksum_by(sum: Sum) -> &'static str {
    match sum {
        Sum::Crc32c => "built in: crc32c",
        _ => "built in: twox-hash",
    }
}

fn fed<M: hmac::Mac>(mut mac: M, parts: &[&[u8]]) -> M {
    parts.iter().for_each(|part| mac.update(part));
    mac
}

pub(super) fn done(outcome: Outcome) -> Result<(), i32> {
    match outcome {
        Outcome::Done => Ok(()),
        Outcome::Rejected => Err(contract::raw::REJECTED),
        Outcome::Error(code) => Err(code),
    }
}

/// A checksum of the plaintext that knows the page's place, little-endian.
#[inline]
pub(super) fn checksum(sum: Sum, place: &[u8], plain: &[u8], out: &mut [u8]) {
    use twox_hash::XxHash3_64;
    match sum {
        Sum::Crc32c => {
            let crc = crc32c::crc32c_append(crc32c::crc32c(place), plain);
            out.copy_from_slice(&crc.to_le_bytes());
        }
        _ => {
            let seed = XxHash3_64::oneshot(place);
            out.copy_from_slice(&XxHash3_64::oneshot_with_seed(seed, plain).to_le_bytes());
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn parts_give_the_mac_of_the_whole() {
        for sum in [Sum::HmacSha1, Sum::HmacSha256, Sum::HmacSha512] {
            let mut mac = Maker::built_in(sum, &vec![7; key_bytes(sum)]).unwrap();
            let (mut whole, mut parts) = (vec![0; sum.bytes()], vec![0; sum.bytes()]);
            mac.tag(&[b"page and place"], &mut whole).unwrap();
            mac.tag(&[b"page ", b"and", b" place"], &mut parts).unwrap();
            assert_eq!(whole, parts);
            assert_ne!(whole, vec![0; sum.bytes()]);
        }
    }

    /// RFC 2202, test case 1 with its key; RFC 4231, test case 1 likewise.
    #[test]
    fn built_in_macs_are_those_of_the_rfcs() {
        let mut tag = [0; 20];
        Maker::built_in(Sum::HmacSha1, &[0x0b; 20]).unwrap().tag(&[b"Hi There"], &mut tag).unwrap();
        assert_eq!(hex::encode(tag), "b617318655057264e28bc0b6fb378c8ef146be00");
        let mut tag = [0; 32];
        Maker::built_in(Sum::HmacSha256, &[0x0b; 20])
            .unwrap()
            .tag(&[b"Hi There"], &mut tag)
            .unwrap();
        assert_eq!(hex::encode(&tag[..8]), "b0344c61d8db3853");
    }

    #[test]
    fn checksums_know_place_and_content() {
        let of = |sum: Sum, place: &[u8], plain: &[u8]| {
            let mut out = vec![0; sum.bytes()];
            checksum(sum, place, plain, &mut out);
            out
        };
        for sum in [Sum::Xxh3, Sum::Crc32c] {
            assert_ne!(of(sum, b"a", b"x"), of(sum, b"b", b"x"));
            assert_ne!(of(sum, b"a", b"x"), of(sum, b"a", b"y"));
        }
    }
}
