//! The rules that no shape can say, by name.

use serde::Deserialize;

macro_rules! rules {
    ($($(#[$doc:meta])+ $rule:ident = $name:literal,)+) => {
        /// What the specification asks for beside the shapes of messages.
        ///
        /// A revision's data says whether a rule holds in it, how binding it
        /// is, and where it stands.
        #[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, Deserialize)]
        pub enum Rule {
            $($(#[$doc])+ #[serde(rename = $name)] $rule,)+
        }

        /// All of them, in the order in which the documents list them.
        pub const RULES: &[Rule] = &[$(Rule::$rule,)+];

        impl Rule {
            /// As reports name it.
            #[must_use]
            pub fn name(self) -> &'static str {
                match self { $(Self::$rule => $name,)+ }
            }
        }
    };
}

rules! {
    /// Nothing but messages on stdout.
    StdoutPurity = "stdout_purity",
    /// Messages are UTF-8.
    Utf8 = "utf8",
    /// No byte order mark before a message.
    ByteOrderMark = "byte_order_mark",
    /// No member of an object stands there twice.
    DuplicateMember = "duplicate_member",
    /// No batches.
    Batch = "batch",
    /// `"jsonrpc": "2.0"` in every message.
    Jsonrpc = "jsonrpc",
    /// A message is a request, a notification or a response.
    InvalidMessage = "invalid_message",
    /// Required members are there, and have the types that the schema says.
    Shape = "shape",

    /// A response has the id of a request that was made.
    UnknownId = "unknown_id",
    /// …and of the same type.
    RetypedId = "retyped_id",
    /// …and has one at all.
    MissingId = "missing_id",
    /// A request has one response.
    AnsweredTwice = "answered_twice",
    /// Either a result or an error.
    ResultOrError = "result_or_error",
    /// A result is an object.
    ResultObject = "result_object",
    /// Codes that the specification keeps for itself, or has given up.
    ReservedErrorCode = "reserved_error_code",
    /// Codes from the range of old, which mean nothing any more.
    LegacyErrorCode = "legacy_error_code",
    /// Codes that JSON-RPC keeps for itself.
    JsonrpcErrorCode = "jsonrpc_error_code",
    /// A notification has no id.
    NotificationId = "notification_id",
    /// A server's request has an id that is a string or an integer.
    RequestId = "request_id",
    /// …which it has not used before.
    RequestIdReused = "request_id_reused",
    /// Keys of `_meta` have the form of a prefix and a name.
    MetaKey = "meta_key",
    /// Prefixes of `_meta` that are the specification's own.
    MetaReserved = "meta_reserved",

    /// `resultType` is one that the client knows.
    ResultType = "result_type",
    /// Input is asked for only where that is allowed.
    InputRequired = "input_required",
    /// Results name the server.
    ServerInfo = "server_info",
    /// All pages of a list have one scope for caches.
    CacheScope = "cache_scope",

    /// Progress is told under the token of a request that is being worked on.
    ProgressToken = "progress_token",
    /// It goes up.
    ProgressOrder = "progress_order",
    /// It ends with the answer.
    ProgressAfterEnd = "progress_after_end",
    /// Only requests that were made can be cancelled.
    CancelledUnknown = "cancelled_unknown",
    /// `ping` is answered.
    PingRefused = "ping_refused",

    /// What is offered is declared: tools,
    UndeclaredTools = "undeclared_tools",
    /// resources,
    UndeclaredResources = "undeclared_resources",
    /// prompts,
    UndeclaredPrompts = "undeclared_prompts",
    /// completions,
    UndeclaredCompletions = "undeclared_completions",
    /// log messages.
    UndeclaredLogging = "undeclared_logging",
    /// What is declared is there: tools,
    RefusedTools = "refused_tools",
    /// resources,
    RefusedResources = "refused_resources",
    /// prompts,
    RefusedPrompts = "refused_prompts",
    /// completions,
    RefusedCompletions = "refused_completions",
    /// log levels.
    RefusedLogging = "refused_logging",
    /// Changes are told by servers that declare that they tell them.
    UndeclaredNotification = "undeclared_notification",
    /// The client is asked only for what it declares that it can do.
    UndeclaredClient = "undeclared_client",
    /// …in a mode that it declares.
    UndeclaredMode = "undeclared_mode",
    /// …with tools only where it declares that.
    UndeclaredSamplingTools = "undeclared_sampling_tools",
    /// Nothing but pings is asked before the client is initialized.
    EarlyRequest = "early_request",
    /// Servers make no requests.
    ServerRequest = "server_request",
    /// No notification that was not asked for.
    UnaskedNotification = "unasked_notification",
    /// No log message that was not asked for.
    UnaskedLog = "unasked_log",
    /// What comes of a subscription says which.
    SubscriptionId = "subscription_id",
    /// A subscription is acknowledged first.
    AcknowledgedFirst = "acknowledged_first",

    /// Schemas are valid by their own dialect.
    SchemaInvalid = "schema_invalid",
    /// Names of tools are made of few characters.
    ToolName = "tool_name",
    /// …and unique.
    ToolTwice = "tool_twice",
}
