//! AF_ALG sockets (`Documentation/crypto/userspace-if.rst` and `linux/if_alg.h` of the kernel), and the
//! control messages that go with the data: operation, IV, length of the associated data.

use crate::family::Aligned;
use contract::{OpenError, raw};
use std::ffi::{c_int, c_void};
use std::mem::{size_of, zeroed};
use std::os::fd::{AsRawFd, FromRawFd as _, OwnedFd, RawFd};
use std::{io, ptr};

/// Bytes that a socket is asked to hold: the whole of a message of a megabyte with its associated
/// data and tag. More would run against `net.core.optmem_max`, which bounds the lists of pages.
const WANTED_BUFFER: c_int = (1 << 20) + (64 << 10);

/// Whether this kernel has the sockets; if not, why.
pub(crate) fn probe() -> Result<(), String> {
    match socket() {
        Ok(_) => Ok(()),
        Err(error) => Err(reason(&error)),
    }
}

/// What an error of the first call means.
pub(crate) fn reason(error: &io::Error) -> String {
    let why = match error.raw_os_error() {
        Some(libc::EAFNOSUPPORT) => {
            "it was built without CONFIG_CRYPTO_USER_API, or the module af_alg is not there"
        }
        Some(libc::EPERM | libc::EACCES) => "they are not allowed here, as in many containers",
        _ => "the call failed",
    };
    format!("this kernel gives no AF_ALG socket: {error}; {why}")
}

fn socket() -> io::Result<OwnedFd> {
    // SAFETY: takes three numbers.
    owned(unsafe { libc::socket(libc::AF_ALG, libc::SOCK_SEQPACKET | libc::SOCK_CLOEXEC, 0) })
}

fn owned(fd: RawFd) -> io::Result<OwnedFd> {
    if fd < 0 {
        return Err(io::Error::last_os_error());
    }
    // SAFETY: the kernel has just given it to us.
    Ok(unsafe { OwnedFd::from_raw_fd(fd) })
}

/// `struct sockaddr_alg` with both names, which are cut where they do not fit; none of ours are.
pub(crate) fn address(kind: &str, name: &str) -> libc::sockaddr_alg {
    // SAFETY: numbers and arrays of numbers, of which zeroes are a valid value.
    let mut address: libc::sockaddr_alg = unsafe { zeroed() };
    address.salg_family = libc::AF_ALG as u16;
    // One byte less each: a NUL ends them.
    let room = address.salg_type.len() - 1;
    address.salg_type[..room].iter_mut().zip(kind.bytes()).for_each(|(to, from)| *to = from);
    let room = address.salg_name.len() - 1;
    address.salg_name[..room].iter_mut().zip(name.bytes()).for_each(|(to, from)| *to = from);
    address
}

/// A transformation of the kernel's that holds the key; operations go through sockets accepted
/// from it.
#[derive(Debug)]
pub(crate) struct Transform(OwnedFd);

impl Transform {
    pub(crate) fn bind(kind: &str, name: &str) -> Result<Self, OpenError> {
        let failed =
            |call: &str, e: &io::Error| OpenError::Failed(format!("{call} of {kind} {name}: {e}"));
        let fd = socket().map_err(|e| failed("socket", &e))?;
        let address = address(kind, name);
        let len = u32::try_from(size_of::<libc::sockaddr_alg>()).expect("88 bytes");
        // SAFETY: the address is a whole `sockaddr_alg`.
        let result = unsafe { libc::bind(fd.as_raw_fd(), (&raw const address).cast(), len) };
        if result == 0 {
            return Ok(Self(fd));
        }
        let error = io::Error::last_os_error();
        Err(match error.raw_os_error() {
            Some(libc::ENOENT | libc::EAFNOSUPPORT) => {
                OpenError::Unsupported(format!("this kernel has no {kind} {name}"))
            }
            _ => failed("bind", &error),
        })
    }

    pub(crate) fn set_key(&self, key: &[u8]) -> Result<(), OpenError> {
        self.set("ALG_SET_KEY", libc::ALG_SET_KEY, key.as_ptr().cast(), key.len())
    }

    /// The length itself is the option's length; there is no value.
    pub(crate) fn set_tag_len(&self, len: usize) -> Result<(), OpenError> {
        self.set("ALG_SET_AEAD_AUTHSIZE", libc::ALG_SET_AEAD_AUTHSIZE, ptr::null(), len)
    }

    fn set(
        &self,
        what: &str,
        option: c_int,
        value: *const c_void,
        len: usize,
    ) -> Result<(), OpenError> {
        let len = u32::try_from(len).expect("keys and tags are a few bytes");
        // SAFETY: the value covers its length, or is null where the kernel reads none.
        match unsafe { libc::setsockopt(self.0.as_raw_fd(), libc::SOL_ALG, option, value, len) } {
            0 => Ok(()),
            _ => Err(OpenError::Failed(format!(
                "setsockopt({what}): {}",
                io::Error::last_os_error()
            ))),
        }
    }

    /// A socket for operations.
    pub(crate) fn accept(&self) -> io::Result<OwnedFd> {
        // SAFETY: no address is asked for.
        owned(unsafe {
            libc::accept4(self.0.as_raw_fd(), ptr::null_mut(), ptr::null_mut(), libc::SOCK_CLOEXEC)
        })
    }

    /// [`Transform::accept`] while a session is opened.
    pub(crate) fn operations(&self) -> Result<OwnedFd, OpenError> {
        self.accept().map_err(|e| OpenError::Failed(format!("accept: {e}")))
    }

    /// Puts a new socket in the place of one that still holds what an error left in it.
    #[cold]
    pub(crate) fn renew(&self, operations: &mut OwnedFd) {
        if let Ok(new) = self.accept() {
            capacity(&new);
            *operations = new;
        }
    }

    #[cfg(test)]
    pub(crate) fn stand_in(fd: OwnedFd) -> Self {
        Self(fd)
    }
}

/// Makes a socket's buffers large and says what it takes and gives in one operation, in bytes.
pub(crate) fn capacity(fd: &OwnedFd) -> usize {
    let held = [(libc::SO_SNDBUFFORCE, libc::SO_SNDBUF), (libc::SO_RCVBUFFORCE, libc::SO_RCVBUF)]
        .map(|(force, plain)| {
            // The first is for the privileged, the second goes as far as net.core.*mem_max.
            if !set_buffer(fd, force) {
                set_buffer(fd, plain);
            }
            buffer(fd, plain)
        });
    // Whole pages, of which the last is never filled (af_alg_writable, af_alg_readable).
    let held = held[0].min(held[1]) & !0xfff;
    held.saturating_sub(0x1000).max(0x1000)
}

fn set_buffer(fd: &OwnedFd, option: c_int) -> bool {
    let len = size_of::<c_int>() as u32;
    let wanted = WANTED_BUFFER;
    let value = (&raw const wanted).cast();
    // SAFETY: the option takes an int.
    unsafe { libc::setsockopt(fd.as_raw_fd(), libc::SOL_SOCKET, option, value, len) == 0 }
}

fn buffer(fd: &OwnedFd, option: c_int) -> usize {
    let (mut value, mut len): (c_int, u32) = (0, size_of::<c_int>() as u32);
    // SAFETY: the option gives an int.
    let result = unsafe {
        libc::getsockopt(
            fd.as_raw_fd(),
            libc::SOL_SOCKET,
            option,
            (&raw mut value).cast(),
            &raw mut len,
        )
    };
    if result == 0 { usize::try_from(value).unwrap_or(0) } else { 0 }
}

/// A part of a message that is read or written.
pub(crate) fn part(bytes: *const u8, len: usize) -> libc::iovec {
    libc::iovec { iov_base: bytes.cast_mut().cast(), iov_len: len }
}

/// A `msghdr` over parts, without control messages.
pub(crate) fn header(parts: &mut [libc::iovec]) -> libc::msghdr {
    // SAFETY: numbers and pointers, of which zeroes are a valid value.
    let mut header: libc::msghdr = unsafe { zeroed() };
    header.msg_iov = parts.as_mut_ptr();
    header.msg_iovlen = parts.len() as _;
    header
}

/// What a transfer of `expected` bytes returned, as a code: the kernel's error, or that it was not
/// the whole.
#[inline]
pub(crate) fn whole(transferred: isize, expected: usize) -> Result<(), i32> {
    if transferred.cast_unsigned() == expected {
        return Ok(());
    }
    Err(if transferred < 0 { last_code() } else { libc::EMSGSIZE })
}

/// The last call's error as a code of the interface: an errno, but for those that are the
/// interface's own small numbers.
#[cold]
fn last_code() -> i32 {
    code(io::Error::last_os_error().raw_os_error().unwrap_or(0))
}

pub(crate) fn code(errno: c_int) -> i32 {
    match errno {
        libc::EBADMSG => raw::REJECTED,
        0..=3 => raw::FAILED,
        other => other,
    }
}

/// A message's control buffer, laid out once; IV and length are written over for each message.
pub(crate) struct Control {
    bytes: Aligned,
    len: usize,
    nonce_at: Option<usize>,
    nonce_len: usize,
    aad_len_at: Option<usize>,
}

impl Control {
    /// `operation` is `ALG_OP_ENCRYPT` or `ALG_OP_DECRYPT`; the nonce lies in `iv` from `nonce_at`.
    pub(crate) fn new(
        operation: u32,
        iv: &[u8],
        nonce_at: usize,
        nonce_len: usize,
        has_aad: bool,
    ) -> Self {
        let mut bytes = Vec::new();
        message(&mut bytes, libc::ALG_SET_OP, &operation.to_ne_bytes());
        let iv_at = (!iv.is_empty()).then(|| {
            // struct af_alg_iv: the length, then the bytes.
            let len = u32::try_from(iv.len()).expect("IVs are a few bytes");
            let value = [&len.to_ne_bytes()[..], iv].concat();
            message(&mut bytes, libc::ALG_SET_IV, &value) + size_of::<u32>()
        });
        let aad_len_at = has_aad.then(|| message(&mut bytes, libc::ALG_SET_AEAD_ASSOCLEN, &[0; 4]));
        Self {
            len: bytes.len(),
            bytes: Aligned::copied(&bytes),
            nonce_at: iv_at.map(|at| at + nonce_at),
            nonce_len,
            aad_len_at,
        }
    }

    /// # Safety
    /// `nonce` has the algorithm's length.
    #[inline]
    pub(crate) unsafe fn set_nonce(&mut self, nonce: *const u8) {
        if let Some(at) = self.nonce_at {
            // SAFETY: the buffer has the nonce's bytes from there on; the caller's promise.
            unsafe {
                let to = self.bytes.as_mut_ptr::<u8>().add(at);
                ptr::copy_nonoverlapping(nonce, to, self.nonce_len);
            }
        }
    }

    #[inline]
    pub(crate) fn set_aad_len(&mut self, len: u32) {
        if let Some(at) = self.aad_len_at {
            // SAFETY: the buffer has four bytes from there on.
            unsafe { self.bytes.as_mut_ptr::<u8>().add(at).cast::<u32>().write_unaligned(len) }
        }
    }

    /// Puts the buffer into a message.
    #[inline]
    pub(crate) fn attach(&mut self, header: &mut libc::msghdr) {
        header.msg_control = self.bytes.as_mut_ptr();
        header.msg_controllen = self.len as _;
    }
}

/// Appends one control message as cmsg(3) lays them out, and says where its value begins.
fn message(bytes: &mut Vec<u8>, kind: i32, value: &[u8]) -> usize {
    let start = bytes.len();
    let len = u32::try_from(value.len()).expect("values are a few bytes");
    // SAFETY: both compute with numbers only.
    let (space, len) = unsafe { (libc::CMSG_SPACE(len) as usize, libc::CMSG_LEN(len) as usize) };
    bytes.extend_from_slice(&len.to_ne_bytes());
    bytes.extend_from_slice(&libc::SOL_ALG.to_ne_bytes());
    bytes.extend_from_slice(&kind.to_ne_bytes());
    let at = start + len - value.len();
    bytes.resize(at, 0);
    bytes.extend_from_slice(value);
    bytes.resize(start + space, 0);
    at
}
