//! Which database is meant, and how it is reached: what libpq reads from a URL,
//! the environment and the password file.
//!
//! Main type: [`DatabaseAddress`].

use crate::tls::{Roots, TlsTerms, Verification};
use std::collections::BTreeMap;
use std::fs::File;
use std::io::Read;
use std::path::{Path, PathBuf};
use std::time::Duration;
use thiserror::Error;
use tokio_postgres::Config;
use tokio_postgres::config::{Host, SslMode};

/// A larger password file is not read.
const PASSFILE_MAX: u64 = 1024 * 1024;

/// How long a database may take to answer, where the URL says nothing.
pub const TIME_LIMIT: Duration = Duration::from_secs(10);

/// And at most, in seconds: a job that was told to end waits no longer.
const TIME_LIMIT_MAX: u64 = 60;

/// What in a URL can't be used.
#[derive(Debug, Error, PartialEq, Eq)]
pub enum AddressError {
    #[error(
        "the URL of the history holds a password, which would end in process lists and logs; \
         take it out, and set PGPASSWORD or write a password file"
    )]
    HoldsPassword,

    #[error("the URL of the history is of no use: {0}")]
    Unusable(String),

    #[error("sslmode is {0}; it can be disable, prefer, require, verify-ca or verify-full")]
    NoSuchMode(String),

    #[error(
        "sslmode=allow is not supported, which would try without TLS first; use prefer, which \
         tries with it first"
    )]
    TlsLast,

    #[error(
        "{0} in the URL of the history is not supported: jelly shows no certificate of its own"
    )]
    NoClientCertificates(String),

    #[error("sslrootcert=system wants sslmode=verify-full: any weaker one could be fooled")]
    WeakWithSystemRoots,
}

/// A database and the way to it.
#[derive(Clone)]
pub struct DatabaseAddress {
    pub(crate) config: Config,
    pub(crate) tls: TlsTerms,
    /// What no answer may take longer than.
    pub time_limit: Duration,
    /// As it may be shown.
    pub name: String,
    /// What was passed over, in sentences.
    pub warnings: Vec<String>,
}

impl std::fmt::Debug for DatabaseAddress {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        f.debug_struct("DatabaseAddress")
            .field("name", &self.name)
            .finish_non_exhaustive()
    }
}

impl DatabaseAddress {
    /// Reads a URL, and for what it leaves open the environment.
    ///
    /// # Errors
    /// It can't be used as it is.
    pub fn read(url: &str, env: &BTreeMap<String, String>) -> Result<Self, AddressError> {
        let set = |name: &str| env.get(name).filter(|value| !value.is_empty());
        let (place, query) = url.split_once('?').unwrap_or((url, ""));
        let authority = place.split_once("://").map_or("", |(_, rest)| rest);
        let authority = authority.split('/').next().unwrap_or_default();
        if let Some((user, _)) = authority.rsplit_once('@')
            && user.contains(':')
        {
            return Err(AddressError::HoldsPassword);
        }
        let mut left = Vec::new();
        let mut mode = set("PGSSLMODE").cloned();
        let mut roots = set("PGSSLROOTCERT").cloned();
        let mut passfile = set("PGPASSFILE").cloned();
        let mut time_limit = set("PGCONNECT_TIMEOUT").cloned();
        for pair in query.split('&').filter(|pair| !pair.is_empty()) {
            let (key, value) = pair.split_once('=').unwrap_or((pair, ""));
            match key {
                "password" => return Err(AddressError::HoldsPassword),
                "sslcert" | "sslkey" | "sslpassword" => {
                    return Err(AddressError::NoClientCertificates(key.to_owned()));
                }
                "sslmode" => mode = Some(value.to_owned()),
                "sslrootcert" => roots = Some(decoded(value)),
                "passfile" => passfile = Some(decoded(value)),
                "connect_timeout" => time_limit = Some(value.to_owned()),
                _ => left.push(pair),
            }
        }
        // Letters of a scheme may be large.
        let place = match place.split_once("://") {
            Some((scheme, rest)) => format!("{}://{rest}", scheme.to_ascii_lowercase()),
            None => place.to_owned(),
        };
        let rest = match left.is_empty() {
            true => place,
            false => format!("{place}?{}", left.join("&")),
        };
        // Its own words quote nothing of the URL.
        let mut config: Config = rest
            .parse()
            .map_err(|error: tokio_postgres::Error| AddressError::Unusable(error.to_string()))?;
        if config.get_password().is_some() {
            return Err(AddressError::HoldsPassword);
        }
        fill(&mut config, env);
        let tls = tls_terms(&config, mode.as_deref(), roots.as_deref(), env)?;
        config.ssl_mode(match tls.verification {
            None => SslMode::Disable,
            Some(_) if tls.required => SslMode::Require,
            Some(_) => SslMode::Prefer,
        });
        config.application_name("jelly");
        let mut warnings = Vec::new();
        let time_limit = match time_limit {
            None => TIME_LIMIT,
            Some(text) => match text.parse::<u64>() {
                Ok(0) | Err(_) => {
                    return Err(AddressError::Unusable(format!(
                        "connect_timeout wants seconds, from 1 to {TIME_LIMIT_MAX}"
                    )));
                }
                Ok(seconds) => {
                    if seconds > TIME_LIMIT_MAX {
                        warnings.push(format!(
                            "connect_timeout is more than {TIME_LIMIT_MAX} s, and is taken for \
                             that: nobody should wait for longer"
                        ));
                    }
                    Duration::from_secs(seconds.min(TIME_LIMIT_MAX))
                }
            },
        };
        config.connect_timeout(time_limit);
        match set("PGPASSWORD") {
            Some(password) => {
                config.password(password);
            }
            None => {
                let file = passfile.map(PathBuf::from).or_else(|| {
                    let home = set("HOME")?;
                    Some(Path::new(home).join(".pgpass"))
                });
                if let Some(file) = file
                    && let Some(password) = from_passfile(&file, &config, &mut warnings)
                {
                    config.password(password);
                }
            }
        }
        Ok(Self {
            name: shown(&config),
            config,
            tls,
            time_limit,
            warnings,
        })
    }
}

/// What a URL leaves open.
fn fill(config: &mut Config, env: &BTreeMap<String, String>) {
    let set = |name: &str| env.get(name).filter(|value| !value.is_empty());
    if config.get_user().is_none()
        && let Some(user) = ["PGUSER", "USER", "LOGNAME"].into_iter().find_map(set)
    {
        config.user(user);
    }
    if config.get_dbname().is_none()
        && let Some(name) = set("PGDATABASE").cloned()
    {
        config.dbname(name);
    }
    if config.get_hosts().is_empty() && config.get_hostaddrs().is_empty() {
        match set("PGHOST") {
            Some(host) => config.host(host),
            None if Path::new("/var/run/postgresql").is_dir() => {
                config.host_path("/var/run/postgresql")
            }
            None => config.host("localhost"),
        };
    }
    if config.get_ports().is_empty()
        && let Some(port) = set("PGPORT").and_then(|port| port.parse().ok())
    {
        config.port(port);
    }
}

fn tls_terms(
    config: &Config,
    mode: Option<&str>,
    roots: Option<&str>,
    env: &BTreeMap<String, String>,
) -> Result<TlsTerms, AddressError> {
    let default = || {
        let home = env.get("HOME").filter(|home| !home.is_empty())?;
        let file = Path::new(home).join(".postgresql/root.crt");
        file.is_file().then_some(Roots::File(file))
    };
    let named = match roots {
        Some("system") => Some(Roots::System),
        Some(file) => Some(Roots::File(PathBuf::from(file))),
        None => default(),
    };
    let mode = mode.unwrap_or(match named {
        Some(Roots::System) => "verify-full",
        Some(Roots::File(_)) | None => "prefer",
    });
    if named == Some(Roots::System) && mode != "verify-full" {
        return Err(AddressError::WeakWithSystemRoots);
    }
    // As in libpq, who names roots wants them used.
    let weak = match &named {
        Some(roots) => Verification::Chain(roots.clone()),
        None => Verification::None,
    };
    let strong = named.clone().unwrap_or(Roots::System);
    let (verification, required) = match mode {
        "disable" => (None, false),
        "allow" => return Err(AddressError::TlsLast),
        "prefer" => (Some(Verification::None), false),
        "require" => (Some(weak), true),
        "verify-ca" => (Some(Verification::Chain(strong)), true),
        "verify-full" => (Some(Verification::Full(strong)), true),
        other => return Err(AddressError::NoSuchMode(other.to_owned())),
    };
    let by_socket = config
        .get_hosts()
        .iter()
        .all(|host| matches!(host, Host::Unix(_)));
    let by_socket = by_socket && config.get_hostaddrs().is_empty();
    Ok(TlsTerms {
        // A socket is within the machine.
        verification: verification.filter(|_| !by_socket),
        required,
    })
}

/// The password that the file has for this database, by the first line that fits.
fn from_passfile(file: &Path, config: &Config, warnings: &mut Vec<String>) -> Option<String> {
    let opened = File::open(file).ok()?;
    let about = opened.metadata().ok()?;
    if !about.is_file() {
        warnings.push(format!(
            "{}: it is not a file, and not read",
            file.display()
        ));
        return None;
    }
    #[cfg(unix)]
    {
        use std::os::unix::fs::PermissionsExt;
        if about.permissions().mode() & 0o077 != 0 {
            warnings.push(format!(
                "{}: others may read it, so that it is not used; `chmod 0600 {0}` helps",
                file.display()
            ));
            return None;
        }
    }
    let mut text = String::new();
    let read = opened.take(PASSFILE_MAX).read_to_string(&mut text);
    if let Err(error) = read {
        warnings.push(format!("{}: {error}", file.display()));
        return None;
    }
    let hosts: Vec<String> = match config.get_hosts() {
        [] => config
            .get_hostaddrs()
            .iter()
            .map(ToString::to_string)
            .collect(),
        hosts => hosts.iter().flat_map(names_of_host).collect(),
    };
    let port = config
        .get_ports()
        .first()
        .copied()
        .unwrap_or(5432)
        .to_string();
    let user = config.get_user().unwrap_or_default();
    let database = config.get_dbname().unwrap_or(user);
    text.lines().find_map(|line| {
        let fields = fields_of(line)?;
        let [host, of_port, of_database, of_user, password] = fields;
        let fits = |field: &str, value: &str| field == "*" || field == value;
        let here = host == "*" || hosts.contains(&host);
        let all =
            here && fits(&of_port, &port) && fits(&of_database, database) && fits(&of_user, user);
        all.then_some(password)
    })
}

fn names_of_host(host: &Host) -> Vec<String> {
    match host {
        Host::Tcp(name) => vec![name.clone()],
        #[cfg(unix)]
        Host::Unix(path) => vec![path.display().to_string(), "localhost".to_owned()],
    }
}

/// The first five fields of a line, in which `\` takes its meaning from what
/// follows. What stands behind another colon belongs to none.
fn fields_of(line: &str) -> Option<[String; 5]> {
    if line.starts_with('#') {
        return None;
    }
    let mut fields = vec![String::new()];
    let mut rest = line.chars();
    while let Some(c) = rest.next() {
        let is_last = fields.len() == 5;
        let field = fields.last_mut()?;
        match c {
            '\\' => field.extend(rest.next()),
            ':' if is_last => break,
            ':' => fields.push(String::new()),
            other => field.push(other),
        }
    }
    fields.try_into().ok()
}

/// With `%2F` as `/`.
fn decoded(value: &str) -> String {
    let mut bytes = Vec::with_capacity(value.len());
    let mut rest = value.as_bytes().iter().copied();
    while let Some(byte) = rest.next() {
        let hex = rest.clone().take(2).collect::<Vec<u8>>();
        let hex = Some(hex)
            .filter(|hex| hex.len() == 2)
            .filter(|_| byte == b'%');
        let code = hex.and_then(|hex| u8::from_str_radix(std::str::from_utf8(&hex).ok()?, 16).ok());
        match code {
            Some(code) => {
                bytes.push(code);
                rest.nth(1);
            }
            None => bytes.push(byte),
        }
    }
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Without password and settings.
fn shown(config: &Config) -> String {
    let host = match config.get_hosts().first() {
        Some(Host::Tcp(name)) => name.clone(),
        #[cfg(unix)]
        Some(Host::Unix(path)) => path.display().to_string(),
        None => config
            .get_hostaddrs()
            .first()
            .map_or_else(String::new, ToString::to_string),
    };
    let user = config
        .get_user()
        .map_or_else(String::new, |user| format!("{user}@"));
    let port = config.get_ports().first().filter(|port| **port != 5432);
    let port = port.map_or_else(String::new, |port| format!(":{port}"));
    let database = config
        .get_dbname()
        .or(config.get_user())
        .unwrap_or_default();
    format!("postgres://{user}{host}{port}/{database}")
}

#[cfg(test)]
mod tests {
    use super::{AddressError, DatabaseAddress, decoded, fields_of};
    use std::collections::BTreeMap;
    use std::fs;
    use std::time::Duration;

    fn env(set: &[(&str, &str)]) -> BTreeMap<String, String> {
        let pairs = set.iter();
        pairs
            .map(|(n, v)| ((*n).to_owned(), (*v).to_owned()))
            .collect()
    }

    fn read(url: &str) -> Result<DatabaseAddress, AddressError> {
        DatabaseAddress::read(url, &env(&[("USER", "ann")]))
    }

    #[test]
    fn a_password_in_the_url_is_refused_and_never_shown() {
        for url in [
            "postgres://ann:hunter2@db/x",
            "postgresql://ann:@db/x",
            "postgres://db/x?password=hunter2",
            "postgres://ann:hunter2@db/x?sslmode=odd",
            "postgres://db/x?%70assword=hunter2",
        ] {
            let error = read(url).unwrap_err();
            assert!(!error.to_string().contains("hunter2"), "{error}");
            assert!(!format!("{error:?}").contains("hunter2"), "{error}");
        }
        let address =
            DatabaseAddress::read("postgres://db/x", &env(&[("PGPASSWORD", "hunter2")])).unwrap();
        assert!(!format!("{address:?}").contains("hunter2"));
        assert_eq!(address.config.get_password(), Some(&b"hunter2"[..]));
    }

    #[test]
    fn a_database_is_shown_without_its_settings() {
        let name = |url: &str| read(url).unwrap().name;
        assert_eq!(
            name("postgres://bob@db:6000/x?sslmode=require"),
            "postgres://bob@db:6000/x"
        );
        assert_eq!(name("postgres://db"), "postgres://ann@db/ann");
        assert_eq!(
            name("postgres://%2Ftmp%2Fsocket/x?connect_timeout=2"),
            "postgres://ann@/tmp/socket/x"
        );
        let limit = read("postgres://db/x?connect_timeout=2")
            .unwrap()
            .time_limit;
        assert_eq!(limit, Duration::from_secs(2));
        let long = read("POSTGRES://db/x?connect_timeout=600").unwrap();
        assert_eq!(long.time_limit, Duration::from_secs(60));
        assert!(long.warnings[0].contains("60 s"), "{:?}", long.warnings);
        assert!(read("postgres://db/x?connect_timeout=0").is_err());
        assert!(read("postgres://db/x?sslmode=verify").is_err());
        let last = read("postgres://db/x?sslmode=allow").unwrap_err();
        assert_eq!(last, AddressError::TlsLast);
        assert!(read("postgres://db/x?sslcert=a.pem").is_err());
        assert!(read("postgres://db/x?sslrootcert=system&sslmode=require").is_err());
    }

    #[test]
    fn a_password_file_is_used_where_only_its_owner_may_read_it() {
        use std::os::unix::fs::PermissionsExt;
        let folder = tempfile::TempDir::new().unwrap();
        let file = folder.path().join("pass");
        let lines = "# mine\nother:5432:*:*:no\ndb:*:x:ann:a\\:b:c:d\n*:*:*:*:rest\n";
        fs::write(&file, lines).unwrap();
        let env = env(&[("USER", "ann"), ("PGPASSFILE", &file.display().to_string())]);
        let read = |url: &str| DatabaseAddress::read(url, &env).unwrap();
        fs::set_permissions(&file, fs::Permissions::from_mode(0o640)).unwrap();
        let loose = read("postgres://db/x");
        assert_eq!(loose.config.get_password(), None);
        assert!(
            loose.warnings[0].contains("chmod 0600"),
            "{:?}",
            loose.warnings
        );
        fs::set_permissions(&file, fs::Permissions::from_mode(0o600)).unwrap();
        assert_eq!(
            read("postgres://db/x").config.get_password(),
            Some(&b"a:b"[..])
        );
        assert_eq!(
            read("postgres://db/y").config.get_password(),
            Some(&b"rest"[..])
        );
        // That of the URL counts more than the variable's.
        let other = folder.path().join("other pass");
        fs::write(&other, "*:*:*:*:another\n").unwrap();
        fs::set_permissions(&other, fs::Permissions::from_mode(0o600)).unwrap();
        let named = other.display().to_string().replace(' ', "%20");
        let named = read(&format!("postgres://db/x?passfile={named}"));
        assert_eq!(named.config.get_password(), Some(&b"another"[..]));
    }

    #[test]
    fn fields_and_percent_signs_are_read_as_libpq_does() {
        assert_eq!(fields_of("a:b:c"), None);
        assert_eq!(decoded("%2Fa%20b%"), "/a b%");
    }
}
