//! The plans that are measured, written as a user would write them.

use std::fmt::Write as _;
use std::path::Path;

/// `steps` calls of the costless server, each with an expectation.
pub fn calls(server: &Path, mode: &str, steps: usize) -> String {
    let mut plan = one_server(&quoted(server), mode);
    plan.push_str("steps:\n");
    for step in 0..steps {
        // Writing into a string can't fail.
        let _ = write!(
            plan,
            "  - id: call-{step}\n    tool: echo\n    args: {{ text: hello }}\n    expect: {{ \
             text: {{ equals: hello }} }}\n"
        );
    }
    plan
}

/// A server that dies at once, noting when in `at`.
pub fn death(server: &Path, at: &Path) -> String {
    let mode = format!("die, {}", quoted(at));
    one_server(&quoted(server), &mode) + "steps:\n  - { id: call, tool: echo }\n"
}

/// One call of the official reference server.
pub fn everything(script: &Path) -> String {
    one_server("node", &quoted(script))
        + "steps:\n  - id: echo\n    tool: echo\n    args: { message: hello }\n    expect: { text: \
           { equals: \"Echo: hello\" } }\n"
}

fn one_server(command: &str, args: &str) -> String {
    format!(
        "version: 1\nname: benchmark\nservers:\n  one:\n    command: {command}\n    args: [{args}]\n"
    )
}

/// As YAML, which takes JSON's quotes; paths here hold nothing odd.
fn quoted(path: &Path) -> String {
    format!("\"{}\"", path.display())
}
