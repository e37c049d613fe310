//! The order of what stands in braces and lists means nothing.

/// Braces within braces, that deep.
const DEPTH: usize = 6;

/// An open bracket.
struct OpenBracket {
    bracket: char,
    /// What parts its items.
    parted_by: char,
    /// Where in the text its items begin.
    items: Vec<usize>,
}

/// The text with the items of maps, sets and lists in order; of a statement
/// that compares, those of lists stay as they are.
pub(super) fn sorted(text: &str, compares: bool) -> String {
    let mut out = String::with_capacity(text.len());
    // RSpec's `match_array`, for which the order means nothing.
    let compares = compares && !text.contains("collection contained:");
    for (index, line) in text.split('\n').enumerate() {
        if index > 0 {
            out.push('\n');
        }
        let from = out.len();
        out.push_str(line);
        if !compares {
            sort_names(&mut out, from);
        }
    }
    match out.contains(['}', ']']) {
        true => sorted_brackets(&out, compares),
        false => out,
    }
}

fn sorted_brackets(text: &str, compares: bool) -> String {
    let mut out = String::with_capacity(text.len());
    let mut open: Vec<OpenBracket> = Vec::new();
    for c in text.chars() {
        match c {
            '{' | '[' | '(' if open.len() < DEPTH => {
                // Go writes `map[a:1 b:2]`.
                let of_go = c == '[' && out.ends_with("map");
                out.push(c);
                open.push(OpenBracket {
                    bracket: if of_go { 'm' } else { c },
                    parted_by: if of_go { ' ' } else { ',' },
                    items: vec![out.len()],
                });
            }
            '}' | ']' | ')' => {
                let is_opener = |open: &OpenBracket| match c {
                    '}' => open.bracket == '{',
                    ']' => matches!(open.bracket, '[' | 'm'),
                    _ => open.bracket == '(',
                };
                if let Some(at) = open.iter().rposition(is_opener) {
                    // Brackets inside that were never closed are text.
                    open.truncate(at + 1);
                    if let Some(closed) = open.pop()
                        && (matches!(closed.bracket, '{' | 'm')
                            || closed.bracket == '[' && !compares)
                    {
                        sort_items(&mut out, closed);
                    }
                }
                out.push(c);
            }
            _ => {
                out.push(c);
                if let Some(last) = open.last_mut()
                    && c == last.parted_by
                {
                    last.items.push(out.len());
                }
            }
        }
    }
    out
}

/// Sorts the items at the end of `out`, each but the last with what parts them.
fn sort_items(out: &mut String, mut list: OpenBracket) {
    let Some(first) = list.items.first().copied() else {
        return;
    };
    let spaces = out[first..].match_indices(' ');
    if list.bracket == '[' && list.items.len() == 1 && spaces.clone().count() > 1 {
        // Go parts the items of a slice with spaces.
        list.items.extend(spaces.map(|(at, _)| first + at + 1));
        list.parted_by = ' ';
    }
    let ends = list.items.iter().skip(1).map(|next| next - 1);
    let mut items: Vec<String> = list
        .items
        .iter()
        .zip(ends.chain([out.len()]))
        .filter_map(|(begin, end)| out.get(*begin..end))
        .map(|item| item.trim().to_owned())
        .collect();
    let is_set = !items.iter().any(|item| item.contains([':', '=']));
    // Which items of a set are left of a text that was cut depends on their
    // order.
    if is_set && items.iter().any(|item| item.contains("...")) {
        items = vec!["...".to_owned()];
    }
    items.sort_unstable();
    out.truncate(first);
    let joint = if list.parted_by == ' ' { " " } else { ", " };
    out.push_str(&items.join(joint));
}

/// Sorts names with commas between them, as in `unknown columns b, a, c`, in
/// the line that begins there.
fn sort_names(out: &mut String, line: usize) {
    /// Fewer may be words of a sentence, unless a colon stands before them.
    const NAMES: usize = 3;
    if !out[line..].contains(", ") {
        return;
    }
    let is_name = |c: char| c.is_alphanumeric() || "_-.$'\"`<>".contains(c);
    let name_len = |text: &str| {
        let len = text.find(|c| !is_name(c)).unwrap_or(text.len());
        // A full stop ends the sentence.
        text[..len].trim_end_matches('.').len()
    };
    let text = out.split_off(line);
    let mut rest = text.as_str();
    while let Some(first) = rest.chars().next() {
        let mut names = Vec::new();
        let mut at = 0;
        loop {
            let len = name_len(&rest[at..]);
            if len == 0 {
                break;
            }
            names.push(&rest[at..at + len]);
            at += len;
            let Some(next) = rest[at..].strip_prefix(", ") else {
                break;
            };
            if name_len(next) == 0 {
                break;
            }
            at += ", ".len();
        }
        let opened = |c: char| out[line..].contains(c);
        let of_label = out.ends_with(": ") && !opened('{') && !opened('[') && !opened('(');
        if names.len() >= NAMES || names.len() > 1 && of_label {
            names.sort_unstable();
        }
        out.push_str(&names.join(", "));
        if names.is_empty() {
            out.push(first);
            at = first.len_utf8();
        }
        rest = &rest[at..];
    }
}
