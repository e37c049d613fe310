//! Failures as JSON Lines → diagnoses as JSON Lines.

use jelly_base::model::{Diagnosis, Failure};
use jelly_base::text::redact::Redactor;
use jelly_triage::engine::Engine;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use serde_json::Value;
use std::borrow::Cow;
use std::io::{self, BufRead, Read, Write};

/// A longer line is no failure that anybody reads.
const LONGEST: u64 = 64 << 20;

/// One line of the input. Other fields, as a corpus has them, are passed over.
#[derive(Deserialize, JsonSchema)]
pub struct Line {
    /// Comes back with the diagnosis, whatever it is.
    #[serde(default)]
    id: Value,
    /// The facts of one thing that went wrong.
    failure: Failure,
}

/// What a line of the input is answered with.
#[derive(Serialize, JsonSchema)]
pub struct Answer<'a> {
    /// As the line has it; null where it has none.
    id: &'a Value,
    /// What triage says of the failure.
    diagnosis: &'a Diagnosis,
}

/// What a line came to.
pub enum LineOutcome {
    Diagnosis {
        id: Value,
        failure: Box<Failure>,
        diagnosis: Box<Diagnosis>,
    },
    /// A line that holds no failure: where, and why.
    Problem(String),
}

/// Diagnoses the failures of `input` in their order, and tells of each. Blank
/// lines are passed over.
///
/// # Errors
/// What reading says, or `tell`.
pub fn diagnose(
    name: &str,
    mut input: impl BufRead,
    engine: &Engine,
    redactor: &Redactor,
    tell: &mut dyn FnMut(LineOutcome) -> io::Result<()>,
) -> io::Result<()> {
    let mut bytes = Vec::new();
    let mut number = 0_u64;
    loop {
        bytes.clear();
        let read = input.by_ref().take(LONGEST).read_until(b'\n', &mut bytes)?;
        if read == 0 {
            return Ok(());
        }
        number += 1;
        if bytes.last() != Some(&b'\n') && bytes.len() as u64 == LONGEST {
            tell(LineOutcome::Problem(format!(
                "{name}:{number}:1: the line is longer than {LONGEST} bytes"
            )))?;
            while !ends(&mut input)? {}
            continue;
        }
        let line = if number == 1 {
            bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(&bytes)
        } else {
            &bytes
        };
        if line.iter().all(u8::is_ascii_whitespace) {
            continue;
        }
        tell(match parse(line, redactor) {
            Ok(Line { id, failure }) => {
                let mut diagnosis = Box::new(engine.diagnose(&failure));
                diagnosis.mask_quotes();
                LineOutcome::Diagnosis {
                    id,
                    failure: Box::new(failure),
                    diagnosis,
                }
            }
            Err(error) => {
                let column = error.column().max(1);
                LineOutcome::Problem(format!(
                    "{name}:{number}:{column}: the line holds no failure: {}",
                    reason(&error.to_string())
                ))
            }
        })?;
    }
}

/// Passes over the rest of a line, a buffer at a time.
fn ends(input: &mut impl BufRead) -> io::Result<bool> {
    let buffer = input.fill_buf()?;
    let (used, done) = match buffer.iter().position(|byte| *byte == b'\n') {
        Some(at) => (at + 1, true),
        None => (buffer.len(), buffer.is_empty()),
    };
    input.consume(used);
    Ok(done)
}

/// The parser says the place of its own line, which is always the first.
fn reason(error: &str) -> &str {
    let reason = error
        .rsplit_once(" at line ")
        .map_or(error, |(reason, _)| reason);
    match reason {
        // The parser's words for a word that is none of JSON's.
        "expected ident" | "expected value" => "it is not JSON",
        reason => reason,
    }
}

fn parse(line: &[u8], redactor: &Redactor) -> serde_json::Result<Line> {
    let text = String::from_utf8_lossy(line);
    match redactor.redact(&text) {
        Cow::Borrowed(_) => serde_json::from_str(&text),
        Cow::Owned(_) => {
            // In the values, so that no secret breaks the syntax.
            let mut value: Value = serde_json::from_str(&text)?;
            redactor.redact_json(&mut value);
            serde_json::from_value(value)
        }
    }
}

/// One line of the answer.
///
/// # Errors
/// What `out` says.
pub fn answer(id: &Value, diagnosis: &Diagnosis, out: &mut dyn Write) -> io::Result<()> {
    serde_json::to_writer(&mut *out, &Answer { id, diagnosis })?;
    writeln!(out)
}
