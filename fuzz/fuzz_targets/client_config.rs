#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (u8, &str)| jelly_fuzz_checks::configuration::check(input));
