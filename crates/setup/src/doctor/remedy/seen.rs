//! Causes that what a server says does not show, and a look at the machine
//! does: triage reads what was said, and names the nearest cause that it knows.

use super::debuggers::{waits, without};
use super::npm::{NpmPackage, package_name};
use super::prescribe::{Doctor, blank, found};
use super::pythons::normal;
use crate::doctor::launcher::{FOLDER_FLAGS, name_of};
use jelly_base::model::{Diagnosis, ErrorCategory, Outcome, Phase, Side};
use jelly_base::text::{close_names, shell_word as word};
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

/// A cause, with all that is said of it.
pub(super) struct Seen {
    rule: &'static str,
    root_cause: &'static str,
    what: String,
    why: String,
    fix: Vec<String>,
}

impl Seen {
    pub(super) fn into(self, diagnosis: &mut Diagnosis) {
        if diagnosis.root_cause != self.root_cause {
            diagnosis.error_category = Some(match self.root_cause {
                "startup_timeout" => ErrorCategory::Timeout,
                _ => ErrorCategory::Infrastructure,
            });
            diagnosis.retryable = Some(self.root_cause == "startup_timeout");
            diagnosis.root_cause = self.root_cause.to_owned();
        }
        // What the machine shows of a start is none of the server's code.
        diagnosis.side = Side::Test;
        diagnosis.ambiguous = false;
        diagnosis.rule = self.rule.to_owned();
        diagnosis.suspect = None;
        diagnosis.advice.what = self.what;
        diagnosis.advice.why = self.why;
        diagnosis.advice.fix = self.fix;
    }
}

impl Doctor<'_> {
    /// What a look at the machine shows of a server that did not start.
    pub(super) fn seen(&self, root_cause: &str) -> Option<Seen> {
        let failure = self.context.failure;
        if failure.phase != Some(Phase::Handshake) {
            return None;
        }
        if failure.outcome == Some(Outcome::Timeout) {
            return self
                .debugger()
                .or_else(|| self.installing_still(root_cause));
        }
        self.lost_folder()
            .or_else(|| self.lost_by_variable(root_cause))
            .or_else(|| self.lost_script())
            .or_else(|| self.no_such_python())
            .or_else(|| self.no_daemon())
            .or_else(|| {
                let vague = VAGUE.contains(&root_cause);
                vague.then(|| self.behind(root_cause)).flatten()
            })
    }

    /// What may stand behind a cause that says little.
    fn behind(&self, root_cause: &str) -> Option<Seen> {
        self.language().or_else(|| self.script_gone()).or_else(|| {
            let is_old = self.old_node();
            let is_lack = matches!(root_cause, "missing_module" | "dependency_version_mismatch");
            // What a package lacks is told by Node, whatever its version.
            match is_lack.then(|| self.lacking_part()).flatten() {
                Some(lack) => Some(lack),
                None => is_old,
            }
        })
    }

    /// The server waits for a debugger.
    fn debugger(&self) -> Option<Seen> {
        let why = "No client attaches one, so nothing of the server ever runs.".to_owned();
        let seen = |flag: &str, fix: Vec<String>| Seen {
            rule: "doctor/waits-for-debugger",
            root_cause: "startup_timeout",
            what: format!("The server waits for a debugger: `{flag}`."),
            why: why.clone(),
            fix,
        };
        let own = name_of(&self.started.command.text);
        let words = self.started.words();
        if let Some(flag) = waits(own, &words) {
            let at = self.at_args();
            let fix = vec![
                format!("Leave it out; write at {at}:"),
                self.started.args(&without(&words)),
            ];
            return Some(seen(&flag, fix));
        }
        let options = self
            .started
            .env
            .iter()
            .find(|(name, _)| name == "NODE_OPTIONS");
        if let Some((name, spot)) = options {
            let all: Vec<String> = spot.text.split_whitespace().map(str::to_owned).collect();
            if let Some(flag) = waits("node", &all) {
                let kept = without(&all).join(" ");
                let at = self.at(spot.place);
                let member = self.started.env_with(&[(name.clone(), kept)]);
                return Some(seen(
                    &flag,
                    vec![format!("Leave it out; write at {at}:"), member],
                ));
            }
        }
        self.debugged_script().map(|(flag, fix)| seen(&flag, fix))
    }

    /// The same, in a script of `package.json`.
    fn debugged_script(&self) -> Option<(String, Vec<String>)> {
        if !matches!(
            name_of(&self.started.command.text),
            "npm" | "pnpm" | "yarn" | "bun"
        ) {
            return None;
        }
        let words: Vec<&str> = self.started.args.iter().map(|arg| &*arg.text).collect();
        let folder = words
            .iter()
            .position(|word| FOLDER_FLAGS.contains(word))
            .and_then(|flag| words.get(flag + 1))
            .map_or(".", |folder| folder);
        let folder = self.whole(folder);
        let package = NpmPackage::at(&folder, self.context.sight)?;
        let scripts = package.json.get("scripts")?.as_object()?;
        let name = words.iter().find(|word| scripts.contains_key(**word))?;
        let line: Vec<String> = scripts[*name]
            .as_str()?
            .split_whitespace()
            .map(str::to_owned)
            .collect();
        let own = line.first()?;
        let flag = waits(name_of(own), &line)?;
        let kept = without(&line);
        let shown = folder.join("package.json");
        let shown = shown.display();
        let mut fix = vec![format!(
            "It stands in the script `{name}` of {shown}: leave it out there."
        )];
        if matches!(name_of(own), "node" | "tsx")
            && let Some(script) = kept.iter().skip(1).find(|word| !word.starts_with('-'))
        {
            let whole = folder.join(script).components().collect::<PathBuf>();
            let rest = kept.iter().skip(1).map(|word| match word == script {
                true => whole.display().to_string(),
                false => word.clone(),
            });
            let at = self.at(self.started.command.place);
            fix.push(format!("Or start it without npm; write at {at}:"));
            fix.push(
                self.started
                    .command_and_args(own, &rest.collect::<Vec<_>>()),
            );
        }
        Some((flag, fix))
    }

    /// The launcher had not yet installed the server when its time was up.
    fn installing_still(&self, root_cause: &str) -> Option<Seen> {
        if root_cause != "startup_timeout" {
            return None;
        }
        let fetched = self.fetched()?;
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
                let last = self
                    .stderr
                    .lines()
                    .map(str::trim)
                    .rfind(|line| !line.is_empty());
                let is_busy = match last {
                    Some(line) => busy.iter().any(|busy| line.starts_with(busy)),
                    // It says nothing before it has found out what to fetch.
                    None => !self.uv_has(fetched.spec),
                };
                if self.stderr.contains("Installed ") || !is_busy {
                    return None;
                }
                let words = [
                    "tool",
                    "run",
                    "--from",
                    fetched.spec,
                    "python",
                    "-c",
                    "pass",
                ];
                format!("uv {}", words.map(word).join(" "))
            }
            _ => return None,
        };
        Some(Seen {
            rule: "doctor/installing-still",
            root_cause: "startup_timeout",
            what: format!(
                "`{}` was still installing {} when the time was up.",
                fetched.launcher,
                package_name(fetched.spec)
            ),
            why: "A first start fetches the package and all that it needs; the next ones don't."
                .to_owned(),
            fix: vec![
                "Have it installed once, before a client starts it:".to_owned(),
                format!("$ {}{once}", self.launchers_env()),
                "Or give it more time (`--timeout 5m`); most clients wait a minute at most."
                    .to_owned(),
            ],
        })
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
        let set = self
            .started
            .env
            .iter()
            .find(|(name, _)| name == "UV_CACHE_DIR");
        let cache = match (set, self.context.home) {
            (Some((_, spot)), _) => PathBuf::from(&spot.text),
            (None, Some(home)) => home.join(".cache/uv"),
            (None, None) => return true,
        };
        let end = spec
            .find(['@', '=', '<', '>', '~', '[', '!'])
            .unwrap_or(spec.len());
        let name = normal(&spec[..end]);
        let wheels = sight
            .names(&cache)
            .into_iter()
            .filter(|name| name.starts_with("wheels-"));
        wheels
            .flat_map(|wheels| sight.names(&cache.join(wheels).join("pypi").join(&name)))
            .any(|file| file.ends_with(".http"))
    }

    /// `uv --directory` or `--project` names a folder that is not there.
    fn lost_folder(&self) -> Option<Seen> {
        if name_of(&self.started.command.text) != "uv" {
            return None;
        }
        let words = self.started.args;
        let flag = words
            .iter()
            .position(|arg| matches!(&*arg.text, "--directory" | "--project"))?;
        let folder = words.get(flag + 1)?;
        let whole = self.whole(&folder.text);
        if self.context.sight.is_there(&whole) {
            return None;
        }
        let mut fix = self.path()?;
        fix.truncate(2);
        Some(Seen {
            rule: "doctor/missing-project",
            root_cause: "missing_directory",
            what: format!("The directory {} does not exist.", whole.display()),
            why: format!("`uv {}` is to start a project there.", words[flag].text),
            fix,
        })
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
        let at = self.at(spot.place);
        let other = (name.clone(), blank("path that there is"));
        Some(Seen {
            rule: "doctor/variable-names-nothing",
            root_cause: "missing_directory",
            what: format!("`{name}` is set, and nothing is at {path}."),
            why: "The server asks for the variable, and means what it names.".to_owned(),
            fix: vec![
                format!("Name what there is, at {at}:"),
                self.started.env_with(&[other]),
                "Or, where it is to be a folder, create it:".to_owned(),
                format!(
                    "$ mkdir -p {}",
                    word(&self.whole(&spot.text).display().to_string())
                ),
            ],
        })
    }

    /// `uv run` was given a script that is not in its folder.
    fn lost_script(&self) -> Option<Seen> {
        let name = found(
            &[r"(?i)\bfailed to spawn: [`'\x22]?(?P<it>[^`'\x22\n]+\.py)\b"],
            self.stderr,
        )?;
        let words = self.started.args;
        let index = words.iter().position(|arg| arg.text == name)?;
        let flag = words
            .iter()
            .position(|arg| arg.text == "--directory")
            .and_then(|flag| words.get(flag + 1));
        let folder = self.whole(flag.map_or(".", |folder| &folder.text));
        let whole = folder.join(&name);
        let sight = self.context.sight;
        if sight.is_there(&whole) {
            return None;
        }
        let at = self.at(words[index].place);
        let names = sight.names(&folder);
        let scripts = names
            .iter()
            .map(String::as_str)
            .filter(|n| n.ends_with(".py"));
        let close = close_names(&name, scripts).first().cloned();
        let fix = match close {
            Some(close) => vec![
                format!("`{close}` is there, and is probably meant; write at {at}:"),
                self.with(index, &close),
            ],
            None => vec![
                format!("Write the path of the script, at {at}:"),
                self.with(index, &blank(&format!("path of {name}"))),
            ],
        };
        Some(Seen {
            rule: "doctor/missing-script",
            root_cause: "missing_file",
            what: format!("The script {} does not exist.", whole.display()),
            why: "`uv run` was to start it, and took it for a program.".to_owned(),
            fix,
        })
    }

    /// uv was asked for a Python that is not here.
    fn no_such_python(&self) -> Option<Seen> {
        let own = name_of(&self.started.command.text);
        if !matches!(own, "uv" | "uvx") {
            return None;
        }
        let version = found(
            &[
                r"(?i)no (?:interpreter|download) (?:was )?found for (?:request: )?(?:python )?(?P<it>[^\n]*?\d+\.\d+\w*)",
                r"pyenv: python(?P<it>3\.\d+): command not found",
            ],
            self.stderr,
        )?;
        let version = version.trim_start_matches(['>', '=', '~', '^']).to_owned();
        let at = self.at_args();
        let mut fix = vec![
            "Have uv install it:".to_owned(),
            format!("$ uv python install {}", word(&version)),
        ];
        let words: Vec<&str> = self.started.args.iter().map(|arg| &*arg.text).collect();
        let named = crate::doctor::launcher::runtime(&self.started.command.text, &words);
        if let Some((index, _)) = named {
            fix.push(format!("Or name a Python that is here, at {at}:"));
            fix.push(self.with(index, "<version, such as 3.13>"));
            fix.push("$ uv python list --only-installed".to_owned());
        }
        Some(Seen {
            rule: "doctor/missing-python",
            root_cause: "runtime_version_mismatch",
            what: format!(
                "Python {version}, which the server is to run on, is not installed here."
            ),
            why: match named {
                Some(_) => "The arguments name it.".to_owned(),
                None => "The project asks for it (`requires-python`).".to_owned(),
            },
            fix,
        })
    }

    /// docker is there, and its daemon is not.
    fn no_daemon(&self) -> Option<Seen> {
        let own = name_of(&self.started.command.text);
        let is_down = self.stderr.contains("Cannot connect to the Docker daemon")
            || self.stderr.contains("error during connect")
            || self.stderr.contains("Cannot connect to Podman");
        if !matches!(own, "docker" | "podman") || !is_down {
            return None;
        }
        let fix = if own == "podman" {
            vec![
                "Start its machine:".to_owned(),
                "$ podman machine start".to_owned(),
            ]
        } else {
            vec![
                "Start it; on Linux:".to_owned(),
                "$ sudo systemctl start docker".to_owned(),
                "On macOS and Windows start Docker Desktop, and wait until it says that it runs."
                    .to_owned(),
                "Then this answers:".to_owned(),
                "$ docker info".to_owned(),
            ]
        };
        Some(Seen {
            rule: "doctor/no-daemon",
            root_cause: "dependency_unavailable",
            what: format!("The daemon of {own} is not running."),
            why: "The server runs in a container, which the daemon starts.".to_owned(),
            fix,
        })
    }

    /// The interpreter of another language was given the script.
    fn language(&self) -> Option<Seen> {
        let is_unread = [
            "SyntaxError",
            "Unknown file extension",
            "NameError",
            "ERR_UNKNOWN_FILE_EXTENSION",
        ]
        .iter()
        .any(|sign| self.stderr.contains(sign));
        let index = self.script().filter(|_| is_unread)?;
        let script = &self.started.args[index].text;
        let name = name_of(&self.started.command.text);
        let runs_python = name.starts_with("python");
        let ending = Path::new(script).extension().and_then(|e| e.to_str());
        let at = self.at(self.started.command.place);
        let shown = self.started.shown(script);
        let (language, member) = match ending {
            Some("py") if !runs_python => ("Python", self.started.command("python3")),
            Some("js" | "mjs" | "cjs") if runs_python => {
                ("JavaScript", self.started.command("node"))
            }
            Some("ts" | "mts" | "cts" | "tsx")
                if runs_python || matches!(name, "node" | "nodejs") =>
            {
                let mut all = vec!["-y".to_owned(), "tsx".to_owned()];
                all.extend(self.started.words());
                ("TypeScript", self.started.command_and_args("npx", &all))
            }
            Some(_) | None => return None,
        };
        let version = self.node().filter(|_| !runs_python);
        let version = version.and_then(|node| self.context.sight.version(&node));
        let runner = match (language, version) {
            ("TypeScript", Some(version)) => format!("`{name}` {version}"),
            _ => format!("`{name}`"),
        };
        Some(Seen {
            rule: "doctor/other-language",
            root_cause: "invalid_argument",
            what: format!("`{shown}` is a script of {language}, and {runner} runs it."),
            why: format!("{runner} can't read it."),
            fix: vec![
                format!("Have it run by what reads it; write at {at}:"),
                member,
            ],
        })
    }

    fn script_gone(&self) -> Option<Seen> {
        let (what, fix) = self.script_of_package()?;
        Some(Seen {
            rule: "doctor/missing-script",
            root_cause: "missing_file",
            what,
            why: "Packages move their files from one version to the next.".to_owned(),
            fix,
        })
    }

    fn lacking_part(&self) -> Option<Seen> {
        let lack = self.lack()?;
        let (what, why) = lack.told(self);
        Some(Seen {
            rule: "doctor/package-lacks-part",
            root_cause: "dependency_version_mismatch",
            what,
            why,
            fix: self.another_version(&lack),
        })
    }

    fn old_node(&self) -> Option<Seen> {
        let (name, range, version) = self.unfit_node()?;
        let mut fix = self.runtime().lines;
        let node = self.node()?;
        // npm itself can't run on it either.
        let is_npms = self.stderr.contains("does not support Node.js v")
            || self.stderr.contains("known not to run on Node.js");
        if is_npms {
            fix = self.other_node_first();
        }
        fix.push("This is the Node that runs it:".to_owned());
        fix.push(format!("$ {} --version", word(&node.display().to_string())));
        Some(Seen {
            rule: "doctor/old-node",
            root_cause: "runtime_version_mismatch",
            what: format!("`{name}` needs Node {range}, and {version} runs it."),
            why: format!(
                "Its `package.json` says so (`engines`); {} is the Node that runs it.",
                node.display()
            ),
            fix,
        })
    }

    /// The PATH of the entry with another Node before its own.
    pub(super) fn other_node_first(&self) -> Vec<String> {
        let path = self.started.env.iter().find(|(name, _)| name == "PATH");
        let (at, old) = match path {
            Some((_, spot)) => (self.at(spot.place), spot.text.clone()),
            None => (
                self.at(self.context.entry.place),
                "<the rest of the PATH>".to_owned(),
            ),
        };
        let current = self.node();
        let sight = self.context.sight;
        let newer = sight
            .on_path("node")
            .filter(|node| Some(node) != current.as_ref());
        let folder = newer
            .and_then(|node| Some(node.parent()?.display().to_string()))
            .unwrap_or_else(|| blank("folder of a newer node"));
        vec![
            format!(
                "Put the folder of a newer Node first in the PATH that it gets; write at {at}:"
            ),
            self.started
                .env_with(&[("PATH".to_owned(), format!("{folder}:{old}"))]),
        ]
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
