//! Encrypt-and-check as one operation, over any library: a cipher of the library's with XXH3, or with the
//! library's own HMAC-SHA-256, in two passes over the message or in one.

use crate::essiv;
use crate::family::{has_direction, operations};
use base::model::{Algorithm, Composite, Direction, Mode, Passes};
use contract::{Bringing, Identity, Library, OpenError, Outcome, Session, Table, raw};
use std::ffi::CString;
use std::ptr;
use subtle::ConstantTimeEq as _;
use twox_hash::xxhash3_64::{Hasher, RawHasher, SecretBuffer};

/// A library that also offers the composites of its parts.
pub(crate) struct Composing(pub(crate) Box<dyn Library>);

impl Library for Composing {
    fn identity(&self) -> &Identity {
        self.0.identity()
    }

    fn one_thread_only(&self) -> Option<&str> {
        self.0.one_thread_only()
    }

    fn brings(&self) -> &[Bringing] {
        self.0.brings()
    }

    fn open(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Session, OpenError> {
        let Some(parts) = algorithm.composite else {
            return match self.0.open(algorithm, direction, key) {
                Err(OpenError::Unsupported(_)) if algorithm.mode == Mode::Essiv => {
                    essiv::open(&*self.0, algorithm, direction, key)
                }
                own => own,
            };
        };
        match self.0.open(algorithm, direction, key) {
            // The library itself does not: the composite is made of what it has.
            Err(OpenError::Unsupported(_)) => self.compose(algorithm, parts, direction, key),
            own => own,
        }
    }
}

impl Composing {
    fn compose(
        &self,
        algorithm: &'static Algorithm,
        parts: Composite,
        direction: Direction,
        key: &[u8],
    ) -> Result<Session, OpenError> {
        has_direction(algorithm, direction)?;
        let cipher = named(parts.cipher);
        let (cipher_key, mac_key) = key.split_at_checked(cipher.key_len).ok_or_else(|| {
            OpenError::Failed(format!("{algorithm} takes a key of {} bytes", algorithm.key_len))
        })?;
        let cipher = self.0.open(cipher, direction, cipher_key).map_err(part(parts.cipher))?;
        offers(&cipher, parts)?;
        let raw = if algorithm.takes_aad() {
            let mac = named(parts.check);
            let mac = self.0.open(mac, Direction::Digest, mac_key).map_err(part(parts.check))?;
            let code = Code::new(mac).ok_or_else(|| {
                OpenError::Unsupported(format!(
                    "the library takes the message of {} whole, so it cannot be put together of \
                     associated data, nonce and ciphertext without a copy",
                    parts.check
                ))
            })?;
            session(cipher, code, parts.passes, direction)
        } else {
            session(cipher, Checksum, parts.passes, direction)
        };
        // SAFETY: the functions of `pieces` keep the header's rules for a cipher of the same nonce
        // and sizes and a tag of the check's length, which the table of algorithms holds to; the
        // state is the session's own.
        Ok(unsafe { Session::new(raw, algorithm, direction) })
    }
}

fn session<C: Check>(
    cipher: Session,
    check: C,
    passes: Passes,
    direction: Direction,
) -> raw::Session {
    let call = calls_in_words(&cipher, &check.calls(), passes, C::FIRST_ON_ENCRYPTION, direction);
    match passes {
        Passes::One => State::<_, true>::new(cipher, check, call).into_session(direction),
        Passes::Two => State::<_, false>::new(cipher, check, call).into_session(direction),
    }
}

/// Whether the cipher can be taken as the composite goes over the message.
fn offers(cipher: &Session, parts: Composite) -> Result<(), OpenError> {
    let why = match parts.passes {
        // The check would have to wait for each message, which then is in work alone.
        _ if cipher.in_flight() > 1 => "it is offered with several messages in flight only",
        Passes::Two if cipher.has_message() => return Ok(()),
        Passes::Two => "the adapter offers no whole messages",
        // Each update is a data unit of its own: the pieces of a message would be others.
        Passes::One if parts.cipher.ends_with("-xts") => {
            "the library takes a data unit of XTS whole, so one pass over its pieces is another cipher"
        }
        Passes::One if cipher.has_stream() => return Ok(()),
        Passes::One => {
            "the library takes messages whole, so one pass over their pieces cannot be made"
        }
    };
    Err(OpenError::Unsupported(format!("{}: {why}", parts.cipher)))
}

fn part(name: &'static str) -> impl Fn(OpenError) -> OpenError {
    move |error| match error {
        OpenError::Unsupported(why) => OpenError::Unsupported(format!("{name}: {why}")),
        OpenError::Failed(why) => OpenError::Failed(format!("{name}: {why}")),
    }
}

fn named(name: &str) -> &'static Algorithm {
    Algorithm::find(name).expect("a composite's parts are algorithms, which a test holds")
}

// What runs inside the clock: both parts over the whole message, or over its pieces in turn.

/// Bytes that both parts of a one-pass composite take in turn: what is read and what is written
/// fit together four times into the smallest first-level cache there is (32 KiB), and a piece is
/// long against what a call costs.
const PIECE: usize = 4096;

/// A composite's parts, which go over the message one after the other, or `ONCE` over its pieces in turn.
struct State<C, const ONCE: bool> {
    cipher: Session,
    check: C,
    nonce_len: usize,
    call: Option<CString>,
}

impl<C: Check, const ONCE: bool> State<C, ONCE> {
    fn new(cipher: Session, check: C, call: Option<CString>) -> Self {
        let nonce_len = cipher.algorithm().nonce_len;
        Self { cipher, check, nonce_len, call }
    }

    /// The table for the timing loop; `close` there frees the state.
    fn into_session(self, direction: Direction) -> raw::Session {
        let flags = self.cipher.raw().flags & (raw::IN_PLACE | raw::COPIES | raw::ALLOCATES);
        // The state keeps the text, which does not move with it.
        let call = self.call.as_ref().map_or(std::ptr::null(), |c| c.as_ptr());
        let table = Table::new(self, flags, c"").decrypts(direction == Direction::Decrypt);
        raw::Session { call, ..table.raw() }
    }

    fn crypt(&mut self, m: &raw::Message) -> Result<(), i32> {
        let raw::Session { message, state, .. } = *self.cipher.raw();
        let message = message.expect("opening asked for it");
        // A cipher without authentication takes neither associated data nor a tag.
        let m = raw::Message { aad_len: 0, tag: std::ptr::null_mut(), ..*m };
        // SAFETY: the session's own function and state, a message of its algorithm's lengths.
        done(unsafe { message(state, &raw const m) })
    }

    fn start(&mut self, m: &raw::Message) -> Result<(), i32> {
        let raw::Session { start, state, .. } = *self.cipher.raw();
        let start = start.expect("opening asked for it");
        // SAFETY: the session's own function and state; the nonce is the cipher's.
        done(unsafe { start(state, m.nonce) })
    }

    unsafe fn encrypt_twice(&mut self, m: &raw::Message) -> Result<(), i32> {
        if !C::FIRST_ON_ENCRYPTION {
            self.crypt(m)?;
        }
        // SAFETY: the header's rules: what is read was given, or has just been written.
        let bytes = unsafe {
            slice(if C::FIRST_ON_ENCRYPTION { m.input } else { m.output.cast_const() }, m.len)
        };
        // SAFETY: the header's rules.
        let tag = unsafe { self.check.whole(m, self.nonce_len, bytes) }?;
        if C::FIRST_ON_ENCRYPTION {
            self.crypt(m)?;
        }
        // SAFETY: the tag has room for the check's.
        unsafe { tag.write(m.tag) };
        Ok(())
    }

    unsafe fn decrypt_twice(&mut self, m: &raw::Message) -> Result<i32, i32> {
        if C::FIRST_ON_ENCRYPTION {
            self.crypt(m)?;
        }
        // SAFETY: the header's rules: what is read was given, or has just been written.
        let bytes = unsafe {
            slice(if C::FIRST_ON_ENCRYPTION { m.output.cast_const() } else { m.input }, m.len)
        };
        // SAFETY: the header's rules.
        let tag = unsafe { self.check.whole(m, self.nonce_len, bytes) }?;
        // SAFETY: the tag that came has the check's length.
        let verdict = unsafe { tag.compare(m.tag) };
        // A MAC is checked before anything is decrypted.
        if verdict == raw::OK && !C::FIRST_ON_ENCRYPTION {
            self.crypt(m)?;
        }
        Ok(verdict)
    }

    /// `checks_input`: the check takes what goes into the cipher, else what comes out of it.
    unsafe fn once(&mut self, m: &raw::Message, checks_input: bool) -> Result<Tag, i32> {
        self.start(m)?;
        let nonce_len = self.nonce_len;
        // The check is borrowed for the whole message, the cipher for each piece.
        let Self { cipher, check, .. } = self;
        // SAFETY: the header's rules.
        let mut running = unsafe { check.begin(m, nonce_len) }?;
        let mut at = 0;
        while at < m.len {
            let len = PIECE.min(m.len - at);
            if checks_input {
                // SAFETY: the piece lies inside the message.
                C::update(&mut running, unsafe { slice(m.input.add(at), len) })?;
            }
            crypt_piece(cipher, m, at, len)?;
            if !checks_input {
                // SAFETY: the piece lies inside the message and has just been written.
                C::update(&mut running, unsafe { slice(m.output.add(at).cast_const(), len) })?;
            }
            at += len;
        }
        C::finish(running)
    }
}

fn crypt_piece(cipher: &Session, m: &raw::Message, at: usize, len: usize) -> Result<(), i32> {
    let raw::Session { update, state, .. } = *cipher.raw();
    let update = update.expect("opening asked for it");
    // SAFETY: the session's own function and state; the piece lies inside the message.
    done(unsafe { update(state, m.input.add(at), m.output.add(at), len) })
}

operations! { impl[C: Check, const ONCE: bool] for State<C, ONCE>;
    fn message(&mut self, m) {
        let done = if ONCE {
            self.once(m, C::FIRST_ON_ENCRYPTION).map(|tag| tag.write(m.tag))
        } else {
            self.encrypt_twice(m)
        };
        done.map_or_else(|code| code, |()| raw::OK)
    }

    fn decrypt(&mut self, m) {
        let verdict = if ONCE {
            self.once(m, !C::FIRST_ON_ENCRYPTION).map(|tag| tag.compare(m.tag))
        } else {
            self.decrypt_twice(m)
        };
        verdict.unwrap_or_else(|code| code)
    }
}

/// The bytes behind a pointer, which may be null where there are none.
///
/// # Safety
/// `pointer` covers `len` bytes for as long as the result is used, and nobody writes them then.
unsafe fn slice<'a>(pointer: *const u8, len: usize) -> &'a [u8] {
    if len == 0 {
        return &[];
    }
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(pointer, len) }
}

// The two ways to notice damage: a checksum of the plaintext, a MAC of the ciphertext.

/// Longest tag: that of HMAC-SHA-256.
const LONGEST_TAG: usize = 32;

/// What goes over the message beside the cipher. Errors are the library's codes.
trait Check {
    /// Whether encryption checks what it reads, and decryption what it wrote (a checksum of the
    /// plaintext), or the other way round (a MAC of the ciphertext).
    const FIRST_ON_ENCRYPTION: bool;

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

    fn update(running: &mut Self::Running<'_>, bytes: &[u8]) -> Result<(), i32>;

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

    fn calls(&self) -> String;
}

struct Tag {
    bytes: [u8; LONGEST_TAG],
    len: usize,
}

impl Tag {
    /// Writes the tag.
    ///
    /// # Safety
    /// `to` covers the tag's length.
    unsafe fn write(&self, to: *mut u8) {
        // SAFETY: the caller's; the source is this struct's own.
        unsafe { ptr::copy_nonoverlapping(self.bytes.as_ptr(), to, self.len) }
    }

    /// [`raw::OK`] or [`raw::REJECTED`], in constant time.
    ///
    /// # Safety
    /// `tag` covers the tag's length.
    unsafe fn compare(&self, tag: *const u8) -> i32 {
        // SAFETY: the caller's.
        let given = unsafe { std::slice::from_raw_parts(tag, self.len) };
        if bool::from(self.bytes[..self.len].ct_eq(given)) { raw::OK } else { raw::REJECTED }
    }
}

/// XXH3 of the plaintext in canonical (big-endian) form: no library of ciphers has one, so all
/// composites share this one (twox-hash, which takes AVX2 where the CPU has it).
struct Checksum;

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
struct Code {
    session: Session,
    start: raw::StartFn,
    update: raw::UpdateFn,
    finish: raw::FinishFn,
}

impl Code {
    /// `None` where the session takes whole messages only.
    fn new(session: Session) -> Option<Self> {
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
struct Coding<'a> {
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
        let aad = unsafe { slice(m.aad, m.aad_len) };
        // SAFETY: the caller's.
        let nonce = unsafe { slice(m.nonce, nonce_len) };
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
fn done(code: i32) -> Result<(), i32> {
    match Outcome::from(code) {
        Outcome::Done => Ok(()),
        // Only a decryption may reject; of a part it is an error.
        Outcome::Rejected => Err(raw::FAILED),
        Outcome::Error(code) => Err(code),
    }
}

// What a composite calls, in words.

/// The functions of both parts, in the order in which they run.
fn calls_in_words(
    cipher: &Session,
    check: &str,
    passes: Passes,
    check_first_on_encryption: bool,
    direction: Direction,
) -> Option<CString> {
    let cipher = cipher.calls().unwrap_or_else(|| "the cipher".to_owned());
    let check_first = check_first_on_encryption == (direction == Direction::Encrypt);
    let (first, second) = if check_first { (check, &*cipher) } else { (&*cipher, check) };
    let text = match passes {
        Passes::Two => format!("{first}; then {second}"),
        Passes::One => {
            format!("in turn on pieces of {} bytes: {first}; {second}", PIECE)
        }
    };
    CString::new(text).ok()
}

#[cfg(test)]
mod tests {
    use crate::testing::{EVP, XXHASH};
    use base::model::{Algorithm, Direction, Passes};
    use contract::OpenError;

    fn composites() -> impl Iterator<Item = &'static Algorithm> {
        Algorithm::all().iter().filter(|a| a.composite.is_some())
    }

    #[test]
    fn every_composite_that_a_library_has_the_parts_of_passes_every_check() {
        let library = EVP.library().unwrap();
        let mut passed = 0;
        for algorithm in composites() {
            match verify::verify(&*library, algorithm, &verify::Scope::BRIEF, &mut |_| {}) {
                Ok(_) => passed += 1,
                Err(verify::Finding::Unsupported(why)) => {
                    assert!(algorithm.name.ends_with("xts+xxh3-onepass"), "{algorithm}: {why}");
                    assert!(why.contains("takes a data unit of XTS whole"), "{why}");
                }
                Err(finding) => panic!("{algorithm}: {finding}"),
            }
        }
        assert_eq!(passed, composites().count() - 2);
    }

    #[test]
    fn a_composite_says_the_calls_of_both_parts_in_their_order() {
        let library = EVP.library().unwrap();
        let calls = |name: &str, direction| {
            let algorithm = Algorithm::find(name).unwrap();
            let key: Vec<u8> = (1..=algorithm.key_len as u8).collect();
            library.open(algorithm, direction, &key).unwrap().calls().unwrap()
        };
        let (encrypt, decrypt) = (Direction::Encrypt, Direction::Decrypt);
        assert!(calls("aes-256-ctr+xxh3", encrypt).starts_with("XXH3 (twox-hash); then EVP_"));
        assert!(calls("aes-256-ctr+xxh3", decrypt).ends_with("then XXH3 (twox-hash)"));
        let both = calls("aes-256-cbc+hmac-sha256", encrypt);
        assert!(
            both.starts_with("EVP_EncryptInit_ex, ") && both.contains("; then EVP_MAC_"),
            "{both}"
        );
        assert!(calls("aes-128-ctr+xxh3-onepass", encrypt).contains("pieces of 4096 bytes"));
    }

    #[test]
    fn a_library_without_a_part_says_which_one() {
        let library = XXHASH.library().unwrap();
        for algorithm in composites().filter(|a| a.composite.unwrap().passes == Passes::Two) {
            let key = vec![1; algorithm.key_len];
            match library.open(algorithm, Direction::Encrypt, &key) {
                Err(OpenError::Unsupported(why)) => {
                    assert!(why.starts_with(algorithm.composite.unwrap().cipher), "{why}");
                }
                other => panic!("{algorithm}: {:?}", other.err()),
            }
        }
    }
}
