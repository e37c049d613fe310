//! What is proved of the code that each step of an iteration rested on: its own
//! server's, and that of every server that a step before it ran on.

use super::earlier::{EarlierStep, Ran};
use super::revision::StableHash;
use super::seen::Foundations;
use crate::code_identity::{CodeIdentity, ServerCode};
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;

/// The code of all servers that a step rested on; each is proved.
#[derive(Debug, PartialEq, Eq)]
pub struct ProvenCode {
    servers: ServerCode,
    key: u64,
}

impl ProvenCode {
    fn new(servers: ServerCode) -> Self {
        let mut hash = StableHash::new(&[]);
        hash.each(servers.iter(), |hash, (server, code)| {
            hash.text(server).text(&code.to_string());
        });
        Self {
            key: hash.finish(),
            servers,
        }
    }

    /// Equal for equal code, on every machine and from every build.
    #[must_use]
    pub fn key(&self) -> u64 {
        self.key
    }

    /// What proves it, as in `commit 0123…`, each proof once.
    #[must_use]
    pub fn proofs(&self) -> Vec<String> {
        let proofs: BTreeSet<&CodeIdentity> = self.servers.values().collect();
        proofs.into_iter().map(ToString::to_string).collect()
    }
}

/// By step, as far as it is proved. `steps` are those of the iteration, in the
/// plan's order.
#[must_use]
pub fn proven_code(
    steps: &Foundations,
    earlier: &[EarlierStep],
    code: &ServerCode,
) -> BTreeMap<String, Rc<ProvenCode>> {
    let mut proven = BTreeMap::new();
    if code.is_empty() {
        return proven;
    }
    let mut before: BTreeSet<&str> = BTreeSet::new();
    // Of a thousand steps most rest on the same servers.
    let mut known: BTreeMap<BTreeSet<&str>, Option<Rc<ProvenCode>>> = BTreeMap::new();
    for step in earlier {
        let facts = steps.get(&step.id);
        let alone = facts.is_some_and(|facts| facts.is_startup);
        let mut servers = match alone {
            true => BTreeSet::new(),
            false => before.clone(),
        };
        servers.insert(&step.server);
        let captured = facts.into_iter().flat_map(|facts| &facts.servers);
        servers.extend(captured.map(String::as_str));
        let of_servers = known.entry(servers).or_insert_with_key(|servers| {
            let servers = servers.iter();
            let all: Option<ServerCode> = servers
                .map(|server| Some(((*server).to_owned(), code.get(*server)?.clone())))
                .collect();
            all.map(|servers| Rc::new(ProvenCode::new(servers)))
        });
        if let Some(code) = of_servers {
            proven.insert(step.id.clone(), code.clone());
        }
        // What was not sent has touched no server.
        if !alone && step.ran != Ran::NotRun {
            before.insert(&step.server);
        }
    }
    proven
}

#[cfg(test)]
mod tests {
    use super::{ProvenCode, proven_code};
    use crate::code_identity::{CodeIdentity, ServerCode};
    use crate::triage_loop::{EarlierStep, Foundations, Ran};
    use jelly_base::model::Section;

    fn step(id: &str, server: &str, ran: Ran) -> EarlierStep {
        EarlierStep {
            id: id.into(),
            server: server.into(),
            section: Section::Steps,
            ran,
        }
    }

    fn commit(name: &str) -> CodeIdentity {
        CodeIdentity::Commit(name.to_owned())
    }

    #[test]
    fn the_code_of_every_server_before_a_step_has_to_be_proved() {
        let code = ServerCode::from([("a".to_owned(), commit("1")), ("b".to_owned(), commit("2"))]);
        let steps = [
            step("first", "a", Ran::Done),
            step("left out", "unknown", Ran::NotRun),
            step("second", "b", Ran::Done),
            step("third", "unknown", Ran::Done),
            step("fourth", "a", Ran::Done),
        ];
        let proven = proven_code(&Foundations::default(), &steps, &code);
        let known: Vec<&str> = proven.keys().map(String::as_str).collect();
        assert_eq!(known, ["first", "second"]);
        assert_eq!(proven["second"].proofs(), ["commit 1", "commit 2"]);
        assert_ne!(proven["first"].key(), proven["second"].key());
        assert_eq!(proven["second"].key(), ProvenCode::new(code).key());
        let other =
            ServerCode::from([("a".to_owned(), commit("2")), ("b".to_owned(), commit("2"))]);
        assert_ne!(proven["second"].key(), ProvenCode::new(other).key());
    }
}
