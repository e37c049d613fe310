//! Why a mismatch is not held against the code, in the words of the help summary.

use super::judge::{EARLIER_STEP_FAILED, EARLIER_STEP_NOT_DONE};
use super::reason::times;
use jelly_base::model::Diagnosis;

/// The clause for one that was seen so often. `unconfirmable`: no mismatch of the run was
/// to be confirmed.
pub(super) fn excused(word: &str, diagnosis: &Diagnosis, seen: u32, unconfirmable: bool) -> String {
    let why = match word {
        "unconfirmed" if seen < 2 => "seen only once, which is not proof",
        "unconfirmed" => {
            let times = times(seen);
            return if unconfirmable {
                format!("seen {times}, and confirmation is switched off")
            } else {
                format!("seen {times}, but not on the same plan and code, which is not proof")
            };
        }
        "not_repeatable" => {
            "it passed earlier on the same plan and code, so something outlives an iteration"
        }
        "repair_ineffective" => "a repair had changed this step, so it proves nothing",
        "after_restart" => "its server was restarted before",
        "service_died" => "a service of the plan had died before, which the server may need",
        "unanswered" => {
            "meanwhile the server asked for something, and had no answer of the plan's to it, or \
             one that does not fit what it asked for"
        }
        "unreached" => {
            "its server told meanwhile that a service failed it, on stderr or in its log, which may \
             be why"
        }
        "error_answer" => {
            "the answer is an error as a whole, and the step was never seen to pass: what it asks \
             for may not be there"
        }
        "duration" => "a matter of time, which the machine decides too",
        "made_by_jelly" => {
            "jelly itself made the value, since the server sent no structured output, so it proves \
             nothing against the code"
        }
        EARLIER_STEP_NOT_DONE => {
            let step = diagnosis.excused_by.as_deref().unwrap_or("a step");
            return format!(
                "{step}, which comes before it, did not run, so what it should have left may be \
                 missing"
            );
        }
        EARLIER_STEP_FAILED => {
            let step = diagnosis.excused_by.as_deref().unwrap_or("a step");
            return format!(
                "{step}, which comes before it, failed and is not held against the code, so what \
                 it should have left may be missing"
            );
        }
        "same_code" => {
            let code = diagnosis.same_code.join(", ");
            return format!(
                "seen {}, but it passed before on the very same code ({code}), so something else \
                 has changed since",
                times(seen)
            );
        }
        "environment" => "the environment explains the same answer",
        "own_limit" => "a limit of jelly's own stands in the way, which proves nothing",
        other => other,
    };
    why.to_owned()
}
