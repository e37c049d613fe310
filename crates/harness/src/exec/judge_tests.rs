use super::{Findings, Judge, Observed, SnapshotProposal, is_unexpected_error};
use crate::exec::clean::Cleaner;
use crate::exec::declared::Declared;
use crate::exec::ladder::LadderInput;
use crate::exec::operators::{Compiled, OperandError};
use jelly_base::model::{AssertionTarget, RpcError, Rung};
use jelly_plan::{ErrorExpect, Expect, Flag, JsonExpect, Location, Operator, Predicate};
use jelly_process::Said;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::time::Duration;

fn predicate(operator: Operator, operand: Value) -> Predicate {
    Predicate {
        redact: Vec::new(),
        operator,
        operand,
        at: Location::default(),
    }
}

fn ladder_input(schema: Option<&Declared>) -> LadderInput<'_> {
    LadderInput {
        adapts: true,
        is_tool: true,
        schema,
        declared: schema,
        store_unread: false,
    }
}

fn run(expect: &Expect, answer: Result<&Value, &RpcError>, schema: Option<&Declared>) -> Findings {
    let observed = Observed {
        answer,
        duration: Duration::from_millis(40),
        stderr: &Said::whole("warn: low\n"),
        text_will_do: false,
        ladder_input: ladder_input(schema),
    };
    ask(expect, &observed, &|p| Ok(p.operand.clone()))
}

fn ask(
    expect: &Expect,
    observed: &Observed<'_>,
    resolve: &dyn Fn(&Predicate) -> Result<Value, OperandError>,
) -> Findings {
    let (compiled, cleaner) = (RefCell::new(Compiled::default()), Cleaner::default());
    let mut judge = Judge::new(resolve, &compiled, &cleaner);
    judge.ask_all(expect, observed);
    judge.findings
}

fn targets(findings: &Findings) -> Vec<Option<AssertionTarget>> {
    assert_eq!(findings.bad, None);
    let mismatches = findings.mismatches.iter();
    mismatches.map(|m| m.assertion.target).collect()
}

#[test]
fn without_expectations_an_error_still_fails() {
    let none = Expect::default();
    let good = json!({"content": [{"type": "text", "text": "hi"}]});
    assert!(!is_unexpected_error(&none, Ok(&good)));
    assert_eq!(run(&none, Ok(&good), None), Findings::default());
    let bad = json!({"isError": true, "content": [{"type": "text", "text": "no"}]});
    assert!(is_unexpected_error(&none, Ok(&bad)));
    let rpc = RpcError {
        code: Some(-32602),
        message: "no".into(),
        data: None,
    };
    assert!(is_unexpected_error(&none, Err(&rpc)));
    let schema = Declared::new(json!({"type": "object", "required": ["n"]}));
    assert_eq!(
        targets(&run(&none, Ok(&good), Some(&schema))),
        [Some(AssertionTarget::OutputSchema)]
    );
}

#[test]
fn an_expected_error_may_come_from_the_protocol_or_from_the_tool() {
    let expect = Expect {
        error: Some(ErrorExpect {
            message: vec![predicate(Operator::Contains, json!("not found"))],
            ..ErrorExpect::default()
        }),
        ..Expect::default()
    };
    let rpc = RpcError {
        code: Some(-32602),
        message: "tool not found".into(),
        data: None,
    };
    assert_eq!(run(&expect, Err(&rpc), None), Findings::default());
    let tool = json!({"isError": true, "content": [{"type": "text", "text": "x not found"}]});
    assert_eq!(run(&expect, Ok(&tool), None), Findings::default());
    let good = json!({"content": []});
    assert_eq!(
        targets(&run(&expect, Ok(&good), None)),
        [Some(AssertionTarget::Error)]
    );
    let coded = Expect {
        error: Some(ErrorExpect {
            code: vec![predicate(Operator::Equals, json!(-32602))],
            ..ErrorExpect::default()
        }),
        ..Expect::default()
    };
    assert_eq!(run(&coded, Err(&rpc), None), Findings::default());
    assert_eq!(
        targets(&run(&coded, Ok(&tool), None)),
        [Some(AssertionTarget::Error)]
    );
}

#[test]
fn is_error_true_wants_the_tools_own_error() {
    let expect = Expect {
        is_error: Some(Flag {
            value: true,
            at: Location::default(),
        }),
        ..Expect::default()
    };
    let tool = json!({"isError": true, "content": []});
    assert_eq!(run(&expect, Ok(&tool), None), Findings::default());
    let good = json!({"content": []});
    assert_eq!(
        targets(&run(&expect, Ok(&good), None)),
        [Some(AssertionTarget::IsError)]
    );
    let rpc = RpcError {
        code: Some(-32602),
        message: "no".into(),
        data: None,
    };
    assert!(is_unexpected_error(&expect, Err(&rpc)));
    assert!(!is_unexpected_error(&expect, Ok(&tool)));
}

#[test]
fn every_target_is_looked_at_and_duration_comes_last() {
    let at = Location::from((3, 7));
    let expect = Expect {
        is_error: None,
        text: vec![predicate(Operator::Equals, json!("x"))],
        json: vec![JsonExpect {
            path: serde_json_path::JsonPath::parse("$.content[*].text").unwrap(),
            raw_path: "$.content[*].text".into(),
            predicates: vec![Predicate {
                redact: Vec::new(),
                at,
                ..predicate(Operator::Length, json!(1))
            }],
            at,
        }],
        structured: vec![predicate(Operator::Equals, json!({}))],
        error: None,
        duration: vec![predicate(Operator::Lt, json!(10))],
        stderr: vec![predicate(Operator::NotContains, json!("warn"))],
        // These are waited for, not judged here.
        notifications: Vec::new(),
        startup: None,
        http: None,
    };
    let answer = json!({"content": [{"type": "text", "text": "a"}, {"type": "text", "text": "b"}]});
    let verdict = run(&expect, Ok(&answer), None);
    assert_eq!(
        targets(&verdict),
        [
            Some(AssertionTarget::Text),
            Some(AssertionTarget::Json),
            Some(AssertionTarget::Structured),
            Some(AssertionTarget::Stderr),
            Some(AssertionTarget::Duration),
        ]
    );
    let mismatches = verdict.mismatches;
    assert_eq!(
        mismatches[0].message,
        r#"expected the text to equal "x", got "a\nb""#
    );
    assert_eq!(mismatches[1].at, at);
    assert_eq!(mismatches[1].assertion.actual, json!(["a", "b"]));
}

#[test]
fn an_operand_that_cannot_be_asked_is_the_plans_fault() {
    let expect = Expect {
        text: vec![predicate(Operator::Matches, json!("("))],
        ..Expect::default()
    };
    let answer = json!({"content": []});
    assert!(run(&expect, Ok(&answer), None).bad.is_some());
}

#[test]
fn the_rung_of_the_ladder_is_told() {
    let expect = Expect {
        structured: vec![predicate(Operator::Contains, json!({"n": 2}))],
        ..Expect::default()
    };
    let text = json!({"content": [{"type": "text", "text": "{\"n\":2}"}]});
    assert_eq!(
        run(&expect, Ok(&text), None),
        Findings {
            adapter: Some(Rung::JsonText),
            ..Findings::default()
        }
    );
}

#[test]
fn a_broken_contract_is_told_whatever_rung_gives_the_output() {
    let expect = Expect {
        structured: vec![predicate(Operator::Equals, json!({"report": "hi"}))],
        ..Expect::default()
    };
    let schema = Declared::new(json!({
        "type": "object", "properties": {"report": {"type": "string"}}, "required": ["report"],
    }));
    let text = json!({"content": [{"type": "text", "text": "hi"}]});
    let findings = run(&expect, Ok(&text), Some(&schema));
    assert_eq!(findings.adapter, Some(Rung::Declared));
    // The server owes structured content; what was expected holds.
    assert_eq!(targets(&findings), [Some(AssertionTarget::OutputSchema)]);
}

#[test]
fn an_expected_error_is_not_adapted_and_may_bring_structure_itself() {
    let mut expect = Expect {
        is_error: Some(Flag {
            value: true,
            at: Location::default(),
        }),
        structured: vec![predicate(Operator::Exists, json!(false))],
        ..Expect::default()
    };
    let text = json!({"isError": true, "content": [{"type": "text", "text": "{\"n\": 1}"}]});
    let untold = Findings::default();
    assert_eq!(run(&expect, Ok(&text), None), untold);
    expect.structured = vec![predicate(Operator::Equals, json!({"code": 7}))];
    let own = json!({"isError": true, "content": [], "structuredContent": {"code": 7}});
    assert_eq!(run(&expect, Ok(&own), None), untold);
}

#[test]
fn what_else_is_expected_beside_a_json_rpc_error_is_asked_too() {
    let rpc = RpcError {
        code: Some(-32602),
        message: "no".into(),
        data: None,
    };
    let at = Location::default();
    let expect = Expect {
        error: Some(ErrorExpect::default()),
        is_error: Some(Flag { value: true, at }),
        text: vec![predicate(Operator::Contains, json!("x"))],
        json: vec![JsonExpect {
            path: serde_json_path::JsonPath::parse("$.a").unwrap(),
            raw_path: "$.a".into(),
            predicates: vec![predicate(Operator::Equals, json!(1))],
            at,
        }],
        structured: vec![predicate(Operator::Exists, json!(true))],
        ..Expect::default()
    };
    assert_eq!(
        targets(&run(&expect, Err(&rpc), None)),
        [
            Some(AssertionTarget::IsError),
            Some(AssertionTarget::Text),
            Some(AssertionTarget::Json),
            Some(AssertionTarget::Structured),
        ]
    );
}

#[test]
fn a_snapshot_is_held_against_the_stored_text_and_proposed_where_it_differs() {
    let expect = Expect {
        text: vec![predicate(Operator::Snapshot, json!("greeting"))],
        json: vec![JsonExpect {
            path: serde_json_path::JsonPath::parse("$.n").unwrap(),
            raw_path: "$.n".into(),
            predicates: vec![predicate(Operator::Snapshot, json!("list"))],
            at: Location::default(),
        }],
        ..Expect::default()
    };
    let answer = json!({"content": [{"type": "text", "text": "hi"}], "n": [1]});
    let with = |greeting: Result<&str, &str>, list: &str| {
        let observed = Observed {
            answer: Ok(&answer),
            duration: Duration::ZERO,
            stderr: &Said::default(),
            text_will_do: false,
            ladder_input: ladder_input(None),
        };
        let stored = |p: &Predicate| match (p.operand.as_str(), greeting) {
            (Some("list"), _) => Ok(json!(list)),
            (_, Ok(text)) => Ok(json!(text)),
            (_, Err(why)) => Err(OperandError::Snapshot {
                name: "greeting".into(),
                why: why.into(),
            }),
        };
        ask(&expect, &observed, &stored)
    };
    let greeting = SnapshotProposal {
        name: "greeting".into(),
        text: "hi".into(),
        idle: Vec::new(),
        at: Location::default(),
    };
    let list = "[\n  1\n]\n";
    assert_eq!(with(Ok("hi\n"), list), Findings::default());
    let Findings {
        mismatches,
        bad: None,
        proposals,
        ..
    } = with(Ok("ho"), list)
    else {
        panic!("it differs");
    };
    assert_eq!(
        mismatches[0].message,
        "expected the text to equal the snapshot `greeting`, got \"hi\""
    );
    assert_eq!(mismatches[0].assertion.expected, json!("ho"));
    assert_eq!(proposals, std::slice::from_ref(&greeting));
    let Findings { bad, proposals, .. } = with(Err("none"), "[]");
    assert!(bad.is_some(), "there is none");
    assert_eq!(proposals[0], greeting);
    assert_eq!(proposals[1].text, "[\n  1\n]");
}

/// The messages of what does not hold of `answer`.
fn messages(expect: &Expect, answer: &Value) -> Vec<String> {
    let findings = run(expect, Ok(answer), None);
    assert_eq!(findings.bad, None);
    let mismatches = findings.mismatches.into_iter();
    mismatches.map(|m| m.message).collect()
}

fn at_path(path: &str, operator: Operator, operand: Value) -> JsonExpect {
    JsonExpect {
        path: serde_json_path::JsonPath::parse(path).unwrap(),
        raw_path: path.into(),
        predicates: vec![predicate(operator, operand)],
        at: Location::default(),
    }
}

#[test]
fn where_a_path_finds_nothing_the_answer_is_shown_with_the_nearest_path() {
    let expect = Expect {
        json: vec![
            at_path("$.content[0].txt", Operator::Equals, json!("hi")),
            at_path("$.content[1].text", Operator::Exists, json!(true)),
            at_path("$.contents", Operator::Exists, json!(false)),
        ],
        ..Expect::default()
    };
    let answer = json!({"content": [{"type": "text", "text": "hi"}]});
    let shown = r#"{"content":[{"type":"text","text":"hi"}]}"#;
    assert_eq!(
        messages(&expect, &answer),
        [
            format!(
                "expected $.content[0].txt to equal \"hi\", got nothing, in {shown}; nearest: \
                 $.content[0].text"
            ),
            format!(
                "expected $.content[1].text to exist, wanted true, got nothing, in {shown}; \
                 nearest: $.content[0].text"
            ),
        ]
    );
}

#[test]
fn a_huge_answer_is_quoted_in_bounds() {
    let expect = Expect {
        json: vec![at_path("$.price", Operator::Gt, json!(0))],
        ..Expect::default()
    };
    let answer = json!({"content": [{"type": "text", "text": "x".repeat(100_000)}]});
    let told = messages(&expect, &answer).concat();
    assert!(told.len() < 800, "{}", told.len());
    assert!(
        told.ends_with("; nearest: $, an object with `content`"),
        "{told}"
    );
}

#[test]
fn without_structured_output_the_answer_is_shown() {
    let expect = Expect {
        structured: vec![predicate(Operator::Contains, json!({"n": 2}))],
        ..Expect::default()
    };
    let answer = json!({"isError": true, "content": [{"type": "text", "text": "no"}]});
    let expect = Expect {
        is_error: Some(Flag {
            value: true,
            at: Location::default(),
        }),
        ..expect
    };
    assert_eq!(
        messages(&expect, &answer),
        [
            "expected the structured output to contain {\"n\":2}, got nothing, in \
             {\"isError\":true,\"content\":[{\"type\":\"text\",\"text\":\"no\"}]}; nearest: $, an \
             object with `isError`, `content`"
        ]
    );
}

#[test]
fn beside_a_json_rpc_error_it_is_told_what_came() {
    let rpc = RpcError {
        code: Some(-32602),
        message: "no such tool".into(),
        data: None,
    };
    let expect = Expect {
        error: Some(ErrorExpect::default()),
        json: vec![at_path("$.a", Operator::Equals, json!(1))],
        ..Expect::default()
    };
    let mismatches = run(&expect, Err(&rpc), None).mismatches;
    assert_eq!(
        mismatches[0].message,
        "expected $.a to equal 1, got nothing; what came is the JSON-RPC error -32602: no such tool"
    );
}
