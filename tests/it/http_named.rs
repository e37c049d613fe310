//! What stands between jelly and a server over HTTP, and what that server answers in mid-run:
//! each is named as what it is, with its own advice.

use crate::support::http::{Http, Request, json_answer, legacy, respond, result, text};
use crate::support::{HeldPort, Project, Run};
use serde_json::Value;
use std::io::{Read, Write};
use std::net::{TcpListener, TcpStream};
use std::sync::Mutex;

fn run_at(url: &str, env: &[(&str, &str)]) -> Run {
    let plan = format!(
        "version: 1\nservers:\n  s: {{ url: \"{url}\", startup_timeout: 5s, request_timeout: 5s }}\n\
         steps:\n  - {{ id: one, tool: work }}\n"
    );
    let project = Project::with(&plan);
    let mut call = project.call(&["--max-iterations", "1"]);
    for (name, value) in env {
        call = call.env(name, value);
    }
    Run::of(&project, call.output())
}

fn at(server: &Http) -> Run {
    run_at(&format!("http://127.0.0.1:{}/mcp", server.port), &[])
}

fn always(status: u16, headers: &'static [&'static str], body: &'static str) -> Http {
    Http::serve(move |_, out| respond(out, status, headers, body))
}

/// Healthy until its tool is called.
fn calls(call: impl Fn(&Request, &mut TcpStream) + Send + Sync + 'static) -> Http {
    Http::serve(move |request, out| legacy(request, out, &call))
}

/// The failure is test-side, of this rule, and its advice holds these words.
#[track_caller]
fn named<'r>(run: &'r Run, rule: &str, words: &[&str]) -> &'r Value {
    run.ends(3, "needs_user_help");
    let failure = run.last().failures()[0];
    let diagnosis = &failure["diagnosis"];
    assert_eq!(diagnosis["side"], "test", "{failure:#}");
    assert_eq!(diagnosis["rule"], rule, "{failure:#}");
    let advice = diagnosis["advice"].to_string();
    for word in words {
        assert!(advice.contains(word), "{word} is not in {advice}");
    }
    failure
}

#[test]
fn a_refusal_is_named_by_who_refuses_and_why() {
    let login = "www-authenticate: Bearer error=\"invalid_token\", error_description=\"expired 5 minutes ago\", scope=\"mcp:read\"";
    let login: &'static [&'static str] = Vec::leak(vec![login]);
    for (status, headers, body, rule, words) in [
        (
            407,
            &["proxy-authenticate: Basic realm=\"corp\""][..],
            "",
            "network/proxy-at-the-url",
            &["let it answer 401"][..],
        ),
        (
            421,
            &[],
            "Invalid Host header",
            "network/host-not-served",
            &["allowed hosts"],
        ),
        (
            403,
            &["content-type: text/plain"],
            "Invalid Origin header",
            "network/origin-refused",
            &["Invalid Origin header", "Take `Origin` out"],
        ),
        (
            403,
            &[],
            "Blocked by WAF rule 942100",
            "network/kept-out",
            &["Blocked by WAF rule 942100"],
        ),
        (
            403,
            &[],
            "Your plan does not include this",
            "network/forbidden",
            &["HTTP 403: Your plan does not include this"],
        ),
        (
            413,
            &[],
            "<html>413 Request Entity Too Large</html>",
            "network/request-too-large",
            &["client_max_body_size"],
        ),
        (
            401,
            login,
            "",
            "network/unauthorized",
            &["invalid_token", "expired 5 minutes ago", "mcp:read"],
        ),
    ] {
        let failure_words = words;
        let run = at(&always(status, headers, body));
        named(&run, rule, failure_words);
    }
}

#[test]
fn a_redirect_that_is_not_followed_is_shown_with_the_url_to_write() {
    for (status, to) in [(301, "https"), (308, "https"), (302, "http")] {
        let server = Http::serve(move |request, out| {
            let host = request.header("host").to_owned();
            let location = format!("location: {to}://{host}/mcp/v2?key=k");
            respond(out, status, &[&location], "");
        });
        let run = at(&server);
        let wanted = format!("`{to}://127.0.0.1:{}/mcp/v2`", server.port);
        named(&run, "network/redirected", &[&wanted]);
    }
}

#[test]
fn the_stream_and_the_end_of_the_session_follow_where_the_messages_went() {
    let server = Http::serve(|request, out| match request.path.as_str() {
        "/mcp" => respond(out, 307, &["location: /mcp/"], ""),
        _ => legacy(request, out, |request, out| {
            json_answer(out, &[], &result(request, text("done")));
        }),
    });
    at(&server).ends(0, "passed");
    let others: Vec<(String, String)> = server
        .heard()
        .into_iter()
        .filter(|request| request.verb != "POST")
        .map(|request| (request.verb, request.path))
        .collect();
    assert!(
        others.contains(&("DELETE".into(), "/mcp/".into())),
        "{others:?}"
    );
    assert!(others.iter().all(|(_, path)| path == "/mcp/"), "{others:?}");
}

#[test]
fn an_answer_in_mid_run_that_is_none_is_named_as_what_it_is() {
    let json = "content-type: application/json";
    for (status, kind, body, rule, word) in [
        (
            200,
            "content-type: text/html",
            "<html><title>Maintenance</title></html>",
            "network/page-in-mid-run",
            "web page",
        ),
        (200, json, "", "network/no-message-in-the-answer", "no body"),
        (
            202,
            json,
            "",
            "network/no-message-in-the-answer",
            "202 Accepted and no body",
        ),
        (
            200,
            json,
            "{\"jsonrpc\":\"2.0\",\"id\":4,\"res",
            "network/no-message-in-the-answer",
            "breaks off",
        ),
        (
            200,
            "content-type: text/plain",
            "done",
            "network/no-message-in-the-answer",
            "text/plain",
        ),
        (413, json, "", "network/request-too-large", "args"),
    ] {
        let run = at(&calls(move |_, out| respond(out, status, &[kind], body)));
        named(&run, rule, &[word]);
    }
}

#[test]
fn a_proxy_of_the_environment_is_named_where_nothing_came_of_it() {
    let silent = HeldPort::new();
    let port = silent.number();
    let proxy = format!("http://user:swordfish@127.0.0.1:{port}");
    let run = run_at(
        "http://mcp.example.test/mcp",
        &[("HTTP_PROXY", &proxy), ("http_proxy", &proxy)],
    );
    let shown = format!("http://127.0.0.1:{port}");
    let failure = named(
        &run,
        "network/proxy-unreachable",
        &[&shown, "NO_PROXY", "Correct `HTTP_PROXY`"],
    );
    assert!(
        failure["message"].to_string().contains(&shown),
        "{failure:#}"
    );
    let what = failure["diagnosis"]["advice"]["what"].to_string();
    assert_eq!(what.matches(&shown).count(), 1, "{what}");
    assert!(!run.stdout.contains("swordfish") && !run.markdown.contains("swordfish"));
}

#[test]
fn a_proxy_that_refuses_is_named_with_its_variable_whatever_it_is_asked_by() {
    let corp = "proxy-authenticate: Basic realm=\"corp\"";
    let corp: &'static [&'static str] = Vec::leak(vec![corp]);
    for (url, variable, status, headers, body, rule) in [
        (
            "http://mcp.example.test/mcp",
            "HTTP_PROXY",
            407,
            corp,
            "",
            "network/proxy-wants-credentials",
        ),
        (
            "https://mcp.example.test/mcp",
            "HTTPS_PROXY",
            407,
            corp,
            "",
            "network/proxy-wants-credentials",
        ),
        (
            "https://mcp.example.test/mcp",
            "HTTPS_PROXY",
            403,
            &[],
            "",
            "network/proxy-refuses",
        ),
        (
            "https://mcp.example.test/mcp",
            "HTTPS_PROXY",
            405,
            &[],
            "",
            "network/proxy-without-tunnels",
        ),
        (
            "http://mcp.example.test/mcp",
            "HTTP_PROXY",
            403,
            &[],
            "Blocked by corp policy",
            "network/refused-through-proxy",
        ),
    ] {
        let proxy = always(status, headers, body);
        let address = format!("http://127.0.0.1:{}", proxy.port);
        let run = run_at(url, &[(variable, &address)]);
        let failure = named(&run, rule, &["NO_PROXY", &format!("`{variable}`")]);
        let diagnosis = &failure["diagnosis"];
        assert_eq!(diagnosis["retryable"], false, "{failure:#}");
        assert!(
            diagnosis["advice"].to_string().contains(body),
            "{failure:#}"
        );
    }
}

#[test]
fn a_proxy_that_reaches_nobody_or_is_spoken_to_in_another_way_is_named() {
    let proxy = always(502, &[], "Bad Gateway");
    let address = format!("http://127.0.0.1:{}", proxy.port);
    let url = "http://mcp.example.test/mcp";
    let run = run_at(url, &[("HTTP_PROXY", &address)]);
    let words = &["NO_PROXY", "`HTTP_PROXY`", &address, "who stands between"];
    let failure = named(&run, "network/server-behind-proxy", words);
    assert_eq!(failure["diagnosis"]["retryable"], true, "{failure:#}");

    // The same by the status with which it makes no tunnel.
    let url = "https://mcp.example.test/mcp";
    let run = run_at(url, &[("HTTPS_PROXY", &address)]);
    let words = &[
        "NO_PROXY",
        "`HTTPS_PROXY`",
        &address,
        "HTTP 502 Bad Gateway",
    ];
    let tunnel = named(&run, "network/proxy-reaches-nobody", words);
    for label in ["root_cause", "error_category", "retryable"] {
        assert_eq!(
            tunnel["diagnosis"][label], failure["diagnosis"][label],
            "{tunnel:#}"
        );
    }
    // No status at all.
    let mute = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let address = format!("http://127.0.0.1:{}", mute.local_addr().unwrap().port());
    says(mute, b"SSH-2.0-depot\r\n\r\n");
    let run = run_at(url, &[("HTTPS_PROXY", &address)]);
    named(&run, "network/proxy-reaches-nobody", &[&address]);

    let proxy = always(200, &[], "");
    let address = format!("https://127.0.0.1:{}", proxy.port);
    let url = "https://mcp.example.test/mcp";
    let run = run_at(url, &[("HTTPS_PROXY", &address)]);
    let words = &["`HTTPS_PROXY`", &address, "Write `http://`"];
    named(&run, "network/proxy-speaks-plain", words);
}

/// Answers whatever comes first with `bytes`.
fn says(listener: TcpListener, bytes: &'static [u8]) {
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 16 * 1024]);
            let _ = stream.write_all(bytes);
        }
    });
}

#[test]
fn why_a_server_breaks_tls_off_is_told_as_far_as_its_alert_says() {
    for (alert, rule, words) in [
        // Mutual TLS up to TLS 1.2, of OpenSSL and of Go.
        (
            b"\x15\x03\x03\x00\x02\x02\x28",
            "network/tls-handshake-refused",
            &["mutual TLS", "cipher suite"][..],
        ),
        (
            b"\x15\x03\x03\x00\x02\x02\x2a",
            "network/client-certificate-refused",
            &["mutual TLS"],
        ),
        (
            b"\x15\x03\x01\x00\x02\x02\x46",
            "network/tls-version",
            &["TLS 1.2 or 1.3"],
        ),
        (
            b"\x15\x03\x03\x00\x02\x02\x70",
            "network/tls-unknown-name",
            &["by a name"],
        ),
        (
            b"\x15\x03\x03\x00\x02\x02\x50",
            "network/tls-broken-off",
            &["InternalError"],
        ),
    ] {
        let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        says(listener, alert);
        let run = run_at(&format!("https://127.0.0.1:{port}/mcp"), &[]);
        let failure = named(&run, rule, words);
        assert_eq!(
            failure["diagnosis"]["root_cause"], "tls_error",
            "{failure:#}"
        );
        assert_eq!(failure["diagnosis"]["retryable"], false, "{failure:#}");
    }
}

#[test]
fn plain_http_to_a_port_of_tls_is_told_to_write_https_whatever_its_number() {
    for body in [
        "<html><title>400 The plain HTTP request was sent to HTTPS port</title></html>",
        "Client sent an HTTP request to an HTTPS server.\n",
        "Bad Request\nThis combination of host and port requires TLS.\n",
    ] {
        let run = at(&always(400, &[], body));
        let failure = named(&run, "network/told-to-speak-tls", &["Write `https://`"]);
        let advice = failure["diagnosis"]["advice"].to_string();
        assert!(!advice.contains("SSL_CERT_FILE"), "{advice}");
    }
}

#[test]
fn what_is_packed_so_that_it_cannot_be_read_is_told_at_the_start_as_in_a_call() {
    let gzip: &'static [&'static str] =
        &["content-type: application/json", "content-encoding: gzip"];
    let cut_off = b"\x1f\x8b\x08\0garbage";
    let br: &'static [&'static str] = &["content-type: application/json", "content-encoding: br"];
    for (headers, body, rule, words) in [
        (gzip, &cut_off[..], "mcp/packed-badly", "`gzip`"),
        (br, b"\x0b\x02\x80", "mcp/packed-otherwise", "`br`"),
    ] {
        let words = &[words, "Accept-Encoding"];
        let server = Http::serve(move |_, out| respond(out, 200, headers, body));
        named(&at(&server), rule, words);
        let server = calls(move |_, out| respond(out, 200, headers, body));
        let run = at(&server);
        let failure = named(&run, rule, words);
        let advice = failure["diagnosis"]["advice"].to_string();
        assert!(!advice.contains("fewer pages"), "{advice}");
    }
}

#[test]
fn what_the_endpoint_itself_answers_is_not_told_of_a_service_behind_it() {
    for (status, headers, body, rule, words) in [
        (
            404,
            &[][..],
            "Cannot POST /mcp",
            "network/endpoint-gone-in-run",
            &["took requests before"][..],
        ),
        (
            404,
            &[],
            "404 page not found\n",
            "network/endpoint-gone-in-run",
            &["404 page not found"],
        ),
        (
            502,
            &[],
            "<html><title>502 Bad Gateway</title></html>",
            "network/gateway-status",
            &["load balancer"],
        ),
        (
            503,
            &["retry-after: 1"],
            "maintenance",
            "network/upstream-status",
            &["Wait the 1 s", "not available"],
        ),
        (
            429,
            &["retry-after: 1"],
            "slow down",
            "network/rate-limited-status",
            &["Wait the 1 s", "/mcp limits"],
        ),
    ] {
        let headers: &'static [&'static str] = Vec::leak(headers.to_vec());
        let server = calls(move |_, out| respond(out, status, headers, body));
        let run = at(&server);
        let failure = named(&run, rule, words);
        let what = failure["diagnosis"]["advice"]["what"].to_string();
        assert!(!what.contains("service"), "{what}");
    }
}

#[test]
fn each_way_to_sign_in_and_the_page_for_it_are_told() {
    let both = [
        "www-authenticate: Negotiate",
        "www-authenticate: Basic realm=\"Acme, Inc.\"",
    ];
    let run = at(&always(401, Vec::leak(both.to_vec()), ""));
    let words = &["Negotiate, Basic realm="];
    named(&run, "network/unauthorized", words);

    let page = &["location: https://login.acme.test/oauth?x=1"];
    let run = at(&always(302, page, ""));
    let words = &["https://login.acme.test/oauth"];
    let failure = named(&run, "network/sign-in-redirect", words);
    assert!(!failure.to_string().contains("x=1"), "{failure:#}");
}

#[test]
fn a_proxy_that_jelly_can_not_speak_to_is_not_asked_to_be_started() {
    let address = "socks5://127.0.0.1:1";
    let run = run_at("https://mcp.example.test/mcp", &[("ALL_PROXY", address)]);
    let words = &["SOCKS", "`ALL_PROXY`", address, "NO_PROXY"];
    let failure = named(&run, "network/proxy-of-another-kind", words);
    assert_eq!(failure["diagnosis"]["retryable"], false, "{failure:#}");
    let advice = failure["diagnosis"]["advice"].to_string();
    assert!(!advice.contains("start the proxy"), "{advice}");
}

#[test]
fn tls_to_a_port_that_speaks_plain_http_is_told_to_write_http() {
    let listener = TcpListener::bind(("127.0.0.1", 0)).unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut stream in listener.incoming().map_while(Result::ok) {
            let _ = stream.read(&mut [0; 16 * 1024]);
            let _ = stream.write_all(b"HTTP/1.1 400 Bad Request\r\nconnection: close\r\n\r\n");
        }
    });
    let run = run_at(&format!("https://127.0.0.1:{port}/mcp"), &[]);
    named(&run, "network/tls-to-plain", &["`http://`"]);
}

/// The first message of a method that the test chooses is cut off with its connection.
fn loses(method: &'static str) -> Http {
    let lost = Mutex::new(false);
    Http::serve(move |request, out| {
        let mut lost = lost.lock().unwrap();
        if request.method() == method && !*lost {
            *lost = true;
            return;
        }
        legacy(request, out, |request, out| {
            json_answer(out, &[], &result(request, text("done")));
        });
    })
}

#[test]
fn a_lost_connection_is_made_up_for_once_unless_a_tool_was_called() {
    for method in ["tools/list", "notifications/initialized"] {
        let server = loses(method);
        at(&server).ends(0, "passed");
        let sent = server
            .heard()
            .iter()
            .filter(|r| r.method() == method)
            .count();
        assert_eq!(sent, 2, "{method}: {:?}", server.heard_in_short());
    }
    let server = loses("tools/call");
    let run = at(&server);
    let failure = named(&run, "network/call-lost", &["can't be told"]);
    assert_eq!(failure["diagnosis"]["ambiguous"], true, "{failure:#}");
    let sent = server
        .heard()
        .iter()
        .filter(|r| r.method() == "tools/call")
        .count();
    assert_eq!(sent, 1, "{:?}", server.heard_in_short());
    // What is lost time and again is lost.
    let server = Http::serve(|request, out| {
        if request.method() != "tools/list" {
            legacy(request, out, |_, _: &mut TcpStream| {});
        }
    });
    at(&server).ends(3, "needs_user_help");
    let sent = server
        .heard()
        .iter()
        .filter(|r| r.method() == "tools/list")
        .count();
    assert_eq!(sent, 2, "{:?}", server.heard_in_short());
}

// ── TLS ──────────────────────────────────────────────────────────────────

/// A healthy server whose certificate is that of an authority, signed by itself, as
/// `openssl req -x509` makes it; and the certificate as a file.
fn its_own_authority(
    name: &str,
    until: i32,
    wants_client: bool,
) -> (Http, tempfile::NamedTempFile) {
    use rcgen::{BasicConstraints, CertificateParams, IsCa, KeyPair, date_time_ymd};
    let mut params = CertificateParams::new(vec![name.to_owned()]).unwrap();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    params.not_before = date_time_ymd(2001, 1, 1);
    params.not_after = date_time_ymd(until, 1, 1);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    let mut file = tempfile::NamedTempFile::new().unwrap();
    file.write_all(certificate.pem().as_bytes()).unwrap();

    let provider = std::sync::Arc::new(rustls::crypto::ring::default_provider());
    let mut roots = rustls::RootCertStore::empty();
    roots.add(certificate.der().clone()).unwrap();
    let config = rustls::ServerConfig::builder_with_provider(provider.clone())
        .with_safe_default_protocol_versions()
        .unwrap();
    let config = match wants_client {
        false => config.with_no_client_auth(),
        true => config.with_client_cert_verifier(
            rustls::server::WebPkiClientVerifier::builder_with_provider(roots.into(), provider)
                .build()
                .unwrap(),
        ),
    };
    let config = config
        .with_single_cert(
            vec![certificate.der().clone()],
            rustls::pki_types::PrivateKeyDer::try_from(key.serialize_der()).unwrap(),
        )
        .unwrap();
    (Http::secure(config), file)
}

fn securely(server: &Http, trusted: &tempfile::NamedTempFile) -> Run {
    let url = format!("https://localhost:{}/mcp", server.port);
    run_at(
        &url,
        &[("SSL_CERT_FILE", &trusted.path().display().to_string())],
    )
}

#[test]
fn a_certificate_that_is_itself_trusted_is_accepted_if_name_and_dates_hold() {
    let (server, own) = its_own_authority("localhost", 2200, false);
    securely(&server, &own).ends(0, "passed");
    // Another one of the same name is not.
    let (_, other) = its_own_authority("localhost", 2200, false);
    let words = &["`openssl req -x509`", "not itself trusted"];
    named(&securely(&server, &other), "network/tls", words);
    for (name, until, rule) in [
        ("example.org", 2200, "network/tls-other-name"),
        ("localhost", 2002, "network/tls-expired"),
    ] {
        let (server, own) = its_own_authority(name, until, false);
        named(&securely(&server, &own), rule, &[]);
        assert_eq!(server.heard().len(), 0, "it heard something all the same");
    }
}

#[test]
fn authorities_that_are_not_there_are_named_and_not_the_server_s_certificate() {
    let (server, _own) = its_own_authority("localhost", 2200, false);
    let url = format!("https://localhost:{}/mcp", server.port);
    let empty = tempfile::NamedTempFile::new().unwrap();
    for (path, said) in [
        ("/nowhere/ca.pem", "can't be read"),
        (&*empty.path().display().to_string(), "holds no certificate"),
    ] {
        let run = run_at(&url, &[("SSL_CERT_FILE", path)]);
        named(&run, "network/authorities-unreadable", &[path, said]);
    }
}

/// As servers of TLS do to plain HTTP, whatever the port's number is.
#[test]
fn what_hangs_up_on_the_first_request_gave_no_answer_that_could_break_off() {
    let listener = std::net::TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port();
    std::thread::spawn(move || {
        for mut peer in listener.incoming().flatten() {
            // What is read is not answered, so that it ends without a reset.
            let mut bytes = [0; 64 * 1024];
            let _ = std::io::Read::read(&mut peer, &mut bytes);
        }
    });
    let run = run_at(&format!("http://127.0.0.1:{port}/mcp"), &[]);
    named(&run, "network/hung-up-at-first", &["https://", "hangs up"]);
}

#[test]
fn a_server_that_wants_a_certificate_of_its_client_is_named_so() {
    let (server, own) = its_own_authority("localhost", 2200, true);
    named(
        &securely(&server, &own),
        "network/client-certificate",
        &["mutual TLS"],
    );
}

#[test]
fn a_proxy_of_the_environment_that_cannot_be_read_is_named_and_not_passed_over() {
    for proxy in ["http://proxy.example:3128 ", "http://user:swordfish@[bad"] {
        let run = run_at("http://mcp.example.test/mcp", &[("http_proxy", proxy)]);
        let failure = named(&run, "network/proxy-unread", &["`http_proxy`", "NO_PROXY"]);
        assert!(
            failure["message"].to_string().contains("is no URL"),
            "{failure:#}"
        );
        assert!(!run.stdout.contains("swordfish") && !run.markdown.contains("swordfish"));
    }
}

#[test]
fn tls_to_a_server_of_ours_that_speaks_none_is_told_at_once() {
    let plan = "version: 1\nservers:\n  s:\n    command: python3\n    args: [-m, http.server, \"${port}\", \
                --bind, 127.0.0.1]\n    url: \"https://127.0.0.1:${port}/mcp\"\n    \
                startup_timeout: 60s\nsteps:\n  - { id: one, tool: work }\n";
    let project = Project::with(plan);
    let run = Run::of(&project, project.call(&["--max-iterations", "1"]).output());
    named(&run, "network/tls-to-plain", &["`http://`"]);
}
