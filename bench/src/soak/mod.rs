//! `jelly-bench soak`: random plans against random faults with random signals.
//!
//! After each run nothing may be alive, every report must be valid, no planted
//! secret may stand anywhere, and the exit code must be one that the injected
//! faults allow. A seed and a number give the same run again.

mod inspect;
mod scenario;

use fastrand::Rng;
use inspect::{Ended, findings};
use jsonschema::Validator;
use scenario::{Scenario, Signal};
use std::io::{self, Read};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicU64, Ordering};
use std::thread;
use std::time::{Duration, Instant};

/// Longer than any run may take: deadlines, time limits and the end of stubborn
/// servers add up to less.
const HANGS_AFTER: Duration = Duration::from_secs(120);

pub struct SoakOptions {
    pub jelly: PathBuf,
    pub time: Duration,
    pub seed: u64,
    /// Runs at the same time; most wait.
    pub workers: usize,
    /// This run alone.
    pub run: Option<u64>,
}

impl SoakOptions {
    pub fn parse(args: &[&str]) -> Option<Self> {
        let mut options = Self {
            jelly: std::env::current_exe().ok()?.with_file_name("jelly"),
            time: Duration::from_secs(120),
            seed: 0,
            workers: thread::available_parallelism().map_or(1, usize::from),
            run: None,
        };
        let mut args = args.iter();
        while let Some(arg) = args.next() {
            let value = args.next()?;
            match *arg {
                "--jelly" => options.jelly = value.into(),
                "--seconds" => options.time = Duration::from_secs(value.parse().ok()?),
                "--seed" => options.seed = value.parse().ok()?,
                "--workers" => options.workers = value.parse().ok().filter(|n| *n > 0)?,
                "--run" => options.run = Some(value.parse().ok()?),
                _ => return None,
            }
        }
        Some(options)
    }
}

/// Runs until the time is over.
///
/// # Errors
/// Something did not hold, or jelly can't be run at all.
pub fn soak(options: &SoakOptions) -> io::Result<()> {
    let jelly = options.jelly.canonicalize()?;
    let schema = results_schema(&jelly)?;
    // A shell starts what runs beside it with SIGINT ignored, and jelly would inherit
    // that until it takes its signals over.
    // SAFETY: sets a disposition, before any thread of ours.
    unsafe { libc::signal(libc::SIGINT, libc::SIG_DFL) };
    let began = Instant::now();
    let next = AtomicU64::new(options.run.unwrap_or(0));
    let runs = AtomicU64::new(0);
    let failed = AtomicU64::new(0);
    let work = || -> io::Result<()> {
        loop {
            let run = next.fetch_add(1, Ordering::Relaxed);
            let over = match options.run {
                Some(only) => run > only,
                None => began.elapsed() >= options.time,
            };
            if over {
                return Ok(());
            }
            let found = one_run(&jelly, options.seed, run, &schema)?;
            runs.fetch_add(1, Ordering::Relaxed);
            if !found.is_empty() {
                failed.fetch_add(1, Ordering::Relaxed);
                println!("seed {} run {run}:", options.seed);
                for finding in found {
                    println!("  {finding}");
                }
            }
        }
    };
    let ended: Vec<io::Result<()>> = thread::scope(|scope| {
        let workers: Vec<_> = (0..options.workers).map(|_| scope.spawn(work)).collect();
        let joined = |worker: thread::ScopedJoinHandle<'_, io::Result<()>>| {
            worker
                .join()
                .unwrap_or_else(|_| Err(io::Error::other("a worker panicked")))
        };
        workers.into_iter().map(joined).collect()
    });
    for end in ended {
        end?;
    }
    let (runs, failed) = (runs.into_inner(), failed.into_inner());
    println!(
        "{runs} runs in {} s, seed {}: {failed} with findings",
        began.elapsed().as_secs(),
        options.seed
    );
    match failed {
        0 if runs > 0 => Ok(()),
        0 => Err(io::Error::other("nothing was run")),
        _ => Err(io::Error::other("something did not hold")),
    }
}

fn results_schema(jelly: &Path) -> io::Result<Validator> {
    let printed = Command::new(jelly).args(["schema", "results"]).output()?;
    let schema = serde_json::from_slice(&printed.stdout)?;
    jsonschema::validator_for(&schema).map_err(|error| io::Error::other(error.to_string()))
}

/// One scenario in a folder of its own; what did not hold.
fn one_run(jelly: &Path, seed: u64, run: u64, schema: &Validator) -> io::Result<Vec<String>> {
    let mut rng = Rng::with_seed(seed.wrapping_mul(0x9e37_79b9_7f4a_7c15) ^ run);
    let scenario = Scenario::draw(&mut rng, &jelly.display().to_string());
    let folder = tempfile::tempdir()?;
    let (project, temporary) = (folder.path().join("project"), folder.path().join("tmp"));
    std::fs::create_dir(&project)?;
    std::fs::create_dir(&temporary)?;
    std::fs::write(project.join("plan.yaml"), &scenario.plan)?;
    let secret: String = (0..24).map(|_| rng.alphanumeric()).collect();
    let marker = format!("JELLY_SOAK={}-{seed}-{run}", std::process::id());
    let mut child = Command::new(jelly)
        .args(["run", "plan.yaml"])
        .args(&scenario.flags)
        .current_dir(&project)
        .env("JELLY_SOAK", marker.trim_start_matches("JELLY_SOAK="))
        .env("SOAK_SECRET", &secret)
        .env("TMPDIR", &temporary)
        .stdin(Stdio::null())
        .stdout(Stdio::piped())
        .stderr(Stdio::piped())
        .spawn()?;
    let stdout = reading(child.stdout.take());
    let stderr = reading(child.stderr.take());
    let (code, sent, hung) = ended(&mut child, &scenario)?;
    let stdout = stdout.join().unwrap_or_default();
    let stderr = stderr.join().unwrap_or_default();
    let mut found = findings(
        &Ended {
            scenario: &scenario,
            sent: &sent,
            code,
            stdout: &stdout,
            stderr: &stderr,
            project: &project,
            temporary: &temporary,
            secret: &secret,
            marker: &marker,
        },
        schema,
    )?;
    if hung {
        found.push(format!("it hung for {} s", HANGS_AFTER.as_secs()));
    }
    if !found.is_empty() {
        found.push(format!(
            "flags {:?}, signals {:?}, of which {} were sent",
            scenario.flags,
            scenario.signals,
            sent.len()
        ));
        let kept = folder.keep();
        found.push(format!("all of it is kept in {}", kept.display()));
        std::fs::write(kept.join("stdout"), stdout)?;
        std::fs::write(kept.join("stderr"), stderr)?;
    }
    Ok(found)
}

fn reading(pipe: Option<impl Read + Send + 'static>) -> thread::JoinHandle<Vec<u8>> {
    thread::spawn(move || {
        let mut bytes = Vec::new();
        if let Some(mut pipe) = pipe {
            // What was read until then is what there is.
            let _ = pipe.read_to_end(&mut bytes);
        }
        bytes
    })
}

/// Sends the signals in time, and waits for the end.
fn ended(child: &mut Child, scenario: &Scenario) -> io::Result<(Option<i32>, Vec<Signal>, bool)> {
    let began = Instant::now();
    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let mut due = began;
    let mut signals = scenario.signals.iter();
    let mut next = signals.next();
    let mut sent = Vec::new();
    loop {
        if let Some(status) = child.try_wait()? {
            return Ok((status.code(), sent, false));
        }
        if let Some((after, signal)) = next
            && due + *after <= Instant::now()
        {
            // SAFETY: the child is ours and not reaped yet, so the id is its own.
            unsafe { libc::kill(pid, signal.number()) };
            sent.push(*signal);
            due = Instant::now();
            next = signals.next();
        }
        if began.elapsed() > HANGS_AFTER {
            child.kill()?;
            sent.push(Signal::Kill);
            let status = child.wait()?;
            return Ok((status.code(), sent, true));
        }
        thread::sleep(Duration::from_millis(2));
    }
}
