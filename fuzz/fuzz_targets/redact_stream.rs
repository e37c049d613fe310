#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str, &str, Vec<usize>)| jelly_fuzz_checks::redaction::check_stream(input));
