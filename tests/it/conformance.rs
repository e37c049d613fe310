//! The official conformance suite against jelly's own wire.
//!
//! The suite plays a server for each scenario and starts a client against it;
//! that client is this very program again, as `client` below. What may fail
//! stands with its reason in `fixtures/conformance/expected-failures.yaml`,
//! and that list is strict both ways.

mod client;
pub mod suite;

use crate::support::slice;
use std::collections::{BTreeMap, BTreeSet};
use suite::{Expected, Outcome, Suite};

#[test]
fn every_client_scenario_of_2025_11_25_ends_as_the_list_says() {
    holds("2025-11-25");
}

#[test]
fn every_client_scenario_of_2026_07_28_ends_as_the_list_says() {
    holds("2026-07-28");
}

#[test]
fn the_list_of_expected_failures_names_known_scenarios_and_a_reason_for_each() {
    let suite = Suite::find();
    let known: BTreeSet<String> = suite::REVISIONS
        .iter()
        .flat_map(|revision| suite.scenarios(revision))
        .collect();
    let mut seen = BTreeSet::new();
    for Expected { scenario, reason } in suite::expected() {
        assert!(known.contains(&scenario), "{scenario} is not in the suite");
        assert!(reason.len() > 20, "{scenario}: {reason:?} is no reason");
        assert!(
            seen.insert(scenario.clone()),
            "{scenario} stands there twice"
        );
    }
    // What the official Rust SDK lists for its client, at its release 3.1.4.
    assert!(seen.len() < 4, "{seen:?}");
}

/// Runs scenarios of a revision and holds them against the list.
fn holds(revision: &str) {
    let suite = Suite::find();
    let scenarios = suite.scenarios(revision);
    assert!(scenarios.len() > 20, "{scenarios:?}");
    let scenarios = slice(8, scenarios);
    let expected: BTreeMap<String, String> = suite::expected()
        .into_iter()
        .map(|Expected { scenario, reason }| (scenario, reason))
        .collect();
    let mut wrong = Vec::new();
    let mut passed = 0;
    for (scenario, outcome) in suite.run_all(revision, &scenarios) {
        match (outcome, expected.get(&scenario)) {
            (Outcome::Passed, None) => passed += 1,
            (Outcome::Failed(_), Some(_)) => {}
            (Outcome::Passed, Some(_)) => {
                wrong.push(format!("{scenario} passes: take it out of the list"));
            }
            (Outcome::Failed(why), None) => wrong.push(format!("{scenario} fails:\n{why}")),
        }
    }
    assert!(
        wrong.is_empty(),
        "{passed} of {} scenarios of {revision} pass, and\n\n{}",
        scenarios.len(),
        wrong.join("\n")
    );
}
