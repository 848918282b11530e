//! References out of the interface's pointers.

use crate::export::Buffer;
use cipher::Array;
use cipher::array::ArraySize;
use std::ptr::NonNull;

/// Bytes of a length that the type fixes: nonces and tags.
///
/// # Safety
/// The type consists of [`Bytes::LEN`] bytes of any value, without alignment.
pub unsafe trait Bytes: 'static {
    /// How many.
    const LEN: usize;
}

// SAFETY: an array of bytes.
unsafe impl<const N: usize> Bytes for [u8; N] {
    const LEN: usize = N;
}

// SAFETY: a transparent wrapper of an array of bytes.
unsafe impl<N: ArraySize> Bytes for Array<u8, N> {
    const LEN: usize = N::USIZE;
}

/// The bytes behind a pointer.
///
/// # Safety
/// As the crate's note says, for as long as the result is used.
pub(crate) unsafe fn array<'a, B: Bytes>(pointer: *const u8) -> &'a B {
    // SAFETY: the caller's; `Bytes` has no alignment.
    unsafe { &*pointer_or_dangling::<B>(pointer, B::LEN) }
}

/// The bytes behind a pointer.
///
/// # Safety
/// As for [`array`].
pub(crate) unsafe fn slice<'a>(pointer: *const u8, len: usize) -> &'a [u8] {
    // SAFETY: the caller's.
    unsafe { std::slice::from_raw_parts(pointer_or_dangling(pointer, len), len) }
}

/// The message's buffers.
///
/// # Safety
/// As for [`array`].
pub(crate) unsafe fn buffer<'a>(input: *const u8, output: *mut u8, len: usize) -> Buffer<'a> {
    if len == 0 {
        return Buffer::from(&mut [][..]);
    }
    // SAFETY: the caller's.
    unsafe { Buffer::from_raw(input, output, len) }
}

/// Writes the tag, if there is any.
///
/// # Safety
/// `to` covers the tag's length.
pub(crate) unsafe fn write<B: Bytes>(bytes: &B, to: *mut u8) {
    if B::LEN > 0 {
        // SAFETY: the caller's; both are as long as the type says.
        unsafe { std::ptr::copy_nonoverlapping((&raw const *bytes).cast(), to, B::LEN) };
    }
}

/// References need a pointer even to no bytes, C callers may pass null for them.
fn pointer_or_dangling<T>(pointer: *const u8, len: usize) -> *const T {
    if len == 0 { NonNull::dangling().as_ptr() } else { pointer.cast() }
}
