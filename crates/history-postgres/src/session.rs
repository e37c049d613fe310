//! The connection: a thread of its own that asks the database, so that whoever
//! waits for an answer may be in the middle of anything, and waits for so long
//! and no longer.

use crate::address::DatabaseAddress;
use crate::error::{DatabaseError, unconnected};
use crate::migrations::check_version;
use crate::plain::{connect_without_tls, refuses_tls};
use crate::tls::Rustls;
use std::cell::Cell;
use std::future::Future;
use std::pin::Pin;
use std::rc::Rc;
use std::sync::mpsc::{Receiver, RecvTimeoutError, SyncSender, sync_channel};
use std::thread;
use std::time::{Duration, Instant};
use tokio::sync::mpsc::{UnboundedSender, unbounded_channel};
use tokio::time::timeout;
use tokio_postgres::Client;
use tokio_postgres::config::SslMode;

/// What is asked of the database, when it is connected.
pub(crate) type Asked<'a, T> = Pin<Box<dyn Future<Output = Result<T, DatabaseError>> + 'a>>;

type Job =
    Box<dyn for<'a> FnOnce(&'a mut Session) -> Pin<Box<dyn Future<Output = ()> + 'a>> + Send>;

/// Whether the tables have to be there.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Purpose {
    Use,
    Migrate,
}

/// Asks one database, one thing after the other.
#[derive(Debug)]
pub(crate) struct Worker {
    jobs: UnboundedSender<Job>,
    limit: Duration,
    /// Of whoever has other things to do than to wait.
    patience: Option<Rc<Patience>>,
}

/// How a run waits for its history.
#[derive(Debug)]
pub(crate) struct Patience {
    /// Whether nothing is waited for any more.
    pub(crate) is_over: fn() -> bool,
    /// How much longer the answers may take in all than prompt ones would.
    pub(crate) left: Cell<Duration>,
}

/// An answer that takes no longer costs no patience.
const PROMPT: Duration = Duration::from_millis(100);

/// So often is looked whether anybody still waits.
const LOOK: Duration = Duration::from_millis(50);

struct Session {
    address: DatabaseAddress,
    purpose: Purpose,
    client: Option<Client>,
    /// Why there is no use in trying again.
    down: Option<DatabaseError>,
}

impl Worker {
    /// Starts it; it connects when it is first asked.
    pub(crate) fn start(address: DatabaseAddress, purpose: Purpose) -> Self {
        let (jobs, mut waiting) = unbounded_channel::<Job>();
        let limit = address.time_limit;
        let mut session = Session {
            address,
            purpose,
            client: None,
            down: None,
        };
        // Where no thread or runtime is to be had, the channel closes, and each
        // question is answered with that.
        let work = move || {
            let runtime = tokio::runtime::Builder::new_current_thread()
                .enable_all()
                .build();
            if let Ok(runtime) = runtime {
                runtime.block_on(async {
                    while let Some(job) = waiting.recv().await {
                        job(&mut session).await;
                    }
                });
            }
        };
        drop(
            thread::Builder::new()
                .name("history".to_owned())
                .spawn(work),
        );
        Self {
            jobs,
            limit,
            patience: None,
        }
    }

    /// Waits while `is_over` does not say otherwise, and for all answers together
    /// not much longer than for one.
    pub(crate) fn waiting_while_not(mut self, is_over: fn() -> bool) -> Self {
        self.patience = Some(Rc::new(Patience {
            is_over,
            left: Cell::new(self.limit),
        }));
        self
    }

    /// Connects, and does not wait for it.
    pub(crate) fn connect(&self) {
        let limit = self.limit;
        // What comes of it is asked for later.
        let _closed = self.jobs.send(Box::new(move |session| {
            Box::pin(async move {
                let connected = session.run(limit, |_| Box::pin(async { Ok(()) })).await;
                drop(connected);
            })
        }));
    }

    /// Waits for an answer.
    pub(crate) fn ask<T, F>(&self, question: F) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut Client) -> Asked<'a, T> + Send + 'static,
    {
        self.ask_for(self.limit, question)
    }

    /// The same with a time limit of its own.
    pub(crate) fn ask_for<T, F>(&self, limit: Duration, question: F) -> Result<T, DatabaseError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut Client) -> Asked<'a, T> + Send + 'static,
    {
        self.begin(limit, question)?.wait()
    }

    /// Has it asked, and goes on: the answer is waited for later.
    pub(crate) fn begin<T, F>(
        &self,
        limit: Duration,
        question: F,
    ) -> Result<PendingAnswer<T>, DatabaseError>
    where
        T: Send + 'static,
        F: for<'a> FnOnce(&'a mut Client) -> Asked<'a, T> + Send + 'static,
    {
        let (reply, answer): (SyncSender<Result<T, DatabaseError>>, _) = sync_channel(1);
        let job: Job = Box::new(move |session| {
            Box::pin(async move {
                let result = session.run(limit, question).await;
                // Nobody waits any more where the time is up.
                let _gone = reply.send(result);
            })
        });
        if let Some(patience) = &self.patience {
            if (patience.is_over)() {
                return Err(DatabaseError::Interrupted);
            }
            if patience.left.get().is_zero() {
                return Err(DatabaseError::Tiresome(self.limit));
            }
        }
        let stopped = || DatabaseError::Unreachable("no thread to ask it by".to_owned());
        self.jobs.send(job).map_err(|_| stopped())?;
        // The thread keeps the limit; it may first have to finish connecting.
        Ok(PendingAnswer {
            answer,
            limit: self.limit.saturating_add(limit) + Duration::from_secs(1),
            patience: self.patience.clone(),
        })
    }

    /// The limit of one question of a run.
    pub(crate) fn limit(&self) -> Duration {
        self.limit
    }
}

/// An answer that may still come.
pub(crate) struct PendingAnswer<T> {
    answer: Receiver<Result<T, DatabaseError>>,
    limit: Duration,
    patience: Option<Rc<Patience>>,
}

impl<T> PendingAnswer<T> {
    pub(crate) fn wait(self) -> Result<T, DatabaseError> {
        let begun = Instant::now();
        loop {
            let left = self.limit.saturating_sub(begun.elapsed());
            match self.answer.recv_timeout(left.min(LOOK)) {
                Ok(answer) => {
                    if let Some(patience) = &self.patience {
                        patience.took(begun.elapsed());
                    }
                    return answer;
                }
                Err(RecvTimeoutError::Timeout) if !left.is_zero() => {}
                Err(RecvTimeoutError::Timeout | RecvTimeoutError::Disconnected) => {
                    return Err(DatabaseError::TooSlow(self.limit));
                }
            }
            if self.patience.as_ref().is_some_and(|it| (it.is_over)()) {
                return Err(DatabaseError::Interrupted);
            }
        }
    }
}

impl Patience {
    /// An answer took so long.
    fn took(&self, time: Duration) {
        let left = self.left.get();
        self.left
            .set(left.saturating_sub(time.saturating_sub(PROMPT)));
    }
}

impl Session {
    async fn run<T, F>(&mut self, limit: Duration, question: F) -> Result<T, DatabaseError>
    where
        F: for<'a> FnOnce(&'a mut Client) -> Asked<'a, T>,
    {
        if let Some(down) = &self.down {
            return Err(down.clone());
        }
        let asked = async {
            let client = match &mut self.client {
                Some(client) => client,
                none => none.insert(connect(&self.address, self.purpose).await?),
            };
            question(client).await
        };
        let result = match timeout(limit, asked).await {
            Ok(result) => result,
            Err(_) => Err(DatabaseError::TooSlow(limit)),
        };
        let password = self.address.config.get_password();
        let result = result.map_err(|error| error.shown(password));
        if let Err(error) = &result
            && error.is_lasting()
        {
            self.down = Some(error.clone());
            self.client = None;
        }
        result
    }
}

async fn connect(address: &DatabaseAddress, purpose: Purpose) -> Result<Client, DatabaseError> {
    let tls = Rustls::new(&address.tls)?;
    let prefers = address.tls.verification.is_some() && !address.tls.required;
    let mut config = address.config.clone();
    if prefers {
        config.ssl_mode(SslMode::Require);
    }
    let client = match config.connect(tls).await {
        Ok((client, connection)) => {
            // It ends with the client; what goes wrong is told to whoever asks.
            tokio::spawn(async move { connection.await.ok() });
            client
        }
        Err(error) if prefers && refuses_tls(&error) => connect_without_tls(config).await?,
        Err(error) => return Err(unconnected(&error)),
    };
    let settings = "set search_path = pg_catalog; set timezone = 'UTC'";
    match purpose {
        Purpose::Use => {
            // A lock is not waited for by whoever may ask for longer, either.
            let limit = address.time_limit.as_millis();
            let settings =
                format!("{settings}; set statement_timeout = {limit}; set lock_timeout = {limit}");
            check_version(&client, &settings).await?;
        }
        Purpose::Migrate => client.batch_execute(settings).await?,
    }
    Ok(client)
}
