//! What the pages show is run: their commands, their links, their figures.

use super::{Block, blocks, documents, root, slug, steady_lines};
use assert_cmd::Command;
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

/// A page without what no reader sees as text: comments and blocks of code.
fn prose(page: &str) -> String {
    let comment = Regex::new(r"(?s)<!--.*?-->").unwrap();
    let block = Regex::new(r"(?ms)^```.*?^```$").unwrap();
    let page = block.replace_all(page, "").into_owned();
    comment.replace_all(&page, "").into_owned()
}

#[test]
fn every_link_within_the_repository_leads_somewhere() {
    let link = Regex::new(r"\]\(([^)\s]+)\)").unwrap();
    let heading = Regex::new(r"(?m)^#+ (.*)$").unwrap();
    let mut places: BTreeMap<PathBuf, BTreeSet<String>> = BTreeMap::new();
    let mut dead = Vec::new();
    for (path, page) in documents() {
        for found in link.captures_iter(&prose(&page)) {
            let (file, place) = found[1].split_once('#').unwrap_or((&found[1], ""));
            if file.contains("://") {
                continue;
            }
            let target = match file {
                "" => path.clone(),
                file => path.parent().unwrap().join(file),
            };
            let shown = format!("{}: {}", path.display(), &found[1]);
            if !target.exists() {
                dead.push(shown);
            } else if !place.is_empty() {
                let known = places.entry(target.clone()).or_insert_with(|| {
                    let page = fs::read_to_string(&target).unwrap();
                    let page = prose(&page);
                    heading.captures_iter(&page).map(|h| slug(&h[1])).collect()
                });
                if !known.contains(place) {
                    dead.push(shown);
                }
            }
        }
    }
    assert!(dead.is_empty(), "these links lead nowhere: {dead:#?}");
}

#[test]
fn every_page_is_in_the_book() {
    let docs = root().join("docs");
    let summary = fs::read_to_string(docs.join("SUMMARY.md")).unwrap();
    for (path, _) in documents() {
        let Ok(name) = path.strip_prefix(&docs) else {
            continue;
        };
        let listed = format!("({})", name.display());
        assert!(
            name == Path::new("SUMMARY.md") || summary.contains(&listed),
            "docs/SUMMARY.md lacks {}",
            name.display()
        );
    }
}

/// The commands of a block, one a line, those that go on joined.
pub fn commands(block: &Block) -> Vec<String> {
    let text = block.text.replace("\\\n", " ");
    let lines = text.lines().map(str::trim);
    let lines = lines.filter(|line| !line.is_empty() && !line.starts_with('#'));
    lines.map(str::to_owned).collect()
}

/// Commands of jelly in the pages are such that it takes.
#[test]
fn every_command_in_the_documents_is_one_of_jellys() {
    let mut seen = 0;
    for (path, page) in documents() {
        let shell = blocks(&page)
            .into_iter()
            .filter(|b| b.info.split(' ').next() == Some("sh"));
        for block in shell {
            for line in commands(&block) {
                let words = shlex::split(&line).unwrap_or_default();
                let starts = words.iter().enumerate().filter(|(at, word)| {
                    let first = *at == 0 || ["|", "npx", "&&"].contains(&words[at - 1].as_str());
                    *word == "jelly" && first
                });
                for (start, _) in starts {
                    let ends = ["|", ">", ">>", "&&", "||", ";"];
                    let call: Vec<&String> = words[start..]
                        .iter()
                        .take_while(|word| !ends.contains(&word.as_str()))
                        .collect();
                    if let Err(error) = jelly::cli::command_line().try_get_matches_from(&call) {
                        panic!("{}:{}: {line}\n{error}", path.display(), block.line);
                    }
                    seen += 1;
                }
            }
        }
    }
    assert!(seen > 40, "{seen}");
}

/// Plans that need no other program are run. Those with a file name are by their
/// page's commands, and the one of snapshots has a test of its own.
#[test]
fn every_plan_for_jellys_own_server_passes() {
    let program = assert_cmd::cargo::cargo_bin("jelly");
    let mut ran = 0;
    for (path, page) in documents() {
        for block in blocks(&page).iter().filter(|block| block.info == "yaml") {
            let plan: serde_json::Value = serde_yaml::from_str(&block.text).unwrap();
            let servers = plan["servers"].as_object().unwrap();
            let is_own = servers.values().all(|server| server["command"] == "jelly");
            let is_elsewhere = block.text.starts_with("# ") || path.ends_with("docs/snapshots.md");
            if !is_own || is_elsewhere {
                continue;
            }
            let folder = tempfile::tempdir().unwrap();
            fs::write(folder.path().join("plan.yaml"), &block.text).unwrap();
            let output = Command::new(&program)
                .args(["run", "plan.yaml"])
                .current_dir(folder.path())
                .env_clear()
                .output()
                .unwrap();
            let printed = String::from_utf8_lossy(&output.stdout);
            let place = format!("{}:{}", path.display(), block.line);
            assert!(output.status.success(), "{place}\n{printed}");
            ran += 1;
        }
    }
    assert!(ran >= 3, "{ran}");
}

/// Blocks marked `console` show a command and lines that it prints, in a folder
/// with a report of a database that is down, and a configuration whose server
/// wants a folder.
#[test]
fn what_the_readme_shows_of_a_console_is_printed() {
    let folder = tempfile::tempdir().unwrap();
    let report = root().join("fixtures/reports/pytest-database-down.xml");
    fs::copy(report, folder.path().join("junit.xml")).unwrap();
    let program = assert_cmd::cargo::cargo_bin("jelly");
    let server = r#"{
  "mcpServers": {

    "files": { "command": "jelly", "args": ["mock", "--files", "/srv/notes"] }
  }
}"#;
    fs::write(folder.path().join(".mcp.json"), server).unwrap();
    let mut shown = 0;
    for block in blocks(&super::readme()) {
        let Some(call) = block.text.strip_prefix("$ jelly ") else {
            continue;
        };
        let (call, lines) = call.split_once('\n').unwrap();
        let output = Command::new(&program)
            .args(call.split(' '))
            .current_dir(folder.path())
            .env_clear()
            .env("PATH", program.parent().unwrap())
            .output()
            .unwrap();
        let printed = String::from_utf8(output.stdout).unwrap();
        for line in lines.lines().filter(|line| !line.is_empty()) {
            let has = printed.lines().any(|other| other.trim_end() == line);
            assert!(has, "jelly {call} does not print {line:?}:\n{printed}");
        }
        shown += 1;
    }
    assert_eq!(shown, 2);
}

/// What a drawing of a terminal says.
fn text_of(picture: &str) -> String {
    let style = Regex::new(r"(?s)<style>.*?</style>").unwrap();
    let element = Regex::new(r"<[^>]*>").unwrap();
    let text = style.replace(picture, "");
    let text = element.replace_all(&text, "");
    let text = [
        ("&lt;", "<"),
        ("&gt;", ">"),
        ("&quot;", "\""),
        ("&#x27;", "'"),
        ("&amp;", "&"),
    ]
    .into_iter()
    .fold(text.into_owned(), |text, (written, meant)| {
        text.replace(written, meant)
    });
    // Each line is an element of its own, indented.
    let lines = text
        .lines()
        .map(|line| line.strip_prefix("    ").unwrap_or(line));
    lines.collect::<Vec<_>>().join("\n")
}

#[test]
fn the_quick_start_prints_what_the_picture_shows() {
    let picture = fs::read_to_string(root().join("docs/images/quickstart.svg")).unwrap();
    let shown = text_of(&picture);
    let shown = shown
        .trim()
        .strip_prefix("$ jelly run plans/quickstart.yaml\n");
    let shown = shown.expect("the picture begins with the command");
    let temp = tempfile::tempdir().unwrap();
    let project = temp.path().canonicalize().unwrap();
    let output = Command::cargo_bin("jelly")
        .unwrap()
        .current_dir(root())
        .env_clear()
        .args(["run", "plans/quickstart.yaml", "--project-dir"])
        .arg(&project)
        .arg("--reports-dir")
        .arg(temp.path().join("reports"))
        .output()
        .unwrap();
    assert!(output.status.success());
    let printed = String::from_utf8(output.stdout).unwrap();
    let printed = printed.replace(project.to_str().unwrap(), "/home/me/jelly/plans");
    let lines = |text: &str| -> Vec<String> {
        let lines = steady_lines(text).into_iter();
        let lines = lines.map(|line| line.trim_end().to_owned());
        lines.filter(|line| !line.is_empty()).collect()
    };
    assert_eq!(
        lines(&printed),
        lines(shown),
        "docs/record draws docs/images/quickstart.svg anew"
    );
}

/// Lines that are neither blank nor a comment.
fn counted(name: &str) -> usize {
    let text = fs::read_to_string(root().join("examples/comparisons").join(name)).unwrap();
    let lines = text.lines().map(str::trim);
    lines
        .filter(|line| !line.is_empty() && !line.starts_with('#'))
        .count()
}

/// All figures are printed by `examples/comparisons/measure`; what of them needs
/// neither curl nor jq is measured here.
#[test]
fn the_comparisons_are_as_the_pages_say() {
    let page = fs::read_to_string(root().join("docs/comparisons.md")).unwrap();
    let readme = super::readme();
    for name in ["curl.sh", "http.yaml"] {
        let row = format!(
            "[`{name}`](../examples/comparisons/{name}) | {} |",
            counted(name)
        );
        assert!(page.contains(&row), "docs/comparisons.md lacks {row}");
        let words = format!("{} lines of", counted(name));
        assert!(readme.contains(&words), "README.md lacks {words}");
    }
    let faults = fs::read_to_string(root().join("examples/comparisons/faults.txt")).unwrap();
    let program = assert_cmd::cargo::cargo_bin("jelly");
    let caught: Vec<bool> = std::thread::scope(|scope| {
        let runs: Vec<_> = faults
            .lines()
            .map(|line| {
                let (what, fault) = line.split_once('\t').unwrap();
                let (page, program) = (&page, &program);
                scope.spawn(move || {
                    let folder = tempfile::tempdir().unwrap();
                    for name in ["server.sh", "strict.yaml"] {
                        let from = root().join("examples/comparisons").join(name);
                        fs::copy(from, folder.path().join(name)).unwrap();
                    }
                    let path = std::env::var("PATH").unwrap_or_default();
                    let own = program.parent().unwrap().display();
                    let done = Command::new(program)
                        .args(["run", "strict.yaml", "--quiet", "--var"])
                        .arg(format!("fault={fault}"))
                        .current_dir(folder.path())
                        .env_clear()
                        .env("PATH", format!("{own}:{path}"))
                        .output()
                        .unwrap();
                    let code = done.status.code().unwrap();
                    let shown = match code {
                        0 => "passes".to_owned(),
                        code => format!("**caught** (exit {code})"),
                    };
                    let row = page
                        .lines()
                        .find(|row| row.starts_with(&format!("| {what} |")));
                    let row = row.unwrap_or_else(|| panic!("no row for {what}"));
                    assert!(
                        row.ends_with(&format!("| {shown} |")),
                        "{row}: it is {shown}"
                    );
                    code != 0
                })
            })
            .collect();
        runs.into_iter().map(|run| run.join().unwrap()).collect()
    });
    let all = caught.len();
    let caught = caught.into_iter().filter(|caught| *caught).count();
    assert!(
        page.contains(&format!("| {caught} of {all} |\n")),
        "{caught} of {all}"
    );
    let words = match caught == all {
        true => format!("the plan all {all}."),
        false => format!("the plan {caught}."),
    };
    assert!(readme.contains(&words), "README.md lacks {words}");
}

#[test]
fn the_plan_of_all_transports_and_eras_prints_the_table_that_the_pages_show() {
    let reports = tempfile::tempdir().unwrap();
    let output = Command::cargo_bin("jelly")
        .unwrap()
        .current_dir(root())
        .env_clear()
        .env("PATH", std::env::var_os("PATH").unwrap_or_default())
        .args(["run", "plans/transports.yaml", "--quiet", "--reports-dir"])
        .arg(reports.path())
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    assert!(output.status.success(), "{printed}");
    let cells = |text: &str| -> Vec<String> {
        let from = text.find("four ways: 4 steps in 4 variants").expect(text);
        let table = text[from..].lines().take(6);
        let time = Regex::new(r"<?\d+(\.\d+)? m?s\b").unwrap();
        let line = |line: &str| -> String {
            let line = time.replace_all(line, "TIME");
            line.split_whitespace().collect::<Vec<_>>().join(" ")
        };
        table.map(line).collect()
    };
    let page = fs::read_to_string(root().join("docs/comparisons.md")).unwrap();
    for page in [page, super::readme()] {
        assert_eq!(cells(&printed), cells(&page));
    }
}
