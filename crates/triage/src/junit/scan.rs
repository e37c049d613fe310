//! What nearly all of a report is made of, told by hand: text, and tags as
//! nearly everybody writes them.
//!
//! A parser of all XML reads a tag several times, for its end, its encoding and
//! its attributes, and a report has a million of them. These ones are plain
//! enough to be taken in one go; of whatever is not, and of what goes over the
//! border of a buffer, nothing is said here, and the parser reads it.

use super::attributes::{Attributes, Tag};
use memchr::memmem::Finder;
use memchr::{memchr, memchr2};
use std::sync::LazyLock;

/// Attributes of a plain tag.
const MOST: usize = 16;

/// A tag with fewer attributes is read as quickly without a [`Manner`].
const FEW: usize = 3;

/// Room for the attributes of one tag.
pub(super) struct AttributeRoom<'t>([(&'t str, &'t str); MOST]);

impl AttributeRoom<'_> {
    pub(super) fn new() -> Self {
        Self([("", ""); MOST])
    }
}

/// Letters of a text, up to the next tag or reference that follows it.
pub(super) fn text(ahead: &str) -> Option<&str> {
    let end = near(ahead.as_bytes(), |byte| matches!(byte, b'<' | b'&'))
        .or_else(|| memchr2(b'<', b'&', ahead.as_bytes()))?;
    (end > 0).then(|| &ahead[..end])
}

/// Letters of a section that is text whatever it holds, and its length.
pub(super) fn cdata(ahead: &str) -> Option<(&str, usize)> {
    static END: LazyLock<Finder<'_>> = LazyLock::new(|| Finder::new("]]>"));
    let section = ahead.strip_prefix("<![CDATA[")?;
    let end = END.find(section.as_bytes())?;
    Some((&section[..end], "<![CDATA[]]>".len() + end))
}

/// The name of a reference, which is two letters longer.
pub(super) fn reference(ahead: &str) -> Option<&str> {
    let inside = ahead.strip_prefix('&')?;
    let is_letter = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'#';
    let end = near(inside.as_bytes(), |byte| !is_letter(byte))?;
    (inside.as_bytes()[end] == b';').then(|| &inside[..end])
}

/// The name in an end tag, which is five letters longer.
pub(super) fn end(ahead: &str) -> Option<&str> {
    let name = name(ahead.strip_prefix("</")?)?;
    (ahead.as_bytes().get(2 + name.len()) == Some(&b'>')).then_some(name)
}

/// A start tag, or that of an empty element, and its length.
pub(super) struct Start<'t> {
    pub(super) tag: Tag<'t>,
    pub(super) is_empty: bool,
    pub(super) length: usize,
}

/// The start tag that comes next, mostly written in the same manner as the
/// last one.
pub(super) fn start<'t>(
    ahead: &'t str,
    room: &'t mut AttributeRoom<'t>,
    manner: &mut Manner,
) -> Option<Start<'t>> {
    let outline = match manner.follow(ahead, room) {
        Some(outline) => outline,
        None => {
            let outline = outline(ahead, room)?;
            if outline.count >= FEW {
                manner.learn(ahead, outline.element, &room.0[..outline.count]);
            }
            outline
        }
    };
    let attributes = 1 + outline.element;
    let tag = Tag {
        name: &ahead[1..attributes],
        attributes: if outline.refers {
            Attributes::Raw(&ahead[attributes..outline.end])
        } else {
            Attributes::Plain(&room.0[..outline.count])
        },
    };
    Some(Start {
        tag,
        is_empty: outline.is_empty,
        length: outline.end + 1 + usize::from(outline.is_empty),
    })
}

/// What a start tag consists of, but for its attributes.
struct Outline {
    /// Length of the element's name.
    element: usize,
    /// Attributes.
    count: usize,
    /// A value refers to a character.
    refers: bool,
    is_empty: bool,
    /// Where `>` or `/>` stands.
    end: usize,
}

fn outline<'t>(ahead: &'t str, room: &mut AttributeRoom<'t>) -> Option<Outline> {
    let bytes = ahead.as_bytes();
    let element = name(ahead.strip_prefix('<')?)?.len();
    let mut at = 1 + element;
    let mut count = 0;
    let mut refers = false;
    let is_empty = loop {
        let before = at;
        while matches!(bytes.get(at)?, b' ' | b'\n' | b'\r' | b'\t') {
            at += 1;
        }
        match bytes[at] {
            b'>' => break false,
            b'/' if bytes.get(at + 1) == Some(&b'>') => break true,
            _ if at == before => return None,
            _ => {}
        }
        let name = name(&ahead[at..])?;
        at += name.len();
        let (b'=', b'"') = (*bytes.get(at)?, *bytes.get(at + 1)?) else {
            return None;
        };
        let value = at + 2;
        let rest = bytes.get(value..)?;
        let length = value_end(rest, &mut refers)?;
        at = value + length + 1;
        *room.0.get_mut(count)? = (name, &ahead[value..value + length]);
        count += 1;
    };
    Some(Outline {
        element,
        count,
        refers,
        is_empty,
        end: at,
    })
}

/// How a start tag was written. A writer writes a million of its tags in the
/// same manner, so the next one is first held against the last: what is equal
/// between two values needs no look at its letters.
#[derive(Default)]
pub(super) struct Manner {
    /// What stood before each value, one after the other, as in
    /// `<case name="` and `" line="`.
    leads: Vec<u8>,
    /// Of each value, where what stood before it ends in `leads`, and the
    /// length of its attribute's name.
    values: Vec<(usize, usize)>,
    /// Length of the element's name.
    element: usize,
}

impl Manner {
    /// The start tag that comes next, if it is written in this manner.
    fn follow<'t>(&self, ahead: &'t str, room: &mut AttributeRoom<'t>) -> Option<Outline> {
        let bytes = ahead.as_bytes();
        let mut refers = false;
        let (mut at, mut lead) = (0, 0);
        for (slot, (end, name)) in room.0.iter_mut().zip(&self.values) {
            let rest = bytes[at..].strip_prefix(&self.leads[lead..*end])?;
            lead = *end;
            let value = bytes.len() - rest.len();
            let name = value - "=\"".len() - name..value - "=\"".len();
            at = value + value_end(rest, &mut refers)?;
            *slot = (&ahead[name], &ahead[value..at]);
        }
        let is_empty = match bytes[at..] {
            [b'"', b'/', b'>', ..] => true,
            [b'"', b'>', ..] => false,
            _ => return None,
        };
        Some(Outline {
            element: self.element,
            count: self.values.len(),
            refers,
            is_empty,
            end: at + 1,
        })
    }

    /// Remembers how the tag is written that `ahead` begins with.
    fn learn(&mut self, ahead: &str, element: usize, attributes: &[(&str, &str)]) {
        self.leads.clear();
        self.values.clear();
        self.element = element;
        let bytes = ahead.as_bytes();
        let (mut begin, mut from) = (0, 0);
        for (name, value) in attributes {
            let Some(open) = memchr(b'"', &bytes[from..]) else {
                break;
            };
            let end = from + open + 1;
            self.leads.extend_from_slice(&bytes[begin..end]);
            self.values.push((self.leads.len(), name.len()));
            // The quote that closes it stands before the next one.
            begin = end + value.len();
            from = begin + 1;
        }
    }
}

/// Where a value ends that begins here, and whether it refers to characters.
#[inline]
fn value_end(rest: &[u8], refers: &mut bool) -> Option<usize> {
    let mark =
        near(rest, |byte| matches!(byte, b'"' | b'&')).or_else(|| memchr2(b'"', b'&', rest))?;
    if rest[mark] == b'"' {
        return Some(mark);
    }
    *refers = true;
    memchr(b'"', &rest[mark..]).map(|more| mark + more)
}

/// Letters of a plain name: no prefix, and nothing beyond ASCII.
const LETTERS: [bool; 256] = {
    let mut letters = [false; 256];
    let mut byte = 0;
    while byte < 128_u8 {
        letters[byte as usize] = byte.is_ascii_alphanumeric() || matches!(byte, b'-' | b'_' | b'.');
        byte += 1;
    }
    letters
};

/// The name that comes next.
#[inline]
fn name(ahead: &str) -> Option<&str> {
    let mut bytes = ahead.bytes();
    let end = bytes.position(|byte| !LETTERS[usize::from(byte)])?;
    // A colon stands behind a prefix, and a character beyond ASCII may be part
    // of the name.
    let after = ahead.as_bytes()[end];
    (end > 0 && after != b':' && after.is_ascii()).then(|| &ahead[..end])
}

/// The place of a byte that comes soon, as it does in numbers and in what
/// stands between two tags: a search by the register takes longer to set up.
#[inline]
fn near(bytes: &[u8], is_wanted: impl Fn(u8) -> bool) -> Option<usize> {
    const NEAR: usize = 6;
    let mut at = 0;
    while at < NEAR {
        if is_wanted(*bytes.get(at)?) {
            return Some(at);
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::{AttributeRoom, Manner, cdata, end, reference, start, text};
    use crate::junit::attributes::{Attributes, each};
    use proptest::prelude::*;
    use quick_xml::Reader;
    use quick_xml::events::Event;

    /// The first piece as it is read here: its kind, what it holds, and its length.
    fn plain(ahead: &str) -> Option<(String, usize)> {
        plain_after(ahead, &mut Manner::default())
    }

    fn plain_after(ahead: &str, manner: &mut Manner) -> Option<(String, usize)> {
        if let Some(name) = end(ahead) {
            return Some((format!("end {name}"), name.len() + 3));
        }
        if let Some((text, length)) = cdata(ahead) {
            return Some((format!("section {text}"), length));
        }
        if ahead.starts_with('<') {
            let mut room = AttributeRoom::new();
            let start = start(ahead, &mut room, manner)?;
            let mut said = format!("start {} {}", start.is_empty, start.tag.name);
            each(&start.tag, |name, value| {
                said.push_str(&format!(" {name}={value}"));
            });
            return Some((said, start.length));
        }
        if let Some(name) = reference(ahead) {
            return Some((format!("reference {name}"), name.len() + 2));
        }
        text(ahead).map(|text| (format!("text {text}"), text.len()))
    }

    /// The same as the parser tells it.
    fn parsed(ahead: &str) -> Option<(String, usize)> {
        let mut reader = Reader::from_str(ahead);
        reader.config_mut().check_end_names = false;
        reader.config_mut().allow_unmatched_ends = true;
        reader.config_mut().allow_dangling_amp = true;
        let said = match reader.read_event().ok()? {
            Event::Text(text) => format!("text {}", &*text),
            Event::CData(text) => format!("section {}", &*text),
            Event::GeneralRef(name) => format!("reference {}", &*name),
            Event::End(name) => format!("end {}", name.local_name().into_inner()),
            event @ (Event::Start(_) | Event::Empty(_)) => {
                let is_empty = matches!(event, Event::Empty(_));
                let (Event::Start(start) | Event::Empty(start)) = event else {
                    return None;
                };
                let mut said = format!("start {is_empty} {}", start.local_name().into_inner());
                let tag = super::Tag {
                    name: "",
                    attributes: Attributes::Raw(start.attributes_raw()),
                };
                each(&tag, |name, value| {
                    said.push_str(&format!(" {name}={value}"));
                });
                said
            }
            _ => return None,
        };
        Some((said, usize::try_from(reader.buffer_position()).ok()?))
    }

    #[test]
    fn plain_pieces_are_read() {
        for (ahead, expected, length) in [
            ("<a b=\"c>\" d-e=\"\"  />x", "start true a b=c> d-e=", 20),
            (
                "<a\n b=\"longer than near\">",
                "start false a b=longer than near",
                25,
            ),
            ("<a b=\"&lt;\">", "start false a b=<", 12),
            ("<a>", "start false a", 3),
            ("</a>", "end a", 4),
            ("text <", "text text ", 5),
            ("&quot;", "reference quot", 6),
            ("&#10;", "reference #10", 5),
            ("<![CDATA[ ]> ]]]>", "section  ]> ]", 17),
        ] {
            assert_eq!(plain(ahead), Some((expected.to_owned(), length)), "{ahead}");
        }
        for ahead in [
            "<a b='c'>",
            "<p:a>",
            "</a >",
            "& &lt;",
            "<![CDATA[]]",
            "<a",
            "</a",
            "text",
            "<!-- -->",
        ] {
            assert_eq!(plain(ahead), None, "{ahead}");
        }
    }

    proptest! {
        #[test]
        fn what_is_told_is_what_the_parser_tells(
            ahead in "(</?|text|<!\\[CDATA\\[|&)?[a-c:é.]{0,3}([ \n/]{0,2}[a-b:]{0,2}[=]?['\"]([a-c<>&;'=]|&lt;){0,9}['\"]?){0,3}[ /]{0,2}[>;]?[<>a]{0,2}(\\]{1,3}>)?"
        ) {
            if let Some(piece) = plain(&ahead) {
                prop_assert_eq!(Some(piece), parsed(&ahead), "{}", ahead);
            }
        }

        #[test]
        fn the_manner_of_one_tag_changes_nothing_about_the_next(
            tags in proptest::collection::vec(
                r#"<a( [bc]{1,2}="([xy]{0,7}|&lt;)"){2,4}[ /]{0,2}>?"#, 1..5
            )
        ) {
            let mut manner = Manner::default();
            for tag in &tags {
                prop_assert_eq!(plain_after(tag, &mut manner), plain(tag), "{:?}", tags);
            }
        }
    }
}
