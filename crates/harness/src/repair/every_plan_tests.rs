//! Every repair of every plan: its edits make the plan that was meant, and
//! touch no other byte of the file.

use super::{FakeFs, PROJECT, issue, proposals, says};
use crate::repair::RepairId;
use jelly_base::model::{Failure, Outcome, Phase, PlanIssue};
use jelly_plan::witness::{Witness, documents, dressed};
use jelly_plan::{Plan, PlanSource, Request, Step, apply};
use serde_json::Value;
use std::collections::BTreeMap;

/// Failures that ask for some repair of this step.
fn of_step(step: &Step) -> Vec<Failure> {
    let mut failures = vec![Failure {
        phase: Some(Phase::Call),
        server: Some(step.server.clone()),
        step: Some(step.id.clone()),
        outcome: Some(Outcome::Timeout),
        showed_life: Some(true),
        ..Failure::default()
    }];
    let Request::Tool(tool) = &step.request else {
        return failures;
    };
    for candidates in [vec!["its: real #name".to_owned()], Vec::new()] {
        let name = tool.clone();
        let unknown = PlanIssue::UnknownTool { name, candidates };
        failures.push(issue(&step.id, unknown));
    }
    for name in step.args.as_object().into_iter().flatten().map(|(k, _)| k) {
        failures.push(issue(
            &step.id,
            PlanIssue::UnknownArgument {
                tool: tool.clone(),
                name: name.clone(),
                candidates: vec!["real_name".to_owned()],
            },
        ));
    }
    let mut pointers = Vec::new();
    scalars(&step.args, "", &mut pointers);
    for pointer in pointers {
        let expected = ["string", "boolean", "integer"].map(str::to_owned);
        failures.push(issue(
            &step.id,
            PlanIssue::ArgumentType {
                tool: tool.clone(),
                pointer,
                expected: expected.to_vec(),
                actual: "null".to_owned(),
            },
        ));
    }
    failures
}

fn scalars(value: &Value, at: &str, found: &mut Vec<String>) {
    match value {
        Value::Object(map) => {
            for (key, value) in map {
                let key = key.replace('~', "~0").replace('/', "~1");
                scalars(value, &format!("{at}/{key}"), found);
            }
        }
        Value::Array(items) => {
            for (index, value) in items.iter().enumerate() {
                scalars(value, &format!("{at}/{index}"), found);
            }
        }
        Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
            found.push(at.to_owned());
        }
    }
}

/// Failures of the plan's servers, with what they are diagnosed as.
fn of_servers(plan: &Plan) -> Vec<(Failure, &'static str)> {
    let mut failures = Vec::new();
    for server in plan.servers.values() {
        let of = |failure: Failure| Failure {
            server: Some(server.name.clone()),
            ..failure
        };
        let slow = Failure {
            phase: Some(Phase::Handshake),
            outcome: Some(Outcome::Timeout),
            showed_life: Some(true),
            ..Failure::default()
        };
        failures.push((of(slow), "startup_timeout"));
        failures.push((of(says("EADDRINUSE")), "port_in_use"));
        let unset = Failure {
            phase: Some(Phase::Config),
            issue: Some(PlanIssue::MissingPackageArgument {
                name: "--region".to_owned(),
            }),
            ..Failure::default()
        };
        failures.push((of(unset), "missing_argument"));
        failures.push((of(says("usage: s --region NAME")), "missing_argument"));
        for folder in ["/srv/data", &format!("{PROJECT}/data")] {
            let said = format!("Error accessing directory {folder}: ENOENT");
            failures.push((of(says(&said)), "missing_directory"));
        }
    }
    for step in plan.all_steps() {
        if !plan.servers.contains_key(&step.server) {
            let unknown = PlanIssue::UnknownServer {
                name: step.server.clone(),
                candidates: plan.servers.keys().take(1).cloned().collect(),
            };
            failures.push((issue(&step.id, unknown), "unknown_server"));
        }
    }
    failures
}

/// Makes every repair that applies, alone; counts them by kind.
fn repair(text: &str, path: &str, counts: &mut BTreeMap<&'static str, usize>) {
    let source = PlanSource {
        path: path.into(),
        text: text.into(),
        variant: None,
    };
    let Ok(plan) = jelly_plan::load(source) else {
        return;
    };
    let witness = Witness::of(&plan.source);
    let of_steps = plan.all_steps().flat_map(of_step);
    let failures: Vec<(Failure, &str)> = of_steps
        .map(|failure| (failure, "some_cause"))
        .chain(of_servers(&plan))
        .collect();
    for (failure, cause) in failures {
        for proposal in proposals(&plan, &failure, cause, &FakeFs::new()) {
            let kind = proposal.id.name();
            *counts.entry(kind).or_default() += 1;
            let no_edit = matches!(
                proposal.id,
                RepairId::CreateDirectory | RepairId::QuarantineStep | RepairId::FreePort
            );
            assert_eq!(proposal.edits.is_empty(), no_edit, "{kind}");
            let repaired = match apply(&plan.source, &proposal.edits) {
                Ok(repaired) => repaired,
                Err(error) => panic!("{path}: {kind}: {error}\n{:?}\n{text}", proposal.edits),
            };
            if let Err(why) = witness.agrees(&proposal.edits, &repaired) {
                panic!("{path}: {kind}: {why}\n{:?}\n{text}", proposal.edits);
            }
            let again = jelly_plan::load(repaired)
                .unwrap_or_else(|error| panic!("{path}: {kind}: {error}"));
            assert_eq!(again.all_steps().count(), plan.all_steps().count());
            for (step, now) in plan.all_steps().zip(again.all_steps()) {
                assert_eq!(now.expect.json.len(), step.expect.json.len(), "{kind}");
                assert_eq!(now.capture.len(), step.capture.len(), "{kind}");
            }
        }
    }
}

/// On paths inside and outside of the project, on names and values that are
/// nearly right, in every way in which a value can be written.
const MENDABLE: &str = r#"
# A plan with something to mend at every step.
version: 1
vars: { dir: /srv/data, region: eu }   # outside
servers:
  files:
    command: npx
    # pinned
    args:
      - -y
      - '@modelcontextprotocol/server-filesystem'
      - /srv/data   # missing
    startup_timeout: 5s # short
  "inside": { command: npx, args: ["-y", "@modelcontextprotocol/server-filesystem", "${workspace}/data"], env: { PORT: "${port}" } }
  packed:
    package:   # as the registry has it
      registry: npm
      identifier: s
      version: "1"
      package_arguments:
        - { type: named, name: --region, is_required: true }
        - { type: named, name: --level, is_required: true }
    env: { LEVEL: high }   # its namesake
  given: { package: { registry: npm, identifier: s, version: '1', package_arguments: [{ type: named, name: --region, is_required: true }, { type: named, name: --quiet }] }, package_args: { "--quiet": on } }
  beside:
    command: npx
    args: [-y, s]   # lacks two words
    package: { registry: npm, identifier: s, version: "1", package_arguments: [{ type: named, name: --region, is_required: true, default: us }] }
  below:
    command: npx
    args:
      - -y
      - s   # the last
    package: { registry: npm, identifier: s, version: "1", package_arguments: [{ type: named, name: --region, is_required: true }] }
steps:
  - id: write
    server: fils
    tool: "write_fil"
    args: { pth: '/srv/data/a.txt', "content": "5", mode: 0 }
    timeout: 2s
  # a folder below
  - { id: list, server: 'fils', tool: list, args: { path: "/srv/data/sub", deep: [ "true", { n: 7 } ] } }

  - id: read
    server: inside
    tool: read
    args:
      path: ${workspace}/data/b.txt   # the same
      lines:
        - 1
        - "2"
  - { id: plain, server: files, tool: t, args: { path: "/srv/data/./x/y" } }
"#;

#[test]
fn every_repair_of_every_plan_in_the_repository_changes_what_it_says_and_no_other_byte() {
    let mut counts = BTreeMap::new();
    let texts: Vec<(String, String)> = documents();
    let mut texts = jelly_base::testing::slice(6, texts);
    texts.push(("mendable.yaml".to_owned(), MENDABLE.to_owned()));
    for (name, text) in &texts {
        for text in dressed(text) {
            repair(&text, &format!("{name}.yaml"), &mut counts);
        }
    }
    for kind in [
        RepairId::CreateDirectory,
        RepairId::FilesystemWorkspace,
        RepairId::RenameServer,
        RepairId::RenameTool,
        RepairId::RenameArgument,
        RepairId::CoerceArgument,
        RepairId::QuarantineStep,
        RepairId::RaiseTimeout,
        RepairId::FreePort,
        RepairId::RequiredArgument,
    ] {
        let count = counts.get(kind.name()).copied().unwrap_or_default();
        assert!(count > 0, "no plan needed {}: {counts:?}", kind.name());
    }
}
