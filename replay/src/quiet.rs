//! Whether the machine does something else: campaigns can wait until it does not.

use std::time::Duration;

/// Jiffies of all processors: those that worked, and all.
fn jiffies() -> Option<(u64, u64)> {
    let text = std::fs::read_to_string("/proc/stat").ok()?;
    let line = text.lines().next()?.strip_prefix("cpu ")?;
    let fields: Vec<u64> = line.split_whitespace().filter_map(|f| f.parse().ok()).collect();
    // user, nice, system, idle, iowait, irq, softirq, steal; guest time is in user already.
    let all: u64 = fields.iter().take(8).sum();
    let idle = fields.get(3)? + fields.get(4)?;
    Some((all - idle, all))
}

/// The share of all processors' time that is used over such a time, while this thread sleeps. None where
/// the system does not say.
pub fn busy_share(over: Duration) -> Option<f64> {
    let before = jiffies()?;
    std::thread::sleep(over);
    let after = jiffies()?;
    let all = after.1.checked_sub(before.1).filter(|all| *all > 0)?;
    Some((after.0 - before.0) as f64 / all as f64)
}

/// A machine of which less than this share is used is quiet.
pub const QUIET_SHARE: f64 = 0.05;

/// Waits until a second is quiet, `stop` says so, or the system does not tell.
pub fn wait(stop: impl Fn() -> bool, say: impl FnOnce()) {
    let mut say = Some(say);
    while !stop() {
        match busy_share(Duration::from_secs(1)) {
            Some(share) if share >= QUIET_SHARE => {
                if let Some(say) = say.take() {
                    say();
                }
            }
            _ => break,
        }
    }
}
