//! The element of a page or screen that a test did not find, by the name that its authors
//! gave it: whatever the test wanted of it, that it is gone is one cause.

use super::subject_forms::SUBJECT_FORMS;
use crate::engine::tables::bytes_pattern;
use aho_corasick::AhoCorasick;
use jelly_base::text::LazyBytePattern;
use memchr::memrchr;
use regex::bytes::{Captures, Regex};
use std::sync::LazyLock;

/// Bytes of a text in which it says what it did not find.
const HEAD: usize = 4 << 10;
/// Bytes of such a sentence, and before the words that give it away.
const SENTENCE: usize = 600;
const BEFORE: usize = 300;
/// Bytes of a name. What is longer is data.
const NAME: usize = 200;

/// What finds the words that give a sentence away, with its forms, and the descriptions.
struct ElementForms {
    words: AhoCorasick,
    sentences: Vec<Vec<Regex>>,
    descriptions: Vec<Regex>,
    /// A test id that a longer description begins with.
    first: Regex,
    /// A test id somewhere in a longer description.
    part: Regex,
}

static FORMS: LazyLock<ElementForms> = LazyLock::new(|| {
    let table = &*SUBJECT_FORMS;
    let words = table.elements.iter().map(|sentence| &sentence.words);
    #[expect(
        clippy::expect_used,
        reason = "the words are few, and tests look for them"
    )]
    let words = AhoCorasick::new(words).expect("the words are few");
    let sentences = table.elements.iter().map(|one| compiled(&one.forms));
    ElementForms {
        words,
        sentences: sentences.collect(),
        descriptions: compiled(&table.descriptions),
        first: bytes_pattern(&table.first),
        part: bytes_pattern(&table.part),
    }
});

fn compiled(forms: &[String]) -> Vec<Regex> {
    forms.iter().map(|form| bytes_pattern(form)).collect()
}

/// The element that a failure says was not there; nothing for one without a name of its own.
pub(super) fn missing_element(text: &str) -> Option<String> {
    let forms = &*FORMS;
    let bytes = text.as_bytes();
    let head = &bytes[..bytes.len().min(HEAD)];
    for word in forms.words.find_iter(head) {
        let line = memrchr(b'\n', &head[..word.start()]).map_or(0, |at| at + 1);
        let from = line.max(word.start().saturating_sub(BEFORE));
        let part = &head[from..head.len().min(word.end() + SENTENCE)];
        let sentences = forms.sentences.get(word.pattern().as_usize());
        for form in sentences.into_iter().flatten() {
            let Some(found) = form.captures(part) else {
                continue;
            };
            let name = match group(&found, "what") {
                Some(what) => described(forms, what),
                None => named(&found),
            };
            if name.is_some() && !is_found(&head[word.end()..]) {
                return name;
            }
        }
    }
    None
}

/// Whether Playwright found the element, but for how it was.
fn is_found(log: &[u8]) -> bool {
    static RESOLVED: LazyBytePattern =
        LazyBytePattern::new(r"locator resolved to (?:[^0]|0[^ ]|0 [^e])");
    RESOLVED.is_match(log)
}

/// The name of an element that was looked for by this.
fn described(forms: &ElementForms, what: &str) -> Option<String> {
    let what = what.replace("\\\"", "\"");
    let what = what.trim().trim_end_matches(" to be visible");
    let whole = forms
        .descriptions
        .iter()
        .find_map(|form| form.captures(what.as_bytes()));
    if let Some(whole) = whole {
        return named(&whole);
    }
    let is_chain = what.len() <= NAME && forms.part.is_match(what.as_bytes());
    is_chain.then(|| what.to_owned())
}

/// The name of the element within which another is looked for: where it is gone, all
/// that is within it is gone, too.
pub(super) fn container(name: &str) -> Option<&str> {
    let first = FORMS.first.captures(name.as_bytes())?;
    group(&first, "id").or_else(|| group(&first, "what"))
}

fn named(found: &Captures<'_>) -> Option<String> {
    if let Some(text) = group(found, "text") {
        let text = text.trim();
        // A single word is on many pages, and a number says what was counted.
        let is_own = text.contains(' ') && !text.contains(|c: char| c.is_ascii_digit());
        return (is_own && text.len() <= NAME).then(|| format!("text {text}"));
    }
    if let Some(label) = group(found, "label") {
        let label = label.trim();
        // A pattern is looked for among the others.
        let is_own = label.contains(' ') || label.starts_with('/');
        return (is_own && label.len() <= NAME).then(|| format!("label {label}"));
    }
    let name = match (group(found, "id"), group(found, "dom")) {
        (Some(id), _) if is_own(id) => id.to_owned(),
        (None, Some(dom)) if is_own(dom) => format!("#{dom}"),
        (None, None) => {
            let (role, name) = (group(found, "role")?, group(found, "name")?);
            // A single word, as `Save`, is on many pages.
            if !name.trim().contains(' ') {
                return None;
            }
            // By its label, or by whichever role has that name.
            let role = match role {
                "link or button" => "button",
                "a" => "link",
                role if FIELDS.contains(&role) => "label",
                role => role,
            };
            format!("{role} {}", name.trim())
        }
        _ => return None,
    };
    (name.len() <= NAME).then_some(name)
}

/// The element that a chain of places ends in, by the test id that it has wherever it is.
pub(super) fn innermost(name: &str) -> Option<&str> {
    let (_, last) = name.rsplit_once(".getByTestId(")?;
    let id = last.strip_suffix(')')?.trim_matches(['\'', '"']);
    is_own(id).then_some(id)
}

/// Roles of what has a label.
const FIELDS: [&str; 7] = [
    "checkbox",
    "combobox",
    "listbox",
    "radio",
    "searchbox",
    "spinbutton",
    "textbox",
];

fn is_own(id: &str) -> bool {
    let mut everywhere = SUBJECT_FORMS.of_pages.iter();
    id.len() > 2 && !everywhere.any(|word| word.eq_ignore_ascii_case(id))
}

fn group<'t>(found: &Captures<'t>, name: &str) -> Option<&'t str> {
    let found = found.name(name)?;
    std::str::from_utf8(found.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::missing_element;

    #[test]
    fn an_element_has_one_name_in_all_frameworks() {
        for text in [
            "Error: locator.click: Timeout 5000ms exceeded.\nCall log:\n  - waiting for getByTestId('wish-list')\n\n  9 | await",
            "Locator: getByTestId('wish-list')\nExpected: 1\nReceived: 0\nCall log:\n  - waiting for getByTestId('wish-list')\n  - 9 × locator resolved to 0 elements",
            "Call log:\n  - waiting for get_by_test_id(\"wish-list\")",
            "Call log:\n  - waiting for locator('x')\n  - waiting for getByTestId('wish-list') to be visible",
            "Timed out retrying after 4000ms: Expected to find element: `[data-cy=wish-list]`, but never found it.",
            "Timed out retrying after 4000ms: Expected `[data-cy=\"wish-list\"]` to be enabled, but it does not exist in the DOM.",
            "Unable to find an element by: [data-testid=\"wish-list\"]\n\n<body />",
            "no such element: Unable to locate element: {\"method\":\"css selector\",\"selector\":\"[data-testid=\\\"wish-list\\\"]\"}",
            "Unable to locate element: [data-testid='wish-list']\nStacktrace:",
            "element (\"[data-qa=wish-list]\") still not existing after 5000ms",
            "Failed to tap Button: No matches found for Find: Elements matching predicate '\"wish-list\" IN identifiers' from input {(",
            "java.lang.AssertionError: Failed: could not find any node that satisfies: (TestTag = 'wish-list')",
            "Actual: _KeyWidgetFinder:<Found 0 widgets with key [<'wish-list'>]: []>",
        ] {
            assert_eq!(
                missing_element(text).as_deref(),
                Some("wish-list"),
                "{text}"
            );
        }
        for (text, name) in [
            (
                "- waiting for getByRole('button', { name: 'Export orders' })",
                "button Export orders",
            ),
            (
                "Unable to find an accessible element with the role \"button\" and name \"Export orders\"",
                "button Export orders",
            ),
            (
                "- waiting for locator('button:has-text(\"Export orders\")')",
                "button Export orders",
            ),
            (
                "Element with locator 'xpath://a[.=\"Export orders\"]' not found.",
                "link Export orders",
            ),
            ("Unable to find css \"#wish-list\"", "#wish-list"),
            (
                "Timed out retrying after 4000ms: Expected to find content: 'Export orders' but never did.",
                "text Export orders",
            ),
            (
                "expected '<button>' to have text 'Export orders', but the text was 'Export'",
                "text Export orders",
            ),
            (
                "Unable to find an element with the text: Export orders. This could be because",
                "text Export orders",
            ),
            (
                "No matches found for Descendants matching type Button with identifier \"Export orders\" from input",
                "text Export orders",
            ),
            (
                "XCTAssertEqual failed: (\"Export\") is not equal to (\"Export orders\")",
                "text Export orders",
            ),
            (
                "No views in hierarchy found matching: view.getId() is <2131230820/com.acme:id/wish_list>",
                "wish_list",
            ),
            (
                "- waiting for getByTestId('cart').getByRole('row').nth(2)",
                "getByTestId('cart').getByRole('row').nth(2)",
            ),
        ] {
            assert_eq!(missing_element(text).as_deref(), Some(name), "{text}");
        }
    }

    #[test]
    fn what_was_found_or_is_everywhere_is_not_missing() {
        for text in [
            // There, but not as it should be.
            "- waiting for getByTestId('total-sum')\n  - 9 × locator resolved to <b data-testid=\"total-sum\">7</b>",
            "Expected `[data-cy=wish-list]` to not exist in the DOM, but it was continuously found.",
            "Expected <div[data-cy=wish-list]> not to exist in the DOM, but it was continuously found.",
            // On many pages.
            "- waiting for getByTestId('submit')",
            "- waiting for getByRole('button', { name: 'Save' })",
            "- waiting for locator('h1')",
            "Expected to find element: `.modal`, but never found it.",
            "Unable to find an element with the text: Hello, Ada!",
            "- waiting for navigation until \"load\"",
            "the product says: wish-list is empty",
        ] {
            assert_eq!(missing_element(text), None, "{text}");
        }
    }
}
