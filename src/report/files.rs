//! The one place that owns the files of a run: `reports/<run-id>/` and
//! `reports/latest`.
//!
//! The main types are [`RunDir`], one for a call of jelly, and [`ReportDir`],
//! one for each plan of it. A folder is made before the slow work begins, so
//! that an unwritable disk is known before any server starts, and each report
//! is replaced as a whole. A server runs while these folders stand open to it,
//! so nothing here follows a symbolic link below the run's folder.

mod latest;

use super::json::{Results, report_json};
use super::junit::junit_xml;
use super::markdown::{plan_results_md, test_results_md};
use super::matrix::matrix_md;
use jelly_base::model::{IterationReport, MatrixReport, RunReport};
use jelly_base::text::redact::Redactor;
use jelly_base::text::{Disarmer, Notation, file_name};
use rustix::fs::{Access, access};
use std::cell::{Cell, RefCell};
use std::collections::BTreeMap;
use std::fs::{self, File, OpenOptions};
use std::io::{self, Read, Write};
use std::path::{Path, PathBuf};

const REPAIRED_PLAN: &str = "repaired-plan.yaml";
const REPAIR_PATCH: &str = "repair.patch";

/// Reports of so many steps are rendered by two threads.
const SIDE_BY_SIDE: usize = 1_000;

type Render = fn(&RunReport) -> io::Result<Vec<u8>>;

/// The reports of a run: the name of the file, and what is in it. The one that
/// takes longest stands last.
const FORMATS: [(&str, Render); 3] = [
    ("results.json", |report| Ok(report_json(report)?)),
    ("junit.xml", |report| {
        junit_xml(std::slice::from_ref(report))
    }),
    ("test_results.md", |report| {
        Ok(test_results_md(report).into_bytes())
    }),
];

/// What went wrong with the files of a report. Completes "failed to …".
#[derive(Debug, thiserror::Error)]
pub enum ReportError {
    #[error("create the report folder {}", path.display())]
    Create { path: PathBuf, source: io::Error },
    #[error("write {}", path.display())]
    Write { path: PathBuf, source: io::Error },
    #[error("remove {}", path.display())]
    Remove { path: PathBuf, source: io::Error },
    #[error("render {what}")]
    Render {
        what: &'static str,
        source: io::Error,
    },
    /// Somebody put something else where the folder was.
    #[error("write below {}, which is no longer a folder of this run", path.display())]
    NotOurs { path: PathBuf },
    #[error("point {} at this run, since something else is there", path.display())]
    LatestTaken { path: PathBuf },
}

/// The id of a run: `YYYYMMDD-HHMMSS-xxxx`, in UTC, with the low 16 bits of
/// `entropy` to tell runs of one second apart.
#[must_use]
pub fn run_id(now: jiff::Timestamp, entropy: u32) -> String {
    format!("{}-{:04x}", now.strftime("%Y%m%d-%H%M%S"), entropy & 0xffff)
}

/// `reports/<run-id>/`, made afresh.
#[derive(Debug)]
pub struct RunDir {
    reports: PathBuf,
    /// `reports` was not there before.
    made_reports: bool,
    path: PathBuf,
    run_id: String,
}

/// A plan that can't be run leaves nothing behind.
impl Drop for RunDir {
    fn drop(&mut self) {
        // Only empty folders can be removed, and only that is wanted.
        if fs::remove_dir(&self.path).is_ok() && self.made_reports {
            let _ = fs::remove_dir(&self.reports);
        }
    }
}

impl RunDir {
    /// Makes the folder, and `reports_dir` where it is missing. Where the id is
    /// taken, a number is added to it: ask [`RunDir::run_id`] afterwards.
    ///
    /// # Errors
    /// The folder can't be made, or nothing can be written in it.
    pub fn create(reports_dir: &Path, run_id: &str) -> Result<Self, ReportError> {
        let failed = |path: &Path| {
            let path = path.to_owned();
            |source| ReportError::Create { path, source }
        };
        let made_reports = !reports_dir.exists();
        fs::create_dir_all(reports_dir).map_err(failed(reports_dir))?;
        let (path, number) = fresh_folder(reports_dir, &file_name(run_id))?;
        // A read-only disk has shown by now; a umask that lets nothing be written
        // shows here rather than after the work.
        access(&path, Access::WRITE_OK | Access::EXEC_OK)
            .map_err(|error| failed(&path)(error.into()))?;
        Ok(Self {
            reports: reports_dir.to_owned(),
            made_reports,
            path,
            run_id: format!("{run_id}{number}"),
        })
    }

    #[must_use]
    pub fn run_id(&self) -> &str {
        &self.run_id
    }

    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// The folder of one plan: the run's own for a single plan, else one named
    /// after `stem`, with a number where two plans share it.
    ///
    /// # Errors
    /// The folder can't be made.
    pub fn plan(&self, stem: Option<&str>) -> Result<ReportDir, ReportError> {
        let path = match stem {
            None => self.path.clone(),
            Some(stem) => fresh_folder(&self.path, &file_name(stem))?.0,
        };
        Ok(ReportDir {
            path,
            logs: RefCell::default(),
            repaired: Cell::new(false),
        })
    }

    /// Points `reports/latest` at this run: when it begins, so that the link
    /// never leads to an older one, and again with each report.
    ///
    /// # Errors
    /// The link can't be made, or a person put something else there. No result
    /// is lost by that, so it is worth a warning only.
    pub fn point_latest(&self) -> Result<(), ReportError> {
        latest::point_at(&self.reports, &self.path)
    }

    /// Writes `results.json` of a call with several plans.
    ///
    /// # Errors
    /// As [`ReportDir::write`].
    pub fn write_results(&self, results: &Results<'_>) -> Result<PathBuf, ReportError> {
        let bytes = report_json(results).map_err(|error| ReportError::Render {
            what: "results.json",
            source: error.into(),
        })?;
        replace(&self.path, "results.json", &bytes)
    }

    /// Writes the reports of several plans as one: `results.json`, `junit.xml`
    /// and `test_results.md`, with the matrices.
    ///
    /// # Errors
    /// As [`ReportDir::write`].
    pub fn write_call(&self, results: &Results<'_>) -> Result<(), ReportError> {
        self.write_results(results)?;
        let junit = junit_xml(results.plans).map_err(|source| ReportError::Render {
            what: "junit.xml",
            source,
        })?;
        replace(&self.path, "junit.xml", &junit)?;
        let plans = results.plans.iter().map(plan_results_md);
        let plans: Vec<String> = plans.map(|text| text + "\n").collect();
        replace(&self.path, "test_results.md", plans.concat().as_bytes())?;
        self.write_matrix(results.matrix)
    }

    /// Writes `matrix.md`, where there is anything to write in it.
    ///
    /// # Errors
    /// As [`ReportDir::write`].
    pub fn write_matrix(&self, matrices: &[MatrixReport]) -> Result<(), ReportError> {
        if matrices.is_empty() {
            return Ok(());
        }
        let text = matrix_md(matrices);
        replace(&self.path, "matrix.md", text.as_bytes()).map(drop)
    }
}

/// What a report folder holds beside the report itself.
#[derive(Debug, Clone, Copy, Default)]
pub struct Extras<'a> {
    /// The text of the repaired plan, where something was repaired.
    pub repaired_plan: Option<&'a str>,
    /// Plans by the names of their files, as they were around a hook.
    pub plans: &'a [(String, String)],
}

/// The report folder of one plan.
#[derive(Debug)]
pub struct ReportDir {
    path: PathBuf,
    /// File names of the servers' logs, by server.
    logs: RefCell<BTreeMap<String, String>>,
    repaired: Cell<bool>,
}

impl ReportDir {
    #[must_use]
    pub fn path(&self) -> &Path {
        &self.path
    }

    /// Where the report for people lies.
    #[must_use]
    pub fn markdown_path(&self) -> PathBuf {
        self.path.join("test_results.md")
    }

    /// Writes all reports, each replaced as a whole. To be called after every
    /// iteration.
    ///
    /// # Errors
    /// The first file that can't be written; the others are written all the
    /// same.
    pub fn write(&self, report: &RunReport, extras: Extras<'_>) -> Result<(), ReportError> {
        let mut first_error = None;
        let mut note = |result: Result<(), ReportError>| {
            if let Err(error) = result {
                first_error.get_or_insert(error);
            }
        };
        for ((name, _), bytes) in FORMATS.iter().zip(rendered(report)) {
            note(self.put(name, bytes));
        }
        note(self.put_repair(REPAIRED_PLAN, extras.repaired_plan));
        note(self.put_repair(REPAIR_PATCH, report.repair_diff.as_deref()));
        for (name, text) in extras.plans {
            let name = file_name(name);
            note(replace(&self.path, &name, text.as_bytes()).map(drop));
        }
        if extras.repaired_plan.is_some() || report.repair_diff.is_some() {
            self.repaired.set(true);
        }
        first_error.map_or(Ok(()), Err)
    }

    /// Writes the reports again, where nothing beside them has changed.
    ///
    /// # Errors
    /// As [`ReportDir::write`].
    pub fn rewrite(&self, report: &RunReport) -> Result<(), ReportError> {
        let reports = FORMATS.iter().zip(rendered(report));
        reports
            .map(|((name, _), bytes)| self.put(name, bytes))
            .fold(Ok(()), Result::and)
    }

    fn put(&self, name: &'static str, bytes: io::Result<Vec<u8>>) -> Result<(), ReportError> {
        let bytes = bytes.map_err(|source| ReportError::Render { what: name, source })?;
        replace(&self.path, name, &bytes).map(drop)
    }

    /// A repair that was taken back leaves no file behind.
    fn put_repair(&self, name: &'static str, text: Option<&str>) -> Result<(), ReportError> {
        match text {
            Some(text) => self.put(name, Ok(text.as_bytes().to_vec())),
            None if self.repaired.get() => {
                let path = self.path.join(name);
                remove(&path).map_err(|source| ReportError::Write { path, source })
            }
            None => Ok(()),
        }
    }

    /// Opens `servers/<name>.stderr.log`, at its end: a server that is started
    /// again writes on. The name is made fit for any file system, and no two
    /// servers share a file.
    ///
    /// # Errors
    /// The file can't be opened.
    pub fn stderr_log(&self, server: &str) -> Result<File, ReportError> {
        let path = self.stderr_log_path(server);
        self.subfolder("servers")?;
        open_log(&path).map_err(|source| ReportError::Write { path, source })
    }

    /// A folder of this one, made where it is missing.
    fn subfolder(&self, name: &str) -> Result<PathBuf, ReportError> {
        let folder = self.path.join(name);
        own_folder(&self.path)?;
        if let Err(source) = fs::create_dir(&folder)
            && source.kind() != io::ErrorKind::AlreadyExists
        {
            return Err(ReportError::Create {
                path: folder,
                source,
            });
        }
        own_folder(&folder)?;
        Ok(folder)
    }

    /// Where the log of a server lies, whether or not it is there yet.
    #[must_use]
    pub fn stderr_log_path(&self, server: &str) -> PathBuf {
        let mut logs = self.logs.borrow_mut();
        let name = match logs.get(server) {
            Some(name) => name.clone(),
            None => {
                let stem = file_name(server);
                let mut name = stem.clone();
                let mut number = 1;
                // Some file systems don't tell `A` from `a`.
                while logs.values().any(|used| used.eq_ignore_ascii_case(&name)) {
                    number += 1;
                    name = format!("{stem}-{number}");
                }
                logs.insert(server.to_owned(), name.clone());
                name
            }
        };
        self.path.join("servers").join(format!("{name}.stderr.log"))
    }

    /// Takes out of the logs what the redactor has learnt since they were
    /// written: a server may log a token before it issues it. For when no server
    /// writes any more.
    ///
    /// # Errors
    /// A log can't be replaced, and may hold a secret.
    pub fn redact_logs(&self, redactor: &Redactor) -> Result<(), ReportError> {
        let servers: Vec<String> = self.logs.borrow().keys().cloned().collect();
        for server in servers {
            let path = self.stderr_log_path(&server);
            let folder = self.path.join("servers");
            own_folder(&folder)?;
            redact_log(&folder, &path, redactor)
                .map_err(|source| ReportError::Write { path, source })?;
        }
        Ok(())
    }

    /// Keeps what the snapshot `name` would have to hold; says where, below
    /// this folder. What a person stored is never touched; `stored` is its
    /// digest, by which it is known later whether somebody edited it since.
    ///
    /// # Errors
    /// The file can't be written.
    pub fn propose_snapshot(
        &self,
        name: &str,
        text: &str,
        stored: Option<&str>,
    ) -> Result<String, ReportError> {
        let folder = self.subfolder("snapshots")?;
        let digest = format!("{}.snap.sha256", file_name(name));
        replace(&folder, &digest, stored.unwrap_or_default().as_bytes())?;
        let file = format!("{}.snap.new", file_name(name));
        replace(&folder, &file, format!("{text}\n").as_bytes())?;
        Ok(format!("snapshots/{file}"))
    }

    /// Takes back what was proposed for the snapshot `name`.
    ///
    /// # Errors
    /// The proposal can't be removed.
    pub fn withdraw_snapshot(&self, name: &str) -> Result<(), ReportError> {
        let folder = self.path.join("snapshots");
        for ending in ["new", "sha256"] {
            let path = folder.join(format!("{}.snap.{ending}", file_name(name)));
            remove(&path).map_err(|source| ReportError::Remove { path, source })?;
        }
        Ok(())
    }

    /// Where a recording goes.
    #[must_use]
    pub fn wire_path(&self) -> PathBuf {
        self.path.join("wire.jsonl")
    }

    /// Opens `wire.jsonl`, at its end.
    ///
    /// # Errors
    /// The file can't be opened.
    pub fn wire_file(&self) -> Result<File, ReportError> {
        let path = self.wire_path();
        own_folder(&self.path)?;
        open_log(&path).map_err(|source| ReportError::Write { path, source })
    }
}

/// Makes a folder of this name, with a number behind it where it is taken; the
/// folder and what was put behind.
fn fresh_folder(parent: &Path, name: &str) -> Result<(PathBuf, String), ReportError> {
    let mut number = 1;
    loop {
        let suffix = match number {
            1 => String::new(),
            n => format!("-{n}"),
        };
        let path = parent.join(format!("{name}{suffix}"));
        match fs::create_dir(&path) {
            Ok(()) => return Ok((path, suffix)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists && number < 1000 => {
                number += 1;
            }
            Err(source) => return Err(ReportError::Create { path, source }),
        }
    }
}

/// The reports of a run in the order of [`FORMATS`], the last one by a thread
/// of its own where there is much to render.
fn rendered(report: &RunReport) -> Vec<io::Result<Vec<u8>>> {
    let render = |(_, render): &(&str, Render)| render(report);
    let steps = |iteration: &IterationReport| iteration.steps.len();
    if report.iterations.iter().map(steps).sum::<usize>() < SIDE_BY_SIDE {
        return FORMATS.iter().map(render).collect();
    }
    let [others @ .., last] = &FORMATS;
    std::thread::scope(|scope| {
        let thread = std::thread::Builder::new().spawn_scoped(scope, || render(last));
        let mut all: Vec<_> = others.iter().map(render).collect();
        all.push(match thread {
            Ok(thread) => thread
                .join()
                .unwrap_or_else(|panic| std::panic::resume_unwind(panic)),
            // Where no thread can be had, one does it all.
            Err(_) => render(last),
        });
        all
    })
}

/// Opens a file to write on, and no file that a link leads to.
fn open_log(path: &Path) -> io::Result<File> {
    open_own(path, OpenOptions::new().append(true).create(true))
}

/// Opens what lies there itself, never what a link leads to.
fn open_own(path: &Path, options: &mut OpenOptions) -> io::Result<File> {
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        let no_follow = rustix::fs::OFlags::NOFOLLOW.bits();
        options.custom_flags(no_follow.cast_signed());
    }
    options.open(path)
}

/// Replaces a log by what may be shown of it, a piece at a time.
fn redact_log(folder: &Path, path: &Path, redactor: &Redactor) -> io::Result<()> {
    match fs::symlink_metadata(path) {
        Ok(meta) if meta.is_file() => {}
        // Nothing was logged, or what lies there is not ours.
        Ok(_) => return Ok(()),
        Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(()),
        Err(error) => return Err(error),
    }
    let mut log = open_own(path, OpenOptions::new().read(true))?;
    let mut clean = temporary().tempfile_in(folder)?;
    let mut stream = redactor.stream();
    let mut piece = vec![0; 64 * 1024];
    loop {
        let n = log.read(&mut piece)?;
        if n == 0 {
            break;
        }
        clean.write_all(&stream.push(&piece[..n]))?;
    }
    clean.write_all(&stream.finish())?;
    clean.persist(path).map_err(|error| error.error)?;
    Ok(())
}

/// Removes a file, if it is there.
fn remove(path: &Path) -> io::Result<()> {
    match fs::remove_file(path) {
        Err(error) if error.kind() != io::ErrorKind::NotFound => Err(error),
        Ok(()) | Err(_) => Ok(()),
    }
}

/// A file to be written beside the one that it will replace.
fn temporary() -> tempfile::Builder<'static, 'static> {
    let mut builder = tempfile::Builder::new();
    builder.prefix(".writing-");
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        // Reports are for others to read, as far as the umask allows; the
        // default of a temporary file is its owner alone.
        builder.permissions(fs::Permissions::from_mode(0o666));
    }
    builder
}

/// What a report is written in; none for what is kept as it is: a plan, a
/// change to be applied, a snapshot.
fn notation(name: &str) -> Option<Notation> {
    match Path::new(name).extension()?.to_str()? {
        "json" => Some(Notation::Json),
        "xml" => Some(Notation::Xml),
        "md" => Some(Notation::Plain),
        _ => None,
    }
}

/// Writes beside and renames, so that a reader sees the old file or the new
/// one, and a link in its place is replaced rather than followed.
fn replace(folder: &Path, name: &str, bytes: &[u8]) -> Result<PathBuf, ReportError> {
    own_folder(folder)?;
    let path = folder.join(name);
    let result = (|| {
        let mut file = temporary().tempfile_in(folder)?;
        match notation(name) {
            Some(notation) => {
                let mut disarmer = Disarmer::new(notation);
                let mut harmless = Vec::with_capacity(bytes.len());
                disarmer.push(bytes, &mut harmless);
                disarmer.finish(&mut harmless);
                file.write_all(&harmless)?;
            }
            None => file.write_all(bytes)?,
        }
        file.persist(&path).map_err(|error| error.error)?;
        Ok(())
    })();
    match result {
        Ok(()) => Ok(path),
        Err(source) => Err(ReportError::Write { path, source }),
    }
}

/// Refuses a folder that is none, or a link to one.
fn own_folder(path: &Path) -> Result<(), ReportError> {
    let real = fs::symlink_metadata(path).is_ok_and(|meta| meta.is_dir());
    if real {
        Ok(())
    } else {
        let path = path.to_owned();
        Err(ReportError::NotOurs { path })
    }
}

#[cfg(test)]
mod tests;
