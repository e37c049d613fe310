//! Texts that a person was to replace.

/// Whether a text stands for one that a person was to write: `<YOUR_KEY>`,
/// `your-api-key-here`, `REPLACE_ME`.
#[must_use]
pub fn is_placeholder(text: &str) -> bool {
    let text = text.trim();
    let bracketed = text
        .strip_prefix('<')
        .and_then(|rest| rest.strip_suffix('>'))
        .is_some_and(|inside| {
            !inside.is_empty()
                && inside
                    .chars()
                    .all(|c| c.is_alphanumeric() || "_- .".contains(c))
        });
    let folded = text.to_ascii_lowercase().replace(['-', ' '], "_");
    let said = matches!(
        &*folded,
        "replace_me" | "changeme" | "change_me" | "todo" | "xxx" | "xxxx" | "..." | "…"
    ) || (folded.starts_with("your_")
        && ["key", "token", "secret", "password", "here", "id", "url"]
            .iter()
            .any(|end| folded.ends_with(end)))
        || (folded.starts_with("insert_your_") || folded.starts_with("replace_with_"));
    bracketed || said || has_bracketed_blank(text)
}

/// `--key=<YOUR_KEY>`, `Bearer <token>`.
fn has_bracketed_blank(text: &str) -> bool {
    text.split_once('<').is_some_and(|(before, rest)| {
        (before.ends_with(['=', ' ', ':'])) && rest.ends_with('>') && {
            let inside = &rest[..rest.len() - 1];
            !inside.is_empty()
                && inside
                    .chars()
                    .all(|c| c.is_alphanumeric() || "_-".contains(c))
        }
    })
}

#[cfg(test)]
mod tests {
    use super::is_placeholder;

    #[test]
    fn what_was_to_be_replaced_is_known() {
        for text in [
            "<YOUR_KEY>",
            "<your api key>",
            "YOUR_API_KEY_HERE",
            "your-token",
            "replace_with_real",
            "changeme",
            "--key=<KEY>",
            "Bearer <token>",
        ] {
            assert!(is_placeholder(text), "{text}");
        }
        for text in [
            "abc",
            "a<b>c",
            "<div>x</div>",
            "yours",
            "youth",
            "sk-123",
            "",
        ] {
            assert!(!is_placeholder(text), "{text}");
        }
    }
}
