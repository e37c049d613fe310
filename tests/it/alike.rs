//! What many failures of one kind, and large answers, look like to a person.

use crate::support::{Ended, Project, Run};
use std::fs;

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
#[ignore = "takes long: `.ci/full` runs it"]
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

/// The same with so few steps that their repairs take little time.
fn some(step: impl Fn(usize) -> String) -> Project {
    let project = many(step);
    let plan = project.read("plan.yaml");
    let head = plan.lines().take(3 + 40).collect::<Vec<_>>().join("\n");
    project.write("plan.yaml", head + "\n");
    project
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn repairs_of_one_kind_are_told_once() {
    for (id, project) in [
        (
            "rename_tool",
            some(|n| format!("tool: ecoh, args: {{ message: m{n} }}")),
        ),
        (
            "coerce_argument",
            some(|n| format!("tool: echo, args: {{ message: {n} }}")),
        ),
        (
            "quarantine_step",
            some(|n| format!("tool: zzzqq, args: {{ message: m{n} }}")),
        ),
    ] {
        let run = project.run(&[]);
        let shown = &run.ended.stdout;
        let first = format!("{id} on steps.s0");
        assert_eq!(shown.matches(&format!("{id} on ")).count(), 2, "{shown}");
        assert!(shown.contains(&first), "{shown}");
        assert!(shown.contains(" and 39 more: "), "{shown}");
        assert!(
            shown.contains(&format!("{id} (40 times) applies")),
            "{shown}"
        );
        assert!(shown.matches("tried: ").count() <= 1, "{shown}");
        assert!(shown.len() < 6000, "{} bytes: {shown}", shown.len());
        let report = project.read("reports/latest/test_results.md");
        assert!(report.contains("steps.s39"), "{report}");
    }
}

#[test]
fn plans_that_end_alike_are_told_by_the_first() {
    let project = Project::empty();
    let names: Vec<String> = (1..=30).map(|n| format!("p{n}.yaml")).collect();
    for name in &names {
        let plan = "version: 1\nservers: { s: { command: jelly, args: [--no-such] } }\n\
                    steps: [{ id: a, tool: ping }, { id: b, tool: ping }]\n";
        project.write(name, plan);
    }
    let summary = project.at("../summary.md");
    let args: Vec<&str> = std::iter::once("run")
        .chain(names.iter().map(String::as_str))
        .collect();
    let ended = project.jelly(&args).output();
    let shown = &ended.stdout;
    assert!(shown.len() <= ALIKE, "{} bytes:\n{shown}", shown.len());
    assert_eq!(shown.matches("\nhelp: ").count(), 1, "{shown}");
    assert_eq!(shown.matches(", as in p1\n").count(), 27, "{shown}");
    for name in &names {
        let stem = name.trim_end_matches(".yaml");
        assert!(
            shown.contains(&format!("/{stem}/test_results.md")),
            "{shown}"
        );
    }
    let call = project.jelly(&args).args(&["--quiet"]);
    let call = call.env("GITHUB_ACTIONS", "true");
    call.env("GITHUB_STEP_SUMMARY", &summary).output();
    let summary = project.read("../summary.md");
    assert!(summary.len() <= ALIKE, "{} bytes", summary.len());
    assert!(summary.contains("Ended in the same way: `p2`"), "{summary}");
}

/// The call of these plans, by name and text.
fn run_plans(project: &Project, plans: &[(&str, String)], more: &[&str]) -> Ended {
    let files: Vec<String> = plans.iter().map(|(n, _)| format!("{n}.yaml")).collect();
    for (file, (_, plan)) in files.iter().zip(plans) {
        project.write(file, format!("version: 1\n{plan}"));
    }
    let files = files.iter().map(String::as_str);
    let args: Vec<&str> = std::iter::once("run").chain(files).collect();
    project.jelly(&args).args(more).output()
}

/// A program that refuses whatever it is given.
const REFUSES: &str = "import sys; sys.stderr.write('boom: invalid thing\\n'); sys.exit(2)\n";

#[test]
fn what_a_configuration_explains_is_told_of_that_server() {
    let project = Project::empty();
    project.write("fail.py", REFUSES);
    let server = |more: &str| format!("{{ command: python3, args: [fail.py{more}] }}");
    let (quoted, piped) = (r#", "\"x\"""#, r#", "<./in""#);
    let servers = format!(
        "servers:\n  a: {}\n  b: {}\n  c: {}\n",
        server(quoted),
        server(piped),
        server("")
    );
    let steps = "steps:\n  - { server: a, list: tools }\n  - { server: b, list: tools }\n  \
                 - { server: c, list: tools }\n";
    let shown = run_plans(&project, &[("q", servers + steps)], &[]).stdout;
    assert!(shown.contains("(start b): command_not_found"), "{shown}");
    assert!(!shown.contains("(start a), (start b)"), "{shown}");

    let plan = |more| {
        format!(
            "servers: {{ m: {} }}\nsteps: [{{ list: tools }}]\n",
            server(more)
        )
    };
    let shown = run_plans(&project, &[("a", plan(quoted)), ("b", plan(piped))], &[]).stdout;
    assert!(!shown.contains("the same in"), "{shown}");
    assert!(shown.contains("The quotes in"), "{shown}");
    assert!(shown.contains("is a line of a shell"), "{shown}");
}

#[test]
fn a_plan_whose_server_ended_without_a_word_is_alike_by_its_server_only() {
    let silent = |server: &str| {
        format!(
            "servers: {{ {server}: {{ command: sh, args: [-c, exit 1] }} }}\n\
             steps: [{{ id: s, tool: t }}]\n"
        )
    };
    let plans: Vec<(&str, String)> = [
        ("p1", "a"),
        ("p2", "a"),
        ("p3", "a"),
        ("p4", "a"),
        ("p5", "other"),
        ("p6", "a"),
    ]
    .map(|(name, server)| (name, silent(server)))
    .into();
    let project = Project::empty();
    let shown = run_plans(&project, &plans, &[]).stdout;
    assert_eq!(shown.matches(", as in p1\n").count(), 2, "{shown}");
    assert!(!shown.contains("FAIL     p5"), "{shown}");
    assert!(shown.contains("  other: The server exited"), "{shown}");
}

#[test]
fn failures_of_two_tools_are_two_bugs() {
    let wrong = |tool: &str| {
        format!(
            "servers: {{ {tool}-server: {{ command: jelly, args: [mock, --tool, '{tool}=false'] }} }}\n\
             steps: [{{ id: {tool}-works, tool: {tool}, expect: {{ text: {{ equals: 'true' }} }} }}]\n"
        )
    };
    let project = Project::empty();
    let plans = [("pay", wrong("pay")), ("refund", wrong("refund"))];
    let summary = project.at("../summary.md");
    let shown = run_plans(&project, &plans, &[]).stdout;
    assert!(shown.contains("The answer of `pay`"), "{shown}");
    assert!(shown.contains("The answer of `refund`"), "{shown}");
    let call = project.jelly(&["run", "pay.yaml", "refund.yaml", "--quiet"]);
    let call = call.env("GITHUB_ACTIONS", "true");
    call.env("GITHUB_STEP_SUMMARY", &summary).output();
    let summary = project.read("../summary.md");
    assert!(summary.contains("refund-server/refund-works"), "{summary}");
}

#[test]
fn a_repair_is_told_of_its_plan() {
    let repaired = |step: &str| {
        format!(
            "servers: {{ m: {{ command: jelly, args: [mock] }} }}\nsteps:\n  \
             - {{ id: {step}, tool: echo, args: {{ message: 5 }} }}\n  \
             - {{ id: z, tool: echo, args: {{ message: a }}, expect: {{ text: {{ equals: b }} }} }}\n"
        )
    };
    let project = Project::empty();
    let plans = [
        ("pay1", repaired("pay")),
        ("pay2", repaired("pay")),
        ("refund1", repaired("refund")),
        ("refund2", repaired("refund")),
    ];
    let shown = run_plans(&project, &plans, &[]).stdout;
    let told = shown.matches("coerce_argument on steps.refund").count();
    assert_eq!(told, 2, "{shown}");
    assert!(!shown.contains(", as in pay1"), "{shown}");
}

#[test]
fn a_plan_that_passed_with_known_failures_did_not_fail_as_another() {
    let plan = "servers: { m: { command: jelly, args: [mock, --tool, 'pay=false'] } }\n\
                steps: [{ id: s, tool: pay, expect: { text: { equals: 'true' } } }]\n";
    let project = Project::with(&format!("version: 1\n{plan}"));
    let run = project.run(&[]);
    let print = run.last().failure("s")["diagnosis"]["fingerprint"].to_string();
    project.write(
        "kk.yaml",
        format!(
            "version: 1\nknown:\n  - fingerprint: {print}\n    any_test: true\n    reason: bug 1\n"
        ),
    );
    let plans = ["k1", "k2", "k3", "k4"].map(|name| (name, plan.to_owned()));
    let ended = run_plans(&project, &plans, &["--known", "kk.yaml", "--strict"]);
    let shown = &ended.stdout;
    assert_ne!(ended.code, Some(0), "{shown}");
    assert!(shown.contains("passed with known"), "{shown}");
    assert!(!shown.contains(", as in k1"), "{shown}");
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_job_summary_and_a_triage_of_alike_failures_fit_on_a_page() {
    let project = many(|_| {
        "tool: say, args: { text: connect ECONNREFUSED 127.0.0.1:5432 }, \
         expect: { text: { equals: ready } }"
            .to_owned()
    });
    let summary = project.at("../summary.md");
    let call = project
        .call(&["--no-confirm", "--max-iterations", "1"])
        .env("GITHUB_ACTIONS", "true");
    call.env("GITHUB_STEP_SUMMARY", &summary).output();
    let summary = project.read("../summary.md");
    assert!(summary.len() <= ALIKE, "{} bytes", summary.len());
    assert!(summary.contains("`m/s4` and 295 more"), "{summary}");
    assert!(
        summary.contains("All 300 failures are in `reports/"),
        "{summary}"
    );
    for format in ["md", "table"] {
        let shown = project
            .jelly(&["triage", "reports/latest/junit.xml", "-f", format])
            .output()
            .stdout;
        assert!(shown.len() <= ALIKE, "{format}: {} bytes", shown.len());
        assert!(
            shown.contains("290 more failures of these causes"),
            "{shown}"
        );
    }
}

#[test]
fn servers_that_die_of_one_cause_are_told_together() {
    let servers: String = (0..12)
        .map(|n| format!("  s{n}: {{ command: jelly, args: [--no-such] }}\n"))
        .collect();
    let steps: String = (0..12)
        .map(|n| format!("  - {{ id: a{n}, server: s{n}, tool: echo }}\n"))
        .collect();
    let project = Project::with(&format!("version: 1\nservers:\n{servers}steps:\n{steps}"));
    let run = project.run(&["--retries", "0"]);
    let shown = &run.ended.stdout;
    let together = "  (start s0), (start s1), (start s2), (start s3), (start s4) and 7 more: ";
    assert_eq!(shown.matches(together).count(), 1, "{shown}");
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
    let evidence = problems[0]["evidence"].as_str().unwrap();
    assert!(evidence.contains("missing: greeting;"), "{evidence}");
    assert!(!evidence.contains("also"), "{evidence}");
    assert!(
        run.ended.stdout.contains("m/greeting, m/sum, m/list"),
        "{}",
        run.ended.stdout
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
        fs::remove_file(project.path("../summary.md")).ok();
        let call = project.call(&[]).env("GITHUB_ACTIONS", "true");
        let call = call.env("GITHUB_STEP_SUMMARY", project.at("../summary.md"));
        let run = Run::of(&project, call.output());
        let (shown, value) = (&run.ended.stdout, run.results.to_string());
        let annotation = shown.lines().find(|line| line.starts_with("::error"));
        let annotation = annotation.unwrap().to_owned();
        let summary = project.read("../summary.md");
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
            ("annotation", &annotation),
            ("summary", &summary),
        ] {
            assert!(text.contains("row gone astray"), "{place}: {text}");
        }
        // What it was, too, and none of what is the same at the beginning.
        for text in [&annotation, &summary] {
            assert!(text.contains("row 499 of many"), "{text}");
            assert!(!text.contains("row 3 of many"), "{text}");
        }
        for (place, text) in [("terminal", shown), ("review", &review.stdout)] {
            assert!(text.len() < 8000, "{place}: {} bytes", text.len());
        }
        let evidence = &run.last().failure("big")["diagnosis"]["evidence"];
        assert!(
            evidence.to_string().contains("row gone astray"),
            "{evidence}"
        );
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
