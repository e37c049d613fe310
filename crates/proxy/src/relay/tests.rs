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
            "logging/setLevel", "ping", "unknown/method", "subscriptions/listen",
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

/// A line of the client's, and what of it came to the server.
fn says(world: &mut World, line: &str) -> Vec<String> {
    let before = world.sent.0.borrow().len();
    world.relay.from_client(line.as_bytes(), world.now);
    world.settle();
    world.sent.0.borrow()[before..].to_vec()
}

fn request(id: u64, method: &str, params: &Value) -> String {
    json!({ "jsonrpc": "2.0", "id": id, "method": method, "params": params }).to_string()
}

/// The server answers, and what the client is told.
fn answered(world: &mut World, line: &Value) -> Vec<String> {
    world
        .relay
        .from_server(line.to_string().as_bytes(), world.now);
    let unsent = world.relay.to_client().unsent().to_vec();
    world.settle();
    let text = String::from_utf8(unsent).unwrap();
    text.lines().map(str::to_owned).collect()
}

fn ready(world: &mut World) {
    says(world, &request(1, "initialize", &json!({ "x": 1 })));
    let result = json!({ "capabilities": { "logging": {}, "resources": { "subscribe": true } } });
    answered(
        world,
        &json!({ "jsonrpc": "2.0", "id": 1, "result": result }),
    );
}

#[test]
fn a_new_process_is_told_what_the_one_before_it_accepted_and_nothing_else() {
    let refused = |id: u64| json!({ "jsonrpc": "2.0", "id": id, "error": { "code": -32602, "message": "no" } });
    let accepted = |id: u64| json!({ "jsonrpc": "2.0", "id": id, "result": {} });
    let mut world = World::new(RelaySettings::default());
    ready(&mut world);
    for (id, method, params, answer) in [
        (
            2,
            "logging/setLevel",
            json!({ "level": "info" }),
            accepted(2),
        ),
        (
            3,
            "logging/setLevel",
            json!({ "level": "loud" }),
            refused(3),
        ),
        (
            4,
            "resources/subscribe",
            json!({ "uri": "a:1" }),
            accepted(4),
        ),
        (
            5,
            "resources/subscribe",
            json!({ "uri": "a:2" }),
            refused(5),
        ),
        (
            6,
            "resources/unsubscribe",
            json!({ "uri": "a:1" }),
            refused(6),
        ),
        (7, "initialize", json!({ "x": 2 }), refused(7)),
    ] {
        says(&mut world, &request(id, method, &params));
        answered(&mut world, &answer);
    }
    // It was not answered, and the client is told that it was not.
    says(
        &mut world,
        &request(8, "logging/setLevel", &json!({ "level": "debug" })),
    );
    let before = world.sent.0.borrow().len();
    world.die();
    answered(
        &mut world,
        &json!({ "jsonrpc": "2.0", "id": "jelly-proxy:1", "result": {} }),
    );
    let told = world.sent.0.borrow()[before..].join("\n");
    for wanted in [r#"{"x":1}"#, r#"{"level":"info"}"#, r#"{"uri":"a:1"}"#] {
        assert!(told.contains(wanted), "{wanted}: {told}");
    }
    for other in [r#"{"x":2}"#, "loud", "debug", "a:2"] {
        assert!(!told.contains(other), "{other}: {told}");
    }
}

#[test]
fn a_subscription_that_is_asked_for_again_is_taken_once_and_ends_once() {
    let meta = json!({ "io.modelcontextprotocol/protocolVersion": "2026-07-28" });
    let listen = request(
        5,
        "subscriptions/listen",
        &json!({ "_meta": meta, "notifications": {} }),
    );
    let taken = json!({ "jsonrpc": "2.0", "method": "notifications/subscriptions/acknowledged",
        "params": { "_meta": { "io.modelcontextprotocol/subscriptionId": 5 } } });
    let ends = json!({ "jsonrpc": "2.0", "id": 5, "result": {} });
    let mut world = World::new(RelaySettings::default());
    says(
        &mut world,
        &request(1, "server/discover", &json!({ "_meta": meta })),
    );
    answered(
        &mut world,
        &json!({ "jsonrpc": "2.0", "id": 1, "result": {} }),
    );
    assert_eq!(says(&mut world, &listen), [listen.as_str()]);
    assert_eq!(answered(&mut world, &taken).len(), 1);
    let before = world.sent.0.borrow().len();
    world.die();
    assert_eq!(world.sent.0.borrow()[before..], [listen.as_str()]);
    assert_eq!(
        answered(&mut world, &taken),
        [""; 0],
        "it is known to be taken"
    );
    assert_eq!(answered(&mut world, &ends).len(), 1);
    says(&mut world, &request(6, "ping", &json!({ "_meta": meta })));
    answered(
        &mut world,
        &json!({ "jsonrpc": "2.0", "id": 6, "result": {} }),
    );
    let before = world.sent.0.borrow().len();
    world.now += Duration::from_secs(60);
    world.die();
    assert!(world.relay.tick(world.now) || world.sent.0.borrow().len() == before);
}

fn modern_meta() -> Value {
    json!({
        "io.modelcontextprotocol/protocolVersion": "2026-07-28",
        "io.modelcontextprotocol/clientCapabilities": {},
    })
}

#[test]
fn nothing_follows_a_probe_before_it_is_answered_or_found_to_be_of_no_use() {
    let probe = request(1, "server/discover", &json!({ "_meta": modern_meta() }));
    let opening = request(2, "initialize", &json!({ "x": 1 }));
    let late = json!({ "jsonrpc": "2.0", "id": 1, "error": { "code": -32601, "message": "no" } });
    let of_process = || RelaySettings {
        asks_era: true,
        ..RelaySettings::default()
    };
    // Beside a server with a URL none can be started, so that nothing waits for it.
    let mut world = World::new(RelaySettings::default());
    says(&mut world, &probe);
    assert_eq!(says(&mut world, &opening), [opening.as_str()]);

    let mut world = World::new(of_process());
    assert_eq!(says(&mut world, &probe), [probe.as_str()]);
    assert_eq!(says(&mut world, &opening), [""; 0]);
    assert!(world.relay.only_probed());
    let before = world.sent.0.borrow().len();
    answered(&mut world, &late);
    assert_eq!(world.sent.0.borrow()[before..], [opening.as_str()]);
    // A server that is silent, and well where it is not probed.
    let mut world = World::new(of_process());
    says(&mut world, &probe);
    says(&mut world, &opening);
    let before = world.sent.0.borrow().len();
    world.relay.is_legacy();
    world.settle();
    assert_eq!(world.answers, BTreeMap::from([(1, 1)]));
    assert_eq!(world.sent.0.borrow()[before..], [opening.as_str()]);
    // One that is silent either way gets what it would have got.
    let mut world = World::new(of_process());
    says(&mut world, &probe);
    says(&mut world, &opening);
    let before = world.sent.0.borrow().len();
    world.relay.stop_probing();
    world.settle();
    assert_eq!(world.sent.0.borrow()[before..], [opening.as_str()]);
    assert!(!world.relay.only_probed());
}

#[test]
fn a_server_is_asked_for_its_era_before_a_client_that_does_not_probe_is_passed_on() {
    let list = request(7, "tools/list", &json!({ "_meta": modern_meta(), "a": 1 }));
    let asks = || {
        let mut world = World::new(RelaySettings {
            asks_era: true,
            ..RelaySettings::default()
        });
        let sent = says(&mut world, &list);
        let probe: Value = serde_json::from_str(&sent[0]).unwrap();
        assert_eq!(sent.len(), 1);
        assert_eq!(probe["method"], "server/discover");
        assert_eq!(probe["params"], json!({ "_meta": modern_meta() }));
        (world, probe["id"].clone())
    };
    for (answer, passes) in [
        (json!({ "result": { "capabilities": {} } }), true),
        (
            json!({ "error": { "code": -32601, "message": "no" } }),
            false,
        ),
        (
            json!({ "error": { "code": -32602, "message": "no" } }),
            false,
        ),
        (
            json!({ "error": { "code": -32603, "message": "busy" } }),
            true,
        ),
    ] {
        let (mut world, id) = asks();
        let mut line = json!({ "jsonrpc": "2.0", "id": id });
        line.as_object_mut()
            .unwrap()
            .extend(answer.as_object().unwrap().clone());
        let before = world.sent.0.borrow().len();
        let told = answered(&mut world, &line);
        let sent = world.sent.0.borrow()[before..].to_vec();
        match passes {
            true => assert_eq!((sent, told), (vec![list.clone()], vec![]), "{answer}"),
            false => {
                assert_eq!(sent, [""; 0], "{answer}");
                assert!(told[0].contains("era_mismatch"), "{told:?}");
            }
        }
    }
    let (mut world, _) = asks();
    world.relay.is_legacy();
    let told = world.relay.to_client().unsent().to_vec();
    assert!(String::from_utf8(told).unwrap().contains("era_mismatch"));
}

#[test]
fn what_is_taken_out_of_a_batch_that_waits_is_not_sent_and_the_rest_is() {
    let batch = |ids: &[u64]| {
        let calls = ids
            .iter()
            .map(|id| request(*id, "tools/call", &json!({ "name": "t" })));
        format!("[{}]", calls.collect::<Vec<_>>().join(","))
    };
    let cancel = |id: u64| {
        json!({ "jsonrpc": "2.0", "method": "notifications/cancelled", "params": { "requestId": id } })
            .to_string()
    };
    let mut relay = Relay::new(RelaySettings::default(), None, Sent::default());
    let now = Instant::now();
    relay.from_client(batch(&[1, 2, 3]).as_bytes(), now);
    relay.from_client(cancel(2).as_bytes(), now);
    relay.from_client(batch(&[4]).as_bytes(), now);
    relay.from_client(cancel(4).as_bytes(), now);
    // One that is late is answered; another that came later still waits.
    let later = now + Duration::from_secs(40);
    relay.from_client(request(5, "ping", &json!({})).as_bytes(), later);
    let due = now + Duration::from_secs(50);
    assert!(relay.tick(due));
    relay.still_starting(&World::trouble(), due);
    let told = String::from_utf8(relay.to_client().unsent().to_vec()).unwrap();
    assert_eq!(told.lines().count(), 2, "{told}");
    relay.from_client(batch(&[6, 7]).as_bytes(), due);
    relay.from_client(cancel(7).as_bytes(), due);
    relay.started();
    let sent = String::from_utf8(relay.to_server().unsent().to_vec()).unwrap();
    let wanted = [request(5, "ping", &json!({})), batch(&[6])];
    assert_eq!(sent.lines().collect::<Vec<_>>(), wanted);
    // Of a batch of answers, those that were given already are left out.
    relay.from_client(batch(&[8, 9]).as_bytes(), due);
    relay.to_client().clear();
    let answers = r#"[{"id":8,"result":{}},{"id":9,"result":{}}]"#;
    relay.from_server(answers.as_bytes(), due);
    let told = String::from_utf8(relay.to_client().unsent().to_vec()).unwrap();
    assert_eq!(told.trim_end(), answers);
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
        let (mut asked, mut open) = (BTreeSet::new(), BTreeSet::new());
        for (id, happening) in happenings.iter().enumerate() {
            let id = id as u64;
            match happening {
                // Where a server that is none takes it, it stays open.
                Happening::Request("subscriptions/listen") if stands_in => {
                    open.insert(id);
                }
                Happening::Request(_) => drop(asked.insert(id)),
                _ => {}
            }
            world.happens(id, happening);
            prop_assert!(world.answers.values().all(|answers| *answers == 1), "{:?}", world.answers);
        }
        // In the end, whatever still waits is told why.
        world.relay.close();
        world.die();
        let answered = world.answers.keys().copied();
        let answered: BTreeSet<u64> = answered.filter(|id| !open.contains(id)).collect();
        prop_assert_eq!(answered, asked);
        let sent = world.sent.0.borrow();
        let calls: Vec<&String> = sent.iter().filter(|line| line.contains("tools/call")).collect();
        let different: BTreeSet<&&String> = calls.iter().collect();
        prop_assert_eq!(calls.len(), different.len());
    }
}

#[test]
fn what_a_server_asked_is_taken_back_when_it_is_gone() {
    let mut world = World::new(RelaySettings::default());
    ready(&mut world);
    let asked =
        json!({ "jsonrpc": "2.0", "id": "q\u{e9}", "method": "elicitation/create", "params": {} });
    answered(&mut world, &asked);
    let over = json!({ "jsonrpc": "2.0", "id": 5, "method": "roots/list" });
    answered(&mut world, &over);
    let answer = r#"{"jsonrpc":"2.0","id":5.0,"result":{}}"#;
    world.relay.from_client(answer.as_bytes(), world.now);
    world.relay.gone(World::trouble(), world.now);
    let told = String::from_utf8(world.relay.to_client().unsent().to_vec()).unwrap();
    let told: Vec<Value> = told
        .lines()
        .map(|line| serde_json::from_str(line).unwrap())
        .collect();
    let [told] = told.as_slice() else {
        panic!("{told:?}")
    };
    assert_eq!(told["method"], "notifications/cancelled");
    assert_eq!(told["params"]["requestId"], "q\u{e9}");
}
