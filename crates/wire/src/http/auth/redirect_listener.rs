//! Where a browser comes back to: a port of this machine, for as long as one
//! visit takes.
//!
//! Main type: [`RedirectListener`].

use super::error::{AuthError, Stage};
use jelly_base::text::{human_duration, plural};
use std::io;
use std::time::Duration;
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::{TcpListener, TcpStream};
use tokio::task::JoinSet;
use tokio::time::timeout;

/// The only path that is answered.
const PATH: &str = "/callback";
/// So much of a request is read, and no longer than that.
const MAX_REQUEST: usize = 16 * 1024;
const REQUEST_TAKES: Duration = Duration::from_secs(10);
/// So many requests that are none of ours are borne.
const MAX_STRANGERS: usize = 64;

/// What the browser brings back.
pub(super) type RedirectQuery = Vec<(String, String)>;

/// A port that waits for a browser.
#[derive(Debug)]
pub(super) struct RedirectListener {
    listener: TcpListener,
    port: u16,
}

impl RedirectListener {
    /// At a port of this machine; any free one for 0.
    pub async fn open(port: u16) -> Result<Self, AuthError> {
        let failed = |error: io::Error| {
            let text = format!("port {port} of this machine can't be listened at: {error}");
            AuthError::new(Stage::Login, text)
        };
        let listener = TcpListener::bind(("127.0.0.1", port))
            .await
            .map_err(failed)?;
        let port = listener.local_addr().map_err(failed)?.port();
        Ok(Self { listener, port })
    }

    /// Where the browser is to be sent.
    pub fn uri(&self) -> String {
        format!("http://127.0.0.1:{}{PATH}", self.port)
    }

    /// What is brought back with this `state`; whatever else comes is told that
    /// it is not meant.
    pub async fn wait(&self, state: &str, limit: Duration) -> Result<RedirectQuery, AuthError> {
        match timeout(limit, self.hear(state)).await {
            Ok(answer) => answer,
            Err(_) => {
                let limit = human_duration(limit);
                let text = format!("nobody came back from the page within {limit}");
                Err(AuthError::new(Stage::Login, text))
            }
        }
    }

    async fn hear(&self, state: &str) -> Result<RedirectQuery, AuthError> {
        // Side by side: browsers open connections that they never use.
        let mut callers = JoinSet::new();
        let mut strangers = 0;
        loop {
            tokio::select! {
                accepted = self.listener.accept() => {
                    if let Ok((stream, _)) = accepted {
                        let state = state.to_owned();
                        callers.spawn(timeout(REQUEST_TAKES, receive(stream, state)));
                    }
                    strangers += 1;
                }
                Some(caller) = callers.join_next() => {
                    if let Ok(Ok(Some(answer))) = caller {
                        return Ok(answer);
                    }
                }
            }
            if strangers > MAX_STRANGERS {
                let text = format!(
                    "the port that waits for the browser got {} of something else",
                    plural(strangers, "request")
                );
                return Err(AuthError::new(Stage::Login, text));
            }
        }
    }
}

/// Reads one request, answers it, and gives back what it brings, if it is ours.
async fn receive(mut stream: TcpStream, state: String) -> Option<RedirectQuery> {
    let mut request = Vec::new();
    let mut chunk = [0; 2048];
    while !request.windows(4).any(|end| end == b"\r\n\r\n") {
        let read = stream.read(&mut chunk).await.ok()?;
        if read == 0 || request.len() + read > MAX_REQUEST {
            return None;
        }
        request.extend_from_slice(&chunk[..read]);
    }
    let answer = read(&request).filter(|answer| {
        let mut states = answer.iter().filter(|(name, _)| name == "state");
        states.next().is_some_and(|(_, value)| *value == state) && states.next().is_none()
    });
    let (status, text) = match &answer {
        Some(_) => (
            "200 OK",
            "jelly has what it needs. You may close this page.",
        ),
        None => ("400 Bad Request", "This is not what jelly waits for."),
    };
    let page = format!("<!doctype html><meta charset=utf-8><title>jelly</title><p>{text}\n");
    let reply = format!(
        "HTTP/1.1 {status}\r\nContent-Type: text/html; charset=utf-8\r\n\
         Content-Length: {}\r\nCache-Control: no-store\r\nReferrer-Policy: no-referrer\r\n\
         Connection: close\r\n\r\n{page}",
        page.len()
    );
    // A browser that does not want to know has done its part.
    let _ = stream.write_all(reply.as_bytes()).await;
    let _ = stream.shutdown().await;
    answer
}

/// The query of a GET for our path.
fn read(request: &[u8]) -> Option<RedirectQuery> {
    let line = request.split(|byte| *byte == b'\r').next()?;
    let line = std::str::from_utf8(line).ok()?;
    let target = line.strip_prefix("GET ")?.split(' ').next()?;
    let query = target.strip_prefix(PATH)?.strip_prefix('?')?;
    let pairs = form_urlencoded::parse(query.as_bytes());
    Some(
        pairs
            .map(|(name, value)| (name.into_owned(), value.into_owned()))
            .collect(),
    )
}

#[cfg(test)]
mod tests {
    use super::{RedirectListener, read};
    use crate::http::auth::error::Stage;
    use std::time::Duration;
    use tokio::io::{AsyncReadExt, AsyncWriteExt};
    use tokio::net::TcpStream;

    const LONG: Duration = Duration::from_secs(20);

    fn run<T>(task: impl Future<Output = T>) -> T {
        let runtime = tokio::runtime::Builder::new_current_thread()
            .enable_all()
            .build()
            .unwrap();
        runtime.block_on(task)
    }

    async fn get(port: u16, target: &str) -> String {
        let mut stream = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
        let request = format!("GET {target} HTTP/1.1\r\nHost: x\r\n\r\n");
        stream.write_all(request.as_bytes()).await.unwrap();
        let mut answer = String::new();
        stream.read_to_string(&mut answer).await.unwrap();
        answer
    }

    #[test]
    fn only_the_visit_with_our_state_is_taken() {
        run(async {
            let listener = RedirectListener::open(0).await.unwrap();
            let port = listener.port;
            // One that never says anything keeps nobody out.
            let _mute = TcpStream::connect(("127.0.0.1", port)).await.unwrap();
            let callers = async {
                for wrong in [
                    "/favicon.ico",
                    "/callback",
                    "/callback?code=evil",
                    "/callback?code=evil&state=other",
                    "/callback?code=evil&state=mine&state=mine",
                ] {
                    let answer = get(port, wrong).await;
                    assert!(answer.starts_with("HTTP/1.1 400"), "{wrong}");
                    assert!(!answer.contains("evil"));
                }
                let good = get(port, "/callback?code=a%20b&state=mine").await;
                assert!(good.starts_with("HTTP/1.1 200"));
            };
            let (answer, ()) = tokio::join!(listener.wait("mine", LONG), callers);
            assert_eq!(answer.unwrap()[0], ("code".into(), "a b".into()));
        });
    }

    #[test]
    fn a_visit_that_does_not_come_has_an_end() {
        run(async {
            let listener = RedirectListener::open(0).await.unwrap();
            let error = listener
                .wait("s", Duration::from_millis(10))
                .await
                .unwrap_err();
            assert_eq!(error.stage, Stage::Login);
            let taken = RedirectListener::open(listener.port).await.unwrap_err();
            assert!(taken.text.contains("can't be listened at"), "{taken}");
        });
    }

    #[test]
    fn what_is_no_request_of_a_browser_is_nothing() {
        for bytes in [
            &b""[..],
            b"\xff\xfe\r\n\r\n",
            b"POST /callback?a=b HTTP/1.1\r\n",
        ] {
            assert_eq!(read(bytes), None);
        }
    }
}
