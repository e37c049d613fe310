//! What happened, iteration by iteration: the picture, the servers, the steps,
//! and what was done next.

use super::parts::{self, code, row, table};
use super::room::PageRoom;
use super::spark::{PastEnds, TestEnd, sparkline};
use super::timeline::timeline;
use crate::report::{view, words};
use jelly_base::model::{
    ActionReport, BeforeAfter, HookReport, IterationReport, RepairReport, RunReport, ServerReport,
    StepReport, StepState, json_word,
};
use jelly_base::text::plural;
use maud::{Markup, html};
use std::collections::HashMap;

/// Rows of a table that is not folded.
const UNFOLDED: usize = 15;
/// Rows of a table of steps; a browser takes as long for a row as for a failure.
const STEPS: usize = 1000;

/// The iterations in order; `level` is that of their headings.
pub(super) fn iterations(
    report: &RunReport,
    level: u8,
    past: &PastEnds<'_>,
    room: &mut PageRoom,
) -> Markup {
    let last = report.iterations.len();
    let pictures = StepPictures {
        plan: &report.plan.name,
        past,
        ends: ends_of_steps(report),
    };
    html! {
        @for (at, iteration) in report.iterations.iter().enumerate() {
            (parts::heading(level, None, &html! {
                "Iteration " (iteration.index) ": " (words::totals(iteration))
            }))
            (timeline(iteration))
            (servers(iteration))
            (steps(iteration, (at + 1 == last).then_some(&pictures), room))
            (action(iteration.index, &iteration.action))
        }
    }
}

/// By step, how it ended in each iteration, where there are several.
fn ends_of_steps(report: &RunReport) -> HashMap<&str, Vec<TestEnd>> {
    let mut ends: HashMap<&str, Vec<TestEnd>> = HashMap::new();
    if report.iterations.len() < 2 {
        return ends;
    }
    for step in report.iterations.iter().flat_map(|i| &i.steps) {
        ends.entry(&step.id).or_default().push(match step.state {
            StepState::Passed if step.flaky => TestEnd::Flaky,
            StepState::Passed => TestEnd::Passed,
            StepState::Failed => TestEnd::Failed,
            StepState::Blocked | StepState::Quarantined | StepState::Skipped => TestEnd::NotRun,
        });
    }
    ends
}

fn servers(iteration: &IterationReport) -> Markup {
    if iteration.servers.is_empty() {
        return Markup::default();
    }
    let header = [
        "Server", "State", "Era", "Protocol", "Started", "Start-up", "Ended", "Exit", "Notes",
    ];
    let rows = iteration.servers.iter().map(|server| {
        let known =
            |text: &Option<String>| parts::text(parts::brief(text.as_deref().unwrap_or_default()));
        row(
            &code(&server.name),
            &[
                parts::text(words::spaced(&server.state)),
                known(&server.era),
                known(&server.protocol_version),
                moment(server.started_ms),
                parts::text(server.startup_ms.map(words::duration).unwrap_or_default()),
                moment(server.ended_ms),
                parts::text(server.exit.as_ref().map(words::exit).unwrap_or_default()),
                parts::text(parts::said(&view::server_notes(server))),
            ],
        )
    });
    html! {
        (table(&format!("Servers of iteration {}", iteration.index), &header, rows))
        @for (server, offers) in view::offers_wanted(iteration) {
            p { (code(server)) " offers " (parts::said(&offers)) }
        }
        @for server in &iteration.servers { (wire_check(server)) }
    }
}

fn wire_check(server: &ServerReport) -> Markup {
    let Some(check) = &server.wire_check else {
        return Markup::default();
    };
    let header = ["Breach", "Level", "Where", "Specification", "Times"];
    let rows = check.breaches.iter().map(|breach| {
        row(
            &html! { "the server " (parts::said(&breach.text)) },
            &[
                parts::text(json_word(&breach.level).to_uppercase()),
                code(&breach.pointer),
                // Section and address are jelly's own words.
                html! { a href=(breach.url) { (parts::brief(&breach.section)) } },
                html! { (breach.count) },
            ],
        )
    });
    let caption = format!(
        "Wire check of {}: {}",
        parts::brief(&server.name),
        view::wire_check(check)
    );
    html! {
        @if check.breaches.is_empty() {
            p { (caption) }
        } @else {
            (table(&caption, &header, rows))
        }
        @if check.further > 0 {
            p { (plural(check.further, "sighting")) " of further breaches, not kept." }
        }
        @if check.unchecked > 0 {
            p { (plural(check.unchecked, "line")) " not checked: too much came before the revision \
                 was known." }
        }
    }
}

/// How the steps ended before.
struct StepPictures<'p> {
    plan: &'p str,
    past: &'p PastEnds<'p>,
    /// By step, in each iteration.
    ends: HashMap<&'p str, Vec<TestEnd>>,
}

impl StepPictures<'_> {
    /// Earlier runs, then the iterations of this one.
    fn of(&self, step: &StepReport) -> Markup {
        let past = (self.past)(self.plan, &step.server, &step.id);
        let ends = self.ends.get(step.id.as_str());
        html! {
            (sparkline(&past, "earlier run")) " "
            (sparkline(ends.map_or(&[], Vec::as_slice), "iteration"))
        }
    }
}

/// `pictures`: of the steps, for the last iteration.
fn steps(
    iteration: &IterationReport,
    pictures: Option<&StepPictures<'_>>,
    room: &mut PageRoom,
) -> Markup {
    if iteration.steps.is_empty() {
        return Markup::default();
    }
    let mut header = vec![
        "Step", "Server", "State", "Attempts", "Started", "Duration", "Notes",
    ];
    header.extend(pictures.map(|_| "History"));
    let rows = iteration.steps.iter().take(STEPS).map(|step| {
        let mut cells = cells_of(step);
        cells.extend(pictures.map(|pictures| pictures.of(step)));
        row(&code(&step.path()), &cells)
    });
    let (rows, _) = room.list(rows);
    let left_out = iteration.steps.len() - rows.len();
    let caption = format!("Steps of iteration {}", iteration.index);
    let title = format!("{caption} ({})", iteration.steps.len());
    let body = html! {
        (table(&caption, &header, rows))
        @if left_out > 0 {
            p { "And " (plural(left_out as u64, "more step")) ": results.json holds all." }
        }
    };
    parts::folded(&title, iteration.steps.len() <= UNFOLDED, &body)
}

fn cells_of(step: &StepReport) -> Vec<Markup> {
    let state = words::spaced(&step.state);
    let kind = match step.state {
        StepState::Passed if step.flaky => "flaky",
        StepState::Passed => "passed",
        StepState::Failed => "failed",
        StepState::Blocked | StepState::Quarantined => "held",
        StepState::Skipped => "skipped",
    };
    let duration = step.duration_ms.map(words::fine_duration);
    vec![
        code(&step.server),
        parts::tag(kind, &state),
        html! { (step.attempts) },
        moment(step.started_ms),
        parts::text(duration.unwrap_or_default()),
        parts::text(parts::said(&view::step_notes(step))),
    ]
}

/// Since the iteration began.
fn moment(ms: Option<f64>) -> Markup {
    parts::text(
        ms.map(|ms| format!("+{}", words::fine_duration(ms)))
            .unwrap_or_default(),
    )
}

fn action(index: u32, action: &ActionReport) -> Markup {
    html! {
        p {
            "Then " (code(&json_word(&action.kind))) " (action " (index) "): "
            (parts::said(&action.reason)) "."
            @if let Some(wait) = action.backoff_ms {
                " Waited " (words::duration(wait)) " before the next iteration."
            }
        }
        @for repair in &action.repairs { (repair_of(repair)) }
        @if let Some(hook) = &action.hook { (hook_of(hook)) }
    }
}

fn repair_of(repair: &RepairReport) -> Markup {
    html! {
        p {
            (code(&repair.id)) " on " (code(&repair.target)) ": "
            (parts::said(&repair.explanation))
            @if repair.ineffective { ". " b { "It did not help." } }
        }
        (parts::diff("What it changed of the plan", &repair.diff))
    }
}

fn hook_of(hook: &HookReport) -> Markup {
    html! {
        p {
            "Hook " (code(&hook.hook)) " ran " (parts::long_code(&words::shell_line(&hook.argv)))
            ": " (parts::said(&view::hook_end(hook, str::to_owned))) ", after " (words::duration(hook.elapsed_ms)) "."
        }
        (parts::block("stdout of the hook", &hook.stdout, None))
        (parts::block("stderr of the hook", &hook.stderr, None))
        @if !hook.changes.is_empty() {
            p { "What the hook changed of the plan:" }
            ul {
                @for change in &hook.changes {
                    li {
                        @if change.kind.weakens() { b { "less is tested: " } }
                        (parts::said(&change.what))
                    }
                }
            }
        }
        @if let Some(diff) = &hook.diff {
            (parts::diff("What the hook changed", diff))
        }
        @if !hook.code_changed.is_empty() {
            p { "Files that are not part of the plan, changed by the hook:" }
            ul { @for file in &hook.code_changed { li { (code(file)) } } }
        }
    }
}

/// What was left of each budget around each iteration.
pub(super) fn budgets(report: &RunReport) -> Markup {
    let names: Vec<&str> = view::budgets(&BeforeAfter::default())
        .iter()
        .map(|(name, ..)| *name)
        .collect();
    let header: Vec<&str> = std::iter::once("Iteration").chain(names).collect();
    let rows = report.iterations.iter().map(|iteration| {
        let cells: Vec<Markup> = view::budgets(&iteration.budgets)
            .iter()
            .map(|(_, before, after)| match before == after {
                true => html! { (before) },
                false => html! { (before) " → " (after) },
            })
            .collect();
        row(&html! { (iteration.index) }, &cells)
    });
    table("What is left of the budgets, before → after", &header, rows)
}
