//! Who is blamed, and on what proof: a run that blames the code for what the
//! plan or the environment did is worse than one that says nothing.

use crate::support::{Project, Run, fixtures, python, real};
use serde_json::Value;

const MEMORY: &str = "npm/node_modules/@modelcontextprotocol/server-memory/dist/index.js";

fn run(plan: &str) -> Run {
    Project::with(plan).run(&[])
}

/// A mock by a script of `fixtures/mock`, its state in the project.
fn script(name: &str) -> String {
    format!(
        "{{ command: jelly, args: [mock, --script, {}, --state, \"${{workspace}}/state.json\"] }}",
        serde_json::json!(fixtures().join("mock").join(name))
    )
}

/// One step whose expectation never holds: the server says 3.
const WRONG_VALUE: &str = "
version: 1
servers: { s: { command: jelly, args: [mock, --state, \"${workspace}/starts.json\"] } }
hooks: { refine_code: [./refine.sh] }
steps:
  - { id: echo, tool: echo, args: { message: hi }, expect: { text: { equals: hi } } }
  - { id: sum, tool: add, args: { a: 1, b: 2 }, expect: { text: { equals: \"4\" } } }
";

fn wrong_value() -> Project {
    let project = Project::with(WRONG_VALUE);
    project.script("refine.sh", "#!/bin/sh\ncat > bundle.json\n");
    project
}

#[track_caller]
fn never_code(run: &Run) {
    run.ends(3, "needs_user_help");
    for iteration in run.iterations() {
        for failure in iteration.failures() {
            assert_eq!(failure["diagnosis"]["side"], "test", "{failure:#}");
        }
    }
    assert!(!run.actions().contains(&"refine_code"));
}

#[test]
fn a_wrong_value_is_seen_twice_on_fresh_servers_before_it_is_code() {
    let project = wrong_value();
    let run = project.run(&[]);
    run.ends(1, "code_failure");
    assert_eq!(run.actions(), ["confirm", "stop"]);
    let first = &run.iteration(1).failure("sum")["diagnosis"];
    assert_eq!(first["side"], "test", "pending is not code");
    let second = run.last().failure("sum");
    let diagnosis = &second["diagnosis"];
    assert_eq!(diagnosis["side"], "code");
    assert_eq!(diagnosis["root_cause"], "assertion_mismatch");
    assert_eq!(diagnosis["error_category"], "ASSERTION");
    assert_eq!(diagnosis["standing"], "never_passed");
    assert_eq!(diagnosis["repeated"]["first_iteration"], 1);
    assert_eq!(diagnosis["repeated"]["count"], 2);
    assert_eq!(second["assertion"]["expected"], "4");
    assert_eq!(second["assertion"]["actual"], "3");
    assert_eq!(run.last().state("echo"), "passed");
    // Fresh servers: one start for each iteration.
    let starts: Value = serde_json::from_str(&project.read("starts.json")).unwrap();
    assert!(starts.to_string().contains('2'), "{starts}");
    // No refine without --trust-plan.
    assert!(!project.exists("bundle.json"));
}

#[test]
fn the_help_for_a_step_that_never_passed_gives_both_readings() {
    let run = wrong_value().run(&[]);
    let help = run.help().to_lowercase();
    for word in [
        "the server is wrong",
        "the plan expects the wrong value",
        "ever held",
        "plan.yaml:7",
    ] {
        assert!(help.contains(word), "{word}: {help}");
    }
    assert!(run.stdout.contains("ever held"), "{}", run.stdout);
}

#[test]
fn a_trusted_plan_lets_the_hook_refine_the_code_as_often_as_its_budget_says() {
    let project = wrong_value();
    let run = project.run(&["--trust-plan"]);
    run.ends(1, "code_failure");
    assert_eq!(
        run.actions(),
        ["confirm", "refine_code", "refine_code", "stop"]
    );
    let bundle: Value = serde_json::from_str(&project.read("bundle.json")).unwrap();
    assert_eq!(bundle["hook"], "refine_code");
    assert_eq!(bundle["failures"][0]["step"], "sum");
    assert_eq!(bundle["failures"][0]["diagnosis"]["side"], "code");
    let hook = &run.iteration(2)["action"]["hook"];
    assert_eq!(hook["exit"]["code"], 0, "{hook}");
}

#[test]
fn without_a_second_look_a_mismatch_stays_ambiguous() {
    let run = wrong_value().run(&["--no-confirm", "--trust-plan"]);
    never_code(&run);
    assert_eq!(run.iterations().len(), 1);
    let diagnosis = &run.last().failure("sum")["diagnosis"];
    assert_eq!(diagnosis["ambiguous"], true);
    assert_eq!(diagnosis["excused"], "unconfirmed");
}

#[test]
fn wrong_in_another_way_each_time_is_flaky() {
    let plan = format!(
        "
version: 1
servers: {{ s: {} }}
steps: [{{ id: answer, tool: answer, expect: {{ text: {{ equals: \"42\" }} }} }}]
",
        script("wrong-differently.yaml")
    );
    let run = run(&plan);
    never_code(&run);
    let diagnosis = &run.last().failure("answer")["diagnosis"];
    assert_eq!(diagnosis["flaky"], true, "{diagnosis:#}");
}

/// What an expectation does not look at makes no other failure of it.
#[test]
fn a_clock_in_the_answer_does_not_make_a_failure_flaky() {
    let server = python(
        "
import time
def call(message):
    now = time.time()
    stamp = time.strftime('%Y-%m-%dT%H:%M:%S', time.gmtime(now)) + ('%.6f' % (now % 1))[1:] + 'Z'
    answer(message, text(stamp))
serve(call)
",
    );
    let expects = [
        "{ error: {} }",
        "{ text: { starts_with: \"1999\" } }",
        "{ text: { not_contains: \":\" } }",
        "{ json: [{ path: $.content, length: 2 }] }",
    ];
    let steps: String = (expects.iter().enumerate())
        .map(|(n, expect)| format!("  - {{ id: a{n}, tool: work, expect: {expect} }}\n"))
        .collect();
    let run = run(&format!(
        "version: 1\nservers: {{ s: {server} }}\nsteps:\n{steps}"
    ));
    run.ends(1, "code_failure");
    for n in 0..expects.len() {
        let diagnosis = &run.last().failure(&format!("a{n}"))["diagnosis"];
        assert_eq!(diagnosis["side"], "code", "{n} {diagnosis:#}");
    }
}

fn flaky() -> Project {
    Project::with(&format!(
        "
version: 1
servers: {{ s: {} }}
steps: [{{ id: answer, tool: answer, expect: {{ text: {{ equals: \"42\" }} }} }}]
",
        script("flaky-value.yaml")
    ))
}

#[test]
fn wrong_then_right_is_flaky_and_passes_after_a_retry() {
    let run = flaky().run(&[]);
    run.ends(0, "passed_after_retry");
    let step = run.last().step("answer");
    assert_eq!(
        (&step["state"], &step["flaky"]),
        (&"passed".into(), &true.into())
    );
    assert_eq!(step["attempts"], 2);
    assert!(run.junit.contains("flakyFailure"), "{}", run.junit);
    assert!(
        run.stdout.to_lowercase().contains("flaky"),
        "{}",
        run.stdout
    );
}

#[test]
fn a_strict_run_does_not_take_flaky_for_green() {
    flaky().run(&["--strict"]).ends(4, "passed_after_retry");
}

#[test]
fn a_panic_in_a_call_is_code_with_the_panic_line_as_evidence() {
    for (language, line) in [
        ("rust", "panicked at"),
        ("python", "Error"),
        ("node", "Error"),
    ] {
        let run = run(&format!(
            "
version: 1
servers: {{ s: {{ command: jelly, args: [mock, --fault, 'panic@tool:add={language}'] }} }}
steps:
  - {{ id: before, tool: echo, args: {{ message: hi }} }}
  - {{ id: add, tool: add, args: {{ a: 1, b: 2 }} }}
  - {{ id: after, tool: echo, args: {{ message: hi }} }}
"
        ));
        run.ends(1, "code_failure");
        assert_eq!(run.iterations().len(), 1, "one sighting is enough");
        let failure = run.last().failure("add");
        let diagnosis = &failure["diagnosis"];
        assert_eq!(diagnosis["side"], "code", "{failure:#}");
        assert_eq!(diagnosis["root_cause"], "crashed_during_call");
        let evidence = &diagnosis["evidence"];
        assert_eq!(evidence["field"], "stderr", "{evidence}");
        let text = evidence["text"].as_str().unwrap();
        assert!(text.contains(line), "{language}: {text}");
        assert!(run.help().contains(line), "{}", run.help());
        assert_eq!(run.last().state("after"), "passed");
        assert_eq!(run.last().server("s")["restarts"], 1);
    }
}

#[test]
fn a_server_killed_from_outside_is_nobodys_proof() {
    for signal in ["SIGKILL", "SIGTERM", "SIGHUP", "SIGINT"] {
        let run = run(&format!(
            "
version: 1
servers: {{ s: {{ command: jelly, args: [mock, --fault, 'kill@tool:add={signal}'] }} }}
budgets: {{ retries: 0 }}
steps:
  - {{ id: add, tool: add, args: {{ a: 1, b: 2 }} }}
"
        ));
        never_code(&run);
        let failure = run.last().failure("add");
        assert_eq!(failure["exit"]["signal"], signal);
        assert_eq!(failure["diagnosis"]["ambiguous"], true, "{failure:#}");
        assert_eq!(failure["diagnosis"]["root_cause"], "crashed_during_call");
    }
}

#[test]
fn a_step_that_passed_before_on_the_same_plan_is_not_repeatable_and_no_code() {
    let project = Project::with(&format!(
        "
version: 1
servers:
  memory:
    command: node
    args: [{}]
    env: {{ MEMORY_FILE_PATH: \"${{workspace}}/graph.json\" }}
    startup_timeout: 60s
  late: {}
steps:
  - {{ id: empty, server: memory, tool: read_graph, expect: {{ structured: {{ equals: {{ entities: [], relations: [] }} }} }} }}
  - {{ id: create, server: memory, tool: create_entities, args: {{ entities: [{{ name: Ada, entityType: person, observations: [] }}] }} }}
  - {{ id: late, server: late, tool: answer, expect: {{ text: {{ equals: \"42\" }} }} }}
",
        serde_json::json!(real(MEMORY)),
        script("flaky-value.yaml"),
    ));
    let run = project.run(&["--trust-plan"]);
    never_code(&run);
    assert_eq!(run.iteration(1).state("empty"), "passed");
    let failure = run.last().failure("empty");
    assert_eq!(failure["diagnosis"]["excused"], "not_repeatable");
    assert_eq!(run.last().state("late"), "passed");
    assert!(run.help().contains("empty"));
}

#[test]
fn a_result_that_is_an_infrastructure_error_in_disguise_is_no_wrong_value() {
    let run = run(&format!(
        "
version: 1
servers: {{ s: {} }}
budgets: {{ retries: 1 }}
steps: [{{ id: user, tool: get_user, args: {{ id: 1 }}, expect: {{ text: {{ contains: Ada }} }} }}]
",
        script("silent-infrastructure-error.yaml")
    ));
    never_code(&run);
    let diagnosis = &run.last().failure("user")["diagnosis"];
    assert_eq!(
        diagnosis["root_cause"], "connection_refused",
        "{diagnosis:#}"
    );
    assert_eq!(diagnosis["error_category"], "INFRASTRUCTURE");
    assert!(run.help().contains("Error 111 connecting to 127.0.0.1"));
}

#[test]
fn a_slow_answer_is_not_a_wrong_one() {
    let run = run("
version: 1
servers: { s: { command: jelly, args: [mock] } }
steps: [{ id: slow, tool: sleep, args: { ms: 80 }, expect: { duration: { lt: 20ms } } }]
");
    never_code(&run);
    let diagnosis = &run.last().failure("slow")["diagnosis"];
    assert_eq!(diagnosis["excused"], "duration", "{diagnosis:#}");
}

/// It makes something of the refusal, which is no fault.
#[test]
fn what_the_plan_answers_a_server_not_is_not_held_against_the_code() {
    for answered in ["text('without a model')", "text('no model', True)"] {
        let server = python(&format!(
            "def call(request):
    send({{'jsonrpc': '2.0', 'id': 's1', 'method': 'sampling/createMessage', 'params': {{}}}})
    read()
    answer(request, {answered})
serve(call)"
        ));
        let run = run(&format!(
            "version: 1\nservers: {{ s: {server} }}\nsteps:\n  - {{ id: a, tool: work, expect: {{ \
             text: {{ contains: hello }} }} }}\n"
        ));
        never_code(&run);
        let diagnosis = &run.last().failure("a")["diagnosis"];
        if diagnosis["excused"].is_string() {
            assert_eq!(diagnosis["excused"], "unanswered", "{diagnosis:#}");
        }
        assert!(run.help().contains("answers"), "{}", run.help());
    }
}

#[test]
fn a_step_after_a_crash_is_not_held_against_the_code() {
    let run = run("
version: 1
servers: { s: { command: jelly, args: [mock, --fault, 'kill@tool:add=SIGKILL'] } }
budgets: { retries: 0 }
steps:
  - { id: first, tool: counter, expect: { text: { contains: \"1\" } } }
  - { id: crash, tool: add, args: { a: 1, b: 2 } }
  - { id: second, tool: counter, expect: { text: { contains: \"2\" } } }
");
    never_code(&run);
    assert_eq!(run.iteration(1).state("first"), "passed");
    let failure = run.last().failure("second");
    assert_eq!(failure["diagnosis"]["excused"], "after_restart");
}

#[test]
fn a_mismatch_after_a_guessed_name_is_the_guess_s() {
    let run = run("
version: 1
servers: { s: { command: jelly, args: [mock] } }
steps: [{ id: two, tool: ehco, args: { message: hi }, expect: { text: { equals: ho } } }]
");
    never_code(&run);
    assert_eq!(run.actions()[0], "repair_mcp_plan");
    let diagnosis = &run.last().failure("two")["diagnosis"];
    assert_eq!(diagnosis["excused"], "repair_ineffective", "{diagnosis:#}");
}

#[test]
fn a_negative_test_is_sent_as_it_is_written_and_passes() {
    let project = Project::with(
        "
version: 1
servers: { s: { command: jelly, args: [mock] } }
steps:
  - id: unknown
    tool: no_such_tool
    args: { mesage: 5 }
    expect: { error: { message: { contains: no_such_tool } } }
  - { id: misspelt, tool: ehco, expect: { is_error: true } }
",
    );
    let run = project.run(&["--record"]);
    let ended = run.last();
    // A JSON-RPC error is an error, and `is_error` speaks of tools' results.
    assert_eq!(ended.state("unknown"), "passed", "{}", run.stdout);
    assert!(ended.failures().iter().all(|f| f["step"] != "unknown"));
    assert!(!run.actions().contains(&"repair_mcp_plan"));
    let wire = project.read("reports/latest/wire.jsonl");
    for sent in ["no_such_tool", "mesage", "ehco"] {
        assert!(wire.contains(sent), "{sent} was sent as written: {wire}");
    }
}

#[test]
fn a_negative_test_alone_is_green_at_first_sight() {
    let run = run("
version: 1
servers: { s: { command: jelly, args: [mock] } }
steps: [{ id: unknown, tool: no_such_tool, expect: { error: { message: { contains: no_such_tool } } } }]
");
    run.ends(0, "passed");
}

#[test]
fn a_server_that_exits_after_every_reply_is_not_green() {
    let run = run(&format!(
        "
version: 1
servers: {{ s: {} }}
steps:
  - {{ id: one, tool: add, args: {{ a: 1, b: 2 }}, expect: {{ structured: {{ equals: {{ sum: 3 }} }} }} }}
  - {{ id: two, tool: echo, args: {{ message: hi }}, expect: {{ text: {{ equals: hi }} }} }}
",
        script("exit-after-reply.yaml")
    ));
    assert_ne!(run.code, Some(0), "{}", run.stdout);
    assert_ne!(run.results["verdict"], "passed");
    assert!(!run.last().failures().is_empty());
    assert!(run.junit.contains("<error") || run.junit.contains("<failure"));
}

/// A server that says what `answer.txt` holds.
fn reads_its_answer() -> String {
    python("serve(lambda call: answer(call, text(open('answer.txt').read())))")
}

#[test]
fn a_hook_that_mends_the_code_makes_the_run_green() {
    let project = Project::with(&format!(
        "
version: 1
servers: {{ s: {} }}
hooks: {{ refine_code: [./refine.sh, \"fixed it\"] }}
steps: [{{ id: work, tool: work, expect: {{ text: {{ equals: \"42\" }} }} }}]
",
        reads_its_answer()
    ));
    project.write("answer.txt", "41");
    project.script(
        "refine.sh",
        "#!/bin/sh\ncat > bundle.json\nprintf 42 > answer.txt\necho \"$1\"\n",
    );
    let run = project.run(&["--trust-plan"]);
    run.ends(0, "passed_after_repair");
    assert_eq!(run.actions(), ["confirm", "refine_code", "stop"]);
    let action = &run.iteration(2)["action"];
    assert_eq!(action["hook"]["stdout"], "fixed it\n", "{action}");
    assert!(run.markdown.contains("fixed it"));
    let budgets = &run.iteration(2)["budgets"];
    assert_eq!(budgets["before"]["code_refines"], 2);
    assert_eq!(budgets["after"]["code_refines"], 1);
    assert_eq!(budgets["before"]["retries"], budgets["after"]["retries"]);
}

#[test]
fn a_code_hook_that_edits_the_plan_instead_is_found_out() {
    let project = Project::with(&format!(
        "
version: 1
servers: {{ s: {} }}
hooks: {{ refine_code: [./refine.sh] }}
steps: [{{ id: work, tool: work, expect: {{ text: {{ equals: \"42\" }} }} }}]
",
        reads_its_answer()
    ));
    project.write("answer.txt", "41");
    project.script("refine.sh", "#!/bin/sh\nsed -i s/42/41/ plan.yaml\n");
    let run = project.run(&["--trust-plan"]);
    run.ends(3, "needs_user_help");
    assert!(run.help().contains("plan"), "{}", run.help());
    assert!(run.help().contains("refine_code"), "{}", run.help());
}

#[test]
fn a_code_hook_that_fails_ends_its_track() {
    let project = wrong_value();
    project.script("refine.sh", "#!/bin/sh\necho no idea >&2\nexit 7\n");
    let run = project.run(&["--trust-plan", "--max-iterations", "10"]);
    run.ends(1, "code_failure");
    let refined = run
        .actions()
        .iter()
        .filter(|a| **a == "refine_code")
        .count();
    assert_eq!(refined, 1, "{:?}", run.actions());
    assert!(run.results.to_string().contains("no idea"));
}

/// Fails by the plan: an argument the server refuses, which no repair mends.
const WRONG_PLAN: &str = "
version: 1
servers: { s: { command: jelly, args: [mock] } }
hooks: { fix_tests: [./fix.sh] }
steps: [{ id: fail, tool: add, args: { a: one, b: 2 } }]
";

#[test]
fn a_hook_that_mends_the_plan_makes_the_run_green() {
    let project = Project::with(WRONG_PLAN);
    project.script(
        "fix.sh",
        "#!/bin/sh\ncat > bundle.json\nsed -i 's/a: one/a: 1/' plan.yaml\n",
    );
    let run = project.run(&["--accept-repairs"]);
    run.ends(0, "passed_after_repair");
    assert_eq!(run.actions(), ["fix_tests", "stop"]);
    let bundle: Value = serde_json::from_str(&project.read("bundle.json")).unwrap();
    assert_eq!(bundle["hook"], "fix_tests");
    assert_eq!(bundle["failures"][0]["diagnosis"]["side"], "test");
}

#[test]
fn a_hook_that_breaks_the_plan_stops_the_run() {
    let project = Project::with(WRONG_PLAN);
    project.script("fix.sh", "#!/bin/sh\necho 'steps: 5' > plan.yaml\n");
    let run = project.run(&[]);
    run.ends(3, "needs_user_help");
    assert!(run.results.to_string().contains("fix_tests"));
}

#[test]
fn a_hook_for_tests_is_called_as_often_as_its_budget_says() {
    let project = Project::with(WRONG_PLAN);
    project.script("fix.sh", "#!/bin/sh\necho called >> calls\n");
    let run = project.run(&["--test-fixes", "3", "--max-iterations", "10"]);
    run.ends(3, "needs_user_help");
    assert_eq!(project.read("calls").lines().count(), 3);
}

#[test]
fn a_hook_that_hangs_is_ended_by_its_own_limit() {
    let project = Project::with(WRONG_PLAN);
    project.script("fix.sh", "#!/bin/sh\nexec sleep 600\n");
    let run = project.run(&["--hook-timeout", "300ms"]);
    run.ends(3, "needs_user_help");
    let hook = &run.iteration(1)["action"]["hook"];
    assert!(hook["error"].as_str().is_some(), "{hook}");
}

#[test]
fn a_wrong_answer_that_tells_the_time_is_the_same_wrong_answer() {
    let server = python(
        "serve(lambda call: answer(call, text(f'41 at {time.strftime(\"%Y-%m-%dT%H:%M:%S\")}.{time.time_ns() % 1000000000:09}Z')))",
    );
    let run = run(&format!(
        "
version: 1
servers: {{ s: {server} }}
steps: [{{ id: work, tool: work, expect: {{ text: {{ starts_with: \"42\" }} }} }}]
"
    ));
    run.ends(1, "code_failure");
}

/// A tool whose output schema lies on another machine.
const REMOTE_SCHEMA: &str = "
name: remote-schema
tools:
  - name: answer
    inputSchema: { type: object }
    outputSchema: { $ref: \"https://schemas.invalid/answer.json\" }
    response: { text: \"42\", structured: { answer: 42 } }
";

#[test]
fn a_schema_that_nobody_may_fetch_blames_nobody_and_is_said() {
    let project = Project::with(
        "
version: 1
servers: { s: { command: jelly, args: [mock, --script, mock.yaml] } }
steps:
  - { id: one, tool: answer, expect: { text: { equals: \"42\" } } }
  - { id: two, tool: answer }
",
    );
    project.write("mock.yaml", REMOTE_SCHEMA);
    let run = project.run(&[]);
    run.ends(0, "passed");
    let said = "was not held against its output schema: it refers to \
                `https://schemas.invalid/answer.json`";
    let told = format!("{}{}", run.stdout, run.stderr);
    assert_eq!(told.matches(said).count(), 1, "{told}");
    let notes = &run.last().server("s")["notes"];
    assert!(notes[0].as_str().unwrap().contains(said), "{notes}");
    assert_eq!(notes.as_array().unwrap().len(), 1);
}

#[test]
fn a_tool_that_was_sent_nothing_fails_by_itself() {
    let plan = |tool: &str| {
        let server = python(&format!(
            "serve(lambda m: answer(m, {{'content': [{{'type': 'text', 'text': {tool}}}], 'isError': True}}))"
        ));
        format!(
            "version: 1\nservers:\n  s: {server}\nsteps: [{{ id: a, server: s, tool: work, expect: {{ is_error: false }} }}]\n"
        )
    };
    let failed = run(&plan("'invalid state transition'"));
    never_code(&failed);
    let diagnosis = &failed.last().failure("a")["diagnosis"];
    assert_eq!(diagnosis["root_cause"], "internal_error", "{diagnosis:#}");
    assert_eq!(diagnosis["ambiguous"], true, "{diagnosis:#}");
    let fix = diagnosis["advice"]["fix"].to_string();
    assert!(!fix.contains("`args`"), "{fix}");
    // Words that ask for what was not sent are about the plan.
    let lacks = run(&plan("'city is required'"));
    let diagnosis = &lacks.last().failure("a")["diagnosis"];
    assert_eq!(diagnosis["root_cause"], "invalid_params", "{diagnosis:#}");
    assert_eq!(diagnosis["ambiguous"], false, "{diagnosis:#}");
}

#[test]
fn a_value_that_breaks_a_schema_is_named_by_its_place() {
    let server = python(
        "serve(lambda m: answer(m, {'content': [], 'structuredContent': {'rows': [{'n': 1}, {'n': 'two'}], 'more': 'x' * 500}}))",
    );
    let schema = "{ properties: { rows: { items: { properties: { n: { type: number } } } } }, description: LONG }";
    let failed = run(&format!(
        "version: 1\nservers:\n  s: {server}\nsteps: [{{ id: a, server: s, tool: work, expect: {{ structured: {{ schema: {} }} }} }}]\n",
        schema.replace("LONG", &"very ".repeat(100))
    ));
    failed.ends(1, "code_failure");
    let failure = failed.last().failure("a");
    assert_eq!(
        failure["message"],
        "the structured output does not fit the schema at /rows/1/n: expected {\"type\":\"number\"}, got \"two\""
    );
    let assertion = &failure["assertion"];
    assert_eq!(assertion["pointer"], "/rows/1/n");
    assert_eq!(assertion["actual"], "two");
    for text in [&failed.stdout, &failed.stderr] {
        assert!(
            !text.contains("very very") && !text.contains("xxxx"),
            "{text}"
        );
    }
}

#[test]
fn an_empty_answer_beside_a_service_that_did_not_answer_is_held_against_nobody() {
    let plan = |told: &str| {
        let server = python(&format!(
            "def work(m):\n    sys.stderr.write({told:?})\n    sys.stderr.flush()\n    answer(m, {{'content': [{{'type': 'text', 'text': '[]'}}]}})\nserve(work)"
        ));
        format!(
            "version: 1\nservers:\n  s: {server}\nsteps: [{{ id: a, server: s, tool: work, expect: {{ text: {{ contains: fine }} }} }}]\n"
        )
    };
    let lacked = run(&plan(
        "ERROR db: connect ECONNREFUSED 127.0.0.1:5432; serving none\n",
    ));
    never_code(&lacked);
    let diagnosis = &lacked.last().failure("a")["diagnosis"];
    assert_eq!(diagnosis["excused"], "unreached", "{diagnosis:#}");
    let fix = diagnosis["advice"]["fix"].to_string();
    assert!(fix.contains("127.0.0.1:5432"), "{fix}");
    let wrong = run(&plan("INFO served none\n"));
    wrong.ends(1, "code_failure");
}
