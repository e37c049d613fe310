use super::{GITHUB_STEP, Notice, NoticeLevel, NoticeTerms, github_commands, job_summary, of_run};
use crate::report::Results;
use crate::report::samples;
use jelly_base::model::{ExitCode, RunReport};

fn annotations(reports: &[RunReport]) -> String {
    let results = Results::new("r", ExitCode::Passed, reports);
    github_commands(&of_run(&results, NoticeTerms::plain(GITHUB_STEP)))
}

#[test]
fn annotations_point_at_the_plan() {
    let one = |report| annotations(std::slice::from_ref(report));
    let all: String = samples::all().iter().map(one).collect();
    insta::assert_snapshot!("github_annotations", all);
}

#[test]
fn the_job_summary_says_what_to_do() {
    insta::assert_snapshot!("github_summary", job_summary(&[samples::dead_server()]));
}

#[test]
fn a_server_can_give_no_workflow_command() {
    let text = github_commands(&[Notice {
        level: NoticeLevel::Error,
        file: None,
        line: None,
        column: None,
        title: Some("a:b,c%\n".to_owned()),
        text: "x\n::set-env name=A::b".to_owned(),
        id: String::new(),
    }]);
    assert_eq!(
        text,
        "::error title=a%3Ab%2Cc%25::x%0A::set-env name=A::b\n"
    );
}

#[test]
fn what_github_would_drop_is_counted_instead() {
    let mut report = samples::dead_server();
    let failure = report.iterations[0].failures[0].clone();
    report.iterations[0].failures = vec![failure; 3000];
    let text = annotations(&[report.clone()]);
    assert_eq!(text.lines().count(), GITHUB_STEP);
    assert!(text.contains("and 2991 more failures"), "{text}");
    // They share what GitHub shows.
    let text = annotations(&[report.clone(), report.clone(), report]);
    assert_eq!(text.lines().count(), GITHUB_STEP, "{text}");
    assert!(text.contains("and 2992 more failures"), "{text}");
    assert!(text.contains("2 more plans that did not pass"), "{text}");
    // Warnings have a limit of their own.
    let text = annotations(&vec![samples::repaired(); 30]);
    assert_eq!(text.lines().count(), GITHUB_STEP, "{text}");
    assert!(text.contains("and 21 more warnings"), "{text}");
}

#[test]
fn a_file_is_named_as_the_system_knows_it() {
    let mut report = samples::dead_server();
    report.plan.path = "/ws/sub/./p.yaml".to_owned();
    let terms = |workspace, folder| NoticeTerms {
        workspace: Some(workspace),
        folder,
        ..NoticeTerms::plain(GITHUB_STEP)
    };
    let named = |report: &RunReport, terms| {
        let plans = std::slice::from_ref(report);
        of_run(&Results::new("r", ExitCode::Passed, plans), terms)[0]
            .file
            .clone()
    };
    assert_eq!(
        named(&report, terms("/ws", None)).as_deref(),
        Some("sub/./p.yaml")
    );
    assert_eq!(
        named(&report, terms("/w", None)).as_deref(),
        Some("/ws/sub/./p.yaml")
    );
    report.plan.path = "./p.yaml".to_owned();
    assert_eq!(
        named(&report, terms("/ws", Some("sub"))).as_deref(),
        Some("sub/p.yaml")
    );
}
