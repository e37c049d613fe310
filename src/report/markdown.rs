//! `test_results.md`: the whole run for a person who reads it on GitHub, or in
//! an editor. Must not know of files.

mod failure;

use super::coverage::coverage_md;
use super::kinds::{HelpKind, help_kinds};
use super::quote::{cell, code, code_cell, command_block, fence, prose, table};
use super::{view, words};
use failure::output;
use jelly_base::model::{
    ActionReport, BeforeAfter, Fix, HelpSummary, HookReport, IterationReport, RepairReport,
    RunReport, ServerReport, StepReport, StepState, Verdict, json_word,
};
use jelly_base::text::{capitalised, first_names, plural};

/// The report of one run, also of one that is still going on. It lies beside the
/// run's other files.
#[must_use]
pub fn test_results_md(report: &RunReport) -> String {
    results_md(report, Some("beside this report"))
}

/// The same as a part of a report that lies anywhere.
#[must_use]
pub fn plan_results_md(report: &RunReport) -> String {
    let folder = report.report_dir.as_deref();
    let place = folder.map(|folder| format!("in {}", code(folder)));
    results_md(report, place.as_deref())
}

/// `place` is where the run's files lie, if that is known.
fn results_md(report: &RunReport, place: Option<&str>) -> String {
    let mut out = head(report);
    if let Some(help) = &report.help_summary {
        out.push_str(&help_summary(help));
    }
    if let Some(diff) = report
        .repair_diff
        .as_deref()
        .filter(|d| !d.trim().is_empty())
    {
        out.push_str("\n## The repaired plan\n\n");
        if report.repairs_written {
            out.push_str("It was written to your file, as `--write-repairs` asks.\n\n");
        } else {
            match view::apply_command(report) {
                Some(apply) => {
                    out.push_str("Your file does not hold the repairs");
                    if report.verdict == Verdict::PassedAfterRepair {
                        out.push_str(&format!(": {} takes them over", code(&apply)));
                    }
                }
                None => out.push_str(&capitalised(view::NO_FILE)),
            }
            out.push('.');
            if let Some(place) = place {
                let lie = format!(" `repaired-plan.yaml` and `repair.patch` lie {place}.");
                out.push_str(&lie);
            }
            out.push_str("\n\n");
        }
        out.push_str(&fence(diff, "diff"));
    }
    if let Some(coverage) = &report.coverage {
        out.push_str(&coverage_md(coverage));
    }
    for iteration in &report.iterations {
        out.push_str(&iteration_md(iteration, place));
    }
    out
}

/// Verdict, totals and where it all comes from.
pub(super) fn head(report: &RunReport) -> String {
    let mut out = String::new();
    let name = prose(&report.plan.name);
    if report.in_progress {
        out.push_str(&format!("# ⏳ {name}: in progress\n\n"));
        out.push_str("The loop is still running; these are the results so far.\n\n");
    } else {
        let mark = mark(report);
        let verdict = view::ending(report);
        out.push_str(&format!("# {mark} {name}: {verdict}\n\n"));
        out.push_str(&format!("- Exit code: **{}**", report.exit_code));
        if let Some(why) = view::unaccepted(report) {
            out.push_str(&format!(" ({})", prose(why)));
        }
        out.push('\n');
    }
    match report.iterations.last() {
        Some(last) => {
            out.push_str(&format!("- {}\n", capitalised(&words::totals(last))));
            out.push_str(&format!(
                "- {} in {}\n",
                capitalised(&plural(report.iterations.len() as u64, "iteration")),
                words::duration(report.duration_ms)
            ));
        }
        None => out.push_str("- Nothing was executed\n"),
    }
    out.push_str(&format!(
        "- Plan {}, run {}, seed {}, started {}\n",
        code(&report.plan.path),
        code(&report.run_id),
        report.seed,
        prose(&report.started_at)
    ));
    for warning in &report.warnings {
        out.push_str(&format!("- ⚠️ {}\n", prose(warning)));
    }
    out
}

fn mark(report: &RunReport) -> &'static str {
    match report.verdict {
        Verdict::Passed
        | Verdict::PassedAfterRetry
        | Verdict::PassedAfterRepair
        | Verdict::PassedWithKnown
        | Verdict::NothingAssigned => {
            if report.exit_code == 0 {
                "✅"
            } else {
                "⚠️"
            }
        }
        Verdict::Skipped => "⏭️",
        Verdict::CodeFailure => "❌",
        Verdict::NeedsUserHelp | Verdict::InvalidInput => "⛔",
        Verdict::Interrupted => "🛑",
    }
}

fn help_summary(help: &HelpSummary) -> String {
    let each = help.problems.iter().map(|first| HelpKind {
        first,
        also: Vec::new(),
    });
    help_md(help, &each.collect::<Vec<_>>())
}

/// Problems that are told where the report with all of them is elsewhere.
const PROBLEMS: usize = 10;
/// Steps that are named of those with the same cause.
const ALSO: usize = 10;

/// The same in short: each cause once, and of many the first.
pub(super) fn help_in_short(report: &RunReport, help: &HelpSummary) -> String {
    let kinds = help_kinds(report, help);
    let shown = &kinds[..kinds.len().min(PROBLEMS)];
    let mut out = help_md(help, shown);
    if kinds.len() > shown.len() {
        let more = plural(kinds.len() - shown.len(), "more problem");
        out.push_str(&format!("\nAnd {more}.\n"));
    }
    out
}

fn help_md(help: &HelpSummary, kinds: &[HelpKind<'_>]) -> String {
    let mut out = format!("\n## What to do: {}\n", prose(&help.title));
    let several = kinds.len() > 1;
    for (at, HelpKind { first, also }) in kinds.iter().enumerate() {
        let problem = *first;
        if several {
            let place = view::problem_place(problem, str::to_owned);
            let place = place.or_else(|| problem.at.clone());
            let heading = place.map_or_else(|| "the plan".to_owned(), |place| code(&place));
            out.push_str(&format!("\n### {}. {heading}\n", at + 1));
        }
        out.push_str(&format!("\n{}\n", prose(&problem.what)));
        if !also.is_empty() {
            let places = also
                .iter()
                .filter_map(|problem| view::problem_place(problem, str::to_owned))
                .map(|place| code(&place));
            let names = first_names(places, also.len(), ALSO);
            out.push_str(&format!("\n**Also in**: {names}\n"));
        }
        if !problem.evidence.is_empty() {
            out.push_str(&format!("\n**Evidence**: {}\n", prose(&problem.evidence)));
        }
        if !problem.tried.is_empty() {
            out.push_str("\n**Tried**\n\n");
            for tried in &problem.tried {
                out.push_str(&format!("- {}\n", prose(tried)));
            }
        }
        if !problem.next.is_empty() {
            out.push_str("\n**Next**\n\n");
            out.push_str(&instructions(
                problem.next.iter().map(|line| Fix::from(&**line)),
            ));
        }
    }
    out
}

/// Steps in order: sentences as paragraphs, commands in a block to copy.
fn instructions(steps: impl Iterator<Item = Fix>) -> String {
    let mut out = String::new();
    let mut commands = String::new();
    for step in steps {
        if step.is_command() {
            commands.push_str(&step.text);
            commands.push('\n');
        } else {
            flush_commands(&mut out, &mut commands);
            out.push_str(&format!("{}\n\n", prose(&step.text)));
        }
    }
    flush_commands(&mut out, &mut commands);
    out.truncate(out.trim_end().len());
    out.push('\n');
    out
}

fn flush_commands(out: &mut String, commands: &mut String) {
    if !commands.is_empty() {
        out.push_str(&command_block(commands));
        out.push('\n');
        commands.clear();
    }
}

fn iteration_md(iteration: &IterationReport, place: Option<&str>) -> String {
    let mut out = format!(
        "\n## Iteration {}: {}\n",
        iteration.index,
        words::totals(iteration)
    );
    out.push_str(&servers(&iteration.servers));
    out.push_str(&offers(iteration));
    out.push_str(&steps(&iteration.steps));
    for server in &iteration.servers {
        out.push_str(&wire_check(server));
    }
    let mut number = 0;
    for group in view::failure_groups(iteration) {
        let first_of_step = format!("{}.{}", iteration.index, number + 1);
        for (at, failure) in group.failures.iter().enumerate() {
            number += 1;
            out.push_str(&format!(
                "\n### Failure {}.{number}: {} – {}{}\n\n",
                iteration.index,
                code(&view::subject(failure)),
                code(&failure.diagnosis.root_cause),
                view::mismatch_aside(failure)
            ));
            let told = (at > 0).then(|| (&group.failures[0], first_of_step.as_str()));
            out.push_str(&failure::failure(failure, iteration, told));
        }
        if let Some(more) = group.left_out {
            out.push_str(&format!("\nAnd {more}.\n"));
        }
    }
    out.push_str(&action_md(iteration.index, &iteration.action, place));
    out.push_str(&budgets(&iteration.budgets));
    out
}

fn servers(servers: &[ServerReport]) -> String {
    if servers.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = servers
        .iter()
        .map(|server| {
            vec![
                code_cell(&server.name),
                words::spaced(&server.state),
                cell(server.era.as_deref().unwrap_or_default()),
                cell(server.protocol_version.as_deref().unwrap_or_default()),
                server.startup_ms.map(words::duration).unwrap_or_default(),
                server.exit.as_ref().map(words::exit).unwrap_or_default(),
                cell(&view::server_notes(server)),
            ]
        })
        .collect();
    let header = [
        "Server", "State", "Era", "Protocol", "Start-up", "Exit", "Notes",
    ];
    format!("\n{}", table(&header, &rows, &[4]))
}

/// What the servers offer of which a step wanted something else.
fn offers(iteration: &IterationReport) -> String {
    let told: String = view::offers_wanted(iteration)
        .map(|(server, told)| format!("- {} offers {}\n", code(server), prose(&told)))
        .collect();
    match told.is_empty() {
        true => told,
        false => format!("\n{told}"),
    }
}

/// What holding a server's messages against the specification came to.
fn wire_check(server: &ServerReport) -> String {
    let Some(check) = &server.wire_check else {
        return String::new();
    };
    let mut out = format!(
        "\n### Wire check of {}: {}\n",
        code(&server.name),
        view::wire_check(check)
    );
    if !check.breaches.is_empty() {
        let rows: Vec<Vec<String>> = check
            .breaches
            .iter()
            .map(|breach| {
                vec![
                    json_word(&breach.level).to_uppercase(),
                    cell(&format!("the server {}", breach.text)),
                    match breach.pointer.as_str() {
                        "" => String::new(),
                        pointer => code_cell(pointer),
                    },
                    // Section and address are jelly's own words.
                    format!("[{}]({})", breach.section, breach.url),
                    breach.count.to_string(),
                ]
            })
            .collect();
        let header = ["Level", "Breach", "Where", "Specification", "Times"];
        out.push_str(&format!("\n{}", table(&header, &rows, &[4])));
    }
    if check.further > 0 {
        let sightings = plural(check.further, "sighting");
        out.push_str(&format!("\n{sightings} of further breaches, not kept.\n"));
    }
    if check.unchecked > 0 {
        let lines = plural(check.unchecked, "line");
        out.push_str(&format!(
            "\n{lines} not checked: too much came before the revision was known.\n"
        ));
    }
    out
}

fn steps(steps: &[StepReport]) -> String {
    if steps.is_empty() {
        return String::new();
    }
    let rows: Vec<Vec<String>> = steps
        .iter()
        .map(|step| {
            vec![
                code_cell(&step.path()),
                code_cell(&step.server),
                format!("{} {}", state_mark(step), json_word(&step.state)),
                step.attempts.to_string(),
                step.duration_ms
                    .map(words::fine_duration)
                    .unwrap_or_default(),
                cell(&view::step_notes(step)),
            ]
        })
        .collect();
    let header = ["Step", "Server", "State", "Attempts", "Duration", "Notes"];
    format!("\n{}", table(&header, &rows, &[3, 4]))
}

fn state_mark(step: &StepReport) -> &'static str {
    match step.state {
        StepState::Passed if step.flaky => "⚠️",
        StepState::Passed => "✅",
        StepState::Failed => "❌",
        StepState::Blocked | StepState::Quarantined => "⛔",
        StepState::Skipped => "➖",
    }
}

fn action_md(index: u32, action: &ActionReport, place: Option<&str>) -> String {
    let mut out = format!(
        "\n### Action {index}: `{}`\n\n{}\n",
        json_word(&action.kind),
        capitalised(&prose(&action.reason))
    );
    if let Some(wait) = action.backoff_ms {
        out.push_str(&format!(
            "\nWaited {} before the next iteration.\n",
            words::duration(wait)
        ));
    }
    for repair in &action.repairs {
        out.push_str(&repair_md(repair));
    }
    if let Some(hook) = &action.hook {
        out.push_str(&hook_md(hook, place));
    }
    out
}

fn repair_md(repair: &RepairReport) -> String {
    let mut out = format!(
        "\n- {} on {}: {}",
        code(&repair.id),
        code(&repair.target),
        prose(&repair.explanation)
    );
    if repair.ineffective {
        out.push_str(" – **it did not help**");
    }
    out.push('\n');
    if !repair.diff.trim().is_empty() {
        out.push_str(&format!("\n{}", fence(&repair.diff, "diff")));
    }
    out
}

fn hook_md(hook: &HookReport, place: Option<&str>) -> String {
    let ended = view::hook_end(hook, prose);
    let mut out = format!(
        "\nHook {} ran {}: {ended}, after {}.\n",
        code(&hook.hook),
        code(&words::shell_line(&hook.argv)),
        words::duration(hook.elapsed_ms)
    );
    out.push_str(&output("stdout of the hook", &hook.stdout));
    out.push_str(&output("stderr of the hook", &hook.stderr));
    out.push_str(&hook_changes(hook, place));
    out
}

/// What a hook did to the plan, to what the plan reads, and to other files.
fn hook_changes(hook: &HookReport, place: Option<&str>) -> String {
    let mut out = String::new();
    if !hook.changes.is_empty() {
        out.push_str("\nWhat the hook changed of the plan:\n\n");
        for change in &hook.changes {
            let mark = if change.kind.weakens() {
                "**less is tested**: "
            } else {
                ""
            };
            out.push_str(&format!("- {mark}{}\n", prose(&change.what)));
        }
    }
    if let Some(diff) = hook.diff.as_deref().filter(|d| !d.trim().is_empty()) {
        out.push_str(&format!("\n{}", fence(diff, "diff")));
    }
    if let Some(place) = place.filter(|_| !hook.plans.is_empty()) {
        let plans: Vec<String> = hook.plans.iter().map(|name| code(name)).collect();
        let lie = if plans.len() == 1 { "lies" } else { "lie" };
        out.push_str(&format!("\n{} {lie} {place}.\n", plans.join(" and ")));
    }
    if !hook.code_changed.is_empty() {
        out.push_str("\nFiles that are not part of the plan, changed by the hook:\n\n");
        for file in &hook.code_changed {
            out.push_str(&format!("- {}\n", code(file)));
        }
    }
    out
}

fn budgets(budgets: &BeforeAfter) -> String {
    let mut header = vec!["Left of"];
    let mut row = vec!["before → after".to_owned()];
    for (name, before, after) in view::budgets(budgets) {
        header.push(name);
        row.push(match before == after {
            true => before.to_string(),
            false => format!("{before} → {after}"),
        });
    }
    format!("\n{}", table(&header, &[row], &[]))
}

#[cfg(test)]
mod tests {
    use super::{plan_results_md, test_results_md};
    use crate::report::samples;
    use jelly_base::model::Unaccepted;

    #[test]
    fn the_report_of_every_kind_of_run() {
        insta::assert_snapshot!("md_passed", test_results_md(&samples::passed()));
        insta::assert_snapshot!("md_repaired", test_results_md(&samples::repaired()));
        insta::assert_snapshot!("md_dead_server", test_results_md(&samples::dead_server()));
        insta::assert_snapshot!("md_code_failure", test_results_md(&samples::code_failure()));
        let several = samples::several_mismatches();
        insta::assert_snapshot!("md_several_mismatches", test_results_md(&several));
        insta::assert_snapshot!("md_flaky", test_results_md(&samples::flaky()));
        insta::assert_snapshot!(
            "md_crash_in_call",
            test_results_md(&samples::crash_in_call())
        );
        insta::assert_snapshot!("md_quarantined", test_results_md(&samples::quarantined()));
        insta::assert_snapshot!("md_interrupted", test_results_md(&samples::interrupted()));
        insta::assert_snapshot!("md_in_progress", test_results_md(&samples::in_progress()));
        insta::assert_snapshot!("md_invalid", test_results_md(&samples::invalid()));
    }

    #[test]
    fn a_part_of_a_report_says_where_the_files_of_its_plan_are() {
        let mut report = samples::repaired();
        report.report_dir = Some("shards/2/plan".into());
        let text = plan_results_md(&report);
        assert!(!text.contains("beside this report"), "{text}");
        let place = "`repaired-plan.yaml` and `repair.patch` lie in `shards/2/plan`.";
        assert!(text.contains(place), "{text}");
        // Of another machine nothing is to be had.
        report.report_dir = None;
        assert!(!plan_results_md(&report).contains("repair.patch` lie"));
    }

    #[test]
    fn long_output_is_folded_away() {
        let mut report = samples::dead_server();
        report.iterations[0].failures[0].stderr_tail = "line\n".repeat(40);
        let text = test_results_md(&report);
        assert!(text.contains("<summary>stderr of the server (40 lines)</summary>"));
    }

    #[test]
    fn a_green_run_that_exits_4_says_why() {
        let mut report = samples::repaired();
        report.exit_code = 4;
        report.unaccepted = Some(Unaccepted::Contract);
        let text = test_results_md(&report);
        assert!(
            text.contains("green, but by a change of the contract"),
            "{text}"
        );
        report.repairs_written = true;
        let text = test_results_md(&report);
        assert!(text.contains("it stands in the plan now"), "{text}");
        assert!(!text.contains("green, but"), "{text}");
        report.unaccepted = Some(Unaccepted::Strict);
        assert!(test_results_md(&report).contains("as --strict wants it"));
    }
}
