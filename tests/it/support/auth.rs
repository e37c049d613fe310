//! An authorization server and an MCP server that wants its tokens, both on
//! this machine, that do what is right but for what a test says.

use super::http::{Http, Request, legacy, respond, result, text};
use base64::Engine;
use base64::engine::general_purpose::STANDARD;
use serde_json::{Value, json};
use std::collections::{BTreeMap, HashMap};
use std::net::TcpStream;
use std::sync::{Arc, Mutex};

/// Stands in everything that is secret and comes into being in a run.
pub const MARK: &str = "sw0rdfish";
/// What the client shows.
pub const SECRET: &str = "cl1ent/s3cret+77 x";

/// An answer in place of the usual one.
pub struct Reply {
    pub status: u16,
    pub headers: Vec<String>,
    pub body: String,
}

impl Reply {
    pub fn json(status: u16, body: &Value) -> Self {
        Self {
            status,
            headers: vec!["content-type: application/json".into()],
            body: body.to_string(),
        }
    }

    pub fn with(mut self, header: impl Into<String>) -> Self {
        self.headers.push(header.into());
        self
    }
}

/// What an authorization server knows.
#[derive(Default)]
pub struct Books {
    /// By token, its scopes.
    pub tokens: HashMap<String, Vec<String>>,
    pub issued: usize,
    /// Of the code that is out: the challenge of PKCE and the scopes.
    code: Option<(String, String)>,
}

/// Both servers, with what they heard.
pub struct Town {
    pub issuer: Http,
    pub server: Http,
    pub books: Arc<Mutex<Books>>,
}

/// What a test does in place of what is right; none for what is right.
pub type Instead = dyn Fn(&Request, &Place) -> Option<Reply> + Send + Sync;

/// Where the servers are, for those who change what they do.
#[derive(Clone)]
pub struct Place {
    pub issuer: String,
    /// The MCP server's origin; not known to the authorization server.
    pub server: String,
    pub books: Arc<Mutex<Books>>,
}

impl Place {
    /// The metadata of the authorization server, as they should be.
    pub fn metadata(&self) -> Value {
        let at = &self.issuer;
        json!({
            "issuer": at,
            "token_endpoint": format!("{at}/token"),
            "authorization_endpoint": format!("{at}/authorize"),
            "registration_endpoint": format!("{at}/register"),
            "code_challenge_methods_supported": ["S256"],
            "grant_types_supported": ["client_credentials", "authorization_code"],
            "token_endpoint_auth_methods_supported": ["client_secret_basic", "none"],
            "authorization_response_iss_parameter_supported": true,
        })
    }

    /// Those of the resource.
    pub fn resource(&self) -> Value {
        json!({
            "resource": format!("{}/mcp", self.server),
            "authorization_servers": [self.issuer],
        })
    }

    /// That a token is wanted.
    pub fn unauthorized(&self, more: &str) -> Reply {
        let at = &self.server;
        let header = format!(
            "www-authenticate: Bearer resource_metadata=\
             \"{at}/.well-known/oauth-protected-resource/mcp\"{more}"
        );
        Reply::json(401, &json!({ "error": "invalid_token" })).with(header)
    }

    pub fn too_little(&self, scopes: &str) -> Reply {
        let header =
            format!("www-authenticate: Bearer error=\"insufficient_scope\", scope=\"{scopes}\"");
        Reply::json(403, &json!({ "error": "insufficient_scope" })).with(header)
    }

    /// The scopes of the token that a request carries, if it is a good one.
    pub fn scopes_of(&self, request: &Request) -> Option<Vec<String>> {
        let token = request.header("authorization").strip_prefix("Bearer ")?;
        self.books.lock().unwrap().tokens.get(token).cloned()
    }
}

/// The fields of a request's form.
pub fn form(request: &Request) -> BTreeMap<String, String> {
    parsed(&request.body)
}

/// Those of its query.
pub fn query(request: &Request) -> BTreeMap<String, String> {
    parsed(request.path.split_once('?').map_or("", |(_, query)| query))
}

fn parsed(text: &str) -> BTreeMap<String, String> {
    form_urlencoded::parse(text.as_bytes())
        .into_owned()
        .collect()
}

impl Town {
    pub fn new() -> Self {
        Self::with(|_, _| None)
    }

    /// What is asked of either server goes to `instead` first.
    pub fn with(
        instead: impl Fn(&Request, &Place) -> Option<Reply> + Send + Sync + 'static,
    ) -> Self {
        Self::wholly(instead, |_, _, _| false)
    }

    /// The same where a test may write the answer by itself.
    pub fn wholly(
        instead: impl Fn(&Request, &Place) -> Option<Reply> + Send + Sync + 'static,
        by_hand: impl Fn(&Request, &Place, &mut TcpStream) -> bool + Send + Sync + 'static,
    ) -> Self {
        let instead: Arc<Instead> = Arc::new(instead);
        let by_hand = Arc::new(by_hand);
        let books = Arc::new(Mutex::new(Books::default()));
        let place = |request: &Request, books: &Arc<Mutex<Books>>| {
            let origin = format!("http://{}", request.header("host"));
            Place {
                issuer: origin.clone(),
                server: origin,
                books: Arc::clone(books),
            }
        };
        let issuer = {
            let (books, instead, by_hand) = (books.clone(), instead.clone(), by_hand.clone());
            Http::serve(move |request, out| {
                let place = place(request, &books);
                if by_hand(request, &place, out) {
                    return;
                }
                let reply = instead(request, &place).unwrap_or_else(|| issues(request, &place));
                send(out, &reply);
            })
        };
        let issuer_at = format!("http://127.0.0.1:{}", issuer.port);
        let server = {
            let books = books.clone();
            Http::serve(move |request, out| {
                let place = Place {
                    issuer: issuer_at.clone(),
                    ..place(request, &books)
                };
                if by_hand(request, &place, out) {
                    return;
                }
                if let Some(reply) = instead(request, &place) {
                    send(out, &reply);
                } else if request
                    .path
                    .starts_with("/.well-known/oauth-protected-resource")
                {
                    send(out, &Reply::json(200, &place.resource()));
                } else if request.path != "/mcp" {
                    respond(out, 404, &[], "");
                } else if place.scopes_of(request).is_some() {
                    legacy(request, out, says_the_token);
                } else {
                    send(out, &place.unauthorized(""));
                }
            })
        };
        Self {
            issuer,
            server,
            books,
        }
    }

    pub fn issuer_url(&self) -> String {
        format!("http://127.0.0.1:{}", self.issuer.port)
    }

    pub fn server_url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.server.port)
    }

    /// A plan with one step, whose server has this `auth`; a client in it is of
    /// this issuer where it does not say otherwise.
    pub fn plan(&self, auth: &str) -> String {
        let mut auth = auth.to_owned();
        if auth.contains("client_credentials") && !auth.contains("issuer") {
            let issuer = format!(", issuer: \"{}\" }}", self.issuer_url());
            auth.replace_range(auth.len() - 2.., &issuer);
        }
        format!(
            "version: 1\nservers:\n  s:\n    url: \"{}\"\n    startup_timeout: 5s\n    \
             request_timeout: 2s\n    auth: {auth}\nsteps:\n  - {{ id: one, tool: work }}\n",
            self.server_url()
        )
    }

    /// The forms that the token endpoint got.
    pub fn asked(&self) -> Vec<BTreeMap<String, String>> {
        let heard = self.issuer.heard();
        let asked = heard
            .iter()
            .filter(|r| r.verb == "POST" && r.path == "/token");
        asked.map(form).collect()
    }

    /// The queries that the page got.
    pub fn visited(&self) -> Vec<BTreeMap<String, String>> {
        let heard = self.issuer.heard();
        let visits = heard.iter().filter(|r| r.path.starts_with("/authorize?"));
        visits.map(query).collect()
    }
}

pub fn send(out: &mut TcpStream, reply: &Reply) {
    let headers: Vec<&str> = reply.headers.iter().map(String::as_str).collect();
    respond(out, reply.status, &headers, &reply.body);
}

/// A tool that gives away what it was sent, in several forms.
pub fn says_the_token(request: &Request, out: &mut TcpStream) {
    let header = request.header("authorization");
    let token = header.trim_start_matches("Bearer ");
    let words = format!("{header} | {} | {:?}", STANDARD.encode(token), token);
    super::http::json_answer(out, &[], &result(request, text(&words)));
}

/// What an authorization server does.
fn issues(request: &Request, place: &Place) -> Reply {
    let path = request.path.split('?').next().unwrap_or_default();
    match (request.verb.as_str(), path) {
        ("GET", "/.well-known/oauth-authorization-server") => Reply::json(200, &place.metadata()),
        ("POST", "/register") => Reply::json(
            201,
            &json!({ "client_id": "registered", "token_endpoint_auth_method": "none" }),
        ),
        ("GET", "/authorize") => {
            let asked = query(request);
            let scope = asked.get("scope").cloned().unwrap_or_default();
            place.books.lock().unwrap().code = Some((asked["code_challenge"].clone(), scope));
            let back = form_urlencoded::Serializer::new(String::new())
                .append_pair("code", &format!("c0de-{MARK}"))
                .append_pair("state", &asked["state"])
                .append_pair("iss", &place.issuer)
                .finish();
            Reply::json(302, &Value::Null)
                .with(format!("location: {}?{back}", asked["redirect_uri"]))
        }
        ("POST", "/token") => token(request, place),
        _ => Reply::json(404, &json!({ "error": "not_found" })),
    }
}

fn token(request: &Request, place: &Place) -> Reply {
    let form = form(request);
    let refuse = |status, error: &str| Reply::json(status, &json!({ "error": error }));
    let scope = match form["grant_type"].as_str() {
        "client_credentials" => {
            let encoded: String = form_urlencoded::byte_serialize(SECRET.as_bytes()).collect();
            let basic = format!("Basic {}", STANDARD.encode(format!("ci:{encoded}")));
            if request.header("authorization") != basic {
                return refuse(401, "invalid_client");
            }
            form.get("scope").cloned().unwrap_or_default()
        }
        "authorization_code" => {
            let Some((challenge, scope)) = place.books.lock().unwrap().code.take() else {
                return refuse(400, "invalid_grant");
            };
            let verifier = &form["code_verifier"];
            if form["code"] != format!("c0de-{MARK}") || s256(verifier) != challenge {
                return refuse(400, "invalid_grant");
            }
            scope
        }
        "urn:ietf:params:oauth:grant-type:jwt-bearer" => {
            if form["assertion"] != SECRET || form["client_id"] != "ci" {
                return refuse(400, "invalid_grant");
            }
            String::new()
        }
        "refresh_token" if form["refresh_token"].contains(MARK) => String::new(),
        _ => return refuse(400, "unsupported_grant_type"),
    };
    if form
        .get("resource")
        .is_none_or(|resource| !resource.ends_with("/mcp"))
    {
        return refuse(400, "invalid_target");
    }
    Reply::json(200, &place.issue(&scope))
}

impl Place {
    /// A new token, good from now on.
    pub fn issue(&self, scope: &str) -> Value {
        let mut books = self.books.lock().unwrap();
        books.issued += 1;
        let token = format!("t0ken-{}/{MARK}+{}=", books.issued, books.issued * 7);
        let scopes = scope.split_whitespace().map(str::to_owned).collect();
        books.tokens.insert(token.clone(), scopes);
        json!({
            "access_token": token,
            "token_type": "Bearer",
            "expires_in": 3600,
            "refresh_token": format!("r3fresh-{}/{MARK}", books.issued),
        })
    }
}

fn s256(verifier: &str) -> String {
    use sha2::{Digest, Sha256};
    base64::engine::general_purpose::URL_SAFE_NO_PAD.encode(Sha256::digest(verifier))
}
