use super::{Direction, Recorder, redact_record};
use crate::Reach;
use jelly_base::text::redact::Redactor;
use jelly_process::CommandSpec;
use serde_json::{Value, json};

#[test]
fn what_is_known_as_a_secret_later_is_taken_out_of_the_record() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("wire.jsonl");
    let redactor = Redactor::none();
    let recorder = Recorder::create(&path).unwrap();
    for line in [
        r#"{"b":"sword\"fish","a":1}"#,
        r#"{"x":48151623}"#,
        "48151623!",
        "{}",
    ] {
        recorder.record("a", Direction::Received, line.as_bytes(), &redactor);
    }
    redactor.learn([("T", "sword\"fish"), ("N", "48151623")]);
    redact_record(&path, &redactor).unwrap();
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|l| serde_json::from_str(l).unwrap())
        .collect();
    assert_eq!(lines.len(), 4);
    assert!(
        !text.contains("fish") && !text.contains("48151623"),
        "{text}"
    );
    assert_eq!(lines[0]["message"], json!({"b": "[secret T]", "a": 1}));
    assert_eq!(
        (&lines[3]["seq"], &lines[3]["message"]),
        (&json!(4), &json!({}))
    );
    assert_eq!(std::fs::read_dir(dir.path()).unwrap().count(), 1);
}

#[test]
fn a_record_is_gone_on_with_by_one_at_a_time_and_nothing_else_is_touched() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("wire.jsonl");
    let reach = Reach::from(CommandSpec {
        argv: vec!["srv".to_owned()],
        cwd: "/w".into(),
        env: Vec::new(),
    });
    let none = Redactor::none();
    let first = Recorder::resume(&path).unwrap();
    first
        .session("s", &reach, &none)
        .record("s", Direction::Sent, b"{}", &none);
    let busy = Recorder::resume(&path).unwrap_err();
    assert_eq!(busy.kind(), std::io::ErrorKind::WouldBlock, "{busy}");
    drop(first);
    // Of a line that its writer was killed over nothing stays.
    let text = std::fs::read_to_string(&path).unwrap();
    std::fs::write(&path, format!("{text}{{\"seq\":3,\"ser")).unwrap();
    let second = Recorder::resume(&path).unwrap();
    second
        .session("s", &reach, &none)
        .record("s", Direction::Sent, b"{}", &none);
    drop(second);
    let cut = dir.path().join("cut.jsonl");
    std::fs::write(&cut, "{\"seq\":1,\"ser").unwrap();
    drop(Recorder::resume(&cut).unwrap());
    assert_eq!(std::fs::read_to_string(&cut).unwrap(), "");
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let of = |key: &str| -> Vec<u64> {
        let values = lines.iter().filter_map(|line| line[key].as_u64());
        values.collect()
    };
    assert_eq!(of("seq"), [1, 2, 3, 4], "{text}");
    assert_eq!(of("session"), [1, 1, 2, 2], "{text}");

    for other in ["my notes\n", "{\"a\":1}\n", "half"] {
        std::fs::write(&path, other).unwrap();
        let refused = Recorder::resume(&path).unwrap_err();
        assert!(refused.to_string().contains("stays as it is"), "{refused}");
        assert_eq!(std::fs::read_to_string(&path).unwrap(), other);
    }
}

#[test]
fn messages_are_numbered_and_redacted() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("wire.jsonl");
    let recorder = Recorder::create(&path).unwrap();
    let redactor = Redactor::new([("KEY", "48151623"), ("WORD", "swordfish")]);
    recorder.record("a", Direction::Sent, br#"{"x":"swordfish"}"#, &redactor);
    recorder
        .clone()
        .record("b", Direction::Received, b"hello swordfish", &redactor);
    recorder.record("b", Direction::Received, br#"{"x":48151623}"#, &redactor);
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let mut first = lines[0].clone();
    assert!(first["at_ms"].take().is_u64());
    assert_eq!(
        first,
        json!({"seq": 1, "server": "a", "at_ms": null, "direction": "sent",
               "message": {"x": "[secret WORD]"}})
    );
    assert_eq!(lines[1]["seq"], 2);
    assert_eq!(lines[1]["direction"], "received");
    assert_eq!(lines[1]["text"], "hello [secret WORD]");
    assert!(!text.contains("48151623"));
    assert_eq!(recorder.warning(), None);
}

#[test]
fn each_session_says_how_its_server_was_started_without_secrets() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("wire.jsonl");
    let recorder = Recorder::create(&path).unwrap();
    let redactor = Redactor::new([("WORD", "swordfish")]);
    let spec = CommandSpec {
        argv: ["x", "--token", "t0psecret", "swordfish"]
            .map(String::from)
            .to_vec(),
        cwd: "/w".into(),
        env: vec![("API_KEY".to_owned(), "hidden-value".to_owned())],
    };
    let reach = Reach::from(spec);
    let _first = recorder.session("a", &reach, &redactor);
    let second = recorder.session("a", &reach, &redactor);
    second.record("a", Direction::Sent, b"{}", &redactor);
    let text = std::fs::read_to_string(&path).unwrap();
    for secret in ["t0psecret", "swordfish", "hidden-value"] {
        assert!(!text.contains(secret), "{text}");
    }
    let lines: Vec<Value> = text
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let sessions: Vec<&Value> = lines.iter().map(|line| &line["session"]).collect();
    assert_eq!(sessions, [&json!(1), &json!(2), &json!(2)]);
    assert_eq!(lines[0]["start"]["argv"][3], "[secret WORD]");
    assert_eq!(lines[0]["start"]["cwd"], "/w");
}

#[test]
fn a_record_stops_after_a_whole_line_and_says_so() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("wire.jsonl");
    let recorder = Recorder::of_at_most(&path, 150).unwrap();
    for _ in 0..5 {
        recorder.record("a", Direction::Received, b"{}", &Redactor::none());
    }
    let text = std::fs::read_to_string(&path).unwrap();
    assert_eq!(text.lines().count(), 3, "{text}");
    let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
    assert_eq!(last["stopped"], "it is full (256 MiB)", "{text}");
    let warning = recorder.warning().unwrap();
    assert!(
        warning.starts_with("the wire record stops after message 2"),
        "{warning}"
    );
    // Whoever wants to hear of it at once hears of it once.
    assert_eq!(recorder.new_warning(), Some(warning.clone()));
    assert_eq!(recorder.new_warning(), None);
    let read = crate::Recording::read(text.as_bytes()).unwrap();
    assert_eq!(read.stopped.as_deref(), Some("it is full (256 MiB)"));
    assert_eq!(read.sessions[0].messages.len(), 2);
    // Nothing is added to it, which is said at once.
    let resumed = Recorder::resume(&path).unwrap();
    assert_eq!(resumed.new_warning(), Some(warning));
    resumed.record("a", Direction::Received, b"{}", &Redactor::none());
    assert_eq!(std::fs::read_to_string(&path).unwrap(), text);
}

#[cfg(target_os = "linux")]
#[test]
fn a_full_disk_is_a_warning() {
    let recorder = Recorder::create(std::path::Path::new("/dev/full")).unwrap();
    recorder.record("a", Direction::Sent, b"{}", &Redactor::none());
    recorder.record("a", Direction::Sent, b"{}", &Redactor::none());
    assert!(
        recorder
            .warning()
            .unwrap()
            .starts_with("the wire record stops after message 0")
    );
}

#[test]
fn what_nobody_called_a_secret_is_masked_on_both_sides_by_its_name_or_form() {
    let dir = tempfile::tempdir().unwrap();
    let path = dir.path().join("wire.jsonl");
    let recorder = Recorder::create(&path).unwrap();
    let none = Redactor::none();
    let known = Redactor::new([("Password", "of-the-command")]);
    let reach = Reach::from(CommandSpec {
        argv: vec!["srv".to_owned(), "of-the-command".to_owned()],
        cwd: "/w".into(),
        env: Vec::new(),
    });
    drop(recorder.session("s", &reach, &known));
    let sent = |arguments: Value| {
        let line = json!({"id": 1, "method": "tools/call", "params": {"arguments": arguments}});
        recorder.record("s", Direction::Sent, line.to_string().as_bytes(), &none);
    };
    sent(json!({"password": "hunter2hunter2"}));
    sent(json!({"password": "swordfish-22"}));
    sent(json!({"headers": {"Authorization": "Bearer zzyyxx1234567890aa"}}));
    sent(json!({"dsn": "postgres://u:dbpass998877@h/d", "q": "hunter2hunter2"}));
    for said in [
        json!({"result": {"content": [{"type": "text", "text":
            "got hunter2hunter2, swordfish-22 and {\"token\":\"ghp_0123456789abcdefghij\"}"}]}})
        .to_string(),
        "no JSON: password=hunter2hunter2, zzyyxx1234567890aa".to_owned(),
    ] {
        recorder.record("s", Direction::Received, said.as_bytes(), &none);
    }
    let text = std::fs::read_to_string(&path).unwrap();
    let lines: Vec<Value> = text
        .lines()
        .skip(1)
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let arguments = |n: usize| lines[n]["message"]["params"]["arguments"].clone();
    // The command has one of that name.
    assert_eq!(arguments(0), json!({"password": "[secret password 2]"}));
    assert_eq!(arguments(1), json!({"password": "[secret password 3]"}));
    assert_eq!(
        arguments(2),
        json!({"headers": {"Authorization": "Bearer [secret Authorization]"}})
    );
    assert_eq!(
        arguments(3),
        json!({"dsn": "postgres://u:[secret the URL's password]@h/d", "q": "[secret password 2]"})
    );
    assert_eq!(
        lines[4]["message"]["result"]["content"][0]["text"],
        "got [secret password 2], [secret password 3] and {\"token\":\"[secret token]\"}"
    );
    assert_eq!(
        lines[5]["text"],
        "no JSON: password=[secret password 2], [secret Authorization]"
    );
}
