//! What is proved of the code of a plan's servers: found out while they start, where
//! a history is kept that is to know it.

use super::open_history::OpenHistory;
use super::settings::World;
use crate::cli::args::RunArgs;
use jelly_harness::code_identity::{Checkouts, ServerCode};
use jelly_harness::exec::{ExecSettings, command_of};
use jelly_plan::{Plan, Scope};
use jelly_triage::history::HistoryFile;
use std::path::PathBuf;
use std::rc::Rc;
use std::time::Duration;
use tokio::task::JoinHandle;
use tokio::time::timeout;

/// What takes longer to find out is not known.
const LIMIT: Duration = Duration::from_secs(5);

/// The folder in which jelly keeps what it may, where there is one.
const FOLDER: &str = ".jelly";

/// The work trees of a call, of which nothing is looked at without a history.
pub fn checkouts(
    args: &RunArgs,
    history: Option<&OpenHistory>,
    world: &World,
) -> Option<Rc<Checkouts>> {
    let history = history?;
    let mut own = vec![args.reports.reports_dir.clone(), PathBuf::from(FOLDER)];
    if let Some(file) = history.file() {
        let mut lock = file.as_os_str().to_owned();
        lock.push(".lock");
        own.extend([file.to_owned(), HistoryFile::new(file).older(), lock.into()]);
    }
    own.extend(
        args.named_reports
            .named
            .iter()
            .map(|named| named.file.clone()),
    );
    own.extend(args.ladder.schema_store.clone());
    // What was typed is relative to where it was typed.
    let own = own.into_iter().map(|path| world.cwd.join(path));
    Some(Rc::new(Checkouts::new(own)))
}

/// Finds out of one plan's servers.
pub struct ServerCodeReader {
    checkouts: Rc<Checkouts>,
    reading: Option<JoinHandle<ServerCode>>,
    found: ServerCode,
}

impl ServerCodeReader {
    pub fn new(checkouts: Rc<Checkouts>) -> Self {
        Self {
            checkouts,
            reading: None,
            found: ServerCode::new(),
        }
    }

    /// Begins to look, before the servers start. After a hook, what was seen before
    /// it counts no more.
    pub fn begin(&mut self, plan: &Rc<Plan>, settings: &Rc<ExecSettings>, after_hook: bool) {
        self.found.clear();
        if after_hook {
            self.checkouts.forget();
        }
        let (checkouts, plan, settings) = (self.checkouts.clone(), plan.clone(), settings.clone());
        self.reading = Some(tokio::task::spawn_local(async move {
            let found = look(&checkouts, &plan, &settings);
            timeout(LIMIT, found).await.unwrap_or_default()
        }));
    }

    /// Comes to an end with it; nobody waits for more where the run was
    /// `interrupted`.
    pub async fn end(&mut self, interrupted: bool) {
        let Some(reading) = self.reading.take() else {
            return;
        };
        if interrupted {
            reading.abort();
        }
        self.found = reading.await.unwrap_or_default();
    }

    /// What is proved.
    pub fn found(&self) -> ServerCode {
        self.found.clone()
    }
}

async fn look(checkouts: &Checkouts, plan: &Plan, settings: &ExecSettings) -> ServerCode {
    let mut vars = plan.vars.clone();
    vars.extend(settings.vars.clone());
    // Neither which folder `${tmp}` is nor which ports are free says what is run.
    let ports = plan.servers.keys().map(|name| (name.clone(), 0)).collect();
    let tmp = std::env::temp_dir();
    let project = settings.project_dir.clone();
    let mut scope = Scope::new(project, tmp, settings.env.clone(), ports, &vars);
    scope.files = plan.files.clone();
    let mut found = ServerCode::new();
    for (name, server) in &plan.servers {
        let Some(command) = command_of(server, &scope, settings) else {
            continue;
        };
        if let Some(code) = checkouts.identify(&command).await {
            // No secret is shown as a version.
            let text = code.to_string();
            if settings.redactor.redact(&text) == text {
                found.insert(name.clone(), code);
            }
        }
    }
    found
}
