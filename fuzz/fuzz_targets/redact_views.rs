#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (&str, &str, &str, Vec<u8>)| jelly_fuzz_checks::redaction::check_views(input));
