use super::{HumanOptions, github, human, json, markdown, samples, summary, table};
use crate::model::TriageReport;
use crate::report::github::{MAX_ANNOTATIONS, MAX_SUMMARY};
use crate::text::strip_ansi;

fn plain(report: &TriageReport) -> String {
    human(report, HumanOptions::default())
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
