//! What a server asks of its client, answered by the plan.

use crate::support::{Project, Run, python};

/// Asks before it answers: sampling with the text of the call, then the
/// answer's text, or the error's message, is what it says.
fn asking() -> String {
    python(
        "
def ask(method, params):
    send({'jsonrpc': '2.0', 'id': 'q', 'method': method, 'params': params})
    while (reply := read()).get('id') != 'q': pass
    return reply
def call(message):
    args = message['params'].get('arguments', {})
    said = []
    for word in args.get('words', []):
        reply = ask('sampling/createMessage', {'messages': [{'role': 'user', 'content': {'type': 'text', 'text': word}}], 'maxTokens': 5})
        said.append(reply['result']['content']['text'] if 'result' in reply else reply['error']['message'])
    answer(message, text(' '.join(said)))
serve(call)
",
    )
}

fn plan(steps: &str) -> String {
    format!("version: 1\nservers:\n  s: {}\nsteps:\n{steps}", asking())
}

fn run(steps: &str) -> Run {
    Project::with(&plan(steps)).run(&[])
}

#[test]
fn answers_of_a_step_come_in_order_and_those_of_its_server_after_them() {
    let server = asking();
    let server = server.trim_end_matches(" }");
    let run = Project::with(&format!(
        "
version: 1
vars: {{ last: three }}
servers:
  s: {server}, answers: [{{ method: sampling/createMessage, result: {{ role: assistant, model: m, content: {{ type: text, text: '${{last}}' }} }} }}] }}
steps:
  - id: three
    tool: work
    args: {{ words: [a, b, c, d] }}
    answers:
      - {{ method: sampling/createMessage, expect: [{{ path: \"$.messages[0].content.text\", equals: a }}], result: {{ role: assistant, model: m, content: {{ type: text, text: one }} }} }}
      - {{ method: elicitation/create, optional: true, accept_defaults: true }}
      - {{ method: sampling/createMessage, error: {{ code: -1, message: two }} }}
    expect: {{ text: {{ equals: one two three three }} }}
  - id: again
    tool: work
    args: {{ words: [x] }}
    expect: {{ text: {{ equals: three }} }}
"
    ))
    .run(&[]);
    run.ends(0, "passed");
    assert!(run.last().failures().is_empty());
}

#[test]
fn what_was_asked_otherwise_is_shown_and_confirmed_like_any_mismatch() {
    let run = run("
  - id: ask
    tool: work
    args: { words: [bye] }
    answers:
      - method: sampling/createMessage
        expect: [{ path: \"$.messages[0].content.text\", contains: hello }]
        result: { role: assistant, model: m, content: { type: text, text: hi } }
    expect: { text: { equals: hi } }
");
    run.ends(1, "code_failure");
    assert_eq!(run.iterations().len(), 2, "it is seen twice");
    let failure = run.last().failure("ask");
    assert_eq!(failure["phase"], "assert");
    assert_eq!(failure["assertion"]["target"], "asked");
    let message = failure["message"].as_str().unwrap();
    let wanted =
        "expected what was asked at $.messages[0].content.text to contain \"hello\", got \"bye\"";
    assert_eq!(message, wanted);
    assert!(
        run.markdown.contains("$.messages[0].content.text"),
        "{}",
        run.markdown
    );
    assert!(run.junit.contains("what was asked at"), "{}", run.junit);
}

#[test]
fn an_answer_that_nobody_asked_for_fails_the_step() {
    let run = run("
  - id: ask
    tool: work
    args: { words: [one] }
    answers:
      - { method: sampling/createMessage, result: { role: assistant, model: m, content: { type: text, text: hi } } }
      - { method: sampling/createMessage, result: { role: assistant, model: m, content: { type: text, text: ho } } }
      - { method: elicitation/create, result: { action: cancel } }
");
    run.ends(1, "code_failure");
    let failures = run.last().failures();
    let wanted = [
        "expected the server to ask for `sampling/createMessage` so often, and it asked for \
         `sampling/createMessage`",
        "expected the server to ask for `elicitation/create`, and it asked for \
         `sampling/createMessage`",
    ];
    assert_eq!(failures.len(), wanted.len());
    for (failure, wanted) in failures.iter().zip(wanted) {
        assert_eq!(failure["assertion"]["target"], "asked");
        assert_eq!(failure["message"], wanted);
        assert_eq!(failure["diagnosis"]["evidence"]["text"], wanted);
        assert_eq!(failure["diagnosis"]["side"], "code");
    }
}

#[test]
fn what_an_answer_of_the_server_expects_is_held_against_every_step() {
    let server = asking();
    let server = server.trim_end_matches(" }");
    let run = Project::with(&format!(
        "
version: 1
servers:
  s: {server}, answers: [{{ method: sampling/createMessage, expect: [{{ path: $.maxTokens, lt: 5 }}], result: {{ role: assistant, model: m, content: {{ type: text, text: hi }} }} }}] }}
steps:
  - {{ id: ask, tool: work, args: {{ words: [a] }}, expect: {{ text: {{ equals: hi }} }} }}
"
    ))
    .run(&[]);
    run.ends(1, "code_failure");
    let failure = run.last().failure("ask");
    assert_eq!(
        failure["message"],
        "expected what was asked at $.maxTokens to be less than 5, got 5"
    );
    assert!(
        failure["assertion"]["at"]
            .as_str()
            .unwrap()
            .starts_with("plan.yaml:4:"),
        "{failure}"
    );
}

#[test]
fn what_has_no_answer_is_refused_and_noted() {
    let run = run("
  - id: ask
    tool: work
    args: { words: [one] }
    expect: { text: { contains: does not offer } }
  - id: fails
    tool: work
    args: { words: [one] }
    expect: { text: { equals: hi } }
");
    run.ends(3, "needs_user_help");
    assert_eq!(run.last().state("ask"), "passed");
    let notes = run.last().server("s")["notes"].to_string();
    for step in ["ask", "fails"] {
        let note = format!(
            "`sampling/createMessage`, to which the plan has no answer, and was refused (step `{step}`)"
        );
        assert!(notes.contains(&note), "{notes}");
    }
    let message = run.last().failure("fails")["message"].to_string();
    assert!(
        message.contains("meanwhile the server asked for `sampling/createMessage`"),
        "{message}"
    );
}

#[test]
fn a_server_that_dies_of_what_jelly_refuses_is_not_to_blame() {
    let server = python(
        "
def call(message):
    send({'jsonrpc': '2.0', 'id': 'q', 'method': 'elicitation/create', 'params': {'message': 'sure?', 'requestedSchema': {'type': 'object', 'properties': {}}}})
    while (reply := read()).get('id') != 'q': pass
    sys.exit('McpError: ' + reply['error']['message'])
serve(call)
",
    );
    let plan = format!("version: 1\nservers:\n  s: {server}\nsteps: [{{ tool: work }}]\n");
    let run = Project::with(&plan).run(&[]);
    run.ends(3, "needs_user_help");
    let diagnosis = &run.last().failure("work")["diagnosis"];
    assert_eq!(diagnosis["ambiguous"], true, "{diagnosis}");
    assert_eq!(diagnosis["excused"], "unanswered", "{diagnosis}");
    assert!(run.help().contains("say by `answers`"), "{}", run.help());
}

#[test]
fn an_answer_that_breaks_what_was_asked_for_is_the_plan_s() {
    let server = python(
        "
def call(message):
    send({'jsonrpc': '2.0', 'id': 'q', 'method': 'elicitation/create', 'params': {'message': 'who?', 'requestedSchema': {'type': 'object', 'properties': {'name': {'type': 'string'}}, 'required': ['name']}}})
    while (reply := read()).get('id') != 'q': pass
    answer(message, text('hi') if 'name' in reply['result'].get('content', {}) else text('TypeError: name is undefined', True))
serve(call)
",
    );
    for (content, excused) in [("{ nam: bob }", true), ("{ name: bob }", false)] {
        let plan = format!(
            "version: 1\nservers:\n  s: {server}\nsteps:\n  - id: work\n    tool: work\n    answers: [{{ method: elicitation/create, result: {{ action: accept, content: {content} }} }}]\n"
        );
        let run = Project::with(&plan).run(&[]);
        if !excused {
            assert_eq!(run.last().state("work"), "passed", "{}", run.help());
            continue;
        }
        run.ends(3, "needs_user_help");
        let failure = run.last().failure("work");
        assert_eq!(failure["diagnosis"]["excused"], "unanswered", "{failure}");
        let message = failure["message"].as_str().unwrap();
        assert!(
            message.contains("broke the schema that the server asked for"),
            "{message}"
        );
        assert!(run.help().contains("say by `answers`"), "{}", run.help());
    }
}

#[test]
fn a_secret_in_an_answer_or_a_question_is_shown_nowhere() {
    let project = Project::with(&plan(
        "
  - id: ask
    tool: work
    args: { words: [\"${secret:WORD}\"] }
    answers:
      - method: sampling/createMessage
        expect: [{ path: \"$.messages[0].content.text\", equals: \"not ${secret:WORD}\" }]
        result: { role: assistant, model: m, content: { type: text, text: \"${secret:WORD}\" } }
    expect: { text: { equals: no } }
",
    ));
    let call = project.call(&[]).env("WORD", "swordfish-77");
    let ended = call.output();
    let run = Run::of(&project, ended);
    run.ends(1, "code_failure");
    for text in [
        &run.stdout,
        &run.markdown,
        &run.junit,
        &run.results.to_string(),
    ] {
        assert!(!text.contains("swordfish-77"), "{text}");
    }
}

/// A server of 2026-07-28 that asks inside of its result.
fn modern(asks: &str) -> String {
    python(&format!(
        "
META = {{'io.modelcontextprotocol/serverInfo': {{'name': 'm', 'version': '1'}}}}
while (message := read()) is not None:
    method, params = message['method'], message.get('params', {{}})
    if 'id' not in message: continue
    if method == 'server/discover':
        answer(message, {{'resultType': 'complete', 'supportedVersions': ['2026-07-28'], 'capabilities': {{'tools': {{}}}}, 'ttlMs': 0, 'cacheScope': 'private', '_meta': META}})
    elif method == 'tools/list':
        answer(message, {{'resultType': 'complete', 'tools': [{{'name': 'work', 'inputSchema': {{'type': 'object'}}}}], 'ttlMs': 0, 'cacheScope': 'private'}})
    elif method == 'tools/call':
        offered = params['_meta']['io.modelcontextprotocol/clientCapabilities']
        got = params.get('inputResponses')
        if got is None:
            answer(message, {{'resultType': 'input_required', 'requestState': 'state', 'inputRequests': {asks}}})
        else:
            said = json.dumps([offered, params['requestState'], got], sort_keys=True)
            answer(message, dict(text(said), resultType='complete'))
    else: refuse(message)
"
    ))
}

const FORM: &str = "{'a': {'method': 'elicitation/create', 'params': {'mode': 'form', 'message': 'who?', 'requestedSchema': {'type': 'object', 'properties': {'name': {'type': 'string', 'default': 'Ada'}}}}}, 'b': {'method': 'roots/list'}}";

#[test]
fn a_modern_server_gets_its_answers_with_the_next_round() {
    let run = Project::with(&format!(
        "
version: 1
servers: {{ s: {} }}
steps:
  - id: ask
    tool: work
    answers:
      - {{ method: elicitation/create, expect: [{{ path: $.message, equals: 'who?' }}], accept_defaults: true }}
      - {{ method: roots/list, result: {{ roots: [] }} }}
    expect:
      text:
        - contains: '{{\"elicitation\": {{\"form\": {{}}}}, \"roots\": {{}}}}'
        - contains: '{{\"a\": {{\"action\": \"accept\", \"content\": {{\"name\": \"Ada\"}}}}, \"b\": {{\"roots\": []}}}}'
        - contains: '\"state\"'
",
        modern(FORM)
    ))
    .run(&[]);
    run.ends(0, "passed");
    assert_eq!(run.last().server("s")["era"], "modern");
}

#[test]
fn a_modern_server_that_asks_for_more_than_the_plan_answers_fails_the_step() {
    let run = Project::with(&format!(
        "
version: 1
servers: {{ s: {} }}
steps:
  - id: ask
    tool: work
    answers:
      - {{ method: elicitation/create, result: {{ action: decline }} }}
  - id: error
    tool: work
    answers:
      - {{ method: elicitation/create, error: {{ code: -1 }} }}
      - {{ method: roots/list, result: {{ roots: [] }}, optional: true }}
",
        modern(&FORM.replace(
            "'b': {'method': 'roots/list'}",
            "'b': {'method': 'elicitation/create'}"
        ))
    ))
    .run(&[]);
    run.ends(3, "needs_user_help");
    let failure = run.last().failure("ask");
    assert_eq!(failure["phase"], "config");
    let message = failure["message"].as_str().unwrap();
    assert!(
        message
            .starts_with("the server asks for `elicitation/create`, and there is no answer to it"),
        "{message}"
    );
    assert!(message.contains("is said by `answers`"), "{message}");
    // Nothing of the other step is sent: the plan can't mean it.
    assert_eq!(run.last().state("error"), "quarantined");
}

#[test]
fn a_server_may_ask_as_often_as_the_step_has_answers() {
    let server = modern("{'a': {'method': 'elicitation/create', 'params': {'mode': 'form', 'message': 'who?', 'requestedSchema': {'type': 'object', 'properties': {}}}}}")
        .replace(
            "if got is None:",
            "if int(params.get('requestState', 0)) < params['arguments']['rounds']:",
        )
        .replace(
            "'requestState': 'state'",
            "'requestState': str(int(params.get('requestState', 0)) + 1)",
        );
    let answer = "      - { method: elicitation/create, result: { action: decline } }\n";
    let run = Project::with(&format!(
        "
version: 1
servers: {{ s: {server} }}
steps:
  - id: often
    tool: work
    args: {{ rounds: 15 }}
    answers:
{}",
        answer.repeat(15)
    ))
    .run(&[]);
    run.ends(0, "passed");

    let plan = "
version: 1
servers: { s: SERVER }
steps:
  - { id: endless, tool: work, args: { rounds: 15 } }
";
    let answers = ", answers: [{ method: elicitation/create, result: { action: decline } }] }";
    let server = format!("{}{answers}", server.trim_end_matches(" }"));
    let run = Project::with(&plan.replace("SERVER", &server)).run(&[]);
    run.ends(3, "needs_user_help");
    let failure = run.last().failure("endless");
    assert_eq!(failure["phase"], "config");
    assert!(failure["protocol_breach"].is_null());
    let message = failure["message"].as_str().unwrap();
    assert!(message.contains("jelly goes no further"), "{message}");
}
