//! Who may ask a server of ours over HTTP, by the headers of a request alone.
//!
//! A page in a browser can be made to call a server on the loopback address:
//! by a name that is bound anew to 127.0.0.1 (its `Host` betrays it), or
//! directly (its `Origin` does). So the specification has both validated. An
//! address that others can reach needs a token.
//!
//! Main type: [`ListenGuard`]. It reads no request and writes no answer.

use std::net::{IpAddr, Ipv6Addr, SocketAddr};

/// What a server that listens lets through.
#[derive(Clone)]
pub struct ListenGuard {
    /// Where it listens.
    bound: SocketAddr,
    /// What each request has to bring.
    token: Option<String>,
}

/// Why nothing may listen there.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum ListenRefusal {
    #[error("{0} can be reached from other machines, and no token is asked for")]
    NoToken(SocketAddr),
    #[error("the token is empty")]
    EmptyToken,
    #[error("the token holds characters that no header can carry")]
    UnsendableToken,
}

/// Why a request is refused.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
pub enum RequestRefusal {
    #[error("the Host header names another server than this one")]
    Host,
    #[error("the Origin header names a page that has no business here")]
    Origin,
    #[error("the Authorization header does not bring the token")]
    Token,
}

impl RequestRefusal {
    /// The HTTP status that says so.
    #[must_use]
    pub fn status(self) -> u16 {
        match self {
            Self::Host | Self::Origin => 403,
            Self::Token => 401,
        }
    }
}

impl ListenGuard {
    /// # Errors
    /// Nothing may listen at `bound` with this token.
    pub fn new(bound: SocketAddr, token: Option<String>) -> Result<Self, ListenRefusal> {
        match &token {
            None if !is_loopback(bound.ip()) => return Err(ListenRefusal::NoToken(bound)),
            Some(token) if token.is_empty() => return Err(ListenRefusal::EmptyToken),
            Some(token) if !token.bytes().all(|byte| byte.is_ascii_graphic()) => {
                return Err(ListenRefusal::UnsendableToken);
            }
            Some(_) | None => {}
        }
        Ok(Self { bound, token })
    }

    /// The same for the port that the system chose.
    #[must_use]
    pub fn at(self, bound: SocketAddr) -> Self {
        Self { bound, ..self }
    }

    /// Judges a request by its headers, whose names may be in any case.
    ///
    /// # Errors
    /// It is not to be answered.
    pub fn check<'h>(
        &self,
        headers: impl Iterator<Item = (&'h str, &'h [u8])> + Clone,
    ) -> Result<(), RequestRefusal> {
        let host = the_one(headers.clone(), "host").map_err(|_| RequestRefusal::Host)?;
        let host = host.and_then(Authority::read).ok_or(RequestRefusal::Host)?;
        let here = is_loopback(self.bound.ip());
        // By another name, a machine that can be reached is asked all the time.
        if here && !(host.is_local() && host.port.unwrap_or(80) == self.bound.port()) {
            return Err(RequestRefusal::Host);
        }
        let origin = the_one(headers.clone(), "origin").map_err(|_| RequestRefusal::Origin)?;
        if let Some(origin) = origin {
            let page = page_of(origin).ok_or(RequestRefusal::Origin)?;
            let same = page.host == host.host && page.port == host.port;
            // A tool with a page of its own listens at another port.
            if !(if here { page.is_local() } else { same }) {
                return Err(RequestRefusal::Origin);
            }
        }
        let Some(token) = &self.token else {
            return Ok(());
        };
        let sent = the_one(headers, "authorization").map_err(|_| RequestRefusal::Token)?;
        match sent.and_then(bearer) {
            Some(sent) if is_same(sent.as_bytes(), token.as_bytes()) => Ok(()),
            Some(_) | None => Err(RequestRefusal::Token),
        }
    }
}

/// More than one of a kind, or bytes that are no text.
struct Unclear;

/// The value of a header that may stand there once.
fn the_one<'h>(
    headers: impl Iterator<Item = (&'h str, &'h [u8])>,
    name: &str,
) -> Result<Option<&'h str>, Unclear> {
    let mut values = headers.filter(|(other, _)| other.eq_ignore_ascii_case(name));
    let Some((_, value)) = values.next() else {
        return Ok(None);
    };
    match (values.next(), std::str::from_utf8(value)) {
        (None, Ok(value)) => Ok(Some(value.trim())),
        _ => Err(Unclear),
    }
}

/// A host with its port, as headers name it.
struct Authority {
    host: String,
    port: Option<u16>,
}

impl Authority {
    fn read(text: &str) -> Option<Self> {
        let (host, port) = match text.strip_prefix('[') {
            Some(rest) => {
                let (host, port) = rest.split_once(']')?;
                host.parse::<Ipv6Addr>().ok()?;
                let port = match port {
                    "" => None,
                    port => Some(port.strip_prefix(':')?),
                };
                (host, port)
            }
            None => match text.split_once(':') {
                Some((host, port)) => (host, Some(port)),
                None => (text, None),
            },
        };
        let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || b".-_:".contains(&byte);
        if host.is_empty() || !host.bytes().all(is_plain) {
            return None;
        }
        let port = match port {
            None => None,
            Some(port) if port.bytes().all(|byte| byte.is_ascii_digit()) => {
                Some(port.parse().ok()?)
            }
            Some(_) => return None,
        };
        Some(Self {
            host: host.to_ascii_lowercase(),
            port,
        })
    }

    fn is_local(&self) -> bool {
        self.host == "localhost" || self.host.parse().is_ok_and(is_loopback)
    }
}

/// The page that an origin stands for; an opaque one, `null`, is nobody's.
fn page_of(origin: &str) -> Option<Authority> {
    let (scheme, page) = origin.split_once("://")?;
    let is_web = ["http", "https"]
        .iter()
        .any(|web| scheme.eq_ignore_ascii_case(web));
    if is_web { Authority::read(page) } else { None }
}

fn is_loopback(ip: IpAddr) -> bool {
    ip.to_canonical().is_loopback()
}

fn bearer(sent: &str) -> Option<&str> {
    let (scheme, token) = sent.split_once(' ')?;
    scheme
        .eq_ignore_ascii_case("bearer")
        .then_some(token.trim_start())
}

/// Takes as long whatever differs, so that no token is guessed letter by
/// letter.
fn is_same(sent: &[u8], token: &[u8]) -> bool {
    let differ = token.iter().enumerate().fold(0, |differ, (at, byte)| {
        differ | (byte ^ sent.get(at).copied().unwrap_or_default())
    });
    std::hint::black_box(differ) == 0 && sent.len() == token.len()
}

#[cfg(test)]
mod tests {
    use super::{ListenGuard, ListenRefusal, RequestRefusal};

    const HERE: &str = "127.0.0.1:8089";
    const OUTSIDE: &str = "0.0.0.0:8089";

    fn judge(
        bound: &str,
        token: Option<&str>,
        headers: &[(&str, &str)],
    ) -> Result<(), RequestRefusal> {
        let token = token.map(str::to_owned);
        let guard = ListenGuard::new(bound.parse().unwrap(), token).unwrap();
        let headers = headers
            .iter()
            .map(|(name, value)| (*name, value.as_bytes()));
        guard.check(headers)
    }

    #[test]
    fn an_address_that_others_reach_needs_a_token() {
        let open = |bound: &str, token: Option<&str>| {
            let guard = ListenGuard::new(bound.parse().unwrap(), token.map(str::to_owned));
            guard.map(drop)
        };
        for local in [
            "127.0.0.1:0",
            "127.3.2.1:80",
            "[::1]:9",
            "[::ffff:127.0.0.1]:9",
        ] {
            assert_eq!(open(local, None), Ok(()), "{local}");
        }
        for reached in ["0.0.0.0:0", "192.168.1.4:80", "[::]:9", "[fe80::1]:9"] {
            let bound = reached.parse().unwrap();
            assert_eq!(open(reached, None), Err(ListenRefusal::NoToken(bound)));
            assert_eq!(open(reached, Some("t0ken")), Ok(()), "{reached}");
        }
        assert_eq!(open(HERE, Some("")), Err(ListenRefusal::EmptyToken));
        for unsendable in ["a b", "a\nb", "ü"] {
            let refused = open(HERE, Some(unsendable));
            assert_eq!(refused, Err(ListenRefusal::UnsendableToken));
        }
    }

    #[test]
    fn on_the_loopback_address_only_a_local_name_of_this_port_is_answered() {
        for good in [
            "127.0.0.1:8089",
            "localhost:8089",
            "LOCALHOST:8089",
            "[::1]:8089",
        ] {
            assert_eq!(judge(HERE, None, &[("Host", good)]), Ok(()), "{good}");
        }
        let bad = [
            "evil.example:8089",
            "localhost.evil.example:8089",
            "127.0.0.1.evil.example:8089",
            "localhost",
            "localhost:8090",
            "localhost:",
            "localhost:+8089",
            "user@localhost:8089",
            "[::1",
            "[::1]8089",
            "",
        ];
        for bad in bad {
            let refused = judge(HERE, None, &[("host", bad)]);
            assert_eq!(refused, Err(RequestRefusal::Host), "{bad:?}");
        }
        assert_eq!(judge(HERE, None, &[]), Err(RequestRefusal::Host));
        let twice = [("host", "localhost:8089"), ("Host", "localhost:8089")];
        assert_eq!(judge(HERE, None, &twice), Err(RequestRefusal::Host));
        assert_eq!(
            judge("127.0.0.1:80", None, &[("host", "localhost")]),
            Ok(())
        );
    }

    #[test]
    fn a_page_from_elsewhere_is_refused() {
        let from = |bound: &str, origin: &str| {
            let headers = [
                ("host", "localhost:8089"),
                ("origin", origin),
                ("authorization", "Bearer t0ken"),
            ];
            judge(bound, Some("t0ken"), &headers)
        };
        for good in [
            "http://localhost:8089",
            "http://127.0.0.1:6274",
            "https://[::1]",
        ] {
            assert_eq!(from(HERE, good), Ok(()), "{good}");
        }
        let bad = [
            "http://evil.example",
            "https://localhost.evil.example",
            "null",
            "file://",
            "chrome-extension://abc",
            "",
            "http://",
        ];
        for bad in bad {
            assert_eq!(from(HERE, bad), Err(RequestRefusal::Origin), "{bad:?}");
        }
        // Where anybody may ask, a page is one of the server's own or none.
        assert_eq!(from(OUTSIDE, "http://localhost:8089"), Ok(()));
        let other = from(OUTSIDE, "http://localhost:6274");
        assert_eq!(other, Err(RequestRefusal::Origin));
    }

    #[test]
    fn the_token_is_compared_as_a_whole() {
        let with = |sent: &str| {
            let headers = [("host", "jelly.example:8089"), ("authorization", sent)];
            judge(OUTSIDE, Some("t0ken"), &headers)
        };
        assert_eq!(with("Bearer t0ken"), Ok(()));
        assert_eq!(with("bearer  t0ken"), Ok(()));
        for bad in [
            "",
            "t0ken",
            "Bearer",
            "Bearer t0ke",
            "Bearer t0kens",
            "Basic t0ken",
        ] {
            assert_eq!(with(bad), Err(RequestRefusal::Token), "{bad:?}");
        }
        let without = judge(OUTSIDE, Some("t0ken"), &[("host", "jelly.example")]);
        assert_eq!(without, Err(RequestRefusal::Token));
        assert_eq!(RequestRefusal::Token.status(), 401);
        assert_eq!(RequestRefusal::Host.status(), 403);
    }
}
