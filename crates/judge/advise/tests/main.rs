//! The tests of advice. In one program: each is compiled and linked by itself.

mod golden;
mod pages;
mod secrets;
