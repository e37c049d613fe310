//! Words that any failure could have, of `tables/common_words.yaml`.

use super::tables::{built, table};
use serde::Deserialize;
use std::collections::HashSet;
use std::sync::LazyLock;

/// The table says what each is.
#[derive(Deserialize)]
pub(crate) struct CommonWords {
    pub(super) of_failures: HashSet<String>,
    pub(crate) of_clients: HashSet<String>,
    pub(crate) answers: HashSet<String>,
    pub(crate) counts: Vec<String>,
    pub(crate) helpers: Vec<String>,
    pub(crate) causes: HashSet<String>,
    pub(crate) exceptions: Vec<String>,
    pub(crate) states: HashSet<String>,
}

pub(crate) static COMMON_WORDS: LazyLock<CommonWords> =
    LazyLock::new(|| table(built!("common_words")));
