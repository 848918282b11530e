//! End-to-end tests: the program as its users meet it, through its command line alone, against the
//! machine's libraries and against stand-ins with planted faults. One module for each intent.
//! Nothing here depends on how fast anything is.
#![forbid(unsafe_code)]
#![allow(clippy::unwrap_used, reason = "a helper that fails is a test that fails")]

mod support;

mod accuracy;
mod advise;
mod advise_nginx;
mod advise_postgres;
mod advise_tls;
mod archive;
mod circumstances;
mod claims;
mod compare;
mod confined;
mod costs;
mod doctor;
mod errors;
mod explain;
mod exports;
mod fleet;
mod fleet_kubernetes;
mod fleet_manifests;
mod formats;
mod gate;
mod in_flight;
mod lab;
mod libs;
mod libs_cache;
mod linked;
mod list;
mod meta;
mod neighbour;
mod once;
mod pages;
mod pages_faults;
mod pages_hints;
mod pages_resume;
mod pair;
mod planted_leaks;
mod python;
mod quiet;
mod quietly;
mod rank;
mod refused;
mod regression;
mod report;
mod resume;
mod run;
mod runtimes;
mod screen;
mod secrets;
mod settling;
mod sharing;
mod strangers;
mod survive;
mod tiers;
mod tls;
mod tls_groups;
mod tls_load;
mod tls_primitives;
mod tls_server;
mod trust;
mod verify;
mod zoo;
