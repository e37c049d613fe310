//! What was typed → what is tried → what is told.

use super::super::busy::Busy;
use super::super::named_server::{NamedServer, named_server, world_redactor};
use super::super::out::{say, say_json};
use super::super::overwrite::refuse_kept;
use super::super::refusal::Refusal;
use super::super::runtime::{CommandContext, with_runtime};
use super::super::settings::World;
use super::entry::entry;
use super::hunt::Hunt;
use super::live::{Live, Stop};
use crate::cli::args::{Format, FuzzArgs};
use crate::report::fuzz_text;
use jelly_base::mcp::ListKind;
use jelly_base::model::{ExitCode, Failure, SCHEMA_VERSION};
use jelly_base::text::redact::Redactor;
use jelly_base::text::{did_you_mean, one_line, plural, sanitize};
use jelly_fuzzing::{
    CaseSequence, FindingStatus, FuzzEnd, FuzzReport, LeftOutTool, Target, TargetError,
    is_written_by_fuzz, plan_text,
};
use jelly_harness::exec::OpenServer;
use jelly_wire::{Launch, Reach};
use serde_json::Value;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;
use tokio::time::Instant;

/// How long a server may take to stop.
const GRACE: Duration = Duration::from_secs(2);
/// Timeout of a call, where nothing says another.
const CALL: Duration = Duration::from_secs(5);
/// What a plan means that says nothing of it.
const PLAN_DEFAULT: Duration = Duration::from_secs(30);
/// Where the plan of findings lies.
const PLAN: &str = "reports/fuzz/plan.yaml";

/// Tries a server out.
pub fn fuzz(args: &FuzzArgs, world: &World) -> Result<ExitCode, Refusal> {
    with_runtime(&args.own_rules, world, async |context| {
        let redactor = world_redactor(world);
        let named = named_server(&args.server.source, world, &redactor).await?;
        refuse_remote(&named, args.allow_remote)?;
        let plan = world.cwd.join(plan_path(args));
        refuse_kept(&plan, &[], "a plan", is_written_by_fuzz)?;
        let mut report = tried(args, &named, world, &context, &redactor).await?;
        let code = written(args, &named, world, &redactor, &mut report)?;
        redact(&mut report, &redactor);
        match args.format {
            Format::Human => say(fuzz_text(&report, world.colors_stdout()), code),
            Format::Json => say_json(&report, code),
        }
    })
}

/// What is sent may break what it is sent to.
fn refuse_remote(named: &NamedServer, is_allowed: bool) -> Result<(), Refusal> {
    let Reach::Http(endpoint) = &named.reach else {
        return Ok(());
    };
    if is_allowed || is_loopback(&endpoint.url) {
        return Ok(());
    }
    Err(Refusal::with_help(
        format!(
            "the server `{}` is not on this machine",
            sanitize(&named.name)
        ),
        "what is sent may break it for others; where it is yours, say --allow-remote",
    ))
}

fn is_loopback(url: &str) -> bool {
    let (_, rest) = url.split_once("://").unwrap_or(("", url));
    let authority = rest.split(['/', '?', '#']).next().unwrap_or_default();
    let host = authority.rsplit('@').next().unwrap_or_default();
    if let Some(inner) = host.strip_prefix('[') {
        return inner.split(']').next() == Some("::1");
    }
    let host = host.split(':').next().unwrap_or_default();
    let is_address = host.parse::<std::net::Ipv4Addr>();
    host.eq_ignore_ascii_case("localhost") || is_address.is_ok_and(|own| own.is_loopback())
}

async fn tried(
    args: &FuzzArgs,
    named: &NamedServer,
    world: &World,
    context: &CommandContext,
    redactor: &Redactor,
) -> Result<FuzzReport, Refusal> {
    let deadline = Instant::now() + args.deadline;
    let launch = named.launch(args.server.timeout, redactor);
    let around = (&*context.rules, world, redactor);
    let unwell = |failure: &_| named.not_ready(failure, around);
    let mut interrupt = context.interrupt.clone();
    let busy = Busy::waiting(world);
    busy.begin_server(&named.name, "starting, and listing its tools", redactor);
    let listing = tools(&launch);
    let listed = tokio::select! {
        listed = listing => listed.map_err(|failure| unwell(&failure))?,
        _ = interrupt.wait_for(Option::is_some) => return Err(interrupted(context)),
    };
    let (targets, left_out) = targets(&listed, args)?;
    let limit = args.call_timeout.unwrap_or(match launch.request_timeout {
        PLAN_DEFAULT => CALL,
        told => told,
    });
    let live = Live::new(launch, &targets, limit, deadline);
    let mut hunt = Hunt::new(live, &targets, args.skip);
    let sequence = CaseSequence::new(args.seed);
    let what = format!("calling {}", plural(targets.len(), "tool"));
    busy.begin_server(&named.name, &what, redactor);
    let end = tokio::select! {
        end = hunt.run(&sequence, args.max_calls) => end,
        // What was found so far is told.
        _ = interrupt.wait_for(Option::is_some) => Ok(FuzzEnd::Interrupted),
    };
    hunt.live.stop().await;
    drop(busy);
    let ended = match end {
        Ok(end) => end,
        Err(Stop::Deadline) => FuzzEnd::Deadline,
        Err(Stop::NoServer(failure)) if hunt.live.totals.cases == 0 => {
            return Err(unwell(&failure));
        }
        Err(Stop::NoServer(_)) => FuzzEnd::NoServer,
    };
    let mut totals = hunt.live.totals;
    totals.tools = targets.len() as u64;
    totals.left_out = left_out.len() as u64;
    let mut findings = hunt.findings;
    findings.sort_by_key(|it| (it.status == FindingStatus::Flaky, it.kind));
    let mut report = FuzzReport {
        schema_version: SCHEMA_VERSION,
        exit_code: 0,
        server: named.name.clone(),
        seed: args.seed,
        ended,
        next: hunt.next,
        totals,
        tools: hunt.tools,
        left_out,
        findings,
        notices: hunt.notices,
        plan: None,
    };
    let code = match (ended, interrupted_by(context)) {
        (FuzzEnd::Interrupted, Some(code)) => code,
        (_, _) if report.count(FindingStatus::Confirmed) > 0 => ExitCode::CodeFailure,
        (FuzzEnd::NoServer, _) => ExitCode::NeedsUserHelp,
        (_, _) if report.totals.cases == 0 => ExitCode::NeedsUserHelp,
        (_, _) => ExitCode::Passed,
    };
    report.exit_code = code.code();
    Ok(report)
}

fn interrupted_by(context: &CommandContext) -> Option<ExitCode> {
    let came = *context.interrupt.borrow();
    came.map(|came| ExitCode::Interrupted(came.signal))
}

fn interrupted(context: &CommandContext) -> Refusal {
    Refusal::silent(interrupted_by(context).unwrap_or(ExitCode::Internal))
}

/// The tools that the server lists.
async fn tools(launch: &Launch) -> Result<Vec<Listed>, Box<Failure>> {
    let server = OpenServer::start(launch).await?;
    let tools = server.list(ListKind::Tools, launch.startup_timeout).await;
    server.stop(GRACE).await;
    let tools = tools?.unwrap_or_default();
    Ok(tools.into_iter().filter_map(Listed::of).collect())
}

/// A tool as it is listed.
struct Listed {
    name: String,
    tool: Value,
}

impl Listed {
    fn of(tool: Value) -> Option<Self> {
        let name = tool.get("name")?.as_str()?.to_owned();
        Some(Self { name, tool })
    }
}

/// The tools that may be called, and why the others may not.
fn targets(listed: &[Listed], args: &FuzzArgs) -> Result<(Vec<Target>, Vec<LeftOutTool>), Refusal> {
    for name in &args.tool {
        if listed.iter().all(|tool| tool.name != *name) {
            let names = listed.iter().map(|tool| tool.name.as_str());
            let all = || format!("it has: {}", names.clone().collect::<Vec<_>>().join(", "));
            let help = did_you_mean(name, names.clone()).unwrap_or_else(all);
            return Err(Refusal::with_help(
                format!("the server has no tool `{}`", sanitize(name)),
                sanitize(&one_line(&help, 600)),
            ));
        }
    }
    let (mut targets, mut left_out) = (Vec::new(), Vec::new());
    for tool in listed {
        let hint = tool.tool.pointer("/annotations/readOnlyHint");
        let reads = hint.and_then(Value::as_bool) == Some(true);
        let why = match reads || args.call_all || args.tool.contains(&tool.name) {
            false => Some("it does not declare itself read-only".to_owned()),
            true => {
                let (input, output) = (tool.tool.get("inputSchema"), tool.tool.get("outputSchema"));
                match Target::new(&tool.name, input, output, reads) {
                    Ok(target) => {
                        targets.push(target);
                        None
                    }
                    Err(TargetError::Schema(what)) => Some(format!(
                        "its input schema can't be used: {}",
                        one_line(&what, 160)
                    )),
                    Err(TargetError::NoArguments) => {
                        Some("no arguments were found that fit its input schema".to_owned())
                    }
                }
            }
        };
        left_out.extend(why.map(|why| LeftOutTool {
            name: tool.name.clone(),
            why,
        }));
    }
    if targets.is_empty() {
        return Err(no_tool(listed, &left_out));
    }
    Ok((targets, left_out))
}

fn no_tool(listed: &[Listed], left_out: &[LeftOutTool]) -> Refusal {
    if listed.is_empty() {
        return Refusal::with_help("the server has no tools", "there is nothing to try");
    }
    let first = left_out
        .first()
        .map(|it| format!("{}: {}", it.name, it.why));
    Refusal::with_help(
        format!(
            "none of the server's {} may be called; {}",
            plural(listed.len(), "tool"),
            sanitize(&one_line(&first.unwrap_or_default(), 240))
        ),
        "name those that may be called by --tool NAME, or all by --call-all; they do what they \
         are for",
    )
}

/// Writes the plan, and says how findings are shown that no plan can show.
fn written(
    args: &FuzzArgs,
    named: &NamedServer,
    world: &World,
    redactor: &Redactor,
    report: &mut FuzzReport,
) -> Result<ExitCode, Refusal> {
    let code = ExitCode::of(report.exit_code).unwrap_or(ExitCode::Internal);
    let path = plan_path(args);
    let place = world.cwd.join(&path);
    let folder = place.parent().unwrap_or(&world.cwd);
    let limit = args.call_timeout.unwrap_or(CALL);
    let jelly = world.jelly.as_ref().map(|it| it.display().to_string());
    let server = entry(named, folder, jelly.as_deref(), limit, redactor);
    if let Some(text) = plan_text(&server, report.seed, &mut report.findings) {
        let text = redactor.redact(&text).into_owned();
        fs::create_dir_all(folder)
            .and_then(|()| write(&place, &text))
            .map_err(|error| {
                Refusal::needs_help(format!(
                    "error: failed to write {}: {error}\nhelp: name another file by --output",
                    path.display()
                ))
            })?;
        report.plan = Some(path.display().to_string());
    } else if fs::read_to_string(&place).is_ok_and(|text| is_written_by_fuzz(&text)) {
        // That of an earlier call shows what another server, or this one once, had.
        fs::remove_file(&place).map_err(|error| {
            Refusal::needs_help(format!(
                "error: failed to remove {}, which shows earlier findings: {error}\nhelp: remove it",
                path.display()
            ))
        })?;
    }
    for finding in &mut report.findings {
        if finding.step.is_none() {
            finding.command = again(args, finding.case, redactor);
        }
    }
    Ok(code)
}

fn plan_path(args: &FuzzArgs) -> PathBuf {
    args.output.clone().unwrap_or_else(|| PathBuf::from(PLAN))
}

fn write(path: &Path, text: &str) -> std::io::Result<()> {
    let folder = path.parent().unwrap_or(Path::new("."));
    let mut file = tempfile::NamedTempFile::new_in(folder)?;
    std::io::Write::write_all(&mut file, text.as_bytes())?;
    file.persist(path).map(drop).map_err(|error| error.error)
}

/// The command that tries the same case once more. Its plan lies elsewhere: it would take
/// the place of the one that shows what else was found.
fn again(args: &FuzzArgs, case: u64, redactor: &Redactor) -> Option<String> {
    let plan = plan_path(args).with_file_name(format!("case-{case}.yaml"));
    let new = [
        ("seed", "--seed", args.seed.to_string()),
        ("skip", "--skip", case.to_string()),
        ("max_calls", "--max-calls", "1".to_owned()),
        ("output", "--output", plan.display().to_string()),
    ];
    args.server.source.retyped.with_flags(&new, redactor)
}

/// Nothing secret leaves, wherever the server said it.
fn redact(report: &mut FuzzReport, redactor: &Redactor) {
    let clean = |text: &mut String| *text = redactor.redact(text).into_owned();
    clean(&mut report.server);
    for tool in &mut report.tools {
        clean(&mut tool.name);
    }
    for finding in &mut report.findings {
        clean(&mut finding.tool);
        clean(&mut finding.pointer);
        clean(&mut finding.tried);
        clean(&mut finding.what);
        clean(&mut finding.stderr_tail);
        for call in &mut finding.calls {
            clean(&mut call.tool);
            redactor.redact_json(&mut call.arguments);
        }
        if let Some(probe) = &mut finding.probe {
            clean(&mut probe.tool);
            redactor.redact_json(&mut probe.arguments);
            if let Some(text) = &mut probe.text {
                clean(text);
            }
        }
    }
    for notice in &mut report.notices {
        clean(&mut notice.tool);
        clean(&mut notice.pointer);
        clean(&mut notice.tried);
        clean(&mut notice.what);
        redactor.redact_json(&mut notice.arguments);
    }
    for tool in &mut report.left_out {
        clean(&mut tool.name);
        clean(&mut tool.why);
    }
}

#[cfg(test)]
mod tests {
    use super::is_loopback;

    #[test]
    fn only_this_machine_is_loopback() {
        for (url, wanted) in [
            ("http://127.0.0.1:80/mcp", true),
            ("http://127.9.9.9", true),
            ("http://localhost/mcp", true),
            ("http://[::1]:8/mcp", true),
            ("http://user@localhost:8", true),
            ("http://localhost.evil.example", false),
            ("http://127.0.0.1.evil.example", false),
            ("http://localhost@evil.example/", false),
            ("https://example.com", false),
            ("http://10.0.0.1", false),
        ] {
            assert_eq!(is_loopback(url), wanted, "{url}");
        }
    }
}
