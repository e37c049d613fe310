//! What is said of a server that did not become ready: the diagnosis of `run` and
//! `doctor`, in the words of who typed a command.

use super::super::doctor::examine::Examiner;
use super::super::settings::World;
use super::{NamedServer, Stands};
use crate::cli::refusal::Refusal;
use crate::cli::retyped::{Retyped, typed_variable, with_blanks};
use crate::report::{DoctorOptions, server_text};
use jelly_base::model::{Checkup, CheckupState, Failure, FindingLevel, Fix, FixKind};
use jelly_base::text::redact::Redactor;
use jelly_base::text::{TMP, sanitize};
use jelly_harness::exec::{CheckupSettings, Examined};
use jelly_setup::doctor::{AS_IT_IS, Client, Config, Entry, Place, Platform, Reached, Spot};
use jelly_triage::engine::Engine;
use jelly_wire::Reach;
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tempfile::TempDir;
use tokio::sync::Semaphore;

/// What is typed, where there is no file to point into.
pub const AS_TYPED: &str = "(as it was typed)";

impl NamedServer {
    /// That it did not become ready, why, and how to fix it: exit code 3.
    pub fn not_ready(
        &self,
        failure: &Failure,
        (engine, world, redactor): (&Engine, &World, &Redactor),
    ) -> Refusal {
        let checkup = self.checkup(failure, (engine, world, redactor));
        refusal_of(&checkup, world, redactor)
    }

    /// The same for programs; commands to paste hold what was typed.
    pub fn checkup(
        &self,
        failure: &Failure,
        (engine, world, redactor): (&Engine, &World, &Redactor),
    ) -> Checkup {
        let mut checkup = self.examined(failure, (engine, world, redactor));
        leave_blanks(&mut checkup, redactor);
        checkup
    }

    fn examined(
        &self,
        failure: &Failure,
        (engine, world, redactor): (&Engine, &World, &Redactor),
    ) -> Checkup {
        let typed;
        let (config, folder, home) = match &self.stands {
            Stands::InPlan(at) => {
                let tmp = self.terms.tmp.as_ref().map(TempDir::path);
                return trouble_in_plan((&self.name, at, tmp), failure, engine);
            }
            Stands::InConfig(stands) => {
                let (config, folder, home) = &**stands;
                (config, folder.clone(), home.as_deref())
            }
            Stands::OnCommandLine(_) => {
                typed = alone(&self.name, self.reached());
                let folder = self.reach.command().map(|spec| spec.cwd.clone());
                (&typed, folder.unwrap_or_else(|| world.cwd.clone()), None)
            }
        };
        let settings = CheckupSettings {
            startup_timeout: Duration::ZERO,
            redactor: redactor.clone(),
            starts: Arc::new(Semaphore::new(1)),
        };
        let (unstarted, refused) = ([config.path.clone()].into(), BTreeSet::new());
        let examiner = Examiner {
            platform: Platform::current(),
            unstarted: &unstarted,
            refused: &refused,
            answers: &BTreeMap::new(),
            settings: &settings,
            engine,
            world,
            home,
        };
        let examined = Examined {
            failure: Some(Box::new(failure.clone())),
            stderr_tail: failure.stderr.clone().unwrap_or_default(),
            ..Examined::default()
        };
        let checkup = examiner.checkup_of_first(config, &folder, examined);
        let mut checkup = checkup
            .unwrap_or_else(|| trouble_in_plan((&self.name, AS_TYPED, None), failure, engine));
        if let (Stands::OnCommandLine(call), Some(entry)) = (&self.stands, config.entries.first()) {
            in_words_of_commands(&mut checkup, config, entry, (call, redactor));
        }
        checkup
    }

    /// As an entry of a configuration.
    fn reached(&self) -> Reached {
        match &self.reach {
            Reach::Stdio(command) => {
                let mut words = command.argv.iter().map(|word| spot(word));
                let env = command.env.iter();
                Reached::Command {
                    command: words.next().unwrap_or_default(),
                    args: words.collect(),
                    env: env
                        .map(|(name, value)| (name.clone(), spot(value)))
                        .collect(),
                    cwd: None,
                    env_file: None,
                }
            }
            Reach::Http(endpoint) => Reached::Url {
                url: spot(&endpoint.url),
                headers: endpoint
                    .headers
                    .iter()
                    .map(|(name, value)| (name.clone(), spot(value)))
                    .collect(),
            },
        }
    }
}

/// What is wrong with a server that a plan has: a plan has its own words for that.
/// Its `${tmp}` is gone by the time that somebody reads it.
pub fn trouble_in_plan(
    (name, at, tmp): (&str, &str, Option<&Path>),
    failure: &Failure,
    engine: &Engine,
) -> Checkup {
    let mut failure = failure.clone();
    if let Some(tmp) = tmp.map(|tmp| tmp.display().to_string()) {
        failure.for_each_text(&mut |text| *text = text.replace(&tmp, TMP));
    }
    let clean = |text: &str| sanitize(text).into_owned();
    Checkup {
        name: clean(name),
        at: at.to_owned(),
        state: CheckupState::Broken,
        argv: failure.argv.iter().map(|word| clean(word)).collect(),
        url: failure.url.clone(),
        stderr_tail: failure.stderr.as_deref().map(clean).unwrap_or_default(),
        message: failure.message.as_deref().map(clean),
        diagnosis: Some(engine.diagnose(&failure)),
        ..Checkup::default()
    }
}

/// A server that did not become ready, as what ends a call.
pub fn refusal_of(checkup: &Checkup, world: &World, redactor: &Redactor) -> Refusal {
    Refusal::needs_help(not_started(checkup, world)).redacted(redactor)
}

/// For people, on stderr.
pub fn not_started(checkup: &Checkup, world: &World) -> String {
    // What nobody starts here may well be running.
    let what = match checkup.url.is_some() && checkup.argv.is_empty() {
        true => "used",
        false => "started",
    };
    let mut text = format!("error: the server `{}` could not be {what}", checkup.name);
    if let Some(diagnosis) = &checkup.diagnosis {
        text.push_str(&format!(" ({})", diagnosis.root_cause));
    }
    let options = DoctorOptions {
        color: world.colors_stderr(),
        width: world.width().unwrap_or(100),
    };
    text.push_str("\n\n");
    text.push_str(&server_text(checkup, options));
    text.truncate(text.trim_end().len());
    text
}

pub fn spot(text: &str) -> Spot {
    Spot {
        text: text.to_owned(),
        ..Spot::default()
    }
}

/// A configuration of this entry and nothing else.
pub fn alone(name: &str, reached: Reached) -> Config {
    Config {
        path: PathBuf::from("the command line"),
        client: Client::Unknown,
        entries: vec![Entry {
            name: name.to_owned(),
            place: Place::default(),
            disabled: false,
            is_built_in: false,
            reached: Some(reached),
            says_sse: None,
            own_limit: None,
            flaws: Vec::new(),
            kept: Vec::new(),
            notes: Vec::new(),
        }],
        inputs: Vec::new(),
        has_servers_key: true,
    }
}

/// In commands to paste, what is secret is to be filled in.
pub fn leave_blanks(checkup: &mut Checkup, redactor: &Redactor) {
    let fixes = checkup.diagnosis.iter_mut();
    let fixes = fixes.flat_map(|diagnosis| &mut diagnosis.advice.fix);
    for fix in fixes.filter(|fix| fix.is_command()) {
        fix.text = with_blanks(&redactor.redact(&fix.text));
    }
}

/// What was typed stands in no file: what the doctor would write into one is
/// given with this call once more.
pub fn in_words_of_commands(
    checkup: &mut Checkup,
    config: &Config,
    entry: &Entry,
    (call, redactor): (&Retyped, &Redactor),
) {
    checkup.at = AS_TYPED.to_owned();
    checkup
        .findings
        .retain(|finding| finding.level == FindingLevel::Error);
    let nowhere = config.at(Place::default());
    for finding in &mut checkup.findings {
        finding.at = AS_TYPED.to_owned();
    }
    let Some(diagnosis) = &mut checkup.diagnosis else {
        return;
    };
    for fix in &mut diagnosis.advice.fix {
        match command_for(&fix.text, entry, call, redactor).filter(|_| fix.kind == FixKind::Member)
        {
            Some(command) => *fix = Fix::command(command),
            None => fix.text = without_place(&fix.text, &nowhere),
        }
    }
}

/// `write at FILE:` is said of a command without the file.
fn without_place(line: &str, nowhere: &str) -> String {
    let mut line = line.to_owned();
    for (written, said) in [
        (
            format!("Write in the entry at {nowhere}:"),
            "Give it what it wants:",
        ),
        (format!("; write in the entry at {nowhere}:"), ":"),
        (format!("; write at {nowhere}:"), ":"),
        (format!("Write at {nowhere}:"), "Try:"),
        (format!(", at {nowhere}:"), ":"),
        (format!(", in the entry at {nowhere}:"), ", as a header:"),
        (format!(" at {nowhere}"), ""),
        (
            "(`env` and `headers` of the configuration)".to_owned(),
            "(`--env` and `--header`)",
        ),
        (
            ", and write in place of `command`, `args` and `env`:".to_owned(),
            ", and name its URL:",
        ),
        ("`args` in the configuration".to_owned(), "arguments"),
    ] {
        line = line.replace(&written, said);
    }
    line
}

/// `"env": {…}`, `"args": […]`, `"command": …` or `"url": …`, as it would stand
/// in an entry: as a call of jelly.
fn command_for(line: &str, entry: &Entry, call: &Retyped, redactor: &Redactor) -> Option<String> {
    let members: Map<String, Value> = serde_json::from_str(&format!("{{{line}}}")).ok()?;
    let texts = |value: &Value| -> Option<Vec<String>> {
        let items = value.as_array()?.iter();
        items.map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let (own_url, own_headers) = match &entry.reached {
        Some(Reached::Url { url, headers }) => (Some(url.text.as_str()), headers.as_slice()),
        Some(Reached::Command { .. }) | None => (None, &[][..]),
    };
    let new_headers = members.get("headers").and_then(Value::as_object);
    let url = members.get("url").and_then(Value::as_str);
    if let Some(url) = url.or(own_url.filter(|_| new_headers.is_some())) {
        let own = own_headers
            .iter()
            .map(|(name, spot)| (name.clone(), spot.text.clone()));
        let headers: Vec<(String, String)> = match new_headers {
            // What stays is named, without its value.
            Some(new) => new
                .iter()
                .filter_map(|(name, value)| {
                    let stays = own_headers.iter().find(|(own, _)| own == name);
                    let value = match stays.filter(|_| value == AS_IT_IS) {
                        Some((_, spot)) => spot.text.as_str(),
                        None => value.as_str()?,
                    };
                    Some((name.clone(), value.to_owned()))
                })
                .collect(),
            None => own.collect(),
        };
        return call.with_url(url, &headers, redactor);
    }
    let Some(Reached::Command {
        command, args, env, ..
    }) = &entry.reached
    else {
        return None;
    };
    let variables = members.get("env").map(Value::as_object);
    let mut given = Vec::new();
    // Those that were typed stay.
    for (name, value) in env {
        if variables
            .flatten()
            .is_none_or(|new| !new.contains_key(name))
        {
            given.push(typed_variable(name, &value.text));
        }
    }
    for (name, value) in variables.flatten().into_iter().flatten() {
        given.push(format!("{name}={}", value.as_str()?));
    }
    let own = || args.iter().map(|spot| spot.text.clone()).collect();
    let args = members.get("args").map_or_else(|| Some(own()), texts)?;
    let command = members
        .get("command")
        .map_or(Some(command.text.as_str()), Value::as_str)?;
    let argv: Vec<String> = std::iter::once(command.to_owned()).chain(args).collect();
    match members.is_empty() {
        true => None,
        false => call.with_command(&given, &argv, redactor),
    }
}

#[cfg(test)]
mod tests {
    use super::{alone, command_for, spot, without_place};
    use crate::cli::args::Cli;
    use crate::cli::retyped::Retyped;
    use clap::CommandFactory;
    use jelly_base::text::redact::Redactor;
    use jelly_setup::doctor::{Entry, Reached};

    /// What a line of an entry becomes for who typed this.
    fn made(line: &str, entry: &Entry, typed: &[&str]) -> Option<String> {
        let mut command = Cli::command();
        let matches = command.try_get_matches_from_mut(typed).unwrap();
        let call = Retyped::of(&command, &matches);
        command_for(line, entry, &call, &Redactor::none())
    }

    fn entry() -> Entry {
        let reached = Reached::Command {
            command: spot("npx"),
            args: vec![spot("-y"), spot("a b")],
            env: Vec::new(),
            cwd: None,
            env_file: None,
        };
        alone("it", reached).entries.remove(0)
    }

    #[test]
    fn what_would_stand_in_a_file_is_a_command() {
        for (line, command) in [
            (
                r#""env": { "A_KEY": "<value of A_KEY>" }"#,
                Some("jelly init --env 'A_KEY=<value of A_KEY>' -- npx -y 'a b'"),
            ),
            (r#""args": ["-y", "c"]"#, Some("jelly init -- npx -y c")),
            (r#""command": "uvx", "args": []"#, Some("jelly init -- uvx")),
            (
                r#""url": "http://x/mcp""#,
                Some("jelly init --url http://x/mcp"),
            ),
            ("Install it.", None),
            ("", None),
        ] {
            let made = made(line, &entry(), &["jelly", "init"]);
            assert_eq!(made.as_deref(), command, "{line}");
        }
    }

    #[test]
    fn a_header_of_an_entry_is_one_of_the_call() {
        let reached = Reached::Url {
            url: spot("http://x/mcp"),
            headers: vec![("X-Tenant".to_owned(), spot("north"))],
        };
        let entry = alone("it", reached).entries.remove(0);
        let line = r#""headers": { "X-Tenant": "<as it stands>", "X-Api-Key": "<key>" }"#;
        assert_eq!(
            made(line, &entry, &["jelly", "list"]).as_deref(),
            Some(
                "jelly list --header 'X-Tenant: <value of X-Tenant>' --header 'X-Api-Key: <value of \
                 X-Api-Key>' --url http://x/mcp"
            )
        );
    }

    #[test]
    fn variables_stay_and_a_secret_is_a_blank() {
        let reached = Reached::Command {
            command: spot("python3 tok.py --token=hunter2secret"),
            args: Vec::new(),
            env: vec![
                ("MODE".to_owned(), spot("dev")),
                ("HOME_OF".to_owned(), spot("${env:HOME_OF}")),
                ("API_KEY".to_owned(), spot("${secret:API_KEY}")),
                ("DB_PASSWORD".to_owned(), spot("hunter2secret")),
            ],
            cwd: None,
            env_file: None,
        };
        let entry = alone("it", reached).entries.remove(0);
        let line = r#""command": "python3", "args": ["tok.py", "--token=hunter2secret"]"#;
        let made = made(line, &entry, &["jelly", "init", "--name", "demo"]);
        assert_eq!(
            made.as_deref(),
            Some(
                "jelly init --name demo --env MODE=dev --env HOME_OF --env API_KEY --env \
                 'DB_PASSWORD=<value of DB_PASSWORD>' -- python3 tok.py '--token=<value of token>'"
            )
        );
    }

    #[test]
    fn a_command_line_is_no_place() {
        for (line, said) in [
            ("Write in the entry at x:0:0:", "Give it what it wants:"),
            (
                "Give it another port; write at x:0:0:",
                "Give it another port:",
            ),
            (
                "Name an existing folder, at x:0:0:",
                "Name an existing folder:",
            ),
            ("$ mkdir x", "$ mkdir x"),
            (
                "Or start it yourself, and write in place of `command`, `args` and `env`:",
                "Or start it yourself, and name its URL:",
            ),
            (
                "Compare the server's `args` in the configuration with its usage.",
                "Compare the server's arguments with its usage.",
            ),
        ] {
            assert_eq!(without_place(line, "x:0:0"), said);
        }
    }
}
