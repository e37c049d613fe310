//! From left to right through a text: what of it is chance, and what is not.

use super::forms::{
    base64_id, base64_len, bytes_len, chance_by_form, chance_of_run, colons, cut_uuid,
    name_of_actor, raw_bytes_len, scheme_len, sha_len, steps_len, version_in_the_making,
};
use super::mail::{invented_address, tag, without_person};
use super::moment::{clock_behind_t, duration_len, moment};
use super::path::{is_of_tempfile, is_of_temporary, path_len, short_path};
use super::shape::{is_hex, is_number, uuid};
use super::words::{WordKinds, kinds};
use std::net::Ipv4Addr;

pub(super) const ID: &str = "<id>";
pub(super) const TIME: &str = "<time>";
pub(super) const AMOUNT: &str = "<amount>";
pub(super) const LINE: &str = "<line>";
pub(super) const PORT: &str = "<port>";
pub(super) const IP: &str = "<ip>";
/// As many words may stand between `protocol version` and which one.
pub(super) const VERSION_WORDS: u8 = 4;

/// The text with what is chance replaced, and whether it compares values.
pub(super) fn without_chance(text: &str, coarse: bool) -> (String, bool) {
    // What pytest was told to say before what it compares compares nothing, unless it
    // says so itself.
    let Some(from) = text.find("\nassert ") else {
        return walked(text, coarse);
    };
    let (said, compared) = text.split_at(from);
    let (said, _) = walked(said, coarse);
    let (compared, compares) = walked(compared, coarse);
    (said + &compared, compares)
}

fn walked(text: &str, coarse: bool) -> (String, bool) {
    let mut walk = Walk::new(text);
    walk.coarse = coarse;
    walk.read_purpose();
    while walk.at < text.len() {
        walk.step();
    }
    (walk.out, walk.compares)
}

/// As many counts in one text say how things stood, and not what went wrong.
const MANY_COUNTS: usize = 12;
/// The same where the text says that it tells how things stand.
const FEW_COUNTS: usize = 2;

/// How many numbers stand behind `=` or `: ` as all that a name is given.
fn counts_in(text: &str) -> usize {
    let bytes = text.as_bytes();
    let is_count = |sign: usize| {
        let from = match bytes.get(sign + 1) {
            Some(b' ') => sign + 2,
            _ => sign + 1,
        };
        let rest = bytes.get(from..).unwrap_or_default();
        let digits = rest.iter().take_while(|b| b.is_ascii_digit()).count();
        digits > 0 && rest.get(digits).is_none_or(|b| b",;) \n".contains(b))
    };
    memchr::memchr2_iter(b'=', b':', bytes)
        .filter(|sign| is_count(*sign))
        .count()
}

/// What the last name or number was, for the number that follows it.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub(super) enum Preceding {
    #[default]
    Other,
    /// A host or its address.
    Host,
    /// A file, behind which comes a line.
    File,
    /// A number that something counts.
    Counted,
}

pub(super) struct Walk<'t> {
    pub(super) text: &'t str,
    pub(super) at: usize,
    pub(super) out: String,
    /// The text compares values, so numbers in it mean something.
    pub(super) compares: bool,
    /// The text is a part of a path.
    pub(super) in_path: bool,
    /// The path leads through a folder for what is thrown away.
    pub(super) temporary: bool,
    /// No number but codes is kept, and of URLs only the host.
    pub(super) coarse: bool,
    /// It holds a measured value against a limit.
    pub(super) limits: bool,
    /// It says how many there may be at most, or at least.
    pub(super) bounded: bool,
    /// It tells many counts at once, as a client does of its pools.
    pub(super) counts: bool,
    /// What the last word says of what follows it, until a comma or the like.
    pub(super) word: WordKinds,
    pub(super) before: Preceding,
    /// The name at hand begins as the number of a document does.
    pub(super) document: bool,
    /// Where the last name or number ended.
    pub(super) ended: usize,
    /// Words for which what is told may still be a version.
    pub(super) version: u8,
}

pub(super) fn is_word(b: u8) -> bool {
    b.is_ascii_alphanumeric() || b == b'_' || b == b'$' || !b.is_ascii()
}

/// How many bytes of a name `text` begins with: words with single hyphens and
/// dots between them.
pub(super) fn name_len(text: &str) -> usize {
    let bytes = text.as_bytes();
    let mut at = 0;
    while let Some(b) = bytes.get(at) {
        let joins = matches!(b, b'-' | b'.') && at > 0;
        if !(is_word(*b) || joins && bytes.get(at + 1).is_some_and(|next| is_word(*next))) {
            break;
        }
        at += 1;
    }
    at
}

/// How much of a name of this length stands before a moment that goes on behind
/// it, as in `manual__2026-11-26T05:16:15`.
fn before_moment(text: &str, len: usize) -> Option<usize> {
    let name = text.get(..len).filter(|_| text[len..].starts_with(':'))?;
    let at = name.rfind("_20")? + 1;
    let stamp = moment(&text[at..]).filter(|moment| moment.day && moment.clock)?;
    let stem = name[..at].trim_end_matches('_').len();
    (at + stamp.len > len && stem > 0).then_some(stem)
}

/// How long the id is that React's `useId` made, as in `:r1f:`.
fn react_id(text: &str) -> Option<usize> {
    let id = text.strip_prefix(":r")?;
    let end = id.find(':')?;
    let is_digit = |b: u8| b.is_ascii_digit() || b.is_ascii_lowercase();
    ((1..=3).contains(&end) && id[..end].bytes().all(is_digit)).then_some(end + 3)
}

impl<'t> Walk<'t> {
    fn new(text: &'t str) -> Self {
        Self {
            text,
            at: 0,
            out: String::with_capacity(text.len()),
            compares: false,
            in_path: false,
            temporary: false,
            coarse: false,
            limits: false,
            bounded: false,
            counts: false,
            word: WordKinds::default(),
            before: Preceding::Other,
            document: false,
            ended: 0,
            version: 0,
        }
    }

    /// Whether the text compares, and with what.
    fn read_purpose(&mut self) {
        for token in self.text.split([' ', '\n', '\t']) {
            self.compares |= matches!(
                token,
                "==" | "!=" | "===" | "!==" | "≈" | "≉" | "≡" | "≢" | "≠"
            );
            self.limits |= matches!(token, "<" | ">" | "<=" | ">=" | "≤" | "≥");
            // The shortest such word.
            if token.len() < "less".len() {
                continue;
            }
            let word = token.trim_matches(|c: char| !c.is_ascii_alphabetic());
            let inner = word.split(|c: char| !c.is_ascii_alphabetic()).next();
            let found = kinds(inner.unwrap_or_default());
            self.compares |= found.is(WordKinds::COMPARISON);
            self.limits |= found.is(WordKinds::RELATION);
        }
        let has = |words: [&str; 2]| words.iter().any(|words| self.text.contains(words));
        self.bounded = self.compares && has(["at most ", "at least "]);
        self.limits |= self.bounded;
        let least = match !self.compares && has([" stats (", " stats: "]) {
            true => FEW_COUNTS,
            false => MANY_COUNTS,
        };
        self.counts = !self.compares && counts_in(self.text) >= least;
    }

    pub(super) fn rest(&self) -> &'t str {
        &self.text[self.at..]
    }

    pub(super) fn byte(&self, at: usize) -> Option<u8> {
        self.text.as_bytes().get(at).copied()
    }

    /// What stands between the last name or number and here.
    pub(super) fn gap(&self) -> &'t str {
        &self.text[self.ended..self.at]
    }

    fn step(&mut self) {
        let Some(b) = self.byte(self.at) else {
            return;
        };
        let after_word = self.at > 0 && self.byte(self.at - 1).is_some_and(is_word);
        if is_word(b) {
            self.token();
            return;
        }
        let rest = self.rest();
        if matches!(b, b'(' | b'\'' | b'{' | b'[')
            && let Some(len) = self.stored_values()
        {
            self.out.push(char::from(b));
            self.out.push_str(ID);
            self.at += len;
            self.ended = self.at;
            return;
        }
        match b {
            // A line of a log in a value that is shown with its escapes.
            b'\\'
                if rest.starts_with("\\n")
                    && rest[2..].starts_with(|c: char| c.is_ascii_digit()) =>
            {
                self.word = WordKinds::default();
                return self.put("\\n".len(), None);
            }
            // In base 64 an id may begin so.
            b'/' | b'+' if self.word.is(WordKinds::ID) && base64_id(rest).is_some() => {
                let len = base64_id(rest).unwrap_or_default();
                return self.put(len, Some(ID));
            }
            b'/' | b'~' if !after_word => {
                let address = rest[1..].split([':', ' ']).next().unwrap_or_default();
                let is_path = address.parse::<Ipv4Addr>().is_err();
                if let Some(len) = path_len(rest, false).filter(|_| is_path) {
                    self.path(len);
                    return;
                }
            }
            // React numbers what it renders so, in base 36.
            b':' if !after_word => {
                if let Some(len) = react_id(rest) {
                    self.out.push(':');
                    self.push_id();
                    self.out.push(':');
                    self.at += len;
                    return;
                }
            }
            // How deep a test lies says nothing; what is quoted was written so, and may be
            // one step off.
            b'.' if !after_word && rest.starts_with("../") => {
                let steps = rest.len() - rest.trim_start_matches("../").len();
                if self.is_quoted() {
                    return self.put(steps, None);
                }
                self.at += steps;
                return;
            }
            _ => {}
        }
        self.plain(b);
    }

    /// One byte that belongs to no name.
    fn plain(&mut self, b: u8) {
        let ends = match b {
            b';' | b'!' | b'?' | b'\n' | b'{' | b'}' => true,
            // `'--port', '8123'`
            b',' => !self.word.is(WordKinds::PORT),
            b'.' => !self.byte(self.at + 1).is_some_and(is_word),
            _ => false,
        };
        if ends {
            self.word = WordKinds::default();
        }
        if b == b'\n' {
            self.version = 0;
        }
        // How columns are filled up depends on what stands in them.
        if b != b' ' || !self.out.ends_with(' ') {
            self.out.push(char::from(b));
        }
        self.at += 1;
    }

    /// A name or a number.
    fn token(&mut self) {
        let rest = self.rest();
        let bytes = rest.as_bytes();
        if let Some(scheme) = scheme_len(rest) {
            return self.url(scheme);
        }
        let quoted = self.at > 0 && matches!(self.byte(self.at - 1), Some(b'\'' | b'"'));
        if bytes.get(1) == Some(&b':')
            && let Some(len) = path_len(rest, quoted)
        {
            return self.path(len);
        }
        let joint = rest.len() - rest.trim_start_matches('_').len();
        if joint > 0 && moment(&rest[joint..]).is_some_and(|moment| moment.day && moment.clock) {
            return self.put(joint, None);
        }
        if let Some(len) = clock_behind_t(rest).filter(|_| !self.compares) {
            return self.put(len, Some(TIME));
        }
        let before = &self.text[..self.at];
        if let Some(len) = chance_of_run(before, rest) {
            return self.put(len, Some(ID));
        }
        if let Some(moment) = moment(rest) {
            let value = self.compares && !self.in_prose(moment.len) && !self.begins(moment.len);
            let kept = match (moment.day, moment.clock) {
                (true, false) => self.version > 0 || value,
                _ => value && moment.round,
            };
            return self.put(moment.len, if kept { None } else { Some(TIME) });
        }
        if let Some((version, build)) = version_in_the_making(rest) {
            self.put(version, None);
            return self.put(build, Some(ID));
        }
        if let Some(len) = chance_by_form(before, rest).filter(|_| !self.compares) {
            return self.put(len, Some(ID));
        }
        if let Some((len, kept)) = colons(rest) {
            self.put(len, if kept { None } else { Some(IP) });
            self.before = Preceding::Host;
            return;
        }
        if let Some(len) = base64_len(rest).or_else(|| steps_len(rest).filter(|_| !self.compares)) {
            return self.put(len, Some(ID));
        }
        let bytes_shown = bytes_len(rest).or_else(|| raw_bytes_len(rest));
        if let Some(len) = bytes_shown.or_else(|| sha_len(rest)) {
            return self.put(len, Some(ID));
        }
        if let Some(len) = duration_len(rest).filter(|_| !self.compares) {
            return self.put(len, Some(AMOUNT));
        }
        let in_url = self.text[..self.at].ends_with("://");
        if let Some((from, to)) = tag(rest).filter(|_| !in_url) {
            self.put(from, None);
            return self.put(to - from, Some(ID));
        }
        let address = invented_address(rest, self.compares).filter(|_| !in_url);
        if let Some(len) = address {
            if let Some(kept) = without_person(&self.out) {
                self.out.truncate(kept);
                self.out.push_str("<id> <");
            }
            return self.put(len, Some(ID));
        }
        if let Some(len) = cut_uuid(rest) {
            return self.put(len, Some(ID));
        }
        // A letter may be glued to an id.
        let small = bytes
            .iter()
            .take(4)
            .take_while(|b| b.is_ascii_lowercase())
            .count();
        if let Some(glued) = (1..=small).find(|at| uuid(&bytes[*at..]) == Some(true)) {
            self.put(glued, None);
            return self.put(36, Some(ID));
        }
        if let Some(len) = self.cut_value() {
            return self.put(len, Some(ID));
        }
        let len = name_len(rest);
        let name = &rest[..before_moment(rest, len).unwrap_or(len)];
        let len = name.len();
        let hex = is_hex(name.as_bytes());
        // Java's objects, Git's commits; and no number with an exponent.
        let object = self.at > 0 && self.byte(self.at - 1) == Some(b'@');
        if hex && object && (5..=8).contains(&len) {
            return self.put(len, Some(ID));
        }
        // And PHP's objects, which are no colours.
        if is_number(name) && self.is_object_of_php(len) {
            return self.put(len, Some(ID));
        }
        // A colour is chosen.
        let colour = self.out.ends_with(['\'', '"', ' ', '#']) && self.gap().ends_with('#');
        let colour = colour && (!is_number(name) || self.only_colours());
        if hex && colour && self.compares && matches!(len, 3 | 6 | 8) {
            return self.put(len, None);
        }
        let id = hex && len >= 7 && !is_number(name);
        if bytes[0].is_ascii_digit() && !id && self.numeric(name) {
            return;
        }
        self.name(name);
    }

    /// Whether a quote stands right before.
    fn is_quoted(&self) -> bool {
        self.text[..self.at].ends_with(['\'', '"', '`'])
    }

    /// Whether the number of this length is that of an object of PHP: `Cart Object #184 (`,
    /// `object(Cart)#184 (2) {`, `Cart {#184`.
    fn is_object_of_php(&self, len: usize) -> bool {
        let before = &self.text[..self.at];
        let opened = self.rest()[len..].starts_with(" (");
        before.ends_with(" {#")
            || opened && (before.ends_with(" Object #") || before.ends_with(")#"))
    }

    /// Whether all that stands behind a `#` may be a colour: `#1` is a number.
    fn only_colours(&self) -> bool {
        let mut marked = self.text.split('#').skip(1);
        marked.all(|text| {
            let digits = text.bytes().take_while(u8::is_ascii_hexdigit).count();
            matches!(digits, 3 | 4 | 6 | 8)
        })
    }

    /// Takes so much of the text, as it is or replaced.
    pub(super) fn put(&mut self, len: usize, instead: Option<&str>) {
        let taken = &self.rest()[..len];
        match instead {
            Some(ID) => self.push_id(),
            Some(instead) => self.out.push_str(instead),
            None => self.out.push_str(taken),
        }
        self.at += len;
        self.ended = self.at;
        self.before = Preceding::Other;
    }

    /// Ids that hang together are one.
    pub(super) fn push_id(&mut self) {
        // Nor has it a sign.
        let unsigned = self.out.strip_suffix('-').filter(|before| {
            before.is_empty() || before.ends_with([' ', '(', '=', ':', ',', '/', '\'', '"', '#'])
        });
        if let Some(len) = unsigned.map(str::len) {
            self.out.truncate(len);
        }
        let joined = self.out.trim_end_matches(['-', '_', '.', '+', '/', '~']);
        if joined.ends_with(ID) && joined.len() + 1 == self.out.len() {
            self.out.truncate(joined.len());
        } else {
            self.out.push_str(ID);
        }
    }

    fn path(&mut self, len: usize) {
        let path = &self.rest()[..len];
        if self.word.is(WordKinds::METHOD) && path.starts_with('/') {
            self.url_path();
        } else {
            let version = self.version > 0;
            let temporary = is_of_temporary(path);
            let short = short_path(path, |part| component(part, version, temporary));
            self.put(len, None);
            self.out.truncate(self.out.len() - len);
            self.out.push_str(&short);
        }
        self.before = Preceding::File;
        self.word = WordKinds::default();
    }

    fn url(&mut self, scheme: usize) {
        self.put(scheme, None);
        let authority = self.rest();
        let is_part = |c: char| c.is_alphanumeric() || "-._~%@:[]*<>$".contains(c);
        let len = authority.find(|c| !is_part(c)).unwrap_or(authority.len());
        let end = self.at
            + authority[..len]
                .trim_end_matches([':', '.', ']', '>'])
                .len();
        self.word = WordKinds::default();
        while self.at < end {
            self.step();
            self.before = Preceding::Host;
        }
        if self.rest().starts_with('/') {
            self.url_path();
        }
    }

    /// The path of a URL, all of it.
    fn url_path(&mut self) {
        let rest = self.rest();
        let ends = |c: char| c.is_whitespace() || "?#'\"<>),;]}`|".contains(c);
        let len = rest.find(ends).unwrap_or(rest.len());
        let path = rest[..len].trim_end_matches([':', '.']);
        if self.coarse {
            let query = &rest[path.len()..];
            let ends = |c: char| c.is_whitespace() || "'\"<>),;]}`|".contains(c);
            let query = match query.starts_with(['?', '#']) {
                true => query.find(ends).unwrap_or(query.len()),
                false => 0,
            };
            self.put(path.len() + query, Some("/<path>"));
            return;
        }
        const NEAR: usize = 64;
        let before = &self.text[..self.at];
        let before = &before[before.ceil_char_boundary(before.len().saturating_sub(NEAR))..];
        let url = before
            .rsplit(char::is_whitespace)
            .next()
            .unwrap_or_default();
        let is_of_actors = url.contains("akka://") || url.contains("pekko://");
        let actor = |part: &str| name_of_actor(part).filter(|_| is_of_actors);
        let mut last = WordKinds::default();
        for (index, part) in path.split('/').enumerate() {
            if index > 0 {
                self.out.push('/');
            }
            if let Some(name) = actor(part) {
                self.out.push_str(&name);
            } else if is_number(part) && !last.is(WordKinds::CODE | WordKinds::VERSION) {
                self.out.push_str(ID);
            } else {
                self.out.push_str(&component(part, false, false));
            }
            last = kinds(part);
        }
        self.at += path.len();
        self.ended = self.at;
    }
}

/// A part of a path without what of it is chance.
fn component(part: &str, version: bool, temporary: bool) -> String {
    let stem = part.split('.').next().unwrap_or_default();
    if is_of_tempfile(stem) {
        return format!("{ID}{}", &part[stem.len()..]);
    }
    let mut walk = Walk::new(part);
    walk.in_path = true;
    walk.temporary = temporary;
    walk.version = if version { VERSION_WORDS } else { 0 };
    while walk.at < part.len() {
        let rest = walk.rest();
        let len = name_len(rest);
        if len == 0 {
            let b = rest.as_bytes()[0];
            walk.plain(b);
        } else if len == part.len() && is_number(part) {
            let chance = part.len() >= 4 && !version;
            walk.put(len, chance.then_some(ID));
        } else {
            walk.name(&rest[..len]);
        }
    }
    walk.out
}
