//! Errors as pages and documents: the page of a proxy, the XML of a storage
//! service, a tag round the message.

use super::sentence;
use jelly_base::text::LazyPattern;

/// The statements of markup that is an error as a whole.
pub(super) fn read(text: &str) -> Option<Vec<String>> {
    if !text.starts_with('<') {
        return None;
    }
    tagged(text)
        .or_else(|| page(text))
        .or_else(|| document(text))
}

/// `<error>…</error>` and the like.
fn tagged(text: &str) -> Option<Vec<String>> {
    static TAG: LazyPattern = LazyPattern::new(
        r"(?is)\A<(?:[\w-]*error|exception|fault|failure)(?: [^<>]*)?>([^<]*)</[\w-]+>\s*\z",
    );
    let said = TAG.captures(text)?.get(1)?.as_str().trim();
    Some(vec![said.to_owned()])
}

/// A page of HTML whose title is a status, or an error as a sentence is.
fn page(text: &str) -> Option<Vec<String>> {
    static TITLE: LazyPattern = LazyPattern::new(r"(?is)<(?:title|h1)[^>]*>\s*([^<]{1,200}?)\s*</");
    let lower = text
        .get(..text.floor_char_boundary(200))?
        .to_ascii_lowercase();
    if !lower.contains("<html") && !lower.contains("<!doctype html") && !lower.contains("<head") {
        return None;
    }
    let title = TITLE.captures(text)?.get(1)?.as_str();
    sentence::read(title).or_else(|| {
        // Cloudflare and others put their own name before or behind it.
        let parts = title.split(['|', '–', '—']).chain(title.split(" - "));
        parts.map(str::trim).find_map(sentence::read)
    })
}

/// The error document of a service: `<Error><Code>…</Code><Message>…`.
fn document(text: &str) -> Option<Vec<String>> {
    static ROOT: LazyPattern = LazyPattern::new(
        r"(?is)\A(?:<\?xml[^>]*\?>\s*)?<(?:\w+:)?(?:Error(?:Response|s)?|Fault|Exception|ServiceException(?:Report)?|ExceptionReport)[\s>]",
    );
    static LEAF: LazyPattern = LazyPattern::new(r"<([\w:]+)[^<>]*>([^<]+)</");
    if !ROOT.is_match(text) {
        return None;
    }
    let lines: Vec<String> = LEAF
        .captures_iter(text)
        .filter_map(|leaf| Some(leaf.get(2)?.as_str().trim().to_owned()))
        .filter(|said| !said.is_empty())
        .collect();
    // A count of errors, and a list that is empty, tell none.
    let tells = |line: &String| line.contains(|c: char| c.is_alphabetic());
    lines.iter().any(tells).then_some(lines)
}
