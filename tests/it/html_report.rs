//! `--report html=FILE`: what a person sees of it in a browser.

use crate::support::{Ended, Project};
use serde_json::{Value, json};
use std::fs;
use std::io::Write as _;
use std::path::{Path, PathBuf};
use std::process::Command;

/// Words that would do something, were they not escaped.
const HOSTILE: &str = "</details><script>document.title='owned'</script><img src=http://127.0.0.1:9/x> \
                       ]]> \u{202e}txt \u{1b}[31mred\u{1b}[0m & \" '";

/// One server that is well and gives wrong answers, one that does not start.
fn failing_plan() -> String {
    let step = |id: &str, expect: &str| {
        format!(
            "  - {{ id: {id}, server: m, tool: echo, args: {{ message: hi }}, expect: {expect} }}\n"
        )
    };
    format!(
        "version: 1\nname: shop smoke\nservers:\n  m: {{ command: jelly, args: [mock] }}\n  gone: {{ \
         command: jelly, args: [mock, --fault, \"exit=7\", --stderr, {}] }}\nsteps:\n{}{}{}{}",
        json!(HOSTILE),
        step("greets", "{ text: { equals: hi } }"),
        step("shouts", "{ text: { equals: HI } }"),
        step(
            "answers",
            "{ text: { contains: thanks }, json: [ { path: $.x, equals: 5 } ] }"
        ),
        "  - { id: lost, server: gone, tool: echo, args: { message: hi } }\n",
    )
}

/// JUnit XML of so many failures, a tenth of them of one cause.
fn report_of(failures: usize) -> String {
    let escaped = HOSTILE
        .replace('\u{1b}', "")
        .replace('&', "&amp;")
        .replace('<', "&lt;");
    let escaped = escaped.replace('"', "&quot;").replace("]]>", "]]&gt;");
    let mut report = String::from("<testsuite name='shop'>");
    for n in 0..failures {
        let message = match n % 10 {
            0 => "connect ECONNREFUSED 127.0.0.1:5432".to_owned(),
            1 => format!("AssertionError: {escaped} {n}"),
            _ => format!("AssertionError: expected {n} to be {}", n + 1),
        };
        report.push_str(&format!(
            "<testcase classname='shop.Case{}' name='adds {n}'><failure type='AssertionError' \
             message=\"{message}\">{}</failure></testcase>",
            n % 40,
            "  at cart.js:12:3\n".repeat(6)
        ));
    }
    report + "</testsuite>"
}

fn jelly(project: &Project, args: &[&str]) -> Ended {
    project.jelly(args).output()
}

fn json_of(project: &Project, file: &str) -> Value {
    serde_json::from_slice(&fs::read(project.path(file)).unwrap()).unwrap()
}

/// Its path, or none where the machine has none.
fn chromium() -> Option<PathBuf> {
    let named = std::env::var_os("CHROMIUM").map(PathBuf::from);
    let names = ["chromium", "chromium-browser", "google-chrome"];
    let path = std::env::var_os("PATH").unwrap_or_default();
    let found = || {
        std::env::split_paths(&path)
            .flat_map(|folder| names.map(|name| folder.join(name)))
            .find(|file| file.is_file())
    };
    let there = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/browser/node_modules");
    let found = named.or_else(found).filter(|_| there.is_dir());
    if found.is_none() {
        // Past the test harness, which keeps what a passing test prints.
        let _ = std::io::stderr().write_all(
            b"SKIPPED: no Chromium (or ./fixtures/setup has not run), so the HTML report was not \
              looked at in a browser; `apt-get install chromium` brings one\n",
        );
    }
    found
}

/// What a person finds on a page.
fn look(chromium: &Path, page: &Path, pictures: Option<&Path>) -> Value {
    let script = Path::new(env!("CARGO_MANIFEST_DIR")).join("fixtures/browser/look.mjs");
    let looked = Command::new("node")
        .arg(script)
        .arg(chromium)
        .arg(page)
        .args(pictures)
        .output()
        .unwrap();
    let stderr = String::from_utf8_lossy(&looked.stderr);
    assert!(looked.status.success(), "{stderr}");
    serde_json::from_slice(&looked.stdout).unwrap_or_else(|error| panic!("{error}: {stderr}"))
}

/// What holds of every page that has failures.
fn holds(seen: &Value, failures: usize) {
    assert_eq!(seen["failures"], failures);
    assert_eq!(seen["complaints"], json!([]));
    assert_eq!(seen["requests"], json!([]));
    assert_eq!(seen["scripts"], 1);
    assert_eq!(seen["slash_focuses"], "search");
    let after = seen["after_search"].as_str().unwrap();
    let (shown, all) = after
        .strip_suffix(" shown")
        .unwrap()
        .split_once(" of ")
        .unwrap();
    assert_eq!(all, failures.to_string());
    let shown: usize = shown.parse().unwrap();
    assert!(
        0 < shown && shown < failures,
        "{after}: {}",
        seen["searched"]
    );
    assert_eq!(seen["hidden_by_search"], failures - shown);
    assert_eq!(
        seen["after_escape"],
        format!("{failures} of {failures} shown")
    );
    assert_eq!(seen["j_focuses"], 0);
    assert_eq!(seen["enter_opens"], true);
    assert_eq!(seen["keys_can_be_turned_off"], true);
    assert_eq!(seen["link_unfolds"], true);
    assert_eq!(seen["wider_than_a_phone"], 0);
}

#[test]
fn the_page_of_a_run_works_in_a_browser() {
    let project = Project::empty();
    project.write("plan.yaml", failing_plan());
    let ended = jelly(
        &project,
        &[
            "run",
            "plan.yaml",
            "--report",
            "html=out/run.html",
            "--report",
            "json=run.json",
        ],
    );
    let page = project.path("out/run.html");
    assert!(fs::metadata(&page).unwrap().len() < 1 << 20);
    assert!(ended.code == Some(1), "{}", ended.stderr);
    let results = json_of(&project, "run.json");
    let first = &results["plans"][0]["iterations"][0];
    let moment = |of: &Value, name: &str| of[name].as_f64().unwrap_or_else(|| panic!("{of}"));
    let server = &first["servers"][0];
    let (began, ended) = (moment(server, "started_ms"), moment(server, "ended_ms"));
    let ran = first["steps"]
        .as_array()
        .unwrap()
        .iter()
        .filter(|s| s["server"] == "m");
    let ran: Vec<f64> = ran.map(|step| moment(step, "started_ms")).collect();
    assert!(
        began < ran[0] && ran.is_sorted() && ran[2] < ended,
        "{first}"
    );
    assert!(moment(&first["servers"][1], "ended_ms") > 0.0, "{first}");
    let Some(chromium) = chromium() else { return };
    let seen = look(&chromium, &page, None);
    let iterations = results["plans"][0]["iterations"].as_array().unwrap();
    let failures = iterations
        .iter()
        .flat_map(|i| i["failures"].as_array().unwrap());
    let failures: Vec<&Value> = failures.collect();
    holds(&seen, failures.len());
    assert_eq!(seen["faults"], json!([]));
    assert!(
        seen["totals"]
            .as_str()
            .unwrap()
            .starts_with("4 steps: 1 passed, 2 failed, 1 blocked")
    );
    let shown = seen["texts"].to_string();
    for failure in failures {
        let diagnosis = &failure["diagnosis"];
        assert!(shown.contains(diagnosis["fingerprint"].as_str().unwrap()));
        assert!(shown.contains(diagnosis["root_cause"].as_str().unwrap()));
    }
}

#[test]
fn a_page_shows_how_a_test_ended_before() {
    let project = Project::empty();
    let args = ["--history", "h.jsonl", "--report", "html=page.html"];
    for name in ["one.xml", "two.xml", "three.xml"] {
        let report = report_of(3).replace("cart.js", name);
        project.write(
            name,
            report.replace("name='adds 2'", &format!("name='adds {name}'")),
        );
        jelly(&project, &[&["triage", name], &args[..]].concat());
    }
    let page = project.read("page.html");
    assert!(page.contains("aria-label=\"failed in 2 runs\""), "{page}");
    assert!(
        page.contains("failed like this in 2 of 2 earlier runs"),
        "{page}"
    );
    assert!(page.contains("href=\"./three.xml\""), "{page}");

    project.write("plan.yaml", failing_plan());
    for _ in 0..2 {
        jelly(&project, &[&["run", "plan.yaml"], &args[..]].concat());
    }
    let page = project.read("page.html");
    assert!(
        page.contains("aria-label=\"passed in 1 earlier run\""),
        "{page}"
    );
    assert!(
        page.contains("aria-label=\"failed in 1 earlier run\""),
        "{page}"
    );
    assert!(
        page.contains("aria-label=\"failed in 2 iterations\""),
        "{page}"
    );
}

#[test]
fn a_page_of_several_plans_and_a_matrix_is_one_page() {
    let project = Project::empty();
    project.write("bad.yaml", failing_plan());
    project.write(
        "good.yaml",
        "version: 1\nname: two revisions\nmatrix: { protocol: [\"2025-06-18\", \"2025-11-25\"] }\n\
         servers: { m: { command: jelly, args: [mock] } }\nsteps:\n\
         \x20 - { id: greets, server: m, tool: echo, args: { message: hi } }\n",
    );
    let ended = jelly(
        &project,
        &[
            "run",
            "bad.yaml",
            "good.yaml",
            "--report",
            "html=out/page.html",
        ],
    );
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let page = project.read("out/page.html");
    let head = page
        .split_once("<h1>")
        .unwrap()
        .1
        .split_once("</h1>")
        .unwrap()
        .0;
    assert!(head.contains("code failure"), "{head}");
    assert!(head.ends_with(" 3 plans, exit code 1"), "{head}");
    assert_eq!(page.matches("<article ").count(), 3);
    for told in [
        "Steps by variant",
        "1 step in 2 variants, and no difference.",
        "2025-11-25",
    ] {
        assert!(page.contains(told), "{told}: {page}");
    }
    // The reports of each plan, from where the page lies.
    let (_, address) = page.split_once("href=\"./../reports/").unwrap();
    let (address, _) = address.split_once('"').unwrap();
    assert!(project.path("reports").join(address).is_file(), "{address}");
    let Some(chromium) = chromium() else { return };
    let seen = look(&chromium, &project.path("out/page.html"), None);
    assert_eq!(seen["faults"], json!([]));
    assert_eq!(seen["complaints"], json!([]));
}

#[test]
#[ignore = "takes long: `.ci/full` runs it"]
fn a_page_of_thousands_of_failures_works_in_a_browser() {
    let project = Project::empty();
    project.write("junit.xml", report_of(3000));
    let ended = jelly(
        &project,
        &[
            "triage",
            "junit.xml",
            "--report",
            "html=triage.html",
            "--report",
            "json=triage.json",
        ],
    );
    assert_eq!(ended.code, Some(1), "{}", ended.stderr);
    let page = project.path("triage.html");
    assert!(fs::metadata(&page).unwrap().len() < 5 << 20);
    let Some(chromium) = chromium() else { return };
    let seen = look(&chromium, &page, None);
    holds(&seen, 3000);
    let results = json_of(&project, "triage.json");
    assert_eq!(
        seen["causes"],
        results["clusters"].as_array().unwrap().len()
    );
    let texts = seen["texts"].as_array().unwrap();
    for (failure, text) in results["failures"].as_array().unwrap().iter().zip(texts) {
        let (evidence, text) = (
            &failure["diagnosis"]["evidence"]["text"],
            text.as_str().unwrap(),
        );
        let head: String = evidence.as_str().unwrap().chars().take(40).collect();
        assert!(text.contains(head.trim_end()), "{evidence} in {text}");
        assert!(text.contains(failure["name"].as_str().unwrap()), "{text}");
    }
}

/// `cargo test -p jelly-mcp --test it -- --ignored screenshots` makes them anew.
#[test]
#[ignore = "writes docs/images/*.png"]
fn screenshots_of_the_docs_are_made() {
    let project = Project::empty();
    project.write(
        "shop.yaml",
        "version: 1\nname: shop smoke\nservers:\n  shop: { command: jelly, args: [mock] }\n  stock: { \
         command: jelly, args: [mock, --fault, \"exit=1\", --stderr, \"Error: ENOENT: no such file or \
         directory, stat '/srv/stock'\"] }\nsteps:\n\
         \x20 - { id: greet, server: shop, tool: echo, args: { message: hello }, expect: { text: { equals: hello } } }\n\
         \x20 - { id: total, server: shop, tool: echo, args: { message: \"total: 41.50 EUR\" }, expect: { text: { \
         equals: \"total: 42.50 EUR\" } } }\n\
         \x20 - { id: count, server: stock, tool: echo, args: { message: hi } }\n",
    );
    jelly(&project, &["run", "shop.yaml", "--report", "html=run.html"]);
    let chromium = chromium().unwrap();
    let docs = Path::new(env!("CARGO_MANIFEST_DIR")).join("docs/images");
    look(&chromium, &project.path("run.html"), Some(&docs));
}
