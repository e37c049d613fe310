//! `jelly doctor` over servers that mostly wait: twenty of them against the
//! slowest alone.

use super::Options;
use super::measure::{Spread, run};
use std::io;
use std::path::Path;
use std::process::Command;

/// How many times the slowest all of them may take.
const TARGET_TIMES: f64 = 1.3;
const SERVERS: u32 = 20;

/// Seconds that the slowest waits before it starts; the others a bit less each.
const SLOWEST: f64 = 3.0;

/// Measures, and prints the figures.
pub fn measure(options: &Options) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let wall = |from: u32| -> io::Result<Spread> {
        let file = folder.path().join("mcp.json");
        std::fs::write(&file, configuration(&options.jelly, from))?;
        let mut walls = Vec::new();
        for _ in 0..options.runs.min(5) {
            let mut command = Command::new(&options.jelly);
            command.args(["doctor", "--format", "json"]).arg(&file);
            command.current_dir(folder.path());
            let done = run(&mut command)?;
            if done.code != Some(0) {
                let what = format!("a server was not healthy: exit code {:?}", done.code);
                return Err(io::Error::other(what));
            }
            walls.push(done.wall.as_secs_f64());
        }
        Ok(Spread::of(walls))
    };
    let alone = wall(SERVERS - 1)?;
    let all = wall(0)?;
    let times = all.median / alone.median;
    let met = if times <= TARGET_TIMES {
        "met"
    } else {
        "MISSED"
    };
    println!("the slowest server alone:     {:.2} s", alone.median);
    println!("{SERVERS} servers:                   {:.2} s", all.median);
    println!("times the slowest:            {times:.2}, at most {TARGET_TIMES}: {met}");
    Ok(())
}

/// The servers from this one on; the last one is the slowest. Paths and scripts
/// of this program are written alike in JSON and in Rust.
fn configuration(jelly: &Path, from: u32) -> String {
    let servers: Vec<String> = (from..SERVERS)
        .map(|n| {
            let wait = SLOWEST * f64::from(n + 1) / f64::from(SERVERS);
            let script = format!("sleep {wait:.2}; exec \"$0\" mock --era legacy");
            format!("\"server-{n}\": {{ \"command\": \"sh\", \"args\": [\"-c\", {script:?}, {jelly:?}] }}")
        })
        .collect();
    format!("{{ \"mcpServers\": {{ {} }} }}", servers.join(", "))
}
