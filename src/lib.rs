//! Cloister.
