//! What bytes that are sent as they are may be answered with.
//!
//! Main type: [`RawAsks`]. Pure. A server may read them line by line or value
//! by value, so that both readings count.

use serde_json::Value;

/// So many ids of one step's bytes are known.
const IDS: usize = 1000;

/// What may come of raw bytes.
#[derive(Debug, Clone, Default, PartialEq)]
pub(super) struct RawAsks {
    /// Of the requests in them, each as often as it stands there.
    pub ids: Vec<Value>,
    /// So many errors that name no request may come: one for each line, or
    /// element of a batch, that is no message with an id of its own.
    pub nameless: usize,
    /// There is nothing in them that is answered where all is well.
    pub silent: bool,
}

impl RawAsks {
    pub(super) fn of(bytes: &[u8]) -> Self {
        let mut asks = Self::default();
        let whole = serde_json::from_slice::<Value>(bytes).ok();
        let lines: Vec<&[u8]> = bytes
            .split(|byte| *byte == b'\n')
            .filter(|line| !line.trim_ascii().is_empty())
            .collect();
        let mut pieces = 0_usize;
        let mut silent = 0_usize;
        for line in &lines {
            let Ok(value) = serde_json::from_slice::<Value>(line) else {
                pieces += 1;
                asks.nameless += 1;
                continue;
            };
            for piece in elements(&value) {
                pieces += 1;
                silent += usize::from(asks.take(piece));
            }
            if value.as_array().is_some_and(Vec::is_empty) {
                pieces += 1;
                asks.nameless += 1;
            }
        }
        asks.silent = pieces > 0 && silent == pieces;
        if let (Some(whole), true) = (&whole, lines.len() > 1) {
            let all = elements(whole);
            let answered = all.iter().map(|piece| asks.take(piece)).filter(|s| !s);
            asks.silent = answered.count() == 0;
        }
        asks
    }

    /// Whether the piece is one that nobody answers: a notification, or a
    /// response.
    fn take(&mut self, piece: &Value) -> bool {
        let names_method = piece.get("method").is_some_and(Value::is_string);
        let responds = piece.get("result").is_some() || piece.get("error").is_some();
        match piece.get("id") {
            None if names_method => true,
            Some(_) if responds && !names_method => {
                // Of a response to nothing a server may complain.
                self.nameless += 1;
                true
            }
            Some(id) => {
                if self.ids.len() < IDS {
                    self.ids.push(id.clone());
                }
                let proper = id.is_string() || id.is_number();
                self.nameless += usize::from(!proper || !names_method);
                false
            }
            None => {
                self.nameless += 1;
                false
            }
        }
    }
}

/// Whether bytes hold messages alone, so that an error in answer to them is
/// about what they ask for.
#[must_use]
pub fn is_sound(bytes: &[u8]) -> bool {
    let asks = RawAsks::of(bytes);
    asks.nameless == 0 && (asks.silent || !asks.ids.is_empty())
}

fn elements(value: &Value) -> &[Value] {
    match value {
        Value::Array(items) => items,
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) | Value::Object(_) => {
            std::slice::from_ref(value)
        }
    }
}

#[cfg(test)]
mod tests {
    use super::RawAsks;
    use serde_json::json;

    fn of(text: &str) -> RawAsks {
        RawAsks::of(text.as_bytes())
    }

    #[test]
    fn each_line_and_each_element_of_a_batch_asks() {
        let lines = of("{\"id\":1,\"method\":\"ping\"}\n{\"id\":\"b\",\"method\":\"ping\"}\n");
        assert_eq!(lines.ids, [json!(1), json!("b")]);
        assert_eq!((lines.nameless, lines.silent), (0, false));
        let batch = of(r#"[{"id":1,"method":"ping"},{"method":"notifications/a"},7]"#);
        assert_eq!(batch.ids, [json!(1)]);
        assert_eq!((batch.nameless, batch.silent), (1, false));
    }

    #[test]
    fn a_message_over_several_lines_is_broken_lines_or_one_message() {
        let asks = of("{\n\"id\":7,\n\"method\":\"ping\"}");
        assert_eq!(asks.ids, [json!(7)]);
        assert_eq!((asks.nameless, asks.silent), (3, false));
    }

    #[test]
    fn notifications_and_responses_are_not_answered() {
        assert!(of(r#"{"method":"notifications/a"}"#).silent);
        assert!(of(r#"{"id":7,"result":{}}"#).silent);
        assert!(of(r#"[{"id":7,"error":{}},{"method":"notifications/a"}]"#).silent);
        for answered in ["", "hello", "[]", "{}", r#"{"id":1,"method":"ping"}"#] {
            assert!(!of(answered).silent, "{answered}");
        }
    }

    #[test]
    fn ids_without_end_are_not_kept() {
        let line = "{\"id\":1,\"method\":\"ping\"}\n";
        assert_eq!(of(&line.repeat(3000)).ids.len(), super::IDS);
    }
}
