//! `services`: helper processes beside the servers.

use super::mapping::{Key, Kind, Mapping, Rule, mapping};

mapping! {
    /// A process that servers need, as a database or a stub of an API. It is started
    /// before the servers, in each iteration, and stopped after them.
    SERVICE = "Service", "a service" {
        /// The program to start: one word, looked up on the PATH, or a path, which
        /// begins at `cwd`; never a shell command line.
        command: Kind::Filled, required "a service needs a `command`" "", also "cmd";
        /// Its arguments.
        args: Kind::List(&Kind::Word, 0), also "arguments";
        /// Environment variables, in addition to the inherited ones.
        env: Kind::ByName(&Kind::Word, 0), also "environment";
        /// Working directory. Default: the project folder.
        cwd: Kind::Word, also "workdir working_directory";
        /// How it shows that it is ready.
        ready: Kind::Mapping(&READY),
            required "a service needs a `ready`" "as in `ready: { port: \"${port}\" }`",
            also "healthcheck ready_when";
        /// Timeout for becoming ready. Default: 30s.
        startup_timeout: Kind::Time;
        /// Timeout for exiting after SIGTERM. Default: 2s.
        shutdown_timeout: Kind::Time;
    }
    hints {
        "url package startup tool" => "this key belongs to a server; put it under `servers`",
        "image" => "start it by a command, as in `command: docker, args: [run, --rm, …]`",
        "ports" => "`${port}` is a free port that jelly chooses, and `${port:NAME}` that of a service",
    }
}

mapping! {
    /// How a service shows that it is ready: exactly one of these.
    READY = "Ready", "`ready`" {
        /// A line on stdout or stderr contains this text.
        line: Kind::Filled, also "log output stdout stderr";
        /// This TCP port of 127.0.0.1 accepts connections.
        port: Kind::Word, also "tcp";
        /// This URL answers with a status below 500.
        url: Kind::Url, also "http";
    }
    rule Rule::OneOf(&[&["line"], &["port"], &["url"]]);
}
