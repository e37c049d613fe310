//! A plan of what was recorded: nothing is started, and what was answered then
//! is expected again.

use super::super::replay::recorded;
use super::keep::PlanPlace;
use super::meant::origins;
use super::origin::{Origin, spot};
use super::shared::Shared;
use crate::cli::out;
use crate::cli::refusal::{Refusal, complain};
use jelly_base::mcp::{DISCOVER, INITIALIZE, LISTEN};
use jelly_base::model::{ExitCode, for_each_json_text};
use jelly_base::text::{capitalised, plural};
use jelly_plan::{PlanSource, load};
use jelly_replay::{Exchange, exchanges, main_session};
use jelly_setup::doctor::Reached;
use jelly_setup::init::{
    Observation, Observed, Settings, compare_sessions, described, observed_plan, sent_again,
    server_name,
};
use jelly_wire::{RecordedSession, RecordedStart};
use regex::Regex;
use serde_json::{Map, Value};
use std::collections::HashMap;
use std::path::Path;

/// Makes the plan and keeps it.
pub async fn make(shared: &Shared<'_>, file: &Path) -> Result<ExitCode, Refusal> {
    let args = shared.args;
    let sessions = recorded(file, args.server.as_deref())?;
    let main = main_session(&sessions);
    let Some(session) = sessions.get(main) else {
        return Err(Refusal::invalid("error: there is no session in it"));
    };
    let shown = file.display().to_string();
    let (mut observations, left_out) = observe(session);
    let others = sessions.iter().enumerate().filter(|(at, _)| *at != main);
    let others: Vec<_> = others.map(|(_, other)| observe(other).0).collect();
    compare_sessions(&mut observations, &others);
    if observations.is_empty() {
        return Err(Refusal::invalid(format!(
            "error: {shown} has no request with an answer, so there is nothing to expect\nhelp: \
             record some calls first"
        )));
    }
    let name = args.name.clone().or_else(|| server_name(&session.server));
    let name = name.unwrap_or_else(|| "server".to_owned());
    let (origin, gone) = match args.command.is_empty() && args.url.is_none() {
        true => recorded_origin(shared, &name, session, &shown)?,
        false => match origins(shared).await?.pop() {
            Some(origin) => (origin, Vec::new()),
            None => return Err(Refusal::invalid("error: no server was named")),
        },
    };
    let mut place = PlanPlace::open(shared, Some(&name))?;
    let mut server = origin.server(shared, &place);
    let is_recorded = args.command.is_empty() && args.url.is_none();
    if let Some(start) = session.start.as_ref().filter(|_| is_recorded) {
        serve_at_a_port(&mut server.entry, start);
    }
    let unset = server.unset(shared);
    let mut notes = server.notes;
    notes.extend(gone);
    if sessions.len() > 1 {
        notes.push(format!(
            "The recording has {} with this server; the steps are those of number {}.",
            plural(sessions.len(), "session"),
            main + 1
        ));
    }
    let settings = Settings {
        name,
        server: server.entry,
        notes,
        schema: Some(place.schema_way().to_owned()),
        run: place.run_line(shared),
        ..Settings::default()
    };
    let file_name = file
        .file_name()
        .unwrap_or(file.as_os_str())
        .to_string_lossy();
    let (text, steps) = observed_plan(&observations, &settings, (&file_name, &left_out), &is_gone);
    // What is kept is what a run will read.
    let source = PlanSource {
        path: place.source_path(),
        text: text.as_str().into(),
        variant: None,
    };
    load(source).map_err(|error| Refusal::invalid(error.render(shared.world.colors_stderr())))?;
    place.keep(shared, &text)?;
    let mut said = format!(
        "wrote {}: {} of {shown}; nothing was started\n",
        place.shown(),
        plural(steps, "step"),
    );
    for sentence in &left_out {
        said.push_str(&format!("left out: {sentence}\n"));
    }
    match place.keep_schema(shared) {
        Some(Ok(path)) => said.push_str(&format!(
            "also wrote {}, for editor validation\n",
            path.display()
        )),
        Some(Err(why)) => complain(&format!("warning: {why}")),
        None => {}
    }
    said.push_str(&place.next_line(shared, &unset));
    if place.is_stdout() {
        complain(said.trim_end());
    } else if let Err(error) = out::print(said) {
        complain(&format!("warning: failed to write to stdout: {error}"));
    }
    Ok(ExitCode::Passed)
}

/// Whether a temporary folder was one of the recorded run alone.
fn is_gone(folder: &str) -> bool {
    !Path::new(folder).exists()
}

/// The server as it was started then, and what a reader should know of it.
fn recorded_origin(
    shared: &Shared<'_>,
    name: &str,
    session: &RecordedSession,
    shown: &str,
) -> Result<(Origin, Vec<String>), Refusal> {
    let start = session.start.as_ref();
    let start = start.filter(|start| !start.argv.is_empty() || start.url.is_some());
    let Some(start) = start else {
        return Err(Refusal::invalid(format!(
            "error: {shown} does not say how its server was started\nhelp: say it behind `--`, as \
             in `jelly init --from-recording {shown} -- COMMAND [ARGS]...`; `-- jelly replay \
             {shown}` has the recording itself answer"
        )));
    };
    let mut notes = Vec::new();
    let reached = reached(start, shared.world.jelly.as_deref(), &mut notes);
    let env = shared.world.env.clone();
    Ok((
        Origin::typed(shared, Some(name.to_owned()), reached, env),
        notes,
    ))
}

fn reached(start: &RecordedStart, jelly: Option<&Path>, notes: &mut Vec<String>) -> Reached {
    let mut names: Vec<String> = Vec::new();
    let mut text = |text: &str, otherwise: &str| {
        let (text, secrets) = sent_again(text, otherwise, &is_gone);
        names.extend(secrets);
        spot(&text)
    };
    // What was started is started again, wherever it is reached then.
    let reached = match start.url.as_ref().filter(|_| start.argv.is_empty()) {
        Some(url) => Reached::Url {
            url: text(url, "URL_SECRET"),
            headers: start
                .headers
                .iter()
                .map(|name| (name.clone(), text("[secret]", name)))
                .collect(),
        },
        None => {
            let mut before = "SECRET".to_owned();
            let mut words = start.argv.iter().map(|word| {
                let found = text(word, &before);
                let flag = word.split('=').next().unwrap_or_default();
                // What is no flag says nothing of the word behind it.
                before = match flag.strip_prefix('-') {
                    Some(flag) => flag.trim_start_matches('-').to_owned(),
                    None => "SECRET".to_owned(),
                };
                found
            });
            let command = words.next().unwrap_or_default();
            // Plans have a word for it, which is right on other machines too.
            let own = jelly.is_some_and(|jelly| Path::new(&command.text) == jelly);
            Reached::Command {
                command: if own { spot("jelly") } else { command },
                args: words.collect(),
                env: start
                    .env
                    .iter()
                    .map(|(name, value)| (name.clone(), text(value, name)))
                    .collect(),
                cwd: start.cwd.as_deref().map(|cwd| text(cwd, "SECRET")),
                env_file: None,
            }
        }
    };
    if !names.is_empty() {
        names.sort();
        names.dedup();
        notes.push(format!(
            "TODO: set {} in the environment: the recording has the names of secrets, not \
             their values.",
            names.join(", ")
        ));
    }
    reached
}

/// Says of a server that was started how it is reached over HTTP: at a port of
/// each run, where it is given one.
fn serve_at_a_port(entry: &mut Map<String, Value>, start: &RecordedStart) {
    let Some(url) = start.url.as_ref().filter(|_| !start.argv.is_empty()) else {
        return;
    };
    let (mut url, _) = sent_again(url, "URL_SECRET", &is_gone);
    let host = url.split_once("://").map_or(url.as_str(), |(_, rest)| rest);
    let host = host.split(['/', '?', '#']).next().unwrap_or_default();
    let port = host.rsplit_once(':').map(|(_, port)| regex::escape(port));
    // A shorter one is no port that a system gave, and may be a count.
    let port = port.filter(|port| port.len() >= 5);
    let whole = port.and_then(|port| Regex::new(&format!(r"\b{port}\b")).ok());
    if let Some(whole) = whole {
        let mut is_given = false;
        for key in ["args", "env"] {
            let Some(values) = entry.get_mut(key) else {
                continue;
            };
            for_each_json_text(values, &mut |text| {
                is_given |= whole.is_match(text);
                *text = whole.replace_all(text, "$${port}").into_owned();
            });
        }
        if is_given {
            url = whole.replace_all(&url, "$${port}").into_owned();
        }
    }
    entry.insert("url".to_owned(), Value::from(url));
}

/// The requests that a plan can make, and what it can't, in sentences.
fn observe(session: &RecordedSession) -> (Vec<Observation>, Vec<String>) {
    let (mut found, mut left_out) = (Vec::new(), Vec::new());
    // By their keys, what a modern server asked for inside a result.
    let mut asked: HashMap<String, Value> = HashMap::new();
    for exchange in exchanges(session).list {
        let method = exchange.method().to_owned();
        if !exchange.is_request() || matches!(method.as_str(), INITIALIZE | DISCOVER | "ping") {
            continue;
        }
        let params = exchange.message.get("params").and_then(Value::as_object);
        let mut params = params.cloned().unwrap_or_default();
        let mut answers: Vec<(String, Map<String, Value>)> = exchange
            .asked()
            .filter_map(|(asks, given)| answer(asks, given))
            .collect();
        params.shift_remove("requestState");
        if let Some(Value::Object(responses)) = params.shift_remove("inputResponses") {
            for (key, result) in responses {
                let asks = asked.remove(&key);
                let method = asks.and_then(|asks| asks.get("method")?.as_str().map(str::to_owned));
                answers.extend(method.map(|method| (method, given("result", result))));
            }
        }
        match settled(&exchange) {
            Ok(Observed::Result(result))
                if result.get("resultType").and_then(Value::as_str) == Some("input_required") =>
            {
                let requests = result.get("inputRequests").and_then(Value::as_object);
                asked.extend(requests.cloned().unwrap_or_default());
            }
            Ok(answer) => found.push(Observation {
                line: exchange.line,
                method,
                params,
                answer,
                before: Vec::new(),
                answers,
            }),
            Err(why) => {
                let what = capitalised(&described(&method, &params));
                left_out.push(format!("{what} in line {}: {why}", exchange.line));
            }
        }
    }
    (found, left_out)
}

/// How it was answered, or why a plan can't expect that.
fn settled(exchange: &Exchange) -> Result<Observed, &'static str> {
    let Some((_, answer)) = exchange.answer() else {
        return Err(match (exchange.cancelled, exchange.method()) {
            (_, LISTEN) => "a subscription stays open",
            (true, _) => "it was cancelled",
            (false, _) => "it was not answered",
        });
    };
    match (answer.get("result"), answer.get("error")) {
        (Some(result), _) => Ok(Observed::Result(result.clone())),
        (None, Some(error)) => Ok(Observed::Error(error.clone())),
        (None, None) => Err("its answer is neither a result nor an error"),
    }
}

fn given(key: &str, value: Value) -> Map<String, Value> {
    Map::from_iter([(key.to_owned(), value)])
}

/// What the client answered to one request of the server, as a plan says it.
fn answer(asks: &Value, heard: &Value) -> Option<(String, Map<String, Value>)> {
    let method = asks.get("method")?.as_str()?;
    // A client answers it by itself.
    if method == "ping" {
        return None;
    }
    let said = match (heard.get("result"), heard.get("error")) {
        (Some(result), _) => given("result", result.clone()),
        (None, Some(error)) => given("error", error.clone()),
        (None, None) => return None,
    };
    Some((method.to_owned(), said))
}
