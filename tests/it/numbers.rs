//! Numbers are compared, and sent on, with every digit.

use crate::support::{Project, python};

/// What the server sends as `n`, how the plan compares it, and whether that
/// holds.
const ROWS: &str = r#"
9007199254740993.5  | "equals": 9007199254740993.5                | yes
9007199254740993.5  | "equals": 9007199254740993.25               | no
9007199254740993.5  | "not_equals": 9007199254740993.25           | yes
9007199254740993.5  | "one_of": [9007199254740993.25, 1]          | no
9007199254740993.5  | "one_of": [9007199254740993.50, 1]          | yes
9007199254740993.5  | "gt": 9007199254740993.25                   | yes
9007199254740993.5  | "le": 9007199254740993.25                   | no
9007199254740993.25 | "lt": 9007199254740993.5                    | yes
9007199254740993.25 | "ge": 9007199254740993.5                    | no
1e-400              | "equals": 0                                 | no
1e-400              | "gt": 0                                     | yes
0                   | "ge": 1e-400                                | no
1.0                 | "equals": 1                                 | yes
1e0                 | "equals": 1.0                               | yes
1                   | "equals": 1e0                               | yes
1                   | "not_equals": 1e0                           | no
12345678901234567890123456789012345678901234567890 | "equals": 12345678901234567890123456789012345678901234567890 | yes
12345678901234567890123456789012345678901234567890 | "equals": 12345678901234567890123456789012345678901234567891 | no
1e999999999         | "equals": 1e999999999                       | yes
1e999999999         | "gt": 1e999999998                           | yes
1e999999999         | "equals": 1e999999998                       | no
[1e999999999]       | "contains": 1e999999998                     | no
[9007199254740993.5] | "contains": 9007199254740993.25            | no
[1, 2.0]            | "contains": 2                               | yes
{"a": [1.0, {"b": 2}]} | "equals": {"a": [1, {"b": 2e0}]}         | yes
{"a": 9007199254740993.5} | "equals": {"a": 9007199254740993.25}  | no
{"a": 9007199254740993.5, "b": 1} | "contains": {"a": 9007199254740993.25} | no
9007199254740993.5  | "type": "integer"                           | no
12345678901234567890123456789012345678901234567890 | "type": "integer" | yes
9007199254740993.5  | "schema": {"maximum": 9007199254740993.25}  | no
9007199254740993.25 | "schema": {"maximum": 9007199254740993.5}   | yes
9007199254740993.5  | "schema": {"const": 9007199254740993.25}    | no
9007199254740993.5  | "schema": {"enum": [1, 9007199254740993.25]} | no
1                   | "schema": {"const": 1.0}                    | yes
1e-400              | "schema": {"exclusiveMinimum": 0}           | yes
1e999999999         | "schema": {"maximum": 9}                    | no
"9007199254740993.5" | "le": 9007199254740993.25                  | no
9007199254740993.25 | "equals": "${digits}"                       | no
9007199254740993.5  | "equals": "${digits}"                       | yes
9007199254740993.5  | "equals": "${captured}"                     | yes
9007199254740993.25 | "equals": "${captured}"                     | no"#;

/// A server whose tool `work` answers with the JSON that it is given as text.
fn server() -> String {
    let server = python(
        r#"
def call(message):
    own = message["params"]["arguments"].get("say", "{}")
    sys.stdout.write('{"jsonrpc": "2.0", "id": %d, "result": {"content": [], "structuredContent": %s}}\n' % (message["id"], own))
    sys.stdout.flush()
serve(call)
"#,
    );
    server.replacen(
        "{ command: python3, args:",
        "{ \"command\": \"python3\", \"args\":",
        1,
    )
}

fn rows(holds: &str) -> Vec<(&'static str, &'static str)> {
    let rows = ROWS.trim().lines().filter_map(|row| {
        let [sent, compared, wanted] = row.split(" | ").collect::<Vec<_>>()[..] else {
            panic!("{row}");
        };
        (wanted.trim() == holds).then_some((sent.trim(), compared.trim()))
    });
    rows.collect()
}

/// In JSON, which is YAML as well.
fn plan(rows: &[(&str, &str)]) -> String {
    let say = |sent: &str| serde_json::json!(format!("{{\"n\": {sent}}}")).to_string();
    let mut steps = vec![format!(
        "{{\"id\": \"first\", \"tool\": \"work\", \"args\": {{\"say\": {}}}, \
         \"capture\": {{\"captured\": \"$.structuredContent.n\"}}}}",
        say("9007199254740993.50")
    )];
    steps.extend(rows.iter().enumerate().map(|(index, (sent, compared))| {
        format!(
            "{{\"id\": \"row{index}\", \"tool\": \"work\", \"args\": {{\"say\": {}}}, \"expect\": \
             {{\"json\": [{{\"path\": \"$.structuredContent.n\", {compared}}}]}}}}",
            say(sent)
        )
    }));
    format!(
        "{{\"version\": 1, \"vars\": {{\"digits\": 9007199254740993.5}}, \"servers\": {{\"s\": {}}}, \
         \"steps\": [\n{}\n]}}\n",
        server(),
        steps.join(",\n")
    )
}

#[test]
fn every_digit_counts_in_every_comparison_in_yaml_and_in_json() {
    let (good, bad) = (rows("yes"), rows("no"));
    for name in ["plan.yaml", "plan.json"] {
        let project = Project::empty();
        project.write(name, plan(&good));
        let ended = project.jelly(&["run", name, "--retries", "0"]).output();
        assert_eq!(
            ended.code,
            Some(0),
            "{name}\n{}{}",
            ended.stdout,
            ended.stderr
        );
        let project = Project::empty();
        project.write(name, plan(&bad));
        let ended = project
            .jelly(&["run", name, "--retries", "0", "--no-repair"])
            .output();
        for (index, row) in bad.iter().enumerate() {
            let failed = format!("FAIL     s/row{index} ");
            assert!(
                ended.stdout.contains(&failed),
                "{name} {row:?}\n{}",
                ended.stdout
            );
        }
    }
}

#[test]
fn what_a_server_sent_is_sent_on_with_the_same_digits() {
    for sent in [
        "9007199254740993.5",
        "12345678901234567890123456789012345678901234567890",
        "1e-400",
        "1.50",
        "0.1234567890123456789012345678901234567890123456789",
    ] {
        let text = plan(&[]).replace("9007199254740993.50", sent).replace(
            "\n]}",
            ",\n{\"id\": \"second\", \"tool\": \"work\", \"args\": {\"given\": \"${captured}\", \
             \"in\": [{\"it\": \"${captured}\"}], \"words\": \"it is ${captured}\", \"own\": 1.250}}\n]}",
        );
        let project = Project::with(&text);
        let run = project.run(&["--record", "--retries", "0"]);
        run.ends(0, "passed");
        let wire = project.read("reports/latest/wire.jsonl");
        let sent_on = format!(
            "\"arguments\":{{\"given\":{sent},\"in\":[{{\"it\":{sent}}}],\"words\":\"it is {sent}\",\"own\":1.250}}"
        );
        assert!(wire.contains(&sent_on), "{sent_on}\n{wire}");
    }
}

#[test]
fn a_huge_exponent_costs_nothing() {
    let rows: Vec<(&str, &str)> = [
        "\"gt\": 0",
        "\"schema\": {\"multipleOf\": 0.5}",
        "\"ge\": 1e-999999999",
    ]
    .into_iter()
    .map(|compared| ("1e999999999", compared))
    .collect();
    let run = Project::with(&plan(&rows)).run(&["--retries", "0"]);
    run.ends(0, "passed");
    assert!(run.elapsed.as_secs() < 20, "{:?}", run.elapsed);
}
