//! A `server.json`'s text → [`ServerJson`], every problem with its place.

use super::problem::{JsonProblem, Level, Place, Problem, segments};
use super::reader;
use super::types::ServerJson;
use jelly_base::text::{Lines, parse_jsonc, without_mark};
use jsonc_parser::ast::Value as Ast;
use jsonc_parser::common::Ranged;
use serde_json::{Map, Number, Value};
use std::fmt;

/// Larger files are no `server.json`.
const MAX_BYTES: usize = 4 << 20;

/// Everything that is wrong with a `server.json`, in the order of the file.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReadError {
    /// At least one.
    pub problems: Vec<JsonProblem>,
}

impl fmt::Display for ReadError {
    /// One problem a line.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, problem) in self.problems.iter().enumerate() {
            if index > 0 {
                f.write_str("\n")?;
            }
            write!(f, "{problem}")?;
        }
        Ok(())
    }
}

impl std::error::Error for ReadError {}

/// Reads a `server.json`, of any date and in either casing, also as the
/// registry's API wraps it (`{"server": {…}}`). What publishers commonly get
/// wrong is mended, and said in the warnings.
///
/// # Errors
/// It is no JSON, no object, or a part of it can't be used.
pub fn read(text: &str) -> Result<ServerJson, ReadError> {
    let start = Place { line: 1, column: 1 };
    let whole = |place: Place, message: String, hint: Option<&str>| ReadError {
        problems: vec![JsonProblem {
            place,
            problem: Problem {
                pointer: String::new(),
                of_key: false,
                level: Level::Error,
                message,
                hint: hint.map(str::to_owned),
            },
        }],
    };
    if text.len() > MAX_BYTES {
        let message = "larger than 4 MiB, which no server.json is".to_owned();
        return Err(whole(start, message, None));
    }
    let text = without_mark(text);
    let lines = Lines::of(text);
    let place = |offset: usize| {
        let (line, column) = lines.place(offset);
        Place { line, column }
    };
    let parsed =
        parse_jsonc(text).map_err(|problem| whole(place(problem.offset), problem.what, None))?;
    let root = match &parsed {
        Some(root @ Ast::Object(_)) => root,
        Some(other) => {
            let message = "a server.json is an object".to_owned();
            return Err(whole(place(other.range().start), message, None));
        }
        None => return Err(whole(start, "it is empty".to_owned(), None)),
    };
    let value = to_value(root);
    let (server, problems) = reader::server_json(&value);
    let located: Vec<JsonProblem> = problems
        .into_iter()
        .map(|problem| JsonProblem {
            place: place(offset_of(root, &problem)),
            problem,
        })
        .collect();
    let (errors, warnings): (Vec<_>, Vec<_>) = located
        .into_iter()
        .partition(|located| located.problem.level == Level::Error);
    match server {
        Some(server) if errors.is_empty() => Ok(ServerJson { warnings, ..server }),
        Some(_) | None => {
            let mut problems = errors;
            problems.sort_by_key(|located| located.place);
            Err(ReadError { problems })
        }
    }
}

/// The same without places. The parser has bounded the depth.
fn to_value(ast: &Ast<'_>) -> Value {
    match ast {
        Ast::StringLit(text) => Value::from(text.value.as_ref()),
        Ast::NumberLit(number) => number
            .value
            .parse::<Number>()
            .map_or_else(|_| Value::from(number.value), Value::Number),
        Ast::BooleanLit(flag) => Value::Bool(flag.value),
        Ast::NullKeyword(_) => Value::Null,
        Ast::Array(items) => items.elements.iter().map(to_value).collect(),
        Ast::Object(object) => Value::Object(
            object
                .properties
                .iter()
                .map(|property| (property.name.as_str().to_owned(), to_value(&property.value)))
                .collect::<Map<_, _>>(),
        ),
    }
}

/// Where the problem's pointer leads, or as near to it as there is something.
fn offset_of(root: &Ast<'_>, problem: &Problem) -> usize {
    let mut at = root;
    let mut offset = at.range().start;
    let mut key = offset;
    for segment in segments(&problem.pointer) {
        let below = match at {
            Ast::Object(object) => object
                .properties
                .iter()
                // The last of several with one name is the one that counts.
                .rfind(|property| property.name.as_str() == segment)
                .map(|property| (property.name.range().start, &property.value)),
            Ast::Array(items) => segment
                .parse()
                .ok()
                .and_then(|index: usize| items.elements.get(index))
                .map(|item| (item.range().start, item)),
            Ast::StringLit(_) | Ast::NumberLit(_) | Ast::BooleanLit(_) | Ast::NullKeyword(_) => {
                None
            }
        };
        let Some((name, value)) = below else {
            return offset;
        };
        (key, at, offset) = (name, value, value.range().start);
    }
    if problem.of_key { key } else { offset }
}
