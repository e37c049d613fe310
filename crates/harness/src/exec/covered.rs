//! What of each server's lists the steps of a plan exercised.
//!
//! Main type: [`CoverageRecord`].

use jelly_base::model::CoverageItem;
use jelly_contract::{CoverageKey, exercised, is_covered};
use jelly_wire::ReplyOutcome;
use serde_json::Value;
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};

/// Things that were exercised of one server.
const EXERCISED: usize = 100_000;

/// What is known so far, by server.
#[derive(Debug, Default)]
pub struct CoverageRecord {
    listed: RefCell<BTreeMap<String, BTreeSet<CoverageKey>>>,
    exercised: RefCell<BTreeMap<String, BTreeSet<CoverageKey>>>,
}

impl CoverageRecord {
    /// Takes in what a server lists.
    pub fn list(&self, server: &str, items: BTreeSet<CoverageKey>) {
        let mut listed = self.listed.borrow_mut();
        listed.entry(server.to_owned()).or_default().extend(items);
    }

    /// Takes in a request that the server answered.
    pub fn note(&self, server: &str, (method, params): (&str, &Value), outcome: &ReplyOutcome) {
        let is_error = match outcome {
            ReplyOutcome::Answered(result) => result.get("isError") == Some(&Value::Bool(true)),
            ReplyOutcome::RpcError(_) => true,
            ReplyOutcome::Http(end) if end.rpc_error.is_some() => true,
            _ => return,
        };
        let mut all = self.exercised.borrow_mut();
        let own = all.entry(server.to_owned()).or_default();
        if own.len() < EXERCISED {
            own.extend(exercised(method, params, is_error));
        }
    }

    /// All that was listed, in words that may be shown, and whether it was exercised.
    pub fn items(&self, clean: impl Fn(&str) -> String) -> Vec<CoverageItem> {
        let (listed, exercised) = (self.listed.borrow(), self.exercised.borrow());
        let nothing = BTreeSet::new();
        let mut items = Vec::new();
        for (server, listed) in listed.iter() {
            let done = exercised.get(server).unwrap_or(&nothing);
            items.extend(listed.iter().map(|key| CoverageItem {
                server: server.clone(),
                kind: key.0,
                item: clean(&key.1),
                covered: is_covered(listed, done, key),
            }));
        }
        items
    }
}
