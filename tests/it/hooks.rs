//! What hooks may change, by real scripts: what `fix_tests` takes away ends
//! the run, what `refine_code` breaks takes nothing back.

use crate::support::{Project, Run, slice};
use serde_json::Value;
use std::process::Command;

/// The first step fails by the plan: an argument that the server refuses.
const PLAN: &str = r#"version: 1
servers:
  s: { command: jelly, args: [mock] }
  t: { command: jelly, args: [mock] }
hooks: { fix_tests: [./fix.sh] }
vars: { want: "3" }
steps:
  - { id: sum, server: s, tool: add, args: { a: one, b: 2 }, expect: { text: { equals: "${want}" } } }
  - { id: echo, server: t, tool: echo, args: { message: hi }, expect: { text: { contains: hi, matches: "h." } } }
  - { id: said, server: t, tool: echo, args: { message: yes }, expect: { text: { snapshot: said } } }
"#;

/// A project whose hook makes `plan.yaml` of what stands there by this shell
/// line.
fn project(line: &str) -> Project {
    let project = Project::with(PLAN);
    project.write("snapshots/plan/said.snap", "yes\n");
    project.script("fix.sh", &format!("#!/bin/sh\ncat > bundle.json\n{line}\n"));
    project
}

/// The failing step itself is mended besides.
fn mended(line: &str) -> Project {
    project(&format!("sed -i 's/a: one/a: 1/' plan.yaml\n{line}"))
}

fn changes(run: &Run) -> Vec<&Value> {
    let iterations = run.iterations();
    let hooks = iterations.iter().map(|i| &i.0["action"]["hook"]["changes"]);
    hooks.filter_map(Value::as_array).flatten().collect()
}

#[track_caller]
fn is_stopped(line: &str, kind: &str, told: &str) -> Run {
    let run = mended(line).run(&["--accept-repairs"]);
    run.ends(3, "needs_user_help");
    assert_eq!(run.actions(), ["fix_tests"], "{line}");
    let changes = changes(&run);
    let named = changes
        .iter()
        .any(|change| change["kind"] == kind && change["what"].as_str().unwrap().contains(told));
    assert!(named, "{line}: {changes:#?}");
    for shown in [&run.help(), &run.markdown, &run.stdout] {
        let words = shown.replace(['\n', '\\'], " ");
        let words = words.split_whitespace().collect::<Vec<_>>().join(" ");
        assert!(words.contains("reduced what is tested"), "{line}: {words}");
    }
    run
}

#[test]
fn what_a_shell_would_obey_is_an_argument_like_any_other() {
    let words = "$(touch owned); touch owned & `touch owned` | touch owned > owned";
    let words = serde_json::to_string(words).unwrap();
    let project = Project::with(&format!(
        "version: 1
servers:
  s: {{ command: ./server.sh, args: [{words}] }}
hooks: {{ fix_tests: [./hook.sh, {words}] }}
steps:
  - {{ id: echo, tool: echo, args: {{ message: {words} }} }}
"
    ));
    let note = |file: &str| format!("#!/bin/sh\nprintf '%s' \"$1\" > {file}\nexit 1\n");
    project.script("server.sh", &note("server.txt"));
    project.script("hook.sh", &note("hook.txt"));
    project.run(&["--no-repair"]).ends(3, "needs_user_help");
    for file in ["server.txt", "hook.txt"] {
        assert_eq!(serde_json::to_string(&project.read(file)).unwrap(), words);
    }
    assert!(!project.exists("owned"));
}

#[test]
fn a_hook_that_deletes_the_failing_step_is_stopped_and_its_plan_shown() {
    let project = project("sed -i '/id: sum/d' plan.yaml");
    let run = project.run(&[]);
    run.ends(3, "needs_user_help");
    assert_eq!(run.actions(), ["fix_tests"]);
    assert_eq!(changes(&run)[0]["kind"], "gone");
    assert_eq!(changes(&run)[0]["step"], "sum");
    let diff = run.iteration(1).0["action"]["hook"]["diff"]
        .as_str()
        .unwrap();
    assert!(diff.contains("-  - { id: sum"), "{diff}");
    assert!(run.markdown.contains("-  - { id: sum"), "{}", run.markdown);
    assert!(
        run.help().contains("the step `sum` is gone"),
        "{}",
        run.help()
    );
    assert!(run.stdout.contains("`sum` is gone"), "{}", run.stdout);
    // Both stand beside the report, whatever becomes of the file.
    let before = project.read("reports/latest/plan-before-fix_tests-1.yaml");
    let after = project.read("reports/latest/plan-after-fix_tests-1.yaml");
    assert_eq!(before, PLAN);
    assert!(!after.contains("id: sum"), "{after}");
    let plans = &run.iteration(1).0["action"]["hook"]["plans"];
    assert_eq!(plans[0], "plan-before-fix_tests-1.yaml");
}

#[test]
fn what_a_hook_takes_away_ends_the_run() {
    for (line, told) in slice(
        3,
        [
            ("sed -i '/id: echo/d' plan.yaml", "`echo` is gone"),
            (
                "sed -i 's/id: echo/id: echoes/' plan.yaml",
                "`echoes` asks the same",
            ),
            (
                "sed -i 's/, matches: \"h.\"//' plan.yaml",
                "`text` `matches`",
            ),
            (
                "sed -i 's/, expect: { text: { contains: hi.*$/ }/' plan.yaml",
                "`text` `contains`",
            ),
            (
                "sed -i 's/expect: { text: { snapshot: said } }/expect: { text: { length: { ge: 1 } } }/' plan.yaml",
                "`snapshot`",
            ),
            (
                "sed -i 's/expect: { text: { contains: hi/expect: { is_error: true, text: { contains: hi/' plan.yaml",
                "isError",
            ),
            (
                "sed -i 's/expect: { text: { contains: hi, matches: \"h.\" } }/expect: { error: {} }/' plan.yaml",
                "protocol error",
            ),
            (
                "sed -i 's/id: echo, server: t, tool: echo, args: .*$/id: echo, server: t, raw: \"{}\" }/' plan.yaml",
                "kind `tool`",
            ),
            ("rm snapshots/plan/said.snap", "snapshot `said` is gone"),
        ],
    ) {
        is_stopped(line, "gone", told);
    }
}

#[test]
fn what_holds_of_anything_after_a_hook_ends_the_run() {
    for line in slice(
        2,
        [
            "sed -i 's/matches: \"h.\"/matches: \".*\"/' plan.yaml",
            "sed -i 's/matches: \"h.\"/matches: \"^.+$\"/' plan.yaml",
            "sed -i 's/contains: hi/contains: \"\"/' plan.yaml",
            "sed -i 's/matches: \"h.\"/matches: \"(?s).+\"/' plan.yaml",
        ],
    ) {
        is_stopped(line, "holds_of_anything", "anything meets that now");
    }
}

#[test]
fn another_program_after_a_hook_ends_the_run() {
    for (line, told) in [
        (
            "sed -i 's/t: { command: jelly, args/t: { command: jelly-mock, args/' plan.yaml",
            "`command`",
        ),
        (
            "sed -i 's|t: { command: jelly, args: .mock. }|t: { url: \"http://127.0.0.1:1/mcp\" }|' plan.yaml",
            "`url`",
        ),
        (
            "sed -i 's|t: { command: jelly, args: .mock. }|t: { package: { registryType: npm, identifier: other, version: 1.0.0, transport: { type: stdio } } }|' plan.yaml",
            "command",
        ),
        (
            "sed -i 's/  t: {/  u: { command: cat }\\n  t: {/; s/id: echo, server: t/id: echo, server: u/' plan.yaml",
            "server `u`",
        ),
    ] {
        is_stopped(line, "other_server", told);
    }
}

#[test]
fn a_step_that_moves_or_waits_for_another_ends_the_run() {
    for line in [
        "sed -i 's/^steps:/setup:/; s/  - { id: said/steps:\\n  - { id: said/' plan.yaml",
        "sed -i 's/  - { id: sum, \\(.*\\) }$/  - { id: sum, \\1, capture: { n: \"$.content[0].text\" } }/; s/message: hi/message: \"hi ${n}\"/' plan.yaml",
    ] {
        is_stopped(line, "fewer_conditions", "the step");
    }
}

#[test]
fn a_plan_that_a_hook_empties_or_removes_is_not_green() {
    for line in [
        "sed -i '/^steps:/,$d' plan.yaml; echo 'steps: []' >> plan.yaml",
        ": > plan.yaml",
        "rm plan.yaml",
        "rm plan.yaml; mkdir plan.yaml",
    ] {
        let project = project(line);
        let run = project.run(&["--accept-repairs"]);
        run.ends(3, "needs_user_help");
        assert!(run.results.to_string().contains("fix_tests"), "{line}");
        let before = project.read("reports/latest/plan-before-fix_tests-1.yaml");
        assert_eq!(before, PLAN, "{line}");
    }
}

#[test]
fn another_contract_after_a_hook_is_exit_4_unless_it_is_accepted() {
    for line in slice(
        2,
        [
            // The arguments of a step.
            ":",
            // An operand.
            "sed -i 's/matches: \"h.\"/matches: \"^hi\"/' plan.yaml",
            // A variable that an operand uses.
            "sed -i 's/b: 2/b: 3/; s/want: \"3\"/want: \"4\"/' plan.yaml",
            // A snapshot.
            "sed -i 's/message: yes/message: no/' plan.yaml; echo no > snapshots/plan/said.snap",
            // A time limit.
            "sed -i 's/id: echo, server: t/id: echo, server: t, timeout: 9s/' plan.yaml",
        ],
    ) {
        let run = mended(line).run(&[]);
        run.ends(4, "passed_after_repair");
        assert_eq!(run.actions(), ["fix_tests", "stop"], "{line}");
        let changes = changes(&run);
        assert!(!changes.is_empty(), "{line}");
        mended(line)
            .run(&["--accept-repairs"])
            .ends(0, "passed_after_repair");
    }
    // A tool that is called by another name.
    let plan = PLAN
        .replace("a: one", "a: 1")
        .replace("tool: add", "tool: nothing_like_it");
    let project = Project::with(&plan);
    project.write("snapshots/plan/said.snap", "yes\n");
    project.script(
        "fix.sh",
        "#!/bin/sh\nsed -i s/nothing_like_it/add/ plan.yaml\n",
    );
    let run = project.run(&[]);
    run.ends(4, "passed_after_repair");
    let told = changes(&run)[0]["what"].as_str().unwrap();
    assert!(told.contains("another request"), "{told}");
}

#[test]
fn two_hooks_that_add_up_to_a_contract_count_together() {
    // The first changes an operand and mends nothing, the second mends.
    let project = project(
        "if test -f once; then sed -i 's/a: one/a: 1/' plan.yaml; else touch once; \
         sed -i 's/matches: \"h.\"/matches: \"hi\"/' plan.yaml; fi",
    );
    let run = project.run(&[]);
    run.ends(4, "passed_after_repair");
    assert_eq!(run.actions(), ["fix_tests", "fix_tests", "stop"]);
    let plans = project.path("reports/latest");
    for name in [
        "plan-before-fix_tests-2.yaml",
        "plan-after-fix_tests-2.yaml",
    ] {
        assert!(plans.join(name).exists(), "{name}");
    }
}

#[test]
fn a_hook_may_add_what_it_likes_and_mend_what_is_around_the_plan() {
    let plan = "version: 1
servers: { s: { command: jelly, args: [mock, --script, \"${workspace}/server.yaml\"] } }
hooks: { fix_tests: [./fix.sh] }
steps: [{ id: a, tool: echo, args: { message: hi } }]
";
    let project = Project::with(plan);
    project.script(
        "fix.sh",
        "#!/bin/sh\necho 'tools: [{ name: echo, responses: [{ text: hi }] }]' > server.yaml\n\
         printf '  # more\\n' >> plan.yaml\nsed -i 's/^steps: \\[/steps: [{ list: tools }, /' plan.yaml\n",
    );
    let run = project.run(&[]);
    run.ends(0, "passed_after_repair");
    assert_eq!(changes(&run).len(), 0);
    assert_eq!(run.last().total("passed"), 2);
    let diff = run.iteration(1).0["action"]["hook"]["diff"]
        .as_str()
        .unwrap();
    assert!(diff.contains("+steps: [{ list: tools }"), "{diff}");
}

#[test]
fn a_hook_that_fails_changes_nothing_of_the_run_but_is_told_of() {
    let project = project("sed -i '/id: sum/d' plan.yaml; exit 1");
    let run = project.run(&[]);
    run.ends(3, "needs_user_help");
    assert_eq!(run.last().total("total"), 3, "the plan in memory is run");
    let warnings = run.results["warnings"].to_string();
    assert!(
        warnings.contains("left another plan in the file"),
        "{warnings}"
    );
    let hook = &run.iteration(1).0["action"]["hook"];
    assert_eq!(hook["changes"][0]["kind"], "gone");
    assert!(hook["diff"].as_str().unwrap().contains("-  - { id: sum"));
    assert_eq!(
        project.read("reports/latest/plan-before-fix_tests-1.yaml"),
        PLAN
    );
}

#[test]
fn a_hook_that_fails_may_delete_no_snapshot_either() {
    let project = project("rm snapshots/plan/said.snap; exit 1");
    let run = project.run(&[]);
    run.ends(3, "needs_user_help");
    assert!(
        run.help().contains("snapshot `said` is gone"),
        "{}",
        run.help()
    );
}

#[test]
fn settings_that_a_hook_writes_are_part_of_the_contract() {
    for (before, line, code, told) in slice(
        2,
        [
            (
                "run: { wire_check: true }\n",
                "rm jelly.yaml",
                3,
                "`run.wire_check` is gone",
            ),
            (
                "run: { wire_check: true }\n",
                "echo 'run: { wire_check: false }' > jelly.yaml",
                3,
                "`run.wire_check`",
            ),
            (
                "run: { strict: false }\n",
                "echo 'run: { accept_repairs: true }' > jelly.yaml",
                4,
                "`run.accept_repairs`",
            ),
            (
                "jobs: 2\n",
                "echo 'run: { no_adapt: true }' > jelly.yaml",
                4,
                "`run.no_adapt`",
            ),
            (
                "jobs: 2\n",
                "echo 'nonsense: 1' > jelly.yaml",
                3,
                "`jelly.yaml` can't be used",
            ),
            (
                "jobs: 2\n",
                "echo 'profiles: { ci: { run: { strict: true } } }' > jelly.yaml",
                4,
                "profiles.ci.run.strict",
            ),
        ],
    ) {
        let project = mended(line);
        project.write("jelly.yaml", before);
        let run = project.run(&[]);
        assert_eq!(run.code, Some(code), "{line}: {}", run.stdout);
        let changes = changes(&run);
        let named = changes
            .iter()
            .any(|c| c["what"].as_str().unwrap().contains(told));
        assert!(named, "{line}: {changes:#?}");
    }
    // What is only for speed or looks is nobody's contract.
    let project = mended("echo 'jobs: 3' > jelly.yaml");
    project.write("jelly.yaml", "jobs: 2\n");
    let run = project.run(&["--accept-repairs"]);
    run.ends(0, "passed_after_repair");
    let told = format!("{:?}", changes(&run));
    assert!(!told.contains("jobs"), "{told}");
}

#[test]
fn a_schema_store_that_a_hook_empties_ends_the_run() {
    // An override holds whatever the text of an answer is, so that the step is
    // green with it.
    let of = |schema: &str| {
        format!(
            r#"{{"schema_version": 1, "servers": {{"t": {{"tools": {{"echo": {{"outputSchema": {schema}, "override": true}}}}}}}}}}"#
        )
    };
    let before = of(r#"{"type": "object", "required": ["result"]}"#);
    for (after, code, kind) in [
        (None, 3, "gone"),
        (Some("{".to_owned()), 3, "gone"),
        (Some("{}".to_owned()), 3, "gone"),
        (Some(of("{}")), 3, "holds_of_anything"),
        (Some(of("true")), 3, "holds_of_anything"),
        (Some(of(r#"{"type": "object"}"#)), 4, "operand"),
    ] {
        let project = mended("cp new.json store.json 2> /dev/null || rm store.json");
        project.write("store.json", &before);
        if let Some(after) = &after {
            project.write("new.json", after);
        }
        let run = project.run(&["--schema-store", "store.json"]);
        assert_eq!(run.code, Some(code), "{after:?}: {}", run.stdout);
        let listed = changes(&run);
        let of_store = |change: &&&Value| {
            let what = change["what"].as_str().unwrap();
            what.contains("store") && change["kind"] == kind
        };
        assert!(
            listed.iter().find(of_store).is_some(),
            "{after:?}: {listed:#?}"
        );
    }
}

fn git(project: &Project, args: &[&str]) {
    let options = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
    let output = Command::new("git")
        .args(options)
        .args(args)
        .current_dir(project.dir())
        .output()
        .unwrap();
    assert!(output.status.success(), "{output:?}");
}

#[test]
fn code_that_fix_tests_changes_in_a_work_tree_is_named() {
    for commit in [
        "",
        "\ngit -c user.name=t -c user.email=t@example.com commit -qam x",
    ] {
        let project = mended(&format!(
            "echo '# easier' >> src/server.py; echo 1 > src/new.py; echo 2 >> dirty.py{commit}"
        ));
        project.write("src/server.py", "print(1)\n");
        project.write("dirty.py", "print(1)\n");
        git(&project, &["init", "-q"]);
        git(&project, &["add", "-A"]);
        git(&project, &["commit", "-q", "-m", "x"]);
        project.write("dirty.py", "print(2)\n");
        project.write("untouched.py", "");
        let run = project.run(&["--accept-repairs"]);
        run.ends(0, "passed_after_repair");
        let hook = &run.iteration(1).0["action"]["hook"];
        let named: Vec<&str> = hook["code_changed"]
            .as_array()
            .unwrap()
            .iter()
            .filter_map(Value::as_str)
            .collect();
        assert_eq!(
            named,
            ["bundle.json", "dirty.py", "src/new.py", "src/server.py"]
        );
        assert!(run.markdown.contains("`src/server.py`"), "{}", run.markdown);
        let warnings = run.results["warnings"].to_string();
        assert!(warnings.contains("src/new.py"), "{warnings}");
    }
}

#[test]
fn without_a_work_tree_nothing_is_said_of_code() {
    let project = mended("echo 1 > new.py");
    let run = project.run(&["--accept-repairs"]);
    run.ends(0, "passed_after_repair");
    assert!(
        run.iteration(1).0["action"]["hook"]
            .get("code_changed")
            .is_none()
    );
}

#[test]
fn a_secret_of_the_plan_that_a_hook_writes_stands_in_no_report() {
    let project = mended(
        "sed -i 's/  t: { command: jelly, /  t: { command: jelly, env: { X_TOKEN: \"tok-zzz-yyy-xxx\", P: \"${secret:DBPW}\" }, /' plan.yaml",
    );
    let ended = project.call(&[]).env("DBPW", "hunter2hunter2").output();
    let run = Run::of(&project, ended);
    assert!(
        changes(&run)
            .iter()
            .any(|change| change["kind"] == "contract")
    );
    for name in [
        "results.json",
        "test_results.md",
        "plan-after-fix_tests-1.yaml",
    ] {
        let text = project.read(&format!("reports/latest/{name}"));
        assert!(
            !text.contains("tok-zzz") && !text.contains("hunter2"),
            "{name}: {text}"
        );
    }
}

/// Wrong at first; what the hook makes of the server is another matter.
fn refined(line: &str) -> Project {
    let project = Project::with(
        r#"version: 1
servers: { s: { command: jelly, args: [mock, --script, "${workspace}/server.yaml"], startup_timeout: 5s, request_timeout: 2s } }
hooks: { refine_code: [./refine.sh] }
budgets: { retries: 0, mcp_repairs: 0 }
steps:
  - { id: other, tool: other, expect: { text: { equals: ok } } }
  - { id: work, tool: work, expect: { text: { equals: "42" } } }
"#,
    );
    project.write(
        "server.yaml",
        "tools: [{ name: work, responses: [{ text: \"41\" }] }, { name: other, responses: [{ text: ok }] }]\n",
    );
    project.script("refine.sh", &format!("#!/bin/sh\n{line}\n"));
    project
}

#[test]
fn a_refinement_that_breaks_the_server_takes_no_proof_back() {
    for (line, beside) in [
        // It no longer starts.
        ("echo '{' > server.yaml", "s"),
        ("rm server.yaml", "s"),
        // The tool is gone.
        (
            "echo 'tools: [{ name: other, responses: [{ text: ok }] }]' > server.yaml",
            "work",
        ),
    ] {
        let run = refined(line).run(&["--trust-plan", "--max-iterations", "8"]);
        run.ends(1, "code_failure");
        assert!(run.actions().contains(&"refine_code"), "{line}");
        assert_eq!(run.results["needs_user_help"], true, "{line}");
        let broken = run.last().failure(beside);
        assert_eq!(broken["diagnosis"]["side"], "test", "{line}: {broken:#}");
        let problems = run.results["help_summary"]["problems"]
            .as_array()
            .unwrap()
            .clone();
        let told = |step: &str, words: &str| {
            problems
                .iter()
                .any(|p| p["step"] == step && p["what"].as_str().unwrap().contains(words))
        };
        assert!(
            told("work", "nothing passed there since"),
            "{line}: {problems:#?}"
        );
        assert!(problems.len() >= 2, "{line}: {problems:#?}");
    }
}

#[test]
fn a_refinement_that_breaks_another_step_leaves_its_own_proof_to_its_own_step() {
    // The step passes now: what was proven of it is mended.
    let line = "echo 'tools: [{ name: work, responses: [{ text: \"42\" }] }]' > server.yaml";
    let run = refined(line).run(&["--trust-plan", "--max-iterations", "8"]);
    run.ends(3, "needs_user_help");
    assert_eq!(run.last().state("work"), "passed");
    // And a refinement that helps is green.
    let line = "echo 'tools: [{ name: work, responses: [{ text: \"42\" }] }, { name: other, responses: [{ text: ok }] }]' > server.yaml";
    let run = refined(line).run(&["--trust-plan"]);
    run.ends(0, "passed_after_repair");
}

#[test]
fn a_plan_that_waits_for_its_turn_is_not_weakened_by_the_hook_of_another() {
    let project = mended("sed -i '/id: extra/d' other.yaml");
    let other = "version: 1
servers: { s: { command: jelly, args: [mock] } }
steps:
  - { id: first, tool: echo, args: { message: a } }
  - { id: extra, tool: echo, args: { message: b }, expect: { text: { equals: c } } }
";
    project.write("other.yaml", other);
    let ended = project
        .jelly(&[
            "run",
            "plan.yaml",
            "other.yaml",
            "--jobs",
            "1",
            "--accept-repairs",
        ])
        .output();
    assert_eq!(ended.code, Some(3), "{}{}", ended.stdout, ended.stderr);
    assert!(
        ended.stderr.contains("the step `extra` is gone"),
        "{}",
        ended.stderr
    );
}

#[test]
fn a_combination_that_a_hook_takes_out_of_the_matrix_ends_the_run() {
    let project = Project::with(&PLAN.replace(
        "version: 1\n",
        "version: 1\nmatrix: { protocol: [\"2025-03-26\", \"2025-06-18\", \"2025-11-25\"] }\n",
    ));
    project.write("snapshots/plan/said.snap", "yes\n");
    project.script(
        "fix.sh",
        "#!/bin/sh\nsed -i 's/a: one/a: 1/; s/, \"2025-11-25\"//' plan.yaml\n",
    );
    let ended = project.call(&["--accept-repairs"]).output();
    assert_eq!(ended.code, Some(3), "{}{}", ended.stdout, ended.stderr);
    assert!(ended.stdout.contains("`2025-11-25`"), "{}", ended.stdout);
}

#[test]
fn a_spent_budget_is_named_in_the_help_with_a_command_that_works() {
    let project = Project::with(
        r#"version: 1
servers: { s: { command: jelly, args: [mock, --state, "${workspace}/s.json"] } }
vars: { want: "4" }
steps: [{ id: sum, tool: add, args: { a: 1, b: 2 }, expect: { text: { equals: "${want}" } } }]
"#,
    );
    for (flags, told, command) in [
        (
            &["--confirms", "0", "--var", "want=5"][..],
            "a second look would have been next",
            "jelly run plan.yaml --var want=5 --confirms 1",
        ),
        (
            &["--no-confirm"],
            "leave `--no-confirm` out",
            "jelly run plan.yaml",
        ),
        (
            &["--max-iterations", "1"],
            "the budget of 1 iteration is used up",
            "jelly run plan.yaml --max-iterations 2",
        ),
    ] {
        let run = project.run(flags);
        run.ends(3, "needs_user_help");
        let reason = run.last().0["action"]["reason"].as_str().unwrap();
        assert!(reason.contains(told), "{reason}");
        let problems = run.results["help_summary"]["problems"].as_array().unwrap();
        let next = problems[0]["next"].as_array().unwrap();
        assert!(
            next.iter().any(|line| line == &format!("$ {command}")),
            "{next:#?}"
        );
        let words: Vec<&str> = command.split(' ').skip(1).collect();
        let again = project.jelly(&words).output();
        assert_eq!(again.code, Some(1), "{command}: {}", again.stdout);
    }
}

/// The printed lines that run a plan, each pasted; the plan that it left, and its exit
/// code.
fn pasted(project: &Project, run: &Run) -> Vec<(String, String, Option<i32>)> {
    let lines = run.stdout.lines();
    let lines = lines.filter_map(|line| Some(line.split_once("$ ")?.1.trim().to_owned()));
    let lines: Vec<String> = lines.filter(|line| line.contains("jelly run ")).collect();
    assert!(!lines.is_empty(), "{}", run.stdout);
    let after = project.read("plan.yaml");
    let paste = |line: String| {
        // Each as if it were the first.
        project.write("plan.yaml", &after);
        let runs = std::fs::read_dir(project.path("reports")).unwrap();
        for run in runs {
            for kept in std::fs::read_dir(run.unwrap().path()).into_iter().flatten() {
                let kept = kept.unwrap().path();
                if kept.extension().is_some_and(|ending| ending == "replaced") {
                    std::fs::remove_file(kept).unwrap();
                }
            }
        }
        let script = format!("jelly() {{ \"$0\" \"$@\"; }}; {line}");
        let ended = project.wrapped("sh", &["-c", &script]).output();
        (line, project.read("plan.yaml"), ended.code)
    };
    lines.into_iter().map(paste).collect()
}

#[test]
fn what_a_hook_took_away_is_put_back_before_the_plan_is_run_again() {
    let project = project("test -f twice || sed -i '/id: sum/d' plan.yaml");
    let run = project.run(&[]);
    run.ends(3, "needs_user_help");
    project.write("twice", "");
    for (line, plan, code) in pasted(&project, &run) {
        assert_eq!(code, Some(3), "{line}");
        assert_eq!(plan, PLAN, "{line}");
    }
}

#[test]
fn what_refine_code_changed_is_kept_as_it_was_and_put_back_first() {
    let plan = "version: 1
servers: { s: { command: jelly, args: [mock] } }
steps: [{ id: a, tool: echo, args: { message: hi }, expect: { text: { equals: ho } } }]
";
    let project = Project::with(plan);
    project.script("fix.sh", "#!/bin/sh\nsed -i s/ho/hi/ plan.yaml\n");
    let run = project.run(&["--refine-code", "./fix.sh", "--trust-plan"]);
    run.ends(3, "needs_user_help");
    let kept = "reports/latest/plan-before-refine_code-1.yaml";
    assert_eq!(project.read(kept), plan);
    assert!(!run.stdout.contains("git diff"), "{}", run.stdout);
    assert!(run.stdout.contains("$ diff -u "), "{}", run.stdout);
    project.script("fix.sh", "#!/bin/sh\nexit 1\n");
    for (line, now, code) in pasted(&project, &run) {
        assert_eq!(code, Some(1), "{line}");
        assert_eq!(now, plan, "{line}");
    }
}

#[test]
fn a_snapshot_that_refine_code_stored_is_put_back_too() {
    let plan = "version: 1
servers: { s: { command: jelly, args: [mock] } }
steps: [{ id: a, tool: echo, args: { message: hi }, expect: { text: { snapshot: said } } }]
";
    let project = Project::with(plan);
    project.write("snapshots/plan/said.snap", "ho\n");
    let hook = "#!/bin/sh\necho hi > snapshots/plan/said.snap\n";
    project.script("fix.sh", hook);
    let run = project.run(&["--refine-code", "./fix.sh", "--trust-plan"]);
    run.ends(3, "needs_user_help");
    project.script("fix.sh", "#!/bin/sh\nexit 1\n");
    for (line, _, code) in pasted(&project, &run) {
        assert_eq!(code, Some(1), "{line}");
    }
    assert_eq!(project.read("snapshots/plan/said.snap"), "ho\n");
}

/// Its steps are not those of the plan that ran.
#[test]
fn the_plan_that_a_failed_hook_left_is_not_run_again() {
    let project = project("sed -i '/id: sum/d' plan.yaml; exit 1");
    let run = project.run(&[]);
    run.ends(3, "needs_user_help");
    project.script("fix.sh", "#!/bin/sh\nexit 1\n");
    for (line, plan, code) in pasted(&project, &run) {
        assert_eq!(code, Some(3), "{line}");
        assert_eq!(plan, PLAN, "{line}");
    }
}
