//! Rules of triage, for people and for programs.

use super::quote::{cell, code_cell, table};
use jelly_base::model::{
    Asked, CauseInfo, Diagnosis, ErrorCategory, Explanation, MatchInfo, Matched, ProvarBucket,
    RuleInfo, SCHEMA_VERSION, Side, json_word,
};
use jelly_base::text::{one_line, sanitize};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::fmt::Write as _;

/// Withheld and vetoed rules that are shown.
const SHOWN: usize = 8;

/// `jelly rules list --format json`.
#[derive(Debug, Serialize, JsonSchema)]
pub struct RuleList<'a> {
    /// Raised when a field changes its meaning.
    schema_version: u32,
    /// In the order in which they are asked.
    rules: &'a [RuleInfo],
    /// The causes that rules may name.
    root_causes: &'a [CauseInfo],
    /// The buckets of Provar's failure report.
    provar: &'a [ProvarBucket],
}

impl<'a> RuleList<'a> {
    #[must_use]
    pub fn new(
        rules: &'a [RuleInfo],
        root_causes: &'a [CauseInfo],
        provar: &'a [ProvarBucket],
    ) -> Self {
        Self {
            schema_version: SCHEMA_VERSION,
            rules,
            root_causes,
            provar,
        }
    }
}

/// One line a rule, in columns.
#[must_use]
pub fn rules_table(rules: &[RuleInfo]) -> String {
    let header = [
        "RULE",
        "ROOT CAUSE",
        "CATEGORY",
        "SIDE",
        "RETRY",
        "STRENGTH",
    ];
    let rows: Vec<[String; 6]> = rules
        .iter()
        .map(|rule| {
            [
                sanitize(&rule.id).into_owned(),
                rule.root_cause.clone(),
                category(rule.error_category),
                rule.side.clone(),
                retry(rule.retryable).to_owned(),
                rule.strength.clone(),
            ]
        })
        .collect();
    let mut widths = header.map(str::len);
    for row in &rows {
        for (width, text) in widths.iter_mut().zip(row) {
            *width = (*width).max(text.len());
        }
    }
    let mut text = String::new();
    for row in std::iter::once(&header.map(str::to_owned)).chain(&rows) {
        let cells: Vec<String> = row
            .iter()
            .zip(widths)
            .map(|(text, width)| format!("{text:width$}"))
            .collect();
        text.push_str(cells.join("  ").trim_end());
        text.push('\n');
    }
    text
}

/// A page about the rules: how they are weighed, the root causes, the rules by
/// domain, Provar's buckets.
#[must_use]
pub fn rules_markdown(rules: &[RuleInfo], causes: &[CauseInfo], provar: &[ProvarBucket]) -> String {
    let mut page = String::from(INTRODUCTION);
    page.push_str("\n## Root causes\n\n");
    let rows: Vec<Vec<String>> = causes
        .iter()
        .map(|cause| {
            let count = rules
                .iter()
                .filter(|rule| rule.root_cause == cause.root_cause)
                .count();
            vec![
                cell(&cause.group),
                code_cell(&cause.root_cause),
                cell(&cause.meaning),
                count.to_string(),
            ]
        })
        .collect();
    page.push_str(&table(
        &["group", "root cause", "meaning", "rules"],
        &rows,
        &[3],
    ));
    let mut domains: Vec<&str> = Vec::new();
    for rule in rules {
        if !domains.contains(&rule.domain.as_str()) {
            domains.push(&rule.domain);
        }
    }
    page.push_str("\n## Rules by domain\n");
    for domain in domains {
        let _ = write!(page, "\n### {domain}\n\n");
        let rows: Vec<Vec<String>> = rules
            .iter()
            .filter(|rule| rule.domain == domain)
            .map(|rule| {
                vec![
                    code_cell(&rule.id),
                    cell(&rule.advice.what),
                    code_cell(&rule.root_cause),
                    cell(&category(rule.error_category)),
                    cell(&rule.side),
                    cell(retry(rule.retryable)),
                ]
            })
            .collect();
        page.push_str(&table(
            &[
                "rule",
                "what it says",
                "root cause",
                "category",
                "side",
                "retry",
            ],
            &rows,
            &[],
        ));
    }
    page.push_str(PROVAR);
    let rows: Vec<Vec<String>> = provar
        .iter()
        .map(|bucket| {
            vec![
                code_cell(&bucket.bucket),
                code_cell(&bucket.root_cause),
                code_cell(&bucket.rule),
            ]
        })
        .collect();
    page.push_str(&table(&["bucket", "root cause", "rule"], &rows, &[]));
    page
}

const INTRODUCTION: &str = "\
# Rules of triage

This page is written by the program: `jelly rules list --format md > docs/rules.md`.

A rule is data: when it matches, and what it then reports. \
`jelly rules show ID` prints one in full, `jelly rules explain TEXT` shows which rules match a text and why one of them decides. \
Your own rules go in `jelly.yaml` or in files passed with `--rules`; [own-rules.md](own-rules.md) explains how to write them.

If several rules match, the first one decides, ordered by:

1. when it is evaluated: your own rules `before`, the built-in ones, your own rules `after`;
2. its strength: a `fact` (a typed fact, or the syntax of an assertion) before a `signature` (a text that names the cause), before a `hint` (a text that suggests one), before a `fallback` (only how it ended);
3. for signatures and hints, how specific the text is: the line of the root cause before the message, before the whole text, before the log;
4. its priority, the higher first; then its position in the files.

The side is `test` (the test, its data, its environment), `code` (the code under test), or `ambiguous`, which is shown as test-side. \
`retry` says whether the same test, unchanged, may pass.
";

const PROVAR: &str = "
## Buckets of Provar's report

Each of the seventeen buckets is a root cause here, or belongs to one; the rule distinguishes those that share one.

";

fn category(category: Option<ErrorCategory>) -> String {
    category.map_or_else(|| "-".to_owned(), |category| json_word(&category))
}

fn retry(retryable: Option<bool>) -> &'static str {
    match retryable {
        Some(true) => "yes",
        Some(false) => "no",
        None => "-",
    }
}

fn asked(asked: Asked) -> &'static str {
    match asked {
        Asked::Before => "yours, evaluated before the built-in rules",
        Asked::Builtin => "built in",
        Asked::After => "yours, evaluated after the built-in rules",
    }
}

/// All of one rule.
#[must_use]
pub fn rule_text(rule: &RuleInfo) -> String {
    let mut text = String::new();
    let _ = writeln!(text, "{} ({})", sanitize(&rule.id), asked(rule.asked));
    field(&mut text, "root cause", &rule.root_cause);
    field(&mut text, "category", &category(rule.error_category));
    field(&mut text, "side", &rule.side);
    field(&mut text, "retry", retry(rule.retryable));
    let strength = format!("{}, priority {}", rule.strength, rule.priority);
    field(&mut text, "strength", &strength);
    if let Some(repair) = &rule.repair {
        field(&mut text, "repair", repair);
    }
    if rule.when.as_object().is_some_and(|when| !when.is_empty()) {
        field(&mut text, "when", &conditions(&rule.when));
    }
    if !rule.fields.is_empty() {
        field(&mut text, "fields", &rule.fields.join(", "));
    }
    list(
        &mut text,
        "patterns, any of which must match",
        &rule.patterns,
    );
    list(&mut text, "unless one of these matches too", &rule.unless);
    let advice = &rule.advice;
    let _ = writeln!(text, "\nadvice");
    let _ = writeln!(text, "  what  {}", sanitize(&advice.what));
    let _ = writeln!(text, "  why   {}", sanitize(&advice.why));
    for (index, fix) in advice.fix.iter().enumerate() {
        let label = if index == 0 { "fix" } else { "" };
        let _ = writeln!(text, "  {label:<5} {}", sanitize(&fix.line()));
    }
    list(&mut text, "examples", &examples(&rule.examples));
    list(&mut text, "look-alikes", &examples(&rule.lookalikes));
    text
}

fn field(text: &mut String, name: &str, value: &str) {
    let _ = writeln!(text, "  {name:<11} {}", sanitize(value));
}

fn list(text: &mut String, title: &str, items: &[String]) {
    if items.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}");
    for item in items {
        let _ = writeln!(text, "  {}", sanitize(item));
    }
}

fn examples(examples: &[Value]) -> Vec<String> {
    let shown = |example: &Value| match example {
        Value::String(text) => text.replace('\n', "\\n"),
        other => other.to_string(),
    };
    examples.iter().map(shown).collect()
}

/// `source: live, phase: handshake or list`.
fn conditions(when: &Value) -> String {
    let word = |value: &Value| {
        value
            .as_str()
            .map_or_else(|| value.to_string(), str::to_owned)
    };
    let one = |(name, value): (&String, &Value)| {
        let value = match value {
            Value::Array(items) => items.iter().map(word).collect::<Vec<_>>().join(" or "),
            other => word(other),
        };
        format!("{name}: {value}")
    };
    when.as_object()
        .map(|when| when.iter().map(one).collect::<Vec<_>>().join(", "))
        .unwrap_or_default()
}

/// How a diagnosis came about.
#[must_use]
pub fn explanation_text(explanation: &Explanation) -> String {
    let mut text = String::new();
    let diagnosis = &explanation.diagnosis;
    let _ = writeln!(
        text,
        "{}: {}",
        diagnosis.rule,
        match explanation.matches.is_empty() {
            true => "no rule knows this text".to_owned(),
            false => diagnosed(diagnosis),
        }
    );
    if let Some(evidence) = &diagnosis.evidence {
        let _ = writeln!(
            text,
            "  evidence  {}: {}",
            evidence.field,
            sanitize(&evidence.text)
        );
    }
    let advice = &diagnosis.advice;
    let _ = writeln!(text, "  what      {}", one_line(&advice.what, 400));
    let _ = writeln!(text, "  why       {}", one_line(&advice.why, 400));
    for (index, fix) in advice.fix.iter().enumerate() {
        let label = if index == 0 { "fix" } else { "" };
        let _ = writeln!(text, "  {label:<9} {}", one_line(&fix.line(), 400));
    }
    if !explanation.texts.is_empty() {
        let _ = writeln!(text, "\nread, most telling first");
        for read in &explanation.texts {
            let left = if read.read { "" } else { " (left unread)" };
            let _ = writeln!(
                text,
                "  {} {}{left}: {}",
                read.rank,
                read.field,
                one_line(&read.text, 120)
            );
        }
    }
    if !explanation.matches.is_empty() {
        let _ = writeln!(text, "\nrules that hold, strongest first");
        for (index, held) in explanation.matches.iter().enumerate() {
            held_text(&mut text, index + 1, held, diagnosis);
        }
    }
    let vetoed = explanation.vetoed.iter().map(|veto| {
        format!(
            "  {}: {}\n     but for its exception {}",
            veto.rule,
            matched(&veto.matched),
            one_line(&veto.unless, 120)
        )
    });
    section(
        &mut text,
        "patterns that match, taken back by an exception",
        vetoed.collect(),
    );
    let withheld = explanation.withheld.iter().map(|withheld| {
        format!(
            "  {}: {}\n     but it wants {}",
            withheld.rule,
            matched(&withheld.matched),
            conditions(&withheld.when)
        )
    });
    section(
        &mut text,
        "patterns that match, of rules that do not apply here",
        withheld.collect(),
    );
    text
}

fn section(text: &mut String, title: &str, entries: Vec<String>) {
    if entries.is_empty() {
        return;
    }
    let _ = writeln!(text, "\n{title}");
    for entry in entries.iter().take(SHOWN) {
        let _ = writeln!(text, "{entry}");
    }
    if entries.len() > SHOWN {
        let _ = writeln!(text, "  … and {} more", entries.len() - SHOWN);
    }
}

/// What was made of the failure, in the words of [`says`].
fn diagnosed(diagnosis: &Diagnosis) -> String {
    let kind = (diagnosis.side == Side::Code, diagnosis.ambiguous);
    label(
        &diagnosis.root_cause,
        diagnosis.error_category,
        kind,
        diagnosis.retryable,
    )
}

/// `connection_refused, INFRASTRUCTURE, test-side, may pass when run again`.
fn says(held: &MatchInfo, ambiguous: bool) -> String {
    let kind = (held.side == "code", ambiguous);
    label(&held.root_cause, held.error_category, kind, held.retryable)
}

/// A label in words; `code` and `ambiguous` tell the side.
fn label(
    root_cause: &str,
    error_category: Option<ErrorCategory>,
    (code, ambiguous): (bool, bool),
    retryable: Option<bool>,
) -> String {
    let side = match (code, ambiguous) {
        (true, false) => "code-side",
        (_, true) => "test-side, ambiguous",
        (false, false) => "test-side",
    };
    let again = match retryable {
        Some(true) => ", may pass when run again",
        Some(false) => ", fails again when run again",
        None => "",
    };
    format!("{root_cause}, {}, {side}{again}", category(error_category))
}

fn held_text(text: &mut String, number: usize, held: &MatchInfo, diagnosis: &Diagnosis) {
    let own = match held.asked {
        Asked::Builtin => "",
        Asked::Before => ", yours, evaluated before",
        Asked::After => ", yours, evaluated after",
    };
    let _ = writeln!(
        text,
        "{number:>3}. {} ({}, priority {}{own})",
        held.rule, held.strength, held.priority
    );
    let ambiguous = match held.behind {
        None => diagnosis.ambiguous,
        Some(_) => held.side == "ambiguous",
    };
    let _ = writeln!(text, "     {}", says(held, ambiguous));
    match &held.matched {
        Some(found) => {
            let _ = writeln!(text, "     {}", matched(found));
        }
        None => {
            let _ = writeln!(text, "     by its typed conditions alone");
        }
    }
    match &held.behind {
        Some(why) => {
            let _ = writeln!(text, "     behind: {why}");
        }
        None if held.rule == diagnosis.rule => {
            let _ = writeln!(text, "     decides");
        }
        None => {
            let _ = writeln!(text, "     gives way to {}, by who said it", diagnosis.rule);
        }
    }
}

fn matched(matched: &Matched) -> String {
    format!(
        "{} matches {}",
        matched.field,
        one_line(&matched.pattern, 120)
    )
}
