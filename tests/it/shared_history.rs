//! A history in PostgreSQL: that it answers as the file does, and what becomes of
//! a run when it can't be reached or does not want it.

use crate::support::postgres::{
    Database, PASSWORD, PostgresServer, database, empty_database, with_history,
};
use crate::support::{Project, Run, python};
use jelly_base::model::{FailureStatus, Recurrence, Side, Template};
use jelly_history_postgres::{DatabaseAddress, PostgresHistory};
use jelly_triage::history::{
    FleetScope, HistoryFile, HistoryStore, Past, PastCause, PastFailure, PastPass, PastReport,
    PastRun, PastScope, ProvenPasses, Recorded, RunKind, RunOrigin, TestName,
};
use std::collections::BTreeMap;
use std::fs;
use std::path::PathBuf;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::thread;
use tempfile::TempDir;

const SPOOL: &str = "history-spool.jsonl";

fn name(test: &str) -> TestName {
    TestName::new("plan", "server", test)
}

fn cause(root_cause: &str) -> PastCause {
    PastCause {
        side: Side::Test,
        ambiguous: false,
        error_category: None,
        retryable: None,
        root_cause: root_cause.into(),
        rule: "some/rule".into(),
        evidence: None,
        template: Template::default(),
    }
}

/// A run on a day of January.
fn run(day: u32, branch: &str, failed: &[(&str, &str)], passed: &[&str]) -> PastRun {
    let mut run = PastRun::new(RunKind::Run, Some(format!("2026-01-{day:02}T00:00:00Z")));
    run.origin = RunOrigin {
        project: Some("acme/shop".into()),
        branch: Some(branch.into()),
        commit: Some(format!("{day:040x}")),
        ..RunOrigin::default()
    };
    run.reports.push(PastReport {
        path: "plan.yaml".into(),
        digest: format!("{branch} {day}"),
        place: Some("plans/plan.yaml".into()),
        duration_ms: Some(1000 + u64::from(day)),
    });
    for (test, of) in failed {
        run.causes.insert(format!("j2:{of}"), cause(of));
        run.failures.push(PastFailure {
            report: 0,
            test: name(test),
            status: FailureStatus::Failure,
            fingerprint: format!("j2:{of}"),
            test_fingerprint: format!("j2:{of}/{test}"),
            duration_ms: Some(20),
        });
    }
    for test in passed {
        run.passed.push(PastPass {
            report: 0,
            test: name(test),
            definition: Some(format!("defined as {test}")),
            duration_ms: Some(10),
        });
    }
    run
}

fn viewer(branch: &str) -> RunOrigin {
    RunOrigin {
        project: Some("acme/shop".into()),
        branch: Some(branch.into()),
        ..RunOrigin::default()
    }
}

/// A store of each kind that holds nothing.
struct Stores {
    folder: TempDir,
    database: Database,
}

impl Stores {
    fn new() -> Option<Self> {
        Some(Self {
            database: database()?,
            folder: TempDir::new().unwrap(),
        })
    }

    fn file(&self) -> PathBuf {
        self.folder.path().join("history.jsonl")
    }

    /// Both, as they are seen from a branch.
    fn seen_from(&self, viewer: &RunOrigin) -> [(&'static str, Box<dyn HistoryStore>); 2] {
        let file = HistoryFile::new(self.file()).seen_from(viewer.clone());
        [
            ("file", Box::new(file)),
            ("database", Box::new(of(&self.database.url(), viewer))),
        ]
    }
}

fn of(url: &str, viewer: &RunOrigin) -> PostgresHistory {
    let address = DatabaseAddress::read(url, &BTreeMap::new()).unwrap();
    PostgresHistory::new(address, viewer.clone())
}

fn past(store: &dyn HistoryStore, tests: &[&str]) -> Past {
    let tests: Vec<TestName> = tests.iter().map(|test| name(test)).collect();
    let scope = PastScope::Tests {
        tests: &tests,
        before: &[],
    };
    store.past(&scope).unwrap().past
}

fn state(past: &Past, test: &str, of: &str) -> Recurrence {
    let print = format!("j2:{of}/{test}");
    let history = past.history(("plan", "server", test), &print, FailureStatus::Failure);
    history.state
}

#[test]
fn a_database_answers_as_the_file_does() {
    let Some(stores) = Stores::new() else { return };
    for (kind, store) in stores.seen_from(&viewer("main")) {
        store.check_writable().unwrap();
        let record = |run: PastRun| store.record(run).unwrap();
        let new = Recorded::Run { dropped: 0 };
        assert_eq!(
            record(run(1, "main", &[("a", "dns"), ("b", "tls")], &[])),
            new,
            "{kind}"
        );
        assert_eq!(record(run(2, "main", &[("b", "tls")], &["a"])), new);
        assert_eq!(
            record(run(2, "main", &[("b", "tls")], &["a"])),
            Recorded::Known,
            "{kind}"
        );
        assert_eq!(record(run(3, "pull/7", &[("c", "dns")], &["b"])), new);
        let mut foreign = run(4, "main", &[("d", "dns")], &["defined"]);
        foreign.origin.project = Some("acme/other".into());
        assert_eq!(record(foreign), new);

        let known = past(&*store, &["a", "b", "c", "d", "e"]);
        assert_eq!(state(&known, "a", "dns"), Recurrence::Regressed, "{kind}");
        assert_eq!(
            state(&known, "b", "tls"),
            Recurrence::Known,
            "{kind}: passed elsewhere"
        );
        assert_eq!(
            state(&known, "b", "dns"),
            Recurrence::New,
            "{kind}: another cause"
        );
        assert_eq!(
            state(&known, "c", "dns"),
            Recurrence::Known,
            "{kind}: failed elsewhere"
        );
        assert_eq!(
            state(&known, "d", "dns"),
            Recurrence::New,
            "{kind}: another project"
        );
        let history = known.history(("plan", "server", "a"), "j2:dns/a", FailureStatus::Failure);
        let first = "2026-01-01T00:00:00Z";
        assert_eq!(history.first_seen.as_deref(), Some(first), "{kind}");
        assert_eq!(history.last_seen.as_deref(), Some(first), "{kind}");
        assert_eq!((history.runs, history.failed), (2, 1), "{kind}");
        assert_eq!(history.earlier_side, Some(Side::Test), "{kind}");
        assert_eq!(known.recent("plan", "server", "a").len(), 2, "{kind}");
        assert_eq!(known.runs(), 3, "{kind}");
        let fixed = known.fixed(&[name("a"), name("b")], &[].into());
        assert_eq!(fixed.len(), 1, "{kind}: a is fixed already");
        assert_eq!(fixed[0].root_cause.as_deref(), Some("tls"), "{kind}");

        // A report that is asked about again has the past that it had.
        let tests = [name("a")];
        let before = ["main 2".to_owned()];
        let scope = PastScope::Tests {
            tests: &tests,
            before: &before,
        };
        let earlier = store.past(&scope).unwrap().past;
        assert_eq!(state(&earlier, "a", "dns"), Recurrence::Known, "{kind}");

        let watched = store.past(&PastScope::Failing).unwrap().past;
        for (test, watches) in [
            ("a", true),
            ("b", true),
            ("c", true),
            ("d", false),
            ("e", false),
        ] {
            assert_eq!(
                watched.watches("plan", "server", test),
                watches,
                "{kind}: {test}"
            );
        }
        let asked = ["j2:dn".to_owned()];
        let found = store.past(&PastScope::Fingerprints(&asked)).unwrap().past;
        let dns = found.cause("j2:dns").unwrap();
        assert_eq!((dns.runs, dns.failures), (2, 2), "{kind}");
        assert_eq!(dns.tests, [name("a"), name("c")], "{kind}");
        assert_eq!(found.runs(), 3, "{kind}");
        let asked = ["j2:tls/b".to_owned()];
        let by_test = store.past(&PastScope::Fingerprints(&asked)).unwrap().past;
        assert_eq!(by_test.fingerprints("j2:tls/b"), ["j2:tls"], "{kind}");

        let all = store.past(&PastScope::All).unwrap().past;
        let durations = all.durations();
        assert_eq!(durations["plans/plan.yaml"], 1002, "{kind}");

        let mut proven = run(5, "main", &[], &["a"]);
        proven.proven = vec![ProvenPasses {
            code: "one code".into(),
            definitions: vec!["defined as a".into(), "defined as b".into()],
        }];
        let passed_on = |test: &str, code: &str| {
            let defined = format!("defined as {test}");
            store.passed_as(&defined, Some(code)).unwrap()
        };
        assert!(!passed_on("a", "one code"), "{kind}: not yet");
        assert_eq!(record(proven), new, "{kind}");
        for (test, code, passed) in [
            ("a", "one code", true),
            ("b", "one code", true),
            ("c", "one code", false),
            ("a", "another", false),
        ] {
            assert_eq!(passed_on(test, code), passed, "{kind}: {test} on {code}");
        }

        for (test, passed) in [("a", true), ("b", true), ("c", false), ("defined", false)] {
            let passed_as = store
                .passed_as(&format!("defined as {test}"), None)
                .unwrap();
            assert_eq!(passed_as, passed, "{kind}: {test}");
        }
    }
}

/// One step whose server answers what `answer.txt` holds.
fn project(answer: &str) -> Project {
    let server = python(
        r#"
def call(request):
    text = open("answer.txt").read()
    answer(request, {"content": [{"type": "text", "text": text}], "isError": False})
serve(call)
"#,
    );
    let project = Project::with(&format!(
        "version: 1\nname: sums\nservers: {{ s: {server} }}\nsteps:\n  - {{ id: sum, server: s, \
         tool: work, args: {{}}, expect: {{ text: {{ equals: \"3\" }} }} }}\n"
    ));
    project.write("answer.txt", answer);
    project
}

fn run_with(project: &Project, args: &[&str], url: &str) -> (Run, String) {
    let args = [&["run", "plan.yaml", "--format", "json"], args].concat();
    let ended = with_history(project, &args, url).output();
    // Some warnings stand in the result.
    let said = format!("{}{}", ended.stderr, ended.stdout);
    (Run::of(project, ended), said)
}

fn spools(project: &Project) -> Vec<PathBuf> {
    let folders = fs::read_dir(project.path("reports")).unwrap();
    let files = folders.map(|entry| entry.unwrap().path());
    let real = files.filter(|path| !path.is_symlink());
    real.map(|path| path.join(SPOOL))
        .filter(|path| path.is_file())
        .collect()
}

#[test]
fn blame_rests_on_what_another_machine_saw() {
    let Some(database) = database() else { return };
    let here = project("3");
    run_with(&here, &[], &database.url()).0.ends(0, "passed");
    // The same plan in another folder, and a server that answers otherwise.
    let there = project("4");
    let (regressed, stderr) = run_with(&there, &[], &database.url());
    regressed.ends(1, "code_failure");
    let diagnosis = &regressed.last().failure("sum")["diagnosis"];
    assert_eq!(diagnosis["standing"], "passed_before", "{stderr}");
    assert_eq!(database.value("select count(*) from jelly.runs"), "2");

    // Another expectation has never held.
    there.write(
        "plan.yaml",
        here.read("plan.yaml").replace("\"3\"", "\"5\""),
    );
    let (changed, _) = run_with(&there, &[], &database.url());
    let diagnosis = &changed.last().failure("sum")["diagnosis"];
    assert_eq!(diagnosis["standing"], "never_passed");
}

#[test]
fn a_shard_that_is_repeated_is_a_run_of_its_own() {
    let Some(database) = database() else { return };
    let project = project("3");
    let shard = ["--shard", "1/1", "--run-key", "r"];
    for attempt in ["1", "1", "2"] {
        let args = [&shard[..], &["--run-attempt", attempt]].concat();
        run_with(&project, &args, &database.url());
    }
    let kept = "select string_agg(concat(run_key, ' ', attempt, ' ', shard, '/', shards), ', ' \
                order by id) from jelly.runs";
    assert_eq!(database.value(kept), "r 1 1/1, r 1 1/1, r 2 1/1");
    assert_eq!(database.value("select count(*) from jelly.results"), "3");
}

/// Nobody named the run: the same plans are run again, on another day, it may be.
#[test]
fn a_shard_of_a_run_without_a_name_counts_each_time() {
    let project = project("3");
    for _ in 0..2 {
        let args = ["run", "plan.yaml", "--shard", "1/1", "--history", "h.jsonl"];
        assert_eq!(project.jelly(&args).output().code, Some(0));
    }
    let lines = project.read("h.jsonl");
    assert_eq!(lines.lines().count(), 2, "{lines}");
    assert!(!lines.contains("run_key"), "{lines}");
}

/// As long as this is held, each writer is stopped in the middle of a run: before its
/// results, or behind them.
const STOPPING: [&str; 2] = ["results", "definitions"];

#[test]
fn writers_that_are_killed_in_the_middle_leave_no_half_run_and_no_lock() {
    const WRITERS: usize = 8;
    const RUNS: usize = 3;
    const RESULTS: usize = 4;
    let Some(database) = database() else { return };
    let project = Project::empty();
    for writer in 0..WRITERS {
        let file = HistoryFile::new(project.path(&format!("{writer}.jsonl")));
        for at in 0..RUNS {
            let failed = [("a", "dns"), ("b", "tls")];
            let mut run = run(1, "main", &failed, &["c", "d"]);
            run.reports[0].digest = format!("{writer}/{at}");
            file.record(run).unwrap();
        }
    }
    let push = |writer: usize| {
        let file = format!("{writer}.jsonl");
        with_history(&project, &["history", "push", &file], &database.url()).start()
    };
    let others = "from pg_stat_activity where datname = current_database() \
                  and pid <> pg_backend_pid()";
    let half = format!(
        "select count(*) from (select from jelly.runs r left join jelly.results x \
         on x.run_id = r.id group by r.id having count(*) <> {RESULTS}) half"
    );
    for table in STOPPING {
        let held = database.hold(&format!("lock table jelly.{table} in exclusive mode"));
        let writers: Vec<_> = (0..WRITERS).map(push).collect();
        let stopped = format!("select count(*) {others} and wait_event_type = 'Lock'");
        database.wait_for(&stopped, &WRITERS.to_string());
        for writer in writers {
            writer.signal(rustix::process::Signal::KILL);
            assert_ne!(writer.wait().code, Some(0), "it was in the middle");
        }
        assert_eq!(database.value(&half), "0", "{table}");
        drop(held);
        // What they had begun comes to an end without them, one way or the other.
        database.wait_for(&format!("select count(*) {others}"), "0");
        assert_eq!(database.value(&half), "0", "{table}");
    }
    // All of it is repeated, once more than is needed.
    for _ in 0..2 {
        let writers: Vec<_> = (0..WRITERS).map(push).collect();
        for writer in writers {
            let ended = writer.wait();
            assert_eq!(ended.code, Some(0), "{}", ended.stderr);
        }
    }
    let count = |table: &str| database.value(&format!("select count(*) from jelly.{table}"));
    assert_eq!(count("runs"), (WRITERS * RUNS).to_string());
    assert_eq!(count("reports"), (WRITERS * RUNS).to_string());
    assert_eq!(count("results"), (WRITERS * RUNS * RESULTS).to_string());
    assert_eq!(count("tests"), "4");
    assert_eq!(database.value(&half), "0");
    let locks = "select count(*) from pg_locks l join pg_class c on c.oid = l.relation \
                 where c.relnamespace = 'jelly'::regnamespace";
    assert_eq!(database.value(locks), "0");
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_full_disk_costs_a_warning_and_what_it_did_not_take_is_delivered_once() {
    let Some(mut server) = PostgresServer::start() else {
        return;
    };
    let database = server.database();
    database.migrate();
    let file = database.value("select pg_relation_filepath('jelly.results')");
    server.stop();
    server.fill_up(&file);
    server.resume();
    let project = project("3");
    for kept in 1..=2 {
        let (full, said) = run_with(&project, &[], &database.url());
        full.ends(0, "passed");
        assert!(said.contains("No space left on device"), "{said}");
        assert!(said.contains("jelly history push"), "{said}");
        assert_eq!(spools(&project).len(), kept);
    }
    for table in ["runs", "reports", "tests", "definitions", "projects"] {
        let count = format!("select count(*) from jelly.{table}");
        assert_eq!(database.value(&count), "0", "half a run in {table}");
    }
    let push = || with_history(&project, &["history", "push", "reports"], &database.url()).output();
    let early = push();
    assert_eq!(early.code, Some(2), "{}", early.stderr);
    assert!(early.stderr.contains("No space left"), "{}", early.stderr);
    assert_eq!(spools(&project).len(), 2, "they are still there");

    server.stop();
    server.make_room(&file);
    server.resume();
    let delivered = push();
    assert_eq!(delivered.code, Some(0), "{}", delivered.stderr);
    assert!(delivered.stdout.starts_with("2 runs delivered"));
    assert!(spools(&project).is_empty());
    let counts = "select concat((select count(*) from jelly.runs), ' ', \
                  (select count(*) from jelly.results))";
    assert_eq!(database.value(counts), "2 2");
}

#[test]
fn a_hundred_writers_at_once_lose_and_double_nothing() {
    const WRITERS: usize = 100;
    const RUNS: usize = 3;
    const RESULTS: usize = 20;
    let Some(database) = database() else { return };
    let of_writer = |writer: usize, at: usize| {
        let names: Vec<String> = (0..RESULTS)
            .map(|test| format!("t{}", test + writer % 7))
            .collect();
        let (failed, passed) = names.split_at(5);
        let failed: Vec<(&str, &str)> = failed
            .iter()
            .enumerate()
            .map(|(i, name)| (name.as_str(), ["dns", "tls", "odd"][(i + writer) % 3]))
            .collect();
        let passed: Vec<&str> = passed.iter().map(String::as_str).collect();
        let mut run = run(1, ["main", "next"][writer % 2], &failed, &passed);
        run.reports[0].digest = format!("{writer}/{at}");
        run
    };
    let cut = AtomicUsize::new(0);
    thread::scope(|scope| {
        for writer in 0..WRITERS {
            let (database, cut) = (&database, &cut);
            scope.spawn(move || {
                for at in 0..RUNS {
                    let run = of_writer(writer, at);
                    // Some are cut off, and then do again what they did not see end;
                    // others do again what they saw end.
                    let mut again = usize::from(writer % 4 == 0);
                    loop {
                        let store = of(&database.url(), &viewer("main"));
                        match store.record(run.clone()) {
                            Ok(_) if again == 0 => break,
                            Ok(_) => again -= 1,
                            Err(_) => {
                                cut.fetch_add(1, Ordering::Relaxed);
                            }
                        }
                    }
                }
            });
        }
        let database = &database;
        scope.spawn(move || {
            for _ in 0..20 {
                database.execute(
                    "select pg_terminate_backend(pid) from pg_stat_activity \
                     where datname = current_database() and pid <> pg_backend_pid() \
                     order by random() limit 3",
                );
            }
        });
    });
    assert!(cut.load(Ordering::Relaxed) > 0, "some writer was cut off");
    let count = |table: &str| database.value(&format!("select count(*) from jelly.{table}"));
    assert_eq!(count("runs"), (WRITERS * RUNS).to_string());
    assert_eq!(count("reports"), (WRITERS * RUNS).to_string());
    assert_eq!(count("results"), (WRITERS * RUNS * RESULTS).to_string());
    assert_eq!(count("tests"), (RESULTS + 6).to_string());
    assert_eq!(count("causes"), "3");
    let half = "select count(*) from (select from jelly.results group by run_id \
                having count(*) <> 20) half";
    assert_eq!(database.value(half), "0");
    // A session that was ended gives its locks back a moment later, and the
    // server is one for the databases of many tests.
    database.wait_for(
        "select count(*) from pg_locks where locktype = 'advisory' and database = \
         (select oid from pg_database where datname = current_database())",
        "0",
    );
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_database_that_is_down_costs_a_warning_and_is_delivered_to_once() {
    let Some(mut server) = PostgresServer::start() else {
        return;
    };
    let database = server.database();
    database.migrate();
    let project = project("3");
    run_with(&project, &[], &database.url()).0.ends(0, "passed");
    server.stop();
    let (down, stderr) = run_with(&project, &[], &database.url());
    down.ends(0, "passed");
    assert!(stderr.contains("not in the history yet"), "{stderr}");
    assert!(stderr.contains("jelly history push"), "{stderr}");
    assert_eq!(spools(&project).len(), 1, "{stderr}");

    let push = || with_history(&project, &["history", "push", "reports"], &database.url()).output();
    let early = push();
    assert_eq!(early.code, Some(2), "{}", early.stderr);
    assert_eq!(spools(&project).len(), 1, "it is still there");

    server.resume();
    assert_eq!(database.value("select count(*) from jelly.runs"), "1");
    let kept = fs::read(&spools(&project)[0]).unwrap();
    let delivered = push();
    assert_eq!(delivered.code, Some(0), "{}", delivered.stderr);
    assert!(
        delivered
            .stdout
            .starts_with("1 run delivered to postgres://"),
        "{}",
        delivered.stdout
    );
    assert!(spools(&project).is_empty());
    // As when the one that delivered was killed before it took the file away.
    project.write(&format!("reports/again/{SPOOL}"), kept);
    let again = push();
    assert!(
        again.stdout.contains("0 runs delivered"),
        "{}",
        again.stdout
    );
    assert!(again.stdout.contains("1 known already"), "{}", again.stdout);
    assert_eq!(database.value("select count(*) from jelly.runs"), "2");
    assert_eq!(database.value("select count(*) from jelly.results"), "2");
}

#[test]
fn what_can_not_be_written_is_kept_and_the_reason_said() {
    let Some(database) = database() else { return };
    let roots = database.roots().display().to_string();
    let tcp = |host: &str, mode: &str| database.tcp_url(host, mode);
    let foreign = tcp("localhost", "verify-full")
        .replace(&roots, &database.other_roots().display().to_string());
    database.execute(
        "create role reader login; grant usage on schema jelly to reader; \
         grant select on all tables in schema jelly to reader",
    );
    let empty = empty_database().unwrap();
    let project = project("3");
    let mut kept = 0;
    let cases = [
        (database.url_of("reader"), "permission denied"),
        (foreign, "invalid peer certificate"),
        (tcp("127.0.0.1", "verify-full"), "not valid for name"),
        (tcp("localhost", "disable"), "no pg_hba.conf entry"),
        (empty.url(), "jelly history migrate"),
        (
            "postgres://u@127.0.0.1:1/x".to_owned(),
            "Connection refused",
        ),
    ];
    for (url, said) in &cases {
        let (run, stderr) = run_with(&project, &[], url);
        run.ends(0, "passed");
        assert!(stderr.contains(said), "{url}: {stderr}");
        assert!(!stderr.contains(PASSWORD), "{url}: {stderr}");
        kept += 1;
        assert_eq!(spools(&project).len(), kept, "{url}: {stderr}");
    }
    // A wrong password, and a schema of the future.
    let url = tcp("localhost", "verify-full");
    let wrong = with_history(&project, &["run", "plan.yaml"], &url)
        .env("PGPASSWORD", "quite-wrong")
        .output();
    assert_eq!(wrong.code, Some(0));
    assert!(
        wrong.stderr.contains("password authentication failed"),
        "{}",
        wrong.stderr
    );
    assert!(!wrong.stderr.contains("quite-wrong"), "{}", wrong.stderr);
    database.execute("update jelly.version set number = 3, oldest_writer = 2");
    let (_, newer) = run_with(&project, &[], &url);
    assert!(newer.contains("install a later jelly"), "{newer}");
    let migrate = with_history(&project, &["history", "migrate"], &url).output();
    assert_eq!(migrate.code, Some(2));
    assert!(
        migrate.stderr.contains("install a later jelly"),
        "{}",
        migrate.stderr
    );
    assert_eq!(database.value("select count(*) from jelly.runs"), "0");

    // One version older still writes, and all that was kept is delivered.
    database.execute("update jelly.version set number = 2, oldest_writer = 1");
    run_with(&project, &[], &url).0.ends(0, "passed");
    assert_eq!(spools(&project).len(), kept + 2);
    let push = with_history(
        &project,
        &["history", "push", "reports"],
        &tcp("127.0.0.1", "verify-ca"),
    );
    let pushed = push.output();
    assert_eq!(pushed.code, Some(0), "{}", pushed.stderr);
    let runs = (kept + 3).to_string();
    assert_eq!(database.value("select count(*) from jelly.runs"), runs);
}

#[test]
fn what_is_typed_wrong_is_refused_before_anything_runs() {
    let project = project("3");
    for (url, said) in [
        ("postgres://u:hunter2@h/x", "holds a password"),
        ("postgres://h/x?password=hunter2", "holds a password"),
        ("postgres://h/x?sslmode=maybe", "sslmode is maybe"),
        ("postgres://h/x?sslkey=a.pem", "sslkey"),
    ] {
        let ended = with_history(&project, &["run", "plan.yaml"], url).output();
        assert_eq!(ended.code, Some(2), "{url}");
        assert!(ended.stderr.contains(said), "{url}: {}", ended.stderr);
        assert!(!ended.stderr.contains("hunter2"), "{}", ended.stderr);
        assert!(!project.exists("reports"), "{url}");
    }
}

#[test]
fn hostile_names_are_names() {
    let Some(stores) = Stores::new() else { return };
    let hostile = [
        "'; drop table jelly.runs; --",
        "\"; delete from jelly.results; --",
        "$1 %s \\ {} \u{202e}",
        "nul\0nul",
    ];
    let long = "x".repeat(20_000);
    let mut viewer = viewer(hostile[0]);
    viewer.project = Some(long.clone());
    let store = of(&stores.database.url(), &viewer);
    let failed: Vec<(&str, &str)> = hostile.iter().map(|text| (*text, *text)).collect();
    let mut run = run(1, hostile[0], &failed, &[&long]);
    run.origin = viewer.clone();
    run.origin.commit = Some(hostile[1].to_owned());
    run.origin.run_key = Some(hostile[3].to_owned());
    store.record(run).unwrap();
    let tests: Vec<TestName> = hostile.iter().map(|test| name(test)).collect();
    let scope = PastScope::Tests {
        tests: &tests,
        before: &[],
    };
    // Long names are cut alike, whoever asks.
    let past = store.past(&scope).unwrap().past;
    for test in &hostile[..3] {
        assert_eq!(state(&past, test, test), Recurrence::Known, "{test}");
    }
    assert_eq!(
        stores.database.value("select count(*) from jelly.results"),
        "5"
    );
}

#[test]
fn old_runs_are_taken_out_with_all_that_is_theirs() {
    let Some(database) = database() else { return };
    let store = of(&database.url(), &viewer("main"));
    for day in 1..=3 {
        store
            .record(run(day, "main", &[("a", "dns")], &["b"]))
            .unwrap();
    }
    let mut today = run(4, "main", &[("a", "dns")], &[]);
    today.at = Some(jiff::Timestamp::now().to_string());
    store.record(today).unwrap();
    let project = Project::empty();
    let prune = ["history", "prune", "--older-than", "30d"];
    let pruned = with_history(&project, &prune, &database.url()).output();
    assert_eq!(pruned.stdout, "3 runs taken out\n", "{}", pruned.stderr);
    let count = |table: &str| database.value(&format!("select count(*) from jelly.{table}"));
    assert_eq!(
        [count("runs"), count("reports"), count("results")],
        ["1", "1", "1"]
    );
}

#[test]
fn a_triage_knows_what_is_new_or_says_that_it_does_not() {
    let Some(database) = database() else { return };
    let project = Project::empty();
    let report = |name: &str, failing: &str| {
        format!(
            "<testsuite name=\"shop\" timestamp=\"{name}\"><testcase classname=\"Cart\" \
             name=\"adds\">{failing}</testcase></testsuite>"
        )
    };
    let failing = "<failure message=\"expected 3 but was 4\">AssertionError</failure>";
    project.write("1.xml", report("2026-01-01T00:00:00", failing));
    project.write("2.xml", report("2026-01-02T00:00:00", failing));
    project.write("3.xml", report("2026-01-03T00:00:00", ""));
    let triage = |file: &str, url: &str| {
        let args = ["triage", file, "--fail-on", "new", "--format", "json"];
        with_history(&project, &args, url).output()
    };
    let first = triage("1.xml", &database.url());
    assert_eq!(first.code, Some(1), "{}", first.stderr);
    let second = triage("2.xml", &database.url());
    assert_eq!(second.code, Some(0), "{}", second.stderr);
    let fixed = triage("3.xml", &database.url());
    assert!(fixed.stdout.contains("\"fixed\""), "{}", fixed.stdout);
    assert_eq!(database.value("select count(*) from jelly.results"), "3");

    let blind = triage("1.xml", "postgres://u@127.0.0.1:1/x");
    assert_eq!(blind.code, Some(2), "{}", blind.stderr);
    assert!(blind.stderr.contains("--fail-on new"), "{}", blind.stderr);
    let args = ["triage", "1.xml"];
    let all = with_history(&project, &args, "postgres://u@127.0.0.1:1/x").output();
    assert_eq!(all.code, Some(1), "{}", all.stderr);
    assert!(
        all.stderr.contains("nothing is known of earlier runs"),
        "{}",
        all.stderr
    );
    assert!(project.exists(&format!("reports/{SPOOL}")));
}

/// A fortnight of two projects.
fn fortnight(store: &dyn HistoryStore) {
    let runs = [
        run(1, "main", &[("a", "dns")], &["b"]),
        run(2, "main", &[], &["a", "b"]),
        run(3, "main", &[("a", "dns"), ("b", "tls")], &[]),
        run(4, "main", &[("a", "odd")], &["b"]),
        run(5, "pull/7", &[("a", "dns")], &["b"]),
        run(6, "pull/7", &[], &["a", "b"]),
    ];
    for mut run in runs {
        run.failures.iter_mut().for_each(|failure| {
            if failure.test.name == "b" {
                failure.status = FailureStatus::Flaky;
            }
        });
        store.record(run).unwrap();
    }
    let mut other = run(4, "main", &[("a", "dns")], &["a2"]);
    other.origin.project = Some("acme/other".into());
    other.reports[0].digest = "other".into();
    store.record(other).unwrap();
}

#[test]
fn a_fleet_is_answered_alike_from_both_stores() {
    let Some(stores) = Stores::new() else { return };
    let shop = FleetScope {
        project: Some("acme/shop".into()),
        ..FleetScope::default()
    };
    let mut answers = Vec::new();
    for (kind, store) in stores.seen_from(&viewer("main")) {
        fortnight(&*store);
        let flaky = store.flaky(&shop).unwrap();
        let told: Vec<String> = flaky
            .iter()
            .map(|t| {
                let branch = t.branch.as_deref().unwrap();
                let name = &t.test.name;
                format!(
                    "{name} {branch} {}/{}/{}/{}",
                    t.runs, t.failed, t.flaky, t.changes
                )
            })
            .collect();
        let wanted = ["a main 4/3/0/2", "a pull/7 2/1/0/1", "b main 4/0/1/0"];
        assert_eq!(told, wanted, "{kind}");
        assert_eq!(flaky[0].causes[0].fingerprint, "j2:dns", "{kind}");
        assert_eq!(flaky[0].causes[0].failures, 2, "{kind}");
        assert_eq!(
            flaky[0].last_seen.as_deref(),
            Some("2026-01-04T00:00:00Z"),
            "{kind}"
        );

        let since = FleetScope {
            since: Some("2026-01-03T00:00:00Z".into()),
            ..shop.clone()
        };
        let new = store.new_causes(&since).unwrap();
        let prints: Vec<&str> = new.iter().map(|cause| cause.fingerprint.as_str()).collect();
        assert_eq!(prints, ["j2:odd", "j2:tls"], "{kind}: dns was there before");
        let of_branch = |branch: &str| {
            let branch = Some(branch.to_owned());
            let since = since.clone();
            store.new_causes(&FleetScope { branch, ..since }).unwrap()
        };
        assert_eq!(of_branch("main").len(), 2, "{kind}");
        assert_eq!(of_branch("pull/7"), [], "{kind}: dns was on main before");
        assert_eq!(
            new[0].first_commit.as_deref(),
            Some(&*format!("{:040x}", 4)),
            "{kind}"
        );
        let commit = format!("{:040x}", 3);
        let began = store.commit_seen(&shop, &commit).unwrap();
        assert_eq!(began.as_deref(), Some("2026-01-03T00:00:00Z"), "{kind}");
        assert_eq!(store.commit_seen(&shop, "fffffff").unwrap(), None, "{kind}");

        let everywhere = FleetScope::default();
        let accounts = store.accounts(&everywhere, "j2:dn").unwrap();
        let of: Vec<Option<&str>> = accounts.iter().map(|a| a.project.as_deref()).collect();
        assert_eq!(of, [Some("acme/other"), Some("acme/shop")], "{kind}");
        let dns = &accounts[1];
        assert_eq!(
            (dns.runs, dns.failures, dns.commits.len()),
            (3, 3, 3),
            "{kind}"
        );
        assert_eq!(dns.branches[0].branch.as_deref(), Some("pull/7"), "{kind}");
        assert_eq!(dns.tests[0].test, name("a"), "{kind}");

        let slow = store.slow(&shop).unwrap();
        let took: Vec<(&str, u64, u64, u32)> = slow
            .iter()
            .map(|t| (t.test.name.as_str(), t.median_ms, t.max_ms, t.results))
            .collect();
        assert_eq!(took, [("a", 20, 20, 6), ("b", 10, 20, 6)], "{kind}");

        let mut exported = Vec::new();
        store
            .export(&shop, &mut |lot| {
                exported.extend(lot);
                true
            })
            .unwrap();
        assert_eq!(exported.len(), 12, "{kind}");
        answers.push((flaky, new, accounts, slow, exported));
    }
    assert_eq!(answers[0], answers[1]);
}

#[test]
fn the_questions_are_commands_and_a_page() {
    let Some(stores) = Stores::new() else { return };
    for (_, store) in stores.seen_from(&viewer("main")) {
        let mut hostile = run(1, "main", &[("=1+1", "dns")], &["a|b, \"c\""]);
        hostile.reports[0].digest = "hostile".into();
        fortnight(&*store);
        store.record(hostile).unwrap();
    }
    let project = Project::empty();
    let mut said = Vec::new();
    for place in [stores.file().display().to_string(), stores.database.url()] {
        let ask = |args: &[&str]| {
            let args = [&["history"], args].concat();
            let ended = with_history(&project, &args, &place).output();
            assert_eq!(ended.code, Some(0), "{args:?}: {}", ended.stderr);
            ended.stdout
        };
        let flaky = ask(&["flaky", "--project", "acme/shop", "--branch", "main"]);
        assert!(
            flaky.contains("plan > server > a") && !flaky.contains("pull/7"),
            "{flaky}"
        );
        let markdown = ask(&["slow", "--format", "md"]);
        assert!(markdown.starts_with("| test | project |"), "{markdown}");
        let mut all = vec![flaky, markdown];
        for question in [
            &["flaky", "--format", "json"][..],
            &["new", "--since", "2026-01-03", "--format", "json"],
            &["new", "--since", &format!("{:040x}", 3), "--format", "json"],
            &["cause", "dns", "--format", "json"],
            &["cause", "j2:dns"],
            &["cause", "dns", "--format", "md"],
            &["slow", "--format", "json", "--limit", "1"],
            &["export"],
            &["export", "--format", "csv"],
            &["export", "--durations"],
        ] {
            all.push(ask(question));
        }
        let csv = &all[10];
        assert!(csv.contains(",\"'=1+1\",failure,20,"), "{csv}");
        assert!(csv.contains(",\"a|b, \"\"c\"\"\",passed,10,"), "{csv}");
        ask(&["page", "--output", "page.html"]);
        let page = project.read("page.html");
        assert!(
            page.contains("<svg") && page.contains("aria-label=\"3 of 4\""),
            "{page}"
        );
        said.push(all);
    }
    for (file, database) in said[0].iter().zip(&said[1]) {
        assert_eq!(file, database);
    }
    let file = stores.file().display().to_string();
    for (args, said) in [
        (
            &["history", "new", "--since", "yesterday"][..],
            "--since yesterday",
        ),
        (&["history", "cause", "nothing"], "no cause"),
        (&["history", "migrate"], "the history is a file"),
        (
            &["history", "prune", "--older-than", "1d"],
            "the history is a file",
        ),
    ] {
        let ended = with_history(&project, args, &file).output();
        assert_eq!(ended.code, Some(2), "{args:?}");
        assert!(ended.stderr.contains(said), "{}", ended.stderr);
    }
}
