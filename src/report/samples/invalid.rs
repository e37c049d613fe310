//! A plan that can't be run.

use super::run;
use jelly_base::model::{HelpProblem, HelpSummary, RunReport, Verdict};

pub(in crate::report) fn invalid() -> RunReport {
    let problem = |line: u32, what: &str, next: &[&str]| {
        let at = format!("plans/filesystem.yaml:{line}:8");
        HelpProblem {
            server: None,
            step: None,
            what: what.into(),
            evidence: at.clone(),
            at: Some(at),
            tried: Vec::new(),
            next: next.iter().map(|line| (*line).to_owned()).collect(),
        }
    };
    let mut report = run(Verdict::InvalidInput, 2, Vec::new());
    report.help_summary = Some(HelpSummary {
        title: "The plan can't be run as it is written".into(),
        problems: vec![
            problem(4, "unknown key `comand`", &["did you mean `command`?"]),
            problem(9, "`b` is the id of two steps", &[]),
        ],
    });
    report
}
