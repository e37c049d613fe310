//! What mends a server that is started by the wrong program or with the wrong
//! versions, or that speaks at the wrong place.

use super::entries::Change;
use super::prescribe::{Doctor, TO_ITS_AUTHOR, found};
use super::steps::Remedy;
use crate::doctor::candidates::{Candidate, stdio_candidates};
use crate::doctor::entry::Place;
use crate::doctor::launcher::is_script_runner;
use jelly_base::model::Outcome;
use jelly_base::text::shell_word as word;
use jelly_base::text::{LazyPattern, address_words, listening_line};

/// The port that a text is about: never the minutes of a time.
fn port_in(text: &str) -> Option<String> {
    static PORT: [LazyPattern; 8] = [
        LazyPattern::new(
            r"(?i)\bport:? ?(?P<it>\d{2,5})\b[^\n]{0,30}\b(?:in use|taken|allocated|occupied)",
        ),
        LazyPattern::new(r"(?i)\b(?:in use|EADDRINUSE)\b[^\n]{0,60}?[:\s](?P<it>\d{2,5})\b"),
        LazyPattern::new(r"https?://[^\s/]+:(?P<it>\d{2,5})\b"),
        LazyPattern::new(r"(?i)\bport:? ?(?P<it>\d{2,5})\b"),
        LazyPattern::new(r"\('[^']*', (?P<it>\d{2,5})\)"),
        LazyPattern::new(r"(?:localhost|\d(?:\.\d+){3}|\]|::):(?P<it>\d{2,5})\b"),
        LazyPattern::new(r"\s:(?P<it>\d{4,5})\b"),
        LazyPattern::new(r"(?i)\b(?:on|at) (?P<it>\d{4,5})\b"),
    ];
    found(&PORT, text)
}

/// The variable for a port that a text shows with it, as servers list their settings.
fn set_to(port: &str, text: &str) -> Option<String> {
    static LISTED: LazyPattern = LazyPattern::new(
        r"\b(?P<it>(?:[A-Z][A-Z0-9]*_)*PORT(?:_[A-Z0-9]+)*)\s*[:=]\s*(?P<port>\d+)\b",
    );
    let mut settings = LISTED.captures_iter(text);
    let setting = settings.find(|setting| setting["port"] == *port)?;
    Some(setting["it"].to_owned())
}

/// Words in the name of a program that puts other servers on a port.
const GATEWAYS: &[&str] = &["proxy", "gateway", "bridge"];

impl Doctor<'_> {
    pub(super) fn runtime(&self) -> Remedy {
        // Of Java, .NET and others that it starts: another Node or Python helps none.
        if self.rule.starts_with("runtimes/") {
            return Remedy::new();
        }
        let runs_python =
            self.started.program().starts_with("python") || self.started.is_python_launcher();
        // Neither does another Python, where what it starts is of Node.
        if runs_python && self.rule.starts_with("node/") {
            return Remedy::new();
        }
        let is_python = runs_python || self.rule.starts_with("python/");
        match is_python {
            true => self.other_python(),
            false => self.other_node(),
        }
    }

    fn other_python(&self) -> Remedy {
        static VERSION: [LazyPattern; 3] = [
            LazyPattern::new(
                r"(?i)python ?(?:version )?(?:requirement: )?[`'\x22]?(?:>=|>|==|~=) ?(?P<it>3\.\d+)",
            ),
            LazyPattern::new(r"(?i)not in ['\x22]?>= ?(?P<it>3\.\d+)"),
            LazyPattern::new(r"(?i)python ?(?P<it>3\.\d+)(?:\+| or )"),
        ];
        let started = self.started;
        if !started.is_python_launcher() {
            return Remedy::new().write(
                "Install a newer Python, and write its path",
                started.command("<path of the newer python3>"),
            );
        }
        let version = found(&VERSION, &self.whole_story());
        let version = version.unwrap_or_else(|| "<version, such as 3.13>".to_owned());
        let member = match started.runtime() {
            Some(index) => started.with(index, &version),
            None => started.args(&started.with_flags(&["--python", &version])),
        };
        Remedy::new()
            .write(
                "Have it run by another Python; write",
                member.at(self.at_args()),
            )
            .instead_of(&["node-version", "python-version"])
    }

    fn other_node(&self) -> Remedy {
        const NEWER: &str = "node@<version, such as 24>";
        let (started, at_args) = (self.started, self.at_args());
        if let Some(index) = started.runtime() {
            let what = "Its arguments name the Node that runs it; write";
            return Remedy::new()
                .write(what, started.with(index, NEWER).at(at_args))
                .instead_of(&["node-version", "see-which-runtime"]);
        }
        let is_node = matches!(started.program(), "node" | "nodejs");
        if !is_node && started.fetched().is_some() {
            let Some(fetched) = self.fetched_by_npx() else {
                return Remedy::new();
            };
            let words = self.npx_words(&fetched, &[NEWER], None);
            let what = "Have npm fetch a newer Node for it; write";
            return Remedy::new()
                .write(what, started.args(&words))
                .run(format!("npm view {} bin engines", word(fetched.spec)));
        }
        let mut words = ["-y", NEWER].map(str::to_owned).to_vec();
        if !is_node {
            // A script that asks for whatever `node` the PATH leads to.
            let text = &started.command.text;
            let path = self.context.sight.on_path(text);
            let path = path.map_or_else(|| text.clone(), |path| path.display().to_string());
            words.push(started.shown(&path));
        }
        words.extend(started.words());
        Remedy::new()
            .write(
                "Have npm fetch a newer Node for it; write",
                started.command_and_args("npx", &words),
            )
            .say("Or install one, and write its path there:")
            .paste(started.command("<path of the newer node>").members)
    }

    pub(super) fn port(&self) -> Remedy {
        static VARIABLE: [LazyPattern; 1] = [LazyPattern::new(
            r"\b(?P<it>(?:[A-Z][A-Z0-9]*_)*PORT(?:_[A-Z0-9]+)*)\b",
        )];
        if let Some(remedy) = self.proven() {
            return remedy;
        }
        let started = self.started;
        let port = port_in(&self.told);
        let names_it = |text: &str| {
            port.as_deref()
                .is_some_and(|port| text == port || text.ends_with(&format!("={port}")))
        };
        let texts = started.texts();
        let is_flag =
            |text: &str| text.starts_with('-') && text.to_ascii_lowercase().contains("port");
        // Where no port is told of, the one that a flag gives.
        let arg = texts.iter().position(|text| names_it(text)).or_else(|| {
            let is_given = |text: &&str| port.is_none() && is_flag(text);
            let flag = texts.iter().position(is_given)?;
            let value = flag + usize::from(!texts[flag].contains('='));
            (value < texts.len()).then_some(value)
        });
        let variable = started.env.iter().find(|(_, spot)| names_it(&spot.text));
        let new = "<free port>";
        let (what, change) = match (arg, variable) {
            (Some(index), _) => ("write", started.with(index, new)),
            (None, Some((name, spot))) => ("write", started.env_with(name, new).at(spot.place)),
            (None, None) => {
                let said = found(&VARIABLE, &self.told)
                    .or_else(|| set_to(port.as_deref()?, &self.all_said()));
                let name = said.unwrap_or_else(|| "<its variable for the port>".to_owned());
                ("write in the entry", started.env_with(&name, new))
            }
        };
        // This alone mends it; a server of HTTP on another port stays mute.
        let remedy = self.in_stdio_mode();
        let other = match remedy.is_empty() {
            true => "Give it",
            false => "Or give it",
        };
        remedy.write(format!("{other} another port; {what}"), change)
    }

    pub(super) fn transport(&self) -> Remedy {
        let format = self.started.format;
        let (url, is_sse, is_guessed) = self.served_at();
        let by_url = format.reached_at(&url, is_sse);
        let in_place = format!(
            "and write in place of `{}`, `{}` and `{}`:",
            format.command_name(),
            format.members.args,
            format.members.env
        );
        let mut remedy = self.proven().unwrap_or_else(|| self.in_stdio_mode());
        let mut or = format!("Or start it yourself, {in_place}");
        if remedy.is_empty() && self.context.tried {
            or = format!(
                "Of the arguments that servers commonly have for stdio none had an answer; start \
                 it yourself, {in_place}"
            );
        } else if remedy.is_empty() {
            let stdio = "<its argument for stdio, such as --stdio>";
            remedy = remedy.write(
                "Start it in its stdio mode; write",
                self.started.args(&self.started.words_and(&[stdio])),
            );
        }
        let remedy = remedy.say(or).paste(by_url);
        let remedy = match is_guessed {
            true => {
                remedy.say("Where nothing is found there, its path is another one, such as /sse.")
            }
            false => remedy,
        };
        remedy.instead_of(&["give-url", "start-in-stdio-mode"])
    }

    /// What it answered with when it was tried.
    pub(super) fn proven(&self) -> Option<Remedy> {
        let candidate = self.context.proven?;
        let what = "It was started as a server of HTTP, and its client speaks stdio; with this it was \
             tried, and answers; write";
        Some(Remedy::new().write(what, self.changed_to(candidate, self.at_args())))
    }

    /// The members of the entry that a candidate changes.
    fn changed_to(&self, candidate: &Candidate, place: Place) -> Change {
        let own = self.started.words();
        let mut members = Vec::new();
        if !candidate.keeps_args(own.len()) {
            members.push(self.started.args(&candidate.words(&own)).members);
        }
        if !candidate.env.is_empty() {
            members.push(self.started.env_changed(&candidate.env).members);
        }
        let members = self.started.format.joined(&members);
        Change { place, members }
    }

    /// Where a server of HTTP is reached, by what it says; whether by the old
    /// transport, and whether its path is a guess.
    fn served_at(&self) -> (String, bool, bool) {
        static URL: [LazyPattern; 1] = [LazyPattern::new(r"(?P<it>https?://[^\s'\x22`)]+)")];
        let said = self.all_said();
        let line = listening_line(&said).unwrap_or_default();
        let folded = line.to_ascii_lowercase();
        let texts = self.started.args.iter().map(|arg| arg.text.as_str());
        let env = self.started.env.iter().map(|(_, spot)| spot.text.as_str());
        let says = |word: &str| folded.contains(word);
        let is_given = texts.chain(env).any(|text| {
            let value = text.rsplit('=').next().unwrap_or(text);
            value.eq_ignore_ascii_case("sse") || value.eq_ignore_ascii_case("--sse")
        });
        let is_sse =
            says("sse") && !says("streamable") && !says("/mcp") || is_given && !says("/mcp");
        let path = if is_sse { "/sse" } else { "/mcp" };
        let whole = found(&URL, line);
        let (origin, own) = match whole.as_deref() {
            Some(url) => {
                let start = url.find("://").map_or(0, |at| at + 3);
                let end = url[start..].find('/').map_or(url.len(), |at| start + at);
                (
                    url[..end].to_owned(),
                    url[end..].trim_end_matches(['.', ',']),
                )
            }
            None => {
                let port = port_in(line).or_else(|| self.given_port());
                let port = port.as_deref().unwrap_or("<port>").to_owned();
                (format!("http://127.0.0.1:{port}"), "")
            }
        };
        let origin = ["//0.0.0.0", "//[::]"]
            .iter()
            .fold(origin, |origin, all| origin.replace(all, "//127.0.0.1"));
        let is_told = !own.trim_matches('/').is_empty();
        let own = if is_told { own } else { path };
        let is_guessed = !is_told && !is_sse && !says("/mcp") && !says("streamable");
        (format!("{origin}{own}"), is_sse, is_guessed)
    }

    /// The port that the entry names.
    fn given_port(&self) -> Option<String> {
        let texts: Vec<&str> = self.started.args.iter().map(|arg| &*arg.text).collect();
        let words = address_words(&texts).into_iter().flatten();
        let is_port = |text: &str| text.parse::<u16>().is_ok_and(|port| port > 0);
        let of_args = words
            .filter_map(|index| texts.get(index)?.rsplit('=').next())
            .find(|text| is_port(text));
        let mut env = self.started.env.iter();
        let of_env = || {
            env.find(|(name, spot)| name.contains("PORT") && is_port(&spot.text))
                .map(|(_, spot)| spot.text.as_str())
        };
        of_args.or_else(of_env).map(str::to_owned)
    }

    /// The entry with stdio in place of what makes of it a server of HTTP.
    fn in_stdio_mode(&self) -> Remedy {
        self.behind_gateway()
            .unwrap_or_else(|| self.without_http_mode(true))
    }

    /// The server of stdio that this one puts on a port.
    fn behind_gateway(&self) -> Option<Remedy> {
        let fetched = self.started.fetched();
        let name = fetched.map_or(self.started.program(), |fetched| fetched.spec);
        let words = self.started.words();
        let is_url = |word: &String| word.contains("://");
        if !GATEWAYS.iter().any(|word| name.contains(word)) || words.iter().any(is_url) {
            return None;
        }
        let after = fetched.map_or(0, |fetched| fetched.index + 1);
        let flag = words.iter().position(|word| word == "--stdio");
        let inner: Vec<String> = match flag.and_then(|flag| words.get(flag + 1)) {
            // A command line in one word; one with quotes is left to a person.
            Some(line) if !line.contains(['\'', '"', '\\', '$']) => {
                line.split_whitespace().map(str::to_owned).collect()
            }
            Some(_) => Vec::new(),
            None => {
                let is_command = |word: &String| {
                    !word.starts_with('-')
                        && word.parse::<u16>().is_err()
                        && self.context.sight.on_path(word).is_some()
                };
                let own = words.iter().skip(after);
                match words.iter().position(|word| word == "--") {
                    Some(at) if at >= after => words[at + 1..].to_vec(),
                    _ => own.skip_while(|word| !is_command(word)).cloned().collect(),
                }
            }
        };
        let (program, rest) = inner.split_first()?;
        let what = format!(
            "`{name}` puts a server of stdio on a port, and its client speaks stdio; start that \
             server itself, and write"
        );
        Some(Remedy::new().write(what, self.started.command_and_args(program, rest)))
    }

    /// The members with stdio in place of what makes of it a server of HTTP,
    /// which may be a port alone where it is sure to be one.
    pub(super) fn without_http_mode(&self, is_sure: bool) -> Remedy {
        let candidates = stdio_candidates(self.context.entry, is_sure);
        let count = self.started.args.len();
        let is_hinted = |first: &&Candidate| {
            first.leaves_mode || first.args.len() < count && self.given_port().is_some()
        };
        let Some(first) = candidates.first().filter(is_hinted) else {
            return Remedy::new();
        };
        let at = match first.keeps_args(count) {
            true => self.at_entry(),
            false => self.at_args(),
        };
        let why = match (first.leaves_mode, first.keeps_args(count)) {
            (true, true) => "Its variables make of it a server of HTTP",
            (true, false) => "Its arguments make of it a server of HTTP",
            (false, _) => "Servers often talk HTTP once they are given a port",
        };
        // It may lack something else besides, which only then shows.
        let in_vain = match self.context.tried {
            true => " (when it was tried, this alone had no answer)",
            false => "",
        };
        Remedy::new().write(
            format!("{why}, and its client speaks stdio{in_vain}; write"),
            self.changed_to(first, at),
        )
    }

    pub(super) fn noise(&self) -> Remedy {
        let started = self.started;
        let name = started.program();
        let is_silent = || started.args.iter().any(|arg| arg.text == "--silent");
        if is_script_runner(name) && !is_silent() {
            let what = format!("Have `{name}` say nothing itself; write");
            let words = started.words_after(&["--silent"]);
            return Remedy::new().write(what, started.args(&words));
        }
        if self.context.failure.outcome == Some(Outcome::Timeout) {
            return Remedy::new();
        }
        // Also what stands in one line with a message, and logs in JSON.
        let line = format!(
            "{} | grep --line-buffered -o '{{.*\"jsonrpc\".*'",
            started.line(&started.words())
        );
        Remedy::new()
            .write(
                "Until its author fixes it, let only messages through; write",
                started.command_and_args("sh", &["-c".to_owned(), line]),
            )
            .say(TO_ITS_AUTHOR)
    }
}
