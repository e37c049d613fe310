//! Where configurations lie, by operating system.

/// For which system a configuration is.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, clap::ValueEnum)]
pub enum Platform {
    Linux,
    Macos,
    Windows,
}

/// What a path is relative to.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Base {
    Home,
    /// `$XDG_CONFIG_HOME`, `~/.config`.
    Xdg,
    /// Where programs with windows keep what is theirs: the same on Linux,
    /// `~/Library/Application Support` on macOS, `%APPDATA%` on Windows.
    AppData,
    /// The folder that is worked in.
    Project,
}

/// A place where a configuration may lie.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct UsualPlace {
    pub base: Base,
    /// With slashes.
    pub path: &'static str,
    pub platforms: &'static [Platform],
}

pub(super) const ALL: &[Platform] = &[Platform::Linux, Platform::Macos, Platform::Windows];
pub(super) const UNIX: &[Platform] = &[Platform::Linux, Platform::Macos];
pub(super) const WINDOWS: &[Platform] = &[Platform::Windows];

pub(super) const fn on(
    platforms: &'static [Platform],
    base: Base,
    path: &'static str,
) -> UsualPlace {
    UsualPlace {
        base,
        path,
        platforms,
    }
}

pub(super) const fn project(path: &'static str) -> UsualPlace {
    on(ALL, Base::Project, path)
}

pub(super) const fn home(path: &'static str) -> UsualPlace {
    on(ALL, Base::Home, path)
}

pub(super) const fn data(path: &'static str) -> UsualPlace {
    on(ALL, Base::AppData, path)
}

impl Platform {
    /// The one that jelly was built for.
    #[must_use]
    pub fn current() -> Self {
        if cfg!(target_os = "macos") {
            Self::Macos
        } else if cfg!(windows) {
            Self::Windows
        } else {
            Self::Linux
        }
    }
}
