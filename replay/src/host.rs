//! The machine that a replay runs on, and the date, for the record.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};
use std::time::{SystemTime, UNIX_EPOCH};

/// A machine.
#[derive(Clone, Debug, Default, Deserialize, Serialize, PartialEq, JsonSchema)]
pub struct Host {
    /// The processor's name.
    pub cpu: String,
    /// Hardware threads that this program may use.
    pub threads: usize,
    /// System and its release.
    pub system: String,
    /// Load averages over 1, 5 and 15 minutes when it was looked at; empty where unknown.
    pub load_average: String,
}

impl Host {
    /// This machine, now.
    pub fn here() -> Host {
        let read = |path: &str| std::fs::read_to_string(path).unwrap_or_default();
        let info = read("/proc/cpuinfo");
        let cpu = info.lines().find_map(|l| l.strip_prefix("model name")?.split_once(": "));
        let release = read("/proc/sys/kernel/osrelease");
        let load = read("/proc/loadavg");
        Host {
            cpu: cpu.map_or("unknown", |c| c.1.trim()).to_string(),
            threads: crate::threads::cores().len(),
            system: format!("{} {}", std::env::consts::OS, release.trim()).trim().to_string(),
            load_average: load.split_whitespace().take(3).collect::<Vec<_>>().join(" "),
        }
    }

    /// The load average over the last minute when it was looked at; none where it is unknown.
    pub fn load(&self) -> Option<f64> {
        self.load_average.split_whitespace().next()?.parse().ok()
    }

    /// In one line.
    pub fn line(&self) -> String {
        let Host { cpu, threads, system, load_average } = self;
        format!("{cpu}, {threads} threads, {system}, load average {load_average}")
    }
}

/// Today, as `2026-11-21`, in UTC.
pub fn today() -> String {
    let since = SystemTime::now().duration_since(UNIX_EPOCH).map_or(0, |d| d.as_secs());
    date_of(since / 86_400)
}

/// The date of a day, counted from 1970-01-01 (proleptic Gregorian calendar).
fn date_of(mut day: u64) -> String {
    let leap = |y: u64| match (y.is_multiple_of(4), y.is_multiple_of(100)) {
        (true, true) => y.is_multiple_of(400),
        (four, _) => four,
    };
    let mut year = 1970;
    while day >= 365 + u64::from(leap(year)) {
        day -= 365 + u64::from(leap(year));
        year += 1;
    }
    let lengths = [31, 28 + u64::from(leap(year)), 31, 30, 31, 30, 31, 31, 30, 31, 30, 31];
    let mut month = 0;
    while day >= lengths[month] {
        day -= lengths[month];
        month += 1;
    }
    format!("{year}-{:02}-{:02}", month + 1, day + 1)
}

/// The command line of this process, with the program by its name alone.
pub fn command() -> String {
    let words =
        std::env::args().skip(1).map(|a| if a.contains(' ') { format!("'{a}'") } else { a });
    std::iter::once("orrery-replay".to_string()).chain(words).collect::<Vec<_>>().join(" ")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn dates_by_hand() {
        assert_eq!(date_of(0), "1970-01-01");
        assert_eq!(date_of(11_016), "2000-02-29");
        assert_eq!(date_of(11_017), "2000-03-01");
        assert_eq!(date_of(20_778), "2026-11-21");
    }
}
