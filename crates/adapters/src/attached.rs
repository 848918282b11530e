//! The adapter interface of `include/ciphermark.h`.

use crate::loader::{LoadError, SharedObject};
use contract::Library;

pub(crate) fn attach(
    object: SharedObject,
    _name: Option<&str>,
) -> Result<Box<dyn Library>, LoadError> {
    Err(object.unusable("not built yet"))
}
