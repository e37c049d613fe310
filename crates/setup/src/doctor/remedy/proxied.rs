//! What mends an entry with a `url` that was asked through a proxy of the
//! environment: what came may be the proxy's, and then the entry is right.

use super::prescribe::RemedyContext;
use super::steps::Remedy;
use jelly_base::model::Diagnosis;

/// Rules that speak of the proxy already: the server was not reached, so nothing
/// of its entry is to be changed.
const OF_THE_PROXY: &[&str] = &[
    "network/proxy-of-another-kind",
    "network/proxy-refuses",
    "network/proxy-unreachable",
    "network/proxy-unread",
    "network/proxy-wants-credentials",
    "network/refused-through-proxy",
];

/// The advice where the proxy may be the cause.
pub(super) fn remedy(
    diagnosis: &Diagnosis,
    context: &RemedyContext<'_>,
    url: &str,
    by_hand: String,
) -> Option<Remedy> {
    if OF_THE_PROXY.contains(&&*diagnosis.rule) {
        return Some(Remedy::new());
    }
    let http = context.failure.http.as_ref()?;
    let proxy = http.proxy.as_deref()?;
    let asks = |name: &String| name.eq_ignore_ascii_case("www-authenticate");
    // TLS goes through a proxy unread, and JSON-RPC and a challenge are a
    // server's.
    let answered = http.status.is_some();
    if answered
        && (!url.starts_with("http://")
            || context.failure.rpc_error.is_some()
            || http.headers.keys().any(asks))
    {
        return None;
    }
    let named = match &http.proxy_variable {
        Some(variable) => format!("`{variable}` names the proxy"),
        None => "The settings of the system name the proxy".to_owned(),
    };
    let remedy = Remedy::new()
        .say("If the server is to be reached without it, name the server's host in `NO_PROXY`.");
    let remedy = match (&*diagnosis.root_cause, http.status) {
        ("wrong_endpoint", _) | (_, Some(404 | 405)) => remedy.what(format!(
            "Through the proxy {proxy}, no MCP endpoint was found at {url}."
        )),
        ("startup_timeout", None) => remedy
            .what(format!(
                "Through the proxy {proxy}, nothing came from {url} in time."
            ))
            // Said of programs that are started.
            .instead_of_all()
            .say("See for yourself whether it answers, and what:")
            .run(by_hand),
        _ => remedy,
    };
    Some(match http.status {
        Some(status) => remedy.why(format!(
            "{named}, and the answer (HTTP {status}) may be the proxy's own, in the place of the \
             server's."
        )),
        None => remedy.why(format!(
            "{named}; it is not known that the server was reached."
        )),
    })
}
