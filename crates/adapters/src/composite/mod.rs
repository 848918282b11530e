//! Encrypt-and-check as one operation, over any library: a cipher of the library's with XXH3, or
//! with the library's own HMAC-SHA-256, in two passes over the message or in one.

mod calls;
mod check;
mod pieces;
#[cfg(test)]
mod tests;

use crate::family::has_direction;
use base::model::{Algorithm, Composite, Direction, Passes};
use check::{Check, Checksum, Code};
use contract::{Identity, Library, OpenError, Session, raw};
use pieces::State;

/// A library that also offers the composites of its parts.
pub(crate) struct Composing(pub(crate) Box<dyn Library>);

impl Library for Composing {
    fn identity(&self) -> &Identity {
        self.0.identity()
    }

    fn one_thread_only(&self) -> Option<&str> {
        self.0.one_thread_only()
    }

    fn open(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Session, OpenError> {
        let Some(parts) = algorithm.composite else {
            return self.0.open(algorithm, direction, key);
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
    let call = calls::text(&cipher, &check.calls(), passes, C::FIRST_ON_ENCRYPTION, direction);
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
