//! The element of a page or screen that a test did not find, by the name that its authors
//! gave it: whatever the test wanted of it, that it is gone is one cause.

use aho_corasick::AhoCorasick;
use memchr::memrchr;
use regex::bytes::{Captures, Regex, RegexBuilder};
use std::sync::LazyLock;

/// Bytes of a text in which it says what it did not find.
const HEAD: usize = 4 << 10;
/// Bytes of such a sentence, and before the words that give it away.
const SENTENCE: usize = 600;
const BEFORE: usize = 300;
/// Bytes of a name. What is longer is data.
const NAME: usize = 200;

/// Words that give a sentence away, and what it may be: with the element as it was looked
/// for, with its name, or with its role and its name.
const SENTENCES: [(&str, &[&str]); 19] = [
    // Playwright
    ("- waiting for ", &[r"- waiting for (?P<what>[^\n]+)"]),
    (
        "Locator: ",
        &[r"Locator: +(?P<what>[^\n]+)\n[^\n]*\n\s*Received: +(?:<element\(s\) not found>|hidden)"],
    ),
    // Cypress
    (
        "never found it",
        &[r"xpected (?:to find element: )?`(?P<what>[^`\n]+)`[^`\n]*never found it"],
    ),
    (
        "does not exist in the DOM",
        &[r"xpected `(?P<what>[^`\n]+)`[^`\n]* does not exist in the DOM"],
    ),
    (
        "xpected to find content: ",
        &[r"xpected to find content: '(?P<text>[^'\n]+)' but never did"],
    ),
    (
        ", but the text was ",
        &[r"xpected '[^'\n]*' to have text '(?P<text>[^'\n\d]+)', but the text was '[^'\n\d]+'"],
    ),
    // Testing Library, Capybara
    (
        "nable to find ",
        &[
            r"nable to find an element with the text: (?P<text>[^\n.]+)\. This could",
            r"nable to find an element by: (?P<what>\[[^\n\]]+\])",
            r#"nable to find an (?:accessible )?element with the role "(?P<role>\w+)" and name ["`](?P<name>[^"`\n]+)["`]"#,
            r#"nable to find (?:visible )?(?:css|xpath) "(?P<what>[^"\n]+)""#,
            r#"nable to find (?:visible )?(?P<role>button|link) "(?P<name>[^"\n]+)""#,
        ],
    ),
    // Selenium, Appium
    (
        "nable to locate element: ",
        &[
            r#"nable to locate element: \{[^\n]*?"(?:selector|value)": ?"(?P<what>(?:[^"\\\n]|\\.)+)""#,
            r"nable to locate element: (?P<what>[^{\s][^\n]*)",
        ],
    ),
    // WebdriverIO
    (
        "element wasn't found",
        &[r#"element with selector "(?P<what>(?:[^"\\\n]|\\.)+)" because element wasn't found"#],
    ),
    (
        "still not existing",
        &[r#"element \("(?P<what>(?:[^"\\\n]|\\.)+)"\) still not existing"#],
    ),
    // SeleniumLibrary of Robot Framework
    (
        "lement with locator ",
        &[r"lement with locator '(?P<what>[^'\n]+)' (?:was )?not found"],
    ),
    (
        " should have contained element ",
        &[r"age should have contained element '(?P<what>[^'\n]+)' but did not"],
    ),
    (
        " not visible after ",
        &[r"lement '(?P<what>[^'\n]+)' not visible after \d"],
    ),
    (
        " did not appear in ",
        &[r"lement '(?P<what>[^'\n]+)' did not appear in \d"],
    ),
    // XCUITest
    (
        "No matches found for ",
        &[
            r#"No matches found for [^\n]*?"(?P<id>[\w.:-]+)" IN identifiers"#,
            r#"No matches found for [^\n]*?identifier ==? ["'](?P<id>[\w.:-]+)["']"#,
            r#"No matches found for [^\n]*? with identifier "(?P<text>[^"\n]+)""#,
        ],
    ),
    (
        "is not equal to (",
        &[r#"XCTAssertEqual failed: \("[^"\n\d]+"\) is not equal to \("(?P<text>[^"\n\d]+)"\)"#],
    ),
    // Espresso, Compose
    (
        "No views in hierarchy found matching",
        &[r"No views in hierarchy found matching:? [^\n]*?:id/(?P<id>\w+)"],
    ),
    (
        "could not find any node that satisfies: ",
        &[r"could not find any node that satisfies: \(TestTag = '(?P<id>[^'\n]+)'\)"],
    ),
    // Flutter
    (
        " widgets with key [<'",
        &[r"(?:\b0|\bzero|\bno) widgets with key \[<'(?P<id>[^'\n]+)'>\]"],
    ),
];

/// Whole descriptions of an element, with its `id`, its `dom` id, or its role and name.
const DESCRIPTIONS: [&str; 10] = [
    r#"^[Gg]et_?[Bb]y_?[Tt]est_?[Ii]d\(['"](?P<id>[^'"]+)['"]\)$"#,
    r#"^(?:\w+|\*)?\[data-(?:test-?id|test|cy|qa|e2e|hook|automation-?id)=['"]?(?P<id>[\w.:/-]+)['"]?\]$"#,
    r"^data(?:-(?:test-?id|test|cy|qa|e2e)=|:[\w-]+:)(?P<id>[\w.:/-]+)$",
    r#"^\.?//(?:\w+|\*)\[@data-(?:test-?id|test|cy|qa|e2e|hook|automation-?id)=['"](?P<id>[^'"]+)['"]\]$"#,
    r"^(?:\w+|\*)?#(?P<dom>[A-Za-z][\w-]*)$",
    r#"^(?:\.?//)?(?:\w+|\*)?\[@?id=['"]?(?P<dom>[\w.:-]+)['"]?\]$"#,
    r#"^[Gg]et_?[Bb]y_?[Rr]ole\(['"](?P<role>\w+)['"], (?:\{ )?name(?:: |=)['"](?P<name>[^'"]+)['"](?:, exact(?:: true|=True))?(?: \})?\)$"#,
    r#"^[Gg]et_?[Bb]y_?[Tt]ext\(['"](?P<text>[^'"]+)['"](?:, [^\n]*)?\)$"#,
    r"^~(?P<id>[\w.:/-]+)$",
    r"^(?:id|css):#?(?P<dom>[A-Za-z][\w-]*)$",
];

/// What is a part of many pages: nobody knows whose it is.
const EVERYWHERE: [&str; 39] = [
    "app",
    "body",
    "button",
    "cancel",
    "close",
    "container",
    "content",
    "dialog",
    "email",
    "error",
    "footer",
    "form",
    "header",
    "icon",
    "image",
    "input",
    "item",
    "label",
    "link",
    "list",
    "loader",
    "loading",
    "login",
    "main",
    "menu",
    "modal",
    "name",
    "next",
    "page",
    "password",
    "root",
    "row",
    "save",
    "search",
    "spinner",
    "submit",
    "table",
    "title",
    "wrapper",
];

/// What finds the words, with the forms of their sentences, and the descriptions.
struct ElementForms {
    words: AhoCorasick,
    sentences: Vec<Vec<Regex>>,
    descriptions: Vec<Regex>,
    /// A test id that a longer description begins with.
    first: Regex,
    /// A test id somewhere in a longer description.
    part: Regex,
}

static FORMS: LazyLock<Option<ElementForms>> = LazyLock::new(|| {
    let words = SENTENCES.iter().map(|(word, _)| *word);
    let sentences = SENTENCES.iter().map(|(_, forms)| compiled(forms));
    Some(ElementForms {
        words: AhoCorasick::new(words).ok()?,
        sentences: sentences.collect::<Option<Vec<_>>>()?,
        descriptions: compiled(&DESCRIPTIONS)?,
        first: form(
            r#"^(?:[Gg]et_?[Bb]y_?[Tt]est_?[Ii]d\(['"](?P<id>[^'"]+)['"]\)\.|\[data-(?:test-?id|test|cy|qa|e2e)=['"]?(?P<what>[\w.:/-]+)['"]?\] )"#,
        )?,
        part: form(r"(?i:by_?test_?id\(|\[@?data-(?:test|cy|qa|e2e))")?,
    })
});

fn compiled(forms: &[&str]) -> Option<Vec<Regex>> {
    forms.iter().map(|one| form(one)).collect()
}

fn form(form: &str) -> Option<Regex> {
    RegexBuilder::new(form).unicode(false).build().ok()
}

/// The element that a failure says was not there; nothing for one without a name of its own.
pub(super) fn missing_element(text: &str) -> Option<String> {
    let forms = FORMS.as_ref()?;
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
    static RESOLVED: LazyLock<Option<Regex>> =
        LazyLock::new(|| form(r"locator resolved to (?:[^0]|0[^ ]|0 [^e])"));
    RESOLVED
        .as_ref()
        .is_some_and(|resolved| resolved.is_match(log))
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
    let first = FORMS.as_ref()?.first.captures(name.as_bytes())?;
    group(&first, "id").or_else(|| group(&first, "what"))
}

fn named(found: &Captures<'_>) -> Option<String> {
    if let Some(text) = group(found, "text") {
        let text = text.trim();
        // A single word is on many pages, and a number says what was counted.
        let is_own = text.contains(' ') && !text.contains(|c: char| c.is_ascii_digit());
        return (is_own && text.len() <= NAME).then(|| format!("text {text}"));
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
            format!("{role} {}", name.trim())
        }
        _ => return None,
    };
    (name.len() <= NAME).then_some(name)
}

fn is_own(id: &str) -> bool {
    let mut everywhere = EVERYWHERE.iter();
    id.len() > 2 && !everywhere.any(|word| word.eq_ignore_ascii_case(id))
}

fn group<'t>(found: &Captures<'t>, name: &str) -> Option<&'t str> {
    let found = found.name(name)?;
    std::str::from_utf8(found.as_bytes()).ok()
}

#[cfg(test)]
mod tests {
    use super::{FORMS, missing_element};

    #[test]
    fn an_element_has_one_name_in_all_frameworks() {
        assert!(FORMS.is_some());
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
