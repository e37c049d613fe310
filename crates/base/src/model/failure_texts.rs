//! Every text of a failure, so that none leaves without redaction. The fields
//! are named one by one: a new one does not compile before it has its place
//! here.

use super::failure::{
    Assertion, Exit, Failure, HttpFacts, RequestFacts, RpcError, SpawnError, ToolResult, Wanted,
};
use super::plan_issue::PlanIssue;
use super::text_difference::TextDifference;
use serde_json::Value;

impl Failure {
    /// The variables that were set for the server, which are texts.
    #[must_use]
    pub fn variables(&self) -> Vec<(&str, &str)> {
        let variables = self.env_delta.iter();
        variables
            .filter_map(|(name, value)| Some((name.as_str(), value.as_str()?)))
            .collect()
    }

    /// Lets `change` have every text that came from outside, the keys and
    /// texts of JSON included. Words of a closed list (`phase`, `outcome`,
    /// `element`, an assertion's target, a limit) are none.
    pub fn for_each_text(&mut self, change: &mut impl FnMut(&mut String)) {
        let Self {
            phase: _,
            server,
            step,
            transport,
            command,
            argv,
            cwd,
            env_delta,
            user,
            limits,
            url,
            spawn_error,
            issue,
            stderr,
            stderr_is_older: _,
            stdout,
            stdout_noise,
            logs,
            error_logged,
            exit,
            process_alive: _,
            outcome: _,
            timeout_s: _,
            rpc_error,
            http,
            request,
            tool_result,
            tools_listed,
            server_info,
            assertion,
            mismatch: _,
            wanted,
            protocol_breach,
            own_limit: _,
            showed_life: _,
            after_restart: _,
            after_service_died: _,
            refused_question: _,
            is_service: _,
            message,
            message_from,
            elapsed_ms: _,
            dialect,
            element: _,
            suite,
            classname,
            name,
            type_,
            text,
            system_out,
            system_err,
            file,
            line: _,
            label,
        } = self;
        let texts = [
            server,
            step,
            transport,
            command,
            cwd,
            user,
            url,
            stderr,
            stdout,
            error_logged,
            protocol_breach,
            message,
            message_from,
            dialect,
            suite,
            classname,
            name,
            type_,
            text,
            system_out,
            system_err,
            file,
        ];
        let texts = texts.into_iter().flatten();
        let lists = argv.iter_mut().chain(stdout_noise).chain(logs);
        texts.chain(lists).for_each(&mut *change);
        label.iter_mut().for_each(|it| it.for_each_text(change));
        if let Some(SpawnError {
            errno: _,
            name,
            text,
        }) = spawn_error
        {
            name.iter_mut().chain(text).for_each(&mut *change);
        }
        if let Some(Exit { code: _, signal }) = exit {
            signal.iter_mut().for_each(&mut *change);
        }
        if let Some(issue) = issue {
            issue.for_each_text(change);
        }
        let mut values: Vec<&mut Value> = Vec::new();
        values.extend(limits.iter_mut().chain(server_info).chain(tools_listed));
        if let Some(RpcError {
            code: _,
            message,
            data,
        }) = rpc_error
        {
            change(message);
            values.extend(data);
        }
        if let Some(HttpFacts {
            status: _,
            headers,
            body,
            error,
            text,
            proxy,
            proxy_variable,
        }) = http
        {
            body.iter_mut()
                .chain(error)
                .chain(text)
                .chain(proxy)
                .chain(proxy_variable)
                .for_each(&mut *change);
            *headers = renamed(std::mem::take(headers), change);
        }
        *env_delta = renamed(std::mem::take(env_delta), change);
        if let Some(RequestFacts { method, params, .. }) = request {
            change(method);
            values.extend(params);
        }
        if let Some(ToolResult {
            is_error: _,
            text,
            structured_content,
        }) = tool_result
        {
            change(text);
            values.extend(structured_content);
        }
        if let Some(Wanted {
            error: _,
            values: wanted,
        }) = wanted
        {
            values.extend(wanted);
        }
        if let Some(Assertion {
            kind,
            target: _,
            path,
            pointer,
            expected,
            actual,
            absent: _,
            made_by_jelly: _,
            difference,
            nearest,
            at,
            own_limit: _,
        }) = assertion
        {
            change(kind);
            if let Some(TextDifference { first, hunks }) = difference {
                change(first);
                change(hunks);
            }
            let places = [path, pointer, nearest, at];
            places.into_iter().flatten().for_each(&mut *change);
            values.extend([expected, actual]);
        }
        for value in values {
            for_each_json_text(value, change);
        }
    }
}

impl PlanIssue {
    /// Lets `change` have every text of it.
    pub fn for_each_text(&mut self, change: &mut impl FnMut(&mut String)) {
        match self {
            Self::CommandNotFound { command: text }
            | Self::NotExecutable { path: text }
            | Self::MissingDirectory { path: text }
            | Self::MissingVariable {
                name: text,
                secret: _,
            }
            | Self::MissingPackageArgument { name: text }
            | Self::InvalidPackage { reason: text } => change(text),
            Self::UnknownServer { name, candidates } | Self::UnknownTool { name, candidates } => {
                change(name);
                candidates.iter_mut().for_each(change);
            }
            Self::UnknownArgument {
                tool,
                name,
                candidates,
            } => {
                change(tool);
                change(name);
                candidates.iter_mut().for_each(change);
            }
            Self::MissingArgument { tool, name } => [tool, name].into_iter().for_each(change),
            Self::ArgumentType {
                tool,
                pointer,
                expected,
                actual,
            } => {
                [tool, pointer, actual].into_iter().for_each(&mut *change);
                expected.iter_mut().for_each(change);
            }
            Self::InvalidArgument {
                tool,
                pointer,
                reason,
            } => {
                [tool, pointer, reason].into_iter().for_each(change);
            }
            Self::SnapshotMissing { name, path, plan } => {
                [name, path, plan].into_iter().for_each(change);
            }
            Self::SchemaTooComplex {
                schema,
                pointer,
                reason,
            } => {
                [schema, pointer, reason].into_iter().for_each(change);
            }
            Self::DefinitionChanged {
                item,
                pointer,
                reason,
                lock,
            }
            | Self::PromiseBroken {
                item,
                pointer,
                reason,
                lock,
            } => {
                [item, pointer, reason, lock].into_iter().for_each(change);
            }
            Self::PinNotSpoken { pin, at, .. } => [pin, at].into_iter().for_each(change),
            Self::Unanswered { method: text } | Self::ServiceDied { name: text } => change(text),
            Self::OtherError {
                expected,
                actual,
                at,
            } => [expected, actual, at].into_iter().for_each(change),
        }
    }
}

/// Lets `change` have every text of `value`, keys included.
pub fn for_each_json_text(value: &mut Value, change: &mut impl FnMut(&mut String)) {
    match value {
        Value::String(text) => change(text),
        Value::Array(items) => {
            for item in items {
                for_each_json_text(item, change);
            }
        }
        Value::Object(map) => *map = renamed(std::mem::take(map), change),
        Value::Null | Value::Bool(_) | Value::Number(_) => {}
    }
}

/// A map whose keys and values `change` has had.
fn renamed<M>(map: M, change: &mut impl FnMut(&mut String)) -> M
where
    M: IntoIterator<Item = (String, Value)> + FromIterator<(String, Value)>,
{
    let pairs = map.into_iter().map(|(mut key, mut value)| {
        change(&mut key);
        for_each_json_text(&mut value, change);
        (key, value)
    });
    pairs.collect()
}
