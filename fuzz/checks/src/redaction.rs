//! A secret is shown in no reading of what is left of a text.

use jelly_base::text::redact::Redactor;
use jelly_base::text::{sanitize, strip_ansi};

/// Shorter ones may stand in the replacement itself.
const SHORTEST: usize = 12;

/// A secret that arrives in pieces.
pub fn check_stream((secret, before, after, cuts): (&str, &str, &str, Vec<usize>)) {
    if secret.len() < SHORTEST {
        return;
    }
    let redactor = Redactor::new([("NAME", secret)]);
    let text = format!("{before}{secret}{after}");
    let mut stream = redactor.stream();
    let mut rest = text.as_bytes();
    let mut shown = Vec::new();
    for cut in cuts {
        let (now, later) = rest.split_at(cut % (rest.len() + 1));
        shown.extend(stream.push(now));
        rest = later;
    }
    shown.extend(stream.push(rest));
    shown.extend(stream.finish());
    // A secret may be made of the end of a mark and of what follows it: what
    // stands there then is no secret that was let through.
    let text = String::from_utf8_lossy(&shown);
    assert!(
        !text
            .split("[secret NAME]")
            .any(|part| part.contains(secret))
    );
}

/// Marks that a terminal or a viewer takes away.
const MARKS: [&str; 12] = [
    "",
    "\u{1b}[31m",
    "\u{1b}[0m",
    "\u{1b}]8;;https://x.test/\u{7}",
    "\r",
    "\u{8}",
    "\u{7f}",
    "\0",
    "\u{202e}",
    "\u{200b}",
    "\u{9b}1m",
    "\u{feff}",
];

/// A secret with marks between its characters, as chosen.
pub fn check_views((secret, before, after, marks): (&str, &str, &str, Vec<u8>)) {
    let plain = |text: &str| text.chars().all(|c| c.is_ascii_graphic());
    if secret.len() < SHORTEST || !plain(secret) {
        return;
    }
    let mut broken = String::new();
    for (at, c) in secret.chars().enumerate() {
        if at > 0 {
            let mark = marks.get(at % marks.len().max(1)).copied().unwrap_or(0);
            broken.push_str(MARKS[usize::from(mark) % MARKS.len()]);
        }
        broken.push(c);
    }
    // What comes before must not swallow a part of it.
    if !plain(before) || !plain(after) {
        return;
    }
    let redactor = Redactor::new([("NAME", secret)]);
    let shown = redactor
        .redact(&format!("{before} {broken} {after}"))
        .into_owned();
    let lower = secret.to_lowercase();
    let stripped = strip_ansi(&shown).into_owned();
    for reading in [
        &shown,
        &sanitize(&shown).into_owned(),
        &stripped,
        &sanitize(&stripped).into_owned(),
    ] {
        // It may stand beside it on purpose.
        if before.to_lowercase().contains(&lower) || after.to_lowercase().contains(&lower) {
            continue;
        }
        assert!(!reading.to_lowercase().contains(&lower), "{reading:?}");
    }
}
