//! What mends an entry with a `url`.

use super::entries::AS_IT_IS;
use super::prescribe::{RemedyContext, blank};
use crate::doctor::by_hand::INITIALIZE;
use crate::doctor::clients::ClientFormat;
use crate::doctor::entry::{Reached, Spot};
use jelly_base::model::Diagnosis;
use jelly_base::text::shell_word as word;

/// Makes the advice one for a server that is reached by HTTP.
pub(super) fn prescribe(diagnosis: &mut Diagnosis, context: &RemedyContext<'_>) {
    let Some(Reached::Url { url: spot, headers }) = &context.entry.reached else {
        return;
    };
    let at = context.config.at(spot.place);
    // The filled one, without secrets.
    let url = context.failure.url.as_deref().unwrap_or(&spot.text);
    let url = context.redactor.redact(url);
    let (origin, path) = split(&url);
    let advice = &mut diagnosis.advice;
    let format = context.config.client.format();
    let write = |what: &str, url: &str| [format!("{what} at {at}:"), format.url(url)];
    let mut instead_of: &[&str] = &[];
    let lines: Vec<String> = match &*diagnosis.root_cause {
        "connection_refused" if hung_up(context) && url.starts_with("http://") => {
            advice.what = format!("What is at {url} takes the connection and hangs up.");
            let whole = url.replacen("http://", "https://", 1);
            write("A server of TLS does so to plain HTTP; then write", &whole).into()
        }
        "connection_refused" => {
            advice.what = format!("Nothing answers at {url}.");
            instead_of = &["Start the service"];
            let mut lines = vec![
                "Start the server that is meant to be there; that it is, shows:".to_owned(),
                format!("$ curl -i {}", word(&url)),
            ];
            let other = format!("{}{path}", with_blank_port(origin));
            lines.extend(write("Or correct host and port", &other));
            lines
        }
        "network_dns" => {
            advice.what = format!("The host of {url} is not known.");
            instead_of = &["Correct the host"];
            let scheme = origin
                .split_once("://")
                .map_or("https", |(scheme, _)| scheme);
            let other = format!("{scheme}://{}{path}", blank("host"));
            write("Correct the host", &other).into()
        }
        cause if is_refusal(cause) || matches!(status(context), Some(401 | 403)) => {
            // Said of plans, and of those who run them.
            instead_of = &[
                "If the server wants OAuth",
                "In CI",
                "A token from elsewhere",
            ];
            let mut token = vec![
                format!("Write the token that its operator gave you, in the entry at {at}:"),
                with_token(format, headers),
            ];
            let login = [
                "Or log in to it; jelly uses the login where the entry has no such header:"
                    .to_owned(),
                format!("$ jelly login {}", word(&url)),
            ];
            // One that does not say who issues tokens has no login.
            let stage = context
                .failure
                .http
                .as_ref()
                .and_then(|http| http.error.as_deref());
            match stage {
                Some("auth_metadata") => token,
                Some("auth_login") => {
                    advice.why = "It wants a token, and on this machine nobody has logged in to \
                                  it by jelly yet."
                        .to_owned();
                    // Said of plans.
                    advice.fix.clear();
                    let mut lines = vec!["Log in to it:".to_owned()];
                    lines.extend(login.into_iter().skip(1));
                    token[0] = token[0].replacen("Write", "Or write", 1);
                    lines.append(&mut token);
                    lines
                }
                Some(_) | None => {
                    token.extend(login);
                    token
                }
            }
        }
        cause if cause == "wrong_endpoint" || matches!(status(context), Some(404 | 405)) => {
            let other = format!("{origin}{}", other_path(path));
            write(
                "Servers answer at `/mcp`, older ones at `/sse`; write",
                &other,
            )
            .into()
        }
        "startup_timeout" => {
            advice.what = format!("What is at {url} takes the connection and does not answer.");
            // Said of programs that are started.
            advice.fix.clear();
            let mut lines = vec![
                "See for yourself whether it answers, and what:".to_owned(),
                format!("$ {}", asked_by_hand(&url)),
            ];
            let other = format!("{}{path}", with_blank_port(origin));
            lines.extend(write(
                "If another program is there, correct host and port",
                &other,
            ));
            lines
        }
        "invalid_argument" => {
            let other = match spot.text.split_once("://") {
                None if !spot.text.is_empty() => format!("http://{url}"),
                Some(_) | None => format!("https://{}/mcp", blank("host")),
            };
            instead_of = &["Write the whole URL"];
            write("Write an address of HTTP", &other).into()
        }
        _ if url.starts_with("https://") && speaks_no_tls(context) => {
            advice.what = format!("What answers at {url} speaks no TLS.");
            advice.why = "`https://` asks for an encrypted connection, and a server on the same \
                          machine seldom has one."
                .to_owned();
            instead_of = &["Read the whole", "Run it by hand"];
            write("Write", &url.replacen("https://", "http://", 1)).into()
        }
        _ => Vec::new(),
    };
    advice
        .fix
        .retain(|line| !instead_of.iter().any(|start| line.starts_with(start)));
    advice.fix.splice(0..0, lines);
}

/// A client's first request, for a shell.
fn asked_by_hand(url: &str) -> String {
    format!(
        "curl -i --max-time 20 -H 'Content-Type: application/json' -H 'Accept: application/json, \
         text/event-stream' -d '{INITIALIZE}' {}",
        word(url)
    )
}

/// The headers of the entry with a token among them.
fn with_token(format: &ClientFormat, headers: &[(String, Spot)]) -> String {
    let token = format!("Bearer {}", blank("token"));
    let members = headers
        .iter()
        .filter(|(name, _)| !name.eq_ignore_ascii_case("authorization"))
        .map(|(name, _)| (name.as_str(), AS_IT_IS))
        .chain([("Authorization", token.as_str())])
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
