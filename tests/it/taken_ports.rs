//! A port that another program has already, where jelly is to start who listens there.

use crate::support::http::{Http, json_answer, legacy, result, text};
use crate::support::{Project, started};
use std::net::TcpListener;

const WORK: &str = "  - { id: one, tool: work, expect: { text: { equals: done } } }\n";

#[test]
fn who_has_the_port_of_a_server_or_a_service_is_not_taken_for_it() {
    let other = Http::serve(|request, out| {
        legacy(request, out, |request, out| {
            json_answer(out, &[], &result(request, text("done")));
        });
    });
    let port = other.port.to_string();
    let server = started("open('started', 'w').close(); listen()", "").replace("${port}", &port);
    let service = |ready: &str| {
        format!(
            "version: 1\nservers: {{ m: {{ command: jelly, args: [mock] }} }}\nservices:\n  s: {{ \
             command: sh, args: [-c, \"touch started; exec sleep 600\"], ready: {ready} }}\nsteps: \
             [{{ tool: echo, args: {{ message: hi }} }}]\n"
        )
    };
    for plan in [
        format!("version: 1\nservers:\n  s: {server}\nsteps:\n{WORK}"),
        service(&format!("{{ port: \"{port}\" }}")),
        service(&format!("{{ url: \"http://localhost:{port}/\" }}")),
    ] {
        let project = Project::with(&plan);
        let run = project.run(&["--retries", "0"]);
        run.ends(3, "needs_user_help");
        let failure = run.last().failure("s");
        let diagnosis = &failure["diagnosis"];
        assert_eq!(diagnosis["root_cause"], "port_in_use", "{failure:#}");
        assert_eq!(
            (&diagnosis["side"], &failure["phase"]),
            (&"test".into(), &"spawn".into()),
            "{failure:#}"
        );
        assert_eq!(diagnosis["error_category"], "INFRASTRUCTURE");
        for words in [&format!("lsof -nP -iTCP:{port} "), "write `${port}`"] {
            assert!(run.help().contains(words), "{}", run.help());
        }
        assert!(!project.exists("started"), "it was started all the same");
    }
    let project = Project::with(&format!(
        "version: 1\nservers:\n  s: {server}\nsteps:\n{WORK}"
    ));
    let listed = project.jelly(&["list", "--plan", "plan.yaml"]).output();
    assert_ne!(listed.code, Some(0), "{}", listed.stdout);
    let shown = listed.stdout + &listed.stderr;
    assert!(shown.contains(&port) && !shown.contains("work"), "{shown}");
    assert_eq!(other.heard_in_short(), [""; 0], "something was sent to it");
}

#[test]
fn who_is_about_to_leave_the_port_is_waited_for() {
    let listener = TcpListener::bind("127.0.0.1:0").unwrap();
    let port = listener.local_addr().unwrap().port().to_string();
    // Gone with the first connection.
    let leaving = std::thread::spawn(move || drop(listener.accept().unwrap()));
    let body =
        "def call(handler, m, ok): ok({'content': [{'type': 'text', 'text': 'done'}]})\nlisten()";
    let server = started(body, "").replace("${port}", &port);
    let plan = format!("version: 1\nservers:\n  s: {server}\nsteps:\n{WORK}");
    Project::with(&plan).run(&[]).ends(0, "passed");
    leaving.join().unwrap();
}
