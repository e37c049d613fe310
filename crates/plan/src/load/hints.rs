//! What to write instead of what was found.

/// The items of a list in place of the text that was `written`: of arguments, a command
/// line of several words is as many, each in quotes where YAML needs them.
pub(super) fn as_list(what: &str, written: String) -> String {
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
        ] {
            assert_eq!(as_list("arguments", written.to_owned()), list);
        }
        assert_eq!(as_list("names of tools", "a b".to_owned()), "a b");
    }
}
