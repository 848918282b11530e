//! libaegis through its public C functions, those of `aegis128l.h` and its five sisters, which differ in the
//! prefix only. `aegis/README.md` says which, and why.

use crate::family::{
    self, Aligned, Attached, Family, In, KEY_IN_EACH_MESSAGE, Out, Request, c_concat, operations,
};
use base::model::{Algorithm, Primitive};
use contract::loader::SharedObject;
use contract::{OpenError, Table, raw};
use std::ffi::{CStr, c_int};
use std::ptr;

pub(crate) fn attach(object: SharedObject, name: Option<&str>) -> Attached {
    // It picks the implementations for this CPU. SAFETY: the type is that of aegis.h; called from one thread.
    if unsafe { object.asked::<c_int>("aegis_init")? } != 0 {
        return Err(object.unusable("aegis_init failed"));
    }
    let build = build(&object);
    family::library(name, "libaegis", UNVERSIONED, build, Aegis { object })
}

/// The library has neither a function nor a constant that names its version.
const UNVERSIONED: &str = "unversioned";

/// Which CPU features the library found and so uses.
fn build(object: &SharedObject) -> Vec<String> {
    let features = "neon neon_aes neon_sha3 sve2_aes aesni avx avx2 avx512f avx512vl narrow_avx512 \
        vaes altivec";
    let found = features.split_whitespace().filter(|feature| {
        let symbol = format!("aegis_runtime_has_{feature}");
        // SAFETY: these functions take nothing and return an int.
        unsafe { object.asked::<c_int>(&symbol) }.is_ok_and(|answer| answer != 0)
    });
    let found: Vec<&str> = found.collect();
    vec![format!("cpu features: {}", found.join(" "))]
}

struct Aegis {
    object: SharedObject,
}

// SAFETY: the session's functions follow the library's headers.
unsafe impl Family for Aegis {
    fn open(request: &Request<'_, Self>) -> Result<raw::Session, OpenError> {
        let (prefix, calls) = names(request.algorithm).ok_or_else(|| request.absent("libaegis"))?;
        let decrypts = request.decrypts();
        let functions = Functions::find(&request.library.object, prefix, decrypts)?;
        Ok(open_session(functions, request, calls[usize::from(decrypts)]))
    }
}

/// What the library's names of an algorithm begin with, and what a message of either direction calls.
fn names(algorithm: &Algorithm) -> Option<(&'static str, [&'static CStr; 2])> {
    macro_rules! names {
        ($prefix:literal) => {
            (
                $prefix,
                [c_concat!($prefix, "_encrypt_detached"), c_concat!($prefix, "_decrypt_detached")],
            )
        };
    }
    Some(match algorithm.cipher {
        Primitive::Aegis128 { lanes: 1 } => names!("aegis128l"),
        Primitive::Aegis128 { lanes: 2 } => names!("aegis128x2"),
        Primitive::Aegis128 { lanes: 4 } => names!("aegis128x4"),
        Primitive::Aegis256 { lanes: 1 } => names!("aegis256"),
        Primitive::Aegis256 { lanes: 2 } => names!("aegis256x2"),
        Primitive::Aegis256 { lanes: 4 } => names!("aegis256x4"),
        _ => return None,
    })
}

// What runs inside the clock.

/// Bytes for an incremental state. The library exports no function that tells the size, and the
/// headers' largest, of AEGIS-128X4, has grown to 832: this is several times that.
const STATE_LEN: usize = 4096;

struct State {
    functions: Functions,
    key: Aligned,
    key_len: usize,
    tag_len: usize,
    stream: Aligned,
}

/// The table for the timing loop; `close` there frees the state. AEGIS has no key schedule: key
/// and nonce go into its state together.
fn open_session(
    functions: Functions,
    request: &Request<'_, Aegis>,
    call: &'static CStr,
) -> raw::Session {
    let streams = functions.stream.is_some();
    let state = State {
        functions,
        key: Aligned::copied(request.key),
        key_len: request.key.len(),
        tag_len: request.algorithm.tag_len,
        stream: Aligned::zeroed(STATE_LEN),
    };
    let table = Table::new(state, raw::IN_PLACE, call).decrypts(request.decrypts());
    table.streams_if(streams).rekeys(KEY_IN_EACH_MESSAGE).raw()
}

operations! { impl for State;
    fn message(&mut self, m) {
        let (key, encrypt, tag_len) = (self.key.as_ptr(), self.functions.encrypt, self.tag_len);
        let result =
            encrypt(m.output, m.tag, tag_len, m.input, m.len, m.aad, m.aad_len, m.nonce, key);
        if result == 0 { raw::OK } else { raw::FAILED }
    }

    /// The only error of decryption under a tag length that the library knows is a wrong tag.
    fn decrypt(&mut self, m) {
        let (key, decrypt, tag_len) = (self.key.as_ptr(), self.functions.decrypt, self.tag_len);
        let result =
            decrypt(m.output, m.input, m.len, m.tag, tag_len, m.aad, m.aad_len, m.nonce, key);
        if result == 0 { raw::OK } else { raw::REJECTED }
    }

    fn start(&mut self, nonce) {
        // No associated data.
        let Some(stream) = self.functions.stream else { return raw::FAILED };
        (stream.init)(self.stream.as_mut_ptr(), ptr::null(), 0, nonce, self.key.as_ptr());
        raw::OK
    }

    fn update(&mut self, input, output, len) {
        let Some(stream) = self.functions.stream else { return raw::FAILED };
        match (stream.update)(self.stream.as_mut_ptr(), output, input, len) {
            0 => raw::OK,
            _ => raw::FAILED,
        }
    }

    /// Each message takes its key as an argument.
    fn rekey(&mut self, key) {
        self.key.overwrite(key, self.key_len);
        raw::OK
    }
}

/// `*_encrypt_detached`: ciphertext, tag, its length, message, length, associated data, length,
/// nonce, key.
type EncryptFn = unsafe extern "C" fn(Out, Out, usize, In, usize, In, usize, In, In) -> c_int;
/// `*_decrypt_detached`: message, ciphertext, length, tag, its length, associated data, length,
/// nonce, key.
type DecryptFn = unsafe extern "C" fn(Out, In, usize, In, usize, In, usize, In, In) -> c_int;
/// `*_state_init`: state, associated data, length, nonce, key.
type InitFn = unsafe extern "C" fn(Out, In, usize, In, In);
/// `*_state_encrypt_update` and `*_state_decrypt_update`: state, output, input, length.
type UpdateFn = unsafe extern "C" fn(Out, Out, In, usize) -> c_int;

struct Functions {
    encrypt: EncryptFn,
    decrypt: DecryptFn,
    stream: Option<Stream>,
}

/// The incremental functions of a direction, which write as many bytes as they are given.
#[derive(Clone, Copy)]
struct Stream {
    init: InitFn,
    update: UpdateFn,
}

impl Functions {
    fn find(object: &SharedObject, prefix: &str, decrypts: bool) -> Result<Self, OpenError> {
        // SAFETY: the types are those of the variant's header, in every version.
        unsafe {
            Ok(Self {
                encrypt: object.exported(&format!("{prefix}_encrypt_detached"))?,
                decrypt: object.exported(&format!("{prefix}_decrypt_detached"))?,
                stream: Stream::find(object, prefix, decrypts),
            })
        }
    }
}

impl Stream {
    /// Up to 0.3 at least, functions of the same names took two arguments more, for output that
    /// lags behind, and ended in `*_detached_final`; `*_state_decrypt_final` came with the change.
    fn find(object: &SharedObject, prefix: &str, decrypts: bool) -> Option<Self> {
        let symbol = |suffix: &str| format!("{prefix}_state_{suffix}");
        if object.has(&symbol("encrypt_detached_final")) || !object.has(&symbol("decrypt_final")) {
            return None;
        }
        let update = if decrypts { "decrypt_update" } else { "encrypt_update" };
        // SAFETY: the types are those of the variant's header in the versions that get here.
        unsafe {
            Some(Self {
                init: object.function(&symbol("init"))?,
                update: object.function(&symbol(update))?,
            })
        }
    }
}

#[cfg(test)]
mod tests {
    use crate::testing::AEGIS;
    use base::model::{Algorithm, Direction};
    use contract::Outcome;

    /// draft-irtf-cfrg-aegis-aead, appendix "AEGIS-128L Test Vectors" and "AEGIS-256 Test Vectors",
    /// test vector 1: a check that does not hang on the reference implementations.
    #[test]
    fn the_drafts_first_vectors_come_out() {
        let [key_start, nonce_start] = ["1001", "1000"].map(|h| hex::decode(h).unwrap());
        let padded = |start: &[u8], second: u8, len: usize| {
            let mut bytes = vec![0; len];
            bytes[0] = start[0];
            bytes[1] = second;
            bytes
        };
        for library in AEGIS.libraries() {
            for (name, len, ciphertext, tag) in [
                (
                    "aegis-128l",
                    16,
                    "c1c0e58bd913006feba00f4b3cc3594e",
                    "25835bfbb21632176cf03840687cb968cace4617af1bd0f7d064c639a5c79ee4",
                ),
                (
                    "aegis-256",
                    32,
                    "754fc3d8c973246dcc6d741412a4b236",
                    "1181a1d18091082bf0266f66297d167d2e68b845f61a3b0527d31fc7b7b89f13",
                ),
            ] {
                let algorithm = Algorithm::find(name).unwrap();
                let key = padded(&key_start, 1, len);
                let nonce = padded(&nonce_start, 0, len).into_iter().enumerate();
                // 10 00 02 00 …: the second byte of the key, the third of the nonce.
                let nonce: Vec<u8> = nonce.map(|(i, b)| if i == 2 { 2 } else { b }).collect();
                let mut session = library.open(algorithm, Direction::Encrypt, &key).unwrap();
                let (mut buffer, mut code) = ([0; 16], [0; 32]);
                let outcome = session.message_in_place(&nonce, &[], &mut buffer, &mut code);
                assert_eq!(outcome, Outcome::Done);
                assert_eq!(
                    (hex::encode(buffer), hex::encode(code)),
                    (ciphertext.into(), tag.into())
                );
            }
        }
    }
}
