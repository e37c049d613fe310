//! What `jelly proxy` costs: beside it, in turn, the bare server and a byte
//! pump that only copies.
//!
//! All three are started once, and take turns round by round, so that each sees
//! the same machine. The server answers with what it was sent, so that an
//! answer that is lost or crossed with another is an error.

use crate::Options;
use crate::measure::Spread;
use crate::table::{Unit, figure, head};
use std::fs;
use std::io::{self, BufRead, BufReader, Read, Write};
use std::path::Path;
use std::process::{Child, ChildStdin, ChildStdout, Command, Stdio};
use std::thread;
use std::time::Instant;

/// What a call may take above the bare server, in milliseconds.
const MEDIAN_MS: f64 = 0.05;
const P99_MS: f64 = 0.2;
/// How many times as long as the pump many at once may take.
const TIMES_PUMP: f64 = 2.0;
/// How much memory may grow over many calls, in MiB.
const GROWTH_MIB: f64 = 1.0;

const CALLS: usize = 1_000;
const AT_ONCE: usize = 1_000;
const MANY: usize = 100_000;
const NOTICES: usize = 100_000;
const BIG: usize = 20_000_000;

/// Measures, and prints the figures.
pub fn measure(options: &Options) -> io::Result<()> {
    let own = std::env::current_exe()?;
    let server = [own.display().to_string(), "echo-server".to_owned()];
    let mut bare = Command::new(&server[0]);
    bare.args(&server[1..]);
    let mut pump = Command::new(&own);
    pump.arg("pump").args(&server);
    let mut proxy = Command::new(&options.jelly);
    proxy.args(["proxy", "--"]).args(&server);
    let mut lanes = [
        Lane::start("bare server", &mut bare)?,
        Lane::start("byte pump", &mut pump)?,
        Lane::start("jelly proxy", &mut proxy)?,
    ];
    println!("{} rounds of each\n", options.runs);
    head();
    sequential(&mut lanes, options.runs)?;
    at_once(&mut lanes, options.runs)?;
    memory(&mut lanes[2], &options.jelly)?;
    large(&mut lanes, options.runs.min(5))?;
    notices(&mut lanes, options.runs.min(5))?;
    let used = memory_of(lanes[2].child.id(), &options.jelly)?;
    figure(
        "peak memory of the proxy, all of it",
        Unit::Mebibytes,
        Spread::of([used.peak]),
        None,
    );
    lanes.into_iter().try_for_each(Lane::stop)
}

/// One call after the other.
fn sequential(lanes: &mut [Lane; 3], rounds: usize) -> io::Result<()> {
    let mut medians: [Vec<f64>; 3] = Default::default();
    let mut slowest: [Vec<f64>; 3] = Default::default();
    for round in 0..=rounds {
        for (at, lane) in lanes.iter_mut().enumerate() {
            let mut times = Vec::with_capacity(CALLS);
            for _ in 0..CALLS {
                let since = Instant::now();
                lane.call("echo")?;
                lane.answer()?;
                times.push(since.elapsed().as_secs_f64() * 1000.0);
            }
            times.sort_by(f64::total_cmp);
            // The first round warms up.
            if round > 0 {
                medians[at].push(times[CALLS / 2]);
                slowest[at].push(times[CALLS * 99 / 100]);
            }
        }
    }
    for (name, times, limit) in [("median", &medians, MEDIAN_MS), ("p99", &slowest, P99_MS)] {
        for (lane, times) in lanes.iter().zip(times) {
            let what = format!("a call, {name}, {}", lane.name);
            figure(&what, Unit::Microseconds, Spread::of(times.clone()), None);
        }
        let above = |at: usize| {
            let pairs = times[at].iter().zip(&times[0]);
            Spread::of(pairs.map(|(with, bare)| with - bare).collect::<Vec<_>>())
        };
        let what = format!("a call, {name}, above the bare server");
        figure(&format!("{what}, pump"), Unit::Microseconds, above(1), None);
        figure(
            &format!("{what}, jelly"),
            Unit::Microseconds,
            above(2),
            Some(limit),
        );
    }
    Ok(())
}

/// Many calls before the first answer is read.
fn at_once(lanes: &mut [Lane; 3], rounds: usize) -> io::Result<()> {
    let mut times: [Vec<f64>; 3] = Default::default();
    for round in 0..=rounds {
        for (at, lane) in lanes.iter_mut().enumerate() {
            let since = Instant::now();
            lane.burst(AT_ONCE)?;
            if round > 0 {
                times[at].push(since.elapsed().as_secs_f64() * 1000.0);
            }
        }
    }
    for (lane, times) in lanes.iter().zip(&times) {
        let what = format!("{AT_ONCE} calls at once, {}", lane.name);
        figure(&what, Unit::Milliseconds, Spread::of(times.clone()), None);
    }
    let pairs = times[2].iter().zip(&times[1]);
    figure(
        "the proxy's by the pump's",
        Unit::Ratio,
        Spread::of(pairs.map(|(proxy, pump)| proxy / pump)),
        Some(TIMES_PUMP),
    );
    Ok(())
}

fn memory(lane: &mut Lane, jelly: &Path) -> io::Result<()> {
    let pid = lane.child.id();
    for _ in 0..MANY / 10 / AT_ONCE {
        lane.burst(AT_ONCE)?;
    }
    let first = memory_of(pid, jelly)?;
    for _ in 0..(MANY - MANY / 10) / AT_ONCE {
        lane.burst(AT_ONCE)?;
    }
    let last = memory_of(pid, jelly)?;
    figure(
        &format!("memory of the proxy after {MANY} calls"),
        Unit::Mebibytes,
        Spread::of([last.now]),
        None,
    );
    figure(
        "what of it came after the first tenth",
        Unit::Mebibytes,
        Spread::of([last.now - first.now]),
        Some(GROWTH_MIB),
    );
    Ok(())
}

fn large(lanes: &mut [Lane; 3], rounds: usize) -> io::Result<()> {
    for lane in lanes {
        let mut times = Vec::new();
        for _ in 0..rounds {
            let since = Instant::now();
            lane.call("large")?;
            let length = lane.answer()?;
            times.push(since.elapsed().as_secs_f64() * 1000.0);
            if length < BIG {
                return Err(io::Error::other(format!("{length} bytes of {BIG}")));
            }
        }
        let what = format!("a result of 20 MB, {}", lane.name);
        figure(&what, Unit::Milliseconds, Spread::of(times), None);
    }
    Ok(())
}

fn notices(lanes: &mut [Lane; 3], rounds: usize) -> io::Result<()> {
    for lane in lanes {
        let mut times = Vec::new();
        for _ in 0..rounds {
            let since = Instant::now();
            lane.call("notices")?;
            for number in 0..NOTICES {
                lane.read()?;
                let told = after(&lane.line, r#""progress":"#);
                if told != Some(number.to_string().as_str()) {
                    let what = format!("notification {number} is lost: {}", lane.line);
                    return Err(io::Error::other(what));
                }
            }
            lane.answer()?;
            times.push(since.elapsed().as_secs_f64() * 1000.0);
        }
        let what = format!("{NOTICES} notifications, {}", lane.name);
        figure(&what, Unit::Milliseconds, Spread::of(times), None);
    }
    Ok(())
}

/// A client with what it talks to.
struct Lane {
    name: &'static str,
    child: Child,
    stdin: ChildStdin,
    stdout: BufReader<ChildStdout>,
    line: String,
    /// The id of the latest call.
    id: usize,
}

impl Lane {
    fn start(name: &'static str, command: &mut Command) -> io::Result<Self> {
        let mut child = command
            .stdin(Stdio::piped())
            .stdout(Stdio::piped())
            .spawn()?;
        let (Some(stdin), Some(stdout)) = (child.stdin.take(), child.stdout.take()) else {
            return Err(io::Error::other("it has no pipes"));
        };
        let mut lane = Self {
            name,
            child,
            stdin,
            stdout: BufReader::with_capacity(64 * 1024, stdout),
            line: String::new(),
            id: 0,
        };
        lane.stdin.write_all(
            concat!(
                r#"{"jsonrpc":"2.0","id":0,"method":"initialize","params":{"protocolVersion":"2025-11-25","capabilities":{},"clientInfo":{"name":"bench","version":"1"}}}"#,
                "\n"
            )
            .as_bytes(),
        )?;
        lane.read()?;
        let opened = r#"{"jsonrpc":"2.0","method":"notifications/initialized"}"#;
        lane.stdin.write_all(format!("{opened}\n").as_bytes())?;
        Ok(lane)
    }

    fn call(&mut self, tool: &str) -> io::Result<()> {
        self.id += 1;
        let request = request(tool, self.id);
        self.stdin.write_all(request.as_bytes())
    }

    /// The length of the answer to the latest call.
    fn answer(&mut self) -> io::Result<usize> {
        self.read()?;
        let id = self.checked()?;
        if id != self.id {
            let what = format!("{id} was answered, and {} asked", self.id);
            return Err(io::Error::other(what));
        }
        Ok(self.line.len())
    }

    /// Asks so many, then reads all answers.
    fn burst(&mut self, calls: usize) -> io::Result<()> {
        let first = self.id + 1;
        let requests: String = (first..first + calls)
            .map(|id| request("echo", id))
            .collect();
        self.id += calls;
        let mut seen = vec![false; calls];
        let stdin = &mut self.stdin;
        let (stdout, line) = (&mut self.stdout, &mut self.line);
        let mut read_all = || -> io::Result<()> {
            for _ in 0..calls {
                line.clear();
                if stdout.read_line(line)? == 0 {
                    return Err(io::ErrorKind::UnexpectedEof.into());
                }
                let id = echoed(line)?;
                let place = id.checked_sub(first).and_then(|at| seen.get_mut(at));
                match place {
                    Some(place) if !*place => *place = true,
                    _ => return Err(io::Error::other(format!("nobody asked so: {line}"))),
                }
            }
            Ok(())
        };
        // Both ends at once: no pipe is as long as that.
        thread::scope(|scope| {
            let writes = scope.spawn(move || stdin.write_all(requests.as_bytes()));
            let read = read_all();
            if read.is_err() {
                // Nobody would take the rest of what is written.
                self.child.kill()?;
            }
            let written = writes.join();
            read.and(written.unwrap_or_else(|_| Err(io::Error::other("the writer panicked"))))
        })
    }

    fn read(&mut self) -> io::Result<()> {
        self.line.clear();
        match self.stdout.read_line(&mut self.line)? {
            0 => Err(io::ErrorKind::UnexpectedEof.into()),
            _ => Ok(()),
        }
    }

    fn checked(&self) -> io::Result<usize> {
        echoed(&self.line)
    }

    fn stop(mut self) -> io::Result<()> {
        drop(self.stdin);
        self.child.wait().map(drop)
    }
}

fn request(tool: &str, id: usize) -> String {
    format!(
        "{{\"jsonrpc\":\"2.0\",\"id\":{id},\"method\":\"tools/call\",\"params\":{{\"name\":\
         \"{tool}\",\"arguments\":{{\"number\":{id}}}}}}}\n"
    )
}

/// The id of an answer, which holds what its call was sent.
fn echoed(line: &str) -> io::Result<usize> {
    let id = after(line, r#""id":"#);
    if id.is_none() || id != after(line, "number ") {
        let head: String = line.chars().take(200).collect();
        return Err(io::Error::other(format!("crossed, or no answer: {head}")));
    }
    id.unwrap_or_default().parse().map_err(io::Error::other)
}

/// The digits behind a text.
fn after<'a>(line: &'a str, key: &str) -> Option<&'a str> {
    let (_, rest) = line.split_once(key)?;
    let end = rest.find(|c: char| !c.is_ascii_digit())?;
    (end > 0).then_some(&rest[..end])
}

/// Answers calls with what they were sent.
pub fn serve() -> io::Result<()> {
    let mut input = BufReader::with_capacity(64 * 1024, io::stdin().lock());
    let mut output = io::stdout().lock();
    let large = "x".repeat(BIG);
    let (mut line, mut answer) = (String::new(), String::new());
    loop {
        line.clear();
        if input.read_line(&mut line)? == 0 {
            return Ok(());
        }
        let Some(id) = after(&line, r#""id":"#) else {
            continue;
        };
        answer.clear();
        answer.push_str(&format!(r#"{{"jsonrpc":"2.0","id":{id},"result":{{"#));
        if line.contains("initialize") {
            answer.push_str(r#""protocolVersion":"2025-11-25","capabilities":{"tools":{}},"serverInfo":{"name":"echo","version":"1"}"#);
        } else {
            let more = if line.contains(r#""large""#) {
                large.as_str()
            } else {
                ""
            };
            let number = after(&line, r#""number":"#).unwrap_or_default();
            answer.push_str(r#""content":[{"type":"text","text":"number "#);
            answer.push_str(number);
            answer.push_str(" \"}");
            if !more.is_empty() {
                answer.push_str(&format!(r#",{{"type":"text","text":"{more}"}}"#));
            }
            answer.push(']');
        }
        answer.push_str("}}\n");
        if line.contains(r#""notices""#) {
            let mut told = String::new();
            for number in 0..NOTICES {
                told.push_str(&format!(
                    "{{\"jsonrpc\":\"2.0\",\"method\":\"notifications/progress\",\"params\":{{\
                     \"progressToken\":1,\"progress\":{number}}}}}\n"
                ));
                if told.len() > 32 * 1024 {
                    output.write_all(told.as_bytes())?;
                    told.clear();
                }
            }
            output.write_all(told.as_bytes())?;
        }
        output.write_all(answer.as_bytes())?;
        output.flush()?;
    }
}

/// Copies between its own pipes and those of a command.
pub fn pump(command: &[&str]) -> io::Result<()> {
    let [program, args @ ..] = command else {
        return Err(io::Error::other("pump COMMAND [ARGS]..."));
    };
    let mut child = Command::new(program)
        .args(args)
        .stdin(Stdio::piped())
        .stdout(Stdio::piped())
        .spawn()?;
    let (Some(mut stdin), Some(mut stdout)) = (child.stdin.take(), child.stdout.take()) else {
        return Err(io::Error::other("the server has no pipes"));
    };
    let forth = thread::spawn(move || copy(&mut io::stdin().lock(), &mut stdin));
    copy(&mut stdout, &mut io::stdout().lock())?;
    child.wait()?;
    forth.join().unwrap_or(Ok(()))
}

/// Not by `io::copy`, which splices where it can: what is compared with reads
/// what it copies.
fn copy(from: &mut impl Read, to: &mut impl Write) -> io::Result<()> {
    let mut buffer = vec![0; 64 * 1024];
    loop {
        let read = from.read(&mut buffer)?;
        if read == 0 {
            return Ok(());
        }
        to.write_all(&buffer[..read])?;
        to.flush()?;
    }
}

/// Of all processes of one program, in MiB.
struct MemoryUsed {
    now: f64,
    peak: f64,
}

/// What a process and those that it started use, as far as they run `program`.
fn memory_of(pid: u32, program: &Path) -> io::Result<MemoryUsed> {
    let program = fs::canonicalize(program)?;
    let (mut used, mut todo) = (
        MemoryUsed {
            now: 0.0,
            peak: 0.0,
        },
        vec![pid],
    );
    while let Some(pid) = todo.pop() {
        if fs::read_link(format!("/proc/{pid}/exe")).ok().as_ref() != Some(&program) {
            continue;
        }
        let status = fs::read_to_string(format!("/proc/{pid}/status"))?;
        let kibibytes = |key: &str| -> f64 {
            let line = status.lines().find_map(|line| line.strip_prefix(key));
            let number = line.and_then(|line| line.split_whitespace().next());
            number
                .and_then(|number| number.parse().ok())
                .unwrap_or(f64::NAN)
        };
        used.now += kibibytes("VmRSS:") / 1024.0;
        used.peak += kibibytes("VmHWM:") / 1024.0;
        let children = fs::read_to_string(format!("/proc/{pid}/task/{pid}/children"))?;
        todo.extend(
            children
                .split_whitespace()
                .filter_map(|pid| pid.parse::<u32>().ok()),
        );
    }
    Ok(used)
}
