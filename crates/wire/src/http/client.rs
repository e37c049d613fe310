//! The HTTP client: what holds for every request of jelly.

use super::trust;
use hyper_util::client::proxy::matcher::Matcher;
use jelly_base::text::redact::Redactor;
use reqwest::dns::{Addrs, Name, Resolve, Resolving};
use reqwest::header::{ACCEPT_ENCODING, HeaderMap, HeaderValue};
use reqwest::{Client, Url, redirect, retry};
use std::fmt;
use std::future::ready;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::sync::Arc;
use std::time::Duration;

/// Idle connections are given up before most servers do so, some of which
/// close them after five seconds: a request that crosses that is lost.
const IDLE: Duration = Duration::from_secs(4);

/// A client that follows no redirect by itself, sends nothing twice, asks for
/// nothing that is packed, has no time limits of its own, and goes through no
/// proxy to what is `near`.
///
/// One thing is left that it sends again: a request for which it took an idle
/// connection that turns out to be closed before the first byte was written.
pub(super) fn client_for(near: bool) -> reqwest::Result<Client> {
    // Another one may be there already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let provider = Arc::new(rustls::crypto::ring::default_provider());
    let mut client = Client::builder()
        .user_agent(concat!("jelly/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .referer(false)
        .retry(retry::never())
        .default_headers(HeaderMap::from_iter([(
            ACCEPT_ENCODING,
            HeaderValue::from_static("identity"),
        )]))
        .pool_idle_timeout(IDLE);
    if let Some(tls) = trust::tls(&provider) {
        client = client.tls_backend_preconfigured(tls);
    }
    if near {
        client = client.no_proxy().dns_resolver(Arc::new(ThisMachine));
    }
    client.build()
}

/// A URL as it may be shown: without what may be secret in it, which its path
/// is only if the redactor knows it.
pub(super) fn bare(url: &Url, redactor: &Redactor) -> String {
    let mut url = url.clone();
    // Those without a host have none of this.
    let _ = url.set_password(None);
    let _ = url.set_username("");
    url.set_query(None);
    url.set_fragment(None);
    redactor.redact(url.as_str()).into_owned()
}

/// A proxy that is named outside of jelly.
#[derive(Debug, Clone)]
pub(super) struct NamedProxy {
    /// As it may be shown.
    pub(super) address: String,
    /// None where the system's own settings name it.
    pub(super) variable: Option<&'static str>,
}

/// The proxy that the environment names for a URL.
pub(super) fn proxy_for(url: &Url) -> Option<NamedProxy> {
    if is_loopback(url) {
        return None;
    }
    let proxy = Matcher::from_system().intercept(&url.as_str().parse().ok()?)?;
    let uri = proxy.uri();
    let port = uri.port_u16().map(|port| format!(":{port}"));
    let scheme = uri.scheme_str().unwrap_or("http");
    Some(NamedProxy {
        address: format!("{scheme}://{}{}", uri.host()?, port.unwrap_or_default()),
        variable: variable_for(url.scheme(), |name| std::env::var(name).ok()),
    })
}

/// The variable of the environment that is to name the proxy for a URL, and names none:
/// [`Matcher`] passes over what it can't read, so that requests would go past the proxy and
/// nobody would know.
pub(super) fn unread_proxy(url: &Url) -> Option<UnreadProxy> {
    match is_loopback(url) {
        true => None,
        false => unread_proxy_in(url, |name| std::env::var(name).ok()),
    }
}

/// A variable whose value can't be read as the URL of a proxy.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct UnreadProxy {
    pub(super) variable: &'static str,
    /// Blanks before or behind it are all that is wrong.
    is_padded: bool,
}

impl fmt::Display for UnreadProxy {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            variable,
            is_padded,
        } = self;
        write!(
            f,
            "`{variable}` is set to name a proxy, and its value is no URL"
        )?;
        match is_padded {
            true => write!(f, ", for the blanks before or behind it"),
            false => Ok(()),
        }
    }
}

fn unread_proxy_in(url: &Url, value: impl Fn(&str) -> Option<String>) -> Option<UnreadProxy> {
    // As in CGI, where a header may set the variable.
    if value("REQUEST_METHOD").is_some() {
        return None;
    }
    let to = url.as_str().parse().ok()?;
    let not_for = ["NO_PROXY", "no_proxy"].into_iter().find_map(&value);
    let goes_through = |proxy: &str| {
        let none = not_for.clone().unwrap_or_default();
        let matcher = Matcher::builder().all(proxy.to_owned()).no(none).build();
        matcher.intercept(&to).is_some()
    };
    let variable = variable_for(url.scheme(), &value)?;
    let proxy = value(variable)?;
    (goes_through("http://proxy.invalid") && !goes_through(&proxy)).then(|| UnreadProxy {
        variable,
        is_padded: goes_through(proxy.trim()),
    })
}

/// The variable that names the proxy for URLs of this scheme, in the order in which
/// [`Matcher`] asks: of two ways to write a name the first that is set, and where that is
/// empty the one for all schemes.
fn variable_for(scheme: &str, value: impl Fn(&str) -> Option<String>) -> Option<&'static str> {
    let own = match scheme {
        "https" => ["HTTPS_PROXY", "https_proxy"],
        _ => ["HTTP_PROXY", "http_proxy"],
    };
    [own, ["ALL_PROXY", "all_proxy"]]
        .into_iter()
        .find_map(|names| {
            let set = |name: &'static str| Some((name, value(name)?));
            let (name, value) = names.into_iter().find_map(set)?;
            (!value.trim().is_empty()).then_some(name)
        })
}

/// Finds this machine under each of its names, and asks nobody else: a server
/// of names could send `app.localhost` anywhere (RFC 6761, section 6.3).
struct ThisMachine;

impl Resolve for ThisMachine {
    fn resolve(&self, _: Name) -> Resolving {
        let here = [
            SocketAddr::from((Ipv4Addr::LOCALHOST, 0)),
            SocketAddr::from((Ipv6Addr::LOCALHOST, 0)),
        ];
        let here: Addrs = Box::new(here.into_iter());
        Box::pin(ready(Ok(here)))
    }
}

/// Whether the URL names this machine, where no proxy belongs in between.
pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    let name = bare.strip_suffix('.').unwrap_or(bare);
    name == "localhost"
        || name.ends_with(".localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| {
            let ip = ip.to_canonical();
            // To send to no address in particular is to send to this machine.
            ip.is_loopback() || ip.is_unspecified()
        })
}

/// Whether both have scheme, host and port in common.
pub(super) fn same_origin(one: &Url, other: &Url) -> bool {
    one.origin() == other.origin()
}

#[cfg(test)]
mod tests {
    use super::{client_for, is_loopback, unread_proxy_in, variable_for};
    use reqwest::Url;
    use tokio::net::TcpListener;

    #[test]
    fn this_machine_is_reached_without_a_proxy() {
        for url in [
            "http://127.0.0.1:1/",
            "http://localhost/",
            "http://[::1]:8/",
            "http://127.8.8.8",
            "http://[::ffff:127.0.0.1]/",
            "http://0.0.0.0/",
            "http://[::]/",
            "http://localhost./",
            "http://app.localhost/",
        ] {
            assert!(is_loopback(&Url::parse(url).unwrap()), "{url}");
        }
        assert!(!is_loopback(
            &Url::parse("http://127.0.0.1.example.org/").unwrap()
        ));
    }

    #[test]
    fn the_variable_that_names_a_proxy_is_found_as_the_client_finds_the_proxy() {
        let proxy = "http://p:1";
        for (scheme, set, named) in [
            ("https", &[("https_proxy", proxy)][..], Some("https_proxy")),
            (
                "https",
                &[("HTTP_PROXY", proxy), ("ALL_PROXY", proxy)],
                Some("ALL_PROXY"),
            ),
            (
                "http",
                &[
                    ("HTTP_PROXY", ""),
                    ("http_proxy", proxy),
                    ("all_proxy", proxy),
                ],
                Some("all_proxy"),
            ),
            ("http", &[("HTTPS_PROXY", proxy)], None),
        ] {
            let value = |name: &str| {
                let mut found = set.iter().filter(|(own, _)| *own == name);
                found.next().map(|(_, value)| (*value).to_owned())
            };
            assert_eq!(variable_for(scheme, value), named, "{scheme} {set:?}");
        }
    }

    #[test]
    fn a_proxy_that_cannot_be_read_is_named() {
        let url = Url::parse("https://h.example/mcp").unwrap();
        let found = |set: &[(&str, &str)]| {
            let value = |name: &str| {
                let mut found = set.iter().filter(|(own, _)| *own == name);
                found.next().map(|(_, value)| (*value).to_owned())
            };
            unread_proxy_in(&url, value).map(|unread| unread.to_string())
        };
        for good in ["http://p:1", "p:1", "http://u:p@p:1/", "socks5://p:1", ""] {
            assert_eq!(found(&[("HTTPS_PROXY", good)]), None, "{good}");
        }
        assert_eq!(
            found(&[("HTTPS_PROXY", "http://p:1 ")]).unwrap(),
            "`HTTPS_PROXY` is set to name a proxy, and its value is no URL, for the blanks \
             before or behind it"
        );
        for bad in ["http://[bad", "http://p:1:2", "h t"] {
            let told = found(&[("https_proxy", bad)]).unwrap();
            assert!(told.starts_with("`https_proxy`"), "{told}");
            assert!(!told.contains(bad) && !told.contains("blanks"), "{told}");
        }
        let bad = ("HTTPS_PROXY", "http://[bad");
        assert!(found(&[("ALL_PROXY", "http://p:1"), bad]).is_some());
        assert_eq!(found(&[bad, ("NO_PROXY", "example")]), None);
        assert_eq!(found(&[("HTTP_PROXY", "http://[bad")]), None);
    }

    #[tokio::test]
    async fn a_name_of_this_machine_is_looked_up_nowhere_else() {
        let listener = TcpListener::bind("127.0.0.1:0").await.unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = format!("http://no-name-server-knows-it.localhost:{port}/");
        let asked = client_for(true).unwrap().get(url).send();
        tokio::select! {
            failed = asked => panic!("{failed:?}"),
            came = listener.accept() => drop(came.unwrap()),
        }
    }
}
