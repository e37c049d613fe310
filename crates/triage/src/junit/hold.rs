//! Failing cases that wait for the end of their suite.
//!
//! Some writers put the cause into the output of the suite, which follows the
//! cases. What waits is bounded; what goes over is handed on without.

use super::case::{Case, CaseOutcome, CaseSink};
use jelly_base::model::{Failure, Label};
use std::collections::VecDeque;

/// What a suite printed.
#[derive(Debug, Default)]
pub(super) struct Outputs {
    pub(super) out: Option<String>,
    pub(super) err: Option<String>,
    /// It is about every case of the suite, not only about those that say
    /// nothing themselves.
    pub(super) of_all: bool,
}

/// A case with all that a [`Case`] borrows.
#[derive(Debug)]
pub(super) struct HeldCase {
    pub(super) ordinal: u64,
    pub(super) suite: String,
    pub(super) classname: String,
    pub(super) name: String,
    pub(super) file: Option<String>,
    pub(super) line: Option<u64>,
    pub(super) duration_s: Option<f64>,
    pub(super) outcome: CaseOutcome,
    pub(super) failures: Vec<Failure>,
    /// Suites around it.
    pub(super) depth: usize,
    /// Nothing more is expected of its suite.
    pub(super) ready: bool,
}

impl HeldCase {
    /// Takes over what its suite printed, where the case itself has nothing.
    fn take_outputs(&mut self, outputs: &Outputs) {
        for failure in &mut self.failures {
            let mute = failure.message.is_none() && failure.text.is_none();
            if (outputs.of_all || mute)
                && failure.system_out.is_none()
                && failure.system_err.is_none()
            {
                failure.system_out.clone_from(&outputs.out);
                failure.system_err.clone_from(&outputs.err);
            }
        }
    }

    /// Gives the case to the sink.
    pub(super) fn hand_over(mut self, dialect: &str, sink: &mut dyn CaseSink) {
        for failure in &mut self.failures {
            failure.dialect = Some(dialect.to_owned());
        }
        sink.case(&Case {
            ordinal: self.ordinal,
            suite: &self.suite,
            classname: &self.classname,
            name: &self.name,
            file: self.file.as_deref(),
            line: self.line,
            duration_s: self.duration_s,
            outcome: self.outcome,
            failures: &self.failures,
        });
    }

    /// Bytes of text, about.
    fn size(&self) -> usize {
        let of = |text: &Option<String>| text.as_ref().map_or(0, String::len);
        let failures = self.failures.iter().map(|failure| {
            512 + of(&failure.text)
                + of(&failure.message)
                + of(&failure.system_out)
                + of(&failure.system_err)
                + failure.label.as_ref().map_or(0, Label::size)
        });
        self.suite.len() + self.classname.len() + self.name.len() + failures.sum::<usize>()
    }
}

#[derive(Debug)]
pub(super) struct Hold {
    held: VecDeque<HeldCase>,
    size: usize,
    limit: usize,
}

impl Hold {
    pub(super) fn new(limit: usize) -> Self {
        Self {
            held: VecDeque::new(),
            size: 0,
            limit,
        }
    }

    /// Keeps a case, and lets go of the oldest ones that go over the limit.
    pub(super) fn push(&mut self, held: HeldCase, mut let_go: impl FnMut(HeldCase)) {
        self.size += held.size();
        self.held.push_back(held);
        while self.size > self.limit
            && let Some(oldest) = self.held.pop_front()
        {
            self.size -= oldest.size();
            let_go(oldest);
        }
    }

    /// A suite ends, which has at least `depth` suites around its cases, its
    /// own included. They are let go in their order: not before cases of the
    /// suites around it that came earlier.
    pub(super) fn release(
        &mut self,
        depth: usize,
        outputs: Option<&Outputs>,
        mut let_go: impl FnMut(HeldCase),
    ) {
        // They are the last ones: a suite ends after the suites inside it.
        for held in self.held.iter_mut().rev() {
            if held.depth < depth {
                break;
            }
            if held.ready {
                continue;
            }
            held.ready = true;
            let before = held.size();
            if let Some(outputs) = outputs {
                held.take_outputs(outputs);
            }
            self.size += held.size() - before;
        }
        while self.held.front().is_some_and(|held| held.ready)
            && let Some(held) = self.held.pop_front()
        {
            self.size -= held.size();
            let_go(held);
        }
    }

    /// Whether the case is still here, and now a flaky one.
    pub(super) fn turn_flaky(&mut self, ordinal: u64) -> bool {
        let found = self.held.iter_mut().find(|held| held.ordinal == ordinal);
        found.is_some_and(|held| {
            held.outcome = CaseOutcome::Flaky;
            true
        })
    }
}
