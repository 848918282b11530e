//! The two ways to notice damage: a checksum of the plaintext, a MAC of the ciphertext.

use contract::{Outcome, Session, raw};
use std::ptr;
use subtle::ConstantTimeEq as _;
use twox_hash::xxhash3_64::{Hasher, RawHasher, SecretBuffer};

/// Longest tag: that of HMAC-SHA-256.
const LONGEST_TAG: usize = 32;

/// What goes over the message beside the cipher. Errors are the library's codes.
pub(super) trait Check {
    /// Whether encryption checks what it reads, and decryption what it wrote (a checksum of the
    /// plaintext), or the other way round (a MAC of the ciphertext).
    const FIRST_ON_ENCRYPTION: bool;

    /// A check under way.
    type Running<'a>
    where
        Self: 'a;

    /// Begins a message.
    ///
    /// # Safety
    /// `message` is one of the header's, with a nonce of `nonce_len` bytes.
    unsafe fn begin(
        &mut self,
        message: &raw::Message,
        nonce_len: usize,
    ) -> Result<Self::Running<'_>, i32>;

    /// Takes the next bytes.
    fn update(running: &mut Self::Running<'_>, bytes: &[u8]) -> Result<(), i32>;

    /// Ends the message.
    fn finish(running: Self::Running<'_>) -> Result<Tag, i32>;

    /// The whole message at once.
    ///
    /// # Safety
    /// As [`Check::begin`].
    unsafe fn whole(
        &mut self,
        message: &raw::Message,
        nonce_len: usize,
        bytes: &[u8],
    ) -> Result<Tag, i32> {
        // SAFETY: the caller's.
        let mut running = unsafe { self.begin(message, nonce_len) }?;
        Self::update(&mut running, bytes)?;
        Self::finish(running)
    }

    /// The functions that run, for readers.
    fn calls(&self) -> String;
}

/// A tag, as long as it is.
pub(super) struct Tag {
    bytes: [u8; LONGEST_TAG],
    len: usize,
}

impl Tag {
    /// Writes the tag.
    ///
    /// # Safety
    /// `to` covers the tag's length.
    pub(super) unsafe fn write(&self, to: *mut u8) {
        // SAFETY: the caller's; the source is this struct's own.
        unsafe { ptr::copy_nonoverlapping(self.bytes.as_ptr(), to, self.len) }
    }

    /// [`raw::OK`] or [`raw::REJECTED`], in constant time.
    ///
    /// # Safety
    /// `tag` covers the tag's length.
    pub(super) unsafe fn compare(&self, tag: *const u8) -> i32 {
        // SAFETY: the caller's.
        let given = unsafe { std::slice::from_raw_parts(tag, self.len) };
        if bool::from(self.bytes[..self.len].ct_eq(given)) { raw::OK } else { raw::REJECTED }
    }
}

/// XXH3 of the plaintext in canonical (big-endian) form: no library of ciphers has one, so all
/// composites share this one (twox-hash, which takes AVX2 where the CPU has it).
pub(super) struct Checksum;

impl Checksum {
    fn tag(sum: u64) -> Tag {
        let mut bytes = [0; LONGEST_TAG];
        bytes[..8].copy_from_slice(&sum.to_be_bytes());
        Tag { bytes, len: 8 }
    }
}

impl Check for Checksum {
    const FIRST_ON_ENCRYPTION: bool = true;
    type Running<'a> = RawHasher<&'static [u8; 192]>;

    unsafe fn begin(&mut self, _: &raw::Message, _: usize) -> Result<Self::Running<'_>, i32> {
        Ok(RawHasher::new(SecretBuffer::default()))
    }

    fn update(running: &mut Self::Running<'_>, bytes: &[u8]) -> Result<(), i32> {
        std::hash::Hasher::write(running, bytes);
        Ok(())
    }

    fn finish(running: Self::Running<'_>) -> Result<Tag, i32> {
        Ok(Self::tag(std::hash::Hasher::finish(&running)))
    }

    unsafe fn whole(&mut self, _: &raw::Message, _: usize, bytes: &[u8]) -> Result<Tag, i32> {
        Ok(Self::tag(Hasher::oneshot(bytes)))
    }

    fn calls(&self) -> String {
        "XXH3 (twox-hash)".to_owned()
    }
}

/// HMAC-SHA-256 of associated data, nonce, ciphertext and the length of the associated data in
/// bits (RFC 7518 §5.2.2.1, without its truncation).
pub(super) struct Code {
    session: Session,
    start: raw::StartFn,
    update: raw::UpdateFn,
    finish: raw::FinishFn,
}

impl Code {
    /// `None` where the session takes whole messages only.
    pub(super) fn new(session: Session) -> Option<Self> {
        let raw::Session { start, update, finish, .. } = *session.raw();
        Some(Self { start: start?, update: update?, finish: finish?, session })
    }

    fn feed(&mut self, bytes: &[u8]) -> Result<(), i32> {
        if bytes.is_empty() {
            return Ok(());
        }
        // SAFETY: a session of a MAC takes input and no output; the slice covers its length.
        done(unsafe {
            (self.update)(self.session.raw().state, bytes.as_ptr(), ptr::null_mut(), bytes.len())
        })
    }
}

/// A MAC under way.
pub(super) struct Coding<'a> {
    code: &'a mut Code,
    aad_len: usize,
}

impl Check for Code {
    const FIRST_ON_ENCRYPTION: bool = false;
    type Running<'a> = Coding<'a>;

    unsafe fn begin(&mut self, m: &raw::Message, nonce_len: usize) -> Result<Coding<'_>, i32> {
        // SAFETY: a session of a MAC without a nonce.
        done(unsafe { (self.start)(self.session.raw().state, ptr::null()) })?;
        // SAFETY: the caller's; the pointer may be null where the length is zero.
        let aad = unsafe { super::pieces::slice(m.aad, m.aad_len) };
        // SAFETY: the caller's.
        let nonce = unsafe { super::pieces::slice(m.nonce, nonce_len) };
        self.feed(aad)?;
        self.feed(nonce)?;
        Ok(Coding { code: self, aad_len: m.aad_len })
    }

    fn update(running: &mut Coding<'_>, bytes: &[u8]) -> Result<(), i32> {
        running.code.feed(bytes)
    }

    fn finish(running: Coding<'_>) -> Result<Tag, i32> {
        let Coding { code, aad_len } = running;
        code.feed(&(aad_len as u64 * 8).to_be_bytes())?;
        let mut tag = Tag { bytes: [0; LONGEST_TAG], len: LONGEST_TAG };
        // SAFETY: the tag of HMAC-SHA-256 has 32 bytes.
        done(unsafe { (code.finish)(code.session.raw().state, tag.bytes.as_mut_ptr()) })?;
        Ok(tag)
    }

    fn calls(&self) -> String {
        self.session.calls().unwrap_or_else(|| "HMAC-SHA-256".to_owned())
    }
}

/// The library's code where it is not success.
pub(super) fn done(code: i32) -> Result<(), i32> {
    match Outcome::from(code) {
        Outcome::Done => Ok(()),
        // Only a decryption may reject; of a part it is an error.
        Outcome::Rejected => Err(raw::FAILED),
        Outcome::Error(code) => Err(code),
    }
}
