//! `required_argument`, in a package's own arguments and beside a command.

use super::tests::{FakeFs, PROJECT, diagnosis, edited, ids, plan, says};
use super::{Facts, Proposal, RepairId, propose};
use jelly_base::model::{Failure, Phase, PlanIssue};
use jelly_plan::{Plan, Scope};
use std::collections::BTreeMap;
use std::path::Path;

fn found(plan: &Plan, failure: &Failure, root_cause: &str, env: &[(&str, &str)]) -> Vec<Proposal> {
    let env: BTreeMap<String, String> = env
        .iter()
        .map(|(name, value)| ((*name).to_owned(), (*value).to_owned()))
        .collect();
    let scope = Scope::new(
        PROJECT.into(),
        "/tmp/jelly".into(),
        env,
        BTreeMap::new(),
        &plan.vars,
    );
    let facts = Facts {
        project_dir: Path::new(PROJECT),
        scope: &scope,
        steps: &plan.steps_by_id(),
        tools: &[],
        fs: &FakeFs::new(),
    };
    propose(plan, failure, &diagnosis(root_cause), &facts)
}

fn lacks(name: &str) -> Failure {
    Failure {
        phase: Some(Phase::Config),
        server: Some("files".into()),
        issue: Some(PlanIssue::MissingPackageArgument { name: name.into() }),
        ..Failure::default()
    }
}

const PACKAGE: &str = r#"version: 1
vars: { region: eu }
servers:
  files:   # the one
    package:
      registry: npm
      identifier: s
      version: "1"
      package_arguments:
        - { type: named, name: --api-key, is_required: true, is_secret: true }
        - { type: named, name: --region, is_required: true }
        - { type: named, name: --level, is_required: true, choices: [low, high] }
        - { type: positional, value_hint: path }
    env: { LEVEL: high }
steps: [{ list: tools }]
"#;

#[test]
fn all_that_a_package_lacks_comes_from_its_namesakes() {
    let env = [("API_KEY", "k"), ("PATH", "/bin"), ("REGION", "us")];
    let before = plan(PACKAGE);
    // Whichever of the failures asks for it.
    for name in ["--api-key", "--region"] {
        let proposals = found(&before, &lacks(name), "missing_argument", &env);
        assert_eq!(ids(&proposals), [RepairId::RequiredArgument], "{name}");
        assert_eq!(
            proposals[0].explanation,
            "gave files the arguments `--api-key` and `--region` and `--level`, which its package \
             requires: the environment variable API_KEY; the plan's variable `region`; what `env` \
             says LEVEL is"
        );
        let text = edited(&before, &proposals[0]);
        let line = r#"package_args: { "--api-key": "${secret:API_KEY}", "--region": "${region}", "--level": high }"#;
        assert!(text.contains(line), "{line} in {text}");
        assert_eq!(text.replace(&format!("    {line}\n"), ""), PACKAGE);
        assert_eq!(proposals[0].servers_touched, ["files"]);
        assert!(!proposals[0].contract && proposals[0].steps_touched.is_empty());
        // Never twice.
        let after = plan(&text);
        assert_eq!(found(&after, &lacks(name), "missing_argument", &env), []);
    }
    // Half of it would help nobody.
    for env in [&[][..], &[("API_KEY", " ")]] {
        assert_eq!(
            found(&before, &lacks("--region"), "missing_argument", env),
            []
        );
    }
}

#[test]
fn what_is_given_already_stays_and_what_is_empty_is_nobodys_wish() {
    let given =
        |args: &str| PACKAGE.replace("    env:", &format!("    package_args: {args}\n    env:"));
    let env = [("API_KEY", "k")];
    let before = plan(&given("{ region: eu }   # ours"));
    let proposals = found(&before, &lacks("--level"), "missing_argument", &env);
    let text = edited(&before, &proposals[0]);
    let line = r#"package_args: { region: eu, "--api-key": "${secret:API_KEY}", "--level": high }   # ours"#;
    assert!(text.contains(line), "{text}");
    let empty = plan(&given("{ --region: \"\" }"));
    assert_eq!(
        found(&empty, &lacks("--region"), "missing_argument", &env),
        []
    );
    let unknown = plan(&given("{ --region: \"${env:NOPE}\" }"));
    assert_eq!(
        found(&unknown, &lacks("--level"), "missing_argument", &env),
        []
    );
}

#[test]
fn a_variable_of_every_system_is_no_source() {
    let text = PACKAGE
        .replace("--api-key", "--path")
        .replace("is_secret: true", "description: p");
    let env = [("PATH", "/bin")];
    assert_eq!(
        found(&plan(&text), &lacks("--path"), "missing_argument", &env),
        []
    );
}

#[test]
fn a_value_that_its_definition_forbids_is_no_source() {
    let plan = plan(&PACKAGE.replace("LEVEL: high", "LEVEL: middling"));
    let env = [("API_KEY", "k")];
    assert_eq!(
        found(&plan, &lacks("--level"), "missing_argument", &env),
        []
    );
}

const COMMAND: &str = r#"version: 1
servers:
  files:
    command: npx
    args: [-y, "s@1", --verbose, "on"]
    package:
      registry: npm
      identifier: s
      version: "1"
      package_arguments:
        - { type: positional, value_hint: dir, is_required: true, default: /data }
        - { type: named, name: --mode, is_required: true, default: "a b" }
        - { type: named, name: --verbose, description: v, is_required: true, default: "off" }
        - { type: named, name: --token=, is_required: true, is_secret: true }
steps:
  - { id: e, list: tools, expect: { error: { message: { contains: x } } } }
"#;

#[test]
fn what_a_command_lacks_is_appended_to_its_words() {
    let before = plan(COMMAND);
    let env = [("TOKEN", "t")];
    let dies = says("error: the following arguments are required: dir");
    let proposals = found(&before, &dies, "missing_argument", &env);
    assert_eq!(ids(&proposals), [RepairId::RequiredArgument]);
    let text = edited(&before, &proposals[0]);
    assert!(
        text.contains(r#""on", "--mode", a b, "--token=${secret:TOKEN}", /data]"#),
        "{text}"
    );
    assert_eq!(text.lines().count(), COMMAND.lines().count());
    // Nothing is left to be added.
    assert_eq!(found(&plan(&text), &dies, "missing_argument", &env), []);
    // Half of it would help nobody; another cause is another matter, and so is
    // a call that lacks something.
    assert_eq!(found(&before, &dies, "missing_argument", &[]), []);
    assert_eq!(found(&before, &dies, "missing_module", &env), []);
    let in_step = Failure {
        step: Some("e".into()),
        ..dies
    };
    assert_eq!(found(&before, &in_step, "missing_argument", &env), []);
}

#[test]
fn words_of_a_script_have_no_positions_that_are_known() {
    let text = COMMAND
        .replace("command: npx", "command: node")
        .replace(r#"-y, "s@1""#, "s.js")
        .replace("--token=, is_required: true, ", "--token=, ");
    let before = plan(&text);
    let dies = says("error: the following arguments are required: --mode");
    let proposals = found(&before, &dies, "missing_argument", &[]);
    assert!(edited(&before, &proposals[0]).contains(r#"[s.js, --verbose, "on", "--mode", a b]"#));
}
