//! A connection without TLS to a server that has none, where `sslmode` would have
//! liked it: the password is not sent in clear then, since whoever stands in the
//! middle can say that there is no TLS.
//!
//! Main type: [`GuardedStream`].

use crate::error::{DatabaseError, unconnected};
use std::error::Error as _;
use std::io;
use std::pin::Pin;
use std::task::{Context, Poll};
use tokio::io::{AsyncRead, AsyncWrite, ReadBuf};
use tokio::net::TcpStream;
use tokio_postgres::config::{Host, SslMode};
use tokio_postgres::{Client, Config, NoTls};

/// Whether the server said that it has no TLS.
pub(crate) fn refuses_tls(error: &tokio_postgres::Error) -> bool {
    let cause = error.source().map(ToString::to_string);
    cause.is_some_and(|cause| cause.contains("does not support TLS"))
}

/// Connects to the first of the servers that takes the connection.
pub(crate) async fn connect_without_tls(mut config: Config) -> Result<Client, DatabaseError> {
    config.ssl_mode(SslMode::Disable);
    let addresses: Vec<String> = match config.get_hostaddrs() {
        [] => config.get_hosts().iter().filter_map(name_of).collect(),
        told => told.iter().map(ToString::to_string).collect(),
    };
    let ports = config.get_ports();
    let mut last = DatabaseError::Unreachable("no host is named".to_owned());
    for (at, address) in addresses.iter().enumerate() {
        let port = ports.get(at).or(ports.first()).copied().unwrap_or(5432);
        let stream = match TcpStream::connect((address.as_str(), port)).await {
            Ok(stream) => stream,
            Err(error) => {
                last = DatabaseError::Unreachable(format!("no connection: {error}"));
                continue;
            }
        };
        // It only costs time where it can't be had.
        stream.set_nodelay(true).ok();
        let connected = config.connect_raw(GuardedStream::new(stream), NoTls).await;
        let (client, connection) = connected.map_err(|error| unconnected(&error))?;
        tokio::spawn(async move { connection.await.ok() });
        return Ok(client);
    }
    Err(last)
}

fn name_of(host: &Host) -> Option<String> {
    match host {
        Host::Tcp(name) => Some(name.clone()),
        #[cfg(unix)]
        Host::Unix(_) => None,
    }
}

/// Looks through what a server says until it has let the client in, and breaks
/// off where it asks for the password in clear.
pub(crate) struct GuardedStream<S> {
    stream: S,
    watch: AuthenticationWatch,
}

impl<S> GuardedStream<S> {
    pub(crate) fn new(stream: S) -> Self {
        Self {
            stream,
            watch: AuthenticationWatch::default(),
        }
    }
}

/// Where in the server's messages the bytes stand: a letter, a length that counts
/// itself, and a body.
#[derive(Debug, Default)]
struct AuthenticationWatch {
    head: Vec<u8>,
    /// Bytes of a body that are of no interest.
    rest: usize,
    is_in: bool,
}

/// `AuthenticationOk` and `AuthenticationCleartextPassword` (the frontend/backend
/// protocol, message formats).
const OK: [u8; 4] = [0, 0, 0, 0];
const CLEARTEXT_PASSWORD: [u8; 4] = [0, 0, 0, 3];

impl AuthenticationWatch {
    /// Whether the password is asked for in clear.
    fn sees(&mut self, mut bytes: &[u8]) -> bool {
        while !self.is_in {
            let passed = self.rest.min(bytes.len());
            self.rest -= passed;
            bytes = &bytes[passed..];
            let Some((first, others)) = bytes.split_first() else {
                break;
            };
            self.head.push(*first);
            bytes = others;
            let [kind, a, b, c, d, body @ ..] = self.head.as_slice() else {
                continue;
            };
            let length = u32::from_be_bytes([*a, *b, *c, *d]);
            let length = usize::try_from(length).unwrap_or(usize::MAX);
            let body_length = length.saturating_sub(4);
            let wanted = if *kind == b'R' { 4.min(body_length) } else { 0 };
            if body.len() < wanted {
                continue;
            }
            if *kind == b'R' && body == CLEARTEXT_PASSWORD {
                return true;
            }
            self.is_in = *kind == b'R' && body == OK;
            self.rest = body_length - wanted;
            self.head.clear();
        }
        false
    }
}

impl<S: AsyncRead + Unpin> AsyncRead for GuardedStream<S> {
    fn poll_read(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        buffer: &mut ReadBuf<'_>,
    ) -> Poll<io::Result<()>> {
        let before = buffer.filled().len();
        let read = Pin::new(&mut self.stream).poll_read(context, buffer);
        let new = buffer.filled().get(before..).unwrap_or_default();
        if self.watch.sees(new) {
            return Poll::Ready(Err(io::Error::other(
                "the server has no TLS, and asks for the password in clear text, which is not \
                 sent; use sslmode=require or stronger, or sslmode=disable where the network is \
                 your own",
            )));
        }
        read
    }
}

impl<S: AsyncWrite + Unpin> AsyncWrite for GuardedStream<S> {
    fn poll_write(
        mut self: Pin<&mut Self>,
        context: &mut Context<'_>,
        bytes: &[u8],
    ) -> Poll<io::Result<usize>> {
        Pin::new(&mut self.stream).poll_write(context, bytes)
    }

    fn poll_flush(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_flush(context)
    }

    fn poll_shutdown(mut self: Pin<&mut Self>, context: &mut Context<'_>) -> Poll<io::Result<()>> {
        Pin::new(&mut self.stream).poll_shutdown(context)
    }
}

#[cfg(test)]
mod tests {
    use super::AuthenticationWatch;
    use crate::{DatabaseAddress, PostgresHistory};
    use jelly_triage::history::{HistoryStore as _, RunOrigin};
    use std::collections::BTreeMap;
    use std::io::{Read as _, Write as _};
    use std::net::{TcpListener, TcpStream};
    use std::thread;
    use std::time::{Duration, Instant};

    const PASSWORD: &str = "squeamish/ossi+frage";
    const IN_BASE64: &str = "c3F1ZWFtaXNoL29zc2krZnJhZ2U=";

    /// A message of the protocol without its letter.
    fn read_message(stream: &mut TcpStream) -> Option<Vec<u8>> {
        let mut length = [0; 4];
        stream.read_exact(&mut length).ok()?;
        let length = usize::try_from(u32::from_be_bytes(length)).ok()?;
        let mut body = vec![0; length.checked_sub(4)?];
        stream.read_exact(&mut body).ok()?;
        Some(body)
    }

    /// What a server makes of the password.
    type Says = fn(&str) -> String;

    /// A server without TLS that asks for the password in clear, and says it
    /// again in its own words; what it got to know in two connections.
    fn told_in_clear(mode: &str, says: Says) -> (Vec<String>, String) {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let server = thread::spawn(move || {
            let mut told = Vec::new();
            for stream in listener.incoming().take(2) {
                let mut stream = stream.unwrap();
                let mut first = read_message(&mut stream).unwrap_or_default();
                if first.starts_with(&80_877_103_u32.to_be_bytes()) {
                    stream.write_all(b"N").unwrap();
                    first = read_message(&mut stream).unwrap_or_default();
                }
                if first.is_empty() {
                    continue;
                }
                stream.write_all(b"R\0\0\0\x08\0\0\0\x03").unwrap();
                let mut letter = [0];
                if stream.read_exact(&mut letter).is_err() {
                    break;
                }
                let password = read_message(&mut stream).unwrap();
                let password = String::from_utf8_lossy(&password);
                let password = password.trim_end_matches('\0').to_owned();
                let said = format!("SFATAL\0C28P01\0M{}\0\0", says(&password));
                let length = u32::try_from(said.len() + 4).unwrap().to_be_bytes();
                stream.write_all(b"E").unwrap();
                stream.write_all(&length).unwrap();
                stream.write_all(said.as_bytes()).unwrap();
                told.push(password);
                break;
            }
            told
        });
        let url = format!("postgres://u@127.0.0.1:{port}/x?sslmode={mode}");
        let env = BTreeMap::from([("PGPASSWORD".to_owned(), PASSWORD.to_owned())]);
        let address = DatabaseAddress::read(&url, &env).unwrap();
        let history = PostgresHistory::new(address, RunOrigin::default());
        let error = history.look().unwrap_err().to_string();
        (server.join().unwrap(), error)
    }

    #[test]
    fn a_password_is_not_sent_in_clear_where_tls_was_refused() {
        let (told, error) = told_in_clear("prefer", str::to_owned);
        assert!(told.is_empty(), "{told:?}");
        assert!(error.contains("in clear text"), "{error}");
    }

    /// As it is, for URLs, in Base64 and in hexadecimal, and where a long text is cut.
    #[test]
    fn a_password_that_a_server_says_again_is_not_shown() {
        let says: [(Says, &str); 5] = [
            (|it| format!("password was {it}"), PASSWORD),
            (|it| it.replace('+', "%2B").replace('/', "%2f"), "squeamish"),
            (|_| format!("it was {IN_BASE64}"), "c3F1ZWFt"),
            (
                |it| it.bytes().map(|byte| format!("{byte:02x}")).collect(),
                "737175",
            ),
            (|it| format!("{}{it}", "-".repeat(295)), "squ"),
        ];
        for (says, part) in says {
            // Here it was asked for.
            let (told, error) = told_in_clear("disable", says);
            assert_eq!(told, [PASSWORD]);
            assert!(!error.contains(part), "{error}");
            assert!(error.contains("password file"), "{error}");
        }
    }

    /// A server that says nothing.
    #[test]
    fn who_is_told_to_end_waits_for_no_answer() {
        let listener = TcpListener::bind("127.0.0.1:0").unwrap();
        let port = listener.local_addr().unwrap().port();
        let url = format!("postgres://u@127.0.0.1:{port}/x?connect_timeout=60");
        let address = DatabaseAddress::read(&url, &BTreeMap::new()).unwrap();
        let history = PostgresHistory::new(address, RunOrigin::default());
        let history = history.waiting_while_not(|| true);
        let begun = Instant::now();
        let error = history.passed_as("x", None).unwrap_err().to_string();
        assert!(error.contains("a signal came"), "{error}");
        assert!(begun.elapsed() < Duration::from_secs(30));
        drop(listener);
    }

    #[test]
    fn messages_are_told_apart_however_they_come() {
        let notice = b"N\0\0\0\x0cR\0\0\0\x08\0\0\0";
        let asks = b"R\0\0\0\x08\0\0\0\x03";
        let whole = [&notice[..], asks].concat();
        assert!(AuthenticationWatch::default().sees(&whole));
        let mut watch = AuthenticationWatch::default();
        let seen: Vec<bool> = whole.iter().map(|byte| watch.sees(&[*byte])).collect();
        assert_eq!(seen.iter().filter(|seen| **seen).count(), 1);
        assert!(seen.last().unwrap());
        // Behind the last question, rows may hold anything.
        let mut watch = AuthenticationWatch::default();
        assert!(!watch.sees(b"R\0\0\0\x0c\0\0\0\x05salt"));
        assert!(!watch.sees(b"R\0\0\0\x08\0\0\0\0"));
        assert!(!watch.sees(asks));
    }
}
