//! The body of the simulated rover: two driven wheels, a gripper, and no opinion.
//!
//! It moves only as far as it is told to and only when time passes: [`Rover::step`] is a function of
//! what was ordered before, the seed and the number of steps. It knows neither messages nor rules.
//! Speeds change by bounded accelerations, so a stop takes time and distance as on a real floor.

use std::f64::consts::PI;

/// One step of the physics, ms.
pub(super) const STEP_MS: u64 = 10;
/// One step of the physics, s.
const STEP_S: f64 = 0.01;

/// Largest speed on the way to a goal, m/s: the bound that the robot file quotes.
pub const SPEED_MAX_MPS: f64 = 0.25;
/// Speed of the gripper's fingers, m/s: the bound that the robot file quotes.
pub const GRIPPER_SPEED_MPS: f64 = 0.05;
/// Largest speed that the wheels reach, m/s. Orders beyond it are not followed further.
pub(super) const WHEEL_SPEED_MAX_MPS: f64 = 0.5;
/// Largest speed of turning, rad/s.
pub(super) const TURN_MAX_RADPS: f64 = 1.0;
/// Widest opening of the gripper, m.
pub(super) const OPENING_MAX_M: f64 = 0.08;

/// Acceleration on the way to a wanted speed, m/s².
const ACCELERATION_MPS2: f64 = 0.5;
/// Deceleration of a stop, m/s²: from the wheels' largest speed to rest in 250 ms.
const BRAKE_MPS2: f64 = 2.0;
/// As [`ACCELERATION_MPS2`], rad/s².
const ACCELERATION_RADPS2: f64 = 2.0;
/// As [`BRAKE_MPS2`], rad/s²: from the largest turn to rest in 250 ms.
const BRAKE_RADPS2: f64 = 4.0;

/// A goal is reached within this distance, m.
const ARRIVAL_M: f64 = 0.05;
/// Above this error of heading the rover turns on the spot, rad.
const TURN_FIRST_RAD: f64 = 0.4;
/// Turning speed for each radian of error, 1/s.
const TURN_GAIN: f64 = 2.0;
/// Largest slip of the wheels, as a part of their speed. Chosen: a smooth floor.
const SLIP: f64 = 0.02;

/// What the rover is told to do.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Drive {
    /// Brake, then stand still.
    Rest,
    /// Keep these speeds.
    Speed {
        /// m/s, forward positive.
        linear: f64,
        /// rad/s, left positive.
        angular: f64,
    },
    /// Go to a point and stand still there.
    Goal {
        /// m.
        x: f64,
        /// m.
        y: f64,
        /// Largest speed on the way, m/s, up to [`SPEED_MAX_MPS`].
        mps: f64,
    },
}

/// Where the rover is.
#[derive(Debug, Clone, Copy, PartialEq)]
pub struct Placement {
    /// m.
    pub x: f64,
    /// m.
    pub y: f64,
    /// Heading, rad, from the x axis to the left, -π to π.
    pub yaw: f64,
    /// Speed along the heading, m/s; negative backwards.
    pub speed: f64,
}

/// The body.
#[derive(Debug, Clone)]
pub struct Rover {
    at: Placement,
    turn: f64,
    drive: Drive,
    arrived: bool,
    opening: f64,
    opening_goal: f64,
    travelled_m: f64,
    random: fastrand::Rng,
}

impl Rover {
    /// Makes a rover at rest at `home` (x, y), its gripper closed.
    pub fn new(seed: u64, home: [f64; 2]) -> Self {
        let [x, y] = home;
        Self {
            at: Placement {
                x,
                y,
                yaw: 0.0,
                speed: 0.0,
            },
            turn: 0.0,
            drive: Drive::Rest,
            arrived: false,
            opening: 0.0,
            opening_goal: 0.0,
            travelled_m: 0.0,
            random: fastrand::Rng::with_seed(seed),
        }
    }

    /// Orders a motion. Numbers that are not finite order rest.
    pub fn drive(&mut self, drive: Drive) {
        self.arrived = false;
        self.drive = match drive {
            Drive::Speed { linear, angular } if linear.is_finite() && angular.is_finite() => {
                Drive::Speed {
                    linear: linear.clamp(-WHEEL_SPEED_MAX_MPS, WHEEL_SPEED_MAX_MPS),
                    angular: angular.clamp(-TURN_MAX_RADPS, TURN_MAX_RADPS),
                }
            }
            Drive::Goal { x, y, mps } if [x, y, mps].iter().all(|number| number.is_finite()) => {
                Drive::Goal {
                    x,
                    y,
                    mps: mps.clamp(0.0, SPEED_MAX_MPS),
                }
            }
            Drive::Rest | Drive::Speed { .. } | Drive::Goal { .. } => Drive::Rest,
        };
    }

    /// Orders an opening of the gripper, m.
    pub fn open_to(&mut self, opening: f64) {
        if opening.is_finite() {
            self.opening_goal = opening.clamp(0.0, OPENING_MAX_M);
        }
    }

    /// Puts the rover elsewhere, as somebody would who carries it. What it does goes on.
    pub fn carry_to(&mut self, [x, y]: [f64; 2]) {
        if x.is_finite() && y.is_finite() {
            (self.at.x, self.at.y) = (x, y);
        }
    }

    /// Keeps the gripper as it is.
    pub fn hold_gripper(&mut self) {
        self.opening_goal = self.opening;
    }

    /// Lets one step of the physics pass, 10 ms.
    pub fn step(&mut self) {
        let finger_step = GRIPPER_SPEED_MPS * STEP_S;
        self.opening = toward(self.opening, self.opening_goal, finger_step);
        let (linear, angular) = self.wanted();
        let (dv, dw) = match self.drive {
            Drive::Rest => (BRAKE_MPS2 * STEP_S, BRAKE_RADPS2 * STEP_S),
            Drive::Speed { .. } | Drive::Goal { .. } => {
                (ACCELERATION_MPS2 * STEP_S, ACCELERATION_RADPS2 * STEP_S)
            }
        };
        self.at.speed = toward(self.at.speed, linear, dv);
        self.turn = toward(self.turn, angular, dw);
        self.roll();
    }

    /// Returns where the rover is.
    pub fn placement(&self) -> Placement {
        self.at
    }

    /// Returns the way it came, m.
    pub fn travelled_m(&self) -> f64 {
        self.travelled_m
    }

    /// Returns the opening of the gripper, m.
    pub fn opening(&self) -> f64 {
        self.opening
    }

    /// Returns what the rover is told to do; a goal that was reached has become rest.
    pub fn order(&self) -> Drive {
        self.drive
    }

    /// Returns whether the latest order was a goal, which the rover reached and stands at.
    pub fn has_arrived(&self) -> bool {
        self.arrived && self.is_at_rest()
    }

    /// Returns whether wheels and turning stand still.
    pub fn is_at_rest(&self) -> bool {
        is_zero(self.at.speed) && is_zero(self.turn)
    }

    /// Returns whether the gripper has reached what was ordered.
    pub fn is_gripper_done(&self) -> bool {
        is_zero(self.opening - self.opening_goal)
    }

    /// The speeds that the order asks for in this step.
    fn wanted(&mut self) -> (f64, f64) {
        match self.drive {
            Drive::Rest => (0.0, 0.0),
            Drive::Speed { linear, angular } => (linear, angular),
            Drive::Goal { x, y, mps } => self.toward_goal([x, y], mps),
        }
    }

    fn toward_goal(&mut self, [x, y]: [f64; 2], mps: f64) -> (f64, f64) {
        let (dx, dy) = (x - self.at.x, y - self.at.y);
        let distance = dx.hypot(dy);
        if distance <= ARRIVAL_M {
            self.drive = Drive::Rest;
            self.arrived = true;
            return (0.0, 0.0);
        }
        let error = wrapped(dy.atan2(dx) - self.at.yaw);
        let angular = (error * TURN_GAIN).clamp(-TURN_MAX_RADPS, TURN_MAX_RADPS);
        if error.abs() > TURN_FIRST_RAD {
            return (0.0, angular);
        }
        // Slow enough to brake gently before the goal.
        let braking = (2.0 * ACCELERATION_MPS2 * distance).sqrt() * 0.5;
        (braking.min(mps) * error.cos(), angular)
    }

    /// Moves the body by one step, with a little slip. A rover at rest does not move at all.
    fn roll(&mut self) {
        if self.is_at_rest() {
            return;
        }
        let grip = 1.0 - SLIP * self.random.f64();
        let drift = SLIP * (self.random.f64() - 0.5) * self.at.speed;
        let way = self.at.speed * STEP_S * grip;
        self.at.yaw = wrapped(self.at.yaw + (self.turn + drift) * STEP_S);
        self.at.x += way * self.at.yaw.cos();
        self.at.y += way * self.at.yaw.sin();
        self.travelled_m += way.abs();
    }
}

fn toward(from: f64, to: f64, step: f64) -> f64 {
    from + (to - from).clamp(-step, step)
}

fn is_zero(value: f64) -> bool {
    value.abs() < 1e-9
}

/// An angle in -π to π.
fn wrapped(angle: f64) -> f64 {
    (angle + PI).rem_euclid(2.0 * PI) - PI
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(rover: &mut Rover, steps: usize) {
        (0..steps).for_each(|_| rover.step());
    }

    fn goal(x: f64, y: f64) -> Drive {
        let mps = SPEED_MAX_MPS;
        Drive::Goal { x, y, mps }
    }

    #[test]
    fn a_goal_with_a_lower_bound_is_reached_more_slowly() {
        let mut rover = Rover::new(7, [0.0, 0.0]);
        rover.drive(Drive::Goal {
            x: 0.5,
            y: 0.0,
            mps: 0.1,
        });
        let mut fastest: f64 = 0.0;
        for _ in 0..800 {
            rover.step();
            fastest = fastest.max(rover.placement().speed.abs());
        }
        assert!(rover.has_arrived() && fastest <= 0.1, "{fastest}");
    }

    #[test]
    fn a_goal_is_reached_below_the_speed_bound_and_the_rover_stands_still_there() {
        for (x, y) in [
            (1.5, 0.0),
            (-1.0, 1.0),
            (0.0, -1.2),
            (-0.5, 0.0),
            (0.01, 0.0),
        ] {
            let mut rover = Rover::new(7, [0.0, 0.0]);
            rover.drive(goal(x, y));
            let mut fastest: f64 = 0.0;
            for _ in 0..3000 {
                rover.step();
                fastest = fastest.max(rover.placement().speed.abs());
            }
            assert!(rover.has_arrived(), "{x} {y}");
            let end = rover.placement();
            assert!((end.x - x).hypot(end.y - y) <= ARRIVAL_M, "{end:?}");
            assert!(fastest <= SPEED_MAX_MPS, "{fastest}");
            run(&mut rover, 100);
            assert_eq!(rover.placement(), end);
        }
    }

    #[test]
    fn a_stop_from_the_largest_speed_stands_still_in_less_than_300_ms() {
        let mut rover = Rover::new(7, [0.0, 0.0]);
        rover.drive(Drive::Speed {
            linear: 9.0,
            angular: 9.0,
        });
        run(&mut rover, 300);
        assert!((rover.placement().speed - WHEEL_SPEED_MAX_MPS).abs() < 1e-9);
        rover.drive(Drive::Rest);
        let mut steps = 0;
        while !rover.is_at_rest() {
            rover.step();
            steps += 1;
        }
        assert!(steps * STEP_MS < 300, "{steps}");
        assert!(!rover.has_arrived());
    }

    #[test]
    fn the_same_seed_gives_the_same_way_and_another_seed_another() {
        let way = |seed| {
            let mut rover = Rover::new(seed, [0.0, 0.0]);
            rover.drive(goal(1.0, 0.5));
            run(&mut rover, 500);
            rover.placement()
        };
        assert_eq!(way(7), way(7));
        assert_ne!(way(7), way(8));
    }

    #[test]
    fn numbers_that_are_not_finite_order_rest() {
        let mut rover = Rover::new(7, [0.0, 0.0]);
        rover.drive(Drive::Speed {
            linear: f64::NAN,
            angular: 0.1,
        });
        rover.drive(goal(f64::INFINITY, 0.0));
        run(&mut rover, 50);
        assert_eq!(rover.placement(), Rover::new(7, [0.0, 0.0]).placement());
    }

    #[test]
    fn the_gripper_moves_at_its_own_speed() {
        let mut rover = Rover::new(7, [0.0, 0.0]);
        rover.open_to(0.05);
        run(&mut rover, 99);
        assert!(!rover.is_gripper_done());
        run(&mut rover, 2);
        assert!(rover.is_gripper_done());
    }
}
