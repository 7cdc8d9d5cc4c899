//! What the parts are made of follows the tier in force, not only the robot's highest.

use std::path::Path;
use std::sync::Arc;
use std::sync::atomic::AtomicU64;

use crate::app::clock::SystemClock;
use crate::app::load::Installation;
use crate::app::parts::{Life, begin};
use crate::app::settings::{Settings, SettingsRequest};
use crate::robot::Ids;
use crate::safety::{Boot, Signs};
use crate::telemetry::LogFormat;
use crate::terms::{Fact, FactSink, Input, Mono, RobotId, Tier, WireEvent};

#[derive(Debug)]
struct Nowhere;

impl FactSink for Nowhere {
    fn raise(&self, _fact: Fact) {}
}

fn is_too_fast(tier: Tier, speed: f64) -> bool {
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
