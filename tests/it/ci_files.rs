//! What pipelines include of ours: valid by its public schema where there is
//! one, and its steps do what they promise in a shell.

use crate::support::{Project, fixtures};
use serde_json::Value;
use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Output};

fn root(path: &str) -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join(path)
}

fn yaml(path: &str) -> Value {
    serde_yaml::from_str(&fs::read_to_string(root(path)).unwrap()).unwrap()
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn the_files_fit_their_public_schemas() {
    let checker = fixtures().join("pypi/.venv/ci/bin/check-jsonschema");
    assert!(
        checker.exists(),
        "{} is missing: run ./fixtures/setup first",
        checker.display()
    );
    for (schema, files) in [
        ("github-actions", &["action.yml"][..]),
        (
            "github-workflows",
            &[
                "packaging/ci/github/mcp.yml",
                "packaging/ci/github/triage.yml",
                "packaging/ci/github/comment.yml",
                ".github/workflows/ci.yml",
                ".github/workflows/release.yml",
            ],
        ),
        ("gitlab-ci", &["packaging/ci/gitlab/gitlab-ci.yml"]),
        ("azure-pipelines", &["packaging/ci/azure-pipelines.yml"]),
        ("circle-ci", &["packaging/ci/circleci.yml"]),
        ("buildkite", &["packaging/ci/buildkite.yml"]),
    ] {
        let done = Command::new(&checker)
            .args(["--builtin-schema", &format!("vendor.{schema}")])
            .args(files.iter().map(|file| root(file)))
            .output()
            .unwrap();
        assert!(
            done.status.success(),
            "{files:?}: {}",
            String::from_utf8_lossy(&done.stdout)
        );
    }
}

/// How long installing may take is measured where nothing else runs: by
/// `.ci/full`, with the packages that people get.
#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn packages_install_offline_and_pass_on_how_jelly_ends() {
    let done = Command::new("python3")
        .arg(root("packaging/check.py"))
        .args(["--seconds", "120", "--program", env!("CARGO_BIN_EXE_jelly")])
        .output()
        .unwrap();
    assert!(
        done.status.success(),
        "{}{}",
        String::from_utf8_lossy(&done.stdout),
        String::from_utf8_lossy(&done.stderr)
    );
}

/// A runner that has jelly, and an npm that only writes down what it was asked.
struct Runner {
    project: Project,
    path: String,
}

impl Runner {
    fn new(plan: &str) -> Self {
        let project = Project::empty();
        project.write("plans/first.yaml", plan);
        let jelly = env!("CARGO_BIN_EXE_jelly");
        let asked = project.at("../asked");
        project.script(
            "../bin/npm",
            &format!(
                "#!/bin/sh\necho \"npm $*\" >>'{asked}'\nwhile [ $# -gt 0 ]; do\n  \
                 if [ \"$1\" = --prefix ]; then mkdir -p \"$2/node_modules/.bin\"; \
                 ln -sf '{jelly}' \"$2/node_modules/.bin/jelly\"; fi\n  shift\ndone\n"
            ),
        );
        std::os::unix::fs::symlink(jelly, project.path("../bin/jelly")).unwrap();
        let path = format!(
            "{}:{}",
            project.at("../bin"),
            std::env::var("PATH").unwrap()
        );
        Self { project, path }
    }

    fn shell(&self, script: &str, env: &BTreeMap<String, String>) -> Output {
        Command::new("bash")
            .args(["--noprofile", "--norc", "-eo", "pipefail", "-c", script])
            .current_dir(self.project.dir())
            .env_clear()
            .env("PATH", &self.path)
            .env("HOME", self.project.at("../home"))
            .envs(env)
            .output()
            .unwrap()
    }

    /// Runs the steps of the action one after the other; its outputs, and the
    /// exit code of the last one.
    fn act(&self, inputs: &[(&str, &str)]) -> (BTreeMap<String, String>, i32, String) {
        let action = yaml("action.yml");
        let mut given: BTreeMap<String, String> = action["inputs"]
            .as_object()
            .unwrap()
            .iter()
            .map(|(name, input)| {
                let default = input["default"].as_str().unwrap_or_default();
                (name.clone(), default.to_owned())
            })
            .collect();
        for (name, value) in inputs {
            assert!(
                given
                    .insert((*name).to_owned(), (*value).to_owned())
                    .is_some(),
                "{name}"
            );
        }
        let (output, summary) = (self.project.at("../output"), self.project.at("../summary"));
        fs::write(&output, "").unwrap();
        let mut outputs: BTreeMap<String, String> = BTreeMap::new();
        let (mut code, mut said) = (0, String::new());
        for step in action["runs"]["steps"].as_array().unwrap() {
            // What others publish runs on a runner only.
            let Some(script) = step["run"].as_str() else {
                assert!(step["uses"].as_str().unwrap().starts_with("actions/"));
                continue;
            };
            assert!(
                !script.contains("${{"),
                "an input in a script is run as one"
            );
            let mut env = BTreeMap::from([
                ("GITHUB_OUTPUT".to_owned(), output.clone()),
                ("GITHUB_STEP_SUMMARY".to_owned(), summary.clone()),
                ("GITHUB_ACTIONS".to_owned(), "true".to_owned()),
                ("CI".to_owned(), "true".to_owned()),
            ]);
            let written = step["env"].as_object().unwrap();
            for (name, value) in written {
                let value = value.as_str().unwrap();
                let value = value.trim_start_matches("${{ ").trim_end_matches(" }}");
                let value = match value.split('.').collect::<Vec<_>>()[..] {
                    ["inputs", name] => given[name].clone(),
                    ["steps", "run", "outputs", name] => outputs[name].clone(),
                    _ => panic!("{value}"),
                };
                env.insert(name.clone(), value);
            }
            let done = self.shell(script, &env);
            said.push_str(&String::from_utf8_lossy(&done.stdout));
            said.push_str(&String::from_utf8_lossy(&done.stderr));
            code = done.status.code().unwrap();
            for line in fs::read_to_string(&output).unwrap().lines() {
                let (name, value) = line.split_once('=').unwrap();
                outputs.insert(name.to_owned(), value.to_owned());
            }
        }
        let promised: Vec<&str> = action["outputs"]
            .as_object()
            .unwrap()
            .keys()
            .map(String::as_str)
            .collect();
        assert!(promised.iter().all(|name| outputs.contains_key(*name)));
        (outputs, code, said)
    }
}

const GREEN: &str = "version: 1\nname: first\nservers: { m: { command: jelly, args: [mock] } }\n\
    steps:\n  - { id: a, server: m, tool: echo, args: { message: hi } }\n";

#[test]
fn the_action_tells_the_verdict_and_where_the_report_is() {
    let runner = Runner::new(GREEN);
    let (outputs, code, said) = runner.act(&[]);
    assert_eq!((outputs["verdict"].as_str(), code), ("passed", 0), "{said}");
    assert!(
        Path::new(&outputs["report"]).join("junit.xml").is_file(),
        "{said}"
    );
    assert!(said.contains("is already installed"), "{said}");
    let summary = fs::read_to_string(runner.project.path("../summary")).unwrap();
    assert!(summary.contains("first"), "{summary}");

    let wrong = GREEN.replace("hi }", "hi }, expect: { text: { equals: ho } }");
    let runner = Runner::new(&wrong);
    let (outputs, code, said) = runner.act(&[]);
    assert_eq!(
        (outputs["verdict"].as_str(), code),
        ("code_failure", 1),
        "{said}"
    );
    assert!(said.contains("::error "), "{said}");

    let (outputs, code, _) = runner.act(&[("args", "plans/first.yaml\n--no-confirm")]);
    let before = outputs["report"].clone();
    assert_eq!((outputs["verdict"].as_str(), code), ("needs_user_help", 3));
    let (outputs, code, _) = runner.act(&[("args", "plans/absent.yaml")]);
    assert_eq!((outputs["verdict"].as_str(), code), ("invalid_input", 2));
    assert_ne!(outputs["report"], before, "not that of an earlier run");

    let elsewhere = "plans/first.yaml\n--reports-dir\nel se/where";
    let (outputs, _, said) = runner.act(&[("args", elsewhere)]);
    let report = Path::new(&outputs["report"]);
    assert!(report.join("junit.xml").is_file(), "{said}");
    assert!(outputs["report"].contains("/el se/where/"), "{outputs:?}");
    runner.project.write("jelly.yaml", "reports_dir: set\n");
    let (outputs, _, said) = runner.act(&[("args", "plans/first.yaml")]);
    assert!(outputs["report"].contains("/set/"), "{outputs:?}: {said}");
}

#[test]
fn the_action_triages_reports_and_runs_nothing_that_its_arguments_hold() {
    let runner = Runner::new(GREEN);
    runner.project.write(
        "results/junit.xml",
        "<testsuite name='a'><testcase name='b' classname='c'>\
         <failure message='connect ECONNREFUSED 127.0.0.1:5432'/></testcase></testsuite>",
    );
    let (outputs, code, said) =
        runner.act(&[("command", "triage"), ("args", "results\n--fail-on\nany")]);
    assert_eq!(
        (outputs["verdict"].as_str(), code),
        ("test_side_failure", 3),
        "{said}"
    );
    assert!(Path::new(&outputs["report"]).is_file());
    // Whatever else it prints, and wherever.
    for more in ["--format\nmd", "--output\nout.txt", "--emit\nretry-list"] {
        fs::remove_file(&outputs["report"]).unwrap();
        let args = format!("results\n--fail-on\nany\n{more}");
        let (outputs, code, said) = runner.act(&[("command", "triage"), ("args", &args)]);
        assert_eq!(code, 3, "{more}: {said}");
        assert!(Path::new(&outputs["report"]).is_file(), "{more}: {said}");
    }
    for hostile in [
        "$(touch pwned)",
        "`touch pwned`",
        "; touch pwned",
        "\" ; touch pwned; \"",
    ] {
        let (outputs, code, _) = runner.act(&[("command", "triage"), ("args", hostile)]);
        assert_eq!((outputs["exit-code"].as_str(), code), ("2", 2), "{hostile}");
        assert!(!runner.project.exists("pwned"), "{hostile}");
    }
}

#[test]
fn the_steps_of_each_pipeline_run_in_a_shell() {
    fn scripts(value: &Value, under: &[&str], found: &mut Vec<String>) {
        match value {
            Value::Object(map) => {
                for (key, value) in map {
                    let is_script = under.contains(&key.as_str());
                    match value {
                        Value::String(text) if is_script => found.push(text.clone()),
                        Value::Array(lines) if is_script => {
                            found.extend(lines.iter().filter_map(Value::as_str).map(str::to_owned));
                        }
                        value => scripts(value, under, found),
                    }
                }
            }
            Value::Array(items) => items.iter().for_each(|item| scripts(item, under, found)),
            _ => {}
        }
    }
    let quoted = |path: &str, quote: char, before: &str| -> Vec<String> {
        let text = fs::read_to_string(root(path)).unwrap();
        let lines = text
            .lines()
            .filter_map(|line| line.trim().split_once(before));
        lines
            .map(|(_, rest)| rest.split(quote).nth(1).unwrap().to_owned())
            .collect()
    };
    let in_yaml = |path: &str| {
        let text = fs::read_to_string(root(path)).unwrap();
        // GitLab's components have a header of their own.
        let text = text.rsplit("\n---\n").next().unwrap();
        let filled = text
            .replace("$[[ inputs.command ]]", "run")
            .replace("$[[ inputs.args ]]", "")
            .replace("$[[ inputs.version ]]", "latest");
        let mut found = Vec::new();
        let value = serde_yaml::from_str(&filled).unwrap();
        scripts(&value, &["script", "run", "command"], &mut found);
        found
    };
    for (path, steps) in [
        (
            "gitlab/templates/jelly.yml",
            in_yaml("packaging/ci/gitlab/templates/jelly.yml"),
        ),
        (
            "gitlab/gitlab-ci.yml",
            in_yaml("packaging/ci/gitlab/gitlab-ci.yml"),
        ),
        (
            "azure-pipelines.yml",
            in_yaml("packaging/ci/azure-pipelines.yml"),
        ),
        ("circleci.yml", in_yaml("packaging/ci/circleci.yml")),
        ("buildkite.yml", in_yaml("packaging/ci/buildkite.yml")),
        (
            "Jenkinsfile",
            quoted("packaging/ci/Jenkinsfile", '\'', "sh "),
        ),
        (
            "teamcity.kts",
            quoted("packaging/ci/teamcity.kts", '"', "scriptContent = "),
        ),
    ] {
        let runner = Runner::new(GREEN);
        assert_eq!(steps.len(), 2, "{path}: {steps:?}");
        let env = BTreeMap::from([("CI".to_owned(), "true".to_owned())]);
        for step in &steps {
            let done = runner.shell(step, &env);
            let said = String::from_utf8_lossy(&done.stdout);
            assert!(done.status.success(), "{path}: {step}: {said}");
        }
        let asked = fs::read_to_string(runner.project.path("../asked")).unwrap();
        assert!(asked.contains("jelly-mcp"), "{path}: {asked}");
        // Where the pipeline looks for it.
        let reports = fs::read_dir(runner.project.path("reports")).unwrap();
        let junit = reports
            .filter_map(Result::ok)
            .map(|run| run.path().join("junit.xml"));
        assert!(junit.into_iter().any(|file| file.is_file()), "{path}");
    }
}

#[test]
fn the_hook_for_commits_checks_what_it_is_given() {
    let hooks = yaml(".pre-commit-hooks.yaml");
    let hook = &hooks[0];
    assert_eq!(hook["id"], "jelly-check");
    let files = regex::Regex::new(hook["files"].as_str().unwrap()).unwrap();
    assert!(files.is_match("plans/a.yaml") && files.is_match("web/plans/a.json"));
    assert!(!files.is_match("src/a.yaml"));
    let runner = Runner::new(&GREEN.replace("tool:", "tol:"));
    let entry = format!("{} plans/first.yaml", hook["entry"].as_str().unwrap());
    let done = runner.shell(&entry, &BTreeMap::new());
    assert_eq!(done.status.code(), Some(2));
}
