//! Runs that clients started: each in a process of its own, attended to until
//! it is over, whoever waits for it.
//!
//! Main types: [`Runs`], all of them, and [`Run`], one.

use super::child::{Jelly, JellyEnd};
use super::fault::ToolFault;
use crate::cli::announce::Announcement;
use jelly_base::text::plural;
use std::collections::{BTreeMap, VecDeque};
use std::path::PathBuf;
use std::sync::{Arc, Mutex, PoisonError};
use std::time::Duration;
use tokio::sync::{mpsc, watch};
use tokio::time::timeout;

/// More do not run at the same time.
const MOST_RUNS: usize = 4;

/// The results of so many runs that are over are kept, for as far as no report
/// holds them.
const MOST_KEPT: usize = 16;

/// So long a run may take to say its id.
const FIRST_WORD: Duration = Duration::from_secs(30);

/// How far a run is.
#[derive(Debug, Clone, Default)]
pub struct RunProgress {
    pub run_id: Option<String>,
    pub iteration: u32,
    /// Steps of this iteration: ended, all.
    pub steps: (usize, usize),
    /// Steps that ended, over all iterations.
    pub ended: usize,
    /// The last thing that happened.
    pub last: String,
    /// It is over.
    pub end: Option<Arc<JellyEnd>>,
}

impl RunProgress {
    fn take(&mut self, said: Announcement) {
        match said {
            Announcement::Run { run_id } => self.run_id = Some(run_id),
            Announcement::Iteration { index, steps } => {
                self.iteration = index;
                self.steps = (0, steps);
                self.last = format!("iteration {index}: {}", plural(steps, "step"));
            }
            Announcement::Step { step, state } => {
                self.steps.0 += 1;
                self.ended += 1;
                let state = serde_json::to_value(state).unwrap_or_default();
                self.last = format!(
                    "iteration {}: {step} {} ({} of {})",
                    self.iteration,
                    state.as_str().unwrap_or_default(),
                    self.steps.0,
                    self.steps.1
                );
            }
        }
    }
}

/// One run.
#[derive(Debug)]
pub struct Run {
    pub id: String,
    pub plan: PathBuf,
    pub progress: watch::Receiver<RunProgress>,
    stop: watch::Sender<bool>,
}

impl Run {
    /// Has it end; its report says that it was interrupted.
    pub fn stop(&self) {
        self.stop.send_replace(true);
    }

    /// Waits for its end, no longer than this.
    pub async fn end_within(&self, limit: Duration) -> Option<Arc<JellyEnd>> {
        let mut progress = self.progress.clone();
        let over = progress.wait_for(|progress| progress.end.is_some());
        let over = timeout(limit, over).await.ok()?;
        over.ok()?.end.clone()
    }

    fn is_over(&self) -> bool {
        // Where nobody attends to it, it is.
        self.progress.borrow().end.is_some() || self.progress.has_changed().is_err()
    }
}

/// All of them.
#[derive(Debug, Default)]
pub struct Runs {
    running: Mutex<BTreeMap<String, Arc<Run>>>,
    over: Mutex<VecDeque<Arc<Run>>>,
    places: Mutex<usize>,
}

impl Runs {
    /// Starts one.
    ///
    /// # Errors
    /// There are too many, or it ended before it began.
    pub async fn start(
        self: &Arc<Self>,
        jelly: &Jelly,
        args: Vec<String>,
        plan: PathBuf,
    ) -> Result<Arc<Run>, ToolFault> {
        let place = self.take_place()?;
        let (told, mut heard) = mpsc::unbounded_channel();
        let mut command = jelly.start(args, Some(told)).await?;
        let (progress, mut watched) = watch::channel(RunProgress::default());
        let (stop, mut stopped) = watch::channel(false);
        // Attended to by nobody who may lose patience.
        tokio::spawn(async move {
            let _place = place;
            let hear = |said| progress.send_modify(|progress| progress.take(said));
            let end = {
                let listen = async {
                    while let Some(said) = heard.recv().await {
                        hear(said);
                    }
                    // Its stderr may close before it ends.
                    std::future::pending::<()>().await;
                };
                tokio::select! {
                    end = command.finish(&[]) => Some(end),
                    _ = stopped.wait_for(|stop| *stop) => None,
                    () = listen => None,
                }
            };
            while let Ok(said) = heard.try_recv() {
                hear(said);
            }
            let end = match end {
                Some(end) => end,
                None => {
                    command.stop().await;
                    JellyEnd {
                        code: None,
                        stdout: Vec::new(),
                        stderr: String::new(),
                        cut: false,
                    }
                }
            };
            progress.send_modify(|progress| progress.end = Some(Arc::new(end)));
        });
        let named = watched.wait_for(|p| p.run_id.is_some() || p.end.is_some());
        let named = timeout(FIRST_WORD, named).await;
        let id = match &named {
            Ok(Ok(progress)) => progress.run_id.clone(),
            Ok(Err(_)) | Err(_) => None,
        };
        drop(named);
        let Some(id) = id else {
            stop.send_replace(true);
            return Err(unbegun(&watched.borrow()));
        };
        let run = Arc::new(Run {
            id: id.clone(),
            plan,
            progress: watched,
            stop,
        });
        lock(&self.running).insert(id, run.clone());
        Ok(run)
    }

    /// The run of this id, while it is going on or kept.
    pub fn find(&self, id: &str) -> Option<Arc<Run>> {
        self.tidy();
        let running = lock(&self.running).get(id).cloned();
        running.or_else(|| lock(&self.over).iter().find(|run| run.id == id).cloned())
    }

    /// Those that are going on.
    pub fn running(&self) -> Vec<Arc<Run>> {
        self.tidy();
        lock(&self.running).values().cloned().collect()
    }

    /// Ends all, and waits until they are gone.
    pub async fn stop_all(&self) {
        let runs = self.running();
        runs.iter().for_each(|run| run.stop());
        for run in runs {
            run.end_within(Duration::from_secs(20)).await;
        }
    }

    fn tidy(&self) {
        let mut running = lock(&self.running);
        let mut over = lock(&self.over);
        let ended: Vec<String> = running
            .iter()
            .filter(|(_, run)| run.is_over())
            .map(|(id, _)| id.clone())
            .collect();
        for id in ended {
            over.extend(running.remove(&id));
        }
        while over.len() > MOST_KEPT {
            over.pop_front();
        }
    }

    fn take_place(self: &Arc<Self>) -> Result<RunPlace, ToolFault> {
        let mut taken = lock(&self.places);
        if *taken >= MOST_RUNS {
            let what =
                format!("{MOST_RUNS} runs are going on, and no more are started beside them");
            let next =
                "wait for one with run_status, or end one with cancel_run; list_runs names them";
            return Err(ToolFault::new("busy", what, next));
        }
        *taken += 1;
        Ok(RunPlace(self.clone()))
    }
}

/// The place of one run among those that may go on together.
struct RunPlace(Arc<Runs>);

impl Drop for RunPlace {
    fn drop(&mut self) {
        *lock(&self.0.places) -= 1;
    }
}

fn unbegun(progress: &RunProgress) -> ToolFault {
    let said = progress
        .end
        .as_ref()
        .map(|end| end.stderr.trim().to_owned());
    let said = said.filter(|said| !said.is_empty());
    let what = said.unwrap_or_else(|| "jelly run ended before it began".to_owned());
    let next = "call check_plan with the same path, or see whether reports can be written";
    ToolFault::new("not_run", what, next)
}

/// What a panic left is still true: each change is one.
fn lock<T>(mutex: &Mutex<T>) -> std::sync::MutexGuard<'_, T> {
    mutex.lock().unwrap_or_else(PoisonError::into_inner)
}
