//! What a remedy says, and what of the rule's advice it takes the place of.

use super::entries::Change;
use crate::doctor::entry::Config;
use jelly_base::model::{Advice, Fix};
use jelly_base::text::WordList;
use jelly_base::text::redact::Redactor;
use jelly_base::text::shell_word as word;

/// Ids of the rules' steps that remedies replace. The program's tests hold that
/// rules have them all.
pub const REPLACED_STEPS: WordList = WordList(
    "add-argument allow-install answer-once-by-hand build-project bundle-install \
     check-package-name check-plan client-for-ci compare-path compare-versions \
     composer-autoload correct-file-path correct-host create-directory drop-origin find-program \
     give-directory give-script give-url give-value-beforehand install-dependencies \
     install-for-interpreter install-launcher install-locked-versions install-missing-program \
     install-program install-program-there list-file make-directory make-executable name-program \
     node-version npm-install npm-list pass-over-breakpoints pin-dependency pip-check pip-install \
     pip-list plan-oauth python-version read-all-problems \
     read-output run-by-hand secrets-of-forks see-more-by-hand see-what-it-waits-for \
     see-which-runtime set-variable show-dependencies show-help show-package-on-npm \
     show-php-extensions show-versions-on-pypi start-by-interpreter start-in-stdio-mode \
     start-service token-from-elsewhere write-whole-url",
);

/// The version of a `node`, which is to be the server's.
pub(super) const NODE_VERSION: &str = "node-version";
/// The usage of a command, which is to be the server's.
pub(super) const SHOW_HELP: &str = "show-help";

/// What moves a folder out of the way, so that nothing of it is lost.
pub(super) fn put_aside(folder: &str) -> String {
    let folder = folder.trim_end_matches('/');
    format!("mv {} {}", word(folder), word(&format!("{folder}.old")))
}

/// Which steps of the rule are left out.
#[derive(Debug, Clone, Copy)]
enum InsteadOf {
    Steps(&'static [&'static str]),
    All,
}

/// A step of a remedy.
#[derive(Debug)]
enum RemedyStep {
    Plain(Fix),
    /// What to write where.
    Write(String, Change),
}

/// Steps to say first. What is absent stays as the rule says it.
#[derive(Debug)]
pub(super) struct Remedy {
    steps: Vec<RemedyStep>,
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

    fn then(mut self, step: RemedyStep) -> Self {
        self.steps.push(step);
        self
    }

    /// A sentence.
    pub(super) fn say(self, text: impl Into<String>) -> Self {
        self.then(RemedyStep::Plain(Fix::text(text)))
    }

    /// A command to paste.
    pub(super) fn run(self, command: impl Into<String>) -> Self {
        self.then(RemedyStep::Plain(Fix::command(command)))
    }

    /// Members of the entry to paste, after a sentence that says so.
    pub(super) fn paste(self, members: String) -> Self {
        self.then(RemedyStep::Plain(Fix::member(members)))
    }

    /// What to write where: the sentence ends with the place.
    pub(super) fn write(self, what: impl Into<String>, change: Change) -> Self {
        self.then(RemedyStep::Write(what.into(), change))
    }

    /// Only the first of its steps.
    pub(super) fn first_step(mut self) -> Self {
        self.steps.truncate(1);
        self
    }

    /// The steps of another one after these.
    pub(super) fn and(mut self, other: Self) -> Self {
        self.steps.extend(other.steps);
        self
    }

    /// Leaves out the rule's steps with these ids.
    pub(super) fn instead_of(self, ids: &'static [&'static str]) -> Self {
        debug_assert!(ids.iter().all(|id| REPLACED_STEPS.has(id)), "{ids:?}");
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

    pub(super) fn apply(self, advice: &mut Advice, config: &Config, redactor: &Redactor) {
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
        let fixes = self.steps.into_iter().flat_map(|step| match step {
            RemedyStep::Plain(fix) => vec![fix],
            RemedyStep::Write(what, change) => vec![
                Fix::text(format!("{what} at {}:", config.at(change.place))),
                Fix::member(change.members),
            ],
        });
        let own = fixes.map(|fix| Fix {
            text: shown(&fix.text),
            ..fix
        });
        advice.fix.splice(0..0, own);
    }
}
