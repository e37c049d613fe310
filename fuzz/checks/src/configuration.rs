//! No text of a client's configuration makes doctor panic, and every place that
//! it names is in the text.

use jelly_setup::doctor::{Platform, read, usual_places};
use std::path::Path;

/// Reads the text as the configuration that the first number chooses.
pub fn check((which, text): (u8, &str)) {
    let places: Vec<_> = usual_places(Platform::current()).collect();
    let name = match places.get(usize::from(which) % (places.len() + 1)) {
        Some(place) => place.path,
        None => "some.json",
    };
    let lines = text.split(['\n', '\r']).count();
    match read(Path::new(name), text, Path::new("/project")) {
        Ok(config) => {
            for entry in &config.entries {
                assert!(entry.place.line >= 1 && entry.place.line <= lines.max(1));
            }
        }
        Err(error) => {
            assert!(!error.to_string().is_empty());
            if let Some(place) = error.place {
                assert!(place.line >= 1);
            }
        }
    }
}
