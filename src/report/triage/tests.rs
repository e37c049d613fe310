use super::markdown::MAX_SUMMARY;
use super::{HumanOptions, human, json, markdown, samples, summary, table};
use crate::report::ci::{GITHUB_STEP as MAX_ANNOTATIONS, NoticeTerms, github_commands, of_triage};
use jelly_base::model::{FailureHistory, Recurrence, TriageReport};
use jelly_base::text::strip_ansi;

fn plain(report: &TriageReport) -> String {
    human(report, HumanOptions::default())
}

fn github(report: &TriageReport, workspace: Option<&str>) -> String {
    let terms = NoticeTerms {
        workspace,
        ..NoticeTerms::plain(MAX_ANNOTATIONS)
    };
    github_commands(&of_triage(report, terms))
}

#[test]
fn what_people_read_of_an_outage() {
    let report = samples::outage();
    insta::assert_snapshot!("triage_human", plain(&report));
    insta::assert_snapshot!("triage_markdown", markdown(&report));
    insta::assert_snapshot!("triage_table", table(&report));
    insta::assert_snapshot!("triage_github", github(&report, Some("/home/ci")));
}

#[test]
fn what_people_read_of_reports_that_are_broken() {
    let report = samples::unreadable();
    insta::assert_snapshot!("triage_human_unreadable", plain(&report));
    insta::assert_snapshot!("triage_github_unreadable", github(&report, None));
}

#[test]
fn a_long_list_is_cut_and_the_rest_is_counted() {
    let report = samples::many();
    let text = plain(&report);
    assert!(text.lines().count() < 80, "{}", text.lines().count());
    assert!(text.contains("and 9987 more, of 9987 tests"), "{text}");
    assert_eq!(github(&report, None).lines().count(), MAX_ANNOTATIONS);
    assert!(summary(&report).len() <= MAX_SUMMARY + 100);
}

#[test]
fn a_cause_in_brief_has_its_evidence_its_side_and_whether_a_rerun_helps() {
    let text = plain(&samples::many());
    let sixth = text.lines().find(|line| line.starts_with("6. ")).unwrap();
    let facts = "(assertion_mismatch · the code under test · a rerun won't help)";
    assert!(sixth.contains("expected: <3> but was: <0>"), "{sixth}");
    assert!(sixth.ends_with(facts), "{sixth}");
    let mut report = samples::many();
    report.clusters[6].title = "a sum is wrong".into();
    let text = plain(&report);
    assert!(
        text.contains("a sum is wrong > expected: <3> but was: <0> (assertion"),
        "{text}"
    );
}

#[test]
fn commands_for_thousands_of_tests_are_counted_and_not_printed() {
    let mut report = samples::outage();
    report.retry.commands = vec!["pytest short.py".into(), "x".repeat(4000), "y".repeat(4000)];
    let text = plain(&report);
    assert!(text.contains("   pytest short.py\n"), "{text}");
    assert!(
        text.contains("   and 2 more commands; --emit retry-commands prints"),
        "{text}"
    );
    report.retry.commands = vec!["x".repeat(4000)];
    let text = plain(&report);
    assert!(
        text.contains("   1 command, too long for this place; --emit"),
        "{text}"
    );
    report.retry.commands = vec!["x".repeat(4000); 3];
    let text = markdown(&report);
    assert!(
        text.len() < 12_000 && text.contains("1 long command not shown"),
        "{text}"
    );
}

#[test]
fn a_failure_that_is_back_is_not_called_new() {
    let mut report = samples::outage();
    let state = |state| FailureHistory {
        state,
        earlier_side: None,
        first_seen: None,
        last_seen: None,
        runs: 5,
        failed: 1,
        rate: 0.2,
    };
    let mut said = |states: &[Recurrence]| {
        for (at, one) in states.iter().enumerate() {
            report.failures.set_past(at, Some(false), Some(state(*one)));
        }
        let text = plain(&report);
        let facts = text
            .lines()
            .find(|line| line.contains("connection_refused ·"));
        facts.unwrap().rsplit(" · ").next().unwrap().to_owned()
    };
    assert_eq!(said(&[Recurrence::New; 5]), "new");
    assert_eq!(said(&[Recurrence::Regressed; 5]), "regressed");
    assert_eq!(said(&[Recurrence::Flaky; 5]), "come and go");
    assert_eq!(
        said(&[Recurrence::New, Recurrence::Regressed]),
        "1 new, 1 regressed, 3 come and go"
    );
}

#[test]
fn the_totals_add_up_where_a_suite_failed_outside_of_its_tests() {
    let mut report = samples::outage();
    report.health.suite_errors = 2;
    let wanted = "12 tests: 4 passed, 4 failed, 1 flaky, 1 skipped; 2 suites failed outside";
    assert!(plain(&report).contains(wanted), "{}", plain(&report));
}

#[test]
fn colour_and_width_change_no_word() {
    let report = samples::outage();
    let options = HumanOptions {
        color: true,
        width: Some(60),
    };
    let wrapped = human(&report, options);
    let words = |text: &str| -> Vec<String> {
        strip_ansi(text)
            .split_whitespace()
            .map(str::to_owned)
            .collect()
    };
    assert_ne!(wrapped, plain(&report));
    assert_eq!(words(&wrapped), words(&plain(&report)));
}

#[test]
fn what_is_printed_as_json_is_read_back_the_same() {
    let report = samples::outage();
    let mut bytes = Vec::new();
    json(&report, &mut bytes).unwrap();
    let back: TriageReport = serde_json::from_slice(&bytes).unwrap();
    assert_eq!(back.failures, report.failures);
    let mut again = Vec::new();
    json(&back, &mut again).unwrap();
    assert_eq!(again, bytes);
}
