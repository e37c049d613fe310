//! A large test report, and what reading it costs: alone, through the bare
//! event loop of the XML parser, and through all of `jelly triage`.

use crate::Options;
use crate::measure::{self, Spread};
use quick_xml::Reader;
use quick_xml::events::Event;
use std::fs::File;
use std::io::{self, BufReader, BufWriter, Write};
use std::path::Path;
use std::process::Command;

const CASES_OF_A_SUITE: u64 = 1_000;

/// What is generated.
#[derive(Clone, Copy)]
pub struct Size {
    cases: u64,
    /// One case in so many fails.
    one_fails_of: u64,
}

/// A million cases, twenty thousand of them failed.
pub const LARGE: Size = Size {
    cases: 1_000_000,
    one_fails_of: 50,
};
/// A thousand cases, all of them failed.
const FAILED: Size = Size {
    cases: 1_000,
    one_fails_of: 1,
};

/// At most so many times the CPU time of the bare event loop, and so much
/// memory, for all of triage.
const TARGET_TIMES: f64 = 4.5;
const TARGET_BYTES: u64 = 64 << 20;
/// Well under a second for a thousand failures, by the clock.
const TARGET_COLD: f64 = 0.5;

/// Numbers that look like chance, and are the same each time.
struct Numbers(u64);

impl Numbers {
    fn next(&mut self, below: u64) -> u64 {
        self.0 ^= self.0 << 13;
        self.0 ^= self.0 >> 7;
        self.0 ^= self.0 << 17;
        self.0 % below
    }
}

/// Writes a report.
pub fn generate(path: &Path, size: Size) -> io::Result<()> {
    let Size {
        cases,
        one_fails_of,
    } = size;
    let mut out = BufWriter::with_capacity(1 << 20, File::create(path)?);
    let mut numbers = Numbers(0x2545_f491_4f6c_dd1d);
    let failures = cases / one_fails_of;
    writeln!(
        out,
        "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuites tests=\"{cases}\" \
         failures=\"{failures}\" errors=\"0\" skipped=\"0\" time=\"5210.250\">"
    )?;
    for suite in 0..cases / CASES_OF_A_SUITE {
        writeln!(
            out,
            "  <testsuite name=\"com.example.shop.module{suite}.CheckoutServiceTest\" \
             tests=\"{CASES_OF_A_SUITE}\" failures=\"{}\" errors=\"0\" skipped=\"0\" \
             timestamp=\"2026-11-22T06:00:00\" hostname=\"runner-{}\" time=\"5.210\">",
            CASES_OF_A_SUITE / one_fails_of,
            suite % 16,
        )?;
        for case in 0..CASES_OF_A_SUITE {
            let fails = case % one_fails_of == 7 % one_fails_of;
            write_case(&mut out, &mut numbers, suite, case, fails)?;
        }
        writeln!(out, "  </testsuite>")?;
    }
    writeln!(out, "</testsuites>")?;
    out.flush()
}

fn write_case(
    out: &mut impl Write,
    numbers: &mut Numbers,
    suite: u64,
    case: u64,
    fails: bool,
) -> io::Result<()> {
    write!(
        out,
        "    <testcase classname=\"com.example.shop.module{suite}.CheckoutServiceTest\" \
         name=\"charges the card of the customer exactly once when the order is paid twice, variant {case}\" \
         file=\"src/test/java/com/example/shop/module{suite}/CheckoutServiceTest.java\" \
         line=\"{}\" time=\"0.{:03}\"",
        10 + case,
        numbers.next(1000)
    )?;
    if fails {
        writeln!(out, ">")?;
        failure(out, numbers)?;
        return writeln!(out, "    </testcase>");
    }
    match case % 5 {
        0 => writeln!(
            out,
            ">\n      <system-out><![CDATA[2026-11-22T06:00:00.{:03}Z INFO  [main] \
             c.e.shop.Checkout - order {} paid\n2026-11-22T06:00:00.000Z DEBUG [pool-{}] \
             c.e.shop.Ledger - balance is {} & <settled>]]></system-out>\n    </testcase>",
            numbers.next(1000),
            numbers.next(1_000_000),
            numbers.next(9),
            numbers.next(100_000),
        ),
        1 => writeln!(
            out,
            ">\n      <properties>\n        <property name=\"owner\" value=\"team-{}\"/>\n\
             \x20       <property name=\"requirement\" value=\"REQ-{}\"/>\n      </properties>\n\
             \x20   </testcase>",
            numbers.next(9),
            numbers.next(100_000),
        ),
        _ => writeln!(out, "/>"),
    }
}

/// A failure in the style of one of several frameworks, with its stack.
fn failure(out: &mut impl Write, numbers: &mut Numbers) -> io::Result<()> {
    let [a, b, c] = [(); 3].map(|()| numbers.next(90_000));
    let (type_, message, frame, last) = match numbers.next(6) {
        0 => (
            "org.opentest4j.AssertionFailedError",
            format!("expected: &lt;{a}&gt; but was: &lt;{b}&gt;"),
            "\tat com.example.shop.Checkout$Step{n}.run(Checkout.java:{n})",
            "\tat org.junit.jupiter.engine.execution.MethodInvocation.proceed(MethodInvocation.java:60)",
        ),
        1 => (
            "java.util.concurrent.CompletionException",
            format!("java.net.ConnectException: Connection refused: db-{a}.internal:5432"),
            "\tat com.example.db.Pool{n}.borrow(Pool.java:{n})",
            "Caused by: java.net.ConnectException: Connection refused\n\tat java.base/sun.nio.ch.Net.pollConnect(Native Method)",
        ),
        2 => (
            "AssertionError",
            format!("assert {a} == {b}&#10; +  where {a} = total(order={c})"),
            "tests/test_checkout.py:{n}: in step_{n}\n    assert total(order) == expected",
            "E       AssertionError",
        ),
        3 => (
            "Error",
            format!(
                "expect(received).toBe(expected) // Object.is equality&#10;&#10;Expected: {a}&#10;Received: {b}"
            ),
            "    at Object.&lt;anonymous&gt; (/srv/ci/w{n}/src/checkout.test.ts:{n}:13)",
            "    at processTicksAndRejections (node:internal/process/task_queues:105:5)",
        ),
        4 => (
            "System.TimeoutException",
            format!("The operation has timed out after {a} ms waiting for order {b}."),
            "   at Shop.Checkout.Step{n}(Order order) in /src/Shop/Checkout.cs:line {n}",
            "   at Xunit.Sdk.TestInvoker`1.CallTestMethod(Object testClassInstance)",
        ),
        _ => (
            "panic",
            format!("runtime error: index out of range [{a}] with length {b}"),
            "shop/checkout.step{n}(0xc000{n})\n\t/home/ci/go/src/shop/checkout.go:{n} +0x1d",
            "testing.tRunner(0xc0001, 0x5)\n\t/usr/local/go/src/testing/testing.go:1690 +0xf4",
        ),
    };
    writeln!(
        out,
        "      <failure type=\"{type_}\" message=\"{message}\">{message}"
    )?;
    for _ in 0..12 + numbers.next(20) {
        let n = numbers.next(400).to_string();
        writeln!(out, "{}", frame.replace("{n}", &n))?;
    }
    writeln!(out, "{last}</failure>")
}

/// The bare event loop over a file: what reading costs at the least.
pub fn bare(path: &str) -> io::Result<()> {
    let mut reader = Reader::from_reader(BufReader::with_capacity(64 << 10, File::open(path)?));
    let mut buffer = Vec::new();
    let mut events = 0_u64;
    loop {
        buffer.clear();
        match reader.read_event_into(&mut buffer) {
            Ok(Event::Eof) => break,
            Ok(_) => events += 1,
            Err(error) => return Err(io::Error::other(error)),
        }
    }
    println!("{events}");
    Ok(())
}

/// Measures all of `jelly triage` beside the bare event loop.
pub fn measure(options: &Options) -> io::Result<()> {
    let folder = tempfile::tempdir()?;
    let path = folder.path().join("junit.xml");
    generate(&path, LARGE)?;
    let size = std::fs::metadata(&path)?.len();
    println!("report of {} cases, {} MB", LARGE.cases, size / 1_000_000);
    let itself = std::env::current_exe()?;
    let bare = runs(options.runs.min(5), || {
        let mut command = Command::new(&itself);
        command.arg("bare-loop").arg(&path);
        command
    })?;
    let triage = runs(options.runs.min(5), || {
        let mut command = Command::new(&options.jelly);
        command.args(["triage", "--format", "json"]).arg(&path);
        command.current_dir(folder.path());
        command
    })?;
    let times = triage.0.median / bare.0.median;
    let met = |met: bool| if met { "met" } else { "MISSED" };
    println!(
        "bare event loop:              {:.2} s CPU, {} MiB",
        bare.0.median,
        bare.1 >> 20
    );
    println!(
        "jelly triage --format json:   {:.2} s CPU, {} MiB",
        triage.0.median,
        triage.1 >> 20
    );
    println!(
        "times the bare event loop:    {times:.2}, at most {TARGET_TIMES}: {}",
        met(times <= TARGET_TIMES)
    );
    println!(
        "peak memory:                  {} MiB, at most {}: {}",
        triage.1 >> 20,
        TARGET_BYTES >> 20,
        met(triage.1 <= TARGET_BYTES)
    );
    let path = folder.path().join("failed.xml");
    generate(&path, FAILED)?;
    let mut walls = Vec::new();
    for _ in 0..options.runs {
        let mut command = Command::new(&options.jelly);
        command.args(["triage", "--format", "json"]).arg(&path);
        command.current_dir(folder.path());
        walls.push(measure::run(&mut command)?.wall.as_secs_f64());
    }
    let cold = Spread::of(walls).median;
    println!(
        "{} failures from cold:      {cold:.2} s by the clock, at most {TARGET_COLD}: {}",
        FAILED.cases,
        met(cold <= TARGET_COLD)
    );
    Ok(())
}

/// CPU seconds and the highest peak memory of several runs.
fn runs(count: usize, command: impl Fn() -> Command) -> io::Result<(Spread, u64)> {
    let mut seconds = Vec::new();
    let mut peak = 0;
    for _ in 0..count {
        let run = measure::run(&mut command())?;
        seconds.push(run.cpu.as_secs_f64());
        peak = peak.max(run.peak_bytes);
    }
    Ok((Spread::of(seconds), peak))
}
