//! What the steps of one server have subscribed to, from step to step.
//!
//! Main type: [`Subscriptions`].

use super::sending::Sent;
use jelly_base::model::Era;
use jelly_wire::{Listening, Reply, ReplyOutcome, Session};
use serde_json::{Value, json};
use std::collections::BTreeMap;
use std::time::Duration;

/// The subscriptions of one session, by the ids of their steps.
#[derive(Default)]
pub struct Subscriptions(BTreeMap<String, Open>);

enum Open {
    /// The URIs; a legacy server needs to be asked for nothing else.
    Legacy(Vec<String>),
    Modern(Listening),
}

impl Subscriptions {
    /// Subscribes for the step with this id. `filter` is what a modern server
    /// is asked for, and says what a legacy one must declare.
    pub async fn open(
        &mut self,
        session: &Session,
        step: &str,
        (uris, filter): (&[String], &Value),
        limit: Duration,
    ) -> Sent {
        if session.era() == Era::Modern {
            let (reply, listening) = session.listen(filter.clone(), limit).await;
            if let Some(listening) = listening {
                self.0.insert(step.to_owned(), Open::Modern(listening));
            }
            let trouble = match &reply.outcome {
                ReplyOutcome::Answered(params) => not_acknowledged(filter, params),
                _ => None,
            };
            return Sent::new(reply, trouble);
        }
        let reply = for_each(session, "resources/subscribe", uris, limit).await;
        if let ReplyOutcome::Answered(_) = &reply.outcome {
            let open = Open::Legacy(uris.to_vec());
            self.0.insert(step.to_owned(), open);
        }
        Sent::new(reply, not_declared(filter, session.capabilities()))
    }

    /// Ends what the step with this id subscribed to.
    pub async fn end(&mut self, session: &Session, step: &str, limit: Duration) -> Sent {
        let trouble = match self.0.remove(step) {
            Some(Open::Legacy(uris)) => {
                let reply = for_each(session, "resources/unsubscribe", &uris, limit).await;
                return Sent::new(reply, None);
            }
            // Letting go of it tells the server.
            Some(Open::Modern(mut listening)) => listening.ended().map(|how| {
                let how = how_it_ended(how);
                format!("the subscription of `{step}` had ended already: {how}")
            }),
            None => Some(format!(
                "the subscription of `{step}` is gone: the server was restarted since"
            )),
        };
        Sent::new(done(), trouble)
    }

    /// The subscriptions that the server ended by itself, in sentences.
    pub fn ended(&mut self) -> Vec<String> {
        let ended = |(step, open): (&String, &mut Open)| match open {
            Open::Legacy(_) => None,
            Open::Modern(listening) => listening.ended().map(|how| {
                let how = how_it_ended(how);
                format!("the subscription of `{step}` had ended: {how}")
            }),
        };
        self.0.iter_mut().filter_map(ended).collect()
    }

    /// Lets go of all, as their session ends.
    pub fn clear(&mut self) {
        self.0.clear();
    }
}

/// An answer to what needed no request.
fn done() -> Reply {
    Reply {
        outcome: ReplyOutcome::Answered(json!({})),
        elapsed: Duration::ZERO,
        breaches: Vec::new(),
        unread: false,
    }
}

async fn for_each(session: &Session, method: &str, uris: &[String], limit: Duration) -> Reply {
    let mut whole = done();
    for uri in uris {
        let left = limit.saturating_sub(whole.elapsed);
        let reply = session.request(method, json!({ "uri": uri }), left).await;
        whole.elapsed += reply.elapsed;
        whole.breaches.extend(reply.breaches);
        whole.unread = reply.unread;
        let answered = matches!(reply.outcome, ReplyOutcome::Answered(_));
        whole.outcome = reply.outcome;
        if !answered {
            break;
        }
    }
    whole
}

/// How the server ended a subscription; completes a sentence.
fn how_it_ended(how: &ReplyOutcome) -> String {
    match how {
        ReplyOutcome::Answered(_) => "the server closed it".to_owned(),
        ReplyOutcome::RpcError(error) => match error.code {
            Some(code) => format!("the server closed it with the JSON-RPC error {code}"),
            None => "the server closed it with a JSON-RPC error".to_owned(),
        },
        ReplyOutcome::Http(end) => format!("it {}", end.message),
        ReplyOutcome::Exited(_) => "the server exited".to_owned(),
        ReplyOutcome::Broken(why) | ReplyOutcome::Unanswered(why) => format!("the server {why}"),
        ReplyOutcome::Beyond(beyond) => format!("the server {}", beyond.text),
        ReplyOutcome::TimedOut(_) => "nobody waits for it".to_owned(),
    }
}

/// What was asked for and not agreed to (2026-07-28, "Acknowledgment").
fn not_acknowledged(filter: &Value, params: &Value) -> Option<String> {
    let agreed = params.get("notifications");
    let missing: Vec<&str> = members(filter)
        .filter(|(key, wanted)| {
            let got = agreed.and_then(|agreed| agreed.get(key));
            match wanted {
                Value::Array(uris) => {
                    let got = got.and_then(Value::as_array);
                    uris.iter()
                        .any(|uri| got.is_none_or(|got| !got.contains(uri)))
                }
                _ => got != Some(*wanted),
            }
        })
        .map(|(key, _)| key)
        .collect();
    (!missing.is_empty()).then(|| {
        format!(
            "the server acknowledged less than it was asked for: not `{}`",
            missing.join("`, `")
        )
    })
}

/// What a legacy server would have to declare to send it.
fn not_declared(filter: &Value, capabilities: &Value) -> Option<String> {
    let missing: Vec<&str> = members(filter)
        .filter_map(|(key, _)| {
            Some(match key {
                "toolsListChanged" => ("/tools/listChanged", "tools.listChanged"),
                "promptsListChanged" => ("/prompts/listChanged", "prompts.listChanged"),
                "resourcesListChanged" => ("/resources/listChanged", "resources.listChanged"),
                _ => return None,
            })
        })
        .filter(|(pointer, _)| capabilities.pointer(pointer) != Some(&Value::Bool(true)))
        .map(|(_, shown)| shown)
        .collect();
    (!missing.is_empty()).then(|| {
        format!(
            "the server does not declare `{}`, so that no such change would be announced",
            missing.join("`, `")
        )
    })
}

fn members(filter: &Value) -> impl Iterator<Item = (&str, &Value)> {
    let members = filter.as_object().into_iter().flatten();
    members.map(|(key, value)| (key.as_str(), value))
}

#[cfg(test)]
mod tests {
    use super::{not_acknowledged, not_declared};
    use serde_json::json;

    #[test]
    fn what_was_not_acknowledged_is_said() {
        let filter = json!({"toolsListChanged": true, "resourceSubscriptions": ["a:1", "a:2"]});
        let all = json!({"notifications": filter.clone()});
        assert_eq!(not_acknowledged(&filter, &all), None);
        let some = json!({"notifications": {
            "toolsListChanged": true, "resourceSubscriptions": ["a:2"]
        }});
        let said = not_acknowledged(&filter, &some).unwrap();
        assert!(said.ends_with("not `resourceSubscriptions`"), "{said}");
        let said = not_acknowledged(&filter, &json!({})).unwrap();
        assert!(said.contains("`toolsListChanged`"), "{said}");
    }

    #[test]
    fn a_legacy_server_must_have_declared_what_it_is_to_tell() {
        let filter = json!({"toolsListChanged": true, "resourceSubscriptions": ["a:1"]});
        let declared = json!({"tools": {"listChanged": true}});
        assert_eq!(not_declared(&filter, &declared), None);
        let said = not_declared(&filter, &json!({"tools": {}})).unwrap();
        assert!(said.contains("`tools.listChanged`"), "{said}");
    }
}
