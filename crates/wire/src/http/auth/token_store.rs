//! What a login leaves behind: tokens, in a folder of the person's own.
//!
//! Main type: [`TokenStore`]. One file for each resource and issuer, readable
//! by its owner alone, replaced as a whole. Nothing of it is ever shown.

use super::client::{Client, Proof};
use super::error::{AuthError, Stage};
use super::token::Tokens;
use jelly_base::text::human_duration;
use serde::{Deserialize, Serialize};
use sha2::{Digest, Sha256};
use std::fs::{self, File, TryLockError};
use std::io::{self, Write};
use std::path::{Path, PathBuf};
use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, SystemTime, UNIX_EPOCH};
use tokio::task::JoinHandle;
use tokio::time::{sleep, timeout};

/// The form of the files.
const VERSION: u32 = 1;
/// No file of ours is longer.
const MAX_FILE: u64 = 256 * 1024;
/// A token that ends this soon is of no use any more.
const MARGIN: u64 = 10;

/// Between two looks at a lock that another holds.
const LOCK_PAUSE: Duration = Duration::from_millis(20);

/// A folder with a file for each login. Clones know of the same renewals.
#[derive(Debug, Clone)]
pub struct TokenStore {
    folder: PathBuf,
    /// Renewals that are under way.
    under_way: Arc<Mutex<Vec<JoinHandle<()>>>>,
}

/// What one login left behind.
#[derive(Clone, Serialize, Deserialize)]
pub(super) struct Entry {
    version: u32,
    pub resource: String,
    pub issuer: String,
    client_id: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_secret: Option<String>,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    client_method: Option<String>,
    access_token: String,
    #[serde(default, skip_serializing_if = "Option::is_none")]
    refresh_token: Option<String>,
    /// In seconds since 1970.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    expires_at: Option<u64>,
    #[serde(default)]
    pub scopes: Vec<String>,
}

impl Entry {
    pub fn new(
        (resource, issuer): (&str, &str),
        client: &Client,
        tokens: &Tokens,
        asked: &[String],
    ) -> Self {
        Self {
            version: VERSION,
            resource: resource.to_owned(),
            issuer: issuer.to_owned(),
            client_id: client.id.clone(),
            client_secret: match &client.proof {
                Proof::Secret(secret) => Some(secret.clone()),
                // A key stays where it is.
                Proof::Nothing | Proof::Key(_) => None,
            },
            client_method: client.method.clone(),
            access_token: tokens.access.clone(),
            refresh_token: tokens.refresh.clone(),
            expires_at: tokens
                .lifetime
                .and_then(|lifetime| now().checked_add(lifetime.as_secs())),
            scopes: tokens.scopes.clone().unwrap_or_else(|| asked.to_vec()),
        }
    }

    pub fn client(&self) -> Client {
        Client {
            method: self.client_method.clone(),
            ..Client::new(&self.client_id, self.client_secret.clone())
        }
    }

    /// The tokens, the access token only of use if it is not expired.
    pub fn tokens(&self) -> Tokens {
        Tokens {
            access: self.access_token.clone(),
            refresh: self.refresh_token.clone(),
            lifetime: self
                .expires_at
                .map(|at| Duration::from_secs(at.saturating_sub(now()))),
            scopes: Some(self.scopes.clone()),
        }
    }

    pub fn is_expired(&self) -> bool {
        self.expires_at.is_some_and(|at| at <= now() + MARGIN)
    }
}

fn now() -> u64 {
    SystemTime::now()
        .duration_since(UNIX_EPOCH)
        .map_or(0, |since| since.as_secs())
}

impl TokenStore {
    /// In this folder, which is made when it is needed.
    #[must_use]
    pub fn at(folder: impl Into<PathBuf>) -> Self {
        Self {
            folder: folder.into(),
            under_way: Arc::default(),
        }
    }

    /// Remembers a renewal until it is at its end.
    pub(super) fn begin(&self, renewal: JoinHandle<()>) {
        let under_way = self.under_way.lock();
        let mut under_way = under_way.unwrap_or_else(PoisonError::into_inner);
        under_way.retain(|task| !task.is_finished());
        under_way.push(renewal);
    }

    /// Waits for the renewals that are under way, for as long as this: an answer
    /// that nobody is there to keep would be the end of a login.
    pub async fn settled(&self, grace: Duration) {
        let under_way = {
            let under_way = self.under_way.lock();
            std::mem::take(&mut *under_way.unwrap_or_else(PoisonError::into_inner))
        };
        let all = async {
            for task in under_way {
                // Whoever waited for it was told how it went.
                let _ = task.await;
            }
        };
        let _ = timeout(grace, all).await;
    }

    /// Waits until nobody else renews this login. The lock ends with the file
    /// that is returned; none where the file system has no locks.
    pub(super) async fn lock(
        &self,
        resource: &str,
        issuer: &str,
        patience: Duration,
    ) -> Result<Option<File>, AuthError> {
        let path = self.path(resource, issuer).with_extension("lock");
        let failed = |error: &io::Error| {
            let text = format!("the login can't be locked by {}: {error}", path.display());
            AuthError::new(Stage::Login, text)
        };
        let file = open_private(&path).map_err(|error| failed(&error))?;
        let wait = async {
            loop {
                match file.try_lock() {
                    Ok(()) => return Ok(true),
                    Err(TryLockError::WouldBlock) => sleep(LOCK_PAUSE).await,
                    Err(TryLockError::Error(e)) if e.kind() == io::ErrorKind::Unsupported => {
                        return Ok(false);
                    }
                    Err(TryLockError::Error(error)) => return Err(failed(&error)),
                }
            }
        };
        match timeout(patience, wait).await {
            Ok(locked) => locked.map(|locked| locked.then_some(file)),
            Err(_) => {
                let text = format!(
                    "another run renews the same login, and holds {} for more than {}",
                    path.display(),
                    human_duration(patience)
                );
                Err(AuthError::new(Stage::Unreachable, text))
            }
        }
    }

    /// Where the login to a resource by an issuer is kept.
    #[must_use]
    pub fn path(&self, resource: &str, issuer: &str) -> PathBuf {
        let mut hash = Sha256::new();
        // A line feed is part of no URL.
        hash.update(format!("{resource}\n{issuer}"));
        let name: String = hash
            .finalize()
            .iter()
            .take(16)
            .map(|byte| format!("{byte:02x}"))
            .collect();
        self.folder.join(format!("{name}.json"))
    }

    /// The login, if there was one.
    pub(super) fn read(&self, resource: &str, issuer: &str) -> Result<Option<Entry>, AuthError> {
        let path = self.path(resource, issuer);
        let failed = |why: String| {
            let text = format!("the login in {} {why}", path.display());
            AuthError::new(Stage::Login, text)
        };
        let bytes = match read_private(&path) {
            Ok(bytes) => bytes,
            Err(error) if error.kind() == io::ErrorKind::NotFound => return Ok(None),
            Err(error) => return Err(failed(format!("can't be read: {error}"))),
        };
        let entry: Entry = serde_json::from_slice(&bytes)
            .map_err(|_| failed("is damaged; delete the file and log in again".to_owned()))?;
        if entry.version != VERSION {
            return Err(failed("is of another version of jelly".to_owned()));
        }
        let same = entry.resource == resource && entry.issuer == issuer;
        Ok(same.then_some(entry))
    }

    /// Keeps a login in the place of an earlier one.
    pub(super) fn write(&self, entry: &Entry) -> Result<PathBuf, AuthError> {
        let path = self.path(&entry.resource, &entry.issuer);
        self.write_private(&path, entry).map_err(|error| {
            let text = format!("the login can't be kept in {}: {error}", path.display());
            AuthError::new(Stage::Login, text)
        })?;
        Ok(path)
    }

    fn write_private(&self, path: &Path, entry: &Entry) -> io::Result<()> {
        make_private(&self.folder)?;
        // Made with 0600, and seen under its name only when it is whole.
        let mut file = tempfile::NamedTempFile::new_in(&self.folder)?;
        serde_json::to_writer_pretty(&mut file, entry)?;
        file.write_all(b"\n")?;
        file.as_file().sync_all()?;
        file.persist(path).map_err(|error| error.error)?;
        Ok(())
    }
}

/// Makes the folder for its owner alone. One that is there stays as it is: it
/// may hold more than logins, whose files are private by themselves.
#[cfg(unix)]
fn make_private(folder: &Path) -> io::Result<()> {
    use std::os::unix::fs::DirBuilderExt;
    fs::DirBuilder::new()
        .recursive(true)
        .mode(0o700)
        .create(folder)
}

#[cfg(not(unix))]
fn make_private(folder: &Path) -> io::Result<()> {
    fs::create_dir_all(folder)
}

fn open_private(path: &Path) -> io::Result<File> {
    let mut options = fs::OpenOptions::new();
    options.write(true).create(true).truncate(false);
    #[cfg(unix)]
    {
        use std::os::unix::fs::OpenOptionsExt;
        options.mode(0o600);
    }
    options.open(path)
}

fn read_private(path: &Path) -> io::Result<Vec<u8>> {
    use std::io::Read;
    let file = fs::File::open(path)?;
    let facts = file.metadata()?;
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if facts.permissions().mode() & 0o077 != 0 {
            let text = "others on this machine may read it too; delete it and log in again";
            return Err(io::Error::other(text));
        }
    }
    if facts.len() > MAX_FILE {
        return Err(io::Error::other("it is too long to be one of jelly's"));
    }
    let mut bytes = Vec::new();
    file.take(MAX_FILE).read_to_end(&mut bytes)?;
    Ok(bytes)
}

#[cfg(test)]
mod tests {
    use super::{Entry, TokenStore};
    use crate::http::auth::client::Client;
    use crate::http::auth::token::Tokens;
    use std::fs;
    use std::time::Duration;

    fn entry(access: &str) -> Entry {
        let tokens = Tokens {
            access: access.into(),
            refresh: Some("refresh".into()),
            lifetime: Some(Duration::from_secs(3600)),
            scopes: None,
        };
        let client = Client::new("id", Some("secret".into()));
        Entry::new(
            ("https://h/mcp", "https://a"),
            &client,
            &tokens,
            &["s".into()],
        )
    }

    #[test]
    fn a_login_is_kept_for_its_resource_and_issuer_alone() {
        let folder = tempfile::tempdir().unwrap();
        let store = TokenStore::at(folder.path().join("deep/tokens"));
        assert!(store.read("https://h/mcp", "https://a").unwrap().is_none());
        store.write(&entry("first")).unwrap();
        store.write(&entry("second")).unwrap();
        let read = store.read("https://h/mcp", "https://a").unwrap().unwrap();
        assert_eq!(read.tokens().access, "second");
        assert_eq!(read.scopes, ["s"]);
        assert!(!read.is_expired());
        assert_eq!(read.client().id, "id");
        assert!(store.read("https://h/mcp", "https://b").unwrap().is_none());
        assert!(store.read("https://h", "https://a").unwrap().is_none());
    }

    #[cfg(unix)]
    #[test]
    fn nobody_else_can_read_it_and_a_folder_of_others_stays_as_it_is() {
        use std::os::unix::fs::PermissionsExt;
        let mode =
            |path: &std::path::Path| fs::metadata(path).unwrap().permissions().mode() & 0o777;
        let folder = tempfile::tempdir().unwrap();
        let place = folder.path().join("tokens");
        fs::create_dir(&place).unwrap();
        fs::set_permissions(&place, fs::Permissions::from_mode(0o755)).unwrap();
        let store = TokenStore::at(&place);
        let path = store.write(&entry("x")).unwrap();
        assert_eq!(mode(&place), 0o755);
        assert_eq!(mode(&path), 0o600);
        let made = folder.path().join("made/tokens");
        TokenStore::at(&made).write(&entry("x")).unwrap();
        assert_eq!(mode(&made), 0o700);
        assert_eq!(fs::read_dir(&place).unwrap().count(), 1);

        fs::set_permissions(&path, fs::Permissions::from_mode(0o644)).unwrap();
        let refused = store.read("https://h/mcp", "https://a").err().unwrap();
        assert!(refused.text.contains("others on this machine"), "{refused}");
    }

    #[test]
    fn a_damaged_login_is_said_without_a_word_of_it() {
        let folder = tempfile::tempdir().unwrap();
        let store = TokenStore::at(folder.path());
        let path = store.write(&entry("swordfish")).unwrap();
        let text = fs::read_to_string(&path).unwrap();
        fs::write(&path, text.replace("\"version\"", "swordfish")).unwrap();
        let refused = store.read("https://h/mcp", "https://a").err().unwrap();
        assert!(refused.text.contains("is damaged"), "{refused}");
        assert!(!refused.text.contains("swordfish"), "{refused}");
    }
}
