//! What a report says against its own figures, in the words by which sums of reports find it.

/// Of a campaign that took what `[quick]` says.
pub const QUICK: &str = "(quick)";
/// Of a campaign by a virtual clock.
pub const UNTIMED: &str = "no device was timed";
/// Of predictions by the profile alone that show nothing.
pub const NOT_A_PRIORI: &str = "Not validated a priori";
/// Of predictions on the machine as it was that show nothing.
pub const NOT_AGAIN: &str = "Not validated re-simulated";

/// Those that a report has.
pub fn of(report: &str) -> Vec<&'static str> {
    let all = [QUICK, UNTIMED, NOT_A_PRIORI, NOT_AGAIN];
    all.into_iter().filter(|remark| report.contains(remark)).collect()
}
