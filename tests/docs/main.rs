//! What the documents say is what the program does.

#![expect(
    clippy::unwrap_used,
    reason = "the helpers of a test fail as loudly as it does"
)]

mod book;
mod commands;
mod generated;

use assert_cmd::Command;
use jelly_base::model::ExitCode;
use jelly_base::model::Signal::{Int, Term};
use jelly_harness::repair::RepairId;
use jelly_plan::PlanSource;
use jelly_triage::engine::{Engine, Rule, RuleFileKind, RuleOrFile, RuleText, parse_rule_file};
use regex::Regex;
use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR"))
}

fn readme() -> String {
    fs::read_to_string(root().join("README.md")).unwrap()
}

/// What a heading is linked to by.
fn slug(heading: &str) -> String {
    let kept = |c: &char| c.is_alphanumeric() || " -_".contains(*c);
    let plain = heading.trim().to_lowercase();
    plain
        .chars()
        .filter(kept)
        .collect::<String>()
        .replace(' ', "-")
}

fn markdown_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    for entry in fs::read_dir(folder).unwrap() {
        let path = entry.unwrap().path();
        if path.is_dir() {
            files.extend(markdown_below(&path));
        } else if path.extension().is_some_and(|extension| extension == "md") {
            files.push(path);
        }
    }
    files
}

/// All that is written for people: the pages at the top, and `docs/`.
fn documents() -> Vec<(PathBuf, String)> {
    let mut files = markdown_below(&root().join("docs"));
    files.extend(["README.md", "CHANGELOG.md"].map(|name| root().join(name)));
    files.sort();
    let read = |path: PathBuf| {
        let text = fs::read_to_string(&path).unwrap();
        (path, text)
    };
    files.into_iter().map(read).collect()
}

/// A block of code in a page.
struct Block {
    /// What stands behind the fence, as in `yaml`.
    info: String,
    /// 1-based, of the fence.
    line: usize,
    text: String,
}

fn blocks(page: &str) -> Vec<Block> {
    let mut blocks = Vec::new();
    let mut open: Option<Block> = None;
    for (index, line) in page.lines().enumerate() {
        match (line.strip_prefix("```"), open.as_mut()) {
            (Some(_), Some(_)) => blocks.extend(open.take()),
            (Some(info), None) => {
                open = Some(Block {
                    info: info.to_owned(),
                    line: index + 1,
                    text: String::new(),
                });
            }
            (None, Some(block)) => {
                block.text.push_str(line);
                block.text.push('\n');
            }
            (None, None) => {}
        }
    }
    assert!(open.is_none(), "a block of code is never closed");
    blocks
}

/// Every block marked `yaml` is a plan; YAML that is none says so, as in
/// `yaml github`.
#[test]
fn every_plan_in_the_documents_is_valid() {
    let mut checked = 0;
    for (path, page) in documents() {
        for block in blocks(&page).into_iter().filter(|b| b.info == "yaml") {
            let source = PlanSource {
                path: PathBuf::from("plan.yaml"),
                text: block.text.into(),
                variant: None,
            };
            if let Err(error) = jelly_plan::check(source) {
                panic!("the plan at {}:{}\n{error}", path.display(), block.line);
            }
            checked += 1;
        }
    }
    assert!(checked > 0, "the README shows a plan");
}

#[test]
fn every_plan_of_the_repository_is_valid() {
    let plans: Vec<PathBuf> = fs::read_dir(root().join("plans"))
        .unwrap()
        .map(|entry| entry.unwrap().path())
        .filter(|path| {
            path.extension()
                .is_some_and(|extension| extension == "yaml")
        })
        .collect();
    assert!(!plans.is_empty());
    for path in plans {
        let source = PlanSource::read(&path).unwrap();
        if let Err(error) = jelly_plan::check(source) {
            panic!("{error}");
        }
    }
}

fn flags(text: &str) -> BTreeSet<String> {
    let flag = Regex::new(r"--[a-z][a-z-]+").unwrap();
    flag.find_iter(text)
        .map(|f| f.as_str().to_owned())
        .collect()
}

/// Flags in the text are those of some command; blocks of code have a test of
/// their own.
#[test]
fn every_flag_in_the_readme_exists() {
    let known = flags(&fs::read_to_string(root().join("docs/flags.md")).unwrap());
    // Of cargo.
    let others = ["--locked", "--path"];
    for flag in flags(&readme()) {
        assert!(
            known.contains(&flag) || others.contains(&flag.as_str()),
            "the README speaks of {flag}"
        );
    }
}

#[test]
fn the_exit_codes_in_the_pages_are_all_there_are_in_their_order() {
    let codes = [
        ExitCode::Interrupted(Int),
        ExitCode::Interrupted(Term),
        ExitCode::Internal,
        ExitCode::InvalidInput,
        ExitCode::CodeFailure,
        ExitCode::NeedsUserHelp,
        ExitCode::UnacceptedChange,
        ExitCode::Passed,
    ];
    for pair in codes.windows(2) {
        assert_eq!(ExitCode::strongest([pair[1], pair[0]]), pair[0]);
    }
    let page = fs::read_to_string(root().join("docs/exit-codes.md")).unwrap();
    for (page, heading) in [(readme(), "The exit code is"), (page, "## `jelly run`")] {
        let (_, rest) = page.split_once(heading).unwrap();
        let table = rest.split("\n#").next().unwrap();
        let shown: Vec<u8> = table
            .lines()
            .filter_map(|line| line.strip_prefix("| "))
            .filter_map(|row| row.split(" |").next())
            .flat_map(|cell| cell.split(", "))
            .filter_map(|code| code.parse().ok())
            .collect();
        assert_eq!(shown, codes.map(ExitCode::code));
    }
}

#[test]
fn the_page_of_diagnosis_names_every_repair() {
    let page = fs::read_to_string(root().join("docs/diagnosis.md")).unwrap();
    for repair in RepairId::ALL.map(RepairId::name) {
        assert!(page.contains(&format!("`{repair}`")), "it lacks {repair}");
    }
}

#[test]
fn the_readme_is_a_page_of_at_most_200_lines() {
    assert!(readme().lines().count() <= 200);
}

/// `.ci/run` takes the tests' command from there.
#[test]
fn the_readme_marks_the_command_that_runs_the_tests() {
    let readme = readme();
    let marks: Vec<usize> = (1..)
        .zip(readme.lines())
        .filter(|(_, line)| line.starts_with("<!-- test-command"))
        .map(|(number, _)| number)
        .collect();
    let [mark] = marks.as_slice() else {
        panic!("one command runs all tests, and the README marks {marks:?}");
    };
    let block = blocks(&readme).into_iter().find(|b| b.line == mark + 1);
    let block = block.expect("a block follows the mark");
    assert_eq!(block.info, "sh");
    assert!(block.text.contains("cargo test"), "{}", block.text);
}

/// The lines of an output without what differs from run to run: times, ids,
/// and the order in which two servers that work side by side get ahead.
fn steady_lines(output: &str) -> Vec<String> {
    let time = Regex::new(r"<?\d+(\.\d+)? m?s\b").unwrap();
    let id = Regex::new(r"\S*/test_results\.md").unwrap();
    let steady = |line: &str| {
        id.replace(&time.replace_all(line, "TIME"), "REPORT")
            .into_owned()
    };
    let mut lines: Vec<String> = output.lines().map(steady).collect();
    lines.sort();
    lines
}

/// The page's plan, with the page's commands.
#[test]
fn the_page_of_snapshots_tells_what_happens() {
    let page = fs::read_to_string(root().join("docs/snapshots.md")).unwrap();
    let plan = blocks(&page)
        .into_iter()
        .find(|b| b.info == "yaml")
        .unwrap();
    let temp = tempfile::tempdir().unwrap();
    fs::write(temp.path().join("plan.yaml"), &plan.text).unwrap();
    let program = assert_cmd::cargo::cargo_bin("jelly");
    let jelly = |args: &[&str]| {
        let mut call = Command::new(&program);
        call.current_dir(temp.path()).env_clear();
        call.env("PATH", program.parent().unwrap()).args(args);
        let output = call.output().unwrap();
        let text = String::from_utf8(output.stdout).unwrap();
        (output.status.code().unwrap(), text)
    };
    let (code, said) = jelly(&["run", "plan.yaml"]);
    assert_eq!(code, 3, "{said}");
    assert!(said.contains("missing_snapshot"), "{said}");
    let (_, shown) = jelly(&["snapshot", "review"]);
    assert!(shown.contains("+ Run N, 3 rows"), "{shown}");
    assert_eq!(jelly(&["snapshot", "accept", "report"]).0, 0);
    let stored = temp.path().join("snapshots/plan/report.snap");
    assert_eq!(fs::read_to_string(stored).unwrap(), "Run N, 3 rows\n");
    assert_eq!(jelly(&["run", "plan.yaml"]).0, 0);
    let listed = |text: &str| page.contains(&format!("| `{text}` |"));
    for kind in ["timestamp", "uuid", "duration", "hash"] {
        assert!(listed(kind), "{kind}");
    }
    for line in page.lines().filter_map(|line| line.strip_prefix("jelly ")) {
        let words: Vec<&str> = line.split('#').next().unwrap().split_whitespace().collect();
        if words.first() == Some(&"snapshot") {
            assert_eq!(jelly(&[&words[..2], &["--help"]].concat()).0, 0, "{line}");
        }
    }
}

/// Renewed by `cargo run -- rules list --format md > docs/rules.md`.
#[test]
fn the_page_of_rules_is_what_the_program_writes() {
    let mut list = Command::cargo_bin("jelly").unwrap();
    list.current_dir(root().join("docs"))
        .env_clear()
        .args(["rules", "list", "--format", "md"]);
    let output = list.output().unwrap();
    assert!(output.status.success());
    let written = String::from_utf8(output.stdout).unwrap();
    let page = fs::read_to_string(root().join("docs/rules.md")).unwrap();
    let differs = page.lines().zip(written.lines()).find(|(a, b)| a != b);
    assert!(
        page == written,
        "docs/rules.md is stale; `cargo run -- rules list --format md > docs/rules.md` renews it; \
         the first line that differs: {differs:?}"
    );
}

/// Blocks marked `yaml rules` and `yaml jelly.yaml` hold good rules, which
/// decide their own examples.
#[test]
fn every_rule_in_the_documents_holds() {
    let mut tried = 0;
    for (path, page) in documents() {
        for block in blocks(&page) {
            let kind = match block.info.as_str() {
                "yaml rules" => RuleFileKind::Rules,
                "yaml jelly.yaml" => RuleFileKind::Project,
                _ => continue,
            };
            let source = RuleText {
                path: format!("{}:{}", path.display(), block.line),
                text: block.text.into(),
            };
            let file = parse_rule_file(kind, source).unwrap_or_else(|error| panic!("{error}"));
            let rules = |entries: Vec<jelly_triage::engine::RuleEntry>| -> Vec<Rule> {
                entries
                    .into_iter()
                    .filter_map(|entry| match entry.what {
                        RuleOrFile::Rule(rule) => Some(*rule),
                        RuleOrFile::File(_) => None,
                    })
                    .collect()
            };
            let (before, after) = (rules(file.before), rules(file.after));
            let own: Vec<Rule> = before.iter().chain(&after).cloned().collect();
            let engine = Engine::with_rules(before, after).unwrap();
            for rule in &own {
                assert_eq!(engine.slips(rule), [], "{}", rule.id);
                tried += 1;
            }
        }
    }
    assert!(tried > 0, "docs/own-rules.md shows rules");
}

/// Of the report that lies in the repository; of the others only the output
/// does.
#[test]
fn the_examples_show_what_triage_prints() {
    let page = fs::read_to_string(root().join("docs/examples/README.md")).unwrap();
    let output = Command::cargo_bin("jelly")
        .unwrap()
        .env_clear()
        .current_dir(root().join("fixtures/reports"))
        .args(["triage", "pytest-database-down.xml", "--no-history"])
        .output()
        .unwrap();
    let printed = String::from_utf8(output.stdout).unwrap();
    // Advice is the rules' to change; what was found is not.
    let found = |text: &str| -> Vec<String> {
        let told = |line: &&str| !line.trim_start().starts_with("fix ");
        text.lines().filter(told).map(str::to_owned).collect()
    };
    let shown = blocks(&page).into_iter().last().unwrap();
    assert_eq!(found(&shown.text), found(&printed));
}

/// Each cell of the table of the protocol names tests that exist, and each test
/// that is listed below it stands in a cell.
#[test]
fn every_cell_of_the_protocol_table_is_backed_by_a_test() {
    let page = fs::read_to_string(root().join("docs/protocol.md")).unwrap();
    let (_, part) = page.split_once("<!-- protocol-table").unwrap();
    let (part, _) = part.split_once("<!-- /protocol-table -->").unwrap();
    let item = Regex::new(r"(?m)^(\d+)\. `(\w+)`$").unwrap();
    let listed: BTreeMap<u32, &str> = item
        .captures_iter(part)
        .map(|found| (found[1].parse().unwrap(), found.get(2).unwrap().as_str()))
        .collect();
    let rows: Vec<&str> = part
        .lines()
        .filter(|l| l.starts_with("| "))
        .skip(2)
        .collect();
    assert!(rows.len() > 10, "{rows:?}");
    let mut used = BTreeSet::new();
    for row in rows {
        let cells: Vec<&str> = row.trim_matches('|').split('|').skip(1).collect();
        assert_eq!(cells.len(), 5, "{row}");
        for cell in cells.into_iter().map(str::trim).filter(|cell| *cell != "–") {
            used.extend(
                cell.split(", ")
                    .map(|number| number.parse::<u32>().unwrap()),
            );
        }
    }
    assert_eq!(used, listed.keys().copied().collect());
    are_tests(listed.into_values());
}

#[test]
fn every_promise_of_security_is_held_by_a_test() {
    let page = fs::read_to_string(root().join("docs/security.md")).unwrap();
    let (_, part) = page.split_once("<!-- promises").unwrap();
    let (part, _) = part.split_once("<!-- /promises -->").unwrap();
    let row = Regex::new(r"(?m)^\| .* \| `(\w+)` \|$").unwrap();
    let listed: Vec<&str> = row
        .captures_iter(part)
        .map(|found| found.get(1).unwrap().as_str())
        .collect();
    let rows = part.lines().filter(|line| line.starts_with("| ")).count();
    assert_eq!(listed.len(), rows - 2, "a promise has no test");
    are_tests(listed);
}

/// Each name is that of a test of this project.
#[track_caller]
fn are_tests<'n>(names: impl IntoIterator<Item = &'n str>) {
    let mut code = String::new();
    let mut folders: Vec<PathBuf> = ["src", "crates", "tests"]
        .map(|folder| root().join(folder))
        .into();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                code.push_str(&fs::read_to_string(path).unwrap());
            }
        }
    }
    for test in names {
        let attribute = r"#\[(?:tokio::)?test\]\n(?:async )?fn ";
        let test = Regex::new(&format!("{attribute}{test}\\(")).unwrap();
        assert!(test.is_match(&code), "there is no test {test}");
    }
}
