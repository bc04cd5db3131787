//! The pending requests of a model in the form that is faster for so many (`queue=auto`): a list while few
//! wait, convex hulls while many do.
//!
//! Both forms make the same decisions, so that a change of form is none of them.

use super::entry::Entry;
use super::hulls::Hulls;
use super::pending::Pending;
use super::scan::Scan;
use super::tables::Tables;
use crate::request::RequestId;
use crate::time::Time;

/// More pending requests than this are kept on hulls. A scan costs in proportion to them, a hull hardly
/// (`cargo bench -p orrery-benches --features run --bench orloj_queue`).
const MANY: usize = 2048;
/// Fewer go back into a list. It is far below, so that changes of form cost a small part of the arrivals
/// between them.
const FEW: usize = 512;

enum Form {
    List(Scan),
    Hulls(Hulls),
}

/// See the module's text.
pub(super) struct Auto {
    form: Form,
    sizes: usize,
    b_per_ms: f64,
    pub(super) many: usize,
    pub(super) few: usize,
}

impl Auto {
    /// No request is pending in any of so many queues.
    pub fn new(sizes: usize, b_per_ms: f64) -> Auto {
        let form = Form::List(Scan::default());
        Auto { form, sizes, b_per_ms, many: MANY, few: FEW }
    }

    fn form(&mut self) -> &mut dyn Pending {
        match &mut self.form {
            Form::List(list) => list,
            Form::Hulls(hulls) => hulls,
        }
    }

    /// Takes the form that suits so many.
    fn adapt(&mut self) {
        match &mut self.form {
            Form::List(list) if list.len() > self.many => {
                let mut hulls = Hulls::new(self.sizes, self.b_per_ms);
                std::mem::take(list).into_waiting().for_each(|e| hulls.insert(e));
                self.form = Form::Hulls(hulls);
            }
            Form::Hulls(hulls) if hulls.len() < self.few => {
                let hulls = std::mem::replace(hulls, Hulls::new(self.sizes, self.b_per_ms));
                let mut list = Scan::default();
                hulls.into_waiting().into_iter().for_each(|e| list.insert(e));
                self.form = Form::List(list);
            }
            Form::List(_) | Form::Hulls(_) => {}
        }
    }
}

impl Pending for Auto {
    fn insert(&mut self, entry: Entry) {
        self.form().insert(entry);
    }

    fn renewed(&mut self, tables: &[usize]) {
        self.form().renewed(tables);
    }

    fn expire(&mut self, now: Time, tables: &Tables, out: &mut Vec<RequestId>) {
        self.adapt();
        self.form().expire(now, tables, out);
    }

    fn census(&mut self, out: &mut [(u32, Time)]) {
        self.form().census(out);
    }

    fn pop_batch(
        &mut self,
        now: Time,
        size: usize,
        k: usize,
        tables: &Tables,
        out: &mut Vec<RequestId>,
    ) {
        self.form().pop_batch(now, size, k, tables, out);
    }

    fn left_out(&self, size: usize, out: &mut dyn FnMut(RequestId, bool)) {
        match &self.form {
            Form::List(list) => list.left_out(size, out),
            Form::Hulls(hulls) => hulls.left_out(size, out),
        }
    }
}
