//! What a plan has wrong about the protocol, found only when the server speaks: it is named by
//! the plan's own line, test-side, with what to write.

use crate::support::{Project, Run};

/// Speaks one revision, and has tools that fail or ask in each way.
const SERVER: &str = r#"
import json, sys
revision = sys.argv[1]
modern = revision >= '2026'
def send(message):
    sys.stdout.write(json.dumps({'jsonrpc': '2.0', **message}) + '\n'); sys.stdout.flush()
def ask(method, params):
    send({'id': 'q', 'method': method, 'params': params})
    while True:
        answer = json.loads(sys.stdin.readline())
        if answer.get('id') == 'q': return answer
for line in sys.stdin:
    m = json.loads(line)
    id, method = m.get('id'), m.get('method')
    if id is None: continue
    done = {'resultType': 'complete'} if modern else {}
    name = m.get('params', {}).get('name')
    if method == 'initialize' and not modern:
        send({'id': id, 'result': {'protocolVersion': revision, 'capabilities': {'tools': {}}, 'serverInfo': {'name': 's', 'version': '1'}}})
    elif method == 'server/discover' and modern:
        send({'id': id, 'result': {**done, 'supportedVersions': [revision], 'capabilities': {'tools': {}}, 'ttlMs': 0, 'cacheScope': 'private'}})
    elif method == 'tools/list':
        names = ['by_rpc', 'by_result', 'elicit', 'sample']
        send({'id': id, 'result': {**done, 'ttlMs': 0, 'cacheScope': 'private', 'tools': [{'name': n, 'inputSchema': {'type': 'object'}} for n in names]}})
    elif method == 'tools/call' and name == 'by_rpc':
        send({'id': id, 'error': {'code': -32602, 'message': 'no such city'}})
    elif method == 'tools/call' and name == 'by_result':
        send({'id': id, 'result': {**done, 'isError': True, 'content': [{'type': 'text', 'text': 'no such city'}]}})
    elif method == 'tools/call':
        kind = {'elicit': 'elicitation/create', 'sample': 'sampling/createMessage'}[name]
        answer = ask(kind, {'message': 'who?', 'requestedSchema': {'type': 'object', 'properties': {}}, 'messages': [], 'maxTokens': 9})
        said = answer['error']['message'] if 'error' in answer else 'thanks'
        send({'id': id, 'result': {**done, 'isError': 'error' in answer, 'content': [{'type': 'text', 'text': said}]}})
    else:
        send({'id': id, 'error': {'code': -32601, 'message': 'Method not found'}})
"#;

/// One step on a server of this revision; the server's key stands in line 6, the step's expectation
/// in line 9.
fn run(revision: &str, key: &str, tool: &str, expect: &str) -> Run {
    let plan = format!(
        "version: 1\nservers:\n  s:\n    command: python3\n    args: [server.py, \"{revision}\"]\n    \
         {key}\nsteps:\n  - {{ id: one, tool: {tool},\n      {expect} }}\n"
    );
    let project = Project::with(&plan);
    project.write("server.py", SERVER);
    project.run(&["--max-iterations", "1"])
}

/// The failure's cause, and what the help says of it.
#[track_caller]
fn named(run: &Run, at: &str, root_cause: &str, says: &[&str]) {
    run.ends(3, "needs_user_help");
    let failure = &run.last().failures()[0];
    let diagnosis = &failure["diagnosis"];
    assert_eq!(diagnosis["side"], "test", "{failure:#}");
    assert_eq!(diagnosis["root_cause"], root_cause, "{failure:#}");
    assert_eq!(failure["at"], at, "{failure:#}");
    let help = run.help();
    for word in says {
        assert!(help.contains(word), "{word} is not in\n{help}");
    }
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_server_that_dies_of_its_pin_or_stays_mute_is_named_by_the_pin() {
    let dies = "        sys.exit(1)";
    let stays_mute = "        continue";
    for otherwise in [dies, stays_mute] {
        let plan = "version: 1\nservers:\n  s:\n    command: python3\n    args: [server.py, \"2025-06-18\"]\n    \
             era: modern\n    startup_timeout: 4s\nsteps:\n  - { id: one, tool: by_rpc, expect: { error: {} } }\n";
        let project = Project::with(plan);
        let refuses =
            "        send({'id': id, 'error': {'code': -32601, 'message': 'Method not found'}})";
        let server = SERVER.replace(refuses, otherwise);
        assert_ne!(server, SERVER);
        project.write("server.py", server);
        let run = project.run(&["--max-iterations", "1"]);
        let says = [
            "does not speak what the plan holds it to: `era: modern`",
            "2025-06-18",
        ];
        named(&run, "plan.yaml:6:5", "protocol_version_mismatch", &says);
    }
}

#[test]
fn a_server_that_starts_in_no_way_keeps_its_own_cause_beside_a_pin() {
    let project = Project::with(
        "version: 1\nservers:\n  s:\n    command: python3\n    args: [server.py]\n    era: modern\n\
         steps:\n  - { id: one, tool: by_rpc }\n",
    );
    project.write("server.py", "import no_such_module_anywhere\n");
    let run = project.run(&["--max-iterations", "1"]);
    let diagnosis = &run.last().failures()[0]["diagnosis"];
    assert_eq!(diagnosis["root_cause"], "missing_module");
}

#[test]
fn a_pin_that_the_server_does_not_speak_is_named_by_its_line() {
    for (revision, pin) in [
        ("2025-06-18", "era: modern"),
        ("2026-07-28", "era: legacy"),
        ("2025-06-18", "protocol: \"2024-11-05\""),
    ] {
        let run = run(revision, pin, "by_rpc", "expect: { error: {} }");
        let pin = pin.replace('"', "");
        let what = format!("does not speak what the plan holds it to: `{pin}`");
        let fix = format!("Take `{pin}` out of the plan (plan.yaml:6:5)");
        named(
            &run,
            "plan.yaml:6:5",
            "protocol_version_mismatch",
            &[&what, &fix],
        );
    }
}

#[test]
fn an_error_of_the_other_kind_is_named_by_the_expectation() {
    let free = "shutdown_timeout: 1s";
    named(
        &run("2025-06-18", free, "by_rpc", "expect: { is_error: true }"),
        "plan.yaml:9:17",
        "expected_error",
        &["write `error: { code: -32602 }` in the place of `is_error: true`"],
    );
    named(
        &run(
            "2025-06-18",
            free,
            "by_result",
            "expect: { error: { code: -32602 } }",
        ),
        "plan.yaml:9:32",
        "expected_error",
        &["write `is_error: true` in the place of `error: { code: -32602 }`"],
    );
    // What is expected is what came.
    for (tool, expect) in [
        ("by_rpc", "expect: { error: { code: -32602 } }"),
        ("by_result", "expect: { is_error: true }"),
        (
            "by_result",
            "expect: { error: { message: { contains: city } } }",
        ),
    ] {
        run("2025-06-18", free, tool, expect).ends(0, "passed");
    }
}

#[test]
fn a_question_without_an_answer_is_named_with_the_answer_to_write() {
    for (tool, answer) in [
        (
            "elicit",
            "answers: [{ method: elicitation/create, result: { action: accept",
        ),
        (
            "sample",
            "answers: [{ method: sampling/createMessage, result: { role: assistant",
        ),
    ] {
        let run = run(
            "2025-06-18",
            "shutdown_timeout: 1s",
            tool,
            "expect: { is_error: false }",
        );
        named(&run, "plan.yaml:8:5", "client_error", &[answer]);
    }
}

#[test]
fn a_question_that_the_modern_era_does_not_have_is_named_and_not_waited_for() {
    let run = run(
        "2026-07-28",
        "request_timeout: 60s",
        "elicit",
        "expect: { is_error: false }",
    );
    assert!(run.elapsed.as_secs() < 30, "{:?}", run.elapsed);
    let diagnosis = &run.last().failures()[0]["diagnosis"];
    assert_eq!(diagnosis["root_cause"], "protocol_error", "{diagnosis:#}");
    assert!(
        diagnosis["advice"].to_string().contains("`era: legacy`"),
        "{diagnosis:#}"
    );
}

/// Answers a call by what Python makes of a number that is none, which is no JSON; and what it
/// logs by a notification before it dies.
const GARBLED: &str = r#"
import json, sys
def send(message):
    sys.stdout.write(json.dumps({'jsonrpc': '2.0', **message}) + '\n'); sys.stdout.flush()
for line in sys.stdin:
    m = json.loads(line)
    id, method = m.get('id'), m.get('method')
    if id is None: continue
    if method == 'initialize':
        send({'id': id, 'result': {'protocolVersion': '2025-06-18', 'capabilities': {'tools': {}, 'logging': {}}, 'serverInfo': {'name': 's', 'version': '1'}}})
    elif method == 'tools/list':
        send({'id': id, 'result': {'tools': [{'name': n, 'inputSchema': {'type': 'object'}} for n in ['nan', 'die']]}})
    elif method == 'tools/call' and m['params']['name'] == 'nan':
        send({'id': id, 'result': {'content': [], 'structuredContent': {'mean': float('nan')}}})
    elif method == 'tools/call':
        send({'method': 'notifications/message', 'params': {'level': 'error', 'data': 'cannot reach vault.acme.test:8200: connection refused'}})
        sys.exit(4)
    else:
        send({'id': id, 'error': {'code': -32601, 'message': 'Method not found'}})
"#;

#[test]
fn a_message_that_is_no_json_is_a_breach_and_no_slowness() {
    let project = Project::with(
        "version: 1\nservers:\n  s:\n    command: python3\n    args: [server.py]\n    request_timeout: 1s\nsteps:\n  - { id: mean, tool: nan }\n",
    );
    project.write("server.py", GARBLED);
    let run = project.run(&["--max-iterations", "1"]);
    let failure = &run.last().failures()[0];
    assert_eq!(failure["diagnosis"]["root_cause"], "protocol_error");
    let message = failure["message"].as_str().unwrap();
    assert!(message.contains("can't be read as JSON"), "{message}");
}

#[test]
fn what_a_server_logged_before_it_died_are_its_last_words() {
    let project = Project::with(
        "version: 1\nservers:\n  s:\n    command: python3\n    args: [server.py]\nsteps:\n  - { id: last, tool: die }\n",
    );
    project.write("server.py", GARBLED);
    let run = project.run(&["--max-iterations", "1"]);
    let failure = &run.last().failures()[0];
    assert_eq!(failure["diagnosis"]["root_cause"], "crashed_during_call");
    assert_eq!(failure["diagnosis"]["evidence"]["field"], "logs");
    let first = failure["diagnosis"]["advice"]["fix"][0].to_string();
    assert!(
        first.contains("Its last words name something outside"),
        "{first}"
    );
}
