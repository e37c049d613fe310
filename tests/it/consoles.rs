//! Words that a CI would take for commands to it, and characters that hide what
//! is there, through everything that jelly prints or writes.

use crate::support::talker::{files, talker};
use crate::support::{Ended, Project};
use regex::Regex;
use std::fmt::Write;

/// Lines that GitHub Actions, Azure Pipelines or TeamCity would obey, each
/// known by a word of its own.
const COMMANDS: [&str; 9] = [
    "##vso[task.setvariable variable=alpha]beta",
    "see ##[error]gamma",
    "###[group]delta",
    "##teamcity[buildStatus text='epsilon']",
    "::add-mask::zeta",
    "  ::error file=a.rs,line=1::eta",
    "\t::stop-commands::theta",
    "\u{a0}\u{3000}::debug::iota",
    "Error: ##vso[task.complete result=Succeeded]kappa",
];

const HIDDEN: &str = "user\u{202e}nimda zero\u{200b}width";

fn words() -> String {
    let lines: String = COMMANDS.iter().map(|line| format!("{line}\n")).collect();
    lines + HIDDEN + "\n"
}

/// What a runner would obey in a text.
fn commands(text: &str) -> Vec<String> {
    let marked = Regex::new(r"##[A-Za-z0-9._-]*\[").unwrap();
    text.split(['\n', '\r'])
        .filter(|line| line.trim_start().starts_with("::") || marked.is_match(line))
        .map(str::to_owned)
        .collect()
}

#[track_caller]
fn nothing_commands(project: &Project, ended: &Ended) {
    let mut places = vec![
        ("stdout".to_owned(), ended.stdout.clone()),
        ("stderr".to_owned(), ended.stderr.clone()),
    ];
    files(project.dir(), &mut places);
    let mut obeyed = String::new();
    for (place, text) in &places {
        // A plan and a snapshot are kept as they are: jelly reads them again.
        if place.ends_with(".yaml") || place.ends_with(".snap.new") {
            continue;
        }
        for line in commands(text) {
            writeln!(obeyed, "{place}: {line}").unwrap();
        }
    }
    assert!(obeyed.is_empty(), "{obeyed}");
}

fn plan(server: &str) -> String {
    let entry = |how: &str| format!("{{ command: python3, args: [\"{server}\", {how}, words] }}");
    format!(
        "version: 1
servers:
  s: {}
  noisy: {}
  dead: {}
steps:
  - {{ id: wrong, server: s, tool: work, expect: {{ text: {{ contains: zzz }} }} }}
  - {{ id: shaped, server: s, tool: work, expect: {{ structured: {{ equals: {{ said: [] }} }} }} }}
  - {{ id: stored, server: s, tool: work, expect: {{ text: {{ snapshot: it }} }} }}
  - {{ id: refused, server: s, tool: refuse }}
  - {{ id: failed, server: s, tool: fail }}
  - {{ id: loud, server: noisy, tool: work, expect: {{ text: {{ contains: zzz }} }} }}
  - {{ id: gone, server: dead, tool: work }}
",
        entry("good"),
        entry("noisy"),
        entry("dead"),
    )
}

#[test]
fn no_console_obeys_what_a_run_says_of_its_servers() {
    let beside = Project::empty();
    beside.write("words.txt", words());
    let server = talker(&beside);
    for format in ["human", "json"] {
        let project = Project::empty();
        project.write("p.yaml", plan(&server));
        let args = ["run", "--record", "--format", format, "p.yaml"];
        let ended = project.jelly(&args).output();
        assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
        nothing_commands(&project, &ended);

        // Readers of JSON and XML find the words as they were said.
        let mut written = Vec::new();
        files(project.dir(), &mut written);
        let named = |name: &str| {
            let ends = |(place, _): &&(String, String)| place.ends_with(name);
            written.iter().find(ends).unwrap().1.as_str()
        };
        for json in [named("results.json"), ended.stdout.as_str()] {
            if format == "json" || json != ended.stdout {
                let value: serde_json::Value = serde_json::from_str(json).unwrap();
                let text = value.to_string();
                assert!(text.contains("##vso[task.setvariable"), "{json}");
            }
        }
        assert!(named("junit.xml").contains("#&#35;vso["));
        assert!(named("junit.xml").contains("&#58;:add-mask::zeta"));
        assert!(named("test_results.md").contains("<U+202E>"));
        for word in ["alpha", "zeta", "theta"] {
            assert!(named("test_results.md").contains(word), "{word}");
        }
    }
}

#[test]
fn github_is_told_what_jelly_says_and_nothing_else() {
    let beside = Project::empty();
    beside.write("words.txt", words());
    let project = Project::empty();
    project.write("p.yaml", plan(&talker(&beside)));
    let summary = project.at("summary.md");
    let ended = project
        .jelly(&["run", "p.yaml"])
        .env("GITHUB_ACTIONS", "true")
        .env("GITHUB_STEP_SUMMARY", &summary)
        .output();
    assert_eq!(ended.code, Some(1), "{}{}", ended.stdout, ended.stderr);
    let told = commands(&ended.stdout);
    assert!(!told.is_empty(), "{}", ended.stdout);
    for line in &told {
        assert!(line.starts_with("::error file=p.yaml"), "{line}");
        assert!(!line.contains("##vso[") && !line.contains("##["), "{line}");
    }
    let quiet = Ended {
        stdout: String::new(),
        ..ended
    };
    nothing_commands(&project, &quiet);
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn no_console_obeys_what_triage_says_of_a_report() {
    let escape = |text: &str| text.replace('<', "&lt;").replace('\'', "&apos;");
    let mut report = String::from("<testsuite name=\"s ##[group]s\">\n");
    for (number, line) in COMMANDS.iter().enumerate() {
        let line = escape(line);
        writeln!(
            report,
            "<testcase classname=\"{line}\" name='{line}'><failure message='{line}'>Error \
             {number}\n{line}\n{}</failure></testcase>",
            escape(&words())
        )
        .unwrap();
    }
    report.push_str("</testsuite>\n");
    for format in ["human", "json", "jsonl", "md", "table", "ctrf", "junit"] {
        for mode in ["rca", "failures", "locate"] {
            let beside = Project::empty();
            let file = beside.write("report.xml", &report).display().to_string();
            let project = Project::empty();
            let history = project.at("history.jsonl");
            let args = [
                "triage",
                "--format",
                format,
                "--mode",
                mode,
                "--history",
                &history,
                &file,
            ];
            let ended = project.jelly(&args).output();
            if ended.code == Some(2) {
                assert!(ended.stdout.is_empty() && mode != "rca", "{}", ended.stderr);
                continue;
            }
            nothing_commands(&project, &ended);
            let args = [
                "triage", "--format", format, "--mode", mode, "--output", "told", &file,
            ];
            project.jelly(&args).output();
            nothing_commands(&project, &ended);
        }
    }
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn no_console_obeys_what_doctor_and_init_say() {
    let beside = Project::empty();
    beside.write("words.txt", words());
    let server = talker(&beside);
    let entry =
        |how: &str| serde_json::json!({ "command": "python3", "args": [server, how, "words"] });
    let config = serde_json::json!({ "mcpServers": {
        "good": entry("good"), "noisy": entry("noisy"), "##vso[dead]": entry("dead"),
    } });
    let file = beside.write("mcp.json", config.to_string());
    let file = file.display().to_string();
    for format in ["human", "json", "md"] {
        let project = Project::empty();
        let ended = project
            .jelly(&["doctor", "--format", format, &file])
            .output();
        assert_eq!(ended.code, Some(3), "{}{}", ended.stdout, ended.stderr);
        nothing_commands(&project, &ended);
    }
    for how in ["good", "noisy", "dead"] {
        let project = Project::empty();
        let ended = project
            .jelly(&["init", "--", "python3", &server, how, "words"])
            .output();
        nothing_commands(&project, &ended);
    }
}
