//! The variants of a plan side by side.

use super::parts::{self, code, row, table};
use super::room::PageRoom;
use crate::report::{matrix as shared, words};
use jelly_base::model::MatrixReport;
use jelly_base::text::plural;
use maud::{Markup, html};

/// What each step came to in each variant, and what differs.
pub(super) fn matrix(matrix: &MatrixReport, level: u8, room: &mut PageRoom) -> Markup {
    let variants = matrix.variants.iter().map(|variant| {
        row(
            &code(&variant.name),
            &[
                parts::text(words::verdict(variant.verdict)),
                html! { (variant.exit_code) },
                parts::text(parts::said(&shared::servers_of(variant))),
            ],
        )
    });
    let mut rows = shared::rows(matrix).into_iter();
    let (head, _) = rows.next().unwrap_or_default();
    let names: Vec<String> = head.iter().skip(1).map(|name| parts::brief(name)).collect();
    let mut header = vec!["Step"];
    header.extend(names.iter().map(String::as_str));
    header.push("Differs");
    let rows = rows.map(|(cells, differs)| {
        let (id, found) = cells
            .split_first()
            .map_or(("", &[][..]), |(id, found)| (id, found));
        let mut cells: Vec<Markup> = found
            .iter()
            .map(|found| parts::text(parts::brief(found)))
            .collect();
        cells.push(parts::text(if differs { "yes" } else { "" }));
        row(&code(id), &cells)
    });
    let (rows, left_out) = room.list(rows);
    let (shown, more) = shared::shown(matrix);
    let differences = shown.iter().map(|difference| {
        let [one, other] = &difference.between;
        html! {
            (parts::heading(level + 1, None, &html! {
                (parts::brief(&difference.step)) ": " (parts::brief(&difference.text))
            }))
            p { "Between " (parts::brief(one)) " and " (parts::brief(other)) "." }
            @if let Some(diff) = &difference.diff { (parts::diff("The answers", diff)) }
        }
    });
    let (differences, no_room) = room.list(differences);
    html! {
        (parts::heading(level, None, &html! { "Matrix: " (parts::brief(&matrix.plan)) }))
        p { (shared::in_short(matrix)) }
        (table("Variants", &["Variant", "Verdict", "Exit code", "Servers"], variants))
        (table("Steps by variant", &header, rows))
        @if left_out > 0 {
            p { "And " (plural(left_out as u64, "more step")) ", which have no room here." }
        }
        @for note in shared::notes(matrix) { p { (parts::said(&note)) } }
        @for difference in &differences { (difference) }
        @if no_room > 0 {
            p { "And " (plural(no_room as u64, "more difference")) ", which have no room here." }
        }
        @if let Some(more) = more { p { (more) } }
    }
}
