use super::{HistoryFile, HistoryLimits};
use crate::history::{
    HistoryStore, PastFailure, PastReport, PastRun, ReadPast, Recorded, RunKind, TestName,
};
use jelly_base::model::FailureStatus;
use std::fs;
use tempfile::TempDir;

fn store() -> (TempDir, HistoryFile) {
    let folder = TempDir::new().unwrap();
    let store = HistoryFile::new(folder.path().join("history.jsonl"));
    (folder, store)
}

fn run(digest: &str) -> PastRun {
    let mut run = PastRun::new(RunKind::Triage, None);
    run.reports.push(PastReport {
        path: "a.xml".into(),
        digest: digest.into(),
        ..PastReport::default()
    });
    run.failures.push(PastFailure {
        report: 0,
        test: TestName::new("s", "c", "n"),
        status: FailureStatus::Failure,
        fingerprint: "j1:1".into(),
        test_fingerprint: "j1:2".into(),
        duration_ms: None,
    });
    run
}

#[test]
fn what_was_recorded_is_remembered() {
    let (_folder, store) = store();
    assert!(store.load().unwrap().past.is_empty(), "no file, no past");
    assert_eq!(
        store.record(run("one")).unwrap(),
        Recorded::Run { dropped: 0 }
    );
    assert_eq!(
        store.record(run("two")).unwrap(),
        Recorded::Run { dropped: 0 }
    );
    let ReadPast { past, warnings } = store.load().unwrap();
    assert_eq!((past.runs(), warnings.len()), (2, 0));
}

#[test]
fn a_report_is_never_recorded_twice() {
    let (_folder, store) = store();
    store.record(run("one")).unwrap();
    let before = fs::read(store.path()).unwrap();
    assert_eq!(store.record(run("one")).unwrap(), Recorded::Known);
    assert_eq!(fs::read(store.path()).unwrap(), before);
}

#[test]
fn a_torn_line_costs_that_run_and_no_other() {
    let (_folder, store) = store();
    store.record(run("one")).unwrap();
    let mut bytes = fs::read(store.path()).unwrap();
    let whole = bytes.clone();
    bytes.extend_from_slice(&whole[..whole.len() / 2]);
    fs::write(store.path(), &bytes).unwrap();
    store.record(run("three")).unwrap();
    let ReadPast { past, warnings } = store.load().unwrap();
    assert_eq!(past.runs(), 2);
    assert_eq!(warnings.len(), 1);
    assert!(warnings[0].contains("history.jsonl:2: "), "{warnings:?}");
}

#[test]
fn any_cut_of_the_file_loses_at_most_the_last_run() {
    let (_folder, store) = store();
    store.record(run("one")).unwrap();
    let first = fs::read(store.path()).unwrap().len();
    store.record(run("two")).unwrap();
    let whole = fs::read(store.path()).unwrap();
    for cut in first..whole.len() {
        fs::write(store.path(), &whole[..cut]).unwrap();
        let past = store.load().unwrap().past;
        assert!(past.runs() >= 1, "cut at {cut}");
    }
}

#[test]
fn what_a_later_version_wrote_is_kept() {
    let (_folder, store) = store();
    let later = "{\"schema_version\":99,\"what\":\"ever\"}\n";
    fs::write(store.path(), later).unwrap();
    let store = store.with_limits(HistoryLimits {
        runs: 1,
        ..HistoryLimits::default()
    });
    for digest in ["a", "b", "c"] {
        store.record(run(digest)).unwrap();
    }
    assert!(fs::read_to_string(store.path()).unwrap().starts_with(later));
    assert!(!store.older().exists());
    let ReadPast { past, warnings } = store.load().unwrap();
    assert_eq!(past.runs(), 3);
    assert!(warnings[0].contains("later version"), "{warnings:?}");
}

#[test]
fn a_full_file_makes_room_and_is_still_remembered() {
    let (_folder, store) = store();
    let store = store.with_limits(HistoryLimits {
        runs: 2,
        ..HistoryLimits::default()
    });
    for digest in ["a", "b", "c", "d", "e"] {
        store.record(run(digest)).unwrap();
    }
    assert!(store.older().ends_with("history.1.jsonl"));
    assert_eq!(store.load().unwrap().past.runs(), 3, "c, d and e");
    assert_eq!(store.record(run("d")).unwrap(), Recorded::Known);
    let small = store.with_limits(HistoryLimits {
        bytes: 1,
        ..HistoryLimits::default()
    });
    small.record(run("f")).unwrap();
    assert_eq!(small.load().unwrap().past.runs(), 2, "e and f");
}

#[test]
fn a_run_beyond_all_measure_is_cut_and_that_is_said() {
    let (_folder, store) = store();
    let store = store.with_limits(HistoryLimits {
        failures: 2,
        ..HistoryLimits::default()
    });
    let mut big = run("big");
    for _ in 0..4 {
        big.failures.push(big.failures[0].clone());
    }
    assert_eq!(store.record(big).unwrap(), Recorded::Run { dropped: 3 });
}

#[test]
fn a_lock_that_another_holds_is_waited_for_and_then_said() {
    let (_folder, store) = store();
    let held = store.lock().unwrap();
    let hasty = store.clone().with_limits(HistoryLimits {
        wait: std::time::Duration::ZERO,
        ..HistoryLimits::default()
    });
    let error = hasty.record(run("a")).unwrap_err().to_string();
    assert!(error.contains("another jelly"), "{error}");
    drop(held);
    hasty.record(run("a")).unwrap();
}

#[test]
fn a_folder_in_its_place_is_an_error_that_names_it() {
    let (folder, _) = store();
    let store = HistoryFile::new(folder.path());
    let error = store.check_writable().unwrap_err();
    assert!(error.to_string().starts_with("write the history "));
}

#[test]
fn a_single_line_of_nothing_is_nothing() {
    let (_folder, store) = store();
    fs::write(store.path(), "\n\n{}\nnull\n[1]\n\u{0}\n").unwrap();
    let ReadPast { past, warnings } = store.load().unwrap();
    assert!(past.is_empty());
    assert_eq!(warnings.len(), 4, "{warnings:?}");
}
