//! The field of a document that a failure is about, where it says that there is none of
//! that name: a key that is gone, one that nobody knows, one that has another name now.

use super::subject_forms::{KEY, SUBJECT_FORMS, Sentences};
use std::collections::BTreeSet;
use std::sync::LazyLock;

/// Bytes of a text that are read for the documents that it compares, and lines of them.
const HEAD: usize = 4 << 10;
const LINES: usize = 60;
/// Bytes of a name of a field.
const NAME: usize = 40;
/// Letters of a name of one word that is no word of every document, and of one that is
/// hardly a word: `kwh`, `qty`.
const LONG: usize = 8;
const SHORT: usize = 3;
/// Keys of a document that are compared.
const KEYS: usize = 200;

static SENTENCES: LazyLock<Sentences<()>> =
    LazyLock::new(|| Sentences::new(SUBJECT_FORMS.fields.iter().map(|form| ((), form))));

/// The one field that a failure says there is none of: by its message and what else tells
/// it in short, or by the documents that it compares. Nothing where that tells nothing.
pub(super) fn missing_field<'t>(
    told: impl Iterator<Item = &'t str>,
    text: Option<&str>,
) -> Option<FieldName> {
    let mut found: BTreeSet<FieldName> = BTreeSet::new();
    for told in told {
        let bytes = told.as_bytes();
        let names = SENTENCES.in_text(bytes);
        found.extend(names.filter_map(|(_, found)| field_name(found.name("name")?.as_bytes())));
        found.extend(renamed(told));
    }
    if found.is_empty() {
        found.extend(text.and_then(renamed));
    }
    let first = found.pop_first()?;
    // The same in two styles is one.
    let is_one = found.iter().all(|other| other.folded == first.folded);
    let is_own = first.is_own || found.iter().any(|other| other.is_own);
    let tells = first.folded.len() >= SHORT && !SUBJECT_FORMS.of_documents.contains(&first.folded);
    (is_one && (is_own || tells)).then_some(FieldName { is_own, ..first })
}

/// A name of a field.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
pub(super) struct FieldName {
    /// Without the style of its writing.
    pub(super) folded: String,
    /// It is no word that any document may have.
    pub(super) is_own: bool,
}

fn field_name(name: &[u8]) -> Option<FieldName> {
    let name = std::str::from_utf8(name).ok()?;
    // A constant is a variable of the environment, or a value.
    if !name.contains(|c: char| c.is_ascii_lowercase()) {
        return None;
    }
    let digits = name.bytes().filter(u8::is_ascii_digit).count();
    let mut pairs = name.as_bytes().windows(2);
    let has_hump = pairs.any(|pair| pair[0].is_ascii_lowercase() && pair[1].is_ascii_uppercase());
    let is_compound = has_hump || name.trim_matches('_').contains(['_', '-']);
    let folded = name.replace(['_', '-'], "").to_ascii_lowercase();
    let is_word = |letter: u8| b"aeiou".contains(&letter);
    let is_abbreviated = folded.len() >= SHORT && !folded.bytes().any(is_word);
    let is_own = (is_compound || folded.len() >= LONG || is_abbreviated)
        && digits < 3
        && name.len() <= NAME
        && !SUBJECT_FORMS.of_documents.contains(&folded);
    Some(FieldName { folded, is_own })
}

/// The field that the expected one of two documents has, and the other one has not.
fn renamed(text: &str) -> Option<FieldName> {
    let end = text.floor_char_boundary(HEAD.min(text.len()));
    let head = &text[..end];
    let (mut wanted, mut got) = (BTreeSet::new(), BTreeSet::new());
    let mut has_direction = true;
    if let Some((before, after)) = head.split_once("> but was: <")
        && let Some((_, before)) = before.rsplit_once("expected: <")
    {
        keys(before, &mut wanted);
        keys(after.lines().next().unwrap_or_default(), &mut got);
    } else {
        for line in head.lines().take(LINES) {
            let told = line.trim_start();
            let begins = |beginning: &str| told.starts_with(beginning);
            if begins("left: \"{") || begins("right: \"{") {
                has_direction = false;
            }
            if begins("expected: {") || begins("left: \"{") || line.starts_with("- ") {
                keys(told, &mut wanted);
            } else if begins("got: {") || begins("right: \"{") || line.starts_with("+ ") {
                keys(told, &mut got);
            }
        }
    }
    let mut missing = wanted.difference(&got);
    let mut new = got.difference(&wanted);
    let (Some(missing), None) = (missing.next(), missing.next()) else {
        return None;
    };
    let (new, None) = (new.next(), new.next()) else {
        return None;
    };
    let name = field_name(missing)?;
    // Without a direction, only the style tells which two belong together.
    let new = new.and_then(|new| field_name(new));
    let is_sure = has_direction || new.is_some_and(|new| new.folded == name.folded);
    is_sure.then_some(name)
}

fn keys<'t>(text: &'t str, into: &mut BTreeSet<&'t [u8]>) {
    let found = KEY.captures_iter(text.as_bytes()).take(KEYS);
    into.extend(found.filter_map(|found| Some(found.name("name")?.as_bytes())));
}

#[cfg(test)]
mod tests {
    use super::missing_field;

    fn field(message: &str, text: &str) -> Option<String> {
        let found = missing_field([message].into_iter(), Some(text))?;
        found.is_own.then_some(found.folded)
    }

    #[test]
    fn a_field_has_one_name_in_all_words_and_styles() {
        for told in [
            "missing field `netPrice` at line 1 column 32",
            "json: unknown field \"net_price\"",
            "Unrecognized field \"net_price\" (class com.acme.Item), not marked as ignorable",
            "No value at JSON path \"$.items[0].net_price\": {}",
            "Missing property in path $['items']['net_price']",
            "no key net_price in {\"netPrice\":7}",
            "KeyError: 'net_price'",
            "unknown field `:net_price` given to cast",
            "No such property: netPrice for class: com.acme.Item",
            "constructor: com.acme.Item has no property netPrice (known: id)",
            "key not found: :net_price",
            "Undefined property: App\\Item::$netPrice",
            "Undefined array key \"net_price\"",
            "AssertionError: expected { id: 3 } to have property 'netPrice'",
            "Error: expect(received).toHaveProperty(path); Expected path: \"netPrice\"; Received path: []",
            "1) $: Actual map is missing the following keys: net_price",
            "Mapping for net_price not found, expected one of [id, netPrice]",
            "expected {\"id\" => 4} to include \"net_price\"",
            "AssertionError: assert 'net_price' in {'id': 4}",
            "1 validation error for Item net_price Field required [type=missing]",
            "'net_price' is a required property",
            "expected: <{\"id\":4,\"net_price\":7}> but was: <{\"id\":4,\"netto\":7}>",
        ] {
            assert_eq!(field(told, "").as_deref(), Some("netprice"), "{told}");
        }
        for text in [
            "deep equality\n\n- Expected  - 1\n+ Received  + 1\n\n  Object {\n-   \"netPrice\": 7,\n+   \"net_price\": 7,\n    \"id\": 3,\n  }",
            "assertion `left == right` failed\n  left: \"{\\\"netPrice\\\":7}\"\n right: \"{\\\"net_price\\\":7}\"",
            "  expected: {\"id\"=>4, \"net_price\"=>7}\n       got: {\"id\"=>4, \"price\"=>7}",
        ] {
            assert_eq!(field("", text).as_deref(), Some("netprice"), "{text}");
        }
    }

    #[test]
    fn an_abbreviation_is_no_word_of_every_document() {
        assert_eq!(field("KeyError: 'kwh'", "").as_deref(), Some("kwh"));
        assert_eq!(field("KeyError: 'size'", ""), None);
    }

    #[test]
    fn a_value_or_a_name_of_every_document_is_no_field() {
        for told in [
            "KeyError: 'id'",
            "missing field `status`",
            "KeyError: 'createdAt'",
            "KeyError: 'MAIL_TOKEN'",
            "KeyError: 'order-1001'",
            // Two of them.
            "missing field `net_price`; missing field `gross_price`",
            "missing field `net_price`; missing field `id`",
            // Its value.
            "expected { net_price: 3 } to have property 'net_price' of 2, but got 3",
            "the net_price is missing",
            "assert 'net_price' in ['id']",
            "expected: <{\"net_price\":7}> but was: <{\"net_price\":8}>",
            "expected: <{\"net_price\":7,\"gross_price\":8}> but was: <{}>",
        ] {
            assert_eq!(field(told, ""), None, "{told}");
        }
        // Which of the two was wanted, nobody knows.
        let sides = "  left: \"{\\\"net_price\\\":7}\"\n right: \"{\\\"netto\\\":7}\"";
        assert_eq!(field("", sides), None);
        // What a test compares on the way to something else.
        let diff = "- Expected\n+ Received\n-   \"net_price\": 7,\n-   \"gross_price\": 8,";
        assert_eq!(field("", diff), None);
    }
}
