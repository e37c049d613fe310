//! The forms in which a secret travels.

use serde_json::Value;

/// Encoded forms of shorter secrets would match by chance.
const MIN_ENCODED: usize = 4;
/// Lines of a secret with several lines (a PEM key) are secrets themselves
/// from this length on.
pub(super) const MIN_LINE: usize = 8;

/// All forms in which `value` may travel.
pub(super) fn forms_of(value: &str) -> Vec<Vec<u8>> {
    let mut forms: Vec<String> = Vec::new();
    if value.is_empty() {
        return Vec::new();
    }
    let mut parts = vec![value];
    let trimmed = value.trim();
    if trimmed != value && !trimmed.is_empty() {
        parts.push(trimmed);
    }
    parts.extend(
        value
            .lines()
            .map(str::trim)
            .filter(|line| line.len() >= MIN_LINE && *line != value),
    );
    for part in parts {
        forms.push(part.to_owned());
        if part.len() < MIN_ENCODED {
            continue;
        }
        let json = json_escaped(part);
        let ascii = json_ascii(part);
        for form in [json, ascii] {
            forms.push(form.replace('/', "\\/"));
            forms.push(json_escaped(&form));
            forms.push(form);
        }
        for keep in ["-_.~", "-_.!~*'()", "-_.*", "-_.~/"] {
            let upper = url_encoded(part, keep);
            for form in [lower_escapes(&upper), upper] {
                forms.push(form.replace("%20", "+"));
                forms.push(form);
            }
        }
        forms.push(html_escaped(part));
        for quote in ['\'', '"', '`'] {
            forms.push(quoted_within(part, quote));
        }
        let hex: String = part.bytes().map(|b| format!("{b:02x}")).collect();
        forms.push(hex.to_ascii_uppercase());
        forms.push(hex);
        for alignment in 0..3 {
            let base64 = base64_within(part.as_bytes(), alignment);
            if base64.len() >= MIN_ENCODED {
                forms.push(base64.replace('+', "-").replace('/', "_"));
                // JSON may escape the slash.
                forms.push(base64.replace('/', "\\/"));
                forms.push(base64);
            }
        }
    }
    forms.into_iter().map(String::into_bytes).collect()
}

/// As Python, JavaScript, Ruby and others show a text within these quotes.
fn quoted_within(text: &str, quote: char) -> String {
    let mut out = String::with_capacity(text.len());
    for c in text.chars() {
        match c {
            '\\' => out.push_str("\\\\"),
            '\n' => out.push_str("\\n"),
            '\r' => out.push_str("\\r"),
            '\t' => out.push_str("\\t"),
            c if c == quote => {
                out.push('\\');
                out.push(c);
            }
            c => out.push(c),
        }
    }
    out
}

fn json_escaped(text: &str) -> String {
    let quoted = Value::from(text).to_string();
    quoted[1..quoted.len() - 1].to_owned()
}

/// As Python writes JSON: everything beyond ASCII as `\uXXXX`.
fn json_ascii(text: &str) -> String {
    let mut out = String::new();
    for c in json_escaped(text).chars() {
        if c.is_ascii() {
            out.push(c);
        } else {
            for unit in c.encode_utf16(&mut [0; 2]) {
                out.push_str(&format!("\\u{unit:04x}"));
            }
        }
    }
    out
}

fn url_encoded(text: &str, keep: &str) -> String {
    let mut out = String::new();
    for byte in text.bytes() {
        if byte.is_ascii_alphanumeric() || keep.as_bytes().contains(&byte) {
            out.push(char::from(byte));
        } else {
            out.push_str(&format!("%{byte:02X}"));
        }
    }
    out
}

/// The same with lower-case hexadecimal escapes.
fn lower_escapes(encoded: &str) -> String {
    let mut out = String::new();
    let mut in_escape = 0;
    for c in encoded.chars() {
        if c == '%' {
            in_escape = 2;
            out.push(c);
        } else if in_escape > 0 {
            in_escape -= 1;
            out.push(c.to_ascii_lowercase());
        } else {
            out.push(c);
        }
    }
    out
}

fn html_escaped(text: &str) -> String {
    text.replace('&', "&amp;")
        .replace('<', "&lt;")
        .replace('>', "&gt;")
        .replace('"', "&quot;")
        .replace('\'', "&#39;")
}

/// The characters of a Base64 text that are decided by `bytes` alone, when
/// they begin `alignment` bytes after a group of three.
pub(super) fn base64_within(bytes: &[u8], alignment: usize) -> String {
    const ALPHABET: &[u8; 64] = b"ABCDEFGHIJKLMNOPQRSTUVWXYZabcdefghijklmnopqrstuvwxyz0123456789+/";
    let bit = |n: usize| (bytes[n / 8] >> (7 - n % 8)) & 1;
    let first = (alignment * 8).div_ceil(6) * 6 - alignment * 8;
    (first..)
        .step_by(6)
        .take_while(|start| start + 6 <= bytes.len() * 8)
        .map(|start| {
            let index = (start..start + 6).fold(0u8, |index, n| index << 1 | bit(n));
            char::from(ALPHABET[usize::from(index)])
        })
        .collect()
}
