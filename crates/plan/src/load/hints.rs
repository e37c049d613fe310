//! What to write instead of what was found.

use crate::Operator;
use crate::grammar::{EXPECT, Kind, STEP};
use crate::syntax::{Data, Node, Plain, Style, plain};
use serde_json::{Map, Value};
use std::borrow::Cow;

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
    let written = match what {
        what if what == EXPECT.what => return expectation(node),
        what if what == STEP.what => return step(node),
        "names with values" => pairs(node)?,
        "arguments by name" => {
            let text = node.as_str()?.trim();
            serde_json::from_str::<Map<String, Value>>(text).ok()?;
            return Some(format!("write it without quotes around it: `{text}`"));
        }
        _ => return None,
    };
    Some(format!("write `{written}`"))
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
        texts if texts.iter().any(|text| text.contains('\n')) => {
            "as in `{ text: { contains: hi } }`".to_owned()
        }
        [one] => match operators(one) {
            Some(written) => format!("write `{written}`"),
            None => format!(
                "where the answer's text is to contain this, write `{{ text: {} }}`",
                contains(one)
            ),
        },
        several => {
            let all: Vec<String> = several.iter().map(|text| contains(text)).collect();
            format!(
                "where the answer's text is to contain these, write `{{ text: [{}] }}`",
                all.join(", ")
            )
        }
    })
}

/// `text contains hi`, as a map.
fn operators(text: &str) -> Option<String> {
    let (target, rest) = text.split_once(' ')?;
    let (operator, operand) = rest.split_once(' ')?;
    let takes_any = matches!(
        EXPECT.key(target)?.kind,
        Kind::Operators(_) | Kind::OperatorMap(_)
    );
    let operator = Operator::named(operator).or_else(|| Operator::meant_by(operator))?;
    let operand = in_flow(operand.trim());
    takes_any.then(|| format!("{{ {target}: {{ {}: {operand} }} }}", operator.name()))
}

/// `A=1` alone or in a list, as a map.
fn pairs(node: &Node<'_>) -> Option<String> {
    let items: Vec<&str> = match &node.data {
        Data::String(text) => vec![text.as_ref()],
        Data::List(items) => items.iter().map(Node::as_str).collect::<Option<_>>()?,
        Data::Null | Data::Bool(_) | Data::Number(_) | Data::Map(_) => return None,
    };
    let pair = |item: &&str| {
        let (name, value) = item.split_once('=')?;
        let is_letter = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-' | '.');
        let is_name = !name.is_empty() && name.chars().all(is_letter);
        is_name.then(|| format!("{name}: {}", in_flow(value)))
    };
    let pairs = items.iter().map(pair).collect::<Option<Vec<String>>>()?;
    (!pairs.is_empty()).then(|| format!("{{ {} }}", pairs.join(", ")))
}

/// A step that is one text.
fn step(node: &Node<'_>) -> Option<String> {
    let text = node.as_str()?.trim();
    let (key, rest) = text.split_once(' ').unwrap_or((text, ""));
    if text.contains([':', '=', '\n']) {
        return None;
    }
    Some(if STEP.key(key).is_some() && !rest.is_empty() {
        format!(
            "a key needs a colon followed by a space: write `{key}: {}`",
            rest.trim()
        )
    } else if rest.is_empty() && !key.is_empty() && STEP.key(key).is_none() {
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
