use super::{Order, Replay};
use jelly_wire::Recording;
use serde_json::{Value, json};

/// A session of one client, as a recording: `>` is by the client.
const SESSION: &[&str] = &[
    r#">{"id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","clientInfo":{"name":"x"}}}"#,
    r#"<{"id":1,"result":{"protocolVersion":"2025-11-25"}}"#,
    r#">{"method":"notifications/initialized"}"#,
    r#"<{"id":"r","method":"roots/list"}"#,
    r#">{"id":"r","result":{"roots":[]}}"#,
    r#"<{"method":"notifications/message","params":{"data":"has roots"}}"#,
    r#">{"id":2,"method":"tools/call","params":{"name":"t","arguments":{"n":1},"_meta":{"progressToken":2}}}"#,
    r#"<{"method":"notifications/progress","params":{"progressToken":2,"progress":1}}"#,
    r#"<{"id":"s","method":"sampling/createMessage","params":{}}"#,
    r#">{"id":"s","result":{"text":"hi"}}"#,
    r#"<{"id":2,"result":{"content":[{"type":"text","text":"one"}]}}"#,
    "<junk",
    r#">{"id":3,"method":"tools/call","params":{"name":"t","arguments":{"n":1}}}"#,
    r#"<{"id":3,"result":{"content":[{"type":"text","text":"two"}]}}"#,
    r#">{"id":4,"method":"tools/call","params":{"name":"slow"}}"#,
    r#">{"method":"notifications/cancelled","params":{"requestId":4}}"#,
    r#">{"id":5,"method":"tools/call","params":{"name":"lost"}}"#,
];

fn replay(lines: &[&str], order: Order) -> Replay {
    let recorded: Vec<String> = lines
        .iter()
        .enumerate()
        .map(|(at, line)| {
            let (way, said) = line.split_at(1);
            let way = if way == ">" { "sent" } else { "received" };
            let content = match serde_json::from_str::<Value>(said) {
                Ok(message) => json!({ "message": message }),
                Err(_) => json!({ "text": said }),
            };
            let mut entry = json!({"seq": at + 1, "server": "a", "direction": way});
            let members = content.as_object().unwrap().clone();
            entry.as_object_mut().unwrap().extend(members);
            entry.to_string()
        })
        .collect();
    let recording = Recording::read(recorded.join("\n").as_bytes()).unwrap();
    Replay::new("r.jsonl".to_owned(), &recording.sessions, order)
}

fn call(id: Value, name: &str, arguments: Value) -> String {
    json!({"id": id, "method": "tools/call", "params": {"name": name, "arguments": arguments,
        "_meta": {"progressToken": "mine"}}})
    .to_string()
}

fn open(replay: &mut Replay) {
    assert_eq!(replay.start(), [""; 0]);
    let said = replay.line(r#"{"id":"i","method":"initialize","params":{}}"#);
    assert_eq!(
        said,
        [r#"{"id":"i","result":{"protocolVersion":"2025-11-25"}}"#]
    );
    let said = replay.line(r#"{"method":"notifications/initialized"}"#);
    assert_eq!(said, [r#"{"id":"r","method":"roots/list"}"#]);
    let said = replay.line(r#"{"id":"r","result":{"roots":[]}}"#);
    assert_eq!(said.len(), 1);
    assert!(said[0].contains("has roots"));
}

fn text(said: &[String]) -> &str {
    said.last().map(String::as_str).unwrap_or_default()
}

#[test]
fn what_the_server_did_is_done_again_in_its_place_with_the_ids_of_this_client() {
    for order in [Order::Strict, Order::Lenient] {
        let mut replay = replay(SESSION, order);
        open(&mut replay);
        let said = replay.line(&call(json!(77), "t", json!({"n": 1})));
        assert_eq!(said.len(), 2, "{said:?}");
        assert!(said[0].contains(r#""progressToken":"mine""#), "{said:?}");
        assert!(said[1].contains("sampling/createMessage"), "{said:?}");
        let said = replay.line(r#"{"id":"s","result":{"text":"hi"}}"#);
        assert!(said[0].contains(r#""id":77"#) && said[0].contains("one"));
        assert_eq!(said[1], "junk");
        let said = replay.line(&call(json!("b"), "t", json!({"n": 1})));
        assert!(text(&said).contains("two"), "{said:?}");
        // It was given up, so nobody waits for an answer.
        assert_eq!(replay.line(&call(json!(4), "slow", json!({}))), [""; 0]);
        let cancel = r#"{"method":"notifications/cancelled","params":{"requestId":4}}"#;
        assert_eq!(replay.line(cancel), [""; 0]);
        let said = replay.line(&call(json!(5), "lost", json!({})));
        assert!(text(&said).contains("no answer to tools/call in line 17 of r.jsonl"));
    }
}

#[test]
fn any_order_repeats_the_last_answer_and_says_what_was_not_recorded() {
    let mut replay = replay(SESSION, Order::Lenient);
    open(&mut replay);
    for (times, wanted) in [(0, "sampling"), (1, "two"), (2, "two"), (3, "two")] {
        let said = replay.line(&call(json!(times), "t", json!({"n": 1})));
        assert!(text(&said).contains(wanted), "{times}: {said:?}");
    }
    for (asked, wanted) in [
        (
            call(json!(1), "t", json!({"n": 2})),
            "tools/call `t` was recorded with other arguments, last in line 13 of r.jsonl: at \
             $.arguments.n the record has 1, and the request 2",
        ),
        (
            call(json!(1), "u", json!({})),
            "tools/call `u` was recorded with other arguments",
        ),
        (
            r#"{"id":1,"method":"tools/list"}"#.to_owned(),
            "tools/list was not recorded in r.jsonl",
        ),
    ] {
        let said = replay.line(&asked);
        let error: Value = serde_json::from_str(text(&said)).unwrap();
        assert_eq!(error["error"]["code"], -31_001);
        let message = error["error"]["message"].as_str().unwrap();
        assert!(message.contains(wanted), "{message}");
    }
    assert!(text(&replay.line(r#"{"id":1,"method":"ping"}"#)).contains("\"result\":{}"));
    assert!(text(&replay.line(r#"{"id":1,"method":"server/discover"}"#)).contains("-32601"));
    assert!(text(&replay.line("{")).contains("-32700"));
}

#[test]
fn strict_order_refuses_what_is_not_due_and_names_the_line_that_is() {
    let mut replay = replay(SESSION, Order::Strict);
    let early = replay.line(&call(json!(1), "t", json!({"n": 1})));
    assert!(
        text(&early)
            .contains("tools/call `t` is not what line 1 of r.jsonl has: initialize follows"),
        "{early:?}"
    );
    open(&mut replay);
    let other = replay.line(&call(json!(1), "t", json!({"n": 9})));
    let error: Value = serde_json::from_str(text(&other)).unwrap();
    assert_eq!(
        error["error"]["data"],
        json!({"file": "r.jsonl", "line": 7})
    );
    // What was due is still due.
    replay.line(&call(json!(1), "t", json!({"n": 1})));
    let said = replay.line(r#"{"id":"s","result":{"text":"no"}}"#);
    assert!(text(&said).contains("the client's answer is not what line 10 of r.jsonl has"));
    replay.line(&call(json!(1), "t", json!({"n": 1})));
    replay.line(&call(json!(1), "slow", json!({})));
    replay.line(&call(json!(1), "lost", json!({})));
    let said = replay.line(&call(json!(1), "t", json!({"n": 1})));
    assert!(
        text(&said).contains("after line 17 of r.jsonl no request follows"),
        "{said:?}"
    );
}

#[test]
fn a_server_that_asks_again_uses_another_id() {
    let mut replay = replay(&SESSION[..12], Order::Lenient);
    open(&mut replay);
    let mut ids = Vec::new();
    for id in 0..2 {
        let said = replay.line(&call(json!(id), "t", json!({"n": 1})));
        let asks: Value = serde_json::from_str(text(&said)).unwrap();
        let answer = json!({"id": asks["id"], "result": {}}).to_string();
        assert!(replay.line(&answer)[0].contains("one"));
        ids.push(asks["id"].clone());
    }
    assert_ne!(ids[0], ids[1]);
}

#[test]
fn a_modern_server_speaks_of_the_subscription_of_this_client() {
    let session = [
        r#">{"id":1,"method":"server/discover"}"#,
        r#"<{"id":1,"result":{"supportedVersions":["2026-07-28"]}}"#,
        r#">{"id":2,"method":"subscriptions/listen","params":{"notifications":{"toolsListChanged":true}}}"#,
        r#"<{"method":"notifications/subscriptions/acknowledged","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2}}}"#,
        r#">{"id":3,"method":"tools/list","params":{}}"#,
        r#"<{"method":"notifications/tools/list_changed","params":{"_meta":{"io.modelcontextprotocol/subscriptionId":2}}}"#,
        r#"<{"id":3,"result":{"tools":[]}}"#,
    ];
    let mut without = replay(&session, Order::Lenient);
    assert_eq!(without.line(r#"{"id":9,"method":"tools/list"}"#).len(), 1);
    let mut replay = replay(&session, Order::Lenient);
    let listen = session[2][1..].replace("\"id\":2", "\"id\":\"sub\"");
    let said = replay.line(&listen);
    assert!(text(&said).contains(r#"subscriptionId":"sub""#), "{said:?}");
    assert_eq!(said.len(), 1);
    let said = replay.line(r#"{"id":9,"method":"tools/list"}"#);
    assert_eq!(said.len(), 2, "{said:?}");
}
