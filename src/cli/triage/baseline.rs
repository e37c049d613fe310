//! `--baseline`: earlier reports, in whatever way they were kept.

use crate::cli::find::{FindError, find};
use jelly_base::text::natural_cmp;
use jelly_triage::survey::{Input, ReportSource};
use std::collections::BTreeMap;
use std::io::{self, Write};
use std::path::Path;
use std::process::{Command, Stdio};
use tempfile::NamedTempFile;

/// Files of one run, and what they need to stay there.
#[derive(Debug, Default)]
pub struct Baseline {
    /// Oldest first.
    pub runs: Vec<Vec<ReportSource>>,
    /// What the reader should know of it, one sentence each.
    pub notes: Vec<String>,
    /// What came out of git; gone with the value.
    _files: Vec<NamedTempFile>,
}

/// Why a baseline can't be used. Completes "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum BaselineError {
    #[error(transparent)]
    Find(#[from] FindError),
    #[error("get {what} out of git: {problem}")]
    Git { what: String, problem: String },
    #[error("keep {what} for a moment")]
    Keep { what: String, source: io::Error },
    #[error("compare {path} with an earlier run: `--baseline {value}` is the same file")]
    Itself { path: String, value: String },
}

/// The earlier runs that `values` mean, each value later than those before it:
/// a file, a folder or a glob, whose numbers tell the runs; or `git:REVISION`
/// for the `current` reports as they were then.
///
/// Of a folder or a glob that holds a current report, what is from that run on
/// is left out.
///
/// # Errors
/// A value that leads to nothing, or to nothing but a current report.
pub fn baseline(values: &[String], current: &[ReportSource]) -> Result<Baseline, BaselineError> {
    let mut baseline = Baseline::default();
    for value in values {
        match value.strip_prefix("git:") {
            Some(revision) => {
                let mut run = Vec::new();
                for source in current {
                    if let Input::File(path) = &source.input {
                        let Some((file, name)) = out_of_git(revision, path)? else {
                            let path = path.display();
                            baseline.notes.push(format!(
                                "{path} is not in {revision}: all of its failures are new"
                            ));
                            continue;
                        };
                        run.push(ReportSource {
                            name,
                            input: Input::File(file.path().to_owned()),
                        });
                        baseline._files.push(file);
                    }
                }
                baseline.runs.push(run);
            }
            None => {
                let found = find(std::slice::from_ref(value))?;
                if let [only] = &found[..]
                    && let Some(path) = only.input.path().filter(|path| is_current(path, current))
                {
                    return Err(BaselineError::Itself {
                        path: path.display().to_string(),
                        value: value.clone(),
                    });
                }
                let of_now = |file: &ReportSource| {
                    file.input
                        .path()
                        .is_some_and(|path| is_current(path, current))
                };
                let earlier = runs(found).into_iter();
                baseline
                    .runs
                    .extend(earlier.take_while(|run| !run.iter().any(of_now)));
            }
        }
    }
    Ok(baseline)
}

/// Whether a path leads to one of the current reports, by whatever way.
fn is_current(path: &Path, current: &[ReportSource]) -> bool {
    let whole = |path: &Path| path.canonicalize().ok();
    whole(path).is_some_and(|earlier| {
        let now = current.iter().filter_map(|source| source.input.path());
        now.filter_map(whole).any(|now| now == earlier)
    })
}

/// Files that differ in nothing but a number are the same report of successive
/// runs: `builds/17/junit.xml` and `builds/18/junit.xml`, `Results.xml` and
/// `Results(7).xml`. The last of each belong to the last run.
fn runs(mut files: Vec<ReportSource>) -> Vec<Vec<ReportSource>> {
    files.sort_by(|a, b| natural_cmp(&a.name, &b.name));
    let mut series: BTreeMap<String, Vec<ReportSource>> = BTreeMap::new();
    for file in files {
        series.entry(unnumbered(&file.name)).or_default().push(file);
    }
    let most = series.values().map(Vec::len).max().unwrap_or_default();
    let mut runs: Vec<Vec<ReportSource>> = (0..most).map(|_| Vec::new()).collect();
    for files in series.into_values() {
        let late = most - files.len();
        for (at, file) in files.into_iter().enumerate() {
            runs[late + at].push(file);
        }
    }
    runs
}

/// The path without what tells runs apart: numbers in the names of folders, and
/// at the end of the file's. `Results`, `Results(1)` and `Results-2` are one.
fn unnumbered(path: &str) -> String {
    let (folders, file) = path.rsplit_once('/').unwrap_or(("", path));
    let folders: Vec<String> = folders
        .split('/')
        .map(|folder| {
            unsuffixed(folder)
                .split(|c: char| c.is_ascii_digit())
                .collect()
        })
        .collect();
    let (stem, ending) = file.split_once('.').unwrap_or((file, ""));
    format!("{}/{}.{ending}", folders.join("/"), unsuffixed(stem))
}

/// A name without the number at its end, if that stands apart: `(7)`, ` (7)`,
/// `-7`, `_7`.
fn unsuffixed(name: &str) -> &str {
    let bare = name
        .trim_end_matches(')')
        .trim_end_matches(|c: char| c.is_ascii_digit());
    match bare.chars().last() {
        Some('(' | '-' | '_') if bare.len() < name.len() => bare[..bare.len() - 1].trim_end(),
        Some(_) | None => name,
    }
}

/// A file as it was at a revision, and what it is called; nothing for a file
/// that was not there.
fn out_of_git(
    revision: &str,
    path: &Path,
) -> Result<Option<(NamedTempFile, String)>, BaselineError> {
    let file_name = path.file_name().unwrap_or_default().to_string_lossy();
    let what = format!("{revision}:{}", path.display());
    let refuse = |problem: &str| BaselineError::Git {
        what: what.clone(),
        problem: problem.to_owned(),
    };
    if revision.is_empty() || revision.starts_with('-') {
        return Err(refuse("write a revision behind `git:`, as in git:HEAD"));
    }
    let folder = match path.parent() {
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    let git = |words: &[&str]| {
        Command::new("git")
            .arg("-C")
            .arg(folder)
            .args(words)
            .stdin(Stdio::null())
            .output()
            .map_err(|error| refuse(&error.to_string()))
    };
    let output = git(&["show", &format!("{revision}:./{file_name}")])?;
    if !output.status.success() {
        // Of a folder of that revision, git lists what is there of a name.
        let listed = git(&["ls-tree", revision, "--", &format!("./{file_name}")])?;
        if listed.status.success() && listed.stdout.is_empty() {
            return Ok(None);
        }
        let said = String::from_utf8_lossy(&output.stderr);
        return Err(refuse(said.lines().next().unwrap_or("git says nothing")));
    }
    let keep = || -> io::Result<NamedTempFile> {
        let mut file = NamedTempFile::new()?;
        file.write_all(&output.stdout)?;
        file.flush()?;
        Ok(file)
    };
    let file = keep().map_err(|source| BaselineError::Keep {
        what: what.clone(),
        source,
    })?;
    Ok(Some((file, what)))
}

#[cfg(test)]
mod tests {
    use super::runs;
    use jelly_triage::survey::{Input, ReportSource};

    #[test]
    fn files_that_differ_in_a_number_are_the_same_report_of_successive_runs() {
        for (files, wanted) in [
            // In the order of the numbers of their folders.
            (
                "b/10/a.xml b/9/a.xml b/9/b.xml b/10/b.xml",
                "b/9/a.xml b/9/b.xml | b/10/a.xml b/10/b.xml",
            ),
            // Or of their own; classes may have numbers too.
            (
                "r/Results(7).xml r/Results.xml r/Results(10).xml",
                "r/Results.xml | r/Results(7).xml | r/Results(10).xml",
            ),
            (
                "TEST-a.Foo1Test.xml TEST-a.Foo2Test.xml",
                "TEST-a.Foo1Test.xml TEST-a.Foo2Test.xml",
            ),
            // A folder without a number comes before its numbered copies.
            (
                "b/R(2)/J.xml b/R/J.xml b/R(1)/J.xml",
                "b/R/J.xml | b/R(1)/J.xml | b/R(2)/J.xml",
            ),
            (
                "b/R-10/J.xml b/R-1/J.xml b/R-2/J.xml",
                "b/R-1/J.xml | b/R-2/J.xml | b/R-10/J.xml",
            ),
            (
                "b/R_(1)/J.xml b/R/J.xml b/R/K.xml b/R_(1)/K.xml",
                "b/R/J.xml b/R/K.xml | b/R_(1)/J.xml b/R_(1)/K.xml",
            ),
            // The last of each report belong to the last run.
            (
                "b/1/a.xml b/2/a.xml b/2/new.xml",
                "b/1/a.xml | b/2/a.xml b/2/new.xml",
            ),
        ] {
            // A blank in a name is written `_`.
            let files = files.split(' ').map(|name| ReportSource {
                name: name.replace('_', " "),
                input: Input::Stdin,
            });
            let runs = runs(files.collect()).into_iter().map(|run| {
                let names = run.into_iter().map(|file| file.name.replace(' ', "_"));
                names.collect::<Vec<_>>().join(" ")
            });
            assert_eq!(runs.collect::<Vec<_>>().join(" | "), wanted);
        }
    }
}
