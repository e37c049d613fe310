//! Several reports at the same time, each from its bytes to its part of the
//! account.

use super::account::ReportPart;
use super::collect::Collector;
use super::record_key::{ContentReader, record_key};
use crate::engine::Engine;
use crate::history::{Past, RunOrigin};
use crate::junit::{self, ReaderLimits};
use flate2::bufread::MultiGzDecoder;
use jelly_base::files::open_to_read;
use jelly_base::model::{Fix, ReportSummary};
use jelly_base::text::redact::Redactor;
use std::io::{self, BufRead, BufReader, Cursor, Read};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::thread;
use std::time::UNIX_EPOCH;

/// Bytes that are read of a file at a time.
const BUFFER: usize = 64 << 10;
/// How a file begins that gzip wrote (RFC 1952).
const GZIP: [u8; 2] = [0x1f, 0x8b];

/// Where the bytes of a report come from.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum Input {
    File(PathBuf),
    Stdin,
}

impl Input {
    /// The file, if it is one.
    #[must_use]
    pub fn path(&self) -> Option<&Path> {
        match self {
            Self::File(path) => Some(path),
            Self::Stdin => None,
        }
    }
}

/// One report to be read.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct ReportSource {
    /// As it is printed.
    pub name: String,
    pub input: Input,
}

/// Changes steps of advice.
pub type Adapt = dyn Fn(&mut Vec<Fix>) + Sync;

/// What the reports are read with.
#[derive(Clone, Copy)]
pub struct Tools<'t> {
    pub engine: &'t Engine,
    pub redactor: &'t Redactor,
    /// Reports that are read at the same time.
    pub jobs: usize,
    /// Earlier runs that ask for tests that pass now.
    pub watch: [Option<&'t Past>; 2],
    /// The run will be remembered as one of there, with what its fingerprints
    /// are made of.
    pub origin: Option<&'t RunOrigin>,
    /// The folder in which jelly runs; paths of failures are told from there.
    pub folder: Option<&'t Path>,
    /// Makes advice that the rules give without a look at the project its own.
    pub adapt: Option<&'t Adapt>,
    /// Is told how many reports are read.
    pub on_read: Option<&'t (dyn Fn(usize) + Sync)>,
}

impl<'t> Tools<'t> {
    /// For a run without a past that nobody will remember, a report at a time.
    #[must_use]
    pub fn new(engine: &'t Engine, redactor: &'t Redactor) -> Self {
        Self {
            engine,
            redactor,
            jobs: 1,
            watch: [None, None],
            origin: None,
            folder: None,
            adapt: None,
            on_read: None,
        }
    }
}

/// Reads them all. The parts stand in the order of the sources, whatever
/// thread was done first.
#[must_use]
pub fn read_all(sources: &[ReportSource], tools: Tools<'_>) -> Vec<ReportPart> {
    let next = AtomicUsize::new(0);
    let done = AtomicUsize::new(0);
    let parts: Vec<Mutex<Option<ReportPart>>> = sources.iter().map(|_| Mutex::new(None)).collect();
    let work = || {
        loop {
            let at = next.fetch_add(1, Ordering::Relaxed);
            let (Some(source), Some(slot)) = (sources.get(at), parts.get(at)) else {
                break;
            };
            let part = read_one(source, tools);
            *slot.lock().unwrap_or_else(PoisonError::into_inner) = Some(part);
            let read = done.fetch_add(1, Ordering::Relaxed) + 1;
            if let Some(on_read) = tools.on_read {
                on_read(read);
            }
        }
    };
    let helpers = tools.jobs.min(sources.len()).saturating_sub(1);
    thread::scope(|scope| {
        for _ in 0..helpers {
            scope.spawn(work);
        }
        work();
    });
    parts
        .into_iter()
        .filter_map(|part| part.into_inner().unwrap_or_else(PoisonError::into_inner))
        .collect()
}

/// Reads one report. A file that can't be opened is a report with a problem.
#[must_use]
pub fn read_one(source: &ReportSource, tools: Tools<'_>) -> ReportPart {
    let mut collector = Collector::new(tools, &source.name);
    let mut summary = match open(&source.input) {
        Ok(input) => {
            let mut input = ContentReader::new(input, tools.origin.is_some());
            let limits = ReaderLimits::default();
            let mut summary = junit::read(&mut input, &source.name, &limits, &mut collector);
            summary.record_key = tools.origin.and_then(|origin| {
                let content = input.digest()?;
                let written = || written_at(&source.input);
                record_key(origin, &content, !summary.ran_at.times.is_empty(), written)
            });
            summary
        }
        Err(error) => ReportSummary {
            problem: Some(refusal(&error)),
            ..ReportSummary::default()
        },
    };
    summary.path = tools.redactor.redact(&source.name).into_owned();
    collector.into_part(summary)
}

/// When the file was written, where that is known.
#[must_use]
pub fn written_at(input: &Input) -> Option<String> {
    let written = input.path()?.metadata().ok()?.modified().ok()?;
    let since = written.duration_since(UNIX_EPOCH).ok()?;
    Some(since.as_nanos().to_string())
}

/// Why a file can't be opened, in the words of a person.
fn refusal(error: &io::Error) -> String {
    match error.kind() {
        io::ErrorKind::NotFound => "there is no such file".to_owned(),
        io::ErrorKind::PermissionDenied => "it may not be read".to_owned(),
        io::ErrorKind::IsADirectory => "it is a folder".to_owned(),
        _ => format!("it can't be read: {error}"),
    }
}

/// The report's bytes, unpacked where gzip packed them.
///
/// # Errors
/// It can't be opened, or its first bytes not be read.
pub fn open(input: &Input) -> io::Result<Box<dyn BufRead>> {
    match input {
        Input::File(path) => {
            let file = open_to_read(path)?;
            if file.metadata()?.is_dir() {
                return Err(io::ErrorKind::IsADirectory.into());
            }
            unpacked(BufReader::with_capacity(BUFFER, file))
        }
        Input::Stdin => unpacked(BufReader::with_capacity(BUFFER, io::stdin())),
    }
}

fn unpacked(mut input: impl BufRead + 'static) -> io::Result<Box<dyn BufRead>> {
    let mut head = Vec::with_capacity(GZIP.len());
    input
        .by_ref()
        .take(GZIP.len() as u64)
        .read_to_end(&mut head)?;
    let packed = head == GZIP;
    let whole = Cursor::new(head).chain(input);
    Ok(if packed {
        Box::new(BufReader::with_capacity(BUFFER, MultiGzDecoder::new(whole)))
    } else {
        Box::new(whole)
    })
}
