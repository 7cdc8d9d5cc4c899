//! What a tool author writes, and the one form in which the catalog keeps it.
//!
//! [`Tool`] is a plain trait with an async function and typed arguments. The catalog needs one type
//! for all of them, so it wraps them in [`Typed`] or [`Raw`]; the trait of that form is private to
//! this room, and its one future is boxed once a call.

use std::collections::BTreeSet;
use std::fmt;
use std::sync::Arc;

use futures::future::BoxFuture;
use schemars::JsonSchema;
use schemars::generate::SchemaSettings;
use serde::de::DeserializeOwned;
use serde_json::{Map, Value};

use super::{CallCx, RobotTool};
use crate::arguments::Alias;
use crate::terms::{Blame, Descriptor, Retry, ToolError};

/// A tool with arguments of a type of its own.
pub trait Tool: Send + Sync + fmt::Debug + 'static {
    /// The arguments. The described schema must have exactly their properties.
    type Args: DeserializeOwned + JsonSchema + Send + 'static;

    /// Describes the tool. Called once, when the catalog is built.
    fn describe(&self) -> Descriptor;

    /// Returns the rules of the robot file that bind this tool; `None` when it is no robot's tool.
    fn rules(&self) -> Option<RobotTool> {
        None
    }

    /// Returns other names under which the arguments are accepted. Called once, when the catalog is
    /// built; a tool that moves a robot cannot have any.
    fn aliases(&self) -> &'static [Alias] {
        &[]
    }

    /// Does what was asked and returns the text for the model.
    ///
    /// # Cancellation
    /// The future is dropped at its deadline and when the turn is cancelled. What is under way then
    /// must end by itself.
    ///
    /// # Errors
    /// [`ToolError`] when there is no result.
    fn run(
        &self,
        cx: CallCx<'_>,
        args: Self::Args,
    ) -> impl Future<Output = Result<String, ToolError>> + Send;
}

/// A tool whose arguments are known only at run time: of a robot file.
pub trait RawTool: Send + Sync + fmt::Debug + 'static {
    /// Describes the tool. Called once, when the catalog is built.
    fn describe(&self) -> Descriptor;

    /// Returns the rules of the robot file that bind this tool; `None` when it is no robot's tool.
    fn rules(&self) -> Option<RobotTool> {
        None
    }

    /// Returns other names under which the arguments are accepted. See [`Tool::aliases`].
    fn aliases(&self) -> &'static [Alias] {
        &[]
    }

    /// Does what was asked and returns the text for the model. See [`Tool::run`].
    ///
    /// # Errors
    /// [`ToolError`] when there is no result.
    fn run<'a>(
        &'a self,
        cx: CallCx<'a>,
        args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, ToolError>>;
}

/// Returns the JSON Schema of argument types, without references: providers do not follow them.
pub fn schema_of<A: JsonSchema>() -> Arc<Value> {
    let inline = SchemaSettings::draft2020_12().with(|settings| {
        settings.inline_subschemas = true;
        settings.meta_schema = None;
    });
    let mut schema = inline.into_generator().into_root_schema_for::<A>();
    schema.remove("title");
    Arc::new(schema.into())
}

/// Any tool, as the catalog keeps it.
pub(super) trait Erased: Send + Sync + fmt::Debug {
    fn describe(&self) -> Descriptor;
    fn rules(&self) -> Option<RobotTool>;
    fn aliases(&self) -> &'static [Alias];
    /// Returns the names that the arguments have in code, `None` when there is no type for them.
    fn properties(&self) -> Option<BTreeSet<String>>;
    fn run<'a>(
        &'a self,
        cx: CallCx<'a>,
        args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, ToolError>>;
}

#[derive(Debug)]
pub(super) struct Typed<T>(pub(super) T);

impl<T: Tool> Erased for Typed<T> {
    fn describe(&self) -> Descriptor {
        self.0.describe()
    }

    fn rules(&self) -> Option<RobotTool> {
        self.0.rules()
    }

    fn aliases(&self) -> &'static [Alias] {
        self.0.aliases()
    }

    fn properties(&self) -> Option<BTreeSet<String>> {
        Some(property_names(&schema_of::<T::Args>()))
    }

    fn run<'a>(
        &'a self,
        cx: CallCx<'a>,
        args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async move {
            let args = serde_json::from_value(Value::Object(args)).map_err(undecodable)?;
            self.0.run(cx, args).await
        })
    }
}

#[derive(Debug)]
pub(super) struct Raw(pub(super) Arc<dyn RawTool>);

impl Erased for Raw {
    fn describe(&self) -> Descriptor {
        self.0.describe()
    }

    fn rules(&self) -> Option<RobotTool> {
        self.0.rules()
    }

    fn aliases(&self) -> &'static [Alias] {
        self.0.aliases()
    }

    fn properties(&self) -> Option<BTreeSet<String>> {
        None
    }

    fn run<'a>(
        &'a self,
        cx: CallCx<'a>,
        args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        self.0.run(cx, args)
    }
}

/// Returns the names under `properties`.
pub(super) fn property_names(schema: &Value) -> BTreeSet<String> {
    let properties = schema.get("properties").and_then(Value::as_object);
    properties
        .into_iter()
        .flat_map(|names| names.keys().cloned())
        .collect()
}

/// The schema admitted what the type does not: the tool's own fault, whatever the model sent.
fn undecodable(error: serde_json::Error) -> ToolError {
    ToolError::Failed {
        detail: format!("the tool's schema and its arguments differ: {error}"),
        blame: Blame::Tool,
        retry: Retry::Never,
    }
}
