//! What is given for a package's inputs.

use indexmap::IndexMap;
use serde_json::Value;
use std::collections::BTreeMap;

/// A value, as far as it is known.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Given {
    /// The flag alone, without a value: `null`.
    Bare,
    Switch(bool),
    /// An empty text is no value.
    Text(String),
    /// Known only when the server is started; nothing about it can be wrong
    /// before.
    Open,
    /// Of an argument that may be repeated; an empty list leaves an argument
    /// out, its default too.
    List(Vec<Given>),
    /// `{value, split}`: one text for several values.
    Split {
        text: Box<Given>,
        by: String,
    },
    /// By the names of the argument's variables.
    Fields(IndexMap<String, Given>),
}

impl From<&Value> for Given {
    fn from(value: &Value) -> Self {
        Self::of(value, &mut |text| Self::Text(text.to_owned()))
    }
}

impl Given {
    /// What a value gives; `text` says what a text in it stands for.
    pub fn of(value: &Value, text: &mut dyn FnMut(&str) -> Self) -> Self {
        match value {
            Value::Null => Self::Bare,
            Value::Bool(flag) => Self::Switch(*flag),
            Value::Number(number) => Self::Text(number.to_string()),
            Value::String(of) => text(of),
            Value::Array(items) => Self::List(items.iter().map(|i| Self::of(i, text)).collect()),
            Value::Object(map) => match (map.get("value"), map.get("split")) {
                (Some(whole), Some(Value::String(by))) if map.len() == 2 => Self::Split {
                    text: Box::new(Self::of(whole, text)),
                    by: by.clone(),
                },
                _ => Self::Fields(
                    map.iter()
                        .map(|(name, value)| (name.clone(), Self::of(value, text)))
                        .collect(),
                ),
            },
        }
    }
}

/// Everything that is given for one package.
#[derive(Debug, Clone, Default)]
pub struct Values {
    /// By name of the flag, with or without its dashes, by hint of the
    /// positional argument, or by name of a variable.
    pub arguments: IndexMap<String, Given>,
    pub environment: IndexMap<String, Given>,
    /// The environment that the launcher gets anyway.
    pub inherited: BTreeMap<String, String>,
    /// Words behind all arguments, as they are.
    pub extra: Vec<Given>,
}
