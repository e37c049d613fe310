//! The shell of a page: policy, style, script, landmarks.
//!
//! A page asks for nothing and runs nothing but its own script, which is named
//! by its hash: whatever slips through the escaping of hostile words would be
//! text to the browser. No element carries a style of its own, since the policy
//! names the one style sheet by hash too; pictures have their colours as
//! attributes for where that style is blocked.

use super::parts;
use base64::Engine as _;
use base64::engine::general_purpose::STANDARD;
use jelly_base::model::{Side, Verdict};
use maud::{DOCTYPE, Markup, PreEscaped, html};
use sha2::{Digest, Sha256};

const STYLE: &str = include_str!("style.css");
const SCRIPT: &str = include_str!("script.js");

/// The whole document around `head`, which says how it went, and `main`.
pub(in crate::report) fn document(title: &str, head: &Markup, main: &Markup) -> Vec<u8> {
    let page = html! {
        (DOCTYPE)
        html lang="en" {
            head {
                meta charset="utf-8";
                meta http-equiv="Content-Security-Policy" content=(policy());
                meta name="viewport" content="width=device-width, initial-scale=1";
                meta name="color-scheme" content="light dark";
                meta name="referrer" content="no-referrer";
                meta name="generator" content="jelly";
                title { (parts::brief(title)) }
                style { (PreEscaped(STYLE)) }
            }
            body {
                a.skip href="#main" { "Skip to the result" }
                header { (head) }
                main #main tabindex="-1" { (main) }
                footer { p { "Written by jelly " (env!("CARGO_PKG_VERSION")) ". Secrets are starred." } }
                script { (PreEscaped(SCRIPT)) }
            }
        }
    };
    page.into_string().into_bytes()
}

/// Nothing from anywhere, but for what is in the page and known by its hash.
fn policy() -> String {
    let hash = |text: &str| STANDARD.encode(Sha256::digest(text.as_bytes()));
    format!(
        "default-src 'none'; style-src 'sha256-{}'; script-src 'sha256-{}'; base-uri 'none'; \
         form-action 'none'",
        hash(STYLE),
        hash(SCRIPT)
    )
}

/// The parts of a page, for who wants to go to one.
pub(in crate::report) fn contents(parts: &[(&str, &str)]) -> Markup {
    html! {
        nav aria-label="On this page" {
            ul { @for (id, title) in parts { li { a href={ "#" (id) } { (title) } } } }
        }
    }
}

/// Which colour stands for a verdict.
pub(in crate::report) fn tone(verdict: Verdict, exit_code: u8) -> &'static str {
    match (verdict.is_green(), exit_code) {
        (true, 0) => "good",
        (true, _) => "warn",
        (false, _) => "bad",
    }
}

/// By what a failure is filtered, and coloured: one of [`KINDS`].
pub(in crate::report) fn kind(side: Side, flaky: bool, ambiguous: bool) -> &'static str {
    match (side, flaky, ambiguous) {
        (Side::Code, ..) => "code",
        (Side::Test, true, _) => "flaky",
        (Side::Test, false, true) => "ambiguous",
        (Side::Test, false, false) => "test",
    }
}

/// The kinds of failures, with what people read.
const KINDS: [(&str, &str); 4] = [
    ("code", "code-side"),
    ("test", "test-side"),
    ("ambiguous", "ambiguous"),
    ("flaky", "flaky"),
];

/// What narrows the list of failures; a script shows it, so that nobody sees
/// what does nothing.
pub(in crate::report) fn filter(failures: usize) -> Markup {
    html! {
        div #filter role="search" aria-label="Failures" hidden {
            label for="search" { "Search failures" }
            input #search type="search" autocomplete="off" spellcheck="false";
            label for="kind" { "Side" }
            select #kind {
                option value="" { "all" }
                @for (kind, words) in KINDS { option value=(kind) { (words) } }
            }
            button #open type="button" { "Open all shown" }
            output #shown for="search kind" { (failures) " of " (failures) " shown" }
            label { input #keys type="checkbox" checked; " Keys" }
            p {
                kbd { "/" } " searches, " kbd { "j" } " and " kbd { "k" } " go to the next and the \
                 previous failure, " kbd { "Enter" } " opens it, " kbd { "Esc" } " shows all."
            }
        }
    }
}
