//! Plans that jelly shows and stores: all of `headers` and every secret that is
//! spelled out is left out of them, they say so, and nobody runs them.

use crate::support::talker::files;
use crate::support::{Ended, Project};

/// Values that neither their names nor their forms call secret, and some that
/// are; each holds `hush`.
const YAML: &str = r#"# headers as they were: { Authorization: "Bearer hush-0" }
version: 1
servers:
    far: # not used
        url: https://mcp.example.org/mcp?key=hush-1
        headers: { X-Trace: hush-2, X-Tenant: 'hush 3', Accept-Language: "hush\u002d4" }
        command: jelly
        args: [ mock, --http, "${port}" ]
    s:   { command: jelly, args: [ mock ], env: { API_KEY: hush-five, PASSWORD: hush } }
steps:
    -   { id: one, server: s, tool: 'ecoh', args: { "message": hi } }   # again
    -   { id: two, server: s, tool: echo, args: { "message": hi, password: hush-six } }
"#;

const JSON: &str = r#"{
	"version": 1,
	"servers": {
		"far": { "url": "https://mcp.example.org/mcp", "headers": { "X-Trace": "hush-2", "X-N": "hu\u0073h" } },
		"s": { "command": "jelly", "args": ["mock"], "env": { "API_KEY": "hush-five" } }
	},
	"steps": [ { "id": "one", "server": "s", "tool": "ecoh", "args": { "message": "hi" } } ]
}
"#;

const MASKED: &str = "# masked by jelly: ";

fn hides(text: &str, place: &str) {
    for value in ["hush", "hu\\u0073h"] {
        assert!(!text.contains(value), "{place} shows {value}: {text}");
    }
}

/// In what was printed, and in every file of the reports.
#[track_caller]
fn hides_all(project: &Project, ended: &Ended) {
    let mut all = vec![
        ("stdout".to_owned(), ended.stdout.clone()),
        ("stderr".to_owned(), ended.stderr.clone()),
    ];
    files(&project.path("reports"), &mut all);
    for (place, text) in &all {
        hides(text, place);
    }
}

#[test]
fn a_repaired_plan_is_shown_masked_and_applied_whole() {
    for (name, text) in [("plan.yaml", YAML), ("plan.json", JSON)] {
        let project = Project::empty();
        project.write(name, text);
        let summary = project.at("reports/summary.md");
        let run = project
            .jelly(&["run", name, "--record", "--retries", "0"])
            .env("GITHUB_ACTIONS", "true")
            .env("GITHUB_STEP_SUMMARY", &summary)
            .output();
        assert_eq!(run.code, Some(4), "{}{}", run.stdout, run.stderr);
        hides_all(&project, &run);
        let stored = project.read("reports/latest/repaired-plan.yaml");
        assert!(stored.starts_with(MASKED), "{stored}");
        assert!(stored.contains("echo"), "{stored}");
        let patch = project.read("reports/latest/repair.patch");
        assert!(patch.starts_with(MASKED), "{patch}");

        let reports = std::fs::read_link(project.path("reports/latest")).unwrap();
        let report = format!("reports/{}", reports.display());
        let stored = format!("{report}/repaired-plan.yaml");
        for command in [
            &["run"][..],
            &["run", "--write-repairs"],
            &["check"],
            &["check", "--format", "json"],
        ] {
            let refused = [command, &[stored.as_str()]].concat();
            let ended = project.jelly(&refused).output();
            assert_eq!(ended.code, Some(2), "{command:?}");
            let told = format!("{}{}", ended.stdout, ended.stderr);
            assert!(told.contains("jelly apply"), "{command:?}: {told}");
            assert!(told.contains("--write-repairs"), "{command:?}: {told}");
        }

        let shown = project.jelly(&["apply", "--dry-run", &report]).output();
        assert!(shown.stdout.contains("ecoh"), "{}", shown.stdout);
        hides(&shown.stdout, "apply");
        let applied = project.jelly(&["apply", "--yes", &report]).output();
        assert_eq!(applied.code, Some(0), "{}", applied.stderr);
        assert_eq!(project.read(name), text.replace("ecoh", "echo"));
    }
}

#[test]
fn what_is_written_at_once_is_the_users_own_text() {
    let project = Project::with(YAML);
    let run = project.run(&["--write-repairs", "--accept-repairs"]);
    run.ends(0, "passed_after_repair");
    assert_eq!(project.read("plan.yaml"), YAML.replace("ecoh", "echo"));
    assert!(
        project
            .read("reports/latest/repaired-plan.yaml")
            .starts_with(MASKED)
    );
    hides(&run.stdout, "stdout");
}

#[test]
fn what_a_hook_is_told_and_does_is_shown_masked() {
    let plan = YAML
        .replace(
            "steps:",
            "hooks: { fix_tests: [./fix.sh, --token, hush-seven] }\nsteps:",
        )
        .replace("ecoh", "no_such_thing");
    // It changes a header, spells out another, and last leaves no plan at all.
    for (edit, is_plan) in [
        ("s/hush-2/hush-of-the-hook/", true),
        ("s/X-Trace: hush-2/X-Other: hush-2, X-More: hush-8/", true),
        ("s/X-Trace: hush-2/X-Other: hush-9 ]/", false),
    ] {
        let project = Project::with(&plan);
        let script = format!(
            "#!/bin/sh\ncat > reports/hook-stdin\nsed -i 's/no_such_thing/echo/; {edit}' plan.yaml\n"
        );
        project.script("fix.sh", &script);
        let ended = project
            .call(&["--no-repair", "--record", "--retries", "0"])
            .output();
        hides_all(&project, &ended);
        for when in ["before", "after"] {
            let file = format!("reports/latest/plan-{when}-fix_tests-1.yaml");
            let text = project.read(&file);
            assert!(text.starts_with(MASKED), "{text}");
        }
        let results = project.read("reports/latest/results.json");
        assert!(results.contains("masked by jelly"), "{results}");
        assert_eq!(ended.code != Some(2), is_plan || ended.code == Some(3));
    }
}

#[test]
fn a_plan_that_is_wrong_is_quoted_without_its_headers() {
    for (from, to) in [
        ("version: 1", "version: 1\nwhat: 1"),
        ("headers:", "wat: 1, headers:"),
        ("X-Trace: hush-2", "X-Trace: 'hush-2 ${'"),
        ("X-Trace: hush-2", "X-Trace: hush-2 ]"),
    ] {
        let project = Project::with(&YAML.replace(from, to));
        for args in [
            &["check", "plan.yaml"][..],
            &["check", "--format", "json", "plan.yaml"],
            &["run", "plan.yaml"],
        ] {
            let ended = project.jelly(args).output();
            assert_eq!(ended.code, Some(2), "{to}: {}", ended.stderr);
            hides(&ended.stdout, "stdout");
            hides(&ended.stderr, "stderr");
        }
    }
}
