//! The catalogue of faults: their names, values, places and meaning, in one
//! table that the parser reads and `--list-faults` prints.

use super::fault::{At, Kind, Malformed, PanicStyle, SplitSize, WrongId};
use super::units;
use super::values::{
    ask, count, echo_env, end, grandchild, pointed_value, pointer, required, signal, word,
};

/// Where a kind of fault can act.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Places {
    /// Only at `spawn`: it is a manner of the whole process.
    Start,
    /// Where there is a request to answer.
    Requests,
    StartAndRequests,
    /// Everywhere.
    Moments,
}

impl Places {
    #[must_use]
    pub fn describe(self) -> &'static str {
        match self {
            Self::Start => "at spawn only",
            Self::Requests => "at requests only",
            Self::StartAndRequests => "at spawn and at requests",
            Self::Moments => "at every phase",
        }
    }
}

/// One row of the catalogue.
pub struct Entry {
    pub name: &'static str,
    /// The syntax of its value; empty if it takes none, in brackets if it may
    /// be left out.
    pub value: &'static str,
    pub default_at: At,
    pub places: Places,
    pub summary: &'static str,
    pub parse: fn(Option<&str>) -> Result<Kind, String>,
}

/// The entry of this name.
#[must_use]
pub fn find(name: &str) -> Option<&'static Entry> {
    CATALOGUE.iter().find(|entry| entry.name == name)
}

/// All names, in the order of the catalogue.
pub fn names() -> impl Iterator<Item = &'static str> {
    CATALOGUE.iter().map(|entry| entry.name)
}

fn text(value: Option<&str>, default: &str) -> Result<String, String> {
    Ok(value.unwrap_or(default).to_owned())
}

const fn entry(
    name: &'static str,
    value: &'static str,
    default_at: At,
    places: Places,
    summary: &'static str,
    parse: fn(Option<&str>) -> Result<Kind, String>,
) -> Entry {
    Entry {
        name,
        value,
        default_at,
        places,
        summary,
        parse,
    }
}

/// Every fault there is, by what it concerns: the end of the process,
/// silence, bytes, messages, stderr, the client, manners.
pub static CATALOGUE: &[Entry] = &[
    entry(
        "exit",
        "[CODE|SIGNAL]",
        At::Spawn,
        Places::Moments,
        "ends instead of answering (1)",
        |v| end(v.unwrap_or("1")).map(Kind::Exit),
    ),
    entry(
        "exit_after",
        "[CODE|SIGNAL]",
        At::Call,
        Places::Requests,
        "answers, then ends (0)",
        |v| end(v.unwrap_or("0")).map(Kind::ExitAfter),
    ),
    entry(
        "kill",
        "[SIGNAL]",
        At::Call,
        Places::Moments,
        "ends by a signal (SIGKILL) instead of answering",
        |v| signal(v.unwrap_or("KILL")).map(Kind::Kill),
    ),
    entry(
        "panic",
        "[rust|python|node]",
        At::Call,
        Places::Moments,
        "prints that language's stack trace on stderr and exits 101, 1 or 1",
        |v| {
            let known = [
                ("rust", PanicStyle::Rust),
                ("python", PanicStyle::Python),
                ("node", PanicStyle::Node),
            ];
            word(v.unwrap_or("rust"), &known).map(Kind::Panic)
        },
    ),
    entry(
        "hang",
        "",
        At::Call,
        Places::Moments,
        "stays alive, but neither reads nor answers any more",
        |_| Ok(Kind::Hang),
    ),
    entry(
        "mute",
        "",
        At::Any,
        Places::Requests,
        "reads on, but never answers this request",
        |_| Ok(Kind::Mute),
    ),
    entry(
        "slow",
        "[DURATION]",
        At::Call,
        Places::Moments,
        "waits (2s) before it answers or goes on",
        |v| units::duration(v.unwrap_or("2s")).map(Kind::Slow),
    ),
    entry(
        "close_stdout",
        "",
        At::Call,
        Places::Moments,
        "closes stdout instead of answering, and stays alive",
        |_| Ok(Kind::CloseStdout),
    ),
    entry(
        "truncate",
        "",
        At::Call,
        Places::Requests,
        "writes the first half of the reply, and no more of it",
        |_| Ok(Kind::Truncate),
    ),
    entry(
        "banner",
        "[TEXT]",
        At::Spawn,
        Places::Moments,
        "a line of text on stdout, before the reply",
        |v| text(v, "Server running on stdio").map(Kind::Banner),
    ),
    entry(
        "junk",
        "[LINES]",
        At::Any,
        Places::Moments,
        "lines (3) that are no JSON on stdout, before the reply",
        |v| count(v.unwrap_or("3")).map(Kind::Junk),
    ),
    entry(
        "junk_only",
        "[LINES]",
        At::Any,
        Places::Requests,
        "such lines (1) instead of the reply",
        |v| count(v.unwrap_or("1")).map(Kind::JunkOnly),
    ),
    entry(
        "http_banner",
        "[TEXT]",
        At::Spawn,
        Places::Start,
        "listens on a TCP port instead of stdio and says so on stdout; ${port} in TEXT",
        |v| {
            let default = "MCP server listening on http://127.0.0.1:${port}/mcp";
            text(v, default).map(Kind::HttpBanner)
        },
    ),
    entry(
        "content_length",
        "",
        At::Any,
        Places::Requests,
        "frames replies with a Content-Length header, as language servers do",
        |_| Ok(Kind::ContentLength),
    ),
    entry(
        "crlf",
        "",
        At::Any,
        Places::Requests,
        "ends lines with CR LF",
        |_| Ok(Kind::Crlf),
    ),
    entry(
        "drip",
        "[DURATION]",
        At::Any,
        Places::Requests,
        "writes byte by byte with a pause (1ms) after each",
        |v| units::duration(v.unwrap_or("1ms")).map(Kind::Drip),
    ),
    entry(
        "split",
        "[BYTES|random]",
        At::Any,
        Places::Requests,
        "writes in pieces of this size (random), inside UTF-8 characters too",
        |v| match v {
            None | Some("random") => Ok(Kind::Split(SplitSize::Random)),
            Some(text) => match units::size(text)? {
                0 => Err("a piece has at least one byte".to_owned()),
                n => Ok(Kind::Split(SplitSize::Fixed(n))),
            },
        },
    ),
    entry(
        "burst",
        "[N]",
        At::Call,
        Places::Requests,
        "N notifications (100) and the reply in one write",
        |v| count(v.unwrap_or("100")).map(Kind::Burst),
    ),
    entry(
        "huge",
        "[SIZE]",
        At::Call,
        Places::Requests,
        "the result's text is this long (1M)",
        |v| units::size(v.unwrap_or("1M")).map(Kind::Huge),
    ),
    entry(
        "wrong_id",
        "[other|retyped|null]",
        At::Any,
        Places::Requests,
        "replies with another id, the same as another JSON type, or null",
        |v| {
            let known = [
                ("other", WrongId::Other),
                ("retyped", WrongId::Retyped),
                ("null", WrongId::Null),
            ];
            word(v.unwrap_or("other"), &known).map(Kind::WrongId)
        },
    ),
    entry(
        "duplicate",
        "",
        At::Any,
        Places::Requests,
        "sends every reply twice",
        |_| Ok(Kind::Duplicate),
    ),
    entry(
        "jsonrpc_version",
        "[TEXT]",
        At::Any,
        Places::Requests,
        "another `jsonrpc` (1.0) than 2.0",
        |v| text(v, "1.0").map(Kind::JsonrpcVersion),
    ),
    entry(
        "set",
        "[POINTER JSON]",
        At::Any,
        Places::Requests,
        "another value (null) at this JSON pointer (/result) into the reply, if its parent is there",
        |v| pointed_value(v.unwrap_or("/result null")),
    ),
    entry(
        "drop",
        "[POINTER]",
        At::Any,
        Places::Requests,
        "leaves out what this JSON pointer (/result) into the reply leads to",
        |v| pointer(v.unwrap_or("/result")).map(Kind::Drop),
    ),
    entry(
        "protocol_version",
        "[TEXT]",
        At::Handshake,
        Places::Requests,
        "names a protocol version (1999-01-01) that nobody asked for",
        |v| text(v, "1999-01-01").map(Kind::ProtocolVersion),
    ),
    entry(
        "error",
        "[CODE:MESSAGE]",
        At::Call,
        Places::Requests,
        "a JSON-RPC error (-32603:Internal error) instead of the result",
        |v| {
            let (code, message) = v
                .unwrap_or("-32603:Internal error")
                .split_once(':')
                .ok_or("the value is CODE:MESSAGE")?;
            let code = code
                .trim()
                .parse()
                .map_err(|_| format!("`{code}` is no code"))?;
            Ok(Kind::Error {
                code,
                message: message.trim().to_owned(),
            })
        },
    ),
    entry(
        "null_result",
        "",
        At::Call,
        Places::Requests,
        "`result` is null",
        |_| Ok(Kind::NullResult),
    ),
    entry(
        "empty_result",
        "",
        At::Call,
        Places::Requests,
        "`result` is an empty object",
        |_| Ok(Kind::EmptyResult),
    ),
    entry(
        "malformed_tools",
        "[not_array|no_name|bad_schema|null_schema]",
        At::List,
        Places::Requests,
        "`tools` is no array, or the first tool lacks its name or its input schema is none",
        |v| {
            let known = [
                ("not_array", Malformed::NotArray),
                ("no_name", Malformed::NoName),
                ("bad_schema", Malformed::BadSchema),
                ("null_schema", Malformed::NullSchema),
            ];
            word(v.unwrap_or("not_array"), &known).map(Kind::MalformedTools)
        },
    ),
    entry(
        "list_loop",
        "",
        At::List,
        Places::Requests,
        "every page of a list points at a next one",
        |_| Ok(Kind::ListLoop),
    ),
    entry(
        "schema_breach",
        "",
        At::Call,
        Places::Requests,
        "the structured result breaks the tool's output schema",
        |_| Ok(Kind::SchemaBreach),
    ),
    entry(
        "wrong_value",
        "[TEXT]",
        At::Call,
        Places::Requests,
        "the result's text is another (`wrong`)",
        |v| text(v, "wrong").map(Kind::WrongValue),
    ),
    entry(
        "flaky",
        "[PROBABILITY]",
        At::Call,
        Places::Requests,
        "a wrong value with this probability (0.5), by the seed and the start",
        |v| {
            let text = v.unwrap_or("0.5");
            match text.parse::<f64>() {
                Ok(p) if (0.0..=1.0).contains(&p) => Ok(Kind::Flaky(p)),
                _ => Err(format!("`{text}` is not a probability between 0 and 1")),
            }
        },
    ),
    entry(
        "stderr",
        "TEXT",
        At::Spawn,
        Places::Moments,
        "a line on stderr",
        |v| required(v).map(Kind::Stderr),
    ),
    entry(
        "stderr_flood",
        "[SIZE]",
        At::Spawn,
        Places::Moments,
        "this much (1M) on stderr",
        |v| units::size(v.unwrap_or("1M")).map(Kind::StderrFlood),
    ),
    entry(
        "echo_env",
        "NAME[,plain|split|url|base64|json|result]",
        At::Spawn,
        Places::StartAndRequests,
        "writes that variable's value on stderr, also in two writes or escaped, or into the result",
        echo_env,
    ),
    entry(
        "ask",
        "[ping|roots|sampling|elicitation]",
        At::Call,
        Places::Requests,
        "asks the client (ping) before it answers, and puts what it said into the result",
        |v| ask(v.unwrap_or("ping")).map(Kind::Ask),
    ),
    entry(
        "ask_nowait",
        "[ping|roots|sampling|elicitation]",
        At::Call,
        Places::Requests,
        "asks the client and answers at once",
        |v| ask(v.unwrap_or("ping")).map(Kind::AskNowait),
    ),
    entry(
        "progress",
        "[N]",
        At::Call,
        Places::Requests,
        "N progress notifications (3) before the reply, spread over a `slow` wait",
        |v| count(v.unwrap_or("3")).map(Kind::Progress),
    ),
    entry(
        "log",
        "[TEXT]",
        At::Call,
        Places::Requests,
        "a log notification before the reply",
        |v| text(v, "working on it").map(Kind::Log),
    ),
    entry(
        "notify",
        "METHOD",
        At::Call,
        Places::Requests,
        "a notification of this method before the reply",
        |v| required(v).map(Kind::Notify),
    ),
    entry(
        "ignore_eof",
        "",
        At::Spawn,
        Places::Start,
        "stays alive when stdin is closed",
        |_| Ok(Kind::IgnoreEof),
    ),
    entry(
        "ignore_sigterm",
        "",
        At::Spawn,
        Places::Start,
        "ignores SIGTERM",
        |_| Ok(Kind::IgnoreSigterm),
    ),
    entry(
        "grandchild",
        "PIDFILE[,setsid][,holds]",
        At::Spawn,
        Places::Moments,
        "starts a child that ignores SIGTERM for ten minutes; may leave the session, may hold stdout and stderr",
        grandchild,
    ),
    entry(
        "require_env",
        "NAME",
        At::Spawn,
        Places::Start,
        "without that variable: an error on stderr, exit 1",
        |v| required(v).map(Kind::RequireEnv),
    ),
    entry(
        "require_dir",
        "PATH",
        At::Spawn,
        Places::Start,
        "without that directory: an error on stderr, exit 1",
        |v| required(v).map(Kind::RequireDir),
    ),
];

/// The catalogue as a table for people.
#[must_use]
pub fn table(width: u16) -> String {
    let mut table = comfy_table::Table::new();
    table
        .load_style(comfy_table::presets::UTF8_FULL_CONDENSED)
        .set_content_arrangement(comfy_table::ContentArrangement::Dynamic)
        .set_width(width)
        .set_header(["fault", "value", "acts at", "what it does"]);
    for entry in CATALOGUE {
        table.add_row([
            entry.name.to_owned(),
            entry.value.to_owned(),
            match entry.places {
                Places::Start => "spawn".to_owned(),
                Places::Requests | Places::StartAndRequests | Places::Moments => {
                    format!("{} ({})", entry.default_at, entry.places.describe())
                }
            },
            entry.summary.to_owned(),
        ]);
    }
    format!(
        "A fault is written KIND[@PHASE][=VALUE]. Phases: {}.\n\n{}",
        super::fault::phases().join(", "),
        table.trim_fmt()
    )
}

#[cfg(test)]
mod tests {
    use super::{CATALOGUE, Places, find, names, table};
    use crate::fault::{At, Fault};

    #[test]
    fn every_fault_can_be_written_with_its_defaults() {
        for entry in CATALOGUE {
            let text = if entry.value.is_empty() || entry.value.starts_with('[') {
                entry.name.to_owned()
            } else {
                format!("{}=X", entry.name)
            };
            let fault: Fault = text.parse().unwrap_or_else(|e| panic!("{text}: {e}"));
            assert_eq!(fault.at, entry.default_at, "{text}");
        }
    }

    #[test]
    fn names_are_unique_and_a_default_place_is_an_allowed_one() {
        let mut all: Vec<&str> = names().collect();
        all.sort_unstable();
        all.dedup();
        assert_eq!(all.len(), CATALOGUE.len());
        for entry in CATALOGUE {
            if entry.places == Places::Start {
                assert_eq!(entry.default_at, At::Spawn, "{}", entry.name);
            }
        }
        assert!(find("exit").is_some() && find("exi").is_none());
    }

    #[test]
    fn the_table_names_every_fault() {
        let text = table(200);
        for name in names() {
            assert!(text.contains(name), "{name}");
        }
    }
}
