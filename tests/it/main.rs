//! The program as its users meet it: each test runs the binary in a project
//! folder of its own and looks at exit code, output and reports.
//!
//! One binary for all of them; see `support` for what they stand on.
#![expect(
    clippy::unwrap_used,
    clippy::expect_used,
    reason = "a test that can't go on has failed"
)]

mod support;

mod agent;
mod alike;
mod apply;
mod argument_files;
mod asked;
mod at_once;
mod auth;
mod beside_endpoint;
mod blame;
mod call_tool;
mod check_live;
mod ci_files;
mod ci_systems;
mod cli;
mod conformance;
mod consoles;
mod contracts;
mod coverage;
mod doctor;
mod doctor_clients;
mod doctor_launch;
mod doctor_machine;
mod doctor_mends;
mod doctor_modes;
mod doctor_packages;
mod doctor_real;
mod doctor_remote;
mod doctor_trials;
mod explain;
mod faults;
mod founding;
mod fuzz;
mod green;
mod history;
mod hooks;
mod html_report;
mod http;
mod http_faults;
mod http_named;
mod included;
mod init;
mod init_hollow;
mod init_values;
mod json;
mod junit_corpus;
mod known;
mod ladder;
mod limits;
mod live_rules;
mod logged;
mod lost_results;
mod masked;
mod matrix;
mod mismatches;
mod named_pipes;
mod named_reports;
mod named_servers;
mod notices;
mod numbers;
mod once;
mod one_label;
mod packages;
mod passed_before;
mod pasted;
mod patience;
mod peers;
mod plans;
mod printed_reruns;
mod protocol_slips;
mod proxy;
mod proxy_adapter;
mod proxy_clients;
#[cfg(feature = "serve")]
mod proxy_conformance;
mod proxy_deaths;
mod proxy_faults;
mod proxy_headers;
mod proxy_kills;
mod proxy_listen;
mod proxy_spans;
mod proxy_url;
mod recordings;
mod repeated_steps;
mod reruns;
mod resources;
mod rules;
#[cfg(feature = "postgres")]
mod same_code;
mod same_failure;
mod schemas;
mod secret_forms;
mod secrets;
mod sentences;
#[cfg(feature = "serve")]
mod serve;
#[cfg(feature = "serve")]
mod serve_agent;
#[cfg(feature = "serve")]
mod serve_bounds;
#[cfg(feature = "serve")]
mod serve_clients;
#[cfg(feature = "serve")]
mod serve_http;
mod servers;
mod services;
mod settings;
mod shards;
#[cfg(feature = "postgres")]
mod shared_history;
mod signals;
mod silent;
mod snapshot;
mod startup;
mod taken_ports;
mod terminal;
mod triage;
mod verbose;
mod watching;
mod wire_check;
mod wrap;
