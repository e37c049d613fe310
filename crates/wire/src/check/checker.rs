//! What a server sends, held against its revision.
//!
//! Main type: [`Checker`].

use super::duplicates::first_duplicate;
use super::fit::fit;
use super::load::specification;
use super::rules::Rule;
use super::specification::{Section, Specification};
use crate::message::{BYTE_ORDER_MARK, beyond, half_pairs_replaced, whole};
use jelly_base::mcp::{INITIALIZE, LISTEN, ListKind, Revision, meta};
use jelly_base::model::{WireBreach, WireCheck, WireLevel};
use jelly_base::text::is_too_large;
use jelly_base::text::redact::Redactor;
use serde_json::{Map, Value};
use std::borrow::Cow;
use std::collections::{BTreeMap, BTreeSet, HashMap, HashSet};

/// What comes before the revision is settled is kept up to so many bytes; a
/// handshake is far smaller.
const HELD_BYTES: usize = 4 * 1024 * 1024;
/// Bytes of a text that a breach quotes.
pub(super) const QUOTED: usize = 100;
/// Ids, tokens and names that are remembered, each.
pub(super) const REMEMBERED: usize = 10_000;
/// Bytes of a breach's text that are kept.
const TEXT_BYTES: usize = 600;

/// Checks the messages of one connection.
///
/// Before the revision is settled nothing can be said of it, so that what
/// comes until then is kept, and checked when it is.
#[derive(Debug)]
pub struct Checker {
    pub(super) redactor: Redactor,
    pub(super) revision: Option<&'static Specification>,
    /// Lines that came before the revision was settled.
    held: Vec<Vec<u8>>,
    held_bytes: usize,
    pub(super) open: BTreeMap<u64, Asked>,
    pub(super) last_id: u64,
    /// Given up by jelly; what still comes of them is no breach.
    pub(super) forgiven: BTreeSet<u64>,
    /// Tokens of requests that are done with; whether what still comes of
    /// them is a breach.
    pub(super) old_tokens: HashMap<String, bool>,
    /// There were too many of them to tell late progress from any other.
    pub(super) forgetful: bool,
    /// The capabilities that the server declares, as it sent them; none where
    /// the answer that says so was not seen.
    pub(super) declared: Option<Value>,
    /// What the server has in its lists, as [`named`] calls it.
    pub(super) listed: HashSet<String>,
    /// Those of the client, where it declares them once.
    pub(super) offered: Value,
    pub(super) initialized: bool,
    /// Ids of raw bytes, as JSON, and how often each may be answered.
    pub(super) raw_ids: HashMap<String, usize>,
    /// jelly has sent `initialize`.
    opened: bool,
    /// Ids of the server's own requests, hashed: an id may be of any size.
    pub(super) own_ids: HashSet<u64>,
    /// Open subscriptions by their request's id, as JSON.
    pub(super) subscriptions: HashMap<String, Subscription>,
    /// The scope for caches of a list's first page, by method.
    pub(super) scopes: HashMap<String, Value>,
    /// Names of tools in the list that is being read.
    pub(super) tool_names: HashSet<String>,
    /// Index in the found breaches, by what makes two sightings one.
    seen: HashMap<String, usize>,
    found: WireCheck,
}

/// A request that jelly made.
#[derive(Debug, Default)]
pub(super) struct Asked {
    pub(super) method: String,
    /// As JSON.
    pub(super) token: Option<String>,
    pub(super) progress: Option<f64>,
    pub(super) wants_log: bool,
    /// It asks for a page that is not the first.
    pub(super) next_page: bool,
    /// It may be answered with a task.
    pub(super) as_task: bool,
    /// What the client declares with this request.
    pub(super) capabilities: Option<Value>,
    /// What of the server's lists it is about, as [`named`] calls it.
    pub(super) names: Option<String>,
}

/// What was subscribed to.
#[derive(Debug)]
pub(super) struct Subscription {
    pub(super) filter: Value,
    pub(super) acknowledged: bool,
    /// Given up or ended; what still comes of it is no breach.
    pub(super) over: bool,
}

/// A message that is being checked.
#[derive(Debug, Clone, Copy)]
pub(super) struct Place<'a> {
    /// What comes before a pointer into the message: its place in a batch.
    pub(super) prefix: &'a str,
    /// As in `answers` or `sends the request`, for a text.
    pub(super) verb: &'a str,
    /// As it may be quoted: see [`Checker::shown`].
    pub(super) method: &'a str,
}

impl Place<'_> {
    /// A pointer into the message as one into what was sent.
    pub(super) fn at(&self, pointer: &str) -> String {
        format!("{}{pointer}", self.prefix)
    }

    pub(super) fn text(&self, what: &str) -> String {
        format!("{} `{}` {what}", self.verb, self.method)
    }
}

impl Checker {
    /// Secrets that `redactor` knows never get into a breach.
    #[must_use]
    pub fn new(redactor: Redactor) -> Self {
        Self {
            redactor,
            revision: None,
            held: Vec::new(),
            held_bytes: 0,
            open: BTreeMap::new(),
            last_id: 0,
            forgiven: BTreeSet::new(),
            old_tokens: HashMap::new(),
            forgetful: false,
            declared: None,
            listed: HashSet::new(),
            offered: Value::Null,
            initialized: false,
            raw_ids: HashMap::new(),
            opened: false,
            own_ids: HashSet::new(),
            subscriptions: HashMap::new(),
            scopes: HashMap::new(),
            tool_names: HashSet::new(),
            seen: HashMap::new(),
            found: WireCheck::default(),
        }
    }

    /// What was found so far.
    #[must_use]
    pub fn found(&self) -> &WireCheck {
        &self.found
    }

    /// Whether a server of the modern era was sent `initialize` as well, since
    /// it was slow to answer the probe. One that speaks both eras may take
    /// that for the word that counts, and would be blamed for what jelly did.
    #[must_use]
    pub fn was_opened_twice(&self) -> bool {
        self.opened && self.revision.is_some_and(Specification::is_modern)
    }

    // ── what jelly does ──────────────────────────────────────────────────

    /// jelly sends a request.
    pub fn asked(&mut self, id: u64, method: &str, params: &Value) {
        let own = params.get("_meta");
        let in_meta = |key: &str| own.and_then(|own| own.get(key));
        if method == INITIALIZE {
            self.opened = true;
            self.offered = params.get("capabilities").cloned().unwrap_or_default();
        }
        if method == LISTEN {
            let subscription = Subscription {
                filter: params.get("notifications").cloned().unwrap_or_default(),
                acknowledged: false,
                over: false,
            };
            self.subscriptions.insert(id.to_string(), subscription);
        }
        let token = in_meta("progressToken").map(Value::to_string);
        if let Some(token) = &token {
            // A plan may use one of its own twice.
            self.old_tokens.remove(token);
        }
        let asked = Asked {
            method: method.to_owned(),
            token,
            progress: None,
            wants_log: in_meta(meta::LOG_LEVEL).is_some(),
            next_page: params.get("cursor").is_some(),
            as_task: params.get("task").is_some(),
            capabilities: in_meta(meta::CLIENT_CAPABILITIES).cloned(),
            names: names(method, params),
        };
        self.open.insert(id, asked);
        self.last_id = self.last_id.max(id);
    }

    /// jelly sends bytes that a plan gives, with these ids of requests in them;
    /// so many errors may come that name none of them. What is answered is not
    /// judged: the plan does that.
    pub fn asked_raw(&mut self, ids: &[Value], nameless: usize) {
        for id in ids {
            if self.raw_ids.len() < REMEMBERED {
                *self.raw_ids.entry(id.to_string()).or_default() += 1;
            }
        }
        // What is a good request for us may be none for the server.
        *self.raw_ids.entry(Value::Null.to_string()).or_default() += nameless.max(1);
    }

    /// Whether an answer with this id may come of raw bytes; one less may then.
    pub(super) fn is_of_raw(&mut self, id: &Value) -> bool {
        let due = self.raw_ids.get_mut(&id.to_string());
        due.is_some_and(|due| {
            let was = *due;
            *due = was.saturating_sub(1);
            was > 0
        })
    }

    /// jelly sends a notification.
    pub fn told(&mut self, method: &str) {
        if method == "notifications/initialized" {
            self.initialized = true;
        }
    }

    /// jelly waits no longer for an answer.
    pub fn gave_up(&mut self, id: u64) {
        if let Some(asked) = self.open.remove(&id) {
            self.forgiven.insert(id);
            self.retire(asked.token, false);
            if let Some(subscription) = self.subscriptions.get_mut(&id.to_string()) {
                subscription.over = true;
            }
        }
    }

    /// A token is no longer in use.
    pub(super) fn retire(&mut self, token: Option<String>, ended: bool) {
        let Some(token) = token else {
            return;
        };
        if self.old_tokens.len() >= REMEMBERED {
            self.forgetful = true;
            self.old_tokens.clear();
        }
        self.old_tokens.insert(token, ended);
    }

    /// Both sides speak this version from now on, and did all along.
    pub fn settle(&mut self, version: &'static Revision) {
        self.revision = Some(specification(version));
        self.held_bytes = 0;
        // What came before it is judged by it too: a server may well say
        // something before it greets its client.
        self.declared = self.held.iter().find_map(|line| self.greeting_in(line));
        for line in std::mem::take(&mut self.held) {
            self.received(&line);
        }
    }

    // ── what the server does ─────────────────────────────────────────────

    /// The server writes a line, without its line feed.
    pub fn received(&mut self, line: &[u8]) {
        let Some(revision) = self.revision else {
            if self.held_bytes + line.len() <= HELD_BYTES {
                self.held_bytes += line.len();
                self.held.push(line.to_vec());
            } else {
                self.passed_over();
            }
            return;
        };
        let (marked, line) = match line.strip_prefix(BYTE_ORDER_MARK) {
            Some(rest) => (true, rest),
            None => (false, line),
        };
        let line = line.trim_ascii();
        if line.is_empty() {
            return;
        }
        if is_too_large(line) {
            return;
        }
        let text = String::from_utf8_lossy(line);
        let value = match read(&text) {
            Ok(value) => value,
            // Whoever reads the message says that it is passed over.
            Err(error) if beyond(&error).is_some() => return,
            Err(_) => return self.impure(&text),
        };
        if marked {
            let text = "puts a byte order mark before a message";
            self.breach(Rule::ByteOrderMark, "", text);
        }
        if let Cow::Owned(_) = text {
            self.breach(Rule::Utf8, "", "writes bytes that are not UTF-8");
        }
        if let Some(pointer) = first_duplicate(&text) {
            let text = "writes a member of an object twice, of which readers keep one or the other";
            self.breach(Rule::DuplicateMember, &pointer, text);
        }
        match value {
            Value::Object(message) if is_message(&message) => self.message(revision, &message, ""),
            Value::Array(items) if items.iter().any(is_message_value) => {
                let text = format!("sends a batch, which {} does not know", revision.name);
                self.breach(Rule::Batch, "", text);
                for (index, item) in items.iter().enumerate() {
                    if let Value::Object(message) = item {
                        self.message(revision, message, &format!("/{index}"));
                    }
                }
            }
            Value::Null
            | Value::Bool(_)
            | Value::Number(_)
            | Value::String(_)
            | Value::Array(_)
            | Value::Object(_) => self.impure(&text),
        }
    }

    /// The server sends what is meant as a message and can't be read as one;
    /// `why` completes "the server …".
    pub fn unreadable(&mut self, why: &str) {
        if self.revision.is_some() {
            self.breach(Rule::InvalidMessage, "", why);
        } else {
            self.passed_over();
        }
    }

    /// The server sends a body or an event that should be a message and is none.
    pub fn no_message(&mut self, bytes: &[u8]) {
        if self.revision.is_none() {
            return self.passed_over();
        }
        // More than is quoted is not needed even for a moment.
        let head = &bytes[..bytes.len().min(64 * QUOTED)];
        let quoted = self.quote(&String::from_utf8_lossy(head));
        let text = format!("sends what is no message where one is due: {quoted}");
        self.breach(Rule::InvalidMessage, "", text);
    }

    /// The server sends what can't be checked.
    pub fn passed_over(&mut self) {
        self.found.unchecked += 1;
    }

    /// The capabilities that a line declares, if it is the answer to the request
    /// that opened the connection.
    fn greeting_in(&self, line: &[u8]) -> Option<Value> {
        let opening = self.revision?.era.opening();
        let value = read(&String::from_utf8_lossy(line)).ok()?;
        let messages = match &value {
            Value::Array(items) => items.as_slice(),
            one => std::slice::from_ref(one),
        };
        messages.iter().find_map(|message| {
            let id = whole(message.get("id")?)?;
            let opens = self.open.get(&id).is_some_and(|a| a.method == opening);
            let result = message.get("result").filter(|_| opens)?;
            Some(result.get("capabilities").cloned().unwrap_or_default())
        })
    }

    fn impure(&mut self, line: &str) {
        let quoted = self.quote(line);
        let text = format!("writes a line on stdout that is no message: {quoted}");
        self.breach(Rule::StdoutPurity, "", text);
    }

    fn message(
        &mut self,
        revision: &'static Specification,
        message: &Map<String, Value>,
        prefix: &str,
    ) {
        self.found.messages += 1;
        let jsonrpc = message.get("jsonrpc");
        if jsonrpc.and_then(Value::as_str) != Some("2.0") {
            let text = match jsonrpc {
                Some(other) => format!(
                    "says `jsonrpc` {} where \"2.0\" is due",
                    self.quote(&other.to_string())
                ),
                None => "leaves `jsonrpc` out of a message".to_owned(),
            };
            self.breach(Rule::Jsonrpc, format!("{prefix}/jsonrpc"), text);
        }
        match message.get("method") {
            Some(Value::String(method)) if message.contains_key("id") => {
                self.request(revision, method, message, prefix);
            }
            Some(Value::String(method)) => self.notification(revision, method, message, prefix),
            Some(_) => self.breach(
                Rule::InvalidMessage,
                format!("{prefix}/method"),
                "sends a message whose `method` is not a string",
            ),
            None => self.response(revision, message, prefix),
        }
    }

    // ── what all of them need ────────────────────────────────────────────

    /// Holds what stands at `pointer` in a message against a type.
    pub(super) fn fits(
        &mut self,
        revision: &'static Specification,
        type_name: &str,
        value: &Value,
        place: Place<'_>,
        pointer: &str,
    ) {
        for flaw in fit(revision, type_name, value, &self.redactor) {
            let text = place.text(&format!("with {}", flaw.text));
            let at = place.at(&format!("{pointer}{}", flaw.pointer));
            let key = format!("{} {} {pointer}{}", place.verb, place.method, flaw.place);
            match flaw.rule {
                Rule::Shape => {
                    let section = flaw.section.unwrap_or_else(|| Section::parse("basic"));
                    self.add(Rule::Shape, WireLevel::Must, &section, &key, at, &text);
                }
                rule => self.breach_as(rule, &key, at, &text),
            }
        }
    }

    /// The params of a message of the server: an object, if they are there.
    pub(super) fn params<'m>(
        &mut self,
        message: &'m Map<String, Value>,
        place: Place<'_>,
    ) -> Cow<'m, Value> {
        match message.get("params") {
            Some(params @ Value::Object(_)) => Cow::Borrowed(params),
            None => Cow::Owned(Value::Object(Map::new())),
            Some(_) => {
                let text = place.text("with params that are not an object");
                self.breach(Rule::InvalidMessage, place.at("/params"), text);
                Cow::Owned(Value::Object(Map::new()))
            }
        }
    }

    /// What the server may ask of the client.
    pub(super) fn client_can(&self, capabilities: Option<&Value>, path: &[&str]) -> bool {
        below(capabilities.unwrap_or(&self.offered), path).is_some()
    }

    /// Records a breach, where the revision has the rule. Sightings at one
    /// place are one breach.
    pub(super) fn breach(&mut self, rule: Rule, pointer: impl Into<String>, text: impl AsRef<str>) {
        let pointer = pointer.into();
        self.breach_as(rule, &pointer.clone(), pointer, text);
    }

    /// The same; `key` is what makes two sightings one.
    pub(super) fn breach_as(
        &mut self,
        rule: Rule,
        key: &str,
        pointer: impl Into<String>,
        text: impl AsRef<str>,
    ) {
        let Some((level, section)) = self.revision.and_then(|r| r.rules.get(&rule)) else {
            return;
        };
        self.add(rule, *level, section, key, pointer.into(), text.as_ref());
    }

    /// Records that the server does what it has not declared that it can.
    pub(super) fn undeclared(
        &mut self,
        rule: Rule,
        key: &str,
        capability: &[&str],
        pointer: &str,
        place: Place<'_>,
    ) {
        let capability = capability.join(".");
        let text = format!("without having declared the capability `{capability}`");
        self.breach_as(rule, key, place.at(pointer), place.text(&text));
    }

    fn add(
        &mut self,
        rule: Rule,
        level: WireLevel,
        section: &Section,
        key: &str,
        pointer: String,
        text: &str,
    ) {
        let key = format!("{} {key}", rule.name());
        if let Some(known) = self
            .seen
            .get(&key)
            .and_then(|i| self.found.breaches.get_mut(*i))
        {
            known.count += 1;
            return;
        }
        let revision = self.revision.map_or("", |revision| revision.name);
        let before = self.found.breaches.len();
        self.found.add(WireBreach {
            rule: rule.name().to_owned(),
            level,
            text: self.redactor.cut(text, TEXT_BYTES),
            pointer: self.redactor.redact(&pointer).into_owned(),
            section: section.describe(revision),
            url: section.url(revision),
            count: 1,
        });
        if self.found.breaches.len() > before {
            self.seen.insert(key, before);
        }
    }

    /// A text of the server, as a breach quotes it.
    pub(super) fn quote(&self, text: &str) -> String {
        format!("`{}`", self.redactor.cut(text.trim(), QUOTED))
    }

    /// A method as a breach names it.
    pub(super) fn shown(&self, method: &str) -> String {
        self.redactor.cut(method, QUOTED)
    }
}

/// A text as JSON, as far as it can be read.
fn read(text: &str) -> serde_json::Result<Value> {
    let text = text.strip_prefix('\u{FEFF}').unwrap_or(text);
    serde_json::from_str(text).or_else(|error| {
        // Half of a surrogate pair is no breach of JSON's grammar.
        let mended = half_pairs_replaced(text.as_bytes());
        let mended = mended.and_then(|mended| serde_json::from_slice(&mended).ok());
        mended.ok_or(error)
    })
}

/// What a request is about, of what a server lists.
fn names(method: &str, params: &Value) -> Option<String> {
    let (kind, pointer) = match method {
        "prompts/get" => (ListKind::Prompts, "/name"),
        "resources/read" | "resources/subscribe" | "resources/unsubscribe" => {
            (ListKind::Resources, "/uri")
        }
        "completion/complete" => match params.pointer("/ref/type").and_then(Value::as_str) {
            Some("ref/prompt") => (ListKind::Prompts, "/ref/name"),
            Some(_) | None => (ListKind::ResourceTemplates, "/ref/uri"),
        },
        _ => return None,
    };
    let name = params.pointer(pointer).and_then(Value::as_str)?;
    Some(named(kind, name))
}

/// An item of a list, apart from all others.
pub(super) fn named(kind: ListKind, name: &str) -> String {
    format!("{kind:?} {name}")
}

/// What the keys lead to, one in the other.
pub(super) fn below<'v>(value: &'v Value, path: &[&str]) -> Option<&'v Value> {
    path.iter().try_fold(value, |value, key| value.get(key))
}

/// Whether it was meant as a message, and not as a line of a log that happens
/// to be JSON.
fn is_message(object: &Map<String, Value>) -> bool {
    let has = |key: &str| object.contains_key(key);
    has("jsonrpc") || has("id") && (has("result") || has("error") || has("method"))
}

fn is_message_value(value: &Value) -> bool {
    value.as_object().is_some_and(is_message)
}
