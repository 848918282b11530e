//! The tests of what a record is. In one program: each is compiled and linked by itself.

mod peers;
mod schema;
#[cfg(feature = "sqlite")]
mod verdicts;
