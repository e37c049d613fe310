//! Rules for notifications.

use super::asks::hash_of;
use super::checker::{Checker, Place, REMEMBERED};
use super::rules::Rule;
use super::specification::Specification;
use jelly_base::mcp::{Notification, meta};
use serde_json::{Map, Value};

impl Checker {
    pub(super) fn notification(
        &mut self,
        revision: &'static Specification,
        method: &str,
        message: &Map<String, Value>,
        prefix: &str,
    ) {
        let shown = self.shown(method);
        let place = Place {
            prefix,
            verb: "sends",
            method: &shown,
        };
        let params = self.params(message, place);
        if let Some(kind) = revision.notifications.get(method) {
            self.fits(revision, kind, &params, place, "/params");
        }
        match method {
            "notifications/progress" => self.progress(&params, prefix),
            "notifications/cancelled" => self.cancelled(revision, &params, place),
            "notifications/message" => self.log(revision, place),
            "notifications/subscriptions/acknowledged" => self.acknowledged(&params, place),
            _ => {}
        }
        let change = Notification::find(method).filter(|change| !change.capability.is_empty());
        let Some(Notification {
            capability, filter, ..
        }) = change
        else {
            return;
        };
        if !self.declares(capability) {
            let rule = Rule::UndeclaredNotification;
            self.undeclared(rule, method, capability, "/method", place);
        }
        if revision.has(Rule::UnaskedNotification) {
            self.subscribed(&params, filter, place);
        }
    }

    fn progress(&mut self, params: &Value, prefix: &str) {
        let Some(token) = params.get("progressToken").map(Value::to_string) else {
            return;
        };
        let pointer = format!("{prefix}/params/progressToken");
        let asked = self
            .open
            .values_mut()
            .find(|asked| asked.token.as_ref() == Some(&token));
        let Some(asked) = asked else {
            let (rule, text) = match self.old_tokens.get(&token) {
                Some(true) => (
                    Rule::ProgressAfterEnd,
                    "sends progress of a request that it has answered".to_owned(),
                ),
                Some(false) => return,
                None if self.forgetful => return,
                None => {
                    let shown = self.quote(&token);
                    (
                        Rule::ProgressToken,
                        format!("sends progress under the token {shown}, which no request gave"),
                    )
                }
            };
            return self.breach(rule, pointer, text);
        };
        let Some(progress) = params.get("progress").and_then(Value::as_f64) else {
            return;
        };
        let before = asked.progress.replace(progress);
        if let Some(before) = before.filter(|before| progress <= *before) {
            let text = format!("sends progress that does not go up: {progress} after {before}");
            let pointer = format!("{prefix}/params/progress");
            self.breach(Rule::ProgressOrder, pointer, text);
        }
    }

    /// A server cancels requests of its own, and where it makes none, the
    /// subscriptions of its client.
    fn cancelled(&mut self, revision: &Specification, params: &Value, place: Place<'_>) {
        let Some(id) = params.get("requestId") else {
            return;
        };
        let known = if revision.is_modern() {
            self.subscriptions.contains_key(&id.to_string())
        } else {
            // Of too many, not all are remembered.
            self.own_ids.contains(&hash_of(id)) || self.own_ids.len() >= REMEMBERED
        };
        if !known {
            let what = if revision.is_modern() {
                "for what is no subscription"
            } else {
                "for a request that it did not make"
            };
            let pointer = place.at("/params/requestId");
            self.breach(Rule::CancelledUnknown, pointer, place.text(what));
        }
        if let Some(subscription) = self.subscriptions.get_mut(&id.to_string()) {
            subscription.over = true;
        }
    }

    fn log(&mut self, revision: &Specification, place: Place<'_>) {
        if !self.declares(&["logging"]) {
            let rule = Rule::UndeclaredLogging;
            self.undeclared(rule, &place.at("/method"), &["logging"], "/method", place);
        }
        // What was given up may have asked for it.
        if revision.has(Rule::UnaskedLog)
            && self.forgiven.is_empty()
            && !self.open.values().any(|asked| asked.wants_log)
        {
            let text = place.text("while no request asks for log messages");
            self.breach(Rule::UnaskedLog, place.at("/method"), text);
        }
    }

    fn acknowledged(&mut self, params: &Value, place: Place<'_>) {
        if let Some(id) = self.subscription_of(params, place)
            && let Some(subscription) = self.subscriptions.get_mut(&id)
        {
            subscription.acknowledged = true;
        }
    }

    /// The subscription that a notification names, if it is one.
    fn subscription_of(&mut self, params: &Value, place: Place<'_>) -> Option<String> {
        let id = params
            .pointer(meta::SUBSCRIPTION_ID_POINTER)
            .map(Value::to_string);
        if let Some(id) = id
            .as_ref()
            .filter(|id| self.subscriptions.contains_key(*id))
        {
            return Some(id.clone());
        }
        let what = match id {
            Some(_) => "for a subscription that was never made",
            None => "without saying to which subscription it belongs",
        };
        let pointer = place.at(&format!("/params{}", meta::SUBSCRIPTION_ID_POINTER));
        self.breach_as(
            Rule::SubscriptionId,
            place.method,
            pointer,
            place.text(what),
        );
        None
    }

    /// Whether a change that is told was asked for.
    fn subscribed(&mut self, params: &Value, filter: &str, place: Place<'_>) {
        let pointer = place.at("/method");
        let unasked = format!("sends `{}`, which no subscription asks for", place.method);
        if self.subscriptions.is_empty() {
            return self.breach_as(Rule::UnaskedNotification, place.method, pointer, unasked);
        }
        let Some(id) = self.subscription_of(params, place) else {
            return;
        };
        let Some(subscription) = self.subscriptions.get(&id).filter(|s| !s.over) else {
            return;
        };
        let wanted = match subscription.filter.get(filter) {
            Some(Value::Bool(wanted)) => *wanted,
            Some(Value::Array(uris)) => !uris.is_empty(),
            Some(_) | None => false,
        };
        let early = !subscription.acknowledged;
        if !wanted {
            let pointer = pointer.as_str();
            self.breach_as(Rule::UnaskedNotification, place.method, pointer, unasked);
        }
        if early {
            let text = place.text("for a subscription that it has not acknowledged");
            self.breach_as(Rule::AcknowledgedFirst, place.method, pointer, text);
        }
    }
}
