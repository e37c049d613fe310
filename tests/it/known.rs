//! The list of known failures: what it covers, what it never does, and when it
//! is out of date.

use crate::support::{Ended, Project, Run};
use serde_json::Value;

/// Three steps of a server: one that passes, one with a wrong answer, and one
/// that is what `third` says.
fn project(third: &str) -> Project {
    Project::with(&format!(
        "version: 1\nname: shop\nservers: {{ m: {{ command: jelly, args: [mock, --tool, 'say=hello'] }} }}\n\
         steps:\n  - {{ id: good, server: m, tool: say, expect: {{ text: {{ equals: hello }} }} }}\n  \
         - {{ id: bad, server: m, tool: say, expect: {{ text: {{ equals: bye }} }} }}\n{third}"
    ))
}

fn list(entries: &str) -> String {
    format!("version: 1\nknown:\n{entries}")
}

const BAD: &str = "  - { test: shop > m > bad, reason: issue 412, owner: ann }\n";

/// A run with this list.
fn run_with(project: &Project, entries: &str, more: &[&str]) -> Run {
    project.write("known-failures.yaml", list(entries));
    project.run(more)
}

fn print_of(project: &Project, step: &str, which: &str) -> String {
    project.write("none.yaml", "version: 1\n");
    let run = project.run(&["--no-confirm", "--known", "none.yaml"]);
    let print = run.last().failure(step)["diagnosis"][which].as_str();
    print.unwrap().to_owned()
}

#[test]
fn a_known_failure_is_counted_and_does_not_turn_the_run_red() {
    let project = project("");
    let run = run_with(&project, BAD, &[]);
    run.ends(0, "passed_with_known");
    // It asks for nothing, not even a second look.
    assert_eq!(run.actions(), ["stop"]);
    assert_eq!(run.last().total("failed"), 1);
    let known = &run.results["known"][0];
    assert_eq!(known["test"], "shop > m > bad");
    assert_eq!(known["entry"]["reason"], "issue 412");
    assert_eq!(known["entry"]["at"], "known-failures.yaml:3:5");
    assert_eq!(
        known["fingerprint"], known["diagnosis"]["fingerprint"],
        "{known}"
    );
    assert!(
        run.junit.contains("known failure: issue 412") && run.junit.contains("jelly.known"),
        "{}",
        run.junit
    );
    assert!(run.junit.contains(r#"failures="0""#), "{}", run.junit);
    assert!(run.stdout.contains("issue 412"), "{}", run.stdout);
    assert!(run.markdown.contains("issue 412"), "{}", run.markdown);

    let sarif = project.call(&["--report", "jsonl=out.jsonl"]).output();
    assert_eq!(sarif.code, Some(0));
    run_with(&project, BAD, &["--strict"]).ends(4, "passed_with_known");

    // The step after it runs all the same.
    let last = "  - { id: last, server: m, tool: say, expect: { text: { equals: hello } } }\n";
    let plan = project.read("plan.yaml");
    project.write("plan.yaml", format!("{plan}{last}"));
    let fast = run_with(&project, BAD, &["--fail-fast"]);
    fast.ends(0, "passed_with_known");
    assert_eq!(fast.last().state("last"), "passed");
    project.write("plan.yaml", plan);

    // Of the whole call's, too.
    project.write(
        "other.yaml",
        project.read("plan.yaml").replace("shop", "other"),
    );
    let both = ["run", "plan.yaml", "other.yaml", "--format", "json"];
    let ended = project.jelly(&both).output();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let results: Value = serde_json::from_str(&ended.stdout).unwrap();
    assert_eq!(results["plans"][0]["verdict"], "passed_with_known");
    assert_eq!(results["plans"][1]["verdict"], "code_failure");
}

const REFUSED: &str =
    "  - { id: up, tool: fail, args: { message: connect ECONNREFUSED 127.0.0.1:5432 } }\n";

#[test]
fn a_known_failure_beside_another_is_no_problem_and_is_marked_where_it_is_listed() {
    let project = project(REFUSED);
    let run = run_with(&project, BAD, &["--retries", "1"]);
    run.ends(3, "needs_user_help");
    let last = run.last();
    let reason = last.0["action"]["reason"].as_str().unwrap();
    assert!(
        reason.starts_with("test-side: step up (connection_refused);"),
        "{reason}"
    );
    let help = &run.results["help_summary"];
    assert_eq!(help["title"], "shop needs your help with 1 problem");
    assert_eq!(help["problems"].as_array().unwrap().len(), 1, "{help}");
    assert_eq!(help["problems"][0]["step"], "up");
    for told in [
        "3 steps: 1 passed, 2 failed (1 known)",
        "m/bad: assertion_mismatch (code-side, ASSERTION, known)",
        "m/up: connection_refused (test-side, INFRASTRUCTURE)",
    ] {
        assert!(run.stdout.contains(told), "{told}: {}", run.stdout);
    }
    assert!(
        run.markdown.contains("2 failed (1 known)"),
        "{}",
        run.markdown
    );

    let agent = project.call(&["--retries", "0", "--format", "agent"]);
    let agent: Value = serde_json::from_str(&agent.output().stdout).unwrap();
    let failures = &agent["plans"][0]["failures"];
    assert_eq!(failures[0]["places"][0], "m/up", "{failures}");
    assert_eq!(failures[0]["known"], Value::Null);
    assert_eq!(failures[1]["places"][0], "m/bad", "{failures}");
    assert_eq!(failures[1]["known"], "issue 412");

    let call = project
        .call(&["--retries", "0"])
        .env("GITHUB_ACTIONS", "true");
    let told = call.output().stdout;
    let count = |command: &str| told.lines().filter(|l| l.starts_with(command)).count();
    assert_eq!(count("::error "), 1, "{told}");
    assert!(
        told.contains("::warning ") && told.contains("title=m/bad%3A assertion_mismatch (known)"),
        "{told}"
    );
}

#[test]
fn a_known_failure_is_no_error_of_a_run_that_passed_with_it() {
    let project = project("");
    project.write("known-failures.yaml", list(BAD));
    let ended = project.call(&[]).env("GITHUB_ACTIONS", "true").output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(!ended.stdout.contains("::error"), "{}", ended.stdout);
    assert!(ended.stdout.contains("::warning"), "{}", ended.stdout);
}

#[test]
fn of_the_failures_of_one_step_the_one_that_is_not_known_decides() {
    let project = Project::with(
        "version: 1\nname: shop\nservers: { m: { command: jelly, args: [mock, --tool, 'say=hello'] } }\n\
         steps:\n  - { id: bad, server: m, tool: say, expect: { text: { equals: bye, length: 7 } } }\n",
    );
    project.write("none.yaml", "version: 1\n");
    let run = project.run(&["--known", "none.yaml"]);
    run.ends(1, "code_failure");
    let failures = run.last().failures();
    let print = failures[0]["diagnosis"]["test_fingerprint"].as_str();
    let entry = format!(
        "  - {{ test: shop > m > bad, test_fingerprint: '{}', reason: r }}\n",
        print.unwrap()
    );
    let run = run_with(&project, &entry, &[]);
    run.ends(1, "code_failure");
    let help = &run.results["help_summary"];
    assert_eq!(help["problems"].as_array().unwrap().len(), 1, "{help}");
    let title = help["title"].as_str().unwrap();
    assert!(title.starts_with("shop failed: 1 problem;"), "{title}");
    let evidence = help["problems"][0]["evidence"].as_str().unwrap();
    assert!(evidence.contains("length"), "{evidence}");
    assert!(!evidence.contains("bye"), "{evidence}");
}

#[test]
fn a_test_alone_covers_wrong_answers_and_a_fingerprint_whatever_it_names() {
    // A tool that ends its server.
    let project = project("  - { id: dies, server: m, tool: crash }\n");
    let test = "  - { test: shop > m > dies, reason: r }\n";
    let entries = format!("{BAD}{test}");
    let run = run_with(&project, &entries, &[]);
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    let known = run.results["known"].as_array().unwrap();
    assert_eq!(known.len(), 1, "{known:#?}");

    let print = print_of(&project, "dies", "test_fingerprint");
    let named =
        format!("  - {{ test: shop > m > dies, test_fingerprint: '{print}', reason: r }}\n");
    let run = run_with(&project, &format!("{BAD}{named}"), &[]);
    run.ends(0, "passed_with_known");

    // The cause, in whatever test.
    let cause = print_of(&project, "bad", "fingerprint");
    let any = format!("  - {{ fingerprint: '{cause}', any_test: true, reason: r }}\n");
    run_with(&project, &format!("{any}{named}"), &[]).ends(0, "passed_with_known");
    // Another fingerprint of the same test is another failure.
    let other =
        "  - { test: shop > m > bad, test_fingerprint: 'j2:0000000000000000', reason: r }\n";
    assert_eq!(
        run_with(&project, &format!("{other}{named}"), &["--no-confirm"]).code,
        Some(3)
    );
}

#[test]
fn what_could_not_run_is_never_known() {
    let project = project("  - { id: after, server: m, tool: say, needs: [bad] }\n");
    if project.run(&[]).code == Some(2) {
        // A plan of this version can't say so; a capture does.
        project.write(
            "plan.yaml",
            project
                .read("plan.yaml")
                .replace(
                    "equals: bye } }",
                    "equals: bye } }, capture: { word: \"$.content[0].text\" }",
                )
                .replace(
                    "tool: say, needs: [bad]",
                    "tool: say, args: { text: \"${word}\" }",
                ),
        );
    }
    let run = run_with(&project, BAD, &["--no-confirm"]);
    assert_eq!(run.last().state("after"), "skipped", "{}", run.stdout);
    assert_eq!(run.code, Some(3), "{}", run.stdout);
    let problems = run.results["help_summary"]["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "{problems:#?}");
    assert_eq!(problems[0]["step"], "after");
    assert_eq!(problems[0]["root_cause"], "not_run_to_end");
    let what = &problems[0]["what"];
    assert_eq!(what, "A known failure kept 1 step from running: after");

    let dead = Project::with(
        "version: 1\nname: p\nservers: { m: { command: nobody-has-this-command } }\nsteps:\n  - { id: a, server: m, list: tools }\n",
    );
    let print = print_of(&dead, "m", "test_fingerprint");
    let entry = format!(
        "  - {{ test: 'p > m > (start)', test_fingerprint: '{print}', reason: r }}\n  - {{ test: p > m > a, reason: r }}\n"
    );
    let run = run_with(&dead, &entry, &[]);
    run.ends(3, "needs_user_help");
}

#[test]
fn a_list_that_is_out_of_date_is_told() {
    let project = project("");
    let passing = "  - { test: shop > m > good, reason: r }\n";
    let run = run_with(&project, &format!("{BAD}{passing}"), &[]);
    run.ends(3, "needs_user_help");
    assert_eq!(run.results["known_stale"][0]["because"], "passed");
    assert!(
        run.stderr.contains("known-failures.yaml:4:5") && run.stderr.contains("its test passed"),
        "{}",
        run.stderr
    );
    assert!(run.junit.contains("<error"), "{}", run.junit);
    // Exempt, or judged by a whole run only.
    let flaky = passing.replace("reason: r", "reason: r, flaky: true");
    run_with(&project, &format!("{BAD}{flaky}"), &[]).ends(0, "passed_with_known");
    let part = run_with(
        &project,
        &format!("{BAD}{passing}"),
        &["--only", "step:good"],
    );
    part.ends(0, "passed");
    // Expired: it covers nothing, and is told.
    let expired = BAD.replace("owner: ann", "expires: 2020-02-29");
    let run = run_with(&project, &expired, &["--no-confirm"]);
    run.ends(3, "needs_user_help");
    assert_eq!(run.results["known"], Value::Null);
    assert_eq!(run.results["known_stale"][0]["because"], "expired");
    // A cause that nothing has any more: a run of all plans tells.
    let gone =
        format!("{BAD}  - {{ fingerprint: 'j2:00000000000000ff', any_test: true, reason: r }}\n");
    run_with(&project, &gone, &[]).ends(0, "passed_with_known");
    project.write("plans/plan.yaml", project.read("plan.yaml"));
    let ended = project.jelly(&["run"]).output();
    assert_eq!(ended.code, Some(3), "{}", ended.stdout);
    // The last lines say how it ends.
    assert!(ended.stdout.contains("exit code 3"), "{}", ended.stdout);
    assert!(!ended.stdout.contains("exit code 0"), "{}", ended.stdout);
    assert!(
        ended.stderr.contains("in the whole run"),
        "{}",
        ended.stderr
    );

    // The same, judged by merge.
    let shard = |args: &[&str]| {
        let args = [&["run", "--shard", "1/1"], args].concat();
        project.jelly(&args).output()
    };
    assert_eq!(shard(&[]).code, Some(0));
    let merged = project
        .jelly(&["merge", "reports", "--reports-dir", "merged"])
        .output();
    assert_eq!(merged.code, Some(3), "{}", merged.stdout);
    assert!(
        merged.stderr.contains("in the whole run"),
        "{}",
        merged.stderr
    );
}

#[test]
fn a_list_is_read_strictly() {
    let project = project("");
    for (text, told) in [
        (
            "version: 1\nknown:\n  - { test: a, reson: r }\n",
            "known-failures.yaml:3:16",
        ),
        (
            "version: 1\nknown:\n  - { fingerprint: 'j2:0000000000000001', reason: r }\n",
            "any_test: true",
        ),
        ("known: []\n", "version: 1"),
    ] {
        project.write("known-failures.yaml", text);
        let ended = project.call(&[]).output();
        assert_eq!(ended.code, Some(2), "{}", ended.stdout);
        assert!(ended.stderr.contains(told), "{told}: {}", ended.stderr);
    }
    let gone = project.call(&["--known", "gone.yaml"]).output();
    assert_eq!(gone.code, Some(2), "{}", gone.stderr);
}

const REPORT: &str = r#"<testsuite name="s"><testcase classname="C" name="t"><failure message="expected 1 got 2"/></testcase><testcase classname="C" name="ok"/></testsuite>"#;

#[test]
fn a_triage_names_what_is_known_and_ends_as_it_would() {
    let project = Project::empty();
    project.write("junit.xml", REPORT);
    project.write(
        "list.yaml",
        list("  - { test: s > C > t, reason: rounding }\n"),
    );
    let triage = |args: &[&str]| -> (Option<i32>, Value) {
        let args = [&["triage", "junit.xml", "--format", "json"], args].concat();
        let ended: Ended = project.jelly(&args).output();
        (ended.code, serde_json::from_str(&ended.stdout).unwrap())
    };
    let (code, before) = triage(&[]);
    let (same, after) = triage(&["--known", "list.yaml"]);
    assert_eq!(code, same);
    assert_eq!(before["known"], Value::Null);
    assert_eq!(after["known"][0]["test"], "s > C > t");
    assert_eq!(after["known"][0]["entry"]["reason"], "rounding");

    for format in ["human", "md", "table", "html", "sarif"] {
        let known = ["triage", "junit.xml", "--known", "list.yaml"];
        let told = match format {
            "human" | "md" | "table" => {
                let args = [&known[..], &["--format", format]].concat();
                project.jelly(&args).output().stdout
            }
            _ => {
                let report = format!("{format}=out.{format}");
                let args = [&known[..], &["--report", &report]].concat();
                assert_eq!(project.jelly(&args).output().code, code);
                project.read(&format!("out.{format}"))
            }
        };
        // Where reasons have no place, it is among what is no error.
        let wanted = match format {
            "sarif" => "\"note\"",
            _ => "rounding",
        };
        assert!(told.contains(wanted), "{format}: {told}");
    }
    for format in ["junit", "junit-strict"] {
        let report = format!("{format}=out.xml");
        let args = [
            "triage",
            "junit.xml",
            "--known",
            "list.yaml",
            "--report",
            &report,
        ];
        assert_eq!(project.jelly(&args).output().code, code);
        let xml = project.read("out.xml");
        assert!(
            xml.contains(r#"<skipped message="known failure: "#),
            "{xml}"
        );
        assert!(xml.contains(r#"skipped="1""#), "{xml}");
        // What is known of it goes with it.
        assert!(
            format != "junit" || xml.contains("jelly.root_cause"),
            "{xml}"
        );
    }
}

#[test]
fn triages_of_many_jobs_make_one() {
    let project = Project::empty();
    project.write("one/junit.xml", REPORT);
    project.write("two/junit.xml", REPORT.replace("\"t\"", "\"u\""));
    for job in ["one", "two"] {
        let report = format!("{job}/junit.xml");
        let ended = project
            .jelly(&[
                "triage",
                &report,
                "--format",
                "json",
                "-o",
                &format!("{job}.json"),
            ])
            .output();
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    }
    let whole = project
        .jelly(&[
            "triage",
            "one/junit.xml",
            "two/junit.xml",
            "--format",
            "json",
        ])
        .output();
    let merged = project
        .jelly(&["triage", "one.json", "two.json", "--format", "json"])
        .output();
    let whole_code = whole.code;
    assert_eq!(merged.code, whole_code, "{}", merged.stderr);
    let [whole, merged] =
        [&whole, &merged].map(|ended| serde_json::from_str::<Value>(&ended.stdout).unwrap());
    for part in ["verdict", "health", "clusters"] {
        assert_eq!(merged[part], whole[part], "{part}");
    }
    assert_eq!(merged["failures"].as_array().unwrap().len(), 2);
    assert_eq!(merged["reports"][0]["path"], "one.json: one/junit.xml");

    // What lies here itself is counted once, whatever else is known of it.
    for args in [
        &["one.json", "one/junit.xml", "two.json"][..],
        &["one.json", "two.json", "two/junit.xml"][..],
        &["one.json", "one/junit.xml", "two.json", "two/junit.xml"][..],
    ] {
        let args = [&["triage"], args, &["--format", "json"]].concat();
        let both = project.jelly(&args).output();
        assert_eq!(both.code, whole_code, "{args:?}: {}", both.stderr);
        let both: Value = serde_json::from_str(&both.stdout).unwrap();
        assert_eq!(both["health"], whole["health"], "{args:?}");
        assert_eq!(both["failures"].as_array().unwrap().len(), 2, "{args:?}");
    }

    // One that is cut is no smaller result.
    let cut = project.read("two.json");
    project.write("two.json", &cut[..cut.len() / 2]);
    let ended = project.jelly(&["triage", "one.json", "two.json"]).output();
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(
        ended.stdout.contains("ends in the middle"),
        "{}",
        ended.stdout
    );
    let all = ["triage", "one.json", "--report", "ctrf=out.json"];
    assert_eq!(project.jelly(&all).output().code, Some(2));
}

#[test]
fn a_failure_is_added_to_the_list_by_a_person_only() {
    let project = project("");
    project.run(&[]);
    let print = print_of(&project, "bad", "test_fingerprint");
    let add = |more: &[&str]| {
        let args = [
            &["known", "add", print.as_str(), "--reason", "issue: 412"],
            more,
        ]
        .concat();
        project.jelly(&args)
    };
    let in_ci = add(&[]).env("CI", "true").output();
    assert_eq!(in_ci.code, Some(2));
    assert!(!project.exists("known-failures.yaml"));

    let added = add(&["--owner", "ann", "--expires", "2999-12-31"]).output();
    assert_eq!(added.code, Some(0), "{}", added.stderr);
    let text = project.read("known-failures.yaml");
    assert!(text.contains("shop > m > bad"), "{text}");
    assert_eq!(add(&[]).output().code, Some(2), "it is there already");
    project.run(&[]).ends(0, "passed_with_known");

    // Behind what a person wrote, comments and all.
    project.write(
        "known-failures.yaml",
        "version: 1 # mine\nknown:\n  # why\n  - { test: shop > m > other, reason: r }\n",
    );
    let cause = print_of(&project, "bad", "fingerprint");
    let args = [
        "known",
        "add",
        cause.as_str(),
        "--reason",
        "r",
        "--any-test",
    ];
    let any = project.jelly(&args).output();
    assert_eq!(any.code, Some(0), "{}", any.stderr);
    let text = project.read("known-failures.yaml");
    assert!(
        text.starts_with("version: 1 # mine\nknown:\n  # why\n"),
        "{text}"
    );
    assert!(text.contains("any_test: true"), "{text}");
    project.run(&[]).ends(0, "passed_with_known");

    // One mismatch of two is not the whole step.
    project.write("known-failures.yaml", "version: 1\n");
    let plan = project.read("plan.yaml");
    let two = plan.replace("equals: bye", "equals: bye, length: 7");
    project.write("plan.yaml", two);
    project.run(&["--no-confirm"]);
    let first = add(&["--owner", "ann"]).output();
    assert_eq!(first.code, Some(0), "{}", first.stderr);
    let note = "note: shop > m > bad has another failure, which the list does not cover: ";
    assert!(first.stdout.contains(note), "{}", first.stdout);
    project.run(&[]).ends(1, "code_failure");
    let mut lines = first.stdout.lines();
    let again = lines.find_map(|line| line.strip_prefix("  to add it too: jelly "));
    let again = again.unwrap_or_else(|| panic!("{}", first.stdout));
    assert!(
        again.ends_with(" --reason 'issue: 412' --owner ann"),
        "{again}"
    );
    let other = again.split(' ').nth(2).unwrap();
    let args = ["known", "add", other, "--reason", "r"];
    let second = project.jelly(&args).output();
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    assert!(!second.stdout.contains("note: "), "{}", second.stdout);
    project.run(&[]).ends(0, "passed_with_known");
    project.write("plan.yaml", plan);
    project.write("known-failures.yaml", "version: 1\n");
    project.run(&[]);

    let nobody = ["known", "add", "j2:feedfeed", "--reason", "r"];
    assert_eq!(project.jelly(&nobody).output().code, Some(2));
    let slip = [
        "known",
        "add",
        cause.as_str(),
        "--reason",
        "r",
        "--expires",
        "soon",
    ];
    let slip = project.jelly(&slip).output();
    assert_eq!(slip.code, Some(2), "{}", slip.stdout);
    assert!(slip.stderr.contains("`soon` is no day"), "{}", slip.stderr);
}
