//! What failed before, by fingerprint and by test.
//!
//! The module must not know how a failure was found, nor what it means.
