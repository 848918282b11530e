//! Files that are handed over as libraries, and what the kernel says of the machine.

use crate::check;

/// The first byte says whether the rest is a file or a text of the kernel.
pub(crate) fn run(bytes: &[u8]) {
    let Some((which, rest)) = bytes.split_first() else { return };
    if which % 2 == 0 {
        object(rest);
    } else {
        host::inputs::read_kernel_text(&String::from_utf8_lossy(rest));
    }
}

fn object(bytes: &[u8]) {
    if let Err(why) = host::check_bytes(bytes) {
        check::line(&why);
    }
    let id = host::id_of(bytes);
    let (kind, digits) = id.split_once(':').expect("an id has its kind");
    assert!(["build-id", "sha256"].contains(&kind) && !digits.is_empty(), "{id}");
    assert!(digits.chars().all(|c| c.is_ascii_hexdigit()), "{id}");
    let _ = host::inputs::instruction_counts(bytes);
    host::inputs::read_for_loader(bytes);
    #[cfg(target_arch = "x86_64")]
    if let Err(why) = host::tier::read_object(bytes) {
        check::shown(&why);
    }
    for offset in [0, 64, bytes.len() as u64 / 2, bytes.len() as u64, u64::MAX] {
        let _ = probe::step::function_in(bytes, offset);
    }
}
