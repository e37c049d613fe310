//! What a proxy answers to the request for a tunnel.
//!
//! Main function: [`explained`]. The client says only that there was no tunnel. Whether the
//! proxy refuses, could not reach the server, or makes no tunnels at all shows in the status
//! alone, so the proxy is asked once more for it. That has no effect on the server: nothing is
//! sent through a tunnel that comes about after all.

use super::facts::{NO_TUNNEL, in_words};
use crate::HttpEnd;
use hyper_util::client::proxy::matcher::Matcher;
use reqwest::Url;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpStream;
use tokio::time::timeout;

/// What comes later than that is not waited for, since who waits for the answer has a limit. A
/// proxy that waits for the server itself (504) is not asked in vain for long.
const PATIENCE: Duration = Duration::from_secs(1);
/// So much of the answer's first line is read.
const LINE_BYTES: usize = 1024;
/// Where a proxy is asked whose URL has no port, as the client does.
const PORT: u16 = 80;

/// What came of a request to `url`; where a proxy made no tunnel for it, with the status by
/// which it says so.
pub(super) async fn explained(mut end: HttpEnd, url: &Url) -> HttpEnd {
    if end.facts.error.as_deref() != Some(NO_TUNNEL) {
        return end;
    }
    if let Ok(Some(status)) = timeout(PATIENCE, status_for(url)).await {
        let text = format!("the proxy answers CONNECT with {}", in_words(status));
        end.message = format!("got no answer: {text}");
        end.facts.text = Some(text);
        end.facts.status = Some(status);
    }
    end
}

/// The status by which the proxy for a URL says no, if it does so now.
async fn status_for(url: &Url) -> Option<u16> {
    let proxy = Matcher::from_system().intercept(&url.as_str().parse().ok()?)?;
    let at = proxy.uri();
    // One that is spoken to by TLS is not worth a client of its own.
    if at.scheme_str() != Some("http") {
        return None;
    }
    let host = at.host()?.trim_start_matches('[').trim_end_matches(']');
    let port = at.port_u16().unwrap_or(PORT);
    let mut stream = TcpStream::connect((host, port)).await.ok()?;
    let to = format!("{}:{}", url.host_str()?, url.port_or_known_default()?);
    let mut request = format!("CONNECT {to} HTTP/1.1\r\nHost: {to}\r\n").into_bytes();
    if let Some(credentials) = proxy.basic_auth() {
        request.extend_from_slice(b"Proxy-Authorization: ");
        request.extend_from_slice(credentials.as_bytes());
        request.extend_from_slice(b"\r\n");
    }
    request.extend_from_slice(b"\r\n");
    stream.write_all(&request).await.ok()?;
    let mut line = Vec::new();
    let mut piece = [0; 256];
    while !line.contains(&b'\n') && line.len() < LINE_BYTES {
        match stream.read(&mut piece).await.ok()? {
            0 => break,
            read => line.extend_from_slice(&piece[..read]),
        }
    }
    refusal_in(&line)
}

/// The status in the first line of an answer that is no yes.
fn refusal_in(answer: &[u8]) -> Option<u16> {
    let line = answer.split(|byte| *byte == b'\n').next()?;
    let mut words = std::str::from_utf8(line).ok()?.split_ascii_whitespace();
    words.next().filter(|word| word.starts_with("HTTP/1."))?;
    let status = words.next()?.parse().ok()?;
    (300..600).contains(&status).then_some(status)
}

#[cfg(test)]
mod tests {
    use super::refusal_in;

    #[test]
    fn the_status_is_that_of_the_first_line_if_it_is_a_no() {
        for (answer, status) in [
            (
                &b"HTTP/1.1 502 Bad Gateway\r\nContent-Length: 0\r\n\r\n"[..],
                Some(502),
            ),
            (b"HTTP/1.0 403\r\n\r\n", Some(403)),
            (b"HTTP/1.1 405 Not Allowed\n", Some(405)),
            // It would make a tunnel now.
            (b"HTTP/1.1 200 Connection established\r\n\r\n", None),
            (b"HTTP/1.1 5020 x\r\n", None),
            (b"SSH-2.0-OpenSSH_9.6\r\n502", None),
            (b"\x15\x03\x01\x00\x02\x02\x16", None),
            (b"", None),
        ] {
            assert_eq!(refusal_in(answer), status, "{}", answer.escape_ascii());
        }
    }
}
