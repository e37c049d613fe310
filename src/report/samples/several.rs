//! A step of which more than one expectation does not hold.

use super::{action, mismatch, run, wrong};
use jelly_base::model::{
    ActionKind, Assertion, AssertionTarget, MismatchPlace, RunReport, Side, Standing, Verdict,
};
use serde_json::json;

/// One step, of which three expectations do not hold: the first shows another
/// value each time, the second the same, and the third is about time.
pub(in crate::report) fn several_mismatches() -> RunReport {
    let place = |index| Some(MismatchPlace { index, of: 3 });
    let mut varies = mismatch("HELLO 2");
    varies.diagnosis.excused = None;
    varies.diagnosis.flaky = true;
    varies.mismatch = place(1);
    let mut same = mismatch("none");
    same.message = "expected $.structuredContent.size to equal 5, got nothing, in \
                    {\"structuredContent\":{\"bytes\":5}}; nearest: \
                    $.structuredContent, an object with `bytes`"
        .into();
    same.assertion = Some(Assertion {
        kind: "equals".into(),
        target: Some(AssertionTarget::Json),
        path: Some("$.structuredContent.size".into()),
        expected: json!(5),
        nearest: Some("$.structuredContent".into()),
        at: Some("plans/filesystem.yaml:22:15".into()),
        ..Assertion::default()
    });
    same.at = Some("plans/filesystem.yaml:22:15".into());
    same.stderr_tail = "reading a|b.txt\n".into();
    same.diagnosis.side = Side::Code;
    same.diagnosis.ambiguous = false;
    same.diagnosis.excused = None;
    same.diagnosis.standing = Some(Standing::PassedBefore);
    same.diagnosis.test_fingerprint = "5a5a5a5a5a5a".into();
    same.mismatch = place(2);
    let mut slow = mismatch("");
    slow.message = "expected the duration in ms to be less than 5, got 12".into();
    slow.assertion = Some(Assertion {
        kind: "lt".into(),
        target: Some(AssertionTarget::Duration),
        expected: json!(5),
        actual: json!(12),
        at: Some("plans/filesystem.yaml:23:15".into()),
        ..Assertion::default()
    });
    slow.at = Some("plans/filesystem.yaml:23:15".into());
    slow.diagnosis.excused = Some("duration".into());
    slow.diagnosis.test_fingerprint = "7d7d7d7d7d7d".into();
    slow.mismatch = place(3);
    let stop = action(
        ActionKind::Stop,
        "code-side failures are confirmed, and nothing is left to try",
    );
    let mut last = wrong(2, varies, stop);
    last.failures.extend([same, slow]);
    run(Verdict::CodeFailure, 1, vec![last])
}
