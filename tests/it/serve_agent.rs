//! A scripted agent: by three fields of `classify_failure`, and no text, it
//! decides what to do about labelled failures.

use crate::support::agent::Agent;
use crate::support::{Project, fixtures};
use serde_json::{Value, json};

/// Its whole mind.
fn decide(retryable: bool, side: &str, ambiguous: bool) -> &'static str {
    match (retryable, side) {
        (true, _) => "retry",
        (false, "test") if !ambiguous => "repair",
        (false, _) => "stop",
    }
}

/// So many failures of each half of the corpus, evenly spread over those whose
/// label is beyond dispute.
const OF_EACH: usize = 15;

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_scripted_agent_decides_rightly_by_three_fields() {
    let project = Project::empty();
    let mut agent = Agent::start(&project, &[]);
    let mut wrong = Vec::new();
    for half in ["mcp", "junit"] {
        let file = fixtures().join(format!("corpus/{half}/failures.jsonl"));
        let text = std::fs::read_to_string(file).unwrap();
        let rows = text
            .lines()
            .map(|line| serde_json::from_str::<Value>(line).unwrap());
        let is_sure =
            |row: &Value| row["label"]["alt"].is_null() && row["label"]["debatable"] != true;
        let rows: Vec<Value> = rows.filter(is_sure).collect();
        for row in rows.iter().step_by(rows.len() / OF_EACH).take(OF_EACH) {
            let given = agent.tool("classify_failure", json!({"failure": row["failure"]}));
            let diagnosis = &given["diagnosis"];
            let decided = decide(
                given["retryable"] == true,
                diagnosis["side"].as_str().unwrap(),
                diagnosis["ambiguous"] == true,
            );
            let label = &row["label"];
            let side = label["side"].as_str().unwrap();
            let right = decide(label["retryable"] == true, side, side == "ambiguous");
            if decided != right {
                wrong.push(format!(
                    "{}: {decided} instead of {right}: {label}",
                    row["id"]
                ));
            }
        }
    }
    assert!(wrong.is_empty(), "{wrong:#?}");
}
