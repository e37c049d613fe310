//! Calls that give the same again and again, by which a server is found healthy.
//!
//! Main type: [`Probes`].

use super::live::{Live, Stop, is_over};
use jelly_base::text::{LazyPattern, Volatile, one_line, without_volatile};
use jelly_fuzzing::{Answer, Feed, FuzzProbe, Target, shown_arguments};
use serde_json::Value;
use std::borrow::Cow;

/// So many tools are called to see whether all is well.
const PROBES: usize = 12;
/// Bytes of an answer that are compared.
const COMPARED: usize = 64 << 10;
/// Bytes of a text that a plan expects.
const EXPECTED: usize = 2_000;
/// What differs from call to call, whatever happens.
const KINDS: [Volatile; 4] = [
    Volatile::Timestamp,
    Volatile::Uuid,
    Volatile::Duration,
    Volatile::Hash,
];

/// One of them.
#[derive(Debug, Clone)]
struct Probe {
    tool: usize,
    name: String,
    arguments: Value,
    /// What it gave last, while all was well.
    before: Option<String>,
    text: Option<String>,
}

/// See the module.
#[derive(Debug, Default)]
pub struct Probes {
    all: Vec<Probe>,
    turn: usize,
    /// The last that was no longer what it was: before, after, and whether that was no
    /// good answer.
    last: Option<(String, String, bool)>,
}

/// Something that is no longer what it was.
pub struct Changed {
    /// Completes "the server …".
    pub what: String,
    /// Index of the probe that shows it.
    pub probe: usize,
    /// It gave no answer at all, or an error where there was none.
    pub is_broken: bool,
}

impl Probes {
    /// The plainest calls of tools that only read, where these answer alike.
    pub async fn choose(
        live: &mut Live<'_>,
        targets: &[Target],
        feed: &mut Feed,
    ) -> Result<Self, Stop> {
        let mut all = Vec::new();
        // What asks for nothing shows most of the state.
        let mut order: Vec<(usize, &Target)> = targets.iter().enumerate().collect();
        order.sort_by_key(|(_, target)| target.plain().as_object().map_or(0, |it| it.len()));
        for (tool, target) in order {
            if !target.read_only || all.len() == PROBES {
                continue;
            }
            let arguments = target.plain();
            let first = asked(live, tool, arguments).await?;
            let second = match is_over(&first) {
                true => continue,
                false => asked(live, tool, arguments).await?,
            };
            if let Some(good) = first.good() {
                feed.learn((&target.name, arguments), good);
            }
            if first.good().is_some() && shown(&first) == shown(&second) {
                all.push(Probe {
                    tool,
                    name: target.name.clone(),
                    arguments: arguments.clone(),
                    before: None,
                    text: None,
                });
            }
        }
        let mut probes = Self {
            all,
            ..Self::default()
        };
        probes.settle(live, None).await?;
        Ok(probes)
    }

    /// What they give now is what they are to give. A feed takes it in the place of what
    /// they gave on another server.
    pub async fn settle(
        &mut self,
        live: &mut Live<'_>,
        mut feed: Option<&mut Feed>,
    ) -> Result<(), Stop> {
        self.turn = 0;
        for probe in &mut self.all {
            live.ensure().await?;
            let answer = asked(live, probe.tool, &probe.arguments).await?;
            if let (Some(feed), Some(good)) = (feed.as_deref_mut(), answer.good()) {
                feed.learn((&probe.name, &probe.arguments), good);
            }
            let text = answer.good().map(|_| answer.text());
            let is_plain = |text: &String| {
                let settled = matches!(without_volatile(text, &KINDS), Cow::Borrowed(_));
                text.len() <= EXPECTED && settled && !CLOCK.is_match(text)
            };
            probe.before = answer.good().map(|_| shown(&answer));
            probe.text = text.filter(is_plain);
        }
        Ok(())
    }

    /// What is no longer what it was: of all of them, or of the next one.
    pub async fn check(&mut self, live: &mut Live<'_>, all: bool) -> Result<Option<Changed>, Stop> {
        let count = self.all.len();
        let many = if all { count } else { count.min(1) };
        for _ in 0..many {
            self.turn = (self.turn + 1) % count;
            let probe = &self.all[self.turn];
            let Some(before) = &probe.before else {
                continue;
            };
            let answer = asked(live, probe.tool, &probe.arguments).await?;
            if shown(&answer) == *before {
                continue;
            }
            let is_broken = answer.good().is_none();
            self.last = Some((before.clone(), shown(&answer), is_broken));
            let after = match &answer {
                Answer::Nothing { .. } => "does not answer any more".to_owned(),
                Answer::Died { .. } => "ends the server".to_owned(),
                answer if is_broken => {
                    format!("is refused: {}", one_line(&answer.text(), 160))
                }
                answer => format!(
                    "gives {}, and gave {} before",
                    quoted(&answer.text()),
                    quoted(probe.text.as_deref().unwrap_or("something else"))
                ),
            };
            return Ok(Some(Changed {
                what: after,
                probe: self.turn,
                is_broken,
            }));
        }
        Ok(None)
    }

    /// A probe as findings tell of it; with its call in words.
    pub fn told(&self, index: usize, targets: &[Target]) -> Option<(FuzzProbe, String)> {
        let probe = self.all.get(index)?;
        let tool = targets.get(probe.tool)?.name.clone();
        let shown = format!("`{tool}` with {}", shown_arguments(&probe.arguments));
        let told = FuzzProbe {
            tool,
            arguments: probe.arguments.clone(),
            text: probe.text.clone(),
        };
        Some((told, shown))
    }

    /// What the last one that changed gave before and after.
    pub fn last_change(&self) -> Option<(String, String)> {
        let (before, after, _) = self.last.as_ref()?;
        Some((before.clone(), after.clone()))
    }

    /// Whether the last one that changed gave no good answer any more.
    pub fn is_last_broken(&self) -> bool {
        self.last.as_ref().is_some_and(|(_, _, broken)| *broken)
    }

    /// Takes one out that is not to be relied on.
    pub fn drop(&mut self, index: usize) {
        if index < self.all.len() {
            self.all.remove(index);
            self.turn = 0;
        }
    }

    pub fn is_empty(&self) -> bool {
        self.all.is_empty()
    }
}

async fn asked(live: &mut Live<'_>, tool: usize, arguments: &Value) -> Result<Answer, Stop> {
    live.ensure().await?;
    live.totals.probes += 1;
    let (answer, _) = live.call(tool, arguments, live.limit).await?;
    if is_over(&answer) {
        live.discard();
    }
    Ok(answer)
}

fn quoted(text: &str) -> String {
    Value::from(one_line(text, 80)).to_string()
}

/// An answer without what differs from call to call.
fn shown(answer: &Answer) -> String {
    let text = match answer {
        Answer::Result(result) => {
            let mut kept = result.clone();
            if let Some(members) = kept.as_object_mut() {
                members.shift_remove("_meta");
            }
            kept.to_string()
        }
        answer => format!("{answer:?}"),
    };
    let cut = &text[..text.floor_char_boundary(COMPARED)];
    CLOCK
        .replace_all(&without_volatile(cut, &KINDS), "[clock]")
        .into_owned()
}

/// A time of day.
static CLOCK: LazyPattern = LazyPattern::new(r"\b\d{1,2}:\d{2}:\d{2}\b");
