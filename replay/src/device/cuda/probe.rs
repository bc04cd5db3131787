//! Looks for a CUDA driver and its devices, without ever failing where there are none.
#![allow(unsafe_code)]

use super::cublas;
use super::error::device_error;
use crate::device::DeviceError;
use cudarc::driver::sys::CUdevice_attribute as Attribute;
use cudarc::driver::{DriverError, result, sys};
use serde::Serialize;
use std::fmt;
use std::panic::{AssertUnwindSafe, catch_unwind};

/// The driver's functions that are called, by cudarc or from here.
pub const FUNCTIONS: [&str; 42] = [
    "cuCtxGetCurrent",
    "cuCtxGetStreamPriorityRange",
    "cuCtxSetCurrent",
    "cuDeviceGet",
    "cuDeviceGetAttribute",
    "cuDeviceGetCount",
    "cuDeviceGetName",
    "cuDevicePrimaryCtxRelease_v2",
    "cuDevicePrimaryCtxRetain",
    "cuDeviceTotalMem_v2",
    "cuDriverGetVersion",
    "cuEventCreate",
    "cuEventDestroy_v2",
    "cuEventElapsedTime",
    "cuEventQuery",
    "cuEventRecord",
    "cuEventSynchronize",
    "cuGetErrorName",
    "cuGetErrorString",
    "cuGraphDestroy",
    "cuGraphExecDestroy",
    "cuGraphInstantiateWithFlags",
    "cuGraphLaunch",
    "cuGraphUpload",
    "cuInit",
    "cuLaunchKernel",
    "cuMemAlloc_v2",
    "cuMemFreeHost",
    "cuMemFree_v2",
    "cuMemGetInfo_v2",
    "cuMemHostAlloc",
    "cuMemcpyDtoH_v2",
    "cuMemcpyHtoDAsync_v2",
    "cuMemcpyHtoD_v2",
    "cuModuleGetFunction",
    "cuModuleLoadData",
    "cuModuleUnload",
    "cuStreamBeginCapture_v2",
    "cuStreamCreateWithPriority",
    "cuStreamDestroy_v2",
    "cuStreamEndCapture",
    "cuStreamSynchronize",
];

/// Newer drivers may have only the second; without both, the device's uuid is unknown.
pub const OPTIONAL: [&str; 2] = ["cuDeviceGetUuid", "cuDeviceGetUuid_v2"];

/// The driver's interface must be this new: major times 1000 plus minor times 10. Drivers 470 and newer
/// have it.
const MIN_INTERFACE: i32 = 11_040;

/// What was looked for, and found.
#[derive(Clone, Debug, Default, PartialEq, Eq, Serialize)]
pub struct Report {
    /// Names of the driver's library that were tried, in order.
    pub looked_for: Vec<String>,
    /// Files that were found of the driver and cuBLAS: what, and where.
    pub libraries: Vec<(String, String)>,
    /// The driver and its version; empty when there is none.
    pub driver: String,
    /// The devices, by number.
    pub devices: Vec<Seen>,
    /// Why there are no devices.
    pub problem: Option<String>,
}

/// A device that was seen, not opened.
#[derive(Clone, Debug, PartialEq, Eq, Serialize)]
pub struct Seen {
    /// As in `--device`.
    pub device: String,
    /// What it calls itself.
    pub name: String,
    /// Compute capability: major and minor.
    pub compute_capability: (i32, i32),
    /// Its memory.
    pub memory_bytes: u64,
}

impl fmt::Display for Report {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        if !self.driver.is_empty() {
            writeln!(f, "driver: {}", self.driver)?;
        }
        for (what, at) in &self.libraries {
            writeln!(f, "{what}: {at}")?;
        }
        for seen in &self.devices {
            let (major, minor) = seen.compute_capability;
            let mib = seen.memory_bytes >> 20;
            let Seen { device, name, .. } = seen;
            writeln!(f, "{device}: {name}, compute capability {major}.{minor}, {mib} MiB")?;
        }
        match &self.problem {
            Some(problem) => writeln!(f, "{problem}"),
            None => Ok(()),
        }
    }
}

/// Looks for the driver, its devices and cuBLAS. Opens nothing.
pub fn look() -> Report {
    let mut report = Report { looked_for: names("cuda"), ..Report::default() };
    let found = guarded("cuda", || {
        report.driver = ready("cuda")?;
        report.devices = devices()?;
        Ok(())
    });
    report.problem = found.err().map(|error| error.to_string());
    report.libraries.extend(loaded("libcuda.").map(|at| ("CUDA driver".to_string(), at)));
    let at = if cublas::is_present() { "found" } else { "not found (needed by nothing but speed)" };
    report.libraries.push(("cuBLAS".to_string(), at.to_string()));
    report
}

/// Runs `act`; a panic in it (cudarc's, about a library or function that is missing) is an error.
pub fn guarded<T>(
    device: &str,
    act: impl FnOnce() -> Result<T, DeviceError>,
) -> Result<T, DeviceError> {
    catch_unwind(AssertUnwindSafe(act)).unwrap_or_else(|panic| {
        let text = panic.downcast_ref::<String>().map(String::as_str);
        let text = text.or_else(|| panic.downcast_ref::<&str>().copied());
        let said = text.unwrap_or("no reason was given").to_string();
        Err(DeviceError::new(
            device,
            "calling the CUDA driver",
            said,
            "reinstall the NVIDIA driver",
        ))
    })
}

/// Makes the driver ready, and says which it is.
///
/// # Errors
/// When it is not there, too old, lacks a function, or does not start.
pub fn ready(device: &str) -> Result<String, DeviceError> {
    // SAFETY: loading a library runs its initialisers; this is NVIDIA's.
    if !unsafe { sys::is_culib_present() } {
        return Err(DeviceError::new(
            device,
            "looking for the CUDA driver",
            format!("no library was found; looked for {}", names("cuda").join(", ")),
            "install the NVIDIA driver (470 or newer), add the library's folder to LD_LIBRARY_PATH, \
             or use `--device emulated`",
        ));
    }
    let missing: Vec<&str> = FUNCTIONS.into_iter().filter(|name| !has(name)).collect();
    if !missing.is_empty() {
        let at = loaded("libcuda.").unwrap_or_else(|| "the library".to_string());
        return Err(DeviceError::new(
            device,
            "looking into the CUDA driver",
            format!("{at} has no {}", missing.join(", ")),
            "install the NVIDIA driver (470 or newer); the library found is a different or old one",
        ));
    }
    let fault = |doing: &'static str| move |error: DriverError| device_error(device, doing, error);
    let mut version = 0;
    // SAFETY: `version` is a place for one number.
    unsafe { sys::cuDriverGetVersion(&mut version) }
        .result()
        .map_err(fault("asking for the driver's version"))?;
    let (major, minor) = (version / 1000, version % 1000 / 10);
    let module = module_version();
    let name = format!(
        "CUDA {major}.{minor}{}",
        module.map(|v| format!(", driver {v}")).unwrap_or_default()
    );
    if version < MIN_INTERFACE {
        return Err(DeviceError::new(
            device,
            "asking for the driver's version",
            format!("it is {name}; 11.4 is the least"),
            "install NVIDIA driver 470 or newer",
        ));
    }
    result::init().map_err(fault("starting the CUDA driver"))?;
    Ok(name)
}

/// Whether the driver's library, which was found, has a function.
pub fn has(name: &str) -> bool {
    // SAFETY: loading a library runs its initialisers, and this is NVIDIA's; the symbol's address is
    // not used, whatever it is.
    unsafe { sys::culib().get::<*const ()>(name.as_bytes()) }.is_ok()
}

fn devices() -> Result<Vec<Seen>, DeviceError> {
    let count =
        result::device::get_count().map_err(|e| device_error("cuda", "counting devices", e))?;
    (0..count)
        .map(|ordinal| {
            let device = format!("cuda:{ordinal}");
            seen(ordinal, &device).map_err(|e| device_error(&device, "looking at the device", e))
        })
        .collect()
}

fn seen(ordinal: i32, device: &str) -> Result<Seen, DriverError> {
    let handle = result::device::get(ordinal)?;
    // SAFETY: the handle is the driver's own.
    let (memory_bytes, major, minor) = unsafe {
        (
            result::device::total_mem(handle)? as u64,
            result::device::get_attribute(
                handle,
                Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MAJOR,
            )?,
            result::device::get_attribute(
                handle,
                Attribute::CU_DEVICE_ATTRIBUTE_COMPUTE_CAPABILITY_MINOR,
            )?,
        )
    };
    Ok(Seen {
        device: device.to_string(),
        name: result::device::get_name(handle)?,
        compute_capability: (major, minor),
        memory_bytes,
    })
}

/// The names under which a library is looked for.
pub fn names(library: &str) -> Vec<String> {
    let mut names: Vec<String> = Vec::new();
    for name in cudarc::get_lib_name_candidates(library) {
        if !names.contains(&name) {
            names.push(name);
        }
    }
    names
}

/// The file of a library that this process has loaded.
pub fn loaded(begins: &str) -> Option<String> {
    let maps = std::fs::read_to_string("/proc/self/maps").ok()?;
    let path = |line: &str| line.find('/').map(|at| line[at..].to_string());
    maps.lines()
        .filter_map(path)
        .find(|path| path.rsplit('/').next().is_some_and(|name| name.starts_with(begins)))
}

/// The version of the driver's kernel module, such as 535.104.05.
fn module_version() -> Option<String> {
    let text = std::fs::read_to_string("/proc/driver/nvidia/version").ok()?;
    let version = text
        .split_whitespace()
        .find(|word| word.contains('.') && word.chars().all(|c| c.is_ascii_digit() || c == '.'))?;
    Some(version.to_string())
}
