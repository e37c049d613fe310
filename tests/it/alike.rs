//! What many failures of one kind, and large answers, look like to a person.

use crate::support::{Ended, Project};

/// So much of a terminal may many alike failures take.
const ALIKE: usize = 16 * 1024;

/// A plan with a step for each number, with these arguments and expectations.
fn many(step: impl Fn(usize) -> String) -> Project {
    let steps: String = (0..300)
        .map(|n| format!("  - {{ id: s{n}, {} }}\n", step(n)))
        .collect();
    Project::with(&format!(
        "version: 1\nservers: {{ m: {{ command: jelly, args: [mock, --tool, 'say=$${{args.text}}'] }} }}\nsteps:\n{steps}"
    ))
}

fn read_by_a_person(ended: &Ended) {
    let shown = &ended.stdout;
    assert!(shown.len() <= ALIKE, "{} bytes:\n{shown}", shown.len());
    assert!(shown.lines().count() <= 80, "{shown}");
}

#[test]
fn three_hundred_alike_failures_fit_on_a_page() {
    let kinds: [(&str, Project); 3] = [
        (
            "an answer that differs in its number only",
            many(|n| {
                format!(
                    "tool: say, args: {{ text: v{n} }}, expect: {{ text: {{ equals: ready }} }}"
                )
            }),
        ),
        (
            "the same wrong answer",
            many(|_| {
                "tool: say, args: { text: same }, expect: { text: { equals: ready } }".to_owned()
            }),
        ),
        (
            "an argument that is missing",
            many(|_| "tool: echo".to_owned()),
        ),
    ];
    for (kind, project) in kinds {
        let run = project.run(&[]);
        assert_ne!(run.code, Some(0), "{kind}");
        assert_eq!(run.last().total("total"), 300, "{kind}");
        read_by_a_person(&run.ended);
        assert!(
            run.ended.stdout.contains("and 295 more"),
            "{kind}: {}",
            run.ended.stdout
        );
        // Nothing is lost by it.
        let report = project.read("reports/latest/test_results.md");
        assert!(report.contains("s299"), "{kind}");
    }
}

#[test]
fn steps_that_wait_for_a_dead_server_are_counted() {
    let project = many(|_| "tool: echo, args: { message: a }".to_owned());
    project.write(
        "plan.yaml",
        project.read("plan.yaml").replace(
            "command: jelly, args: [",
            "command: jelly, args: [--no-such, ",
        ),
    );
    let run = project.run(&[]);
    read_by_a_person(&run.ended);
    assert_eq!(run.last().total("blocked"), 300);
}

#[test]
fn what_failed_as_before_is_told_once() {
    let step = |id: &str| {
        format!("  - {{ id: {id}, tool: down, expect: {{ text: {{ contains: ready }} }} }}\n")
    };
    let project = Project::with(&format!(
        "version: 1\nservers: {{ m: {{ command: jelly, args: [mock, --tool, 'down=connect ECONNREFUSED 127.0.0.1:5432'] }} }}\nsteps:\n{}{}{}",
        step("a"),
        step("b"),
        step("c")
    ));
    let run = project.run(&[]);
    let shown = &run.ended.stdout;
    let count = |what: &str| shown.matches(what).count();
    assert_eq!(count("FAIL     m/a ("), 1, "{shown}");
    assert_eq!(count("m/a, m/b, m/c: as in iteration"), 2, "{shown}");
    assert_eq!(count("START    m"), 1, "{shown}");
    assert!(shown.lines().count() < 45, "{shown}");
}

#[test]
fn new_snapshots_are_one_thing_to_do() {
    let names = [
        "greeting", "sum", "list", "weather", "users", "title", "tail",
    ];
    let steps: String = names
        .iter()
        .map(|n| format!("  - {{ id: {n}, tool: say, args: {{ text: {n} }}, expect: {{ text: {{ snapshot: {n} }} }} }}\n"))
        .collect();
    let project = Project::with(&format!(
        "version: 1\nservers: {{ m: {{ command: jelly, args: [mock, --tool, 'say=$${{args.text}}'] }} }}\nsteps:\n{steps}"
    ));
    let run = project.run(&[]);
    let help = &run.results["help_summary"];
    let problems = help["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "{help}");
    assert_eq!(
        problems[0]["what"],
        "Nothing is stored yet for the snapshots of 7 steps: greeting, sum, list, weather, users, title, tail"
    );
    let next = problems[0]["next"].to_string();
    for command in [
        "$ jelly snapshot review --plan plan.yaml",
        "$ jelly snapshot accept --plan plan.yaml",
    ] {
        assert!(next.contains(command), "{next}");
    }
    let accepted = project
        .jelly(&["snapshot", "accept", "--plan", "plan.yaml"])
        .env("CI", "")
        .output();
    assert!(
        accepted.stdout.contains("7 accepted"),
        "{}",
        accepted.stdout
    );
    project.run(&[]).ends(0, "passed");
}

/// 700 lines, of which one is another one; the same as JSON in one line.
fn large(at: usize, changed: &str, as_json: bool) -> String {
    let rows: Vec<String> = (0..700)
        .map(|n| {
            if n == at {
                changed.to_owned()
            } else {
                format!("row {n} of many")
            }
        })
        .collect();
    match as_json {
        true => serde_json::json!({ "rows": rows }).to_string(),
        false => rows.join("\n"),
    }
}

fn answers(project: &Project, name: &str, text: &str) {
    let script = serde_json::json!({
        "tools": [{ "name": "big", "response": { "content": [{ "type": "text", "text": text }] } }]
    });
    project.write(name, script.to_string());
}

#[test]
fn a_change_in_a_large_answer_is_shown_and_not_its_beginning() {
    let project = Project::with(
        "version: 1\nservers: { m: { command: jelly, args: [mock, --script, '${workspace}/answer.json'] } }\n\
         steps: [{ id: big, tool: big, expect: { text: { snapshot: big } } }]\n",
    );
    for as_json in [false, true] {
        answers(&project, "answer.json", &large(0, "row 0 of many", as_json));
        project.run(&[]);
        project
            .jelly(&["snapshot", "accept"])
            .env("CI", "")
            .output();
        project.run(&[]).ends(0, "passed");
        answers(
            &project,
            "answer.json",
            &large(499, "row gone astray", as_json),
        );
        let run = project.run(&[]);
        let (shown, value) = (&run.ended.stdout, run.results.to_string());
        let review = project
            .jelly(&["snapshot", "review"])
            .env("CI", "")
            .output();
        let report = project.read("reports/latest/test_results.md");
        for (place, text) in [
            ("terminal", shown),
            ("data", &value),
            ("report", &report),
            ("review", &review.stdout),
        ] {
            assert!(text.contains("row gone astray"), "{place}: {text}");
        }
        for (place, text) in [("terminal", shown), ("review", &review.stdout)] {
            assert!(text.len() < 8000, "{place}: {} bytes", text.len());
        }
        let message = run.last().failure("big")["message"].to_string();
        assert!(message.contains("row gone astray"), "{message}");
        project
            .jelly(&["snapshot", "reject"])
            .env("CI", "")
            .output();
    }
}

#[test]
fn variants_with_large_answers_show_the_lines_that_differ() {
    let project = Project::with(
        "version: 1\nmatrix: { servers: { m: [old, new] } }\nservers:\n  \
         old: { command: jelly, args: [mock, --script, '${workspace}/old.json'] }\n  \
         new: { command: jelly, args: [mock, --script, '${workspace}/new.json'] }\n\
         steps: [{ id: big, server: m, tool: big }]\n",
    );
    for as_json in [false, true] {
        answers(&project, "old.json", &large(0, "row 0 of many", as_json));
        answers(
            &project,
            "new.json",
            &large(499, "row gone astray", as_json),
        );
        let run = project.jelly(&["run", "plan.yaml"]).output();
        let shown = &run.stdout;
        assert!(shown.contains("row gone astray"), "{shown}");
        assert!(shown.contains("row 499 of many"), "{shown}");
        assert!(shown.len() < 8000, "{} bytes: {shown}", shown.len());
    }
}
