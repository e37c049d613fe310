//! The servers, services and things that lack, in the lines of a text that tell of an error.
//!
//! Main type: [`MentionReader`].

use super::error_lines::{LineKind, is_of_log, telling_lines};
use super::lacks::{Subject, SubjectKind, lacking};
use super::subject::same;
use super::unreached::note_service;
use jelly_base::text::addresses;
use regex::Regex;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Servers that are read of one line.
const OF_LINE: usize = 24;

/// How the texts of a failure are read.
pub(super) struct MentionReader {
    /// Its client was not answered.
    pub(super) is_away: bool,
    /// What a log says counts, which some writers put into the failure's text.
    pub(super) logs: bool,
    /// Of a log only its errors.
    pub(super) errors_only: bool,
}

impl MentionReader {
    /// Adds what a text names, and takes away the servers that it says are back. Whom a
    /// client that was not answered asks is added where nobody else is named.
    pub(super) fn read(&self, text: &str, found: &mut BTreeSet<Subject>) {
        let mut lines = telling_lines(text);
        lines.retain(|(_, line)| self.logs || !is_of_log(line));
        if self.errors_only {
            lines.retain(|(kind, line)| *kind == LineKind::Heals || tells_of_a_failure(line));
        }
        let server = |address: String| Subject::new(SubjectKind::Server, &address);
        for (kind, line) in &lines {
            note_service(*kind, line, found);
            match kind {
                LineKind::Away => {
                    found.extend(named_servers(line).into_iter().map(server));
                    lacking(line, found);
                }
                LineKind::Lacks => lacking(line, found),
                LineKind::Heals => {
                    let back = named_servers(line);
                    let again = ["attempt", "retr", "reconnected"];
                    // Nobody is named: who was asked before is meant.
                    let all = back.is_empty() && again.iter().any(|word| line.contains(word));
                    found.retain(|one| {
                        let is_back = all || back.iter().any(|back| same(&one.name, back));
                        one.kind != SubjectKind::Server || !is_back
                    });
                }
                LineKind::Asks => {}
            }
        }
        let names_one = found.iter().any(|one| one.kind == SubjectKind::Server);
        if self.is_away && !names_one {
            let asks = lines.iter().filter(|(kind, _)| *kind == LineKind::Asks);
            found.extend(asks.flat_map(|(_, line)| named_servers(line)).map(server));
        }
    }
}

/// Whether a line of a log says that something failed, and not how that was overcome.
fn tells_of_a_failure(line: &str) -> bool {
    const FAILS: [&str; 12] = [
        "ERROR",
        "Exception",
        "Error: ",
        "error: ",
        "failed",
        "could not",
        "cannot",
        "unable to",
        "rrno ",
        "os error",
        "refused",
        "unreachable",
    ];
    const OVERCOME: [&str; 11] = [
        "DEBUG",
        "INFO",
        "TRACE",
        "fall",
        "retry",
        "cache",
        "ignor",
        "continu",
        "skipp",
        "instead",
        "in-memory",
    ];
    let has = |words: &[&str]| words.iter().any(|word| line.contains(word));
    has(&FAILS) && !has(&OVERCOME)
}

/// The addresses in a line, with what only a sentence about an error makes one. Some
/// clients put them behind letters that are part of no address elsewhere:
/// `cluster: cart|127.0.0.1:7001`, `host=db,port=5432`, `\"db\" port 5432` within a text;
/// and the JVM tells a name and what it resolves to.
pub(super) fn named_servers(line: &str) -> Vec<String> {
    static RESOLVED: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"\b([A-Za-z][\w.-]*)/\d{1,3}(?:\.\d{1,3}){3}:(\d{2,5})\b").ok()
    });
    static SILENT: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"\b([a-z0-9-]+(?:\.[a-z0-9-]+)+) (?:did not (?:answer|respond)|does not answer|(?:is )?(?:down|unreachable|unavailable|not reachable|offline)|timed out|refused)\b",
        )
        .ok()
    });
    static IN_WORDS: LazyLock<Option<Regex>> =
        LazyLock::new(|| Regex::new(r"\bhost, port: ([\w.-]+), (\d{2,5})\b").ok());
    // Only where a cause names it, too, does it tell anything.
    static HOST: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(
            r"(?:^|[^\w.@-])(?P<host>[a-z0-9-]+(?:\.[a-z0-9-]+)*\.(?:com|cloud|corp|dev|example|internal|invalid|io|lan|local|net|org|svc|test))\b",
        )
        .ok()
    });
    let line = line.replace("\\\"", "\"").replace('|', " ");
    let line = match IN_WORDS.as_ref() {
        Some(in_words) => in_words.replace_all(&line, "${1}:${2}").into_owned(),
        None => line,
    };
    let line = line.replace(",port=", ", port=");
    let line = match RESOLVED.as_ref() {
        Some(resolved) => resolved.replace_all(&line, "${1}:${2}").into_owned(),
        None => line,
    };
    let mut found: Vec<String> = addresses(&line).take(OF_LINE).collect();
    let silent = SILENT.as_ref().and_then(|silent| silent.captures(&line));
    found.extend(silent.map(|silent| silent[1].to_owned()));
    if found.is_empty() {
        // Behind an `@` it is that of a person.
        let hosts = HOST.as_ref().map(|host| host.captures_iter(&line));
        found.extend(
            hosts
                .into_iter()
                .flatten()
                .filter_map(|found| found.name("host"))
                .filter(|host| !is_of_program(&line[host.end()..]))
                .map(|host| host.as_str().to_owned()),
        );
    }
    found
}

/// Whether what goes on like this is a name in a program and none of a host:
/// `java.net.ConnectException`, `threading.local()`.
fn is_of_program(rest: &str) -> bool {
    let mut next = rest.chars();
    match next.next() {
        Some('.') => next.next().is_some_and(|c| c.is_alphanumeric() || c == '_'),
        // What a name resolves to stands in brackets behind it.
        Some('(' | '[') => !next.next().is_some_and(|c| c.is_ascii_digit() || c == ':'),
        Some(sign) => matches!(sign, '$' | '#' | '_') || rest.starts_with("::"),
        None => false,
    }
}
