//! Reports by name: what `--report FORMAT=FILE` writes, of a run as of a
//! triage.
//!
//! Main type: [`ReportFormat`], a row of [`REPORT_FORMATS`]. A format is added
//! by its row here and by the functions that it names; flags, help and files
//! follow from the row.

use super::authorship::{
    is_own_ctrf, is_own_junit, is_own_lines, is_own_markdown, is_own_page, is_own_results,
    is_own_sarif,
};
use super::cases::CaseWriter;
use super::code_quality::{code_quality, is_own_code_quality};
use super::ctrf::CtrfWriter;
use super::findings::{self, Findings};
use super::html::{PageLinks, PastEnds, run_html};
use super::json::{Results, finding_lines, report_json};
use super::junit::{JunitWriter, show_run};
use super::markdown::plan_results_md;
use super::matrix::matrix_md;
use super::sarif::sarif;
use super::triage::{json, markdown, triage_html};
use jelly_base::model::TriageReport;
use jelly_base::text::Notation;
use std::io::{self, Write};
use std::path::Path;

/// A report that can be asked for by name.
#[derive(Debug)]
pub struct ReportFormat {
    /// As in `--report NAME=FILE`.
    pub name: &'static str,
    /// What it is written in, by which words of others are kept from being
    /// obeyed; none where a change would break it.
    pub notation: Option<Notation>,
    /// Whether jelly wrote a text of this format.
    is_own: fn(&str) -> bool,
    writer: FormatWriter,
}

/// What a report knows beside the results.
pub struct ReportSurroundings<'s> {
    links: PageLinks,
    past: &'s PastEnds<'s>,
}

impl<'s> ReportSurroundings<'s> {
    /// For a report at `file`, with paths as they are meant in `cwd`.
    #[must_use]
    pub fn new(cwd: &Path, file: &Path, past: &'s PastEnds<'s>) -> Self {
        Self {
            links: PageLinks::new(cwd, file),
            past,
        }
    }
}

type RunWriter = fn(&Results<'_>, &mut dyn Write) -> io::Result<()>;
type CasesWriter = for<'w> fn(&'w mut dyn Write) -> Box<dyn CaseWriter + 'w>;

type FindingsWriter = fn(&Findings<'_>, &mut dyn Write) -> io::Result<()>;

/// How a format is written.
#[derive(Debug, Clone, Copy)]
enum FormatWriter {
    /// Of a run by one function, of a triage by another.
    Whole {
        run: RunWriter,
        triage: fn(&TriageReport, &mut dyn Write) -> io::Result<()>,
    },
    /// The same, but of a triage with all cases of the reports, passing ones
    /// included.
    RunOrCases { run: RunWriter, triage: CasesWriter },
    /// Of both with all cases.
    Cases(CasesWriter),
    /// Of both what is wrong, and nothing else.
    Findings(FindingsWriter),
    /// A page, which leads to other files and shows earlier runs.
    Page,
}

/// All of them, in the order of `--help`.
pub static REPORT_FORMATS: [ReportFormat; 9] = [
    ReportFormat {
        name: "junit",
        notation: Some(Notation::Xml),
        is_own: is_own_junit,
        writer: FormatWriter::RunOrCases {
            run: |results, out| show_run(results, &mut JunitWriter::of_run(out)),
            triage: |out| Box::new(JunitWriter::of_reports(out)),
        },
    },
    ReportFormat {
        name: "junit-strict",
        notation: Some(Notation::Xml),
        is_own: is_own_junit,
        writer: FormatWriter::Cases(|out| Box::new(JunitWriter::strict(out))),
    },
    ReportFormat {
        name: "ctrf",
        notation: Some(Notation::Json),
        is_own: is_own_ctrf,
        writer: FormatWriter::Cases(|out| Box::new(CtrfWriter::new(out))),
    },
    ReportFormat {
        name: "sarif",
        notation: Some(Notation::Json),
        is_own: is_own_sarif,
        writer: FormatWriter::Findings(sarif),
    },
    ReportFormat {
        name: "gitlab-codequality",
        notation: Some(Notation::Json),
        is_own: is_own_code_quality,
        writer: FormatWriter::Findings(code_quality),
    },
    ReportFormat {
        name: "html",
        notation: Some(Notation::Xml),
        is_own: is_own_page,
        writer: FormatWriter::Page,
    },
    ReportFormat {
        name: "md",
        notation: Some(Notation::Plain),
        is_own: is_own_markdown,
        writer: FormatWriter::Whole {
            run: run_md,
            triage: |report, out| out.write_all(markdown(report).as_bytes()),
        },
    },
    ReportFormat {
        name: "json",
        notation: Some(Notation::Json),
        is_own: is_own_results,
        writer: FormatWriter::Whole {
            run: |results, out| out.write_all(&report_json(results)?),
            triage: json,
        },
    },
    ReportFormat {
        name: "jsonl",
        notation: Some(Notation::Json),
        is_own: is_own_lines,
        writer: FormatWriter::Findings(finding_lines),
    },
];

/// Their names.
pub static REPORT_NAMES: [&str; REPORT_FORMATS.len()] = {
    let mut names = [""; REPORT_FORMATS.len()];
    let mut at = 0;
    while at < names.len() {
        names[at] = REPORT_FORMATS[at].name;
        at += 1;
    }
    names
};

impl ReportFormat {
    /// The format of this name.
    #[must_use]
    pub fn named(name: &str) -> Option<&'static Self> {
        REPORT_FORMATS.iter().find(|format| format.name == name)
    }

    /// Whether a file is a report of this format that jelly wrote.
    #[must_use]
    pub fn is_own(&self, text: &str) -> bool {
        (self.is_own)(text)
    }

    /// Whether the reports have to be read a second time to write it.
    #[must_use]
    pub fn has_all_cases(&self) -> bool {
        match self.writer {
            FormatWriter::RunOrCases { .. } | FormatWriter::Cases(_) => true,
            FormatWriter::Whole { .. } | FormatWriter::Findings(_) | FormatWriter::Page => false,
        }
    }

    /// Writes the plans of a call of `jelly run`.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write_run(
        &self,
        results: &Results<'_>,
        surroundings: &ReportSurroundings<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self.writer {
            FormatWriter::Whole { run, .. } | FormatWriter::RunOrCases { run, .. } => {
                run(results, out)
            }
            FormatWriter::Cases(writer) => show_run(results, &mut *writer(out)),
            FormatWriter::Findings(write) => write(&findings::of_run(results), out),
            FormatWriter::Page => {
                let page = run_html(results, &surroundings.links, surroundings.past);
                out.write_all(&page)
            }
        }
    }

    /// Writes a triage; `replay` hands all cases over, where they are wanted.
    ///
    /// # Errors
    /// What `out` says.
    pub fn write_triage(
        &self,
        report: &TriageReport,
        replay: &dyn Fn(&mut dyn CaseWriter) -> io::Result<()>,
        surroundings: &ReportSurroundings<'_>,
        out: &mut dyn Write,
    ) -> io::Result<()> {
        match self.writer {
            FormatWriter::Whole { triage, .. } => triage(report, out),
            FormatWriter::RunOrCases { triage, .. } => replay(&mut *triage(out)),
            FormatWriter::Cases(writer) => replay(&mut *writer(out)),
            FormatWriter::Findings(write) => write(&findings::of_triage(report), out),
            FormatWriter::Page => {
                let page = triage_html(report, &surroundings.links, surroundings.past);
                out.write_all(&page)
            }
        }
    }
}

fn run_md(results: &Results<'_>, out: &mut dyn Write) -> io::Result<()> {
    for report in results.plans {
        writeln!(out, "{}", plan_results_md(report))?;
    }
    out.write_all(matrix_md(results.matrix).as_bytes())
}
