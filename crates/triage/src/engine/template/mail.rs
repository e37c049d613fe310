//! Addresses of mail that tests make up.

use super::shape::has_digit;

/// Domains that are nobody's (RFC 2606).
const RESERVED: [&str; 3] = ["example.com", "example.net", "example.org"];
/// Those that libraries for invented data choose from.
const PROVIDERS: [&str; 5] = [
    "gmail.com",
    "hotmail.com",
    "yahoo.com",
    "outlook.com",
    "ethereal.email",
];

/// The local part of an address that a text begins with, and its domain.
fn split_address(text: &str) -> Option<(&str, &str)> {
    let in_local = |b: u8| b.is_ascii_alphanumeric() || b"._+-".contains(&b);
    let local = &text[..text.bytes().take_while(|b| in_local(*b)).count()];
    let rest = text[local.len()..].strip_prefix('@')?;
    let in_domain = |b: u8| b.is_ascii_alphanumeric() || b"-.".contains(&b);
    let domain = &rest[..rest.bytes().take_while(|b| in_domain(*b)).count()];
    (!local.is_empty()).then_some((local, domain.trim_end_matches('.')))
}

/// How long the address is that `text` begins with, if a test made it up: of such a
/// domain, and of a name with a number or of two parts. A plain word is a part that
/// somebody plays: `seller@example.com`.
pub(super) fn invented_address(text: &str, compared: bool) -> Option<usize> {
    let (local, domain) = split_address(text)?;
    let numbered = has_digit(local);
    let parts = local.contains(['.', '_', '+']);
    let capital = local.starts_with(|c: char| c.is_ascii_uppercase());
    let invented = match PROVIDERS.contains(&domain) {
        true => numbered || parts && capital,
        false if RESERVED.contains(&domain) => numbered || parts,
        // Below a domain for tests people play parts, too, of which one digit tells which,
        // and two that are compared mean something.
        false => {
            let digits = local.bytes().filter(u8::is_ascii_digit).count();
            domain.ends_with(".test") && digits > 1 && !compared
        }
    };
    invented.then_some(local.len() + 1 + domain.len())
}

/// How much of a text is left without the name of a person at its end, whose invented
/// address follows: `Dear Ada Marino <`.
pub(super) fn without_person(text: &str) -> Option<usize> {
    let before = text.strip_suffix(" <")?;
    let is_name = |word: &str| {
        let mut letters = word.chars();
        let capital = letters.next().is_some_and(char::is_uppercase);
        capital && word.chars().count() > 1 && letters.all(|c| c.is_alphabetic() || c == '-')
    };
    let last = before.rsplit([' ', '\'', '"', '(', '\n']).next()?;
    let first = before[..before.len() - last.len()].strip_suffix(' ')?;
    let word = first.rsplit([' ', '\'', '"', '(', '\n']).next()?;
    (is_name(last) && is_name(word)).then_some(first.len() - word.len())
}

/// Where the tag begins and ends that a test put behind the name of a mailbox, as in
/// `ops+CuyUTH@shop.test`.
pub(super) fn tag(text: &str) -> Option<(usize, usize)> {
    let (local, domain) = split_address(text)?;
    let from = local.find('+')? + 1;
    let tag = &local[from..];
    let mixed = tag.bytes().skip(1).any(|b| b.is_ascii_uppercase());
    let made = has_digit(tag) || mixed || tag.contains(['-', '_']);
    (from > 1 && made && domain.contains('.')).then_some((from, local.len()))
}
