//! Every limit that can be set is the one that holds, in time and in memory.
//!
//! Lower bounds are exact; upper ones are far above, and only tell the limit
//! from another one.

use crate::support::{Project, Run, python, run, slice};
use serde_json::Value;
use std::time::Duration;

/// Far below any other limit that could have ended the wait, and far above
/// what a busy machine adds.
const FAR: Duration = Duration::from_secs(15);

#[track_caller]
fn took(run: &Run, at_least: Duration) {
    let elapsed = run.elapsed;
    assert!(elapsed >= at_least, "{elapsed:?} is too short");
    assert!(elapsed < at_least + FAR, "{elapsed:?} is too long");
}

fn ms(ms: u64) -> Duration {
    Duration::from_millis(ms)
}

/// A server of the mock with these arguments and settings, and one step.
fn project(args: &str, settings: &str, step: &str) -> Project {
    Project::with(&format!(
        "version: 1\nservers:\n  s: {{ command: jelly, args: [mock{args}], {settings} }}\nsteps:\n  - {{ id: a, {step} }}\n"
    ))
}

const ECHO: &str = "tool: echo, args: { message: hi }";
const SLEEP: &str = "tool: sleep, args: { ms: 40000 }";
/// Nothing is tried again, so that each limit is met once.
const ONCE: &[&str] = &["--retries", "0", "--no-repair"];

/// A server whose tool `work` declares a schema that asks for twice as much
/// with each of its levels: for its input, or for its output.
fn doubling(which: &str, levels: u32) -> String {
    python(&format!(
        r##"
levels = {levels}
defs = {{f"l{{n}}": {{"anyOf": [{{"$ref": f"#/$defs/l{{n + 1}}"}}] * 2}} for n in range(levels)}}
defs[f"l{{levels}}"] = {{"type": "string"}}
schema = {{"type": "object", "properties": {{"a": {{"$ref": "#/$defs/l0"}}}}, "$defs": defs}}
def listed(message):
    tools = named(["work"])
    tools["tools"][0]["{which}"] = schema
    return tools
def call(message):
    answer(message, {{"content": [], "structuredContent": {{"a": 1}}}})
serve(call, listed=listed)
"##
    ))
}

#[test]
fn a_schema_that_takes_more_than_there_is_proves_nothing() {
    for (which, levels) in [
        ("inputSchema", 26),
        ("outputSchema", 26),
        ("outputSchema", 60),
    ] {
        let server = doubling(which, levels);
        let step = "{ id: a, server: s, tool: work, args: { a: 1 }, expect: { is_error: false } }";
        let run = run(&format!(
            "version: 1\nservers: {{ s: {server} }}\nsteps: [{step}]\n"
        ));
        run.ends(3, "needs_user_help");
        let failure = run.last().failure("a");
        assert_eq!(failure["diagnosis"]["root_cause"], "schema_too_complex");
        let message = failure["message"].as_str().unwrap();
        assert!(message.contains("at `#/$defs/l"), "{message}");
    }
}

#[test]
fn a_schema_of_few_levels_is_judged() {
    let server = doubling("outputSchema", 8);
    let step = "{ id: a, server: s, tool: work, expect: { is_error: false } }";
    let run = run(&format!(
        "version: 1\nservers: {{ s: {server} }}\nsteps: [{step}]\n"
    ));
    run.ends(1, "code_failure");
    assert_eq!(
        run.last().failure("a")["assertion"]["kind"],
        "output_schema"
    );
}

#[test]
fn a_schema_of_the_plan_is_held_to_the_same_budget() {
    let mut definitions = serde_json::Map::new();
    for level in 0..26 {
        let next = serde_json::json!({ "$ref": format!("#/$defs/l{}", level + 1) });
        definitions.insert(
            format!("l{level}"),
            serde_json::json!({ "anyOf": [next, next] }),
        );
    }
    definitions.insert("l26".into(), serde_json::json!({ "type": "string" }));
    let schema = serde_json::json!({ "$ref": "#/$defs/l0", "$defs": definitions });
    let step = format!("{ECHO}, expect: {{ json: [{{ path: $.content, schema: {schema} }}] }}");
    let run = project("", "", &step).run(ONCE);
    run.ends(3, "needs_user_help");
    let failure = run.last().failure("a");
    assert_eq!(failure["diagnosis"]["root_cause"], "schema_too_complex");
    let message = failure["message"].as_str().unwrap();
    assert!(message.contains("of this expectation"), "{message}");
}

#[test]
fn startup_timeout_holds() {
    let run = project(", --fault, mute", "startup_timeout: 1500ms", ECHO).run(ONCE);
    run.ends(3, "needs_user_help");
    took(&run, ms(1500));
    let failure = run.last().failure("s");
    assert_eq!(failure["diagnosis"]["error_category"], "TIMEOUT");
    let message = failure["message"].as_str().unwrap();
    assert!(message.contains("1.5 s"), "{message}");
}

#[test]
fn startup_timeout_holds_for_the_lists_too() {
    let run = project(", --fault, mute@list", "startup_timeout: 1s", ECHO).run(ONCE);
    run.ends(3, "needs_user_help");
    took(&run, ms(1000));
}

#[test]
fn startup_timeout_may_be_longer_than_a_slow_start() {
    let run = project(", --fault, slow@spawn=1500ms", "startup_timeout: 30s", ECHO).run(ONCE);
    run.ends(0, "passed");
    took(&run, ms(1500));
}

#[test]
fn request_timeout_holds() {
    let run = project("", "request_timeout: 800ms", SLEEP).run(ONCE);
    run.ends(3, "needs_user_help");
    took(&run, ms(800));
    step_took(&run, "a", ms(800));
}

#[test]
fn a_steps_timeout_wins_over_the_servers_whether_shorter_or_longer() {
    let short = project(
        "",
        "request_timeout: 30s",
        &format!("{SLEEP}, timeout: 700ms"),
    );
    let run = short.run(ONCE);
    run.ends(3, "needs_user_help");
    step_took(&run, "a", ms(700));

    let long = project(
        "",
        "request_timeout: 100ms",
        "tool: sleep, args: { ms: 900 }, timeout: 30s",
    );
    let run = long.run(ONCE);
    run.ends(0, "passed");
    step_took(&run, "a", ms(900));
}

#[track_caller]
fn step_took(run: &Run, step: &str, at_least: Duration) {
    let ms = run.last().step(step)["duration_ms"].as_f64().unwrap();
    let duration = Duration::from_secs_f64(ms / 1000.0);
    assert!(duration >= at_least && duration < at_least + FAR, "{ms} ms");
}

#[test]
fn shutdown_timeout_holds_before_sigterm_and_again_before_sigkill() {
    let stubborn = ", --fault, ignore_eof, --fault, ignore_sigterm";
    let run = project(stubborn, "shutdown_timeout: 600ms", ECHO).run(ONCE);
    run.ends(0, "passed");
    took(&run, ms(1200));

    let run = project(", --fault, ignore_eof", "shutdown_timeout: 600ms", ECHO).run(ONCE);
    run.ends(0, "passed");
    took(&run, ms(600));
    assert_eq!(run.last().server("s")["exit"]["signal"], "SIGTERM");
}

/// The deadline ended the run, and everything says so.
#[track_caller]
fn deadline_ended(run: &Run, deadline: Duration) {
    run.ends(3, "needs_user_help");
    took(run, deadline);
    assert!(run.stdout.contains("deadline"), "{}", run.stdout);
    assert!(run.markdown.contains("deadline"), "{}", run.markdown);
    assert!(run.help().contains("deadline"), "{}", run.help());
    assert_eq!(run.results["needs_user_help"], true);
}

#[test]
fn the_deadline_holds_in_a_call() {
    let run = project("", "request_timeout: 50s", SLEEP).run(&["--deadline", "1s"]);
    deadline_ended(&run, ms(1000));
    assert_eq!(run.last().step("a")["because"], "deadline");
}

#[test]
fn the_deadline_holds_in_a_start() {
    let run =
        project(", --fault, hang@spawn", "startup_timeout: 50s", ECHO).run(&["--deadline", "1s"]);
    deadline_ended(&run, ms(1000));
}

#[test]
fn the_deadline_of_the_plan_holds() {
    let project = project("", "request_timeout: 50s", SLEEP);
    let plan = project.read("plan.yaml") + "budgets: { deadline: 1200ms }\n";
    project.write("plan.yaml", plan);
    deadline_ended(&project.run(&[]), ms(1200));
}

#[test]
fn the_deadline_holds_in_a_shutdown() {
    let stubborn = ", --fault, ignore_eof, --fault, ignore_sigterm";
    let run = project(stubborn, "shutdown_timeout: 50s", ECHO).run(&["--deadline", "1500ms"]);
    assert!(run.elapsed < FAR, "{:?}", run.elapsed);
    assert!(run.elapsed >= ms(1500), "{:?}", run.elapsed);
    assert_eq!(run.last().state("a"), "passed");
}

#[test]
fn the_deadline_holds_in_back_off() {
    let project = project(
        ", --fault, 'stderr=Error: connect ECONNREFUSED 127.0.0.1:5432', --fault, exit",
        "",
        ECHO,
    );
    let ended = project
        .jelly(&["run", "plan.yaml", "--deadline", "4s"])
        // With this seed the sixth wait alone is 4.99 s.
        .args(&[
            "--seed",
            "42081",
            "--retries",
            "20",
            "--max-iterations",
            "30",
        ])
        .output();
    let run = Run::of(&project, ended);
    run.ends(3, "needs_user_help");
    assert!(run.elapsed < FAR, "{:?}", run.elapsed);
    assert!(run.iterations().len() <= 7, "{}", run.stdout);
    assert!(run.stdout.contains("deadline"), "{}", run.stdout);
}

#[test]
fn the_deadline_holds_in_a_hook() {
    let project = project(", --fault, exit=7", "", ECHO);
    project.script("fix.sh", "#!/bin/sh\nsleep 50\n");
    let run = project.run(&["--fix-tests", "./fix.sh", "--deadline", "1500ms"]);
    deadline_ended(&run, ms(1500));
}

#[test]
fn the_hooks_own_limit_holds() {
    let project = project(", --fault, exit=7", "", ECHO);
    project.script("fix.sh", "#!/bin/sh\nsleep 50\n");
    let run = project.run(&["--fix-tests", "./fix.sh", "--hook-timeout", "900ms"]);
    run.ends(3, "needs_user_help");
    took(&run, ms(900));
    let hook = &run.iteration(1)["action"]["hook"];
    let error = hook["error"].as_str().unwrap();
    assert!(error.contains("900 ms"), "{error}");
    assert_eq!(run.actions(), ["fix_tests"]);

    let ended = project
        .call(&["--fix-tests", "./fix.sh"])
        .env("JELLY_HOOK_TIMEOUT", "800ms")
        .output();
    took(&Run::of(&project, ended), ms(800));
}

/// Generous for a debug build that shares its machine; 200 MB of stderr or a
/// line that is kept several times over would not fit.
const MEMORY: u64 = 300 * 1024;

/// The most memory, in KiB, that any process of the call ever had.
fn peak(project: &Project) -> (Run, u64) {
    let watch = "\
import resource, subprocess, sys
ended = subprocess.run(sys.argv[1:])
peak = resource.getrusage(resource.RUSAGE_CHILDREN).ru_maxrss
open('peak', 'w').write(str(peak))
sys.exit(ended.returncode)
";
    let call = project.wrapped("python3", &["-c", watch]);
    let ended = call.args(&["run", "plan.yaml", "--seed", "1"]).output();
    let peak = project.read("peak").parse().unwrap();
    (Run::of(project, ended), peak)
}

#[test]
fn a_megabyte_of_stderr_before_the_handshake_is_fine() {
    let project = project(", --fault, stderr_flood=1M", "startup_timeout: 50s", ECHO);
    let (run, peak) = peak(&project);
    run.ends(0, "passed");
    assert!(peak < MEMORY, "{peak} KiB");
    let tail = run.last().server("s")["stderr_tail"]
        .as_str()
        .unwrap()
        .len();
    assert!((1..100_000).contains(&tail), "{tail}");
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_flood_on_stderr_is_bounded_in_memory_and_report() {
    let project = project(", --fault, stderr_flood=120M", "startup_timeout: 50s", ECHO);
    let (run, peak) = peak(&project);
    run.ends(0, "passed");
    assert!(peak < 100 * 1024, "{peak} KiB");
    assert!(run.results.to_string().len() < 200_000);
}

#[test]
fn a_result_of_20_mb_is_one_line_like_any_other() {
    let project = project(
        ", --fault, huge@call=20M",
        "request_timeout: 50s",
        &format!("{ECHO}, expect: {{ text: {{ length: {{ ge: 20000000 }} }} }}"),
    );
    let (run, peak) = peak(&project);
    run.ends(0, "passed");
    assert!(peak < MEMORY, "{peak} KiB");
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_result_of_20_mb_that_is_wrong_is_not_repeated_in_the_report() {
    let project = project(
        ", --fault, huge@call=20M",
        "request_timeout: 50s",
        &format!("{ECHO}, expect: {{ text: {{ equals: hi }} }}"),
    );
    let (run, peak) = peak(&project);
    run.ends(1, "code_failure");
    assert!(peak < MEMORY, "{peak} KiB");
    assert!(run.results.to_string().len() < 200_000);
    assert!(run.stdout.len() < 100_000, "{}", run.stdout.len());
    assert!(run.junit.len() < 200_000, "{}", run.junit.len());
}

#[test]
fn ten_thousand_messages_in_one_chunk_are_read() {
    let project = project(", --fault, burst@call=10000", "request_timeout: 50s", ECHO);
    let (run, peak) = peak(&project);
    run.ends(0, "passed");
    assert!(peak < MEMORY, "{peak} KiB");
}

#[test]
fn a_limit_without_a_unit_is_refused_and_not_guessed() {
    let project = project("", "request_timeout: 30", ECHO);
    let ended = project.call(&[]).output();
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    assert!(ended.stderr.contains("request_timeout"), "{}", ended.stderr);
}

#[test]
fn retries_are_as_many_as_the_budget_says() {
    for retries in 0..3 {
        let project = project(
            ", --fault, 'stderr=Error: connect ECONNREFUSED 127.0.0.1:5432', --fault, exit",
            "",
            ECHO,
        );
        let run = project.run(&["--retries", &retries.to_string()]);
        run.ends(3, "needs_user_help");
        assert_eq!(run.iterations().len(), retries + 1);
        let left: Vec<&Value> = run
            .iterations()
            .iter()
            .map(|iteration| &iteration.0["budgets"]["after"]["retries"])
            .collect();
        assert_eq!(left.last().unwrap().as_u64(), Some(0));
    }
}

/// Answers `logging/setLevel` and each call after a second.
const SLOW: &str = r#"
while (message := read()) is not None:
    method = message.get("method")
    if "id" not in message:
        continue
    if method == "initialize":
        answer(message, dict(hello(message), capabilities={"tools": {}, "logging": {}}))
    elif method == "tools/list":
        answer(message, {"tools": [{"name": "work", "inputSchema": {"type": "object"}}]})
    elif method == "logging/setLevel":
        time.sleep(1)
        answer(message, {})
    elif method == "tools/call":
        time.sleep(1)
        answer(message, text("done"))
    else:
        refuse(message)
"#;

fn with_a_level(timeout: &str, expect: &str) -> Run {
    let step = format!("tool: work, log_level: debug, timeout: {timeout}, expect: {expect}");
    let plan = format!(
        "version: 1\nservers:\n  s: {}\nsteps:\n  - {{ id: a, {step} }}\n",
        python(SLOW)
    );
    Project::with(&plan).run(ONCE)
}

#[test]
fn a_steps_timeout_holds_for_the_level_and_the_call_together() {
    let run = with_a_level("1700ms", "{ text: { equals: done } }");
    run.ends(3, "needs_user_help");
    let failure = run.last().failure("a");
    assert_eq!(failure["diagnosis"]["error_category"], "TIMEOUT");
    assert_eq!(failure["request"]["method"], "tools/call");

    // And both count where a step says how long it may take.
    let run = with_a_level("30s", "{ duration: { ge: 2s } }");
    run.ends(0, "passed");
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_list_of_endless_pages_is_broken_off_before_it_fills_the_memory() {
    let plan = format!(
        "version: 1\nservers:\n  s: {}\nsteps:\n  - {{ id: a, tool: work }}\n",
        python(
            r#"
def listed(message):
    page = int(message.get("params", {}).get("cursor", 0))
    tool = {"name": f"t{page}", "description": "x" * (9 << 20), "inputSchema": {"type": "object"}}
    return {"tools": [tool], "nextCursor": str(page + 1)}

serve(refuse, listed=listed)
"#
        )
    );
    let run = Project::with(&plan).run(ONCE);
    let failure = run.last().failure("s");
    let message = failure["message"].as_str().unwrap();
    assert!(
        message.contains("sends more than 64 MiB in the pages of `tools/list`"),
        "{message}"
    );
}

// ── jelly's own limits prove nothing ─────────────────────────────────────

/// A Python server whose tool does this, and a step's expectations.
fn calling(call: &str, step: &str) -> Run {
    let call = call.replace('\n', "\n    ");
    let server = python(&format!("def call(message):\n    {call}\nserve(call)"));
    Project::with(&format!(
        "version: 1\nservers:\n  s: {server}\nsteps:\n  - {{ id: a, {step} }}\n"
    ))
    .run(&["--max-iterations", "2"])
}

/// What jelly left out is held against nobody, in so many words.
#[track_caller]
fn beyond<'r>(run: &'r Run, step: &str, limit: &str) -> &'r Value {
    run.ends(3, "needs_user_help");
    let failure = run.last().failure(step);
    let said = [&failure["own_limit"], &failure["assertion"]["own_limit"]];
    assert!(said.contains(&&Value::from(limit)), "{failure:#}");
    let diagnosis = &failure["diagnosis"];
    assert_eq!(diagnosis["side"], "test", "{failure:#}");
    assert_eq!(diagnosis["ambiguous"], true, "{failure:#}");
    assert_eq!(diagnosis["excused"], "own_limit", "{failure:#}");
    assert_eq!(diagnosis["root_cause"], "own_limit", "{failure:#}");
    failure
}

const LOUD: &str = "sys.stderr.write('begin\\n' + ('x' * 99 + '\\n') * 20000 + 'end\\n')
sys.stderr.flush()
answer(message, text('done'))";

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn of_stderr_only_what_was_kept_is_told() {
    for holds in slice(
        2,
        [
            "{ contains: begin }",
            "{ contains: end }",
            "{ matches: 'x{50}' }",
            "{ starts_with: begin }",
            "[{ not_equals: begin }, { length: { ge: 1000 } }]",
        ],
    ) {
        let run = calling(LOUD, &format!("tool: work, expect: {{ stderr: {holds} }}"));
        assert_eq!(run.last().state("a"), "passed", "{holds}: {}", run.stdout);
    }
    for untold in [
        "{ not_contains: panic }",
        "{ contains: panic }",
        "{ matches: panic }",
        "{ length: { le: 10000000 } }",
    ] {
        let run = calling(LOUD, &format!("tool: work, expect: {{ stderr: {untold} }}"));
        beyond(&run, "a", "stderr");
    }
    for wrong in slice(2, ["{ not_contains: begin }", "{ length: { le: 1000 } }"]) {
        let run = calling(LOUD, &format!("tool: work, expect: {{ stderr: {wrong} }}"));
        run.ends(1, "code_failure");
    }
}

#[test]
fn what_could_not_be_told_hides_nothing_that_could() {
    let run = calling(
        LOUD,
        "tool: work, expect: { stderr: { not_contains: panic }, text: { equals: other } }",
    );
    run.ends(1, "code_failure");
    let side_of = |target: &str| {
        let failures = run.last().failures();
        let of = failures.iter().find(|f| f["assertion"]["target"] == target);
        of.unwrap()["diagnosis"]["side"].clone()
    };
    assert_eq!(side_of("text"), "code");
    assert_eq!(side_of("stderr"), "test");
}

#[test]
fn more_questions_than_are_kept_prove_nothing() {
    let call = "for n in range(150):
    send({'jsonrpc': '2.0', 'id': 'q%d' % n, 'method': 'roots/list', 'params': {'n': n}})
    read()
answer(message, text('done'))";
    let call = call.replace('\n', "\n    ");
    let server = python(&format!("def call(message):\n    {call}\nserve(call)"));
    let plan = |path: &str| {
        format!(
            "version: 1\nservers:\n  s: {server}\nsteps:\n  - id: a\n    tool: work\n"
        )
        .replacen(
            "command:",
            &format!(
                "answers: [{{ method: roots/list, result: {{ roots: [] }}, expect: [{{ path: {path} }}] }}], command:"
            ),
            1,
        )
    };
    let run = Project::with(&plan("$.n, ge: 0")).run(&["--max-iterations", "2"]);
    beyond(&run, "a", "questions");
    // Among those that were kept, one is wrong all the same.
    let run = Project::with(&plan("$.n, lt: 50")).run(&["--max-iterations", "2"]);
    run.ends(1, "code_failure");
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_line_that_is_too_long_or_too_deep_proves_nothing() {
    let long = "sys.stdout.write('{\"jsonrpc\": \"2.0\", \"id\": %d, \"result\": {\"a\": \"' % message['id'])
for n in range(70): sys.stdout.write('x' * (1 << 20))
sys.stdout.write('\"}}\\n')
sys.stdout.flush()";
    let run = calling(long, "tool: work, timeout: 60s");
    beyond(&run, "a", "message_size");
    let deep = "sys.stdout.write('{\"jsonrpc\": \"2.0\", \"id\": %d, \"result\": {\"a\": %s}}\\n' % (message['id'], '[' * 500 + ']' * 500))
sys.stdout.flush()";
    let run = calling(deep, "tool: work");
    beyond(&run, "a", "message_depth");
    // Each is two bytes on the wire, and seventy once it is read.
    let values = "sys.stdout.write('{\"jsonrpc\": \"2.0\", \"id\": %d, \"result\": {\"a\": [%s0]}}\\n' % (message['id'], '{},' * 5000000))
sys.stdout.flush()";
    let run = calling(values, "tool: work, timeout: 60s");
    beyond(&run, "a", "message_values");
    let in_text = "answer(message, text('[' + '0,' * 5000000 + '0]'))";
    let run = calling(
        in_text,
        "tool: work, timeout: 60s, expect: { structured: { contains: 1 } }",
    );
    beyond(&run, "a", "message_values");
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_large_answer_of_usual_words_is_read() {
    let row =
        "{'id': 4711, 'name': 'Erika Mustermann', 'mail': 'erika@example.com', 'tags': ['a', 'b']}";
    for answer in slice(
        2,
        [
            format!("{{'content': [], 'structuredContent': {{'rows': [{row}] * 180000}}}}"),
            format!("text(json.dumps({{'rows': [{row}] * 180000}}))"),
        ],
    ) {
        let call = format!("answer(message, {answer})");
        let run = calling(
            &call,
            "tool: work, timeout: 60s, expect: { structured: { schema: { required: [rows] } } }",
        );
        run.ends(0, "passed");
    }
    let call = "answer(message, text('[{,:' * 5000000))";
    let run = calling(
        call,
        "tool: work, timeout: 60s, expect: { text: { starts_with: '[{,' } }",
    );
    run.ends(0, "passed");
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_list_without_end_proves_nothing() {
    let server = |page: &str| {
        python(&format!(
            "
def listed(message):
    if calls[0] == 0:
        calls[0] = 1
        return named(['work'])
    calls[0] += 1
    return {page}
calls = [0]
serve(lambda message: answer(message, text('done')), listed=listed)"
        ))
    };
    for (page, limit) in [
        (
            "{'tools': [], 'nextCursor': 'c%d' % calls[0]}",
            "list_pages",
        ),
        (
            "{'tools': [{'name': 't%d' % calls[0], 'description': 'x' * (10 << 20), 'inputSchema': {'type': 'object'}}], 'nextCursor': 'c%d' % calls[0]}",
            "list_size",
        ),
    ] {
        let run = Project::with(&format!(
            "version: 1\nservers:\n  s: {}\nsteps:\n  - {{ id: a, list: tools, timeout: 50s }}\n",
            server(page)
        ))
        .run(&["--max-iterations", "2"]);
        beyond(&run, "a", limit);
    }
}

#[test]
fn half_of_a_surrogate_pair_is_read_like_any_text() {
    let call = "sys.stdout.write('{\"jsonrpc\": \"2.0\", \"id\": %d, \"result\": {\"content\": [{\"type\": \"text\", \"text\": \"cut \\\\ud83d\"}]}}\\n' % message['id'])
sys.stdout.flush()";
    let run = calling(call, "tool: work, expect: { text: { starts_with: cut } }");
    run.ends(0, "passed");
}

#[test]
fn what_a_plan_spells_out_at_any_length_is_refused_in_few_words() {
    let long = "k".repeat(1_000_000);
    let deep = format!("$[?{}@.a{}]", "(".repeat(50_000), ")".repeat(50_000));
    let server = format!(
        r#"{{"version":1,"servers":{{"s":{{"command":"a","{long}":1}}}},"steps":[{{"list":"tools"}}]}}"#
    );
    let named = format!(
        r#"{{"version":1,"servers":{{"{long}":{{"command":1}}}},"steps":[{{"list":"tools"}}]}}"#
    );
    let path = format!(
        r#"{{"version":1,"servers":{{"s":{{"command":"a"}}}},"steps":[{{"list":"tools","expect":{{"json":[{{"path":"{deep}","exists":true}}]}}}}]}}"#
    );
    for (plan, told) in [
        (server, "unknown key"),
        (named, "command"),
        (path, "64 brackets"),
    ] {
        let project = Project::empty();
        project.write("plan.json", plan);
        let ended = project.jelly(&["check", "plan.json"]).output();
        assert_eq!(ended.code, Some(2), "{}", ended.stderr);
        let said = ended.stdout + &ended.stderr;
        assert!(said.len() < 8_000, "{} bytes are printed", said.len());
        assert!(said.contains(told), "{said}");
    }
}

#[test]
fn variables_that_grow_with_each_step_end_before_the_memory_does() {
    let mut plan = String::from("version: 1\nvars:\n  v0: aaaaaaaaaaaaaaaa\n");
    for n in 1..20 {
        let before = format!("${{v{}}}", n - 1).repeat(4);
        plan.push_str(&format!("  v{n}: \"{before}\"\n"));
    }
    plan.push_str("  l0: [x]\n");
    for n in 1..20 {
        let before = format!("\"${{l{}}}\"", n - 1);
        plan.push_str(&format!(
            "  l{n}: [{before}, {before}, {before}, {before}]\n"
        ));
    }
    plan.push_str(
        "servers: { s: { command: jelly, args: [mock] } }
steps:
  - { id: text, tool: echo, args: { message: \"${v19}\" } }
  - { id: list, tool: echo, args: { message: \"${l19}\" } }
",
    );
    let project = Project::with(&plan);
    let (run, peak) = peak(&project);
    run.ends(3, "needs_user_help");
    assert!(run.stdout.contains("longer than 16 MiB"), "{}", run.stdout);
    assert!(peak < 512 * 1024, "{peak} KiB");
}

/// The limit holds for the main thread alone, and for what the server inherits.
#[test]
fn a_small_stack_is_enough() {
    let project = project("", "", ECHO);
    let small = "ulimit -s 100 && exec \"$0\" \"$@\"";
    for args in [
        &["--version"][..],
        &["check", "plan.yaml"],
        &["run", "plan.yaml"],
        &["list", "--plan", "plan.yaml"],
    ] {
        let ended = project.wrapped("bash", &["-c", small]).args(args).output();
        assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
    }
    let call = project.wrapped("bash", &["-c", small]);
    let ended = call.args(&["run", "missing.yaml"]).output();
    assert_eq!(ended.code, Some(2), "{}", ended.stderr);
}
