//! Key exchange: making the key pair of one handshake, and agreeing on a secret; X25519 also without EVP,
//! where a libcrypto has no other way (LibreSSL 3.1). Encapsulating and decapsulating a secret.

use crate::stacks::keys::{field_parameters, known_key};
use crate::stacks::openssl::primitives::{
    Context, Functions, Key, KeyKind, Library, Maker, Of, done, no_such,
};
use crate::stacks::reference::{
    Agreement, Partner, Receiver, agreement_answer, encapsulate, kem_lengths,
};
use crate::stacks::{Made, POOL, Results, Span, Trouble, Workbench, offered};
use record::tls::{Operation, Scheme};
use std::ptr::null;

pub(crate) fn open_generation(library: &'static Library, scheme: Scheme) -> Made {
    let kind = KeyKind::new(library, scheme)?;
    let maker = kind.maker()?;
    let partner = MadeFor::of(scheme);
    let results = Results::new(kind.width());
    let made = [[const { None }; POOL], [const { None }; POOL]];
    Ok(Box::new(Generate { library, scheme, kind, maker, partner, made, results, last: [0; 2] }))
}

/// With whom a new key must be able to agree.
enum MadeFor {
    Agreement(Agreement),
    Kem(Scheme),
    None,
}

impl MadeFor {
    fn of(scheme: Scheme) -> Self {
        match (agreement(scheme), kem(scheme)) {
            (Some(agreement), _) => Self::Agreement(agreement),
            (None, Some(kem)) => Self::Kem(kem),
            (None, None) => Self::None,
        }
    }
}

struct Generate {
    library: &'static Library,
    scheme: Scheme,
    kind: KeyKind,
    maker: Maker,
    partner: MadeFor,
    /// The last ones of each span, freed by those that take their places.
    made: [[Option<Key>; POOL]; 2],
    /// Their public keys' bytes.
    results: Results,
    /// The last turn of each span.
    last: [usize; 2],
}

impl Generate {
    #[inline]
    fn whole(&mut self, turn: usize) -> Result<(), Trouble> {
        let key = self.kind.maker()?.make(self.library)?;
        let (place, length) = self.results.of(Span::Whole, turn);
        *length = self.kind.encode(key.raw, place)?;
        self.made[Span::Whole as usize][turn % POOL] = Some(key);
        Ok(())
    }

    /// Public keys of those that the call alone has made.
    fn encode_made(&mut self) -> Result<(), Trouble> {
        for (turn, key) in self.made[Span::Call as usize].iter().enumerate() {
            let Some(key) = key else { continue };
            let (place, length) = self.results.of(Span::Call, turn);
            *length = self.kind.encode(key.raw, place)?;
        }
        Ok(())
    }

    /// A key must be able to do what it is for.
    fn works(&self, key: &Key, public: &[u8]) -> Result<(), String> {
        let trouble = |t: Trouble| t.to_string();
        let right = match &self.partner {
            MadeFor::Agreement(agreement) => {
                let other = Partner::new(agreement).ok_or("no random numbers")?;
                let bytes = other.public().to_vec();
                let peer = self.kind.decode(key.raw, &bytes).map_err(trouble)?;
                let secret = agreed(self.library, key, &peer).map_err(trouble)?;
                is_known(agreement, other.agree(public).as_deref(), &secret)
            }
            MadeFor::Kem(kem) => {
                let (ciphertext, secret) =
                    encapsulate(*kem, public).ok_or("a new public key is none")?;
                let found = received(self.library, key, &ciphertext);
                found.map_err(trouble)? == secret
            }
            MadeFor::None => false,
        };
        if right { Ok(()) } else { Err("a new key does not agree with the other side".to_owned()) }
    }
}

impl Workbench for Generate {
    fn run(&mut self, span: Span, times: u32) -> Result<(), Trouble> {
        let times = times as usize;
        self.last[span as usize] = times.saturating_sub(1);
        match span {
            Span::Whole => (0..times).try_for_each(|turn| self.whole(turn)),
            Span::Call => {
                let made = &mut self.made[span as usize];
                for turn in 0..times {
                    made[turn % POOL] = Some(self.maker.make(self.library)?);
                }
                Ok(())
            }
        }
    }

    fn prove(&mut self) -> Result<(), String> {
        self.encode_made().map_err(|t| t.to_string())?;
        if !self.results.differ(|public| public) {
            return Err("two new keys are the same".to_owned());
        }
        for span in [Span::Whole, Span::Call] {
            let turn = self.last[span as usize];
            let Some(key) = &self.made[span as usize][turn % POOL] else { continue };
            // Of the call's, only as many as are still there have their bytes.
            let slot = if span == Span::Call { turn % POOL } else { turn };
            self.works(key, self.results.at(span, slot))?;
        }
        self.results.clear();
        Ok(())
    }

    fn checks(&self) -> Vec<String> {
        let works = match self.kind.of {
            Of::Kem(..) => "a secret that RustCrypto encapsulates for it comes out",
            _ => "it agrees with another implementation's key",
        };
        vec![
            format!("of each batch no two {} keys are the same", self.scheme),
            format!("of one {works}"),
        ]
    }
}

// Agreement.

/// Bytes of a secret, at most: as a field's prime.
const AGREED: usize = 512;

/// The same for the other side; none of what is no agreement.
pub(crate) fn agreement(scheme: Scheme) -> Option<Agreement> {
    match scheme {
        Scheme::X25519 => Some(Agreement::X25519),
        Scheme::X448 => Some(Agreement::X448),
        Scheme::P256 => Some(Agreement::P256),
        Scheme::P384 => Some(Agreement::P384),
        Scheme::P521 => Some(Agreement::P521),
        _ => {
            let parameters = crate::stacks::reference::pem(field_parameters(scheme)?)?;
            crate::stacks::reference::finite_field(&parameters).map(Agreement::Field)
        }
    }
}

/// Whether a secret is the one that the other side has; of a field, whatever zeros are before it.
pub(crate) fn is_known(agreement: &Agreement, known: Option<&[u8]>, secret: &[u8]) -> bool {
    let from = match agreement {
        Agreement::Field(_) => secret.iter().position(|b| *b != 0).unwrap_or(secret.len()),
        _ => 0,
    };
    known == Some(&secret[from..])
}

pub(crate) fn open_agreement(library: &'static Library, scheme: Scheme) -> Made {
    let agreement = agreement(scheme).ok_or_else(|| no_such(scheme))?;
    let kind = KeyKind::new(library, scheme)?;
    let maker = kind.maker()?;
    let pairs = (0..POOL).map(|_| {
        let own = maker.make(library)?;
        Pair::new(&kind, &agreement, own)
    });
    let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
    let results = Results::new(AGREED);
    Ok(Box::new(Agree { library, scheme, kind, agreement, pairs, results }))
}

struct Agree {
    library: &'static Library,
    scheme: Scheme,
    kind: KeyKind,
    agreement: Agreement,
    pairs: Vec<Pair>,
    results: Results,
}

/// A key of the library's and one of another implementation.
struct Pair {
    own: Key,
    /// The other side's public key, as it is on the wire.
    bytes: Vec<u8>,
    ready: Context,
    _peer: Key,
    secret: Option<Vec<u8>>,
}

impl Pair {
    fn new(kind: &KeyKind, agreement: &Agreement, own: Key) -> Result<Self, Trouble> {
        let library = kind.library;
        let mut public = vec![0; kind.width()];
        let length = kind.encode(own.raw, &mut public)?;
        let random = || Trouble::Failed("no random numbers".to_owned());
        let other = Partner::new(agreement).ok_or_else(random)?;
        let bytes = other.public().to_vec();
        let peer = kind.decode(own.raw, &bytes)?;
        let ready = ready_to_derive(library, &own, &peer)?;
        let secret = other.agree(&public[..length]);
        Ok(Self { own, bytes, ready, _peer: peer, secret })
    }
}

#[inline]
pub(crate) fn ready_to_derive(
    library: &'static Library,
    own: &Key,
    peer: &Key,
) -> Result<Context, Trouble> {
    let context = Context::new(library, own.raw)?;
    // SAFETY: context and key are live; the context takes its own reference.
    unsafe {
        done!(library, EVP_PKEY_derive_init(context.raw))?;
        done!(library, EVP_PKEY_derive_set_peer(context.raw, peer.raw))?;
    }
    Ok(context)
}

#[inline]
pub(crate) fn derive(
    library: &Library,
    context: &Context,
    place: &mut [u8],
    length: &mut usize,
) -> Result<(), Trouble> {
    *length = place.len();
    // SAFETY: the context is live and ready; the place is as long as is said.
    unsafe { done!(library, EVP_PKEY_derive(context.raw, place.as_mut_ptr(), length)) }
}

/// What two keys share.
pub(crate) fn agreed(library: &'static Library, own: &Key, peer: &Key) -> Result<Vec<u8>, Trouble> {
    let (mut secret, mut length) = (vec![0; AGREED], 0);
    derive(library, &ready_to_derive(library, own, peer)?, &mut secret, &mut length)?;
    secret.truncate(length);
    Ok(secret)
}

impl Agree {
    fn known_answer(&self) -> Result<(), String> {
        let known = agreement_answer(self.scheme).zip(known_key(self.scheme));
        let Some((answer, pem)) = known else { return Ok(()) };
        let trouble = |t: Trouble| t.to_string();
        let own = self.library.read_private(pem).map_err(trouble)?;
        let peer = self.kind.decode(own.raw, &answer.peer).map_err(trouble)?;
        if agreed(self.library, &own, &peer).map_err(trouble)? != answer.secret {
            return Err("the standard's own answer does not come out".to_owned());
        }
        Ok(())
    }

    /// Another public key must not give the same secret: it is refused, or gives another.
    fn changed_bit(&self) -> Result<(), String> {
        let pair = &self.pairs[0];
        let mut bytes = pair.bytes.clone();
        let last = bytes.len() - 2;
        bytes[last] ^= 1;
        let of_other = self.kind.decode(pair.own.raw, &bytes);
        let secret = of_other.and_then(|peer| agreed(self.library, &pair.own, &peer));
        self.library.forget_errors();
        let is_curve =
            matches!(self.agreement, Agreement::P256 | Agreement::P384 | Agreement::P521);
        match secret {
            Ok(_) if is_curve => Err("a point that is not on the curve was taken".to_owned()),
            Ok(secret) if is_known(&self.agreement, pair.secret.as_deref(), &secret) => {
                Err("another public key gives the same secret".to_owned())
            }
            _ => Ok(()),
        }
    }
}

impl Workbench for Agree {
    fn run(&mut self, span: Span, times: u32) -> Result<(), Trouble> {
        let library = self.library;
        for turn in 0..times as usize {
            let pair = &self.pairs[turn % POOL];
            let (place, length) = self.results.of(span, turn);
            match span {
                Span::Whole => {
                    let peer = self.kind.decode(pair.own.raw, &pair.bytes)?;
                    derive(library, &ready_to_derive(library, &pair.own, &peer)?, place, length)?;
                }
                Span::Call => derive(library, &pair.ready, place, length)?,
            }
        }
        Ok(())
    }

    fn examine(&mut self) -> Result<(), String> {
        self.known_answer()?;
        self.changed_bit()
    }

    fn prove(&mut self) -> Result<(), String> {
        let right = |member: usize, secret: &[u8]| {
            is_known(&self.agreement, self.pairs[member].secret.as_deref(), secret)
        };
        self.results.are(right, "the secret is not the one that the other side has")?;
        self.results.clear();
        Ok(())
    }

    fn checks(&self) -> Vec<String> {
        let other = match self.agreement {
            Agreement::X25519 => "x25519-dalek",
            Agreement::X448 => "RFC 7748 5 over num-bigint",
            Agreement::P256 | Agreement::P384 => "ring",
            Agreement::P521 => "RustCrypto",
            Agreement::Field(_) => "num-bigint",
        };
        let mut checks = vec![
            format!("every secret is the one that {other} has on the other side"),
            "a changed public key is refused or gives another secret".to_owned(),
        ];
        let source = match self.agreement {
            Agreement::X25519 | Agreement::X448 => "RFC 7748 5.2",
            Agreement::P256 => "RFC 5903 8.1",
            Agreement::P384 => "RFC 5903 8.2",
            Agreement::P521 => "RFC 5903 8.3",
            Agreement::Field(_) => return checks,
        };
        checks.push(format!("known answer of {source}"));
        checks
    }
}

// X25519 of a libcrypto that has it without EVP only (LibreSSL 3.1): its libssl calls these two functions.

/// Whether there is no other way.
pub(crate) fn is_raw_only(library: &Library, scheme: Scheme) -> bool {
    let Functions { EVP_PKEY_new_raw_public_key, X25519_keypair, X25519, .. } = library.f;
    scheme == Scheme::X25519
        && EVP_PKEY_new_raw_public_key.is_none()
        && X25519_keypair.is_some()
        && X25519.is_some()
}

pub(crate) type RawBytes = [u8; 32];

fn raw_pair(library: &Library) -> Result<(RawBytes, RawBytes), Trouble> {
    let make = offered!(library.f, X25519_keypair)?;
    let (mut public, mut private) = ([0; 32], [0; 32]);
    // SAFETY: both places have the 32 bytes that are written.
    unsafe { make(public.as_mut_ptr(), private.as_mut_ptr()) };
    Ok((public, private))
}

pub(crate) fn raw_shared(
    library: &Library,
    private: &RawBytes,
    peer: &RawBytes,
) -> Result<RawBytes, Trouble> {
    let agree = offered!(library.f, X25519)?;
    let mut secret = [0; 32];
    // SAFETY: all three have 32 bytes.
    let done = unsafe { agree(secret.as_mut_ptr(), private.as_ptr(), peer.as_ptr()) } == 1;
    library.done(done, "X25519")?;
    Ok(secret)
}

pub(crate) fn raw_generation(library: &'static Library) -> Made {
    raw_pair(library)?;
    Ok(Box::new(RawGenerate { library, results: Results::new(64) }))
}

struct RawGenerate {
    library: &'static Library,
    /// Public and private key, one behind the other.
    results: Results,
}

impl Workbench for RawGenerate {
    fn run(&mut self, span: Span, times: u32) -> Result<(), Trouble> {
        for turn in 0..times as usize {
            let (public, private) = raw_pair(self.library)?;
            let (place, length) = self.results.of(span, turn);
            place[..32].copy_from_slice(&public);
            place[32..].copy_from_slice(&private);
            *length = 64;
        }
        Ok(())
    }

    fn prove(&mut self) -> Result<(), String> {
        let works = |_: usize, pair: &[u8]| {
            let Some(other) = Partner::new(&Agreement::X25519) else { return false };
            let [public, private] = [&pair[..32], &pair[32..]];
            let bytes = |of: &[u8]| RawBytes::try_from(of).ok();
            let mine = bytes(private).zip(bytes(other.public()));
            let mine = mine.and_then(|(own, peer)| raw_shared(self.library, &own, &peer).ok());
            mine.is_some() && mine.map(|m| m.to_vec()) == other.agree(public)
        };
        self.results.are(works, "a new key does not agree with the other side")?;
        if !self.results.differ(|pair| &pair[..32]) {
            return Err("two new keys are the same".to_owned());
        }
        self.results.clear();
        Ok(())
    }

    fn checks(&self) -> Vec<String> {
        vec!["no two keys are the same, and each agrees with x25519-dalek".to_owned()]
    }
}

pub(crate) fn raw_agreement(library: &'static Library) -> Made {
    let one = || {
        let (public, private) = raw_pair(library)?;
        let random = || Trouble::Failed("no random numbers".to_owned());
        let other = Partner::new(&Agreement::X25519).ok_or_else(random)?;
        let peer: RawBytes = other.public().try_into().expect("a key of X25519 has 32 bytes");
        Ok((private, peer, other.agree(&public)))
    };
    let pairs = (0..POOL).map(|_| one()).collect::<Result<Vec<_>, Trouble>>()?;
    Ok(Box::new(RawAgree { library, pairs, results: Results::new(32) }))
}

struct RawAgree {
    library: &'static Library,
    /// Own private key, the other side's public one, what they share.
    pairs: Vec<(RawBytes, RawBytes, Option<Vec<u8>>)>,
    results: Results,
}

impl Workbench for RawAgree {
    fn run(&mut self, span: Span, times: u32) -> Result<(), Trouble> {
        for turn in 0..times as usize {
            let (private, peer, _) = &self.pairs[turn % POOL];
            let secret = raw_shared(self.library, private, peer)?;
            let (place, length) = self.results.of(span, turn);
            place.copy_from_slice(&secret);
            *length = secret.len();
        }
        Ok(())
    }

    fn examine(&mut self) -> Result<(), String> {
        let answer = agreement_answer(Scheme::X25519).expect("there is one of X25519");
        let bytes = |of: &[u8]| RawBytes::try_from(of).expect("the answer is of 32 bytes");
        let found = raw_shared(self.library, &bytes(&answer.private), &bytes(&answer.peer));
        match found {
            Ok(secret) if secret[..] == answer.secret[..] => Ok(()),
            _ => Err("the standard's own answer does not come out".to_owned()),
        }
    }

    fn prove(&mut self) -> Result<(), String> {
        let right = |member: usize, secret: &[u8]| self.pairs[member].2.as_deref() == Some(secret);
        self.results.are(right, "the secret is not the one that the other side has")?;
        self.results.clear();
        Ok(())
    }

    fn checks(&self) -> Vec<String> {
        vec![
            "every secret is the one that x25519-dalek has on the other side".to_owned(),
            "known answer of RFC 7748 5.2".to_owned(),
        ]
    }
}

/// Bytes of a secret, at most: P-384's and ML-KEM-1024's.
const SECRET: usize = 80;

/// The scheme, if it encapsulates anything.
pub(crate) fn kem(scheme: Scheme) -> Option<Scheme> {
    scheme.operations().contains(&Operation::Encapsulate).then_some(scheme)
}

#[derive(Clone, Copy)]
pub(crate) enum Side {
    Sender,
    Receiver,
}

/// A context that is ready for a key.
#[inline]
pub(crate) fn ready_to_encapsulate(
    library: &'static Library,
    key: &Key,
    side: Side,
) -> Result<Context, Trouble> {
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
    let call = offered!(library.f, EVP_PKEY_encapsulate)?;
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
    let call = offered!(library.f, EVP_PKEY_decapsulate)?;
    *length = place.len();
    let (from, bytes) = (ciphertext.as_ptr(), ciphertext.len());
    // SAFETY: the context is ready; ciphertext and place are as long as is said.
    let done = unsafe { call(context.raw, place.as_mut_ptr(), length, from, bytes) };
    library.done(done == 1, "EVP_PKEY_decapsulate")
}

pub(crate) fn received(
    library: &'static Library,
    key: &Key,
    ciphertext: &[u8],
) -> Result<Vec<u8>, Trouble> {
    let (mut place, mut length) = (vec![0; SECRET], 0);
    let context = ready_to_encapsulate(library, key, Side::Receiver)?;
    receive(library, &context, ciphertext, &mut place, &mut length)?;
    place.truncate(length);
    Ok(place)
}

pub(crate) fn open_encapsulation(library: &'static Library, scheme: Scheme) -> Made {
    let kem = kem(scheme).ok_or_else(|| no_such(scheme))?;
    let (_, ciphertext) = kem_lengths(scheme).ok_or_else(|| no_such(scheme))?;
    let kind = KeyKind::new(library, scheme)?;
    let own = kind.maker()?.make(library)?;
    let receivers = (0..POOL).map(|_| {
        let receiver = Receiver::new(kem).ok_or_else(|| no_such(scheme))?;
        let public = receiver.public();
        let key = kind.decode(own.raw, &public)?;
        let ready = ready_to_encapsulate(library, &key, Side::Sender)?;
        Ok(Holder { receiver, public, ready, _key: key })
    });
    let receivers = receivers.collect::<Result<Vec<_>, Trouble>>()?;
    let results = Results::new(SECRET + ciphertext);
    Ok(Box::new(Encapsulate { library, kind, own, receivers, results }))
}

/// A holder of a key of another implementation.
struct Holder {
    receiver: Receiver,
    public: Vec<u8>,
    ready: Context,
    _key: Key,
}

struct Encapsulate {
    library: &'static Library,
    kind: KeyKind,
    /// What the others' keys are made after.
    own: Key,
    receivers: Vec<Holder>,
    results: Results,
}

impl Workbench for Encapsulate {
    fn run(&mut self, span: Span, times: u32) -> Result<(), Trouble> {
        let library = self.library;
        for turn in 0..times as usize {
            let of = &self.receivers[turn % POOL];
            let (place, length) = self.results.of(span, turn);
            match span {
                Span::Whole => {
                    let key = self.kind.decode(self.own.raw, &of.public)?;
                    send(
                        library,
                        &ready_to_encapsulate(library, &key, Side::Sender)?,
                        place,
                        length,
                    )?;
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
        let ready = ready_to_encapsulate(library, &key, Side::Receiver)?;
        Ok(Sent { key, ready, ciphertext, secret })
    });
    let from = from.collect::<Result<Vec<_>, Trouble>>()?;
    Ok(Box::new(Decapsulate { library, from, results: Results::new(SECRET), turned: 0 }))
}

/// What another implementation has sent to a key of the library's.
struct Sent {
    key: Key,
    ready: Context,
    ciphertext: Vec<u8>,
    secret: Vec<u8>,
}

struct Decapsulate {
    library: &'static Library,
    from: Vec<Sent>,
    results: Results,
    /// Whose bit was changed last.
    turned: usize,
}

impl Decapsulate {
    /// A changed ciphertext must not give the secret: it is refused, or gives another (FIPS 203 6.3).
    fn notices_changes(&self, member: usize) -> Result<(), String> {
        let from = &self.from[member];
        let mut ciphertext = from.ciphertext.clone();
        // From the second byte, which is in the point where one stands before, to the last.
        let at = 1 + member * (ciphertext.len() - 2) / (POOL - 1);
        ciphertext[at] ^= 1;
        let found = received(self.library, &from.key, &ciphertext);
        self.library.forget_errors();
        match found {
            Ok(secret) if secret == from.secret => Err("a changed bit was not noticed".to_owned()),
            _ => Ok(()),
        }
    }
}

impl Workbench for Decapsulate {
    fn run(&mut self, span: Span, times: u32) -> Result<(), Trouble> {
        let library = self.library;
        for turn in 0..times as usize {
            let from = &self.from[turn % POOL];
            let (place, length) = self.results.of(span, turn);
            match span {
                Span::Whole => {
                    let ready = ready_to_encapsulate(library, &from.key, Side::Receiver)?;
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
