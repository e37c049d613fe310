//! `--report FORMAT=FILE`, of a run as of a triage.

use crate::support::{Ended, Project, fixtures};
use serde_json::Value;
use std::collections::BTreeSet;
use std::fs;
use std::process::Command;

fn plan(name: &str, wanted: &str) -> String {
    format!(
        "version: 1\nname: {name}\nservers: {{ m: {{ command: jelly, args: [mock] }} }}\n\
         steps:\n  - {{ id: a, server: m, tool: echo, args: {{ message: hi }}, expect: {{ text: \
         {{ equals: {wanted} }} }} }}\n"
    )
}

/// Two plans, of which one fails, and a report of somebody else's.
fn project() -> Project {
    let project = Project::empty();
    project.write("good.yaml", plan("good", "hi"));
    project.write("bad.yaml", plan("bad", "ho"));
    project.write(
        "others.xml",
        "<testsuite name='s'><testcase classname='c' name='passes'/><testcase classname='c' \
         name='b'><failure message='connect ECONNREFUSED 127.0.0.1:5432'/></testcase></testsuite>",
    );
    project
}

fn jelly(project: &Project, args: &[&str]) -> Ended {
    project.jelly(args).output()
}

fn json(project: &Project, file: &str) -> Value {
    serde_json::from_slice(&fs::read(project.path(file)).unwrap()).unwrap()
}

#[test]
fn a_report_by_name_holds_all_plans_of_the_call() {
    let project = project();
    for plans in [&["bad.yaml"][..], &["good.yaml", "bad.yaml"]] {
        let reports = [
            "--report",
            "json=out/all.json",
            "--report",
            "junit=out/all.xml",
        ];
        let args = [&["run"], plans, &reports, &["--report", "md=all.md"]].concat();
        let ended = jelly(&project, &args);
        assert_eq!(ended.code, Some(1), "{}", ended.stderr);
        let all = json(&project, "out/all.json");
        let names: Vec<&str> = all["plans"]
            .as_array()
            .unwrap()
            .iter()
            .map(|plan| plan["plan"]["path"].as_str().unwrap())
            .collect();
        assert_eq!(names, plans);
        assert_eq!(all["exit_code"], 1);
        let junit = fs::read_to_string(project.path("out/all.xml")).unwrap();
        let markdown = fs::read_to_string(project.path("all.md")).unwrap();
        for plan in plans {
            let name = plan.strip_suffix(".yaml").unwrap();
            assert!(
                junit.contains(&format!("classname=\"{name}.m\"")),
                "{junit}"
            );
            assert!(markdown.contains(&format!(" {name}: ")), "{markdown}");
        }
    }
}

#[test]
fn a_triage_writes_the_same_names() {
    let project = project();
    let args = [
        "triage",
        "others.xml",
        "--report",
        "json=t.json",
        "--report",
        "junit=t.xml",
        "--report",
        "md=t.md",
    ];
    let ended = jelly(&project, &args);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert_eq!(
        json(&project, "t.json")["failures"]
            .as_array()
            .unwrap()
            .len(),
        1
    );
    let junit = fs::read_to_string(project.path("t.xml")).unwrap();
    assert!(junit.contains("name=\"passes\""), "{junit}");
    let printed = jelly(&project, &["triage", "others.xml", "-f", "md"]).stdout;
    assert_eq!(fs::read_to_string(project.path("t.md")).unwrap(), printed);
    // Stdin is read once and written twice.
    let piped = project.wrapped("sh", &["-c", "exec \"$0\" \"$@\" <others.xml"]);
    let ended = piped
        .args(&["triage", "-", "--report", "junit=s.xml"])
        .output();
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(
        fs::read_to_string(project.path("s.xml"))
            .unwrap()
            .contains("passes")
    );
}

#[test]
fn what_cannot_be_meant_is_refused_before_anything_runs() {
    let project = project();
    project.write("rules.yaml", "rules: []\n");
    std::os::unix::fs::symlink(project.path("bad.yaml"), project.path("link")).unwrap();
    fs::hard_link(project.path("bad.yaml"), project.path("hard")).unwrap();
    fs::create_dir(project.path("folder")).unwrap();
    for (command, reports, said) in [
        ("run", &["junit=a.xml", "json=./a.xml"][..], "the same file"),
        ("run", &["junit=x/../a.xml", "json=a.xml"], "the same file"),
        ("run", &["json=bad.yaml"], "is a plan of this call"),
        ("run", &["json=link"], "is a plan of this call"),
        ("run", &["json=hard"], "is a plan of this call"),
        ("run", &["json=reports/latest/all.json"], "its own reports"),
        (
            "run",
            &["json=./reports/latest/all.json"],
            "its own reports",
        ),
        ("run", &["yunit=a.xml"], "did you mean `junit`"),
        ("run", &["junit"], "FORMAT=FILE"),
        ("run", &["junit="], "FORMAT=FILE"),
        ("run", &["junit=-"], "use --format"),
        ("triage", &["json=others.xml"], "is a report of this call"),
        ("triage", &["json=o.md"], "is the output of this call"),
        ("triage", &["json=folder"], "directory"),
    ] {
        let mut args = match command {
            "run" => vec!["run", "bad.yaml"],
            _ => vec!["triage", "others.xml", "--output", "o.md"],
        };
        args.extend(reports.iter().flat_map(|report| ["--report", report]));
        let ended = jelly(&project, &args);
        assert_eq!(ended.code, Some(2), "{reports:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(said), "{reports:?}: {}", ended.stderr);
        for left in ["a.xml", "reports", "o.md"] {
            assert!(!project.exists(left), "{reports:?} left {left}");
        }
    }
    // The disk has it not: no slip, and a run needs help.
    let report = "junit=bad.yaml/a.xml";
    let ended = jelly(&project, &["run", "good.yaml", "--report", report]);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(!project.exists("reports"));
}

#[test]
fn no_report_of_an_earlier_call_is_taken_for_this_ones() {
    let project = project();
    let report = ["--report", "junit=out/a.xml"];
    let args = [&["run", "good.yaml"][..], &report].concat();
    assert_eq!(jelly(&project, &args).code, Some(0));
    assert!(project.exists("out/a.xml"));
    let args = [
        &["run", "good.yaml", "bad.yaml", "--only", "nothing"][..],
        &report,
    ]
    .concat();
    assert_eq!(jelly(&project, &args).code, Some(2));
    assert!(!project.exists("out/a.xml"));
}

#[test]
fn a_report_that_is_not_written_is_no_success() {
    let project = project();
    let report = ["--report", "json=/dev/full", "--report", "md=a.md"];
    let args = [&["run", "good.yaml"][..], &report].concat();
    let ended = jelly(&project, &args);
    assert_eq!(ended.code, Some(3), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("--report json=/dev/full"),
        "{}",
        ended.stderr
    );
    assert!(
        project.exists("a.md"),
        "the others are written all the same"
    );
    let args = [&["triage", "others.xml", "--fail-on", "never"][..], &report].concat();
    assert_eq!(jelly(&project, &args).code, Some(3));
}

/// What a program of the fixtures says; it must like the files.
#[track_caller]
fn consumed(program: &str, args: &[&str]) -> String {
    let path = fixtures().join("pypi/.venv/ci/bin").join(program);
    let done = Command::new(&path).args(args).output();
    let done = done
        .unwrap_or_else(|error| panic!("{}: {error}: run ./fixtures/setup first", path.display()));
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    let wrong = String::from_utf8_lossy(&done.stderr);
    assert!(done.status.success(), "{said}{wrong}");
    said
}

/// Validates by Jenkins' schema, and reads with junitparser; a line for each
/// case: class, name, result.
const JUNIT: &str = r"
import sys, junitparser, xmlschema
xmlschema.XMLSchema(sys.argv[1]).validate(sys.argv[2])
read = junitparser.JUnitXml.fromfile(sys.argv[2])
claimed = (read.tests, read.failures, read.errors)
cases = [case for suite in read for case in suite]
read.update_statistics()
assert claimed == (read.tests, read.failures, read.errors), (claimed, read.tests)
for case in cases:
    kinds = ','.join(type(result).__name__ for result in case.result)
    print(case.classname, case.name, kinds, sep='\t')
";

#[track_caller]
fn strict_cases(project: &Project, file: &str) -> Vec<(String, String, String)> {
    let schema = fixtures()
        .join("formats/junit-10.xsd")
        .display()
        .to_string();
    let said = consumed("python", &["-c", JUNIT, &schema, &project.at(file)]);
    let cases: Vec<_> = said
        .lines()
        .map(|line| {
            let mut parts = line.split('\t').map(str::to_owned);
            let mut next = || parts.next().unwrap();
            (next(), next(), next())
        })
        .collect();
    let names: BTreeSet<_> = cases.iter().map(|(class, name, _)| (class, name)).collect();
    assert_eq!(names.len(), cases.len(), "{said}");
    cases
}

/// How many cases a reader finds: all of them, and those that failed.
type Counted = (usize, usize);

/// The same cases in the other readers of JUnit XML.
#[track_caller]
fn cases_of_viewers(project: &Project, file: &str, wanted: Counted) {
    assert_eq!(
        by_junit_to_ctrf(project, file),
        wanted,
        "junit-to-ctrf {file}"
    );
    assert_eq!(
        by_xunit_viewer(project, file),
        wanted,
        "xunit-viewer {file}"
    );
}

/// What a program of `fixtures/formats` says of a file.
#[track_caller]
fn viewed(project: &Project, program: &str, args: &[&str]) -> String {
    let path = fixtures().join("formats/node_modules/.bin").join(program);
    assert!(
        path.exists(),
        "{}: run ./fixtures/setup first",
        path.display()
    );
    let node = Command::new("node")
        .arg(&path)
        .args(args)
        .current_dir(project.path("."))
        .output();
    let done = node.unwrap_or_else(|error| panic!("node: {error}"));
    let said = String::from_utf8_lossy(&done.stdout).into_owned();
    assert!(
        done.status.success(),
        "{said}{}",
        String::from_utf8_lossy(&done.stderr)
    );
    said
}

fn by_junit_to_ctrf(project: &Project, file: &str) -> Counted {
    viewed(project, "junit-to-ctrf", &[file, "--output", "viewed.json"]);
    let summary = &json(project, "viewed.json")["results"]["summary"];
    let count = |name: &str| usize::try_from(summary[name].as_u64().unwrap()).unwrap();
    (count("tests"), count("failed"))
}

/// It ends with a line as `1 failure, 2 passed`.
fn by_xunit_viewer(project: &Project, file: &str) -> Counted {
    let args = [
        "-r",
        file,
        "-o",
        "viewed.html",
        "--console",
        "--no-color",
        "--clear=false",
    ];
    let said = viewed(project, "xunit-viewer", &args);
    let counts = said.lines().rev().find_map(|line| {
        let parts = line.split(", ").map(|part| {
            let (count, what) = part.trim().split_once(' ')?;
            Some((what.to_owned(), count.parse::<usize>().ok()?))
        });
        parts.collect::<Option<Vec<_>>>()
    });
    let counts = counts.unwrap_or_else(|| panic!("no counts in {said}"));
    let failed = counts
        .iter()
        .filter(|(what, _)| ["failure", "error"].contains(&what.trim_end_matches('s')));
    (
        counts.iter().map(|(_, count)| count).sum(),
        failed.map(|(_, count)| count).sum(),
    )
}

#[track_caller]
fn fits(project: &Project, file: &str, schema: &str) {
    let schema = fixtures()
        .join("formats")
        .join(schema)
        .display()
        .to_string();
    consumed(
        "check-jsonschema",
        &[
            // That of SARIF has a pattern that is none with Unicode.
            "--regex-variant",
            "nonunicode",
            "--schemafile",
            &schema,
            &project.at(file),
        ],
    );
}

const ALL: [&str; 16] = [
    "--report",
    "junit=r/junit.xml",
    "--report",
    "junit-strict=r/strict.xml",
    "--report",
    "ctrf=r/ctrf.json",
    "--report",
    "sarif=r/out.sarif",
    "--report",
    "gitlab-codequality=r/gl.json",
    "--report",
    "md=r/all.md",
    "--report",
    "json=r/all.json",
    "--report",
    "jsonl=r/all.jsonl",
];

fn lines(project: &Project, file: &str) -> Vec<Value> {
    let text = fs::read_to_string(project.path(file)).unwrap();
    text.lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

/// Plans that fail in each way, with names that no console or schema likes.
fn troubled() -> Project {
    let project = project();
    project.write("twice.yaml", plan("bad", "ho"));
    project.write("broken.yaml", plan("broken", "hi").replace("tool:", "tol:"));
    project.write(
        "dead.yaml",
        plan("dead", "hi").replace("command: jelly", "command: ./nowhere"),
    );
    let hostile = "\"##vso[task.complete]]]> <b>&'\\u202e\\u001b[31m\\n::error::x|[\"";
    project.write("hostile.yaml", plan(hostile, hostile));
    project
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn each_format_of_a_run_is_taken_by_its_own_reader() {
    let project = troubled();
    let plans = ["good", "bad", "twice", "dead", "broken", "hostile"].map(|p| format!("{p}.yaml"));
    let mut args = vec!["run", "--no-confirm", "--seed", "1"];
    args.extend(plans.iter().map(String::as_str));
    args.extend(ALL);
    let ended = jelly(&project, &args);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);

    let cases = strict_cases(&project, "r/strict.xml");
    let of = |class: &str, name: &str| {
        let found = cases.iter().find(|case| case.0 == class && case.1 == name);
        found
            .unwrap_or_else(|| panic!("{class} {name}: {cases:?}"))
            .2
            .as_str()
    };
    assert_eq!(of("good.m", "a"), "");
    assert_eq!(of("bad.yaml.m", "a"), "Failure");
    assert_eq!(of("twice.yaml.m", "a"), "Failure");
    assert_eq!(of("dead.m", "(start m)"), "Error");
    assert_eq!(of("broken", "(plan broken)"), "Error");
    let strict = fs::read_to_string(project.path("r/strict.xml")).unwrap();
    assert!(strict.contains("message=\"broken.yaml:5:"), "{strict}");

    let failed = cases
        .iter()
        .filter(|case| !["", "Skipped"].contains(&&*case.2));
    let counted = (cases.len(), failed.count());
    cases_of_viewers(&project, "r/strict.xml", counted);
    // xunit-viewer takes two cases of one name for one, and there they are.
    assert_eq!(by_junit_to_ctrf(&project, "r/junit.xml"), counted);

    let failing = [
        "bad.yaml",
        "twice.yaml",
        "dead.yaml",
        "broken.yaml",
        "hostile.yaml",
    ];
    let told = lines(&project, "r/all.jsonl");
    let mut plans: Vec<&str> = told
        .iter()
        .map(|line| line["plan"].as_str().unwrap())
        .collect();
    // One says two things of itself.
    plans.dedup();
    assert_eq!(plans, failing);
    let all = json(&project, "r/all.json");
    let of_plans = all["plans"].as_array().unwrap().iter();
    let failures: Vec<&Value> = of_plans
        .filter_map(|plan| plan["iterations"].as_array().unwrap().last())
        .flat_map(|last| last["failures"].as_array().unwrap())
        .collect();
    let diagnosed = |lines: &[Value]| -> Vec<Value> {
        let known = lines.iter().filter(|line| line["plan"] != "broken.yaml");
        known.map(|line| line["diagnosis"].clone()).collect()
    };
    let said: Vec<Value> = failures
        .iter()
        .map(|one| one["diagnosis"].clone())
        .collect();
    assert_eq!(diagnosed(&told), said);
    assert!(
        told.iter()
            .all(|line| line["line"].is_u64() && line["id"].is_string())
    );

    fits(&project, "r/out.sarif", "sarif-2.1.0-rtm.5.json");
    let sarif = json(&project, "r/out.sarif");
    let results = sarif["runs"][0]["results"].as_array().unwrap();
    assert_eq!(results.len(), told.len());
    for (result, line) in results.iter().zip(&told) {
        let place = &result["locations"][0]["physicalLocation"];
        assert_eq!(place["artifactLocation"]["uri"], line["file"]);
        assert_eq!(place["region"]["startLine"], line["line"], "{result}");
        assert_eq!(result["partialFingerprints"]["jelly/v1"], line["id"]);
    }
    fits(&project, "r/gl.json", "gitlab-codequality.json");
    let quality = json(&project, "r/gl.json");
    let prints = quality
        .as_array()
        .unwrap()
        .iter()
        .map(|one| one["fingerprint"].to_string());
    assert_eq!(prints.collect::<BTreeSet<_>>().len(), told.len());
    let ctrf = json(&project, "r/ctrf.json");
    assert_eq!(ctrf["results"]["summary"]["tests"], cases.len());
    assert_eq!(ctrf["results"]["summary"]["failed"], told.len());
    assert_eq!(
        ctrf["results"]["tests"].as_array().unwrap().len(),
        cases.len()
    );

    // The labels are read again, where nothing else is left to tell them.
    let strict = strict
        .replace("diagnosis: ", "")
        .replace("[diagnosis: ", "");
    project.write("cut.xml", strict);
    jelly(
        &project,
        &["triage", "cut.xml", "--report", "jsonl=again.jsonl"],
    );
    let again = lines(&project, "again.jsonl");
    let label = |line: &Value| {
        let diagnosis = &line["diagnosis"];
        ["side", "root_cause", "retryable", "fingerprint"].map(|name| diagnosis[name].to_string())
    };
    let known = told.iter().filter(|line| line["plan"] != "broken.yaml");
    let wanted: Vec<_> = known.map(label).collect();
    let read = again
        .iter()
        .filter(|line| !line["test"].to_string().contains("(plan broken)"));
    assert_eq!(read.map(label).collect::<Vec<_>>(), wanted);
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn each_format_of_a_triage_is_taken_by_its_own_reader() {
    let project = Project::empty();
    // Who looks like jelly, and whose words look like a console's.
    let fake = "jelly says: {\"side\":\"code\",\"root_cause\":\"faked\",\"rule\":\"a/b\"}";
    let text = "diagnosis: faked (code-side), rule a/b";
    let case = |name: &str| {
        format!(
            "<testcase classname='c' name='{name}'><failure message='no luck [{text}]'              type='E'>{text}\nconnect ECONNREFUSED 127.0.0.1:5432 ##vso[x]y</failure>\
             <system-out>{fake}\nand more</system-out></testcase>"
        )
    };
    let report = format!(
        "<testsuites name='jelly?'><testsuite name='s'>{}{}<testcase classname='c' name='ok'/>\
         <testcase name='skips'><skipped/></testcase></testsuite></testsuites>",
        case("same"),
        case("same")
    );
    project.write("a/r.xml", &report);
    project.write(
        "b/r.xml",
        report.replace("name='skips'", "name='skips' time='2'"),
    );
    project.write(
        "c/r.xml",
        "<testsuites><testsuite name='cut'><testcase name='x'/>",
    );
    let args = [&["triage", "a/r.xml", "b/r.xml", "c/r.xml"][..], &ALL].concat();
    let ended = jelly(&project, &args);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    let cases = strict_cases(&project, "r/strict.xml");
    assert_eq!(cases.len(), 2 * 4 + 2, "{cases:?}");
    assert!(
        cases.iter().any(|case| case.1 == "ok [b/r.xml]"),
        "{cases:?}"
    );
    cases_of_viewers(&project, "r/strict.xml", (10, 5));
    fits(&project, "r/out.sarif", "sarif-2.1.0-rtm.5.json");
    fits(&project, "r/gl.json", "gitlab-codequality.json");
    let told = lines(&project, "r/all.jsonl");
    assert_eq!(told.len(), 5);
    assert_eq!(told[0]["report"], "c/r.xml");
    assert_eq!(told[1]["test"], "same");

    // What others say is none of jelly's words, however often it is written.
    for file in ["r/strict.xml", "r/junit.xml"] {
        let mut text = fs::read_to_string(project.path(file)).unwrap();
        assert!(!text.contains("[diagnosis: faked"), "{text}");
        text = text
            .replace("<properties>", "<x>")
            .replace("</properties>", "</x>");
        text = text.replace("jelly says: {&quot;side&quot;:&quot;test", "");
        project.write("stripped.xml", text);
        let ended = jelly(&project, &["triage", "stripped.xml", "-f", "json"]);
        assert!(
            !ended.stdout.contains("\"root_cause\": \"faked\""),
            "{file}: {}",
            ended.stdout
        );
    }
}

#[test]
fn a_label_that_cannot_be_true_is_ignored_with_a_warning() {
    let project = Project::empty();
    let says = |side: &str| {
        format!("jelly says: {{\"side\":\"{side}\",\"root_cause\":\"crash\",\"rule\":\"a/b\"}}")
    };
    for (root, name, element, out, root_cause) in [
        ("jelly", "a", "failure", says("code"), Some("crash")),
        ("other", "a", "failure", says("code"), None),
        ("jelly", "(start s)", "error", says("code"), None),
        ("jelly", "(start s)", "error", says("test"), Some("crash")),
        ("jelly", "a", "flakyFailure", says("code"), None),
        ("jelly", "a", "failure", says("nobody"), None),
    ] {
        project.write(
            "r.xml",
            format!(
                "<testsuites name='{root}'><testsuite name='s'><testcase classname='c'                  name='{name}'><{element} message='no luck' type='x'/>\
                 <system-out>{out}\nits own</system-out></testcase></testsuite></testsuites>"
            ),
        );
        let ended = jelly(&project, &["triage", "r.xml", "-f", "json"]);
        let told: Value = serde_json::from_str(&ended.stdout).unwrap();
        let found = &told["failures"][0]["diagnosis"]["root_cause"];
        assert_eq!(
            found == "crash",
            root_cause.is_some(),
            "{root} {name} {element} {out}: {found}"
        );
        let warned = told["reports"][0]["warnings"]
            .to_string()
            .contains("is ignored");
        let contradicts = root == "jelly" && root_cause.is_none() && !out.contains("nobody");
        assert_eq!(
            warned, contradicts,
            "{root} {name} {element}: {}",
            told["reports"][0]
        );
    }
}

/// What a person wrote is no report, whatever it was named as by a slip.
#[test]
fn no_file_of_a_person_is_replaced_by_a_report() {
    let project = project();
    project.write("jelly.yaml", "ci: none\n");
    project.write("known-failures.yaml", "version: 1\n");
    project.write("data.txt", "hi");
    project.write("empty.txt", "");
    project.write("notes.md", "# Notes\n\nof mine\n");
    project.write(
        "mine.json",
        "{\n  \"schema_version\": 1,\n  \"mine\": true\n}\n",
    );
    project.write("TEST-mine.xml", "<testsuites name='jest tests'/>\n");
    project.script("hook.sh", "#!/bin/sh\nexit 1\n");
    project.script("server.sh", "#!/bin/sh\nexec jelly mock\n");
    project.write(
        "inc.yaml",
        "servers: { m: { command: sh, args: [server.sh] } }\n",
    );
    project.write(
        "plan.yaml",
        "version: 1\ninclude: inc.yaml\nhooks: { refine_code: [./hook.sh] }\nsteps:\n  - { id: a, \
         server: m, tool: echo, args: { message: \"${file:data.txt}${file:empty.txt}\" } }\n",
    );
    let said = [
        ("html=jelly.yaml", "is the file of settings of this call"),
        ("html=known-failures.yaml", "is the list of known failures"),
        ("html=inc.yaml", "is an included file of this call"),
        ("html=data.txt", "is a file that a plan sends"),
        ("html=empty.txt", "is a file that a plan sends"),
        ("html=hook.sh", "is a file of a hook of this call"),
        ("html=server.sh", "is a file of a server of this call"),
        ("md=notes.md", "is not a `md` report that jelly wrote"),
        ("json=mine.json", "is not a `json` report that jelly wrote"),
        ("junit=TEST-mine.xml", "is not a `junit` report"),
    ];
    for (report, wanted) in said {
        let file = report.split_once('=').unwrap().1;
        let before = project.read(file);
        for command in [&["run", "plan.yaml"][..], &["triage", "others.xml"]] {
            if command[0] == "triage" && !["jelly.yaml", "notes.md"].contains(&file) {
                continue;
            }
            let ended = jelly(&project, &[command, &["--report", report]].concat());
            assert_eq!(ended.code, Some(2), "{report}: {}", ended.stderr);
            assert!(ended.stderr.contains(wanted), "{report}: {}", ended.stderr);
        }
        assert_eq!(project.read(file), before, "{report}");
    }
    assert!(!project.exists("reports"));
}

#[test]
fn every_report_is_replaced_by_the_next_of_its_kind() {
    let project = project();
    let reports: Vec<String> = [
        "junit",
        "junit-strict",
        "ctrf",
        "sarif",
        "gitlab-codequality",
    ]
    .iter()
    .chain(&["html", "md", "json", "jsonl"])
    .flat_map(|name| ["--report".to_owned(), format!("{name}=out/{name}")])
    .collect();
    let reports: Vec<&str> = reports.iter().map(String::as_str).collect();
    for args in [
        &["run", "good.yaml"][..],
        &["run", "good.yaml", "bad.yaml"],
        &["triage", "others.xml"],
        &["run", "good.yaml"],
    ] {
        let ended = jelly(&project, &[args, &reports[..]].concat());
        assert_ne!(ended.code, Some(2), "{args:?}: {}", ended.stderr);
    }
    // One format does not stand for another.
    let ended = jelly(&project, &["run", "good.yaml", "--report", "html=out/md"]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
}

#[test]
fn no_file_of_a_person_is_an_output() {
    let project = project();
    let mine = "# mine\n";
    for args in [
        &["triage", "others.xml"][..],
        &["triage", "others.xml", "--format", "json"],
        &["triage", "others.xml", "--format", "junit"],
        &["fuzz", "--call-all", "--max-calls", "1"],
        &["history", "page", "--history", "h.jsonl"],
        &["tools", "lock"],
    ] {
        project.write("mine", mine);
        let server = match args[0] {
            "fuzz" | "tools" => &["--", "jelly", "mock"][..],
            _ => &[],
        };
        let args = [args, &["--output", "mine"], server].concat();
        let ended = jelly(&project, &args);
        assert_eq!(ended.code, Some(2), "{args:?}: {}", ended.stderr);
        assert_eq!(project.read("mine"), mine, "{args:?}");
    }
    project.write("plan.json", mine);
    let ended = jelly(&project, &["schema", "--write", "."]);
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert_eq!(project.read("plan.json"), mine);
    assert!(!project.exists("call.json"), "nothing of it was written");
    // Its own, again and again; and never what it reads.
    for _ in 0..2 {
        for args in [
            &["triage", "others.xml", "--output", "a.txt"][..],
            &[
                "triage",
                "others.xml",
                "--format",
                "table",
                "--output",
                "b.txt",
            ],
            &[
                "triage",
                "others.xml",
                "--emit",
                "retry-list",
                "--output",
                "c.txt",
            ],
        ] {
            assert_eq!(jelly(&project, args).code, Some(3), "{args:?}");
        }
        assert_eq!(jelly(&project, &["schema", "--write", "s"]).code, Some(0));
    }
    let args = ["triage", "others.xml", "--emit", "retry-list", "--output"];
    let ended = jelly(&project, &[&args[..], &["others.xml"]].concat());
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
}

#[test]
fn a_result_that_is_not_written_hides_no_failure_of_the_code() {
    let project = project();
    project.write(
        "code.xml",
        "<testsuite name='s'><testcase classname='c' name='b'><failure message='expected 5 but \
         got 4' type='AssertionError'>AssertionError: expected 5 but got 4</failure></testcase>\
         </testsuite>",
    );
    assert_eq!(jelly(&project, &["triage", "code.xml"]).code, Some(1));
    for more in [
        &["--report", "json=/dev/full"][..],
        &["--output", "/dev/full"],
    ] {
        let ended = jelly(&project, &[&["triage", "code.xml"], more].concat());
        assert_eq!(ended.code, Some(1), "{more:?}: {}", ended.stderr);
        assert!(ended.stderr.contains("failed to write"), "{}", ended.stderr);
        let ended = jelly(&project, &[&["triage", "others.xml"], more].concat());
        assert_eq!(ended.code, Some(3), "{more:?}: {}", ended.stderr);
    }
    let full = ["-c", "exec \"$0\" triage code.xml >/dev/full"];
    let ended = project.wrapped("sh", &full).output();
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("failed to write to stdout: "),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_test_that_no_command_reruns_is_named() {
    let project = project();
    project.write(
        "py.xml",
        "<testsuites><testsuite name='pytest'><testcase classname='t.test_a' name='two&#10;lines'>\
         <failure message='ConnectionRefusedError: [Errno 111] Connection refused'/></testcase></testsuite>\
         </testsuites>",
    );
    let ended = jelly(&project, &["triage", "py.xml", "--emit", "retry-commands"]);
    assert_eq!(ended.stdout, "");
    assert!(
        ended.stderr.contains("warning: no command reruns 1 test: "),
        "{}",
        ended.stderr
    );
}
