//! What a launch does: it occupies its stream, and the clock kernels write something plausible.

use crate::clock::now_ns;
use crate::state::{Code, State, with_context};
use std::ffi::c_void;
use std::sync::MutexGuard;
use std::time::Duration;

pub fn sleep_until(ns: u64) -> Result<(), Code> {
    std::thread::sleep(Duration::from_nanos(ns.saturating_sub(now_ns())));
    Ok(())
}

/// What frees or unloads waits until nothing runs in the context, as NVIDIA's driver does.
pub fn until_idle() -> Result<(), Code> {
    let until = with_context()?.busy_until;
    sleep_until(until)
}

/// What an empty kernel occupies its stream for.
const LAUNCH_NS: u64 = 2_000;

/// A graph takes a little for itself and for each node.
pub fn launch_graph(
    mut state: MutexGuard<'_, State>,
    graph: usize,
    stream: usize,
) -> Result<(), Code> {
    let nodes = state.graphs.get(&graph).ok_or(Code::InvalidHandle)?.len() as u64;
    state.launches += 1;
    state.graph_launches += 1;
    let hangs = state.launches == state.config.hangs;
    state.occupy(stream, if hangs { u64::MAX / 2 } else { LAUNCH_NS + 500 * nodes })
}

pub unsafe fn launch(
    mut state: MutexGuard<'_, State>,
    function: usize,
    grid: [u32; 3],
    threads: u32,
    stream: usize,
    params: *mut *mut c_void,
) -> Result<(), Code> {
    let name = function.checked_sub(1).and_then(|at| state.kernels.get(at)).cloned();
    let name = name.ok_or(Code::InvalidHandle)?;
    if grid.contains(&0) || grid[1] > 65_535 || grid[2] > 65_535 || threads == 0 || threads > 1_024
    {
        return Err(Code::InvalidValue);
    }
    if state.captured(stream, &name)? {
        return Ok(());
    }
    state.launches += 1;
    if state.launches == state.config.launch_fails {
        return Err(Code::LaunchOutOfResources);
    }
    // SAFETY: the caller gives a pointer for each parameter of the kernel, which are named here as in
    // its source.
    let number = |at: usize| unsafe { (*params.add(at)).cast::<u64>().read_unaligned() };
    // SAFETY: as above.
    let word = |at: usize| unsafe { (*params.add(at)).cast::<u32>().read_unaligned() };
    let begin = state.stream(stream)?.free_at.max(now_ns());
    let busy = match name.as_str() {
        "orr_timed_ns" => {
            let place = state.inside(number(0), 8)?.cast::<u64>();
            // SAFETY: `inside` has found eight bytes there.
            let from = unsafe {
                if word(1) != 0 {
                    place.write_unaligned(begin);
                }
                place.read_unaligned()
            };
            (from + number(2)).saturating_sub(begin)
        }
        // 1 GHz.
        "orr_timed_cycles" => number(0),
        "orr_fma" => u64::from(word(1)) * state.config.fma_ns,
        "orr_timer_values" => {
            let count = word(1) as usize;
            let place = state.inside(number(0), count * 8)?.cast::<u64>();
            for i in 0..count {
                // SAFETY: `inside` has found room for all of them.
                unsafe { place.add(i).write_unaligned(begin + 32 * i as u64) };
            }
            32 * count as u64
        }
        "orr_clock_rate" => {
            let cycles = number(1);
            let place = state.inside(number(0), 32)?.cast::<u64>();
            for (i, value) in [begin, 0, begin + cycles, cycles].into_iter().enumerate() {
                // SAFETY: `inside` has found room for all of them.
                unsafe { place.add(i).write_unaligned(value) };
            }
            cycles
        }
        _ => 0,
    };
    let busy = if state.launches == state.config.hangs { u64::MAX / 2 } else { busy + LAUNCH_NS };
    state.occupy(stream, busy)
}
