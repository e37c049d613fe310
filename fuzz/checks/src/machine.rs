//! Reports that are not JUnit, made of the words of their formats, so that an
//! input is one more often than by chance.

use super::junit;

const TAP: &[&str] = &[
    "TAP version 14\n",
    "1..3\n",
    "ok 1 - a\n",
    "not ok 2 - b\n",
    "ok 3 # SKIP x\n",
    "not ok # TODO y\n",
    "Bail out! z\n",
    "  ---\n",
    "  ...\n",
    "  message: 'm'\n",
    "# Subtest: s\n",
    "    ok 1 - inner\n",
    "    1..1\n",
    "  severity: fail\n",
    "pragma +strict\n",
];
const TRX: &[&str] = &[
    "<?xml version=\"1.0\"?>",
    "<TestRun xmlns=\"http://microsoft.com/schemas/VisualStudio/TeamTest/2010\">",
    "</TestRun>",
    "<Results>",
    "</Results>",
    "<UnitTestResult testId=\"1\" testName=\"a\" outcome=\"Failed\" duration=\"00:00:01.5\">",
    "<UnitTestResult testId=\"2\" testName=\"b\" outcome=\"Passed\"/>",
    "</UnitTestResult>",
    "<Output>",
    "</Output>",
    "<ErrorInfo><Message>m</Message>",
    "<StackTrace>at x</StackTrace></ErrorInfo>",
    "<TestDefinitions>",
    "</TestDefinitions>",
    "<UnitTest id=\"1\"><TestMethod className=\"C\"/></UnitTest>",
    "<ResultSummary outcome=\"Failed\">",
    "</ResultSummary>",
    "<Counters total=\"2\" failed=\"1\"/>",
];
const CTRF: &[&str] = &[
    "{\"results\":{",
    "\"tool\":{\"name\":\"t\"},",
    "\"summary\":{\"tests\":1,\"failed\":1},",
    "\"tests\":[",
    "{\"name\":\"a\",\"status\":\"failed\",\"message\":\"m\",\"trace\":\"at x\"}",
    "{\"name\":\"b\",\"status\":\"passed\",\"duration\":5}",
    ",",
    "]",
    "}}",
    "{",
    "}",
    "null",
    "\"flaky\":true,",
    "\"retries\":2,",
    "\"suite\":\"s\",",
];
const GO: &[&str] = &[
    "{\"Action\":\"run\",\"Package\":\"p\",\"Test\":\"A\"}\n",
    "{\"Action\":\"output\",\"Package\":\"p\",\"Test\":\"A\",\"Output\":\"x_test.go:3: m\\n\"}\n",
    "{\"Action\":\"fail\",\"Package\":\"p\",\"Test\":\"A\",\"Elapsed\":0.1}\n",
    "{\"Action\":\"pass\",\"Package\":\"p\",\"Test\":\"B\"}\n",
    "{\"Action\":\"skip\",\"Package\":\"p\",\"Test\":\"C\"}\n",
    "{\"Action\":\"output\",\"Package\":\"p\",\"Output\":\"panic: boom\\n\"}\n",
    "{\"Action\":\"fail\",\"Package\":\"p\"}\n",
    "{\"Action\":\"build-fail\",\"ImportPath\":\"p\"}\n",
    "FAIL\tp [build failed]\n",
    "{\"Action\":\"start\",\"Package\":\"p\"}\n",
];

/// Reads a report of the format that the first byte chooses, made of the words
/// that the others choose; a byte beyond them stands for itself.
pub fn check(bytes: &[u8]) {
    let Some((format, words)) = bytes.split_first() else {
        return;
    };
    let known = [TAP, TRX, CTRF, GO][usize::from(*format) % 4];
    let mut report = Vec::new();
    for byte in words.iter().take(512) {
        match known.get(usize::from(*byte)) {
            Some(word) => report.extend_from_slice(word.as_bytes()),
            None => report.push(*byte),
        }
    }
    junit::check(&report);
}
