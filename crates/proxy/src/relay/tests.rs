//! What holds whatever happens: nothing is answered twice, no call is sent
//! twice, and nobody is left without an answer.

use super::{Relay, Wish};
use crate::settings::{RelaySettings, Tap};
use crate::trouble::Trouble;
use jelly_base::model::UpstreamContext;
use jelly_wire::Direction;
use proptest::prelude::*;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::{BTreeMap, BTreeSet};
use std::rc::Rc;
use std::time::Duration;
use tokio::time::Instant;

/// What may happen.
#[derive(Debug, Clone)]
enum Happening {
    Request(&'static str),
    /// The server answers the first request that it has.
    Answer,
    /// Noise, a notification or a request of the server's own.
    Says(&'static str),
    Dies,
    TimePasses(u64),
}

fn happening() -> impl Strategy<Value = Happening> {
    prop_oneof![
        4 => prop::sample::select(vec![
            "initialize", "server/discover", "tools/list", "tools/call", "resources/subscribe",
            "logging/setLevel", "ping", "unknown/method",
        ]).prop_map(Happening::Request),
        4 => Just(Happening::Answer),
        1 => prop::sample::select(vec![
            "Server up",
            r#"{"jsonrpc":"2.0","method":"notifications/message","params":{}}"#,
            r#"{"jsonrpc":"2.0","id":"s","method":"roots/list"}"#,
        ]).prop_map(Happening::Says),
        1 => Just(Happening::Dies),
        2 => (1_u64..90_000).prop_map(Happening::TimePasses),
    ]
}

#[derive(Clone, Default)]
struct Sent(Rc<RefCell<Vec<String>>>);

impl Tap for Sent {
    fn passed(&mut self, direction: Direction, line: &[u8]) {
        if direction == Direction::Sent {
            let line = String::from_utf8(line.to_vec()).unwrap();
            self.0.borrow_mut().push(line);
        }
    }
}

/// A relay with a server that does what it is told to.
struct World {
    relay: Relay<Sent>,
    sent: Sent,
    /// How much of it the server has looked at.
    looked_at: usize,
    /// Requests that this process has not answered.
    has: Vec<(String, String)>,
    lives: bool,
    now: Instant,
    answers: BTreeMap<u64, usize>,
}

impl World {
    fn new(settings: RelaySettings) -> Self {
        let sent = Sent::default();
        let mut world = Self {
            relay: Relay::new(settings, None, sent.clone()),
            sent,
            looked_at: 0,
            has: Vec::new(),
            lives: false,
            now: Instant::now(),
            answers: BTreeMap::new(),
        };
        world.settle();
        world
    }

    fn trouble() -> Trouble {
        Trouble::of_eras(&UpstreamContext::default())
    }

    /// Grants wishes, and takes in what was sent to either side.
    fn settle(&mut self) {
        while let Some(wish) = self.relay.wish() {
            match wish {
                Wish::Start => {
                    self.lives = true;
                    self.has.clear();
                    self.relay.started();
                }
                Wish::Stop | Wish::Kill => self.die(),
            }
        }
        let sent = self.sent.0.borrow();
        for line in &sent[self.looked_at..] {
            let message: Value = serde_json::from_str(line).unwrap();
            if let (Some(id), Some(method)) = (message.get("id"), message["method"].as_str()) {
                self.has.push((id.to_string(), method.to_owned()));
            }
        }
        self.looked_at = sent.len();
        drop(sent);
        let unsent = self.relay.to_client().unsent().to_vec();
        self.relay.to_client().clear();
        self.relay.to_server().clear();
        for line in unsent
            .split(|byte| *byte == b'\n')
            .filter(|l| !l.is_empty())
        {
            let message: Value = serde_json::from_slice(line).unwrap();
            if let (Some(id), None) = (message["id"].as_u64(), message.get("method")) {
                *self.answers.entry(id).or_default() += 1;
            }
        }
    }

    fn die(&mut self) {
        self.lives = false;
        self.has.clear();
        self.relay.gone(Self::trouble(), self.now);
        self.settle();
    }

    fn happens(&mut self, id: u64, happening: &Happening) {
        match happening {
            Happening::Request(method) => {
                let line = json!({
                    "jsonrpc": "2.0", "id": id, "method": method,
                    "params": { "name": "t", "uri": "a:b" },
                });
                self.relay
                    .from_client(line.to_string().as_bytes(), self.now);
            }
            Happening::Answer if self.lives && !self.has.is_empty() => {
                let (id, method) = self.has.remove(0);
                let result = json!({ "capabilities": {
                    "tools": { "listChanged": true }, "logging": {},
                }, "of": method });
                let line = format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{result}}}"#);
                self.relay.from_server(line.as_bytes(), self.now);
            }
            Happening::Says(line) if self.lives => {
                self.relay.from_server(line.as_bytes(), self.now);
            }
            Happening::Dies if self.lives => self.die(),
            Happening::TimePasses(milliseconds) => {
                self.now += Duration::from_millis(*milliseconds);
                if self.relay.tick(self.now) {
                    self.relay.still_starting(&Self::trouble(), self.now);
                }
            }
            Happening::Answer | Happening::Says(_) | Happening::Dies => {}
        }
        self.settle();
    }
}

proptest! {
    #[test]
    fn each_request_is_answered_once_and_no_call_is_sent_twice(
        happenings in prop::collection::vec(happening(), 0..60),
        stands_in in any::<bool>(),
        limited in any::<bool>(),
    ) {
        let mut world = World::new(RelaySettings {
            stands_in,
            call_timeout: limited.then_some(Duration::from_secs(5)),
            ..RelaySettings::default()
        });
        let mut asked = BTreeSet::new();
        for (id, happening) in happenings.iter().enumerate() {
            let id = id as u64;
            if matches!(happening, Happening::Request(_)) {
                asked.insert(id);
            }
            world.happens(id, happening);
            prop_assert!(world.answers.values().all(|answers| *answers == 1), "{:?}", world.answers);
        }
        // In the end, whatever still waits is told why.
        world.relay.close();
        if world.lives || world.relay.is_asked() {
            world.die();
        }
        let answered: BTreeSet<u64> = world.answers.keys().copied().collect();
        prop_assert_eq!(answered, asked);
        let sent = world.sent.0.borrow();
        let calls: Vec<&String> = sent.iter().filter(|line| line.contains("tools/call")).collect();
        let different: BTreeSet<&&String> = calls.iter().collect();
        prop_assert_eq!(calls.len(), different.len());
    }
}
