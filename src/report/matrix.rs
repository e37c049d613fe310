//! The combinations of a plan's matrix, side by side.
//!
//! Main functions: [`compare`], which finds what differs, and [`matrix_md`],
//! which shows it. Pure.

use super::quote::{cell, code_cell, fence, prose, table};
use super::words;
use indexmap::{IndexMap, IndexSet};
use jelly_base::model::{
    Difference, DifferenceKind, EditReport, MatrixCell, MatrixRepair, MatrixReport, MatrixServer,
    MatrixStep, MatrixVariant, RunReport, ServerState, StepAnswers, StepReport, StepState,
    json_word,
};
use jelly_base::text::{LazyPattern, MOMENT, UUID, hunks, plural, read_json};
use serde_json::Value;

/// No diff is longer than this.
const DIFF_LINES: usize = 100;
/// So many differences are shown to people; data holds all.
const SHOWN: usize = 50;

/// What every revision adds to a result by itself.
const ENVELOPE: [&str; 4] = ["_meta", "resultType", "ttlMs", "cacheScope"];

/// What is different each time, whoever answers: moments, random ids, and
/// ports of this machine.
static VOLATILE: LazyPattern =
    LazyPattern::made(|| format!(r"{MOMENT}|{UUID}|\b(?:localhost|127\.0\.0\.1):\d{{2,5}}\b"));

/// One combination and what its run left behind.
#[derive(Debug, Clone, Copy)]
pub struct Ran<'a> {
    pub name: &'a str,
    pub values: &'a IndexMap<String, String>,
    pub report: &'a RunReport,
    pub answers: &'a StepAnswers,
    /// By step, where the plan has it, as `file:line:column`.
    pub places: &'a IndexMap<String, String>,
}

/// Puts the runs of one plan side by side. The first one is what the others
/// are compared with.
#[must_use]
pub fn compare(plan: &str, axes: IndexMap<String, Vec<String>>, runs: &[Ran<'_>]) -> MatrixReport {
    let mut steps: IndexMap<&str, MatrixStep> = IndexMap::new();
    for (place, run) in runs.iter().enumerate() {
        let last = run.report.iterations.last();
        for step in last.into_iter().flat_map(|last| &last.steps) {
            let row = steps.entry(&step.id).or_insert_with(|| MatrixStep {
                id: step.id.clone(),
                at: run.places.get(&step.id).cloned(),
                section: step.section,
                cells: vec![None; runs.len()],
                differs: false,
            });
            row.cells[place] = Some(cell_of(run.report, step));
        }
    }
    let mut differences = Vec::new();
    for step in steps.values_mut() {
        let before = differences.len();
        for (place, other) in runs.iter().enumerate().skip(1) {
            let between = [runs[0].name.to_owned(), other.name.to_owned()];
            let pair = [&step.cells[0], &step.cells[place]];
            let answers = [runs[0].answers.get(&step.id), other.answers.get(&step.id)];
            differences.extend(differ(&step.id, &between, pair, answers));
        }
        step.differs = differences.len() > before;
    }
    for other in runs.iter().skip(1) {
        for difference in repaired_differently(&runs[0], other) {
            if let Some(step) = steps.get_mut(difference.step.as_str()) {
                step.differs = true;
            }
            differences.push(difference);
        }
    }
    MatrixReport {
        plan: plan.to_owned(),
        path: runs
            .first()
            .map_or_else(String::new, |run| run.report.plan.path.clone()),
        axes,
        variants: runs.iter().map(variant_of).collect(),
        steps: steps.into_values().collect(),
        differences,
    }
}

/// By target, the repairs that a run's last plan holds.
fn mends(report: &RunReport) -> IndexMap<&str, Vec<(&str, &[EditReport])>> {
    let mut mends: IndexMap<&str, Vec<(&str, &[EditReport])>> = IndexMap::new();
    for repair in report.lasting_repairs() {
        let of_target = mends.entry(&repair.target).or_default();
        of_target.push((&repair.id, &repair.edits));
    }
    mends
}

/// Two runs whose plans are not the same any more have not tested the same.
fn repaired_differently(one: &Ran<'_>, other: &Ran<'_>) -> Vec<Difference> {
    let (first, second) = (mends(one.report), mends(other.report));
    let targets: IndexSet<&str> = first.keys().chain(second.keys()).copied().collect();
    let told = |run: &Ran<'_>, target: &str| {
        let repairs = run.report.lasting_repairs();
        let own: Vec<&str> = repairs
            .into_iter()
            .filter(|repair| repair.target == target)
            .map(|repair| repair.explanation.as_str())
            .collect();
        if own.is_empty() {
            "not repaired".to_owned()
        } else {
            format!("repaired ({})", own.join("; "))
        }
    };
    targets
        .into_iter()
        .filter(|target| first.get(target) != second.get(target))
        .map(|target| Difference {
            step: target.strip_prefix("steps.").unwrap_or(target).to_owned(),
            kind: DifferenceKind::Repair,
            between: [one.name.to_owned(), other.name.to_owned()],
            text: format!("{}, and {}", told(one, target), told(other, target)),
            diff: None,
        })
        .collect()
}

fn variant_of(run: &Ran<'_>) -> MatrixVariant {
    let servers = run
        .report
        .iterations
        .last()
        .into_iter()
        .flat_map(|last| &last.servers);
    MatrixVariant {
        name: run.name.to_owned(),
        values: run.values.clone(),
        verdict: run.report.verdict,
        exit_code: run.report.exit_code,
        report_dir: run.report.report_dir.clone(),
        servers: servers
            .filter(|server| server.state != ServerState::NotStarted)
            .map(|server| MatrixServer {
                name: server.name.clone(),
                state: server.state,
                era: server.era.clone(),
                protocol_version: server.protocol_version.clone(),
            })
            .collect(),
        repairs: run
            .report
            .lasting_repairs()
            .into_iter()
            .map(|repair| MatrixRepair {
                id: repair.id.clone(),
                target: repair.target.clone(),
                explanation: repair.explanation.clone(),
            })
            .collect(),
    }
}

fn cell_of(report: &RunReport, step: &StepReport) -> MatrixCell {
    let last = report.iterations.last();
    let own = last.and_then(|last| last.deciding_failure_of(&step.id));
    let blocking = || {
        let of_server = |f: &&_| is_of_server(f, &step.server);
        last.and_then(|last| last.failures.iter().find(of_server))
    };
    let failure = match step.state {
        StepState::Failed | StepState::Quarantined => own,
        StepState::Blocked => own.or_else(blocking),
        StepState::Passed | StepState::Skipped => None,
    };
    MatrixCell {
        server: step.server.clone(),
        state: step.state,
        because: step.because.clone(),
        root_cause: failure.map(|failure| failure.diagnosis.root_cause.clone()),
        duration_ms: step.duration_ms,
    }
}

fn is_of_server(failure: &jelly_base::model::FailureReport, server: &str) -> bool {
    failure.step.is_none() && failure.server.as_deref() == Some(server)
}

/// What differs at one step between two runs: at most its fate and its answer.
fn differ(
    step: &str,
    between: &[String; 2],
    cells: [&Option<MatrixCell>; 2],
    answers: [Option<&Value>; 2],
) -> Vec<Difference> {
    let mut found = Vec::new();
    let mut add = |kind, text: String, diff| {
        found.push(Difference {
            step: step.to_owned(),
            kind,
            between: between.clone(),
            text,
            diff,
        });
    };
    let state = |cell: &Option<MatrixCell>| cell.as_ref().map(|cell| cell.state);
    let cause = |cell: &Option<MatrixCell>| cell.as_ref().and_then(|cell| cell.root_cause.clone());
    let [one, other] = cells;
    let fates = || format!("{}, and {}", fate(one.as_ref()), fate(other.as_ref()));
    if state(one) != state(other) {
        add(DifferenceKind::State, fates(), None);
    } else if cause(one) != cause(other) {
        add(DifferenceKind::RootCause, fates(), None);
    }
    if let [Some(one), Some(other)] = answers
        && let Some(diff) = diff_of(one, other, between)
    {
        let text = if kind_of(one) == kind_of(other) {
            "another answer".to_owned()
        } else {
            format!(
                "answered with {}, and with {}",
                kind_of(one),
                kind_of(other)
            )
        };
        add(DifferenceKind::Answer, text, Some(diff));
    }
    found
}

fn fate(cell: Option<&MatrixCell>) -> String {
    let Some(cell) = cell else {
        return "not reached".to_owned();
    };
    let state = json_word(&cell.state);
    match &cell.root_cause {
        Some(cause) => format!("{state} ({cause})"),
        None => state,
    }
}

fn kind_of(answer: &Value) -> &'static str {
    if answer.get("error").is_some() {
        "an error"
    } else {
        "a result"
    }
}

/// The difference of two answers in lines; none where they say the same.
fn diff_of(one: &Value, other: &Value, names: &[String; 2]) -> Option<String> {
    if one == other {
        return None;
    }
    let [one, other] = [one, other].map(|answer| {
        let text = format!("{:#}\n", normal(answer));
        VOLATILE.replace_all(&text, "…").into_owned()
    });
    if one == other {
        return None;
    }
    let [one, other] = [one, other].map(|text| spread(&text));
    let text = hunks(&one, &other, DIFF_LINES);
    Some(format!("--- {}\n+++ {}\n{text}", names[0], names[1]))
}

/// Indented JSON, with each text of many lines, or that is JSON itself, told
/// line by line: in one line, two of them would differ as a whole.
fn spread(json: &str) -> String {
    let mut out = String::with_capacity(json.len());
    for line in json.lines() {
        let indent = &line[..line.len() - line.trim_start().len()];
        let start = line.find(": \"").map_or(indent.len(), |at| at + 2);
        let (head, value) = line.split_at(start);
        let text: Option<String> = serde_json::from_str(value.trim_end_matches(',')).ok();
        let lines = text.map(|text| match read_json(&text) {
            Some(value) if value.is_object() || value.is_array() => format!("{value:#}"),
            Some(_) | None => text,
        });
        match lines.filter(|text| text.trim_end().contains('\n')) {
            Some(text) => {
                out.push_str(&format!("{head}\n"));
                for line in text.lines() {
                    out.push_str(&format!("{indent}  {line}\n"));
                }
            }
            None => out.push_str(&format!("{line}\n")),
        }
    }
    out
}

/// Without what a revision adds by itself, and with its keys in order.
fn normal(answer: &Value) -> Value {
    let mut answer = answer.clone();
    if let Some(Value::Object(result)) = answer.get_mut("result") {
        result.retain(|key, _| !ENVELOPE.contains(&key.as_str()));
    }
    answer.sort_all_objects();
    answer
}

/// The table of steps by variant, and what differs, for people.
#[must_use]
pub fn matrix_md(matrices: &[MatrixReport]) -> String {
    let mut out = String::new();
    for matrix in matrices {
        if !out.is_empty() {
            out.push('\n');
        }
        out.push_str(&format!("# Matrix: {}\n\n", prose(&matrix.plan)));
        out.push_str(&in_short(matrix));
        out.push_str("\n\n");
        out.push_str(&variants_table(matrix));
        out.push('\n');
        out.push_str(&steps_table(matrix));
        let notes = notes(matrix);
        if !notes.is_empty() {
            out.push('\n');
        }
        for note in notes {
            out.push_str(&format!("- {}\n", prose(&note)));
        }
        if !matrix.differences.is_empty() {
            out.push_str("\n## What differs\n");
        }
        let (shown, more) = shown(matrix);
        for difference in shown {
            let [one, other] = &difference.between;
            out.push_str(&format!(
                "\n### {}: {}\n\nBetween {} and {}.\n",
                prose(&difference.step),
                prose(&difference.text),
                prose(one),
                prose(other)
            ));
            if let Some(diff) = &difference.diff {
                out.push('\n');
                out.push_str(&fence(diff, "diff"));
            }
        }
        if let Some(more) = more {
            out.push_str(&format!("\n{more}\n"));
        }
    }
    out
}

/// One sentence: how many of what, and how many differ.
pub(super) fn in_short(matrix: &MatrixReport) -> String {
    let variants = plural(matrix.variants.len() as u64, "variant");
    let steps = plural(matrix.steps.len() as u64, "step");
    let differing = matrix.steps.iter().filter(|step| step.differs).count() as u64;
    match differing {
        0 if !matrix.differences.is_empty() => {
            format!("{steps} in {variants}; no step differs, but the repairs do.")
        }
        0 => format!("{steps} in {variants}, and no difference."),
        1 => format!("{steps} in {variants}, of which 1 differs."),
        many => format!("{steps} in {variants}, of which {many} differ."),
    }
}

fn variants_table(matrix: &MatrixReport) -> String {
    let rows: Vec<Vec<String>> = matrix
        .variants
        .iter()
        .map(|variant| {
            vec![
                code_cell(&variant.name),
                cell(&words::verdict(variant.verdict)),
                variant.exit_code.to_string(),
                cell(&servers_of(variant)),
            ]
        })
        .collect();
    table(&["variant", "verdict", "exit code", "servers"], &rows, &[2])
}

/// `files 2025-06-18 (legacy), memory failed`.
pub(super) fn servers_of(variant: &MatrixVariant) -> String {
    let servers: Vec<String> = variant
        .servers
        .iter()
        .map(|server| match (&server.protocol_version, &server.era) {
            (Some(version), Some(era)) => format!("{} {version} ({era})", server.name),
            (_, _) => format!("{} {}", server.name, words::spaced(&server.state)),
        })
        .collect();
    servers.join(", ")
}

fn steps_table(matrix: &MatrixReport) -> String {
    let names: Vec<String> = matrix.variants.iter().map(|v| cell(&v.name)).collect();
    let mut header = vec!["step"];
    header.extend(names.iter().map(String::as_str));
    header.push("differs");
    let rows: Vec<Vec<String>> = matrix
        .steps
        .iter()
        .map(|step| {
            let mut row = vec![code_cell(&step.id)];
            row.extend(
                step.cells
                    .iter()
                    .map(|found| cell(&with_time(found.as_ref()))),
            );
            row.push(if step.differs { "yes" } else { "" }.to_owned());
            row
        })
        .collect();
    table(&header, &rows, &[])
}

fn with_time(found: Option<&MatrixCell>) -> String {
    let mut text = fate(found);
    if let Some(ms) = found.and_then(|found| found.duration_ms) {
        text.push_str(&format!(" {}", words::fine_duration(ms)));
    }
    text
}

/// The rows of the terminal: a step with what it came to in each variant, and
/// whether it differs; above them the names of the variants.
pub(super) fn rows(matrix: &MatrixReport) -> Vec<(Vec<String>, bool)> {
    let mut head = vec![String::new()];
    head.extend(matrix.variants.iter().map(|variant| variant.name.clone()));
    let steps = matrix.steps.iter().map(|step| {
        let mut row = vec![step.id.clone()];
        row.extend(step.cells.iter().map(|found| with_time(found.as_ref())));
        (row, step.differs)
    });
    std::iter::once((head, false)).chain(steps).collect()
}

/// What the table does not say: which variants are not what they are called,
/// since a server says its revision itself, and which had to be repaired.
pub(super) fn notes(matrix: &MatrixReport) -> Vec<String> {
    let mut notes = Vec::new();
    for variant in &matrix.variants {
        let asked = variant.values.get("protocol");
        for server in &variant.servers {
            let (Some(asked), Some(ran)) = (asked, &server.protocol_version) else {
                continue;
            };
            if ran != asked && server.state != ServerState::Failed {
                notes.push(format!(
                    "{}: the server {} ran {ran}: its entry has a pin of its own",
                    variant.name, server.name
                ));
            }
        }
        for repair in &variant.repairs {
            notes.push(format!(
                "{}: repaired by {} on {}: {}",
                variant.name, repair.id, repair.target, repair.explanation
            ));
        }
    }
    notes
}

/// The differences that are shown, and what stands for the rest.
pub(super) fn shown(matrix: &MatrixReport) -> (&[Difference], Option<String>) {
    let all = &matrix.differences;
    let (shown, rest) = all.split_at(all.len().min(SHOWN));
    let more = plural(rest.len(), "difference");
    let more = (!rest.is_empty()).then(|| format!("{more} more in results.json."));
    (shown, more)
}

#[cfg(test)]
mod tests;
