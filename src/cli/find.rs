//! What was typed → the reports that are meant: files, folders, globs, stdin,
//! and the usual places where nothing was typed.

use super::refusal::{Refusal, complain};
use jelly_base::text::{WordList, first_names};
use jelly_triage::junit::is_configuration;
use jelly_triage::survey::{Input, ReportSource};
use std::collections::BTreeSet;
use std::fs::{self, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// Where test frameworks leave their reports, and what projects and templates of CI services
/// call them: of these only what holds test results is taken.
const USUAL: WordList = WordList(
    "**/TEST-*.xml **/build/test-results/**/*.xml **/target/surefire-reports/*.xml \
     **/target/failsafe-reports/*.xml **/target/nextest/*/junit.xml **/junit.xml **/junit-*.xml \
     **/junit_*.xml **/*-junit.xml **/*.junit.xml **/test-results.xml **/test-report.xml \
     **/nosetests.xml **/xunit.xml **/report.xml **/results.xml **/result.xml **/tests.xml \
     **/test.xml **/test_results.xml **/test_report.xml **/pytest.xml **/unittest.xml \
     **/rspec.xml **/minitest.xml **/phpunit.xml **/jest.xml **/vitest.xml **/mocha.xml \
     **/karma.xml **/cypress.xml **/playwright.xml **/ctest.xml **/gtest.xml **/behave.xml \
     **/*-results.xml **/*_results.xml **/*-report.xml **/*_report.xml **/*-tests.xml \
     **/*_tests.xml **/*-test.xml **/*_test.xml **/test-results/**/*.xml **/test-reports/**/*.xml \
     **/TestResults/**/*.xml **/test_output/**/*.xml **/*.junit \
     **/spec/reports/**/*.xml **/cypress/results/**/*.xml **/cypress/reports/**/*.xml \
     **/reports/junit/**/*.xml **/reports/tests/**/*.xml **/build/reports/**/*.xml \
     **/reports/*.xml **/junit/**/*.xml **/junit-results/**/*.xml **/junit_results/**/*.xml \
     **/junit-reports/**/*.xml **/junit-report/**/*.xml **/junit_reports/**/*.xml \
     **/junitreports/*.xml **/test_results/**/*.xml **/test_reports/**/*.xml **/testng-results.xml \
     **/gotest.xml **/go-test.xml **/unit.xml **/go-test.json **/gotest.json \
     **/unittests.xml **/test_detail.xml **/cucumber.xml **/cucumber-reports/**/*.xml **/TestResult.xml **/TestResults.xml **/.vitest/*.xml **/newman/*.xml **/*.trx **/*.tap \
     **/ctrf/*.json **/*ctrf*.json",
);

/// Bytes of a file that are looked at to see what it is.
const SNIFFED: u64 = 4096;
/// How the elements begin that hold test results.
const ROOTS: [&str; 7] = [
    "<testsuite",
    "<testrun",
    "<test-run",
    "<test-results",
    "<testng-results",
    "<assemblies",
    "<TestRun",
];
/// Files of which a note says that they are no reports.
const NOTED: usize = 5;
/// Folders inside each other that are entered.
const DEEPEST: usize = 64;
/// Reports of one call.
const MOST: usize = 100_000;

impl From<FindError> for Refusal {
    fn from(error: FindError) -> Self {
        Self::invalid(format!("error: failed to {error}"))
    }
}

/// Why what was typed leads to no report. Completes "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum FindError {
    #[error("find any report: {pattern} matches no file and no folder with a report")]
    NoMatch { pattern: String },
    #[error("find a report with an empty name: an argument is empty")]
    Nameless,
    #[error("read the pattern {pattern}: {problem}")]
    Pattern { pattern: String, problem: String },
    #[error("find any test report in the folder {}", path.display())]
    NoneInFolder { path: PathBuf },
    #[error("take in more than {MOST} reports at once")]
    TooMany,
}

/// The reports that `arguments` mean, each once, by name. What is given as a
/// file is taken as it is, be it there or not.
///
/// # Errors
/// A pattern or a folder that leads to nothing.
pub fn find(arguments: &[String]) -> Result<Vec<ReportSource>, FindError> {
    let mut found = FoundReports::default();
    for argument in arguments {
        if argument == "-" {
            found.add("-".to_owned(), Input::Stdin);
            continue;
        }
        if argument.is_empty() {
            return Err(FindError::Nameless);
        }
        let path = Path::new(argument);
        if path.is_dir() {
            if found.folder(path)? == 0 {
                found.tell_left_out();
                return Err(FindError::NoneInFolder {
                    path: path.to_owned(),
                });
            }
        } else if path.exists() || !argument.contains(['*', '?', '[']) {
            found.file(path);
        } else if !found.pattern(argument)? {
            return Err(FindError::NoMatch {
                pattern: argument.clone(),
            });
        }
        if found.sources.len() > MOST {
            return Err(FindError::TooMany);
        }
    }
    Ok(found.sorted())
}

/// The reports that lie in the usual places below the working directory.
#[must_use]
pub fn find_usual() -> Vec<ReportSource> {
    let mut found = FoundReports::default();
    let usual: Vec<glob::Pattern> = USUAL
        .words()
        .filter_map(|pattern| glob::Pattern::new(pattern).ok())
        .collect();
    let options = glob::MatchOptions {
        require_literal_separator: true,
        ..glob::MatchOptions::default()
    };
    for path in files_below(Path::new(".")) {
        let path = path.strip_prefix(".").unwrap_or(&path).to_path_buf();
        let unpacked = match path.extension() {
            Some(packed) if packed == "gz" => path.with_extension(""),
            Some(_) | None => path.clone(),
        };
        let is_usual = |pattern: &glob::Pattern| pattern.matches_path_with(&unpacked, options);
        if usual.iter().any(is_usual) {
            found.unnamed(&path);
        }
    }
    found.sorted()
}

#[derive(Default)]
struct FoundReports {
    sources: Vec<ReportSource>,
    seen: BTreeSet<PathBuf>,
    /// Configurations with the name of a report.
    left_out: Vec<String>,
}

impl FoundReports {
    fn add(&mut self, name: String, input: Input) {
        self.sources.push(ReportSource { name, input });
    }

    fn file(&mut self, path: &Path) {
        // The same file by two ways is one report.
        let real = path.canonicalize().unwrap_or_else(|_| path.to_owned());
        if self.seen.insert(real) {
            self.add(path.display().to_string(), Input::File(path.to_owned()));
        }
    }

    /// A file that nobody named: taken if it is a report. Whether it is one.
    fn unnamed(&mut self, path: &Path) -> bool {
        match look(path) {
            Look::Report => {
                self.file(path);
                true
            }
            Look::Configuration => {
                self.left_out.push(path.display().to_string());
                false
            }
            Look::Other => false,
        }
    }

    /// Says which configurations are called like a report, and were not taken for one.
    fn tell_left_out(&self) {
        if !self.left_out.is_empty() {
            let names = first_names(&self.left_out, self.left_out.len(), NOTED);
            complain(&format!(
                "note: left out, since it configures a test framework: {names}"
            ));
        }
    }

    /// How many reports lie in the folder, those included that are taken
    /// already.
    fn folder(&mut self, folder: &Path) -> Result<usize, FindError> {
        let mut count = 0;
        for path in files_below(folder) {
            if self.unnamed(&path) {
                count += 1;
            }
            if self.sources.len() > MOST {
                return Err(FindError::TooMany);
            }
        }
        Ok(count)
    }

    /// The files that the pattern names; where it names none, the reports of
    /// the folders that it names. Whether there are any.
    fn pattern(&mut self, pattern: &str) -> Result<bool, FindError> {
        let paths = glob::glob(pattern).map_err(|error| FindError::Pattern {
            pattern: pattern.to_owned(),
            problem: error.to_string(),
        })?;
        let mut count = 0;
        let mut folders = Vec::new();
        // What can't be looked into holds nothing that could be read either.
        for path in paths.flatten() {
            if path.is_file() {
                count += 1;
                self.file(&path);
            } else if path.is_dir() {
                folders.push(path);
            }
            if count > MOST || folders.len() > MOST {
                return Err(FindError::TooMany);
            }
        }
        if count > 0 {
            return Ok(true);
        }
        let mut any = false;
        for folder in folders {
            any |= self.folder(&folder)? > 0;
        }
        Ok(any)
    }

    fn sorted(mut self) -> Vec<ReportSource> {
        self.tell_left_out();
        self.sources.sort_by(|a, b| a.name.cmp(&b.name));
        self.sources
    }
}

/// Where Vitest puts its reports.
const OF_VITEST: &str = ".vitest";

/// All files below a folder, hidden folders and those of package managers left
/// out, links to folders not followed.
pub(super) fn files_below(folder: &Path) -> Vec<PathBuf> {
    let mut files = Vec::new();
    let mut open = vec![(folder.to_owned(), 0)];
    while let Some((folder, depth)) = open.pop() {
        let Ok(entries) = fs::read_dir(&folder) else {
            continue;
        };
        for entry in entries.flatten() {
            let name = entry.file_name();
            let name = name.to_string_lossy();
            let Ok(kind) = entry.file_type() else {
                continue;
            };
            let hidden = name.starts_with('.') && name != OF_VITEST;
            let other = hidden || name == "node_modules" || name == "__pycache__";
            if kind.is_dir() && !other && depth < DEEPEST {
                open.push((entry.path(), depth + 1));
            } else if kind.is_file() || kind.is_symlink() && entry.path().is_file() {
                files.push(entry.path());
            }
        }
        if files.len() > MOST * 10 {
            break;
        }
    }
    // By their bytes: comparing paths part by part takes longer than the walk.
    files.sort_by(|one, other| one.as_os_str().cmp(other.as_os_str()));
    files
}

/// What a file is that nobody named.
enum Look {
    Report,
    /// It is called like a report, and configures a framework.
    Configuration,
    Other,
}

/// Looks at a file that nobody named: by how it begins, or by its name, since an
/// empty report is one too.
fn look(path: &Path) -> Look {
    let name = path.file_name().unwrap_or_default().to_string_lossy();
    let name = name.to_ascii_lowercase();
    let head = || head_of(path).unwrap_or_default();
    if name.ends_with(".trx") || name.ends_with(".tap") {
        return Look::Report;
    }
    if name.ends_with(".json") {
        return match is_json_report(&String::from_utf8_lossy(&head())) {
            true => Look::Report,
            false => Look::Other,
        };
    }
    let Some(stem) = name
        .strip_suffix(".xml")
        .or_else(|| name.strip_suffix(".xml.gz"))
        .or_else(|| name.strip_suffix(".junit"))
    else {
        return Look::Other;
    };
    let head = head();
    let text = String::from_utf8_lossy(&head);
    let is_called_so = stem.starts_with("test-") || stem.contains("junit");
    if !is_called_so && !ROOTS.iter().any(|root| text.contains(root)) {
        return Look::Other;
    }
    match is_configuration(&head) {
        true => Look::Configuration,
        false => Look::Report,
    }
}

/// How a file begins; nothing where it can't be read.
fn head_of(path: &Path) -> Option<Vec<u8>> {
    let mut head = Vec::new();
    let file = File::open(path).ok()?;
    file.take(SNIFFED).read_to_end(&mut head).ok()?;
    Some(head)
}

/// Whether JSON is of CTRF, or of `go test -json`. Folders are full of other
/// JSON, so more is asked for than where a file was named.
fn is_json_report(head: &str) -> bool {
    let has = |word: &str| head.contains(word);
    let ctrf = has("\"CTRF\"") || (has("\"results\"") && has("\"tool\"") && has("\"tests\""));
    let first = head.trim_start().lines().next().unwrap_or_default();
    let names = |key: &str| first.contains(key);
    let go = names("\"Action\":") && (names("\"Package\":") || names("\"ImportPath\":"));
    head.trim_start().starts_with('{') && (ctrf || go)
}
