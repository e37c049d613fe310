//! Two locks: what changed, and what it means.
//!
//! Main function: [`compare`].

use super::canonical::same;
use super::change::{Change, ChangeKind};
use super::lock::{EraLock, Lock, ServerLock};
use super::rules::rules;
use serde_json::{Value, json};
use std::collections::BTreeSet;

/// Who writes down what changed of one server.
pub struct ChangeList<'s> {
    server: &'s str,
    pub changes: Vec<Change>,
}

impl ChangeList<'_> {
    /// By the rule of an item.
    pub fn tell(&mut self, rule: &str, item: &str, pointer: &str, pair: [Option<&Value>; 2]) {
        let meaning = rules().of_item(rule);
        let [before, after] = pair;
        self.changes.push(Change {
            server: self.server.to_owned(),
            item: item.to_owned(),
            kind: meaning.kind,
            pointer: pointer.to_owned(),
            before: before.cloned(),
            after: after.cloned(),
            rule: rule.to_owned(),
            why: meaning.why,
            is_shown: meaning.shown,
            era: None,
        });
    }

    pub fn server(&self) -> &str {
        self.server
    }
}

/// What changed from one lock to another. `complete` says that the new one has all
/// servers and eras that there are: what it lacks is gone.
#[must_use]
pub fn compare(old: &Lock, new: &Lock, complete: bool) -> Vec<Change> {
    let mut changes = Vec::new();
    // One server under two names is one server.
    if let ([(name, one)], [(_, other)]) = (
        old.servers.iter().collect::<Vec<_>>().as_slice(),
        new.servers.iter().collect::<Vec<_>>().as_slice(),
    ) {
        return sorted(servers(name, one, other, complete));
    }
    for (name, one) in &old.servers {
        match new.servers.get(name) {
            Some(other) => changes.extend(servers(name, one, other, complete)),
            None if complete => {
                let mut list = list_of(name);
                list.tell("server-removed", "server", "", [Some(&json!(name)), None]);
                changes.extend(list.changes);
            }
            None => {}
        }
    }
    for name in new
        .servers
        .keys()
        .filter(|name| !old.servers.contains_key(*name))
    {
        let mut list = list_of(name);
        list.tell("server-added", "server", "", [None, Some(&json!(name))]);
        changes.extend(list.changes);
    }
    sorted(changes)
}

/// How many there are of each kind: breaking, text, compatible.
#[must_use]
pub fn counts(changes: &[Change]) -> [usize; 3] {
    let of = |kind: ChangeKind| changes.iter().filter(|change| change.kind == kind).count();
    [
        of(ChangeKind::Breaking),
        of(ChangeKind::Text),
        of(ChangeKind::Compatible),
    ]
}

fn list_of(server: &str) -> ChangeList<'_> {
    ChangeList {
        server,
        changes: Vec::new(),
    }
}

fn sorted(mut changes: Vec<Change>) -> Vec<Change> {
    changes.sort_by(|a, b| {
        let key = |change: &Change| {
            (
                change.server.clone(),
                change.item.clone(),
                change.kind,
                change.pointer.clone(),
            )
        };
        key(a).cmp(&key(b))
    });
    changes
}

fn servers(name: &str, old: &ServerLock, new: &ServerLock, complete: bool) -> Vec<Change> {
    let mut list = list_of(name);
    // A recording may not have seen it.
    if old.name != new.name && old.name.is_some() && new.name.is_some() {
        let word = |name: &Option<String>| name.as_ref().map(|name| json!(name));
        let (before, after) = (word(&old.name), word(&new.name));
        list.tell(
            "server-name",
            "server",
            "/name",
            [before.as_ref(), after.as_ref()],
        );
    }
    let both: Vec<&String> = old
        .eras
        .keys()
        .filter(|era| new.eras.contains_key(*era))
        .collect();
    for era in old.eras.keys().filter(|_| complete) {
        if !new.eras.contains_key(era) {
            let pointer = format!("/eras/{era}");
            list.tell("era-removed", "server", &pointer, [Some(&json!(era)), None]);
        }
    }
    for era in new.eras.keys().filter(|_| complete) {
        if !old.eras.contains_key(era) {
            let pointer = format!("/eras/{era}");
            list.tell("era-added", "server", &pointer, [None, Some(&json!(era))]);
        }
    }
    let mut found: Vec<(String, Vec<Change>)> = Vec::new();
    for era in &both {
        if let (Some(a), Some(b)) = (old.era(era), new.era(era)) {
            found.push(((*era).clone(), contents(name, &a, &b)));
        }
    }
    // Where no era is common, what it promises in one has to do.
    if let ([], Some(a), Some(b)) = (
        both.as_slice(),
        old.eras.keys().next().and_then(|era| old.era(era)),
        new.eras.keys().next().and_then(|era| new.era(era)),
    ) {
        found.push((String::new(), contents(name, &a, &b)));
    }
    list.changes.extend(once(found));
    list.changes
}

/// Changes of all eras, each once; one that not all eras have names its own.
fn once(mut found: Vec<(String, Vec<Change>)>) -> Vec<Change> {
    if found.len() < 2 {
        return found.pop().map(|(_, changes)| changes).unwrap_or_default();
    }
    let is_common = |change: &Change| found.iter().all(|(_, all)| all.contains(change));
    let mut changes: Vec<Change> = found[0]
        .1
        .iter()
        .filter(|it| is_common(it))
        .cloned()
        .collect();
    let own: Vec<Change> = found
        .iter()
        .flat_map(|(era, all)| {
            all.iter()
                .filter(|it| !is_common(it))
                .map(move |change| Change {
                    era: Some(era.clone()),
                    ..change.clone()
                })
        })
        .collect();
    changes.extend(own);
    changes
}

fn contents(name: &str, old: &EraLock, new: &EraLock) -> Vec<Change> {
    let mut list = list_of(name);
    let is_known = !old.protocol_version.is_empty() && !new.protocol_version.is_empty();
    if is_known && old.protocol_version != new.protocol_version {
        let (a, b) = (json!(old.protocol_version), json!(new.protocol_version));
        list.tell(
            "revision",
            "server",
            "/protocol_version",
            [Some(&a), Some(&b)],
        );
    }
    if old.instructions != new.instructions {
        let word = |text: &Option<String>| text.as_ref().map(|text| json!(text));
        let (a, b) = (word(&old.instructions), word(&new.instructions));
        list.tell(
            "instructions",
            "server",
            "/instructions",
            [a.as_ref(), b.as_ref()],
        );
    }
    capabilities(&mut list, &old.capabilities, &new.capabilities, "");
    list.tools(old.tools.as_ref(), new.tools.as_ref());
    list.prompts(old.prompts.as_ref(), new.prompts.as_ref());
    list.resources("resources", old.resources.as_ref(), new.resources.as_ref());
    list.resources(
        "resource_templates",
        old.resource_templates.as_ref(),
        new.resource_templates.as_ref(),
    );
    list.changes
}

fn capabilities(list: &mut ChangeList<'_>, old: &Value, new: &Value, pointer: &str) {
    let none = serde_json::Map::new();
    let (Some(a), Some(b)) = (
        old.as_object().or(old.is_null().then_some(&none)),
        new.as_object().or(new.is_null().then_some(&none)),
    ) else {
        let rule = match (old, new) {
            _ if same(old, new) => return,
            (Value::Bool(false), Value::Bool(true)) => "capability-added",
            (Value::Bool(true), Value::Bool(false)) => "capability-removed",
            (_, _) => "capability-changed",
        };
        return list.tell(rule, "capabilities", pointer, [Some(old), Some(new)]);
    };
    let names: BTreeSet<&String> = a.keys().chain(b.keys()).collect();
    for name in names {
        let at = format!("{pointer}/{}", name.replace('~', "~0").replace('/', "~1"));
        match (a.get(name), b.get(name)) {
            (Some(x), Some(y)) => capabilities(list, x, y, &at),
            // Not to have it is to say false.
            (Some(Value::Bool(false)), None) | (None, Some(Value::Bool(false))) => {}
            (before @ Some(_), None) => {
                list.tell("capability-removed", "capabilities", &at, [before, None]);
            }
            (before, after) => list.tell("capability-added", "capabilities", &at, [before, after]),
        }
    }
}
