//! `jelly doctor`: clients' configurations → what is wrong with each server →
//! an exit code.

pub mod ask;
pub mod examine;
pub mod find;
mod sight;
mod trial;

use super::out::{say, say_in};
use super::settings::World;
use super::stage::{Stage, on_stage, unless_interrupted};
use crate::cli::args::{ColorChoice, DoctorArgs, DoctorFormat};
use crate::cli::complain::{complain, fault};
use crate::report::{DoctorOptions, doctor_md, doctor_text};
use examine::{Examiner, examine_all};
use find::FoundConfigs;
use jelly_base::model::{
    Checkup, CheckupCounts, CheckupState, DoctorReport, ExitCode, FindingLevel, SCHEMA_VERSION,
};
use jelly_base::text::Notation;
use jelly_base::text::redact::Redactor;
use jelly_harness::exec::CheckupSettings;
use jelly_setup::doctor::Platform;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Looks after the servers of the configurations.
pub fn doctor(args: &DoctorArgs, color: ColorChoice, world: &World) -> ExitCode {
    on_stage(&args.own_rules, color, world, async |stage| {
        look(args, color, world, &stage).await
    })
}

async fn look(args: &DoctorArgs, color: ColorChoice, world: &World, stage: &Stage) -> ExitCode {
    let found = match find::find(&args.configs, world) {
        Ok(found) => found,
        Err(message) => {
            complain(&message);
            return ExitCode::InvalidInput;
        }
    };
    for problem in found
        .summaries
        .iter()
        .filter_map(|file| file.error.as_ref())
    {
        complain(&format!("error: {}: {}", problem.at, problem.what));
        if let Some(help) = &problem.help {
            complain(&format!("help: {help}"));
        }
    }
    let redactor = Redactor::none();
    let settings = CheckupSettings {
        startup_timeout: args.timeout,
        redactor: redactor.clone(),
        starts: Arc::new(Semaphore::new(usize::from(args.jobs))),
    };
    let platform = args.platform.unwrap_or(Platform::current());
    let work = async {
        let starts = !args.dry_run && platform == Platform::current();
        let refused = match starts {
            true => ask::refused(&found, world).await,
            false => BTreeSet::new(),
        };
        let unstarted = match starts {
            true => refused.clone(),
            false => found.configs.iter().map(|c| c.path.clone()).collect(),
        };
        let answers = ask::answers(&found.configs, &unstarted, world, &redactor).await;
        let examiner = Examiner {
            platform,
            unstarted: &unstarted,
            refused: &refused,
            answers: &answers,
            settings: &settings,
            engine: &stage.rules,
            world,
            home: found.home.as_deref(),
        };
        (examine_all(&examiner, &found).await, refused)
    };
    let (servers, refused) = match unless_interrupted(&stage.interrupt, work).await {
        Ok(servers) => servers,
        Err(code) => return code,
    };
    let (report, code) = conclude(found, servers, args.strict, !refused.is_empty());
    print(args.format, &report, code, color, world)
}

fn conclude(
    found: FoundConfigs,
    servers: Vec<Checkup>,
    strict: bool,
    refused: bool,
) -> (DoctorReport, ExitCode) {
    let mut counts = CheckupCounts {
        servers: servers.len(),
        ..CheckupCounts::default()
    };
    for server in &servers {
        match server.state {
            CheckupState::Healthy => counts.healthy += 1,
            CheckupState::Unwell => counts.unwell += 1,
            CheckupState::Broken => counts.broken += 1,
            CheckupState::Unchecked => counts.unchecked += 1,
            CheckupState::Disabled => counts.disabled += 1,
        }
        // What is not used does no harm.
        if server.state == CheckupState::Disabled {
            continue;
        }
        for finding in &server.findings {
            match finding.level {
                FindingLevel::Error => counts.errors += 1,
                FindingLevel::Warning => counts.warnings += 1,
            }
        }
    }
    let unread = found.summaries.iter().any(|file| file.error.is_some());
    let wrong = counts.unwell + counts.broken + counts.errors > 0;
    let code = if unread {
        ExitCode::InvalidInput
    } else if wrong || refused || strict && counts.warnings > 0 {
        ExitCode::NeedsUserHelp
    } else {
        ExitCode::Passed
    };
    let report = DoctorReport {
        schema_version: SCHEMA_VERSION,
        exit_code: code.code(),
        files: found.summaries,
        counts,
        servers,
    };
    (report, code)
}

fn print(
    format: DoctorFormat,
    report: &DoctorReport,
    code: ExitCode,
    color: ColorChoice,
    world: &World,
) -> ExitCode {
    let text = match format {
        DoctorFormat::Human => doctor_text(
            report,
            DoctorOptions {
                color: world.color(color, world.stdout_is_terminal),
                width: world.width().unwrap_or(100),
            },
        ),
        DoctorFormat::Md => doctor_md(report),
        DoctorFormat::Json => match serde_json::to_string_pretty(report) {
            Ok(text) => return say_in(Notation::Json, text + "\n", code),
            Err(error) => return fault(&format!("the findings are no JSON: {error}")),
        },
    };
    say(text, code)
}
