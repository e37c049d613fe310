//! What an argument's or a variable's value comes to.

use super::given::Given;
use super::resolve::Resolver;
use super::trouble::{GivenAt, Lack, Trouble, Warning};
use super::types::{Format, Input, InputKind};
use indexmap::IndexMap;
use jelly_base::text::close_names;
use std::collections::HashSet;

/// A value on its way to the command line.
pub(super) struct Word {
    pub text: String,
    /// The flag alone is meant.
    pub bare: bool,
    pub index: Option<usize>,
}

/// An argument or variable that takes a value.
pub(super) struct Taker<'a> {
    pub key: &'a str,
    /// As it is written where it is given.
    pub given_key: &'a str,
    pub kind: InputKind,
    pub input: &'a Input,
}

impl Taker<'_> {
    pub fn at(&self, index: Option<usize>) -> GivenAt {
        GivenAt {
            key: self.given_key.to_owned(),
            index,
            in_env: self.kind == InputKind::Environment,
        }
    }

    fn lack(&self, is_blank: bool) -> Trouble {
        Trouble::Missing(Lack {
            kind: self.kind.clone(),
            key: self.key.to_owned(),
            description: self.input.description.clone(),
            choices: self.input.choices.clone(),
            is_secret: self.input.is_secret,
            is_blank,
        })
    }
}

impl Resolver<'_> {
    /// A value that the package says itself.
    pub(super) fn fixed(
        &mut self,
        taker: &Taker<'_>,
        value: &str,
        given: Option<&Given>,
    ) -> Vec<Word> {
        if let Some(given) = given
            && !matches!(given, Given::Open)
            && text_of(given) != value
        {
            self.troubles.push(Trouble::Fixed {
                at: taker.at(None),
                value: value.to_owned(),
            });
        }
        vec![Word {
            text: value.to_owned(),
            bare: false,
            index: None,
        }]
    }

    /// A value that is given, or else the default.
    pub(super) fn filled(
        &mut self,
        taker: &Taker<'_>,
        is_repeated: bool,
        given: Option<&Given>,
    ) -> Vec<Word> {
        let mut items: Vec<(&Given, Option<usize>)> = Vec::new();
        let mut split: Vec<Given> = Vec::new();
        let mut is_empty_list = false;
        match given {
            None => {}
            Some(Given::List(list)) => {
                is_empty_list = list.is_empty();
                items = list
                    .iter()
                    .enumerate()
                    .map(|(index, item)| (item, Some(index)))
                    .collect();
            }
            Some(Given::Split { text, by }) => {
                split = match &**text {
                    Given::Text(text) if !by.is_empty() => text
                        .split(by.as_str())
                        .map(|piece| Given::Text(piece.trim().to_owned()))
                        .collect(),
                    other => vec![other.clone()],
                };
                items = split.iter().map(|item| (item, None)).collect();
            }
            Some(one) => items = vec![(one, None)],
        }
        let mut words = Vec::new();
        let mut blanks = 0;
        for (item, index) in items {
            let text = match item {
                Given::Bare => {
                    words.push(Word {
                        text: String::new(),
                        bare: true,
                        index,
                    });
                    continue;
                }
                Given::Text(text) if text.trim().is_empty() => {
                    blanks += 1;
                    continue;
                }
                // Nothing can be wrong with what nobody knows yet.
                Given::Open => {
                    words.push(Word {
                        text: String::new(),
                        bare: false,
                        index,
                    });
                    continue;
                }
                Given::Text(_) | Given::Switch(_) => text_of(item),
                Given::List(_) | Given::Split { .. } | Given::Fields(_) => {
                    let (at, wanted) = (taker.at(index), "a text".to_owned());
                    self.troubles.push(Trouble::Unfit { at, wanted });
                    // Not missing as well.
                    return Vec::new();
                }
            };
            self.check(taker, &text, index);
            words.push(Word {
                text,
                bare: false,
                index,
            });
        }
        drop(split);
        if blanks > 0 && !words.is_empty() {
            self.warnings.push(Warning(format!(
                "{} of `{}` left out",
                jelly_base::text::plural(blanks, "empty value"),
                taker.key
            )));
        }
        if words.len() > 1 && !is_repeated {
            let (at, count) = (taker.at(None), words.len());
            self.troubles.push(Trouble::NotRepeated { at, count });
        }
        if !words.is_empty() {
            return words;
        }
        match &taker.input.default {
            Some(default) if !is_empty_list || taker.input.is_required => {
                if blanks > 0 {
                    self.warnings.push(Warning(format!(
                        "the value of `{}` is empty; its default is taken",
                        taker.key
                    )));
                }
                if let Some(doubt) = doubt(taker.input, default) {
                    let said = match taker.input.is_secret {
                        true => String::new(),
                        false => format!(", `{default}`,"),
                    };
                    self.warnings.push(Warning(format!(
                        "the default of `{}`{said} is {doubt}",
                        taker.key
                    )));
                }
                vec![Word {
                    text: default.clone(),
                    bare: false,
                    index: None,
                }]
            }
            Some(_) => Vec::new(),
            None => {
                if taker.input.is_required {
                    self.troubles.push(taker.lack(blanks > 0));
                } else if blanks > 0 {
                    self.warnings.push(Warning(format!(
                        "the value of `{}` is empty; it is left out",
                        taker.key
                    )));
                }
                Vec::new()
            }
        }
    }

    /// A value with `{variables}` in it, once for each set of these.
    pub(super) fn templated(
        &mut self,
        taker: &Taker<'_>,
        value: &str,
        variables: &IndexMap<String, Input>,
        is_repeated: bool,
        given: Option<&Given>,
    ) -> Vec<Word> {
        let nothing = IndexMap::new();
        let sets: Vec<(&IndexMap<String, Given>, Option<usize>)> = match given {
            None => vec![(&nothing, None)],
            Some(Given::Fields(fields)) => vec![(fields, None)],
            // What is required can't be left out.
            Some(Given::List(items)) if items.is_empty() && taker.input.is_required => {
                vec![(&nothing, None)]
            }
            Some(Given::List(items)) if items.is_empty() => return Vec::new(),
            Some(Given::List(items))
                if items.iter().all(|item| matches!(item, Given::Fields(_))) =>
            {
                items
                    .iter()
                    .enumerate()
                    .filter_map(|(index, item)| match item {
                        Given::Fields(fields) => Some((fields, Some(index))),
                        _ => None,
                    })
                    .collect()
            }
            Some(_) => {
                let names: Vec<&str> = variables.keys().map(String::as_str).collect();
                self.troubles.push(Trouble::Unfit {
                    at: taker.at(None),
                    wanted: format!("values by name: `{}`", names.join("`, `")),
                });
                return Vec::new();
            }
        };
        if sets.len() > 1 && !is_repeated {
            let (at, count) = (taker.at(None), sets.len());
            self.troubles.push(Trouble::NotRepeated { at, count });
        }
        let mut words = Vec::new();
        for (fields, index) in sets {
            for name in fields.keys().filter(|name| !variables.contains_key(*name)) {
                self.troubles.push(Trouble::Unknown {
                    at: GivenAt {
                        key: format!("{}.{name}", taker.given_key),
                        ..taker.at(index)
                    },
                    close: close_names(name, variables.keys().map(String::as_str)),
                    known: variables.keys().cloned().collect(),
                });
            }
            let is_required = taker.input.is_required || given.is_some();
            if let Some(text) = self.substituted(taker, value, variables, fields, is_required) {
                words.push(Word {
                    text,
                    bare: false,
                    index,
                });
            }
        }
        words
    }

    /// The value with all its variables filled; `None` where nothing was given
    /// for one that needs nothing, or one is missing.
    pub(super) fn substituted(
        &mut self,
        taker: &Taker<'_>,
        value: &str,
        variables: &IndexMap<String, Input>,
        fields: &IndexMap<String, Given>,
        is_required: bool,
    ) -> Option<String> {
        let mut filled: IndexMap<String, String> = IndexMap::new();
        let mut absent: Vec<(&String, &Input)> = Vec::new();
        let mut any_given = false;
        let before = self.troubles.len();
        let named = names_in(value);
        for (name, input) in variables {
            if !named.contains(name.as_str()) {
                continue;
            }
            let values = self.values;
            let given = fields.get(name).or_else(|| {
                let (key, given) = values.arguments.get_key_value(name)?;
                self.used.insert(key);
                Some(given)
            });
            any_given |= given.is_some();
            let of = taker.key.to_owned();
            let inner = Taker {
                key: name,
                given_key: name,
                kind: InputKind::Variable { of },
                input,
            };
            let words = match &input.value {
                Some(value) => self.fixed(&inner, value, given),
                None => self.filled(&inner, false, given),
            };
            match words.into_iter().next() {
                Some(word) => {
                    if input.is_secret {
                        self.secret(name, &word.text);
                    }
                    filled.insert(name.clone(), word.text);
                }
                None if !input.is_required => absent.push((name, input)),
                None => {}
            }
        }
        if is_required || any_given {
            for (name, input) in &absent {
                let of = taker.key.to_owned();
                let inner = Taker {
                    key: name,
                    given_key: name,
                    kind: InputKind::Variable { of },
                    input,
                };
                self.troubles.push(inner.lack(false));
            }
        }
        let complete = absent.is_empty() && self.troubles.len() == before;
        complete.then(|| substitute(value, &filled).0)
    }

    pub(super) fn check(&mut self, taker: &Taker<'_>, text: &str, index: Option<usize>) {
        let (at, input) = (taker.at(index), taker.input);
        let value = || (!input.is_secret).then(|| text.to_owned());
        if !input.choices.is_empty() && !input.choices.iter().any(|choice| choice == text) {
            self.troubles.push(Trouble::NotAChoice {
                at,
                value: value(),
                choices: input.choices.clone(),
            });
        } else if !fits(input.format, text) {
            self.troubles.push(Trouble::NotOfFormat {
                at,
                value: value(),
                format: input.format,
            });
        } else if input.format == Format::Filepath && text.starts_with('~') {
            self.warnings.push(Warning(format!(
                "`{}`: nothing expands `~` here; write `${{env:HOME}}`",
                taker.given_key
            )));
        }
    }
}

/// A text of what is one; nothing of what is none.
pub(super) fn text_of(given: &Given) -> String {
    match given {
        Given::Text(text) => text.clone(),
        Given::Switch(flag) => flag.to_string(),
        Given::Bare | Given::Open | Given::List(_) | Given::Split { .. } | Given::Fields(_) => {
            String::new()
        }
    }
}

pub(super) fn has_variables(value: &str, variables: &IndexMap<String, Input>) -> bool {
    names_in(value)
        .iter()
        .any(|name| variables.contains_key(*name))
}

/// What stands in braces.
pub(super) fn names_in(value: &str) -> HashSet<&str> {
    let opened = value.split('{').skip(1);
    let named = opened.filter_map(|rest| rest.split_once('}'));
    named.map(|(name, _)| name).collect()
}

/// `{name}` replaced where the name is known, once: what a value brings is
/// text. Says whether anything was.
pub(super) fn substitute(text: &str, values: &IndexMap<String, String>) -> (String, bool) {
    let mut out = String::with_capacity(text.len());
    let mut rest = text;
    let mut any = false;
    while let Some(open) = rest.find('{') {
        let (before, from) = rest.split_at(open);
        out.push_str(before);
        let known = from[1..]
            .find(['{', '}'])
            .filter(|at| from[1 + at..].starts_with('}'))
            .and_then(|at| Some((at, values.get(&from[1..=at])?)));
        match known {
            Some((at, value)) => {
                out.push_str(value);
                any = true;
                rest = &from[at + 2..];
            }
            None => {
                out.push('{');
                rest = &from[1..];
            }
        }
    }
    out.push_str(rest);
    (out, any)
}

impl Input {
    /// Whether the value is one, and neither choices nor format forbid it.
    #[must_use]
    pub fn allows(&self, value: &str) -> bool {
        !value.trim().is_empty() && doubt(self, value).is_none()
    }
}

fn fits(format: Format, text: &str) -> bool {
    match format {
        Format::String | Format::Filepath => true,
        Format::Boolean => matches!(text, "true" | "false"),
        // Decimal: no `inf`, no `0x`, no exponent of another's making.
        Format::Number => {
            let is_decimal =
                |c: char| c.is_ascii_digit() || matches!(c, '+' | '-' | '.' | 'e' | 'E');
            text.chars().all(is_decimal) && text.parse::<f64>().is_ok_and(f64::is_finite)
        }
    }
}

/// What a default is that its own definition does not allow.
fn doubt(input: &Input, default: &str) -> Option<String> {
    if !input.choices.is_empty() && !input.choices.iter().any(|choice| choice == default) {
        return Some("none of its choices".into());
    }
    (!fits(input.format, default)).then(|| format!("no {}", input.format.name()))
}
