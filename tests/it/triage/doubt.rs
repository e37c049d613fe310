//! What can't be relied on looks green in no format.

use super::{CODE, PASS, json, report, triage};
use crate::support::Project;
use serde_json::Value;

#[test]
fn a_report_that_cannot_be_relied_on_is_red_in_every_format() {
    let project = Project::empty();
    project.write("empty.xml", "");
    project.write("none.xml", report(""));
    for file in ["empty.xml", "none.xml"] {
        for format in ["human", "json", "jsonl", "md", "table", "ctrf", "junit"] {
            let ended = triage(&project, &[file, "-f", format]);
            let said = format!("{file} {format}\n{}{}", ended.stdout, ended.stderr);
            assert_eq!(ended.code, Some(2), "{said}");
            match format {
                "junit" => assert!(
                    ended.stdout.contains("errors=\"1\"") && ended.stdout.contains("<error "),
                    "{said}"
                ),
                "ctrf" => {
                    let value: Value = serde_json::from_str(&ended.stdout).unwrap();
                    assert_eq!(value["results"]["summary"]["failed"], 1, "{said}");
                    assert_eq!(value["results"]["tests"][0]["status"], "failed", "{said}");
                }
                "table" => assert!(ended.stdout.contains("unreliable: "), "{said}"),
                "jsonl" => assert!(ended.stderr.contains("error: "), "{said}"),
                _ => {}
            }
        }
        for args in [["--mode", "failures"], ["--emit", "retry-list"]] {
            let ended = triage(&project, &[file, args[0], args[1]]);
            assert_eq!(ended.code, Some(2));
            assert!(ended.stderr.contains("error: "), "{}", ended.stderr);
        }
    }
}

#[test]
fn totals_add_up_where_a_suite_failed() {
    let project = Project::empty();
    project.write(
        "a.xml",
        report(&format!("<error message=\"no database\"/>{PASS}{CODE}")),
    );
    let ended = triage(&project, &["a.xml"]);
    assert!(
        ended
            .stdout
            .contains("2 tests: 1 passed, 1 failed; 1 suite failed"),
        "{}",
        ended.stdout
    );
    let value = json(&project, &["a.xml"]).1;
    assert_eq!(value["health"]["suite_errors"], 1);
    assert_eq!(value["reports"][0]["elements"]["failures"], 1);
}

#[test]
fn a_run_that_is_told_in_whole_and_in_parts_counts_once() {
    let project = Project::empty();
    let part = |class: &str| {
        format!(
            "<testcase classname=\"{class}\" name=\"bad\" time=\"0.123\"><failure message=\"boom\"/>\
             </testcase><testcase classname=\"{class}\" name=\"good\" time=\"0.223\"/>"
        )
    };
    project.write("r/TEST-p.A.xml", report(&part("p.A")));
    project.write("r/TEST-p.B.xml", report(&part("p.B")));
    let whole = report(&format!("{}{}", part("p.A"), part("p.B")));
    for place in ["r/all.xml", "TEST-TestSuite.xml"] {
        project.write(place, &whole);
        let value = json(&project, &["r", place]).1;
        let health = &value["health"];
        assert_eq!(
            (&health["tests"], &health["failed"]),
            (&4.into(), &2.into())
        );
    }
    // Other parts are no part of it.
    project.write("s/TEST-p.A.xml", report(&part("p.A")));
    project.write("s/TEST-p.C.xml", report(&part("p.C")));
    project.write("s/all.xml", &whole);
    let value = json(&project, &["s"]).1;
    assert_eq!(value["health"]["tests"], 8);
}
