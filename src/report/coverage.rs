//! What of the servers' lists was exercised, for people.

use super::html::parts;
use super::quote::{code_cell, table};
use jelly_base::model::{Coverage, CoverageItem, CoverageKind, CoverageTotal};
use jelly_base::text::{one_line, sanitize};
use maud::{Markup, html};
use std::fmt::Write as _;

/// Things of a kind that are named.
const NAMED: usize = 6;
/// Bytes of a name that are shown.
const NAME: usize = 60;

/// A kind as it is shown.
struct Row {
    kind: String,
    total: CoverageTotal,
    /// Some of what is not covered.
    missing: Vec<String>,
    /// How many more of that there are.
    more: usize,
}

fn rows(coverage: &Coverage) -> impl Iterator<Item = Row> {
    let first = coverage.items.first().map(|item| &item.server);
    let several = coverage
        .items
        .iter()
        .any(|item| Some(&item.server) != first);
    coverage.totals.iter().map(move |total| {
        let missing = |item: &&CoverageItem| item.kind == total.kind && !item.covered;
        let missing: Vec<&CoverageItem> = coverage.items.iter().filter(missing).collect();
        let named = missing.iter().take(NAMED);
        Row {
            kind: words(total.kind),
            total: *total,
            more: missing.len().saturating_sub(NAMED),
            missing: named.map(|item| short(item, several)).collect(),
        }
    })
}

/// As in `echo/message`, without the kind that comes first; with its server where there
/// are several.
fn short(item: &CoverageItem, several: bool) -> String {
    let name = item.item.split_once('/').map_or("", |(_, rest)| rest);
    let name = match several {
        true => format!("{}: {name}", item.server),
        false => name.to_owned(),
    };
    one_line(&name, NAME)
}

fn words(kind: CoverageKind) -> String {
    kind.name().replace('_', " ")
}

/// ` and 3 more`, if there are any.
fn and_more(more: usize) -> String {
    match more {
        0 => String::new(),
        more => format!(" and {more} more"),
    }
}

/// A line as for a badge, without a name.
fn line(coverage: &Coverage) -> String {
    let all = coverage.totals.iter();
    let all = all.map(|it| format!("{} {}%", words(it.kind), it.percent()));
    let all: Vec<String> = all.collect();
    match all.as_slice() {
        [] => "nothing: no server became ready".to_owned(),
        all => all.join(", "),
    }
}

/// A table, and a line as for a badge.
#[must_use]
pub fn coverage_text(coverage: &Coverage) -> String {
    let mut text = String::from("coverage\n");
    for row in rows(coverage) {
        let of = format!("{} of {}", row.total.covered, row.total.total);
        let (kind, percent) = (&row.kind, row.total.percent());
        let _ = write!(text, "  {kind:18} {of:>12} {percent:>4} %");
        let shown = row.missing.iter().map(|item| sanitize(item).into_owned());
        let shown: Vec<String> = shown.collect();
        if !shown.is_empty() {
            let _ = write!(text, "  not: {}{}", shown.join(", "), and_more(row.more));
        }
        text.push('\n');
    }
    let _ = writeln!(text, "coverage: {}", line(coverage));
    text
}

/// The heads of the table.
const HEADS: [&str; 4] = ["Kind", "Covered", "", "Not covered"];

/// A section of a report in Markdown.
pub(super) fn coverage_md(coverage: &Coverage) -> String {
    let rows: Vec<Vec<String>> = rows(coverage)
        .map(|row| {
            let missing = row.missing.iter().map(|item| code_cell(item));
            let missing: Vec<String> = missing.collect();
            vec![
                row.kind,
                format!("{} of {}", row.total.covered, row.total.total),
                format!("{} %", row.total.percent()),
                format!("{}{}", missing.join(", "), and_more(row.more)),
            ]
        })
        .collect();
    match rows.as_slice() {
        [] => format!("\n## Coverage\n\n{}\n", line(coverage)),
        rows => format!("\n## Coverage\n\n{}", table(&HEADS, rows, &[1, 2])),
    }
}

/// The same on a page.
pub(super) fn coverage_html(coverage: &Coverage) -> Markup {
    let rows = rows(coverage).map(|row| {
        parts::row(
            &parts::text(&row.kind),
            &[
                html! { (row.total.covered) " of " (row.total.total) },
                html! { (row.total.percent()) " %" },
                html! {
                    @for (at, item) in row.missing.iter().enumerate() {
                        @if at > 0 { ", " }
                        (parts::code(item))
                    }
                    (and_more(row.more))
                },
            ],
        )
    });
    html! {
        @if coverage.totals.is_empty() {
            p { (line(coverage)) }
        } @else {
            (parts::table("What the steps exercised of what the servers list", &HEADS, rows))
        }
    }
}

#[cfg(test)]
mod tests {
    use super::{coverage_html, coverage_md, coverage_text};
    use jelly_base::model::{Coverage, CoverageItem, CoverageKind};

    #[test]
    fn a_table_names_what_is_missing_and_nothing_in_it_breaks_out() {
        let items = (0..9).map(|n| CoverageItem {
            server: "s".to_owned(),
            kind: CoverageKind::Tools,
            item: format!("tools/t{n}|<b>"),
            covered: n < 1,
        });
        let coverage = Coverage::of(items);
        let text = coverage_text(&coverage);
        assert!(text.contains("1 of 9   11 %  not: t1|<b>, "), "{text}");
        assert!(text.contains("and 2 more\ncoverage: tools 11%"), "{text}");
        let text = coverage_md(&coverage);
        assert!(text.contains("| tools |  1 of 9 | 11 % | "), "{text}");
        assert!(text.contains("and 2 more |\n"), "{text}");
        let row = text.lines().last().unwrap();
        assert_eq!(row.matches(" | ").count(), 3, "{row}");
        let page = coverage_html(&coverage).into_string();
        assert!(
            page.contains("1 of 9") && page.contains("and 2 more"),
            "{page}"
        );
        assert!(!page.contains("<b>"), "{page}");
        let two = ["one", "two"].map(|server| CoverageItem {
            server: server.to_owned(),
            kind: CoverageKind::Tools,
            item: "tools/add".to_owned(),
            covered: server == "one",
        });
        let text = coverage_text(&Coverage::of(two));
        assert!(text.contains("not: two: add\n"), "{text}");
        let nothing = coverage_md(&Coverage::default());
        assert!(nothing.contains("no server became ready"), "{nothing}");
    }
}
