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

use crate::family::{self, Attached, Family, Request};
use base::model::KERNEL_PATH;
use contract::loader::LoadError;
use contract::{OpenError, raw};
use names::{Kind, Target};
use socket::Transform;
use std::path::PathBuf;

/// Attaches the running kernel.
///
/// # Errors
/// [`LoadError::Unusable`] when there are no AF_ALG sockets, with the reason.
pub(crate) fn attach(name: Option<&str>) -> Attached {
    socket::probe().map_err(|why| LoadError::Unusable { path: PathBuf::from(KERNEL_PATH), why })?;
    let (version, build) = facts::of_this_kernel();
    family::library((name, "linux-kernel"), &version, build, Kernel)
}

struct Kernel;

// SAFETY: the functions keep to the kernel's documentation of its sockets.
unsafe impl Family for Kernel {
    fn open(request: &Request<'_, Self>) -> Result<raw::Session, OpenError> {
        let Request { algorithm, direction, key, .. } = *request;
        let absent = || request.absent("the kernel's interface");
        let target = names::target(algorithm).ok_or_else(absent)?;
        let transform = transform(&target, key)?;
        match target.kind {
            Kind::Hash => hash::open(transform, algorithm),
            Kind::Skcipher => skcipher::open(transform, &target, direction),
            Kind::Aead => {
                transform.set_tag_len(algorithm.tag_len)?;
                aead::open(transform, &target, algorithm.tag_len, direction)
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
