//! The store's text: read into what can be changed, and written back with
//! everything else as it was, to the byte where it is a value.

use super::status::Status;
use indexmap::IndexMap;
use indexmap::map::Entry as Slot;
use jelly_base::text::{Notation, disarmed};
use serde::de::{Deserializer, Error as _, MapAccess, Visitor};
use serde::{Deserialize, Serialize};
use serde_json::Value;
use serde_json::value::RawValue;
use std::fmt;

/// Of the form of the file. What has a later one is not touched.
const SCHEMA_VERSION: u64 = 1;

const VERSION: &str = "schema_version";
const SERVERS: &str = "servers";
const TOOLS: &str = "tools";
const SCHEMA: &str = "outputSchema";
const DECLARED: &str = "declaredOutputSchema";
const OVERRIDE: &str = "override";
const ADAPTER: &str = "last_adapter";
const COUNT: &str = "consecutive_generic_count";
const UPDATED: &str = "updated_at";

/// The file, as far as it is looked into. Names are keys, whatever stands in
/// them: nothing here is a path.
#[derive(Debug, Default, Serialize)]
#[serde(transparent)]
pub struct Document(Map);

type Map = IndexMap<String, Part>;

/// A value: taken apart where jelly has to change something in it, new where
/// it did, and else the text that it was.
#[derive(Debug, Serialize)]
#[serde(untagged)]
enum Part {
    Map(Map),
    New(Value),
    Raw(Box<RawValue>),
}

/// An object whose values stay text.
struct Level(IndexMap<String, Box<RawValue>>);

impl<'de> Deserialize<'de> for Level {
    fn deserialize<D: Deserializer<'de>>(deserializer: D) -> Result<Self, D::Error> {
        struct Keys;
        impl<'de> Visitor<'de> for Keys {
            type Value = Level;

            fn expecting(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
                f.write_str("a JSON object")
            }

            fn visit_map<A: MapAccess<'de>>(self, mut map: A) -> Result<Level, A::Error> {
                let mut entries = IndexMap::new();
                while let Some(key) = map.next_key::<String>()? {
                    match entries.entry(key) {
                        Slot::Vacant(slot) => {
                            slot.insert(map.next_value()?);
                        }
                        // To keep one of them would lose the other.
                        Slot::Occupied(slot) => {
                            let message = format!("the key `{}` is given twice", slot.key());
                            return Err(A::Error::custom(message));
                        }
                    }
                }
                Ok(Level(entries))
            }
        }
        deserializer.deserialize_map(Keys)
    }
}

/// What of an object is taken apart: values by name, or all of them.
#[derive(Clone, Copy)]
enum FieldForm {
    Opaque,
    /// An object, in which only this key has a form.
    With(&'static str, &'static FieldForm),
    /// An object, all of whose values have this form.
    Each(&'static FieldForm),
}

const TOOL: FieldForm = FieldForm::Each(&FieldForm::Opaque);
const SERVER: FieldForm = FieldForm::With(TOOLS, &FieldForm::Each(&TOOL));
const FILE: FieldForm = FieldForm::With(SERVERS, &FieldForm::Each(&SERVER));

impl Part {
    /// # Errors
    /// It has another form; a sentence's rest, after where that is.
    fn open(raw: Box<RawValue>, form: FieldForm, at: &str) -> Result<Self, String> {
        if matches!(form, FieldForm::Opaque) {
            return Ok(Self::Raw(raw));
        }
        let level: Level = serde_json::from_str(raw.get()).map_err(|error| wrong(at, &error))?;
        let mut map = Map::new();
        for (key, value) in level.0 {
            let below = match form {
                FieldForm::Opaque => FieldForm::Opaque,
                FieldForm::With(name, form) if name == key => *form,
                FieldForm::With(..) => FieldForm::Opaque,
                FieldForm::Each(form) => *form,
            };
            let at = format!("{at}/{}", key.replace('~', "~0").replace('/', "~1"));
            map.insert(key, Self::open(value, below, &at)?);
        }
        Ok(Self::Map(map))
    }

    /// The value, if it is of this kind.
    fn read<T: for<'de> Deserialize<'de>>(&self, at: &str) -> Result<T, String> {
        match self {
            Self::Raw(raw) => serde_json::from_str(raw.get()).map_err(|e| wrong(at, &e)),
            Self::New(value) => T::deserialize(value).map_err(|e| wrong(at, &e)),
            Self::Map(_) => Err(format!("at `{at}` stands an object")),
        }
    }
}

fn wrong(at: &str, error: &serde_json::Error) -> String {
    // The place that serde names is one within this value.
    let text = error.to_string();
    let text = text.split(" at line ").next().unwrap_or_default();
    match at {
        "" => format!("at its top: {text}"),
        at => format!("at `{at}`: {text}"),
    }
}

impl Document {
    /// # Errors
    /// It is no store; a fragment that says why and where.
    pub fn parse(text: &str) -> Result<Self, String> {
        if text.trim().is_empty() {
            // What was cut off to nothing may have held what a person wrote.
            return Err("it is empty; remove it, and jelly begins a new one".to_owned());
        }
        let raw: Box<RawValue> =
            serde_json::from_str(text).map_err(|error| format!("it is not JSON: {error}"))?;
        let Part::Map(map) = Part::open(raw, FILE, "")? else {
            return Err("it is not a JSON object".to_owned());
        };
        let document = Self(map);
        if let Some(version) = document.0.get(VERSION) {
            let version: u64 = version.read(&format!("/{VERSION}"))?;
            if version > SCHEMA_VERSION {
                return Err(format!(
                    "it is of a later version of jelly ({VERSION} {version}, and this one \
                     knows {SCHEMA_VERSION})"
                ));
            }
        }
        // Whatever is wrong is said before anything is changed.
        for (server, tool, entry) in document.tools() {
            status(entry, server, tool)?;
        }
        Ok(document)
    }

    /// As it is written.
    ///
    /// # Errors
    /// Never, for all that is known.
    pub fn text(&self) -> serde_json::Result<String> {
        let text = serde_json::to_string_pretty(self)?;
        Ok(format!("{}\n", disarmed(&text, Notation::Json)))
    }

    fn tools(&self) -> impl Iterator<Item = (&str, &str, &Map)> {
        let servers = map_at(&self.0, SERVERS).into_iter().flatten();
        servers.flat_map(|(server, part)| {
            let tools = as_map(part).and_then(|server| map_at(server, TOOLS));
            tools.into_iter().flatten().filter_map(move |(tool, part)| {
                Some((server.as_str(), tool.as_str(), as_map(part)?))
            })
        })
    }

    /// What it says of each tool, with server and name.
    pub fn statuses(&self) -> impl Iterator<Item = (&str, &str, Status)> {
        self.tools().filter_map(|(server, tool, entry)| {
            Some((server, tool, status(entry, server, tool).ok()?))
        })
    }

    /// Changes what it says of a tool; `now` is noted if that changes
    /// anything. Says whether it did.
    ///
    /// # Errors
    /// What stands there is none of a tool.
    pub fn change(
        &mut self,
        (server, tool): (&str, &str),
        now: &str,
        change: impl FnOnce(&mut Status),
    ) -> Result<bool, String> {
        let place = || format!("/{SERVERS}/{server}/{TOOLS}/{tool}");
        let mut before = Status::default();
        let mut entry = Some(&self.0);
        for key in [SERVERS, server, TOOLS, tool] {
            entry = entry.and_then(|map| map_at(map, key));
        }
        if let Some(entry) = entry {
            before = status(entry, server, tool)?;
        }
        let mut after = before.clone();
        change(&mut after);
        if after == before {
            return Ok(false);
        }
        if self.0.is_empty() {
            self.0.insert(VERSION.to_owned(), SCHEMA_VERSION.into());
        }
        let mut map = &mut self.0;
        for key in [SERVERS, server, TOOLS, tool] {
            let part = map
                .entry(key.to_owned())
                .or_insert_with(|| Part::Map(Map::new()));
            let Part::Map(below) = part else {
                return Err(format!("at `{}`: it is not an object", place()));
            };
            map = below;
        }
        put(map, SCHEMA, before.schema, after.schema);
        put(map, DECLARED, before.declared, after.declared);
        let text = |name: Option<String>| name.map(Value::from);
        put(
            map,
            ADAPTER,
            text(before.last_adapter),
            text(after.last_adapter),
        );
        if before.generic_count != after.generic_count || !map.contains_key(COUNT) {
            map.insert(COUNT.to_owned(), after.generic_count.into());
        }
        map.insert(UPDATED.to_owned(), Part::New(Value::from(now)));
        Ok(true)
    }
}

impl From<u64> for Part {
    fn from(number: u64) -> Self {
        Self::New(Value::from(number))
    }
}

fn as_map(part: &Part) -> Option<&Map> {
    match part {
        Part::Map(map) => Some(map),
        Part::New(_) | Part::Raw(_) => None,
    }
}

fn map_at<'m>(map: &'m Map, key: &str) -> Option<&'m Map> {
    map.get(key).and_then(as_map)
}

/// Writes what changed, in its place, and leaves what did not.
fn put(map: &mut Map, key: &str, before: Option<Value>, after: Option<Value>) {
    match after {
        after if after == before => {}
        Some(value) => {
            map.insert(key.to_owned(), Part::New(value));
        }
        None => {
            map.shift_remove(key);
        }
    }
}

fn status(entry: &Map, server: &str, tool: &str) -> Result<Status, String> {
    fn get<T: for<'de> Deserialize<'de>>(
        entry: &Map,
        key: &str,
        (server, tool): (&str, &str),
    ) -> Result<Option<T>, String> {
        let at = || format!("/{SERVERS}/{server}/{TOOLS}/{tool}/{key}");
        match entry.get(key) {
            Some(part) => part.read(&at()),
            None => Ok(None),
        }
    }
    let of = (server, tool);
    Ok(Status {
        schema: get(entry, SCHEMA, of)?,
        declared: get(entry, DECLARED, of)?,
        is_override: get(entry, OVERRIDE, of)?,
        last_adapter: get(entry, ADAPTER, of)?,
        generic_count: get(entry, COUNT, of)?.unwrap_or_default(),
    })
}

#[cfg(test)]
#[path = "document_tests.rs"]
mod tests;
