//! Every rule that a live run can meet, through the binary: for each there is
//! a server that fails so, and the report says that this rule decided.
//!
//! Servers are `jelly mock` playing an example of the rule: its texts on
//! stderr, stdout or as answers, its exit codes and signals. What can't be
//! played so stands in [`EXCUSED`], with the reason.

use crate::support::http::{Http, legacy, respond};
use crate::support::{Project, Run, slice};
use jelly_base::model::{Failure, HttpFacts, Outcome, Phase};
use jelly_triage::engine::{Engine, Example, Field, Rule};
use serde_json::{Map, Value, json};
use std::collections::BTreeSet;

/// The domains whose rules read what a live run sees; the others are about
/// reports alone.
const LIVE: &[&str] = &[
    "process",
    "mcp",
    "network",
    "files",
    "config",
    "node",
    "python",
    "runtimes",
    "domain",
    "hint",
    "assertion",
    "timeout",
    "browser",
    "database",
    "container",
    "http",
    "salesforce",
    "service",
    "ci",
];

/// Rules whose scene is more than a server and a step: a plan each. In the
/// project lie `plain`, which can't be executed, `orphan`, whose interpreter does not exist, and `strict.yaml`, a
/// script with a tool that takes `name` alone, and `parses.yaml`, one whose tool
/// was given no JSON.
const PLANS: &[(&str, &str)] = &[
    (
        "timeout/service-not-ready",
        "servers: { s: { command: jelly, args: [mock] } }\nservices: { db: { command: sh, args: [-c, \"echo up; sleep 60\"], startup_timeout: 1s, ready: { line: ready } } }\nsteps: [{ id: a, tool: add, args: { a: 1, b: 2 } }]",
    ),
    (
        "config/service-died",
        "servers: { s: { command: jelly, args: [mock, --fault, \"slow@call=1s\"] } }\nservices: { db: { command: sh, args: [-c, \"echo up; sleep 0.3; exit 3\"], ready: { line: up } } }\nsteps: [{ id: a, tool: add, args: { a: 1, b: 2 } }]",
    ),
    (
        "process/url-as-command",
        "servers: { s: { command: 'https://a.example/mcp' } }\nsteps: [{ id: a, tool: add }]",
    ),
    (
        "process/command-is-a-folder",
        "servers: { s: { command: /tmp } }\nsteps: [{ id: a, tool: add }]",
    ),
    (
        "assertion/answered-too-soon",
        "servers: { s: { command: jelly, args: [mock] } }\nsteps: [{ id: a, tool: add, args: { a: 1, b: 2 }, cancel_after: 20s }]",
    ),
    (
        "network/header-unsendable",
        "servers: { s: { url: 'http://127.0.0.1:1/mcp', headers: { X-Key: \"a\\nb\" } } }\nsteps: [{ id: a, tool: add }]",
    ),
    (
        "process/command-not-found",
        "servers: { s: { command: no-such-command } }\nsteps: [{ id: a, tool: add }]",
    ),
    (
        "process/not-executable-planned",
        "servers: { s: { command: ./plain } }\nsteps: [{ id: a, tool: add }]",
    ),
    (
        "process/interpreter-missing",
        "servers: { s: { command: ./orphan } }\nsteps: [{ id: a, tool: add }]",
    ),
    (
        "mcp/own-limit",
        "servers: { s: { command: jelly, args: [mock, '--fault=banner@call={\"jsonrpc\":\"2.0\",\"result\":[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[[]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]]}'] } }\nsteps: [{ id: a, tool: add, args: { a: 1, b: 2 } }]",
    ),
    (
        "process/cwd-missing",
        "servers: { s: { command: jelly, args: [mock], cwd: gone } }\nsteps: [{ id: a, tool: add }]",
    ),
    (
        "process/cwd-is-no-directory",
        "servers: { s: { command: jelly, args: [mock], cwd: /etc/hosts } }\nsteps: [{ id: a, tool: add }]",
    ),
    (
        "process/missing-variable",
        "servers: { s: { command: jelly, args: [mock], env: { A: '${env:NO_SUCH_VARIABLE}' } } }\nsteps: [{ id: a, tool: add }]",
    ),
    (
        "process/missing-package-argument",
        "servers: { s: { package: { registry: npm, identifier: x, version: '1', package_arguments: [{ type: positional, value_hint: dir, is_required: true }] } } }\nsteps: [{ id: a, tool: add }]",
    ),
    (
        "process/invalid-package",
        "servers: { s: { package: { registry: npm, identifier: x, version: '1', package_arguments: [{ type: named, name: --port, format: number }] }, package_args: { port: x } } }\nsteps: [{ id: a, tool: add }]",
    ),
    (
        "config/snapshot-not-stored",
        "servers: { s: { command: jelly, args: [mock] } }\nsteps: [{ id: a, tool: echo, args: { message: hi }, expect: { text: { snapshot: nowhere } } }]",
    ),
    (
        "config/schema-too-complex",
        "servers: { s: { command: jelly, args: [mock] } }\nsteps: [{ id: a, tool: echo, args: { message: hi }, expect: { json: [{ path: $.content, schema: { $defs: { a: { type: array, minItems: 1, anyOf: [{ $ref: '#/$defs/a' }, { $ref: '#/$defs/a' }] } }, $ref: '#/$defs/a' } }] } }]",
    ),
    (
        "process/exit-between-calls",
        "servers: { s: { command: jelly, args: [mock, --fault, exit_after@call=1] } }\nsteps: [{ id: a, tool: add, args: { a: 1, b: 2 } }, { id: b, tool: add, args: { a: 1, b: 2 } }]",
    ),
    (
        "mcp/unknown-server-planned",
        "servers: { s: { command: jelly, args: [mock] } }\nsteps: [{ id: a, server: t, tool: add }]",
    ),
    (
        "mcp/unknown-tool-planned",
        "servers: { s: { command: jelly, args: [mock] } }\nsteps: [{ id: a, tool: no_such_tool }]",
    ),
    (
        "mcp/invalid-arguments-planned",
        "servers: { s: { command: jelly, args: [mock] } }\nsteps: [{ id: a, tool: add, args: { a: 1 } }]",
    ),
    (
        "mcp/unknown-argument-planned",
        "servers: { s: { command: jelly, args: [mock, --script, strict.yaml] } }\nsteps: [{ id: a, tool: greet, args: { nam: Ada } }]",
    ),
    (
        "mcp/argument-type-planned",
        "servers: { s: { command: jelly, args: [mock] } }\nsteps: [{ id: a, tool: add, args: { a: [], b: 2 } }]",
    ),
    (
        "mcp/protocol-breach",
        "servers: { s: { command: jelly, args: [mock, --fault, null_result@call] } }\nsteps: [{ id: a, tool: add, args: { a: 1, b: 2 } }]",
    ),
    (
        "assertion/output-schema",
        "servers: { s: { command: jelly, args: [mock, --fault, 'schema_breach@tool:add'] } }\nsteps: [{ id: a, tool: add, args: { a: 1, b: 2 } }]",
    ),
    (
        "mcp/http-mode-under-stdio",
        "servers: { s: { command: python3, args: [-c, 'import time; time.sleep(9)', --transport, sse], startup_timeout: 1s } }\nsteps: [{ id: a, tool: add }]",
    ),
    (
        "mcp/text-not-parsed",
        "servers: { s: { command: jelly, args: [mock, --script, parses.yaml] } }\nsteps: [{ id: a, tool: parse }]",
    ),
    (
        "timeout/interpreter-without-program",
        "servers: { s: { command: python3, startup_timeout: 1s } }\nsteps: [{ id: a, tool: add }]",
    ),
];

const HTTP: &str = "it takes more than a status: http_faults.rs shows it, or a port of its own";
const RACE: &str = "which end of the connection is seen first decides whether it is this one";
const CLIENT: &str = "only other clients, in whose words it is told, go wrong so";
const TOLERATED: &str = "a run goes on past this; records of stricter clients carry it";
const CHECKED: &str = "a run looks before it starts or sends anything, so only a race shows it";

/// Why no run of the binary shows the rule.
const EXCUSED: &[(&str, &str)] = &[
    (
        "mcp/list-refused-by-client",
        "another client tells it; a run reads the list itself",
    ),
    (
        "timeout/call-and-gone",
        "the mock does not go when a call is given up; `logged.rs` has one that does",
    ),
    (
        "network/hung-up-at-first",
        "the peer hangs up; `http_named.rs` has such",
    ),
    (
        "network/authorities-unreadable",
        "it needs a server of TLS; `http_named.rs` has one",
    ),
    (
        "process/spawn-enoent",
        "a run says what is not there: the command, its folder or its interpreter",
    ),
    (
        "process/loader-missing",
        "it takes a program of this machine; the tests of `process` have one",
    ),
    (
        "process/arguments-too-long",
        "a plan with an argument of 128 KiB would be read by nobody",
    ),
    (
        "mcp/noise-told-at-startup",
        "another client tells it; a run sees the noise itself",
    ),
    (
        "mcp/noise-told-in-call",
        "another client tells it; a run sees the noise itself",
    ),
    (
        "process/no-program",
        "what the file is can be seen where it lies, and says more",
    ),
    (
        "process/words-lost",
        "a scene's command stands for the server itself, with no shell before it",
    ),
    (
        "timeout/until",
        "the answers have to change, as in tests/it/repeated_steps.rs",
    ),
    (
        "mcp/definition-changed",
        "a run is held to a lock by --locked alone; `contracts` has a test of it",
    ),
    (
        "mcp/promise-broken",
        "a run is held to a lock by --locked alone; `contracts` has a test of it",
    ),
    (
        "process/refused-by-the-system",
        "another architecture's program and a broken library are not had on every machine",
    ),
    (
        "process/not-executable",
        "a run looks at the file and knows more; records of other clients say ENOEXEC only",
    ),
    (
        "files/no-temporary-folder",
        "without TMPDIR no run of many steps is had; `resources` has a test of it",
    ),
    (
        "process/not-executable-for-this-user",
        "a run starts servers as its own user; records of other clients name another one",
    ),
    (
        "mcp/method-of-no-revision",
        "it reads what Python's SDK answers to a method that it does not know",
    ),
    ("mcp/no-server-at-all", CLIENT),
    ("mcp/method-refused-by-client", CLIENT),
    ("mcp/body-is-no-json", CLIENT),
    (
        "process/missing-directory",
        "a run gives the error of the start too, which process/cwd-missing reads",
    ),
    (
        "mcp/listens-elsewhere",
        "only a server over HTTP is reached at a port: see `http`",
    ),
    (
        "mcp/header-mismatch",
        "only a server over HTTP reads headers: see `http`",
    ),
    ("mcp/pin-not-spoken", "see `protocol_slips`"),
    ("mcp/unanswered", "see `protocol_slips`"),
    ("mcp/error-of-the-other-kind", "see `protocol_slips`"),
    ("mcp/question-of-the-other-era", "see `protocol_slips`"),
    ("network/proxy-wants-credentials", "see `http_named`"),
    ("network/server-behind-proxy", "see `http_named`"),
    ("network/proxy-speaks-plain", "see `http_named`"),
    ("network/proxy-unreachable", "see `http_named`"),
    ("network/proxy-refuses", "see `http_named`"),
    ("network/proxy-of-another-kind", "see `http_named`"),
    ("network/refused-through-proxy", "see `http_named`"),
    ("network/page-in-mid-run", "see `http_named`"),
    ("network/call-lost", "see `http_named`"),
    (
        "process/being-written",
        "it takes a file that somebody has open; `resources` has a test of it",
    ),
    (
        "process/spawn-exhausted",
        "it takes a machine without room for processes",
    ),
    (
        "process/would-not-stop",
        "SIGKILL ends every child of a run's own",
    ),
    ("mcp/unlisted-tool", CHECKED),
    (
        "mcp/input-asked-for",
        "the mock waits for no input in the rounds of a call",
    ),
    ("mcp/launcher-banner", TOLERATED),
    ("mcp/wrapper-banner", TOLERATED),
    ("mcp/noise-at-startup", TOLERATED),
    ("mcp/noise-in-call", TOLERATED),
    ("mcp/unreadable-lists", "a run names the breach itself"),
    ("mcp/unreadable-result", "a run names the breach itself"),
    ("mcp/empty-result", TOLERATED),
    (
        "mcp/unknown-resource-by-method",
        "steps call tools and list; they read no resource",
    ),
    ("hint/error-in-good-answer", TOLERATED),
    (
        "config/plan",
        "what is wrong with a plan has an issue of its own",
    ),
    ("mcp/wrong-http-flavour", CLIENT),
    ("network/dns-of-the-url", HTTP),
    ("network/plain-to-tls", HTTP),
    ("network/tls-to-plain", HTTP),
    ("network/no-http-at-all", HTTP),
    ("network/bad-url", HTTP),
    ("network/stream-broke-off", RACE),
];

/// A server that fails as an example says, and the step that meets it.
struct Scene {
    script: Value,
    tool: String,
    args: Value,
    /// More of the server's entry in the plan.
    entry: Map<String, Value>,
    expect: Option<Value>,
    /// What is answered over HTTP, and to which request; all, if to none.
    http: Option<(HttpFacts, Option<&'static str>)>,
    /// Of the URL, without the first slash.
    path: String,
}

impl Scene {
    fn new(script: Value) -> Self {
        Self {
            script,
            tool: "add".into(),
            args: json!({ "a": 1, "b": 2 }),
            entry: Map::new(),
            expect: None,
            http: None,
            path: String::new(),
        }
    }

    /// A server over HTTP that answers so.
    fn over_http(facts: &HttpFacts, phase: Phase) -> Option<Self> {
        facts.status?;
        let to = match phase {
            Phase::Handshake => None,
            Phase::List => Some("tools/list"),
            Phase::Call => Some("tools/call"),
            Phase::Config | Phase::Spawn | Phase::Assert | Phase::Teardown => return None,
        };
        let mut scene = Self::new(Value::Null);
        scene.http = Some((facts.clone(), to));
        scene.tool = "work".into();
        Some(scene)
    }
}

/// A healthy server, but for the answer of the scene.
fn serve((facts, to): &(HttpFacts, Option<&'static str>)) -> Http {
    let (facts, to) = (facts.clone(), *to);
    Http::serve(move |request, out| {
        if to.is_some_and(|to| request.method() != to) {
            return legacy(request, out, |_, _| {});
        }
        let headers: Vec<String> = facts
            .headers
            .iter()
            .map(|(name, value)| format!("{name}: {}", value.as_str().unwrap_or_default()))
            .collect();
        let headers: Vec<&str> = headers.iter().map(String::as_str).collect();
        let body = facts.body.clone().unwrap_or_default();
        respond(out, facts.status.unwrap_or(200), &headers, body);
    })
}

fn fault(kind: &str, at: &str, value: &str) -> Value {
    json!({ "kind": kind, "at": at, "value": value })
}

/// What the server prints before it does anything; in a call that it does not answer, what it
/// says of that call.
fn printed(failure: &Failure) -> Vec<Value> {
    let unanswered = matches!(failure.outcome, Some(Outcome::Eof | Outcome::Timeout));
    let at = match failure.phase {
        Some(Phase::Call | Phase::Assert) if unanswered => "call",
        _ => "spawn",
    };
    let mut faults = Vec::new();
    if let Some(text) = failure.stderr.as_deref().filter(|t| !t.trim().is_empty()) {
        faults.push(fault("stderr", at, text));
    }
    if !failure.stdout_noise.is_empty() {
        faults.push(fault("banner", "spawn", &failure.stdout_noise.join("\n")));
    }
    faults
}

fn ending(failure: &Failure, at: &str) -> Value {
    match failure.exit.as_ref() {
        Some(exit) => match (&exit.signal, exit.code) {
            (Some(signal), _) => fault("kill", at, signal),
            (None, code) => fault("exit", at, &code.unwrap_or(1).to_string()),
        },
        None => fault("exit", at, "1"),
    }
}

/// The scene of a failure, where a mock can play it.
fn scene(failure: &Failure) -> Option<Scene> {
    if let Some(http) = &failure.http {
        let mut scene = Scene::over_http(http, failure.phase?)?;
        let url = failure.url.as_deref().unwrap_or_default();
        let path = url.splitn(4, '/').nth(3).unwrap_or("mcp");
        path.clone_into(&mut scene.path);
        return Some(scene);
    }
    if failure.url.is_some() || failure.issue.is_some() {
        return None;
    }
    let mut faults = printed(failure);
    let tool = failure
        .request
        .as_ref()
        .and_then(|request| request.params.as_ref())
        .and_then(|params| params.get("name"))
        .and_then(Value::as_str)
        .unwrap_or("add")
        .to_owned();
    match (failure.phase?, failure.outcome) {
        (Phase::Handshake | Phase::Spawn, Some(Outcome::Timeout)) => {
            faults.push(json!("mute"));
            let mut scene = Scene::new(json!({ "faults": faults }));
            scene.entry.insert("startup_timeout".into(), json!("1s"));
            Some(scene)
        }
        (Phase::Handshake | Phase::Spawn, Some(Outcome::Eof) | None) => {
            faults.push(ending(failure, "spawn"));
            Some(Scene::new(json!({ "faults": faults })))
        }
        (Phase::Handshake, Some(Outcome::Error)) => {
            let error = failure.rpc_error.as_ref()?;
            faults.push(fault(
                "error",
                "handshake",
                &format!("{}:{}", error.code.unwrap_or(0), error.message),
            ));
            Some(Scene::new(json!({ "faults": faults, "era": "legacy" })))
        }
        (Phase::List, Some(Outcome::Eof)) => {
            faults.push(ending(failure, "list"));
            Some(Scene::new(json!({ "faults": faults })))
        }
        (Phase::List, Some(Outcome::Error)) => {
            let error = failure.rpc_error.as_ref()?;
            faults.push(fault(
                "error",
                "list",
                &format!("{}:{}", error.code.unwrap_or(0), error.message),
            ));
            Some(Scene::new(json!({ "faults": faults })))
        }
        (Phase::Call | Phase::Assert, Some(Outcome::Eof)) => {
            faults.push(ending(failure, "call"));
            Some(Scene::new(json!({ "faults": faults })))
        }
        (Phase::Call, Some(Outcome::Timeout)) => {
            faults.push(json!("hang@call"));
            let mut scene = Scene::new(json!({ "faults": faults }));
            scene.entry.insert("request_timeout".into(), json!("1s"));
            Some(scene)
        }
        (Phase::Call | Phase::Assert, Some(Outcome::Result | Outcome::Error)) => {
            let response = match (&failure.tool_result, &failure.rpc_error) {
                (Some(result), _) => json!({ "text": result.text, "isError": result.is_error }),
                (None, Some(error)) => {
                    let mut told = json!({ "code": error.code, "message": error.message });
                    if let Some(data) = &error.data {
                        told["data"] = data.clone();
                    }
                    json!({ "error": told })
                }
                (None, None) => return None,
            };
            let mut scene = Scene::new(json!({
                "faults": faults,
                "tools": [{ "name": tool, "response": response }],
            }));
            scene.expect = failure
                .assertion
                .as_ref()
                .filter(|a| a.kind != "output_schema" && a.expected.is_string())
                .map(|a| json!({ "text": { a.kind.clone(): a.expected } }));
            scene.tool = tool;
            // A tool that is told a path is the common case.
            scene.args = failure
                .request
                .as_ref()
                .and_then(|request| request.params.as_ref())
                .map_or(json!({ "path": "/w/x" }), |params| {
                    params.get("arguments").cloned().unwrap_or(json!({}))
                });
            Some(scene)
        }
        _ => None,
    }
}

/// The scenes of a rule's examples.
fn scenes(rule: &Rule) -> Vec<Scene> {
    let mut scenes = Vec::new();
    for example in rule.examples() {
        match example {
            Example::Failure(failure) => scenes.extend(scene(failure)),
            Example::Text(text) => {
                for field in [Field::Stderr, Field::Answer, Field::Stdout] {
                    if rule.fields.contains(&field) {
                        scenes.extend(scene(&jelly_triage::engine::specimen(field, text)));
                    }
                }
            }
        }
    }
    // References of a script would be taken for its own.
    scenes.retain(|scene| !scene.script.to_string().contains("${"));
    scenes
}

fn live_rules() -> Vec<&'static Rule> {
    Engine::builtin()
        .rules()
        .filter(|rule| {
            let domain = rule.id.split('/').next().unwrap_or_default();
            LIVE.contains(&domain)
        })
        .filter(|rule| {
            rule.examples().iter().any(|example| match example {
                Example::Failure(failure) => failure.phase.is_some(),
                Example::Text(_) => rule.fields.iter().any(|field| {
                    matches!(
                        field,
                        Field::Stderr | Field::Stdout | Field::Answer | Field::Message
                    )
                }),
            })
        })
        .collect()
}

/// One run with a server for each scene; the rules that decided, by server.
fn play(scenes: &[(String, Scene)]) -> Run {
    let project = Project::empty();
    let mut servers = Map::new();
    let mut steps = Vec::new();
    for (name, scene) in scenes {
        project.write(&format!("{name}.yaml"), scene.script.to_string());
        let mut entry = json!({
            "command": "jelly",
            "args": ["mock", "--script", project.at(&format!("{name}.yaml"))],
        });
        if let Some(http) = &scene.http {
            let port = serve(http).port;
            entry = json!({ "url": format!("http://127.0.0.1:{port}/{}", scene.path) });
        }
        if let Some(map) = entry.as_object_mut() {
            map.extend(scene.entry.clone());
        }
        servers.insert(name.clone(), entry);
        let mut step = json!({
            "id": format!("step-{name}"),
            "server": name,
            "tool": scene.tool,
            "args": scene.args,
        });
        if let Some(expect) = &scene.expect {
            step["expect"] = expect.clone();
        }
        steps.push(step);
    }
    let plan = json!({ "version": 1, "servers": servers, "steps": steps });
    project.write("plan.yaml", plan.to_string());
    project.run(&["--max-iterations", "1"])
}

/// The rules that decided in a run.
fn decided(run: &Run) -> Vec<String> {
    assert!(!run.iterations().is_empty(), "{}{}", run.stdout, run.stderr);
    run.last()
        .failures()
        .into_iter()
        .filter_map(|failure| failure["diagnosis"]["rule"].as_str().map(str::to_owned))
        .collect()
}

#[test]
fn every_live_rule_decides_a_run_of_the_binary_or_is_excused() {
    let rules = live_rules();
    let planned: BTreeSet<&str> = PLANS.iter().map(|(id, _)| *id).collect();
    let excused: BTreeSet<&str> = EXCUSED.iter().map(|(id, _)| *id).collect();
    for id in planned.iter().chain(&excused) {
        assert!(
            rules.iter().any(|rule| rule.id == *id),
            "{id} is no live rule"
        );
    }
    let mut all: Vec<(String, Scene)> = Vec::new();
    for (index, rule) in slice(8, rules.iter().enumerate()) {
        for (turn, scene) in scenes(rule).into_iter().enumerate() {
            all.push((format!("r{index}-{turn}"), scene));
        }
    }
    let mut seen: BTreeSet<String> = BTreeSet::new();
    for chunk in all.chunks(60) {
        seen.extend(decided(&play(chunk)));
    }
    let missing: Vec<&str> = slice(8, &rules)
        .into_iter()
        .map(|rule| rule.id.as_str())
        .filter(|id| !seen.contains(*id) && !planned.contains(id) && !excused.contains(id))
        .collect();
    assert!(
        missing.is_empty(),
        "no example shows them in a run; give each a plan or an excuse:\n{}",
        missing.join("\n")
    );
    let needless: Vec<&str> = EXCUSED
        .iter()
        .filter(|(id, reason)| *reason != RACE && seen.contains(*id))
        .map(|(id, _)| *id)
        .collect();
    assert!(needless.is_empty(), "excused, and seen: {needless:?}");
}

#[test]
fn rules_about_plans_and_programs_decide_a_run_of_a_plan_each() {
    for (id, plan) in slice(3, PLANS) {
        let project = Project::with(&format!("version: 1\n{plan}\n"));
        project.write("plain", "echo no\n");
        project.write(
            "strict.yaml",
            "tools: [{ name: greet, inputSchema: { type: object, properties: { name: {} }, additionalProperties: false } }]",
        );
        project.write(
            "parses.yaml",
            "tools: [{ name: parse, response: { isError: true, text: 'parse failed: Expecting value: line 3 column 2 (char 41)' } }]",
        );
        project.script("orphan", "#!/no/such/interpreter\n");
        let run = project.run(&["--max-iterations", "1"]);
        let decided = decided(&run);
        assert!(
            decided.iter().any(|rule| rule == id),
            "{id}: {decided:?}\n{}",
            run.stdout
        );
    }
}
