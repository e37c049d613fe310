//! What `type` says of a server, against what else its entry has.
//!
//! Main function: [`contradiction`].

use super::clients::{CLIENTS, ClientFormat, quoted};
use super::document::Node;
use super::entry::{Place, Reached};
use jelly_base::model::FindingLevel;
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
