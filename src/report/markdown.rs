//! `test_results.md`: the whole run for a person who reads it on GitHub, or in
//! an editor. Must not know of files.

mod failure;

use super::quote::{cell, code, code_cell, command_block, fence, prose, table};
use super::words;
use failure::output;
use jelly_base::model::{
    ActionReport, BeforeAfter, FailureReport, Fix, HelpSummary, HookReport, IterationReport,
    RepairReport, RunReport, ServerReport, StepReport, StepState, Verdict,
};
use jelly_base::text::{capitalised, human_duration, plural};
use std::time::Duration;

/// The report of one run, also of one that is still going on.
#[must_use]
pub fn test_results_md(report: &RunReport) -> String {
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
        out.push_str(&if report.repairs_written {
            "It was written to your file, as `--write-repairs` asks.\n\n".to_owned()
        } else if report.verdict == Verdict::PassedAfterRepair {
            let apply = code(&words::apply_command(report));
            format!(
                "Your file does not hold the repairs: {apply} takes them over. \
                 `repaired-plan.yaml` and `repair.patch` lie beside this report.\n\n"
            )
        } else {
            "Your file does not hold the repairs. `repaired-plan.yaml` and `repair.patch` lie \
             beside this report.\n\n"
                .to_owned()
        });
        out.push_str(&fence(diff, "diff"));
    }
    for iteration in &report.iterations {
        out.push_str(&iteration_md(iteration));
    }
    out
}

/// Verdict, totals and where it all comes from.
pub(super) fn head(report: &RunReport) -> String {
    let mut out = String::new();
    let name = prose(&report.plan.name);
    if report.in_progress {
        out.push_str(&format!("# ⏳ {name}: in progress\n\n"));
        out.push_str("The loop goes on; what stands here is so far.\n\n");
    } else {
        let mark = mark(report);
        let verdict = words::ending(report);
        out.push_str(&format!("# {mark} {name}: {verdict}\n\n"));
        out.push_str(&format!("- Exit code: **{}**", report.exit_code));
        if let Some(why) = words::unaccepted(report) {
            out.push_str(&format!(" ({})", prose(why)));
        }
        out.push('\n');
    }
    match report.iterations.last() {
        Some(last) => {
            out.push_str(&format!("- {}\n", capitalised(&words::totals(last.totals))));
            out.push_str(&format!(
                "- {} in {}\n",
                capitalised(&plural(report.iterations.len() as u64, "iteration")),
                duration(report.duration_ms)
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
        Verdict::Passed | Verdict::PassedAfterRetry | Verdict::PassedAfterRepair => {
            if report.exit_code == 0 {
                "✅"
            } else {
                "⚠️"
            }
        }
        Verdict::CodeFailure => "❌",
        Verdict::NeedsUserHelp | Verdict::InvalidInput => "⛔",
        Verdict::Interrupted => "🛑",
    }
}

pub(super) fn help_summary(help: &HelpSummary) -> String {
    let mut out = format!("\n## What to do: {}\n", prose(&help.title));
    let several = help.problems.len() > 1;
    for (at, problem) in help.problems.iter().enumerate() {
        let place = match (problem.server.as_deref(), problem.step.as_deref()) {
            (Some(server), Some(step)) => Some(format!("{server}/{step}")),
            (Some(one), None) | (None, Some(one)) => Some(one.to_owned()),
            (None, None) => None,
        };
        if several {
            let place = place.as_deref().or(problem.at.as_deref());
            let heading = place.map_or_else(|| "the plan".to_owned(), code);
            out.push_str(&format!("\n### {}. {heading}\n", at + 1));
        }
        out.push_str(&format!("\n{}\n", prose(&problem.what)));
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

fn iteration_md(iteration: &IterationReport) -> String {
    let mut out = format!(
        "\n## Iteration {}: {}\n",
        iteration.index,
        words::totals(iteration.totals)
    );
    out.push_str(&servers(&iteration.servers));
    out.push_str(&offers(iteration));
    out.push_str(&steps(&iteration.steps));
    for server in &iteration.servers {
        out.push_str(&wire_check(server));
    }
    let mut number = 0;
    for failures in iteration.failures_by_step() {
        let first_of_step = format!("{}.{}", iteration.index, number + 1);
        for (at, failure) in failures.iter().enumerate() {
            number += 1;
            out.push_str(&format!(
                "\n### Failure {}.{number}: {} – {}{}\n\n",
                iteration.index,
                code(&words::subject(failure)),
                code(&failure.diagnosis.root_cause),
                words::mismatch_aside(failure)
            ));
            let told = (at > 0).then(|| (&failures[0], first_of_step.as_str()));
            out.push_str(&failure::failure(failure, iteration, told));
        }
        if let Some(more) = words::left_out(&failures[0], failures.len()) {
            out.push_str(&format!("\nAnd {more}.\n"));
        }
    }
    out.push_str(&action_md(iteration.index, &iteration.action));
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
            let mut notes = server.notes.clone();
            if server.restarts > 0 {
                let times = plural(server.restarts, "restart");
                notes.push(times);
            }
            if server.stdout_noise > 0 {
                let lines = plural(server.stdout_noise, "line");
                let sample = server
                    .stdout_noise_sample
                    .first()
                    .map(|line| format!(", as in \"{line}\""))
                    .unwrap_or_default();
                notes.push(format!("{lines} on stdout that are no messages{sample}"));
            }
            vec![
                code_cell(&server.name),
                words::server_state(server.state).to_owned(),
                cell(server.era.as_deref().unwrap_or_default()),
                cell(server.protocol_version.as_deref().unwrap_or_default()),
                server.startup_ms.map(duration).unwrap_or_default(),
                server.exit.as_ref().map(words::exit).unwrap_or_default(),
                cell(&notes.join("; ")),
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
    let mut out = String::new();
    for server in &iteration.servers {
        let of_server =
            |f: &&FailureReport| f.step.is_some() && f.server.as_ref() == Some(&server.name);
        if let Some(offers) = &server.offers
            && iteration.failures.iter().any(|f| of_server(&f))
        {
            let told = words::offers(offers).join("; ");
            out.push_str(&format!(
                "- {} offers {}\n",
                code(&server.name),
                prose(&told)
            ));
        }
    }
    if out.is_empty() {
        out
    } else {
        format!("\n{out}")
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
        words::wire_check(check)
    );
    if !check.breaches.is_empty() {
        let rows: Vec<Vec<String>> = check
            .breaches
            .iter()
            .map(|breach| {
                vec![
                    words::wire_level(breach.level).to_owned(),
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
                format!("{} {}", state_mark(step), words::step_state(step.state)),
                step.attempts.to_string(),
                step.duration_ms.map(millis).unwrap_or_default(),
                cell(&step_notes(step)),
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

fn step_notes(step: &StepReport) -> String {
    let mut notes = Vec::new();
    if step.name != step.id {
        notes.push(step.name.clone());
    }
    if let Some(because) = &step.because {
        notes.push(words::because(because));
    }
    if step.flaky {
        notes.push("flaky: failed earlier on the same plan".to_owned());
    }
    if let Some(category) = step.error_category {
        notes.push(words::category(category).to_owned());
    }
    if step.retryable == Some(true) {
        notes.push("retryable".to_owned());
    }
    notes.extend(words::adapter(step));
    notes.join("; ")
}

fn action_md(index: u32, action: &ActionReport) -> String {
    let mut out = format!(
        "\n### Action {index}: `{}`\n\n{}\n",
        words::action(action.kind),
        capitalised(&prose(&action.reason))
    );
    if let Some(wait) = action.backoff_ms {
        out.push_str(&format!(
            "\nWaited {} before the next iteration.\n",
            duration(wait)
        ));
    }
    for repair in &action.repairs {
        out.push_str(&repair_md(repair));
    }
    if let Some(hook) = &action.hook {
        out.push_str(&hook_md(hook));
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

fn hook_md(hook: &HookReport) -> String {
    let ended = match (&hook.error, &hook.exit) {
        (Some(error), _) => prose(error),
        (None, Some(exit)) => words::exit(exit),
        (None, None) => "did not end".to_owned(),
    };
    let mut out = format!(
        "\nHook {} ran {}: {ended}, after {}.\n",
        code(&hook.hook),
        code(&words::shell_line(&hook.argv)),
        duration(hook.elapsed_ms)
    );
    out.push_str(&output("stdout of the hook", &hook.stdout));
    out.push_str(&output("stderr of the hook", &hook.stderr));
    out.push_str(&hook_changes(hook));
    out
}

/// What a hook did to the plan, to what the plan reads, and to other files.
fn hook_changes(hook: &HookReport) -> String {
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
    if !hook.plans.is_empty() {
        let plans: Vec<String> = hook.plans.iter().map(|name| code(name)).collect();
        let lie = if plans.len() == 1 { "lies" } else { "lie" };
        out.push_str(&format!(
            "\n{} {lie} beside this report.\n",
            plans.join(" and ")
        ));
    }
    if !hook.code_changed.is_empty() {
        out.push_str("\nFiles that are no part of the plan, changed by the hook:\n\n");
        for file in &hook.code_changed {
            out.push_str(&format!("- {}\n", code(file)));
        }
    }
    out
}

fn budgets(budgets: &BeforeAfter) -> String {
    let BeforeAfter { before, after } = budgets;
    let pair = |before: u32, after: u32| {
        if before == after {
            before.to_string()
        } else {
            format!("{before} → {after}")
        }
    };
    let header = [
        "Left of",
        "iterations",
        "retries",
        "confirms",
        "mcp_repairs",
        "test_fixes",
        "code_refines",
    ];
    let row = vec![
        "before → after".to_owned(),
        pair(before.iterations, after.iterations),
        pair(before.retries, after.retries),
        pair(before.confirms, after.confirms),
        pair(before.mcp_repairs, after.mcp_repairs),
        pair(before.test_fixes, after.test_fixes),
        pair(before.code_refines, after.code_refines),
    ];
    format!("\n{}", table(&header, &[row], &[]))
}

fn duration(ms: u64) -> String {
    human_duration(Duration::from_millis(ms))
}

/// Fractions of a millisecond don't matter to a person.
fn millis(ms: f64) -> String {
    human_duration(Duration::try_from_secs_f64(ms / 1000.0).unwrap_or_default())
}

#[cfg(test)]
mod tests {
    use super::test_results_md;
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
