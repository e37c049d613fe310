//! What a person types to see what a server says.

use jelly_base::text::redact::{MARK, Redactor, holds_secret, show_argv};
use jelly_base::text::{shell_word as word, start_by_hand};
use serde_json::json;
use std::borrow::Cow;
use std::path::Path;

/// A client's first request, of the revision that all servers know.
pub(super) const INITIALIZE: &str = r#"{"jsonrpc":"2.0","id":1,"method":"initialize","params":{"protocolVersion":"2025-06-18","capabilities":{},"clientInfo":{"name":"by-hand","version":"1"}}}"#;

const INITIALIZED: &str = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;

/// A line for a POSIX shell that starts the server in its folder and sends it
/// `initialize`, and the request of this method after it, then leaves its stdin
/// open for a while. Secrets are named as variables to be set.
#[must_use]
pub fn by_hand(
    argv: &[String],
    env: &[(String, String)],
    cwd: &Path,
    method: Option<&str>,
    redactor: &Redactor,
) -> String {
    let shown: Vec<(&str, Cow<'_, str>)> = env
        .iter()
        .map(|(name, value)| {
            let shown = redactor.redact(value);
            let is_secret = holds_secret(name, value) || shown != value.as_str();
            let shown = if is_secret {
                Cow::Borrowed(MARK)
            } else {
                shown
            };
            (name.as_str(), shown)
        })
        .collect();
    let variables: Vec<(&str, &str)> = shown.iter().map(|(name, v)| (*name, &**v)).collect();
    let redacted: Vec<String> = argv
        .iter()
        .map(|arg| redactor.redact(arg).into_owned())
        .collect();
    let command = start_by_hand(None, &variables, &show_argv(&redacted));
    let mut messages = format!("'{INITIALIZE}'");
    if let Some(method) = method {
        let request = json!({ "jsonrpc": "2.0", "id": 2, "method": method });
        messages = format!("{messages} '{INITIALIZED}' {}", word(&request.to_string()));
    }
    format!(
        "cd {} && {{ printf '%s\\n' {messages}; sleep 20; }} | {}",
        word(&redactor.redact(&cwd.display().to_string())),
        command
    )
}

#[cfg(test)]
mod tests {
    use super::by_hand;
    use jelly_base::text::redact::Redactor;
    use std::path::Path;

    #[test]
    fn the_line_can_be_pasted_and_holds_no_secret() {
        let redactor = Redactor::new([("KEY", "swordfish")]);
        let argv = ["srv", "it's", "--token", "abc", "swordfish"].map(str::to_owned);
        let env = [("API_KEY", "x"), ("B", "a b"), ("C", "swordfish")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let line = by_hand(&argv, &env, Path::new("/a b"), None, &redactor);
        assert!(line.starts_with("cd '/a b' && { printf "), "{line}");
        let end = r#"| API_KEY="$API_KEY" B='a b' C="$C" srv 'it'\''s' --token '[secret]' "$KEY""#;
        assert!(line.ends_with(end), "{line}");
    }

    #[test]
    fn a_name_that_is_none_is_no_word_of_a_shell() {
        let redactor = Redactor::none();
        let env = [("X; touch y #_TOKEN", "v"), ("my-var", "x y")]
            .map(|(name, value)| (name.to_owned(), value.to_owned()));
        let argv = ["srv".to_owned()];
        let line = by_hand(&argv, &env, Path::new("/"), Some("tools/list"), &redactor);
        let end = "| env 'X; touch y #_TOKEN=<value>' 'my-var=x y' srv";
        assert!(line.ends_with(end), "{line}");
        let sent = r#"initialized"}' '{"jsonrpc":"2.0","id":2,"method":"tools/list"}'; sleep"#;
        assert!(line.contains(sent), "{line}");
    }
}
