//! Numbers: what they count, measure or mean is told by their place and by the
//! words beside them.

use super::host::is_known;
use super::moment::moment;
use super::shape::is_number;
use super::walk::{AMOUNT, ID, IP, LINE, PORT, Preceding, TIME, Walk, is_word, name_len};
use super::words::{WordKinds, is_counted_by, kinds};
use std::net::Ipv4Addr;

impl Walk<'_> {
    /// A number, or a name that is made of numbers; `false` if it is neither.
    pub(super) fn numeric(&mut self, name: &str) -> bool {
        let (digits, rest) = split_digits(name);
        let unit = self.unit_len(name);
        if let Some(len) = unit {
            self.amount(len);
            return true;
        }
        let suffix = ["", "L", "l", "f", "F", "d", "D", "n", "u"];
        if suffix.contains(&rest) {
            let instead = self.number(digits);
            self.put_number(name.len(), instead);
            return true;
        }
        if let Some(fraction) = fraction_of(name) {
            // A moment so fine is nobody's value.
            let moment = is_epoch(digits) && fraction.len() >= 3;
            let exact = rounded(name);
            let computed = exact.is_none() && self.version == 0 && is_computed(digits, fraction);
            let chance = moment || computed || self.is_measured(digits, fraction);
            let exact = exact.filter(|_| !chance);
            self.put_number(name.len(), exact.as_deref().or(chance.then_some(ID)));
            return true;
        }
        if name.split('.').all(is_number) {
            let ip = name.parse::<Ipv4Addr>().ok().filter(|_| self.version == 0);
            let instead = match ip {
                Some(ip) => (!is_known(ip)).then_some(IP),
                None => {
                    let long = name.split('.').any(|part| part.len() > 4);
                    // Erlang's processes: `<0.721.0>`
                    let process =
                        self.out.ends_with('<') && self.rest()[name.len()..].starts_with('>');
                    (long || process || self.word.is(WordKinds::COUNTER)).then_some(ID)
                }
            };
            self.put(name.len(), instead);
            self.before = Preceding::Host;
            return true;
        }
        false
    }

    /// Puts a number or what stands for it.
    fn put_number(&mut self, len: usize, instead: Option<&str>) {
        let file = self.before == Preceding::File;
        // Of bytes, how many they are is chance too.
        if instead == Some(ID) && self.in_bytes() {
            let listed = self.out.trim_end_matches([' ', ',', '+', '-', '\n']);
            if listed.ends_with(ID) {
                self.out.truncate(listed.len());
                self.put(len, Some(""));
                return;
            }
        }
        match instead {
            Some(LINE) => {
                // A column follows its line.
                while self.out.ends_with(':') {
                    self.out.pop();
                }
                let told = self.out.ends_with(LINE);
                self.put(len, Some(if told { "" } else { LINE }));
            }
            _ => self.put(len, instead),
        }
        self.before = match instead {
            Some(LINE) if file => Preceding::File,
            Some(ID | LINE) => Preceding::Counted,
            _ => Preceding::Other,
        };
    }

    /// What stands for a whole number here, if it is chance.
    fn number(&self, n: &str) -> Option<&'static str> {
        let gap = self.gap();
        if is_status_of_windows(n) {
            return None;
        }
        let adjoins = self.at > 0 && self.ended > 0;
        if self.before == Preceding::File
            && adjoins
            && (matches!(gap, ":" | "(" | ",") || gap == " " && self.next_is(":", n.len()))
        {
            return Some(LINE);
        }
        let tuple = || gap.len() <= 4 && gap.contains(", ") && n.len() >= 4;
        let bare_port = || {
            gap.strip_suffix(':')
                .is_some_and(|before| before.is_empty() || before.ends_with([' ', ':', ']', '*']))
        };
        let host = self.before == Preceding::Host && (gap == ":" || tuple());
        let bare = gap != ":" && !self.compares && bare_port();
        // Behind a machine's own name stands what it numbers itself, if not a service.
        if self.before == Preceding::Host && gap == ":" && self.out.ends_with("<id>:") {
            return (!kinds(n).is(WordKinds::SERVICE)).then_some(PORT);
        }
        if n.len() <= 5 && (host || bare || self.word.is(WordKinds::PORT)) {
            return is_ephemeral(n).then_some(PORT);
        }
        if gap == ":" && kinds(n).is(WordKinds::SERVICE) {
            return None;
        }
        // `OperationalError: (2003)`, `(1049, "…")`
        let behind = self.byte(self.at + n.len());
        if gap.ends_with(": (") && n.len() <= 5 && matches!(behind, Some(b')' | b',')) {
            return None;
        }
        // Erlang's tuples, MATLAB's stacks: `In /w/tBank.m (tBank.isHalved) at 22`
        let line = self.text[..self.at].rsplit('\n').next().unwrap_or_default();
        let of_stack = line.trim_start().starts_with("In ") && line.ends_with(") at ");
        if line.ends_with("{line,") || of_stack {
            return Some(LINE);
        }
        // The version of what an ARN names.
        if gap == ":" && n.len() < 12 && self.in_arn() {
            return Some(ID);
        }
        let key = self.word.is(WordKinds::KEY) && gap.starts_with("\":");
        // How many lines there are is a value.
        let counts = self.compares && self.text[..self.at].ends_with("lines\":");
        if self.word.is(WordKinds::PLACE) && !counts || key {
            return Some(LINE);
        }
        // Of a session that Apple's libraries number.
        if self.out.ends_with("<id>>.<") {
            return Some(ID);
        }
        // Akka tells an actor from others of its name so, and Moq a double.
        let of_double = gap == ":" && self.rest()[n.len()..].starts_with('>');
        if gap.ends_with("#-") || of_double && self.text[..self.ended].rfind("Mock<").is_some() {
            return Some(ID);
        }
        // nginx numbers its connections so, sanitizers and Valgrind their process.
        if gap.ends_with('*') || gap.ends_with("==") && self.rest()[n.len()..].starts_with("==") {
            return Some(ID);
        }
        // No version is so long, but a day.
        let run = n.len() >= FAR && self.version > 0 && !self.compares;
        if is_epoch(n) || n.len() >= 15 || run || self.in_bytes() {
            return Some(ID);
        }
        if self.before == Preceding::Counted && gap.len() <= 2 && !gap.contains('=') {
            return Some(ID);
        }
        if self.is_logged_process(n.len()) || self.is_named_process() {
            return Some(ID);
        }
        // nginx and others tell how many bytes they answered.
        let http = |before: &str| {
            let (request, status) = before.trim_end().rsplit_once(' ').unwrap_or_default();
            is_number(status)
                && request
                    .rsplit(' ')
                    .next()
                    .is_some_and(|v| v.starts_with("HTTP/"))
        };
        if gap == " " && http(&self.text[..self.at]) {
            return Some(ID);
        }
        // `response time in milliseconds: 16237`
        if self.text[..self.at].ends_with("time in milliseconds: ") {
            return Some(ID);
        }
        let behind_number = &self.rest()[n.len()..];
        let is_status = n.len() == 3 && n.starts_with(['1', '2', '3', '4', '5']);
        let is_measured = self.version == 0 && self.is_measured_against(behind_number, n.len());
        // `code 3 at limit 10`; `Error: 690 of 100` begins a sentence.
        let is_code = self.word.is(WordKinds::CODE) && gap != ": ";
        if is_measured && !is_code && !(is_status && self.text[..self.at].ends_with("got ")) {
            return Some(ID);
        }
        if self.word.is(WordKinds::CODE) && !gap.contains(']') {
            return None;
        }
        if self.counts && (gap == ": " || gap.ends_with('=')) && self.version == 0 {
            return Some(ID);
        }
        // How often a client asked before it gave up, beside the id of its request.
        if self.out.ends_with("<id>, attempts: ") {
            return Some(ID);
        }
        // Shells name the process of a line that a signal ended.
        let ended = behind_number
            .trim_start()
            .starts_with(|c: char| c.is_ascii_uppercase());
        if self.out.ends_with("<line>: ") && behind_number.starts_with(' ') && ended {
            return Some(ID);
        }
        // `2026-11-26 19:30:12 8597 WARNING`
        let level = |rest: &str| {
            let word = rest.bytes().take_while(|b| is_word(*b)).count();
            kinds(&rest[..word]).is(WordKinds::LEVEL)
        };
        if self.out.ends_with("<time> ") && behind_number.strip_prefix(' ').is_some_and(level) {
            return Some(ID);
        }
        // The descriptor of a file that Python has no name of.
        if self.text[..self.at].ends_with("IOWrapper name=") {
            return Some(ID);
        }
        if is_counted_by(behind_number) {
            return Some(ID);
        }
        // QuickCheck and its kin.
        if self.out.ends_with("after ") && self.rest()[n.len()..].starts_with(" tests") {
            return Some(ID);
        }
        let counting = WordKinds::COUNTER | WordKinds::RECORD | WordKinds::MACHINE | WordKinds::ID;
        // `node:20` is a version of an image, and `node >=18` what is required.
        let required = gap.starts_with(' ') && gap.trim_end().ends_with(['=', '^', '~']);
        let tag = (gap == ":" || required) && n.len() < 4 && self.word.is(WordKinds::MACHINE);
        let counted = self.word.is(counting) && !tag;
        if counted && !(self.compares && n.len() < 4 && gap.contains(' ')) {
            return Some(ID);
        }
        let many = n.len() >= 3;
        // `-32601` is a code.
        let signed = self.out.ends_with('-') && !gap.contains("--");
        // `postgres[812]`, `[812] fatal`; not `exception [429]`.
        let of_process = |before: &str| {
            before.is_empty()
                || before.ends_with(['\n'])
                || before.ends_with(": ")
                || before.ends_with(|c: char| c.is_alphanumeric() || c == '>')
        };
        let bracketed = !self.compares && self.out.strip_suffix('[').is_some_and(of_process);
        let marked = gap.ends_with(['#', '*']) || bracketed;
        let chance = if self.version > 0 || signed {
            false
        } else if marked || self.next_is(" of ", n.len()) || self.next_is("#", n.len()) {
            many
        } else if self.is_limit() {
            false
        } else if self.limits {
            let is_status = n.len() == 3 && n.starts_with(['1', '2', '3', '4', '5']);
            let got = self.bounded && self.out.ends_with("got ") && !is_status;
            many || self.coarse || got || is_held_against_limit(behind_number)
        } else {
            let compared = self.compares && !(n.len() >= 4 && self.is_told_by_the_way(n));
            !compared && (self.coarse || n.len() >= 4)
        };
        chance.then_some(ID)
    }

    /// Whether this is one of the bytes that Node and its test runners show of a
    /// `Buffer` as numbers.
    fn in_bytes(&self) -> bool {
        const FAR: usize = 600;
        let before = &self.text[..self.at];
        let before = &before[before.floor_char_boundary(before.len().saturating_sub(FAR))..];
        let Some(list) = before.rfind('[') else {
            return false;
        };
        let of = before[..list].trim_end_matches([' ', '\n', '+', '-']);
        let bytes = ["Uint8Array]", "Buffer", "\"data\":", "Uint8Array"];
        let numbers = before[list + 1..].bytes();
        let mut numbers = numbers.map(|b| b.is_ascii_digit() || b", +-\n".contains(&b));
        numbers.all(|is_number| is_number) && bytes.iter().any(|name| of.ends_with(name))
    }

    /// Whether this stands in a name of a resource of AWS.
    pub(super) fn in_arn(&self) -> bool {
        let before = &self.text[..self.at];
        let begin = before.rfind([' ', '\'', '"', '(', '\n']);
        before[begin.map_or(0, |at| at + 1)..].starts_with("arn:")
    }

    /// Whether a line of a log begins with this number of a process, however
    /// small, as in `[87] fatal: …`.
    fn is_logged_process(&self, len: usize) -> bool {
        let begins = |before: &str| {
            let before = before.strip_suffix("<time> ").unwrap_or(before);
            let before = before.trim_end_matches([' ', '+', '-']);
            before.is_empty() || before.ends_with('\n')
        };
        // Of an exception, it may be the status of an answer.
        let number = &self.rest()[..len];
        let is_status = len == 3 && number.starts_with(|c: char| ('1'..='5').contains(&c));
        let raised = |before: &str| {
            let classes = ["Error: ", "Exception: "];
            !is_status && classes.iter().any(|class| before.ends_with(class))
        };
        let opened =
            |before: &str| begins(before) || raised(before) || before.ends_with(['\'', '"']);
        let first = self.out.strip_suffix('[').is_some_and(opened);
        let behind = self.rest().get(len..).and_then(|rest| {
            // A thread may be told with it: `[29632:MainThread] `.
            let thread = rest.strip_prefix(':').map(|rest| &rest[name_len(rest)..]);
            thread.unwrap_or(rest).strip_prefix("] ")
        });
        let of_log = |behind: &str| {
            let word = behind.bytes().take_while(|b| is_word(*b)).count();
            kinds(&behind[..word]).is(WordKinds::LEVEL) || moment(behind).is_some()
        };
        let levelled = || {
            let before = self.out.strip_suffix(" [").unwrap_or_default();
            let (logged, level) = before.rsplit_once(' ').unwrap_or_default();
            logged.ends_with(TIME) && kinds(level).is(WordKinds::LEVEL)
        };
        let timed = self.out.ends_with("<time> [") || levelled();
        timed && behind.is_some() || first && behind.is_some_and(of_log)
    }

    /// Whether the amount that stands here, so many bytes, is one that people write:
    /// of one digit, or with zeros behind its first two.
    fn is_round(&self, len: usize) -> bool {
        let (number, _) = split_number(&self.rest()[..len]);
        let zeros = number.len() - number.trim_end_matches('0').len();
        is_number(number) && number.len() - zeros <= 2
    }

    /// Whether the amount that stands here, so many bytes, has no fraction.
    fn is_whole(&self, len: usize) -> bool {
        is_number(split_number(&self.rest()[..len]).0)
    }

    /// Whether the sign of a limit stands right before, as in `p(95)<400ms`. In `<400ms>`
    /// it is a bracket.
    fn is_behind_sign_of_limit(&self) -> bool {
        let before = self.text[..self.at].trim_end_matches('=');
        let measured = before.strip_suffix(['<', '>']);
        measured.is_some_and(|what| what.ends_with(|c: char| c.is_alphanumeric() || c == ')'))
    }

    /// Whether a number of this length is how many of what there may be, whatever its size:
    /// `690 of 100 slow`, `deleted 17 rows, limit 10`.
    fn is_measured_against(&self, behind: &str, len: usize) -> bool {
        let begins = self.out.is_empty() || self.out.ends_with('\n') || self.out.ends_with(": ");
        !self.compares && (begins && self.next_is(" of ", len) || is_counted_before_bound(behind))
    }

    /// Whether what a limit is called stands right before.
    fn is_behind_bound(&self) -> bool {
        let before = &self.text[..self.ended];
        // The least and the most of what was measured are called so, too.
        let of_series = ["maximum", "minimum"];
        let bounds = BOUNDS.iter().filter(|bound| !of_series.contains(bound));
        let mut bounds = bounds.chain(&["at most", "at least"]);
        let joins = matches!(self.gap(), " " | "=" | ": " | " = ");
        joins && bounds.any(|bound| before.ends_with(bound))
    }

    /// Whether what was measured is held against what stands here: `600 MB exceeds 512 MB`,
    /// `311 ms > 250 ms`, `took longer than 200 ms`.
    fn is_behind_relation(&self) -> bool {
        const WORDS: [&str; 8] = [
            "exceeds",
            "exceeded",
            "over",
            "above",
            "below",
            "under",
            "more than",
            "less than",
        ];
        const ALONE: [&str; 2] = ["longer than", "larger than"];
        let before = &self.text[..self.ended];
        let ends = |words: &[&str]| words.iter().any(|word| before.ends_with(word));
        let gap = self.gap();
        let signs = [" > ", " < ", " >= ", " <= "];
        let is_relation = gap == " " && ends(&WORDS) || signs.contains(&gap);
        let line = before.rsplit('\n').next().unwrap_or_default();
        gap == " " && ends(&ALONE) || is_relation && line.contains(|c: char| c.is_ascii_digit())
    }

    /// Whether a number stands behind the words or the sign of a limit.
    fn is_limit(&self) -> bool {
        let gap = self.gap();
        self.word.is(WordKinds::LIMIT | WordKinds::RELATION)
            || [" < ", " > ", "= "].iter().any(|sign| gap.contains(sign))
            || gap.contains(" of ")
    }

    /// Whether this follows the name of this length, and then a number.
    fn next_is(&self, text: &str, len: usize) -> bool {
        let rest = &self.rest()[len..];
        let number = rest.strip_prefix(text);
        number.is_some_and(|number| number.starts_with(|c: char| c.is_ascii_digit()))
    }

    /// Whether a number with a fraction is a measured one.
    fn is_measured(&self, digits: &str, fraction: &str) -> bool {
        if self.version > 0 || self.compares && !self.limits || self.is_limit() {
            return false;
        }
        let signed = self.out.ends_with(" -");
        self.limits
            || self.counts
            || signed
            || self
                .word
                .is(WordKinds::MEASURE | WordKinds::COUNTER | WordKinds::PORT)
            || digits.len() >= 3
            || fraction.len() >= 3
    }

    /// How much of the text is an amount with its unit.
    fn unit_len(&self, name: &str) -> Option<usize> {
        let after = &self.rest()[name.len()..];
        let (_, unit) = split_number(name);
        if unit.is_empty() {
            if after.starts_with('%') {
                return Some(name.len() + 1);
            }
            // `89.6/91.0 MB`: so much of the whole.
            if let Some(whole) = after.strip_prefix('/') {
                let (number, rest) = split_number(whole);
                let space = usize::from(rest.starts_with(' '));
                let unit = &rest[space..];
                let unit = &unit[..unit.bytes().take_while(|b| is_word(*b)).count()];
                let known = unit.len() > 1 && kinds(unit).is(WordKinds::UNIT);
                return (known && !number.is_empty())
                    .then(|| name.len() + 1 + number.len() + space + unit.len());
            }
            let word = after.strip_prefix(' ')?;
            let word = &word[..word.bytes().take_while(|b| is_word(*b)).count()];
            let known = kinds(word).is(WordKinds::UNIT) && (word.len() > 1 || word == "s");
            return known.then(|| name.len() + 1 + word.len());
        }
        // `1h30m5.5s`
        let mut rest = name;
        while !rest.is_empty() {
            let (number, after) = split_number(rest);
            let letters = after
                .bytes()
                .take_while(|b| b.is_ascii_alphabetic() || !b.is_ascii());
            let (unit, more) = after.split_at(letters.count());
            let known = kinds(unit).is(WordKinds::UNIT)
                && (unit.len() > 1 || unit.bytes().all(|b| b.is_ascii_lowercase()));
            if number.is_empty() || !known {
                return None;
            }
            rest = more;
        }
        Some(name.len())
    }

    /// An amount is what was measured, unless two are compared.
    fn amount(&mut self, len: usize) {
        let opened = self.out.ends_with(['\'', '"', '<', '[']);
        let told = ["was ", "got ", "be ", "= "]
            .iter()
            .any(|word| self.out.ends_with(word));
        let value = self.compares
            && !self.limits
            && (opened || told || self.word.is(WordKinds::COMPARISON))
            && !self.in_prose(len);
        // `Timeout of 4000ms exceeded` tells how long it may take, and not how long
        // it took.
        let set = self.word.is(WordKinds::LIMIT) && self.text[..self.at].ends_with(" of ");
        let value = value || (set || self.is_behind_sign_of_limit()) && self.is_round(len);
        let value =
            value || (self.is_behind_bound() || self.is_behind_relation()) && self.is_whole(len);
        self.put_number(len, if value { None } else { Some(AMOUNT) });
    }
}

/// What a limit is called right before its number.
const BOUNDS: [&str; 7] = [
    "limit",
    "maximum",
    "minimum",
    "threshold",
    "budget",
    "quota",
    "capacity",
];

/// Nobody numbers things so far, nor chooses a moment in seconds.
pub(super) const FAR: usize = 9;

/// Small ports are chosen by people, and so are those of known services.
fn is_ephemeral(port: &str) -> bool {
    port.len() >= 5 && !kinds(port).is(WordKinds::SERVICE)
}

fn split_digits(text: &str) -> (&str, &str) {
    text.split_at(text.bytes().take_while(u8::is_ascii_digit).count())
}

/// A number, perhaps with a fraction, and what follows it.
fn split_number(text: &str) -> (&str, &str) {
    let (digits, rest) = split_digits(text);
    let fraction = rest
        .strip_prefix('.')
        .map_or(0, |rest| split_digits(rest).0.len());
    let len = digits.len() + if fraction > 0 { fraction + 1 } else { 0 };
    text.split_at(len)
}

/// Whether a number is one by which Windows says how a process ended, as from 0xC0000005 on.
fn is_status_of_windows(n: &str) -> bool {
    n.len() == 10 && n.starts_with("32212")
}

/// Seconds or milliseconds since 1970, in this century's first half.
fn is_epoch(n: &str) -> bool {
    matches!(n.len(), 10 | 13) && ("14".."20").contains(&&n[..2])
}

/// Whether a text goes on behind a number with what it should be less or more than.
fn is_held_against_limit(text: &str) -> bool {
    let told = text
        .strip_prefix(" to be ")
        .or_else(|| text.strip_prefix(" not to be "));
    let told = told.map(|told| told.strip_prefix("at ").unwrap_or(told));
    let word = told.and_then(|told| told.split(' ').next());
    word.is_some_and(|word| kinds(word).is(WordKinds::RELATION | WordKinds::LIMIT))
}

/// Whether a text goes on behind a number with what it counts and a limit of that:
/// ` items exceed limit 100`.
fn is_counted_before_bound(text: &str) -> bool {
    const WORDS: usize = 6;
    let Some(counted) = text.strip_prefix(' ') else {
        return false;
    };
    if !counted.starts_with(|c: char| c.is_ascii_lowercase()) {
        return false;
    }
    let mut is_bound = false;
    for word in counted.split([' ', '=']).take(WORDS) {
        if is_bound && word.starts_with(|c: char| c.is_ascii_digit()) {
            return true;
        }
        is_bound = BOUNDS.contains(&word.trim_matches(['(', ',', ':']));
    }
    false
}

/// Whether a fraction has as many digits as nobody writes, and no period.
fn is_computed(digits: &str, fraction: &str) -> bool {
    const DIGITS: usize = 13;
    const PLACES: usize = 8;
    const CHECKED: usize = 11;
    let fraction = fraction.as_bytes();
    let all = digits.trim_start_matches('0').len() + fraction.len();
    if all < DIGITS || fraction.len() < PLACES {
        return false;
    }
    let has_period = (0..=3).any(|from| {
        let checked = fraction.get(from..from + CHECKED).unwrap_or_default();
        let repeats = |period: usize| {
            let mut ahead = checked.iter().zip(checked.iter().skip(period));
            ahead.all(|(one, next)| one == next)
        };
        checked.len() == CHECKED && (1..=6).any(repeats)
    });
    !has_period
}

/// A number without the noise of a double, where a run of zeros or nines shows it:
/// 12.48 for 12.480000000000002.
fn rounded(number: &str) -> Option<String> {
    /// As many digits has no number that somebody chose.
    const ALL: usize = 15;
    const RUN: usize = 7;
    let (whole, fraction) = number.split_once('.')?;
    if !is_number(whole) || !is_number(fraction) || whole.len() + fraction.len() < ALL {
        return None;
    }
    let zeros = fraction.len() - fraction.trim_start_matches('0').len();
    let from = if whole == "0" { zeros } else { 0 };
    let runs = fraction.as_bytes()[from..].windows(RUN);
    let is_run = |run: &[u8]| run.iter().all(|b| *b == b'0') || run.iter().all(|b| *b == b'9');
    let places = from + runs.into_iter().position(is_run)?;
    let exact = format!("{:.places$}", number.parse::<f64>().ok()?);
    Some(match exact.contains('.') {
        true => exact.trim_end_matches('0').trim_end_matches('.').to_owned(),
        false => exact,
    })
}

/// The fraction of a number that has one, or an exponent.
fn fraction_of(text: &str) -> Option<&str> {
    let (number, exponent) = split_number(text);
    let fraction = number.split_once('.').map_or("", |(_, fraction)| fraction);
    let scaled = exponent
        .strip_prefix(['e', 'E'])
        .is_some_and(|power| is_number(power.strip_prefix(['-', '+']).unwrap_or(power)));
    (scaled || exponent.is_empty() && !fraction.is_empty()).then_some(fraction)
}
