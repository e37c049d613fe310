//! What to write instead of what was found.

use crate::syntax::{Data, Node, Style};

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
