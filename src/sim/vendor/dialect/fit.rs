//! From the parameters of a request to an order, as strictly as vendors read them.

use serde_json::Value;

use super::{Deed, Form, Meaning, Motion, Order, Param, Part, Role};
use crate::config::{ArgType, JsonPath, PathStep};
use crate::sim::rover::{OPENING_MAX_M, SPEED_MAX_MPS};

/// Goals farther than this from the origin, or from the robot, are refused, m. Chosen: a large hall.
const GOAL_MAX_M: f64 = 100.0;
/// Largest speeds that may be asked for, m/s and rad/s.
const SPEED_ASKED_MAX: f64 = 5.0;
/// Largest force of the gripper, N.
const FORCE_MAX_N: f64 = 60.0;
/// Longest text in a parameter, bytes.
const TEXT_BYTES_MAX: usize = 128;
/// Longest name of a parameter that an answer repeats, characters.
const NAME_CHARS_MAX: usize = 40;

impl Form {
    /// Reads parameters; the error names the one that does not fit.
    pub(super) fn read(&self, body: &Value) -> Result<Order, String> {
        self.params.iter().try_for_each(|param| param.fits(body))?;
        self.judge_names(body, &mut Vec::new())?;
        let said = Said { form: self, body };
        Ok(match &self.meaning {
            Meaning::Heartbeat => Order::Heartbeat,
            Meaning::Capabilities => Order::Capabilities,
            Meaning::SelfTest => Order::SelfTest,
            Meaning::Pose => Order::Pose,
            Meaning::Stop => Order::Stop,
            Meaning::Estop => Order::Estop {
                reason: said.text(&Role::Reason).unwrap_or_default().to_owned(),
            },
            Meaning::Release => Order::Release,
            Meaning::Nothing => Order::Nothing,
            Meaning::Motion(motion) => Order::Motion(Motion {
                deed: said.deed(&motion.part)?,
                source: said.text(&Role::Source).map(str::to_owned),
                answers: motion.answers,
                words: motion.words.clone(),
            }),
        })
    }

    /// Refuses what no parameter is named for. Goes no deeper than the parameters do, 8 steps.
    fn judge_names(&self, at: &Value, way: &mut Vec<PathStep>) -> Result<(), String> {
        let leads = |way: &[PathStep], whole: bool| {
            let mut params = self.params.iter();
            params.any(|param| {
                param.path.0.starts_with(way) && (param.path.0.len() == way.len()) == whole
            })
        };
        if leads(way, true) {
            return Ok(());
        }
        if !way.is_empty() && !leads(way, false) {
            return Err(format!("unknown key {}", shown(way)));
        }
        match at {
            Value::Object(members) => {
                for (key, inner) in members {
                    way.push(PathStep::Key(key.clone()));
                    self.judge_names(inner, way)?;
                    way.pop();
                }
            }
            Value::Array(elements) => {
                for (index, inner) in (0..).zip(elements) {
                    way.push(PathStep::Index(index));
                    self.judge_names(inner, way)?;
                    way.pop();
                }
            }
            Value::Null | Value::Bool(_) | Value::Number(_) | Value::String(_) => {
                return Err(format!("{} holds no parameters", shown(way)));
            }
        }
        Ok(())
    }
}

impl Param {
    fn fits(&self, body: &Value) -> Result<(), String> {
        let name = &self.path;
        let Some(value) = name.find(body) else {
            return match self.required {
                true => Err(format!("{name} is missing")),
                false => Ok(()),
            };
        };
        if let Some(constant) = &self.constant {
            return match value == constant {
                true => Ok(()),
                false => Err(format!("{name} is not {constant}")),
            };
        }
        let fits = match self.kind {
            ArgType::F64 => value.is_number(),
            ArgType::U64 => value.is_u64(),
            ArgType::I64 => value.is_i64(),
            ArgType::Bool => value.is_boolean(),
            ArgType::String => value.is_string(),
        };
        if !fits {
            return Err(format!("{name} is of a wrong type"));
        }
        if value
            .as_str()
            .is_some_and(|text| text.len() > TEXT_BYTES_MAX)
        {
            return Err(format!("{name} is longer than {TEXT_BYTES_MAX} bytes"));
        }
        match (value.as_f64(), self.role.range()) {
            (Some(number), Some((min, max))) if !(min..=max).contains(&number) => {
                Err(format!("{name} is outside {min} to {max}"))
            }
            (Some(_) | None, Some(_) | None) => Ok(()),
        }
    }
}

impl Role {
    /// What the body takes, in the unit of the number.
    fn range(&self) -> Option<(f64, f64)> {
        match self {
            Self::Forward | Self::Turn | Self::SpeedLimit => {
                Some((-SPEED_ASKED_MAX, SPEED_ASKED_MAX))
            }
            Self::TargetX | Self::TargetY | Self::Ahead => Some((-GOAL_MAX_M, GOAL_MAX_M)),
            Self::Opening => Some((0.0, OPENING_MAX_M)),
            Self::Force => Some((0.0, FORCE_MAX_N)),
            Self::Plain | Self::Place(_) | Self::Source | Self::Reason => None,
        }
    }
}

/// Parameters that fit a form.
struct Said<'a> {
    form: &'a Form,
    body: &'a Value,
}

impl Said<'_> {
    fn deed(&self, part: &Part) -> Result<Deed, String> {
        Ok(match part {
            Part::Velocity { lives_ms } => Deed::Velocity {
                linear: self.sum(&Role::Forward).unwrap_or(0.0),
                angular: self.sum(&Role::Turn).unwrap_or(0.0),
                lives_ms: *lives_ms,
            },
            Part::Goal { mps } => {
                let asked = self.sum(&Role::SpeedLimit).map_or(SPEED_MAX_MPS, f64::abs);
                self.goal(mps.min(asked))?
            }
            // Without an opening the fingers close.
            Part::Gripper => Deed::Gripper {
                opening: self.sum(&Role::Opening).unwrap_or(0.0),
            },
        })
    }

    fn goal(&self, mps: f64) -> Result<Deed, String> {
        if let (Some(x), Some(y)) = (self.sum(&Role::TargetX), self.sum(&Role::TargetY)) {
            return Ok(Deed::Goal { to: [x, y], mps });
        }
        for param in &self.form.params {
            let Role::Place(places) = &param.role else {
                continue;
            };
            if let Some(name) = param.path.find(self.body).and_then(Value::as_str) {
                let to = places.get(name);
                let to = to.ok_or_else(|| format!("{} names no place", param.path))?;
                return Ok(Deed::Goal { to: *to, mps });
            }
        }
        match self.sum(&Role::Ahead) {
            Some(m) => Ok(Deed::Ahead { m, mps }),
            None => Err("no goal is given".to_owned()),
        }
    }

    /// The numbers of this role together; `None` when there is none.
    fn sum(&self, role: &Role) -> Option<f64> {
        self.of(role).filter_map(Value::as_f64).reduce(|a, b| a + b)
    }

    fn text(&self, role: &Role) -> Option<&str> {
        self.of(role).find_map(Value::as_str)
    }

    fn of(&self, role: &Role) -> impl Iterator<Item = &Value> {
        let params = self
            .form
            .params
            .iter()
            .filter(move |param| param.role == *role);
        params.filter_map(|param| param.path.find(self.body))
    }
}

/// A way, cut: its names come from outside.
fn shown(way: &[PathStep]) -> String {
    let written = JsonPath(way.to_vec()).to_string();
    written.chars().take(NAME_CHARS_MAX).collect()
}
