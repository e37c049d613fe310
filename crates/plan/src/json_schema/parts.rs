//! What a schema holds, before it is compiled.
//!
//! Main type: [`SchemaParts`].

use super::TooComplex;
use serde_json::{Map, Value};
use std::collections::HashMap;

/// Parts of a schema: values, however deep.
const PARTS: u64 = 100_000;
/// Patterns of a schema.
const PATTERNS: u64 = 200;

/// What a look at all parts of a schema shows.
#[derive(Debug, Default)]
pub struct SchemaParts {
    pub all: u64,
    patterns: u64,
    /// Without references and what looks twice, each of its parts looks at
    /// each part of a value once at most.
    pub may_repeat: bool,
    /// An error may hold those of each alternative.
    pub has_alternatives: bool,
    /// A pattern may go back so often that it is given up.
    pub looks_around: bool,
    /// Pointers to schemas by their `$anchor` …
    pub anchors: HashMap<String, Vec<String>>,
    /// … and by the last segment of their `$id`.
    pub resources: HashMap<String, Vec<String>>,
}

impl SchemaParts {
    pub fn look_at(&mut self, part: &Value, pointer: &mut String) -> Result<(), TooComplex> {
        self.all += 1;
        if self.all > PARTS {
            return Err(TooComplex {
                pointer: pointer.clone(),
                what: "room",
            });
        }
        let own = pointer.len();
        match part {
            Value::Array(items) => {
                for (index, item) in items.iter().enumerate() {
                    pointer.push_str(&format!("/{index}"));
                    self.look_at(item, pointer)?;
                    pointer.truncate(own);
                }
            }
            Value::Object(members) => {
                self.look_at_keywords(members, pointer)?;
                for (name, member) in members {
                    pointer.push_str(&segment(name));
                    self.look_at(member, pointer)?;
                    pointer.truncate(own);
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {}
        }
        Ok(())
    }

    /// Of what may be a schema.
    fn look_at_keywords(
        &mut self,
        members: &Map<String, Value>,
        pointer: &str,
    ) -> Result<(), TooComplex> {
        for (keyword, value) in members {
            match (keyword.as_str(), value) {
                ("$ref" | "$dynamicRef" | "$recursiveRef", _)
                | ("unevaluatedProperties" | "unevaluatedItems", _) => self.may_repeat = true,
                ("anyOf" | "oneOf", _) => self.has_alternatives = true,
                ("$anchor" | "$dynamicAnchor", Value::String(name)) => {
                    self.name_anchor(name, pointer);
                }
                ("$id" | "id", Value::String(id)) => {
                    let (document, fragment) = id.split_once('#').unwrap_or((id, ""));
                    if !document.is_empty() {
                        let known = self.resources.entry(last_segment(document).to_owned());
                        known.or_default().push(pointer.to_owned());
                    }
                    // As drafts 6 and 7 write an anchor.
                    if !fragment.is_empty() {
                        self.name_anchor(fragment, pointer);
                    }
                }
                ("pattern", Value::String(pattern)) => {
                    self.patterns += 1;
                    self.looks_around |= looks_around(pattern);
                }
                ("patternProperties", Value::Object(all)) => {
                    self.patterns += all.len() as u64;
                    self.looks_around |= all.keys().any(|pattern| looks_around(pattern));
                }
                _ => {}
            }
        }
        match self.patterns > PATTERNS {
            true => Err(TooComplex {
                pointer: pointer.to_owned(),
                what: "patterns",
            }),
            false => Ok(()),
        }
    }

    fn name_anchor(&mut self, name: &str, pointer: &str) {
        self.anchors
            .entry(name.to_owned())
            .or_default()
            .push(pointer.to_owned());
    }
}

pub fn last_segment(uri: &str) -> &str {
    uri.rsplit('/').next().unwrap_or(uri)
}

/// A name as a pointer has it.
pub fn segment(name: &str) -> String {
    format!("/{}", name.replace('~', "~0").replace('/', "~1"))
}

/// Whether a pattern has what is matched by going back.
pub fn looks_around(pattern: &str) -> bool {
    let marks = ["(?=", "(?!", "(?<=", "(?<!", "\\1", "\\2", "\\k"];
    marks.iter().any(|mark| pattern.contains(mark))
}
