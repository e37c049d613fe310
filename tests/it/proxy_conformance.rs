//! The server scenarios of the official conformance suite, against a server as
//! it is and behind `jelly proxy --listen`: whatever they say of it, they say
//! the same.

use crate::conformance::suite::Suite;
use crate::support::listening::Listening;
use crate::support::{HeldPort, Project, procs, real};
use std::net::TcpStream;
use std::process::{Child, Command, Stdio};

/// A real server, and how it is started: its script, and what makes it listen
/// and speak by its pipes.
struct Compared {
    script: &'static str,
    listens: &'static [&'static str],
    pipes: &'static [&'static str],
    revision: &'static str,
    /// Of the scenarios, those of `cargo test`.
    slice: &'static [&'static str],
}

const COMPARED: [Compared; 2] = [
    Compared {
        script: "npm/node_modules/@modelcontextprotocol/server-everything/dist/index.js",
        listens: &["streamableHttp"],
        pipes: &["stdio"],
        revision: "2025-11-25",
        slice: &["tools-list", "resources-subscribe"],
    },
    Compared {
        script: "npm/modern-server.mjs",
        listens: &[],
        pipes: &[],
        revision: "2026-07-28",
        slice: &["tools-list", "server-stateless"],
    },
];

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_server_behind_the_proxy_is_judged_as_without_it() {
    for server in COMPARED {
        let scenarios = server.slice.iter().map(|&scenario| scenario.to_owned());
        compare(&server, scenarios.collect());
    }
}

#[test]
#[ignore = "minutes; .ci/full runs it"]
fn a_server_behind_the_proxy_is_judged_by_every_scenario_as_without_it() {
    for server in COMPARED {
        let scenarios = Suite::find().of_servers(server.revision);
        assert!(scenarios.len() > 20, "{scenarios:?}");
        compare(&server, scenarios);
    }
}

/// These judge the HTTP face, which is the proxy's own: whom it lets ask, and
/// that an answer which comes alone may be JSON and no stream.
const OF_THE_FACE: [&str; 2] = ["dns-rebinding-protection", "server-sse-multiple-streams"];

#[track_caller]
fn compare(server: &Compared, scenarios: Vec<String>) {
    let suite = Suite::find();
    let project = Project::empty();
    let script = real(server.script);
    let direct = Direct::start(&script, server.listens);
    let mut args = vec!["--listen", "127.0.0.1:0", "--", "node", script.as_str()];
    args.extend(server.pipes);
    let proxy = Listening::of(&project, "proxy", &args, &[]);
    let mut wrong = Vec::new();
    let mut passed = 0;
    let count = scenarios.len();
    for scenario in scenarios {
        let without = suite.checks_of_server(server.revision, &scenario, &direct.url());
        let with = suite.checks_of_server(server.revision, &scenario, &proxy.url());
        assert!(!without.is_empty(), "{scenario} checks nothing");
        passed += without
            .iter()
            .filter(|check| check.contains("SUCCESS"))
            .count();
        let is_right = match OF_THE_FACE.contains(&scenario.as_str()) {
            true => !with.is_empty() && !with.iter().any(|check| check.contains("FAILURE")),
            false => with == without,
        };
        if !is_right {
            wrong.push(format!(
                "{scenario}: {without:#?} and behind the proxy {with:#?}"
            ));
        }
    }
    assert!(passed > 0, "nothing passes");
    #[expect(clippy::print_stderr, reason = "the figures that the pages tell")]
    {
        eprintln!(
            "{}: {count} scenarios, {passed} checks pass without the proxy",
            server.script
        );
    }
    assert!(wrong.is_empty(), "{}: {}", server.script, wrong.join("\n"));
}

/// A server that listens by itself.
struct Direct {
    child: Child,
    port: HeldPort,
}

impl Direct {
    fn start(script: &str, args: &[&str]) -> Self {
        let port = HeldPort::new();
        let child = Command::new("node")
            .arg(script)
            .args(args)
            .env("PORT", port.number().to_string())
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::null())
            .spawn()
            .unwrap();
        let direct = Self { child, port };
        procs::until("it listens", || {
            TcpStream::connect(("127.0.0.1", direct.port.number())).ok()
        });
        direct
    }

    fn url(&self) -> String {
        format!("http://127.0.0.1:{}/mcp", self.port.number())
    }
}

impl Drop for Direct {
    fn drop(&mut self) {
        let _ = self.child.kill();
        let _ = self.child.wait();
    }
}
