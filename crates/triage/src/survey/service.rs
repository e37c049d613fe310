//! What clients speak with a server: by their names and words, and by its port; and what
//! it is called for that.

use crate::engine::tables::{built, table};
use jelly_base::model::FailureView;
use serde::Deserialize;
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// A service that tests use, of `tables/services.yaml`.
#[derive(Deserialize)]
struct Service {
    name: String,
    /// What it is, for a sentence.
    noun: String,
    /// Words of its clients, in small letters.
    words: Vec<String>,
    /// Where it usually listens.
    ports: Vec<String>,
}

static SERVICES: LazyLock<Vec<Service>> = LazyLock::new(|| table(built!("services")));

fn at_port(address: &str) -> Option<&'static Service> {
    let (_, port) = address.rsplit_once(':')?;
    let listens = |service: &&Service| service.ports.iter().any(|known| known == port);
    SERVICES.iter().find(listens)
}

/// What most likely listens at an address, by its port.
pub(super) fn noun_of(address: &str) -> &'static str {
    at_port(address).map_or("server", |service| &service.noun)
}

/// What listens at an address, by its port.
pub(super) fn service_at(address: &str) -> Option<&'static str> {
    at_port(address).map(|service| service.name.as_str())
}

/// The service of which a line has words, in small letters; nothing where it has those of
/// several.
pub(super) fn service_in(line: &str) -> Option<&'static str> {
    let speaks = |service: &&Service| service.words.iter().any(|word| is_word_of(line, word));
    let mut told = SERVICES.iter().filter(speaks);
    let first = told.next()?;
    told.next().is_none().then_some(&first.name)
}

/// What the failure's client speaks, as its words or the port of its server tell.
pub(super) fn service_of(
    failure: &FailureView<'_>,
    servers: &BTreeSet<String>,
) -> Option<&'static str> {
    let texts = [failure.evidence.map(|(_, text)| text), failure.message];
    let said = texts.into_iter().flatten().collect::<Vec<_>>().join("\n");
    let said = said.to_ascii_lowercase();
    let speaks = |service: &&Service| service.words.iter().any(|word| is_word_of(&said, word));
    let told = SERVICES.iter().find(speaks);
    let told = told.or_else(|| servers.iter().find_map(|server| at_port(server)));
    told.map(|service| service.name.as_str())
}

/// Whether a text holds a word, behind which stands no further letter.
fn is_word_of(text: &str, word: &str) -> bool {
    text.match_indices(word).any(|(at, _)| {
        let (before, after) = (&text[..at], &text[at + word.len()..]);
        // A header writes a blank as `%20`.
        let is_escaped = before.len() > 2 && before.as_bytes()[before.len() - 3] == b'%';
        (is_escaped || !before.ends_with(|c: char| c.is_alphanumeric()))
            && (word.ends_with(['.', ':']) || !after.starts_with(|c: char| c.is_alphabetic()))
    })
}
