//! Repairs that land in the user's own file: `jelly run --write-repairs` and
//! `jelly apply`.

use crate::support::{Ended, Project};
use serde_json::Value;
use std::fs;

/// A slip in a tool's name, in a file that its owner has laid out.
const SLIP: &str = r#"# smoke test
version: 1
servers:
    s:   { command: jelly, args: [ mock ] }   # the mock

steps:
    -   id: one
        server: s
        tool: 'ecoh'     # says it again
        args: { "message": hi }
        expect: { text: { equals: hi } }
"#;

fn mended() -> String {
    SLIP.replace("'ecoh'", "'echo'")
}

fn plan(project: &Project) -> String {
    project.read("plan.yaml")
}

fn apply(project: &Project, args: &[&str]) -> Ended {
    project.jelly(&[&["apply"], args].concat()).output()
}

#[test]
fn a_run_writes_its_repairs_when_it_is_asked_to() {
    let project = Project::with(SLIP);
    let run = project.run(&["--write-repairs", "--accept-repairs"]);
    run.ends(0, "passed_after_repair");
    assert_eq!(plan(&project), mended());
    assert_eq!(run.results["repairs_written"], true);
    assert!(run.markdown.contains("It was written to your file"));
    assert!(
        run.stdout.contains("written: plan.yaml holds the repairs"),
        "{}",
        run.stdout
    );
    assert!(
        run.stdout.contains("-        tool: 'ecoh'"),
        "the diff is shown"
    );
    project.run(&[]).ends(0, "passed");
}

#[test]
fn nothing_is_written_unasked_or_when_the_repairs_did_not_help() {
    let project = Project::with(SLIP);
    let run = project.run(&["--accept-repairs"]);
    run.ends(0, "passed_after_repair");
    assert_eq!(plan(&project), SLIP);
    assert!(
        run.markdown
            .contains("Your file does not hold the repairs: `jelly apply reports/")
    );

    let hopeless = SLIP.replace("equals: hi", "equals: ho");
    let project = Project::with(&hopeless);
    let run = project.run(&["--write-repairs"]);
    assert_ne!(run.code, Some(0));
    assert_eq!(plan(&project), hopeless);
    assert_ne!(run.results["repairs_written"], true);
    assert!(
        run.stdout.contains("no repair was written"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_plan_that_changed_under_the_run_is_not_overwritten() {
    let project = Project::with(&SLIP.replace(
        "{ command: jelly, args: [ mock ] }",
        "{ command: sh, args: [ start.sh ] }",
    ));
    // As its owner does in an editor meanwhile.
    let jelly = env!("CARGO_BIN_EXE_jelly");
    project.write(
        "start.sh",
        format!(
            "echo '# later' >> plan.yaml
exec '{jelly}' mock
"
        ),
    );
    let run = project.run(&["--write-repairs", "--accept-repairs"]);
    run.ends(3, "needs_user_help");
    assert!(plan(&project).contains("'ecoh'"));
    let warnings = run.results["warnings"].to_string();
    assert!(
        warnings.contains("it was changed since it was read"),
        "{warnings}"
    );
}

#[test]
fn apply_takes_over_what_an_earlier_run_repaired() {
    let project = Project::with(SLIP);
    project.run(&[]).ends(4, "passed_after_repair");

    let shown = apply(&project, &["--dry-run"]);
    assert_eq!(shown.code, Some(0));
    assert!(
        shown.stdout.contains("+        tool: 'echo'"),
        "{}",
        shown.stdout
    );
    assert!(shown.stdout.contains("rename_tool on steps.one: "));
    assert_eq!(plan(&project), SLIP);

    let applied = apply(&project, &["reports/latest"]);
    assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    assert!(applied.stdout.contains("wrote plan.yaml with 1 repair"));
    assert_eq!(plan(&project), mended());

    let again = apply(&project, &["reports/latest/results.json"]);
    assert_eq!(again.code, Some(0));
    assert!(
        again.stdout.contains("it holds the repairs"),
        "{}",
        again.stdout
    );
}

#[test]
fn apply_leaves_a_plan_alone_that_is_another_now() {
    let project = Project::with(SLIP);
    project.run(&[]).ends(4, "passed_after_repair");
    let newer = format!("# newer\n{SLIP}");
    project.write("plan.yaml", &newer);
    let refused = apply(&project, &[]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused
            .stderr
            .contains("it is not the plan of that run any more"),
        "{}",
        refused.stderr
    );
    assert_eq!(plan(&project), newer);
}

#[test]
fn apply_refuses_repairs_that_did_not_make_the_run_green() {
    let hopeless = SLIP.replace("equals: hi", "equals: ho");
    let project = Project::with(&hopeless);
    let run = project.run(&[]);
    assert!(run.actions().contains(&"repair_mcp_plan"));
    let refused = apply(&project, &[]);
    assert_eq!(refused.code, Some(3));
    assert!(refused.stderr.contains("did not pass with its repairs"));
    assert_eq!(plan(&project), hopeless);
}

#[test]
fn apply_writes_the_plan_that_passed_or_nothing() {
    let project = Project::with(SLIP);
    project.run(&[]).ends(4, "passed_after_repair");
    let path = "reports/latest/results.json";
    let mut results: Value = serde_json::from_str(&project.read(path)).unwrap();
    let edit = &mut results["iterations"][0]["action"]["repairs"][0]["edits"][0];
    assert_eq!(edit["value"], "echo", "{edit}");
    edit["value"] = Value::from("add");
    project.write(path, results.to_string());
    let refused = apply(&project, &[]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused
            .stderr
            .contains("does not hold all of the repaired plan"),
        "{}",
        refused.stderr
    );
    assert_eq!(plan(&project), SLIP);
}

#[test]
fn apply_serves_each_of_several_plans() {
    let project = Project::with(SLIP);
    project.write("second.yaml", SLIP);
    project.write("third.yaml", mended());
    let call = project.jelly(&["run", "plan.yaml", "second.yaml", "third.yaml"]);
    assert_eq!(call.output().code, Some(4));
    project.write("plan.yaml", "version: 1\n");
    let applied = apply(&project, &[]);
    assert_eq!(applied.code, Some(2), "the first is another now");
    assert_eq!(project.read("second.yaml"), mended());
    assert!(
        applied
            .stdout
            .contains("third.yaml: the run made no repairs")
    );
}

#[test]
fn apply_says_what_it_needs_when_there_is_no_report() {
    let project = Project::empty();
    let refused = apply(&project, &[]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused
            .stderr
            .contains("there is no report reports/latest/results.json")
    );
    project.write("junk.json", "{}");
    let refused = apply(&project, &["junk.json"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stderr.contains("it is not a results.json"),
        "{}",
        refused.stderr
    );
}

#[test]
fn a_report_from_elsewhere_is_applied_by_who_says_so_only() {
    let project = Project::with(SLIP);
    project.run(&[]).ends(4, "passed_after_repair");
    let report = project.path("reports").join("latest");
    fs::create_dir(project.path("artifact")).unwrap();
    fs::copy(
        report.join("results.json"),
        project.path("artifact/results.json"),
    )
    .unwrap();
    let refused = apply(&project, &["artifact"]);
    assert_eq!(refused.code, Some(2));
    assert!(
        refused.stdout.contains("+        tool: 'echo'"),
        "{}",
        refused.stdout
    );
    assert!(refused.stderr.contains("--yes"), "{}", refused.stderr);
    assert_eq!(plan(&project), SLIP);
    let applied = apply(&project, &["artifact", "--yes"]);
    assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    assert_eq!(plan(&project), mended());
}

#[test]
fn a_person_at_a_terminal_is_asked_before_the_plan_is_written() {
    let project = Project::with(SLIP);
    project.run(&[]).ends(4, "passed_after_repair");
    let question = "write it? [y]es, [n]o: ";
    let no = project.at_a_terminal(&[(question, "n")], &["apply"]);
    assert_eq!(no.code, Some(0), "{}", no.stdout);
    assert!(no.stdout.contains("left as it is"), "{}", no.stdout);
    assert_eq!(plan(&project), SLIP);
    let yes = project.at_a_terminal(&[(question, "perhaps"), (question, "yes")], &["apply"]);
    assert_eq!(yes.code, Some(0), "{}", yes.stdout);
    assert_eq!(plan(&project), mended());
}

#[test]
fn a_repair_that_an_anchor_forbids_is_named_with_the_reason() {
    let shared = SLIP.replace("tool: 'ecoh'", "tool: &t 'ecoh'").replace(
        "equals: hi } }",
        "equals: hi } }\n    -   { id: two, server: s, tool: *t, args: { message: hi } }",
    );
    let project = Project::with(&shared);
    let run = project.run(&["--write-repairs"]);
    run.ends(3, "needs_user_help");
    assert_eq!(plan(&project), shared);
    let help = run.help();
    for said in [
        "rename_tool of steps.one",
        "rename_tool of steps.two",
        "anchor (line 9)",
    ] {
        assert!(help.contains(said), "{said} in {help}");
    }
    // None was made, and why is said: there is nothing else to say of writing.
    let warnings = run.results["warnings"].to_string();
    assert!(!warnings.contains("no repair was written"), "{warnings}");
}
