//! A library's functions, by their names.

/// Declares a table of functions that are looked up in a loaded object: those that there is no doing
/// without, and those that only some builds or versions have.
macro_rules! functions {
    (
        $(#[$meta:meta])* $name:ident
        required { $($required:ident : fn($($arg:ty),*) $(-> $ret:ty)?;)* }
        optional { $($optional:ident : fn($($oarg:ty),*) $(-> $oret:ty)?;)* }
    ) => {
        $(#[$meta])*
        #[allow(non_snake_case, reason = "the library's own names")]
        #[derive(Clone, Copy, Debug)]
        pub(super) struct $name {
            $(pub(super) $required: unsafe extern "C" fn($($arg),*) $(-> $ret)?,)*
            $(pub(super) $optional: Option<unsafe extern "C" fn($($oarg),*) $(-> $oret)?>,)*
        }

        impl $name {
            /// Looks all of them up.
            pub(super) fn of(object: &contract::loader::SharedObject) -> Result<Self, String> {
                // SAFETY: the types are those of the library's public headers.
                unsafe {
                    Ok(Self {
                        $($required: object.required(stringify!($required)).map_err(|e| e.to_string())?,)*
                        $($optional: object.function(stringify!($optional)),)*
                    })
                }
            }
        }
    };
}

pub(crate) use functions;

/// The C string at the beginning of a buffer that a library has filled.
pub(crate) fn c_text(buffer: &[u8]) -> String {
    let end = buffer.iter().position(|b| *b == 0).unwrap_or(buffer.len());
    String::from_utf8_lossy(&buffer[..end]).into_owned()
}
