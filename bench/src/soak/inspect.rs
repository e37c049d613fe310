//! What must hold after a run, however it ended.

use super::scenario::{Scenario, Signal};
use jsonschema::Validator;
use quick_xml::Reader;
use quick_xml::events::Event;
use serde_json::Value;
use std::fs;
use std::io;
use std::path::Path;
use std::time::{Duration, Instant};

/// What is left of a run.
pub struct Ended<'a> {
    pub scenario: &'a Scenario,
    /// The signals that were sent before it ended.
    pub sent: &'a [Signal],
    /// None where a signal ended it.
    pub code: Option<i32>,
    pub stdout: &'a [u8],
    pub stderr: &'a [u8],
    pub project: &'a Path,
    pub temporary: &'a Path,
    pub secret: &'a str,
    /// In the environment of all that it started.
    pub marker: &'a str,
}

/// A process of a killed jelly has so long to go.
const GRACE: Duration = Duration::from_secs(5);

/// Everything that does not hold, a sentence each.
pub fn findings(ended: &Ended<'_>, schema: &Validator) -> io::Result<Vec<String>> {
    let mut all = Vec::new();
    let killed = ended.sent.contains(&Signal::Kill);
    exit_code(ended, killed, &mut all);
    let alive = still_alive(ended.marker, if killed { GRACE } else { Duration::ZERO })?;
    if !alive.is_empty() {
        all.push(format!("alive afterwards: {}", alive.join("; ")));
    }
    no_secret("stdout", ended.stdout, ended.secret, &mut all);
    no_secret("stderr", ended.stderr, ended.secret, &mut all);
    let mut files = Vec::new();
    walk(ended.project, &mut files)?;
    for (path, bytes) in &files {
        no_secret(&path.display().to_string(), bytes, ended.secret, &mut all);
    }
    let stderr = String::from_utf8_lossy(ended.stderr);
    if stderr.contains("panicked at") && stderr.contains("src/") && stderr.contains("jelly") {
        all.push(format!("a panic: {stderr}"));
    }
    if killed {
        return Ok(all);
    }
    let mut left = Vec::new();
    walk(ended.temporary, &mut left)?;
    if let Some((path, _)) = left.first() {
        all.push(format!("a temporary file is left: {}", path.display()));
    }
    for (path, bytes) in &files {
        match path.file_name().and_then(|name| name.to_str()) {
            Some("results.json") => result(bytes, ended, schema, &mut all),
            Some("junit.xml") => well_formed(bytes, &mut all),
            Some(name) if name.starts_with(".writing-") => {
                all.push(format!("a torn report: {}", path.display()));
            }
            _ => {}
        }
    }
    let reported = files.iter().any(|(path, _)| path.ends_with("results.json"));
    // A signal can come before there is a run to report.
    if !reported && !ended.hurried() && ended.sent.is_empty() {
        all.push("no results.json".into());
    }
    Ok(all)
}

impl Ended<'_> {
    /// A third signal ends at once.
    fn hurried(&self) -> bool {
        self.sent.len() >= 3
    }
}

fn exit_code(ended: &Ended<'_>, killed: bool, all: &mut Vec<String>) {
    let interrupted = match ended.sent.first() {
        Some(Signal::Interrupt) => Some(130),
        Some(Signal::Terminate) => Some(143),
        Some(Signal::Kill) | None => None,
    };
    let fine = match ended.code {
        Some(code) => ended.scenario.allowed.contains(&code) || interrupted == Some(code),
        // A signal before it listens ends it as it ends any program.
        None => killed || !ended.sent.is_empty(),
    };
    if !fine {
        all.push(format!(
            "exit {:?} after {:?}; the faults allow {:?}",
            ended.code, ended.sent, ended.scenario.allowed
        ));
    }
}

/// Processes with the marker in their environment, after at most `grace`.
fn still_alive(marker: &str, grace: Duration) -> io::Result<Vec<String>> {
    let since = Instant::now();
    loop {
        let mut alive = Vec::new();
        for entry in fs::read_dir("/proc")?.flatten() {
            let name = entry.file_name();
            if !name.to_string_lossy().bytes().all(|b| b.is_ascii_digit()) {
                continue;
            }
            // It may be gone by now, or another user's.
            let environment = fs::read(entry.path().join("environ")).unwrap_or_default();
            if contains(&environment, marker.as_bytes()) {
                let command = fs::read(entry.path().join("cmdline")).unwrap_or_default();
                let command = String::from_utf8_lossy(&command).replace('\0', " ");
                alive.push(format!("{} {command}", name.to_string_lossy()));
            }
        }
        if alive.is_empty() || since.elapsed() >= grace {
            return Ok(alive);
        }
        std::thread::sleep(Duration::from_millis(20));
    }
}

fn no_secret(place: &str, bytes: &[u8], secret: &str, all: &mut Vec<String>) {
    let hex = |upper: bool| {
        let digits = secret.bytes().map(|byte| match upper {
            true => format!("{byte:02X}"),
            false => format!("{byte:02x}"),
        });
        digits.collect::<String>()
    };
    for form in [
        secret.to_owned(),
        secret.to_uppercase(),
        hex(false),
        hex(true),
    ] {
        if contains(bytes, form.as_bytes()) {
            all.push(format!("the secret stands in {place}"));
        }
    }
}

fn contains(bytes: &[u8], needle: &[u8]) -> bool {
    bytes.windows(needle.len()).any(|window| window == needle)
}

fn walk(folder: &Path, files: &mut Vec<(std::path::PathBuf, Vec<u8>)>) -> io::Result<()> {
    for entry in fs::read_dir(folder)? {
        let path = entry?.path();
        if path.is_symlink() {
            continue;
        }
        if path.is_dir() {
            walk(&path, files)?;
        } else {
            let bytes = fs::read(&path)?;
            files.push((path, bytes));
        }
    }
    Ok(())
}

/// `results.json` keeps its schema, its sums, and its word about the exit.
fn result(bytes: &[u8], ended: &Ended<'_>, schema: &Validator, all: &mut Vec<String>) {
    let value: Value = match serde_json::from_slice(bytes) {
        Ok(value) => value,
        Err(error) => return all.push(format!("results.json is no JSON: {error}")),
    };
    if let Err(error) = schema.validate(&value) {
        let place = error.instance_path().to_string();
        all.push(format!(
            "results.json breaks its schema at {place}: {error}"
        ));
    }
    let (said, code) = (value["exit_code"].as_i64(), ended.code);
    // What a third signal ends at once leaves the report of an iteration.
    let unfinished = ended.hurried() && value["in_progress"] == true;
    if said != code.map(i64::from) && !unfinished {
        all.push(format!("results.json says exit {said:?}, it was {code:?}"));
    }
    for iteration in value["iterations"].as_array().into_iter().flatten() {
        let count = |name: &str| iteration["totals"][name].as_u64().unwrap_or_default();
        let parts = ["passed", "failed", "blocked", "quarantined", "skipped"];
        if parts.into_iter().map(count).sum::<u64>() != count("total") {
            all.push(format!("totals don't add up: {}", iteration["totals"]));
        }
    }
}

fn well_formed(bytes: &[u8], all: &mut Vec<String>) {
    let mut reader = Reader::from_reader(bytes);
    loop {
        match reader.read_event() {
            Ok(Event::Eof) => return,
            Ok(_) => {}
            Err(error) => return all.push(format!("junit.xml is no XML: {error}")),
        }
    }
}
