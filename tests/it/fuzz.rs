//! `jelly fuzz`: inputs that nobody wrote down.

use crate::support::{Ended, Project, fixtures};
use jelly_base::testing::all_cases;
use serde_json::Value;
use std::collections::BTreeSet;
use std::time::Duration;

/// What a call printed and wrote.
struct Tried {
    ended: Ended,
    report: Value,
}

impl Tried {
    /// `kind tool` of each finding with this status.
    fn found(&self, status: &str) -> BTreeSet<String> {
        let findings = self.report["findings"].as_array().into_iter().flatten();
        findings
            .filter(|it| it["status"] == status)
            .map(|it| format!("{} {}", it["kind"], it["tool"]).replace('"', ""))
            .collect()
    }

    /// The calls of the finding of this kind at this tool.
    fn calls(&self, kind: &str, tool: &str) -> Vec<Value> {
        let mut findings = self.report["findings"].as_array().into_iter().flatten();
        let finding = findings.find(|it| it["kind"] == kind && it["tool"] == tool);
        let calls = finding.and_then(|it| it["calls"].as_array());
        calls.map_or_else(Vec::new, |calls| {
            calls.iter().map(|call| call["arguments"].clone()).collect()
        })
    }
}

impl Tried {
    /// Each finding has a step, which fails.
    fn shown_by_their_plan(&self, project: &Project) {
        let plan = self.report["plan"].as_str().unwrap();
        let checked = project.jelly(&["check", plan]).output();
        assert_eq!(checked.code, Some(0), "{}", checked.stderr);
        let run = ["run", plan, "--no-history", "--format", "json"];
        let run = project.jelly(&run).limit(Duration::from_secs(60)).output();
        let run: Value = serde_json::from_str(&run.stdout).unwrap();
        assert_eq!(run["exit_code"], 1, "{}", run["verdict"]);
        let steps = run["iterations"][0]["steps"].as_array().unwrap();
        let servers = run["iterations"][0]["failures"].as_array().unwrap();
        for finding in self.report["findings"].as_array().unwrap() {
            let id = finding["step"].as_str();
            let id = id.unwrap_or_else(|| panic!("it has no step: {finding}"));
            let step = steps.iter().find(|step| step["id"] == id).unwrap();
            // A breach of the protocol is the server's, not the step's.
            let broke = servers.iter().any(|it| it["server"] == id);
            assert!(step["state"] == "failed" || broke, "{step}");
        }
    }
}

fn tried(project: &Project, flags: &[&str], server: &[&str]) -> Tried {
    let mut args = vec!["fuzz", "--format", "json"];
    args.extend(flags);
    args.push("--");
    args.extend(server);
    let call = project.jelly(&args).limit(Duration::from_secs(170));
    let ended = call.output();
    let report = serde_json::from_str(&ended.stdout).unwrap_or_default();
    Tried { ended, report }
}

fn fixture(name: &str) -> String {
    fixtures().join("fuzz").join(name).display().to_string()
}

/// A dozen planted bugs, each found, confirmed, and as small as a person would write
/// it; and the plan of them fails as they did.
#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn planted_bugs_are_found_and_shrunk_and_the_plan_shows_them_again() {
    let project = Project::empty();
    let server = fixture("planted.py");
    let flags = ["--call-timeout", "1s", "--max-calls", "360"];
    let tried = tried(&project, &flags, &["python3", &server]);
    assert_eq!(tried.ended.code, Some(1), "{}", tried.ended.stderr);
    let wanted: BTreeSet<String> = [
        "died shout",
        "died measure",
        "died reverse",
        "hung countdown",
        "output_schema area",
        "internal_error paint",
        "state_changed lookup",
        "bound_refused page",
        "lost_request ping_me",
        "accepted_invalid register",
        "traceback parse",
        "answered_twice repeat",
    ]
    .map(str::to_owned)
    .into();
    assert_eq!(tried.found("confirmed"), wanted, "{}", tried.ended.stdout);
    assert_eq!(tried.found("flaky"), BTreeSet::new());
    for (kind, tool, arguments) in [
        ("died", "shout", r#"{"text":""}"#),
        ("died", "reverse", r#"{"text":"é"}"#),
        ("hung", "countdown", r#"{"start":-1}"#),
        ("output_schema", "area", r#"{"width":0,"height":0}"#),
        ("internal_error", "paint", r#"{"color":"blue"}"#),
        ("bound_refused", "page", r#"{"number":5}"#),
        ("traceback", "parse", r#"{"date":""}"#),
        ("answered_twice", "repeat", r#"{"text":"","twice":true}"#),
    ] {
        let calls = tried.calls(kind, tool);
        let calls: Vec<String> = calls.iter().map(Value::to_string).collect();
        assert_eq!(calls, [arguments], "{kind} {tool}");
    }
    let long = &tried.calls("died", "measure")[0]["text"];
    assert_eq!(long.as_str().map(str::len), Some(65_536));

    tried.shown_by_their_plan(&project);
    // Two requests at once are one step.
    let at_once = project.read("reports/fuzz/plan.yaml");
    let at_once = at_once.lines().find(|line| line.contains("at_once: "));
    assert!(at_once.unwrap().contains("tool: ping_me"), "{at_once:?}");
}

/// Ids of one start mean nothing to the next: what shows with those of a fresh server is
/// confirmed, and the plan asks for them.
#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn ids_that_are_made_anew_at_each_start_are_asked_for_again() {
    let project = Project::empty();
    let server = fixture("fresh_ids.py");
    for form in [&[][..], &["--text"]] {
        let words = [&["python3", &server][..], form].concat();
        let tried = tried(&project, &["--max-calls", "150"], &words);
        let wanted = ["died item_age", "internal_error get_item"].map(str::to_owned);
        let found = tried.found("confirmed");
        assert_eq!(found, wanted.into(), "{}", tried.ended.stdout);
        assert_eq!(tried.found("flaky"), BTreeSet::new());
        for finding in tried.report["findings"].as_array().unwrap() {
            let calls = finding["calls"].as_array().unwrap();
            assert_eq!(calls.len(), 2, "{finding}");
            assert_eq!(calls[0]["tool"], "list_items", "{finding}");
            let taken = &calls[1]["taken"][0];
            assert_eq!(taken["argument"], "item_id", "{finding}");
            assert_eq!(taken["call"], 0, "{finding}");
        }
        tried.shown_by_their_plan(&project);
    }
}

/// The same servers without their bugs: nothing is found, in hundreds of cases.
#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn nothing_is_found_in_a_server_that_is_sound() {
    let project = Project::empty();
    for (program, script) in [("python3", "planted.py"), ("node", "notes.mjs")] {
        let script = fixture(script);
        let cases = if all_cases() { 1000 } else { 250 };
        let flags = ["--max-calls", &cases.to_string()];
        let tried = tried(&project, &flags, &[program, &script, "--clean"]);
        assert_eq!(tried.ended.code, Some(0), "{}", tried.ended.stdout);
        assert_eq!(tried.report["findings"], Value::Array(Vec::new()));
        assert_eq!(tried.report["totals"]["cases"], cases);
        assert_eq!(tried.report["plan"], Value::Null);
    }
}

/// Other bugs, at other places: nested arguments, lists, defaults, unions, ids that
/// another tool returned, an answer that comes twice and late.
#[test]
#[ignore = "takes long, and is of the kind of the planted bugs; `.ci/full` runs it"]
fn bugs_behind_nested_and_optional_arguments_are_found() {
    let project = Project::empty();
    let server = fixture("notes.mjs");
    let flags = ["--call-timeout", "1s", "--max-calls", "450"];
    let tried = tried(&project, &flags, &["node", &server]);
    let found = tried.found("confirmed");
    for wanted in [
        "died list_notes",
        "died render",
        "hung search",
        "traceback search",
        "internal_error get_note",
        "internal_error list_notes",
        "output_schema list_notes",
        "state_changed weather",
        "answered_twice status",
        "lost_request stats",
        "accepted_invalid user",
    ] {
        assert!(found.contains(wanted), "{wanted}: {found:?}");
    }
    let nested = r#"{"filter":{"tags":[]}}"#;
    assert_eq!(tried.calls("died", "list_notes")[0].to_string(), nested);
    let fed = r#"{"note_id":"n-1","format":"html"}"#;
    assert_eq!(
        tried.calls("internal_error", "get_note")[0].to_string(),
        fed
    );
}

/// What may be called, and what may not, and how the command ends.
#[test]
fn only_what_reads_is_called_unless_it_is_named() {
    let project = Project::empty();
    project.write(
        "desk.yaml",
        "name: desk\ntools:\n  \
         - name: look\n    annotations: { readOnlyHint: true }\n    inputSchema: { type: object }\n    response: { text: seen }\n  \
         - name: wipe\n    inputSchema: { type: object }\n    response: { text: gone }\n",
    );
    project.write(
        "writes.yaml",
        "name: writes\ntools:\n  - name: wipe\n    inputSchema: { type: object }\n    response: { text: gone }\n",
    );
    let desk = ["jelly", "mock", "--script", "desk.yaml"];
    let all = tried(&project, &[], &desk);
    assert_eq!(all.ended.code, Some(0), "{}", all.ended.stderr);
    assert_eq!(all.report["tools"][0]["name"], "look");
    assert_eq!(all.report["left_out"][0]["name"], "wipe");
    assert_eq!(all.report["totals"]["left_out"], 1);
    let named = tried(&project, &["--tool", "wipe"], &desk);
    assert_eq!(named.report["totals"]["tools"], 2);
    for (flags, server, code, says) in [
        (
            &[][..],
            &["jelly", "mock", "--script", "writes.yaml"][..],
            2,
            "--call-all",
        ),
        (&["--tool", "wip"], &desk, 2, "did you mean `wipe`?"),
        (&["--max-calls", "0"], &desk, 2, "max-calls"),
        (&[], &["no-such-program"], 3, "command_not_found"),
        (&["--deadline", "1ms"], &desk, 3, ""),
    ] {
        let ended = tried(&project, flags, server).ended;
        assert_eq!(ended.code, Some(code), "{flags:?} {}", ended.stderr);
        assert!(ended.stderr.contains(says), "{flags:?} {}", ended.stderr);
    }
    let remote = ["fuzz", "--url", "https://example.com/mcp"];
    let remote = project.jelly(&remote).output();
    assert_eq!(remote.code, Some(2), "{}", remote.stderr);
    assert!(
        remote.stderr.contains("--allow-remote"),
        "{}",
        remote.stderr
    );
    // What an earlier call found is not left for this one's; what is nobody's plan of ours is.
    let old = "version: 1\nname: what jelly fuzz --seed 0 found in x\nservers: {}\nsteps: []\n";
    for (text, code) in [(old, 0), ("version: 1\nname: mine\n", 2)] {
        project.write("kept.yaml", text);
        let flags = ["-o", "kept.yaml", "--max-calls", "2"];
        let none = tried(&project, &flags, &desk);
        assert_eq!(none.ended.code, Some(code), "{}", none.ended.stderr);
        assert_eq!(project.exists("kept.yaml"), code == 2, "{text}");
    }
    // Where one call ends another goes on: together they are the whole.
    let most = |flags: &[&str]| {
        let tried = tried(&project, flags, &desk);
        (
            tried.report["totals"]["cases"].clone(),
            tried.report["next"].clone(),
        )
    };
    let (whole, end) = most(&[]);
    let (first, next) = most(&["--max-calls", "2"]);
    let (second, same) = most(&["--skip", &next.to_string()]);
    assert_eq!(
        first.as_u64().zip(second.as_u64()).map(|(a, b)| a + b),
        whole.as_u64()
    );
    assert_eq!(end, same);
}

/// A server whose tool is called by a secret.
const TELLING: &str = r#"
import json, os, sys
name = "n_" + os.environ["API_TOKEN"]
tool = {"name": name, "inputSchema": {"type": "object", "properties": {"a": {"type": "string"}}}}
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    result = {
        "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                       "serverInfo": {"name": name, "version": "1"}},
        "tools/list": {"tools": [tool]},
        "tools/call": {"content": [{"type": "text", "text": name}]},
    }.get(message["method"], {})
    print(json.dumps({"jsonrpc": "2.0", "id": message["id"], "result": result}), flush=True)
"#;

#[test]
fn the_summary_holds_no_secret() {
    let secret = "Pz01KqVbTx81mWr01Lf";
    let project = Project::empty();
    project.write("server.py", TELLING);
    project.write(
        "mcp.json",
        format!(
            "{{\"mcpServers\": {{\"s\": {{\"command\": \"python3\", \"args\": [\"server.py\"], \
             \"env\": {{\"API_TOKEN\": \"{secret}\"}}}}}}}}"
        ),
    );
    for format in ["human", "json"] {
        let args = ["fuzz", "--call-all", "--max-calls", "4", "--format", format];
        let ended = project
            .jelly(&[&args[..], &["--config", "mcp.json", "--server", "s"]].concat())
            .output();
        assert!(
            ended.stdout.contains("n_"),
            "{}{}",
            ended.stdout,
            ended.stderr
        );
        for said in [&ended.stdout, &ended.stderr] {
            assert!(!said.contains(secret), "{said}");
        }
    }
}
