//! Which plans are meant: files, folders, stdin, or those of `plans/`.

use super::refusal::{Refusal, complain};
use jelly_base::text::redact::Redactor;
use jelly_base::text::sanitize;
use jelly_plan::{PlanSource, ReadError, included_files, shown_plan};
use serde_json::Value;
use std::collections::btree_map::Entry;
use std::collections::{BTreeMap, BTreeSet};
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
    let named = once_each(named);
    let (found, others) = plans_and_others(&named, command)?;
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
    let named = &distinct(named).0;
    let mut passed_over = Vec::new();
    let mut found: Vec<PathBuf> = Vec::new();
    let mut searched: BTreeSet<PathBuf> = BTreeSet::new();
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
        let others: BTreeSet<PathBuf> = named.iter().chain(&found).map(|one| place(one)).collect();
        let new = below
            .into_iter()
            .filter(|one| !others.contains(&place(one)));
        let new: Vec<PathBuf> = new.collect();
        searched.extend(new.iter().map(|one| place(one)));
        found.extend(new);
    }
    let included = leave_out_included(&mut found, &searched);
    passed_over.retain(|path| !included.contains(&real(path)));
    Ok((found, passed_over))
}

/// Takes out of those that a search found what is only a part of other ones; gives
/// all that is included.
fn leave_out_included(found: &mut Vec<PathBuf>, searched: &BTreeSet<PathBuf>) -> BTreeSet<PathBuf> {
    if searched.is_empty() {
        return BTreeSet::new();
    }
    // Two parts that include each other make no plan, and what is no file is read once.
    let plans = found
        .iter()
        .filter(|path| path.is_file() && has_version(path));
    let sources = plans.filter_map(|path| PlanSource::read(path).ok());
    let files = sources.flat_map(|source| included_files(&source));
    let included: BTreeSet<PathBuf> = files.map(|file| real(&file)).collect();
    found.retain(|path| {
        let is_part =
            searched.contains(&place(path)) && included.contains(&real(path)) && !has_version(path);
        !is_part
    });
    included
}

/// Whether a file says of which version of plans it is.
fn has_version(path: &Path) -> bool {
    PlanSource::read(path).is_ok_and(|source| {
        let text = source.text.trim_start_matches('\u{feff}');
        match serde_json::from_str::<Value>(text) {
            Ok(value) => value.get("version").is_some(),
            Err(_) => has_line(text, "version", &QUOTES),
        }
    })
}

/// Those that are meant, one for each plan, and the other spellings.
fn distinct(named: &[PathBuf]) -> (Vec<PathBuf>, Vec<(&PathBuf, &PathBuf)>) {
    let mut first: BTreeMap<PathBuf, &PathBuf> = BTreeMap::new();
    let (mut once, mut again) = (Vec::new(), Vec::new());
    for path in named {
        match first.entry(place(path)) {
            Entry::Vacant(free) => {
                free.insert(path);
                once.push(path.clone());
            }
            Entry::Occupied(known) => again.push((path, *known.get())),
        }
    }
    (once, again)
}

/// The same, and says of what is named again that it counts once: its copies would
/// run at the same time, in the same folder and under the same name.
fn once_each(named: &[PathBuf]) -> Vec<PathBuf> {
    let (once, again) = distinct(named);
    for (path, known) in again.iter().take(NAMED) {
        let path = path.display();
        let text = match known.display().to_string() == path.to_string() {
            true => format!("note: {path} is named more than once, and counts once"),
            false => format!(
                "note: {path} is {} by another name, and counts once",
                known.display()
            ),
        };
        complain(&sanitize(&text));
    }
    if again.len() > NAMED {
        let more = again.len() - NAMED;
        complain(&format!(
            "note: {more} more are named again, and count once"
        ));
    }
    once
}

fn real(path: &Path) -> PathBuf {
    path.canonicalize().unwrap_or_else(|_| path.to_owned())
}

/// Where a file lies, whatever it is called by. Links to one file in two folders are
/// two plans: each has its folder's project.
fn place(path: &Path) -> PathBuf {
    let folder = match path.parent() {
        // A folder by itself, as `.`.
        _ if path.is_dir() || is_stdin(path) => return real(path),
        Some(folder) if !folder.as_os_str().is_empty() => folder,
        Some(_) | None => Path::new("."),
    };
    match (folder.canonicalize(), path.file_name()) {
        (Ok(folder), Some(name)) => folder.join(name),
        (_, _) => path.to_owned(),
    }
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
    let searched = found.iter().map(|path| place(path)).collect();
    leave_out_included(&mut found, &searched);
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
    let has = |key: &str, before: &[char]| has_line(text, key, before);
    let inside = ['{', ' ', '"', '\''];
    has("version", &QUOTES) && OWN.iter().any(|key| has(key, &inside))
        || has("servers", &QUOTES) && has("steps", &QUOTES)
}

/// What may stand before a key at the beginning of a line.
const QUOTES: [char; 3] = ['{', '"', '\''];

/// Whether a line begins with a key, behind nothing but these.
fn has_line(text: &str, key: &str, before: &[char]) -> bool {
    text.lines().any(|line| {
        let rest = line.trim_start_matches(before).strip_prefix(key);
        rest.is_some_and(|rest| {
            rest.trim_start_matches(['"', '\''])
                .trim_start()
                .starts_with(':')
        })
    })
}

#[cfg(test)]
mod tests {
    use super::{distinct, plans_and_others, plans_below};
    use std::fs;
    use std::path::PathBuf;

    const PLAN: &str = "version: 1\nservers: { m: { command: x } }\nsteps: [{ tool: t }]\n";

    /// A folder with these files, and the names of the plans in it.
    fn plans_among(files: &[(&str, &str)]) -> (Vec<String>, Vec<String>) {
        let folder = tempfile::tempdir().unwrap();
        for (name, text) in files {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        }
        let (found, others) =
            plans_and_others(&[folder.path().to_owned()], "run").unwrap_or_default();
        let shown = |paths: Vec<PathBuf>| -> Vec<String> {
            let short = |path: PathBuf| {
                let path = path.strip_prefix(folder.path()).unwrap();
                path.display().to_string()
            };
            paths.into_iter().map(short).collect()
        };
        (shown(found), shown(others))
    }

    #[test]
    fn what_is_only_included_is_no_plan() {
        let with = |file: &str| format!("include: {file}\n{PLAN}");
        let part = PLAN.replace("version: 1\n", "");
        let (found, others) = plans_among(&[
            ("a.yaml", &with("[b.yaml, sub/c.yaml]")),
            ("b.yaml", &part),
            ("sub/c.yaml", &format!("include: ../d.yaml\n{part}")),
            ("d.yaml", "steps: [{ tool: t }]\n"),
            ("e.yaml", &with("f.yaml")),
            // A plan of its own besides.
            ("f.yaml", PLAN),
            // Nobody includes it: its version is missing.
            ("late.yaml", &part),
            ("other.yaml", "steps: [{ tool: t }]\n"),
            (
                "wrong.yaml",
                &with("[g.yaml, nothing.yaml]").replace("tool", "tol"),
            ),
            ("g.yaml", &part),
        ]);
        assert_eq!(
            found,
            ["a.yaml", "e.yaml", "f.yaml", "late.yaml", "wrong.yaml"]
        );
        assert_eq!(others, ["other.yaml"]);
    }

    #[test]
    fn a_plan_in_several_spellings_is_one() {
        let folder = tempfile::tempdir().unwrap();
        let folder = folder.path();
        fs::create_dir(folder.join("sub")).unwrap();
        fs::write(folder.join("a.yaml"), PLAN).unwrap();
        let at = |name: &str| folder.join(name);
        std::os::unix::fs::symlink("../a.yaml", at("sub/link.yaml")).unwrap();
        let named = [
            "a.yaml",
            "sub/../a.yaml",
            "sub/link.yaml",
            "./a.yaml",
            "no.yaml",
        ];
        let named: Vec<PathBuf> = named.iter().map(|name| at(name)).collect();
        let (once, again) = distinct(&named);
        assert_eq!(once, [at("a.yaml"), at("sub/link.yaml"), at("no.yaml")]);
        assert_eq!(again, [(&named[1], &named[0]), (&named[3], &named[0])]);
    }

    #[test]
    fn plans_are_told_from_what_lies_beside_them() {
        let folder = tempfile::tempdir().unwrap();
        let write = |name: &str, text: &str| {
            let path = folder.path().join(name);
            fs::create_dir_all(path.parent().unwrap()).unwrap();
            fs::write(path, text).unwrap();
        };
        let plan = PLAN;
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
