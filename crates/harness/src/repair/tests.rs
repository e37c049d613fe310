//! Repairs, family by family, on plans as people write them; and what none of
//! them may ever do.

#[path = "every_plan_tests.rs"]
mod every_plan;

use super::{Facts, FsFacts, PathKind, Proposal, RepairId, propose};
use jelly_base::model::{
    Diagnosis, ErrorCategory, Failure, Outcome, Phase, PlanIssue, Side, ToolInfo, ToolResult,
};
use jelly_plan::{Plan, PlanEdit, PlanSource, Scope};
use proptest::prelude::*;
use serde_json::json;
use std::collections::{BTreeMap, BTreeSet};
use std::path::{Path, PathBuf};

pub(super) const PROJECT: &str = "/home/ci/project";

/// A file system as a test tells it.
#[derive(Debug, Clone, Default)]
pub(super) struct FakeFs {
    /// `true` for those that can be written to.
    dirs: BTreeMap<PathBuf, bool>,
    files: BTreeSet<PathBuf>,
    links: BTreeMap<PathBuf, PathBuf>,
    /// What files say.
    texts: BTreeMap<PathBuf, String>,
}

impl FakeFs {
    pub(super) fn new() -> Self {
        let mut fs = Self::default();
        for dir in Path::new(PROJECT).ancestors() {
            fs.dirs.insert(dir.to_owned(), dir == Path::new(PROJECT));
        }
        fs
    }

    fn dir(mut self, path: &str, writable: bool) -> Self {
        self.dirs.insert(path.into(), writable);
        self
    }

    fn file(mut self, path: &str) -> Self {
        self.files.insert(path.into());
        self
    }

    fn link(mut self, from: &str, to: &str) -> Self {
        self.links.insert(from.into(), to.into());
        self
    }

    fn follow(&self, path: &Path) -> PathBuf {
        for (from, to) in &self.links {
            if let Ok(rest) = path.strip_prefix(from) {
                return to.join(rest);
            }
        }
        path.to_owned()
    }
}

impl FsFacts for FakeFs {
    fn kind(&self, path: &Path) -> PathKind {
        let path = self.follow(path);
        match self.dirs.get(&path) {
            Some(writable) => PathKind::Dir {
                writable: *writable,
            },
            None if self.files.contains(&path) => PathKind::File,
            None => PathKind::Missing,
        }
    }

    fn resolve(&self, path: &Path) -> Option<PathBuf> {
        Some(self.follow(path))
    }

    fn mentions(&self, path: &Path, texts: &[&str]) -> bool {
        let text = self.texts.get(path);
        text.is_some_and(|text| texts.iter().any(|wanted| text.contains(wanted)))
    }
}

pub(super) fn plan(text: &str) -> Plan {
    let source = PlanSource {
        path: "plan.yaml".into(),
        text: text.into(),
        variant: None,
    };
    jelly_plan::load(source).unwrap_or_else(|e| panic!("{e}"))
}

/// As triage has it: what ran out of time is a matter of time.
pub(super) fn diagnosis_of(failure: &Failure, root_cause: &str) -> Diagnosis {
    match failure.outcome {
        Some(Outcome::Timeout) => Diagnosis {
            error_category: Some(ErrorCategory::Timeout),
            retryable: Some(true),
            ..diagnosis(root_cause)
        },
        _ => diagnosis(root_cause),
    }
}

pub(super) fn diagnosis(root_cause: &str) -> Diagnosis {
    Diagnosis {
        side: Side::Test,
        ambiguous: false,
        error_category: Some(ErrorCategory::Infrastructure),
        root_cause: root_cause.into(),
        retryable: Some(false),
        rule: "test/rule".into(),
        evidence: None,
        fingerprint: "f".into(),
        test_fingerprint: "t".into(),
        ..Diagnosis::BLANK
    }
}

pub(super) fn says(stderr: &str) -> Failure {
    Failure {
        phase: Some(Phase::Handshake),
        server: Some("files".into()),
        stderr: Some(stderr.into()),
        ..Failure::default()
    }
}

fn issue(step: &str, issue: PlanIssue) -> Failure {
    Failure {
        phase: Some(Phase::Config),
        server: Some("files".into()),
        step: Some(step.into()),
        issue: Some(issue),
        ..Failure::default()
    }
}

fn proposals(plan: &Plan, failure: &Failure, root_cause: &str, fs: &FakeFs) -> Vec<Proposal> {
    proposals_of(plan, failure, &diagnosis_of(failure, root_cause), fs)
}

fn proposals_of(
    plan: &Plan,
    failure: &Failure,
    diagnosis: &Diagnosis,
    fs: &FakeFs,
) -> Vec<Proposal> {
    let scope = Scope::new(
        PROJECT.into(),
        "/tmp/jelly".into(),
        BTreeMap::from([("SECRET".into(), "/srv/data".into())]),
        BTreeMap::new(),
        &plan.vars,
    );
    let tool = |name: &str| ToolInfo {
        name: name.into(),
        input_schema: None,
        output_schema: None,
        repeatable: false,
    };
    let tools = vec![(
        "files".to_owned(),
        vec![tool("read_file"), tool("write_file")],
    )];
    let facts = Facts {
        project_dir: Path::new(PROJECT),
        scope: &scope,
        steps: &plan.steps_by_id(),
        tools: &tools,
        fs,
    };
    propose(plan, failure, diagnosis, &facts)
}

pub(super) fn ids(proposals: &[Proposal]) -> Vec<RepairId> {
    proposals.iter().map(|p| p.id).collect()
}

/// The plan's text after a proposal's edits.
pub(super) fn edited(plan: &Plan, proposal: &Proposal) -> String {
    let source = jelly_plan::apply(&plan.source, &proposal.edits).unwrap();
    source.text.to_string()
}

const FILES: &str = r#"version: 1
vars: { dir: "/srv/data", env: "${env:SECRET}" }
servers:
  files:
    command: npx
    args: [-y, "@modelcontextprotocol/server-filesystem", "/srv/data"]
steps:
  - { id: plain, server: files, tool: write_file, args: { path: "/srv/data/a.txt" } }
  - { id: deep, server: files, tool: read_file, args: { paths: ["/srv/data", "/srv/data/./b/${name}"], n: 1 }, capture: { x: "$.x" } }
  - { id: var, server: files, tool: read_file, args: { path: "${dir}/a.txt" } }
  - { id: near, server: files, tool: read_file, args: { path: "/srv/data2/a.txt", q: "see /srv/data" } }
  - { id: climbs, server: files, tool: read_file, args: { path: "/srv/data/../data/x", up: "/srv/data/../other" } }
  - { id: wants_error, server: files, tool: read_file, args: { path: "/srv/data/no" }, expect: { is_error: true } }
"#;

fn files() -> Plan {
    plan(&FILES.replace("${name}", "$${name}"))
}

#[test]
fn a_missing_folder_outside_is_replaced_and_the_steps_move_along() {
    let plan = files();
    let failure = says("Error accessing directory /srv/data: ENOENT");
    let found = proposals(&plan, &failure, "missing_directory", &FakeFs::new());
    assert_eq!(ids(&found), [RepairId::FilesystemWorkspace]);
    let text = edited(&plan, &found[0]);
    let new = "${workspace}/.mcp/filesystem";
    for line in [
        format!(r#"server-filesystem", "{new}"]"#),
        format!("{new}/a.txt"),
        format!("{new}/b/$${{name}}"),
        format!("{new}/x"),
        "/srv/data2/a.txt".to_owned(),
        "see /srv/data".to_owned(),
        "/srv/data/../other".to_owned(),
        "path: \"/srv/data/no\"".to_owned(),
        "dir: \"/srv/data\"".to_owned(),
    ] {
        assert!(text.contains(&line), "{line} in {text}");
    }
    assert_eq!(text.matches(&format!("{new}/a.txt")).count(), 2);
    assert_eq!(
        found[0].create_dirs,
        [Path::new(PROJECT).join(".mcp/filesystem")]
    );
    assert_eq!(found[0].steps_touched, ["plain", "deep", "var", "climbs"]);
    assert_eq!(found[0].servers_touched, ["files"]);
    assert!(!found[0].contract);
}

#[test]
fn the_folder_of_a_package_is_replaced_where_it_is_given() {
    let command = "    command: npx\n    args: [-y, \"@modelcontextprotocol/server-filesystem\", \"/srv/data\"]\n";
    let package = "    package: { registry: npm, identifier: f, version: \"1\", package_arguments: [{ type: positional, value_hint: dir, is_repeated: true }] }\n    package_args: { dir: [/tmp, /srv/data] }\n";
    let text = FILES.replace("${name}", "x").replace(command, package);
    let plan = plan(&text);
    let failure = says("Error accessing directory /srv/data: ENOENT");
    let found = proposals(&plan, &failure, "missing_directory", &FakeFs::new());
    assert_eq!(ids(&found), [RepairId::FilesystemWorkspace]);
    let after = edited(&plan, &found[0]);
    let line = "package_args: { dir: [/tmp, \"${workspace}/.mcp/filesystem\"] }";
    assert!(after.contains(line), "{after}");
}

#[test]
fn a_missing_folder_inside_is_created_first() {
    let text = FILES.replace("/srv/data", "${workspace}/data");
    let plan = plan(&text.replace("${name}", "x"));
    let said = format!("Error accessing directory {PROJECT}/data: ENOENT");
    let found = proposals(&plan, &says(&said), "missing_directory", &FakeFs::new());
    assert_eq!(
        ids(&found),
        [RepairId::CreateDirectory, RepairId::FilesystemWorkspace]
    );
    assert_eq!(found[0].create_dirs, [Path::new(PROJECT).join("data")]);
    assert!(found[0].edits.is_empty());
    assert_eq!(found[0].servers_touched, ["files"]);
    assert!(edited(&plan, &found[1]).contains("path: \"${workspace}/.mcp/filesystem/a.txt\""));
}

#[test]
fn a_folder_is_not_replaced_without_need() {
    let plan = files();
    let missing = || says("Error accessing directory /srv/data: ENOENT");
    let new = format!("{PROJECT}/.mcp/filesystem");
    let none: [(Failure, &str, FakeFs); 7] = [
        // Nobody speaks of it.
        (says("ENOENT"), "missing_directory", FakeFs::new()),
        (
            says("/srv/data2: ENOENT"),
            "missing_directory",
            FakeFs::new(),
        ),
        // It is there.
        (
            missing(),
            "missing_directory",
            FakeFs::new().dir("/srv/data", true),
        ),
        // Something else is the matter.
        (missing(), "missing_module", FakeFs::new()),
        // It may be the server's own program.
        (
            missing(),
            "permission_denied",
            FakeFs::new().file("/srv/data"),
        ),
        // A file is in the way of the new one.
        (missing(), "missing_directory", FakeFs::new().file(&new)),
        (
            missing(),
            "missing_directory",
            FakeFs::new().dir(&new, false),
        ),
    ];
    for (failure, cause, fs) in none {
        let found = proposals(&plan, &failure, cause, &fs);
        assert!(found.is_empty(), "{failure:?} {found:?}");
    }
}

#[test]
fn a_folder_that_is_no_folder_or_can_not_be_written_to_is_replaced() {
    let plan = files();
    let cases = [
        (
            says("EACCES: permission denied, open '/srv/data/a.txt'"),
            "permission_denied",
            FakeFs::new().dir("/srv/data", false),
        ),
        (
            says("Error: /srv/data is not a directory"),
            "invalid_argument",
            FakeFs::new().file("/srv/data"),
        ),
        (
            says("EACCES: permission denied, mkdir '/srv/data'"),
            "permission_denied",
            FakeFs::new(),
        ),
    ];
    for (failure, cause, fs) in cases {
        let found = proposals(&plan, &failure, cause, &fs);
        assert_eq!(ids(&found), [RepairId::FilesystemWorkspace], "{failure:?}");
    }
}

#[test]
fn an_expectation_that_names_the_folder_keeps_it_where_it_is() {
    for expected in ["/srv/data", "in ${dir}/a.txt", "${env}"] {
        let text = FILES.replace("${name}", "x").replace(
            "args: { path: \"/srv/data/a.txt\" } }",
            &format!("args: {{ path: /x }}, expect: {{ text: {{ contains: \"{expected}\" }} }} }}"),
        );
        let plan = plan(&text);
        let failure = says("Error accessing directory /srv/data: ENOENT");
        let found = proposals(&plan, &failure, "missing_directory", &FakeFs::new());
        assert!(found.is_empty(), "{expected}");
    }
}

#[test]
fn a_snapshot_that_names_the_folder_keeps_it_where_it_is() {
    let text = FILES.replace("${name}", "x").replace(
        "args: { path: \"/srv/data/a.txt\" } }",
        "args: { path: /x }, expect: { text: { snapshot: seen } } }",
    );
    let plan = plan(&text);
    let failure = says("Error accessing directory /srv/data: ENOENT");
    let mut fs = FakeFs::new();
    let mut stored = |text: &str| {
        let path = PathBuf::from("snapshots/plan/seen.snap");
        fs.texts.insert(path, text.to_owned());
        ids(&proposals(&plan, &failure, "missing_directory", &fs))
    };
    assert_eq!(stored("in /srv/other"), [RepairId::FilesystemWorkspace]);
    assert_eq!(stored("in /srv/data/a.txt"), []);
}

#[test]
fn an_answer_or_a_notification_that_names_the_folder_keeps_it_too() {
    let answer = "answers: [{ method: roots/list, result: { roots: [{ uri: 'file:///x', name: /srv/data }] } }]";
    let asked = "answers: [{ method: roots/list, expect: [{ path: $.a, equals: /srv/data }], result: { roots: [] } }]";
    let told = "expect: { notifications: [{ method: a/b, json: [{ path: $.uri, equals: /srv/data/x }] }] }";
    for more in [answer, asked, told] {
        let text = FILES.replace("${name}", "x").replace(
            "args: { path: \"/srv/data/a.txt\" } }",
            &format!("args: {{ path: /x }}, {more} }}"),
        );
        let plan = plan(&text);
        let failure = says("Error accessing directory /srv/data: ENOENT");
        let found = proposals(&plan, &failure, "missing_directory", &FakeFs::new());
        assert!(found.is_empty(), "{more}");
    }
}

#[test]
fn a_flag_with_a_path_keeps_its_flag_and_the_new_folder_is_not_replaced_again() {
    let text = |path: &str| {
        format!(
            "version: 1\nservers:\n  files: {{ command: srv, args: [\"--root={path}\"] }}\nsteps:\n  - {{ id: a, server: files, tool: t }}\n"
        )
    };
    let plan_before = plan(&text("/srv/data"));
    let failure = says("no such folder: /srv/data");
    let found = proposals(&plan_before, &failure, "missing_directory", &FakeFs::new());
    let after = edited(&plan_before, &found[0]);
    assert!(after.contains("--root=${workspace}/.mcp/filesystem"));

    let plan_after = plan(&text("${workspace}/.mcp/filesystem"));
    let failure = says(&format!("no such folder: {PROJECT}/.mcp/filesystem"));
    let found = proposals(&plan_after, &failure, "missing_directory", &FakeFs::new());
    assert_eq!(ids(&found), [RepairId::CreateDirectory]);
}

#[test]
fn secrets_are_not_spelled_out_in_a_rewritten_path() {
    let text = "version: 1\nservers:\n  files: { command: srv, args: [\"/srv\"] }\nsteps:\n  - { id: a, server: files, tool: t, args: { path: \"${secret:SECRET}/x\" } }\n";
    let plan = plan(text);
    let found = proposals(
        &plan,
        &says("no such folder: /srv"),
        "missing_directory",
        &FakeFs::new(),
    );
    // `/srv/data` lies below `/srv`, but only the secret says so.
    assert!(edited(&plan, &found[0]).contains("${secret:SECRET}/x"));
    assert!(found[0].steps_touched.is_empty());
}

#[test]
fn no_empty_folder_stands_in_for_a_repository() {
    for path in ["/srv/data", "${workspace}/data"] {
        let plan = plan(&FILES.replace("/srv/data", path).replace("${name}", "x"));
        let path = path.replace("${workspace}", PROJECT);
        for (words, is_mended) in [("folder", true), ("valid Git repository", false)] {
            let failure = says(&format!("{path} is no {words}, or does not exist"));
            let found = proposals(&plan, &failure, "missing_directory", &FakeFs::new());
            assert_eq!(!found.is_empty(), is_mended, "{path}: {words}: {found:?}");
        }
    }
}

#[test]
fn a_link_that_leads_out_of_the_project_creates_nothing() {
    let text = FILES.replace("/srv/data", "${workspace}/link/data");
    let plan = plan(&text.replace("${name}", "x"));
    let fs = FakeFs::new()
        .link(&format!("{PROJECT}/link"), "/etc")
        .dir("/etc", true);
    let failure = says(&format!("ENOENT: {PROJECT}/link/data"));
    let found = proposals(&plan, &failure, "missing_directory", &fs);
    assert!(!ids(&found).contains(&RepairId::CreateDirectory));

    let fs = FakeFs::new()
        .link(&format!("{PROJECT}/.mcp"), "/etc")
        .dir("/etc", true);
    let found = proposals(
        &files(),
        &says("ENOENT: /srv/data"),
        "missing_directory",
        &fs,
    );
    assert!(found.is_empty());
}

#[test]
fn a_missing_working_directory_inside_is_created() {
    let text = "version: 1\nservers:\n  files: { command: srv, cwd: work/here }\nsteps:\n  - { id: a, server: files, tool: t }\n";
    let failure = Failure {
        phase: Some(Phase::Config),
        server: Some("files".into()),
        issue: Some(PlanIssue::MissingDirectory {
            path: format!("{PROJECT}/work/here"),
        }),
        ..Failure::default()
    };
    let found = proposals(&plan(text), &failure, "missing_directory", &FakeFs::new());
    assert_eq!(ids(&found), [RepairId::CreateDirectory]);
    assert_eq!(found[0].create_dirs, [Path::new(PROJECT).join("work/here")]);
    // An empty folder has none of what these are started from.
    for command in [
        "command: node, args: [dist/index.js]",
        "command: ./server",
        "command: node, args: [.]",
        "command: npm, args: [start]",
        "command: /usr/bin/make, args: [serve]",
    ] {
        let found = proposals(
            &plan(&text.replace("command: srv", command)),
            &failure,
            "missing_directory",
            &FakeFs::new(),
        );
        assert!(found.is_empty(), "{command}");
    }
    let outside = text.replace("work/here", "../elsewhere");
    let found = proposals(
        &plan(&outside),
        &failure,
        "missing_directory",
        &FakeFs::new(),
    );
    assert!(found.is_empty());
}

#[test]
fn the_folder_that_a_steps_path_lacks_is_created() {
    let text = "version: 1\nservers:\n  files: { command: srv, args: [\"${workspace}\"] }\nsteps:\n  - { id: a, server: files, tool: t, args: { path: \"${workspace}/sub/deep/a.txt\" } }\n";
    let failed = |said: String| Failure {
        phase: Some(Phase::Assert),
        server: Some("files".into()),
        step: Some("a".into()),
        tool_result: Some(ToolResult {
            is_error: true,
            text: said,
            structured_content: None,
        }),
        ..Failure::default()
    };
    for said in [
        format!("Parent directory does not exist: {PROJECT}/sub/deep"),
        format!("ENOENT: no such file or directory, open '{PROJECT}/sub/deep/a.txt'"),
    ] {
        let found = proposals(
            &plan(text),
            &failed(said),
            "missing_directory",
            &FakeFs::new(),
        );
        assert_eq!(ids(&found), [RepairId::CreateDirectory]);
        assert_eq!(found[0].create_dirs, [Path::new(PROJECT).join("sub/deep")]);
        assert_eq!(found[0].steps_touched, ["a"]);
        assert_eq!(found[0].target, "steps.a");
    }
    // What is missing is a file, and no folder is made in its name.
    let fs = FakeFs::new()
        .dir(&format!("{PROJECT}/sub"), true)
        .dir(&format!("{PROJECT}/sub/deep"), true);
    let said = format!("ENOENT: open '{PROJECT}/sub/deep/a.txt'");
    assert!(proposals(&plan(text), &failed(said), "missing_directory", &fs).is_empty());
}

const NAMES: &str = r#"version: 1
servers:
  files: { command: srv }
steps:
  - { id: a, server: files, tool: read_fil, args: { pth: x, content: "5", deep: { list: ["true"] } } }
  - { id: b, server: flies, tool: t }
  - { id: c, server: flies, tool: t, expect: { is_error: true } }
  - { id: d, server: files, tool: nope, expect: { error: { message: { contains: unknown } } } }
"#;

fn unknown_tool(candidates: &[&str]) -> PlanIssue {
    PlanIssue::UnknownTool {
        name: "read_fil".into(),
        candidates: candidates.iter().map(|c| (*c).to_owned()).collect(),
    }
}

#[test]
fn the_one_close_name_is_used() {
    let plan = plan(NAMES);
    let cases = [
        (
            issue("a", unknown_tool(&["read_file"])),
            RepairId::RenameTool,
            "tool: read_file,",
        ),
        (
            issue(
                "b",
                PlanIssue::UnknownServer {
                    name: "flies".into(),
                    candidates: vec!["files".into()],
                },
            ),
            RepairId::RenameServer,
            "id: b, server: files",
        ),
        (
            issue(
                "a",
                PlanIssue::UnknownArgument {
                    tool: "t".into(),
                    name: "pth".into(),
                    candidates: vec!["path".into()],
                },
            ),
            RepairId::RenameArgument,
            "path: x",
        ),
    ];
    for (failure, id, becomes) in cases {
        let found = proposals(&plan, &failure, "unknown_tool", &FakeFs::new());
        assert_eq!(ids(&found), [id]);
        let text = edited(&plan, &found[0]);
        assert!(text.contains(becomes), "{text}");
        // The step that expects an error is sent as written.
        assert!(text.contains("id: c, server: flies"));
        assert!(found[0].contract);
    }
}

#[test]
fn no_name_or_two_are_never_guessed_but_quarantined() {
    let plan = plan(NAMES);
    for candidates in [&[][..], &["read_file", "read_fit"][..]] {
        let failure = issue("a", unknown_tool(candidates));
        let found = proposals(&plan, &failure, "unknown_tool", &FakeFs::new());
        assert_eq!(ids(&found), [RepairId::QuarantineStep]);
        assert_eq!(found[0].quarantine, ["a"]);
        assert!(found[0].edits.is_empty() && !found[0].contract);
    }
    let failure = issue(
        "b",
        PlanIssue::UnknownServer {
            name: "flies".into(),
            candidates: vec![],
        },
    );
    let found = proposals(&plan, &failure, "server_not_configured", &FakeFs::new());
    assert_eq!(ids(&found), [RepairId::QuarantineStep]);
    assert_eq!(found[0].quarantine, ["b"]);
    let failure = issue(
        "a",
        PlanIssue::UnknownArgument {
            tool: "t".into(),
            name: "pth".into(),
            candidates: vec![],
        },
    );
    assert!(proposals(&plan, &failure, "invalid_params", &FakeFs::new()).is_empty());
}

#[test]
fn a_name_that_only_the_answer_calls_unknown_must_be_missing_in_the_list() {
    let plan = plan(NAMES);
    let failure = |step: &str| Failure {
        phase: Some(Phase::Call),
        server: Some("files".into()),
        step: Some(step.into()),
        ..Failure::default()
    };
    let found = proposals(&plan, &failure("a"), "unknown_tool", &FakeFs::new());
    assert_eq!(ids(&found), [RepairId::RenameTool]);
    let listed = super::tests::plan(&NAMES.replace("read_fil,", "read_file,"));
    assert!(proposals(&listed, &failure("a"), "unknown_tool", &FakeFs::new()).is_empty());
    assert!(proposals(&plan, &failure("a"), "invalid_params", &FakeFs::new()).is_empty());
}

#[test]
fn a_step_that_expects_an_error_is_never_touched() {
    let plan = plan(NAMES);
    for step in ["c", "d"] {
        for kind in [
            unknown_tool(&["read_file"]),
            unknown_tool(&[]),
            PlanIssue::ArgumentType {
                tool: "t".into(),
                pointer: "/x".into(),
                expected: vec!["integer".into()],
                actual: "string".into(),
            },
        ] {
            let found = proposals(&plan, &issue(step, kind), "unknown_tool", &FakeFs::new());
            assert!(found.is_empty(), "{found:?}");
        }
    }
}

/// A step that is written once for several cases: an edit is made where all of
/// them agree, and touches all; what one case says is not put into the others.
#[test]
fn what_cases_share_is_repaired_for_all_of_them_and_nothing_else_is() {
    let text = "version: 1
servers: { files: { command: srv } }
steps:
  - id: a
    server: files
    tool: read_fil
    cases: [{ name: x, n: '5', wrong: false }, { name: y, n: b, wrong: false }]
    args: { n: '${n}', m: '7', deep: { of: 'n${n}' } }
    expect: { is_error: '${wrong}' }
";
    let coerced = |pointer: &str| PlanIssue::ArgumentType {
        tool: "t".into(),
        pointer: pointer.into(),
        expected: vec!["integer".into()],
        actual: "string".into(),
    };
    let found = |text: &str, kind: PlanIssue| {
        let plan = plan(text);
        let found = proposals(
            &plan,
            &issue("a[x]", kind),
            "invalid_params",
            &FakeFs::new(),
        );
        found
            .first()
            .map(|found| (edited(&plan, found), found.steps_touched.clone()))
    };
    let (after, touched) = found(text, coerced("/m")).unwrap();
    assert!(after.contains("m: 7"), "{after}");
    assert_eq!(touched, ["a[x]", "a[y]"]);
    assert_eq!(found(text, coerced("/n")), None);
    let (after, touched) = found(text, unknown_tool(&["read_file"])).unwrap();
    assert!(after.contains("tool: read_file\n"), "{after}");
    assert_eq!(touched, ["a[x]", "a[y]"]);
    // One of them expects an error, and is sent as it is written.
    let wrong = text.replace("n: b, wrong: false", "n: b, wrong: true");
    assert_eq!(found(&wrong, unknown_tool(&["read_file"])), None);
}

#[test]
fn an_argument_is_converted_without_loss() {
    let plan = plan(NAMES);
    let cases = [
        ("/content", "integer", "content: 5", "steps.a.args.content"),
        (
            "/deep/list/0",
            "boolean",
            "[true]",
            "steps.a.args.deep.list.0",
        ),
    ];
    for (pointer, wanted, becomes, target) in cases {
        let failure = issue(
            "a",
            PlanIssue::ArgumentType {
                tool: "t".into(),
                pointer: pointer.into(),
                expected: vec!["null".into(), wanted.into()],
                actual: "string".into(),
            },
        );
        let found = proposals(&plan, &failure, "invalid_params", &FakeFs::new());
        assert_eq!(ids(&found), [RepairId::CoerceArgument]);
        assert_eq!(found[0].target, target);
        assert!(found[0].contract);
        let text = edited(&plan, &found[0]);
        assert!(text.contains(becomes), "{text}");
    }
}

#[test]
fn a_limit_is_doubled_for_a_server_that_showed_life_up_to_the_cap() {
    let text = "version: 1\nservers:\n  files: { command: srv, startup_timeout: 200s, request_timeout: 750ms }\nsteps:\n  - { id: a, server: files, tool: t }\n  - { id: b, server: files, tool: t, timeout: 2s }\n  - { id: e, server: files, tool: t, expect: { is_error: true } }\n";
    let plan = plan(text);
    let ran_out = |phase: Phase, step: Option<&str>, life: Option<bool>| Failure {
        phase: Some(phase),
        server: Some("files".into()),
        step: step.map(str::to_owned),
        outcome: Some(Outcome::Timeout),
        showed_life: life,
        ..Failure::default()
    };
    let cases = [
        (Phase::Handshake, None, "startup_timeout: 300s", false),
        (Phase::List, None, "startup_timeout: 300s", false),
        (Phase::Call, Some("a"), "request_timeout: 1500ms", true),
        (Phase::Call, Some("b"), "timeout: 4s", true),
    ];
    for (phase, step, becomes, contract) in cases {
        let found = proposals(
            &plan,
            &ran_out(phase, step, Some(true)),
            "x",
            &FakeFs::new(),
        );
        assert_eq!(ids(&found), [RepairId::RaiseTimeout]);
        assert_eq!(found[0].contract, contract);
        let text = edited(&plan, &found[0]);
        assert!(text.contains(becomes), "{text}");
        for life in [Some(false), None] {
            let failure = ran_out(phase, step, life);
            assert!(proposals(&plan, &failure, "x", &FakeFs::new()).is_empty());
        }
    }
    for failure in [
        ran_out(Phase::Call, Some("e"), Some(true)),
        ran_out(Phase::Assert, Some("a"), Some(true)),
    ] {
        assert!(proposals(&plan, &failure, "x", &FakeFs::new()).is_empty());
    }
    let capped = super::tests::plan(&text.replace("200s", "5m"));
    let failure = ran_out(Phase::Handshake, None, Some(true));
    assert!(proposals(&capped, &failure, "x", &FakeFs::new()).is_empty());
    // More time gives nobody the variable that is missing.
    let other = diagnosis("missing_env_var");
    assert!(proposals_of(&plan, &failure, &other, &FakeFs::new()).is_empty());
    // A limit that the plan does not name is written into it.
    let unnamed = super::tests::plan(&text.replace("startup_timeout: 200s, ", ""));
    let found = proposals(&unnamed, &failure, "x", &FakeFs::new());
    assert!(edited(&unnamed, &found[0]).contains("startup_timeout: 60s"));
}

#[test]
fn another_port_is_taken_where_the_plan_leaves_the_choice() {
    for (arg, applies) in [
        ("--port=${port}", true),
        ("--port=${port:files}", true),
        ("--port=${port:other}", false),
        ("--port=8080", false),
    ] {
        let text = format!(
            "version: 1\nservers:\n  files: {{ command: srv, args: [\"{arg}\"] }}\n  other: {{ command: srv, args: [\"${{port}}\"] }}\nsteps:\n  - {{ id: a, server: files, tool: t }}\n"
        );
        let plan = plan(&text);
        let found = proposals(&plan, &says("EADDRINUSE"), "port_in_use", &FakeFs::new());
        assert_eq!(found.len(), usize::from(applies), "{arg}");
        assert!(found.iter().all(|p| p.new_ports_for == ["files"]));
        assert!(proposals(&plan, &says("EADDRINUSE"), "x", &FakeFs::new()).is_empty());
    }
}

#[test]
fn a_code_side_failure_has_no_repair() {
    let plan = files();
    let scope = Scope::default();
    let fs = FakeFs::new();
    let facts = Facts {
        project_dir: Path::new(PROJECT),
        scope: &scope,
        steps: &plan.steps_by_id(),
        tools: &[],
        fs: &fs,
    };
    let mut diagnosis = diagnosis("missing_directory");
    diagnosis.side = Side::Code;
    let failure = says("Error accessing directory /srv/data: ENOENT");
    assert!(propose(&plan, &failure, &diagnosis, &facts).is_empty());
}

#[test]
fn the_names_of_repairs_are_a_contract() {
    let names: Vec<&str> = RepairId::ALL.iter().map(|id| id.name()).collect();
    assert_eq!(
        names,
        [
            "create_directory",
            "filesystem_workspace",
            "required_argument",
            "rename_server",
            "rename_tool",
            "rename_argument",
            "coerce_argument",
            "quarantine_step",
            "raise_timeout",
            "free_port"
        ]
    );
}

fn component() -> impl Strategy<Value = &'static str> {
    prop_oneof![
        Just("srv"),
        Just("data"),
        Just(".."),
        Just("."),
        Just("a.txt"),
        Just("${workspace}"),
        Just("${dir}"),
        Just("link"),
        Just(""),
    ]
}

fn path() -> impl Strategy<Value = String> {
    (any::<bool>(), proptest::collection::vec(component(), 1..5)).prop_map(|(rooted, parts)| {
        let head = if rooted { "/" } else { "" };
        format!("{head}{}", parts.join("/"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 400, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn no_repair_leaves_the_project_nor_touches_an_expectation_nor_a_step_that_wants_an_error(
        arg in path(),
        of_step in path(),
        expected in path(),
        said in path(),
        cause in prop_oneof![Just("missing_directory"), Just("permission_denied"), Just("unknown_tool")],
        writable in any::<bool>(),
        expects in any::<bool>(),
    ) {
        let text = json!({
            "version": 1,
            "vars": { "dir": "/srv/data" },
            "servers": { "files": { "command": "srv", "args": [arg], "cwd": said } },
            "steps": [
                { "id": "a", "server": "files", "tool": "read_fil", "args": { "path": of_step, "more": [of_step] },
                  "expect": if expects { json!({ "text": { "contains": expected } }) } else { json!({}) } },
                { "id": "e", "server": "files", "tool": "read_fil", "args": { "path": of_step },
                  "expect": { "is_error": true, "text": { "contains": expected } } },
            ],
        });
        let source = PlanSource { path: "plan.json".into(), text: text.to_string().into(), variant: None, };
        let Ok(plan) = jelly_plan::load(source) else { return Ok(()) };
        let fs = FakeFs::new()
            .dir("/srv", writable)
            .link(&format!("{PROJECT}/link"), "/etc");
        let resolved = said.replace("${workspace}", PROJECT).replace("${dir}", "/srv/data");
        for step in [None, Some("a"), Some("e")] {
            let failure = Failure {
                step: step.map(str::to_owned),
                stderr: Some(format!("'{resolved}' '/srv/data' '{PROJECT}/data' '/srv'")),
                ..says("")
            };
            for proposal in proposals(&plan, &failure, cause, &fs) {
                prop_assert!(proposal.changes_something());
                for dir in &proposal.create_dirs {
                    let real = fs.resolve(dir).unwrap();
                    prop_assert!(real.starts_with(PROJECT) && dir.starts_with(PROJECT));
                    prop_assert!(real != Path::new(PROJECT));
                    let climbs = dir.components().any(|c| c == std::path::Component::ParentDir);
                    prop_assert!(!climbs);
                }
                for edit in &proposal.edits {
                    let at = edit.path().to_string();
                    prop_assert!(!at.contains("expect"), "{}", at);
                    prop_assert!(!at.starts_with("steps[1]"), "{}", at);
                    if let PlanEdit::Set { value, .. } = edit {
                        let value = value.as_str().unwrap_or_default();
                        prop_assert!(!value.contains(".."), "{}", value);
                    }
                }
                if !proposal.edits.is_empty() {
                    let after = jelly_plan::apply(&plan.source, &proposal.edits).unwrap();
                    prop_assert!(after.text != plan.source.text);
                    prop_assert!(jelly_plan::load(after).is_ok());
                }
                let untouched = !proposal.steps_touched.contains(&"e".to_owned());
                prop_assert!(untouched && proposal.quarantine.iter().all(|id| id != "e"));
            }
        }
    }
}
