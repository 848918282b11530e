//! Memory with a page behind it that faults.
