//! What is meant: environment and terminal looked at once, into values.

use super::refusal::Refusal;
use crate::cli::args::{BudgetArgs, ColorChoice, RunArgs, RunFormat};
use crate::report::ci::CI_SYSTEMS;
use etcetera::BaseStrategy as _;
use jelly_base::model::Budgets;
use jelly_base::text::redact::{holds_secret, looks_secret, secrets_in_variable};
use jelly_plan::{Hooks, Plan};
use jelly_wire::auth::TokenStore;
use std::collections::{BTreeMap, BTreeSet};
use std::env;
use std::io::{self, IsTerminal};
use std::path::{Path, PathBuf};

/// Variables of CI systems that do not set `CI`, and that are told nothing else:
/// Jenkins, AWS CodeBuild, Bamboo.
const WITHOUT_CI: [&str; 3] = ["JENKINS_URL", "CODEBUILD_BUILD_ID", "bamboo_buildKey"];

/// Shorter values of variables that no plan names are words like `true` more
/// often than secrets.
const MIN_SECRET: usize = 8;

/// Secrets of an environment by the names of their variables: of one whose name
/// says so its value, of others what is secret by its place or form, as a URL's
/// password. Whoever inherits it may print them.
pub fn inherited_secrets(env: &BTreeMap<String, String>) -> impl Iterator<Item = (&str, &str)> {
    env.iter().flat_map(|(name, value)| {
        let whole = holds_secret(name, value) && value.len() >= MIN_SECRET;
        let parts = match whole || looks_secret(name) {
            true => Vec::new(),
            false => secrets_in_variable(name, value),
        };
        let parts = parts
            .into_iter()
            .filter(|found| found.is_telling(MIN_SECRET));
        let whole = whole.then_some(value.as_str());
        whole
            .into_iter()
            .chain(parts.map(|found| found.value))
            .map(move |secret| (name.as_str(), secret))
    })
}

/// Whether a value of `CI` says that this is a pipeline.
pub fn is_pipeline(ci: Option<&str>) -> bool {
    ci.is_some_and(|value| !value.is_empty() && value != "false")
}

/// The world as it was when jelly started.
#[derive(Debug, Clone)]
pub struct World {
    /// The environment, as far as it is text.
    pub env: BTreeMap<String, String>,
    /// Names of environment variables whose values are no text.
    pub no_text: BTreeSet<String>,
    pub cwd: PathBuf,
    /// As typed.
    pub color: ColorChoice,
    /// This program.
    pub jelly: Option<PathBuf>,
    pub stdin_is_terminal: bool,
    pub stdout_is_terminal: bool,
    pub stderr_is_terminal: bool,
}

impl World {
    /// The variables that a plan names and that count as not set though they are.
    pub fn named_without_text(&self, plan: &Plan) -> Vec<String> {
        if self.no_text.is_empty() {
            return Vec::new();
        }
        let named = plan.env_names().into_iter().chain(plan.secret_names());
        named.filter(|name| self.no_text.contains(name)).collect()
    }

    /// Looks at it.
    ///
    /// # Errors
    /// The working directory is gone.
    pub fn look(color: ColorChoice) -> Result<Self, Refusal> {
        let cwd = env::current_dir().map_err(|error| {
            Refusal::invalid(format!(
                "error: the working directory can't be read: {error}"
            ))
        })?;
        let mut texts = BTreeMap::new();
        let mut no_text = BTreeSet::new();
        for (name, value) in env::vars_os() {
            match (name.into_string(), value.into_string()) {
                (Ok(name), Ok(value)) => {
                    texts.insert(name, value);
                }
                (Ok(name), Err(_)) => {
                    no_text.insert(name);
                }
                // What has no name in a plan can't be asked for.
                (Err(_), _) => {}
            }
        }
        Ok(Self {
            env: texts,
            no_text,
            cwd,
            color,
            jelly: env::current_exe().ok(),
            stdin_is_terminal: io::stdin().is_terminal(),
            stdout_is_terminal: io::stdout().is_terminal(),
            stderr_is_terminal: io::stderr().is_terminal(),
        })
    }

    /// Whether this is a pipeline, by the variable that most of them set, or by
    /// one of a system that does not set it.
    pub fn in_ci(&self) -> bool {
        let set = |name: &&str| self.env.get(*name).is_some_and(|value| !value.is_empty());
        is_pipeline(self.env.get("CI").map(String::as_str))
            || CI_SYSTEMS
                .iter()
                .any(|row| row.says(self.env.get(row.variable)))
            || WITHOUT_CI.iter().any(set)
    }

    /// Where logins are kept: `JELLY_LOGINS_DIR`, or the usual place for a
    /// program's data; none where the user has no home.
    #[must_use]
    pub fn logins(&self) -> Option<TokenStore> {
        let told = self
            .env
            .get("JELLY_LOGINS_DIR")
            .filter(|dir| !dir.is_empty());
        let folder = match told {
            Some(folder) => self.cwd.join(folder),
            None => etcetera::choose_base_strategy()
                .ok()?
                .data_dir()
                .join("jelly/logins"),
        };
        Some(TokenStore::at(folder))
    }

    fn is_set(&self, name: &str) -> bool {
        self.env.get(name).is_some_and(|value| !value.is_empty())
    }

    #[must_use]
    pub fn colors_stdout(&self) -> bool {
        self.colors(self.stdout_is_terminal)
    }

    #[must_use]
    pub fn colors_stderr(&self) -> bool {
        self.colors(self.stderr_is_terminal)
    }

    /// Whether to colour what goes to a stream that is a terminal or not.
    #[must_use]
    pub fn colors(&self, is_terminal: bool) -> bool {
        match self.color {
            ColorChoice::Always => true,
            ColorChoice::Never => false,
            ColorChoice::Auto => {
                let forced = self
                    .env
                    .get("CLICOLOR_FORCE")
                    .is_some_and(|value| value != "0");
                let dumb = self.env.get("TERM").is_some_and(|term| term == "dumb");
                !self.is_set("NO_COLOR") && (forced || is_terminal && !dumb)
            }
        }
    }

    /// Progress is for people who watch.
    #[must_use]
    pub fn draws_progress(&self, format: RunFormat) -> bool {
        self.stderr_is_terminal && !self.in_ci() && format == RunFormat::Human
    }

    /// Columns to wrap at; `None` where nobody watches.
    #[must_use]
    pub fn width(&self) -> Option<u16> {
        if !self.stdout_is_terminal {
            return None;
        }
        let asked = rustix::termios::tcgetwinsize(io::stdout())
            .ok()
            .map(|size| size.ws_col)
            .filter(|columns| *columns > 0);
        let told = self.env.get("COLUMNS").and_then(|text| text.parse().ok());
        asked.or(told).or(Some(80))
    }
}

/// The budgets of one plan: defaults, under the plan's own, under flags and
/// environment (which clap has put in the flags' place).
#[must_use]
pub fn budgets(plan: &Plan, flags: &BudgetArgs) -> Budgets {
    fn pick<T>(flag: Option<T>, own: Option<T>, default: T) -> T {
        flag.or(own).unwrap_or(default)
    }
    let (flag, own, usual) = (flags, plan.budgets, Budgets::default());
    Budgets {
        max_iterations: pick(
            flag.max_iterations,
            own.max_iterations,
            usual.max_iterations,
        ),
        retries: pick(flag.retries, own.retries, usual.retries),
        confirms: pick(flag.confirms, own.confirms, usual.confirms),
        mcp_repairs: pick(flag.mcp_repairs, own.mcp_repairs, usual.mcp_repairs),
        test_fixes: pick(flag.test_fixes, own.test_fixes, usual.test_fixes),
        code_refines: pick(flag.code_refines, own.code_refines, usual.code_refines),
        deadline: pick(flag.deadline, own.deadline, usual.deadline),
    }
}

/// The plan's hooks, under those given as flags.
#[must_use]
pub fn hooks(plan: &Plan, args: &RunArgs) -> Hooks {
    let flag = |argv: &Option<super::args::Argv>| argv.as_ref().map(|argv| argv.0.clone());
    Hooks {
        refine_code: flag(&args.refine_code).or_else(|| plan.hooks.refine_code.clone()),
        fix_tests: flag(&args.fix_tests).or_else(|| plan.hooks.fix_tests.clone()),
    }
}

/// The project folder: as told, else where the plan lies. Absolute, symbolic
/// links resolved.
///
/// # Errors
/// There is no such folder.
pub fn project_dir(told: Option<&Path>, plan: &Path) -> io::Result<PathBuf> {
    let folder = match told {
        Some(folder) => folder,
        None => plan
            .parent()
            .filter(|parent| !parent.as_os_str().is_empty())
            .unwrap_or_else(|| Path::new(".")),
    };
    let folder = folder.canonicalize()?;
    if folder.is_dir() {
        Ok(folder)
    } else {
        Err(io::ErrorKind::NotADirectory.into())
    }
}
