//! `jelly call`: one call of one tool.

use super::busy::Busy;
use super::init::name_of_command;
use super::named_server::{NamedServer, named_server, refusal_of, world_redactor};
use super::out::{say, say_json};
use super::refusal::{Refusal, complain};
use super::runtime::{unless_interrupted, with_runtime};
use super::settings::World;
use super::tool_arguments::typed_arguments;
use crate::cli::args::{CallArgs, Format};
use jelly_base::model::{
    CallReport, Diagnosis, ExitCode, Failure, Fix, Outcome, SCHEMA_VERSION, Side, ToolInfo,
};
use jelly_base::text::redact::{Redactor, secrets_in_variable};
use jelly_base::text::{capitalised, did_you_mean, json_type, one_line, sanitize};
use jelly_harness::exec::{OpenServer, ToolCall};
use jelly_setup::init::{Observation, Observed, observed_step, server_name};
use jelly_triage::engine::{Audience, Engine};
use serde_json::{Map, Value, json};
use std::fmt::Write as _;
use std::time::Duration;

/// How long a server may take to stop.
const GRACE: Duration = Duration::from_secs(2);
/// Lines of a fix that are shown.
const FIXES: usize = 6;

/// The call, and all that is to be told of it.
struct Done {
    arguments: Map<String, Value>,
    call: ToolCall,
    /// What the server calls itself.
    server_name: Option<String>,
}

/// Why there is no call.
enum Undone {
    NotReady(Box<Failure>),
    Refused(Refusal),
}

/// Calls a tool.
pub fn call(args: &CallArgs, world: &World) -> Result<ExitCode, Refusal> {
    with_runtime(&args.ask.own_rules, world, async |context| {
        let redactor = world_redactor(world);
        let named = named_server(&args.ask.server.source, world, &redactor).await?;
        let given = args.arguments.iter().filter_map(|one| one.split_once('='));
        // What stands in a file is learnt once it is read.
        let given = given.filter(|(_, value)| !value.starts_with('@'));
        let secrets =
            given.flat_map(|(name, value)| secrets_in_variable(name.trim_end_matches(':'), value));
        redactor.learn(secrets.map(|found| (found.name, found.value)));
        let engine: &Engine = &context.rules;
        let around = (engine, world, &redactor);
        let work = done(&named, args, (world, &redactor));
        let done = match unless_interrupted(&context.interrupt, work).await? {
            Ok(done) => done,
            Err(Undone::NotReady(failure)) => return not_ready(&named, args, &failure, around),
            Err(Undone::Refused(refusal)) => return Err(refusal.redacted(&redactor)),
        };
        let failure = done.call.failure.as_deref();
        let diagnosis = failure.map(|failure| diagnosed(failure, args, engine));
        let code = code_of(failure, diagnosis.as_ref());
        if args.as_step {
            return as_step(&named, args, &done, diagnosis.as_ref(), code, &redactor);
        }
        let report = report(&named, args, done, diagnosis, code, &redactor);
        match args.format {
            Format::Json => say_json(&report, code),
            Format::Human => tell(&report, code),
        }
    })
}

async fn done(
    named: &NamedServer,
    args: &CallArgs,
    (world, redactor): (&World, &Redactor),
) -> Result<Done, Undone> {
    let launch = named.launch(args.ask.server.timeout, redactor);
    let busy = Busy::waiting(world);
    busy.begin_server(&named.name, "starting", redactor);
    let server = OpenServer::start(&launch).await.map_err(Undone::NotReady)?;
    let asked = prepared(server.session().tools(), args, world);
    let (arguments, schema) = match asked {
        Ok(asked) => asked,
        Err(refusal) => {
            server.stop(GRACE).await;
            return Err(Undone::Refused(refusal));
        }
    };
    let texts = arguments
        .iter()
        .filter_map(|(name, value)| Some((name, value.as_str()?)));
    let secrets = texts.flat_map(|(name, value)| secrets_in_variable(name, value));
    redactor.learn(secrets.map(|found| (found.name, found.value)));
    let what = redactor.redact(&args.tool);
    busy.begin_server(
        &named.name,
        &format!("calling {}", one_line(&what, 80)),
        redactor,
    );
    let sent = Value::Object(arguments.clone());
    let call = server
        .call(&args.tool, &sent, schema.as_ref(), args.ask.call_timeout)
        .await;
    let name = server.session().server_info().get("name");
    let server_name = name.and_then(Value::as_str).map(str::to_owned);
    server.stop(GRACE).await;
    Ok(Done {
        arguments,
        call,
        server_name,
    })
}

/// Of a server that did not start: what is wrong, for people on stderr, and as it was
/// asked for on stdout.
fn not_ready(
    named: &NamedServer,
    args: &CallArgs,
    failure: &Failure,
    around: (&Engine, &World, &Redactor),
) -> Result<ExitCode, Refusal> {
    let (_, world, redactor) = around;
    let checkup = named.checkup(failure, around);
    let refusal = refusal_of(&checkup, world, redactor);
    match args.format {
        Format::Human => Err(refusal),
        Format::Json => {
            let code = refusal.tell();
            let report = CallReport {
                schema_version: SCHEMA_VERSION,
                exit_code: code.code(),
                server: named.name.clone(),
                tool: args.tool.clone(),
                // None were sent.
                arguments: json!({}),
                duration_ms: 0,
                result: None,
                error: None,
                message: checkup.message,
                diagnosis: checkup.diagnosis,
            };
            let mut report = json!(report);
            // Commands to paste hold what was typed.
            redactor.redact_json(&mut report);
            say_json(&report, code)
        }
    }
}

/// What triage says of a call, in the words of who typed it: it is no step, and there
/// need not be a plan.
fn diagnosed(failure: &Failure, args: &CallArgs, engine: &Engine) -> Diagnosis {
    let is_late = failure.outcome == Some(Outcome::Timeout);
    let audience = match args.ask.server.source.place.plan.is_some() && !is_late {
        true => Audience::Plan,
        false => Audience::Configuration,
    };
    let mut diagnosis = engine.diagnose_for(failure, audience);
    if is_late {
        let longer = "If the work takes that long, give it more time with `--call-timeout`.";
        diagnosis.advice.fix.insert(0, Fix::from(longer));
    }
    diagnosis
}

/// The arguments, and the schema of the output, of the tool that is meant.
fn prepared(
    tools: &[ToolInfo],
    args: &CallArgs,
    world: &World,
) -> Result<(Map<String, Value>, Option<Value>), Refusal> {
    let Some(tool) = tools.iter().find(|tool| tool.name == args.tool) else {
        let names = tools.iter().map(|tool| tool.name.as_str());
        let help =
            did_you_mean(&args.tool, names.clone()).unwrap_or_else(|| match tools.is_empty() {
                true => "it has no tools".to_owned(),
                false => format!("it has: {}", names.collect::<Vec<_>>().join(", ")),
            });
        return Err(Refusal::with_help(
            format!("the server has no tool `{}`", sanitize(&args.tool)),
            sanitize(&one_line(&help, 600)),
        ));
    };
    let arguments = typed_arguments(&args.arguments, tool.input_schema.as_ref(), &world.cwd)?;
    Ok((arguments, tool.output_schema.clone()))
}

/// An error that the server tells is one sighting, which proves nothing; a death
/// and a broken contract are proof at once.
fn code_of(failure: Option<&Failure>, diagnosis: Option<&Diagnosis>) -> ExitCode {
    let (Some(failure), Some(diagnosis)) = (failure, diagnosis) else {
        return ExitCode::Passed;
    };
    let is_told = failure.tool_result.is_some() || failure.rpc_error.is_some();
    match diagnosis.side {
        Side::Code if !is_told => ExitCode::CodeFailure,
        Side::Code | Side::Test => ExitCode::NeedsUserHelp,
    }
}

fn report(
    named: &NamedServer,
    args: &CallArgs,
    done: Done,
    diagnosis: Option<Diagnosis>,
    code: ExitCode,
    redactor: &Redactor,
) -> CallReport {
    let Done {
        arguments, call, ..
    } = done;
    let redacted = |mut value: Value| {
        redactor.redact_json(&mut value);
        value
    };
    let failure = call.failure.map(|failure| *failure).unwrap_or_default();
    CallReport {
        schema_version: SCHEMA_VERSION,
        exit_code: code.code(),
        server: named.name.clone(),
        tool: args.tool.clone(),
        arguments: redacted(Value::Object(arguments)),
        duration_ms: u64::try_from(call.elapsed.as_millis()).unwrap_or(u64::MAX),
        result: call.result.map(redacted),
        error: failure.rpc_error,
        message: failure.message,
        diagnosis,
    }
}

/// For people: the answer on stdout, what is wrong with it on stderr.
fn tell(report: &CallReport, code: ExitCode) -> Result<ExitCode, Refusal> {
    let answer = report.result.as_ref().map(answer).unwrap_or_default();
    if !answer.is_empty() {
        say(sanitize(&answer).as_bytes(), code)?;
    }
    if let (Some(message), Some(diagnosis)) = (&report.message, &report.diagnosis) {
        let is_told = report.result.is_some() || report.error.is_some();
        let is_told = is_told && code == ExitCode::NeedsUserHelp;
        complain(&trouble(message, diagnosis, is_told));
    }
    Ok(code)
}

fn trouble(message: &str, diagnosis: &Diagnosis, is_told: bool) -> String {
    let mut text = format!("error: {} ({})", sanitize(message), diagnosis.root_cause);
    if is_told {
        // Its own words say what it did not like; there is no plan to correct.
        return text;
    }
    let advice = &diagnosis.advice;
    for line in [&advice.what, &advice.why] {
        if !line.is_empty() && !message.contains(line.as_str()) {
            let _ = write!(text, "\n  {}", sanitize(&capitalised(line)));
        }
    }
    for fix in advice.fix.iter().take(FIXES) {
        let mark = if fix.is_command() { "  $ " } else { "  - " };
        let _ = write!(text, "\n{mark}{}", sanitize(&fix.text));
    }
    text
}

/// The texts of a result, and what else is in it.
fn answer(result: &Value) -> String {
    let mut text = String::new();
    let blocks = result.get("content").and_then(Value::as_array);
    let mut texts = Vec::new();
    for block in blocks.into_iter().flatten() {
        let word = |key: &str| block.get(key).and_then(Value::as_str);
        if let Some(said) = word("text") {
            texts.push(said);
            let _ = writeln!(text, "{said}");
            continue;
        }
        let kind = word("type").unwrap_or("block");
        let what = word("mimeType").or(word("uri")).unwrap_or_default();
        let size = word("data").map_or_else(String::new, |data| {
            format!(", {} bytes as base64", data.len())
        });
        let _ = writeln!(text, "[{kind} {what}{size}]");
    }
    if let Some(structured) = result.get("structuredContent") {
        // The same once more, for clients that read no structure; SDKs of Python wrap
        // what is no object.
        let wrapped = structured.get("result").filter(|_| {
            let members = structured.as_object();
            members.is_some_and(|members| members.len() == 1)
        });
        let is_same = |value: &Value| value == structured || Some(value) == wrapped;
        let one = |said: &&str| {
            let read = serde_json::from_str::<Value>(said).ok();
            read.is_some_and(|value| is_same(&value)) || is_same(&Value::from(*said))
        };
        // A list may be a block for each item.
        let blocks = texts.iter().map(|said| {
            let read = serde_json::from_str::<Value>(said).ok();
            read.unwrap_or_else(|| Value::from(*said))
        });
        let said = texts.iter().any(one) || is_same(&blocks.collect());
        if !said {
            let pretty = serde_json::to_string_pretty(structured).unwrap_or_default();
            let _ = writeln!(text, "{pretty}");
        }
    }
    if text.is_empty() {
        let _ = writeln!(text, "(an empty {})", json_type(result));
    }
    text
}

/// The call as a step that expects what came.
fn as_step(
    named: &NamedServer,
    args: &CallArgs,
    done: &Done,
    diagnosis: Option<&Diagnosis>,
    code: ExitCode,
    redactor: &Redactor,
) -> Result<ExitCode, Refusal> {
    let failure = done.call.failure.as_deref();
    let is_error = failure.is_none_or(|failure| failure.tool_result.is_some());
    let answer = match (&done.call.result, failure) {
        (Some(result), _) if is_error => Observed::Result(result.clone()),
        (_, Some(failure)) if failure.rpc_error.is_some() => {
            let error = failure.rpc_error.as_ref();
            let error = error.map(|error| json!({ "code": error.code, "message": error.message }));
            Observed::Error(error.unwrap_or_default())
        }
        // Nobody should expect a death.
        (_, failure) => {
            let message = failure.and_then(|failure| failure.message.clone());
            let message = message.unwrap_or_else(|| "there is no answer".to_owned());
            let told = diagnosis.map(|diagnosis| trouble(&message, diagnosis, false));
            let text = format!(
                "{}\nhelp: there is no answer that a step could expect",
                told.unwrap_or(message)
            );
            return Err(Refusal::new(code, text));
        }
    };
    let answer = match answer {
        Observed::Result(mut result) => {
            redactor.redact_json(&mut result);
            Observed::Result(result)
        }
        Observed::Error(mut error) => {
            redactor.redact_json(&mut error);
            Observed::Error(error)
        }
    };
    let mut arguments = Value::Object(done.arguments.clone());
    redactor.redact_json(&mut arguments);
    let params = json!({ "name": args.tool, "arguments": arguments });
    let observation = Observation {
        line: 0,
        method: "tools/call".to_owned(),
        params: params.as_object().cloned().unwrap_or_default(),
        answer,
        before: Vec::new(),
        answers: Vec::new(),
    };
    say(
        observed_step(&observation, &name_in_plan(named, done)),
        ExitCode::Passed,
    )
}

/// What a plan that `jelly init` makes calls the server.
fn name_in_plan(named: &NamedServer, done: &Done) -> String {
    if !named.is_typed() {
        return named.name.clone();
    }
    let words = named.reach.command().map(|command| command.argv.as_slice());
    let by_command = words.and_then(|words| {
        let (command, args) = words.split_first()?;
        let args: Vec<&str> = args.iter().map(String::as_str).collect();
        name_of_command(command, &args)
    });
    let by_itself = || done.server_name.as_deref().and_then(server_name);
    let name = by_command.or_else(by_itself);
    name.unwrap_or_else(|| named.name.clone())
}
