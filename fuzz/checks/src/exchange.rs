//! Whatever an HTTP server answers, a start ends within its time, as a session
//! or as a failure.

use jelly_wire::{Endpoint, Launch, Reach, start};
use std::time::{Duration, Instant};
use tokio::io::{AsyncReadExt, AsyncWriteExt};
use tokio::net::TcpListener;

const LIMIT: Duration = Duration::from_millis(250);
/// For what ends after the limit: a connection, a task.
const GRACE: Duration = Duration::from_secs(5);

/// Answers each connection with these bytes, and closes it.
pub fn check(bytes: &[u8]) {
    let Ok(runtime) = tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
    else {
        return;
    };
    let began = Instant::now();
    runtime.block_on(async {
        let Ok(listener) = TcpListener::bind("127.0.0.1:0").await else {
            return;
        };
        let Ok(address) = listener.local_addr() else {
            return;
        };
        let answer = bytes.to_vec();
        let server = tokio::spawn(async move {
            while let Ok((mut stream, _)) = listener.accept().await {
                let mut request = [0; 4096];
                // A client that is gone is no finding.
                let _ = stream.read(&mut request).await;
                let _ = stream.write_all(&answer).await;
                let _ = stream.shutdown().await;
            }
        });
        let endpoint = Endpoint {
            url: format!("http://{address}/mcp"),
            ..Endpoint::default()
        };
        let mut launch = Launch::new("fuzzed", Reach::Http(endpoint));
        launch.startup_timeout = LIMIT;
        launch.request_timeout = LIMIT;
        launch.wire_check = true;
        match start(&launch).await {
            Ok(mut session) => drop(session.shutdown(LIMIT).await),
            Err(failure) => assert!(!format!("{failure:?}").is_empty()),
        }
        server.abort();
    });
    assert!(began.elapsed() < LIMIT + GRACE);
}
