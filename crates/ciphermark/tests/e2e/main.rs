//! End-to-end tests: the program as its users meet it, through its command line alone, against the machine's
//! libraries and against stand-ins with planted faults. One module for each subject. Nothing here depends on
//! how fast anything is.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod advise;
mod archive;
mod circumstances;
mod command_line;
mod compare;
mod confined;
mod costs;
mod fleet;
mod lab;
mod libs;
mod machine;
mod neighbour;
mod pages;
mod planted;
mod records;
mod resume;
mod run;
mod secrets;
mod support;
mod survive;
mod tiers;
mod tls;
mod verify;
mod watch;
mod watch_sampling;
mod zoo;
