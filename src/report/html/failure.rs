//! One failure with everything that is known about it, folded below its name,
//! its label and its message.

use super::compared::compared;
use super::links::PageLinks;
use super::page;
use super::parts::{self, SHORT};
use super::room::ToldBlocks;
use crate::report::{view, words};
use jelly_base::model::{
    Advice, Diagnosis, FailureReport, Fix, IterationReport, RpcError, json_word,
};
use jelly_base::text::{capitalised, plural};
use maud::{Markup, html};
use serde_json::Value;

/// What surrounds the failures of an iteration.
pub(super) struct FailureList<'p> {
    pub(super) iteration: &'p IterationReport,
    /// Of the element of each, with a number behind it.
    pub(super) id: String,
    /// The folder of the reports.
    pub(super) report_dir: Option<&'p str>,
    pub(super) links: &'p PageLinks,
}

impl FailureList<'_> {
    /// The id of the failure with this number.
    pub(super) fn id(&self, number: usize) -> String {
        format!("{}-{number}", self.id)
    }

    /// A link to a file of the report, in the words that tell what it holds.
    pub(super) fn file(&self, name: &str, words: &str) -> Option<Markup> {
        let dir = self.report_dir?;
        let address = self.links.to(std::path::Path::new(dir).join(name));
        Some(parts::link(address, words))
    }
}

/// Everything of the failure with this number, from 1. Long texts that another
/// one `told` already are linked to.
pub(super) fn whole(
    list: &FailureList<'_>,
    number: usize,
    failure: &FailureReport,
    told: &mut ToldBlocks,
) -> Markup {
    let id = list.id(number);
    let rest = list.file("results.json", "all of it is in results.json");
    let logs = list.file("servers", "all of it is below servers/");
    let mut once = |title: &str, text: &str, more: Option<&Markup>| match told.place(text, &id) {
        Some(place) => html! {
            p { (title) " is " a href={ "#" (place) } { "that of another failure" } "." }
        },
        None => parts::block(title, text, more),
    };
    let body = html! {
        p.message { (capitalised(&parts::said(&failure.message))) }
        (parts::facts(&known(failure, list.iteration)))
        @if let Some(assertion) = &failure.assertion && !view::is_wire_check(failure) {
            (compared(assertion))
        }
        (parts::facts(&exchange(failure)))
        @if let Some(params) = failure.request.as_ref().and_then(|r| r.params.as_ref()) {
            (parts::block("Parameters of the request", &format!("{params:#}"), rest.as_ref()))
        }
        @if let Some(error) = &failure.rpc_error {
            (parts::block("Answer", &rpc_error(error), rest.as_ref()))
        }
        @if let Some(body) = failure.http.as_ref().and_then(|http| http.body.as_ref()) {
            (parts::block("Body of the answer", body, rest.as_ref()))
        }
        (once("stderr of the server", &failure.stderr_tail, logs.as_ref()))
        @if let Some(stdout) = &failure.stdout_tail {
            (once("stdout of the server", stdout, rest.as_ref()))
        }
        (advice(&failure.diagnosis.advice, &id, told))
    };
    element(list, number, failure, &html! { div.body { (body) } })
}

/// The same where there is no room for more: label, message and evidence.
pub(super) fn brief(list: &FailureList<'_>, number: usize, failure: &FailureReport) -> Markup {
    let body = html! {
        p.body {
            @match &failure.diagnosis.evidence {
                Some(evidence) => {
                    (parts::brief(&evidence.field)) ": " code { (parts::line(&evidence.text, SHORT)) }
                },
                None => "No evidence.",
            }
        }
    };
    element(list, number, failure, &body)
}

/// A failure that came back later, where it is told.
pub(super) fn again(
    list: &FailureList<'_>,
    number: usize,
    failure: &FailureReport,
    place: &str,
) -> Markup {
    let body = html! { p.body { a href={ "#" (place) } { "The same in a later iteration" } } };
    element(list, number, failure, &body)
}

/// A failure with what is seen of it while it is folded, above its body.
fn element(
    list: &FailureList<'_>,
    number: usize,
    failure: &FailureReport,
    body: &Markup,
) -> Markup {
    let diagnosis = &failure.diagnosis;
    html! {
        details.failure id=(list.id(number)) data-kind=(kind(diagnosis)) {
            summary {
                (list.iteration.index) "." (number) " "
                b { (parts::brief(&view::subject(failure))) (view::mismatch_aside(failure)) } " "
                (label(failure)) " "
                span.told { (parts::line(&failure.message, SHORT)) }
            }
            (body)
        }
    }
}

/// Root cause and blame: the label that all reports give.
pub(super) fn label(failure: &FailureReport) -> Markup {
    let diagnosis = &failure.diagnosis;
    html! {
        (parts::code(&diagnosis.root_cause)) " "
        (parts::tag(kind(diagnosis), &view::blame_of(failure)))
    }
}

/// By what a failure is filtered.
fn kind(diagnosis: &Diagnosis) -> &'static str {
    page::kind(diagnosis.side, diagnosis.flaky, diagnosis.ambiguous)
}

/// What the diagnosis says.
fn known(failure: &FailureReport, iteration: &IterationReport) -> Vec<(&'static str, Markup)> {
    let diagnosis = &failure.diagnosis;
    let mut known = vec![(
        "Evidence",
        match &diagnosis.evidence {
            Some(evidence) => html! {
                (parts::long_code(&evidence.text)) " in " (parts::code(&evidence.field))
            },
            None => parts::text("none"),
        },
    )];
    let mut add = |term, words: Option<Markup>| known.extend(words.map(|words| (term, words)));
    add(
        "Rerun",
        diagnosis.retryable.map(|retryable| {
            parts::text(match retryable {
                true => "retryable",
                false => "not retryable",
            })
        }),
    );
    let standing = diagnosis.standing.map(|standing| words::spaced(&standing));
    add("Before", standing.map(parts::text));
    let suspect = diagnosis.suspect.map(|_| "the server's own code");
    add("Suspect", suspect.map(parts::text));
    add(
        "Rule",
        Some(html! { (parts::code(&diagnosis.rule)) ", phase " (json_word(&failure.phase)) }),
    );
    add(
        "Fingerprint",
        Some(html! {
            (parts::code(&diagnosis.fingerprint)) ", of this test "
            (parts::code(&diagnosis.test_fingerprint))
        }),
    );
    add(
        "Seen",
        diagnosis.repeated.as_ref().map(|repeated| {
            html! {
                (plural(repeated.count, "time")) ", first in iteration " (repeated.first_iteration)
            }
        }),
    );
    let excused = diagnosis.excused.as_deref();
    add("Not held against the code", excused.map(parts::code));
    let same_code = &diagnosis.same_code;
    let same_code = (!same_code.is_empty()).then(|| parts::text(same_code.join(", ")));
    add("The code that passed before", same_code);
    let repair = diagnosis.repair.as_deref();
    add("Repair that applies", repair.map(parts::code));
    let instead = view::instead(failure, iteration);
    add(
        "Instead",
        instead.map(|text| parts::text(parts::said(&text))),
    );
    add("At", failure.at.as_deref().map(parts::code));
    known
}

/// How the server was reached, with what, and how it ended.
fn exchange(failure: &FailureReport) -> Vec<(&'static str, Markup)> {
    let mut known = Vec::new();
    let mut add = |term, words: Option<Markup>| known.extend(words.map(|words| (term, words)));
    let request = failure.request.as_ref();
    add(
        "Request",
        request.map(|request| parts::code(&request.method)),
    );
    let command = (!failure.argv.is_empty()).then(|| words::shell_line(&failure.argv));
    add("Command", command.map(|line| parts::long_code(&line)));
    add("URL", failure.url.as_deref().map(parts::long_code));
    let http = failure.http.as_ref().and_then(view::http);
    add("HTTP", http.map(|told| parts::long_code(&told)));
    let ended = failure.exit.as_ref().map(words::exit);
    add("Ended with", ended.map(parts::text));
    known
}

fn rpc_error(error: &RpcError) -> String {
    let mut text = match error.code {
        Some(code) => format!("error {code}: {}", error.message),
        None => format!("error: {}", error.message),
    };
    if let Some(data) = error.data.as_ref().filter(|data| **data != Value::Null) {
        text.push_str(&format!("\n{data:#}"));
    }
    text
}

/// Why it happens and what to do, unless it stands on the page already.
pub(super) fn advice(advice: &Advice, id: &str, told: &mut ToldBlocks) -> Markup {
    let Some(words) = view::advice(advice) else {
        return Markup::default();
    };
    let lines = advice.fix.iter().map(Fix::line);
    let whole: String = std::iter::once(words.as_str().into())
        .chain(lines)
        .collect::<Vec<_>>()
        .join("\n");
    match told.place(&whole, id) {
        Some(place) => html! { p { a href={ "#" (place) } { "What to do about it" } } },
        None => html! {
            div.advice {
                p { b { "Advice: " } (parts::said(&words)) }
                (parts::instructions(&advice.fix))
            }
        },
    }
}
