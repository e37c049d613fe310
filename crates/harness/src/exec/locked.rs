//! A server's lists beside what a lock holds of them.

use super::open_server::{inventory, redact_inventory};
use super::server_lane::ServerLane;
use super::settings::Locked;
use jelly_base::model::{Event, Failure, Outcome, Phase, PlanIssue, RequestFacts, ServerReport};
use jelly_base::text::{one_line, plural};
use jelly_contract::{Change, ChangeKind, Lock, compare};
use jelly_wire::Session;
use serde_json::Value;

/// How much of a text a notice shows.
const SHOWN: usize = 300;

impl ServerLane {
    /// Makes a failure of each item that changed so that clients may fail, and a
    /// notice of each text that models and people read.
    pub(super) async fn hold_to_lock(&self, session: &Session, report: &mut ServerReport) {
        let Some(locked) = self.settings.locked.clone() else {
            return;
        };
        let name = &self.server.name;
        let Some(own) = locked.lock.servers.get(name) else {
            return;
        };
        let (facts, limit) = (&self.prepared.facts, self.server.request_timeout);
        let listed = tokio::select! {
            listed = inventory(session, facts, limit) => listed,
            _ = self.shared.stop() => return,
        };
        let mut inventory = match listed {
            Ok(inventory) => inventory,
            Err(failure) => return self.server_failed(*failure),
        };
        // As the lock was made.
        redact_inventory(&mut inventory, &self.settings.redactor);
        let mut old = Lock::new();
        old.servers.insert(name.clone(), own.clone());
        let mut new = Lock::new();
        new.add(name, &inventory);
        // One session is in one era: it says nothing of the other.
        let changes = compare(&old, &new, false);
        for broken in by_item(&changes) {
            self.server_failed(self.changed(&locked, &broken));
        }
        for change in changes.iter().filter(|it| it.kind == ChangeKind::Text) {
            let note = notice(change, &locked.file);
            self.emit(Event::Warning {
                message: format!("{name}: {}", self.shared.cleaner.told(&note)),
            });
            report.notes.push(note);
        }
    }

    fn changed(&self, locked: &Locked, broken: &[&Change]) -> Failure {
        let Some(first) = broken.first() else {
            return Failure::default();
        };
        let more = match broken.len() {
            0 | 1 => String::new(),
            all => format!(" (and {})", plural(all - 1, "more breaking change")),
        };
        let reason = format!("{}{more}", first.why);
        let at = match first.pointer.as_str() {
            "" => String::new(),
            pointer => format!(" at {pointer}"),
        };
        let message = format!(
            "`{}` is not what {} holds{at}: {reason}",
            first.item, locked.file
        );
        let (item, pointer) = (first.item.clone(), first.pointer.clone());
        let lock = locked.file.clone();
        // What jelly can't compare any further is no broken promise.
        let is_seen = broken.iter().any(|change| change.is_shown);
        let issue = match self.shared.plan.contract_promised && is_seen {
            true => PlanIssue::PromiseBroken {
                item,
                pointer,
                reason,
                lock,
            },
            false => PlanIssue::DefinitionChanged {
                item,
                pointer,
                reason,
                lock,
            },
        };
        Failure {
            outcome: Some(Outcome::Ok),
            process_alive: Some(true),
            issue: Some(issue),
            request: Some(RequestFacts {
                method: "tools/list".to_owned(),
                params: None,
                ..RequestFacts::default()
            }),
            ..self.prepared.facts.failure(Phase::List, message)
        }
    }
}

/// The breaking ones, those of each item together.
fn by_item(changes: &[Change]) -> Vec<Vec<&Change>> {
    let mut all: Vec<Vec<&Change>> = Vec::new();
    for change in changes.iter().filter(|it| it.kind == ChangeKind::Breaking) {
        match all.last_mut() {
            Some(last) if last.iter().all(|it| it.item == change.item) => last.push(change),
            Some(_) | None => all.push(vec![change]),
        }
    }
    all
}

/// A text that is another one, as a diff.
fn notice(change: &Change, file: &str) -> String {
    let shown = |value: &Option<Value>| match value {
        None => "nothing".to_owned(),
        Some(Value::String(text)) => one_line(text, SHOWN),
        Some(other) => one_line(&other.to_string(), SHOWN),
    };
    format!(
        "{}{} is not what {file} holds, and models and people read it: - {} + {}",
        change.item,
        change.pointer,
        shown(&change.before),
        shown(&change.after)
    )
}
