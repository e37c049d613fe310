//! Plain text between brackets that has brackets of its own, as a path has.

use super::node::Trouble;
use std::ops::Range;

/// A value without quotes in which a bracket stands, explained: between brackets YAML
/// takes it for the beginning of a list or map. `at` is where the parser stopped, at such a
/// bracket or within it; `inner` is the innermost bracket that is open there.
pub(super) fn bracket_in_text(text: &str, at: usize, inner: usize) -> Option<Trouble> {
    let open = match text[at..].starts_with(['[', '{']) {
        true => at,
        false => inner,
    };
    let span = value_around(text, open)?;
    let written = &text[span.clone()];
    let bracket = &text[open..=open];
    // `${…}` has its own words.
    if span.start == open || bracket == "{" && text[..open].ends_with('$') {
        return None;
    }
    let message = format!("a value with `{bracket}` in it needs quotes between brackets");
    Some(Trouble::new(span, message).hint(format!("write {}", quoted(written))))
}

/// The plain text on one line in which the bracket `open` stands, up to what ends a value
/// outside of its own brackets.
fn value_around(text: &str, open: usize) -> Option<Range<usize>> {
    let start = value_start(text, open);
    let (mut closes, mut quote) = (Vec::new(), None);
    for (at, c) in text[start..].char_indices() {
        match (quote, c) {
            (_, '\n' | '\r') => return None,
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if !closes.is_empty() => quote = Some(c),
            (None, '[') => closes.push(']'),
            (None, '{') => closes.push('}'),
            (None, c) if closes.last() == Some(&c) => {
                closes.pop();
            }
            (None, ',' | ']' | '}') if closes.is_empty() => {
                let written = text[start..start + at].trim_end();
                return Some(start..start + written.len());
            }
            (None, _) => {}
        }
    }
    None
}

/// Where the plain text begins in which the bracket `open` stands. Brackets that stand
/// right behind a letter are its own; the parser may have stopped at a later one.
fn value_start(text: &str, open: usize) -> usize {
    let line = text[..open].rfind('\n').map_or(0, |feed| feed + 1);
    let before = &text[line..open];
    let mut closed = 0_usize;
    let mut start = 0;
    for (at, c) in before.char_indices().rev() {
        let is_own = || at > 0 && !before[..at].ends_with([' ', ',', '[', '{']);
        match c {
            ']' | '}' => closed += 1,
            '[' | '{' if closed > 0 => closed -= 1,
            '[' | '{' if is_own() => {}
            '[' | '{' | ',' if closed == 0 => {
                start = at + 1;
                break;
            }
            ':' if closed == 0 && before[at..].starts_with(": ") => {
                start = at + 2;
                break;
            }
            _ => {}
        }
    }
    let blanks = before[start..].len() - before[start..].trim_start().len();
    line + start + blanks
}

/// In quotes that need no escapes, or with them.
fn quoted(written: &str) -> String {
    match written.contains(['"', '\\']) {
        true => format!("'{}'", written.replace('\'', "''")),
        false => format!("\"{written}\""),
    }
}

#[cfg(test)]
mod tests {
    use super::super::{parse, parse_yaml};
    use crate::PlanSource;
    use jelly_base::text::same;

    /// What is to be written in place of what the text points at.
    fn meant(text: &str) -> (String, String) {
        let (_, troubles) = parse_yaml(text);
        let trouble = &troubles[0];
        let hint = trouble.hints[0].clone();
        let written = hint
            .strip_prefix("write ")
            .unwrap_or_else(|| panic!("{hint}"));
        let mut whole = text.to_owned();
        whole.replace_range(trouble.span.range(), written);
        (written.to_owned(), whole)
    }

    #[test]
    fn what_is_to_be_written_in_place_of_a_path_parses_to_that_path() {
        for path in [
            "$.tools[*].name",
            "$.tools[0].name",
            "$[0]",
            "$.a[0:2]",
            "$.a[0,1].b[*]",
            "$.tools[?@.name == 'x']",
            "$.tools[?@.name == 'x, y'].z",
            "$.tools[?@.name == \"x\"]",
            "$.tools[?@.name == \"it's\"]",
            "$.tools[?@.n[0] > 1]",
            "$['a b']",
            "a{b}",
        ] {
            for (before, after) in [
                ("json:\n  - { path: ", ", contains: read_graph }\n"),
                ("json: [ { contains: x, path: ", " } ]\n"),
                ("json: [{path: ", "}]\n"),
            ] {
                let (written, whole) = meant(&format!("{before}{path}{after}"));
                let source = PlanSource {
                    path: "p.yaml".into(),
                    text: whole.as_str().into(),
                    variant: None,
                };
                let (root, troubles) = parse(&source);
                assert_eq!(troubles, [], "{whole}");
                let value = root.unwrap().to_value();
                assert!(
                    same(&value["json"][0]["path"], &path.into()),
                    "{written}: {value}"
                );
            }
        }
    }
}
