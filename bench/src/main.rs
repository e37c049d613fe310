//! Measures jelly from outside, as a whole process: `just bench`.
//!
//! Every figure is a median over many runs of a finished process, with its
//! smallest and largest value; the time and the memory are the system's own
//! account of it. Beside jelly runs a bare pipe client, which makes the same
//! calls on the same server and judges nothing: what it takes is the machine's
//! part. A target that is missed is said, and is no error: benchmarks are no
//! tests.
//!
//! The same program is the server that costs nothing (`serve`), the one that
//! dies at once (`die`), and the bare client (`client`). `triage` measures the reading of a
//! large test report, which `generate-report` writes; `doctor` measures twenty
//! servers that wait; `hostile` what single hostile answers cost; `proxy` what passes
//! through `jelly proxy`, beside a bare pump; `page` what a browser takes to open an HTML
//! report; `history` what two million results in PostgreSQL take; `soak` measures nothing, and looks for what does not hold.

mod cases;
mod client;
mod doctor;
mod history;
mod hostile;
mod measure;
mod page;
mod plans;
mod proxy;
mod report;
mod server;
mod soak;
mod table;

use soak::SoakOptions;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

const USAGE: &str = "usage: jelly-bench [triage | doctor | hostile | proxy | page | history] [--jelly PATH] [--runs N]\n       jelly-bench soak [--jelly PATH] [--seconds N] [--seed N] [--workers N] [--run N]\n       jelly-bench generate-report FILE";

fn main() -> ExitCode {
    let args: Vec<String> = std::env::args().skip(1).collect();
    let words: Vec<&str> = args.iter().map(String::as_str).collect();
    let result = match words.as_slice() {
        ["serve"] => server::serve(server::Era::Legacy),
        ["serve", "modern"] => server::serve(server::Era::Modern),
        ["die", at] => server::die(at),
        ["client", calls] => client::run(calls),
        ["generate-report", path] => report::generate(Path::new(path), report::LARGE),
        ["bare-loop", path] => report::bare(path),
        ["hostile-server", kind] => hostile::serve(kind),
        ["echo-server"] => proxy::serve(),
        ["pump", command @ ..] => proxy::pump(command),
        ["soak", options @ ..] => match SoakOptions::parse(options) {
            Some(options) => soak::soak(&options),
            None => {
                eprintln!("{USAGE}");
                return ExitCode::from(2);
            }
        },
        options => {
            let (measure, options): (fn(&Options) -> io::Result<()>, _) = match options {
                ["triage", rest @ ..] => (report::measure, rest),
                ["doctor", rest @ ..] => (doctor::measure, rest),
                ["hostile", rest @ ..] => (hostile::measure, rest),
                ["proxy", rest @ ..] => (proxy::measure, rest),
                ["page", rest @ ..] => (page::measure, rest),
                ["history", rest @ ..] => (history::measure, rest),
                all => (cases::run_all, all),
            };
            match Options::parse(options) {
                Some(options) => measure(&options),
                None => {
                    eprintln!("{USAGE}");
                    return ExitCode::from(2);
                }
            }
        }
    };
    match result {
        Ok(()) => ExitCode::SUCCESS,
        Err(error) => {
            eprintln!("jelly-bench: {error}");
            ExitCode::FAILURE
        }
    }
}

/// What is measured, and how often.
pub struct Options {
    /// The program, built for release.
    pub jelly: PathBuf,
    /// Counted runs of each case; slow cases take fewer.
    pub runs: usize,
}

impl Options {
    fn parse(args: &[&str]) -> Option<Self> {
        // Both are built into the same folder.
        let mut jelly = std::env::current_exe().ok()?.with_file_name("jelly");
        let mut runs = 15;
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            match *arg {
                "--jelly" => jelly = args.next()?.into(),
                "--runs" => runs = args.next()?.parse().ok().filter(|n| *n > 0)?,
                _ => return None,
            }
        }
        Some(Self { jelly, runs })
    }
}
