//! Which stream a message of the server goes by.
//!
//! Main type: [`Router`]. An answer goes where it was asked for. All else goes
//! with the request that it names, or with the only one that is under way, or by
//! the stream that a legacy client keeps open for such; what finds none waits,
//! within bounds.

use super::arrival::{ModernRequest, PostedRequest};
use super::outflow::{Outflow, Waterline};
use super::sharing::{Belongs, homeward, outward};
use crate::message::{Kind, Line, NoticeParams, Peek, peek};
use crate::relay::key;
use crate::settings::FULL;
use indexmap::IndexMap;
use jelly_base::mcp::{ListKind, Method};
use jelly_wire::{MAX_LINE_BYTES, ParamHeaders};
use serde::Deserialize;
use serde_json::{Value, json};
use std::cell::RefCell;
use std::collections::VecDeque;
use std::rc::{Rc, Weak};
use std::time::Duration;
use tokio::sync::Notify;
use tokio::sync::mpsc::Sender;
use tokio::sync::mpsc::error::TrySendError;
use tokio::time::Instant;

/// Bytes of messages that wait for a stream; the oldest are left out.
const KEPT: usize = 1024 * 1024;
/// A connection that takes nothing for so long is ended.
const STALLED: Duration = Duration::from_secs(60);

/// See the module.
pub struct Router {
    /// Several clients ask here, each under numbers of ours.
    is_shared: bool,
    state: RefCell<RouterState>,
    waterline: Rc<Waterline>,
    /// What clients say, on its way to the server.
    inbox: Sender<Vec<u8>>,
}

#[derive(Default)]
struct RouterState {
    /// By id, as the server knows it.
    waiting: IndexMap<String, WaitingPost>,
    /// Stays open for what belongs to no request.
    listener: Option<Rc<Outflow>>,
    kept: VecDeque<Vec<u8>>,
    kept_bytes: usize,
    streams: Vec<Weak<Outflow>>,
    last_number: u64,
    /// Arguments that travel as headers, as a shared server lists its tools.
    params: ParamHeaders,
}

#[derive(Default, Deserialize)]
struct CallArguments {
    #[serde(default)]
    arguments: Value,
}

struct WaitingPost {
    request: PostedRequest,
    outflow: Rc<Outflow>,
    /// Headers that came with it, and are passed on.
    carried: Vec<(String, String)>,
}

impl Router {
    pub fn new(is_shared: bool, inbox: Sender<Vec<u8>>) -> Rc<Self> {
        Rc::new(Self {
            is_shared,
            state: RefCell::default(),
            waterline: Rc::default(),
            inbox,
        })
    }

    /// A stream for the answers to these requests.
    pub fn open(&self, requests: Vec<PostedRequest>, cut: Rc<Notify>) -> Rc<Outflow> {
        // Of several with one id, one answer is waited for.
        let requests = requests.into_iter();
        let by_id: IndexMap<String, PostedRequest> = requests
            .map(|request| (key(&request.id), request))
            .collect();
        let outflow = self.stream(by_id.len(), cut);
        let mut state = self.state.borrow_mut();
        for (id, request) in by_id {
            let post = WaitingPost {
                outflow: Rc::clone(&outflow),
                request,
                carried: Vec::new(),
            };
            if let Some(earlier) = state.waiting.insert(id, post) {
                earlier.outflow.settle();
            }
        }
        state.hand_out_kept(&outflow);
        outflow
    }

    /// The same for a request to a shared server, and the line that it gets.
    pub fn open_shared(
        &self,
        (request, carried): (PostedRequest, Vec<(String, String)>),
        line: &[u8],
        cut: Rc<Notify>,
    ) -> Option<(Vec<u8>, Rc<Outflow>)> {
        let number = {
            let mut state = self.state.borrow_mut();
            state.last_number += 1;
            state.last_number
        };
        let line = outward(line, number)?;
        let outflow = self.stream(1, cut);
        let post = WaitingPost {
            outflow: Rc::clone(&outflow),
            request,
            carried,
        };
        let mut state = self.state.borrow_mut();
        state.waiting.insert(number.to_string(), post);
        Some((line, outflow))
    }

    /// Whether the headers of a call say what its arguments say, as far as the
    /// server has listed the tool to anybody; others are not known to be headers
    /// of it.
    ///
    /// # Errors
    /// What does not fit.
    pub fn check_params(
        &self,
        request: &ModernRequest,
        line: &[u8],
        header: impl Fn(&str) -> Option<String>,
    ) -> Result<(), String> {
        let state = self.state.borrow();
        let subject = Method::find(&request.method).and_then(|method| method.subject);
        let tool = request
            .name
            .as_deref()
            .filter(|_| subject == Some(ListKind::Tools));
        let tool = tool.filter(|tool| state.params.has(tool));
        let (Some(tool), Line::One(message)) = (tool, peek(line)) else {
            return Ok(());
        };
        let call: CallArguments = message.read_params();
        state.params.check(tool, &call.arguments, header)
    }

    /// Headers that came with a request to a shared server, which knows it by a
    /// number of ours.
    pub fn carried(&self, line: &[u8]) -> Vec<(String, String)> {
        let (true, Line::One(message)) = (self.is_shared, peek(line)) else {
            return Vec::new();
        };
        let state = self.state.borrow();
        let post = message.id().and_then(|id| state.waiting.get(id));
        post.map(|post| post.carried.clone()).unwrap_or_default()
    }

    /// A stream for what belongs to no request, in place of an earlier one.
    pub fn listen(&self, cut: Rc<Notify>) -> Rc<Outflow> {
        let outflow = self.stream(0, cut);
        let mut state = self.state.borrow_mut();
        if let Some(earlier) = state.listener.replace(Rc::clone(&outflow)) {
            earlier.end();
        }
        state.hand_out_kept(&outflow);
        outflow
    }

    fn stream(&self, owed: usize, cut: Rc<Notify>) -> Rc<Outflow> {
        let outflow = Outflow::new(owed, Rc::clone(&self.waterline), cut);
        self.state
            .borrow_mut()
            .streams
            .push(Rc::downgrade(&outflow));
        outflow
    }

    /// A connection has gone, or has taken all that there was. What a shared
    /// server still does for it is cancelled: so a modern client says it.
    pub fn left(&self, outflow: &Rc<Outflow>) {
        outflow.leave();
        let mut state = self.state.borrow_mut();
        let listener = state.listener.take();
        state.listener = listener.filter(|listener| !Rc::ptr_eq(listener, outflow));
        let mut given_up = Vec::new();
        state.waiting.retain(|id, post| {
            let stays = !Rc::ptr_eq(&post.outflow, outflow);
            if !stays {
                given_up.push(id.clone());
            }
            stays
        });
        drop(state);
        if !self.is_shared {
            return;
        }
        for number in given_up.iter().filter_map(|id| id.parse::<u64>().ok()) {
            let params = json!({ "requestId": number, "reason": "the client closed its stream" });
            self.send_on(
                json!({
                    "jsonrpc": "2.0", "method": "notifications/cancelled", "params": params,
                })
                .to_string()
                .into_bytes(),
            );
        }
    }

    /// Says something to the server without waiting.
    fn send_on(&self, line: Vec<u8>) {
        if let Err(TrySendError::Full(line)) = self.inbox.try_send(line) {
            let inbox = self.inbox.clone();
            tokio::task::spawn_local(async move {
                // A server that has gone has nothing to cancel.
                let _ = inbox.send(line).await;
            });
        }
    }

    /// Takes a message of the server, in one line.
    pub fn take(&self, line: &[u8]) {
        match self.is_shared {
            true => self.take_shared(line),
            false => self.take_own(line),
        }
    }

    /// No more can be taken, since the client does not. One client of several
    /// holds up nobody.
    pub fn is_full(&self) -> bool {
        !self.is_shared && self.waterline.is_above(FULL)
    }

    pub async fn has_room(&self) {
        self.waterline.sinks().await;
    }

    /// Somebody waits for an answer, or listens.
    pub fn is_in_use(&self) -> bool {
        let mut state = self.state.borrow_mut();
        state.streams.retain(|stream| stream.strong_count() > 0);
        !state.streams.is_empty()
    }

    /// Ends connections that take nothing.
    pub fn cut_stalled(&self, now: Instant) {
        let streams = self.state.borrow().streams.clone();
        for stream in streams.iter().filter_map(Weak::upgrade) {
            if stream.stalled_for(now) >= STALLED {
                stream.cut_off();
            }
        }
    }

    /// Ends all streams.
    pub fn end_all(&self) {
        let streams = self.state.borrow().streams.clone();
        for stream in streams.iter().filter_map(Weak::upgrade) {
            stream.end();
        }
    }

    fn take_own(&self, line: &[u8]) {
        let messages = match peek(line) {
            Line::One(message) => vec![message],
            Line::Many(messages) => messages,
            Line::Other | Line::Noise => Vec::new(),
        };
        let mut state = self.state.borrow_mut();
        let answers = messages.iter().filter(|m| m.kind() == Kind::Response);
        let ids: Vec<String> = answers.filter_map(Peek::id).map(key).collect();
        if !ids.is_empty() {
            let posts = ids.iter().filter_map(|id| state.waiting.swap_remove(id));
            // A batch goes where the first of its answers is waited for.
            let mut is_sent = false;
            for post in posts.collect::<Vec<_>>() {
                match std::mem::replace(&mut is_sent, true) {
                    false => post.outflow.answer(line),
                    true => post.outflow.settle(),
                }
            }
            return;
        }
        let token = messages.first().and_then(|message| {
            let params: NoticeParams<'_> = message.read_params();
            params.progress_token.map(|token| token.get().to_owned())
        });
        match state.stream_for(token.as_deref()) {
            Some(outflow) => outflow.push(line),
            None => state.keep(line),
        }
    }

    fn take_shared(&self, line: &[u8]) {
        let belongs = Belongs::of(line);
        let mut state = self.state.borrow_mut();
        match belongs {
            Belongs::Answers(number) => {
                if let Some(post) = state.waiting.swap_remove(&number.to_string())
                    && let Some(answer) = homeward(line, &post.request)
                {
                    if let (true, Line::One(message)) = (post.request.lists_tools, peek(line)) {
                        state.params.learn(message.result().unwrap_or_default());
                    }
                    post.outflow.answer(&answer);
                }
            }
            Belongs::Ends(number) => {
                if let Some(post) = state.waiting.swap_remove(&number.to_string()) {
                    if let Some(line) = homeward(line, &post.request) {
                        post.outflow.push(&line);
                    }
                    post.outflow.end();
                }
            }
            Belongs::Accompanies(number) => {
                if let Some(post) = state.waiting.get(&number.to_string()) {
                    post.accompany(line);
                }
            }
            Belongs::Log => {
                let mut wants = state.waiting.values().filter(|post| post.request.logs);
                // Where it may be either's, it is nobody's.
                if let (Some(post), None) = (wants.next(), wants.next()) {
                    post.accompany(line);
                }
            }
            Belongs::Nobody => {}
        }
    }
}

impl WaitingPost {
    /// Passes on what was said for a request of several clients. One that takes
    /// nothing must not fill our memory, nor hold the others up.
    fn accompany(&self, line: &[u8]) {
        if self.outflow.bytes() > MAX_LINE_BYTES {
            self.outflow.cut_off();
        } else if let Some(line) = homeward(line, &self.request) {
            self.outflow.push(&line);
        }
    }
}

impl RouterState {
    /// The stream for what is no answer.
    fn stream_for(&self, token: Option<&str>) -> Option<Rc<Outflow>> {
        let of_token = |post: &&WaitingPost| {
            token.is_some_and(|token| post.request.token.as_deref() == Some(token))
        };
        let named = self.waiting.values().find(of_token);
        let only = self
            .waiting
            .values()
            .next()
            .filter(|_| self.waiting.len() == 1);
        let outflow = named.or(only).map(|post| &post.outflow);
        let any = || self.waiting.values().next_back().map(|post| &post.outflow);
        let outflow = outflow.or(self.listener.as_ref()).or_else(any);
        outflow.filter(|outflow| !outflow.is_gone()).cloned()
    }

    fn keep(&mut self, line: &[u8]) {
        self.kept_bytes += line.len();
        self.kept.push_back(line.to_vec());
        while self.kept_bytes > KEPT
            && let Some(oldest) = self.kept.pop_front()
        {
            self.kept_bytes -= oldest.len();
        }
    }

    fn hand_out_kept(&mut self, outflow: &Outflow) {
        self.kept_bytes = 0;
        for line in self.kept.drain(..) {
            outflow.push(&line);
        }
    }
}
