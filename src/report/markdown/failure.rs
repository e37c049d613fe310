//! One failure with everything that is known about it.

use super::instructions;
use crate::report::quote::{code, fence, prose};
use crate::report::{view, words};
use jelly_base::model::{FailureReport, IterationReport, json_word};
use jelly_base::text::{capitalised, plural};

/// From how many lines on an output is folded away.
const FOLD_FROM: usize = 12;

/// Message, diagnosis, facts, output and advice of one failure. What another
/// one of the same step has `told`, under its number, is not told again.
pub(super) fn failure(
    failure: &FailureReport,
    iteration: &IterationReport,
    told: Option<(&FailureReport, &str)>,
) -> String {
    let diagnosis = &failure.diagnosis;
    let mut out = format!("{}\n\n", capitalised(&prose(&failure.message)));

    let mut verdict = format!("**{}-side**", json_word(&diagnosis.side));
    if diagnosis.ambiguous {
        verdict.push_str(" (ambiguous)");
    }
    match diagnosis.error_category {
        Some(category) => verdict.push_str(&format!(" · {}", json_word(&category))),
        None => verdict.push_str(" · no known category"),
    }
    match diagnosis.retryable {
        Some(true) => verdict.push_str(" · retryable"),
        Some(false) => verdict.push_str(" · not retryable"),
        None => {}
    }
    if diagnosis.flaky {
        verdict.push_str(" · flaky");
    }
    if let Some(standing) = diagnosis.standing {
        verdict.push_str(&format!(" · {}", words::spaced(&standing)));
    }
    if diagnosis.suspect.is_some() {
        verdict.push_str(" · the server's own code is a suspect");
    }
    out.push_str(&format!("- {verdict}\n"));

    if let Some(mark) = &failure.known {
        out.push_str(&format!(
            "- Known: {} ({})\n",
            prose(&mark.entry.reason),
            code(&mark.entry.at)
        ));
    }

    match &diagnosis.evidence {
        Some(evidence) => out.push_str(&format!(
            "- Evidence, in {}: {}\n",
            code(&evidence.field),
            code(&evidence.text)
        )),
        None => out.push_str("- Evidence: none\n"),
    }
    out.push_str(&format!(
        "- Root cause {} by rule {}, phase {}\n",
        code(&diagnosis.root_cause),
        code(&diagnosis.rule),
        json_word(&failure.phase)
    ));
    out.push_str(&format!(
        "- Fingerprint {}, of this test {}\n",
        code(&diagnosis.fingerprint),
        code(&diagnosis.test_fingerprint)
    ));
    if let Some(repeated) = &diagnosis.repeated {
        out.push_str(&format!(
            "- Seen {}, first in iteration {}\n",
            plural(repeated.count, "time"),
            repeated.first_iteration
        ));
    }
    if let Some(excused) = &diagnosis.excused {
        out.push_str(&format!("- Not held against the code: {}\n", code(excused)));
    }
    if !diagnosis.same_code.is_empty() {
        let shown: Vec<String> = diagnosis.same_code.iter().map(|c| code(c)).collect();
        out.push_str(&format!(
            "- The code that passed before: {}\n",
            shown.join(", ")
        ));
    }
    if let Some(repair) = &diagnosis.repair {
        out.push_str(&format!("- Repair that applies: {}\n", code(repair)));
    }
    if let Some(instead) = view::instead(failure, iteration) {
        out.push_str(&format!("- {}\n", capitalised(&prose(&instead))));
    }
    if let Some(at) = &failure.at {
        out.push_str(&format!("- At {}\n", code(at)));
    }
    match told {
        Some((_, number)) => out.push_str(&format!(
            "- Server, request and output are those of failure {number}\n"
        )),
        None => out.push_str(&exchange(failure)),
    }

    if let Some(assertion) = &failure.assertion
        // The table of the wire check says more.
        && !view::is_wire_check(failure)
    {
        let place = assertion.place();
        let place = place.map(|place| format!(" at {}", code(&place)));
        let place = place.unwrap_or_default();
        if let Some(difference) = &assertion.difference {
            out.push_str(&format!(
                "\nExpected ({}{place}), and these lines differ:\n\n{}",
                code(&assertion.kind),
                fence(&difference.hunks, "diff")
            ));
        } else {
            let got = match &assertion.nearest {
                Some(nearest) => format!(" nothing; the nearest path is {}\n", code(nearest)),
                None if assertion.absent && assertion.actual.is_null() => " nothing\n".to_owned(),
                None => {
                    let in_it = if assertion.absent { " nothing in" } else { "" };
                    let actual = fence(&words::value(&assertion.actual), "");
                    format!("{in_it}\n\n{actual}")
                }
            };
            out.push_str(&format!(
                "\nExpected ({}{place}):\n\n{}\nGot:{got}",
                code(&assertion.kind),
                fence(&words::value(&assertion.expected), "")
            ));
        }
    }
    if told.is_none() {
        out.push_str(&printed(failure));
    }
    let same_advice =
        |(other, _): (&FailureReport, &str)| other.diagnosis.advice == failure.diagnosis.advice;
    if !told.is_some_and(same_advice) {
        out.push_str(&advice(failure));
    }
    out
}

/// How the server was reached, with what, and how it ended.
fn exchange(failure: &FailureReport) -> String {
    let mut out = String::new();
    if let Some(exit) = &failure.exit {
        out.push_str(&format!("- Ended with {}\n", words::exit(exit)));
    }
    if !failure.argv.is_empty() {
        out.push_str(&format!(
            "- Command {}\n",
            code(&words::shell_line(&failure.argv))
        ));
    }
    if let Some(url) = &failure.url {
        out.push_str(&format!("- URL {}\n", code(url)));
    }
    if let Some(told) = failure.http.as_ref().and_then(view::http) {
        out.push_str(&format!("- HTTP {}\n", code(&told)));
    }
    if let Some(request) = &failure.request {
        let params = request
            .params
            .as_ref()
            .map(|p| format!(" {p}"))
            .unwrap_or_default();
        out.push_str(&format!(
            "- Request {}\n",
            code(&format!("{}{params}", request.method))
        ));
    }
    out
}

/// What came besides the answer.
fn printed(failure: &FailureReport) -> String {
    let mut out = String::new();
    if let Some(body) = failure.http.as_ref().and_then(|http| http.body.as_ref()) {
        out.push_str(&output("body of the answer", body));
    }
    out.push_str(&output("stderr of the server", &failure.stderr_tail));
    if let Some(stdout) = &failure.stdout_tail {
        out.push_str(&output("stdout of the server", stdout));
    }
    out
}

fn advice(failure: &FailureReport) -> String {
    let advice = &failure.diagnosis.advice;
    let Some(said) = view::advice(advice) else {
        return String::new();
    };
    format!(
        "\n**Advice**: {}\n\n{}",
        prose(&said),
        instructions(advice.fix.iter().cloned())
    )
}

/// What a program printed, folded away where it is long; nothing for nothing.
pub(super) fn output(title: &str, text: &str) -> String {
    if text.trim().is_empty() {
        return String::new();
    }
    let lines = text.lines().count();
    if lines < FOLD_FROM {
        format!("\n{title}:\n\n{}", fence(text, "text"))
    } else {
        format!(
            "\n<details>\n<summary>{title} ({})</summary>\n\n{}\n</details>\n",
            plural(lines as u64, "line"),
            fence(text, "text")
        )
    }
}
