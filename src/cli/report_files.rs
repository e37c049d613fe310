//! `--report FORMAT=FILE`: the files that are asked for, refused before
//! anything runs where they can't be meant, and written when it is over.
//!
//! Main type: [`ReportFiles`].

use super::invalid::chain;
use super::overwrite::{Taken, kept_file};
use super::refusal::{Refusal, complain};
use super::target::{Place, Target};
use crate::cli::args::NamedReport;
use crate::report::ReportFormat;
use std::io::{self, Write};
use std::path::{Path, PathBuf, absolute};

/// The reports that a call is to write, by name.
#[derive(Debug, Default)]
pub struct ReportFiles {
    files: Vec<ReportFile>,
}

#[derive(Debug)]
struct ReportFile {
    format: &'static ReportFormat,
    /// As it was typed.
    typed: PathBuf,
    place: Place,
}

impl ReportFiles {
    /// Finds out whether all of them can be written, and takes away what an
    /// earlier call left there: nobody is to take it for this one's result.
    ///
    /// # Errors
    /// Why not, as it is printed; whether that is for what was typed.
    pub fn prepare(
        wanted: &[NamedReport],
        taken: &[Taken<'_>],
        latest: Option<&Path>,
    ) -> Result<Self, UnusableReport> {
        let mut files: Vec<ReportFile> = Vec::with_capacity(wanted.len());
        for NamedReport { format, file } in wanted {
            let told = |what: String| UnusableReport::typed(format, file, &what);
            if let Some(latest) = latest
                && is_below(file, latest)
            {
                return Err(told(format!(
                    "{} is a link that jelly points at the folder of this run, which has its own \
                     reports",
                    latest.display()
                )));
            }
            let place = Place::find(file)
                .map_err(|error| UnusableReport::unwritable(format, file, &error))?;
            if let Some(other) = files.iter().find(|other| other.place.is(&place)) {
                return Err(told(format!(
                    "--report {}={} goes to the same file",
                    other.format.name,
                    other.typed.display()
                )));
            }
            let kind = format!("a `{}` report", format.name);
            let kept = kept_file(file, taken, &kind, |text| format.is_own(text));
            if let Some(why) = kept {
                return Err(told(why));
            }
            files.push(ReportFile {
                format,
                typed: file.clone(),
                place,
            });
        }
        for file in &files {
            file.place
                .clear()
                .map_err(|error| UnusableReport::unwritable(file.format, &file.typed, &error))?;
        }
        Ok(Self { files })
    }

    /// Whether one of them holds all cases of the reports.
    pub fn have_all_cases(&self) -> bool {
        self.files.iter().any(|file| file.format.has_all_cases())
    }

    /// Writes all of them by `render`, which is told where; one that can't be
    /// written keeps none of the others back. Whether all were.
    pub fn write(
        &self,
        render: impl Fn(&ReportFormat, &Path, &mut dyn Write) -> io::Result<()>,
    ) -> bool {
        let mut whole = true;
        for file in &self.files {
            let written = Target::at(&file.place, file.format.notation).and_then(|mut target| {
                render(file.format, &file.typed, &mut target)?;
                target.finish()
            });
            if let Err(error) = written {
                whole = false;
                let (name, path) = (file.format.name, file.typed.display());
                complain(&format!(
                    "error: failed to write --report {name}={path}: {}",
                    chain(&error)
                ));
            }
        }
        whole
    }
}

/// As the paths are written, whatever is there.
fn is_below(file: &Path, folder: &Path) -> bool {
    match (absolute(file), absolute(folder)) {
        (Ok(file), Ok(folder)) => file.starts_with(folder),
        (Ok(_) | Err(_), _) => false,
    }
}

/// Why a report can't be written where it is wanted.
#[derive(Debug)]
pub struct UnusableReport {
    /// As it is printed.
    text: String,
    /// What was typed can't be meant; else the disk does not have it.
    is_slip: bool,
}

impl UnusableReport {
    /// As what ends the call.
    #[must_use]
    pub fn refusal(self) -> Refusal {
        match self.is_slip {
            true => Refusal::invalid(self.text),
            false => Refusal::needs_help(self.text),
        }
    }

    fn typed(format: &ReportFormat, file: &Path, what: &str) -> Self {
        Self {
            text: format!(
                "error: --report {}={}: {what}\nhelp: name another file",
                format.name,
                file.display()
            ),
            is_slip: true,
        }
    }

    fn unwritable(format: &ReportFormat, file: &Path, error: &io::Error) -> Self {
        Self {
            text: format!(
                "error: failed to write --report {}={}: {}\n\
                 help: name a file in a folder that can be written",
                format.name,
                file.display(),
                chain(error)
            ),
            is_slip: error.kind() == io::ErrorKind::IsADirectory,
        }
    }
}
