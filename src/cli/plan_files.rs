//! Which plans are meant: files, folders, stdin, or those of `plans/`.

use super::refusal::{Refusal, complain};
use jelly_base::text::redact::Redactor;
use jelly_base::text::sanitize;
use jelly_plan::{PlanSource, ReadError, shown_plan};
use serde_json::Value;
use std::collections::BTreeSet;
use std::ffi::OsStr;
use std::fs;
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// What stands for stdin.
const STDIN: &str = "-";

/// Folders in which nobody keeps plans, besides those whose names begin with a
/// dot.
const FOREIGN: [&str; 3] = ["node_modules", "snapshots", "target"];

/// Files that are passed over and named.
const NAMED: usize = 5;

/// What a run writes beside its reports.
const REPAIRED: &str = "repaired-plan";

/// The longest plan that is read from stdin, in bytes.
const MAX_BYTES: u64 = 16 << 20;

/// Whether a plan comes from stdin.
pub fn is_stdin(path: &Path) -> bool {
    path.as_os_str() == OsStr::new(STDIN)
}

/// The text of a plan. Stdin is read once, whoever asks.
///
/// # Errors
/// It can't be read.
pub fn read_source(path: &Path) -> Result<PlanSource, ReadError> {
    static TEXT: OnceLock<Result<String, String>> = OnceLock::new();
    if !is_stdin(path) {
        return PlanSource::read(path);
    }
    let text = TEXT.get_or_init(|| {
        let mut text = String::new();
        let read = io::stdin().take(MAX_BYTES + 1).read_to_string(&mut text);
        match read {
            Ok(_) if text.len() as u64 > MAX_BYTES => Err("it is too long".to_owned()),
            Ok(_) => Ok(text),
            Err(error) => Err(error.to_string()),
        }
    });
    match text {
        Ok(text) => Ok(PlanSource {
            path: path.to_owned(),
            text: text.as_str().into(),
            variant: None,
        }),
        Err(reason) => Err(ReadError::Unreadable {
            path: "stdin".to_owned(),
            reason: reason.clone(),
        }),
    }
}

/// A plan that came from stdin, as it is kept beside the reports of its run.
pub struct PlanCopy {
    path: PathBuf,
    text: String,
    /// Nothing is masked in it.
    is_whole: bool,
}

impl PlanCopy {
    const NAME: &str = "plan.yaml";
    /// Stands where only who has the plan can name it.
    const OWN_FILE: &str = "<file that holds the plan>";

    /// Of a plan that came from stdin, in the folder of its reports.
    pub fn of_stdin(source: &PlanSource, reports: &Path, redactor: &Redactor) -> Option<Self> {
        is_stdin(&source.path).then(|| {
            let text = shown_plan(source, redactor);
            Self {
                path: reports.join(Self::NAME),
                is_whole: *text == *source.text,
                text,
            }
        })
    }

    /// What a command reads the plan from; a blank to fill in where the copy is masked,
    /// and so is no plan to run.
    pub fn shown(&self) -> String {
        match self.is_whole {
            true => self.path.display().to_string(),
            false => Self::OWN_FILE.to_owned(),
        }
    }

    /// The name of the file, and what is in it.
    pub fn file(&self) -> (String, String) {
        (Self::NAME.to_owned(), self.text.clone())
    }
}

/// The plans that are meant: as named, with those below a folder in its place;
/// or those of `plans/`.
///
/// # Errors
/// There are none.
pub fn plans(named: &[PathBuf], command: &str) -> Result<Vec<PathBuf>, Refusal> {
    let (found, others) = plans_and_others(named, command)?;
    if !others.is_empty() {
        let shown = others
            .iter()
            .take(NAMED)
            .map(|path| path.display().to_string());
        let shown: Vec<String> = shown.collect();
        let more = match others.len().saturating_sub(NAMED) {
            0 => String::new(),
            more => format!(" and {more} more"),
        };
        let what = match others.len() {
            1 => "1 file is no plan and is".to_owned(),
            many => format!("{many} files are no plans and are"),
        };
        let text = format!("note: {what} passed over: {}{more}", shown.join(", "));
        complain(&sanitize(&text));
    }
    Ok(found)
}

/// The same, with the files of folders that could be plans and are none.
///
/// # Errors
/// There are none.
pub fn plans_and_others(
    named: &[PathBuf],
    command: &str,
) -> Result<(Vec<PathBuf>, Vec<PathBuf>), Refusal> {
    if named.is_empty() {
        return Ok((usual(command)?, Vec::new()));
    }
    let mut passed_over = Vec::new();
    let mut found: Vec<PathBuf> = Vec::new();
    for path in named {
        if !path.is_dir() {
            found.push(path.clone());
            continue;
        }
        let (below, others) = plans_below(path).map_err(|error| {
            Refusal::invalid(format!("error: {}: can't be read: {error}", path.display()))
        })?;
        passed_over.extend(others);
        if below.is_empty() {
            return Err(Refusal::with_help(
                format!("there is no plan below {}", path.display()),
                "a plan is a YAML or JSON file with the key `version` and `steps`, `include` or \
                 `servers`",
            ));
        }
        // One that is named besides is run once.
        let others: BTreeSet<PathBuf> = named.iter().chain(&found).map(|one| real(one)).collect();
        found.extend(below.into_iter().filter(|one| !others.contains(&real(one))));
    }
    Ok((found, passed_over))
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

fn usual(command: &str) -> Result<Vec<PathBuf>, Refusal> {
    let folder = Path::new("plans");
    let none = || {
        let shown = std::path::absolute(folder).unwrap_or_else(|_| folder.to_owned());
        Refusal::invalid(format!(
            "error: no plan was given, and there is none in {}\nhelp: jelly {command} PLAN.yaml",
            shown.display()
        ))
    };
    let entries = folder.read_dir().map_err(|_| none())?;
    let mut found: Vec<PathBuf> = entries
        .filter_map(|entry| Some(entry.ok()?.path()))
        .filter(|path| may_be_plan(path) && path.is_file())
        .collect();
    found.sort();
    if found.is_empty() {
        Err(none())
    } else {
        Ok(found)
    }
}

/// Every plan below a folder, sorted, and every other file that could be one. Links to
/// folders are not followed.
fn plans_below(folder: &Path) -> io::Result<(Vec<PathBuf>, Vec<PathBuf>)> {
    let files = files_below(folder, usize::MAX)?;
    Ok(files.into_iter().partition(|path| is_plan(path)))
}

/// Every file below a folder that could be a plan, sorted; an error where there is
/// more to look at than `most` entries.
pub fn files_below(folder: &Path, most: usize) -> io::Result<Vec<PathBuf>> {
    let mut found = BTreeSet::new();
    let mut rest = vec![folder.to_owned()];
    let mut seen = 0;
    while let Some(folder) = rest.pop() {
        for entry in fs::read_dir(&folder)? {
            seen += 1;
            if seen > most {
                return Err(io::ErrorKind::QuotaExceeded.into());
            }
            let entry = entry?;
            let (path, name) = (entry.path(), entry.file_name());
            let name = name.to_string_lossy();
            if name.starts_with('.') {
                continue;
            }
            if entry.file_type()?.is_dir() {
                if !FOREIGN.contains(&name.as_ref()) {
                    rest.push(path);
                }
            } else if may_be_plan(&path)
                && path.file_stem() != Some(OsStr::new(REPAIRED))
                // A link to nothing says so when it is read.
                && (path.is_file() || !path.exists())
            {
                found.insert(path);
            }
        }
    }
    Ok(found.into_iter().collect())
}

fn may_be_plan(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    matches!(extension, Some("yaml" | "yml" | "json"))
}

/// Whether a file among others is meant as a plan: it has two of the keys that only a
/// plan has together, be there what else there may be wrong with it. A file
/// that can't be read is one, so that this is said.
///
/// The key of the version stands at the beginning of a line: files of others
/// have one further in.
fn is_plan(path: &Path) -> bool {
    let Ok(source) = PlanSource::read(path) else {
        return true;
    };
    const OWN: [&str; 3] = ["steps", "include", "servers"];
    // `version` with one of the others; or servers with steps, whose version is missing.
    let is_plan = |has: &dyn Fn(&str) -> bool| {
        has("version") && OWN.iter().any(|key| has(key)) || has("servers") && has("steps")
    };
    let text = source.text.trim_start_matches('\u{feff}');
    if let Ok(value) = serde_json::from_str::<Value>(text) {
        return is_plan(&|key| value.get(key).is_some());
    }
    if path.extension() == Some(OsStr::new("json")) {
        // JSON with a slip in it, on however many lines.
        return is_plan(&|key| text.contains(&format!("\"{key}\"")));
    }
    let has = |key: &str, before: &[char]| {
        text.lines().any(|line| {
            let rest = line.trim_start_matches(before).strip_prefix(key);
            rest.is_some_and(|rest| {
                rest.trim_start_matches(['"', '\''])
                    .trim_start()
                    .starts_with(':')
            })
        })
    };
    let quotes = ['{', '"', '\''];
    let inside = ['{', ' ', '"', '\''];
    has("version", &quotes) && OWN.iter().any(|key| has(key, &inside))
        || has("servers", &quotes) && has("steps", &quotes)
}

#[cfg(test)]
mod tests {
    use super::plans_below;
    use std::fs;

    #[test]
    fn plans_are_told_from_what_lies_beside_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let plan = "version: 1\nservers: { m: { command: x } }\nsteps: [{ tool: t }]\n";
        write("b.yaml", plan);
        write("a/deep/one.yml", plan);
        write(
            "a/two.json",
            r#"{"version": 1, "servers": {}, "steps": []}"#,
        );
        write("broken.yaml", &plan.replace("1\n", "1\n\t"));
        write("package.json", r#"{"version": "1.0.0", "scripts": {}}"#);
        write(
            "results.json",
            r#"{"schema_version": 1, "iterations": [{"steps": [], "version": 1}]}"#,
        );
        write("workflow.yaml", "jobs: { a: { steps: [] } }\n");
        write("part.yaml", "steps: [{ tool: t }]\n");
        write("node_modules/x/plan.yaml", plan);
        write(".hidden/plan.yaml", plan);
        write("reports/1/repaired-plan.yaml", plan);
        // What only lacks its version, or has a slip in it, is told and not left out.
        write("late.yaml", &plan.replace("version", "verson"));
        write(
            "trailing.json",
            r#"{"version": 1, "servers": {}, "steps": [],}"#,
        );
        let (found, others) = plans_below(folder.path()).unwrap();
        let shown = |paths: &[std::path::PathBuf]| -> Vec<String> {
            let short = |path: &std::path::PathBuf| {
                let path = path.strip_prefix(folder.path()).unwrap();
                path.display().to_string()
            };
            paths.iter().map(short).collect()
        };
        assert_eq!(
            shown(&found),
            [
                "a/deep/one.yml",
                "a/two.json",
                "b.yaml",
                "broken.yaml",
                "late.yaml",
                "trailing.json"
            ]
        );
        assert_eq!(
            shown(&others),
            ["package.json", "part.yaml", "results.json", "workflow.yaml"]
        );
    }
}
