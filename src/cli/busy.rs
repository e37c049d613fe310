//! Long work shows itself: a spinner for people who watch, else a line at least
//! every 15 s that says what is waited for.
//!
//! Main type: [`Busy`].

use super::refusal::complain;
use super::settings::World;
use crate::report::{UnderWay, progress_target};
use indicatif::{ProgressBar, ProgressStyle};
use jelly_base::model::Event;
use jelly_base::text::redact::Redactor;
use jelly_base::text::{human_duration, one_line, plural, sanitize};
use std::collections::BTreeMap;
use std::sync::mpsc::{Receiver, RecvTimeoutError, Sender, channel};
use std::sync::{Arc, Mutex, PoisonError};
use std::thread::JoinHandle;
use std::time::{Duration, Instant};

/// Nobody is left without a word for longer.
const SILENCE: Duration = Duration::from_secs(15);
/// Often enough to look alive.
const TICK: Duration = Duration::from_millis(120);
/// Things that are named.
const NAMES: usize = 3;

/// What is waited for, each with when that began.
type Waits = Arc<Mutex<BTreeMap<String, (String, Instant)>>>;

/// Some work that takes long. It is over when this is dropped.
pub struct Busy {
    under_way: Waits,
    spinner: Option<ProgressBar>,
    heartbeat: Option<Heartbeat>,
}

struct Heartbeat {
    over: Sender<()>,
    thread: JoinHandle<()>,
}

impl Busy {
    /// For work beside which nothing is written.
    #[must_use]
    pub fn spinning(world: &World, what: &str) -> Self {
        let busy = Self::waiting(world);
        busy.begin("", what);
        busy
    }

    /// As [`Busy::spinning`], with what is waited for still to be said.
    #[must_use]
    pub fn waiting(world: &World) -> Self {
        if world.stderr_is_terminal && !world.in_ci() {
            let mut busy = Self::silent();
            busy.spinner = Some(spinner());
            busy
        } else {
            Self::beating()
        }
    }

    /// For work that shows itself on a terminal; elsewhere a word now and then.
    #[must_use]
    pub fn beating() -> Self {
        let under_way = Waits::default();
        let (over, ended) = channel();
        let seen = under_way.clone();
        let beats = move || beat(SILENCE, &ended, &seen, &complain);
        let thread = std::thread::Builder::new().spawn(beats).ok();
        Self {
            heartbeat: thread.map(|thread| Heartbeat { over, thread }),
            spinner: None,
            under_way,
        }
    }

    /// Nothing is said.
    #[must_use]
    pub fn silent() -> Self {
        Self {
            under_way: Waits::default(),
            spinner: None,
            heartbeat: None,
        }
    }

    /// `who` does `what` from now on.
    pub fn begin(&self, who: &str, what: &str) {
        let mut under_way = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let begun = (what.to_owned(), Instant::now());
        under_way.insert(who.to_owned(), begun);
        self.show(&under_way);
    }

    /// `who` does `what` for as long as the work lasts.
    pub fn during<T>(&self, who: &str, what: &str, work: impl FnOnce() -> T) -> T {
        self.begin(who, what);
        let done = work();
        self.end(who);
        done
    }

    /// A server is waited for, of which nothing is to be told.
    pub fn begin_server(&self, name: &str, what: &str, redactor: &Redactor) {
        self.begin(&shown_name(name, redactor), what);
    }

    /// That server is not waited for any more.
    pub fn end_server(&self, name: &str, redactor: &Redactor) {
        self.end(&shown_name(name, redactor));
    }

    fn show(&self, under_way: &BTreeMap<String, (String, Instant)>) {
        if let Some(spinner) = &self.spinner {
            spinner.set_message(one_line(&said(under_way, None), 200));
        }
    }

    /// Keeps in mind what is under way in a plan.
    pub fn watch(&self, plan: &str, event: &Event) {
        match UnderWay::after(event) {
            UnderWay::Does(who, what) => self.begin(&format!("{plan}/{who}"), &what),
            UnderWay::Rests(who) | UnderWay::Gone(who) => self.end(&format!("{plan}/{who}")),
            UnderWay::AllGone => self.end(plan),
            UnderWay::Same => {}
        }
    }

    /// `who`, and all that it consists of, is not waited for any more.
    pub fn end(&self, who: &str) {
        let mut under_way = self
            .under_way
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let is_part = |name: &str| {
            name.strip_prefix(who)
                .is_some_and(|rest| rest.is_empty() || rest.starts_with('/'))
        };
        under_way.retain(|name, _| !is_part(name));
        self.show(&under_way);
    }
}

impl Drop for Busy {
    fn drop(&mut self) {
        if let Some(spinner) = self.spinner.take() {
            spinner.finish_and_clear();
        }
        if let Some(Heartbeat { over, thread }) = self.heartbeat.take() {
            drop(over);
            // It has nothing to do but to end.
            let _ = thread.join();
        }
    }
}

fn spinner() -> ProgressBar {
    let spinner = ProgressBar::with_draw_target(None, progress_target());
    // A good one; another would only look different.
    let style = ProgressStyle::with_template("{spinner} {wide_msg} {elapsed}");
    let spinner = match style {
        Ok(style) => spinner.with_style(style),
        Err(_) => spinner,
    };
    spinner.enable_steady_tick(TICK);
    spinner
}

/// Says what is under way, `every` so often, until the other end is gone.
fn beat(every: Duration, ended: &Receiver<()>, under_way: &Waits, say: &dyn Fn(&str)) {
    let begun = Instant::now();
    while ended.recv_timeout(every) == Err(RecvTimeoutError::Timeout) {
        let under_way = under_way.lock().unwrap_or_else(PoisonError::into_inner);
        let line = line(&under_way, begun, Instant::now());
        drop(under_way);
        say(&line);
    }
}

fn line(under_way: &BTreeMap<String, (String, Instant)>, begun: Instant, now: Instant) -> String {
    match under_way.is_empty() {
        true => format!("still working ({})", since(begun, now)),
        false => one_line(
            &format!("in progress: {}", said(under_way, Some(now))),
            1000,
        ),
    }
}

fn since(moment: Instant, now: Instant) -> String {
    let whole = now.saturating_duration_since(moment).as_secs();
    human_duration(Duration::from_secs(whole))
}

/// What is under way, and for how long, if that is to be said.
fn said(under_way: &BTreeMap<String, (String, Instant)>, now: Option<Instant>) -> String {
    let said = under_way.iter().take(NAMES).map(|(who, (what, moment))| {
        let what = match who.as_str() {
            "" => what.clone(),
            who => format!("{who}: {what}"),
        };
        match now {
            Some(now) => format!("{what} ({})", since(*moment, now)),
            None => what,
        }
    });
    let said: Vec<String> = said.collect();
    match under_way.len().saturating_sub(NAMES) {
        0 => said.join(", "),
        more => format!("{}, and {}", said.join(", "), plural(more, "other thing")),
    }
}

fn shown_name(name: &str, redactor: &Redactor) -> String {
    sanitize(&redactor.redact(name)).into_owned()
}

#[cfg(test)]
mod tests {
    use super::{Busy, Waits, beat, line};
    use std::collections::BTreeMap;
    use std::sync::mpsc::channel;
    use std::time::{Duration, Instant};

    #[test]
    fn a_line_says_what_is_waited_for_and_since_when() {
        let begun = Instant::now();
        let now = begun + Duration::from_secs(40);
        let busy = Busy::silent();
        let said = |busy: &Busy| {
            let under_way = busy.under_way.lock().unwrap();
            let aged: BTreeMap<_, _> = under_way
                .iter()
                .map(|(who, (what, _))| (who.clone(), (what.clone(), begun)))
                .collect();
            line(&aged, begun, now)
        };
        assert_eq!(said(&busy), "still working (40.0 s)");
        for (who, what) in [("p/a", "step x"), ("p/b", "starting"), ("q/a", "step y")] {
            busy.begin(who, what);
        }
        busy.begin("p/a", "step z");
        assert_eq!(
            said(&busy),
            "in progress: p/a: step z (40.0 s), p/b: starting (40.0 s), q/a: step y (40.0 s)"
        );
        busy.begin("r/a", "step y");
        assert!(
            said(&busy).ends_with(", and 1 other thing"),
            "{}",
            said(&busy)
        );
        busy.end("p");
        busy.end("q/a");
        assert_eq!(said(&busy), "in progress: r/a: step y (40.0 s)");
    }

    #[test]
    fn a_word_comes_as_long_as_the_work_lasts() {
        let (over, ended) = channel();
        let (said, heard) = channel();
        let thread = std::thread::spawn(move || {
            let say = |line: &str| said.send(line.to_owned()).unwrap();
            beat(Duration::from_millis(1), &ended, &Waits::default(), &say);
        });
        assert!(heard.recv().unwrap().starts_with("still working"));
        assert!(heard.recv().is_ok());
        drop(over);
        thread.join().unwrap();
    }
}
