//! What all servers of one call share.

use crate::cli::args::InitArgs;
use crate::cli::rules::Rules;
use crate::cli::settings::World;
use jelly_base::model::Interrupt;
use jelly_base::text::redact::Redactor;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use tokio::sync::watch;

/// See the module.
pub struct Shared<'a> {
    pub args: &'a InitArgs,
    pub world: &'a World,
    pub rules: &'a Rules,
    pub redactor: Redactor,
    /// The plans of this call.
    pub kept: RefCell<BTreeSet<PathBuf>>,
    pub interrupt: watch::Receiver<Option<Interrupt>>,
}
