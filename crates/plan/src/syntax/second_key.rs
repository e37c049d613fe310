//! Two keys in one line → a line for each.

use super::line::Line;
use super::node::Trouble;
use crate::grammar::{Mapping, SERVER, SERVICE, STEP};

/// `tool: a args: { x: 1 }`: a key behind the value of another one; its colon is at `at`.
pub(super) fn second_key(line: Line<'_>, at: usize) -> Option<Trouble> {
    let (start, item) = line.item();
    let colon = at.checked_sub(line.start + start)?;
    let (before, behind) = item.split_at_checked(colon)?;
    let (first, value) = before.split_once(": ")?;
    let (value, second) = value.split_at_checked(value.rfind(' ')? + 1)?;
    let value = value.trim().trim_end_matches(',');
    let has_both =
        |mapping: &Mapping| mapping.key(first).is_some() && mapping.key(second).is_some();
    let are_keys = [&STEP, &SERVER, &SERVICE].into_iter().any(has_both);
    if !are_keys || first == second || value.is_empty() || !behind.starts_with(':') {
        return None;
    }
    let from = line.start + start + before.len() - second.len();
    let message = format!("`{second}` is a key of its own, and stands in the value of `{first}`");
    let hint = format!(
        "write `{first}: {value}`, and `{second}{behind}` on a line of its own below it, where \
         `{first}` begins"
    );
    Some(Trouble::new(from..from + second.len(), message).hint(hint))
}
