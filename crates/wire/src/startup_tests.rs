use crate::ReplyOutcome;
use crate::fixture::{Fixture, echo};
use jelly_base::mcp::{Era, REVISIONS, Revision};
use jelly_base::model::{Outcome, Phase};
use jelly_base::text::redact::Redactor;
use serde_json::json;
use std::time::Duration;

// ── eras ─────────────────────────────────────────────────────────────────

#[tokio::test]
async fn a_modern_server_is_found_by_the_probe_and_never_initialized() {
    let fixture =
        Fixture::new("while True: modern(recv(), lambda m: ok(m, {'resultType': 'complete'}))");
    let session = fixture.ready().await;
    assert_eq!(session.era(), Era::Modern);
    assert_eq!(session.protocol_version(), "2026-07-28");
    assert_eq!(session.server_info(), &json!({"name": "modern"}));
    assert_eq!(session.tools()[0].name, "echo");
    assert!(matches!(echo(&session).await, ReplyOutcome::Answered(_)));
    assert!(session.breaches().is_empty());
    assert_eq!(
        fixture.heard(),
        ["server/discover", "tools/list", "tools/call"]
    );
}

#[tokio::test]
async fn a_legacy_server_that_refuses_the_probe_is_initialized_at_once() {
    let fixture = Fixture::new("while True: legacy(recv())");
    let session = fixture.ready().await;
    assert_eq!(session.era(), Era::Legacy);
    assert_eq!(session.protocol_version(), "2025-11-25");
    assert_eq!(fixture.starts(), 1);
    assert!(session.notes().is_empty() && !session.shy_of_probes());
    let heard = fixture.heard();
    assert_eq!(heard[..2], ["server/discover", "initialize"]);
    assert!(heard.contains(&"notifications/initialized".to_owned()));
}

#[tokio::test]
async fn every_older_version_is_accepted() {
    let body = "
def one(m):
    if m['method'] == 'initialize': init(m, '2024-11-05')
    else: legacy(m)
while True: one(recv())";
    let session = Fixture::new(body).ready().await;
    assert_eq!(session.protocol_version(), "2024-11-05");
}

#[tokio::test]
async fn a_server_that_dies_of_the_probe_gets_a_fresh_process() {
    let body = "
m = recv()
if m['method'] != 'initialize': raise RuntimeError('validation of ' + m['method'])
legacy(m)
while True: legacy(recv())";
    let fixture = Fixture::new(body);
    let session = fixture.ready().await;
    assert_eq!(session.era(), Era::Legacy);
    assert_eq!(fixture.starts(), 2);
    assert!(session.notes()[0].contains("server/discover"));
    assert!(session.shy_of_probes());
    assert!(!session.exit_watch().has_exited());
}

#[tokio::test]
async fn a_server_that_the_probe_leaves_in_disorder_gets_a_fresh_process() {
    let body = "
m = recv()
while m['method'] == 'server/discover':
    err(m, -32000, 'not initialized'); m = recv(); err(m, -32000, 'invalid state'); m = recv()
legacy(m)
while True: legacy(recv())";
    let fixture = Fixture::new(body);
    let session = fixture.ready().await;
    assert_eq!(session.era(), Era::Legacy);
    assert_eq!(fixture.starts(), 2);
}

#[tokio::test]
async fn a_server_that_ignores_unknown_methods_is_healthy_on_the_same_process() {
    let body = "
while True:
    m = recv()
    if m['method'] != 'server/discover': legacy(m)";
    let fixture = Fixture::new(body);
    let session = fixture.ready().await;
    assert_eq!(session.era(), Era::Legacy);
    assert_eq!(fixture.starts(), 1);
    assert!(session.startup() >= Duration::from_secs(1));
}

#[tokio::test]
async fn a_slow_modern_server_is_modern_although_initialize_was_sent_meanwhile() {
    let body = "
time.sleep(1.5)
while True:
    m = recv()
    if m['method'] == 'initialize': err(m, -32601, 'no such method')
    else: modern(m)";
    let fixture = Fixture::new(body);
    let session = fixture.ready().await;
    assert_eq!(session.era(), Era::Modern);
    assert_eq!(fixture.starts(), 1);
    assert!(session.breaches().is_empty());
}

#[tokio::test]
async fn a_slow_server_of_both_eras_is_started_again_and_asked_in_one_only() {
    // It stays with the era of what it answered last, as the TypeScript SDK's
    // servers do.
    let body = "
time.sleep(1.5)
era = None
while True:
    m = recv()
    if m['method'] == 'initialize': era = legacy
    elif era is None: era = modern
    answer = modern if m['method'] == 'server/discover' else era
    answer(m, lambda m: ok(m, {'resultType': 'complete'}))";
    let fixture = Fixture::new(body);
    let session = fixture.ready().await;
    assert_eq!(session.era(), Era::Modern);
    assert!(matches!(echo(&session).await, ReplyOutcome::Answered(_)));
    assert!(session.breaches().is_empty(), "{:?}", session.breaches());
    assert_eq!(fixture.starts(), 2);
    assert!(!session.shy_of_probes());
    assert!(session.notes()[0].contains("asked as a modern server only"));
}

#[tokio::test]
async fn a_slow_server_of_both_eras_that_starts_only_once_is_used_as_it_is() {
    let body = "
time.sleep(1.5)
if len(open('starts').read()) > 1: raise SystemExit('locked')
while True:
    m = recv()
    (legacy if m['method'] == 'initialize' else modern)(m)";
    let fixture = Fixture::new(body);
    let session = fixture.ready().await;
    assert_eq!(session.era(), Era::Modern);
    assert!(session.notes()[0].contains("did not become ready"));
    assert!(!session.exit_watch().has_exited());
}

#[tokio::test]
async fn a_server_that_falls_mute_over_the_probe_gets_a_second_process_beside_it() {
    let body = "
m = recv()
while m['method'] == 'server/discover':
    time.sleep(60)
legacy(m)
while True: legacy(recv())";
    let mut fixture = Fixture::new(body);
    fixture.launch.startup_timeout = Duration::from_secs(6);
    let session = fixture.ready().await;
    assert_eq!(session.era(), Era::Legacy);
    assert_eq!(fixture.starts(), 2);
    assert!(session.startup() < Duration::from_secs(6));
}

#[tokio::test]
async fn a_pinned_version_is_the_only_one_that_is_asked_for() {
    for Revision { name, .. } in &REVISIONS {
        let mut fixture = Fixture::new(
            "while True:
    m = recv()
    meta = m.get('params', {}).get('_meta', {})
    (modern if 'io.modelcontextprotocol/protocolVersion' in meta else legacy)(m)",
        );
        fixture.launch.version = Revision::find(name);
        let session = fixture.ready().await;
        assert_eq!(session.protocol_version(), *name);
        let first = if *name == "2026-07-28" {
            "server/discover"
        } else {
            "initialize"
        };
        assert_eq!(fixture.heard()[0], first);
        assert!(!session.shy_of_probes());
    }
}

#[tokio::test]
async fn a_server_that_does_not_speak_the_pinned_version_is_told_so() {
    for (name, body, said) in [
        (
            "2025-06-18",
            "m = recv(); init(m, '2025-11-25'); recv()",
            "it speaks 2025-11-25, and is held to 2025-06-18",
        ),
        (
            "2025-06-18",
            "err(recv(), -32602, 'no', {'supported': ['2024-11-05']}); recv()",
            "it offers 2024-11-05, and is held to 2025-06-18",
        ),
        (
            "2026-07-28",
            "while True: legacy(recv())",
            "it answers `server/discover` with: Method not found, and is held to 2026-07-28",
        ),
    ] {
        let mut fixture = Fixture::new(body);
        fixture.launch.version = Revision::find(name);
        let failure = fixture.failed().await;
        assert_eq!(
            failure.message,
            format!("protocol version mismatch: {said}")
        );
        assert_eq!(failure.phase, Phase::Handshake);
        assert_eq!(fixture.starts(), 1);
    }
}

#[tokio::test]
async fn a_pinned_era_is_neither_probed_nor_doubted() {
    let mut legacy = Fixture::new("while True: legacy(recv())");
    legacy.launch.era = Some(Era::Legacy);
    legacy.ready().await;
    assert_eq!(legacy.heard()[0], "initialize");

    let mut modern = Fixture::new("while True: legacy(recv())");
    modern.launch.era = Some(Era::Modern);
    let failure = modern.failed().await;
    assert_eq!(failure.phase, Phase::Handshake);
    assert!(failure.unspoken);
    assert!(failure.message.ends_with("and is held to the modern era"));
    assert_eq!(modern.heard(), ["server/discover"]);
}

#[tokio::test]
async fn a_modern_server_of_another_version_is_never_initialized() {
    let body = "
while True:
    m = recv()
    err(m, -32022, 'Unsupported protocol version', {'supported': ['2031-01-01', '2025-11-25']})";
    let fixture = Fixture::new(body);
    let failure = fixture.failed().await;
    assert_eq!(failure.phase, Phase::Handshake);
    assert!(failure.message.starts_with("protocol version mismatch"));
    assert!(failure.message.contains("2031-01-01"));
    assert_eq!(fixture.heard(), ["server/discover"]);
}

#[tokio::test]
async fn an_unknown_version_in_the_handshake_is_a_mismatch() {
    let body = "
def one(m):
    if m['method'] == 'initialize': init(m, '1999-01-01')
    else: legacy(m)
while True: one(recv())";
    let failure = Fixture::new(body).failed().await;
    assert_eq!(failure.phase, Phase::Handshake);
    assert!(failure.message.starts_with("protocol version mismatch"));
    assert!(failure.message.contains("1999-01-01"));
}

#[tokio::test]
async fn a_server_that_refuses_our_version_and_names_another_is_asked_again() {
    let body = "
def one(m):
    if m['method'] == 'initialize' and m['params']['protocolVersion'] != '2024-11-05':
        err(m, -32602, 'Unsupported protocol version', {'supported': ['2024-11-05']})
    else: legacy(m)
while True: one(recv())";
    let session = Fixture::new(body).ready().await;
    assert_eq!(session.protocol_version(), "2024-11-05");
}

// ── starts that fail ─────────────────────────────────────────────────────

#[tokio::test]
async fn a_command_that_does_not_exist_is_a_spawn_failure() {
    let mut fixture = Fixture::new("");
    *fixture.argv() = vec!["no-such-command-anywhere".into()];
    let failure = fixture.failed().await;
    assert_eq!(failure.phase, Phase::Spawn);
    assert_eq!(failure.outcome, Outcome::SpawnError);
    assert_eq!(failure.spawn_error.unwrap().name.as_deref(), Some("ENOENT"));
}

#[tokio::test]
async fn a_server_that_dies_before_it_reads_is_not_started_twice() {
    let fixture = Fixture::new("log('Error: directory /nowhere does not exist'); sys.exit(1)");
    let failure = fixture.failed().await;
    assert_eq!(failure.phase, Phase::Handshake);
    assert_eq!(failure.outcome, Outcome::Eof);
    assert_eq!(failure.exit.unwrap().code, Some(1));
    assert!(
        failure
            .message
            .starts_with("exited during startup with code 1")
    );
    assert!(failure.stderr.contains("/nowhere does not exist"));
    assert!(!failure.process_alive);
    assert_eq!(fixture.starts(), 1);
}

#[tokio::test]
async fn a_server_that_dies_of_both_openings_tells_of_the_second() {
    let fixture = Fixture::new("m = recv(); log('died of ' + m['method']); sys.exit(4)");
    let failure = fixture.failed().await;
    assert_eq!(failure.exit.unwrap().code, Some(4));
    assert!(failure.stderr.contains("died of initialize"));
    assert_eq!(fixture.starts(), 2);
}

#[tokio::test]
async fn a_death_by_signal_names_it() {
    let failure = Fixture::new("os.kill(os.getpid(), signal.SIGSEGV)")
        .failed()
        .await;
    assert_eq!(failure.exit.unwrap().signal.as_deref(), Some("SIGSEGV"));
    assert!(failure.message.contains("by SIGSEGV"));
}

#[tokio::test]
async fn an_exit_after_the_handshake_is_a_failure_of_the_list() {
    let body = "
while True:
    m = recv()
    if m['method'] == 'tools/list': log('boom'); sys.exit(9)
    legacy(m)";
    let failure = Fixture::new(body).failed().await;
    assert_eq!(failure.phase, Phase::List);
    assert!(failure.message.starts_with("exited during startup"));
    assert_eq!(failure.exit.unwrap().code, Some(9));
    assert_eq!(failure.stderr.trim(), "boom");
    assert_eq!(failure.era, Some(Era::Legacy));
    assert_eq!(
        failure.server_info,
        Some(json!({"name": "legacy", "version": "1"}))
    );
}

#[tokio::test]
async fn a_server_that_never_answers_runs_into_the_limit_that_is_set() {
    let mut fixture = Fixture::new("log('starting'); time.sleep(60)");
    fixture.launch.startup_timeout = Duration::from_millis(1500);
    let failure = fixture.failed().await;
    assert_eq!(failure.phase, Phase::Handshake);
    assert_eq!(failure.outcome, Outcome::Timeout);
    assert_eq!(failure.timeout, Some(Duration::from_millis(1500)));
    assert!(failure.message.contains("1.5 s"), "{}", failure.message);
    assert!(failure.showed_life && failure.process_alive);
    assert!(failure.elapsed >= Duration::from_millis(1500));
    // The probe did no harm to what never read it.
    assert_eq!(fixture.starts(), 1);
    let mut reads = Fixture::new("recv(); time.sleep(60)");
    reads.launch.startup_timeout = Duration::from_secs(3);
    assert_eq!(reads.failed().await.outcome, Outcome::Timeout);
    assert_eq!(reads.starts(), 2);
}

/// As a server in its HTTP mode does with its port.
#[tokio::test]
async fn a_mute_server_that_starts_only_once_is_mute_and_no_more() {
    let body = "
try: os.open('lock', os.O_CREAT | os.O_EXCL)
except FileExistsError:
    log('port 3000 is in use')
    sys.exit(1)
log('listening')
time.sleep(60)";
    let mut fixture = Fixture::new(body);
    fixture.launch.startup_timeout = Duration::from_secs(3);
    let failure = fixture.failed().await;
    assert_eq!(failure.outcome, Outcome::Timeout);
    assert_eq!(failure.stderr.trim(), "listening");
    assert_eq!(fixture.starts(), 1);
}

/// As Node does under `--inspect-brk`, whose second process goes on without
/// its debugger: the first one has the port.
#[tokio::test]
async fn a_server_that_answers_only_beside_itself_is_not_ready() {
    let body = "
try: os.open('lock', os.O_CREAT | os.O_EXCL)
except FileExistsError:
    while True: legacy(recv())
time.sleep(60)";
    let mut fixture = Fixture::new(body);
    fixture.launch.startup_timeout = Duration::from_secs(3);
    assert_eq!(fixture.failed().await.outcome, Outcome::Timeout);
}

#[tokio::test]
async fn junk_alone_is_shown_and_junk_between_is_lived_with() {
    let mut only = Fixture::new("raw('listening on http://127.0.0.1:3000\\n'); time.sleep(60)");
    only.launch.startup_timeout = Duration::from_millis(1500);
    let failure = only.failed().await;
    assert_eq!(failure.outcome, Outcome::Timeout);
    assert_eq!(failure.stdout_noise, ["listening on http://127.0.0.1:3000"]);

    let between = Fixture::new("while True: raw('DEBUG\\n'); legacy(recv()); raw('\\n')");
    let session = between.ready().await;
    let (count, sample) = session.noise();
    assert!(count >= 2 && sample[0] == "DEBUG");
}

#[tokio::test]
async fn lsp_framing_fails_at_once_and_by_its_name() {
    let body = r#"
m = inp.readline()
body = json.dumps({"jsonrpc": "2.0", "id": 1, "result": {}})
raw(f"Content-Length: {len(body)}\r\n\r\n{body}")
time.sleep(60)"#;
    let failure = Fixture::new(body).failed().await;
    assert_eq!(failure.phase, Phase::Handshake);
    assert_eq!(failure.outcome, Outcome::Ok);
    assert!(failure.protocol_breach.unwrap().contains("Content-Length"));
}

#[tokio::test]
async fn wrong_ids_in_the_handshake_are_a_breach_at_once() {
    let body = "
while True:
    m = recv()
    if 'id' in m: m['id'] = 99
    legacy(m)";
    let failure = Fixture::new(body).failed().await;
    assert_eq!(failure.phase, Phase::Handshake);
    assert_eq!(failure.outcome, Outcome::Ok);
    assert!(failure.protocol_breach.unwrap().contains("id 99"));
}

#[tokio::test]
async fn malformed_lists_are_breaches_of_the_list_phase() {
    for (result, telling) in [
        ("None", "null where an object"),
        ("{}", "without `tools`"),
        ("{'tools': {}}", "of type object where an array"),
        ("{'tools': [{'title': 'x'}]}", "without a name"),
        ("{'tools': [], 'nextCursor': 'again'}", "same cursor"),
        (
            "{'tools': [], 'nextCursor': 7}",
            "nextCursor of type integer",
        ),
    ] {
        let body = format!(
            "
def one(m):
    if m['method'] == 'tools/list': ok(m, {result})
    else: legacy(m)
while True: one(recv())"
        );
        let failure = Fixture::new(&body).failed().await;
        assert_eq!(failure.phase, Phase::List, "{result}");
        let breach = failure.protocol_breach.clone().unwrap_or_default();
        assert!(failure.message.contains(telling), "{result}: {failure:?}");
        assert!(!breach.is_empty());
    }
}

#[tokio::test]
async fn a_refused_list_is_a_failure_of_the_list_phase() {
    let body = "
def one(m):
    if m['method'] == 'tools/list': err(m, -32603, 'database is locked')
    else: legacy(m)
while True: one(recv())";
    let failure = Fixture::new(body).failed().await;
    assert_eq!(failure.phase, Phase::List);
    assert_eq!(failure.rpc_error.unwrap().message, "database is locked");
}

#[tokio::test]
async fn secrets_do_not_get_into_a_failure() {
    let mut fixture = Fixture::new(
        "
while True:
    m = recv()
    log('the key is swordfish'); raw('swordfish\\n')
    err(m, 1, 'bad key swordfish', {'key': 'swordfish'})",
    );
    fixture.launch.redactor = Redactor::new([("KEY", "swordfish")]);
    let failure = fixture.failed().await;
    let shown = format!("{failure:?}");
    assert!(shown.contains("[secret KEY]"));
    assert!(!shown.contains("swordfish"), "{shown}");
}

#[tokio::test]
async fn a_flood_on_stderr_before_the_handshake_holds_nothing_up() {
    let session = Fixture::new("log('x' * 1000000)\nwhile True: legacy(recv())")
        .ready()
        .await;
    assert!(session.stderr().tail().len() < 200_000);
}
