//! One finished process, by the system's own account.

use std::io;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant, SystemTime, UNIX_EPOCH};

/// What a run took. Times and memory include everything that the process
/// started and waited for; the memory is that of the largest one.
#[derive(Clone, Copy)]
pub struct Run {
    pub wall: Duration,
    pub cpu: Duration,
    pub peak_bytes: u64,
    pub code: Option<i32>,
    /// When it ended, since 1970.
    pub ended: Duration,
}

/// Runs the command to its end; what it prints is thrown away.
pub fn run(command: &mut Command) -> io::Result<Run> {
    command
        .stdin(Stdio::null())
        .stdout(Stdio::null())
        .stderr(Stdio::null());
    let started = Instant::now();
    let child = command.spawn()?;
    let pid = libc::pid_t::try_from(child.id()).map_err(io::Error::other)?;
    let mut status = 0;
    // SAFETY: all zeroes is a valid rusage.
    let mut usage: libc::rusage = unsafe { std::mem::zeroed() };
    // SAFETY: both places are ours to write, and the child is ours to reap:
    // its handle is not used any more.
    let reaped = unsafe { libc::wait4(pid, &raw mut status, 0, &raw mut usage) };
    let wall = started.elapsed();
    let ended = SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_err(io::Error::other)?;
    if reaped != pid {
        return Err(io::Error::last_os_error());
    }
    // macOS counts bytes, the others KiB.
    let unit = if cfg!(target_os = "macos") { 1 } else { 1024 };
    Ok(Run {
        wall,
        cpu: time(usage.ru_utime) + time(usage.ru_stime),
        peak_bytes: u64::try_from(usage.ru_maxrss).unwrap_or(0) * unit,
        code: libc::WIFEXITED(status).then(|| libc::WEXITSTATUS(status)),
        ended,
    })
}

fn time(value: libc::timeval) -> Duration {
    Duration::from_micros(
        u64::try_from(value.tv_sec).unwrap_or(0) * 1_000_000
            + u64::try_from(value.tv_usec).unwrap_or(0),
    )
}

/// Smallest, median and largest of many.
#[derive(Clone, Copy)]
pub struct Spread {
    pub min: f64,
    pub median: f64,
    pub max: f64,
}

impl Spread {
    /// Of at least one value.
    pub fn of(values: impl IntoIterator<Item = f64>) -> Self {
        let mut values: Vec<f64> = values.into_iter().collect();
        values.sort_by(f64::total_cmp);
        let at = |index: usize| values.get(index).copied().unwrap_or(f64::NAN);
        let middle = values.len() / 2;
        Self {
            min: at(0),
            median: if values.len() % 2 == 1 {
                at(middle)
            } else {
                f64::midpoint(at(middle.saturating_sub(1)), at(middle))
            },
            max: at(values.len().saturating_sub(1)),
        }
    }
}
