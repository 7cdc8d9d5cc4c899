//! From tools to a catalog: every fault of every tool in one report, or a catalog without one.

use std::collections::{BTreeSet, HashMap};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use super::entry::{Body, Entry};
use super::error::{CatalogError, CatalogErrors, Fault};
use super::tool::{Erased, Raw, Typed, property_names};
use super::{RawTool, RobotTool, Tool};
use crate::arguments::{Alias, Schema};
use crate::terms::{Access, Budget, Descriptor, Effect, ToolName};

/// Most tools of a catalog. Chosen: above what any model can use, below what slows a start.
pub const TOOLS_MAX: usize = 16_384;
/// Longest time of a call, ms.
const TIMEOUT_MS_MAX: u64 = 3_600_000;
/// Largest text of a reply, bytes.
const OUTPUT_BYTES_MAX: usize = 1_048_576;

/// Collects tools.
#[derive(Debug, Default)]
pub struct CatalogBuilder {
    parts: Vec<Part>,
}

#[derive(Debug)]
enum Part {
    Stop(Box<Descriptor>),
    Code(Arc<dyn Erased>),
}

impl CatalogBuilder {
    /// Begins without a tool.
    pub fn new() -> Self {
        Self::default()
    }

    /// Adds a tool with typed arguments.
    #[must_use]
    pub fn tool<T: Tool>(self, tool: T) -> Self {
        self.with(Part::Code(Arc::new(Typed(tool))))
    }

    /// Adds a tool with arguments known only at run time.
    #[must_use]
    pub fn raw(self, tool: Arc<dyn RawTool>) -> Self {
        self.with(Part::Code(Arc::new(Raw(tool))))
    }

    /// Adds a stop. It has no code: the executor sets the latch word, nothing else.
    #[must_use]
    pub fn stop(self, descriptor: Descriptor) -> Self {
        self.with(Part::Stop(Box::new(descriptor)))
    }

    /// Checks all tools and makes the catalog.
    ///
    /// # Errors
    /// Every fault of every tool.
    pub fn build(self) -> Result<Arc<Catalog>, CatalogErrors> {
        let mut faults = Vec::new();
        let mut entries = Vec::new();
        let mut names = BTreeSet::new();
        for (place, part) in self.parts.into_iter().enumerate() {
            let Some(described) = describe(place, part, &mut faults) else {
                continue;
            };
            let tool = &described.descriptor;
            if !names.insert(tool.name.clone()) {
                faults.push(at(tool, Fault::Duplicate));
            } else if names.len() == TOOLS_MAX + 1 {
                faults.push(at(tool, Fault::TooMany { max: TOOLS_MAX }));
            }
            entries.extend(described.checked(&mut faults));
        }
        CatalogErrors::none_or(faults)?;
        entries.sort_by(|a, b| a.descriptor.name.cmp(&b.descriptor.name));
        Ok(Arc::new(Catalog::of(entries)))
    }

    fn with(mut self, part: Part) -> Self {
        self.parts.push(part);
        self
    }
}

/// All tools that exist: immutable, sorted by name.
#[derive(Debug)]
pub struct Catalog {
    entries: Vec<Entry>,
    by_name: HashMap<ToolName, usize>,
}

impl Catalog {
    fn of(entries: Vec<Entry>) -> Self {
        let names = entries.iter().map(|entry| entry.descriptor.name.clone());
        let by_name = names.enumerate().map(|(index, name)| (name, index));
        Self {
            by_name: by_name.collect(),
            entries,
        }
    }

    /// Returns all tools, sorted by name.
    pub fn entries(&self) -> &[Entry] {
        &self.entries
    }

    /// Returns the place of a name among [`Catalog::entries`], in the same time however many
    /// tools there are.
    pub(super) fn index_of(&self, name: &str) -> Option<usize> {
        self.by_name.get(name).copied()
    }
}

/// A tool that said what it is; nothing of it is checked.
struct Described {
    descriptor: Descriptor,
    robot: Option<RobotTool>,
    aliases: &'static [Alias],
    body: Body,
}

fn describe(place: usize, part: Part, faults: &mut Vec<CatalogError>) -> Option<Described> {
    let code = match part {
        Part::Stop(descriptor) => {
            return Some(Described {
                descriptor: *descriptor,
                robot: None,
                aliases: &[],
                body: Body::Stop,
            });
        }
        Part::Code(code) => code,
    };
    // A description is code of the tool's author: it may panic.
    let described = catch_unwind(AssertUnwindSafe(|| {
        (code.describe(), code.rules(), code.aliases())
    }));
    let Ok((descriptor, robot, aliases)) = described else {
        faults.push(CatalogError {
            tool: format!("#{place}"),
            fault: Fault::Broken,
        });
        return None;
    };
    Some(Described {
        descriptor,
        robot,
        aliases,
        body: Body::Code(code),
    })
}

impl Described {
    /// Checks everything; the entry is made even if something else is wrong with it, since nothing
    /// is built then.
    fn checked(self, faults: &mut Vec<CatalogError>) -> Option<Entry> {
        check_descriptor(&self.descriptor, faults);
        check_rules(&self.descriptor, self.robot.as_ref(), faults);
        check_body(&self.descriptor, &self.body, faults);
        if !self.aliases.is_empty() && !self.descriptor.effect.mends_arguments() {
            faults.push(at(&self.descriptor, Fault::AliasOfMotion));
        }
        let compiled = Schema::compile(&self.descriptor.schema);
        match compiled.and_then(|schema| schema.with_aliases(self.aliases)) {
            Ok(schema) => Some(Entry {
                descriptor: self.descriptor,
                schema,
                robot: self.robot,
                body: self.body,
            }),
            Err(problems) => {
                let each = problems.into_iter().map(Fault::Schema);
                faults.extend(each.map(|fault| at(&self.descriptor, fault)));
                None
            }
        }
    }
}

fn check_descriptor(tool: &Descriptor, faults: &mut Vec<CatalogError>) {
    if tool.description.trim().is_empty() {
        faults.push(at(tool, Fault::Undescribed));
    }
    let budget = tool.budget;
    let wide = |bytes: usize| u64::try_from(bytes).unwrap_or(u64::MAX);
    let bounds = [
        ("timeout_ms", budget.timeout_ms, TIMEOUT_MS_MAX),
        (
            "args_bytes_max",
            wide(budget.args_bytes_max),
            wide(Budget::ARGS_BYTES_MAX),
        ),
        (
            "output_bytes_max",
            wide(budget.output_bytes_max),
            wide(OUTPUT_BYTES_MAX),
        ),
    ];
    for (key, found, max) in bounds {
        if !(1..=max).contains(&found) {
            faults.push(at(tool, Fault::Budget { key, found, max }));
        }
    }
}

fn check_rules(tool: &Descriptor, robot: Option<&RobotTool>, faults: &mut Vec<CatalogError>) {
    if let Some(robot) = robot
        && robot.rules().is_none()
    {
        let index = robot.index();
        faults.push(at(tool, Fault::UnknownRule { index }));
    }
    if !matches!(tool.effect, Effect::Actuate { .. }) {
        return;
    }
    if robot.is_none() {
        faults.push(at(tool, Fault::Unbounded));
    }
    if tool.access == Access::Shared {
        faults.push(at(tool, Fault::Shared));
    }
}

fn check_body(tool: &Descriptor, body: &Body, faults: &mut Vec<CatalogError>) {
    match body {
        Body::Stop if !tool.effect.is_stop() => {
            let effect = tool.effect.as_str();
            faults.push(at(tool, Fault::NoStop { effect }));
        }
        Body::Code(_) if tool.effect.is_stop() => faults.push(at(tool, Fault::StopWithCode)),
        Body::Code(code) => {
            let Some(typed) = code.properties() else {
                return;
            };
            let described = property_names(&tool.schema);
            let differ: Vec<&str> = typed
                .symmetric_difference(&described)
                .map(String::as_str)
                .collect();
            if !differ.is_empty() {
                faults.push(at(tool, Fault::ArgumentsDiffer(differ.join(", "))));
            }
        }
        Body::Stop => {}
    }
}

fn at(tool: &Descriptor, fault: Fault) -> CatalogError {
    CatalogError {
        tool: tool.name.as_str().to_owned(),
        fault,
    }
}
