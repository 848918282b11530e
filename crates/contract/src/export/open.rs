//! Opening: the C struct read, the reason written.

use crate::export::cipher::{self, Mode, Streaming};
use crate::export::digest::{self, Digest, StreamingDigest};
use crate::export::pointers::{Bytes, slice};
use crate::export::{OpenError, raw};
use base::model::Direction;
use std::ffi::{CStr, c_char};

/// What is to be opened.
#[derive(Debug)]
pub struct Wanted<'a> {
    /// ciphermark's name of it.
    pub algorithm: &'a str,
    /// In which direction.
    pub direction: Direction,
    /// Key; empty for digests.
    pub key: &'a [u8],
    nonce_len: usize,
    tag_len: usize,
}

/// A session, or why there is none.
pub type Opened = Result<raw::Session, OpenError>;

impl Wanted<'_> {
    /// The key, if it has the length that the type says.
    ///
    /// # Errors
    /// When it has not.
    pub fn key_of<const N: usize>(&self) -> Result<[u8; N], OpenError> {
        self.key.try_into().map_err(|_| self.no_such_key())
    }

    /// The library does not take a key of this length.
    #[must_use]
    pub fn no_such_key(&self) -> OpenError {
        let Self { algorithm, key, .. } = self;
        OpenError::Unsupported(format!("{algorithm} takes no key of {} bytes", key.len()))
    }

    /// A cipher for whole messages.
    ///
    /// # Errors
    /// When the direction or the lengths that are wanted are not the mode's.
    pub fn cipher<M: Mode>(&self, mode: M) -> Opened {
        self.check_lens(M::Nonce::LEN, M::Tag::LEN)?;
        Ok(cipher::messages(mode, self.key.len(), self.decrypts()?))
    }

    /// A cipher for messages and streams.
    ///
    /// # Errors
    /// As for [`Wanted::cipher`].
    pub fn streaming_cipher<M: Streaming>(&self, mode: M) -> Opened {
        self.check_lens(M::Nonce::LEN, M::Tag::LEN)?;
        Ok(cipher::messages_and_streams(mode, self.key.len(), self.decrypts()?))
    }

    /// A digest or MAC for whole messages.
    ///
    /// # Errors
    /// As for [`Wanted::cipher`].
    pub fn digest<D: Digest>(&self, digest: D) -> Opened {
        self.check_digest::<D>()?;
        Ok(digest::messages(digest, self.key.len()))
    }

    /// A digest or MAC for messages, whole and in pieces.
    ///
    /// # Errors
    /// As for [`Wanted::cipher`].
    pub fn streaming_digest<D: StreamingDigest>(&self, digest: D) -> Opened {
        self.check_digest::<D>()?;
        Ok(digest::messages_and_pieces(digest, self.key.len()))
    }

    /// What moves the message or does nothing with it; whoever fills the session in keeps the
    /// header's rules.
    ///
    /// # Errors
    /// When the direction is another.
    pub fn copy(&self, session: raw::Session) -> Opened {
        match self.direction {
            Direction::Copy => Ok(session),
            _ => Err(self.no_such_direction()),
        }
    }

    fn decrypts(&self) -> Result<bool, OpenError> {
        match self.direction {
            Direction::Encrypt => Ok(false),
            Direction::Decrypt => Ok(true),
            _ => Err(self.no_such_direction()),
        }
    }

    fn check_digest<D: Digest>(&self) -> Result<(), OpenError> {
        match self.direction {
            Direction::Digest => self.check_lens(D::Nonce::LEN, D::Tag::LEN),
            _ => Err(self.no_such_direction()),
        }
    }

    fn no_such_direction(&self) -> OpenError {
        OpenError::Unsupported(format!("{} has no direction {}", self.algorithm, self.direction))
    }

    fn check_lens(&self, nonce_len: usize, tag_len: usize) -> Result<(), OpenError> {
        if (self.nonce_len, self.tag_len) == (nonce_len, tag_len) {
            return Ok(());
        }
        Err(OpenError::Unsupported(format!(
            "{} is attached with nonces of {nonce_len} and tags of {tag_len} bytes, not {} and {}",
            self.algorithm, self.nonce_len, self.tag_len,
        )))
    }
}

/// `cm_adapter.open` over a function in safe code.
///
/// # Safety
/// As `include/ciphermark.h` says: every pointer is valid for what it points to, that of `why` for
/// the length beside it.
pub unsafe fn open(
    request: *const raw::Request,
    session: *mut raw::Session,
    (why, why_len): (*mut c_char, usize),
    opened: fn(&Wanted<'_>) -> Opened,
) -> i32 {
    // SAFETY: the caller's.
    let wanted = unsafe { wanted(&*request) };
    let (code, reason) = match wanted.and_then(|wanted| opened(&wanted)) {
        Ok(opened) => {
            // SAFETY: the caller's; the old value, if it is one, is plain data.
            unsafe { session.write(opened) };
            return raw::OK;
        }
        Err(OpenError::Unsupported(reason)) => (raw::UNSUPPORTED, reason),
        Err(OpenError::Failed(reason)) => (raw::FAILED, reason),
    };
    // SAFETY: the caller's.
    unsafe { tell(&reason, why, why_len) };
    code
}

/// # Safety
/// The request's pointers are valid for their lengths.
unsafe fn wanted(request: &raw::Request) -> Result<Wanted<'_>, OpenError> {
    // SAFETY: the name is NUL-terminated.
    let algorithm = unsafe { CStr::from_ptr(request.algorithm) };
    let directions = [Direction::Encrypt, Direction::Decrypt, Direction::Digest, Direction::Copy];
    let direction = directions.into_iter().find(|d| raw::direction_number(*d) == request.direction);
    Ok(Wanted {
        algorithm: algorithm
            .to_str()
            .map_err(|_| OpenError::Unsupported("the algorithm's name is not UTF-8".to_owned()))?,
        direction: direction.ok_or_else(|| {
            OpenError::Unsupported(format!("there is no direction {}", request.direction))
        })?,
        // SAFETY: the key covers its length.
        key: unsafe { slice(request.key, request.key_len) },
        nonce_len: request.nonce_len,
        tag_len: request.tag_len,
    })
}

/// Writes as much of the reason as there is room for, NUL-terminated.
///
/// # Safety
/// `why` is valid for `why_len` bytes.
unsafe fn tell(reason: &str, why: *mut c_char, why_len: usize) {
    let Some(room) = why_len.checked_sub(1) else { return };
    let len = reason.len().min(room);
    // SAFETY: the caller's; `len` bytes and the NUL fit.
    unsafe {
        std::ptr::copy_nonoverlapping(reason.as_ptr().cast(), why, len);
        why.add(len).write(0);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_reason_is_cut_to_the_room_there_is() {
        for (room, expected) in [(0, "......"), (1, "\0....."), (3, "ab\0..."), (6, "abcd\0.")] {
            let mut why = *b"......";
            // SAFETY: `room` is at most the array's length.
            unsafe { tell("abcd", why.as_mut_ptr().cast(), room) };
            assert_eq!(why, expected.as_bytes(), "{room} bytes");
        }
    }

    /// Opens nothing and says what it was asked for.
    fn told(request: &raw::Request, opened: fn(&Wanted<'_>) -> Opened) -> (i32, String) {
        let mut session = raw::Session::empty();
        let mut why = [0_u8; 100];
        let room = (why.as_mut_ptr().cast(), why.len());
        // SAFETY: every pointer covers the length beside it.
        let code = unsafe { open(&raw const *request, &raw mut session, room, opened) };
        (code, CStr::from_bytes_until_nul(&why).unwrap().to_str().unwrap().to_owned())
    }

    fn request(direction: u32) -> raw::Request {
        raw::Request {
            algorithm: c"memcpy".as_ptr(),
            direction,
            key: std::ptr::null(),
            key_len: 0,
            nonce_len: 0,
            tag_len: 0,
        }
    }

    #[test]
    fn what_is_wanted_is_read_and_the_reason_and_its_code_are_told() {
        let (code, why) = told(&request(2), |w| Err(OpenError::Failed(format!("{w:?}"))));
        assert_eq!(code, raw::FAILED);
        assert!(why.contains("\"memcpy\", direction: Digest, key: []"), "{why}");
    }

    #[test]
    fn a_direction_that_does_not_exist_or_does_not_fit_is_unsupported() {
        let copy: fn(&Wanted<'_>) -> Opened = |w| w.copy(raw::Session::empty());
        assert_eq!(told(&request(3), copy), (raw::OK, String::new()));
        assert_eq!(
            told(&request(0), copy),
            (raw::UNSUPPORTED, "memcpy has no direction encrypt".to_owned())
        );
        let nine = (raw::UNSUPPORTED, "there is no direction 9".to_owned());
        assert_eq!(told(&request(9), copy), nine);
    }
}
