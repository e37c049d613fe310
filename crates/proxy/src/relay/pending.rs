//! The client's requests that wait for an answer.
//!
//! Main type: [`Pendings`].

use super::session::SessionWord;
use crate::account::TraceParent;
use crate::stand_in::Said;
use indexmap::IndexMap;
use jelly_base::mcp::{DISCOVER, INITIALIZE, LISTEN};
use jelly_mock::Kind as FaultKind;
use std::time::Duration;
use tokio::time::Instant;

/// What a request asks for, as far as it makes a difference.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Asking {
    Initialize,
    Discover,
    Listen,
    Call,
    /// With its name, where a server that is none has an answer.
    Known(&'static str),
    Other,
}

/// Methods to which a server that is none has an answer.
const KNOWN: [&str; 6] = [
    "ping",
    "tools/list",
    "resources/list",
    "resources/templates/list",
    "prompts/list",
    "logging/setLevel",
];

impl Asking {
    pub fn of(method: &str) -> Self {
        match method {
            "tools/call" => Self::Call,
            INITIALIZE => Self::Initialize,
            DISCOVER => Self::Discover,
            LISTEN => Self::Listen,
            _ => KNOWN
                .iter()
                .find(|known| **known == method)
                .map_or(Self::Other, |known| Self::Known(known)),
        }
    }

    pub fn name(self) -> &'static str {
        match self {
            Self::Initialize => INITIALIZE,
            Self::Discover => DISCOVER,
            Self::Listen => LISTEN,
            Self::Call => "tools/call",
            Self::Known(name) => name,
            Self::Other => "a request",
        }
    }
}

/// What has to be kept of a request.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub enum Waiting {
    #[default]
    Plainly,
    /// A call under a time limit.
    Timed(CallClock),
    /// A subscription, with its line.
    Listens(Vec<u8>),
    /// With its params: the server may be one that is none.
    Told(String),
}

/// The time limit of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct CallClock {
    /// When it is over.
    pub due: Instant,
    /// When it is over whatever comes.
    pub end: Option<Instant>,
    /// The token of its progress, as it is written.
    pub token: Option<String>,
    /// What is shown as the limit.
    pub limit: Duration,
}

/// A request that waits.
#[derive(Debug, Clone, PartialEq)]
pub struct Asked {
    pub method: Asking,
    /// As it was sent.
    pub name: String,
    /// When it came.
    pub since: Instant,
    /// How long it waits for a server that is starting.
    pub until: Option<Instant>,
    pub waiting: Waiting,
    /// The tool of a call.
    pub tool: Option<String>,
    /// The line of a call that may be made twice, for the case that the server
    /// dies of something meanwhile.
    pub again: Option<Vec<u8>>,
    /// What is to go wrong with its answer.
    pub faults: Vec<FaultKind>,
    /// The client speaks the modern era.
    pub modern: bool,
    /// A probe that says of itself what each request of the modern era must.
    pub is_sound_probe: bool,
    /// The client's span that it belongs to.
    pub parent: Option<TraceParent>,
    /// What a later process has to be told, should the server accept it.
    pub word: Option<SessionWord>,
}

impl Asked {
    pub fn is_opening(&self) -> bool {
        matches!(self.method, Asking::Initialize | Asking::Discover)
    }

    /// For a server that is none.
    pub fn as_said(&self) -> Said<'_> {
        let params = match &self.waiting {
            Waiting::Told(params) => params.as_str(),
            Waiting::Plainly | Waiting::Timed(_) | Waiting::Listens(_) => "null",
        };
        Said {
            method: self.method.name(),
            params,
            modern: self.modern,
        }
    }
}

/// Ids as they are compared: the text of the wire, but for strings that are
/// written with escapes, and whole numbers that are not written as such.
pub fn key(id: &str) -> String {
    /// Up to here every whole number is one of its own.
    const EXACT: f64 = 9_007_199_254_740_992.0;
    if !id.starts_with('"') && id.contains(['.', 'e', 'E']) || id == "-0" {
        let number = id.parse().unwrap_or(f64::NAN);
        if number.trunc() == number && number.abs() < EXACT {
            // Without the sign that zero may have.
            return format!("{:.0}", number + 0.0);
        }
    }
    if id.contains('\\')
        && let Ok(plain) = serde_json::from_str::<String>(id)
    {
        return serde_json::to_string(&plain).unwrap_or(plain);
    }
    id.to_owned()
}

/// By id, in the order in which they came.
#[derive(Debug, Default)]
pub struct Pendings {
    asked: IndexMap<String, Asked>,
    /// No request is due before this.
    due: Option<Instant>,
}

impl Pendings {
    /// An answer is waited for; a subscription has none until it ends.
    pub fn wait_for_answers(&self) -> bool {
        let mut all = self.asked.values();
        all.any(|asked| asked.method != Asking::Listen)
    }

    /// Those that are open, each with its id and its request.
    pub fn subscriptions(&self) -> Vec<(String, Vec<u8>)> {
        let line = |(id, asked): (&String, &Asked)| match &asked.waiting {
            Waiting::Listens(line) => Some((id.clone(), line.clone())),
            Waiting::Plainly | Waiting::Timed(_) | Waiting::Told(_) => None,
        };
        self.asked.iter().filter_map(line).collect()
    }

    pub fn has(&self, id: &str) -> bool {
        self.asked.contains_key(id)
    }

    pub fn first(&self) -> Option<&Asked> {
        self.asked.values().next()
    }

    pub fn add(&mut self, id: &str, asked: Asked) {
        let due = match &asked.waiting {
            Waiting::Timed(clock) => Some(clock.due),
            Waiting::Plainly | Waiting::Listens(_) | Waiting::Told(_) => None,
        };
        self.due = earlier(self.due, earlier(due, asked.until));
        self.asked.insert(key(id), asked);
    }

    pub fn take(&mut self, id: &str) -> Option<Asked> {
        // The order of what is left is told to nobody but by `first`.
        let found = match id.contains('\\') {
            true => self.asked.swap_remove(&key(id)),
            false => self.asked.swap_remove(id),
        };
        if self.asked.is_empty() {
            self.due = None;
        }
        found
    }

    pub fn take_all(&mut self) -> IndexMap<String, Asked> {
        self.due = None;
        std::mem::take(&mut self.asked)
    }

    /// Those for which this holds.
    pub fn take_if(&mut self, holds: impl Fn(&Asked) -> bool) -> Vec<(String, Asked)> {
        let mut taken = Vec::new();
        let asked = std::mem::take(&mut self.asked);
        for (id, asked) in asked {
            match holds(&asked) {
                true => taken.push((id, asked)),
                false => drop(self.asked.insert(id, asked)),
            }
        }
        self.find_due();
        taken
    }

    pub fn any(&self, holds: impl Fn(&Asked) -> bool) -> bool {
        self.asked.values().any(holds)
    }

    /// No limit of a start holds any more.
    pub fn started(&mut self) {
        for asked in self.asked.values_mut() {
            asked.until = None;
        }
        self.find_due();
    }

    /// The time limits of calls begin anew.
    pub fn wind(&mut self, now: Instant, is_meant: impl Fn(&CallClock) -> bool) {
        for asked in self.asked.values_mut() {
            if let Waiting::Timed(clock) = &mut asked.waiting
                && is_meant(clock)
            {
                let due = now + clock.limit;
                clock.due = clock.end.map_or(due, |end| due.min(end));
            }
        }
        self.find_due();
    }

    /// When something is due, at the earliest.
    pub fn due(&self) -> Option<Instant> {
        self.due
    }

    pub fn find_due(&mut self) {
        self.due = None;
        for asked in self.asked.values() {
            let due = match &asked.waiting {
                Waiting::Timed(clock) => Some(clock.due),
                Waiting::Plainly | Waiting::Listens(_) | Waiting::Told(_) => None,
            };
            self.due = earlier(self.due, earlier(due, asked.until));
        }
    }
}

/// The earlier of two moments that may not be.
pub fn earlier(one: Option<Instant>, other: Option<Instant>) -> Option<Instant> {
    match (one, other) {
        (Some(one), Some(other)) => Some(one.min(other)),
        (one, other) => one.or(other),
    }
}
