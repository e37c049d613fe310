//! The search: one case after the other, each judged, what is wrong confirmed.
//!
//! Main type: [`Hunt`].

use super::live::{Live, Stop};
use super::probes::Probes;
use jelly_fuzzing::{
    Act, Answer, BY_CHANCE, Case, CaseSequence, FedArgument, Feed, FindingKind, FindingStatus,
    FuzzEnd, FuzzFinding, FuzzNotice, FuzzedTool, Input, Observation, Sighting, Target, judge,
    judge_bound, one_step_inside,
};
use serde_json::Value;
use std::collections::HashMap;

/// Different findings after which more would not help anybody.
const FINDINGS: usize = 40;
/// Different notices that are kept.
const NOTICES: usize = 100;
/// Calls of one tool that may end the server, one after the other.
const ENDS: u32 = 20;
/// Calls by chance of one tool that may end the server.
const ENDS_BY_CHANCE: u32 = 5;
/// Hangs at one argument after which it is left alone.
const HANGS: u32 = 2;
/// Numbers without a case after which there are none.
const NO_CASES: u32 = 5_000;

/// What makes two sightings not worth another look.
type Sameness = (usize, FindingKind, String, String, &'static str);

/// See the module.
pub struct Hunt<'a> {
    pub live: Live<'a>,
    pub targets: &'a [Target],
    pub probes: Probes,
    pub feed: Feed,
    /// The arguments of the case that an earlier answer gave.
    pub fed: Vec<FedArgument>,
    /// They are asked for anew before each call that has them.
    pub renews: bool,
    pub findings: Vec<FuzzFinding>,
    pub notices: Vec<FuzzNotice>,
    pub tools: Vec<FuzzedTool>,
    /// Place of the next case.
    pub next: u64,
    /// What the probes gave is out of date.
    pub unsettled: bool,
    known: HashMap<Sameness, Option<String>>,
    hangs: HashMap<(usize, String), u32>,
    ends: HashMap<usize, u32>,
    /// The same of cases by chance, whether or not one after the other.
    ends_by_chance: HashMap<usize, u32>,
}

impl<'a> Hunt<'a> {
    pub fn new(live: Live<'a>, targets: &'a [Target], first: u64) -> Self {
        let tools = targets.iter().map(|target| FuzzedTool {
            name: target.name.clone(),
            read_only: target.read_only,
            ..FuzzedTool::default()
        });
        Self {
            live,
            targets,
            probes: Probes::default(),
            feed: Feed::default(),
            fed: Vec::new(),
            renews: false,
            findings: Vec::new(),
            notices: Vec::new(),
            tools: tools.collect(),
            next: first,
            unsettled: true,
            known: HashMap::new(),
            hangs: HashMap::new(),
            ends: HashMap::new(),
            ends_by_chance: HashMap::new(),
        }
    }

    /// Tries until there is nothing left to try, or no time, or no server.
    pub async fn run(&mut self, sequence: &CaseSequence, most: u64) -> Result<FuzzEnd, Stop> {
        let slips = self.live.fresh().await?;
        self.probes = Probes::choose(&mut self.live, self.targets, &mut self.feed).await?;
        self.unsettled = false;
        if !slips.is_empty() {
            self.start_broke(slips).await?;
        }
        let end = sequence.end(self.targets);
        let mut without = 0;
        while self.live.totals.cases < most {
            if end.is_some_and(|end| self.next >= end) || without > NO_CASES {
                return Ok(FuzzEnd::Complete);
            }
            if self.live.is_late() {
                return Ok(FuzzEnd::Deadline);
            }
            if self.findings.len() >= FINDINGS {
                return Ok(FuzzEnd::ManyFindings);
            }
            let number = self.next;
            self.next += 1;
            let case = sequence.case(self.targets, number);
            let Some(case) = case.filter(|case| !self.is_spent(case)) else {
                without += 1;
                continue;
            };
            without = 0;
            self.live.totals.cases += 1;
            self.try_case(case).await?;
        }
        Ok(FuzzEnd::MaxCalls)
    }

    /// Whether it can show nothing that is not known: each look costs a timeout, or
    /// another start.
    fn is_spent(&self, case: &Case) -> bool {
        let hangs = self.hangs.get(&(case.tool, case.pointer.clone()));
        hangs.is_some_and(|hangs| *hangs >= HANGS)
            || self.ends.get(&case.tool).is_some_and(|ends| *ends >= ENDS)
            || case.label == BY_CHANCE
                && self
                    .ends_by_chance
                    .get(&case.tool)
                    .is_some_and(|ends| *ends >= ENDS_BY_CHANCE)
    }

    async fn try_case(&mut self, case: Case) -> Result<(), Stop> {
        if self.live.ensure().await? {
            self.unsettled = true;
        }
        if self.unsettled && !self.probes.is_empty() {
            self.probes
                .settle(&mut self.live, Some(&mut self.feed))
                .await?;
            self.unsettled = false;
        }
        let Some(target) = self.targets.get(case.tool) else {
            return Ok(());
        };
        let (arguments, fed) = match &case.act {
            Act::Pair(..) => return self.try_pair(case).await,
            Act::Call(arguments) => self.feed.fill(target, &case, arguments),
        };
        self.fed = fed;
        let history = self.live.history.clone();
        let mut seen = self
            .live
            .observe(case.tool, &arguments, self.live.limit)
            .await?;
        self.count(&case, &seen.answer);
        if let Some(good) = seen.answer.good() {
            self.feed.learn((&target.name, &arguments), good);
        }
        let (changed, probe) = self.health(&case, &seen).await?;
        seen.changed = seen.changed.take().or(changed);
        let mut sightings = judge(case.input, &seen);
        sightings.extend(self.bound(&case, &arguments, &seen).await?);
        let is_over = !self.live.is_up();
        let ends = self.ends.entry(case.tool).or_default();
        *ends = if is_over { *ends + 1 } else { 0 };
        if is_over && case.label == BY_CHANCE {
            *self.ends_by_chance.entry(case.tool).or_default() += 1;
        }
        if matches!(seen.answer, Answer::Nothing { .. }) {
            let hangs = self
                .hangs
                .entry((case.tool, case.pointer.clone()))
                .or_default();
            *hangs += 1;
        }
        if seen.changed.is_some() {
            self.live.discard();
        }
        let case = Case {
            act: Act::Call(arguments),
            ..case
        };
        for sighting in sightings {
            self.take(&case, &sighting, &seen, &history, probe).await?;
        }
        Ok(())
    }

    fn count(&mut self, case: &Case, answer: &Answer) {
        let Some(tool) = self.tools.get_mut(case.tool) else {
            return;
        };
        tool.cases += 1;
        match (case.input, answer.good().is_some(), answer.is_refusal()) {
            (Input::Valid, true, _) => tool.accepted += 1,
            (Input::Valid, _, true) => tool.refused += 1,
            (Input::Invalid(_), _, true) => tool.invalid_refused += 1,
            (_, _, _) => {}
        }
    }

    /// Whether probes give what they gave before: all of them after an error, one after
    /// a good answer of what only reads. What writes may change everything.
    pub async fn health(
        &mut self,
        case: &Case,
        seen: &Observation,
    ) -> Result<(Option<String>, Option<usize>), Stop> {
        let reads = self.targets.get(case.tool).is_some_and(|it| it.read_only);
        let is_good = seen.answer.good().is_some();
        if !self.live.is_up() || self.probes.is_empty() {
            return Ok((None, None));
        }
        if is_good && !reads {
            self.unsettled = true;
            return Ok((None, None));
        }
        let changed = self.probes.check(&mut self.live, !is_good).await?;
        let Some(changed) = changed else {
            return Ok((None, None));
        };
        let told = self.probes.told(changed.probe, self.targets);
        let probe = told.map(|(_, shown)| shown).unwrap_or_default();
        let after = match is_good {
            true => "an answer",
            false => "an error",
        };
        let what = format!("is not what it was after {after}: {probe} {}", changed.what);
        // What is dead or mute must not be asked again.
        self.unsettled = true;
        Ok((Some(what), Some(changed.probe)))
    }

    /// Looks inside of a bound whose own value was refused.
    async fn bound(
        &mut self,
        case: &Case,
        arguments: &Value,
        seen: &Observation,
    ) -> Result<Option<Sighting>, Stop> {
        let is_refused = case.input == Input::Valid && seen.answer.is_refusal();
        let is_at_bound = matches!(case.label, "boundary" | "one_item" | "empty" | "empty_list");
        if !is_refused || !is_at_bound || !self.live.is_up() {
            return Ok(None);
        }
        let Some(target) = self.targets.get(case.tool) else {
            return Ok(None);
        };
        for inside in one_step_inside(target, &case.pointer, arguments) {
            self.live.totals.repeats += 1;
            self.unsettled = true;
            let (answer, _) = self.live.call(case.tool, &inside, self.live.limit).await?;
            if super::live::is_over(&answer) {
                self.live.discard();
                return Ok(None);
            }
            if let Some(found) = judge_bound(&seen.answer, &answer) {
                return Ok(Some(found));
            }
        }
        Ok(None)
    }

    /// A sighting: a notice, one more of what is known, or something new that is
    /// confirmed and shrunk.
    pub(super) async fn take(
        &mut self,
        case: &Case,
        sighting: &Sighting,
        seen: &Observation,
        history: &[jelly_fuzzing::FuzzCall],
        probe: Option<usize>,
    ) -> Result<(), Stop> {
        if sighting.is_notice {
            self.note(case, sighting);
            return Ok(());
        }
        let key = (
            case.tool,
            sighting.kind,
            sighting.evidence.clone(),
            case.pointer.clone(),
            case.label,
        );
        if let Some(fingerprint) = self.known.get(&key) {
            let fingerprint = fingerprint.clone();
            let mut findings = self.findings.iter_mut();
            let finding = findings.find(|it| Some(&it.fingerprint) == fingerprint.as_ref());
            if let Some(finding) = finding {
                finding.count += 1;
            }
            return Ok(());
        }
        let found = self.confirmed(case, sighting, seen, history, probe).await?;
        self.known
            .insert(key, found.as_ref().map(|it| it.fingerprint.clone()));
        let Some(finding) = found else { return Ok(()) };
        let mut findings = self.findings.iter_mut();
        match findings.find(|it| it.fingerprint == finding.fingerprint) {
            Some(known) => {
                let is_better = known.status == FindingStatus::Flaky
                    && finding.status == FindingStatus::Confirmed;
                let count = known.count + 1;
                if is_better {
                    *known = finding;
                }
                known.count = count;
            }
            None => self.findings.push(finding),
        }
        Ok(())
    }

    pub fn note(&mut self, case: &Case, sighting: &Sighting) {
        let Some(target) = self.targets.get(case.tool) else {
            return;
        };
        // A slow tool is slow whatever it is given.
        let is_slow = sighting.kind == FindingKind::Hung;
        let is_same = |it: &&mut FuzzNotice| {
            let is_alike = it.pointer == case.pointer && it.tried == case.label;
            it.tool == target.name && it.kind == sighting.kind && (is_slow || is_alike)
        };
        if let Some(known) = self.notices.iter_mut().find(is_same) {
            known.count += 1;
            return;
        }
        if self.notices.len() >= NOTICES {
            return;
        }
        self.notices.push(FuzzNotice {
            kind: sighting.kind,
            tool: target.name.clone(),
            pointer: case.pointer.clone(),
            tried: case.label.to_owned(),
            what: sighting.what.clone(),
            arguments: match &case.act {
                Act::Call(arguments) | Act::Pair(arguments, ..) => arguments.clone(),
            },
            count: 1,
        });
    }
}
