//! `jelly doctor`: clients' configurations → what is wrong with each server →
//! an exit code.

pub mod ask;
mod event_stream;
pub mod examine;
pub mod find;
pub mod sight;
mod silent;
mod trial;

use super::busy::Busy;
use super::out::{say, say_json};
use super::refusal::{Refusal, complain};
use super::runtime::{CommandContext, unless_interrupted, with_runtime};
use super::settings::World;
use crate::cli::args::{DoctorArgs, DoctorFormat};
use crate::report::{DoctorOptions, doctor_md, doctor_text};
use examine::{Examiner, examine_all};
use find::FoundConfigs;
use jelly_base::model::{
    Checkup, CheckupCounts, CheckupState, DoctorReport, ExitCode, FindingLevel, SCHEMA_VERSION,
};
use jelly_base::text::redact::Redactor;
use jelly_harness::exec::CheckupSettings;
use jelly_setup::doctor::Platform;
use std::collections::BTreeSet;
use std::sync::Arc;
use tokio::sync::Semaphore;

/// Looks after the servers of the configurations.
pub fn doctor(args: &DoctorArgs, world: &World) -> Result<ExitCode, Refusal> {
    with_runtime(&args.own_rules, world, async |context| {
        look(args, world, &context).await
    })
}

async fn look(
    args: &DoctorArgs,
    world: &World,
    context: &CommandContext,
) -> Result<ExitCode, Refusal> {
    let found = find::find(&args.configs, world)?;
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
            engine: &context.rules,
            world,
            home: found.home.as_deref(),
        };
        let busy = Busy::waiting(world);
        let servers = examine_all(&examiner, &found, &busy).await;
        drop(busy);
        (servers, refused)
    };
    let (servers, refused) = unless_interrupted(&context.interrupt, work).await?;
    let (report, code) = conclude(found, servers, args.strict, !refused.is_empty());
    match args.format {
        DoctorFormat::Human => say(doctor_text(&report, doctor_options(world)), code),
        DoctorFormat::Md => say(doctor_md(&report), code),
        DoctorFormat::Json => say_json(&report, code),
    }
}

fn doctor_options(world: &World) -> DoctorOptions {
    DoctorOptions {
        color: world.colors_stdout(),
        width: world.width().unwrap_or(100),
    }
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
