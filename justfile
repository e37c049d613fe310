# Short names for what is also written out in the README and in `.ci/run`.

# What is there
default:
    @just --list

# Install the real servers that the tests use
setup:
    ./fixtures/setup

# Run every test
test: setup
    cargo test

# Format and lints
lint:
    cargo fmt --all -- --check
    cargo clippy --locked --workspace --all-targets -- -D warnings

# The library's documentation, warnings denied
docs:
    RUSTDOCFLAGS="-D warnings" cargo doc --locked --no-deps --workspace

# The book, as HTML in target/book
book:
    docs/build

# The pictures of the documents, and the parts of pages that the program writes
record:
    docs/record
    JELLY_RENEW_DOCS=1 cargo test --test docs

# The pictures of the HTML report, which need Chromium
screenshots:
    cargo test --test it -- --ignored screenshots

# The figures of docs/benchmarks.md
bench: setup
    cargo build --profile dist
    cargo run --profile dist --package jelly-bench

# How well triage judges the labelled failures
score *ARGS:
    cargo run --example score -- --corpus fixtures/corpus {{ARGS}}

# Licences, sources and advisories of all dependencies
deny:
    cargo deny --locked check

# Change the decisions of the loop, one at a time, and see a test fail
mutants:
    cargo mutants --file 'crates/harness/src/triage_loop/{decide,ask,judge,memory,one_side,budget_ledger,standing,verdict}.rs' -- --package jelly-harness --lib triage_loop::tests

# All of what a change must pass
ci:
    .ci/run

# Feed random input to one of `cargo fuzz list` for a minute
fuzz TARGET:
    RUSTC_BOOTSTRAP=1 cargo fuzz run --sanitizer none {{TARGET}} -- -max_total_time=60
