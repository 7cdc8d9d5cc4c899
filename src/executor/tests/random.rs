//! Whatever tools do and whenever the turn is cancelled: one report for each request, in order.

use std::time::Duration;

use futures::future::join;
use proptest::prelude::*;
use serde_json::json;

use super::kit::{Does, Kit, call};
use crate::terms::{Call, Fact, Tier};

/// What a random batch calls: tools of the kit, stops, and a name that no tool has.
const NAMES: [&str; 10] = [
    "answers",
    "sleeps",
    "breaks",
    "fails",
    "refuses",
    "stuck",
    "rover_go_to_pose",
    "rover_stop",
    "robot_estop",
    "nobody",
];

fn kit() -> Kit {
    Kit::new()
        .shared("answers", Does::Answer("ok".to_owned()))
        .shared("sleeps", Does::SleepMs(1_000))
        .alone("breaks", Does::Panic)
        .alone("fails", Does::Fail)
        .shared("refuses", Does::RefuseLate)
        .shared("stuck", Does::PanicWhenDropped)
}

fn run_one(calls: Vec<Call>, cancel_ms: u64) {
    let runtime = tokio::runtime::Builder::new_current_thread()
        .enable_time()
        .start_paused(true)
        .build()
        .unwrap();
    runtime.block_on(async {
        let kit = kit();
        let turn = kit.turn(Tier::SafeMotion);
        let asked = calls.clone();
        let cancel = async {
            tokio::time::sleep(Duration::from_millis(cancel_ms)).await;
            turn.cancel.cancel();
        };
        let (reports, ()) = join(kit.executor.batch(&turn, calls), cancel).await;
        assert_eq!(reports.len(), asked.len());
        for (call, report) in asked.iter().zip(&reports) {
            assert_eq!((&call.id, &call.tool), (&report.id, &report.tool));
            let stop = ["rover_stop", "robot_estop"].contains(&call.tool.as_str());
            assert_eq!(report.outcome.label() == "stop", stop);
        }
        let facts = kit.facts();
        let count = |wanted: fn(&Fact) -> bool| facts.iter().filter(|fact| wanted(fact)).count();
        let stops = reports
            .iter()
            .filter(|report| report.outcome.label() == "stop");
        let late = reports
            .iter()
            .filter(|report| report.tool == "refuses" && report.outcome.refusal().is_some());
        let ended = count(|fact| matches!(fact, Fact::Finished { .. }));
        let refused = count(|fact| matches!(fact, Fact::Refused { .. }));
        assert_eq!(ended + refused - late.count(), asked.len() - stops.count());
        assert!(count(|fact| matches!(fact, Fact::Granted { .. })) <= ended);
    });
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(48))]

    #[test]
    fn every_request_gets_exactly_one_report(
        names in prop::collection::vec(0..NAMES.len(), 0..40),
        cancel_ms in 0_u64..4_000,
    ) {
        let calls = names.iter().enumerate().map(|(nth, name)| Call {
            id: format!("call-{nth}"),
            ..call(NAMES[*name], json!({}))
        });
        run_one(calls.collect(), cancel_ms);
    }
}
