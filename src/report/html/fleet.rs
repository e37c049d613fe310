//! The page of a history that many machines share.

use super::page::{contents, document};
use super::parts::{self, code, heading, ready, row, said, section, table, text};
use jelly_base::model::Side;
use jelly_triage::history::{FlakyTest, FleetScope, NewCause, SlowTest};
use maud::{Markup, html};

/// What the page shows.
#[derive(Debug)]
pub struct FleetAnswers {
    /// What the history is called.
    pub history: String,
    /// Which runs were asked about; `since` is that of what is new.
    pub scope: FleetScope,
    pub flaky: Vec<FlakyTest>,
    pub new: Vec<NewCause>,
    pub slow: Vec<SlowTest>,
}

/// The page.
#[must_use]
pub fn fleet_html(answers: &FleetAnswers) -> Vec<u8> {
    let FleetAnswers {
        history,
        scope,
        flaky,
        new,
        slow,
    } = answers;
    let project = scope.project.as_deref().unwrap_or("all projects");
    let branch = scope.branch.as_deref().unwrap_or("all branches");
    let title = format!("History of {project}");
    let head = html! {
        (heading(1, None, &text(&title)))
        (parts::facts(&[
            ("branch", text(said(branch))),
            ("from", code(history)),
            ("new since", text(scope.since.as_deref().map_or("-", day))),
        ]))
    };
    let main = html! {
        (contents(&[("flaky", "Flaky tests"), ("new", "New causes"), ("slow", "Slow tests")]))
        (section(2, "flaky", "Flaky tests", &flaky_table(flaky)))
        (section(2, "new", "New causes", &new_table(new)))
        (section(2, "slow", "Slow tests", &slow_table(slow)))
    };
    document(&title, &head, &main)
}

/// The day and the minute of a moment.
fn day(at: &str) -> &str {
    at.get(..16).unwrap_or(at)
}

fn known(text: Option<&str>) -> Markup {
    parts::text(said(text.unwrap_or("-")))
}

/// A part of a whole as a bar; `words` say the same.
fn bar(part: f64, class: &str, color: &str, words: &str) -> Markup {
    const WIDTH: f64 = 120.0;
    let width = (part.clamp(0.0, 1.0) * WIDTH).round();
    let rect = format!(
        r#"<rect class="{class}" fill="{color}" x="0" y="2" width="{width}" height="10"/>"#
    );
    html! {
        svg.spark role="img" aria-label=(words) width="120" height="14" viewBox="0 0 120 14" {
            (ready(rect))
        }
        " " (words)
    }
}

fn flaky_table(tests: &[FlakyTest]) -> Markup {
    let rows = tests.iter().map(|test| {
        let of = f64::from(test.runs.max(1));
        let percent = format!("{:.0} %", test.flaky_rate * 100.0);
        let failed = format!("{} of {}", test.failed + test.flaky, test.runs);
        let causes = html! {
            @for cause in &test.causes {
                div { (code(&cause.root_cause)) " ×" (cause.failures) " " (code(&cause.fingerprint)) }
            }
        };
        row(
            &text(said(&test.test.to_string())),
            &[
                known(test.project.as_deref()),
                known(test.branch.as_deref()),
                bar(test.flaky_rate, "b-warn", "#8a5a00", &percent),
                bar(f64::from(test.failed + test.flaky) / of, "b-bad", "#b3261e", &failed),
                known(test.last_seen.as_deref().map(day)),
                causes,
            ],
        )
    });
    html! {
        @if tests.is_empty() { p { "No test comes and goes." } } @else {
            (table("Tests that come and go, the worst first", &[
                "Test", "Project", "Branch", "Comes and goes", "Failed", "Last seen", "Causes",
            ], rows))
        }
    }
}

fn new_table(causes: &[NewCause]) -> Markup {
    let rows = causes.iter().map(|cause| {
        let side = match cause.side {
            Side::Test => "test",
            Side::Code => "code",
        };
        let commit = cause.first_commit.as_deref();
        row(
            &html! { (code(&cause.root_cause)) " " (code(&cause.fingerprint)) },
            &[
                text(side),
                known(cause.project.as_deref()),
                known(Some(day(&cause.first_seen))),
                known(cause.first_branch.as_deref()),
                code(commit.map_or("-", |commit| commit.get(..12).unwrap_or(commit))),
                text(cause.failures.to_string()),
                text(cause.tests.to_string()),
                known(cause.evidence.as_deref()),
            ],
        )
    });
    html! {
        @if causes.is_empty() { p { "No cause was first seen since then." } } @else {
            (table("Causes that were not seen before, the latest first", &[
                "Cause", "Side", "Project", "First seen", "Branch", "Commit", "Failures", "Tests", "Evidence",
            ], rows))
        }
    }
}

fn slow_table(tests: &[SlowTest]) -> Markup {
    let longest = tests.iter().map(|test| test.median_ms).max().unwrap_or(1);
    // Durations are small enough for the digits of a picture.
    let part = |ms: u64| ms as f64 / longest.max(1) as f64;
    let rows = tests.iter().map(|test| {
        let median = format!("{} ms", test.median_ms);
        row(
            &text(said(&test.test.to_string())),
            &[
                known(test.project.as_deref()),
                bar(part(test.median_ms), "b-good", "#1a7f37", &median),
                text(test.p95_ms.to_string()),
                text(test.max_ms.to_string()),
                text(test.results.to_string()),
            ],
        )
    });
    html! {
        @if tests.is_empty() { p { "No test has a duration." } } @else {
            (table("Tests that take longest", &[
                "Test", "Project", "Median", "95 % ms", "Longest ms", "Results",
            ], rows))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{FleetAnswers, fleet_html};
    use jelly_triage::history::{CauseCount, FlakyTest, FleetScope, TestName};

    #[test]
    fn hostile_names_are_text_and_pictures_have_words() {
        let page = fleet_html(&FleetAnswers {
            history: "<script>alert(1)</script>".to_owned(),
            scope: FleetScope::default(),
            flaky: vec![FlakyTest {
                project: None,
                branch: Some("\"><img src=x>".to_owned()),
                test: TestName::new("<b>", "", "</table>"),
                runs: 4,
                failed: 1,
                flaky: 0,
                changes: 2,
                flaky_rate: 0.5,
                last_seen: None,
                causes: vec![CauseCount {
                    fingerprint: "j2:1".to_owned(),
                    root_cause: "dns".to_owned(),
                    failures: 1,
                }],
            }],
            new: Vec::new(),
            slow: Vec::new(),
        });
        let page = String::from_utf8(page).unwrap();
        assert!(!page.contains("<script>alert") && !page.contains("<img") && !page.contains("<b>"));
        assert!(page.contains("aria-label=\"50 %\""), "{page}");
        assert!(page.contains("aria-label=\"1 of 4\""));
        assert!(page.contains("No cause was first seen since then."));
    }
}
