//! Whole reports whose failures are known to have so many reasons: are these
//! the causes that are told?

use crate::support::Project;
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::Path;

/// The reports; beside each stands, by class and name, which reason a failure has.
const REPORTS: [&str; 23] = [
    "gotestsum",
    "unittest",
    "robot",
    "vitest",
    "mocha-hosts",
    "go-callers",
    "pytest",
    "surefire",
    "playwright",
    "go",
    "rspec",
    "xunit",
    "phpunit",
    "mocha",
    "rspec-library",
    "phpunit-stable",
    "go-bogs",
    "vitest-shop",
    "pytest-routes",
    "unittest-cameras",
    "nextest-buoys",
    "jest-post",
    "mocha-gates",
];

#[test]
fn the_causes_of_whole_reports_are_their_reasons() {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/partitions");
    for report in REPORTS {
        let reasons: BTreeMap<String, String> = serde_json::from_str(
            &fs::read_to_string(folder.join(format!("{report}.json"))).unwrap(),
        )
        .unwrap();
        let project = Project::empty();
        project.write(
            "report.xml",
            fs::read_to_string(folder.join(format!("{report}.xml"))).unwrap(),
        );
        let ended = super::triage(&project, &["report.xml", "-f", "json"]);
        let told: Value = serde_json::from_str(&ended.stdout).unwrap();
        let name = |at: &Value| {
            let failure = &told["failures"][at.as_u64().unwrap() as usize];
            let part = |key: &str| failure[key].as_str().unwrap().to_owned();
            format!("{} {}", part("classname"), part("name"))
                .trim()
                .to_owned()
        };
        let mut causes: Vec<Vec<String>> = told["clusters"]
            .as_array()
            .unwrap()
            .iter()
            .map(|cluster| {
                let victims = cluster["victims"].as_array().unwrap();
                let mut names: Vec<String> = victims.iter().map(name).collect();
                names.sort();
                names
            })
            .collect();
        causes.sort();
        let mut known: BTreeMap<&str, Vec<String>> = BTreeMap::new();
        for (test, reason) in &reasons {
            known
                .entry(reason)
                .or_default()
                .push(test.trim().to_owned());
        }
        let mut known: Vec<Vec<String>> = known.into_values().collect();
        known.sort();
        assert_eq!(causes, known, "{report}");
    }
}
