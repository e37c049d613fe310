//! Values that stand behind labels: `Expected: …` and `Received: …`.

use super::compared::{
    Replacement, SHORT, closed_at, closes, end_of_value, ends_block, ends_message, go_place,
    has_go_place, indent, lines,
};
use super::masked::{MASK, NO_ELEMENT, NO_WIDGET};
use crate::frameworks::LABELS;
use crate::frameworks::spec::LabelledValue;
use memchr::memmem::Finder;
use std::ops::Range;
use std::sync::LazyLock;

/// `Expected: …` and `Received: …`, each on lines of its own.
pub(super) fn labelled(text: &str, from: usize) -> Replacement {
    let of_go = has_go_place(&text[from..]);
    let labels: Vec<(Range<usize>, LabelledValue)> = lines(text, from)
        .filter_map(|line| {
            let (label, value) = label_of(&text[line.clone()], of_go)?;
            Some((line.start..line.start + label, value))
        })
        .collect();
    let (first, kind) = labels.first()?.clone();
    static UNCAUGHT: LazyLock<Finder<'_>> =
        LazyLock::new(|| Finder::new("Uncaught exception, not in assertion"));
    if UNCAUGHT.find(text.as_bytes()).is_some() {
        return None;
    }
    let others = || labels.iter().filter(|(_, other)| *other != kind);
    let (next, _) = others().next()?;
    let (last, _) = others().next_back()?;
    let open = |label: &Range<usize>| {
        let value = &text[label.end..];
        let inside = unlabelled(value);
        let start = label.end + (value.len() - inside.len());
        let close = match inside.chars().next()? {
            quote @ ('"' | '\'' | '`') => Some(quote),
            '<' => Some('>'),
            '[' => Some(']'),
            '{' => Some('}'),
            _ => None,
        };
        Some((start + usize::from(close.is_some()), close))
    };
    // Where the first value is open at the end of its line, the label that
    // follows its end counts.
    let next = match open(&first) {
        Some((start, Some(close))) => {
            let line = text[start..].find('\n').map_or(text.len(), |at| start + at);
            if closed_at(&text[start..line], close).is_some() {
                next
            } else {
                others()
                    .filter(|(label, _)| closes(text[..label.start].trim_end(), close).is_some())
                    .map(|(label, _)| label)
                    .next_back()
                    .unwrap_or(next)
            }
        }
        Some(_) | None => next,
    };
    let end_of = |label: &Range<usize>| {
        let Some((start, close)) = open(label) else {
            return text.len();
        };
        match close {
            Some(_) => end_of_value(&text[start..], close).map_or(text.len(), |end| start + end),
            None => {
                let line = text[..start].rfind('\n').map_or(0, |at| at + 1);
                let below = text[label.end..].starts_with('\n').then_some(start - line);
                start + end_of_open(&text[start..], below)
            }
        }
    };
    let end = end_of(next).max(end_of(last));
    let values = [&text[first.end..next.start], &text[next.end..end]].map(str::trim);
    // A sentence without quotes is read as one line.
    let misleading = |value: &&str| {
        let quoted = || unlabelled(value).starts_with(['"', '\'', '`', '<', '[']);
        value.contains('\n') || value.len() > SHORT && value.contains(' ') && quoted()
    };
    // An exception that should have come is known by its class.
    if values.iter().any(|value| is_class(value)) {
        return None;
    }
    let no_element = next == last && values.iter().any(|value| value.starts_with(NO_ELEMENT));
    let no_element = no_element || values.iter().any(|value| value.contains(NO_WIDGET));
    if no_element || !values.iter().any(misleading) {
        return None;
    }
    Some((
        first.end..end,
        format!("\"{MASK}\"\n{}\"{MASK}", &text[next.clone()]),
    ))
}

/// `<shop.TimeoutException>`
fn is_class(value: &str) -> bool {
    let name = value
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'))
        .unwrap_or_default();
    (name.ends_with("Exception") || name.ends_with("Error")) && !name.contains([' ', '\n', ':'])
}

/// The value without what tells its type.
fn unlabelled(value: &str) -> &str {
    let value = value.trim_start();
    let value = value.strip_prefix("was ").unwrap_or(value);
    ["(string) ", "<string>: ", "|-\n", "String ", "string "]
        .iter()
        .find_map(|type_| value.strip_prefix(type_))
        .unwrap_or(value)
}

/// The end of a value that nothing opens: that of its line, or of the text
/// where it goes on. What stands below its label is indented, by so much.
fn end_of_open(value: &str, below: Option<usize>) -> usize {
    let mut lines = value.split_inclusive('\n');
    let first = lines.next().map_or(0, str::len);
    let follows = value[first..].lines().next().unwrap_or_default();
    // A place that stands as deep as the value is one of its lines.
    let is_within = !follows.trim_start().starts_with("at ")
        && below.is_some_and(|margin| indent(follows) >= margin);
    if follows.trim().is_empty() || !is_within && super::frames::place(follows).is_some() {
        return value[..first].trim_end().len();
    }
    let mut end = first;
    let margin = indent(follows);
    for line in lines {
        let ends = if below.is_some() {
            ends_block(line.trim_start()) && indent(line) < margin
        } else {
            ends_message(line)
        };
        if ends || line.trim() == "--" {
            break;
        }
        end += line.len();
    }
    end
}

/// The length of a label at the head of a line, and which value it announces.
pub(super) fn label(line: &str) -> Option<(usize, LabelledValue)> {
    label_of(line, true)
}

/// The same, of a line that may have a place in a test of Go before it or not.
fn label_of(line: &str, of_go: bool) -> Option<(usize, LabelledValue)> {
    let mut bare = line.trim_start();
    // Hurl draws a margin.
    bare = bare.strip_prefix("| ").map_or(bare, str::trim_start);
    bare = bare.strip_prefix("E  ").map_or(bare, str::trim_start);
    // Go and testify put it behind a place or a heading.
    if of_go {
        bare = go_place(bare).unwrap_or(bare).trim_start();
    }
    // Nearly every line is told by its first letter.
    let first = bare.as_bytes().first()?.to_ascii_lowercase();
    let lower = |word: &str| {
        let word = word.as_bytes();
        word.first() == Some(&first)
            && bare
                .as_bytes()
                .get(..word.len())
                .is_some_and(|head| head.eq_ignore_ascii_case(word))
    };
    let (word, value) = LABELS.iter().find(|(word, _)| lower(word))?;
    // `got "…"` and below it `want "…"`
    let quoted = bare[word.len()..].trim_start();
    if of_go
        && quoted.len() < bare[word.len()..].len()
        && let Some(quote @ ('"' | '`')) = quoted.chars().next()
        && closed_at(&quoted[1..], quote).is_some()
    {
        return Some((line.len() - quoted.len(), *value));
    }
    let colon = bare[word.len()..].find(':')?;
    let between = &bare[word.len()..word.len() + colon];
    let after = &bare[word.len() + colon + 1..];
    // `Button:` is no `but`, and `Leftover:` no `left`.
    let is_word = word.ends_with(' ') || !between.starts_with(char::is_alphanumeric);
    let is_label = is_word
        && between.len() < 40
        && !between.contains(['"', '\'', '`', '<', '>', '['])
        // Those compare nothing.
        && !between.contains("error")
        && !["No Exception to be thrown", "(thrown?"].iter().any(|none| after.contains(none))
        && (after.is_empty() || after.starts_with([' ', '\t']));
    let label = line.len() - after.trim_start().len();
    is_label.then_some((label, *value))
}

#[cfg(test)]
mod tests {
    use super::label;

    #[test]
    fn every_word_of_a_label_is_known() {
        for (word, _) in super::LABELS {
            let line = format!("{word}: a").replace(" :", " x:");
            assert!(label(&line).is_some(), "{line}");
        }
    }

    #[test]
    fn a_word_that_begins_like_a_label_is_none() {
        for line in ["Expected: a", "got:", "Expected text: a", "but was: a"] {
            assert!(label(line).is_some(), "{line}");
        }
        for line in ["Button: a", "Leftover: a", "Foundation: a", "Rights: a"] {
            assert!(label(line).is_none(), "{line}");
        }
    }
}
