//! The Linux kernel's ciphers through its sockets for user space: ciphers, authenticated encryption, digests,
//! what the kernel calls them, and which kernel it is. `README.md` beside this file says how, and that it has
//! not been run against a kernel that has them.

mod af_alg;

use crate::family;
use crate::family::{Attached, Family, Request, operations};
use af_alg::{Control, Transform, part, whole};
use base::model::{Algorithm, Direction, KERNEL_PATH, Mode, Primitive};
use contract::loader::LoadError;
use contract::{OpenError, Table, raw};
use std::collections::BTreeMap;
use std::ffi::CStr;
use std::fs::read_to_string;
use std::os::fd::{AsRawFd as _, OwnedFd};
use std::path::PathBuf;
use std::slice;

/// Attaches the running kernel.
///
/// # Errors
/// [`LoadError::Unusable`] when there are no AF_ALG sockets, with the reason.
pub(crate) fn attach(name: Option<&str>) -> Attached {
    af_alg::probe().map_err(|why| LoadError::Unusable { path: PathBuf::from(KERNEL_PATH), why })?;
    let (version, build) = version_and_build();
    family::library((name, "linux-kernel"), &version, build, Kernel)
}

struct Kernel;

// SAFETY: the functions keep to the kernel's documentation of its sockets.
unsafe impl Family for Kernel {
    fn open(request: &Request<'_, Self>) -> Result<raw::Session, OpenError> {
        let Request { algorithm, direction, key, .. } = *request;
        let absent = || request.absent("the kernel's interface");
        let target = target_of(algorithm).ok_or_else(absent)?;
        let transform = transform(&target, key)?;
        match target.kind {
            Kind::Hash => open_hash(transform, algorithm),
            Kind::Skcipher => open_cipher(transform, &target, direction),
            Kind::Aead => {
                transform.set_tag_len(algorithm.tag_len)?;
                open_aead(transform, &target, algorithm.tag_len, direction)
            }
        }
    }
}

/// The kernel's transformation with its key set.
fn transform(target: &Target, key: &[u8]) -> Result<Transform, OpenError> {
    let transform = Transform::bind(target.kind.type_name(), &target.name)?;
    if !key.is_empty() {
        transform.set_key(key)?;
    }
    Ok(transform)
}

// What the kernel calls the algorithms, and how it takes their nonces.

/// `salg_type`
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Kind {
    Skcipher,
    Aead,
    Hash,
}

impl Kind {
    fn type_name(self) -> &'static str {
        match self {
            Self::Skcipher => "skcipher",
            Self::Aead => "aead",
            Self::Hash => "hash",
        }
    }
}

/// How repeated calls under one IV go on.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
enum Chain {
    /// The kernel carries the IV from call to call, at whole blocks.
    Carries,
    /// Every call is a message of its own: ECB's blocks, XTS's data units.
    Starts,
}

/// An algorithm in the kernel's words.
#[derive(Clone, Debug, PartialEq, Eq)]
struct Target {
    kind: Kind,
    /// `salg_name`
    name: String,
    /// The IV as it is handed over; the nonce is laid over it at `nonce_at`.
    iv: Vec<u8>,
    nonce_at: usize,
    nonce_len: usize,
    chain: Chain,
}

/// `None` for what the kernel has no name for. Whether it has what is named, `bind` says.
fn target_of(algorithm: &Algorithm) -> Option<Target> {
    let (kind, name) = name(algorithm)?;
    let (iv, nonce_at) = match (algorithm.cipher, algorithm.mode) {
        // The first byte says how many bytes the length has, less one; the counter behind the nonce
        // is zero (RFC 3610 §2.3, as crypto/ccm.c takes it).
        (_, Mode::Ccm) => {
            let len_of_len = 15 - algorithm.nonce_len;
            let mut iv = vec![0; 16];
            iv[0] = u8::try_from(len_of_len - 1).expect("between 1 and 7");
            (iv, 1)
        }
        // A little-endian block counter, then the nonce.
        (Primitive::ChaCha20, Mode::Stream) => (vec![0; 16], 4),
        _ => (vec![0; algorithm.nonce_len], 0),
    };
    let chain = match algorithm.mode {
        Mode::Ecb | Mode::Xts => Chain::Starts,
        _ => Chain::Carries,
    };
    Some(Target { kind, name, iv, nonce_at, nonce_len: algorithm.nonce_len, chain })
}

fn name(algorithm: &Algorithm) -> Option<(Kind, String)> {
    match algorithm.mode {
        Mode::None | Mode::Hmac => return hash_name(algorithm).map(|name| (Kind::Hash, name)),
        Mode::Stream => return Some((Kind::Skcipher, "chacha20".to_owned())),
        Mode::Poly1305 if algorithm.cipher == Primitive::ChaCha20 => {
            return Some((Kind::Aead, "rfc7539(chacha20,poly1305)".to_owned()));
        }
        _ => {}
    }
    let cipher = match algorithm.cipher {
        Primitive::Aes => "aes",
        Primitive::Camellia => "camellia",
        Primitive::Aria => "aria",
        Primitive::Sm4 => "sm4",
        Primitive::TripleDes => "des3_ede",
        _ => return None,
    };
    let (kind, mode) = match algorithm.mode {
        Mode::Ecb => (Kind::Skcipher, "ecb"),
        Mode::Cbc => (Kind::Skcipher, "cbc"),
        Mode::Cfb => (Kind::Skcipher, "cfb"),
        Mode::Ofb => (Kind::Skcipher, "ofb"),
        Mode::Ctr => (Kind::Skcipher, "ctr"),
        Mode::Xts => (Kind::Skcipher, "xts"),
        Mode::Gcm => (Kind::Aead, "gcm"),
        Mode::Ccm => (Kind::Aead, "ccm"),
        _ => return None,
    };
    Some((kind, format!("{mode}({cipher})")))
}

fn hash_name(algorithm: &Algorithm) -> Option<String> {
    let digest = match algorithm.cipher {
        Primitive::Sha256 => "sha256",
        Primitive::Sha384 => "sha384",
        Primitive::Sha512 => "sha512",
        Primitive::Sha3_256 => "sha3-256",
        Primitive::Sha3_384 => "sha3-384",
        Primitive::Sha3_512 => "sha3-512",
        Primitive::Blake2b => "blake2b-512",
        Primitive::Crc32c => "crc32c",
        _ => return None,
    };
    Some(match algorithm.mode {
        Mode::Hmac => format!("hmac({digest})"),
        _ => digest.to_owned(),
    })
}

// Ciphers without authentication: `sendmsg` with operation and IV, `recv` of the output.

/// A chained message that is longer than a socket holds goes through it in pieces of so many bytes.
const PIECE: usize = 256 << 10;

struct CipherState {
    transform: Transform,
    operations: OwnedFd,
    stream: Option<OwnedFd>,
    progress: Progress,
    control: Control,
    chain: Chain,
    /// Bytes that a socket takes in one operation.
    capacity: usize,
}

/// Where a stream is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The next update carries operation and IV.
    Begun,
    /// The kernel goes on from the last block.
    UnderWay,
    /// A part of a block ended it.
    Ended,
}

/// The operation's number in `linux/if_alg.h`.
fn operation(direction: Direction) -> u32 {
    let number =
        if direction == Direction::Encrypt { libc::ALG_OP_ENCRYPT } else { libc::ALG_OP_DECRYPT };
    number.cast_unsigned()
}

/// Opens a cipher whose key is set.
fn open_cipher(
    transform: Transform,
    target: &Target,
    direction: Direction,
) -> Result<raw::Session, OpenError> {
    let operations = transform.operations()?;
    Ok(CipherState::new(transform, operations, target, direction).into_session())
}

impl CipherState {
    fn new(
        transform: Transform,
        operations: OwnedFd,
        target: &Target,
        direction: Direction,
    ) -> Self {
        let Target { iv, nonce_at, nonce_len, chain, .. } = target;
        Self {
            capacity: af_alg::capacity(&operations),
            control: Control::new(operation(direction), iv, *nonce_at, *nonce_len, false),
            chain: *chain,
            stream: None,
            progress: Progress::Ended,
            operations,
            transform,
        }
    }

    fn into_session(self) -> raw::Session {
        Table::new(self, raw::IN_PLACE | raw::COPIES | raw::ALLOCATES, c"sendmsg, recv")
            .streams()
            .raw()
    }

    /// # Safety
    /// The message keeps the interface's rules.
    #[inline(always)]
    unsafe fn crypt(&mut self, m: &raw::Message) -> Result<(), i32> {
        // The kernel has no operation over nothing: it would wait for the first byte.
        if m.len == 0 {
            return Ok(());
        }
        let fd = self.operations.as_raw_fd();
        // SAFETY: the caller's promise.
        unsafe {
            self.control.set_nonce(m.nonce);
            if m.len <= self.capacity {
                return transfer(fd, Some(&mut self.control), (m.input, m.output, m.len), false);
            }
            if self.chain == Chain::Starts {
                return Err(libc::EMSGSIZE);
            }
            let (mut done, piece) = (0, PIECE.min(self.capacity));
            while done < m.len {
                let len = piece.min(m.len - done);
                let control = (done == 0).then_some(&mut self.control);
                let data = (m.input.add(done), m.output.add(done), len);
                transfer(fd, control, data, done + len < m.len)?;
                done += len;
            }
        }
        Ok(())
    }

    /// # Safety
    /// The buffers keep the interface's rules.
    unsafe fn continues(
        &mut self,
        (input, output, len): (*const u8, *mut u8, usize),
    ) -> Result<(), i32> {
        let Some(stream) = &self.stream else { return Err(raw::FAILED) };
        let fd = stream.as_raw_fd();
        if len == 0 {
            return Ok(());
        }
        if len > self.capacity {
            return Err(libc::EMSGSIZE);
        }
        // SAFETY: the caller's promise.
        unsafe {
            if self.chain == Chain::Starts {
                return transfer(fd, Some(&mut self.control), (input, output, len), false);
            }
            let control = match self.progress {
                Progress::Begun => Some(&mut self.control),
                Progress::UnderWay => None,
                Progress::Ended => return Err(raw::FAILED),
            };
            // The kernel gives whole blocks while more is to come, and keeps the rest back: a part
            // of a block has to be the last.
            let more = len.is_multiple_of(16);
            self.progress = if more { Progress::UnderWay } else { Progress::Ended };
            transfer(fd, control, (input, output, len), more)
        }
    }
}

/// Sends the input, with operation and IV where a message begins, and takes the output. Never waits:
/// what is not there at once never comes.
///
/// # Safety
/// `input` and `output` cover `len` bytes.
#[inline]
unsafe fn transfer(
    fd: i32,
    control: Option<&mut Control>,
    (input, output, len): (*const u8, *mut u8, usize),
    more: bool,
) -> Result<(), i32> {
    let mut parts = [part(input, len)];
    let mut header = af_alg::header(&mut parts);
    if let Some(control) = control {
        control.attach(&mut header);
    }
    let flags = libc::MSG_DONTWAIT | if more { libc::MSG_MORE } else { 0 };
    // SAFETY: header, parts and control buffer live until the call returns; the caller's promise.
    unsafe {
        whole(libc::sendmsg(fd, &raw const header, flags), len)?;
        whole(libc::recv(fd, output.cast(), len, libc::MSG_DONTWAIT), len)
    }
}

operations! { impl for CipherState;
    fn message(&mut self, m) {
        match self.crypt(m) {
            Ok(()) => raw::OK,
            Err(code) => {
                self.transform.renew(&mut self.operations);
                code
            }
        }
    }

    fn start(&mut self, nonce) {
        // A socket of its own: the kernel has no way to drop a chain that was begun.
        let Ok(stream) = self.transform.accept() else { return raw::FAILED };
        af_alg::capacity(&stream);
        self.stream = Some(stream);
        self.control.set_nonce(nonce);
        self.progress = Progress::Begun;
        raw::OK
    }

    fn update(&mut self, input, output, len) {
        self.continues((input, output, len)).err().unwrap_or(raw::OK)
    }
}

// Authenticated encryption: associated data, message and tag go in and out as one stream, which
// the parts of `sendmsg` and `recvmsg` gather and scatter.

/// Longest associated data. The kernel gives them back in front of the output (since 4.9), so there
/// must be room for what nobody asked for.
const LONGEST_AAD: usize = 64 << 10;

const CALL: &CStr = c"sendmsg, recvmsg";

struct AeadState {
    transform: Transform,
    operations: OwnedFd,
    control: Control,
    tag_len: usize,
    /// Bytes that a socket takes and gives in one operation.
    capacity: usize,
    returned_aad: Vec<u8>,
}

/// Opens a cipher whose key and tag length are set.
fn open_aead(
    transform: Transform,
    target: &Target,
    tag_len: usize,
    direction: Direction,
) -> Result<raw::Session, OpenError> {
    let operations = transform.operations()?;
    Ok(AeadState::new(transform, operations, target, tag_len, direction).into_session(direction))
}

impl AeadState {
    fn new(
        transform: Transform,
        operations: OwnedFd,
        target: &Target,
        tag_len: usize,
        direction: Direction,
    ) -> Self {
        let Target { iv, nonce_at, nonce_len, .. } = target;
        Self {
            capacity: af_alg::capacity(&operations),
            control: Control::new(operation(direction), iv, *nonce_at, *nonce_len, true),
            returned_aad: vec![0; LONGEST_AAD],
            operations,
            transform,
            tag_len,
        }
    }

    fn into_session(self, direction: Direction) -> raw::Session {
        let encrypts = direction == Direction::Encrypt;
        Table::new(self, raw::IN_PLACE | raw::COPIES | raw::ALLOCATES, CALL)
            .decrypts(!encrypts)
            .raw()
    }

    /// Sends the parts with nonce and length of the associated data.
    ///
    /// # Safety
    /// The message keeps the interface's rules; the parts lie in it.
    unsafe fn send(&mut self, m: &raw::Message, parts: &mut [libc::iovec]) -> Result<(), i32> {
        let len = parts.iter().map(|p| p.iov_len).sum();
        // The message that goes in or comes out, with all that belongs to it.
        if m.aad_len > LONGEST_AAD || m.aad_len + m.len + self.tag_len > self.capacity {
            return Err(libc::EMSGSIZE);
        }
        let mut header = af_alg::header(parts);
        // SAFETY: the caller's promise; header, parts and control buffer live until the call
        // returns.
        unsafe {
            self.control.set_nonce(m.nonce);
            self.control.set_aad_len(m.aad_len as u32);
            self.control.attach(&mut header);
            let fd = self.operations.as_raw_fd();
            whole(libc::sendmsg(fd, &raw const header, libc::MSG_DONTWAIT), len)
        }
    }

    /// Has the kernel work, and takes the parts.
    ///
    /// # Safety
    /// The parts are writable.
    unsafe fn receive(&self, parts: &mut [libc::iovec], expected: usize) -> Result<(), i32> {
        let mut header = af_alg::header(parts);
        let fd = self.operations.as_raw_fd();
        // SAFETY: the caller's promise; header and parts live until the call returns.
        whole(unsafe { libc::recvmsg(fd, &raw mut header, libc::MSG_DONTWAIT) }, expected)
    }

    /// In: associated data, plaintext. Out: associated data, ciphertext, tag.
    ///
    /// # Safety
    /// The message keeps the interface's rules.
    #[inline(always)]
    unsafe fn seal(&mut self, m: &raw::Message) -> Result<(), i32> {
        let mut sent = [part(m.aad, m.aad_len), part(m.input, m.len)];
        let mut received = [
            part(self.returned_aad.as_mut_ptr(), m.aad_len),
            part(m.output, m.len),
            part(m.tag, self.tag_len),
        ];
        // SAFETY: the caller's promise.
        unsafe {
            self.send(m, &mut sent)?;
            self.receive(&mut received, m.aad_len + m.len + self.tag_len)
        }
    }

    /// In: associated data, ciphertext, tag. Out: associated data, plaintext.
    ///
    /// # Safety
    /// The message keeps the interface's rules.
    #[inline(always)]
    unsafe fn unseal(&mut self, m: &raw::Message) -> Result<(), i32> {
        let mut sent = [part(m.aad, m.aad_len), part(m.input, m.len), part(m.tag, self.tag_len)];
        let expected = m.aad_len + m.len;
        // Without room for a byte the kernel does not begin: a message of nothing but its tag
        // gets a byte that stays unused.
        let room = m.aad_len + usize::from(expected == 0);
        let mut received = [part(self.returned_aad.as_mut_ptr(), room), part(m.output, m.len)];
        // SAFETY: the caller's promise.
        unsafe {
            self.send(m, &mut sent)?;
            self.receive(&mut received, expected)
        }
    }

    /// A rejected message is used up; any other error leaves it in the socket.
    fn outcome(&mut self, result: Result<(), i32>) -> i32 {
        match result {
            Ok(()) => raw::OK,
            Err(raw::REJECTED) => raw::REJECTED,
            Err(code) => {
                self.transform.renew(&mut self.operations);
                code
            }
        }
    }
}

operations! { impl for AeadState;
    fn message(&mut self, m) {
        let result = self.seal(m);
        self.outcome(result)
    }

    fn decrypt(&mut self, m) {
        let result = self.unseal(m);
        self.outcome(result)
    }
}

// Digests and HMAC: `send` of the message, `recv` of the digest.

/// SHA-512's, SHA3-512's and BLAKE2b's.
const LONGEST_DIGEST: usize = 64;

struct HashState {
    operations: OwnedFd,
    /// Keeps the key alive as long as the socket.
    _transform: Transform,
    len: usize,
    /// The kernel writes CRCs with the least significant byte first.
    reversed: bool,
    /// Parts of a message have been sent and its digest not yet taken.
    under_way: bool,
}

/// Opens a digest; an HMAC's key is set.
fn open_hash(transform: Transform, algorithm: &Algorithm) -> Result<raw::Session, OpenError> {
    let operations = transform.operations()?;
    Ok(HashState::new(transform, operations, algorithm).into_session())
}

impl HashState {
    fn new(transform: Transform, operations: OwnedFd, algorithm: &Algorithm) -> Self {
        Self {
            operations,
            _transform: transform,
            len: algorithm.tag_len,
            reversed: algorithm.cipher == Primitive::Crc32c,
            under_way: false,
        }
    }

    fn into_session(self) -> raw::Session {
        Table::new(self, 0, c"send, recv").parts().raw()
    }

    /// # Safety
    /// `input` covers `len` bytes.
    #[inline]
    unsafe fn send(&mut self, input: *const u8, len: usize, more: bool) -> Result<(), i32> {
        let flags = if more { libc::MSG_MORE } else { 0 };
        // SAFETY: the caller's promise.
        whole(unsafe { libc::send(self.operations.as_raw_fd(), input.cast(), len, flags) }, len)
    }

    /// Ends a message that is under way.
    ///
    /// # Safety
    /// `tag` has the digest's length.
    #[inline]
    unsafe fn take(&mut self, tag: *mut u8) -> Result<(), i32> {
        let fd = self.operations.as_raw_fd();
        self.under_way = false;
        // SAFETY: the caller's promise.
        unsafe {
            whole(libc::recv(fd, tag.cast(), self.len, 0), self.len)?;
            if self.reversed {
                slice::from_raw_parts_mut(tag, self.len).reverse();
            }
        }
        Ok(())
    }

    /// A message that was begun and not finished is finished, and its digest thrown away: what the
    /// kernel makes of it is of no interest.
    #[cold]
    fn drop_message(&mut self) {
        let mut unused = [0; LONGEST_DIGEST];
        // SAFETY: no digest is longer than the buffer.
        let _ = unsafe { self.take(unused.as_mut_ptr()) };
    }
}

fn outcome(result: Result<(), i32>) -> i32 {
    result.err().unwrap_or(raw::OK)
}

operations! { impl for HashState;
    fn message(&mut self, m) {
        if self.under_way {
            self.drop_message();
        }
        match self.send(m.input, m.len, false) {
            Ok(()) => outcome(self.take(m.tag)),
            Err(code) => code,
        }
    }

    fn start(&mut self, _nonce) {
        if self.under_way {
            self.drop_message();
        }
        raw::OK
    }

    fn update(&mut self, input, _output, len) {
        self.under_way = true;
        outcome(self.send(input, len, true))
    }

    fn finish(&mut self, tag) {
        // A message without a part is the empty one.
        match if self.under_way { Ok(()) } else { self.send(tag, 0, true) } {
            Ok(()) => outcome(self.take(tag)),
            Err(code) => code,
        }
    }
}

// Which kernel runs, and which of its implementations a name means.

/// The release, and what else there is to tell: how it was built, and for each name that
/// `/proc/crypto` lists the implementation with the highest priority, which is the one that
/// `bind` takes. Names that are made of parts appear there once somebody has used them.
fn version_and_build() -> (String, Vec<String>) {
    let line = |path: &str| read_to_string(path).map(|text| text.trim().to_owned());
    let release = line("/proc/sys/kernel/osrelease").unwrap_or_default();
    let version = line("/proc/sys/kernel/version").unwrap_or_default();
    let listed = read_to_string("/proc/crypto").unwrap_or_default();
    let drivers = drivers(&listed).into_iter().map(|(name, driver)| format!("{name}: {driver}"));
    (release, std::iter::once(version).chain(drivers).collect())
}

/// For each name the driver of the highest priority.
fn drivers(listed: &str) -> BTreeMap<&str, &str> {
    let mut best: BTreeMap<&str, (i64, &str)> = BTreeMap::new();
    for entry in listed.split("\n\n") {
        let field = |wanted: &str| {
            let fields = entry.lines().filter_map(|line| line.split_once(':'));
            fields.map(|(k, v)| (k.trim(), v.trim())).find(|(k, _)| *k == wanted).map(|(_, v)| v)
        };
        let (Some(name), Some(driver)) = (field("name"), field("driver")) else { continue };
        // Parts that only other parts of the kernel may use.
        if field("internal") == Some("yes") {
            continue;
        }
        let priority = field("priority").and_then(|p| p.parse().ok()).unwrap_or(0);
        let known = best.entry(name).or_insert((priority, driver));
        if priority > known.0 {
            *known = (priority, driver);
        }
    }
    best.into_iter().map(|(name, (_, driver))| (name, driver)).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::kernel::af_alg;
    use crate::kernel::af_alg::Control;
    use base::model::{Algorithm, Direction};
    use contract::{Message, Outcome, Session};
    use std::mem::offset_of;
    use std::os::fd::{FromRawFd as _, OwnedFd};
    use std::path::Path;
    use std::{io, ptr};
    use testing::trial::{bytes, whole_offer};

    fn named(name: &str) -> &'static Algorithm {
        Algorithm::find(name).unwrap()
    }

    #[test]
    fn the_kernels_offer_passes_the_checks_or_it_says_why_it_has_none() {
        match crate::load(Path::new(KERNEL_PATH), None) {
            Ok(kernel) => {
                assert_eq!(kernel.identity().name, "linux-kernel");
                assert_eq!(whole_offer(&*kernel).refused, []);
            }
            Err(error) => {
                eprintln!("skipped: {error}");
                let text = error.to_string();
                assert!(
                    text.starts_with("cannot use 'af_alg:': this kernel gives no AF_ALG socket: ")
                );
            }
        }
    }

    #[test]
    fn a_kernel_without_the_sockets_is_told_from_one_that_forbids_them() {
        let reason = |errno| af_alg::reason(&io::Error::from_raw_os_error(errno));
        assert!(reason(libc::EAFNOSUPPORT).contains("CONFIG_CRYPTO_USER_API"));
        assert!(reason(libc::EPERM).contains("not allowed here"));
        assert!(!reason(libc::EPERM).contains('\n'));
    }

    /// `struct sockaddr_alg` of `linux/if_alg.h`: 88 bytes; family, type[14], feat, mask, name[64].
    #[test]
    fn an_address_has_the_layout_of_the_kernels_header() {
        let offsets = [
            offset_of!(libc::sockaddr_alg, salg_family),
            offset_of!(libc::sockaddr_alg, salg_type),
            offset_of!(libc::sockaddr_alg, salg_feat),
            offset_of!(libc::sockaddr_alg, salg_mask),
            offset_of!(libc::sockaddr_alg, salg_name),
        ];
        assert_eq!((size_of::<libc::sockaddr_alg>(), offsets), (88, [0, 2, 16, 20, 24]));
        let address = af_alg::address("skcipher", "cbc(aes)");
        assert_eq!(address.salg_family, 38);
        assert_eq!(&address.salg_type[..9], b"skcipher\0");
        assert_eq!(&address.salg_name[..9], b"cbc(aes)\0");
        assert_eq!((address.salg_feat, address.salg_mask), (0, 0));
        let long = af_alg::address(&"t".repeat(40), &"n".repeat(100));
        assert_eq!((long.salg_type[13], long.salg_name[63]), (0, 0));
    }

    /// Level, type and value of every control message, as the macros of cmsg(3) find them.
    fn control_messages(control: &mut Control) -> Vec<(i32, i32, Vec<u8>)> {
        let mut header = af_alg::header(&mut []);
        control.attach(&mut header);
        let mut found = Vec::new();
        // SAFETY: the macros stay within the control buffer, which lives until the end.
        unsafe {
            let mut message = libc::CMSG_FIRSTHDR(&raw const header);
            while !message.is_null() {
                let head = message.read_unaligned();
                let len = head.cmsg_len as usize - libc::CMSG_LEN(0) as usize;
                let value = std::slice::from_raw_parts(libc::CMSG_DATA(message), len).to_vec();
                found.push((head.cmsg_level, head.cmsg_type, value));
                message = libc::CMSG_NXTHDR(&raw const header, message);
            }
        }
        found
    }

    /// SOL_ALG is 279; ALG_SET_IV is 2, ALG_SET_OP 3, ALG_SET_AEAD_ASSOCLEN 4; ALG_OP_ENCRYPT is 1.
    #[test]
    fn control_messages_are_operation_iv_and_length_of_the_associated_data() {
        let mut control = Control::new(1, &[0; 12], 0, 12, true);
        let nonce = bytes(12, 3);
        // SAFETY: the nonce has 12 bytes.
        unsafe { control.set_nonce(nonce.as_ptr()) };
        control.set_aad_len(0x0102_0304);
        let iv = [&12_u32.to_ne_bytes()[..], &nonce].concat();
        assert_eq!(
            control_messages(&mut control),
            [
                (279, 3, 1_u32.to_ne_bytes().to_vec()),
                (279, 2, iv),
                (279, 4, 0x0102_0304_u32.to_ne_bytes().to_vec()),
            ]
        );
        let mut ecb = Control::new(0, &[], 0, 0, false);
        // SAFETY: a nonce of no bytes.
        unsafe { ecb.set_nonce(ptr::null()) };
        assert_eq!(control_messages(&mut ecb), [(279, 3, vec![0; 4])]);
    }

    #[test]
    fn ivs_are_laid_out_as_the_kernel_wants_them() {
        let iv = |name: &str| {
            let target = super::target_of(named(name)).unwrap();
            let mut iv = target.iv;
            iv[target.nonce_at..][..target.nonce_len].fill(0xee);
            iv
        };
        // crypto/ccm.c: three bytes of length, so the first byte is 2; the counter is zero.
        assert_eq!(iv("aes-128-ccm"), [&[2][..], &[0xee; 12], &[0; 3]].concat());
        // crypto/chacha: block counter, then the nonce.
        assert_eq!(iv("chacha20"), [&[0; 4][..], &[0xee; 12]].concat());
        assert_eq!(iv("aes-256-gcm"), [0xee; 12]);
        assert_eq!(iv("des-ede3-cbc"), [0xee; 8]);
    }

    #[test]
    fn algorithms_have_the_kernels_names() {
        for (name, kind, kernel) in [
            ("aes-128-cbc", "skcipher", "cbc(aes)"),
            ("aes-256-xts", "skcipher", "xts(aes)"),
            ("des-ede3-ctr", "skcipher", "ctr(des3_ede)"),
            ("sm4-gcm", "aead", "gcm(sm4)"),
            ("aria-192-ccm", "aead", "ccm(aria)"),
            ("chacha20-poly1305", "aead", "rfc7539(chacha20,poly1305)"),
            ("sha3-384", "hash", "sha3-384"),
            ("crc32c", "hash", "crc32c"),
            ("hmac-sha512", "hash", "hmac(sha512)"),
        ] {
            let target = super::target_of(named(name)).unwrap();
            assert_eq!((target.kind.type_name(), &*target.name), (kind, kernel), "{name}");
        }
        for name in ["xchacha20-poly1305", "aes-128-ocb", "aegis-128l", "aes-128-gmac", "xxh3-64"] {
            assert_eq!(super::target_of(named(name)), None, "{name}");
        }
    }

    #[test]
    fn a_wrong_tag_is_a_rejection_and_no_errno_is_taken_for_the_interfaces_own_code() {
        assert_eq!(af_alg::code(libc::EBADMSG), contract::raw::REJECTED);
        assert_eq!(af_alg::code(libc::EINVAL), libc::EINVAL);
        assert!((0..=3).all(|errno| af_alg::code(errno) == contract::raw::FAILED));
    }

    #[test]
    fn of_the_drivers_of_a_name_the_one_with_the_highest_priority_counts() {
        let listed = "name : gcm(aes)\ndriver : slow\npriority : 100\ninternal : no\n\n\
                  name : gcm(aes)\ndriver : fast\npriority : 400\ninternal : no\n\n\
                  name : gcm(aes)\ndriver : part\npriority : 900\ninternal : yes\n";
        assert_eq!(super::drivers(listed).into_iter().collect::<Vec<_>>(), [("gcm(aes)", "fast")]);
    }

    /// A socket for operations and the kernel's end of it: datagrams, as AF_ALG's operations are.
    /// Control messages of a level that is not its own a Unix socket lets pass and forgets.
    fn pair() -> (OwnedFd, OwnedFd) {
        let mut fds = [0; 2];
        // SAFETY: an array of two.
        let result =
            unsafe { libc::socketpair(libc::AF_UNIX, libc::SOCK_SEQPACKET, 0, fds.as_mut_ptr()) };
        assert_eq!(result, 0);
        // SAFETY: the kernel has just given them to us.
        let [ours, theirs] = fds.map(|fd| unsafe { OwnedFd::from_raw_fd(fd) });
        (ours, theirs)
    }

    /// What nobody accepts from.
    fn no_transform() -> Transform {
        Transform::stand_in(std::fs::File::open("/dev/null").unwrap().into())
    }

    fn answer(kernel: &OwnedFd, parts: &[&[u8]]) {
        let all = parts.concat();
        // SAFETY: the bytes cover their length.
        let sent = unsafe { libc::send(kernel.as_raw_fd(), all.as_ptr().cast(), all.len(), 0) };
        assert_eq!(sent, all.len().cast_signed());
    }

    fn asked(kernel: &OwnedFd) -> Vec<u8> {
        let mut all = vec![0; 1000];
        let flags = libc::MSG_DONTWAIT;
        // SAFETY: the buffer covers its length.
        let len = unsafe { libc::recv(kernel.as_raw_fd(), all.as_mut_ptr().cast(), 1000, flags) };
        all.truncate(usize::try_from(len).expect("something was asked"));
        all
    }

    fn aead(direction: Direction) -> (Session, OwnedFd) {
        let algorithm = named("aes-128-gcm");
        let (ours, kernel) = pair();
        let target = super::target_of(algorithm).unwrap();
        let state = super::AeadState::new(no_transform(), ours, &target, 16, direction);
        // SAFETY: the state's own functions.
        (unsafe { Session::new(state.into_session(direction), algorithm, direction) }, kernel)
    }

    #[test]
    fn an_aeads_parts_go_in_and_out_in_the_documented_order() {
        let (nonce, aad, input) = (bytes(12, 1), bytes(20, 2), bytes(40, 3));
        let (cipher, code) = (bytes(40, 4), bytes(16, 5));
        let (mut encrypt, kernel) = aead(Direction::Encrypt);
        answer(&kernel, &[&aad, &cipher, &code]);
        let (mut output, mut tag) = (vec![0; 40], vec![0; 16]);
        let outcome = encrypt.message(Message {
            nonce: &nonce,
            aad: &aad,
            input: &input,
            output: &mut output,
            tag: &mut tag,
        });
        assert_eq!((outcome, output, &tag), (Outcome::Done, cipher, &code));
        assert_eq!(asked(&kernel), [&aad[..], &input].concat());

        let (mut decrypt, kernel) = aead(Direction::Decrypt);
        answer(&kernel, &[&aad, &input]);
        let mut buffer = bytes(40, 6);
        let outcome = decrypt.message_in_place(&nonce, &aad, &mut buffer, &mut tag);
        assert_eq!((outcome, buffer), (Outcome::Done, input));
        assert_eq!(asked(&kernel), [&aad[..], &bytes(40, 6), &code].concat());
    }

    #[test]
    fn an_answer_that_is_short_or_missing_is_an_error_and_nothing_waits() {
        let (mut decrypt, kernel) = aead(Direction::Decrypt);
        let (nonce, mut tag) = (bytes(12, 1), bytes(16, 2));
        let outcome = decrypt.message_in_place(&nonce, &[], &mut [0; 40], &mut tag);
        assert_eq!(outcome, Outcome::Error(libc::EAGAIN));
        answer(&kernel, &[&[0; 39]]);
        let outcome = decrypt.message_in_place(&nonce, &[], &mut [0; 40], &mut tag);
        assert_eq!(outcome, Outcome::Error(libc::EMSGSIZE));
        let outcome = decrypt.message_in_place(&nonce, &vec![0; 70_000], &mut [0; 40], &mut tag);
        assert_eq!(outcome, Outcome::Error(libc::EMSGSIZE));
    }

    #[test]
    fn a_ciphers_message_is_sent_and_taken_back_and_an_empty_one_is_nothing() {
        let algorithm = named("aes-128-ctr");
        let (ours, kernel) = pair();
        let target = super::target_of(algorithm).unwrap();
        let state = super::CipherState::new(no_transform(), ours, &target, Direction::Encrypt);
        // SAFETY: the state's own functions.
        let mut session =
            unsafe { Session::new(state.into_session(), algorithm, Direction::Encrypt) };
        assert!(session.copies() && session.allocates() && session.in_place());
        answer(&kernel, &[&bytes(33, 7)]);
        let mut buffer = bytes(33, 8);
        let outcome = session.message_in_place(&bytes(16, 1), &[], &mut buffer, &mut []);
        assert_eq!((outcome, buffer), (Outcome::Done, bytes(33, 7)));
        assert_eq!(asked(&kernel), bytes(33, 8));
        let outcome = session.message_in_place(&bytes(16, 1), &[], &mut [], &mut []);
        assert_eq!(outcome, Outcome::Done);
        // A stream needs a socket of its own, which the stand-in has none to give for.
        assert_eq!(session.start(&bytes(16, 1)), Outcome::Error(contract::raw::FAILED));
    }

    #[test]
    fn a_crc_is_turned_into_the_byte_order_of_all_libraries_and_other_digests_are_not() {
        for (name, given, expected) in
            [("crc32c", vec![1, 2, 3, 4], vec![4, 3, 2, 1]), ("sha256", bytes(32, 1), bytes(32, 1))]
        {
            let (ours, kernel) = pair();
            let state = super::HashState::new(no_transform(), ours, named(name));
            // SAFETY: the state's own functions.
            let mut session =
                unsafe { Session::new(state.into_session(), named(name), Direction::Digest) };
            answer(&kernel, &[&given]);
            let mut tag = vec![0; given.len()];
            let input = bytes(100, 2);
            let outcome = session.message(Message {
                nonce: &[],
                aad: &[],
                input: &input,
                output: &mut [],
                tag: &mut tag,
            });
            assert_eq!((outcome, tag), (Outcome::Done, expected), "{name}");
            assert_eq!(asked(&kernel), input, "{name}");
        }
    }
}
