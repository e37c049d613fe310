//! Many reports, one account: the causes with their victims, the health of the
//! whole, what to rerun and how.
//!
//! The module must not know how the account is shown.
