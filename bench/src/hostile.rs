//! Single hostile answers: what each of them costs jelly, and when it is over.
//!
//! Each is one run of one step, at a server that is this program
//! (`hostile-server KIND`), which makes what it sends as it goes and takes no
//! memory itself.

use super::Options;
use super::measure::run;
use flate2::Compression;
use flate2::write::{GzEncoder, ZlibEncoder};
use std::io::{self, BufRead, BufWriter, Write};
use std::net::TcpListener;
use std::path::Path;
use std::process::Command;
use std::time::Duration;

/// The step's limit, and what its end may take beyond it. The run's takes what
/// starting jelly and its server, a sign of life of it and its end take besides.
const LIMIT: Duration = Duration::from_secs(4);
const BEYOND: Duration = Duration::from_secs(1);
/// The most that a process may take.
const MEMORY: u64 = 512 * 1024 * 1024;

/// By name; those of HTTP begin so.
const KINDS: [&str; 29] = [
    "a line without end",
    "a text of 15 MiB",
    "a text of 60 MiB",
    "15 MiB of zeros in a list",
    "15 MiB of empty maps",
    "60 MiB of empty maps",
    "15 MiB of small members",
    "15 MiB of zeros as text",
    "as many zeros as are read",
    "as many zeros as are read, as text",
    "16 MiB of usual rows",
    "16 MiB of usual rows as text",
    "100,000 lists within each other",
    "a schema that doubles 30 times",
    "a schema of 8 MiB",
    "a pattern that grows",
    "a pattern that looks back and forth",
    "notifications without end",
    "progress without end",
    "stderr without end",
    "a line of stderr without end",
    "noise without end",
    "pages without end",
    "no answer",
    "a byte at a time",
    "http: a body without end",
    "http: an event without end",
    "http: a gzip bomb",
    "http: a deflate bomb of events",
];
/// 5 MiB of them are little less than what an answer may take.
const READ: usize = 5 << 20;
const ROW: &str = "{\"id\":4711,\"name\":\"Erika Mustermann\",\"mail\":\"erika@example.com\",\"tags\":[\"a\",\"b\"]}";

/// Measures, and prints the figures.
pub fn measure(options: &Options) -> io::Result<()> {
    println!(
        "{:<40} {:>10} {:>9} {:>9} {:>5}",
        "hostile answer", "peak", "step", "run", "exit"
    );
    let mut missed = 0;
    for kind in KINDS {
        let folder = tempfile::tempdir()?;
        let plan = folder.path().join("plan.yaml");
        std::fs::write(&plan, plan_of(kind, &std::env::current_exe()?)?)?;
        // It is started in a folder of its own.
        let mut command = Command::new(std::path::absolute(&options.jelly)?);
        command
            .args([
                "run",
                "--retries",
                "0",
                "--no-confirm",
                "--no-repair",
                "--wire-check",
            ])
            .arg(&plan)
            .current_dir(folder.path());
        let done = run(&mut command)?;
        let step = step_of(folder.path());
        let kept = done.peak_bytes <= MEMORY && step.is_none_or(|step| step <= LIMIT + BEYOND);
        missed += u32::from(!kept);
        #[expect(clippy::cast_precision_loss, reason = "it is shown with one digit")]
        let peak = done.peak_bytes as f64 / 1024.0 / 1024.0;
        let code = done
            .code
            .map_or_else(|| "-".to_owned(), |code| code.to_string());
        let wall = done.wall.as_secs_f64();
        let kept = if kept { "" } else { " MISSED" };
        // A server that does not start has no step.
        let step = step.map_or_else(
            || format!("{:>9}", "-"),
            |step| format!("{:>7.2} s", step.as_secs_f64()),
        );
        println!("{kind:<40} {peak:>6.1} MiB {step} {wall:>7.2} s {code:>5}{kept}");
    }
    println!(
        "at most {} MiB and {:?}: {missed} missed",
        MEMORY / 1024 / 1024,
        LIMIT + BEYOND
    );
    Ok(())
}

/// When the step ended, after it began, by the run's own report.
fn step_of(folder: &Path) -> Option<Duration> {
    let report = std::fs::read(folder.join("reports/latest/results.json")).ok()?;
    let report: serde_json::Value = serde_json::from_slice(&report).ok()?;
    let took = report.pointer("/iterations/0/steps/0/duration_ms")?;
    Duration::try_from_secs_f64(took.as_f64()? / 1000.0).ok()
}

/// A plan with one step; the server of HTTP is a thread of this process.
fn plan_of(kind: &str, own: &Path) -> io::Result<String> {
    let limit = LIMIT.as_secs();
    // What is asked of JSON makes jelly read texts as such.
    let expect = match kind.contains("as text") {
        true => "structured: { contains: nothing of it }",
        false => "text: { contains: nothing of it }, json: [{ path: $, contains: nothing of it }]",
    };
    let server = if kind.starts_with("http") {
        let listener = TcpListener::bind("127.0.0.1:0")?;
        let url = format!("http://{}/mcp", listener.local_addr()?);
        let kind = kind.to_owned();
        std::thread::spawn(move || {
            for stream in listener.incoming().flatten() {
                let kind = kind.clone();
                std::thread::spawn(move || serve_http(stream, &kind));
            }
        });
        format!("url: {url:?}")
    } else {
        format!("command: {own:?}, args: [hostile-server, {kind:?}]")
    };
    Ok(format!(
        "version: 1\nservers: {{ s: {{ {server}, era: legacy, startup_timeout: {limit}s, \
         request_timeout: {limit}s, shutdown_timeout: 200ms }} }}\nsteps:\n  - {{ id: it, tool: t, \
         timeout: {limit}s, expect: {{ {expect} }} }}\n"
    ))
}

/// Serves on stdin and stdout, until the call.
pub fn serve(kind: &str) -> io::Result<()> {
    let mut out = BufWriter::with_capacity(64 * 1024, io::stdout().lock());
    for line in io::stdin().lock().lines() {
        let line = line?;
        let message: serde_json::Value = serde_json::from_str(&line).unwrap_or_default();
        let (id, method) = (
            &message["id"],
            message["method"].as_str().unwrap_or_default(),
        );
        if id.is_null() {
            continue;
        }
        match method {
            "initialize" => {
                let version = &message["params"]["protocolVersion"];
                writeln!(
                    out,
                    "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"protocolVersion\":{version},\
                     \"capabilities\":{{\"tools\":{{}}}},\"serverInfo\":{{\"name\":\"h\",\"version\":\"1\"}}}}}}"
                )?;
            }
            "ping" => writeln!(out, "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{}}}}")?,
            "tools/list" => list(kind, id, &mut out)?,
            "tools/call" => {
                call(
                    kind,
                    id,
                    &message["params"]["_meta"]["progressToken"],
                    &mut out,
                )?;
            }
            _ => writeln!(
                out,
                "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"error\":{{\"code\":-32601,\"message\":\"no\"}}}}"
            )?,
        }
        out.flush()?;
    }
    Ok(())
}

fn list(kind: &str, id: &serde_json::Value, out: &mut impl Write) -> io::Result<()> {
    write!(
        out,
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"tools\":[{{\"name\":\"t\",\
         \"inputSchema\":{{\"type\":\"object\"}}"
    )?;
    match kind {
        "a schema that doubles 30 times" => {
            write!(
                out,
                ",\"outputSchema\":{{\"type\":\"object\",\"$ref\":\"#/$defs/l0\",\"$defs\":{{"
            )?;
            for level in 0..30 {
                let next = format!("{{\"$ref\":\"#/$defs/l{}\"}}", level + 1);
                write!(out, "\"l{level}\":{{\"anyOf\":[{next},{next}]}},")?;
            }
            write!(out, "\"l30\":{{\"type\":\"string\"}}}}}}")?;
        }
        "a schema of 8 MiB" => {
            write!(
                out,
                ",\"outputSchema\":{{\"type\":\"object\",\"properties\":{{\"x\":{{}}"
            )?;
            for n in 0..200_000 {
                write!(out, ",\"p{n}\":{{\"type\":\"string\",\"minLength\":1}}")?;
            }
            write!(out, "}}}}")?;
        }
        "a pattern that grows" => write!(
            out,
            ",\"outputSchema\":{{\"type\":\"object\",\"properties\":{{\"said\":{{\"pattern\":\"(((a{{1,1000}}){{1,1000}}){{1,1000}})$\"}}}}}}"
        )?,
        "a pattern that looks back and forth" => write!(
            out,
            ",\"outputSchema\":{{\"type\":\"object\",\"properties\":{{\"said\":{{\"pattern\":\"^(?=(a+)+b)(a|aa)+$\"}}}}}}"
        )?,
        _ => {}
    }
    write!(out, "}}]")?;
    if kind == "pages without end" {
        write!(out, ",\"nextCursor\":\"c{id}\"")?;
    }
    writeln!(out, "}}}}")
}

fn call(
    kind: &str,
    id: &serde_json::Value,
    token: &serde_json::Value,
    out: &mut impl Write,
) -> io::Result<()> {
    const MIB: usize = 1024 * 1024;
    let begin = format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"result\":{{\"content\":[{{\"type\":\"text\",\"text\":\""
    );
    let structured = format!("{begin}x\"}}],\"structuredContent\":{{\"it\":[");
    match kind {
        "a line without end" => {
            out.write_all(begin.as_bytes())?;
            without_end(out, &[b'a'; 4096])
        }
        "a text of 15 MiB" | "a text of 60 MiB" => {
            let size = if kind.contains("15") { 15 } else { 60 };
            out.write_all(begin.as_bytes())?;
            times(out, "aaaaaaaaaaaaaaaa", size * MIB)?;
            out.write_all(b"\"}]}}\n")
        }
        "15 MiB of zeros in a list" => filled(out, &structured, "0", 15 * MIB),
        "15 MiB of empty maps" => filled(out, &structured, "{}", 15 * MIB),
        "60 MiB of empty maps" => filled(out, &structured, "{}", 60 * MIB),
        "15 MiB of small members" => filled(out, &structured, "{\"a\":0}", 15 * MIB),
        "as many zeros as are read" => filled(out, &structured, "0", READ),
        "16 MiB of usual rows" => filled(out, &structured, ROW, 16 * MIB),
        "15 MiB of zeros as text" => filled_text(out, &begin, "0", 15 * MIB),
        "as many zeros as are read, as text" => filled_text(out, &begin, "0", READ),
        "16 MiB of usual rows as text" => filled_text(out, &begin, ROW, 16 * MIB),
        "100,000 lists within each other" => {
            out.write_all(structured.as_bytes())?;
            times(out, "[", 100_000)?;
            times(out, "]", 100_000)?;
            out.write_all(b"]}}}\n")
        }
        "notifications without end" => without_end(
            out,
            b"{\"jsonrpc\":\"2.0\",\"method\":\"notifications/message\",\"params\":{\"level\":\"info\",\"data\":\"x\"}}\n",
        ),
        "progress without end" => {
            let mut n = 0_u64;
            loop {
                n += 1;
                writeln!(
                    out,
                    "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\"progressToken\":{token},\"progress\":{n}}}}}"
                )?;
            }
        }
        "stderr without end" => without_end(&mut io::stderr().lock(), &b"words of a log\n".repeat(256)),
        "a line of stderr without end" => without_end(&mut io::stderr().lock(), &[b'e'; 4096]),
        "noise without end" => without_end(out, b"no message at all\n"),
        "no answer" => loop {
            std::thread::park();
        },
        "a byte at a time" => {
            for byte in begin.bytes().cycle() {
                out.write_all(&[byte])?;
                out.flush()?;
                std::thread::sleep(Duration::from_millis(10));
            }
            Ok(())
        }
        _ => {
            let said = "a".repeat(5000);
            writeln!(out, "{begin}x\"}}],\"structuredContent\":{{\"said\":\"{said}\"}}}}}}")
        }
    }
}

fn without_end(out: &mut impl Write, piece: &[u8]) -> io::Result<()> {
    loop {
        out.write_all(piece)?;
    }
}

/// A piece again and again, so many bytes of it.
fn times(out: &mut impl Write, piece: &str, bytes: usize) -> io::Result<()> {
    for _ in 0..bytes / piece.len() {
        out.write_all(piece.as_bytes())?;
    }
    Ok(())
}

fn filled(out: &mut impl Write, begin: &str, item: &str, bytes: usize) -> io::Result<()> {
    write!(out, "{begin}{item}")?;
    times(out, &format!(",{item}"), bytes)?;
    out.write_all(b"]}}}\n")
}

/// The same in a text that is JSON.
fn filled_text(out: &mut impl Write, begin: &str, item: &str, bytes: usize) -> io::Result<()> {
    let item = item.replace('"', "\\\"");
    write!(out, "{begin}[{item}")?;
    times(out, &format!(",{item}"), bytes)?;
    out.write_all(b"]\"}]}}\n")
}

/// Answers any request by what never ends, or by little that becomes much.
fn serve_http(mut stream: std::net::TcpStream, kind: &str) -> io::Result<()> {
    let events = kind.contains("event");
    let packed = ["gzip", "deflate"]
        .into_iter()
        .find(|packing| kind.contains(packing));
    let kind = if events {
        "text/event-stream"
    } else {
        "application/json"
    };
    let mut head = [0; 4096];
    let _ = io::Read::read(&mut stream, &mut head)?;
    let packing = packed.map_or_else(String::new, |p| format!("content-encoding: {p}\r\n"));
    write!(
        stream,
        "HTTP/1.1 200 OK\r\ncontent-type: {kind}\r\n{packing}connection: close\r\n\r\n"
    )?;
    let begin: &[u8] = if events {
        b"data: {\"jsonrpc\":\""
    } else {
        b"{\"jsonrpc\":\""
    };
    match packed {
        Some("gzip") => {
            // One member after the other, each a thousand times what is sent.
            let member = |bytes: &[u8]| {
                let mut packer = GzEncoder::new(Vec::new(), Compression::best());
                packer.write_all(bytes)?;
                packer.finish()
            };
            stream.write_all(&member(begin)?)?;
            return without_end(&mut stream, &member(&vec![b'a'; 4 << 20])?);
        }
        Some(_) => {
            let mut packer = ZlibEncoder::new(stream, Compression::best());
            packer.write_all(begin)?;
            return without_end(&mut packer, &[b'a'; 64 * 1024]);
        }
        None => stream.write_all(begin)?,
    }
    without_end(&mut stream, &[b'a'; 64 * 1024])
}
