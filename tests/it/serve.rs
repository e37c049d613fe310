//! `jelly serve`: what its tools give.

use crate::support::Project;
use crate::support::agent::Agent;
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::io::Write;

/// One server that works and one that is not there; a step that passes, one
/// that differs, one that can't run.
const PLAN: &str = "\
version: 1
name: demo
servers:
  mock: { command: \"${env:JELLY_BINARY}\", args: [mock] }
  dead: { command: no-such-command-x }
steps:
  - { id: list, server: mock, list: tools }
  - { id: echo, server: mock, tool: echo, args: { message: hi }, expect: { text: { contains: other } } }
  - { id: dead, server: dead, list: tools }
";

fn plan() -> String {
    PLAN.replace("${env:JELLY_BINARY}", env!("CARGO_BIN_EXE_jelly"))
}

const REPORT: &str = r#"<testsuite name="s" tests="4" failures="3">
<testcase classname="db" name="one"><failure message="connect ECONNREFUSED 127.0.0.1:5432">Error: connect ECONNREFUSED 127.0.0.1:5432</failure></testcase>
<testcase classname="db" name="two"><failure message="connect ECONNREFUSED 127.0.0.1:5432">Error: connect ECONNREFUSED 127.0.0.1:5432</failure></testcase>
<testcase classname="odd" name="three"><failure message="zyx wvu">zyx wvu</failure></testcase>
<testcase classname="ok" name="four"/>
</testsuite>"#;

fn schemas(agent: &mut Agent) -> BTreeMap<String, Value> {
    let tools = agent.request("tools/list", json!({}))["result"]["tools"].clone();
    let tools = tools.as_array().unwrap();
    let rows = tools
        .iter()
        .map(|tool| (tool["name"].as_str().unwrap().to_owned(), tool.clone()));
    rows.collect()
}

#[test]
fn every_tool_says_what_it_takes_gives_and_may_do() {
    let project = Project::empty();
    let mut agent = Agent::start(&project, &[]);
    let tools = schemas(&mut agent);
    let names: Vec<&str> = tools.keys().map(String::as_str).collect();
    let contract = [
        "cancel_run",
        "check_plan",
        "classify_failure",
        "doctor",
        "explain",
        "list_runs",
        "run_plan",
        "run_status",
        "triage_report",
    ];
    assert_eq!(names, contract);
    for (name, tool) in &tools {
        let input = &tool["inputSchema"]["properties"];
        assert_eq!(input["max_bytes"]["default"], 8192, "{name}");
        assert!(input["cursor"].is_object(), "{name}");
        for schema in ["inputSchema", "outputSchema"] {
            assert_eq!(tool[schema]["type"], "object", "{name}");
            jsonschema::validator_for(&tool[schema]).unwrap();
        }
        let hints = &tool["annotations"];
        for hint in [
            "readOnlyHint",
            "destructiveHint",
            "idempotentHint",
            "openWorldHint",
        ] {
            assert!(hints[hint].is_boolean(), "{name}: {hint}");
        }
        assert!(tool["description"].as_str().unwrap().len() > 40, "{name}");
    }
    // Every client pays for it in every conversation.
    let size: usize = tools.values().map(|tool| tool.to_string().len()).sum();
    assert!(size < 14 * 1024, "{size} bytes");
    let reads_only = |name: &str| tools[name]["annotations"]["readOnlyHint"] == true;
    for name in names {
        let changes = ["run_plan", "cancel_run", "doctor"].contains(&name);
        assert_eq!(reads_only(name), !changes, "{name}");
    }
    assert_eq!(
        tools["run_plan"]["inputSchema"]["properties"]["wait_s"]["default"],
        40.0
    );
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn what_tools_give_meets_their_schemas() {
    let project = Project::with(&plan());
    project.write("report.xml", REPORT);
    project.write(
        ".mcp.json",
        r#"{"mcpServers": {"a": {"command": "no-such-x"}}}"#,
    );
    let mut agent = Agent::start(&project, &["--allow-run"]);
    let tools = schemas(&mut agent);
    let run = agent.tool("run_plan", json!({"path": "plan.yaml"}));
    let id = run["run_id"].clone();
    let last = run["iterations"]
        .as_array()
        .unwrap()
        .last()
        .unwrap()
        .clone();
    let print = last["failures"][0]["diagnosis"]["fingerprint"].clone();
    let calls = [
        ("run_status", json!({"run_id": id})),
        ("cancel_run", json!({"run_id": id})),
        ("check_plan", json!({"path": "plan.yaml"})),
        ("triage_report", json!({"paths": ["report.xml"]})),
        (
            "triage_report",
            json!({"paths": ["*.xml"], "mode": "failures"}),
        ),
        ("triage_report", json!({"paths": ["."], "mode": "locate"})),
        (
            "classify_failure",
            json!({"failure": {"message": "connect ECONNREFUSED 10.0.0.1:80"}}),
        ),
        ("doctor", json!({})),
        ("doctor", json!({"path": ".mcp.json"})),
        ("explain", json!({"fingerprint": print})),
        ("explain", json!({"rule": "network/refused"})),
        ("explain", json!({"run": id})),
        ("list_runs", json!({})),
    ];
    for (name, arguments) in calls {
        for most in [8192, 4096] {
            let mut arguments = arguments.clone();
            if most != 8192 {
                arguments["max_bytes"] = most.into();
            }
            let asked = json!({"name": name, "arguments": arguments});
            let given = agent.request("tools/call", asked)["result"].to_string();
            assert!(
                given.len() <= most,
                "{name} {arguments}: {} bytes",
                given.len()
            );
        }
        for most in [8192, 1_000_000] {
            let mut arguments = arguments.clone();
            arguments["max_bytes"] = most.into();
            let given = agent.tool(name, arguments.clone());
            let schema = jsonschema::validator_for(&tools[name]["outputSchema"]).unwrap();
            let errors: Vec<String> = schema.iter_errors(&given).map(|e| e.to_string()).collect();
            assert!(errors.is_empty(), "{name} {arguments}: {errors:?}");
        }
    }
    assert!(agent.close().success());
}

/// The label of a failure by its name, wherever it stands.
fn labels(list: &Value, name: &str) -> BTreeMap<String, (Value, Value)> {
    let rows = list.as_array().unwrap().iter().map(|row| {
        let label = (row["error_category"].clone(), row["retryable"].clone());
        (row[name].as_str().unwrap_or_default().to_owned(), label)
    });
    rows.collect()
}

#[test]
fn a_step_and_a_failure_carry_their_label_the_same_in_run_and_triage() {
    let project = Project::with(&plan());
    let mut agent = Agent::start(&project, &["--allow-run"]);
    let run = agent.tool(
        "run_plan",
        json!({"path": "plan.yaml", "max_bytes": 100_000}),
    );
    assert_eq!(run["state"], "finished");
    assert_eq!(run["verdict"], "code_failure");
    let last = run["iterations"].as_array().unwrap().last().unwrap();
    let steps = labels(&last["steps"], "id");
    let none = (Value::Null, Value::Null);
    // What blocked it is a failure of its server.
    assert_eq!(steps["dead"], none);
    let dead = labels(&last["failures"], "server")["dead"].clone();
    assert_eq!(dead, (json!("INFRASTRUCTURE"), json!(false)));
    assert_eq!(steps["echo"].0, "ASSERTION");
    assert_eq!(steps["list"], none);
    for failure in last["failures"].as_array().unwrap() {
        let label = (&failure["error_category"], &failure["retryable"]);
        let diagnosis = &failure["diagnosis"];
        assert_eq!(
            label,
            (&diagnosis["error_category"], &diagnosis["retryable"])
        );
    }
    let id = run["run_id"].as_str().unwrap();
    let report = format!("reports/{id}/junit.xml");
    let triage = agent.tool(
        "triage_report",
        json!({"paths": [report], "max_bytes": 100_000}),
    );
    let triaged: Vec<(Value, Value)> = triage["failures"]
        .as_array()
        .unwrap()
        .iter()
        .map(|failure| {
            (
                failure["error_category"].clone(),
                failure["retryable"].clone(),
            )
        })
        .collect();
    assert!(triaged.contains(&dead), "{triage}");
    assert!(triaged.contains(&steps["echo"]), "{triage}");
}

#[test]
fn alike_failures_are_one_and_the_mode_failures_has_no_categories() {
    let project = Project::empty();
    project.write("report.xml", REPORT);
    let mut agent = Agent::start(&project, &[]);
    let rca = agent.tool("triage_report", json!({"paths": ["report.xml"]}));
    let failures = rca["failures"].as_array().unwrap();
    assert_eq!(failures.len(), 2);
    assert_eq!(failures[0]["alike"], json!({"count": 1, "names": ["two"]}));
    assert_eq!(failures[0]["error_category"], "INFRASTRUCTURE");
    assert_eq!(failures[0]["retryable"], true);
    assert!(
        failures[1].get("error_category").is_none(),
        "{}",
        failures[1]
    );
    assert!(failures[1].get("retryable").is_none());
    let brief = agent.tool(
        "triage_report",
        json!({"paths": ["report.xml"], "mode": "failures"}),
    );
    assert_eq!(brief["failures"].as_array().unwrap().len(), 3);
    assert!(!brief.to_string().contains("categor"), "{brief}");
    let located = agent.tool(
        "triage_report",
        json!({"paths": ["report.xml"], "mode": "locate"}),
    );
    assert_eq!(located["paths"], json!([project.at("report.xml")]));
    // What was shown can be asked about, though no run kept it.
    let print = &failures[0]["diagnosis"]["fingerprint"];
    assert!(print.is_string(), "{}", failures[0]);
    let told = agent.tool("explain", json!({"fingerprint": print}));
    assert_eq!(told["fingerprint"]["fingerprint"], *print, "{told}");
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn pages_are_cut_to_size_count_the_rest_and_go_on_by_a_cursor() {
    let project = Project::empty();
    let case = |at: usize| {
        // Letters tell the causes apart: numbers are volatile.
        let word: String = format!("{at:04}")
            .bytes()
            .map(|b| char::from(b - b'0' + b'a'))
            .collect();
        format!(
            "<testcase classname=\"c\" name=\"t{at}\"><failure message=\"ENOENT: no such file or directory, open '/srv/{word}.json'\"/></testcase>"
        )
    };
    let write = |count: usize| {
        let cases: String = (0..count).map(case).collect();
        let whole = format!(
            "<testsuite name=\"s\" tests=\"{count}\" failures=\"{count}\">{cases}</testsuite>"
        );
        project.write("many.xml", whole);
    };
    write(60);
    let mut agent = Agent::start(&project, &[]);
    let asked = json!({"paths": ["many.xml"]});
    let mut seen = Vec::new();
    let mut arguments = asked.clone();
    let mut first = None;
    for _ in 0..100 {
        let page = agent.tool("triage_report", arguments.clone());
        for failure in page["failures"].as_array().into_iter().flatten() {
            seen.push(failure["name"].as_str().unwrap().to_owned());
            let more = failure["alike"]["names"].as_array().into_iter().flatten();
            seen.extend(more.map(|name| name.as_str().unwrap().to_owned()));
        }
        first.get_or_insert_with(|| page.clone());
        match page["next_cursor"].as_str() {
            Some(cursor) => arguments["cursor"] = cursor.into(),
            None => break,
        }
    }
    let first = first.unwrap();
    let left = first["left_out"].as_object().unwrap();
    assert!(
        left.values()
            .map(|count| count.as_u64().unwrap())
            .sum::<u64>()
            > 0,
        "{left:?}"
    );
    assert!(arguments["cursor"].is_string());
    assert_eq!(seen.len(), 60, "{seen:?}");
    // The same cursor for something else is refused, and so is one of the past.
    let cursor = first["next_cursor"].clone();
    write(61);
    let stale = agent.refusal(
        "triage_report",
        json!({"paths": ["many.xml"], "cursor": cursor}),
    );
    assert_eq!(stale["kind"], "stale_cursor");
    let other = agent.refusal("list_runs", json!({"cursor": cursor}));
    assert_eq!(other["kind"], "stale_cursor");
    let bad = agent.refusal("list_runs", json!({"cursor": "junk"}));
    assert_eq!(bad["kind"], "bad_cursor");
}

#[test]
fn a_run_that_takes_longer_is_asked_for_again_and_tells_how_far_it_is() {
    let project = Project::with(&plan().replace("no-such-command-x", "sh").replace(
        "command: sh }",
        "command: sh, args: [\"-c\", \"while ! [ -e go ]; do sleep 0.05; done\"], startup_timeout: 50s }",
    ));
    let mut agent = Agent::start(&project, &["--allow-run"]);
    let going = agent.tool("run_plan", json!({"path": "plan.yaml", "wait_s": 0}));
    assert_eq!(going["state"], "running");
    let id = going["run_id"].clone();
    let listed = agent.tool("list_runs", json!({}));
    assert_eq!(listed["runs"][0]["run_id"], id);
    assert_eq!(listed["runs"][0]["state"], "running");
    project.write("go", "");
    let params = json!({
        "name": "run_status",
        "arguments": {"run_id": id, "wait_s": 50},
        "_meta": {"progressToken": "how far"},
    });
    let ended = agent.request("tools/call", params)["result"]["structuredContent"].clone();
    assert_eq!(ended["state"], "finished");
    assert_eq!(ended["run_id"], id);
    let told: Vec<f64> = agent
        .notes
        .iter()
        .filter(|note| note["method"] == "notifications/progress")
        .map(|note| {
            assert_eq!(note["params"]["progressToken"], "how far");
            note["params"]["progress"].as_f64().unwrap()
        })
        .collect();
    assert!(told.len() > 1, "{told:?}");
    assert!(told.is_sorted_by(|one, next| one < next), "{told:?}");
    // A later server knows it by its report.
    assert!(agent.close().success());
    let mut later = Agent::start(&project, &[]);
    let known = later.tool("run_status", json!({"run_id": id}));
    assert_eq!(known["verdict"], ended["verdict"]);
    let unknown = later.refusal("run_status", json!({"run_id": "20200101-000000-0000"}));
    assert_eq!(unknown["kind"], "no_such_run");
}

#[test]
fn reports_of_earlier_runs_are_resources() {
    let project = Project::with(&plan());
    let mut agent = Agent::start(&project, &["--allow-run"]);
    let run = agent.tool("run_plan", json!({"path": "plan.yaml"}));
    let id = run["run_id"].as_str().unwrap();
    let listed = agent.request("resources/list", json!({}))["result"]["resources"].clone();
    let uris: Vec<&str> = listed
        .as_array()
        .unwrap()
        .iter()
        .map(|r| r["uri"].as_str().unwrap())
        .collect();
    let expected = [
        format!("jelly://runs/{id}/test_results.md"),
        format!("jelly://runs/{id}/results.json"),
    ];
    assert_eq!(uris, expected);
    for uri in &expected {
        let read = agent.request("resources/read", json!({"uri": uri}));
        let text = read["result"]["contents"][0]["text"].as_str().unwrap();
        let name = uri.rsplit('/').next().unwrap();
        assert_eq!(text, project.read(&format!("reports/{id}/{name}")));
    }
    for bad in [
        "jelly://runs/../plan.yaml",
        "jelly://runs/none/results.json",
        "file:///etc/passwd",
        &format!("jelly://runs/{id}/../../plan.yaml"),
        &format!("jelly://runs/{id}/junit.xml"),
    ] {
        let refused = agent.request("resources/read", json!({"uri": bad}));
        assert!(refused["error"]["message"].is_string(), "{bad}: {refused}");
    }
}

#[test]
fn only_unknown_tools_and_arguments_are_errors_of_the_protocol() {
    let project = Project::empty();
    let mut agent = Agent::start(&project, &[]);
    let calls = [
        ("none", json!({})),
        ("check_plan", json!({})),
        ("check_plan", json!({"path": 1})),
        ("check_plan", json!({"path": "a", "other": 1})),
        ("triage_report", json!({"paths": ["a"], "mode": "all"})),
        ("run_plan", json!({"path": "a", "wait_s": "long"})),
        ("run_plan", json!({"path": "a", "wait_s": -1})),
        ("run_plan", json!({"path": "a", "max_iterations": 0})),
        ("triage_report", json!({"paths": []})),
        ("list_runs", json!({"max_bytes": 10})),
    ];
    for (name, arguments) in calls {
        let answer = agent.request("tools/call", json!({"name": name, "arguments": arguments}));
        assert_eq!(
            answer["error"]["code"], -32602,
            "{name} {arguments}: {answer}"
        );
    }
    let arguments = json!({"name": "list_runs", "arguments": {"max_bytes": 10}});
    let answer = agent.request("tools/call", arguments);
    let error = &answer["error"];
    assert_eq!(
        error["data"]["errors"][0]["pointer"], "/max_bytes",
        "{answer}"
    );
    assert!(error["message"].to_string().contains("4096"), "{answer}");
    let refused = agent.refusal("check_plan", json!({"path": "none.yaml"}));
    assert_eq!(refused["where"], "none.yaml");
    let two = agent.refusal("explain", json!({"rule": "a", "run": "b"}));
    assert_eq!(two["kind"], "bad_arguments");
    let failure = agent.refusal("classify_failure", json!({"failure": {"phase": "never"}}));
    assert_eq!(failure["kind"], "bad_failure");
}

/// Whether whoever started the tests had SIGHUP ignored, as `nohup` does: jelly leaves it so.
fn hangups_are_ignored() -> bool {
    let status = std::fs::read_to_string("/proc/self/status").unwrap_or_default();
    let ignored = status.lines().find_map(|line| line.strip_prefix("SigIgn:"));
    ignored.is_some_and(|mask| u64::from_str_radix(mask.trim(), 16).is_ok_and(|mask| mask & 1 == 1))
}

/// A client that is stopped from outside closes nothing.
#[test]
fn one_signal_ends_it_while_stdin_is_open() {
    use rustix::process::Signal;
    let project = Project::empty();
    for (signal, code) in [(Signal::TERM, 143), (Signal::INT, 130), (Signal::HUP, 143)] {
        if signal == Signal::HUP && hangups_are_ignored() {
            // Past what captures the output of tests.
            let said = "\nSKIPPED: SIGHUP, which whatever runs below nohup ignores\n";
            std::io::stderr().write_all(said.as_bytes()).unwrap();
            continue;
        }
        let mut agent = Agent::start(&project, &[]);
        schemas(&mut agent);
        agent.signal(signal);
        assert_eq!(agent.end().code(), Some(code), "{signal:?}");
    }
}
