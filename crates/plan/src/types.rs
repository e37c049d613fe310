//! The validated plan: what the rest of the house reads.

use super::argument_files::ArgumentFiles;
use super::auth::Auth;
use super::features::{
    Answer, CallAtOnce, Cancel, Completion, HttpCall, HttpExpect, LogLevel, NotificationExpect,
    Raw, Service, StartupExpect, Subscription,
};
use super::grammar::Operator;
use super::matrix::Matrix;
use super::package::PackageUse;
use super::source::{Location, PlanSource};
use super::template::Template;
use indexmap::IndexMap;
use jelly_base::mcp::{Era, ListKind};
use jelly_base::model::Section;
use jelly_base::text::Volatile;
use serde_json::Value;
use std::collections::HashMap;
use std::fmt;
use std::time::Duration;

/// One step down into a plan document.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Segment {
    Key(String),
    Index(usize),
}

/// Where a value stands in the plan document, as in `steps[2].args.path`.
#[derive(Debug, Clone, Default, PartialEq, Eq, Hash)]
pub struct DocPath(pub Vec<Segment>);

impl DocPath {
    #[must_use]
    pub fn key(&self, key: impl Into<String>) -> Self {
        let mut path = self.clone();
        path.0.push(Segment::Key(key.into()));
        path
    }

    #[must_use]
    pub fn index(&self, index: usize) -> Self {
        let mut path = self.clone();
        path.0.push(Segment::Index(index));
        path
    }
}

impl DocPath {
    /// What stands at `below`, seen from here.
    #[must_use]
    pub fn join(&self, below: &Self) -> Self {
        Self(self.0.iter().chain(&below.0).cloned().collect())
    }

    /// Whether it is `other`, or stands below it.
    #[must_use]
    pub fn is_within(&self, other: &Self) -> bool {
        self.0.starts_with(&other.0)
    }
}

impl fmt::Display for DocPath {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (i, segment) in self.0.iter().enumerate() {
            match segment {
                Segment::Key(key) if i == 0 => write!(f, "{key}")?,
                Segment::Key(key) => write!(f, ".{key}")?,
                Segment::Index(index) => write!(f, "[{index}]")?,
            }
        }
        Ok(())
    }
}

/// A plan that was read and holds together: every name in it is known, every
/// operator fits, every time limit is a duration.
#[derive(Debug, Clone)]
pub struct Plan {
    pub source: PlanSource,
    /// The files that it includes, as [`Location::file`] counts them from 1.
    pub included: Vec<PlanSource>,
    /// What its steps send of files.
    pub files: ArgumentFiles,
    /// Names and values of what looks secret and is spelled out, in the plan and
    /// in what was given to it: a server may say it again where nobody would look
    /// for it.
    pub literal_secrets: Vec<(String, String)>,
    /// `name`, or the file's stem.
    pub name: String,
    /// In order; a value may use the variables before it.
    pub vars: IndexMap<String, Value>,
    pub budgets: BudgetOverrides,
    pub hooks: Hooks,
    /// `wire: strict`: of servers that do not say themselves.
    pub wire_check: bool,
    /// `contract: promised`: a breaking change of what a server lists, beside a
    /// lock, is the server's own failure.
    pub contract_promised: bool,
    /// The combinations that it is run in; `source` says which one this is.
    pub matrix: Option<Matrix>,
    pub servers: IndexMap<String, Server>,
    /// Processes beside the servers.
    pub services: IndexMap<String, Service>,
    pub setup: Vec<Step>,
    pub steps: Vec<Step>,
    pub teardown: Vec<Step>,
}

/// The budgets a plan sets; the rest comes from settings and defaults.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct BudgetOverrides {
    pub max_iterations: Option<u32>,
    pub retries: Option<u32>,
    pub confirms: Option<u32>,
    pub mcp_repairs: Option<u32>,
    pub test_fixes: Option<u32>,
    pub code_refines: Option<u32>,
    pub deadline: Option<Duration>,
}

/// Hook commands as argv; never a shell.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Hooks {
    pub refine_code: Option<Vec<String>>,
    pub fix_tests: Option<Vec<String>>,
}

impl Hooks {
    /// The name of one that is set.
    #[must_use]
    pub fn first_named(&self) -> Option<&'static str> {
        let fix_tests = self.fix_tests.as_ref().map(|_| "fix_tests");
        fix_tests.or(self.refine_code.as_ref().map(|_| "refine_code"))
    }
}

/// One entry of `servers`.
#[derive(Debug, Clone)]
pub struct Server {
    pub name: String,
    pub transport: Transport,
    /// `wire`: whether its messages are held against the specification; as
    /// the plan says where it does not.
    pub wire_check: Option<bool>,
    /// `adapt`: whether structured outputs are read out of text where it sends
    /// none. Default true.
    pub adapt: bool,
    /// A pinned era; without one, it is found out.
    pub era: Option<Era>,
    /// A pinned revision, the server's own or that of this combination of the
    /// matrix: one of [`jelly_base::mcp::REVISIONS`].
    pub protocol: Option<String>,
    /// Where the server's own pin stands.
    pub pinned_at: Option<Location>,
    /// What the client declares; without it, what follows from the answers of
    /// the server and of its steps.
    pub capabilities: Option<Value>,
    /// For all of its steps, and as often as asked.
    pub answers: Vec<Answer>,
    /// What must be there for all of its steps.
    pub requires: Vec<Requirement>,
    /// From spawn to ready. Default 30 s.
    pub startup_timeout: Duration,
    /// How long a version is waited for that a registry does not have yet.
    pub wait_for_package: Option<Duration>,
    /// For one request. Default 30 s.
    pub request_timeout: Duration,
    /// Progress that it reports begins the timeout of a request anew.
    pub progress_extends: bool,
    /// The most that this may come to. Default 10 min.
    pub total_timeout: Duration,
    /// How long the server may take to exit once its stdin is closed, before
    /// SIGTERM, and again before SIGKILL. Default 2 s.
    pub shutdown_timeout: Duration,
    pub at: Location,
    /// `servers.NAME`.
    pub path: DocPath,
}

/// How a server is reached.
#[derive(Debug, Clone)]
pub enum Transport {
    /// By the pipes of a process.
    Stdio(Command),
    Http {
        url: Template,
        headers: IndexMap<String, Template>,
        /// How to get the tokens that the server wants.
        auth: Option<Box<Auth>>,
        /// What to start first; without it, the server is there already.
        command: Option<Command>,
    },
}

/// What to start.
#[derive(Debug, Clone)]
pub struct Command {
    /// Absent where the package says it.
    pub command: Option<Template>,
    /// With a package alone, the words behind its own arguments.
    pub args: Vec<Template>,
    pub env: IndexMap<String, Template>,
    pub cwd: Option<Template>,
    /// What is started; beside a `command`, only what that takes.
    pub package: Option<Box<PackageUse>>,
}

impl Server {
    /// One of which nothing is said but how it is reached.
    pub(crate) fn new(name: &str, transport: Transport, at: Location, path: DocPath) -> Self {
        Self {
            name: name.to_owned(),
            transport,
            wire_check: None,
            adapt: true,
            era: None,
            protocol: None,
            pinned_at: None,
            capabilities: None,
            answers: Vec::new(),
            requires: Vec::new(),
            startup_timeout: Duration::ZERO,
            wait_for_package: None,
            request_timeout: Duration::ZERO,
            progress_extends: false,
            total_timeout: Duration::ZERO,
            shutdown_timeout: Duration::ZERO,
            at,
            path,
        }
    }

    /// Whether jelly gets tokens for it.
    #[must_use]
    pub fn wants_tokens(&self) -> bool {
        match &self.transport {
            Transport::Stdio(_) => false,
            Transport::Http { auth, .. } => auth.is_some(),
        }
    }

    /// What is started for the server, if anything is.
    #[must_use]
    pub fn command(&self) -> Option<&Command> {
        match &self.transport {
            Transport::Stdio(command) => Some(command),
            Transport::Http { command, .. } => command.as_ref(),
        }
    }
}

/// What a step sends.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
pub enum Request {
    /// `tools/call`; the step's `args` are its arguments.
    Tool(String),
    /// `list: tools|resources|resource_templates|prompts`.
    List(ListKind),
    /// `resources/read` of this URI (may hold variables).
    Read(String),
    /// `prompts/get`; the step's `args` are its arguments.
    Prompt(String),
    /// Any method; the step's `args` are its params, whatever JSON they are.
    Method(String),
    /// `completion/complete`; the step's `args` are the arguments that are
    /// known already.
    Complete(Completion),
    /// Hears of changes until a step of [`Request::Unsubscribe`], or the end.
    Subscribe(Subscription),
    /// Ends what the step with this id subscribed to.
    Unsubscribe(String),
    /// Bytes: a line over pipes, a body over HTTP.
    Raw(Raw),
    /// No message: what stands beside the endpoint. The step's `args` are the body.
    Http(HttpCall),
    /// Nothing: its server is started, which is looked at.
    Startup,
}

impl Request {
    /// The key that says it; of raw bytes, `raw`.
    #[must_use]
    pub fn kind(&self) -> &'static str {
        match self {
            Self::Tool(_) => "tool",
            Self::List(_) => "list",
            Self::Read(_) => "read",
            Self::Prompt(_) => "prompt",
            Self::Method(_) => "request",
            Self::Complete(_) => "complete",
            Self::Subscribe(_) => "subscribe",
            Self::Unsubscribe(_) => "unsubscribe",
            Self::Raw(_) => "raw",
            Self::Http(_) => "http",
            Self::Startup => "startup",
        }
    }
}

/// One request to one server, with expectations.
#[derive(Debug, Clone)]
pub struct Step {
    /// Unique in the plan.
    pub id: String,
    /// For people; the id where the plan gives none.
    pub name: String,
    pub section: Section,
    pub server: String,
    pub request: Request,
    /// Raw: templates are resolved when the step is due. `Null` if absent.
    pub args: Value,
    /// What is called at the same time.
    pub at_once: Vec<CallAtOnce>,
    pub expect: Expect,
    pub capture: IndexMap<String, Capture>,
    pub tags: Vec<String>,
    /// Overrides the server's `request_timeout`.
    pub timeout: Option<Duration>,
    /// Overrides the server's.
    pub progress_extends: Option<bool>,
    /// Likewise.
    pub total_timeout: Option<Duration>,
    pub at: Location,
    /// As in `steps[2]`.
    pub path: DocPath,
    /// Ids of the steps whose captures this one uses, whose subscription it
    /// ends, or which its `needs` names, in plan order.
    pub needs: Vec<String>,
    /// Of this step, before those of its server; in order, each once.
    pub answers: Vec<Answer>,
    /// What the server is to log from this request on.
    pub log_level: Option<LogLevel>,
    pub cancel: Option<Cancel>,
    /// Nothing is added to the params, not even what the protocol requires.
    pub bare: bool,
    /// What must be there for it, with what its server requires.
    pub requires: Vec<Requirement>,
    /// When it runs; always, without one.
    pub condition: Option<Condition>,
    /// The answer that is waited for.
    pub until: Option<Box<Until>>,
    /// Which of the step's `cases` it is.
    pub case: Option<StepCase>,
}

/// What must be there for a step.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Requirement {
    /// An environment variable that is set and not empty; its value is hidden.
    Secret(String),
    /// An environment variable that is set.
    Env(String),
    /// A program on the PATH.
    Command(String),
}

impl fmt::Display for Requirement {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Secret(name) => write!(f, "secret:{name}"),
            Self::Env(name) => write!(f, "env:{name}"),
            Self::Command(name) => write!(f, "command:{name}"),
        }
    }
}

/// When a step runs; all of it must hold.
#[derive(Debug, Clone, Default, PartialEq)]
pub struct Condition {
    /// One of these; any, where there is none.
    pub platforms: Vec<String>,
    /// What its server is pinned to.
    pub era: Option<Era>,
    pub vars: Vec<VarCondition>,
}

/// A variable and the value that it must have; both may hold variables.
#[derive(Debug, Clone, PartialEq)]
pub struct VarCondition {
    pub name: String,
    /// What the name stands for.
    pub value: Value,
    pub wanted: Value,
}

/// The answer that a step waits for.
#[derive(Debug, Clone)]
pub struct Until {
    pub expect: Expect,
    /// How long to wait before it is asked again.
    pub every: Duration,
    /// How long it is asked again.
    pub lasts: Duration,
}

/// One of the cases that a step was written out for.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct StepCase {
    /// The id of the step as it is written.
    pub step: String,
    /// Its name or its index.
    pub label: String,
    /// Where the document has a variable of the case in the place of what the
    /// step says.
    pub filled: Vec<DocPath>,
}

impl Step {
    /// The plan says that an error is what is wanted, so the step is sent as
    /// it is written: no preflight, rename, coercion or quarantine touches it.
    #[must_use]
    pub fn expects_error(&self) -> bool {
        self.expects().any(Expect::wants_error)
    }

    /// How long its request may take: without an answer, and without progress where
    /// that counts.
    #[must_use]
    pub fn limit(&self, server: &Server) -> Duration {
        self.timeout.unwrap_or(server.request_timeout)
    }

    /// The longest that its request may take in all, where progress extends its
    /// timeout.
    #[must_use]
    pub fn total_limit(&self, server: &Server) -> Option<Duration> {
        let extends = self.progress_extends.unwrap_or(server.progress_extends);
        let total = self.total_timeout.unwrap_or(server.total_timeout);
        // A server's may be shorter than what a step says itself.
        extends.then(|| total.max(self.limit(server)))
    }

    /// What is expected is that its server does not start.
    #[must_use]
    pub fn expects_refusal(&self) -> bool {
        let startup = self.expect.startup.as_ref();
        startup.is_some_and(|startup| startup.refuses.is_some())
    }

    /// All that its answers are held against: what is waited for, and what the
    /// last one must be.
    pub fn expects(&self) -> impl Iterator<Item = &Expect> {
        let until = self.until.iter().map(|until| &until.expect);
        until.chain([&self.expect])
    }

    /// Every predicate on its answers.
    pub fn predicates(&self) -> impl Iterator<Item = &Predicate> {
        self.expects().flat_map(Expect::predicates)
    }

    /// Whether somebody who says `name` means this step: by its id, or by that
    /// of the step whose case it is.
    #[must_use]
    pub fn is_called(&self, name: &str) -> bool {
        self.id == name || self.case.as_ref().is_some_and(|case| case.step == name)
    }
}

/// A value to keep from an answer.
#[derive(Debug, Clone)]
pub struct Capture {
    /// RFC 9535, over the whole result.
    pub path: serde_json_path::JsonPath,
    pub raw: String,
    pub at: Location,
}

/// What an answer must be.
#[derive(Debug, Clone, Default)]
pub struct Expect {
    pub is_error: Option<Flag>,
    /// Over all text blocks joined by newlines.
    pub text: Vec<Predicate>,
    pub json: Vec<JsonExpect>,
    /// Over the structured output (by the schema ladder).
    pub structured: Vec<Predicate>,
    pub error: Option<ErrorExpect>,
    /// Over the duration in milliseconds.
    pub duration: Vec<Predicate>,
    /// Over what the server wrote on stderr during the step.
    pub stderr: Vec<Predicate>,
    pub notifications: Vec<NotificationExpect>,
    /// Of the answer to a plain HTTP request.
    pub http: Option<Box<HttpExpect>>,
    /// Of the start of its server, in place of an answer.
    pub startup: Option<Box<StartupExpect>>,
}

impl Expect {
    /// An error is what is wanted.
    #[must_use]
    pub fn wants_error(&self) -> bool {
        self.error.is_some() || self.is_error.as_ref().is_some_and(|flag| flag.value)
    }
}

/// A boolean with its place.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Flag {
    pub value: bool,
    pub at: Location,
}

/// Predicates over what an RFC 9535 path selects from the whole result.
#[derive(Debug, Clone)]
pub struct JsonExpect {
    pub path: serde_json_path::JsonPath,
    pub raw_path: String,
    pub predicates: Vec<Predicate>,
    pub at: Location,
}

/// A JSON-RPC error, or a tool's `isError` text, that is wanted.
#[derive(Debug, Clone, Default)]
pub struct ErrorExpect {
    pub code: Vec<Predicate>,
    pub message: Vec<Predicate>,
    pub at: Location,
}

/// One operator with its operand.
#[derive(Debug, Clone)]
pub struct Predicate {
    pub operator: Operator,
    /// Raw: a string in it may be a template, resolved when judged.
    pub operand: Value,
    /// What of the value counts for nothing; of a snapshot alone.
    pub redact: Vec<Redaction>,
    pub at: Location,
}

/// What differs from run to run in a value that is held against a snapshot,
/// and is replaced before.
#[derive(Debug, Clone)]
pub enum Redaction {
    /// Whatever the path selects, from the value's own root.
    At {
        path: serde_json_path::JsonPath,
        raw: String,
        with: String,
    },
    /// Whatever a pattern matches in the text that is compared.
    Matching {
        regex: regex::Regex,
        raw: String,
        with: String,
    },
    /// All of a kind, wherever it stands.
    Kind(Volatile),
}

impl Plan {
    /// All steps in the order setup, steps, teardown.
    pub fn all_steps(&self) -> impl Iterator<Item = &Step> {
        self.setup
            .iter()
            .chain(self.steps.iter())
            .chain(self.teardown.iter())
    }

    /// As in `plan.yaml:3:5`.
    #[must_use]
    pub fn at(&self, location: Location) -> String {
        self.file(location).at(location)
    }

    /// The file that a place is in.
    #[must_use]
    pub fn file(&self, location: Location) -> &PlanSource {
        file_of(&self.source, &self.included, location)
    }

    #[must_use]
    pub fn step(&self, id: &str) -> Option<&Step> {
        self.all_steps().find(|step| step.id == id)
    }

    /// All steps, for who looks up many.
    #[must_use]
    pub fn steps_by_id(&self) -> HashMap<&str, &Step> {
        self.all_steps()
            .map(|step| (step.id.as_str(), step))
            .collect()
    }
}

/// The file that a place is in, of a plan and the files that it includes.
pub(crate) fn file_of<'s>(
    source: &'s PlanSource,
    included: &'s [PlanSource],
    location: Location,
) -> &'s PlanSource {
    let number = usize::from(location.file);
    let included = number.checked_sub(1).and_then(|index| included.get(index));
    included.unwrap_or(source)
}
