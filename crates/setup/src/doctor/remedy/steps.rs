//! What a remedy says, and what of the rule's advice it takes the place of.

use jelly_base::model::{Advice, Fix};
use jelly_base::text::redact::Redactor;

/// Ids of the rules' steps that remedies replace. The program's tests hold that
/// rules have them all.
pub const REPLACED_STEPS: &[&str] = &[
    "add-argument",
    "allow-install",
    "answer-once-by-hand",
    "build-project",
    "bundle-install",
    "check-package-name",
    "check-plan",
    "chmod",
    "client-for-ci",
    "compare-path",
    "compare-versions",
    "composer-autoload",
    "correct-file-path",
    "correct-host",
    "create-directory",
    "find-program",
    "give-directory",
    "give-script",
    "give-url",
    "give-value-beforehand",
    "install-dependencies",
    "install-for-interpreter",
    "install-launcher",
    "install-locked-versions",
    "install-missing-program",
    "install-program",
    "install-program-there",
    "list-file",
    "make-directory",
    "make-executable",
    "name-program",
    NODE_VERSION,
    "npm-ci",
    "npm-install",
    "npm-list",
    "pass-over-breakpoints",
    "pin-dependency",
    "pip-check",
    "pip-install",
    "pip-install-tests",
    "pip-list",
    "plan-oauth",
    "program-version",
    "python-version",
    "read-all-problems",
    "read-output",
    "run-by-hand",
    "secrets-of-forks",
    "see-more-by-hand",
    "see-what-it-waits-for",
    "see-which-runtime",
    "set-variable",
    "show-dependencies",
    SHOW_HELP,
    "show-package-on-npm",
    "show-php-extensions",
    "show-versions-on-pypi",
    "start-in-stdio-mode",
    "start-service",
    "token-from-elsewhere",
    "write-whole-url",
];

/// The version of a `node`, which is to be the server's.
pub(super) const NODE_VERSION: &str = "node-version";
/// The usage of a command, which is to be the server's.
pub(super) const SHOW_HELP: &str = "show-help";

/// Which steps of the rule are left out.
#[derive(Debug, Clone, Copy)]
enum InsteadOf {
    Steps(&'static [&'static str]),
    All,
}

/// Steps to say first. What is absent stays as the rule says it.
#[derive(Debug)]
pub(super) struct Remedy {
    pub(super) steps: Vec<Fix>,
    what: Option<String>,
    why: Option<String>,
    instead_of: InsteadOf,
}

impl Remedy {
    pub(super) fn new() -> Self {
        Self {
            steps: Vec::new(),
            what: None,
            why: None,
            instead_of: InsteadOf::Steps(&[]),
        }
    }

    pub(super) fn is_empty(&self) -> bool {
        self.steps.is_empty()
    }

    /// A sentence.
    pub(super) fn say(mut self, text: impl Into<String>) -> Self {
        self.steps.push(Fix::text(text));
        self
    }

    /// A command to paste.
    pub(super) fn run(mut self, command: impl Into<String>) -> Self {
        self.steps.push(Fix::command(command));
        self
    }

    /// Members of the entry to paste, and a sentence that says where.
    pub(super) fn write(mut self, place: impl Into<String>, members: String) -> Self {
        self.steps.push(Fix::text(place));
        self.steps.push(Fix::member(members));
        self
    }

    /// The steps of another one after these.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.steps.extend(other.steps);
        self
    }

    /// Leaves out the rule's steps with these ids.
    pub(super) fn instead_of(self, ids: &'static [&'static str]) -> Self {
        debug_assert!(ids.iter().all(|id| REPLACED_STEPS.contains(id)), "{ids:?}");
        Self {
            instead_of: InsteadOf::Steps(ids),
            ..self
        }
    }

    /// Leaves out all of the rule's.
    pub(super) fn instead_of_all(self) -> Self {
        Self {
            instead_of: InsteadOf::All,
            ..self
        }
    }

    pub(super) fn what(self, what: impl Into<String>) -> Self {
        let what = Some(what.into());
        Self { what, ..self }
    }

    pub(super) fn why(self, why: impl Into<String>) -> Self {
        let why = Some(why.into());
        Self { why, ..self }
    }

    pub(super) fn apply(self, advice: &mut Advice, redactor: &Redactor) {
        let shown = |text: &str| redactor.redact(text).into_owned();
        if let Some(what) = self.what {
            advice.what = shown(&what);
        }
        if let Some(why) = self.why {
            advice.why = shown(&why);
        }
        let is_replaced = |fix: &Fix| match (self.instead_of, &fix.id) {
            (InsteadOf::All, _) => true,
            (InsteadOf::Steps(ids), Some(id)) => ids.contains(&&**id),
            (InsteadOf::Steps(_), None) => false,
        };
        advice.fix.retain(|fix| !is_replaced(fix));
        let own = self.steps.into_iter().map(|fix| Fix {
            text: shown(&fix.text),
            ..fix
        });
        advice.fix.splice(0..0, own);
    }
}
