//! The tests of advice, in one program: a second one would be linked again.

mod golden;
mod mutated;
mod pages;
mod secrets;
mod thinned;
