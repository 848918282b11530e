//! Independent implementations that libraries are held against.
