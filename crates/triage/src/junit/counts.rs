//! What a report claims beside what it holds.

use jelly_base::model::{ElementCounts, ReportSummary};
use jelly_base::text::plural;

/// What the attributes of a suite or of the root say.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) struct Claims {
    pub(super) tests: Option<i64>,
    pub(super) failures: Option<i64>,
    pub(super) errors: Option<i64>,
    pub(super) skipped: Option<i64>,
}

impl Claims {
    /// Takes one attribute, if it is a count.
    pub(super) fn take(&mut self, name: &str, value: &str) {
        let field = match name {
            "tests" => &mut self.tests,
            "failures" => &mut self.failures,
            "errors" => &mut self.errors,
            "skipped" | "skip" | "skips" => &mut self.skipped,
            _ => return,
        };
        *field = value.trim().parse().ok();
    }

    /// Adds what a sibling claims.
    pub(super) fn add(&mut self, other: Self) {
        let sum = |a: Option<i64>, b: Option<i64>| match (a, b) {
            (Some(a), Some(b)) => Some(a.saturating_add(b)),
            (one, None) | (None, one) => one,
        };
        self.tests = sum(self.tests, other.tests);
        self.failures = sum(self.failures, other.failures);
        self.errors = sum(self.errors, other.errors);
        self.skipped = sum(self.skipped, other.skipped);
    }

    /// Itself, with what it doesn't say taken from `other`.
    pub(super) fn or(self, other: Self) -> Self {
        Self {
            tests: self.tests.or(other.tests),
            failures: self.failures.or(other.failures),
            errors: self.errors.or(other.errors),
            skipped: self.skipped.or(other.skipped),
        }
    }

    /// That something went wrong.
    pub(super) fn wrong(self) -> i64 {
        let positive = |count: Option<i64>| count.unwrap_or(0).max(0);
        positive(self.failures).saturating_add(positive(self.errors))
    }

    /// What it claims to have gone wrong besides what `inner` claims.
    pub(super) fn beyond(self, inner: Self) -> Self {
        let less = |own: Option<i64>, inner: Option<i64>| {
            own.map(|own| own.saturating_sub(inner.unwrap_or(0).max(0)))
        };
        Self {
            failures: less(self.failures, inner.failures),
            errors: less(self.errors, inner.errors),
            ..self
        }
    }

    /// Errors and failures in words; nothing if there are none.
    pub(super) fn wrong_in_words(self) -> String {
        let counts = [(self.errors, "error"), (self.failures, "failure")];
        let words: Vec<String> = counts
            .iter()
            .filter_map(|(count, noun)| {
                let count = count.filter(|count| *count > 0)?;
                Some(plural(count.unsigned_abs(), noun))
            })
            .collect();
        words.join(" and ")
    }

    /// The difference to what was counted, in words.
    pub(super) fn difference(self, counted: &ElementCounts) -> Option<String> {
        let fields = [
            ("test", self.tests, counted.cases),
            ("failure", self.failures, counted.failed),
            ("error", self.errors, counted.errors),
            ("skipped", self.skipped, counted.skipped),
        ];
        let differing: Vec<_> = fields
            .iter()
            .filter_map(|(word, claimed, counted)| {
                let claimed = (*claimed)?;
                (i128::from(claimed) != i128::from(*counted)).then_some((word, claimed, counted))
            })
            .collect();
        if differing.is_empty() {
            return None;
        }
        let words = |count: i128, noun: &str| match noun {
            // No noun, and so without a plural.
            "skipped" => format!("{count} skipped"),
            noun if count < 0 => format!("{count} {noun}s"),
            noun => plural(count.unsigned_abs(), noun),
        };
        let claims: Vec<String> = differing
            .iter()
            .map(|(word, claimed, _)| words(i128::from(*claimed), word))
            .collect();
        let counts: Vec<String> = differing
            .iter()
            .map(|(word, _, counted)| words(i128::from(**counted), word))
            .collect();
        Some(format!(
            "the report claims {}, and its elements show {}; the elements count",
            claims.join(", "),
            counts.join(", ")
        ))
    }
}

/// What a suite claims to have gone wrong, and none of its elements shows.
#[derive(Debug)]
pub(super) struct Unshown {
    /// Names of the suites around it and its own; empty for a root without.
    pub(super) path: String,
    pub(super) claims: Claims,
    /// `suite` or `run`.
    pub(super) what: &'static str,
}

/// Adds a case to the totals.
pub(super) fn count(summary: &mut ReportSummary, outcome: super::CaseOutcome) {
    use super::CaseOutcome;
    summary.tests += 1;
    *match outcome {
        CaseOutcome::Passed => &mut summary.passed,
        CaseOutcome::Failed => &mut summary.failed,
        CaseOutcome::Error => &mut summary.errors,
        CaseOutcome::Skipped => &mut summary.skipped,
        CaseOutcome::Flaky => &mut summary.flaky,
    } += 1;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_a_report_claims_too_much_is_said_in_words() {
        let mut claims = Claims::default();
        for (name, value) in [
            ("tests", "3"),
            ("failures", "-3"),
            ("skip", "1"),
            ("errors", ""),
        ] {
            claims.take(name, value);
        }
        let counted = ElementCounts {
            cases: 1,
            skipped: 1,
            ..ElementCounts::default()
        };
        assert_eq!(
            claims.difference(&counted).unwrap(),
            "the report claims 3 tests, -3 failures, and its elements show 1 test, 0 failures; \
             the elements count"
        );
    }
}
