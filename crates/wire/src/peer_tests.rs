use super::{Beyond, End, Life, Outgoing, Peer, ReplyOutcome};
use crate::{Answers, Frame, LineSplitter};
use jelly_base::mcp::Revision;
use jelly_base::model::{Exit, OwnLimit};
use jelly_base::text::redact::Redactor;
use proptest::prelude::*;
use serde_json::{Value, json};
use tokio::sync::oneshot::Receiver;

fn peer() -> Peer {
    let redactor = Redactor::new([("WORD", "swordfish")]);
    Peer::new("s", redactor, None, Answers::default())
}

fn ask(peer: &mut Peer) -> Receiver<ReplyOutcome> {
    ask_as(peer, "tools/call", false)
}

fn ask_as(peer: &mut Peer, method: &str, probe: bool) -> Receiver<ReplyOutcome> {
    let request = Outgoing {
        method,
        params: Value::Null,
        version: None,
        progress: false,
        probe,
    };
    peer.open(request).1
}

fn hear(peer: &mut Peer, line: &str) {
    peer.receive(Frame::Line(line.as_bytes()));
}

fn sent(peer: &mut Peer) -> Vec<Value> {
    let mut out = Vec::new();
    peer.take_outbox(&mut out);
    String::from_utf8(out)
        .unwrap()
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect()
}

fn broken(mut receiver: Receiver<ReplyOutcome>) -> String {
    match receiver.try_recv() {
        Ok(ReplyOutcome::Broken(why)) => why,
        other => panic!("a broken request expected, got {other:?}"),
    }
}

#[test]
fn answers_find_their_requests_in_any_order() {
    let mut peer = peer();
    let (mut one, mut two) = (ask(&mut peer), ask(&mut peer));
    hear(&mut peer, r#"{"jsonrpc":"2.0","id":2,"result":{"n":2}}"#);
    hear(
        &mut peer,
        r#"{"jsonrpc":"2.0","id":1,"error":{"code":-1,"message":"m"}}"#,
    );
    assert_eq!(two.try_recv(), Ok(ReplyOutcome::Answered(json!({"n": 2}))));
    assert!(matches!(one.try_recv(), Ok(ReplyOutcome::RpcError(e)) if e.code == Some(-1)));
    assert!(peer.observed().breaches.is_empty());
}

#[test]
fn an_id_that_was_never_asked_ends_the_only_request() {
    let mut peer = peer();
    let one = ask(&mut peer);
    hear(&mut peer, r#"{"jsonrpc":"2.0","id":99,"result":{}}"#);
    assert_eq!(broken(one), "answered with id 99, which was never asked");
    assert_eq!(peer.observed().breaches.len(), 1);
}

#[test]
fn an_id_that_was_never_asked_ends_none_of_several_requests() {
    let mut peer = peer();
    let (mut one, mut two) = (ask(&mut peer), ask(&mut peer));
    hear(&mut peer, r#"{"jsonrpc":"2.0","id":99,"result":{}}"#);
    assert!(one.try_recv().is_err() && two.try_recv().is_err());
    assert_eq!(peer.observed().breaches.len(), 1);
}

#[test]
fn a_string_for_a_number_is_said_as_such() {
    let mut peer = peer();
    let one = ask(&mut peer);
    hear(&mut peer, r#"{"jsonrpc":"2.0","id":"1","result":{}}"#);
    assert_eq!(broken(one), "answered request 1 with the string id \"1\"");
}

#[test]
fn an_error_without_an_id_is_for_whoever_waits() {
    let mut peer = peer();
    let mut one = ask(&mut peer);
    hear(
        &mut peer,
        r#"{"jsonrpc":"2.0","id":null,"error":{"code":-32700,"message":"Parse error"}}"#,
    );
    assert!(matches!(one.try_recv(), Ok(ReplyOutcome::RpcError(e)) if e.code == Some(-32700)));
}

#[test]
fn blame_for_an_answer_without_address_goes_to_the_probe_first() {
    let mut peer = peer();
    let mut probe = ask_as(&mut peer, "server/discover", true);
    let mut init = ask_as(&mut peer, "initialize", false);
    hear(
        &mut peer,
        r#"{"jsonrpc":"2.0","error":{"code":-32600,"message":"no"}}"#,
    );
    assert!(matches!(probe.try_recv(), Ok(ReplyOutcome::RpcError(_))));
    assert!(init.try_recv().is_err());
}

#[test]
fn a_second_answer_is_a_breach_and_a_late_one_is_not() {
    let mut peer = peer();
    let _one = ask(&mut peer);
    hear(&mut peer, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    let _two = ask(&mut peer);
    assert!(peer.cancel(2, "timed out").is_some());
    hear(&mut peer, r#"{"jsonrpc":"2.0","id":2,"result":{}}"#);
    assert!(peer.observed().breaches.is_empty());
    hear(&mut peer, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert_eq!(peer.observed().breaches, ["answered request 1 twice"]);
}

#[test]
fn a_request_that_is_given_up_is_cancelled_but_initialize_is_not() {
    let mut peer = peer();
    let _call = ask(&mut peer);
    let _init = ask_as(&mut peer, "initialize", false);
    peer.cancel(1, "timed out");
    peer.cancel(2, "timed out");
    let sent = sent(&mut peer);
    assert_eq!(sent.len(), 3);
    assert_eq!(sent[2]["method"], "notifications/cancelled");
    assert_eq!(sent[2]["params"]["requestId"], 1);
}

#[test]
fn signs_of_life_are_counted_for_the_request_that_waits() {
    let mut peer = peer();
    hear(&mut peer, "banner");
    let _one = ask(&mut peer);
    let mut out = Vec::new();
    peer.take_outbox(&mut out);
    peer.wrote(out.len());
    hear(
        &mut peer,
        r#"{"jsonrpc":"2.0","method":"notifications/progress","params":{"progressToken":1,"progress":1}}"#,
    );
    hear(&mut peer, "log line");
    assert_eq!(
        peer.cancel(1, "timed out"),
        Some(Life {
            progress: 1,
            messages: 1,
            noise: 1,
            stderr_bytes: 0,
            unread: false
        })
    );
}

#[test]
fn a_request_that_never_left_is_unread() {
    let mut peer = peer();
    let _one = ask(&mut peer);
    let life = peer.cancel(1, "timed out").unwrap();
    assert!(life.unread && !life.any());
}

#[test]
fn requests_of_a_legacy_server_are_answered_or_refused() {
    let mut peer = peer();
    hear(&mut peer, r#"{"jsonrpc":"2.0","id":"a","method":"ping"}"#);
    hear(
        &mut peer,
        r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#,
    );
    let sent = sent(&mut peer);
    assert_eq!(sent[0], json!({"jsonrpc": "2.0", "id": "a", "result": {}}));
    assert_eq!(sent[1]["error"]["code"], -32601);
    assert!(peer.observed().breaches.is_empty());
}

#[test]
fn an_echo_is_named_and_not_answered_and_the_answer_after_it_counts() {
    let mut peer = peer();
    let mut one = ask(&mut peer);
    let request = sent(&mut peer).remove(0).to_string();
    hear(&mut peer, &request);
    assert!(sent(&mut peer).is_empty());
    assert!(peer.observed().breaches[0].contains("as an echo does"));
    hear(&mut peer, r#"{"jsonrpc":"2.0","id":1,"result":{}}"#);
    assert!(one.try_recv().is_ok());
}

#[test]
fn requests_of_a_modern_server_are_a_breach() {
    let mut peer = peer();
    peer.settle(Revision::newest(jelly_base::model::Era::Modern));
    hear(
        &mut peer,
        r#"{"jsonrpc":"2.0","id":7,"method":"roots/list"}"#,
    );
    assert!(sent(&mut peer).is_empty());
    assert!(peer.observed().breaches[0].contains("`roots/list`"));
}

#[test]
fn content_length_framing_ends_everything_unless_the_server_made_sense_before() {
    let mut lsp = peer();
    let one = ask(&mut lsp);
    for line in ["Content-Length: 12\r", "Content-Type: json\r", "\r"] {
        hear(&mut lsp, line);
    }
    assert!(broken(one).contains("Content-Length"));

    let mut fine = peer();
    hear(&mut fine, r#"{"jsonrpc":"2.0","method":"hello"}"#);
    let mut one = ask(&mut fine);
    for line in [
        "Content-Length: 12",
        "",
        r#"{"jsonrpc":"2.0","id":1,"result":{}}"#,
    ] {
        hear(&mut fine, line);
    }
    assert!(matches!(one.try_recv(), Ok(ReplyOutcome::Answered(_))));
}

#[test]
fn an_answer_that_is_not_json_ends_the_only_request() {
    let mut peer = peer();
    let one = ask(&mut peer);
    hear(&mut peer, r#"{"jsonrpc":"2.0","id":1,"result":{"x":NaN}}"#);
    assert!(broken(one).contains("can't be read as JSON"));
    assert_eq!(peer.observed().noise, 1);
}

#[test]
fn a_line_that_is_too_long_ends_the_only_request() {
    let mut peer = peer();
    let one = ask(&mut peer);
    peer.receive(Frame::TooLong(64));
    let beyond = Beyond {
        limit: OwnLimit::MessageSize,
        text: "sent a line longer than 64 bytes".to_owned(),
    };
    assert_eq!(one.blocking_recv().unwrap(), ReplyOutcome::Beyond(beyond));
    assert_eq!(peer.observed().breach_count, 0, "it breaks no rule");
}

#[test]
fn a_result_that_is_no_object_is_delivered_and_noted() {
    let mut peer = peer();
    let mut one = ask(&mut peer);
    hear(&mut peer, r#"{"jsonrpc":"2.0","id":1,"result":null}"#);
    assert_eq!(one.try_recv(), Ok(ReplyOutcome::Answered(Value::Null)));
    assert!(peer.observed().breaches[0].ends_with("not an object: null"));
}

#[test]
fn flaws_of_the_form_are_noted_and_the_answer_is_used() {
    let mut peer = peer();
    let (mut one, mut two) = (ask(&mut peer), ask(&mut peer));
    hear(&mut peer, r#"{"jsonrpc":"1.0","id":1,"result":{}}"#);
    hear(&mut peer, r#"{"id":2,"result":{}}"#);
    assert!(one.try_recv().is_ok() && two.try_recv().is_ok());
    assert_eq!(peer.observed().breaches.len(), 2);
}

#[test]
fn a_log_line_with_an_id_is_noise() {
    let mut peer = peer();
    let mut one = ask(&mut peer);
    hear(&mut peer, r#"{"id":77,"error":{"stack":"x"}}"#);
    assert!(one.try_recv().is_err());
    assert_eq!(peer.observed().noise, 1);
}

#[test]
fn a_breach_does_not_carry_a_secret() {
    let mut peer = peer();
    let one = ask(&mut peer);
    hear(
        &mut peer,
        r#"{"jsonrpc":"2.0","id":"swordfish","result":{}}"#,
    );
    assert!(broken(one).contains("[secret WORD]"));
    assert!(!format!("{:?}", peer.observed()).contains("swordfish"));
}

#[test]
fn the_end_is_told_to_all_who_wait_and_all_who_come() {
    let mut peer = peer();
    let mut one = ask(&mut peer);
    let exit = Exit {
        code: Some(3),
        signal: None,
    };
    peer.finish(End::Exited(exit.clone()));
    let mut two = ask(&mut peer);
    assert_eq!(one.try_recv(), Ok(ReplyOutcome::Exited(exit.clone())));
    assert_eq!(two.try_recv(), Ok(ReplyOutcome::Exited(exit)));
}

#[test]
fn a_flood_of_requests_that_reads_no_answers_is_bounded() {
    let mut peer = peer();
    let line = format!(
        r#"{{"jsonrpc":"2.0","id":"{}","method":"ping"}}"#,
        "x".repeat(100_000)
    );
    for _ in 0..400 {
        hear(&mut peer, &line);
    }
    let mut out = Vec::new();
    peer.take_outbox(&mut out);
    assert!(out.len() < 20 * 1024 * 1024);
    assert!(!peer.observed().breaches.is_empty());
}

/// What a stream leads to: who was answered how, and what was seen beside.
fn outcome_of(pieces: &[&[u8]]) -> (Vec<Option<ReplyOutcome>>, String) {
    let mut peer = peer();
    let mut waiting: Vec<_> = (0..4).map(|_| ask(&mut peer)).collect();
    let mut splitter = LineSplitter::default();
    for piece in pieces {
        splitter.push(piece);
        while let Some(frame) = splitter.next_frame() {
            peer.receive(frame);
        }
    }
    if let Some(frame) = splitter.finish() {
        peer.receive(frame);
    }
    let answers = waiting.iter_mut().map(|r| r.try_recv().ok()).collect();
    (answers, format!("{:?}", peer.observed()))
}

proptest! {
    #[test]
    fn any_chunking_of_the_same_bytes_gives_the_same_messages(
        lines in proptest::collection::vec(prop_oneof![
            (1u64..6).prop_map(|id| json!({"jsonrpc": "2.0", "id": id, "result": {"t": "größe €"}}).to_string()),
            (1u64..6).prop_map(|id| json!({"jsonrpc": "2.0", "id": id, "error": {"code": 1, "message": "é"}}).to_string()),
            Just(r#"{"jsonrpc":"2.0","method":"n"}"#.to_owned()),
            Just("Content-Length: 5".to_owned()),
            "[ -~äß\\\\{}\\[\\]\"]{0,30}",
        ], 0..12),
        cuts in proptest::collection::vec(any::<prop::sample::Index>(), 0..12),
        terminated in any::<bool>(),
    ) {
        let mut bytes = lines.join("\n").into_bytes();
        if terminated {
            bytes.push(b'\n');
        }
        let mut at: Vec<usize> = cuts.iter().map(|cut| cut.index(bytes.len() + 1)).collect();
        at.extend([0, bytes.len()]);
        at.sort_unstable();
        let pieces: Vec<&[u8]> = at.windows(2).map(|w| &bytes[w[0]..w[1]]).collect();
        prop_assert_eq!(outcome_of(&pieces), outcome_of(&[&bytes]));
    }

    #[test]
    fn no_line_whatsoever_panics_or_is_lost_from_the_count(
        line in proptest::collection::vec(any::<u8>().prop_filter("", |b| *b != b'\n'), 0..80),
    ) {
        let mut peer = peer();
        let _one = ask(&mut peer);
        peer.receive(Frame::Line(&line));
        let seen = peer.observed();
        let blank = line.trim_ascii().is_empty() || line == b"\xef\xbb\xbf";
        prop_assert!(blank || seen.noise + seen.messages + seen.breach_count > 0);
    }
}
