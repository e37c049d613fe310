//! What reports, terminal and help say of a run: every sentence is held
//! against what happened.

use crate::support::{Project, Run};
use serde_json::Value;

const REFUSED: &str = "s2: { command: jelly, args: [mock, --fault, \"stderr=Error: connect ECONNREFUSED 127.0.0.1:5432\", --fault, exit] }";

fn plan(servers: &str, steps: &str) -> String {
    format!("version: 1\nname: smoke\nservers:\n  {servers}\n{steps}")
}

const MOCK: &str = "s: { command: jelly, args: [mock] }";
const WRONG: &str = "  - { id: a, server: s, tool: echo, args: { message: hi }, expect: { text: { equals: ho } } }\n";
const RIGHT: &str = "  - { id: b, server: s, tool: echo, args: { message: hi } }\n";

/// All that people read of a run.
fn told(run: &Run) -> String {
    format!("{}{}{}", run.stdout, run.markdown, run.results)
}

#[track_caller]
fn says(run: &Run, words: &[&str]) {
    for word in words {
        for (place, text) in [("terminal", &run.stdout), ("markdown", &run.markdown)] {
            assert!(text.contains(word), "{word} in the {place}:\n{text}");
        }
    }
}

#[track_caller]
fn never_says(run: &Run, words: &[&str]) {
    let told = told(run);
    for word in words {
        assert!(!told.contains(word), "{word} in {told}");
    }
}

fn problems(run: &Run) -> Vec<Value> {
    let problems = run.results["help_summary"]["problems"].as_array();
    problems.cloned().unwrap_or_default()
}

/// The commands that the help summary gives, in order.
fn commands(run: &Run) -> Vec<String> {
    let problems = problems(run);
    let next = problems.iter().flat_map(|p| p["next"].as_array().unwrap());
    let lines = next.filter_map(|line| line.as_str()?.strip_prefix("$ ").map(str::to_owned));
    lines.collect()
}

#[test]
fn how_often_a_mismatch_came_is_counted() {
    // What is refused runs the plan again; the mismatch comes along.
    let steps = format!(
        "steps:\n{WRONG}  - {{ id: c, server: s2, tool: echo, args: {{ message: hi }} }}\n"
    );
    let plan = plan(&format!("{MOCK}\n  {REFUSED}"), &steps);
    for (retries, times) in [("1", "twice"), ("2", "3 times"), ("3", "4 times")] {
        let run = Project::with(&plan).run(&["--retries", retries]);
        run.ends(1, "code_failure");
        let reason = run.last()["action"]["reason"].as_str().unwrap().to_owned();
        assert!(
            reason.contains(&format!("failed the same way {times}")),
            "{reason}"
        );
        let title = run.results["help_summary"]["title"].as_str().unwrap();
        let of_one = format!("2 problems; in one of them the same mismatch came {times}");
        assert!(title.contains(&of_one), "{title}");
        never_says(&run, &["One sighting"]);
        if times != "twice" {
            never_says(&run, &["twice"]);
        }
    }
    // Unconfirmed, however often it was seen.
    let run = Project::with(&plan).run(&["--retries", "2", "--no-confirm"]);
    run.ends(3, "needs_user_help");
    says(&run, &["seen 3 times, and confirmation is switched off"]);
    never_says(&run, &["seen only once", "One sighting"]);
}

#[test]
fn different_mismatches_of_one_tool_are_told_one_by_one() {
    let step = |id: &str, expect: &str| {
        format!("  - {{ id: {id}, tool: echo, args: {{ message: x }}, expect: {{ {expect} }} }}\n")
    };
    let steps = [
        step("b", "error: {}"),
        step("c", "is_error: true"),
        step("d", "text: { length: 5 }"),
        step("e", "text: { equals: yy }"),
        step("f", "text: { equals: yz }"),
    ];
    let run = Project::with(&plan(MOCK, &format!("steps:\n{}", steps.concat()))).run(&[]);
    run.ends(1, "code_failure");
    assert_eq!(problems(&run).len(), 5, "{}", run.help());
    let (_, help) = run.stdout.split_once("\nhelp: ").unwrap();
    let title = "5 problems; in each of them the same mismatch came twice";
    assert!(help.contains(title), "{help}");
    assert!(!help.contains("also in"), "{help}");
    for problem in problems(&run) {
        let at = problem["at"].as_str().unwrap();
        assert!(help.contains(at), "{at} in {help}");
    }
}

#[test]
fn many_mismatches_that_differ_in_numbers_are_one_kind() {
    let step = |n: usize| {
        format!(
            "  - {{ id: s{n}, tool: echo, args: {{ message: v{n} }}, \
             expect: {{ text: {{ equals: ready }} }} }}\n"
        )
    };
    let steps: String = (0..12).map(step).collect();
    let run = Project::with(&plan(MOCK, &format!("steps:\n{steps}"))).run(&[]);
    run.ends(1, "code_failure");
    let (_, help) = run.stdout.split_once("\nhelp: ").unwrap();
    assert!(help.contains("12 problems of one kind; "), "{help}");
    assert_eq!(help.matches("also in:").count(), 1, "{help}");
    assert!(help.contains("and 6 more"), "{help}");
}

#[test]
fn a_mismatch_that_comes_differently_is_not_said_to_have_come_once() {
    let steps = "steps:\n  - { id: a, tool: counter, expect: { text: { equals: x } } }\n";
    let server = "s: { command: jelly, args: [mock, --persist, --state, starts] }";
    let run = Project::with(&plan(server, steps)).run(&[]);
    run.ends(3, "needs_user_help");
    says(&run, &["it does not fail the same way each time"]);
    never_says(&run, &["differently each time", "was wrong once"]);
}

#[test]
fn an_operator_that_forbids_a_value_is_not_said_to_expect_it() {
    let steps = "steps:\n  - { id: a, tool: echo, args: { message: hi }, expect: { text: { not_contains: hi } } }\n";
    let run = Project::with(&plan(MOCK, steps)).run(&[]);
    run.ends(1, "code_failure");
    never_says(
        &run,
        &["Expected \"hi\", got \"hi\"", "Expected \\\"hi\\\", got"],
    );
}

#[test]
fn the_hook_that_made_a_run_green_is_named() {
    let steps = format!("steps:\n{}", WRONG.replace("tool: echo", "tool: fail"));
    let project = Project::with(&plan(MOCK, &steps));
    project.script(
        "fix.sh",
        "#!/bin/sh\ncat > /dev/null\nsed -i 's/tool: fail/tool: echo/; s/message: hi/message: ho/' plan.yaml\n",
    );
    let run = project.run(&["--fix-tests", r#"["./fix.sh"]"#, "--accept-repairs"]);
    run.ends(0, "passed_after_repair");
    says(&run, &["passed after repair by the hook fix_tests"]);

    let project = Project::with(&plan(
        "s: { command: ./serve.sh }",
        "steps:\n  - { id: a, tool: crash }\n",
    ));
    let jelly = env!("CARGO_BIN_EXE_jelly");
    project.script("serve.sh", &format!("#!/bin/sh\nexec {jelly} mock\n"));
    project.script(
        "refine.sh",
        "#!/bin/sh\ncat > /dev/null\nsed -i 's/ mock/ mock --tool crash=fine/' serve.sh\n",
    );
    let run = project.run(&["--refine-code", r#"["./refine.sh"]"#]);
    run.ends(0, "passed_after_repair");
    says(&run, &["passed after repair by the hook refine_code"]);
    never_says(&run, &["fix_tests"]);
}

#[test]
fn a_quarantine_explains_why_a_run_is_not_green() {
    let steps = format!("steps:\n  - {{ id: a, tool: zzz }}\n{RIGHT}");
    let run = Project::with(&plan(MOCK, &steps)).run(&[]);
    run.ends(3, "needs_user_help");
    never_says(&run, &["no failure explains it"]);
    let reason = &run.last()["action"]["reason"];
    assert!(
        reason.as_str().unwrap().contains("step a is quarantined"),
        "{reason}"
    );
    // It is taken out, which mends nothing.
    assert!(
        run.stdout.contains("taken out: quarantine_step"),
        "{}",
        run.stdout
    );
    assert!(!run.stdout.contains("repaired: "), "{}", run.stdout);
}

#[test]
fn what_follows_from_a_failed_set_up_is_no_problem_of_its_own() {
    let setup = |tool: &str| {
        format!(
            "setup:\n  - {{ id: prep, tool: {tool} }}\nsteps:\n{RIGHT}  - {{ id: c, tool: noise }}\n"
        )
    };
    let dead = "s: { command: jelly, args: [mock, --fault, exit] }";
    let run = Project::with(&plan(dead, &setup("noise"))).run(&[]);
    run.ends(3, "needs_user_help");
    let told = problems(&run);
    assert_eq!(told.len(), 1, "{told:#?}");
    let what = told[0]["what"].as_str().unwrap();
    assert!(
        what.contains("3 steps could not run because of it"),
        "{what}"
    );
    assert_eq!(told[0]["step"], Value::Null);

    let run = Project::with(&plan(MOCK, &setup("crash"))).run(&[]);
    run.ends(1, "code_failure");
    let told = problems(&run);
    assert_eq!(told.len(), 1, "{told:#?}");
    let what = told[0]["what"].as_str().unwrap();
    assert!(
        what.contains("2 steps could not run because of it"),
        "{what}"
    );
    never_says(&run, &["test-side ones stand"]);

    // A plan whose set-up works has one problem less.
    let steps = format!("setup:\n  - {{ id: prep, tool: noise }}\nsteps:\n{WRONG}");
    let run = Project::with(&plan(MOCK, &steps)).run(&[]);
    assert_eq!(problems(&run).len(), 1, "{}", run.help());
}

#[test]
fn of_many_problems_those_of_the_code_are_told() {
    let dead = |n: usize| format!("d{n}: {{ command: jelly-is-not-here-{n} }}\n  ");
    let servers = (0..12).map(dead).collect::<String>() + MOCK;
    let blocked = |n: usize| format!("  - {{ id: d{n}-1, server: d{n}, tool: echo }}\n");
    let steps = (0..12).map(blocked).collect::<String>();
    let steps = format!("steps:\n{steps}  - {{ id: c, server: s, tool: crash }}\n");
    let project = Project::with(&plan(&servers, &steps));
    let run = project.run(&["--no-repair"]);
    run.ends(1, "code_failure");
    let told = problems(&run);
    assert_eq!(told.len(), 13, "{told:#?}");
    assert_eq!(told[0]["step"], "c", "{told:#?}");
    let said = &run.stdout;
    assert!(said.contains("10 kinds of them here, 3 more"), "{said}");
    let (_, help) = said.split_once("\nhelp: ").unwrap();
    assert!(help.contains("\n  s/c: "), "{help}");
    // The steps without a line are named.
    let mut lines = said.lines();
    let more = lines.find(|line| line.contains("more steps: d"));
    assert!(more.is_some(), "{said}");
    let agent = ["run", "plan.yaml", "--format", "agent", "--no-repair"];
    let agent = project.jelly(&agent).output().stdout;
    let agent: Value = serde_json::from_str(&agent).unwrap();
    let first = &agent["plans"][0]["failures"][0];
    assert_eq!(first["side"], "code", "{agent:#}");
}

#[test]
fn the_deadline_is_one_problem_with_what_it_cut_off() {
    let server = "s: { command: jelly, args: [mock, --fault, mute@call], request_timeout: 40s }";
    let steps = format!("steps:\n{RIGHT}  - {{ id: c, tool: noise }}\n");
    let run = Project::with(&plan(server, &steps)).run(&["--deadline", "1s"]);
    run.ends(3, "needs_user_help");
    let told = problems(&run);
    assert_eq!(told.len(), 1, "{told:#?}");
    let what = told[0]["what"].as_str().unwrap();
    assert!(what.contains("The deadline of"), "{what}");
    assert!(what.contains("not run to their end: b, c"), "{what}");
}

#[test]
fn a_green_run_that_exits_4_says_by_which_rule() {
    let steps = "steps:\n  - { id: a, tool: echoo, args: { message: hi } }\n";
    let project = Project::with(&plan(MOCK, steps));
    let run = project.run(&[]);
    run.ends(4, "passed_after_repair");
    assert_eq!(run.results["unaccepted"], "contract");
    says(
        &run,
        &[
            "green, but by a change of the contract",
            "--accept-repairs allows",
        ],
    );
    // The command that is told takes the repairs over.
    let (_, command) = run.stdout.split_once("next: `jelly ").unwrap();
    let (command, _) = command.split_once('`').unwrap();
    let words: Vec<&str> = command.split(' ').collect();
    assert_eq!(words[0], "apply");
    let applied = project.jelly(&words).output();
    assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    assert!(project.read("plan.yaml").contains("tool: echo,"));

    let run = Project::with(&plan(MOCK, steps)).run(&["--write-repairs"]);
    run.ends(4, "passed_after_repair");
    says(&run, &["it stands in the plan now"]);
    never_says(&run, &["not allowed", "green, but"]);

    let run = Project::with(&plan(MOCK, steps)).run(&["--strict"]);
    run.ends(4, "passed_after_repair");
    assert_eq!(run.results["unaccepted"], "contract");

    let flaky = "s: { command: jelly, args: [mock, --state, starts, --faulty-starts, \"1\", --fault, \"stderr=Error: connect ECONNREFUSED 127.0.0.1:5432\", --fault, exit] }";
    let run = Project::with(&plan(flaky, &format!("steps:\n{RIGHT}"))).run(&["--strict"]);
    run.ends(4, "passed_after_retry");
    assert_eq!(run.results["unaccepted"], "strict");
    says(&run, &["green, but not in the first iteration"]);
    never_says(&run, &["not allowed", "the contract"]);
}

#[test]
fn what_a_server_offers_stands_beside_what_it_does_not() {
    let server = "s: { command: jelly, args: [mock, --script, script.yaml] }";
    let steps = "steps:
  - { id: tool, tool: zzz }
  - { id: prompt, prompt: greting }
  - { id: far, prompt: zzzzzz }
  - { id: resource, read: 'file:///b.txt' }
  - { id: nobody, server: other, tool: echo }
";
    let project = Project::with(&plan(server, steps));
    project.write(
        "script.yaml",
        "builtins: true\nprompts:\n  - { name: greeting, text: hi }\n  - { name: summary, text: hi }\n\
         resources:\n  - { uri: 'file:///a.txt', text: hi }\n",
    );
    let run = project.run(&["--no-repair"]);
    run.ends(3, "needs_user_help");
    says(
        &run,
        &[
            "the server lists 8 tools: echo, add,",
            "close to it: greeting",
            "the server lists 2 prompts: greeting, summary",
            "close to it: file:///a.txt",
            "the plan defines 1 server: s",
        ],
    );
    let offers = &run.iteration(1).server("s")["offers"];
    assert_eq!(offers["prompts"]["names"][1], "summary");
    assert_eq!(offers["resources"]["names"][0], "file:///a.txt");
    assert_eq!(offers["tools"]["names"].as_array().unwrap().len(), 8);
    let capabilities = offers["capabilities"].as_array().unwrap();
    assert!(capabilities.contains(&Value::from("prompts")), "{offers}");
    assert!(
        run.markdown.contains("offers capabilities: "),
        "{}",
        run.markdown
    );
    never_says(&run, &["the report lists", "the report shows"]);

    // It does not have any.
    let run = Project::with(&plan(MOCK, "steps:\n  - { id: a, prompt: nope }\n")).run(&[]);
    run.ends(3, "needs_user_help");
    says(&run, &["the server declares 1 capability: tools"]);
    assert_eq!(
        run.iteration(1).server("s")["offers"]["prompts"],
        Value::Null
    );
}

#[test]
fn help_selects_a_step_only_where_no_earlier_one_is_left_out() {
    let two = format!("{MOCK}\n  t: {{ command: jelly, args: [mock] }}");
    let other = "  - { id: other, server: t, tool: echo, args: { message: hi } }\n";
    for (steps, wanted) in [
        (
            format!("steps:\n{WRONG}{RIGHT}"),
            "jelly run plan.yaml --only a",
        ),
        (format!("steps:\n{RIGHT}{WRONG}"), "jelly run plan.yaml"),
        // Another server's step stands before it too.
        (format!("steps:\n{other}{WRONG}"), "jelly run plan.yaml"),
        // The set-up always runs.
        (
            format!("setup:\n{RIGHT}steps:\n{WRONG}{other}"),
            "jelly run plan.yaml --only a",
        ),
        (
            format!("setup:\n{WRONG}steps:\n{RIGHT}"),
            "jelly run plan.yaml",
        ),
        (
            format!("steps:\n{RIGHT}teardown:\n{WRONG}"),
            "jelly run plan.yaml",
        ),
    ] {
        let run = Project::with(&plan(&two, &steps)).run(&[]);
        run.ends(1, "code_failure");
        assert_eq!(commands(&run).last().unwrap(), wanted, "{steps}");
    }
    let dead =
        "s: { command: jelly, args: [mock, --fault, exit] }\n  t: { command: jelly, args: [mock] }";
    for (steps, wanted) in [
        (
            format!("steps:\n{RIGHT}{other}"),
            "jelly run plan.yaml --only s",
        ),
        (format!("steps:\n{other}{RIGHT}"), "jelly run plan.yaml"),
    ] {
        let run = Project::with(&plan(dead, &steps)).run(&[]);
        run.ends(3, "needs_user_help");
        assert_eq!(commands(&run).last().unwrap(), wanted, "{steps}");
    }
}

#[test]
fn a_command_to_paste_does_what_the_call_did() {
    let project = Project::empty();
    project.write(
        "plans/p.yaml",
        "version: 1
vars: { word: hi, wish: hi }
servers: { s: { command: jelly, args: [mock, --files, '${workspace}/data'] } }
steps:
  - { id: a, tool: list_files, expect: { text: { equals: '${wish}' } } }
",
    );
    project.write("else where/data/x.txt", "");
    let flags = [
        "--project-dir",
        "else where",
        "--var",
        "wish=y y",
        "--reports-dir",
        "out",
        "--history",
        "h.jsonl",
        "--no-adapt",
        "--seed",
        "1",
        "--max-iterations",
        "4",
    ];
    let ended = project
        .jelly(&["run", "plans/p.yaml"])
        .args(&flags)
        .output();
    let run = Run::in_folder(&project, "out/latest", ended);
    run.ends(1, "code_failure");
    let command = commands(&run).pop().unwrap();
    assert_eq!(
        command,
        "jelly run plans/p.yaml --project-dir 'else where' --reports-dir out --var 'wish=y y' \
         --history h.jsonl --no-adapt --max-iterations 4 --seed 1 --only a"
    );
    let pasted = command.replacen("jelly", env!("CARGO_BIN_EXE_jelly"), 1);
    let again = std::process::Command::new("sh")
        .args(["-c", &pasted])
        .current_dir(project.dir())
        .env_remove("CI")
        .output()
        .unwrap();
    assert_eq!(again.status.code(), Some(1), "{again:?}");
    let kept = std::fs::read_to_string(project.path("h.jsonl")).unwrap();
    assert_eq!(kept.lines().count(), 2);
}

#[test]
fn a_server_that_starts_again_is_noted_as_such() {
    let project = Project::with(&plan(
        "s: { command: ./serve.sh }",
        &format!("steps:\n{RIGHT}"),
    ));
    let jelly = env!("CARGO_BIN_EXE_jelly");
    project.script(
        "serve.sh",
        &format!("#!/bin/sh\nif [ -e broken ]; then echo 'Error: no' >&2; exit 1; fi\nexec {jelly} mock\n"),
    );
    let history = ["--history", "h.jsonl"];
    let start_of = |project: &Project| -> Vec<(String, usize)> {
        let text = project.read("h.jsonl");
        let last: Value = serde_json::from_str(text.lines().last().unwrap()).unwrap();
        ["failures", "passed"]
            .into_iter()
            .map(|key| {
                let of = last[key].as_array().cloned().unwrap_or_default();
                let starts = of.iter().filter(|test| test["name"] == "(start)");
                (key.to_owned(), starts.count())
            })
            .collect()
    };
    let counts = |failed: usize, passed: usize| {
        vec![
            ("failures".to_owned(), failed),
            ("passed".to_owned(), passed),
        ]
    };
    project.run(&history).ends(0, "passed");
    // Nobody asks about a start that never failed.
    assert_eq!(start_of(&project), counts(0, 0));
    project.write("broken", "");
    project.run(&history).ends(3, "needs_user_help");
    assert_eq!(start_of(&project), counts(1, 0));
    std::fs::remove_file(project.path("broken")).unwrap();
    project.run(&history).ends(0, "passed");
    assert_eq!(start_of(&project), counts(0, 1));
}
