//! Arguments, variables and inputs: what a value has to be.

use super::super::cleaning::{Cleaned, blank_out, clean};
use super::super::fields::Fields;
use super::super::problem::{Level, below};
use super::super::types::{Argument, EnvironmentVariable, Format, Input, Variable};
use super::{Reader, Source};
use indexmap::IndexMap;
use serde_json::{Map, Value};
use std::collections::HashSet;

const INPUT: [&str; 9] = [
    "description",
    "isRequired",
    "isSecret",
    "format",
    "value",
    "default",
    "placeholder",
    "choices",
    "variables",
];

impl Reader {
    pub(super) fn arguments(&mut self, fields: Fields<'_>, name: &str) -> Vec<Argument> {
        let items = self.items(fields, name);
        let arguments = items.into_iter().filter_map(|(value, pointer)| {
            let pointer = pointer.as_str();
            // Some write the words as they stand on a command line.
            let word = value.as_str().filter(|_| self.source == Source::ServerJson);
            let word = word.map(|word| Map::from_iter([("value".to_owned(), Value::from(word))]));
            let map = match &word {
                Some(map) => map,
                None => self.object(value, pointer)?,
            };
            self.argument(Fields { map, pointer })
        });
        arguments.collect()
    }

    fn argument(&mut self, fields: Fields<'_>) -> Option<Argument> {
        let mut known = vec!["type", "name", "valueHint", "isRepeated"];
        known.extend(INPUT);
        self.keys(fields, &known);
        let kind = self.text(fields, "type");
        let name = self.text(fields, "name");
        let hint = self.text(fields, "valueHint");
        let is_named = match kind.as_deref() {
            Some("named") => true,
            Some("positional") => false,
            Some(other) => {
                let found = fields.get("type").map(|found| found.pointer);
                self.error(
                    found.unwrap_or_default(),
                    format!("`{other}` is not a type of argument"),
                )
                .hint = Some("it is `named` or `positional`".into());
                return None;
            }
            None => {
                let is_named = name.is_some();
                let guess = if is_named { "named" } else { "positional" };
                self.warn(
                    fields.pointer,
                    format!("an argument needs its `type`; taken for `{guess}`"),
                );
                is_named
            }
        };
        let raw = Argument {
            input: self.input(fields),
            is_repeated: self.flag(fields, "isRepeated"),
            variables: self.variables(fields),
            ..Argument::default()
        };
        match clean(raw, is_named, name, hint) {
            Ok(Cleaned { argument, said }) => {
                for message in said {
                    self.warn(fields.pointer, message);
                }
                Some(argument)
            }
            Err(message) => {
                self.error(fields.pointer, message);
                None
            }
        }
    }

    pub(super) fn variables_of_environment(
        &mut self,
        fields: Fields<'_>,
        name: &str,
    ) -> Vec<EnvironmentVariable> {
        let mut variables: Vec<EnvironmentVariable> = Vec::new();
        let mut names: HashSet<String> = HashSet::new();
        for (value, pointer) in self.named_items(fields, name) {
            let Some(map) = self.object(&value, &pointer) else {
                continue;
            };
            let fields = Fields {
                map,
                pointer: &pointer,
            };
            let mut known = vec!["name"];
            known.extend(INPUT);
            self.keys(fields, &known);
            let name = self.text(fields, "name");
            let input = self.value(fields);
            let inner = self.variables(fields);
            // Some write `NAME=value` where the name belongs.
            let name = name.as_deref().map(str::trim).unwrap_or_default();
            if name.is_empty() || name.contains(['=', '\0']) {
                self.error(
                    pointer.as_str(),
                    match name {
                        "" => "it needs a `name`".to_owned(),
                        name => format!("`{name}` can't be the name of a variable"),
                    },
                );
                continue;
            }
            if !names.insert(name.to_owned()) {
                self.warn(pointer.as_str(), format!("`{name}` is given twice"));
                continue;
            }
            variables.push(EnvironmentVariable {
                name: name.to_owned(),
                input,
                variables: inner,
            });
        }
        variables
    }

    pub(super) fn variables(&mut self, fields: Fields<'_>) -> IndexMap<String, Variable> {
        let Some(found) = fields.get("variables") else {
            return IndexMap::new();
        };
        let Some(map) = self.object(found.value, &found.pointer) else {
            return IndexMap::new();
        };
        let mut variables = IndexMap::new();
        for (name, value) in map {
            let pointer = below(&found.pointer, name);
            if let Some(map) = self.object(value, &pointer) {
                let fields = Fields {
                    map,
                    pointer: &pointer,
                };
                // A variable has no variables of its own.
                self.keys(fields, &INPUT[..INPUT.len() - 1]);
                let input = self.value(fields);
                variables.insert(name.clone(), input);
            }
        }
        variables
    }

    /// An input whose value is nothing but a value.
    fn value(&mut self, fields: Fields<'_>) -> Input {
        let mut input = self.input(fields);
        let mut said = Vec::new();
        blank_out(&mut input, &mut said);
        for message in said {
            self.warn(fields.pointer, message);
        }
        input
    }

    fn input(&mut self, fields: Fields<'_>) -> Input {
        let format = self.text(fields, "format");
        let format = match format.as_deref() {
            None => Format::String,
            Some(name) => match Format::ALL.into_iter().find(|f| f.name() == name) {
                Some(format) => format,
                None => {
                    let level = match self.source {
                        Source::Plan => Level::Error,
                        Source::ServerJson => Level::Warning,
                    };
                    let found = fields.get("format").map(|found| found.pointer);
                    let problem = self.problem(
                        level,
                        found.unwrap_or_default(),
                        format!("`{name}` is no format; any text will do"),
                    );
                    problem.hint = Some("one of `string`, `number`, `boolean`, `filepath`".into());
                    Format::String
                }
            },
        };
        let choices = self.items(fields, "choices");
        let choices = choices
            .into_iter()
            .filter_map(|(value, pointer)| match value {
                Value::String(text) => Some(text.clone()),
                Value::Number(_) | Value::Bool(_) => Some(value.to_string()),
                Value::Null | Value::Array(_) | Value::Object(_) => {
                    self.error(pointer, "a choice is a string");
                    None
                }
            })
            .collect();
        Input {
            description: self.text(fields, "description"),
            is_required: self.flag(fields, "isRequired"),
            is_secret: self.flag(fields, "isSecret"),
            format,
            value: self.text(fields, "value"),
            default: self.text(fields, "default"),
            placeholder: self.text(fields, "placeholder"),
            choices,
        }
    }
}
