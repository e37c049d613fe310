use super::{Limits, Store};
use crate::learned::StoreError;
use jelly_base::model::{OutputSeen, Rung};
use serde_json::{Value, json};
use std::fs;
use std::path::Path;
use std::time::Duration;

const NOW: &str = "2026-11-22T12:00:00Z";

fn seen(server: &str, tool: &str, rung: Rung) -> OutputSeen {
    OutputSeen {
        server: server.into(),
        tool: tool.into(),
        rung,
        declared: None,
    }
}

fn read(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).unwrap()).unwrap()
}

#[test]
fn a_store_is_made_with_its_folder_and_written_only_on_change() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join(".jelly/schemas.json");
    let store = Store::new(&path);
    assert!(store.overrides().unwrap().is_empty());
    assert!(!store.learn(&[], NOW).unwrap());
    assert!(!path.exists(), "nothing was learnt");
    let structured = [seen("s", "t", Rung::Structured)];
    assert!(store.learn(&structured, NOW).unwrap());
    let first = fs::read(&path).unwrap();
    assert!(!store.learn(&structured, "later").unwrap());
    // There and back again is no change.
    let both = [
        seen("s", "t", Rung::Generic),
        seen("s", "t", Rung::Structured),
    ];
    assert!(!store.learn(&both, "later").unwrap());
    assert_eq!(fs::read(&path).unwrap(), first);
    let left: Vec<_> = fs::read_dir(path.parent().unwrap()).unwrap().collect();
    assert_eq!(left.len(), 2, "the file and its lock: {left:?}");
}

#[test]
fn what_is_no_store_is_never_written_to() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("schemas.json");
    let store = Store::new(&path);
    for bad in [
        &b"{\"servers\": "[..],
        b"\xff\xfe{}",
        b"[]",
        b"",
        b" \n",
        b"{\"schema_version\": 9}",
    ] {
        fs::write(&path, bad).unwrap();
        let outputs = [seen("s", "t", Rung::Generic)];
        assert!(matches!(store.overrides(), Err(StoreError::Corrupt { .. })));
        assert!(matches!(
            store.learn(&outputs, NOW),
            Err(StoreError::Corrupt { .. })
        ));
        assert_eq!(fs::read(&path).unwrap(), bad);
    }
    fs::remove_file(&path).unwrap();
    fs::create_dir(&path).unwrap();
    assert!(matches!(store.overrides(), Err(StoreError::Corrupt { .. })));
}

#[test]
fn what_a_person_set_is_found_and_what_jelly_wrote_is_not() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("schemas.json");
    let own = json!({"type": "array"});
    let file = json!({"servers": {"s": {"tools": {"t.u": {"outputSchema": own}}}}});
    fs::write(&path, file.to_string()).unwrap();
    let store = Store::new(&path);
    let outputs = [
        seen("s", "t.u", Rung::Generic),
        seen("s", "v", Rung::Generic),
    ];
    assert!(store.learn(&outputs, NOW).unwrap());
    let overrides = store.overrides().unwrap();
    assert_eq!(overrides["s"].len(), 1);
    assert_eq!(overrides["s"]["t.u"], own);
    let tools = &read(&path)["servers"]["s"]["tools"];
    assert_eq!(tools["t.u"]["outputSchema"], own);
    assert_eq!(tools["v"]["outputSchema"]["required"], json!(["result"]));
}

#[test]
fn the_threshold_is_the_one_that_is_set() {
    let home = tempfile::tempdir().unwrap();
    let declared = json!({"type": "object", "required": ["n"]});
    for (threshold, replaced_at) in [(1, 1), (2, 2), (4, 4)] {
        let path = home.path().join(format!("{threshold}.json"));
        let limits = Limits {
            threshold,
            ..Limits::default()
        };
        let store = Store::new(&path).with_limits(limits);
        for count in 1..=4_u32 {
            let output = OutputSeen {
                declared: Some(declared.clone()),
                ..seen("s", "t", Rung::Generic)
            };
            assert!(store.learn(&[output], NOW).unwrap());
            let tool = &read(&path)["servers"]["s"]["tools"]["t"];
            let is_declared = tool["outputSchema"] == declared;
            assert_eq!(is_declared, count < replaced_at, "{threshold} {tool}");
            assert_eq!(tool["declaredOutputSchema"], declared);
        }
    }
}

#[test]
fn who_waits_too_long_for_others_leaves_the_file_alone() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("schemas.json");
    let store = Store::new(&path).with_limits(Limits {
        wait: Duration::ZERO,
        ..Limits::default()
    });
    let held = jelly_process::lock_beside(&path, Duration::ZERO).unwrap();
    let outputs = [seen("s", "t", Rung::Generic)];
    let error = store.learn(&outputs, NOW).unwrap_err();
    assert!(matches!(error, StoreError::Locked { .. }), "{error:?}");
    assert!(!path.exists());
    drop(held);
    assert!(store.learn(&outputs, NOW).unwrap());
}

#[cfg(unix)]
#[test]
fn a_link_is_followed_and_the_files_permissions_stay() {
    use std::os::unix::fs::{PermissionsExt, symlink};
    let home = tempfile::tempdir().unwrap();
    let file = home.path().join("kept/real.json");
    fs::create_dir(file.parent().unwrap()).unwrap();
    fs::write(&file, "{}").unwrap();
    fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
    let link = home.path().join("schemas.json");
    symlink("kept/real.json", &link).unwrap();
    let outputs = [seen("s", "t", Rung::Generic)];
    assert!(Store::new(&link).learn(&outputs, NOW).unwrap());
    assert!(fs::symlink_metadata(&link).unwrap().is_symlink());
    assert_eq!(
        read(&file)["servers"]["s"]["tools"]["t"]["last_adapter"],
        "generic"
    );
    let mode = fs::metadata(&file).unwrap().permissions().mode();
    assert_eq!(mode & 0o777, 0o640);
}

#[cfg(unix)]
#[test]
fn a_link_to_what_is_not_there_yet_is_followed() {
    let home = tempfile::tempdir().unwrap();
    fs::create_dir(home.path().join("kept")).unwrap();
    let (link, second) = (home.path().join("a.json"), home.path().join("b.json"));
    std::os::unix::fs::symlink("b.json", &link).unwrap();
    std::os::unix::fs::symlink("kept/schemas.json", &second).unwrap();
    let outputs = [seen("s", "t", Rung::Structured)];
    assert!(Store::new(&link).learn(&outputs, NOW).unwrap());
    assert!(link.is_symlink() && second.is_symlink());
    assert!(home.path().join("kept/schemas.json").is_file());
}

#[test]
fn a_lock_that_is_no_file_is_not_waited_for() {
    let home = tempfile::tempdir().unwrap();
    let path = home.path().join("schemas.json");
    fs::create_dir(home.path().join("schemas.json.lock")).unwrap();
    let outputs = [seen("s", "t", Rung::Structured)];
    let error = Store::new(&path).learn(&outputs, NOW).unwrap_err();
    assert!(matches!(error, StoreError::Write { .. }), "{error:?}");
}
