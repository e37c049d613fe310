//! What came of trying a server out, for people.

use super::terminal::paint::{BOLD, GREEN, RED, YELLOW, toned};
use jelly_base::text::{one_line, plural, sanitize, shell_path};
use jelly_fuzzing::{FindingStatus, FuzzEnd, FuzzFinding, FuzzReport, shown_arguments};
use std::fmt::Write as _;

/// Notices that are shown.
const NOTICES: usize = 12;
/// Tools that were left out that are named.
const NAMED: usize = 8;
/// Calls of one finding that are shown.
const CALLS: usize = 6;
/// Lines of stderr that are shown.
const LINES: usize = 4;

/// For a terminal.
#[must_use]
pub fn fuzz_text(report: &FuzzReport, color: bool) -> String {
    let mut text = String::new();
    for finding in &report.findings {
        write_finding(&mut text, finding, color);
    }
    for notice in report.notices.iter().take(NOTICES) {
        let mark = toned(color, YELLOW, &format!("notice[{}]", notice.kind.name()));
        let place = one_line(&format!("{} {}", notice.tool, notice.pointer), 120);
        let place = sanitize(&place).into_owned();
        let what = sanitize(&one_line(&notice.what, 240)).into_owned();
        let _ = writeln!(text, "{mark} {}: the server {what}", place.trim());
        let shown = sanitize(&shown_arguments(&notice.arguments)).into_owned();
        let _ = writeln!(text, "    {shown}{}", times(notice.count));
    }
    if report.notices.len() > NOTICES {
        let more = plural(report.notices.len() - NOTICES, "more notice");
        let _ = writeln!(text, "{more} in --format json");
    }
    if !text.is_empty() {
        text.push('\n');
    }
    write_tools(&mut text, report);
    write_totals(&mut text, report, color);
    text
}

fn times(count: u64) -> String {
    match count {
        0 | 1 => String::new(),
        count => format!(" (and {} similar)", count - 1),
    }
}

fn write_finding(text: &mut String, finding: &FuzzFinding, color: bool) {
    let (style, word) = match finding.status {
        FindingStatus::Confirmed => (RED, "finding"),
        FindingStatus::Flaky => (YELLOW, "flaky"),
    };
    let mark = toned(color, style, &format!("{word}[{}]", finding.kind.name()));
    let tool = match finding.tool.as_str() {
        "" => "at its start",
        tool => tool,
    };
    let tool = toned(color, BOLD, &sanitize(&one_line(tool, 100)));
    let what = sanitize(&one_line(&finding.what, 300)).into_owned();
    let _ = writeln!(
        text,
        "{mark} {tool}: the server {what}{}",
        times(finding.count)
    );
    let many = finding.calls.len();
    let skipped = many.saturating_sub(CALLS);
    if skipped > 0 {
        let _ = writeln!(text, "    after {}", plural(skipped, "other call"));
    }
    for (index, call) in finding.calls.iter().enumerate().skip(skipped) {
        let arguments = sanitize(&shown_arguments(&call.arguments)).into_owned();
        let input = match (index + 1 == many, finding.valid_input) {
            (true, false) => " (invalid)",
            (_, _) => "",
        };
        let lead = match (call.at_once, index) {
            (true, _) => "and at once ",
            (false, 0) => "",
            (false, _) => "then ",
        };
        let tool = sanitize(&one_line(&call.tool, 100)).into_owned();
        let _ = writeln!(text, "    {lead}{tool} {arguments}{input}");
    }
    let stderr: Vec<&str> = finding.stderr_tail.trim_end().lines().collect();
    for line in &stderr[stderr.len().saturating_sub(LINES)..] {
        let _ = writeln!(text, "    | {}", sanitize(&one_line(line, 160)));
    }
    if finding.status == FindingStatus::Flaky {
        let _ = writeln!(text, "    it did not happen again on a fresh server");
    }
    if let Some(command) = &finding.command {
        let _ = writeln!(text, "    $ {}", sanitize(command));
    }
}

fn write_tools(text: &mut String, report: &FuzzReport) {
    for tool in &report.tools {
        let _ = writeln!(
            text,
            "{}: {}; of valid input {} answered and {} refused, of invalid input {} refused",
            sanitize(&one_line(&tool.name, 100)),
            plural(usize::try_from(tool.cases).unwrap_or(usize::MAX), "case"),
            tool.accepted,
            tool.refused,
            tool.invalid_refused
        );
    }
    if report.left_out.is_empty() {
        return;
    }
    let named = report
        .left_out
        .iter()
        .take(NAMED)
        .map(|it| it.name.as_str());
    let named = one_line(&named.collect::<Vec<_>>().join(", "), 400);
    let more = match report.left_out.len() > NAMED {
        true => ", …",
        false => "",
    };
    let why = &report.left_out[0].why;
    let _ = writeln!(
        text,
        "left out: {} ({}{more}); {}",
        plural(report.left_out.len(), "tool"),
        sanitize(&named),
        sanitize(&one_line(why, 200))
    );
}

fn write_totals(text: &mut String, report: &FuzzReport, color: bool) {
    let confirmed = report.count(FindingStatus::Confirmed);
    let flaky = report.count(FindingStatus::Flaky);
    let style = if confirmed > 0 { RED } else { GREEN };
    let found = toned(color, style, &plural(confirmed, "confirmed finding"));
    let totals = &report.totals;
    let _ = writeln!(
        text,
        "{found}, {flaky} flaky, {}; {}, {}, {}, {}, seed {}",
        plural(report.notices.len(), "notice"),
        plural(totals.cases, "case"),
        plural(totals.probes, "probe"),
        plural(totals.repeats, "repeat"),
        plural(totals.starts, "start"),
        report.seed
    );
    let ended = match report.ended {
        FuzzEnd::Complete => "nothing left to try".to_owned(),
        FuzzEnd::MaxCalls => format!(
            "--max-calls was reached; continue with --skip {}",
            report.next
        ),
        FuzzEnd::Deadline => format!("the deadline passed; continue with --skip {}", report.next),
        FuzzEnd::ManyFindings => {
            format!(
                "stopped after this many findings; continue with --skip {}",
                report.next
            )
        }
        FuzzEnd::NoServer => "the server could not be started again".to_owned(),
        FuzzEnd::Interrupted => format!("interrupted; continue with --skip {}", report.next),
    };
    let _ = writeln!(text, "{ended}");
    if let Some(plan) = &report.plan {
        let plan = shell_path(plan);
        let _ = writeln!(
            text,
            "the findings as a plan: jelly run {}",
            sanitize(&plan)
        );
    }
}
