//! A random plan with random faults, and what it may end with.
//!
//! The oracle is a table, made from what the faults do and from the promises in
//! `docs/security.md`, and knows nothing of the loop: a server that can't start
//! is never green and never the code's fault, a crash in a call never green.

use fastrand::Rng;
use std::collections::BTreeSet;
use std::fmt::Write as _;
use std::time::Duration;

/// Exit codes, as `docs/reports.md` lists them.
pub const PASSED: i32 = 0;
pub const CODE: i32 = 1;
pub const HELP: i32 = 3;
pub const REPAIRED: i32 = 4;

/// A fault of `jelly mock`, and the exit codes with which a run may end of
/// which nothing else is wrong.
struct FaultRow(&'static str, &'static [i32]);

/// Those of the first part change nothing that a step asks for.
const FAULTS: [FaultRow; 62] = [
    FaultRow("slow@call=30ms", &[PASSED]),
    FaultRow("slow@spawn=100ms", &[PASSED]),
    FaultRow("banner=hello", &[PASSED]),
    FaultRow("junk@call=2", &[PASSED]),
    FaultRow("crlf", &[PASSED]),
    FaultRow("split=random", &[PASSED]),
    FaultRow("split=1", &[PASSED]),
    FaultRow("drip@call=1ms", &[PASSED]),
    FaultRow("burst=200", &[PASSED]),
    FaultRow(
        "stderr=Error: connect ECONNREFUSED 127.0.0.1:5432",
        &[PASSED],
    ),
    FaultRow("stderr_flood=2M", &[PASSED]),
    FaultRow("progress=5", &[PASSED]),
    FaultRow("log=busy", &[PASSED]),
    FaultRow("notify=notifications/tools/list_changed", &[PASSED]),
    FaultRow("ignore_eof", &[PASSED]),
    FaultRow("ignore_sigterm", &[PASSED]),
    FaultRow("echo_env@spawn=SOAK_SECRET,plain", &[PASSED]),
    FaultRow("echo_env@spawn=SOAK_SECRET,split", &[PASSED]),
    FaultRow("echo_env@call=SOAK_SECRET,url", &[PASSED]),
    FaultRow("echo_env@call=SOAK_SECRET,base64", &[PASSED]),
    FaultRow("echo_env@call=SOAK_SECRET,json", &[PASSED]),
    FaultRow("grandchild=pid-%", &[PASSED]),
    FaultRow("grandchild=pid-%,setsid", &[PASSED]),
    FaultRow("grandchild=pid-%,setsid,holds", &[PASSED]),
    // `say` declares no output that could be broken.
    FaultRow("schema_breach@call", &[PASSED]),
    // Before the handshake is over nothing is the code's fault.
    FaultRow("exit@spawn=2", &[HELP]),
    FaultRow("exit@handshake=1", &[HELP]),
    FaultRow("kill@handshake=SIGSEGV", &[HELP]),
    FaultRow("panic@handshake=rust", &[HELP]),
    FaultRow("panic@spawn=python", &[HELP]),
    FaultRow("panic@spawn=node", &[HELP]),
    FaultRow("hang@handshake", &[HELP]),
    FaultRow("mute@handshake", &[HELP]),
    FaultRow("close_stdout@spawn", &[HELP]),
    FaultRow("truncate@handshake", &[HELP]),
    FaultRow("junk_only@handshake", &[HELP]),
    FaultRow("http_banner", &[HELP]),
    FaultRow("content_length", &[HELP]),
    FaultRow("wrong_id@handshake", &[HELP]),
    FaultRow("protocol_version", &[HELP]),
    FaultRow("require_env=SOAK_ABSENT", &[HELP]),
    FaultRow("require_dir=/nonexistent/soak", &[HELP]),
    // Time limits and kills are no evidence against the code.
    FaultRow("hang@call", &[HELP]),
    FaultRow("mute@call", &[HELP]),
    FaultRow("truncate@call", &[HELP]),
    FaultRow("kill@call=SIGKILL", &[HELP]),
    FaultRow("kill@call=SIGTERM", &[HELP]),
    // A crash in a call, a broken contract, a value that is wrong twice.
    FaultRow("exit@call=3", &[CODE]),
    FaultRow("panic@call=rust", &[CODE]),
    FaultRow("kill@call=SIGSEGV", &[CODE]),
    FaultRow("wrong_value@call=other", &[CODE]),
    FaultRow("empty_result@call", &[CODE]),
    FaultRow("null_result@call", &[CODE]),
    // Whose fault these are depends on more than the fault; green is none.
    FaultRow("error@call", &[CODE, HELP]),
    FaultRow("wrong_id@call", &[CODE, HELP]),
    FaultRow("close_stdout@call", &[CODE, HELP]),
    FaultRow("exit_after@call=1", &[CODE, HELP]),
    // Since 2026-07-28 a server asks nothing by itself, and may wait in vain;
    // what was answered joins the text, which then is another one.
    FaultRow("ask=ping", &[PASSED, CODE, HELP]),
    FaultRow("ask_nowait=ping", &[PASSED, CODE, HELP]),
    // A server of 2026-07-28 alone is none without an answer to the probe.
    FaultRow("exit@discover=1", &[PASSED, HELP]),
    // By chance: it passes, at once or later, or is wrong in one way or another.
    FaultRow("flaky=0.3", &[PASSED, CODE, HELP, REPAIRED]),
    // Or too slow, where a second fault lets it drip.
    FaultRow("huge@call=3M", &[CODE, HELP]),
];

/// What a signal is and how the run then ends.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Signal {
    Interrupt,
    Terminate,
    Kill,
}

impl Signal {
    pub fn number(self) -> i32 {
        match self {
            Self::Interrupt => libc::SIGINT,
            Self::Terminate => libc::SIGTERM,
            Self::Kill => libc::SIGKILL,
        }
    }
}

/// One run of the soak.
pub struct Scenario {
    pub plan: String,
    pub flags: Vec<String>,
    /// After so long since the start, or since the signal before.
    pub signals: Vec<(Duration, Signal)>,
    /// How it may end where no signal comes in time.
    pub allowed: BTreeSet<i32>,
}

impl Scenario {
    /// The same for the same `rng`.
    pub fn draw(rng: &mut Rng, jelly: &str) -> Self {
        let servers = rng.usize(1..=4);
        let mut plan = String::from("version: 1\nname: soak\nservers:\n");
        let mut allowed = BTreeSet::from([PASSED]);
        for server in 0..servers {
            let mut args = vec!["mock".to_owned(), "--tool".into(), "say=hello".into()];
            // Of two faults of one server the second changes nothing, or one
            // might keep the other from acting.
            let harmless = || FAULTS.iter().filter(|row| row.1 == [PASSED]);
            let rows = [
                (rng.u8(0..3) > 0).then(|| &FAULTS[rng.usize(0..FAULTS.len())]),
                (rng.u8(0..4) == 0)
                    .then(|| harmless().nth(rng.usize(0..harmless().count())))
                    .flatten(),
            ];
            for FaultRow(fault, ends) in rows.into_iter().flatten() {
                args.push("--fault".into());
                args.push(fault.replace('%', &server.to_string()));
                allowed = joined(&allowed, ends);
            }
            match rng.u8(0..4) {
                0 => args.extend(["--era".into(), "legacy".into()]),
                1 => args.extend(["--era".into(), "modern".into()]),
                _ => {}
            }
            let args: Vec<String> = args.iter().map(|arg| format!("{arg:?}")).collect();
            // Writing into a string can't fail.
            let _ = writeln!(
                plan,
                "  s{server}:\n    command: {jelly:?}\n    args: [{}]\n    env: {{ SOAK_SECRET: \
                 \"${{secret:SOAK_SECRET}}\" }}\n    startup_timeout: 6s\n    request_timeout: 3s",
                args.join(", ")
            );
        }
        plan.push_str("steps:\n");
        for step in 0..rng.usize(1..=6) {
            // Each server is used, or its fault would not show.
            let server = step % servers;
            step_line(&mut plan, step, server, rng);
        }
        for server in 0..servers {
            step_line(&mut plan, 10 + server, server, rng);
        }
        Self {
            plan,
            flags: flags(rng),
            signals: signals(rng),
            allowed,
        }
    }
}

fn step_line(plan: &mut String, step: usize, server: usize, rng: &mut Rng) {
    let expect = match rng.u8(0..3) {
        0 => "text: { equals: hello }",
        1 => "text: { contains: hell }, is_error: false",
        _ => "json: [ { path: \"$.content[0].text\", equals: hello } ]",
    };
    let _ = writeln!(
        plan,
        "  - {{ id: step-{step}, server: s{server}, tool: say, expect: {{ {expect} }} }}"
    );
}

/// How a run may end whose parts may end like this: with the gravest.
fn joined(one: &BTreeSet<i32>, other: &[i32]) -> BTreeSet<i32> {
    let rank = |code: &i32| {
        [CODE, HELP, REPAIRED, PASSED]
            .iter()
            .position(|c| c == code)
    };
    one.iter()
        .flat_map(|a| {
            other
                .iter()
                .map(move |b| if rank(a) < rank(b) { *a } else { *b })
        })
        .collect()
}

fn flags(rng: &mut Rng) -> Vec<String> {
    let mut flags = vec![format!("--jobs={}", rng.usize(1..=4))];
    flags.push(format!("--max-iterations={}", rng.usize(2..=4)));
    flags.push("--retries=1".into());
    if rng.bool() {
        flags.push("--format=json".into());
    }
    if rng.bool() {
        flags.push("--record".into());
    }
    if rng.u8(0..4) == 0 {
        flags.push("--strict".into());
    }
    flags
}

fn signals(rng: &mut Rng) -> Vec<(Duration, Signal)> {
    let count = [0, 0, 0, 1, 1, 2, 3][rng.usize(0..7)];
    (0..count)
        .map(|n| {
            let after = Duration::from_millis(rng.u64(0..if n == 0 { 3_000 } else { 400 }));
            let signal = match rng.u8(0..8) {
                0 => Signal::Kill,
                1..=4 => Signal::Interrupt,
                _ => Signal::Terminate,
            };
            (after, signal)
        })
        .collect()
}
