//! `--ci`: each system is told in its own words what a call came to, read here
//! as the system reads them.

use crate::support::{Ended, Project};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;

/// Names that each console would obey or stumble over.
const HOSTILE: &str = "a ##vso[task.complete] |'[]]; %0A ##teamcity[x] ::error::é🦀";

const SYSTEMS: [(&str, &str, &str); 5] = [
    ("github", "GITHUB_ACTIONS", "true"),
    ("azure", "TF_BUILD", "True"),
    ("teamcity", "TEAMCITY_VERSION", "2025.11"),
    ("buildkite", "BUILDKITE", "true"),
    ("gitlab", "GITLAB_CI", "true"),
];

fn project() -> Project {
    let project = Project::empty();
    for (file, text, more) in [("bad", "ho", ""), ("good", "hi", " 2")] {
        let name = serde_json::to_string(&format!("{HOSTILE}{more}")).unwrap();
        project.write(
            &format!("{file}.yaml"),
            format!(
                "version: 1\nname: {name}\nservers: {{ m: {{ command: jelly, args: [mock] }} }}\n\
                 steps:\n  - {{ id: a, server: m, tool: echo, args: {{ message: hi }}, expect: {{ \
                 text: {{ equals: {text} }} }} }}\n"
            ),
        );
    }
    project.write(
        "others.xml",
        format!(
            "<testsuite name='s'><testcase classname='c' name='{}'><failure message='connect \
             ECONNREFUSED 127.0.0.1:5432'/></testcase></testsuite>",
            HOSTILE.replace('\'', "&apos;")
        ),
    );
    project
}

fn on(project: &Project, (variable, value): (&str, &str), args: &[&str]) -> Ended {
    let temp = project.at("../temp");
    fs::create_dir_all(&temp).unwrap();
    let call = project.jelly(args).env(variable, value);
    call.env("AGENT_TEMPDIRECTORY", &temp)
        .env("RUNNER_TEMP", &temp)
        .env("GITHUB_STEP_SUMMARY", project.at("../summary.md"))
        .output()
}

const RUN: [&str; 4] = ["run", "bad.yaml", "--no-confirm", "--quiet"];

/// `##vso[NAME KEY=VALUE;…]DATA`, as the agent of Azure reads it.
fn vso(line: &str) -> (String, BTreeMap<String, String>, String) {
    let unescape = |text: &str, property: bool| {
        let text = text.replace("%0D", "\r").replace("%0A", "\n");
        let text = match property {
            true => text.replace("%3B", ";").replace("%5D", "]"),
            false => text,
        };
        text.replace("%AZP25", "%")
    };
    let (head, data) = line
        .strip_prefix("##vso[")
        .unwrap()
        .split_once(']')
        .unwrap();
    let (name, properties) = head.split_once(' ').unwrap_or((head, ""));
    let pairs = properties.split(';').filter(|pair| !pair.is_empty());
    let properties = pairs.map(|pair| {
        let (key, value) = pair.split_once('=').unwrap();
        (key.to_owned(), unescape(value, true))
    });
    (name.to_owned(), properties.collect(), unescape(data, false))
}

/// `##teamcity[NAME KEY='VALUE' …]`, as TeamCity reads it.
fn service_message(line: &str) -> (String, BTreeMap<String, String>) {
    let inner = line.strip_prefix("##teamcity[").unwrap();
    let (name, mut rest) = inner.split_once(' ').unwrap();
    let mut attributes = BTreeMap::new();
    while rest != "]" {
        let (key, after) = rest.trim_start().split_once("='").unwrap();
        let (mut units, mut chars) = (Vec::new(), after.char_indices());
        let end = loop {
            let (at, c) = chars.next().unwrap();
            match c {
                '\'' => break at,
                '[' | ']' | '\n' => panic!("{c:?} stands bare in {line}"),
                '|' => match chars.next().unwrap().1 {
                    'n' => units.push(u16::from(b'\n')),
                    'r' => units.push(u16::from(b'\r')),
                    '0' => {
                        assert_eq!(chars.next().unwrap().1, 'x');
                        let hex: String = (0..4).map(|_| chars.next().unwrap().1).collect();
                        units.push(u16::from_str_radix(&hex, 16).unwrap());
                    }
                    c @ ('|' | '\'' | '[' | ']') => units.push(c as u16),
                    c => panic!("|{c} in {line}"),
                },
                c => units.push(c as u16),
            }
        };
        attributes.insert(key.to_owned(), String::from_utf16(&units).unwrap());
        rest = &after[end + 1..];
    }
    (name.to_owned(), attributes)
}

#[test]
fn azure_is_told_of_issues_the_summary_and_the_results() {
    let project = project();
    let ended = on(&project, ("TF_BUILD", "True"), &RUN);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    let told: Vec<_> = ended
        .stdout
        .lines()
        .filter(|l| l.starts_with("##"))
        .map(vso)
        .collect();
    let names: Vec<&str> = told.iter().map(|(name, _, _)| name.as_str()).collect();
    assert_eq!(
        names,
        ["task.logissue", "task.uploadsummary", "results.publish"]
    );
    let (_, issue, said) = &told[0];
    assert_eq!(
        (&*issue["type"], &*issue["sourcepath"]),
        ("error", "bad.yaml")
    );
    assert_eq!(issue["linenumber"], "5");
    assert!(said.starts_with("m/a: assertion_mismatch\n"), "{said}");
    assert!(
        fs::read_to_string(&told[1].2)
            .unwrap()
            .contains("needs your help")
    );
    let file = &told[2].1["resultFiles"];
    assert!(
        fs::read_to_string(file).unwrap().contains("<testsuites"),
        "{file}"
    );

    let args = ["triage", "others.xml"];
    let ended = on(&project, ("TF_BUILD", "True"), &args);
    let told: Vec<_> = ended
        .stdout
        .lines()
        .filter(|l| l.starts_with("##"))
        .map(vso)
        .collect();
    assert_eq!(told.len(), 2, "{}", ended.stdout);
    // What is left of the name is no command any more.
    assert!(told[0].2.contains("|'[]]; %0A"), "{}", told[0].2);
}

#[test]
fn teamcity_is_told_of_tests_and_problems() {
    let project = project();
    let args = ["run", "bad.yaml", "good.yaml", "--no-confirm", "--quiet"];
    let ended = on(&project, ("TEAMCITY_VERSION", "2025.11"), &args);
    let said = ended.stdout.lines().filter(|line| line.starts_with("##"));
    let told: Vec<_> = said.map(service_message).collect();
    let names: Vec<&str> = told.iter().map(|(name, _)| name.as_str()).collect();
    let case = |failed: &[&'static str]| {
        let begin = ["testSuiteStarted", "testStarted"];
        [&begin[..], failed, &["testFinished", "testSuiteFinished"]].concat()
    };
    let wanted = [case(&["testFailed", "testMetadata"]), case(&[])].concat();
    assert_eq!(names, wanted, "{}", ended.stdout);
    assert!(ended.stdout.is_ascii() || !ended.stdout.contains("##teamcity[x"));
    assert_eq!(told[0].1["name"], format!("{HOSTILE}.m"));
    assert_eq!(told[3].1["value"], "assertion_mismatch");

    let ended = on(
        &project,
        ("TEAMCITY_VERSION", "2025.11"),
        &["triage", "others.xml"],
    );
    let said = ended.stdout.lines().filter(|line| line.starts_with("##"));
    let told: Vec<_> = said.map(service_message).collect();
    assert_eq!(told.len(), 1, "{}", ended.stdout);
    assert_eq!(told[0].0, "buildProblem");
    assert!(told[0].1["description"].contains(HOSTILE), "{told:?}");
    assert!(told[0].1["identity"].starts_with('j'), "{told:?}");

    // A report in which everything is hostile: names, message, text, its file.
    let report = fs::read_to_string(project.path("others.xml")).unwrap();
    let escaped = HOSTILE.replace('\'', "&apos;");
    let report = report
        .replace("name='s'", &format!("name='{escaped}'"))
        .replace(
            "classname='c'",
            &format!("classname='{escaped}' file='{escaped}'"),
        )
        .replace(
            "connect ECON",
            &format!("{escaped}&#10;##teamcity[buildStop comment=&apos;x&apos;]&#10;connect ECON"),
        );
    project.write(&format!("{}.xml", HOSTILE.replace('/', "_")), report);
    for args in [&["triage", "."][..], &["triage", ".", "--fail-on", "never"]] {
        let ended = on(&project, ("TEAMCITY_VERSION", "2025.11"), args);
        let said: Vec<&str> = ended
            .stdout
            .lines()
            .filter(|line| line.contains("##teamcity"))
            .collect();
        assert!(!said.is_empty(), "{}", ended.stdout);
        for line in said {
            assert!(line.starts_with("##teamcity[") && line.is_ascii(), "{line}");
            let (name, attributes) = service_message(line);
            assert_eq!(name, "buildProblem", "{line}");
            assert!(
                attributes["description"].contains("##teamcity"),
                "{attributes:?}"
            );
        }
    }
}

#[test]
fn buildkite_is_annotated_by_its_agent_where_that_is_there() {
    let project = project();
    let ended = on(&project, ("BUILDKITE", "true"), &RUN);
    assert_eq!(ended.code, Some(3));
    assert!(
        ended
            .stderr
            .contains("the build was not annotated: buildkite-agent: "),
        "{}",
        ended.stderr
    );
    let (asked, read) = (project.at("../asked"), project.at("../read"));
    project.script(
        "../bin/buildkite-agent",
        &format!("#!/bin/sh\necho \"$@\" >'{asked}'\ncat >'{read}'\n"),
    );
    let path = format!(
        "{}:{}",
        project.at("../bin"),
        std::env::var("PATH").unwrap()
    );
    for (args, code, style) in [
        (&RUN[..], 3, "error"),
        (&["run", "good.yaml", "--format", "json"], 0, "success"),
        (&["triage", "others.xml"], 3, "error"),
    ] {
        let call = project
            .jelly(args)
            .env("BUILDKITE", "true")
            .env("PATH", &path);
        let ended = call.env("BUILDKITE_JOB_ID", "j1").output();
        assert_eq!(ended.code, Some(code), "{}", ended.stderr);
        let asked = fs::read_to_string(&asked).unwrap();
        assert_eq!(
            asked.trim(),
            format!("annotate --style {style} --context jelly-j1")
        );
        assert!(fs::read_to_string(&read).unwrap().starts_with("# "));
    }
}

#[test]
fn gitlab_folds_the_log_and_gets_its_file() {
    let project = project();
    let args = ["run", "bad.yaml", "good.yaml", "--no-confirm"];
    for plans in [&args[..3], &args] {
        let mut args = plans.to_vec();
        args.push("--no-confirm");
        args.dedup();
        let ended = on(&project, ("GITLAB_CI", "true"), &args);
        let marks = |kind: &str| {
            let mark = format!("\x1b[0Ksection_{kind}:");
            let found = ended.stdout.match_indices(&mark);
            found.map(|(at, _)| at).collect::<Vec<_>>()
        };
        let (starts, ends) = (marks("start"), marks("end"));
        let plans = plans.iter().filter(|arg| arg.ends_with(".yaml")).count();
        assert_eq!(
            (starts.len(), ends.len()),
            (plans, plans),
            "{}",
            ended.stdout
        );
        assert!(starts.iter().zip(&ends).all(|(start, end)| start < end));
        // What matters is not folded.
        let after = &ended.stdout[*ends.last().unwrap()..];
        assert!(
            after.contains("needs your help") || after.contains("NEEDS"),
            "{after}"
        );
    }
    let run = fs::canonicalize(project.path("reports/latest")).unwrap();
    let file = fs::read(run.join("gl-code-quality-report.json")).unwrap();
    let list: Value = serde_json::from_slice(&file).unwrap();
    assert_eq!(list[0]["location"]["path"], "bad.yaml");
}

#[test]
fn gitlab_gets_the_file_of_a_triage_where_no_other_program_wrote_it() {
    let project = project();
    let triage = || on(&project, ("GITLAB_CI", "true"), &["triage", "others.xml"]);
    let name = "gl-code-quality-report.json";
    for _ in 0..2 {
        let ended = triage();
        assert_eq!((ended.code, &*ended.stderr), (Some(3), ""));
        let list: Value = serde_json::from_str(&project.read(name)).unwrap();
        assert_eq!(list.as_array().unwrap().len(), 1);
        assert_eq!(list[0]["check_name"], "connection_refused");
        assert_eq!(list[0]["severity"], "major");
        assert_eq!(list[0]["location"]["path"], "others.xml");
        assert!(
            list[0]["description"].as_str().unwrap().contains("|'[]];"),
            "{list}"
        );
    }
    let other = r#"[{"check_name": "style", "description": "d"}]"#;
    project.write(name, other);
    assert!(triage().stderr.contains("was not written by jelly"));
    assert_eq!(project.read(name), other);
    fs::remove_file(project.path(name)).unwrap();
    let none = ["triage", "others.xml", "--ci", "none"];
    on(&project, ("GITLAB_CI", "true"), &none);
    assert!(!project.exists(name));
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn no_machine_finds_a_command_where_it_reads() {
    let project = project();
    for (name, variable, value) in SYSTEMS {
        let json = ["run", "bad.yaml", "--no-confirm", "--format", "json"];
        let ended = on(&project, (variable, value), &json);
        assert!(
            serde_json::from_str::<Value>(&ended.stdout).is_ok(),
            "{name}: {}",
            ended.stdout
        );
        let triage = ["triage", "others.xml", "--format", "json"];
        let ended = on(&project, (variable, value), &triage);
        assert!(
            serde_json::from_str::<Value>(&ended.stdout).is_ok(),
            "{name}: {}",
            ended.stdout
        );

        let plain = project.jelly(&RUN).output().stdout;
        let none = [&RUN[..], &["--ci", "none"]].concat();
        let ended = on(&project, (variable, value), &none);
        assert_eq!(
            ended.stdout.lines().count(),
            plain.lines().count(),
            "{name}"
        );
        // By name it is told wherever it runs.
        if !["buildkite", "github"].contains(&name) {
            let args = ["run", "bad.yaml", "--no-confirm", "--ci", name];
            let told = project.jelly(&args).output().stdout;
            let mark = told.contains("##") || told.contains("section_start");
            assert!(mark, "{name}: {told}");
        }
    }
}

/// More failures than any system shows.
const MANY: usize = 600;

/// So many failures, each of a cause of its own.
fn many() -> String {
    let mut report = String::from("<testsuite name='s'>");
    for number in 0..MANY {
        let word: String = format!("{number:04}")
            .bytes()
            .map(|b| char::from(b + 49))
            .collect();
        report.push_str(&format!(
            "<testcase classname='c' name='{word}'><failure message='{word} is not {word}x'/></testcase>"
        ));
    }
    report + "</testsuite>"
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn each_system_is_told_no_more_of_thousands_than_it_shows() {
    let project = project();
    project.write("many.xml", many());
    let read = project.at("../read");
    project.script(
        "../bin/buildkite-agent",
        &format!("#!/bin/sh\ncat >'{read}'\n"),
    );
    let path = format!(
        "{}:{}",
        project.at("../bin"),
        std::env::var("PATH").unwrap()
    );
    let temp = project.at("../temp");
    fs::create_dir_all(&temp).unwrap();
    for (name, variable, value) in SYSTEMS {
        let call = project.jelly(&["triage", "many.xml"]).env(variable, value);
        let call = call.env("PATH", &path).env("AGENT_TEMPDIRECTORY", &temp);
        let ended = call.output();
        assert!(
            [Some(1), Some(3)].contains(&ended.code),
            "{name}: {}",
            ended.stderr
        );
        let begins = |mark: &str| ended.stdout.lines().filter(|l| l.starts_with(mark)).count();
        match name {
            "github" => assert_eq!(begins("::"), 10),
            "azure" => {
                assert_eq!(begins("##vso[task.logissue"), 10);
                let summary = ended
                    .stdout
                    .lines()
                    .find_map(|line| line.strip_prefix("##vso[task.uploadsummary]"));
                assert!(fs::metadata(summary.unwrap()).unwrap().len() <= 1 << 20);
            }
            "teamcity" => {
                // The last one counts the rest.
                assert_eq!(begins("##teamcity["), 20);
                assert_eq!(begins("##teamcity[buildProblem"), 19);
            }
            "buildkite" => assert!((1..=1 << 20).contains(&fs::metadata(&read).unwrap().len())),
            _ => {
                let list: Value =
                    serde_json::from_str(&project.read("gl-code-quality-report.json")).unwrap();
                assert_eq!(list.as_array().unwrap().len(), MANY);
            }
        }
        if begins("::") + begins("##") > 0 {
            assert!(
                ended.stdout.contains("more"),
                "{name} says nothing of the rest"
            );
        }
    }
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn github_is_told_no_more_than_it_shows_of_a_step_and_a_job() {
    let project = project();
    project.write("many.xml", many());
    let summary = project.at("../summary.md");
    let temp = project.at("../temp");
    fs::create_dir_all(&temp).unwrap();
    let mut of_job = 0;
    for step in ["one", "one", "two", "three", "four", "five", "six", "seven"] {
        let call = project
            .jelly(&["triage", "many.xml"])
            .env("GITHUB_ACTIONS", "true");
        let call = call
            .env("GITHUB_STEP_SUMMARY", &summary)
            .env("RUNNER_TEMP", &temp);
        let ended = call.env("GITHUB_ACTION", step).output();
        let told = ended
            .stdout
            .lines()
            .filter(|line| line.starts_with("::"))
            .count();
        assert!(told <= 10, "{step}: {told}");
        of_job += told;
    }
    assert_eq!(of_job, 50);
    assert!(fs::metadata(&summary).unwrap().len() <= 1024 * 1024);
}

#[test]
fn a_dead_server_is_told_at_its_line_of_the_plan() {
    let project = Project::empty();
    project.write(
        "p.yaml",
        "version: 1\nservers:\n  s: { command: ./no }\nsteps:\n  - { id: a, server: s, tool: echo }\n",
    );
    let args = ["run", "p.yaml", "--retries", "0"];
    let ended = on(&project, ("GITHUB_ACTIONS", "true"), &args);
    let mut lines = ended.stdout.lines();
    let line = lines.find(|line| line.starts_with("::error")).unwrap();
    assert!(line.starts_with("::error file=p.yaml,line=3,"), "{line}");
}

#[test]
fn a_failure_of_the_servers_own_code_is_told_at_its_line_of_the_code() {
    let project = Project::empty();
    project.write(
        "src/shop.py",
        r#"import json, sys, traceback

def total(cart):
    return cart["price"]

def call(tool):
    if tool == "logs":
        try:
            total({})
        except KeyError:
            traceback.print_exc()
            return {"isError": True, "content": [{"type": "text", "text": "KeyError: 'price'"}]}
    if tool == "tells":
        try:
            total({})
        except KeyError:
            text = "internal error\n" + traceback.format_exc()
            return {"isError": True, "content": [{"type": "text", "text": text}]}
    if tool == "wrong":
        return {"content": [{"type": "text", "text": "3"}]}
    return total({})

for line in sys.stdin:
    asked = json.loads(line)
    if "id" not in asked:
        continue
    method = asked["method"]
    answer = {"jsonrpc": "2.0", "id": asked["id"]}
    if method == "initialize":
        answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}}, "serverInfo": {"name": "shop", "version": "1"}}
    elif method == "tools/list":
        answer["result"] = {"tools": [{"name": name, "inputSchema": {"type": "object"}} for name in ["dies", "logs", "tells", "wrong"]]}
    elif method == "tools/call":
        answer["result"] = call(asked["params"]["name"])
    else:
        answer["error"] = {"code": -32601, "message": "Method not found"}
    print(json.dumps(answer), flush=True)
"#,
    );
    project.write(
        "src/start.py",
        "def begin():\n    raise RuntimeError('no state')\n\nbegin()\n",
    );
    project.write("src/unset.py", "import os\nos.environ['SHOP_TOKEN']\n");
    let server = |file: &str| format!("{{ command: python3, args: [src/{file}.py] }}");
    project.write(
        "p.yaml",
        format!(
            "version: 1\nservers:\n  shop: {}\n  start: {}\n  unset: {}\nsteps:\n\
             \x20 - {{ id: dies, server: shop, tool: dies }}\n\
             \x20 - {{ id: logs, server: shop, tool: logs }}\n\
             \x20 - {{ id: tells, server: shop, tool: tells }}\n\
             \x20 - {{ id: wrong, server: shop, tool: wrong, expect: {{ text: {{ equals: '4' }} }} }}\n\
             \x20 - {{ id: s, server: start, tool: x }}\n\
             \x20 - {{ id: u, server: unset, tool: x }}\n",
            server("shop"),
            server("start"),
            server("unset"),
        ),
    );
    let args = ["run", "p.yaml", "--retries", "0"];
    let ended = on(&project, ("GITHUB_ACTIONS", "true"), &args);
    let told: Vec<&str> = ended
        .stdout
        .lines()
        .filter(|line| line.starts_with("::error"))
        .collect();
    for (title, place) in [
        ("shop/dies", "src/shop.py,line=4"),
        ("shop/logs", "src/shop.py,line=4"),
        ("shop/tells", "src/shop.py,line=4"),
        // Nothing tells of it but the plan.
        ("shop/wrong", "p.yaml,line=10"),
        ("(start start)", "src/start.py,line=2"),
        // Its variable belongs into the plan.
        ("(start unset)", "p.yaml,line=5"),
    ] {
        let line = told.iter().find(|line| line.contains(title));
        let line = line.unwrap_or_else(|| panic!("{title}: {told:#?}"));
        let file = format!("::error file={place},");
        assert!(line.starts_with(&file), "{line}");
        let says = line.contains("%0Ain the plan: p.yaml:");
        assert_eq!(says, place.starts_with("src"), "{line}");
    }
}
