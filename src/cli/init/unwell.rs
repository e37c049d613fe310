//! What is said of a server that can't be started: the doctor's diagnosis, in
//! the words of who typed a command.

use super::super::doctor::examine::Examiner;
use super::super::named_server::{in_words_of_commands, leave_blanks};
use super::super::retyped::with_blanks;
use super::super::settings::World;
use super::origin::Origin;
use super::shared::Shared;
use crate::cli::args::InitArgs;
use crate::cli::refusal::Refusal;
use crate::report::{DoctorOptions, server_text};
use jelly_base::model::Fix;
use jelly_base::text::redact::Redactor;
use jelly_base::text::shell_word;
use jelly_harness::exec::{CheckupSettings, Examined, ExecSettings};
use jelly_setup::doctor::{Platform, Reached};
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
            let call = (&shared.args.retyped, &exec.redactor);
            in_words_of_commands(&mut checkup, &origin.config, origin.entry(), call);
        }
        if let (true, Some(Reached::Url { url, .. })) =
            (wants_authorization, &origin.entry().reached)
            && let Some(diagnosis) = &mut checkup.diagnosis
        {
            diagnosis.advice.fix = authorizing(shared.args, &url.text, &exec.redactor);
        }
        leave_blanks(&mut checkup, &exec.redactor);
        let options = DoctorOptions {
            color: world.colors_stderr(),
            width: world.width().unwrap_or(100),
        };
        text.push_str("\n\n");
        text.push_str(&server_text(&checkup, options));
    }
    Refusal::needs_help(text.trim_end())
}

/// How a server that wants to know who asks is told so. What was given did not do.
fn authorizing(args: &InitArgs, url: &str, redactor: &Redactor) -> Vec<Fix> {
    let url = shell_word(&with_blanks(&redactor.redact(url)));
    let flags = match args.retyped.flags_but(&["login"], redactor) {
        flags if flags.is_empty() => flags,
        flags => format!("{flags} "),
    };
    vec![
        Fix::text(
            "With a token in the environment (here in TOKEN; the plan holds its name alone):",
        ),
        Fix::command(format!(
            "jelly init --header 'Authorization: Bearer ${{secret:TOKEN}}' {flags}{url}"
        )),
        Fix::text("With a login of yours, where the server has OAuth:"),
        Fix::command(format!("jelly login {url}")),
        Fix::command(format!("jelly init --login {flags}{url}")),
    ]
}
