//! `--coverage` and `--min-coverage`: what was exercised, and whether it is enough.

use super::args::{CoverageArgs, MinCoverage};
use super::refusal::complain;
use crate::report::coverage_text;
use jelly_base::model::{Coverage, CoverageItem, ExitCode, HelpProblem, RunCause, RunReport};
use jelly_base::text::sanitize;

/// What of `least` is not reached, in sentences. What no server lists is not reached
/// either: nothing turns green by not being there.
fn missed(coverage: &Coverage, least: &[MinCoverage]) -> Vec<String> {
    let missed = least.iter().filter_map(|min| {
        let total = coverage.total(min.kind);
        let name = min.kind.name().replace('_', " ");
        let (percent, wanted) = (total.percent(), min.percent);
        match total.total {
            0 => Some(format!(
                "no server lists any {name}, and {wanted}% of them are to be covered"
            )),
            _ if percent < wanted => Some(format!(
                "{percent}% of the {name} are covered ({} of {}), and {wanted}% are to be",
                total.covered, total.total
            )),
            _ => None,
        }
    });
    missed.collect()
}

/// Says what is not reached of what several plans cover together.
pub fn judge_coverage(coverage: Option<&Coverage>, least: &[MinCoverage]) -> Option<ExitCode> {
    let missed = match coverage {
        Some(coverage) => missed(coverage, least),
        None if least.is_empty() => Vec::new(),
        None => {
            vec!["nothing was counted of what the plans cover; run them with --coverage".to_owned()]
        }
    };
    for what in &missed {
        complain(&sanitize(&format!("error: {what}")));
    }
    (!missed.is_empty()).then_some(ExitCode::NeedsUserHelp)
}

/// Takes in what a plan exercised, and fails the plan, where it `is_judged` alone, if
/// that is not enough. Whether anything changed.
pub fn cover(
    (args, is_judged): (&CoverageArgs, bool),
    report: &mut RunReport,
    items: Vec<CoverageItem>,
    code: &mut ExitCode,
) -> bool {
    if !args.is_wanted() {
        return false;
    }
    let coverage = Coverage::of(items);
    let missed = match is_judged {
        true => missed(&coverage, &args.least.min_coverage),
        false => Vec::new(),
    };
    report.coverage = Some(coverage);
    if missed.is_empty() {
        return true;
    }
    let problems = missed.iter().map(|what| HelpProblem {
        root_cause: Some(RunCause::CoverageTooLow),
        what: what.clone(),
        evidence: "what the servers list beside what the steps exercised: `coverage` in \
                   results.json"
            .to_owned(),
        next: vec!["Add steps for what is not covered, or ask for less.".to_owned()],
        ..HelpProblem::default()
    });
    let title = format!("{} covers too little", report.plan.name);
    report.fail_closed(&title, problems);
    *code = ExitCode::strongest([*code, ExitCode::NeedsUserHelp]);
    true
}

/// For people, before the last lines of a run.
pub fn shown_coverage(coverage: Option<&Coverage>, is_quiet: bool) -> String {
    match coverage {
        Some(coverage) if !is_quiet => coverage_text(coverage),
        Some(_) | None => String::new(),
    }
}
