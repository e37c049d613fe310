//! Settings by their layers: defaults, plan, `jelly.yaml`, profile,
//! environment, flags.

use crate::support::{Call, Ended, Project};
use serde_json::Value;
use std::fs;
use std::time::Duration;

fn config(call: Call) -> Value {
    let ended = call.output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    serde_json::from_str(&ended.stdout).unwrap()
}

#[track_caller]
fn setting<'r>(report: &'r Value, name: &str) -> (&'r str, &'r str, &'r str) {
    let settings = report["settings"].as_array().unwrap();
    let found = settings.iter().find(|setting| setting["name"] == name);
    let found = found.unwrap_or_else(|| panic!("no {name} in {report:#}"));
    let text = |key: &str| found[key].as_str().unwrap_or("");
    (text("value"), text("source"), text("at"))
}

const JSON: [&str; 3] = ["config", "--format", "json"];

/// By setting: section and key, its variable, a value for each layer, the
/// command and the flag (with a value, unless it is a switch).
const ALL: &[(&str, &str, [&str; 4], &str)] = &[
    (
        "color",
        "JELLY_COLOR",
        ["never", "always", "never", "auto"],
        "run",
    ),
    ("jobs", "JELLY_JOBS", ["3", "4", "5", "6"], "triage"),
    (
        "ci",
        "JELLY_CI",
        ["azure", "gitlab", "none", "teamcity"],
        "triage",
    ),
    (
        "run.report",
        "JELLY_REPORT",
        ["md=a.md", "html=b", "json=c,md=d", "ctrf=e"],
        "run",
    ),
    (
        "triage.report",
        "JELLY_TRIAGE_REPORT",
        ["md=a.md", "html=b", "json=c,md=d", "ctrf=e"],
        "triage",
    ),
    (
        "generic_threshold",
        "JELLY_GENERIC_THRESHOLD",
        ["3", "4", "5", "6"],
        "run",
    ),
    ("history", "JELLY_HISTORY", ["a", "b", "c", "d"], "history"),
    (
        "project_dir",
        "JELLY_PROJECT_DIR",
        ["a", "b", "c", "d"],
        "run",
    ),
    (
        "reports_dir",
        "JELLY_REPORTS_DIR",
        ["a", "b", "c", "d"],
        "run",
    ),
    (
        "schema_store",
        "JELLY_SCHEMA_STORE",
        ["a", "b", "c", "d"],
        "run",
    ),
    (
        "budgets.max_iterations",
        "JELLY_MAX_ITERATIONS",
        ["3", "4", "7", "6"],
        "run",
    ),
    (
        "budgets.retries",
        "JELLY_RETRIES",
        ["3", "4", "5", "6"],
        "run",
    ),
    (
        "budgets.confirms",
        "JELLY_CONFIRMS",
        ["3", "4", "5", "6"],
        "run",
    ),
    (
        "budgets.mcp_repairs",
        "JELLY_MCP_REPAIRS",
        ["4", "5", "6", "7"],
        "run",
    ),
    (
        "budgets.test_fixes",
        "JELLY_TEST_FIXES",
        ["3", "4", "5", "6"],
        "run",
    ),
    (
        "budgets.code_refines",
        "JELLY_CODE_REFINES",
        ["3", "4", "5", "6"],
        "run",
    ),
    (
        "budgets.deadline",
        "JELLY_DEADLINE",
        ["1m", "2m", "3m", "4m"],
        "run",
    ),
    (
        "run.format",
        "JELLY_FORMAT",
        ["json", "human", "json", "human"],
        "run",
    ),
    (
        "run.hook_timeout",
        "JELLY_HOOK_TIMEOUT",
        ["1m", "2m", "3m", "4m"],
        "run",
    ),
    ("run.seed", "JELLY_SEED", ["3", "4", "5", "6"], "run"),
    (
        "run.accept_repairs",
        "JELLY_ACCEPT_REPAIRS",
        ["true", "false", "true", ""],
        "run",
    ),
    (
        "run.strict",
        "JELLY_STRICT",
        ["true", "false", "true", ""],
        "run",
    ),
    (
        "run.trust_plan",
        "JELLY_TRUST_PLAN",
        ["true", "false", "true", ""],
        "run",
    ),
    (
        "run.fail_fast",
        "JELLY_FAIL_FAST",
        ["true", "false", "true", ""],
        "run",
    ),
    (
        "run.skip_missing",
        "JELLY_SKIP_MISSING",
        ["true", "false", "true", ""],
        "run",
    ),
    (
        "run.no_adapt",
        "JELLY_NO_ADAPT",
        ["true", "false", "true", ""],
        "run",
    ),
    (
        "run.wire_check",
        "JELLY_WIRE_CHECK",
        ["true", "false", "true", ""],
        "run",
    ),
    (
        "run.record",
        "JELLY_RECORD",
        ["true", "false", "true", ""],
        "run",
    ),
    (
        "run.quiet",
        "JELLY_QUIET",
        ["true", "false", "true", ""],
        "run",
    ),
    (
        "run.fix_tests",
        "JELLY_FIX_TESTS",
        ["[\"a\"]", "[\"b\"]", "[\"c\"]", "[\"d\"]"],
        "run",
    ),
    (
        "run.refine_code",
        "JELLY_REFINE_CODE",
        ["[\"a\"]", "[\"b\"]", "[\"c\"]", "[\"d\"]"],
        "run",
    ),
    (
        "triage.format",
        "JELLY_TRIAGE_FORMAT",
        ["json", "md", "table", "junit"],
        "triage",
    ),
    (
        "triage.fail_on",
        "JELLY_FAIL_ON",
        ["code", "new", "never", "any"],
        "triage",
    ),
    (
        "triage.strict",
        "JELLY_TRIAGE_STRICT",
        ["true", "false", "true", ""],
        "triage",
    ),
    (
        "doctor.format",
        "JELLY_DOCTOR_FORMAT",
        ["json", "md", "human", "json"],
        "doctor",
    ),
    (
        "doctor.strict",
        "JELLY_DOCTOR_STRICT",
        ["true", "false", "true", ""],
        "doctor",
    ),
    (
        "doctor.timeout",
        "JELLY_DOCTOR_TIMEOUT",
        ["1m", "2m", "3m", "4m"],
        "doctor",
    ),
    (
        "doctor.jobs",
        "JELLY_DOCTOR_JOBS",
        ["3", "4", "5", "6"],
        "doctor",
    ),
];

/// A setting as the file writes it.
fn written(name: &str, value: &str, indent: &str) -> String {
    let value = match value.split_once('=') {
        Some((word, path)) => format!("{{ {word}: {path} }}"),
        None => value.to_owned(),
    };
    match name.split_once('.') {
        Some((section, key)) => format!("{indent}{section}:\n{indent}  {key}: {value}\n"),
        None => format!("{indent}{name}: {value}\n"),
    }
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn the_stronger_layer_holds_for_each_setting() {
    let project = Project::empty();
    let shown = config(project.jelly(&JSON));
    let names: Vec<&str> = shown["settings"]
        .as_array()
        .unwrap()
        .iter()
        .map(|setting| setting["name"].as_str().unwrap())
        .collect();
    for name in &names {
        assert!(
            ALL.iter().any(|(known, ..)| known == name),
            "{name} is not tried"
        );
    }
    assert_eq!(names.len(), ALL.len());
    for (name, variable, [file, profile, told, typed], command) in ALL {
        let key = name.rsplit('.').next().unwrap();
        let flag = format!("--{}", key.replace('_', "-"));
        let text = written(name, file, "");
        project.write("jelly.yaml", &text);
        let report = config(project.jelly(&JSON));
        let (value, source, at) = setting(&report, name);
        assert_eq!((value, source), (*file, "file"), "{name}");
        assert!(at.starts_with("jelly.yaml:"), "{name}: {at}");

        let text = format!("{text}profiles:\n  p:\n{}", written(name, profile, "    "));
        project.write("jelly.yaml", &text);
        let profiled = ["--profile", "p", "config", "--format", "json"];
        let report = config(project.jelly(&profiled));
        let (value, source, _) = setting(&report, name);
        assert_eq!((value, source), (*profile, "profile"), "{name}");

        let report = config(project.jelly(&profiled).env(variable, told));
        let (value, source, at) = setting(&report, name);
        assert_eq!(
            (value, source, at),
            (*told, "environment", *variable),
            "{name}"
        );

        let mut args = profiled.to_vec();
        args.extend(["--", command, &flag]);
        if !typed.is_empty() {
            args.push(typed);
        }
        let report = config(project.jelly(&args).env(variable, told));
        let (value, source, at) = setting(&report, name);
        let typed = if typed.is_empty() { "true" } else { *typed };
        assert_eq!(
            (value, source, at),
            (typed, "flag", flag.as_str()),
            "{name}"
        );
        fs::remove_file(project.path("jelly.yaml")).unwrap();
    }
}

const PLAN: &str = "version: 1\nbudgets: { deadline: 40s, retries: 4 }\nservers:\n  s: { command: jelly, args: [mock] }\nsteps:\n  - { id: one, tool: echo, args: { message: hi } }\n";

/// The budget before the first iteration.
fn retries(ended: &Ended) -> u64 {
    let report: Value = serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ended.stdout, ended.stderr));
    report["iterations"][0]["budgets"]["before"]["retries"]
        .as_u64()
        .unwrap()
}

#[test]
fn a_budget_comes_from_the_strongest_layer_of_a_run() {
    let project = Project::with(PLAN);
    let run = |args: &[&str], told: Option<&str>| {
        let args = [&["run", "plan.yaml", "--format", "json"], args].concat();
        let call = project.jelly(&args);
        let call = match told {
            Some(told) => call.env("JELLY_RETRIES", told),
            None => call,
        };
        retries(&call.output())
    };
    assert_eq!(run(&[], None), 4, "of the plan");
    project.write(
        "jelly.yaml",
        "budgets: { retries: 5 }\nprofiles: { ci: { budgets: { retries: 6 } }, local: { budgets: { retries: 7 } }, x: {} }\n",
    );
    assert_eq!(run(&[], None), 7, "of the profile for people");
    assert_eq!(run(&["--profile", "ci"], None), 6);
    assert_eq!(run(&["--profile", "x"], None), 5, "of the file");
    assert_eq!(run(&[], Some("8")), 8, "of the environment");
    assert_eq!(run(&["--retries", "9"], Some("8")), 9, "of the flag");
    let in_ci = project
        .jelly(&["run", "plan.yaml", "--format", "json"])
        .env("CI", "true");
    assert_eq!(retries(&in_ci.output()), 6, "of the profile for pipelines");
}

/// The limit that holds is the one that ends a server that never answers.
#[test]
fn the_deadline_that_ends_a_run_is_that_of_the_strongest_layer() {
    let slow = "version: 1\nbudgets: { deadline: 50s }\nservers:\n  s: { command: jelly, args: [mock, --fault, \"hang@tool:echo\"], request_timeout: 50s }\nsteps:\n  - { id: one, tool: echo, args: { message: hi } }\n";
    for (file, told, flag) in [
        (Some("1s"), None, None),
        (Some("50s"), Some("1s"), None),
        (Some("50s"), Some("50s"), Some("1s")),
    ] {
        let project = Project::with(slow);
        if let Some(limit) = file {
            project.write("jelly.yaml", format!("budgets: {{ deadline: {limit} }}\n"));
        }
        let mut args = vec!["run", "plan.yaml"];
        if let Some(limit) = flag {
            args.extend(["--deadline", limit]);
        }
        let call = project.jelly(&args).limit(Duration::from_secs(40));
        let call = match told {
            Some(limit) => call.env("JELLY_DEADLINE", limit),
            None => call,
        };
        let ended = call.output();
        assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    }
}

#[test]
fn what_is_wrong_with_the_file_is_said_with_its_place() {
    for (text, said) in [
        (
            "budgets: { retrys: 3 }\n",
            &["jelly.yaml:1:12", "did you mean `retries`?"][..],
        ),
        (
            "run:\n  strict: yes please\n",
            &["jelly.yaml:2:11", "`true` or `false`"],
        ),
        (
            "run: { strict: true, accept_repairs: true }\n",
            &["jelly.yaml:1:22", "both"],
        ),
        ("jobs: 70000\n", &["70000", "jelly.yaml:1:1"]),
        ("budgets: {\n", &["jelly.yaml:"]),
    ] {
        let project = Project::with(PLAN);
        project.write("jelly.yaml", text);
        let ended = project.call(&[]).output();
        assert_eq!(ended.code, Some(2), "{text}: {}", ended.stderr);
        for said in said {
            assert!(ended.stderr.contains(said), "{text}: {}", ended.stderr);
        }
        assert!(!project.exists("reports"));
    }
}

#[test]
fn a_file_that_is_none_is_refused() {
    let refused = |make: &dyn Fn(&Project), said: &str| {
        let project = Project::with(PLAN);
        make(&project);
        let ended = project.call(&[]).output();
        assert_eq!(ended.code, Some(2), "{said}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    };
    refused(
        &|p| fs::create_dir(p.path("jelly.yaml")).unwrap(),
        "this is a folder",
    );
    refused(
        &|p| drop(p.write("jelly.yaml", b"\xff\xfe\x00")),
        "not UTF-8",
    );
    refused(
        &|p| std::os::unix::fs::symlink("gone.yaml", p.path("jelly.yaml")).unwrap(),
        "a link to gone.yaml",
    );
    refused(
        &|p| drop(p.write("jelly.yaml", "rules: 3\n")),
        "jelly.yaml:1:8",
    );
    refused(
        &|p| drop(p.write("jelly.yaml", vec![b'#'; 100 << 20])),
        "too long",
    );
    let bomb = || {
        let mut text = "a0: &a0 [x, x, x, x, x, x, x, x, x, x]\n".to_owned();
        for level in 1..12 {
            let below = format!("*a{}, ", level - 1).repeat(10);
            text += &format!("a{level}: &a{level} [{below}]\n");
        }
        text
    };
    refused(&|p| drop(p.write("jelly.yaml", bomb())), "jelly.yaml:");
}

#[test]
fn a_bad_variable_is_named_and_a_wrong_profile_is_told_the_right_one() {
    let project = Project::with(PLAN);
    let ended = project.call(&[]).env("JELLY_RETRIES", "many").output();
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("JELLY_RETRIES"), "{}", ended.stderr);
    let ended = project.call(&["--profile", "ci"]).output();
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("there is no jelly.yaml"),
        "{}",
        ended.stderr
    );
    project.write("jelly.yaml", "profiles: { nightly: {}, ci: {} }\n");
    let ended = project.call(&["--profile", "nigthly"]).output();
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("did you mean `nightly`?"),
        "{}",
        ended.stderr
    );
    let ended = project.call(&[]).env("JELLY_PROFILE", "zzz").output();
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("`nightly`, `ci`"), "{}", ended.stderr);
}

#[test]
fn a_variable_is_named_whatever_else_was_typed() {
    let project = Project::with(PLAN);
    // Its value is a part of the plan's name.
    let ended = project.call(&[]).env("JELLY_RETRIES", "plan").output();
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("JELLY_RETRIES"), "{}", ended.stderr);
    use std::os::unix::ffi::OsStrExt;
    let no_text = std::ffi::OsStr::from_bytes(b"\xff");
    for name in ["JELLY_RETRIES", "JELLY_STRICT", "JELLY_PROFILE"] {
        let ended = project.call(&[]).env(name, no_text).output();
        assert_eq!(ended.code, Some(2));
        assert!(ended.stderr.contains(name), "{}", ended.stderr);
    }
}

#[test]
fn an_empty_variable_counts_as_not_set() {
    let project = Project::with(PLAN);
    project.write(
        "jelly.yaml",
        "budgets: { retries: 7 }\nrun: { strict: true }\n",
    );
    let mut call = project.jelly(&JSON);
    for (_, env, ..) in ALL {
        call = call.env(env, "");
    }
    let report = config(call.env("JELLY_PROFILE", ""));
    assert_eq!(
        setting(&report, "budgets.retries"),
        ("7", "file", "jelly.yaml:1:12")
    );
    assert_eq!(setting(&report, "run.strict").0, "true");
    assert_eq!(setting(&report, "reports_dir"), ("reports", "default", ""));
}

#[test]
fn a_variable_that_says_no_does_not_undo_what_it_excludes() {
    let project = Project::with(PLAN);
    project.write(
        "jelly.yaml",
        "run: { strict: true }\ntriage: { fail_on: never }\n",
    );
    let call = project.jelly(&JSON).env("JELLY_ACCEPT_REPAIRS", "false");
    assert_eq!(setting(&config(call), "run.strict").0, "true");
    let call = project.jelly(&JSON).env("JELLY_ACCEPT_REPAIRS", "1");
    assert_eq!(setting(&config(call), "run.strict").0, "false");
}

#[test]
fn a_profile_that_is_called_like_a_command_is_none() {
    let project = Project::with(PLAN);
    project.write(
        "jelly.yaml",
        "profiles: { run: { triage: { fail_on: never } } }\n",
    );
    project.write(
        "a.xml",
        "<testsuite><testcase name='a'><failure message='x'/></testcase></testsuite>",
    );
    let call = project.jelly(&["--profile", "run", "triage", "a.xml"]);
    assert_eq!(call.output().code, Some(0));
}

#[test]
fn what_looks_like_a_setting_and_is_none_is_told() {
    let project = Project::with(PLAN);
    project.write("jelly.yml", "jobs: 3\n");
    let call = project.call(&[]).env("JELLY_RETRY", "3");
    let ended = call.env("JELLY_TOKEN", "x").output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    for said in [
        "jelly.yml is not read",
        "JELLY_RETRY sets nothing; did you mean JELLY_RETRIES?",
    ] {
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
    assert!(!ended.stderr.contains("JELLY_TOKEN"), "{}", ended.stderr);
    let report = config(project.jelly(&JSON).env("JELLY_TOKEN", "x"));
    assert_eq!(
        report["unknown_variables"],
        serde_json::json!(["JELLY_TOKEN"])
    );
}

#[test]
fn between_strict_and_accepted_repairs_the_stronger_layer_decides() {
    let project = Project::with(PLAN);
    project.write("jelly.yaml", "run: { strict: true }\n");
    let args = [
        "config",
        "--format",
        "json",
        "--",
        "run",
        "--accept-repairs",
    ];
    let report = config(project.jelly(&args));
    assert_eq!(setting(&report, "run.strict").0, "false");
    assert_eq!(setting(&report, "run.accept_repairs").0, "true");
    let ended = project
        .call(&["--accept-repairs"])
        .env("JELLY_STRICT", "1")
        .output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
}

#[test]
fn a_path_in_the_file_is_taken_from_its_folder() {
    let project = Project::with(PLAN);
    fs::create_dir(project.path(".git")).unwrap();
    project.write("jelly.yaml", "reports_dir: out\n");
    fs::create_dir(project.path("below")).unwrap();
    let plan = project.at("plan.yaml");
    let ended = project.wrapped("sh", &["-c", "cd below && exec \"$0\" \"$@\""]);
    let ended = ended.args(&["run", &plan]).output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(project.exists("out/latest/results.json"));
}

#[test]
fn what_holds_is_shown_as_a_table_with_its_places() {
    let project = Project::empty();
    project.write(
        "jelly.yaml",
        "# for all\njobs: 3\nprofiles:\n  local:\n    color: never\n",
    );
    let ended = project
        .jelly(&["config"])
        .env("JELLY_RETRIES", "1")
        .output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    let row = |name: &str| {
        let line = ended.stdout.lines().find(|line| line.starts_with(name));
        let words: Vec<&str> = line.unwrap().split_whitespace().collect();
        words.join(" ")
    };
    assert!(
        ended
            .stdout
            .starts_with("jelly.yaml with its profile local\n")
    );
    assert_eq!(row("jobs"), "jobs 3 jelly.yaml:2:1");
    assert_eq!(row("color"), "color never jelly.yaml:5:5 (profile local)");
    assert_eq!(row("budgets.retries"), "budgets.retries 1 JELLY_RETRIES");
    assert_eq!(row("budgets.deadline"), "budgets.deadline 15m default");
}

#[test]
fn other_commands_do_not_mind_a_broken_file() {
    let project = Project::with(PLAN);
    project.write("jelly.yaml", "jobs: [\n");
    for args in [
        &["completions", "bash"][..],
        &["schema"],
        &["run", "--help"],
    ] {
        let ended = project.jelly(args).output();
        assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
    }
}

#[test]
fn settings_hold_when_a_step_is_called_help() {
    let project = Project::with(
        "version: 1\nservers: { s: { command: jelly, args: [mock] } }\nsteps:\n  - { id: help, tool: echo, args: { message: hi } }\n",
    );
    project.write("jelly.yaml", "reports_dir: elsewhere\n");
    let ended = project
        .jelly(&["run", "plan.yaml", "--only", "help"])
        .output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert!(project.exists("elsewhere/latest"), "{}", ended.stdout);
}

#[test]
fn what_its_opposite_overrules_names_who_said_that() {
    let project = Project::empty();
    let file = "history: h.jsonl\nrun: { strict: true }\nprofiles: { p: { run: { accept_repairs: true } } }\n";
    project.write("jelly.yaml", file);
    let of = |args: &[&str]| config(project.jelly(&[&JSON, args].concat()));
    let run = [
        "--",
        "run",
        "--accept-repairs",
        "--no-history",
        "--no-confirm",
    ];
    let report = of(&run);
    let flag = |value, at| (value, "flag", at);
    assert_eq!(
        setting(&report, "run.strict"),
        flag("false", "--accept-repairs")
    );
    assert_eq!(setting(&report, "history"), flag("none", "--no-history"));
    assert_eq!(
        setting(&report, "budgets.confirms"),
        flag("0", "--no-confirm")
    );
    assert_eq!(
        setting(&report, "budgets.mcp_repairs"),
        ("3", "default", "")
    );
    let report = of(&["--profile", "p"]);
    let (value, source, at) = setting(&report, "run.strict");
    assert_eq!((value, source), ("false", "profile"));
    assert!(at.ends_with("jelly.yaml:3:25"), "{at}");

    let run = |name: &str| {
        project
            .jelly(&["run", "--no-history", "p.yaml"])
            .env(name, "h.jsonl")
    };
    let ended = run("JELLY_HISTORY").output();
    assert!(
        ended.stderr.contains("p.yaml: there is no such file"),
        "{}",
        ended.stderr
    );
    project.write("jelly.yaml", "");
    let both = run("X")
        .env("JELLY_STRICT", "1")
        .env("JELLY_ACCEPT_REPAIRS", "1");
    let ended = both.output();
    let said = "note: the environment variables JELLY_ACCEPT_REPAIRS and JELLY_STRICT are set";
    assert!(ended.stderr.contains(said), "{}", ended.stderr);
}

#[test]
fn a_time_limit_of_nothing_is_refused_where_it_was_said() {
    let project = Project::empty();
    let refused = |call: Call| {
        let ended = call.output();
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        assert!(
            ended
                .stderr
                .contains("a time limit must be greater than zero"),
            "{}",
            ended.stderr
        );
        ended.stderr
    };
    let said = refused(project.jelly(&["init", "--call-timeout", "0s", "--", "jelly", "mock"]));
    assert!(said.contains("'--call-timeout <TIME>'"), "{said}");
    let said = refused(
        project
            .jelly(&["run", "p.yaml"])
            .env("JELLY_DEADLINE", "0s"),
    );
    assert!(
        said.contains("environment variable JELLY_DEADLINE"),
        "{said}"
    );
}

#[test]
fn reports_and_the_ci_system_come_from_the_file_the_environment_or_a_flag() {
    let project = Project::with(PLAN);
    project.write(
        "jelly.yaml",
        "ci: azure\nrun: { report: { junit: \"out/a,b.xml\", md: out/a.md } }\n",
    );
    let run = |args: &[&str], told: Option<&str>| {
        let call = project.jelly(&[&["run", "plan.yaml"], args].concat());
        let call = match told {
            Some(told) => call.env("JELLY_REPORT", told),
            None => call,
        };
        let ended = call.output();
        let written: Vec<&str> = ["out/a,b.xml", "out/a.md", "env.json", "env.md", "flag.md"]
            .into_iter()
            .filter(|file| {
                let was_there = project.exists(file);
                let _ = fs::remove_file(project.path(file));
                was_there
            })
            .collect();
        (ended, written)
    };
    let (ended, written) = run(&[], None);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(written, ["out/a,b.xml", "out/a.md"]);
    assert!(ended.stdout.contains("##vso["), "{}", ended.stdout);
    let told = Some("json=env.json,md=env.md");
    assert_eq!(run(&[], told).1, ["env.json", "env.md"]);
    assert_eq!(run(&["--report", "md=flag.md"], told).1, ["flag.md"]);
    let (ended, _) = run(&["--ci", "none"], None);
    assert!(!ended.stdout.contains("##vso["), "{}", ended.stdout);

    // Whose word it is that is refused.
    let (ended, _) = run(&[], Some("md=x.md,yunit=y"));
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("variable JELLY_REPORT"),
        "{}",
        ended.stderr
    );
    project.write("jelly.yaml", "run: { report: { yunit: a } }\n");
    let (ended, _) = run(&[], None);
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("jelly.yaml:1:18") && ended.stderr.contains("`junit`"),
        "{}",
        ended.stderr
    );
}

/// What `jelly.yaml` says of the project folder holds for every command that has the flag.
#[test]
fn the_project_folder_is_the_same_for_all_commands() {
    let project = Project::empty();
    project.write(
        "sub/plan.yaml",
        "version: 1\nservers: { s: { command: ./srv } }\nsteps:\n  - { tool: echo, args: { text: \
         \"${file:data.txt}\" } }\n",
    );
    project.write("data.txt", "words");
    project.write("jelly.yaml", "project_dir: .\n");
    let mock = env!("CARGO_BIN_EXE_jelly");
    project.script(
        "srv",
        &format!("#!/bin/sh\nexec '{mock}' mock --tool echo=hello\n"),
    );
    for args in [
        &["check", "sub/plan.yaml"][..],
        &["check", "--live", "sub/plan.yaml"],
        &["list", "--plan", "sub/plan.yaml"],
        &["call", "echo", "--plan", "sub/plan.yaml"],
        &["tools", "lint", "--plan", "sub/plan.yaml"],
        &["tools", "lock", "--plan", "sub/plan.yaml"],
    ] {
        let ended = project.jelly(args).output();
        assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
    }
    // A server that is reached has no folder, whatever the project's is.
    let reached = project
        .jelly(&["list", "--url", "http://127.0.0.1:9/mcp"])
        .output();
    assert_eq!(reached.code, Some(3), "{}", reached.stderr);
    assert!(
        reached.stderr.contains("could not be used"),
        "{}",
        reached.stderr
    );
}
