//! The field of a document that a failure is about, where it says that there is none of
//! that name: a key that is gone, one that nobody knows, one that has another name now.

use regex::bytes::{Regex, RegexBuilder, RegexSet, RegexSetBuilder};
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

/// The sentences, with `<F>` for the field.
const SENTENCES: [&str; 25] = [
    // Rust's serde, Go, Jackson, Zod
    r#"\b[Mm]issing field ['"`]<F>['"`]"#,
    r#"\b[Uu]nknown field ['"`]<F>['"`]"#,
    r#"\b[Uu]nrecognized (?:field|key\(s\) in object:) ['"]<F>['"]"#,
    // Ecto, Groovy
    r"\bunknown field `:<F>` given to cast\b",
    r"\b(?:No such property: |has no property )<F>\b",
    // JsonPath
    r#"\bNo value at JSON path "\$(?:[\w.\[\]*-]*\.)?<F>""#,
    r#"\bJSON path "\$(?:[\w.\[\]*-]*\.)?<F>": No value at JSON path"#,
    // kotlinx.serialization
    r"\bField '<F>' is required for type\b",
    r"\barray has the key '<F>'",
    r"\b(?:Missing property in path|No results for path:) \$(?:\['\w+'\]|\[\d+\])*\['<F>'\]",
    r#"\bno key ['"`]?<F>['"`]? in \{"#,
    r"\bKeyError: '<F>'",
    r#"\b[Kk]ey not found: (?::|")<F>"#,
    r#"\b[Uu]ndefined property:? ['"`]?(?:[\w\\@]+(?:::|->))?\$?<F>\b"#,
    r#"\b[Uu]ndefined (?:array key|index:?) "?<F>\b"#,
    // Chai, of a property with whatever value, and Jest
    r#"(?m)^(?:\w*Error: )?expected [^\n]* to have (?:own |deep |nested )*property ['"`]<F>['"`]$"#,
    r#"\bExpected path: "(?:[\w\[\]]+\.)*<F>";?\s+Received path: "#,
    // Pact, Commons CSV
    r"(?m)\bmissing the following keys: <F>$",
    r"\bMapping for <F> not found, expected one of\b",
    // RSpec, pytest, unittest
    r#"(?m)^expected \{[^\n]*\} to include (?::|")<F>"?(?:$| Diff:)"#,
    r"\bassert '<F>' in \{",
    r"'<F>' not found in \{",
    r"\b(?:\d+ validation errors? for \w+)\s+<F>\s+Field required\b",
    r"\brequired property '<F>'",
    r"'<F>' is a required property\b",
];

/// How a document writes a key, whatever quotes it stands in, and what follows.
const KEY: &str = r#"\\*["'](?P<f>[A-Za-z_][\w-]*)\\*["']\s*(?::|=>)"#;

/// Names that many documents have, without what tells their style: they tell nothing.
const EVERYWHERE: [&str; 45] = [
    "accesstoken",
    "attributes",
    "category",
    "children",
    "comments",
    "contenttype",
    "createdat",
    "currency",
    "customer",
    "customerid",
    "deletedat",
    "description",
    "document",
    "documents",
    "elements",
    "errorcode",
    "errormessage",
    "errors",
    "firstname",
    "itemid",
    "language",
    "lastname",
    "location",
    "messages",
    "metadata",
    "optional",
    "orderid",
    "parentid",
    "password",
    "position",
    "products",
    "properties",
    "property",
    "quantity",
    "required",
    "requestid",
    "resource",
    "response",
    "settings",
    "statuscode",
    "timestamp",
    "updatedat",
    "userid",
    "username",
    "version",
];

struct FieldForms {
    set: RegexSet,
    sentences: Vec<Regex>,
    key: Regex,
}

static FORMS: LazyLock<Option<FieldForms>> = LazyLock::new(|| {
    let field = r"(?P<f>[A-Za-z_][\w-]*)";
    let patterns = SENTENCES.map(|sentence| sentence.replace("<F>", field));
    let sentences = patterns.iter().map(|one| form(one));
    Some(FieldForms {
        sentences: sentences.collect::<Option<Vec<_>>>()?,
        key: form(KEY)?,
        set: RegexSetBuilder::new(&patterns)
            .unicode(false)
            .build()
            .ok()?,
    })
});

fn form(form: &str) -> Option<Regex> {
    RegexBuilder::new(form).unicode(false).build().ok()
}

/// The one field that a failure says there is none of, without the style of its name:
/// by its message and what else tells it in short, or by the documents that it compares.
pub(super) fn missing_field<'t>(
    told: impl Iterator<Item = &'t str>,
    text: Option<&str>,
) -> Option<String> {
    let forms = FORMS.as_ref()?;
    let mut found: BTreeSet<FieldName> = BTreeSet::new();
    for told in told {
        let bytes = told.as_bytes();
        for at in forms.set.matches(bytes) {
            let sentences = forms.sentences.get(at).into_iter();
            let names = sentences.flat_map(|sentence| sentence.captures_iter(bytes));
            found.extend(names.filter_map(|found| field_name(found.name("f")?.as_bytes())));
        }
        found.extend(renamed(told, &forms.key));
    }
    if found.is_empty() {
        found.extend(text.and_then(|text| renamed(text, &forms.key)));
    }
    let first = found.pop_first()?;
    // The same in two styles is one.
    let is_one = found.iter().all(|other| other.folded == first.folded);
    let is_own = first.is_own || found.iter().any(|other| other.is_own);
    (is_one && is_own).then_some(first.folded)
}

/// A name without its style, and whether it tells anything.
#[derive(Debug, PartialEq, Eq, PartialOrd, Ord)]
struct FieldName {
    folded: String,
    is_own: bool,
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
        && !EVERYWHERE.contains(&folded.as_str());
    Some(FieldName { folded, is_own })
}

/// The field that the expected one of two documents has, and the other one has not.
fn renamed(text: &str, key: &Regex) -> Option<FieldName> {
    let end = text.floor_char_boundary(HEAD.min(text.len()));
    let head = &text[..end];
    let (mut wanted, mut got) = (BTreeSet::new(), BTreeSet::new());
    let mut has_direction = true;
    if let Some((before, after)) = head.split_once("> but was: <")
        && let Some((_, before)) = before.rsplit_once("expected: <")
    {
        keys(before, key, &mut wanted);
        keys(after.lines().next().unwrap_or_default(), key, &mut got);
    } else {
        for line in head.lines().take(LINES) {
            let told = line.trim_start();
            let begins = |beginning: &str| told.starts_with(beginning);
            if begins("left: \"{") || begins("right: \"{") {
                has_direction = false;
            }
            if begins("expected: {") || begins("left: \"{") || line.starts_with("- ") {
                keys(told, key, &mut wanted);
            } else if begins("got: {") || begins("right: \"{") || line.starts_with("+ ") {
                keys(told, key, &mut got);
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

fn keys<'t>(text: &'t str, key: &Regex, into: &mut BTreeSet<&'t [u8]>) {
    let found = key.captures_iter(text.as_bytes()).take(KEYS);
    into.extend(found.filter_map(|found| Some(found.name("f")?.as_bytes())));
}

#[cfg(test)]
mod tests {
    use super::{FORMS, missing_field};

    fn field(message: &str, text: &str) -> Option<String> {
        missing_field([message].into_iter(), Some(text))
    }

    #[test]
    fn a_field_has_one_name_in_all_words_and_styles() {
        assert!(FORMS.is_some());
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
