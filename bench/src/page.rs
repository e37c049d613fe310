//! How long a browser takes to open the HTML report of thousands of failures.

use super::Options;
use super::measure::{Spread, run};
use super::table::{Unit, figure, head};
use std::fmt::Write as _;
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Failures of each page.
const FAILURES: usize = 3000;
/// What a page may take until it is loaded and drawn, in milliseconds.
const TARGET: f64 = 1000.0;

/// Measures, and prints the figures.
pub fn measure(options: &Options) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let plan = plan(&options.jelly);
    let pages = [
        page(
            options,
            folder.path(),
            "run",
            &["--no-confirm"],
            ("many.yaml", &plan),
        )?,
        page(
            options,
            folder.path(),
            "triage",
            &[],
            ("many.xml", &report()),
        )?,
    ];
    let opened = opened(options.runs, &pages)?;
    head();
    for (command, (page, times)) in ["run", "triage"].into_iter().zip(pages.iter().zip(opened)) {
        let what = format!("page of {command}, {FAILURES} failures");
        figure(&what, Unit::Milliseconds, Spread::of(times), Some(TARGET));
        let size = std::fs::metadata(page)?.len() as f64 / f64::from(1 << 20);
        let what = format!("page of {command}, its size");
        figure(&what, Unit::Mebibytes, Spread::of([size]), Some(5.0));
    }
    Ok(())
}

/// The page that a command writes of a file.
fn page(
    options: &Options,
    folder: &Path,
    command: &str,
    flags: &[&str],
    (name, text): (&str, &str),
) -> io::Result<PathBuf> {
    std::fs::write(folder.join(name), text)?;
    let page = folder.join(format!("{command}.html"));
    let mut jelly = Command::new(&options.jelly);
    jelly.args([command, name]).args(flags);
    jelly
        .arg("--report")
        .arg(format!("html={}", page.display()));
    let done = run(jelly.current_dir(folder))?;
    match done.code {
        Some(1 | 3) if page.is_file() => Ok(page),
        code => Err(io::Error::other(format!(
            "jelly {command}: exit code {code:?}"
        ))),
    }
}

/// The milliseconds of each time, by page.
fn opened(times: usize, pages: &[PathBuf]) -> io::Result<Vec<Vec<f64>>> {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("../fixtures/browser/open.mjs");
    let chromium = std::env::var_os("CHROMIUM").unwrap_or_else(|| "chromium".into());
    let mut path = PathBuf::from(chromium);
    if path.components().count() == 1 {
        let all = std::env::var_os("PATH").unwrap_or_default();
        let found = std::env::split_paths(&all)
            .map(|dir| dir.join(&path))
            .find(|file| file.is_file());
        path = found
            .ok_or_else(|| io::Error::other("chromium is not on the PATH; CHROMIUM may name it"))?;
    }
    let mut node = Command::new("node");
    node.arg(script)
        .arg(path)
        .arg(times.to_string())
        .args(pages);
    let done = node.output()?;
    if !done.status.success() {
        return Err(io::Error::other(
            String::from_utf8_lossy(&done.stderr).into_owned(),
        ));
    }
    // Lists of lists of numbers, and nothing else.
    let text = String::from_utf8_lossy(&done.stdout);
    let lists = text.trim().trim_matches(['[', ']']).split("],[");
    let numbers = |list: &str| {
        list.split(',')
            .map(str::parse)
            .collect::<Result<Vec<f64>, _>>()
    };
    lists
        .map(numbers)
        .collect::<Result<_, _>>()
        .map_err(io::Error::other)
}

/// A plan whose steps all fail, each in its own words.
fn plan(jelly: &Path) -> String {
    let jelly = jelly.display();
    let mut plan = format!(
        "version: 1\nname: many\nservers: {{ m: {{ command: \"{jelly}\", args: [mock] }} }}\nsteps:\n"
    );
    for n in 0..FAILURES {
        // Writing into a string can't fail.
        let _ = writeln!(
            plan,
            "  - {{ id: adds-{n}, server: m, tool: echo, args: {{ message: value {n} }}, expect: {{ \
             text: {{ equals: wanted {n} }} }} }}"
        );
    }
    plan
}

/// A report in which a tenth of the failures have one cause, and each other one
/// a cause of its own.
fn report() -> String {
    let mut report = String::from("<testsuite name='shop'>");
    for n in 0..FAILURES {
        let message = match n % 10 {
            0 => "connect ECONNREFUSED 127.0.0.1:5432".to_owned(),
            _ => format!("AssertionError: expected {n} to be {}", n + 1),
        };
        let stack = "  at cart.js:12:3\n".repeat(6);
        let _ = write!(
            report,
            "<testcase classname='shop.Case{}' name='adds {n}'><failure type='AssertionError' \
             message='{message}'>{stack}</failure></testcase>",
            n % 40
        );
    }
    report + "</testsuite>"
}
