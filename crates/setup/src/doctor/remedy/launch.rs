//! What mends a server that is started by the wrong program or with the wrong
//! versions, or that speaks at the wrong place.

use super::prescribe::{Doctor, Remedy, found};
use crate::doctor::candidates::{Candidate, stdio_candidates};
use crate::doctor::launcher::{name_of, runtime};
use jelly_base::model::Outcome;
use jelly_base::text::shell_word as word;
use jelly_base::text::{address_words, listening_line};

/// The port that a text is about: never the minutes of a time.
fn port_in(text: &str) -> Option<String> {
    found(
        &[
            r"(?i)\bport:? ?(?P<it>\d{2,5})\b[^\n]{0,30}\b(?:in use|taken|allocated|occupied)",
            r"(?i)\b(?:in use|EADDRINUSE)\b[^\n]{0,60}?[:\s](?P<it>\d{2,5})\b",
            r"https?://[^\s/]+:(?P<it>\d{2,5})\b",
            r"(?i)\bport:? ?(?P<it>\d{2,5})\b",
            r"\('[^']*', (?P<it>\d{2,5})\)",
            r"(?:localhost|\d(?:\.\d+){3}|\]|::):(?P<it>\d{2,5})\b",
            r"\s:(?P<it>\d{4,5})\b",
            r"(?i)\b(?:on|at) (?P<it>\d{4,5})\b",
        ],
        text,
    )
}

/// Words in the name of a program that puts other servers on a port.
const GATEWAYS: &[&str] = &["proxy", "gateway", "bridge"];

impl Doctor<'_> {
    pub(super) fn runtime(&self) -> Remedy {
        let at = self.at(self.started.command.place);
        let command_text = &self.started.command.text;
        let name = name_of(command_text);
        let words: Vec<&str> = self.started.args.iter().map(|arg| &*arg.text).collect();
        let named = runtime(command_text, &words);
        let is_python = self.rule.starts_with("python/")
            || name.starts_with("python")
            || matches!(name, "uv" | "uvx" | "pipx");
        if is_python {
            let version = found(
                &[
                    r"(?i)python ?(?:version )?(?:requirement: )?[`'\x22]?(?:>=|>|==|~=) ?(?P<it>3\.\d+)",
                    r"(?i)not in ['\x22]?>= ?(?P<it>3\.\d+)",
                    r"(?i)python ?(?P<it>3\.\d+)(?:\+| or )",
                ],
                &format!("{}\n{}", self.told, self.stderr),
            );
            let version = version.unwrap_or_else(|| "<version, such as 3.13>".to_owned());
            let member = match named {
                Some((index, _)) => self.with(index, &version),
                None => self.started.args(&self.with_flags(&["--python", &version])),
            };
            return match name {
                "uvx" | "uv" | "pipx" => Remedy::of(vec![
                    format!(
                        "Have it run by another Python; write at {}:",
                        self.at_args()
                    ),
                    member,
                ])
                .instead_of(&["$ "]),
                _ => Remedy::of(vec![
                    format!("Install a newer Python, and write its path at {at}:"),
                    self.started.command("<path of the newer python3>"),
                ]),
            };
        }
        let newer = "node@<version, such as 24>";
        if let Some((index, _)) = named {
            return Remedy::of(vec![
                format!(
                    "Its arguments name the Node that runs it; write at {}:",
                    self.at_args()
                ),
                self.with(index, newer),
            ])
            .instead_of(&["$ node", "See which one"]);
        }
        let program = match name {
            "node" | "nodejs" => Some(self.started.words()),
            _ if self.fetched().is_some() => None,
            // A script that asks for whatever `node` the PATH leads to.
            _ => {
                let found = self.context.sight.on_path(command_text);
                let path = found.map(|path| path.display().to_string());
                let mut words = vec![
                    self.started
                        .shown(&path.unwrap_or_else(|| command_text.clone())),
                ];
                words.extend(self.started.words());
                Some(words)
            }
        };
        if let Some(program) = program {
            let mut words = vec!["-y".to_owned(), newer.to_owned()];
            words.extend(program);
            return Remedy::of(vec![
                format!("Have npm fetch a newer Node for it; write at {at}:"),
                self.started.command_and_args("npx", &words),
                "Or install one, and write its path there:".to_owned(),
                self.started.command("<path of the newer node>"),
            ]);
        }
        let Some(fetched) = self.fetched().filter(|fetched| fetched.launcher == "npx") else {
            return Remedy::none();
        };
        let rest = self.started.words().split_off(fetched.index + 1);
        let own = fetched.spec.rsplit('/').next().unwrap_or(fetched.spec);
        let is_named = fetched.index > 0 && words[fetched.index - 1].starts_with("-p")
            || words[fetched.index].starts_with('-');
        let package = format!("--package={}", fetched.spec);
        let mut all = vec!["-y".to_owned(), format!("--package={newer}"), package];
        all.push("--".to_owned());
        if !is_named {
            all.push(if fetched.spec.starts_with('@') {
                "<name of its program>".to_owned()
            } else {
                own.split('@').next().unwrap_or(own).to_owned()
            });
        }
        all.extend(rest.into_iter().skip_while(|word| is_named && word == "--"));
        Remedy::of(vec![
            format!(
                "Have npm fetch a newer Node for it; write at {}:",
                self.at_args()
            ),
            self.started.args(&all),
            format!("$ npm view {} bin engines", word(fetched.spec)),
        ])
    }

    pub(super) fn port(&self) -> Remedy {
        if let Some(lines) = self.proven() {
            return Remedy::of(lines).instead_of(&["Give it another", "Let the system"]);
        }
        let port = port_in(&self.told);
        // This alone mends it; a server of HTTP on another port stays mute.
        let mut lines = self.in_stdio_mode();
        let other = if lines.is_empty() {
            "Give it"
        } else {
            "Or give it"
        };
        let new = "<free port>";
        let names_it = |text: &str| {
            port.as_deref()
                .is_some_and(|port| text == port || text.ends_with(&format!("={port}")))
        };
        let args_ = self.started.args;
        let is_flag =
            |text: &str| text.starts_with('-') && text.to_ascii_lowercase().contains("port");
        // Where no port is told of, the one that a flag gives.
        let arg = args_
            .iter()
            .position(|arg| names_it(&arg.text))
            .or_else(|| {
                let flag = args_
                    .iter()
                    .position(|arg| port.is_none() && is_flag(&arg.text))?;
                let next = if args_[flag].text.contains('=') {
                    flag
                } else {
                    flag + 1
                };
                (next < args_.len()).then_some(next)
            });
        let variable = self
            .started
            .env
            .iter()
            .find(|(_, spot)| names_it(&spot.text));
        let name = r"\b(?P<it>(?:[A-Z][A-Z0-9]*_)*PORT(?:_[A-Z0-9]+)*)\b";
        let said = found(&[name], &self.told).or_else(|| {
            // As servers list their settings.
            let with_port = format!("{name}\\s*[:=]\\s*{}\\b", port.as_deref()?);
            found(&[&with_port], &self.all_said())
        });
        match (arg, variable, said) {
            (Some(index), ..) => {
                let at = self.at(self.started.args[index].place);
                lines.push(format!("{other} another port; write at {at}:"));
                lines.push(self.with(index, new));
            }
            (None, Some((name, spot)), _) => {
                let at = self.at(spot.place);
                lines.push(format!("{other} another port; write at {at}:"));
                lines.push(self.started.env_with(&[(name.clone(), new.to_owned())]));
            }
            (None, None, said) => {
                let at = self.at(self.context.entry.place);
                let name = said.unwrap_or_else(|| "<its variable for the port>".to_owned());
                lines.push(format!("{other} another port; write in the entry at {at}:"));
                lines.push(self.started.env_with(&[(name, new.to_owned())]));
            }
        }
        Remedy::of(lines)
    }

    /// All that it wrote on stderr and, between messages, on stdout.
    pub(super) fn all_said(&self) -> String {
        format!(
            "{}\n{}",
            self.stderr,
            self.context.failure.stdout_noise.join("\n")
        )
    }

    pub(super) fn transport(&self) -> Remedy {
        let (url, is_sse) = self.served_at();
        let by_url = match is_sse {
            true => self.started.format.sse(&url),
            false => self.started.format.url(&url),
        };
        let format = self.started.format;
        let in_place = format!(
            "and write in place of `{}`, `{}` and `{}`:",
            format.command_name(),
            format.members.args,
            format.members.env
        );
        let mut lines = self.proven().unwrap_or_else(|| self.in_stdio_mode());
        if lines.is_empty() && self.context.tried {
            lines.push(format!(
                "Of the arguments that servers commonly have for stdio none had an answer; start \
                 it yourself, {in_place}"
            ));
        } else {
            if lines.is_empty() {
                let mut words = self.started.words();
                words.push("<its argument for stdio, such as --stdio>".to_owned());
                let at = self.at_args();
                lines.push(format!("Start it in its stdio mode; write at {at}:"));
                lines.push(self.started.args(&words));
            }
            lines.push(format!("Or start it yourself, {in_place}"));
        }
        lines.push(by_url);
        Remedy::of(lines).instead_of(&["Or give", "Start it in stdio"])
    }

    /// What it answered with when it was tried.
    pub(super) fn proven(&self) -> Option<Vec<String>> {
        let candidate = self.context.proven?;
        Some(vec![
            format!(
                "It was started as a server of HTTP, and its client speaks stdio; with this it was \
                 tried, and answers; write at {}:",
                self.at_args()
            ),
            self.members_of(candidate),
        ])
    }

    /// The members of the entry that a candidate changes.
    fn members_of(&self, candidate: &Candidate) -> String {
        let own = self.started.words();
        let mut members = Vec::new();
        if !candidate.keeps_args(own.len()) {
            members.push(self.started.args(&candidate.words(&own)));
        }
        if !candidate.env.is_empty() {
            members.push(self.started.env_changed(&candidate.env));
        }
        self.started.format.joined(&members)
    }

    /// Where a server of HTTP is reached, by what it says, and whether by the
    /// old transport.
    fn served_at(&self) -> (String, bool) {
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
        let whole = found(&[r"(?P<it>https?://[^\s'\x22`)]+)"], line);
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
        let own = if own.trim_matches('/').is_empty() {
            path
        } else {
            own
        };
        (format!("{origin}{own}"), is_sse)
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
    fn in_stdio_mode(&self) -> Vec<String> {
        let lines = self.behind_gateway();
        if lines.is_empty() {
            self.without_http_mode(true)
        } else {
            lines
        }
    }

    /// The server of stdio that this one puts on a port.
    fn behind_gateway(&self) -> Vec<String> {
        let own = name_of(&self.started.command.text);
        let fetched = self.fetched();
        let name = fetched.map_or(own, |fetched| fetched.spec);
        let words = self.started.words();
        let is_url = |word: &String| word.contains("://");
        if !GATEWAYS.iter().any(|word| name.contains(word)) || words.iter().any(is_url) {
            return Vec::new();
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
        let Some((program, rest)) = inner.split_first() else {
            return Vec::new();
        };
        let at = self.at(self.started.command.place);
        vec![
            format!(
                "`{name}` puts a server of stdio on a port, and its client speaks stdio; start \
                 that server itself, and write at {at}:"
            ),
            self.started.command_and_args(program, rest),
        ]
    }

    /// The members with stdio in place of what makes of it a server of HTTP,
    /// which may be a port alone where it is sure to be one.
    pub(super) fn without_http_mode(&self, is_sure: bool) -> Vec<String> {
        let candidates = stdio_candidates(self.context.entry, is_sure);
        let texts: Vec<&str> = self.started.args.iter().map(|arg| &*arg.text).collect();
        let is_hinted = |first: &&Candidate| {
            first.leaves_mode || first.args.len() < texts.len() && self.given_port().is_some()
        };
        let Some(first) = candidates.first().filter(is_hinted) else {
            return Vec::new();
        };
        let at = match first.keeps_args(texts.len()) {
            true => self.at(self.context.entry.place),
            false => self.at_args(),
        };
        let why = match (first.leaves_mode, first.keeps_args(texts.len())) {
            (true, true) => "Its variables make of it a server of HTTP",
            (true, false) => "Its arguments make of it a server of HTTP",
            (false, _) => "Servers often talk HTTP once they are given a port",
        };
        // It may lack something else besides, which only then shows.
        let in_vain = match self.context.tried {
            true => " (when it was tried, this alone had no answer)",
            false => "",
        };
        vec![
            format!("{why}, and its client speaks stdio{in_vain}; write at {at}:"),
            self.members_of(first),
        ]
    }

    pub(super) fn noise(&self) -> Remedy {
        let name = name_of(&self.started.command.text);
        let words = self.started.words();
        if matches!(name, "npm" | "pnpm" | "yarn") && !words.iter().any(|w| w == "--silent") {
            return Remedy::of(vec![
                format!(
                    "Have `{name}` say nothing itself; write at {}:",
                    self.at_args()
                ),
                self.started.args(&self.before(&["--silent"])),
            ]);
        }
        if self.context.failure.outcome == Some(Outcome::Timeout) {
            return Remedy::none();
        }
        let own = self.started.shown(&self.started.command.text);
        let line: Vec<String> = std::iter::once(&own)
            .chain(&words)
            .map(|w| word(w))
            .collect();
        // Also what stands in one line with a message, and logs in JSON.
        let line = format!(
            "{} | grep --line-buffered -o '{{.*\"jsonrpc\".*'",
            line.join(" ")
        );
        Remedy::of(vec![
            format!(
                "Until its author mends it, let only messages through; write at {}:",
                self.at(self.started.command.place)
            ),
            self.started
                .command_and_args("sh", &["-c".to_owned(), line]),
            "To its author:".to_owned(),
        ])
    }
}
