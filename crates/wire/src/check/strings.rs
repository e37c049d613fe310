//! What makes a value or a string one of a kind. Lenient where the specification
//! leaves room: what is refused here is refused by all.

use jelly_base::mcp::meta;
use jelly_base::text::roughly;
use serde_json::Value;

/// A kind of value without parts.
#[derive(Debug)]
pub(super) struct Scalar {
    /// As the data calls it.
    word: &'static str,
    /// As a flaw calls it.
    pub(super) due: &'static str,
    pub(super) fits: fn(&Value) -> bool,
}

/// A form that strings may have.
#[derive(Debug)]
pub(super) struct Form {
    word: &'static str,
    pub(super) due: &'static str,
    pub(super) fits: fn(&str) -> bool,
}

const fn scalar(word: &'static str, due: &'static str, fits: fn(&Value) -> bool) -> Scalar {
    Scalar { word, due, fits }
}

const fn form(word: &'static str, due: &'static str, fits: fn(&str) -> bool) -> Form {
    Form { word, due, fits }
}

static SCALARS: [Scalar; 10] = [
    scalar("string", "a string", Value::is_string),
    scalar("number", "a number", Value::is_number),
    scalar("integer", "an integer", is_whole),
    scalar("integer-or-null", "an integer or null", is_whole_or_null),
    scalar("count", "an integer of at least 0", is_count),
    scalar("unit", "a number from 0 to 1", is_unit),
    scalar("boolean", "a boolean", Value::is_boolean),
    scalar("object", "an object", Value::is_object),
    scalar("schema", "an object", Value::is_object),
    scalar("id", "a string or an integer", is_id),
];

static FORMS: [Form; 3] = [
    form("uri", "a URI", is_uri),
    form("uri-template", "a URI template", is_uri_template),
    form("base64", "Base64", is_base64),
];

impl Scalar {
    pub(super) fn find(word: &str) -> Option<&'static Self> {
        SCALARS.iter().find(|scalar| scalar.word == word)
    }
}

impl Form {
    pub(super) fn find(word: &str) -> Option<&'static Self> {
        FORMS.iter().find(|form| form.word == word)
    }
}

impl PartialEq for Scalar {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

impl Eq for Scalar {}

impl PartialEq for Form {
    fn eq(&self, other: &Self) -> bool {
        self.word == other.word
    }
}

impl Eq for Form {}

/// Whether a number is whole; `1.0` is.
fn is_whole(value: &Value) -> bool {
    value.as_number().is_some_and(jelly_base::text::is_whole)
}

fn is_whole_or_null(value: &Value) -> bool {
    is_whole(value) || value.is_null()
}

fn is_count(value: &Value) -> bool {
    is_whole(value) && roughly(value).is_some_and(|n| n >= 0.0)
}

fn is_unit(value: &Value) -> bool {
    value.as_f64().is_some_and(|n| (0.0..=1.0).contains(&n))
}

fn is_id(value: &Value) -> bool {
    value.is_string() || is_whole(value)
}

/// Whether it is Base64 of RFC 4648, section 4; white space between the
/// characters is let pass, as MIME has it.
pub(super) fn is_base64(text: &str) -> bool {
    let mut characters = 0_usize;
    let mut padding = 0_usize;
    for byte in text.bytes() {
        match byte {
            b'A'..=b'Z' | b'a'..=b'z' | b'0'..=b'9' | b'+' | b'/' if padding == 0 => {}
            b'=' if padding < 2 => padding += 1,
            b' ' | b'\t' | b'\r' | b'\n' => continue,
            _ => return false,
        }
        characters += 1;
    }
    characters.is_multiple_of(4)
}

/// Whether it has the form of a URI: a scheme, and nothing that RFC 3986 lets
/// no URI hold. Letters beyond ASCII are let pass, as in an IRI.
pub(super) fn is_uri(text: &str) -> bool {
    let Some((scheme, _)) = text.split_once(':') else {
        return false;
    };
    let mut scheme = scheme.bytes();
    scheme.next().is_some_and(|byte| byte.is_ascii_alphabetic())
        && scheme.all(|byte| byte.is_ascii_alphanumeric() || b"+-.".contains(&byte))
        && !text.contains(|c: char| c.is_control() || c.is_whitespace())
}

/// Whether the braces of a URI template (RFC 6570) pair up.
pub(super) fn is_uri_template(text: &str) -> bool {
    let mut open = false;
    for byte in text.bytes() {
        match (byte, open) {
            (b'{', false) => open = true,
            (b'}', true) => open = false,
            (b'{' | b'}', _) => return false,
            _ => {}
        }
    }
    !open && !text.is_empty()
}

/// What is wrong with a key of `_meta`: an optional prefix of labels with dots
/// between them and a slash behind them, then a name.
pub(super) fn meta_key_flaw(key: &str) -> Option<&'static str> {
    let (prefix, name) = match key.split_once('/') {
        Some((prefix, name)) => (Some(prefix), name),
        None => (None, key),
    };
    if prefix.is_some_and(|prefix| !prefix.split('.').all(is_label)) {
        return Some("whose prefix is not made of labels that begin with a letter");
    }
    let inner = |byte: u8| byte.is_ascii_alphanumeric() || b"-_.".contains(&byte);
    let ends = [name.bytes().next(), name.bytes().next_back()];
    let sound = ends
        .into_iter()
        .flatten()
        .all(|byte| byte.is_ascii_alphanumeric())
        && name.bytes().all(inner);
    (!sound).then_some("whose name does not begin and end with a letter or digit")
}

fn is_label(label: &str) -> bool {
    let first = label.bytes().next();
    let last = label.bytes().next_back();
    first.is_some_and(|byte| byte.is_ascii_alphabetic())
        && last.is_some_and(|byte| byte.is_ascii_alphanumeric())
        && label
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || byte == b'-')
}

/// Whether a key of `_meta` stands below a prefix that is the specification's
/// own (since 2025-11-25: its second label says so). The one that it uses is
/// let pass: official extensions have keys there that nobody here knows.
pub(super) fn is_reserved(key: &str) -> bool {
    key.split_once('/').is_some_and(|(prefix, _)| {
        prefix != meta::PREFIX
            && matches!(
                prefix.split('.').nth(1),
                Some("modelcontextprotocol" | "mcp")
            )
    })
}

/// What a tool should be called (since 2025-11-25).
pub(super) fn is_tool_name(name: &str) -> bool {
    (1..=128).contains(&name.len())
        && name
            .bytes()
            .all(|byte| byte.is_ascii_alphanumeric() || b"_-.".contains(&byte))
}

#[cfg(test)]
mod tests {
    use super::{is_base64, is_reserved, is_tool_name, is_uri, is_uri_template, meta_key_flaw};

    #[test]
    fn base64_has_its_alphabet_and_its_padding() {
        for good in ["", "Zg==", "Zm8=", "Zm9v", "Zm9v\nZm9v\r\n", "+/+/"] {
            assert!(is_base64(good), "{good:?}");
        }
        for bad in [
            "Zg",
            "Zg=",
            "Z===",
            "Zm9-",
            "Zm_v",
            "=Zm9",
            "Zg==Zg==",
            "no base64!",
            "é",
        ] {
            assert!(!is_base64(bad), "{bad:?}");
        }
    }

    #[test]
    fn a_uri_has_a_scheme() {
        for good in [
            "file:///a",
            "https://x/?q#f",
            "a+b.c-d:x",
            "urn:x",
            "demo:",
            "x:é",
        ] {
            assert!(is_uri(good), "{good}");
        }
        for bad in [
            "",
            "/etc/passwd",
            "no scheme:x",
            "1a:x",
            ":x",
            "file:///a b",
            "x:\n",
        ] {
            assert!(!is_uri(bad), "{bad:?}");
        }
    }

    #[test]
    fn braces_of_a_template_pair_up() {
        for good in ["file:///{path}", "x", "{+a}{?b,c}"] {
            assert!(is_uri_template(good), "{good}");
        }
        for bad in ["", "{a", "a}", "{{a}}"] {
            assert!(!is_uri_template(bad), "{bad}");
        }
    }

    #[test]
    fn keys_of_meta_have_a_form() {
        for good in [
            "a",
            "",
            "com.example/a_b-c.d",
            "x/",
            "progressToken",
            "a-b.c1/9",
        ] {
            assert_eq!(meta_key_flaw(good), None, "{good}");
        }
        for bad in [
            "-a", "a-", "a b", "1x/a", "a-/b", "/a", "a../b", "a/b/c", "ä",
        ] {
            assert!(meta_key_flaw(bad).is_some(), "{bad}");
        }
    }

    #[test]
    fn the_second_label_makes_a_prefix_reserved() {
        for reserved in [
            "org.modelcontextprotocol.api/x",
            "dev.mcp/x",
            "com.mcp.tools/x",
        ] {
            assert!(is_reserved(reserved), "{reserved}");
        }
        for free in [
            "com.example.mcp/x",
            "mcp/x",
            "mcp",
            "x.y/mcp",
            "io.modelcontextprotocol/x",
        ] {
            assert!(!is_reserved(free), "{free}");
        }
    }

    #[test]
    fn tools_are_named_in_few_characters() {
        assert!(is_tool_name("admin.tools-2_list"));
        let long = "a".repeat(129);
        for bad in ["", "a b", "a/b", "ä", long.as_str()] {
            assert!(!is_tool_name(bad), "{bad}");
        }
    }
}
