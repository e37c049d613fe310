//! `services`: processes beside the servers.

use crate::support::{Project, python, run};

/// A server whose tool gets `/` of the stub, and one that ends the service `db`.
fn server() -> String {
    python(
        "
import urllib.request
def call(message):
    op = message['params']['arguments']['op']
    if op == 'get':
        with urllib.request.urlopen('http://127.0.0.1:@PORT@/') as answer_of_stub:
            answer(message, text(answer_of_stub.read().decode()))
    elif op == 'stop':
        open('stop', 'w').close()
        while os.path.exists('stop'): time.sleep(0.02)
        time.sleep(0.2)
        answer(message, text('stopped'))
    else:
        answer(message, text(op))
serve(call)
",
    )
    .replace("@PORT@", "${port:stub}")
}

const STUB: &str = "
  stub:
    command: python3
    args: [-u, -c, \"import http.server, os, sys\\nopen('pid', 'w').write(str(os.getpid()))\\nclass H(http.server.BaseHTTPRequestHandler):\\n  def do_GET(self):\\n    self.send_response(200); self.end_headers(); self.wfile.write(b'hello')\\nhttp.server.HTTPServer(('127.0.0.1', int(sys.argv[1])), H).serve_forever()\", \"${port}\"]
    ready: { url: \"http://127.0.0.1:${port}/\" }
";

#[test]
fn a_service_is_there_before_the_servers_and_gone_after_them() {
    let port = STUB.replace("url: \"http://127.0.0.1:${port}/\"", "port: \"${port}\"");
    for (stub, more) in [
        (
            STUB,
            "  line: { command: sh, args: [-c, \"echo now listening >&2; exec sleep 600\"], ready: { line: listening } }\n",
        ),
        (&port, ""),
    ] {
        let project = Project::with(&format!(
            "version: 1\nservers: {{ s: {} }}\nservices:{stub}{more}steps:\n  - {{ tool: work, args: {{ op: get }}, expect: {{ text: {{ equals: hello }} }} }}\n",
            server().replace("import json, os", "import json, os, time")
        ));
        let run = project.run(&[]);
        run.ends(0, "passed");
        let stub = run.last().server("stub").clone();
        assert_eq!(
            (&stub["state"], &stub["service"]),
            (&"ready".into(), &true.into())
        );
        let pid = project.read("pid");
        let proc = std::path::Path::new("/proc").join(pid.trim());
        assert!(!proc.exists() || !cfg!(target_os = "linux"), "{pid} lives");
    }
    // Nothing is started for what is left out.
    let project = Project::with(&format!(
        "version: 1\nservers: {{ s: {} }}\nservices:{STUB}steps:\n  - {{ tool: work, if: {{ vars: {{ v: 2 }} }} }}\nvars: {{ v: 1 }}\n",
        server()
    ));
    project.run(&[]).ends(3, "needs_user_help");
    assert!(!project.exists("pid"));
}

/// Nor for steps that are left out: a plan says by `${port:NAME}` who needs a service.
#[test]
fn a_service_that_nothing_selected_needs_is_not_started() {
    let service = |name: &str, ready: &str| {
        format!(
            "  {name}: {{ command: sh, args: [-c, \"echo {name} >> started; echo up; exec sleep \
             600\"], ready: {ready} }}\n"
        )
    };
    let services = service("stub", "{ line: up }") + &service("db", "{ line: up }");
    let plan = format!(
        "version: 1\nservers:\n  s: {{ command: jelly, args: [mock, --tool, a=b], env: {{ API: \
         \"${{port:stub}}\" }} }}\n  t: {{ command: jelly, args: [mock, --tool, a=b], env: {{ DB: \
         \"${{port:db}}\" }} }}\nservices:\n{services}steps:\n  - {{ id: one, server: s, tool: a \
         }}\n  - {{ id: two, server: t, tool: a }}\n"
    );
    for (args, started) in [
        (&["--only", "one"][..], "stub\n"),
        (&["--skip", "server:s"], "db\n"),
        (&[], "db\nstub\n"),
    ] {
        let project = Project::with(&plan);
        project.run(args).ends(0, "passed");
        let told = project.read("started");
        let mut told: Vec<&str> = told.lines().collect();
        told.sort_unstable();
        assert_eq!(told.join("\n") + "\n", started, "{args:?}");
    }
}

/// A line counts wherever it stands in what a service writes.
#[test]
fn a_line_that_scrolls_by_shows_that_a_service_is_ready() {
    let talk = "import sys, time\\nsys.stderr.write('x' * 40000 + '\\\\nnow listening\\\\n' + 'y' * \
                900000 + '\\\\n')\\nsys.stderr.flush()\\ntime.sleep(600)";
    let run = run(&format!(
        "version: 1\nservers: {{ s: {{ command: jelly, args: [mock, --tool, a=b] }} }}\nservices:\n  \
         talker: {{ command: python3, args: [-c, \"{talk}\"], ready: {{ line: now listening }}, \
         startup_timeout: 10s }}\nsteps: [{{ tool: a }}]\n"
    ));
    run.ends(0, "passed");
    assert_eq!(run.last().server("talker")["state"], "ready");
}

#[test]
fn a_service_that_does_not_get_ready_is_named_with_what_it_said() {
    for (service, told, cause) in [
        (
            "command: sh, args: [-c, \"echo no disk >&2; exit 4\"], ready: { line: up }",
            "the service exited with code 4 before it was ready",
            None,
        ),
        (
            "command: sh, args: [-c, \"echo warming >&2; exec sleep 600\"], ready: { line: up }, startup_timeout: 300ms",
            "the service was not ready within 300 ms (startup_timeout): no line",
            Some("startup_timeout"),
        ),
        (
            "command: /nowhere/db, ready: { port: 1 }",
            "/nowhere/db",
            Some("command_not_found"),
        ),
    ] {
        let plan = format!(
            "version: 1\nservers: {{ s: {{ command: jelly, args: [mock, --tool, a=b] }} }}\n\
             services: {{ db: {{ {service} }} }}\nsteps: [{{ tool: a }}]\n"
        );
        let run = Project::with(&plan).run(&["--no-repair", "--retries", "0"]);
        run.ends(3, "needs_user_help");
        let last = run.last();
        assert_eq!(last.state("a"), "blocked");
        assert_eq!(last.server("s")["state"], "not_started");
        assert_eq!(last.server("db")["state"], "failed");
        let failure = &last.0["failures"][0];
        assert_eq!(failure["server"], "db");
        let message = failure["message"].as_str().unwrap();
        assert!(message.contains(told), "{message}");
        assert_eq!(failure["diagnosis"]["side"], "test", "{failure:#}");
        if let Some(cause) = cause {
            assert_eq!(failure["diagnosis"]["root_cause"], cause, "{failure:#}");
        }
        if cause == Some("startup_timeout") {
            let what = failure["diagnosis"]["advice"]["what"].as_str().unwrap();
            assert!(what.starts_with("The service `db` was not ready"), "{what}");
        }
        if service.contains("no disk") {
            assert!(
                failure["stderr_tail"].to_string().contains("no disk"),
                "{failure:#}"
            );
            assert!(run.junit.contains("no disk"), "{}", run.junit);
        }
        // One cause is one error, in its own suite.
        assert_eq!(run.junit.matches("<error ").count(), 1, "{}", run.junit);
        assert!(run.junit.contains("errors=\"1\""), "{}", run.junit);
    }
}

/// What comes after the death of a service proves nothing against a server.
#[test]
fn nothing_is_blamed_on_a_server_after_a_service_died() {
    let run = run(&format!(
        "version: 1
servers: {{ s: {} }}
services:
  stub: {{ command: sh, args: [-c, \"exec sleep 600\"], ready: {{ line: x }} }}
  db:
    command: sh
    args: [-c, \"echo up; while [ ! -e stop ]; do sleep 0.02; done; rm stop; echo lost it >&2; exit 3\"]
    ready: {{ line: up }}
steps:
  - {{ tool: work, args: {{ op: stop }} }}
  - {{ id: wrong, tool: work, args: {{ op: a }}, expect: {{ text: {{ equals: b }} }} }}
",
        server()
    )
    .replace("  stub: { command: sh, args: [-c, \"exec sleep 600\"], ready: { line: x } }\n", "")
    .replace("${port:stub}", "1"));
    run.ends(3, "needs_user_help");
    for iteration in run.iterations() {
        let failures = iteration.0["failures"].as_array().unwrap();
        let of = |key: &str, value: &str| {
            failures
                .iter()
                .find(|f| f[key] == value)
                .unwrap_or_else(|| panic!("{failures:#?}"))
        };
        let died = of("server", "db");
        assert_eq!(died["diagnosis"]["rule"], "config/service-died");
        assert!(
            died["stderr_tail"].to_string().contains("lost it"),
            "{died:#}"
        );
        let wrong = of("step", "wrong");
        assert_eq!(wrong["diagnosis"]["side"], "test", "{wrong:#}");
        assert_eq!(wrong["diagnosis"]["excused"], "service_died", "{wrong:#}");
    }
}

#[test]
fn what_services_can_not_mean_is_said_with_its_line() {
    let project = Project::empty();
    for (service, told) in [
        ("d: { command: x }", "a service needs a `ready`"),
        ("d: { ready: { port: 1 } }", "a service needs a `command`"),
        ("d: { command: x, ready: {} }", "`ready` is one of"),
        (
            "d: { command: x, ready: { port: 1, line: a } }",
            "`ready` is one of",
        ),
        ("d: { command: x, ready: { port: http } }", "a port must be"),
        (
            "d: { command: x, ready: { url: localhost } }",
            "no URL that a service could have",
        ),
        (
            "d: { command: x, ready: { line: \" \" } }",
            "every line contains this",
        ),
        (
            "d: { command: x, ready: { tcp: 1 } }",
            "did you mean `port`?",
        ),
        ("d: { image: postgres }", "start it by a command"),
        (
            "s: { command: x, ready: { port: 1 } }",
            "a server is called `s` already",
        ),
    ] {
        project.write(
            "plan.yaml",
            format!("version: 1\nservers: {{ s: {{ command: x }} }}\nservices: {{ {service} }}\nsteps: [{{ tool: t }}]\n"),
        );
        let checked = project.jelly(&["check", "plan.yaml"]).output();
        assert_eq!(checked.code, Some(2), "{service}");
        let err = &checked.stderr;
        assert!(err.contains(told) && err.contains('^'), "{service}\n{err}");
    }
}
