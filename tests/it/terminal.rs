//! `jelly run` on a real terminal, as tmux draws it: at two widths nothing is
//! left of what was drawn meanwhile, and Ctrl-C leaves the cursor where it was.

use crate::support::Project;
use std::io::Write;
use std::process::{Command, Output};
use std::time::{Duration, Instant};

const LIMIT: Duration = Duration::from_secs(40);

/// A server of tmux's own, which ends with this.
struct Tmux<'p> {
    project: &'p Project,
}

impl Tmux<'_> {
    fn say(&self, args: &[&str]) -> Output {
        let socket = self.project.at("../tmux");
        let mut tmux = Command::new("tmux");
        tmux.args(["-S", &socket, "-f", "/dev/null"]).args(args);
        tmux.env_remove("TMUX").env_remove("CI").output().unwrap()
    }

    fn screen(&self) -> String {
        let shown = self.say(&["capture-pane", "-p", "-S", "-"]);
        String::from_utf8_lossy(&shown.stdout).into_owned()
    }

    #[track_caller]
    fn wait_for(&self, what: &str) -> String {
        let begun = Instant::now();
        loop {
            let screen = self.screen();
            if screen.contains(what) {
                return screen;
            }
            assert!(begun.elapsed() < LIMIT, "no {what} in:\n{screen}");
            std::thread::sleep(Duration::from_millis(30));
        }
    }

    fn cursor_is_shown(&self) -> bool {
        let said = self.say(&["display-message", "-p", "#{cursor_flag}"]);
        String::from_utf8_lossy(&said.stdout).trim() == "1"
    }
}

impl Drop for Tmux<'_> {
    fn drop(&mut self) {
        self.say(&["kill-server"]);
    }
}

fn plan(fault: &str) -> String {
    let long = "a-rather-long-name-of-a-server-that-fills-most-of-a-narrow-line";
    format!(
        "version: 1\nname: p\nservers:\n  {long}: {{ command: jelly, args: [mock{fault}], \
         request_timeout: 60s }}\nsteps:\n  - {{ id: a, server: {long}, tool: echo, args: \
         {{ message: hi }} }}\n  - {{ id: b-with-a-name-that-does-not-fit-beside-the-other, \
         server: {long}, tool: echo, args: {{ message: hi }} }}\n"
    )
}

#[test]
fn a_terminal_is_left_as_it_was() {
    if Command::new("tmux").arg("-V").output().is_err() {
        // Past the test harness, which keeps what a passing test prints.
        let _ = std::io::stderr()
            .write_all(b"SKIPPED: tmux is not installed, so no terminal was looked at\n");
        return;
    }
    for width in ["80", "200"] {
        for (fault, interrupted) in [("", false), (", --fault, hang@call", true)] {
            let project = Project::with(&plan(fault));
            let tmux = Tmux { project: &project };
            let jelly = env!("CARGO_BIN_EXE_jelly");
            let path = format!(
                "{}:{}",
                jelly.rsplit_once('/').unwrap().0,
                std::env::var("PATH").unwrap()
            );
            let run = format!(
                "cd '{}'; env -u CI PATH='{path}' jelly run plan.yaml; echo \"EXIT=$?\"; exec cat",
                project.dir().display()
            );
            let began = tmux.say(&["new-session", "-d", "-x", width, "-y", "50", &run]);
            assert!(
                began.status.success(),
                "{}",
                String::from_utf8_lossy(&began.stderr)
            );
            let screen = if interrupted {
                // Both are drawn, and the server hangs.
                let drawn = tmux.wait_for("0/2 steps");
                assert!(drawn.contains("a-rather-long-name"), "{drawn}");
                tmux.say(&["send-keys", "C-c"]);
                tmux.wait_for("EXIT=130")
            } else {
                tmux.wait_for("EXIT=0")
            };
            for stale in [
                "/2 steps", "░", "█", "⠋", "⠙", "⠹", "⠸", "⠼", "⠴", "⠦", "⠧", "⠇", "⠏",
            ] {
                assert!(
                    !screen.contains(stale),
                    "{width}: {stale} is left of:\n{screen}"
                );
            }
            let last = screen.trim_end().lines().last().unwrap();
            assert!(last.starts_with("EXIT="), "{width}: {screen}");
            assert!(
                tmux.cursor_is_shown(),
                "{width}: the cursor is gone:\n{screen}"
            );
            let mut lines = screen.lines();
            assert!(
                lines.all(|line| line.chars().count() <= width.parse().unwrap()),
                "{screen}"
            );
        }
    }
}
