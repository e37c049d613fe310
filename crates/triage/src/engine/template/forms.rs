//! What the form alone tells of a piece of text: network addresses, ids in base 64, what a
//! writer cut, what a database stored.

use super::shape::{has_digit, in_words, is_hex, is_number};
use super::walk::{ID, Walk, is_word};
use jelly_base::text::LazyPattern;
use std::net::Ipv6Addr;

/// Bytes of a statement that are looked at for its first word.
const STATEMENT: usize = 2_000;

impl Walk<'_> {
    /// How much of the text is what a cut left of a value in quotes, before the cut
    /// or behind it: where it falls depends on the length of all the rest. pytest
    /// and others put three dots between, without a blank.
    pub(super) fn cut_value(&self) -> Option<usize> {
        const CUT: &str = "...";
        const QUOTES: [char; 2] = ['\'', '"'];
        let rest = self.rest();
        let in_value = |b: &u8| is_word(*b) || b":-+".contains(b);
        let before = self.out.trim_end_matches('.');
        let dotted = self.out.len() - before.len() >= CUT.len();
        if dotted && (before.ends_with(ID) || before.ends_with([':', ',', ' '])) {
            // A fraction goes on behind its point.
            let len = rest
                .bytes()
                .take_while(|b| in_value(b) || *b == b'.')
                .count();
            let closes = before.ends_with(ID) || rest[len..].starts_with(QUOTES);
            return (closes && has_digit(&rest[..len])).then_some(len);
        }
        if !self.text[..self.at].ends_with(QUOTES) {
            return None;
        }
        let len = rest.bytes().take_while(in_value).count();
        let after = rest[len..].strip_prefix(CUT)?.trim_start_matches('.');
        let next = after.bytes().take_while(in_value).count();
        // `'Loading...done'` is a sentence.
        let cut = next > 0 && (has_digit(&after[..next]) || has_digit(&rest[..len]));
        cut.then_some(len)
    }

    /// How much of the text, from a bracket or a quote on, is what a database was
    /// given to store, as an error of a constraint tells it.
    pub(super) fn stored_values(&self) -> Option<usize> {
        const MARKS: [(&str, char); 6] = [
            ("ailing row contains ", ')'),
            (") values ", ')'),
            (")=", ')'),
            ("uplicate key value is ", ')'),
            ("uplicate entry ", '\''),
            (" dup key: ", '}'),
        ];
        let before = &self.text[..self.at];
        // Asked for where it is needed: a line may be long, and full of brackets.
        let line = || self.rest().lines().next();
        // Python writes a moment so, from a year down to a part of a second, which
        // nobody chooses.
        if before.ends_with("datetime.datetime") {
            let parts = self.rest()[1..].split([')', '.', 't', '\n']).next()?;
            let numbers = parts.split(", ").filter(|part| is_number(part)).count();
            let chance = numbers > if self.compares { 6 } else { 5 };
            return chance.then_some(1 + parts.trim_end_matches([',', ' ']).len());
        }
        if before.ends_with("timedelta") {
            let parts = self.rest().split([')', '\n']).next()?;
            return parts.contains("microseconds=").then_some(parts.len());
        }
        if self.compares {
            return None;
        }
        // SQLAlchemy
        if self.rest().starts_with("[parameters: ") {
            return line()?.rfind(']');
        }
        let is_marked = |mark: &&(&str, char)| {
            let from = before.len().checked_sub(mark.0.len());
            let said = from.and_then(|from| before.get(from..));
            said.is_some_and(|said| said.eq_ignore_ascii_case(mark.0))
        };
        let (mark, closes) = MARKS.iter().find(is_marked)?;
        let line = line()?;
        let end = match closes {
            '\'' => 1 + line.get(1..)?.find("' for ")?,
            // A name of a column stands in brackets of its own.
            ')' => closing_bracket(line)?,
            _ => line.find(*closes)?,
        };
        // A value that a key lacks, and what a function was given, is the cause.
        let stored = match *mark {
            ")=" => line[end..].contains("already exists"),
            ") values " => {
                let far = before.floor_char_boundary(before.len().saturating_sub(STATEMENT));
                before[far..].to_ascii_lowercase().contains("insert into ")
            }
            _ => true,
        };
        (end > 1 && stored).then_some(end)
    }
}

/// How much of what follows `before` is chance by its form: the number of a pull request in
/// the name of a reference, a week, the key of a licence, the tag of an answer.
pub(super) fn chance_by_form(before: &str, rest: &str) -> Option<usize> {
    if let Some(len) = tag_of_answer(before, rest) {
        return Some(len);
    }
    let digits = rest.bytes().take_while(u8::is_ascii_digit).count();
    if digits == 0 {
        return key_of_licence(rest);
    }
    let behind = &rest[digits..];
    let references = ["refs/pull/", "refs/merge-requests/", "refs/pull-requests/"];
    if references.iter().any(|begin| before.ends_with(begin)) && behind.starts_with('/') {
        return Some(digits);
    }
    let week = behind.strip_prefix("-W")?;
    let is_week = digits == 4
        && rest.starts_with("20")
        && week.len() >= 2
        && week.bytes().take_while(u8::is_ascii_digit).count() == 2;
    is_week
        .then_some("2026-W48".len())
        .or_else(|| key_of_licence(rest))
}

/// How long the tag is that a server gives an answer by its size and time: `W/"5f2a-18c"`.
fn tag_of_answer(before: &str, rest: &str) -> Option<usize> {
    if !before.ends_with("W/\"") {
        return None;
    }
    let in_tag = |b: &u8| b.is_ascii_hexdigit() || *b == b'-';
    let len = rest.bytes().take_while(in_tag).count();
    (len > 0 && rest[len..].starts_with('"')).then_some(len)
}

/// How much of what follows `before` is chance by its form even where values are compared:
/// what was measured, what ran, and which object it was.
pub(super) fn chance_of_run(before: &str, rest: &str) -> Option<usize> {
    let word = rest.bytes().take_while(|b| is_word(*b)).count();
    let token = &rest[..word];
    hash_of_object(before, token)
        .or_else(|| version_of_browser(before, rest))
        .or_else(|| head_of_klog(before, rest))
        .or_else(|| rate(before, rest))
}

/// Flutter tells two objects of one class apart so: `RenderParagraph#58a13`.
fn hash_of_object(before: &str, token: &str) -> Option<usize> {
    const HASH: usize = 5;
    let is_hash = token.len() == HASH && is_hex(token.as_bytes()) && has_digit(token);
    if !is_hash || is_number(token) {
        return None;
    }
    let class = before.strip_suffix('#')?;
    let class = &class[class
        .trim_end_matches(|c: char| c.is_ascii_alphanumeric())
        .len()..];
    let is_class = class.starts_with(|c: char| c.is_ascii_uppercase())
        && class.bytes().any(|b| b.is_ascii_lowercase());
    is_class.then_some(HASH)
}

/// The version of a browser where it is told which one ran: `Browser: Chrome 126.0.0.0`,
/// `HeadlessChrome/126.0.6478.63`.
fn version_of_browser(before: &str, rest: &str) -> Option<usize> {
    const BROWSERS: [&str; 4] = ["Chrome ", "Chromium ", "Firefox ", "Safari "];
    let version = decimal(rest);
    if version.matches('.').count() < 2 {
        return None;
    }
    // Lines may be as long as a text, so that their beginning is asked for last.
    let is_told = || {
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.trim_start().starts_with("Browser: ")
    };
    let of_browser = BROWSERS.iter().any(|browser| before.ends_with(browser));
    let is_headless = before.ends_with("HeadlessChrome/");
    (is_headless || of_browser && is_told()).then_some(version.len())
}

/// The digits and dots that a text begins with.
fn decimal(text: &str) -> &str {
    let in_number = |b: &u8| b.is_ascii_digit() || *b == b'.';
    text[..text.bytes().take_while(in_number).count()].trim_end_matches('.')
}

/// How the loggers of Kubernetes begin a line: a letter and the day, the time, the process.
fn head_of_klog(before: &str, rest: &str) -> Option<usize> {
    static HEAD: LazyPattern = LazyPattern::new(r"\A[DEFIW]\d{4} \d\d:\d\d:\d\d\.\d+ +\d+ ");
    let begins = before.is_empty() || before.ends_with(['\n', ' ']);
    let is_level = rest.starts_with(['D', 'E', 'F', 'I', 'W']);
    if !begins || !is_level || rest.as_bytes().get(5) != Some(&b' ') {
        return None;
    }
    Some(HEAD.find(rest)?.end() - 1)
}

/// How long all tests took, and how many a second that is: `Finished in 2.77s, 70.93 runs/s`.
fn rate(before: &str, rest: &str) -> Option<usize> {
    const UNITS: [&str; 4] = [" runs/s", " assertions/s", " tests/s", " examples/s"];
    const TOLD: &str = "Finished in ";
    let number = decimal(rest);
    let of_line = || {
        let line = before.rsplit('\n').next().unwrap_or_default();
        line.trim_start().starts_with(TOLD)
    };
    let unit = &rest[number.len()..];
    let is_rate = || UNITS.iter().any(|name| unit.starts_with(name)) && of_line();
    (number.contains('.') && (before.ends_with(TOLD) || is_rate())).then_some(number.len())
}

/// The name that Akka gives an actor, without what tells it from its like: `testProbe-30`,
/// `$a`.
pub(super) fn name_of_actor(part: &str) -> Option<String> {
    if let Some(name) = part.strip_prefix('$') {
        let letters = name.bytes().all(|b| b.is_ascii_lowercase());
        return ((1..=2).contains(&name.len()) && letters).then(|| ID.to_owned());
    }
    let (name, number) = part.rsplit_once('-')?;
    is_number(number).then(|| format!("{name}-{ID}"))
}

/// Of a version of Python in the making, as `1.4.dev12+g3fa9c21`, how much of it is the
/// version, and how much the build.
pub(super) fn version_in_the_making(text: &str) -> Option<(usize, usize)> {
    let in_version = |b: &u8| b.is_ascii_digit() || *b == b'.';
    let version = text.bytes().take_while(in_version).count();
    let build = text[version..].strip_prefix("dev")?;
    let number = build.bytes().take_while(u8::is_ascii_digit).count();
    let commit = build[number..].strip_prefix("+g")?;
    let commit = commit.bytes().take_while(u8::is_ascii_hexdigit).count();
    let is_build = version > 0 && number > 0 && commit >= 6;
    is_build.then_some((version + "dev".len(), number + "+g".len() + commit))
}

/// How long the key is that a text begins with: three and more groups of as many capitals
/// and digits, mixed.
fn key_of_licence(text: &str) -> Option<usize> {
    const GROUP: std::ops::RangeInclusive<usize> = 4..=6;
    const LONGEST: usize = 64;
    let in_key = |b: &u8| b.is_ascii_uppercase() || b.is_ascii_digit() || *b == b'-';
    // A longer one is none.
    let key = &text[..text.bytes().take(LONGEST).take_while(in_key).count()];
    let mut groups = key.split('-');
    let size = groups.next()?.len();
    let is_mixed = |group: &str| has_digit(group) && group.bytes().any(|b| b.is_ascii_uppercase());
    let all = || key.split('-');
    let is_key = key.len() < LONGEST
        && GROUP.contains(&size)
        && all().all(|group| group.len() == size)
        && all().count() >= 3
        && 2 * all().filter(|group| is_mixed(group)).count() > all().count();
    is_key.then_some(key.len())
}

/// Where the bracket closes that a text begins with.
pub(super) fn closing_bracket(text: &str) -> Option<usize> {
    let mut depth = 0_usize;
    text.bytes().position(|b| {
        match b {
            b'(' => depth += 1,
            b')' => depth = depth.saturating_sub(1),
            _ => {}
        }
        depth == 0
    })
}

/// How long the id in base 64 is that a text begins with, behind the word for one.
pub(super) fn base64_id(text: &str) -> Option<usize> {
    const SHORTEST: usize = 20;
    let is_digit = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/' | b'=');
    let id = &text[..text.bytes().take_while(is_digit).count()];
    let has = |is: fn(&u8) -> bool| id.as_bytes().iter().any(is);
    let mixed =
        has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    (id.len() >= SHORTEST && mixed).then_some(id.len())
}

/// How long the beginning of a UUID is that a writer cut, as in `0f84026b-1919-4…`.
pub(super) fn cut_uuid(text: &str) -> Option<usize> {
    let in_uuid = |b: &u8| b.is_ascii_digit() || (b'a'..=b'f').contains(b) || *b == b'-';
    let id = &text[..text.bytes().take_while(in_uuid).count()];
    let cut = text[id.len()..].starts_with('…') || text[id.len()..].starts_with("...");
    (cut && is_cut_uuid(id)).then_some(id.len())
}

/// Whether a text is the beginning of a UUID.
pub(super) fn is_cut_uuid(text: &str) -> bool {
    const SHORTEST: usize = 9;
    let formed = |(at, b): (usize, u8)| match at {
        8 | 13 | 18 | 23 => b == b'-',
        _ => b.is_ascii_hexdigit(),
    };
    (SHORTEST..36).contains(&text.len()) && text.bytes().enumerate().all(formed)
}

/// How long what `text` begins with is, if that is bytes in base 64 which are
/// filled up, as in `b'ql30EV0UpGT7TItKXfGX=='`.
pub(super) fn base64_len(text: &str) -> Option<usize> {
    const SHORTEST: usize = 12;
    let is_digit = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    let digits = text.bytes().take_while(|b| is_digit(b)).count();
    let filled = text[digits..].len() - text[digits..].trim_start_matches('=').len();
    let has = |is: fn(&u8) -> bool| text.as_bytes()[..digits].iter().any(is);
    let mixed =
        has(u8::is_ascii_lowercase) && has(u8::is_ascii_uppercase) && has(u8::is_ascii_digit);
    let ends = !text[digits + filled..]
        .starts_with(|c: char| c.is_alphanumeric() || "$<[{'\"(".contains(c));
    let quoted = text[digits + filled..].starts_with(['\'', '"']);
    (digits >= SHORTEST && (1..=2).contains(&filled) && mixed && (ends || quoted))
        .then_some(digits + filled)
}

/// How long the digest is that a text begins with, as browsers and npm write it:
/// `sha512-` and what is said in base 64.
pub(super) fn sha_len(text: &str) -> Option<usize> {
    const SHORTEST: usize = 20;
    let names = ["sha1-", "sha256-", "sha384-", "sha512-"];
    let name = names.into_iter().find(|name| text.starts_with(name))?;
    let is_digit = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'+' | b'/');
    let digits = text[name.len()..].bytes().take_while(is_digit).count();
    let end = name.len() + digits;
    let filled = text[end..].len() - text[end..].trim_start_matches('=').len();
    (digits >= SHORTEST).then_some(end + filled)
}

/// How long the bytes are that a text begins with, as Python shows them, if they are no
/// text in UTF-8: `b'\xd1\x12qM'`.
pub(super) fn raw_bytes_len(text: &str) -> Option<usize> {
    let quote = text.strip_prefix('b').and_then(|rest| rest.chars().next());
    let quote = quote.filter(|quote| matches!(quote, '\'' | '"'))?;
    let content = &text["b'".len()..];
    let content = &content[..content.find(['\n', quote])?];
    if !text["b'".len() + content.len()..].starts_with(quote) {
        return None;
    }
    let mut bytes = Vec::with_capacity(content.len());
    let mut rest = content;
    while let Some(first) = rest.bytes().next() {
        let escape = rest.strip_prefix("\\x").and_then(|hex| hex.get(..2));
        match escape.and_then(|hex| u8::from_str_radix(hex, 16).ok()) {
            Some(byte) => {
                bytes.push(byte);
                rest = &rest["\\x00".len()..];
            }
            None => {
                bytes.push(first);
                let next = rest.chars().next().map_or(1, char::len_utf8);
                rest = &rest[next..];
            }
        }
    }
    let is_text = std::str::from_utf8(&bytes).is_ok();
    (!is_text).then_some("b'".len() + content.len() + 1)
}

/// How long the bytes are that a text begins with, in pairs of digits to the base of
/// sixteen as Node shows a `Buffer`, if they are no text.
pub(super) fn bytes_len(text: &str) -> Option<usize> {
    const FEWEST: usize = 6;
    const HIGH: usize = 2;
    let pair = |at: usize| {
        let digits = text.get(at..at + 2)?;
        let is_digit = |b: u8| b.is_ascii_digit() || (b'a'..=b'f').contains(&b);
        let whole = digits.bytes().all(is_digit)
            && !text[at + 2..].starts_with(|c: char| c.is_alphanumeric() || c == '_');
        u8::from_str_radix(digits, 16).ok().filter(|_| whole)
    };
    let mut len = 0;
    let mut pairs = 0;
    let mut high = 0;
    while let Some(byte) = pair(len) {
        pairs += 1;
        high += usize::from(!byte.is_ascii());
        len += 2;
        if !text[len..].starts_with(' ') || pair(len + 1).is_none() {
            break;
        }
        len += 1;
    }
    // Numbers in a row are no bytes.
    let letters = text[..len].bytes().any(|b| b.is_ascii_lowercase());
    (pairs >= FEWEST && high >= HIGH && letters).then_some(len)
}

/// How long numbers with colons between them are, three and more, that are no
/// time of day: steps of a search, as in `path: "43:6:3"`.
pub(super) fn steps_len(text: &str) -> Option<usize> {
    let len = text
        .bytes()
        .take_while(|b| b.is_ascii_digit() || *b == b':')
        .count();
    let steps = text[..len].trim_end_matches(':');
    let ends = !text[len..].starts_with(|c: char| c.is_alphanumeric() || c == '.');
    let numbers = steps.split(':').all(is_number) && steps.matches(':').count() > 1;
    (numbers && ends).then_some(steps.len())
}

/// The length of `https://`, if `text` begins with such.
pub(super) fn scheme_len(text: &str) -> Option<usize> {
    const LONGEST: usize = 24;
    let scheme = |b: &u8| b.is_ascii_lowercase() || b.is_ascii_digit() || b"+-.:".contains(b);
    let len = text.bytes().take(LONGEST).take_while(scheme).count();
    let named = len > 2 && text[..len].ends_with(':') && text[len..].starts_with("//");
    (named && !text.starts_with("file:")).then_some(len + 2)
}

/// Addresses that are written with colons, of networks and of their devices, and serials and
/// digests of certificates, and whether one is to be kept.
pub(super) fn colons(text: &str) -> Option<(usize, bool)> {
    let address = |b: &u8| b.is_ascii_hexdigit() || b":.".contains(b);
    /// Bytes of a digest of 512 bits.
    const LONGEST: usize = 64 * 3;
    let len = text.bytes().take(LONGEST).take_while(address).count();
    let mut address = &text[..len];
    // What ends a sentence is no part of it; nor is a colon, but of a name such as `face::add:`.
    let is_named = address.contains("::") && address.matches(':').count() < 4;
    let is_of_it = address.ends_with("::") || address.ends_with(':') && is_named;
    if !is_of_it {
        address = address.trim_end_matches([':', '.']);
    }
    if address.matches(':').take(2).count() < 2
        || text[len..].starts_with(|c: char| c.is_alphanumeric())
    {
        return None;
    }
    let device = address.split(':').count() > 5 && address.split(':').all(|part| part.len() == 2);
    let ip = address.parse::<Ipv6Addr>().ok();
    (device || ip.is_some()).then(|| {
        (
            address.len(),
            ip.is_some_and(|ip| ip.is_loopback() || ip.is_unspecified()),
        )
    })
}

/// Where in the name of a built file the hash of its content stands, as in
/// `Cart-ZYD2sJn5.js`.
pub(super) fn hash_of_file(name: &str) -> Option<(usize, usize)> {
    const HASH: usize = 8;
    let (stem, ending) = name.rsplit_once('.')?;
    if !matches!(ending, "js" | "mjs" | "cjs" | "css" | "map" | "wasm") {
        return None;
    }
    let stem = stem.strip_suffix(".js").unwrap_or(stem);
    let from = stem.len().checked_sub(HASH)?;
    let hash = stem.get(from..)?;
    let joined = from > 1 && stem[..from].ends_with(['-', '.']);
    let has = |is: fn(&u8) -> bool| hash.as_bytes().iter().filter(|b| is(b)).count();
    let mixed = has(u8::is_ascii_uppercase) > 1 && has(u8::is_ascii_lowercase) > 0;
    let odd = (has_digit(hash) || mixed) && in_words(hash.as_bytes()) <= 5;
    (joined && hash.bytes().all(is_word) && odd).then_some((from, stem.len()))
}
