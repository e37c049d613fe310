#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: &str| jelly_fuzz_checks::package::check(input));
