//! The progress view of a TTY: a spinner for each server, a bar of the steps.

use super::name;
use super::under_way::UnderWay;
use indicatif::{MultiProgress, ProgressBar, ProgressStyle};
use jelly_base::model::Event;
use std::collections::BTreeMap;
use std::time::Duration;

/// Often enough to look alive.
const TICK: Duration = Duration::from_millis(120);

#[derive(Debug)]
pub(super) struct Progress {
    multi: MultiProgress,
    bar: Option<ProgressBar>,
    servers: BTreeMap<String, ProgressBar>,
}

impl Progress {
    pub(super) fn new(multi: MultiProgress) -> Self {
        Self {
            multi,
            bar: None,
            servers: BTreeMap::new(),
        }
    }

    /// Runs `write` while nothing is drawn.
    pub(super) fn suspend<R>(&self, write: impl FnOnce() -> R) -> R {
        self.multi.suspend(write)
    }

    /// Takes away what this view drew, and nothing that others drew.
    pub(super) fn clear(mut self) {
        self.take_all();
    }

    pub(super) fn event(&mut self, event: &Event) {
        match UnderWay::after(event) {
            UnderWay::Does(server, doing) => self.server(server, &doing),
            UnderWay::Rests(server) => self.server(server, "ready"),
            UnderWay::Gone(server) => {
                if let Some(spinner) = self.servers.remove(server) {
                    self.remove(&spinner);
                }
            }
            UnderWay::AllGone => self.take_all(),
            UnderWay::Same => {}
        }
        if let Event::IterationStarted { steps, .. } = event {
            let bar = ProgressBar::new(*steps as u64)
                .with_style(style("  {bar:24} {pos}/{len} steps  {elapsed}"));
            let bar = self.multi.add(bar);
            bar.enable_steady_tick(TICK);
            self.bar = Some(bar);
        }
        if let (Event::StepFinished { .. }, Some(bar)) = (event, &self.bar) {
            bar.inc(1);
        }
    }

    fn server(&mut self, server: &str, doing: &str) {
        let multi = &self.multi;
        let bar = self.bar.as_ref();
        let spinner = self.servers.entry(server.to_owned()).or_insert_with(|| {
            let spinner = ProgressBar::new_spinner()
                .with_style(style("  {spinner} {prefix}: {wide_msg}"))
                .with_prefix(name(server));
            let spinner = match bar {
                Some(bar) => multi.insert_before(bar, spinner),
                None => multi.add(spinner),
            };
            spinner.enable_steady_tick(TICK);
            spinner
        });
        spinner.set_message(name(doing));
    }

    fn take_all(&mut self) {
        for spinner in std::mem::take(&mut self.servers).into_values() {
            self.remove(&spinner);
        }
        if let Some(bar) = self.bar.take() {
            self.remove(&bar);
        }
    }

    fn remove(&self, bar: &ProgressBar) {
        bar.finish_and_clear();
        self.multi.remove(bar);
    }
}

fn style(template: &str) -> ProgressStyle {
    // The templates are constants, and good ones; another would only look
    // different.
    ProgressStyle::with_template(template).unwrap_or_else(|_| ProgressStyle::default_bar())
}
