//! The tools and resources, as the SDK asks for them.
//!
//! Main type: [`ServeHandler`].

use super::arguments::fitting;
use super::document::Document;
use super::fault::ToolFault;
use super::pace::MOST_UNANSWERED;
use super::page::page;
use super::runs::Run;
use super::tools::{
    CancelRunInput, CheckPlanInput, ClassifyFailureInput, DoctorInput, ExplainInput, ListRunsInput,
    Paging, RunPlanInput, RunStatusInput, TOOLS, ToolRow, TriageReportInput,
};
use super::work::Workshop;
use rmcp::model::{
    CallToolRequestParams, CallToolResponse, CallToolResult, ContentBlock, Implementation,
    ListResourceTemplatesResult, ListResourcesResult, ListToolsResult, PaginatedRequestParams,
    ProgressNotificationParam, ReadResourceRequestParams, ReadResourceResponse, ReadResourceResult,
    Resource, ResourceContents, ResourceTemplate, ServerCapabilities, ServerConfig, Tool,
    ToolAnnotations,
};
use rmcp::service::RequestContext;
use rmcp::{ErrorData, RoleServer, ServerHandler};
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};
use sha2::{Digest, Sha256};
use std::collections::VecDeque;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Arc, Mutex, OnceLock, PoisonError};
use std::time::Duration;
use tokio::sync::watch;

/// More calls are not worked on at the same time; of one client more messages
/// are read, so that it can cancel them.
const MOST_CALLS: usize = MOST_UNANSWERED / 2;

/// A page of the list of resources.
const RESOURCES_A_PAGE: usize = 50;

/// Documents that are kept for their later pages, since to make them anew would
/// start servers again.
const MOST_KEPT: usize = 4;

/// What answers clients, all of them.
#[derive(Clone)]
pub struct ServeHandler {
    shared: Arc<SharedState>,
}

struct SharedState {
    shop: Workshop,
    calls: AtomicUsize,
    kept: Mutex<VecDeque<(String, Document)>>,
}

impl ServeHandler {
    pub fn new(shop: Workshop) -> Self {
        Self {
            shared: Arc::new(SharedState {
                shop,
                calls: AtomicUsize::new(0),
                kept: Mutex::default(),
            }),
        }
    }

    /// Ends all runs.
    pub async fn stop(&self) {
        self.shared.shop.runs.stop_all().await;
    }

    /// Does what a tool is for, and cuts what comes of it.
    async fn call(
        &self,
        row: &ToolRow,
        arguments: Map<String, Value>,
        context: &RequestContext<RoleServer>,
    ) -> Result<CallToolResult, ErrorData> {
        let shop = &self.shared.shop;
        // Of one document, with what it was asked for by, the pages are.
        let mut asked = arguments.clone();
        asked.shift_remove("max_bytes");
        asked.shift_remove("cursor");
        let asked = format!("{} {}", row.name, Value::Object(asked));
        let (made, paging) = match row.name {
            "run_plan" => {
                let input: RunPlanInput = read(row, arguments)?;
                (self.run_plan(&input, context).await, input.paging())
            }
            "run_status" => {
                let input: RunStatusInput = read(row, arguments)?;
                let made = self.run_status(&input.run_id, input.wait_s, context).await;
                (made, input.paging())
            }
            "cancel_run" => {
                let input: CancelRunInput = read(row, arguments)?;
                if let Some(run) = shop.runs.find(&input.run_id) {
                    run.stop();
                }
                let made = self.run_status(&input.run_id, 20.0, context).await;
                (made, input.paging())
            }
            "check_plan" => {
                let input: CheckPlanInput = read(row, arguments)?;
                (shop.check_plan(&input).await, input.paging())
            }
            "triage_report" => {
                let input: TriageReportInput = read(row, arguments)?;
                (shop.triage(&input).await, input.paging())
            }
            "classify_failure" => {
                let input: ClassifyFailureInput = read(row, arguments)?;
                (shop.classify(&input).await, input.paging())
            }
            "doctor" => {
                let input: DoctorInput = read(row, arguments)?;
                let paging = input.paging();
                let made = match &paging.cursor {
                    Some(cursor) => self.kept(cursor),
                    None => shop.doctor(&input).await,
                };
                (made, paging)
            }
            "explain" => {
                let input: ExplainInput = read(row, arguments)?;
                (shop.explain(&input).await, input.paging())
            }
            "list_runs" => {
                let input: ListRunsInput = read(row, arguments)?;
                (Ok(shop.list()), input.paging())
            }
            other => return Err(unknown_tool(other)),
        };
        let cut = made.and_then(|document| self.cut(&asked, document, &paging));
        Ok(match cut {
            Ok(document) => result(document, false),
            Err(fault) => {
                let most = paging.max_bytes / 3;
                let text = page(fault.json(), &[], 0, most);
                result(text.map_or_else(Map::new, |page| page.document), true)
            }
        })
    }

    /// Starts a run and waits for it, as long as the client wants to; a client
    /// that cancels the call has the run stopped.
    async fn run_plan(
        &self,
        input: &RunPlanInput,
        context: &RequestContext<RoleServer>,
    ) -> Result<Document, ToolFault> {
        // A later page is of the run that the first one was of.
        if let Some(cursor) = &input.cursor {
            let id = Cursor::read(cursor)?.run;
            return self.shared.shop.past_run(&id);
        }
        let run = self.shared.shop.start_run(input).await?;
        let waited = self.wait(&run, input.wait_s, context).await;
        if waited.is_err() {
            run.stop();
        }
        waited
    }

    async fn run_status(
        &self,
        id: &str,
        wait_s: f64,
        context: &RequestContext<RoleServer>,
    ) -> Result<Document, ToolFault> {
        match self.shared.shop.runs.find(id) {
            Some(run) => self.wait(&run, wait_s, context).await,
            None => self.shared.shop.past_run(id),
        }
    }

    /// Waits for the end of a run, and tells how far it is.
    ///
    /// # Errors
    /// The client cancelled the call; the run goes on.
    async fn wait(
        &self,
        run: &Run,
        wait_s: f64,
        context: &RequestContext<RoleServer>,
    ) -> Result<Document, ToolFault> {
        let wait = Duration::try_from_secs_f64(wait_s.clamp(0.0, 600.0)).unwrap_or_default();
        tokio::select! {
            _ = run.end_within(wait) => {}
            () = tell(run.progress.clone(), context) => {}
            () = context.ct.cancelled() => return Err(ToolFault::cancelled()),
        }
        let progress = run.progress.borrow().clone();
        match &progress.end {
            Some(end) => self.shared.shop.ended_run(run, end),
            None => Ok(Workshop::going_run(run, &progress)),
        }
    }

    /// The page of a document that a cursor asks for.
    fn cut(
        &self,
        asked: &str,
        document: Document,
        paging: &Paging,
    ) -> Result<Map<String, Value>, ToolFault> {
        let text = document.value.to_string();
        let whole = Sha256::new()
            .chain_update(asked)
            .chain_update(&text)
            .finalize();
        let digest: String = whole
            .iter()
            .take(8)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        let from = match &paging.cursor {
            None => 0,
            Some(cursor) => {
                let cursor = Cursor::read(cursor)?;
                if cursor.digest != digest {
                    return Err(Cursor::stale());
                }
                cursor.from
            }
        };
        let run = document.value["run_id"]
            .as_str()
            .unwrap_or_default()
            .to_owned();
        // The text repeats it, with each quote escaped.
        let mut budget = paging.max_bytes.saturating_sub(FRAME) / 2;
        loop {
            let page = page(document.value.clone(), document.lists, from, budget);
            let page = page.ok_or_else(Cursor::stale)?;
            let mut cut = page.document;
            if let Some(next) = page.next {
                cut.insert(
                    "next_cursor".to_owned(),
                    format!("{next}.{digest}.{run}").into(),
                );
            }
            if budget < SMALLEST || bytes_of(&cut) <= paging.max_bytes {
                if asked.starts_with("doctor ") {
                    self.keep(digest, document);
                }
                return Ok(cut);
            }
            budget = budget * 19 / 20;
        }
    }

    fn keep(&self, digest: String, document: Document) {
        let mut kept = self
            .shared
            .kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        kept.retain(|(known, _)| *known != digest);
        kept.push_back((digest, document));
        while kept.len() > MOST_KEPT {
            kept.pop_front();
        }
    }

    fn kept(&self, cursor: &str) -> Result<Document, ToolFault> {
        let digest = Cursor::read(cursor)?.digest;
        let kept = self
            .shared
            .kept
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let found = kept.iter().find(|(known, _)| *known == digest);
        found
            .map(|(_, document)| document.clone())
            .ok_or_else(Cursor::stale)
    }
}

/// What a result has besides the document, twice.
const FRAME: usize = 128;
/// A page is not made smaller than this.
const SMALLEST: usize = 256;

/// The size of a whole result.
fn bytes_of(document: &Map<String, Value>) -> usize {
    serde_json::to_string(&result(document.clone(), false)).map_or(usize::MAX, |text| text.len())
}

/// Where a page begins, of which document.
struct Cursor {
    from: usize,
    digest: String,
    run: String,
}

impl Cursor {
    fn read(text: &str) -> Result<Self, ToolFault> {
        let mut parts = text.splitn(3, '.');
        let from = parts.next().and_then(|from| from.parse().ok());
        match (from, parts.next(), parts.next()) {
            (Some(from), Some(digest), Some(run)) => Ok(Self {
                from,
                digest: digest.to_owned(),
                run: run.to_owned(),
            }),
            _ => {
                let what = "this is no cursor of a result";
                let next = "pass `next_cursor` as it came, with the same arguments";
                Err(ToolFault::new("bad_cursor", what, next).at("cursor"))
            }
        }
    }

    fn stale() -> ToolFault {
        let what = "what this cursor continues has changed, or was asked for with other arguments";
        let next = "call the tool again without a cursor";
        ToolFault::new("stale_cursor", what, next).at("cursor")
    }
}

/// A document as fields, and as text for clients that know no fields.
fn result(document: Map<String, Value>, is_error: bool) -> CallToolResult {
    let document = Value::Object(document);
    let mut result = match is_error {
        true => CallToolResult::error(Vec::new()),
        false => CallToolResult::success(Vec::new()),
    };
    result.content = vec![ContentBlock::text(document.to_string())];
    result.structured_content = Some(document);
    result
}

/// The arguments of a call, which meet the schema that the tool is listed with.
fn read<T: DeserializeOwned>(row: &ToolRow, arguments: Map<String, Value>) -> Result<T, ErrorData> {
    let arguments = fitting(row, arguments)?;
    serde_json::from_value(arguments).map_err(|error| {
        let what = format!("the arguments of {} can't be used: {error}", row.name);
        ErrorData::invalid_params(what, None)
    })
}

fn unknown_tool(name: &str) -> ErrorData {
    let known: Vec<&str> = TOOLS.iter().map(|row| row.name).collect();
    let name: String = name.chars().take(64).collect();
    let what = format!("there is no tool `{name}`; there are {}", known.join(", "));
    ErrorData::invalid_params(what, None)
}

/// Tells a client that asked for it how far a run is; never ends.
async fn tell(
    mut progress: watch::Receiver<super::runs::RunProgress>,
    context: &RequestContext<RoleServer>,
) {
    let Some(token) = context.meta.get_progress_token() else {
        return std::future::pending().await;
    };
    let mut told = None;
    loop {
        let (ended, message) = {
            let now = progress.borrow_and_update();
            (now.ended, now.last.clone())
        };
        if told.is_none_or(|told| ended > told) && !message.is_empty() {
            told = Some(ended);
            #[expect(clippy::cast_precision_loss, reason = "steps are few")]
            let note =
                ProgressNotificationParam::new(token.clone(), ended as f64).with_message(message);
            if context.peer.notify_progress(note).await.is_err() {
                return std::future::pending().await;
            }
        }
        if progress.changed().await.is_err() {
            return std::future::pending().await;
        }
    }
}

/// One call among those that are worked on.
struct CallPlace<'a>(&'a AtomicUsize);

impl Drop for CallPlace<'_> {
    fn drop(&mut self) {
        self.0.fetch_sub(1, Ordering::Relaxed);
    }
}

/// All tools as clients see them; their schemas are made once.
fn tools() -> &'static [Tool] {
    static MADE: OnceLock<Vec<Tool>> = OnceLock::new();
    MADE.get_or_init(|| TOOLS.iter().map(tool).collect())
}

fn tool(row: &ToolRow) -> Tool {
    let hints = row.hints;
    let annotations = ToolAnnotations::new()
        .read_only(hints.reads_only)
        .destructive(hints.destroys)
        .idempotent(hints.idempotent)
        .open_world(hints.open_world);
    let mut tool = Tool::new(row.name, row.description, (row.input)());
    tool.title = Some(row.title.to_owned());
    tool.annotations = Some(annotations);
    if let Value::Object(output) = (row.output)() {
        tool.output_schema = Some(Arc::new(output));
    }
    tool
}

impl ServerHandler for ServeHandler {
    fn get_info(&self) -> ServerConfig {
        let capabilities = ServerCapabilities::builder()
            .enable_tools()
            .enable_resources()
            .build();
        let mut info = ServerConfig::new(capabilities);
        let mut this = Implementation::new("jelly", env!("CARGO_PKG_VERSION"));
        this.title = Some("jelly".to_owned());
        info.server_info = this;
        info.instructions = Some(
            "Tests MCP servers and triages test failures. error_category and retryable of a failure say whether \
             to retry (retryable), to repair plan or environment (side: test) or to fix the code (side: code); \
             neither is there where nothing is known. Results are cut to max_bytes: left_out counts what is \
             missing, next_cursor continues."
                .to_owned(),
        );
        info
    }

    async fn list_tools(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListToolsResult, ErrorData> {
        Ok(ListToolsResult::with_all_items(tools().to_vec()))
    }

    fn get_tool(&self, name: &str) -> Option<Tool> {
        tools().iter().find(|tool| tool.name == name).cloned()
    }

    async fn call_tool(
        &self,
        request: CallToolRequestParams,
        context: RequestContext<RoleServer>,
    ) -> Result<CallToolResponse, ErrorData> {
        let row = TOOLS.iter().find(|row| row.name == request.name);
        let row = row.ok_or_else(|| unknown_tool(&request.name))?;
        let before = self.shared.calls.fetch_add(1, Ordering::Relaxed);
        let _place = CallPlace(&self.shared.calls);
        if before >= MOST_CALLS {
            let what = format!("{MOST_CALLS} calls are being worked on, and no more are taken on");
            let fault = ToolFault::new("busy", what, "wait for some of them, then call again");
            let Value::Object(fault) = fault.json() else {
                return Err(ErrorData::internal_error("no room", None));
            };
            return Ok(result(fault, true).into());
        }
        let arguments = request.arguments.unwrap_or_default();
        let call = self.call(row, arguments, &context);
        if row.name == "run_plan" {
            // It stops the run itself.
            return Ok(call.await?.into());
        }
        tokio::select! {
            done = call => Ok(done?.into()),
            () = context.ct.cancelled() => {
                let fault = ToolFault::cancelled().json();
                let fault = fault.as_object().cloned().unwrap_or_default();
                Ok(result(fault, true).into())
            }
        }
    }

    async fn list_resources(
        &self,
        request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourcesResult, ErrorData> {
        let cursor = request.and_then(|request| request.cursor);
        let from = match cursor.as_deref().map(str::parse::<usize>) {
            None => 0,
            Some(Ok(from)) => from,
            Some(Err(_)) => {
                let what = "this is no cursor of the list of resources; ask without one";
                return Err(ErrorData::invalid_params(what, None));
            }
        };
        let all = self.shared.shop.past.resources();
        let listed = all.iter().skip(from).take(RESOURCES_A_PAGE).map(|file| {
            Resource::new(file.uri.clone(), file.name.clone())
                .with_mime_type(file.mime)
                .with_size(file.bytes)
        });
        let mut result = ListResourcesResult::with_all_items(listed.collect());
        let next = from.saturating_add(RESOURCES_A_PAGE);
        result.next_cursor = (next < all.len()).then(|| next.to_string());
        Ok(result)
    }

    async fn list_resource_templates(
        &self,
        _request: Option<PaginatedRequestParams>,
        _context: RequestContext<RoleServer>,
    ) -> Result<ListResourceTemplatesResult, ErrorData> {
        let template = |name: &str, mime: &str| {
            ResourceTemplate::new(format!("jelly://runs/{{run_id}}/{name}"), name)
                .with_mime_type(mime)
        };
        Ok(ListResourceTemplatesResult::with_all_items(vec![
            template("test_results.md", "text/markdown"),
            template("results.json", "application/json"),
        ]))
    }

    async fn read_resource(
        &self,
        request: ReadResourceRequestParams,
        _context: RequestContext<RoleServer>,
    ) -> Result<ReadResourceResponse, ErrorData> {
        let Some((text, mime)) = self.shared.shop.past.read(&request.uri) else {
            let uri: String = request.uri.chars().take(200).collect();
            let what =
                format!("there is no resource {uri}; resources/list names those that there are");
            return Err(ErrorData::resource_not_found(what, None));
        };
        let contents = ResourceContents::text(text, request.uri).with_mime_type(mime);
        Ok(ReadResourceResult::new(vec![contents]).into())
    }
}
