//! The page of `jelly triage`: what the reports come to, what to do, the causes
//! with their victims, and every failure.

use super::words::{before, notes, recurrence, retry, side, totals, verdict};
use crate::report::html::page::{contents, document, filter, kind, tone};
use crate::report::html::parts::{self, SHORT, row, section, table};
use crate::report::html::room::PageRoom;
use crate::report::html::spark::sparkline;
use crate::report::html::{PageLinks, PastEnds};
use crate::report::view;
use jelly_base::model::{Cluster, FailureView, ReportLabels, TriageReport, json_word};
use jelly_base::text::{is_blank, plural};
use maud::{Markup, html};
use std::collections::HashMap;

/// Victims that are named of one cause.
const VICTIMS: usize = 50;

/// The page.
#[must_use]
pub fn triage_html(report: &TriageReport, links: &PageLinks, past: &PastEnds<'_>) -> Vec<u8> {
    let writer = TriagePage {
        report,
        links,
        past,
        labels: ReportLabels::of_all(report),
        causes: causes_of(report),
    };
    let mut room = PageRoom::share(1);
    let mut listed = Vec::new();
    let mut main = Markup::default();
    let mut add = |id: &'static str, title: &'static str, body: Option<Markup>| {
        if let Some(body) = body {
            listed.push((id, title));
            main.0.push_str(&section(2, id, title, &body).0);
        }
    };
    add("next", "What to do", Some(writer.next()));
    add("causes", "Causes", writer.clusters(&mut room));
    add("failures", "Failures", writer.failures(&mut room));
    add("rerun", "Rerun", writer.rerun());
    add("known", "Known failures", writer.listed(&mut room));
    add("fixed", "Fixed", writer.fixed(&mut room));
    add("reports", "Reports", Some(writer.reports(&mut room)));
    let title = format!("Triage: {}", verdict(report));
    let head = html! {
        h1 {
            (parts::tag(tone(report.verdict, report.exit_code), verdict(report)))
            " " (parts::line(&report.health.summary, parts::LINE))
        }
        p.totals {
            b { (totals(&report.health)) } " in "
            (plural(report.counted_reports().count() as u64, "report"))
            "; exit code " b { (report.exit_code) }
        }
        (contents(&listed))
    };
    document(&title, &head, &main)
}

/// By failure, the number of its cause, from 1.
fn causes_of(report: &TriageReport) -> HashMap<usize, usize> {
    let clusters = report.clusters.iter().enumerate();
    clusters
        .flat_map(|(at, cluster)| cluster.victims.iter().map(move |victim| (*victim, at + 1)))
        .collect()
}

/// What its parts are made of.
struct TriagePage<'r> {
    report: &'r TriageReport,
    links: &'r PageLinks,
    past: &'r PastEnds<'r>,
    labels: ReportLabels<'r>,
    causes: HashMap<usize, usize>,
}

impl TriagePage<'_> {
    fn next(&self) -> Markup {
        let report = self.report;
        // What runs the tests again is the one command of the whole.
        let first = report
            .retry
            .commands
            .first()
            .filter(|_| report.retry.commands.len() == 1);
        html! {
            @if report.recommendations.is_empty() {
                p { "Nothing." }
            } @else {
                ol { @for step in &report.recommendations { li { (parts::said(step)) } } }
            }
            @if let Some(command) = first { (parts::command(command)) }
            @if report.retry.commands.len() > 1 {
                p { a href="#rerun" { "The commands that run tests again" } }
            }
            @for issue in &report.infrastructure_issues { p { (parts::said(issue)) } }
        }
    }

    fn clusters(&self, room: &mut PageRoom) -> Option<Markup> {
        let clusters = &self.report.clusters;
        let mut entries = Vec::new();
        let mut left_out = 0;
        for (at, cluster) in clusters.iter().enumerate() {
            let entry = if room.is_for_causes() {
                self.cause(at + 1, cluster)
            } else {
                self.brief_cause(at + 1, cluster)
            };
            match room.take(entry) {
                Some(entry) => entries.push(entry),
                None => left_out += 1,
            }
        }
        (!clusters.is_empty()).then(|| {
            html! {
                p { (plural(clusters.len() as u64, "cause")) ", by number of tests." }
                (parts::cause_list(&entries))
                @if left_out > 0 {
                    p { "And " (plural(left_out as u64, "more cause"))
                        ", which have no room here; --format json tells all." }
                }
            }
        })
    }

    fn cause(&self, number: usize, cluster: &Cluster) -> Markup {
        let mut facts: Vec<String> = Vec::new();
        facts.extend(cluster.error_category.as_ref().map(json_word));
        facts.extend(retry(cluster).map(str::to_owned));
        facts.extend(before(self.report, cluster));
        let why = cluster.advice.why.trim();
        let mut known = vec![
            ("Fingerprint", parts::code(&cluster.fingerprint)),
            ("Rule", parts::code(&cluster.rule)),
        ];
        known.extend(cluster.at.as_deref().map(|at| ("At", parts::code(at))));
        html! {
            li id={ "cause-" (number) } {
                p { b { (parts::said(&cluster.title)) } }
                p { (self.label(cluster)) " " (facts.join(" · ")) "; " (count(cluster)) }
                @if let Some(evidence) = &cluster.evidence {
                    (parts::block("Evidence", &evidence.text, None))
                }
                (parts::facts(&known))
                (self.victims(cluster))
                @if !why.is_empty() || !cluster.advice.fix.is_empty() {
                    div.advice {
                        p { b { "Advice: " } (parts::said(why)) }
                        (parts::instructions(cluster.advice.fix.iter()))
                    }
                }
            }
        }
    }

    fn brief_cause(&self, number: usize, cluster: &Cluster) -> Markup {
        let first = cluster.victims.first();
        html! {
            li id={ "cause-" (number) } {
                (parts::brief(&cluster.title)) " " (self.label(cluster)) " "
                (parts::code(&cluster.fingerprint)) " " (count(cluster)) " "
                @if let Some(first) = first { (self.link(*first)) }
            }
        }
    }

    fn label(&self, cluster: &Cluster) -> Markup {
        let flaky = cluster.flaky == cluster.count;
        let kind = kind(cluster.side, flaky, cluster.ambiguous);
        html! { (parts::code(&cluster.root_cause)) " " (parts::tag(kind, side(cluster))) }
    }

    fn victims(&self, cluster: &Cluster) -> Markup {
        let more = cluster.victims.len().saturating_sub(VICTIMS);
        html! {
            p.victims {
                "In "
                @for (at, victim) in cluster.victims.iter().take(VICTIMS).enumerate() {
                    @if at > 0 { ", " }
                    (self.link(*victim))
                }
                @if more > 0 { " and " (more) " more" }
                @if cluster.consequences > 0 {
                    "; " (cluster.consequences) " as a consequence"
                }
            }
        }
    }

    fn link(&self, failure: usize) -> Markup {
        let failure_view = self.report.failures.get(failure);
        let name = failure_view.map_or_else(String::new, |view| self.title(&view));
        html! { a href={ "#failure-" (failure + 1) } { (parts::brief(&name)) } }
    }

    /// Of a test whose name is nothing that is seen, words that a link can have.
    fn title(&self, failure: &FailureView<'_>) -> String {
        let title = self.labels.title(failure);
        match is_blank(&title) {
            true => "(unnamed)".to_owned(),
            false => title,
        }
    }

    fn failures(&self, room: &mut PageRoom) -> Option<Markup> {
        let failures = &self.report.failures;
        if failures.is_empty() {
            return None;
        }
        let mut entries = Vec::new();
        let mut left_out = 0;
        for (at, failure) in failures.iter().enumerate() {
            let entry = self.failure(at, &failure, room.is_for_details());
            match room.take(entry) {
                Some(entry) => entries.push(entry),
                None => left_out += 1,
            }
        }
        Some(html! {
            (filter(failures.len()))
            (parts::failure_list(&entries))
            @if left_out > 0 {
                p.left-out {
                    "And " (plural(left_out as u64, "more failure"))
                    ", which have no room here; --format json tells all."
                }
            }
        })
    }

    /// What a report says of one test; in full with its past and its place.
    fn failure(&self, at: usize, failure: &FailureView<'_>, whole: bool) -> Markup {
        let diagnosis = failure.kind;
        let kind = kind(diagnosis.side, diagnosis.flaky, diagnosis.ambiguous);
        let message = failure.message.unwrap_or_default();
        let title = self.title(failure);
        let cause = self.causes.get(&at);
        html! {
            details.failure id={ "failure-" (at + 1) } data-kind=(kind) {
                summary {
                    (at + 1) " " b { (parts::brief(&title)) } " "
                    (parts::code(&diagnosis.root_cause)) " "
                    (parts::tag(kind, &view::blame(diagnosis, diagnosis.flaky))) " "
                    span.told { (parts::line(message, SHORT)) }
                }
                @if whole {
                    div.body {
                        @if message.len() > SHORT { (parts::block("Message", message, None)) }
                        (parts::facts(&self.known(failure)))
                        @if let Some(cause) = cause { p { (cause_link(*cause)) } }
                    }
                } @else {
                    p.body {
                        @match failure.evidence {
                            // It is read already.
                            Some((_, text)) if parts::line(message, SHORT).contains(text) => {},
                            Some((field, text)) => {
                                (parts::brief(field)) ": " code { (parts::line(text, SHORT)) } " "
                            },
                            None => "No evidence. ",
                        }
                        @if let Some(cause) = cause { (cause_link(*cause)) }
                    }
                }
            }
        }
    }

    fn known(&self, failure: &FailureView<'_>) -> Vec<(&'static str, Markup)> {
        let diagnosis = failure.kind;
        let mut known = vec![(
            "Evidence",
            match failure.evidence {
                Some((field, text)) => {
                    html! { (parts::long_code(text)) " in " (parts::code(field)) }
                }
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
        add("Rule", Some(parts::code(&diagnosis.rule)));
        add(
            "Fingerprint",
            Some(html! {
                (parts::code(failure.fingerprint)) ", of this test "
                (parts::code(failure.test_fingerprint))
            }),
        );
        add(
            "In",
            failure.file.map(|file| {
                let line = failure
                    .line
                    .map(|line| format!(":{line}"))
                    .unwrap_or_default();
                parts::code(&format!("{file}{line}"))
            }),
        );
        add(
            "Report",
            Some(parts::link(self.links.to(failure.report), failure.report)),
        );
        let ends = (self.past)(failure.suite, failure.classname, failure.name);
        let word = recurrence(failure);
        add("History", (!word.is_empty() || !ends.is_empty()).then(|| {
            html! {
                (word) " " (sparkline(&ends, "run"))
                @if let Some(past) = failure.history && past.runs > 0 {
                    " failed like this in " (past.failed) " of " (plural(past.runs, "earlier run"))
                }
            }
        }));
        known
    }

    fn rerun(&self) -> Option<Markup> {
        let plan = &self.report.retry;
        if plan.tests.is_empty() {
            return None;
        }
        Some(html! {
            p { (plural(plan.tests.len() as u64, "test")) " may pass on a rerun." }
            @let shown = super::words::fitting(&plan.commands, COMMAND_BYTES);
            @for command in shown { (parts::command(command)) }
            @if plan.commands.len() > shown.len() {
                p {
                    (plural((plan.commands.len() - shown.len()) as u64, "long command"))
                    " not shown here; this prints them all:"
                }
                (parts::command("jelly triage --emit retry-commands"))
            }
            @for note in &plan.notes { p { (parts::said(note)) } }
            @if !plan.without_command.is_empty() {
                p { "By hand:" }
                ul { @for name in plan.without_command.iter().take(VICTIMS) { li { (parts::brief(name)) } } }
                @if plan.without_command.len() > VICTIMS {
                    p { "And " (plan.without_command.len() - VICTIMS) " more." }
                }
            }
        })
    }

    /// What a list of known failures covers.
    fn listed(&self, room: &mut PageRoom) -> Option<Markup> {
        let known = &self.report.known;
        let (entries, left_out) = room.list(known.iter().map(|known| {
            html! {
                li {
                    (parts::brief(&known.test)) ": " (parts::brief(&known.entry.reason))
                    " (" (parts::code(&known.entry.at)) ")"
                }
            }
        }));
        (!known.is_empty()).then(|| {
            html! {
                ul { @for entry in &entries { (entry) } }
                @if left_out > 0 { p { "And " (left_out) " more." } }
            }
        })
    }

    fn fixed(&self, room: &mut PageRoom) -> Option<Markup> {
        let fixed = &self.report.fixed;
        let (entries, left_out) = room.list(fixed.iter().map(|test| {
            html! {
                li {
                    (parts::brief(&test.name))
                    @if let Some(cause) = &test.root_cause { ", which failed of " (parts::code(cause)) }
                }
            }
        }));
        (!fixed.is_empty()).then(|| {
            html! {
                ul { @for entry in &entries { (entry) } }
                @if left_out > 0 { p { "And " (left_out) " more." } }
            }
        })
    }

    fn reports(&self, room: &mut PageRoom) -> Markup {
        let rows = self.report.reports.iter().map(|summary| {
            let path = parts::link(self.links.to(&summary.path), &summary.path);
            let problem = summary.problem.as_deref();
            row(
                &path,
                &[
                    parts::text(parts::brief(&summary.dialect)),
                    html! { (summary.tests) },
                    html! { (summary.passed) },
                    html! { (summary.failed + summary.errors) },
                    html! { (summary.flaky) },
                    html! { (summary.skipped) },
                    parts::text(problem.map(parts::brief).unwrap_or_default()),
                ],
            )
        });
        let header = [
            "Report", "Writer", "Tests", "Passed", "Failed", "Flaky", "Skipped", "Problem",
        ];
        let (rows, left_out) = room.list(rows);
        let notes = notes(self.report);
        let (notes, more) = room.list(
            notes
                .iter()
                .map(|note| html! { li { (parts::said(note)) } }),
        );
        html! {
            (table("Reports that were read", &header, rows))
            @if left_out > 0 { p { "And " (plural(left_out as u64, "more report")) "." } }
            @if !notes.is_empty() { ul { @for note in &notes { (note) } } }
            @if more > 0 { p { "And " (plural(more as u64, "more note")) "." } }
        }
    }
}

fn cause_link(cause: usize) -> Markup {
    html! { a href={ "#cause-" (cause) } { "Cause " (cause) " and what to do" } }
}

/// Bytes of the commands that run tests again.
const COMMAND_BYTES: usize = 64 << 10;

fn count(cluster: &Cluster) -> String {
    plural(cluster.count, "test")
}
