//! The founding case: a filesystem server whose directory does not exist. It
//! is the environment's fault and never the code's, and jelly mends it or
//! stops and asks.

use crate::support::{Project, Run, real};
use std::process::Command;

const FILESYSTEM: &str = "npm/node_modules/@modelcontextprotocol/server-filesystem/dist/index.js";

/// The real server on this directory; two steps write and read below it.
fn plan(directory: &str) -> String {
    format!(
        "# The founding case.
version: 1
name: founding
servers:
  files:
    command: node
    args: [{}, \"{directory}\"]   # does not exist
    startup_timeout: 60s
steps:
  - id: write
    tool: write_file
    args: {{ path: \"{directory}/a.txt\", content: hello }}
    expect:
      text: {{ contains: Successfully }}
  - id: read
    tool: read_text_file
    args: {{ path: '{directory}/a.txt' }}
    expect:
      json: [{{ path: \"$.content[0].text\", equals: hello }}]
",
        serde_json::json!(real(FILESYSTEM))
    )
}

/// The server's own words are the evidence, and the environment is to blame.
#[track_caller]
fn says_missing_directory(run: &Run, index: usize, directory: &str) {
    let iteration = run.iteration(index);
    assert_eq!(
        (iteration.total("blocked"), iteration.total("failed")),
        (2, 0)
    );
    let failure = iteration.failure("files");
    let diagnosis = &failure["diagnosis"];
    assert_eq!(diagnosis["root_cause"], "missing_directory", "{failure:#}");
    assert_eq!(diagnosis["side"], "test");
    assert_eq!(diagnosis["ambiguous"], false);
    let stderr = failure["stderr_tail"].as_str().unwrap();
    assert!(stderr.contains(directory), "{stderr}");
    let evidence = &diagnosis["evidence"];
    assert_eq!(evidence["field"], "stderr", "{evidence}");
    let quoted = evidence["text"].as_str().unwrap();
    assert!(
        !quoted.is_empty() && stderr.contains(quoted),
        "{quoted:?} is not in {stderr}"
    );
}

#[test]
fn a_missing_directory_outside_of_the_project_is_replaced_by_one_inside() {
    let project = Project::empty();
    let outside = project.at("../data");
    let text = plan(&outside);
    project.write("plan.yaml", &text);
    let run = project.run(&[]);
    run.ends(0, "passed_after_repair");

    says_missing_directory(&run, 1, &outside);
    assert_eq!(run.actions(), ["repair_mcp_plan", "stop"]);
    let repairs = run.iteration(1).0["action"]["repairs"].as_array().unwrap();
    assert_eq!(repairs.len(), 1);
    assert_eq!(repairs[0]["id"], "filesystem_workspace");
    let diff = repairs[0]["diff"].as_str().unwrap();
    // The server's argument and both steps'.
    assert_eq!(diff.matches("\n+").count() - 1, 3, "{diff}");
    assert_eq!(diff.matches(".mcp/filesystem").count(), 3, "{diff}");
    assert!(run.markdown.contains(".mcp/filesystem"), "{}", run.markdown);
    assert!(run.markdown.contains("```diff"), "{}", run.markdown);

    let second = run.iteration(2);
    assert_eq!((second.total("passed"), second.total("total")), (2, 2));
    assert_eq!(project.read(".mcp/filesystem/a.txt"), "hello");
    assert!(!project.exists("../data"));
    assert_eq!(
        project.read("plan.yaml"),
        text,
        "the user's plan is the user's"
    );
}

#[test]
fn the_repair_lies_beside_the_reports_as_a_plan_and_as_a_patch_that_applies() {
    let project = Project::empty();
    project.write("plan.yaml", plan(&project.at("../data")));
    project.run(&[]).ends(0, "passed_after_repair");
    let repaired = project.read("reports/latest/repaired-plan.yaml");
    assert!(repaired.contains("# The founding case."), "comments stay");
    assert!(repaired.contains(".mcp/filesystem"));

    let patch = project.path("reports/latest/repair.patch");
    let patched = |tool: &str, args: &[&str]| {
        let before = project.read("plan.yaml");
        let output = Command::new(tool)
            .args(args)
            .arg(&patch)
            .current_dir(project.dir())
            .output()
            .unwrap();
        let after = project.read("plan.yaml");
        project.write("plan.yaml", before);
        assert!(
            output.status.success(),
            "{tool}: {}{}\n{}",
            String::from_utf8_lossy(&output.stdout),
            String::from_utf8_lossy(&output.stderr),
            project.read("reports/latest/repair.patch"),
        );
        after
    };
    assert_eq!(patched("git", &["apply"]), repaired);
    assert_eq!(patched("patch", &["-p1", "-i"]), repaired);
}

#[test]
fn a_repaired_plan_is_green_by_itself() {
    let project = Project::empty();
    project.write("plan.yaml", plan(&project.at("../data")));
    project.run(&[]).ends(0, "passed_after_repair");
    let repaired = project.read("reports/latest/repaired-plan.yaml");
    project.write("plan.yaml", repaired);
    let run = project.run(&[]);
    run.ends(0, "passed");
    assert_eq!(run.iterations().len(), 1);
}

#[test]
fn a_missing_directory_inside_of_the_project_is_created() {
    let project = Project::empty();
    let text = plan("${workspace}/data");
    project.write("plan.yaml", &text);
    let run = project.run(&[]);
    run.ends(0, "passed_after_repair");
    assert_eq!(
        run.iteration(1)["action"]["repairs"][0]["id"],
        "create_directory"
    );
    assert_eq!(project.read("data/a.txt"), "hello");
    assert_eq!(project.read("plan.yaml"), text);
    assert!(!project.exists(".mcp"), "what was asked for is there");
}

#[test]
fn the_folder_of_a_file_is_created_and_none_in_its_place() {
    let project = Project::empty();
    project.write(
        "start.sh",
        "[ -d \"${1%/*}\" ] || { echo \"cannot create $1: Directory nonexistent\" >&2; exit 2; }\necho x > \"$1\"\nexit 3\n",
    );
    project.write(
        "plan.yaml",
        "version: 1\nservers: {m: {command: sh, args: ['${workspace}/start.sh', '${workspace}/none/shelves']}}\nsteps: [{tool: t}]\n",
    );
    let run = project.run(&["--retries", "0"]);
    let repairs = &run.iteration(1)["action"]["repairs"];
    assert_eq!(repairs[0]["id"], "create_directory", "{repairs}");
    assert_eq!(project.read("none/shelves"), "x\n");
}

#[test]
fn a_folder_that_the_server_names_a_file_in_is_created_itself() {
    let project = Project::empty();
    project.write(
        "start.sh",
        "echo \"data folder: $1\" >&2\n[ -d \"$1\" ] || { echo \"cannot create $1/log: Directory nonexistent\" >&2; exit 2; }\necho x > \"$1/log\"\nexit 3\n",
    );
    project.write(
        "plan.yaml",
        "version: 1\nservers: {m: {command: sh, args: ['${workspace}/start.sh', '${workspace}/data/out']}}\nsteps: [{tool: t}]\n",
    );
    let run = project.run(&["--retries", "0"]);
    let repairs = &run.iteration(1)["action"]["repairs"];
    assert_eq!(repairs[0]["id"], "create_directory", "{repairs}");
    assert_eq!(project.read("data/out/log"), "x\n");
}

#[test]
fn a_link_out_of_the_project_is_not_the_project() {
    let project = Project::empty();
    std::fs::create_dir(project.path("../outside")).unwrap();
    std::os::unix::fs::symlink(project.path("../outside"), project.path("link")).unwrap();
    project.write("plan.yaml", plan("${workspace}/link/data"));
    let run = project.run(&[]);
    run.ends(0, "passed_after_repair");
    assert_eq!(
        run.iteration(1)["action"]["repairs"][0]["id"],
        "filesystem_workspace"
    );
    assert!(!project.exists("../outside/data"));
}

#[test]
fn without_repairs_it_stops_at_once_and_asks() {
    let project = Project::empty();
    let outside = project.at("../data");
    let text = plan(&outside);
    project.write("plan.yaml", &text);
    let run = project.run(&["--no-repair"]);
    run.ends(3, "needs_user_help");
    says_missing_directory(&run, 1, &outside);
    assert_eq!(run.actions(), ["stop"]);
    assert_eq!(run.results["needs_user_help"], true);
    for shown in [&run.help(), &run.stdout, &run.markdown] {
        assert!(shown.contains(&outside), "{shown}");
    }
    assert!(!project.exists(".mcp"));
    assert!(!project.exists("../data"));
    assert!(!project.exists("reports/latest/repaired-plan.yaml"));
    assert_eq!(project.read("plan.yaml"), text);
}

/// With a hook that leaves `hook-called` behind.
fn with_refine_hook(server: &str) -> Project {
    let project = Project::with(&format!(
        "
version: 1
servers: {{ files: {server} }}
budgets: {{ code_refines: 5, retries: 3 }}
hooks: {{ refine_code: [./refine.sh] }}
steps:
  - {{ id: write, tool: write_file, args: {{ path: a.txt, content: hello }} }}
  - {{ id: read, tool: read_file, args: {{ path: a.txt }}, expect: {{ text: {{ equals: hello }} }} }}
"
    ));
    project.script("refine.sh", "#!/bin/sh\ntouch hook-called\n");
    project
}

#[test]
fn a_start_that_no_repair_mends_never_reaches_the_code() {
    let filesystem = format!(
        "{{ command: node, args: [{}, /no/such/folder], startup_timeout: 60s }}",
        serde_json::json!(real(FILESYSTEM))
    );
    let cases = [
        // Nothing below the server's control could mend these.
        ("{ command: no-such-command-here }", "command_not_found"),
        (
            "{ command: jelly, args: [mock, --fault, 'stderr=TypeError: x is not a function', --fault, exit@spawn=1] }",
            "",
        ),
        (
            "{ command: jelly, args: [mock, --fault, panic@initialize=python], era: legacy }",
            "",
        ),
        (
            "{ command: jelly, args: [mock, --fault, exit@handshake=0] }",
            "clean_exit_before_handshake",
        ),
    ];
    for (server, root_cause) in cases {
        let project = with_refine_hook(server);
        let run = project.run(&["--max-iterations", "10"]);
        run.ends(3, "needs_user_help");
        for iteration in run.iterations() {
            let failure = iteration.failure("files");
            assert_eq!(failure["diagnosis"]["side"], "test", "{failure:#}");
            if !root_cause.is_empty() {
                assert_eq!(failure["diagnosis"]["root_cause"], root_cause);
            }
        }
        assert!(!run.actions().contains(&"refine_code"), "{server}");
        assert!(!project.exists("hook-called"), "{server}");
    }
    // The founding case itself, its repair switched off.
    let project = with_refine_hook(&filesystem);
    let run = project.run(&["--max-iterations", "10", "--no-repair"]);
    run.ends(3, "needs_user_help");
    assert!(!project.exists("hook-called"));
}

#[test]
fn a_dead_server_keeps_the_hook_from_the_code_failure_of_another() {
    let project = Project::with(
        "
version: 1
servers:
  dead: { command: no-such-command-here }
  live: { command: jelly, args: [mock] }
hooks: { refine_code: [./refine.sh] }
steps:
  - { id: blocked, server: dead, tool: x }
  - { id: panics, server: live, tool: crash, args: { code: 1 } }
",
    );
    project.script("refine.sh", "#!/bin/sh\ntouch hook-called\n");
    let run = project.run(&["--max-iterations", "10"]);
    assert_eq!(run.code, Some(1), "{}", run.stdout);
    assert_eq!(run.last().failure("panics")["diagnosis"]["side"], "code");
    assert_eq!(run.last().failure("dead")["diagnosis"]["side"], "test");
    assert!(!project.exists("hook-called"));
}
