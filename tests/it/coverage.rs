//! `jelly run --coverage`: what a plan exercises of what its servers list.

use crate::support::{Project, real};
use serde_json::Value;

/// `kind: covered of total`.
fn totals(coverage: &Value) -> Vec<String> {
    let totals = coverage["totals"].as_array().into_iter().flatten();
    totals
        .map(|it| format!("{}: {} of {}", it["kind"], it["covered"], it["total"]).replace('"', ""))
        .collect()
}

const DESK: &str = r#"
name: desk
tools:
  - name: paint
    inputSchema:
      type: object
      properties: { color: { enum: [red, blue] }, size: { type: object, properties: { w: { type: integer } } } }
    response: { text: done }
  - name: look
    inputSchema: { type: object }
    response: { text: seen }
"#;

fn plan(steps: &str) -> String {
    format!(
        "version: 1\nservers:\n  desk: {{ command: jelly, args: [mock, --script, desk.yaml] }}\n\
         steps:\n{steps}"
    )
}

const LOOK: &str = "  - { id: look, tool: look }\n";
const PAINT: &str = "  - { id: paint, tool: paint, args: { color: red, size: { w: 1 } } }\n";

/// One plan, several, shards, and a limit for each.
#[test]
fn what_is_exercised_is_counted_over_plans_and_shards_and_held_to_a_limit() {
    let project = Project::empty();
    project.write("desk.yaml", DESK);
    project.write("a.yaml", plan(&format!("{LOOK}{PAINT}")));
    project.write("b.yaml", plan(LOOK));
    project.write("c.yaml", plan(PAINT));
    let run = |args: &[&str]| {
        let mut all = vec!["run", "--no-history", "--format", "json"];
        all.extend(args);
        let ended = project.jelly(&all).output();
        let report: Value = serde_json::from_str(&ended.stdout).unwrap_or_default();
        (ended, report)
    };
    let whole = [
        "tools: 2 of 2",
        "arguments: 3 of 3",
        "enum_values: 1 of 2",
        "error_paths: 0 of 1",
    ];
    let (ended, report) = run(&["a.yaml", "--coverage", "--reports-dir", "r"]);
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(totals(&report["coverage"]), whole);
    let kept: Value = serde_json::from_str(&project.read("r/latest/results.json")).unwrap();
    assert_eq!(kept["coverage"], report["coverage"]);
    let told = project.read("r/latest/test_results.md");
    assert!(told.contains("| tools       |  2 of 2 | 100 % |"), "{told}");
    assert!(told.contains("`paint/color=blue`"), "{told}");
    let (_, less) = run(&["b.yaml", "--coverage", "--report", "html=page.html"]);
    let page = project.read("page.html");
    for shown in ["1 of 2", "50 %", "<code>paint</code>"] {
        assert!(page.contains(shown), "{shown}: {page}");
    }
    assert_eq!(
        totals(&less["coverage"])[..2],
        ["tools: 1 of 2", "arguments: 0 of 3"]
    );
    let (_, none) = run(&["b.yaml"]);
    assert_eq!(none["coverage"], Value::Null);

    for (args, code) in [
        (&["a.yaml", "--min-coverage", "tools=100%"][..], 0),
        (
            &["a.yaml", "--min-coverage", "tools=100,enum_values=51%"],
            3,
        ),
        (&["a.yaml", "--min-coverage", "prompts=1%"], 3),
        (&["b.yaml", "--min-coverage", "tools=80%"], 3),
        (&["b.yaml", "c.yaml", "--min-coverage", "tools=80%"], 0),
        (
            &["b.yaml", "c.yaml", "--min-coverage", "error_paths=80%"],
            3,
        ),
        (&["a.yaml", "--min-coverage", "tool=80%"], 2),
    ] {
        let (ended, report) = run(args);
        assert_eq!(ended.code, Some(code), "{args:?} {}", ended.stderr);
        if code == 3 {
            assert_eq!(report["verdict"], "needs_user_help", "{args:?}");
            assert_eq!(report["exit_code"], 3, "{args:?}");
        }
    }
    let told = project
        .jelly(&[
            "run",
            "b.yaml",
            "--no-history",
            "--min-coverage",
            "tools=80%",
        ])
        .output();
    for said in [
        "coverage: tools 50%, arguments 0%",
        "not: paint",
        "50% of the tools are covered (1 of 2)",
    ] {
        assert!(told.stdout.contains(said), "{said}: {}", told.stdout);
    }

    for shard in ["1/2", "2/2"] {
        let dir = format!("s{}", &shard[..1]);
        let (ended, _) = run(&[
            "b.yaml",
            "c.yaml",
            "--coverage",
            "--shard",
            shard,
            "--reports-dir",
            &dir,
        ]);
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    }
    for (least, code) in [("tools=100%", 0), ("enum_values=80%", 3)] {
        let merge = [
            "merge",
            "s1",
            "s2",
            "--format",
            "json",
            "--min-coverage",
            least,
        ];
        let ended = project.jelly(&merge).output();
        assert_eq!(ended.code, Some(code), "{}", ended.stderr);
        let merged: Value = serde_json::from_str(&ended.stdout).unwrap();
        assert_eq!(totals(&merged["coverage"]), whole);
    }
}

/// A real server with its shipped plan: told rightly, and less without a step.
#[test]
fn coverage_of_a_real_server_falls_when_a_step_is_taken_out() {
    let project = Project::empty();
    real("npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js");
    let plan = concat!(env!("CARGO_MANIFEST_DIR"), "/plans/everything.yaml");
    let covered = |flags: &[&str]| {
        let mut args = vec![
            "run",
            plan,
            "--no-history",
            "--format",
            "json",
            "--coverage",
        ];
        args.extend(flags);
        let ended = project.jelly(&args).output();
        assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        let report: Value = serde_json::from_str(&ended.stdout).unwrap();
        report["coverage"].clone()
    };
    let whole = covered(&[]);
    let items = whole["items"].as_array().unwrap();
    let is = |kind: &str, item: &str| {
        let mut found = items
            .iter()
            .filter(|it| it["kind"] == kind && it["item"] == item);
        found.next().map(|it| it["covered"] == true)
    };
    assert_eq!(is("tools", "tools/echo"), Some(true), "{whole}");
    assert_eq!(is("arguments", "tools/echo/message"), Some(true));
    assert_eq!(is("tools", "tools/gzip-file-as-resource"), Some(false));
    let less = covered(&["--skip", "sum"]);
    assert_ne!(totals(&whole), totals(&less));
    let of = |coverage: &Value| coverage["totals"][0]["covered"].as_u64().unwrap();
    assert_eq!(of(&less) + 1, of(&whole), "{whole} {less}");
}
