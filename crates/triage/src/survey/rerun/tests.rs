use super::framework::target;
use super::plan::Hint;
use super::target::Target;
use crate::frameworks::example::RerunExample;
use crate::frameworks::spec::Framework;
use crate::frameworks::{EXAMPLES, FRAMEWORKS, called, told_by};
use jelly_base::model::{FailureStatus, Failures, TriagedFailure};
use jelly_base::text::is_sayable;
use proptest::prelude::*;
use std::process::Command;

fn target_of(
    dialect: &str,
    [report, suite, class, name, file, place]: [&str; 6],
    failure: &str,
) -> Option<Target> {
    let mut failures = Failures::default();
    failures.push(TriagedFailure {
        report: report.into(),
        suite: suite.into(),
        classname: class.into(),
        name: name.into(),
        file: (!file.is_empty()).then(|| file.into()),
        line: None,
        status: FailureStatus::Failure,
        message: None,
        pre_existing: None,
        diagnosis: serde_json::from_value(serde_json::json!({
            "side": "test", "ambiguous": false, "root_cause": "x", "rule": "x/y",
            "fingerprint": "", "test_fingerprint": "",
            "advice": {"what": "", "why": "", "fix": []}
        }))
        .unwrap(),
        history: None,
    });
    let hint = Hint {
        file: (!place.is_empty()).then(|| place.into()),
        told: told_by(dialect, failure),
        ..Hint::default()
    };
    target(dialect, &failures.get(0).unwrap(), &hint)
}

#[test]
fn every_framework_selects_a_test_as_its_file_shows() {
    for (framework, examples) in EXAMPLES.0 {
        let writer = called(framework).and_then(writer_of);
        for RerunExample {
            test: case,
            run,
            also,
        } in *examples
        {
            let failure = case.failure;
            let case = [
                case.report,
                case.suite,
                case.class,
                case.name,
                case.file,
                case.place,
            ];
            let target = target_of(writer.unwrap(), case, failure);
            let line = target
                .as_ref()
                .map(|target| target.recipe.lines(&target.names).join("\n"));
            assert_eq!(line.unwrap_or_default(), *run, "{framework} {case:?}");
            let more = target.and_then(|target| target.also);
            assert_eq!(more.unwrap_or_default(), *also, "{framework} {case:?}");
        }
    }
}

#[test]
fn a_framework_without_a_way_to_select_has_no_command() {
    assert_eq!(
        target_of("newman", ["", "", "", "status 200", "", ""], ""),
        None
    );
}

/// One that every framework has, but what several share.
fn writer_of(framework: &Framework) -> Option<&'static str> {
    framework
        .writers
        .iter()
        .chain(framework.exactly)
        .copied()
        .next()
}

/// The words that a real shell hands to the program.
fn read_back(line: &str) -> Vec<String> {
    let script = format!("TEST_BINARY=program; printf '%s\\0' {line}");
    let output = Command::new("sh").args(["-c", &script]).output().unwrap();
    assert!(output.status.success(), "{script}");
    let text = String::from_utf8(output.stdout).unwrap();
    text.split_terminator('\0').map(str::to_owned).collect()
}

#[track_caller]
fn comes_back(dialect: &str, told: [&str; 6]) {
    let Some(target) = target_of(dialect, told, "")
        .filter(|target| target.names.iter().all(|name| is_sayable(name)))
    else {
        return;
    };
    let names = target.names.clone();
    let mut meant = target.recipe.words(&names);
    if target.recipe.raw.is_some() {
        meant.insert(0, "program".to_owned());
    }
    let [line] = target.recipe.lines(&names).try_into().unwrap();
    assert_eq!(read_back(&line), meant, "{dialect} {told:?}");
}

#[test]
fn no_framework_s_command_runs_what_a_name_says() {
    for hostile in [
        "$(touch /nowhere/x)",
        "`id`; echo 'a' \"b\" $HOME",
        "shop.Cart$Inner",
        "it's [1] {a, b} | c & d > e",
        "-rf ~ #x !! *",
    ] {
        for dialect in FRAMEWORKS.iter().filter_map(writer_of) {
            let report = format!("a/target/surefire-reports/{hostile}.xml");
            for class in [hostile, "shop.CartTest", "a.bats", "spec.cart_spec"] {
                comes_back(dialect, [&report, hostile, class, hostile, hostile, ""]);
                comes_back(
                    dialect,
                    [
                        &report,
                        hostile,
                        class,
                        &format!("Test{hostile}"),
                        "",
                        "a.bats",
                    ],
                );
            }
        }
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]
    #[test]
    fn every_framework_s_command_says_what_is_meant(
        dialect in prop::sample::select(FRAMEWORKS.iter().filter_map(writer_of).collect::<Vec<_>>()),
        told in [r"[^\x00]{0,12}", r"[^\x00]{0,24}", r"[$.A-Za-z]{1,12}", r"[^\x00\n]{1,24}", "[^\x00]{0,12}", "[^\x00]{0,12}"],
    ) {
        let [report, suite, class, name, file, place] = &told;
        comes_back(dialect, [report, suite, class, name, file, place]);
    }
}
