//! No `server.json` makes the reader panic, and what it takes can be resolved
//! or is refused in words.

use jelly_package::{Values, read, resolve};

/// Reads the text, and resolves each package without any value.
pub fn check(text: &str) {
    match read(text) {
        Ok(server) => {
            for package in &server.packages {
                if let Err(troubles) = resolve(package, &Values::default()) {
                    assert!(!troubles.is_empty());
                }
            }
        }
        Err(error) => assert!(!error.to_string().is_empty()),
    }
}
