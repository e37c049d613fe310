//! What pages are made of. Words of others come in here and nowhere else: they
//! are harmless and bounded when they leave, and `maud` escapes them.

use jelly_base::model::Fix;
use jelly_base::text::{lines, one_line, plural, sanitize, truncate, truncate_middle};
use maud::{Markup, PreEscaped, html};

/// Bytes of a text on one line, and of one beside others.
pub(in crate::report) const LINE: usize = 2048;
pub(in crate::report) const SHORT: usize = 240;
/// Bytes of a name.
const NAME: usize = 300;
/// Bytes of what a program printed.
const BLOCK: usize = 8 << 10;
/// Bytes of a diff.
const DIFF: usize = 32 << 10;
/// Bytes of a command: as much as a person copies.
const COMMAND: usize = 16 << 10;

/// Bytes of a text that are looked at: what is taken out of it takes less.
const RAW: usize = 64 << 10;

/// A text on one line, of so many bytes.
pub(in crate::report) fn line(text: &str, max: usize) -> String {
    one_line(&truncate(text, RAW), max)
}

/// A text on one line.
pub(in crate::report) fn said(text: &str) -> String {
    line(text, LINE)
}

/// The same beside others.
pub(in crate::report) fn brief(text: &str) -> String {
    line(text, SHORT)
}

/// A name, a path or a value, on one line.
pub(in crate::report) fn code(text: &str) -> Markup {
    html! { code { (line(text, NAME)) } }
}

/// The same of what may be as long as a line.
pub(in crate::report) fn long_code(text: &str) -> Markup {
    html! { code { (said(text)) } }
}

/// A heading, one below `top`. `maud` knows no names of elements that come at
/// run time.
pub(in crate::report) fn heading(level: u8, id: Option<&str>, text: &Markup) -> Markup {
    html! {
        @match level {
            0 | 1 => h1 id=[id] { (text) },
            2 => h2 id=[id] { (text) },
            3 => h3 id=[id] { (text) },
            4 => h4 id=[id] { (text) },
            5 => h5 id=[id] { (text) },
            _ => h6 id=[id] { (text) },
        }
    }
}

/// A part of a page under a heading, a landmark of its own.
pub(in crate::report) fn section(level: u8, id: &str, title: &str, body: &Markup) -> Markup {
    section_of(None, level, id, title, body)
}

/// The same where several parts of a page have such a one: what is named by the
/// element with this id comes before its own name.
pub(in crate::report) fn section_of(
    whole: Option<&str>,
    level: u8,
    id: &str,
    title: &str,
    body: &Markup,
) -> Markup {
    let label = format!("{id}-title");
    let labels = whole.map_or_else(|| label.clone(), |whole| format!("{whole} {label}"));
    html! {
        section id=(id) aria-labelledby=(labels) {
            (heading(level, Some(&label), &html! { (title) }))
            (body)
        }
    }
}

/// A word with a colour; the colour alone says nothing.
pub(in crate::report) fn tag(kind: &str, text: &str) -> Markup {
    html! { span class={ "tag " (kind) } { (brief(text)) } }
}

/// Pairs of a word of jelly's and what is known.
pub(in crate::report) fn facts(pairs: &[(&str, Markup)]) -> Markup {
    html! {
        @if !pairs.is_empty() {
            dl {
                @for (term, known) in pairs {
                    div { dt { (term) } " " dd { (known) } }
                }
            }
        }
    }
}

/// A text of many lines, of which head and tail are shown; `more` says where
/// the rest is.
pub(in crate::report) fn block(title: &str, text: &str, more: Option<&Markup>) -> Markup {
    if text.trim().is_empty() {
        return Markup::default();
    }
    let cut = truncate_middle(text, RAW);
    let clean = sanitize(&cut);
    let shown = truncate_middle(&clean, BLOCK);
    let lines = plural(lines(text).count() as u64, "line");
    let is_cut = shown.len() < clean.len() || cut.len() < text.len();
    html! {
        figure {
            figcaption {
                (title) " (" (lines) ")"
                @if is_cut && let Some(more) = more { "; " (more) }
            }
            pre { (shown.trim_end()) }
        }
    }
}

/// A unified diff. Its marks stand in the text, so that it needs no colour.
pub(in crate::report) fn diff(title: &str, text: &str) -> Markup {
    if text.trim().is_empty() {
        return Markup::default();
    }
    let cut = truncate_middle(text, RAW);
    let clean = sanitize(&cut);
    let shown = truncate_middle(&clean, DIFF);
    html! {
        figure {
            figcaption { (title) }
            pre.diff { (diff_lines(shown.trim_end())) }
        }
    }
}

/// Lines of one kind in one element: a diff is mostly such.
fn diff_lines(text: &str) -> Markup {
    let kind = |line: &str| match line.as_bytes() {
        [b'+', b'+', b'+', ..] | [b'-', b'-', b'-', ..] | [b'@', ..] => "hunk",
        [b'+', ..] => "new",
        [b'-', ..] => "old",
        _ => "",
    };
    let lines: Vec<&str> = text.lines().collect();
    html! {
        @for (at, run) in lines.chunk_by(|one, other| kind(one) == kind(other)).enumerate() {
            @if at > 0 { "\n" }
            @match kind(run[0]) {
                "" => (run.join("\n")),
                kind => span class=(kind) { (run.join("\n")) },
            }
        }
    }
}

/// Steps in order: sentences and commands to copy, these with the sentence that
/// announces them.
pub(in crate::report) fn instructions<'f>(steps: impl IntoIterator<Item = &'f Fix>) -> Markup {
    let steps: Vec<&Fix> = steps.into_iter().collect();
    html! {
        @if !steps.is_empty() {
            ol.steps {
                @for step in steps.chunk_by(|one, next| next.is_command() && one.text.ends_with(':')) {
                    li {
                        @for part in step {
                            @if part.is_command() {
                                (command(&part.text))
                            } @else {
                                (said(&part.text))
                            }
                        }
                    }
                }
            }
        }
    }
}

/// A command to copy. What is too long to be copied by hand is not cut, since
/// half a command does something else: it is told where it is.
pub(in crate::report) fn command(text: &str) -> Markup {
    html! {
        @if text.len() > COMMAND {
            "A command of " (text.len()) " bytes, too long for this page; the JSON report holds it."
        } @else {
            pre.command { code { (sanitize(text).trim_end()) } }
        }
    }
}

/// A table with a name, whose first column names its row. A wide one is
/// scrolled by itself.
pub(in crate::report) fn table(
    caption: &str,
    header: &[&str],
    rows: impl IntoIterator<Item = Markup>,
) -> Markup {
    html! {
        div.table role="group" tabindex="0" aria-label=(caption) {
            table {
                caption { (caption) }
                thead { tr { @for name in header { th scope="col" { (name) } } } }
                tbody { @for row in rows { (row) } }
            }
        }
    }
}

/// A row of [`table`].
pub(in crate::report) fn row(name: &Markup, cells: &[Markup]) -> Markup {
    html! { tr { th scope="row" { (name) } @for cell in cells { td { (cell) } } } }
}

/// The entries of a long list in groups, of which a browser lays out only those
/// that are near to what it shows: one by one, thousands cost it a second.
fn grouped(entries: &[Markup]) -> impl Iterator<Item = (usize, &[Markup])> {
    const GROUP: usize = 50;
    let groups = entries.chunks(GROUP).enumerate();
    groups.map(|(at, group)| (at * GROUP, group))
}

/// A list of failures, which the script searches.
pub(in crate::report) fn failure_list(entries: &[Markup]) -> Markup {
    html! {
        div.failures {
            @for (_, group) in grouped(entries) {
                div.group { @for entry in group { (entry) } }
            }
        }
    }
}

/// A list of causes, numbered through.
pub(in crate::report) fn cause_list(entries: &[Markup]) -> Markup {
    html! {
        @for (before, group) in grouped(entries) {
            ol.causes start=[(before > 0).then_some(before + 1)] {
                @for entry in group { (entry) }
            }
        }
    }
}

/// Folded away until somebody asks for it; no script is needed.
pub(in crate::report) fn folded(summary: &str, open: bool, body: &Markup) -> Markup {
    html! { details open[open] { summary { (summary) } div.body { (body) } } }
}

/// A link to a file, or its name where it has no address.
pub(in crate::report) fn link(address: Option<String>, text: &str) -> Markup {
    match address {
        Some(address) => html! { a href=(address) { (brief(text)) } },
        None => html! { (brief(text)) },
    }
}

/// A text on one line, as markup.
pub(in crate::report) fn text(words: impl AsRef<str>) -> Markup {
    html! { (said(words.as_ref())) }
}

/// Jelly's own markup, made elsewhere of numbers only.
pub(super) fn ready(markup: String) -> Markup {
    PreEscaped(markup)
}
