//! What is measured, against which target.

use crate::Options;
use crate::measure::{Run, Spread, run};
use crate::plans;
use crate::table::{Unit, figure, head};
use std::io;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

/// The targets of times in milliseconds and of memory in MiB.
const VERSION_MS: f64 = 5.0;
const ONE_CALL: (f64, f64) = (10.0, 15.0);
const MANY_CALLS: (f64, f64) = (100.0, 20.0);
const MANY: usize = 2_000;
const DIAGNOSED_MS: f64 = 200.0;
const SIDE_BY_SIDE: f64 = 0.6;

const EVERYTHING: &str =
    "fixtures/npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js";

/// Where all of it happens.
struct Bench<'a> {
    options: &'a Options,
    /// This program, which is the server and the bare client too.
    own: PathBuf,
    folder: tempfile::TempDir,
}

/// Measures everything, and prints it as it comes.
pub fn run_all(options: &Options) -> io::Result<()> {
    let bench = Bench {
        options,
        own: std::env::current_exe()?,
        folder: tempfile::tempdir()?,
    };
    if !options.jelly.is_file() {
        return Err(io::Error::other(format!(
            "{} is not there; build it with `cargo build --profile dist`",
            options.jelly.display()
        )));
    }
    let processors = std::thread::available_parallelism().map_or(1, usize::from);
    println!("{} runs of each, {processors} processors\n", options.runs);
    head();
    bench.version()?;
    bench.calls(1, ONE_CALL)?;
    bench.calls(MANY, MANY_CALLS)?;
    bench.memory()?;
    bench.death()?;
    bench.side_by_side()
}

impl Bench<'_> {
    fn version(&self) -> io::Result<()> {
        let runs = self.repeat(self.options.runs, &[0], || {
            let mut command = Command::new(&self.options.jelly);
            command.arg("--version");
            command
        })?;
        times("jelly --version", &runs, Some(VERSION_MS));
        Ok(())
    }

    /// Jelly and the bare client in turn, so that both see the same machine.
    fn calls(&self, calls: usize, (time, memory): (f64, f64)) -> io::Result<()> {
        let legacy = self.plan("calls", &plans::calls(&self.own, "serve", calls))?;
        let modern = plans::calls(&self.own, "serve, modern", calls);
        let modern = self.plan("modern", &modern)?;
        let (mut ours, mut moderns, mut bare) = (Vec::new(), Vec::new(), Vec::new());
        // The first round warms up.
        for round in 0..=self.options.runs {
            let mut client = Command::new(&self.own);
            client.args(["client", &calls.to_string()]);
            let trio = [
                ended(&mut self.jelly(&[&legacy]), &[0])?,
                ended(&mut self.jelly(&[&modern]), &[0])?,
                ended(&mut client, &[0])?,
            ];
            if round > 0 {
                ours.push(trio[0]);
                moderns.push(trio[1]);
                bare.push(trio[2]);
            }
        }
        let name = if calls == 1 {
            "1 call".to_owned()
        } else {
            format!("{calls} calls")
        };
        times(&format!("{name}, bare client"), &bare, None);
        times(&name, &ours, Some(time));
        times(&format!("{name}, modern era"), &moderns, Some(time));
        let own = ours.iter().zip(&bare);
        figure(
            &format!("{name}, above the bare client"),
            Unit::Milliseconds,
            Spread::of(own.map(|(ours, bare)| millis(ours.wall) - millis(bare.wall))),
            None,
        );
        peak(&format!("{name}, peak memory"), &ours, Some(memory));
        Ok(())
    }

    fn memory(&self) -> io::Result<()> {
        for steps in [500, 2_000, 8_000] {
            let text = plans::calls(&self.own, "serve", steps);
            let plan = self.plan("memory", &text)?;
            let runs = self.repeat(3, &[0], || self.jelly(&[&plan]))?;
            peak(&format!("{steps} steps, peak memory"), &runs, None);
        }
        Ok(())
    }

    /// From the server's own note of its death to the end of jelly, reports
    /// written and all.
    fn death(&self) -> io::Result<()> {
        let at = self.folder.path().join("died-at");
        let plan = self.plan("death", &plans::death(&self.own, &at))?;
        let mut latencies = Vec::new();
        for _ in 0..self.options.runs {
            // Where jelly tries again, the last death counts.
            let _ = std::fs::remove_file(&at);
            let run = ended(&mut self.jelly(&[&plan]), &[3])?;
            let text = std::fs::read_to_string(&at)?;
            let died = text
                .lines()
                .last()
                .and_then(|line| line.parse().ok())
                .map(Duration::from_nanos)
                .ok_or_else(|| io::Error::other("the server did not say when it died"))?;
            latencies.push(millis(run.ended.saturating_sub(died)));
        }
        figure(
            "start-up failure: from death to report",
            Unit::Milliseconds,
            Spread::of(latencies),
            Some(DIAGNOSED_MS),
        );
        Ok(())
    }

    /// Ten plans in one call, against the same one after the other.
    fn side_by_side(&self) -> io::Result<()> {
        let script = std::env::current_dir()?.join(EVERYTHING);
        if !script.is_file() {
            println!("\nten plans: left out; ./fixtures/setup installs their server");
            return Ok(());
        }
        let text = plans::everything(&script);
        let plans: Vec<PathBuf> = (0..10)
            .map(|number| self.plan(&format!("everything-{number}"), &text))
            .collect::<io::Result<_>>()?;
        let plans: Vec<&Path> = plans.iter().map(PathBuf::as_path).collect();
        let (mut together, mut serial) = (Vec::new(), Vec::new());
        for round in 0..=self.options.runs.min(5) {
            let one = ended(self.jelly(&plans).args(["--jobs", "1"]), &[0])?;
            let many = ended(&mut self.jelly(&plans), &[0])?;
            if round > 0 {
                serial.push(one);
                together.push(many);
            }
        }
        times("10 plans on server-everything, --jobs 1", &serial, None);
        times("10 plans on server-everything", &together, None);
        let pairs = together.iter().zip(&serial);
        figure(
            "the second by the first",
            Unit::Ratio,
            Spread::of(pairs.map(|(many, one)| millis(many.wall) / millis(one.wall))),
            Some(SIDE_BY_SIDE),
        );
        Ok(())
    }

    fn plan(&self, name: &str, text: &str) -> io::Result<PathBuf> {
        let path = self.folder.path().join(format!("{name}.yaml"));
        std::fs::write(&path, text)?;
        Ok(path)
    }

    /// `jelly run` with its reports out of the way.
    fn jelly(&self, plans: &[&Path]) -> Command {
        let mut command = Command::new(&self.options.jelly);
        command.arg("run").args(plans).arg("--reports-dir");
        command.arg(self.folder.path().join("reports"));
        command
    }

    /// Runs after one that warms up and is not counted.
    fn repeat(
        &self,
        runs: usize,
        codes: &[i32],
        command: impl Fn() -> Command,
    ) -> io::Result<Vec<Run>> {
        ended(&mut command(), codes)?;
        (0..runs).map(|_| ended(&mut command(), codes)).collect()
    }
}

/// A run whose exit code is as expected: what failed is not measured.
fn ended(command: &mut Command, codes: &[i32]) -> io::Result<Run> {
    let run = run(command)?;
    if run.code.is_some_and(|code| codes.contains(&code)) {
        Ok(run)
    } else {
        let text = format!("{command:?} ended with {:?}", run.code);
        Err(io::Error::other(text))
    }
}

fn times(what: &str, runs: &[Run], target: Option<f64>) {
    let wall = Spread::of(runs.iter().map(|run| millis(run.wall)));
    let cpu = Spread::of(runs.iter().map(|run| millis(run.cpu)));
    figure(what, Unit::Milliseconds, wall, target);
    let what = format!("{what}: processor");
    figure(&what, Unit::Milliseconds, cpu, None);
}

fn peak(what: &str, runs: &[Run], target: Option<f64>) {
    #[expect(clippy::cast_precision_loss, reason = "far below 2^53 bytes")]
    let mebibytes = runs
        .iter()
        .map(|run| run.peak_bytes as f64 / 1024.0 / 1024.0);
    figure(what, Unit::Mebibytes, Spread::of(mebibytes), target);
}

fn millis(time: Duration) -> f64 {
    time.as_secs_f64() * 1000.0
}
