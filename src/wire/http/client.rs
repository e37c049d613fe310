//! The HTTP client: what holds for every request of jelly.

use reqwest::{Client, Url, redirect};
use std::net::IpAddr;
use std::time::Duration;

/// Idle connections are given up before most servers do so, some of which
/// close them after five seconds: a request that crosses that is lost.
const IDLE: Duration = Duration::from_secs(4);

/// A client that follows no redirect by itself, unpacks nothing, has no time
/// limits of its own, and goes through no proxy to what is `near`.
pub(super) fn client_for(near: bool) -> reqwest::Result<Client> {
    // Another one may be there already, which is as good.
    let _ = rustls::crypto::ring::default_provider().install_default();
    let mut client = Client::builder()
        .user_agent(concat!("jelly/", env!("CARGO_PKG_VERSION")))
        .redirect(redirect::Policy::none())
        .referer(false)
        .pool_idle_timeout(IDLE);
    if near {
        client = client.no_proxy();
    }
    client.build()
}

/// Whether the URL names this machine, where no proxy belongs in between.
pub(super) fn is_loopback(url: &Url) -> bool {
    let host = url.host_str().unwrap_or_default();
    let bare = host.trim_start_matches('[').trim_end_matches(']');
    bare == "localhost"
        || bare.ends_with(".localhost")
        || bare.parse::<IpAddr>().is_ok_and(|ip| ip.is_loopback())
}

#[cfg(test)]
mod tests {
    use super::is_loopback;
    use reqwest::Url;

    #[test]
    fn this_machine_is_reached_without_a_proxy() {
        for url in [
            "http://127.0.0.1:1/",
            "http://localhost/",
            "http://[::1]:8/",
            "http://127.8.8.8",
        ] {
            assert!(is_loopback(&Url::parse(url).unwrap()), "{url}");
        }
        assert!(!is_loopback(
            &Url::parse("http://127.0.0.1.example.org/").unwrap()
        ));
    }
}
