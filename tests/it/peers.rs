//! Where programs of this kind fail.

use crate::support::{Project, run};

#[test]
fn a_misspelt_key_in_a_plan_is_an_error_and_never_a_pass() {
    let plan = "
version: 1
servers: { s: { command: jelly, args: [mock] } }
steps:
  - id: add
    tool: add
    args: { a: 1, b: 2 }
    expcet: { structured: { equals: { sum: 3 } } }
";
    let project = Project::with(plan);
    let ended = project.call(&[]).output();
    assert_eq!(ended.code, Some(2), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stderr.contains("plan.yaml:8:5"), "{}", ended.stderr);
    assert!(ended.stderr.contains("`expect`"), "{}", ended.stderr);
}

#[test]
fn an_error_of_a_tool_fails_a_step_without_expectations() {
    let run = run("
version: 1
servers: { s: { command: jelly, args: [mock] } }
steps: [{ id: fail, tool: fail, args: { message: no such order } }]
");
    assert_ne!(run.code, Some(0));
    assert_eq!(run.last().state("fail"), "failed");
    assert!(run.help().contains("no such order"), "{}", run.help());
}
