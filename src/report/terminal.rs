//! The terminal: plain lines that can be searched, and on a TTY a progress
//! view besides.
//!
//! [`TerminalReporter`] follows events and writes to the writer it was given.
//! It must not know what is a TTY, nor steer anything: what it is to do stands
//! in [`TerminalOptions`].

mod alike;
mod closing;
mod margin;
pub(in crate::report) mod paint;
mod progress;
mod under_way;

use super::json::Results;
use super::kinds::repair_kinds;
use super::{view, words};
use alike::AlikeLines;
pub use closing::told_as;
use indicatif::MultiProgress;
use jelly_base::model::{
    ActionKind, Because, Event, FailureReport, IterationReport, RunReport, Section, StepReport,
    StepState, json_word,
};
use jelly_base::text::{first_names, human_duration, one_line, plural};
pub use margin::progress_target;
use paint::{TerminalPaint, Tone};
use progress::Progress;
use std::collections::{BTreeMap, BTreeSet, HashMap};
use std::io::{self, Write};
pub use under_way::UnderWay;
use view::FailureCluster;

/// Longest foreign text on one line, in bytes.
const TEXT_MAX: usize = 2000;

/// Steps of one cause that are named; the others are counted.
const NAMES: usize = 5;

/// Causes of an iteration that are told with their telling line, and those
/// that are told at all.
const CAUSES_IN_FULL: usize = 10;
const CAUSES: usize = 40;

/// Longest diff of a repair that is shown whole, in lines.
const DIFF_LINES: usize = 16;

/// How much is told of the failures of one cause.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Form {
    InFull,
    Brief,
    /// The iteration before failed so, too.
    AsBefore,
}

/// By what the causes of two iterations are compared.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Cause {
    server: Option<String>,
    /// A repair may leave the fingerprint as it is, and bring another cause to
    /// light.
    rule: String,
    fingerprint: String,
}

/// What an iteration said of a cause.
#[derive(Debug, PartialEq, Eq)]
struct Sighting {
    failures: usize,
    blame: String,
}

impl From<&FailureCluster<'_>> for Cause {
    fn from(cluster: &FailureCluster<'_>) -> Self {
        let failure = cluster.failures[0];
        Self {
            server: failure.server.clone(),
            rule: failure.diagnosis.rule.clone(),
            fingerprint: failure.diagnosis.fingerprint.clone(),
        }
    }
}

impl From<&FailureCluster<'_>> for Sighting {
    fn from(cluster: &FailureCluster<'_>) -> Self {
        Self {
            failures: cluster.failures.len(),
            blame: view::blame_of(cluster.failures[0]),
        }
    }
}

/// How to write.
#[derive(Debug, Clone, Default)]
pub struct TerminalOptions {
    pub color: bool,
    /// Only the verdict and the help summary.
    pub quiet: bool,
    /// Columns to wrap at, held within 60 and 200; `None` never wraps.
    pub width: Option<u16>,
    /// Put before what a line is about, where several plans run side by side.
    pub label: Option<String>,
}

/// Shows one run, while it happens and at its end.
#[derive(Debug)]
pub struct TerminalReporter<W> {
    out: W,
    paint: TerminalPaint,
    options: TerminalOptions,
    progress: Option<Progress>,
    /// Servers whose noise was shown in this iteration.
    noisy: BTreeSet<String>,
    /// How servers were started last.
    argvs: BTreeMap<String, Vec<String>>,
    alike: AlikeLines,
    /// The causes of the iteration before.
    causes: HashMap<Cause, Sighting>,
    error: Option<io::Error>,
}

impl<W: Write> TerminalReporter<W> {
    pub fn new(out: W, options: TerminalOptions) -> Self {
        Self {
            out,
            paint: TerminalPaint::new(options.color, options.width),
            options,
            progress: None,
            noisy: BTreeSet::new(),
            argvs: BTreeMap::new(),
            alike: AlikeLines::default(),
            causes: HashMap::new(),
            error: None,
        }
    }

    /// Draws progress, too. Reporters of plans that run side by side share one
    /// [`MultiProgress`]; it belongs to whoever knows that stderr is a TTY.
    #[must_use]
    pub fn with_progress(mut self, multi: MultiProgress) -> Self {
        if !self.options.quiet {
            self.progress = Some(Progress::new(multi));
        }
        self
    }

    /// Shows an event. A writer that fails is kept in mind for `finish`.
    pub fn event(&mut self, event: &Event) {
        if let Some(progress) = &mut self.progress {
            progress.event(event);
        }
        if self.options.quiet {
            return;
        }
        match event {
            Event::RunStarted {
                plan,
                servers,
                steps,
            } => {
                let size = format!(
                    "{}, {}",
                    plural(*servers as u64, "server"),
                    plural(*steps as u64, "step")
                );
                self.say("RUN", Tone::Strong, &format!("{} ({size})", name(plan)));
            }
            Event::IterationStarted { index, steps } => {
                self.noisy.clear();
                self.alike.begin(*index);
                if *index > 1 {
                    let text = format!("iteration {index} ({})", plural(*steps as u64, "step"));
                    self.say("AGAIN", Tone::Strong, &text);
                }
            }
            Event::ServerStarting { server, argv } => {
                // Later iterations start it as the first did, unless a repair
                // changed it. On a TTY a spinner says so.
                let last = self.argvs.insert(server.clone(), argv.clone());
                if self.progress.is_none() && last.as_ref() != Some(argv) {
                    let argv = name(&words::shell_line(argv));
                    self.say("START", Tone::Faint, &format!("{}: {argv}", name(server)));
                }
            }
            Event::ServerReady {
                server,
                era,
                protocol_version,
                tools,
                elapsed,
            } => {
                let text = format!(
                    "{} ({} {}, {}, {})",
                    name(server),
                    name(era),
                    name(protocol_version),
                    plural(*tools as u64, "tool"),
                    human_duration(*elapsed)
                );
                self.say("READY", Tone::Faint, &text);
            }
            Event::ServerFailed { server, message } => {
                let text = format!("{}: {}", name(server), name(message));
                self.say("DEAD", Tone::Bad, &text);
            }
            Event::ServerRestarting { server } => {
                self.say("RESTART", Tone::Warn, &name(server));
            }
            // Only the progress view shows what is under way.
            Event::StepStarted { .. } | Event::Triaging { .. } => {}
            // Told on stderr, where that is wanted.
            Event::MessageSent { .. } | Event::MessageReceived { .. } => {}
            Event::StepFinished { step, message } => self.step(step, message.as_deref()),
            Event::Noise { server, line: said } => {
                // The report counts them all.
                if self.noisy.insert(server.clone()) {
                    let text =
                        format!("{} prints on stdout: {}", name(server), one_line(said, 200));
                    self.say("NOISE", Tone::Warn, &text);
                }
            }
            Event::WireChecked { server, check } => {
                let tone = match check.failing().next() {
                    Some(_) => Tone::Bad,
                    None => Tone::Good,
                };
                let text = format!("{}: {}", name(server), view::wire_check(check));
                self.say("WIRE", tone, &text);
            }
            Event::IterationFinished { report } => self.iteration(report),
            Event::Waiting { reason, wait } => {
                let wait = human_duration(*wait);
                let text = format!("{wait}, then {}", json_word(reason));
                self.say("WAIT", Tone::Faint, &text);
            }
            Event::HookStarted { hook, argv } => {
                let text = format!("{}: {}", name(hook), name(&words::shell_line(argv)));
                self.say("HOOK", Tone::Strong, &text);
            }
            Event::Interrupted => self.say(
                "STOP",
                Tone::Bad,
                "interrupted: stopping the servers; a second signal kills them",
            ),
            Event::Warning { message } => self.say("WARN", Tone::Warn, &name(message)),
        }
    }

    /// Writes the end of one run: the verdict, where the reports lie, and last
    /// of all, where help is needed, the help summary.
    ///
    /// # Errors
    /// The first thing that the writer said no to, in an event or here.
    pub fn finish(&mut self, report: &RunReport) -> io::Result<()> {
        let text = closing::one(&self.paint, report, self.options.quiet);
        self.close(&text)
    }

    /// Writes the end of a call with several plans: a line for each, then the
    /// help summaries.
    ///
    /// # Errors
    /// As [`TerminalReporter::finish`].
    pub fn finish_all(&mut self, results: &Results<'_>) -> io::Result<()> {
        let text = closing::several(&self.paint, results, self.options.quiet);
        self.close(&text)
    }

    /// Ends the view of one plan of several, whose end [`finish_all`] tells.
    ///
    /// # Errors
    /// As [`TerminalReporter::finish`].
    ///
    /// [`finish_all`]: TerminalReporter::finish_all
    pub fn leave(&mut self) -> io::Result<()> {
        self.close("")
    }

    fn close(&mut self, text: &str) -> io::Result<()> {
        if let Some(progress) = self.progress.take() {
            progress.clear();
        }
        self.put(text);
        self.error.take().map_or_else(|| self.out.flush(), Err)
    }

    fn step(&mut self, step: &StepReport, message: Option<&str>) {
        // Who selects a few steps of many wants to read of those.
        if step.because == Some(Because::NotSelected) {
            return;
        }
        let (word, tone) = match step.state {
            StepState::Passed if step.flaky => ("FLAKY", Tone::Warn),
            StepState::Passed => ("PASS", Tone::Good),
            StepState::Failed => ("FAIL", Tone::Bad),
            StepState::Blocked => ("BLOCKED", Tone::Warn),
            StepState::Quarantined => ("HELD", Tone::Warn),
            StepState::Skipped => ("SKIP", Tone::Faint),
        };
        let mut text = [&*name(&step.server), "/", &name(&step.id)].concat();
        if step.section != Section::Steps {
            text.push_str(&format!(" [{}]", json_word(&step.section)));
        }
        let took = step.duration_ms.map(words::fine_duration);
        let aside: Vec<String> = took.into_iter().chain(view::adapter(step)).collect();
        if !aside.is_empty() {
            text.push_str(&[" (", &aside.join(", "), ")"].concat());
        }
        let why = message
            .map(name)
            .or_else(|| step.because.as_ref().map(|why| name(&words::because(why))));
        if let Some(why) = why {
            let name = format!("{}/{}", name(&step.server), name(&step.id));
            if step.state != StepState::Passed && !self.alike.tells(word, &name, &why) {
                return;
            }
            text.push_str(&format!(": {why}"));
        }
        self.say(word, tone, &text);
    }

    /// The steps of an iteration that no line was about.
    fn rest_of_steps(&mut self) {
        for (word, rest) in self.alike.take_rest() {
            let tone = if word == "SKIP" {
                Tone::Faint
            } else {
                Tone::Bad
            };
            if !rest.as_before.is_empty() {
                let names = first_names(&rest.as_before, rest.as_before.len(), NAMES);
                let text = format!("{names}: as in iteration {}", self.alike.before());
                self.say(word, tone, &text);
            }
            let too_many = rest.too_many.len();
            if too_many > 0 {
                let more = plural(too_many, "more step");
                let names = first_names(&rest.too_many, too_many, NAMES);
                self.say(word, tone, &format!("and {more}: {names}"));
            }
        }
    }

    /// What triage found in an iteration, and what comes next.
    fn iteration(&mut self, report: &IterationReport) {
        self.rest_of_steps();
        let action = &report.action;
        if report.failures.is_empty() && action.kind == ActionKind::Stop {
            return;
        }
        let paint = &self.paint;
        let label = self.label();
        let mut text = format!(
            "\n{label}iteration {}: {}\n",
            report.index,
            words::totals(report)
        );
        let mut clusters = view::failure_clusters(report);
        view::put_code_first(&mut clusters, CAUSES_IN_FULL);
        let causes = clusters.iter().map(|c| (Cause::from(c), Sighting::from(c)));
        let causes: HashMap<Cause, Sighting> = causes.collect();
        for (at, cluster) in clusters.iter().take(CAUSES).enumerate() {
            let sighting = Sighting::from(cluster);
            let form = match self.causes.get(&Cause::from(cluster)) {
                Some(before) if *before == sighting => Form::AsBefore,
                // Only the verdict is new.
                Some(before) if before.failures == sighting.failures => Form::Brief,
                Some(_) | None if at < CAUSES_IN_FULL => Form::InFull,
                Some(_) | None => Form::Brief,
            };
            text.push_str(&self.cluster(cluster, report, form));
        }
        if let Some(untold) = clusters.get(CAUSES..).filter(|untold| !untold.is_empty()) {
            let failures: usize = untold.iter().map(|cluster| cluster.failures.len()).sum();
            let more = format!(
                "and {}, of {}; the report has them all",
                plural(untold.len(), "more cause"),
                plural(failures, "failure")
            );
            text.push_str(&paint.hanging("  ", Tone::Bad, &more, 6));
        }
        let head = format!("  -> {}: ", json_word(&action.kind));
        text.push_str(&paint.hanging(&head, Tone::Strong, &name(&action.reason), 6));
        for kind in repair_kinds(action.repairs.iter().map(|repair| (repair, ()))) {
            let repair = kind.first;
            let what = format!("     {} on {}: ", name(&repair.id), kind.targets(name));
            text.push_str(&paint.hanging(&what, Tone::Good, &name(&repair.explanation), 7));
            text.push_str(&paint.diff(&repair.diff, "       ", DIFF_LINES));
        }
        if let Some(hook) = &action.hook {
            let ended = view::hook_end(hook, name);
            let head = format!("     {}: ", name(&hook.hook));
            text.push_str(&paint.hanging(&head, Tone::Strong, &ended, 7));
            for change in &hook.changes {
                let tone = if change.kind.weakens() {
                    Tone::Bad
                } else {
                    Tone::Plain
                };
                text.push_str(&paint.hanging("     - ", tone, &name(&change.what), 7));
            }
            if let Some(diff) = &hook.diff {
                text.push_str(&paint.diff(diff, "       ", DIFF_LINES));
            }
        }
        self.causes = causes;
        // The verdict follows at once, with a blank line of its own.
        if action.kind != ActionKind::Stop {
            text.push('\n');
        }
        self.put(&text);
    }

    /// Whose failures they are, their diagnosis, and the telling line.
    fn cluster(
        &self,
        cluster: &FailureCluster<'_>,
        iteration: &IterationReport,
        form: Form,
    ) -> String {
        let failure = cluster.failures[0];
        let whose = |failure: &&FailureReport| {
            let aside = view::mismatch_aside(failure);
            format!("{}{aside}", name(&view::subject(failure)))
        };
        // One cause may show in several ways, and each failure keeps its own label.
        let (alike, others): (Vec<&FailureReport>, Vec<&FailureReport>) = cluster
            .failures
            .iter()
            .copied()
            .partition(|other| other.diagnosis.root_cause == failure.diagnosis.root_cause);
        let all = alike.len();
        let subject = format!("  {}: ", first_names(alike.iter().map(whose), all, NAMES));
        let verdict = view::blame_of(failure);
        let mut cause = format!("{} ({verdict})", name(&failure.diagnosis.root_cause));
        if form == Form::AsBefore {
            cause.push_str(&format!(", as in iteration {}", iteration.index - 1));
        }
        let mut text = self.paint.hanging(&subject, Tone::Bad, &cause, 6);
        if form == Form::InFull {
            // The message of one of several names what it is about, and where a
            // path finds nothing, it shows what there is.
            let assertion = failure.assertion.as_ref();
            let is_told = view::which_mismatch(failure).is_some()
                || assertion.is_some_and(|assertion| assertion.nearest.is_some());
            let difference = assertion.and_then(|assertion| assertion.difference.as_ref());
            let telling = view::telling_line(failure).filter(|_| !is_told);
            let telling = match difference {
                Some(difference) => name(&difference.first),
                None => telling.unwrap_or_else(|| name(&failure.message)),
            };
            text.push_str(&self.paint.hanging("      ", Tone::Plain, &telling, 6));
            if let Some(difference) = difference {
                text.push_str(&self.paint.diff(&difference.hunks, "      ", DIFF_LINES));
            }
            if let Some(instead) = view::instead(failure, iteration) {
                let instead = name(&instead);
                text.push_str(&self.paint.hanging("      ", Tone::Plain, &instead, 6));
            }
        }
        // In the order in which each label comes first.
        let mut labels: Vec<&str> = Vec::new();
        for other in &others {
            if !labels.contains(&other.diagnosis.root_cause.as_str()) {
                labels.push(&other.diagnosis.root_cause);
            }
        }
        for label in labels {
            let with_label = |other: &&&FailureReport| other.diagnosis.root_cause == label;
            let by_label: Vec<&&FailureReport> = others.iter().filter(with_label).collect();
            let names = first_names(by_label.iter().copied().map(whose), by_label.len(), NAMES);
            let label = name(label);
            let verdict = view::blame_of(by_label[0]);
            let told = format!("{label} ({verdict}), of the same cause");
            text.push_str(
                &self
                    .paint
                    .hanging(&format!("  {names}: "), Tone::Bad, &told, 6),
            );
        }
        for more in &cluster.left_out {
            let more = format!("and {more}");
            text.push_str(&self.paint.hanging("  ", Tone::Bad, &more, 6));
        }
        text
    }

    fn label(&self) -> String {
        self.options
            .label
            .as_deref()
            .map(|label| format!("{}: ", name(label)))
            .unwrap_or_default()
    }

    /// One line: a word in its column, then what it is about.
    fn say(&mut self, word: &str, tone: Tone, text: &str) {
        let text = self.label() + text;
        let block = self.paint.hanging(&format!("{word:<7}  "), tone, &text, 9);
        self.put(&block);
    }

    /// Writes whole lines, beside the progress view where there is one.
    fn put(&mut self, text: &str) {
        if self.error.is_some() {
            return;
        }
        let out = &mut self.out;
        let result = match &self.progress {
            None => out.write_all(text.as_bytes()),
            // `println` of a progress view loses its text where the view is
            // hidden; this does not.
            Some(progress) => progress.suspend(|| {
                out.write_all(text.as_bytes())?;
                out.flush()
            }),
        };
        self.error = result.err();
    }
}

/// Foreign text as part of a line.
fn name(text: &str) -> String {
    one_line(text, TEXT_MAX)
}

#[cfg(test)]
mod tests;
