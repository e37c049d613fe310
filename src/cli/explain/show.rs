//! The explanation as people read it.

use super::Compared;
use super::compare::Part;
use super::known::{Known, Seen};
use crate::cli::paint::{BOLD, DIM, DiffPaint, GREEN, RED};
use anstyle::Style;
use jelly_base::model::{ErrorCategory, Fix, Side};
use jelly_base::text::{first_names, plural, sanitize};
use jelly_triage::history::{PastLabel, TestLabel, TestName};
use std::fmt::Write;

/// Tests that are named one by one.
const TESTS: usize = 10;
/// The same of one label.
const LABELLED: usize = 5;

/// All that is known of a fingerprint.
#[must_use]
pub fn show(known: &Known, paint: DiffPaint) -> String {
    let mut text = headline(known, paint);
    let template: Vec<String> = known
        .cause
        .template
        .parts()
        .filter(|(name, _)| *name != "root_cause")
        .flat_map(|(name, part)| labelled(name, part))
        .collect();
    if template.is_empty() {
        text += &paint.block(
            "Template",
            &[
                "not kept where this was found, and not to be made of what was; the history and \
               test reports have it"
                    .to_owned(),
            ],
        );
    } else {
        text += &paint.block("Template", &template);
    }
    let mut evidence = vec![known.cause.rule.clone()];
    evidence.push(known.cause.evidence.as_ref().map_or_else(
        || "no evidence".to_owned(),
        |evidence| format!("{}: {}", evidence.field, evidence.text),
    ));
    text += &paint.block("Rule and evidence", &evidence);
    if let Some(advice) = known
        .advice
        .as_ref()
        .filter(|advice| !advice.what.is_empty())
    {
        text += &paint.block("Meaning", &[advice.what.clone(), advice.why.clone()]);
        if !advice.fix.is_empty() {
            let steps: Vec<String> = advice.fix.iter().map(Fix::to_string).collect();
            text += &paint.block("To do", &steps);
        }
    }
    if let Some(seen) = &known.history {
        text += &paint.block("History", &history(seen));
    }
    if !known.tests.is_empty() {
        text += &paint.block("Tests", &tests(&known.tests));
    }
    if !known.reports.is_empty() {
        text += &paint.block("Found in", &known.reports);
    }
    text
}

fn headline(known: &Known, paint: DiffPaint) -> String {
    let side = match known.labels.as_slice() {
        [] => whom(known.cause.label()).to_owned(),
        labels => whom_by_test(labels),
    };
    let category = match known.cause.error_category {
        Some(ErrorCategory::Infrastructure) => ", INFRASTRUCTURE",
        Some(ErrorCategory::Assertion) => ", ASSERTION",
        Some(ErrorCategory::Locator) => ", LOCATOR",
        Some(ErrorCategory::Timeout) => ", TIMEOUT",
        Some(ErrorCategory::Other) => ", OTHER",
        None => "",
    };
    let retry = match known.cause.retryable {
        Some(true) => ", worth running again",
        Some(false) | None => "",
    };
    format!(
        "{}  {}\n{}\n",
        paint.tone(BOLD, &known.fingerprint),
        known.cause.root_cause,
        paint.tone(DIM, &format!("{side}{category}{retry}")),
    )
}

fn whom(label: PastLabel) -> &'static str {
    match (label.side, label.ambiguous) {
        (Side::Code, _) => "the code under test",
        (Side::Test, false) => "test or environment",
        (Side::Test, true) => "unclear, held against nobody",
    }
}

/// As in `in p > m > a the code under test; in p > m > b unclear, held against nobody`.
fn whom_by_test(labels: &[TestLabel]) -> String {
    let mut told: Vec<(&str, Vec<String>)> = Vec::new();
    for TestLabel { test, label } in labels {
        let whom = whom(*label);
        match told.iter_mut().find(|(known, _)| *known == whom) {
            Some((_, tests)) => tests.push(test.to_string()),
            None => told.push((whom, vec![test.to_string()])),
        }
    }
    let told = told.iter().map(|(whom, tests)| {
        let names = first_names(tests, tests.len(), LABELLED);
        format!("in {names} {whom}")
    });
    told.collect::<Vec<String>>().join("; ")
}

/// A part with its name before its first line.
fn labelled(name: &str, part: &str) -> Vec<String> {
    let mut lines = part.lines();
    let first = lines.next().unwrap_or_default();
    let mut labelled = vec![format!("{name}: {first}")];
    labelled.extend(lines.map(|line| format!("  {line}")));
    labelled
}

fn history(seen: &Seen) -> Vec<String> {
    let mut line = format!(
        "seen in {} of {}, {}",
        seen.runs,
        plural(seen.of_runs, "remembered run"),
        plural(seen.failures, "failure"),
    );
    if let Some(first) = &seen.first_seen {
        let _ = write!(line, "; first {first}");
    }
    if let Some(last) = &seen.last_seen {
        let _ = write!(line, ", last {last}");
    }
    vec![line]
}

fn tests(tests: &[TestName]) -> Vec<String> {
    let mut lines: Vec<String> = tests.iter().take(TESTS).map(TestName::to_string).collect();
    if tests.len() > TESTS {
        lines.push(format!("and {} more", tests.len() - TESTS));
    }
    lines
}

/// Why two fingerprints are or are not the same.
#[must_use]
pub fn show_comparison(compared: &Compared, paint: DiffPaint) -> String {
    let [one, other] = &compared.fingerprints;
    let mut text = headline(one, paint);
    text += &headline(other, paint);
    let differing: Vec<&str> = compared
        .parts
        .iter()
        .filter(|part| !part.same)
        .map(|part| part.name.as_str())
        .collect();
    let verdict = if compared.same {
        "The same cause: both are one fingerprint.".to_owned()
    } else if one.cause.template.is_empty() || other.cause.template.is_empty() {
        "Not the same. What one of them was made of was not kept, so only their causes can be \
         compared."
            .to_owned()
    } else if differing.is_empty() {
        "Not the same, though nothing that was kept of them differs: a part was too long to be \
         kept whole, or another version of jelly made one of them."
            .to_owned()
    } else {
        format!("Not the same: they differ in {}.", differing.join(", "))
    };
    let _ = write!(text, "\n{}\n", paint.tone(BOLD, &verdict));
    for part in &compared.parts {
        text += &show_part(part, paint);
    }
    text
}

fn show_part(part: &Part, paint: DiffPaint) -> String {
    let lines = |mark: &str, style: Style, text: &Option<String>| -> String {
        let Some(text) = text else {
            return format!("  {mark} {}\n", paint.tone(DIM, "(absent)"));
        };
        text.lines()
            .map(|line| {
                let line = sanitize(line);
                format!("  {}\n", paint.tone(style, &format!("{mark} {line}")))
            })
            .collect()
    };
    let heading = |what: &str| {
        format!(
            "\n{}{}\n",
            paint.tone(BOLD, &part.name),
            paint.tone(DIM, what)
        )
    };
    if part.same {
        return heading(" (same)") + &lines(" ", Style::new(), &part.one);
    }
    // Lines that both have are shown once.
    let (Some(one), Some(other)) = (&part.one, &part.other) else {
        return heading("") + &lines("-", RED, &part.one) + &lines("+", GREEN, &part.other);
    };
    let mut text = heading("");
    text.push_str(&paint.differences(one, other));
    text
}
