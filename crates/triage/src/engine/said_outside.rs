//! An assertion whose own words tell of something outside of the code: the message that its
//! author gave it is an error of the machine, an error object came in place of a value, or the
//! program that it ran says why it failed. None of it proves anything, and so nobody is blamed.

use super::aggregate::alone;
use super::clues::ended_by_mistake;
use super::diagnose::Engine;
use super::facts::{Facts, FailureSource};
use super::fingerprint::Algorithm;
use super::rule::Audience;
use super::tables::{any_of, built, table};
use jelly_base::model::{Diagnosis, ErrorCategory, Failure, Side};
use jelly_base::text::LazyPattern;
use regex::Regex;
use serde::Deserialize;
use std::sync::LazyLock;

/// Root causes that an author's words tell of the machine as errors of it do: of rights, limits
/// and answers of a service they tell what the code is to do as well.
const MACHINE: [&str; 10] = [
    "command_not_found",
    "connection_refused",
    "connection_reset",
    "disk_full",
    "missing_module",
    "network_dns",
    "network_timeout",
    "package_not_found",
    "port_in_use",
    "resource_exhausted",
];

/// Why nobody is blamed.
const WHY: &str = "What the test says of it may as well come from outside of the code: the machine, \
                   a service or the environment. That proves nothing against the code.";

/// Bytes that are read of a failure, and of a part of it.
const READ: usize = 16 << 10;
const PART: usize = 600;
/// Parts that are read.
const PARTS: usize = 6;

/// `tables/said_outside.yaml`, which says what each list is.
#[derive(Deserialize)]
struct OutsideWords {
    told: Vec<String>,
    outside: Vec<String>,
    told_outside: Vec<String>,
    form: Vec<String>,
    compares: Vec<String>,
    wants: Vec<String>,
    own: Vec<String>,
    compared: Vec<String>,
}

struct OutsideSigns {
    told: Vec<Regex>,
    outside: Regex,
    told_outside: Regex,
    form: Regex,
    compares: Regex,
    wants: Regex,
    own: Regex,
    compared: Regex,
}

static SIGNS: LazyLock<OutsideSigns> = LazyLock::new(|| {
    let words: OutsideWords = table(built!("said_outside"));
    OutsideSigns {
        told: (words.told.iter())
            .map(|form| any_of("m", std::slice::from_ref(form)))
            .collect(),
        outside: any_of("mi", &words.outside),
        told_outside: any_of("mi", &words.told_outside),
        form: any_of("m", &words.form),
        compares: any_of("", &words.compares),
        wants: any_of("", &words.wants),
        own: any_of("", &words.own),
        compared: any_of("m", &words.compared),
    }
});

impl Engine {
    /// Blames nobody for an assertion whose words tell of something outside of the code.
    pub(super) fn doubt_by_words(&self, facts: &Facts<'_>, diagnosis: &mut Diagnosis) {
        if self.says_outside(facts, diagnosis) {
            (diagnosis.side, diagnosis.ambiguous) = (Side::Test, true);
            WHY.clone_into(&mut diagnosis.advice.why);
        }
    }

    /// Whether an assertion that is held against the code shows what is wrong outside of it.
    fn says_outside(&self, facts: &Facts<'_>, diagnosis: &Diagnosis) -> bool {
        let failure = facts.failure;
        if facts.source != FailureSource::Report
            || diagnosis.side != Side::Code
            || diagnosis.error_category != Some(ErrorCategory::Assertion)
            // What may come in place of an expected error is asked elsewhere.
            || diagnosis.root_cause == "expected_error"
            || self.is_asked_first(&diagnosis.rule)
        {
            return false;
        }
        let texts = [failure.message.as_deref(), failure.text.as_deref()];
        let mut texts = texts.into_iter().flatten();
        if texts.any(|text| SIGNS.compared.is_match(head(text))) {
            return true;
        }
        // A program that made a mistake ended of that, whatever it complained of before.
        let texts = [failure.message.as_deref(), failure.text.as_deref()];
        if texts.into_iter().flatten().any(ended_by_mistake) {
            return false;
        }
        parts(failure)
            .iter()
            .any(|part| self.tells_of_outside(failure, part))
    }

    /// Whether what an assertion says of why tells of something outside of the code.
    fn tells_of_outside(&self, failure: &Failure, part: &str) -> bool {
        if SIGNS.outside.is_match(part) {
            return true;
        }
        // Behind what the author wants stands what came.
        let came = match SIGNS.wants.is_match(part) {
            true => part
                .split_once(": ")
                .filter(|(wanted, came)| !is_demanded(wanted, came)),
            false => Some(("", part)),
        };
        let came = came.map(|(_, came)| came);
        let Some(came) = came.filter(|came| !SIGNS.wants.is_match(came)) else {
            return false;
        };
        if SIGNS.told_outside.is_match(came) {
            return true;
        }
        if SIGNS.own.is_match(came) || !SIGNS.form.is_match(came) {
            return false;
        }
        let is_of_machine = |said: &str| {
            let part = alone(failure, said);
            let of = self.diagnose_facts(&Facts::new(&part), Audience::Plan, Algorithm::Second);
            of.0.side == Side::Test && MACHINE.contains(&&*of.0.root_cause)
        };
        // The last error of several may have come of one before it.
        is_of_machine(came) || came.contains('\n') && came.lines().any(is_of_machine)
    }
}

/// Whether what stands behind the colon is what the code is to say, or to cope with: `must retry
/// on: Connection reset`. It is what came where the words before the colon say that something did
/// (`should be there, but curl said: …`) or that something was to go well (`must start: …`);
/// where neither shows, an address or a number of an error is of a real one.
fn is_demanded(wanted: &str, came: &str) -> bool {
    static DEMAND: LazyPattern = LazyPattern::ascii(
        r"(?i)\b(?:must|should|shall|needs? to|ha(?:s|ve) to|never|expected|expects?)\b",
    );
    static CAME: LazyPattern = LazyPattern::ascii(
        r"(?i)\b(?:but|got|caused by|due to|because|exited|aborted|crashed|instead)\b",
    );
    static COPES: LazyPattern = LazyPattern::ascii(
        r"(?i)\b(?:about|after|as|code \d+|error|exception|for|hides?|leaks?|like|log(?:ged|s)?|message|of|on|print(?:ed|s)?|raised?|report(?:ed|s)?|returns?|returned|said|says?|show[ns]?|swallows?|tells?|text|throws?|thrown|to|upon|when|with)\s*\z",
    );
    static WELL: LazyPattern = LazyPattern::ascii(
        r"(?i)\b(?:answers?|available|completes?|connect(?:s|ed)?|exists?|finish(?:es)?|healthy|installed|loads?|online|opens?|passe?s?|reachable|ready|resolves?|responds?|running|starts?|started|succeeds?|there|up|works?)\s*\z",
    );
    static REAL: LazyPattern = LazyPattern::ascii(
        r"(?i)\d+\.\d+\.\d+\.\d+:\d+|\berrno \d+|\bos error \d+|\bconnect E[A-Z]{4,}|\bdial tcp\b",
    );
    let after = DEMAND.find_iter(wanted).last();
    let after = after.map_or(wanted, |demand| &wanted[demand.end()..]);
    if CAME.is_match(after) || WELL.is_match(after) {
        return false;
    }
    COPES.is_match(after) || !REAL.is_match(came)
}

fn head(text: &str) -> &str {
    &text[..text.floor_char_boundary(READ.min(text.len()))]
}

/// What of a failure is said of why, and not compared.
fn parts(failure: &Failure) -> Vec<&str> {
    let signs = &*SIGNS;
    let texts = [failure.message.as_deref(), failure.text.as_deref()];
    let mut found: Vec<&str> = Vec::new();
    for text in texts.into_iter().flatten() {
        let text = head(text);
        for form in &signs.told {
            let said = form.captures_iter(text).take(PARTS);
            let said = said.filter_map(|said| {
                let told = (1..said.len()).find_map(|group| said.get(group))?;
                Some(told.as_str().trim())
            });
            for said in said {
                let said = &said[..said.floor_char_boundary(PART.min(said.len()))];
                let said = said.trim_end_matches(['"', '\'', '>', ')', ']', '.', '!', ' ']);
                let is_new = !found.contains(&said) && !signs.compares.is_match(said);
                if is_new && !said.is_empty() && found.len() < PARTS {
                    found.push(said);
                }
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use crate::engine::Engine;
    use jelly_base::model::{Failure, Side};

    fn side(message: &str, text: &str) -> (Side, bool) {
        let failure = Failure {
            element: Some("failure".into()),
            message: (!message.is_empty()).then(|| message.to_owned()),
            text: (!text.is_empty()).then(|| text.to_owned()),
            ..Failure::default()
        };
        let said = Engine::builtin().diagnose(&failure);
        (said.side, said.ambiguous)
    }

    #[test]
    fn an_assertion_that_tells_of_the_machine_blames_nobody() {
        for (message, text) in [
            (
                "AssertionError: copy-depot: error writing '/dev/full': No space left on device\nassert 1 == 0",
                "",
            ),
            (
                "assert 6 == 0\n +  where 6 = CompletedProcess(args=['sh'], returncode=6, stdout='', stderr='curl: (6) Could not resolve host: no-such-host.invalid\\n').returncode",
                "",
            ),
            (
                "",
                "Error: expect(received).toBeNull()\n\nReceived: [TypeError: fetch failed]",
            ),
            (
                "",
                "java.lang.AssertionError: \nExpecting code not to raise a throwable but caught\n  <\"java.net.ConnectException: Connection refused\n\tat java.net.Socket.connect\">",
            ),
            (
                "sh: 1: jqq: not found ==> expected: <0> but was: <127>",
                "org.opentest4j.AssertionFailedError: sh: 1: jqq: not found ==> expected: <0> but was: <127>\n\tat x.EnvTest.tool(EnvTest.java:9)",
            ),
            ("AssertionError: OSError(24, 'Too many open files')", ""),
            (
                "",
                "\n\tError Trace:\t/src/a_test.go:20\n\tError:      \tShould be true\n\tTest:       \tTestX\n\tMessages:   \tSTRIPE_KEY must be set\n",
            ),
            ("AssertionError: requires openssl >= 3.0.2, found 1.1.1", ""),
            (
                "assert -9 == 0\n +  where -9 = <CompletedProcess>.returncode",
                "",
            ),
            (
                "",
                "Error: expect(received).toBe(expected)\n\nExpected: 0\nReceived: 127\n\n  3 | run()\n> 4 | expect(child.exitCode).toBe(0)",
            ),
            ("", "    a_test.go:18: took 20.176507ms, want < 10ms"),
            ("AssertionError: 1 != 0 : Name or service not known", ""),
            (
                "AssertionError: '' != 'psql: error: FATAL:  the database system is starting up'",
                "",
            ),
            ("assert 'Host key verification failed.' == ''", ""),
            (
                "expected: <Optional.empty> but was: <Optional[java.net.ConnectException: Connection refused]>",
                "",
            ),
            (
                "",
                "expected: nil\n     got: \"PG::ConnectionBad: could not connect to server: Connection refused\"",
            ),
            (
                "",
                "assertion `left == right` failed\n  left: Some(\"Connection refused (os error 111)\")\n right: None",
            ),
            (
                "",
                "g.cc:18\nExpected equality of these values:\n  -1\n  0\nconnect() failed: errno=111 (Connection refused)",
            ),
            (
                "npm error code E401\nnpm error Unable to authenticate\n\n1 !== 0\n",
                "",
            ),
            (
                "",
                "CoreTest::testE13\nCould not write to /var/cache/shop: read-only file system\n\n/srv/CoreTest.php:30",
            ),
            ("AssertionError: container shop-db-1 is unhealthy", ""),
            ("", "    updater_test.go:96: device never reported back"),
            (
                "no event within 200 ms ==> expected: <true> but was: <false>",
                "org.opentest4j.AssertionFailedError: no event within 200 ms ==> expected: <true> but was: <false>",
            ),
            (
                "p != nullptr",
                "FAILED:\n  REQUIRE( p != nullptr )\nwith expansion:\n  {null string} != nullptr\nICC_PROFILE_DIR must point to the profiles\nat c.cpp:18",
            ),
            (
                "t.cpp:23\nValue of: f.is_open()\n  Actual: false\nExpected: true\ntestdata/curve.csv",
                "",
            ),
            (
                "AssertionError: runner is expected to be in Europe/Berlin\nassert 8 == 10",
                "",
            ),
            (
                "expected Error: 429 You exceeded your current quot… to be null",
                "AssertionError: expected Error: 429 You exceeded your current quot… to be null",
            ),
            (
                "",
                "    a_test.go:21: expected 3 ready replicas, got 0: FailedScheduling: 0/3 nodes are available",
            ),
        ] {
            assert_eq!(side(message, text), (Side::Test, true), "{message} {text}");
        }
    }

    #[test]
    fn what_came_is_told_from_what_is_demanded() {
        let of = |said: &str| {
            let message = format!("{said} ==> expected: <3> but was: <1>");
            let text = format!(
                "org.opentest4j.AssertionFailedError: {message}\n\tat a.b.RetryTest.x(RetryTest.java:9)"
            );
            side(&message, &text)
        };
        for said in [
            "upload should succeed, but failed with: Connection refused",
            "expected a reply but curl exited with code 7: Connection refused",
            "should resolve, but getent said: Name or service not known",
            "the store must be reachable: Connection refused",
        ] {
            assert_eq!(of(said), (Side::Test, true), "{said}");
        }
        for said in [
            "must retry after: Connection reset by peer",
            "must retry on: connect ECONNREFUSED 127.0.0.1:5432",
            "expected message: Connection refused",
            "should log: [Errno 111] Connection refused",
        ] {
            assert_eq!(of(said), (Side::Code, false), "{said}");
        }
    }

    #[test]
    fn an_error_that_a_test_of_go_tells_itself_blames_nobody() {
        let of = |line: &str| {
            let text = format!(
                "=== RUN   TestMove\n{line}\n    plan_test.go:27: Move: week = 20, want 21\n--- FAIL: TestMove (0.00s)\n"
            );
            side("Failed", &text)
        };
        for line in [
            "    plan_test.go:24: Move: unexpected error: plan 21 not saved: dial tcp 127.0.0.1:5499: connect: connection refused",
            "    plan_test.go:24: could not read the plan: open testdata/plan.json: no such file or directory",
        ] {
            assert_eq!(of(line), (Side::Test, true), "{line}");
        }
        // What the product went on without proves nothing for it, and neither does what is played.
        for logged in [
            "2026/11/30 cache: dial tcp 127.0.0.1:5499: connect: connection refused",
            "    plan_test.go:24: injecting: read tcp 127.0.0.1:5499: i/o timeout",
            "    plan_test.go:24: using the default: open testdata/plan.json: no such file or directory",
        ] {
            assert_eq!(of(logged), (Side::Code, false), "{logged}");
        }
    }

    #[test]
    fn the_chain_below_an_unwanted_exception_decides() {
        let message = "Unexpected exception thrown: a.b.BusException: publish to x failed";
        let text = format!(
            "org.opentest4j.AssertionFailedError: {message}\n\tat a.b.BusTest.x(BusTest.java:9)\nCaused by: a.b.BusException: publish to x failed\n\tat a.b.Bus.publish(Bus.java:14)\nCaused by: java.net.ConnectException: Connection refused\n\tat a.b.Bus.publish(Bus.java:11)\n"
        );
        let failure = Failure {
            element: Some("failure".into()),
            message: Some(message.into()),
            text: Some(text),
            ..Failure::default()
        };
        let said = Engine::builtin().diagnose(&failure);
        assert_eq!(&*said.root_cause, "connection_refused");
    }

    #[test]
    fn a_mistake_that_may_come_of_an_outage_blames_nobody() {
        for said in [
            "Error: connect ECONNREFUSED 127.0.0.1:5432\n    at afterConnect (node:net:1)\nTypeError: Cannot read properties of undefined (reading 'query')",
            "Traceback (most recent call last):\n  File \"/app/cli.py\", line 3, in <module>\n    key = os.environ['STRIPE_KEY']\nKeyError: 'STRIPE_KEY'",
        ] {
            let message = format!("AssertionError: {said}\nassert 1 == 0");
            assert_eq!(side(&message, "").0, Side::Test, "{said}");
        }
        let alone = "AssertionError: TypeError: Cannot read properties of undefined (reading 'query')\nassert 1 == 0";
        assert_eq!(side(alone, ""), (Side::Code, false));
    }

    #[test]
    fn a_value_that_is_compared_tells_nothing() {
        for (message, text) in [
            ("AssertionError: assert 'Connection refused' == 'saved'", ""),
            (
                "must retry on: Connection reset by peer ==> expected: <3> but was: <1>",
                "org.opentest4j.AssertionFailedError: must retry on: Connection reset by peer ==> expected: <3> but was: <1>",
            ),
            (
                "",
                "Error: expect(received).toBe(expected)\n\nExpected: \"saved\"\nReceived: \"No space left on device\"",
            ),
            (
                "expected: <7> but was: <8>",
                "org.opentest4j.AssertionFailedError: expected: <7> but was: <8>",
            ),
            (
                "AssertionError: total of the cart is wrong\nassert 7 == 8",
                "",
            ),
            ("AssertionError: expected 'disk full' to equal 'ok'", ""),
            ("assert -9 == 0", ""),
            (
                "AssertionError: connection refused counter\nassert 1 == 2",
                "",
            ),
            (
                "AssertionError: address already in use by another customer\nassert 1 == 2",
                "",
            ),
            (
                "AssertionError: STATUS_OPEN missing from enum\nassert 1 == 2",
                "",
            ),
            (
                "AssertionError: assert 127 == 0\n +  where 127 = <Grid>.exit_distance",
                "",
            ),
            (
                "",
                "Error: expect(received).toBe(expected)\n\nExpected: 0\nReceived: 127\n\n> 4 | expect(cells.length).toBe(0)",
            ),
            (
                "AssertionError: 403 Forbidden for the owner\nassert 1 == 2",
                "",
            ),
            (
                "AssertionError: delivery date is in the future\nassert 3 == 4",
                "",
            ),
            ("AssertionError: '' != 'the cart is full'", ""),
            ("AssertionError: assert '/dev/sda1' == '/dev/sda2'", ""),
            ("AssertionError: 'SIGKILL' != 'SIGTERM'", ""),
            ("AssertionError: 'ORA-00942' != 'ORA-00904'", ""),
            (
                "AssertionError: 'too many connections' != 'too many requests'",
                "",
            ),
            (
                "expected: <SIGKILL> but was: <SIGTERM>",
                "org.opentest4j.AssertionFailedError: expected: <SIGKILL> but was: <SIGTERM>",
            ),
            ("expected '/dev/sda1' to equal '/dev/sda2'", ""),
            (
                "AssertionError: SIGKILL must not be sent before SIGTERM\nassert 1 == 2",
                "",
            ),
            (
                "AssertionError: Too many connections in the mesh\nassert 1 == 2",
                "",
            ),
            (
                "AssertionError: read-only file system flag should be kept\nassert 1 == 2",
                "",
            ),
            (
                "AssertionError: network is down in the simulation\nassert 1 == 2",
                "",
            ),
            (
                "AssertionError: license server column missing\nassert 1 == 2",
                "",
            ),
            (
                "AssertionError: container list is unhealthy\nassert 1 == 2",
                "",
            ),
            (
                "AssertionError: parser returned errno 5 fields\nassert 1 == 2",
                "",
            ),
            ("AssertionError: '' != 'Terminated'", ""),
            ("assert 'seat 4 is taken' is None", ""),
            ("expected 'killed in action' to be null", ""),
            ("AssertionError: 4 != 3 : too many items in the cart", ""),
            (
                "",
                "g.cc:18\nExpected equality of these values:\n  total(cart)\n    Which is: 3\n  4\nthe cart of bob",
            ),
            (
                "AssertionError: rate limit exceeded for bob\nassert 3 == 4",
                "",
            ),
            (
                "AssertionError: connection refused counter must stay zero\nassert 4 == 0",
                "",
            ),
            (
                "",
                "java.lang.AssertionError: Connection reset must not appear in the audit log\n\tat x.A.b(A.java:1)",
            ),
            (
                "",
                "Error: expect(received).resolves.toBe()\n\nReceived promise rejected instead of resolved\nRejected to value: [Error: quota exceeded]",
            ),
        ] {
            assert_eq!(side(message, text).0, Side::Code, "{message} {text}");
        }
    }
}
