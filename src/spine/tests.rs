//! The loop on paused time: goals end, progress follows the robot's states and nothing else.

use std::sync::atomic::{AtomicU32, AtomicU64, Ordering};
use std::sync::{Arc, Mutex};
use std::time::{Duration, SystemTime};

use futures::future::{self, BoxFuture, join};
use serde_json::{Map, Value, json};
use tokio::sync::watch;
use tokio::time::{Instant, sleep};

use super::{GOAL_BYTES_MAX, GOALS_MAX, GoalError, Parts, REPLY_MS_MAX, Spine, SpineHandle};
use crate::agent::{Agent, Limits};
use crate::catalog::{CallCx, CatalogBuilder, RawTool};
use crate::executor::{Executor, NoRobot, Ports};
use crate::gate::{Pace, PolicyStack};
use crate::terms::{
    Access, Budget, Call, Clock, Descriptor, Effect, Fact, FactSink, Lane, LaneError, LaneReply,
    Message, Mono, Posture, RobotPort, SENSOR_TOKENS, Senses, StopCause, StopKind, Surroundings,
    Tier, ToolError, ToolName, ToolSpec,
};

#[derive(Debug)]
struct PausedClock(Instant);

impl Clock for PausedClock {
    fn now(&self) -> Mono {
        Mono::from_ns(u64::try_from(self.0.elapsed().as_nanos()).unwrap())
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

#[derive(Debug, Default)]
struct Facts(Mutex<Vec<Fact>>);

impl FactSink for Facts {
    fn raise(&self, fact: Fact) {
        self.0.lock().unwrap().push(fact);
    }
}

/// A tool that takes ten seconds.
#[derive(Debug)]
struct Slow;

impl RawTool for Slow {
    fn describe(&self) -> Descriptor {
        Descriptor {
            name: ToolName::parse("slow").unwrap(),
            description: "takes its time".into(),
            schema: Arc::new(json!({
                "type": "object", "properties": {}, "additionalProperties": false,
            })),
            effect: Effect::Observe { tier: None },
            access: Access::Shared,
            budget: Budget::of_ms(60_000),
            rule: None,
        }
    }

    fn run<'a>(
        &'a self,
        _cx: CallCx<'a>,
        _args: Map<String, Value>,
    ) -> BoxFuture<'a, Result<String, ToolError>> {
        Box::pin(async {
            sleep(Duration::from_secs(10)).await;
            Ok("done".to_owned())
        })
    }
}

/// Replies in order, `None` never; then as if the model were done.
#[derive(Debug)]
struct Replies(std::vec::IntoIter<Option<LaneReply>>);

impl Lane for Replies {
    fn reply<'a>(
        &'a mut self,
        _conversation: &'a [Message],
        _tools: &'a [ToolSpec],
    ) -> BoxFuture<'a, Result<LaneReply, LaneError>> {
        match self.0.next() {
            Some(None) => Box::pin(future::pending()),
            Some(Some(reply)) => Box::pin(future::ready(Ok(reply))),
            None => Box::pin(future::ready(Ok(LaneReply::default()))),
        }
    }
}

/// A robot without a sensor.
#[derive(Debug)]
struct Numb;

impl Senses for Numb {
    fn sense(&self) -> Surroundings {
        Surroundings {
            posture: Posture::at_rest([0.0; 3]),
            tier: Tier::Observe,
            readings: Vec::new(),
            tokens_max: SENSOR_TOKENS,
        }
    }
}

struct Kit {
    spine: Spine,
    handle: SpineHandle,
    facts: Arc<Facts>,
    robot: Arc<dyn RobotPort>,
    states: watch::Sender<u64>,
    progress: Arc<AtomicU64>,
    began: Instant,
}

/// No robot, but a count of persons' stops.
#[derive(Debug)]
struct Stoppable(NoRobot, AtomicU32);

impl RobotPort for Stoppable {
    fn posture(&self) -> Posture {
        let person_stops = self.1.load(Ordering::SeqCst);
        Posture {
            person_stops,
            ..self.0.posture()
        }
    }

    fn stop(&self, _: StopKind, _: StopCause, _: Option<&str>) -> u32 {
        self.1.fetch_add(1, Ordering::SeqCst)
    }

    fn at_rest(&self) -> BoxFuture<'_, bool> {
        self.0.at_rest()
    }
}

fn kit(replies: Vec<Option<LaneReply>>, limits: Limits) -> Kit {
    let began = Instant::now();
    let clock = Arc::new(PausedClock(began));
    let facts = Arc::new(Facts::default());
    let ports = Ports {
        clock: clock.clone(),
        facts: facts.clone(),
        robot: Arc::new(Stoppable(NoRobot::new(clock), AtomicU32::new(0))),
        human: Arc::new(crate::terms::Nobody),
        elevations: Arc::new(crate::terms::NoElevations),
    };
    let robot = Arc::clone(&ports.robot);
    let catalog = CatalogBuilder::new().raw(Arc::new(Slow)).build().unwrap();
    let view = catalog.view(&PolicyStack::root(Tier::Observe));
    let (states, watched) = watch::channel(0);
    let progress = Arc::new(AtomicU64::new(0));
    let (spine, handle) = Spine::new(Parts {
        agent: Agent::new(limits, String::new(), view.actuating()),
        lane: Box::new(Replies(replies.into_iter())),
        executor: Arc::new(Executor::new(ports, Pace::without_robot())),
        senses: Arc::new(Numb),
        views: watch::Sender::new(view).subscribe(),
        states: watched,
        progress: progress.clone(),
    });
    Kit {
        spine,
        handle,
        facts,
        robot,
        states,
        progress,
        began,
    }
}

fn slow() -> Option<LaneReply> {
    Some(LaneReply {
        text: String::new(),
        calls: vec![Call {
            id: "c".to_owned(),
            tool: "slow".to_owned(),
            args: json!({}),
        }],
    })
}

/// Runs the spine until its goal has ended, then ends it.
async fn until_ended(spine: Spine, handle: SpineHandle) {
    let mut changes = handle.status_changes();
    let ended = async {
        let end = changes.wait_for(|status| status.last_end.is_some()).await;
        assert!(end.is_ok());
        handle.shutdown();
    };
    join(spine.run(), ended).await;
}

fn ends(facts: &Facts) -> Vec<(u32, String, u32)> {
    let facts = facts.0.lock().unwrap();
    let end = |fact: &Fact| {
        let Fact::GoalEnded {
            goal, why, steps, ..
        } = fact
        else {
            return None;
        };
        Some((*goal, why.clone(), *steps))
    };
    facts.iter().filter_map(end).collect()
}

#[tokio::test(start_paused = true)]
async fn a_goal_is_pursued_to_its_end_and_recorded_without_its_text() {
    let kit = kit(vec![slow()], Limits::default());
    let taken = kit
        .handle
        .goal("drive to the secret dock", ("ada", None))
        .unwrap();
    assert_eq!((taken.number, taken.running, taken.ahead), (1, None, 0));
    until_ended(kit.spine, kit.handle.clone()).await;
    assert_eq!(ends(&kit.facts), [(1, "done".to_owned(), 2)]);
    let status = kit.handle.status();
    assert_eq!((status.goal, status.running), (1, false));
    assert_eq!((status.answered, status.steps), (1, 2));
    assert_eq!(status.last_end.as_deref(), Some("done"));
    let told = format!("{:?}", kit.facts);
    assert!(told.contains("ada") && !told.contains("secret"), "{told}");
}

#[tokio::test(start_paused = true)]
async fn while_a_call_runs_progress_follows_the_states_and_no_timer() {
    let kit = kit(vec![slow()], Limits::default());
    kit.handle.goal("go", ("ada", None)).unwrap();
    let watch = async {
        sleep(Duration::from_secs(1)).await;
        let silent = kit.progress.load(Ordering::Acquire);
        sleep(Duration::from_secs(1)).await;
        assert_eq!(kit.progress.load(Ordering::Acquire), silent, "no state");
        for nth in 1..=20 {
            kit.states.send_replace(nth);
            sleep(Duration::from_millis(100)).await;
            assert_eq!(kit.progress.load(Ordering::Acquire), silent + nth);
        }
    };
    join(until_ended(kit.spine, kit.handle.clone()), watch).await;
}

#[tokio::test(start_paused = true)]
async fn an_idle_spine_iterates_on_states_and_outlives_their_source() {
    let kit = kit(Vec::new(), Limits::default());
    let states = kit.states;
    let outside = async {
        sleep(Duration::from_secs(1)).await;
        states.send_replace(1);
        sleep(Duration::from_secs(1)).await;
        assert_eq!(kit.progress.load(Ordering::Acquire), 1);
        drop(states);
        sleep(Duration::from_secs(1)).await;
        assert_eq!(kit.progress.load(Ordering::Acquire), 1);
        kit.handle.goal("go", ("ada", None)).unwrap();
    };
    join(until_ended(kit.spine, kit.handle.clone()), outside).await;
    assert_eq!(ends(&kit.facts), [(1, "done".to_owned(), 1)]);
}

#[tokio::test(start_paused = true)]
async fn a_model_that_does_not_reply_ends_the_goal_after_its_wait() {
    let kit = kit(vec![None], Limits::default());
    kit.handle.goal("go", ("ada", None)).unwrap();
    until_ended(kit.spine, kit.handle.clone()).await;
    assert_eq!(ends(&kit.facts), [(1, "lane_failed".to_owned(), 1)]);
    assert_eq!(kit.began.elapsed(), Duration::from_millis(REPLY_MS_MAX));
}

#[tokio::test(start_paused = true)]
async fn when_the_time_of_a_goal_is_over_its_call_is_cancelled() {
    let limits = Limits {
        wall_ms_max: 4_000,
        ..Limits::default()
    };
    let kit = kit(vec![slow()], limits);
    kit.handle.goal("go", ("ada", None)).unwrap();
    until_ended(kit.spine, kit.handle.clone()).await;
    assert_eq!(ends(&kit.facts), [(1, "wall_clock".to_owned(), 1)]);
    assert_eq!(kit.began.elapsed(), Duration::from_secs(4));
}

#[tokio::test(start_paused = true)]
async fn shutdown_cancels_the_call_and_ends_the_goal() {
    let kit = kit(vec![slow()], Limits::default());
    kit.handle.goal("go", ("ada", None)).unwrap();
    let outside = async {
        sleep(Duration::from_secs(2)).await;
        kit.handle.shutdown();
    };
    join(kit.spine.run(), outside).await;
    assert_eq!(ends(&kit.facts), [(1, "shutdown".to_owned(), 1)]);
    assert_eq!(kit.began.elapsed(), Duration::from_secs(2));
    assert_eq!(
        kit.handle.goal("more", ("ada", None)),
        Err(GoalError::Ended)
    );
}

#[tokio::test(start_paused = true)]
async fn goals_wait_in_a_bounded_queue_and_long_ones_are_not_taken() {
    let kit = kit(Vec::new(), Limits::default());
    let long = "x".repeat(GOAL_BYTES_MAX + 1);
    let (found, max) = (long.len(), GOAL_BYTES_MAX);
    let too_long = Err(GoalError::TooLong { found, max });
    assert_eq!(kit.handle.goal(&long, ("ada", None)), too_long);
    for nth in 1..=8 {
        let taken = kit.handle.goal("go", ("ada", None)).unwrap();
        assert_eq!((taken.number, taken.ahead), (nth, nth - 1));
    }
    let max = GOALS_MAX;
    assert_eq!(
        kit.handle.goal("go", ("ada", None)),
        Err(GoalError::Busy { max })
    );
    let mut changes = kit.handle.status_changes();
    let outside = async {
        let last = changes.wait_for(|status| status.goal == 8 && !status.running);
        assert!(last.await.is_ok());
        kit.handle.shutdown();
    };
    join(kit.spine.run(), outside).await;
    let numbers: Vec<u32> = ends(&kit.facts).iter().map(|(goal, ..)| *goal).collect();
    assert_eq!(numbers, [1, 2, 3, 4, 5, 6, 7, 8]);
}

/// The goals that were given and not begun, with why.
fn dropped(facts: &Facts) -> Vec<(u32, String)> {
    let facts = facts.0.lock().unwrap();
    let one = |fact: &Fact| {
        let Fact::GoalDropped { goal, why, .. } = fact else {
            return None;
        };
        Some((*goal, why.clone()))
    };
    facts.iter().filter_map(one).collect()
}

#[tokio::test(start_paused = true)]
async fn a_goal_that_waited_while_a_person_stopped_the_robot_is_not_begun_and_it_is_told() {
    let kit = kit(vec![slow()], Limits::default());
    kit.handle.goal("drive on", ("ada", None)).unwrap();
    kit.robot
        .stop(StopKind::Stop, StopCause::OperatorStop, None);
    until_ended(kit.spine, kit.handle.clone()).await;
    assert_eq!(ends(&kit.facts), [], "it never began");
    assert_eq!(dropped(&kit.facts), [(1, "stopped".to_owned())]);
    let status = kit.handle.status();
    assert_eq!(status.answered, 0, "no call was made");
    assert_eq!(status.last_end.as_deref(), Some("stopped before it began"));
}

#[tokio::test(start_paused = true)]
async fn a_goal_behind_another_is_told_its_place_and_the_end_tells_what_became_of_it() {
    let kit = kit(vec![slow()], Limits::default());
    kit.handle.goal("go", ("ada", None)).unwrap();
    let outside = async {
        sleep(Duration::from_secs(3)).await;
        let second = kit.handle.goal("then there", ("bob", None)).unwrap();
        assert_eq!(second.running, Some((1, 3_000)));
        assert_eq!((second.number, second.ahead), (2, 0));
        let third = kit.handle.goal("then home", ("bob", None)).unwrap();
        assert_eq!((third.number, third.ahead), (3, 1));
        assert_eq!(kit.handle.waiting(), 2);
        kit.handle.shutdown();
    };
    join(kit.spine.run(), outside).await;
    assert_eq!(ends(&kit.facts), [(1, "shutdown".to_owned(), 1)]);
    let shutdown = || "shutdown".to_owned();
    assert_eq!(dropped(&kit.facts), [(2, shutdown()), (3, shutdown())]);
}

#[tokio::test(start_paused = true)]
async fn before_each_reply_the_model_is_shown_its_robot_and_the_record_says_what_by_digest() {
    let kit = kit(vec![slow()], Limits::default());
    kit.handle.goal("go", ("ada", None)).unwrap();
    until_ended(kit.spine, kit.handle.clone()).await;
    let facts = kit.facts.0.lock().unwrap();
    let shown: Vec<(u32, u32, &str)> = facts
        .iter()
        .filter_map(|fact| {
            let Fact::SensorsShown {
                goal, step, digest, ..
            } = fact
            else {
                return None;
            };
            Some((*goal, *step, digest.as_str()))
        })
        .collect();
    let [(1, 1, first), (1, 2, second)] = shown[..] else {
        panic!("{shown:?}");
    };
    assert_eq!(first, second, "nothing changed, and no time was shown");
    assert_eq!(first.len(), 16);
}
