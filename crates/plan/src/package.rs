//! A server that is a package: what its definition says, and what the plan
//! gives for it.

use super::template::{Template, has_reference};
use super::types::Command;
use indexmap::IndexMap;
use jelly_package::{Given, Package, Values};
use serde_json::Value;
use std::collections::BTreeMap;

/// `package` and `package_args` of a server.
#[derive(Debug, Clone)]
pub struct PackageUse {
    pub package: Package,
    /// `package_args`; the strings in it are templates.
    pub args: IndexMap<String, Value>,
    /// Every template in `args`.
    pub templates: Vec<Template>,
}

impl PackageUse {
    #[must_use]
    pub fn new(package: Package, args: IndexMap<String, Value>) -> Self {
        let mut templates = Vec::new();
        args.values()
            .for_each(|value| collect(value, &mut templates));
        Self {
            package,
            args,
            templates,
        }
    }
}

fn collect(value: &Value, templates: &mut Vec<Template>) {
    match value {
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
        Value::String(text) => templates.extend(Template::parse(text)),
        Value::Array(items) => items.iter().for_each(|item| collect(item, templates)),
        Value::Object(map) => map.values().for_each(|item| collect(item, templates)),
    }
}

impl Command {
    /// The package that is started, where the plan names no command of its
    /// own.
    #[must_use]
    pub fn launched(&self) -> Option<&PackageUse> {
        self.package.as_deref().filter(|_| self.command.is_none())
    }

    /// What is given for the package that is started. `value` says what a
    /// template stands for, or that this is not known.
    pub fn given(
        &self,
        inherited: BTreeMap<String, String>,
        value: &mut dyn FnMut(&Template) -> Option<Value>,
    ) -> Values {
        let mut one = |template: &Template| match value(template) {
            Some(value) => Given::from(&value),
            None => Given::Open,
        };
        let arguments = self.package.iter().flat_map(|package| &package.args);
        Values {
            arguments: arguments
                .map(|(name, value)| {
                    let given = Given::of(value, &mut |text| match Template::parse(text) {
                        Ok(template) if has_reference(text) => one(&template),
                        Ok(_) | Err(_) => Given::Text(text.to_owned()),
                    });
                    (name.clone(), given)
                })
                .collect(),
            environment: self
                .env
                .iter()
                .map(|(name, template)| (name.clone(), text(one(template))))
                .collect(),
            inherited,
            extra: self.args.iter().map(|arg| text(one(arg))).collect(),
        }
    }
}

/// What a word of argv or a variable can be.
fn text(given: Given) -> Given {
    match given {
        Given::Text(_) | Given::Open => given,
        Given::Switch(flag) => Given::Text(flag.to_string()),
        Given::Bare => Given::Text(String::new()),
        Given::List(_) | Given::Split { .. } | Given::Fields(_) => Given::Open,
    }
}
