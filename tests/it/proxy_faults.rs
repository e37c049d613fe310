//! `jelly proxy --fault`: the mock's faults in the answers of a live server.

use crate::proxy::{proxy, python_server};
use crate::support::Project;
use serde_json::json;
use std::time::{Duration, Instant};

const COUNTS: &str = r#"
if method == "initialize": opened(message)
elif method == "tools/call":
    sys.stderr.write("called\n"); sys.stderr.flush()
    answer(message, {"content": [{"type": "text", "text": message["params"]["name"]}]})"#;

#[test]
fn answers_go_wrong_where_it_was_asked_for_and_nowhere_else() {
    let project = Project::empty();
    let server = python_server(&project, "counts.py", COUNTS);
    let flags = [
        "--fault",
        "error@call:2=-32000:not today",
        "--fault",
        "wrong_value@tool:weigh=42",
        "--fault",
        "set@tool:odd=/result/more [1]",
        "--fault",
        "kill@tool:dies",
    ];
    let mut client = proxy(&project, &flags, &["python3", &server]);
    client.open();
    let text = |answer: &serde_json::Value| answer["result"]["content"][0]["text"].clone();
    assert_eq!(text(&client.call("first", json!({}))), "first");
    let second = client.call("second", json!({}));
    assert_eq!(second["error"]["message"], "not today", "{second}");
    assert_eq!(text(&client.call("weigh", json!({}))), "42");
    let odd = client.call("odd", json!({}));
    assert_eq!(odd["result"]["more"], json!([1]), "{odd}");
    // A death by a fault is a death: it is told, and the server comes back.
    let died = client.call("dies", json!({}));
    assert_eq!(died["error"]["data"]["error_type"], "died", "{died}");
    assert_eq!(
        died["error"]["data"]["error_context"]["exit"]["signal"],
        "SIGKILL"
    );
    let after = client.call("after", json!({}));
    assert_eq!(text(&after), "after");
    let ended = client.close();
    let calls = ended.stderr.lines().filter(|line| *line == "called");
    assert_eq!(calls.count(), 6, "each was called once");
}

#[test]
fn an_answer_that_is_held_back_holds_back_no_other_and_junk_reaches_the_client() {
    let project = Project::empty();
    let server = python_server(&project, "counts.py", COUNTS);
    let flags = [
        "--fault",
        "slow@tool:slow=400ms",
        "--fault",
        "junk@tool:noisy=1",
    ];
    let mut client = proxy(&project, &flags, &["python3", &server]);
    client.open();
    let since = Instant::now();
    let slow = client.send("tools/call", json!({ "name": "slow" }));
    let quick = client.send("tools/call", json!({ "name": "quick" }));
    client.answer(quick);
    let waits = since.elapsed();
    client.answer(slow);
    assert!(since.elapsed() >= Duration::from_millis(400) && waits < since.elapsed());
    client.send("tools/call", json!({ "name": "noisy" }));
    let junk = client.line();
    assert!(
        serde_json::from_str::<serde_json::Value>(&junk).is_err(),
        "{junk}"
    );
    assert!(client.line().contains("noisy"));
    client.close();
}

#[test]
fn what_can_not_be_done_to_another_server_is_refused() {
    let project = Project::empty();
    for (fault, says) in [
        ("grandchild=pid", "manner of a process"),
        ("exit", "no answer"),
        ("no_such", "unknown fault"),
    ] {
        let ended = project
            .jelly(&["proxy", "--fault", fault, "--", "true"])
            .output();
        assert_eq!(ended.code, Some(2), "{fault}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "{fault}: {}", ended.stderr);
    }
}
