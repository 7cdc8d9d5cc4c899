//! Files and environment → resolved, immutable settings; read once, all errors at once.
//!
//! Every file is read strictly: an unknown key, a wrong type, a missing unit or a number that is not
//! finite is an error with file, line, key, what was found and the way out. A file with errors
//! yields no settings at all. What needs more than the file itself (the examples of a robot file,
//! which run against schema and limits) is checked by `gate` and reported in the same list.

mod board;
mod environment;
mod error;
mod file;
mod policy;
mod reader;
mod robot;
mod scenario;
mod schema;
mod tiers;

pub use board::Board;
pub use environment::{Environment, ReplayFiles};
pub use error::{ConfigError, ConfigErrors, Place};
pub use file::toml_stems;
pub use policy::{PolicyFile, PolicyLayer, PolicyRule};
pub use robot::{
    AdvertUnknown, Area, ArgDef, ArgType, Completion, Deadman, DeadmanSource, EffectWord, Example,
    JsonPath, OnLimit, PathError, PathStep, Pose, RobotFile, SensorDef, Sensors, SpeedBound,
    SpeedMonitor, Standstill, StopPlan, StopStep, ToolDef, Verb, VerbCall, Workspace, load_robot,
};
pub use scenario::{
    Condition, Event, Expect, ExpectedRefusal, ExpectedStop, Fault, FaultAct, Loss, OperatorAct,
    Scenario, ScriptedAnswer, ScriptedCall, ScriptedTurn, When,
};
#[cfg(test)]
pub(crate) use schema::places::{BETWEEN, place_of, places};
pub use schema::{FileKind, Setting, list_settings};
pub use tiers::{Approval, CallDefaults, LeaseProfile, TierProfile, Tiers};

#[cfg(test)]
mod tests;
