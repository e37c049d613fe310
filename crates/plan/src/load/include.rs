//! `include`: the files whose servers and steps belong to a plan too. They lie in
//! the project, links resolved, and no repair is ever written into one.

use crate::masked::is_masked;
use crate::syntax::{self, Data, Node, Span, Trouble};
use crate::{DocPath, PlanSource, Segment, Step};
use std::fs;
use std::path::{Path, PathBuf};

/// Files that one plan may include.
const MOST_FILES: usize = 100;

/// What a plan includes.
#[derive(Debug, Default)]
pub(super) struct Gathered {
    /// In the order in which their steps come; an included file's own ones
    /// before it.
    pub files: Vec<PlanSource>,
    /// What can't be included, with the number of the file that says so; 0 is
    /// the plan.
    pub troubles: Vec<(usize, Trouble)>,
}

/// Reads what a plan includes. The project is the plan's folder, where nobody
/// says another.
pub(super) fn gather(source: &PlanSource, project: Option<&Path>) -> Gathered {
    // Most plans include nothing, and need not be read twice.
    if !source.text.contains("include") && !source.text.contains('\\') {
        return Gathered::default();
    }
    let project = project.unwrap_or_else(|| folder_of(&source.path));
    let mut gathering = Gathering {
        project: fs::canonicalize(or_here(project)).ok(),
        found: Vec::new(),
        order: Vec::new(),
        troubles: Vec::new(),
        stack: fs::canonicalize(&source.path).into_iter().collect(),
    };
    gathering.visit(0, source);
    // The numbers of the files follow the order in which they are read.
    let Gathering {
        found,
        order,
        troubles,
        ..
    } = gathering;
    let number = |file: usize| match file.checked_sub(1) {
        None => 0,
        Some(index) => 1 + order.iter().position(|o| *o == index).unwrap_or_default(),
    };
    let troubles = troubles
        .into_iter()
        .map(|(file, trouble)| (number(file), trouble))
        .collect();
    let mut sources: Vec<Option<PlanSource>> =
        found.into_iter().map(|(_, source)| Some(source)).collect();
    Gathered {
        files: order
            .iter()
            .filter_map(|index| sources.get_mut(*index)?.take())
            .collect(),
        troubles,
    }
}

/// The files that a plan includes, whatever else may be wrong with it, and wherever
/// they lie.
#[must_use]
pub fn included_files(source: &PlanSource) -> Vec<PathBuf> {
    let files = gather(source, Some(Path::new("/"))).files;
    files.into_iter().map(|file| file.path).collect()
}

struct Gathering {
    /// With its links resolved.
    project: Option<PathBuf>,
    /// As they were found: where each really is, and what it says.
    found: Vec<(PathBuf, PlanSource)>,
    /// Their places in `found`, as they are to be read.
    order: Vec<usize>,
    troubles: Vec<(usize, Trouble)>,
    /// The files that are open, from the plan on.
    stack: Vec<PathBuf>,
}

impl Gathering {
    /// Looks at what a file includes; it is number `file` as found, from 1.
    fn visit(&mut self, file: usize, source: &PlanSource) {
        // What is wrong with the text is said when it is read.
        let Some(root) = syntax::parse(source).0 else {
            return;
        };
        let Some(entry) = root.entry("include") else {
            return;
        };
        let items: Vec<&Node<'_>> = match &entry.value.data {
            Data::List(items) => items.iter().collect(),
            _ => vec![&entry.value],
        };
        if items.is_empty() {
            self.trouble(
                file,
                entry.value.span,
                "nothing is included",
                "leave `include` out",
            );
        }
        for item in items {
            let Some(path) = item.as_str().filter(|path| !path.is_empty()) else {
                let message = format!("expected the path of a file, found {}", item.kind());
                self.trouble(file, item.span, message, "as in `include: shared.yaml`");
                continue;
            };
            match self.open(source, path) {
                Ok((place, included)) => {
                    self.found.push((place.clone(), included.clone()));
                    let number = self.found.len();
                    self.stack.push(place);
                    self.visit(number, &included);
                    self.stack.pop();
                    self.order.push(number - 1);
                }
                Err((message, hint)) => self.trouble(file, item.span, message, hint),
            }
        }
    }

    /// The file that `from` names by `path`, and where it really is.
    fn open(
        &self,
        from: &PlanSource,
        path: &str,
    ) -> Result<(PathBuf, PlanSource), (String, String)> {
        let refuse = |message: String, hint: &str| Err((message, hint.to_owned()));
        if path.contains("${") {
            let hint = "write the path from this file on, as in `../shared.yaml`";
            return refuse(
                "an included file can't be named by variables".to_owned(),
                hint,
            );
        }
        let shown = folder_of(&from.path).join(path);
        let place = match fs::canonicalize(&shown) {
            Ok(place) => place,
            Err(error) => {
                let hint = "the path begins at the folder of this file";
                return refuse(format!("`{path}` can't be included: {error}"), hint);
            }
        };
        let inside = self
            .project
            .as_ref()
            .is_some_and(|project| place.starts_with(project));
        if !inside {
            let hint = "move it into the project, or say which folder that is: `--project-dir DIR`";
            return refuse(format!("`{path}` lies outside of the project"), hint);
        }
        if !place.is_file() {
            return refuse(
                format!("`{path}` is no regular file"),
                "name the file itself",
            );
        }
        if self.stack.contains(&place) {
            let hint = "a file can't include itself, nor one that includes it";
            return refuse(
                format!("`{path}` is being read already: it includes itself"),
                hint,
            );
        }
        if self.found.iter().any(|(known, _)| *known == place) {
            let hint = "include it once, where its steps are to run";
            return refuse(format!("`{path}` is included twice"), hint);
        }
        if self.found.len() >= MOST_FILES {
            return refuse(
                format!("more than {MOST_FILES} files are included"),
                "put some together",
            );
        }
        // What was looked at is what is read, whatever the name leads to by now.
        let read = PlanSource::read(&place).map(|source| PlanSource {
            path: shown,
            ..source
        });
        match read {
            Ok(source) if is_masked(&source.text) => {
                let hint = "include the file that it was made of";
                refuse(
                    format!("`{path}` was masked by jelly, and is run by nobody"),
                    hint,
                )
            }
            Ok(source) => Ok((place, source)),
            Err(error) => refuse(error.to_string(), "it is included here"),
        }
    }

    fn trouble(
        &mut self,
        file: usize,
        span: Span,
        message: impl Into<String>,
        hint: impl Into<String>,
    ) {
        let trouble = Trouble::new(span.range(), message).hint(hint);
        self.troubles.push((file, trouble));
    }
}

pub(super) fn folder_of(path: &Path) -> &Path {
    path.parent().unwrap_or_else(|| Path::new(""))
}

fn or_here(folder: &Path) -> &Path {
    match folder.as_os_str().is_empty() {
        true => Path::new("."),
        false => folder,
    }
}

/// A place in an included file: no path in the plan itself, so that nothing is
/// ever written there.
pub(super) fn in_file(file: usize, path: &DocPath) -> DocPath {
    match file.checked_sub(1) {
        None => path.clone(),
        Some(index) => DocPath(vec![
            Segment::Key("include".to_owned()),
            Segment::Index(index),
        ])
        .join(path),
    }
}

/// Says of a step which file it stands in.
pub(super) fn place_in_file(step: &mut Step, file: usize) {
    if file == 0 {
        return;
    }
    step.path = in_file(file, &step.path);
    for filled in step.case.iter_mut().flat_map(|case| &mut case.filled) {
        *filled = in_file(file, filled);
    }
}
