//! Every failure that can be read gets a diagnosis that holds together.

use jelly_base::model::{Failure, Phase, Side};
use jelly_triage::engine::Engine;

/// Diagnoses the failure that the bytes are as JSON.
pub fn check(bytes: &[u8]) {
    let Ok(failure) = serde_json::from_slice::<Failure>(bytes) else {
        return;
    };
    let diagnosis = Engine::builtin().diagnose(&failure);
    assert_eq!(
        diagnosis.retryable.is_some(),
        diagnosis.error_category.is_some()
    );
    if matches!(
        failure.phase,
        Some(Phase::Config | Phase::Spawn | Phase::Handshake)
    ) {
        assert_eq!(diagnosis.side, Side::Test);
    }
}
