//! What came of an exchange → what may be said of it.
//!
//! Main functions: [`refused`], [`lost`]. Everything that is made here is
//! bounded and redacted.

use super::auth::AuthError;
use super::body::BodyError;
use super::client::NamedProxy;
use super::trust::flaw_of_named_authorities;
use crate::HttpEnd;
use crate::message::Understood;
use indexmap::IndexMap;
use jelly_base::model::{HttpFacts, OwnLimit, RpcError};
use jelly_base::text::redact::Redactor;
use jelly_base::text::{read_json, truncate};
use jiff::Timestamp;
use reqwest::StatusCode;
use reqwest::header::{DATE, HeaderMap};
use serde::de::IgnoredAny;
use serde_json::Value;
use std::borrow::Cow;
use std::error::Error;
use std::io;

/// So much of a body is kept as evidence.
const BODY_BYTES: usize = 8 * 1024;
/// So much of a header's value.
const HEADER_BYTES: usize = 512;

/// The headers of an answer that tell something, and do so again in the next
/// run. None of them identifies a session.
const TELLING: [&str; 13] = [
    "allow",
    "content-encoding",
    "content-length",
    "content-type",
    "location",
    "mcp-protocol-version",
    "proxy-authenticate",
    "retry-after",
    "server",
    "transfer-encoding",
    "upgrade",
    "via",
    "www-authenticate",
];

/// Those of them that may come several times, each as a part of one list (RFC 9110, section
/// 5.3): a server that takes several ways to sign in may name each in a header of its own.
const LISTS: [&str; 6] = [
    "allow",
    "content-encoding",
    "proxy-authenticate",
    "transfer-encoding",
    "via",
    "www-authenticate",
];
/// So many of one name are told.
const HEADERS_OF_A_NAME: usize = 8;

/// Status and headers of an answer.
pub(super) fn of_head(status: StatusCode, headers: &HeaderMap, redactor: &Redactor) -> HttpFacts {
    let told = TELLING.iter().filter_map(|name| {
        let mut values = headers.get_all(*name).iter().map(|value| {
            let value = String::from_utf8_lossy(value.as_bytes());
            let value = match *name {
                "retry-after" => Cow::Owned(in_seconds(&value, headers)),
                // A query may hold a secret of the server's own.
                "location" => Cow::Owned(without_query(&redactor.redact(&value))),
                _ => redactor.redact(&value),
            };
            truncate(&value, HEADER_BYTES).into_owned()
        });
        let mut told = values.next()?;
        if LISTS.contains(name) {
            for value in values.take(HEADERS_OF_A_NAME - 1) {
                told = format!("{told}, {value}");
            }
        }
        Some(((*name).to_owned(), Value::String(told)))
    });
    HttpFacts {
        status: Some(status.as_u16()),
        headers: told.collect::<IndexMap<_, _>>(),
        ..HttpFacts::default()
    }
}

fn without_query(url: &str) -> String {
    match url.split_once('?') {
        Some((url, _)) => format!("{url}?…"),
        None => url.to_owned(),
    }
}

/// A pause as seconds, where it is given as a date: told from the clock of the
/// server, if it shows it.
fn in_seconds(pause: &str, headers: &HeaderMap) -> String {
    let date = |text: &str| jiff::fmt::rfc2822::parse(text.trim()).ok();
    let Some(until) = date(pause) else {
        return truncate(pause, HEADER_BYTES).into_owned();
    };
    let now = headers
        .get(DATE)
        .and_then(|now| now.to_str().ok())
        .and_then(date)
        .map_or_else(Timestamp::now, |now| now.timestamp());
    let seconds = until.timestamp().duration_since(now).as_secs().max(0);
    seconds.to_string()
}

/// The head of a body, as it may be shown.
pub(super) fn body(bytes: &[u8], redactor: &Redactor) -> Option<String> {
    if bytes.is_empty() {
        return None;
    }
    // Redacted before it is cut: a secret must not survive by being halved.
    let head = &bytes[..bytes.len().min(8 * BODY_BYTES)];
    let text = String::from_utf8_lossy(head);
    let text = redactor.redact(&text);
    Some(truncate(&text, BODY_BYTES).into_owned())
}

/// A status in words, as in `HTTP 404 Not Found`.
pub(super) fn in_words(status: u16) -> String {
    let reason = StatusCode::from_u16(status)
        .ok()
        .and_then(|status| status.canonical_reason());
    match reason {
        Some(reason) => format!("HTTP {status} {reason}"),
        None => format!("HTTP {status}"),
    }
}

/// An answer whose status says no.
pub(super) fn refused(facts: HttpFacts, bytes: &[u8]) -> HttpEnd {
    let words = in_words(facts.status.unwrap_or_default());
    let rpc_error = rpc_error(bytes);
    let said = match (&rpc_error, &facts.body) {
        (Some(error), _) => Some(error.message.as_str()),
        (None, Some(body)) if !body.trim_start().starts_with('<') => body.lines().next(),
        (None, _) => None,
    };
    let said = said.map(str::trim).filter(|said| !said.is_empty());
    // The error's own text is not redacted yet; the body's is.
    let message = match (said, rpc_error.is_some()) {
        (Some(said), false) => format!("was answered with {words}: {}", truncate(said, 200)),
        (Some(_) | None, _) => format!("was answered with {words}"),
    };
    let asks = match facts.status {
        Some(401 | 403) => facts.headers.get("www-authenticate"),
        Some(407) => facts.headers.get("proxy-authenticate"),
        Some(_) | None => None,
    };
    let message = match asks.and_then(Value::as_str) {
        Some(asks) => format!("{message}; it asks for {asks}"),
        None => message,
    };
    HttpEnd {
        facts,
        message,
        rpc_error,
        ..HttpEnd::default()
    }
}

/// What came of a request that went through a proxy: where that can be why, it is said.
pub(super) fn through(mut end: HttpEnd, proxy: Option<&NamedProxy>) -> HttpEnd {
    set_proxy(&mut end.facts, proxy);
    let may_be_why = end.facts.error.as_deref() == Some(NO_TUNNEL)
        || matches!(
            end.facts.status,
            None | Some(403..=405 | 407 | 410 | 500..=504)
        );
    if let (Some(NamedProxy { address, variable }), true) = (proxy, may_be_why) {
        let by = variable.map_or_else(
            || "the settings of the system name".to_owned(),
            |variable| format!("`{variable}` names"),
        );
        let note = format!("; it went through the proxy {address}, which {by}");
        end.message.push_str(&note);
    }
    end
}

pub(super) fn set_proxy(facts: &mut HttpFacts, proxy: Option<&NamedProxy>) {
    facts.proxy = proxy.map(|proxy| proxy.address.clone());
    facts.proxy_variable = proxy.and_then(|proxy| proxy.variable.map(str::to_owned));
}

/// An answer that asks for a token which is not to be had.
pub(super) fn unauthorized(mut facts: HttpFacts, error: &AuthError) -> HttpEnd {
    let words = in_words(facts.status.unwrap_or_default());
    let message = format!("was answered with {words}, and authorization failed: {error}");
    facts.error = Some(error.stage.name().to_owned());
    facts.text = Some(error.text.clone());
    useless(facts, message)
}

/// The JSON-RPC error in a body, whomever it names.
fn rpc_error(bytes: &[u8]) -> Option<RpcError> {
    let mut body = read_json(std::str::from_utf8(bytes).ok()?)?;
    body.get("jsonrpc")?;
    serde_json::from_value(body.get_mut("error")?.take()).ok()
}

/// An answer whose body is not what its `Content-Encoding` says.
pub(super) fn ill_packed(facts: HttpFacts, error: &str) -> HttpEnd {
    let coding = facts
        .headers
        .get("content-encoding")
        .and_then(Value::as_str);
    let coding = coding.unwrap_or_default().to_owned();
    let message = format!("was answered with a body packed as `{coding}` that can't be unpacked");
    let what = format!("packs its answer as `{coding}`, and it can't be unpacked: {error}");
    breach(facts, message, what)
}

/// An answer that jelly reads no further, for a limit of its own.
pub(super) fn beyond(facts: HttpFacts, limit: OwnLimit, message: impl Into<String>) -> HttpEnd {
    HttpEnd {
        own_limit: Some(limit),
        ..useless(facts, message)
    }
}

/// An answer that is none to the request, for the reason that `message` says.
pub(super) fn useless(facts: HttpFacts, message: impl Into<String>) -> HttpEnd {
    HttpEnd {
        facts,
        message: message.into(),
        ..HttpEnd::default()
    }
}

/// The same where the reason is a breach; `what` completes "the server …".
pub(super) fn breach(facts: HttpFacts, message: impl Into<String>, what: String) -> HttpEnd {
    HttpEnd {
        breach: Some(what),
        ..useless(facts, message)
    }
}

/// No answer, or one that broke off after its head: what the transport says.
pub(super) fn lost(error: reqwest::Error, head: Option<HttpFacts>, redactor: &Redactor) -> HttpEnd {
    let mut facts = head.unwrap_or_default();
    let started = facts.status.is_some();
    let kind = kind_of(&error);
    if kind == PROXY_AUTH {
        // The proxy answered, in the place of the server.
        let status = StatusCode::PROXY_AUTHENTICATION_REQUIRED.as_u16();
        facts.status = Some(status);
        return useless(facts, format!("was answered with {}", in_words(status)));
    }
    let mut text = in_full(&error).replace(OF_AUTHORITY, OF_AUTHORITY_IN_WORDS);
    if kind == "tls"
        && text.starts_with(PEER_CERTIFICATE)
        && UNKNOWN_AUTHORITY.iter().any(|why| text.contains(why))
        && let Some(flaw) = flaw_of_named_authorities()
    {
        text = format!("{text}; {flaw}");
    }
    let text = redactor.redact(&text).into_owned();
    let message = match (started, kind) {
        (true, _) => format!("got an answer that broke off: {text}"),
        (false, "request") => format!("could not be sent: {text}"),
        (false, _) => format!("got no answer: {text}"),
    };
    facts.error = Some(kind.to_owned());
    facts.text = Some(text);
    useless(facts, message)
}

/// Whether what was said of TLS is said again however often it is asked: a certificate that is
/// not trusted, or one that the client lacks, and that the peer speaks no TLS at all. Other
/// alerts may be those of a server that is not ready yet.
pub(super) fn stays_refused(facts: &HttpFacts) -> bool {
    let said = facts.text.as_deref().unwrap_or_default();
    facts.error.as_deref() == Some("tls")
        && (said.contains(PEER_CERTIFICATE)
            || said.contains(NO_TLS)
            || OF_CLIENT.iter().any(|alert| said.contains(alert)))
}

/// What is to be said of a body of which no more comes.
pub(super) fn broke_off(error: BodyError, head: HttpFacts, redactor: &Redactor) -> HttpEnd {
    match error {
        BodyError::Lost(error) => lost(error, Some(head), redactor),
        BodyError::Packed(error) => ill_packed(head, &error),
    }
}

/// A body in JSON in which no answer was found.
pub(super) fn without_answer(
    mut head: HttpFacts,
    bytes: &[u8],
    understood: Understood,
) -> Box<HttpEnd> {
    let words = in_words(head.status.unwrap_or_default());
    let (kind, what) = match (bytes.trim_ascii().is_empty(), understood) {
        (true, _) => (Some("empty_body"), "no body"),
        (false, Understood::Message) => (None, "messages of which none answers it"),
        (false, Understood::Nothing) if is_cut_off(bytes) => {
            (Some("cut_off_json"), "JSON that breaks off before its end")
        }
        (false, Understood::Nothing) => (Some("no_message"), "a body that is no JSON-RPC message"),
        (false, Understood::Beyond(_)) => (None, "a body that is beyond what jelly reads"),
    };
    head.error = kind.map(str::to_owned);
    let message = format!("was answered with {words} and {what}");
    no_answer(understood, head, message)
}

/// Whether JSON ends before it is whole.
fn is_cut_off(bytes: &[u8]) -> bool {
    let read = serde_json::from_slice::<IgnoredAny>(bytes);
    read.is_err_and(|error| error.is_eof())
}

/// A body of another kind than those that are due.
pub(super) fn of_another_kind(
    mut head: HttpFacts,
    kind: &str,
    empty: bool,
    understood: Understood,
) -> Box<HttpEnd> {
    let words = in_words(head.status.unwrap_or_default());
    let name = match empty {
        true => "empty_body",
        false if kind.contains("html") => "html",
        false => "media_type",
    };
    head.error = Some(name.to_owned());
    let message = match empty {
        true => format!("was answered with {words} and no body"),
        false => format!(
            "was answered with {words} and a body of {kind}, where JSON or an event stream is due"
        ),
    };
    no_answer(understood, head, message)
}

/// A body in which no answer was found.
fn no_answer(understood: Understood, head: HttpFacts, message: String) -> Box<HttpEnd> {
    Box::new(match understood {
        Understood::Beyond(limit) => beyond(head, limit, message),
        Understood::Message | Understood::Nothing => useless(head, message),
    })
}

/// An event stream that ended before the answer was in it. The body that its head has
/// is the last event that was no message.
pub(super) fn stream_ended(
    ended: Option<BodyError>,
    mut head: HttpFacts,
    mid_event: bool,
    redactor: &Redactor,
) -> HttpEnd {
    // The stream came whole, and what was to be the answer in it did not.
    if let (None, false, Some(event)) = (&ended, mid_event, &head.body) {
        // What jelly cut itself is no evidence.
        let is_whole = event.len() < BODY_BYTES;
        let (kind, what) = match is_whole && is_cut_off(event.as_bytes()) {
            true => ("cut_off_json", "JSON that breaks off before its end"),
            false => ("no_message", "no JSON-RPC message"),
        };
        let words = in_words(head.status.unwrap_or_default());
        let message = format!(
            "was answered with {words} and an event stream that ended before its answer came: its last \
             event is {what}"
        );
        head.error = Some(kind.to_owned());
        return useless(head, message);
    }
    let place = match mid_event {
        true => "in the middle of an event",
        false => "before its answer came",
    };
    let mut end = match ended {
        Some(BodyError::Packed(error)) => return ill_packed(head, &error),
        Some(BodyError::Lost(error)) => lost(error, Some(head), redactor),
        None => {
            let mut end = useless(head, "");
            end.facts.error = Some("closed".to_owned());
            end
        }
    };
    let cause = end.facts.text.take();
    let text = format!("the event stream ended {place}");
    end.message = format!("got no answer: {text}");
    end.facts.text = Some(match cause {
        Some(cause) => format!("{text}: {cause}"),
        None => text,
    });
    end
}

/// How rustls says that a server shows the certificate of an authority, and how it may be read.
const OF_AUTHORITY: &str = "Other(OtherError(CaUsedAsEndEntity))";
const OF_AUTHORITY_IN_WORDS: &str = "it is one of an authority (CaUsedAsEndEntity), as \
    `openssl req -x509` makes it, and not itself trusted";

/// What it says of an authority that it does not know.
const UNKNOWN_AUTHORITY: [&str; 2] = ["UnknownIssuer", "CaUsedAsEndEntity"];

/// How rustls names the alerts that are about the certificate of the client.
const OF_CLIENT: [&str; 6] = [
    "fatal alert: BadCertificate",
    "fatal alert: UnknownCA",
    "fatal alert: CertificateRequired",
    "fatal alert: CertificateUnknown",
    "fatal alert: CertificateExpired",
    "fatal alert: AccessDenied",
];

/// How rustls begins to say why it does not trust a server.
const PEER_CERTIFICATE: &str = "invalid peer certificate";

/// How errors of rustls begin, which come wrapped so that their type is lost.
const SAID_OF_TLS: [&str; 6] = [
    PEER_CERTIFICATE,
    "peer is incompatible",
    "peer misbehaved",
    "received corrupt message",
    "received fatal alert",
    "tls handshake",
];

/// How rustls says that what came is none of its records.
const NO_TLS: &str = "received corrupt message of type InvalidContentType";

/// How hyper says that its peer speaks something else.
const SAID_OF_NO_HTTP: [&str; 2] = ["invalid HTTP", "received unexpected message"];

/// What is refused by the proxy, in the words of those that ask it for a tunnel, and what
/// of it jelly does not speak.
const SAID_OF_PROXIES: [(&str, &str); 3] = [
    ("tunnel error: proxy authorization required", PROXY_AUTH),
    ("tunnel error: unsuccessful", NO_TUNNEL),
    ("unsupported scheme socks", "proxy_scheme"),
];
const PROXY_AUTH: &str = "proxy_auth";
/// The proxy made no tunnel, for whatever reason.
pub(super) const NO_TUNNEL: &str = "proxy_refused";

/// What an error is about, in a word.
fn kind_of(error: &reqwest::Error) -> &'static str {
    if error.is_builder() {
        return "request";
    }
    let mut kind = if error.is_connect() {
        "connect"
    } else {
        "closed"
    };
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = cause {
        if let Some(error) = error.downcast_ref::<io::Error>() {
            kind = match error.kind() {
                io::ErrorKind::ConnectionRefused => "connection_refused",
                io::ErrorKind::ConnectionReset | io::ErrorKind::BrokenPipe => "connection_reset",
                io::ErrorKind::TimedOut => "Timeout",
                _ => kind,
            };
        }
        let text = error.to_string();
        if error.is::<rustls::Error>() || SAID_OF_TLS.iter().any(|said| text.starts_with(said)) {
            return "tls";
        }
        let mut of_proxies = SAID_OF_PROXIES.into_iter();
        if let Some((_, kind)) = of_proxies.find(|(said, _)| text.starts_with(said)) {
            return kind;
        }
        if text.starts_with("dns error") {
            kind = "dns";
        } else if SAID_OF_NO_HTTP.iter().any(|said| text.starts_with(said)) {
            kind = "invalid_http";
        }
        cause = error.source();
    }
    kind
}

/// The error with its causes, each said once, the general ones left out where
/// a cause says more, and without the URL, which may hold a secret.
pub(super) fn in_full(error: &reqwest::Error) -> String {
    let mut parts: Vec<String> = Vec::new();
    let mut cause: Option<&(dyn Error + 'static)> = error.source();
    while let Some(error) = cause {
        let text = error.to_string();
        let general = text.starts_with("client error (") || text == "connection error";
        if !general {
            match parts.last_mut() {
                // Some show their cause themselves.
                Some(last) if last.ends_with(&text) => {}
                _ => parts.push(text),
            }
        }
        cause = error.source();
    }
    if parts.is_empty() {
        return if error.is_connect() {
            "the connection could not be made".to_owned()
        } else {
            "the connection was closed".to_owned()
        };
    }
    parts.join(": ")
}

#[cfg(test)]
mod tests {
    use super::{body, in_seconds, of_head, refused, stream_ended};
    use jelly_base::model::HttpFacts;
    use jelly_base::text::redact::Redactor;
    use reqwest::StatusCode;
    use reqwest::header::{HeaderMap, HeaderValue};

    #[test]
    fn only_headers_that_tell_something_are_kept_and_no_secret_in_them() {
        let redactor = Redactor::new([("KEY", "swordfish")]);
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("mcp-session-id", "deadbeef"),
            ("set-cookie", "a=b"),
            ("www-authenticate", "Bearer error=\"swordfish\""),
        ] {
            headers.insert(name, HeaderValue::from_static(value));
        }
        let facts = of_head(StatusCode::UNAUTHORIZED, &headers, &redactor);
        assert_eq!(facts.status, Some(401));
        assert_eq!(facts.headers.len(), 1);
        assert_eq!(
            facts.headers["www-authenticate"],
            "Bearer error=\"[secret KEY]\""
        );
    }

    #[test]
    fn a_header_that_is_a_part_of_a_list_is_told_with_the_others_of_its_name() {
        let mut headers = HeaderMap::new();
        for (name, value) in [
            ("www-authenticate", "Negotiate"),
            ("location", "/a"),
            (
                "www-authenticate",
                "Basic realm=\"Acme, Inc. \\\"prod\\\"\"",
            ),
            ("location", "/b"),
        ] {
            headers.append(name, HeaderValue::from_static(value));
        }
        let facts = of_head(StatusCode::UNAUTHORIZED, &headers, &Redactor::none());
        assert_eq!(
            facts.headers["www-authenticate"],
            "Negotiate, Basic realm=\"Acme, Inc. \\\"prod\\\"\""
        );
        assert_eq!(facts.headers["location"], "/a");
        for _ in 0..100 {
            headers.append("via", HeaderValue::from_static("1.1 a-proxy-with-a-name"));
        }
        let facts = of_head(StatusCode::UNAUTHORIZED, &headers, &Redactor::none());
        assert!(facts.headers["via"].to_string().len() < 300, "{facts:?}");
    }

    #[test]
    fn a_pause_until_a_date_is_told_in_seconds_of_the_servers_clock() {
        let mut headers = HeaderMap::new();
        let now = HeaderValue::from_static("Sun, 06 Nov 1994 08:49:07 GMT");
        headers.insert("date", now);
        let until = "Sun, 06 Nov 1994 08:49:37 GMT";
        assert_eq!(in_seconds(until, &headers), "30");
        assert_eq!(in_seconds("Sun, 06 Nov 1994 08:00:00 GMT", &headers), "0");
        assert_eq!(in_seconds("120", &headers), "120");
    }

    #[test]
    fn a_secret_across_the_cut_of_a_body_is_not_shown() {
        let redactor = Redactor::new([("KEY", "swordfish")]);
        let long = format!("{}swordfish", "x".repeat(super::BODY_BYTES - 4));
        let shown = body(long.as_bytes(), &redactor).unwrap();
        assert!(!shown.contains("swo") && shown.len() <= super::BODY_BYTES + 16);
    }

    #[test]
    fn the_error_in_a_refusal_is_taken_whomever_it_names_and_only_from_json_rpc() {
        let head = || {
            of_head(
                StatusCode::BAD_REQUEST,
                &HeaderMap::new(),
                &Redactor::none(),
            )
        };
        let named = br#"{"jsonrpc":"2.0","id":null,"error":{"code":-32000,"message":"no"}}"#;
        assert_eq!(refused(head(), named).rpc_error.unwrap().code, Some(-32000));
        let other = br#"{"error":{"code":400,"message":"no"}}"#;
        let end = refused(head(), other);
        assert_eq!(end.rpc_error, None);
        assert_eq!(end.message, "was answered with HTTP 400 Bad Request");
    }

    #[test]
    fn an_event_that_is_cut_off_is_told_as_a_body_is() {
        let ended = |body: Option<&str>, mid_event: bool| {
            let head = HttpFacts {
                status: Some(200),
                body: body.map(str::to_owned),
                ..HttpFacts::default()
            };
            let end = stream_ended(None, head, mid_event, &Redactor::none());
            end.facts.error.unwrap()
        };
        let cut_off = "{\"jsonrpc\":\"2.0\",\"id\"";
        assert_eq!(ended(Some(cut_off), false), "cut_off_json");
        assert_eq!(ended(Some("soon"), false), "no_message");
        assert_eq!(ended(Some(cut_off), true), "closed");
        assert_eq!(ended(None, false), "closed");
    }
}
