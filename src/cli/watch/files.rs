//! Which files a plan and its servers are made of.
//!
//! Main type: [`WatchedPlans`].

use super::super::plan_files::read_source;
use super::super::settings::{World, hooks, project_dir};
use crate::cli::args::RunArgs;
use indexmap::IndexMap;
use jelly_harness::exec::Selection;
use jelly_plan::{Plan, Scope, Template, load_in, snapshot_path};
use serde_json::Value;
use std::collections::{BTreeMap, BTreeSet};
use std::ffi::OsStr;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::SystemTime;

/// Files of all plans together: more is no project that anybody watches so.
const MOST_FILES: usize = 20_000;
/// Folders within folders.
const DEEPEST: usize = 16;

/// What programs are written in. Data is left out: servers write it.
const CODE: [&str; 27] = [
    "c", "cc", "cjs", "clj", "cpp", "cs", "cts", "dart", "erl", "ex", "exs", "go", "h", "hpp",
    "java", "js", "jsx", "kt", "lua", "mjs", "mts", "php", "py", "rb", "rs", "ts", "tsx",
];

/// Folders of what others wrote, or tools.
const FOREIGN: [&str; 5] = [
    "node_modules",
    "target",
    "__pycache__",
    "venv",
    "site-packages",
];

/// How a file is, so that another one is told from it; none where there is none.
type Stamp = Option<(u64, Option<SystemTime>)>;

/// All files that are watched, as they were.
#[derive(Debug, Clone, Default)]
pub struct Stamps(BTreeMap<PathBuf, Stamp>);

/// The files of each plan.
#[derive(Debug, Default)]
pub struct WatchedPlans {
    plans: BTreeMap<PathBuf, PlanFiles>,
}

#[derive(Debug, Clone, Default)]
struct PlanFiles {
    files: BTreeSet<PathBuf>,
    /// Folders of code, in which files may come and go.
    code: BTreeSet<PathBuf>,
    /// Hooks may change any of them.
    has_hooks: bool,
}

impl WatchedPlans {
    /// Looks at the plans as they are now. One that can't be read is made of what
    /// it was made of before.
    pub fn look(&mut self, paths: &[PathBuf], args: &RunArgs, world: &World) {
        let mut plans = BTreeMap::new();
        for path in paths {
            let mut files = PlanFiles::of(path, args, world)
                .or_else(|| self.plans.get(path).cloned())
                .unwrap_or_default();
            files.files.insert(world.cwd.join(path));
            plans.insert(path.clone(), files);
        }
        self.plans = plans;
    }

    /// Whether a run may change what is watched: then only what changes between
    /// two runs counts.
    pub fn run_writes(&self, args: &RunArgs) -> bool {
        args.write_repairs || self.plans.values().any(|plan| plan.has_hooks)
    }

    fn all(&self) -> BTreeSet<&PathBuf> {
        self.plans.values().flat_map(|plan| &plan.files).collect()
    }

    /// How many there are.
    pub fn files(&self) -> usize {
        self.all().len()
    }

    /// The folders in which they are, and in which code may come.
    pub fn folders(&self) -> BTreeSet<PathBuf> {
        let code = self.plans.values().flat_map(|plan| &plan.code).cloned();
        let parents = self.all().into_iter();
        let parents = parents.filter_map(|file| {
            // Of a file whose folder is yet to be made, the one above says it.
            let mut above = file.ancestors().skip(1);
            above.find(|folder| folder.is_dir()).map(Path::to_owned)
        });
        parents.chain(code).collect()
    }

    pub fn stamps(&self) -> Stamps {
        let all = self.all().into_iter();
        Stamps(all.map(|path| (path.clone(), stamp(path))).collect())
    }

    /// What is not as it was.
    pub fn changed(&self, before: &Stamps) -> BTreeSet<PathBuf> {
        let now = self.stamps().0;
        let other = |path: &&PathBuf| {
            let is_now = now.get(*path).copied().unwrap_or_else(|| stamp(path));
            before.0.get(*path).copied().flatten() != is_now
        };
        let all: BTreeSet<&PathBuf> = now.keys().chain(before.0.keys()).collect();
        all.into_iter().filter(other).cloned().collect()
    }

    /// The plans that a change concerns; all where it concerns none that is read
    /// now, as a file that was removed.
    pub fn touched_by(&self, changed: &BTreeSet<PathBuf>) -> Vec<PathBuf> {
        let concerned = |files: &PlanFiles| {
            changed.iter().any(|path| {
                let folder = path.parent();
                files.files.contains(path)
                    || folder.is_some_and(|folder| files.code.contains(folder))
            })
        };
        let plans = self.plans.iter().filter(|(_, files)| concerned(files));
        let touched: Vec<PathBuf> = plans.map(|(path, _)| path.clone()).collect();
        match touched.is_empty() {
            true => self.plans.keys().cloned().collect(),
            false => touched,
        }
    }
}

fn stamp(path: &Path) -> Stamp {
    let metadata = fs::metadata(path).ok()?;
    Some((metadata.len(), metadata.modified().ok()))
}

impl PlanFiles {
    fn of(path: &Path, args: &RunArgs, world: &World) -> Option<Self> {
        let vars: IndexMap<String, Value> = args.vars.iter().cloned().collect();
        let told = args.project_dir.as_deref();
        let plan = load_in(read_source(path).ok()?, &vars, told).ok()?;
        let selection = Selection::new(args.only.clone(), args.skip.clone());
        let project = project_dir(told, path).ok()?;
        let mut own = Self {
            has_hooks: hooks(&plan, args).first_named().is_some(),
            ..Self::default()
        };
        if selection.select(&plan).is_empty() {
            return Some(own);
        }
        let here = |path: &Path| world.cwd.join(path);
        own.files
            .extend(plan.included.iter().map(|file| here(&file.path)));
        let sent = plan.files.digests();
        own.files.extend(sent.map(|(path, _)| project.join(path)));
        let snapshots = plan.snapshot_names().into_iter();
        own.files
            .extend(snapshots.map(|name| here(&snapshot_path(&plan.source.path, &name))));
        own.files
            .extend(args.own_rules.files.iter().map(|path| here(path)));
        own.files
            .extend(args.known.known.iter().map(|path| here(path)));
        if args.locked {
            own.files.insert(here(&args.lock));
        }
        own.servers(&plan, &project, args, world);
        Some(own)
    }

    /// The files that commands of servers name, and the code beside those of the
    /// project.
    fn servers(&mut self, plan: &Plan, project: &Path, args: &RunArgs, world: &World) {
        let mut vars = plan.vars.clone();
        vars.extend(args.vars.iter().cloned());
        let scope = Scope::new(
            project.to_owned(),
            std::env::temp_dir(),
            world.env.clone(),
            BTreeMap::new(),
            &vars,
        );
        let reports = world.cwd.join(&args.reports.reports_dir);
        let skipped = |folder: &Path| {
            let name = folder
                .file_name()
                .and_then(OsStr::to_str)
                .unwrap_or_default();
            name.starts_with('.') || FOREIGN.contains(&name) || folder == reports
        };
        for server in plan.servers.values() {
            let Some(command) = server.command() else {
                continue;
            };
            let text = |template: &Template| template.resolve_str(&scope, &server.name).ok();
            let cwd = command.cwd.as_ref().and_then(text);
            let cwd = cwd.map_or_else(|| project.to_owned(), |cwd| project.join(cwd));
            let words = command.command.iter().chain(&command.args).filter_map(text);
            for word in words {
                let file = cwd.join(&word);
                if word.is_empty() || !file.is_file() {
                    continue;
                }
                let within = file.strip_prefix(project).map(Path::to_owned);
                self.files.insert(file.clone());
                let Ok(within) = within else { continue };
                let is_own = !within.ancestors().skip(1).any(skipped);
                if let Some(folder) = file.parent().filter(|_| is_own && has_code(&file)) {
                    self.code_below(folder, &skipped, DEEPEST);
                }
            }
        }
    }

    fn code_below(&mut self, folder: &Path, skipped: &dyn Fn(&Path) -> bool, depth: usize) {
        let Ok(entries) = fs::read_dir(folder) else {
            return;
        };
        self.code.insert(folder.to_owned());
        for entry in entries.flatten() {
            let path = entry.path();
            if self.files.len() >= MOST_FILES {
                return;
            }
            // Links to folders are not followed.
            let is_folder = entry.file_type().is_ok_and(|kind| kind.is_dir());
            if is_folder && depth > 0 && !skipped(&path) {
                self.code_below(&path, skipped, depth - 1);
            } else if !is_folder && has_code(&path) {
                self.files.insert(path);
            }
        }
    }
}

fn has_code(path: &Path) -> bool {
    let extension = path.extension().and_then(OsStr::to_str);
    extension.is_some_and(|extension| CODE.contains(&extension))
}
