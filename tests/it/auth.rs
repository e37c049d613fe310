//! Servers that want tokens: how jelly gets them, what it says when there is
//! none to be had, and that no token comes to light.

use crate::support::auth::{MARK, Place, Reply, SECRET, Town, form, query};
use crate::support::http::{Request, hold};
use crate::support::{Ended, Project, Run};
use jelly_base::text::redact::Redactor;
use jelly_wire::auth::{
    AuthError, AuthSettings, Authorizer, Client, Code, FollowRedirects, Grant, LoggedIn, Stage,
};
use serde_json::{Value, json};
use std::fs;
use std::io::Write;
use std::path::Path;
use std::sync::Arc;
use std::time::Duration;

const CLIENT: &str =
    "{ client_credentials: { client_id: ci, client_secret: \"${secret:CLIENT}\" } }";

/// The client, registered with this issuer.
fn of_issuer(issuer: &str) -> String {
    CLIENT.replace("} }", &format!("}}, issuer: \"{issuer}\" }}"))
}

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
            &json!("auth_failed"),
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
fn a_workload_gets_a_token_for_the_one_of_its_platform() {
    let town = Town::new();
    let auth = "{ workload: { client_id: ci, token: \"${secret:CLIENT}\" } }";
    run(&town, auth).ends(0, "passed");
    let asked = town.asked();
    assert_eq!(asked.len(), 1, "{asked:?}");
    assert_eq!(asked[0]["resource"], town.server_url());
    assert!(!asked[0].contains_key("client_secret"));

    let project = Project::with(&town.plan("{ workload: { token: written } }"));
    let ended = project.jelly(&["check", "plan.yaml"]).output();
    assert_eq!(ended.code, Some(2));
    for said in ["a client needs a `client_id`", "does not belong in a plan"] {
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
    }
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
    let itself = format!("http://127.0.0.1:{}", town.server.port);
    run(&town, &of_issuer(&itself)).ends(0, "passed");
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
    let itself = format!("http://127.0.0.1:{}", town.server.port);
    let run = run(&town, &of_issuer(&itself));
    let failure = never_ready(&run, "no-metadata");
    says(failure, "has no metadata where they could be");
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
    let run = run(&town, &of_issuer("https://auth.example.org"));
    let failure = never_ready(&run, "other-issuer");
    says(failure, "the plan insists on https://auth.example.org");
    assert!(town.asked().is_empty());
    self::run(&town, &of_issuer(&town.issuer_url())).ends(0, "passed");
}

#[test]
fn the_first_request_shows_the_secret_to_no_issuer_but_the_plans() {
    // The server names somebody else from the beginning, and answers for them.
    let thief = Town::new();
    let at = thief.issuer_url();
    let town = Town::with(move |request, place| {
        let about = request
            .path
            .starts_with("/.well-known/oauth-protected-resource");
        about.then(|| {
            let mut resource = place.resource();
            resource["authorization_servers"] = json!([at]);
            Reply::json(200, &resource)
        })
    });
    let run = run(&town, CLIENT);
    says(never_ready(&run, "other-issuer"), "the plan insists on");
    assert!(thief.issuer.heard().is_empty());

    let without = town
        .plan(CLIENT)
        .replace(&format!(", issuer: \"{}\"", town.issuer_url()), "");
    let project = Project::with(&without);
    let ended = project.call(&[]).env("CLIENT", SECRET).output();
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("a client needs the `issuer`"),
        "{}",
        ended.stderr
    );
    assert!(thief.issuer.heard().is_empty());
}

/// A secret, a key and the token of a workload alike.
#[test]
fn what_shows_a_client_goes_to_another_host_only_where_the_plan_names_it() {
    let town = Town::with(|request, place| {
        let wanted = request.path == "/.well-known/oauth-authorization-server";
        wanted.then(|| {
            let mut metadata = place.metadata();
            let elsewhere = place.issuer.replace("127.0.0.1", "localhost");
            metadata["token_endpoint"] = json!(format!("{elsewhere}/token"));
            Reply::json(200, &metadata)
        })
    });
    let issuer = town.issuer_url();
    let elsewhere = format!("{}/token", issuer.replace("127.0.0.1", "localhost"));
    let key = "client_credentials: { client_id: ci, private_key: \"${secret:KEY}\" }";
    let pair = rcgen::KeyPair::generate_for(&rcgen::PKCS_ECDSA_P256_SHA256).unwrap();
    let key_pem = pair.serialize_pem();
    let grants = [
        "client_credentials: { client_id: ci, client_secret: \"${secret:CLIENT}\" }",
        key,
        "workload: { client_id: ci, token: \"${secret:CLIENT}\" }",
    ];
    for grant in grants {
        let of = |named: &str| {
            let auth = format!("{{ {grant}, issuer: \"{issuer}\"{named} }}");
            run_plan(&town.plan(&auth), &[("KEY", key_pem.as_str())])
        };
        for (named, told) in [
            ("", "token_endpoint` beside `issuer"),
            (
                ", token_endpoint: \"https://tokens.example.org/token\"",
                "https://tokens.example.org/token is meant to be",
            ),
        ] {
            let run = of(named);
            let failure = never_ready(&run, "other-issuer");
            says(failure, told);
            says(failure, &elsewhere);
        }
        assert!(town.asked().is_empty(), "{grant}");
    }
    let named = format!(
        "{{ {}, issuer: \"{issuer}\", token_endpoint: \"{elsewhere}\" }}",
        grants[0]
    );
    run(&town, &named).ends(0, "passed");
    assert_eq!(town.asked().len(), 1);
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
        "the plan insists on",
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
fn a_refused_token_for_a_resource_above_the_server_is_said_to_be_for_that() {
    let town = Town::with(|request, place| match request.path.as_str() {
        "/mcp" => Some(place.unauthorized("")),
        "/token" => Some(Reply::json(200, &place.issue(""))),
        path if path.starts_with("/.well-known/oauth-protected-resource") => {
            let mut resource = place.resource();
            resource["resource"] = json!(place.server);
            Some(Reply::json(200, &resource))
        }
        _ => None,
    });
    let run = run(&town, CLIENT);
    says(
        never_ready(&run, "token-refused"),
        "where its own URL should stand",
    );
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

#[test]
fn a_token_is_not_even_got_for_a_server_that_is_reached_in_the_clear() {
    // A proxy stands for the network, and names are looked up by it.
    let town = Town::with(|request, place| {
        let asked = request.path.ends_with("/mcp");
        asked.then(|| place.unauthorized(""))
    });
    let far = "http://mcp.example.org/mcp";
    let plan = town.plan(CLIENT).replace(&town.server_url(), far);
    let proxy = town.server_url().replace("/mcp", "");
    let run = run_plan(&plan, &[("http_proxy", &proxy), ("no_proxy", "")]);
    let failure = never_ready(&run, "no-metadata");
    says(
        failure,
        "/mcp is not asked: authorization must go over HTTPS",
    );
    let heard = town.server.heard();
    assert!(!heard.is_empty() && heard.iter().all(|r| r.path == far));
    assert!(town.asked().is_empty());
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
    says(failure, "/token did not answer within 1.0 s");
    assert_eq!(failure["diagnosis"]["retryable"], true);
}

#[test]
fn what_hangs_in_mid_run_is_named_before_the_step_runs_out_of_time() {
    let town = Town::wholly(
        |request, place| {
            // The first token is good for the handshake only.
            if request.method() == "tools/call" {
                place.books.lock().unwrap().tokens.clear();
            }
            None
        },
        |request, place, out| {
            let wanted = request.path == "/token" && place.books.lock().unwrap().issued > 0;
            if wanted {
                hold(out);
            }
            wanted
        },
    );
    let run = run(&town, CLIENT);
    let last = run.last();
    let failure = fails(last.failure("one"), "unreachable");
    says(failure, "/token did not answer within 1.0 s");
    assert_eq!(failure["phase"], "call");
}

#[test]
fn an_authorization_server_in_trouble_is_asked_again_in_the_next_iteration() {
    let town = Town::with(|request, place| {
        let mut books = place.books.lock().unwrap();
        let first = request.path == "/.well-known/oauth-authorization-server" && books.issued == 0;
        // Whatever was issued before counts; so the second time is good.
        books.issued += usize::from(first);
        first.then(|| Reply::json(503, &json!({})))
    });
    let project = Project::with(&town.plan(CLIENT));
    let run = Run::of(&project, project.call(&[]).env("CLIENT", SECRET).output());
    run.ends(0, "passed_after_retry");
    fails(run.iteration(1).failure("s"), "unreachable");
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

/// An authorization server and an MCP server in one, which logs a token before
/// it hands it out.
const TALKATIVE: &str = r#"
import json, sys
from http.server import BaseHTTPRequestHandler, HTTPServer
port = int(sys.argv[1])
at = f"http://127.0.0.1:{port}"
token = "sw0rdfish-t0ken-1"
class Handler(BaseHTTPRequestHandler):
    def log_message(self, *args):
        pass
    def say(self, status, body, headers={}):
        data = json.dumps(body).encode()
        self.send_response(status)
        for name, value in {"content-type": "application/json",
                            "content-length": str(len(data)), **headers}.items():
            self.send_header(name, value)
        self.end_headers()
        self.wfile.write(data)
    def do_GET(self):
        if "oauth-protected-resource" in self.path:
            self.say(200, {"resource": at + "/mcp", "authorization_servers": [at]})
        elif "oauth-authorization-server" in self.path:
            self.say(200, {"issuer": at, "token_endpoint": at + "/token"})
        else:
            self.say(405, {})
    def do_POST(self):
        body = self.rfile.read(int(self.headers["content-length"]))
        if self.path == "/token":
            print("issued", token, file=sys.stderr, flush=True)
            self.say(200, {"access_token": token, "token_type": "Bearer"})
        elif self.headers.get("authorization") != "Bearer " + token:
            self.say(401, {}, {"www-authenticate": "Bearer resource_metadata=\"" + at
                               + "/.well-known/oauth-protected-resource\""})
        else:
            self.answer(json.loads(body))
    def answer(self, message):
        results = {
            "initialize": {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                           "serverInfo": {"name": "s", "version": "1"}},
            "tools/list": {"tools": [{"name": "work", "inputSchema": {"type": "object"}}]},
            "tools/call": {"content": [{"type": "text", "text": "no"}]},
        }
        if "id" not in message:
            self.say(202, {})
        else:
            self.say(200, {"jsonrpc": "2.0", "id": message["id"],
                           "result": results.get(message["method"], {})})
HTTPServer(("127.0.0.1", port), Handler).serve_forever()
"#;

#[test]
fn a_token_that_a_server_logs_before_it_is_issued_is_in_no_report() {
    let project = Project::with(
        "version: 1\nservers:\n  s:\n    command: python3\n    args: [as.py, \"${port}\"]\n    url: \"http://127.0.0.1:${port}/mcp\"\n    protocol: \
         2025-06-18\n    auth:\n      issuer: \"http://127.0.0.1:${port}\"\n      \
         client_credentials: { client_id: ci, client_secret: \"${secret:CLIENT}\" }\nsteps:\n  \
         - { id: one, tool: work, expect: { text: { equals: \"yes\" } } }\n",
    );
    fs::write(project.path("as.py"), TALKATIVE).unwrap();
    let call = project.call(&["--max-iterations", "1"]);
    let run = Run::of(&project, call.env("CLIENT", SECRET).output());
    assert_eq!(run.last().state("one"), "failed", "{}", run.stdout);
    let log = fs::read_to_string(project.path("reports/latest/servers/s.stderr.log")).unwrap();
    assert_eq!(log, "issued [secret access token]\n");
    hides_all(&project.path("reports"));
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

// ── a person ─────────────────────────────────────────────────────────────

/// The flow for a person at this town, who goes where they are sent.
fn visit(town: &Town, change: impl FnOnce(&mut Code)) -> (Result<LoggedIn, AuthError>, Redactor) {
    let patience = Duration::from_secs(5);
    let mut code = Code {
        client: None,
        metadata_url: None,
        visitor: Arc::new(FollowRedirects { patience }),
        visit_takes: patience,
        port: 0,
        store: None,
    };
    change(&mut code);
    let settings = AuthSettings {
        server: town.server_url(),
        grant: Grant::Code(code),
        scopes: Vec::new(),
        issuer: None,
        patience,
        is_offered: false,
    };
    let redactor = Redactor::none();
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap();
    let done = runtime.block_on(async { Authorizer::new(settings, &redactor)?.log_in().await });
    (done, redactor)
}

/// It failed at this stage, without a word of what is secret.
#[track_caller]
fn stops(town: &Town, stage: Stage, words: &str) {
    let (done, _) = visit(town, |_| {});
    let error = done.unwrap_err();
    assert_eq!(error.stage, stage, "{error}");
    assert!(error.text.contains(words), "{error}");
    hides(&error.text, "the error");
}

/// A town whose authorization server says other things of itself.
fn other_metadata(change: impl Fn(&mut Value) + Send + Sync + 'static) -> Town {
    Town::with(move |request, place| {
        (request.path == "/.well-known/oauth-authorization-server").then(|| {
            let mut metadata = place.metadata();
            change(&mut metadata);
            Reply::json(200, &metadata)
        })
    })
}

/// A town that sends the browser back otherwise.
fn other_way_back(change: impl Fn(&mut Vec<(String, String)>) + Send + Sync + 'static) -> Town {
    Town::with(move |request, place| {
        request.path.starts_with("/authorize?").then(|| {
            let asked = query(request);
            let mut back = vec![
                ("code".to_owned(), format!("c0de-{MARK}")),
                ("state".to_owned(), asked["state"].clone()),
                ("iss".to_owned(), place.issuer.clone()),
            ];
            change(&mut back);
            let back = form_urlencoded::Serializer::new(String::new())
                .extend_pairs(back)
                .finish();
            Reply::json(302, &Value::Null)
                .with(format!("location: {}?{back}", asked["redirect_uri"]))
        })
    })
}

#[test]
fn a_person_allows_it_and_all_that_is_secret_is_known() {
    let town = Town::new();
    let (done, redactor) = visit(&town, |_| {});
    let done = done.unwrap();
    assert_eq!(
        (done.issuer, done.resource),
        (town.issuer_url(), town.server_url())
    );
    assert!(done.renewable && done.kept_in.is_none());
    let visited = &town.visited()[0];
    for (name, value) in [
        ("response_type", "code"),
        ("code_challenge_method", "S256"),
        ("client_id", "registered"),
        ("resource", &town.server_url()),
    ] {
        assert_eq!(visited[name], value);
    }
    assert!(visited["redirect_uri"].starts_with("http://127.0.0.1:"));
    let asked = &town.asked()[0];
    assert_eq!(asked["resource"], town.server_url());
    assert_eq!(asked["redirect_uri"], visited["redirect_uri"]);
    let registered = town
        .issuer
        .heard()
        .into_iter()
        .find(|r| r.path == "/register")
        .unwrap();
    assert_eq!(registered.message["application_type"], "native");
    assert_eq!(
        registered.message["redirect_uris"],
        json!([visited["redirect_uri"]])
    );
    for secret in [
        &asked["code"],
        &asked["code_verifier"],
        &format!("t0ken-1/{MARK}+7="),
        &format!("r3fresh-1/{MARK}"),
    ] {
        let shown = redactor.redact(secret).into_owned();
        assert!(shown.starts_with("[secret "), "{shown}");
    }
}

#[test]
fn jelly_is_who_it_was_told_to_be() {
    let who = |change: fn(&mut Code), urls: bool| {
        let town = other_metadata(move |metadata| {
            metadata["client_id_metadata_document_supported"] = json!(urls);
        });
        visit(&town, change).0.unwrap();
        town.visited()[0]["client_id"].clone()
    };
    let known = |code: &mut Code| code.client = Some(Client::new("known", None));
    let url = |code: &mut Code| code.metadata_url = Some("https://me.example/c.json".into());
    assert_eq!(who(known, true), "known");
    assert_eq!(who(url, true), "https://me.example/c.json");
    assert_eq!(who(url, false), "registered");
}

#[test]
fn an_answer_of_another_issuer_brings_no_code_anywhere() {
    for iss in [Some("https://evil.example.com"), Some("a slash"), None] {
        let town = Town::with(move |request, place| {
            request.path.starts_with("/authorize?").then(|| {
                let asked = query(request);
                let mut back = form_urlencoded::Serializer::new(String::new());
                back.append_pair("code", &format!("c0de-{MARK}"));
                back.append_pair("state", &asked["state"]);
                match iss {
                    Some("a slash") => drop(back.append_pair("iss", &format!("{}/", place.issuer))),
                    Some(other) => drop(back.append_pair("iss", other)),
                    None => {}
                }
                Reply::json(302, &Value::Null).with(format!(
                    "location: {}?{}",
                    asked["redirect_uri"],
                    back.finish()
                ))
            })
        });
        stops(&town, Stage::Issuer, "the browser came back");
        assert!(town.asked().is_empty());
    }
}

#[test]
fn another_state_is_nobody_we_know() {
    let town = other_way_back(|back| back[1].1 = "other".into());
    let (done, _) = visit(&town, |code| code.visit_takes = Duration::from_millis(300));
    let error = done.unwrap_err();
    assert_eq!(error.stage, Stage::Login);
    assert!(error.text.contains("nobody came back"), "{error}");
    assert!(town.asked().is_empty());
}

#[test]
fn a_person_who_does_not_allow_it_is_told_so() {
    let town = other_way_back(|back| back[0] = ("error".into(), "access_denied".into()));
    stops(
        &town,
        Stage::Login,
        "sent the browser back with access_denied",
    );
}

#[test]
fn nobody_logs_in_without_pkce() {
    let town = other_metadata(|metadata| {
        metadata
            .as_object_mut()
            .unwrap()
            .remove("code_challenge_methods_supported");
    });
    stops(&town, Stage::Client, "PKCE");
    assert!(town.visited().is_empty());
}

#[test]
fn a_server_that_registers_nobody_is_told_so() {
    let town = other_metadata(|metadata| {
        metadata
            .as_object_mut()
            .unwrap()
            .remove("registration_endpoint");
    });
    stops(&town, Stage::Client, "registers no clients by itself");
    let town = Town::with(|request, _| {
        let body = json!({ "error": "invalid_redirect_uri", "error_description": "no loopback" });
        (request.path == "/register").then(|| Reply::json(400, &body))
    });
    stops(&town, Stage::Client, "invalid_redirect_uri (no loopback)");
}

#[test]
fn a_server_of_2025_03_26_without_metadata_has_its_pages_at_fixed_places() {
    // One server is all: what it does not know is not there.
    let town = Town::with(|request, place| match request.path.as_str() {
        "/mcp" => Some(Reply::json(401, &json!({}))),
        "/register" => Some(Reply::json(201, &json!({ "client_id": "old" }))),
        "/token" => Some(Reply::json(200, &place.issue(""))),
        path if path.starts_with("/authorize?") => {
            let asked = query(request);
            let to = format!(
                "{}?code=c0de-{MARK}&state={}",
                asked["redirect_uri"], asked["state"]
            );
            Some(Reply::json(302, &json!({})).with(format!("location: {to}")))
        }
        _ => Some(Reply::json(404, &json!({}))),
    });
    let (done, _) = visit(&town, |_| {});
    assert_eq!(
        done.unwrap().issuer,
        town.server_url().trim_end_matches("/mcp")
    );
    assert!(town.issuer.heard().is_empty());
}

#[test]
fn a_server_that_wants_no_token_has_nothing_to_log_in_to() {
    let town = Town::with(|request, _| match request.path.as_str() {
        "/mcp" => Some(Reply::json(200, &json!({}))),
        _ => Some(Reply::json(404, &json!({}))),
    });
    stops(&town, Stage::Metadata, "there is nothing to log in to");
}

/// Goes where it is sent, as a browser would.
const BROWSER: &str = "#!/usr/bin/env python3\nimport sys, urllib.request\n\
    urllib.request.build_opener(urllib.request.ProxyHandler({})).open(sys.argv[1]).read()\n";

/// `jelly login` in a terminal, with a browser that allows everything.
fn at_a_terminal(project: &Project, args: &[&str], env: &[(&str, &str)]) -> Ended {
    let browser = project.script("bin/xdg-open", BROWSER);
    let path = format!(
        "{}:{}",
        browser.parent().unwrap().display(),
        std::env::var("PATH").unwrap()
    );
    let pty = "import os, pty, sys; sys.exit(os.waitstatus_to_exitcode(pty.spawn(sys.argv[1:])))";
    let mut call = project
        .wrapped("python3", &["-c", pty])
        .args(&["login", "--open", "--timeout", "20s"])
        .args(args)
        .env("PATH", path)
        .env("JELLY_LOGINS_DIR", project.path("../logins"));
    for (name, value) in env {
        call = call.env(name, value);
    }
    let ended = call.output();
    for text in [&ended.stdout, &ended.stderr] {
        hides(text, "the terminal");
    }
    ended
}

fn run_with_login(project: &Project) -> Run {
    let run = Run::of(
        project,
        project
            .call(&["--max-iterations", "1", "--record"])
            .env("JELLY_LOGINS_DIR", project.path("../logins"))
            .output(),
    );
    hides(&run.stdout, "stdout");
    hides(&run.stderr, "stderr");
    hides_all(&project.path("reports"));
    run
}

#[test]
fn a_login_serves_runs_until_it_can_not_be_renewed() {
    use std::os::unix::fs::PermissionsExt;
    let town = Town::with(|request, place| {
        let over = place.books.lock().unwrap().issued >= 2;
        (request.path == "/token" && over)
            .then(|| Reply::json(400, &json!({ "error": "invalid_grant" })))
    });
    let project = Project::with(&town.plan("login"));

    let run = run_with_login(&project);
    says(never_ready(&run, "login-needed"), "there is no login");
    let advice = run.last().failure("s")["diagnosis"]["advice"].to_string();
    assert!(
        advice.contains(&format!("jelly login {}", town.server_url())),
        "{advice}"
    );

    let ended = at_a_terminal(&project, &["--plan", "plan.yaml", "s"], &[]);
    assert_eq!(ended.code, Some(0), "{}", ended.stdout);
    let place = town.issuer_url();
    assert!(
        ended
            .stdout
            .contains(&format!("{place}/authorize?response_type=code"))
    );
    assert!(
        ended
            .stdout
            .contains(&format!("Logged in to {} by {place}", town.server_url()))
    );
    let files: Vec<_> = fs::read_dir(project.path("../logins"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .collect();
    assert_eq!(files.len(), 1);
    let mode = fs::metadata(&files[0]).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o600);

    run_with_login(&project).ends(0, "passed");
    assert_eq!(town.asked().len(), 1);

    // The server forgets the token, and the login is renewed and kept.
    town.books.lock().unwrap().tokens.clear();
    run_with_login(&project).ends(0, "passed");
    assert_eq!(town.asked()[1]["grant_type"], "refresh_token");
    assert_eq!(town.asked()[1]["resource"], town.server_url());
    run_with_login(&project).ends(0, "passed");
    assert_eq!(town.asked().len(), 2);

    // Now nothing helps but another login.
    town.books.lock().unwrap().tokens.clear();
    let run = run_with_login(&project);
    says(
        never_ready(&run, "login-needed"),
        "the login can't be renewed",
    );
}

#[test]
fn nobody_logs_in_in_ci_or_without_a_terminal() {
    let town = Town::new();
    let project = Project::empty();
    let url = town.server_url();
    let call = project.jelly(&["login", &url]);
    let ended = call
        .env("JELLY_LOGINS_DIR", project.path("../logins"))
        .output();
    assert_eq!(ended.code, Some(2));
    assert!(ended.stderr.contains("at a terminal"), "{}", ended.stderr);
    assert!(
        ended.stderr.contains("client_credentials"),
        "{}",
        ended.stderr
    );
    let ended = at_a_terminal(&project, &[&url], &[("CI", "true")]);
    assert_eq!(ended.code, Some(2));
    assert!(ended.stdout.contains("CI is set"), "{}", ended.stdout);
    assert!(town.server.heard().is_empty());
}

#[test]
fn a_login_that_can_not_be_meant_is_said_with_what_is() {
    let project = Project::with(
        "version: 1\nservers:\n  here: { command: jelly }\n  far: { url: \"http://127.0.0.1:1/mcp\" }\nsteps: []\n",
    );
    for (args, words) in [
        (&["somewhere"][..], "is not a URL of a server"),
        (&["--plan", "plan.yaml", "fa"], "did you mean `far`?"),
        (&["--plan", "plan.yaml", "here"], "has no `url`"),
        (&["--plan", "no.yaml", "far"], "no.yaml"),
        (
            &[
                "--client-id",
                "a",
                "--client-secret-env",
                "NOT_SET",
                "http://h/",
            ],
            "NOT_SET is not set",
        ),
        (
            &[
                "--client-id",
                "a",
                "--client-secret-env",
                "CLIENT",
                "http://127.0.0.1:1/",
            ],
            "name it by --issuer URL",
        ),
        (
            &["--client-metadata-url", "https://h/", "http://127.0.0.1:1/"],
            "not a URL that a client could have",
        ),
    ] {
        let ended = at_a_terminal(&project, args, &[("CLIENT", SECRET)]);
        assert_eq!(ended.code, Some(2), "{args:?}");
        assert!(ended.stdout.contains(words), "{args:?}: {}", ended.stdout);
    }
    let ended = at_a_terminal(&project, &["--plan", "plan.yaml", "far"], &[]);
    assert_eq!(ended.code, Some(3));
    assert!(
        ended.stdout.contains("authorization server unreachable"),
        "{}",
        ended.stdout
    );
}
