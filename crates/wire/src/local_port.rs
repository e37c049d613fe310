//! Whether somebody listens already where a process that jelly starts is to be
//! reached: what answers there would be taken for it.
//!
//! Main type: [`LocalPort`].

use reqwest::Url;
use std::net::{IpAddr, Ipv4Addr, Ipv6Addr, SocketAddr};
use std::time::Duration;
use tokio::net::TcpStream;
use tokio::time::{Instant, sleep, timeout};

/// How long whoever listens there may take to be gone: it may be what jelly has
/// stopped a moment ago.
const CLOSING: Duration = Duration::from_secs(1);
/// How often it is looked.
const LOOK: Duration = Duration::from_millis(50);
/// How long one look may take. On the own machine the answer comes at once.
const ONE_LOOK: Duration = Duration::from_millis(500);

/// A port of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct LocalPort {
    /// The addresses by which a client would try it.
    hosts: Vec<IpAddr>,
    port: u16,
}

impl LocalPort {
    /// Of the loopback interface.
    #[must_use]
    pub fn of(port: u16) -> Self {
        Self {
            hosts: vec![Ipv4Addr::LOCALHOST.into()],
            port,
        }
    }

    /// The one that a URL names; none where its host is not surely this machine.
    #[must_use]
    pub fn of_url(url: &str) -> Option<Self> {
        let url = Url::parse(url).ok()?;
        let port = url.port_or_known_default()?;
        let host = url.host_str()?.trim_matches(['[', ']']);
        if host == "localhost" {
            return Some(Self {
                hosts: vec![Ipv4Addr::LOCALHOST.into(), Ipv6Addr::LOCALHOST.into()],
                port,
            });
        }
        let address: IpAddr = host.parse().ok()?;
        let address = match address {
            IpAddr::V4(any) if any.is_unspecified() => Ipv4Addr::LOCALHOST.into(),
            IpAddr::V6(any) if any.is_unspecified() => Ipv6Addr::LOCALHOST.into(),
            other => other,
        };
        let hosts = vec![address];
        address.is_loopback().then_some(Self { hosts, port })
    }

    #[must_use]
    pub fn number(&self) -> u16 {
        self.port
    }

    /// What stands in the way of a process that is to listen there, in words; none
    /// once nobody takes connections there. Nothing is sent.
    pub async fn taken(&self) -> Option<String> {
        let until = Instant::now() + CLOSING;
        loop {
            let at = self.listener().await?;
            if Instant::now() >= until {
                let port = self.port;
                return Some(format!(
                    "port {port} is already in use: another program takes connections at {at}, \
                     and would be taken for it"
                ));
            }
            sleep(LOOK).await;
        }
    }

    /// Where somebody takes connections.
    async fn listener(&self) -> Option<SocketAddr> {
        for host in &self.hosts {
            let at = SocketAddr::new(*host, self.port);
            if matches!(timeout(ONE_LOOK, TcpStream::connect(at)).await, Ok(Ok(_))) {
                return Some(at);
            }
        }
        None
    }
}

#[cfg(test)]
mod tests {
    use super::LocalPort;

    #[test]
    fn only_ports_of_this_machine_are_looked_at() {
        for (url, hosts) in [
            ("http://127.0.0.1:8000/mcp", "127.0.0.1"),
            ("http://0.0.0.0:8000/mcp", "127.0.0.1"),
            ("http://[::1]:8000/mcp", "::1"),
            ("http://localhost:8000/mcp", "127.0.0.1 ::1"),
        ] {
            let port = LocalPort::of_url(url).unwrap();
            let found: Vec<String> = port.hosts.iter().map(ToString::to_string).collect();
            assert_eq!((found.join(" "), port.number()), (hosts.to_owned(), 8000));
        }
        let known = LocalPort::of_url("http://localhost/mcp").unwrap();
        assert_eq!(known.number(), 80);
        for url in [
            "http://10.0.0.1:8000/",
            "https://mcp.example.org/",
            "no url",
        ] {
            assert_eq!(LocalPort::of_url(url), None, "{url}");
        }
    }
}
