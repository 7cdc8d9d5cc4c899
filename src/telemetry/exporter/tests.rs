//! The endpoint answers those who ask, over a real loopback socket, and survives those who do not.

use std::collections::BTreeMap;
use std::io::{Read as _, Write as _};
use std::sync::atomic::AtomicU64;
use std::time::SystemTime;

use super::peer::HEADER_BYTES_MAX;
use super::*;
use crate::telemetry::{BucketReading, QueueName, QueueReading, Readings, RobotLabels};
use crate::terms::{Fact, Mono, Reason, Tier};

/// Stands still until a test moves it.
#[derive(Debug, Default)]
struct Hand(AtomicU64);

impl Clock for Hand {
    fn now(&self) -> Mono {
        Mono::from_ms(self.0.load(Ordering::SeqCst))
    }

    fn wall(&self) -> SystemTime {
        SystemTime::UNIX_EPOCH
    }
}

#[derive(Debug)]
struct Fixed;

impl Probe for Fixed {
    fn read(&self) -> Readings {
        Readings {
            disk: None,
            bridge_up: true,
            graph_timer_good: true,
            tick_lateness: BucketReading {
                buckets: vec![
                    (Duration::from_micros(100), 7),
                    (Duration::from_millis(1), 2),
                ],
                beyond: 1,
                sum: Duration::from_millis(12),
            },
            queues: vec![QueueReading {
                queue: QueueName::Commands,
                depth: 3,
                full: 2,
            }],
        }
    }
}

/// An endpoint on a free port of the loopback, and what it counts.
struct Stage {
    exporter: Exporter,
    metrics: Arc<Metrics>,
    clock: Arc<Hand>,
}

/// Far longer than a loopback needs: it only ends a test that hangs.
const GUARD: Duration = Duration::from_secs(20);

impl Stage {
    fn new(within: Duration) -> Self {
        let tools = [
            ("rover_go_to_pose", Some(Tier::SafeMotion)),
            ("rover_stop", None),
        ];
        let metrics = Arc::new(
            Metrics::new(RobotLabels {
                ceiling: Some(Tier::SafeMotion),
                tools: tools
                    .map(|(name, tier)| (name.to_owned(), tier))
                    .into_iter()
                    .collect::<BTreeMap<_, _>>(),
            })
            .unwrap(),
        );
        let clock = Arc::new(Hand::default());
        let plan = ExporterPlan {
            listener: TcpListener::bind("127.0.0.1:0").unwrap(),
            metrics: Arc::clone(&metrics),
            probe: Arc::new(Fixed),
            clock: Arc::clone(&clock) as Arc<dyn Clock>,
        };
        Self {
            exporter: Exporter::start_with(plan, within).unwrap(),
            metrics,
            clock,
        }
    }

    fn connect(&self) -> TcpStream {
        let stream = TcpStream::connect(self.exporter.address()).unwrap();
        stream.set_read_timeout(Some(GUARD)).unwrap();
        stream
    }

    /// Sends bytes and returns everything that comes back, as text.
    fn say(&self, bytes: &[u8]) -> String {
        let mut stream = self.connect();
        stream.write_all(bytes).unwrap();
        all(&mut stream)
    }

    fn scrape(&self) -> String {
        let answer = self.say(b"GET /metrics HTTP/1.1\r\nHost: rover\r\n\r\n");
        let (head, body) = answer.split_once("\r\n\r\n").unwrap();
        assert!(head.starts_with("HTTP/1.1 200 OK\r\n"), "{head}");
        assert!(
            head.contains("Content-Type: text/plain; version=0.0.4"),
            "{head}"
        );
        assert!(
            head.contains(&format!("Content-Length: {}", body.len())),
            "{head}"
        );
        body.to_owned()
    }
}

fn all(stream: &mut TcpStream) -> String {
    let mut answer = Vec::new();
    // A reset after the answer is an end as well.
    drop(stream.read_to_end(&mut answer));
    String::from_utf8(answer).unwrap()
}

fn series(text: &str) -> Vec<&str> {
    let samples = text.lines().filter(|line| !line.starts_with('#'));
    samples
        .filter_map(|line| Some(line.rsplit_once(' ')?.0))
        .collect()
}

#[test]
fn a_scrape_gives_facts_and_readings() {
    let stage = Stage::new(GUARD);
    let text = stage.scrape();
    for line in [
        r#"octos_edge_bridge_up{bridge="dora"} 1"#,
        "octos_edge_graph_timer_up 1",
        r#"octos_edge_queue_depth{queue="commands"} 3"#,
        r#"octos_edge_queue_full_total{queue="commands"} 2"#,
        r#"octos_edge_queue_depth{queue="orders"} 0"#,
        r#"octos_edge_safety_tick_jitter_seconds_bucket{le="0.0001"} 7"#,
        r#"octos_edge_safety_tick_jitter_seconds_bucket{le="0.001"} 9"#,
        r#"octos_edge_safety_tick_jitter_seconds_bucket{le="+Inf"} 10"#,
        "octos_edge_safety_tick_jitter_seconds_sum 0.012",
        "octos_edge_safety_tick_jitter_seconds_count 10",
        r#"octos_edge_estop_latched{source="operator"} 0"#,
    ] {
        assert!(
            text.lines().any(|l| l == line),
            "no line `{line}` in\n{text}"
        );
    }
    stage.exporter.finish();
}

#[test]
fn a_scraper_that_asks_for_open_metrics_gets_it_with_its_mark_at_the_end() {
    let stage = Stage::new(GUARD);
    let plain = stage.scrape();
    let accept = "Accept: application/openmetrics-text;version=1.0.0,text/plain;q=0.5";
    let request = format!("GET /metrics HTTP/1.1\r\nHost: rover\r\n{accept}\r\n\r\n");
    let answer = stage.say(request.as_bytes());
    let (head, body) = answer.split_once("\r\n\r\n").unwrap();
    assert!(
        head.contains("Content-Type: application/openmetrics-text; version=1.0.0"),
        "{head}"
    );
    assert!(body.ends_with("\n# EOF\n"), "{body}");
    assert!(
        body.contains("# TYPE octos_edge_denial counter\n"),
        "{body}"
    );
    assert_eq!(series(body).len(), series(&plain).len());
    stage.exporter.finish();
}

#[test]
fn case_51_the_first_scrape_has_all_denials_at_0_and_ten_thousand_calls_add_no_series() {
    let stage = Stage::new(GUARD);
    let first = stage.scrape();
    for reason in Reason::ALL {
        for tier in Tier::ALL.map(Tier::as_str).into_iter().chain(["none"]) {
            let line = format!("octos_edge_denial_total{{reason=\"{reason}\",tier=\"{tier}\"}} 0");
            assert!(first.lines().any(|l| l == line), "{line}");
        }
    }
    let mut random = fastrand::Rng::with_seed(51);
    for _ in 0..10_000 {
        let tool: String = (0..random.usize(1..80)).map(|_| random.char(..)).collect();
        stage.metrics.apply(&Fact::Refused {
            call: tool.clone(),
            tool,
            reason: Reason::UnknownTool,
            needed: None,
            effective: Tier::SafeMotion,
            rule: None,
            detail: String::new(),
        });
    }
    let last = stage.scrape();
    assert_eq!(series(&last), series(&first));
    assert!(series(&last).len() <= crate::telemetry::SERIES_MAX);
    stage.exporter.finish();
}

#[test]
fn other_paths_methods_and_versions_are_told_so() {
    let stage = Stage::new(GUARD);
    for (request, status) in [
        (&b"GET / HTTP/1.1\r\n\r\n"[..], "404"),
        (b"GET /metrics/x HTTP/1.1\r\n\r\n", "404"),
        (
            b"POST /metrics HTTP/1.1\r\nContent-Length: 3\r\n\r\nabc",
            "405",
        ),
        (b"HEAD /metrics HTTP/1.1\r\n\r\n", "405"),
        (b"GET /metrics HTTP/2.0\r\n\r\n", "505"),
        (b"GET /metrics?x=1 HTTP/1.0\n\n", "200"),
    ] {
        let answer = stage.say(request);
        let found = answer.strip_prefix("HTTP/1.1 ").unwrap_or_default();
        assert!(found.starts_with(status), "{status}: {answer}");
    }
    stage.exporter.finish();
}

#[test]
fn garbage_and_floods_get_a_short_answer_and_do_no_harm() {
    let stage = Stage::new(GUARD);
    for garbage in [
        &b"\n\n"[..],
        b"GET\r\n\r\n",
        b"\xff\xfe\x00 \x01\r\n\r\n",
        b"a b c d\r\n\r\n",
    ] {
        assert!(
            stage.say(garbage).starts_with("HTTP/1.1 400 "),
            "{garbage:?}"
        );
    }
    let flood = vec![b'x'; 4 * HEADER_BYTES_MAX];
    assert!(stage.say(&flood).starts_with("HTTP/1.1 431 "));
    let mut gone = stage.connect();
    gone.write_all(b"GET /met").unwrap();
    drop(gone);
    assert!(stage.scrape().contains("octos_edge_build_info"));
    stage.exporter.finish();
}

#[test]
fn who_sits_on_connections_keeps_nobody_out() {
    let stage = Stage::new(GUARD);
    let mut sitting: Vec<TcpStream> = (0..3 * PEERS_MAX).map(|_| stage.connect()).collect();
    for stream in &mut sitting {
        // Those that were closed for a newer one refuse it.
        drop(stream.write_all(b"GET /metrics HT"));
    }
    assert!(stage.scrape().contains("octos_edge_build_info"));
    let first = sitting.first_mut().unwrap();
    assert_eq!(all(first), "", "the oldest was closed without an answer");
    stage.exporter.finish();
}

#[test]
fn a_request_that_drips_ends_with_its_time_however_often_it_drips() {
    let stage = Stage::new(GUARD);
    let mut slow = stage.connect();
    slow.write_all(b"GET /metrics").unwrap();
    stage.scrape(); // it was accepted before this one
    stage.clock.0.store(60_000, Ordering::SeqCst);
    slow.write_all(b" HTTP/1.1\r\nX: ").unwrap();
    assert!(all(&mut slow).starts_with("HTTP/1.1 408 "));
    stage.exporter.finish();
}

#[test]
fn silence_ends_with_its_time() {
    let stage = Stage::new(Duration::from_millis(20));
    let mut silent = stage.connect();
    assert!(all(&mut silent).starts_with("HTTP/1.1 408 "));
    stage.exporter.finish();
}

#[test]
fn the_end_closes_open_connections_and_the_port() {
    let stage = Stage::new(GUARD);
    let address = stage.exporter.address();
    let mut open = stage.connect();
    open.write_all(b"GET /metrics HTTP/1.1\r\n").unwrap();
    stage.scrape();
    stage.exporter.finish();
    assert_eq!(all(&mut open), "");
    assert!(TcpStream::connect(address).is_err());
}
