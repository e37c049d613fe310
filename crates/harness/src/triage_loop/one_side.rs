//! One step, one side: what the mismatches of a step come to together, once
//! each was judged by itself.

use super::judge::{Blame, Judged};
use jelly_base::model::Side;
use std::collections::BTreeSet;

/// Two rules, in this order. All mismatches of a step are over one answer, so
/// where one of them shows that the environment gave it, none is held against
/// the code. Where one is held against the code, the others are overruled: a
/// value that varies must not hide one that is always wrong.
pub(super) fn settle(judged: &mut [Judged]) {
    let environment = steps(judged, shows_environment);
    for judged in judged.iter_mut().filter(|j| is_of(j, &environment)) {
        if judged.failure.is_mismatch() && !shows_environment(judged) {
            excuse(judged);
        }
    }
    let code = steps(judged, Judged::is_code);
    for judged in judged.iter_mut().filter(|j| is_of(j, &code)) {
        judged.is_overruled = !judged.is_code();
    }
}

/// The steps with such a failure.
fn steps(judged: &[Judged], is_such: impl Fn(&Judged) -> bool) -> BTreeSet<String> {
    let such = judged.iter().filter(|judged| is_such(judged));
    such.filter_map(|judged| judged.failure.step.clone())
        .collect()
}

fn is_of(judged: &Judged, steps: &BTreeSet<String>) -> bool {
    let step = judged.failure.step.as_ref();
    step.is_some_and(|step| steps.contains(step))
}

/// A mismatch that needs no second look, since triage has found the cause of
/// the answer itself.
fn shows_environment(judged: &Judged) -> bool {
    let is_settled = judged.failure.is_mismatch() && judged.blame == Blame::Settled;
    is_settled && judged.diagnosis.side == Side::Test
}

fn excuse(judged: &mut Judged) {
    judged.blame = Blame::Settled;
    let diagnosis = &mut judged.diagnosis;
    diagnosis.side = Side::Test;
    diagnosis.ambiguous = true;
    diagnosis.standing = None;
    diagnosis.flaky = false;
    diagnosis.excused = Some("environment".to_owned());
    diagnosis.excused_by = None;
    diagnosis.same_code.clear();
}
