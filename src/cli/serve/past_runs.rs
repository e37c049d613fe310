//! What runs left on disk: their reports, as documents and as resources.
//!
//! Main type: [`PastRuns`].

use super::fault::ToolFault;
use serde::Deserialize;
use serde_json::{Map, Value, json};
use std::fs::{self, File};
use std::io::{self, Read};
use std::path::{Path, PathBuf};

/// A larger report is not read.
const MOST_BYTES: u64 = 64 << 20;

/// So much of a resource is handed over.
const MOST_RESOURCE: u64 = 1 << 20;

/// So many runs are listed, the newest.
const MOST_RUNS: usize = 200;

/// The files of a run that are resources, with their kinds.
const RESOURCES: [(&str, &str); 2] = [
    ("test_results.md", "text/markdown"),
    ("results.json", "application/json"),
];

/// How the names of resources begin.
const SCHEME: &str = "jelly://runs/";

/// The folder with the reports of runs.
#[derive(Debug, Clone)]
pub struct PastRuns {
    pub folder: PathBuf,
}

/// A file of a run.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct RunFile {
    pub uri: String,
    /// As people read it.
    pub name: String,
    pub mime: &'static str,
    pub bytes: u64,
}

/// Of a report, what a list of runs says.
#[derive(Debug, Deserialize)]
struct RunBrief {
    verdict: Option<String>,
    exit_code: Option<i64>,
    started_at: Option<String>,
    plan: Option<Value>,
}

impl PastRuns {
    /// The ids of runs, the newest first, and how many more there are.
    pub fn ids(&self) -> (Vec<String>, usize) {
        let entries = fs::read_dir(&self.folder).into_iter().flatten();
        let mut ids: Vec<String> = entries
            .filter_map(|entry| {
                let entry = entry.ok()?;
                // `latest` is a link to one of them.
                entry.file_type().ok()?.is_dir().then_some(())?;
                entry.file_name().into_string().ok()
            })
            .filter(|id| is_id(id))
            .collect();
        ids.sort_unstable_by(|one, other| other.cmp(one));
        let more = ids.len().saturating_sub(MOST_RUNS);
        ids.truncate(MOST_RUNS);
        (ids, more)
    }

    /// What a list says of a run; nothing where there is no report.
    pub fn brief(&self, id: &str) -> Option<Map<String, Value>> {
        let mut row = Map::new();
        row.insert("run_id".to_owned(), id.into());
        row.insert("state".to_owned(), "finished".into());
        let path = self.folder.join(id).join("results.json");
        let read = open_regular(&path).and_then(|file| {
            let brief: RunBrief =
                serde_json::from_reader(io::BufReader::new(file.take(MOST_BYTES)))?;
            Ok(brief)
        });
        let resources = self.files_of(id);
        if resources.is_empty() {
            return None;
        }
        if let Ok(brief) = read {
            let plan = brief.plan.as_ref().and_then(|plan| {
                let path = plan.as_str().or_else(|| plan["path"].as_str());
                path.map(str::to_owned)
            });
            let members = [
                ("verdict", brief.verdict.map(Value::from)),
                ("exit_code", brief.exit_code.map(Value::from)),
                ("started_at", brief.started_at.map(Value::from)),
                ("plan", plan.map(Value::from)),
            ];
            for (key, value) in members {
                row.extend(value.map(|value| (key.to_owned(), value)));
            }
        }
        let uris: Vec<String> = resources.into_iter().map(|file| file.uri).collect();
        row.insert("resources".to_owned(), json!(uris));
        Some(row)
    }

    /// The report of a run.
    ///
    /// # Errors
    /// There is none that can be read.
    pub fn document(&self, id: &str) -> Result<Value, ToolFault> {
        let unknown = |why: String| {
            let next = "call list_runs for the runs that are known";
            ToolFault::new("no_such_run", why, next).at(id)
        };
        if !is_id(id) {
            return Err(unknown("this is no id of a run".to_owned()));
        }
        let folder = self.folder.join(id);
        let path = folder.join("results.json");
        match read_json(&path) {
            Ok(value) => Ok(value),
            Err(error) if error.kind() == io::ErrorKind::NotFound => {
                // Of several plans or combinations, each has a folder.
                let mut parts: Vec<PathBuf> = fs::read_dir(&folder)
                    .into_iter()
                    .flatten()
                    .filter_map(|entry| Some(entry.ok()?.path().join("results.json")))
                    .collect();
                parts.sort();
                let plans: Vec<Value> = parts
                    .iter()
                    .filter_map(|path| read_json(path).ok())
                    .collect();
                match plans.is_empty() {
                    true => Err(unknown("no run of this id left a report".to_owned())),
                    false => Ok(json!({"run_id": id, "plans": plans})),
                }
            }
            Err(error) => Err(unknown(format!("its report can't be read: {error}"))),
        }
    }

    /// All resources, the newest run first.
    pub fn resources(&self) -> Vec<RunFile> {
        let (ids, _) = self.ids();
        ids.iter().flat_map(|id| self.files_of(id)).collect()
    }

    fn files_of(&self, id: &str) -> Vec<RunFile> {
        let of = |(name, mime): &(&'static str, &'static str)| {
            let meta = fs::symlink_metadata(self.folder.join(id).join(name)).ok()?;
            meta.is_file().then(|| RunFile {
                uri: format!("{SCHEME}{id}/{name}"),
                name: format!("{name} of run {id}"),
                mime,
                bytes: meta.len(),
            })
        };
        RESOURCES.iter().filter_map(of).collect()
    }

    /// The text of a resource, with its kind; `None` where there is none.
    pub fn read(&self, uri: &str) -> Option<(String, &'static str)> {
        let (id, name) = uri.strip_prefix(SCHEME)?.split_once('/')?;
        let (name, mime) = RESOURCES.iter().find(|(known, _)| *known == name)?;
        if !is_id(id) {
            return None;
        }
        let mut file = open_regular(&self.folder.join(id).join(name)).ok()?;
        let whole = file.metadata().ok()?.len();
        let mut bytes = Vec::new();
        file.by_ref()
            .take(MOST_RESOURCE)
            .read_to_end(&mut bytes)
            .ok()?;
        let mut text = String::from_utf8_lossy(&bytes).into_owned();
        if whole > MOST_RESOURCE {
            let gone = whole - MOST_RESOURCE;
            text.push_str(&format!(
                "\n[… {gone} more bytes: call run_status for pages of it]\n"
            ));
        }
        Some((text, mime))
    }
}

/// Names that jelly gives to runs, and nothing that leads elsewhere.
fn is_id(id: &str) -> bool {
    let is_plain = |byte: u8| byte.is_ascii_alphanumeric() || byte == b'-' || byte == b'_';
    !id.is_empty() && id.len() <= 64 && id.bytes().all(is_plain)
}

/// Links could lead anywhere, and a pipe would never end.
fn open_regular(path: &Path) -> io::Result<File> {
    if !fs::symlink_metadata(path)?.is_file() {
        return Err(io::Error::other("it is no regular file"));
    }
    File::open(path)
}

fn read_json(path: &Path) -> io::Result<Value> {
    let file = open_regular(path)?;
    let size = file.metadata()?.len();
    if size > MOST_BYTES {
        let why = format!("it has {size} bytes, and more than {MOST_BYTES} are not read");
        return Err(io::Error::other(why));
    }
    Ok(serde_json::from_reader(io::BufReader::new(
        file.take(MOST_BYTES),
    ))?)
}
