//! Case 69: a file that is edited under a running robot changes nothing until the restart, and is told.

#![expect(
    clippy::disallowed_methods,
    reason = "the tests edit files of their own"
)]

use super::row::{BOARD, POLICY, ROVER, SAFE};
use super::site::{ARM, Change, GO, NEAR, Play, Seen, Site, plays};
use crate::app::rehearse::RunFolder;
use crate::app::rehearse::mock::stage::Stage;
use crate::app::rehearse::mock::{Dialect, Given, runtime};
use crate::terms::Fact;

const CALLS: [&str; 3] = [NEAR, NEAR, GO];

/// An edit of each kind of file that a node loads, and what a restart makes of the calls.
const EDITS: [(Change, &str); 4] = [
    ((SAFE, "motion_per_min", "1"), "done, rate, rate"),
    (
        (ROVER, "tool/rover_go_to_pose/tier", "\"full_actuation\""),
        "robot_tier_gate, robot_tier_gate, robot_tier_gate",
    ),
    (
        (POLICY, "policy/deny", "[\"rover_go_to_pose\"]"),
        "policy_deny, policy_deny, policy_deny",
    ),
    // Told by the times of the run, below.
    ((BOARD, "system/safety_tick_ms", "5"), ""),
];

/// A site on which the calls are all done, if nothing stands against them.
fn site() -> Site {
    Site::new(&[(SAFE, "defaults/burst", "10")])
}

fn run(site: &Site) -> Seen {
    let installation = site.load().unwrap();
    plays(&installation, &armed(), &CALLS)
}

fn armed() -> Play {
    Play {
        happens: ARM,
        ..Play::default()
    }
}

/// The files of which a run said that only a restart reads them, as often as it said so.
fn told(seen: &Seen) -> Vec<String> {
    let mut all = Vec::new();
    for (_, fact) in &seen.facts {
        if let Fact::RestartRequired { files } = fact {
            all.extend(files.clone());
        }
    }
    all
}

/// Everything else that happened, with its times.
fn rest(seen: &Seen) -> Vec<(u64, Fact)> {
    let others = seen.facts.iter().filter(|(_, fact)| {
        !matches!(
            fact,
            Fact::RestartRequired { .. } | Fact::Started { .. } | Fact::Advert { .. }
        )
    });
    others.cloned().collect()
}

/// Loads, breaks or edits a file, and runs; returns what came of it and the same without the edit.
fn edited_under_way(edit: impl FnOnce(&Site)) -> (Site, Seen, Seen) {
    let untouched = run(&site());
    let site = site();
    let installation = site.load().unwrap();
    edit(&site);
    let seen = plays(&installation, &armed(), &CALLS);
    (site, seen, untouched)
}

#[test]
fn case_69_an_edit_of_any_file_changes_no_decision_is_told_once_and_counts_after_the_restart() {
    for (change, outcomes) in EDITS {
        let (site, seen, untouched) = edited_under_way(|site| site.edit(change));
        assert_eq!(rest(&seen), rest(&untouched), "{change:?}");
        assert_eq!(seen.outcomes(), "done, done, done", "{change:?}");
        let file = site.path(change.0).display().to_string();
        assert_eq!(told(&seen), [file], "{change:?}");
        let restarted = run(&site);
        assert_eq!(told(&restarted), [""; 0], "{change:?}");
        assert_ne!(rest(&restarted), rest(&untouched), "{change:?}");
        if !outcomes.is_empty() {
            assert_eq!(restarted.outcomes(), outcomes, "{change:?}");
        }
    }
}

#[test]
fn case_69_a_file_that_is_gone_or_half_written_changes_no_decision_and_keeps_the_next_start_out() {
    for (file, ..) in EDITS.map(|(change, _)| change) {
        let path = |site: &Site| site.path(file);
        let (site, seen, untouched) =
            edited_under_way(|site| std::fs::remove_file(path(site)).unwrap());
        assert_eq!(rest(&seen), rest(&untouched), "{file}");
        assert_eq!(told(&seen), [format!("{} (gone)", path(&site).display())]);
        assert!(site.load().is_err(), "{file}");

        let (site, seen, untouched) = edited_under_way(|site| site.write(file, "schema = 1\n[sys"));
        assert_eq!(rest(&seen), rest(&untouched), "{file}");
        assert_eq!(told(&seen), [path(&site).display().to_string()]);
        assert!(site.load().is_err(), "{file}");
    }
}

#[test]
fn case_69_the_status_says_so_for_as_long_as_it_is_true() {
    let site = site();
    let installation = site.load().unwrap();
    let scenario = site.scenario();
    let folder = RunFolder::fresh().unwrap();
    let given = Given {
        installation: &installation,
        dialect: Dialect::of(&installation.robot).unwrap(),
        scenario: &scenario,
        seed: 7,
        folder: &folder,
    };
    runtime().unwrap().block_on(async {
        let mut stage = Stage::new(&given, Box::new(|_| ())).unwrap();
        assert_eq!(stage.status_after_a_look().await.restart_required, [""; 0]);
        let before = std::fs::read_to_string(site.path(SAFE)).unwrap();
        site.edit((SAFE, "motion_per_min", "1"));
        let status = stage.status_after_a_look().await;
        let file = site.path(SAFE).display().to_string();
        assert_eq!(status.restart_required.join(", "), file);
        let text = status.to_text();
        let line = format!("restart   required: {file} has changed, the old one counts");
        assert!(text.contains(&line), "{text}");
        site.write(SAFE, &before);
        let status = stage.status_after_a_look().await;
        assert_eq!(status.restart_required, [""; 0]);
        assert!(!status.to_text().contains("restart"));
    });
}
