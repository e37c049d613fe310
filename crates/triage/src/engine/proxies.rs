//! Pages that a proxy, gateway or load balancer writes itself, told from what
//! the server behind it says.
//!
//! Main function: [`is_proxy_page`]. Its table has what such pages hold, and what
//! programs between client and server call themselves in `Server` and `Via`.
//! Most of them sign whatever passes through, so that a name alone tells
//! nothing of an answer that has words of its own.

use super::clues;
use super::tables::{built, table};
use jelly_base::model::{Failure, HttpFacts};
use serde::Deserialize;
use std::collections::BTreeMap;
use std::sync::LazyLock;

/// `tables/proxies.yaml`.
#[derive(Deserialize)]
struct ProxyTable {
    /// Words of the pages, by who writes them.
    pages: BTreeMap<String, Vec<String>>,
    names: Vec<String>,
    own_words: Vec<String>,
}

static PROXIES: LazyLock<ProxyTable> = LazyLock::new(|| table(built!("proxies")));

/// Whether a server error over HTTP is, or may well be, the page of something
/// that stands before the server.
pub(super) fn is_proxy_page(failure: &Failure) -> bool {
    let Some(http) = &failure.http else {
        return false;
    };
    let fails = http
        .status
        .is_some_and(|status| (500..600).contains(&status));
    if !fails || failure.rpc_error.is_some() {
        return false;
    }
    let body = http.body.as_deref().unwrap_or_default();
    let lower = body.to_ascii_lowercase();
    let holds = |words: &String| lower.contains(words.as_str());
    if PROXIES.pages.values().flatten().any(holds) {
        return true;
    }
    let own_words = clues::trace_line(body).is_some() || PROXIES.own_words.iter().any(holds);
    if own_words || !says_nothing(lower.trim(), http.status) {
        return false;
    }
    match header(http, "server").or_else(|| header(http, "via")) {
        Some(name) => is_in_between(name) || header(http, "via").is_some_and(names_one),
        // Traefik has no name, and answers with the status in words.
        None => is_bare(body, http.status) && is_plain_text(http),
    }
}

/// Whether a body has no words but those that any program has for the status:
/// none at all, the status itself, or a page.
fn says_nothing(body: &str, status: Option<u16>) -> bool {
    body.is_empty() || is_bare(body, status) || body.starts_with('<') || is_numbered(body, status)
}

/// `Internal Server Error`, and nothing else.
fn is_bare(body: &str, status: Option<u16>) -> bool {
    status
        .and_then(http_reason)
        .is_some_and(|reason| body.eq_ignore_ascii_case(reason))
}

fn http_reason(status: u16) -> Option<&'static str> {
    Some(match status {
        500 => "Internal Server Error",
        501 => "Not Implemented",
        502 => "Bad Gateway",
        503 => "Service Unavailable",
        504 => "Gateway Timeout",
        _ => return None,
    })
}

/// `error code: 500`, as Cloudflare has it.
fn is_numbered(body: &str, status: Option<u16>) -> bool {
    status.is_some_and(|status| body == format!("error code: {status}"))
}

fn header<'h>(http: &'h HttpFacts, name: &str) -> Option<&'h str> {
    let mut found = http
        .headers
        .iter()
        .filter(|(own, _)| own.eq_ignore_ascii_case(name));
    found.next()?.1.as_str()
}

fn is_in_between(name: &str) -> bool {
    let name = name.trim().to_ascii_lowercase();
    let known = |known: &String| name.starts_with(known.as_str());
    PROXIES.names.iter().any(known)
}

/// `1.1 varnish, 1.1 google`: each entry has a protocol before its name.
fn names_one(via: &str) -> bool {
    via.split(',')
        .filter_map(|entry| entry.split_whitespace().nth(1))
        .any(is_in_between)
}

fn is_plain_text(http: &HttpFacts) -> bool {
    header(http, "content-type").is_some_and(|kind| kind.starts_with("text/plain"))
}

#[cfg(test)]
mod tests {
    use super::{PROXIES, is_proxy_page};
    use jelly_base::model::{Failure, HttpFacts, RpcError};
    use serde_json::json;

    const HTML: &str = "<html><head><title>500 Internal Server Error</title></head></html>";

    fn answered(status: u16, headers: &[(&str, &str)], body: &str) -> Failure {
        Failure {
            http: Some(HttpFacts {
                status: Some(status),
                headers: headers
                    .iter()
                    .map(|(name, value)| ((*name).to_owned(), json!(value)))
                    .collect(),
                body: (!body.is_empty()).then(|| body.to_owned()),
                ..HttpFacts::default()
            }),
            ..Failure::default()
        }
    }

    #[test]
    fn the_tables_are_in_lower_case_and_each_entry_is_known() {
        for words in PROXIES.pages.values().flatten() {
            assert_eq!(*words, words.to_ascii_lowercase());
            let page = format!("<html>{words}</html>");
            assert!(is_proxy_page(&answered(500, &[], &page)), "{words}");
        }
        for name in &PROXIES.names {
            assert_eq!(*name, name.to_ascii_lowercase());
            let signed = [("Server", &*format!("{name}1.2"))];
            assert!(is_proxy_page(&answered(500, &signed, "<html>")), "{name}");
        }
    }

    #[test]
    fn a_page_of_a_proxy_is_known_by_its_words_or_by_who_signs_what_says_nothing() {
        let plain = ("content-type", "text/plain; charset=utf-8");
        let nginx = "<html><body><center><h1>500</h1></center><hr><center>nginx/1.18.0</center></body></html>";
        for (headers, body) in [
            (&[("server", "cloudflare")][..], HTML),
            (&[("server", "cloudflare")], "error code: 500"),
            (&[("server", "nginx/1.27.0")], ""),
            (&[("server", "uvicorn"), ("via", "1.1 varnish")], HTML),
            (&[plain], "Internal Server Error"),
            (&[], nginx),
        ] {
            let page = answered(500, headers, body);
            assert!(is_proxy_page(&page), "{headers:?} {body}");
        }
    }

    #[test]
    fn what_the_server_says_itself_is_no_page_whoever_passes_it_on() {
        let through = ("server", "cloudflare");
        let plain = ("content-type", "text/plain; charset=utf-8");
        let traceback = "<html>Traceback (most recent call last):\n  File \"a.py\", line 1</html>";
        let pre = "<html><pre>TypeError: x is undefined</pre></html>";
        for (status, headers, body) in [
            (500, &[through][..], "{\"message\": \"boom\"}"),
            (500, &[through], "KeyError: 'city'"),
            (500, &[through], pre),
            (500, &[through], traceback),
            (
                500,
                &[("server", "uvicorn"), plain],
                "Internal Server Error",
            ),
            (
                500,
                &[("server", "Werkzeug/3.0")],
                "<!doctype html><title>500</title>",
            ),
            (500, &[], ""),
            (404, &[through], "<html>"),
        ] {
            let own = answered(status, headers, body);
            assert!(!is_proxy_page(&own), "{status} {headers:?} {body}");
        }
        let mut refused = answered(500, &[through], "");
        refused.rpc_error = Some(RpcError {
            code: Some(-32603),
            message: "boom".to_owned(),
            data: None,
        });
        assert!(!is_proxy_page(&refused));
    }
}
