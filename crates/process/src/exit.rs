//! The exit of a process, for everybody who wants to know.
//!
//! [`ExitWatch`] is told as soon as the kernel knows; nobody polls, and nobody
//! has to be the one who waits for the child.

use super::{platform, unix};
use jelly_base::model::Exit;
use rustix::process::Pid;
use std::io;
use std::sync::Arc;
use tokio::sync::watch;

/// Tells when, and how, a process ended. Cheap to clone.
///
/// The process ends when its leader does: a grandchild that lives on does not
/// delay the news.
#[derive(Debug, Clone)]
pub struct ExitWatch(Option<watch::Receiver<Option<Exit>>>);

/// The side that tells; the first report counts.
#[derive(Debug, Clone)]
pub(super) struct ExitNews(Arc<watch::Sender<Option<Exit>>>);

impl ExitWatch {
    /// Of a server that is no process of ours: it never exits, as far as
    /// anybody here can know.
    #[must_use]
    pub fn never() -> Self {
        Self(None)
    }

    /// The exit, if it is known by now.
    #[must_use]
    pub fn now(&self) -> Option<Exit> {
        self.0.as_ref().and_then(|news| news.borrow().clone())
    }

    /// Whether the process has ended.
    #[must_use]
    pub fn has_exited(&self) -> bool {
        self.0.as_ref().is_some_and(|news| news.borrow().is_some())
    }

    /// Waits for the exit; at once when it is known already. Cancel safe.
    ///
    /// Neither code nor signal is set in the rare case that the process was
    /// given up without an answer: it did not die within the time that
    /// SIGKILL is given.
    pub async fn wait(&self) -> Exit {
        let Some(mut news) = self.0.clone() else {
            return std::future::pending().await;
        };
        news.wait_for(Option::is_some)
            .await
            .ok()
            .and_then(|exit| exit.clone())
            .unwrap_or_default()
    }
}

impl ExitNews {
    pub(super) fn tell(&self, exit: Exit) {
        self.0.send_if_modified(|known| {
            let first = known.is_none();
            if first {
                *known = Some(exit);
            }
            first
        });
    }
}

/// Starts to watch a child of ours. The child is looked at and not reaped: its
/// pid stays taken, so that its group can be signalled without hitting a
/// stranger, until the owner reaps it.
///
/// # Errors
/// When neither a pidfd nor a thread can be had.
pub(super) fn watch_child(pid: Pid) -> io::Result<(ExitNews, ExitWatch)> {
    let (sender, receiver) = watch::channel(None);
    let news = ExitNews(Arc::new(sender));
    if !platform::watch_by_pidfd(pid, news.clone()) {
        watch_by_thread(pid, news.clone())?;
    }
    Ok((news, ExitWatch(Some(receiver))))
}

/// The way that every unix has: a thread that blocks in `waitid`.
fn watch_by_thread(pid: Pid, news: ExitNews) -> io::Result<()> {
    std::thread::Builder::new()
        .name("exit watch".into())
        .stack_size(64 * 1024)
        .spawn(move || {
            if let Some(exit) = unix::await_exit(pid) {
                news.tell(exit);
            }
        })
        .map(drop)
}

#[cfg(test)]
mod tests {
    use super::{ExitNews, ExitWatch, watch_by_thread};
    use crate::unix;
    use jelly_base::model::Exit;
    use std::sync::Arc;
    use tokio::sync::watch;

    fn unheard() -> (ExitNews, ExitWatch) {
        let (sender, receiver) = watch::channel(None);
        (ExitNews(Arc::new(sender)), ExitWatch(Some(receiver)))
    }

    #[tokio::test]
    async fn a_thread_tells_the_exit_where_there_are_no_pidfds_and_does_not_reap() {
        let mut child = std::process::Command::new("sh")
            .args(["-c", "exit 7"])
            .spawn()
            .expect("it starts");
        let (news, watch) = unheard();
        let pid = unix::pid_of(&child).expect("it has a pid");
        watch_by_thread(pid, news).expect("a thread can be had");
        assert_eq!(watch.wait().await.code, Some(7));
        assert_eq!(child.wait().expect("it was not reaped").code(), Some(7));
    }

    #[tokio::test]
    async fn the_first_report_counts_and_a_lost_one_is_an_exit_without_facts() {
        let (news, watch) = unheard();
        let code = |code| Exit {
            code: Some(code),
            signal: None,
        };
        news.tell(code(1));
        news.tell(code(2));
        assert_eq!(watch.wait().await, code(1));

        let (news, watch) = unheard();
        drop(news);
        assert_eq!(watch.wait().await, Exit::default());
    }
}
