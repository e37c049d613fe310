//! Rules for what a server asks of its client.

use super::checker::{Checker, Place, QUOTED, REMEMBERED};
use super::rules::Rule;
use super::specification::Specification;
use jelly_base::mcp::{Method, Notification};
use serde_json::{Map, Value};
use std::hash::{DefaultHasher, Hash, Hasher};

impl Checker {
    pub(super) fn request(
        &mut self,
        revision: &'static Specification,
        method: &str,
        message: &Map<String, Value>,
        prefix: &str,
    ) {
        let shown = self.shown(method);
        let place = Place {
            prefix,
            verb: "sends the request",
            method: &shown,
        };
        let id = message.get("id").unwrap_or(&Value::Null);
        let id_pointer = place.at("/id");
        if method.starts_with(Notification::PREFIX) {
            let text = format!("sends the notification `{}` with an id", place.method);
            return self.breach(Rule::NotificationId, id_pointer, text);
        }
        if revision.has(Rule::ServerRequest) {
            let text = format!(
                "sends the request `{}`, and servers of {} make none",
                place.method, revision.name
            );
            return self.breach(Rule::ServerRequest, place.at("/method"), text);
        }
        if !(id.is_string() || id.is_i64() || id.is_u64()) {
            let text = place.text("with an id that is neither a string nor an integer");
            self.breach(Rule::RequestId, id_pointer, text);
        } else if self.own_ids.len() < REMEMBERED && !self.own_ids.insert(hash_of(id)) {
            let text = place.text("with an id that it has used before");
            self.breach(Rule::RequestIdReused, id_pointer, text);
        }
        if !self.initialized && method != "ping" {
            let text = place.text("before it was told that the client is initialized");
            self.breach(Rule::EarlyRequest, place.at("/method"), text);
        }
        let params = self.params(message, place);
        if let Some(kind) = revision.requests.get(method) {
            self.fits(revision, kind, &params, place, "/params");
        }
        self.client_is_asked(method, &params, None, prefix, place);
    }

    /// Whether the client has declared that it can do what it is asked for;
    /// `pointer` leads to the request.
    pub(super) fn client_is_asked(
        &mut self,
        method: &str,
        params: &Value,
        capabilities: Option<&Value>,
        pointer: &str,
        place: Place<'_>,
    ) {
        let Some(&[area]) = Method::find_of_server(method).map(|method| method.capability) else {
            return;
        };
        if !self.client_can(capabilities, &[area]) {
            let text = format!(
                "asks the client for `{method}`, which has not declared the capability `{area}`{}",
                within(place)
            );
            let at = format!("{pointer}/method");
            return self.breach_as(Rule::UndeclaredClient, method, at, text);
        }
        if area == "elicitation" {
            let mode = params.get("mode").and_then(Value::as_str).unwrap_or("form");
            // An empty declaration means forms alone.
            let forms_by_default =
                mode == "form" && !self.client_can(capabilities, &["elicitation", "url"]);
            if !forms_by_default && !self.client_can(capabilities, &["elicitation", mode]) {
                let text = format!(
                    "asks the client for `{method}` in the mode `{}`, which it has not declared",
                    self.redactor.cut(mode, QUOTED)
                );
                let at = format!("{pointer}/params/mode");
                self.breach_as(Rule::UndeclaredMode, mode, at, text);
            }
        }
        let with_tools = ["tools", "toolChoice"]
            .into_iter()
            .find(|key| params.get(key).is_some());
        if area == "sampling"
            && let Some(key) = with_tools
            && !self.client_can(capabilities, &["sampling", "tools"])
        {
            let text = format!("asks the client for `{method}` with tools, without its leave");
            let at = format!("{pointer}/params/{key}");
            self.breach(Rule::UndeclaredSamplingTools, at, text);
        }
    }
}

/// Equal for equal ids, and in one run alone.
pub(super) fn hash_of(id: &Value) -> u64 {
    let mut hasher = DefaultHasher::new();
    id.hash(&mut hasher);
    hasher.finish()
}

/// Where a request stands that is not a message of its own.
fn within(place: Place<'_>) -> String {
    if place.verb == "answers" {
        format!(", on `{}`", place.method)
    } else {
        String::new()
    }
}
