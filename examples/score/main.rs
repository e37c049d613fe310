//! How well triage judges labelled failures:
//! `cargo run --example score -- --corpus fixtures/corpus`.
//!
//! Each line of a `failures*.jsonl` holds a failure and the truth about it; the
//! engine sees the failure, and what it says is compared with the truth, field
//! by field, strictly. Each line of a `fingerprints.jsonl` belongs to a group
//! of sightings of one failure, or to a pair of failures that only look alike.
//! The exit code is 1 when a score is below its bar, and 2 when something
//! can't be read.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a program for developers whose output is its purpose"
)]

mod marks;
mod prints;
mod rows;

use clap::Parser;
use marks::Marks;
use prints::Prints;
use rows::{Kind, Row};
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

/// Score the triage engine on labelled failures.
#[derive(Parser)]
struct Args {
    /// Folders with `mcp/failures*.jsonl`, `junit/failures*.jsonl` and
    /// `junit/fingerprints*.jsonl`, or single files of that kind.
    #[arg(required_unless_present = "corpus", value_name = "PATH")]
    paths: Vec<PathBuf>,
    /// The same, for a folder.
    #[arg(long, value_name = "DIR")]
    corpus: Vec<PathBuf>,
    /// List what was judged wrongly, and the rule that decided.
    #[arg(long)]
    wrong: bool,
    /// Show how many of each root cause were found.
    #[arg(long)]
    causes: bool,
    /// List what is said of each failure, labelled or not.
    #[arg(long)]
    all: bool,
    /// Only show the scores, whatever they are.
    #[arg(long)]
    no_bars: bool,
}

fn main() -> ExitCode {
    let args = Args::parse();
    let mut below = Vec::new();
    for path in args.corpus.iter().chain(&args.paths) {
        match score(path, &args) {
            Ok(mut missed) => below.append(&mut missed),
            Err(problem) => {
                eprintln!("error: {problem}");
                return ExitCode::from(2);
            }
        }
    }
    if below.is_empty() {
        return ExitCode::SUCCESS;
    }
    for missed in &below {
        eprintln!("below the bar: {missed}");
    }
    ExitCode::from(u8::from(!args.no_bars))
}

/// Prints the scores of what lies at `path`, and says which are too low.
fn score(path: &Path, args: &Args) -> Result<Vec<String>, String> {
    let files = if path.is_dir() {
        let found = labelled_files(path)?;
        if found.is_empty() {
            return Err(format!("{} holds no labelled failures", path.display()));
        }
        found
    } else {
        vec![path.to_owned()]
    };
    let mut below = Vec::new();
    for file in &files {
        let rows = rows::read(file)?;
        if args.all {
            for row in &rows {
                println!("{}", marks::told(row));
            }
        }
        let (labelled, grouped): (Vec<Row>, Vec<Row>) =
            rows.into_iter().partition(|row| row.label.is_some());
        for kind in [Kind::Mcp, Kind::Junit] {
            let marks = Marks::of(labelled.iter().filter(|row| row.kind() == kind));
            if marks.rows > 0 {
                println!("{} ({}): {marks}", file.display(), kind.name());
                if args.causes {
                    for (cause, (rows, found)) in &marks.causes {
                        println!("  {cause:<28} {found} of {rows}");
                    }
                }
                if args.wrong {
                    for line in &marks.wrong {
                        println!("  {line}");
                    }
                }
                below.extend(marks.below(kind, file));
            }
        }
        if !grouped.is_empty() {
            let prints = Prints::of(&grouped);
            println!("{}: {prints}", file.display());
            if args.wrong {
                for line in &prints.wrong {
                    println!("  {line}");
                }
            }
            below.extend(prints.below(file));
        }
    }
    Ok(below)
}

/// The data files below `root`, in the order of [`SETS`] and then by name. A
/// set grows by further files, as in `failures-2.jsonl`.
fn labelled_files(root: &Path) -> Result<Vec<PathBuf>, String> {
    /// Folder of a set, and what the names of its files begin with.
    const SETS: [(&str, &str); 3] = [
        ("mcp", "failures"),
        ("junit", "failures"),
        ("junit", "fingerprints"),
    ];
    let mut found = Vec::new();
    for (folder, stem) in SETS {
        let folder = root.join(folder);
        if !folder.is_dir() {
            continue;
        }
        let failed = |error: io::Error| format!("{}: {error}", folder.display());
        let mut files = Vec::new();
        for entry in fs::read_dir(&folder).map_err(failed)? {
            let file = entry.map_err(failed)?.path();
            let name = file.file_name().unwrap_or_default().to_string_lossy();
            if name.starts_with(stem) && name.ends_with(".jsonl") {
                files.push(file);
            }
        }
        files.sort();
        found.append(&mut files);
    }
    Ok(found)
}
