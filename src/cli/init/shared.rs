//! What all servers of one call share, and why one has no plan.

use crate::cli::args::{ColorChoice, InitArgs};
use crate::cli::rules::Rules;
use crate::cli::settings::World;
use jelly_base::model::{ExitCode, Interrupt};
use jelly_base::text::redact::Redactor;
use std::cell::RefCell;
use std::collections::BTreeSet;
use std::path::PathBuf;
use tokio::sync::watch;

/// Why there is no plan.
pub enum InitRefusal {
    /// What was typed can't be meant, or is not enough.
    Invalid(String),
    /// As for people, whole.
    Help(String),
    /// By a signal.
    Stopped(ExitCode),
}

impl InitRefusal {
    /// With what else is invalid.
    pub fn and(self, other: Result<(), Self>) -> Self {
        match (self, other) {
            (Self::Invalid(one), Err(Self::Invalid(other))) => {
                Self::Invalid(format!("{one}\n{other}"))
            }
            (one, _) => one,
        }
    }
}

/// What all servers share.
pub struct Shared<'a> {
    pub args: &'a InitArgs,
    pub world: &'a World,
    pub rules: &'a Rules,
    pub color: ColorChoice,
    pub redactor: Redactor,
    /// The plans of this call.
    pub kept: RefCell<BTreeSet<PathBuf>>,
    pub interrupt: watch::Receiver<Option<Interrupt>>,
}
