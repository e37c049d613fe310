//! Causes that what a server says does not show, and a look at the machine
//! does: triage reads what was said, and names the nearest cause that it knows.

use super::debuggers::{waits, without};
use super::entries::Change;
use super::npm::{NpmPackage, package_name};
use super::prescribe::{Doctor, blank, found};
use super::pythons::{name_of_spec, normal};
use super::steps::Remedy;
use crate::doctor::clients::Client;
use crate::doctor::entry::Config;
use crate::doctor::launcher::{SHELLS, is_folder_flag, name_of};
use jelly_base::model::{Diagnosis, ErrorCategory, Outcome, Phase, Side};
use jelly_base::text::redact::Redactor;
use jelly_base::text::{LazyPattern, close_names, shell_word as word};
use std::path::{Path, PathBuf};

/// Causes that say no more than that it ended, or that may be another's.
const VAGUE: &[&str] = &[
    "unknown",
    "internal_error",
    "crashed_during_startup",
    "clean_exit_before_handshake",
    "missing_module",
    "dependency_version_mismatch",
    "runtime_version_mismatch",
];

/// Causes that are told of a value, without the variable that it comes from.
const OF_A_VALUE: &[&str] = &["invalid_argument", "missing_env_var"];

/// What an interpreter says of a script that is none of its language.
const UNREAD: &[&str] = &[
    "SyntaxError",
    "Unknown file extension",
    "NameError",
    "ERR_UNKNOWN_FILE_EXTENSION",
];

/// The same of a shell, which takes its words for programs.
const UNREAD_BY_SHELL: &[&str] = &["not found", "yntax error"];

/// What says that no daemon of containers runs.
const DAEMON_DOWN: &[&str] = &[
    "Cannot connect to the Docker daemon",
    "error during connect",
    "Cannot connect to Podman",
    "failed to connect to the docker API",
];

/// A cause, with all that is said of it.
pub(super) struct Seen {
    rule: &'static str,
    root_cause: &'static str,
    remedy: Remedy,
    /// What it names may be a mistake in the server's code.
    is_of_own_code: bool,
}

impl Seen {
    pub(super) fn new(rule: &'static str, root_cause: &'static str, remedy: Remedy) -> Self {
        let remedy = remedy.instead_of_all();
        Self {
            rule,
            root_cause,
            remedy,
            is_of_own_code: false,
        }
    }

    /// A cause that lies in files of the server's own: whether they are wrong or were left out,
    /// no look tells.
    pub(super) fn of_own_code(
        rule: &'static str,
        root_cause: &'static str,
        remedy: Remedy,
    ) -> Self {
        Self {
            is_of_own_code: true,
            ..Self::new(rule, root_cause, remedy)
        }
    }

    pub(super) fn into(self, diagnosis: &mut Diagnosis, config: &Config, redactor: &Redactor) {
        if diagnosis.root_cause != self.root_cause {
            let is_timeout = self.root_cause == "startup_timeout";
            diagnosis.error_category = Some(match is_timeout {
                true => ErrorCategory::Timeout,
                false => ErrorCategory::Infrastructure,
            });
            diagnosis.retryable = Some(is_timeout);
            diagnosis.root_cause = self.root_cause.to_owned();
        }
        // What else the machine shows of a start is none of the server's code.
        diagnosis.side = Side::Test;
        diagnosis.ambiguous = self.is_of_own_code;
        diagnosis.rule = self.rule.to_owned();
        diagnosis.suspect = None;
        self.remedy.apply(&mut diagnosis.advice, config, redactor);
    }
}

impl Doctor<'_> {
    /// What a look at the machine shows of a server that did not start.
    pub(super) fn seen(&self, root_cause: &str) -> Option<Seen> {
        let mistake = self.launch_mistake();
        let mistake = mistake.or_else(|| self.shell_path(root_cause));
        let failure = self.context.failure;
        if mistake.is_some() || failure.phase != Some(Phase::Handshake) {
            return mistake;
        }
        if failure.outcome == Some(Outcome::Timeout) {
            return self
                .debugger()
                .or_else(|| self.installing_still(root_cause));
        }
        self.shadowed_module()
            .or_else(|| self.own_part(root_cause))
            .or_else(|| self.lost_folder())
            .or_else(|| self.lost_by_variable(root_cause))
            .or_else(|| self.lost_script())
            .or_else(|| self.folder_started())
            .or_else(|| self.no_such_python())
            .or_else(|| self.no_daemon())
            .or_else(|| {
                let is_lost = root_cause == "command_not_found";
                is_lost.then(|| self.language()).flatten()
            })
            .or_else(|| {
                let may_be = VAGUE.contains(&root_cause) || OF_A_VALUE.contains(&root_cause);
                may_be.then(|| self.variable_at_frame()).flatten()
            })
            .or_else(|| {
                let vague = VAGUE.contains(&root_cause);
                vague.then(|| self.behind(root_cause)).flatten()
            })
    }

    /// What may stand behind a cause that says little.
    fn behind(&self, root_cause: &str) -> Option<Seen> {
        let told = self.variable_in_line().or_else(|| self.language());
        told.or_else(|| self.script_gone()).or_else(|| {
            let is_lack = matches!(root_cause, "missing_module" | "dependency_version_mismatch");
            // What a package lacks is told by Node, whatever its version.
            let lack = is_lack.then(|| self.lacking_part()).flatten();
            lack.or_else(|| self.old_node())
        })
    }

    /// The server waits for a debugger.
    fn debugger(&self) -> Option<Seen> {
        let started = self.started;
        let words = started.words();
        let options = started.variable("NODE_OPTIONS");
        let all: Vec<String> = options
            .iter()
            .flat_map(|spot| spot.text.split_whitespace().map(str::to_owned))
            .collect();
        let left_out = |change: Change| Remedy::new().write("Leave it out; write", change);
        let (flag, remedy) = if let Some(flag) = waits(started.program(), &words) {
            (flag, left_out(started.args(&without(&words))))
        } else if let (Some(spot), Some(flag)) = (options, waits("node", &all)) {
            let kept = without(&all).join(" ");
            let members = started.env_with("NODE_OPTIONS", &kept);
            (flag, left_out(members.at(spot.place)))
        } else {
            self.debugged_script()?
        };
        let remedy = remedy
            .what(format!("The server waits for a debugger: `{flag}`."))
            .why("Nobody attaches one, so nothing of the server ever runs.");
        Some(Seen::new(
            "doctor/waits-for-debugger",
            "startup_timeout",
            remedy,
        ))
    }

    /// The same, in a script of `package.json`.
    fn debugged_script(&self) -> Option<(String, Remedy)> {
        let started = self.started;
        if !matches!(started.program(), "npm" | "pnpm" | "yarn" | "bun") {
            return None;
        }
        let folder = self.whole(started.value_of(is_folder_flag).unwrap_or("."));
        let package = NpmPackage::at(&folder, self.context.sight)?;
        let scripts = package.json.get("scripts")?.as_object()?;
        let words = started.texts();
        let name = words.iter().find(|word| scripts.contains_key(**word))?;
        let line = scripts[*name].as_str()?.split_whitespace();
        let line: Vec<String> = line.map(str::to_owned).collect();
        let own = line.first()?;
        let flag = waits(name_of(own), &line)?;
        let kept = without(&line);
        let remedy = Remedy::new().say(format!(
            "It is in the script `{name}` of {}: remove it there.",
            folder.join("package.json").display()
        ));
        let script = kept.iter().skip(1).find(|word| !word.starts_with('-'));
        let remedy = match script.filter(|_| matches!(name_of(own), "node" | "tsx")) {
            Some(script) => {
                let whole = folder.join(script).components().collect::<PathBuf>();
                let rest = kept.iter().skip(1).map(|word| match word == script {
                    true => whole.display().to_string(),
                    false => word.clone(),
                });
                let members = started.command_and_args(own, &rest.collect::<Vec<_>>());
                remedy.write("Or start it without npm; write", members)
            }
            None => remedy,
        };
        Some((flag, remedy))
    }

    /// The launcher had not yet installed the server when its time was up.
    fn installing_still(&self, root_cause: &str) -> Option<Seen> {
        if root_cause != "startup_timeout" {
            return None;
        }
        let fetched = self.started.fetched()?;
        let once = match fetched.launcher {
            "npx" => {
                // npx says nothing while it installs.
                let is_quiet = self
                    .stderr
                    .lines()
                    .all(|line| line.trim().is_empty() || line.starts_with("npm "));
                if !is_quiet || self.cached().is_some() {
                    return None;
                }
                self.context.home?;
                format!("npx -y --package={} -c true", word(fetched.spec))
            }
            "uvx" | "uv" => {
                let busy = ["Downloading ", "Building ", "Updating "];
                let mut lines = self.stderr.lines().map(str::trim);
                let is_busy = match lines.rfind(|line| !line.is_empty()) {
                    Some(line) => busy.iter().any(|busy| line.starts_with(busy)),
                    // It says nothing before it has found out what to fetch.
                    None => !self.uv_has(fetched.spec),
                };
                if self.stderr.contains("Installed ") || !is_busy {
                    return None;
                }
                let spec = word(fetched.spec);
                format!("uv tool run --from {spec} python -c pass")
            }
            _ => return None,
        };
        let more_time = match self.context.config.client {
            Client::Plan => "Or give it more time: `startup_timeout: 5m`.",
            Client::JsonPlan => "Or give it more time: `\"startup_timeout\": \"5m\"`.",
            _ => "Or give it more time (`--timeout 5m`); most clients wait a minute at most.",
        };
        let remedy = Remedy::new()
            .what(format!(
                "`{}` was still installing {} when the time was up.",
                fetched.launcher,
                package_name(fetched.spec)
            ))
            .why("A first start fetches the package and all that it needs; the next ones don't.")
            .say("Have it installed once, before it is started as a server:")
            .run(format!("{}{once}", self.launchers_env()))
            .say(more_time);
        Some(Seen::new(
            "doctor/installing-still",
            "startup_timeout",
            remedy,
        ))
    }

    /// The settings of the launcher in the entry, for a shell.
    fn launchers_env(&self) -> String {
        let is_its = |name: &str| {
            let name = name.to_ascii_lowercase();
            name.starts_with("npm_config_") || name.starts_with("uv_")
        };
        let set = self.started.env.iter().filter(|(name, _)| is_its(name));
        set.map(|(name, spot)| format!("{name}={} ", word(&self.started.shown(&spot.text))))
            .collect()
    }

    /// Whether uv has the package already; so where nobody can tell.
    fn uv_has(&self, spec: &str) -> bool {
        let sight = self.context.sight;
        let cache = match (self.started.variable("UV_CACHE_DIR"), self.context.home) {
            (Some(spot), _) => PathBuf::from(&spot.text),
            (None, Some(home)) => home.join(".cache/uv"),
            (None, None) => return true,
        };
        let name = normal(name_of_spec(spec));
        let caches = sight.names(&cache).into_iter();
        caches
            .filter(|name| name.starts_with("wheels-"))
            .flat_map(|wheels| sight.names(&cache.join(wheels).join("pypi").join(&name)))
            .any(|file| file.ends_with(".http"))
    }

    /// `uv --directory` or `--project` names a folder that is not there.
    fn lost_folder(&self) -> Option<Seen> {
        let flags = ["--directory", "--project"];
        let folder = self.started.value_of(|it| flags.contains(&it))?;
        let whole = self.whole(folder);
        if self.started.program() != "uv" || self.context.sight.is_there(&whole) {
            return None;
        }
        let texts = self.started.texts();
        let flag = texts.iter().find(|text| flags.contains(text))?;
        let remedy = self.path()?.first_step();
        let remedy = remedy
            .what(format!("The directory {} does not exist.", whole.display()))
            .why(format!("`uv {flag}` is to start a project there."));
        Some(Seen::new(
            "doctor/missing-project",
            "missing_directory",
            remedy,
        ))
    }

    /// A variable that is said to be missing is set, to a path where nothing
    /// is: servers often make one condition of both.
    fn lost_by_variable(&self, root_cause: &str) -> Option<Seen> {
        if root_cause != "missing_env_var" {
            return None;
        }
        let (name, spot) = self.started.env.iter().find(|(name, spot)| {
            // A list of folders, as PATH is, names no single thing.
            let is_path = spot.text.starts_with('/') && !spot.text.contains(':');
            let is_gone = || !self.context.sight.is_there(&self.whole(&spot.text));
            is_path && names(&self.told, name) && is_gone()
        })?;
        let path = self.started.shown(&spot.text);
        let folder = word(&self.whole(&spot.text).display().to_string());
        let remedy = Remedy::new()
            .what(format!("`{name}` is set, and nothing is at {path}."))
            .why("The server asks for the variable, and means what it names.")
            .write(
                "Name what there is,",
                self.started
                    .env_with(name, &blank("path that there is"))
                    .at(spot.place),
            )
            .say("Or, where it is to be a folder, create it:")
            .run(format!("mkdir -p {folder}"));
        Some(Seen::new(
            "doctor/variable-names-nothing",
            "missing_directory",
            remedy,
        ))
    }

    /// `uv run` was given a script that is not in its folder.
    fn lost_script(&self) -> Option<Seen> {
        static SPAWNED: [LazyPattern; 1] = [LazyPattern::new(
            r"(?i)\bfailed to spawn: [`'\x22]?(?P<it>[^`'\x22\n]+\.py)\b",
        )];
        let name = found(&SPAWNED, self.stderr)?;
        let (started, sight) = (self.started, self.context.sight);
        let index = started.args.iter().position(|arg| arg.text == name)?;
        let folder = self.whole(started.value_of(|it| it == "--directory").unwrap_or("."));
        let whole = folder.join(&name);
        if sight.is_there(&whole) {
            return None;
        }
        let names = sight.names(&folder);
        let scripts = names.iter().map(String::as_str);
        let scripts = scripts.filter(|name| name.ends_with(".py"));
        let (what, text) = match close_names(&name, scripts).first() {
            Some(close) => (
                format!("`{close}` is there, and is probably meant; write"),
                close.clone(),
            ),
            None => (
                "Write the path of the script,".to_owned(),
                blank(&format!("path of {name}")),
            ),
        };
        let remedy = Remedy::new()
            .what(format!("The script {} does not exist.", whole.display()))
            .why("`uv run` was to start it, and took it for a program.")
            .write(what, started.with(index, &text));
        Some(Seen::new("doctor/missing-script", "missing_file", remedy))
    }

    /// uv was asked for a Python that is not here.
    fn no_such_python(&self) -> Option<Seen> {
        static VERSION: [LazyPattern; 2] = [
            LazyPattern::new(
                r"(?i)no (?:interpreter|download) (?:was )?found for (?:request: )?(?:python )?(?P<it>[^\n]*?\d+\.\d+\w*)",
            ),
            LazyPattern::new(r"pyenv: python(?P<it>3\.\d+): command not found"),
        ];
        if !self.started.is_uv() {
            return None;
        }
        let version = found(&VERSION, self.stderr)?;
        let version = version.trim_start_matches(['>', '=', '~', '^']).to_owned();
        let remedy = Remedy::new()
            .what(format!(
                "Python {version}, which the server is to run on, is not installed here."
            ))
            .say("Have uv install it:")
            .run(format!("uv python install {}", word(&version)));
        let remedy = match self.started.runtime() {
            Some(index) => remedy
                .why("The arguments name it.")
                .write(
                    "Or name a Python that is here,",
                    self.started
                        .with(index, "<version, such as 3.13>")
                        .at(self.at_args()),
                )
                .run("uv python list --only-installed"),
            None => remedy.why("The project asks for it (`requires-python`)."),
        };
        Some(Seen::new(
            "doctor/missing-python",
            "runtime_version_mismatch",
            remedy,
        ))
    }

    /// docker is there, and its daemon is not.
    fn no_daemon(&self) -> Option<Seen> {
        let own = self.started.program();
        let remedy = match own {
            "podman" => Remedy::new()
                .say("Start its machine:")
                .run("podman machine start"),
            "docker" => Remedy::new()
                .say("Start it; on Linux:")
                .run("sudo systemctl start docker")
                .say(
                    "On macOS and Windows start Docker Desktop, and wait until it says that it \
                     runs.",
                )
                .say("Then this answers:")
                .run("docker info"),
            _ => return None,
        };
        let is_down = DAEMON_DOWN.iter().any(|said| self.stderr.contains(said));
        let remedy = remedy
            .what(format!("The daemon of {own} is not running."))
            .why("The server runs in a container, which the daemon starts.");
        is_down.then(|| Seen::new("doctor/no-daemon", "dependency_unavailable", remedy))
    }

    /// The interpreter of another language was given the script.
    fn language(&self) -> Option<Seen> {
        let started = self.started;
        let name = started.program();
        let is_shell = SHELLS.contains(&name);
        let signs = if is_shell { UNREAD_BY_SHELL } else { UNREAD };
        let is_unread = signs.iter().any(|sign| self.stderr.contains(sign));
        let first = started.args.first().filter(|_| is_shell);
        let first = first.filter(|word| !word.text.starts_with('-')).map(|_| 0);
        let index = self.script().or(first).filter(|_| is_unread)?;
        let script = &started.args[index].text;
        let runs_python = name.starts_with("python");
        let ending = Path::new(script).extension().and_then(|e| e.to_str());
        let (language, member) = match ending {
            Some("py") if !runs_python => ("Python", started.command("python3")),
            Some("js" | "mjs" | "cjs") if runs_python || is_shell => {
                ("JavaScript", started.command("node"))
            }
            Some("ts" | "mts" | "cts" | "tsx")
                if runs_python || is_shell || matches!(name, "node" | "nodejs") =>
            {
                let words = started.words_after(&["-y", "tsx"]);
                ("TypeScript", started.command_and_args("npx", &words))
            }
            Some(_) | None => return None,
        };
        let version = self.node().filter(|_| !runs_python);
        let version = version.and_then(|node| self.context.sight.version(&node));
        let runner = match (language, version) {
            ("TypeScript", Some(version)) => format!("`{name}` {version}"),
            _ => format!("`{name}`"),
        };
        let shown = started.shown(script);
        let remedy = Remedy::new()
            .what(format!(
                "`{shown}` is a script of {language}, and {runner} runs it."
            ))
            .why(format!("{runner} can't read it."))
            .write("Have it run by what reads it; write", member);
        Some(Seen::new(
            "doctor/other-language",
            "invalid_argument",
            remedy,
        ))
    }

    fn folder_started(&self) -> Option<Seen> {
        let remedy = self
            .script_of_folder()?
            .why("Node starts a folder by the `main` of its `package.json`, or by its `index.js`.");
        Some(Seen::new("doctor/folder-started", "missing_file", remedy))
    }

    fn script_gone(&self) -> Option<Seen> {
        let remedy = self
            .script_of_package()?
            .why("Packages move their files from one version to the next.");
        Some(Seen::new("doctor/missing-script", "missing_file", remedy))
    }

    fn lacking_part(&self) -> Option<Seen> {
        let lack = self.lack()?;
        let (what, why) = lack.told(self);
        let remedy = self.another_version(&lack).what(what).why(why);
        let root_cause = "dependency_version_mismatch";
        Some(Seen::new("doctor/package-lacks-part", root_cause, remedy))
    }

    fn old_node(&self) -> Option<Seen> {
        let (name, range, version) = self.unfit_node()?;
        let node = self.node()?.display().to_string();
        // npm itself can't run on it either.
        let is_npms = self.stderr.contains("does not support Node.js v")
            || self.stderr.contains("known not to run on Node.js");
        let remedy = match is_npms {
            true => self.other_node_first(),
            false => self.runtime(),
        };
        let remedy = remedy
            .what(format!(
                "`{name}` needs Node {range}, and {version} runs it."
            ))
            .why(format!(
                "Its `package.json` says so (`engines`); {node} is the Node that runs it."
            ))
            .say("This is the Node that runs it:")
            .run(format!("{} --version", word(&node)));
        Some(Seen::new(
            "doctor/old-node",
            "runtime_version_mismatch",
            remedy,
        ))
    }

    /// The PATH of the entry with another Node before its own.
    fn other_node_first(&self) -> Remedy {
        let (at, old) = match self.started.variable("PATH") {
            Some(spot) => (spot.place, &*spot.text),
            None => (self.at_entry(), "<the rest of the PATH>"),
        };
        let newer = self.context.sight.on_path("node");
        let newer = newer.filter(|node| Some(node) != self.node().as_ref());
        let folder = newer
            .and_then(|node| Some(node.parent()?.display().to_string()))
            .unwrap_or_else(|| blank("folder of a newer node"));
        Remedy::new().write(
            "Put the folder of a newer Node first in the PATH that it gets; write",
            self.started
                .env_with("PATH", &format!("{folder}:{old}"))
                .at(at),
        )
    }
}

/// Whether a text names this variable, and not one whose name holds it.
fn names(text: &str, variable: &str) -> bool {
    let is_part = |c: char| c.is_alphanumeric() || c == '_';
    text.match_indices(variable).any(|(at, _)| {
        !text[..at].ends_with(is_part) && !text[at + variable.len()..].starts_with(is_part)
    })
}

#[cfg(test)]
mod tests {
    use super::names;

    #[test]
    fn a_variable_is_named_whole() {
        assert!(names("Valid ALLOWED_DIR is required", "ALLOWED_DIR"));
        assert!(names("`DIR`: not set", "DIR"));
        assert!(!names("ALLOWED_PATH is required", "PATH"));
        assert!(!names("PATHS are required", "PATH"));
    }
}
