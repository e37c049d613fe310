//! Where a plan is kept, and how it names what lies around it.

use super::super::files::temp_file_in;
use super::super::out::print;
use super::super::schema::PLAN_SCHEMA;
use super::super::settings::World;
use super::shared::Shared;
use crate::cli::refusal::Refusal;
use jelly_base::text::shell_path as word;
use jelly_plan::{PlanSource, Template};
use std::fs;
use std::io::{self, Write};
use std::path::{Component, Path, PathBuf};

/// Where one plan goes. The folders that were made for it are taken away again
/// unless it is kept.
#[derive(Debug)]
pub struct PlanPlace {
    /// As it is shown; absent where the plan is printed.
    path: Option<PathBuf>,
    /// Absolute: `${workspace}`.
    pub project: PathBuf,
    /// Made for the plan, the innermost first.
    made: Vec<PathBuf>,
}

impl PlanPlace {
    /// Decides on it, and makes its folder.
    pub fn open(shared: &Shared<'_>, name: Option<&str>) -> Result<Self, Refusal> {
        let (args, world) = (shared.args, shared.world);
        let path = match &args.output {
            Some(path) if path.as_os_str() == "-" => None,
            Some(path) => Some(path.clone()),
            None => Some(usual(name)),
        };
        let mut place = Self {
            path,
            project: world.cwd.clone(),
            made: Vec::new(),
        };
        if name.is_some() || args.output.is_some() {
            place.refuse_what_is_there(shared)?;
        }
        place.make_folder(world)?;
        let told = args.project_dir.as_deref().map(|dir| world.cwd.join(dir));
        let plan = place
            .path
            .as_ref()
            .map_or_else(|| world.cwd.join("plan.yaml"), |path| world.cwd.join(path));
        place.project =
            super::super::settings::project_dir(told.as_deref(), &plan).map_err(|error| {
                let folder = told.as_deref().unwrap_or(&plan).display();
                Refusal::invalid(format!(
                    "error: the project folder {folder} can't be used: {error}"
                ))
            })?;
        Ok(place)
    }

    /// The same folder with the name that is known now.
    pub fn rename(mut self, shared: &Shared<'_>, name: &str) -> Result<Self, Refusal> {
        if shared.args.output.is_none() {
            self.path = Some(usual(Some(name)));
            self.refuse_what_is_there(shared)?;
        }
        Ok(self)
    }

    fn refuse_what_is_there(&self, shared: &Shared<'_>) -> Result<(), Refusal> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let full = shared.world.cwd.join(path);
        let shown = path.display();
        if full.is_dir() {
            return Err(Refusal::invalid(format!(
                "error: {shown} is a folder\nhelp: name the plan's file, as in -o {}",
                path.join("server.yaml").display()
            )));
        }
        if shared.kept.borrow().contains(&full) {
            return Err(Refusal::invalid(format!(
                "error: {shown} is the plan of another of these servers\nhelp: make them one by \
                 one, as in: jelly init --config CONFIG NAME --name OTHER"
            )));
        }
        if !full.exists() || shared.args.force {
            return Ok(());
        }
        Err(Refusal::invalid(format!(
            "error: {shown} is there already, and stays as it is\nhelp: --force overwrites it; -o \
             PATH names another file, and -o - prints the plan"
        )))
    }

    fn make_folder(&mut self, world: &World) -> Result<(), Refusal> {
        let Some(path) = &self.path else {
            return Ok(());
        };
        let full = world.cwd.join(path);
        let Some(folder) = full.parent() else {
            return Ok(());
        };
        let missing: Vec<PathBuf> = folder
            .ancestors()
            .take_while(|folder| !folder.exists())
            .map(Path::to_path_buf)
            .collect();
        for folder in missing.into_iter().rev() {
            fs::create_dir(&folder).map_err(|error| {
                let shown = folder.display();
                Refusal::needs_help(format!("error: the folder {shown} can't be made: {error}"))
            })?;
            self.made.insert(0, folder);
        }
        Ok(())
    }

    /// As people are told.
    pub fn shown(&self) -> String {
        let path = self.path.as_ref();
        path.map_or_else(|| "the plan".to_owned(), |path| path.display().to_string())
    }

    pub fn is_stdout(&self) -> bool {
        self.path.is_none()
    }

    /// As plans are told where they are.
    pub fn source_path(&self) -> PathBuf {
        self.path
            .clone()
            .unwrap_or_else(|| PathBuf::from("plan.yaml"))
    }

    /// How the plan is run, from the folder where it was made.
    pub fn run_line(&self, shared: &Shared<'_>) -> String {
        let path = self
            .path
            .as_ref()
            .map_or("PLAN.yaml".into(), |p| p.to_string_lossy());
        let mut line = format!("jelly run {}", word(&path));
        if let Some(dir) = &shared.args.project_dir {
            let cwd = &shared.world.cwd;
            let dir = match dir.is_absolute() && self.project.starts_with(cwd) {
                // The plan has this line too, and goes to other machines.
                true => relative(cwd, &self.project).unwrap_or_default(),
                false => dir.to_string_lossy().into_owned(),
            };
            let dir = if dir.is_empty() { "." } else { &dir };
            line.push_str(&format!(" --project-dir {}", word(dir)));
        }
        line
    }

    /// What to do next: the line that runs the plan, behind the variables that it lacks
    /// where it was made, since a plan holds no value that was typed for `jelly init`.
    pub fn next_line(&self, shared: &Shared<'_>, unset: &[String]) -> String {
        let run = self.run_line(shared);
        let keep = if self.is_stdout() {
            "keep it as a file, and "
        } else {
            ""
        };
        match unset {
            [] => format!("next: {keep}{run}\n"),
            names => {
                let names = names.join(", ");
                format!("next: {keep}set {names} in the environment, then: {run}\n")
            }
        }
    }

    /// Where the JSON Schema of plans lies, from the plan's own folder: beside
    /// the plan, but for `plans/`, where every JSON file is a plan.
    pub fn schema_way(&self) -> &'static str {
        let folder = self.path.as_ref().and_then(|path| path.parent());
        match folder.is_some_and(|folder| folder.ends_with("plans")) {
            true => "../plan.schema.json",
            false => "plan.schema.json",
        }
    }

    /// Writes that schema where there is none yet, so that editors find what
    /// the plan names; what was written, or why nothing was.
    pub fn keep_schema(&self, shared: &Shared<'_>) -> Option<Result<PathBuf, String>> {
        let folder = self.path.as_ref()?.parent()?;
        let folder = match self.schema_way() {
            way if way.starts_with("..") => folder.parent()?,
            _ => folder,
        };
        let path = folder.join("plan.schema.json");
        let full = shared.world.cwd.join(&path);
        let write = || -> io::Result<()> {
            let mut file = fs::File::create_new(&full)?;
            file.write_all(PLAN_SCHEMA.as_bytes())
        };
        match write() {
            Ok(()) => Some(Ok(path)),
            Err(error) if error.kind() == io::ErrorKind::AlreadyExists => None,
            Err(error) => Some(Err(format!("{} can't be written: {error}", path.display()))),
        }
    }

    /// A path as the plan writes it: from `${workspace}`, where it lies below
    /// `base`, so that it is right on other machines too.
    pub fn written(&self, path: &Path, base: &Path) -> String {
        let whole = || Template::literal(&path.display().to_string()).raw;
        if !path.starts_with(base) {
            return whole();
        }
        let Some(relative) = relative(&self.project, path) else {
            return whole();
        };
        if !self.project.starts_with(base) && !path.starts_with(&self.project) {
            return whole();
        }
        let relative = Template::literal(&relative).raw;
        if relative.is_empty() {
            "${workspace}".to_owned()
        } else {
            format!("${{workspace}}/{relative}")
        }
    }

    /// Writes the plan, whole or not at all.
    pub fn keep(&mut self, shared: &Shared<'_>, text: &str) -> Result<(), Refusal> {
        let Some(path) = self.path.clone() else {
            return print(text).map_err(|error| {
                Refusal::needs_help(format!("error: failed to write to stdout: {error}"))
            });
        };
        let full = shared.world.cwd.join(&path);
        shared.kept.borrow_mut().insert(full.clone());
        let failed = |why: String| {
            Refusal::needs_help(format!("error: {} can't be written: {why}", path.display()))
        };
        if shared.args.force
            && let Ok(before) = PlanSource::read(&full)
        {
            let after = PlanSource {
                text: text.into(),
                ..before.clone()
            };
            after
                .replace(&before)
                .map_err(|error| failed(error.to_string()))?;
            return Ok(());
        }
        let write = || -> io::Result<()> {
            let folder = full.parent().unwrap_or(Path::new("."));
            let mut beside = temp_file_in(folder, ".jelly-init-")?;
            beside.write_all(text.as_bytes())?;
            beside.as_file().sync_all()?;
            if shared.args.force {
                beside.persist(&full)?;
            } else {
                beside.persist_noclobber(&full)?;
            }
            Ok(())
        };
        write().map_err(|error| match error.kind() {
            io::ErrorKind::AlreadyExists => failed("it is there already".to_owned()),
            _ => failed(error.to_string()),
        })?;
        self.made.clear();
        Ok(())
    }
}

impl Drop for PlanPlace {
    fn drop(&mut self) {
        for folder in &self.made {
            // Where somebody has put something into it meanwhile, it stays.
            let _ = fs::remove_dir(folder);
        }
    }
}

fn usual(name: Option<&str>) -> PathBuf {
    let stem: String = name
        .unwrap_or("server")
        .chars()
        .map(|c| {
            if c.is_alphanumeric() || matches!(c, '.' | '_' | '-') {
                c
            } else {
                '-'
            }
        })
        .collect();
    Path::new("plans").join(format!("{stem}.yaml"))
}

/// The way from one folder to a path, both absolute.
fn relative(from: &Path, to: &Path) -> Option<String> {
    let (mut from, mut to) = (from.components().peekable(), to.components().peekable());
    while let (Some(a), Some(b)) = (from.peek(), to.peek()) {
        if a != b {
            break;
        }
        from.next();
        to.next();
    }
    let up = from.map(|_| Component::ParentDir.as_os_str());
    let parts: Option<Vec<&str>> = up
        .chain(to.map(Component::as_os_str))
        .map(|part| part.to_str())
        .collect();
    Some(parts?.join("/"))
}

#[cfg(test)]
mod tests {

    use super::{relative, usual};
    use std::path::Path;

    #[test]
    fn a_way_goes_up_and_down() {
        let way = |from: &str, to: &str| relative(Path::new(from), Path::new(to)).unwrap();
        assert_eq!(way("/p/plans", "/p/data/x"), "../data/x");
        assert_eq!(way("/p", "/p/data"), "data");
        assert_eq!(way("/p", "/p"), "");
        assert_eq!(way("/p/a/b", "/p"), "../..");
    }

    #[test]
    fn a_plan_is_called_like_its_server() {
        assert_eq!(usual(Some("my server")), Path::new("plans/my-server.yaml"));
    }
}
