//! Tools on paper: the catalog and the view of a node, without a robot behind them.
//!
//! `explain` and `tools` ask the same catalog and the same policy as a node does. Nothing of it can
//! run: a tool on paper has no way to a robot.

use std::path::Path;
use std::sync::Arc;

use futures::future::{self, BoxFuture, FutureExt as _};
use serde_json::{Map, Value};
use tokio_util::sync::CancellationToken;

use super::exit::AppError;
use super::load::Rulebook;
use super::settings::Settings;
use crate::catalog::{CallCx, CatalogBuilder, RawTool, RobotTool, ToolView};
use crate::config::{ToolDef, toml_stems};
use crate::executor::{Questions, Repeats, Turn};
use crate::gate::PolicyStack;
use crate::robot::{Described, Shape, describe};
use crate::terms::{Blame, CallOrigin, Descriptor, Posture, Retry, Tier, ToolError};

/// A robot's rulebook with the view of a node that follows it.
#[derive(Debug)]
pub(super) struct Paper {
    pub(super) book: Rulebook,
    pub(super) policy: PolicyStack,
    pub(super) view: Arc<ToolView>,
    /// What `--tier` or its variable said.
    pub(super) tier: Option<Tier>,
}

impl Paper {
    /// Loads the files of a robot and judges its tools as a node started with `tier` would.
    ///
    /// # Errors
    /// [`AppError::Config`] with every fault of the files, [`AppError::Usage`] when no robot was named
    /// and there is not exactly one.
    pub(super) fn load(
        settings: &Settings,
        robot: Option<&str>,
        tier: Option<Tier>,
    ) -> Result<Self, AppError> {
        let name = match robot {
            Some(name) => name.to_owned(),
            None => only_robot(settings.tiers())?,
        };
        let book = Rulebook::load(settings, &name)?;
        let policy = book.policy(tier);
        let described = describe(&book.robot, &book.rules);
        let builder = described
            .iter()
            .fold(CatalogBuilder::new(), |builder, tool| {
                on_paper(builder, tool, &book)
            });
        let catalog = builder
            .build()
            .map_err(|errors| AppError::Internal(format!("tools: {errors}")))?;
        Ok(Self {
            view: catalog.view(&policy),
            book,
            policy,
            tier,
        })
    }

    /// Returns a turn in which a model calls.
    pub(super) fn turn(&self) -> Turn {
        Turn {
            view: Arc::clone(&self.view),
            origin: CallOrigin::Model,
            by: None,
            person_stops: 0,
            questions: Questions::default(),
            cancel: CancellationToken::new(),
            repeats: Repeats::default(),
        }
    }

    /// Returns the robot as the examples of its file see it: armed, fresh, at rest at home.
    pub(super) fn at_rest(&self) -> Posture {
        let workspace = self.book.robot.workspace.as_ref();
        Posture::at_rest(workspace.map_or([0.0; 3], |place| place.home))
    }

    /// Returns the entry of the robot file with this name.
    pub(super) fn def(&self, name: &str) -> Option<&ToolDef> {
        let tools = self.book.robot.tools.iter();
        tools.into_iter().find(|tool| tool.name.as_str() == name)
    }
}

fn only_robot(tiers: &Path) -> Result<String, AppError> {
    let folder = tiers.join("robots");
    let usage = |problem: String, hint: String| Err(AppError::Usage { problem, hint });
    match toml_stems(&folder).as_slice() {
        [one] => Ok(one.clone()),
        [] => usage(
            format!("no robot file in {}", folder.display()),
            "run it where `tiers` lies, or give --tiers".to_owned(),
        ),
        names => usage(
            format!("{} robot files in {}", names.len(), folder.display()),
            format!("name one with --robot: {}", names.join(", ")),
        ),
    }
}

fn on_paper(builder: CatalogBuilder, tool: &Described, book: &Rulebook) -> CatalogBuilder {
    match tool.shape {
        Shape::Stop => builder.stop(tool.descriptor.clone()),
        Shape::Motion | Shape::Config | Shape::Read | Shape::State | Shape::SafetyEvents => builder
            .raw(Arc::new(PaperTool {
                descriptor: tool.descriptor.clone(),
                robot: RobotTool::new(Arc::clone(&book.rules), tool.index),
            })),
    }
}

/// The description and the rules of a tool.
#[derive(Debug)]
struct PaperTool {
    descriptor: Descriptor,
    robot: RobotTool,
}

impl RawTool for PaperTool {
    fn describe(&self) -> Descriptor {
        self.descriptor.clone()
    }

    fn rules(&self) -> Option<RobotTool> {
        Some(self.robot.clone())
    }

    fn run<'a>(
        &'a self,
        _: CallCx<'a>,
        _: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        future::ready(Err(ToolError::Failed {
            detail: "a tool on paper runs nothing".to_owned(),
            blame: Blame::Tool,
            retry: Retry::Never,
        }))
        .boxed()
    }
}
