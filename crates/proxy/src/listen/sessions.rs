//! Which servers run for whom, and until when.
//!
//! Main type: [`Sessions`]. A client of the legacy era has a session, which has
//! a server of its own. Those of the modern era share one, which is started when
//! the first of them asks.

use super::answers::Departure;
use crate::client::{Client, MessagesClient};
use crate::driver::{GRACE, Proxy, SharedEngine};
use crate::pass_on::PassOn;
use crate::routing::{Outflow, Router, is_modern};
use crate::settings::ProxySettings;
use crate::spans::SpanTap;
use ring::rand::{SecureRandom, SystemRandom};
use std::cell::{Cell, RefCell};
use std::collections::HashMap;
use std::io;
use std::rc::Rc;
use std::time::Duration;
use tokio::sync::mpsc::{Sender, channel};
use tokio::sync::oneshot;
use tokio::task::JoinSet;
use tokio::time::{Instant, timeout};

/// Messages of a client that wait; whoever has another one waits.
const INBOX: usize = 64;

/// How clients over HTTP are served.
#[derive(Debug, Clone, Copy)]
pub struct ListenSettings {
    /// So many sessions of the legacy era, each with a server of its own.
    pub max_sessions: usize,
    /// A session that nobody has used for so long is ended.
    pub idle: Duration,
}

/// One client of the legacy era, or all of the modern one.
pub struct ClientSession {
    pub router: Rc<Router>,
    inbox: Sender<Vec<u8>>,
    used: Cell<Instant>,
    /// The version that its server answered `initialize` with.
    version: RefCell<Option<String>>,
    stop: RefCell<Option<oneshot::Sender<()>>>,
}

impl ClientSession {
    /// Says something to the server; false where it is no more.
    pub async fn say(&self, line: Vec<u8>) -> bool {
        self.touch();
        self.inbox.send(line).await.is_ok()
    }

    /// The version that the session was opened in.
    pub fn agree(&self, version: String) {
        self.version.replace(Some(version));
    }

    /// Whether a request may come in this version: one that is known, or the
    /// server's own; one that says none is of a client that knows no header.
    pub fn speaks(&self, version: Option<&str>) -> bool {
        let is_own = |version: &str| self.version.borrow().as_deref() == Some(version);
        version.is_none_or(|version| is_own(version) || !is_modern(version))
    }

    /// What is done when a stream is over, or was never begun.
    pub fn departure(self: &Rc<Self>, outflow: &Rc<Outflow>) -> Departure {
        let (session, outflow) = (Rc::clone(self), Rc::clone(outflow));
        Departure::new(move || {
            session.router.left(&outflow);
            session.touch();
        })
    }

    pub fn touch(&self) {
        self.used.set(Instant::now());
    }

    /// Ends its server and its streams.
    fn end(&self) {
        self.router.end_all();
        if let Some(stop) = self.stop.borrow_mut().take() {
            // It may have ended already.
            let _ = stop.send(());
        }
    }
}

/// See the module.
pub struct Sessions {
    settings: Rc<ProxySettings>,
    engine: SharedEngine,
    /// The log, and what notes spans.
    told: (PassOn, Option<SpanTap>),
    limits: ListenSettings,
    /// By their ids.
    open: RefCell<HashMap<String, Rc<ClientSession>>>,
    /// Started for clients that were told that it does not work: the next one
    /// that comes takes it over, with all that it has tried.
    spare: RefCell<Vec<Rc<ClientSession>>>,
    shared: RefCell<Option<Rc<ClientSession>>>,
    /// Servers of sessions that are running.
    count: Rc<Cell<usize>>,
    tasks: RefCell<JoinSet<()>>,
    random: SystemRandom,
}

impl Sessions {
    pub fn new(
        settings: Rc<ProxySettings>,
        engine: SharedEngine,
        limits: ListenSettings,
        told: (PassOn, Option<SpanTap>),
    ) -> Rc<Self> {
        Rc::new(Self {
            settings,
            engine,
            told,
            limits,
            open: RefCell::default(),
            spare: RefCell::default(),
            shared: RefCell::default(),
            count: Rc::default(),
            tasks: RefCell::default(),
            random: SystemRandom::new(),
        })
    }

    /// A session for a client that comes; none where there are too many.
    ///
    /// # Errors
    /// It can't be started.
    pub fn begin(&self) -> io::Result<Option<Rc<ClientSession>>> {
        if let Some(spare) = self.spare.borrow_mut().pop() {
            return Ok(Some(spare));
        }
        if self.count.get() >= self.limits.max_sessions {
            return Ok(None);
        }
        self.start(false).map(Some)
    }

    /// Keeps a session that was opened, and gives its id.
    ///
    /// # Errors
    /// The system has no random bytes.
    pub fn keep(&self, session: Rc<ClientSession>) -> io::Result<String> {
        let mut bytes = [0; 16];
        let filled = self.random.fill(&mut bytes);
        filled.map_err(|_| io::Error::other("the system has no random bytes"))?;
        let id: String = bytes.iter().map(|byte| format!("{byte:02x}")).collect();
        self.open.borrow_mut().insert(id.clone(), session);
        Ok(id)
    }

    /// Keeps one that was not, for the next client.
    pub fn keep_spare(&self, session: Rc<ClientSession>) {
        session.touch();
        self.spare.borrow_mut().push(session);
    }

    pub fn find(&self, id: &str) -> Option<Rc<ClientSession>> {
        self.open.borrow().get(id).cloned()
    }

    /// Ends a session at its client's word; whether there was one.
    pub fn end(&self, id: &str) -> bool {
        let session = self.open.borrow_mut().remove(id);
        session.inspect(|session| session.end()).is_some()
    }

    /// What clients of the modern era share.
    ///
    /// # Errors
    /// It can't be started.
    pub fn shared(&self) -> io::Result<Rc<ClientSession>> {
        let mut shared = self.shared.borrow_mut();
        if let Some(session) = &*shared
            && !session.inbox.is_closed()
        {
            return Ok(Rc::clone(session));
        }
        let session = self.start(true)?;
        *shared = Some(Rc::clone(&session));
        Ok(session)
    }

    fn start(&self, is_shared: bool) -> io::Result<Rc<ClientSession>> {
        let (inbox, messages) = channel(INBOX);
        let router = Router::new(is_shared, inbox.clone());
        let client = Client::Messages(MessagesClient {
            inbox: messages,
            router: Rc::clone(&router),
        });
        let (stop, stopped) = oneshot::channel::<()>();
        let proxy = Proxy::new(
            Rc::clone(&self.settings),
            Rc::clone(&self.engine),
            client,
            self.told.clone(),
        )?;
        let count = (!is_shared).then(|| Rc::clone(&self.count));
        if let Some(count) = &count {
            count.set(count.get() + 1);
        }
        self.tasks.borrow_mut().spawn_local(async move {
            let stopped = async {
                // Where nobody can say so any more, it is over, too.
                let _ = stopped.await;
            };
            // Its client is no stream that could fail.
            let _ = proxy.run(stopped).await;
            if let Some(count) = count {
                count.set(count.get().saturating_sub(1));
            }
        });
        Ok(Rc::new(ClientSession {
            router,
            inbox,
            used: Cell::new(Instant::now()),
            version: RefCell::default(),
            stop: RefCell::new(Some(stop)),
        }))
    }

    /// Ends what nobody has used for long, and connections that take nothing.
    pub fn sweep(&self) {
        let now = Instant::now();
        let is_idle = |session: &Rc<ClientSession>| {
            session.router.cut_stalled(now);
            if session.router.is_in_use() {
                session.touch();
            }
            let idle = now.saturating_duration_since(session.used.get()) >= self.limits.idle;
            if idle {
                session.end();
            }
            idle
        };
        self.open
            .borrow_mut()
            .retain(|_, session| !is_idle(session));
        self.spare.borrow_mut().retain(|session| !is_idle(session));
        let mut shared = self.shared.borrow_mut();
        if shared.as_ref().is_some_and(is_idle) {
            *shared = None;
        }
        drop(shared);
        while self.tasks.borrow_mut().try_join_next().is_some() {}
    }

    /// Ends all of them, and waits until no server is left.
    pub async fn end_all(&self) {
        let open = self.open.take();
        let shared = self.shared.take();
        for session in open.values().chain(&self.spare.take()).chain(&shared) {
            session.end();
        }
        let mut tasks = self.tasks.take();
        // Each is granted that twice.
        let all = async { while tasks.join_next().await.is_some() {} };
        let _ = timeout(GRACE * 4, all).await;
    }
}
