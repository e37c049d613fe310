//! A peer whose messages are held against the specification.

use super::Peer;
use crate::check::Checker;
use crate::message::{Line, Message, MessageBody, read_line, whole};

impl Peer {
    /// Has every message held against the specification, from the first on.
    pub fn check_messages(&mut self) {
        self.checker = Some(Box::new(Checker::new(self.redactor.clone())));
    }

    /// Who sees every message, if that was asked for.
    #[must_use]
    pub fn checker(&self) -> Option<&Checker> {
        self.checker.as_deref()
    }

    /// Has an error in a body that refuses a request held against the
    /// specification, where it answers that request; what it means is said by
    /// the status.
    pub fn received_in_refusal(&mut self, id: u64, bytes: &[u8]) {
        self.record_received(bytes);
        let answers = |message: &Message| match &message.body {
            MessageBody::Response { id: named, .. } => whole(named) == Some(id),
            MessageBody::Request { .. } | MessageBody::Notification { .. } => false,
        };
        if let Line::Messages(messages) = read_line(bytes)
            && messages.iter().any(answers)
        {
            self.check(|checker| checker.received(bytes));
        }
    }

    /// The request is over without a message that ends it, so that what still
    /// comes of it is no breach.
    pub(super) fn check_no_more(&mut self, index: usize) {
        let id = self.pending[index].id;
        self.check(|checker| checker.gave_up(id));
    }

    /// Tells the checker, where there is one.
    pub(super) fn check(&mut self, tell: impl FnOnce(&mut Checker)) {
        if let Some(checker) = &mut self.checker {
            tell(checker);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::Peer;
    use crate::message::Understood;
    use crate::{Answers, Frame, Outgoing, ReplyOutcome};
    use jelly_base::mcp::Revision;
    use jelly_base::model::OwnLimit;
    use jelly_base::text::redact::Redactor;
    use serde_json::{Value, json};

    /// A checked peer that speaks an old revision and waits for the answer to
    /// request 1.
    fn waiting() -> Peer {
        let mut peer = Peer::new("s", Redactor::none(), None, Answers::default());
        peer.check_messages();
        peer.settle(Revision::find("2025-11-25").unwrap());
        let request = Outgoing {
            method: "tools/call",
            params: json!({}),
            version: None,
            progress: false,
            probe: false,
        };
        drop(peer.open(request));
        peer
    }

    fn rules(peer: &Peer) -> Vec<&str> {
        let found = peer.checker().unwrap().found();
        found.breaches.iter().map(|b| b.rule.as_str()).collect()
    }

    fn answer(id: &Value) -> Vec<u8> {
        json!({"jsonrpc": "2.0", "id": id, "error": {"code": -32768, "message": "no"}})
            .to_string()
            .into_bytes()
    }

    #[test]
    fn an_error_in_a_refusal_is_checked_where_it_names_the_request() {
        let mut peer = waiting();
        peer.received_in_refusal(1, b"Forbidden");
        peer.received_in_refusal(1, &answer(&Value::Null));
        assert_eq!(peer.checker().unwrap().found().messages, 0);
        peer.received_in_refusal(1, &answer(&json!(1)));
        assert_eq!(peer.checker().unwrap().found().messages, 1);
        assert_eq!(rules(&peer), ["jsonrpc_error_code"]);
        assert!(peer.is_pending(1), "the status says how it ended");
    }

    #[test]
    fn an_event_that_is_no_json_is_a_breach() {
        let mut peer = waiting();
        let cut = br#"{"jsonrpc": "2.0", "id": 1, "result": {"#;
        assert_eq!(peer.receive_whole(cut), Understood::Nothing);
        assert_eq!(rules(&peer), ["invalid_message"]);
    }

    #[test]
    fn an_event_that_is_no_message_at_all_is_a_breach() {
        let mut peer = waiting();
        assert_eq!(peer.receive_whole(b"working on it"), Understood::Nothing);
        assert_eq!(rules(&peer), ["invalid_message"]);
    }

    #[test]
    fn what_the_parser_can_not_read_is_a_breach_of_nothing() {
        let deep = format!("{}{}", "[".repeat(200), "]".repeat(200));
        let large = format!("[{}0]", "{},".repeat(4 << 20));
        for (value, limit) in [
            (deep.as_str(), OwnLimit::MessageDepth),
            (large.as_str(), OwnLimit::MessageValues),
        ] {
            let text = format!(r#"{{"jsonrpc":"2.0","id":1,"result":{{"a":{value}}}}}"#);
            let mut peer = waiting();
            peer.receive(Frame::Line(text.as_bytes()));
            assert_eq!(rules(&peer), [] as [&str; 0], "{limit:?}");
            assert_eq!(peer.observed().breach_count, 0);
            assert_eq!(peer.observed().unread[0].limit, limit);
            assert!(!peer.is_pending(1), "{limit:?}");
            let mut peer = waiting();
            let whole = peer.receive_whole(text.as_bytes());
            assert_eq!(whole, Understood::Beyond(limit));
            assert_eq!(rules(&peer), [] as [&str; 0], "{limit:?}");
            assert_eq!(peer.checker().unwrap().found().unchecked, 1);
        }
    }

    #[test]
    fn what_is_too_long_to_be_read_is_said_to_be_unchecked() {
        let mut peer = waiting();
        peer.receive(Frame::TooLong(10));
        assert_eq!(peer.checker().unwrap().found().unchecked, 1);
        assert!(!peer.is_pending(1));
    }

    #[test]
    fn what_comes_after_a_request_was_ended_from_outside_is_no_breach() {
        let mut peer = waiting();
        peer.settle_request(1, ReplyOutcome::Broken("broke off".to_owned()));
        peer.receive(Frame::Line(
            br#"{"jsonrpc":"2.0","id":1,"result":{"content":[]}}"#,
        ));
        assert_eq!(rules(&peer), [] as [&str; 0]);
    }
}
