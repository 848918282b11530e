//! The Linux kernel's ciphers through its sockets for user space: ciphers, authenticated encryption, digests,
//! what the kernel calls them, and which kernel it is. `README.md` beside this file says how, and that it has
//! not been run against a kernel that has them.

mod af_alg;

use crate::family::{self, Attached, Family, In, Out, Request, operations, steps};
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

pub(crate) fn attach(name: Option<&str>) -> Attached {
    af_alg::probe().map_err(|why| LoadError::Unusable { path: PathBuf::from(KERNEL_PATH), why })?;
    let (version, build) = version_and_build();
    family::library(name, "linux-kernel", &version, build, Kernel)
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
    /// There are whole messages only.
    Whole,
}

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
        // The nonce, then the same counter with 64 bits.
        (Primitive::XChaCha20, Mode::Stream) => (vec![0; 32], 0),
        _ => (vec![0; algorithm.nonce_len], 0),
    };
    let chain = match algorithm.mode {
        Mode::Ecb | Mode::Xts => Chain::Starts,
        Mode::Essiv | Mode::Hctr2 | Mode::Adiantum => Chain::Whole,
        _ => Chain::Carries,
    };
    Some(Target { kind, name, iv, nonce_at, nonce_len: algorithm.nonce_len, chain })
}

fn name(algorithm: &Algorithm) -> Option<(Kind, String)> {
    match algorithm.mode {
        Mode::None | Mode::Hmac | Mode::Keyed | Mode::Universal => {
            return hash_name(algorithm).map(|name| (Kind::Hash, name));
        }
        Mode::Stream => {
            let name = match algorithm.cipher {
                Primitive::ChaCha20 => "chacha20",
                Primitive::XChaCha20 => "xchacha20",
                Primitive::Salsa20 => "salsa20",
                _ => return None,
            };
            return Some((Kind::Skcipher, name.to_owned()));
        }
        Mode::Adiantum => {
            let Primitive::Adiantum { rounds } = algorithm.cipher else { return None };
            return Some((Kind::Skcipher, format!("adiantum(xchacha{rounds},aes)")));
        }
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
        Primitive::Des => "des",
        Primitive::Serpent => "serpent",
        Primitive::Twofish => "twofish",
        Primitive::Seed => "seed",
        Primitive::Blowfish => "blowfish",
        Primitive::Cast5 => "cast5",
        _ => return None,
    };
    let (kind, mode) = match algorithm.mode {
        Mode::Ecb => (Kind::Skcipher, "ecb"),
        Mode::Cbc => (Kind::Skcipher, "cbc"),
        Mode::Essiv => return Some((Kind::Skcipher, format!("essiv(cbc({cipher}),sha256)"))),
        Mode::Cfb => (Kind::Skcipher, "cfb"),
        Mode::Ofb => (Kind::Skcipher, "ofb"),
        Mode::Ctr => (Kind::Skcipher, "ctr"),
        Mode::Xts => (Kind::Skcipher, "xts"),
        Mode::Hctr2 => (Kind::Skcipher, "hctr2"),
        Mode::Gcm => (Kind::Aead, "gcm"),
        Mode::Ccm => (Kind::Aead, "ccm"),
        Mode::Cmac => (Kind::Hash, "cmac"),
        _ => return None,
    };
    Some((kind, format!("{mode}({cipher})")))
}

fn hash_name(algorithm: &Algorithm) -> Option<String> {
    let digest = match algorithm.cipher {
        Primitive::Md4 => "md4",
        Primitive::Md5 => "md5",
        Primitive::Sha1 => "sha1",
        Primitive::Sha224 => "sha224",
        Primitive::Sha256 => "sha256",
        Primitive::Sha384 => "sha384",
        Primitive::Sha512 => "sha512",
        Primitive::Sha3_224 => "sha3-224",
        Primitive::Sha3_256 => "sha3-256",
        Primitive::Sha3_384 => "sha3-384",
        Primitive::Sha3_512 => "sha3-512",
        Primitive::Blake2b => "blake2b-512",
        Primitive::Blake2b256 => "blake2b-256",
        Primitive::Blake2s => "blake2s-256",
        Primitive::Sm3 => "sm3",
        Primitive::Ripemd160 => "rmd160",
        Primitive::Whirlpool => "wp512",
        Primitive::Streebog256 => "streebog256",
        Primitive::Streebog512 => "streebog512",
        Primitive::Ghash => "ghash",
        Primitive::Polyval => "polyval",
        Primitive::Xxh64 => "xxhash64",
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

#[derive(Clone, Copy, PartialEq, Eq)]
enum Progress {
    /// The next update carries operation and IV.
    Begun,
    /// The kernel goes on from the last block.
    UnderWay,
    /// A part of a block ended it.
    Ended,
}

fn operation(direction: Direction) -> u32 {
    let number =
        if direction == Direction::Encrypt { libc::ALG_OP_ENCRYPT } else { libc::ALG_OP_DECRYPT };
    number.cast_unsigned()
}

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
        let streams = self.chain != Chain::Whole;
        Table::new(self, raw::IN_PLACE | raw::COPIES | raw::ALLOCATES, c"sendmsg, recv")
            .streams_if(streams)
            .raw()
    }
}

steps! { #[inline(always)] impl for CipherState;
    fn crypt(&mut self, m: &raw::Message) -> Result<(), i32> {
        // The kernel has no operation over nothing: it would wait for the first byte.
        if m.len == 0 {
            return Ok(());
        }
        let fd = self.operations.as_raw_fd();
        self.control.set_nonce(m.nonce);
        if m.len <= self.capacity {
            return transfer(fd, Some(&mut self.control), (m.input, m.output, m.len), false);
        }
        if self.chain != Chain::Carries {
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
        Ok(())
    }
}

impl CipherState {
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
            if self.chain != Chain::Carries {
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
}

steps! { #[inline(always)] impl for AeadState;
    /// In: associated data, plaintext. Out: associated data, ciphertext, tag.
    fn seal(&mut self, m: &raw::Message) -> Result<(), i32> {
        let mut sent = [part(m.aad, m.aad_len), part(m.input, m.len)];
        let mut received = [
            part(self.returned_aad.as_mut_ptr(), m.aad_len),
            part(m.output, m.len),
            part(m.tag, self.tag_len),
        ];
        self.send(m, &mut sent)?;
        self.receive(&mut received, m.aad_len + m.len + self.tag_len)
    }

    /// In: associated data, ciphertext, tag. Out: associated data, plaintext.
    fn unseal(&mut self, m: &raw::Message) -> Result<(), i32> {
        let mut sent = [part(m.aad, m.aad_len), part(m.input, m.len), part(m.tag, self.tag_len)];
        let expected = m.aad_len + m.len;
        // Without room for a byte the kernel does not begin: a message of nothing but its tag
        // gets a byte that stays unused.
        let room = m.aad_len + usize::from(expected == 0);
        let mut received = [part(self.returned_aad.as_mut_ptr(), room), part(m.output, m.len)];
        self.send(m, &mut sent)?;
        self.receive(&mut received, expected)
    }
}

impl AeadState {
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

// Digests and MACs: `send` of the message, `recv` of the digest.

/// SHA-512's, SHA3-512's, BLAKE2b's, Whirlpool's and Streebog's.
const LONGEST_DIGEST: usize = 64;

struct HashState {
    operations: OwnedFd,
    /// Keeps the key alive as long as the socket.
    _transform: Transform,
    len: usize,
    /// The kernel writes checksums, which are numbers, with the least significant byte first.
    reversed: bool,
    /// Parts of a message have been sent and its digest not yet taken.
    under_way: bool,
}

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
            reversed: algorithm.is_checksum(),
            under_way: false,
        }
    }

    fn into_session(self) -> raw::Session {
        Table::new(self, 0, c"send, recv").parts().raw()
    }
}

steps! { impl for HashState;
    fn send(&mut self, input: In, len: usize, more: bool) -> Result<(), i32> {
        let flags = if more { libc::MSG_MORE } else { 0 };
        whole(libc::send(self.operations.as_raw_fd(), input.cast(), len, flags), len)
    }

    fn take(&mut self, tag: Out) -> Result<(), i32> {
        let fd = self.operations.as_raw_fd();
        self.under_way = false;
        whole(libc::recv(fd, tag.cast(), self.len, 0), self.len)?;
        if self.reversed {
            slice::from_raw_parts_mut(tag, self.len).reverse();
        }
        Ok(())
    }
}

impl HashState {
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
mod tests;
