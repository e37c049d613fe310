//! Every seed and every finding of the fuzz targets, as an ordinary test.

use jelly_fuzz_checks::{
    configuration, exchange, junit, machine, package, plan, redaction, schema, sse, triage, wire,
};
use std::fs;
use std::path::{Path, PathBuf};

/// The files of `fuzz/seeds/TARGET/`, of which there must be some.
#[track_caller]
fn seeds(target: &str) -> Vec<Vec<u8>> {
    let folder = Path::new(env!("CARGO_MANIFEST_DIR"))
        .join("../seeds")
        .join(target);
    let mut paths: Vec<PathBuf> = fs::read_dir(&folder)
        .unwrap_or_else(|error| panic!("{}: {error}", folder.display()))
        .map(|entry| entry.map(|entry| entry.path()).unwrap_or_default())
        .collect();
    paths.sort();
    assert!(!paths.is_empty(), "{} has no seeds", folder.display());
    let read = |path: PathBuf| {
        fs::read(&path).unwrap_or_else(|error| panic!("{}: {error}", path.display()))
    };
    paths.into_iter().map(read).collect()
}

fn text(bytes: &[u8]) -> String {
    String::from_utf8_lossy(bytes).into_owned()
}

#[test]
fn plans() {
    for seed in seeds("plan_load") {
        plan::check(&text(&seed));
    }
}

#[test]
fn lines_of_the_wire() {
    for seed in seeds("wire_lines") {
        for cut in 0..seed.len().min(200) {
            wire::check((cut, &seed));
        }
    }
}

#[test]
fn streams_of_events() {
    for seed in seeds("sse") {
        for step in 1..20 {
            let cuts = vec![step; seed.len() / usize::from(step)];
            sse::check((&seed, cuts));
        }
    }
}

#[test]
fn secrets_in_pieces_and_in_every_reading() {
    for seed in seeds("redact") {
        let seed = text(&seed);
        let secret = seed.trim_end_matches('\n');
        for step in 1..20 {
            redaction::check_stream((secret, "before ", " after", vec![step; secret.len()]));
            let marks: Vec<u8> = (0..40)
                .map(|at: u8| at.wrapping_mul(7).wrapping_add(step as u8))
                .collect();
            redaction::check_views((secret, "before", "after", marks));
        }
    }
}

#[test]
fn failures() {
    for seed in seeds("triage") {
        triage::check(&seed);
    }
}

#[test]
fn reports() {
    for seed in seeds("junit") {
        junit::check(&seed);
    }
}

#[test]
fn reports_of_other_formats() {
    for seed in seeds("machine_reports") {
        machine::check(&seed);
    }
}

#[test]
fn schemas() {
    for seed in seeds("json_schema") {
        schema::check(&seed);
    }
}

#[test]
fn configurations_of_clients() {
    for seed in seeds("client_config") {
        for which in 0..64 {
            configuration::check((which, &text(&seed)));
        }
    }
}

#[test]
fn definitions_of_servers() {
    for seed in seeds("server_json") {
        package::check(&text(&seed));
    }
}

#[test]
fn answers_over_http() {
    for seed in seeds("http_exchange") {
        exchange::check(&seed);
    }
}
