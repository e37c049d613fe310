//! Reports as no rule and no reader made them, for the tests of this room.

use jelly_base::model::{
    Advice, Cluster, Diagnosis, ErrorCategory, Evidence, FailureHistory, Failures, FixedTest,
    Health, HealthState, Recurrence, ReportSummary, RetryPlan, SCHEMA_VERSION, Side, TriageReport,
    TriagedFailure, Verdict,
};
use std::collections::HashMap;

fn advice(what: &str, fix: &[&str]) -> Advice {
    Advice {
        what: what.into(),
        why: "The report says so.".into(),
        fix: fix.iter().map(|step| (*step).into()).collect(),
    }
}

fn diagnosis(side: Side, root_cause: &str, evidence: &str) -> Diagnosis {
    let (category, retryable) = match side {
        Side::Test => (ErrorCategory::Infrastructure, true),
        Side::Code => (ErrorCategory::Assertion, false),
    };
    Diagnosis {
        side,
        ambiguous: false,
        error_category: Some(category),
        root_cause: root_cause.into(),
        retryable: Some(retryable),
        rule: format!("sample/{root_cause}"),
        evidence: Some(Evidence {
            field: "message".into(),
            text: evidence.into(),
        }),
        fingerprint: format!("j1:{root_cause}"),
        test_fingerprint: format!("j1:{root_cause}-test"),
        advice: advice("Something is wrong.", &["Mend it.", "$ mend --all"]),
        ..Diagnosis::BLANK
    }
}

fn failure(name: &str, diagnosis: Diagnosis) -> TriagedFailure {
    TriagedFailure {
        report: "build/a.xml".into(),
        suite: "shop".into(),
        classname: "shop.OrderTest".into(),
        name: name.into(),
        file: Some("/home/ci/shop/OrderTest.java".into()),
        line: Some(12),
        message: diagnosis.evidence.as_ref().map(|e| e.text.clone()),
        diagnosis,
        ..TriagedFailure::default()
    }
}

fn cluster(failures: &Failures, victims: Vec<usize>, title: &str) -> Cluster {
    let lead = failures.to_owned(victims[0]).unwrap();
    Cluster {
        fingerprint: lead.diagnosis.fingerprint.clone(),
        also: Vec::new(),
        count: victims.len() as u64,
        flaky: 0,
        consequences: 0,
        root_cause: lead.diagnosis.root_cause.clone(),
        error_category: lead.diagnosis.error_category,
        side: lead.diagnosis.side,
        ambiguous: lead.diagnosis.ambiguous,
        retryable: lead.diagnosis.retryable,
        subject: None,
        title: title.into(),
        example: lead.title(),
        evidence: lead.diagnosis.evidence.clone(),
        rule: lead.diagnosis.rule.clone(),
        at: None,
        advice: lead.diagnosis.advice.into(),
        victims,
    }
}

/// Most failed since the database is down; one of the code, one flaky, one
/// fixed.
pub(in crate::report) fn outage() -> TriageReport {
    let mut failures = Failures::default();
    let refused = || {
        diagnosis(
            Side::Test,
            "connection_refused",
            "connect ECONNREFUSED db:5432",
        )
    };
    for n in 0..5 {
        failures.push(failure(&format!("stores[{n}]"), refused()));
    }
    let mut wrong = failure(
        "total | `with` <markup>",
        diagnosis(
            Side::Code,
            "assertion_mismatch",
            "expected: <1> but was: <2>",
        ),
    );
    wrong.pre_existing = Some(true);
    wrong.history = Some(FailureHistory {
        state: Recurrence::Known,
        first_seen: None,
        last_seen: None,
        runs: 2,
        failed: 1,
        rate: 0.5,
        earlier_side: None,
    });
    failures.push(wrong);
    failures.push(failure(
        "sometimes",
        diagnosis(Side::Test, "wait_timeout", "waited 5 s"),
    ));
    failures.turn_flaky(6);
    let mut last = cluster(&failures, vec![6], "a wait ran out of time");
    last.flaky = 1;
    let title = "the database at db:5432 refused connections";
    let clusters = vec![
        cluster(&failures, vec![0, 1, 2, 3, 4], title),
        cluster(&failures, vec![5], "expected: <1> but was: <2>"),
        last,
    ];
    TriageReport {
        schema_version: SCHEMA_VERSION,
        exit_code: 1,
        verdict: Verdict::CodeFailure,
        health: Health {
            state: HealthState::OneCause,
            summary: format!("5 of 6 failures have one cause: {title}."),
            tests: 12,
            executed: 11,
            passed: 4,
            failed: 6,
            skipped: 1,
            flaky: 1,
            suite_errors: 0,
        },
        reports: vec![
            ReportSummary {
                path: "build/a.xml".into(),
                dialect: "surefire".into(),
                tests: 12,
                passed: 4,
                failed: 6,
                skipped: 1,
                flaky: 1,
                warnings: vec!["the report claims 11 tests".into()],
                ..ReportSummary::default()
            },
            ReportSummary {
                path: "build/b.xml".into(),
                tests: 12,
                same_as: Some("build/a.xml".into()),
                ..ReportSummary::default()
            },
        ],
        failures,
        clusters,
        places: HashMap::new(),
        fixed: vec![FixedTest {
            suite: "shop".into(),
            classname: "shop.OrderTest".into(),
            name: "is mended".into(),
            root_cause: None,
        }],
        known: Vec::new(),
        retry: RetryPlan {
            tests: (0..5)
                .map(|n| format!("shop.OrderTest#stores{n}"))
                .collect(),
            commands: vec!["mvn test -Dtest=shop.OrderTest#stores*".into()],
            without_command: Vec::new(),
            notes: vec!["Run it where the database is.".into()],
        },
        infrastructure_issues: vec![format!("{title} (5 tests).")],
        recommendations: vec!["Mend this first.".into(), "Then run 5 tests again.".into()],
    }
}

/// Two reports that can't be relied on.
pub(in crate::report) fn unreadable() -> TriageReport {
    let broken = |path: &str, problem: &str| ReportSummary {
        path: path.into(),
        problem: Some(problem.into()),
        ..ReportSummary::default()
    };
    TriageReport {
        exit_code: 2,
        verdict: Verdict::InvalidInput,
        health: Health {
            state: HealthState::Unreadable,
            summary: "2 of 2 reports can't be relied on.".into(),
            ..Health::default()
        },
        reports: vec![
            broken("a.xml", "there is no such file"),
            broken("b.xml", "the report is empty"),
        ],
        failures: Failures::default(),
        clusters: Vec::new(),
        places: HashMap::new(),
        fixed: Vec::new(),
        retry: RetryPlan::default(),
        known: Vec::new(),
        infrastructure_issues: Vec::new(),
        recommendations: vec!["Find out what kept them.".into()],
        ..outage()
    }
}

/// Ten thousand failures for as many reasons.
pub(in crate::report) fn many() -> TriageReport {
    let mut report = outage();
    for n in 0..10_000 {
        let text = format!("expected: <{n}> but was: <0>");
        let mut wrong = diagnosis(Side::Code, "assertion_mismatch", &text);
        wrong.fingerprint = format!("j1:{n}");
        report.failures.push(failure(&format!("case{n}"), wrong));
        let at = report.failures.len() - 1;
        report
            .clusters
            .push(cluster(&report.failures, vec![at], &text));
    }
    report
}
