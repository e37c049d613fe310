//! What makes of a program a server of HTTP, and how such a server says that
//! it listens.
//!
//! Main functions: [`http_parts`] and [`http_variables`] for what it is given,
//! [`listening_line`] and [`listening_ports`] for what it says.

use regex::Regex;
use std::ops::Range;
use std::sync::LazyLock;

/// Of a text, this much of the end is looked at.
const LOOKED_AT: usize = 64 * 1024;

/// A part of a command line that switches the HTTP mode on.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum HttpPart {
    /// `--http`, or a switch with its value: to be left out.
    Switch(Range<usize>),
    /// The word that names the mode, as in `--transport http` and `serve sse`.
    Value(usize),
    /// The same in one word, `--transport=http`, and the flag of it.
    Joined(usize, String),
}

/// What in these arguments makes of a program a server of HTTP. Nothing, where
/// a URL is among them: then it says how another server is reached.
#[must_use]
pub fn http_parts<S: AsRef<str>>(args: &[S]) -> Vec<HttpPart> {
    let is_url = |arg: &S| {
        let arg = arg.as_ref();
        arg.starts_with("http://") || arg.starts_with("https://")
    };
    if args.iter().any(is_url) {
        return Vec::new();
    }
    let mut parts = Vec::new();
    for (index, arg) in args.iter().enumerate() {
        let arg = arg.as_ref();
        let before = index.checked_sub(1).map_or("", |at| args[at].as_ref());
        match arg.split_once('=') {
            Some((flag, value)) if names_mode(flag) && is_http_mode(value) => {
                parts.push(HttpPart::Joined(index, flag.to_owned()));
            }
            Some((flag, value)) if is_http_switch(flag) && is_on(value) => {
                parts.push(HttpPart::Switch(index..index + 1));
            }
            Some(_) => {}
            None if is_http_switch(arg) => parts.push(HttpPart::Switch(index..index + 1)),
            None if names_mode(before) && is_http_mode(arg) => {
                parts.push(HttpPart::Value(index));
            }
            None if is_http(arg) && !before.starts_with('-') => parts.push(HttpPart::Value(index)),
            None => {}
        }
    }
    parts
}

/// The variables that do so, and whether their value names the mode.
#[must_use]
pub fn http_variables<'a>(
    variables: impl IntoIterator<Item = (&'a str, &'a str)>,
) -> Vec<(&'a str, bool)> {
    let kind = |(name, value): (&'a str, &'a str)| {
        let folded = name.to_ascii_uppercase();
        let has = |words: &[&str]| folded.split('_').any(|part| words.contains(&part));
        if has(&["TRANSPORT", "MODE"]) && is_http_mode(value) {
            return Some((name, true));
        }
        let of_http = has(&["HTTP", "SSE", "STREAMABLE"]);
        let of_mode = has(&["TRANSPORT", "MODE", "SERVER", "STREAMABLE", "ENABLE", "USE"]);
        (of_http && of_mode && is_on(value)).then_some((name, false))
    };
    variables.into_iter().filter_map(kind).collect()
}

/// The words that say where a server of HTTP listens: its port, host and path,
/// each with its value.
#[must_use]
pub fn address_words<S: AsRef<str>>(args: &[S]) -> Vec<Range<usize>> {
    let mut found = Vec::new();
    for (index, arg) in args.iter().enumerate() {
        let arg = arg.as_ref();
        let (flag, joined) = match arg.split_once('=') {
            Some((flag, _)) => (flag, true),
            None => (arg, false),
        };
        let value = args.get(index + 1).map(AsRef::as_ref);
        let is_number = value.is_some_and(|value| value.parse::<u16>().is_ok());
        let is_host =
            value.is_some_and(|v| v == "localhost" || v.parse::<std::net::IpAddr>().is_ok());
        let of_port = flag.starts_with("--") && ends_with_part(flag, "port") || flag == "-p";
        let of_host = flag.starts_with("--") && ends_with_part(flag, "host");
        let end = index + 1 + usize::from(!joined);
        let is_joined_port = joined
            && flag != "-p"
            && arg
                .rsplit('=')
                .next()
                .is_some_and(|v| v.parse::<u16>().is_ok());
        if of_port && (is_joined_port || !joined && is_number) || of_host && (joined || is_host) {
            found.push(index..end);
        }
    }
    found
}

/// The line that says that a server of HTTP listens; of several the one that
/// names the protocol's path or the protocol.
#[must_use]
pub fn listening_line(text: &str) -> Option<&str> {
    let text = &text[text.ceil_char_boundary(text.len().saturating_sub(LOOKED_AT))..];
    let mut best: Option<(u8, &str)> = None;
    for line in text.lines().filter(|line| line.len() <= 1000) {
        let Some(grade) = grade(line) else { continue };
        if best.is_none_or(|(other, _)| grade > other) {
            best = Some((grade, line.trim()));
        }
    }
    best.map(|(_, line)| line)
}

/// The lines that say so and name a port, each with that port.
#[must_use]
pub fn listening_ports(text: &str) -> Vec<(&str, &str)> {
    static PORT: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        compiled(&[
            r"(?i)(?:\b(?:localhost|\d{1,3}(?:\.\d{1,3}){3})|https?://[\w.-]+|\]|\*):(\d{2,5})\b",
            r"(?i)\bport:? ?(\d{2,5})\b",
            r"(?i)\b(?:on|at|via):? :?(\d{2,5})(?:[\s.,;)]|$)",
        ])
    });
    let text = &text[text.ceil_char_boundary(text.len().saturating_sub(LOOKED_AT))..];
    let lines = text.lines().filter(|line| line.len() <= 1000);
    lines
        .filter(|line| grade(line).is_some())
        .filter_map(|line| {
            let mut found = PORT.iter().filter_map(|pattern| pattern.captures(line));
            let port = found.next()?.get(1)?;
            (!is_of_no_http(&line[..port.start()])).then(|| (line.trim(), port.as_str()))
        })
        .collect()
}

/// How clearly a line says so.
fn grade(line: &str) -> Option<u8> {
    static SAYS: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        compiled(&[
            r"(?i)\b(?:listening|running|started|available|serving|ready|starting)\b[^\n]{0,60}?\b(?:on|at|via):? (?:the )?(?:port:? |address |http(?:s|://)?\b|\S*:\d{2,5}\b|\d{2,5}\b|\d{1,3}(?:\.\d{1,3}){3}\b)",
            r"(?i)\bUvicorn running on\b",
            r"(?i)\b(?:starting|started)\b[^\n]{0,40}\b(?:http|sse)(?: stream)? (?:server|transport)\b",
            r"(?i)\b(?:http|sse) (?:server|transport)\b[^\n]{0,20}\b(?:listening|running|started)",
            r"(?i)\bserving https? on\b",
            r"(?i)^\W*(?:\[[^\]]*\]\s*)?(?:local|network|url|endpoint|address|(?:sse|http|mcp) endpoint):\s+https?://",
            r"(?i)\b(?:tomcat|jetty|netty|kestrel|puma|hypercorn|gunicorn|werkzeug|express|fastify|hono)\b[^\n]{0,40}\b(?:started|listening|running)\b",
            r"(?i)\btransport ['\x22]?(?:http|sse|streamable-http)['\x22]? on https?://",
            r"(?i)\busing (?:streamable[ -]?http|sse|http) transport on \S*:\d{2,5}\b",
            // Fields of a structured log.
            r"(?i)\btransport\x22?[=:] ?\x22?(?:https?|sse|stream(?:able)?(?:[-_]?http)?)\b[^\n]{0,60}https?://",
        ])
    });
    static SIDE: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        compiled(&[
            r"(?i)\b(?:debugger|debugpy|prometheus|metrics|exporter|dashboard|inspector|viewer|web ?ui|admin|websocket|callback|oauth|redis|postgres\w*|mysql|mongo\w*|upstream|database|telemetry|profiler|dev ?tools)\b|\bwss?://|\bstdio\b[^\n]{0,20}$",
            // A template of a logger.
            r"%[sd]",
            r"(?i)\b(?:fail(?:ed|ure)?|cannot|can't|could not|unable|refused|error|not)\b",
        ])
    });
    let said = SAYS.iter().filter_map(|pattern| pattern.find(line));
    let said = said.min_by_key(regex::Match::start)?;
    if SIDE.iter().any(|pattern| pattern.is_match(line))
        || is_of_no_http(&line[..said.end()]) && !names_http(line)
        || is_of_another(line, said.start())
    {
        return None;
    }
    let folded = line.to_ascii_lowercase();
    let names_path = ["/mcp", "/sse", "sse", "streamable"];
    Some(if names_path.iter().any(|word| folded.contains(word)) {
        2
    } else if folded.contains("http") || folded.contains("mcp") {
        1
    } else {
        0
    })
}

/// Whether a line says itself that it is about HTTP.
fn names_http(line: &str) -> bool {
    ["http://", "https://", "HTTP/gRPC", "/mcp"]
        .iter()
        .any(|sign| line.contains(sign))
}

/// Whether what stands before a port names what speaks no HTTP, or does the work; how many
/// workers a server has says nothing.
fn is_of_no_http(before: &str) -> bool {
    static OTHER: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        compiled(&[r"(?i)\bgrpc\b|(?:^|[^\d\s]\s+|[^\s\w/-])workers?(?:[-#]?\d+)?(?:[\s:\])]|$)"])
    });
    OTHER.iter().any(|pattern| pattern.is_match(before))
}

/// Whether a line tells of another program, which the server needs or looks
/// for, as `Ollama is running at http://localhost:11434`: by the words before
/// it says so, by its name, or by a host that is not this machine.
fn is_of_another(line: &str, at: usize) -> bool {
    static BEFORE: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        compiled(&[
            r"(?i)\b(?:make sure|ensure|check(?:ing|ed)?|verify|expect(?:s|ed|ing)?|wait(?:s|ing)?|connect(?:s|ed|ing)?|found|detected|discovered|us(?:e|es|ing)|prox(?:y|ying)|forward(?:s|ing)?|assum(?:e|es|ing)|requires?|needs?|looking|is (?:the|your|an?)|talk(?:s|ing)? to|attach(?:ed|ing)?)\b",
            r"(?i)\b(?:backend|ollama|lm ?studio|llama|vllm|elastic(?:search)?|opensearch|solr|kafka|rabbitmq|nats|jupyter|notebook|chrom(?:e|ium|a)|firefox|selenium|webdriver|docker|qdrant|milvus|weaviate|neo4j|keycloak|vault|consul|etcd|grafana|jaeger|otel|collector|minio|localstack|ngrok|tunnel|kubernetes|home ?assistant|obsidian|comfyui|blender|unity|figma|emulator)\b",
        ])
    });
    static ELSEWHERE: LazyLock<Vec<Regex>> = LazyLock::new(|| {
        compiled(&[r"(?i)^(?:running|available|ready)\b[^\n]{0,60}?https?://(?P<host>[\w.-]+)"])
    });
    let (before, said) = line.split_at(at);
    let own = ["localhost", "127.0.0.1", "0.0.0.0"];
    let elsewhere = |pattern: &Regex| {
        let found = pattern.captures(said);
        found.is_some_and(|found| !own.contains(&&found["host"]) && !found["host"].contains('.'))
    };
    BEFORE.iter().any(|pattern| pattern.is_match(before)) || ELSEWHERE.iter().any(elsewhere)
}

fn compiled(patterns: &[&str]) -> Vec<Regex> {
    patterns.iter().filter_map(|p| Regex::new(p).ok()).collect()
}

/// Whether a value names the HTTP mode.
fn is_http(value: &str) -> bool {
    let folded = value.to_ascii_lowercase().replace(['-', '_'], "");
    matches!(
        &*folded,
        "streamablehttp" | "http" | "sse" | "streamable" | "httpstream" | "shttp"
    )
}

/// The same of a value that names a transport or mode at all.
fn is_http_mode(value: &str) -> bool {
    is_http(value) || value.eq_ignore_ascii_case("stream")
}

/// Whether a flag says which transport or mode is meant.
fn names_mode(flag: &str) -> bool {
    flag == "-t"
        || flag.starts_with("--")
            && (flag.to_ascii_lowercase().contains("transport") || ends_with_part(flag, "mode"))
}

fn is_http_switch(flag: &str) -> bool {
    flag.strip_prefix("--").is_some_and(|name| {
        let name = ["enable-", "use-"]
            .iter()
            .find_map(|before| name.strip_prefix(before))
            .unwrap_or(name);
        is_http(name)
    })
}

/// Whether it is one of the words of a flag: `port` in `--server-port`.
fn ends_with_part(flag: &str, part: &str) -> bool {
    let folded = flag.to_ascii_lowercase();
    folded.rsplit(['-', '_']).next() == Some(part)
}

fn is_on(value: &str) -> bool {
    matches!(&*value.to_ascii_lowercase(), "1" | "true" | "yes" | "on")
}

#[cfg(test)]
mod tests {
    use super::{
        HttpPart, address_words, http_parts, http_variables, listening_line, listening_ports,
    };

    #[test]
    fn what_makes_a_server_of_http_is_found_among_its_arguments() {
        let parts = |line: &str| http_parts(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(parts("--transport http --port 1"), [HttpPart::Value(1)]);
        assert_eq!(parts("x streamable-http"), [HttpPart::Value(1)]);
        assert_eq!(parts("--transport stream"), [HttpPart::Value(1)]);
        assert_eq!(parts("--sse x"), [HttpPart::Switch(0..1)]);
        assert_eq!(parts("--http=true"), [HttpPart::Switch(0..1)]);
        let joined = HttpPart::Joined(0, "--transport".to_owned());
        assert_eq!(parts("--transport=sse"), [joined]);
        for other in [
            "--transport stdio",
            "--transport streamablehttp https://h/mcp",
            "--sse http://h/sse",
            "--name http",
            "x stream",
            "--http-timeout 3",
            "--mode=read",
        ] {
            assert_eq!(parts(other), [], "{other}");
        }
    }

    #[test]
    fn what_makes_a_server_of_http_is_found_among_its_variables() {
        let of = |name, value| http_variables([(name, value)]);
        assert_eq!(of("MCP_MODE", "http"), [("MCP_MODE", true)]);
        assert_eq!(of("TRANSPORT", "SSE"), [("TRANSPORT", true)]);
        for name in [
            "HTTP_STREAMABLE_SERVER",
            "ENABLE_UNSAFE_STREAMABLE_HTTP_TRANSPORT",
            "USE_SSE",
        ] {
            assert_eq!(of(name, "true"), [(name, false)]);
        }
        for (name, value) in [
            ("HTTP_PROXY", "http://p:1"),
            ("MODE", "production"),
            ("USE_SSE", "false"),
            ("HTTP_TIMEOUT", "1"),
        ] {
            assert_eq!(of(name, value), [], "{name}");
        }
    }

    #[test]
    fn where_it_listens_is_found_with_its_value() {
        let words = |line: &str| address_words(&line.split(' ').collect::<Vec<_>>());
        assert_eq!(words("x --port 80 --host 0.0.0.0 y"), [1..3, 3..5]);
        assert_eq!(words("--server-port=80 -p 9"), [0..1, 1..3]);
        assert!(words("-p some-package --port auto --support 3").is_empty());
    }

    #[test]
    fn lines_that_say_that_it_listens_are_told_from_those_of_others() {
        for line in [
            "[supergateway] Listening on port 8000",
            "starting server on port 41004",
            "INFO:     Uvicorn running on http://127.0.0.1:33211 (Press CTRL+C to quit)",
            "[FastMCP info] Starting server in stateless mode on HTTP Stream at http://localhost:1/mcp",
            "Server is running on port 18312",
            "Now listening on: http://localhost:5000",
            "Serving HTTP on 127.0.0.1 port 8000 (http://127.0.0.1:8000/) ...",
            "Starting Streamable HTTP server...",
            "MCP Server listening on 127.0.0.1:41008",
            "HTTP mode listening at 3333",
            "Starting MCP server 'x' with transport 'http' on http://127.0.0.1:8000/mcp/",
            "level=INFO msg=\"MCP server starting\" transport=stream address=http://localhost:8080/mcp",
        ] {
            assert_eq!(listening_line(line), Some(line.trim()), "{line}");
        }
        for line in [
            "Server running on stdio",
            "Debugger listening on ws://127.0.0.1:9229/abc",
            "Prometheus exporter listening on port 9464",
            "Dashboard available at http://localhost:3000",
            "Error: failed to start server on port 80",
            "Connecting to postgres at db:5432",
            "loading model",
            "Starting default (STDIO) server...",
            "Ollama is running at http://localhost:11434",
            "Backend available at http://backend:8080",
            "Make sure the API is running on http://localhost:4000",
            "Connecting to the service running at http://localhost:4000",
            "Waiting for Chrome running on port 9222",
            "level=INFO msg=\"MCP server starting\" transport=stdio api=http://localhost:8080",
            "Found Jupyter server running at http://127.0.0.1:8888/",
        ] {
            assert_eq!(listening_line(line), None, "{line}");
        }
        let both = "Listening on port 8000\nSSE endpoint: http://localhost:8000/sse\n";
        assert_eq!(
            listening_line(both),
            Some("SSE endpoint: http://localhost:8000/sse")
        );
    }

    #[test]
    fn ports_stand_where_it_says_that_it_listens() {
        for (line, port) in [
            ("[10:22:31] Listening on port 8000", Some("8000")),
            (
                "2026-11-29 22:17:43 INFO Uvicorn running on http://127.0.0.1:33211 (Press)",
                Some("33211"),
            ),
            ("HTTP mode listening at 3333", Some("3333")),
            ("Now listening on: http://localhost:5000/mcp", Some("5000")),
            ("Serving HTTP on 127.0.0.1 port 8123 ...", Some("8123")),
            ("[10:22:31] HTTP server started", None),
            ("src/server.ts:120 starting http server", None),
            ("HTTP server started at 10:22:31", None),
            ("gRPC worker running on 127.0.0.1:9000", None),
            ("worker pool started on port 9000", None),
            (
                "Listening on http://127.0.0.1:8000/mcp with 4 workers",
                Some("8000"),
            ),
        ] {
            let found: Vec<&str> = listening_ports(line).iter().map(|it| it.1).collect();
            assert_eq!(found, port.as_slice(), "{line}");
        }
        for other in [
            "worker pool started on port 9000",
            "gRPC server listening on 127.0.0.1:50051",
            "[worker-1] listening on port 9000",
        ] {
            assert_eq!(listening_line(other), None, "{other}");
        }
        for own in [
            "/app/worker-mcp: listening on port 9000",
            "HTTP server with 4 workers started on port 8000",
        ] {
            assert_eq!(listening_line(own), Some(own));
        }
        let two = "Server running on port 8000\nadmin\nServer running on port 8001";
        assert_eq!(listening_ports(two).len(), 2);
    }
}
