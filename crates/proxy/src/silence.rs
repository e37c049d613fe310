//! A server that says nothing to the probe for its era, or dies of it, and a
//! process that is started to see what one is like that is not probed.

use super::driver::{GRACE, Proxy};
use super::upstream::{Upstream, outsider};
use jelly_base::mcp::Era;
use jelly_base::model::Failure;
use jelly_wire::{Launch, start};
use std::future::Future;
use std::pin::Pin;
use std::time::Duration;
use tokio::time::Instant;

/// A process that is started only to see whether it lives.
const TRIAL: Duration = Duration::from_secs(20);

/// What a server may take to answer the probe for its era that it has read.
const SILENCE: Duration = Duration::from_secs(1);
/// How often it is looked whether it has read it.
const LOOK: Duration = Duration::from_millis(250);
/// A process that is not probed, beside or after one that was.
pub(super) struct Trial {
    /// What it comes to.
    pub ends: Pin<Box<dyn Future<Output = TrialEnd>>>,
    /// What is known of the one that was probed.
    pub first: Box<Failure>,
}

/// What a process that is not probed came to.
pub(super) enum TrialEnd {
    Lived,
    /// It ended too: what is said of both is the same, where it is not the probe.
    Failed(Box<Failure>),
    /// Nothing was seen that tells.
    Undecided,
}

/// How long the server has said nothing to the probe for its era.
#[derive(Debug, Clone, Copy)]
pub(super) enum Silence {
    /// It was not probed, or has not read the probe; when that is looked at.
    Unread(Option<Instant>),
    /// It has read it; until when it may be silent.
    Until(Instant),
    /// A process that is not probed was started beside it.
    Broken,
}

impl Proxy {
    /// Starts a process that is asked in the legacy era alone.
    pub(super) fn try_without_probe(&self, first: Failure) -> Trial {
        let launch = Launch {
            era: Some(Era::Legacy),
            startup_timeout: self.settings.relay.startup_timeout.min(TRIAL),
            redactor: self.settings.redactor.clone(),
            ..Launch::new(self.settings.name.clone(), self.settings.reach.clone())
        };
        let outsider = outsider(&self.settings);
        let ends = Box::pin(async move {
            match start(&launch).await {
                Ok(mut session) => {
                    session.shutdown(GRACE).await;
                    TrialEnd::Lived
                }
                Err(failure) if failure.exit.is_some() => {
                    TrialEnd::Failed(Box::new(outsider.unready(*failure)))
                }
                Err(_) => TrialEnd::Undecided,
            }
        });
        Trial {
            ends,
            first: Box::new(first),
        }
    }

    pub(super) fn tried(&mut self, end: TrialEnd) {
        let Some(Trial { first, ends: _ }) = self.trial.take() else {
            return;
        };
        match end {
            TrialEnd::Lived => self.relay.is_legacy(),
            // The one that was probed lives, and may only be slow.
            TrialEnd::Failed(_) | TrialEnd::Undecided if self.upstream.is_some() => {
                self.relay.stop_probing();
            }
            TrialEnd::Failed(failure) => self.failed(&failure),
            TrialEnd::Undecided => self.failed(&first),
        }
    }

    /// Until when the server may say nothing to the probe, where that is all it
    /// was sent.
    pub(super) fn silent_until(&mut self) -> Option<Instant> {
        let is_process = self.upstream.as_mut().is_some_and(|u| u.piped().is_some());
        if !self.relay.only_probed() || !is_process {
            if self.upstream.is_some() {
                // It has answered.
                self.trial = None;
            }
            self.silence = Silence::Unread(None);
            return None;
        }
        match &mut self.silence {
            Silence::Unread(look) => Some(*look.get_or_insert_with(|| Instant::now() + LOOK)),
            Silence::Until(until) => Some(*until),
            Silence::Broken => None,
        }
    }

    /// Starts a process beside one that is silent over the probe: some die of the
    /// next line.
    pub(super) async fn break_silence(&mut self, now: Instant) {
        let has_read = self.upstream.as_ref().is_some_and(Upstream::read_all);
        match self.silence {
            Silence::Unread(Some(look)) if look <= now => {
                self.silence = match has_read {
                    true => Silence::Until(now + SILENCE.saturating_sub(LOOK)),
                    false => Silence::Unread(Some(now + LOOK)),
                };
            }
            Silence::Until(until) if until <= now => {
                self.silence = Silence::Broken;
                if let Some(upstream) = &mut self.upstream {
                    let method = self.relay.asked_for();
                    let failure = upstream.still_starting(&self.settings, method).await;
                    self.trial = Some(self.try_without_probe(failure));
                }
            }
            Silence::Unread(_) | Silence::Until(_) | Silence::Broken => {}
        }
    }
}
