//! Foreign text made harmless: whatever a server printed, it can neither steer
//! a terminal nor break out of its place in a Markdown document.

use jelly_base::text::{one_line, sanitize, truncate, truncate_middle};
use std::fmt::Write as _;
use std::iter::repeat_n;
use unicode_width::UnicodeWidthStr;

/// Longest text inside a table cell, in bytes.
const CELL_MAX: usize = 200;

/// Longest text inside a fence, in bytes.
const FENCE_MAX: usize = 32 * 1024;

/// The most bytes of an argument that Linux takes (`MAX_ARG_STRLEN`).
const COMMANDS_MAX: usize = 128 * 1024;

/// Text as Markdown shows it literally, on one line.
///
/// Escapes what could be markup; `_` only where it could open emphasis, since
/// snake_case words are frequent and GitHub leaves them alone.
pub(super) fn prose(text: &str) -> String {
    const MAX: usize = 2048;
    let text = one_line(text, MAX);
    let mut out = String::with_capacity(text.len() + 8);
    let mut previous = ' ';
    for (at, c) in text.char_indices() {
        let next = text[at + c.len_utf8()..].chars().next().unwrap_or(' ');
        let markup = match c {
            '\\' | '`' | '*' | '[' | ']' | '<' | '>' | '|' | '~' | '&' | '$' => true,
            '_' => !(previous.is_alphanumeric() && next.is_alphanumeric()),
            // Only at the start of a block are these list, heading or rule.
            '#' | '-' | '+' | '=' | ':' => at == 0,
            // `1. ` and `1) ` would start a numbered list.
            '.' | ')' => next == ' ' && at > 0 && text[..at].chars().all(|c| c.is_ascii_digit()),
            _ => false,
        };
        if markup {
            out.push('\\');
        }
        out.push(c);
        if is_reference(c, &text[..at], &text[at + c.len_utf8()..]) {
            out.push_str(BREAK);
        }
        previous = c;
    }
    out
}

/// A forge makes links of names, numbers and addresses after all escapes are
/// undone, and sends word to whom a comment names: only what is no text keeps
/// it from that.
const BREAK: &str = "<!-- -->";

/// Whether a character is where such a link would be made: `@name`, `#1`,
/// `GH-1`, `scheme://`, `www.`.
fn is_reference(c: char, before: &str, after: &str) -> bool {
    let next = after.chars().next().unwrap_or(' ');
    match c {
        '@' => next.is_alphanumeric(),
        '#' | '!' => next.is_ascii_digit(),
        '-' => before.ends_with("GH") && next.is_ascii_digit(),
        ':' => after.starts_with("//") && ends_with_scheme(before),
        '.' => before.to_ascii_lowercase().ends_with("www"),
        _ => false,
    }
}

/// Whether a text ends with a scheme of which forges make links by themselves.
fn ends_with_scheme(text: &str) -> bool {
    let word = text
        .rsplit(|c: char| !c.is_ascii_alphanumeric())
        .next()
        .unwrap_or_default();
    ["http", "https", "ftp"].contains(&word.to_ascii_lowercase().as_str())
}

/// Text as an inline code span, on one line.
pub(super) fn code(text: &str) -> String {
    const MAX: usize = 1024;
    let text = one_line(text, MAX);
    if text.is_empty() {
        return "(empty)".to_owned();
    }
    let ticks = "`".repeat(longest_run(&text, '`') + 1);
    let pad = if text.starts_with('`') || text.ends_with('`') {
        " "
    } else {
        ""
    };
    format!("{ticks}{pad}{text}{pad}{ticks}")
}

/// Text as code inside a table cell.
///
/// A table row is cut at its pipes before code spans are seen, and a backslash
/// before a pipe can't be written in a code span. So whatever holds a pipe or
/// a backtick is written as HTML with character references.
pub(super) fn code_cell(text: &str) -> String {
    let text = one_line(text, CELL_MAX);
    if text.is_empty() {
        return String::new();
    }
    if !text.contains(['|', '`', '\\']) {
        return format!("`{text}`");
    }
    let mut out = String::from("<code>");
    for c in text.chars() {
        if c.is_ascii_punctuation() {
            // Writing to a String can't fail.
            let _ = write!(out, "&#{};", u32::from(c));
        } else {
            out.push(c);
        }
    }
    out.push_str("</code>");
    out
}

/// Text inside a table cell.
pub(super) fn cell(text: &str) -> String {
    prose(&one_line(text, CELL_MAX))
}

/// A table of foreign words.
#[must_use]
pub fn markdown_table<'r>(
    headings: &[&str],
    rows: impl IntoIterator<Item = Vec<&'r str>>,
) -> String {
    let line = |cells: Vec<String>| format!("| {} |\n", cells.join(" | "));
    let mut out = line(headings.iter().map(|name| cell(name)).collect());
    out.push_str(&line(headings.iter().map(|_| "---".to_owned()).collect()));
    for row in rows {
        out.push_str(&line(row.into_iter().map(cell).collect()));
    }
    out
}

/// Text as a fenced block whose fence is longer than any run of backticks in
/// it; `language` may be empty.
pub(super) fn fence(text: &str, language: &str) -> String {
    fence_up_to(FENCE_MAX, text, language)
}

/// Commands to copy, in a block: as a whole, unless one is longer than any
/// system takes.
pub(super) fn command_block(lines: &str) -> String {
    fence_up_to(COMMANDS_MAX, lines, "sh")
}

/// The first `max` bytes of a document, and `rest` to say where more is; a
/// fence that the cut leaves open is closed, lest it swallow what follows.
pub(super) fn cut_document(mut document: String, max: usize, rest: &str) -> String {
    if document.len() <= max {
        return document;
    }
    document = truncate(&document, max).into_owned();
    let mut open: Option<usize> = None;
    for line in document.lines() {
        let ticks = line.len() - line.trim_start_matches('`').len();
        let after = &line[ticks..];
        open = match open {
            Some(fence) if ticks >= fence && after.trim().is_empty() => None,
            None if ticks >= 3 && !after.contains('`') => Some(ticks),
            same => same,
        };
    }
    if let Some(fence) = open {
        document.push('\n');
        document.extend(repeat_n('`', fence));
    }
    document.push_str(&format!("\n\n{rest}\n"));
    document
}

/// A block of at most so many bytes of a text, the middle left out.
pub(super) fn fence_up_to(max: usize, text: &str, language: &str) -> String {
    let clean = sanitize(text);
    let cut = truncate_middle(&clean, max);
    let ticks = "`".repeat((longest_run(&cut, '`') + 1).max(3));
    format!("{ticks}{language}\n{}\n{ticks}\n", cut.trim_end())
}

fn longest_run(text: &str, wanted: char) -> usize {
    let mut longest = 0;
    let mut run = 0;
    for c in text.chars() {
        run = if c == wanted { run + 1 } else { 0 };
        longest = longest.max(run);
    }
    longest
}

/// A Markdown table. Cells must come through [`cell`], [`code_cell`] or be
/// jelly's own words; `numbers` are the columns to align to the right.
pub(super) fn table(header: &[&str], rows: &[Vec<String>], numbers: &[usize]) -> String {
    let mut widths: Vec<usize> = header.iter().map(|cell| width(cell)).collect();
    for row in rows {
        for (widest, cell) in widths.iter_mut().zip(row) {
            *widest = width(cell).max(*widest);
        }
    }
    let line = widths.iter().sum::<usize>() + 3 * widths.len() + 2;
    let mut out = String::with_capacity(line * (rows.len() + 2));
    add_row(&mut out, header.iter().copied(), &widths, numbers);
    for width in &widths {
        out.push('|');
        out.extend(repeat_n('-', width + 2));
    }
    out.push_str("|\n");
    for row in rows {
        add_row(&mut out, row.iter().map(String::as_str), &widths, numbers);
    }
    out
}

fn add_row<'c>(
    out: &mut String,
    cells: impl Iterator<Item = &'c str>,
    widths: &[usize],
    numbers: &[usize],
) {
    for (column, (cell, widest)) in cells.zip(widths).enumerate() {
        let padding = repeat_n(' ', widest.saturating_sub(width(cell)));
        out.push_str("| ");
        if numbers.contains(&column) {
            out.extend(padding);
            out.push_str(cell);
        } else {
            out.push_str(cell);
            out.extend(padding);
        }
        out.push(' ');
    }
    out.push_str("|\n");
}

/// In columns of a terminal.
fn width(text: &str) -> usize {
    if text.is_ascii() {
        text.len()
    } else {
        text.width()
    }
}

#[cfg(test)]
mod tests {
    use super::{cell, code, code_cell, cut_document, fence, prose, table};
    use proptest::prelude::*;

    /// Pipes that GitHub's table parser would cut at: it skips every
    /// backslash with the character after it.
    fn delimiters(row: &str) -> usize {
        let mut chars = row.chars();
        let mut count = 0;
        while let Some(c) = chars.next() {
            match c {
                '\\' => {
                    chars.next();
                }
                '|' => count += 1,
                _ => {}
            }
        }
        count
    }

    #[test]
    fn snake_case_stays_readable_and_markup_is_shown_literally() {
        assert_eq!(prose("missing_directory"), "missing_directory");
        assert_eq!(prose("*a* <b> _c_"), r"\*a\* \<b\> \_c\_");
        assert_eq!(prose("# no\nheading"), r"\# no heading");
        assert_eq!(prose("1. no list"), r"1\. no list");
        assert_eq!(prose("in 1.5 s."), "in 1.5 s.");
    }

    #[test]
    fn nobody_is_sent_word_and_nothing_becomes_a_link() {
        for (said, shown) in [
            ("ask @channel", "ask @<!-- -->channel"),
            ("a@b.example", "a@<!-- -->b.example"),
            (
                "see #12, !3 and GH-4",
                "see #<!-- -->12, !<!-- -->3 and GH-<!-- -->4",
            ),
            ("http://x.example/a", "http:<!-- -->//x.example/a"),
            ("file:///a.txt", "file:///a.txt"),
            ("WWW.x.example", "WWW.<!-- -->x.example"),
            ("@ alone: 1 # 2, a-1", "@ alone: 1 # 2, a-1"),
        ] {
            assert_eq!(prose(said), shown);
        }
    }

    #[test]
    fn a_code_span_is_longer_than_the_backticks_in_it() {
        assert_eq!(code("a"), "`a`");
        assert_eq!(code("a``b"), "```a``b```");
        assert_eq!(code("`a`"), "`` `a` ``");
    }

    proptest! {
        #[test]
        fn a_table_never_breaks(
            left in any::<String>(), right in r"[|`\\\n a*_<>&#-]{0,24}"
        ) {
            let rows = vec![vec![cell(&left), code_cell(&right)], vec![cell(&right), code_cell(&left)]];
            let text = table(&["One", "Two"], &rows, &[]);
            let lines: Vec<&str> = text.lines().collect();
            prop_assert_eq!(lines.len(), 4, "{}", text);
            for line in lines {
                prop_assert_eq!(delimiters(line), 3, "{}", line);
            }
        }

        #[test]
        fn what_follows_a_cut_is_in_no_fence(
            parts in proptest::collection::vec("[a`\n]{0,40}", 1..5),
            cut in 0.0..1.0_f64,
        ) {
            let document: String = parts.iter().map(|part| fence(part, "text")).collect();
            let max = (document.len() as f64 * cut) as usize;
            let shown = cut_document(document.clone(), max, "The rest is elsewhere.");
            prop_assert!(shown.ends_with("\n\nThe rest is elsewhere.\n"));
            let mut open: Option<usize> = None;
            for line in shown.lines() {
                let ticks = line.chars().take_while(|c| *c == '`').count();
                let bare = line.chars().all(|c| c == '`');
                open = match open {
                    Some(fence) => (!bare || ticks < fence).then_some(fence),
                    None => (ticks >= 3 && !line[ticks..].contains('`')).then_some(ticks),
                };
            }
            prop_assert_eq!(open, None, "{}", shown);
        }

        #[test]
        fn a_fence_holds_whatever_is_in_it(text in r"[`~a\n ]{0,60}") {
            let block = fence(&text, "text");
            let lines: Vec<&str> = block.lines().collect();
            let ticks = lines[lines.len() - 1];
            prop_assert!(ticks.chars().all(|c| c == '`') && ticks.len() >= 3);
            for line in &lines[1..lines.len() - 1] {
                prop_assert!(!line.trim_start().starts_with(ticks), "{}", block);
            }
        }
    }
}
