//! Elevations in the whole agent, under a virtual clock: given, used, and over in every way.

use super::hand::{Asks, is_gate, play};
use crate::app::control::{Answer, Speaker, Word, remedies};
use crate::app::parts::Held;
use crate::sim::JournalEntry;
use crate::telemetry::{Metrics, RobotLabels};
use crate::terms::{ElevationEnd, Fact, RunState, StopCause, Tier};

const GO: &str = r#"{ tool = "rover_go_to_pose", args = { x = 1.5, y = 0.0 } }"#;
const GRIP: &str = r#"{ tool = "rover_gripper_set", args = { opening = 0.05, force = 10.0 } }"#;
const LOOK: &str = r#"{ tool = "rover_get_pose", args = {} }"#;
const DRIVE: &str = r#"{ tool = "rover_set_velocity", args = { linear = 0.1, angular = 0.0 } }"#;

fn is_motion(fact: &Fact) -> bool {
    matches!(fact, Fact::CommandSent { moves: true, .. })
}

fn is_end(fact: &Fact) -> bool {
    matches!(fact, Fact::ElevationEnded { .. })
}

fn finished(fact: &Fact) -> bool {
    matches!(fact, Fact::Finished { .. })
}

fn moves_at(speed_mps: f64) -> impl Fn(&Fact) -> bool {
    move |fact| matches!(fact, Fact::RobotState { speed: Some(speed), .. } if *speed > speed_mps)
}

#[test]
fn case_70_a_closed_terminal_ends_the_elevation_and_the_running_call_above_the_ceiling_is_stopped()
{
    play(Asks::Nobody, &[GO, "", GO, "", DRIVE, ""], async |hand| {
        hand.arm();
        let held = hand.elevate(&["rover_go_to_pose"], 3, 3_600).unwrap();
        hand.goal();
        hand.until("one call of it", |f| {
            matches!(f, Fact::ElevationUsed { left: 2, .. })
        })
        .await;
        hand.until("the drive", moves_at(0.1)).await;
        drop(held);
        let end = hand.until("its end", is_end).await;
        assert!(
            matches!(
                end,
                Fact::ElevationEnded {
                    cause: ElevationEnd::OperatorLost,
                    left: 2,
                    ..
                }
            ),
            "{end:?}"
        );
        hand.seen = 0;
        let stop =
            |f: &Fact| matches!(f, Fact::StopBegun { cause, .. } if *cause == StopCause::Deadline);
        hand.until("the stop", stop).await;
        hand.until("standstill", |f| matches!(f, Fact::Standstill { .. }))
            .await;
        let answer = hand.until("the answer", finished).await;
        let Fact::Finished {
            outcome, detail, ..
        } = answer
        else {
            panic!("no answer");
        };
        assert_eq!(outcome, "cancelled");
        assert!(
            detail.contains("the elevation that permitted the call is over; at rest"),
            "{detail}"
        );
        hand.goal_ended().await;
        assert_eq!((hand.run(), hand.motions()), (RunState::Armed, 1));
        assert!(hand.live().is_empty());

        hand.refused_by_the_tier().await;
        assert_eq!(hand.motions(), 1, "nothing left");
        hand.goal();
        hand.until("a drive of the old tier", is_motion).await;
        hand.goal_ended().await;
        assert_eq!(hand.ends(), [(ElevationEnd::OperatorLost, 2)]);
    });
}

#[test]
fn case_23_after_an_estop_and_a_reset_and_after_a_stop_the_elevation_is_gone() {
    let (who, why) = (String::from("ann"), String::from("a test"));
    for (word, cause) in [
        (
            Word::Estop {
                who: who.clone(),
                why: why.clone(),
            },
            ElevationEnd::Estop,
        ),
        (
            Word::Stop {
                who: who.clone(),
                why: why.clone(),
            },
            ElevationEnd::Stop,
        ),
        (
            Word::Disarm {
                who: who.clone(),
                why: why.clone(),
            },
            ElevationEnd::Disarm,
        ),
    ] {
        let reset = Word::Reset {
            who: who.clone(),
            why: why.clone(),
        };
        play(Asks::Nobody, &[GRIP, "", GRIP, ""], async |hand| {
            hand.arm();
            let _held = hand.elevate(&["rover_gripper_set"], 3, 3_600).unwrap();
            hand.goal();
            hand.until("a motion of the gripper", is_motion).await;
            hand.goal_ended().await;
            assert_eq!(hand.live()[0].calls_left, 2);
            hand.say(&word);
            hand.rest_ms(1_000).await;
            if cause == ElevationEnd::Estop {
                assert_eq!(hand.run(), RunState::Latched);
                let answer = hand.say(&reset);
                assert!(matches!(answer, Answer::Done { .. }), "{answer:?}");
            }
            if hand.run() == RunState::Disarmed {
                hand.arm();
            }
            assert_eq!(hand.run(), RunState::Armed);
            hand.rest_ms(3_000).await;
            hand.refused_by_the_tier().await;
            assert_eq!(hand.motions(), 1, "nothing left");
            assert_eq!(hand.ends(), [(cause, 2)]);
            assert!(hand.live().is_empty());
        });
    }
}

#[test]
fn a_stop_of_the_model_ends_it_and_the_ordinary_end_of_a_hold_does_not() {
    let stop = r#"{ tool = "rover_stop", args = {} }"#;
    play(
        Asks::Nobody,
        &[DRIVE, "", stop, "", GRIP, ""],
        async |hand| {
            hand.arm();
            let _held = hand.elevate(&["rover_gripper_set"], 3, 3_600).unwrap();
            hand.goal();
            let over = |f: &Fact| matches!(f, Fact::StopBegun { cause, .. } if *cause == StopCause::Deadline);
            hand.until("the end of the hold", over).await;
            hand.goal_ended().await;
            assert_eq!(hand.live().len(), 1);
            hand.goal();
            hand.goal_ended().await;
            hand.rest_ms(500).await;
            assert_eq!(hand.ends(), [(ElevationEnd::Stop, 3)]);
            hand.refused_by_the_tier().await;
        },
    );
}

#[test]
fn its_time_ends_it_and_stops_the_call_that_runs() {
    play(Asks::Nobody, &[GO, "", GRIP, ""], async |hand| {
        hand.arm();
        let tools = ["rover_go_to_pose", "rover_gripper_set"];
        let _held = hand.elevate(&tools, 3, 2).unwrap();
        hand.goal();
        hand.until("the drive", moves_at(0.1)).await;
        let answer = hand.until("the answer", finished).await;
        let Fact::Finished {
            outcome, detail, ..
        } = answer
        else {
            panic!("no answer");
        };
        assert_eq!(outcome, "cancelled");
        assert!(detail.contains("elevation"), "{detail}");
        hand.goal_ended().await;
        assert_eq!(hand.run(), RunState::Armed);
        hand.refused_by_the_tier().await;
        assert_eq!(hand.ends(), [(ElevationEnd::Time, 2)]);
    });
}

#[test]
fn the_last_of_its_calls_may_finish_and_ends_it() {
    play(Asks::Nobody, &[GO, "", GO, ""], async |hand| {
        hand.arm();
        let mut held = hand.elevate(&["rover_go_to_pose"], 1, 3_600).unwrap();
        hand.goal();
        hand.until("the drive", moves_at(0.1)).await;
        let live = &hand.live()[0];
        assert_eq!((live.calls_left, live.calls_running), (0, 1));
        let answer = hand.until("the answer", finished).await;
        assert!(
            matches!(&answer, Fact::Finished { outcome, .. } if outcome == "done"),
            "{answer:?}"
        );
        hand.goal_ended().await;
        let news: Vec<String> = held.news().iter().map(|news| news.to_text()).collect();
        assert_eq!(
            news,
            [
                "elevation 1, used: rover_go_to_pose (call-1-1), 0 left",
                "elevation 1, over: its calls are used up (used_up), 0 calls left"
            ]
        );
        assert!(held.news().is_empty(), "told once");
        hand.refused_by_the_tier().await;
        assert_eq!(hand.ends(), [(ElevationEnd::UsedUp, 0)]);
        let again = hand.elevate(&["rover_go_to_pose"], 1, 60);
        assert!(again.is_ok(), "one that is over is in nobody's way");
    });
}

#[test]
fn what_a_terminal_raises_and_the_goal_it_gives_are_recorded_with_its_process() {
    play(Asks::Nobody, &[""], async |hand| {
        hand.arm();
        let terminal = Speaker::Process {
            pid: 4711,
            uid: 1000,
            is_child: false,
        };
        let elevate = Word::Elevate {
            who: "ann".to_owned(),
            why: "a test".to_owned(),
            tier: Tier::FullActuation,
            tools: vec!["rover_gripper_set".to_owned()],
            calls: 1,
            for_s: 60,
        };
        let control = &hand.stage.inner.control;
        let _held = control.elevate(&elevate, terminal).unwrap();
        let goal = Word::Goal {
            who: "ann".to_owned(),
            text: "Look.".to_owned(),
        };
        control.carry_out(&goal, terminal);
        hand.goal_ended().await;
        let facts = hand.facts();
        let peers: Vec<_> = facts
            .iter()
            .filter_map(|fact| {
                if let Fact::ElevationGiven { peer, .. } | Fact::GoalBegun { peer, .. } = fact {
                    Some(*peer)
                } else {
                    None
                }
            })
            .collect();
        assert_eq!(peers, [terminal.peer(); 2]);
    });
}

#[track_caller]
fn failed(answer: Result<Held, Answer>) -> Vec<String> {
    match answer {
        Err(Answer::Refused { failed }) => failed,
        other => panic!("{other:?}"),
    }
}

#[test]
fn a_place_that_an_ended_one_keeps_is_not_called_live_and_is_free_once_its_terminal_lets_go() {
    play(Asks::Nobody, &[""], async |hand| {
        hand.arm();
        let mut ended = Vec::new();
        for _ in 0..3 {
            ended.push(hand.elevate(&["rover_go_to_pose"], 1, 1).unwrap());
            hand.rest_ms(1_100).await;
        }
        let _live = hand.elevate(&["rover_gripper_set"], 1, 60).unwrap();
        let full = failed(hand.elevate(&["rover_go_to_pose"], 1, 60));
        assert_eq!(
            full,
            [
                "all 4 places for elevations are taken: 1 live, and 3 ended that wait for their last \
                 calls or terminals"
            ]
        );
        assert!(remedies(&full).contains("close its terminal"));
        let told = |f: &Fact| matches!(f, Fact::OrderRefused { failed, .. } if *failed == full);
        assert!(hand.facts().iter().any(told), "recorded");
        assert_eq!(hand.live().len(), 1, "nothing was raised");
        ended.pop();
        assert!(hand.elevate(&["rover_go_to_pose"], 1, 60).is_ok());
    });
}

#[test]
fn the_tools_are_shown_from_the_next_reply_on_and_the_gauge_follows() {
    play(Asks::Nobody, &[GRIP, DRIVE, GRIP, ""], async |hand| {
        hand.arm();
        assert_eq!(hand.hidden(), Some(2));
        hand.goal();
        let first = hand
            .until("a refusal", |f| matches!(f, Fact::Refused { .. }))
            .await;
        assert!(is_gate(&first));
        let held = hand.elevate(&["rover_gripper_set"], 1, 3_600).unwrap();
        assert_eq!(hand.hidden(), Some(1));
        hand.until("one call of it", |f| {
            matches!(f, Fact::ElevationUsed { .. })
        })
        .await;
        hand.goal_ended().await;
        assert_eq!(hand.hidden(), Some(2), "used up");
        drop(held);
        hand.rest_ms(100).await;

        let metrics = Metrics::new(RobotLabels::default()).unwrap();
        for fact in hand.facts() {
            metrics.apply(&fact);
        }
        let text = metrics.render();
        for line in [
            "octos_edge_elevations_live 0",
            "octos_edge_elevation_calls_total 1",
            r#"octos_edge_elevations_ended_total{cause="used_up"} 1"#,
            r#"octos_edge_elevations_ended_total{cause="operator_lost"} 0"#,
            r#"octos_edge_orders_total{order="elevate",outcome="done"} 1"#,
            r#"octos_edge_tools_hidden{reason="robot_tier_gate",tier="full_actuation"} 2"#,
        ] {
            assert!(
                text.lines().any(|have| have == line),
                "no `{line}` in\n{text}"
            );
        }
    });
}

#[test]
fn a_person_is_asked_for_each_call_of_the_higher_tier_all_the_same() {
    play(Asks::Everybody, &[GRIP, "", LOOK, ""], async |hand| {
        hand.arm();
        let _held = hand.elevate(&["rover_gripper_set"], 2, 3_600).unwrap();
        hand.goal();
        hand.until("a question", |f| matches!(f, Fact::ApprovalAsked { .. }))
            .await;
        hand.until("one call of it", |f| {
            matches!(f, Fact::ElevationUsed { left: 1, .. })
        })
        .await;
        hand.goal_ended().await;
        assert_eq!(hand.motions(), 1);
    });
}

#[test]
fn so_many_live_at_once_one_a_tool_and_the_status_tells_them() {
    play(Asks::Nobody, &[LOOK, ""], async |hand| {
        let early = failed(hand.elevate(&["rover_gripper_set"], 1, 60));
        assert_eq!(early, ["no operator armed the robot (it is disarmed)"]);
        hand.arm();
        let held = hand.elevate(&["rover_gripper_set"], 1, 60).unwrap();
        let twice = failed(hand.elevate(&["rover_gripper_set"], 1, 60));
        assert_eq!(twice, ["`rover_gripper_set` has elevation 1, given by ann"]);
        let other = hand.elevate(&["rover_go_to_pose"], 5, 60).unwrap();
        assert_eq!(hand.hidden(), Some(0), "told, so that the gauge falls");
        let live = hand.live();
        let tools: Vec<&str> = live.iter().map(|one| one.tools[0].as_str()).collect();
        assert_eq!(tools, ["rover_gripper_set", "rover_go_to_pose"]);
        let Answer::Status(status) = hand.say(&Word::Status) else {
            panic!("no status");
        };
        let line = "raised    2 by ann: full_actuation for rover_go_to_pose; 5 calls left, \
                    0 running, 60 s left; a test";
        assert!(status.to_text().contains(line), "{}", status.to_text());
        assert_eq!(status.tier, Tier::SafeMotion, "of all other tools");
        drop(held);
        assert_eq!(hand.live().len(), 1, "at once");
        drop(other);
        hand.rest_ms(100).await;
        assert_eq!(hand.ends().len(), 2);
        assert_eq!(hand.hidden(), Some(2));
        let stops = |f: &Fact| matches!(f, Fact::StopBegun { .. });
        assert!(
            !hand.facts().iter().any(stops),
            "nothing ran, nothing is stopped"
        );
        let journal = &hand.stage.inner.world().journal;
        let verbs = journal
            .iter()
            .filter(|e| matches!(e, JournalEntry::Verb { .. }));
        let stop = |e: &&JournalEntry| matches!(e, JournalEntry::Verb { verb, .. } if verb.contains("stop"));
        assert_eq!(verbs.filter(stop).count(), 0);
    });
}
