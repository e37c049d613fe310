//! What stands between the bytes of a report and the XML parser.
//!
//! The parser holds a whole piece of markup or text in memory, so something
//! below it must see to it that no piece grows without bound: of text and of
//! attribute values that are too long, the middle is left out while they are
//! read. The parser tells where its pieces begin, so nothing is looked at
//! twice but for the few that go over the border of a buffer.

use super::encoding::{PIECE, Utf8Pieces};
use memchr::{memchr, memchr_iter, memchr2, memchr3, memmem};
use std::io::{self, BufRead, Read};

/// Written where something is left out. It begins and ends with what can't
/// be part of the end of anything.
const GAP: &str = "\n[…]\n";

/// How many times the limit all attributes of one element may take.
const TAG: usize = 8;

/// Where in a piece of markup the input stands.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum MarkupKind {
    /// Text, up to `<` or `&`.
    Text,
    /// What began with `&`.
    Reference,
    /// A start or end tag; within quotes, the quote.
    Tag(Option<u8>),
    Comment,
    CData,
    Instruction,
    Doctype,
}

/// UTF-8 of a report, without the middle of what is too long.
pub(super) struct BoundedSource<'r> {
    text: Utf8Pieces<'r>,
    /// It is no XML, and is passed on as it is.
    plain: bool,
    /// What the parser gets now.
    piece: String,
    at: usize,
    /// Where in `piece` the parser's current token began; 0 if it began
    /// before.
    token: usize,
    /// Bytes at its beginning that are not of the report.
    gap: usize,
    /// Bytes of the token before `piece`.
    carried: usize,
    /// First bytes of the token, if it began before `piece`.
    lead: Vec<u8>,
    /// Quote that is open at the beginning of `piece`.
    quote: Option<u8>,
    /// Ends of lines, and bytes, before `piece`.
    lines: u64,
    bytes: u64,
    /// Ends of lines in `piece` behind the gap.
    ends: u64,
    token_line: u64,
    limit: usize,
    /// Bytes that were left out of the current token.
    missing: u64,
    /// The line of the first character that XML doesn't allow.
    pub(super) control: Option<u64>,
}

impl<'r> BoundedSource<'r> {
    /// Keeps at least `limit` bytes of each end of a token.
    pub(super) fn new(input: &'r mut dyn BufRead, limit: usize) -> Self {
        Self {
            text: Utf8Pieces::new(input),
            plain: false,
            piece: String::with_capacity(PIECE + 4),
            at: 0,
            token: 0,
            gap: 0,
            carried: 0,
            lead: Vec::new(),
            quote: None,
            lines: 1,
            bytes: 0,
            ends: 0,
            token_line: 1,
            limit,
            missing: 0,
            control: None,
        }
    }

    /// What follows is no XML: whoever reads it bounds what he holds.
    pub(super) fn is_plain(&mut self) {
        self.plain = true;
    }

    /// The parser stands between two tokens.
    #[inline]
    pub(super) fn token_begins(&mut self) {
        self.token = self.at;
        self.carried = 0;
        self.quote = None;
        self.missing = 0;
        self.lead.clear();
    }

    /// What comes next, as far as it was read; nothing is read here.
    #[inline]
    pub(super) fn ahead(&self) -> &str {
        self.piece.get(self.at..).unwrap_or_default()
    }

    /// Bytes by which the token that was just read is shorter than it was in
    /// the report; it may be longer by what marks the gap.
    pub(super) fn missing(&self) -> i64 {
        if self.missing == 0 {
            return 0;
        }
        i64::try_from(self.missing).unwrap_or(i64::MAX) - GAP.len() as i64
    }

    /// Line, from 1, of the token that is being read.
    pub(super) fn line(&self) -> u64 {
        if self.carried > 0 {
            return self.token_line;
        }
        self.lines + count_lines(&self.piece.as_bytes()[self.gap.min(self.token)..self.token])
    }

    /// Line and byte of the input that is read next.
    pub(super) fn end(&self) -> (u64, u64) {
        let gap = self.gap.min(self.at);
        (
            self.lines + count_lines(&self.piece.as_bytes()[gap..self.at]),
            self.bytes + (self.at - gap) as u64,
        )
    }

    /// The bytes that are counted are those of the report, as far as it was read.
    pub(super) fn counts_its_bytes(&self) -> bool {
        self.text.is_as_it_was()
    }

    /// Reads what is left and keeps nothing of it: what is said of the bytes
    /// is said of all of them, however far the parser came and whatever it
    /// was handed at a time.
    pub(super) fn run_out(&mut self) {
        while let Ok(true) = self.load() {
            self.drop_front(self.piece.len());
        }
    }

    pub(super) fn invalid_bytes(&self) -> u64 {
        self.text.invalid
    }

    pub(super) fn unknown_encoding(&self) -> Option<&str> {
        self.text.unknown.as_deref()
    }

    /// Gets more, after all of `piece` was taken.
    #[cold]
    fn refill(&mut self) -> io::Result<()> {
        let part = &self.piece.as_bytes()[self.token..];
        if !part.is_empty() {
            if self.carried == 0 {
                self.token_line = self.line();
            }
            let lead = 9usize.saturating_sub(self.lead.len()).min(part.len());
            self.lead.extend_from_slice(&part[..lead]);
            self.carried += part.len();
            if matches!(self.kind(), MarkupKind::Tag(_)) {
                let part = &self.piece.as_bytes()[self.token..];
                // It did not end here, or the parser had not asked for more.
                tag_end(&mut self.quote, part);
            }
        }
        let filled = if self.carried > self.limit && !self.plain {
            self.leave_out()
        } else {
            self.pass_on()
        };
        // Where reading failed, less of `piece` may be left than was taken.
        let taken = if filled.is_ok() { 0 } else { self.piece.len() };
        self.at = self.at.min(taken);
        self.token = self.token.min(taken);
        filled
    }

    /// Appends the next bytes of the input to `piece`.
    fn load(&mut self) -> io::Result<bool> {
        let before = self.piece.len();
        self.text.next(&mut self.piece)?;
        let bytes = self.piece.as_bytes();
        let new = &bytes[before..];
        let seen = look_through(new);
        if self.control.is_none() && seen.control {
            let at = new.iter().position(|byte| is_control(*byte)).unwrap_or(0);
            let at = before + at;
            self.control = Some(self.lines + count_lines(&bytes[..at]));
        }
        self.ends += seen.ends;
        Ok(self.piece.len() > before)
    }

    /// Forgets the first bytes of `piece`.
    fn drop_front(&mut self, count: usize) {
        let gap = self.gap.min(count);
        // Mostly all of it goes, whose lines were counted as it came.
        let ends = if count == self.piece.len() {
            self.ends
        } else {
            count_lines(&self.piece.as_bytes()[gap..count])
        };
        self.ends -= ends;
        self.lines += ends;
        self.bytes += (count - gap) as u64;
        self.gap -= gap;
        self.piece.drain(..count);
    }

    /// What the current token is, by its first bytes.
    fn kind(&self) -> MarkupKind {
        match self.lead.as_slice() {
            [b'&', ..] => MarkupKind::Reference,
            [b'<', b'!', b'-', ..] => MarkupKind::Comment,
            [b'<', b'!', b'[', ..] => MarkupKind::CData,
            [b'<', b'!', ..] => MarkupKind::Doctype,
            [b'<', b'?', ..] => MarkupKind::Instruction,
            [b'<', ..] => MarkupKind::Tag(self.quote),
            _ => MarkupKind::Text,
        }
    }

    /// Reads on to the end of what is too long, and keeps its last bytes.
    fn leave_out(&mut self) -> io::Result<()> {
        let kind = self.kind();
        match kind {
            MarkupKind::Doctype => {
                return Err(io::Error::new(
                    io::ErrorKind::InvalidData,
                    format!("a markup declaration of more than {} bytes", self.limit),
                ));
            }
            MarkupKind::Tag(quote) if self.carried > self.limit.saturating_mul(TAG) => {
                return self.close_tag(quote);
            }
            MarkupKind::Tag(None) => return self.pass_on(),
            MarkupKind::Text
            | MarkupKind::Reference
            | MarkupKind::Comment
            | MarkupKind::CData
            | MarkupKind::Instruction
            | MarkupKind::Tag(Some(_)) => {}
        }
        // What ends the token may have begun already.
        let bytes = self.piece.as_bytes();
        let mut border = bytes[bytes.len().saturating_sub(2)..].to_vec();
        self.pass_on()?;
        border.extend(self.piece.bytes().take(2));
        if matches!(
            kind,
            MarkupKind::Comment | MarkupKind::CData | MarkupKind::Instruction
        ) && end_of(kind, &border).is_some()
        {
            return Ok(());
        }
        let mut searched = 0;
        let mut dropped = 0;
        let end = loop {
            if let Some(end) = end_of(kind, &self.piece.as_bytes()[searched..]) {
                break searched + end;
            }
            let over = self.piece.len().saturating_sub(self.limit);
            let over = self.piece.ceil_char_boundary(over);
            if over > PIECE {
                self.drop_front(over);
                dropped += over;
            }
            searched = self.piece.len().saturating_sub(2);
            if !self.load()? {
                break self.piece.len();
            }
        };
        let over = end.saturating_sub(self.limit);
        if over + dropped > 0 {
            let over = self.piece.ceil_char_boundary(over);
            self.drop_front(over);
            self.missing += (dropped + over) as u64;
            self.piece.insert_str(0, GAP);
            self.gap = GAP.len();
        }
        Ok(())
    }

    /// The next bytes, as they are.
    fn pass_on(&mut self) -> io::Result<()> {
        self.drop_front(self.piece.len());
        self.load()?;
        Ok(())
    }

    /// Ends a tag here, and leaves out its remaining attributes.
    fn close_tag(&mut self, mut quote: Option<u8>) -> io::Result<()> {
        let mut closing: String = quote.map(char::from).into_iter().collect();
        let mut last = self.piece.as_bytes().last().copied();
        self.pass_on()?;
        loop {
            if let Some(end) = tag_end(&mut quote, self.piece.as_bytes()) {
                let before = self.piece.as_bytes()[..end].last().copied().or(last);
                self.drop_front(end);
                self.missing += end as u64;
                closing.push(' ');
                closing.extend((before == Some(b'/')).then_some('/'));
                self.gap = closing.len();
                self.piece.insert_str(0, &closing);
                return Ok(());
            }
            last = self.piece.as_bytes().last().copied().or(last);
            self.missing += self.piece.len() as u64;
            self.drop_front(self.piece.len());
            if !self.load()? {
                return Ok(());
            }
        }
    }
}

impl Read for BoundedSource<'_> {
    fn read(&mut self, out: &mut [u8]) -> io::Result<usize> {
        let from = self.fill_buf()?;
        let count = from.len().min(out.len());
        out[..count].copy_from_slice(&from[..count]);
        self.consume(count);
        Ok(count)
    }
}

impl BufRead for BoundedSource<'_> {
    #[inline]
    fn fill_buf(&mut self) -> io::Result<&[u8]> {
        if self.at == self.piece.len() {
            self.refill()?;
        }
        Ok(&self.piece.as_bytes()[self.at..])
    }

    #[inline]
    fn consume(&mut self, count: usize) {
        self.at = (self.at + count).min(self.piece.len());
    }
}

/// Where the token ends, or the value of the attribute.
fn end_of(kind: MarkupKind, bytes: &[u8]) -> Option<usize> {
    match kind {
        MarkupKind::Text | MarkupKind::Tag(None) | MarkupKind::Doctype => {
            memchr2(b'<', b'&', bytes)
        }
        MarkupKind::Reference => memchr3(b';', b'&', b'<', bytes),
        MarkupKind::Tag(Some(quote)) => memchr(quote, bytes),
        MarkupKind::Comment => memmem::find(bytes, b"-->").map(|at| at + 3),
        MarkupKind::CData => memmem::find(bytes, b"]]>").map(|at| at + 3),
        MarkupKind::Instruction => memmem::find(bytes, b"?>").map(|at| at + 2),
    }
}

/// Where a tag ends that is within `quote` or outside of quotes.
fn tag_end(quote: &mut Option<u8>, bytes: &[u8]) -> Option<usize> {
    let mut at = 0;
    loop {
        let rest = &bytes[at..];
        let next = match *quote {
            Some(open) => memchr(open, rest)?,
            None => memchr3(b'>', b'"', b'\'', rest)?,
        };
        *quote = match (*quote, rest[next]) {
            (Some(_), _) => None,
            (None, b'>') => return Some(at + next),
            (None, other) => Some(other),
        };
        at += next + 1;
    }
}

/// As the parser has it: anything below a space but tab and line ends.
fn is_control(byte: u8) -> bool {
    byte < 0x20 && !matches!(byte, b'\t' | b'\n' | b'\r')
}

fn has_control(bytes: &[u8]) -> bool {
    let any = bytes.iter().map(|byte| is_control(*byte));
    any.fold(false, |any, is| any | is)
}

/// What is to be known of all bytes.
#[derive(Default)]
struct Seen {
    control: bool,
    /// Ends of lines.
    ends: u64,
}

/// Both at once. Sums of plain comparisons, as small as bytes and without a
/// way out in between, are what the compiler does for many bytes at a time.
fn look_through(bytes: &[u8]) -> Seen {
    /// No more of a kind than a byte can count.
    const CHUNK: usize = 128;
    let mut seen = Seen::default();
    for chunk in bytes.chunks(CHUNK) {
        let (mut low, mut ends) = (0_u8, 0_u8);
        for byte in chunk {
            low += u8::from(*byte < b' ');
            ends += u8::from(*byte == b'\n');
        }
        // Mostly there is nothing low but ends of lines.
        seen.control |= low != ends && has_control(chunk);
        seen.ends += u64::from(ends);
    }
    seen
}

fn count_lines(bytes: &[u8]) -> u64 {
    memchr_iter(b'\n', bytes).count() as u64
}

#[cfg(test)]
mod tests {
    use super::*;
    use quick_xml::Reader;
    use quick_xml::events::Event;
    use std::io::BufReader;

    const LIMIT: usize = 1024;

    /// What a parser above makes of it, one line an event.
    fn events(xml: &str, buffer: usize) -> Vec<String> {
        let mut input = BufReader::with_capacity(buffer, xml.as_bytes());
        let mut reader = Reader::from_reader(BoundedSource::new(&mut input, LIMIT));
        reader.config_mut().check_end_names = false;
        reader.config_mut().allow_dangling_amp = true;
        let mut seen = Vec::new();
        let mut buffer = Vec::new();
        loop {
            buffer.clear();
            reader.get_mut().token_begins();
            let event = match reader.read_event_into(&mut buffer) {
                Ok(Event::Eof) => break,
                Ok(event) => format!("{event:?}"),
                Err(error) => {
                    seen.push(error.to_string());
                    break;
                }
            };
            seen.push(format!("{event} line {}", reader.get_mut().line()));
        }
        assert!(buffer.capacity() < 20 * LIMIT + 2 * PIECE);
        seen
    }

    fn long(kind: char) -> String {
        kind.to_string().repeat(100 * LIMIT)
    }

    #[test]
    fn what_is_short_is_passed_on_as_it_is() {
        let xml = "<?xml version='1.0'?>\n<!DOCTYPE a>\n<a b='c>' d=\"e'\"><!-- f -->\
                   g &amp; h & i<![CDATA[ ]] > ]]><j/></a>\n";
        let whole = events(xml, 4096);
        assert_eq!(whole.len(), 14, "{whole:#?}");
        for buffer in 1..20 {
            assert_eq!(events(xml, buffer), whole);
        }
    }

    #[test]
    fn the_middle_of_everything_long_is_left_out() {
        let filled = [
            format!("<a>{}</a>", long('é')),
            format!("<a><![CDATA[{}]]></a>", long(']')),
            format!("<a><!--{}--></a>", long('x')),
            format!("<a><?pi {}?></a>", long('?')),
            format!("<a>&{};</a>", long('r')),
            format!("<a b='{}' c=\"d\" e='f'></a>", long('"')),
        ];
        for xml in filled {
            for buffer in [1, 2, 3, 7, 63, 64, 65, 1024] {
                let seen = events(&xml, buffer);
                let text = seen.join("\n");
                assert!(text.contains("[…]"), "{buffer}: {}", text.len());
                assert!(text.len() < 30 * LIMIT + 3 * buffer, "{}", text.len());
                assert!(seen.last().unwrap().starts_with("End("), "{text}");
                assert!(seen[0].starts_with("Start("), "{text}");
                if xml.contains("c=") {
                    assert!(seen[0].contains("e='f'"), "{text}");
                }
            }
        }
    }

    #[test]
    fn of_endless_attributes_the_first_ones_are_kept() {
        use std::fmt::Write as _;
        let mut xml = String::from("<a first='1'");
        for number in 0..10_000 {
            write!(xml, " a{number}='>'").unwrap();
        }
        for (end, event) in [("/>", "Empty("), ("></a>", "Start(")] {
            for buffer in [1, 5, 64, 4096] {
                let seen = events(&format!("{xml}{end}<b/>"), buffer);
                assert!(seen[0].starts_with(event), "{seen:?}");
                assert!(seen[0].contains("first='1'"), "{seen:?}");
                assert!(seen[0].len() < 20 * LIMIT + 3 * buffer, "{}", seen[0].len());
                assert!(seen.last().unwrap().starts_with("Empty("), "{seen:?}");
            }
        }
    }

    #[test]
    fn what_never_ends_is_an_error_and_takes_no_memory() {
        for begin in ["<a b='", "<a ", "<![CDATA[", "<!--", "<?", "<a>&", "<a></"] {
            let seen = events(&format!("{begin}{}", long('x')), 64);
            assert!(seen.join("").len() < 30 * LIMIT, "{begin}");
        }
        let seen = events(&format!("<!DOCTYPE a [{}]><a/>", long(' ')), 16);
        assert!(
            seen[0].contains("a markup declaration of more than 1024 bytes"),
            "{seen:?}"
        );
    }

    #[test]
    fn lines_are_those_of_the_report() {
        let xml = format!("<a>\n{}\n</a>\n\n<b>", "x\n".repeat(1000));
        for buffer in [1, 64, 4096] {
            let seen = events(&xml, buffer);
            let ends: Vec<_> = seen.iter().map(|e| e.rsplit_once(' ').unwrap().1).collect();
            assert_eq!(ends, ["1", "1", "1003", "1003", "1005"], "{seen:?}");
        }
    }
}
