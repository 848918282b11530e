//! X25519 of a libcrypto that has it without EVP only (LibreSSL 3.1): its libssl calls these two functions.

use super::Library;
use super::api::Functions;
use crate::stacks::bench::Trouble;
use crate::stacks::primitive::{Made, POOL, Results, Span, Workbench};
use crate::stacks::reference::{Agreement, Partner, agreement_answer};
use record::tls::Scheme;

/// Whether there is no other way.
pub(super) fn is_all_there_is(library: &Library, scheme: Scheme) -> bool {
    let Functions { EVP_PKEY_new_raw_public_key, X25519_keypair, X25519, .. } = library.f;
    scheme == Scheme::X25519
        && EVP_PKEY_new_raw_public_key.is_none()
        && X25519_keypair.is_some()
        && X25519.is_some()
}

pub(super) type Bytes = [u8; 32];

fn pair(library: &Library) -> Result<(Bytes, Bytes), Trouble> {
    let make = library.f.X25519_keypair.ok_or_else(|| Trouble::missing("X25519_keypair"))?;
    let (mut public, mut private) = ([0; 32], [0; 32]);
    // SAFETY: both places have the 32 bytes that are written.
    unsafe { make(public.as_mut_ptr(), private.as_mut_ptr()) };
    Ok((public, private))
}

pub(super) fn shared(library: &Library, private: &Bytes, peer: &Bytes) -> Result<Bytes, Trouble> {
    let agree = library.f.X25519.ok_or_else(|| Trouble::missing("X25519"))?;
    let mut secret = [0; 32];
    // SAFETY: all three have 32 bytes.
    let done = unsafe { agree(secret.as_mut_ptr(), private.as_ptr(), peer.as_ptr()) } == 1;
    library.done(done, "X25519")?;
    Ok(secret)
}

pub(super) fn generate(library: &'static Library) -> Made {
    pair(library)?;
    Ok(Box::new(Generate { library, results: Results::new(64) }))
}

struct Generate {
    library: &'static Library,
    /// Public and private key, one behind the other.
    results: Results,
}

impl Workbench for Generate {
    fn run(&mut self, span: Span, times: u32) -> Result<(), Trouble> {
        for turn in 0..times as usize {
            let (public, private) = pair(self.library)?;
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
            let bytes = |of: &[u8]| Bytes::try_from(of).ok();
            let mine = bytes(private).zip(bytes(other.public()));
            let mine = mine.and_then(|(own, peer)| shared(self.library, &own, &peer).ok());
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

pub(super) fn agree(library: &'static Library) -> Made {
    let one = || {
        let (public, private) = pair(library)?;
        let random = || Trouble::Failed("no random numbers".to_owned());
        let other = Partner::new(&Agreement::X25519).ok_or_else(random)?;
        let peer: Bytes = other.public().try_into().expect("a key of X25519 has 32 bytes");
        Ok((private, peer, other.agree(&public)))
    };
    let pairs = (0..POOL).map(|_| one()).collect::<Result<Vec<_>, Trouble>>()?;
    Ok(Box::new(Agree { library, pairs, results: Results::new(32) }))
}

struct Agree {
    library: &'static Library,
    /// Own private key, the other side's public one, what they share.
    pairs: Vec<(Bytes, Bytes, Option<Vec<u8>>)>,
    results: Results,
}

impl Workbench for Agree {
    fn run(&mut self, span: Span, times: u32) -> Result<(), Trouble> {
        for turn in 0..times as usize {
            let (private, peer, _) = &self.pairs[turn % POOL];
            let secret = shared(self.library, private, peer)?;
            let (place, length) = self.results.of(span, turn);
            place.copy_from_slice(&secret);
            *length = secret.len();
        }
        Ok(())
    }

    fn examine(&mut self) -> Result<(), String> {
        let answer = agreement_answer(Scheme::X25519).expect("there is one of X25519");
        let bytes = |of: &[u8]| Bytes::try_from(of).expect("the answer is of 32 bytes");
        let found = shared(self.library, &bytes(&answer.private), &bytes(&answer.peer));
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
