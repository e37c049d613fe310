//! Each server of the configurations: blanks filled, looked at, started, and
//! diagnosed.

use super::super::again::run_here;
use super::super::busy::Busy;
use super::super::files::text_within;
use super::super::settings::World;
use super::ask::{Answers, answers_of};
use super::event_stream::only_streamable_at;
use super::find::FoundConfigs;
use super::sight::Machine;
use super::silent::{hand, where_it_waits};
use super::trial::{self, CandidateTrial, try_out};
use jelly_base::model::{Checkup, CheckupState, Finding, FindingLevel, Fix, Lint, Phase};
use jelly_base::text::redact::{Redactor, holds_secret, looks_secret, may_be_secret, show_argv};
use jelly_base::text::{sanitize, shell_path};
use jelly_harness::exec::{CheckupSettings, Examined, examine, preflight};
use jelly_process::CommandSpec;
use jelly_setup::doctor::{
    Config, Entry, Platform, Reached, RemedyContext, Spot, Surroundings, duplicate_names,
    fill_as_client, lint, prescribe, secrets_of, slow_start, without_repeated,
};
use jelly_triage::engine::{Audience, Engine};
use jelly_wire::auth::{AuthSettings, Authorizer, Grant, TokenStore};
use jelly_wire::{Endpoint, Reach};
use std::collections::{BTreeMap, BTreeSet};
use std::io;
use std::path::{Path, PathBuf};
use std::sync::Arc;
use std::time::Duration;
use tokio::task::JoinSet;

/// More lines of stderr than a reader looks at.
const STDERR_LINES: usize = 20;

/// How a server of a configuration is reached, with values for what it leaves
/// open.
///
/// # Errors
/// What has no value, as it is written; nothing where nothing says how.
pub async fn reach_of(
    config: &Config,
    entry: &Entry,
    (folder, home): (&Path, Option<&Path>),
    world: &World,
    redactor: &Redactor,
) -> Result<Reach, Vec<String>> {
    redactor.learn(secrets_of(entry));
    let inputs = answers_of(config, false, world, redactor).await;
    let mut filler = Filler {
        around: Surroundings {
            env: &world.env,
            inputs: &inputs,
            project: folder,
            home,
        },
        redactor,
        logins: world.logins(),
        left: Vec::new(),
    };
    let reached = entry.reached.as_ref().ok_or_else(Vec::new)?;
    let reach = filler.reach(reached, folder, &mut Vec::new());
    match filler.left.is_empty() {
        true => Ok(reach),
        false => Err(filler.left),
    }
}

/// What a person's login to the server at this URL gives.
pub fn stored_login(url: &str, world: &World, redactor: &Redactor) -> Option<Arc<Authorizer>> {
    authorizer_of(url, world.logins()?, redactor)
}

fn authorizer_of(url: &str, logins: TokenStore, redactor: &Redactor) -> Option<Arc<Authorizer>> {
    let settings = AuthSettings {
        server: url.to_owned(),
        grant: Grant::Stored(logins),
        scopes: Vec::new(),
        issuer: None,
        patience: PATIENCE,
        is_offered: true,
    };
    // A URL that is none is told of when it is asked.
    Authorizer::new(settings, redactor).ok().map(Arc::new)
}

/// What no server works without, even if it starts. Of all else that servers
/// that are ready say on stderr, much is of no account.
const SERIOUS: &[&str] = &["missing_argument"];

/// Bytes of an `envFile`.
const ENV_FILE: u64 = 1 << 20;

/// For one request for a token.
const PATIENCE: Duration = Duration::from_secs(10);

/// What all servers share.
pub struct Examiner<'a> {
    pub platform: Platform,
    /// The files whose servers are not started.
    pub unstarted: &'a BTreeSet<PathBuf>,
    /// Those of them where nobody agreed to it.
    pub refused: &'a BTreeSet<PathBuf>,
    pub answers: &'a Answers,
    pub settings: &'a CheckupSettings,
    pub engine: &'a Engine,
    pub world: &'a World,
    pub home: Option<&'a Path>,
}

/// A server before it is started.
struct EntryCheck<'a> {
    config: &'a Config,
    entry: &'a Entry,
    findings: Vec<Finding>,
    notes: Vec<String>,
    /// Absent where the entry does not say it, or has blanks left.
    reach: Option<Reach>,
}

/// Looks after all servers, side by side; in the order of the files.
pub async fn examine_all(
    examiner: &Examiner<'_>,
    found: &FoundConfigs,
    busy: &Busy,
) -> Vec<Checkup> {
    let redactor = &examiner.settings.redactor;
    // Before anything can be shown.
    let entries = found.configs.iter().flat_map(|config| &config.entries);
    redactor.learn(entries.flat_map(secrets_of).collect::<Vec<_>>());
    let mut checks = Vec::new();
    let mut duplicates = duplicate_names(&found.configs).into_iter().peekable();
    for (file, (config, folder)) in found.configs.iter().zip(&found.folders).enumerate() {
        for (index, entry) in config.entries.iter().enumerate() {
            let mut check = examiner.check(config, entry, folder);
            if let Some((.., finding)) = duplicates.next_if(|(f, e, _)| (*f, *e) == (file, index)) {
                check.findings.push(finding);
            }
            checks.push(check);
        }
    }
    let mut work = JoinSet::new();
    for (index, check) in checks.iter().enumerate() {
        let starts = examiner.starts(check.config);
        if let (true, false, Some(reach)) = (starts, check.entry.disabled, check.reach.clone()) {
            let (name, settings) = (check.entry.name.clone(), examiner.settings.clone());
            busy.begin_server(&name, "starting", redactor);
            work.spawn_local(async move { (index, examine(&name, &reach, &settings).await) });
        }
    }
    let is_done = |index: usize| busy.end_server(&checks[index].entry.name, redactor);
    let mut examined = gathered(work, is_done).await;
    for (&index, _) in examined.iter().filter(|(_, seen)| seen.ready.is_some()) {
        let check = &mut checks[index];
        if let (Some(at), Some(Reach::Http(endpoint))) = (check.entry.says_sse, &check.reach) {
            let found = only_streamable_at(endpoint, check.config, at, redactor).await;
            check.findings.extend(found);
        }
    }
    let mut trials = try_all(examiner, &checks, &examined, busy).await;
    checks
        .into_iter()
        .enumerate()
        .map(|(index, check)| {
            let trial = trials.remove(&index).unwrap_or_default();
            examiner.checkup(check, examined.remove(&index), trial)
        })
        .collect()
}

/// Those that may be mended by other words for the same program; after all
/// others have ended, since they may have been in the way.
async fn try_all(
    examiner: &Examiner<'_>,
    checks: &[EntryCheck<'_>],
    examined: &BTreeMap<usize, Examined>,
    busy: &Busy,
) -> BTreeMap<usize, CandidateTrial> {
    let redactor = &examiner.settings.redactor;
    let mut work = JoinSet::new();
    for (&index, seen) in examined {
        let EntryCheck { entry, reach, .. } = &checks[index];
        let Some(Reach::Stdio(spec)) = reach else {
            continue;
        };
        if let Some(plan) = trial::plan(examiner.engine, entry, seen) {
            let (name, spec, settings) =
                (entry.name.clone(), spec.clone(), examiner.settings.clone());
            busy.begin_server(&name, "starting in another way", redactor);
            work.spawn_local(async move { (index, try_out(&name, &spec, plan, settings).await) });
        }
    }
    let is_done = |index: usize| busy.end_server(&checks[index].entry.name, redactor);
    gathered(work, is_done).await
}

/// What all of them came to, by their index.
async fn gathered<T: 'static>(
    mut work: JoinSet<(usize, T)>,
    is_done: impl Fn(usize),
) -> BTreeMap<usize, T> {
    let mut all = BTreeMap::new();
    while let Some(joined) = work.join_next().await {
        match joined {
            Ok((index, result)) => {
                is_done(index);
                all.insert(index, result);
            }
            // A fault of ours, and to be told as such.
            Err(error) if error.is_panic() => std::panic::resume_unwind(error.into_panic()),
            Err(_) => {}
        }
    }
    all
}

impl Examiner<'_> {
    fn starts(&self, config: &Config) -> bool {
        !self.unstarted.contains(&config.path)
    }

    fn check<'c>(&self, config: &'c Config, entry: &'c Entry, folder: &Path) -> EntryCheck<'c> {
        let none = BTreeMap::new();
        let around = Surroundings {
            env: &self.world.env,
            inputs: self.answers.get(&config.path).unwrap_or(&none),
            project: folder,
            home: self.home,
        };
        let mut filler = Filler {
            around,
            redactor: &self.settings.redactor,
            logins: self.world.logins(),
            left: Vec::new(),
        };
        let mut notes = entry.notes.clone();
        let reach = entry
            .reached
            .as_ref()
            .map(|reached| filler.reach(reached, folder, &mut notes));
        EntryCheck {
            config,
            entry,
            findings: lint(config, entry, self.platform, &around)
                .into_iter()
                .filter(|finding| self.starts(config) || !is_to_be_asked(finding, config))
                .collect(),
            notes,
            reach: reach.filter(|_| filler.left.is_empty()),
        }
    }

    /// What is said of the first server of a configuration that was examined
    /// already.
    pub fn checkup_of_first(
        &self,
        config: &Config,
        folder: &Path,
        examined: Examined,
    ) -> Option<Checkup> {
        let entry = config.entries.first()?;
        let check = self.check(config, entry, folder);
        Some(self.checkup(check, Some(examined), CandidateTrial::default()))
    }

    fn checkup(
        &self,
        check: EntryCheck<'_>,
        examined: Option<Examined>,
        trial: CandidateTrial,
    ) -> Checkup {
        let EntryCheck {
            config,
            entry,
            findings,
            notes,
            reach,
        } = check;
        let redactor = &self.settings.redactor;
        let clean = |text: &str| sanitize(&redactor.redact(text)).into_owned();
        let mut checkup = Checkup {
            name: clean(&entry.name),
            client: config.client.name().to_owned(),
            at: config.at(entry.place),
            argv: shown_argv(entry, reach.as_ref(), redactor),
            findings: findings
                .into_iter()
                .map(|finding| Finding {
                    what: clean(&finding.what),
                    fix: clean(&finding.fix),
                    ..finding
                })
                .collect(),
            notes,
            ..Checkup::default()
        };
        if entry.disabled {
            checkup.state = CheckupState::Disabled;
            return checkup;
        }
        if entry.is_built_in {
            return checkup;
        }
        if self.refused.contains(&config.path) {
            let file = shell_path(&config.path.display().to_string());
            checkup.notes.push(format!(
                "it came with this folder, so nothing is started unasked: `jelly doctor {file}`"
            ));
        }
        let Some(reach) = reach else {
            let is_wrong = checkup
                .findings
                .iter()
                .any(|finding| finding.level == FindingLevel::Error);
            let asked = !self.starts(config) && !is_wrong && entry.reached.is_some();
            if asked {
                checkup
                    .notes
                    .push("its inputs are asked for when it is started".to_owned());
                return checkup;
            }
            checkup.state = CheckupState::Broken;
            checkup.message = Some(
                if entry.reached.is_none() {
                    "its entry can't be read as a server's"
                } else {
                    "it was not started: a blank in its entry has no value"
                }
                .to_owned(),
            );
            return checkup;
        };
        let examined = match examined {
            Some(examined) => examined,
            None if self.platform == Platform::current() => {
                let failure = preflight(&entry.name, &reach, redactor);
                Examined {
                    failure: failure.map(Box::new),
                    ..Examined::default()
                }
            }
            None => Examined::default(),
        };
        checkup.notes.extend(trial.note.map(str::to_owned));
        let entry = (config, entry);
        self.fill_in(&mut checkup, examined, &reach, entry, &trial);
        let mut findings = checkup.findings.iter();
        // What answers jelly is of no use to a client that does not get so far.
        if checkup.state == CheckupState::Healthy
            && findings.any(|finding| finding.level == FindingLevel::Error)
        {
            checkup.state = CheckupState::Unwell;
        }
        checkup
    }

    fn fill_in(
        &self,
        checkup: &mut Checkup,
        examined: Examined,
        reach: &Reach,
        (config, entry): (&Config, &Entry),
        trial: &CandidateTrial,
    ) {
        let redactor = &self.settings.redactor;
        checkup.state = match (&examined.ready, &examined.failure) {
            (Some(_), None) => CheckupState::Healthy,
            (Some(_), Some(_)) => CheckupState::Unwell,
            (None, Some(_)) => CheckupState::Broken,
            (None, None) => CheckupState::Unchecked,
        };
        if let Some(ready) = examined.ready {
            let slow = slow_start(config, entry, ready.startup, &self.world.env);
            checkup.findings.extend(slow);
            checkup.protocol_version = Some(ready.protocol_version.to_owned());
            checkup.server_info = ready.server_info;
            checkup.tools = Some(ready.tools);
            checkup.resources = ready.resources;
            checkup.prompts = ready.prompts;
            checkup.startup_ms = u64::try_from(ready.startup.as_millis()).ok();
        }
        checkup.era = examined.era;
        checkup.stdout_noise = examined.stdout_noise;
        checkup.stdout_noise_sample = examined
            .stdout_noise_sample
            .iter()
            .map(|line| sanitize(line).into_owned())
            .collect();
        checkup.stderr_tail = last_lines(&sanitize(&examined.stderr_tail));
        checkup.notes.extend(examined.notes);
        let grumble = examined.grumble.filter(|grumble| {
            let diagnosis = self.engine.diagnose(grumble);
            SERIOUS.contains(&diagnosis.root_cause.as_str())
        });
        if grumble.is_some() {
            checkup.state = CheckupState::Unwell;
        }
        if let Some(failure) = examined.failure.or(grumble) {
            checkup.url.clone_from(&failure.url);
            checkup.message = failure.message.as_deref().map(|message| {
                let message = sanitize(message);
                match failure.spawn_error {
                    Some(_) if failure.phase == Some(Phase::Config) => {
                        format!("could not be started: {message}")
                    }
                    Some(_) | None => message.into_owned(),
                }
            });
            let mut diagnosis = self.engine.diagnose_for(&failure, Audience::Configuration);
            let path = self.world.env.get("PATH").map_or("", String::as_str);
            let machine = Machine { path };
            let context = RemedyContext {
                config,
                entry,
                failure: &failure,
                redactor,
                home: self.home,
                sight: &machine,
                proven: trial.proven.as_ref(),
                tried: trial.was_made,
            };
            prescribe(&mut diagnosis, &context);
            run_here(&mut diagnosis.advice.fix, &self.world.cwd);
            // Where that is known already, no look at its code is needed.
            if diagnosis.root_cause == "startup_timeout"
                && !diagnosis.rule.starts_with("doctor/")
                && let Some(line) = where_it_waits(&failure, reach, redactor, &machine)
            {
                let fix = &mut diagnosis.advice.fix;
                fix.push(Fix::text(
                    "See at which line of its code it waits, after 15 seconds:",
                ));
                fix.push(Fix::command(line));
            }
            without_repeated(&mut checkup.findings, &diagnosis);
            checkup.diagnosis = Some(diagnosis);
            checkup.by_hand = hand(&failure, reach, redactor);
        }
    }
}

/// Whether a blank is one that its client asks for, so that it is none where
/// nothing is started.
fn is_to_be_asked(finding: &Finding, config: &Config) -> bool {
    let asks = |input: &jelly_setup::doctor::Input| {
        finding.what.contains(&format!("`${{input:{}}}`", input.id))
    };
    finding.lint == Lint::Unfilled && config.inputs.iter().any(asks)
}

/// The words of its command, as they may be shown.
pub fn shown_argv(entry: &Entry, reach: Option<&Reach>, redactor: &Redactor) -> Vec<String> {
    let argv: Vec<String> = match (reach.and_then(Reach::command), &entry.reached) {
        (Some(spec), _) => spec.argv.clone(),
        (None, Some(Reached::Command { command, args, .. })) => std::iter::once(command)
            .chain(args)
            .map(|spot| spot.text.clone())
            .collect(),
        (None, Some(Reached::Url { .. }) | None) => Vec::new(),
    };
    let redacted: Vec<String> = argv
        .iter()
        .map(|arg| sanitize(&redactor.redact(arg)).into_owned())
        .collect();
    show_argv(&redacted)
}

fn last_lines(text: &str) -> String {
    let lines: Vec<&str> = text.lines().collect();
    lines[lines.len().saturating_sub(STDERR_LINES)..].join("\n")
}

/// Fills blanks, and remembers those that were left.
struct Filler<'a> {
    around: Surroundings<'a>,
    redactor: &'a Redactor,
    /// Where logins are kept.
    logins: Option<TokenStore>,
    left: Vec<String>,
}

impl Filler<'_> {
    fn text(&mut self, spot: &Spot, secret: bool) -> String {
        let filled = fill_as_client(spot, &self.around);
        self.left.extend(filled.left.iter().cloned());
        let taken = filled.taken.iter();
        self.redactor.learn(
            taken
                .filter(|(name, value)| {
                    (secret || looks_secret(name)) && may_be_secret(name, value)
                })
                .cloned(),
        );
        filled.text
    }

    fn reach(&mut self, reached: &Reached, folder: &Path, notes: &mut Vec<String>) -> Reach {
        match reached {
            Reached::Command {
                command,
                args,
                env,
                cwd,
                env_file,
            } => {
                let mut argv = vec![self.text(command, false)];
                let mut before = "";
                for arg in args {
                    let own = arg.text.split(['=', ':']).next().unwrap_or_default();
                    let secret = [before, own].iter().any(|name| looks_secret(name));
                    argv.push(self.text(arg, secret));
                    before = if own.starts_with('-') { own } else { "" };
                }
                let cwd = match cwd {
                    Some(cwd) => folder.join(self.text(cwd, false)),
                    None => folder.to_owned(),
                };
                let mut pairs = match env_file {
                    Some(file) => {
                        let file = folder.join(self.text(file, false));
                        self.env_file(&file, notes)
                    }
                    None => Vec::new(),
                };
                pairs.extend(
                    env.iter()
                        .map(|(name, spot)| (name.clone(), self.text(spot, looks_secret(name)))),
                );
                Reach::Stdio(CommandSpec {
                    argv,
                    cwd,
                    env: pairs,
                })
            }
            Reached::Url { url, headers } => Reach::Http(Endpoint {
                url: self.text(url, false),
                headers: headers
                    .iter()
                    .map(|(name, spot)| (name.clone(), self.text(spot, true)))
                    .collect(),
                command: None,
                own_port: None,
                auth: self.login(url, headers),
            }),
        }
    }

    /// What a person's login to this server gives, where the entry brings no
    /// credentials of its own: clients of MCP log in by themselves too.
    fn login(&self, url: &Spot, headers: &[(String, Spot)]) -> Option<Arc<Authorizer>> {
        let has_own = |(name, _): &(String, Spot)| name.eq_ignore_ascii_case("authorization");
        if headers.iter().any(has_own) {
            return None;
        }
        let url = fill_as_client(url, &self.around).text;
        authorizer_of(&url, self.logins.clone()?, self.redactor)
    }

    fn env_file(&self, path: &Path, notes: &mut Vec<String>) -> Vec<(String, String)> {
        let pairs = match read_env_file(path) {
            Ok(pairs) => pairs,
            Err(error) => {
                notes.push(format!(
                    "its `envFile` {} can't be read: {error}",
                    path.display()
                ));
                return Vec::new();
            }
        };
        self.redactor.learn(
            pairs
                .iter()
                .filter(|(n, value)| holds_secret(n, value))
                .cloned(),
        );
        pairs
    }
}

/// The variables of a file of `NAME=value` lines.
pub fn read_env_file(path: &Path) -> io::Result<Vec<(String, String)>> {
    let text = text_within(path, ENV_FILE)?;
    Ok(text
        .lines()
        .map(str::trim)
        .filter(|line| !line.starts_with('#'))
        .filter_map(|line| line.strip_prefix("export ").unwrap_or(line).split_once('='))
        .map(|(name, value)| (name.trim().to_owned(), unquoted(value.trim()).to_owned()))
        .filter(|(name, _)| !name.is_empty())
        .collect())
}

fn unquoted(text: &str) -> &str {
    ['"', '\'']
        .iter()
        .find_map(|quote| text.strip_prefix(*quote)?.strip_suffix(*quote))
        .unwrap_or(text)
}
