//! The state machine between a client and its server.
//!
//! Main type: [`Relay`]. It is given lines, events and moments, and has bytes
//! for either side and wishes for whoever drives it. A line that need not be
//! changed goes on byte for byte.
//!
//! | file | knows |
//! | --- | --- |
//! | `client` | what comes from the client |
//! | `server` | what comes from the server |
//! | `injection` | answers that are to go wrong |
//! | `life` | starts, deaths and what is due |
//! | `pending` | requests that wait for an answer |
//! | `probe` | what waits until the era of a new process is known |
//! | `outbox` | bytes on their way to one side |
//! | `repeatable` | which tools may be called twice |
//! | `session` | what a new process has to be told of the client |

mod client;
mod injection;
mod life;
mod outbox;
mod pending;
mod probe;
mod repeatable;
mod server;
mod session;

use super::account::{RequestEnd, RequestOutcome};
use super::adapter::{Adapter, StoreSchemas};
use super::settings::{RelaySettings, Tap};
use super::trouble::Trouble;
use jelly_base::mcp::Era;
use jelly_base::model::{OutputSeen, Rung};
use jelly_mock::Injector;
use jelly_wire::Direction;
pub use outbox::Outbox;
pub use pending::key;
use pending::{Asked, Pendings, Waiting};
use repeatable::Repeatable;
use serde::Serialize;
use serde_json::Value;
use session::{Probing, Session};
use std::collections::{BTreeMap, HashMap, HashSet, VecDeque};
use tokio::time::Instant;

/// What a relay wants done.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Wish {
    /// A process for the server; then [`Relay::started`] or [`Relay::gone`].
    Start,
    /// The process stopped, which is of no use; then [`Relay::gone`].
    Stop,
    /// The process killed, as a fault wants it; its end says the rest.
    Kill,
}

/// How the server is.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum State {
    /// There is no process.
    Down,
    Starting(Starting),
    /// It has answered.
    Ready,
}

/// On the way to a server that answers.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Starting {
    /// There is a process.
    spawned: bool,
    /// It is being told what the one before it knew.
    restoring: bool,
    /// When the process is asked for; none where it has been.
    start_at: Option<Instant>,
}

impl Starting {
    /// A process was asked for.
    const ASKED_FOR: Self = Self {
        spawned: false,
        restoring: false,
        start_at: None,
    };

    /// What the client says has to wait.
    fn holds(self) -> bool {
        !self.spawned || self.restoring
    }
}

/// See the module.
pub struct Relay<T = ()> {
    settings: RelaySettings,
    state: State,
    /// The era of the process, as far as it is known.
    server_era: Option<Era>,
    probing: Probing,
    session: Session,
    pending: Pendings,
    /// Requests that were answered here before the server did.
    answered: HashMap<String, Asked>,
    /// An answer to `initialize` that came too late for the client's request,
    /// as the text of its result or error.
    opening_kept: Option<String>,
    /// By the id by which the server knows an `initialize`, the one by which the
    /// client has asked again.
    adopted: BTreeMap<String, String>,
    /// Requests of the server that the client has not answered.
    asked_by_server: HashSet<String>,
    /// Those of them that a person has to answer.
    asks_a_person: HashSet<String>,
    /// Lines of the client that wait for a process.
    held: Vec<Vec<u8>>,
    /// Requests of our own.
    own: HashMap<String, OwnRequest>,
    own_count: u64,
    /// Why the server is down, or was last.
    trouble: Option<Trouble>,
    /// The client was told.
    told: bool,
    /// Starts that failed in a row.
    failures: u32,
    retry_at: Option<Instant>,
    /// The latest restarts.
    restarts: VecDeque<Instant>,
    restart_count: u32,
    /// What the next result says besides.
    mark: Option<Value>,
    /// The client was shown a server that is none.
    stood_in: bool,
    /// Subscriptions of the modern era, each with its id and its request.
    listening: Vec<(String, Vec<u8>)>,
    /// Those that are open and that the client knows to be taken.
    acknowledged: HashSet<String>,
    /// The client has sent what is no JSON since the server said anything.
    noise_sent: bool,
    /// The client has closed its end.
    closed: bool,
    wishes: VecDeque<Wish>,
    to_client: Outbox,
    to_server: Outbox,
    adapter: Option<Adapter>,
    repeatable: Repeatable,
    /// What is to go wrong with answers.
    faults: Option<Injector>,
    /// Bytes for the client, and from when on.
    delayed: Vec<(Instant, Vec<u8>)>,
    tap: T,
}

/// Why a request of our own was made.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum OwnRequest {
    /// `initialize` again.
    Restore,
    /// Which era the server speaks.
    Probe,
    /// Its answer is of no interest.
    Ignored,
}

impl<T: Tap> Relay<T> {
    /// A relay that wants a process at once.
    #[must_use]
    pub fn new(settings: RelaySettings, adapter: Option<Adapter>, tap: T) -> Self {
        Self {
            state: State::Starting(Starting::ASKED_FOR),
            server_era: None,
            probing: Probing::default(),
            session: Session::default(),
            pending: Pendings::default(),
            answered: HashMap::new(),
            opening_kept: None,
            adopted: BTreeMap::new(),
            asked_by_server: HashSet::new(),
            asks_a_person: HashSet::new(),
            held: Vec::new(),
            own: HashMap::new(),
            own_count: 0,
            trouble: None,
            told: false,
            failures: 0,
            retry_at: None,
            restarts: VecDeque::new(),
            restart_count: 0,
            mark: None,
            stood_in: false,
            noise_sent: false,
            listening: Vec::new(),
            acknowledged: HashSet::new(),
            closed: false,
            wishes: VecDeque::from([Wish::Start]),
            to_client: Outbox::default(),
            to_server: Outbox::default(),
            adapter,
            repeatable: Repeatable::default(),
            faults: settings.faults.clone(),
            delayed: Vec::new(),
            settings,
            tap,
        }
    }

    /// What is wanted next.
    pub fn wish(&mut self) -> Option<Wish> {
        self.wishes.pop_front()
    }

    /// Bytes for the client, to be taken.
    pub fn to_client(&mut self) -> &mut Outbox {
        &mut self.to_client
    }

    /// Bytes for the server, to be taken.
    pub fn to_server(&mut self) -> &mut Outbox {
        &mut self.to_server
    }

    /// The server has answered, and no process has ended since.
    #[must_use]
    pub fn is_ready(&self) -> bool {
        self.state == State::Ready
    }

    /// The client waits for an answer.
    #[must_use]
    pub fn is_asked(&self) -> bool {
        self.pending.wait_for_answers()
    }

    /// The method of the oldest request that waits.
    #[must_use]
    pub fn asked_for(&self) -> Option<&'static str> {
        self.pending.first().map(|asked| asked.method.name())
    }

    /// Whether the client has sent a line that is no JSON since the server last said
    /// anything.
    #[must_use]
    pub fn follows_noise(&self) -> bool {
        self.noise_sent
    }

    /// The client has closed its end: nothing is started any more.
    pub fn close(&mut self) {
        self.closed = true;
    }

    /// What was seen of outputs since it was last asked.
    pub fn take_learnt(&mut self) -> Vec<OutputSeen> {
        let adapter = self.adapter.as_mut();
        adapter.map(Adapter::take_learnt).unwrap_or_default()
    }

    /// The schema store says something else now; whether that makes another list
    /// of tools than the client has.
    pub fn schemas_changed(&mut self, schemas: &StoreSchemas) -> bool {
        let Some(adapter) = &mut self.adapter else {
            return false;
        };
        if !adapter.set(schemas) {
            return false;
        }
        let is_told = self.state == State::Ready;
        if is_told && self.session.era == Some(Era::Modern) {
            let mut open = self.pending.subscriptions();
            open.extend(self.listening.clone());
            self.tell_listeners(&open, &["tools"]);
        } else if is_told && self.session.can("/tools/listChanged") {
            let method = "notifications/tools/list_changed";
            self.tell_client(&serde_json::json!({ "jsonrpc": "2.0", "method": method }));
        }
        true
    }

    fn say_to_client(&mut self, line: &str) {
        self.to_client.line(line.as_bytes());
    }

    fn tell_client(&mut self, message: &impl Serialize) {
        // Of plain data; it can't fail.
        let line = serde_json::to_string(message).unwrap_or_default();
        self.say_to_client(&line);
    }

    fn send(&mut self, line: &[u8]) {
        self.to_server.line(line);
        self.tap.passed(Direction::Sent, line);
    }

    /// A request of our own, with params as they are written.
    fn ask(&mut self, method: &str, params: &str, why: OwnRequest) {
        self.own_count += 1;
        let id = format!("\"jelly-proxy:{}\"", self.own_count);
        let line = format!(
            "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"{method}\",\"params\":{params}}}"
        );
        self.send(line.as_bytes());
        self.own.insert(id, why);
    }

    /// Tells how a request came to its end.
    fn account(&mut self, asked: &Asked, outcome: RequestOutcome<'_>, rung: Option<Rung>) {
        self.tap.ended(&RequestEnd {
            method: &asked.name,
            tool: asked.tool.as_deref(),
            since: asked.since,
            outcome,
            rung,
            parent: asked.parent.as_ref(),
        });
    }

    /// Answers a request for the server that can't be used.
    fn answer_for_server(&mut self, id: &str, asked: &Asked, trouble: &Trouble) {
        self.told = true;
        let root_cause = trouble.data.root_cause.as_str();
        self.account(asked, RequestOutcome::Unavailable { root_cause }, None);
        if self.settings.stands_in
            && let Some(answer) = super::stand_in::answer(&asked.as_said(), trouble)
        {
            self.stood_in = true;
            if asked.is_opening()
                && let Some(result) = answer.result()
            {
                self.session.opened(result);
            }
            if let Some(word) = &asked.word {
                self.session.accepted(word);
            }
            for line in answer.lines(id) {
                self.say_to_client(&line);
            }
            if let Waiting::Listens(line) = &asked.waiting {
                self.listening.push((id.to_owned(), line.clone()));
                self.acknowledged.insert(key(id));
            }
            return;
        }
        self.say_to_client(&trouble.answer(id));
    }
}

#[cfg(test)]
mod tests;
