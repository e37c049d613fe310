pub fn main_impl() -> std::process::ExitCode {
    std::process::ExitCode::SUCCESS
}
