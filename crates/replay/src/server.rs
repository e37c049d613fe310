//! A server that answers as it is recorded.
//!
//! Main type: [`Replay`].

use super::alike::difference;
use super::exchange::{
    Exchange, Exchanges, Reaction, exchanges, key, main_session, progress_token,
};
use jelly_base::mcp::meta::SUBSCRIPTION_ID_POINTER;
use jelly_base::mcp::{DISCOVER, INITIALIZE, LISTEN, code};
use jelly_base::text::one_line;
use jelly_wire::RecordedSession;
use serde_json::{Map, Value, json};
use std::collections::{HashMap, HashSet};

/// The code of an error that says that something was not recorded: outside of
/// what JSON-RPC keeps for itself, so that no server's own error is taken for
/// it.
const NOT_RECORDED: i64 = -31_001;

/// Which requests are answered.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Order {
    /// Those that were recorded in one session, each once, in their order.
    Strict,
    /// Any that were recorded, as often as they come.
    Lenient,
}

/// Plays the server of a recording.
#[derive(Debug)]
pub struct Replay {
    /// As messages name the recording.
    file: String,
    order: Order,
    /// The one that is played first.
    sessions: Vec<Exchanges>,
    /// How often each exchange was played, by session and place in it.
    played: HashMap<(usize, usize), usize>,
    /// In strict order, the exchange that is due.
    next: usize,
    /// What waits for an answer of the client.
    waiting: Vec<Waiting>,
    /// The client's ids of requests, by the recorded ones.
    ids: HashMap<String, Value>,
    /// The same of tokens for progress.
    tokens: HashMap<String, Value>,
    /// Ids of requests that went to the client.
    asked: HashSet<String>,
}

/// An exchange that is being played.
#[derive(Debug, Clone)]
struct Playing {
    exchange: Exchange,
    /// Which of its reactions is next.
    at: usize,
    /// The client's id of its request; none for a notification.
    id: Option<Value>,
    /// The ids under which the server's requests went out, by recorded ones.
    sent: HashMap<String, Value>,
}

#[derive(Debug)]
struct Waiting {
    /// The id that the client answers to.
    id: String,
    /// What it answered in the recording, and where.
    line: usize,
    answer: Value,
    playing: Playing,
}

impl Replay {
    /// Of the sessions with one server.
    #[must_use]
    pub fn new(file: String, sessions: &[RecordedSession], order: Order) -> Self {
        let first = main_session(sessions);
        let mut sessions: Vec<Exchanges> = sessions.iter().map(exchanges).collect();
        let mut ordered: Vec<Exchanges> = Vec::new();
        if first < sessions.len() {
            ordered.push(sessions.remove(first));
        }
        ordered.extend(sessions.into_iter().rev());
        if order == Order::Strict {
            ordered.truncate(1);
        }
        Self {
            file,
            order,
            sessions: ordered,
            played: HashMap::new(),
            next: 0,
            waiting: Vec::new(),
            ids: HashMap::new(),
            tokens: HashMap::new(),
            asked: HashSet::new(),
        }
    }

    /// What the server says before it is asked.
    pub fn start(&mut self) -> Vec<String> {
        let Some(session) = self.sessions.first() else {
            return Vec::new();
        };
        let exchange = Exchange {
            line: 0,
            message: Value::Null,
            reactions: session.unasked.clone(),
            cancelled: false,
        };
        self.play(Playing::new(exchange, None))
    }

    /// What it says to a line of its client, as lines.
    pub fn line(&mut self, line: &str) -> Vec<String> {
        if line.trim().is_empty() {
            return Vec::new();
        }
        match serde_json::from_str(line) {
            Ok(Value::Array(batch)) => batch.iter().flat_map(|one| self.message(one)).collect(),
            Ok(message) => self.message(&message),
            Err(error) => {
                let what = format!("the line is not JSON: {error}");
                vec![refusal(&Value::Null, code::PARSE_ERROR, &what, Value::Null)]
            }
        }
    }

    fn message(&mut self, message: &Value) -> Vec<String> {
        let id = message.get("id").filter(|id| !id.is_null());
        let method = message.get("method").and_then(Value::as_str);
        match (method, id) {
            (Some(method), Some(id)) => self.request(message, method, id),
            (Some(method), None) => self.notification(message, method),
            (None, Some(id)) => self.answered(message, id),
            (None, None) => {
                let what = "the message is neither a request nor an answer";
                vec![refusal(
                    &Value::Null,
                    code::INVALID_REQUEST,
                    what,
                    Value::Null,
                )]
            }
        }
    }

    fn request(&mut self, message: &Value, method: &str, id: &Value) -> Vec<String> {
        let found = match self.order {
            Order::Strict => self.due(message, method),
            Order::Lenient => self.recorded(message, method),
        };
        let (mut said, at) = match found {
            Ok(found) => found,
            Err(Missing { what, line }) => {
                // Clients ask these of any server, recorded or not.
                return match method {
                    "ping" => vec![json!({"jsonrpc": "2.0", "id": id, "result": {}}).to_string()],
                    DISCOVER => vec![refusal(id, code::METHOD_NOT_FOUND, &what, Value::Null)],
                    _ => {
                        let data = json!({"file": self.file, "line": line});
                        vec![refusal(id, NOT_RECORDED, &what, data)]
                    }
                };
            }
        };
        if let Some(playing) = self.take(at, message, Some(id.clone())) {
            said.extend(self.play(playing));
        }
        said
    }

    /// In strict order: the exchange that is due, if it is this one, and what
    /// is said on the way to it.
    fn due(&mut self, message: &Value, method: &str) -> Result<Found, Missing> {
        let list = self.sessions.first().map(|session| session.list.as_slice());
        let list = list.unwrap_or_default();
        let at = (self.next..list.len()).find(|at| list[*at].is_request());
        let Some(at) = at else {
            let line = list.last().map_or(0, |last| last.line);
            return Err(Missing {
                what: format!(
                    "{method} was not recorded here: after line {line} of {} no request follows",
                    self.file
                ),
                line,
            });
        };
        let wanted = &list[at];
        let why = match wanted.method() == method {
            false => Some(format!("{} follows", wanted.method())),
            true => differs(wanted, message),
        };
        if let Some(why) = why {
            return Err(Missing {
                what: format!(
                    "{} is not what line {} of {} has: {why}",
                    asked_for(message, method),
                    wanted.line,
                    self.file
                ),
                line: wanted.line,
            });
        }
        let mut said = Vec::new();
        for skipped in self.next..at {
            if let Some(playing) = self.take((0, skipped), &Value::Null, None) {
                said.extend(self.play(playing));
            }
        }
        self.next = at + 1;
        Ok((said, (0, at)))
    }

    /// In any order: one with the same arguments that was not played yet, else
    /// the last one again.
    fn recorded(&self, message: &Value, method: &str) -> Result<Found, Missing> {
        let mut closest: Option<Missing> = None;
        for (session, exchanges) in self.sessions.iter().enumerate() {
            let mut again = None;
            for (at, exchange) in exchanges.list.iter().enumerate() {
                if !exchange.is_request() || exchange.method() != method {
                    continue;
                }
                match differs(exchange, message) {
                    None if !self.played.contains_key(&(session, at)) => {
                        return Ok((Vec::new(), (session, at)));
                    }
                    None => again = Some(at),
                    Some(why) => {
                        let named = |message: &Value| message.pointer("/params/name").cloned();
                        let close = named(&exchange.message) == named(message);
                        if close || closest.is_none() {
                            closest = Some(Missing {
                                what: format!(
                                    "{} was recorded with other arguments, last in line {} of \
                                     {}: {why}",
                                    asked_for(message, method),
                                    exchange.line,
                                    self.file
                                ),
                                line: exchange.line,
                            });
                        }
                    }
                }
            }
            if let Some(at) = again {
                return Ok((Vec::new(), (session, at)));
            }
        }
        Err(closest.unwrap_or_else(|| Missing {
            what: format!("{method} was not recorded in {}", self.file),
            line: 0,
        }))
    }

    fn notification(&mut self, message: &Value, method: &str) -> Vec<String> {
        if method == "notifications/cancelled"
            && let Some(id) = message.pointer("/params/requestId")
        {
            self.waiting
                .retain(|one| one.playing.id.as_ref() != Some(id));
        }
        let first = match self.order {
            Order::Strict => self.next,
            Order::Lenient => 0,
        };
        let list = self.sessions.first().map(|session| session.list.as_slice());
        let mut places = list.unwrap_or_default().iter().enumerate().skip(first);
        let found = match self.order {
            Order::Strict => places
                .take_while(|(_, exchange)| !exchange.is_request())
                .find(|(_, exchange)| exchange.method() == method),
            Order::Lenient => places.find(|(at, exchange)| {
                let same = !exchange.is_request() && exchange.method() == method;
                same && !self.played.contains_key(&(0, *at))
            }),
        };
        // One that was not recorded needs no answer.
        let Some(at) = found.map(|(at, _)| at) else {
            return Vec::new();
        };
        if self.order == Order::Strict {
            self.next = at + 1;
        }
        match self.take((0, at), message, None) {
            Some(playing) => self.play(playing),
            None => Vec::new(),
        }
    }

    /// Begins to play an exchange for a message of the client.
    fn take(&mut self, at: (usize, usize), message: &Value, id: Option<Value>) -> Option<Playing> {
        let exchange = self.sessions.get(at.0)?.list.get(at.1)?.clone();
        *self.played.entry(at).or_default() += 1;
        if let (Some(recorded), Some(id)) = (exchange.message.get("id"), &id) {
            self.ids.insert(key(recorded), id.clone());
        }
        if let (Some(recorded), Some(token)) =
            (progress_token(&exchange.message), progress_token(message))
        {
            self.tokens.insert(key(recorded), token.clone());
        }
        Some(Playing::new(exchange, id))
    }

    /// Goes on until the client has to say something, or to the end.
    fn play(&mut self, mut playing: Playing) -> Vec<String> {
        let mut said = Vec::new();
        while let Some(reaction) = playing.exchange.reactions.get(playing.at).cloned() {
            playing.at += 1;
            match reaction {
                Reaction::Answer { mut message, .. } => {
                    if let (Some(id), Some(members)) = (&playing.id, message.as_object_mut()) {
                        members.insert("id".to_owned(), id.clone());
                        self.map_subscription(&mut message);
                        said.push(message.to_string());
                    }
                }
                Reaction::Says { message, .. } => said.extend(self.says(message, &mut playing)),
                Reaction::Noise(text) => said.push(text),
                Reaction::Hears { line, message } => {
                    let recorded = message.get("id").map(key).unwrap_or_default();
                    if let Some(id) = playing.sent.get(&recorded) {
                        self.waiting.push(Waiting {
                            id: key(id),
                            line,
                            answer: message,
                            playing,
                        });
                        return said;
                    }
                }
            }
        }
        let exchange = &playing.exchange;
        let silent = exchange.answer().is_none()
            && !exchange.cancelled
            && exchange.method() != LISTEN
            && exchange.is_request();
        if let Some(id) = playing.id.as_ref().filter(|_| silent) {
            let what = format!(
                "the server gave no answer to {} in line {} of {}",
                exchange.method(),
                exchange.line,
                self.file
            );
            let data = json!({"file": self.file, "line": exchange.line});
            said.push(refusal(id, NOT_RECORDED, &what, data));
        }
        said
    }

    /// A notification or a request of the server as this client is to see it;
    /// none that is about what it did not ask for.
    fn says(&mut self, mut message: Value, playing: &mut Playing) -> Option<String> {
        if let Some(token) = message.pointer_mut("/params/progressToken") {
            *token = self.tokens.get(&key(token))?.clone();
        }
        if !self.map_subscription(&mut message) {
            return None;
        }
        if let Some(id) = message.get("id").cloned() {
            let mut sent = id.clone();
            let mut count = self.asked.len();
            while !self.asked.insert(key(&sent)) {
                sent = Value::from(format!("replay-{count}"));
                count += 1;
            }
            playing.sent.insert(key(&id), sent.clone());
            message.as_object_mut()?.insert("id".to_owned(), sent);
        }
        Some(message.to_string())
    }

    /// Whether a message is of no subscription, or of one that there is.
    fn map_subscription(&self, message: &mut Value) -> bool {
        for part in ["params", "result"] {
            let of = message.get_mut(part);
            let Some(id) = of.and_then(|part| part.pointer_mut(SUBSCRIPTION_ID_POINTER)) else {
                continue;
            };
            match self.ids.get(&key(id)) {
                Some(known) => *id = known.clone(),
                None => return false,
            }
        }
        true
    }

    /// The client has answered the server.
    fn answered(&mut self, message: &Value, id: &Value) -> Vec<String> {
        let id = key(id);
        let Some(at) = self.waiting.iter().position(|waiting| waiting.id == id) else {
            return Vec::new();
        };
        let Waiting {
            line,
            answer,
            playing,
            ..
        } = self.waiting.remove(at);
        let part = |message: &Value| match message.get("result") {
            Some(result) => json!({ "result": result }),
            // Another client refuses in other words.
            None => json!({"error": message.pointer("/error/code")}),
        };
        let why = match self.order {
            Order::Strict => difference(&part(&answer), &part(message)),
            Order::Lenient => None,
        };
        match (why, &playing.id) {
            (Some(why), Some(id)) => {
                let what = format!(
                    "the client's answer is not what line {line} of {} has: {why}",
                    self.file
                );
                let data = json!({"file": self.file, "line": line});
                vec![refusal(id, NOT_RECORDED, &what, data)]
            }
            (_, _) => self.play(playing),
        }
    }
}

/// What is said first, and the exchange by session and place.
type Found = (Vec<String>, (usize, usize));

/// Why there is none.
struct Missing {
    what: String,
    line: usize,
}

impl Playing {
    fn new(exchange: Exchange, id: Option<Value>) -> Self {
        Self {
            exchange,
            at: 0,
            id,
            sent: HashMap::new(),
        }
    }
}

/// Where the arguments of a request differ from the recorded ones. What a
/// client says of itself is not looked at.
fn differs(recorded: &Exchange, message: &Value) -> Option<String> {
    if recorded.method() == INITIALIZE {
        return None;
    }
    difference(&params(&recorded.message), &params(message))
}

fn params(message: &Value) -> Value {
    let mut params = match message.get("params") {
        Some(Value::Object(params)) => params.clone(),
        Some(Value::Null) | None => Map::new(),
        Some(other) => return other.clone(),
    };
    params.shift_remove("_meta");
    // No arguments are said in two ways.
    if params
        .get("arguments")
        .is_some_and(|arguments| *arguments == json!({}))
    {
        params.shift_remove("arguments");
    }
    Value::Object(params)
}

/// A request in a few words.
fn asked_for(message: &Value, method: &str) -> String {
    let of = |name: &str| message.get("params")?.get(name)?.as_str();
    match of("name").or_else(|| of("uri")) {
        Some(name) => format!("{method} `{}`", one_line(name, 100)),
        None => method.to_owned(),
    }
}

fn refusal(id: &Value, code: i64, what: &str, data: Value) -> String {
    let mut error = json!({"code": code, "message": format!("jelly replay: {what}")});
    if let (false, Some(members)) = (data.is_null(), error.as_object_mut()) {
        members.insert("data".to_owned(), data);
    }
    json!({"jsonrpc": "2.0", "id": id, "error": error}).to_string()
}

#[cfg(test)]
#[path = "server_tests.rs"]
mod tests;
