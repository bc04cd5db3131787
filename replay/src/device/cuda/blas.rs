//! cuBLAS's matrix product, when the library is there.
#![allow(unsafe_code)]

use super::cublas::{Functions, Handle, ended, functions};
use super::driver::{Context, Gpu, Memory};
use crate::device::encoder::plan::{Gemm, Spot};
use cudarc::driver::CudaStream;
use cudarc::driver::sys::CUdeviceptr;
use std::ffi::{c_int, c_void};
use std::sync::Arc;

/// A handle of cuBLAS, for one stream.
pub struct Blas {
    functions: &'static Functions,
    handle: Handle,
    context: Arc<Context>,
    /// Behind the handle: where it works, so that each graph does not get a place of its own.
    workspace: Memory,
}

/// What cuBLAS asks for on an H100.
const WORKSPACE_BYTES: u64 = 32 << 20;

// SAFETY: a handle may go to another thread as long as one at a time uses it; `&mut self` sees to that.
unsafe impl Send for Blas {}

impl Blas {
    /// cuBLAS on this stream, or why not. The stream's context must be the thread's.
    pub fn new(gpu: &Gpu, stream: &CudaStream) -> Result<Blas, String> {
        let functions = functions()?;
        let workspace = gpu.memory("cuBLAS", WORKSPACE_BYTES).map_err(|e| e.to_string())?;
        let mut handle = std::ptr::null_mut();
        // SAFETY: the place for a handle is one.
        ended("cublasCreate", unsafe { (functions.create)(&mut handle) })?;
        let blas = Blas { functions, handle, context: gpu.context(), workspace };
        // SAFETY: both are alive; the stream outlives the handle, which its lane drops first.
        let status = unsafe { (functions.set_stream)(handle, stream.cu_stream()) };
        ended("cublasSetStream", status)?;
        let place = blas.workspace.pointer() as *mut c_void;
        // SAFETY: the memory lives as long as the handle. Setting the stream would take it away again.
        let status = unsafe { (functions.set_workspace)(handle, place, WORKSPACE_BYTES as usize) };
        ended("cublasSetWorkspace", status)?;
        Ok(blas)
    }

    /// Its version, such as 12.4.5.
    pub fn version(&self) -> String {
        let mut version = 0;
        // SAFETY: the handle is alive, and `version` is a place for one number.
        match unsafe { (self.functions.version)(self.handle, &mut version) } {
            // From 11 on: major * 10000 + minor * 100 + patch.
            0 => format!("{}.{}.{}", version / 10_000, version / 100 % 100, version % 100),
            _ => "of unknown version".to_string(),
        }
    }

    /// Starts a matrix product.
    ///
    /// # Safety
    /// `at` gives pointers to device memory of the sizes that the product touches, and nothing else
    /// uses C until the stream got there.
    pub unsafe fn gemm(
        &mut self,
        gemm: &Gemm,
        at: impl Fn(Spot) -> CUdeviceptr,
    ) -> Result<(), String> {
        let [m, n, k, batch] = [gemm.m, gemm.n, gemm.k, gemm.batch].map(|x| x as i32);
        let [first, second, out] = by_columns(gemm);
        // CUBLAS_OP_N and CUBLAS_OP_T.
        let op = |operand: &Operand| c_int::from(operand.transposed);
        // SAFETY: the caller's promise; alpha and beta are read before the call returns, as the
        // handle's pointer mode is the host's.
        let started = unsafe {
            (self.functions.sgemm)(
                self.handle,
                op(&first),
                op(&second),
                n,
                m,
                k,
                &gemm.alpha,
                at(first.place) as *const f32,
                first.leading as i32,
                first.stride as i64,
                at(second.place) as *const f32,
                second.leading as i32,
                second.stride as i64,
                &0.0,
                at(out.place) as *mut f32,
                out.leading as i32,
                out.stride as i64,
                batch,
            )
        };
        ended("cublasSgemmStridedBatched", started)
    }
}

impl Drop for Blas {
    fn drop(&mut self) {
        if self.context.takes_back() {
            // SAFETY: the handle is alive until here.
            let _ = unsafe { (self.functions.destroy)(self.handle) };
        }
    }
}

/// A matrix as cuBLAS takes it.
struct Operand {
    place: Spot,
    transposed: bool,
    leading: u32,
    stride: u64,
}

/// cuBLAS counts by columns: our row-major C = A B is its Cᵀ = Bᵀ Aᵀ on the same bytes, of n rows and m
/// columns. Its first operand, its second, and the result.
fn by_columns(gemm: &Gemm) -> [Operand; 3] {
    let [stride_a, stride_b, stride_c] = gemm.strides();
    let transposed = gemm.b_transposed;
    let leading = if transposed { gemm.k } else { gemm.n };
    [
        Operand { place: gemm.b, transposed, leading, stride: stride_b },
        Operand { place: gemm.a, transposed: false, leading: gemm.k, stride: stride_a },
        Operand { place: gemm.c, transposed: false, leading: gemm.n, stride: stride_c },
    ]
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::device::encoder::plan::Buffer;
    use orrery_sim::rng::Stream;

    /// BLAS's definition, by columns: element (row, column) is at `row + column * leading`.
    fn by_definition(
        operands: &[Operand; 3],
        rows: u32,
        columns: u32,
        depth: u32,
        of: &Numbers,
    ) -> Vec<i64> {
        let at = |o: &Operand, batch: u32, row: u32, column: u32| {
            let (row, column) = if o.transposed { (column, row) } else { (row, column) };
            assert!(row < o.leading);
            o.place.1
                + u64::from(batch) * o.stride
                + u64::from(row)
                + u64::from(column) * u64::from(o.leading)
        };
        let [a, b, c] = operands;
        let mut out = vec![0; of.c];
        for batch in 0..of.batch {
            for row in 0..rows {
                for column in 0..columns {
                    let value = |d| {
                        of.a[at(a, batch, row, d) as usize] * of.b[at(b, batch, d, column) as usize]
                    };
                    out[at(c, batch, row, column) as usize] = (0..depth).map(value).sum();
                }
            }
        }
        out
    }

    struct Numbers {
        a: Vec<i64>,
        b: Vec<i64>,
        c: usize,
        batch: u32,
    }

    #[test]
    fn counted_by_columns_it_is_the_same_product() {
        let mut stream = Stream::named(1, "blas", 0);
        for case in 0..50 {
            let [m, n, k, batch] = [0; 4].map(|_| 1 + stream.below(6) as u32);
            let at = |buffer| (buffer, 0);
            let gemm = Gemm {
                c: at(Buffer::Y),
                a: at(Buffer::X),
                b: at(Buffer::Weights),
                b_transposed: case % 2 == 0,
                m,
                n,
                k,
                alpha: 1.0,
                batch,
            };
            let mut numbers =
                |count: u32| (0..count).map(|_| stream.below(100) as i64).collect::<Vec<_>>();
            let (a, b) = (numbers(m * k * batch), numbers(k * n * batch));
            // BLAS's first operand is our B.
            let of = Numbers { a: b.clone(), b: a.clone(), c: (m * n * batch) as usize, batch };
            let got = by_definition(&by_columns(&gemm), n, m, k, &of);
            let mut wanted = Vec::new();
            for which in 0..batch {
                for (row, column) in (0..m).flat_map(|row| (0..n).map(move |column| (row, column)))
                {
                    let in_b = |d| if gemm.b_transposed { column * k + d } else { d * n + column };
                    let term = |d| {
                        a[(which * m * k + row * k + d) as usize]
                            * b[(which * k * n + in_b(d)) as usize]
                    };
                    wanted.push((0..k).map(term).sum::<i64>());
                }
            }
            assert_eq!(got, wanted, "{gemm:?}");
        }
    }
}
