//! How the reports of one triage are told apart.

use super::failures::FailureView;
use super::triage::TriageReport;
use std::collections::HashMap;

/// For each report the part of its path that the others don't share, as in
/// `ubuntu` of `out/ubuntu/junit.xml`; none where there is only one.
#[derive(Debug, Clone, Default)]
pub struct ReportLabels<'r>(HashMap<&'r str, String>);

impl<'r> ReportLabels<'r> {
    #[must_use]
    pub fn of_all(report: &'r TriageReport) -> Self {
        let paths = report
            .counted_reports()
            .map(|summary| summary.path.as_str());
        Self::of_paths(&paths.collect::<Vec<_>>())
    }

    /// The same of paths, or of folders that hold several reports.
    #[must_use]
    pub fn of_paths(paths: &[&'r str]) -> Self {
        let [first, others @ ..] = paths else {
            return Self::default();
        };
        if others.is_empty() {
            return Self::default();
        }
        let split = |path: &'r str| path.split('/').collect::<Vec<_>>();
        let first = split(first);
        let shared = |backwards: bool| {
            let at = |path: &[&'r str], n: usize| match backwards {
                true => path.len().checked_sub(n + 1).map(|place| path[place]),
                false => path.get(n).copied(),
            };
            let is_shared = |n: &usize| others.iter().all(|o| at(&split(o), *n) == at(&first, *n));
            (0..first.len()).take_while(is_shared).count()
        };
        let (head, tail) = (shared(false), shared(true));
        let label = |path: &'r str| {
            let parts = split(path);
            let own = parts.get(head..parts.len().saturating_sub(tail));
            let own = own.filter(|own| !own.is_empty());
            (
                path,
                own.map_or_else(|| path.to_owned(), |own| own.join("/")),
            )
        };
        Self(paths.iter().copied().map(label).collect())
    }

    /// What a report is called where there are several.
    #[must_use]
    pub fn of(&self, path: &str) -> Option<&str> {
        self.0.get(path).map(String::as_str)
    }

    /// The test as a person names it, with the report that it stands in, where
    /// there are several: `adds [ubuntu]`.
    #[must_use]
    pub fn title(&self, failure: &FailureView<'_>) -> String {
        match self.0.get(failure.report) {
            Some(label) => format!("{} [{label}]", failure.title()),
            None => failure.title(),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::ReportLabels;

    #[test]
    fn a_report_is_known_by_what_the_others_do_not_share() {
        let labels = |paths: &[&str]| -> Vec<String> {
            let labels = ReportLabels::of_paths(paths);
            paths
                .iter()
                .filter_map(|path| labels.0.get(path).cloned())
                .collect()
        };
        assert_eq!(labels(&["out/junit.xml"]), [""; 0]);
        assert_eq!(
            labels(&["out/ubuntu-3.12/junit.xml", "out/macos-3.12/junit.xml"]),
            ["ubuntu-3.12", "macos-3.12"]
        );
        assert_eq!(labels(&["a.xml", "b.xml"]), ["a.xml", "b.xml"]);
        assert_eq!(
            labels(&["packages/api/r/junit.xml", "packages/web/junit.xml"]),
            ["api/r", "web"]
        );
        assert_eq!(labels(&["r.xml", "x/r.xml"]), ["r.xml", "x"]);
        assert_eq!(labels(&["r.xml", "r.xml"]), ["r.xml", "r.xml"]);
    }
}
