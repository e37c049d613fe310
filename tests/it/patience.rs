//! `progress: extends`: how long an answer is waited for.

use crate::support::{Project, python};

fn plan(steps: &str) -> String {
    let server = python(
        "
def call(message):
    params = message['params']
    token, args = params['_meta']['progressToken'], params['arguments']
    for n in range(args['reports']):
        time.sleep(0.1)
        send({'jsonrpc': '2.0', 'method': 'notifications/progress',
              'params': {'progressToken': token, 'progress': n + 1}})
    if args.get('answers', True):
        answer(message, text('done'))
    else:
        time.sleep(60)
serve(call)
",
    );
    format!(
        "version: 1
defaults: {{ timeout: 600ms }}
servers: {{ s: {server} }}
steps:
{steps}"
    )
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn progress_begins_the_timeout_anew_where_the_plan_says_so() {
    let steps = "
  - { id: own, tool: work, args: { reports: 15 }, progress: extends }
  - { id: plain, tool: work, args: { reports: 15 } }
";
    let args = ["--no-repair", "--retries", "0", "--no-confirm"];
    let project = Project::with(&plan(steps));
    let run = project.run(&args);
    run.ends(3, "needs_user_help");
    let last = run.last();
    assert_eq!(last.state("own"), "passed");
    let message = last.failure("plain")["message"].to_string();
    assert!(message.contains("within 600 ms, though"), "{message}");

    // For all steps but those that say no.
    let all = plan(steps).replace("timeout: 600ms", "timeout: 600ms, progress: extends");
    project.write(
        "plan.yaml",
        all.replace(
            ", progress: extends }\n  - { id: plain",
            " }\n  - { id: plain",
        ),
    );
    project.run(&args).ends(0, "passed");
    project.write(
        "plan.yaml",
        all.replace("reports: 15 } }", "reports: 15 }, progress: ignored }"),
    );
    let run = project.run(&args);
    assert_eq!(run.last().state("own"), "passed");
    assert_eq!(run.last().state("plain"), "failed");
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn what_progress_extends_ends_by_silence_or_by_the_total() {
    let steps = "
  - { id: stops, tool: work, args: { reports: 3, answers: false }, progress: extends }
  - { id: endless, tool: work, args: { reports: 600 }, progress: extends, total_timeout: 1s }
";
    let project = Project::with(&plan(steps));
    let run = project.run(&["--no-repair", "--retries", "0"]);
    run.ends(3, "needs_user_help");
    let last = run.last();
    for (id, told) in [
        ("stops", "within 600 ms of its last progress"),
        (
            "endless",
            "(total_timeout), though the server reported progress",
        ),
    ] {
        let failure = last.failure(id);
        let message = failure["message"].to_string();
        assert!(message.contains(told), "{message}");
        assert_eq!(failure["diagnosis"]["side"], "test", "{failure:#}");
    }

    // More of the limit is no help where the total ran out.
    let only = [
        "--only",
        "endless",
        "--retries",
        "0",
        "--max-iterations",
        "2",
    ];
    let repaired = project.run(&only);
    let diff = repaired.results["iterations"][0]["action"]["repairs"][0]["diff"].to_string();
    assert!(
        diff.contains("+") && diff.contains("total_timeout: 2s"),
        "{diff}"
    );
}

#[test]
fn limits_that_progress_can_not_extend_are_refused() {
    let project = Project::empty();
    for (step, told) in [
        ("tool: t, total_timeout: 5m", "it extends nothing here"),
        (
            "tool: t, progress: extends, timeout: 5s, total_timeout: 4s",
            "`total_timeout` is over before progress can extend `timeout`",
        ),
        ("tool: t, progress: resets", "unknown progress `resets`"),
        ("list: tools, progress: extends", "`list` has no `progress`"),
        (
            "tool: t, cancel_after: 1s, progress: extends",
            "a cancelled step has no `progress`",
        ),
    ] {
        project.write(
            "plan.yaml",
            format!("version: 1\nservers: {{ s: {{ command: x }} }}\nsteps: [{{ {step} }}]\n"),
        );
        let checked = project.jelly(&["check", "plan.yaml"]).output();
        assert_eq!(checked.code, Some(2), "{step}");
        let err = &checked.stderr;
        assert!(
            err.contains(told) && err.contains('^') && err.contains("help"),
            "{step}\n{err}"
        );
    }
}
