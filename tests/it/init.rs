//! `jelly init`: plans of real servers and of scripted ones, that pass as they
//! are, and fail when their server changes.

use crate::support::{Project, real};

const EVERYTHING: &str = "npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js";
const FILESYSTEM: &str = "npm/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";
const MEMORY: &str = "npm/node_modules/@modelcontextprotocol/server-memory/dist/index.js";

/// `jelly init` with these arguments, then `check` and `run` of its plan; the
/// plan.
#[track_caller]
fn made(project: &Project, args: &[&str], plan: &str) -> String {
    let ended = project.jelly(&["init"]).args(args).output();
    assert_eq!(ended.code, Some(0), "{}{}", ended.stdout, ended.stderr);
    let checked = project.jelly(&["check", plan]).output();
    assert_eq!(checked.code, Some(0), "{}", checked.stderr);
    let run = project.jelly(&["run", plan]).output();
    assert_eq!(run.code, Some(0), "{}{}", run.stdout, run.stderr);
    project.read(plan)
}

/// How many steps call a tool.
fn calls(plan: &str) -> usize {
    plan.lines().filter(|l| l.starts_with("    tool: ")).count()
}

#[test]
fn the_plan_of_a_filesystem_server_reads_what_it_was_given() {
    let project = Project::empty();
    project.write("data/a.txt", "hello");
    let server = real(FILESYSTEM);
    let args = ["--", "node", &server, "data"];
    let plan = made(&project, &args, "plans/filesystem.yaml");
    assert_eq!(calls(&plan), 10, "{plan}");
    insta::assert_snapshot!(plan.replace(&server, "server-filesystem/dist/index.js"));
}

#[test]
fn the_plan_of_a_memory_server_changes_nothing() {
    let project = Project::empty();
    let server = real(MEMORY);
    let plan = made(&project, &["--", "node", &server], "plans/memory.yaml");
    assert_eq!(calls(&plan), 3, "{plan}");
}

#[test]
fn the_plan_of_the_reference_server_calls_all_that_it_may() {
    let project = Project::empty();
    let server = real(EVERYTHING);
    let plan = made(&project, &["--", "node", &server], "plans/everything.yaml");
    assert_eq!(calls(&plan), 11, "{plan}");
    insta::assert_snapshot!(plan.replace(&server, "server-everything/dist/index.js"));
}

#[test]
fn plans_of_servers_from_pypi_pass() {
    let project = Project::empty();
    let shell = real("pypi/.venv/shell/bin/mcp-shell-server");
    let plan = made(&project, &["--", &shell], "plans/shell.yaml");
    assert!(plan.contains("  # - id: shell_execute"), "{plan}");
    let python = real("pypi/.venv/mcp-1.0.0/bin/python");
    let echo = real("pypi/echo_server.py");
    let plan = made(
        &project,
        &["--name", "echo", "--", &python, &echo],
        "plans/echo.yaml",
    );
    assert!(plan.contains("  #   args: { message: hello }"), "{plan}");
}
