//! What mends a server that is started by the wrong program or with the wrong
//! versions, or that speaks at the wrong place.

use super::entries::{args, command, command_and_args};
use super::prescribe::{Doctor, Remedy, found};
use crate::doctor::launcher::{name_of, runtime};
use crate::model::Outcome;
use crate::text::shell_word as word;

/// The port that a text is about: never the minutes of a time.
fn port_in(text: &str) -> Option<String> {
    found(
        &[
            r"https?://[^\s/]+:(?P<it>\d{2,5})\b",
            r"(?i)\bport:? ?(?P<it>\d{2,5})\b",
            r"\('[^']*', (?P<it>\d{2,5})\)",
            r"(?:localhost|\d(?:\.\d+){3}|\]|::):(?P<it>\d{2,5})\b",
            r"\s:(?P<it>\d{4,5})\b",
        ],
        text,
    )
}

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
                None => args(&self.with_flags(&["--python", &version])),
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
                    command("<path of the newer python3>"),
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
                let found = self.bedside.sight.on_path(command_text);
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
                command_and_args("npx", &words),
                "Or install one, and write its path there:".to_owned(),
                command("<path of the newer node>"),
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
            args(&all),
            format!("$ npm view {} bin engines", word(fetched.spec)),
        ])
    }

    pub(super) fn port(&self) -> Remedy {
        let port = port_in(&self.told);
        // This alone mends it; a server of HTTP on another port stays mute.
        let mut lines = self.without_http_mode();
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
        let said = found(
            &[r"\b(?P<it>(?:[A-Z][A-Z0-9]*_)*PORT(?:_[A-Z0-9]+)*)\b"],
            &self.told,
        );
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
                let at = self.at(self.bedside.entry.place);
                let name = said.unwrap_or_else(|| "<its variable for the port>".to_owned());
                lines.push(format!("{other} another port; write in the entry at {at}:"));
                lines.push(self.started.env_with(&[(name, new.to_owned())]));
            }
        }
        Remedy::of(lines)
    }

    pub(super) fn transport(&self) -> Remedy {
        let mut lines = self.without_http_mode();
        if lines.is_empty() {
            lines = self.without_port();
        }
        if lines.is_empty() {
            let mut words = self.started.words();
            words.push("<its argument for stdio, such as --stdio>".to_owned());
            let at = self.at_args();
            lines.push(format!("Start it in its stdio mode; write at {at}:"));
            lines.push(args(&words));
        }
        let port = port_in(&format!("{}\n{}", self.told, self.stderr));
        let url = format!(
            "http://127.0.0.1:{}/mcp",
            port.as_deref().unwrap_or("<port>")
        );
        lines.push(
            "Or start it yourself, and write in place of `command`, `args` and `env`:".to_owned(),
        );
        lines.push(format!("\"url\": \"{url}\""));
        Remedy::of(lines).instead_of(&["Or give", "Start it in stdio"])
    }

    /// The arguments with stdio in place of what makes of it a server of HTTP.
    pub(super) fn without_http_mode(&self) -> Vec<String> {
        let mode = |word: &str| {
            let folded = word.to_ascii_lowercase().replace(['-', '_'], "");
            matches!(&*folded, "streamablehttp" | "http" | "sse" | "streamable")
        };
        let names_mode = |flag: &str| {
            let folded = flag.to_ascii_lowercase();
            flag == "-t"
                || flag.starts_with('-')
                    && ["transport", "mode"]
                        .iter()
                        .any(|name| folded.contains(name))
        };
        let words = self.started.words();
        let mut kept = Vec::with_capacity(words.len());
        for word in &words {
            match word.split_once('=') {
                Some((flag, value)) if names_mode(flag) && mode(value) => {
                    kept.push(format!("{flag}=stdio"));
                }
                // A switch, and not one of several modes.
                _ if word.starts_with('-') && mode(word.trim_start_matches('-')) => {}
                None if mode(word) => kept.push("stdio".to_owned()),
                Some(_) | None => kept.push(word.clone()),
            }
        }
        if kept == words {
            return Vec::new();
        }
        vec![
            format!(
                "Its arguments make of it a server of HTTP, and its client speaks stdio; write at \
                 {}:",
                self.at_args()
            ),
            args(&kept),
        ]
    }

    /// The arguments without the port that makes of it a server of HTTP.
    fn without_port(&self) -> Vec<String> {
        let mut words = self.started.words();
        let is_port = |word: &String| word == "--port" || word.starts_with("--port=");
        let Some(at) = words.iter().position(is_port) else {
            return Vec::new();
        };
        let end = if words[at].contains('=') {
            at + 1
        } else {
            at + 2
        };
        words.drain(at..end.min(words.len()));
        vec![
            format!(
                "Servers often talk HTTP once they are given a port, and its client speaks stdio; \
                 leave it out at {}:",
                self.at_args()
            ),
            args(&words),
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
                args(&self.before(&["--silent"])),
            ]);
        }
        if self.bedside.failure.outcome == Some(Outcome::Timeout) {
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
            command_and_args("sh", &["-c".to_owned(), line]),
            "To its author:".to_owned(),
        ])
    }
}
