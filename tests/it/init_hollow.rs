//! `jelly init`: answers that are no results, though no `isError` says so.

use crate::support::Project;
use serde_json::{Value, json};

/// A server whose tools answer what `answers.json` says.
const SERVER: &str = r#"
import json, sys
answers = json.load(open("answers.json"))
def send(id, result): print(json.dumps({"jsonrpc": "2.0", "id": id, "result": result}), flush=True)
def listed(name):
    return {"name": name, "inputSchema": {"type": "object"}, "annotations": {"readOnlyHint": True}}
for line in sys.stdin:
    m = json.loads(line)
    method, params = m.get("method"), m.get("params", {})
    if "id" not in m: continue
    if method == "initialize":
        send(m["id"], {"protocolVersion": params["protocolVersion"], "capabilities": {"tools": {}},
                       "serverInfo": {"name": "hollow", "version": "1"}})
    elif method == "tools/list": send(m["id"], {"tools": [listed(name) for name in answers]})
    elif method == "tools/call":
        send(m["id"], {"content": [{"type": "text", "text": answers[params["name"]]}]})
    else:
        print(json.dumps({"jsonrpc": "2.0", "id": m["id"], "error": {"code": -32601, "message": "no"}}), flush=True)
"#;

const BROKEN: &str = "Database error: no such table: sqlite_mastr";

fn with(answers: &Value) -> Project {
    let project = Project::empty();
    project.write("server.py", SERVER);
    project.write("answers.json", answers.to_string());
    project
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn an_answer_that_is_no_result_is_left_out_and_an_error_fails_the_plan_later() {
    let answers = json!({
        "broken": BROKEN,
        "refuses": "This is a directory, not a file. Use the list_directory tool instead.",
        "silent": "",
        "tables": "[{'name': 'users'}]",
        "errors": "Error count: 3 of 40 lines, as every day",
    });
    for flags in [&[][..], &["--no-verify", "--force"]] {
        let project = with(&answers);
        let init = project.jelly(&["init"]).args(flags);
        let ended = init.args(&["--", "python3", "server.py"]).output();
        assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
        let plan = project.read("plans/hollow.yaml");
        for (name, why) in [
            ("broken", "no such table"),
            ("refuses", "is a directory, not a file"),
            ("silent", "the answer is empty"),
        ] {
            assert!(plan.contains(&format!("\n  # - id: {name}\n")), "{plan}");
            assert!(plan.contains(why), "{plan}");
        }
        for name in ["tables", "errors"] {
            assert!(plan.contains(&format!("\n  - id: {name}\n")), "{plan}");
        }
        let run = project.jelly(&["run", "plans/hollow.yaml"]).output();
        assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
        // The server breaks, and says so as it says anything else.
        let mut later = answers.clone();
        later["tables"] = BROKEN.into();
        project.write("answers.json", later.to_string());
        let run = project
            .jelly(&["run", "plans/hollow.yaml", "--retries", "0"])
            .output();
        assert_ne!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
        assert!(run.stdout.contains("no such table"), "{}", run.stdout);
    }
}
