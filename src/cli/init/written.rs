//! A server's entry as plans write it: without secrets, and with the paths of
//! the project named from the plan.

use super::keep::PlanPlace;
use super::origin::{
    Origin, Words, canonical, free_name, name_in, typed, typed_blanks, written_time,
};
use super::shared::Shared;
use super::told_values::is_open;
use jelly_base::model::for_each_json_text;
use jelly_base::text::redact::{
    AN_ARGUMENT, Found, Redactor, URL_PASSWORD, is_password, is_telling, looks_secret,
    may_be_secret, secrets_in_args, secrets_in_text, secrets_in_variable, shell_lines,
};
use jelly_plan::{Part, Template};
use jelly_setup::doctor::{Piece, Reached, Spot, Surroundings, pieces, secrets_of, variable_of};
use serde_json::{Map, Value, json};
use std::collections::BTreeMap;
use std::path::Path;
use std::time::Duration;

/// The shortest secret that is looked for within other texts, in bytes: a
/// shorter one stands in words that are nobody's secret.
pub const MIN_WITHIN: usize = 4;

/// A server as plans write it.
pub struct Server {
    pub entry: Map<String, Value>,
    /// The environment that the plan is run in.
    pub env: BTreeMap<String, String>,
    /// What a reader should know, in sentences.
    pub notes: Vec<String>,
}

impl Server {
    /// The variables that it reads and that are not set to what was given where jelly runs, by
    /// name.
    pub fn unset(&self, shared: &Shared<'_>) -> Vec<String> {
        let mut names: Vec<String> = Vec::new();
        for_each_json_text(&mut Value::Object(self.entry.clone()), &mut |text| {
            let template = Template::parse(text).ok();
            let parts = template.into_iter().flat_map(|template| template.parts);
            names.extend(parts.filter_map(|part| part.variable().map(str::to_owned)));
        });
        names.retain(
            |name| match (shared.world.env.get(name), self.env.get(name)) {
                (None, _) => true,
                // A variable of that name is set, to another value than was given.
                (Some(set), Some(given)) => set != given,
                (Some(_), None) => false,
            },
        );
        names.sort();
        names.dedup();
        names
    }
}

impl Origin {
    /// As plans write it.
    pub fn server(&self, shared: &Shared<'_>, place: &PlanPlace) -> Server {
        let mut writer = Writer {
            origin: self,
            place,
            redactor: &shared.redactor,
            secrets: BTreeMap::new(),
            passwords: BTreeMap::new(),
            env: self.env.clone(),
        };
        let entry = writer.entry(shared.args.timeout, shared.args.login);
        let env = writer.env;
        let used = Value::Object(entry.clone()).to_string();
        // Also what is set here and now: the plan will be run elsewhere.
        let told: Vec<String> = env
            .keys()
            .filter(|name| {
                ["env", "secret"]
                    .iter()
                    .any(|kind| used.contains(&format!("${{{kind}:{name}}}")))
            })
            .cloned()
            .collect();
        let mut notes = Vec::new();
        if !told.is_empty() {
            notes.push(format!(
                "TODO: set {} in the environment wherever the plan is run; it holds no value itself.",
                told.join(", ")
            ));
        }
        Server { entry, env, notes }
    }
}

struct Writer<'a> {
    origin: &'a Origin,
    place: &'a PlanPlace,
    redactor: &'a Redactor,
    /// By value, the variable that holds it.
    secrets: BTreeMap<String, String>,
    /// The same of passwords of URLs, which are looked for nowhere else: they may be short, or
    /// common words.
    passwords: BTreeMap<String, String>,
    /// The environment, with the secrets.
    env: BTreeMap<String, String>,
}

impl Writer<'_> {
    fn entry(&mut self, startup: Duration, login: bool) -> Map<String, Value> {
        let entry = self.origin.entry();
        let own = self.origin.secrets.iter().cloned();
        let found = secrets_of(entry);
        // A variable that holds a secret among other things, as a URL does,
        // is one as a whole: its name is then that of what is to be set.
        if let Some(Reached::Command { env, .. }) = &entry.reached {
            for (name, spot) in env.iter().filter(|(_, spot)| !spot.text.contains("${")) {
                let holds = |(of, value): &(String, String)| of == name && *value != spot.text;
                if found.iter().any(holds) || passwords_in(&spot.text).next().is_some() {
                    self.secret(name, spot.text.clone());
                }
            }
        }
        for (name, value) in own.chain(found) {
            self.secret(&name, value);
        }
        for spot in entry.spots() {
            if !self.secrets.contains_key(&spot.text) {
                for password in passwords_in(&spot.text) {
                    self.password(password);
                }
            }
        }
        let mut map = Map::new();
        if let Some(package) = &self.origin.package {
            map.clone_from(package);
            if self.origin.folder != self.place.project {
                let folder = self.origin.folder.clone();
                let written = self.place.written(&folder, &self.origin.folder);
                map.insert("cwd".to_owned(), Value::from(written));
            }
            map.insert("startup_timeout".to_owned(), json!(written_time(startup)));
            return map;
        }
        match &entry.reached {
            Some(Reached::Command {
                command,
                args,
                env,
                cwd,
                env_file,
            }) => {
                map.insert("command".to_owned(), self.text(command, false));
                let mut written = Vec::new();
                let mut before = String::new();
                let lines = shell_lines(&command.text, args);
                let found = secrets_in_args(&command.text, args);
                for (n, (arg, is_line)) in args.iter().zip(lines).enumerate() {
                    if is_line {
                        let here = found.iter().filter(|found| found.word == n);
                        written.push(self.line(arg, here));
                        before.clear();
                        continue;
                    }
                    let own = arg.text.split(['=', ':']).next().unwrap_or_default();
                    let secret = looks_secret(&before) || looks_secret(own);
                    if secret {
                        self.whole_secret(&before, own, &arg.text);
                    }
                    written.push(self.text(arg, secret));
                    let asks = own == arg.text && before.is_empty() && looks_secret(own);
                    before = if own.starts_with('-') || asks {
                        own.to_owned()
                    } else {
                        String::new()
                    };
                }
                if !written.is_empty() {
                    map.insert("args".to_owned(), Value::Array(written));
                }
                let folder = match cwd {
                    Some(cwd) => self.origin.folder.join(self.plain(cwd)),
                    None => self.origin.folder.clone(),
                };
                let folder = canonical(&folder);
                let mut pairs = Map::new();
                if let Some(file) = env_file {
                    let file = self.origin.folder.join(self.plain(file));
                    for (name, value) in env_pairs(&file) {
                        let holds_secret = !secrets_in_variable(&name, &value).is_empty();
                        if looks_secret(&name) || holds_secret {
                            self.secret(&name, value.clone());
                        }
                        let value = self.parts(vec![Part::Text(value)]);
                        pairs.insert(name, value);
                    }
                }
                for (name, spot) in env {
                    let value = match self.given_secret(name, &spot.text) {
                        Some(reference) => Value::from(reference),
                        None => self.text(spot, looks_secret(name)),
                    };
                    pairs.insert(name.clone(), value);
                }
                if !pairs.is_empty() {
                    map.insert("env".to_owned(), Value::Object(pairs));
                }
                if folder != self.place.project {
                    let written = self.place.written(&folder, &self.origin.folder);
                    map.insert("cwd".to_owned(), Value::from(written));
                }
            }
            Some(Reached::Url { url, headers }) => {
                map.insert("url".to_owned(), self.text(url, false));
                let headers: Map<String, Value> = headers
                    .iter()
                    .map(|(name, spot)| (name.clone(), self.text(spot, true)))
                    .collect();
                if !headers.is_empty() {
                    map.insert("headers".to_owned(), Value::Object(headers));
                }
                if login {
                    map.insert("auth".to_owned(), Value::from("login"));
                }
            }
            None => {}
        }
        map.insert("startup_timeout".to_owned(), json!(written_time(startup)));
        map
    }

    /// A value whose flag says that it is secret is one however short it is: in
    /// `--token abc` and in `--token=abc`.
    fn whole_secret(&mut self, before: &str, own: &str, text: &str) {
        let (name, value) = match text.split_once(['=', ':']) {
            Some((_, value)) if looks_secret(own) => (own, value.trim()),
            Some(_) | None if own == text && text.starts_with('-') => return,
            // A word such as `token`, behind nothing that asks for a secret, is no secret itself.
            Some(_) | None if !looks_secret(before) => return,
            Some(_) | None => (before, text),
        };
        // As in `-v /a/token:/b`, which has no names.
        let is_mount = name.contains(['/', '\\']);
        let is_plain = is_open(name, value)
            || (is_mount || !is_password(name))
                && value.contains(['/', '$', '\\'])
                && !may_be_secret(name, value);
        if !value.is_empty() && !is_plain {
            self.secret(name.trim_start_matches('-'), value.to_owned());
        }
    }

    /// A variable that is given with its value and whose name says that it is a secret: it may
    /// be a word too common to be looked for elsewhere, and is none to stand in a plan.
    fn given_secret(&mut self, name: &str, value: &str) -> Option<String> {
        let given = looks_secret(name) && !value.is_empty() && !is_open(name, value);
        let known = self.secrets.contains_key(value);
        (given && !known).then(|| {
            if is_telling(value) {
                self.redactor.learn([(name, value)]);
            }
            self.env.insert(name.to_owned(), value.to_owned());
            Part::Secret(name.to_owned()).reference()
        })
    }

    /// Gives a secret a variable to stand in.
    fn secret(&mut self, name: &str, value: String) {
        if self.secrets.contains_key(&value) {
            return;
        }
        self.redactor.learn([(name, value.as_str())]);
        let variable = self.variable(name, &value);
        self.env.insert(variable.clone(), value.clone());
        self.secrets.insert(value, variable);
    }

    /// Gives the password of a URL a variable to stand in.
    fn password(&mut self, value: &str) {
        self.in_place(URL_PASSWORD, value);
    }

    /// The variable of a secret that is looked for nowhere but where it was found.
    fn in_place(&mut self, name: &str, value: &str) -> String {
        if let Some(known) = self.passwords.get(value) {
            return known.clone();
        }
        let variable = match self.secrets.get(value) {
            Some(known) => known.clone(),
            None => self.variable(name, value),
        };
        self.env.insert(variable.clone(), value.to_owned());
        self.passwords.insert(value.to_owned(), variable.clone());
        variable
    }

    /// The variable of a secret that holds it as a shell reads it, and not as the line spells it.
    fn as_read(&mut self, found: &Found<'_>, value: String) -> String {
        let Some(variable) = self.secrets.remove(found.value) else {
            return self.in_place(found.name, &value);
        };
        self.env.insert(variable.clone(), value.clone());
        self.secrets.insert(value, variable.clone());
        variable
    }

    /// A line of a shell: of what is secret in it only the value is left out, and the program
    /// that it is set for stays.
    fn line<'f>(&mut self, spot: &Spot, found: impl Iterator<Item = &'f Found<'f>>) -> Value {
        let mut parts = Vec::new();
        let mut at = 0;
        for one in found {
            let range = one.range();
            let Some(before) = spot.text.get(at..range.start) else {
                continue;
            };
            if !before.is_empty() {
                parts.extend(self.read(before, false));
            }
            let read = one
                .is_shell_word
                .then(|| word_of_shell(one.value))
                .flatten();
            match read {
                Some((value, quote)) => parts.extend([
                    Part::Text(quote.to_owned()),
                    Part::Secret(self.as_read(one, value)),
                    Part::Text(quote.to_owned()),
                ]),
                None => parts.push(Part::Secret(self.in_place(one.name, one.value))),
            }
            at = range.end;
        }
        let rest = spot.text.get(at..).unwrap_or_default();
        if !rest.is_empty() || parts.is_empty() {
            parts.extend(self.read(rest, false));
        }
        self.told(parts, false)
    }

    /// A variable that is free for a secret of this name.
    fn variable(&self, name: &str, value: &str) -> String {
        let base = match name {
            AN_ARGUMENT | URL_PASSWORD => {
                let server = variable_of(&self.origin.entry().name);
                format!("{server}_SECRET")
            }
            name => variable_of(name),
        };
        let referred = match self.origin.words {
            Words::Plan => self.origin.entry().reached.as_ref().map(typed_blanks),
            Words::Client | Words::Literal => None,
        };
        let is_taken = |name: &String| {
            let set = self.origin.known.get(name);
            let mut taken = self.secrets.values().chain(self.passwords.values());
            taken.any(|taken| taken == name)
                || referred
                    .as_ref()
                    .is_some_and(|names| names.contains_key(name))
                || set.is_some_and(|set| set != value)
        };
        free_name(base, is_taken)
    }

    /// A text with its blanks filled.
    fn plain(&self, spot: &Spot) -> String {
        if self.origin.words != Words::Client {
            return spot.text.clone();
        }
        jelly_setup::doctor::fill(&spot.text, &self.around()).text
    }

    fn around(&self) -> Surroundings<'_> {
        Surroundings {
            env: &self.origin.known,
            inputs: &self.origin.answers,
            project: &self.origin.folder,
            home: self.origin.home.as_deref(),
        }
    }

    fn text(&mut self, spot: &Spot, secret: bool) -> Value {
        let parts = self.read(&spot.text, secret);
        self.told(parts, secret)
    }

    /// A text in the words of its origin.
    fn read(&self, text: &str, secret: bool) -> Vec<Part> {
        match self.origin.words {
            Words::Client => pieces(text, &self.around())
                .into_iter()
                .flat_map(|piece| self.piece(piece, secret))
                .collect(),
            Words::Plan => typed(text),
            Words::Literal => vec![Part::Text(text.to_owned())],
        }
    }

    /// What was read, as plans write it.
    fn told(&self, parts: Vec<Part>, secret: bool) -> Value {
        for part in &parts {
            if let Part::Secret(name) = part
                && let Some(value) = self.env.get(name)
            {
                self.redactor.learn([(name.as_str(), value.as_str())]);
            }
        }
        // What an answer brought, or was typed.
        let parts = parts
            .into_iter()
            .map(|part| match part {
                Part::Env(name) if self.hides(&name, secret) => Part::Secret(name),
                other => other,
            })
            .collect();
        self.parts(parts)
    }

    /// Whether a variable holds a secret: by its own name, or by where it stands, unless its value
    /// is none that could be secret, as a path is.
    fn hides(&self, name: &str, secret: bool) -> bool {
        let value = self.env.get(name);
        looks_secret(name) || secret && value.is_none_or(|value| may_be_secret(name, value))
    }

    /// A piece in the words of plans. What was typed as a reference stays that one.
    fn piece(&self, piece: Piece, secret: bool) -> Vec<Part> {
        let asked = match &piece {
            Piece::Answer { id, .. } => Some(id.clone()),
            Piece::Left(blank) => name_in(blank).map(|(id, _)| id),
            Piece::Text(_) | Piece::Variable { .. } => None,
        };
        match asked.and_then(|id| self.origin.references.get(&id)) {
            Some(reference) => typed(reference),
            None => vec![self.part(piece, secret)],
        }
    }

    fn part(&self, piece: Piece, secret: bool) -> Part {
        let is_secret = |name: &str| secret || looks_secret(name);
        match piece {
            Piece::Text(text) => Part::Text(text),
            Piece::Variable { name, .. } if self.hides(&name, secret) => Part::Secret(name),
            Piece::Variable { name, .. } => Part::Env(name),
            Piece::Answer { id, value } => {
                let inputs = &self.origin.config.inputs;
                let hidden = inputs.iter().any(|input| input.id == id && input.password);
                let variable = variable_of(&id);
                // What is no secret was asked for once, and is kept.
                if hidden || is_secret(&variable) {
                    Part::Secret(variable)
                } else {
                    Part::Text(value)
                }
            }
            // A value was asked for it, or it would have been refused.
            Piece::Left(blank) => match name_in(&blank) {
                Some((_, name)) if is_secret(&name) => Part::Secret(name),
                Some((_, name)) => match self.env.get(&name) {
                    Some(value) => Part::Text(value.clone()),
                    None => Part::Env(name),
                },
                None => Part::Text(blank),
            },
        }
    }

    /// Parts as a plan writes them: without secrets, and with paths of the
    /// project named from it.
    fn parts(&self, parts: Vec<Part>) -> Value {
        if let [Part::Text(text)] = parts.as_slice()
            && let Some(path) = self.path(text)
        {
            return Value::from(path);
        }
        let mut written = String::new();
        let mut resolved: Vec<Part> = Vec::new();
        for part in parts {
            match part {
                Part::Text(text) => match text.split_once('=') {
                    Some((flag, value)) if self.secrets.contains_key(value) => {
                        resolved.push(Part::Text(format!("{flag}=")));
                        resolved.extend(self.without_secrets(value));
                    }
                    Some(_) | None => resolved.extend(self.without_secrets(&text)),
                },
                other => resolved.push(other),
            }
        }
        for part in &resolved {
            written.push_str(&part.reference());
        }
        Value::from(written)
    }

    fn path(&self, text: &str) -> Option<String> {
        let (before, path) = match text.split_once('=') {
            Some((flag, path)) if flag.starts_with('-') => (format!("{flag}="), path),
            Some(_) | None => (String::new(), text),
        };
        let path = Path::new(path);
        if !path.is_absolute() || !path.starts_with(&self.origin.folder) || !path.exists() {
            return None;
        }
        let before = Template::literal(&before).raw;
        Some(format!(
            "{before}{}",
            self.place.written(path, &self.origin.folder)
        ))
    }

    fn without_secrets(&self, text: &str) -> Vec<Part> {
        if let Some(name) = self.secrets.get(text) {
            return vec![Part::Secret(name.clone())];
        }
        let mut parts = Vec::new();
        let mut rest = text;
        loop {
            let within = self.secrets.iter();
            let within = within
                .filter(|(value, _)| value.len() >= MIN_WITHIN)
                .filter_map(|(value, name)| Some((rest.find(value.as_str())?, value, name)));
            let of_urls = self.passwords.iter().filter_map(|(value, name)| {
                let at = rest.find(&format!(":{value}@"))?;
                Some((at + 1, value, name))
            });
            let first = within
                .chain(of_urls)
                .min_by_key(|(at, value, _)| (*at, usize::MAX - value.len()));
            let Some((at, value, name)) = first else {
                break;
            };
            if at > 0 {
                parts.push(Part::Text(rest[..at].to_owned()));
            }
            parts.push(Part::Secret(name.clone()));
            rest = &rest[at + value.len()..];
        }
        if !rest.is_empty() || parts.is_empty() {
            parts.push(Part::Text(rest.to_owned()));
        }
        parts
    }
}

/// The passwords of the URLs of a text.
fn passwords_in(text: &str) -> impl Iterator<Item = &str> {
    let found = secrets_in_text(text).into_iter();
    found
        .filter(|found| found.name == URL_PASSWORD)
        .map(|found| found.value)
}

/// What a shell reads a word as, and the quotes within which it reads that as it is; none where
/// no quotes do.
fn word_of_shell(word: &str) -> Option<(String, &'static str)> {
    let words = shlex::split(word)?;
    let [read] = <[String; 1]>::try_from(words).ok()?;
    let quote = match read.contains('\'') {
        false => "'",
        true if !read.contains(['"', '$', '`', '\\']) => "\"",
        true => return None,
    };
    Some((read, quote))
}

fn env_pairs(file: &Path) -> Vec<(String, String)> {
    super::super::doctor::examine::read_env_file(file).unwrap_or_default()
}
