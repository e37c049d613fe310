//! A package as a plan writes it.

use super::types::{Argument, ArgumentKind, Format, Input, Package};
use serde_json::{Map, Value};

impl Package {
    /// The value of a plan's `package`: what was read, in the names of plans,
    /// without what is said by saying nothing.
    #[must_use]
    pub fn to_plan(&self) -> Value {
        let mut map = Map::new();
        map.insert("registry".into(), self.registry.name().into());
        map.insert("identifier".into(), self.identifier.as_str().into());
        text(&mut map, "version", self.version.as_ref());
        text(
            &mut map,
            "registry_base_url",
            self.registry_base_url.as_ref(),
        );
        text(&mut map, "runtime_hint", self.runtime_hint.as_ref());
        let lists = [
            ("runtime_arguments", &self.runtime_arguments),
            ("package_arguments", &self.package_arguments),
        ];
        for (key, arguments) in lists {
            if !arguments.is_empty() {
                map.insert(key.into(), arguments.iter().map(argument).collect());
            }
        }
        if !self.environment_variables.is_empty() {
            let variables = self.environment_variables.iter().map(|variable| {
                let mut map = Map::new();
                map.insert("name".into(), variable.name.as_str().into());
                input(&mut map, &variable.input);
                inner(&mut map, &variable.variables);
                Value::Object(map)
            });
            map.insert("environment_variables".into(), variables.collect());
        }
        Value::Object(map)
    }
}

fn text(map: &mut Map<String, Value>, key: &str, value: Option<&String>) {
    if let Some(value) = value {
        map.insert(key.into(), value.as_str().into());
    }
}

fn argument(argument: &Argument) -> Value {
    let mut map = Map::new();
    match &argument.kind {
        ArgumentKind::Named { flag, bare, .. } => {
            map.insert("type".into(), "named".into());
            map.insert("name".into(), flag.as_str().into());
            // With a name and nothing else it is read as what it is.
            if *bare {
                return Value::Object(map);
            }
        }
        ArgumentKind::Positional { hint } => {
            map.insert("type".into(), "positional".into());
            text(&mut map, "value_hint", hint.as_ref());
        }
    }
    if argument.is_repeated {
        map.insert("is_repeated".into(), true.into());
    }
    input(&mut map, &argument.input);
    inner(&mut map, &argument.variables);
    Value::Object(map)
}

fn inner(map: &mut Map<String, Value>, variables: &indexmap::IndexMap<String, Input>) {
    if variables.is_empty() {
        return;
    }
    let variables = variables.iter().map(|(name, of)| {
        let mut map = Map::new();
        input(&mut map, of);
        (name.clone(), Value::Object(map))
    });
    map.insert("variables".into(), Value::Object(variables.collect()));
}

fn input(map: &mut Map<String, Value>, input: &Input) {
    text(map, "description", input.description.as_ref());
    for (key, flag) in [
        ("is_required", input.is_required),
        ("is_secret", input.is_secret),
    ] {
        if flag {
            map.insert(key.into(), true.into());
        }
    }
    if input.format != Format::String {
        map.insert("format".into(), input.format.name().into());
    }
    text(map, "value", input.value.as_ref());
    text(map, "default", input.default.as_ref());
    text(map, "placeholder", input.placeholder.as_ref());
    if !input.choices.is_empty() {
        let choices = input.choices.iter().map(String::as_str);
        map.insert("choices".into(), choices.collect());
    }
}
