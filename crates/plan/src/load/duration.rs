//! Time limits with their units.

use super::parse_duration::parse_duration;
use super::path::Path;
use super::reader::Reader;
use crate::syntax::{Data, Node};
use std::time::Duration;

impl<'t> Reader<'t> {
    /// A time limit with its unit, more than nothing.
    pub(super) fn duration(&mut self, node: &Node<'t>, path: Path<'_>) -> Option<Duration> {
        let examples = "as in `500ms`, `30s` or `1m 30s`";
        match &node.data {
            Data::String(text) => match parse_duration(text) {
                Some(duration) if !duration.is_zero() => Some(duration),
                Some(_) => {
                    self.problem(node.span, path, "a time limit must be greater than zero");
                    None
                }
                None => {
                    let message = format!("`{text}` is not a duration");
                    let variables = text.contains("${");
                    let problem = self.problem(node.span, path, message);
                    problem.hint(format!("write a number with its unit, {examples}"));
                    if variables {
                        problem.hint("variables can't be used here");
                    }
                    None
                }
            },
            Data::Number(_) => {
                let written = self.written(node).into_owned();
                let problem = self.problem(node.span, path, "a duration needs a unit");
                // So many seconds are hardly meant.
                if written.parse::<u64>().is_ok_and(|number| number >= 1000) {
                    problem.hint(format!("write `{written}ms` for milliseconds"));
                }
                problem.hint(format!("write `{written}s` for seconds"));
                None
            }
            Data::Null | Data::Bool(_) | Data::List(_) | Data::Map(_) => {
                self.wrong_kind(node, path, "a duration").hint(examples);
                None
            }
        }
    }
}
