//! One plan in several combinations: revisions of the protocol, or servers.

use crate::support::{Ended, Project, fixtures, python, real};
use serde_json::{Value, json};

/// A legacy server that names its own revision, or takes the client's, and
/// whose tool says `word`.
fn says(word: &str, revision: &str) -> String {
    python(&format!(
        "
def hello(request):
    version = '{revision}' or request['params']['protocolVersion']
    return {{'protocolVersion': version, 'capabilities': {{'tools': {{}}}},
            'serverInfo': {{'name': 's', 'version': '1'}}}}
def call(request):
    answer(request, {{'content': [{{'type': 'text', 'text': '{word}'}}], 'isError': False}})
serve(call)"
    ))
}

fn results(ended: &Ended) -> Value {
    serde_json::from_str(&ended.stdout)
        .unwrap_or_else(|error| panic!("{error}: {}{}", ended.stdout, ended.stderr))
}

fn run(project: &Project, more: &[&str]) -> (Option<i32>, Value) {
    let args = [&["run", "plan.yaml", "--format", "json"], more].concat();
    let ended = project.jelly(&args).output();
    (ended.code, results(&ended))
}

#[test]
fn the_same_steps_run_against_each_server_and_what_differs_is_shown() {
    let project = Project::with(&format!(
        "
version: 1
name: versions
matrix: {{ servers: {{ it: [old, new] }} }}
servers:
  old: {}
  new: {}
steps:
  - {{ id: free, tool: work }}
  - {{ id: held, server: it, tool: work, expect: {{ text: {{ starts_with: v }} }} }}
  - {{ id: list, list: tools }}
",
        says("v1", ""),
        says("v2", "")
    ));
    let (code, all) = run(&project, &[]);
    assert_eq!(code, Some(0), "{all:#}");
    let names: Vec<&Value> = (0..2).map(|n| &all["plans"][n]["plan"]["name"]).collect();
    assert_eq!(names, ["versions [old]", "versions [new]"]);
    let servers = &all["plans"][1]["iterations"][0]["servers"];
    assert_eq!(servers[0]["state"], "not_started", "{servers}");
    assert_eq!(servers[1]["state"], "ready", "{servers}");

    let matrix = &all["matrix"][0];
    assert_eq!(matrix["axes"], json!({ "servers.it": ["old", "new"] }));
    assert_eq!(
        matrix["variants"][1]["values"],
        json!({ "servers.it": "new" })
    );
    let differs: Vec<&Value> = (0..3).map(|n| &matrix["steps"][n]["differs"]).collect();
    assert_eq!(differs, [true, true, false]);
    let difference = &matrix["differences"][0];
    assert_eq!(difference["kind"], "answer");
    assert_eq!(difference["between"], json!(["old", "new"]));
    let diff = difference["diff"].as_str().unwrap();
    assert!(diff.contains("-") && diff.contains("\"v1\""), "{diff}");
    assert!(diff.contains("+") && diff.contains("\"v2\""), "{diff}");

    let report = project.read("reports/latest/matrix.md");
    assert!(
        report.contains("3 steps in 2 variants, of which 2 differ."),
        "{report}"
    );
    assert!(project.exists("reports/latest/plan-old/test_results.md"));
    let written: Value =
        serde_json::from_str(&project.read("reports/latest/results.json")).unwrap();
    assert_eq!(written["matrix"][0], *matrix);

    // One that takes turns is selected by its own name.
    let (code, one) = run(&project, &["--only", "server:new"]);
    assert_eq!(code, Some(0), "{one:#}");
    assert_eq!(one["totals"]["passed"], 3, "{one:#}");
}

#[test]
fn a_difference_alone_fails_only_a_strict_run() {
    let project = Project::with(&format!(
        "
version: 1
matrix: {{ servers: {{ it: [old, new] }} }}
servers: {{ old: {}, new: {} }}
steps: [{{ id: work, tool: work }}]
",
        says("v1", ""),
        says("v2", "")
    ));
    assert_eq!(run(&project, &[]).0, Some(0));
    let (code, all) = run(&project, &["--strict"]);
    assert_eq!(code, Some(4));
    assert_eq!(all["exit_code"], 4);
    for (more, level) in [(&[][..], "warning"), (&["--strict"], "error")] {
        let args = [&["run", "plan.yaml"], more].concat();
        let ended = project.jelly(&args).env("GITHUB_ACTIONS", "true").output();
        let told = format!("::{level} file=plan.yaml,line=5,col=9,title=work%3A differs");
        let line = ended.stdout.lines().find(|line| line.starts_with(&told));
        let line = line.unwrap_or_else(|| panic!("{}", ended.stdout));
        assert!(
            line.contains("v1\",%0A+") && line.contains("old and new"),
            "{line}"
        );
    }
}

#[test]
fn a_server_that_does_not_speak_a_revision_fails_that_combination_test_side() {
    let project = Project::with(&format!(
        "
version: 1
matrix: {{ protocol: [2025-06-18, 2025-11-25] }}
servers: {{ s: {} }}
budgets: {{ retries: 0, mcp_repairs: 0 }}
steps: [{{ id: work, tool: work }}]
",
        says("v1", "2025-06-18")
    ));
    let (code, all) = run(&project, &[]);
    assert_eq!(code, Some(3), "{all:#}");
    assert_eq!(all["plans"][0]["verdict"], "passed");
    let failure = &all["plans"][1]["iterations"][0]["failures"][0];
    assert_eq!(
        failure["message"],
        "protocol version mismatch: it speaks 2025-06-18, and is held to 2025-11-25"
    );
    assert_eq!(failure["diagnosis"]["side"], "test");
    // It is the matrix that has the pin.
    assert_eq!(failure["at"], "plan.yaml:3:11");
    let fix = failure["diagnosis"]["advice"]["fix"].to_string();
    assert!(
        fix.contains("a combination of the plan's `matrix` (plan.yaml:3:11)")
            && !fix.contains("Take `protocol"),
        "{fix}"
    );
    let cells = &all["matrix"][0]["steps"][0]["cells"];
    assert_eq!(cells[0]["state"], "passed");
    assert_eq!(cells[1]["state"], "blocked");
    assert_eq!(cells[1]["root_cause"], failure["diagnosis"]["root_cause"]);
    assert_eq!(all["matrix"][0]["differences"][0]["kind"], "state");
}

#[test]
fn a_pin_of_its_own_holds_a_server_whatever_the_matrix_says() {
    let project = Project::with(&format!(
        "
version: 1
matrix: {{ protocol: [2024-11-05, 2025-11-25] }}
servers:
  free: {}
  own: {}
steps:
  - {{ id: a, server: free, tool: work }}
  - {{ id: b, server: own, tool: work }}
",
        says("v1", ""),
        says("v1", "").replacen('{', "{ protocol: 2025-03-26, ", 1)
    ));
    let (code, all) = run(&project, &[]);
    assert_eq!(code, Some(0), "{all:#}");
    let spoken = |variant: usize| -> Vec<Value> {
        let servers = all["matrix"][0]["variants"][variant]["servers"].as_array();
        let servers = servers.unwrap().iter();
        servers
            .map(|server| server["protocol_version"].clone())
            .collect()
    };
    assert_eq!(spoken(0), ["2024-11-05", "2025-03-26"]);
    assert_eq!(spoken(1), ["2025-11-25", "2025-03-26"]);
    assert_eq!(all["matrix"][0]["differences"], json!([]));
}

#[test]
fn a_repaired_combination_stays_the_same_one() {
    let project = Project::with(&format!(
        "
version: 1
matrix: {{ servers: {{ it: [old, new] }} }}
servers: {{ old: {}, new: {} }}
steps: [{{ id: work, server: it, tool: wrk, expect: {{ text: {{ equals: v1 }} }} }}]
",
        says("v1", ""),
        says("v1", "")
    ));
    let (code, all) = run(&project, &["--accept-repairs"]);
    assert_eq!(code, Some(0), "{all:#}");
    for (place, server) in ["old", "new"].into_iter().enumerate() {
        let plan = &all["plans"][place];
        assert_eq!(plan["verdict"], "passed_after_repair");
        let last = plan["iterations"].as_array().unwrap().last().unwrap();
        assert_eq!(last["steps"][0]["server"], server);
    }
}

/// A server with one tool, called `name`.
fn offers(name: &str) -> String {
    format!("{{ command: jelly, args: [mock, --tool, '{name}=hi'] }}")
}

/// A matrix of two servers whose tools have these names, and a slip that is
/// repaired to either.
fn slipped(old: &str, new: &str) -> (Project, String) {
    let plan = format!(
        "
version: 1
matrix: {{ servers: {{ it: [old, new] }} }}
servers:
  old: {}
  new: {}
steps: [{{ id: work, server: it, tool: greetx }}]
",
        offers(old),
        offers(new)
    );
    (Project::with(&plan), plan)
}

#[test]
fn combinations_that_were_repaired_differently_differ_and_write_nothing() {
    let (project, plan) = slipped("greeta", "greetb");
    let (code, all) = run(&project, &["--accept-repairs"]);
    assert_eq!(code, Some(0), "{all:#}");
    let matrix = &all["matrix"][0];
    let difference = &matrix["differences"][0];
    assert_eq!(difference["kind"], "repair", "{matrix:#}");
    assert_eq!(difference["step"], "work");
    assert_eq!(matrix["variants"][1]["repairs"][0]["target"], "steps.work");
    let table = project.read("reports/latest/matrix.md");
    assert!(table.contains("- new: repaired by "), "{table}");
    assert!(
        table.contains("1 step in 2 variants, of which 1 differs."),
        "{table}"
    );

    let applied = project.jelly(&["apply"]).output();
    assert_eq!(applied.code, Some(2), "{}", applied.stdout);
    assert!(
        applied
            .stderr
            .contains("did not come to the same plan, so nothing is written"),
        "{}",
        applied.stderr
    );
    assert_eq!(project.read("plan.yaml"), plan);

    let (code, all) = run(&project, &["--accept-repairs", "--write-repairs"]);
    assert_eq!(code, Some(3), "{all:#}");
    for place in 0..2 {
        let told = all["plans"][place]["warnings"].to_string();
        assert!(told.contains("did not come to the same plan"), "{told}");
    }
    assert_eq!(project.read("plan.yaml"), plan);
}

#[test]
fn a_combination_that_needed_no_repair_keeps_the_others_from_writing_theirs() {
    let (project, plan) = slipped("greetx", "greety");
    let (code, all) = run(&project, &["--accept-repairs", "--write-repairs"]);
    assert_eq!(code, Some(3), "{all:#}");
    assert_eq!(all["plans"][0]["verdict"], "passed");
    assert_eq!(all["matrix"][0]["differences"][0]["kind"], "repair");
    assert_eq!(project.read("plan.yaml"), plan);
}

#[test]
fn repairs_that_are_the_same_in_all_combinations_are_written_once() {
    let (project, plan) = slipped("greeta", "greeta");
    let (code, all) = run(&project, &["--accept-repairs"]);
    assert_eq!(code, Some(0), "{all:#}");
    assert_eq!(all["matrix"][0]["differences"], json!([]));
    let applied = project.jelly(&["apply"]).output();
    assert_eq!(applied.code, Some(0), "{}", applied.stderr);
    assert_eq!(applied.stdout.matches("wrote plan.yaml").count(), 1);
    assert!(applied.stdout.contains("it holds the repairs"));
    let mended = plan.replace("greetx", "greeta");
    assert_eq!(project.read("plan.yaml"), mended);

    project.write("plan.yaml", &plan);
    let (code, all) = run(&project, &["--accept-repairs", "--write-repairs"]);
    assert_eq!(code, Some(0), "{all:#}");
    assert_eq!(all["plans"][1]["repairs_written"], true);
    assert_eq!(project.read("plan.yaml"), mended);
}

#[test]
fn a_server_with_a_pin_is_named_in_the_columns_that_it_does_not_stand_for() {
    let project = Project::with(&format!(
        "
version: 1
matrix: {{ protocol: [2024-11-05, 2025-06-18], servers: {{ it: [free, own] }} }}
servers:
  free: {}
  own: {}
steps: [{{ id: work, server: it, tool: work }}]
",
        says("v1", ""),
        says("v1", "").replacen('{', "{ protocol: 2025-03-26, ", 1)
    ));
    let ended = project.jelly(&["run", "plan.yaml"]).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let told = "2024-11-05, own: the server own ran 2025-03-26: its entry has a pin of its own";
    assert!(ended.stdout.contains(told), "{}", ended.stdout);
    let table = project.read("reports/latest/matrix.md");
    assert!(table.contains("the server own ran 2025-03-26"), "{table}");
    assert!(!table.contains("the server free ran"), "{table}");
}

#[test]
fn a_matrix_that_cannot_be_meant_is_refused_at_its_line() {
    let project = Project::with(
        "version: 1
matrix:
  protocol: [2025-06-19, 2026-07-28, 2026-07-28]
  servers:
    it: [old, nwe]
    old: [new]
servers: { old: { command: x }, new: { command: y } }
steps: [{ tool: t, server: it }]
",
    );
    let ended = project.jelly(&["check", "plan.yaml"]).output();
    assert_eq!(ended.code, Some(2));
    for said in [
        "plan.yaml:3:14",
        "did you mean `2025-06-18`?",
        "plan.yaml:3:38",
        "`2026-07-28` is given twice",
        "plan.yaml:5:15",
        "did you mean `new`?",
        "plan.yaml:6:5",
        "plan.yaml:6:10",
        "expected two servers or more",
    ] {
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
    }
}

#[test]
fn an_axis_that_reaches_nothing_is_refused_at_its_line() {
    let project = Project::with(
        "version: 1
matrix: { protocol: [2024-11-05, 2025-06-18], servers: { it: [old, new] } }
servers:
  old: { command: x, protocol: 2025-11-25 }
  new: { command: y }
steps: [{ tool: t, server: old }]
",
    );
    let ended = project.jelly(&["check", "plan.yaml"]).output();
    assert_eq!(ended.code, Some(2), "{}", ended.stdout);
    for said in [
        "plan.yaml:2:11",
        "so none is held to these revisions",
        "plan.yaml:2:58",
        "no step runs against `it`, so nothing takes turns",
        "write `server: it` at the steps that should",
    ] {
        assert!(ended.stderr.contains(said), "{said}: {}", ended.stderr);
    }
    let ended = project.jelly(&["run", "plan.yaml"]).output();
    assert_eq!(
        ended.code,
        Some(2),
        "and so it is not run: {}",
        ended.stdout
    );
}

#[test]
fn a_good_matrix_is_counted_by_check() {
    let project = Project::with(
        "version: 1
matrix: { protocol: [2025-06-18, 2026-07-28], servers: { it: [old, new] } }
servers: { old: { command: x }, new: { command: y } }
steps: [{ tool: t }]
",
    );
    let ended = project.jelly(&["check", "plan.yaml"]).output();
    assert_eq!(ended.code, Some(0), "{}", ended.stderr);
    assert_eq!(
        ended.stdout,
        "ok plan.yaml (2 servers, 1 step, 4 combinations)\n"
    );
}

#[test]
fn the_plan_for_both_eras_is_green_on_both_and_shows_no_difference() {
    real("npm/node_modules/@modelcontextprotocol/node/package.json");
    let plan = fixtures().with_file_name("plans").join("matrix.yaml");
    let project = Project::empty();
    let path = plan.display().to_string();
    let ended = project.jelly(&["run", &path, "--format", "json"]).output();
    let all = results(&ended);
    assert_eq!(ended.code, Some(0), "{all:#}");
    let matrix = &all["matrix"][0];
    for (place, version) in ["2025-06-18", "2026-07-28"].into_iter().enumerate() {
        let variant = &matrix["variants"][place];
        assert_eq!(variant["verdict"], "passed");
        assert_eq!(variant["servers"][0]["protocol_version"], version);
        assert_eq!(all["plans"][place]["iterations"][0]["totals"]["passed"], 5);
    }
    assert_eq!(matrix["differences"], json!([]));
}
