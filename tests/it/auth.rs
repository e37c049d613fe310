//! Servers that want tokens: how jelly gets them, what it says when there is
//! none to be had, and that no token comes to light.

use crate::support::auth::{MARK, Place, Reply, SECRET, Town, form};
use crate::support::http::{Request, hold};
use crate::support::{Project, Run};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;

const CLIENT: &str =
    "{ client_credentials: { client_id: ci, client_secret: \"${secret:CLIENT}\" } }";

/// A run of one iteration that records what it can.
fn run(town: &Town, auth: &str) -> Run {
    run_plan(&town.plan(auth), &[])
}

fn run_plan(plan: &str, env: &[(&str, &str)]) -> Run {
    let project = Project::with(plan);
    let mut call = project
        .call(&["--max-iterations", "1", "--record"])
        .env("CLIENT", SECRET)
        .env("JELLY_LOGINS_DIR", project.path("../logins"));
    for (name, value) in env {
        call = call.env(name, value);
    }
    let run = Run::of(&project, call.output());
    for text in [&run.stdout, &run.stderr] {
        hides(text, "the terminal");
    }
    hides_all(&project.path("reports"));
    run
}

/// Nothing that is secret, nor the longest piece of it that no form changes.
#[track_caller]
fn hides(text: &str, place: &str) {
    for secret in [MARK, "c3cwcmRmaXNo", SECRET, "cl1ent", "s3cret"] {
        assert!(!text.contains(secret), "{place} shows {secret}: {text}");
    }
}

fn hides_all(folder: &Path) {
    for entry in fs::read_dir(folder).unwrap().map(Result::unwrap) {
        let path = entry.path();
        if path.is_dir() {
            hides_all(&path);
        } else if let Ok(bytes) = fs::read(&path) {
            hides(
                &String::from_utf8_lossy(&bytes),
                &path.display().to_string(),
            );
        }
    }
}

/// The server never became ready, and this rule says why.
#[track_caller]
fn never_ready<'r>(run: &'r Run, rule: &str) -> &'r Value {
    run.ends(3, "needs_user_help");
    let last = run.last();
    assert_eq!(last.state("one"), "blocked");
    fails(last.failure("s"), rule)
}

#[track_caller]
fn fails<'r>(failure: &'r Value, rule: &str) -> &'r Value {
    let diagnosis = &failure["diagnosis"];
    assert_eq!(
        (
            &diagnosis["side"],
            &diagnosis["root_cause"],
            &diagnosis["rule"]
        ),
        (
            &json!("test"),
            &json!("authorization_failed"),
            &json!(format!("authorization/{rule}"))
        ),
        "{failure:#}"
    );
    assert_eq!(diagnosis["evidence"]["field"], "http.text", "{failure:#}");
    failure
}

#[track_caller]
fn says(failure: &Value, words: &str) {
    let text = failure["diagnosis"]["evidence"]["text"].as_str().unwrap();
    assert!(text.contains(words), "{text}");
}

fn is_mcp(request: &Request) -> bool {
    request.path == "/mcp" && request.verb == "POST"
}

// ── what works ───────────────────────────────────────────────────────────

#[test]
fn a_client_gets_a_token_and_sends_it_with_every_request() {
    let town = Town::new();
    run(&town, CLIENT).ends(0, "passed");
    let asked = town.asked();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0]["grant_type"], "client_credentials");
    assert_eq!(asked[0]["resource"], town.server_url());
    assert!(!asked[0].contains_key("scope"));
    // Only the first request came without one.
    let heard = town.server.heard();
    let bare = heard
        .iter()
        .filter(|r| r.path == "/mcp" && r.header("authorization").is_empty());
    assert_eq!(bare.count(), 1);
    assert!(
        heard
            .iter()
            .any(|r| r.verb == "DELETE" && r.header("authorization").contains(MARK))
    );
    // The authorization server got no MCP, and the server no client.
    assert!(
        town.issuer
            .heard()
            .iter()
            .all(|r| r.message["jsonrpc"].is_null())
    );
    assert!(heard.iter().all(|r| !r.body.contains("client_credentials")));
}

#[test]
fn metadata_are_found_below_the_well_known_places_in_their_order() {
    // The challenge names nothing; what is at the path goes before the root.
    let town = Town::with(|request, place| {
        let token = place.scopes_of(request).is_some();
        match request.path.as_str() {
            "/mcp" if !token => Some(Reply::json(401, &json!({}))),
            "/.well-known/oauth-protected-resource/mcp" => Some(Reply::json(404, &json!({}))),
            "/.well-known/oauth-authorization-server" => Some(Reply::json(404, &json!({}))),
            "/.well-known/openid-configuration" => Some(Reply::json(200, &place.metadata())),
            _ => None,
        }
    });
    run(&town, CLIENT).ends(0, "passed");
    let paths = |heard: Vec<Request>| -> Vec<String> {
        let known = heard.into_iter().map(|r| r.path);
        known
            .filter(|path| path.starts_with("/.well-known"))
            .collect()
    };
    assert_eq!(
        paths(town.server.heard()),
        [
            "/.well-known/oauth-protected-resource/mcp",
            "/.well-known/oauth-protected-resource"
        ]
    );
    assert_eq!(
        paths(town.issuer.heard()),
        [
            "/.well-known/oauth-authorization-server",
            "/.well-known/openid-configuration"
        ]
    );
}

#[test]
fn a_server_of_2025_03_26_issues_its_tokens_itself() {
    let town = Town::with(|request, place| match request.path.as_str() {
        "/mcp" if place.scopes_of(request).is_none() => Some(Reply::json(401, &json!({}))),
        path if path.starts_with("/.well-known/oauth-protected-resource") => {
            Some(Reply::json(404, &json!({})))
        }
        // Both servers are asked for it; this one is of the MCP server.
        "/.well-known/oauth-authorization-server" => {
            let mut metadata = place.metadata();
            metadata["issuer"] = json!(place.server);
            Some(Reply::json(200, &metadata))
        }
        _ => None,
    });
    run(&town, CLIENT).ends(0, "passed");
}

#[test]
fn the_challenge_says_the_scopes_and_the_metadata_do_where_it_does_not() {
    let ask = |challenge: &'static str, pinned: &str| {
        let town = Town::with(move |request, place| {
            if is_mcp(request) && place.scopes_of(request).is_none() {
                return Some(place.unauthorized(challenge));
            }
            if request
                .path
                .starts_with("/.well-known/oauth-protected-resource")
            {
                let mut resource = place.resource();
                resource["scopes_supported"] = json!(["all:a", "all:b"]);
                return Some(Reply::json(200, &resource));
            }
            None
        });
        let auth = CLIENT.replace(" } }", &format!("{pinned} }} }}"));
        run(&town, &auth).ends(0, "passed");
        town.asked()[0]["scope"].clone()
    };
    assert_eq!(ask(", scope=\"some:x\"", ""), "some:x");
    assert_eq!(ask("", ""), "all:a all:b");
    assert_eq!(ask(", scope=\"some:x\"", ", scopes: [mine]"), "mine");
}

#[test]
fn a_key_signs_for_the_client() {
    let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let town = Town::with(|request, place| match request.path.as_str() {
        "/.well-known/oauth-authorization-server" => {
            let mut metadata = place.metadata();
            metadata["token_endpoint_auth_methods_supported"] = json!(["private_key_jwt"]);
            Some(Reply::json(200, &metadata))
        }
        "/token" => {
            let form = form(request);
            let jwt = form["client_assertion"].split('.').count() == 3
                && form["client_assertion_type"].ends_with("jwt-bearer")
                && request.header("authorization").is_empty();
            jwt.then(|| Reply::json(200, &place.issue("")))
        }
        _ => None,
    });
    let auth = "{ client_credentials: { client_id: ci, private_key: \"${secret:KEY}\", algorithm: ES256 } }";
    let pem = pair.serialize_pem();
    run_plan(&town.plan(auth), &[("KEY", pem.as_str())]).ends(0, "passed");
}

#[test]
fn a_token_that_expires_in_mid_run_is_renewed_once() {
    // Each token is good for three requests.
    let town = Town::with(|request, place| {
        let token = request
            .header("authorization")
            .trim_start_matches("Bearer ")
            .to_owned();
        let mut books = place.books.lock().unwrap();
        if request.method() == "tools/call"
            && let Some(scopes) = books.tokens.get_mut(&token)
        {
            scopes.push("used".into());
            if scopes.len() > 1 {
                books.tokens.remove(&token);
            }
        }
        None
    });
    let plan = town.plan(CLIENT).replace(
        "  - { id: one, tool: work }\n",
        "  - { id: one, tool: work }\n  - { id: two, tool: work }\n  - { id: three, tool: work }\n",
    );
    let run = run_plan(&plan, &[]);
    run.ends(0, "passed");
    assert_eq!(town.asked().len(), 3);
    assert_eq!(run.last().failures().len(), 0);
}

#[test]
fn more_scopes_are_asked_for_with_those_of_before() {
    let town = Town::with(|request, place| {
        let scopes = place.scopes_of(request);
        match (request.method(), scopes) {
            ("initialize" | "server/discover", None) => {
                Some(place.unauthorized(", scope=\"read\""))
            }
            ("tools/call", Some(scopes)) if !scopes.contains(&"write".to_owned()) => {
                Some(place.too_little("write"))
            }
            _ => None,
        }
    });
    run(&town, CLIENT).ends(0, "passed");
    let scopes: Vec<String> = town
        .asked()
        .iter()
        .map(|form| form["scope"].clone())
        .collect();
    assert_eq!(scopes, ["read", "read write"]);
}

// ── each stage that can fail ─────────────────────────────────────────────

#[test]
fn nothing_says_who_issues_tokens() {
    let town = Town::with(|request, place| match request.path.as_str() {
        "/mcp" => Some(Reply::json(401, &json!({}))),
        path if path.starts_with("/.well-known") && place.server != place.issuer => {
            Some(Reply::json(404, &json!({})))
        }
        _ => None,
    });
    let run = run(&town, CLIENT);
    let failure = never_ready(&run, "no-metadata");
    says(failure, "nothing says who issues it");
    assert_eq!(failure["http"]["status"], 401);
    assert_eq!(failure["phase"], "handshake");
    // No secret goes to an endpoint that nothing has named.
    assert!(town.asked().is_empty());
    assert!(town.server.heard().iter().all(|r| r.path != "/token"));
}

#[test]
fn metadata_that_are_none() {
    let town = Town::with(|request, _| {
        let wanted = request.path == "/.well-known/oauth-authorization-server";
        wanted.then(|| Reply {
            status: 200,
            headers: Vec::new(),
            body: "<html>".into(),
        })
    });
    let run = run(&town, CLIENT);
    says(never_ready(&run, "no-metadata"), "is no JSON");
}

#[test]
fn tokens_are_for_another_resource() {
    let town = Town::with(|request, place| {
        let wanted = request
            .path
            .starts_with("/.well-known/oauth-protected-resource");
        wanted.then(|| {
            let mut resource = place.resource();
            resource["resource"] = json!("https://evil.example.com/mcp");
            Reply::json(200, &resource)
        })
    });
    let run = run(&town, CLIENT);
    says(
        never_ready(&run, "other-resource"),
        "https://evil.example.com/mcp",
    );
    assert!(town.asked().is_empty());
}

#[test]
fn the_issuer_is_another_than_its_metadata_say() {
    let town = Town::with(|request, place| {
        let wanted = request.path == "/.well-known/oauth-authorization-server";
        wanted.then(|| {
            let mut metadata = place.metadata();
            // As good as equal is not equal.
            metadata["issuer"] = json!(format!("{}/", place.issuer));
            Reply::json(200, &metadata)
        })
    });
    let run = run(&town, CLIENT);
    says(
        never_ready(&run, "other-issuer"),
        "says that it is of the issuer",
    );
    assert!(town.asked().is_empty());
}

#[test]
fn the_issuer_is_another_than_the_plan_says() {
    let town = Town::new();
    let auth = CLIENT.replace("} }", "}, issuer: \"https://auth.example.org\" }");
    let run = run(&town, &auth);
    let failure = never_ready(&run, "other-issuer");
    says(failure, "the plan insists on https://auth.example.org");
    assert!(town.asked().is_empty());
    let right = CLIENT.replace("} }", &format!("}}, issuer: \"{}\" }}", town.issuer_url()));
    self::run(&town, &right).ends(0, "passed");
}

#[test]
fn an_issuer_that_changes_in_mid_run_is_not_shown_the_client() {
    let town = Town::with(|request, place| {
        let mut books = place.books.lock().unwrap();
        if request.method() == "tools/call" {
            books.tokens.clear();
        }
        let moved = books.issued == 1 && books.tokens.is_empty();
        drop(books);
        let about = request
            .path
            .starts_with("/.well-known/oauth-protected-resource");
        (about && moved)
            .then(|| {
                let mut resource = place.resource();
                resource["authorization_servers"] = json!([format!("{}/other", place.issuer)]);
                Reply::json(200, &resource)
            })
            .or_else(|| {
                (request.path == "/.well-known/oauth-authorization-server/other").then(|| {
                    let mut metadata = place.metadata();
                    metadata["issuer"] = json!(format!("{}/other", place.issuer));
                    Reply::json(200, &metadata)
                })
            })
    });
    let run = run(&town, CLIENT);
    run.ends(3, "needs_user_help");
    let last = run.last();
    says(
        fails(last.failure("one"), "other-issuer"),
        "where the client is not registered",
    );
    assert_eq!(town.asked().len(), 1);
}

#[test]
fn the_client_is_refused() {
    let town = Town::with(|request, _| {
        (request.path == "/token").then(|| {
            // It gives away what it was sent.
            let said = format!(
                "no such client: {} {SECRET}",
                request.header("authorization")
            );
            let body = json!({ "error": "invalid_client", "error_description": said });
            Reply::json(401, &body)
        })
    });
    let run = run(&town, CLIENT);
    let failure = never_ready(&run, "client-refused");
    says(
        failure,
        "HTTP 401 Unauthorized: invalid_client (no such client: Basic [secret",
    );
    assert_eq!(failure["diagnosis"]["retryable"], false);
}

#[test]
fn the_client_has_nothing_that_the_server_takes() {
    let town = Town::with(|request, place| {
        let wanted = request.path == "/.well-known/oauth-authorization-server";
        wanted.then(|| {
            let mut metadata = place.metadata();
            metadata["token_endpoint_auth_methods_supported"] = json!(["tls_client_auth"]);
            Reply::json(200, &metadata)
        })
    });
    let run = run(&town, CLIENT);
    says(
        never_ready(&run, "client-refused"),
        "takes clients by tls_client_auth",
    );
    assert!(town.asked().is_empty());
}

#[test]
fn a_key_that_can_not_be_used_is_found_before_anything_is_sent() {
    let town = Town::new();
    let auth = "{ client_credentials: { client_id: ci, private_key: \"${secret:KEY}\" } }";
    let run = run_plan(&town.plan(auth), &[("KEY", "cl1ent key")]);
    let failure = never_ready(&run, "client-refused");
    assert_eq!(failure["phase"], "config");
    assert!(town.server.heard().is_empty());
}

#[test]
fn the_scopes_are_refused_by_the_authorization_server() {
    let town = Town::with(|request, _| {
        (request.path == "/token").then(|| Reply::json(400, &json!({ "error": "invalid_scope" })))
    });
    let run = run(&town, CLIENT);
    says(never_ready(&run, "scope-refused"), "invalid_scope");
}

#[test]
fn a_server_that_never_has_enough_scopes_is_asked_a_few_times() {
    // The same scopes again, others each time, and none at all.
    for kind in ["same", "new", "none"] {
        let town = Town::with(move |request, place| {
            place
                .scopes_of(request)
                .filter(|_| request.method() == "tools/call")
                .map(|_| {
                    let issued = place.books.lock().unwrap().issued;
                    match kind {
                        "same" => place.too_little("more"),
                        "new" => place.too_little(&format!("more:{issued}")),
                        _ => place.too_little(""),
                    }
                })
        });
        let run = run(&town, CLIENT);
        run.ends(3, "needs_user_help");
        let last = run.last();
        let failure = fails(last.failure("one"), "scope-refused");
        assert_eq!(failure["http"]["status"], 403);
        let asked = town.asked().len();
        let most = match kind {
            "same" => 2,
            "new" => 3,
            _ => 1,
        };
        assert_eq!(asked, most, "{kind}");
    }
}

#[test]
fn scopes_of_the_plan_are_not_widened() {
    let town = Town::with(|request, place| {
        place
            .scopes_of(request)
            .filter(|_| request.method() == "tools/call")
            .map(|_| place.too_little("write"))
    });
    let auth = CLIENT.replace(" } }", ", scopes: [read] } }");
    let run = run(&town, &auth);
    let last = run.last();
    says(
        fails(last.failure("one"), "scope-refused"),
        "the plan asks for `read` and nothing else",
    );
    assert_eq!(town.asked().len(), 1);
}

#[test]
fn a_token_that_was_just_issued_is_refused() {
    let town = Town::with(|request, place| {
        is_mcp(request).then(|| {
            place.unauthorized(", error=\"invalid_token\", error_description=\"wrong audience\"")
        })
    });
    let run = run(&town, CLIENT);
    let failure = never_ready(&run, "token-refused");
    says(
        failure,
        "issued for it just now: invalid_token (wrong audience)",
    );
    assert_eq!(town.asked().len(), 1);
}

#[test]
fn what_comes_in_the_place_of_a_token_is_not_shown() {
    let odd = [
        (200, format!("access_token=t0ken-{MARK}")),
        (
            200,
            json!({ "access_token": format!("t0ken {MARK}"), "token_type": "Bearer" }).to_string(),
        ),
        (
            200,
            json!({ "access_token": format!("t0ken-{MARK}"), "token_type": MARK }).to_string(),
        ),
        (200, format!("{{\"access_token\": \"t0ken-{MARK}\", ")),
        (500, format!("<pre>{MARK}</pre>")),
    ];
    for (status, body) in odd {
        let rule = if status == 500 {
            "unreachable"
        } else {
            "token-refused"
        };
        let answer = body.clone();
        let town = Town::with(move |request, _| {
            (request.path == "/token").then(|| Reply {
                status,
                headers: Vec::new(),
                body: answer.clone(),
            })
        });
        never_ready(&run(&town, CLIENT), rule);
    }
}

#[test]
fn a_redirect_of_the_token_endpoint_is_not_followed() {
    let town = Town::with(|request, place| {
        (request.path == "/token").then(|| {
            Reply::json(307, &json!({})).with(format!("location: {}/elsewhere", place.issuer))
        })
    });
    let run = run(&town, CLIENT);
    says(never_ready(&run, "token-refused"), "follows no redirect");
    assert!(town.issuer.heard().iter().all(|r| r.path != "/elsewhere"));
}

#[test]
fn metadata_are_not_looked_for_where_another_origin_sends_one() {
    let town = Town::with(|request, place| {
        let to = format!("location: http://localhost:1/{}", place.issuer.len());
        (request.path == "/.well-known/oauth-authorization-server")
            .then(|| Reply::json(302, &json!({})).with(to))
    });
    let run = run(&town, CLIENT);
    says(never_ready(&run, "no-metadata"), "HTTP 302 Found");
}

/// The token endpoint does this to the connection.
fn broken(act: impl Fn(&mut std::net::TcpStream) + Send + Sync + 'static) -> Town {
    Town::wholly(
        |_, _| None,
        move |request: &Request, _: &Place, out| {
            let wanted = request.path == "/token";
            if wanted {
                act(out);
            }
            wanted
        },
    )
}

#[test]
fn a_token_endpoint_that_hangs_ends_with_the_servers_own_limit() {
    let town = broken(hold);
    let run = run(&town, CLIENT);
    let failure = never_ready(&run, "unreachable");
    says(failure, "/token did not answer within 2.0 s");
    assert_eq!(failure["diagnosis"]["retryable"], true);
}

#[test]
fn a_token_endpoint_that_sends_without_end_is_left() {
    let town = broken(|out| {
        let _ = out.write_all(b"HTTP/1.1 200 OK\r\nconnection: close\r\n\r\n");
        while out.write_all(&[b' '; 4096]).is_ok() {}
    });
    let run = run(&town, CLIENT);
    says(
        never_ready(&run, "unreachable"),
        "answered with more than 262144 bytes",
    );
}

#[test]
fn a_token_endpoint_that_is_not_there() {
    let town = Town::with(|request, place| {
        let wanted = request.path == "/.well-known/oauth-authorization-server";
        wanted.then(|| {
            let mut metadata = place.metadata();
            metadata["token_endpoint"] = json!("http://127.0.0.1:1/token");
            Reply::json(200, &metadata)
        })
    });
    let run = run(&town, CLIENT);
    says(
        never_ready(&run, "unreachable"),
        "http://127.0.0.1:1/token gave no answer",
    );
}

#[test]
fn nothing_secret_goes_over_the_network_in_the_clear() {
    let town = Town::with(|request, place| {
        let wanted = request.path == "/.well-known/oauth-authorization-server";
        wanted.then(|| {
            let mut metadata = place.metadata();
            metadata["token_endpoint"] = json!("http://auth.example.com/token");
            Reply::json(200, &metadata)
        })
    });
    let run = run(&town, CLIENT);
    says(
        never_ready(&run, "no-metadata"),
        "authorization must go over HTTPS",
    );
}

#[test]
fn a_token_that_the_server_gives_away_is_shown_nowhere() {
    // The answer of the tool holds it in three forms, and the step fails so
    // that all of it is told.
    let town = Town::new();
    let plan = town.plan(CLIENT).replace(
        "{ id: one, tool: work }",
        "{ id: one, tool: work, expect: { text: { equals: nothing } } }",
    );
    let run = run_plan(&plan, &[]);
    let last = run.last();
    let told = last.failure("one").to_string();
    assert!(told.contains("[secret access token]"), "{told}");
}
