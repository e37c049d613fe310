//! One cause after the other, and what mends it.

use super::entries::{AS_IT_IS, Started};
use super::remote;
use super::sight::Sight;
use super::steps::{NODE_VERSION, Remedy, SHOW_HELP};
use crate::doctor::candidates::Candidate;
use crate::doctor::entry::{Config, Entry, Place};
use crate::doctor::launcher::Package;
use jelly_base::model::{Diagnosis, Failure, Fix, FixKind};
use jelly_base::text::redact::Redactor;
use jelly_base::text::{LazyPattern, shell_word as word};
use std::path::Path;

/// Of stderr, this much of the end is looked at.
const LOOKED_AT: usize = 64 * 1024;

/// The text before what only its author can do, which announces no command.
pub(super) const TO_ITS_AUTHOR: &str = "To its author:";

/// Rules of a runtime that does not fit, where another one is not the first
/// thing to get.
const OTHERWISE: &[&str] = &[
    "node/native-rebuild",
    "node/unknown-ending",
    "process/old-libc",
    "python/built-without",
    "python/collections-moved",
    "python/distutils",
    "python/gpu-missing",
    "python/module-shadowed",
    "python/name-removed",
    "python/python-2",
    "python/python-2-at-start",
];

/// Rules that say all: nothing of the entry mends what was built for another system.
const BUILT_FOR_OTHERS: &[&str] = &["process/loader-missing"];

/// What is known beside the diagnosis.
#[derive(Clone, Copy)]
pub struct RemedyContext<'a> {
    pub config: &'a Config,
    pub entry: &'a Entry,
    pub failure: &'a Failure,
    pub redactor: &'a Redactor,
    pub home: Option<&'a Path>,
    pub sight: &'a dyn Sight,
    /// With what it answered over stdio when that was tried.
    pub proven: Option<&'a Candidate>,
    /// Whether that was tried at all.
    pub tried: bool,
}

/// Makes the advice one for this entry of a client's configuration: what to
/// write where first.
pub fn prescribe(diagnosis: &mut Diagnosis, context: &RemedyContext<'_>) {
    let format = context.config.client.format();
    let Some(started) = Started::new(context.entry, format, context.redactor) else {
        if let Some(remedy) = remote::remedy(diagnosis, context) {
            remedy.apply(&mut diagnosis.advice, context.config, context.redactor);
        }
        return;
    };
    let doctor = Doctor::new(diagnosis, context, started);
    if let Some(seen) = doctor.seen(&diagnosis.root_cause) {
        seen.into(diagnosis, context.config, context.redactor);
        return;
    }
    let advice = &mut diagnosis.advice;
    if diagnosis.root_cause == "startup_timeout"
        && let Some(last) = doctor.last_words()
    {
        advice.why = format!("It ran and was not ready. Its last words: {last}");
    }
    doctor
        .remedy(&diagnosis.root_cause)
        .apply(advice, context.config, context.redactor);
    // Not those of the shell that it is pasted into, or of what is given to the
    // server.
    for fix in &mut advice.fix {
        match (fix.id.as_deref(), doctor.node()) {
            (Some(NODE_VERSION), Some(node)) => {
                *fix = Fix::command(format!("{} --version", word(&node.display().to_string())));
            }
            (Some(SHOW_HELP), _) => *fix = Fix::command(doctor.usage()),
            _ => {}
        }
    }
    // What is left out of a command, nobody can paste.
    let is_whole = |fix: &Fix| !(fix.is_command() && fix.text.contains(AS_IT_IS));
    advice.fix.retain(is_whole);
    // What announces a command that could not be filled in announces nothing.
    let mut next = FixKind::Text;
    for at in (0..advice.fix.len()).rev() {
        let Fix { kind, text, .. } = &advice.fix[at];
        let announces = text.ends_with(':') && text != TO_ITS_AUTHOR;
        if *kind == FixKind::Text && next == FixKind::Text && announces {
            advice.fix.remove(at);
        } else {
            next = *kind;
        }
    }
}

pub(super) struct Doctor<'a> {
    pub(super) context: &'a RemedyContext<'a>,
    pub(super) started: Started<'a>,
    /// Evidence and diagnosis.
    pub(super) told: String,
    pub(super) stderr: &'a str,
    pub(super) rule: String,
}

/// The first group `it` of the first pattern that a text matches.
pub(super) fn found(patterns: &[LazyPattern], text: &str) -> Option<String> {
    patterns.iter().find_map(|pattern| {
        let found = pattern.captures(text)?;
        Some(found.name("it")?.as_str().to_owned())
    })
}

pub(super) fn blank(name: &str) -> String {
    format!("<{}>", name.trim_matches(['<', '>', ' ']))
}

impl<'a> Doctor<'a> {
    pub(super) fn new(
        diagnosis: &Diagnosis,
        context: &'a RemedyContext<'a>,
        started: Started<'a>,
    ) -> Self {
        let stderr = context.failure.stderr.as_deref().unwrap_or_default();
        let evidence = diagnosis.evidence.as_ref().map_or("", |e| e.text.as_str());
        Self {
            context,
            started,
            told: format!("{evidence}\n{}", diagnosis.advice.what),
            stderr: &stderr[stderr.ceil_char_boundary(stderr.len().saturating_sub(LOOKED_AT))..],
            rule: diagnosis.rule.clone(),
        }
    }
}

impl Doctor<'_> {
    /// What mends this cause.
    pub(super) fn remedy(&self, cause: &str) -> Remedy {
        match cause {
            "command_not_found" => self.command(),
            "package_not_found" => self.package(),
            "missing_argument" => self.argument(),
            "missing_directory" => self.folder(),
            "missing_file" => self.file(),
            "missing_env_var" => self.variable(),
            "invalid_config" => self.settings(),
            "missing_module" if OTHERWISE.contains(&&*self.rule) => Remedy::new(),
            "missing_module" => self.module(),
            "invalid_argument" => self.refused(),
            "not_executable" if BUILT_FOR_OTHERS.contains(&&*self.rule) => Remedy::new(),
            "not_executable" => self.executable(),
            "runtime_version_mismatch" if OTHERWISE.contains(&&*self.rule) => Remedy::new(),
            "runtime_version_mismatch" => self.runtime(),
            "port_in_use" => self.port(),
            "dependency_version_mismatch" if self.is_pythons() => self.python_dependency(),
            "dependency_version_mismatch" => self.node_dependency(),
            "stdout_pollution" => self.noise(),
            "transport_mismatch" => self.transport(),
            "waits_for_input" => self.person(),
            // The command that shows why is told apart.
            "startup_timeout" => self.silence(),
            _ => Remedy::new(),
        }
    }

    pub(super) fn at(&self, place: Place) -> String {
        self.context.config.at(place)
    }

    pub(super) fn at_entry(&self) -> Place {
        self.context.entry.place
    }

    /// Where the arguments stand, or would.
    pub(super) fn at_args(&self) -> Place {
        let first = self.started.args.first();
        first.map_or(self.context.entry.place, |arg| arg.place)
    }

    /// Where this argument stands.
    pub(super) fn at_arg(&self, index: usize) -> Place {
        self.started.args[index].place
    }

    /// The package that a launcher of npm fetches.
    pub(super) fn fetched_by_npx(&self) -> Option<Package<'_>> {
        self.started
            .fetched()
            .filter(|fetched| fetched.launcher == "npx")
    }

    /// What the evidence says, and the whole stderr.
    pub(super) fn whole_story(&self) -> String {
        format!("{}\n{}", self.told, self.stderr)
    }

    /// All that it wrote on stderr and, between messages, on stdout.
    pub(super) fn all_said(&self) -> String {
        format!(
            "{}\n{}",
            self.stderr,
            self.context.failure.stdout_noise.join("\n")
        )
    }

    /// What prints how the server is used, or what starts it, where that refuses a flag.
    pub(super) fn usage(&self) -> String {
        let end = self.started.program_end();
        let mut words: Vec<String> = self.started.words().into_iter().take(end).collect();
        let is_refused = |text: &String| text.starts_with("--") && self.told.contains(&**text);
        if words.iter().any(is_refused) {
            words.clear();
        }
        format!("{} --help", self.started.line(&words))
    }
}
