//! `jelly check`: validates plans, and starts nothing; with `--live`, it starts
//! their servers, and calls nothing.

mod live;

pub use live::check_live;

use super::invalid::Invalid;
use super::named_server::not_started;
use super::plan_files::read_source;
use super::refusal::Refusal;
use super::settings::World;
use indexmap::IndexMap;
use jelly_base::model::{Checkup, ExitCode};
use jelly_base::text::redact::Redactor;
use jelly_harness::exec::unnamed_snapshots;
use jelly_plan::{self as plan, Matrix, Plan};
use schemars::JsonSchema;
use serde::Serialize;
use serde_json::Value;
use std::collections::HashSet;
use std::io::{self, Write};
use std::path::{Path, PathBuf};

/// What a call says besides its plans.
#[derive(Debug, Clone, Copy, Default)]
pub struct Told<'a> {
    pub color: bool,
    pub json: bool,
    /// The project folder, if that is not the plan's.
    pub project: Option<&'a Path>,
    /// As in `--var`, of which the last wins.
    pub vars: &'a [(String, Value)],
}

impl Told<'_> {
    fn given(&self) -> IndexMap<String, Value> {
        self.vars.iter().cloned().collect()
    }
}

/// Refuses a variable that none of the plans has a place for, as a run does. A
/// plan that can't be read says so itself.
///
/// # Errors
/// The first.
pub fn refuse_stray_variable(
    paths: &[PathBuf],
    told: Told<'_>,
    redactor: &Redactor,
) -> Result<(), Refusal> {
    if told.vars.is_empty() {
        return Ok(());
    }
    let sources: Result<Vec<_>, _> = distinct(paths).map(read_source).collect();
    let stray = sources.ok().filter(|sources| !sources.is_empty());
    let stray =
        stray.and_then(|sources| Invalid::stray_variable(&sources, &told.given(), told.project));
    stray.map_or(Ok(()), |stray| {
        Err(Refusal::invalid(stray.render(told.color, redactor)))
    })
}

/// Validates all plans and reports everything that is wrong in all of them:
/// what is good on `out`, what is not on `err`; with `json`, one document on
/// `out`. Exit code 2 for any problem, and for no plan at all.
///
/// A report that can't be written is exit code 2 as well: nothing says that
/// the plans are good.
pub fn check(
    paths: &[PathBuf],
    told: Told<'_>,
    redactor: &Redactor,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> ExitCode {
    let vars = told.given();
    let plans = distinct(paths)
        .map(|path| {
            let plan = examine(path, (&vars, told.project), redactor);
            Examined::of(path, plan.map(|plan| Good::of(&plan)))
        })
        .collect::<Vec<_>>();
    report(plans, (told, None), redactor, out, err)
}

/// Tells what was found, and what follows from it. The world is that of who
/// started servers.
fn report(
    plans: Vec<Examined<'_>>,
    (told, world): (Told<'_>, Option<&World>),
    redactor: &Redactor,
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> ExitCode {
    let code = code_of(&plans);
    let written = match told.json {
        true => write_json(plans, code, redactor, out),
        false => write_text(&plans, (told.color, world), out, err),
    };
    match written {
        Ok(()) => code,
        Err(_) => ExitCode::InvalidInput,
    }
}

fn code_of(plans: &[Examined<'_>]) -> ExitCode {
    if plans.is_empty() || plans.iter().any(|plan| plan.result.is_err()) {
        ExitCode::InvalidInput
    } else if plans.iter().any(|plan| !plan.not_started.is_empty()) {
        ExitCode::NeedsUserHelp
    } else {
        ExitCode::Passed
    }
}

/// The paths without those that are given twice.
fn distinct(paths: &[PathBuf]) -> impl Iterator<Item = &Path> {
    let mut seen = HashSet::new();
    paths
        .iter()
        .map(PathBuf::as_path)
        .filter(move |path| seen.insert(path.to_path_buf()))
}

/// Why a plan is not good.
enum PlanRefusal {
    Unreadable(plan::ReadError),
    Wrong(Box<plan::PlanError>),
}

/// What a good plan holds.
#[derive(Debug, Serialize, JsonSchema)]
struct Good {
    /// The plan's own, or the file's without the extension.
    name: String,
    /// How many it has.
    servers: usize,
    /// How many it has, those of `setup` and `teardown` included.
    steps: usize,
    /// Combinations of its matrix; 1 without one.
    variants: usize,
    /// Stored snapshots that no step names.
    #[serde(rename = "unnamed_snapshots", skip_serializing_if = "Vec::is_empty")]
    orphans: Vec<String>,
    /// Servers that no step uses.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    unused_servers: Vec<String>,
    /// Servers that were started, and against whose lists the steps were held;
    /// with `--live` alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    held_against: Vec<String>,
}

impl Good {
    fn of(plan: &Plan) -> Self {
        Self {
            orphans: unnamed_snapshots(plan)
                .iter()
                .map(|path| path.display().to_string())
                .collect(),
            unused_servers: plan
                .unused_servers()
                .into_iter()
                .map(str::to_owned)
                .collect(),
            held_against: Vec::new(),
            servers: plan.servers.len(),
            steps: plan.all_steps().count(),
            variants: plan.matrix.as_ref().map_or(1, Matrix::size),
            name: plan.name.clone(),
        }
    }
}

fn examine(
    path: &Path,
    (vars, project): (&IndexMap<String, Value>, Option<&Path>),
    redactor: &Redactor,
) -> Result<Plan, PlanRefusal> {
    let source = read_source(path).map_err(PlanRefusal::Unreadable)?;
    plan::check_in(source, vars, project)
        .map_err(|error| PlanRefusal::Wrong(Box::new(error.hiding(redactor.clone()))))
}

/// One plan, and what is to be told of it.
struct Examined<'p> {
    path: &'p Path,
    result: Result<Good, PlanRefusal>,
    /// Servers of a good plan that could not be started.
    not_started: Vec<Checkup>,
}

impl<'p> Examined<'p> {
    fn of(path: &'p Path, result: Result<Good, PlanRefusal>) -> Self {
        Self {
            path,
            result,
            not_started: Vec::new(),
        }
    }
}

fn write_text(
    plans: &[Examined<'_>],
    (color, world): (bool, Option<&World>),
    out: &mut dyn Write,
    err: &mut dyn Write,
) -> io::Result<()> {
    let (mut problems, mut bad) = (0, 0);
    for Examined {
        path,
        result,
        not_started: broken,
    } in plans
    {
        match result {
            // That it is not is said below.
            Ok(_) if !broken.is_empty() => {}
            Ok(good) => {
                let servers = jelly_base::text::plural(good.servers, "server");
                let mut holds = format!(
                    "{servers}, {}",
                    jelly_base::text::plural(good.steps, "step")
                );
                if good.variants > 1 {
                    holds.push_str(&format!(", {} combinations", good.variants));
                }
                if !good.held_against.is_empty() {
                    let names = good.held_against.join("`, `");
                    holds.push_str(&format!("; checked against the lists of `{names}`"));
                }
                writeln!(out, "ok {} ({holds})", path.display())?;
                for orphan in &good.orphans {
                    writeln!(err, "note: no step names {orphan}")?;
                }
                for server in &good.unused_servers {
                    let path = path.display();
                    writeln!(err, "note: {path}: no step uses the server `{server}`")?;
                }
            }
            Err(PlanRefusal::Unreadable(error)) => {
                (problems, bad) = (problems + 1, bad + 1);
                writeln!(err, "error: {error}\n")?;
            }
            Err(PlanRefusal::Wrong(error)) => {
                (problems, bad) = (problems + error.problems().len(), bad + 1);
                writeln!(err, "{}", error.render(color))?;
            }
        }
        if let Some(world) = world {
            for checkup in broken {
                writeln!(err, "{}\n", not_started(checkup, world))?;
            }
        }
    }
    let broken: usize = plans.iter().map(|plan| plan.not_started.len()).sum();
    if broken > 0 {
        let servers = jelly_base::text::plural(broken, "server");
        writeln!(
            err,
            "{servers} could not be started, so they were not checked"
        )?;
    }
    if bad > 0 {
        let problems = jelly_base::text::plural(problems, "problem");
        let plans = jelly_base::text::plural(bad, "plan");
        writeln!(err, "{problems} in {plans}")?;
    }
    out.flush()?;
    err.flush()
}

/// What `--format json` prints.
#[derive(Debug, Serialize, JsonSchema)]
pub struct Checked {
    /// Raised when a field changes its meaning.
    schema_version: u32,
    /// 2 where a plan has a problem, or there is none; 3 where a server could not
    /// be started.
    exit_code: u8,
    /// In the order in which they were named, each once.
    plans: Vec<CheckedPlan>,
}

/// One plan.
#[derive(Debug, Serialize, JsonSchema)]
struct CheckedPlan {
    /// As it was named.
    path: String,
    /// It has no problem, and all servers that were to be started could be.
    ok: bool,
    #[serde(flatten)]
    holds: Option<Good>,
    /// In the order of the file.
    problems: Vec<CheckedProblem>,
    /// Servers that could not be started, and why; with `--live` alone.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    not_started: Vec<Checkup>,
}

/// One thing that is wrong.
#[derive(Debug, Serialize, JsonSchema)]
struct CheckedProblem {
    #[serde(flatten)]
    place: Option<ProblemPlace>,
    /// A fragment in lower case.
    message: String,
    /// What would help, such as "did you mean `tool`?".
    hints: Vec<String>,
}

/// Where it stands; absent where the file can't be read.
#[derive(Debug, Serialize, JsonSchema)]
#[schemars(rename = "Place")]
struct ProblemPlace {
    /// The included file that it is in; absent in the plan itself.
    #[serde(skip_serializing_if = "Option::is_none")]
    file: Option<String>,
    /// From 1.
    line: usize,
    /// From 1, in characters.
    column: usize,
    /// As in `steps[2].args.path`; empty for the plan as a whole.
    field: String,
}

fn write_json(
    plans: Vec<Examined<'_>>,
    exit_code: ExitCode,
    redactor: &Redactor,
    out: &mut dyn Write,
) -> io::Result<()> {
    let document = Checked {
        schema_version: jelly_base::model::SCHEMA_VERSION,
        exit_code: exit_code.code(),
        plans: plans
            .into_iter()
            .map(|plan| checked(plan, redactor))
            .collect(),
    };
    serde_json::to_writer_pretty(&mut *out, &document)?;
    writeln!(out)?;
    out.flush()
}

fn checked(plan: Examined<'_>, redactor: &Redactor) -> CheckedPlan {
    let Examined {
        path,
        result,
        not_started,
    } = plan;
    let ok = result.is_ok() && not_started.is_empty();
    let (holds, problems) = match result {
        Ok(good) => (Some(good), Vec::new()),
        Err(PlanRefusal::Unreadable(error)) => {
            let problem = CheckedProblem {
                place: None,
                message: error.to_string(),
                hints: Vec::new(),
            };
            (None, vec![problem])
        }
        Err(PlanRefusal::Wrong(error)) => {
            let problems = error.problems().iter();
            (
                None,
                problems.map(|one| problem(one, &error, redactor)).collect(),
            )
        }
    };
    CheckedPlan {
        path: path.display().to_string(),
        ok,
        holds,
        problems,
        not_started,
    }
}

fn problem(
    problem: &plan::Problem,
    error: &plan::PlanError,
    redactor: &Redactor,
) -> CheckedProblem {
    CheckedProblem {
        place: Some(ProblemPlace {
            file: (problem.location.file > 0)
                .then(|| error.file(problem).path.display().to_string()),
            line: problem.location.line,
            column: problem.location.column,
            field: redactor.redact(&problem.field.to_string()).into_owned(),
        }),
        message: problem.message.clone(),
        hints: problem.hints.clone(),
    }
}

#[cfg(test)]
mod tests {
    use super::{Told, check, refuse_stray_variable};
    use jelly_base::model::ExitCode;
    use jelly_base::text::redact::Redactor;
    use serde_json::{Value, json};
    use std::path::PathBuf;

    const GOOD: &str = "version: 1\nservers:\n  m: { command: x }\nsteps:\n  - tool: t\n";

    struct Folder(tempfile::TempDir);

    impl Folder {
        fn new() -> Self {
            Self(tempfile::tempdir().unwrap())
        }

        fn file(&self, name: &str, text: impl AsRef<[u8]>) -> PathBuf {
            let path = self.0.path().join(name);
            std::fs::write(&path, text).unwrap();
            path
        }
    }

    fn run(paths: &[PathBuf], json: bool) -> (ExitCode, String, String) {
        let told = Told {
            json,
            ..Told::default()
        };
        run_told(paths, told)
    }

    fn run_told(paths: &[PathBuf], told: Told<'_>) -> (ExitCode, String, String) {
        let (mut out, mut err) = (Vec::new(), Vec::new());
        let code = check(paths, told, &Redactor::none(), &mut out, &mut err);
        let text = |bytes| String::from_utf8(bytes).unwrap();
        (code, text(out), text(err))
    }

    #[test]
    fn good_plans_are_listed_and_exit_zero() {
        let folder = Folder::new();
        let plan = folder.file("a.yaml", GOOD);
        let (code, out, err) = run(std::slice::from_ref(&plan), false);
        assert_eq!(code, ExitCode::Passed);
        assert_eq!(out, format!("ok {} (1 server, 1 step)\n", plan.display()));
        assert_eq!(err, "");
    }

    #[test]
    fn everything_wrong_in_all_plans_is_said_at_once() {
        let folder = Folder::new();
        let paths = [
            folder.file(
                "a.yaml",
                GOOD.replace("tool", "tol").replace("command", "comand"),
            ),
            folder.file("b.yaml", b"\xff"),
            folder.0.path().join("none.yaml"),
            folder.file("c.yaml", GOOD),
            folder.file("d.yaml", GOOD.replace("- tool", "- server: n\n    tool")),
            folder.file(
                "e.yaml",
                "version: 1\nservers:\n  m: { command: x }\nsteps: []\n",
            ),
        ];
        let (code, out, err) = run(&paths, false);
        assert_eq!(code, ExitCode::InvalidInput);
        assert_eq!(out.lines().count(), 1);
        for said in [
            "a.yaml:3:8",
            "did you mean `command`?",
            "a.yaml:5:5",
            "did you mean `tool`?",
            "b.yaml: not UTF-8",
            "none.yaml: there is no such file",
            "no server is called `n`",
            "there are no steps",
        ] {
            assert!(err.contains(said), "{said} in\n{err}");
        }
        assert!(err.ends_with("problems in 5 plans\n"), "{err}");
    }

    #[test]
    fn a_plan_that_needs_a_variable_is_good_with_it() {
        let folder = Folder::new();
        let plan = GOOD.replace("tool: t", "tool: t\n    args: { a: '${who}' }");
        let paths = [folder.file("a.yaml", plan)];
        assert_eq!(run(&paths, false).0, ExitCode::InvalidInput);
        let vars = [("who".to_owned(), json!("Ann"))];
        let told = Told {
            vars: &vars,
            ..Told::default()
        };
        let (code, _, err) = run_told(&paths, told);
        assert_eq!((code, err.as_str()), (ExitCode::Passed, ""));
        assert!(refuse_stray_variable(&paths, told, &Redactor::none()).is_ok());
        let vars = [vars, [("whom".to_owned(), json!("Ann"))]].concat();
        let told = Told {
            vars: &vars,
            ..Told::default()
        };
        let stray = refuse_stray_variable(&paths, told, &Redactor::none()).unwrap_err();
        let (what, _) = stray.parts().unwrap();
        assert!(what.contains("the plan has no variable `whom`"), "{what}");
    }

    #[test]
    fn nothing_to_check_is_invalid_input() {
        let (code, out, _) = run(&[], true);
        assert_eq!(code, ExitCode::InvalidInput);
        let document: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(document["exit_code"], 2);
    }

    #[test]
    fn json_says_where_each_problem_is() {
        let folder = Folder::new();
        let paths = [
            folder.file("a.yaml", GOOD),
            folder.file("b.yaml", GOOD.replace("tool: t", "tool: t\n    tags: x")),
        ];
        let (code, out, err) = run(&paths, true);
        assert_eq!((code, err.as_str()), (ExitCode::InvalidInput, ""));
        let document: Value = serde_json::from_str(&out).unwrap();
        assert_eq!(document["exit_code"], 2);
        assert_eq!(document["plans"][0]["ok"], true);
        let problem = &document["plans"][1]["problems"][0];
        assert_eq!(
            (&problem["line"], &problem["column"], &problem["field"]),
            (&6.into(), &11.into(), &"steps[0].tags".into())
        );
    }

    #[test]
    fn json_quotes_no_secret_of_the_plan() {
        let folder = Folder::new();
        let text = GOOD.replace(
            "command: x",
            "command: x, env: { API_TOKEN: @hunter2value99 }",
        );
        let path = folder.file("a.yaml", text);
        let (code, out, _) = run(&[path], true);
        assert_eq!(code, ExitCode::InvalidInput);
        assert!(out.contains("needs quotes"), "{out}");
        assert!(!out.contains("hunter2value99"), "{out}");
    }
}
