//! Bytes of any encoding → UTF-8, piece by piece.

use encoding_rs::{Decoder, Encoding, UTF_8, UTF_16BE, UTF_16LE};
use std::io::{self, BufRead, ErrorKind};

/// Bytes that are looked at before the first is decoded.
pub(super) const SNIFFED: usize = 4096;

/// Bytes that are decoded at a time.
pub(super) const PIECE: usize = 64 << 10;

/// What the bytes 0x80 to 0x9F are in Windows-1252; from 0xA0 on it is
/// Latin-1.
const WINDOWS_1252: [char; 32] = [
    '€', '\u{81}', '‚', 'ƒ', '„', '…', '†', '‡', 'ˆ', '‰', 'Š', '‹', 'Œ', '\u{8d}', 'Ž', '\u{8f}',
    '\u{90}', '‘', '’', '“', '”', '•', '–', '—', '˜', '™', 'š', '›', 'œ', '\u{9d}', 'ž', 'Ÿ',
];

enum Way {
    /// Nothing was read yet.
    Unknown,
    /// What is no UTF-8 in it is taken for Windows-1252, byte by byte: that
    /// is what writes Latin letters under a declaration of UTF-8.
    Utf8,
    Decoder(Decoder),
}

/// Reads pieces of UTF-8.
pub(super) struct Utf8Pieces<'r> {
    input: &'r mut dyn BufRead,
    way: Way,
    /// Read, and not decoded yet: the beginning, or a part of a character.
    pending: Vec<u8>,
    ended: bool,
    /// What reading said after the bytes that are pending: they count first.
    failed: Option<io::Error>,
    /// Bytes that were no UTF-8.
    pub(super) invalid: u64,
    /// An encoding that is declared, and that nobody knows.
    pub(super) unknown: Option<String>,
}

impl<'r> Utf8Pieces<'r> {
    pub(super) fn new(input: &'r mut dyn BufRead) -> Self {
        Self {
            input,
            way: Way::Unknown,
            pending: Vec::new(),
            ended: false,
            failed: None,
            invalid: 0,
            unknown: None,
        }
    }

    /// What came out is byte for byte what was read, but for a byte order mark.
    pub(super) fn is_as_it_was(&self) -> bool {
        let is_decoded = matches!(self.way, Way::Decoder(_));
        !is_decoded && self.invalid == 0
    }

    /// Appends the next piece to `out`; nothing at the end of the input.
    pub(super) fn next(&mut self, out: &mut String) -> io::Result<()> {
        if matches!(self.way, Way::Unknown) {
            self.sniff()?;
        }
        let before = out.len();
        while out.len() == before && !self.ended {
            if self.failed.is_some() {
                return self.last_words(out);
            }
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => &chunk[..chunk.len().min(PIECE)],
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) => return Err(error),
            };
            let used = chunk.len();
            self.ended = used == 0;
            match &mut self.way {
                Way::Decoder(decoder) => {
                    if !self.pending.is_empty() {
                        let head = std::mem::take(&mut self.pending);
                        decode(decoder, &head, false, out);
                    }
                    decode(decoder, chunk, self.ended, out);
                }
                Way::Utf8 | Way::Unknown => {
                    if self.pending.is_empty() {
                        let rest = utf8(chunk, self.ended, out, &mut self.invalid);
                        self.pending.extend_from_slice(rest);
                    } else {
                        let mut head = std::mem::take(&mut self.pending);
                        head.extend_from_slice(chunk);
                        let rest = utf8(&head, self.ended, out, &mut self.invalid);
                        self.pending.extend_from_slice(rest);
                    }
                }
            }
            self.input.consume(used);
        }
        Ok(())
    }

    /// Decodes what was read before reading failed; then, the failure.
    fn last_words(&mut self, out: &mut String) -> io::Result<()> {
        let before = out.len();
        let pending = std::mem::take(&mut self.pending);
        match &mut self.way {
            Way::Decoder(decoder) => decode(decoder, &pending, false, out),
            Way::Utf8 | Way::Unknown => {
                utf8(&pending, false, out, &mut self.invalid);
            }
        }
        match self.failed.take() {
            Some(error) if out.len() > before => {
                self.failed = Some(error);
                Ok(())
            }
            Some(error) => Err(error),
            None => Ok(()),
        }
    }

    /// Reads the beginning, and chooses the way.
    fn sniff(&mut self) -> io::Result<()> {
        while self.pending.len() < SNIFFED {
            let chunk = match self.input.fill_buf() {
                Ok(chunk) => &chunk[..chunk.len().min(PIECE)],
                Err(error) if error.kind() == ErrorKind::Interrupted => continue,
                Err(error) if self.pending.is_empty() => return Err(error),
                Err(error) => {
                    self.failed = Some(error);
                    break;
                }
            };
            let used = chunk.len();
            self.pending.extend_from_slice(chunk);
            self.input.consume(used);
            if used == 0 {
                break;
            }
        }
        let (encoding, bom) = self.encoding();
        self.pending.drain(..bom);
        self.way = if encoding == UTF_8 {
            Way::Utf8
        } else {
            Way::Decoder(encoding.new_decoder_without_bom_handling())
        };
        Ok(())
    }

    /// By the byte order mark, by the zeros of UTF-16, by the declaration.
    fn encoding(&mut self) -> (&'static Encoding, usize) {
        if let Some(found) = Encoding::for_bom(&self.pending) {
            return found;
        }
        match self.pending.get(..4) {
            Some([b'<', 0, _, 0]) => return (UTF_16LE, 0),
            Some([0, b'<', 0, _]) => return (UTF_16BE, 0),
            _ => {}
        }
        let Some(label) = declared(&self.pending) else {
            return (UTF_8, 0);
        };
        match Encoding::for_label(label) {
            // The declaration itself could be read byte by byte.
            Some(encoding) if encoding == UTF_16LE || encoding == UTF_16BE => (UTF_8, 0),
            Some(encoding) => (encoding, 0),
            None => {
                self.unknown = Some(String::from_utf8_lossy(label).into_owned());
                (UTF_8, 0)
            }
        }
    }
}

/// The value of `encoding` in an XML declaration.
fn declared(head: &[u8]) -> Option<&[u8]> {
    let head = &head[..head.len().min(SNIFFED)];
    let start = head.windows(5).position(|window| window == b"<?xml")?;
    let head = &head[start..];
    let head = &head[..head.windows(2).position(|window| window == b"?>")?];
    let at = head.windows(8).position(|window| window == b"encoding")?;
    let value = head[at + 8..].trim_ascii_start().strip_prefix(b"=")?;
    let (quote, value) = value.trim_ascii_start().split_first()?;
    let end = value.iter().position(|byte| byte == quote)?;
    Some(&value[..end])
}

fn decode(decoder: &mut Decoder, mut bytes: &[u8], last: bool, out: &mut String) {
    loop {
        out.reserve(4096);
        let (result, read, _) = decoder.decode_to_string(bytes, out, last);
        bytes = &bytes[read..];
        if result == encoding_rs::CoderResult::InputEmpty {
            return;
        }
    }
}

/// Appends what is valid, and the rest as Windows-1252. Returns what may be
/// the beginning of a character.
fn utf8<'b>(mut bytes: &'b [u8], last: bool, out: &mut String, invalid: &mut u64) -> &'b [u8] {
    loop {
        let error = match std::str::from_utf8(bytes) {
            Ok(text) => {
                out.push_str(text);
                return &[];
            }
            Err(error) => error,
        };
        let (valid, rest) = bytes.split_at(error.valid_up_to());
        out.extend(valid.utf8_chunks().map(|chunk| chunk.valid()));
        if error.error_len().is_none() && !last {
            return rest;
        }
        let Some((byte, rest)) = rest.split_first() else {
            return &[];
        };
        let character = WINDOWS_1252
            .get(usize::from(*byte).wrapping_sub(0x80))
            .copied()
            .unwrap_or(char::from(*byte));
        out.push(character);
        *invalid += 1;
        bytes = rest;
    }
}

#[cfg(test)]
mod tests {
    use super::*;
    use std::io::BufReader;

    /// Read in small pieces, so that characters are cut.
    fn text(bytes: &[u8], buffer: usize) -> (String, u64) {
        let mut input = BufReader::with_capacity(buffer, bytes);
        let mut text = Utf8Pieces::new(&mut input);
        let mut out = String::new();
        loop {
            let before = out.len();
            text.next(&mut out).unwrap();
            if out.len() == before {
                break;
            }
        }
        (out, text.invalid)
    }

    fn utf16(text: &str, order: fn(u16) -> [u8; 2]) -> Vec<u8> {
        text.encode_utf16().flat_map(order).collect()
    }

    #[test]
    fn every_encoding_that_is_marked_or_declared_is_read() {
        let xml = "<?xml version='1.0'?><a>büsy © 𝄞</a>";
        let mut marked = b"\xEF\xBB\xBF".to_vec();
        marked.extend(xml.as_bytes());
        let mut little = b"\xFF\xFE".to_vec();
        little.extend(utf16(xml, u16::to_le_bytes));
        let big = utf16(xml, u16::to_be_bytes);
        for buffer in [1, 3, 7, 4096] {
            for bytes in [xml.as_bytes(), &marked, &little, &big] {
                assert_eq!(text(bytes, buffer), (xml.to_owned(), 0));
            }
            let latin = b"<?xml version=\"1.0\" encoding = 'ISO-8859-1'?>b\xFCsy";
            assert!(text(latin, buffer).0.ends_with("büsy"));
        }
    }

    #[test]
    fn what_is_no_utf8_is_taken_for_windows_1252() {
        for buffer in [1, 2, 4096] {
            let (read, invalid) = text(b"<a>b\xFCsy \xA9 \x93ok\x94 \xC3\xBC\xE2\x82", buffer);
            assert_eq!(read, "<a>büsy © “ok” üâ‚");
            assert_eq!(invalid, 6);
        }
    }

    #[test]
    fn a_declaration_that_can_t_be_true_is_not_believed() {
        let xml = "<?xml version='1.0' encoding='utf-16'?><a/>";
        assert_eq!(text(xml.as_bytes(), 4096).0, xml);
    }
}
