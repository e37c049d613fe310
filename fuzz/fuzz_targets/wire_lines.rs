#![no_main]

use libfuzzer_sys::fuzz_target;

fuzz_target!(|input: (usize, &[u8])| jelly_fuzz_checks::wire::check(input));
