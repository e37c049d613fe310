//! What a person types to see what a server says.

use crate::text::redact::{Redactor, holds_secret, show_argv};
use crate::text::shell_word as word;
use std::path::Path;

/// A client's first request, of the revision that all servers know.
const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"by-hand","version":"1"}}}"#;

/// A line for a POSIX shell that starts the server in its folder and sends it
/// `initialize`, then leaves its stdin open for a while. Secrets are named as
/// variables to be set.
#[must_use]
pub fn by_hand(
    argv: &[String],
    env: &[(String, String)],
    cwd: &Path,
    redactor: &Redactor,
) -> String {
    let assignments = env.iter().map(|(name, value)| {
        let shown = redactor.redact(value);
        if holds_secret(name, value) || shown != value.as_str() {
            format!("{name}=\"${name}\"")
        } else {
            format!("{name}={}", word(value))
        }
    });
    let redacted: Vec<String> = argv
        .iter()
        .map(|arg| redactor.redact(arg).into_owned())
        .collect();
    let shown = show_argv(&redacted);
    let words: Vec<String> = assignments
        .chain(shown.iter().map(|arg| word(arg)))
        .collect();
    format!(
        "cd {} && {{ printf '%s\\n' '{INITIALIZE}'; sleep 20; }} | {}",
        word(&redactor.redact(&cwd.display().to_string())),
        words.join(" ")
    )
}

#[cfg(test)]
mod tests {
    use super::by_hand;
    use crate::text::redact::Redactor;
    use std::path::Path;

    #[test]
    fn the_line_can_be_pasted_and_holds_no_secret() {
        let redactor = Redactor::new([("KEY", "swordfish")]);
        let argv = ["srv", "it's", "--token", "abc", "swordfish"].map(str::to_owned);
        let env = [("API_KEY", "x"), ("B", "a b"), ("C", "swordfish")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let line = by_hand(&argv, &env, Path::new("/a b"), &redactor);
        assert!(line.starts_with("cd '/a b' && { printf "), "{line}");
        let end = r#"| API_KEY="$API_KEY" B='a b' C="$C" srv 'it'\''s' --token '[secret]' '[secret KEY]'"#;
        assert!(line.ends_with(end), "{line}");
    }
}
