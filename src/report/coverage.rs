//! What of the servers' lists was exercised, for people.

use jelly_base::model::{Coverage, CoverageItem};
use jelly_base::text::{one_line, sanitize};
use std::fmt::Write as _;

/// Things of a kind that are named.
const NAMED: usize = 6;

/// A table, and a line as for a badge.
#[must_use]
pub fn coverage_text(coverage: &Coverage) -> String {
    let mut text = String::from("coverage\n");
    for total in &coverage.totals {
        let name = total.kind.name().replace('_', " ");
        let of = format!("{} of {}", total.covered, total.total);
        let _ = write!(text, "  {name:18} {of:>12} {:>4} %", total.percent());
        let missing = |item: &&CoverageItem| item.kind == total.kind && !item.covered;
        let missing: Vec<&CoverageItem> = coverage.items.iter().filter(missing).collect();
        let shown = missing.iter().take(NAMED).map(|item| {
            let short = item.item.split_once('/').map_or("", |(_, rest)| rest);
            sanitize(&one_line(short, 60)).into_owned()
        });
        let shown: Vec<String> = shown.collect();
        if !shown.is_empty() {
            let more = match missing.len() - shown.len() {
                0 => String::new(),
                more => format!(" and {more} more"),
            };
            let _ = write!(text, "  not: {}{more}", shown.join(", "));
        }
        text.push('\n');
    }
    let all = coverage.totals.iter();
    let all = all.map(|it| format!("{} {}%", it.kind.name().replace('_', " "), it.percent()));
    let all: Vec<String> = all.collect();
    let line = match all.as_slice() {
        [] => "nothing: no server became ready".to_owned(),
        all => all.join(", "),
    };
    let _ = writeln!(text, "coverage: {line}");
    text
}
