//! A run of one plan: how it ended, and its reports.

use super::{Ended, Project, schemas};
use serde_json::Value;
use std::fs;
use std::ops::Deref;

/// Derefs to how the call ended.
#[derive(Debug)]
pub struct Run {
    pub ended: Ended,
    /// `reports/latest/results.json`; null when there is none.
    pub results: Value,
    pub markdown: String,
    pub junit: String,
}

/// One entry of `iterations`; derefs to its JSON.
#[derive(Debug, Clone, Copy)]
pub struct Iteration<'r>(pub &'r Value);

impl Deref for Run {
    type Target = Ended;

    fn deref(&self) -> &Ended {
        &self.ended
    }
}

impl Deref for Iteration<'_> {
    type Target = Value;

    fn deref(&self) -> &Value {
        self.0
    }
}

impl Run {
    /// The reports of the run that `ended` in `project`.
    pub fn of(project: &Project, ended: Ended) -> Self {
        Self::in_folder(project, "reports/latest", ended)
    }

    /// Those in another folder, as when several plans were run.
    pub fn in_folder(project: &Project, folder: &str, ended: Ended) -> Self {
        let read = |name: &str| {
            fs::read_to_string(project.path(&format!("{folder}/{name}"))).unwrap_or_default()
        };
        let results: Value = serde_json::from_str(&read("results.json")).unwrap_or_default();
        if !results.is_null() {
            schemas::fits("results", &results);
        }
        Self {
            results,
            markdown: read("test_results.md"),
            junit: read("junit.xml"),
            ended,
        }
    }

    /// Exit code and verdict at once, with all there is to know when they
    /// are others.
    #[track_caller]
    pub fn ends(&self, code: i32, verdict: &str) -> &Self {
        assert_eq!(
            (self.code, self.verdict()),
            (Some(code), verdict),
            "stdout:\n{}\nstderr:\n{}",
            self.stdout,
            self.stderr
        );
        assert_eq!(self.results["exit_code"], code);
        for iteration in self.iterations() {
            iteration.adds_up();
        }
        self
    }

    pub fn verdict(&self) -> &str {
        self.results["verdict"].as_str().unwrap_or("(no report)")
    }

    pub fn iterations(&self) -> Vec<Iteration<'_>> {
        let list = self.results["iterations"].as_array();
        list.into_iter().flatten().map(Iteration).collect()
    }

    /// The iteration with this 1-based index.
    #[track_caller]
    pub fn iteration(&self, index: usize) -> Iteration<'_> {
        let all = self.iterations();
        assert!(index <= all.len(), "{} iterations only", all.len());
        all[index - 1]
    }

    #[track_caller]
    pub fn last(&self) -> Iteration<'_> {
        self.iteration(self.iterations().len())
    }

    /// What each iteration did next.
    pub fn actions(&self) -> Vec<&str> {
        self.iterations()
            .into_iter()
            .map(|iteration| iteration.0["action"]["kind"].as_str().unwrap_or_default())
            .collect()
    }

    /// The help summary as text.
    pub fn help(&self) -> String {
        self.results["help_summary"].to_string()
    }
}

impl<'r> Iteration<'r> {
    /// The one failure of this step, or of a server itself.
    #[track_caller]
    pub fn failure(&self, step_or_server: &str) -> &'r Value {
        let named: Vec<&Value> = self
            .failures()
            .into_iter()
            .filter(|failure| {
                failure["step"] == step_or_server
                    || failure["step"].is_null() && failure["server"] == step_or_server
            })
            .collect();
        assert_eq!(
            named.len(),
            1,
            "one failure of {step_or_server} is wanted in {:#?}",
            self.failures()
        );
        named[0]
    }

    pub fn failures(&self) -> Vec<&'r Value> {
        self.0["failures"]
            .as_array()
            .into_iter()
            .flatten()
            .collect()
    }

    /// State of a step.
    #[track_caller]
    pub fn state(&self, step: &str) -> &'r str {
        self.step(step)["state"].as_str().expect("a state")
    }

    #[track_caller]
    pub fn step(&self, step: &str) -> &'r Value {
        self.named("steps", "id", step)
    }

    #[track_caller]
    pub fn server(&self, server: &str) -> &'r Value {
        self.named("servers", "name", server)
    }

    /// A count of the totals, as in `blocked`.
    #[track_caller]
    pub fn total(&self, state: &str) -> u64 {
        self.0["totals"][state].as_u64().expect("a count")
    }

    #[track_caller]
    fn named(&self, list: &str, key: &str, name: &str) -> &'r Value {
        self.0[list]
            .as_array()
            .and_then(|list| list.iter().find(|item| item[key] == name))
            .unwrap_or_else(|| panic!("no {name} in {list}"))
    }

    #[track_caller]
    fn adds_up(&self) {
        let states = ["passed", "failed", "blocked", "quarantined", "skipped"];
        let sum: u64 = states.iter().map(|state| self.total(state)).sum();
        assert_eq!(sum, self.total("total"), "{}", self.0["totals"]);
    }
}
