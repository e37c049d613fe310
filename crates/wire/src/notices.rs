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
    let names = ["message", "msg", "error", "text"];
    let text = data
        .as_str()
        .or_else(|| names.iter().find_map(|name| data.get(name)?.as_str()));
    Some(text.map_or_else(|| data.to_string(), str::to_owned))
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
    use super::{Listener, Listeners, Notice};
    use serde_json::Value;
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
