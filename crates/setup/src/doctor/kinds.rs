//! What `type` says of a server, against what else its entry has.
//!
//! Main functions: [`contradiction`], and [`only_streamable`] once the server was
//! asked.

use super::clients::{CLIENTS, Client, ClientFormat, quoted};
use super::document::Node;
use super::entry::{Config, Place, Reached};
use jelly_base::model::{Finding, FindingLevel, Lint};
use jelly_base::text::one_line;

/// Which member says it.
const KIND: &str = "type";

/// How much of it is shown.
const SHOWN: usize = 40;

/// What of an entry can't be meant, since its `type` is for another way to
/// reach a server.
#[derive(Debug)]
pub(super) struct KindMismatch {
    pub level: FindingLevel,
    pub place: Place,
    pub what: String,
    pub fix: String,
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

/// That an entry's `type` says another way than its members do.
pub(super) fn contradiction(
    format: &ClientFormat,
    server: &Node,
    reached: &Reached,
) -> Option<KindMismatch> {
    let kind = server.member(KIND)?;
    let said = kind.text()?;
    let names = &format.members.kinds;
    let mut of_all = CLIENTS.iter().map(|format| &format.members.kinds);
    // A word that no client knows says neither.
    let (wrong, is_url) = match reached {
        Reached::Url { .. } => (of_all.any(|kinds| kinds.started.contains(&said)), true),
        Reached::Command { .. } => (of_all.any(|kinds| kinds.reached.contains(&said)), false),
    };
    if !wrong {
        return None;
    }
    let command = format.command_name();
    let mut urls = format.members.url.iter().copied();
    let there = urls.clone().find(|name| server.member(name).is_some());
    let url = there.or_else(|| urls.next()).unwrap_or("url");
    let (own, has, lacks) = match is_url {
        true => (names.reached, url, command),
        false => (names.started, command, url),
    };
    let own = own.first().copied().unwrap_or_default();
    let said = one_line(said, SHOWN);
    let client = match names.decide {
        true => format!(", and {} goes by `{KIND}`", format.name),
        false => String::new(),
    };
    Some(KindMismatch {
        level: match names.decide {
            true => FindingLevel::Error,
            false => FindingLevel::Warning,
        },
        place: kind.place,
        what: format!("`{KIND}` is `{said}`, but the entry has `{has}` and no `{lacks}`{client}."),
        fix: format!(
            "Write `{}`, or `{lacks}` in place of `{has}`.",
            format.member(KIND, &quoted(own))
        ),
    })
}
