//! What execution is told from outside, resolved already.

use super::clean::Cleaner;
use super::ladder::Overrides;
use super::select::Selection;
use indexmap::IndexMap;
use jelly_base::model::{Event, EventSink, Failure, Interrupt, StepReport};
use jelly_base::text::plural;
use jelly_base::text::redact::Redactor;
use jelly_contract::Lock;
use jelly_wire::Recorder;
use jelly_wire::auth::TokenStore;
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::path::PathBuf;
use std::rc::Rc;
use std::sync::Arc;
use tokio::sync::{Semaphore, watch};

/// Where the copy of a server's stderr is kept, by the server's name; `None`
/// where none is.
pub type StderrLog = Rc<dyn Fn(&str) -> Option<PathBuf>>;

/// Keeps the text that a snapshot would have to hold, by the snapshot's name,
/// and says where below the report's folder it is; or completes "failed to …".
pub type ProposeSnapshot = Rc<dyn Fn(&str, &str) -> Result<String, String>>;

/// The settings of one run of one plan.
#[derive(Clone)]
pub struct ExecSettings {
    /// Absolute; `${workspace}`.
    pub project_dir: PathBuf,
    /// This program, which is what the command `jelly` means.
    pub jelly: Option<PathBuf>,
    /// The environment that `${env:…}` and `${secret:…}` read.
    pub env: BTreeMap<String, String>,
    /// `--var`, over the plan's own.
    pub vars: IndexMap<String, Value>,
    pub selection: Selection,
    pub fail_fast: bool,
    /// The ids of steps whose failure is known, which is no reason to stop.
    pub known_steps: BTreeSet<String>,
    /// A step that lacks what it requires is skipped, and no failure.
    pub skip_missing: bool,
    /// Hold the messages of all servers against the specification, whatever
    /// the plan says.
    pub wire_check: bool,
    /// Keep what each step was answered, to be compared with other runs.
    pub keep_answers: bool,
    /// Read structured outputs out of text, where the plan does not say no.
    pub adapt: bool,
    /// What the user sets in place of declared output schemas, by server.
    pub overrides: Rc<BTreeMap<String, Overrides>>,
    /// The user set such schemas in a store that could not be read.
    pub store_unread: bool,
    /// Keep by which rungs outputs were read.
    pub keep_outputs: bool,
    /// Count what of the servers' lists is exercised.
    pub coverage: bool,
    /// How many servers may be starting at the same time, over all plans.
    pub starts: Arc<Semaphore>,
    pub interrupt: watch::Receiver<Option<Interrupt>>,
    pub events: EventSink,
    /// Events tell of each request and each answer.
    pub tells_messages: bool,
    pub redactor: Redactor,
    /// Where logins are kept, for servers that are reached by one.
    pub logins: Option<TokenStore>,
    pub recorder: Option<Recorder>,
    pub stderr_log: StderrLog,
    pub propose_snapshot: ProposeSnapshot,
    /// What servers are held to in their lists.
    pub locked: Option<Rc<Locked>>,
}

/// A lock that servers are held to.
#[derive(Debug, Clone)]
pub struct Locked {
    pub lock: Lock,
    /// Its file, as it is told.
    pub file: String,
}

impl ExecSettings {
    /// Of a plan of which no run is kept: by the words of the plan alone, without
    /// reports.
    #[must_use]
    pub fn apart(
        project_dir: PathBuf,
        env: BTreeMap<String, String>,
        redactor: Redactor,
        interrupt: watch::Receiver<Option<Interrupt>>,
    ) -> Self {
        Self {
            project_dir,
            jelly: None,
            env,
            vars: IndexMap::new(),
            selection: Selection::new(Vec::new(), Vec::new()),
            fail_fast: false,
            known_steps: BTreeSet::new(),
            skip_missing: false,
            wire_check: false,
            keep_answers: false,
            adapt: true,
            overrides: Rc::default(),
            store_unread: false,
            keep_outputs: false,
            coverage: false,
            starts: Arc::new(Semaphore::new(1)),
            interrupt,
            events: Rc::new(|_| {}),
            tells_messages: false,
            redactor,
            logins: None,
            recorder: None,
            stderr_log: Rc::new(|_| None),
            propose_snapshot: Rc::new(|_, _| Err("keep a snapshot apart from a run".to_owned())),
            locked: None,
        }
    }

    /// Says how a step ended; in words that may be shown.
    pub(super) fn tell_end(&self, cleaner: &Cleaner, report: &StepReport, failures: &[Failure]) {
        let mut step = Box::new(report.clone());
        cleaner.step(&mut step);
        (self.events)(Event::StepFinished {
            message: failures.first().and_then(|first| {
                let mut message = cleaner.told(first.message.as_deref()?);
                let more = first.mismatch.map_or(0, |m| m.of.saturating_sub(m.index));
                if more > 0 {
                    message.push_str(&format!(" (and {})", plural(more, "more mismatch")));
                }
                Some(message)
            }),
            step,
        });
    }
}
