//! Agreement.

use super::keys::{Context, Key, KeyKind};
use super::{Library, no_such};
use crate::stacks::bench::Trouble;
use crate::stacks::keys::{field_parameters, known_key};
use crate::stacks::primitive::{Made, POOL, Results, Span, Workbench};
use crate::stacks::reference::{Agreement, Partner, agreement_answer};
use record::tls::Scheme;

/// Bytes of a secret, at most: as a field's prime.
const SECRET: usize = 512;

/// The same for the other side; none of what is no agreement.
pub(super) fn agreement(scheme: Scheme) -> Option<Agreement> {
    match scheme {
        Scheme::X25519 => Some(Agreement::X25519),
        Scheme::P256 => Some(Agreement::P256),
        Scheme::P384 => Some(Agreement::P384),
        _ => {
            let parameters = crate::stacks::reference::pem(field_parameters(scheme)?)?;
            crate::stacks::reference::finite_field(&parameters).map(Agreement::Field)
        }
    }
}

/// Whether a secret is the one that the other side has; of a field, whatever zeros are before it.
pub(super) fn is_known(agreement: &Agreement, known: Option<&[u8]>, secret: &[u8]) -> bool {
    let from = match agreement {
        Agreement::Field(_) => secret.iter().position(|b| *b != 0).unwrap_or(secret.len()),
        _ => 0,
    };
    known == Some(&secret[from..])
}

pub(super) fn open(library: &'static Library, scheme: Scheme) -> Made {
    let agreement = agreement(scheme).ok_or_else(|| no_such(scheme))?;
    let kind = KeyKind::new(library, scheme)?;
    let maker = kind.maker()?;
    let pairs = (0..POOL).map(|_| {
        let own = maker.make(library)?;
        Pair::new(&kind, &agreement, own)
    });
    let pairs = pairs.collect::<Result<Vec<_>, _>>()?;
    let results = Results::new(SECRET);
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
    /// Ready for the call.
    ready: Context,
    _peer: Key,
    /// What the other side has.
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
        let ready = ready(library, &own, &peer)?;
        let secret = other.agree(&public[..length]);
        Ok(Self { own, bytes, ready, _peer: peer, secret })
    }
}

#[inline]
pub(super) fn ready(library: &'static Library, own: &Key, peer: &Key) -> Result<Context, Trouble> {
    let context = Context::new(library, own.raw)?;
    // SAFETY: context and key are live; the context takes its own reference.
    unsafe {
        library.done((library.f.EVP_PKEY_derive_init)(context.raw) == 1, "EVP_PKEY_derive_init")?;
        let set = (library.f.EVP_PKEY_derive_set_peer)(context.raw, peer.raw) == 1;
        library.done(set, "EVP_PKEY_derive_set_peer")?;
    }
    Ok(context)
}

#[inline]
pub(super) fn derive(
    library: &Library,
    context: &Context,
    place: &mut [u8],
    length: &mut usize,
) -> Result<(), Trouble> {
    *length = place.len();
    // SAFETY: the context is live and ready; the place is as long as is said.
    let done = unsafe { (library.f.EVP_PKEY_derive)(context.raw, place.as_mut_ptr(), length) } == 1;
    library.done(done, "EVP_PKEY_derive")
}

/// What two keys share.
pub(super) fn agreed(library: &'static Library, own: &Key, peer: &Key) -> Result<Vec<u8>, Trouble> {
    let (mut secret, mut length) = (vec![0; SECRET], 0);
    derive(library, &ready(library, own, peer)?, &mut secret, &mut length)?;
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
        let is_curve = matches!(self.agreement, Agreement::P256 | Agreement::P384);
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
                    derive(library, &ready(library, &pair.own, &peer)?, place, length)?;
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
            Agreement::P256 | Agreement::P384 => "ring",
            Agreement::Field(_) => "num-bigint",
        };
        let mut checks = vec![
            format!("every secret is the one that {other} has on the other side"),
            "a changed public key is refused or gives another secret".to_owned(),
        ];
        let source = match self.agreement {
            Agreement::X25519 => "RFC 7748 5.2",
            Agreement::P256 => "RFC 5903 8.1",
            Agreement::P384 => "RFC 5903 8.2",
            Agreement::Field(_) => return checks,
        };
        checks.push(format!("known answer of {source}"));
        checks
    }
}
