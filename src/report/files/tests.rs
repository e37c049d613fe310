use super::{Extras, ReportError, RunDir, file_name, run_id};
use crate::report::{Results, samples};
use jelly_base::model::ExitCode;
use proptest::prelude::*;
use std::fs;
use std::io::Write;

fn names(path: &std::path::Path) -> Vec<String> {
    let mut names: Vec<String> = fs::read_dir(path)
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .collect();
    names.sort();
    names
}

#[test]
fn a_run_id_tells_when_and_sorts() {
    let now: jiff::Timestamp = "2026-11-22T01:58:25Z".parse().unwrap();
    assert_eq!(run_id(now, 0xdead_beef), "20261122-015825-beef");
}

#[test]
fn a_repaired_run_leaves_all_its_files_and_nothing_else() {
    let home = tempfile::tempdir().unwrap();
    let run = RunDir::create(&home.path().join("reports"), "r1").unwrap();
    let dir = run.plan(None).unwrap();
    let extras = Extras {
        plans: &[],
        repaired_plan: Some("version: 1\n"),
    };
    dir.write(&samples::dead_server(), Extras::default())
        .unwrap();
    assert_eq!(
        names(dir.path()),
        ["junit.xml", "results.json", "test_results.md"]
    );
    dir.write(&samples::repaired(), extras).unwrap();
    assert_eq!(
        names(dir.path()),
        [
            "junit.xml",
            "repair.patch",
            "repaired-plan.yaml",
            "results.json",
            "test_results.md"
        ]
    );
    let text = fs::read_to_string(dir.markdown_path()).unwrap();
    assert!(text.contains("passed after repair"), "{text}");
    // A repair that was taken back.
    dir.write(&samples::passed(), Extras::default()).unwrap();
    assert!(!names(dir.path()).contains(&"repair.patch".to_owned()));
}

#[test]
fn an_unwritable_place_is_known_at_once() {
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("file");
    fs::write(&file, "x").unwrap();
    let error = RunDir::create(&file, "r1").unwrap_err();
    assert!(matches!(error, ReportError::Create { .. }));
    assert_eq!(fs::read_to_string(&file).unwrap(), "x");
}

#[test]
fn two_runs_of_one_id_get_two_folders() {
    let home = tempfile::tempdir().unwrap();
    let first = RunDir::create(home.path(), "r1").unwrap();
    let second = RunDir::create(home.path(), "r1").unwrap();
    assert_eq!((first.run_id(), second.run_id()), ("r1", "r1-2"));
    assert_ne!(first.path(), second.path());
}

#[test]
fn several_plans_have_a_folder_each_even_with_one_stem() {
    let home = tempfile::tempdir().unwrap();
    let run = RunDir::create(home.path(), "r1").unwrap();
    let plans = [
        run.plan(Some("smoke")).unwrap(),
        run.plan(Some("smoke")).unwrap(),
        run.plan(Some("../x")).unwrap(),
    ];
    for dir in &plans {
        dir.write(&samples::passed(), Extras::default()).unwrap();
    }
    let reports = [samples::passed()];
    run.write_results(&Results::new("r1", ExitCode::Passed, &reports))
        .unwrap();
    assert_eq!(
        names(run.path()),
        ["_.._x", "results.json", "smoke", "smoke-2"]
    );
}

#[test]
fn logs_are_apart_by_server_and_go_on_after_a_restart() {
    let home = tempfile::tempdir().unwrap();
    let run = RunDir::create(home.path(), "r1").unwrap();
    let dir = run.plan(None).unwrap();
    for server in ["a/b", "a_b", "A_B", "a/b"] {
        let mut file = dir.stderr_log(server).unwrap();
        writeln!(file, "{server}").unwrap();
    }
    let servers = dir.path().join("servers");
    assert_eq!(
        names(&servers),
        ["A_B-3.stderr.log", "a_b-2.stderr.log", "a_b.stderr.log"]
    );
    let first = fs::read_to_string(servers.join("a_b.stderr.log")).unwrap();
    assert_eq!(first, "a/b\na/b\n");
}

#[cfg(unix)]
mod links {
    use super::{Extras, ReportError, RunDir, names, samples};
    use std::fs;
    use std::os::unix::fs::{PermissionsExt, symlink};
    use std::path::Path;

    #[test]
    fn latest_follows_the_last_run_by_a_relative_link() {
        let home = tempfile::tempdir().unwrap();
        for id in ["r1", "r2"] {
            let run = RunDir::create(home.path(), id).unwrap();
            let dir = run.plan(None).unwrap();
            dir.write(&samples::passed(), Extras::default()).unwrap();
            run.point_latest().unwrap();
            run.point_latest().unwrap();
            let latest = fs::read_link(home.path().join("latest")).unwrap();
            assert_eq!(latest, Path::new(id));
        }
        assert_eq!(names(home.path()), ["latest", "r1", "r2"]);
    }

    #[test]
    fn what_a_person_called_latest_is_left_alone() {
        let home = tempfile::tempdir().unwrap();
        let latest = home.path().join("latest");
        fs::write(&latest, "my notes").unwrap();
        let run = RunDir::create(home.path(), "r1").unwrap();
        let error = run.point_latest().unwrap_err();
        assert!(matches!(error, ReportError::LatestTaken { .. }));
        assert_eq!(fs::read_to_string(&latest).unwrap(), "my notes");
    }

    #[test]
    fn a_file_that_stood_for_a_link_is_replaced() {
        let home = tempfile::tempdir().unwrap();
        let _former = RunDir::create(home.path(), "r0").unwrap();
        fs::write(home.path().join("latest"), "r0\n").unwrap();
        let run = RunDir::create(home.path(), "r1").unwrap();
        run.point_latest().unwrap();
        assert!(home.path().join("latest").is_symlink());
    }

    #[test]
    fn links_that_a_server_plants_are_not_followed() {
        let home = tempfile::tempdir().unwrap();
        let outside = home.path().join("outside");
        fs::create_dir(&outside).unwrap();
        let precious = outside.join("precious");
        fs::write(&precious, "mine").unwrap();

        let run = RunDir::create(&home.path().join("reports"), "r1").unwrap();
        let dir = run.plan(None).unwrap();
        symlink(&precious, dir.markdown_path()).unwrap();
        dir.write(&samples::passed(), Extras::default()).unwrap();
        symlink(&precious, dir.wire_path()).unwrap();
        assert!(dir.wire_file().is_err());
        symlink(&outside, dir.path().join("servers")).unwrap();
        assert!(matches!(
            dir.stderr_log("files"),
            Err(ReportError::NotOurs { .. })
        ));

        assert_eq!(fs::read_to_string(&precious).unwrap(), "mine");
        assert_eq!(names(&outside), ["precious"]);
        assert!(!dir.markdown_path().is_symlink());
    }

    #[test]
    fn others_may_read_a_report_as_any_other_file() {
        let home = tempfile::tempdir().unwrap();
        let plain = home.path().join("plain");
        fs::write(&plain, "").unwrap();
        let run = RunDir::create(home.path(), "r1").unwrap();
        let dir = run.plan(None).unwrap();
        dir.write(&samples::passed(), Extras::default()).unwrap();
        let mode = |path: &Path| fs::metadata(path).unwrap().permissions().mode();
        assert_eq!(mode(&dir.markdown_path()), mode(&plain));
    }

    #[test]
    fn a_report_folder_that_vanished_is_an_error() {
        let home = tempfile::tempdir().unwrap();
        let run = RunDir::create(home.path(), "r1").unwrap();
        let dir = run.plan(None).unwrap();
        fs::remove_dir_all(run.path()).unwrap();
        let error = dir
            .write(&samples::passed(), Extras::default())
            .unwrap_err();
        assert!(matches!(error, ReportError::NotOurs { .. }));
    }
}

proptest! {
    #[test]
    fn any_name_becomes_one_plain_path_component(name in any::<String>()) {
        let safe = file_name(&name);
        let path = std::path::Path::new(&safe);
        prop_assert_eq!(path.components().count(), 1);
        prop_assert!(matches!(
            path.components().next(),
            Some(std::path::Component::Normal(_))
        ));
        prop_assert!(!safe.starts_with('.') && safe.len() <= 81);
    }
}
