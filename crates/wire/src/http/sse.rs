//! Bytes of a stream → server-sent events, however the bytes were cut on their
//! way.
//!
//! Main type: [`SseParser`], after the HTML standard, "Server-sent events".
//! Pure; it must not know what an event means.

use memchr::memchr2;

/// Room above this is given back once a huge event is done with.
const KEEP_BYTES: usize = 1024 * 1024;

/// What the parser cut out.
#[derive(Debug, PartialEq, Eq)]
pub enum SseItem<'a> {
    /// An event with its name, `message` where it has none, and its data, the
    /// lines joined by line feeds.
    Event { name: &'a str, data: &'a [u8] },
    /// How many milliseconds to wait before connecting again.
    Retry(u64),
    /// An event passed the limit, given in bytes; the rest of it is skipped.
    TooLong(usize),
}

/// Splits a stream into events.
///
/// Memory is bounded by the longest event, and that by the limit; a comment
/// costs nothing, however long it is. Every byte is looked at once.
#[derive(Debug)]
pub struct SseParser {
    limit: usize,
    /// The line so far, if it did not come whole.
    line: Vec<u8>,
    /// The line so far is of a kind that is not kept.
    dull: bool,
    /// The last byte was a carriage return: a line feed after it is its other
    /// half.
    after_return: bool,
    /// Bytes of the byte order mark seen at the start; none once past it.
    mark: Option<usize>,
    name: String,
    data: Vec<u8>,
    has_data: bool,
    /// The id of the event at hand, and the one of the last whole event.
    id: Option<String>,
    last_id: Option<String>,
    /// The event at hand was too long and is skipped.
    skipping: bool,
    /// Something of an event was read since the last blank line.
    open: bool,
}

const MARK: [u8; 3] = [0xEF, 0xBB, 0xBF];

impl SseParser {
    /// `limit`: the most bytes of an event that are kept.
    #[must_use]
    pub fn new(limit: usize) -> Self {
        Self {
            limit,
            line: Vec::new(),
            dull: false,
            after_return: false,
            mark: Some(0),
            name: String::new(),
            data: Vec::new(),
            has_data: false,
            id: None,
            last_id: None,
            skipping: false,
            open: false,
        }
    }

    /// The id of the last whole event that had one, for `Last-Event-ID`; empty
    /// ids mean none.
    #[must_use]
    pub fn last_event_id(&self) -> Option<&str> {
        self.last_id.as_deref().filter(|id| !id.is_empty())
    }

    /// Whether the stream, should it end here, ends in the middle of an event.
    #[must_use]
    pub fn is_mid_event(&self) -> bool {
        self.open || !self.line.is_empty() || self.dull
    }

    /// Begins with another stream, whose ids go on from this one's.
    pub fn restart(&mut self) {
        let last_id = self.last_id.take();
        *self = Self {
            last_id,
            ..Self::new(self.limit)
        };
    }

    /// Takes the next bytes of the stream, and hands every item that is whole
    /// by now to `sink`.
    pub fn push(&mut self, bytes: &[u8], sink: &mut dyn FnMut(SseItem<'_>)) {
        let mut rest = self.without_mark(bytes);
        while !rest.is_empty() {
            if std::mem::take(&mut self.after_return) && rest[0] == b'\n' {
                rest = &rest[1..];
                continue;
            }
            let Some(end) = memchr2(b'\r', b'\n', rest) else {
                return self.keep(rest, sink);
            };
            self.after_return = rest[end] == b'\r';
            let (head, tail) = (&rest[..end], &rest[end + 1..]);
            rest = tail;
            if self.line.is_empty() && !self.dull && head.len() <= self.limit {
                self.take_line(head, sink);
            } else {
                self.keep(head, sink);
                let line = std::mem::take(&mut self.line);
                if !std::mem::take(&mut self.dull) {
                    self.take_line(&line, sink);
                }
                if line.capacity() <= KEEP_BYTES {
                    self.line = line;
                    self.line.clear();
                }
            }
        }
    }

    /// Cuts the byte order mark off, should the stream begin with one.
    fn without_mark<'b>(&mut self, bytes: &'b [u8]) -> &'b [u8] {
        let Some(seen) = self.mark else {
            return bytes;
        };
        let wanted = &MARK[seen..];
        let same = wanted.iter().zip(bytes).take_while(|(a, b)| a == b).count();
        if seen + same == MARK.len() {
            self.mark = None;
            return &bytes[same..];
        }
        if same == bytes.len() {
            self.mark = Some(seen + same);
            return &[];
        }
        // It only looked like one: what was held back belongs to the line.
        self.mark = None;
        self.line.extend_from_slice(&MARK[..seen]);
        bytes
    }

    /// A piece of a line whose end is still to come.
    fn keep(&mut self, piece: &[u8], sink: &mut dyn FnMut(SseItem<'_>)) {
        if self.dull || piece.is_empty() {
            return;
        }
        if self.line.is_empty() && piece[0] == b':' {
            self.dull = true;
            return;
        }
        if self.line.len() + piece.len() > self.limit {
            self.dull = true;
            self.line = Vec::new();
            return self.too_long(sink);
        }
        self.line.extend_from_slice(piece);
    }

    fn too_long(&mut self, sink: &mut dyn FnMut(SseItem<'_>)) {
        self.open = true;
        self.data = Vec::new();
        if !std::mem::replace(&mut self.skipping, true) {
            sink(SseItem::TooLong(self.limit));
        }
    }

    fn take_line(&mut self, line: &[u8], sink: &mut dyn FnMut(SseItem<'_>)) {
        if line.is_empty() {
            return self.dispatch(sink);
        }
        let (field, value) = match memchr::memchr(b':', line) {
            // A comment.
            Some(0) => return,
            Some(colon) => {
                let value = &line[colon + 1..];
                (&line[..colon], value.strip_prefix(b" ").unwrap_or(value))
            }
            None => (line, &[][..]),
        };
        match field {
            b"data" => {
                self.open = true;
                if self.skipping {
                    return;
                }
                if self.data.len() + value.len() >= self.limit {
                    return self.too_long(sink);
                }
                if std::mem::replace(&mut self.has_data, true) {
                    self.data.push(b'\n');
                }
                self.data.extend_from_slice(value);
            }
            b"event" => {
                self.open = true;
                self.name = String::from_utf8_lossy(value).into_owned();
            }
            b"id" => {
                self.open = true;
                if !value.contains(&0) {
                    self.id = Some(String::from_utf8_lossy(value).into_owned());
                }
            }
            b"retry" => {
                let digits = !value.is_empty() && value.iter().all(u8::is_ascii_digit);
                let number = std::str::from_utf8(value).ok();
                if digits && let Some(Ok(pause)) = number.map(str::parse) {
                    sink(SseItem::Retry(pause));
                }
            }
            _ => {}
        }
    }

    fn dispatch(&mut self, sink: &mut dyn FnMut(SseItem<'_>)) {
        self.open = false;
        if let Some(id) = self.id.take() {
            self.last_id = Some(id);
        }
        let skipped = std::mem::take(&mut self.skipping);
        let has_data = std::mem::take(&mut self.has_data);
        if has_data && !skipped {
            let name = match self.name.as_str() {
                "" => "message",
                name => name,
            };
            sink(SseItem::Event {
                name,
                data: &self.data,
            });
        }
        self.name.clear();
        self.data.clear();
        if self.data.capacity() > KEEP_BYTES {
            self.data = Vec::new();
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{SseItem, SseParser};
    use proptest::prelude::*;

    #[derive(Debug, Clone, PartialEq, Eq)]
    enum Seen {
        Event(String, String),
        Retry(u64),
        TooLong,
    }

    fn feed(parser: &mut SseParser, bytes: &[u8], seen: &mut Vec<Seen>) {
        parser.push(bytes, &mut |item| {
            seen.push(match item {
                SseItem::Event { name, data } => {
                    Seen::Event(name.to_owned(), String::from_utf8_lossy(data).into_owned())
                }
                SseItem::Retry(pause) => Seen::Retry(pause),
                SseItem::TooLong(_) => Seen::TooLong,
            });
        });
    }

    fn all(bytes: &[u8]) -> Vec<Seen> {
        let mut seen = Vec::new();
        feed(&mut SseParser::new(64), bytes, &mut seen);
        seen
    }

    fn message(data: &str) -> Seen {
        Seen::Event("message".into(), data.into())
    }

    #[test]
    fn an_event_ends_with_a_blank_line_whatever_ends_a_line() {
        for end in ["\n", "\r", "\r\n"] {
            let stream = "event: endpoint\ndata: a\ndata:b\n\ndata: c\n\n".replace('\n', end);
            let first = Seen::Event("endpoint".into(), "a\nb".into());
            assert_eq!(all(stream.as_bytes()), [first, message("c")], "{end:?}");
        }
    }

    #[test]
    fn comments_unknown_fields_and_a_byte_order_mark_mean_nothing() {
        let stream = "\u{FEFF}: hello\n:\nfoo: bar\ndata: x\n: keep-alive\n\n";
        assert_eq!(all(stream.as_bytes()), [message("x")]);
        assert_eq!(all("\u{FEFE}data: x\n\n".as_bytes()), []);
    }

    #[test]
    fn only_one_space_after_the_colon_is_cut_off() {
        assert_eq!(all(b"data:  x\n\n"), [message(" x")]);
    }

    #[test]
    fn data_without_a_colon_is_empty_data_and_no_data_is_no_event() {
        assert_eq!(all(b"data\n\n"), [message("")]);
        assert_eq!(all(b"event: x\nid: 7\n\n\n"), []);
    }

    #[test]
    fn a_half_event_at_the_end_is_none_and_is_known_as_such() {
        for (bytes, half) in [
            (&b"data: x\n\n"[..], false),
            (b"data: x\n", true),
            (b"data: x\n\nda", true),
            (b"data: x\n\n: half a comment", true),
            (b": a comment\n", false),
        ] {
            let mut parser = SseParser::new(64);
            feed(&mut parser, bytes, &mut Vec::new());
            assert_eq!(parser.is_mid_event(), half, "{bytes:?}");
        }
    }

    #[test]
    fn an_id_counts_once_its_event_is_whole_and_not_with_a_nul_in_it() {
        let mut parser = SseParser::new(64);
        let mut seen = Vec::new();
        feed(&mut parser, b"id: 1\ndata:\n\nid: 2\n", &mut seen);
        assert_eq!(parser.last_event_id(), Some("1"));
        feed(&mut parser, b"\nid: a\0b\ndata: x\n\n", &mut seen);
        assert_eq!(parser.last_event_id(), Some("2"));
        feed(&mut parser, b"id\ndata: x\n\n", &mut seen);
        assert_eq!(parser.last_event_id(), None);
    }

    #[test]
    fn retry_is_a_number_or_nothing() {
        let stream = b"retry: 20\nretry: x\nretry: -1\nretry:\nretry: 99999999999999999999999\n";
        assert_eq!(all(stream), [Seen::Retry(20)]);
    }

    #[test]
    fn an_event_beyond_the_limit_is_said_once_and_skipped() {
        let long = "x".repeat(50);
        let several = format!("data: {long}\ndata: {long}\ndata: {long}\n\ndata: y\n\n");
        assert_eq!(all(several.as_bytes()), [Seen::TooLong, message("y")]);
        let one = format!("data: {long}{long}\ndata: z\n\ndata: y\n\n");
        assert_eq!(all(one.as_bytes()), [Seen::TooLong, message("y")]);
        let comment = format!(": {long}{long}\ndata: y\n\n");
        assert_eq!(all(comment.as_bytes()), [message("y")]);
    }

    #[test]
    fn an_endless_line_costs_no_more_than_the_limit() {
        let mut parser = SseParser::new(64);
        let mut seen = Vec::new();
        for _ in 0..10_000 {
            feed(
                &mut parser,
                b"data: xxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxxx",
                &mut seen,
            );
        }
        assert_eq!(seen, [Seen::TooLong]);
        assert!(parser.line.capacity() + parser.data.capacity() < 1024);
    }

    proptest! {
        #[test]
        fn any_split_of_the_bytes_gives_the_same_events(
            lines in prop::collection::vec(
                prop_oneof![
                    Just("data: a".to_owned()), Just("data".to_owned()), Just(String::new()),
                    Just(": c".to_owned()), Just("id: 1".to_owned()), Just("retry: 5".to_owned()),
                    Just("event: e".to_owned()), Just("\u{FEFF}data: b".to_owned()),
                    Just(format!("data: {}", "x".repeat(80))), Just(format!(": {}", "y".repeat(80))),
                    "[dat: ä\u{0}]{0,12}",
                ],
                0..20,
            ),
            ends in prop::collection::vec(prop_oneof![Just("\n"), Just("\r"), Just("\r\n")], 20),
            mark in any::<bool>(),
            cuts in prop::collection::vec(0_usize..400, 0..12),
        ) {
            let mut stream = if mark { "\u{FEFF}".to_owned() } else { String::new() };
            for (line, end) in lines.iter().zip(&ends) {
                stream.push_str(line);
                stream.push_str(end);
            }
            let bytes = stream.as_bytes();
            let (mut whole, mut seen_whole) = (SseParser::new(64), Vec::new());
            feed(&mut whole, bytes, &mut seen_whole);
            let (mut split, mut seen_split) = (SseParser::new(64), Vec::new());
            let mut cuts: Vec<usize> = cuts.iter().map(|cut| cut.min(&bytes.len()).to_owned()).collect();
            cuts.sort_unstable();
            let mut from = 0;
            for cut in cuts.into_iter().chain([bytes.len()]) {
                feed(&mut split, &bytes[from..cut], &mut seen_split);
                from = cut;
            }
            prop_assert_eq!(seen_whole, seen_split);
            prop_assert_eq!(whole.last_event_id(), split.last_event_id());
            prop_assert_eq!(whole.is_mid_event(), split.is_mid_event());
        }
    }
}
