//! The driver's errors as ours: what was being done, what it said, what to do about it.

use crate::device::DeviceError;
use cudarc::driver::DriverError;
use cudarc::driver::sys::CUresult;

/// The error of a call to the driver.
pub fn device_error(device: &str, doing: &str, error: DriverError) -> DeviceError {
    let text = |got: Result<&std::ffi::CStr, DriverError>| {
        got.map(|text| text.to_string_lossy().into_owned()).ok()
    };
    let name = text(error.error_name()).unwrap_or_else(|| "an unknown error".to_string());
    let long = text(error.error_string()).unwrap_or_else(|| "no description".to_string());
    let said = format!("{name} ({}): {long}", error.0 as u32);
    DeviceError::new(device, doing, said, remedy(error.0))
}

fn remedy(code: CUresult) -> &'static str {
    match code {
        CUresult::CUDA_ERROR_OUT_OF_MEMORY => {
            "use fewer `cache_pages`, a smaller `max_batch` or `max_len`, or end other programs on the device (`nvidia-smi` shows them)"
        }
        CUresult::CUDA_ERROR_NO_DEVICE | CUresult::CUDA_ERROR_INVALID_DEVICE => {
            "`orrery-replay devices` lists the devices; CUDA_VISIBLE_DEVICES may hide some"
        }
        CUresult::CUDA_ERROR_UNSUPPORTED_PTX_VERSION
        | CUresult::CUDA_ERROR_NO_BINARY_FOR_GPU
        | CUresult::CUDA_ERROR_INVALID_PTX
        | CUresult::CUDA_ERROR_JIT_COMPILER_NOT_FOUND => {
            "the kernels need compute capability 7.0 (V100) and driver 470, or newer"
        }
        CUresult::CUDA_ERROR_SYSTEM_DRIVER_MISMATCH
        | CUresult::CUDA_ERROR_SYSTEM_NOT_READY
        | CUresult::CUDA_ERROR_COMPAT_NOT_SUPPORTED_ON_DEVICE => {
            "the driver's library and its kernel module do not fit: load the module of the same \
             version, or restart the machine"
        }
        CUresult::CUDA_ERROR_LAUNCH_FAILED
        | CUresult::CUDA_ERROR_ILLEGAL_ADDRESS
        | CUresult::CUDA_ERROR_LAUNCH_TIMEOUT
        | CUresult::CUDA_ERROR_ECC_UNCORRECTABLE
        | CUresult::CUDA_ERROR_HARDWARE_STACK_ERROR
        | CUresult::CUDA_ERROR_UNKNOWN => {
            "the device is lost to this process; run again, and look for Xid lines in `dmesg` if it \
             happens twice"
        }
        CUresult::CUDA_ERROR_DEINITIALIZED
        | CUresult::CUDA_ERROR_CONTEXT_IS_DESTROYED
        | CUresult::CUDA_ERROR_INVALID_CONTEXT => {
            "the process is ending, or this is a bug of orrery"
        }
        CUresult::CUDA_ERROR_INVALID_VALUE
        | CUresult::CUDA_ERROR_INVALID_HANDLE
        | CUresult::CUDA_ERROR_NOT_FOUND
        | CUresult::CUDA_ERROR_LAUNCH_OUT_OF_RESOURCES => {
            "this is a bug of orrery; please report it"
        }
        _ => "see the CUDA driver's documentation for this code",
    }
}
