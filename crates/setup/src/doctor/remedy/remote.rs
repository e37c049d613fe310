//! What mends an entry with a `url`.

use super::entries::{AS_IT_IS, Change};
use super::prescribe::{RemedyContext, blank};
use super::proxied;
use super::steps::Remedy;
use crate::doctor::by_hand::INITIALIZE;
use crate::doctor::clients::ClientFormat;
use crate::doctor::entry::{Reached, Spot};
use jelly_base::model::Diagnosis;
use jelly_base::text::redact::looks_secret;
use jelly_base::text::shell_word as word;

/// A redirect that jelly does not follow.
const REDIRECTED: &str = "network/redirected";
/// A server that takes requests for other hosts than the one in the URL alone: no path and
/// no credentials help.
const OF_ANOTHER_HOST: &[&str] = &["network/host-header-refused", "network/host-not-served"];
/// What is at the URL answers as a proxy (407).
const PROXY_AT_THE_URL: &str = "network/proxy-at-the-url";
/// One that does so for other origins.
const OF_ANOTHER_ORIGIN: &str = "network/origin-refused";

/// The advice for a server that is reached by HTTP; none for a cause of which
/// the rule has said all.
pub(super) fn remedy(diagnosis: &Diagnosis, context: &RemedyContext<'_>) -> Option<Remedy> {
    let Some(Reached::Url { url: spot, headers }) = &context.entry.reached else {
        return None;
    };
    // The filled one, without secrets.
    let url = context.failure.url.as_deref().unwrap_or(&spot.text);
    let url = &*context.redactor.redact(url);
    let (origin, path) = split(url);
    let format = context.config.client.format();
    let new = Remedy::new();
    let change = |members: String| Change {
        place: spot.place,
        members,
    };
    // Who it is asked as is not in what was shown.
    let has_user = |url: &str| {
        let rest = url.split_once("://").map_or("", |(_, rest)| rest);
        rest.split('/')
            .next()
            .is_some_and(|host| host.contains('@'))
    };
    let as_user = |url: &str| match url.split_once("://") {
        Some((scheme, rest)) if has_user(&spot.text) && !has_user(url) => {
            format!("{scheme}://{AS_IT_IS}@{rest}")
        }
        Some(_) | None => url.to_owned(),
    };
    let is_sse = |url: &str| split(url).1.trim_end_matches('/').ends_with("/sse");
    let write = |remedy: Remedy, what: &str, url: &str| {
        remedy.write(what, change(format.url(&as_user(url), is_sse(url))))
    };
    let other_port = || format!("{}{path}", with_blank_port(origin));
    let http = context.failure.http.as_ref();
    // Where it leads is known, and no guess at a path is better.
    if diagnosis.rule == REDIRECTED
        && let Some(location) = http.and_then(|http| http.headers.get("location")?.as_str())
    {
        // What the old one was told is none of the new one's business.
        let new_url = change(format.url(location, is_sse(location)));
        let remedy = new.instead_of_all();
        return Some(remedy.write("Write the address that it redirects to,", new_url));
    }
    if let Some(remedy) = proxied::remedy(diagnosis, context, url, asked_by_hand(url)) {
        return Some(remedy);
    }
    // What wants to know who asks is a proxy, and a token for the server is none of its business.
    if OF_ANOTHER_HOST.contains(&&*diagnosis.rule) || diagnosis.rule == PROXY_AT_THE_URL {
        return None;
    }
    if diagnosis.rule == OF_ANOTHER_ORIGIN {
        let is_origin = |name: &str| name.eq_ignore_ascii_case("origin");
        let sends = headers.iter().any(|(name, _)| is_origin(name));
        let others = headers.iter().filter(|(name, _)| !is_origin(name));
        let others = others.map(|(name, _)| (name.as_str(), AS_IT_IS.to_owned()));
        let members = format.member(format.members.headers, &format.table(others));
        return sends.then(|| {
            new.instead_of(&["drop-origin"]).write(
                "Take `Origin` out, which programs need not send; write",
                change(members),
            )
        });
    }
    Some(match &*diagnosis.root_cause {
        "connection_refused" if hung_up(context) && url.starts_with("http://") => write(
            new.what(format!(
                "What is at {url} takes the connection and hangs up."
            )),
            "A server of TLS does so to plain HTTP; then write",
            &url.replacen("http://", "https://", 1),
        ),
        "connection_refused" => {
            let remedy = new
                .what(format!("Nothing answers at {url}."))
                .instead_of(&["start-service"])
                .say("Start the server that is meant to be there; that it is, shows:")
                .run(format!("curl -i {}", word(url)));
            write(remedy, "Or correct host and port", &other_port())
        }
        "network_dns" => {
            let remedy = new
                .what(format!("The host of {url} is not known."))
                .instead_of(&["correct-host"]);
            let scheme = origin
                .split_once("://")
                .map_or("https", |(scheme, _)| scheme);
            let other = format!("{scheme}://{}{path}", blank("host"));
            write(remedy, "Correct the host", &other)
        }
        cause if is_refusal(cause) || matches!(status(context), Some(401 | 403)) => {
            let asked = http.and_then(|http| http.headers.get("www-authenticate")?.as_str());
            let basic = asked.is_some_and(|asked| {
                let scheme = asked.split(' ').next().unwrap_or_default();
                scheme.eq_ignore_ascii_case("basic")
            });
            let by_oauth = asked.is_some_and(|asked| asked.contains("resource_metadata"));
            let named = http.and_then(|http| named_header(http.body.as_deref()?));
            let token = |write: &str| {
                let (what, header, value) = match &named {
                    Some(header) => (
                        "what its operator gave you for it",
                        header.as_str(),
                        blank("key"),
                    ),
                    None if basic => (
                        "name and password",
                        "Authorization",
                        format!("Basic {}", blank("name:password in base 64")),
                    ),
                    None => (
                        "the token that its operator gave you",
                        "Authorization",
                        format!("Bearer {}", blank("token")),
                    ),
                };
                let what = format!("{write} {what}, in the entry");
                let members = with_header(format, headers, (header, &value));
                Remedy::new().write(what, change(members))
            };
            let login = format!("jelly login {}", word(url));
            match http.and_then(|http| http.error.as_deref()) {
                Some("auth_login") => new
                    .why(
                        "It wants a token, and on this machine nobody has logged in to it by \
                         jelly yet.",
                    )
                    // Said of plans.
                    .instead_of_all()
                    .say("Log in to it:")
                    .run(login)
                    .and(token("Or write")),
                stage => {
                    let remedy = token("Write");
                    // One that does not say who issues tokens has no login.
                    let remedy = match stage {
                        Some("auth_metadata") => remedy,
                        None if !by_oauth => remedy,
                        Some(_) | None => remedy
                            .say(
                                "Or log in to it; jelly uses the login where the entry has no \
                                 such header:",
                            )
                            .run(login),
                    };
                    // Said of plans, and of those who run them.
                    remedy.instead_of(&[
                        "client-for-ci",
                        "plan-oauth",
                        "secrets-of-forks",
                        "token-from-elsewhere",
                    ])
                }
            }
        }
        cause if cause == "wrong_endpoint" || matches!(status(context), Some(404 | 405)) => write(
            new,
            "Servers answer at `/mcp`, older ones at `/sse`; write",
            &format!("{origin}{}", other_path(path)),
        ),
        "startup_timeout" => {
            let remedy = new
                .what(format!(
                    "What is at {url} takes the connection and does not answer."
                ))
                // Said of programs that are started.
                .instead_of_all()
                .say("See for yourself whether it answers, and what:")
                .run(asked_by_hand(url));
            let what = "If another program is there, correct host and port";
            write(remedy, what, &other_port())
        }
        "invalid_argument" => {
            let other = match spot.text.split_once("://") {
                None if !spot.text.is_empty() => format!("http://{url}"),
                Some(_) | None => format!("https://{}/mcp", blank("host")),
            };
            let remedy = new.instead_of(&["write-whole-url"]);
            write(remedy, "Write an address of HTTP", &other)
        }
        _ if url.starts_with("https://") && speaks_no_tls(context) => {
            let remedy = new
                .what(format!("What answers at {url} speaks no TLS."))
                .why(
                    "`https://` asks for an encrypted connection, and a server on the same \
                     machine seldom has one.",
                )
                .instead_of(&["read-all-problems", "read-output", "see-more-by-hand"]);
            write(remedy, "Write", &url.replacen("https://", "http://", 1))
        }
        _ => return None,
    })
}

/// A client's first request, for a shell.
fn asked_by_hand(url: &str) -> String {
    format!(
        "curl -i --max-time 20 -H 'Content-Type: application/json' -H 'Accept: application/json, \
         text/event-stream' -d '{INITIALIZE}' {}",
        word(url)
    )
}

/// The header other than `Authorization` that a refusal names, as in `missing X-Api-Key
/// header`.
fn named_header(body: &str) -> Option<String> {
    let words = body.split(|c: char| !c.is_ascii_alphanumeric() && c != '-');
    let mut named = words.filter(|word| {
        let folded = word.to_ascii_lowercase();
        (folded.starts_with("x-") || folded == "api-key") && looks_secret(word)
    });
    named.next().map(str::to_owned)
}

/// The headers of the entry with this one among them.
fn with_header(
    format: &ClientFormat,
    headers: &[(String, Spot)],
    (header, value): (&str, &str),
) -> String {
    let members = headers
        .iter()
        .filter(|(name, _)| !name.eq_ignore_ascii_case(header))
        .map(|(name, _)| (name.as_str(), AS_IT_IS))
        .chain([(header, value)])
        .map(|(name, value)| (name, value.to_owned()));
    format.member(format.members.headers, &format.table(members))
}

/// Whether the connection was made, and broken off.
fn hung_up(context: &RemedyContext<'_>) -> bool {
    let message = context.failure.message.as_deref().unwrap_or_default();
    message.contains("reset by peer") || message.contains("closed before")
}

fn speaks_no_tls(context: &RemedyContext<'_>) -> bool {
    let message = context.failure.message.as_deref().unwrap_or_default();
    message.contains("InvalidContentType")
}

fn is_refusal(cause: &str) -> bool {
    ["auth", "credential", "login", "unauthorized", "token"]
        .iter()
        .any(|word| cause.contains(word))
}

fn status(context: &RemedyContext<'_>) -> Option<u16> {
    context.failure.http.as_ref().and_then(|http| http.status)
}

/// `scheme://host:port` and the rest.
fn split(url: &str) -> (&str, &str) {
    let start = url.find("://").map_or(0, |at| at + 3);
    let end = url[start..]
        .find(['/', '?', '#'])
        .map_or(url.len(), |at| start + at);
    url.split_at(end)
}

fn with_blank_port(origin: &str) -> String {
    let start = origin.find("://").map_or(0, |at| at + 3);
    match origin[start..].rfind(':') {
        Some(colon) => format!("{}:<port>", &origin[..start + colon]),
        None => format!("{origin}:<port>"),
    }
}

fn other_path(path: &str) -> &'static str {
    if path.trim_end_matches('/').ends_with("/mcp") {
        "/sse"
    } else {
        "/mcp"
    }
}
