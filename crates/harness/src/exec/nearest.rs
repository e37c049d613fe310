//! Where a path selects nothing: the nearest path that selects something.
//!
//! Main function: [`nearest`]. Pure, bounded, and it names only what is there.

use jelly_base::text::close_names;
use serde_json::Value;
use serde_json_path::{JsonPath, PathElement};
use std::collections::VecDeque;
use std::fmt::Write as _;

/// Longer paths are left alone.
const SEGMENTS: usize = 64;
/// So many of the values that a path comes to before it fails are looked at.
const PLACES: usize = 8;
/// So many values below one of them are searched, and so deep.
const SEARCHED: usize = 2000;
const DEPTH: usize = 6;
/// So many keys of an object are told.
const KEYS: usize = 8;
/// How many things may be wrong with a path for another to be near it.
const SLIPS: u8 = 2;

/// A path that exists, and what stands there where it is only how far the
/// other one came.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Nearest {
    /// Normalized, as in `$.content[0].text`.
    pub path: String,
    /// As in "an object with `a`, `b`".
    pub holds: Option<String>,
}

impl std::fmt::Display for Nearest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.write_str(&self.path)?;
        match &self.holds {
            Some(holds) => write!(f, ", {holds}"),
            None => Ok(()),
        }
    }
}

/// The path nearest to `raw`, an RFC 9535 path that selects nothing in
/// `value`: with a key that is spelt otherwise, within the bounds of an array,
/// with a level more or less. Else how far `raw` comes. `None` where it
/// selects something after all.
#[must_use]
pub fn nearest(raw: &str, value: &Value) -> Option<Nearest> {
    let segments = segments(raw)?;
    let (reached, places) = reached(raw, &segments, value)?;
    let rest: Vec<Segment> = segments[reached..]
        .iter()
        .map(|at| segment(&raw[at.0..at.1]))
        .collect();
    if rest.is_empty() {
        return None;
    }
    for len in (1..=rest.len()).rev() {
        let found = places
            .iter()
            .find_map(|place| corrected(place, &rest[..len], SLIPS));
        if let Some(found) = found {
            return Some(Nearest {
                path: found.shown(),
                holds: (len < rest.len()).then(|| holds(found.value)),
            });
        }
    }
    let place = places.first()?;
    Some(Nearest {
        path: place.shown(),
        holds: Some(holds(place.value)),
    })
}

/// A value with its place.
#[derive(Clone)]
struct Place<'v> {
    steps: Vec<Step<'v>>,
    value: &'v Value,
}

#[derive(Clone, Copy)]
enum Step<'v> {
    Key(&'v str),
    At(usize),
}

/// One segment of a path.
enum Segment {
    Key(String),
    At(i64),
    /// It may select several values.
    Several,
}

impl<'v> Place<'v> {
    fn to(&self, step: Step<'v>, value: &'v Value) -> Self {
        let mut steps = self.steps.clone();
        steps.push(step);
        Self { steps, value }
    }

    fn key(&self, key: &str) -> Option<Self> {
        let (key, value) = self.value.as_object()?.get_key_value(key)?;
        Some(self.to(Step::Key(key), value))
    }

    fn at(&self, index: i64) -> Option<Self> {
        let items = self.value.as_array()?;
        let distance = usize::try_from(index.unsigned_abs()).ok()?;
        let index = if index < 0 {
            items.len().checked_sub(distance)?
        } else {
            distance
        };
        Some(self.to(Step::At(index), items.get(index)?))
    }

    /// What one segment selects here.
    fn select(&self, segment: &Segment) -> Option<Self> {
        match segment {
            Segment::Key(key) => self.key(key),
            Segment::At(index) => self.at(*index),
            Segment::Several => None,
        }
    }

    /// What all of them select here.
    fn walk(&self, segments: &[Segment]) -> Option<Self> {
        let start = self.clone();
        segments
            .iter()
            .try_fold(start, |place, segment| place.select(segment))
    }

    fn below(&self) -> Vec<Self> {
        match self.value {
            Value::Object(map) => map
                .iter()
                .map(|(key, value)| self.to(Step::Key(key), value))
                .collect(),
            Value::Array(items) => items
                .iter()
                .enumerate()
                .map(|(index, value)| self.to(Step::At(index), value))
                .collect(),
            _ => Vec::new(),
        }
    }

    fn shown(&self) -> String {
        let mut path = "$".to_owned();
        for step in &self.steps {
            // Writing to a String can't fail.
            let _ = match step {
                Step::At(index) => write!(path, "[{index}]"),
                Step::Key(key) if is_plain(key) => write!(path, ".{key}"),
                Step::Key(key) => write!(path, "[{}]", quoted(key)),
            };
        }
        path
    }
}

/// Whether a key may stand behind a dot.
fn is_plain(key: &str) -> bool {
    key.starts_with(|c: char| c.is_ascii_alphabetic() || c == '_')
        && key.chars().all(|c| c.is_ascii_alphanumeric() || c == '_')
}

/// A key as a normalized path writes it.
fn quoted(key: &str) -> String {
    let json = Value::from(key).to_string();
    let inner = json[1..json.len() - 1].replace("\\\"", "\"");
    format!("'{}'", inner.replace('\'', "\\'"))
}

/// The place that the segments come to with at most so many corrections.
fn corrected<'v>(place: &Place<'v>, segments: &[Segment], slips: u8) -> Option<Place<'v>> {
    if let Some(found) = place.walk(segments) {
        return Some(found);
    }
    let (first, rest) = segments.split_first()?;
    let slips = slips.checked_sub(1)?;
    // Right so far; a slip is allowed further on.
    if let Some(next) = place.select(first) {
        return corrected(&next, rest, slips + 1);
    }
    let instead: Vec<Place<'v>> = match (first, place.value) {
        (Segment::Key(key), Value::Object(map)) => close_names(key, map.keys().map(String::as_str))
            .iter()
            .filter_map(|close| place.key(close))
            .collect(),
        (Segment::At(_), Value::Array(_)) => place.at(-1).into_iter().collect(),
        _ => Vec::new(),
    };
    instead
        .iter()
        .find_map(|place| corrected(place, rest, slips))
        // A level too many, unless that is all there is.
        .or_else(|| (!rest.is_empty()).then(|| place.walk(rest)).flatten())
        .or_else(|| deeper(place, segments))
        .or_else(|| {
            (slips > 0 && !rest.is_empty())
                .then(|| deeper(place, rest))
                .flatten()
        })
}

/// The shallowest value below this one where the segments select something:
/// levels are missing in the path.
fn deeper<'v>(place: &Place<'v>, segments: &[Segment]) -> Option<Place<'v>> {
    let named = |segment: &Segment| matches!(segment, Segment::Key(_));
    // An index alone fits everywhere.
    if !segments.iter().any(named) {
        return None;
    }
    let mut queue: VecDeque<Place<'v>> = place.below().into();
    for _ in 0..SEARCHED {
        let next = queue.pop_front()?;
        if let Some(found) = next.walk(segments) {
            return Some(found);
        }
        if next.steps.len() < place.steps.len() + DEPTH && queue.len() < SEARCHED {
            queue.extend(next.below());
        }
    }
    None
}

/// What a value is, in words.
fn holds(value: &Value) -> String {
    match value {
        Value::Object(map) if map.is_empty() => "an empty object".to_owned(),
        Value::Object(map) => {
            let keys: Vec<&str> = map.keys().map(String::as_str).take(KEYS).collect();
            let more = if map.len() > KEYS { " and more" } else { "" };
            format!("an object with `{}`{more}", keys.join("`, `"))
        }
        Value::Array(items) if items.is_empty() => "an empty array".to_owned(),
        Value::Array(items) => format!("an array of {}", items.len()),
        Value::String(_) => "a string".to_owned(),
        Value::Number(_) => "a number".to_owned(),
        Value::Bool(_) => "a boolean".to_owned(),
        Value::Null => "null".to_owned(),
    }
}

/// As many segments as select something, and what they select.
fn reached<'v>(
    raw: &str,
    segments: &[(usize, usize)],
    value: &'v Value,
) -> Option<(usize, Vec<Place<'v>>)> {
    for count in (1..=segments.len()).rev() {
        let path = JsonPath::parse(&raw[..segments[count - 1].1]).ok()?;
        let nodes = path.query_located(value);
        let places: Vec<Place<'v>> = nodes
            .into_iter()
            .take(PLACES)
            .map(|node| Place {
                value: node.node(),
                steps: node
                    .location()
                    .iter()
                    .map(|element| match element {
                        PathElement::Name(name) => Step::Key(name),
                        PathElement::Index(index) => Step::At(*index),
                    })
                    .collect(),
            })
            .collect();
        if !places.is_empty() {
            return Some((count, places));
        }
    }
    let root = Place {
        steps: Vec::new(),
        value,
    };
    Some((0, vec![root]))
}

/// Where the segments of a path begin and end; `None` for what is no path, or
/// too long.
fn segments(raw: &str) -> Option<Vec<(usize, usize)>> {
    let start = raw.find('$')?;
    let mut segments = Vec::new();
    let mut at = start + 1;
    loop {
        at += blanks(&raw[at..]);
        let rest = &raw[at..];
        if rest.is_empty() {
            return Some(segments);
        }
        if segments.len() >= SEGMENTS {
            return None;
        }
        let dots = rest.len() - rest.trim_start_matches('.').len();
        let dots = dots + blanks(&rest[dots..]);
        let named = &rest[dots..];
        let length = if named.starts_with('[') {
            dots + bracketed(named)?
        } else {
            let ends = |c: char| matches!(c, '.' | '[') || c.is_ascii_whitespace();
            dots + named.find(ends).unwrap_or(named.len())
        };
        if length == 0 {
            return None;
        }
        segments.push((at, at + length));
        at += length;
    }
}

fn blanks(text: &str) -> usize {
    text.len() - text.trim_start().len()
}

/// The length of what stands in brackets, these included.
fn bracketed(text: &str) -> Option<usize> {
    let (mut depth, mut quote, mut escaped) = (0_usize, None, false);
    for (at, c) in text.char_indices() {
        if escaped {
            escaped = false;
            continue;
        }
        match (quote, c) {
            (Some(_), '\\') => escaped = true,
            (Some(open), _) if c == open => quote = None,
            (Some(_), _) => {}
            (None, '\'' | '"') => quote = Some(c),
            (None, '[') => depth += 1,
            (None, ']') => {
                depth = depth.checked_sub(1)?;
                if depth == 0 {
                    return Some(at + 1);
                }
            }
            (None, _) => {}
        }
    }
    None
}

fn segment(text: &str) -> Segment {
    let text = text.trim();
    if text.starts_with("..") {
        return Segment::Several;
    }
    if let Some(name) = text.strip_prefix('.') {
        let name = name.trim();
        return match name {
            "*" => Segment::Several,
            name => Segment::Key(name.to_owned()),
        };
    }
    let inner = text.strip_prefix('[').and_then(|t| t.strip_suffix(']'));
    let inner = inner.unwrap_or_default().trim();
    if let Ok(index) = inner.parse() {
        return Segment::At(index);
    }
    key(inner).map_or(Segment::Several, Segment::Key)
}

/// One name in quotes.
fn key(text: &str) -> Option<String> {
    let quote = text.chars().next().filter(|c| matches!(c, '\'' | '"'))?;
    let inner = text.strip_prefix(quote)?.strip_suffix(quote)?;
    let json = if quote == '\'' {
        inner.replace('"', "\\\"").replace("\\'", "'")
    } else {
        inner.to_owned()
    };
    // Two names in one pair of brackets are no text.
    serde_json::from_str(&format!("\"{json}\"")).ok()
}

#[cfg(test)]
mod tests {
    use super::nearest;
    use proptest::prelude::*;
    use serde_json::{Value, json};
    use serde_json_path::JsonPath;

    fn shown(path: &str, value: &Value) -> String {
        assert!(JsonPath::parse(path).is_ok(), "{path}");
        nearest(path, value).map_or_else(|| "-".to_owned(), |found| found.to_string())
    }

    fn assert_nearest(answer: &Value, table: &str) {
        for row in table.trim().lines() {
            let (path, wanted) = row.split_once("=>").unwrap();
            assert_eq!(shown(path.trim(), answer), wanted.trim(), "{row}");
        }
    }

    #[test]
    fn a_slip_in_a_path_finds_what_was_meant() {
        let answer = json!({
            "content": [{"type": "text", "text": "hi"}, {"type": "text", "text": "ho"}],
            "structuredContent": {
                "temperature": 3, "unitName": "C", "days": [{"min": 1}], "a b": {"it's": 1}
            },
            "isError": false,
        });
        let another_key = r#"
            $.content[0].txt                        => $.content[0].text
            $.contnet[0].text                       => $.content[0].text
            $.Content[0].Text                       => $.content[0].text
            $.structuredContent.unit_name           => $.structuredContent.unitName
            $['structuredcontent']['temperature']   => $.structuredContent.temperature
            $.structuredContent['a_b']["it's"]      => $.structuredContent['a b']['it\'s']"#;
        let beyond_the_end = "
            $.content[2].text                       => $.content[1].text
            $.content[-3].text                      => $.content[1].text
            $.structuredContent.days[1].min         => $.structuredContent.days[0].min";
        let level_missing_or_too_many = "
            $.temperature                           => $.structuredContent.temperature
            $.days[0].min                           => $.structuredContent.days[0].min
            $.content.text                          => $.content[0].text
            $.text                                  => $.content[0].text
            $.result.content[1].text                => $.content[1].text
            $.structuredContent.result.temperature  => $.structuredContent.temperature
            $.result.temperature                    => $.structuredContent.temperature";
        let after_several = "
            $.content[*].txt                        => $.content[0].text
            $.content[?@.text == 'ho'].txt          => $.content[1].text";
        for table in [
            another_key,
            beyond_the_end,
            level_missing_or_too_many,
            after_several,
        ] {
            assert_nearest(&answer, table);
        }
    }

    #[test]
    fn where_nothing_is_near_it_is_told_how_far_the_path_came() {
        let answer = json!({"items": [], "who": {"name": "Ada"}, "n": null});
        let how_far = "
            $.price           => $, an object with `items`, `who`, `n`
            $.who.birthday    => $.who, an object with `name`
            $.who.name.first  => $.who.name, a string
            $.items[0].id     => $.items, an empty array
            $.items[*]        => $.items, an empty array
            $.who[?@.x]       => $.who, an object with `name`
            $..price          => $, an object with `items`, `who`, `n`
            $.n.x             => $.n, null
            $.whoo.price      => $.who, an object with `name`
            $.who             => -";
        assert_nearest(&answer, how_far);
        assert_nearest(&json!("text"), "$.x => $, a string");
    }

    #[test]
    fn a_huge_answer_is_searched_in_bounds() {
        let mut deep = json!({"needle": 1});
        for _ in 0..100 {
            deep = json!({"next": deep});
        }
        assert_eq!(shown("$.needle", &deep), "$, an object with `next`");
        let wide: Vec<Value> = (0..100_000).map(|n| json!({"n": n})).collect();
        assert_eq!(
            shown("$.items[0].id", &json!({"items": wide})),
            "$.items[0], an object with `n`"
        );
        let long = format!("${}", ".a".repeat(100));
        assert_eq!(nearest(&long, &deep), None);
    }

    fn value() -> impl Strategy<Value = Value> {
        let leaf = prop_oneof![Just(json!(1)), Just(json!("x")), Just(Value::Null)];
        leaf.prop_recursive(4, 32, 4, |inner| {
            let key = prop_oneof![
                "[a-c]{1,2}",
                Just("it's".to_owned()),
                Just("a\"\\b".to_owned())
            ];
            prop_oneof![
                proptest::collection::vec(inner.clone(), 0..3).prop_map(Value::from),
                proptest::collection::hash_map(key, inner, 0..4).prop_map(|map| json!(map)),
            ]
        })
    }

    proptest! {
        #[test]
        fn what_is_named_exists(
            value in value(),
            segments in proptest::collection::vec(
                prop_oneof![
                    "\\.[a-c]{1,2}", "\\[-?[1-3]\\]", "\\['[a-c]'\\]", Just("[*]".to_owned()),
                    Just("..a".to_owned()), Just("[?@.a]".to_owned()), Just("[0]".to_owned()),
                ],
                0..5,
            ),
        ) {
            let raw = format!("${}", segments.concat());
            let path = JsonPath::parse(&raw).unwrap();
            let selects = !path.query(&value).is_empty();
            match nearest(&raw, &value) {
                Some(found) => {
                    prop_assert!(!selects, "{}", raw);
                    let there = JsonPath::parse(&found.path).unwrap();
                    prop_assert_eq!(there.query(&value).len(), 1, "{} for {}", found, raw);
                }
                None => prop_assert!(selects, "{}", raw),
            }
        }

        #[test]
        fn no_text_is_too_odd(raw in "\\PC{0,40}") {
            let _ = nearest(&raw, &json!({"a": [1]}));
        }
    }
}
