//! What mends a server that lacks a key or another setting.

use super::entries::Change;
use super::prescribe::{Doctor, found};
use super::steps::Remedy;
use crate::doctor::clients::Syntax;
use crate::doctor::launcher::is_python_launcher;
use jelly_base::text::redact::blank_for;
use jelly_base::text::{LazyPattern, shell_word as word};

/// Variables that one fix names.
const NAMES: usize = 6;

/// Words of a line that says what is missing.
const LACKS: &[&str] = &[
    "required", "missing", "not set", "token", "key", "secret", "must", "please",
];

impl Doctor<'_> {
    /// Settings that pydantic reads from variables, and found unset.
    pub(super) fn settings(&self) -> Remedy {
        let names = settings_in(self.stderr);
        if names.is_empty() || !self.stderr.contains("pydantic_settings") {
            return Remedy::new();
        }
        let what = "These settings are unset, and are read from variables of these names, perhaps with \
             a prefix that its documentation names; write in the entry";
        Remedy::new().write(what, self.with_blank_variables(names))
    }

    fn with_blank_variables(&self, names: Vec<String>) -> Change {
        let value = |name: String| {
            let blank = blank_for(name.trim_matches(['<', '>']));
            (name, Some(blank))
        };
        let values: Vec<_> = names.into_iter().map(value).collect();
        self.started.env_changed(&values)
    }

    pub(super) fn variable(&self) -> Remedy {
        static ASKED: [LazyPattern; 1] = [LazyPattern::new(
            r"(?i)\brun (?:it |this |the server )?(?:once )?with (?:the )?['\x22`](?P<it>[\w-]+)['\x22`] (?:argument|command|flag|option|subcommand)",
        )];
        const SETS: &[&str] = &["set-variable"];
        let asked = found(&ASKED, &self.told);
        if let Some(asked) = asked {
            return Remedy::new()
                .say("Do once what it asks for:")
                .run(self.started.line(&self.started.words_and(&[&asked])))
                .instead_of(SETS);
        }
        let mut names = self.variables_told();
        let is_unknown = names.is_empty();
        if is_unknown {
            names.push("<NAME>".to_owned());
        }
        let (kept, names): (Vec<String>, Vec<String>) = names
            .into_iter()
            .partition(|name| self.started.kept.contains(name));
        if names.is_empty() {
            return Remedy::new()
                .say(self.kept_by_client(&kept))
                .instead_of(SETS);
        }
        // A table of its own would be there twice.
        let has_table = self.started.format.syntax == Syntax::Toml && !self.started.env.is_empty();
        let what = match has_table {
            true => "Write in the entry, in place of all that it has of `env`",
            false => "Write in the entry",
        };
        let mut remedy = Remedy::new().write(what, self.with_blank_variables(names));
        if !kept.is_empty() {
            remedy = remedy.say(self.kept_by_client(&kept));
        }
        match self.started.fetched().filter(|_| is_unknown) {
            Some(fetched) => {
                let remedy = remedy.say("Its documentation names the variable:");
                match is_python_launcher(fetched.launcher) {
                    true => {
                        let name = fetched.spec.split(['=', '@', '[', '<', '>']).next();
                        let name = name.unwrap_or_default();
                        remedy.say(format!("https://pypi.org/project/{name}/"))
                    }
                    false => remedy.run(format!("npm view {} readme", word(fetched.spec))),
                }
            }
            None => remedy,
        }
        .instead_of(SETS)
    }

    /// Where the values of variables belong that the client keeps itself.
    fn kept_by_client(&self, names: &[String]) -> String {
        let client = self.started.format.name;
        let (values, them, are) = match names {
            [_] => ("value", "it", "it is"),
            _ => ("values", "them", "they are"),
        };
        let names = names.join("`, `");
        format!(
            "{client} keeps the {values} of `{names}`, where jelly does not read {them}: set {them} in \
             the environment in which jelly runs, and see in {client} that {are} kept there."
        )
    }

    /// Variables that it says are missing: where the line that says so does not
    /// name them, those around it often do.
    fn variables_told(&self) -> Vec<String> {
        static MASK: LazyPattern = LazyPattern::new(r"\[secret [^\]\n]*\]");
        // The name of a secret stands where its value stood.
        let told = MASK.replace_all(&self.told, "");
        let says = |line: &&str| {
            let folded = line.to_ascii_lowercase();
            LACKS.iter().any(|word| folded.contains(word))
        };
        let around = self.stderr.lines().filter(says).map(variables_in);
        [variables_in(&told), settings_in(self.stderr)]
            .into_iter()
            .chain(around)
            .find(|names| !names.is_empty())
            .unwrap_or_default()
    }
}

/// Variables that a text names; of those that it offers as alternatives, the
/// first.
fn variables_in(text: &str) -> Vec<String> {
    static NAME: LazyPattern = LazyPattern::new(r"\b[A-Z][A-Z0-9]*_[A-Z0-9_]*[A-Z0-9]\b");
    let mut names: Vec<String> = Vec::new();
    let mut end = 0;
    for name in NAME.find_iter(text) {
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
    static FIELD: LazyPattern = LazyPattern::new(r"(?m)^(\w{1,80})\n\s+Field required");
    let fields = FIELD.captures_iter(text).take(NAMES);
    fields.map(|field| field[1].to_ascii_uppercase()).collect()
}
