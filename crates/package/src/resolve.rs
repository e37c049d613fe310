//! A package and what is given for it → a command line, or everything that is
//! in the way.

use super::given::{Given, Values};
use super::inputs::{Keyed, named_key};
use super::launch::{Launch, Origin, Piece};
use super::launchers;
use super::spec;
use super::trouble::{GivenAt, Trouble, Warning};
use super::types::{ArgumentKind, Input, InputKind, Package};
use super::values::{Taker, Word, has_variables, substitute, text_of};
use indexmap::IndexMap;
use jelly_base::text::close_names;
use std::collections::{BTreeSet, HashSet};

/// A launch, and what is worth a word about it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Resolved {
    pub launch: Launch,
    pub warnings: Vec<Warning>,
}

/// Makes the command line of a package.
///
/// Words of the definition and values are never split, joined or expanded,
/// but for what their definition or the caller asks for; nothing of it ever
/// meets a shell.
///
/// # Errors
/// All that is missing and all that is wrong, in the order of the definition;
/// then nothing can be started.
pub fn resolve(package: &Package, values: &Values) -> Result<Resolved, Vec<Trouble>> {
    let keyed = package.keyed();
    let mut resolver = Resolver {
        values,
        keys: keyed.iter().map(|keyed| keyed.key.as_str()).collect(),
        used: BTreeSet::new(),
        troubles: Vec::new(),
        warnings: Vec::new(),
        secrets: Vec::new(),
        named: IndexMap::new(),
    };
    resolver.unusable(package);
    let (own, runtime): (Vec<_>, Vec<_>) = keyed
        .iter()
        .partition(|keyed| keyed.kind == InputKind::Argument);
    let own = resolver.arguments(&own);
    let runtime = resolver.arguments(&runtime);
    let mut own = own;
    resolver.undeclared(package, &keyed, &mut own);
    own.extend(values.extra.iter().map(|word| Piece::fixed(text_of(word))));
    let (env, handed_on) = resolver.environment(package);
    let url = package.transport.url.as_ref();
    let url = url.map(|url| substitute(url, &resolver.named).0);
    let mut warnings = resolver.warnings;
    let mut troubles = resolver.troubles;
    let line = launchers::line(package, runtime, own, &handed_on, &mut warnings);
    match line {
        Some(line) if troubles.is_empty() => Ok(Resolved {
            launch: Launch {
                command: line.command,
                args: line.args,
                env,
                secrets: resolver.secrets,
                url,
            },
            warnings,
        }),
        Some(_) => Err(troubles),
        None => {
            let registry = package.registry.name().to_owned();
            troubles.insert(0, Trouble::NoLauncher { registry });
            Err(troubles)
        }
    }
}

pub(super) struct Resolver<'v> {
    pub values: &'v Values,
    /// Of all arguments.
    keys: HashSet<&'v str>,
    /// Keys of what is given and was asked for.
    pub used: BTreeSet<&'v str>,
    pub troubles: Vec<Trouble>,
    pub warnings: Vec<Warning>,
    secrets: Vec<(String, String)>,
    /// By all the names by which a transport's URL may call them.
    named: IndexMap<String, String>,
}

impl<'v> Resolver<'v> {
    fn unusable(&mut self, package: &Package) {
        for text in [Some(&package.identifier), package.version.as_ref()] {
            if let Some(text) = text
                && let Err(why) = spec::usable(text)
            {
                let text = text.clone();
                self.troubles.push(Trouble::Unusable { text, why });
            }
        }
    }

    fn find(&mut self, keyed: &Keyed<'_>) -> Option<(&'v str, &'v Given)> {
        // What is called as the other is, is the other's.
        let called =
            |name: &str| keyed.argument.is_called(&keyed.key, name) && !self.keys.contains(name);
        let arguments = &self.values.arguments;
        // The exact name goes before one that lacks its dashes.
        let found = arguments
            .get_key_value(&keyed.key)
            .or_else(|| arguments.iter().find(|(name, _)| called(name)))?;
        self.used.insert(found.0);
        Some((found.0, found.1))
    }

    fn arguments(&mut self, keyed: &[&Keyed<'_>]) -> Vec<Piece> {
        let mut pieces = Vec::new();
        let mut left_out: Option<&str> = None;
        for keyed in keyed {
            let before = pieces.len();
            self.argument(keyed, &mut pieces);
            let is_positional = matches!(keyed.argument.kind, ArgumentKind::Positional { .. });
            if !is_positional {
                continue;
            }
            if pieces.len() == before {
                left_out = left_out.or(Some(&keyed.key));
            } else if let Some(absent) = left_out.take() {
                self.warnings.push(Warning(format!(
                    "`{absent}` is left out, so `{}` stands in its place",
                    keyed.key
                )));
            }
        }
        pieces
    }

    fn argument(&mut self, keyed: &Keyed<'_>, pieces: &mut Vec<Piece>) {
        let argument = keyed.argument;
        let given = self.find(keyed);
        let (given_key, given) = match given {
            Some((key, given)) => (key, Some(given)),
            None => (keyed.key.as_str(), None),
        };
        let taker = Taker {
            key: &keyed.key,
            given_key,
            kind: keyed.kind.clone(),
            input: &argument.input,
        };
        if let ArgumentKind::Named {
            flag, bare: true, ..
        } = &argument.kind
        {
            match given {
                None | Some(Given::Bare | Given::Switch(true)) => pieces.push(Piece::fixed(flag)),
                Some(Given::Switch(false)) => {}
                Some(Given::List(items)) if items.is_empty() => {}
                Some(_) => self
                    .troubles
                    .push(Trouble::TakesNoValue { at: taker.at(None) }),
            }
            return;
        }
        let words = match &argument.input.value {
            Some(value) if has_variables(value, &argument.variables) => self.templated(
                &taker,
                value,
                &argument.variables,
                argument.is_repeated,
                given,
            ),
            Some(value) => self.fixed(&taker, value, given),
            None => self.filled(&taker, argument.is_repeated, given),
        };
        if let Some(word) = words.first() {
            let name = match &argument.kind {
                ArgumentKind::Named { flag, .. } => named_key(flag).trim_start_matches('-'),
                ArgumentKind::Positional { .. } => keyed.key.as_str(),
            };
            self.named.insert(name.to_owned(), word.text.clone());
            self.named.insert(keyed.key.clone(), word.text.clone());
        }
        let is_given = given.is_some();
        for word in words {
            let is_secret = argument.input.is_secret;
            if is_secret && !word.bare {
                self.secret(&keyed.key, &word.text);
            }
            let from = is_given.then(|| Origin {
                key: given_key.to_owned(),
                index: word.index,
            });
            let piece = |text: String| Piece {
                text,
                is_secret,
                of_flag: matches!(argument.kind, ArgumentKind::Named { .. }),
                from: from.clone(),
            };
            match &argument.kind {
                ArgumentKind::Positional { .. } if word.bare => {
                    let at = taker.at(word.index);
                    let wanted = "a value".to_owned();
                    self.troubles.push(Trouble::Unfit { at, wanted });
                }
                ArgumentKind::Positional { .. } => pieces.push(piece(word.text)),
                ArgumentKind::Named { flag, .. } if word.bare => {
                    pieces.push(Piece::fixed(named_key(flag)));
                }
                ArgumentKind::Named { flag, .. } if flag.ends_with('=') => {
                    pieces.push(piece(format!("{flag}{}", word.text)));
                }
                ArgumentKind::Named { flag, .. } => {
                    pieces.push(Piece::fixed(flag));
                    pieces.push(piece(word.text));
                }
            }
        }
    }

    pub(super) fn secret(&mut self, name: &str, value: &str) {
        let name = super::trouble::env_name(name);
        self.secrets.push((name, value.to_owned()));
    }

    /// What is given and was not asked for.
    fn undeclared(&mut self, package: &Package, keyed: &[Keyed<'_>], pieces: &mut Vec<Piece>) {
        let declares_nothing =
            package.package_arguments.is_empty() && package.runtime_arguments.is_empty();
        let of_environment: HashSet<&str> = package
            .environment_variables
            .iter()
            .flat_map(|variable| variable.variables.keys().map(String::as_str))
            .collect();
        let known: Vec<String> = keyed
            .iter()
            .map(|keyed| keyed.key.clone())
            .chain(
                keyed
                    .iter()
                    .flat_map(|keyed| keyed.argument.variables.keys().cloned()),
            )
            .collect();
        let values = self.values;
        for (name, given) in &values.arguments {
            if self.used.contains(name.as_str()) || of_environment.contains(name.as_str()) {
                continue;
            }
            if declares_nothing {
                self.verbatim(name, given, pieces);
                continue;
            }
            let at = GivenAt {
                key: name.clone(),
                index: None,
                in_env: false,
            };
            let close = close_names(name, known.iter().map(String::as_str));
            let known = known.clone();
            self.troubles.push(Trouble::Unknown { at, close, known });
        }
    }

    /// A flag of a package of which nothing is declared.
    fn verbatim(&mut self, name: &str, given: &Given, pieces: &mut Vec<Piece>) {
        let flag = if name.starts_with('-') {
            name.to_owned()
        } else {
            let flag = format!("--{name}");
            self.warnings.push(Warning(format!(
                "the flag `{name}` has no dashes; `{flag}` is passed"
            )));
            flag
        };
        let input = Input::default();
        let taker = Taker {
            key: name,
            given_key: name,
            kind: InputKind::Argument,
            input: &input,
        };
        let words = match given {
            Given::Switch(false) => return,
            Given::Switch(true) => vec![Word {
                text: String::new(),
                bare: true,
                index: None,
            }],
            other => self.filled(&taker, true, Some(other)),
        };
        for word in words {
            let piece = |text: String| Piece {
                text,
                is_secret: false,
                of_flag: true,
                from: Some(Origin {
                    key: name.to_owned(),
                    index: word.index,
                }),
            };
            if word.bare {
                pieces.push(Piece::fixed(named_key(&flag)));
            } else if flag.ends_with('=') {
                pieces.push(piece(format!("{flag}{}", word.text)));
            } else {
                pieces.push(Piece::fixed(flag.as_str()));
                pieces.push(piece(word.text));
            }
        }
    }

    /// The variables that are set, and the names of all that a container must
    /// be handed.
    fn environment(&mut self, package: &Package) -> (Vec<(String, Piece)>, Vec<String>) {
        let mut env: Vec<(String, Piece)> = Vec::new();
        let mut handed_on = Vec::new();
        let values = self.values;
        let declared = &package.environment_variables;
        for variable in declared {
            let name = &variable.name;
            let given = values.environment.get(name);
            let inherited = values.inherited.get(name).filter(|v| !v.trim().is_empty());
            let taker = Taker {
                key: name,
                given_key: name,
                kind: InputKind::Environment,
                input: &variable.input,
            };
            let text = match (given, &variable.input.value, inherited) {
                (Some(given), fixed, _) => {
                    if let Some(fixed) = fixed
                        && !matches!(given, Given::Open)
                        && text_of(given) != *fixed
                    {
                        let to = match variable.input.is_secret {
                            true => String::new(),
                            false => format!(" to `{fixed}`"),
                        };
                        self.warnings.push(Warning(format!(
                            "the package fixes {name}{to}; what `env` says is taken"
                        )));
                    }
                    self.filled(&taker, false, Some(given))
                        .pop()
                        .map(|word| word.text)
                }
                (None, Some(value), _) if has_variables(value, &variable.variables) => {
                    let is_required = variable.input.is_required;
                    let fields = IndexMap::new();
                    self.substituted(&taker, value, &variable.variables, &fields, is_required)
                }
                (None, Some(value), _) => Some(value.clone()),
                (None, None, Some(inherited)) => {
                    // It is there anyway; the definition still says what it
                    // may be.
                    self.check(&taker, inherited, None);
                    if variable.input.is_secret {
                        self.secrets.push((name.clone(), inherited.clone()));
                    }
                    self.named.insert(name.clone(), inherited.clone());
                    handed_on.push(name.clone());
                    continue;
                }
                (None, None, None) => self.filled(&taker, false, None).pop().map(|w| w.text),
            };
            let Some(text) = text else { continue };
            if variable.input.is_secret {
                self.secrets.push((name.clone(), text.clone()));
            }
            self.named.insert(name.clone(), text.clone());
            handed_on.push(name.clone());
            let piece = Piece {
                text,
                is_secret: variable.input.is_secret,
                of_flag: false,
                from: None,
            };
            env.push((name.clone(), piece));
        }
        let names: HashSet<&str> = declared.iter().map(|v| v.name.as_str()).collect();
        for (name, given) in &values.environment {
            if !names.contains(name.as_str()) {
                handed_on.push(name.clone());
                env.push((name.clone(), Piece::fixed(text_of(given))));
            }
        }
        (env, handed_on)
    }
}
