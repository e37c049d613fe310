//! The page of `jelly run`: what came of it and what to do, then why, then how.

use super::failure::{self, FailureList};
use super::links::PageLinks;
use super::page::{contents, document, filter, tone};
use super::parts::{self, section, section_of};
use super::room::{PageRoom, ToldBlocks};
use super::spark::PastEnds;
use super::{causes, iterations, matrix};
use crate::report::coverage::coverage_html;
use crate::report::json::Results;
use crate::report::{view, words};
use jelly_base::model::{Fix, HelpSummary, RunReport};
use jelly_base::text::{capitalised, plural};
use maud::{Markup, html};
use std::collections::HashMap;

/// The page of a call's plans, of one or of several.
#[must_use]
pub fn run_html(results: &Results<'_>, links: &PageLinks, past: &PastEnds<'_>) -> Vec<u8> {
    let (plans, matrices) = (results.plans, results.matrix);
    let failures = plans
        .iter()
        .flat_map(|plan| &plan.iterations)
        .map(|iteration| iteration.failures.len())
        .sum();
    let filter = html! {
        @if failures > 0 {
            (filter(failures))
        }
    };
    let parts = plans.len() + matrices.len();
    let mut matrix_room = PageRoom::share(parts);
    let compared = html! {
        @if !matrices.is_empty() {
            (section(2, "matrix", "Matrix", &html! {
                @for one in matrices { (matrix::matrix(one, 3, &mut matrix_room)) }
            }))
        }
    };
    if let [plan] = plans {
        let parts = PlanParts::new(plan, "", 2, PageRoom::share(parts), links, past);
        let title = format!("{}: {}", plan.plan.name, state(plan));
        let mut listed = parts.listed();
        if !matrices.is_empty() {
            listed.push(("matrix", "Matrix"));
        }
        let head = html! {
            h1 { (parts::tag(tone_of(plan), &state(plan))) " " (parts::brief(&plan.plan.name)) }
            (origin(plan))
            (contents(&listed))
        };
        return document(&title, &head, &html! { (parts.main(&filter)) (compared) });
    }
    let verdict = words::verdict(results.verdict);
    let head = html! {
        h1 {
            (parts::tag(tone(results.verdict, results.exit_code), &verdict)) " "
            (plural(plans.len() as u64, "plan")) ", exit code " (results.exit_code)
        }
        (overview(plans))
        @if let Some(coverage) = &results.coverage {
            p { "All plans together:" }
            (coverage_html(coverage))
        }
    };
    let main = html! {
        (filter)
        @for (at, plan) in plans.iter().enumerate() {
            @let prefix = format!("p{}-", at + 1);
            @let room = PageRoom::share(parts);
            @let parts = PlanParts::new(plan, &prefix, 3, room, links, past);
            article id={ (prefix) "plan" } aria-labelledby={ (prefix) "title" } {
                h2 id={ (prefix) "title" } {
                    (parts::tag(tone_of(plan), &state(plan))) " " (parts::brief(&plan.plan.name))
                }
                (origin(plan))
                (parts.main(&html! {}))
            }
        }
        (compared)
    };
    let title = format!(
        "{verdict}: {}, exit code {}",
        plural(plans.len() as u64, "plan"),
        results.exit_code
    );
    document(&title, &head, &main)
}

/// The plans of a call in a table, to choose from.
fn overview(plans: &[RunReport]) -> Markup {
    let rows = plans.iter().enumerate().map(|(at, plan)| {
        let totals = plan.iterations.last().map(words::totals);
        parts::row(
            &html! { a href={ "#p" (at + 1) "-plan" } { (parts::brief(&plan.plan.name)) } },
            &[
                parts::tag(tone_of(plan), &state(plan)),
                html! { (plan.exit_code) },
                parts::text(totals.unwrap_or_default()),
                parts::text(words::duration(plan.duration_ms)),
            ],
        )
    });
    let header = ["Plan", "Verdict", "Exit code", "Steps", "Duration"];
    parts::table("Plans", &header, rows)
}

fn state(plan: &RunReport) -> String {
    match plan.in_progress {
        true => "in progress".to_owned(),
        false => view::ending(plan),
    }
}

fn tone_of(plan: &RunReport) -> &'static str {
    match plan.in_progress {
        true => "warn",
        false => tone(plan.verdict, plan.exit_code),
    }
}

/// Counts, and where it all comes from.
fn origin(plan: &RunReport) -> Markup {
    html! {
        @match plan.iterations.last() {
            Some(last) => p.totals {
                b { (capitalised(&words::totals(last))) } "; "
                (plural(plan.iterations.len() as u64, "iteration")) " in "
                (words::duration(plan.duration_ms)) "; exit code " b { (plan.exit_code) }
                @if let Some(why) = view::unaccepted(plan) { " (" (why) ")" }
            },
            None => p.totals { "Nothing was executed; exit code " b { (plan.exit_code) } },
        }
        p.origin {
            "Plan " (parts::code(&plan.plan.path)) ", run " (parts::code(&plan.run_id)) ", seed "
            (plan.seed) ", started " (parts::brief(&plan.started_at))
        }
        @for warning in &plan.warnings { p.warning { b { "Warning: " } (parts::said(warning)) } }
    }
}

/// The parts of one plan's run, each made once.
struct PlanParts {
    /// The id of the plan's name, where there are several plans.
    name: Option<String>,
    /// Ids, titles and bodies, without the empty ones.
    before: Vec<(String, &'static str, Markup)>,
    failures: Option<(String, &'static str, Markup)>,
    after: Vec<(String, &'static str, Markup)>,
    level: u8,
}

impl PlanParts {
    fn new(
        plan: &RunReport,
        prefix: &str,
        level: u8,
        mut room: PageRoom,
        links: &PageLinks,
        past: &PastEnds<'_>,
    ) -> Self {
        let lists: Vec<FailureList<'_>> = plan
            .iterations
            .iter()
            .map(|iteration| FailureList {
                iteration,
                id: format!("{prefix}failure-{}", iteration.index),
                report_dir: plan.report_dir.as_deref(),
                links,
            })
            .collect();
        let mut told = ToldBlocks::default();
        let id = |name: &str| format!("{prefix}{name}");
        let next = (id("next"), "What to do", next(plan, level + 1, &mut room));
        let causes = lists
            .last()
            .filter(|list| !list.iteration.failures.is_empty());
        let causes = causes.map(|list| {
            let body = causes::causes(list, &mut room, &mut told);
            (id("causes"), "Causes", body)
        });
        // What stands comes first, here and where room is given out.
        let failures = failures(&lists, level + 1, &mut room, &mut told);
        let failures = failures.map(|body| (id("failures"), "Failures", body));
        let mut after = Vec::new();
        if let Some(body) = repaired(plan, links) {
            after.push((id("repair"), "The repaired plan", body));
        }
        if let Some(coverage) = &plan.coverage {
            after.push((id("coverage"), "Coverage", coverage_html(coverage)));
        }
        if !plan.iterations.is_empty() {
            let body = iterations::iterations(plan, level + 1, past, &mut room);
            after.push((id("iterations"), "Iterations", body));
            after.push((id("budgets"), "Budgets", iterations::budgets(plan)));
        }
        if let Some(body) = beside(plan, links) {
            after.push((id("files"), "Files of this run", body));
        }
        Self {
            name: (!prefix.is_empty()).then(|| id("title")),
            before: std::iter::once(next).chain(causes).collect(),
            failures,
            after,
            level,
        }
    }

    fn listed(&self) -> Vec<(&str, &str)> {
        self.before
            .iter()
            .chain(&self.failures)
            .chain(&self.after)
            .map(|(id, title, _)| (id.as_str(), *title))
            .collect()
    }

    /// `filter` stands before the failures.
    fn main(&self, filter: &Markup) -> Markup {
        let shown = |(id, title, body): &(String, &'static str, Markup)| {
            section_of(self.name.as_deref(), self.level, id, title, body)
        };
        html! {
            @for part in &self.before { (shown(part)) }
            @if let Some((id, title, body)) = &self.failures {
                (shown(&(id.clone(), *title, html! { (filter) (body) })))
            }
            @for part in &self.after { (shown(part)) }
        }
    }
}

/// The next command, and what else a person should do.
fn next(plan: &RunReport, level: u8, room: &mut PageRoom) -> Markup {
    if let Some(help) = &plan.help_summary {
        return help_of(help, level, room);
    }
    if plan.in_progress {
        return html! { p { "The loop is still running; these are the results so far." } };
    }
    if view::has_repairs_to_apply(plan) {
        return match view::apply_command(plan) {
            Some(apply) => html! {
                p { "Your file does not hold the repairs. This takes them over:" }
                (parts::command(&apply))
            },
            None => html! { p { (capitalised(view::NO_FILE)) "." } },
        };
    }
    match plan.verdict.is_green() {
        true => html! { p { "Nothing: it passed." } },
        false => html! { p { "See the causes below." } },
    }
}

/// Problems, and steps of one problem, that are told: as many as a person reads.
const PROBLEMS: usize = 20;
const STEPS: usize = 20;

fn help_of(help: &HelpSummary, level: u8, room: &mut PageRoom) -> Markup {
    let several = help.problems.len() > 1;
    let told = help.problems.iter().take(PROBLEMS).enumerate();
    let problems = told.map(|(at, problem)| {
        let place = view::problem_place(problem, str::to_owned).or_else(|| problem.at.clone());
        let next = problem.next.iter().take(STEPS);
        let next: Vec<Fix> = next.map(|line| Fix::from(&**line)).collect();
        let more = |all: usize| all.saturating_sub(STEPS);
        html! {
            @if several {
                (parts::heading(level, None, &html! {
                    (at + 1) ". " (parts::brief(place.as_deref().unwrap_or("the plan")))
                }))
            }
            p { (parts::said(&problem.what)) }
            (parts::instructions(&next))
            @if more(problem.next.len()) > 0 {
                p { "And " (more(problem.next.len())) " more, in results.json." }
            }
            @if !problem.evidence.is_empty() {
                p { "Evidence: " (parts::long_code(&problem.evidence)) }
            }
            @if !problem.tried.is_empty() {
                p { "Tried:" }
                ul { @for tried in problem.tried.iter().take(STEPS) { li { (parts::said(tried)) } } }
                @if more(problem.tried.len()) > 0 {
                    p { "And " (more(problem.tried.len())) " more, in results.json." }
                }
            }
        }
    });
    let (problems, _) = room.list(problems);
    let left_out = help.problems.len() - problems.len();
    html! {
        p { b { (capitalised(&parts::said(&help.title))) } }
        @for problem in &problems { (problem) }
        @if left_out > 0 {
            p {
                "And " (plural(left_out as u64, "more problem"))
                ": see the failures below; results.json holds what to do about each."
            }
        }
    }
}

/// The failures of all iterations, those of the last one first; what came back
/// is told once.
fn failures(
    lists: &[FailureList<'_>],
    level: u8,
    room: &mut PageRoom,
    told: &mut ToldBlocks,
) -> Option<Markup> {
    let mut later: HashMap<(&str, &str), String> = HashMap::new();
    let mut out = Vec::new();
    for list in lists.iter().rev() {
        let iteration = list.iteration;
        if iteration.failures.is_empty() {
            continue;
        }
        let mut entries = Vec::new();
        let mut keys = Vec::new();
        let (mut in_brief, mut left_out) = (0, 0);
        for (at, failure) in iteration.failures.iter().enumerate() {
            let number = at + 1;
            let key = (&*failure.diagnosis.test_fingerprint, &*failure.message);
            let entry = if let Some(place) = later.get(&key) {
                failure::again(list, number, failure, place)
            } else if room.is_for_details() {
                failure::whole(list, number, failure, told)
            } else {
                in_brief += 1;
                failure::brief(list, number, failure)
            };
            match room.take(entry) {
                Some(entry) => {
                    keys.push((key, number));
                    entries.push(entry);
                }
                None => left_out += 1,
            }
        }
        for (key, number) in keys {
            later.entry(key).or_insert_with(|| list.id(number));
        }
        let count = plural(iteration.failures.len() as u64, "failure");
        out.push(html! {
            (parts::heading(level, None, &html! { "Iteration " (iteration.index) ": " (count) }))
            (parts::failure_list(&entries))
            @if in_brief > 0 && let Some(all) = list.file("results.json", "results.json") {
                p { (plural(in_brief, "failure")) " in brief: " (all) " holds all of them." }
            }
            @if left_out > 0 {
                p.left-out {
                    "And " (plural(left_out as u64, "more failure"))
                    ", which have no room here: results.json holds all."
                }
            }
            @for group in view::failure_groups(iteration).filter_map(|group| group.left_out) {
                p { "And " (group) "." }
            }
        });
    }
    (!out.is_empty()).then(|| html! { @for part in &out { (part) } })
}

fn repaired(plan: &RunReport, links: &PageLinks) -> Option<Markup> {
    let diff = plan.repair_diff.as_deref();
    let diff = diff.filter(|diff| !diff.trim().is_empty())?;
    let file = |name: &str| {
        let dir = plan.report_dir.as_deref()?;
        Some(parts::link(
            links.to(std::path::Path::new(dir).join(name)),
            name,
        ))
    };
    Some(html! {
        p {
            @if plan.repairs_written {
                "It was written to your file, as --write-repairs asks."
            } @else {
                "Your file does not hold the repairs. "
                @if let (Some(repaired), Some(patch)) = (file("repaired-plan.yaml"), file("repair.patch")) {
                    (repaired) " and " (patch) " hold them."
                }
            }
        }
        (parts::diff("What was changed of the plan", diff))
    })
}

/// Where the rest is.
fn beside(plan: &RunReport, links: &PageLinks) -> Option<Markup> {
    let dir = std::path::Path::new(plan.report_dir.as_deref()?);
    let files = [
        ("results.json", "all of this as data"),
        ("test_results.md", "all of this as Markdown"),
        ("junit.xml", "for test viewers"),
        ("servers", "what each server wrote on stderr"),
    ];
    Some(html! {
        ul {
            @for (name, what) in files {
                li { (parts::link(links.to(dir.join(name)), name)) ": " (what) }
            }
        }
    })
}
