//! What changed of a contract, and what a linter found, for people.

use super::quote::code_cell;
use super::terminal::paint::{BOLD, GREEN, RED, YELLOW, toned};
use anstyle::Style;
use jelly_base::text::{hunks, one_line, plural, sanitize};
use jelly_contract::{Change, ChangeKind, LintLevel, LintReport, counts};
use serde_json::Value;
use std::fmt::Write as _;

/// How much of a value a line shows.
const SHOWN: usize = 160;
/// Lines of the difference of two texts.
const LINES: usize = 24;

fn style(kind: ChangeKind) -> Style {
    match kind {
        ChangeKind::Breaking => RED,
        ChangeKind::Text => YELLOW,
        ChangeKind::Compatible => GREEN,
    }
}

/// For a terminal.
#[must_use]
pub fn changes_text(changes: &[Change], color: bool) -> String {
    let mut text = String::new();
    let mut server = None;
    for change in changes {
        if server != Some(&change.server) {
            server = Some(&change.server);
            let name = sanitize(&one_line(&change.server, 80)).into_owned();
            let _ = writeln!(text, "{}", toned(color, BOLD, &name));
        }
        let kind = format!("{:10}", change.kind.name());
        let kind = toned(color, style(change.kind), &kind);
        let at = match change.pointer.as_str() {
            "" => String::new(),
            pointer => format!(" {}", sanitize(&one_line(pointer, 200))),
        };
        let item = sanitize(&one_line(&change.item, 100)).into_owned();
        let era = change
            .era
            .as_ref()
            .map_or_else(String::new, |era| format!(", {era} era"));
        let _ = writeln!(text, "  {kind} {item}{at} ({}{era})", change.rule);
        let _ = writeln!(text, "    {}", sanitize(&change.why));
        for line in difference(change) {
            let style = match line.as_bytes().first() {
                Some(b'-') => RED,
                Some(b'+') => GREEN,
                _ => Style::new(),
            };
            let _ = writeln!(text, "    {}", toned(color, style, &line));
        }
    }
    let _ = writeln!(text, "{}", summary(changes));
    text
}

/// How many there are, in words.
#[must_use]
pub fn summary(changes: &[Change]) -> String {
    let [breaking, text, compatible] = counts(changes);
    match changes.len() {
        0 => "no changes".to_owned(),
        all => format!(
            "{}: {breaking} breaking, {text} text, {compatible} compatible",
            plural(all, "change")
        ),
    }
}

/// What stood there and what stands there, as lines of a diff.
fn difference(change: &Change) -> Vec<String> {
    // What is added or gone as a whole, its name says.
    let is_whole = change.pointer.is_empty() && (change.before.is_none() || change.after.is_none());
    if is_whole || change.item == "server" && change.rule.starts_with("server-") {
        return Vec::new();
    }
    if let (Some(Value::String(old)), Some(Value::String(new))) = (&change.before, &change.after)
        && (old.contains('\n') || new.contains('\n'))
    {
        let all = hunks(old, new, LINES);
        let lines = all.lines().filter(|line| !line.starts_with("@@"));
        return lines.map(|line| sanitize(line).into_owned()).collect();
    }
    let shown = |mark: char, value: &Option<Value>| {
        let value = value.as_ref()?;
        let text = match value {
            Value::String(text) => text.clone(),
            other => other.to_string(),
        };
        Some(format!("{mark} {}", sanitize(&one_line(&text, SHOWN))))
    };
    [shown('-', &change.before), shown('+', &change.after)]
        .into_iter()
        .flatten()
        .collect()
}

/// For a page.
#[must_use]
pub fn changes_md(changes: &[Change]) -> String {
    let mut text = format!("{}.\n", summary(changes));
    let cell = |value: &Option<Value>| match value {
        None => String::new(),
        Some(Value::String(text)) => code_cell(&one_line(text, SHOWN)),
        Some(other) => code_cell(&one_line(&other.to_string(), SHOWN)),
    };
    for kind in [
        ChangeKind::Breaking,
        ChangeKind::Text,
        ChangeKind::Compatible,
    ] {
        let of_kind: Vec<&Change> = changes.iter().filter(|it| it.kind == kind).collect();
        if of_kind.is_empty() {
            continue;
        }
        let heading = match kind {
            ChangeKind::Breaking => "Breaking",
            ChangeKind::Text => "Text",
            ChangeKind::Compatible => "Compatible",
        };
        let _ = write!(
            text,
            "\n## {heading}\n\n| item | where | before | after | why |\n| --- | --- | --- | --- | --- |\n"
        );
        for change in of_kind {
            let is_whole =
                change.pointer.is_empty() && (change.before.is_none() || change.after.is_none());
            let [before, after] = match is_whole {
                true => [String::new(), String::new()],
                false => [cell(&change.before), cell(&change.after)],
            };
            let pointer = match change.pointer.as_str() {
                "" => String::new(),
                pointer => code_cell(pointer),
            };
            let why = super::quote::cell(&change.why);
            let _ = writeln!(
                text,
                "| {} | {pointer} | {before} | {after} | {why} ({}) |",
                code_cell(&change.item),
                code_cell(&change.rule)
            );
        }
    }
    text
}

/// What a linter found, for a terminal.
#[must_use]
pub fn lint_text(report: &LintReport, color: bool) -> String {
    let mut text = String::new();
    let mut counts = [0, 0, 0];
    for finding in &report.findings {
        let (style, at) = match finding.level {
            LintLevel::Error => (RED, 0),
            LintLevel::Warning => (YELLOW, 1),
            LintLevel::Notice => (BOLD, 2),
        };
        counts[at] += 1;
        let level = ["error", "warning", "notice"][at];
        let level = toned(color, style, &format!("{level}[{}]", finding.rule));
        let place = format!("{} {}{}", finding.server, finding.item, finding.pointer);
        let place = sanitize(&one_line(place.trim(), 200)).into_owned();
        let _ = writeln!(text, "{level} {place}\n    {}", sanitize(&finding.why));
    }
    let _ = writeln!(
        text,
        "{}, {}{}; the lists of tools have {} bytes, about {} tokens",
        plural(counts[0], "error"),
        plural(counts[1], "warning"),
        match counts[2] {
            0 => String::new(),
            notices => format!(", {}", plural(notices, "notice")),
        },
        report.totals.bytes,
        report.totals.tokens
    );
    text
}
