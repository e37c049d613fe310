//! This call once more, for another server or another case of it: the one place where
//! commands are made that repeat what was typed behind `list`, `call`, `fuzz`, `tools` and
//! `init`.
//!
//! Main type: [`Retyped`]. It is read from clap, so that no flag can be forgotten. What is
//! secret, and the value of every header, is a blank to fill in; [`unfilled`] finds one that
//! was pasted as it is.

use super::named_server::is_url;
use clap::parser::ValueSource;
use clap::{Arg, ArgMatches, Command};
use jelly_base::text::redact::{
    Redactor, argv_with_blanks, blank_for, first_blank, secrets_in_header, secrets_in_variable,
};
use jelly_base::text::shell_command;
use std::ffi::OsString;

/// Flags that name a server, or fill in what a file leaves open of one.
const NAMING: [&str; 5] = ["url", "config", "plan", "registry", "args"];
/// What names servers without a flag.
const NAMES: [&str; 2] = ["names", "new"];
/// It is no matter of the call.
const COLOR: &str = "color";
const LOGIN: &str = "login";

/// What was typed, apart by what it is for.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Retyped {
    /// `jelly tools lock`; empty where nothing was typed that could be repeated.
    command: Vec<String>,
    arguments: Vec<String>,
    /// By their ids, each with its values as words.
    flags: Vec<(String, Vec<String>)>,
    /// The same of those that name the server.
    naming: Vec<(String, Vec<String>)>,
    env: Vec<String>,
    headers: Vec<String>,
    /// Behind `--`.
    server: Vec<String>,
}

impl Retyped {
    /// Of what clap found; what the project's file and the environment say holds by itself.
    pub fn of(command: &Command, matches: &ArgMatches) -> Self {
        let (mut command, mut matches) = (command, matches);
        let mut all = Self {
            command: vec!["jelly".to_owned()],
            ..Self::default()
        };
        while let Some((name, inner)) = matches.subcommand() {
            let Some(own) = command.find_subcommand(name) else {
                break;
            };
            all.command.push(name.to_owned());
            (command, matches) = (own, inner);
        }
        for arg in command.get_arguments() {
            all.take(arg, matches);
        }
        all
    }

    fn take(&mut self, arg: &Arg, matches: &ArgMatches) {
        let id = arg.get_id().as_str();
        let is_typed = matches.try_contains_id(id).is_ok()
            && matches.value_source(id) == Some(ValueSource::CommandLine);
        if !is_typed || id == COLOR {
            return;
        }
        let values = matches.get_raw(id).into_iter().flatten();
        let values: Vec<String> = values
            .map(|value| value.to_string_lossy().into_owned())
            .collect();
        let Some(long) = arg.get_long() else {
            match arg.is_last_set() {
                true => self.server = values,
                false if NAMES.contains(&id) => {}
                false => self.arguments.extend(values),
            }
            return;
        };
        let flag = format!("--{long}");
        match id {
            "env" => self.env = values,
            "header" => self.headers = values,
            _ => {
                let words = match arg.get_action().takes_values() {
                    true => values
                        .iter()
                        .flat_map(|value| with_value(&flag, value))
                        .collect(),
                    false => vec![flag],
                };
                let place = match NAMING.contains(&id) {
                    true => &mut self.naming,
                    false => &mut self.flags,
                };
                place.push((id.to_owned(), words));
            }
        }
    }

    /// This call of a server behind this URL; none where there was no call.
    pub fn with_url(
        &self,
        url: &str,
        headers: &[(String, String)],
        redactor: &Redactor,
    ) -> Option<String> {
        let mut words = self.begun(&[])?;
        for (name, value) in headers {
            words.extend(["--header".to_owned(), shown_header(name, value)]);
        }
        words.extend(["--url".to_owned(), url.to_owned()]);
        // One that is started, and reached by the URL: both were typed.
        let is_by_both = self.naming.iter().any(|(id, _)| id == "url");
        if is_by_both && !self.server.is_empty() {
            words.extend(self.typed_env());
            words.push("--".to_owned());
            words.extend(argv_with_blanks(&self.server));
        }
        Some(line(&words, redactor))
    }

    /// This call of a server that is started so, with variables as `--env` takes them;
    /// none where there was no call.
    pub fn with_command(
        &self,
        env: &[String],
        argv: &[String],
        redactor: &Redactor,
    ) -> Option<String> {
        let mut words = self.begun(&[LOGIN])?;
        for variable in env {
            words.extend(["--env".to_owned(), variable.clone()]);
        }
        words.push("--".to_owned());
        words.extend(argv_with_blanks(argv));
        Some(line(&words, redactor))
    }

    /// This call of the same server, with these flags in the place of those of their ids.
    pub fn with_flags(&self, new: &[(&str, &str, String)], redactor: &Redactor) -> Option<String> {
        let replaced: Vec<&str> = new.iter().map(|(id, ..)| *id).collect();
        let mut words = self.command.clone();
        for (_, flag, value) in new {
            words.extend(with_value(flag, value));
        }
        let begun = self.begun(&replaced)?;
        words.extend(begun.into_iter().skip(self.command.len()));
        words.extend(self.naming.iter().flat_map(|(_, words)| words.clone()));
        for (_, header) in self.typed_headers() {
            words.extend(["--header".to_owned(), header]);
        }
        words.extend(self.typed_env());
        if !self.server.is_empty() {
            words.push("--".to_owned());
            words.extend(argv_with_blanks(&self.server));
        }
        Some(line(&words, redactor))
    }

    /// The flags of this call, but for those that name the server and those of these ids, as
    /// a shell takes them.
    pub fn flags_but(&self, without: &[&str], redactor: &Redactor) -> String {
        let begun = self.begun(without).unwrap_or_default();
        let mut words: Vec<String> = begun.into_iter().skip(self.command.len()).collect();
        let others = self
            .typed_headers()
            .filter(|(name, _)| !name.eq_ignore_ascii_case("authorization"));
        for (_, header) in others {
            words.extend(["--header".to_owned(), header]);
        }
        line(&words, redactor)
    }

    /// The call up to its server, without the flags of these ids.
    fn begun(&self, without: &[&str]) -> Option<Vec<String>> {
        if self.command.is_empty() {
            return None;
        }
        let kept = self
            .flags
            .iter()
            .filter(|(id, _)| !without.contains(&id.as_str()));
        let words = self.command.iter().chain(&self.arguments);
        Some(
            words
                .chain(kept.flat_map(|(_, words)| words))
                .cloned()
                .collect(),
        )
    }

    /// The names of the headers, and each as it is typed again.
    fn typed_headers(&self) -> impl Iterator<Item = (&str, String)> {
        self.headers.iter().filter_map(|header| {
            let (name, value) = header.split_once(':')?;
            let (name, value) = (name.trim(), value.trim());
            Some((name, shown_header(name, value)))
        })
    }

    fn typed_env(&self) -> impl Iterator<Item = String> {
        self.env.iter().flat_map(|pair| {
            let shown = match pair.split_once('=') {
                Some((name, value)) => typed_variable(name, value),
                None => pair.clone(),
            };
            ["--env".to_owned(), shown]
        })
    }
}

/// A flag and its value, which may look like a flag.
fn with_value(flag: &str, value: &str) -> Vec<String> {
    match value.len() > 1 && value.starts_with('-') {
        true => vec![format!("{flag}={value}")],
        false => vec![flag.to_owned(), value.to_owned()],
    }
}

/// A header by its name, whatever it is called: values of headers stand in no output. One
/// that reads its value from the environment hides nothing.
fn shown_header(name: &str, value: &str) -> String {
    let is_reference = value.contains("${") && secrets_in_header(name, value).is_empty();
    match is_reference {
        true => format!("{name}: {value}"),
        false => format!("{name}: {}", blank_for(name)),
    }
}

/// A variable as it is given with `--env`: by its name alone where its value comes
/// from the environment, and with a blank where that is a secret.
pub fn typed_variable(name: &str, value: &str) -> String {
    let is_inherited = ["env", "secret"]
        .iter()
        .any(|kind| value == format!("${{{kind}:{name}}}"));
    if is_inherited {
        return name.to_owned();
    }
    match secrets_in_variable(name, value).is_empty() {
        true => format!("{name}={value}"),
        false => format!("{name}={}", blank_for(name)),
    }
}

/// A line to paste. Blanks come before the quotes that they need.
fn line(words: &[String], redactor: &Redactor) -> String {
    let words: Vec<String> = words
        .iter()
        .map(|word| with_blanks(&redactor.redact(word)))
        .collect();
    shell_command(&words)
}

/// A text to paste, where a redactor has left secrets out: what stands for one says that it
/// is to be filled in.
pub fn with_blanks(shown: &str) -> String {
    const MARK: &str = "[secret";
    let mut text = String::with_capacity(shown.len());
    let mut rest = shown;
    while let Some(at) = rest.find(MARK) {
        let (before, mark) = rest.split_at(at);
        let inside = &mark[MARK.len()..];
        text.push_str(before);
        match inside.split_once(']') {
            Some((name, after)) if name.is_empty() || name.starts_with(' ') => {
                let name = match name.trim() {
                    "" => "the secret",
                    name => name,
                };
                text.push_str(&blank_for(name));
                rest = after;
            }
            Some(_) | None => {
                text.push_str(MARK);
                rest = inside;
            }
        }
    }
    text.push_str(rest);
    text
}

/// The first blank of a printed command that was pasted without a value.
pub fn unfilled(typed: &[OsString]) -> Option<String> {
    // Where printed commands have them. Elsewhere such words are somebody's own.
    const FLAGS: [&str; 4] = ["--header", "--env", "--var", "--url"];
    let is_of_server = |at: usize| typed[..at].iter().any(|word| word == "--");
    let is_of_flag = |at: usize, word: &str| {
        let (name, before) = (word.split('=').next(), at.checked_sub(1));
        let is_flag = |word: &OsString| FLAGS.iter().any(|flag| word == *flag);
        name.is_some_and(|name| FLAGS.contains(&name))
            || before.is_some_and(|at| is_flag(&typed[at]))
    };
    // A URL, and an argument that is a blank as a whole.
    let is_printed = |word: &str| {
        let is_blank = |(name, value): (&str, &str)| value == blank_for(name.trim_end_matches(':'));
        is_url(word) || word.split_once('=').is_some_and(is_blank)
    };
    typed.iter().enumerate().find_map(|(at, word)| {
        let word = word.to_string_lossy();
        if !is_of_server(at) && !is_of_flag(at, &word) && !is_printed(&word) {
            return None;
        }
        first_blank(&word).map(str::to_owned)
    })
}

#[cfg(test)]
mod tests {
    use super::{Retyped, unfilled, with_blanks};
    use crate::cli::args::Cli;
    use clap::CommandFactory;
    use jelly_base::text::redact::Redactor;
    use std::ffi::OsString;

    fn retyped(words: &[&str]) -> Retyped {
        let mut command = Cli::command();
        let typed = std::iter::once(&"jelly").chain(words);
        let matches = command.try_get_matches_from_mut(typed).unwrap();
        Retyped::of(&command, &matches)
    }

    #[test]
    fn another_url_keeps_all_flags_and_no_value_of_a_header() {
        let url = ["--header", "X-Api: zzz9", "--url", "http://h/mcp"];
        let headers = [("X-Api".to_owned(), "zzz9".to_owned())];
        for (words, wanted) in [
            (
                &["list", "--format", "json"][..],
                "jelly list --format json",
            ),
            (
                &["tools", "lock", "-o", "my.lock", "--name", "a b"],
                "jelly tools lock --output my.lock --name 'a b'",
            ),
            (
                &["call", "t", "a=1", "--as-step", "--call-timeout", "3s"],
                "jelly call t a=1 --as-step --call-timeout 3s",
            ),
            (
                &[
                    "fuzz",
                    "--call-all",
                    "--seed",
                    "7",
                    "--max-calls",
                    "5",
                    "--output",
                    "f.yaml",
                ],
                "jelly fuzz --call-all --seed 7 --max-calls 5 --output f.yaml",
            ),
            (
                &["init", "--name", "demo", "--call", "a", "--call", "b"],
                "jelly init --name demo --call a --call b",
            ),
        ] {
            let made = retyped(&[words, &url].concat());
            let made = made.with_url("http://g/mcp", &headers, &Redactor::none());
            let wanted = format!("{wanted} --header 'X-Api: <value of X-Api>' --url http://g/mcp");
            let made = made.unwrap();
            assert_eq!(made, wanted);
            let mut again = Cli::command();
            let pasted = made.replace("'X-Api: <value of X-Api>'", "X-Api:1");
            let pasted = pasted.replace("'a b'", "ab");
            again.try_get_matches_from_mut(pasted.split(' ')).unwrap();
        }
    }

    #[test]
    fn a_reference_stays_and_what_is_started_for_the_url_too() {
        let typed = retyped(&[
            "list",
            "-e",
            "MODE=dev",
            "-e",
            "API_KEY=hunter2secret",
            "--url",
            "http://h/",
            "--",
            "python3",
            "a.py",
            "--token=hunter2secret",
        ]);
        let headers = [("X-Key".to_owned(), "${secret:KEY}".to_owned())];
        assert_eq!(
            typed
                .with_url("http://g/", &headers, &Redactor::none())
                .unwrap(),
            "jelly list --header 'X-Key: ${secret:KEY}' --url http://g/ --env MODE=dev --env \
             'API_KEY=<value of API_KEY>' -- python3 a.py '--token=<value of token>'"
        );
    }

    #[test]
    fn the_same_server_is_named_again_with_other_flags() {
        let typed = retyped(&[
            "fuzz",
            "--seed",
            "1",
            "--tool",
            "a",
            "--tool",
            "b",
            "--header",
            "A: b",
            "--url",
            "http://h/",
        ]);
        let new = [
            ("seed", "--seed", "7".to_owned()),
            ("skip", "--skip", "3".to_owned()),
        ];
        assert_eq!(
            typed.with_flags(&new, &Redactor::none()).unwrap(),
            "jelly fuzz --seed 7 --skip 3 --tool a --tool b --url http://h/ --header \
             'A: <value of A>'"
        );
        assert_eq!(Retyped::default().with_flags(&new, &Redactor::none()), None);
    }

    #[test]
    fn what_is_left_out_is_to_be_filled_in_and_is_not_taken_for_a_value() {
        assert_eq!(
            with_blanks("curl 'http://h/?k=[secret api_key]&[secrets] [secret] [secret"),
            "curl 'http://h/?k=<value of api_key>&[secrets] <value of the secret> [secret"
        );
        let typed = ["jelly", "list", "--header", "A: <value of A>"].map(OsString::from);
        assert_eq!(unfilled(&typed).as_deref(), Some("<value of A>"));
        let own = ["jelly", "call", "echo", "m=<value of x>"].map(OsString::from);
        assert_eq!(unfilled(&own), None);
        for printed in ["key=<value of key>", "http://h/?key=<value of key>"] {
            let typed = ["jelly", "call", "t", printed].map(OsString::from);
            assert_eq!(
                unfilled(&typed).as_deref(),
                Some("<value of key>"),
                "{printed}"
            );
        }
        assert_eq!(
            unfilled(&["a < b", "<value of", "x>"].map(OsString::from)),
            None
        );
    }
}
