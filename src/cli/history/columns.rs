//! Tables for a terminal.

use crate::cli::settings::World;
use comfy_table::{Cell, CellAlignment, ContentArrangement, Table, presets};
use jelly_base::text::{one_line, sanitize};

pub fn table(world: &World, headings: &str) -> Table {
    let mut table = Table::new();
    table
        .load_style(presets::NOTHING)
        .set_content_arrangement(ContentArrangement::Dynamic)
        .set_header(headings.split('|'));
    table.set_width(world.width().unwrap_or(160));
    table
}

pub fn number(text: impl ToString) -> Cell {
    Cell::new(text.to_string()).set_alignment(CellAlignment::Right)
}

pub fn words(text: &str) -> Cell {
    Cell::new(sanitize(&one_line(text, 120)))
}

pub fn finished(table: &Table) -> String {
    let lines: Vec<String> = table
        .lines()
        .map(|line| line.trim_end().to_owned() + "\n")
        .collect();
    lines.concat()
}
