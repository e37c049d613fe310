//! What browsers and their drivers show of a fault: where they were sent, what they did not find,
//! what lies over it, what a request was refused with.

use jelly_base::text::LazyPattern;

/// The page of those who are not signed in, to which a browser was sent that was to see
/// another one; or the code in the address by which a page says what went wrong.
pub(super) fn redirected(text: &str) -> Option<String> {
    Some(sent_to(text)?.replace('-', "_"))
}

/// The same as it is written.
pub(super) fn sent_to(text: &str) -> Option<&str> {
    static SENT: LazyPattern = LazyPattern::new(
        r#"(?x)(?:\bnavigated\ to|\bReceived(?:\ string)?:)\s+"(https?://[^/"\s]+(?:/[\w-]+){0,3}?/(?:log-?in|sign-?in|sso|session-expired))(?:[?\#][^"]*)?"
              | \b(?:navigated\ to|Received(?:\ string)?:)\s+"https?://[^"\s?]+\?(?:[^"\s]*&)?(?:error|reason|code)=([a-z][a-z_-]{6,40})\b"#,
    );
    if !text.contains("navigated to") && !text.contains("Received") {
        return None;
    }
    let found = SENT.captures(text)?;
    Some(found.get(1).or_else(|| found.get(2))?.as_str())
}

/// The screenshot that Playwright compares with, by the name that its authors gave it: several
/// tests, and several places of one, have it with a number of their own.
pub(super) fn screenshot(text: &str) -> Option<String> {
    static EXPECTED: LazyPattern = LazyPattern::new(
        r"\bExpected: (\S+-snapshots[/\\][\w-]*?[A-Za-z])(?:-\d+)?-[\w]+-(?:linux|darwin|win32)\.png\b",
    );
    if !text.contains("toHaveScreenshot") {
        return None;
    }
    Some(EXPECTED.captures(text)?.get(1)?.as_str().to_owned())
}

/// The request of Cypress that was refused, with the status.
pub(super) fn refused(text: &str) -> Option<String> {
    static REQUEST: LazyPattern = LazyPattern::new(
        r"`cy\.(?:request|visit)\(\)` failed (?:on|trying to load):\s+(https?://[^\s?]+)[^\x00]{0,200}?> (\d{3}):",
    );
    static BODY: LazyPattern =
        LazyPattern::new(r#"\bBody: [^\n]*?"(?:error|message|detail|code)": ?"([^"\n]+)""#);
    if !text.contains("`cy.") {
        return None;
    }
    let found = REQUEST.captures(text)?;
    let body = BODY.captures(text);
    let said = body.as_ref().map_or("", |body| &body[1]);
    Some(format!("{} {} {said}", &found[1], &found[2]))
}

/// The request that a stand-in for services has no answer for, as Mock Service Worker tells it,
/// and whoever asked.
/// The warning that one was let through tells why nothing fails.
pub(super) fn unhandled(text: &str) -> Option<String> {
    static REQUEST: LazyPattern =
        LazyPattern::ascii(r"\b(GET|HEAD|POST|PUT|PATCH|DELETE) (https?://[^\s?#]+)");
    let tells = [
        "[MSW] Error",
        "has no handler",
        "[MSW] Cannot bypass a request",
    ];
    let at = tells.iter().filter_map(|words| text.find(words)).min()?;
    let begin = text[..at].rfind('\n').map_or(0, |at| at + 1);
    let found = REQUEST.captures(&text[begin..])?;
    Some(format!("{} {} has no answer", &found[1], &found[2]))
}

/// An element that Playwright looked for in vain, whether to do something with it or to see
/// how it is, by a name that its authors gave it.
pub(super) fn missing(text: &str) -> Option<String> {
    static LOCATOR: LazyPattern = LazyPattern::new(r"(?:\bLocator: +|- waiting for )([^\n]+)");
    if !text.contains("Locator: ") && !text.contains("- waiting for ") {
        return None;
    }
    let locator = LOCATOR.captures(text)?.get(1)?.as_str().trim();
    let is_named = [
        "'#",
        "\"#",
        "estId(",
        "[data-",
        "[name=",
        "name: '",
        "name: \"",
        "getByLabel(",
    ]
    .iter()
    .any(|name| locator.contains(name));
    is_named.then(|| format!("{locator} is missing"))
}

/// An element that Playwright found otherwise than the test wants it, by the name that
/// its authors gave it: disabled, or with another text.
pub(super) fn element_state(text: &str) -> Option<String> {
    static LOCATOR: LazyPattern = LazyPattern::new(r"(?:\bLocator: +|- waiting for )([^\n]+)");
    static TEXT: LazyPattern = LazyPattern::new(
        r#"\bto(?:Have|Contain)Text\b[^\x00]{0,300}?\bReceived(?: string)?: +"[^"\n]+""#,
    );
    let is_off = text.contains("- element is not enabled")
        || text.contains("Expected: enabled") && text.contains("Received: disabled");
    let has_text = || text.contains("Text") && TEXT.is_match(text);
    let state = if is_off {
        "disabled"
    } else if has_text() {
        "text"
    } else {
        return None;
    };
    let locator = LOCATOR.captures(text)?.get(1)?.as_str().trim();
    let is_named = locator.contains("estId(") || is_off;
    is_named.then(|| format!("{locator} {state}"))
}

/// How many pixels of a screenshot differ, as Playwright tells it.
pub(super) fn pixels(text: &str) -> Option<&str> {
    static PIXELS: LazyPattern = LazyPattern::new(r"\b(\d{3,} pixels \(ratio 0\.\d+) of");
    if !text.contains(" pixels (") {
        return None;
    }
    Some(PIXELS.captures(text)?.get(1)?.as_str())
}

/// What lies over the element that a test wants to click, as Playwright and Cypress tell it.
pub(super) fn cover(text: &str) -> Option<&str> {
    static COVERED: LazyPattern =
        LazyPattern::new(r"\bis being covered by another element:\s+`(<[^`\n]+>)`");
    // One without a name may be any.
    let has_name = |tag: &str| {
        [" id=", " class=", " data-"]
            .iter()
            .any(|of| tag.contains(of))
    };
    if text.contains("covered by another") {
        let covered = COVERED.captures(text)?.get(1)?.as_str();
        return has_name(covered).then_some(covered);
    }
    let end = text.find(" intercepts pointer events")?;
    let begin = text[..end].rfind('\n').map_or(0, |at| at + 1);
    let line = text[begins_tag(text, begin, end)?..end].trim();
    // One without a name may be any.
    line.contains(" id=").then_some(line)
}

fn begins_tag(text: &str, begin: usize, end: usize) -> Option<usize> {
    text[begin..end].find('<').map(|at| begin + at)
}
