use super::junit_xml;
use crate::report::samples;
use jelly_base::model::{
    ActionKind, Because, Exit, FailureReport, Phase, RunReport, ServerState, Side, StepState,
    Verdict,
};
use proptest::prelude::*;
use quick_xml::Reader;
use quick_xml::events::{BytesStart, Event};
use std::collections::HashMap;

/// What a reader of the file counts, element by element.
#[derive(Debug, Default, Clone, PartialEq)]
struct Seen {
    name: String,
    claimed: HashMap<String, String>,
    tests: usize,
    failures: usize,
    errors: usize,
    skipped: usize,
    reruns: usize,
}

impl Seen {
    fn is_red(&self) -> bool {
        self.failures + self.errors > 0
    }

    fn claims_what_it_holds(&self) -> bool {
        let claim = |name: &str| self.claimed[name].parse::<usize>().unwrap();
        claim("tests") == self.tests
            && claim("failures") == self.failures
            && claim("errors") == self.errors
            && claim("skipped") == self.skipped
    }
}

fn attributes(element: &BytesStart<'_>) -> HashMap<String, String> {
    element
        .attributes()
        .map(|attribute| {
            let attribute = attribute.unwrap();
            let value = quick_xml::escape::unescape(&attribute.value).unwrap();
            (attribute.key.0.to_owned(), value.into_owned())
        })
        .collect()
}

/// Root first, then the suites. Panics on anything that is not well-formed.
fn read(bytes: &[u8]) -> Vec<Seen> {
    let text = std::str::from_utf8(bytes).unwrap();
    let allowed = |c: char| matches!(c, '\t' | '\n' | ' '..='\u{fffd}' | '\u{10000}'..);
    assert!(text.chars().all(allowed), "not XML 1.0");
    let mut reader = Reader::from_str(text);
    reader.config_mut().check_end_names = true;
    let mut root = Seen::default();
    let mut suites: Vec<Seen> = Vec::new();
    let mut depth = 0;
    loop {
        let event = reader.read_event().unwrap();
        let element = match &event {
            Event::Start(element) => {
                depth += 1;
                element
            }
            Event::Empty(element) => element,
            Event::End(_) => {
                depth -= 1;
                continue;
            }
            Event::Text(text) => {
                quick_xml::escape::unescape(&text.clone().into_inner()).unwrap();
                continue;
            }
            Event::Eof => break,
            _ => continue,
        };
        let claimed = attributes(element);
        match element.name().0 {
            "testsuites" => root.claimed = claimed,
            "testsuite" => suites.push(Seen {
                name: claimed["name"].clone(),
                claimed,
                ..Seen::default()
            }),
            other => {
                for seen in suites.last_mut().into_iter().chain([&mut root]) {
                    match other {
                        "testcase" => seen.tests += 1,
                        "failure" => seen.failures += 1,
                        "error" => seen.errors += 1,
                        "skipped" => seen.skipped += 1,
                        "rerunFailure" | "rerunError" | "flakyFailure" | "flakyError" => {
                            seen.reruns += 1;
                        }
                        _ => {}
                    }
                }
            }
        }
    }
    assert_eq!(depth, 0, "unclosed element");
    suites.insert(0, root);
    suites
}

fn text(report: RunReport) -> String {
    String::from_utf8(junit_xml(&[report]).unwrap()).unwrap()
}

#[test]
fn the_file_of_every_kind_of_run() {
    insta::assert_snapshot!("junit_passed", text(samples::passed()));
    insta::assert_snapshot!("junit_repaired", text(samples::repaired()));
    insta::assert_snapshot!("junit_dead_server", text(samples::dead_server()));
    insta::assert_snapshot!("junit_code_failure", text(samples::code_failure()));
    insta::assert_snapshot!(
        "junit_several_mismatches",
        text(samples::several_mismatches())
    );
    insta::assert_snapshot!("junit_flaky", text(samples::flaky()));
    insta::assert_snapshot!("junit_crash_in_call", text(samples::crash_in_call()));
    insta::assert_snapshot!("junit_quarantined", text(samples::quarantined()));
    insta::assert_snapshot!("junit_interrupted", text(samples::interrupted()));
}

#[test]
fn every_suite_claims_what_it_holds_and_so_does_the_root() {
    let all = samples::all();
    let seen = read(&junit_xml(&all).unwrap());
    assert!(seen.len() > all.len());
    for suite in seen {
        assert!(suite.claims_what_it_holds(), "{suite:?}");
    }
}

#[test]
fn a_run_that_does_not_exit_0_is_red() {
    for report in samples::all() {
        let (code, verdict) = (report.exit_code, report.verdict);
        let root = read(&junit_xml(&[report]).unwrap()).remove(0);
        assert_eq!(root.is_red(), code != 0, "{verdict:?}");
    }
}

#[test]
fn a_dead_server_is_one_error_beside_its_blocked_steps() {
    let seen = read(&junit_xml(&[samples::dead_server()]).unwrap());
    let files = &seen[1];
    assert_eq!(files.name, "filesystem smoke.files");
    assert_eq!((files.errors, files.failures, files.skipped), (1, 0, 2));
    let memory = &seen[2];
    assert_eq!((memory.tests, memory.is_red()), (1, false));
}

#[test]
fn a_crash_in_a_call_carries_exit_and_telling_line() {
    let file = text(samples::crash_in_call());
    let error = file.lines().find(|l| l.contains("<error")).unwrap();
    assert!(error.contains("SIGABRT"), "{error}");
    assert!(error.contains("index out of bounds"), "{error}");
}

#[test]
fn attempts_of_earlier_iterations_are_reruns_or_flakes() {
    assert!(text(samples::code_failure()).contains("<rerunFailure "));
    assert!(text(samples::flaky()).contains("<flakyFailure "));
    // After a repair the plan is another one: nothing flaked.
    assert!(!text(samples::repaired()).contains("flaky"));
}

#[test]
fn what_blocks_the_steps_of_other_servers_is_one_error() {
    let mut blocked = samples::step("memory", "remember", StepState::Blocked);
    blocked.because = Some(Because::Setup("prepare".into()));
    let failure = samples::failure(
        "files",
        Some("prepare"),
        Phase::Call,
        "no answer in 30 s",
        samples::diagnosis(Side::Test, "call_timeout"),
    );
    let report = samples::run(
        Verdict::NeedsUserHelp,
        3,
        vec![samples::iteration(
            1,
            vec![
                samples::server("files", ServerState::Ready),
                samples::server("memory", ServerState::Ready),
            ],
            vec![
                samples::step("files", "prepare", StepState::Failed),
                blocked,
            ],
            vec![failure],
            samples::action(ActionKind::Stop, "nothing is left to try"),
        )],
    );
    let seen = read(&junit_xml(&[report]).unwrap());
    let red: Vec<bool> = seen[1..].iter().map(Seen::is_red).collect();
    assert_eq!(red, [true, false], "{seen:?}");
}

fn any_state() -> impl Strategy<Value = StepState> {
    prop_oneof![
        Just(StepState::Passed),
        Just(StepState::Failed),
        Just(StepState::Blocked),
        Just(StepState::Quarantined),
        Just(StepState::Skipped),
    ]
}

fn any_phase() -> impl Strategy<Value = Phase> {
    prop_oneof![
        Just(Phase::Config),
        Just(Phase::Handshake),
        Just(Phase::Call),
        Just(Phase::Assert),
        Just(Phase::Teardown),
    ]
}

fn nasty() -> impl Strategy<Value = String> {
    prop_oneof![
        any::<String>(),
        "[<>&\"'\\]\u{0}-\u{1f}\u{7f}-\u{9f}\u{fffe}\u{ffff}\n]{0,20}"
    ]
}

fn any_failure() -> impl Strategy<Value = FailureReport> {
    (
        proptest::option::of(0usize..3),
        proptest::option::of(0usize..6),
        any_phase(),
        nasty(),
        nasty(),
        proptest::option::of(nasty()),
    )
        .prop_map(|(server, step, phase, message, stderr, signal)| {
            let mut failure = samples::failure(
                "",
                step.map(|n| format!("step{n}")).as_deref(),
                phase,
                &message,
                samples::diagnosis(Side::Test, &message),
            );
            failure.server = server.map(|n| format!("server{n}"));
            failure.stderr_tail = stderr;
            failure.at = Some(format!("{message}:1:2"));
            failure.exit = signal.map(|signal| Exit {
                code: None,
                signal: Some(signal),
            });
            failure
        })
}

fn any_report() -> impl Strategy<Value = RunReport> {
    let steps = proptest::collection::vec((any_state(), 0usize..3, any::<bool>(), nasty()), 0..6);
    let failures = proptest::collection::vec(any_failure(), 0..5);
    let iteration = (steps, failures);
    (proptest::collection::vec(iteration, 0..3), nasty(), 0u8..5).prop_map(
        |(iterations, name, exit_code)| {
            let iterations = iterations
                .into_iter()
                .zip(1..)
                .map(|((steps, failures), index)| {
                    let steps = steps
                        .into_iter()
                        .enumerate()
                        .map(|(n, (state, server, flaky, because))| {
                            let mut step = samples::step(
                                &format!("server{server}"),
                                &format!("step{n}"),
                                state,
                            );
                            step.flaky = flaky;
                            step.because = Some(Because::Plan(because));
                            step
                        })
                        .collect();
                    samples::iteration(
                        index,
                        vec![samples::server("server0", ServerState::Ready)],
                        steps,
                        failures,
                        samples::action(ActionKind::Stop, "done"),
                    )
                })
                .collect();
            let mut report = samples::run(Verdict::Passed, exit_code, iterations);
            report.plan.name = name;
            report
        },
    )
}

proptest! {
    #[test]
    fn whatever_a_server_prints_the_file_is_well_formed_and_its_counts_are_right(
        report in any_report()
    ) {
        let bytes = junit_xml(std::slice::from_ref(&report)).unwrap();
        let seen = read(&bytes);
        for suite in &seen {
            prop_assert!(suite.claims_what_it_holds(), "{:?}", suite);
        }
        if report.exit_code != 0 {
            prop_assert!(seen[0].is_red());
        }
        if let Some(last) = report.iterations.last() {
            for step in &last.steps {
                let held = matches!(step.state, StepState::Blocked | StepState::Quarantined);
                let suite = seen[1..].iter().find(|s| s.name.ends_with(&format!(".{}", step.server)));
                prop_assert!(suite.is_some());
                prop_assert!(!held || seen[0].is_red(), "{:?}", seen);
            }
            let extra = seen[0].tests - last.steps.len();
            prop_assert!(extra <= last.failures.len() + last.steps.len() + 1);
        }
    }
}
