//! What mends a server that lacks a key or another setting.

use super::prescribe::{Doctor, Remedy, found};
use jelly_base::text::shell_word as word;
use regex::Regex;

/// Variables that one fix names.
const NAMES: usize = 6;

impl Doctor<'_> {
    /// Settings that pydantic reads from variables, and found unset.
    pub(super) fn settings(&self) -> Remedy {
        let names = settings_in(self.stderr);
        if names.is_empty() || !self.stderr.contains("pydantic_settings") {
            return Remedy::none();
        }
        let values: Vec<(String, String)> = names
            .into_iter()
            .map(|name| {
                let value = format!("<value of {name}>");
                (name, value)
            })
            .collect();
        let at = self.at(self.context.entry.place);
        Remedy::of(vec![
            format!(
                "These settings are unset, and are read from variables of these names, perhaps \
                 with a prefix that its documentation names; write in the entry at {at}:"
            ),
            self.started.env_with(&values),
        ])
    }

    pub(super) fn variable(&self) -> Remedy {
        let asked = found(
            &[
                r"(?i)\brun (?:it |this |the server )?(?:once )?with (?:the )?['\x22`](?P<it>[\w-]+)['\x22`] (?:argument|command|flag|option|subcommand)",
            ],
            &self.told,
        );
        if let Some(asked) = asked {
            let words = std::iter::once(self.started.shown(&self.started.command.text))
                .chain(self.started.words())
                .chain([asked]);
            let line: Vec<String> = words.map(|arg| word(&arg)).collect();
            return Remedy::of(vec![
                "Do once what it asks for:".to_owned(),
                format!("$ {}", line.join(" ")),
            ])
            .instead_of(&["Set ", "Write credentials"]);
        }
        // The name of a secret stands where its value stood.
        let told = match Regex::new(r"\[secret [^\]\n]*\]") {
            Ok(mask) => mask.replace_all(&self.told, "").into_owned(),
            Err(_) => self.told.clone(),
        };
        let mut names = variables_in(&told);
        if names.is_empty() {
            // Where the line that says what is missing does not name it,
            // those around it often do.
            names = settings_in(self.stderr);
        }
        if names.is_empty() {
            let says = |line: &&str| {
                let folded = line.to_ascii_lowercase();
                [
                    "required", "missing", "not set", "token", "key", "secret", "must", "please",
                ]
                .iter()
                .any(|word| folded.contains(word))
            };
            names = self
                .stderr
                .lines()
                .filter(says)
                .map(variables_in)
                .find(|names| !names.is_empty())
                .unwrap_or_default();
        }
        let is_unknown = names.is_empty();
        if is_unknown {
            names.push("<NAME>".to_owned());
        }
        let values: Vec<(String, String)> = names
            .into_iter()
            .map(|name| {
                let value = format!("<value of {}>", name.trim_matches(['<', '>']));
                (name, value)
            })
            .collect();
        let at = self.at(self.context.entry.place);
        let mut lines = vec![
            format!("Write in the entry at {at}:"),
            self.started.env_with(&values),
        ];
        if is_unknown && let Some(fetched) = self.fetched() {
            lines.push("Its documentation names the variable:".to_owned());
            lines.push(match fetched.launcher {
                "uvx" | "uv" | "pipx" => {
                    let name = fetched.spec.split(['=', '@', '[', '<', '>']).next();
                    format!("https://pypi.org/project/{}/", name.unwrap_or_default())
                }
                _ => format!("$ npm view {} readme", word(fetched.spec)),
            });
        }
        Remedy::of(lines).instead_of(&["Set ", "Write credentials"])
    }
}

/// Variables that a text names; of those that it offers as alternatives, the
/// first.
fn variables_in(text: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    let Ok(pattern) = Regex::new(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]\b") else {
        return names;
    };
    let mut end = 0;
    for name in pattern.find_iter(text) {
        let between = &text[end..name.start()];
        let is_other = !names.is_empty()
            && between.len() < 60
            && !between.contains('\n')
            && between
                .split(|c: char| !c.is_alphanumeric())
                .any(|w| matches!(w, "or" | "OR"));
        end = name.end();
        let name = name.as_str();
        if !is_other && !names.iter().any(|known| known == name) && names.len() < NAMES {
            names.push(name.to_owned());
        }
    }
    names
}

/// What pydantic's settings lack; it reads them from variables of these names.
fn settings_in(text: &str) -> Vec<String> {
    let Ok(pattern) = Regex::new(r"(?m)^(\w{1,80})\n\s+Field required") else {
        return Vec::new();
    };
    let fields = pattern.captures_iter(text).take(NAMES);
    fields.map(|field| field[1].to_ascii_uppercase()).collect()
}
