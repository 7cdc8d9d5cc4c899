//! Where the figures were taken: without this line a figure says nothing.

use std::fs;
use std::thread;

/// Returns the number of cores that this process may use.
pub(crate) fn cores() -> usize {
    thread::available_parallelism().map_or(1, usize::from)
}

/// Returns the load average of the last minute; 0 where the system does not tell.
pub(crate) fn load() -> f64 {
    let text = fs::read_to_string("/proc/loadavg").unwrap_or_default();
    let first = text.split_whitespace().next();
    first.and_then(|word| word.parse().ok()).unwrap_or(0.0)
}

/// Returns two lines: the machine, and how this program was built.
pub(crate) fn header() -> String {
    let kernel = fs::read_to_string("/proc/sys/kernel/osrelease").unwrap_or_default();
    let profile = if cfg!(debug_assertions) {
        "dev (not optimised: ratios only)"
    } else {
        "release"
    };
    format!(
        "{} · {} cores · Linux {} · {}\nload {:.2} before the run · profile {profile} · octos-edge {}",
        model(),
        cores(),
        kernel.trim(),
        std::env::consts::ARCH,
        load(),
        env!("CARGO_PKG_VERSION"),
    )
}

fn model() -> String {
    let text = fs::read_to_string("/proc/cpuinfo").unwrap_or_default();
    let named = |line: &str| {
        let (key, value) = line.split_once(':')?;
        // Arm boards name the board, not the processor.
        let known = ["model name", "Model"].contains(&key.trim());
        known.then(|| value.trim().to_owned())
    };
    text.lines()
        .find_map(named)
        .unwrap_or_else(|| "unknown processor".to_owned())
}
