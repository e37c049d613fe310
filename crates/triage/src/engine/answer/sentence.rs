//! Sentences that state an error: how they begin, and what only looks like one.

use regex::Regex;
use regex::bytes::{RegexSet, RegexSetBuilder};
use std::sync::LazyLock;

/// Bytes and lines of a statement that begins as errors surely do.
const LONG: usize = 2000;
const LINES: usize = 20;
/// The same where the beginning is one of prose too.
const SHORT: usize = 400;
const FEW: usize = 4;
/// With frames of a stack it may be so long.
const TRACED: usize = 32 * 1024;

/// How a statement begins that is an error whatever else it looks like: an
/// address behind a code of the system reads like a label with a number.
const CERTAIN: &[&str] = &[
    r"traceback \(most recent call last\)",
    r"(?-i)(?:EACCES|EADDRINUSE|EADDRNOTAVAIL|EAGAIN|EAI_[A-Z]+|EBADF|EBUSY|ECANCELED|ECONN[A-Z]+|EEXIST|EFBIG|EHOST[A-Z]+|EINVAL|EIO|EISDIR|ELOOP|EMFILE|ENAMETOOLONG|ENET[A-Z]+|ENFILE|ENOBUFS|ENODEV|ENOENT|ENOEXEC|ENOMEM|ENOSPC|ENOSYS|ENOTCONN|ENOTDIR|ENOTEMPTY|ENOTFOUND|ENOTSUP|EPERM|EPIPE|EPROTO|EROFS|ESOCKETTIMEDOUT|ESRCH|ESTALE|ETIME|ETIMEDOUT|ETXTBSY|EXDEV)\b",
    r"(?-i)(?:net::)?ERR_[A-Z_]+\b",
    r"https?connectionpool\(",
    r"getaddrinfo\b",
    r"(?:dial|read|write) (?:tcp|udp|unix|ip)\b",
    r"(?:connect|read|write|bind|listen|open|spawn|queryA?|lookup)\s+(?-i:E[A-Z]{3,})",
    r"curl:\s*\(\d+\)",
];

/// How a statement begins that is an error, however it goes on. The case of
/// letters does not count, but in what begins with `(?-i)`.
const SURE: &[&str] = &[
    // "Error: …", "[ERROR] …", "ERROR 1045 (28000): …"
    r"errors?\s*(?:[:\-(\[!|>]|=>)",
    r"error\s+(?:code\s*)?[#:]?\s*-?\d",
    r"error\s+code\s*[:=]",
    r"error\s+\w+ing\b",
    r"error\s+(?:while|occurred|in|when|during|from|on|at|with|trying|response|connection|message)\b",
    r"(?:fehler|erreur|errore|erro|fout|błąd|ошибка|错误|錯誤|エラー)\s*:",
    r"(?:error|failed|failure|fatal|exception|errored)\s*[!.]*\s*(?:\n|\z)",
    // "An unexpected error occurred", "There was a problem", "Something went wrong"
    r"(?:an?|the|one or more|some)\s+(?:[\w-]+\s+){0,3}(?:error|exception|failure|problem|issue)s?\s+(?:has\s+|have\s+|was\s+|were\s+)?(?:occurred|happened|encountered|raised|thrown|arisen|arose)\b",
    r"there\s+(?:was|were|has been|is|seems to be)\s+(?:an?|some)\s+(?:\w+\s+){0,2}(?:error|problem|issue|failure)\b",
    r"(?:(?:we|i|it|the \w+)\s+)?(?:encountered|got|received|hit|caught|ran into)\s+(?:an?\s+|the\s+)?(?:[\w-]+\s+){0,3}(?:error|exception|problem|failure|timeout)\b",
    r"something\s+(?:has\s+gone|went|is|seems)\s+wrong\b",
    // "Failed to …", "Could not …"
    r"fail(?:ed|ure)?\s+(?:to|while|when|with|because|due)\b",
    r"fail(?:ed|ure)\s*[:\-(!]\s*\D",
    r"(?:cannot|can't|can not|could not|couldn't|unable to|not able to|was unable to|were unable to)\s",
    // "Database error: …", "HTTP error! status: 500", "MCP error -32603: …"
    r"(?:[\w.'/#`\x22()-]+\s+){1,5}(?:error|exception)\s*(?:[:!(\[]|-\s|-?\d{3,5}\b|code\b)",
    // Crashes
    r"thread '[^']*' (?:\(\d+\) )?panicked\b",
    r"panic(?:ked)?\s*[:(]",
    r"fatal(?:\s+error)?\s*[:!\-]",
    r"fatal error\b",
    r"(?:critical|emergency|alert)\s*:",
    r"(?:uncaught|unhandled)\s+(?:\w+\s+)?(?:exception|error|rejection|promise|\w+error)\b",
    r"exception\s*(?:[:\[(]|in\b|occurred\b|while\b|raised\b|thrown\b|when\b|of type\b)",
    r"(?:segmentation fault|core dumped|bus error|stack overflow|out of memory|killed\s*\z)",
    r"\[errno -?\d+\]",
    r"errno\s*[:=]?\s*-?\d+",
    r"caused by:\s",
    r"(?-i)(?:[A-Za-z_][\w$]*[.:$#\\]{1,2})*[A-Z]\w*(?:Error|Exception|Fault|Failure|Timeout|Expired|Refused|Denied|NotFound|Rejection)\b\s*(?:[:(\[]|\z|\n)",
    r"<(?:class '|urlopen error|_inactiverpcerror|_multithreadedrendezvous|error>)",
    // Codes
    r"(?-i)(?:ORA|TNS|PLS|SP2|IMP|EXP)-\d{4,5}\b",
    r"(?-i)(?:SQLSTATE|AADSTS\d+|PGRST\d+|SQL\d{4,5}[NCW]|CURLE_\w+|P[12]\d{3}:|FATAL:|PANIC:)",
    r"(?-i)(?:NOAUTH|WRONGPASS|WRONGTYPE|MISCONF|CLUSTERDOWN|MASTERDOWN|NOPERM|NOSCRIPT|TRYAGAIN|READONLY You|LOADING Redis|OOM command|BUSY Redis|ERR [a-z])",
    r"(?-i)(?:\d{1,2} )?(?:UNAVAILABLE|DEADLINE_EXCEEDED|PERMISSION_DENIED|UNAUTHENTICATED|RESOURCE_EXHAUSTED|INTERNAL|NOT_FOUND|INVALID_ARGUMENT|FAILED_PRECONDITION|ABORTED|UNIMPLEMENTED|ALREADY_EXISTS|CANCELLED|OUT_OF_RANGE|DATA_LOSS)\s*(?:[:(\-]|\z)",
    r"rpc error\b",
    // Clients of HTTP
    r"https?/?[\d.]*\s*(?:error\s*|status\s*|code\s*|response\s*)*[:=]?\s*\(?[45]\d\d\b",
    r"(?:response\s+|http\s+|error\s+)?status(?:\s*code)?(?:\s+is|\s+was|\s+of)?\s*[:=]?\s*\(?[45]\d\d\b",
    r"\(?[45]\d\d\)?\s*[:\-]*\s*(?:client error|server error|bad request|unauthorized|payment required|forbidden|not found|method not allowed|not acceptable|proxy authentication|request time|conflict\b|gone\b|precondition|payload too|content too|request entity|unsupported media|unprocessable|locked\b|failed dependency|too many|unavailable for|internal server|not implemented|bad gateway|service |gateway |web server is|origin |insufficient storage|network auth|rate limit)",
    r"(?:client|server) error '[45]\d\d",
    r"(?:get|post|put|patch|delete|head|do|options) \x22[^\x22]+\x22: ",
    r"\('[\w ]+\.?', ",
    r"\(\d{3,5}, [b]?['\x22]",
    r"[\w.]+(?:\(\))?: (?:net::ERR_|timeout \d+ ?ms exceeded|target (?:page|closed)|getaddrinfo|error\b|(?-i:(?:connect |read )?E[A-Z]{4,}\b))",
    r"npm (?:err!|error)\s",
    r"(?-i)E: \w",
    r"make(?:\[\d+\])?: \*\*\* ",
    r"(?:fetch|request|query|connection|connect|authentication|authorization|login|upload|download|operation|command|execution|navigation|handshake|lookup|api call|tool call|tool execution|call)\s+(?:has\s+|was\s+)?(?:failed|errored|timed out|timed-out|timeout|aborted|refused|rejected|denied|reset|closed|lost|terminated|throttled|unsuccessful)\b",
    r"connection\s+(?:to|with|from)\s.{1,120}?\b(?:failed|refused|reset|lost|closed|timed out|could not|broken|terminated|error|was)\b",
    r"requests?\s+(?:to|for)\s.{1,160}?\b(?:failed|timed out|was (?:rejected|denied|throttled|refused)|returned [45]\d\d|error)\b",
    r"(?:socket hang up|socket (?:closed|timeout|error|is not connected)|broken pipe|connection error|network (?:error|is unreachable|unreachable|failure|timeout)|host (?:is )?(?:not found|unreachable|down)|no route to host)",
    r"(?:name or service not known|nodename nor servname|temporary failure in name resolution|could not resolve|name resolution|dns (?:error|lookup|resolution))",
    r"(?:max(?:imum)? (?:number of )?retries|retries) (?:exceeded|reached)",
    r"(?:request |connection |operation |gateway |read |connect |server |query |the )?(?:timed out|time-?out (?:error|exceeded|expired|reached|occurred|waiting|while|after|when|awaiting))\b",
    r"timeout of \d+ ?\w* exceeded",
    r"(?:timeout|time-out)\s*(?:\z|[!.]\s*\z|:\s*[a-z])",
    r"(?:context )?deadline exceeded",
    r"context canceled",
    r"(?:ssl|tls|x509|certificate)\b.{0,60}?(?:error|fail|expired|invalid|unknown|verify|handshake|self[- ]signed|not trusted|unable)",
    r"(?:self[- ]signed certificate|unable to verify|certificate (?:has expired|verify failed|is not))",
    r"(?:unexpected|unknown|internal|invalid)\s+(?:\w+\s+)?(?:error|exception|eof|end of file|end of input|end of json|token|response|status|server error)\b",
    r"internal server error",
    r"(?:bad gateway|gateway time-?out|service (?:is )?(?:temporarily |currently )?unavailable|service not available)",
    // Credentials, limits and settings
    r"too many (?:requests|connections|open files|clients|attempts|redirects|concurrent)",
    r"(?:api |secondary |github |request |usage )?rate[ -]?limit(?:s|ed|ing)?\b\s*(?:\z|[:.!(]|has|was|exceeded|reached|hit|error|by|for|on)",
    r"(?:rate|quota|limit|usage limit|daily limit|request limit|credit limit|api limit)\s+(?:has been |was |is )?(?:exceeded|reached|exhausted)",
    r"(?:request|requests|you|your (?:ip|account|request)s?)\s+(?:was|were|have been|has been|are|is|are being|is being)\s+(?:rate[- ]?limited|throttled|blocked|rejected|denied|suspended|banned|not authorized|unauthorized|not allowed|forbidden)",
    r"you(?:'ve| have)?\s+(?:exceeded|reached|hit|run out of)\s+(?:your|the)\b",
    r"you\s+(?:are|were)\s+(?:not|no longer)\s+(?:\w+\s+)?(?:logged|signed|authenticated|authorized|connected|allowed|permitted|a member)\b",
    r"you\s+(?:do not|don't)\s+have\s+(?:permission|access|the (?:required|necessary)|sufficient|enough)",
    r"you\s+(?:must|need to|have to)\s+(?:be\s+)?(?:log|sign|authenticate|authorize|provide|set|configure|specify|install|supply)",
    r"(?:please\s+)?(?:log ?in|sign ?in|authenticate|re-?authenticate) (?:first|again|to continue|required|is required|and try)",
    r"please\s+(?:log ?in|sign ?in|authenticate|re-?authenticate|set|configure|export|try again)\b",
    r"(?:permission|access|operation|request|authorization|authentication)\s+(?:is\s+|was\s+)?(?:denied|not permitted|not allowed|forbidden|required|failed|rejected|error)\b",
    r"(?:unauthori[sz]ed|unauthenticated|forbidden|not authenticated|not authorized|not logged in|not connected|not configured|not implemented|not initiali[sz]ed|not permitted|bad credentials|bad request)\b\s*(?:\z|[:.!,;(\-]|to\b|for\b|access\b|request\b|in\b|yet\b|because\b)",
    r"requires? authentication\b",
    r"(?:invalid|incorrect|wrong|bad|expired|revoked|missing|malformed|no|unknown|unrecognized|empty)\s+(?:or\s+\w+\s+)?(?:(?:\w+|api|access|auth|bearer|required)\s+){0,3}?(?:credentials?|tokens?|api[ _-]?keys?|keys?|passwords?|secrets?|signatures?|authorization|authentication|session|certificate|license|client id|environment variables?|env vars?|configuration|config|settings?|connection string)\b",
    r"(?:the\s+)?(?:\w+\s+){0,3}(?:token|session|api[ _-]?key|key|credentials?|password|jwt|license|certificate|subscription)s?\s+(?:is|are|has|have|was|were)\s+(?:been\s+)?(?:already\s+)?(?:expired|invalid|incorrect|missing|revoked|rejected|wrong|required|not|disabled|denied|used up)\b",
    r"(?:(?:access|refresh|bearer|auth|oauth|api|id|security|user)\s+)?(?:token|session|jwt|license|key|password|credentials?) (?:expired|malformed|invalid|not found|mismatch|required|missing)",
    r"(?-i)[A-Z][A-Z0-9]*_[A-Z0-9_]+(?i:\s+(?:environment variable\s+|env var\s+|variable\s+|is\s+|must\s+be\s+|was\s+|has\s+|not\s+|been\s+)*(?:not\s+)?(?:set|required|missing|undefined|defined|configured|provided|empty|unset|invalid))\b",
    r"environment variables?\b.{0,80}?\b(?:not set|required|missing|not found|undefined|must be|unset|not defined)",
    r"(?:the\s+)?(?:caller|user|client|account|service account|principal|request|security token)\s+(?:does not have|lacks|is not authorized|is missing|included in|has no|is not allowed)\b",
    r"insufficient\s+\w+",
    r"resource (?:temporarily unavailable|busy|exhausted|not accessible|is locked|limit)",
    r"(?:database|table|file|resource|index|workspace|state|repository|document|record|profile)\s+(?:\w+\s+)?(?:is\s+)(?:already\s+)?(?:locked|busy|in use|read-?only|unavailable|offline|corrupted?)",
    r"(?:deadlock|lock (?:wait )?timeout|could not obtain lock|another process|another instance|could not serialize)",
    r"(?:no space left|disk (?:is )?full|disk quota|not enough (?:space|memory|disk)|memory (?:limit|allocation|exhausted)|cannot allocate)",
    r"(?:access to|execution of|use of) .{1,120}? (?:is|was|has been) (?:denied|forbidden|not allowed|blocked|disabled)",
    // What a command says when it can't begin
    r"(?:/?[\w.+-]+/)*[\w.+-]+: (?:line )?(?:\d+: )?[^:\n]{1,200}: (?:command not found|no such file or directory|permission denied|operation not permitted|not a directory|is a directory|no space left on device|connection refused|connection timed out|not found\s*(?:\z|\n)|device or resource busy|read-only file system)",
    r"(?:/?[\w.+-]+/)*[a-z][\w.+-]*: (?:cannot |can't |could not |failed to |unable to |fatal\b|unrecognized |unknown (?:option|command)|invalid option|illegal option|no such |command not found|error[: ])",
    r"command not found\b",
    r"no such (?:file|directory|host|table|column|tool|container|service|user|device|process|image|key|bucket|index|module|command|database|network|volume|object|entity|collection|branch|ref|remote)\b",
    // A service that is not there
    r"(?:the\s+|this\s+)?(?:[\w.'-]+\s+){0,2}(?:server|service|api|host|database|backend|upstream|endpoint|daemon|broker|cluster|instance|gateway|browser|worker)\s+(?:is|was|are|has|did|seems|appears)\s+(?:to be\s+|currently\s+|temporarily\s+|not\s+|been\s+)*(?:unavailable|unreachable|offline|down|overloaded|not|responding|respond|running|reachable|available|busy|closed|disconnected|experiencing|under maintenance|crashed)\b",
    r"(?:server|service|peer|remote|host|upstream|api) (?:disconnected|closed|refused|reset|hung up|rejected|returned an error|error)\b",
];

/// How a statement begins that is an error where it is no longer than one.
const BRIEF: &[&str] = &[
    // "Deployment failed: …", "The build has failed with …"
    r"(?:[\w.'/#`\x22@()-]+\s+){1,6}(?:has |have |was |is )?(?:failed|errored(?: out)?|timed out|crashed|unsuccessful)\s*(?:\z|\n|[:.!(;,\-]|(?:with|to|for|because|due|after|while|when|during|on|at|as|before)\b)",
    r"(?:i|we|it|the [\w-]+(?: [\w.'-]+){0,3}|server|tool|request|query|client|this \w+)\s+(?:cannot|can't|can not|could not|couldn't|was unable to|is unable to|were unable to|failed to|did not respond|didn't respond|is not responding|timed out|has timed out|is not available|is not supported|is not allowed|is not permitted|is not enabled)\b",
    r"(?:sorry|oops|whoops|apologies|unfortunately|uh oh)\b.{0,200}?\b(?:error|fail\w*|wrong|unable|could ?n[o']t|cannot|can't|problem|unavailable|not)\b",
    r"(?:[\w.'/-]+\s+){1,6}(?:returned|responded|answered|replied|got|received|gave|sent|failed|rejected)\s+(?:with\s+|back\s+|an?\s+|the\s+)*(?:http\s*|error\s*|status\s*|code\s*|of\s+|response\s*)*[:#]?\s*\(?[45]\d\d\b",
    r"(?:got|received|returned|responded|unexpected)\s+(?:with\s+|an?\s+)*(?:http\s*|error\s*|status\s*|code\s*|of\s+|response\s*|unexpected\s*)*[:#]?\s*\(?[45]\d\d\b",
    r"[^\n]{1,200}?\b(?:does not exist|doesn't exist|do not exist|don't exist|did not exist|not found|could not be found|cannot be found|couldn't be found|could not be (?:read|opened|loaded|reached|resolved|completed|processed|parsed|established)|no longer exists|already exists)\b",
    r"(?:invalid|missing|unknown|unsupported|unrecognized|unrecognised|illegal|malformed|undefined|ambiguous|duplicate|required)\s+(?:required\s+|input\s+|value for\s+)?(?:\w+\s+){0,2}?(?:parameters?|arguments?|args?|inputs?|fields?|propert(?:y|ies)|options?|flags?|values?|types?|formats?|path|url|uri|id|identifier|name|query|request|method|tool|command|action|operation|column|table|schema|json|syntax|date|expression|selector|email|port|host|region|resource|database|user|username|channel|project|repository|branch|file|directory|scope|cursor|page|range|offset|index|version|state|pattern|regex|ref|reference|tag|filter|timestamp|time ?zone|currency|locale|language|status|code|order|sort)\b",
    r"(?:the\s+)?(?:\w+\s+){0,4}[`'\x22]?[\w.-]+[`'\x22]?\s+(?:parameter|argument|field|property|option|value|header|query|url|path|id|name|input)?s?\s*(?:is|are)\s+(?:required|missing|not (?:set|valid|provided|supported|allowed|configured|installed|running|available|reachable|connected|initiali[sz]ed|authenticated|authorized|accessible|enabled|permitted|recogni[sz]ed|defined|a valid|an? \w+ (?:file|directory)))\b",
    r"(?:no|not)\s+(?:active\s+|valid\s+|such\s+|open\s+)?(?:response|connection|session|browser|page|database|device|display|access|permission|server|internet|network|credentials|default credentials)\b.{0,40}?\b(?:available|received|open|found|configured|established|connected|provided|from|to|running|selected|for)\b",
    r"[^\n]{1,120}?\bis not (?:authorized to|allowed to|permitted to|accessible by|a function|a git repository|recognized as|in the (?:sudoers|allowed)|allowed|permitted|supported)\b",
    r"(?:not found|not a git repository|not a directory|not enough \w+|not supported|not allowed|out of range|syntax error|parse error|type mismatch|version mismatch|checksum mismatch|access is denied|division by zero|index out of)\b",
    r"(?:refusing|refused|rejected|denied|aborted|aborting|giving up|interrupted|cancelled|canceled)\b\s*(?:\z|[:.!,]|to\b|by\b|because\b|after\b|due\b)",
    r"(?:unhandled|uncaught|unexpected|unresolved|unreachable|unavailable)\b\s*(?:\z|[:.!]|\w+)",
];

/// What begins as an error does, and is data: a count, a measure, a heading.
const UNLESS: &[&str] = &[
    // A label with a number or with nothing.
    r"[\w .'/()-]{1,60}[:=]\s*[~<>]?[-+]?[\d.,]*\d[\d.,]*\s*(?:%|ms|s|m|h|kb|mb|gb|points?|pts)?\s*(?:\z|\n|[,;/|]|\(|of\b|out of\b|in\b|per\b)",
    r"[\w .'/-]{1,60}[:=]\s*(?:none|null|nil|no|n/a|0|false|ok|-|undefined|\[\]|\{\})\s*\.?\s*(?:\z|\n|,)",
    r"(?:no|zero|0|without)\s+(?:\w+\s+){0,2}(?:errors?|failures?|exceptions?|issues?|problems?|warnings?)\b",
    r"no\s+(?:\w+\s+){0,3}(?:results?|match(?:es)?|items?|records?|entries|rows?|hits?|issues?|messages?|events?|tasks?|notes?|changes?|differences?|updates?|emails?|comments?|answers?|articles?|files?|pages?)\b",
    r"(?:found|checked|listed|searched|processed|scanned|showing|total|there (?:are|is|were)|returned)\s+(?:\w+\s+)?\d+\b",
    r"\d[\d.,]*\s+(?:(?:of|out of)\s+\d+\s+)?(?:\w+\s+){0,2}(?:errors|tests?|checks?|files?|links?|jobs?|builds?|items?|rows?|results?|tasks?|failures?|failed|passed|matches|requests? (?:failed|were|was)|records|packages|users|pages|entries|warnings|of)\b",
    r"(?:the\s+|an?\s+)?(?:mean|average|median|squared?|root|standard|absolute|relative|percent\w*|rounding|margin of|sampling|approximation|estimation|prediction|training|measurement|max(?:imum)?|min(?:imum)?|total|overall|current|last|latest|previous|recent|most recent|first|sample|example|common|typical|known|expected|possible|fixed|resolved|previous|old|human|user|type i+)\s+(?:\w+\s+){0,2}?errors?\b(?:\s*[:=(]|\s+(?:rate|is|was|of)\b)",
    r"errors?\s+(?:rates?|handling|logging|reporting|messaging|tracking|monitoring|checking|budgeting|correcting|boundar\w+|codes?:?\s*\n|bars?|margins?|propagation|estimates?|pages?|types?|counts?|classes|messages?\s+(?:are|should|is|in|for))\b",
    r"(?:http\s*)?(?:error\s*|status\s*|code\s*)*\d{3}\s+(?:(?:[\w-]+\s+){0,3}?(?:is|means|indicates|occurs|happens|was|refers|are|stands|should|tells|says|denotes|may|can)\b|(?:rows?|results?|items?|records?|files?|users?|entries|bytes|lines?|pages?|points?|hits|tokens|words|km|miles|orders?|tests?|products?))",
    r"[^\n]{0,160}\b[45]\d\d\s+(?:rows?|results?|items?|records?|files?|users?|entries|bytes|lines?|pages?|points?|hits|matches|tokens|words|km|miles|orders?|tests?|products?|documents?|ms)\b",
    r"(?:note|tip|hint|question|q|faq|summary|title|subject|topic|chapter|example|usage|definition|heading|warning|todo|fixme|info|debug|answer|quote|log|changelog|status|description|commit|author|name|value|result|output|text|body|content|state|label|key|field)\s*[:\-]",
    r"(?:how|what|why|when|where|if|once|whenever|unless|because|although|while|since|after|before)\s",
    r"[^\n.!:;-]{1,200}\?\s*\z",
    r"[^\n]{1,200}[,'\x22] (?:she|he|they|i|we|it) (?:said|says|asked|wrote|thought|replied|explained)\b",
    r"(?:throw|raise|return|def|fn|func|function|class|const|let|var|import|from|public|private|if|for|try|catch|except|assert)\s+[^\n]{0,200}[;{}():]\s*(?:\z|\n)",
    r"(?:all|every|both)\s",
    r"(?:fixed?|fix(?:es|ed)|resolved?|closes?|handled?|prevents?|avoids?|improved?|added?|removed?)\b",
    r"successfully\b|success\b|done\b|ok\b|completed\b|passed\b",
];

struct Table {
    certain: RegexSet,
    sure: RegexSet,
    brief: RegexSet,
    unless: RegexSet,
}

fn anchored(pattern: &str) -> String {
    format!(r"(?i)\A(?:{pattern})")
}

fn table() -> Option<&'static Table> {
    static TABLE: LazyLock<Option<Table>> = LazyLock::new(|| {
        let set = |patterns: &[&str]| {
            let anchored = patterns.iter().map(|pattern| anchored(pattern));
            RegexSetBuilder::new(anchored).unicode(false).build().ok()
        };
        Some(Table {
            certain: set(CERTAIN)?,
            sure: set(SURE)?,
            brief: set(BRIEF)?,
            unless: set(UNLESS)?,
        })
    });
    TABLE.as_ref()
}

/// The lines of a text that states an error, or nothing where it is data.
pub(super) fn read(text: &str) -> Option<Vec<String>> {
    let text = text.trim();
    let traced = is_traced(text);
    let lines = text.lines().filter(|line| !line.trim().is_empty()).count();
    if text.len() > TRACED || lines == 0 || !traced && (text.len() > LONG || lines > LINES) {
        return None;
    }
    if !traced && (is_log(text) || tells_success(text)) {
        return None;
    }
    let opening = opening(text);
    let brief = traced || text.len() <= SHORT && lines <= FEW;
    let table = table()?;
    let plain = opening
        .text
        .replace('’', "'")
        .replace(['–', '—'], "-")
        .replace('：', ":");
    let bare = without_article(&plain);
    let begins = |set: &RegexSet| set.is_match(plain.as_bytes()) || set.is_match(bare.as_bytes());
    let is_error = opening.marked
        || begins(&table.certain)
        || !begins(&table.unless)
            && (begins(&table.sure)
                || brief && (begins(&table.brief) || opening.cross && speaks_of_failing(&plain)));
    is_error.then(|| said(text, &opening))
}

/// The statement line by line, without what adorned its beginning.
fn said(text: &str, opening: &Opening) -> Vec<String> {
    let mut lines: Vec<String> = text.lines().map(str::to_owned).collect();
    let first = lines.iter().position(|line| !line.trim().is_empty());
    if let Some(first) = first.and_then(|first| lines.get_mut(first)) {
        *first = opening.text.lines().next().unwrap_or_default().to_owned();
    }
    lines
}

/// How a text begins, without what only adorns it.
struct Opening {
    text: String,
    /// A tag in brackets says that it is an error: `[ERROR]`.
    marked: bool,
    /// A symbol says so: ❌.
    cross: bool,
}

/// Symbols that stand before what went wrong.
const CROSSES: [char; 14] = [
    '❌', '✗', '✖', '✘', '×', '⛔', '🚫', '💥', '🔴', '❗', '‼', '⚠', '🛑', '☠',
];

fn opening(text: &str) -> Opening {
    static TAG: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\A[\[(]\s*(?:error|err|fatal|failed|failure|fail|exception|critical)\s*[\])]\s*[:\-–—]*\s*(?:\S)").ok()
    });
    let cross = text.starts_with(CROSSES);
    let adorns = |c: char| {
        !c.is_alphanumeric()
            && !matches!(
                c,
                '<' | '[' | '(' | '{' | '/' | '\\' | '$' | '\'' | '"' | '_' | '.'
            )
    };
    let mut bare = text.trim_start_matches(adorns);
    // Of a heading of Markdown, the stars.
    let plain = bare.replace("**", "").replace("__", "_");
    let marked = TAG.as_ref().is_some_and(|tag| tag.is_match(&plain));
    if marked {
        bare = text;
    }
    let text = if marked {
        bare.trim_start_matches(adorns).replace("**", "")
    } else {
        plain.trim_start_matches(['[', '\'', '"', '`']).to_owned()
    };
    let text = if plain.starts_with("[Errno") || plain.starts_with("[errno") {
        plain
    } else {
        text
    };
    Opening {
        text,
        marked,
        cross,
    }
}

fn without_article(text: &str) -> &str {
    let (first, rest) = text.split_once(' ').unwrap_or((text, ""));
    let is_article = ["the", "a", "an", "your", "this"]
        .iter()
        .any(|article| first.eq_ignore_ascii_case(article));
    if is_article { rest } else { text }
}

fn speaks_of_failing(text: &str) -> bool {
    static WORDS: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?i)\b(?:errors?|fail\w*|cannot|can't|could ?n[o']t|unable|denied|refused|invalid|missing|not|no|timed out|timeout|unavailable|unreachable|expired|exceeded|unauthori[sz]ed|forbidden|exception|crashed|rejected|problem)\b").ok()
    });
    WORDS.as_ref().is_some_and(|words| words.is_match(text))
}

/// Frames of a stack: then it may be long.
fn is_traced(text: &str) -> bool {
    text.contains("Traceback (most recent call last)")
        || text.contains(" panicked at ")
        || text.lines().skip(1).filter(|line| is_frame(line)).count() > 1
}

fn is_frame(line: &str) -> bool {
    let bare = line.trim_start();
    line.len() > bare.len() && (bare.starts_with("at ") || bare.starts_with("File \""))
}

/// Two lines that begin as those of a log do are one.
fn is_log(text: &str) -> bool {
    static LINE: LazyLock<Option<Regex>> = LazyLock::new(|| {
        Regex::new(r"(?im)^\W*(?:\d{4}-\d\d-\d\d|\d\d/\w+/\d{4}|\d\d:\d\d:\d\d|\d{10,13} |(?:info|warn(?:ing)?|debug|error|trace|fatal|notice)\b\]?[ \t]+\S*\d\d:\d\d|(?:\[|<)?(?:info|warn(?:ing)?|debug|error|trace|fatal|notice)(?:\]|>)|(?:INFO|WARN(?:ING)?|DEBUG|TRACE|NOTICE)\b)").ok()
    });
    let Some(line) = LINE.as_ref() else {
        return false;
    };
    let dated = text
        .trim_start_matches(|c: char| !c.is_alphanumeric())
        .starts_with(|c: char| c.is_ascii_digit());
    let count = line.find_iter(text).count();
    count > 1 || count == 1 && dated
}

/// A list of what went well and what did not.
fn tells_success(text: &str) -> bool {
    text.contains(['✅', '✔', '✓', '☑', '🟢'])
}

#[cfg(test)]
mod tests {
    use super::{BRIEF, SURE, UNLESS, anchored, table};
    use regex::bytes::RegexBuilder;

    #[test]
    fn every_pattern_of_the_tables_compiles() {
        for pattern in SURE.iter().chain(BRIEF).chain(UNLESS) {
            let built = RegexBuilder::new(&anchored(pattern)).unicode(false).build();
            assert!(built.is_ok(), "{pattern}: {built:?}");
        }
        assert!(table().is_some());
    }
}
