//! The Linux kernel's ciphers through its sockets for user space. `README.md` beside this file says
//! how, and that it has not been run against a kernel that has them.

mod aead;
mod control;
mod facts;
mod hash;
mod names;
mod skcipher;
mod socket;
#[cfg(test)]
mod tests;

use contract::{Identity, Library, OpenError, Session};
use loader::LoadError;
use model::{Algorithm, Direction, KERNEL_PATH};
use names::{Kind, Target};
use socket::Transform;
use std::path::PathBuf;

/// Attaches the running kernel.
///
/// # Errors
/// [`LoadError::Unusable`] when there are no AF_ALG sockets, with the reason.
pub(crate) fn attach(name: Option<&str>) -> Result<Box<dyn Library>, LoadError> {
    socket::probe().map_err(|why| LoadError::Unusable { path: PathBuf::from(KERNEL_PATH), why })?;
    let (version, build) = facts::of_this_kernel();
    let name = name.unwrap_or("linux-kernel").to_owned();
    Ok(Box::new(Kernel { identity: Identity { name, version, build } }))
}

struct Kernel {
    identity: Identity,
}

impl Library for Kernel {
    fn identity(&self) -> &Identity {
        &self.identity
    }

    fn open(
        &self,
        algorithm: &'static Algorithm,
        direction: Direction,
        key: &[u8],
    ) -> Result<Session, OpenError> {
        let target = names::target(algorithm).ok_or_else(|| {
            OpenError::Unsupported(format!("the kernel's interface has no {algorithm}"))
        })?;
        if !Direction::of(algorithm.kind).contains(&direction) {
            return Err(OpenError::Unsupported(format!(
                "{algorithm} has no direction {direction}"
            )));
        }
        let raw = match target.kind {
            Kind::Hash => hash::open(transform(&target, key)?, algorithm)?,
            Kind::Skcipher => skcipher::open(transform(&target, key)?, &target, direction)?,
            Kind::Aead => {
                let transform = transform(&target, key)?;
                transform.set_tag_len(algorithm.tag_len)?;
                aead::open(transform, &target, algorithm.tag_len, direction)?
            }
        };
        // SAFETY: the functions keep the rules of the interface for what was opened, and the state
        // is theirs alone.
        Ok(unsafe { Session::new(raw, algorithm, direction) })
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
