//! What to write instead of what was found.

use super::parse_duration::parse_duration;
use crate::Operator;
use crate::grammar::{EXPECT, Kind, OperandKind, STEP, Target, is_value_type};
use crate::syntax::{Data, Node, Plain, Style, plain};
use jelly_base::mcp::{ListKind, Method};
use jelly_base::text::WordList;
use serde_json::{Map, Value};
use std::borrow::Cow;

/// What is said of an expectation that can't be put into other words.
const AS_EXPECTED: &str = "as in `{ text: { contains: hi } }`";

/// The items of a list in place of the text that was `written`: of arguments, a command
/// line of several words is as many, each in quotes where YAML needs them.
pub(super) fn as_list(what: &str, written: String) -> String {
    // Quotes around a whole line with flags make one word of it.
    let inner = ['"', '\''].iter().find_map(|quote| {
        let inner = written.strip_prefix(*quote)?.strip_suffix(*quote)?;
        let is_line = inner.contains(" -") && !inner.contains(['"', '\'', '\\', ',']);
        is_line.then(|| inner.to_owned())
    });
    let written = inner.filter(|_| what == "arguments").unwrap_or(written);
    let plain = !written.contains(['"', '\'', '\\', ',']);
    if what != "arguments" || !plain {
        return written;
    }
    let word = |word: &str| {
        let taken = word.starts_with([
            '@', '`', '{', '}', '[', ']', '*', '&', '!', '|', '>', '%', '#', '?',
        ]) || word.contains([':', '#', '{', '}', '[', ']']);
        match taken {
            true => format!("\"{word}\""),
            false => word.to_owned(),
        }
    };
    let words: Vec<_> = written.split_whitespace().map(word).collect();
    words.join(", ")
}

/// How a map is written where a list of such belongs.
pub(super) fn as_item(node: &Node<'_>, written: &str) -> String {
    match (&node.data, node.style) {
        (Data::Map(entries), _) if entries.is_empty() => "write `[]` for an empty list".to_owned(),
        // Between brackets nothing begins with a dash.
        (_, Style::Flow) if !written.contains('\n') => format!("write `[ {written} ]`"),
        (_, Style::Flow) => "put `[` before it and `]` behind it".to_owned(),
        _ => "begin each item with `- `".to_owned(),
    }
}

/// How a map is written in place of what stands there, in its own words; `what` is what the map
/// is of.
pub(super) fn as_map(what: &str, node: &Node<'_>) -> Option<String> {
    match what {
        what if what == EXPECT.what => expectation(node),
        what if what == STEP.what => step(node),
        "names with values" => pairs(node, "", in_flow),
        "arguments by name" => {
            let text = node.as_str().unwrap_or_default().trim();
            match serde_json::from_str::<Map<String, Value>>(text) {
                Ok(_) => Some(format!("write it without quotes around it: `{text}`")),
                Err(_) => pairs(node, "args: ", typed),
            }
        }
        _ => None,
    }
}

/// What is expected of an answer, where a text or a list stands.
fn expectation(node: &Node<'_>) -> Option<String> {
    let contains = |text: &str| format!("{{ contains: {} }}", in_flow(text));
    let texts: Vec<&str> = match &node.data {
        Data::String(text) => vec![text.as_ref()],
        Data::List(items) => items.iter().map_while(Node::as_str).collect(),
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::Map(_) => return None,
    };
    let is_whole = match &node.data {
        Data::List(items) => texts.len() == items.len(),
        _ => true,
    };
    Some(match texts.as_slice() {
        _ if !is_whole => "write its keys without `-`: it is one map".to_owned(),
        [] => return None,
        texts if texts.iter().any(|text| text.contains('\n')) => AS_EXPECTED.to_owned(),
        [one] => match said(one) {
            TypedExpectation::Keys(written) => format!("write `{written}`"),
            TypedExpectation::Unclear => AS_EXPECTED.to_owned(),
            TypedExpectation::Text => format!(
                "where the answer's text is to contain this, write `{{ text: {} }}`",
                contains(one)
            ),
        },
        several
            if several
                .iter()
                .any(|text| !matches!(said(text), TypedExpectation::Text)) =>
        {
            AS_EXPECTED.to_owned()
        }
        several => {
            let all: Vec<String> = several.iter().map(|text| contains(text)).collect();
            format!(
                "where the answer's text is to contain these, write `{{ text: [{}] }}`",
                all.join(", ")
            )
        }
    })
}

/// What a text says in place of an expectation.
enum TypedExpectation {
    /// Keys, as they are written.
    Keys(String),
    /// A key, of what can't be told.
    Unclear,
    /// Part of an answer.
    Text,
}

/// `text contains hi`, `is_error: false`, or what an answer says.
fn said(text: &str) -> TypedExpectation {
    let text = text.trim();
    let (first, rest) = text.split_once([' ', ':', '=']).unwrap_or((text, ""));
    let mut keys = EXPECT.all_keys();
    let Some(key) = keys.find(|key| key.name == first || WordList(key.also).has(first)) else {
        return TypedExpectation::Text;
    };
    let rest = rest.trim();
    let words = rest.split_once(' ');
    let named = |word: &str| Operator::named(word).or_else(|| Operator::meant_by(word));
    let operator = words.and_then(|(word, _)| named(word));
    let written = match (&key.kind, operator, words) {
        (Kind::Flag, _, _) if matches!(rest, "true" | "false") => Some(rest.to_owned()),
        (Kind::Operators(target) | Kind::OperatorMap(target), Some(operator), Some((_, rest))) => {
            operand(operator, *target, rest.trim())
                .map(|operand| format!("{{ {}: {operand} }}", operator.name()))
        }
        _ => None,
    };
    match written {
        Some(written) => TypedExpectation::Keys(format!("{{ {}: {written} }}", key.name)),
        // An answer may well begin with the word "text".
        None if key.name == "text" && operator.is_none() => TypedExpectation::Text,
        None => TypedExpectation::Unclear,
    }
}

/// The operand of an operator as it is written between brackets, where this may be one.
fn operand(operator: Operator, target: Target, text: &str) -> Option<String> {
    target.takes(operator).ok()?;
    let value = |text: &str| match target.is_text() {
        true => as_text(text),
        false => typed(text),
    };
    let is_number = || matches!(plain(text), Plain::Value(Data::Number(_)));
    if target == Target::Duration {
        return (is_number() || parse_duration(text).is_some()).then(|| text.to_owned());
    }
    match operator.operand() {
        OperandKind::Value | OperandKind::Part => Some(value(text)),
        OperandKind::Text
        | OperandKind::Pattern
        | OperandKind::Path
        | OperandKind::SnapshotName => Some(as_text(text)),
        OperandKind::Values => {
            let items: Vec<String> = items(text)?.into_iter().map(value).collect();
            Some(format!("[{}]", items.join(", ")))
        }
        OperandKind::Number | OperandKind::Bounds => is_number().then(|| text.to_owned()),
        OperandKind::Flag => matches!(text, "true" | "false").then(|| text.to_owned()),
        OperandKind::Types => is_value_type(text).then(|| as_text(text)),
        OperandKind::JsonSchema => {
            let schema = serde_json::from_str::<Map<String, Value>>(text);
            schema.is_ok().then(|| text.to_owned())
        }
    }
}

/// The items of `[a, b]` or `a, b`.
fn items(text: &str) -> Option<Vec<&str>> {
    let inner = text.strip_prefix('[').and_then(|it| it.strip_suffix(']'));
    let inner = inner.unwrap_or(text);
    let items: Vec<&str> = inner.split(',').map(str::trim).collect();
    let is_flat = !inner.contains(['[', ']', '{', '}']);
    (is_flat && items.iter().all(|item| !item.is_empty())).then_some(items)
}

/// A text without the quotes around it, for a place between brackets.
fn as_text(text: &str) -> String {
    let bare = ['"', '\''].iter().find_map(|quote| {
        let inner = text.strip_prefix(*quote)?.strip_suffix(*quote)?;
        (!inner.contains(['"', '\'', '\\'])).then_some(inner)
    });
    in_flow(bare.unwrap_or(text))
}

/// A value as somebody would type it: a number, a flag, JSON, or else a text.
fn typed(text: &str) -> String {
    let is_value = !text.is_empty() && matches!(plain(text), Plain::Value(_));
    let is_json = text.starts_with(['[', '{', '"']) && serde_json::from_str::<Value>(text).is_ok();
    match is_value || is_json {
        true => text.to_owned(),
        false => as_text(text),
    }
}

/// `A=1` alone or in a list, as a map behind its key; `value` is how a value is written.
fn pairs(node: &Node<'_>, key: &str, value: fn(&str) -> String) -> Option<String> {
    let items: Vec<&str> = match &node.data {
        Data::String(text) => vec![text.as_ref()],
        Data::List(items) => items.iter().map(Node::as_str).collect::<Option<_>>()?,
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::Map(_) => return None,
    };
    let mut pairs = Vec::new();
    for item in items {
        let words: Vec<&str> = item.split_whitespace().collect();
        let whole = pair(item.trim())?;
        match words.iter().copied().filter_map(pair).count() {
            1 => pairs.push(whole),
            all if all == words.len() => pairs.extend(words.into_iter().filter_map(pair)),
            // What belongs to which can't be told.
            _ => return Some("each stands under its name, as in `{ NAME: value }`".to_owned()),
        }
    }
    let written: Vec<String> = pairs
        .into_iter()
        .map(|(name, text)| format!("{name}: {}", value(text)))
        .collect();
    (!written.is_empty()).then(|| format!("write `{key}{{ {} }}`", written.join(", ")))
}

/// `A=1`.
fn pair(text: &str) -> Option<(&str, &str)> {
    let (name, value) = text.split_once('=')?;
    let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
    let is_name = !name.is_empty() && name.chars().all(is_letter);
    is_name.then_some((name, value))
}

/// A step that is one text.
fn step(node: &Node<'_>) -> Option<String> {
    let text = node.as_str()?.trim();
    let (key, rest) = text.split_once(' ').unwrap_or((text, ""));
    if text.contains([':', '=', '\n']) {
        return None;
    }
    if let Some(kind) = ListKind::ALL.into_iter().find(|kind| kind.method() == text) {
        let kind = kind.plan_key();
        return Some(format!("a step is a map; write `list: {kind}`"));
    }
    if text == "tools/call" {
        return Some("a step is a map; to call a tool, write `tool: NAME`".to_owned());
    }
    if Method::find(text).is_some() {
        return Some(format!("a step is a map; write `request: {text}`"));
    }
    Some(if STEP.key(key).is_some() && !rest.is_empty() {
        format!(
            "a key needs a colon followed by a space: write `{key}: {}`",
            rest.trim()
        )
    } else if rest.is_empty() && !key.is_empty() && !key.contains('/') && STEP.key(key).is_none() {
        format!("a step is a map; to call this tool, write `tool: {key}`")
    } else {
        "a step is a map, as in `tool: NAME`".to_owned()
    })
}

/// `tool: { name: a, arguments: { … } }`: the name, and what belongs beside it; `written` is what
/// stands there of a value.
pub(super) fn as_name<'w>(
    key: &str,
    node: &Node<'_>,
    written: impl Fn(&Node<'_>) -> Cow<'w, str>,
) -> Option<String> {
    let name = in_flow(node.entry("name")?.value.as_str()?);
    let args = ["args", "arguments", "params", "input"];
    let args = args.into_iter().find_map(|word| node.entry(word));
    let args = args.map(|args| written(&args.value));
    Some(match args {
        None => format!("write `{key}: {name}`"),
        Some(args) if args.contains('\n') => format!(
            "write `{key}: {name}`, and its arguments below `args`, which stands beside `{key}`"
        ),
        Some(args) => format!("write `{key}: {name}`, and beside it `args: {args}`"),
    })
}

/// A text between brackets: in quotes where it would be another value without.
pub(super) fn in_flow(text: &str) -> String {
    let is_letter = |c: char| c.is_alphanumeric() || matches!(c, '_' | '-' | '.' | '/' | ' ');
    let begins = text.starts_with(|c: char| c.is_alphanumeric() || matches!(c, '_' | '/'));
    let is_plain = begins && text.chars().all(is_letter) && text.trim() == text;
    if is_plain && matches!(plain(text), Plain::Text) {
        text.to_owned()
    } else if text.contains(['"', '\\']) {
        format!("'{}'", text.replace('\'', "''"))
    } else {
        format!("\"{text}\"")
    }
}

#[cfg(test)]
mod tests {
    use super::as_list;

    #[test]
    fn a_command_line_is_as_many_arguments_as_it_has_words() {
        for (written, list) in [
            ("a.py --x", "a.py, --x"),
            ("-y @scope/pkg", "-y, \"@scope/pkg\""),
            ("--url http://h:1", "--url, \"http://h:1\""),
            ("'a b' c", "'a b' c"),
            ("\"ok.py -v\"", "ok.py, -v"),
            ("\"my notes.py\"", "\"my notes.py\""),
            ("'\"a b\" -x'", "'\"a b\" -x'"),
            ("\"a, b -c\"", "\"a, b -c\""),
        ] {
            assert_eq!(as_list("arguments", written.to_owned()), list);
        }
        assert_eq!(as_list("names of tools", "a b".to_owned()), "a b");
    }
}
