//! What is said of a server that can't be started: the doctor's diagnosis, in
//! the words of who typed a command.

use super::super::doctor::examine::Examiner;
use super::super::settings::World;
use super::origin::Origin;
use super::shared::Shared;
use crate::cli::refusal::Refusal;
use crate::report::{DoctorOptions, server_text};
use jelly_base::model::{Checkup, FindingLevel, Fix, FixKind};
use jelly_base::text::redact::show_argv;
use jelly_base::text::{shell_command, shell_word};
use jelly_harness::exec::{CheckupSettings, Examined, ExecSettings};
use jelly_setup::doctor::{Config, Entry, Place, Platform, Reached};
use serde_json::{Map, Value};
use std::collections::{BTreeMap, BTreeSet};

/// The status of an answer to who has to say who they are.
const UNAUTHORIZED: u16 = 401;

/// What the doctor says of it.
pub fn unwell(
    shared: &Shared<'_>,
    env: &BTreeMap<String, String>,
    origin: &Origin,
    examined: Examined,
    exec: &ExecSettings,
) -> Refusal {
    let settings = CheckupSettings {
        startup_timeout: shared.args.timeout,
        redactor: exec.redactor.clone(),
        starts: exec.starts.clone(),
    };
    let world = World {
        env: env.clone(),
        ..shared.world.clone()
    };
    let unstarted = [origin.config.path.clone()].into();
    let answers = [(origin.config.path.clone(), origin.answers.clone())].into();
    let examiner = Examiner {
        platform: Platform::current(),
        unstarted: &unstarted,
        refused: &BTreeSet::new(),
        answers: &answers,
        settings: &settings,
        engine: shared.rules,
        world: &world,
        home: origin.home.as_deref(),
    };
    let wants_authorization = examined.failure.as_ref().is_some_and(|failure| {
        let http = failure.http.as_ref();
        http.is_some_and(|http| http.status == Some(UNAUTHORIZED))
    });
    let mut text = String::from("error: the server could not be started");
    if let Some(mut checkup) = examiner.checkup_of_first(&origin.config, &origin.folder, examined) {
        if let Some(diagnosis) = &checkup.diagnosis {
            text.push_str(&format!(" ({}), so there is no plan", diagnosis.root_cause));
        }
        if origin.is_typed() {
            in_words_of_commands(&mut checkup, &origin.config, origin.entry());
        }
        if let (true, Some(Reached::Url { url, .. })) =
            (wants_authorization, &origin.entry().reached)
            && let Some(diagnosis) = &mut checkup.diagnosis
        {
            diagnosis.advice.fix = authorizing(&exec.redactor.redact(&url.text));
        }
        let options = DoctorOptions {
            color: world.colors_stderr(),
            width: world.width().unwrap_or(100),
        };
        text.push_str("\n\n");
        text.push_str(&server_text(&checkup, options));
    }
    Refusal::needs_help(text.trim_end())
}

/// How a server that wants to know who asks is told so.
fn authorizing(url: &str) -> Vec<Fix> {
    let url = shell_word(url);
    vec![
        Fix::text(
            "With a token in the environment (here in TOKEN; the plan holds its name alone):",
        ),
        Fix::command(format!(
            "jelly init --header 'Authorization: Bearer ${{secret:TOKEN}}' {url}"
        )),
        Fix::text("With a login of yours, where the server has OAuth:"),
        Fix::command(format!("jelly login {url}")),
        Fix::command(format!("jelly init --login {url}")),
    ]
}

/// What was typed stands in no file: what the doctor would write into one is
/// given with a command.
fn in_words_of_commands(checkup: &mut Checkup, config: &Config, entry: &Entry) {
    checkup.at = "(as it was typed)".to_owned();
    checkup
        .findings
        .retain(|finding| finding.level == FindingLevel::Error);
    let nowhere = config.at(Place::default());
    for finding in &mut checkup.findings {
        finding.at = "(as it was typed)".to_owned();
    }
    let Some(diagnosis) = &mut checkup.diagnosis else {
        return;
    };
    for fix in &mut diagnosis.advice.fix {
        match command_for(&fix.text, entry).filter(|_| fix.kind == FixKind::Member) {
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
        (format!(" at {nowhere}"), ""),
    ] {
        line = line.replace(&written, said);
    }
    line
}

/// `"env": {…}`, `"args": […]`, `"command": …` or `"url": …`, as it would stand
/// in an entry: as a call of jelly.
fn command_for(line: &str, entry: &Entry) -> Option<String> {
    let members: Map<String, Value> = serde_json::from_str(&format!("{{{line}}}")).ok()?;
    let texts = |value: &Value| -> Option<Vec<String>> {
        let items = value.as_array()?.iter();
        items.map(|item| item.as_str().map(str::to_owned)).collect()
    };
    let mut words: Vec<String> = ["jelly", "init"].map(str::to_owned).into();
    if let Some(url) = members.get("url").and_then(Value::as_str) {
        words.push(url.to_owned());
        return Some(shell_command(&words));
    }
    let Some(Reached::Command { command, args, .. }) = &entry.reached else {
        return None;
    };
    let variables = members.get("env").map(Value::as_object);
    for (name, value) in variables.flatten().into_iter().flatten() {
        words.push("--env".to_owned());
        words.push(format!("{name}={}", value.as_str()?));
    }
    let own = || args.iter().map(|spot| spot.text.clone()).collect();
    let args = members.get("args").map_or_else(|| Some(own()), texts)?;
    let command = members
        .get("command")
        .map_or(Some(command.text.as_str()), Value::as_str)?;
    words.push("--".to_owned());
    words.extend(show_argv(
        &std::iter::once(command.to_owned())
            .chain(args)
            .collect::<Vec<_>>(),
    ));
    (!members.is_empty()).then(|| shell_command(&words))
}

#[cfg(test)]
mod tests {

    use super::{command_for, without_place};
    use jelly_setup::doctor::{Entry, Reached, Spot};

    fn entry() -> Entry {
        let spot = |text: &str| Spot {
            text: text.to_owned(),
            ..Spot::default()
        };
        Entry {
            name: "it".to_owned(),
            place: jelly_setup::doctor::Place::default(),
            disabled: false,
            reached: Some(Reached::Command {
                command: spot("npx"),
                args: vec![spot("-y"), spot("a b")],
                env: Vec::new(),
                cwd: None,
                env_file: None,
            }),
            flaws: Vec::new(),
            notes: Vec::new(),
        }
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
            (r#""url": "http://x/mcp""#, Some("jelly init http://x/mcp")),
            ("Install it.", None),
            ("", None),
        ] {
            assert_eq!(command_for(line, &entry()).as_deref(), command, "{line}");
        }
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
        ] {
            assert_eq!(without_place(line, "x:0:0"), said);
        }
    }
}
