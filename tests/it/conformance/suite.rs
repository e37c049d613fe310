//! How the suite is found, asked and understood.

use crate::support::fixtures;
use serde::Deserialize;
use serde_json::Value;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::Mutex;

pub const REVISIONS: [&str; 2] = ["2025-11-25", "2026-07-28"];

/// Scenarios at the same time: some look at how long a client takes.
const AT_ONCE: usize = 2;

/// An entry of the list.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Expected {
    pub scenario: String,
    pub reason: String,
}

pub fn expected() -> Vec<Expected> {
    let file = fixtures().join("conformance/expected-failures.yaml");
    let text = std::fs::read_to_string(&file).unwrap();
    serde_yaml::from_str(&text).unwrap()
}

/// How a scenario ended.
pub enum Outcome {
    Passed,
    /// With the checks that failed, and what the client wrote.
    Failed(String),
}

/// The installed suite, and the Node.js that runs it.
pub struct Suite {
    package: PathBuf,
    node: PathBuf,
}

/// What a revision requires, and what else is run for it.
#[derive(Deserialize)]
struct Requirements {
    client: Vec<String>,
    #[cfg_attr(
        not(feature = "serve"),
        expect(dead_code, reason = "for `jelly serve`")
    )]
    server: Vec<String>,
    not_scored: Vec<NotScored>,
}

#[derive(Deserialize)]
struct NotScored {
    scenario: String,
    leg: String,
}

/// A check of a scenario, as the suite prints it.
#[derive(Deserialize)]
struct Check {
    id: String,
    status: String,
    #[serde(default)]
    description: String,
    #[serde(default, rename = "errorMessage")]
    error: Option<String>,
}

impl Suite {
    pub fn find() -> Self {
        let modules = fixtures().join("conformance/node_modules");
        let package = modules.join("@modelcontextprotocol/conformance");
        assert!(
            package.exists(),
            "{} is missing: run ./fixtures/setup first",
            package.display()
        );
        // The suite needs Node 22, so one is installed beside it where its
        // publisher has one for this machine.
        let arch = match std::env::consts::ARCH {
            "x86_64" => "x64",
            "aarch64" => "arm64",
            other => other,
        };
        let own = modules.join(format!("node-{}-{arch}/bin/node", std::env::consts::OS));
        let node = if own.exists() { own } else { "node".into() };
        let version = Command::new(&node).arg("--version").output();
        let version = version.map(|said| String::from_utf8_lossy(&said.stdout).into_owned());
        let version = version.unwrap_or_default();
        let major = version.trim_start_matches('v').split('.').next();
        assert!(
            major.and_then(|major| major.parse().ok()).unwrap_or(0_u32) >= 22,
            "the conformance suite needs Node 22 or newer, and {} is {version:?}",
            node.display()
        );
        Self { package, node }
    }

    /// The client's scenarios that belong to a revision, required or not.
    pub fn scenarios(&self, revision: &str) -> Vec<String> {
        let file = self.package.join(format!("requirements/{revision}.yaml"));
        let text = std::fs::read_to_string(&file).unwrap();
        let Requirements {
            client, not_scored, ..
        } = serde_yaml::from_str(&text).unwrap();
        let more = not_scored.into_iter().filter(|more| more.leg == "client");
        client
            .into_iter()
            .chain(more.map(|more| more.scenario))
            .collect()
    }

    /// The server's scenarios that a revision requires.
    #[cfg(feature = "serve")]
    pub fn of_servers(&self, revision: &str) -> Vec<String> {
        let file = self.package.join(format!("requirements/{revision}.yaml"));
        let text = std::fs::read_to_string(&file).unwrap();
        let requirements: Requirements = serde_yaml::from_str(&text).unwrap();
        requirements.server
    }

    /// Each check of a scenario on a server, as `NAME STATUS`.
    #[cfg(feature = "serve")]
    pub fn checks_of_server(&self, revision: &str, scenario: &str, url: &str) -> Vec<String> {
        let output = self.ask_server(revision, scenario, url);
        let said = String::from_utf8_lossy(&output.stdout).into_owned();
        // A line has a time, then these, with colours round all of them.
        let words = |line: &str| -> Option<String> {
            let plain: Vec<&str> = line.split("\u{1b}[").skip(1).collect();
            let plain: String = plain
                .iter()
                .filter_map(|part| part.split_once('m'))
                .map(|(_, text)| text)
                .collect();
            let (name, rest) = plain.split_once(" [")?.1.split_once(']')?;
            let status = rest.split_whitespace().next()?;
            let is_status = status.chars().all(|c| c.is_ascii_uppercase());
            is_status.then(|| format!("{} {status}", name.trim()))
        };
        let mut checks: Vec<String> = said.lines().filter_map(words).collect();
        checks.sort();
        checks
    }

    #[cfg(feature = "serve")]
    fn ask_server(&self, revision: &str, scenario: &str, url: &str) -> std::process::Output {
        Command::new(&self.node)
            .arg(self.package.join("dist/index.js"))
            .args(["server", "--spec-version", revision, "--scenario", scenario])
            .args(["--url", url])
            .stdin(Stdio::null())
            .output()
            .unwrap()
    }

    /// What a scenario says of a server, where it does not pass.
    #[cfg(feature = "serve")]
    pub fn judge_server(&self, revision: &str, scenario: &str, url: &str) -> Result<(), String> {
        let output = self.ask_server(revision, scenario, url);
        match output.status.success() {
            true => Ok(()),
            false => Err(String::from_utf8_lossy(&output.stdout).into_owned()),
        }
    }

    pub fn run_all(&self, revision: &str, scenarios: &[String]) -> Vec<(String, Outcome)> {
        let left = Mutex::new(scenarios.iter());
        let done = Mutex::new(Vec::new());
        std::thread::scope(|threads| {
            for _ in 0..AT_ONCE {
                threads.spawn(|| {
                    loop {
                        let Some(scenario) = left.lock().unwrap().next() else {
                            return;
                        };
                        let outcome = self.run(revision, scenario);
                        done.lock().unwrap().push((scenario.clone(), outcome));
                    }
                });
            }
        });
        let mut done = done.into_inner().unwrap();
        done.sort_by(|(one, _), (other, _)| one.cmp(other));
        done
    }

    fn run(&self, revision: &str, scenario: &str) -> Outcome {
        let client = std::env::current_exe().unwrap();
        // The suite splits this at its blanks and adds the server's URL, which
        // names no test.
        let client = format!(
            "{} conformance::client::client --exact --ignored",
            plain(&client)
        );
        let output = Command::new(&self.node)
            .arg(self.package.join("dist/index.js"))
            .args(["client", "--verbose", "--force", "--timeout", "60000"])
            .args(["--spec-version", revision, "--scenario", scenario])
            .args(["--command", &client])
            .env("RUST_BACKTRACE", "0")
            .stdin(Stdio::null())
            .output()
            .unwrap_or_else(|error| panic!("{}: {error}", self.node.display()));
        let stdout = String::from_utf8_lossy(&output.stdout);
        let stderr = String::from_utf8_lossy(&output.stderr);
        let checks: Vec<Check> = match serde_json::from_str::<Value>(&stdout) {
            Ok(checks) => serde_json::from_value(checks).unwrap(),
            Err(error) => {
                return Outcome::Failed(format!("  no checks ({error}): {stdout}{stderr}"));
            }
        };
        let failed: Vec<String> = checks
            .iter()
            .filter(|check| check.status == "FAILURE")
            .map(|check| {
                let why = check.error.as_ref().unwrap_or(&check.description);
                format!("  {}: {why}", check.id)
            })
            .collect();
        // A warning also ends the suite with 1, and is none of its failures.
        let warned = checks.iter().any(|check| check.status == "WARNING");
        let client_failed = ["CLIENT TIMED OUT", "CLIENT EXITED WITH ERROR"]
            .iter()
            .any(|words| stderr.contains(words));
        let judged = checks.iter().any(|check| check.status == "SUCCESS");
        let passed = failed.is_empty() && judged && !client_failed;
        if passed && (output.status.success() || warned) {
            return Outcome::Passed;
        }
        let said = stderr.trim_end().replace('\n', "\n  | ");
        Outcome::Failed(format!("{}\n  | {said}", failed.join("\n")))
    }
}

/// A path as it can stand in a command that is split at blanks.
fn plain(path: &Path) -> String {
    let path = path.display().to_string();
    assert!(
        !path.contains(' '),
        "{path}: the suite can't start a program there"
    );
    path
}
