#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &[u8]| jelly_fuzz_checks::schema::check(input));
