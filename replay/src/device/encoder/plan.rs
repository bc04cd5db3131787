//! An encoder's forward pass as a list of launches: which kernel, on what, with which grid.
//!
//! Pure, so that a test can run the same list on the CPU. A layer is BERT's: attention, then a
//! feed-forward part, each added to its input and then normalised.

mod layout;

pub use layout::{Buffer, Part, Shape};

/// A kernel's name in `orrery.cu`.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord)]
#[expect(missing_docs, reason = "the kernels are described where they are written")]
pub enum Kernel {
    Empty,
    TimerValues,
    ClockRate,
    TimedNs,
    TimedCycles,
    Fma,
    GemmNn,
    GemmNt,
    SplitHeads,
    MergeHeads,
    Softmax,
    AddNorm,
    BiasGelu,
}

impl Kernel {
    /// All of them, in the order of the source.
    pub const ALL: [Kernel; 13] = [
        Kernel::Empty,
        Kernel::TimerValues,
        Kernel::ClockRate,
        Kernel::TimedNs,
        Kernel::TimedCycles,
        Kernel::Fma,
        Kernel::GemmNn,
        Kernel::GemmNt,
        Kernel::SplitHeads,
        Kernel::MergeHeads,
        Kernel::Softmax,
        Kernel::AddNorm,
        Kernel::BiasGelu,
    ];

    /// Its name in the source.
    pub const fn name(self) -> &'static str {
        match self {
            Kernel::Empty => "orr_empty",
            Kernel::TimerValues => "orr_timer_values",
            Kernel::ClockRate => "orr_clock_rate",
            Kernel::TimedNs => "orr_timed_ns",
            Kernel::TimedCycles => "orr_timed_cycles",
            Kernel::Fma => "orr_fma",
            Kernel::GemmNn => "orr_gemm_nn",
            Kernel::GemmNt => "orr_gemm_nt",
            Kernel::SplitHeads => "orr_split_heads",
            Kernel::MergeHeads => "orr_merge_heads",
            Kernel::Softmax => "orr_softmax",
            Kernel::AddNorm => "orr_add_norm",
            Kernel::BiasGelu => "orr_bias_gelu",
        }
    }
}

/// An argument of a kernel. `P` says what a pointer is.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Arg<P> {
    /// A pointer.
    At(P),
    /// A 32-bit whole number.
    U32(u32),
    /// A 64-bit whole number.
    U64(u64),
    /// A float.
    F32(f32),
}

/// A launch of a kernel.
#[derive(Clone, Debug, PartialEq)]
pub struct Launch<P> {
    /// What.
    pub kernel: Kernel,
    /// Blocks.
    pub grid: (u32, u32, u32),
    /// Threads of a block.
    pub block: u32,
    /// Its arguments, in the kernel's order.
    pub args: Vec<Arg<P>>,
}

/// A place in a buffer, in floats from its start.
pub type Spot = (Buffer, u64);

/// C = alpha A B, or alpha A Bᵀ, row-major, for a strided batch of matrices.
#[derive(Clone, Copy, Debug, PartialEq)]
#[expect(missing_docs, reason = "the names are the formula's")]
pub struct Gemm {
    pub c: Spot,
    pub a: Spot,
    pub b: Spot,
    pub b_transposed: bool,
    pub m: u32,
    pub n: u32,
    pub k: u32,
    pub alpha: f32,
    pub batch: u32,
}

impl Gemm {
    /// Floats from one matrix of A, B and C to the next.
    pub fn strides(&self) -> [u64; 3] {
        let [m, n, k] = [self.m, self.n, self.k].map(u64::from);
        [m * k, k * n, m * n]
    }

    /// With our own kernel, which makes 64 x 64 of C in a block.
    pub fn launch(&self) -> Launch<Spot> {
        let [stride_a, stride_b, stride_c] = self.strides();
        Launch {
            kernel: if self.b_transposed { Kernel::GemmNt } else { Kernel::GemmNn },
            grid: (self.n.div_ceil(64), self.m.div_ceil(64), self.batch),
            block: 256,
            args: vec![
                Arg::At(self.c),
                Arg::At(self.a),
                Arg::At(self.b),
                Arg::U32(self.m),
                Arg::U32(self.n),
                Arg::U32(self.k),
                Arg::F32(self.alpha),
                Arg::U64(stride_a),
                Arg::U64(stride_b),
                Arg::U64(stride_c),
            ],
        }
    }
}

/// A step of the forward pass.
#[derive(Clone, Debug, PartialEq)]
pub enum Step {
    /// A matrix product: cuBLAS's or ours.
    Gemm(Gemm),
    /// A kernel.
    Launch(Launch<Spot>),
}

/// The forward pass of a batch, layer by layer. The output is in [`Buffer::X`].
pub fn forward(shape: &Shape, items: u32, length: u32) -> Vec<Vec<Step>> {
    (0..shape.layers).map(|layer| Layer { shape, layer, items, length }.steps()).collect()
}

struct Layer<'a> {
    shape: &'a Shape,
    layer: u32,
    items: u32,
    length: u32,
}

impl Layer<'_> {
    fn weights(&self, part: Part) -> Spot {
        (Buffer::Weights, self.shape.part(self.layer, part).0)
    }

    fn steps(&self) -> Vec<Step> {
        let Shape { heads, hidden, .. } = *self.shape;
        let (items, length, width) = (self.items, self.length, hidden / heads);
        let x = if self.layer == 0 { Buffer::Input } else { Buffer::X };
        let at = |buffer| (buffer, 0);
        let sizes = [items, length, heads, width].map(Arg::U32);
        let per_head = |c, a, b, b_transposed, n, k, alpha| {
            let (m, batch) = (length, items * heads);
            Step::Gemm(Gemm { c: at(c), a: at(a), b: at(b), b_transposed, m, n, k, alpha, batch })
        };
        // 1 / sqrt(width): sqrt is exact everywhere.
        let scale = 1.0 / (width as f32).sqrt();
        vec![
            self.linear(Buffer::Wide, x, Part::Qkv, 3 * hidden, hidden),
            self.elements(
                Kernel::SplitHeads,
                3,
                [Buffer::Q, Buffer::K, Buffer::V, Buffer::Wide].map(|b| Arg::At(at(b))),
                [Arg::At(self.weights(Part::QkvBias))].into_iter().chain(sizes),
            ),
            per_head(Buffer::Scores, Buffer::Q, Buffer::K, true, length, width, scale),
            Step::Launch(Launch {
                kernel: Kernel::Softmax,
                grid: (items * heads * length, 1, 1),
                block: 128,
                args: vec![
                    Arg::At(at(Buffer::Scores)),
                    Arg::At(at(Buffer::Lengths)),
                    Arg::U32(heads),
                    Arg::U32(length),
                ],
            }),
            per_head(Buffer::Y, Buffer::Scores, Buffer::V, false, width, length, 1.0),
            self.elements(
                Kernel::MergeHeads,
                1,
                [Buffer::Q, Buffer::Y].map(|b| Arg::At(at(b))),
                sizes,
            ),
            self.linear(Buffer::Y, Buffer::Q, Part::Out, hidden, hidden),
            self.add_norm(x, Part::OutBias, Part::Gain, Part::Shift),
            self.linear(Buffer::Wide, Buffer::X, Part::Up, 4 * hidden, hidden),
            self.elements(
                Kernel::BiasGelu,
                4,
                [Arg::At(at(Buffer::Wide)), Arg::At(self.weights(Part::UpBias))],
                [Arg::U64(4 * self.shape.activation_floats(items, length)), Arg::U32(4 * hidden)],
            ),
            self.linear(Buffer::Y, Buffer::Wide, Part::Down, hidden, 4 * hidden),
            self.add_norm(Buffer::X, Part::DownBias, Part::Gain2, Part::Shift2),
        ]
    }

    fn linear(&self, c: Buffer, a: Buffer, weights: Part, n: u32, k: u32) -> Step {
        Step::Gemm(Gemm {
            c: (c, 0),
            a: (a, 0),
            b: self.weights(weights),
            b_transposed: false,
            m: self.items * self.length,
            n,
            k,
            alpha: 1.0,
            batch: 1,
        })
    }

    /// A kernel with a thread for each of `times` the activation's elements.
    fn elements(
        &self,
        kernel: Kernel,
        times: u64,
        first: impl IntoIterator<Item = Arg<Spot>>,
        then: impl IntoIterator<Item = Arg<Spot>>,
    ) -> Step {
        let elements = times * self.shape.activation_floats(self.items, self.length);
        let grid = (elements.div_ceil(256) as u32, 1, 1);
        Step::Launch(Launch {
            kernel,
            grid,
            block: 256,
            args: first.into_iter().chain(then).collect(),
        })
    }

    fn add_norm(&self, residual: Buffer, bias: Part, gain: Part, shift: Part) -> Step {
        let weights = |part| Arg::At(self.weights(part));
        Step::Launch(Launch {
            kernel: Kernel::AddNorm,
            grid: (self.items * self.length, 1, 1),
            block: 128,
            args: vec![
                Arg::At((Buffer::X, 0)),
                Arg::At((Buffer::Y, 0)),
                weights(bias),
                Arg::At((residual, 0)),
                weights(gain),
                weights(shift),
                Arg::U32(self.shape.hidden),
            ],
        })
    }
}
