//! JSONPaths as they are written: how deep they nest, and whether two say the same, as
//! far as their spelling tells.

use serde_json_path::JsonPath;

/// Brackets within brackets of a JSONPath: the parser takes some stack for each.
pub(crate) const MAX_NESTING: usize = 64;

/// How deep the brackets of a text go, those in its strings included.
pub(crate) fn nesting(text: &str) -> usize {
    let (mut depth, mut deepest) = (0_usize, 0);
    for byte in text.bytes() {
        match byte {
            b'(' | b'[' => depth += 1,
            b')' | b']' => depth = depth.saturating_sub(1),
            _ => {}
        }
        deepest = deepest.max(depth);
    }
    deepest
}

/// Whether both are one path, however its names are written.
pub(crate) fn is_same_path(one: &str, other: &str) -> bool {
    match (spelled(one), spelled(other)) {
        (Some(one), Some(other)) => one == other,
        _ => false,
    }
}

/// What of a path stands behind its first name, in brackets, if that is its first.
pub(crate) fn below(path: &str, first: &str) -> Option<String> {
    let spelled = spelled(path)?;
    let rest = spelled.strip_prefix(&format!("$[\"{first}\"]"))?;
    Some(rest.to_owned())
}

/// With each name in brackets and one kind of quotes; nothing where it is no path.
fn spelled(path: &str) -> Option<String> {
    // What is refused for its nesting would be read by recursion.
    if nesting(path) > MAX_NESTING {
        return None;
    }
    let path = JsonPath::parse(path.trim()).ok()?.to_string();
    let mut spelled = String::with_capacity(path.len());
    let mut rest = path.as_str();
    let mut quote = None;
    while let Some(next) = rest.chars().next() {
        let mut taken = next.len_utf8();
        match (quote, next) {
            (Some(_), '\\') => {
                taken += rest[1..].chars().next().map_or(0, char::len_utf8);
                spelled.push_str(&rest[..taken]);
            }
            (Some(open), _) if open == next => {
                quote = None;
                spelled.push('"');
            }
            (None, '"' | '\'') => {
                quote = Some(next);
                spelled.push('"');
            }
            (None, '.') => {
                let is_in_name = |c: char| c.is_alphanumeric() || c == '_' || !c.is_ascii();
                let name = rest[1..]
                    .split(|c| !is_in_name(c))
                    .next()
                    .unwrap_or_default();
                if name.is_empty() {
                    spelled.push('.');
                } else {
                    taken += name.len();
                    spelled.push_str(&format!("[\"{name}\"]"));
                }
            }
            (None, ' ') => {}
            (_, other) => spelled.push(other),
        }
        rest = &rest[taken..];
    }
    Some(spelled)
}

#[cfg(test)]
mod tests {
    use super::{below, is_same_path};

    #[test]
    fn what_stands_below_a_name_is_told_however_that_is_spelled() {
        for (path, below_it) in [
            ("$.error", Some("")),
            ("$['error'].code", Some("[\"code\"]")),
            (" $ . error[0]", None),
            ("$.errors.code", None),
            ("$..error", None),
            ("$.a.error", None),
        ] {
            assert_eq!(below(path, "error").as_deref(), below_it, "{path}");
        }
    }

    #[test]
    fn a_path_is_itself_however_it_is_spelled() {
        for (one, other, same) in [
            ("$.a", "$.a", true),
            ("$.a.b[0]", "$['a'][\"b\"][0]", true),
            ("$.a", " $ [ 'a' ] ", true),
            ("$", "$", true),
            ("$.a", "$.b", false),
            ("$.a", "$..a", false),
            ("$['a.b']", "$.a.b", false),
            ("$[0]", "$['0']", false),
            ("$.a", "no path", false),
        ] {
            assert_eq!(is_same_path(one, other), same, "{one} {other}");
        }
    }
}
