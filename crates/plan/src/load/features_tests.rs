use crate::{CompletionOf, Give, LogLevel, Plan, PlanSource, Raw, Request, Subscription, check};
use serde_json::json;
use std::time::Duration;

fn source(text: &str) -> PlanSource {
    PlanSource {
        path: "plan.yaml".into(),
        text: text.into(),
        variant: None,
    }
}

const FULL: &str = r#"version: 1
vars: { city: Graz }
servers:
  m:
    command: x
    capabilities: { elicitation: { form: {}, url: {} } }
    answers:
      - { method: roots/list, result: { roots: [{ uri: "file://${secret:ROOT}" }] } }
steps:
  - id: ask
    tool: t
    log_level: warning
    answers:
      - method: sampling/createMessage
        expect: [{ path: "$.a", equals: "${secret:WANTED}" }]
        error: { code: -1, message: "${secret:SAID}" }
      - { method: elicitation/create, accept_defaults: true, optional: true }
    expect:
      notifications:
        - { method: notifications/progress, count: 2, within: 2s }
        - { method: notifications/message, json: [{ path: $.data, contains: "${secret:LOGGED}" }] }
        - { method: notifications/message, absent: true, within: 100ms }
    capture: { place: "$.uri" }
  - { id: complete, complete: { resource: "a://{x}", argument: x, value: "${secret:TYPED}" }, args: { y: 1 } }
  - { complete: { prompt: p, argument: x } }
  - { id: one, subscribe: "${place}" }
  - { id: all, subscribe: { resources: ["${secret:URI}"], tools: true, prompts: true, resources_list: true } }
  - { unsubscribe: all }
  - { tool: t, cancel_after: 200ms, quiet_for: 2s }
  - { request: my/method, args: [1, "${city}"], bare: true }
  - { raw: "{${secret:RAW}" }
  - { raw_base64: "/w==" }
"#;

fn full() -> Plan {
    check(source(FULL)).unwrap_or_else(|error| panic!("{}", error.render(false)))
}

#[test]
fn everything_beyond_a_request_and_its_answer_is_read() {
    let plan = full();
    let server = &plan.servers["m"];
    let capabilities = json!({"elicitation": {"form": {}, "url": {}}});
    assert_eq!(server.capabilities, Some(capabilities));
    assert_eq!(server.answers[0].method, "roots/list");

    let ask = plan.step("ask").unwrap();
    assert_eq!(ask.log_level, Some(LogLevel::Warning));
    assert_eq!(ask.answers[0].expect.len(), 1);
    let error = json!({"code": -1, "message": "${secret:SAID}"});
    assert_eq!(ask.answers[0].give, Give::Error(error));
    assert_eq!(ask.answers[1].give, Give::AcceptDefaults);
    let optional: Vec<bool> = ask.answers.iter().map(|answer| answer.optional).collect();
    assert_eq!(optional, [false, true]);
    let heard = &ask.expect.notifications;
    assert_eq!(heard[0].count[0].operand, 2);
    assert_eq!(heard[0].within, Some(Duration::from_secs(2)));
    assert!(heard[2].absent && !heard[1].absent);

    match &plan.step("complete").unwrap().request {
        Request::Complete(completion) => {
            assert_eq!(completion.of, CompletionOf::Resource("a://{x}".into()));
        }
        other => panic!("{other:?}"),
    }
    let ids: Vec<&str> = plan.steps.iter().map(|step| step.id.as_str()).collect();
    assert_eq!(
        ids,
        [
            "ask",
            "complete",
            "complete-2",
            "one",
            "all",
            "unsubscribe",
            "t",
            "my-method",
            "raw",
            "raw-2"
        ]
    );
    assert_eq!(plan.step("one").unwrap().needs, ["ask"]);
    let all = Subscription {
        resources: vec!["${secret:URI}".into()],
        tools: true,
        prompts: true,
        resources_list: true,
    };
    assert_eq!(plan.step("all").unwrap().request, Request::Subscribe(all));
    assert_eq!(plan.step("unsubscribe").unwrap().needs, ["all"]);
    let cancel = plan.step("t").unwrap().cancel.unwrap();
    assert_eq!(cancel.after, Duration::from_millis(200));
    assert_eq!(cancel.quiet_for, Duration::from_secs(2));
    let bare = plan.step("my-method").unwrap();
    assert!(bare.bare && bare.args == json!([1, "${city}"]));
    let bytes = Request::Raw(Raw::Bytes(vec![0xff]));
    assert_eq!(plan.step("raw-2").unwrap().request, bytes);
}

#[test]
fn a_secret_is_known_wherever_it_stands() {
    let names = ["LOGGED", "RAW", "ROOT", "SAID", "TYPED", "URI", "WANTED"];
    assert_eq!(full().secret_names(), names);
}

const HEAD: &str = "version: 1\nservers:\n  m: { command: x }\nsteps:\n";

fn step(lines: &str) -> String {
    format!("{HEAD}  - {}\n", lines.replace('\n', "\n    "))
}

fn answers(answer: &str) -> String {
    step(&format!("tool: t\nanswers:\n  - {answer}"))
}

fn notification(expect: &str) -> String {
    step(&format!(
        "tool: t\nexpect:\n  notifications:\n    - {expect}"
    ))
}

#[test]
fn mistakes_are_explained() {
    let mistakes = [
        ("a method of one's own", answers("{ method: sampling/createMesage, result: {} }")),
        ("no method", answers("{ result: {} }")),
        ("nothing given", answers("{ method: roots/list }")),
        ("two things given", answers("{ method: roots/list, result: {}, error: { code: 1 } }")),
        ("a result that is none", answers("{ method: roots/list, result: [] }")),
        ("an error without a code", answers("{ method: roots/list, error: { message: no } }")),
        ("defaults of what has none", answers("{ method: roots/list, accept_defaults: true }")),
        ("an unknown key", answers("{ method: roots/list, respnse: {} }")),
        (
            "a server's answer twice",
            step("tool: t").replace(
                "command: x",
                "command: x, answers: [{ method: roots/list, result: { roots: [] } }, { method: roots/list, result: { roots: [] }, optional: true }]",
            ),
        ),
        (
            "a capture in a server's answer",
            step("tool: t\ncapture: { a: $.a }").replace(
                "command: x",
                "command: x, answers: [{ method: roots/list, result: { roots: \"${a}\" } }]",
            ),
        ),
        (
            "a capability of one's own",
            step("tool: t").replace("command: x", "command: x, capabilities: { elicitaton: {} }"),
        ),
        (
            "capabilities as a list",
            step("tool: t").replace("command: x", "command: x, capabilities: [roots]"),
        ),
        ("no notification", notification("{ within: 1s }")),
        ("half a name", notification("{ method: progress }")),
        ("absent for ever", notification("{ method: notifications/a, absent: true }")),
        ("absent twice", notification("{ method: notifications/a, absent: true, within: 1s, count: 2 }")),
        ("a count for ever", notification("{ method: notifications/a, count: { le: 2 } }")),
        ("a count of nothing", notification("{ method: notifications/a, count: 0 }")),
        ("params", notification("{ method: notifications/a, params: {} }")),
        ("a count of anything", notification("{ method: notifications/a, count: { ge: 0 } }")),
        ("a slip in a name", notification("{ method: notifications/mesage, absent: true, within: 1s }")),
        ("an action of one's own", answers("{ method: elicitation/create, result: { action: accpt } }")),
        ("a subscription that is over", format!("{}  - unsubscribe: watch\n  - unsubscribe: watch\n", step("id: watch\nsubscribe: a:b"))),
        ("a cancellation after the end", step("tool: t\ntimeout: 1s\ncancel_after: 3s")),
        ("a completion of nothing", step("complete: { argument: a }")),
        ("a completion of no argument", step("complete: { prompt: p }")),
        ("a subscription to nothing", step("subscribe: {}")),
        ("an unknown subscription", step("id: watch\nsubscribe: a:b").replace("\n  - id", "\n  - unsubscribe: wacth\n  - id")),
        ("an unknown subscription, almost", format!("{}  - unsubscribe: wacth\n", step("id: watch\nsubscribe: a:b"))),
        (
            "a subscription of another server",
            format!("{}  - {{ unsubscribe: watch, server: n }}\n", step("id: watch\nsubscribe: a:b\nserver: m"))
                .replace("  m: { command: x }", "  m: { command: x }\n  n: { command: x }"),
        ),
        ("no Base64", step("raw_base64: \"%\"")),
        ("a raw step with args", step("raw: x\nargs: {}")),
        ("a bare tool", step("tool: t\nbare: true")),
        ("quiet without a cancellation", step("tool: t\nquiet_for: 1s")),
        ("an answer of what is cancelled", step("tool: t\ncancel_after: 1s\nexpect: { text: { equals: a } }")),
        ("a log level", step("tool: t\nlog_level: warn")),
        ("two things at once", step("raw: a\nsubscribe: a:b")),
    ];
    let mut text = String::new();
    for (title, plan) in mistakes {
        let error = check(source(&plan)).expect_err(title);
        text.push_str(&format!("# {title}\n\n{}\n", error.render(false)));
    }
    insta::assert_snapshot!(text);
}
