//! The wire check: it finds what is planted, and nothing else.

use crate::support::{Project, Run, doctor, fixtures, python, real, run};
use serde_json::{Value, json};

/// One server that breaks one rule.
struct Planted {
    era: &'static str,
    /// Flags of the mock.
    flags: &'static [&'static str],
    /// Level, rule, pointer, section without the revision.
    found: (&'static str, &'static str, &'static str, &'static str),
    revision: &'static str,
}

const fn modern(
    flags: &'static [&'static str],
    found: (&'static str, &'static str, &'static str, &'static str),
) -> Planted {
    Planted {
        era: "modern",
        flags,
        found,
        revision: "2026-07-28",
    }
}

const fn legacy(
    flags: &'static [&'static str],
    found: (&'static str, &'static str, &'static str, &'static str),
) -> Planted {
    Planted {
        era: "legacy",
        flags,
        found,
        revision: "2025-11-25",
    }
}

/// A log message, which nothing but its declaration stands against.
const LOGS: &str = "--fault=set@handshake=/result/capabilities/logging {}";

#[rustfmt::skip]
const PLANTED: &[Planted] = &[
    // ── messages ─────────────────────────────────────────────────────────
    modern(&["--fault=banner@call=Server is up"],
        ("must", "stdout_purity", "", "basic/transports/stdio")),
    legacy(&["--fault=banner@spawn=Server is up"],
        ("must", "stdout_purity", "", "basic/transports, stdio")),
    modern(&["--fault=jsonrpc_version@call"],
        ("must", "jsonrpc", "/jsonrpc", "basic, Messages")),
    modern(&["--fault=drop@call=/jsonrpc"],
        ("must", "jsonrpc", "/jsonrpc", "basic, Messages")),
    modern(&["--fault=banner@call={\"jsonrpc\":\"2.0\",\"method\":7}"],
        ("must", "invalid_message", "/method", "basic, Messages")),
    legacy(&["--fault=banner@call=[{\"jsonrpc\":\"2.0\",\"method\":\"my/own\"}]"],
        ("must", "batch", "", "basic, Messages")),
    legacy(&["--fault=banner@call={\"jsonrpc\":\"2.0\",\"id\":9,\"method\":\"notifications/message\"}"],
        ("must", "notification_id", "/id", "basic, Notifications")),

    // ── whose answer it is ───────────────────────────────────────────────
    modern(&["--fault=wrong_id@call"],
        ("must", "unknown_id", "/id", "basic, Result Responses")),
    modern(&["--fault=wrong_id@call=retyped"],
        ("must", "retyped_id", "/id", "basic, Result Responses")),
    modern(&["--fault=wrong_id@call=null"],
        ("must", "missing_id", "/id", "basic, Error Responses")),
    modern(&["--fault=duplicate@call"],
        ("must", "answered_twice", "/id", "basic, Responses")),
    modern(&["--fault=set@call=/error {\"code\":1,\"message\":\"no\"}"],
        ("must", "result_or_error", "", "basic, Result Responses")),
    modern(&["--fault=null_result@call"],
        ("must", "result_object", "/result", "basic, Result Responses")),

    // ── errors ───────────────────────────────────────────────────────────
    modern(&["--fault=error@call=-32050:no"],
        ("must", "reserved_error_code", "/error/code", "basic, Error Codes")),
    modern(&["--fault=error@call=-32002:no"],
        ("must", "reserved_error_code", "/error/code", "basic, Error Codes")),
    modern(&["--fault=error@call=-32001:no"],
        ("should", "legacy_error_code", "/error/code", "basic, Error Codes")),
    legacy(&["--fault=error@call=-32500:no"],
        ("should", "jsonrpc_error_code", "/error/code", "basic, Error Responses")),
    legacy(&["--fault=error@call", "--fault=set@call=/error/code \"E\""],
        ("must", "shape", "/error/code", "basic, Error Responses")),
    modern(&["--fault=error@call=-32021:no"],
        ("must", "shape", "/error/data", "basic, _meta")),

    // ── shapes of results ────────────────────────────────────────────────
    legacy(&["--fault=drop@initialize=/result/serverInfo"],
        ("must", "shape", "/result/serverInfo", "basic/lifecycle, Initialization")),
    modern(&["--fault=drop@discover=/result/ttlMs"],
        ("must", "shape", "/result/ttlMs", "server/utilities/caching, Cacheable Results")),
    modern(&["--fault=set@list=/result/ttlMs -1"],
        ("must", "shape", "/result/ttlMs", "server/utilities/caching, Cacheable Results")),
    modern(&["--fault=set@list=/result/cacheScope \"all\""],
        ("must", "shape", "/result/cacheScope", "server/utilities/caching, Cacheable Results")),
    modern(&["--fault=set@list=/result/nextCursor null"],
        ("must", "shape", "/result/nextCursor", "server/tools, Listing Tools")),
    modern(&["--fault=set@list=/result/tools/0/description 1"],
        ("must", "shape", "/result/tools/0/description", "server/tools, Tool")),
    modern(&["--fault=drop@list=/result/tools/0/inputSchema/type"],
        ("must", "shape", "/result/tools/0/inputSchema/type", "server/tools, Tool")),
    modern(&["--fault=set@call=/result/content/0/type \"video\""],
        ("must", "shape", "/result/content/0/type", "server/tools, Tool Result")),
    modern(&["--fault=set@call=/result/content/0 {\"type\":\"image\",\"data\":\"a.b\",\"mimeType\":\"image/png\"}"],
        ("must", "shape", "/result/content/0/data", "server/tools, Image Content")),
    modern(&["--fault=set@call=/result/content/0 {\"type\":\"image\",\"data\":\"\"}"],
        ("must", "shape", "/result/content/0/mimeType", "server/tools, Image Content")),
    Planted {
        era: "legacy",
        flags: &[
            "--fault=protocol_version@initialize=2024-11-05",
            "--fault=set@call=/result/content/0 {\"type\":\"audio\",\"data\":\"\",\"mimeType\":\"audio/wav\"}",
        ],
        found: ("must", "shape", "/result/content/0/type", "server/tools, Tool Result"),
        revision: "2024-11-05",
    },

    // ── rules of results ─────────────────────────────────────────────────
    modern(&["--fault=drop@call=/result/resultType"],
        ("must", "shape", "/result/resultType", "basic, Result Responses")),
    modern(&["--fault=set@call=/result/resultType \"other\""],
        ("must", "result_type", "/result/resultType", "basic, ResultType")),
    modern(&["--fault=set@list=/result/resultType \"input_required\"", "--fault=set@list=/result/requestState \"s\""],
        ("must", "input_required", "/result/resultType", "basic/patterns/mrtr, Supported Requests")),
    modern(&["--fault=set@call=/result/_meta/-bad 1"],
        ("must", "meta_key", "/result/_meta/-bad", "basic, _meta")),
    modern(&["--fault=set@call=/result/_meta/dev.mcp~1mine 1"],
        ("should", "meta_reserved", "/result/_meta/dev.mcp~1mine", "basic, _meta")),
    modern(&["--fault=drop@call=/result/_meta"],
        ("should", "server_info", "/result/_meta", "basic, _meta")),
    modern(&["--fault=set@list=/result/tools/0/name \"a b\""],
        ("should", "tool_name", "/result/tools/0/name", "server/tools, Tool Names")),
    modern(&["--fault=set@list=/result/tools/2/name \"add\""],
        ("should", "tool_twice", "/result/tools/2/name", "server/tools, Tool Names")),
    modern(&["--fault=set@list=/result/tools/0/inputSchema/minProperties \"one\""],
        ("must", "schema_invalid", "/result/tools/0/inputSchema/minProperties", "basic, Schema Validation")),

    // ── honesty ──────────────────────────────────────────────────────────
    modern(&["--fault=drop@discover=/result/capabilities/tools"],
        ("must", "undeclared_tools", "/result", "server/tools, Capabilities")),
    legacy(&["--fault=set@initialize=/result/capabilities/prompts {}"],
        ("must", "refused_prompts", "/error/code", "server/prompts, Capabilities")),
    modern(&["--fault=set@discover=/result/capabilities/resources {}"],
        ("must", "refused_resources", "/error/code", "server/resources, Capabilities")),
    legacy(&["--fault=log@call"],
        ("must", "undeclared_logging", "/method", "server/utilities/logging, Capabilities")),
    legacy(&["--fault=notify@call=notifications/tools/list_changed"],
        ("must", "undeclared_notification", "/method", "basic/lifecycle, Operation")),
    legacy(&["--fault=ask_nowait@call:1=roots"],
        ("must", "undeclared_client", "/method", "basic/lifecycle, Operation")),

    // ── what a server says unasked ───────────────────────────────────────
    modern(&["--fault=ask_nowait@call:1=ping"],
        ("must", "server_request", "/method", "basic/transports/stdio, Receiving Messages")),
    legacy(&["--fault=ask_nowait@call=ping"],
        ("must", "request_id_reused", "/id", "basic, Requests")),
    legacy(&["--fault=banner@call={\"jsonrpc\":\"2.0\",\"id\":null,\"method\":\"ping\"}"],
        ("must", "request_id", "/id", "basic, Requests")),
    legacy(&["--fault=banner@initialize={\"jsonrpc\":\"2.0\",\"id\":1,\"method\":\"my/own\"}"],
        ("should", "early_request", "/method", "basic/lifecycle, Initialization")),
    modern(&["--fault=notify@call=notifications/tools/list_changed"],
        ("must", "unasked_notification", "/method", "basic/patterns/subscriptions, Opening a Stream")),
    modern(&["--fault=log@call", LOGS],
        ("must", "unasked_log", "/method", "server/utilities/logging, Per-request log level")),
    legacy(&["--fault=banner@call={\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{\"progressToken\":\"zz\",\"progress\":1}}"],
        ("must", "progress_token", "/params/progressToken", "basic/utilities/progress, Behavior Requirements")),
    legacy(&["--fault=banner@call={\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"loud\",\"data\":1}}", LOGS],
        ("must", "shape", "/params/level", "server/utilities/logging, Log Message Notifications")),
    modern(&["--fault=banner@call={\"jsonrpc\":\"2.0\",\"method\":\"notifications/cancelled\",\"params\":{\"requestId\":1}}"],
        ("must", "cancelled_unknown", "/params/requestId", "basic/patterns/cancellation, Behavior Requirements")),
];

/// A plan of one server for each; what comes of the steps does not matter.
fn plan_of(planted: &[Planted]) -> String {
    let mut plan =
        "version: 1\nbudgets: { max_iterations: 1 }\nwire: strict\nservers:\n".to_owned();
    let mut steps = "steps:\n".to_owned();
    for (i, Planted { era, flags, .. }) in planted.iter().enumerate() {
        let mut args = vec!["mock", "--era", era];
        args.extend(*flags);
        let args = json!(args).to_string().replace("${", "$${");
        plan.push_str(&format!(
            "  s{i}: {{ command: jelly, args: {args}, era: {era}, request_timeout: 10s }}\n"
        ));
        // A tool that is not there is no step, whatever is listed.
        steps.push_str(&format!(
            "  - {{ id: list{i}, server: s{i}, list: tools }}\n"
        ));
        for n in ["one", "two"] {
            steps.push_str(&format!(
                "  - {{ id: {n}{i}, server: s{i}, request: tools/call, \
                 args: {{ name: add, arguments: {{ a: 1, b: 2 }} }} }}\n"
            ));
        }
    }
    plan + &steps
}

#[test]
fn every_planted_breach_is_found_with_its_pointer_and_its_section_and_no_other() {
    let run = run(&plan_of(PLANTED));
    let mut wrong = Vec::new();
    for (i, planted) in PLANTED.iter().enumerate() {
        let server = run.last().server(&format!("s{i}"));
        let found: Vec<Value> = server["wire_check"]["breaches"]
            .as_array()
            .into_iter()
            .flatten()
            .map(|b| json!([b["level"], b["rule"], b["pointer"], b["section"]]))
            .collect();
        let (level, rule, pointer, section) = planted.found;
        let section = format!("{}, {section}", planted.revision);
        let wanted = [json!([level, rule, pointer, section])];
        if found != wanted {
            wrong.push(
                json!({"flags": planted.flags, "wanted": wanted, "found": found,
                              "state": server["state"], "notes": server["notes"]}),
            );
        }
    }
    assert!(wrong.is_empty(), "{:#}\n{}", json!(wrong), run.stdout);
    run.ends(1, "code_failure");
}

/// Nothing but passed steps, and servers without a breach.
#[track_caller]
fn is_clean(run: &Run) {
    run.ends(0, "passed");
    for server in run.last()["servers"].as_array().unwrap() {
        let check = &server["wire_check"];
        assert_eq!(check["breaches"], json!([]), "{server:#}");
        assert!(check["messages"].as_u64() >= Some(3), "{server:#}");
        let case = format!("\"(wire {})\"", server["name"].as_str().unwrap());
        assert!(run.junit.contains(&case), "{}", run.junit);
    }
}

#[test]
fn a_healthy_mock_breaks_nothing_in_any_revision() {
    let script = "
resources: [{ uri: 'demo:a', text: hello }, { uri: 'demo:b', blob: aGVsbG8= }]
prompts: [{ name: greet, text: hello, arguments: [{ name: who }] }]
builtins: true
page_size: 3
";
    let mut plan = "version: 1\nservers:\n".to_owned();
    let mut steps = "steps:\n".to_owned();
    for revision in [
        "2024-11-05",
        "2025-03-26",
        "2025-06-18",
        "2025-11-25",
        "2026-07-28",
    ] {
        let (era, version) = match revision {
            "2026-07-28" => ("modern", String::new()),
            _ => (
                "legacy",
                format!(", --fault, \"protocol_version@initialize={revision}\""),
            ),
        };
        plan.push_str(&format!(
            "  v{revision}: {{ command: jelly, era: {era}, wire: strict, \
             args: [mock, --script, m.yaml, --fault, progress, --era, {era}{version}] }}\n"
        ));
        for step in [
            "list: tools",
            "list: resources",
            "list: prompts",
            "tool: add, args: { a: 1, b: 2 }",
            "tool: fail, args: { message: no }, expect: { is_error: true }",
            "request: tools/call, args: { name: nobody }, expect: { error: { code: -32602 } }",
            "read: 'demo:a'",
            "read: 'demo:b'",
            "read: 'demo:c', expect: { error: { message: { contains: not found } } }",
            "prompt: greet",
            "request: my/own, expect: { error: { code: -32601 } }",
        ] {
            steps.push_str(&format!("  - {{ server: v{revision}, {step} }}\n"));
        }
    }
    let project = Project::with(&(plan + &steps));
    project.write("m.yaml", script);
    let run = project.run(&[]);
    is_clean(&run);
    for server in run.last()["servers"].as_array().unwrap() {
        let revision = server["protocol_version"].as_str().unwrap();
        assert_eq!(server["name"], format!("v{revision}"));
    }
}

/// The plans that ship talk to each of these in many ways.
#[test]
fn real_servers_are_blamed_for_nothing() {
    real("npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    real("pypi/.venv/shell/bin/mcp-shell-server");
    let project = Project::empty();
    let folder = fixtures().parent().unwrap().join("plans");
    for plan in [
        "everything",
        "everything-http",
        "filesystem",
        "memory",
        "shell",
    ] {
        let path = folder.join(plan).with_extension("yaml");
        let path = path.to_str().unwrap();
        let ended = project
            .jelly(&["run", path, "--wire-check", "--seed", "1"])
            .output();
        is_clean(&Run::of(&project, ended));
    }
}

/// The SDK of TypeScript speaks both eras, and whoever sends it `initialize`
/// has chosen the old one; it may be slow to come up.
#[test]
fn a_slow_server_of_both_eras_is_not_blamed_for_being_asked_in_both() {
    let run = run("
version: 1
wire: strict
servers:
  s: { command: jelly, args: [mock, --fault, slow@discover=1500ms, --fault, slow@initialize=20s] }
steps: [{ id: one, tool: add, args: { a: 1, b: 2 } }]
");
    is_clean(&run);
    let server = run.last().server("s");
    assert_eq!(server["era"], "modern");
    let notes = server["notes"].to_string();
    assert!(
        notes.contains("started afresh for the wire check"),
        "{notes}"
    );
}

#[test]
fn a_list_that_never_comes_is_noted_and_no_fault_of_the_first_step() {
    let stuck = python(
        r#"
def hello(request):
    return {"protocolVersion": "2025-11-25", "capabilities": {"tools": {}, "resources": {}},
            "serverInfo": {"name": "stuck", "version": "1"}}

def refuse(request):
    if request["method"] == "resources/list":
        signal.pause()
    if request["method"] == "ping":
        answer(request, {})
    else:
        send({"jsonrpc": "2.0", "id": request["id"],
              "error": {"code": -32601, "message": "no such method"}})

serve(lambda call: answer(call, text("done")))
"#,
    );
    let run = run(&format!(
        "
version: 1
wire: strict
servers: {{ s: {} }}
steps: [{{ id: one, tool: work, timeout: 20s, expect: {{ text: {{ equals: done }} }} }}]
",
        stuck.replacen('{', "{ request_timeout: 1s,", 1)
    ));
    run.ends(0, "passed");
    assert_eq!(run.iterations().len(), 1);
    let notes = run.last().server("s")["notes"].to_string();
    let said = "it declares `resources`, and was asked `resources/list` for the wire check: did \
                not answer";
    assert!(notes.contains(said), "{notes}");
    assert!(notes.contains("was started afresh"), "{notes}");
}

const NOISY: &str = "{ command: jelly, args: [mock, --fault, 'banner@call=hello'] }";

fn two_steps(head: &str) -> String {
    format!(
        "
version: 1
{head}
steps:
  - {{ id: one, tool: echo, args: {{ message: hi }}, expect: {{ text: {{ equals: hi }} }} }}
  - {{ id: two, tool: add, args: {{ a: 1, b: 2 }} }}
"
    )
}

#[test]
fn nothing_is_checked_unless_somebody_asks_for_it() {
    let run = run(&two_steps(&format!("servers: {{ s: {NOISY} }}")));
    run.ends(0, "passed");
    assert!(run.last().server("s").get("wire_check").is_none());
    assert!(!run.junit.contains("(wire"), "{}", run.junit);
    assert!(!run.stdout.contains("WIRE"), "{}", run.stdout);
}

#[test]
fn a_breach_is_a_contract_failure_of_the_server_and_of_no_step() {
    let project = Project::with(&two_steps(&format!("servers: {{ s: {NOISY} }}")));
    let run = project.run(&["--wire-check"]);
    run.ends(1, "code_failure");
    assert_eq!(run.iterations().len(), 1, "one sighting is proof");
    let last = run.last();
    assert_eq!(last.total("passed"), 2);
    let failure = last.failure("s");
    assert_eq!(failure["phase"], "assert");
    assert_eq!(failure["assertion"]["target"], "wire");
    assert_eq!(failure["diagnosis"]["side"], "code");
    assert_eq!(failure["diagnosis"]["root_cause"], "protocol_error");
    let said = "the server writes a line on stdout that is no message: `hello` \
                (2026-07-28, basic/transports/stdio)";
    assert_eq!(failure["message"], said);
    assert_eq!(last.server("s")["wire_check"]["breaches"][0]["count"], 2);
    assert!(run.junit.contains("\"(wire s)\""), "{}", run.junit);
    assert!(
        run.junit.contains("failures=\"1\" errors=\"0\""),
        "{}",
        run.junit
    );
    assert!(
        run.markdown.contains("### Wire check of `s`: "),
        "{}",
        run.markdown
    );
    assert!(
        run.markdown
            .contains("](https://modelcontextprotocol.io/specification/2026-07-28/basic/"),
        "{}",
        run.markdown
    );
    assert!(run.stdout.contains(" messages checked: 1 breach"));
}

#[test]
fn a_server_may_be_left_out_by_the_plan_and_not_from_the_flag() {
    let plan = two_steps(&format!(
        "wire: strict\nservers: {{ s: {} }}",
        NOISY.replace(" }", ", wire: lenient }")
    ));
    let project = Project::with(&plan);
    project.run(&[]).ends(0, "passed");
    project.run(&["--wire-check"]).ends(1, "code_failure");
    let project = Project::with(&plan.replace("lenient", "strickt"));
    let ended = project.call(&[]).output();
    assert_eq!(ended.code, Some(2));
    assert!(
        ended.stderr.contains("did you mean `strict`?"),
        "{}",
        ended.stderr
    );
}

#[test]
fn what_a_server_only_should_do_is_told_and_fails_nothing() {
    let run = run(&two_steps(
        "servers: { s: { command: jelly, wire: strict, args: [mock, --fault, \
         'set@list=/result/tools/0/title \"x\"', --fault, 'set@list=/result/tools/7/name \"a b\"'] } }",
    ));
    run.ends(0, "passed");
    let breaches = &run.last().server("s")["wire_check"]["breaches"];
    assert_eq!(breaches[0]["rule"], "tool_name");
    assert_eq!(breaches[0]["level"], "should");
    assert!(run.junit.contains("\"(wire s)\""), "{}", run.junit);
    assert!(run.markdown.contains("1 note"), "{}", run.markdown);
}

#[test]
fn what_signatures_know_in_a_quoted_line_excuses_nobody() {
    let run = run(&two_steps(
        "servers: { s: { command: jelly, wire: strict, args: [mock, --fault, \
         \"banner@call=Error: connect ECONNREFUSED 127.0.0.1:5432\"] } }",
    ));
    run.ends(1, "code_failure");
    assert_eq!(run.last().failure("s")["diagnosis"]["side"], "code");
}

#[test]
fn what_several_lives_of_a_server_broke_is_one_account() {
    let run = run("
version: 1
wire: strict
budgets: { max_iterations: 1 }
servers: { s: { command: jelly, args: [mock, --fault, 'banner@call=hello'] } }
steps:
  - { id: one, tool: echo, args: { message: hi } }
  - { id: die, tool: crash }
  - { id: two, tool: echo, args: { message: hi } }
");
    let server = run.last().server("s");
    assert_eq!(server["restarts"], 1);
    assert_eq!(
        server["wire_check"]["breaches"][0]["count"], 3,
        "{server:#}"
    );
    let of_server = run.last().failures();
    let wire = of_server
        .iter()
        .filter(|f| f["assertion"]["kind"] == "wire_check");
    assert_eq!(wire.count(), 1);
}

#[test]
fn no_secret_gets_into_the_account() {
    let project = Project::with(
        "
version: 1
wire: strict
servers: { s: { command: jelly, args: [mock, --fault, 'banner@call=the key is swordfish-4711'], env: { API_KEY: '${secret:API_KEY}' } } }
steps: [{ id: one, tool: echo, args: { message: hi } }]
",
    );
    let ended = project.call(&[]).env("API_KEY", "swordfish-4711").output();
    let run = Run::of(&project, ended);
    run.ends(1, "code_failure");
    for text in [
        &run.results.to_string(),
        &run.markdown,
        &run.junit,
        &run.stdout,
    ] {
        // The plan's own argv names it nowhere either: it is redacted there.
        assert!(!text.contains("swordfish"), "{text}");
    }
}

// ── SHOULD is not MUST, and what was missed ──────────────────────────────

/// Before a server that refuses what it does not know: it answers a ping.
const PONGS: &str = "
_refuse = refuse
def refuse(message, *why):
    return answer(message, {}) if message['method'] == 'ping' else _refuse(message, *why)
";

/// A server in Python that declares these capabilities, and does what `body`
/// says with its messages.
fn declaring(capabilities: &str, body: &str) -> String {
    python(&format!(
        "{PONGS}
def hello(request):
    return {{'protocolVersion': request['params']['protocolVersion'],
            'capabilities': {capabilities}, 'serverInfo': {{'name': 's', 'version': '1'}}}}
{body}"
    ))
}

fn strict(server: &str, steps: &str) -> Run {
    let plan = format!("version: 1\nwire: strict\nservers: {{ s: {server} }}\nsteps:\n{steps}");
    Project::with(&plan).run(&["--max-iterations", "1"])
}

/// Level and rule of all that was found.
fn found(run: &Run) -> Vec<(String, String)> {
    let check = &run.last().server("s")["wire_check"];
    let breaches = check["breaches"].as_array().cloned().unwrap_or_default();
    let text = |value: &Value| value.as_str().unwrap_or_default().to_owned();
    breaches
        .iter()
        .map(|b| (text(&b["level"]), text(&b["rule"])))
        .collect()
}

#[test]
fn an_unknown_uri_or_prompt_is_no_unknown_method() {
    let server = declaring(
        "{'tools': {}, 'prompts': {}, 'resources': {'subscribe': True}, 'completions': {}}",
        "
while (message := read()) is not None:
    method = message.get('method')
    if 'id' not in message: continue
    if method == 'initialize': answer(message, hello(message))
    elif method == 'tools/list': answer(message, named(['work']))
    elif method == 'prompts/list': answer(message, {'prompts': [{'name': 'known'}]})
    elif method == 'resources/list': answer(message, {'resources': [{'uri': 'demo://known', 'name': 'k'}]})
    else: refuse(message, -32601, 'no such thing')",
    );
    let steps = "
  - { prompt: nobody, expect: { error: { code: -32601 } } }
  - { read: 'demo://nothing', expect: { error: { code: -32601 } } }
  - { complete: { prompt: nobody, argument: a, value: x }, expect: { error: { code: -32601 } } }
";
    let run = strict(&server, steps);
    assert_eq!(found(&run), []);
    run.ends(0, "passed");
    // What it lists itself it knows, so that it is the method that it does not.
    let run = strict(
        &server,
        "  - { read: 'demo://known', expect: { error: { code: -32601 } } }\n",
    );
    assert_eq!(
        found(&run),
        [("must".to_owned(), "refused_resources".to_owned())]
    );
    run.ends(1, "code_failure");
}

#[test]
fn log_lines_before_the_greeting_are_judged_by_what_it_declares() {
    let body = "
first = True
while (message := read()) is not None:
    method = message.get('method')
    if 'id' not in message: continue
    if method == 'initialize':
        send({'jsonrpc': '2.0', 'method': 'notifications/message', 'params': {'level': 'info', 'data': 'starting'}})
        answer(message, hello(message))
    elif method == 'tools/list': answer(message, named(['work']))
    elif method == 'tools/call': answer(message, text('done'))
    else: refuse(message)";
    let run = strict(
        &declaring("{'tools': {}, 'logging': {}}", body),
        "  - { tool: work }\n",
    );
    assert_eq!(found(&run), []);
    run.ends(0, "passed");
    let run = strict(&declaring("{'tools': {}}", body), "  - { tool: work }\n");
    assert_eq!(
        found(&run),
        [("must".to_owned(), "undeclared_logging".to_owned())]
    );
}

#[test]
fn a_level_that_can_not_be_set_is_no_broken_promise() {
    // Whoever sends log messages has to declare `logging`; nothing says that it
    // lets its client choose the level.
    let server = declaring(
        "{'tools': {}, 'logging': {}}",
        "serve(lambda message: answer(message, text('done')))",
    );
    let step = "  - { request: logging/setLevel, args: { level: info }, expect: { error: { code: -32601 } } }\n";
    let run = strict(&server, step);
    assert_eq!(
        found(&run),
        [("should".to_owned(), "refused_logging".to_owned())]
    );
    run.ends(0, "passed");
}

/// Servers that only a lenient client can talk to: what is wrong, and the rule.
fn unfit() -> [(&'static str, &'static str, String); 3] {
    let with = |send: &str| {
        python(&format!(
            "{PONGS}
def send(message):
    {send}
    sys.stdout.flush()
serve(lambda message: answer(message, text('done')))"
        ))
    };
    [
        (
            "\"1.0\"",
            "jsonrpc",
            with("message['jsonrpc'] = '1.0'; sys.stdout.write(json.dumps(message) + chr(10))"),
        ),
        (
            "leaves out",
            "jsonrpc",
            with("del message['jsonrpc']; sys.stdout.write(json.dumps(message) + chr(10))"),
        ),
        (
            "byte order mark",
            "byte_order_mark",
            with(
                "sys.stdout.buffer.write(b'\\xef\\xbb\\xbf' + json.dumps(message).encode() + b'\\n'); sys.stdout.buffer.flush()",
            ),
        ),
    ]
}

#[test]
fn what_clients_throw_away_is_a_failure_under_the_check() {
    for (_, rule, server) in unfit() {
        let run = strict(&server, "  - { tool: work }\n");
        assert_eq!(found(&run), [("must".to_owned(), rule.to_owned())]);
        run.ends(1, "code_failure");
    }
}

#[test]
fn what_clients_throw_away_is_said_aloud_without_the_check() {
    for (words, _, server) in unfit() {
        let run = run(&format!(
            "version: 1\nservers: {{ s: {server} }}\nsteps:\n  - {{ tool: work }}\n"
        ));
        run.ends(0, "passed");
        let all = format!("{}{}", run.stdout, run.stderr);
        assert!(all.contains(words), "{all}");
        assert!(all.contains("official SDKs refuse"), "{all}");
        assert!(
            run.markdown.contains("official SDKs refuse"),
            "{}",
            run.markdown
        );
    }
}

#[test]
fn a_server_that_clients_throw_away_is_not_healthy_for_the_doctor() {
    for (words, _, server) in unfit() {
        let entry = server
            .replace("command: python3", "\"command\": \"python3\"")
            .replace("args:", "\"args\":")
            .replace("$${", "${");
        let entry: Value = serde_json::from_str(&entry).unwrap();
        let report = doctor::examined(&Project::empty(), &json!({ "s": entry }), "20s");
        let checkup = doctor::of(&report, "s");
        assert_eq!(checkup["state"], "unwell", "{checkup:#}");
        assert!(
            checkup.to_string().contains(words.trim_matches('"')),
            "{checkup:#}"
        );
    }
}

#[test]
fn an_event_that_is_no_message_is_found() {
    use crate::support::http::{Http, json_answer, legacy, result, stream_head, text};
    use std::io::Write;
    let server = Http::serve(|request, out| {
        legacy(request, out, |request, out| {
            if request.header("x-packed") == "json" {
                return json_answer(out, &[], &result(request, text("done")));
            }
            stream_head(out);
            let _ = out.write_all(b"data: working on it\n\ndata: {\"progress\": 50}\n\n");
            let answer = result(request, text("done"));
            let _ = write!(out, "data: {answer}\n\n");
        });
    });
    let run = strict(&server.entry(""), "  - { tool: work }\n");
    assert_eq!(
        found(&run),
        [("must".to_owned(), "invalid_message".to_owned())]
    );
    run.ends(1, "code_failure");
    let lenient = run_lenient(&server.entry(""));
    lenient.ends(0, "passed");
    let notes = lenient.last().server("s")["notes"].to_string();
    assert!(
        notes.contains("sent an event that is no JSON-RPC message"),
        "{notes}"
    );
}

fn run_lenient(server: &str) -> Run {
    run(&format!(
        "version: 1\nservers: {{ s: {server} }}\nsteps:\n  - {{ tool: work }}\n"
    ))
}
