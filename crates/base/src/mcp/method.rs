//! The requests and notifications of all revisions.
//!
//! Main types: [`Method`] and [`Notification`]. That the tables name what each
//! revision's messages name is held by a test of `jelly-wire`, which reads
//! those.

use super::{ListKind, Revision};

/// Opens a connection of the legacy era.
pub const INITIALIZE: &str = "initialize";
/// Opens a connection of the modern era.
pub const DISCOVER: &str = "server/discover";
/// Opens a subscription in the modern era.
pub const LISTEN: &str = "subscriptions/listen";

/// The revisions that know something.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Lifetime {
    since: &'static str,
    /// The last of them, if it is known no more.
    until: Option<&'static str>,
}

const ALWAYS: Lifetime = Lifetime {
    since: "2024-11-05",
    until: None,
};

impl Lifetime {
    fn includes(self, revision: &Revision) -> bool {
        self.since <= revision.name && self.until.is_none_or(|until| revision.name <= until)
    }
}

/// A request.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Method {
    pub name: &'static str,
    /// The path to the capability of whoever answers it; empty where everybody
    /// does.
    pub capability: &'static [&'static str],
    lifetime: Lifetime,
    /// It only asks, or sets what a new session has to be told anyway: to send
    /// it once more does no more than to send it once.
    pub is_repeatable: bool,
    /// What it is about: one item of this kind, named in its params as in the
    /// list.
    pub subject: Option<ListKind>,
    /// A modern server may answer it by asking for input first (2026-07-28,
    /// multi round-trip requests, "Supported Requests").
    pub may_ask_back: bool,
    /// Members that its result must have, where a person writes it.
    pub result_needs: &'static [&'static str],
    /// A member of its result that is a list, and what each item of that has.
    pub result_list: Option<(&'static str, &'static str)>,
}

const fn method(name: &'static str, capability: &'static [&'static str]) -> Method {
    Method {
        name,
        capability,
        lifetime: ALWAYS,
        is_repeatable: false,
        subject: None,
        may_ask_back: false,
        result_needs: &[],
        result_list: None,
    }
}

/// What clients ask of servers.
pub static METHODS: [Method; 20] = [
    method(INITIALIZE, &[]).until("2025-11-25"),
    method("ping", &[]).until("2025-11-25").repeatable(),
    method("tools/list", &["tools"]).repeatable(),
    method("tools/call", &["tools"])
        .about(ListKind::Tools)
        .asking_back(),
    method("resources/list", &["resources"]).repeatable(),
    method("resources/templates/list", &["resources"]).repeatable(),
    method("resources/read", &["resources"])
        .about(ListKind::Resources)
        .asking_back()
        .repeatable(),
    method("resources/subscribe", &["resources", "subscribe"]).until("2025-11-25"),
    method("resources/unsubscribe", &["resources", "subscribe"]).until("2025-11-25"),
    method("prompts/list", &["prompts"]).repeatable(),
    method("prompts/get", &["prompts"])
        .about(ListKind::Prompts)
        .asking_back()
        .repeatable(),
    method("completion/complete", &["completions"]).repeatable(),
    method("logging/setLevel", &["logging"])
        .until("2025-11-25")
        .repeatable(),
    method("tasks/list", &["tasks"]).only("2025-11-25"),
    method("tasks/get", &["tasks"]).only("2025-11-25"),
    method("tasks/result", &["tasks"]).only("2025-11-25"),
    method("tasks/cancel", &["tasks"]).only("2025-11-25"),
    // Of the extension that tasks became.
    method("tasks/update", &["extensions"]).since("2026-07-28"),
    method(DISCOVER, &[]).since("2026-07-28").repeatable(),
    method(LISTEN, &[]).since("2026-07-28"),
];

/// What servers ask of clients: by requests of their own, and since 2026-07-28
/// in results.
pub static CLIENT_METHODS: [Method; 3] = [
    method("roots/list", &["roots"])
        .answered_with(&["roots"])
        .listing("roots", "uri"),
    method("sampling/createMessage", &["sampling"]).answered_with(&["role", "content", "model"]),
    method("elicitation/create", &["elicitation"])
        .since("2025-06-18")
        .answered_with(&["action"]),
];

impl Method {
    const fn since(mut self, revision: &'static str) -> Self {
        self.lifetime.since = revision;
        self
    }

    const fn until(mut self, revision: &'static str) -> Self {
        self.lifetime.until = Some(revision);
        self
    }

    const fn only(self, revision: &'static str) -> Self {
        self.since(revision).until(revision)
    }

    const fn repeatable(mut self) -> Self {
        self.is_repeatable = true;
        self
    }

    const fn about(mut self, kind: ListKind) -> Self {
        self.subject = Some(kind);
        self
    }

    const fn answered_with(mut self, members: &'static [&'static str]) -> Self {
        self.result_needs = members;
        self
    }

    const fn listing(mut self, member: &'static str, item_needs: &'static str) -> Self {
        self.result_list = Some((member, item_needs));
        self
    }

    const fn asking_back(mut self) -> Self {
        self.may_ask_back = true;
        self
    }

    /// The request of this name that clients make.
    #[must_use]
    pub fn find(name: &str) -> Option<&'static Self> {
        METHODS.iter().find(|method| method.name == name)
    }

    /// The request of this name that servers make.
    #[must_use]
    pub fn find_of_server(name: &str) -> Option<&'static Self> {
        CLIENT_METHODS.iter().find(|method| method.name == name)
    }

    /// Whether the revision has it.
    #[must_use]
    pub fn is_in(&self, revision: &Revision) -> bool {
        self.lifetime.includes(revision)
    }
}

/// What is sent and not answered, by either side.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Notification {
    /// Without [`Notification::PREFIX`].
    pub name: &'static str,
    lifetime: Lifetime,
    /// Of a change: the path to the capability that announces it.
    pub capability: &'static [&'static str],
    /// Of a change: the member of a subscription's filter that asks for it.
    pub filter: &'static str,
}

const fn notification(name: &'static str) -> Notification {
    Notification {
        name,
        lifetime: ALWAYS,
        capability: &[],
        filter: "",
    }
}

/// What servers tell their clients.
pub static NOTIFICATIONS: [Notification; 10] = [
    notification("cancelled"),
    notification("progress"),
    notification("message"),
    notification("resources/updated")
        .announced_by(&["resources", "subscribe"], "resourceSubscriptions"),
    notification("resources/list_changed")
        .announced_by(&["resources", "listChanged"], "resourcesListChanged"),
    notification("tools/list_changed").announced_by(&["tools", "listChanged"], "toolsListChanged"),
    notification("prompts/list_changed")
        .announced_by(&["prompts", "listChanged"], "promptsListChanged"),
    notification("elicitation/complete").only("2025-11-25"),
    notification("subscriptions/acknowledged").since("2026-07-28"),
    notification("tasks/status").only("2025-11-25"),
];

impl Notification {
    pub const PREFIX: &str = "notifications/";

    const fn since(mut self, revision: &'static str) -> Self {
        self.lifetime.since = revision;
        self
    }

    const fn only(mut self, revision: &'static str) -> Self {
        self.lifetime.until = Some(revision);
        self.since(revision)
    }

    const fn announced_by(
        mut self,
        capability: &'static [&'static str],
        filter: &'static str,
    ) -> Self {
        self.capability = capability;
        self.filter = filter;
        self
    }

    /// The one that a method names in full.
    #[must_use]
    pub fn find(method: &str) -> Option<&'static Self> {
        let name = method.strip_prefix(Self::PREFIX)?;
        NOTIFICATIONS.iter().find(|one| one.name == name)
    }

    /// Whether the revision has it.
    #[must_use]
    pub fn is_in(&self, revision: &Revision) -> bool {
        self.lifetime.includes(revision)
    }
}
