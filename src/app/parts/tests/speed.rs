//! What the parts are made of follows the tier in force, not only the robot's highest.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::app::clock::SystemClock;
use crate::app::load::Installation;
use crate::app::parts::{Life, begin};
use crate::app::settings::{Settings, SettingsRequest};
use crate::robot::Ids;
use crate::safety::{Boot, Opening, Signs};
use crate::telemetry::LogFormat;
use crate::terms::{Fact, FactSink, Input, Mono, RobotId, Tier, WireEvent};

#[derive(Debug)]
struct Nowhere;

impl FactSink for Nowhere {
    fn raise(&self, _fact: Fact) {}
}

fn is_too_fast(tier: Tier, speed: f64) -> bool {
    is_too_fast_under(tier, None, speed)
}

/// As [`is_too_fast`], while a call runs that an Elevation raises to a tier.
fn is_too_fast_under(tier: Tier, raised: Option<Tier>, speed: f64) -> bool {
    let root = Path::new(env!("CARGO_MANIFEST_DIR"));
    let settings = Settings::resolve(SettingsRequest {
        metrics: None,
        origins: Default::default(),
        tiers: Some(root.join("tiers")),
        boards: Some(root.join("boards")),
        config: None,
        state: None,
        log_format: LogFormat::Text,
        quiet: true,
    });
    let installation = Installation::load(&settings.unwrap(), "rover-sim", "sim").unwrap();
    let life = Life {
        robot_id: RobotId::parse("rover-1").unwrap(),
        ids: Ids::seeded(1),
        boot: Boot::default(),
        restarts: 0,
        tier,
        clock: Arc::new(SystemClock::start()),
        sink: Arc::new(Nowhere),
        spine: Arc::new(AtomicU64::new(0)),
    };
    let mut parts = begin(&installation, life);
    if let Some(tier) = raised {
        let elevations = &parts.links.shared.elevations;
        let opening = Opening {
            tier,
            calls: 1,
            until: Mono::from_ms(1_000),
            falls: 0,
        };
        let id = elevations.open(opening).unwrap();
        elevations.take(id, (Mono::ZERO, 0)).unwrap();
        // Its end changes nothing while the robot comes to rest from the higher speed.
        elevations.let_go(id);
    }
    let text = format!(r#"{{"seq":1,"pose":{{"position":[0,0]}},"speed":{speed}}}"#);
    let event = WireEvent::Data {
        input: Input::State,
        text: Some(text),
    };
    parts.inbox.handle(event, Mono::from_ms(1));
    parts.links.observed.seen().signs.has(Signs::OVERSPEED)
}

#[test]
fn a_lowered_tier_lowers_the_speed_that_the_monitor_permits() {
    assert!(!is_too_fast(Tier::SafeMotion, 0.2));
    assert!(is_too_fast(Tier::SafeMotion, 0.31));
    assert!(is_too_fast(Tier::Observe, 0.2), "any motion at all");
    assert!(!is_too_fast(Tier::Observe, 0.01), "the noise of rest");
}

#[test]
fn a_call_under_an_elevation_is_watched_by_the_ceiling_of_its_tier() {
    let raised = Some(Tier::FullActuation);
    assert!(!is_too_fast_under(Tier::SafeMotion, raised, 0.9));
    assert!(is_too_fast_under(Tier::SafeMotion, raised, 1.21));
    assert!(is_too_fast_under(Tier::SafeMotion, None, 0.9));
}
