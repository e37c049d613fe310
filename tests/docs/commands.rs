//! The commands that the pages print, run as a reader would run them.
//!
//! Blocks marked `sh run` are run, a page in a folder of its own; of one marked
//! `sh apart`, each command is, in a folder of its own. A block whose first line
//! names a file in a comment is that file. `exit code N` at the end of a line says
//! how its command ends. What a page takes for granted stands in [`Scene`].

use super::book::commands;
use super::{Block, blocks, documents, root};
use regex::Regex;
use std::cmp::Reverse;
use std::fs;
use std::os::unix::fs::{PermissionsExt, symlink};
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::sync::LazyLock;
use tempfile::TempDir;

/// Commands that are not run, and why.
const NOT_RUN: [(&str, &str); 14] = [
    ("https://example.org/mcp", "asks a server of nobody's"),
    ("https://mcp.example.com/mcp", "asks a server of nobody's"),
    (
        "jelly init http://127.0.0.1:8080/mcp",
        "at a port that may be taken",
    ),
    ("jelly serve --listen", "runs until it is stopped"),
    ("jelly known add j2:", "names a fingerprint of nobody's"),
    (
        "jelly doctor claude_desktop_config.json",
        "fifteen servers of somebody's",
    ),
    (
        "jelly run plans/transports.yaml",
        "every_plan_of_all_transports runs it",
    ),
    (
        "jelly run plan.yaml                    # exit code 3: nothing",
        "the_page_of_snapshots runs it",
    ),
    ("jelly snapshot ", "the_page_of_snapshots runs it"),
    (
        "jelly history migrate --history postgres://owner@db.example.com",
        "a database of nobody's",
    ),
    ("# its results are kept there", "a database of nobody's"),
    ("$GITHUB_STEP_SUMMARY", "the file is one of GitHub's"),
    ("$LAST_RELEASE_COMMIT", "a commit of nobody's"),
    ("cargo ", "builds"),
];

static FILE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"^# (\S+\.\w+)$").unwrap());
static CODE: LazyLock<Regex> = LazyLock::new(|| Regex::new(r"exit code (\d+)$").unwrap());

/// A folder with what pages speak of: a client's configuration, servers, plans,
/// reports, and `npx` for servers that are installed.
struct Scene(TempDir);

impl Scene {
    /// For these commands.
    fn new(lines: &str) -> Self {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(&path, text).unwrap();
            path
        };
        symlink(root().join("fixtures"), folder.path().join("fixtures")).unwrap();
        let npx = write(
            "bin/npx",
            "#!/bin/sh\n[ \"$1\" = -y ] && shift\npackage=${1%@[0-9]*}\nshift\n\
             exec node \"${0%/*}/../fixtures/npm/node_modules/$package/dist/index.js\" \"$@\"\n",
        );
        fs::set_permissions(npx, fs::Permissions::from_mode(0o755)).unwrap();
        write("data/notes.txt", "hello\n");
        write(
            "dist/server.js",
            "process.exit(require('child_process').spawnSync('jelly', ['mock'], \
             { stdio: 'inherit' }).status)\n",
        );
        write(
            ".mcp.json",
            "{\n  \"mcpServers\": {\n    \"files\": { \"command\": \"jelly\", \"args\": \
             [\"mock\", \"--files\", \"data\"] }\n  }\n}\n",
        );
        write(
            "server.json",
            r#"{
  "$schema": "https://static.modelcontextprotocol.io/schemas/2025-12-11/server.schema.json",
  "name": "io.github.example/everything",
  "description": "Everything there is",
  "version": "1.0.0",
  "packages": [
    {
      "registryType": "npm",
      "identifier": "@modelcontextprotocol/server-everything",
      "version": "1.0.0",
      "transport": { "type": "stdio" }
    }
  ]
}
"#,
        );
        let plan = "version: 1\nname: mock\nservers: { mock: { command: jelly, args: [mock] } }\n\
                    steps:\n  - { id: add, tool: add, args: { a: 2, b: 40 } }\n";
        write("plan.yaml", plan);
        let mentions = |texts: &[&str]| texts.iter().any(|text| lines.contains(text));
        if mentions(&["plans/team.yaml", "plans/*.yaml", "--shard"]) {
            let team = plan.replace("mock: {", "files: {");
            write("plans/team.yaml", &team.replace("name: mock", "name: team"));
        }
        if mentions(&["run plans/everything.yaml", "--plan plans/everything.yaml"]) {
            let plan = fs::read_to_string(root().join("plans/everything.yaml")).unwrap();
            write("plans/everything.yaml", &plan);
        }
        let report = root().join("fixtures/reports/pytest-database-down.xml");
        fs::copy(&report, folder.path().join("junit.xml")).unwrap();
        fs::create_dir(folder.path().join("results")).unwrap();
        fs::copy(report, folder.path().join("results/junit.xml")).unwrap();
        Self(folder)
    }

    fn bash(&self, line: &str) -> (Option<i32>, String) {
        let program = assert_cmd::cargo::cargo_bin("jelly");
        let path = [
            self.0.path().join("bin"),
            program.parent().unwrap().to_owned(),
        ];
        let inherited = std::env::var_os("PATH").unwrap_or_default();
        let path = path.into_iter().chain(std::env::split_paths(&inherited));
        let done = Command::new("bash")
            .args(["-euo", "pipefail", "-c", line])
            .current_dir(self.0.path())
            .env_clear()
            .env("PATH", std::env::join_paths(path).unwrap())
            .stdin(Stdio::null())
            .output()
            .unwrap();
        let printed = [done.stdout, done.stderr].concat();
        let printed = String::from_utf8_lossy(&printed).into_owned();
        (done.status.code(), printed)
    }

    fn run(&self, page: &Path, line: &str) {
        let wanted = CODE.captures(line).map_or(0, |c| c[1].parse().unwrap());
        let (code, printed) = self.bash(line);
        assert_eq!(code, Some(wanted), "{}: {line}\n{printed}", page.display());
    }

    /// What recordings and locks of pages are made of.
    fn prepared_for(lines: &str) -> Self {
        let scene = Self::new(lines);
        let set_up = [
            (
                "wire.jsonl",
                "jelly run plan.yaml --record --quiet && cp reports/latest/wire.jsonl .",
            ),
            (
                "old.lock",
                "jelly tools lock -o old.lock -- jelly mock && cp old.lock new.lock",
            ),
            (
                "--durations",
                "mkdir .jelly && jelly run plans/team.yaml --quiet && rm -r reports",
            ),
        ];
        for (name, line) in set_up {
            if lines.contains(name) {
                let (code, printed) = scene.bash(line);
                assert_eq!(code, Some(0), "{line}\n{printed}");
            }
        }
        scene
    }
}

#[test]
fn the_commands_of_the_pages_end_as_they_say() {
    let mut pages: Vec<(PathBuf, String)> = documents()
        .into_iter()
        .filter(|(_, page)| page.contains("\n```sh run\n") || page.contains("\n```sh apart\n"))
        .collect();
    assert!(pages.len() >= 15, "{}", pages.len());
    // The longest first, so that none is left alone at the end.
    pages.sort_by_key(|(_, page)| Reverse(runs_of(page).count()));
    // Each waits for servers more than it works.
    let next = std::sync::atomic::AtomicUsize::new(0);
    std::thread::scope(|scope| {
        let some = std::thread::available_parallelism().map_or(2, usize::from);
        for _ in 0..3 * some {
            scope.spawn(|| {
                loop {
                    let at = next.fetch_add(1, std::sync::atomic::Ordering::Relaxed);
                    let Some((page, text)) = pages.get(at) else {
                        break;
                    };
                    run_page(page, text);
                }
            });
        }
    });
}

/// The commands of a page that are run.
fn runs_of(page: &str) -> impl Iterator<Item = String> {
    let is_run = |block: &Block| ["sh run", "sh apart"].contains(&block.info.as_str());
    let runs = blocks(page).into_iter().filter(move |block| is_run(block));
    runs.flat_map(|block| commands(&block))
}

fn run_page(page: &Path, text: &str) {
    let run = runs_of(text).collect::<Vec<_>>().join("\n");
    let scene = Scene::prepared_for(&run);
    for block in blocks(text) {
        let first = block.text.lines().next().unwrap_or_default();
        if let Some(name) = FILE.captures(first) {
            let name = scene.0.path().join(&name[1]);
            fs::create_dir_all(name.parent().unwrap()).unwrap();
            let (_, rest) = block.text.split_once('\n').unwrap();
            fs::write(name, rest).unwrap();
        }
        match block.info.as_str() {
            "sh run" => {
                for line in commands(&block) {
                    scene.run(page, &line);
                }
            }
            "sh apart" => {
                for line in commands(&block) {
                    Scene::prepared_for(&run).run(page, &line);
                }
            }
            _ => {}
        }
    }
}

/// A command of jelly in a page is run, or known not to be.
#[test]
fn no_command_of_the_pages_is_passed_over_without_a_reason() {
    let is_jelly = |line: &str| line.starts_with("jelly ") || line.contains(" jelly ");
    let mut left: Vec<String> = Vec::new();
    for (path, page) in documents() {
        let is_shell = |block: &Block| block.info == "sh" || block.info == "bash";
        for block in blocks(&page).iter().filter(|block| is_shell(block)) {
            let lines = commands(block);
            let lines = lines.iter().filter(|line| is_jelly(line));
            let unknown =
                lines.filter(|line| !NOT_RUN.iter().any(|(known, _)| line.contains(known)));
            left.extend(unknown.map(|line| format!("{}:{}: {line}", path.display(), block.line)));
        }
    }
    assert!(left.is_empty(), "{}", left.join("\n"));
}
