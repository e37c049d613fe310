//! The schema ladder and its store, through the binary. The first nine tests
//! are the ways in which earlier adapters of this kind are known to fail.

use crate::support::schemas::{breaches, fits};
use crate::support::{Project, Run};
use serde_json::{Value, json};

const STORE: &str = ".jelly/schemas.json";

/// A plan with these steps on a mock with these tools; both as YAML.
fn project(steps: &str, tools: &str) -> Project {
    let project = Project::with(&format!(
        "
version: 1
servers: {{ s: {{ command: jelly, args: [mock, --script, mock.yaml] }} }}
steps: {steps}
"
    ));
    project.write("mock.yaml", format!("name: ladder\ntools: {tools}\n"));
    project
}

/// The store, which fits its published schema whatever it holds.
fn store(project: &Project) -> Value {
    let store = serde_json::from_str(&project.read(STORE)).unwrap();
    fits("schema-store", &store);
    store
}

/// What the store says of a tool of the server `s`.
fn kept(project: &Project, tool: &str) -> Value {
    store(project)["servers"]["s"]["tools"][tool].clone()
}

fn learn(project: &Project) -> Run {
    project.run(&["--schema-store", STORE])
}

fn generic() -> Value {
    json!({
        "type": "object",
        "properties": { "result": { "type": "string" } },
        "required": ["result"],
    })
}

fn temperature() -> Value {
    json!({
        "type": "object",
        "properties": { "celsius": { "type": "number" } },
        "required": ["celsius"],
    })
}

/// A tool that declares [`temperature`] and answers so.
fn thermometer(responses: &str) -> String {
    format!(
        "[{{ name: read, outputSchema: {}, responses: {responses} }}]",
        temperature()
    )
}

#[test]
fn the_first_generic_result_does_not_take_the_place_of_a_declared_schema() {
    let project = project("[{ tool: read }]", &thermometer("[{ text: warm }]"));
    learn(&project).ends(1, "code_failure");
    let tool = kept(&project, "read");
    assert_eq!(tool["outputSchema"], temperature());
    assert_eq!(tool["last_adapter"], "generic");
    assert_eq!(tool["consecutive_generic_count"], 1);

    learn(&project).ends(1, "code_failure");
    let tool = kept(&project, "read");
    assert_eq!(tool["outputSchema"], generic());
    assert_eq!(tool["declaredOutputSchema"], temperature());
    assert_eq!(tool["consecutive_generic_count"], 2);

    let good = thermometer("[{ text: \"21\", structured: { celsius: 21 } }]");
    project.write("mock.yaml", format!("tools: {good}"));
    learn(&project).ends(0, "passed");
    let tool = kept(&project, "read");
    assert_eq!(tool["outputSchema"], temperature(), "there is a way back");
    assert_eq!(tool["last_adapter"], "pass_through");
    assert_eq!(tool["consecutive_generic_count"], 0);
}

#[test]
fn an_error_is_not_wrapped_into_a_success() {
    let tools = "[
      { name: plain, response: { text: 'disk full', isError: true } },
      { name: json, response: { text: '{\"n\": 1}', isError: true } },
    ]";
    let steps = "[
      { id: plain, tool: plain },
      { id: wanted, tool: json, expect: { is_error: true, structured: { exists: false } } },
    ]";
    let project = project(steps, tools);
    let run = learn(&project);
    assert_ne!(run.code, Some(0));
    let failure = run.last().failure("plain");
    assert!(
        failure["message"].as_str().unwrap().contains("disk full"),
        "{failure:#}"
    );
    for step in ["plain", "wanted"] {
        assert_eq!(run.last().step(step)["adapter"], Value::Null);
    }
    assert_eq!(run.last().step("wanted")["state"], "passed");
    assert!(!project.exists(STORE), "an error teaches nothing");
}

#[test]
fn a_corrupt_store_is_told_and_left_as_it_is_and_the_run_goes_on() {
    let steps = "[{ id: tools, list: tools, expect: { json: [{ path: $.tools, length: { ge: 1 } }] } }, { tool: say }]";
    let project = project(steps, "[{ name: say, response: { text: hi } }]");
    let halves = [
        "{\"servers\": {\"s\": {\"tools\"",
        "\u{feff}{}",
        "[1, 2]",
        "nothing",
        "",
    ];
    for bad in halves {
        project.write(STORE, bad);
        let run = learn(&project);
        run.ends(0, "passed");
        let told = format!("{}{}", run.stdout, run.stderr);
        let said = "the schema store is not used and left as it is: failed to read the schema \
                    store .jelly/schemas.json: ";
        assert_eq!(told.matches(said).count(), 1, "{told}");
        assert_eq!(project.read(STORE), bad);
    }
}

#[test]
fn no_key_that_is_not_jellys_is_dropped_or_moved() {
    let project = project(
        "[{ tool: a.b/c }]",
        "[{ name: a.b/c, response: { text: hi } }]",
    );
    let before = json!({
        "$schema": "mine", "zeta": 1.5,
        "servers": {
            "t": { "tools": { "x": { "outputSchema": { "type": "array" }, "owner": "me" } } },
            "s": {
                "about": { "b": 1, "a": 2 },
                "tools": {
                    "a": { "b/c": "no path" },
                    "a.b/c": { "why": "by hand", "last_adapter": "declared", "x-tag": null },
                },
                "notes": ["n"],
            },
        },
        "alpha": true,
    });
    project.write(STORE, serde_json::to_string_pretty(&before).unwrap());
    learn(&project).ends(0, "passed");
    let mut after = store(&project);
    let tool = &mut after["servers"]["s"]["tools"]["a.b/c"];
    assert_eq!(tool["outputSchema"], generic());
    assert_eq!(tool["consecutive_generic_count"], 1);
    let tool = tool.as_object_mut().unwrap();
    assert_eq!(
        tool.keys().take(3).collect::<Vec<_>>(),
        ["why", "last_adapter", "x-tag"]
    );
    tool.insert("last_adapter".to_owned(), json!("declared"));
    for new in ["outputSchema", "consecutive_generic_count", "updated_at"] {
        assert!(tool.shift_remove(new).is_some(), "{new}");
    }
    assert_eq!(after.to_string(), before.to_string(), "order counts");
}

#[test]
fn json_in_a_text_is_parsed_and_held_against_the_schema_first() {
    let one_text = r#"{ type: object, properties: { body: { type: string } }, required: [body] }"#;
    let tools = format!(
        r#"[
      {{ name: free, response: {{ text: '{{"n": [1, {{"m": 2}}]}}' }} }},
      {{ name: fits, outputSchema: {one_text}, response: {{ text: '{{"body": "b"}}' }} }},
      {{ name: other, outputSchema: {one_text}, response: {{ text: '{{"n": 1}}' }} }},
    ]"#
    );
    let steps = r#"[
      { id: free, tool: free, expect: { structured: { equals: { n: [1, { m: 2 }] } } } },
      { id: fits, tool: fits, expect: { structured: { equals: { body: b } } } },
      { id: other, tool: other, expect: { structured: { equals: { body: '{"n": 1}' } } } },
    ]"#;
    let run = project(steps, &tools).run(&[]);
    run.ends(1, "code_failure");
    for (step, state, adapter) in [
        ("free", "passed", "json_text"),
        ("fits", "passed", "json_text"),
        // Read all the same; but the server owes what it declares.
        ("other", "failed", "declared"),
    ] {
        let report = run.last().step(step);
        assert_eq!(
            (&report["state"], &report["adapter"]),
            (&json!(state), &json!(adapter))
        );
    }
    let failure = run.last().failure("other");
    let message = failure["message"].as_str().unwrap();
    assert!(
        message.starts_with("the result breaks the tool's own output schema")
            && !message.contains("more mismatch"),
        "{message}"
    );
    assert_eq!(failure["diagnosis"]["side"], "code");
}

#[test]
fn an_empty_answer_leaves_no_schema_behind() {
    let tools = "[
      { name: none, response: { content: [] } },
      { name: blank, response: { text: \" \\n\" } },
      { name: picture, response: { content: [{ type: image, data: aGk=, mimeType: image/png }] } },
    ]";
    let steps = "[
      { tool: none, expect: { structured: { exists: false } } },
      { tool: blank, expect: { structured: { exists: false } } },
      { tool: picture },
    ]";
    let project = project(steps, tools);
    learn(&project).ends(0, "passed");
    assert!(!project.exists(STORE));
}

#[test]
fn no_block_but_the_first_is_lost() {
    let block = |text: &str| json!({"type": "text", "text": text});
    let tools = json!([
        {"name": "pieces", "response": {"content": [block("{\"a\": 1,"), block("\"b\": 2}")]}},
        {"name": "prose", "response": {"content": [block("first"), block("second")]}},
        {"name": "two", "response": {"content": [block("{\"n\": 1}"), block("{\"n\": 2}")]}},
    ]);
    let steps = r#"[
      { tool: pieces, expect: { structured: { equals: { a: 1, b: 2 } } } },
      { tool: prose, expect: { structured: { equals: { result: "first\nsecond" } } } },
      { tool: two, expect: { structured: { equals: { result: "{\"n\": 1}\n{\"n\": 2}" } } } },
    ]"#;
    let run = project(steps, &tools.to_string()).run(&[]);
    run.ends(0, "passed");
    assert!(
        run.stdout.contains("output read as json_text"),
        "{}",
        run.stdout
    );
    assert!(
        run.markdown.contains("output read as generic"),
        "{}",
        run.markdown
    );
}

#[test]
fn no_array_is_replaced_by_what_is_learnt() {
    let project = project("[{ tool: say }]", "[{ name: say, response: { text: hi } }]");
    let own = json!({
        "type": "object",
        "properties": { "result": { "type": "string", "enum": ["hi", "ho"] } },
        "required": ["result", "when"],
    });
    let before = json!({"servers": {"s": {"tools": {
        "say": { "outputSchema": own, "tags": ["a", "b"] },
    }}}});
    project.write(STORE, before.to_string());
    for count in 1..=3 {
        learn(&project).ends(0, "passed");
        let tool = kept(&project, "say");
        assert_eq!(tool["consecutive_generic_count"], count);
        assert_eq!(tool["outputSchema"], own);
        assert_eq!(tool["tags"], json!(["a", "b"]));
    }
}

#[test]
fn of_writers_that_race_none_loses_what_another_wrote() {
    const WRITERS: usize = 8;
    let project = Project::empty();
    for n in 0..WRITERS {
        let plan = format!(
            "
version: 1
servers: {{ s: {{ command: jelly, args: [mock, --tool, shared=hi, --tool, own{n}=hi] }} }}
steps: [{{ tool: shared }}, {{ tool: own{n} }}]
"
        );
        project.write(&format!("p{n}.yaml"), plan);
    }
    let calls: Vec<_> = (0..WRITERS)
        .map(|n| {
            let plan = format!("p{n}.yaml");
            let reports = format!("reports/{n}");
            let args = [
                "run",
                &plan,
                "--reports-dir",
                &reports,
                "--schema-store",
                STORE,
            ];
            project.jelly(&args).start()
        })
        .collect();
    for call in calls {
        let ended = call.wait();
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        let told = format!("{}{}", ended.stdout, ended.stderr);
        assert!(!told.contains("not kept"), "{told}");
    }
    assert_eq!(
        kept(&project, "shared")["consecutive_generic_count"],
        WRITERS
    );
    for n in 0..WRITERS {
        assert_eq!(
            kept(&project, &format!("own{n}"))["last_adapter"],
            "generic"
        );
    }
    let mut left: Vec<_> = std::fs::read_dir(project.path(".jelly"))
        .unwrap()
        .map(|entry| entry.unwrap().file_name().into_string().unwrap())
        .filter(|name| name.contains("schemas"))
        .collect();
    left.sort();
    assert_eq!(left, ["schemas.json", "schemas.json.lock"]);
}

#[test]
fn each_rung_is_told_wherever_a_step_is_told() {
    let note = "{ type: object, properties: { metadata: { type: object }, body: { type: string } }, required: [metadata, body] }";
    let tools = format!(
        "[
      {{ name: own, outputSchema: {{ type: object }}, response: {{ structured: {{ n: 1 }} }} }},
      {{ name: json, response: {{ text: '[1]' }} }},
      {{ name: note, outputSchema: {note}, response: {{ text: \"METADATA: {{\\\"id\\\": 7}}\\n\\nhello\" }} }},
      {{ name: text, response: {{ text: hi }} }},
    ]"
    );
    let steps = "[
      { id: own, tool: own, expect: { structured: { equals: { n: 1 } } } },
      { id: json, tool: json, expect: { structured: { length: 1 } } },
      { id: note, tool: note, expect: { structured: { equals: { metadata: { id: 7 }, body: hello } } } },
      { id: text, tool: text, expect: { structured: { equals: { result: hi } }, text: { equals: hi } } },
      { id: unasked, tool: text },
    ]";
    let run = project(steps, &tools).run(&[]);
    run.ends(1, "code_failure");
    for (step, adapter) in [
        ("own", json!("structured")),
        ("json", json!("json_text")),
        ("note", json!("declared")),
        ("text", json!("generic")),
        ("unasked", Value::Null),
    ] {
        assert_eq!(run.last().step(step)["adapter"], adapter, "{step}");
        let line = run
            .stdout
            .lines()
            .find(|line| line.contains(&format!("s/{step} (")))
            .unwrap();
        let said = adapter.as_str().filter(|name| *name != "structured");
        let said = said.map(|name| format!("output read as {name}"));
        assert_eq!(
            line.contains("output read as"),
            said.is_some(),
            "{step}: {line}"
        );
        if let Some(said) = said {
            assert!(
                line.contains(&said) && run.markdown.contains(&said),
                "{line}"
            );
        }
    }
    // That its output could be read is no excuse.
    let failures = run.last().failures();
    assert_eq!(failures.len(), 1, "{failures:#?}");
    assert_eq!(failures[0]["step"], "note");
}

#[test]
fn json_in_text_keeps_the_schema_with_a_word_unless_every_word_counts() {
    let tools = format!(
        "[{{ name: read, outputSchema: {}, response: {{ text: '{{\"celsius\": 21}}' }} }}]",
        temperature()
    );
    let steps = "[{ id: read, tool: read, expect: { structured: { equals: { celsius: 21 } } } }]";
    let project = project(steps, &tools);
    let plan = project.read("plan.yaml");
    for (revision, strict) in [("2025-03-26", 0), ("2025-06-18", 1), ("2026-07-28", 1)] {
        let pinned = format!("protocol: {revision}, command");
        project.write("plan.yaml", plan.replace("command", &pinned));
        let run = project.run(&[]);
        run.ends(0, "passed");
        assert_eq!(run.last().step("read")["adapter"], "json_text");
        let notes = run.last().server("s")["notes"].to_string();
        assert_eq!(notes.contains("as text alone"), strict == 1, "{notes}");
        let run = project.run(&["--wire-check"]);
        assert_eq!(run.code, Some(strict), "{revision}: {}", run.stdout);
    }
}

#[test]
fn without_adapting_only_the_servers_own_structure_counts() {
    let tools = "[
      { name: own, response: { structured: { n: 1 } } },
      { name: json, response: { text: '{\"n\": 1}' } },
    ]";
    let steps = "[
      { id: own, tool: own, expect: { structured: { equals: { n: 1 } } } },
      { id: json, tool: json, expect: { structured: { exists: false } } },
    ]";
    let project = project(steps, tools);
    let run = project.run(&["--no-adapt", "--schema-store", STORE]);
    run.ends(0, "passed");
    assert_eq!(run.last().step("own")["adapter"], "structured");
    assert_eq!(run.last().step("json")["adapter"], Value::Null);
    assert!(!project.exists(STORE), "what is off learns nothing");
    assert_ne!(
        project.run(&[]).code,
        Some(0),
        "the ladder is on by default"
    );

    let plan = project.read("plan.yaml");
    project.write(
        "plan.yaml",
        plan.replace("command", "adapt: false, command"),
    );
    project.run(&[]).ends(0, "passed");
}

#[test]
fn nothing_is_kept_unasked_and_nothing_is_written_where_nothing_changes() {
    let project = project(
        "[{ tool: read }]",
        &thermometer("[{ structured: { celsius: 21 } }]"),
    );
    project.run(&[]).ends(0, "passed");
    assert!(!project.exists(".jelly"));
    learn(&project).ends(0, "passed");
    let first = project.read(STORE);
    let written = || {
        let metadata = std::fs::metadata(project.path(STORE)).unwrap();
        std::os::unix::fs::MetadataExt::ino(&metadata)
    };
    let inode = written();
    learn(&project).ends(0, "passed");
    assert_eq!((project.read(STORE), written()), (first, inode));
}

#[test]
fn a_threshold_that_is_set_is_the_one_that_holds() {
    let project = project("[{ tool: read }]", &thermometer("[{ text: warm }]"));
    let run = |threshold: &str| {
        let args = ["--schema-store", STORE, "--generic-threshold", threshold];
        assert_eq!(project.run(&args).code, Some(1));
        kept(&project, "read")["outputSchema"].clone()
    };
    assert_eq!(run("3"), temperature());
    assert_eq!(run("3"), temperature());
    assert_eq!(run("3"), generic());
    assert_eq!(run("5"), temperature());
    assert_eq!(run("1"), generic());
    let refused = project.run(&["--schema-store", STORE, "--generic-threshold", "0"]);
    assert_eq!(refused.code, Some(2));
}

#[test]
fn a_schema_that_the_user_sets_reads_the_output_and_excuses_nobody() {
    let lax = json!({
        "type": "object", "properties": { "said": { "type": "string" } }, "required": ["said"],
    });
    let set = json!({"servers": {"s": {"tools": {
        "read": { "outputSchema": lax }, "say": { "outputSchema": lax },
        "off": { "outputSchema": { "type": 5 } },
    }}}});
    let tools = format!(
        "[
      {{ name: read, outputSchema: {}, response: {{ text: warm }} }},
      {{ name: say, response: {{ text: hi }} }},
      {{ name: off, response: {{ text: hi }} }},
    ]",
        temperature()
    );
    let steps = "[
      { id: read, tool: read, expect: { structured: { equals: { said: warm } } } },
      { id: say, tool: say, expect: { structured: { equals: { said: hi } } } },
      { id: off, tool: off, expect: { structured: { equals: { result: hi } } } },
    ]";
    let project = project(steps, &tools);
    project.write(STORE, set.to_string());
    let run = learn(&project);
    run.ends(1, "code_failure");
    let failures = run.last().failures();
    assert_eq!(failures.len(), 1, "{failures:#?}");
    let message = failures[0]["message"].as_str().unwrap();
    assert!(
        message.starts_with("the result breaks the tool's own output schema"),
        "{message}"
    );
    for step in ["read", "say"] {
        assert_eq!(run.last().step(step)["adapter"], "declared", "{step}");
    }
    let notes = run.last().server("s")["notes"].to_string();
    for said in [
        "`read` is read by the output schema that the schema store sets for it; its server answers",
        "`say` is read by the output schema that the schema store sets for it; its server declares",
        "sets for `off` can't be used",
    ] {
        assert!(notes.contains(said), "{notes}");
    }
    assert_eq!(kept(&project, "read")["outputSchema"], lax);
    assert_eq!(
        kept(&project, "read")["declaredOutputSchema"],
        temperature()
    );
}

#[test]
fn a_store_that_cannot_be_written_costs_a_warning_and_no_result() {
    let project = project("[{ tool: say }]", "[{ name: say, response: { text: hi } }]");
    project.write("file", "x");
    let run = project.run(&["--schema-store", "file/schemas.json"]);
    run.ends(0, "passed");
    let told = format!("{}{}", run.stdout, run.stderr);
    assert_eq!(
        told.matches("the schema store is not used").count(),
        1,
        "{told}"
    );
    assert_eq!(project.read("file"), "x");
}

#[test]
fn a_pipe_where_a_file_belongs_is_told_and_not_waited_for() {
    let project = project("[{ tool: say }]", "[{ name: say, response: { text: hi } }]");
    let pipes = ["store.json", "kept.json.lock", "history.jsonl"].map(|name| project.at(name));
    let made = std::process::Command::new("mkfifo").args(&pipes).status();
    assert!(made.unwrap().success());
    for args in [
        ["--schema-store", "store.json"],
        ["--schema-store", "kept.json"],
        ["--history", "history.jsonl"],
    ] {
        let ended = project.call(&args).output();
        let told = format!("{}{}", ended.stdout, ended.stderr);
        assert!(told.contains("is not a file"), "{args:?}: {told}");
    }
}

#[test]
fn the_published_schema_refuses_what_is_no_store() {
    for bad in [
        json!({"schema_version": 2}),
        json!({"servers": []}),
        json!({"servers": {"s": {"tools": {"t": {"override": 1}}}}}),
        json!({"servers": {"s": {"tools": {"t": {"outputSchema": 5}}}}}),
        json!({"servers": {"s": {"tools": {"t": {"consecutive_generic_count": -1}}}}}),
    ] {
        assert!(!breaches("schema-store", &bad).is_empty(), "{bad}");
    }
    fits(
        "schema-store",
        &json!({"mine": 1, "servers": {"s": {"mine": 2}}}),
    );
}

/// What a step keeps of the structured output is there too where a server puts it into
/// its text.
#[test]
fn what_stands_as_json_in_a_text_can_be_captured() {
    let project = Project::with(
        "version: 1
servers: { m: { command: jelly, args: [mock, --script, tasks.yaml] } }
steps:
  - { id: make, tool: make, capture: { id: $.structuredContent.data.task.id } }
  - { id: use, tool: show, args: { id: \"${id}\" }, expect: { text: { equals: \"It is t-7\" } } }
",
    );
    project.write(
        "tasks.yaml",
        r#"
name: tasks
tools:
  - name: make
    inputSchema: { type: object }
    response: { text: '{"data": {"task": {"id": "t-7"}}}' }
  - name: show
    inputSchema: { type: object, properties: { id: { type: string } } }
    response: { text: "It is ${args.id}" }
"#,
    );
    project.run(&[]).ends(0, "passed");
    let run = project.run(&["--no-adapt", "--no-confirm", "--no-repair"]);
    assert_eq!(run.last().state("make"), "failed");
    let told = &run.stdout;
    assert!(
        told.contains(
            "expected something at $.structuredContent.data.task.id to capture, got nothing"
        ),
        "{told}"
    );
}
