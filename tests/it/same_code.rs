//! What history says of a mismatch where the code is, as is proved, the same that
//! passed: something else has changed, and the code is not why.

use crate::support::postgres::{database, with_history};
use crate::support::{Project, Run, python_program, slice};
use serde_json::Value;
use std::process::Command;

const DIGEST: &str = "0123456789abcdef0123456789abcdef0123456789abcdef0123456789abcdef";

/// Answers what a file beside the project says: a world that changes without the
/// code.
const SERVER: &str = r#"
def call(request):
    answer(request, text(open("../answer.txt").read()))
serve(call)
"#;

fn git(project: &Project, args: &[&str]) -> String {
    let who = ["-c", "user.name=t", "-c", "user.email=t@example.com"];
    let output = Command::new("git")
        .current_dir(project.dir())
        .args(who)
        .args(args)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stderr);
    assert!(output.status.success(), "{args:?}: {said}");
    String::from_utf8(output.stdout).unwrap().trim().to_owned()
}

fn commit(project: &Project) -> String {
    git(project, &["add", "--all"]);
    git(project, &["commit", "--quiet", "--message", "x"]);
    git(project, &["rev-parse", "HEAD"])
}

/// A plan whose server is started with these words, and programs that start it as
/// npx, uvx and docker would.
fn project(words: &str) -> Project {
    let project = Project::with(&format!(
        "version: 1\nname: sums\nservers: {{ s: {{ command: {words}, env: {{ PATH: \
         \"${{workspace}}/../bin:${{env:PATH}}\" }} }} }}\nsteps:\n  - {{ id: sum, server: s, tool: \
         work, expect: {{ text: {{ equals: \"3\" }} }} }}\n"
    ));
    let server = project.write("server.py", python_program(SERVER));
    for name in ["npx", "uvx", "docker"] {
        let exec = format!("#!/bin/sh\nexec python3 -u {}\n", server.display());
        project.script(&format!("../bin/{name}"), &exec);
    }
    project
}

/// A checkout with a server of its own.
fn checkout() -> Project {
    let project = project("python3, args: [\"-u\", server.py]");
    project.write(".gitignore", "node_modules/\ndist/\nlogs/\n");
    git(&project, &["init", "--quiet"]);
    commit(&project);
    project
}

/// The step passes, then `change` is made, and the world answers otherwise.
fn then(project: &Project, history: &str, change: &dyn Fn(&Project)) -> Run {
    let call = || with_history(project, &["run", "plan.yaml", "--seed", "1"], history).output();
    project.write("../answer.txt", "3");
    Run::of(project, call()).ends(0, "passed");
    change(project);
    project.write("../answer.txt", "4");
    Run::of(project, call())
}

fn diagnosis(run: &Run) -> &Value {
    &run.last().failure("sum")["diagnosis"]
}

#[track_caller]
fn excuses(run: &Run, code: &str, what: &str) {
    run.ends(3, "needs_user_help");
    let diagnosis = diagnosis(run);
    assert_eq!(diagnosis["side"], "test", "{what}");
    assert_eq!(diagnosis["ambiguous"], true, "{what}");
    assert_eq!(diagnosis["excused"], "same_code", "{what}");
    assert_eq!(diagnosis["same_code"], serde_json::json!([code]), "{what}");
    assert_eq!(diagnosis["standing"], Value::Null, "{what}");
    let help = run.help();
    assert!(
        help.contains("passed before on the very same code"),
        "{help}"
    );
    assert!(help.contains(code), "{help}");
}

#[track_caller]
fn blames(run: &Run, what: &str) {
    run.ends(1, "code_failure");
    assert_eq!(diagnosis(run)["standing"], "passed_before", "{what}");
    assert_eq!(diagnosis(run)["excused"], Value::Null, "{what}");
}

const FILE: &str = "../history.jsonl";

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_clean_work_tree_at_the_same_commit_is_the_same_code_in_both_stores() {
    let database = database();
    let url = database.as_ref().map(|database| database.url());
    for history in [Some(FILE.to_owned()), url].into_iter().flatten() {
        let project = checkout();
        let head = git(&project, &["rev-parse", "HEAD"]);
        let run = then(&project, &history, &|_| {});
        excuses(&run, &format!("commit {head}"), &history);
        let report = project.read("reports/latest/test_results.md");
        let told = format!("- The code that passed before: `commit {head}`");
        assert!(report.contains(&told), "{report}");

        let changed = checkout();
        // Another commit, so that it is another plan's past in the same database.
        changed.write("README", history.as_bytes());
        commit(&changed);
        let run = then(&changed, &history, &|project| {
            project.write("unused.py", "pass");
        });
        blames(&run, &history);
    }
    if let Some(database) = database {
        let kept = "select count(*) from jelly.proven";
        assert_eq!(database.value(kept), "2");
    }
}

type Change = fn(&Project);

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_tree_that_is_not_clean_or_another_commit_proves_nothing() {
    let changes: [(&str, Change); 7] = [
        ("a changed file", |p| {
            let text = p.read("server.py");
            p.write("server.py", text + "# more\n");
        }),
        ("a staged file", |p| {
            p.write("more.py", "pass");
            git(p, &["add", "more.py"]);
        }),
        ("an untracked file", |p| {
            p.write("lib/more.txt", "x");
        }),
        ("another commit", |p| {
            p.write("README", "x");
            commit(p);
        }),
        ("ignored code", |p| {
            p.write("dist/index.js", "x");
        }),
        ("dependencies that no lock file names", |p| {
            p.write("node_modules/a/index.js", "x");
        }),
        ("a change that the index hides", |p| {
            git(p, &["update-index", "--assume-unchanged", "server.py"]);
        }),
    ];
    for (what, change) in slice(4, changes) {
        blames(&then(&checkout(), FILE, &change), what);
    }
}

#[test]
fn what_is_no_code_leaves_a_tree_as_clean_as_it_was() {
    let changes: [(&str, Change); 3] = [
        ("an ignored log", |p| {
            p.write("logs/today.txt", "x");
        }),
        ("reports and histories of jelly's own", |p| {
            p.write(".jelly/history.jsonl", "");
            p.write("reports/more.md", "x");
        }),
        ("a cache", |p| {
            p.write("__pycache__/server.pyc", "x");
            p.write(".git/info/exclude", "__pycache__/\n");
        }),
    ];
    for (what, change) in slice(4, changes) {
        let project = checkout();
        let head = git(&project, &["rev-parse", "HEAD"]);
        let run = then(&project, FILE, &change);
        excuses(&run, &format!("commit {head}"), what);
    }
    let project = checkout();
    project.write("package-lock.json", "{}");
    let head = commit(&project);
    let run = then(&project, FILE, &|p| {
        p.write("node_modules/a/index.js", "x");
    });
    excuses(&run, &format!("commit {head}"), "pinned dependencies");
}

#[test]
fn a_server_that_is_started_from_elsewhere_proves_nothing_by_the_tree() {
    let project = project("python3, args: [\"-u\", ../server.py]");
    project.write("../server.py", python_program(SERVER));
    git(&project, &["init", "--quiet"]);
    commit(&project);
    blames(&then(&project, FILE, &|_| {}), "outside");
    // Without git, nobody knows.
    let without = checkout();
    without.script("../bin/git", "#!/bin/sh\nexit 127\n");
    let path = format!(
        "{}:{}",
        without.at("../bin"),
        std::env::var("PATH").unwrap()
    );
    let run = |answer: &str| {
        without.write("../answer.txt", answer);
        let args = ["run", "plan.yaml", "--history", FILE];
        Run::of(&without, without.jelly(&args).env("PATH", &path).output())
    };
    run("3").ends(0, "passed");
    blames(&run("4"), "no git");
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn one_exact_published_version_or_digest_is_the_same_code_in_both_stores() {
    let database = database();
    let image = format!("image sha256:{DIGEST}");
    let by_digest = format!("docker, args: [run, -i, --rm, \"a/b@sha256:{DIGEST}\"]");
    let cases = [
        ("npx, args: [\"-y\", \"srv@1.2.3\"]", Some("npm srv@1.2.3")),
        ("npx, args: [\"-y\", srv@latest]", None),
        (by_digest.as_str(), Some(image.as_str())),
        ("npx, args: [\"-y\", \"srv@^1.2.3\"]", None),
        ("uvx, args: [\"srv==1.2.3\"]", Some("pypi srv==1.2.3")),
        ("uvx, args: [srv]", None),
        ("docker, args: [run, -i, --rm, \"a/b:1.2.3\"]", None),
    ];
    for (words, code) in slice(4, cases) {
        let url = database.as_ref().map(|database| database.url());
        for history in [Some(FILE.to_owned()), url].into_iter().flatten() {
            let run = then(&project(words), &history, &|_| {});
            match code {
                Some(code) => excuses(&run, code, words),
                None => blames(&run, words),
            }
        }
    }
}
