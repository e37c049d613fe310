//! `jelly run --watch`: what a change touches is run again, and nothing else is.

use crate::support::Project;
use std::io::{BufRead, BufReader};
use std::process::{Child, Command, Stdio};
use std::sync::mpsc::{self, Receiver};
use std::thread;
use std::time::Duration;

/// Generous: the machine may be busy, and only a hang should reach it.
const LIMIT: Duration = Duration::from_secs(60);

/// A server whose answer is in a file of code beside it; it notes each call in a
/// file of data, and leaves a cache.
const SERVER: &str = r#"
import json, sys
import word
for line in sys.stdin:
    message = json.loads(line)
    if "id" not in message:
        continue
    method = message["method"]
    answer = {"jsonrpc": "2.0", "id": message["id"]}
    if method == "initialize":
        answer["result"] = {"protocolVersion": "2025-06-18", "capabilities": {"tools": {}},
                            "serverInfo": {"name": "s", "version": "1"}}
    elif method == "tools/list":
        answer["result"] = {"tools": [{"name": "say", "inputSchema": {"type": "object"}}]}
    elif method == "tools/call":
        open("src/calls.json", "a").write("{}\n")
        answer["result"] = {"content": [{"type": "text", "text": word.WORD}]}
    else:
        answer["error"] = {"code": -32601, "message": "no such method"}
    print(json.dumps(answer), flush=True)
"#;

struct Watching {
    child: Child,
    lines: Receiver<String>,
    /// What was said since the last wait began.
    said: Vec<String>,
}

impl Watching {
    fn start(project: &Project, args: &[&str]) -> Self {
        // One pipe for both, so that lines come in the order in which they were
        // written.
        let (pipe, writer) = std::io::pipe().unwrap();
        let child = Command::new(env!("CARGO_BIN_EXE_jelly"))
            .args(["run", "--watch"])
            .args(args)
            .current_dir(project.dir())
            .env_remove("CI")
            .stdin(Stdio::null())
            .stdout(writer.try_clone().unwrap())
            .stderr(writer)
            .spawn()
            .unwrap();
        let (tell, lines) = mpsc::channel();
        thread::spawn(move || {
            for line in BufReader::new(pipe).lines().map_while(Result::ok) {
                if tell.send(line).is_err() {
                    return;
                }
            }
        });
        Self {
            child,
            lines,
            said: Vec::new(),
        }
    }

    /// Waits for a line with this; what was said until then.
    #[track_caller]
    fn until(&mut self, wanted: &str) -> Vec<String> {
        self.said.clear();
        loop {
            match self.lines.recv_timeout(LIMIT) {
                Ok(line) => {
                    let found = line.contains(wanted);
                    self.said.push(line);
                    if found {
                        return self.said.clone();
                    }
                }
                Err(error) => panic!("no `{wanted}` ({error}) after {:#?}", self.said),
            }
        }
    }

    fn leave(mut self) -> Option<i32> {
        let pid = i32::try_from(self.child.id()).ok();
        let pid = pid.and_then(rustix::process::Pid::from_raw).unwrap();
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        self.child.wait().unwrap().code()
    }
}

impl Drop for Watching {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}

fn project() -> Project {
    let project = Project::empty();
    project.write("src/server.py", SERVER);
    project.write("src/word.py", "WORD = 'one'\n");
    project.write("note.txt", "hello");
    for (name, args) in [("a", "note: '${file:note.txt}'"), ("b", "n: 1")] {
        let server = match name {
            "a" => "{ command: python3, args: [src/server.py] }",
            _ => "{ command: jelly, args: [mock, --tool, 'say=one'] }",
        };
        project.write(
            &format!("{name}.yaml"),
            format!(
                "version: 1\nname: plan-{name}\nservers: {{ s: {server} }}\nsteps:\n  - {{ id: say, tool: say, \
                 args: {{ {args} }}, expect: {{ text: {{ equals: one }} }} }}\n"
            ),
        );
    }
    project
}

#[test]
fn what_a_change_touches_is_run_again_until_it_is_left() {
    let project = project();
    let args = [
        "a.yaml",
        "b.yaml",
        "--no-confirm",
        "--report",
        "junit=out.xml",
    ];
    let mut watching = Watching::start(&project, &args);
    let said = watching.until("watching ");
    let passed = |said: &[String], plan: &str| {
        let of = |line: &&String| line.contains("passed") && line.contains(plan);
        said.iter().any(|line| of(&line))
    };
    assert!(
        passed(&said, "plan-a") && passed(&said, "plan-b"),
        "{said:#?}"
    );
    assert!(project.exists("src/__pycache__") || project.exists("src/calls.json"));

    // The code of the server, beside the file that the plan names: the other plan
    // is not run.
    project.write("src/word.py", "WORD = 'two or more'\n");
    let told = watching.until("changed: ");
    assert!(told.last().unwrap().contains("src/word.py"), "{told:#?}");
    // Nothing that the run before left started it.
    assert_eq!(told.len(), 1, "{told:#?}");
    let said = watching.until("watching ");
    assert!(
        said.iter().any(|line| line.contains("two or more")),
        "{said:#?}"
    );
    assert!(
        !said.iter().any(|line| line.contains("plan-b")),
        "{said:#?}"
    );

    // A file that it sends, and then the plan itself, put right.
    project.write("note.txt", "hello again");
    let told = watching.until("changed: ");
    assert!(told.last().unwrap().contains("note.txt"), "{told:#?}");
    watching.until("watching ");
    let plan = project
        .read("a.yaml")
        .replace("equals: one", "contains: more");
    project.write("a.yaml", plan);
    let told = watching.until("changed: ");
    assert!(told.last().unwrap().contains("a.yaml"), "{told:#?}");
    let said = watching.until("watching ");
    assert!(passed(&said, "plan-a"), "{said:#?}");

    // A plan that can't be read says so, and is watched all the same.
    let good = project.read("b.yaml");
    project.write("b.yaml", good.replace("steps:", "stps:"));
    watching.until("changed: ");
    let said = watching.until("watching ");
    assert!(
        said.iter()
            .any(|line| line.contains("did you mean `steps`?")),
        "{said:#?}"
    );
    project.write("b.yaml", &good);
    watching.until("changed: ");
    watching.until("watching ");
    assert_eq!(watching.leave(), Some(0), "the last of each plan counts");
}

/// A folder stands for the plans that are in it now.
#[test]
fn a_plan_that_is_renamed_in_its_folder_is_run_under_its_new_name() {
    let project = project();
    let (old, new) = (project.path("all/b.yaml"), project.path("all/c.yaml"));
    project.write("all/a.yaml", project.read("b.yaml"));
    project.write(
        "all/b.yaml",
        project.read("b.yaml").replace("plan-b", "plan-c"),
    );
    let mut watching = Watching::start(&project, &["all"]);
    watching.until("watching ");
    std::fs::rename(old, new).unwrap();
    watching.until("changed: ");
    let said = watching.until("watching ");
    let has = |word: &str| said.iter().any(|line| line.contains(word));
    assert!(has("plan-c") && !has("there is no such file"), "{said:#?}");
    assert_eq!(watching.leave(), Some(0));
}

#[test]
fn who_leaves_is_told_how_it_stands_and_misuse_is_refused() {
    let project = project();
    project.write("src/word.py", "WORD = 'two'\n");
    let mut watching = Watching::start(&project, &["a.yaml", "--no-confirm"]);
    watching.until("watching ");
    assert_eq!(watching.leave(), Some(3));
    for (args, ci, says) in [
        (&["a.yaml"][..], "true", "this is a CI run"),
        (
            &["a.yaml", "--format", "json"],
            "",
            "this format is one document",
        ),
        (&["-"], "", "comes from stdin"),
        (&["a.yaml", "--list"], "", "cannot be used with"),
    ] {
        let mut all = vec!["run", "--watch"];
        all.extend(args);
        let ended = project.jelly(&all).env("CI", ci).output();
        assert_eq!(ended.code, Some(2), "{args:?}: {}", ended.stderr);
        assert!(ended.stderr.contains(says), "{args:?}: {}", ended.stderr);
    }
}
