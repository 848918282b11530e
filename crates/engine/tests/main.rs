//! The tests of documents and structure. In one program: each is compiled and linked by itself.

mod documents;
