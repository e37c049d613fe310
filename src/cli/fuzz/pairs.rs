//! Two requests at once: tried, judged, confirmed.

use super::hunt::Hunt;
use super::live::{Stop, is_over};
use jelly_fuzzing::{
    Act, Answer, Case, FindingKind, FindingStatus, FuzzCall, FuzzFinding, Input, Observation,
    Sighting, fingerprint, judge_pair,
};
use serde_json::Value;

/// So often two at once are tried again.
const PAIRS: u32 = 3;

impl Hunt<'_> {
    /// The two calls of a case one after the other; nothing where one of them is the
    /// last that the server does.
    async fn in_turn(&mut self, case: &Case) -> Result<Option<[Answer; 2]>, Stop> {
        let Act::Pair(first, other, second) = &case.act else {
            return Ok(None);
        };
        let limit = self.live.limit;
        let (one, _) = self.live.call(case.tool, first, limit).await?;
        if is_over(&one) {
            self.live.discard();
            return Ok(None);
        }
        let (two, _) = self.live.call(*other, second, limit).await?;
        if is_over(&two) {
            self.live.discard();
            return Ok(None);
        }
        Ok(Some([one, two]))
    }

    /// The two at once, held against what they gave one after the other.
    async fn at_once(
        &mut self,
        case: &Case,
        [one, two]: &[Answer; 2],
    ) -> Result<Option<Sighting>, Stop> {
        let Act::Pair(first, other, second) = &case.act else {
            return Ok(None);
        };
        let at_once = self.live.pair((case.tool, first), (*other, second)).await?;
        Ok(judge_pair([&at_once[0], &at_once[1]], [one, two]))
    }

    pub(super) async fn try_pair(&mut self, case: Case) -> Result<(), Stop> {
        self.fed.clear();
        let found = match self.in_turn(&case).await? {
            Some(in_turn) => self.at_once(&case, &in_turn).await?,
            None => None,
        };
        self.unsettled = true;
        if let Some(tool) = self.tools.get_mut(case.tool) {
            tool.cases += 1;
        }
        if let Some(sighting) = found {
            let seen = Observation::of(Answer::Unjudged(String::new()));
            self.take(&case, &sighting, &seen, &[], None).await?;
        }
        Ok(())
    }

    /// The finding that two calls at once are.
    pub(super) async fn confirmed_pair(
        &mut self,
        case: &Case,
        sighting: &Sighting,
    ) -> Result<FuzzFinding, Stop> {
        let target = &self.targets[case.tool];
        let Act::Pair(first, other, second) = &case.act else {
            return Err(Stop::Deadline);
        };
        let name = self.targets.get(*other).map(|it| it.name.as_str());
        let mut one = FuzzCall::new(&target.name, first.clone());
        let mut two = FuzzCall::new(name.unwrap_or_default(), second.clone());
        self.live.fresh().await?;
        let in_turn = self.in_turn(case).await?;
        let mut status = FindingStatus::Flaky;
        let mut is_alone = false;
        if let Some(in_turn) = &in_turn {
            [one.is_refused, two.is_refused] = [0, 1].map(|at| in_turn[at].is_refusal());
            // What each gives by itself has to be known before it can be another one.
            let needs_both = sighting.kind == FindingKind::CrossedAnswers;
            is_alone = !needs_both && self.repeated(case, sighting, Some(in_turn)).await?;
            if is_alone || self.repeated(case, sighting, None).await? {
                status = FindingStatus::Confirmed;
            }
        }
        self.live.discard();
        self.unsettled = true;
        let mut calls = match is_alone {
            true => Vec::new(),
            false => vec![one.clone(), two.clone()],
        };
        two.at_once = true;
        calls.extend([one, two]);
        let cause = fingerprint(target, sighting, (Input::Valid, ""), &Value::Null);
        Ok(FuzzFinding {
            kind: sighting.kind,
            status,
            tool: target.name.clone(),
            pointer: String::new(),
            tried: case.label.to_owned(),
            case: case.number,
            valid_input: true,
            what: sighting.what.clone(),
            calls,
            probe: None,
            fingerprint: cause,
            count: 1,
            stderr_tail: String::new(),
            step: None,
            command: None,
        })
    }

    /// Whether two at once show the same on a fresh server, in a few attempts; before
    /// them one after the other, where it is not known what they give then.
    async fn repeated(
        &mut self,
        case: &Case,
        sighting: &Sighting,
        known: Option<&[Answer; 2]>,
    ) -> Result<bool, Stop> {
        for _ in 0..PAIRS {
            self.live.totals.repeats += 1;
            self.live.fresh().await?;
            let in_turn = match known {
                Some(known) => Some(known.clone()),
                None => self.in_turn(case).await?,
            };
            let again = match in_turn {
                Some(in_turn) => self.at_once(case, &in_turn).await?,
                None => None,
            };
            if again.is_some_and(|again| again.is_like(sighting)) {
                return Ok(true);
            }
        }
        Ok(false)
    }
}
