//! Which tests a command may run together, where several reports were read.
//!
//! A command runs tests of one project, in its folder, and of a project nothing
//! is known but where its reports lie: those of one folder are taken for reports
//! of one project, unless a test stands in two of them. So are the legs of a
//! matrix kept apart, too, and what different programs report.

use super::target::Target;
use crate::frameworks::of_writer;
use jelly_base::model::{ReportLabels, ReportSummary};
use std::collections::{BTreeSet, HashMap, HashSet};
use std::path::{Path, PathBuf};

/// Folders around the one where jelly runs: frameworks name files from the root of their project,
/// which may be run from below.
const ABOVE: [&str; 3] = ["..", "../..", "../../.."];

/// Whether a path is a file where jelly runs.
pub(super) type IsFile = fn(&Path) -> bool;

/// A test to be run again.
pub(super) struct RetriedTest<'f> {
    pub(super) report: &'f str,
    /// On one line.
    pub(super) id: String,
    /// How its framework selects it, where that is known.
    pub(super) target: Option<Target>,
}

impl RetriedTest<'_> {
    fn module(&self) -> Option<&str> {
        self.target.as_ref()?.module.as_deref()
    }
}

/// Where tests come from: a report, or the folder of several.
pub(super) struct Origins<'r> {
    /// By the path of a report, its origin, if there are others of its writer.
    apart: HashMap<&'r str, &'r str>,
    /// By the path of a report, its origin, whether or not there are others.
    all: HashMap<&'r str, &'r str>,
    labels: ReportLabels<'r>,
    /// Commands name several modules.
    are_modules: bool,
}

impl<'r> Origins<'r> {
    pub(super) fn new(reports: &'r [ReportSummary], tests: &[RetriedTest<'_>]) -> Self {
        let counted = || reports.iter().filter(|report| report.same_as.is_none());
        let mut in_folders: HashMap<&str, BTreeSet<&str>> = HashMap::new();
        let mut of_dialects: HashMap<&str, BTreeSet<&str>> = HashMap::new();
        for report in counted() {
            let folder = folder_of(&report.path);
            in_folders.entry(folder).or_default().insert(&report.path);
            of_dialects
                .entry(&report.dialect)
                .or_default()
                .insert(folder);
        }
        let mut repeated = repeated(reports, tests);
        let of_programs: Vec<&ReportSummary> = counted().filter(is_of_program).collect();
        if of_programs.len() > 1 {
            repeated.extend(of_programs.iter().map(|report| report.path.as_str()));
        }
        let origin = |report: &'r ReportSummary| -> &'r str {
            let (path, folder) = (report.path.as_str(), folder_of(&report.path));
            let is_alone = in_folders.get(folder).is_none_or(|all| all.len() < 2);
            match is_alone || repeated.contains(path) {
                true => path,
                false => folder,
            }
        };
        let is_apart = |report: &&ReportSummary| {
            let folders = of_dialects.get(report.dialect.as_str());
            folders.is_some_and(|folders| folders.len() > 1)
                || repeated.contains(report.path.as_str())
        };
        let apart: HashMap<&str, &str> = counted()
            .filter(is_apart)
            .map(|report| (report.path.as_str(), origin(report)))
            .collect();
        let all = counted().map(|report| (report.path.as_str(), origin(report)));
        let all = all.collect();
        let labels = match apart.is_empty() {
            true => ReportLabels::default(),
            false => {
                let all: BTreeSet<&str> = counted().map(origin).collect();
                ReportLabels::of_paths(&all.into_iter().collect::<Vec<_>>())
            }
        };
        let modules: BTreeSet<&str> = tests.iter().filter_map(RetriedTest::module).collect();
        Self {
            apart,
            all,
            labels,
            are_modules: modules.len() > 1,
        }
    }

    /// Whose commands the test shares with no others; nothing where the commands
    /// name the project themselves.
    pub(super) fn of(&self, test: &RetriedTest<'_>) -> Option<&'r str> {
        match test.module() {
            Some(_) => None,
            None => self.all.get(test.report).copied(),
        }
    }

    /// Whether there are others, from which it is to be told.
    pub(super) fn is_apart(&self, origin: &str) -> bool {
        self.apart.values().any(|apart| *apart == origin)
    }

    /// What a list calls the origin of a test, where there are several.
    pub(super) fn label<'o>(&'o self, test: &'o RetriedTest<'_>) -> Option<&'o str> {
        match test.module() {
            Some(module) => self.are_modules.then_some(module),
            None => self.apart.get(test.report).map(|origin| self.name(origin)),
        }
    }

    /// An origin, as other outputs name reports.
    pub(super) fn name<'o>(&'o self, origin: &'o str) -> &'o str {
        let label = self.labels.of(origin).filter(|label| !label.is_empty());
        label.unwrap_or(origin)
    }
}

/// The innermost folder around the reports of an origin that has all of `files`.
pub(super) fn home(origin: &str, files: &BTreeSet<String>, is_file: IsFile) -> Option<PathBuf> {
    // A whole path is a file from wherever it is named.
    if files.is_empty() || files.iter().any(|file| Path::new(file).is_absolute()) {
        return None;
    }
    let has_all = |folder: &&Path| files.iter().all(|file| is_file(&folder.join(file)));
    let above = ABOVE.iter().map(|above| Path::new(*above));
    let is_here = !origin.is_empty() && Path::new(origin).is_relative();
    let mut folders = Path::new(origin)
        .ancestors()
        .chain(above.filter(|_| is_here));
    folders.find(has_all).map(Path::to_path_buf)
}

/// The folder around an origin in which a program finds its project, where its command names no
/// file: the nearest one that has what the program looks for.
pub(super) fn project(origin: &str, program: &str, is_file: IsFile) -> Option<PathBuf> {
    let markers = builds_of(program)?;
    let mut folders = Path::new(origin).ancestors();
    let has_it = |folder: &&Path| markers.iter().any(|marker| is_file(&folder.join(marker)));
    folders.find(has_it).map(Path::to_path_buf)
}

/// The files by which a program knows the folder of a project.
pub(super) fn builds_of(program: &str) -> Option<&'static [&'static str]> {
    Some(match program {
        "cargo" => &["Cargo.toml"],
        "go" => &["go.mod"],
        "npx" | "npm" | "pnpm" | "yarn" => &["package.json"],
        "mvn" => &["pom.xml"],
        "./gradlew" | "gradle" => &[
            "settings.gradle",
            "settings.gradle.kts",
            "build.gradle",
            "build.gradle.kts",
        ],
        "python" => &["manage.py"],
        "vendor/bin/phpunit" => &["phpunit.xml", "phpunit.xml.dist", "phpunit.dist.xml"],
        _ => return None,
    })
}

fn folder_of(path: &str) -> &str {
    match path.rfind(['/', '\\']) {
        Some(0) => "/",
        Some(at) => &path[..at],
        None => ".",
    }
}

fn is_of_program(report: &&ReportSummary) -> bool {
    of_writer(&report.dialect).is_some_and(|framework| framework.rerun.each_report)
}

/// The reports of one writer and folder that have a test in common.
fn repeated<'r>(reports: &'r [ReportSummary], tests: &[RetriedTest<'_>]) -> HashSet<&'r str> {
    let known: HashMap<&str, &ReportSummary> = reports
        .iter()
        .map(|report| (report.path.as_str(), report))
        .collect();
    let mut firsts: HashMap<(&str, &str, &str), &'r str> = HashMap::new();
    let mut repeated = HashSet::new();
    for test in tests.iter().filter(|test| test.module().is_none()) {
        if let Some(report) = known.get(test.report) {
            let path = report.path.as_str();
            let key = (folder_of(path), report.dialect.as_str(), test.id.as_str());
            let first = *firsts.entry(key).or_insert(path);
            if first != path {
                repeated.extend([first, path]);
            }
        }
    }
    repeated
}
