use super::Connection;
use crate::{Answers, Outgoing, Peer, ReplyOutcome};
use jelly_base::model::Exit;
use jelly_base::text::redact::Redactor;
use serde_json::{Value, json};
use std::time::Duration;
use tokio::io::{AsyncBufReadExt, AsyncReadExt, AsyncWriteExt, BufReader, DuplexStream};
use tokio::sync::oneshot;

/// Generous: a deadline, not a measurement.
const SOON: Duration = Duration::from_secs(20);

struct Server {
    input: BufReader<DuplexStream>,
    output: DuplexStream,
    exit: Option<oneshot::Sender<Exit>>,
}

fn connect(pipe: usize) -> (Connection, Server) {
    let (input_theirs, input_ours) = tokio::io::duplex(pipe);
    let (output_ours, output_theirs) = tokio::io::duplex(pipe);
    let (exit, exited) = oneshot::channel();
    let peer = Peer::new("s", Redactor::none(), None, Answers::default());
    let exited = async move {
        match exited.await {
            Ok(exit) => exit,
            Err(_) => std::future::pending().await,
        }
    };
    let server = Server {
        input: BufReader::new(input_theirs),
        output: output_theirs,
        exit: Some(exit),
    };
    (
        Connection::open(peer, output_ours, input_ours, exited),
        server,
    )
}

impl Server {
    async fn hear(&mut self) -> Value {
        let mut line = String::new();
        self.input.read_line(&mut line).await.unwrap();
        serde_json::from_str(&line).unwrap()
    }

    async fn say(&mut self, text: &str) {
        self.output.write_all(text.as_bytes()).await.unwrap();
    }

    fn exit(&mut self, code: i32) {
        let exit = Exit {
            code: Some(code),
            signal: None,
        };
        self.exit.take().unwrap().send(exit).unwrap();
    }
}

fn call(params: Value) -> Outgoing<'static> {
    Outgoing {
        method: "tools/call",
        params,
        version: None,
        progress: false,
        probe: false,
    }
}

fn answer(id: u64) -> String {
    format!("{}\n", json!({"jsonrpc": "2.0", "id": id, "result": {}}))
}

#[tokio::test]
async fn ten_thousand_messages_in_one_chunk_and_then_the_answer() {
    let (connection, mut server) = connect(8 * 1024 * 1024);
    let waiting = connection.send(call(Value::Null));
    server.hear().await;
    let mut chunk = "{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\"}\n".repeat(10_000);
    chunk.push_str(&answer(1));
    server.say(&chunk).await;
    let end = waiting.answer_within(SOON).await;
    assert_eq!(end, ReplyOutcome::Answered(json!({})));
    assert_eq!(connection.look(|peer| peer.observed().messages), 10_001);
}

#[tokio::test]
async fn a_line_of_twenty_megabytes_is_an_answer_like_any_other() {
    let (connection, mut server) = connect(64 * 1024);
    let waiting = connection.send(call(Value::Null));
    let writer = tokio::spawn(async move {
        server.hear().await;
        let text = "ä".repeat(10 * 1024 * 1024);
        let line = format!(
            "{}\n",
            json!({"jsonrpc":"2.0","id":1,"result":{"text":text}})
        );
        server.say(&line).await;
        server
    });
    match waiting.answer_within(SOON).await {
        ReplyOutcome::Answered(result) => {
            assert_eq!(
                result["text"].as_str().map(str::len),
                Some(20 * 1024 * 1024)
            );
        }
        other => panic!("{other:?}"),
    }
    drop(writer.await);
}

#[tokio::test]
async fn a_server_that_does_not_read_blocks_nobody() {
    let (connection, mut server) = connect(1024);
    let huge = json!({"text": "x".repeat(1024 * 1024)});
    let stuck = connection.send(call(huge));
    match stuck.answer_within(Duration::from_millis(50)).await {
        ReplyOutcome::TimedOut(life) => assert!(life.unread),
        other => panic!("{other:?}"),
    }
    server
        .say("{\"jsonrpc\":\"2.0\",\"method\":\"hello\"}\n")
        .await;
    let mut patience = 0;
    while connection.look(|peer| peer.observed().messages) == 0 {
        tokio::task::yield_now().await;
        patience += 1;
        assert!(patience < 1_000_000, "its message was never read");
    }
}

#[tokio::test]
async fn what_was_written_before_the_exit_counts() {
    let (connection, mut server) = connect(64 * 1024);
    let first = connection.send(call(Value::Null));
    let second = connection.send(call(Value::Null));
    server.hear().await;
    server.hear().await;
    // The last line is not even terminated, and the pipe stays open, as if
    // a grandchild held it.
    server.say(answer(1).trim_end()).await;
    server.exit(7);
    assert_eq!(
        first.answer_within(SOON).await,
        ReplyOutcome::Answered(json!({}))
    );
    match second.answer_within(SOON).await {
        ReplyOutcome::Exited(exit) => assert_eq!(exit.code, Some(7)),
        other => panic!("{other:?}"),
    }
    let later = connection.send(call(Value::Null));
    assert!(matches!(
        later.answer_within(SOON).await,
        ReplyOutcome::Exited(_)
    ));
}

#[tokio::test]
async fn a_closed_stdout_of_a_live_server_is_said_as_such() {
    let (connection, server) = connect(1024);
    let waiting = connection.send(call(Value::Null));
    let Server { output, exit, .. } = server;
    drop(output);
    match waiting.answer_within(SOON).await {
        ReplyOutcome::Broken(why) => assert!(why.contains("closed its stdout"), "{why}"),
        other => panic!("{other:?}"),
    }
    drop(exit);
}

#[tokio::test]
async fn a_server_that_closed_its_stdout_can_still_be_asked_to_end() {
    let (connection, server) = connect(1024);
    let Server {
        mut input,
        output,
        exit,
    } = server;
    drop(output);
    connection.close();
    let mut rest = String::new();
    let ended = tokio::time::timeout(SOON, input.read_to_string(&mut rest)).await;
    assert!(ended.is_ok(), "its stdin is still open");
    drop(exit);
}

#[tokio::test]
async fn a_closed_stdin_ends_the_requests_that_can_no_longer_be_read() {
    let (connection, server) = connect(16);
    let Server {
        input,
        mut output,
        exit,
    } = server;
    drop(input);
    let waiting = connection.send(call(json!({"text": "x".repeat(1000)})));
    match waiting.answer_within(SOON).await {
        ReplyOutcome::Broken(why) => assert!(why.contains("closed its stdin"), "{why}"),
        other => panic!("{other:?}"),
    }
    output.write_all(b"still talking\n").await.unwrap();
    drop(exit);
}

#[tokio::test]
async fn a_dropped_request_is_cancelled() {
    let (connection, mut server) = connect(64 * 1024);
    drop(connection.send(call(Value::Null)));
    assert_eq!(server.hear().await["id"], 1);
    let cancelled = server.hear().await;
    assert_eq!(cancelled["method"], "notifications/cancelled");
    assert_eq!(cancelled["params"]["requestId"], 1);
    server.say(&answer(1)).await;
    let next = connection.send(call(Value::Null));
    server.say(&answer(2)).await;
    let answer = next.answer_within(SOON).await;
    assert!(!matches!(answer, ReplyOutcome::TimedOut(_)));
    let breaches = connection.with_peer(|peer| peer.observed().breaches.clone());
    assert!(breaches.is_empty(), "{breaches:?}");
}

#[tokio::test]
async fn a_ping_is_answered_while_nobody_waits_for_anything() {
    let (_connection, mut server) = connect(64 * 1024);
    server
        .say("{\"jsonrpc\":\"2.0\",\"id\":5,\"method\":\"ping\"}\n")
        .await;
    assert_eq!(
        server.hear().await,
        json!({"jsonrpc": "2.0", "id": 5, "result": {}})
    );
}

#[tokio::test]
async fn closing_stdin_sends_what_is_queued_first() {
    let (connection, mut server) = connect(64 * 1024);
    connection.with_peer(|peer| peer.notify("bye", Value::Null));
    connection.close();
    let mut all = String::new();
    server.input.read_to_string(&mut all).await.unwrap();
    assert_eq!(all, "{\"jsonrpc\":\"2.0\",\"method\":\"bye\"}\n");
}
