//! What a person may fill in, and the names by which it is given.

use super::types::{Argument, ArgumentKind, Input, InputKind, Package};
use super::values::names_in;
use std::collections::{HashMap, HashSet};

/// Something that a person may fill in.
#[derive(Debug, Clone)]
pub struct AskedInput<'p> {
    pub kind: InputKind,
    /// What it is given by: in `env` for [`InputKind::Environment`], in
    /// `package_args` for all others.
    pub key: String,
    pub input: &'p Input,
    pub is_repeated: bool,
}

/// The key of a flag: as it is passed, but for a `=` at its end.
#[must_use]
pub fn named_key(flag: &str) -> &str {
    flag.trim_end_matches('=')
}

impl Argument {
    /// What it is called, without regard to others.
    fn key(&self, place: usize) -> String {
        match &self.kind {
            ArgumentKind::Named { flag, .. } => named_key(flag).to_owned(),
            ArgumentKind::Positional { hint: Some(hint) } => hint.clone(),
            ArgumentKind::Positional { hint: None } => format!("argument_{place}"),
        }
    }

    /// Whether `name` is what a person would call it.
    pub(super) fn is_called(&self, key: &str, name: &str) -> bool {
        if key == name {
            return true;
        }
        match &self.kind {
            ArgumentKind::Named { flag, written, .. } => {
                let bare = |text: &str| {
                    text.trim_start_matches('-')
                        .trim_end_matches('=')
                        .to_owned()
                };
                // `key` may be that of the second of two with one name.
                key == named_key(flag)
                    && (bare(flag) == bare(name) && !name.starts_with('-')
                        || written.as_deref() == Some(name))
            }
            ArgumentKind::Positional { .. } => false,
        }
    }
}

/// An argument with the key that is its own.
#[derive(Debug, Clone)]
pub(super) struct Keyed<'p> {
    pub key: String,
    pub kind: InputKind,
    pub argument: &'p Argument,
}

impl Package {
    /// All arguments with their keys: the server's first, since a name that
    /// both have means the server's.
    pub(super) fn keyed(&self) -> Vec<Keyed<'_>> {
        let mut keyed: Vec<Keyed<'_>> = Vec::new();
        let mut taken: HashSet<String> = HashSet::new();
        let mut next: HashMap<String, usize> = HashMap::new();
        let groups = [
            (&self.package_arguments, InputKind::Argument),
            (&self.runtime_arguments, InputKind::RuntimeArgument),
        ];
        for (arguments, kind) in groups {
            for (index, argument) in arguments.iter().enumerate() {
                let own = argument.key(index + 1);
                // A name may look like another's number.
                let key = loop {
                    let n = next.entry(own.clone()).or_insert(1);
                    let key = numbered(&own, *n);
                    *n += 1;
                    if taken.insert(key.clone()) {
                        break key;
                    }
                };
                keyed.push(Keyed {
                    key,
                    kind: kind.clone(),
                    argument,
                });
            }
        }
        keyed
    }

    /// The flags whose values must not be shown.
    pub fn secret_flags(&self) -> impl Iterator<Item = &str> {
        let arguments = self.package_arguments.iter().chain(&self.runtime_arguments);
        arguments
            .filter(|argument| argument.input.is_secret)
            .filter_map(|argument| match &argument.kind {
                ArgumentKind::Named { flag, .. } => Some(named_key(flag)),
                ArgumentKind::Positional { .. } => None,
            })
    }

    /// Everything that a person may fill in, in the order of the definition:
    /// arguments of the server, of the launcher, environment variables.
    #[must_use]
    pub fn inputs(&self) -> Vec<AskedInput<'_>> {
        let mut asked = Vec::new();
        for Keyed {
            key,
            kind,
            argument,
        } in self.keyed()
        {
            let is_bare = matches!(argument.kind, ArgumentKind::Named { bare: true, .. });
            if argument.input.value.is_none() && !is_bare {
                asked.push(AskedInput {
                    kind,
                    key: key.clone(),
                    input: &argument.input,
                    is_repeated: argument.is_repeated,
                });
            }
            let value = argument.input.value.as_deref().unwrap_or_default();
            asked.extend(variables(&argument.variables, value, &key));
        }
        for variable in &self.environment_variables {
            if variable.input.value.is_none() {
                asked.push(AskedInput {
                    kind: InputKind::Environment,
                    key: variable.name.clone(),
                    input: &variable.input,
                    is_repeated: false,
                });
            }
            let value = variable.input.value.as_deref().unwrap_or_default();
            asked.extend(variables(&variable.variables, value, &variable.name));
        }
        asked
    }
}

/// The second of several with one name is `NAME#2`.
fn numbered(key: &str, n: usize) -> String {
    match n {
        1 => key.to_owned(),
        n => format!("{key}#{n}"),
    }
}

/// Of the variables those that stand in `value` and are not fixed.
fn variables<'p>(
    variables: &'p indexmap::IndexMap<String, Input>,
    value: &str,
    of: &str,
) -> Vec<AskedInput<'p>> {
    let named = names_in(value);
    variables
        .iter()
        .filter(|(name, input)| input.value.is_none() && named.contains(name.as_str()))
        .map(|(name, input)| AskedInput {
            kind: InputKind::Variable { of: of.to_owned() },
            key: name.clone(),
            input,
            is_repeated: false,
        })
        .collect()
}
