//! Values as programs print them: JSON, and the literals of Python, which is
//! what `str(…)` makes of a dictionary.

use serde_json::{Map, Number, Value};

/// How deep a literal may be nested.
const DEPTH: usize = 32;

/// The value that all of `text` is, if it is a list, a map or a quoted string.
pub(super) fn parse(text: &str) -> Option<Value> {
    let text = text.trim();
    if !text.starts_with(['{', '[', '"', '\'']) {
        return None;
    }
    serde_json::from_str(text).ok().or_else(|| {
        let mut reader = Reader { rest: text };
        let value = reader.value(0)?;
        reader.rest.trim().is_empty().then_some(value)
    })
}

struct Reader<'a> {
    rest: &'a str,
}

impl Reader<'_> {
    fn value(&mut self, depth: usize) -> Option<Value> {
        self.rest = self.rest.trim_start();
        if depth > DEPTH {
            return None;
        }
        match self.rest.chars().next()? {
            '{' => self.map(depth),
            '[' => self.list(']', depth),
            '(' => self.list(')', depth),
            '\'' | '"' => self.string().map(Value::String),
            _ => self.word(),
        }
    }

    fn take(&mut self, wanted: char) -> Option<()> {
        self.rest = self.rest.trim_start().strip_prefix(wanted)?;
        Some(())
    }

    fn map(&mut self, depth: usize) -> Option<Value> {
        self.take('{')?;
        let mut map = Map::new();
        loop {
            if self.take('}').is_some() {
                return Some(Value::Object(map));
            }
            self.rest = self.rest.trim_start();
            let key = self.string()?;
            self.take(':')?;
            let value = self.value(depth + 1)?;
            map.insert(key, value);
            if self.take(',').is_none() {
                self.take('}')?;
                return Some(Value::Object(map));
            }
        }
    }

    fn list(&mut self, end: char, depth: usize) -> Option<Value> {
        let mut chars = self.rest.chars();
        chars.next()?;
        self.rest = chars.as_str();
        let mut items = Vec::new();
        loop {
            if self.take(end).is_some() {
                return Some(Value::Array(items));
            }
            items.push(self.value(depth + 1)?);
            if self.take(',').is_none() {
                self.take(end)?;
                return Some(Value::Array(items));
            }
        }
    }

    fn string(&mut self) -> Option<String> {
        let quote = self
            .rest
            .chars()
            .next()
            .filter(|c| matches!(c, '\'' | '"'))?;
        let mut out = String::new();
        let mut chars = self.rest[1..].chars();
        loop {
            match chars.next()? {
                '\\' => match chars.next()? {
                    'n' => out.push('\n'),
                    't' => out.push('\t'),
                    'r' => out.push('\r'),
                    other => out.push(other),
                },
                c if c == quote => break,
                c => out.push(c),
            }
        }
        self.rest = chars.as_str();
        Some(out)
    }

    fn word(&mut self) -> Option<Value> {
        let end = self
            .rest
            .find([',', '}', ']', ')', ' ', '\n', '\t'])
            .unwrap_or(self.rest.len());
        let (word, rest) = self.rest.split_at(end);
        let value = match word {
            "None" | "null" | "undefined" => Value::Null,
            "True" | "true" => Value::Bool(true),
            "False" | "false" => Value::Bool(false),
            number => match number.parse::<i64>() {
                Ok(whole) => Value::Number(whole.into()),
                Err(_) => Value::Number(Number::from_f64(number.parse().ok()?)?),
            },
        };
        self.rest = rest;
        Some(value)
    }
}

#[cfg(test)]
mod tests {
    use super::parse;
    use serde_json::json;

    #[test]
    fn literals_of_python_are_read_as_json_is() {
        let value = parse("{'ok': False, 'error': \"can't\", 'at': (1, 2.5), 'x': None}");
        let wanted = json!({"ok": false, "error": "can't", "at": [1, 2.5], "x": null});
        assert_eq!(value, Some(wanted));
        assert_eq!(parse("{\"a\": [true]}"), Some(json!({"a": [true]})));
    }

    #[test]
    fn what_is_no_literal_is_left_alone() {
        for text in [
            "",
            "plain",
            "{",
            "{'a'",
            "[1, 2",
            "{'a': 1} and more",
            "'",
            "{1: 2}",
            "[ERROR] x",
        ] {
            assert_eq!(parse(text), None, "{text}");
        }
        assert_eq!(parse(&"[".repeat(100_000)), None);
    }
}
