//! A bracket that is never closed because its end stands in a comment.

use super::node::Trouble;

/// The comment that swallows the end of the bracket that opens at `open`, explained.
pub(super) fn closed_in_comment(text: &str, open: usize) -> Option<Trouble> {
    let (hash, value) = comment_within(text, open)?;
    let end = text[hash..].find('\n').map_or(text.len(), |at| hash + at);
    let comment = &text[hash..end];
    let close = comment.find(['}', ']'])?;
    let bracket = &comment[close..=close];
    let written = comment.find([',', '}', ']']).unwrap_or(close);
    // With what stands before it, as far as it belongs to the same value.
    let whole = text[value..hash + written].trim();
    let trouble = Trouble::new(
        hash..hash + comment.trim_end().len(),
        format!(
            "a `#` behind a space begins a comment, so that the `{bracket}` in it closes nothing"
        ),
    );
    let is_text = !whole.contains(['"', '\\', '\'', '[', '{']) && whole.len() > 1;
    Some(trouble.hint(match is_text {
        true => format!("where it belongs to the text, write \"{whole}\""),
        false => format!("put the text in quotes, or write the `{bracket}` before the `#`"),
    }))
}

/// Where the first comment begins before the bracket is closed, and the value in which
/// it stands.
fn comment_within(text: &str, open: usize) -> Option<(usize, usize)> {
    let (mut depth, mut quote, mut before, mut value) = (0_usize, None, ' ', open);
    for (at, c) in text[open..].char_indices() {
        let at = open + at;
        match (quote, c) {
            (Some('"'), '"') if before == '\\' => {}
            (Some(q), c) if c == q => quote = None,
            (Some(_), _) => {}
            (None, '"' | '\'') if matches!(before, ' ' | '\n' | '[' | '{' | ',' | ':') => {
                quote = Some(c);
            }
            (None, '#') if matches!(before, ' ' | '\n' | '\t') => return Some((at, value)),
            (None, '[' | '{') => {
                depth += 1;
                value = at + 1;
            }
            (None, ']' | '}') => {
                depth = depth.saturating_sub(1);
                if depth == 0 {
                    return None;
                }
            }
            (None, ',') => value = at + 1,
            (None, ' ') if before == ':' => value = at,
            (None, _) => {}
        }
        before = c;
    }
    None
}
