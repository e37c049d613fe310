//! Servers that cost nothing: they look for two fields of a line and answer
//! with bytes that were written long before.

use std::fs::OpenOptions;
use std::io::{self, BufRead, Write};
use std::time::{SystemTime, UNIX_EPOCH};

/// Which handshake a server knows.
#[derive(Clone, Copy, PartialEq, Eq)]
pub enum Era {
    Legacy,
    Modern,
}

const INITIALIZE: &str = r#""result":{"protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"costless","version":"1"}}}"#;
const DISCOVER: &str = r#""result":{"resultType":"complete","supportedVersions":["2026-07-28"],"capabilities":{"tools":{}},"serverInfo":{"name":"costless","version":"1"},"ttlMs":0,"cacheScope":"private"}}"#;
const LIST: &str = r#""result":{"resultType":"complete","tools":[{"name":"echo","description":"Says it again","inputSchema":{"type":"object","properties":{"text":{"type":"string"}},"required":["text"]}}],"ttlMs":0,"cacheScope":"private"}}"#;
const CALL: &str =
    r#""result":{"resultType":"complete","content":[{"type":"text","text":"hello"}]}}"#;
const UNKNOWN: &str = r#""error":{"code":-32601,"message":"Method not found"}}"#;

/// Answers until its input ends.
pub fn serve(era: Era) -> io::Result<()> {
    let mut input = io::stdin().lock();
    let mut output = io::stdout().lock();
    let mut line = String::new();
    let mut answer = String::new();
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        // A line without an id is a notification.
        let Some(id) = number_after(&line, r#""id":"#) else {
            continue;
        };
        let body = match (text_after(&line, r#""method":""#), era) {
            (Some("tools/call"), _) => CALL,
            (Some("tools/list"), _) => LIST,
            (Some("ping"), _) => r#""result":{}}"#,
            (Some("initialize"), Era::Legacy) => INITIALIZE,
            (Some("server/discover"), Era::Modern) => DISCOVER,
            (_, Era::Legacy | Era::Modern) => UNKNOWN,
        };
        answer.clear();
        answer.push_str(r#"{"jsonrpc":"2.0","id":"#);
        answer.push_str(id);
        answer.push(',');
        answer.push_str(body);
        answer.push('\n');
        output.write_all(answer.as_bytes())?;
        output.flush()?;
    }
}

fn number_after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(key)?;
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    Some(&rest[..end]).filter(|number| !number.is_empty())
}

fn text_after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(key)?;
    rest.split_once('"').map(|(text, _)| text)
}

/// Complains, notes the time in the file `at`, and dies before it has read
/// anything.
pub fn die(at: &str) -> io::Result<()> {
    eprintln!("Error: the database is not there");
    let now = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_err(io::Error::other)?;
    let mut file = OpenOptions::new().create(true).append(true).open(at)?;
    writeln!(file, "{}", now.as_nanos())?;
    std::process::exit(1);
}
