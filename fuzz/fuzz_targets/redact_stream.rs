//! A secret that arrives in pieces is never shown.
#![no_main]

use jelly_base::text::redact::Redactor;
use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str, &str, Vec<usize>)| {
    let (secret, before, after, cuts) = input;
    // The replacement itself may hold a short one.
    if secret.len() < 12 {
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
    let found = shown
        .windows(secret.len())
        .any(|window| window == secret.as_bytes());
    assert!(!found);
});
