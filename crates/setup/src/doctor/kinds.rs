//! What `type` says of a server, against what else its entry has.
//!
//! Main functions: [`kind_problem`], and [`only_streamable`] once the server was
//! asked.

use super::clients::{CLIENTS, Client, ClientFormat, WithoutKind};
use super::document::Node;
use super::entry::{Config, Place, Reached};
use super::written::quoted;
use jelly_base::model::{Finding, FindingLevel, Lint};
use jelly_base::text::{one_line, shell_path, shell_word};
use std::path::Path;

/// Which member says it.
const KIND: &str = "type";

/// How much of it is shown.
const SHOWN: usize = 40;

/// What is wrong with an entry's `type`.
#[derive(Debug)]
pub(super) struct KindProblem {
    pub lint: Lint,
    pub level: FindingLevel,
    pub place: Place,
    pub what: String,
    pub fix: String,
}

impl KindProblem {
    pub(super) fn finding(self, file: &Path) -> Finding {
        Finding {
            lint: self.lint,
            level: self.level,
            at: format!("{}:{}", file.display(), self.place),
            what: self.what,
            fix: self.fix,
        }
    }
}

/// That an entry's `type` is `sse`, and its server speaks Streamable HTTP alone;
/// `answered` says what came of the request that opens a stream of events.
#[must_use]
pub fn only_streamable(config: &Config, at: Place, url: &str, answered: &str) -> Finding {
    let format = config.client.format();
    let kinds = &format.members.kinds;
    // VS Code tries Streamable HTTP first, whichever of both it reads.
    let goes_by_it = kinds.decide && config.client != Client::VsCode;
    let client = match goes_by_it {
        true => format!("{} goes by it, and", format.name),
        false => "a client that goes by it".to_owned(),
    };
    let own = kinds.reached.first().copied().unwrap_or_default();
    Finding {
        lint: Lint::TypeMismatch,
        level: match goes_by_it {
            true => FindingLevel::Error,
            false => FindingLevel::Warning,
        },
        at: config.at(at),
        what: format!(
            "`{KIND}` is `sse`, and what answers at {url} is Streamable HTTP alone: {client} opens \
             a stream of events by GET, which {answered}."
        ),
        fix: format!("Write `{}`.", format.member(KIND, &quoted(own))),
    }
}

/// That a client takes no server with a URL from this file.
pub(super) fn skipped_url(
    format: &ClientFormat,
    file: &Path,
    name: &str,
    place: Place,
) -> KindProblem {
    let file = shell_path(&file.to_string_lossy());
    KindProblem {
        lint: Lint::Malformed,
        level: FindingLevel::Error,
        place,
        what: format!(
            "{} skips this entry: of this file it takes servers with a `{}` alone.",
            format.name,
            format.command_name()
        ),
        fix: format!(
            "`jelly proxy wrap {file} {}` gives it a command that passes everything on; or delete \
             it, and add its URL under Settings > Connectors.",
            shell_word(name)
        ),
    }
}

/// That an entry's `type` says another way than its members do, is missing, or none
/// that the client knows.
pub(super) fn kind_problem(
    format: &ClientFormat,
    server: &Node,
    reached: &Reached,
) -> Option<KindProblem> {
    let Some(kind) = server.member(KIND) else {
        return missing(format, server.place, reached);
    };
    let said = kind.text()?;
    let names = &format.members.kinds;
    let mut of_all = CLIENTS.iter().map(|format| &format.members.kinds);
    let (own, is_other, is_url) = match reached {
        Reached::Url { .. } => (
            names.reached,
            of_all.any(|kinds| kinds.started.contains(&said)),
            true,
        ),
        Reached::Command { .. } => (
            names.started,
            of_all.any(|kinds| kinds.reached.contains(&said)),
            false,
        ),
    };
    let write = |own: &[&str]| {
        let own = own.first().copied().unwrap_or_default();
        format!("Write `{}`", format.member(KIND, &quoted(own)))
    };
    // A word that no client knows says neither.
    if !is_other {
        let is_closed = match names.without {
            WithoutKind::None => true,
            WithoutKind::NoUrl => is_url,
            WithoutKind::Inferred | WithoutKind::Sse => false,
        };
        let is_strange = is_closed && !own.contains(&said);
        return is_strange.then(|| KindProblem {
            lint: Lint::Malformed,
            level: FindingLevel::Error,
            place: kind.place,
            what: format!(
                "`{KIND}` is `{}`, and {} knows `{}` and `{}` alone.",
                one_line(said, SHOWN),
                format.name,
                names.started.join("`, `"),
                names.reached.join("`, `"),
            ),
            fix: format!("{}.", write(own)),
        });
    }
    let command = format.command_name();
    let mut urls = format.members.url.iter().copied();
    let there = urls.clone().find(|name| server.member(name).is_some());
    let url = there.or_else(|| urls.next()).unwrap_or("url");
    let (has, lacks) = match is_url {
        true => (url, command),
        false => (command, url),
    };
    let said = one_line(said, SHOWN);
    let client = match names.decide {
        true => format!(", and {} goes by `{KIND}`", format.name),
        false => String::new(),
    };
    Some(KindProblem {
        lint: Lint::TypeMismatch,
        level: match names.decide {
            true => FindingLevel::Error,
            false => FindingLevel::Warning,
        },
        place: kind.place,
        what: format!("`{KIND}` is `{said}`, but the entry has `{has}` and no `{lacks}`{client}."),
        fix: format!("{}, or `{lacks}` in place of `{has}`.", write(own)),
    })
}

/// What a client makes of an entry without a `type`, where that is not meant.
fn missing(format: &ClientFormat, place: Place, reached: &Reached) -> Option<KindProblem> {
    let names = &format.members.kinds;
    let client = format.name;
    let (own, is_url) = match reached {
        Reached::Url { .. } => (names.reached, true),
        Reached::Command { .. } => (names.started, false),
    };
    let (lint, level, what) = match names.without {
        WithoutKind::None => (
            Lint::Malformed,
            FindingLevel::Error,
            format!("{client} takes no server without it"),
        ),
        WithoutKind::NoUrl if is_url => (
            Lint::Malformed,
            FindingLevel::Error,
            format!("{client} takes no server with a URL without it"),
        ),
        WithoutKind::Sse if is_url => (
            Lint::TypeMismatch,
            FindingLevel::Warning,
            format!("{client} takes a server with a URL for one of SSE without it"),
        ),
        WithoutKind::Inferred | WithoutKind::NoUrl | WithoutKind::Sse => return None,
    };
    let own = own.first().copied().unwrap_or_default();
    Some(KindProblem {
        lint,
        level,
        place,
        what: format!("`{KIND}` is missing, and {what}."),
        fix: format!("Write `{}`.", format.member(KIND, &quoted(own))),
    })
}
