//! Names: their parts are words, numbers, or chance.

use super::documents::begins_document;
use super::forms::hash_of_file;
use super::host::is_host;
use super::moment::moment;
use super::numbers::FAR;
use super::path::is_filled_by_tempfile;
use super::shape::{
    self, PartShape, has_digit, in_words, is_hex, is_number, is_pod_suffix, is_random_whole, shape,
    uuid,
};
use super::walk::{ID, Preceding, TIME, VERSION_WORDS, Walk, is_word, name_len};
use super::words::{WordKinds, is_wordlike, kinds, made_up_from};

/// Whether less than half of a name is words.
fn is_odd(name: &str) -> bool {
    2 * in_words(name.as_bytes()) < name.len()
}

impl<'t> Walk<'t> {
    pub(super) fn name(&mut self, name: &'t str) {
        let end = self.at + name.len();
        let bytes = name.as_bytes();
        // Who it was on a machine is as much chance.
        let host = self.text[end..].strip_prefix('@');
        let host = host.map(|host| &host[..name_len(host)]);
        if let Some(host) = host.filter(|host| is_host(host)) {
            return self.put(name.len() + 1 + host.len(), Some(ID));
        }
        if self.is_machine_of_logger(end) || self.is_machine_of_process(name, end) {
            return self.put(name.len(), Some(ID));
        }
        // A short word is nothing but that; most of a text are.
        if bytes.len() < 8
            && bytes[1..].iter().all(u8::is_ascii_lowercase)
            && bytes[0].is_ascii_alphabetic()
            && !self.word.is(WordKinds::ID)
            && !self.out.ends_with('>')
        {
            self.out.push_str(name);
            self.at = end;
            self.ended = end;
            return self.note(name);
        }
        if is_host(name) {
            self.put(name.len(), Some(ID));
            self.before = Preceding::Host;
            return;
        }
        if let Some(at) = made_up_from(name) {
            self.parts(&name[..at]);
            self.out.push_str("<addr>");
            let more = &self.text[end..];
            let made_up = |b: &u8| is_word(*b) || b"/@.-".contains(b);
            self.at = end + more.bytes().take_while(made_up).count();
            self.ended = self.at;
            return;
        }
        if let Some(hex) = name.strip_prefix("0x") {
            let counted = self.word.is(WordKinds::COUNTER);
            // The arguments of a call, of which one is an address.
            let beside = self.out.ends_with("<id>, ");
            let chance = (counted || beside || hex.len() >= 6) && !is_status(name);
            return self.put(name.len(), chance.then_some(ID));
        }
        let asked = self.coarse && name.bytes().all(|b| b.is_ascii_uppercase());
        if asked && kinds(name).is(WordKinds::METHOD) {
            self.put(name.len(), Some("<method>"));
            self.word = WordKinds::METHOD;
            return;
        }
        // The rest of one in base 64.
        let rest = &self.text[end..];
        let goes_on = self.out.ends_with("<id>/") || self.out.ends_with("<id>+");
        if goes_on && rest.starts_with(['=', '+']) {
            let padding = rest.len() - rest.trim_start_matches('=').len();
            return self.put(name.len() + padding, Some(ID));
        }
        if let Some((from, to)) = hash_of_file(name) {
            self.out.push_str(&name[..from]);
            self.push_id();
            self.out.push_str(&name[to..]);
            self.at = end;
            self.ended = end;
            self.before = Preceding::File;
            return;
        }
        // `req_`, `amq.gen-`: what people put before an id.
        let prefix = prefix_len(name);
        let id = &name[prefix..];
        let labelled = self.labelled_id(id, prefix);
        let document = name[..prefix].trim_end_matches('-');
        let document = !document.is_empty() && begins_document(document);
        let made = self.temporary
            && name
                .rsplit_once('-')
                .is_some_and(|(stem, end)| is_of_mkdtemp(end) && !is_odd(stem));
        if let Some(len) =
            labelled.or_else(|| (!made && is_random_whole(id, document)).then_some(id.len()))
        {
            self.out.push_str(&name[..prefix]);
            self.at += prefix;
            let rest = &self.rest()[len..];
            let tail =
                rest.starts_with('-') && !rest[1..].starts_with(|c: char| c.is_alphanumeric());
            return self.put(len + usize::from(tail), Some(ID));
        }
        if let Some(kept) = invented(name).or_else(|| self.of_worker(name)) {
            self.out.push_str(&name[..kept]);
            self.push_id();
            self.at = end;
            self.ended = end;
            self.word = WordKinds::default();
            self.before = Preceding::Other;
            return;
        }
        let counted = self.parts(name);
        self.at = end;
        self.ended = end;
        self.note(name);
        if counted {
            self.before = Preceding::Counted;
        }
    }

    /// Where the number begins in the name of a database that each of several
    /// workers has one of: `shop_test_9`, `test_shop-3`.
    fn of_worker(&self, name: &str) -> Option<usize> {
        let stem = name.trim_end_matches(|c: char| c.is_ascii_digit());
        let number = name.len() - stem.len();
        let parts = || stem.split(['_', '-']);
        let joined = stem.ends_with(['_', '-']);
        let shortest = if joined { 3 } else { 2 };
        let numbered = (1..=3).contains(&number) && (joined || stem.ends_with("test"));
        let of_tests = self.word.is(WordKinds::STORE) && numbered && parts().count() >= shortest;
        let of_tests = of_tests
            && parts().any(|part| matches!(part, "test" | "tests" | "testing" | "spec" | "ci"));
        // Or one for each process.
        // A year or a month of one is chosen.
        let year = matches!(number, 4 | 6) && ("1990".."2040").contains(&&name[stem.len()..]);
        let of_process = self.word.is(WordKinds::STORE)
            && joined
            && (3..=7).contains(&number)
            && !name[stem.len()..].starts_with('0')
            && !year
            && !self.compares;
        (of_tests || of_process).then_some(stem.len())
    }

    /// What this name says of what follows it.
    fn note(&mut self, name: &str) {
        let last = name.rsplit(['-', '.', '_']).next().unwrap_or(name);
        let found = match name.eq_ignore_ascii_case("content-length") {
            true => WordKinds::COUNTER,
            false => kinds_of(last),
        };
        self.before = Preceding::Other;
        if name.contains('.') && found.is(WordKinds::SOURCE) {
            self.before = Preceding::File;
        } else if name.contains('.') || name == "localhost" {
            self.before = Preceding::Host;
        }
        if found.is(WordKinds::FILLER) {
            return;
        }
        self.version = self.version.saturating_sub(1);
        if found.is(WordKinds::VERSION) {
            self.version = VERSION_WORDS;
        }
        self.word = found;
    }

    /// How much of the text is the id that the word before it announces.
    fn labelled_id(&self, name: &str, prefix: usize) -> Option<usize> {
        if !self.word.is(WordKinds::ID) {
            return None;
        }
        // `sha256=…` tells by what it was made.
        let algorithm = name.starts_with("sha") || name.starts_with("md5");
        if algorithm && self.rest()[prefix + name.len()..].starts_with('=') {
            return None;
        }
        let gap = self.gap();
        let marked = gap.contains(['=', ':', '\'', '"', '(', '#', '[']);
        let in_id = |b: &u8| is_word(*b) || b"+/=~.-".contains(b);
        let value = &self.rest()[prefix..];
        let value = &value[..value.bytes().take_while(in_id).count()];
        let value = value.trim_end_matches(['.', '-']);
        let odd = name.len() >= 6 && is_odd(name);
        let chance = if marked {
            has_digit(value) && value.len() >= 4 || odd
        } else {
            odd && (has_digit(name) || name.len() >= 16)
                || is_hex(name.as_bytes()) && name.len() >= 7
        };
        chance.then_some(value.len().max(name.len()))
    }

    /// Writes a name without what of its parts is chance; whether it ends with
    /// a number that something counts.
    fn parts(&mut self, name: &str) -> bool {
        let mut parts = parts_of(name);
        let several = parts.len() > 1;
        let local = self.byte(self.at + name.len()) == Some(b'@');
        let machine = several
            && parts
                .iter()
                .any(|part| kinds_of(part.text).is(WordKinds::MACHINE));
        let made = several && (self.word.is(WordKinds::MADE) || self.in_arn());
        if made && let Some(end) = parts.last_mut() {
            let behind_hyphen = name[..end.at].ends_with('-');
            end.chance |= behind_hyphen && end.text.len() >= 5 && is_number(end.text);
        }
        // Behind an error's code stands a colon.
        let code = self.rest()[name.len()..].starts_with(':');
        let document = parts.first().is_some_and(|part| begins_document(part.text));
        let code = code || self.word.is(WordKinds::CODE);
        self.document = document && !code && !self.in_path && self.is_only_document(name);
        let mut last = self.word;
        let mut counted = false;
        // The part before this one was chance.
        let mut replaced = false;
        for (index, part) in parts.iter().enumerate() {
            let text = part.text;
            self.out.push_str(&name[part.from..part.at]);
            let ends = index > 0 && index + 1 == parts.len();
            let before = replaced;
            let hyphen = name[part.from..part.at].ends_with('-');
            let short = text.len() <= 5;
            let suffix = ends && hyphen && (is_pod_suffix(text) || before && short);
            // Trino's `20261126_101112_00042_km1kb`.
            let behind_id = self.out.trim_end_matches('_').ends_with(ID);
            let mixed = short && !is_number(text) && has_digit(text);
            let suffix = suffix || ends && behind_id && mixed;
            let suffix = suffix || ends && hyphen && self.temporary && is_of_mkdtemp(text);
            let beside = before || parts.get(index + 1).is_some_and(|next| next.chance);
            let number = text.bytes().position(|b| b.is_ascii_digit());
            let mut stem = 0;
            // Playwright cuts long names of folders, and puts a hash in between.
            let hashed = (self.in_path || parts.len() > 3) && several && is_short_hash(text);
            let odd = || is_odd(text) || shape::turns(text.as_bytes()) > 1;
            // `tempfile` fills a name up with eight of its alphabet.
            let filled = self.temporary && is_filled_by_tempfile(text);
            let tagged = ends && hyphen && (is_short_tag(text) || filled);
            // All of a file's name, in a folder of the run.
            let numbered = self.temporary && index == 0 && is_number(text) && several;
            let made_up = made && text.len() >= 6 && odd() || hashed || tagged || numbered;
            let chance = match part.shape {
                _ if part.chance || suffix || made_up => true,
                PartShape::Random => true,
                PartShape::Word => {
                    machine && (number.is_some() || text.len() >= 6 && is_odd(text))
                        || beside && is_mixed(text)
                }
                PartShape::Number => {
                    counted = self.is_counted(text, last, counted, ends, machine || local)
                        || ends && self.is_partition(name);
                    beside || counted
                }
                PartShape::Numbered(at) => {
                    stem = at;
                    let means = kinds(&text[..at]).is(WordKinds::VERSION | WordKinds::CODE);
                    counted = machine
                        || local
                        || beside && !means
                        || is_counting(&text[..at], text.len() - at);
                    let no_word = machine && at > 3 && !is_wordlike(&text.as_bytes()[..at]);
                    if no_word || beside && is_mixed(text) {
                        stem = 0;
                    }
                    counted || stem == 0
                }
            };
            match (chance, part.day) {
                (_, true) => {
                    // A moment is no version.
                    let moment = text.len() >= "20261126193012".len();
                    let kept = self.version > 0 && !moment || self.compares;
                    self.out.push_str(if kept { text } else { TIME });
                }
                (true, false) => {
                    self.out.push_str(if suffix { "" } else { &text[..stem] });
                    self.push_id();
                }
                (false, false) => self.out.push_str(text),
            }
            replaced = chance;
            if !is_number(text) {
                last = kinds_of(text);
            }
        }
        counted
    }

    /// Whether a number in a name counts something.
    fn is_counted(
        &self,
        n: &str,
        last: WordKinds,
        counted: bool,
        ends: bool,
        machine: bool,
    ) -> bool {
        if machine {
            return true;
        }
        if n.len() >= FAR && ends && (last == WordKinds::default() || last == WordKinds::DOCUMENT) {
            return true;
        }
        // The number of an order or an invoice, and what it begins with.
        const DOCUMENT: usize = 6;
        let document = n.len() >= DOCUMENT && !n.starts_with('0') && ends && self.document;
        if document {
            return true;
        }
        // A year in the name of a table is chosen.
        let year = n.len() == 4 && ("1990".."2040").contains(&n) && !self.temporary;
        let code = ["code ", "Code "]
            .iter()
            .any(|word| self.text[..self.at].ends_with(word));
        if last.is(WordKinds::CODE | WordKinds::VERSION) || code || year && !counted {
            return false;
        }
        counted
            || ends && self.word.is(WordKinds::COUNTER)
            || last.is(WordKinds::COUNTER | WordKinds::ID | WordKinds::TEMPORARY)
            || n.len() >= (if self.in_path { 3 } else { 4 }) && !self.compares && self.version == 0
    }
}

/// Where what is made up begins in a name that a program invents: all of
/// Docker's `quirky_darwin`, what follows `runnervm`, and the hash of a class
/// of styles.
fn invented(name: &str) -> Option<usize> {
    // Angular marks what belongs to a component.
    for mark in ["_ngcontent-", "_nghost-"] {
        if name.starts_with(mark) {
            return Some(mark.len());
        }
    }
    // The hash of a class of styles: `Button_primary__OqfZB`.
    if let Some((class, hash)) = name.rsplit_once("__")
        && (5..=8).contains(&hash.len())
        && !class.is_empty()
        && is_odd(hash)
        && hash.bytes().skip(1).any(|b| !b.is_ascii_lowercase())
    {
        return Some(name.len() - hash.len());
    }
    if let Some((first, second)) = name.split_once('_') {
        let second = second.trim_end_matches(|c: char| c.is_ascii_digit());
        let docker = kinds(first).is(WordKinds::QUALITY) && kinds(second).is(WordKinds::SURNAME);
        return docker.then_some(0);
    }
    if let Some(hash) = name.strip_prefix("veth") {
        return (hash.len() == 7 && is_hex(hash.as_bytes())).then_some("veth".len());
    }
    let of_styles = ["css-", "svelte-"];
    if let Some(mark) = of_styles.into_iter().find(|mark| name.starts_with(mark)) {
        let hash = &name[mark.len()..];
        let of_hash = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
        let odd = has_digit(hash) || !is_wordlike(hash.as_bytes());
        let is_hash = (5..=8).contains(&hash.len()) && hash.bytes().all(of_hash) && odd;
        return is_hash.then_some(mark.len());
    }
    machine_prefix(name)
}

/// Five digits of a hash: one of a folder's name.
fn is_short_hash(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    text.len() == 5 && is_hex(text.as_bytes()) && digits > 1
}

/// Whether the last part of a name is five or six digits to the base of sixteen, of
/// which several are letters, and several are not.
fn is_short_tag(text: &str) -> bool {
    let digits = text.bytes().filter(u8::is_ascii_digit).count();
    let letters = text.len() - digits;
    matches!(text.len(), 5 | 6) && is_hex(text.as_bytes()) && digits >= 2 && letters >= 2
}

/// How much of a name is words for machines that are written as one, with what
/// tells this machine from others behind them.
fn machine_prefix(name: &str) -> Option<usize> {
    const LONGEST: usize = 12;
    let is_part = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    if !name.bytes().all(is_part) {
        return None;
    }
    let longest = |from: usize, shortest: usize| {
        let ends = (from + shortest..=name.len().min(from + LONGEST)).rev();
        ends.into_iter()
            .find(|end| kinds(&name[from..*end]).is(WordKinds::MACHINE))
    };
    let end = longest(longest(0, 4)?, 2)?;
    (3..=LONGEST).contains(&(name.len() - end)).then_some(end)
}

/// A part of a name, with what stands before it.
struct NamePart<'n> {
    from: usize,
    at: usize,
    text: &'n str,
    shape: PartShape,
    /// Its shape alone tells that it is chance.
    chance: bool,
    /// It is a day, or a moment.
    day: bool,
}

fn parts_of(name: &str) -> Vec<NamePart<'_>> {
    let is_joint = |b: u8| matches!(b, b'-' | b'.' | b'_');
    let mut parts = Vec::new();
    let mut from = 0;
    let mut at = 0;
    while at < name.len() {
        let rest = &name[at..];
        if is_joint(rest.as_bytes()[0]) {
            at += 1;
            if at == name.len() {
                // What a name ends with belongs to its last part.
                parts.push(NamePart {
                    from,
                    at,
                    text: "",
                    shape: PartShape::Word,
                    chance: false,
                    day: false,
                });
            }
            continue;
        }
        let uuid = uuid(rest.as_bytes());
        // What a text begins with was looked at before, but for parts of a path.
        let day = moment(rest).filter(|moment| moment.day && (at > 0 || moment.clock));
        let day = day.map(|day| day.len).or_else(|| dotted_day(name, at));
        let len = match (uuid, day) {
            (Some(_), _) => 36,
            (None, Some(day)) => day,
            // Kubernetes glues its word to the id in the names of control groups.
            (None, None) if is_pod_group(rest) => "pod".len(),
            (None, None) => rest.bytes().position(is_joint).unwrap_or(rest.len()),
        };
        let text = &rest[..len.min(rest.len())];
        let shape = match uuid {
            Some(true) => PartShape::Random,
            Some(false) => PartShape::Word,
            None => shape(text),
        };
        parts.push(NamePart {
            from,
            at,
            text,
            shape,
            chance: shape == PartShape::Random,
            day: day.is_some(),
        });
        at += len;
        from = at;
    }
    // `INV-20261126-7512`: the day and the number were given together.
    for index in 1..parts.len() {
        let number = |part: &NamePart<'_>| part.shape == PartShape::Number && part.text.len() >= 3;
        let followed = parts.get(index + 1).is_some_and(number);
        parts[index].chance |= followed && is_compact_day(parts[index].text);
    }
    parts
}

/// Whether eight digits are a day of this century's first half.
fn is_compact_day(text: &str) -> bool {
    let in_range = |at: usize, from: &str, to: &str| {
        let two = text.get(at..at + 2);
        two.is_some_and(|two| (from..=to).contains(&two))
    };
    text.len() == "20261126".len()
        && is_number(text)
        && text.starts_with("20")
        && in_range(2, "10", "49")
        && in_range(4, "01", "12")
        && in_range(6, "01", "31")
}

/// The length of a day that a name ends with, as in `shop-2026.11.26`.
fn dotted_day(name: &str, at: usize) -> Option<usize> {
    let day = &name[at..];
    let joined = name[..at].ends_with(['-', '_']);
    let is_digit =
        |at: usize, b: u8| matches!(at, 4 | 7) == (b == b'.') && (b == b'.' || b.is_ascii_digit());
    let formed =
        day.len() == "2026.11.26".len() && day.bytes().enumerate().all(|(at, b)| is_digit(at, b));
    (joined && formed && day.starts_with("20")).then_some(day.len())
}

fn is_pod_group(text: &str) -> bool {
    let id = text.strip_prefix("pod");
    id.is_some_and(|id| uuid(id.as_bytes()).is_some())
}

/// What is known of a word, or of the one before its number.
fn kinds_of(word: &str) -> WordKinds {
    let word = word.trim_start_matches('$');
    let found = kinds(word);
    let stem = word.trim_end_matches(|c: char| c.is_ascii_digit());
    match found == WordKinds::default() && stem.len() < word.len() {
        true => kinds(stem),
        false => found,
    }
}

/// Whether a part of a folder's name looks like the six characters that `mkdtemp`
/// puts behind a prefix: of two kinds, and not all of it words.
fn is_of_mkdtemp(part: &str) -> bool {
    let bytes = part.as_bytes();
    if bytes.len() != 6 || !bytes.iter().all(u8::is_ascii_alphanumeric) {
        return false;
    }
    let letters = part.trim_end_matches(|c: char| c.is_ascii_digit());
    let is_word = |letters: &str| {
        let same = letters.bytes().skip(1).all(|b| b.is_ascii_lowercase())
            || letters.bytes().all(|b| b.is_ascii_uppercase());
        same && (letters.len() < 3 || is_wordlike(letters.as_bytes()))
    };
    let named = kinds(letters).is(WordKinds::NAME);
    let capital = bytes.iter().any(u8::is_ascii_uppercase);
    // `us-west1a`
    let words = in_words(bytes) >= if capital { bytes.len() } else { 4 };
    !(named || words || is_word(letters) || is_number(part))
}

/// Whether capitals, small letters and digits are mixed as in no word.
fn is_mixed(part: &str) -> bool {
    let small = |b: u8| b.is_ascii_lowercase() || b.is_ascii_digit();
    let has = |is: fn(&u8) -> bool| part.as_bytes().iter().any(is);
    let kinds = [
        u8::is_ascii_lowercase,
        u8::is_ascii_uppercase,
        u8::is_ascii_digit,
    ];
    let plain = part.bytes().skip(1).all(small) && !has_digit(part);
    kinds.into_iter().filter(|is| has(*is)).count() > 1 && !plain && is_odd(part)
}

/// Whether so many digits behind a word count something.
fn is_counting(word: &str, digits: usize) -> bool {
    let found = kinds(word.trim_start_matches('$'));
    if found.is(WordKinds::COUNTER | WordKinds::MACHINE) {
        return true;
    }
    if word.bytes().all(|b| b.is_ascii_uppercase()) {
        return digits >= 7;
    }
    digits >= 6 || digits >= 4 && word.len() > 3 && !found.is(WordKinds::CODE)
}

/// How much of a name is words in small letters before something else, or what the number
/// of a document begins with.
fn prefix_len(name: &str) -> usize {
    const SHORTEST_ID: usize = 8;
    let mut len = 0;
    while let Some(end) = name[len..].find(['-', '_', '.']) {
        let word = &name[len..len + end];
        let document = len == 0 && word.len() > 1 && begins_document(word);
        let plain = word.len() > 1 && word.bytes().all(|b| b.is_ascii_lowercase()) || document;
        let known = is_wordlike(word.as_bytes()) || word.len() < 4;
        if !plain || !known || name.len() - len - end <= SHORTEST_ID {
            break;
        }
        len += end + 1;
    }
    len
}

/// Whether a hexadecimal number is one of the status codes of Windows, which
/// mean something, and no address.
fn is_status(addr: &str) -> bool {
    let status = |prefix: &str| {
        addr.get(..prefix.len())
            .is_some_and(|head| head.eq_ignore_ascii_case(prefix))
    };
    addr.len() == 10 && (status("0x800") || status("0xC0") || status("0x801"))
}
