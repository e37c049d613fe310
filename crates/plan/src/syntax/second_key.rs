//! Several keys in one line → a line for each.

use super::line::{Line, lines_before};
use super::node::Trouble;
use crate::grammar::{EXPECT, Mapping, SERVER, SERVICE, STEP};

/// Keys whose value is free text, in which the word of another key may stand.
const FREE: &[&str] = &["name", "description", "reason"];

/// `tool: a args: { x: 1 }`: a key behind the value of another one; its colon is at `at`.
pub(super) fn second_key(line: Line<'_>, at: usize) -> Option<Trouble> {
    let (start, item) = line.item();
    let colon = at.checked_sub(line.start + start)?;
    let (before, behind) = item.split_at_checked(colon)?;
    let (first, value) = before.split_once(": ")?;
    let (value, second) = value.split_at_checked(value.rfind(' ')? + 1)?;
    let value = value.trim().trim_end_matches(',');
    let has_both =
        |mapping: &&Mapping| mapping.key(first).is_some() && mapping.key(second).is_some();
    let mapping = [&STEP, &SERVER, &SERVICE].into_iter().find(has_both)?;
    if first == second || value.is_empty() || !behind.starts_with(':') || FREE.contains(&first) {
        return None;
    }
    let from = line.start + start + before.len() - second.len();
    let message = format!("`{second}` is a key of its own, and stands in the value of `{first}`");
    let rest = item.get(before.len() - second.len()..)?;
    let others: Vec<String> = keys_of(mapping, rest)
        .into_iter()
        .map(|key| format!("`{key}`"))
        .collect();
    let each = if others.len() > 1 { "each " } else { "" };
    let hint = format!(
        "write `{first}: {value}`, and {} {each}on a line of its own below it, where `{first}` \
         begins",
        others.join(" and ")
    );
    Some(Trouble::new(from..from + second.len(), message).hint(hint))
}

/// `m: command: x` below `servers`, and `expect: is_error: true`: a map behind its name.
pub(super) fn map_in_line(text: &str, line: Line<'_>, at: usize) -> Option<Trouble> {
    let (start, item) = line.item();
    let (name, map) = item.split_once(": ")?;
    let from = start + item.len() - map.trim_start().len();
    let map = map.trim_start().trim_end_matches(',');
    let key = key_at(map, 0)?;
    let above = || {
        let mut before = lines_before(text, line);
        before.find(|before| before.depth() < line.depth())
    };
    let is_below = |word: &str| above().is_some_and(|above| above.item().1 == word);
    let is_map = (name == "expect" && EXPECT.key(key).is_some())
        || (SERVER.key(key).is_some() && is_below("servers:"))
        || (SERVICE.key(key).is_some() && is_below("services:"));
    let count = |c: char| map.matches(c).count();
    let is_whole = count('{') == count('}') && count('[') == count(']');
    if !is_map || !is_whole || map.contains("${") || map.contains('#') {
        return None;
    }
    // The second colon is what the parser stopped at, and each further one is behind a comma.
    let is_here = line.start + from + key.len() == at;
    let are_single = keys_of(&SERVER, map).iter().all(|key| {
        let value = key.split_once(": ").map_or("", |(_, value)| value);
        let is_operand = value.starts_with(['{', '[']) || matches!(value, "true" | "false");
        let is_one = value.starts_with(['"', '\'']) || !value.contains([':', '{', '[', ',']);
        // `text: hi` is no expectation.
        is_operand || (is_one && name != "expect")
    });
    let message = format!("`{key}` is a key of its own, and stands in the value of `{name}`");
    let span = line.start + from..line.start + from + key.len();
    let hint = format!("write `{name}: {{ {map} }}`");
    (is_here && are_single).then(|| Trouble::new(span, message).hint(hint))
}

/// The keys of a line with their values, which begins with one: cut at commas outside of
/// brackets, and before words that are keys of the mapping.
fn keys_of<'l>(mapping: &Mapping, line: &'l str) -> Vec<&'l str> {
    let mut keys: Vec<&str> = Vec::new();
    let mut from = 0;
    let mut depth = 0_usize;
    let mut quote = None;
    let mut before = ' ';
    let mut said = ' ';
    for (at, c) in line.char_indices() {
        match (quote, c) {
            (Some(open), _) => quote = quote.filter(|_| c != open),
            (None, '"' | '\'') if matches!(before, ' ' | '[' | '{' | ',') => quote = Some(c),
            (None, '[' | '{') => depth += 1,
            (None, ']' | '}') => depth = depth.saturating_sub(1),
            // A comment.
            (None, '#') if before == ' ' => break,
            (None, _) => {
                let is_begin = at > 0 && depth == 0 && before == ' ';
                let word = is_begin.then(|| key_at(line, at)).flatten();
                if word.is_some_and(|word| said == ',' || mapping.key(word).is_some()) {
                    keys.extend(line.get(from..at));
                    from = at;
                }
            }
        }
        before = c;
        if c != ' ' {
            said = c;
        }
    }
    keys.extend(line.get(from..));
    let bare = keys.into_iter().map(|key| key.trim().trim_end_matches(','));
    bare.collect()
}

/// The word before a colon that begins at this byte.
fn key_at(line: &str, at: usize) -> Option<&str> {
    let (word, behind) = line.get(at..)?.split_once(':')?;
    let in_word = |c: char| c.is_ascii_alphanumeric() || matches!(c, '_' | '-');
    let is_key = !word.is_empty() && word.chars().all(in_word);
    (is_key && (behind.is_empty() || behind.starts_with(' '))).then_some(word)
}
