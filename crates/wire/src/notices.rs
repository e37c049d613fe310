//! The notifications of one connection, and who hears them.
//!
//! Main types: [`Notice`], and [`Listener`], which is told of each as it comes,
//! so that nothing has to be kept for whoever looks later, however many come.

use serde_json::Value;
use std::fmt;

/// A notification of the server. Not redacted.
#[derive(Debug, Clone, PartialEq)]
pub struct Notice {
    pub method: String,
    /// Null where there are none.
    pub params: Value,
}

/// The text of a record that a server logs by a notification, whose data may be any
/// JSON; none of other notifications.
#[must_use]
pub fn logged(notice: &Notice) -> Option<String> {
    if notice.method != "notifications/message" {
        return None;
    }
    let data = notice.params.get("data").filter(|data| !data.is_null())?;
    if let Some(text) = data.as_str() {
        return Some(text.to_owned());
    }
    let said = first_text(data, &["message", "msg", "text", "event"]);
    let error = ["error", "err", "exception", "cause"];
    let error = error.iter().find_map(|name| error_text(data.get(name)?));
    let parts = match (said, error) {
        // A logger may write the error into its message, too.
        (Some(said), Some(error)) if said.contains(&error) => vec![said],
        (said, error) => said.into_iter().chain(error).collect(),
    };
    Some(match parts.is_empty() {
        true => data.to_string(),
        false => parts.join(": "),
    })
}

fn first_text(of: &Value, names: &[&str]) -> Option<String> {
    let mut texts = names.iter().filter_map(|name| of.get(name)?.as_str());
    texts.find(|text| !text.is_empty()).map(str::to_owned)
}

/// What a member of a record says that holds an error: its text, or the message that an
/// object has, with the code by which its system knows it.
fn error_text(error: &Value) -> Option<String> {
    if let Some(text) = error.as_str() {
        return (!text.is_empty()).then(|| text.to_owned());
    }
    let said = first_text(error, &["message", "msg", "detail", "reason"]);
    let code = first_text(error, &["code", "type", "name"]);
    match (said, code) {
        (Some(said), Some(code)) if !said.contains(&code) => Some(format!("{code}: {said}")),
        (Some(said), _) => Some(said),
        (None, code) => code,
    }
}

/// Hears what a server says beside its answers.
///
/// It is called where messages are read, so it must be quick, and wait for
/// nobody.
pub trait Listener: Send {
    /// In the order in which they come.
    fn hear(&mut self, notice: &Notice);

    /// A message came that was not read, for a limit of jelly's own. It may
    /// have been a notification.
    fn miss(&mut self);
}

/// Those who listen.
#[derive(Default)]
pub(super) struct Listeners {
    all: Vec<(u64, Box<dyn Listener>)>,
    next: u64,
}

impl Listeners {
    /// The number to leave by.
    pub(super) fn join(&mut self, listener: Box<dyn Listener>) -> u64 {
        self.next += 1;
        self.all.push((self.next, listener));
        self.next
    }

    pub(super) fn leave(&mut self, number: u64) {
        self.all.retain(|(own, _)| *own != number);
    }

    pub(super) fn tell(&mut self, notice: &Notice) {
        for (_, listener) in &mut self.all {
            listener.hear(notice);
        }
    }

    pub(super) fn tell_missed(&mut self) {
        for (_, listener) in &mut self.all {
            listener.miss();
        }
    }
}

impl fmt::Debug for Listeners {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Listeners")
            .field("count", &self.all.len())
            .finish()
    }
}

#[cfg(test)]
mod tests {
    use super::{Listener, Listeners, Notice, logged};
    use serde_json::{Value, json};
    use std::sync::{Arc, Mutex};

    #[derive(Clone, Default)]
    struct Ear(Arc<Mutex<(Vec<String>, u32)>>);

    impl Listener for Ear {
        fn hear(&mut self, notice: &Notice) {
            self.0.lock().unwrap().0.push(notice.method.clone());
        }

        fn miss(&mut self) {
            self.0.lock().unwrap().1 += 1;
        }
    }

    #[test]
    fn a_record_is_told_with_the_error_that_it_holds() {
        for (data, wanted) in [
            (json!("plain"), "plain"),
            (
                json!({"msg": "lookup failed", "error": "getaddrinfo ENOTFOUND db"}),
                "lookup failed: getaddrinfo ENOTFOUND db",
            ),
            (
                json!({"level": 50, "msg": "request failed", "err": {"type": "Error", "message": "connect ECONNREFUSED 127.0.0.1:5432", "stack": "x", "code": "ECONNREFUSED"}}),
                "request failed: connect ECONNREFUSED 127.0.0.1:5432",
            ),
            (
                json!({"message": "no db: refused", "error": "refused"}),
                "no db: refused",
            ),
            (
                json!({"error": {"code": "ETIMEDOUT", "message": "no answer"}}),
                "ETIMEDOUT: no answer",
            ),
            (json!({"message": "", "msg": "late"}), "late"),
            (json!({"n": 1}), "{\"n\":1}"),
        ] {
            let notice = Notice {
                method: "notifications/message".to_owned(),
                params: json!({"level": "error", "data": data}),
            };
            assert_eq!(logged(&notice).as_deref(), Some(wanted));
        }
    }

    #[test]
    fn whoever_listens_hears_all_from_then_on_until_it_leaves() {
        let notice = |method: &str| Notice {
            method: method.to_owned(),
            params: Value::Null,
        };
        let (first, second) = (Ear::default(), Ear::default());
        let mut listeners = Listeners::default();
        listeners.tell(&notice("a"));
        let number = listeners.join(Box::new(first.clone()));
        listeners.tell(&notice("b"));
        listeners.join(Box::new(second.clone()));
        listeners.tell_missed();
        listeners.leave(number);
        listeners.tell(&notice("c"));
        assert_eq!(*first.0.lock().unwrap(), (vec!["b".to_owned()], 1));
        assert_eq!(*second.0.lock().unwrap(), (vec!["c".to_owned()], 1));
    }
}
