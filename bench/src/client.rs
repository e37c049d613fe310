//! The least that a client can do: blocking pipes, one call after the other,
//! answers read and not looked at.

use std::io::{self, BufRead, BufReader, Write};
use std::process::{Command, Stdio};

/// Starts the costless server and calls its tool so many times.
pub fn run(calls: &str) -> io::Result<()> {
    let calls: u32 = calls.parse().map_err(io::Error::other)?;
    let mut server = Command::new(std::env::current_exe()?)
        .arg("serve")
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (Some(mut stdin), Some(stdout)) = (server.stdin.take(), server.stdout.take()) else {
        return Err(io::Error::other("the server has no pipes"));
    };
    let mut stdout = BufReader::new(stdout);
    let mut answer = String::new();
    let mut ask = |request: String| -> io::Result<()> {
        stdin.write_all(request.as_bytes())?;
        answer.clear();
        match stdout.read_line(&mut answer)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    };
    ask(
        r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bare","version":"1"}}}"#
            .to_owned()
            + "\n",
    )?;
    ask(concat!(
        r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#,
        "\n",
        r#"{"jsonrpc":"2.0","id":2,"method":"tools/list"}"#,
        "\n"
    )
    .to_owned())?;
    for id in 0..calls {
        ask(format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{},\"method\":\"tools/call\",\"params\":{{\"name\":\
             \"echo\",\"arguments\":{{\"text\":\"hello\"}}}}}}\n",
            id + 3
        ))?;
    }
    drop(stdin);
    server.wait().map(drop)
}
