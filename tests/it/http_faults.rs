//! What can be wrong with a server that is reached by a URL, one at a time:
//! each has its own diagnosis and its evidence, none hangs, none makes jelly
//! swallow more than it can hold, and none brings a token to light.

use crate::support::http::{
    Http, Request, event, hold, json_answer, legacy, respond, result, stream_head, text,
};
use crate::support::{HeldPort, Project, Run};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::net::TcpStream;
use std::path::Path;
use std::time::Duration;

const TOKEN: &str = "swordfish/77+x";

/// One step on a server with a secret header. The run has one iteration.
fn run_at(url: &str, limit: &str) -> Run {
    run_with(url, limit, &[])
}

fn run_with(url: &str, limit: &str, env: &[(&str, &str)]) -> Run {
    let plan = format!(
        "version: 1\nservers:\n  s: {{ url: \"{url}\", startup_timeout: 5s, request_timeout: {limit}, \
         headers: {{ Authorization: \"Bearer ${{secret:TOKEN}}\" }} }}\n\
         steps:\n  - {{ id: one, tool: work }}\n"
    );
    let project = Project::with(&plan);
    let mut call = project.call(&["--max-iterations", "1"]).env("TOKEN", TOKEN);
    // What is recorded costs, and of some tests there is much.
    if limit == "3s" {
        call = call.args(&["--record"]);
    }
    for (name, value) in env {
        call = call.env(name, value);
    }
    let run = Run::of(&project, call.output());
    for text in [&run.stdout, &run.stderr] {
        assert!(!text.contains(TOKEN), "{text}");
    }
    hides_the_token(&project.path("reports"));
    assert!(run.elapsed < Duration::from_secs(55), "{:?}", run.elapsed);
    run
}

fn hides_the_token(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            hides_the_token(&path);
        } else if let Ok(bytes) = fs::read(&path) {
            let text = String::from_utf8_lossy(&bytes);
            assert!(!text.contains(TOKEN), "{} shows it", path.display());
        }
    }
}

fn at(server: &Http) -> Run {
    run_at(&format!("http://127.0.0.1:{}/mcp", server.port), "3s")
}

/// The server never became ready, for this cause.
#[track_caller]
fn never_ready<'r>(run: &'r Run, root_cause: &str) -> &'r Value {
    run.ends(3, "needs_user_help");
    let last = run.last();
    assert_eq!(last.state("one"), "blocked");
    assert_eq!(last.failures().len(), 1, "{:#?}", last.failures());
    let failure = last.failure("s");
    causes(failure, "test", root_cause);
    failure
}

#[track_caller]
fn causes(failure: &Value, side: &str, root_cause: &str) {
    let diagnosis = &failure["diagnosis"];
    assert_eq!(
        (&diagnosis["side"], &diagnosis["root_cause"]),
        (&Value::from(side), &Value::from(root_cause)),
        "{failure:#}"
    );
    assert!(diagnosis["evidence"]["text"].is_string(), "{failure:#}");
}

/// Every request is answered so.
fn always(status: u16, headers: &'static [&'static str], body: &'static str) -> Http {
    Http::serve(move |_, out| respond(out, status, headers, body))
}

/// A healthy server whose calls are answered so.
fn calls(call: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static) -> Http {
    Http::serve(move |request, out| legacy(request, out, &call))
}

#[track_caller]
fn in_the_call<'r>(run: &'r Run, side: &str, root_cause: &str) -> &'r Value {
    let failure = run.last().failure("one");
    causes(failure, side, root_cause);
    failure
}

// ── before the server is ready ───────────────────────────────────────────

#[test]
fn a_port_at_which_nobody_listens() {
    let silent = HeldPort::new();
    let run = run_at(&format!("http://127.0.0.1:{}/mcp", silent.number()), "3s");
    let failure = never_ready(&run, "connection_refused");
    assert_eq!(failure["http"]["error"], "connection_refused");
    assert_eq!(failure["diagnosis"]["retryable"], true);
}

#[test]
fn a_host_that_does_not_exist() {
    let run = run_at("http://no-such-host.invalid/mcp", "3s");
    let failure = never_ready(&run, "network_dns");
    assert_eq!(failure["http"]["error"], "dns");
}

#[test]
fn credentials_that_are_refused() {
    for status in [401, 403] {
        let server = always(
            status,
            &["www-authenticate: Bearer error=\"invalid_token\""],
            "{\"error\":\"invalid_token\"}",
        );
        let run = at(&server);
        let failure = never_ready(&run, "auth_failed");
        assert_eq!(failure["http"]["status"], status);
        assert!(failure["http"]["headers"]["www-authenticate"].is_string());
        assert!(
            failure["http"]["body"]
                .to_string()
                .contains("invalid_token")
        );
        assert!(run.markdown.contains("invalid_token"), "{}", run.markdown);
        // One question is enough to know.
        assert_eq!(server.heard_in_short(), ["POST server/discover"]);
    }
}

#[test]
fn a_url_at_which_there_is_nothing() {
    for status in [404, 405] {
        let server = always(
            status,
            &["content-type: text/html"],
            "<html>Cannot POST /mcp</html>",
        );
        let run = at(&server);
        let failure = never_ready(&run, "wrong_endpoint");
        assert_eq!(failure["http"]["status"], status);
    }
}

#[test]
fn a_page_where_a_message_is_due() {
    let server = always(
        200,
        &["content-type: text/html"],
        "<!DOCTYPE html><title>Hi</title>",
    );
    let run = at(&server);
    let failure = never_ready(&run, "wrong_endpoint");
    assert!(
        failure["message"].to_string().contains("text/html"),
        "{failure:#}"
    );
    assert!(failure["http"]["body"].to_string().contains("<title>Hi"));
}

#[test]
fn json_that_is_no_message() {
    let server = always(200, &["content-type: application/json"], "{\"ok\":true}");
    never_ready(&at(&server), "wrong_endpoint");
}

#[test]
fn too_many_requests() {
    let server = always(429, &["retry-after: 1"], "slow down");
    let run = at(&server);
    let failure = never_ready(&run, "rate_limited");
    assert_eq!(failure["http"]["headers"]["retry-after"], "1");
    assert_eq!(failure["diagnosis"]["retryable"], true);
}

#[test]
fn a_server_that_fails_inside() {
    let server = always(500, &[], "{\"message\":\"Internal Server Error\"}");
    let run = at(&server);
    never_ready(&run, "internal_error");
    let server = always(503, &["content-type: text/html"], "<html>");
    never_ready(&at(&server), "upstream_error");
}

#[test]
fn something_that_does_not_speak_http() {
    let listener = std::net::TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.write_all(b"-ERR unknown command\r\n");
        }
    });
    let run = run_at(&format!("http://127.0.0.1:{port}/mcp"), "3s");
    let failure = never_ready(&run, "wrong_endpoint");
    assert_eq!(failure["http"]["error"], "invalid_http", "{failure:#}");
}

#[test]
fn a_redirect_loop() {
    let server = always(307, &["location: /mcp"], "");
    let run = at(&server);
    let failure = never_ready(&run, "wrong_endpoint");
    assert!(
        failure["message"].to_string().contains("five"),
        "{failure:#}"
    );
    assert_eq!(server.heard().len(), 6);
}

#[test]
fn a_redirect_to_another_origin_gets_no_header_of_ours() {
    let other = always(200, &[], "");
    let to = format!("location: http://127.0.0.1:{}/mcp?key=k", other.port);
    let server = Http::serve(move |_, out| respond(out, 307, &[&to], ""));
    let run = at(&server);
    let failure = never_ready(&run, "wrong_endpoint");
    assert!(
        failure["message"].to_string().contains("another origin"),
        "{failure:#}"
    );
    assert_eq!(other.heard().len(), 0);
    assert!(!run.markdown.contains("key=k"), "{}", run.markdown);
}

#[test]
fn a_redirect_to_a_page_for_signing_in() {
    let server = always(
        302,
        &["location: https://login.example.org/oauth2/authorize"],
        "",
    );
    never_ready(&at(&server), "auth_failed");
}

#[test]
fn a_redirect_within_the_origin_is_followed_with_its_body() {
    let server = Http::serve(|request, out| match request.path.as_str() {
        "/mcp" => respond(out, 308, &["location: /mcp/"], ""),
        _ => legacy(request, out, |request, out| {
            json_answer(out, &[], &result(request, text("done")));
        }),
    });
    at(&server).ends(0, "passed");
}

fn gzipped(bytes: &[u8]) -> Vec<u8> {
    let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::best());
    encoder.write_all(bytes).unwrap();
    encoder.finish().unwrap()
}

/// A healthy server behind something that packs every answer.
fn packing(coding: &'static str, pack: fn(&[u8]) -> Vec<u8>) -> Http {
    Http::serve(move |request, out| {
        let mut plain = Plain(Vec::new());
        legacy(request, &mut plain, |request, out| {
            json_answer(out, &[], &result(request, text("done")));
        });
        let answer = String::from_utf8(plain.0).unwrap();
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        let body = pack(body.as_bytes());
        let head = head
            .lines()
            .filter(|line| !line.starts_with("content-length"));
        let head: Vec<&str> = head.collect();
        let _ = write!(
            out,
            "{}\r\ncontent-encoding: {coding}\r\ncontent-length: {}\r\n\r\n",
            head.join("\r\n"),
            body.len()
        );
        let _ = out.write_all(&body);
    })
}

struct Plain(Vec<u8>);

impl Write for Plain {
    fn write(&mut self, bytes: &[u8]) -> std::io::Result<usize> {
        self.0.write(bytes)
    }

    fn flush(&mut self) -> std::io::Result<()> {
        Ok(())
    }
}

impl std::io::Read for Plain {
    fn read(&mut self, _: &mut [u8]) -> std::io::Result<usize> {
        Ok(0)
    }
}

#[test]
fn a_body_that_is_packed_although_nobody_asked_is_unpacked() {
    fn deflated(bytes: &[u8]) -> Vec<u8> {
        let mut encoder = flate2::write::ZlibEncoder::new(Vec::new(), flate2::Compression::fast());
        encoder.write_all(bytes).unwrap();
        encoder.finish().unwrap()
    }
    for (coding, pack) in [
        ("gzip", gzipped as fn(&[u8]) -> Vec<u8>),
        ("x-gzip", gzipped),
        ("deflate", deflated),
        ("identity", <[u8]>::to_vec),
    ] {
        let server = packing(coding, pack);
        at(&server).ends(0, "passed");
        for request in server.heard() {
            assert_eq!(request.header("accept-encoding"), "identity");
        }
    }
}

#[test]
fn a_stream_that_is_packed_is_heard_as_it_comes() {
    let server = calls(|request, out| {
        let mut encoder = flate2::write::GzEncoder::new(Vec::new(), flate2::Compression::default());
        let answer = result(request, text("done"));
        write!(encoder, "event: message\ndata: {answer}\n\n").unwrap();
        encoder.flush().unwrap();
        let head = "HTTP/1.1 200 OK\r\nconnection: close\r\ncontent-type: text/event-stream\r\n\
                    content-encoding: gzip\r\n\r\n";
        let _ = out.write_all(head.as_bytes());
        let _ = out.write_all(encoder.get_ref());
        let _ = out.flush();
        // It is not over, and its answer is there.
        hold(out);
    });
    at(&server).ends(0, "passed");
}

#[test]
fn a_body_that_is_not_packed_as_it_says_is_a_breach() {
    let server = calls(|request, out| {
        let body = result(request, text("done")).to_string();
        let headers = ["content-type: application/json", "content-encoding: gzip"];
        respond(out, 200, &headers, body);
    });
    let run = at(&server);
    // Whose, nobody can tell: what stands before a server packs, too.
    let failure = in_the_call(&run, "test", "protocol_error");
    assert!(
        failure["message"].to_string().contains("gzip"),
        "{failure:#}"
    );
}

#[test]
fn a_packing_that_jelly_does_not_know_proves_nothing() {
    let server = calls(|_, out| {
        let headers = ["content-type: application/json", "content-encoding: br"];
        respond(out, 200, &headers, [0x0b, 0x02, 0x80]);
    });
    let run = at(&server);
    let failure = beyond(&run, "encoding");
    assert!(
        failure["message"].to_string().contains("`br`"),
        "{failure:#}"
    );
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_bomb_is_left_at_the_limit() {
    let server = calls(|_, out| {
        let mut body = b"{\"jsonrpc\": \"2.0\", \"id\": 4, \"result\": \"".to_vec();
        body.resize(200 << 20, b'x');
        let headers = ["content-type: application/json", "content-encoding: gzip"];
        respond(out, 200, &headers, gzipped(&body));
    });
    let run = run_at(&format!("http://127.0.0.1:{}/mcp", server.port), "50s");
    beyond(&run, "message_size");
}

/// The call failed for a limit of jelly's own, which is held against nobody.
#[track_caller]
fn beyond<'r>(run: &'r Run, limit: &str) -> &'r Value {
    run.ends(3, "needs_user_help");
    let failure = in_the_call(run, "test", "own_limit");
    assert_eq!(failure["own_limit"], limit, "{failure:#}");
    assert_eq!(failure["diagnosis"]["excused"], "own_limit", "{failure:#}");
    assert_eq!(failure["diagnosis"]["ambiguous"], true, "{failure:#}");
    failure
}

#[test]
fn a_server_that_takes_the_request_and_never_answers() {
    let server = Http::serve(|_, out| hold(out));
    let run = run_at(&format!("http://127.0.0.1:{}/mcp", server.port), "3s")
        .ends(3, "needs_user_help")
        .last()
        .failure("s")
        .clone();
    causes(&run, "test", "startup_timeout");
}

// ── in a call ────────────────────────────────────────────────────────────

#[test]
fn statuses_in_a_call_have_the_same_causes_as_before() {
    for (status, cause) in [
        (401, "auth_failed"),
        (403, "auth_failed"),
        (429, "rate_limited"),
        (502, "upstream_error"),
    ] {
        let server = calls(move |_, out| respond(out, status, &[], "no"));
        let run = at(&server);
        let failure = in_the_call(&run, "test", cause);
        assert_eq!(failure["http"]["status"], status);
        run.ends(3, "needs_user_help");
    }
}

#[test]
fn an_internal_error_in_a_call() {
    let server = calls(|_, out| respond(out, 500, &[], "{\"message\":\"boom\"}"));
    let run = at(&server);
    in_the_call(&run, "code", "internal_error");
}

#[test]
fn a_stream_that_is_cut_in_the_middle_of_an_event() {
    let server = calls(|_, out| {
        stream_head(out);
        let _ = out.write_all(b"data: {\"jsonrpc\":\"2.0\",\"id\":4,\"res");
    });
    let run = at(&server);
    let failure = run.last().failure("one");
    assert!(
        failure["http"]["text"]
            .to_string()
            .contains("in the middle of an event"),
        "{failure:#}"
    );
    causes(failure, "test", "connection_reset");
}

#[test]
fn an_answer_in_a_stream_that_is_cut_off_within_its_event() {
    let server = calls(|_, out| {
        stream_head(out);
        let _ = out.write_all(b"data: {\"jsonrpc\":\"2.0\",\"id\"\n\n");
    });
    let run = at(&server);
    let failure = run.last().failure("one");
    causes(failure, "test", "protocol_error");
    assert_eq!(failure["diagnosis"]["retryable"], false);
    assert!(
        failure["message"]
            .to_string()
            .contains("JSON that breaks off"),
        "{failure:#}"
    );
}

#[test]
fn a_stream_that_ends_without_the_answer() {
    let server = calls(|_, out| {
        stream_head(out);
        event(
            out,
            &json!({"jsonrpc": "2.0", "method": "notifications/message", "params": {}}),
        );
    });
    let run = at(&server);
    let failure = run.last().failure("one");
    causes(failure, "test", "connection_reset");
    assert!(
        failure["message"]
            .to_string()
            .contains("before its answer came")
    );
}

#[test]
fn a_body_that_is_cut() {
    let server = calls(|_, out| {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\ncontent-length: 500\r\n\r\n";
        let _ = out.write_all(head.as_bytes());
        let _ = out.write_all(b"{\"jsonrpc\":\"2.0\"");
    });
    let run = at(&server);
    let failure = run.last().failure("one");
    causes(failure, "test", "connection_reset");
    assert_eq!(failure["http"]["status"], 200);
    assert!(failure["http"]["body"].to_string().contains("jsonrpc"));
}

#[test]
fn a_stream_that_never_ends_is_left_at_the_limit() {
    let server = calls(|_, out| {
        stream_head(out);
        while out
            .write_all(b": still here\n")
            .and_then(|()| out.flush())
            .is_ok()
        {
            std::thread::yield_now();
        }
    });
    let run = run_at(&format!("http://127.0.0.1:{}/mcp", server.port), "2s");
    let failure = run.last().failure("one");
    causes(failure, "test", "call_timeout");
}

#[test]
fn fifty_megabytes_are_an_answer_like_any_other() {
    let big = calls(|request, out| {
        let words = "x".repeat(50 << 20);
        json_answer(out, &[], &result(request, text(&words)));
    });
    run_at(&format!("http://127.0.0.1:{}/mcp", big.port), "50s").ends(0, "passed");
}

#[test]
fn a_body_without_end_proves_nothing() {
    let endless = calls(|_, out| {
        let head =
            "HTTP/1.1 200 OK\r\ncontent-type: application/json\r\nconnection: close\r\n\r\n\"";
        let _ = out.write_all(head.as_bytes());
        let chunk = vec![b'x'; 1 << 20];
        while out.write_all(&chunk).is_ok() {}
    });
    let run = run_at(&format!("http://127.0.0.1:{}/mcp", endless.port), "50s");
    let failure = beyond(&run, "message_size");
    assert!(
        failure["message"].to_string().contains("jelly reads"),
        "{failure:#}"
    );
}

#[test]
fn an_event_without_end_proves_nothing() {
    let endless = calls(|_, out| {
        stream_head(out);
        let _ = out.write_all(b"data: {");
        let chunk = vec![b'x'; 1 << 20];
        while out.write_all(&chunk).is_ok() {}
    });
    let run = run_at(&format!("http://127.0.0.1:{}/mcp", endless.port), "50s");
    beyond(&run, "message_size");
}

#[test]
fn a_page_of_a_proxy_is_not_the_servers_code() {
    let pages: [(&'static [&'static str], &'static str); 7] = [
        (
            &["content-type: text/html", "server: nginx/1.18.0"],
            "<html>\r\n<head><title>500 Internal Server Error</title></head>\r\n<body>\r\n<center><h1>500 Internal Server Error</h1></center>\r\n<hr><center>nginx/1.18.0</center>\r\n</body>\r\n</html>\r\n",
        ),
        (&["server: nginx"], ""),
        (
            &[
                "content-type: text/html; charset=UTF-8",
                "server: cloudflare",
            ],
            "<!DOCTYPE html><html><head><title>example.org | 500: Internal server error</title></head></html>",
        ),
        (
            &["content-type: text/plain", "server: cloudflare"],
            "error code: 500",
        ),
        (
            &["content-type: text/html", "server: awselb/2.0"],
            "<html><head><title>500 Internal Server Error</title></head></html>",
        ),
        (
            &["content-type: text/html"],
            "<html><body><h1>500</h1><p>Guru Meditation:</p><p>XID: 7</p><hr><p>Varnish cache server</p></body></html>",
        ),
        (
            &["content-type: text/plain; charset=utf-8"],
            "Internal Server Error",
        ),
    ];
    for (headers, body) in pages {
        let server = calls(move |_, out| respond(out, 500, headers, body));
        let run = at(&server);
        let failure = in_the_call(&run, "test", "upstream_error");
        assert_eq!(failure["diagnosis"]["ambiguous"], true, "{failure:#}");
        run.ends(3, "needs_user_help");
    }
    // What the server says itself is the server's, whoever passes it on.
    let own: [(&'static [&'static str], &'static str); 3] = [
        (
            &["content-type: application/json", "server: cloudflare"],
            "{\"message\":\"boom\"}",
        ),
        (
            &["content-type: text/plain", "server: nginx"],
            "KeyError: 'city'",
        ),
        (
            &["content-type: text/plain", "server: uvicorn"],
            "Internal Server Error",
        ),
    ];
    for (headers, body) in own {
        let server = calls(move |_, out| respond(out, 500, headers, body));
        in_the_call(&at(&server), "code", "internal_error");
    }
}

// ── TLS ──────────────────────────────────────────────────────────────────

/// A healthy server with a certificate of its own making, for `name`, and the
/// authority that signed it, as a file.
fn secure(name: &str, year: i32, signed: bool) -> (Http, tempfile::NamedTempFile) {
    let (server, [roots, _]) = secure_with_leaf(name, year, signed);
    (server, roots)
}

/// The same, and the server's own certificate behind the authority's.
fn secure_with_leaf(name: &str, year: i32, signed: bool) -> (Http, [tempfile::NamedTempFile; 2]) {
    use rcgen::{
        BasicConstraints, CertificateParams, CertifiedIssuer, IsCa, KeyPair, date_time_ymd,
    };
    let mut authority = CertificateParams::new(Vec::new()).unwrap();
    authority.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let authority = CertifiedIssuer::self_signed(authority, KeyPair::generate().unwrap()).unwrap();
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.not_before = date_time_ymd(2001, 1, 1);
    params.not_after = date_time_ymd(year, 1, 1);
    let key = KeyPair::generate().unwrap();
    let certificate = if signed {
        params.signed_by(&key, &authority).unwrap()
    } else {
        params.self_signed(&key).unwrap()
    };
    let mut roots = tempfile::NamedTempFile::new().unwrap();
    roots.write_all(authority.pem().as_bytes()).unwrap();
    let mut leaf = tempfile::NamedTempFile::new().unwrap();
    leaf.write_all(certificate.pem().as_bytes()).unwrap();

    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let config = rustls::ServerConfig::builder_with_provider(provider)
        .with_safe_default_protocol_versions()
        .unwrap()
        .with_no_client_auth()
        .with_single_cert(
            vec![certificate.der().clone()],
            rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    (Http::secure(config), [roots, leaf])
}

fn securely(server: &Http, roots: &Path) -> Run {
    let url = format!("https://localhost:{}/mcp", server.port);
    run_with(
        &url,
        "3s",
        &[("SSL_CERT_FILE", &roots.display().to_string())],
    )
}

#[test]
fn a_certificate_that_the_system_trusts_is_as_good_as_none() {
    let (server, roots) = secure("localhost", 2200, true);
    securely(&server, roots.path()).ends(0, "passed");
}

#[test]
fn a_certificate_that_is_expired_of_another_name_or_signed_by_nobody() {
    for (name, year, signed, word) in [
        ("localhost", 2002, true, "expired"),
        ("example.org", 2200, true, "not valid for name"),
        ("localhost", 2200, false, ""),
    ] {
        let (server, roots) = secure(name, year, signed);
        let run = securely(&server, roots.path());
        let failure = never_ready(&run, "tls_error");
        assert_eq!(failure["http"]["error"], "tls");
        assert!(failure["message"].to_string().contains(word), "{failure:#}");
        assert_eq!(server.heard().len(), 0, "it heard something all the same");
    }
}

/// It was waited for until the time for the start was over, and that was raised.
#[test]
fn a_server_that_is_started_and_not_trusted_is_not_waited_for() {
    use rcgen::{CertificateParams, KeyPair};
    let key = KeyPair::generate().unwrap();
    let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let project = Project::with(
        "
version: 1
servers:
  s: { command: python3, args: [s.py, \"${port}\"], url: \"https://localhost:${port}/mcp\" }
steps: [{ id: one, tool: work }]
",
    );
    project.write("s.pem", certificate.pem() + &key.serialize_pem());
    project.write(
        "s.py",
        "
import http.server, ssl, sys
context = ssl.SSLContext(ssl.PROTOCOL_TLS_SERVER)
context.load_cert_chain('s.pem')
server = http.server.HTTPServer(('localhost', int(sys.argv[1])), http.server.BaseHTTPRequestHandler)
server.socket = context.wrap_socket(server.socket, server_side=True)
server.serve_forever()
",
    );
    let run = project.run(&[]);
    never_ready(&run, "tls_error");
    assert_eq!(run.iterations().len(), 1, "{}", run.stdout);
}

#[test]
fn a_signed_certificate_that_is_itself_trusted_needs_no_authority() {
    let (server, [_, leaf]) = secure_with_leaf("localhost", 2200, true);
    securely(&server, leaf.path()).ends(0, "passed");
    let (_, [_, other]) = secure_with_leaf("localhost", 2200, true);
    never_ready(&securely(&server, other.path()), "tls_error");
    for (name, year) in [("localhost", 2002), ("example.org", 2200)] {
        let (server, [_, leaf]) = secure_with_leaf(name, year, true);
        never_ready(&securely(&server, leaf.path()), "tls_error");
        assert_eq!(server.heard().len(), 0, "it heard something all the same");
    }
}

#[test]
fn plain_http_where_tls_is_due_and_the_reverse() {
    let (server, roots) = secure("localhost", 2200, true);
    let url = format!("http://localhost:{}/mcp", server.port);
    let run = run_with(
        &url,
        "3s",
        &[("SSL_CERT_FILE", &roots.path().display().to_string())],
    );
    run.ends(3, "needs_user_help");
    assert_eq!(run.last().failure("s")["diagnosis"]["side"], "test");
    let plain = always(404, &[], "");
    let run = run_at(&format!("https://127.0.0.1:{}/mcp", plain.port), "3s");
    never_ready(&run, "tls_error");
}
