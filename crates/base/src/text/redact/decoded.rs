//! A text without the breaks of lines and quotes that writers put into its
//! middle, and what it holds as numbers or in Base64.
//!
//! A token is wrapped by what prints it in 80 columns, glued together of quoted
//! parts, dumped as bytes, or encoded twice. Such readings bring together what may have stood apart, so only
//! long forms are looked for in them. Main function: [`loose_views`].

use super::views::{View, ViewKind};

/// How often Base64 is undone, and in each what is escaped.
const ROUNDS: usize = 3;
/// Bytes of the longest break that is taken out: an indent, the frame of a box.
const MAX_BREAK: usize = 256;
/// Characters of Base64, and bytes written as numbers, that are decoded; what is
/// shorter holds no form that is looked for.
const MIN_RUN: usize = 8;

/// The loose readings of a text, of which `last` is the last strict one. `first`
/// is that with its escapes, if it has any: a shell knows no other than that the
/// next character is meant.
pub(super) fn loose_views(first: Option<&View>, last: &View) -> Vec<View> {
    let of_first = first.and_then(|view| joined(view, SoftBreak::Sign));
    // A secret may end its line with the sign that else says that it goes on.
    let has_sign = last.bytes.windows(2).any(|pair| pair == b"=\n");
    let of_secret = has_sign.then(|| joined(last, SoftBreak::Text)).flatten();
    let joined = joined(last, SoftBreak::Sign);
    let mut views = Vec::new();
    for read in [Some(last), joined.as_ref()].into_iter().flatten() {
        let lists = [numbers(read, &hex_token), numbers(read, &decimal_token)];
        // Texts of two bytes a character have every second one empty.
        views.extend(
            lists
                .into_iter()
                .flatten()
                .map(|view| view.without_controls()),
        );
        let mut encoded = base64(read);
        for _ in 0..ROUNDS {
            let Some(decoded) = encoded.map(|view| view.without_controls()) else {
                break;
            };
            // Who sends a name and a password by HTTP escapes both before.
            let plain = decoded.without_escapes();
            encoded = base64(plain.as_ref().unwrap_or(&decoded));
            views.push(decoded);
            views.extend(plain);
        }
    }
    for view in &mut views {
        view.kind = ViewKind::Decoded;
    }
    for mut view in [of_first, of_secret, joined].into_iter().flatten() {
        view.kind = ViewKind::Joined;
        views.push(view);
    }
    views
}

/// What `=` at the end of a line is.
#[derive(Clone, Copy, PartialEq, Eq)]
enum SoftBreak {
    /// That the line goes on, as in quoted-printable.
    Sign,
    /// A character like any other.
    Text,
}

/// Without quotes and backslashes, and without the ends of lines with what
/// stands around them for the eye. None where that takes nothing out.
fn joined(view: &View, soft: SoftBreak) -> Option<View> {
    let bytes = &view.bytes;
    let mut kept = View::default();
    let mut at = 0;
    while at < bytes.len() {
        let end = at + break_length(&bytes[at..], soft);
        let is_break = |byte: &u8| matches!(byte, b'\n' | b'+');
        let breaks = end - at <= MAX_BREAK && bytes[at..end].iter().any(is_break);
        if !breaks {
            let end = end.max(at + 1);
            for at in (at..end).filter(|at| !is_quote(bytes[*at])) {
                kept.push_from(view, at);
            }
            at = end;
        } else {
            at = end;
        }
    }
    (kept.bytes.len() < bytes.len()).then_some(kept)
}

fn is_quote(byte: u8) -> bool {
    matches!(byte, b'\'' | b'"' | b'`' | b'\\')
}

/// How many bytes at the beginning may be a part of a broken line: blanks,
/// quotes, frames of boxes and marks of quotation.
fn break_length(bytes: &[u8], soft: SoftBreak) -> usize {
    let mut at = 0;
    let mut was_quoted = false;
    while at < bytes.len() {
        at += match &bytes[at..] {
            [b' ' | b'\t' | b'\n' | b'\r', ..] => 1,
            [byte, ..] if is_quote(*byte) => {
                was_quoted = true;
                1
            }
            // Between two quoted parts; a soft break of quoted-printable.
            [b'+', ..] if was_quoted => 1,
            [b'=', b'\n', ..] if soft == SoftBreak::Sign => 1,
            [b'|' | b'>' | b'#' | b'*', ..] if at > 0 => 1,
            [0xe2, 0x94, 0x82 | 0x83, ..] => 3,
            _ => break,
        };
    }
    at
}

/// Some bytes that are written as numbers at the beginning, and how long that is.
type Token<'t> = &'t dyn Fn(&[u8]) -> Option<(Vec<u8>, usize)>;

/// What is written as one number a byte, from [`MIN_RUN`] bytes on.
fn numbers(view: &View, token: Token<'_>) -> Option<View> {
    let bytes = &view.bytes;
    let mut read = View::default();
    let mut at = 0;
    while at < bytes.len() {
        let begins = bytes[at].is_ascii_alphanumeric()
            && (at == 0 || !bytes[at - 1].is_ascii_alphanumeric());
        if !begins {
            at += 1;
            continue;
        }
        let before = read.bytes.len();
        let mut end = at;
        let mut next = at;
        while let Some((meant, length)) = bytes.get(next..).and_then(token) {
            end = next + length;
            let origin = view.origins_of(next..end);
            meant.iter().for_each(|byte| read.push(*byte, origin));
            next = end + separators(&bytes[end..]);
            // A word of letters alone stands close to the next one.
            if next == end {
                break;
            }
        }
        if read.bytes.len() - before < MIN_RUN {
            read.truncate(before);
            at = end.max(at + 1);
        } else {
            // What comes next is another run.
            read.push(0, view.origins_of(end - 1..end));
            at = end;
        }
    }
    (!read.bytes.is_empty()).then_some(read)
}

/// How many bytes at the beginning stand between the numbers of a list.
fn separators(bytes: &[u8]) -> usize {
    const MOST: usize = 40;
    let is_between = |byte: &&u8| {
        matches!(
            **byte,
            b' ' | b',' | b':' | b';' | b'-' | b'=' | b'\n' | b'\t'
        )
    };
    bytes.iter().take(MOST).take_while(is_between).count()
}

/// `5a`, `0x5A`, `5a71`: an even number of hexadecimal digits.
fn hex_token(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let prefix = match bytes {
        [b'0', b'x' | b'X', ..] => 2,
        _ => 0,
    };
    let digits: Vec<u8> = bytes[prefix..]
        .iter()
        .map_while(|byte| char::from(*byte).to_digit(16))
        .filter_map(|digit| u8::try_from(digit).ok())
        .collect();
    let end = prefix + digits.len();
    let is_whole = !bytes.get(end).is_some_and(u8::is_ascii_alphanumeric);
    let (pairs, rest) = digits.as_chunks::<2>();
    (is_whole && !pairs.is_empty() && rest.is_empty()).then(|| {
        (
            pairs.iter().map(|[high, low]| high << 4 | low).collect(),
            end,
        )
    })
}

/// `90`: a byte in decimal digits.
fn decimal_token(bytes: &[u8]) -> Option<(Vec<u8>, usize)> {
    let count = bytes
        .iter()
        .take_while(|byte| byte.is_ascii_digit())
        .count();
    let is_whole = !bytes.get(count).is_some_and(u8::is_ascii_alphanumeric);
    let text = std::str::from_utf8(bytes.get(..count)?).ok()?;
    let byte = (is_whole && count <= 3).then(|| text.parse::<u8>().ok())??;
    Some((vec![byte], count))
}

/// What stands in the text in Base64, of either alphabet.
fn base64(view: &View) -> Option<View> {
    let bytes = &view.bytes;
    let mut read = View::default();
    let mut at = 0;
    while at < bytes.len() {
        let length = bytes[at..].iter().map_while(|byte| sextet(*byte)).count();
        if length * 6 / 8 >= MIN_RUN {
            let (mut bits, mut count) = (0u32, 0);
            let sextets = bytes[at..at + length]
                .iter()
                .filter_map(|byte| sextet(*byte));
            for (next, sextet) in (at..).zip(sextets) {
                bits = bits << 6 | sextet;
                count += 6;
                if count >= 8 {
                    count -= 8;
                    let [.., byte] = (bits >> count).to_be_bytes();
                    read.push(byte, view.origins_of(next - 1..next + 1));
                }
            }
            read.push(b'\n', view.origins_of(at + length - 1..at + length));
        }
        at += length.max(1);
    }
    (!read.bytes.is_empty()).then_some(read)
}

/// The six bits that a character stands for.
fn sextet(byte: u8) -> Option<u32> {
    Some(match byte {
        b'A'..=b'Z' => u32::from(byte - b'A'),
        b'a'..=b'z' => u32::from(byte - b'a') + 26,
        b'0'..=b'9' => u32::from(byte - b'0') + 52,
        b'+' | b'-' => 62,
        b'/' | b'_' => 63,
        _ => return None,
    })
}

#[cfg(test)]
mod tests {
    use super::super::Redactor;
    use crate::text::redact::forms::base64_within;

    const SECRET: &str = "Zq7RkT-Xy9Wv4_Mn2pKe8LbC3";

    /// With blanks at the end to whole groups of three, which need no padding.
    fn base64(bytes: &[u8]) -> String {
        let mut bytes = bytes.to_vec();
        while !bytes.len().is_multiple_of(3) {
            bytes.push(b' ');
        }
        base64_within(&bytes, 0)
    }

    fn list(of: impl Fn(u8) -> String, between: &str) -> String {
        let numbers: Vec<String> = SECRET.bytes().map(of).collect();
        numbers.join(between)
    }

    /// As a URL has it.
    fn escaped(text: &str) -> String {
        let of = |byte: u8| match byte {
            b if b.is_ascii_alphanumeric() => char::from(b).to_string(),
            b => format!("%{b:02X}"),
        };
        text.bytes().map(of).collect()
    }

    #[test]
    fn a_secret_is_masked_where_its_own_sign_ends_a_line() {
        let secret = "s3cr3t-Value+w1th/=99chars";
        let (head, tail) = secret.split_at(secret.find("99").unwrap());
        let shown = Redactor::new([("KEY", secret)])
            .redact(&format!("{head}\n{tail}"))
            .into_owned();
        assert_eq!(shown, "[secret KEY]");
    }

    #[test]
    fn a_secret_is_masked_however_it_is_wrapped_or_dumped() {
        let (head, tail) = SECRET.split_at(10);
        let twice = base64(base64(format!("u:{SECRET}").as_bytes()).as_bytes());
        let wide: Vec<u8> = SECRET.encode_utf16().flat_map(u16::to_le_bytes).collect();
        let once = base64(format!("user:{SECRET}:and more of it, to fill a line").as_bytes());
        let (line, rest) = once.split_at(30);
        let groups: Vec<String> = SECRET
            .as_bytes()
            .chunks(2)
            .map(|pair| pair.iter().map(|byte| format!("{byte:02x}")).collect())
            .collect();
        let (left, right) = groups.split_at(4);
        for form in [
            format!("{head}\n{tail}"),
            format!("{head}\n        {tail}"),
            format!("│ {head}   │\r\n│ {tail} │"),
            format!("{head}\\\n{tail}"),
            format!("{head}=\n{tail}"),
            format!("'{head}'\n '{tail}'"),
            format!("'{head}' +\n    '{tail}'"),
            format!("\"{head}\" + \"{tail}\""),
            format!("\"{head}\\n  {tail}\""),
            format!("> {head}\n> {tail}"),
            format!("{head}''{tail}"),
            base64(format!("id:{}", escaped(SECRET)).as_bytes()),
            base64(format!("{{\"k\":\"{}\"}}", SECRET.replace('-', "\\u002d")).as_bytes()),
            base64(SECRET.replace('-', "&#45;").as_bytes()),
            base64(base64(escaped(SECRET).as_bytes()).as_bytes()),
            list(|byte| format!("'{}'", char::from(byte)), ""),
            list(|byte| format!("\\{}", char::from(byte)), ""),
            list(|byte| format!("0x{byte:02x}"), ", "),
            list(|byte| format!("{byte:02X}"), ","),
            list(|byte| format!("={byte:02X}"), ""),
            list(|byte| format!("{byte:02x}00"), ""),
            format!("[{}]", list(|byte| byte.to_string(), ", ")),
            format!("[{}]", list(|byte| byte.to_string(), " ")),
            format!("[\n  {}\n]", list(|byte| byte.to_string(), ",\n  ")),
            groups.join(" "),
            format!("{}\n{}", left.join(" "), right.join(" ")),
            format!("{line}\n{rest}"),
            format!("{line}\n   {rest}"),
            base64(SECRET.as_bytes()).replace('+', "-"),
            base64(&wide),
            base64(twice.as_bytes()),
            twice,
        ] {
            let shown = Redactor::new([("KEY", SECRET)]).redact(&form).into_owned();
            assert!(shown.contains("[secret KEY]"), "{form} → {shown}");
        }
    }

    #[test]
    fn what_merely_stands_close_is_left() {
        let redactor = Redactor::new([("A", "pass"), ("B", "password1")]);
        for text in [
            "com\npass on",
            "pa\nss",
            "of 1, 2, 3, 4, 5, 6, 7, 8, 9, 10",
            "pass'word",
            "0123456789abcdef0123456789abcdef01234567",
        ] {
            let shown = redactor.redact(text).into_owned();
            let whole = text.replace("pass", "[secret A]");
            assert_eq!(shown, whole);
        }
        assert_eq!(redactor.redact("x pass\nword1 y"), "x [secret B] y");
    }

    #[test]
    fn what_comes_in_pieces_is_masked_though_it_is_wrapped() {
        let (head, tail) = SECRET.split_at(10);
        let text = format!("before {head}\n      {tail} after");
        for cut in 0..text.len() {
            let mut stream = Redactor::new([("KEY", SECRET)]).stream();
            let mut shown = stream.push(&text.as_bytes()[..cut]);
            shown.extend(stream.push(&text.as_bytes()[cut..]));
            shown.extend(stream.finish());
            let shown = String::from_utf8(shown).unwrap();
            assert_eq!(shown, "before [secret KEY] after", "{cut}");
        }
    }
}
