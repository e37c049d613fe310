//! From a sighting to a finding: seen again on a fresh server, and made small.

use super::hunt::Hunt;
use super::live::Stop;
use jelly_base::text::human_duration;
use jelly_fuzzing::{
    Act, Answer, Case, FindingKind, FindingStatus, FuzzCall, FuzzFinding, Input, Observation,
    Sighting, WireSlip, fingerprint, judge, judge_bound, long_text, one_step_inside, simpler,
    with_length,
};
use serde_json::Value;
use std::time::Duration;
use tokio::time::Instant;

/// Calls that are made to make one finding smaller.
const RUNS: u32 = 60;
/// The same, where each takes a timeout.
const SLOW_RUNS: u32 = 14;
/// Time for one finding.
const TIME: Duration = Duration::from_secs(40);
/// The shortest timeout of a call that hung.
const SHORTEST: Duration = Duration::from_millis(700);
/// Calls before it of which it may come.
const SUSPECTS: usize = 8;
/// So many timeouts a call that hangs is waited for, before that is said of it.
const HANG: u32 = 3;

/// The label of a case of which something came later than its answer.
const LATER: &str = "later";

/// Whether something of a kind may show only while another call is made.
fn may_be_late(kind: FindingKind) -> bool {
    matches!(
        kind,
        FindingKind::AnsweredTwice | FindingKind::Died | FindingKind::Protocol
    )
}

/// What is left to make one finding smaller.
struct Budget {
    runs: u32,
    until: Instant,
}

impl Budget {
    fn take(&mut self) -> bool {
        let is_left = self.runs > 0 && Instant::now() < self.until;
        self.runs = self.runs.saturating_sub(1);
        is_left
    }
}

impl Hunt<'_> {
    /// The finding that a sighting is; none where it is no fault of the server's.
    pub(super) async fn confirmed(
        &mut self,
        case: &Case,
        sighting: &Sighting,
        seen: &Observation,
        history: &[FuzzCall],
        probe: Option<usize>,
    ) -> Result<Option<FuzzFinding>, Stop> {
        let finding = self.confirm(case, sighting, seen, history, probe).await;
        self.renews = false;
        finding
    }

    async fn confirm(
        &mut self,
        case: &Case,
        sighting: &Sighting,
        seen: &Observation,
        history: &[FuzzCall],
        probe: Option<usize>,
    ) -> Result<Option<FuzzFinding>, Stop> {
        let Some(target) = self.targets.get(case.tool) else {
            return Ok(None);
        };
        let arguments = match &case.act {
            Act::Pair(..) => return self.confirmed_pair(case, sighting).await.map(Some),
            Act::Call(arguments) => arguments.clone(),
        };
        if sighting.kind == FindingKind::StateChanged
            && !self.is_worth_it(case, probe, &arguments).await?
        {
            return Ok(None);
        }
        let runs = match sighting.kind {
            FindingKind::Hung => SLOW_RUNS,
            _ => RUNS,
        };
        let mut budget = Budget {
            runs,
            until: Instant::now() + TIME,
        };
        let begun = Instant::now();
        let mut alone = self.surely_again(&[], case, &arguments, sighting).await?;
        if !alone && !self.fed.is_empty() {
            // An id that the server made may be another one by now.
            self.renews = true;
            alone = self.surely_again(&[], case, &arguments, sighting).await?;
            self.renews = alone;
        }
        if !alone && may_be_late(sighting.kind) {
            let culprit = self
                .culprit(history, case, &arguments, sighting.kind)
                .await?;
            if let Some((case, sighting, seen)) = culprit {
                // Its own history is not known, and was not needed.
                return Box::pin(self.confirm(&case, &sighting, &seen, &[], None)).await;
            }
        }
        // It took its time again, and was answered, or told of its progress.
        let is_slow = begun.elapsed() > self.live.limit;
        if !alone && sighting.kind == FindingKind::Hung && is_slow {
            let told = Sighting {
                is_notice: true,
                what: format!(
                    "took longer than {} to answer",
                    human_duration(self.live.limit)
                ),
                ..sighting.clone()
            };
            self.live.slowest = self.live.slowest.min(self.live.limit);
            self.note(case, &told);
            return Ok(None);
        }
        let mut before: Vec<FuzzCall> = Vec::new();
        let mut status = FindingStatus::Confirmed;
        let mut small = arguments.clone();
        if alone {
            let shrunk = self.shrunk(case, &arguments, sighting, &mut budget).await?;
            if shrunk != arguments {
                match self.holds(case, &shrunk, sighting).await? {
                    Held::Yes => small = shrunk,
                    Held::No => {}
                    // It only takes as long as it was told.
                    Held::Slow => {
                        let told = Sighting {
                            is_notice: true,
                            what: "takes the longer to answer the larger an argument is".to_owned(),
                            ..sighting.clone()
                        };
                        self.note(case, &told);
                        return Ok(None);
                    }
                }
            }
        } else {
            let shows = !history.is_empty()
                && self
                    .surely_again(history, case, &arguments, sighting)
                    .await?;
            if shows {
                before = self
                    .fewer(history, case, &arguments, sighting, &mut budget)
                    .await?;
            } else if let (FindingKind::StateChanged, Some(probe), false) =
                (sighting.kind, probe, self.probes.is_last_broken())
            {
                // It varies by itself.
                self.probes.drop(probe);
                return Ok(None);
            } else {
                status = FindingStatus::Flaky;
            }
        }
        let told = probe.and_then(|index| self.probes.told(index, self.targets));
        let mut last = FuzzCall::new(&target.name, small.clone());
        last.is_refused = seen.answer.is_refusal();
        self.note_givers(&mut last, &mut before);
        before.push(last);
        let stderr = match (&seen.answer, &seen.afterwards) {
            (Answer::Died { stderr, .. }, _) | (_, Some(Answer::Died { stderr, .. })) => {
                stderr.clone()
            }
            (_, _) => String::new(),
        };
        Ok(Some(FuzzFinding {
            kind: sighting.kind,
            status,
            tool: target.name.clone(),
            pointer: case.pointer.clone(),
            tried: case.label.to_owned(),
            case: case.number,
            valid_input: case.input == Input::Valid,
            what: sighting.what.clone(),
            fingerprint: fingerprint(target, sighting, (case.input, &case.pointer), &small),
            calls: before,
            probe: match sighting.kind {
                FindingKind::StateChanged => told.map(|(probe, _)| probe),
                _ => None,
            },
            count: 1,
            stderr_tail: stderr,
            step: None,
            command: None,
        }))
    }

    /// The call of which something came later than its answer: this one, or one of
    /// those before it.
    async fn culprit(
        &mut self,
        history: &[FuzzCall],
        case: &Case,
        arguments: &Value,
        kind: FindingKind,
    ) -> Result<Option<(Case, Sighting, Observation)>, Stop> {
        let earlier = history.iter().rev().take(SUSPECTS).filter_map(|call| {
            let tool = self.targets.iter().position(|it| it.name == call.tool)?;
            let fits = self.targets[tool].fits(&call.arguments);
            // Of what is invalid, in which way is not known any more.
            fits.then(|| Case {
                tool,
                label: LATER,
                pointer: String::new(),
                input: Input::Valid,
                act: Act::Call(call.arguments.clone()),
                ..case.clone()
            })
        });
        let own = Case {
            label: LATER,
            act: Act::Call(arguments.clone()),
            ..case.clone()
        };
        let suspects: Vec<Case> = std::iter::once(own).chain(earlier).collect();
        for case in suspects {
            let Act::Call(arguments) = &case.act else {
                continue;
            };
            self.live.totals.repeats += 1;
            self.live.fresh().await?;
            let limit = self.live.limit;
            let seen = self
                .live
                .observe_longer(case.tool, arguments, limit)
                .await?;
            self.live.discard();
            self.unsettled = true;
            let mut found = judge(case.input, &seen).into_iter();
            if let Some(sighting) = found.find(|it| it.kind == kind && !it.is_notice) {
                return Ok(Some((case, sighting, seen)));
            }
        }
        Ok(None)
    }

    /// Breaches of the protocol that the start alone shows.
    pub(super) async fn start_broke(&mut self, slips: Vec<WireSlip>) -> Result<(), Stop> {
        let again = self.live.fresh().await?;
        self.unsettled = true;
        for slip in slips {
            let sighting = Sighting::new(FindingKind::Protocol, slip.text.clone(), &slip.rule);
            let status = match again.contains(&slip) {
                true => FindingStatus::Confirmed,
                false => FindingStatus::Flaky,
            };
            let target = &self.targets[0];
            self.findings.push(FuzzFinding {
                kind: FindingKind::Protocol,
                status,
                tool: String::new(),
                pointer: String::new(),
                tried: "start".to_owned(),
                case: 0,
                valid_input: true,
                what: slip.text,
                // Any call shows it.
                calls: vec![FuzzCall::new(&target.name, target.plain().clone())],
                probe: None,
                fingerprint: fingerprint(target, &sighting, (Input::Valid, ""), &Value::Null),
                count: 1,
                stderr_tail: String::new(),
                step: None,
                command: None,
            });
        }
        Ok(())
    }

    /// Whether what a probe shows is the call's doing: the plainest call must not do the
    /// same, unless the probe gives no good answer any more.
    async fn is_worth_it(
        &mut self,
        case: &Case,
        probe: Option<usize>,
        arguments: &Value,
    ) -> Result<bool, Stop> {
        let Some(target) = self.targets.get(case.tool) else {
            return Ok(false);
        };
        let Some(probe) = probe else { return Ok(true) };
        let plain = target.plain().clone();
        self.live.fresh().await?;
        self.probes.settle(&mut self.live, None).await?;
        self.live.totals.repeats += 1;
        if plain != *arguments {
            let (answer, _) = self.live.call(case.tool, &plain, self.live.limit).await?;
            // A plain call that fails itself says nothing of what errors do.
            if answer.good().is_none() {
                self.live.discard();
                return Ok(true);
            }
        }
        let changed = self.probes.check(&mut self.live, true).await?;
        self.live.discard();
        self.unsettled = true;
        match changed {
            Some(changed) if !changed.is_broken => {
                self.probes.drop(probe);
                Ok(false)
            }
            Some(_) | None => Ok(true),
        }
    }

    /// Whether the call shows the same on a fresh server, after these.
    async fn again(
        &mut self,
        before: &[FuzzCall],
        case: &Case,
        arguments: &Value,
        sighting: &Sighting,
        limit: Duration,
    ) -> Result<bool, Stop> {
        self.live.fresh().await?;
        self.unsettled = true;
        for call in before {
            let tool = self.targets.iter().position(|it| it.name == call.tool);
            let Some(tool) = tool.filter(|_| self.live.is_up()) else {
                return Ok(false);
            };
            self.live.totals.repeats += 1;
            self.live
                .observe(tool, &call.arguments, self.live.limit)
                .await?;
        }
        if !self.live.is_up() {
            return Ok(false);
        }
        if sighting.kind == FindingKind::StateChanged {
            self.probes.settle(&mut self.live, None).await?;
        }
        let found = self.shows(case, arguments, sighting, limit).await?;
        self.live.discard();
        Ok(found)
    }

    /// As [`Hunt::again`]. What a probe gives may vary by itself: only what changes in
    /// the same way twice is the call's doing.
    async fn surely_again(
        &mut self,
        before: &[FuzzCall],
        case: &Case,
        arguments: &Value,
        sighting: &Sighting,
    ) -> Result<bool, Stop> {
        // What takes long, and is answered, does not hang.
        let limit = match sighting.kind {
            FindingKind::Hung => self.live.limit * HANG,
            _ => self.live.limit,
        };
        if !self.again(before, case, arguments, sighting, limit).await? {
            return Ok(false);
        }
        if sighting.kind != FindingKind::StateChanged {
            return Ok(true);
        }
        let first = self.probes.last_change();
        let again = self.again(before, case, arguments, sighting, limit).await?;
        Ok(again && self.probes.last_change() == first)
    }

    /// Whether the call shows the same on the server as it is.
    async fn shows(
        &mut self,
        case: &Case,
        arguments: &Value,
        sighting: &Sighting,
        limit: Duration,
    ) -> Result<bool, Stop> {
        self.live.totals.repeats += 1;
        let renewed = self.renewed(arguments).await?;
        let arguments = renewed.as_ref().unwrap_or(arguments);
        if !self.live.is_up() {
            return Ok(false);
        }
        let mut seen = match may_be_late(sighting.kind) && case.label == LATER {
            true => {
                self.live
                    .observe_longer(case.tool, arguments, limit)
                    .await?
            }
            false => self.live.observe(case.tool, arguments, limit).await?,
        };
        if sighting.kind == FindingKind::BoundRefused {
            for inside in one_step_inside(&self.targets[case.tool], &case.pointer, arguments) {
                let (answer, _) = self.live.call(case.tool, &inside, self.live.limit).await?;
                if judge_bound(&seen.answer, &answer).is_some() {
                    return Ok(true);
                }
            }
            return Ok(false);
        }
        if sighting.kind == FindingKind::StateChanged && seen.changed.is_none() {
            seen.changed = self.health(case, &seen).await?.0;
        }
        let found = judge(case.input, &seen);
        Ok(found.iter().any(|it| !it.is_notice && it.is_like(sighting)))
    }

    /// The smallest arguments that were found to show the same.
    async fn shrunk(
        &mut self,
        case: &Case,
        arguments: &Value,
        sighting: &Sighting,
        budget: &mut Budget,
    ) -> Result<Value, Stop> {
        let target = &self.targets[case.tool];
        let mut now = arguments.clone();
        // What must stand at a bound stays there.
        if sighting.kind == FindingKind::BoundRefused {
            return Ok(now);
        }
        let mut tried: Vec<Value> = Vec::new();
        'smaller: loop {
            for next in simpler(target, case.input, &case.pointer, &now) {
                if tried.contains(&next) {
                    continue;
                }
                if !budget.take() {
                    return Ok(now);
                }
                if self.shows_quickly(case, &next, sighting).await? {
                    now = next;
                    continue 'smaller;
                }
                tried.push(next);
            }
            break;
        }
        // Where only the length counts, the shortest that does it.
        if let Some((pointer, chars)) = long_text(&now) {
            let (mut fine, mut fails) = (0, chars);
            while fails - fine > 1 && budget.take() {
                let middle = fine + (fails - fine) / 2;
                let next = with_length(&now, &pointer, middle);
                let counts = match case.input {
                    Input::Valid => target.fits(&next),
                    Input::Invalid(_) => target.breaks(&next),
                };
                if counts && self.shows_quickly(case, &next, sighting).await? {
                    fails = middle;
                } else {
                    fine = middle;
                }
            }
            let shortest = with_length(&now, &pointer, fails);
            let counts = match case.input {
                Input::Valid => target.fits(&shortest),
                Input::Invalid(_) => target.breaks(&shortest),
            };
            if counts && fails < chars {
                now = shortest;
            }
        }
        Ok(now)
    }

    /// As [`Hunt::shows`]: on a fresh server where the last one may be damaged, and
    /// with less patience.
    async fn shows_quickly(
        &mut self,
        case: &Case,
        arguments: &Value,
        sighting: &Sighting,
    ) -> Result<bool, Stop> {
        let limit = match sighting.kind {
            FindingKind::Hung => self.patience(),
            _ => self.live.limit,
        };
        match sighting.kind {
            FindingKind::StateChanged => self.again(&[], case, arguments, sighting, limit).await,
            _ => {
                self.live.ensure().await?;
                self.shows(case, arguments, sighting, limit).await
            }
        }
    }

    /// How long a call may take before it is taken for one that hangs, while that is
    /// not yet said of it.
    fn patience(&self) -> Duration {
        (self.live.slowest * 5).max(SHORTEST).min(self.live.limit)
    }

    /// Whether what was found in haste holds on a fresh server.
    async fn holds(
        &mut self,
        case: &Case,
        arguments: &Value,
        sighting: &Sighting,
    ) -> Result<Held, Stop> {
        let limit = self.live.limit;
        let started = Instant::now();
        if self.again(&[], case, arguments, sighting, limit).await? {
            return Ok(Held::Yes);
        }
        let is_slow = sighting.kind == FindingKind::Hung && started.elapsed() > self.patience();
        Ok(if is_slow { Held::Slow } else { Held::No })
    }

    /// The fewest of the calls before it with which it shows the same.
    async fn fewer(
        &mut self,
        history: &[FuzzCall],
        case: &Case,
        arguments: &Value,
        sighting: &Sighting,
        budget: &mut Budget,
    ) -> Result<Vec<FuzzCall>, Stop> {
        let limit = self.live.limit;
        let mut now = history.to_vec();
        let mut length = 1;
        while length < now.len() && budget.take() {
            let tail = now[now.len() - length..].to_vec();
            if self.again(&tail, case, arguments, sighting, limit).await? {
                now = tail;
                break;
            }
            length *= 2;
        }
        let mut index = 0;
        while index < now.len() && budget.take() {
            let mut fewer = now.clone();
            fewer.remove(index);
            match self.again(&fewer, case, arguments, sighting, limit).await? {
                true => now = fewer,
                false => index += 1,
            }
        }
        Ok(now)
    }
}

/// Whether something small shows what something large showed.
enum Held {
    Yes,
    No,
    /// It took long, and was answered.
    Slow,
}
