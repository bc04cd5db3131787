//! A library that stands in for NVIDIA's `libcuda` where there is no GPU: for tests only.
//!
//! It has one device, whose streams are busy for as long as a made-up law says, on the host's clock. It
//! computes nothing but what the two clock kernels and `orr_timed_ns` write, so **no figure that comes
//! from it says anything about a GPU**. It checks what the real one would refuse: calls without a
//! context, unknown handles, copies beyond an allocation, kernels that the module lacks.
//!
//! Environment variables make it fail:
//!
//! | variable | effect |
//! |---|---|
//! | `ORRERY_STAND_IN_VERSION` | the driver's interface version, 11040 when unset |
//! | `ORRERY_STAND_IN_DEVICES` | the number of devices, 1 when unset |
//! | `ORRERY_STAND_IN_MEMORY_MIB` | device memory, 8192 when unset |
//! | `ORRERY_STAND_IN_LAUNCH_FAILS` | the number of the launch, from 1, that is refused |
//! | `ORRERY_STAND_IN_LOST` | the number of the launch, from 1, after which the device is lost |
//! | `ORRERY_STAND_IN_FMA_NS` | nanoseconds of an iteration of arithmetic, 10 when unset |
//! | `ORRERY_STAND_IN_CAPTURE_FAILS` | the number of the capture, from 1, that fails |
//! | `ORRERY_STAND_IN_HANGS` | the number of the launch, from 1, that never ends |

#![allow(non_snake_case)]
#![expect(
    clippy::missing_safety_doc,
    clippy::too_many_arguments,
    reason = "the contracts are the CUDA driver's"
)]

mod clock;
mod state;
mod work;

use state::{Code, State, current, state, with_context};
use std::ffi::{CStr, c_char, c_int, c_uint, c_void};

/// As much of a result as the caller reads.
type Status = u32;

fn status(result: Result<(), Code>) -> Status {
    result.map_or_else(|code| code as Status, |()| 0)
}

/// Writes one value to the caller's place.
unsafe fn put<T>(place: *mut T, value: T) {
    // SAFETY: the caller of the driver gives a place for one value.
    unsafe { place.write_unaligned(value) };
}

macro_rules! exported {
    ($($(#[$doc:meta])* fn $name:ident($($arg:ident: $type:ty),*) $body:block)*) => {$(
        $(#[$doc])*
        #[doc = "See the CUDA driver's documentation."]
        #[unsafe(no_mangle)]
        pub unsafe extern "C" fn $name($($arg: $type),*) -> Status {
            #[allow(unused_unsafe, reason = "some bodies have nothing unsafe")]
            unsafe fn answer($($arg: $type),*) -> Result<(), Code> {
                // SAFETY: pointers are used as the CUDA driver's documentation says.
                unsafe { $body }
            }
            // SAFETY: as above.
            status(unsafe { answer($($arg),*) })
        }
    )*};
}

exported! {
    fn cuInit(_flags: c_uint) {
        if state().config.devices == 0 {
            return Err(Code::NoDevice);
        }
        state().ready = true;
        Ok(())
    }
    fn cuDriverGetVersion(version: *mut c_int) {
        put(version, state().config.version);
        Ok(())
    }
    fn cuDeviceGetCount(count: *mut c_int) {
        put(count, state().started()?.config.devices);
        Ok(())
    }
    fn cuDeviceGet(device: *mut c_int, ordinal: c_int) {
        let devices = state().started()?.config.devices;
        put(device, if (0..devices).contains(&ordinal) { ordinal } else { return Err(Code::InvalidDevice) });
        Ok(())
    }
    fn cuDeviceGetName(name: *mut c_char, size: c_int, _device: c_int) {
        let text = c"orrery stand-in (no GPU)".to_bytes_with_nul();
        if (size as usize) < text.len() {
            return Err(Code::InvalidValue);
        }
        name.cast::<u8>().copy_from(text.as_ptr(), text.len());
        Ok(())
    }
    fn cuDeviceGetUuid(uuid: *mut [u8; 16], _device: c_int) {
        put(uuid, *b"orrery stand-in.");
        Ok(())
    }
    fn cuDeviceTotalMem_v2(bytes: *mut usize, _device: c_int) {
        put(bytes, state().config.memory_bytes);
        Ok(())
    }
    fn cuDeviceGetAttribute(value: *mut c_int, attribute: c_int, _device: c_int) {
        // Clock rate, multiprocessors, memory clock, compute capability 7.0, memory pools.
        let known = [(13, 1_000_000), (16, 4), (36, 500_000), (75, 7), (76, 0), (115, 0)];
        let found = known.iter().find(|(a, _)| *a == attribute).ok_or(Code::InvalidValue)?;
        put(value, found.1);
        Ok(())
    }
    fn cuDevicePrimaryCtxRetain(context: *mut *mut c_void, device: c_int) {
        state().started()?;
        put(context, (device as usize + 1) as *mut c_void);
        Ok(())
    }
    fn cuDevicePrimaryCtxRelease_v2(_device: c_int) {
        let until = state().busy_until;
        work::sleep_until(until)
    }
    fn cuCtxSetCurrent(context: *mut c_void) {
        current::set(context as usize);
        Ok(())
    }
    fn cuCtxGetCurrent(context: *mut *mut c_void) {
        state().started()?;
        put(context, current::get() as *mut c_void);
        Ok(())
    }
    fn cuCtxGetStreamPriorityRange(least: *mut c_int, greatest: *mut c_int) {
        let _context = with_context()?;
        put(least, 0);
        put(greatest, -5);
        Ok(())
    }
    fn cuStreamCreateWithPriority(stream: *mut usize, _flags: c_uint, _priority: c_int) {
        put(stream, with_context()?.new_stream());
        Ok(())
    }
    fn cuStreamDestroy_v2(stream: usize) {
        with_context()?.streams.remove(&stream).map(drop).ok_or(Code::InvalidHandle)
    }
    fn cuStreamBeginCapture_v2(stream: usize, _mode: c_uint) {
        with_context()?.begin_capture(stream)
    }
    fn cuStreamEndCapture(stream: usize, graph: *mut usize) {
        put(graph, 0);
        put(graph, with_context()?.end_capture(stream)?);
        Ok(())
    }
    fn cuGraphInstantiateWithFlags(executable: *mut usize, graph: usize, _flags: u64) {
        let mut state = with_context()?;
        let nodes = state.graphs.get(&graph).cloned().ok_or(Code::InvalidHandle)?;
        put(executable, state.new_graph(nodes));
        Ok(())
    }
    fn cuGraphUpload(executable: usize, _stream: usize) {
        with_context()?.graphs.get(&executable).map(|_| ()).ok_or(Code::InvalidHandle)
    }
    fn cuGraphLaunch(executable: usize, stream: usize) {
        work::launch_graph(with_context()?, executable, stream)
    }
    fn cuGraphExecDestroy(executable: usize) {
        with_context()?.graphs.remove(&executable).map(drop).ok_or(Code::InvalidHandle)
    }
    fn cuGraphDestroy(graph: usize) {
        with_context()?.graphs.remove(&graph).map(drop).ok_or(Code::InvalidHandle)
    }
    fn cuStreamSynchronize(stream: usize) {
        with_context()?.not_capturing()?;
        let until = with_context()?.stream(stream)?.free_at;
        work::sleep_until(until)
    }
    fn cuEventCreate(event: *mut usize, _flags: c_uint) {
        put(event, with_context()?.new_event());
        Ok(())
    }
    fn cuEventDestroy_v2(event: usize) {
        with_context()?.events.remove(&event).map(drop).ok_or(Code::InvalidHandle)
    }
    fn cuEventRecord(event: usize, stream: usize) {
        let mut state = with_context()?;
        let at = state.stream(stream)?.free_at.max(clock::now_ns());
        *state.events.get_mut(&event).ok_or(Code::InvalidHandle)? = Some(at);
        Ok(())
    }
    fn cuEventQuery(event: usize) {
        match with_context()?.event(event)? {
            Some(at) if at > clock::now_ns() => Err(Code::NotReady),
            _ => Ok(()),
        }
    }
    fn cuEventSynchronize(event: usize) {
        let at = with_context()?.event(event)?;
        work::sleep_until(at.unwrap_or(0))
    }
    fn cuEventElapsedTime(ms: *mut f32, from: usize, to: usize) {
        let state = with_context()?;
        match (state.event(from)?, state.event(to)?) {
            (Some(a), Some(b)) if a.max(b) > clock::now_ns() => Err(Code::NotReady),
            (Some(a), Some(b)) => {
                put(ms, (b as f64 - a as f64) as f32 / 1e6);
                Ok(())
            }
            _ => Err(Code::InvalidHandle),
        }
    }
    fn cuMemAlloc_v2(pointer: *mut u64, bytes: usize) {
        put(pointer, with_context()?.allocate(bytes)?);
        Ok(())
    }
    fn cuMemFree_v2(pointer: u64) {
        work::until_idle()?;
        with_context()?.memory.remove(&pointer).map(drop).ok_or(Code::InvalidValue)
    }
    fn cuMemGetInfo_v2(free: *mut usize, total: *mut usize) {
        let state = with_context()?;
        put(total, state.config.memory_bytes);
        // A graph takes 64 KiB.
        let used = state.used() + (state.graphs.len() << 16);
        put(free, state.config.memory_bytes.saturating_sub(used));
        Ok(())
    }
    fn cuMemHostAlloc(pointer: *mut *mut c_void, bytes: usize, _flags: c_uint) {
        put(pointer, with_context()?.pin(bytes) as *mut c_void);
        Ok(())
    }
    fn cuMemFreeHost(pointer: *mut c_void) {
        work::until_idle()?;
        with_context()?.pinned.remove(&(pointer as u64)).map(drop).ok_or(Code::InvalidValue)
    }
    fn cuMemcpyHtoD_v2(to: u64, from: *const u8, bytes: usize) {
        with_context()?.inside(to, bytes)?.copy_from(from, bytes);
        Ok(())
    }
    fn cuMemcpyDtoH_v2(to: *mut u8, from: u64, bytes: usize) {
        let mut state = with_context()?;
        let until = state.streams.values().map(|s| s.free_at).max().unwrap_or(0);
        to.copy_from(state.inside(from, bytes)?, bytes);
        drop(state);
        work::sleep_until(until)
    }
    fn cuMemcpyHtoDAsync_v2(to: u64, from: *const u8, bytes: usize, stream: usize) {
        let mut state = with_context()?;
        state.inside(to, bytes)?.copy_from(from, bytes);
        if state.captured(stream, "copy")? {
            return Ok(());
        }
        // 10 bytes a nanosecond.
        state.occupy(stream, bytes as u64 / 10)
    }
    fn cuModuleLoadData(module: *mut usize, image: *const c_char) {
        let text = CStr::from_ptr(image).to_string_lossy();
        put(module, with_context()?.load(&text)?);
        Ok(())
    }
    fn cuModuleUnload(_module: usize) {
        work::until_idle()
    }
    fn cuModuleGetFunction(function: *mut usize, _module: usize, name: *const c_char) {
        let name = CStr::from_ptr(name).to_string_lossy();
        let at = with_context()?.kernels.iter().position(|k| *k == *name);
        put(function, at.ok_or(Code::NotFound)? + 1);
        Ok(())
    }
    fn cuLaunchKernel(
        function: usize, grid_x: c_uint, grid_y: c_uint, grid_z: c_uint,
        block_x: c_uint, block_y: c_uint, block_z: c_uint, _shared: c_uint,
        stream: usize, params: *mut *mut c_void, _extra: *mut *mut c_void
    ) {
        let grid = [grid_x, grid_y, grid_z];
        let threads = block_x * block_y * block_z;
        work::launch(with_context()?, function, grid, threads, stream, params)
    }
    fn cuGetErrorName(code: c_uint, text: *mut *const c_char) {
        put(text, Code::texts(code)?.0.as_ptr());
        Ok(())
    }
    fn cuGetErrorString(code: c_uint, text: *mut *const c_char) {
        put(text, Code::texts(code)?.1.as_ptr());
        Ok(())
    }
}

/// What was taken and not given back: streams, events, device and pinned memory, graphs. Not CUDA's.
#[unsafe(no_mangle)]
pub extern "C" fn orrery_stand_in_held() -> usize {
    let state: &State = &state();
    let taken = [state.streams.len(), state.events.len(), state.memory.len(), state.pinned.len()];
    taken.iter().sum::<usize>() + state.graphs.len()
}

/// Launches of graphs, those of kernels, and the nodes of the last graph, in order. Not CUDA's.
///
/// # Safety
/// `nodes` is a place for `size` bytes.
#[unsafe(no_mangle)]
pub unsafe extern "C" fn orrery_stand_in_graphs(
    counts: *mut [u64; 2],
    nodes: *mut u8,
    size: usize,
) {
    let state: &State = &state();
    let names = state.graphs.values().next_back().map_or(String::new(), |nodes| nodes.join(" "));
    // SAFETY: the caller's promise.
    unsafe {
        put(counts, [state.graph_launches, state.launches - state.graph_launches]);
        nodes.write_bytes(0, size);
        nodes.copy_from(names.as_ptr(), names.len().min(size.saturating_sub(1)));
    }
}
