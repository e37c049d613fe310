//! Each format, as a whole where people read it.

use super::{CODE, PASS, REFUSED, fixture, json, report, triage};
use crate::support::{Call, Project};
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;
use std::fs;
use std::process::Command;

fn shop() -> Project {
    let project = Project::empty();
    fs::copy(
        fixture("pytest-database-down.xml"),
        project.dir().join("junit.xml"),
    )
    .unwrap();
    project
}

#[test]
fn what_people_read_begins_with_the_cause() {
    let project = shop();
    let summary =
        "7 of 8 failures have one cause: the database at localhost:5432 refused connections.";
    for (format, head) in [
        ("human", "FAIL  "),
        ("md", "# Triage: "),
        ("table", "| Test"),
    ] {
        let ended = triage(&project, &["junit.xml", "-f", format]);
        assert_eq!(ended.code, Some(1));
        assert!(ended.stdout.starts_with(head), "{}", ended.stdout);
        assert!(
            format == "table" || ended.stdout.contains(summary),
            "{}",
            ended.stdout
        );
    }
}

#[test]
fn json_holds_the_contract() {
    let project = shop();
    let (code, value) = json(&project, &["junit.xml"]);
    assert_eq!(value["exit_code"], code.unwrap());
    for field in [
        "schema_version",
        "exit_code",
        "reports",
        "failures",
        "clusters",
        "retry",
        "infrastructure_issues",
        "recommendations",
    ] {
        assert!(!value[field].is_null(), "{field}");
    }
    let report = &value["reports"][0];
    assert_eq!(
        (
            &report["tests"],
            &report["passed"],
            &report["failed"],
            &report["errors"],
            &report["skipped"]
        ),
        (&10.into(), &1.into(), &6.into(), &2.into(), &1.into())
    );
    let failure = &value["failures"][0];
    assert_eq!(failure["status"], "failure");
    assert_eq!(failure["diagnosis"]["root_cause"], "connection_refused");
    assert_eq!(value["retry"]["tests"].as_array().unwrap().len(), 7);
}

#[test]
fn less_than_the_whole() {
    let project = shop();
    let ended = triage(&project, &["junit.xml", "--mode", "failures", "-f", "json"]);
    let list: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(list.as_array().unwrap().len(), 8);
    let keys: Vec<&String> = list[0].as_object().unwrap().keys().collect();
    assert_eq!(keys, ["id", "title", "message"]);
    let paths = triage(&project, &["junit.xml", "--mode", "locate"]);
    assert_eq!(paths.stdout, "junit.xml\n");
    for (mode, format) in [("failures", "md"), ("locate", "ctrf")] {
        let args = ["junit.xml", "--mode", mode, "--format", format];
        let ended = triage(&project, &args);
        let wanted = format!("error: --mode {mode} can't be printed as {format}\n");
        assert_eq!((ended.code, ended.stdout.as_str()), (Some(2), ""));
        assert!(ended.stderr.starts_with(&wanted), "{}", ended.stderr);
    }
}

#[test]
fn lists_that_are_empty_are_lists() {
    let project = Project::empty();
    project.write("a.xml", report(PASS));
    let (_, value) = json(&project, &["a.xml"]);
    let retry = &value["retry"];
    for list in [
        &value["fixed"],
        &retry["tests"],
        &retry["commands"],
        &retry["without_command"],
        &retry["notes"],
    ] {
        assert_eq!(list, &serde_json::json!([]));
    }
}

#[test]
fn ctrf_holds_all_cases() {
    let project = shop();
    let ended = triage(&project, &["junit.xml", "-f", "ctrf"]);
    let value: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(value["reportFormat"], "CTRF");
    let results = &value["results"];
    assert_eq!(results["summary"]["tests"], 10);
    let tests = results["tests"].as_array().unwrap();
    let count = |status: &str| tests.iter().filter(|test| test["status"] == status).count();
    assert_eq!(
        (count("passed"), count("failed"), count("skipped")),
        (1, 8, 1)
    );
    let stored = |test: &&Value| test["name"] == "test_order_is_stored[de]";
    let stored = tests.iter().find(stored).unwrap();
    assert_eq!(stored["extra"]["jelly"]["root_cause"], "connection_refused");
}

/// What a JUnit document counts, element by element.
fn elements(xml: &str) -> (usize, usize, usize, usize) {
    let mut reader = Reader::from_str(xml);
    let mut counts = (0, 0, 0, 0);
    loop {
        match reader.read_event().unwrap() {
            Event::Start(e) | Event::Empty(e) => match e.name().as_ref() {
                "testcase" => counts.0 += 1,
                "failure" => counts.1 += 1,
                "error" => counts.2 += 1,
                "skipped" => counts.3 += 1,
                _ => {}
            },
            Event::Eof => return counts,
            _ => {}
        }
    }
}

#[test]
fn junit_comes_out_as_it_went_in_and_says_more() {
    let project = shop();
    let out = triage(
        &project,
        &["junit.xml", "-f", "junit", "-o", "out/annotated.xml"],
    );
    assert_eq!((out.code, out.stdout.as_str()), (Some(1), ""));
    let xml = fs::read_to_string(project.dir().join("out/annotated.xml")).unwrap();
    assert_eq!(elements(&xml), (10, 6, 2, 1));
    assert!(xml.contains(r#"<property name="jelly.root_cause" value="connection_refused"/>"#));
    let again = json(&project, &["out/annotated.xml"]).1;
    let before = json(&project, &["junit.xml"]).1;
    for field in ["tests", "passed", "failed", "errors", "skipped"] {
        assert_eq!(
            again["reports"][0][field], before["reports"][0][field],
            "{field}"
        );
    }
}

#[test]
fn a_report_from_stdin_can_be_written_whole() {
    let project = shop();
    let out = Command::new("sh")
        .arg("-c")
        .arg(format!(
            "'{}' triage - -f junit < junit.xml",
            env!("CARGO_BIN_EXE_jelly")
        ))
        .current_dir(project.dir())
        .output()
        .unwrap();
    assert_eq!(
        elements(&String::from_utf8(out.stdout).unwrap()),
        (10, 6, 2, 1)
    );
}

#[test]
fn what_is_to_be_run_again_is_ready_for_a_shell() {
    let project = shop();
    let commands = triage(&project, &["junit.xml", "--emit", "retry-commands"]).stdout;
    insta::assert_snapshot!("retry_commands", commands);
    // The shell sees the words that pytest needs.
    let words = Command::new("sh")
        .arg("-c")
        .arg(commands.replacen("pytest", "printf '%s\\n'", 1))
        .output()
        .unwrap();
    let list = triage(&project, &["junit.xml", "--emit", "retry-list"]).stdout;
    assert_eq!(String::from_utf8(words.stdout).unwrap(), list);
    assert_eq!(list.lines().count(), 7);
}

#[test]
fn each_framework_has_its_own_words() {
    let project = Project::empty();
    let commands: Vec<String> = ["vitest.xml", "jest.xml", "mocha.xml", "nextest.xml"]
        .iter()
        .map(|name| {
            let path = fixture(name);
            triage(
                &project,
                &[path.to_str().unwrap(), "--emit", "retry-commands"],
            )
            .stdout
        })
        .collect();
    insta::assert_snapshot!("retry_commands_of_frameworks", commands.concat());
}

#[test]
fn tests_of_packages_are_run_again_in_their_packages() {
    let project = Project::empty();
    for package in ["a", "b"] {
        let folder = format!("packages/{package}");
        fs::create_dir_all(project.path(&format!("{folder}/tests"))).unwrap();
        project.write(&format!("{folder}/tests/test_app.py"), "");
        let cases = ["y", package].map(|name| {
            format!(
                "<testcase classname=\"tests.test_app\" name=\"test_{name}\"><failure \
                 message=\"connect ECONNREFUSED db:5432\"/></testcase>"
            )
        });
        let suite = format!("<testsuite name=\"pytest\">{}</testsuite>", cases.concat());
        project.write(&format!("{folder}/junit.xml"), suite);
    }
    let told = triage(&project, &["packages", "--emit", "retry-commands"]);
    assert_eq!(
        told.stdout,
        "(cd packages/a && pytest tests/test_app.py::test_a tests/test_app.py::test_y)\n\
         (cd packages/b && pytest tests/test_app.py::test_b tests/test_app.py::test_y)\n"
    );
    let told = triage(&project, &["packages"]).stdout;
    assert!(
        told.contains("RERUN  4 tests may pass on a rerun"),
        "{told}"
    );
}

#[test]
fn nothing_to_run_again_is_no_line() {
    let project = Project::empty();
    project.write("a.xml", report(&format!("{PASS}{CODE}")));
    let ended = triage(&project, &["a.xml", "--emit", "retry-commands"]);
    assert_eq!((ended.code, ended.stdout.as_str()), (Some(1), ""));
}

#[test]
fn on_github_the_annotations_and_the_summary_come_by_themselves() {
    let project = Project::empty();
    project.write("a.xml", report(&format!("{PASS}{REFUSED}")));
    let summary = project.dir().join("summary.md");
    let call = |args: &[&str]| {
        Call::new(&project)
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_STEP_SUMMARY", &summary)
            .args(args)
            .output()
    };
    let ended = call(&["triage", "a.xml"]);
    assert!(
        ended.stdout.contains("\n::error title="),
        "{}",
        ended.stdout
    );
    assert!(
        fs::read_to_string(&summary)
            .unwrap()
            .starts_with("# Triage: ")
    );
    let machine = call(&["triage", "a.xml", "-f", "json"]);
    assert!(serde_json::from_str::<Value>(&machine.stdout).is_ok());
}

#[test]
fn a_report_can_give_no_command_to_a_ci() {
    let project = Project::empty();
    project.write(
        "a.xml",
        report("<testcase name=\"::set-env name=A::b\"><failure message=\"::error::x&#10;##[command]rm\">##vso[x]\n::warning::y</failure></testcase>"),
    );
    let ended = triage(&project, &["a.xml"]);
    let obeyed = |line: &str| line.trim_start().starts_with("::") || line.contains("##[");
    assert!(!ended.stdout.lines().any(obeyed), "{}", ended.stdout);
}

#[test]
fn with_several_reports_each_output_says_which_one_a_failure_is_of() {
    let project = Project::empty();
    for (leg, cases) in [
        ("ubuntu-3.12", CODE.to_owned()),
        ("macos-3.13", format!("{PASS}{CODE}")),
    ] {
        project.write(&format!("out/{leg}/junit.xml"), report(&cases));
    }
    for args in [
        &["-f", "human"][..],
        &["-f", "md"],
        &["-f", "table"],
        &["-f", "github"],
        &["--mode", "failures"],
        &["--mode", "failures", "-f", "json"],
    ] {
        let ended = triage(&project, &[&["out"], args].concat());
        for leg in ["[ubuntu-3.12]", "[macos-3.13]"] {
            assert!(
                ended.stdout.contains(leg),
                "{args:?}: {}\n{}",
                ended.stdout,
                ended.stderr
            );
        }
    }
    // One report needs no name.
    let ended = triage(&project, &["out/ubuntu-3.12/junit.xml"]);
    assert!(!ended.stdout.contains("[ubuntu"), "{}", ended.stdout);
}

#[test]
fn an_annotation_takes_the_failing_line_out_of_the_stack_where_the_report_names_no_file() {
    let project = Project::empty();
    for file in ["src/main/java/com/acme/Cart.java", "lib/cart.rb"] {
        project.write(file, "");
    }
    let case = |name: &str, class: &str, text: &str| {
        format!(
            "<testcase name=\"{name}\" classname=\"{class}\"><failure>{text}</failure></testcase>"
        )
    };
    for (case, wanted) in [
        (
            case(
                "totals",
                "com.acme.CartTest",
                "java.lang.NullPointerException: x\n\tat java.base/java.util.Objects.requireNonNull(Objects.java:208)\n\tat com.acme.Cart.total(Cart.java:31)\n\tat com.acme.CartTest.totals(CartTest.java:12)\n\tat java.base/java.lang.reflect.Method.invoke(Method.java:580)",
            ),
            "::error file=src/main/java/com/acme/Cart.java,line=31,title=",
        ),
        (
            case(
                "totals",
                "spec.cart",
                "NoMethodError: undefined method 'price' for nil\n./spec/cart_spec.rb:3:in 'block'\n./lib/cart.rb:12:in 'total'",
            ),
            "::error file=spec/cart_spec.rb,line=3,title=",
        ),
        // All of its stack is other people's.
        (
            case(
                "totals",
                "cart",
                "TypeError: x\n    at f (/srv/shop/node_modules/p/i.js:1:2)",
            ),
            "::error title=",
        ),
    ] {
        project.write("a.xml", report(&case));
        let ended = triage(&project, &["a.xml", "-f", "github"]);
        assert!(ended.stdout.starts_with(wanted), "{}", ended.stdout);
    }
}

#[test]
fn the_typed_outcomes_of_writers_are_read() {
    let project = Project::empty();
    let case = |inside: &str| format!("<testcase classname='cart' name='adds'>{inside}</testcase>");
    let meson = |inside: &str| {
        format!(
            "<testsuites tests='1' errors='0' failures='1'><testsuite name='shop:unit' tests='1' errors='0' failures='1' skipped='0' time='1' timestamp='now'>{}</testsuite></testsuites>",
            case(inside)
        )
    };
    let criterion = |inside: &str| {
        format!(
            "<testsuites name='Criterion Tests' tests='1' failures='0' errors='1' disabled='0'><testsuite name='cart'>{}</testsuite></testsuites>",
            case(inside)
        )
    };
    let plain = |inside: &str| format!("<testsuite name='x'>{}</testsuite>", case(inside));
    for (what, report, dialect, cause) in [
        (
            "meson, time",
            meson("<failure>Test did not finish before configured timeout.</failure>"),
            "meson",
            "test_timeout",
        ),
        (
            "criterion, time",
            criterion("<error type='timeout' message='The test timed out.' />"),
            "criterion",
            "test_timeout",
        ),
        (
            "criterion, crash",
            criterion("<error type='crash' message='The test crashed.' />"),
            "criterion",
            "process_crashed",
        ),
        (
            "kyua, time",
            plain("<error message='Test case body timed out'/>"),
            "junit",
            "test_timeout",
        ),
        (
            "kyua, crash",
            plain("<error message='Premature exit; test case received signal 11 (core dumped)'/>"),
            "junit",
            "process_crashed",
        ),
        (
            "kyua, what it knows of the test is no log",
            plain(
                "<failure message='2 of 5 tests failed'/><system-err>Test case metadata\n------------------\n\ntimeout = 300\n\nOriginal stderr\n---------------\n\n&lt;EMPTY&gt;\n</system-err>",
            ),
            "junit",
            "unknown",
        ),
        (
            "lit, time",
            plain("<failure>Exit Code: -9\nTimeout: Reached timeout of 60 seconds\n</failure>"),
            "junit",
            "test_timeout",
        ),
        (
            "avocado, time",
            format!(
                "<testsuite name='job-2026-01-01T10.00-ab12cd3'>{}</testsuite>",
                case("<error type='TestTimeoutInterrupted' message='Timeout reached'/>")
            ),
            "avocado",
            "test_timeout",
        ),
        (
            "cmocka",
            plain("<failure>Test failed with exception: Segmentation fault(11)</failure>"),
            "junit",
            "process_crashed",
        ),
        (
            "Java's client",
            plain(
                "<error type='java.io.IOException' message='Server returned HTTP response code: 503 for URL: https://repo.acme.test/a'/>",
            ),
            "junit",
            "upstream_error",
        ),
    ] {
        project.write("a.xml", report);
        let ended = triage(&project, &["a.xml", "-f", "json"]);
        let told: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(told["reports"][0]["dialect"], dialect, "{what}");
        assert_eq!(
            told["failures"][0]["diagnosis"]["root_cause"], cause,
            "{what}"
        );
    }
}

/// As Go 1.19 writes it: the compiler's own words go to the other stream.
#[test]
fn a_package_of_go_that_was_not_built_does_not_compile() {
    let project = Project::empty();
    let event = |action: &str| {
        format!("{{\"Action\":\"{action}\",\"Package\":\"acme/a\",\"Test\":\"TestA\"}}\n")
    };
    let end = "{\"Action\":\"pass\",\"Package\":\"acme/a\"}\n";
    for why in ["[build failed]", "[setup failed]"] {
        let events = event("run") + &event("pass") + end;
        project.write("a.json", format!("{events}FAIL\tacme/b {why}\n"));
        let ended = triage(&project, &["a.json", "-f", "json"]);
        let told: Value = serde_json::from_str(&ended.stdout).unwrap();
        let cause = &told["failures"][0]["diagnosis"]["root_cause"];
        assert_eq!(cause, "compile_error", "{why}");
    }
}

#[test]
fn an_error_of_a_suite_that_jest_wrote_twice_counts_once() {
    let project = Project::empty();
    let error = |what: &str| {
        format!(
            "<testcase classname='Test suite failed to run' name='a.test.js'><error>{what}</error></testcase>"
        )
    };
    let report = |cases: &str| {
        format!(
            "<testsuites name='jest tests'><testsuite name='a'>{cases}</testsuite></testsuites>"
        )
    };
    let failure = |what: &str| error(what).replace("error>", "failure>");
    for (cases, errors) in [
        (error("x") + &error("x"), 1),
        (error("x") + &error("y"), 2),
        // jest-junit 17 writes Jest's own record of it below what Jest prints.
        (error("x") + &failure("{\"code\":\"MODULE_NOT_FOUND\"}"), 1),
        (
            error("x") + &failure("y").replace("a.test.js", "b.test.js"),
            2,
        ),
        (failure("x") + &failure("y"), 2),
    ] {
        project.write("a.xml", report(&cases));
        let ended = triage(&project, &["a.xml", "-f", "json"]);
        let told: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(told["health"]["failed"], errors, "{cases}");
    }
}

#[test]
fn advice_names_the_package_manager_of_the_project() {
    let cases = "<testcase classname='a' name='b'><failure>Cannot find module 'zod' from 'src/a.test.js'</failure></testcase>";
    for (json, wanted) in [
        (r#"{"packageManager": "pnpm@9.1.0"}"#, "$ pnpm install"),
        (r#"{"name": "a"}"#, "$ npm install"),
    ] {
        let project = Project::empty();
        project.write("package.json", json);
        project.write("a.xml", report(cases));
        let ended = triage(&project, &["a.xml", "-f", "json"]);
        assert!(ended.stdout.contains(wanted), "{}", ended.stdout);

        // The same of a server's own words.
        project.script(
            "serve.sh",
            "#!/bin/sh\necho \"Error: Cannot find module 'zod'\" >&2\nexit 1\n",
        );
        project.write(
            "plan.yaml",
            "version: 1\nservers: { s: { command: ./serve.sh } }\nsteps: [ { id: a, server: s, list: tools } ]\n",
        );
        let run = project.run(&[]);
        let advice = run.last().failures()[0]["diagnosis"]["advice"]["fix"].to_string();
        assert!(advice.contains(wanted), "{advice}");
    }
}

#[test]
fn each_failure_of_a_cause_has_the_line_of_its_own_stack() {
    let project = Project::empty();
    let case = |line: u32| {
        format!(
            "<testcase classname=\"tests.test_cart\" name=\"test_{line}\"><failure message=\"assert 4 == 5\" \
             type=\"AssertionError\">Traceback (most recent call last):\n  File \"/home/r/proj/tests/test_cart.py\", \
             line {line}, in test_{line}\n    assert total == 5\nAssertionError: assert 4 == 5\n</failure></testcase>"
        )
    };
    let cases: String = [10, 20, 30].map(case).concat();
    let all = format!("<testsuites><testsuite name=\"pytest\">{cases}</testsuite></testsuites>");
    project.write("junit.xml", all);
    triage(&project, &["junit.xml", "--report", "sarif=out.sarif"]);
    let told: Value = serde_json::from_str(&project.read("out.sarif")).unwrap();
    let results = told["runs"][0]["results"].as_array().unwrap();
    let lines = results.iter().map(|result| {
        let place = &result["locations"][0]["physicalLocation"];
        place["region"]["startLine"].as_u64()
    });
    let lines: Vec<_> = lines.collect();
    assert_eq!(lines, [Some(10), Some(20), Some(30)], "{told:#}");
}
