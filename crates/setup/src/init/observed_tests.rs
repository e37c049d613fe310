use super::{Observation, Observed, Settings, held_text, member, observed_plan};
use serde_json::{Map, Value, json};

#[test]
fn a_text_is_held_as_a_whole_by_its_form_or_by_its_begin() {
    let long = "word ".repeat(200);
    for (text, operator, operand) in [
        ("hello", "equals", json!("hello")),
        ("", "equals", json!("")),
        ("costs ${x}", "equals", json!("costs $${x}")),
        (
            "took 12 ms.",
            "matches",
            json!(r"^took [\d.]+\s?[a-zµ]+\.$"),
        ),
        ("in /tmp/a1/b", "matches", json!(r"^in \S+/b$")),
        (&long, "starts_with", json!("word ".repeat(40))),
    ] {
        assert_eq!(
            Value::Object(held_text(text, &[])),
            json!({ operator: operand }),
            "{text}"
        );
    }
    // What differs is not cut in two.
    let at = format!("{} 2026-11-22T01:02:03Z {long}", "x".repeat(190));
    assert_eq!(held_text(&at, &[])["starts_with"], "x".repeat(190) + " ");
}

#[test]
fn a_member_of_any_name_has_a_path() {
    for (name, path) in [
        ("a_1", ".a_1"),
        ("a b", "['a b']"),
        ("it's", r"['it\'s']"),
        ("1", "['1']"),
    ] {
        assert_eq!(member(name), path);
    }
}

#[test]
fn every_kind_of_request_is_a_step_that_can_be_read() {
    let observe = |line: usize, method: &str, params: Value, answer: Observed| Observation {
        line,
        method: method.to_owned(),
        params: params.as_object().cloned().unwrap_or_default(),
        answer,
        before: Vec::new(),
        answers: vec![(
            "roots/list".to_owned(),
            Map::from_iter([("result".to_owned(), json!({"roots": []}))]),
        )],
    };
    let result = |value: Value| Observed::Result(value);
    let observations = [
        observe(
            1,
            "tools/list",
            json!({}),
            result(json!({"tools": [{"name": "t"}]})),
        ),
        observe(
            2,
            "tools/list",
            json!({"cursor": "c"}),
            result(json!({"tools": []})),
        ),
        observe(
            3,
            "tools/call",
            json!({"name": "t", "arguments": {"k": "[secret K]"}}),
            result(
                json!({"content": [], "structuredContent": {"at": 1_763_999_999, "id": "6f1c2a34-0b1c-4d5e-8f90-123456789abc"}}),
            ),
        ),
        observe(
            4,
            "tools/call",
            json!({"name": "t"}),
            result(json!({"isError": true, "content": [{"type": "text", "text": "no"}]})),
        ),
        observe(
            5,
            "resources/read",
            json!({"uri": "a://b"}),
            result(json!({"contents": [{"text": "x"}]})),
        ),
        observe(
            6,
            "prompts/get",
            json!({"name": "p"}),
            result(json!({"messages": []})),
        ),
        observe(
            7,
            "completion/complete",
            json!({"ref": {}}),
            Observed::Error(json!({"code": -32602, "message": "bad"})),
        ),
    ];
    let server = json!({"command": "x"});
    let settings = Settings {
        name: "s".to_owned(),
        server: server.as_object().cloned().unwrap_or_default(),
        ..Settings::default()
    };
    let (text, steps) = observed_plan(&observations, &settings, ("r.jsonl", &[]), &|_| true);
    assert_eq!(steps, 6);
    let source = jelly_plan::PlanSource {
        path: "it.yaml".into(),
        text: text.as_str().into(),
        variant: None,
    };
    let plan = jelly_plan::load(source).unwrap_or_else(|e| panic!("{}\n{text}", e.render(false)));
    assert_eq!(plan.steps.len(), 6);
    for said in [
        "${secret:K}",
        "type: number",
        "is_error: true",
        "code: -32602",
        "roots/list",
    ] {
        assert!(text.contains(said), "{said}: {text}");
    }
    assert!(
        !text.contains("1763999999") && !text.contains("6f1c2a34"),
        "{text}"
    );
}
