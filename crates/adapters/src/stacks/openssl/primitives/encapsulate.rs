//! Encapsulating and decapsulating a secret.

use crate::stacks::openssl::primitives::libcrypto::{Context, Key, KeyKind};
use crate::stacks::openssl::primitives::{Library, no_such};
use crate::stacks::reference::{Receiver, encapsulate};
use crate::stacks::{Made, POOL, Results, Span, Trouble, Workbench};
use record::tls::{Operation, Scheme};
use std::ptr::null;

/// Bytes of a ciphertext, at most.
const CIPHERTEXT: usize = 1120;
/// Bytes of a secret, at most.
const SECRET: usize = 64;

/// The scheme, if it encapsulates anything.
pub(crate) fn kem(scheme: Scheme) -> Option<Scheme> {
    scheme.operations().contains(&Operation::Encapsulate).then_some(scheme)
}

/// Which of the two.
#[derive(Clone, Copy)]
pub(crate) enum Side {
    Sender,
    Receiver,
}

/// A context that is ready for a key.
#[inline]
pub(crate) fn ready(library: &'static Library, key: &Key, side: Side) -> Result<Context, Trouble> {
    let context = Context::new(library, key.raw)?;
    let (start, call) = match side {
        Side::Sender => (library.f.EVP_PKEY_encapsulate_init, "EVP_PKEY_encapsulate_init"),
        Side::Receiver => (library.f.EVP_PKEY_decapsulate_init, "EVP_PKEY_decapsulate_init"),
    };
    // AWS-LC starts with the call itself.
    if let Some(start) = start {
        // SAFETY: the context is live; no parameters.
        library.done(unsafe { start(context.raw, null()) } == 1, call)?;
    }
    Ok(context)
}

/// Puts ciphertext and secret into a place, the secret first, because its length is known.
#[inline]
fn send(
    library: &Library,
    context: &Context,
    place: &mut [u8],
    length: &mut usize,
) -> Result<(), Trouble> {
    let call =
        library.f.EVP_PKEY_encapsulate.ok_or_else(|| Trouble::missing("EVP_PKEY_encapsulate"))?;
    let (secret, ciphertext) = place.split_at_mut(SECRET);
    let (mut of_secret, mut of_ciphertext) = (secret.len(), ciphertext.len());
    // SAFETY: the context is ready; both places are as long as is said.
    let done = unsafe {
        let (at, length) = (ciphertext.as_mut_ptr(), &raw mut of_ciphertext);
        call(context.raw, at, length, secret.as_mut_ptr(), &raw mut of_secret)
    };
    library.done(done == 1, "EVP_PKEY_encapsulate")?;
    *length = SECRET + of_ciphertext;
    Ok(())
}

#[inline]
pub(crate) fn receive(
    library: &Library,
    context: &Context,
    ciphertext: &[u8],
    place: &mut [u8],
    length: &mut usize,
) -> Result<(), Trouble> {
    let call =
        library.f.EVP_PKEY_decapsulate.ok_or_else(|| Trouble::missing("EVP_PKEY_decapsulate"))?;
    *length = place.len();
    let (from, bytes) = (ciphertext.as_ptr(), ciphertext.len());
    // SAFETY: the context is ready; ciphertext and place are as long as is said.
    let done = unsafe { call(context.raw, place.as_mut_ptr(), length, from, bytes) };
    library.done(done == 1, "EVP_PKEY_decapsulate")
}

/// The secret that a key finds in a ciphertext.
pub(crate) fn received(
    library: &'static Library,
    key: &Key,
    ciphertext: &[u8],
) -> Result<Vec<u8>, Trouble> {
    let (mut place, mut length) = (vec![0; SECRET], 0);
    let context = ready(library, key, Side::Receiver)?;
    receive(library, &context, ciphertext, &mut place, &mut length)?;
    place.truncate(length);
    Ok(place)
}

pub(crate) fn open(library: &'static Library, scheme: Scheme) -> Made {
    let kem = kem(scheme).ok_or_else(|| no_such(scheme))?;
    let kind = KeyKind::new(library, scheme)?;
    let own = kind.maker()?.make(library)?;
    let receivers = (0..POOL).map(|_| {
        let receiver = Receiver::new(kem);
        let public = receiver.public();
        let key = kind.decode(own.raw, &public)?;
        let ready = ready(library, &key, Side::Sender)?;
        Ok(For { receiver, public, ready, _key: key })
    });
    let receivers = receivers.collect::<Result<Vec<_>, Trouble>>()?;
    let results = Results::new(SECRET + CIPHERTEXT);
    Ok(Box::new(Send { library, kind, own, receivers, results }))
}

/// A holder of a key of another implementation.
struct For {
    receiver: Receiver,
    public: Vec<u8>,
    ready: Context,
    _key: Key,
}

struct Send {
    library: &'static Library,
    kind: KeyKind,
    /// What the others' keys are made after.
    own: Key,
    receivers: Vec<For>,
    results: Results,
}

impl Workbench for Send {
    fn run(&mut self, span: Span, times: u32) -> Result<(), Trouble> {
        let library = self.library;
        for turn in 0..times as usize {
            let of = &self.receivers[turn % POOL];
            let (place, length) = self.results.of(span, turn);
            match span {
                Span::Whole => {
                    let key = self.kind.decode(self.own.raw, &of.public)?;
                    send(library, &ready(library, &key, Side::Sender)?, place, length)?;
                }
                Span::Call => send(library, &of.ready, place, length)?,
            }
        }
        Ok(())
    }

    fn prove(&mut self) -> Result<(), String> {
        let right = |member: usize, sent: &[u8]| {
            let (secret, ciphertext) = sent.split_at(SECRET);
            let received = self.receivers[member].receiver.decapsulate(ciphertext);
            received.is_some_and(|r| secret.starts_with(&r))
        };
        self.results.are(right, "another secret comes out than was put in")?;
        if !self.results.differ(|sent| sent) {
            return Err("the same secret was put in twice".to_owned());
        }
        self.results.clear();
        Ok(())
    }

    fn checks(&self) -> Vec<String> {
        vec![
            "RustCrypto takes every secret out of its ciphertext".to_owned(),
            "no two secrets are the same".to_owned(),
        ]
    }
}

pub(crate) fn open_receiver(library: &'static Library, scheme: Scheme) -> Made {
    let kem = kem(scheme).ok_or_else(|| no_such(scheme))?;
    let kind = KeyKind::new(library, scheme)?;
    let maker = kind.maker()?;
    let from = (0..POOL).map(|_| {
        let key = maker.make(library)?;
        let mut public = vec![0; kind.width()];
        let length = kind.encode(key.raw, &mut public)?;
        let sent = encapsulate(kem, &public[..length]);
        let (ciphertext, secret) =
            sent.ok_or_else(|| Trouble::Failed("a new public key is none".to_owned()))?;
        let ready = ready(library, &key, Side::Receiver)?;
        Ok(From { key, ready, ciphertext, secret })
    });
    let from = from.collect::<Result<Vec<_>, Trouble>>()?;
    Ok(Box::new(Receive { library, from, results: Results::new(SECRET), turned: 0 }))
}

/// What another implementation has sent to a key of the library's.
struct From {
    key: Key,
    ready: Context,
    ciphertext: Vec<u8>,
    secret: Vec<u8>,
}

struct Receive {
    library: &'static Library,
    from: Vec<From>,
    results: Results,
    /// Whose bit was changed last.
    turned: usize,
}

impl Receive {
    /// A changed ciphertext must not give the secret: it is refused, or gives another (FIPS 203 6.3).
    fn notices_changes(&self, member: usize) -> Result<(), String> {
        let from = &self.from[member];
        let mut ciphertext = from.ciphertext.clone();
        ciphertext[100 * (member + 1)] ^= 1;
        let found = received(self.library, &from.key, &ciphertext);
        self.library.forget_errors();
        match found {
            Ok(secret) if secret == from.secret => Err("a changed bit was not noticed".to_owned()),
            _ => Ok(()),
        }
    }
}

impl Workbench for Receive {
    fn run(&mut self, span: Span, times: u32) -> Result<(), Trouble> {
        let library = self.library;
        for turn in 0..times as usize {
            let from = &self.from[turn % POOL];
            let (place, length) = self.results.of(span, turn);
            match span {
                Span::Whole => {
                    let ready = ready(library, &from.key, Side::Receiver)?;
                    receive(library, &ready, &from.ciphertext, place, length)?;
                }
                Span::Call => receive(library, &from.ready, &from.ciphertext, place, length)?,
            }
        }
        Ok(())
    }

    fn examine(&mut self) -> Result<(), String> {
        (0..POOL).try_for_each(|member| self.notices_changes(member))
    }

    fn prove(&mut self) -> Result<(), String> {
        let right = |member: usize, secret: &[u8]| secret == self.from[member].secret;
        self.results.are(right, "another secret comes out than was put in")?;
        self.results.clear();
        self.turned = (self.turned + 1) % POOL;
        self.notices_changes(self.turned)
    }

    fn checks(&self) -> Vec<String> {
        vec![
            "every secret is the one that RustCrypto put in".to_owned(),
            "after each batch a changed bit of a ciphertext gives another secret".to_owned(),
        ]
    }
}
