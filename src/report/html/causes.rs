//! The failures of an iteration by cause: what it is, whom it befell, what to do.

use super::failure::{FailureList, advice, label};
use super::parts;
use super::room::{PageRoom, ToldBlocks};
use crate::report::view::{self, FailureCluster};
use jelly_base::model::FailureReport;
use jelly_base::text::{capitalised, plural};
use maud::{Markup, html};
use std::collections::HashMap;

/// Victims that are named of one cause.
const VICTIMS: usize = 50;

/// The causes, in the order of their first failures.
pub(super) fn causes(list: &FailureList<'_>, room: &mut PageRoom, told: &mut ToldBlocks) -> Markup {
    let clusters = view::failure_clusters(list.iteration);
    let numbers: HashMap<*const FailureReport, usize> = list
        .iteration
        .failures
        .iter()
        .enumerate()
        .map(|(at, failure)| (std::ptr::from_ref(failure), at + 1))
        .collect();
    let links = CauseLinks { list, numbers };
    let all = clusters.len();
    let mut entries = Vec::new();
    let mut left_out = 0;
    for (at, cluster) in clusters.iter().enumerate() {
        let id = format!("{}-cause-{}", list.id, at + 1);
        let entry = if room.is_for_causes() {
            links.whole(&id, cluster, told)
        } else {
            links.brief(&id, cluster)
        };
        match room.take(entry) {
            Some(entry) => entries.push(entry),
            None => left_out += 1,
        }
    }
    html! {
        p { (plural(list.iteration.failures.len() as u64, "failure")) " of "
            (plural(all as u64, "cause")) "." }
        (parts::cause_list(&entries))
        @if left_out > 0 {
            p { "And " (plural(left_out as u64, "more cause")) ", which have no room here." }
        }
    }
}

struct CauseLinks<'p> {
    list: &'p FailureList<'p>,
    /// From 1.
    numbers: HashMap<*const FailureReport, usize>,
}

impl CauseLinks<'_> {
    fn whole(&self, id: &str, cluster: &FailureCluster<'_>, told: &mut ToldBlocks) -> Markup {
        let first = cluster.failures[0];
        let diagnosis = &first.diagnosis;
        html! {
            li id=(id) {
                p { b { (capitalised(&parts::said(&first.message))) } }
                p { (label(first)) " " (self.count(cluster)) }
                (parts::facts(&[
                    ("Fingerprint", parts::code(&diagnosis.fingerprint)),
                    ("Rule", parts::code(&diagnosis.rule)),
                ]))
                (self.victims(cluster))
                (advice(&diagnosis.advice, id, told))
            }
        }
    }

    fn brief(&self, id: &str, cluster: &FailureCluster<'_>) -> Markup {
        let first = cluster.failures[0];
        html! {
            li id=(id) {
                (parts::brief(&first.message)) " " (label(first)) " "
                (parts::code(&first.diagnosis.fingerprint)) " " (self.count(cluster)) " "
                (self.link(first))
            }
        }
    }

    fn count(&self, cluster: &FailureCluster<'_>) -> String {
        plural(cluster.failures.len() as u64, "failure")
    }

    fn victims(&self, cluster: &FailureCluster<'_>) -> Markup {
        let more = cluster.failures.len().saturating_sub(VICTIMS);
        html! {
            p.victims {
                "In "
                @for (at, failure) in cluster.failures.iter().take(VICTIMS).enumerate() {
                    @if at > 0 { ", " }
                    (self.link(failure))
                }
                @if more > 0 { " and " (more) " more" }
                @for left_out in &cluster.left_out { "; and " (left_out) }
            }
        }
    }

    fn link(&self, failure: &FailureReport) -> Markup {
        let name = html! {
            (parts::brief(&view::subject(failure))) (view::mismatch_aside(failure))
        };
        match self.numbers.get(&std::ptr::from_ref(failure)) {
            Some(number) => html! { a href={ "#" (self.list.id(*number)) } { (name) } },
            None => name,
        }
    }
}
