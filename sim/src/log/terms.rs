//! The terms of a run: what it was given that its records do not say, for the auditor to hold it to.
//!
//! They describe the world, not what happened in it. What a list leaves out is not known.

use super::error::LogError;
use super::fields::Fields;
use super::lines::{Lines, push_decimal};
use crate::cluster::{DeviceSpec, Sharing};
use crate::penalty::{Penalty, Step, in_units};
use crate::request::ModelId;
use crate::time::Span;

/// The terms of a run. Without any, a log says nothing of them.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct Terms {
    /// The devices that are up at the start, by number.
    pub devices: Vec<DeviceTerms>,
    /// Devices that are added later, where they are all alike.
    pub later_devices: Option<DeviceTerms>,
    /// What each model takes of a device's memory, pages; empty where no memory is counted.
    pub pages: Vec<u32>,
    /// The applications, by number: where there are any, there are no others.
    pub apps: Vec<AppTerms>,
    /// What late answers cost, by application; empty where costs are not counted.
    pub penalties: Vec<Penalty>,
    /// Whether the host has stalls, so that its controller may be told late of an arrival.
    pub stalls: bool,
}

/// What a device can do.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct DeviceTerms {
    /// Batches that it runs at a time.
    pub lanes: u8,
    /// How fast they are beside one another.
    pub sharing: Sharing,
    /// Whether a running batch can be stopped.
    pub can_preempt: bool,
    /// Its memory; `None` where it always has every model.
    pub memory: Option<MemoryTerms>,
}

/// A device's memory at the start.
#[derive(Clone, Debug, Default, PartialEq, Eq)]
pub struct MemoryTerms {
    /// Its pages; `None` where they are not counted.
    pub pages: Option<u32>,
    /// The models that are in it.
    pub holds: Vec<ModelId>,
}

/// What an application asks for.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub struct AppTerms {
    /// The model.
    pub model: ModelId,
    /// From arrival to deadline, [`Span::MAX`] for no deadline; `None` where each request has its own.
    pub slo: Option<Span>,
}

impl From<&DeviceSpec> for DeviceTerms {
    fn from(spec: &DeviceSpec) -> DeviceTerms {
        let DeviceSpec { lanes, sharing, can_preempt, memory_pages: pages, ref holds, .. } = *spec;
        let limited = pages.is_some() || holds.is_some();
        let memory =
            limited.then(|| MemoryTerms { pages, holds: holds.clone().unwrap_or_default() });
        DeviceTerms { lanes, sharing, can_preempt, memory }
    }
}

impl Terms {
    /// The terms of the device of that number; `None` where they are not known.
    pub fn device(&self, number: usize) -> Option<&DeviceTerms> {
        self.devices.get(number).or(self.later_devices.as_ref())
    }

    /// Whether these are terms of devices: those of a run with applications always are.
    pub(crate) fn has_devices(&self) -> bool {
        !self.devices.is_empty() || self.later_devices.is_some() || !self.apps.is_empty()
    }
}

/// What a line of terms is about.
const KINDS: [&str; 6] = ["device", "later-device", "pages", "app", "penalties", "stalls"];
/// After the number of lanes, where batches share the device.
const SHARED: &[u8] = b" shared";
const PREEMPTS: [&str; 2] = ["can_preempt", "cannot_preempt"];

impl Lines {
    pub(super) fn terms(&mut self, terms: &Terms) {
        for (number, device) in terms.devices.iter().enumerate() {
            self.bytes.extend_from_slice(b"terms,device");
            self.field(number as u64);
            self.device_terms(device);
        }
        if let Some(device) = &terms.later_devices {
            self.bytes.extend_from_slice(b"terms,later-device,0");
            self.device_terms(device);
        }
        for (number, pages) in terms.pages.iter().enumerate() {
            self.bytes.extend_from_slice(b"terms,pages");
            self.field(number as u64);
            self.field(u64::from(*pages));
            self.end_line();
        }
        for (number, app) in terms.apps.iter().enumerate() {
            self.bytes.extend_from_slice(b"terms,app");
            self.field(number as u64);
            self.field(u64::from(app.model.0));
            match app.slo {
                None => self.bytes.extend_from_slice(b",own"),
                Some(Span::MAX) => self.bytes.push(b','),
                Some(slo) => self.field(slo.ns()),
            }
            self.end_line();
        }
        for (number, penalty) in terms.penalties.iter().enumerate() {
            self.bytes.extend_from_slice(b"terms,penalties");
            self.field(number as u64);
            let mut between = b',';
            for step in penalty.steps() {
                self.bytes.push(between);
                push_decimal(&mut self.bytes, step.deadline);
                self.bytes.push(b':');
                push_decimal(&mut self.bytes, step.cost);
                between = b' ';
            }
            self.end_line();
        }
        if terms.stalls {
            self.bytes.extend_from_slice(b"terms,stalls,0");
            self.end_line();
        }
    }

    fn device_terms(&mut self, device: &DeviceTerms) {
        self.field(u64::from(device.lanes));
        if device.sharing == Sharing::Processor {
            self.bytes.extend_from_slice(SHARED);
        }
        self.bytes.push(b',');
        self.bytes.extend_from_slice(PREEMPTS[usize::from(!device.can_preempt)].as_bytes());
        self.bytes.push(b',');
        if let Some(MemoryTerms { pages, holds }) = &device.memory {
            match pages {
                Some(pages) => push_decimal(&mut self.bytes, u64::from(*pages)),
                None => self.bytes.push(b'-'),
            }
            for model in holds {
                self.bytes.push(b' ');
                push_decimal(&mut self.bytes, u64::from(model.0));
            }
        }
        self.end_line();
    }
}

impl Fields<'_> {
    /// One line of terms.
    pub(super) fn terms(mut self, terms: &mut Terms) -> Result<(), LogError> {
        self.text("terms")?;
        let kind = self.word("what the terms are of", &KINDS, |kind| kind)?;
        let next = match kind {
            "device" => terms.devices.len(),
            "later-device" => usize::from(terms.later_devices.is_some()),
            "pages" => terms.pages.len(),
            "penalties" => terms.penalties.len(),
            "stalls" => usize::from(terms.stalls),
            _ => terms.apps.len(),
        };
        let number = self.text("number of what the terms are of")?;
        let is_single = kind == "later-device" || kind == "stalls";
        if number != next.to_string().as_bytes() || (is_single && next > 0) {
            let allowed = format!("{next}: terms are in order, and later devices are alike");
            return Err(self.error("number of what the terms are of", number, &allowed));
        }
        match kind {
            "app" => terms.apps.push(self.app_terms()?),
            "pages" => terms.pages.push(self.number("pages", u64::from(u32::MAX))? as u32),
            "penalties" => terms.penalties.push(self.penalty()?),
            "stalls" => terms.stalls = true,
            "device" => terms.devices.push(self.device_terms()?),
            _ => terms.later_devices = Some(self.device_terms()?),
        }
        self.nothing_more()
    }

    fn device_terms(&mut self) -> Result<DeviceTerms, LogError> {
        let text = self.text("lanes")?;
        let (lanes, sharing) = match text.strip_suffix(SHARED) {
            Some(lanes) => (lanes, Sharing::Processor),
            None => (text, Sharing::None),
        };
        let lanes = self.parse("lanes", lanes, u64::from(u8::MAX))? as u8;
        let can_preempt = self.word("preemption", &PREEMPTS, |word| word)? == PREEMPTS[0];
        let memory = self.memory_terms()?;
        Ok(DeviceTerms { lanes, sharing, can_preempt, memory })
    }

    fn memory_terms(&mut self) -> Result<Option<MemoryTerms>, LogError> {
        let text = self.text("memory")?;
        if text.is_empty() {
            return Ok(None);
        }
        let mut parts = text.split(|&b| b == b' ');
        let pages = match parts.next() {
            Some(b"-") | None => None,
            Some(pages) => {
                Some(self.parse("pages of the memory", pages, u64::from(u32::MAX))? as u32)
            }
        };
        let mut holds = Vec::new();
        for model in parts {
            holds.push(ModelId(self.parse("model in memory", model, u64::from(u32::MAX))? as u32));
        }
        Ok(Some(MemoryTerms { pages, holds }))
    }

    fn penalty(&mut self) -> Result<Penalty, LogError> {
        let mut steps = Vec::new();
        let text = self.text("penalties")?;
        for part in text.split(|&b| b == b' ') {
            let Some(colon) = part.iter().position(|&b| b == b':') else {
                return Err(self.error("penalties", part, "DEADLINE:COST"));
            };
            let deadline = self.parse("deadline", &part[..colon], Penalty::MAX)?;
            let cost = self.parse("cost", &part[colon + 1..], Penalty::MAX)?;
            steps.push(Step { deadline, cost });
        }
        Penalty::new(steps).map_err(|e| {
            let what = if e.deadline { "deadline" } else { "cost" };
            let (step, found, allowed) = (e.step, in_units(e.found), e.allowed);
            let allowed = format!(
                "steps that grow; the {what} of step {step} is {found}, allowed: {allowed}"
            );
            self.error("penalties", text, &allowed)
        })
    }

    fn app_terms(&mut self) -> Result<AppTerms, LogError> {
        let model = ModelId(self.number("model", u64::from(u32::MAX))? as u32);
        let text = self.text("SLO")?;
        let slo = match text {
            b"own" => None,
            b"" => Some(Span::MAX),
            ns => Some(Span::from_ns(self.parse("SLO", ns, u64::MAX - 1)?)),
        };
        Ok(AppTerms { model, slo })
    }
}
